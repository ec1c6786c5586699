"""RiTTA's own tables: 5 and 6 of the paper in its units, and the score of its public evaluator.

Source: arXiv 2412.15922, Tables 5 and 6; the evaluator: :mod:`earwitness.scores.ritta_released`. They are
made in the modes ``paper`` and ``released`` only, whose numbers alone may stand beside published ones.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from earwitness.report import latex, relation_tables, tables
from earwitness.scores.relations import MAIN
from earwitness.scores.ritta_released import product_of_means
from earwitness.stats import resampling
from earwitness.stats.intervals import wilson
from earwitness.stats.resampling import Floats
from earwitness.tasks.rows import SCORED, ItemRow, Metric, MetricSpec, Summary, SystemRow

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


def table_5(summary: Summary, options: tables.TableOptions) -> tables.Grid:
    """All relations together: mAPre, mARel and mAPar in 10⁻², mAMSR in 10⁻⁴."""
    columns = []
    for name, power in TABLE_5.items():
        spec = tables.spec_of(summary, name)
        find = {row.system: row.metrics[name] for row in summary.rows}
        columns.append((f"{spec.title} ({_POWERS[power]})", _scaled_spec(spec), _scaled(find, power)))
    return _grid(summary, columns, options)


def table_6(summary: Summary, options: tables.TableOptions) -> tables.Grid:
    """mAMSR by main relation, in 10⁻⁴."""
    spec = tables.spec_of(summary, "msr")
    columns = []
    for main, head in TABLE_6.items():
        find = {row.system: relation_tables.metric_of(row, main, "msr") for row in summary.rows}
        columns.append((f"{head} ({_POWERS[4]})", _scaled_spec(spec), _scaled(find, 4)))
    return _grid(summary, columns, options)


def paper_tables(summary: Summary, options: tables.TableOptions) -> dict[str, str]:
    """Both tables by file name, as markdown and as LaTeX; the ceilings stand below a rule."""
    usual = relation_tables.caption(summary, options)
    captions = {
        "table5": f"All relations, as in Table 5 of RiTTA, whose definitions were used. {usual}",
        "table6": f"mAMSR by main relation, as in Table 6 of RiTTA, whose definitions were used. {usual}",
    }
    files = {}
    for (name, caption), make in zip(captions.items(), (table_5, table_6), strict=True):
        found = make(summary, options)
        label = f"{options.label or f'tab:{summary.task}'}:{name}"
        files[f"{summary.task}_{name}.md"] = tables.markdown_of(found, caption)
        files[f"{summary.task}_{name}.tex"] = latex.latex_of(found, caption, label, options)
    return files


_Column = tuple[str, MetricSpec, Mapping[str, Metric]]


def _grid(summary: Summary, columns: Sequence[_Column], options: tables.TableOptions) -> tables.Grid:
    rows = relation_tables.across(summary)
    contest = [not row.baseline for row in rows]
    plain = replace(options, decimals=None, percent=False)
    cells = [
        tables.written([metrics[row.system] for row in rows], contest, spec, plain)
        for _, spec, metrics in columns
    ]
    return tables.Grid(
        heads=("System", *(head for head, _, _ in columns)),
        systems=rows,
        names=tuple(tables.shown_name(summary, row, options.names) for row in rows),
        cells=tuple(zip(*cells, strict=True)),
    )


def _scaled_spec(spec: MetricSpec) -> MetricSpec:
    return replace(spec, decimals=2, percent=False, scale=None)


def _scaled(metrics: Mapping[str, Metric], power: int) -> dict[str, Metric]:
    """The same numbers in units of 10 to the minus ``power``."""

    def times(number: float | None) -> float | None:
        return None if number is None else number * 10**power

    return {
        name: replace(metric, value=times(metric.value), low=times(metric.low), high=times(metric.high))
        for name, metric in metrics.items()
    }


# --- the public evaluator -------------------------------------------------------------------------


@dataclass(slots=True)
class _Clips:
    """Presence, relation and parsimony of clips at every threshold, and the cluster of each."""

    clusters: list[str] = field(default_factory=list)
    values: list[tuple[tuple[float, ...], ...]] = field(default_factory=list)

    def metric(self, level: float, draws: int, seed: int) -> Metric:
        if not self.values:
            return Metric(None)
        presence, relation, parsimony = np.array(self.values, dtype=np.float64).transpose(1, 0, 2)
        value = float(product_of_means(presence, relation, parsimony))
        low, high = self._interval(value, level, draws, seed) or (None, None)
        return Metric(value, low, high, n=len(self.values))

    def _interval(self, value: float, level: float, draws: int, seed: int) -> tuple[float, float] | None:
        """Percentile bootstrap over clusters; where all agree, the Wilson bound at their number."""
        flat = np.array(self.values, dtype=np.float64).reshape(len(self.values), -1)
        names = {name: index for index, name in enumerate(dict.fromkeys(self.clusters))}
        totals = np.zeros((len(names), flat.shape[1] + 1))
        np.add.at(totals, [names[name] for name in self.clusters], np.c_[flat, np.ones(len(flat))])
        if len(totals) < 2:
            return None
        kinds, counts = resampling.kinds_of(totals)
        if resampling.all_agree(_product, kinds, counts):
            bound = wilson(value * len(totals), len(totals), level)
            return bound.low, bound.high
        drawn = resampling.resampled(_product, kinds, counts, draws, np.random.default_rng(seed))
        low, high = resampling.percentiles(drawn, level)
        return min(low, value), max(high, value)


def _product(totals: Floats) -> Floats:
    """The product of means from totals (..., 3 x thresholds + 1): sums of the factors, then clips."""
    means = totals[..., :-1] / totals[..., -1:]
    product: Floats = means.reshape(*means.shape[:-1], 3, -1).prod(axis=-2).mean(axis=-1)
    return product


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
    groups = {sub: main for main, strata in summary.measures.strata.items() for sub in strata}
    kept: dict[tuple[str, str], _Clips] = {}
    for row in rows:
        found = [[row.values.get(f"{name}@{t:g}") for t in thresholds] for name in _FACTORS]
        known = tuple(tuple(v for v in values if v is not None) for values in found)
        if row.status != SCORED or any(len(values) < len(thresholds) for values in known):
            continue
        for part in dict.fromkeys((row.stratum, groups[row.stratum], relation_tables.ALL)):
            clips = kept.setdefault((row.system, part), _Clips())
            clips.clusters.append(row.cluster)
            clips.values.append(known)

    measures = summary.measures

    def find(row: SystemRow, part: str) -> Metric:
        if row.system != measures.oracle and (measures.ceiling, part) not in kept:
            return Metric(None)  # what the listener can reach here is not known
        metric = kept.get((row.system, part), _Clips()).metric(level, draws, seed)
        if part in _IMPOSSIBLE:
            metric = replace(metric, low=None, high=None)  # nothing is left to chance
        return _scaled({part: metric}, 4)[part]

    spec = MetricSpec("amsr", "AMSR", "", decimals=2, scale=None)
    plain = replace(options, decimals=None, percent=False)
    blocks = [
        f"## AMSR ({_POWERS[4]}), as released",
        tables.markdown_text(RELEASED),
        tables.markdown_text(relation_tables.caption(summary, options)),
        relation_tables.markdown_of(summary, relation_tables.sheet(summary, spec, plain, find), plain),
    ]
    return "\n\n".join(blocks) + "\n"
