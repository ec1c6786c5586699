"""How figures are made: the settings, colours and marks of all of them, and their files.

The same summary gives the same bytes: no date, no random ids, matplotlib's own defaults whatever the
user has set. In the SVG text stays text, so any name shows; in the PDF a character that no installed
font has becomes a box.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib import font_manager
from matplotlib.figure import Figure

from earwitness.files import whole
from earwitness.report.cells import one_line

log = logging.getLogger(__name__)

COLOURS = ("#0072B2", "#D55E00", "#E69F00", "#CC79A7", "#56B4E9", "#009E73", "#F0E442")
"""Okabe and Ito's palette, which colour-blind readers can tell apart (jfly.uni-koeln.de/color)."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HOLLOW = "hollow, †: fewer than 95 % of applicable items scored"
_FONTS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "WenQuanYi Zen Hei",
    "IPAGothic",
)
_LONGEST_NAME = 36


@contextmanager
def style() -> Iterator[None]:
    """Our settings for as long as figures are made and written; the user's come back afterwards."""
    installed = set(font_manager.get_font_names())
    with matplotlib.rc_context(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "font.family": [font for font in _FONTS if font in installed],
                "font.size": 9,
                "svg.fonttype": "none",
                "svg.hashsalt": "earwitness",
                "pdf.fonttype": 42,
            }
        )
        yield
    messages = {str(warning.message) for warning in caught}
    glyphs = {message for message in messages if message.startswith("Glyph")}  # one for every character
    if glyphs:
        log.warning("figures: no installed font has %d characters, shown as boxes in the PDF", len(glyphs))
    for message in sorted(messages - glyphs):
        log.warning("figures: %s", message)


def save(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as SVG and PDF, named like ``path`` with either ending."""
    written = []
    for kind, metadata in (("svg", {"Date": None}), ("pdf", {"CreationDate": None})):
        file = path.with_suffix(f".{kind}")
        with whole(file) as part:
            figure.savefig(part, format=kind, metadata=metadata)
        written.append(file)
    return written


def short(name: str) -> str:
    """A name cut in its middle, where long names differ least."""
    name = one_line(name)
    if len(name) <= _LONGEST_NAME:
        return name
    tail = _LONGEST_NAME // 2
    return f"{name[: _LONGEST_NAME - tail - 1]}…{name[-tail:]}"
