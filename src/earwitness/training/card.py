"""The card of a trained detector: as data, and as text for people."""

import platform
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from earwitness.backbones.base import Timed
from earwitness.listeners.trained_model import (
    SOUND_DIGITS,
    BackboneCard,
    ClassCard,
    Model,
    sealed,
    sha256,
)
from earwitness.manifest.plain import markdown_text
from earwitness.scenes.bank import Source
from earwitness.scenes.card import licence_class
from earwitness.scenes.recordings import wholes
from earwitness.scenes.slices import Slice
from earwitness.training import tuning
from earwitness.training.detector import Detector, Measured, Settings
from earwitness.training.sides import HELD_OUT, Sides
from earwitness.training.targets import CELL_S, HOP_S


def where(of: Sides) -> str:
    """What it is measured on, and whether that can be known to be other recordings."""
    if of.split != HELD_OUT:
        return "the recordings it was trained on, in other mixtures (split shared, the easier setting)"
    if not of.known.unknown:
        return "recordings it was not trained on (split held-out)"
    alike, tested = of.alike
    doubt = "pieces of one may have been trained on"
    if alike:
        doubt = (
            f"{alike:,} of the {tested:,} tested on look by their names like pieces of ones it was trained "
            "on, so this is probably too good"
        )
    return (
        f"clips it was not trained on (split held-out; recordings are not known for {of.known.unknown:,} of "
        f"{of.known.clips:,} clips: {doubt})"
    )


_PACKAGES = ("earwitness", "numpy", "scipy", "soundfile", "soxr", "torch")


def model(detector: Detector, backbone: Timed, settings: Settings, command: str, name: str = "") -> Model:
    """A detector as its folder holds it.

    Args:
        name: What it is called in tables, see :func:`.trained_model.called`; empty for nothing of its own.
    """
    measured = detector.measured
    classes = tuple(
        ClassCard(
            name=name,
            label=detector.labels[name],
            threshold=float(threshold),
            before=measured.before[name],
            after=measured.after[name],
        )
        for name, threshold in zip(detector.sides.classes, detector.thresholds, strict=True)
    )
    made: dict[str, Any] = {
        **({"name": name} if name else {}),
        "command": _without_folders(command),
        "split": detector.sides.split,
        "recipe": asdict(settings),
        "epochs": [round(value, 4) for value in detector.history],
        "epoch_kept": detector.epoch,
        "mean_average_precision": {
            name: {"value": one.value, "low": one.low, "high": one.high}
            for name, one in measured.mean.items()
        },
        "compared_classes": list(measured.compared),
        "counted_classes": list(measured.counted),
        "before_averaged_s": measured.before_s,
        "linear_layer": dict(measured.linear),
        "overlap_f1": dict(measured.events.by_class),
        "recordings": detector.sides.recordings(),
        "fitted_to": _fitted(detector),
        "shared_by_rule": dict(detector.sides.shared),
        "without_held": sorted(detector.sides.unheld),
        "notes": list(detector.sides.notes),
        "licences": _licences(detector),
        "seconds": dict(detector.seconds),
        "software": {name: version(name) for name in _PACKAGES} | {"python": platform.python_version()},
    }
    return Model(
        sealed(
            format="earwitness-detector",
            version=2,
            backbone=BackboneCard(name=backbone.name, version=backbone.version, rate_hz=backbone.rate_hz),
            hop_s=HOP_S,
            classes=classes,
            rules=tuning.as_data(detector.rules),
            weights_sha256=sha256(detector.weights.to_bytes()),
            measured=sentence(detector, settings),
            made=made,
        ),
        detector.weights,
    )


def sentence(detector: Detector, settings: Settings) -> str:
    """What it reached, with the conditions."""
    measured, events = detector.measured, detector.measured.events
    mean = measured.mean["counted"]
    said = (
        f"on {settings.test:,} mixtures of one to {settings.mixing.most} sounds from "
        f"{where(detector.sides)}, {len(measured.counted)} classes, its frame mAP (cells of "
        f"{CELL_S:g} s) was {mean.value:.2f} ({mean.low:.2f} to {mean.high:.2f} over mixtures)"
    )
    if measured.compared:
        before, after = measured.mean["before"].value, measured.mean["after"].value
        said += (
            f"; over the {len(measured.compared)} that the plain backbone has a label for, {after:.2f} "
            f"against {before:.2f}"
        )
    said += (
        f"; of its events of these {len(measured.counted)} classes {events.precision:.0%} were right, and "
        f"{events.recall:.0%} of those in the mixtures were heard"
    )
    if events.onset_error_s is not None:
        said += f", the median onset error {events.onset_error_s:.2f} s"
    if sides := detector.sides.shared:
        said += f"; sounds of {len(sides)} more were in these mixtures, but share recordings and do not count"
    return said + "."


def caution(measured: Measured) -> str:
    """That training brought nothing on the test mixtures; empty if it did, or if that cannot be told."""
    if not measured.compared or measured.mean["after"].value > measured.mean["before"].value:
        return ""
    before, after = (f"{measured.mean[name].value:.2f}" for name in ("before", "after"))
    return (
        f"CAUTION: trained, it does no better ({after}) than its plain backbone ({before}): more mixtures "
        "(--scenes) or more recordings help, or the backbone's own listener."
    )


