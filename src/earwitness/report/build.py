"""A run's ledger -> every output in its folder. Nothing is heard again; no model is needed."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from earwitness import tasks
from earwitness.errors import UserError
from earwitness.files import whole, write_text
from earwitness.ledger import Ledger
from earwitness.report import (
    distance_csv,
    distance_pairs,
    distance_tables,
    figures,
    labels,
    latex,
    page,
    protocol,
    relation_tables,
    replies,
    ritta_tables,
    summary_files,
    tables,
    unscored,
)
from earwitness.report.items_csv import extra_columns, write_items
from earwitness.runner import COST
from earwitness.scores.ritta_rules import CHOICES, PAPER, RELEASED, rules
from earwitness.tasks import independence, label, ritta, run_distances, settings
from earwitness.tasks.distances import Distances
from earwitness.tasks.ritta_unread import Unread
from earwitness.tasks.rows import ItemRow, Summary
from earwitness.tasks.summary import summarise
from earwitness.tasks.task import BLIND, Hearer, Task
from earwitness.training import overlap

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
        scoring: How relations are scored, by name (tasks.ritta.SCORING); None for how the run was judged.
        ordered_only: Of a label run, write descriptions of the clips with a clear sequence of sounds only.
    """

    table: tables.TableOptions = field(default_factory=tables.TableOptions)
    spectrograms: int = 500
    level: float = 0.95
    draws: int = 10_000
    unclaimed: bool | None = None
    scoring: Mapping[str, str] | None = None
    ordered_only: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise UserError(f"level {self.level} is no confidence level.", "Give one such as 0.95.")
        for name, least in (("spectrograms", 0), ("draws", 1)):
            if getattr(self, name) < least:
                raise UserError(f"{name} must be at least {least}, not {getattr(self, name)}.")


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


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its outputs show it: what they say comes from here and from nowhere else.

    Attributes:
        meta: The run's settings, as ledger.Ledger.meta gives them, but scored as the hearer says.
        used: What was used and what it cost, and which models answered.
        rows: Every scored item, anew with each call.
        replies: Every row of ``replies.csv`` by column, anew with each call.
        distances: How far the systems' clips are from reference clips; None if nobody asked.
    """

    meta: Mapping[str, Any]
    used: Mapping[str, Any]
    task: Task
    hearer: Hearer
    rows: Callable[[], Iterable[ItemRow]]
    replies: Callable[[], Iterable[Mapping[str, Any]]]
    distances: Distances | None = None


def of_ledger(ledger: Ledger, unclaimed: bool | None = None, scoring: Mapping[str, str] | None = None) -> Run:
    """The run as it is in its ledger (``unclaimed`` and ``scoring``: see :class:`Options`).

    Raises:
        UserError: If the task has no such way of scoring.
    """
    hearer = settings.hearer(ledger, unclaimed, scoring)
    kept = {name: value for name, value in ledger.meta().items() if name != run_distances.META}
    meta = kept | {"unclaimed": hearer.unclaimed, "scoring": dict(hearer.scoring)}
    task, usage = tasks.find(meta["task"]), ledger.usage()
    if hearer.scoring and task is not ritta.TASK:
        raise UserError(f"scoring is of the task {ritta.TASK.name}, not of {task.name}.")

    def all_replies() -> Iterator[dict[str, Any]]:
        for item_id in ledger.item_ids():
            yield from replies.of_item(ledger, task, hearer, item_id)

    return Run(
        meta=meta,
        used={"usage": usage, "cost": {"usd": usage.get(COST)}, "served": ledger.served()},
        task=task,
        hearer=hearer,
        rows=lambda: task.rows(ledger, hearer),
        replies=all_replies,
        distances=run_distances.kept(ledger),
    )


def as_last_scored(folder: Path, options: Options) -> Options:
    """The options, with what they leave open of scoring as it is in the run's outputs.

    Raises:
        UserError: If what the folder says of its outputs cannot be read.
    """
    last = _last(folder)
    return replace(
        options,
        unclaimed=last.get("unclaimed") if options.unclaimed is None else options.unclaimed,
        scoring=last.get("scoring") if options.scoring is None else options.scoring,
    )


def last_way(folder: Path) -> str:
    """How the outputs in a run folder are scored, in words; empty if there are none.

    Raises:
        UserError: As :func:`as_last_scored`.
    """
    last = _last(folder)
    if not last:
        return ""
    return (
        ", ".join(ways(last["task"], last.get("scoring", {}), last.get("unclaimed"))) or "claimed labels only"
    )


def _last(folder: Path) -> Mapping[str, Any]:
    """What ``run.json`` says; nothing if there is none, or a version of earwitness wrote it that had no
    choice."""
    path = folder / "run.json"
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return {"task": data["task"]} | {k: data[k] for k in ("unclaimed", "scoring") if k in data}
    except (ValueError, TypeError, KeyError) as fault:
        remedy = "Remove it; earwitness report writes it anew."
        raise UserError(f"{path} is not as it was written: {fault!r}.", remedy) from fault


def build(folder: Path, options: Options | None = None, progress: Progress | None = None) -> Summary:
    """Write every output of a run into its folder and return its summary.

    Args:
        folder: The run folder.
        progress: Called with (clips put on the page, all clips).

    Raises:
        UserError: If the folder holds no run, or a column or system is unknown.
    """
    options = options or Options()
    with open_run(folder) as ledger:
        return write(folder, of_ledger(ledger, options.unclaimed, options.scoring), options, progress)


def write(folder: Path, run: Run, options: Options, progress: Progress | None = None) -> Summary:
    """Write every output of a run into a folder, each file whole or not at all; the page comes last.

    Raises:
        UserError: If a column or system is unknown.
    """
    options = replace(options, table=tables.named(options.table, run.task.measures(run.hearer).specs))
    extra: dict[str, None] = {}
    summary = summary_of(run, _noting(run.rows(), extra), options)
    facts = _facts(run, options, summary.listener if run.hearer.detector else run.hearer.name)
    with whole(folder / "summary.json") as part:
        summary_files.write_json(part, summary_files.summary_json(summary))
    write_text(folder / "summary.csv", summary_files.summary_csv(summary))
    (folder / "tables").mkdir(exist_ok=True)
    table = folder / "tables" / summary.task
    write_text(table.with_suffix(".md"), tables.markdown(summary, options.table))
    write_text(table.with_suffix(".tex"), latex.latex(summary, options.table))
    _write_more_tables(folder, run, summary, options)
    figures.write_figures(summary, folder / "figures", options.table.names)
    write_text(folder / "protocol.md", protocol.paragraph(summary, facts))
    with whole(folder / "run.json") as part:
        summary_files.write_json(part, {**run.meta, **run.used})
    write_items(folder / "items.csv", run.rows(), summary.specs, list(extra))
    replies.write_replies(folder / "replies.csv", run.replies(), replies.fields(run.task, run.hearer))
    if run.task.name == label.TASK.name:
        described = folder / "labels"
        labels.write_all(described, run.rows, run.hearer, run.meta, ordered_only=options.ordered_only)
    page.write_page(
        folder,
        summary,
        run.rows(),
        title=run.task.title,
        facts=facts,
        spectrograms=options.spectrograms,
        names=options.table.names,
        progress=progress,
    )
    return summary


def _write_more_tables(folder: Path, run: Run, summary: Summary, options: Options) -> None:
    """Tables by relation and of distances; those of an earlier report that have no place in this one go."""
    wanted: dict[Path, str] = {}
    shelf, table = folder / "tables", options.table
    if summary.measures.strata:
        wanted[folder / "relations.csv"] = relation_tables.csv_text(summary)
        wanted |= {shelf / name: text for name, text in _relations(run, summary, options).items()}
    if summary.distances is not None:
        label = f"{table.label or f'tab:{summary.task}'}:distances"
        found, roles = summary.distances, tables.roles(summary)
        wanted[folder / "distances.csv"] = distance_csv.csv_text(found)
        if found.comparisons:
            wanted[folder / distance_pairs.FILE] = distance_csv.pairs_csv(found)
        named = shelf / f"{summary.task}_distances"
        wanted[named.with_suffix(".md")] = distance_tables.markdown(found, table, roles)
        wanted[named.with_suffix(".tex")] = distance_tables.latex_tables(found, table, roles, label=label)
    ours = "*" if summary.measures.strata else "distances.*"
    for old in (
        *shelf.glob(f"{summary.task}_{ours}"),
        folder / "distances.csv",
        folder / distance_pairs.FILE,
    ):
        if old not in wanted:
            old.unlink(missing_ok=True)
    for path, text in wanted.items():
        write_text(path, text)


def _relations(run: Run, summary: Summary, options: Options) -> dict[str, str]:
    """The tables by relation by file name, and RiTTA's own in the modes that they belong to."""
    table = options.table
    wanted = {
        f"{summary.task}_relations.md": relation_tables.markdown(summary, table),
        f"{summary.task}_relations.tex": relation_tables.latex_tables(summary, table),
    }
    chosen = rules(run.hearer.scoring)
    if chosen.mode == PAPER:
        wanted |= ritta_tables.paper_tables(summary, table)
    elif chosen.mode == RELEASED:
        drawn: dict[str, Any] = {"level": options.level, "draws": options.draws, "seed": run.meta["seed"]}
        text = ritta_tables.released(summary, run.rows(), chosen.thresholds, table, **drawn)
        wanted[f"{summary.task}_released.md"] = text
    return wanted


