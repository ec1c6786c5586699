"""The listening page of a run: every clip beside what was asked, what was heard and the verdict.

Conventions
-----------
``index.html`` opens from disk: it needs no server, no network and nothing outside the run folder but
the clips, which it names by relative address and never copies. Beside it, ``page/`` holds the style,
two scripts, ``clips.js`` (one line a clip) and ``spectrograms/`` (named by the clip's PCM hash, so that
unchanged sound is not drawn twice). The same run gives the same bytes. What a task's verdicts are called,
and whether they are good or bad, comes from its measures.

Everything shown is text: the template escapes it, the scripts set it as text only, and the page's own
policy forbids inline and foreign scripts, styles, pictures and sound.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from earwitness import audio
from earwitness.errors import UnusableAudio
from earwitness.report import spectrogram, tables
from earwitness.report.files import whole
from earwitness.tasks.rows import (
    LOW_COVERAGE,
    NOT_APPLICABLE,
    SCORED,
    UNHEARD,
    ItemRow,
    Metric,
    MetricSpec,
    Source,
    Summary,
    SystemRow,
)

_ASSETS = ("page.css", "card.js", "page.js")
_LISTED = 12  # comparisons of a metric shown before the rest folds away
_PLOT_WIDTH, _PLOT_MARGIN = 150, 6  # pixels of the interval plot


def write_page(
    folder: Path,
    summary: Summary,
    items: Iterable[ItemRow],
    *,
    title: str,
    facts: Mapping[str, Any],
    spectrograms: int = 500,
    names: Mapping[str, str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write the listening page of a run and return the path of its ``index.html``.

    Args:
        folder: The run folder; ``index.html`` and ``page/`` in it are replaced.
        items: Every item of the run, in the order they are to be listed; drawn once, never held.
        title: Heading of the page.
        facts: What else a reader should know (version, seed, command), by name; ``date`` is shown in
            the header. Names and values are shown as they are.
        spectrograms: Most items to draw, an edit with its source counting once; when there are more, each
            system gets an even share, its first items. The page says how many were drawn.
        names: Display name by system; a system without one keeps its own.
        progress: Called after every item with the number done and the number in all.
    """
    names = names or {}
    _write_assets(folder, _ASSETS)
    pictures = _Pictures(folder / "page" / "spectrograms")
    total = sum(row.n for row in summary.rows)
    shares = _shares({row.system: row.n for row in summary.rows}, spectrograms)
    done = drawn = 0
    asks = edits = False
    with _writing(folder / "page" / "clips.js") as out:
        out.write(f"earwitness.run = {_script_json(_run_data(summary, names))};\nearwitness.clips = [\n")
        for done, item in enumerate(items, 1):
            picture = pictures.of if shares.get(item.system, 0) > 0 else _not_drawn
            data = _clip_data(folder, item, picture)
            if data["sound"]["picture"] or (data["source"] and data["source"]["picture"]):
                shares[item.system] -= 1
                drawn += 1
            asks |= bool(item.asked)
            edits |= item.source is not None
            out.write(_script_json(data) + ",\n")
            if progress:
                progress(done, total)
        out.write("];\n")
    pictures.tidy()

    view = _view(summary, title=title, facts=facts, names=names)
    view["drawn"] = "" if spectrograms >= total else _drawn_words(drawn, done)
    view |= {"asks": asks, "edits": edits}
    index = folder / "index.html"
    with _writing(index) as out:
        out.write(_template("page.html").render(view))
    return index


def write_overview(
    folder: Path,
    *,
    title: str,
    runs: Sequence[tuple[str, Summary]],
    agreement: Sequence[Sequence[str]] = (),
    notes: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
) -> Path:
    """Write the page above the runs of several listeners and return the path of its ``index.html``.

    It links to every run's own page and shows the key metric of every system by listener.

    Args:
        folder: Folder above the runs; ``index.html`` and ``page/`` in it are replaced.
        runs: The folder of each run, relative to ``folder``, and its summary; all of one task. The systems
            stand in the order of the first run's ranking.
        agreement: A table as it is to be shown, its heads first; none if empty.
        notes: Sentences below the tables.
        names: Display name by system.
    """
    names = names or {}
    _write_assets(folder, _ASSETS[:1])
    systems = dict.fromkeys(row.system for _, summary in runs for row in tables.ranked(summary))
    by_listener = [{row.system: row for row in summary.rows} for _, summary in runs]
    keys = [tables.key_spec(summary) for _, summary in runs]
    index = folder / "index.html"
    with _writing(index) as out:
        view = {
            "title": title,
            "task": runs[0][1].task if runs else "",
            "runs": [
                {"listener": summary.listener, "address": f"{_address(run)}/index.html", "key": key}
                for (run, summary), key in zip(runs, keys, strict=True)
            ],
            "systems": [
                {
                    "name": names.get(system, system),
                    "cells": [
                        _overview_cell(rows.get(system), key)
                        for rows, key in zip(by_listener, keys, strict=True)
                    ],
                }
                for system in systems
            ],
            "agreement": agreement,
            "notes": notes,
        }
        out.write(_template("overview.html").render(view))
    return index


