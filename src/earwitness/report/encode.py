"""Clips in the forms that browsers play, for sending to others.

Conventions
-----------
Rate and channels stay as they are. FLAC and WAV hold the samples on a grid of 16 bits, or 24 where 16 are
not enough; samples beyond full scale are cut to it. Ogg Vorbis and MP3 hold what can be heard. The same
samples give the same bytes.
"""

import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from earwitness import audio
from earwitness.audio import Clip
from earwitness.errors import EarwitnessError

_CODECS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "ogg": (
        "OGG",
        "VORBIS",
        {"compression_level": 0.3},
    ),  # on real clips at most 0.12 dB off, a third of FLAC
    "mp3": ("MP3", "MPEG_LAYER_III", {}),
    "flac": ("FLAC", "PCM_16", {}),
    "wav": ("WAV", "PCM_16", {}),
}
FORMATS = tuple(_CODECS)
LOSSLESS = ("flac", "wav")
_BLOCK = 1 << 16  # frames: the Vorbis encoder takes much stack for one large block


class NotEncoded(EarwitnessError):
    """A clip that the form cannot hold; the message says why."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """What became of a clip.

    Attributes:
        longer_s: Length as decoded again less the clip's, in seconds.
        louder_db: RMS level as decoded again less the clip's, in dB; 0 for silence.
    """

    longer_s: float
    louder_db: float


def encode(path: Path, clip: Clip, form: str) -> Encoded:
    """Write a clip as one of :data:`FORMATS` and compare it with what can be decoded again.

    Raises:
        NotEncoded: If the form does not take the clip's rate or number of channels.
    """
    container, subtype, options = _CODECS[form]
    samples = clip.samples
    if form in LOSSLESS:
        samples = np.clip(samples, -1.0, 1.0 - 2.0**-23)
        on_grid = samples * 2.0**15
        if not np.array_equal(on_grid, np.rint(on_grid)):
            subtype = "PCM_24"
    rate_hz, channels = clip.rate_hz, samples.shape[0]
    try:
        with soundfile.SoundFile(
            os.fspath(path), "w", rate_hz, channels, subtype, format=container, **options
        ) as out:
            for start in range(0, samples.shape[1], _BLOCK):
                out.write(samples[:, start : start + _BLOCK].T)
    except soundfile.SoundFileError as fault:
        path.unlink(missing_ok=True)
        raise NotEncoded(f"{form} does not take {channels} channels at {rate_hz} Hz") from fault
    if form == "ogg":
        path.write_bytes(_with_serial(path.read_bytes(), int(clip.pcm_hash[:8], 16)))
    heard, before = audio.read(path), audio.level_dbfs(clip.samples)
    after = audio.level_dbfs(heard.samples)
    louder_db = 0.0 if before is None or after is None else after - before
    return Encoded(heard.duration_s - clip.duration_s, louder_db)


_MIRRORED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def _with_serial(ogg: bytes, serial: int) -> bytes:
    """The Ogg stream under another serial number (RFC 3533): encoders draw one by the clock.

    Every page has a checksum over itself. It is the CRC-32 of zlib with all bits mirrored, starting from 0.
    """
    data, at = bytearray(ogg), 0
    while at < len(data):
        segments = data[at + 26]
        end = at + 27 + segments + sum(data[at + 27 : at + 27 + segments])
        data[at + 14 : at + 18] = serial.to_bytes(4, "little")
        data[at + 22 : at + 26] = bytes(4)
        crc = zlib.crc32(data[at:end].translate(_MIRRORED), 0xFFFFFFFF) ^ 0xFFFFFFFF
        data[at + 22 : at + 26] = int(f"{crc:032b}"[::-1], 2).to_bytes(4, "little")
        at = end
    return bytes(data)
