"""Scaper's part of render.py, run by the Python of its own environment; it needs nothing of earwitness.

    python scaper_peer.py ASKED.json OUT MODE

ASKED.json is what render.py writes: the folders of sounds, rate, length, reference level and scenes. MODE is
``jams`` (audio, JAMS and text, as Scaper is used) or ``txt`` (no JAMS). Prints the CPU seconds of all scenes.
Scaper writes 32-bit files; here it is made to write 16-bit ones, as the other side does.
"""

import json
import resource
import sys
import warnings
from pathlib import Path

import scaper
import soundfile

write = soundfile.write


def write_16_bit(path, samples, rate_hz, subtype):
    write(path, samples, rate_hz, subtype="PCM_16")


def cpu_s():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def generate(asked, scene, target, jams):
    made = scaper.Scaper(asked["duration_s"], asked["foreground"], asked["background"], random_state=0)
    made.sr, made.n_channels, made.ref_db = asked["rate_hz"], 1, asked["reference_db"]
    if scene["under"]:
        label, path = scene["under"]
        made.add_background(("const", label), ("const", path), ("const", 0))
    for label, path, source_s, onset_s, length_s, snr_db in scene["events"]:
        made.add_event(
            label=("const", label),
            source_file=("const", path),
            source_time=("const", source_s),
            event_time=("const", onset_s),
            event_duration=("const", length_s),
            snr=("const", snr_db),
            pitch_shift=None,
            time_stretch=None,
        )
    made.generate(
        f"{target}.wav", f"{target}.jams" if jams else None, txt_path=f"{target}.txt", fix_clipping=False
    )


def main():
    asked, out, mode = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]), sys.argv[3]
    out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("error", scaper.core.ScaperWarning)  # nothing moved, nothing clipped
    scaper.core.soundfile.write = write_16_bit
    generate(asked, asked["scenes"][0], out / "warm", mode == "jams")
    began = cpu_s()
    for number, scene in enumerate(asked["scenes"]):
        generate(asked, scene, out / f"{number:05d}", mode == "jams")
    print(cpu_s() - began)


if __name__ == "__main__":
    main()
