"""Text from outside, shown as what it is: on one line, and in markdown."""

import re

_JOINERS = "\u200c\u200d"  # not printable by themselves, but parts of words and of emoji


def one_line(text: str) -> str:
    """The text on one line: white space as single spaces, other unprintable characters as escapes.

    Terminal sequences, bidirectional overrides and characters that XML forbids become visible.
    """
    kept = (c if c.isprintable() or c in _JOINERS else ascii(c)[1:-1] for c in " ".join(text.split()))
    return "".join(kept)


def markdown_text(text: str) -> str:
    """Plain text as markdown that shows just that text, also within a table."""
    return re.sub(r"([\\`*_\[\]<>|~$&#])", r"\\\1", one_line(text))
