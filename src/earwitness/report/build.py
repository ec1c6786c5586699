"""A run's ledger -> every output in its folder. Nothing is heard again; no model is needed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from earwitness.errors import UserError
from earwitness.ledger import Ledger
from earwitness.questions import QUESTIONS
from earwitness.report import figures, page, protocol, replies, tables
from earwitness.report.cells import csv_rows, safe
from earwitness.tasks import order, settings
from earwitness.tasks.rows import ItemRow, Summary
from earwitness.tasks.summary import SPECS, summarise

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
        yield from order.rows(ledger, settings.hearer(ledger, unclaimed))


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
        about = meta["listener"]
        summary = summarise(
            order.rows(ledger, hearer),
            listener=about["name"] + (" (unclaimed labels too)" if hearer.unclaimed else ""),
            measured=meta["measured"],
            manifest_notes=meta["notes"],
            unclaimed=hearer.unclaimed,
            seed=meta["seed"],
            level=options.level,
            draws=options.draws,
            alignment_scale=(0.0, 1.0) if hearer.detector else (1.0, 5.0),
        )
        facts = _facts(meta, options, summary.listener)
        tables.write_json(folder / "summary.json", tables.summary_json(summary))
        (folder / "summary.csv").write_text(tables.summary_csv(summary), encoding="utf-8")
        (folder / "tables").mkdir(exist_ok=True)
        table = folder / "tables" / summary.task
        table.with_suffix(".md").write_text(tables.markdown(summary, options.table), encoding="utf-8")
        table.with_suffix(".tex").write_text(tables.latex(summary, options.table), encoding="utf-8")
        figures.write_figures(summary, folder / "figures")
        (folder / "protocol.md").write_text(protocol.paragraph(summary, facts), encoding="utf-8")
        run = {**meta, "usage": ledger.usage(), "cost": None}
        tables.write_json(folder / "run.json", run)
        _write_items(folder / "items.csv", order.rows(ledger, hearer))
        replies.write_replies(folder / "replies.csv", _replies(ledger, hearer), _reply_fields(hearer))
        page.write_page(
            folder,
            summary,
            order.rows(ledger, hearer),
            title="Which system keeps the order of events?",
            facts=facts,
            spectrograms=options.spectrograms,
            progress=progress,
        )
    return summary


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


def _write_items(path: Path, rows: Iterable[ItemRow]) -> None:
    """One row an item: verdict, reason and every number, for the user's own analysis."""
    names = [spec.name for spec in SPECS]
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


def _reply_fields(hearer: order.Hearer) -> list[str]:
    return ["detail", *QUESTIONS["events" if hearer.detector else "alignment"].reply.model_fields]


def _replies(ledger: Ledger, hearer: order.Hearer) -> Iterator[dict[str, Any]]:
    for item_id in ledger.item_ids():
        item = ledger.item(item_id).item
        base = {"task": "order", "system": item.system, "sample_id": item.sample_id, "listener": hearer.name}
        heard = ledger.heard(item_id)
        if not heard:
            not_asked = order.of_item(item).not_applicable
            why = {"reason": "not_applicable", "detail": not_asked} if not_asked else order.NOT_HEARD_YET
            yield {**base, "side": "", "caption": item.caption, "repeat": "", **why}
        for h in heard:
            row = {**base, "side": h.side, "caption": h.caption or item.caption, "repeat": h.repeat}
            yield {**row, "reason": h.reason, "detail": h.detail, **h.reply}
