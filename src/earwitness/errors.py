"""Errors a user can act on.

Every error raised on purpose derives from :class:`EarwitnessError`. A :class:`UserError` names
what was given (file, row, value) and the remedy; the command line prints it and exits with 2.
"""

import difflib
from collections.abc import Iterable, Sequence


class EarwitnessError(Exception):
    """Root of all errors raised on purpose."""


class UserError(EarwitnessError):
    """Something given by the user cannot be used.

    Args:
        message: What is wrong, naming the file, row or value.
        remedy: What to do about it, as a sentence; may be empty when the message says it.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        self.message = message
        self.remedy = remedy
        super().__init__(f"{message}\n  {remedy}" if remedy else message)


class MissingExtra(UserError):
    """A part of earwitness that is not installed; the remedy is the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed.", f"Install it with: pip install 'earwitness[{extra}]'")


class InputFaults(UserError):
    """Several faults found in one input, all found before any work is done; of more than :attr:`MOST` the
    first :attr:`SHOWN` are printed."""

    SHOWN, MOST = 10, 20

    def __init__(self, what: str, faults: Sequence[str], remedy: str = "") -> None:
        self.faults = tuple(faults)
        shown = self.faults if len(self.faults) <= self.MOST else self.faults[: self.SHOWN]
        lines = "\n".join(f"  - {fault}" for fault in shown)
        if len(self.faults) > len(shown):
            lines += f"\n  - and {len(self.faults) - len(shown)} more"
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        super().__init__(f"{what}: {count}\n{lines}", remedy)


class UnusableAudio(EarwitnessError):
    """A clip that nobody can hear. The runner turns it into an unheard item; it never stops a run.

    Args:
        reason: ``unreadable``, ``empty``, ``too_short`` or ``too_long`` (see listeners.base.Unheard).
        detail: What was found, in words.
    """

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}")


def nearest(name: str, names: Iterable[str], alike: float = 0.6) -> str:
    """The one of some names that was probably meant; empty if none is close.

    Args:
        alike: Least share of letters in common (difflib's ratio).
    """
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=alike)
    return close[0] if close else ""


def choices(near: str, names: Iterable[str]) -> str:
    """The remedy for a name that is none of ``names``; ``near``, if not empty, was probably meant."""
    hint = f"Did you mean {near!r}? " if near else ""
    return f"{hint}Known: {', '.join(names)}."
