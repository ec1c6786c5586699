"""Several listeners on the same clips: each one's numbers, and how far they agree.

Conventions
-----------
The folder holds a whole run for every listener, in a folder of its own, and beside them ``summary.json``
(each run's systems), ``agreement.json``, ``agreement.md`` and ``index.html``. Everything is rebuilt from
the runs' ledgers.

Agreement is taken on items: same system, same sample_id. Of the numbers, those of the usual table, and
those that systems are tested for, are compared where at least two listeners measure them on the same scale.
Systems stand side by side, and their ranking is correlated, for listeners whose key metric is the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from earwitness.errors import UserError
from earwitness.files import whole, write_text
from earwitness.report import build, page, panel, summary_files, tables
from earwitness.report.cells import one_line
from earwitness.stats.agreement import Alpha, Level, Ranks, Same, alpha, ranks, same
from earwitness.tasks.rows import SCORED, ItemRow, MetricSpec, Summary

VERDICT = "verdict"
NOTE = (
    "Listeners that agree are not thereby right: they may share an error, such as not hearing the same kind "
    "of sound. Raw agreement contains what chance gives; Krippendorff's alpha does not."
)

Key = tuple[str, str]
"""System and sample_id of an item."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Agreement of all listeners on one thing: the verdict or a metric."""

    name: str
    title: str
    level: Level
    alpha: Alpha


