"""Which pieces of a caption are events of their own: fragments glued back, retellings dropped."""

from dataclasses import dataclass

from earwitness.captions import words as w
from earwitness.captions.clauses import Piece


def glued(pieces: list[Piece]) -> list[Piece]:
    """Put fragments back on their neighbours: "loud, metallic bang", "on dirt and gravel"."""
    out: list[Piece] = []
    for piece in pieces:
        left = out[-1] if out else None
        apart = piece.glue in ("", "stop", "semicolon")
        if (
            left is pieces[0]
            and piece.shared == "with"
            and left.sentence == piece.sentence
            and _place(left.words)
        ):
            out[0] = piece  # "In a kitchen, with pans clattering, a man talks"
        elif not left or apart or left.sentence != piece.sentence or left.end >= piece.start:
            out.append(piece)
        elif piece.glue == "comma" and _circumstance(left.words):  # "In the distance, a dog barks"
            left.start, left.end, left.words = piece.start, piece.end, piece.words
            left.aside = left.aside or piece.aside
        elif _is_fragment(left.words, piece.words, piece.glue):
            while piece.words[:1] == ["or"] and len(out) > 1 and left.glue == "comma":  # "A, B, or C"
                out.pop()
                left = out[-1]
            left.end = piece.end
            left.words += piece.words
            left.aside = left.aside or piece.aside
            if left.onset_s is None:
                left.onset_s, left.offset_s = piece.onset_s, piece.offset_s
        else:
            out.append(piece)
    return out


def _is_fragment(words: list[str], others: list[str], glue: str) -> bool:
    return _adds_nothing(words, others, glue) or _leads_into(words, others, glue)


def _adds_nothing(words: list[str], others: list[str], glue: str) -> bool:
    """Whether what follows a comma or "and" is no event: "and ceases", "and gravel", "or a cat"."""
    if others[:1] == ["or"]:
        return True
    if not _core(others):
        return not any(word in w.PAUSE or word in w.RESUME or word in w.PRONOUNS for word in others)
    if _circumstance(others) or (glue == "during" and not any(w.is_sound(word) for word in others)):
        return True
    if not _bare(others):
        return False
    if glue == "comma" and others[0].endswith(("s", "ed")) and len(_core(words[:20])) > 1:  # "digs, scoops"
        return any(word in w.PREPOSITIONS or word in w.PLACES for word in words)  # not "on sand, twigs"
    return True


def _leads_into(words: list[str], others: list[str], glue: str) -> bool:
    """Whether what precedes a comma or "and" is no event yet: "loud", "men", "a bright"."""
    if len(words) > 8:
        return False
    core = _core(words)
    if not core:
        return bool(words) and all(word in w.DESCRIBING or w.adverb(word) for word in words)
    if all(word in w.PERSONS for word in core):
        return any(word in w.PERSONS for word in _core(others)[:1])
    if others[:1] and others[0] in w.DETERMINERS:
        return False
    if glue == "comma" and words[0] in w.ARTICLES and len(core) == 1 and not _names_event(core[0]):
        return True
    return _bare(words) and len(others) > 1


def _circumstance(words: list[str]) -> bool:
    """Whether a clause only says where or when: "in the distance", "from a truck"."""
    opening = next((word for word in words if not w.adverb(word)), "")
    return opening in w.PLACES or (opening in w.PREPOSITIONS and not any(w.is_sound(word) for word in words))


def _place(words: list[str]) -> bool:
    return _circumstance(words) and not any(w.is_sound(word) for word in words)


def _bare(words: list[str]) -> bool:
    """One word that is no event by itself."""
    rest = [word for word in words[:20] if not w.adverb(word) and word not in w.AGAIN]
    return len(rest) == 1 and (not _names_event(rest[0]) or w.stem(rest[0]) in w.GENERIC)


def _names_event(word: str) -> bool:
    """Whether a word alone names an event; letters and words of other scripts are trusted to."""
    return len(word) == 1 or not word.isascii() or w.is_sound(word)


def _core(words: list[str]) -> list[str]:
    """The words that tell what is heard."""
    if len(words) == 1 and len(words[0]) == 1:
        return words  # "A then B": letters for events
    return [word for word in words if w.tells(word)]


@dataclass(frozen=True, slots=True)
class _Content:
    """The stems of an event's words: what is heard, and that with the words that describe it."""

    core: frozenset[str]
    full: frozenset[str]
    quiet: bool
    other: bool  # "another man": a person not told of before


def distinct(pieces: list[Piece]) -> tuple[list[Piece], bool]:
    """The pieces that are events of their own, and whether one of them is told again.

    Pauses, mere verbs of time ("it stops") and silence between two events are no events. What is
    joined to a dropped piece takes over that piece's place in the sequence.
    """
    kept: list[tuple[int, _Content]] = []
    known: list[_Content] = []
    retold = False
    for at, piece in enumerate(pieces):
        content = _content(piece.words)
        if piece.negated:
            _pass_on(pieces, at)
        elif content.core and not _told_before(piece.words, content, known):
            kept.append((at, content))
            known.append(content)
        else:
            retold = retold or bool(content.core) or any(word in w.AGAIN for word in piece.words)
            _pass_on(pieces, at)
    inner = [at for at, content in kept[1:-1] if content.quiet]
    for at in inner:
        _pass_on(pieces, at)
    return [pieces[at] for at, _ in kept if at not in inner], retold


def _pass_on(pieces: list[Piece], dropped: int) -> None:
    if pieces[dropped].tie == "next" and dropped + 1 < len(pieces) and pieces[dropped + 1].tie == "join":
        pieces[dropped + 1].tie = "next"


def _content(words: list[str]) -> _Content:
    core = _core(words)
    quiet = any(word in w.QUIET for word in core) and not any(
        w.is_sound(word) for word in core if word not in w.QUIET
    )
    stems = frozenset(w.stem(word) for word in core) if not quiet else frozenset({"silence"})
    told = (stems - w.GENERIC) or stems
    described = {w.stem(word) for word in words if word in w.ADJECTIVES and word not in w.COUNTING}
    other = any(word in w.PERSONS for word in words) and any(word in w.OTHER for word in words)
    return _Content(told, told | described | ({"other"} if other else set()), quiet, other)


def _told_before(words: list[str], content: _Content, known: list[_Content]) -> bool:
    """Whether an event was told already: "it meows again", "another groan", "the laughter ends"."""
    if content.other or not known:
        return False
    if any(content.full == earlier.full for earlier in known):
        return True
    if any(word in w.RESUME for word in words):
        return content.core <= frozenset().union(*(earlier.core for earlier in known))
    refers = words[0] in ("the", "it", "they", "this") or any(word in w.AGAIN for word in words)
    return refers and any(content.core <= earlier.core for earlier in known)
