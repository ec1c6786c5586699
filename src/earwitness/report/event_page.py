"""The page of event tables: every clip with its truth, what each system said of it, and why it counts so.

Conventions
-----------
``index.html`` and ``page/`` are those of report.page: the same style, scripts, player and pictures, and the
same promises (opens from disk, no network, clips are linked and never copied, everything shown is text). A
card is a clip; the clips stand worst first, by errors (substitutions, misses, false alarms) by system that
heard them. Verdicts are those of report.event_verdicts.

``index.html`` says what made it (:data:`GENERATOR`). It is written first and removed last, so that a page
that was not finished is known as ours, too; what stands in its place otherwise is somebody else's.

A sound that does not last as long as the clip is no sound of it: picture and lanes would not fit.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from earwitness import audio
from earwitness.errors import UnusableAudio
from earwitness.events import EPSILON_S, Event, EventTable
from earwitness.files import write_text
from earwitness.report import event_tables, event_words
from earwitness.report import page as parts
from earwitness.report.event_tables import INDEX
from earwitness.report.event_verdicts import (
    COUNTED,
    FALSE_ALARM,
    HIT,
    MISS,
    SUBSTITUTION,
    Judged,
    Verdict,
    judged,
    offset_allowed_s,
)
from earwitness.scores.event_metrics import Rule
from earwitness.tasks.event_files import BEYOND_S
from earwitness.tasks.event_result import EventScores
from earwitness.tasks.event_scores import Heard, SystemScores
from earwitness.tasks.rows import NOT_APPLICABLE, UNHEARD

_ASSETS = ("page.css", "events.css", "card.js", "events.js", "page.js")
_CLIPS, _PICTURES = "clips.js", "spectrograms"
GENERATOR = '<meta name="generator" content="earwitness events">'
_GENERATOR_BYTES = 4096  # it stands in the head, before anything of the result
_UNFINISHED = (
    f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n{GENERATOR}\n<title>Not finished</title>\n'
    "<p>This page was not finished. Run the command again.</p>\n</html>\n"
)
_WORDS = {HIT: "hit", SUBSTITUTION: "substitution", MISS: "missed", FALSE_ALARM: "false alarm"}
_COUNTS = (
    ("hits", "Hits", "true events that were found"),
    ("substitutions", "Substituted", "true events that were taken for another class"),
    ("deletions", "Missed", "true events that are neither found nor substituted"),
    ("insertions", "False alarms", "estimated events that are neither hit nor substitution"),
)


def write(
    folder: Path,
    scores: EventScores,
    truth: Mapping[str, EventTable],
    heard: Sequence[Heard],
    sounds: Mapping[str, Path],
    most: int = 100,
) -> Path:
    """Write the page and return the path of its ``index.html``.

    Args:
        folder: ``index.html`` and ``page/`` in it are replaced.
        truth: Clip -> its true events, under the names that count.
        heard: What the systems of ``scores`` said, in their order.
        sounds: Clip -> its file, where it is known.
        most: Clips on the page, the worst ones.
    """
    ranked = worst_first(list(truth), scores.systems)
    shown = ranked[:most]
    rule = scores.settings.rule
    found = [judged(truth, said, one, rule, shown) for said, one in zip(heard, scores.systems, strict=True)]
    write_text(folder / INDEX, _UNFINISHED)
    parts.write_assets(folder, _ASSETS)
    pictures = parts.Pictures(folder / "page" / _PICTURES)
    run = {
        "systems": [],
        "verdicts": [
            ("errors", "With errors", "bad"),
            ("clean", "Without errors", "good"),
            (NOT_APPLICABLE, "Not applicable", "plain"),
            (UNHEARD, "Unheard", "unheard"),
        ],
        "columns": [],
        "measures": {},
        "strata": [],
        "collarS": rule.onset_collar_s,
    }
    left_out = 0
    with parts.writing(folder / "page" / _CLIPS) as out:
        out.write(f"earwitness.run = {parts.script_json(run)};\nearwitness.clips = [\n")
        for number, clip in enumerate(shown, 1):
            said = [
                _system_data(one, clip, each.get(clip), rule)
                for one, each in zip(scores.systems, found, strict=True)
            ]
            sound = _sound_data(folder, truth[clip].duration_s, sounds.get(clip), pictures)
            left_out += bool(sound["noSound"])
            out.write(parts.script_json(_clip_data(number, clip, truth[clip], said, sound, rule)) + ",\n")
        out.write("];\n")
    pictures.tidy()
    with parts.writing(folder / INDEX) as out:
        out.write(parts.template("events.html").render(_view(scores, shown, sounds, left_out)))
    return folder / INDEX


def foreign(folder: Path) -> list[Path]:
    """What stands where a page is written, would be lost, and is not of one."""
    index, page = folder / INDEX, folder / "page"
    if _is_own(index):
        return []
    taken = _files(page) or [one for one in (page, page / _PICTURES) if one.is_file()]
    return [*[index] * index.exists(), *[page] * bool(taken)]


def remove(folder: Path) -> None:
    """Remove the page of a result if there is one, and no file that is not of it."""
    index, page = folder / INDEX, folder / "page"
    if not _is_own(index):
        return
    for one in _files(page):
        one.unlink()
    for emptied in (page / _PICTURES, page):
        if emptied.is_dir() and not any(emptied.iterdir()):
            emptied.rmdir()
    index.unlink()


def _files(page: Path) -> list[Path]:
    """The files in ``page/`` that are called as a page's are."""
    named = [page / name for name in (*_ASSETS, _CLIPS)]
    pictures = [one for one in (page / _PICTURES).glob("*.png") if parts.DRAWN.fullmatch(one.name)]
    return [one for one in (*named, *pictures) if one.is_file()]


