"""Files that are whole or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write to; it takes the place of ``path`` if the block ends without fault."""
    unfinished = path.with_name(path.name + ".part")
    yield unfinished
    os.replace(unfinished, path)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 with LF line ends, all or nothing."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
