"""A run's ledger -> every output in its folder. Nothing is heard again; no model is needed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from earwitness import tasks
from earwitness.errors import UserError
from earwitness.ledger import Ledger
from earwitness.report import figures, page, protocol, replies, tables
from earwitness.report.cells import csv_rows, safe
from earwitness.runner import COST
from earwitness.tasks import independence, settings
from earwitness.tasks.rows import ItemRow, MetricSpec, Summary
from earwitness.tasks.summary import summarise
from earwitness.tasks.task import NOT_HEARD_YET, Hearer, Task

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is shown.

    Attributes:
        table: Columns, decimals and display names of the markdown and LaTeX tables.
        spectrograms: For how many clips spectrograms are drawn.
        level: Confidence level of the intervals.
        draws: Bootstrap draws.
        unclaimed: Judge phrases outside the labels the listener claims to know too (exploratory); None for
            whatever the run was judged with.
    """

    table: tables.TableOptions = field(default_factory=tables.TableOptions)
    spectrograms: int = 500
    level: float = 0.95
    draws: int = 10_000
    unclaimed: bool | None = None

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise UserError(f"level {self.level} is no confidence level.", "Give one such as 0.95.")
        for name in ("spectrograms", "draws"):
            if getattr(self, name) < 0:
                raise UserError(f"{name} must not be negative.", "Give 0 or more.")


def items(folder: Path, unclaimed: bool | None = None) -> Iterator[ItemRow]:
    """Every scored item of a run, one at a time (``unclaimed``: see :class:`Options`).

    Raises:
        UserError: If the folder holds no run.
    """
    with open_run(folder) as ledger:
        task = tasks.find(ledger.meta()["task"])
        yield from task.rows(ledger, settings.hearer(ledger, unclaimed))


def known_kinds(folder: Path) -> tuple[str, ...]:
    """The kinds of error that the run's task tells apart.

    Raises:
        UserError: If the folder holds no run.
    """
    with open_run(folder) as ledger:
        return tuple(tasks.find(ledger.meta()["task"]).measures(settings.hearer(ledger)).kinds)


def open_run(folder: Path) -> Ledger:
    """The run's ledger for reading.

    Raises:
        UserError: If the folder holds no run, or one that was stopped before its settings were kept.
    """
    ledger = Ledger.read(folder / "ledger.sqlite")
    if "listener" not in ledger.meta():
        ledger.close()
        raise UserError(f"{folder}: the run has not begun.", "Run the judge command again.")
    return ledger


def build(folder: Path, options: Options | None = None, progress: Progress | None = None) -> Summary:
    """Write every output of a run and return its summary.

    Args:
        folder: The run folder.
        progress: Called with (clips put on the page, all clips).

    Raises:
        UserError: If the folder holds no run, or a column or system is unknown.
    """
    options = options or Options()
    with open_run(folder) as ledger:
        meta, hearer = ledger.meta(), settings.hearer(ledger, options.unclaimed)
        task, encoder = tasks.find(meta["task"]), meta.get("generator_encoder", "")
        summary = summarise(
            task.rows(ledger, hearer),
            task.measures(hearer),
            task=task.name,
            listener=hearer.name + (" (unclaimed labels too)" if hearer.unclaimed else ""),
            measured=meta["measured"],
            manifest_notes=[*meta["notes"], *independence.warnings(hearer.name, encoder)],
            unclaimed=hearer.unclaimed,
            seed=meta["seed"],
            level=options.level,
            draws=options.draws,
        )
        facts = _facts(meta, options, summary.listener) | _facts_of_asking(ledger, meta)
        tables.write_json(folder / "summary.json", tables.summary_json(summary))
        (folder / "summary.csv").write_text(tables.summary_csv(summary), encoding="utf-8")
        (folder / "tables").mkdir(exist_ok=True)
        table = folder / "tables" / summary.task
        table.with_suffix(".md").write_text(tables.markdown(summary, options.table), encoding="utf-8")
        table.with_suffix(".tex").write_text(tables.latex(summary, options.table), encoding="utf-8")
        figures.write_figures(summary, folder / "figures")
        (folder / "protocol.md").write_text(protocol.paragraph(summary, facts), encoding="utf-8")
        tables.write_json(folder / "run.json", _run(ledger, meta))
        _write_items(folder / "items.csv", task.rows(ledger, hearer), summary.specs)
        replies.write_replies(
            folder / "replies.csv", _replies(ledger, task, hearer), _reply_fields(task, hearer)
        )
        page.write_page(
            folder,
            summary,
            task.rows(ledger, hearer),
            title=task.title,
            facts=facts,
            spectrograms=options.spectrograms,
            progress=progress,
        )
    return summary


