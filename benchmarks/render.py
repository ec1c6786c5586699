"""Rendering and writing scenes against Scaper 1.6.5 and against plain numpy: CPU seconds, all in one run.

    OMP_NUM_THREADS=1 python benchmarks/render.py --scaper VENV/bin/python [--n 200]

Scaper has an environment of its own (it needs numpy below 2, and sox)::

    apt-get install sox libsox-dev g++
    python3.11 -m venv VENV
    VENV/bin/pip install wheel 'setuptools<80' 'numpy<2'
    VENV/bin/pip install scaper==1.6.5 'numpy<2'

Scenes: 10 s at 16 kHz, two sounds over a quiet noise, 16-bit files. Both sides get the same files and the
same source times, onsets, lengths and levels above the noise (LUFS), all of them drawn here. Every sound is
another piece of its file, whose loudness both sides measure. Scaper measures the noise in every scene, our
side once, as it does with any piece; what it takes to measure it every time is printed too. Scaper writes
JAMS and text beside the audio, our side its scene file. Its fades are quarters of a sine after the
measurement, ours straight ones before it, and its weighting filters are not quite the standard's: how far
the mixes are apart is printed.
Limits: Scaper takes at least 5 times as long; we take at most 2 times as long as numpy sums with
soundfile.write of the same scenes, levels and decoded sounds given to both.
"""

import argparse
import json
import resource
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from numpy.typing import NDArray

from earwitness import audio
from earwitness.scenes import levels, placing, render, scene, slices, synth
from earwitness.scenes.bank import Bank, decoded
from earwitness.scenes.scene import Placed, Scene
from earwitness.scenes.slices import Slice

Samples = NDArray[np.float32]

PEER = Path(__file__).with_name("scaper_peer.py")
RATE_HZ, SECONDS, FADE_S = 16_000, 10.0, 0.01
REFERENCE_LUFS = -60.0
SNR_DB = (10.0, 25.0)
SOUND_S, LENGTH_S = 6.0, (1.0, 4.0)
PER_CLASS = 3
ROUNDS = 3
UNDER = "quiet"


def cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def cost_s(job: Callable[[], object]) -> float:
    began = cpu_s()
    job()
    return cpu_s() - began


# --- what both sides are asked for --------------------------------------------------------------------


def write_sounds(folder: Path) -> None:
    """Built-in sounds with a little noise, so that no piece is silent, and a noise as long as a scene."""
    rng = np.random.default_rng(0)
    for label in synth.CLASSES:
        (folder / "foreground" / label).mkdir(parents=True)
        for number in range(PER_CLASS):
            sound = synth.render(label, number, SOUND_S)
            sound = (sound + rng.normal(0, 0.002, len(sound))).astype(np.float32)
            audio.write_wav(folder / "foreground" / label / f"{number}.wav", sound[np.newaxis], RATE_HZ)
    (folder / "background" / UNDER).mkdir(parents=True)
    noise = rng.normal(0, 0.02, (1, round(SECONDS * RATE_HZ))).astype(np.float32)
    audio.write_wav(folder / "background" / UNDER / "noise.wav", noise, RATE_HZ)


def asked(folder: Path, n: int) -> dict[str, Any]:
    """What scaper_peer.py reads. Times are a quarter of a sample late, for both sides cut them to samples."""
    rng = np.random.default_rng(1)
    drawn = []
    for _ in range(n):
        events = []
        for label in rng.choice(list(synth.CLASSES), 2, replace=False):
            path = folder / "foreground" / str(label) / f"{rng.integers(PER_CLASS)}.wav"
            length = rng.uniform(*LENGTH_S)
            times = (rng.uniform(0, SOUND_S - length), rng.uniform(0, SECONDS - length - 0.01), length)
            on_grid = [(int(t * RATE_HZ) + 0.25) / RATE_HZ for t in times]
            events.append([str(label), str(path), *on_grid, round(rng.uniform(*SNR_DB), 2)])
        under = [UNDER, str(folder / "background" / UNDER / "noise.wav")]
        drawn.append({"events": events, "under": under})
    return {
        "foreground": str(folder / "foreground"),
        "background": str(folder / "background"),
        "rate_hz": RATE_HZ,
        "duration_s": SECONDS,
        "reference_db": REFERENCE_LUFS,
        "scenes": drawn,
    }


