"""The only door to sound: read, downmix, resample, level facts, PCM hash, write.

Conventions
-----------
Samples are float32 of shape (channels, samples) in [-1, 1] full scale; rates are Hz; levels are
dBFS (0 dBFS = a full-scale square wave), so silence has no level (None), never -inf.
A clip lasts decoded samples / rate. What its header says is used only to notice that sound is missing.
"""

import hashlib
import io
import math
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from earwitness.errors import UnusableAudio

Samples = NDArray[np.float32]

MIN_S = 0.025
"""A shorter clip is ``too_short``: no listener frames anything below 25 ms."""
MAX_S = 7200.0
"""A longer file is ``too_long``: it is no clip, and its samples would not fit in a small machine's memory."""

SILENT = "the clip is silent"
"""A warning: no sample of any channel reaches -80 dBFS."""
CANCELLED = "the channels cancel each other in the mean downmix"
"""A warning: what is heard of the clip in mono is not its sound."""

_SILENT_PEAK = 1e-4  # -80 dBFS: dither and codec residue stay below it, audible sound does not
_NOTHING = 10 ** (-90 / 20)  # 16 bits have one step below it
_NOTHING_S = 0.01
_FULL_SCALE = 0.9999  # just below 32767/32768
CLIPPED_SHARE = 1e-3  # a peak-normalised clip touches full scale a few times; a clipped one stays there
_CANCELLED_DB = 20.0  # n unrelated channels lose only 10 log10(n) dB
_MISSING_SHARE, _MISSING_S = 0.01, 0.1  # how far a header may overstate before the file counts as cut
_PLACEHOLDER_BYTES = 0x7FFF0000  # streams state a data size of 2 or 4 GiB because they cannot know it
_MP3_TAIL_BYTES = 1024  # tags behind the sound
_BLOCK_VALUES = 1 << 12  # the decoder runs ahead by up to a block: keep what that hides below 0.3 s
_PLAIN_BLOCK_VALUES = 1 << 18  # a decoder of plain samples does not run ahead: fewer turns
_PLAIN = ("PCM_", "FLOAT", "DOUBLE")
_BITS = {"PCM_16": 16, "PCM_24": 24}
_WAV_HEAD = "<4sI4s4sIHHIIHH4sI"


@dataclass(frozen=True, slots=True)
class Clip:
    """Decoded sound. It knows nothing of its file, so no listener can see a path or a system's name.

    Attributes:
        samples: (channels, n) float32, finite.
        rate_hz: Rate of the file.
        pcm_hash: See :func:`pcm_hash`.
        warnings: Facts a reader should know (silence, a silent channel, clipping, a header without length).
    """

    samples: Samples
    rate_hz: int
    pcm_hash: str
    warnings: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        return int(self.samples.shape[1]) / self.rate_hz


def read(path: Path) -> Clip:
    """Decode a whole file (wav, flac, ogg vorbis or opus, mp3; any rate, bit depth, channel count).

    Raises:
        UnusableAudio: ``unreadable`` (missing, not permitted, no regular file, not decodable, cut short,
            NaN or infinite samples), ``empty`` (0 bytes or 0 samples), ``too_short`` (under
            :data:`MIN_S`) or ``too_long`` (over :data:`MAX_S`). The detail does not name the path.
    """
    try:
        if not path.exists():
            what = "a link to nothing" if path.is_symlink() else "there is no such file"
            raise UnusableAudio("unreadable", what)
        if not path.is_file():  # a folder, or a pipe that would block for ever
            raise UnusableAudio("unreadable", "not a regular file")
        with path.open("rb", buffering=0) as file:
            samples, rate_hz, warnings = _decode(file)
    except OSError as fault:
        raise UnusableAudio("unreadable", fault.strerror or str(fault)) from fault
    except soundfile.SoundFileError as fault:
        raise UnusableAudio("unreadable", f"not decodable: {_words(fault)}") from fault
    n = samples.shape[1]
    if n == 0:
        raise UnusableAudio("empty", "the file holds no samples")
    if n < MIN_S * rate_hz:
        raise UnusableAudio(
            "too_short", f"{1000 * n / rate_hz:.1f} ms; at least {1000 * MIN_S:g} ms are needed"
        )
    if not np.isfinite(samples).all():
        bad = np.count_nonzero(~np.isfinite(samples))
        raise UnusableAudio("unreadable", f"{bad} of {samples.size} samples are NaN or infinite")
    return Clip(samples, rate_hz, pcm_hash(samples, rate_hz), (*warnings, *_warnings(samples)))


