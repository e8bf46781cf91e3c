"""Models as they are stored: a folder with shards, one file, a live module, a tree of arrays."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memcurve import io

#: How to open a model that is one file.
FORMATS: dict[str, Callable[[Path], io.Archive]] = {
    ".safetensors": io.open_safetensors,
    ".npz": io.open_npz,
    **dict.fromkeys(io.CHECKPOINTS, io.open_checkpoint),
}
#: Files of weights, in the order in which a folder is searched for them, or for their parts.
WEIGHTS = ("model.safetensors", "pytorch_model.bin")


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by name, read when they are asked for; and the model's configuration."""

    name: str
    archive: io.Archive
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes by name, without reading a tensor."""
        return {name: array.shape for name, array in self.archive.arrays.items()}

    def read(self, name: str) -> Any:
        """One tensor."""
        return self.archive.arrays[name].whole()

    def number_format(self, name: str) -> str:
        """The format that a tensor is stored in, as the file calls it."""
        array = self.archive.arrays[name]
        return (array.kind or str(array.dtype)).lower()


def open_model(model: Any) -> Checkpoint:
    """Open a model's tensors, and those that its configuration implies."""
    checkpoint = _opened(model)
    checkpoint.archive.arrays.update(io.tensor_tree(_implied(checkpoint.config)).arrays)
    return checkpoint


def _implied(config: Mapping[str, Any]) -> dict[str, Any]:
    """RetNet's decays log(1 − 2^(−5 − h)) and angles, which not all libraries store."""
    heads, width = config.get("num_heads"), config.get("hidden_size")
    if config.get("model_type") != "retnet" or not (heads and width):
        return {}
    width = round(width * config.get("expand_k", 1)) // heads
    decay = np.log(1 - np.exp2(-5.0 - np.arange(heads)))
    angle = np.repeat(10_000.0 ** (-np.arange(0, width, 2) / width), 2)
    return {"retention.decay": decay.astype("f4"), "retention.angle": angle.astype("f4")}


def _opened(model: Any) -> Checkpoint:
    if isinstance(model, str | os.PathLike):
        path = Path(model)
        return _folder(path) if path.is_dir() else Checkpoint(path.name, _file(path), _config(path))
    if hasattr(model, "state_dict"):
        config: Any = getattr(model, "config", None)
        settings = config.to_dict() if hasattr(config, "to_dict") else {}
        return Checkpoint(type(model).__name__, io.tensor_tree(model.state_dict()), settings)
    if isinstance(model, Mapping):
        return Checkpoint("tensors", io.tensor_tree(model))
    raise TypeError(
        f"`model` must be a folder, a file, a module or a mapping of tensors; got "
        f"{type(model).__name__}. Save its weights, or pass module.state_dict()."
    )


def _file(path: Path) -> io.Archive:
    return io.opened(path, FORMATS, "give the folder of the model")


def _folder(path: Path) -> Checkpoint:
    config = _config(path / WEIGHTS[0])
    for index in (path / f"{name}.index.json" for name in WEIGHTS):
        if index.is_file():
            shards = sorted(set(_json(index).get("weight_map", {}).values()))
            if any(Path(shard).name != shard for shard in shards):
                raise io.NetworkFileError(f"{index}: names files outside of its folder.")
            return Checkpoint(path.name, _joined(path, [path / shard for shard in shards]), config)
    for name in WEIGHTS:
        if (path / name).is_file():
            return Checkpoint(path.name, _file(path / name), config)
    others = sorted(path.glob("*.safetensors"))
    if others:
        return Checkpoint(path.name, _joined(path, others), config)
    names = ", ".join(f"{name}, {name}.index.json" for name in WEIGHTS)
    raise io.NetworkFileError(f"{path}: holds no weights: none of {names}, *.safetensors is there.")


def _config(weights: Path) -> dict[str, Any]:
    """The configuration stored beside the weights."""
    config = weights.with_name("config.json")
    return _json(config) if config.is_file() else {}


def _joined(folder: Path, files: Sequence[Path]) -> io.Archive:
    """Tensors of several files, none of them read."""
    parts = [_file(file).arrays for file in files]
    return io.Archive(folder, {name: array for part in parts for name, array in part.items()})


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"), object_hook=_number)
    except (OSError, ValueError) as error:
        raise io.NetworkFileError(f"{path}: cannot be read as JSON ({error}).") from error
    if not isinstance(content, dict):
        raise io.NetworkFileError(
            f"{path}: must hold names and values, got {type(content).__name__}."
        )
    return content


def _number(content: dict[str, Any]) -> Any:
    """Numbers that JSON lacks, as transformers writes them: ``{"__float__": "Infinity"}``."""
    return float(content["__float__"]) if [*content] == ["__float__"] else content
