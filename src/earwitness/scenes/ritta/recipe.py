"""RiTTA's data set (arXiv 2412.15922): prompts of eleven relations, each with a clip that meets it.

What a prompt is drawn from
---------------------------
The key of a prompt is ``<relation>-<index>``. Its sounds, distances and words are dealt evenly (see
:mod:`.prompts`) and its clips drawn (see :mod:`.staging`) by the seed, the split, the relation and the index,
from the bank; the number of prompts a relation is no part of that, so more prompts change none that are
there.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from earwitness.errors import UserError
from earwitness.manifest.table import near
from earwitness.scenes.bank import Bank
from earwitness.scenes.recipe import MIX
from earwitness.scenes.ritta import card as cards
from earwitness.scenes.ritta.deal import Groups
from earwitness.scenes.ritta.prompts import MOST, Asked, Prompts
from earwitness.scenes.ritta.staging import Stage
from earwitness.scenes.ritta.stock import AMBIENCE_DB, LEAVE_OUT, Stock, stage, stage_settings, stock
from earwitness.scenes.ritta.wordings import Wording, builtin, load
from earwitness.scenes.scene import Scene
from earwitness.scores.relations import MAIN, RELATIONS, Expected

COUNT_GROUPS = ("different", "same")
COLUMNS = ("relation", "events", "seed", "main_relation", "reading", "expected")

_MAIN_OF = {sub: main for main, subs in MAIN.items() for sub in subs}


@dataclass(frozen=True, slots=True)
class RittaRecipe:
    """A recipe of RiTTA scenes; see :func:`recipe`."""

    stock: Stock
    stage: Stage
    prompts: Prompts
    per_relation: int
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
        """All that a draw depends on; the number of prompts is no part of it."""
        return {
            "family": "ritta",
            "seed": self.seed,
            **self.stock.settings(),
            **stage_settings(self.stage),
            "count_groups": COUNT_GROUPS[self.prompts.one_group],
            "count_numbers": list(self.prompts.numbers),
            "wordings": {relation: len(found) for relation, found in self.prompts.wordings.items()},
            "wordings_sha256": _fingerprint(self.prompts.wordings),
        }

    @property
    def card(self) -> str:
        return cards.drawn(self.stock, self.stage, self.prompts, self.per_relation, self.seed)

    def keys(self) -> Sequence[str]:
        return [f"{relation}-{i:05d}" for relation in RELATIONS for i in range(self.per_relation)]

    def asked(self, key: str) -> Asked:
        """The prompt of a key, and how it is meant."""
        relation, index = _parted(key)
        return self.prompts.asked(relation, index)

    def expected(self, key: str) -> Expected:
        """What the prompt of a key asks for."""
        return self.asked(key).expected

    def draw(self, key: str) -> Mapping[str, Scene]:
        relation, index = _parted(key)
        where = (*self.prompts.where, relation, index)
        return self.stage.scenes(key, self.prompts.asked(relation, index), seed=self.seed, where=where)

    def row(self, key: str, scenes: Mapping[str, Scene]) -> Mapping[str, str]:
        scene = scenes[MIX]
        asked = self.asked(key)
        return cells(asked.expected, asked.reading, scene.seed)


def recipe(
    bank: Bank,
    *,
    split: str = "test",
    per_relation: int = 720,
    seed: int = 0,
    rate_hz: int = 16_000,
    duration_s: float = 10.0,
    count_groups: str = "different",
    phrasings: Path | None = None,
    measure: str = "lufs",
    ambience: Path | None = None,
    ambience_db: float = AMBIENCE_DB,
    known: Set[str] | None = None,
    listener: str = "",
    leave_out_missing: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> RittaRecipe:
    """A recipe of ``per_relation`` prompts for each of the eleven relations.

    Args:
        bank: Its labels name the classes (see :func:`.classes.named`); others are not used.
        split: Side of the bank: ``train``, ``test`` or ``all``.
        seed: Of every draw.
        rate_hz, duration_s: Of the scenes; RiTTA's are 16 kHz and 10 s.
        count_groups: ``different``: the sounds of a ``count`` come from different main groups; ``same``: all
            from one, as in the published data.
        phrasings: The user's own wordings, dealt beside the built-in ones (see :func:`.wordings.load`).
        measure: Of levels: ``lufs`` or ``rms``.
        ambience: A folder of clips (a bank of any labels), one of which lies under each scene at
            ``ambience_db`` in that measure.
        known: Names of the only classes to use: those that a listener claims to know; by default all.
        listener: That listener's name, for the settings and the card.
        leave_out_missing: Go on without the classes that the bank lacks.
        progress: Called with clips cut and clips in all, as the bank is cut into slices.

    Raises:
        InputFaults: Listing every class that the bank lacks, or every fault of the phrasings.
        UserError: If there can be no such scenes, with the numbers.
    """
    if per_relation < 1:
        raise UserError(f"There must be at least 1 prompt a relation, not {per_relation}.")
    if count_groups not in COUNT_GROUPS:
        raise UserError(
            f"The sounds of a count come from groups that are {' or '.join(COUNT_GROUPS)}, not "
            f"{count_groups!r}{near(count_groups, COUNT_GROUPS)}."
        )
    wordings = builtin() if phrasings is None else builtin() + load(phrasings)
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
    groups = found.groups
    prompts = Prompts(
        groups=groups,
        wordings={name: tuple(w for w in wordings if w.relation == name) for name in RELATIONS},
        numbers=_numbers(groups, count_groups == "same", listener),
        one_group=count_groups == "same",
        where=(seed, split),
    )
    staged = stage(found, ambience=ambience, ambience_db=ambience_db)
    return RittaRecipe(found, staged, prompts, per_relation, seed)


def cells(expected: Expected, reading: str, seed: int | None) -> dict[str, str]:
    """The :data:`COLUMNS` of one prompt; no seed if nothing was drawn for it."""
    return {
        "relation": expected.relation,
        "events": ";".join(expected.labels),
        "seed": "" if seed is None else str(seed),
        "main_relation": _MAIN_OF[expected.relation],
        "reading": reading,
        "expected": json.dumps(expected.to_json(), ensure_ascii=False),
    }


def _numbers(groups: Groups, one_group: bool, listener: str) -> tuple[int, ...]:
    """How many sounds ``count`` can ask for, once there are groups enough for every other relation.

    Raises:
        UserError: If there are not.
    """
    sizes = {group: len(names) for group, names in groups.items()}
    told = ", ".join(f"{group} ({size})" for group, size in sizes.items())
    remedy = f"Add classes of other groups, so that {LEAVE_OUT} leaves out fewer."
    if listener:
        remedy = f"Only classes that {listener} claims to know were used; add such, or use all of them."
    if len(groups) < 3:
        raise UserError(
            f"if_then_else needs sounds of 3 main groups; the bank has {len(groups)}, with classes: {told}.",
            remedy,
        )
    most = max(sizes.values()) if one_group else len(groups)
    if most < 2:
        raise UserError(f"No main group has the 2 classes that the smallest count needs: {told}.", remedy)
    return tuple(range(2, min(MOST, most) + 1))


def _parted(key: str) -> tuple[str, int]:
    relation, _, index = key.rpartition("-")
    if relation not in RELATIONS or not index.isdecimal():
        raise UserError(f"{key!r} is no prompt of this recipe; they look like {RELATIONS[0]}-00000.")
    return relation, int(index)


def _fingerprint(wordings: Mapping[str, Sequence[Wording]]) -> str:
    told = [(w.relation, w.reading, w.text) for found in wordings.values() for w in found]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
