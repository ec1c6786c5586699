"""One table for a terminal."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from earwitness.report.cells import one_line

if TYPE_CHECKING:
    from rich.table import Table

Lines = str | Sequence[str]
"""A cell: one line, or several."""


def folded(name: str, width: int) -> list[str]:
    """A name in lines of at most ``width`` columns, broken at spaces and hyphens where there are any."""
    return textwrap.wrap(one_line(name), width) or [""]


def table(
    title: Lines,
    heads: Sequence[Lines],
    rows: Iterable[Sequence[Lines]],
    caption: str = "",
    dense: bool = False,
) -> "Table":
    """Every cell as plain text: nothing from outside is read as markup or as a terminal sequence."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    def plain(lines: Lines) -> Text:
        each = [lines] if isinstance(lines, str) else lines
        return Text("\n".join(" " * (len(line) - len(line.lstrip(" "))) + one_line(line) for line in each))

    made = Table(
        title=plain(title) if title else None,
        caption=plain(caption) if caption else None,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=not dense,
        padding=(0, 0) if dense else (0, 1),
        collapse_padding=True,
        show_header=any(heads),
    )
    for index, head in enumerate(heads):  # in 80 columns names fold, and pairs of numbers break at the comma
        justify: Literal["left", "right"] = "right" if index else "left"
        made.add_column(plain(head), justify=justify, overflow="fold", no_wrap=index > 0 and "," not in head)
    for row in rows:
        made.add_row(*map(plain, row))
    return made
