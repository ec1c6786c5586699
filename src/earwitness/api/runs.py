"""The verbs as functions: judge, label, rebuild, and what a finished run is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earwitness import runner, tasks
from earwitness.api.request import Request
from earwitness.backbones import open_backbone
from earwitness.backbones.base import Backbone
from earwitness.errors import UserError
from earwitness.ledger import Ledger
from earwitness.listeners.base import Listener
from earwitness.manifest import Manifest
from earwitness.report import agreement, tables
from earwitness.report import build as reports
from earwitness.report.panel import runs_of
from earwitness.tasks import run_distances, settings
from earwitness.tasks.rows import Summary
from earwitness.tasks.task import SEED, Setup
from earwitness.training.overlap import TRAINED_ON, overlap

if TYPE_CHECKING:
    import polars

Progress = Callable[[str, int, int, float | None], None]
"""Called with the stage, how much of it is done, how much there is, and dollars spent (None if free)."""


@dataclass(frozen=True, slots=True)
class Result:
    """A finished run: its folder, its summary, and the same as tables.

    Attributes:
        folder: The run folder, with index.html in it.
        summary: Systems, comparisons and notes.
        counts: What was heard anew, taken over, and left unheard; None for a rebuilt report.
        rescored: That the outputs that were there were scored in another way, or had other distances, in
            sentences; empty if not.
    """

    folder: Path
    summary: Summary
    counts: runner.Counts | None
    rescored: str = ""

    @property
    def systems(self) -> "polars.DataFrame":
        """One row a system: counts, coverage, every metric with its interval."""
        return _frame(self.folder / "summary.csv")

    @property
    def items(self) -> "polars.DataFrame":
        """One row an item: status, reason, verdict, kind of error, every number."""
        return _frame(self.folder / "items.csv")

    @property
    def relations(self) -> "polars.DataFrame":
        """One row per system, part and metric: every number by relation, and as a whole (part ``all``).

        Raises:
            UserError: If the run's task knows no relations.
        """
        if not self.summary.measures.strata:
            raise UserError(
                f"{self.folder}: the task {self.summary.task} has no numbers by relation.",
                "The task ritta has; see also systems and items.",
            )
        return _frame(self.folder / "relations.csv", numbers=("value", "low", "high"))

    @property
    def distances(self) -> "polars.DataFrame":
        """One row per system, part and metric: how far its clips are from the references, or why there is
        no number.

        Raises:
            UserError: If the run has no distances.
        """
        if self.summary.distances is None:
            raise UserError(
                f"{self.folder}: the run has no distances.",
                "Name a backbone (distances) and, but for ritta, the system that is the reference.",
            )
        return _frame(self.folder / "distances.csv", numbers=("value", "low", "high"))

    @property
    def distance_pairs(self) -> "polars.DataFrame":
        """One row per metric and pair of systems: which is nearer to the references, and how sure that is.

        Raises:
            UserError: If the run has no such pairs.
        """
        if self.summary.distances is None or not self.summary.distances.comparisons:
            raise UserError(
                f"{self.folder}: the run compares no distances.",
                "They take two systems beside the reference, measured by this version.",
            )
        return _frame(
            self.folder / "distance_pairs.csv", numbers=("difference", "low", "high", "p", "p_holm")
        )

    @property
    def replies(self) -> "polars.DataFrame":
        """One row per item, side and repeat: what the listener answered."""
        return _frame(self.folder / "replies.csv")


@dataclass(frozen=True, slots=True)
class Panel:
    """The same clips heard by several listeners: a run for each in a folder of its own, and how far they
    agree.

    Attributes:
        folder: The folder of the runs, with index.html in it.
        results: The runs by listener.
    """

    folder: Path
    results: Mapping[str, Result] = field(default_factory=dict)


def _frame(path: Path, numbers: Sequence[str] = ()) -> "polars.DataFrame":
    """A table of the run; ``numbers`` are columns of numbers even where no row has one."""
    import polars

    names = dict.fromkeys(("system", "sample_id", "cluster"), polars.String)  # "007" is a name, not a number
    types = names | dict.fromkeys(numbers, polars.Float64)
    frame = polars.read_csv(path, infer_schema_length=None, schema_overrides=types)
    # The apostrophe that keeps spreadsheets from running a cell (report.cells.safe) is not part of the text.
    return frame.with_columns(
        polars.col(polars.String).str.replace(r"^'(\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])", "$1")
    )


def judge(
    task: str,
    manifest: str | Path | None = None,
    *,
    run: str | Path,
    progress: Progress | None = None,
    **how: Any,
) -> Result:
    """Judge clips and write the run folder; an interrupted run goes on where it stopped.

    Args:
        task: ``order``, ``edit`` or ``label``.
        manifest: CSV, JSONL or folder with metadata; see :class:`Request` for the other ways.
        run: The run folder; made if absent, extended if it holds this run.
        progress: See :data:`Progress`.
        how: Any other field of :class:`Request`.

    Raises:
        UserError: Before any work, naming every fault of the input.
    """
    request = Request(task, manifest, **how)
    if len(request.listeners) > 1:
        raise UserError("several listeners are named.", "Use earwitness.panel, which keeps a run for each.")
    return run_request(request, Path(run), progress)


def label(folder: str | Path, *, run: str | Path, progress: Progress | None = None, **how: Any) -> Result:
    """Describe every clip of a folder or manifest: caption, events, tags, order, quality flags.

    Takes the same arguments as :func:`judge`.
    """
    return judge("label", folder, run=run, progress=progress, **how)


def panel(
    task: str,
    manifest: str | Path | None = None,
    *,
    run: str | Path,
    progress: Progress | None = None,
    **how: Any,
) -> Panel:
    """Judge the same clips with several listeners, and say how far they agree.

    Args:
        how: Fields of :class:`Request`; ``listener`` is a list of names.

    Raises:
        UserError: Before any work, naming every fault of the input.
    """
    return run_panel(Request(task, manifest, **how), Path(run), progress)


def run_panel(request: Request, folder: Path, progress: Progress | None = None) -> Panel:
    """:func:`panel` of a request."""
    if (folder / "ledger.sqlite").exists():
        raise UserError(
            f"{folder} holds the run of one listener.",
            "Choose another folder for several with -o; earwitness compare holds finished runs side by side.",
        )
    found = request.items()
    backbone = _backbone(request, found)
    ears = {name: request.open(name) for name in request.listeners}
    for ear in ears.values():  # all of them, before the first costs anything
        request.setup(ear)
        ear.ready()
    results = {
        name: _run(request, found, name, ear, backbone, request.folder(folder, name), progress)
        for name, ear in ears.items()
    }
    runs = {name: result.folder for name, result in results.items()}
    agreement.write(folder, runs, request.options)
    return Panel(folder, results)


def run_request(request: Request, folder: Path, progress: Progress | None = None) -> Result:
    """:func:`judge` of a request with one listener."""
    found = request.items()
    ear = request.open(request.listeners[0])
    if members := runs_of(folder):
        raise UserError(
            f"{folder} holds the runs of several listeners: {', '.join(members)}.",
            "Name them all to extend it, or choose another folder with -o.",
        )
    if ear.needs.detector and (request.ask != SEED or request.swap):
        raise UserError(
            f"ask and swap are for judges; {request.listeners[0]} hears every clip once and sees no caption.",
            "Leave them out, or name a judge.",
        )
    return _run(request, found, request.listeners[0], ear, _backbone(request, found), folder, progress)


def _backbone(request: Request, found: Manifest) -> Backbone | None:
    """What distances are measured with, if they are asked for; all that it needs is there.

    Raises:
        UserError: If there is no such backbone, or weights or references are missing.
    """
    if not request.backbone:
        return None
    # weights given for the listener yamnet are those of the backbone too: there may be no network
    given = request.distance_weights or (request.weights if request.backbone == "yamnet" else None)
    backbone = open_backbone(request.backbone, weights=Path(given) if given else None)
    run_distances.asked(tasks.find(request.task), found.items, request.reference)
    try:
        backbone.ready()
    except UserError as fault:
        if request.distances is not None:
            raise
        remedy = f"{fault.remedy} Or measure no distances: --distances none."
        raise UserError(fault.message, remedy) from fault
    return backbone


def _run(
    request: Request,
    found: Manifest,
    listener: str,
    ear: Listener,
    backbone: Backbone | None,
    folder: Path,
    progress: Progress | None,
) -> Result:
    """Hear the clips with one listener, measure distances, and write the run folder."""
    seen = None if request.manifest is None else overlap(listener, Path(request.manifest))
    task, options, setup = tasks.find(request.task), request.options, request.setup(ear)
    specs = task.measures(settings.asked(ear, setup)).specs
    tables.check(options.table, specs, [item.system for item in found.items])
    ear.ready()
    with Ledger.create(folder / "ledger.sqlite") as ledger:
        counts = hear(ledger, ear, found, request, setup, progress)
        if seen is not None:
            ledger.begin({TRAINED_ON: asdict(seen)}, ())
        changed = _measured(ledger, request, backbone, progress)
    result = _built(folder, options, counts, progress)
    return replace(result, rescored=" ".join(filter(None, [result.rescored, changed])))


def _measured(ledger: Ledger, request: Request, backbone: Backbone | None, progress: Progress | None) -> str:
    """Measure the distances of the run, as it is now; says if those before were of another recipe."""
    before = run_distances.kept(ledger)
    if backbone is None:
        if before is None:
            return ""
        run_distances.forget(ledger)
        return f"{ledger.path.parent} has no distances any more, since none were asked for."
    stored = list(ledger.items())
    items, kept = [one.item for one in stored], settings.files_kept(stored)
    asked = run_distances.asked(tasks.find(request.task), items, request.reference, kept)
    if not asked.clips:
        return f"{ledger.path.parent} has no distances: no clip in it has a reference."
    after = run_distances.measure(
        ledger,
        asked,
        backbone,
        level=request.options.level,
        seed=request.seed,
        workers=request.workers,
        engine=request.engine,
        progress=stage(progress, "embedding"),
    )
    if before is None or before.recipe.backbone == after.recipe.backbone:
        return ""
    was, now = before.recipe.backbone, after.recipe.backbone
    return f"{ledger.path.parent} had distances by {was}; they are now by {now}."


def _built(
    folder: Path, options: reports.Options, counts: runner.Counts | None, progress: Progress | None
) -> Result:
    """Write a run's outputs, and say so if those before were scored in another way."""
    before = reports.last_way(folder)
    summary = reports.build(folder, options, stage(progress, "drawing"))
    after = reports.last_way(folder)
    changed = (
        f"{folder} was scored in another way ({before}); now: {after}." if before not in ("", after) else ""
    )
    return Result(folder, summary, counts, changed)


