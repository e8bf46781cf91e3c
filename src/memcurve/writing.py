"""Results as JSON, and files that are either written whole or not at all."""

from __future__ import annotations

import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

import numpy as np


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a draft that takes the place of ``path``, in one step, once it is complete.

    A link is followed; whatever is there and is no file (a folder, a device) is left alone.
    """
    name = os.fspath(path)
    file = Path(path).resolve()
    if file.exists() and not file.is_file():
        raise ValueError(f"`path` must be a file, got {name!r}, which is none; name another.")
    draft = file.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(file)
    except OSError as error:
        raise type(error)(
            f"{name}: cannot be written ({error.strerror}); check that its folder exists, may be "
            f"written to and has room."
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def plain(value: Any) -> Any:
    """JSON has no NaN or infinity: they become strings that ``float`` reads."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(v) for v in value]
    return value


class Saved(ABC):
    """A result that is kept in a JSON file, by its own ``to_json`` and ``from_json``."""

    @abstractmethod
    def to_json(self) -> str:
        """The whole result as JSON; floats keep every digit."""

    @classmethod
    @abstractmethod
    def from_json(cls, text: str) -> Self:
        """Read back what :meth:`to_json` wrote."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a JSON file; :meth:`load` gives it back to the last bit.

        A file of that name is replaced in one step, so that no half-written one is ever seen.
        """
        with replacing(path) as stream:
            stream.write(self.to_json().encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a result written by :meth:`save`."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{os.fspath(path)} is not a saved {cls.__name__}: {error}."
            ) from error
