"""A cleaned caption cut into pieces: stretches of words, each with its tie to what came before it."""

import re
from dataclasses import dataclass
from itertools import zip_longest

from earwitness.captions import connectives as c
from earwitness.captions.times import TIME, first_span
from earwitness.captions.words import ANIMALS, PERSONS, WORD, is_sound

_PATTERN = (
    rf"(?:(?:^|[,;:.!?…]+ |[—–] | - )(?:and |but )?|\b(?:and|but),? )(?P<clause>{c.CLAUSE_NEXT})|"
    rf"(?:(?<=^)|(?<=[,;:.!?—–-] ))(?:(?P<frame>{c.FRAME})|(?P<announced>{c.ANNOUNCED}))(?![\w’'-])|"
    rf"(?P<number>{c.NUMBER})|(?<![\w’'-])(?:(?P<keep>{c.KEEP})|(?P<next>{c.NEXT})|(?P<preceded>{c.PRECEDED})|"
    rf"(?P<earlier>{c.EARLIER})|(?P<before>{c.BEFORE})|(?P<after>{c.AFTER})|(?P<follows>{c.FOLLOWS})|"
    rf"(?P<ordered>{c.ORDERED})|(?P<list>{c.ANNOUNCED})|(?P<along>{c.ALONG})|(?P<together>{c.TOGETHER})|(?P<during>during)|"
    rf"(?P<there>{c.THERE})|(?P<and>and|but|plus))(?![\w’'-])|"
    r"(?P<stop>[.!?]+(?= |$))|(?P<semicolon>;)|(?P<colon>:(?= |$))|(?P<comma>,(?!\d)|&| [-–—|/+] |—|…|\.\.+)|"
    rf"(?P<arrow>{c.ARROW})"
)
_NOT_INSIDE_A_WORD = r"(?:(?<!\w)|(?=\W))"  # most places fail here, fast
_TOKEN = re.compile(rf"{_NOT_INSIDE_A_WORD}(?:{_PATTERN})", re.IGNORECASE)
_TIMED_TOKEN = re.compile(rf"{_NOT_INSIDE_A_WORD}(?:(?P<time>{TIME})|{_PATTERN})", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_LEFT_OF_NEXT = re.compile(c.LEFT_OF_NEXT, re.IGNORECASE)
_LEFT_OF_AFTER = re.compile(c.LEFT_OF_AFTER, re.IGNORECASE)
_LEFT = {
    "next": _LEFT_OF_NEXT,
    "preceded": _LEFT_OF_NEXT,
    "earlier": _LEFT_OF_NEXT,
    "before": _LEFT_OF_AFTER,
    "after": _LEFT_OF_AFTER,
    "follows": _LEFT_OF_AFTER,
}
_INSIDE = re.compile(c.INSIDE, re.IGNORECASE)
_SPLIT = re.compile(c.SPLIT, re.IGNORECASE)
_REBUTTED = re.compile(c.REBUTTED, re.IGNORECASE)
_PURSUES = re.compile(c.PURSUES, re.IGNORECASE)
_PURSUED = re.compile(c.PURSUED, re.IGNORECASE)
_ADDRESSED = re.compile(c.ADDRESSED, re.IGNORECASE)
_EVER = re.compile(rf"(?<![\w’'-])(?:{c.EVER})(?![\w’'-])", re.IGNORECASE)
_BACKGROUND = re.compile(c.BACKGROUND, re.IGNORECASE)
_NEGATED = re.compile(c.NEGATED, re.IGNORECASE)
_PAIRS = (*map(tuple, ("()", "[]", "{}", "“”", "«»")), ('"', '"'))
_NEXT = {"next", "clause", "number", "arrow"}
_BREAKS = {"stop", "semicolon"}
_LIGHT = ("during", "and", "stop", "semicolon", "comma")
_TELLS_ORDER = re.compile(c.TELLS_ORDER, re.IGNORECASE)
_AT_ONCE = re.compile(c.AT_ONCE, re.IGNORECASE)
_HEAD = re.compile(rf"(?:{c.HEAD})(?: |,|$)|[\s,;:\"'“”‘’()\[\]{{}}<>«»|/~^=+@-]+", re.IGNORECASE)
_EDGE = re.compile(r"[\s,;:\"'“”‘’()\[\]{}<>«»|/~^=+@.-]+$")
_FIRST_HEAD = re.compile(rf"(?:{c.FIRST})(?:[,:]| |$)", re.IGNORECASE)
_FIRST_TAIL = re.compile(rf"(?:^|[ ,]+)(?:{c.FIRST})$", re.IGNORECASE)
_EARLY_TAIL = re.compile(rf"(?:^|[ ,]+){c.EARLY}$", re.IGNORECASE)
_LATER_TAIL = re.compile(rf"[ ,]+{c.LATER}$", re.IGNORECASE)


@dataclass(slots=True)
class Piece:
    """A stretch ``text[start:end]`` and its lower-case words, tied to what came before it.

    ``tie`` is "join" (no order stated), "next" (begins after it) or "prev" (begins before it).
    ``glue`` names what stood before a piece that may yet turn out a mere part of the one before:
    "comma", "semicolon", "and", "stop", "during" or "none"; it is "" otherwise.
    """

    start: int
    end: int
    words: list[str]
    tie: str = "join"
    glue: str = ""
    sentence: int = 0
    shared: str = ""  # "along" or "with": what opened the joined pieces it belongs to
    aside: str = ""  # "ever" (sounds all along) or "background"
    negated: bool = False
    mark: str = ""  # "first" ("initially"), "early" ("first" behind it) or "later" ("afterwards" behind it)
    onset_s: float | None = None
    offset_s: float | None = None


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    start: int
    end: int


_Items = list[_Token | Piece]


def straightened(text: str) -> str:
    """The caption with its words of order between the events, not inside one.

    "A cat then meows" becomes "then a cat meows", "a dog, after a knock, barks" becomes "a dog barks after
    a knock", and "after, not before," becomes "after".
    """
    return _INSIDE.sub(_fronted, _SPLIT.sub(_rejoined, _REBUTTED.sub(r"\g<stands> ", text)))


def _rejoined(found: re.Match[str]) -> str:
    acts = next((word for word in WORD.findall(found["act"].lower()) if not word.endswith("ly")), "")
    if not _acts(found["actor"].lower()) or _acts(acts):
        return found.group()
    return f"{found['who']} {found['act']} {found['when']}"


def _acts(word: str) -> bool:
    return word in PERSONS or word.rstrip("s") in ANIMALS


def _fronted(found: re.Match[str]) -> str:
    before, who, mark = found.group("before", "who", "mark")
    actor = who.split()[-1].lower()
    known = _acts(actor)
    opens = before[0] in ".;!?"
    if not (known or opens) or (_sounds(who) and not (opens and who.count(" ") == 2)):
        return found.group()
    return f"{before}{mark.capitalize() if before[0] in '.!?' else mark} {who[0].lower()}{who[1:]}"


def cut(text: str) -> tuple[list[Piece], set[int]]:
    """The pieces of a cleaned caption in mention order, and the sentences that tell a list in order."""
    items = _items(text)
    _stamp(text, items)
    items, ordered = _headless(text, items)
    pieces: list[Piece] = []
    told: list[Piece] = []  # of the sentence at hand
    held: list[Piece] = []  # A of "Before A, B"
    run: list[str] = []  # kinds of the tokens since the last piece
    members: list[Piece] = []  # of "amid A and B", "with A and B in the background"
    sentence = 0
    waiting = ""  # "after" or "before" when it leads its sentence and awaits the comma
    for item in items:
        if isinstance(item, _Token):
            run.append("with" if text[item.start : item.end].lower() == "with" else item.kind)
            if item.kind in _BREAKS:
                pieces += _sentence(told, held)
                told, held, waiting = [], [], ""
                sentence += item.kind == "stop"
            elif item.kind in ("ordered", "announced", "list") or (
                item.kind == "frame" and _TELLS_ORDER.search(text, item.start, item.end)
            ):
                ordered.add(sentence)
            continue
        opens = not told and not held
        lead = _lead(run, opens)
        item.sentence, item.mark = sentence, item.mark or ("first" if "first" in run else "")
        item.tie, item.glue = _tie(run, lead)
        members = members if item.glue == "and" else []
        _set_aside(text, item, members, run)
        members.append(item)
        if waiting and "comma" in run:
            if waiting == "after":
                item.tie, item.glue = "next", ""
            waiting = ""
        waiting = lead or waiting
        (held if waiting == "before" else told).append(item)
        run = []
    return pieces + _sentence(told, held), set() if _AT_ONCE.search(text) else ordered


def _set_aside(text: str, piece: Piece, others: list[Piece], run: list[str]) -> None:
    """Note whether a piece sounds all along; what "and" joins it to may say so for it, or it for that."""
    piece.negated = _NEGATED.match(text, piece.start, piece.end) is not None
    if "along" in run or _EVER.search(text, piece.start, piece.end):
        piece.aside = "ever"
    elif _BACKGROUND.search(text, piece.start, piece.end):
        piece.aside = "background"
    piece.shared = next(
        (kind for kind in ("along", "with") if kind in run), others[-1].shared if others else ""
    )
    if piece.shared == "along":
        piece.aside = "ever"
    for other in others if piece.aside else ():
        if piece.shared == "with" or len(other.words) == 1:  # "rain and thunder throughout"
            other.aside = other.aside or piece.aside


def _lead(run: list[str], opens: bool) -> str:
    """Which of "after" and "before" leads its clause ("After A, B") instead of linking two, if any."""
    for kind in ("after", "before"):
        if kind in run and (opens or not (_NEXT | {"and"}).isdisjoint(run[: run.index(kind)])):
            return kind
    return "after" if opens and "preceded" in run else ""


def _tie(run: list[str], lead: str) -> tuple[str, str]:
    """The tie that the tokens before a piece make, and the glue if they are mere separators."""
    kinds = set(run)
    if kinds & _NEXT or ("before" in kinds and not lead):
        return "next", ""
    if "earlier" in kinds or (kinds & {"after", "preceded"} and not lead):
        return "prev", ""
    if kinds - {*_LIGHT, "time", "first", "ordered"}:
        return "join", ""
    return "join", next((kind for kind in _LIGHT if kind in kinds), "none")


def _sentence(told: list[Piece], held: list[Piece]) -> list[Piece]:
    """ "Before A, B": A is told first and begins last."""
    if told and held:
        told[0].tie, told[0].glue, held[0].tie, held[0].glue = held[0].tie, held[0].glue, "next", ""
    return told + held


def _items(text: str) -> _Items:
    """Tokens and trimmed stretches of words, in order."""
    out: _Items = []
    begin = kept = 0
    tokens = list((_TIMED_TOKEN if _DIGIT.search(text) else _TOKEN).finditer(text))
    for token, following in zip_longest(tokens, tokens[1:]):
        kind = token.lastgroup or ""
        if kind == "keep":
            kept = token.end()
            continue
        end = token.start()
        goal = text[token.end() : following.start() if following else len(text)].strip()
        if (kind == "before" and _ADDRESSED.fullmatch(goal)) or (
            kind == "after" and _PURSUES.search(text, begin, end) and _PURSUED.fullmatch(goal)
        ):
            continue
        if kind in _LEFT and (adverbs := _LEFT[kind].search(text, max(begin, end - 40), end)):
            end = max(begin, adverbs.start())
        if kind == "follows":
            if text[begin:end].strip() and not _sounds(text[begin:end]):  # "a dog follows a man"
                continue
            kind = "after"
        elif kind == "there":
            kind = "comma"
        out += _stretch(text, begin, end, kept)
        out.append(_Token(kind, token.start(), token.end()))
        begin = token.end()
    return out + _stretch(text, begin, len(text), kept)


def _sounds(text: str) -> bool:
    """Whether some word of the text names a sound, and not just who makes it."""
    words = WORD.findall(text.lower())
    return any(is_sound(word) and word.rstrip("s") not in ANIMALS for word in words)


def _stretch(text: str, start: int, end: int, kept: int) -> _Items:
    """The stretch without leading filler, "initially" or "afterwards", as at most one piece.

    ``kept`` is where the last set phrase ends ("the morning after"), of which nothing is taken.
    """
    mark = ""
    while True:
        if found := _FIRST_HEAD.match(text, start, end):
            mark, start = "first", found.end()
        elif found := _HEAD.match(text, start, end):
            start = found.end()
        elif found := _EDGE.search(text, start, end):
            end = found.start()
        elif found := _EARLY_TAIL.search(text, start, end):
            mark, end = "early", found.start()
        elif found := _FIRST_TAIL.search(text, start, end):
            mark, end = "first", found.start()
        elif end > kept and (found := _LATER_TAIL.search(text, start, end)):
            mark, end = "later", found.start()
        else:
            break
    if start >= end:
        return [_Token("first", start, start)] if mark in ("first", "early") else []
    start, end = whole(text, start, end)
    return [Piece(start, end, WORD.findall(text[start:end].lower()), mark=mark)]


def whole(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch with the bracket or quote whose other half lies in it, if that was cut off at its edge."""
    for opening, closing in _PAIRS:
        inside = text[start:end]
        left, right = inside.count(opening), inside.count(closing)
        odd = opening == closing and left % 2
        if (left > right or odd) and text.startswith(closing, end):
            end += 1
        elif (left < right or odd) and text.endswith(opening, 0, start):
            start -= 1
    return start, end


def _stamp(text: str, items: _Items) -> None:
    """Give each stated time to its piece: the one before it, or the one it opens."""
    last: Piece | None = None
    for index, item in enumerate(items):
        if isinstance(item, Piece):
            last = item
        elif item.kind == "time":
            owner = items[index - 1] if index else None
            leads = (
                _kind(items, 0) == "time" and index + 1 < len(items) and isinstance(items[index + 1], Piece)
            )
            if leads or not isinstance(owner, Piece):
                at = index + 1
                if _kind(items, at) == "colon" or (
                    _kind(items, at) == "comma" and _kind(items, index - 1) not in ("comma", "and")
                ):
                    at += 1
                owner = items[at] if at < len(items) and isinstance(items[at], Piece) else last
            if isinstance(owner, Piece) and owner.onset_s is None:  # the first time stated for a piece stands
                owner.onset_s, owner.offset_s = first_span(text[item.start : item.end])


def _headless(text: str, items: _Items) -> tuple[_Items, set[int]]:
    """Drop a heading ("Morning ritual: ...") if a list follows; sentence 0 is ordered if it says so."""
    kinds = [_kind(items, index) for index in range(len(items))]
    at = next((index for index, kind in enumerate(kinds) if kind in ("colon", "stop")), -1)
    listed = sum(isinstance(item, Piece) for item in items[at:]) > 1
    timed = any(isinstance(item, Piece) and item.onset_s is not None for item in items)
    if at < 0 or kinds[at] == "stop" or not listed or timed or "next" in kinds[:at]:
        return items, set()
    return items[at + 1 :], {0} if _TELLS_ORDER.search(text, 0, items[at].start) else set()


def _kind(items: _Items, index: int) -> str:
    item = items[index] if 0 <= index < len(items) else None
    return item.kind if isinstance(item, _Token) else ""