# --- our side -------------------------------------------------------------------------------------------


class Ours:
    """From what is asked to files: levels measured, scene settled, rendered, written with its scene file."""

    def __init__(self, folder: Path) -> None:
        self.bank = Bank.open(folder / "foreground").joined(Bank.open(folder / "background"))
        self.by_path = {str(s.path): s for label in self.bank.sources for s in self.bank.of(label)}
        self.pieces: dict[tuple[str, int, int], Slice] = {}

    def cut(self, path: str, start: int, length: int, fade: int) -> Slice:
        """A piece with its level, which is measured when the piece is first used."""
        key = (path, start, length)
        if key not in self.pieces:
            source = self.by_path[path]
            sound = decoded(source, RATE_HZ)
            piece = sound.samples[start : start + length]
            level_lufs = levels.level_db(piece * slices.ramps(length, fade), RATE_HZ, "lufs")
            pause = slices.longest_pause(piece)
            self.pieces[key] = Slice(source, sound.pcm_hash, start, length, level_lufs, fade, pause)
        return self.pieces[key]

    def placed(
        self, label: str, path: str, times_s: Sequence[float], target_lufs: float, fade: int
    ) -> Placed:
        start, onset, length = (int(t * RATE_HZ) for t in times_s)
        piece = self.cut(path, start, length, fade)
        return placing.placed(label, piece, onset, target_lufs - piece.level_db)

    def scene(self, name: str, one: Mapping[str, Any]) -> Scene:
        events = tuple(
            self.placed(label, path, times, REFERENCE_LUFS + snr_db, round(FADE_S * RATE_HZ))
            for label, path, *times, snr_db in one["events"]
        )
        under = self.placed(*one["under"], (0.0, 0.0, SECONDS), REFERENCE_LUFS, 0)
        samples = round(SECONDS * RATE_HZ)
        drawn = Scene(name, "order", RATE_HZ, samples, "lufs", 0.0, events, "", 0, ambience=under)
        return render.settled(drawn, self.bank)

    def write_sound(self, out: Path, made: Scene) -> None:
        audio.write_wav(out / f"{made.scene_id}.wav", render.mix(made, self.bank)[np.newaxis], RATE_HZ)


def plain(out: Path, made: Scene, sounds: Mapping[str, Samples]) -> None:
    """The same scene with nothing but numpy and soundfile."""
    mix = np.zeros(made.samples, np.float32)
    for one in made.sounds:
        piece = sounds[one.source][one.start : one.start + one.length].copy()
        if one.fade:
            rise = np.linspace(0, 1, one.fade, dtype=np.float32)
            piece[: one.fade] *= rise
            piece[-one.fade :] *= rise[::-1]
        mix[one.onset : one.end] += piece * np.float32(10 ** (one.gain_db / 20))
    mix *= np.float32(10 ** (made.gain_db / 20))
    soundfile.write(out / f"{made.scene_id}.wav", mix, made.rate_hz, subtype="PCM_16")


# --- the runs -------------------------------------------------------------------------------------------


def scaper(python: str, folder: Path, mode: str) -> float:
    """CPU seconds of all scenes as Scaper makes them, its start left out."""
    command = [python, str(PEER), str(folder / "asked.json"), str(folder / mode), mode]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"Scaper failed:\n{ran.stderr}")
    return float(ran.stdout)


