"""Studies: which cases to compute, from a TOML file or from Python, checked field by field."""

import itertools
import json
import math
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from memcurve.core.arguments import require_flag, require_size
from memcurve.io import NETWORK_FORMATS, name_as_text
from memcurve.studies.sweeping.cases import TIDY, USUAL, Case, label, tidy_keep
from memcurve.studies.sweeping.store import fault

#: What can be varied, in the order of tables.
AXES = (
    "ensemble", "file", "size", "spectral_radius", "density", "leak", "mask", "inputs", "input",
    "noise", "method", "lags", "seed",
)  # fmt: skip
WHOLE = ("size", "inputs", "lags", "seed")
NUMBERS = (*WHOLE, "spectral_radius", "density", "leak", "noise")
#: The built-in studies, one file each.
LIBRARY = Path(__file__).with_name("builtin")
#: The fields of a study file, and those of a range in it.
FIELDS = ("title", "keep", "quick", "grid")
RANGE = ("from", "to", "step", "count", "log")
#: Values that a range lists at most. Doubled: more memory for a study.
MOST_VALUES = 100_000


class Named(NamedTuple):
    """An ensemble or a method, with its options."""

    name: str
    options: dict[str, Any]

    @property
    def label(self) -> str:
        """As tables show it."""
        return label(self.name, self.options)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Study:
    """What to vary, and what to keep of each case.

    Made from a file by :meth:`load`, or in Python by :meth:`grid`. Cases are generated lazily: a
    study of a billion takes no memory.

    Attributes
    ----------
    name, text, title : str
        The name of the file without its ending, the study as TOML, and the picture's title.
    axes : dict
        The values of each axis, in the order of the file.
    keep : tuple of str
        Quantities saved for each case.

    Examples
    --------
    >>> from memcurve import Study
    >>> study = Study.grid(ensemble="normal", size=[10, 20], seed=range(1, 4), keep="total")
    >>> study.count
    6
    >>> next(study.cases()).to_dict()
    {'ensemble': 'normal', 'size': 10, 'method': 'exact', 'seed': 1, 'keep': ['total']}
    >>> print(study.text)
    keep = "total"
    <BLANKLINE>
    [grid]
    ensemble = "normal"
    size = [10, 20]
    seed = { from = 1, to = 3, step = 1 }
    <BLANKLINE>
    """

    name: str
    text: str
    title: str
    axes: dict[str, Sequence[Any]]
    keep: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of cases; none is made to count them."""
        return math.prod(len(values) for values in self.axes.values())

    @property
    def varied(self) -> tuple[str, ...]:
        """The axes along which cases differ, in the order of tables."""
        return tuple(axis for axis in AXES if len(self.axes.get(axis, ())) > 1)

    def cases(self) -> Iterator[Case]:
        """All cases, one by one; the last axis runs fastest."""
        return map(self.case_at, range(self.count))

    def keyed(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The key and the content of each case."""
        return ((case.key, case.to_dict()) for case in self.cases())

    def case_at(self, index: int) -> Case:
        """Case number ``index``, from 0."""
        chosen, rest = {}, index
        for axis, values in reversed(self.axes.items()):
            rest, position = divmod(rest, len(values))
            chosen[axis] = values[position]
        try:
            return self._case(chosen)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.name}: grid: case {index}: {error}") from None

    def _case(self, values: Mapping[str, Any]) -> Case:
        fields: dict[str, Any] = dict(values)
        for axis, options in (("ensemble", "ensemble_options"), ("method", "options")):
            if isinstance(fields.get(axis), Named):
                fields[axis], fields[options] = fields[axis]
        return Case(**fields, keep=self.keep)

    def _require_cases(self) -> None:
        """Raise where values that are fine by themselves do not go together."""
        # only what an ensemble, a mask and a method take depends on the others
        first = {axis: values[0] for axis, values in self.axes.items()}
        axes = [axis for axis in ("ensemble", "file", "mask", "method") if axis in self.axes]
        for combination in itertools.product(*(self.axes[axis] for axis in axes)):
            try:
                self._case(first | dict(zip(axes, combination, strict=True)))
            except (TypeError, ValueError) as error:
                raise ValueError(f"grid: {error}") from None

    @classmethod
    def load(cls, source: str | os.PathLike[str], *, quick: bool = False) -> Self:
        """Read a study file, or a built-in study by its name.

        ``quick`` uses the values of its ``[quick]`` table.
        """
        path = Path(source)
        if source in shipped() and not path.is_file():
            path = LIBRARY / f"{source}.toml"
        if not path.is_file():
            raise FileNotFoundError(
                fault("no_study", source=os.fspath(source), names=", ".join(shipped()))
            )
        return cls.from_text(path.read_bytes(), name_as_text(path.stem), quick=quick)

    @classmethod
    def from_text(cls, text: str | bytes, name: str = "study", *, quick: bool = False) -> Self:
        """The study written in ``text``."""
        try:
            text = text if isinstance(text, str) else text.decode()
            content = tomllib.loads(text)
            if quick:
                content = _made_quick(content)
                text = _as_toml(content)
            study = cls(name=name, text=text, **_checked(content))
            study._require_cases()
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ValueError(fault("no_toml", name=name, error=error)) from None
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        return study

    @classmethod
    def grid(cls, *, name: str = "study", **fields: Any) -> Self:
        """All combinations: each axis is a value or a list; other fields as in a file."""
        content = {key: fields[key] for key in fields if key in FIELDS}
        axes = {key: fields[key] for key in fields if key not in FIELDS}
        return cls.from_text(_as_toml(content | {"grid": axes}), name)

    def __repr__(self) -> str:
        lengths = (f"{axis}: {len(self.axes[axis])}" for axis in self.varied)
        return f"<Study {self.name}: {self.count:,} cases; {', '.join(lengths) or 'one case'}>"


