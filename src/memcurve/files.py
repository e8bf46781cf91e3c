"""Matrix files of other programs → LinearNetwork, and LinearNetwork → .npz. Runs no pickles."""

from __future__ import annotations

import importlib
import os
import re
import secrets
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve.network import LinearNetwork

#: An open archive: what each array is, e.g. "(3, 3) float64", and how to read one by its name.
Archive = tuple[dict[str, str], Callable[[str], Any]]

_PAIRS = (("A", "C"), ("W", "Win"))
_SPARSE_PARTS = ("data", "indices", "indptr", "shape")
_MATLAB_NUMBERS = re.compile(r"double|single|logical|sparse|u?int(8|16|32|64)")
_NO_FILE: dict[type[OSError], str] = {
    FileNotFoundError: "no such file; check the spelling and the working directory",
    IsADirectoryError: "is a directory; give the path of a file in it",
    PermissionError: "may not be read; change its permissions",
}
_MISSING_VALUES = {"", "na", "n/a", "nan", "null", "none"}


class NetworkFileError(ValueError):
    """A file that does not hold a network; the message names the file and the remedy."""


def load_network(
    path: str | os.PathLike[str],
    *,
    matrix: str | None = None,
    mask: str | os.PathLike[str] | ArrayLike | None = None,
    name: str | None = None,
) -> LinearNetwork:
    """Read a network from a matrix file.

    Parameters
    ----------
    path : path
        ``.npz``, ``.mat`` and ``.safetensors`` hold arrays by name: A and C, or else W and Win.
        ``.npy``, ``.csv`` and ``.mtx`` hold one array: A, its mask given by ``mask``; or, without
        ``mask``, the N rows and N + d columns of ``[A | C]``. A ``.csv`` may have one header line;
        commas, semicolons or blanks separate its numbers.
    matrix : str, optional
        Name of the connectivity in an archive, e.g. ``"rnn.weight_hh_l0"``.
    mask : str, path or array, optional
        The input mask: the name of an array in the archive, a file ending in ``.npy``, ``.csv`` or
        ``.mtx``, or the numbers themselves.
    name : str, optional
        A label (default: the file's name without its ending).

    Returns
    -------
    LinearNetwork
        Sparse matrices (``.mtx``, MATLAB, ``scipy.sparse.save_npz``) stay sparse. A mask of one
        column, in MATLAB also of one row, becomes a vector. ``shift`` and ``readout`` are read from
        ``.npz`` files too, unless ``matrix`` or ``mask`` name the arrays to take.

    Raises
    ------
    ValueError
        The file is empty, damaged, of an unknown kind or holds no network.
    FileNotFoundError, IsADirectoryError, PermissionError
        There is no file to read.
    ModuleNotFoundError
        MATLAB 7.3 needs h5py; ``.safetensors`` needs safetensors, for bfloat16 also ml_dtypes.
    """
    file = _readable(path)
    kind = file.suffix.lower()
    if kind not in _SINGLE and kind not in _ARCHIVES:
        raise NetworkFileError(
            f"{file}: unknown kind of file {kind or '(no ending)'!r}; known are "
            f"{', '.join([*_ARCHIVES, *_SINGLE])}. Convert it, or build LinearNetwork(A, C)."
        )
    mask_name, given = _name_or_values(mask)
    if kind in _ARCHIVES:
        parts = _from_archive(file, kind, matrix, mask_name, given)
    elif matrix is not None or mask_name is not None:
        raise NetworkFileError(
            f"{file}: a {kind} file holds one array without a name, got matrix={matrix!r}, "
            f"mask={mask!r}; leave `matrix` out and give `mask` as a {', '.join(_SINGLE)} file."
        )
    else:
        parts = _from_single(file, given)
    try:
        return LinearNetwork(**parts, name=file.stem if name is None else name)
    except (ValueError, TypeError, MemoryError) as error:
        aside = f" (with the mask {mask})" if isinstance(mask, str | os.PathLike) else ""
        remedy = " Name `matrix` and `mask` to read these two alone." if len(parts) > 2 else ""
        raise NetworkFileError(f"{file}{aside}: {error}{remedy}") from error


