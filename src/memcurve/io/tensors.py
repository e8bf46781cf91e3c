"""Tensors by name: .safetensors, and PyTorch checkpoints, of which no pickled code is ever run."""

import re
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from memcurve.core.optional import optional
from memcurve.io.arrays import Archive, Array, fault_error

#: The endings that files written by ``torch.save`` usually have.
CHECKPOINTS = (".pt", ".pth", ".ckpt", ".bin")
#: Before it, files could run code even where only weights were asked for (CVE-2025-32434,
#: CVE-2026-24747).
SAFE_TORCH = (2, 10)


def open_safetensors(file: Path) -> Archive:
    """Open a .safetensors file; formats that numpy lacks are read as float32."""
    safetensors = optional("safetensors", f"{file}: reading it", "files")

    def load(key: str, kind: str) -> Any:
        if re.match("BF|F[468]_", kind):
            optional("ml_dtypes", f"{file}: reading it", "files")
        with safetensors.safe_open(str(file), framework="numpy") as archive:
            tensor = archive.get_tensor(key)
        return tensor if tensor.dtype.kind in "biufc" else tensor.astype(np.float32)

    arrays = {}
    with safetensors.safe_open(str(file), framework="numpy") as archive:
        for key in archive.keys():  # noqa: SIM118
            part = archive.get_slice(key)
            shape, kind = tuple(part.get_shape()), part.get_dtype()
            read = partial(load, key, kind)
            arrays[key] = Array(key, shape, None, read, file=file, kind=kind)
    return Archive(file, arrays)


def open_checkpoint(file: Path) -> Archive:
    """Open a file that ``torch.save`` wrote; dictionaries within it give dotted names."""
    with file.open("rb") as stream:
        start = stream.read(2)
    if not (start == b"PK" or start[:1] == b"\x80"):  # zip, or the older bare pickles
        raise fault_error(file, "files", "checkpoint")
    torch = optional("torch", f"{file}: reading it", "torch")
    require_safe(torch.__version__, file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's own, on pickles
            is_mapped = start == b"PK"  # the older ones are read whole
            content = torch.load(file, map_location="cpu", weights_only=True, mmap=is_mapped)
    except Exception as error:
        # what torch says is left out: it advises to load the file with its code
        raise fault_error(file, "files", "pickle") from error
    return tensor_tree(content, file)


def tensor_tree(content: Any, file: Path | None = None) -> Archive:
    """Tensors by dotted names, of nested mappings as torch, jax and flax have them."""
    parts = _flattened(content, "", set())
    return Archive(file or "model", {key: as_array(value, key, file) for key, value in parts})


def require_safe(version: str, file: Path) -> None:
    """Raise unless this version of torch keeps to tensors when asked for them alone."""
    numbers = tuple(int(part) for part in version.split("+")[0].split(".")[:2])
    if numbers < SAFE_TORCH:
        needed = ".".join(map(str, SAFE_TORCH))
        raise fault_error(file, "files", "torch", needed=needed, version=version)


def as_array(value: Any, name: str, file: Path | None = None) -> Array:
    """A tensor, an array or a number as an Array."""
    kind = str(getattr(value, "dtype", type(value).__name__)).removeprefix("torch.")
    layout = str(getattr(value, "layout", "torch.strided"))
    is_sparse = hasattr(value, "toarray") or layout != "torch.strided"

    def load() -> Any:
        values = tensor_values(value)
        return values if is_sparse else np.asarray(values)

    shape = tuple(getattr(value, "shape", ()))
    return Array(name, shape, None, load, file=file, kind=kind, is_sparse=is_sparse)


def tensor_values(tensor: Any) -> Any:
    """A torch tensor as an array of the same numbers (bfloat16: float32) or sparse; else itself."""
    if type(tensor).__module__.split(".")[0] != "torch":
        return tensor
    import torch

    values = tensor.detach().cpu()
    if values.layout != torch.strided:
        from scipy.sparse import coo_array

        listed = values.to_sparse_coo().coalesce()
        indices = tuple(listed.indices().numpy())
        return coo_array((tensor_values(listed.values()), indices), shape=tuple(values.shape))
    values = values.resolve_conj().resolve_neg()
    if values.is_complex():
        return (values.to(torch.complex64) if values.itemsize < 8 else values).numpy()
    wide = (torch.float16, torch.float32, torch.float64)
    narrow = values.is_floating_point() and values.dtype not in wide
    return (values.to(torch.float32) if narrow else values).numpy()


def _flattened(content: Any, name: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Tensors and numbers by dotted names; a dictionary met twice is entered once."""
    if isinstance(content, Mapping):
        if id(content) in seen:
            return
        seen.add(id(content))
        for key, value in content.items():
            yield from _flattened(value, f"{name}.{key}" if name else str(key), seen)
    elif hasattr(content, "shape") or isinstance(content, int | float):
        yield name or "tensor", content
