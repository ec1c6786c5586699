"""What do the edit task's quantities show where nothing was edited?

The source clips of the real edits are given back re-encoded, quieter, with faint noise, late, or shorter,
as if a system had been told to add a dog. What the embedded listener then says of lost and added sounds is
its own error, and the measure to hold real edits against.

    python benchmarks/edit_floor.py FOLDER_OF_EDITS
"""

import argparse
import csv
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile

import earwitness
from earwitness import audio
from earwitness.report.build import Options

COLUMNS = ("others_kept", "order_kept", "targets_appeared", "lsd_db", "level_change_db")


def faint_noise(samples: audio.Samples, rate_hz: int) -> audio.Samples:
    level = 0.01 * np.sqrt(np.mean(np.square(samples)))
    return samples + level * np.random.default_rng(0).standard_normal(samples.shape)


def late(samples: audio.Samples, rate_hz: int) -> audio.Samples:
    shift = rate_hz // 10
    return np.pad(samples, ((0, 0), (shift, 0)))[:, : samples.shape[1]]


CHANGES: dict[str, Callable[[audio.Samples, int], audio.Samples]] = {
    "as Ogg Vorbis": lambda samples, rate_hz: samples,
    "6 dB quieter": lambda samples, rate_hz: samples / 2,
    "noise 40 dB below": faint_noise,
    "0.1 s later": late,
    "last 0.5 s cut": lambda samples, rate_hz: samples[:, : -rate_hz // 2],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    edits = parser.parse_args().folder
    with (edits / "metadata.csv").open(encoding="utf-8", newline="") as file:
        sources = {row["sample_id"]: edits / row["source_audio"] for row in csv.DictReader(file)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rows = []
        for number, (sample_id, source) in enumerate(sources.items()):
            clip = audio.read(source)
            for name, change in CHANGES.items():
                kind = ("ogg", "OGG", "VORBIS") if "Ogg" in name else ("wav", "WAV", "PCM_24")
                path = folder / f"{name} {number}.{kind[0]}"
                changed = np.clip(change(clip.samples, clip.rate_hz), -1, 1)
                soundfile.write(path, changed.T, clip.rate_hz, format=kind[1], subtype=kind[2])
                rows.append({"system": name, "sample_id": sample_id, "source_audio": str(source),
                             "edited_audio": str(path), "instruction": "Add a dog barking"})  # fmt: skip
        manifest = folder / "edits.jsonl"
        manifest.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        shown = Options(spectrograms=0, draws=100)
        result = earwitness.judge("edit", manifest, run=folder / "run", options=shown)
    print(f"{len(sources)} clips".ljust(20), *(name.rjust(16) for name in COLUMNS))
    for row in result.summary.rows:
        values = (row.metrics[name].value for name in COLUMNS)
        print(row.system.ljust(20), *(("--" if v is None else f"{v:.3f}").rjust(16) for v in values))


if __name__ == "__main__":
    main()