@dataclass(frozen=True, slots=True)
class Pair:
    """Agreement of two listeners: verdicts of the items both scored, ranking of the systems.

    Attributes:
        metric: The title of the key metric that both rank systems by; empty if they have different ones.
    """

    first: str
    second: str
    metric: str
    verdicts: Same
    ranks: Ranks


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the listeners of a panel agree."""

    listeners: tuple[str, ...]
    measured: tuple[Measured, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Heard:
    """What is kept of one run: its summary and, by item, cluster, verdict and numbers."""

    name: str
    folder: Path
    summary: Summary
    clusters: dict[Key, str] = field(default_factory=dict)
    verdicts: dict[Key, str] = field(default_factory=dict)
    values: dict[str, dict[Key, float]] = field(default_factory=dict)


def write(folder: Path, runs: Mapping[str, Path], options: build.Options | None = None) -> Agreement:
    """Compare the runs of several listeners and write the folder's own files.

    Args:
        folder: The folder above the runs.
        runs: The runs by listener, as :func:`.panel.runs_of` finds them.

    Raises:
        UserError: If there are fewer than two runs, or they are of different tasks.
    """
    options = options or build.Options()
    shown = {path.resolve(): name for name, path in panel.members(folder)[0].items()}
    heard = [_read(shown.get(path.resolve(), name), path, options) for name, path in runs.items()]
    tasks = sorted({one.summary.task for one in heard})
    if len(heard) < 2:
        raise UserError(
            f"{folder} holds the run of one listener so far ({', '.join(one.name for one in heard)}), which "
            "has nobody to agree with.",
            "Run the judge command again to go on with the others; look at the one by naming its own folder.",
        )
    if len(tasks) > 1:
        raise UserError(f"{folder} holds runs of different tasks: {' and '.join(tasks)}.")
    found = of_runs(heard, options)
    with whole(folder / "summary.json") as part:
        summary_files.write_json(part, {"task": tasks[0], "runs": [_run_json(folder, one) for one in heard]})
    with whole(folder / "agreement.json") as part:
        summary_files.write_json(part, asdict(found))
    write_text(folder / "agreement.md", _markdown(heard, found))
    page.write_overview(
        folder,
        title="What the listeners say, and how far they agree",
        runs=[
            (one.folder.relative_to(folder).as_posix(), replace(one.summary, listener=one.name))
            for one in heard
        ],
        agreement=_measured_table(found),
        notes=[*_different_keys(heard), *_pair_sentences(found), *found.notes],
        names=options.table.names,
    )
    return found


def _read(name: str, path: Path, options: build.Options) -> _Heard:
    with build.open_run(path) as ledger:
        run = build.of_ledger(ledger, options.unclaimed, options.scoring)
        rows: list[tuple[Key, str, str, Mapping[str, float | None]]] = []

        def kept() -> Iterator[ItemRow]:
            for row in run.rows():
                if row.status == SCORED:
                    rows.append(((row.system, row.sample_id), row.cluster, row.verdict, row.values))
                yield row

        heard = _Heard(name, path, build.summary_of(run, kept(), options))
    for key, cluster, verdict, values in rows:
        heard.clusters[key] = cluster
        heard.verdicts[key] = verdict
        for metric, value in values.items():
            if value is not None:
                heard.values.setdefault(metric, {})[key] = value
    return heard


def of_runs(heard: Sequence[_Heard], options: build.Options) -> Agreement:
    """Agreement of all listeners on the verdict and on each shared metric, and of every pair."""
    clusters: dict[Key, str] = {}
    for one in heard:
        clusters = one.clusters | clusters
    keys = list(clusters)

    places = [clusters[key] for key in keys]

    def measured(name: str, title: str, level: Level, by_listener: Sequence[Mapping[Key, Any]]) -> Measured:
        values = [[given.get(key) for given in by_listener] for key in keys]
        found = alpha(values, places, level, confidence=options.level, draws=max(1, options.draws))
        return Measured(name, title, level, found)

    results = []
    kinds = [_vocabulary(one) for one in heard]
    kind = max(kinds, key=kinds.count)
    judging = [one for one in heard if _vocabulary(one) == kind]
    if kind and len(judging) > 1:
        results.append(measured(VERDICT, "Verdict", "nominal", [one.verdicts for one in judging]))
    shared, notes = _shared(heard)
    if len(judging) < len(heard):
        who = f"those of {_and([one.name for one in judging])}" if len(judging) > 1 else "none"
        notes.insert(0, f"Listeners give different kinds of verdict: {who} are compared.")
    for spec in shared:
        given = [one.values.get(spec.name, {}) for one in heard if _measures(one, spec)]
        results.append(measured(spec.name, spec.title, "nominal" if spec.rate else "interval", given))
    pairs = tuple(_pair(first, second) for first, second in combinations(heard, 2))
    return Agreement(tuple(one.name for one in heard), tuple(results), pairs, (*notes, NOTE))


def _vocabulary(one: _Heard) -> frozenset[str]:
    return frozenset(one.summary.measures.verdicts)


def _shared(heard: Sequence[_Heard]) -> tuple[list[MetricSpec], list[str]]:
    """Metrics that two or more listeners measure on one scale, and notes on those they do not."""
    found: list[MetricSpec] = []
    partly: dict[tuple[str, ...], list[str]] = {}
    wanted: dict[str, None] = {}
    for one in heard:
        measures = one.summary.measures
        wanted.update(dict.fromkeys((measures.key, *measures.compared, *measures.columns)))
    for name in wanted:
        specs = [spec for one in heard for spec in one.summary.specs if spec.name == name]
        if not specs:  # a count, not a metric
            continue
        best = max(specs, key=lambda spec: sum(other.scale == spec.scale for other in specs))
        alike = tuple(one.name for one in heard if _measures(one, best))
        if len(alike) > 1:
            found.append(best)
        if len(alike) < len(heard):
            partly.setdefault(alike if len(alike) > 1 else (), []).append(f"{best.title} ({name})")
    notes = []
    for names, metrics in partly.items():
        who = f"Only {_and(names)}" if names else "No two listeners"
        what = "they alone are compared on" if names else "nobody is compared on"
        notes.append(f"{who} measure these on one scale, so {what} them: {_and(metrics)}.")
    return found, notes


def _and(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _key(one: _Heard) -> MetricSpec:
    return tables.key_spec(one.summary)


def _by_key(heard: Sequence[_Heard]) -> list[list[_Heard]]:
    """The runs whose systems are ranked by the same quantity, together."""
    groups: dict[tuple[str, object], list[_Heard]] = {}
    for one in heard:
        groups.setdefault((_key(one).name, _key(one).scale), []).append(one)
    return list(groups.values())


def _different_keys(heard: Sequence[_Heard]) -> list[str]:
    """That the listeners' key metrics are different things, if they are."""
    groups = _by_key(heard)
    if len(groups) < 2:
        return []
    listed = _and([f"{_and([one.name for one in group])} by {_key(group[0]).title}" for group in groups])
    return [
        f"Listeners rank the systems by different things, {listed}: these numbers are not to be held against "
        "each other."
    ]


def _measures(one: _Heard, wanted: MetricSpec) -> bool:
    return any(spec.name == wanted.name and spec.scale == wanted.scale for spec in one.summary.specs)


