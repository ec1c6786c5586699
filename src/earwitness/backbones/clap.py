"""CLAP (Wu et al., ICASSP 2023) through ``transformers``: sounds and words in one space.

The model is a folder of the user's, as ``save_pretrained`` writes it; nothing is ever downloaded. Its own
feature extractor cuts a clip longer than its window (10 s) at random, so that the same clip is never the same
vector twice. Here windows follow each other from the clip's start, the last one ends with the clip, and each
goes through the model alone: it has nothing left to cut. A frame is a window's embedding at length 1, the
clip is the mean of its frames, at length 1 again. What is shorter than a window is repeated and padded as
the extractor's settings say.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.backbones import checkpoints
from earwitness.backbones.base import Embedding, finite
from earwitness.errors import MissingExtra, UserError

Array = NDArray[np.float32]

CODE_VERSION = 1
"""Raised when the same weights and samples give other numbers."""

SOURCE = checkpoints.Source(
    "clap",
    "https://huggingface.co/laion/clap-htsat-unfused (or another ClapModel)",
    "a folder with config.json, preprocessor_config.json, the tokenizer's files and model.safetensors "
    "(or pytorch_model.bin)",
    extra="clap",
)

_READ = (".json", ".txt", ".model", ".safetensors", ".bin")  # of the folder; they make its version


class Clap:
    """CLAP as a backbone, with words (base.Worded).

    Args:
        weights: The user's folder (see :data:`SOURCE`).

    Raises:
        UserError: If there is no such folder.
    """

    name = "clap"
    classes: tuple[str, ...] = ()

    def __init__(self, *, weights: Path | None = None) -> None:
        if weights is not None and weights.is_dir():
            self._folder = weights
        else:
            self._folder = checkpoints.given(weights, SOURCE).parent  # a file of the folder was given

    @cached_property
    def version(self) -> str:
        digest = hashlib.sha256()
        for path in sorted(self._folder.iterdir()):
            if path.suffix in _READ:
                digest.update(f"{path.name}\n{checkpoints.version_of(path, CODE_VERSION)}\n".encode())
        return f"folder-{digest.hexdigest()[:16]}-{CODE_VERSION}"

    @property
    def settings(self) -> Mapping[str, Any]:
        extractor = self._loaded.extractor
        return {
            "rate_hz": self.rate_hz,
            "window_s": self._loaded.window / self.rate_hz,
            "hop_s": self._loaded.window / self.rate_hz,
            "last_window": "ends with the clip",
            "shorter": str(extractor.padding),
            "mel": str(extractor.truncation),
            "level": "as it is",
            "frames": "length 1",
            "clip": "mean of the frames, length 1",
        }

    @property
    def rate_hz(self) -> int:
        return int(self._loaded.extractor.sampling_rate)

    @property
    def width(self) -> int:
        return int(self._loaded.model.config.projection_dim)

    def ready(self) -> None:
        """Load the model.

        Raises:
            UserError: If the folder does not hold one that the installed transformers can load whole; the
                error names both versions.
            MissingExtra: If PyTorch or transformers is not installed.
        """
        _ = self._loaded

    def embed(self, samples: Array) -> Embedding:
        """Frames (m, 512) of length 1, and their mean at length 1, of (n,) samples at 48 kHz."""
        last = max(0, samples.shape[0] - self._loaded.window)
        starts = [*range(0, last, self._loaded.window), last]
        heard = [self._loaded.sound(samples[start : start + self._loaded.window]) for start in starts]
        frames = self._unit(np.concatenate(heard))
        return Embedding(frames, self._unit(frames.mean(axis=0, keepdims=True))[0], None)

    def words(self, texts: Sequence[str]) -> Array:
        """(n, 512) embeddings of n texts, of length 1.

        Raises:
            UserError: If a text has more tokens than the model takes.
        """
        if not texts:
            return np.empty((0, self.width), np.float32)
        return self._unit(np.concatenate([self._loaded.text(text) for text in texts]))

    def _unit(self, rows: Array) -> Array:
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):  # said by the error that follows
            return finite(rows / lengths, f"{self.name} with {self._folder}")

    @cached_property
    def _loaded(self) -> "_Loaded":
        return _Loaded(self._folder)

    def __getstate__(self) -> dict[str, Any]:
        """Without the loaded model, so that a worker can be sent this and load its own."""
        return {"_folder": self._folder}


class _Loaded:
    """The model with its extractor and tokenizer.

    Attributes:
        window: Samples the model takes in at a time.
    """

    def __init__(self, folder: Path) -> None:
        self._torch = checkpoints.torch(SOURCE)
        try:
            import transformers as installed
        except ImportError as fault:
            raise MissingExtra("transformers, which the backbone 'clap' needs,", "clap") from fault
        transformers: Any = installed  # what it loads is not what its types say
        versions = f"transformers {transformers.__version__} here, {_saved_with(folder)} when it was saved"
        kept_at_home = {"local_files_only": True}
        try:
            with _no_bars(transformers.utils.logging):
                self.extractor = transformers.ClapFeatureExtractor.from_pretrained(folder, **kept_at_home)
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **kept_at_home)
                model, info = transformers.ClapModel.from_pretrained(
                    folder, output_loading_info=True, **kept_at_home
                )
        except (OSError, ValueError, KeyError, RuntimeError, TypeError, AttributeError) as fault:
            said = (str(fault).strip().splitlines() or [type(fault).__name__])[0]
            raise UserError(
                f"{folder} cannot be loaded as a CLAP model ({versions}): {said}", SOURCE.remedy
            ) from fault
        lacking = [str(key) for kind in ("missing_keys", "mismatched_keys") for key in info[kind]]
        if lacking:  # transformers would go on with random numbers in their place
            raise UserError(
                f"{folder} lacks {len(lacking)} of the weights of a CLAP model ({versions}), "
                f"for example {lacking[0]!r}.",
                SOURCE.remedy,
            )
        self.model = model.float().eval()
        self.window = int(self.extractor.nb_max_samples)

    def sound(self, samples: Array) -> Array:
        """(1, e) of one window at most."""
        given = self.extractor(samples, sampling_rate=self.extractor.sampling_rate, return_tensors="pt")
        with self._torch.inference_mode():
            return _numbers(self.model.get_audio_features(**given))

    def text(self, text: str) -> Array:
        """(1, e) of one text."""
        given = self._tokenizer([text], return_tensors="pt")
        most = min(
            self._tokenizer.model_max_length, self.model.config.text_config.max_position_embeddings - 2
        )  # RoBERTa's positions begin at 2
        count = given["input_ids"].shape[1]
        if count > most:
            raise UserError(f"The text {text[:60]!r}... has {count} tokens; CLAP takes at most {most}.")
        with self._torch.inference_mode():
            return _numbers(self.model.get_text_features(**given))


def _numbers(made: Any) -> Array:
    """The features: transformers 4 gives a tensor, transformers 5 an output that holds it."""
    numbers: Array = getattr(made, "pooler_output", made).numpy()
    return numbers


@contextmanager
def _no_bars(logging: Any) -> Iterator[None]:
    """Without the progress bars of transformers, which write to the terminal."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _saved_with(folder: Path) -> str:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return str(config.get("transformers_version", "an unnamed version"))
    except (OSError, ValueError, AttributeError):
        return "an unknown version"
