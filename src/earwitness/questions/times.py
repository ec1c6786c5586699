"""Times in a reply: seconds from the start of the clip, whatever way the listener wrote them.

Conventions
-----------
Accepted: a number of seconds (``3.5``, also as text), ``MM:SS`` or ``HH:MM:SS`` with an optional
fraction (``00:03.5``), and a number with its unit (``3.5 s``, ``3500 ms``, ``2 min``). Everything else is
ambiguous and makes the reply invalid; nothing is guessed. A time may lie up to :data:`SLACK_S` beyond
the clip's end, since some listeners round to whole seconds; later is invalid, which catches
milliseconds given as seconds.
"""

import math
import re
import sys
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

SLACK_S = 1.0
"""How far beyond the clip's end a time may lie: listeners that count in whole seconds round up."""

_CLOCK = re.compile(r"(?:(\d{1,2}):)?(\d{1,2}):(\d{2}(?:\.\d+)?)", re.ASCII)
_AMOUNT = re.compile(
    r"(\d+(?:\.\d+)?)\s*(?:(s|secs?|seconds?)|(ms|msecs?|milliseconds?)|(min|mins|minutes?))?",
    re.IGNORECASE | re.ASCII,
)


def seconds(value: object) -> float:
    """The time a listener wrote, in seconds.

    Raises:
        ValueError: If it is no time, or could be read in two ways.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"a time must be seconds, MM:SS or a number with its unit, not {value!r}")
    if not isinstance(value, str):
        if not 0 <= value <= sys.float_info.max:  # NaN is neither
            raise ValueError("a time must be a finite number, 0 or more")
        return float(value)
    text = value.strip()
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, rest = int(clock[1] or 0), int(clock[2]), float(clock[3])
        if rest >= 60 or (clock[1] and minutes >= 60):
            raise ValueError(f"{value!r} is no time of a clock")
        return 3600.0 * hours + 60.0 * minutes + rest
    if amount := _AMOUNT.fullmatch(text):
        scale = 0.001 if amount[3] else 60.0 if amount[4] else 1.0
        found = float(amount[1]) * scale
        if math.isfinite(found):
            return found
        raise ValueError("a time must be a finite number, 0 or more")
    raise ValueError(f"{value!r} is not a time: write seconds, MM:SS or a number with its unit")


def duration_s(info: ValidationInfo, clip_name: str | None = None) -> float | None:
    """Length of the named clip (of the only one by default), where the reply is read with its clips."""
    known: Mapping[str, Any] = (info.context or {}).get("durations_s", {})
    if clip_name is None:
        return next(iter(known.values())) if len(known) == 1 else None
    return known.get(clip_name)


Seconds = Annotated[
    float, BeforeValidator(seconds), Field(ge=0), WithJsonSchema({"type": "number", "minimum": 0})
]
"""A time in seconds from the start of the clip."""
