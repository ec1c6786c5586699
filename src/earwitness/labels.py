"""AudioSet labels: their tree, and which of them a phrase asks for.

Conventions
-----------
A label is one of the 632 names of the AudioSet ontology (Gemmeke et al., ICASSP 2017), spelt as there;
YAMNet's class map uses 521 of them with the same spelling. ``audioset.tsv`` holds names and parents,
``aliases.tsv`` the phrases and word lists that :func:`find` reads.

Tree. Some labels have several parents because several sources make the sound (a hiss: cat, snake or
steam). Such a parent is marked "?" in the table. :func:`ancestors` and :func:`descendants` follow every
edge, :func:`heard_as` leaves the marked ones out: a hiss is not yet a cat.

Sets. A phrase may ask for a label together with one above it, because detectors often say no more ("Speech"
for a man speaking). The upper one then counts exactly: only the most specific labels of a set bring their
descendants, so a woman speaking is not heard as the man.

Phrases. :func:`find` reads one event, and every word has to be accounted for: what remains after leaving
out words that say nothing about the source (articles, counts, loudness, size) must be a known phrase as a
whole. One unknown word makes the phrase unknown, because a wrong label is a wrong score while an unknown
phrase only lowers coverage. A negation, or a sound that ends ("music stops"), makes it unknown too, and a
verb whose particle changes its sense ("knocks over") is never read alone. The first that applies:

1. an alias or a name (or a comma part of one), as spelt and then with inflections removed;
2. the same without words that say nothing, then without people ("a man saws wood"), who make no sound of
   animals or nature; "X of Y" is also read as "Y X", and "barking dog" as "dog bark";
3. the same without a tail that starts at a preposition or conjunction, the shortest tail first, so the
   first of several joined events counts. A tail alone never maps;
4. a sound word that names the sound whatever makes it ("the old gate creaks"), marked "*" in the aliases.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise, product
from typing import NamedTuple

from earwitness.errors import UserError

_LONGEST = 60  # words; a longer text is no phrase for one event


@dataclass(frozen=True, slots=True)
class _Label:
    parents: tuple[str, ...]
    certain: frozenset[str]  # the parents that hearing this label establishes
    in_yamnet: bool


class _Found(NamedTuple):
    labels: frozenset[str]
    why: str  # "alias 'dog bark'", "name 'Siren'", or why nothing was found


class _Tables(NamedTuple):
    spelt: dict[str, _Found]  # by words as written
    stems: dict[str, _Found]  # by words without inflection
    sounds: dict[str, _Found]  # rules marked "*", by stems
    vocabulary: frozenset[str]


@cache
def _tree() -> dict[str, _Label]:
    tree = {}
    for line in _lines("audioset.tsv")[1:]:
        name, parents, yamnet = line.split("\t")
        marked = [p for p in parents.split(";") if p]
        tree[name] = _Label(
            tuple(p.removesuffix("?") for p in marked),
            frozenset(p for p in marked if not p.endswith("?")),
            yamnet == "yes",
        )
    return tree


@cache
def _children() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {name: [] for name in _tree()}
    for name, label in _tree().items():
        for parent in label.parents:
            found[parent].append(name)
    return {name: tuple(children) for name, children in found.items()}


@cache
def names() -> tuple[str, ...]:
    """Every label, in the ontology's order."""
    return tuple(_tree())


def check(label: str) -> str:
    """The label itself.

    Raises:
        UserError: If it is no AudioSet name; near names are offered.
    """
    if label in _tree():
        return label
    near = suggest(label)
    remedy = f"Did you mean {' or '.join(map(repr, near))}?" if near else "Use a name from audioset.tsv."
    raise UserError(f"{label!r} is not an AudioSet label.", remedy)


def parents(label: str) -> tuple[str, ...]:
    """The labels directly above; empty for a root. Raises UserError on an unknown label."""
    return _tree()[check(label)].parents


@cache
def ancestors(label: str) -> frozenset[str]:
    """Every label above, without the label itself. Raises UserError on an unknown label."""
    return frozenset(parents(label)).union(*map(ancestors, parents(label)))


