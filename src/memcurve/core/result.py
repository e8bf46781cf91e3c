"""The base class of all results: JSON and its schema, files, data frames, plots."""

import functools
import json
import os
import secrets
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, ClassVar, Self

import numpy as np

from memcurve.core.cells import csv_text, latex_text
from memcurve.core.notes import Note
from memcurve.core.optional import optional
from memcurve.core.version import __version__

#: What contents that are no result of this kind may raise as they are read.
_WRONG = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


class Result(ABC):
    """A frozen dataclass of what was computed.

    Its fields are its JSON, read and written by pydantic from their annotations: those of
    :mod:`memcurve.core.types` for arrays and for whatever JSON can hold.
    A subclass gives a ``FORMAT`` and how it is shown: ``columns`` and ``plot``.
    """

    #: ``memcurve.<class>/<version>``, the first entry of its JSON.
    FORMAT: ClassVar[str]
    #: Entries of the JSON that are no fields, but properties; nothing reads them.
    DERIVED: ClassVar[tuple[str, ...]] = ()
    #: Whether the first column says what a row is about: the index of a frame.
    INDEXED: ClassVar[bool] = True
    #: Fields and properties that are attributes of a frame or Dataset.
    ATTRIBUTES: ClassVar[tuple[str, ...]] = ()
    __pydantic_config__: ClassVar = {"arbitrary_types_allowed": True, "extra": "forbid"}

    notes: tuple[Note, ...]

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """The numbers as columns of a table, by name: what frames, CSV and LaTeX have."""

    def _attributes(self) -> Mapping[str, Any]:
        return {name: getattr(self, name) for name in self.ATTRIBUTES}

    def to_pandas(self) -> Any:
        """The :meth:`columns` as a pandas DataFrame."""
        pd = optional("pandas", "this", "frames")
        frame = pd.DataFrame(dict(self.columns()))
        frame = frame.set_index(frame.columns[0]) if self.INDEXED else frame
        frame.attrs.update(self._attributes())
        return frame

    def to_polars(self) -> Any:
        """The same as a polars DataFrame, its index among the columns."""
        polars = optional("polars", "this", "polars")
        return polars.from_pandas(self.to_pandas().reset_index())

    def to_xarray(self) -> Any:
        """An xarray Dataset of the :meth:`columns` over the first of them."""
        xr = optional("xarray", "this", "frames")
        (index, places), *others = self.columns().items()
        data = {name: (index, np.asarray(values)) for name, values in others}
        attributes = {**self._attributes(), "notes": "\n".join(self.notes)}
        return xr.Dataset(data, coords={index: np.asarray(places)}, attrs=attributes)

    @abstractmethod
    def plot(self, ax: Any = None) -> Any:
        """Draw the result and return matplotlib's axes."""

    def _derived(self) -> dict[str, Any]:
        """Entries of the JSON besides the fields, for other programs."""
        return {name: getattr(self, name) for name in self.DERIVED}

    def to_json(self) -> str:
        """The whole result as JSON; floats keep every digit, NaN and infinity are strings."""
        fields = _adapter(type(self)).dump_python(self, mode="python")
        content = {"format": self.FORMAT, **self._derived(), **fields}
        return json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """The :meth:`columns` as CSV, their names first, numbers with every digit."""
        return csv_text(self.columns())

    def to_latex(self) -> str:
        """The :meth:`columns` as a LaTeX tabular, six digits of each number."""
        return latex_text(self.columns())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read back what :meth:`to_json` wrote."""
        try:
            content = json.loads(text)
            if not isinstance(content, dict) or content.pop("format", None) != cls.FORMAT:
                raise ValueError(f"its `format` is not {cls.FORMAT!r}")
            fields = {name: v for name, v in content.items() if name not in cls.DERIVED}
            result: Self = _adapter(cls).validate_python(fields)
        except _WRONG as error:
            raise ValueError(
                f"`text` must be the JSON of a result written by {cls.__name__}.save: "
                f"{_reason(error)}."
            ) from error
        return result

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema (draft 2020-12) of :meth:`to_json`."""
        schema = _with_special_floats(_adapter(cls).json_schema())
        derived: dict[str, Any] = {name: {} for name in cls.DERIVED}
        schema["properties"] = {"format": {"const": cls.FORMAT}} | derived | schema["properties"]
        schema["required"] = list(schema["properties"])
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file; its ending chooses what is written.

        ``.json`` has everything, and :meth:`load` gives it back to the last bit; ``.csv`` and
        ``.tex`` have the table of :meth:`columns`. A file of that name is replaced in one step, so
        that no half-written one is ever seen.
        """
        write = ENDINGS[require_ending(path)]
        with replacing(path) as stream:
            stream.write(getattr(self, write)().encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a result written by :meth:`save`."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            text = f"{os.fspath(path)} is not a saved {cls.__name__}: {error}"
            raise ValueError(text) from error


#: The endings of files that :meth:`Result.save` writes, and how.
ENDINGS = {".json": "to_json", ".csv": "to_csv", ".tex": "to_latex"}


def require_ending(path: str | os.PathLike[str], endings: Iterable[str] = ENDINGS) -> str:
    """The ending of a file, if it is one of these."""
    ending = Path(path).suffix.lower() if isinstance(path, str | os.PathLike) else None
    if ending not in endings:
        raise ValueError(f"`path` must end in one of {', '.join(endings)}, got {str(path)!r:.80}.")
    return ending


def _reason(error: Exception) -> str:
    """The first validation error, in one line."""
    if not hasattr(error, "errors"):
        return str(error)
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}"


def _with_special_floats(schema: Any) -> Any:
    """A schema in which numbers may be the strings that stand for NaN and infinity."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "number":
            rest = {k: v for k, v in schema.items() if k not in ("type", "default")}
            return rest | {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}
        return {k: _with_special_floats(v) for k, v in schema.items() if k != "default"}
    return [_with_special_floats(v) for v in schema] if isinstance(schema, list) else schema


@functools.cache
def _adapter(kind: type) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


@functools.cache
def installed_versions() -> Mapping[str, str]:
    """Versions of the packages that the numbers depend on."""
    import platform

    import flint
    import scipy

    return {
        "memcurve": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python-flint": flint.__version__,
    }


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a draft that replaces a file once it is complete; links are followed."""
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
        held = ", and that no other program has it open" if sys.platform == "win32" else ""
        raise type(error)(
            f"{name}: cannot be written ({error.strerror}); check that its folder exists, may be "
            f"written to and has room{held}."
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def plain(value: Any) -> Any:
    """JSON has no NaN or infinity: they become strings that ``float`` reads; complex are pairs."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(v) for v in value]
    return value
