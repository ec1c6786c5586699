"""What distances are called, what they mean, and the recipe they are of, in words."""

from collections.abc import Mapping, Sequence

from earwitness.report.cells import one_line
from earwitness.tasks.distances import ANCHORS, BETTER, METRICS, Distances, Recipe, in_clips
from earwitness.tasks.rows import MetricSpec

SPECS: Mapping[str, MetricSpec] = {
    spec.name: spec
    for spec in (
        MetricSpec("fad", "FAD", "Fréchet distance of the frames", BETTER["fad"], scale=None),
        MetricSpec("fd", "FD", "Fréchet distance of the clips", BETTER["fd"], scale=None),
        MetricSpec("kad", "KAD", "kernel distance (unbiased MMD²) of the clips", BETTER["kad"], scale=None),
        MetricSpec(
            "kl",
            "KL",
            "mean KL(reference || clip) of paired clips, in nats, without upper bound",
            BETTER["kl"],
            scale=None,
        ),
        MetricSpec(
            "is", "IS", "Inception Score of the clips alone, too low for few clips", BETTER["is"], scale=None
        ),
        MetricSpec("clap", "CLAP", "mean cosine of clip and caption", BETTER["clap"], scale=None),
    )
}

PAIRS = (
    "Sets were compared in pairs, over the clips of one name that both have (over all where they share "
    "none), with clips, references and prompts as clusters of both: FAD and FD by the difference of "
    "influences, after the bias of few clips was taken off by a jackknife over four groups of clusters, KAD "
    "by the delete-one-cluster jackknife of the difference, with Student's t; KL and CLAP by a paired "
    "bootstrap and a test that swaps the sets within clusters. p values are Holm-corrected over the pairs of "
    "a metric, and a set is said to be at the smaller distance (CLAP: to be higher) only where the "
    "interval leaves zero out and the corrected p is below 0.05."
)


def recipe_line(distances: Distances) -> str:
    """The recipe by its key, where there is no room for the whole of it."""
    recipe = distances.recipe
    sure = (
        f", {100 * distances.level:g} % intervals" if any(r.low is not None for r in distances.rows) else ""
    )
    clips = f"reference {recipe.reference[:16]}: {in_clips(recipe.reference_clips)}"
    weights = f"weights {recipe.version}"
    return f"Embeddings of {recipe.backbone}, {weights}; {clips}{sure}; recipe {recipe.key}."


def recipe_words(recipe: Recipe) -> str:
    """What decides a number beside the clips that are measured, in a sentence."""
    settings = ", ".join(_setting(name, recipe.settings[name]) for name in sorted(recipe.settings))
    return (
        f"Embeddings: {recipe.backbone}, weights {recipe.version} ({settings}). Reference "
        f"{recipe.reference[:16]}: {in_clips(recipe.reference_clips)}. Policy: {recipe.policy}. "
        f"Pairs: {recipe.pairing}. "
        + (f"Captions {recipe.captions[:16]}. " if recipe.captions else "")
        + f"Seed {recipe.seed}, {recipe.draws:,} draws. Recipe {recipe.key}."
    )


_UNITS = {"_hz": "Hz", "_s": "s"}


def _setting(name: str, value: object) -> str:
    """``rate_hz`` of 16000 is "rate 16000 Hz"."""
    for ending, unit in _UNITS.items():
        if name.endswith(ending):
            return f"{name.removesuffix(ending).replace('_', ' ')} {_plain(value)} {unit}"
    return f"{name.replace('_', ' ')} {_plain(value)}"


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key} {_plain(each)}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return "/".join(map(_plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def caption(distances: Distances, metrics: Sequence[str] = METRICS) -> str:
    """What a table needs to be read: what its metrics and anchors are, the intervals' level, the recipe."""
    return f"{meanings(distances, metrics)} {recipe_words(distances.recipe)}"


def meanings(distances: Distances, metrics: Sequence[str] = METRICS) -> str:
    """What the metrics and anchors of a table are, and the intervals' level."""
    rows = [row for row in distances.rows if row.metric in metrics and row.value is not None]
    shown = [SPECS[name] for name in METRICS if any(row.metric == name for row in rows)]
    said = ["; ".join(f"{spec.title}: {spec.meaning}" for spec in shown) + "."] if shown else []
    if any(row.low is not None for row in rows):
        said.append(f"With {100 * distances.level:g} % confidence intervals over clips.")
    there = {row.system for row in rows}
    said += [f"{name.capitalize()}: {what}." for name, what in ANCHORS.items() if name in there]
    return one_line(" ".join(said))
