"""The prompts that RiTTA's authors published (7,920, 720 a sub-relation), read by their words.

Conventions
-----------
The published labels are not believed: which sound comes first, what is near and what follows from what is
read from the text, and compared with what the public evaluator grades. Where the two differ, the text is
right and the difference is counted as a correction:

- **D1**: filed as ``farfirst``, but the text asks for the near sound first: it becomes ``closefirst``.
- **D2**: "A preceded by B" is graded as A first: the order is reversed (and ``closefirst`` with it).
- **D3**: filed as ``before`` or ``after`` regardless of the words: it is ``after`` if the text names the
  later sound first, else ``before``.
- **D4**: "just A if not B, else C": B is the condition, C follows from it and A is the alternative; it is
  graded as A with B, or C.

``or`` is exclusive only where the text says "not both". ``and`` and ``together`` are not told apart where
both say "together" ("A and B together"): there the label decides. Prompts that are there twice stay twice.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from earwitness.errors import InputFaults, UserError
from earwitness.scenes.bank import Bank
from earwitness.scenes.recipe import MIX
from earwitness.scenes.ritta import card as cards
from earwitness.scenes.ritta import published_words as words
from earwitness.scenes.ritta.classes import CLASSES
from earwitness.scenes.ritta.deal import generator
from earwitness.scenes.ritta.prompts import Asked
from earwitness.scenes.ritta.published_words import Unread
from earwitness.scenes.ritta.recipe import COLUMNS as DRAWN_COLUMNS
from earwitness.scenes.ritta.recipe import cells
from earwitness.scenes.ritta.saying import EXCLUSIVE, INCLUSIVE
from earwitness.scenes.ritta.staging import Stage
from earwitness.scenes.ritta.stock import AMBIENCE_DB, Stock, stage, stage_settings, stock
from earwitness.scenes.scene import Scene
from earwitness.scores.relations import MAIN, RELATIONS, Expected
from earwitness.scores.ritta import BOUNDARY_DB

COLUMNS = (*DRAWN_COLUMNS, "published_relation", "published_name", "corrections")

_EASY_DB = 6.0
"""Levels as far apart as of a sound at twice the distance."""

CORRECTIONS: Mapping[str, str] = {
    "D1": "far-first prompts that ask for the near sound first",
    "D2": "'A preceded by B' graded as A first",
    "D3": "before and after told apart by their words",
    "D4": "roles of if-then-else in 'just A if not B, else C'",
}


@dataclass(frozen=True, slots=True)
class PublishedPrompt:
    """One published prompt, corrected.

    Attributes:
        prompt_id: ``<published sub-relation>-<index>``, the index counted from 0.
        published_relation: The sub-relation it was filed under.
        published_name: File name of the published reference clip.
        reading: As in :data:`.wordings.READINGS`.
        corrections: Those of :data:`CORRECTIONS` that it needed.
    """

    prompt_id: str
    prompt: str
    published_relation: str
    published_name: str
    expected: Expected
    reading: str
    corrections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Published:
    """The published prompts in their order; ``sha256`` of the file they were read from."""

    prompts: tuple[PublishedPrompt, ...]
    sha256: str

    @property
    def corrections(self) -> Mapping[str, int]:
        """How many prompts needed each correction."""
        found = Counter(name for one in self.prompts for name in one.corrections)
        return {name: found[name] for name in CORRECTIONS}

    @property
    def relations(self) -> Mapping[str, int]:
        """How many prompts ask for each relation, as corrected."""
        found = Counter(one.expected.relation for one in self.prompts)
        return {relation: found[relation] for relation in RELATIONS if found[relation]}

    @property
    def settings(self) -> Mapping[str, Any]:
        """What a data set of the prompts alone depends on, as plain data."""
        return {
            "family": "ritta-published",
            "prompts_sha256": self.sha256,
            "corrections": dict(self.corrections),
        }

    @property
    def card(self) -> str:
        """Markdown for the card of a data set of the prompts alone."""
        return cards.joined(_about(self), cards.scoring())

    def rows(self) -> Iterator[Mapping[str, str]]:
        """One row a prompt: ``prompt_id``, ``prompt`` and :data:`COLUMNS`, without a seed."""
        for one in self.prompts:
            yield {"prompt_id": one.prompt_id, "prompt": one.prompt, **_cells(one, None)}


def read(path: Path) -> Published:
    """Read the published file (JSON: main relation -> sub-relation -> rows).

    Each row has ``text_prompt``, ``audio_name_list`` and ``reference_audio``; main relations may be left out.

    Raises:
        UserError: If the file cannot be read or holds no such prompts.
        InputFaults: Listing every row whose words fit no pattern, or contradict its list of sounds.
    """
    try:
        content = path.read_bytes()
        data = json.loads(content)
    except OSError as fault:
        raise UserError(f"{path} cannot be read: {fault.strerror}.") from fault
    except (ValueError, RecursionError) as fault:
        raise UserError(f"{path} is no JSON: {fault}.", "Name the published prompts as JSON.") from fault
    found: list[PublishedPrompt] = []
    faults: list[str] = []
    for sub, index, row in _rows(data):
        prompt_id = f"{sub}-{index:04d}"
        try:
            found.append(_prompt(prompt_id, sub, row))
        except Unread as fault:
            faults.append(f"{prompt_id} (row {index} of {sub!r}): {fault}")
    if faults:
        raise InputFaults(str(path), faults, "Only the prompts as published can be read.")
    if not found:
        raise UserError(f"{path} holds none of RiTTA's prompts.", f"It needs one of {', '.join(MAIN)}.")
    return Published(tuple(found), hashlib.sha256(content).hexdigest())


def _rows(data: Any) -> Iterator[tuple[str, int, Any]]:
    """Sub-relation, index and content of each row, in the file's order."""
    for main, subs in data.items() if isinstance(data, dict) else ():
        for sub, rows in subs.items() if isinstance(subs, dict) and main in MAIN else ():
            if sub in MAIN[main] and isinstance(rows, list):
                yield from ((sub, index, row) for index, row in enumerate(rows))


