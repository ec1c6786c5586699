"""The clips of a RiTTA run and the references that general metrics hold them against.

Conventions
-----------
Source: arXiv 2412.15922, sections 3.4 and 5.2. A clip's reference is the data set's clip for its prompt. A
prompt of ``or`` or ``if_then_else`` has two, the second in ``references/`` of the data set; the one nearer
in time counts (tasks.distance_sounds). ``not`` is skipped: its clip holds some other sound, which is no
answer to hold a clip against. A part is a main relation; clips of one prompt, read as words, are a cluster,
as in the scores. Of the baselines the oracle has no sound. The reference is measured like a system, against
itself.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from earwitness.errors import InputFaults
from earwitness.manifest import Item
from earwitness.scenes.ritta.staging import REFERENCES
from earwitness.scores.relations import MAIN
from earwitness.tasks.distances import Compared
from earwitness.tasks.ritta_measures import ORACLE, REFERENCE, SHUFFLED, SILENCE
from earwitness.tasks.ritta_wanted import cluster, wanted

SKIPPED = "not"
TWO_ANSWERS = ("or", "if_then_else")
NOTES = (
    "Distances leave out the relation not, which has no reference, as the paper does; of or and if_then_else "
    "the reference nearer in time counts.",
    "A distance says how alike clips sound, not whether a relation holds: as a set, shuffled is near the "
    "reference, being its clips in another order; the reference itself is at distance 0.",
)
BASELINES = (REFERENCE, SILENCE, SHUFFLED)
_MAIN_OF = {sub: main for main, subs in MAIN.items() for sub in subs}


def compared(items: Iterable[Item]) -> tuple[Compared, ...]:
    """Every clip of a run that has a reference, with it; in the order of the items.

    Raises:
        InputFaults: Naming every second reference that is missing.
    """
    heard = [item for item in items if item.system != ORACLE]
    references = {item.sample_id: _references(item) for item in heard if item.system == REFERENCE}
    missing = [str(path) for paths in references.values() for path in paths[1:] if not os.path.isfile(path)]
    if missing:
        raise InputFaults(
            "the data set lacks references that distances need",
            [f"no such file: {path}" for path in missing],
            "Make the data set again, or score without distances: --distances none.",
        )
    return tuple(_compared(item, references) for item in heard if _relation(item) != SKIPPED)


def _compared(item: Item, references: Mapping[str, Sequence[Path]]) -> Compared:
    return Compared(
        system=item.system,
        clip_id=item.sample_id,
        audio=item.audio,
        references=tuple(references[item.sample_id]),
        part=_MAIN_OF[_relation(item)],
        caption=item.caption,
        cluster=cluster(item.caption),
    )


def _references(item: Item) -> Sequence[Path]:
    """Of a data set's clip: itself, and the other answer that its prompt allows, if there is one."""
    if _relation(item) not in TWO_ANSWERS:
        return (item.audio,)
    return (item.audio, item.audio.parent.parent / REFERENCES / item.audio.name)


def _relation(item: Item) -> str:
    return wanted(item.expected).expected.relation