def _run(ledger: Ledger, meta: dict[str, Any]) -> dict[str, Any]:
    """What ``run.json`` holds: settings, what was used, what it cost, and which models answered."""
    usage = ledger.usage()
    return {**meta, "usage": usage, "cost": {"usd": usage.get(COST)}, "served": ledger.served()}


def _facts(meta: dict[str, Any], options: Options, name: str) -> dict[str, Any]:
    about = meta["listener"]
    return {
        "command": meta["command"],
        "date": meta["started"],
        "versions": meta["versions"],
        "seed": meta["seed"],
        "repeats": meta["repeats"],
        "listener": {"name": name}
        | {k: about[k] for k in ("version", "settings", "resolution_s", "detector")},
        "level": options.level,
        "draws": options.draws,
        "calibration": meta["measured"] or None,
        "prompt_hashes": {} if about["detector"] else meta["questions"],
    }


def _facts_of_asking(ledger: Ledger, meta: dict[str, Any]) -> dict[str, Any]:
    usage = ledger.usage()
    return {
        "ask": meta.get("ask", ""),
        "generator_encoder": meta.get("generator_encoder", ""),
        "served": ledger.served(),
        "usage": usage,
        "cost_usd": usage.get(COST),
    }


def _write_items(path: Path, rows: Iterable[ItemRow], specs: Sequence[MetricSpec]) -> None:
    """One row an item: verdict, reason and every number, for the user's own analysis."""
    names = [spec.name for spec in specs]
    if "alignment" in names:
        names.insert(names.index("alignment") + 1, "alignment_reversed")
    head = ["system", "sample_id", "status", "reason", "verdict", "error_kind", "detail", "caption",
            "reversed_caption", "audio", "duration_s", "cluster", *names, "warnings"]  # fmt: skip
    with path.open("w", encoding="utf-8", newline="") as file:
        write = csv_rows(file)
        write(head)
        for row in rows:
            texts = (row.system, row.sample_id, row.status, row.reason, row.verdict, row.error_kind,
                     row.detail, row.caption, row.reversed_caption, row.audio)  # fmt: skip
            numbers = [row.values.get(name) for name in names]
            write(
                [safe(text) for text in texts]
                + ["" if row.duration_s is None else row.duration_s, safe(row.cluster)]
                + ["" if number is None else number for number in numbers]
                + [safe("; ".join(row.warnings))]
            )


def _reply_fields(task: Task, hearer: Hearer) -> list[str]:
    fields = [name for question in task.questions(hearer) for name in question.reply.model_fields]
    return list(dict.fromkeys(["detail", *fields]))


def _replies(ledger: Ledger, task: Task, hearer: Hearer) -> Iterator[dict[str, Any]]:
    for item_id in ledger.item_ids():
        item = ledger.item(item_id).item
        base = {
            "task": task.name,
            "system": item.system,
            "sample_id": item.sample_id,
            "listener": hearer.name,
        }
        heard = ledger.heard(item_id)
        if not heard:
            not_asked = task.not_asked(item)
            why = {"reason": "not_applicable", "detail": not_asked} if not_asked else NOT_HEARD_YET
            yield {**base, "side": "", "caption": item.caption, "repeat": "", **why}
        for h in heard:
            shown = h.texts.get("caption", item.caption)
            row = {**base, "side": h.side, "caption": shown, "repeat": h.repeat}
            yield {**row, "reason": h.reason, "detail": h.detail, **h.reply}
