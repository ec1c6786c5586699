"""Which clips of a run are failures: scored, and with a verdict that is not the task's good one.

Conventions
-----------
The good verdict is the first of the task's (tasks.rows.Measures.verdicts). A tie of a judge's repeats, a
change of which a detector cannot tell whether it was made, and a relation that cannot be measured are no
failures; they are listed when asked for by name. A task whose key metric is neither better high nor low
(label) describes, and has no failures. Clips are scored as in the run's outputs.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from earwitness import tasks
from earwitness.errors import UserError
from earwitness.report import build, panel
from earwitness.report.page_view import UNDECIDED
from earwitness.tasks import settings
from earwitness.tasks.rows import SCORED, UNHEARD, ItemRow


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which items to list; empty for all.

    Attributes:
        verdict: Items of this verdict instead of all failures.
        unheard: Unheard items instead of failures.
    """

    system: str = ""
    kind: str = ""
    verdict: str = ""
    unheard: bool = False


def listed(run: Path, wanted: Wanted, unclaimed: bool | None = None) -> Iterator[ItemRow]:
    """The items asked for, one at a time (``unclaimed``: see build.Options).

    Raises:
        UserError: If the folder holds no run or several, the task has no failures, or it knows no such
            verdict, kind or system (the last is known when all items have been seen).
    """
    panel.check_single(run)
    with build.open_run(run) as ledger:
        last = build.as_last_scored(run, build.Options(unclaimed=unclaimed))
        task = tasks.find(ledger.meta()["task"])
        hearer = settings.hearer(ledger, last.unclaimed, last.scoring)
        measures = task.measures(hearer)
        verdicts = _verdicts(run, task.name, wanted, list(measures.verdicts), measures.kinds)
        key = next(spec for spec in measures.specs if spec.name == measures.key)
        if not key.better and not wanted.verdict and not wanted.unheard:
            raise UserError(
                f"the task {task.name} describes clips and calls none of them a failure.",
                f"--unheard lists the clips that were not heard, --verdict those of a verdict "
                f"({', '.join(measures.verdicts)}).",
            )
        systems = set()
        for row in task.rows(ledger, hearer):
            systems.add(row.system)
            found = (
                row.status == UNHEARD if wanted.unheard else row.status == SCORED and row.verdict in verdicts
            )
            if found and wanted.system in ("", row.system) and wanted.kind in ("", row.error_kind):
                yield row
    if wanted.system and wanted.system not in systems:
        raise UserError(
            f"{run}: no system {wanted.system!r} in this run.", f"Known: {', '.join(sorted(systems))}."
        )


def _verdicts(
    run: Path, task: str, wanted: Wanted, known: Sequence[str], kinds: Collection[str]
) -> Sequence[str]:
    """The verdicts to list, once the names asked for are known ones."""
    if wanted.unheard and (wanted.kind or wanted.verdict):
        raise UserError(
            "an unheard clip has no verdict and no kind of error.", "Leave --kind and --verdict out."
        )
    for what, name, names in (("kind of error", wanted.kind, kinds), ("verdict", wanted.verdict, known)):
        if name and name not in names:
            remedy = f"Known: {', '.join(names)}." if names else "Its verdicts can be filtered: --verdict."
            if what != "verdict" and name in known:
                remedy = f"{name} is a verdict: --verdict {name}"
            raise UserError(f"{run}: the task {task} by this listener has no {what} {name!r}.", remedy)
    if wanted.verdict:
        return [wanted.verdict]
    return [verdict for verdict in known[1:] if verdict not in UNDECIDED]