def _prompt(prompt_id: str, sub: str, row: Any) -> PublishedPrompt:
    match row:
        case {
            "text_prompt": str(text),
            "audio_name_list": [*listed],
            "reference_audio": str(name),
        }:
            pass
        case _:
            raise Unread("it needs text_prompt, audio_name_list and reference_audio")
    said, sounds = (
        words.sounds(text),
        [words.SPELT.get(str(one).replace("_", " "), str(one)) for one in listed],
    )
    if sorted(set(said)) != sorted(sounds):
        raise Unread(f"{text!r} names {', '.join(said)}; listed are {', '.join(sounds)}")
    expected, reading = words.read(sub, text)
    corrections = tuple(_corrections(sub, sounds, expected))
    if not corrections and expected.relation != sub:
        raise Unread(f"{text!r} asks for {expected.relation!r}")
    return PublishedPrompt(prompt_id, text, sub, name, expected, reading, corrections)


def _corrections(sub: str, sounds: Sequence[str], expected: Expected) -> Iterator[str]:
    """Where the public evaluator would grade something else; ``sounds`` are in the order it lists them."""
    relation, wanted = expected.relation, expected.alternatives[0].present
    if (sub, relation) == ("farfirst", "closefirst"):
        yield "D1"
    if (sub, relation) == ("closefirst", "farfirst"):
        yield "D2"
    if sub in ("before", "after"):
        graded = tuple(sounds) if sub == "before" else tuple(reversed(sounds))
        if wanted != graded:
            yield "D2"
        if relation != sub:
            yield "D3"
    if sub == "if_then_else" and set(wanted) != set(sounds[:2]):
        yield "D4"


@dataclass(frozen=True, slots=True)
class PublishedRecipe:
    """A recipe of clips for the published prompts; see :func:`recipe`."""

    published: Published
    prompts: Mapping[str, PublishedPrompt]
    stock: Stock
    stage: Stage
    seed: int

    @property
    def bank(self) -> Bank:
        """What the scenes are rendered from: one side of the bank given, by class, and the ambience."""
        return self.stage.bank

    @property
    def columns(self) -> Sequence[str]:
        return COLUMNS

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            **self.published.settings,
            "prompts_left_out": len(self.published.prompts) - len(self.prompts),
            "seed": self.seed,
            **self.stock.settings(),
            **stage_settings(self.stage),
        }

    @property
    def card(self) -> str:
        left_out = len(self.published.prompts) - len(self.prompts)
        return cards.joined(
            _about(self.published),
            f"Prompts left out, as they name a class that {self._lacking}: {left_out:,}." if left_out else "",
            cards.clips(self.stock),
            cards.placing(self.stage),
            cards.scoring(),
        )

    def keys(self) -> Sequence[str]:
        return list(self.prompts)

    def expected(self, key: str) -> Expected:
        """What the prompt of a key asks for."""
        return self.prompts[key].expected

    def draw(self, key: str) -> Mapping[str, Scene]:
        one = self.prompts[key]
        where = (self.seed, self.stock.split, "published", key)
        asked = Asked(one.prompt, one.reading, one.expected, self._heard(one, where))
        return self.stage.scenes(key, asked, seed=self.seed, where=where)

    def row(self, key: str, scenes: Mapping[str, Scene]) -> Mapping[str, str]:
        return _cells(self.prompts[key], scenes[MIX].seed)

    @property
    def _lacking(self) -> str:
        listener = self.stock.listener
        return f"the bank lacks or {listener} does not claim to know" if listener else "the bank lacks"

    def _heard(self, one: PublishedPrompt, where: Sequence[object]) -> str:
        """A sound for a clip that meets ``not``, of another main group than the one it names."""
        if one.expected.relation != "not":
            return ""
        (unwanted,) = one.expected.labels
        others = _other_groups(unwanted, self.stock)
        return others[int(generator(*where, "heard").integers(len(others)))]