def mono(clip: Clip, rate_hz: int) -> NDArray[np.float32]:
    """The mean of all channels at ``rate_hz`` (soxr, quality HQ; untouched when the rate is the clip's).

    Returns:
        (m,) float32 with m = round(n * rate_hz / clip.rate_hz).
    """
    mixed: NDArray[np.float32] = clip.samples.mean(axis=0)
    if rate_hz == clip.rate_hz:
        return mixed
    resampled = soxr.resample(mixed, clip.rate_hz, rate_hz, quality="HQ")
    out = np.zeros(round(len(mixed) * rate_hz / clip.rate_hz), np.float32)
    n = min(len(out), len(resampled))  # soxr's own length may differ by one
    out[:n] = resampled[:n]
    return out


def write_wav(path: Path, samples: Samples, rate_hz: int, subtype: str = "PCM_16") -> None:
    """Write (channels, n) samples as a wav file; the same samples give the same bytes.

    Samples are rounded to the grid :func:`read` decodes to (k / 2^15 or k / 2^23), so writing what was
    read from such a file changes nothing. +1.0 has no place on that grid and becomes the step below it.

    Args:
        subtype: ``PCM_16`` or ``PCM_24``. (Float files carry the time of writing and are not offered.)

    Raises:
        ValueError: If a sample is not finite or lies outside [-1, 1] (the peak is named: nothing is
            clipped in silence), or the shape or subtype is not one of the above.
    """
    if subtype not in _BITS:
        raise ValueError(f"subtype must be one of {', '.join(_BITS)}, not {subtype!r}")
    if samples.ndim != 2:
        raise ValueError(f"samples must have the shape (channels, n), not {samples.shape}")
    top = peak(samples)
    if not math.isfinite(top):
        raise ValueError("samples must be finite; some are NaN or infinite")
    if top > 1.0:
        raise ValueError(f"peak {top:.4f} would be clipped; lower the gain by {20 * math.log10(top):.2f} dB")
    width = _BITS[subtype] // 8
    steps = 1 << (_BITS[subtype] - 1)
    grid = np.minimum(np.rint(samples.T * samples.dtype.type(steps)), steps - 1)
    data = grid.astype("<i2" if width == 2 else "<i4").tobytes()
    if width == 3:
        data = np.frombuffer(data, np.uint8).reshape(-1, 4)[:, :3].tobytes()
    channels, step = samples.shape[0], samples.shape[0] * width
    head = struct.pack(
        _WAV_HEAD, b"RIFF", 36 + len(data) + len(data) % 2, b"WAVE", b"fmt ", 16, 1, channels, rate_hz,
        rate_hz * step, step, 8 * width, b"data", len(data),
    )  # fmt: skip
    path.write_bytes(head + data + bytes(len(data) % 2))


def peak(samples: NDArray[np.floating[Any]]) -> float:
    """The greatest absolute sample, 0.0 for no samples; NaN if any sample is NaN."""
    return float(np.abs(samples).max(initial=0.0))


def level_dbfs(samples: NDArray[np.floating[Any]]) -> float | None:
    """RMS level over all samples of all channels in dBFS; None for silence or no samples."""
    if samples.size == 0:
        return None
    power = float(np.mean(np.square(samples, dtype=np.float64)))
    return 10 * math.log10(power) if power > 0 else None