@cache
def descendants(label: str) -> frozenset[str]:
    """Every label below, without the label itself. Raises UserError on an unknown label."""
    return frozenset(_children()[check(label)]).union(*map(descendants, _children()[label]))


@cache
def _kinds(label: str) -> frozenset[str]:
    """Descendants through certain edges only: the sounds that are always this sound."""
    direct = [child for child in _children()[check(label)] if label in _tree()[child].certain]
    return frozenset(direct).union(*map(_kinds, direct))


def most_specific(labels: frozenset[str]) -> Iterator[str]:
    """Those without a descendant, by any edge, among the given. Raises UserError on an unknown label."""
    return (label for label in labels if labels.isdisjoint(descendants(label)))


def heard_as(labels: Iterable[str]) -> frozenset[str]:
    """What counts as hearing one of ``labels``: these and every kind of the most specific of them.

    Descendants whose sound also comes from other sources (marked "?" in the table) are left out.
    Raises UserError on an unknown label.
    """
    given = frozenset(labels)
    return given.union(*map(_kinds, most_specific(given)))


def lenient(labels: Iterable[str]) -> frozenset[str]:
    """What counts when a broader label is good enough: "Animal" where "Dog" was asked.

    Adds all descendants of the most specific labels, and the ancestors that tell something: labels absent
    from YAMNet's map, such as "Human sounds", are AudioSet's abstract headings and never count.
    Raises UserError on an unknown label.
    """
    given = frozenset(labels)
    above = frozenset[str]().union(*map(ancestors, given))
    telling = frozenset(name for name in above if _tree()[name].in_yamnet)
    return given.union(telling, *map(descendants, most_specific(given)))


def find(phrase: str) -> frozenset[str]:
    """The labels whose presence means that what the phrase asks for is there; empty when unknown.

    Takes any text and never raises. Pass the result to :func:`heard_as`. Two phrases whose heard sets
    meet cannot be told apart.
    """
    return _match(phrase).labels


def explain(phrase: str) -> str:
    """One line: which rule of :func:`find` matched the phrase, or why none did."""
    return _match(phrase).why


def suggest(phrase: str, n: int = 3) -> tuple[str, ...]:
    """Up to ``n`` labels spelt like the phrase, nearest first, for error messages."""
    known = _spellings()
    near = difflib.get_close_matches(" ".join(_words(phrase)[:_LONGEST]), known, n=3 * n, cutoff=0.6)
    return tuple(dict.fromkeys(known[spelling] for spelling in near))[:n]


@cache
def _spellings() -> dict[str, str]:
    """Each name and each comma part of one, in plain words, with the name it belongs to."""
    parts = {" ".join(_words(part)): name for name in reversed(names()) for part in _parts(name)}
    return parts | {" ".join(_words(name)): name for name in names()}


@lru_cache(maxsize=16384)
def _match(phrase: str) -> _Found:
    words = _words(phrase)
    if not words:
        return _Found(frozenset(), "it has no words in Latin letters")
    if len(words) > _LONGEST:
        return _Found(frozenset(), f"more than {_LONGEST} words are no phrase for one event")
    cut = _lists()["@cut"]
    while words and words[0] in _lists()["@join"]:
        words = words[1:]
    if absent := _absence(words):
        return _Found(frozenset(), f"{absent!r} says that the sound is absent or ends")
    if not words or (words[0] in cut and _words(_spellings().get(" ".join(words), "")) != words):
        return _Found(frozenset(), "a place or a time alone names no sound")
    cuts = (at for at in range(len(words) - 1, 0, -1) if words[at] in cut and words[at - 1] != "of")
    nature = descendants("Animal") | descendants("Natural sounds")
    whole = _first_phrasal(words)
    ends = [end for end in (len(words), *cuts) if end <= whole]
    for end in ends:
        for reading, peopled in _readings(words[:end]):
            rule = _look_up(reading)
            if rule and not (peopled and rule.labels and rule.labels <= nature):
                return _Found(rule.labels, _told(rule, words[end:]))
    head = words[: ends[-1]] if ends else ()
    for reading, _ in _readings(head):
        if len(reading) > 2 and reading[-1] == head[0]:
            continue  # "rustling pigeons coo" is about pigeons
        for start in range(1, len(reading)):
            rule = _tables().sounds.get(_stemmed(reading[start:]))
            if rule:
                return _Found(rule.labels, f"sound word of {_told(rule, words[ends[-1] :])}")
    return _Found(frozenset(), f"no name or alias accounts for every word of {' '.join(head or words)!r}")