def _overview_cell(row: SystemRow | None, key: MetricSpec) -> dict[str, Any]:
    if row is None:
        return _metric_view(Metric(None), key) | {"coverage": "", "low": False}
    shown = _metric_view(row.metrics[key.name], key)
    return shown | {"coverage": _percent(row.coverage), "low": tables.low_coverage(row)}


# --- the clips ------------------------------------------------------------------------------------


def _clip_data(folder: Path, item: ItemRow, picture: "_Picture") -> dict[str, Any]:
    """What the page knows of one clip. Short keys: there may be tens of thousands."""
    answers = {label: index for index, asked in enumerate(item.asked) for label in asked.labels}

    def sound(clip: ItemRow | Source) -> dict[str, Any]:
        relative = os.path.relpath(clip.audio, os.path.abspath(folder))
        drawn, not_drawn = picture(Path(clip.audio))
        return {
            "file": relative,
            "src": _address(relative),
            "seconds": clip.duration_s,
            "heard": [  # the last is the index of the asked sound that the event answers
                [e.label, round(e.onset_s, 3), round(e.offset_s, 3), e.confidence, answers.get(e.label)]
                for e in clip.heard
            ],
            "picture": f"page/spectrograms/{drawn}" if drawn else "",
            "noPicture": not_drawn,
        }

    return {
        "id": item.item_id,
        "system": item.system,
        "sample": item.sample_id,
        "caption": item.caption,
        "reversed": item.reversed_caption,
        "texts": list(item.texts.items()),
        "tags": list(item.tags),
        "verdict": item.verdict,
        "scored": item.status == SCORED,
        "kind": item.error_kind,
        "reason": item.reason,
        "detail": item.detail,
        "values": dict(item.values),
        "asked": [[asked.phrase, asked.place] for asked in item.asked],
        "sound": sound(item),
        "source": sound(item.source) if item.source else None,
        "warnings": list(item.warnings),
    }


def _address(relative: str) -> str:
    """A relative path as a relative URL. Bytes are encoded, so names that are no valid text work too."""
    return "/".join(quote(os.fsencode(part), safe="") for part in relative.split(os.sep))


_Picture = Callable[[Path], tuple[str, str]]
"""A sound file -> the file name of its spectrogram; or "" and why there is none."""


def _not_drawn(path: Path) -> tuple[str, str]:
    return "", "not drawn for this clip"