def recipe(
    published: Published,
    bank: Bank,
    *,
    split: str = "test",
    seed: int = 0,
    rate_hz: int = 16_000,
    duration_s: float = 10.0,
    measure: str = "lufs",
    ambience: Path | None = None,
    ambience_db: float = AMBIENCE_DB,
    known: Set[str] | None = None,
    listener: str = "",
    leave_out_missing: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> PublishedRecipe:
    """A recipe of clips that meet the published prompts, placed by the rules of :mod:`.staging`.

    Args:
        known: Leave out the prompts that name any class but these: those that a listener claims to know.
        listener: That listener's name, for the settings and the card.
        leave_out_missing: Leave out the prompts that name a class the bank lacks.
        bank, split, seed, rate_hz, duration_s, measure, ambience, ambience_db, progress: As for
            :func:`.recipe.recipe`.

    Raises:
        InputFaults: Listing every class that the bank lacks.
        UserError: If there can be no such scenes, with the numbers.
    """
    found = stock(
        bank,
        split=split,
        rate_hz=rate_hz,
        duration_s=duration_s,
        measure=measure,
        known=known,
        listener=listener,
        leave_out_missing=leave_out_missing,
        progress=progress,
    )
    prompts = {
        one.prompt_id: one
        for one in published.prompts
        if all(label in found.slices for label in one.expected.labels)
        and (one.expected.relation != "not" or _other_groups(one.expected.labels[0], found))
    }
    if not prompts:
        raise UserError(
            f"Every prompt names a class that is not there; there are {', '.join(found.slices)}.",
            "Add clips of other classes.",
        )
    staged = stage(found, ambience=ambience, ambience_db=ambience_db)
    return PublishedRecipe(published, prompts, found, staged, seed)


def _other_groups(label: str, stock: Stock) -> list[str]:
    return [name for name in sorted(stock.slices) if CLASSES[name].group != CLASSES[label].group]


def _cells(one: PublishedPrompt, seed: int | None) -> dict[str, str]:
    return {
        **cells(one.expected, one.reading, seed),
        "published_relation": one.published_relation,
        "published_name": one.published_name,
        "corrections": ";".join(one.corrections),
    }


def _about(published: Published) -> str:
    """What the prompts are, how many ask for which relation, and what was corrected."""
    filed = Counter(one.published_relation for one in published.prompts)
    counts = {
        relation: (number, f"{filed[relation]:,} filed under it")
        for relation, number in published.relations.items()
    }
    exclusive = sum(one.reading == EXCLUSIVE for one in published.prompts)
    inclusive = sum(one.reading == INCLUSIVE for one in published.prompts)
    unique = len({one.prompt for one in published.prompts})
    corrected = ((name, f"{published.corrections[name]:,}", meaning) for name, meaning in CORRECTIONS.items())
    return cards.joined(
        "# The published prompts of RiTTA, corrected",
        f"{len(published.prompts):,} prompts as the authors of RiTTA (arXiv 2412.15922) published them, "
        f"{unique:,} of them different. What each asks for was read from its words, not from its label, but "
        "for `and` and `together` (see below): `relation` and `expected` are corrected, "
        "`published_relation` is where it was filed.",
        cards.relations(counts),
        "## Corrections",
        cards.table(("", "prompts", "what"), corrected),
        f"`or` is exclusive in {exclusive:,} prompts, whose words say so, and inclusive in {inclusive:,}.",
        _together(published),
        _distances(published),
    )


def _together(published: Published) -> str:
    """How many prompts of ``and`` and ``together`` are what they are because they were filed so."""
    found = Counter(
        one.published_relation
        for one in published.prompts
        if one.published_relation in ("and", "together") and words.says_together(one.prompt)
    )
    if not found:
        return ""
    return (
        f"`and` and `together` are kept as filed where the words do not decide: {found['and']:,} prompts "
        f'filed under `and` and {found["together"]:,} under `together` say "together" alike.'
    )


def _distances(published: Published) -> str:
    """How near the boundary the prompts lie whose distances differ."""
    differ = [
        one.expected for one in published.prompts if one.expected.relation in ("closefirst", "farfirst")
    ]
    if not differ:
        return ""
    near = Counter(one.relation for one in differ if abs(one.level_difference_db or 0.0) < _EASY_DB)
    told = ", ".join(f"{near[name]:,} `{name}`" for name in ("closefirst", "farfirst"))
    parts = [
        f"The level must differ by {BOUNDARY_DB:g} dB or more for a sound to count as nearer. In "
        f"{near.total():,} of the {len(differ):,} prompts of two distances these are less than "
        f"{_EASY_DB:g} dB apart (20 lg of their ratio), near that boundary: {told}."
    ]
    far = [one for one in differ if one.relation == "farfirst"]
    if len({one.distances_m for one in far}) == 1:
        first, second = far[0].distances_m or (1.0, 1.0)
        apart = abs(far[0].level_difference_db or 0.0)
        parts.append(
            f"All `farfirst` prompts have {first:g} and {second:g} m, {apart:.1f} dB apart: their scores "
            f"hang on {apart - BOUNDARY_DB:.1f} dB."
        )
    return " ".join(parts)