def _absence(words: tuple[str, ...]) -> str:
    """The word that negates or ends the sound. "Then stops" and "at the end" only say until when it lasts."""
    negations, endings, lasts = _lists()["@negation"], _list_stems("@ending"), _lists()["@until"]
    for before, word in pairwise(("", *words)):
        if word in negations or (_stem(word) in endings and before not in lasts):
            return word
    return ""


def _first_phrasal(words: tuple[str, ...]) -> int:
    """Where the first verb stands whose particle gives it another sense; past the end if none does."""
    phrasal = [f"{_stem(verb)}_{after}" in _lists()["@phrasal"] for verb, after in pairwise(words)]
    return phrasal.index(True) if any(phrasal) else len(words)


def _told(rule: _Found, tail: tuple[str, ...]) -> str:
    told = rule.why if rule.labels else f"{rule.why}: AudioSet has no label for it"
    return f"{told}, leaving out {' '.join(tail)!r}" if tail else told


def _readings(words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Ways to read a phrase, fullest first, each with whether people were left out."""
    cut, silent, people = _lists()["@cut"], _list_stems("@ignore"), _list_stems("@people")
    plain = tuple(w for w in words if w not in cut)
    adverbs = {w for w in plain if len(w) > 4 and w.endswith("ly")} - _tables().vocabulary
    bare = tuple(w for w in _without_groups(plain) if _stem(w) not in silent and w not in adverbs)
    close = plain == words  # "banging on a door" is no banging door
    for reading in (plain, bare):
        yield from ((r, False) for r in _orders(reading, close))
    alone = tuple(w for w in bare if _stem(w) not in people)
    if alone != bare:
        yield from ((r, True) for r in _orders(alone, close))


def _orders(words: tuple[str, ...], close: bool) -> Iterator[tuple[str, ...]]:
    """The words as they stand; "bark of dog" and, if ``close``, "barking dog" also as "dog bark"."""
    joined = tuple(w for w in words if w != "of")
    if not joined:
        return
    yield joined
    if "of" in words:
        at = words.index("of")
        yield tuple(w for w in words[at:] + words[:at] if w != "of")
    elif close and len(joined) > 1 and joined[0].endswith(("ing", "ed", "en")):
        yield (*joined[1:], joined[0])


def _without_groups(words: tuple[str, ...]) -> tuple[str, ...]:
    """Drop "group of", "series of", "glass of": what follows is the source."""
    at = words.index("of") if "of" in words else 0
    if at and _stem(words[at - 1]) in _list_stems("@group"):
        return _without_groups(words[: at - 1] + words[at + 1 :])
    return words


def _look_up(words: tuple[str, ...]) -> _Found | None:
    tables = _tables()
    key = " ".join(words)
    if key in tables.spelt or key.replace(" ", "_") in _lists()["@not_alone"]:
        return tables.spelt.get(key)
    return tables.stems.get(_stemmed(words))


@cache
def _lists() -> dict[str, frozenset[str]]:
    """The word lists of the alias file, by name."""
    rows = (line.split("\t") for line in _lines("aliases.tsv") if line.startswith("@"))
    lists = {name: frozenset(words.split()) for name, words in rows}
    cut = lists["@join"] | lists["@tail"]
    return lists | {"@cut": cut, "@until": lists["@until"] | cut}


@cache
def _list_stems(name: str) -> frozenset[str]:
    return frozenset(map(_stem, _lists()[name]))


@cache
def _irregular() -> dict[str, str]:
    return dict(pair.split(":") for pair in _lists()["@irregular"])


@cache
def _tables() -> _Tables:
    aliases: dict[str, _Found] = {}
    sounds: dict[str, _Found] = {}
    for line in _lines("aliases.tsv"):
        patterns, _, targets = line.partition("\t")
        if patterns.startswith("@"):
            continue
        labels = frozenset(targets.split("; ")) if targets != "-" else frozenset[str]()
        for pattern in patterns.split(", "):
            for key in expand(pattern.removeprefix("* ")):
                rule = _Found(labels, f"alias {key!r}")
                if pattern.startswith("* "):
                    sounds[_stemmed(tuple(key.split()))] = rule
                else:
                    aliases[key] = rule
    own = {_stemmed(tuple(key.split())): rule for key, rule in aliases.items()}
    spelt: dict[str, _Found] = {}
    stems: dict[str, _Found] = {}
    for name in names():  # a name asks for itself and for what other forms of its words ask for
        words = _plain(name)
        key, stem = " ".join(words), _stemmed(words)
        rule = _Found(frozenset([name]), f"name {name!r}")
        other = None if key in _lists()["@exact"] else own.get(stem)
        spelt[key] = _Found(other.labels | {name}, other.why) if other else rule
        stems.setdefault(stem, rule)
    for name in names():
        for words in map(_plain, _parts(name)):
            key, stem = " ".join(words), _stemmed(words)
            if key and key not in _lists()["@not_alone"] and stem not in own:
                rule = _Found(frozenset([name]), f"name {name!r}")
                spelt.setdefault(key, rule)
                stems.setdefault(stem, rule)
    spelt = aliases | spelt
    vocabulary = frozenset(word for key in spelt for word in key.split())
    return _Tables(spelt, stems | sounds | own, sounds, vocabulary)


def expand(pattern: str) -> list[str]:
    """The phrases an alias pattern stands for: ``a|b`` is a choice, ``word?`` optional, ``_`` a space."""
    if not re.search("[|?_]", pattern):
        return [pattern]
    slots = []
    for slot in pattern.split():
        choices = slot.removesuffix("?").split("|")
        slots.append([*choices, ""] if slot.endswith("?") else choices)
    return [" ".join(filter(None, chosen)).replace("_", " ") for chosen in product(*slots)]


def _plain(name: str) -> tuple[str, ...]:
    return tuple(w for w in _words(name) if w not in _lists()["@cut"] and w != "of")


def _parts(name: str) -> list[str]:
    """The comma parts of a name, commas in brackets apart; empty when there is just one."""
    parts = re.split(r", (?![^(]*\))", name)
    return parts if len(parts) > 1 else []


def _words(text: str) -> tuple[str, ...]:
    """Lower-case words without accents, punctuation, possessives, articles, auxiliaries or bare numbers."""
    text = text.lower()
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    found = re.findall(r"[a-z0-9]+", re.sub(r"['’]s?\b", "", text))
    return tuple(w for w in found if not (w.isdigit() or w in _lists()["@empty"]))


def _stemmed(words: tuple[str, ...]) -> str:
    return " ".join(map(_stem, words))


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    """A word without plural or verb ending; a rough key, the same for all forms of one word."""
    word = _irregular().get(word, word)
    if len(word) > 4 and word.endswith(("ies", "ied")):
        word = word[:-3] + "y"
    elif word.endswith(("sses", "zzes", "ches", "shes", "xes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and re.search("[aeiouy]", root) and not (ending == "ed" and root.endswith("e")):
            # "typing" is from "type", "tapping" (root "tapp") from "tap"
            word = root + "e" if re.fullmatch("[^aeiou][aeiouy][^aeiouwxy]", root) else root
            break
    short = len(word) < 4 or re.fullmatch("[^aeiou][aeiouy][^aeiou]e", word)
    if word.endswith("e") and not word.endswith("ee") and not short:
        word = word[:-1]
    return word[:-1] if re.search(r"([^aeiou])\1$", word) else word


def _lines(file: str) -> list[str]:
    text = files("earwitness").joinpath(file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
