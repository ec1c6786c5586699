"""RiTTA's own tables: 5 and 6 of the paper in its units, and the score of its public evaluator.

Source: arXiv 2412.15922, Tables 5 and 6; the evaluator: :mod:`earwitness.scores.ritta_released`. They are
made in the modes ``paper`` and ``released`` only, whose numbers alone may stand beside published ones. What
is not tested is never bold (tables.winner): no distance, no main relation, not the evaluator's score.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from earwitness.report import distance_tables, distance_words, latex, relation_tables, tables
from earwitness.scores.relations import MAIN
from earwitness.scores.ritta_released import product_of_means
from earwitness.stats import resampling
from earwitness.stats.intervals import wilson
from earwitness.stats.resampling import Floats
from earwitness.tasks.distances import Distances
from earwitness.tasks.rows import SCORED, ItemRow, Metric, MetricSpec, Summary, SystemRow

GENERAL = ("fad", "kl", "fd")
"""The paper's general metrics, in the order of its Table 5."""
TABLE_5 = {"presence": 2, "relation": 2, "parsimony": 2, "msr": 4}
"""The paper's columns, in order, and the power of ten that each is multiplied by."""
TABLE_6 = dict(zip(MAIN, ("Count", "TempOrder", "SpatDist", "Compos"), strict=True))
"""Main relation -> the paper's head."""
_POWERS = {2: "10⁻²", 4: "10⁻⁴"}
_IMPOSSIBLE = ("or", "not", "if_then_else")  # 0 for every clip, by the evaluator's rules
_FACTORS = ("presence", "relation", "parsimony")
RELEASED = (
    "AMSR as the public evaluator computes it: at each threshold the product of mean presence, mean relation "
    "and mean parsimony over the clips, then the mean over thresholds; not the mean of products that the "
    "paper's equation 4 states. It is for parity with published numbers alone: no clip whatever can score "
    "more than 0 on or, not and if_then_else. Main relations and all: clips pooled, as the evaluator "
    "does."
)

_Column = tuple[str, Sequence[tables.Cell]]
"""A head, and the cells of the systems as relation_tables.across has them."""


def table_5(summary: Summary, options: tables.TableOptions) -> tables.Grid:
    """All relations together: FAD, KL and FD where they were measured, mAPre, mARel and mAPar in 10⁻², mAMSR
    in 10⁻⁴."""
    columns = _distance_columns(summary, {(name, relation_tables.ALL): "" for name in GENERAL}, options)
    for name, power in TABLE_5.items():
        spec = tables.spec_of(summary, name)
        metrics = [_scaled(row.metrics[name], power) for row in relation_tables.across(summary)]
        columns.append(
            _scaled_column(summary, f"{spec.title} ({_POWERS[power]})", spec, metrics, options, whole=True)
        )
    return _grid(summary, columns, options)


def table_6(summary: Summary, options: tables.TableOptions) -> tables.Grid:
    """By main relation FAD, where it was measured, and mAMSR in 10⁻⁴."""
    spec = tables.spec_of(summary, "msr")
    columns = _distance_columns(
        summary, {("fad", main): f" {head}" for main, head in TABLE_6.items()}, options
    )
    for main, head in TABLE_6.items():
        metrics = [
            _scaled(relation_tables.metric_of(row, main, spec.name))
            for row in relation_tables.across(summary)
        ]
        columns.append(_scaled_column(summary, f"{head} ({_POWERS[4]})", spec, metrics, options))
    return _grid(summary, columns, options)


def paper_tables(summary: Summary, options: tables.TableOptions) -> dict[str, str]:
    """Both tables by file name, as markdown and as LaTeX; the ceilings stand below a rule."""
    usual = relation_tables.caption(summary, options)
    found = summary.distances
    notes = [] if found is None else [_recipe_note(found)]
    notes += [f"{distance_tables.FEWER_NOTE} This is of distances alone."] * bool(_fewer(summary))
    six = table_6(summary, options)
    fad = "FAD and " if any(head.startswith("FAD") for head in six.heads) else ""
    captions = {
        "table5": f"All relations, as in Table 5 of RiTTA, whose definitions were used. {usual}",
        "table6": f"{fad}mAMSR by main relation, as in Table 6 of RiTTA, whose definitions were used. "
        f"{usual}",
    }
    files = {}
    grids = (table_5(summary, options), six)
    for (name, caption), grid in zip(captions.items(), grids, strict=True):
        label = f"{options.label or f'tab:{summary.task}'}:{name}"
        written = [tables.markdown_of(grid, caption), *map(tables.markdown_text, notes)]
        files[f"{summary.task}_{name}.md"] = "\n\n".join(text.strip() for text in written) + "\n"
        files[f"{summary.task}_{name}.tex"] = latex.latex_of(
            grid, caption, label, options, notes, wide=found is not None
        )
    return files


