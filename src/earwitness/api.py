"""The same through Python: ``earwitness.judge(...)`` mirrors ``earwitness judge order``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earwitness import manifest as manifests
from earwitness import runner, tasks
from earwitness.errors import UserError
from earwitness.ledger import Ledger
from earwitness.listeners import open_listener
from earwitness.report import build as reports
from earwitness.report import tables
from earwitness.tasks import settings
from earwitness.tasks.rows import Summary
from earwitness.tasks.task import Setup

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
    """

    folder: Path
    summary: Summary
    counts: runner.Counts | None

    @property
    def systems(self) -> "polars.DataFrame":
        """One row a system: counts, coverage, every metric with its interval."""
        return _frame(self.folder / "summary.csv")

    @property
    def items(self) -> "polars.DataFrame":
        """One row an item: status, reason, verdict, kind of error, every number."""
        return _frame(self.folder / "items.csv")

    @property
    def replies(self) -> "polars.DataFrame":
        """One row per item, side and repeat: what the listener answered."""
        return _frame(self.folder / "replies.csv")


def _frame(path: Path) -> "polars.DataFrame":
    import polars

    names = dict.fromkeys(("system", "sample_id", "cluster"), polars.String)  # "007" is a name, not a number
    frame = polars.read_csv(path, infer_schema_length=None, schema_overrides=names)
    # The apostrophe that keeps spreadsheets from running a cell (report.cells.safe) is not part of the text.
    return frame.with_columns(
        polars.col(polars.String).str.replace(r"^'(\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])", "$1")
    )


def judge(
    task: str,
    manifest: str | Path | None = None,
    *,
    run: str | Path,
    prompts: str | Path | None = None,
    outputs: Mapping[str, str | Path] | None = None,
    id_from: str = "",
    rename: Mapping[str, str] | None = None,
    listener: str = "yamnet",
    weights: str | Path | None = None,
    repeats: int | None = None,
    seed: int = 0,
    limit: int | None = None,
    workers: int | None = None,
    retry: bool = False,
    options: reports.Options | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Result:
    """Judge clips and write the run folder; an interrupted run goes on where it stopped.

    Args:
        task: ``order``.
        manifest: CSV, JSONL or folder with metadata; or else give prompts and outputs.
        run: The run folder; made if absent, extended if it holds this run.
        prompts, outputs: A prompt file, and for every system the folder of its clips.
        id_from: Regular expression that finds the prompt_id in an output's path; the stem by default.
        rename: Our column -> theirs.
        listener: Name of the listener, see ``earwitness listeners``.
        weights: The user's own weights file.
        repeats: Independent hearings of each item.
        seed: Of sampling, order of items and bootstrap.
        limit: Judge a seeded sample of that many prompts, the same for every system.
        workers: Clips heard at a time; all cores by default.
        retry: Ask again whatever ended unheard.
        progress: Called with (stage, done, to do).
        command: What to record as the command; built from the arguments by default.

    Raises:
        UserError: Before any work, naming every fault of the input.
    """
    given = dict(locals())
    what = tasks.find(task)
    for name, least in (("repeats", 1), ("limit", 1), ("workers", 1), ("seed", 0)):
        if given[name] is not None and given[name] < least:
            raise UserError(f"{name} must be at least {least}, not {given[name]}.")
    checked = _manifest(manifest, prompts, outputs, id_from, rename or {})
    options = options or reports.Options()
    if limit is not None:
        checked = manifests.limited(checked, limit, seed)
    ear = open_listener(listener, weights=Path(weights) if weights else None, workers=workers)
    setup = Setup(
        seed=seed,
        repeats=repeats,
        unclaimed=bool(options.unclaimed),
        command=command or _call(given),
    )
    specs = what.measures(settings.asked(ear, setup)).specs
    tables.check(options.table, specs, [item.system for item in checked.items])
    ear.ready()
    folder = Path(run)
    with Ledger.create(folder / "ledger.sqlite") as ledger:
        hearer = settings.begin(ledger, ear, checked, what, setup)
        del checked  # ten thousand rows are in the ledger now
        counts = runner.Counts()
        for stage in what.stages(ledger, hearer):
            counts += runner.run(
                ledger,
                ear,
                stage.plan,
                settings.questions(ledger),
                seed=seed,
                retry=retry,
                progress=_stage(progress, stage.name),
            )
    summary = reports.build(folder, options, _stage(progress, "drawing"))
    return Result(folder, summary, counts)


def rebuild(
    run: str | Path, options: reports.Options | None = None, progress: Progress | None = None
) -> Result:
    """Rebuild every output of a run from its ledger.

    Raises:
        UserError: If the folder holds no run.
    """
    folder = Path(run)
    return Result(folder, reports.build(folder, options, _stage(progress, "drawing")), None)


def _stage(progress: Progress | None, name: str) -> Callable[..., None] | None:
    if progress is None:
        return None

    def show(done: int, total: int, spent: float | None = None) -> None:
        progress(name, done, total, spent)

    return show


def _manifest(
    manifest: str | Path | None,
    prompts: str | Path | None,
    outputs: Mapping[str, str | Path] | None,
    id_from: str,
    rename: Mapping[str, str],
) -> manifests.Manifest:
    if (manifest is None) == (prompts is None):
        raise UserError(
            "give either a manifest, or prompts with outputs.",
            "For example: judge order clips.csv, or judge order --prompts p.csv --outputs ours=out/ours.",
        )
    if manifest is not None:
        if outputs or id_from:
            raise UserError("outputs and id_from go with prompts, not with a manifest.")
        return manifests.read_manifest(Path(manifest), rename=rename)
    if not outputs:
        raise UserError("prompts need outputs.", "Add one --outputs NAME=FOLDER for every system.")
    assert prompts is not None
    folders = {name: Path(folder) for name, folder in outputs.items()}
    return manifests.from_outputs(Path(prompts), folders, id_from=id_from, rename=rename)


def _call(given: Mapping[str, Any]) -> str:
    """The Python call, without what was left at None or cannot be written down."""
    kept = {name: value for name, value in given.items() if value not in (None, "") and not callable(value)}
    told = (f"{name}={str(value) if isinstance(value, Path) else value!r}" for name, value in kept.items())
    return f"earwitness.judge({', '.join(told)})"
