"""Stated times: "at 1.2-3.0", "from 1 to 3 seconds", "(0-2 s)", "at the 3-second mark", "at 0:03"."""

import re

_NUMBER = r"(?:\d+:\d\d(?:\.\d+)?|\d+(?:\.\d+)?)"
_UNIT = r" ?-?(?:seconds?|secs?|s)\b"
_NOT_SECONDS = (
    r"(?! ?(?:k?m|cm|met(?:er|re)s?|feet|foot|ft|db|k?hz|bpm|[km]p?h|miles?|percent|times?|years?|am|pm)\b|"
    r" ?[%°]|[\d.]*\d)"
)
_SPAN = rf"{_NUMBER}(?:{_UNIT})? ?(?:-|–|—|~|to|until|till) ?{_NUMBER}(?:{_UNIT})?{_NOT_SECONDS}"
_SPANS = rf"{_SPAN}(?:(?:,? and|,|;)? {_SPAN})*"
_AT = (
    r"(?:(?:starting|beginning|lasting|playing|ranging) )?"
    r"(?:from|at|between|over|during|in|spans?|spanning|@)(?: around| about)? ?"
)
TIME = (
    rf"(?<!\w)(?:{_AT}{_SPANS}|[\[(](?:{_AT})?{_SPANS}[\])]|"
    rf"(?:from |at )?between {_NUMBER} and {_NUMBER}(?:{_UNIT})?|"
    rf"{_AT}(?:the )?(?:{_NUMBER}{_UNIT}(?: mark)?|\d+\.\d+{_NOT_SECONDS}|\d+:\d\d(?:\.\d+)?)(?![\w:])|"
    rf"[\[(](?:{_AT})?{_NUMBER}(?:{_UNIT})?[\])])|"
    rf"(?<!for )(?<![\w.])(?:{_NUMBER}(?:{_UNIT})? ?[-–—~] ?{_NUMBER}{_UNIT}|"
    rf"\d+\.\d+ ?[-–—~] ?\d+\.\d+(?:{_UNIT})?|{_NUMBER}{_UNIT} in(?:to)?(?=[ ,.]|$))"
)
_FIND = re.compile(_NUMBER)


def first_span(stated: str) -> tuple[float, float | None]:
    """The first onset of a stated time and, where a span is stated, its offset; seconds."""
    numbers = [_seconds(number) for number in _FIND.findall(stated)]
    return numbers[0], numbers[1] if len(numbers) > 1 else None


def _seconds(number: str) -> float:
    minutes, _, seconds = number.rpartition(":")
    return 60.0 * int(minutes or 0) + float(seconds)