class _Pictures:
    """The folder of spectrograms: each drawn unless it is there, those no longer needed cleared away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Path, tuple[str, str]] = {}  # a source is met once for every system
        folder.mkdir(parents=True, exist_ok=True)

    def of(self, path: Path) -> tuple[str, str]:
        """See :data:`_Picture`."""
        if path not in self._known:
            self._known[path] = self._draw(path)
        return self._known[path]

    def _draw(self, path: Path) -> tuple[str, str]:
        try:
            clip = audio.read(path)
        except UnusableAudio as fault:
            return "", fault.detail
        name = f"{clip.pcm_hash[:16]}.png"
        if not (self._folder / name).exists():
            spectrogram.draw(self._folder / name, audio.mono(clip, spectrogram.RATE_HZ))
        return name, ""

    def tidy(self) -> None:
        wanted = {name for name, _ in self._known.values()}
        for old in self._folder.glob("*.png"):
            if old.name not in wanted:
                old.unlink()


def _shares(sizes: Mapping[str, int], limit: int) -> dict[str, int]:
    """Split ``limit`` evenly over systems; what a small system cannot use goes to the larger ones."""
    shares = {}
    for waiting, (system, size) in zip(
        range(len(sizes), 0, -1), sorted(sizes.items(), key=lambda pair: pair[1]), strict=True
    ):
        shares[system] = min(size, -(-limit // waiting))
        limit -= shares[system]
    return shares


def _drawn_words(drawn: int, of: int) -> str:
    if drawn == 0:
        return "No spectrograms were drawn."
    return f"Spectrograms were drawn for {drawn:,} of {of:,} clips: the first of each system."


# --- the run --------------------------------------------------------------------------------------


def _run_data(summary: Summary, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "systems": [[row.system, names.get(row.system, row.system)] for row in summary.rows],
        "verdicts": _verdicts(summary),
        "columns": [spec.name for spec in summary.specs if spec.name in summary.measures.columns],
        "measures": {
            spec.name: {
                "title": spec.title,
                "meaning": spec.meaning,
                "decimals": spec.decimals,
                "percent": spec.percent,
            }
            for spec in summary.specs
        },
    }


def _verdicts(summary: Summary) -> list[tuple[str, str, str]]:
    """Name, title and tone of every verdict.

    Of an ordered list the first is good, the last bad and what lies between fair. Where more of the key
    metric is neither better nor worse, no verdict is: the first is merely marked.
    """
    titles = list(summary.measures.verdicts.items())
    middle = ["fair"] * (len(titles) - 2)
    judged = tables.key_spec(summary).better != 0
    tones = ["good", *middle, "bad"] if judged else ["marked", *["plain"] * (len(titles) - 1)]
    return [
        *((name, title, tone) for (name, title), tone in zip(titles, tones, strict=False)),
        (NOT_APPLICABLE, "Not applicable", "plain"),
        (UNHEARD, "Unheard", "unheard"),
    ]


def _view(
    summary: Summary, *, title: str, facts: Mapping[str, Any], names: Mapping[str, str]
) -> dict[str, Any]:
    """What the template shows, in words; it decides nothing itself."""
    key, columns = tables.key_spec(summary), summary.measures.columns
    others = [
        spec
        for spec in summary.specs
        if spec is not key and any(row.metrics[spec.name].value is not None for row in summary.rows)
    ]
    others.sort(key=lambda spec: columns.index(spec.name) if spec.name in columns else len(columns))
    counted = {kind for row in summary.rows for kind, count in row.errors.items() if count}
    kinds = [kind for kind in summary.measures.kinds if kind in counted]
    ends = _ends(key, [row.metrics[key.name] for row in summary.rows])
    shown = tables.ranked(summary)
    return {
        "title": title,
        "task": summary.task,
        "listener": summary.listener,
        "date": facts.get("date"),
        "facts": {name: _words(value) for name, value in facts.items() if name != "date"},
        "figures": _figures(summary),
        "key": key,
        "others": others,
        "others_open": any(spec.name in columns for spec in others),
        "kinds": [(kind, summary.measures.kinds[kind]) for kind in kinds],
        "plot": {"width": _PLOT_WIDTH, "ticks": _ticks(key, ends)},
        "systems": [_system_view(row, key, others, kinds, ends, names) for row in shown],
        "bounded": any(row.metrics[key.name].worst is not None for row in shown),
        "comparisons": _comparisons(summary, names),
        "listed": _LISTED,
        "notes": summary.notes,
    }


def _comparisons(summary: Summary, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """The pairs of systems by metric: those told apart, those that are not, and how many lack clusters."""
    groups = []
    for spec, pairs in tables.comparisons(summary):
        compared = [pair for pair in pairs if pair.difference is not None]
        sentences = {pair: tables.sentence(pair, spec, names) for pair in compared}
        groups.append(
            {
                "spec": spec,
                "pairs": len(compared),
                "won": sorted(text for pair, text in sentences.items() if pair.winner),
                "open": sorted(text for pair, text in sentences.items() if not pair.winner),
                "apart": len(pairs) - len(compared),
            }
        )
    return groups


def _figures(summary: Summary) -> list[tuple[str, str, bool]]:
    """The counts of the whole run, for the header: value, name, whether to mark it as low."""
    n, scored, unheard, not_applicable = (
        sum(getattr(row, name) for row in summary.rows)
        for name in ("n", "scored", "unheard", "not_applicable")
    )
    coverage = scored / (n - not_applicable) if n > not_applicable else None
    return [
        (f"{len(summary.rows):,}", "system" if len(summary.rows) == 1 else "systems", False),
        (f"{n:,}", "clip" if n == 1 else "clips", False),
        (f"{scored:,}", "scored", False),
        (f"{unheard:,}", "unheard", False),
        (f"{not_applicable:,}", "not applicable", False),
        (_percent(coverage), "coverage", _is_low(coverage)),
    ]


def _system_view(
    row: SystemRow,
    key: MetricSpec,
    others: list[MetricSpec],
    kinds: list[str],
    ends: tuple[float, float],
    names: Mapping[str, str],
) -> dict[str, Any]:
    address = "#system=" + quote(row.system, safe="", errors="replace")
    metric = row.metrics[key.name]
    reasons = sorted(row.unheard_reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "row": row,
        "name": names.get(row.system, row.system),
        "address": address,
        "key": _metric_view(metric, key) | {"plot": _plot(metric, ends)},
        "others": [_metric_view(row.metrics[spec.name], spec) for spec in others],
        "coverage": {"text": _percent(row.coverage), "low": _is_low(row.coverage)},
        "kinds": [(kind, row.errors.get(kind, 0)) for kind in kinds],
        "reasons": ", ".join(f"{reason.replace('_', ' ')} {count:,}" for reason, count in reasons),
    }


def _metric_view(metric: Metric, spec: MetricSpec) -> dict[str, Any]:
    interval = ""
    if metric.low is not None and metric.high is not None:
        interval = f"{_text(metric.low, spec)} to {_text(metric.high, spec)}"
    return {"value": metric.value, "text": _text(metric.value, spec), "interval": interval, "n": metric.n}


def _ends(key: MetricSpec, metrics: list[Metric]) -> tuple[float, float]:
    """The ends of the plots' common scale: the metric's own, else those of what is shown."""
    if key.scale:
        return key.scale
    shown = [
        number
        for metric in metrics
        for number in (metric.value, metric.low, metric.high, metric.worst, metric.best)
        if number is not None
    ]
    return min(shown, default=0.0), max(shown, default=1.0)


def _across(value: float, ends: tuple[float, float]) -> float:
    span = (ends[1] - ends[0]) or 1.0
    return round(_PLOT_MARGIN + (value - ends[0]) / span * (_PLOT_WIDTH - 2 * _PLOT_MARGIN), 2)


def _plot(metric: Metric, ends: tuple[float, float]) -> dict[str, float]:
    """Positions in pixels of the marks that are defined, by name."""
    names = ("value", "low", "high", "worst", "best")
    return {name: _across(number, ends) for name in names if (number := getattr(metric, name)) is not None}


def _ticks(key: MetricSpec, ends: tuple[float, float]) -> list[tuple[float, str]]:
    values = (ends[0], (ends[0] + ends[1]) / 2, ends[1])
    scale, sign = (100, " %") if key.percent else (1, "")
    return [(_across(value, ends), f"{value * scale:.3g}{sign}") for value in dict.fromkeys(values)]


def _text(value: float | None, spec: MetricSpec) -> str:
    return "–" if value is None else tables.number(value, spec)


def _percent(share: float | None) -> str:
    """Whole per cent, rounded down: 99.6 % covered is not all of it."""
    return "–" if share is None else f"{int(share * 100 + 1e-9)} %"


def _is_low(coverage: float | None) -> bool:
    return coverage is not None and coverage < LOW_COVERAGE


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_words(inner)}" for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_words(inner) for inner in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else str(value)


# --- files ----------------------------------------------------------------------------------------


def _write_assets(folder: Path, names: Iterable[str]) -> None:
    (folder / "page").mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / "page" / name).write_bytes((files("earwitness.report") / "templates" / name).read_bytes())


def _template(name: str) -> Any:
    shelf = PackageLoader("earwitness.report", "templates")
    environment = Environment(
        loader=shelf, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(name)


def _script_json(data: Any) -> str:
    """Strict JSON that is safe inside a script: ASCII only, no character that HTML could read."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@contextmanager
def _writing(path: Path) -> Iterator[IO[str]]:
    with whole(path) as part, part.open("w", encoding="utf-8", errors="replace", newline="\n") as out:
        yield out