def compare(one: Path, other: Path, names: Sequence[str]) -> str:
    """How far two folders of the same scenes are apart."""
    correlations, differences_db = [], []
    for name in names:
        a, b = (soundfile.read(folder / f"{name}.wav", dtype="float64")[0] for folder in (one, other))
        correlations.append(float(a @ b / np.sqrt((a @ a) * (b @ b))))
        differences_db.append(float(10 * np.log10((a @ a) / (b @ b))))
    furthest = max(differences_db, key=abs)
    return (
        f"correlation of the mixes at least {min(correlations):.6f}, "
        f"levels {np.mean(differences_db):+.3f} dB apart on average, {furthest:+.3f} dB at most"
    )


def verdict(ratio: float, limit: float, *, least: bool) -> str:
    met = ratio >= limit if least else ratio <= limit
    return f"{ratio:.2f} (limit {limit:g}): {'met' if met else 'MISSED'}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scaper", metavar="PYTHON", help="of Scaper's environment; left out without it")
    parser.add_argument("--n", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        run(Path(name), given.n, given.scaper)


def run(folder: Path, n: int, python: str | None) -> None:
    write_sounds(folder)
    wanted = asked(folder, n)
    (folder / "asked.json").write_text(json.dumps(wanted))
    out, bare, simple = folder / "ours", folder / "bare", folder / "plain"
    for each in (out, bare, simple):
        each.mkdir()
    names = [f"{number:05d}" for number in range(n)]
    Ours(folder).write_sound(out, Ours(folder).scene("warm", wanted["scenes"][0]))

    ours = Ours(folder)
    scenes: list[Scene] = []

    def whole(again: bool) -> None:
        scenes.clear()
        ours.pieces.clear()
        for path in ours.by_path:
            Path(path).touch()  # so that it is decoded again
        for each, one in zip(names, wanted["scenes"], strict=True):
            if again:
                ours.pieces.clear()
            scenes.append(ours.scene(each, one))
            ours.write_sound(out, scenes[-1])
            scene.write(out / f"{each}.json", scenes[-1])

    ways: dict[str, Callable[[], float]] = {
        "ours: decoding, levels, rendering, scene file": lambda: cost_s(lambda: whole(again=False)),
        "ours, the noise measured in every scene": lambda: cost_s(lambda: whole(again=True)),
    }
    if python:
        ways["Scaper with JAMS and text"] = lambda: scaper(python, folder, "jams")
        ways["Scaper with text alone"] = lambda: scaper(python, folder, "txt")
    rounds = [{what: job() for what, job in ways.items()} for _ in range(ROUNDS)]
    least = {what: min(one[what] for one in rounds) for what in ways}
    print(f"{n} scenes of {SECONDS:g} s at {RATE_HZ} Hz, CPU ms a scene, least of {ROUNDS} rounds")
    for what, spent_s in least.items():
        print(f"{what}: {1000 * spent_s / n:.2f}")
    if python:
        ours_s, again_s, *theirs = least.values()
        for what, theirs_s in zip(("with JAMS and text", "with text alone"), theirs, strict=True):
            print(f"  Scaper {what} over ours: {verdict(theirs_s / ours_s, 5, least=True)}")
            print(f"  the same, the noise measured in every scene: {theirs_s / again_s:.2f}")
        print(f"  ours against Scaper: {compare(out, folder / 'jams', names)}")
    clips = (decoded(source, RATE_HZ) for source in ours.by_path.values())
    sounds = {clip.pcm_hash: clip.samples for clip in clips}

    def rendered() -> None:
        for made in scenes:
            ours.write_sound(bare, made)

    def added() -> None:
        for made in scenes:
            plain(simple, made, sounds)

    bare_s, plain_s = (min(cost_s(job) for _ in range(ROUNDS)) for job in (rendered, added))
    print(f"render.mix and write_wav: {1000 * bare_s / n:.2f}; numpy and soundfile: {1000 * plain_s / n:.2f}")
    print(f"  ours over numpy: {verdict(bare_s / plain_s, 2, least=False)}")
    print(f"  ours against numpy: {compare(bare, simple, names)}")


if __name__ == "__main__":
    main()