def _is_own(index: Path) -> bool:
    if not index.is_file():
        return False
    with index.open("rb") as file:
        return GENERATOR.encode() in file.read(_GENERATOR_BYTES)


def worst_first(clips: Sequence[str], systems: Sequence[SystemScores]) -> list[str]:
    """Clips by their errors, the mean of the systems that heard them; those that nobody heard come last."""

    def errors(clip: str) -> float:
        counts = [one.by_clip[clip] for one in systems if clip in one.by_clip]
        wrong = [sum(each[f"event_{name}"] for name, *_ in _COUNTS[1:]) for each in counts]
        return sum(wrong) / len(wrong) if wrong else -1.0

    return sorted(clips, key=lambda clip: (-errors(clip), clip))


def _view(
    scores: EventScores, shown: Sequence[str], sounds: Mapping[str, Path], left_out: int
) -> dict[str, Any]:
    first, *others = event_tables.sheets(scores)
    rest = scores.clips - len(shown)
    silent = sum(clip not in sounds for clip in shown)
    limits = []
    if rest:
        limits.append(
            f"The {len(shown):,} clips with most errors of {scores.clips:,} are on this page; {rest:,} are "
            "not (--page N shows more). clips.csv has the counts of all."
        )
    if silent:
        limits.append(
            f"The sound of {silent:,} of the {len(shown):,} clips is not known: no file of that "
            "name lies where events were read."
        )
    if left_out:
        limits.append(
            f"The sound of {left_out:,} of the {len(shown):,} clips is left out, as it cannot be read or "
            "does not last as long as the clip; the cards say why."
        )
    settings = scores.settings
    return {
        "title": "Events against the truth",
        "generator": Markup(GENERATOR),
        "truth": scores.truth,
        "caption": event_words.caption(scores, "below the values"),
        "figures": [
            (f"{len(scores.systems):,}", "system" if len(scores.systems) == 1 else "systems"),
            (f"{scores.clips:,}", "clip" if scores.clips == 1 else "clips"),
            (f"{len(scores.classes):,}", "class" if len(scores.classes) == 1 else "classes"),
            (f"{scores.duration_s:,.0f} s", "of sound"),
        ],
        "first": first,
        "others": others,
        "counts": _COUNTS,
        "systems": [one.whole.counts for one in scores.systems],
        "sentences": event_words.sentences(scores),
        "notes": event_words.notes(scores),
        "limits": limits,
        "collar": f"{settings.rule.onset_collar_s:g}",
        "offsets": settings.rule.offset,
        "facts": {"command": scores.command, "version": scores.version, "seed": settings.seed,
                  "draws": settings.draws},
    }  # fmt: skip


# --- a clip ---------------------------------------------------------------------------------------


def _clip_data(
    number: int,
    clip: str,
    truth: EventTable,
    said: Sequence[Mapping[str, Any]],
    sound: Mapping[str, Any],
    rule: Rule,
) -> dict[str, Any]:
    """A card as card.js takes it, and beside it what events.js adds."""
    wrong = [sum(one["counts"][1:]) for one in said if one["counts"]]
    labels = [event.label for event in truth]
    labels += [bar["label"] for one in said for bar in one["bars"]]
    return {
        **dict.fromkeys(("system", "reversed", "kind", "reason", "detail", "stratum"), ""),
        **{name: [] for name in ("texts", "asked")},
        "warnings": [f"No sound: {sound['noSound']}."] if sound["noSound"] else [],
        "id": number,
        "sample": clip,
        "caption": clip,
        "source": None,
        "sound": sound,
        "values": {},
        "tags": list(dict.fromkeys(labels)),
        "verdict": "errors" if any(wrong) else "clean" if wrong else UNHEARD,
        "scored": bool(wrong),
        "errors": sum(wrong),
        "truth": [
            {
                "label": event.label,
                "from": round(event.onset_s, 3),
                "to": round(event.offset_s, 3),
                "offsetCollar": round(offset_allowed_s(event, rule), 3) if rule.offset else None,
                "tip": f"true: {_placed(event)}",
            }
            for event in truth
        ],
        "heard": said,
    }


