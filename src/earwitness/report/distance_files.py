"""The files of a comparison: numbers, tables, and the paragraph for the paper."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from earwitness.errors import UserError
from earwitness.files import INPUTS, write_text
from earwitness.report import distance_csv, distance_pairs, distance_tables, distance_words
from earwitness.report.tables import markdown_text
from earwitness.tasks.distances import ALL, ANCHORS, FLOOR, Distances, from_json, in_clips, to_json

NUMBERS, LEFT_OUT = "distances.json", "left_out.csv"
FILES = (
    NUMBERS,
    *("distances.csv", "distances.md", "distances.tex", "protocol.md"),
    *(LEFT_OUT, distance_pairs.FILE),
)
"""All that a folder of distances holds."""
SUMMARY = "summary.json"
"""Of a run: holds its distances too."""


def write(
    folder: Path,
    distances: Distances,
    inputs: Mapping[str, Any],
    *,
    command: str = "",
    versions: Mapping[str, str] | None = None,
    baselines: Collection[str] = (),
) -> None:
    """Write ``distances.json``, ``.csv``, ``.md``, ``.tex``, ``protocol.md``, pairs, and what is left out.

    Args:
        inputs: What the distances were made of (files.refuse_other).
        command: As it was typed, for the protocol.
        versions: Of packages, for the protocol.
        baselines: Systems of a run that are no contestants, for the protocol.
    """
    folder.mkdir(parents=True, exist_ok=True)
    told = {INPUTS: dict(inputs), **to_json(distances)}
    data = json.dumps(told, ensure_ascii=False, allow_nan=False, indent=2)
    write_text(folder / NUMBERS, data + "\n")
    write_text(folder / "distances.csv", distance_csv.csv_text(distances))
    write_text(folder / "distances.md", distance_tables.markdown(distances))
    write_text(folder / "distances.tex", distance_tables.latex_tables(distances))
    paragraph = protocol(distances, command=command, versions=versions, baselines=baselines)
    write_text(folder / "protocol.md", paragraph)
    for name, found, text in (
        (LEFT_OUT, distances.left_out, distance_csv.left_out_csv),
        (distance_pairs.FILE, distances.comparisons, distance_csv.pairs_csv),
    ):
        if found:
            write_text(folder / name, text(distances))
        else:
            (folder / name).unlink(missing_ok=True)


def baselines_of(folder: Path) -> list[str]:
    """Of a run, its systems that are no contestants; none of what :func:`write` wrote."""
    if not _of_run(folder):
        return []
    rows = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))["rows"]
    return [row["system"] for row in rows if row.get("baseline")]


def _of_run(folder: Path) -> bool:
    return not (folder / NUMBERS).exists() and (folder / SUMMARY).exists()


def read(folder: Path) -> Distances:
    """What :func:`write` wrote, or what a run holds.

    Raises:
        UserError: If the folder holds no result.
    """
    of_run = _of_run(folder)
    file = folder / (SUMMARY if of_run else NUMBERS)
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as fault:
        raise UserError(
            f"{file} cannot be read: {fault.strerror}.",
            "Name folders that earwitness distance wrote, or runs with distances.",
        ) from fault
    except ValueError as fault:
        raise UserError(f"{file} is no JSON: {fault}.", "Measure the distances anew.") from fault
    if of_run and isinstance(data, dict):
        data = data.get("distances")
        if data is None:
            raise UserError(f"{folder} is a run without distances.", "Score it again with --distances.")
    if not isinstance(data, dict):
        raise UserError(f"{file} holds no distances.", "Measure them anew.")
    return from_json(data, str(file))


def protocol(
    distances: Distances,
    *,
    command: str = "",
    versions: Mapping[str, str] | None = None,
    baselines: Collection[str] = (),
) -> str:
    """The paragraph for the paper as markdown, then the notes, the command and the versions."""
    blocks = [" ".join(map(markdown_text, _sentences(distances, baselines)))]
    if distances.notes:
        blocks.append("\n".join(f"- {markdown_text(note)}" for note in distances.notes))
    if command:
        blocks.append(f"Command: {markdown_text(command)}")
    if versions:
        told = ", ".join(f"{name} {version}" for name, version in versions.items())
        blocks.append(f"Versions: {markdown_text(told)}.")
    return "\n\n".join(blocks) + "\n"


_HOW = {
    "fad": "FAD is the squared Fréchet distance between Gaussians fitted to the frames of all clips of "
    "either set (unbiased covariance, float64, no matrix square root).",
    "fd": "FD is the same of the clips' embeddings, one a clip.",
    "kad": "KAD is 100 times the unbiased squared MMD of the clips' embeddings under a Gaussian kernel whose "
    "bandwidth is the median distance within the reference.",
    "kl": "KL is the mean over pairs of KL(reference || clip), in nats, between the softmax of the "
    "classifier's logits.",
    "is": "IS is the exponential of the mean KL between a clip's softmax distribution and that of all clips, "
    "over the whole set at once.",
    "clap": "CLAP is the mean cosine between the embeddings of a clip and its caption.",
}
_SURE = {
    ("fad", "fd"): "from the influence of every clip on the distance, summed by cluster",
    ("kad",): "by the delete-one-cluster jackknife",
    ("kl", "clap"): "by a bootstrap over clusters",
    ("is",): "from the influence of every clip on its logarithm, summed by cluster",
}
"""How intervals are made, by metric."""


def _sentences(distances: Distances, baselines: Collection[str]) -> list[str]:
    """How the numbers came about, and how sure they are."""
    systems = [name for name in dict.fromkeys(row.system for row in distances.rows) if name not in ANCHORS]
    numbers = {row.metric for row in distances.rows if row.system not in ANCHORS and row.value is not None}
    rows = [row for row in distances.rows if row.metric in numbers]  # an anchor alone has no column
    there = [name for name in _HOW if name in numbers]
    said = [
        f"{_counted(systems, baselines)} {'was' if len(systems) == 1 else 'were'} held against "
        f"{in_clips(distances.recipe.reference_clips, 'reference')}.",
        distance_words.recipe_words(distances.recipe),
        *(_HOW[name] for name in there),
    ]
    if any(row.low is not None for row in rows):
        sure = {row.metric for row in rows if row.low is not None}
        how = []
        for names, text in _SURE.items():
            if titles := [distance_words.SPECS[name].title for name in names if name in sure]:
                how.append(f"of {' and '.join(titles)} {text}")
        told = "; ".join([*how, f"seed {distances.recipe.seed}"])
        said.append(f"Intervals are at {100 * distances.level:g} % ({told}).")
        said.append("A clip and its reference are one cluster, and so are clips of one sound.")
    if distances.comparisons:
        said.append(distance_words.PAIRS)
    for row in rows:
        if row.system == FLOOR and row.part == ALL and row.value is not None:
            spec = distance_words.SPECS[row.metric]
            said.append(f"{spec.title} between two halves of the reference: {row.value:.{spec.decimals}f}.")
    said += [
        f"Of {one.system} {one.clips - one.used:,} of {one.clips:,} clips could not be used."
        for one in distances.coverage
        if one.used < one.clips
    ]
    return said


def _counted(systems: Sequence[str], baselines: Collection[str]) -> str:
    """How many sets, and how many baselines apart from them."""
    beside = sum(name in baselines for name in systems)
    sets = len(systems) - beside
    counts = ((sets, "set"), (beside, "baseline"))
    return " and ".join(f"{count:,} {what}{'' if count == 1 else 's'}" for count, what in counts if count)
