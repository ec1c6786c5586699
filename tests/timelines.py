"""Events drawn as text: one line a sound, one character a frame of half a second."""

from itertools import groupby

from earwitness.events import Event

FRAME_S = 0.5


def drawn(picture: str, frame_s: float = FRAME_S) -> list[Event]:
    """The events of a picture.

    ``#`` is an event that is sure, a digit one with that many tenths of confidence, anything else silence;
    lines with the same name add up::

        dog  ##...88.
        cat  ...##...
    """
    events = []
    for line in filter(str.strip, picture.splitlines()):
        label, marks = line.split()
        at = 0
        for mark, run in groupby(marks):
            end = at + len(list(run))
            if mark == "#" or mark.isdigit():
                sure = None if mark == "#" else int(mark) / 10
                events.append(Event(label, at * frame_s, end * frame_s, sure))
            at = end
    return events
