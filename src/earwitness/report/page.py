"""The listening page of a run: every clip beside what was asked, what was heard and the verdict.

Conventions
-----------
``index.html`` opens from disk: it needs no server, no network and nothing outside the run folder but
the clips, which it names by relative address and never copies. Beside it, ``page/`` holds the style,
two scripts, ``clips.js`` (one line a clip) and ``spectrograms/`` (named by the clip's PCM hash, so that
unchanged sound is not drawn twice). The same run gives the same bytes.

Everything shown is text: the template escapes it, the scripts set it as text only, and the page's own
policy forbids inline and foreign scripts, styles, pictures and sound.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from earwitness import audio
from earwitness.errors import UnusableAudio
from earwitness.report import spectrogram, tables
from earwitness.tasks.rows import LOW_COVERAGE, ItemRow, Metric, MetricSpec, Summary, SystemRow

_ASSETS = ("page.css", "card.js", "page.js")
_LISTED = 12  # comparisons shown before the rest folds away
_PLOT_WIDTH, _PLOT_MARGIN = 150, 6  # pixels of the interval plot


def write_page(
    folder: Path,
    summary: Summary,
    items: Iterable[ItemRow],
    *,
    title: str,
    facts: Mapping[str, Any],
    spectrograms: int = 500,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write the listening page of a run and return the path of its ``index.html``.

    Args:
        folder: The run folder; ``index.html`` and ``page/`` in it are replaced.
        items: Every item of the run, in the order they are to be listed; drawn once, never held.
        title: Heading of the page.
        facts: What else a reader should know (version, seed, command), by name; ``date`` is shown in
            the header. Names and values are shown as they are.
        spectrograms: Most clips to draw; when there are more, each system gets an even share, its
            first clips. The page says how many were drawn.
        progress: Called after every item with the number done and the number in all.
    """
    pictures = folder / "page" / "spectrograms"
    pictures.mkdir(parents=True, exist_ok=True)
    for name in _ASSETS:
        (folder / "page" / name).write_bytes((files("earwitness.report") / "templates" / name).read_bytes())

    total = sum(row.n for row in summary.rows)
    shares = _shares({row.system: row.n for row in summary.rows}, spectrograms)
    drawn: set[str] = set()
    done = clips_drawn = 0
    with _replacing(folder / "page" / "clips.js") as out:
        out.write(f"earwitness.run = {_script_json(_run_data(summary))};\nearwitness.clips = [\n")
        for done, item in enumerate(items, 1):
            picture, no_picture = "", "not drawn for this clip"
            if shares.get(item.system, 0) > 0:
                picture, no_picture = _picture(pictures, item)
            if picture:
                drawn.add(picture)
                shares[item.system] -= 1
                clips_drawn += 1
            out.write(_script_json(_clip_data(folder, item, picture, no_picture)) + ",\n")
            if progress:
                progress(done, total)
        out.write("];\n")
    for old in pictures.glob("*.png"):
        if old.name not in drawn:
            old.unlink()

    view = _view(summary, title=title, facts=facts)
    view["drawn"] = "" if spectrograms >= total else _drawn_words(clips_drawn, done)
    index = folder / "index.html"
    with _replacing(index) as out:
        out.write(_template().render(view))
    return index


# --- the clips ------------------------------------------------------------------------------------


def _clip_data(folder: Path, item: ItemRow, picture: str, no_picture: str) -> dict[str, Any]:
    """What the page knows of one clip. Short keys: there may be tens of thousands."""
    relative = os.path.relpath(item.audio, os.path.abspath(folder))
    answers = {label: index for index, asked in enumerate(item.asked) for label in asked.labels}
    return {
        "id": item.item_id,
        "system": item.system,
        "sample": item.sample_id,
        "caption": item.caption,
        "reversed": item.reversed_caption,
        "file": relative,
        "src": _address(relative),
        "seconds": item.duration_s,
        "verdict": item.verdict,
        "kind": item.error_kind,
        "reason": item.reason,
        "detail": item.detail,
        "values": dict(item.values),
        "asked": [[asked.phrase, asked.place] for asked in item.asked],
        "heard": [  # the last is the index of the asked sound that the event answers
            [e.label, round(e.onset_s, 3), round(e.offset_s, 3), e.confidence, answers.get(e.label)]
            for e in item.heard
        ],
        "warnings": list(item.warnings),
        "picture": f"page/spectrograms/{picture}" if picture else "",
        "noPicture": no_picture,
    }


def _address(relative: str) -> str:
    """A relative path as a relative URL. Bytes are encoded, so names that are no valid text work too."""
    return "/".join(quote(os.fsencode(part), safe="") for part in relative.split(os.sep))