def ways(task: str, scoring: Mapping[str, str], unclaimed: bool | None) -> list[str]:
    """How a run is scored, in words: of relations the mode, and whatever is not the usual."""
    said = []
    if task == ritta.TASK.name:
        for name, (usual, *_) in CHOICES.items():
            chosen = scoring.get(name, usual)
            if name == "mode" or chosen != usual:
                said.append(f"{name.replace('_', ' ')} {chosen}")
    return said + (["unclaimed labels too"] if unclaimed else [])


def heard_by(run: Run) -> str:
    """The listener's name, with how it was asked, where not as usual, and how it is scored."""
    hearer = run.hearer
    blind = ["asked blind"] if hearer.ask == BLIND and not hearer.detector else []
    said = ", ".join([*blind, *ways(run.task.name, hearer.scoring, hearer.unclaimed)])
    return f"{hearer.name} ({said})" if said else hearer.name


def summary_of(run: Run, rows: Iterable[ItemRow], options: Options) -> Summary:
    """Systems, comparisons and notes of a run, from its rows."""
    meta, hearer = run.meta, run.hearer
    encoder = meta.get("generator_encoder", "")
    measures, unread, reasons = run.task.measures(hearer), Unread(), unscored.Unscored()
    seen = overlap.kept(meta)
    trained_on = [seen.sentence] if seen else []
    rows = reasons.counted(rows, measures.baselines)
    if run.task.name == ritta.TASK.name and not hearer.detector:
        rows = unread.counted(rows)
    summary = summarise(
        rows,
        measures,
        task=run.task.name,
        listener=heard_by(run),
        measured=meta["measured"],
        manifest_notes=[*trained_on, *meta["notes"], *independence.warnings(hearer.name, encoder)],
        unclaimed=hearer.unclaimed,
        seed=meta["seed"],
        level=options.level,
        draws=options.draws,
    )
    notes = (*reasons.notes(), *summary.notes, *unread.notes())
    return replace(summary, notes=notes, distances=run.distances)