def hear(
    ledger: Ledger,
    ear: Listener,
    found: Manifest,
    request: Request,
    setup: Setup,
    progress: Progress | None = None,
) -> runner.Counts:
    """Begin or extend the run in the ledger, and hear what is not in it, stage by stage."""
    task = tasks.find(request.task)
    hearer = settings.begin(ledger, ear, found, task, setup)
    counts = runner.Counts()
    for one in task.stages(ledger, hearer):
        counts += runner.run(
            ledger,
            ear,
            one.plan,
            settings.questions(ledger),
            seed=request.seed,
            retry=request.retry,
            max_cost_usd=request.max_cost,
            progress=stage(progress, one.name),
        )
    return counts


def rebuild(
    run: str | Path,
    options: reports.Options | None = None,
    progress: Progress | None = None,
    *,
    scoring: Mapping[str, str] | None = None,
) -> Result | Panel:
    """Rebuild every output of a run, or of a folder of runs by several listeners, from the ledgers.

    Args:
        options: How the run is shown.
        scoring: How relations are scored, such as ``{"mode": "paper"}``, as :attr:`Options.scoring`; keys and
            values are those of :data:`earwitness.tasks.ritta.SCORING`.

    Raises:
        UserError: If the folder holds no run, or its task has no such way of scoring.
    """
    folder, options = Path(run), options or reports.Options()
    if scoring is not None:
        options = replace(options, scoring=scoring)
    if runs := runs_of(folder):
        results = {name: _built(one, options, None, progress) for name, one in runs.items()}
        agreement.write(folder, runs, options)
        return Panel(folder, results)
    return _built(folder, options, None, progress)


def stage(progress: Progress | None, name: str) -> Callable[..., None] | None:
    """Progress of one stage for the runner and the report, which do not know its name."""
    if progress is None:
        return None

    def show(done: int, total: int, spent: float | None = None) -> None:
        progress(name, done, total, spent)

    return show