def _without_folders(command: str) -> str:
    """A command with the names of files and folders alone: where they lie is nobody else's concern."""
    words = []
    for word in shlex.split(command):
        option, equals, value = word.rpartition("=") if word.startswith("--") else ("", "", word)
        words.append(option + equals + (value.rstrip("/").rpartition("/")[2] or value))
    return shlex.join(words)


def readme(of: Model, detector: Detector, settings: Settings) -> str:
    """The card in markdown."""
    card, sides, measured = of.card, detector.sides, detector.measured
    lines = [
        f"# A detector of {len(card.classes)} sounds on {card.backbone.name}",
        "",
        f"Made by earwitness {card.made['software']['earwitness']}"  # type: ignore[index,call-overload]
        f" with {markdown_text(str(card.made['command']))}. Use it with `--listener` and this folder's path.",
        "",
        "## What it reached",
        "",
        f"Measured {card.measured}",
        "",
        "AP over frames; *before* is the plain backbone, the greatest of the class's AudioSet labels, "
        f"{_seen(measured.before_s)}; *linear* is a linear layer on the same features. A class without "
        "a label has no *before*. Overlap F1 is of events with the thresholds of `model.json`: one that is "
        "heard is right if it overlaps one that is there by half of the shorter.",
        "",
        "| class | said as | recordings: train, held, test | before | linear | after | overlap F1 |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in sides.classes:
        counts = ", ".join(str(len(pools[name])) for pools in (sides.train, sides.held, sides.test))
        columns = [measured.before[name], measured.linear[name], measured.after[name]]
        columns.append(measured.events.by_class.get(name))
        values = ["" if value is None else f"{value:.2f}" for value in columns]
        mark = " *" if name in sides.shared else ""
        row = [markdown_text(name) + mark, markdown_text(detector.labels[name]), counts, *values]
        lines.append(f"| {' | '.join(row)} |")
    for name, title in (
        ("before", "before"),
        ("linear", "linear"),
        ("after", "after"),
        ("counted", "after, all counted classes"),
    ):
        if name in measured.mean:
            one = measured.mean[name]
            over = len(measured.counted if name == "counted" else measured.compared)
            lines.append(
                f"\nMean {title}, {over} classes: **{one.value:.3f}** ({one.low:.3f} to {one.high:.3f})."
            )
    if told := caution(measured):
        lines += ["", told]
    if sides.shared:
        lines += ["", "\\* In no mean, and in no count of events that were right or heard; see below."]
    if sides.notes:
        lines += ["", "## What the bank lacks", "", *(f"- {markdown_text(note)}" for note in sides.notes)]
    lines += [
        "",
        "## What it was trained on",
        "",
        f"{settings.scenes:,} mixtures of {sum(_licences(detector).values()):,} clips, by kind of licence "
        "as their bank states it (no legal advice):",
        "",
        *(f"- {markdown_text(kind)}: {count:,}" for kind, count in _licences(detector).items()),
        "",
        "No sound is in this folder, but its numbers were fitted to these clips. Do not pass it on unless "
        "the licences of all of them allow that; clips whose licence is unverified do not say so.",
        "",
        "## Limits",
        "",
        f"- It knows its {len(card.classes)} classes alone: every sound is one of them to it, or nothing.",
        f"- It was trained on mixtures of {settings.mixing.duration_s:g} s with up to {settings.mixing.most} "
        "sounds; elsewhere it was not measured.",
        "- Thresholds favour hearing a sound over hearing none too many (F of events with recall weighed "
        f"{tuning.BETA:g} times), so what it says beyond what is asked for is often wrong.",
        "- Confidence orders the events of a class; it is no probability.",
        "- The backbone saw labels of whole clips alone, the head saw cells of half a second: times are "
        "weak. Onsets come from the rise in level near where a class appears.",
        "- A backbone sees a second or more at a time; a clip that is shorter is padded with silence.",
    ]
    return "\n".join(lines) + "\n"


def _seen(before_s: float) -> str:
    where = f"averaged over the {before_s:g} s that the head sees" if before_s else "at the middle of a cell"
    return f"{where} (what is better on these mixtures)"


def _fitted(detector: Detector) -> dict[str, Any]:
    """What weights or thresholds were fitted to, as :class:`.trained_model.Fitted` reads it."""
    found = [piece for recordings in _fitting(detector) for of in recordings.values() for piece in of]
    sources = {piece.source for piece in found}
    return {
        "sounds": sorted({piece.pcm_hash[:SOUND_DIGITS] for piece in found}),
        "recordings": sorted({one.recording_id for one in sources if one.recording_known}),
        "unknown": sum(not one.recording_known for one in sources),
        "pieces": sorted(wholes(sources)),
    }


def _fitting(detector: Detector) -> Iterator[Mapping[str, tuple[Slice, ...]]]:
    """The recordings, class by class, that weights or thresholds were fitted to."""
    for pools in (detector.sides.train, detector.sides.held):
        yield from pools.values()


def _licences(detector: Detector) -> Mapping[str, int]:
    """Kind of licence -> clips that weights or thresholds were fitted to, the most frequent first."""
    used: set[Source] = set()
    for recordings in _fitting(detector):
        used |= {piece.source for of in recordings.values() for piece in of}
    return dict(Counter(map(licence_class, sorted(used, key=lambda one: one.name))).most_common())