def save_network(network: LinearNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network to an ``.npz`` file that :func:`load_network` reads back exactly.

    The arrays are A, C and, where the network has them, shift and readout; a sparse A is stored as
    A_data, A_indices, A_indptr and A_shape. The name is not stored: the file's name takes its
    place. A file of that name is replaced in one step, so that no half-written one is ever seen.
    """
    file = Path(path)
    if not isinstance(network, LinearNetwork):
        raise TypeError(f"`network` must be a LinearNetwork, got {type(network).__name__}.")
    if file.suffix.lower() != ".npz":
        raise ValueError(f"{file}: networks are written as .npz; give a path that ends so.")
    arrays: dict[str, Any] = {"C": network.C}
    if network.is_sparse:
        arrays |= {f"A_{part}": getattr(network.A, part) for part in _SPARSE_PARTS}
    else:
        arrays["A"] = network.A
    for extra in ("shift", "readout"):
        if getattr(network, extra) is not None:
            arrays[extra] = getattr(network, extra)
    draft = file.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as stream:
            np.savez(stream, **arrays)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(file)
    except OSError as error:
        raise type(error)(
            f"{file}: cannot be written ({error.strerror}); check that its folder exists, may be "
            f"written to and has room, and that no folder has this name."
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _readable(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    try:
        with file.open("rb") as stream:
            empty = not stream.read(1)
    except tuple(_NO_FILE) as error:
        raise type(error)(f"{file}: {_NO_FILE[type(error)]}.") from error
    except (OSError, ValueError) as error:
        raise NetworkFileError(f"{file}: cannot be opened ({error}); check the path.") from error
    if empty:
        raise NetworkFileError(f"{file}: is empty; write or download it again.")
    return file


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Turn whatever a damaged file makes its reader raise into one error that names the file."""
    try:
        yield
    except (NetworkFileError, ImportError):
        raise
    except Exception as error:
        raise NetworkFileError(
            f"{file}: cannot be read as {file.suffix} ({type(error).__name__}: {error}); it is "
            f"damaged, incomplete or of another kind: write or download it again."
        ) from error


def _optional(module: str, file: Path, install: str = "memcurve[files]") -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = f"{file}: reading it needs {module}; run: pip install {install}"
        raise ModuleNotFoundError(message, name=module) from error


def _name_or_values(mask: Any) -> tuple[str | None, Any]:
    """Return the name of the mask in an archive, or the mask's values, and None for the other."""
    if not isinstance(mask, str | os.PathLike):
        return None, mask
    if Path(mask).suffix.lower() in _SINGLE:
        return None, _read_single(_readable(mask))
    if isinstance(mask, str):
        return mask, None
    raise NetworkFileError(f"{mask}: a mask is read from {', '.join(_SINGLE)}; convert it.")


def _as_mask(C: Any, row_too: bool = False) -> Any:
    C = C.toarray() if hasattr(C, "toarray") else C
    shape: tuple[int, ...] = getattr(C, "shape", ())
    one_input = len(shape) == 2 and (shape[1] == 1 or (row_too and shape[0] == 1))
    return C.reshape(-1) if one_input else C


# ---- one array without a name: .npy .csv .mtx


def _from_single(file: Path, mask: Any) -> dict[str, Any]:
    array = _read_single(file)
    rows, columns = array.shape if array.ndim == 2 else (0, 0)
    if mask is not None and rows == columns > 0:
        return {"A": array, "C": _as_mask(mask)}
    if mask is None and 0 < rows < columns:
        return {"A": array[:, :rows], "C": _as_mask(array[:, rows:])}
    if mask is None and rows == columns > 0:
        raise NetworkFileError(
            f"{file}: holds A of shape {array.shape} but no input mask C; give mask='C.npy' (or "
            f".csv, .mtx), store [A | C] side by side, or an archive with A and C, e.g. .npz."
        )
    rule = "[A | C] of shape (N, N + d)" if mask is None else "a square A, as `mask` is given"
    raise NetworkFileError(f"{file}: must hold {rule}, got shape {array.shape}; reshape it.")


def _read_single(file: Path) -> Any:
    with _reading(file):
        return _SINGLE[file.suffix.lower()](file)


def _read_npy(file: Path) -> NDArray[Any]:
    with file.open("rb") as stream:
        if _npy_header(stream, file)[1].hasobject:
            raise _pickle_error(file)
        stream.seek(0)
        return np.lib.format.read_array(stream, allow_pickle=False)


def _npy_header(stream: Any, file: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if stream.read(1) == b"\x80":
        raise _pickle_error(file)
    stream.seek(0)
    if np.lib.format.read_magic(stream)[0] == 1:
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    return shape, dtype


def _pickle_error(file: Path) -> NetworkFileError:
    return NetworkFileError(
        f"{file}: holds Python objects (a pickle), never loaded since that can run any code; "
        f"save plain numbers, e.g. numpy.asarray(A, dtype=float)."
    )


def _read_mtx(file: Path) -> Any:
    """Read MatrixMarket; scipy.io.mmread crashes Python on long or cut numbers (scipy #19949)."""
    from scipy.sparse import coo_array

    lines = file.read_text("utf-8", errors="replace").split("\n")
    mark, thing, layout, field, symmetry = lines[0].lower().split()
    tokens = [part for line in lines[1:] if line.lstrip()[:1] != "%" for part in line.split()]
    listed, half, strict = layout != "array", symmetry != "general", symmetry == "skew-symmetric"
    if (mark, thing) != ("%%matrixmarket", "matrix") or layout not in ("array", "coordinate"):
        raise ValueError(f"unknown first line {lines[0]!r}")
    rows, columns = map(int, tokens[:2])
    entries = int(tokens[2]) if listed else rows * (rows + 1 - 2 * strict) // 2
    entries = entries if listed or half else rows * columns
    width = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "complex": 2}[field]
    step = width + 2 * listed
    tokens = tokens[2 + listed :]
    if step == 0 or len(tokens) != entries * step or (half and rows != columns):
        raise ValueError(f"{rows} x {columns}, {entries} entries announced, {len(tokens)} numbers")
    if listed:
        i, j = (np.array([int(index) - 1 for index in tokens[at::step]], int) for at in (0, 1))
    else:  # column after column
        j, i = np.triu_indices(rows, strict) if half else np.indices((columns, rows)).reshape(2, -1)
    read = int if field == "integer" else float
    values = np.array([read(value) for value in tokens[2 * listed :: step]]) if width else i * 0 + 1
    if width == 2:
        values = values + 1j * np.array([float(value) for value in tokens[step - 1 :: step]])
    if half:
        mirrored = {"symmetric": values, "skew-symmetric": -values, "hermitian": values.conj()}
        off = i != j
        values = np.append(values, mirrored[symmetry][off])
        i, j = np.append(i, j[off]), np.append(j, i[off])
    array = coo_array((values, (i, j)), shape=(rows, columns))
    return array.tocsr() if listed else array.toarray()


def _read_csv(file: Path) -> NDArray[Any]:
    lines = enumerate(file.read_text("utf-8-sig").split("\n"), start=1)
    filled = [(n, line) for n, line in lines if line.strip() and line.lstrip()[0] != "#"]
    sample = filled[min(1, len(filled) - 1)][1] if filled else ""
    separator = next((sign for sign in ";," if sign in sample), None)
    rows: list[list[Any]] = []
    for place, (number, line) in enumerate(filled):
        fields = [field.strip() for field in line.split(separator)]
        row = [_number(field) for field in fields]
        words = place == 0 and all(value is None for value in row)
        if words and not _MISSING_VALUES.issuperset(map(str.lower, fields)):
            continue  # the header
        if None in row:
            raise NetworkFileError(
                f"{file}: line {number}: {fields[row.index(None)]!r} is not a number; write "
                f"numbers with a decimal point, separated by commas, semicolons or blanks."
            )
        if rows and len(row) != len(rows[0]):
            raise NetworkFileError(
                f"{file}: line {number} has {len(row)} numbers, the lines before it "
                f"{len(rows[0])}; give all rows the same length."
            )
        rows.append(row)
    if not rows:
        raise NetworkFileError(f"{file}: holds no numbers; write one row of the matrix a line.")
    return np.array(rows)


def _number(field: str) -> float | complex | None:
    try:
        return float(field)
    except ValueError:
        pass
    try:  # numpy writes (1+2j), MATLAB 1+2i; a lone "j" is a column's name
        return complex(field.replace("i", "j")) if re.search(r"\d", field) else None
    except ValueError:
        return None


# ---- arrays by name: .npz .mat .safetensors


def _from_archive(
    file: Path, kind: str, matrix: str | None, mask: str | None, given: Any
) -> dict[str, Any]:
    with _reading(file), _ARCHIVES[kind](file) as (present, fetch):
        pairs = [(matrix or a, mask or c)[: 1 if given is not None else 2] for a, c in _PAIRS]
        wanted = next((pair for pair in pairs if present.keys() >= set(pair)), None)
        if wanted is None:
            listed = [f"{key} {about}" for key, about in present.items()]
            listed[40:] = [f"{len(listed) - 40} more"] if len(listed) > 40 else []
            raise NetworkFileError(
                f"{file}: has no {', or '.join(dict.fromkeys(map(' and '.join, pairs)))}; it holds "
                f"{', '.join(listed) or 'nothing'}. Name the arrays with matrix='...' and "
                f"mask='...', or give the mask as a file, mask='C.npy'."
            )
        A = _checked(fetch(wanted[0]))
        C = _as_mask(_checked(fetch(wanted[1])), kind == ".mat") if given is None else given
        extras = ("shift", "readout") if kind == ".npz" and matrix is mask is None else ()
        return {"A": A, "C": _as_mask(C)} | {
            part: fetch(part) for part in extras if part in present
        }


def _checked(array: Any) -> Any:
    """Check the indices of a sparse array, which scipy would follow out of range."""
    if hasattr(array, "check_format"):
        array.check_format(full_check=True)
        if (np.diff(array.indptr) < 0).any():  # not looked at where no entry is stored
            raise ValueError("the rows of the sparse array overlap")
    return array


@contextmanager
def _open_npz(file: Path) -> Iterator[Archive]:
    from scipy.sparse import csr_array, load_npz

    with file.open("rb") as stream:
        if stream.read(2) != b"PK":
            stream.seek(0)
            _npy_header(stream, file)
            raise NetworkFileError(f"{file}: is a .npy file by its contents; rename it.")
        stream.seek(0)
        archive = np.load(stream, allow_pickle=False)
        headers = {}
        for entry in archive.zip.namelist():
            if entry.endswith(".npy"):
                with archive.zip.open(entry) as member:
                    headers[entry.removesuffix(".npy")] = _npy_header(member, file)
        present = {key: f"{shape} {dtype}" for key, (shape, dtype) in headers.items()}
        parts = [f"A_{part}" for part in _SPARSE_PARTS]
        if present.keys() >= set(parts):
            present["A"] = f"{tuple(archive['A_shape'].tolist())} sparse"
        elif present.keys() >= {"format", "shape", "data"}:  # scipy.sparse.save_npz
            present = {"A": f"{tuple(archive['shape'].tolist())} sparse"}

        def fetch(key: str) -> Any:
            if key in headers:
                if headers[key][1].hasobject:
                    raise _pickle_error(file)
                return archive[key]
            if "A_data" not in headers:
                return load_npz(file)
            data, indices, indptr, shape = (archive[part] for part in parts)
            return csr_array((data, indices, indptr), shape=tuple(shape))

        yield present, fetch


@contextmanager
def _open_mat(file: Path) -> Iterator[Archive]:
    from scipy.io import loadmat, whosmat

    with file.open("rb") as stream:
        head = stream.read(520)
    if head[512:] == b"\x89HDF\r\n\x1a\n" or head.startswith((b"\x89HDF", b"MATLAB 7.3")):
        with _open_hdf5(file) as archive:
            yield archive
        return
    if 0 not in head[:4]:  # a zero there marks version 4
        _check_mat5(memoryview(file.read_bytes()))
    classes = {key: (shape, kind) for key, shape, kind in whosmat(str(file), appendmat=False)}

    def fetch(key: str) -> Any:
        _require_numbers(file, key, classes[key][1])
        return loadmat(str(file), appendmat=False, variable_names=[key])[key]

    yield {key: f"{shape} {kind}" for key, (shape, kind) in classes.items()}, fetch


def _check_mat5(contents: memoryview) -> None:
    """Check the type code of each element: scipy.io.loadmat crashes Python on a wrong one."""
    order: Literal["little", "big"] = "little" if bytes(contents[126:128]) == b"IM" else "big"
    for code, body in _mat5_elements(contents[128:], order):
        if code == 15:  # compressed
            code, body = next(_mat5_elements(memoryview(zlib.decompress(body)), order))
        elements = list(_mat5_elements(body, order)) if code == 14 else []
        if len(elements) < 3:
            raise ValueError(f"element of type {code} is no array")
        flags = int.from_bytes(elements[0][1][:4], order)
        kind, parts = flags & 0xFF, 1 + (flags >> 11 & 1)  # real, imaginary
        codes = [code for code, _ in elements[3:]]
        if kind == 5:  # sparse: rows and column starts come first
            parts += 2
        if 5 <= kind <= 15 and (len(codes) != parts or not {*codes} <= {*range(1, 8), 9, 12, 13}):
            raise ValueError(f"array of class {kind} has parts of types {codes}")


def _mat5_elements(
    data: memoryview, order: Literal["little", "big"]
) -> Iterator[tuple[int, memoryview]]:
    at = 0
    while at < len(data):
        code = int.from_bytes(data[at : at + 4], order)
        size, start = int.from_bytes(data[at + 4 : at + 8], order), at + 8
        if code >> 16:  # up to four bytes are stored within the tag
            code, size, start = code & 0xFFFF, code >> 16, at + 4
        if start + size > len(data):
            raise ValueError("the file ends within an array")
        yield code, data[start : start + size]
        at = start + size if code == 15 else -(-(start + size) // 8) * 8


def _require_numbers(file: Path, key: str, kind: str) -> None:
    if not _MATLAB_NUMBERS.fullmatch(kind):
        raise NetworkFileError(
            f"{file}: {key} is a MATLAB {kind}, not a matrix of numbers; save these, "
            f"e.g. A = s.A; C = s.C; save('network.mat', 'A', 'C')."
        )


@contextmanager
def _open_hdf5(file: Path) -> Iterator[Archive]:
    from scipy.sparse import csc_array

    h5py = _optional("h5py", file)
    with h5py.File(file, "r") as archive:
        classes = {key: _matlab_class(item) for key, item in archive.items() if key[0] != "#"}

        def fetch(key: str) -> Any:
            item = archive[key]
            _require_numbers(file, key, classes[key])
            if classes[key] == "sparse":
                starts = item["jc"][()].astype(np.int64)
                data, rows = (item[part][()] if part in item else [] for part in ("data", "ir"))
                shape = (int(item.attrs["MATLAB_sparse"]), len(starts) - 1)
                return csc_array((_complex(data), np.asarray(rows, np.int64), starts), shape=shape)
            return _complex(item[()]).T  # MATLAB's columns are HDF5's rows

        shapes = {key: getattr(archive[key], "shape", ())[::-1] for key in classes}
        yield {key: f"{shapes[key] or ''} {kind}".strip() for key, kind in classes.items()}, fetch


def _matlab_class(item: Any) -> str:
    for mark, kind in (("MATLAB_sparse", "sparse"), ("MATLAB_empty", "empty array")):
        if item.attrs.get(mark):
            return kind
    # Without the mark MATLAB did not write it, and whether it is transposed cannot be known.
    kind = item.attrs.get("MATLAB_class", "array without MATLAB_class")
    return kind.decode() if isinstance(kind, bytes) else str(kind)


def _complex(stored: Any) -> NDArray[Any]:
    values: NDArray[Any] = np.asarray(stored)
    if values.dtype.names != ("real", "imag"):
        return values
    joined = np.empty(values.shape, dtype=np.complex128)
    joined.real, joined.imag = values["real"], values["imag"]
    return joined


@contextmanager
def _open_safetensors(file: Path) -> Iterator[Archive]:
    with _optional("safetensors", file).safe_open(str(file), framework="numpy") as archive:
        slices = {key: archive.get_slice(key) for key in archive.keys()}  # noqa: SIM118

        def fetch(key: str) -> Any:
            if re.match("BF|F[468]_", slices[key].get_dtype()):
                _optional("ml_dtypes", file, install="ml_dtypes")
            tensor = archive.get_tensor(key)
            return tensor if tensor.dtype.kind in "biufc" else tensor.astype(np.float32)

        about = {key: f"{tuple(s.get_shape())} {s.get_dtype()}" for key, s in slices.items()}
        yield about, fetch


_SINGLE: dict[str, Callable[[Path], Any]] = {
    ".npy": _read_npy,
    ".csv": _read_csv,
    ".mtx": _read_mtx,
}
_ARCHIVES: dict[str, Callable[[Path], AbstractContextManager[Archive]]] = {
    ".npz": _open_npz,
    ".mat": _open_mat,
    ".safetensors": _open_safetensors,
}