def shipped() -> list[str]:
    """Names of the built-in studies.

    Examples
    --------
    >>> from memcurve.studies.sweeping import shipped
    >>> shipped()
    ['architectures', 'noise', 'radius', 'sparsity']
    """
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


# --- Checking a file.


def _checked(content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a study in these tables, or a ValueError that names field and value."""
    _require_fields(content, FIELDS, needed=("grid",))
    for name, kind, what in (
        ("title", str, "text"),
        ("quick", dict, "a table"),
        ("grid", dict, "a table"),
    ):
        if name in content and not isinstance(content[name], kind):
            raise ValueError(f"{name}: must be {what}, got {content[name]!r}.")
    axes = {}
    for axis, written in content["grid"].items():
        if axis not in AXES:
            raise ValueError(f"grid.{axis}: there is no such axis; axes are {', '.join(AXES)}.")
        try:
            axes[axis] = _axis_values(axis, written)
        except (TypeError, ValueError) as error:
            # the axis is named already
            raise ValueError(f"grid.{axis}: {str(error).removeprefix(f'`{axis}` ')}") from None
    for axis in ("ensemble", "size"):
        if axis in axes and "file" in axes:
            raise ValueError(f"grid.{axis}: is for ensembles; leave it out, or `file`.")
        if axis not in axes and "file" not in axes:
            raise ValueError(f"grid.{axis}: is missing; give a value or a list, or `file`.")
    keep = tidy_keep(content.get("keep", USUAL))
    return {"axes": axes, "keep": keep, "title": content.get("title", "")}


def _require_fields(table: Mapping[str, Any], fields: Sequence[str], needed: Sequence[str]) -> None:
    """Raise where a table has another field, or lacks one."""
    for name in table:
        if name not in fields:
            raise ValueError(f"{name}: there is no such field; there are {', '.join(fields)}.")
    for name in needed:
        if name not in table:
            raise ValueError(f"{name}: is missing; give it a value.")


def _axis_values(axis: str, written: Any) -> Sequence[Any]:
    """The values of an axis as a study writes them; long ranges are not expanded."""
    if isinstance(written, Mapping) and axis in NUMBERS:
        return _range_values(axis, written)
    values = tuple(written) if isinstance(written, list | tuple) else (written,)
    if axis == "file":
        values = tuple(itertools.chain.from_iterable(map(_files, values)))
    if not values:
        raise ValueError("is empty; give at least one value, or leave it out.")
    tidy = tuple(_value(axis, value) for value in values)
    for k, value in enumerate(tidy):
        if value in tidy[:k]:
            raise ValueError(f"has {values[k]!r} twice; leave one out.")
    return tidy


def _range_values(axis: str, bounds: Mapping[str, Any]) -> Sequence[Any]:
    """``{from, to}``, with ``step`` for whole numbers, ``count`` and ``log`` for others."""
    _require_fields(bounds, RANGE, needed=("from", "to"))
    first, last = (_value(axis, bounds[end]) or 0 for end in ("from", "to"))
    step = require_size(bounds.get("step", 1), "step")
    log = require_flag(bounds.get("log", False), "log")
    if isinstance(first, str) or isinstance(last, str) or not first <= last:
        raise ValueError(f"must go from a number up to another, got {first!r} and {last!r}.")
    if log and first <= 0:
        raise ValueError(f"must begin above 0 with log = true, got {first!r}.")
    if "count" in bounds:
        count = require_size(bounds["count"], "count", 2)
        if count > MOST_VALUES:
            raise ValueError(f"must have a `count` of at most {MOST_VALUES:,}, got {count:,}.")
        numbers = (np.geomspace if log else np.linspace)(first, last, count).tolist()
        if axis in WHOLE:
            return tuple(dict.fromkeys(_value(axis, round(number)) for number in numbers))
        # to 12 digits: 0.3 and not 0.30000000000000004
        return tuple(_value(axis, float(f"{number:.12g}")) for number in numbers)
    if axis not in WHOLE:
        raise ValueError("needs how many values, e.g. count = 5.")
    return range(int(first), int(last) + 1, step)


def _files(source: Any) -> list[str]:
    """The file of a network, or all those in a folder."""
    if not isinstance(source, str):
        raise ValueError(f"must be a file, a list of files or a folder; got {source!r}.")
    if not Path(source).is_dir():
        return [source]
    files = sorted(str(path) for path in Path(source).iterdir() if path.suffix in NETWORK_FORMATS)
    if not files:
        raise ValueError(f"the folder {source} has no file of a network.")
    return files


def _value(axis: str, value: Any) -> Any:
    if value is None:
        raise ValueError("must be a value, got none; leave the axis out for its default.")
    if axis not in ("ensemble", "method"):
        return TIDY[axis](value)
    options = dict(value) if isinstance(value, Mapping) else {"name": value}
    name = options.pop("name", None)
    return Named(TIDY[axis](name), TIDY["options"](options))


def _made_quick(content: Mapping[str, Any]) -> dict[str, Any]:
    """The tables with those values of ``[quick]`` in place of the whole study's."""
    if "quick" not in content:
        raise ValueError("has no [quick] table; add one, e.g. `[quick]`, then `size = 20`.")
    _checked(content)
    whole = {key: value for key, value in content.items() if key != "quick"}
    return whole | {"grid": content["grid"] | content["quick"]}


# --- Writing one.


def _as_toml(content: Mapping[str, Any]) -> str:
    """Tables as TOML that reads back the same; what Python alone has, in the words of a file."""
    plain = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    lines = list(_entries(plain))
    for name, table in content.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{name}]", *_entries(table)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _entries(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{_key(str(k))} = {_written(v)}" for k, v in table.items() if v is not None)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _written(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, range) and value and value.step > 0:
        value = {"from": value.start, "to": value[-1], "step": value.step}
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_entries(value))} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_written, value))}]"
    # JSON's escapes of rare characters are pairs, which TOML does not know
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
