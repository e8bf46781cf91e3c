"""Files as other programs write them, for the tests of what reads them; and what is refused."""

import os

import h5py
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from safetensors import numpy as tensors
from scipy import io, sparse


class Payload:
    """Makes a folder when it is unpickled."""

    def __init__(self, victim):
        self.victim = str(victim)

    def __reduce__(self):
        return os.mkdir, (self.victim,)


def write_mat73(path, chunks=None, **arrays):
    """What MATLAB's save -v7.3 writes: 512 bytes of header, then HDF5 with arrays transposed."""
    kinds = {"f8": "double", "f4": "single", "i4": "int32", "b1": "logical"}

    def put(parent, name, value):
        kind = "double"
        if isinstance(value, dict):
            item, kind = parent.create_group(name), "struct"
            for key, part in value.items():
                put(item, key, part)
        elif isinstance(value, str):
            item = parent.create_dataset(name, data=np.array([[ord(c)] for c in value], "u2"))
            kind = "char"
        elif sparse.issparse(value):
            columns, item = value.tocsc(), parent.create_group(name)
            item.attrs["MATLAB_sparse"] = np.uint64(columns.shape[0])
            item["jc"] = columns.indptr.astype(np.uint64)
            if columns.nnz:
                item["ir"] = columns.indices.astype(np.uint64)
                item["data"] = columns.data
        else:
            stored = np.atleast_2d(value).T
            if np.iscomplexobj(stored):
                pairs = np.empty(stored.shape, dtype=[("real", "f8"), ("imag", "f8")])
                pairs["real"], pairs["imag"] = stored.real, stored.imag
                stored = pairs
            else:
                kind = kinds[stored.dtype.str[1:]]
            packed = {"chunks": chunks, "compression": "gzip"} if chunks else {}
            packed = packed if min(stored.shape) > 1 else {}
            item = parent.create_dataset(name, data=stored, **packed)
        item.attrs["MATLAB_class"] = np.bytes_(kind)

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in ({"s": {"inner": np.zeros(2)}} | arrays).items():
            put(file, name, value)
        file["#refs#/a"] = np.zeros(2)
    with open(path, "r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return path


def write_hdf5(path, chunks=None, **arrays):
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            packed = {"chunks": chunks, "compression": "gzip"} if chunks and array.ndim == 2 else {}
            file.create_dataset(name.replace("__", "/"), data=array, **packed)
    return path


def write_safetensors(path, **arrays):
    tensors.save_file({key: np.ascontiguousarray(value) for key, value in arrays.items()}, path)
    return path


def write_checkpoint(path, **arrays):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.save({key: torch.tensor(value) for key, value in arrays.items()}, path)
    return path


def write_parquet(path, columns, **options):
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    parquet.write_table(table, path, **options)
    return path


def write_csv(path, states, inputs=None, header=None, separator=",", end="\n"):
    table = states if inputs is None else np.column_stack([states, inputs])
    lines = [separator.join(map(repr, row)) for row in table.tolist()]
    path.write_bytes(end.join(([header] if header else []) + lines + [""]).encode())
    return path


def write_npy(path, array):
    np.save(path, array)
    return path


#: How to write arrays by name, by the ending of the file and what comes after it.
ARCHIVES = {
    "npz": lambda path, **arrays: np.savez(path, **arrays),
    "npz-compressed": lambda path, **arrays: np.savez_compressed(path, **arrays),
    "mat": lambda path, **arrays: io.savemat(path, arrays),
    "mat-compressed": lambda path, **arrays: io.savemat(path, arrays, do_compression=True),
    "mat-hdf5": write_mat73,
    "safetensors": write_safetensors,
    "pt": write_checkpoint,
}
#: How to write one array without a name.
SINGLES = {
    "npy": np.save,
    "csv": lambda path, array: np.savetxt(path, array, delimiter=","),
    "mtx": lambda path, array: io.mmwrite(path, array, precision=17),
}
