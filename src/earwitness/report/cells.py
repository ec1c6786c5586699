"""Text from outside, made harmless where it is shown: spreadsheet cells and single lines."""

import csv
from collections.abc import Callable, Iterable
from typing import IO, Any

from earwitness.manifest.plain import one_line as one_line
from earwitness.manifest.table import safe as safe


def csv_rows(stream: IO[str]) -> Callable[[Iterable[Any]], Any]:
    """A function that writes one row of cells to the stream; rows end in LF.

    Python before 3.13 leaves a carriage return within a cell unquoted unless rows end in CR LF, and
    readers then take it for the end of the row. So rows are made that way and the CR is cut off.
    """

    class Lines:
        def write(self, row: str) -> int:
            return stream.write(row[:-2] + "\n")

    return csv.writer(Lines(), lineterminator="\r\n").writerow