def _noting(rows: Iterable[ItemRow], extra: dict[str, None]) -> Iterator[ItemRow]:
    """The rows as they are; what columns they fill beyond the usual ones is put down in ``extra``."""
    for row in rows:
        extra.update(dict.fromkeys(extra_columns(row)))
        yield row


def _facts(run: Run, options: Options, name: str) -> dict[str, Any]:
    meta, about = run.meta, run.meta["listener"]
    command = {"command": meta["command"]} if meta["command"] else {}
    return command | {
        "date": meta["started"],
        "versions": meta["versions"],
        "seed": meta["seed"],
        "repeats": meta["repeats"],
        "listener": {"name": name}
        | {k: about[k] for k in ("version", "settings", "resolution_s", "detector")},
        "level": options.level,
        "draws": options.draws,
        "calibration": meta["measured"] or None,
        "trained_on": overlap.kept(meta),
        "prompt_hashes": {} if about["detector"] else meta["questions"],
        "ask": meta.get("ask", ""),
        **({"scoring": dict(run.hearer.scoring)} if run.hearer.scoring else {}),
        **({"data": meta["data"]} if meta.get("data") else {}),
        "generator_encoder": meta.get("generator_encoder", ""),
        "served": run.used["served"],
        "usage": run.used["usage"],
        "cost_usd": run.used["cost"]["usd"],
    }
