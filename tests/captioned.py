"""Captions written with what they state, for the tests of the caption parser."""

from earwitness.captions import Parsed, parse, reverse


def said(parsed: Parsed) -> str:
    """ "a | b < c & d": a and b in one group, c after both, d at any time."""
    placed = sum(map(len, parsed.groups))
    order = " < ".join(" | ".join(parsed.phrases[i].text for i in group) for group in parsed.groups)
    return order + "".join(f" & {phrase.text}" for phrase in parsed.phrases[placed:])


def table(text: str) -> list[tuple[str, str]]:
    """The captions and what they state, one "caption => a < b" a line."""
    return [(line.split(" => ")[0].strip(), line.split(" => ")[1]) for line in text.strip().splitlines()]


def assert_reversed(caption: str) -> None:
    """The reversal states the groups backwards and the rest as it was; its reversal states the caption's."""
    once, back = parse(caption), parse(reverse(caption))
    assert _groups(back) == _groups(once)[::-1]
    assert _anywhere(back) == _anywhere(once)
    again = parse(reverse(reverse(caption)))
    assert _groups(again) == _groups(once)
    assert _anywhere(again) == _anywhere(once)


def _groups(parsed: Parsed) -> list[list[str]]:
    return [[parsed.phrases[i].text for i in group] for group in parsed.groups]


def _anywhere(parsed: Parsed) -> list[str]:
    return sorted(phrase.text for phrase in parsed.phrases[sum(map(len, parsed.groups)) :])
