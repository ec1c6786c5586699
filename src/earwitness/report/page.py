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
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from earwitness import audio
from earwitness.errors import UnusableAudio
from earwitness.files import whole
from earwitness.report import spectrogram, tables
from earwitness.report.page_view import metric_view, percent, run_data, view
from earwitness.tasks.rows import SCORED, ItemRow, Metric, MetricSpec, Source, Summary, SystemRow

_ASSETS = ("page.css", "card.js", "page.js")


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
    write_assets(folder, _ASSETS)
    pictures = Pictures(folder / "page" / "spectrograms")
    total = sum(row.n for row in summary.rows)
    listed = {row.system: row.n for row in summary.rows if row.system not in summary.measures.unlisted}
    shares = _shares(listed, spectrograms)
    done = drawn = 0
    asks = edits = False
    with writing(folder / "page" / "clips.js") as out:
        out.write(f"earwitness.run = {script_json(run_data(summary, names))};\nearwitness.clips = [\n")
        for done, item in enumerate(items, 1):
            if item.system not in summary.measures.unlisted:
                picture = pictures.of if shares.get(item.system, 0) > 0 else _not_drawn
                data = _clip_data(folder, item, picture)
                if data["sound"]["picture"] or (data["source"] and data["source"]["picture"]):
                    shares[item.system] -= 1
                    drawn += 1
                asks |= bool(item.asked)
                edits |= item.source is not None
                out.write(script_json(data) + ",\n")
            if progress:
                progress(done, total)
        out.write("];\n")
    pictures.tidy()

    shown = view(summary, title=title, facts=facts, names=names)
    shown["drawn"] = "" if spectrograms >= sum(listed.values()) else _drawn_words(drawn, sum(listed.values()))
    shown |= {"asks": asks, "edits": edits}
    index = folder / "index.html"
    with writing(index) as out:
        out.write(template("page.html").render(shown))
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
    write_assets(folder, _ASSETS[:1])
    systems = dict.fromkeys(row.system for _, summary in runs for row in tables.ranked(summary))
    by_listener = [{row.system: row for row in summary.rows} for _, summary in runs]
    keys = [tables.key_spec(summary) for _, summary in runs]
    leaders = [tables.leader(summary, key) for (_, summary), key in zip(runs, keys, strict=True)]
    marks = dict.fromkeys(mark for _, summary in runs for mark in summary.marks)
    index = folder / "index.html"
    with writing(index) as out:
        shown = {
            "title": title,
            "task": runs[0][1].task if runs else "",
            "runs": [
                {"listener": summary.listener, "address": f"{address(run)}/index.html", "key": key}
                for (run, summary), key in zip(runs, keys, strict=True)
            ],
            "systems": [
                {
                    "name": names.get(system, system),
                    "cells": [
                        _overview_cell(summary, rows.get(system), key, bold=system == leader)
                        for (_, summary), rows, key, leader in zip(
                            runs, by_listener, keys, leaders, strict=True
                        )
                    ],
                }
                for system in systems
            ],
            "marks": [f"{mark.sign} {mark.meaning}" for mark in marks],
            "bold": tables.BOLD_NOTE if any(leaders) else "",
            "agreement": agreement,
            "notes": notes,
        }
        out.write(template("overview.html").render(shown))
    return index


def _overview_cell(summary: Summary, row: SystemRow | None, key: MetricSpec, *, bold: bool) -> dict[str, Any]:
    if row is None:
        return metric_view(Metric(None), key) | {"coverage": "", "low": False, "signs": ""}
    shown = metric_view(row.metrics[key.name], key, bold=bold)
    low = tables.low_coverage(row)
    return shown | {"coverage": percent(row.coverage), "low": low, "signs": tables.signs(summary, row)}


# --- the clips ------------------------------------------------------------------------------------


def _clip_data(folder: Path, item: ItemRow, picture: "_Picture") -> dict[str, Any]:
    """What the page knows of one clip. Short keys: there may be tens of thousands."""
    answers = {label: index for index, asked in enumerate(item.asked) for label in asked.labels}

    def sound(clip: ItemRow | Source) -> dict[str, Any]:
        relative = os.path.relpath(clip.audio, os.path.abspath(folder))
        drawn, not_drawn = picture(Path(clip.audio))
        return {
            "file": relative,
            "src": address(relative),
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
        # those at single thresholds are in the means
        "values": {name: value for name, value in item.values.items() if "@" not in name},
        "asked": [[asked.phrase, asked.place] for asked in item.asked],
        "sound": sound(item),
        "source": sound(item.source) if item.source else None,
        "warnings": list(item.warnings),
        "stratum": item.stratum,
    }


def address(relative: str) -> str:
    """A relative path as a relative URL. Bytes are encoded, so names that are no valid text work too."""
    return "/".join(quote(os.fsencode(part), safe="") for part in relative.split(os.sep))


_Picture = Callable[[Path], tuple[str, str]]
"""A sound file -> the file name of its spectrogram; or "" and why there is none."""


def _not_drawn(path: Path) -> tuple[str, str]:
    return "", "not drawn for this clip"


DRAWN = re.compile(r"[0-9a-f]{16}\.png")
"""What files of spectrograms are called; any other file in their folder is somebody else's."""


class Pictures:
    """The folder of spectrograms: each drawn unless it is there, those no longer needed cleared away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Path, tuple[str, str]] = {}  # a source is met once for every system
        self._wanted: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)

    def of(self, path: Path) -> tuple[str, str]:
        """See :data:`_Picture`."""
        if path not in self._known:
            try:
                self._known[path] = self.draw(audio.read(path)), ""
            except UnusableAudio as fault:
                self._known[path] = "", fault.detail
        return self._known[path]

    def draw(self, clip: audio.Clip) -> str:
        """The file name of a clip's spectrogram."""
        name = f"{clip.pcm_hash[:16]}.png"
        self._wanted.add(name)
        if not (self._folder / name).exists():
            spectrogram.draw(self._folder / name, audio.mono(clip, spectrogram.RATE_HZ))
        return name

    def tidy(self) -> None:
        """Delete the spectrograms that are no longer needed, and no other file."""
        for old in self._folder.glob("*.png"):
            if DRAWN.fullmatch(old.name) and old.name not in self._wanted:
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


# --- files ----------------------------------------------------------------------------------------


def write_assets(folder: Path, names: Iterable[str]) -> None:
    (folder / "page").mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / "page" / name).write_bytes((files("earwitness.report") / "templates" / name).read_bytes())


def template(name: str) -> Any:
    shelf = PackageLoader("earwitness.report", "templates")
    environment = Environment(
        loader=shelf, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(name)


def script_json(data: Any) -> str:
    """Strict JSON that is safe inside a script: ASCII only, no character that HTML could read."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@contextmanager
def writing(path: Path) -> Iterator[IO[str]]:
    with whole(path) as part, part.open("w", encoding="utf-8", errors="replace", newline="\n") as out:
        yield out