def _sound_data(folder: Path, seconds: float, path: Path | None, pictures: parts.Pictures) -> dict[str, Any]:
    """The sound of a clip that lasts ``seconds``; or why its file is not that."""
    nothing = {**dict.fromkeys(("file", "src", "picture", "noPicture", "noSound"), ""),
               "seconds": seconds, "heard": []}  # fmt: skip
    if path is None:
        return nothing
    relative = os.path.relpath(os.path.abspath(path), os.path.abspath(folder))
    try:
        clip = audio.read(path)
    except UnusableAudio as fault:
        return nothing | {"noSound": f"{relative}: {fault.detail}"}
    if abs(clip.duration_s - seconds) > BEYOND_S:
        lengths = f"{relative} lasts {clip.duration_s:.2f} s, but the clip {seconds:.2f} s"
        return nothing | {"noSound": lengths}
    picture = f"page/{_PICTURES}/{pictures.draw(clip)}"
    return nothing | {"file": relative, "src": parts.address(relative), "picture": picture}


def _system_data(scores: SystemScores, clip: str, judged: Judged | None, rule: Rule) -> dict[str, Any]:
    """A lane; without a hearing of the clip it says why."""
    if judged is None:
        return {
            "system": scores.system,
            "unheard": scores.left_out[clip],
            "counts": [],
            "bars": [],
            "left": [],
        }
    counts = judged.counts()
    return {
        "system": scores.system,
        "unheard": "",
        "counts": [counts[name] for name in COUNTED.values()],
        "bars": [_bar(verdict, rule) for verdict in judged.verdicts],
        "left": [
            {**_times(event), "tip": f"{_placed(event)}, {_sure(event)}outside the classes, not counted"}
            for event in judged.left_out
        ],
    }


def _bar(verdict: Verdict, rule: Rule) -> dict[str, Any]:
    event = verdict.event
    said = " + ".join(label for label in verdict.labels if label != event.label)
    why = why_so(verdict, rule)
    return {
        **_times(event),
        "kind": verdict.kind,
        "of": verdict.other.label if verdict.other and verdict.kind == SUBSTITUTION else "",
        "onsetOut": verdict.onset_out,
        "offsetOut": verdict.offset_out,
        "word": _WORDS[verdict.kind],
        "why": why,
        "tip": f"{_WORDS[verdict.kind]}: {_placed(event)}"
        + (f", heard as {said}" if said else "")
        + (f", {_sure(event)}" if event.confidence is not None else ", ").removesuffix(", ")
        + (f"; {why}" if why else ""),
    }


def _times(event: Event) -> dict[str, Any]:
    return {"label": event.label, "from": round(event.onset_s, 3), "to": round(event.offset_s, 3)}


def _placed(event: Event) -> str:
    return f"{event.label} {event.onset_s:.2f} to {event.offset_s:.2f} s"


def _sure(event: Event) -> str:
    return "" if event.confidence is None else f"confidence {event.confidence:.2f}, "


def why_so(verdict: Verdict, rule: Rule) -> str:
    """What an event was held against, in words; empty if nothing is near it."""
    event, other = verdict.event, verdict.other
    if other is None:
        return f"another event was already matched to this {event.label}" if verdict.again else ""
    found, true = (other, event) if verdict.kind == MISS else (event, other)
    onset = f"onset {_late(found.onset_s - true.onset_s)}"
    offset = f"offset {_late(found.offset_s - true.offset_s)}"
    if verdict.kind in (HIT, SUBSTITUTION):
        told = f"{onset}, {offset}"
        return told if verdict.kind == HIT else f"the true event is {_placed(true)}; {told}"
    if verdict.onset_out:
        onset += f" (more than {rule.onset_collar_s:g} s)"
    if verdict.offset_out:
        offset += f" (more than {offset_allowed_s(true, rule):.2g} s)"
    side = "heard" if verdict.kind == MISS else "true"
    return f"{side} from {other.onset_s:.2f} to {other.offset_s:.2f} s: {onset}, {offset}"


def _late(error_s: float) -> str:
    if abs(error_s) < max(EPSILON_S, 0.0005):
        return "exact"
    return f"{abs(error_s):.2f} s {'late' if error_s > 0 else 'early'}"
