"""Weights that the user brings: found, hashed, opened without running code in them, checked key by key."""

import hashlib
import pickle
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earwitness.errors import MissingExtra, UserError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Source:
    """Where a backbone's weights come from, for errors.

    Attributes:
        name: The backbone.
        url: Where they are published.
        layout: What a file of them holds.
        extra: What has to be installed for it.
    """

    name: str
    url: str
    layout: str
    extra: str = "torch"

    @property
    def remedy(self) -> str:
        return (
            f"The weights are published at {self.url}; fetch them there and give the path as weights "
            "(--weights; for the distances of a run --distance-weights). "
            f"Expected is {self.layout}."
        )


def given(path: Path | None, source: Source) -> Path:
    """The file itself.

    Raises:
        UserError: If there is none, with where it can be had and what it should hold.
    """
    if path is None:
        raise UserError(
            f"The backbone {source.name!r} needs weights, which are not part of earwitness.", source.remedy
        )
    if path.is_dir():
        raise UserError(f"{path} is a folder, no weights file for {source.name!r}.", source.remedy)
    if not path.is_file():
        raise UserError(f"{path}: there is no such weights file for {source.name!r}.", source.remedy)
    return path


def version_of(path: Path, code: int) -> str:
    """What a file of weights and our code for them are, for keys and recipes.

    Raises:
        UserError: If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise UserError(f"The weights {path} cannot be read: {fault.strerror}.") from fault
    return f"file-{digest[:16]}-{code}"


def torch(source: Source) -> Any:
    """PyTorch, in a worker process with one thread, for there are as many workers as cores.

    Raises:
        MissingExtra: If it is not installed.
    """
    try:
        import torch
    except ImportError as fault:
        raise MissingExtra(f"PyTorch, which the backbone {source.name!r} needs,", source.extra) from fault
    if parent_process() is not None:
        torch.set_num_threads(1)
    return torch


class Tensors:
    """The tensors of a file of weights, by key.

    Args:
        path: A torch file or ``.safetensors``. Neither can run code (torch 2.6 or later).
        inside: Key of the state dict within the file, if it is not the whole of it.

    Raises:
        UserError: If the file cannot be read as that, naming it.
        MissingExtra: If PyTorch is not installed.
    """

    def __init__(self, path: Path, source: Source, inside: str = "") -> None:
        self.path, self._source = path, source
        held = _loaded(path, source)
        if inside and isinstance(held.get(inside), Mapping):
            held = held[inside]
        self._held = held

    def take(self, key: str, *shape: int | None) -> "Tensor":
        """The tensor of that key as float32.

        Args:
            shape: Sizes it must have; None for any.

        Raises:
            UserError: If it is not there, has another shape or is not of plain real numbers, naming the key.
        """
        tensor = self._held.get(key)
        if not isinstance(tensor, torch(self._source).Tensor):
            raise UserError(f"{self.path} has no tensor {key!r}.", self._source.remedy)
        if kind := _unfit(tensor):
            raise UserError(
                f"{self.path}: {key!r} is {kind}, not plain floating-point numbers.", self._source.remedy
            )
        found = tuple(tensor.shape)
        fits = len(found) == len(shape) and all(
            want in (None, size) for size, want in zip(found, shape, strict=True)
        )
        if not fits:
            wanted = ", ".join("any" if size is None else str(size) for size in shape)
            raise UserError(
                f"{self.path}: {key!r} has the shape {found}, not ({wanted}).", self._source.remedy
            )
        result: Tensor = tensor.float().contiguous()
        return result


def _unfit(tensor: "Tensor") -> str:
    """What a tensor is whose numbers cannot be taken as they stand; empty for any other."""
    kinds = {
        "without data": tensor.is_meta,
        "nested": tensor.is_nested,
        "sparse": str(tensor.layout) != "torch.strided",
        "quantised": tensor.is_quantized,
        f"of type {str(tensor.dtype).removeprefix('torch.')}": not tensor.is_floating_point(),
    }
    return next((kind for kind, so in kinds.items() if so), "")


def _loaded(path: Path, source: Source) -> Mapping[str, Any]:
    torch_ = torch(source)
    try:
        if path.suffix == ".safetensors":
            from safetensors import SafetensorError
            from safetensors.torch import load_file

            try:
                return load_file(path)
            except SafetensorError as fault:
                raise ValueError(str(fault)) from fault
        with torch_.serialization.safe_globals(_harmless()):
            held = torch_.load(path, map_location="cpu", weights_only=True)
    except ImportError as fault:
        raise MissingExtra("safetensors, which reads these weights,", source.extra) from fault
    except _DAMAGED as fault:
        raise UserError(
            f"{path} cannot be read as weights: it is damaged, or holds other things than tensors.",
            source.remedy,
        ) from fault
    except (OSError, RuntimeError, ValueError) as fault:
        said = (str(fault).strip().splitlines() or [type(fault).__name__])[0]
        raise UserError(f"{path} cannot be read as weights: {said}", source.remedy) from fault
    if not isinstance(held, Mapping):
        raise UserError(f"{path} holds {type(held).__name__}, not tensors by name.", source.remedy)
    return held


_DAMAGED = (
    pickle.UnpicklingError,  # torch's words would have the user load the file unsafely
    *(LookupError, EOFError, TypeError, AttributeError, AssertionError),  # these are about pickle's insides
    *(OverflowError, UnicodeDecodeError, struct.error),
)
"""What comes of a file that is damaged, or is none of tensors."""


def _harmless() -> list[Any]:
    """Plain numpy data, which training scripts save beside weights (PANNs: the state of a sampler)."""
    makers = {"_reconstruct": np.array(0).__reduce__()[0], "scalar": np.int64(0).__reduce__()[0]}
    modules = ("numpy.core.multiarray", "numpy._core.multiarray")  # renamed; old files say the old name
    named = [(maker, f"{module}.{name}") for name, maker in makers.items() for module in modules]
    return [*named, np.ndarray, np.dtype, *{type(np.dtype(code)) for code in np.typecodes["All"]}]