def _fewer(summary: Summary) -> frozenset[str]:
    """The systems of which fewer clips could be used for distances than of another."""
    found = summary.distances
    return frozenset() if found is None else distance_tables.fewer(found, tables.roles(summary))


def _recipe_note(found: Distances) -> str:
    """What keeps a reader from setting these distances beside the paper's, and their recipe."""
    return (
        f"{', '.join(distance_words.SPECS[name].title for name in GENERAL)} are of the recipe below; "
        "none is marked as best. The paper's FAD and FD come of VGGish, its KL is one of Gaussians, and its "
        "reference clips were others: do not set these numbers beside the paper's. "
        f"{distance_words.recipe_words(found.recipe)} "
        f"Why a distance is {tables.NONE} or has no column is told in ritta_distances.md."
    )


def _distance_columns(
    summary: Summary, wanted: Mapping[tuple[str, str], str], options: tables.TableOptions
) -> list[_Column]:
    """Distances by (metric, part), and what follows their title; none for systems that have no sound.

    A column in which no system has a number is left out.
    """
    if summary.distances is None:
        return []
    known = {(row.system, row.metric, row.part): row for row in summary.distances.rows}
    plain = replace(options, decimals=None)
    systems = [row.system for row in relation_tables.across(summary)]
    columns: list[_Column] = []
    for (metric, part), of in wanted.items():
        rows = [known.get((system, metric, part)) for system in systems]
        if any(row and row.value is not None for row in rows):
            cells = [distance_tables.cell(row, plain) for row in rows]
            columns.append((f"{distance_words.SPECS[metric].title}{of}", cells))
    return columns


def _scaled_column(
    summary: Summary,
    head: str,
    spec: MetricSpec,
    metrics: Sequence[Metric],
    options: tables.TableOptions,
    *,
    whole: bool = False,
) -> _Column:
    """A column of numbers in the paper's units; only those of the whole run are compared."""
    leader = tables.leader(summary, spec) if whole else ""
    bold = [row.system == leader for row in relation_tables.across(summary)]
    scaled = replace(spec, decimals=2, percent=False, scale=None)
    return head, tables.written(metrics, bold, scaled, replace(options, decimals=None, percent=False))


def _grid(summary: Summary, columns: Sequence[_Column], options: tables.TableOptions) -> tables.Grid:
    rows, fewer = relation_tables.across(summary), _fewer(summary)
    return tables.Grid(
        heads=("System", *(head for head, _ in columns)),
        systems=rows,
        names=tuple(
            tables.shown_name(summary, row, options.names)
            + tables.signs(summary, row)
            + (f" {distance_tables.FEWER}" if row.system in fewer else "")
            for row in rows
        ),
        cells=tuple(zip(*(cells for _, cells in columns), strict=True)),
    )


def _scaled(metric: Metric, power: int = 4) -> Metric:
    """The same number in units of 10 to the minus ``power``."""

    def times(number: float | None) -> float | None:
        return None if number is None else number * 10**power

    return replace(metric, value=times(metric.value), low=times(metric.low), high=times(metric.high))


# --- the public evaluator -------------------------------------------------------------------------