def clipped_share(samples: Samples) -> float:
    """Share of all samples at full scale, in [0, 1]; above :data:`CLIPPED_SHARE` the clip counts as clipped.

    Lossy decoders overshoot where the original was clipped, and what exceeds full scale counts too.
    Clipping that was turned down afterwards is not seen.
    """
    return int(np.count_nonzero(np.abs(samples) >= _FULL_SCALE)) / samples.size


def digital_silence(samples: Samples, rate_hz: int) -> float:
    """Share of the time, in [0, 1], in which no sample of any channel reaches -90 dBFS, by blocks of 10 ms.

    No recording is that quiet: such spans were put together, gated, or written as zeros.

    Args:
        samples: (channels, n), n at least 1.
    """
    loudest = np.maximum(samples.max(axis=0), -samples.min(axis=0))
    starts = np.arange(0, len(loudest), max(1, round(_NOTHING_S * rate_hz)))
    lengths = np.diff(starts, append=len(loudest))
    return float(lengths[np.maximum.reduceat(loudest, starts) < _NOTHING].sum() / len(loudest))


def pcm_hash(samples: Samples, rate_hz: int) -> str:
    """sha256 (hex) over the rate, the channel count and the little-endian float32 samples by channel.

    A wav file and a lossless copy of it hash the same; names, tags and containers do not matter.
    """
    digest = hashlib.sha256(f"{rate_hz} Hz, {samples.shape[0]} channels\n".encode())
    digest.update(np.ascontiguousarray(samples, dtype="<f4").data)
    return digest.hexdigest()


def libsndfile_version() -> str:
    """Version of the decoder: lossy files may decode to other samples under another one."""
    return str(soundfile.__libsndfile_version__)


def _decode(file: io.FileIO) -> tuple[Samples, int, tuple[str, ...]]:
    """Samples, rate and warnings of an open file; checks that all the sound its header states is there."""
    size = os.fstat(file.fileno()).st_size
    if size == 0:
        raise UnusableAudio("empty", "the file has 0 bytes")
    wav = _wav_data(file, size)
    with _opened(file, wav) as sound:
        rate_hz, stated = int(sound.samplerate), int(sound.frames)
        known = stated < 2**62  # streams without a length report the greatest integer
        if known and stated > MAX_S * rate_hz:
            raise UnusableAudio("too_long", f"{stated / rate_hz:.0f} s; at most {MAX_S:.0f} s are read")
        if wav is not None and wav.found and not wav.without_length:
            stated = round(stated * max(1.0, wav.stated / wav.found))
        samples, failure = _all_frames(sound)
        n = samples.shape[1]
        missing = stated - n if known else 0
        if failure or missing > max(_MISSING_SHARE * stated, _MISSING_S * rate_hz):
            of = f" of the {stated / rate_hz:.2f} s its header states" if known else ""
            why = f" ({failure})" if failure else ""
            raise UnusableAudio("unreadable", f"cut short: about {n / rate_hz:.2f} s{of} can be decoded{why}")
        unread = size - os.lseek(file.fileno(), 0, os.SEEK_CUR) if sound.format == "MP3" else 0
    if unread > _MP3_TAIL_BYTES:  # a VBR file without a Xing header, or several files joined into one
        raise UnusableAudio(
            "unreadable",
            f"the mp3 header states {n / rate_hz:.2f} s, but {unread} of {size} bytes follow; re-encode it",
        )
    if wav is not None and wav.without_length:
        return samples, rate_hz, ("the header states no length (a stream, or a file left unclosed)",)
    return samples, rate_hz, ()


