"""Distances between folders of clips as functions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earwitness.api.bench import systems_of
from earwitness.api.runs import Progress, stage
from earwitness.backbones import open_backbone
from earwitness.backbones.base import Backbone
from earwitness.errors import InputFaults, UserError
from earwitness.files import foreign, refuse_other, seen_from, taken
from earwitness.report import distance_files
from earwitness.tasks.distance_measures import check_metrics, measured
from earwitness.tasks.distance_pairs import corrected
from earwitness.tasks.distance_sets import read_sets
from earwitness.tasks.distances import DRAWS, METRICS, Distances, joined
from earwitness.tasks.settings import versions

if TYPE_CHECKING:
    import polars

BACKBONE = "yamnet"


@dataclass(frozen=True, slots=True)
class Measured:
    """A finished comparison, and the folder that holds it if one was named."""

    distances: Distances
    folder: Path | None

    @property
    def frame(self) -> "polars.DataFrame":
        """One row a set, part and metric: value, interval, counts, and the reason if there is no value."""
        import polars

        numbers = dict.fromkeys(("value", "low", "high"), polars.Float64)
        columns = ("system", "part", "metric", *numbers, "n", "reference_n", "reason")
        rows = [[getattr(row, name) for name in columns] for row in self.distances.rows]
        return polars.DataFrame(rows, schema=columns, schema_overrides=numbers, orient="row")

    @property
    def pairs(self) -> "polars.DataFrame":
        """One row a metric and pair of sets: first less second, interval, p (corrected too), which is nearer.

        ``winner`` is empty where the two are not told apart; ``note`` says why there is no difference.
        """
        import polars

        numbers = dict.fromkeys(("difference", "low", "high", "p", "p_holm"), polars.Float64)
        columns = ("metric", "first", "second", "items", "clusters", *numbers, "winner", "note")
        rows = [[getattr(pair, name) for name in columns] for pair in self.distances.comparisons]
        return polars.DataFrame(rows, schema=columns, schema_overrides=numbers, orient="row")


def distance(
    reference: str | Path,
    sets: Mapping[str, str | Path] | Sequence[str | Path] | Path,
    *,
    out: str | Path | None = None,
    prompts: str | Path | None = None,
    paired: bool | None = None,
    backbone: str | Backbone = BACKBONE,
    weights: str | Path | None = None,
    metrics: Sequence[str] = METRICS,
    limit: int | None = None,
    seed: int = 0,
    level: float = 0.95,
    draws: int = DRAWS,
    workers: int | None = None,
    engine: str = "local",
    cache: bool = True,
    progress: Progress | None = None,
    command: str = "",
) -> Measured:
    """How far sets of clips are from a reference set: FAD, FD, KAD, KL, IS and CLAP score.

    Args:
        reference: Its folder, see tasks.distance_sets.
        sets: Folder by name; or one folder or several, see api.bench.systems_of.
        out: Where to write numbers, tables and protocol; nothing is written without. A result that is there
            is replaced if it was made of the same inputs.
        prompts: Captions by prompt_id, for the CLAP score.
        paired: Whether equal names make pairs; None pairs what can be paired.
        backbone: A name of backbones.NAMES, or an embedding model of your own.
        weights: The backbone's weights, of those that have none of their own.
        metrics, limit, seed, level, draws, workers, engine, cache: See tasks.distance_measures.measured.
        command: As it was typed, for the protocol.

    Raises:
        UserError: Before any work, naming every fault of the input; or if no clip can be used.
    """
    faults = _faults(metrics, level, seed, limit=limit, workers=workers, draws=draws)
    folders: Mapping[str, Path] = {}
    try:
        folders = _folders(sets)
    except InputFaults as fault:
        faults += fault.faults
    inputs: dict[str, Any] = {}
    if out:
        faults += _in_the_way(Path(out), [Path(reference), *folders.values()])
        read = {"reference": Path(reference), "sets": folders, "prompts": _path(prompts)}
        model_is = backbone if isinstance(backbone, str) else f"{backbone.name} {backbone.version}"
        how = {"paired": paired, "backbone": model_is, "weights": _path(weights), "metrics": list(metrics)}
        numbers = {"limit": limit, "seed": seed, "level": level, "draws": draws}
        inputs = _stated({**read, **how, **numbers}, Path(out))
    found = read_sets(
        Path(reference),
        folders,
        prompts=_path(prompts),
        paired=paired,
        limit=limit,
        seed=seed,
        faults=faults,
    )
    _make_sure(out, inputs)
    model = backbone
    if isinstance(model, str):
        model = open_backbone(model, weights=_path(weights))
    model.ready()
    distances = measured(
        found.items,
        found.reference,
        model,
        metrics=metrics,
        level=level,
        draws=draws,
        seed=seed,
        limit=limit,
        workers=workers,
        engine=engine,
        progress=stage(progress, "clips"),
        cache=cache,
    )
    unusable = [Path(file) for _, file, _ in distances.left_out]
    distances = replace(distances, notes=(*distances.notes, *found.notes(unusable)))
    return _written(distances, out, inputs, command)


def join_distances(
    results: Sequence[str | Path], *, out: str | Path | None = None, command: str = ""
) -> Measured:
    """Finished comparisons in one table.

    Args:
        results: Folders that :func:`distance` wrote, or of runs that have distances.

    Raises:
        UserError: If a folder holds no result, recipes differ (naming all in which they do), or a set stands
            in two of them.
    """
    if not results:
        raise UserError("no result is named.", "Name the folders that earwitness distance wrote.")
    if out and (faults := _in_the_way(Path(out), [Path(each) for each in results])):
        raise InputFaults("the folder to write", faults)
    found = joined(*(distance_files.read(Path(each)) for each in results))
    baselines = [name for each in results for name in distance_files.baselines_of(Path(each))]
    found = replace(found, comparisons=corrected(found.comparisons))  # over the pairs of all results
    inputs = {"results": [seen_from(Path(out), each) for each in results]} if out else {}
    _make_sure(out, inputs)
    return _written(found, out, inputs, command, baselines)


def _in_the_way(out: Path, read: Iterable[Path]) -> list[str]:
    """Why nothing may be written to a folder; empty if it may."""
    return taken(out, read) or foreign(out, distance_files.FILES)


def _make_sure(out: str | Path | None, inputs: Mapping[str, Any]) -> None:
    """Make the folder to write to, before long work.

    Raises:
        UserError: If it cannot be made, or holds a result of other inputs.
    """
    if out:
        remedy = "Name another folder with -o."
        if Path(out).exists() and not Path(out).is_dir():
            raise UserError(f"{out} is a file, not a folder to write to.", remedy)
        try:
            Path(out).mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise UserError(f"the folder {out} cannot be made: {fault.strerror}.", remedy) from fault
        refuse_other(Path(out), distance_files.NUMBERS, inputs)


def _stated(given: Any, out: Path) -> Any:
    """An input as the result keeps it: paths as they are seen from its folder."""
    if isinstance(given, Mapping):
        return {name: _stated(value, out) for name, value in given.items()}
    return seen_from(out, given) if isinstance(given, Path) else given


def _written(
    distances: Distances,
    out: str | Path | None,
    inputs: Mapping[str, Any],
    command: str,
    baselines: Collection[str] = (),
) -> Measured:
    folder = _path(out)
    if folder is not None:
        told: dict[str, Any] = {"command": command, "versions": versions(), "baselines": baselines}
        distance_files.write(folder, distances, inputs, **told)
    return Measured(distances, folder)


def _folders(sets: Mapping[str, str | Path] | Sequence[str | Path] | Path) -> dict[str, Path]:
    if isinstance(sets, Mapping):
        return {name: Path(folder) for name, folder in sets.items()}
    if isinstance(sets, (str, Path)):  # a string is a sequence, too
        sets = [sets]
    return systems_of([str(each) for each in sets])


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)


def _faults(metrics: Sequence[str], level: float, seed: int, **counts: int | None) -> list[str]:
    """What is wrong with the settings; those of ``counts`` must be 1 or more."""
    faults = []
    try:
        check_metrics(metrics)
    except UserError as fault:
        faults.append(f"{fault.message} {fault.remedy}")
    if not 0 < level < 1:
        faults.append(f"the confidence level must lie between 0 and 1, not {level:g}")
    faults += [
        f"{name} must be at least 1, not {value}"
        for name, value in counts.items()
        if value is not None and value < 1
    ]
    if seed < 0:
        faults.append(f"the seed must be at least 0, not {seed}")
    return faults
