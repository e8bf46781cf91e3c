"""What all readers share: the error that names the file, and the guards that raise it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memcurve.limits import TooLargeError

#: An open archive: what each array is, e.g. "(3, 3) float64", and how to read one by its name.
Archive = tuple[dict[str, str], Callable[[str], Any]]

_NO_FILE: dict[type[OSError], str] = {
    FileNotFoundError: "no such file; check the spelling and the working directory",
    IsADirectoryError: "is a directory; give the path of a file in it",
    PermissionError: "may not be read; change its permissions",
}


class NetworkFileError(ValueError):
    """A file that does not hold a network; the message names the file and the remedy."""


def readable(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that can be opened and is not empty, or say why there is none."""
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
def reading(file: Path) -> Iterator[None]:
    """Turn whatever a damaged file makes its reader raise into one error that names the file."""
    try:
        yield
    except (NetworkFileError, ImportError, TooLargeError):
        raise
    except Exception as error:
        raise NetworkFileError(
            f"{file}: cannot be read as {file.suffix} ({type(error).__name__}: {error}); it is "
            f"damaged, incomplete or of another kind: write or download it again."
        ) from error


def as_mask(C: Any, row_too: bool = False) -> Any:
    """Return an input mask dense, and as a vector where it has one column (``row_too``: or row)."""
    C = C.toarray() if hasattr(C, "toarray") else C
    shape: tuple[int, ...] = getattr(C, "shape", ())
    one_input = len(shape) == 2 and (shape[1] == 1 or (row_too and shape[0] == 1))
    return C.reshape(-1) if one_input else C


def pickle_error(file: Path) -> NetworkFileError:
    """Return the error for a file that holds Python objects instead of numbers."""
    return NetworkFileError(
        f"{file}: holds Python objects (a pickle), never loaded since that can run any code; "
        f"save plain numbers, e.g. numpy.asarray(A, dtype=float)."
    )