def _picture(pictures: Path, item: ItemRow) -> tuple[str, str]:
    """File name of the clip's spectrogram, drawn unless it is there; or "" and why there is none."""
    try:
        clip = audio.read(Path(item.audio))
    except UnusableAudio as fault:
        return "", fault.detail
    name = f"{clip.pcm_hash[:16]}.png"
    if not (pictures / name).exists():
        spectrogram.draw(pictures / name, audio.mono(clip, spectrogram.RATE_HZ))
    return name, ""


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


def _run_data(summary: Summary) -> dict[str, Any]:
    measures = {spec.name: {"title": spec.title, "meaning": spec.meaning} for spec in summary.specs}
    return {"systems": [row.system for row in summary.rows], "measures": measures}


def _view(summary: Summary, *, title: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the template shows, in words; it decides nothing itself."""
    key = tables.key_spec(summary)
    others = [
        spec
        for spec in summary.specs
        if spec is not key and any(row.metrics[spec.name].value is not None for row in summary.rows)
    ]
    counted = {kind for row in summary.rows for kind, count in row.errors.items() if count}
    kinds = [kind for kind in summary.measures.kinds if kind in counted]
    ends = _ends([row.metrics[key.name] for row in summary.rows])
    # Pairs that are told apart come first.
    compared = [one for one in summary.comparisons if one.difference is not None]
    comparisons = sorted(
        (not one.winner, tables.sentence(one, tables.spec_of(summary, one.metric))) for one in compared
    )
    return {
        "title": title,
        "task": summary.task,
        "listener": summary.listener,
        "date": facts.get("date"),
        "facts": {name: _words(value) for name, value in facts.items() if name != "date"},
        "figures": _figures(summary),
        "key": key,
        "others": others,
        "kinds": [(kind, summary.measures.kinds[kind]) for kind in kinds],
        "plot": {"width": _PLOT_WIDTH, "ticks": _ticks(key, ends)},
        "systems": [_system_view(row, key, others, kinds, ends) for row in tables.ranked(summary)],
        "apart": len(summary.comparisons) - len(compared),
        "told_apart": sum(1 for one in summary.comparisons if one.winner),
        "comparisons": comparisons,
        "listed": _LISTED,
        "notes": summary.notes,
    }


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
    row: SystemRow, key: MetricSpec, others: list[MetricSpec], kinds: list[str], ends: tuple[float, float]
) -> dict[str, Any]:
    address = "#system=" + quote(row.system, safe="", errors="replace")
    metric = row.metrics[key.name]
    reasons = sorted(row.unheard_reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "row": row,
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


def _ends(metrics: list[Metric]) -> tuple[float, float]:
    """The ends of the plots' common scale: 0 to 1 when everything lies there."""
    shown = [
        number
        for metric in metrics
        for number in (metric.value, metric.low, metric.high, metric.worst, metric.best)
        if number is not None
    ]
    low, high = min(shown, default=0.0), max(shown, default=1.0)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)


def _across(value: float, ends: tuple[float, float]) -> float:
    span = (ends[1] - ends[0]) or 1.0
    return round(_PLOT_MARGIN + (value - ends[0]) / span * (_PLOT_WIDTH - 2 * _PLOT_MARGIN), 2)


def _plot(metric: Metric, ends: tuple[float, float]) -> dict[str, float]:
    """Positions in pixels of the marks that are defined, by name."""
    names = ("value", "low", "high", "worst", "best")
    return {name: _across(number, ends) for name in names if (number := getattr(metric, name)) is not None}


def _ticks(key: MetricSpec, ends: tuple[float, float]) -> list[tuple[float, str]]:
    values = (ends[0], (ends[0] + ends[1]) / 2, ends[1])
    digits = 0 if key.percent else 1
    scale, sign = (100, " %") if key.percent else (1, "")
    return [(_across(value, ends), f"{value * scale:.{digits}f}{sign}") for value in values]


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


def _template() -> Any:
    shelf = PackageLoader("earwitness.report", "templates")
    environment = Environment(
        loader=shelf, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html")


def _script_json(data: Any) -> str:
    """Strict JSON that is safe inside a script: ASCII only, no character that HTML could read."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@contextmanager
def _replacing(path: Path) -> Iterator[IO[str]]:
    """Write beside ``path`` and put it in place when complete, so that nobody opens half a page."""
    unfinished = path.with_name(path.name + ".part")
    with unfinished.open("w", encoding="utf-8", errors="replace", newline="\n") as out:
        yield out
    os.replace(unfinished, path)