def _pair(first: _Heard, second: _Heard) -> Pair:
    alike = _vocabulary(first) == _vocabulary(second)
    keys = [key for key in first.verdicts if key in second.verdicts and alike]
    verdicts = same([first.verdicts[key] for key in keys], [second.verdicts[key] for key in keys])
    if len(_by_key([first, second])) > 1:
        titles = f"{first.name} ranks systems by {_key(first).title}, {second.name} by {_key(second).title}"
        return Pair(first.name, second.name, "", verdicts, Ranks(0, None, None, titles))
    one, other = _by_system(first.summary), _by_system(second.summary)
    systems = [system for system in one if system in other]
    return Pair(
        first.name,
        second.name,
        _key(first).title,
        verdicts,
        ranks([one[system] for system in systems], [other[system] for system in systems]),
    )


def _by_system(summary: Summary) -> dict[str, float | None]:
    """The key metric of every system, turned so that higher is better."""
    sign = -1 if tables.key_spec(summary).better < 0 else 1
    values = {row.system: row.metrics[summary.key_metric].value for row in summary.rows}
    return {system: None if value is None else sign * value for system, value in values.items()}


def _run_json(folder: Path, one: _Heard) -> dict[str, Any]:
    data = summary_files.summary_json(one.summary)
    return {"folder": one.folder.relative_to(folder).as_posix(), **data, "listener": one.name}


def _measured_table(found: Agreement) -> list[list[str]]:
    rows = [["", "Krippendorff's alpha", "Interval", "Level", "Items"]]
    for one in found.measured:
        value, low, high = (
            "--" if number is None else f"{number:.3f}"
            for number in (one.alpha.value, one.alpha.low, one.alpha.high)
        )
        interval = f"{low} to {high}" if one.alpha.low is not None else "--"
        rows.append([one.title, value, interval, one.level, f"{one.alpha.items:,}"])
    return rows


def _pair_sentences(found: Agreement) -> list[str]:
    said = []
    for pair in found.pairs:
        both = f"{pair.first} and {pair.second}"
        if pair.verdicts.share is None:
            verdicts = f"{both} gave no verdicts that can be compared"
        else:
            verdicts = (
                f"{both} give {pair.verdicts.share:.1%} of {pair.verdicts.items:,} items the same verdict"
            )
        if not pair.metric:
            order = f"no rank correlation of the systems: {pair.ranks.reason}, which are different things"
        elif pair.ranks.spearman is None or pair.ranks.kendall is None:
            order = f"rank correlation by {pair.metric} undefined ({pair.ranks.reason})"
        else:
            order = (
                f"rank correlation of {pair.ranks.systems} systems by {pair.metric}: "
                f"Spearman {pair.ranks.spearman:.2f}, Kendall tau-b {pair.ranks.kendall:.2f}"
            )
        said.append(f"{verdicts}; {order}.")
    undefined: dict[str, list[str]] = {}
    for one in found.measured:
        if one.alpha.reason:
            undefined.setdefault(one.alpha.reason, []).append(one.title)
    said += (f"{_and(titles)}: {reason}." for reason, titles in undefined.items())
    return [one_line(text) for text in said]


def _markdown(heard: Sequence[_Heard], found: Agreement) -> str:
    text = tables.markdown_text
    lines = [f"Systems of the {text(heard[0].summary.task)} task by listener", ""]
    for group in _by_key(heard):
        systems = dict.fromkeys(row.system for one in group for row in tables.ranked(one.summary))
        heads = [f"{one.name}: {_key(one).title}" for one in group]
        lines += [*_markdown_table([["System", *heads], *([s, *_cells(s, group)] for s in systems)]), ""]
    lines += [
        *(f"{text(said)}\n" for said in _different_keys(heard)),
        "Agreement of the listeners on items",
        "",
    ]
    lines += _markdown_table(_measured_table(found))
    lines += ["", *(f"- {text(note)}" for note in (*_pair_sentences(found), *found.notes))]
    return "\n".join(lines) + "\n"


def _cells(system: str, heard: Sequence[_Heard]) -> Iterator[str]:
    for one in heard:
        key = _key(one)
        row = next((row for row in one.summary.rows if row.system == system), None)
        metric = row.metrics[key.name] if row else None
        shown = tables.number(metric.value if metric else None, key)
        if metric and metric.low is not None and metric.high is not None:
            shown += f" [{tables.number(metric.low, key)}, {tables.number(metric.high, key)}]"
        yield shown + (" †" if row and tables.low_coverage(row) else "")


def _markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(map(tables.markdown_text, row)) + " |" for row in rows]
    return [lines[0], "|:--" + "|--:" * (len(rows[0]) - 1) + "|", *lines[1:]]