@dataclass(slots=True)
class _Clips:
    """A system's clips of one relation: the factors at every threshold, and the cluster of each clip."""

    clusters: list[str] = field(default_factory=list)
    values: list[list[float]] = field(default_factory=list)

    def drawn(self, draws: int, rng: np.random.Generator) -> "_Drawn":
        factors = np.array(self.values, dtype=np.float64)
        names = {name: index for index, name in enumerate(dict.fromkeys(self.clusters))}
        totals = np.zeros((len(names), factors.shape[1] + 1))
        np.add.at(totals, [names[name] for name in self.clusters], np.c_[factors, np.ones(len(factors))])
        blocks: list[Floats] = []

        def keep(resampled: Floats) -> Floats:
            blocks.append(resampled)
            return resampled[..., -1]

        resampling.resampled(keep, *resampling.kinds_of(totals), draws, rng)
        return _Drawn(factors, totals, np.concatenate(blocks))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The factors of clips (clips, 3 x thresholds), and their sums with the number of clips in the last
    column: by cluster (clusters, columns), and of bootstrap samples of these (draws, columns)."""

    factors: Floats
    totals: Floats
    samples: Floats


def _amsr(relations: Sequence[_Drawn], level: float) -> Metric:
    """Of one relation or of several, their clips pooled; clusters are drawn within each."""
    if not relations:
        return Metric(None)
    factors = np.concatenate([one.factors for one in relations])
    value = product_of_means(*np.split(factors, 3, axis=1))
    totals = np.concatenate([one.totals for one in relations])
    if len(totals) < 2:
        return Metric(value, n=len(factors))
    if resampling.all_agree(_product, *resampling.kinds_of(totals)):
        bound = wilson(value * len(totals), len(totals), level)
        return Metric(value, bound.low, bound.high, n=len(factors))
    samples = np.sum([one.samples for one in relations], axis=0)
    low, high = resampling.percentiles(_product(samples), level)
    return Metric(value, min(low, value), max(high, value), n=len(factors))


def _product(totals: Floats) -> Floats:
    """The product of means from totals (..., 3 x thresholds + 1): sums of the factors, then clips."""
    means = totals[..., :-1] / totals[..., -1:]
    product: Floats = means.reshape(*means.shape[:-1], 3, -1).prod(axis=-2).mean(axis=-1)
    return product


def _collected(rows: Iterable[ItemRow], thresholds: Sequence[float]) -> dict[tuple[str, str], _Clips]:
    """The clips that have every number, by system and relation."""
    clips: dict[tuple[str, str], _Clips] = {}
    for row in rows:
        found = [row.values.get(f"{name}@{t:g}") for name in _FACTORS for t in thresholds]
        defined = [value for value in found if value is not None]
        if row.status == SCORED and len(defined) == len(found):
            its = clips.setdefault((row.system, row.stratum), _Clips())
            its.clusters.append(row.cluster)
            its.values.append(defined)
    return clips


def released(
    summary: Summary,
    rows: Iterable[ItemRow],
    thresholds: Sequence[float],
    options: tables.TableOptions,
    *,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> str:
    """The score of the public evaluator by relation, as markdown.

    Args:
        rows: Every item, drawn once. A clip without one of the numbers at some threshold is left out.
        thresholds: Those that the clips were judged at.
        level, draws, seed: Of the percentile bootstrap over clusters.
    """
    measures, clips = summary.measures, _collected(rows, thresholds)
    strata = [name for group in measures.strata.values() for name in group]
    within = {name: [name] for name in strata} | dict(measures.strata) | {relation_tables.ALL: strata}
    reached = {name for owner, name in clips if owner == measures.ceiling}
    known: dict[tuple[str, str], Metric] = {}
    for system in (row.system for row in summary.rows):
        drawn = {
            # another draw for each relation, the same for every system
            name: clips[system, name].drawn(draws, np.random.default_rng([seed, index]))
            for index, name in enumerate(strata)
            # what the listener can reach has to be known
            if (system, name) in clips and (name in reached or system == measures.oracle)
        }
        for part, names in within.items():
            own = [name for name in names if name in drawn]
            beside = [name for name in own if name in reached]  # the oracle may have more than anybody else
            metric = _amsr([drawn[name] for name in beside or own], level)
            if part in _IMPOSSIBLE or system in measures.exact:
                metric = replace(metric, low=None, high=None)  # nothing is left to chance
            known[system, part] = _scaled(metric)

    def find(row: SystemRow, part: str) -> Metric:
        return known[row.system, part]

    spec = MetricSpec("amsr", "AMSR", "", decimals=2, scale=None)
    plain = replace(options, decimals=None, percent=False)
    blocks = [
        f"## AMSR ({_POWERS[4]}), as released",
        tables.markdown_text(RELEASED),
        tables.markdown_text(relation_tables.caption(summary, options)),
        relation_tables.markdown_of(summary, relation_tables.sheet(summary, spec, plain, find), plain),
    ]
    return "\n\n".join(blocks) + "\n"