def _all_frames(sound: Any) -> tuple[Samples, str]:
    """Every frame the decoder gives as (channels, n), and why it stopped early (empty if it did not)."""
    plain = sound.format == "WAV" and sound.subtype.startswith(_PLAIN)
    block = max(1, (_PLAIN_BLOCK_VALUES if plain else _BLOCK_VALUES) // sound.channels)
    parts: list[Samples] = []
    total = 0
    failure = ""
    while True:
        try:
            part = sound.read(block, dtype="float32", always_2d=True)
        except soundfile.SoundFileError as fault:
            failure = _words(fault)
            break
        parts.append(part)
        total += len(part)
        if total > MAX_S * sound.samplerate:
            raise UnusableAudio("too_long", f"more than {MAX_S:.0f} s")
        if len(part) < block:
            break
    frames = np.concatenate(parts) if parts else np.zeros((0, sound.channels), np.float32)
    return np.ascontiguousarray(frames.T), failure


@dataclass(frozen=True, slots=True)
class _WavData:
    """The data chunk of a RIFF file: where its size field is, what it states, how many bytes follow it."""

    field_at: int
    stated: int
    found: int

    @property
    def without_length(self) -> bool:
        return self.found > 0 and not 0 < self.stated < _PLACEHOLDER_BYTES


def _wav_data(file: io.FileIO, size: int) -> _WavData | None:
    """The data chunk, None where there is none: libsndfile takes the file's end for the sound's end."""
    head = file.read(12)
    at = 12
    riff_end = 8 + int.from_bytes(head[4:8], "little")
    try:
        while head[:4] == b"RIFF" and head[8:12] == b"WAVE" and at + 8 <= size:
            file.seek(at)
            name, stated = struct.unpack("<4sI", file.read(8))
            at += 8
            if name == b"data":
                closed_empty = stated == 0 and riff_end > at  # other chunks follow an empty one
                return _WavData(at - 4, stated, 0 if closed_empty else size - at)
            at += stated + stated % 2
        return None
    finally:
        file.seek(0)


class _Sequential(soundfile.SoundFile):  # type: ignore[misc]  # soundfile carries no types
    """Read from front to back. Seekable files are otherwise sought after every block, which changes mp3
    samples and fails at the end of a flac stream of unknown length."""

    def seekable(self) -> bool:
        return False


@contextmanager
def _opened(file: io.FileIO, wav: _WavData | None) -> Iterator[Any]:
    """The file as a decoder. Given as a descriptor, any name will do, and mp3 reading can be followed."""
    source: Any = file.fileno()
    if wav is not None and wav.stated == 0 and wav.found:  # libsndfile takes 0 at its word
        data = bytearray(file.read())
        data[wav.field_at : wav.field_at + 4] = b"\xff\xff\xff\xff"
        source = io.BytesIO(data)
    with _Sequential(source, closefd=False) as sound:
        yield sound


def _warnings(samples: Samples) -> tuple[str, ...]:
    peaks = np.maximum(samples.max(axis=1), -samples.min(axis=1))
    silent = [number for number, top in enumerate(peaks, 1) if top < _SILENT_PEAK]
    if len(silent) == len(peaks):
        return (SILENT,)
    found = []
    if silent:
        which = f"channel {silent[0]}" if len(silent) == 1 else f"channels {', '.join(map(str, silent))}"
        verb = "is" if len(silent) == 1 else "are"
        found.append(f"{which} of {len(peaks)} {verb} silent; the mean downmix lowers the level")
    elif len(peaks) > 1:
        apart, together = level_dbfs(samples), level_dbfs(samples.mean(axis=0))
        if apart is not None and (together is None or apart - together > _CANCELLED_DB):
            found.append(CANCELLED)
    clipped = clipped_share(samples)
    if clipped > CLIPPED_SHARE:
        found.append(f"{100 * clipped:.1f} % of the samples are clipped")
    return tuple(found)


def _words(fault: Exception) -> str:
    said = str(getattr(fault, "error_string", fault)).strip(" .")
    if not said or "does not exist" in said:  # what libsndfile says of a fragment without one whole frame
        return "no sound found"
    return said
