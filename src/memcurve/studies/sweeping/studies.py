"""Studies: which cases to compute, from a TOML file or from Python."""

from __future__ import annotations

import itertools
import json
import math
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from memcurve.io import name_as_text
from memcurve.studies.sweeping.cases import LARGEST, Case
from memcurve.studies.sweeping.library import SHIPPED
from memcurve.studies.sweeping.specification import (
    BESIDE,
    Named,
    Span,
    Specification,
    checked,
    made_quick,
)

#: More values of one axis than this no picture could show.
_OUTLINED = 1000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Study(Specification):
    """What to vary, what to keep of each case, and what to draw at the end.

    Made from a file by :meth:`load`, or in Python by :meth:`grid`, :meth:`zip` and
    :meth:`random`. Cases are generated lazily: a study of a billion takes no memory.

    Attributes
    ----------
    name : str
        The name of the file without its ending.
    text : str
        The study as TOML, verbatim; saved with the results.
    file : str
        Its name in error messages.
    title : str
        Title of the picture.
    design : str
        ``"grid"``, ``"zip"`` or ``"random"``.
    axes : dict
        The values of each axis, in the order of the file.
    keep, curves
        Quantities saved for each case, and whether its curve is saved.
    conclusion, picture
        Name of the concluding sentence, and the picture that the file asks for.

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
    file: str

    def __post_init__(self) -> None:
        if self.count > LARGEST:
            raise ValueError(
                f"{self.file}: has {self.count:,} cases, more than can be numbered, {LARGEST:,} "
                f"(2^63 - 1); make its lists shorter."
            )
        if self.design == "zip":
            self._require_zipped()
        else:
            self._require_sound()

    @property
    def count(self) -> int:
        """Number of cases; none is made to count them."""
        if self.design == "random":
            return self.samples or 0
        lengths = [len(values) for values in self.axes.values()]
        return math.prod(lengths) if self.design == "grid" else max(lengths)

    def cases(self) -> Iterator[Case]:
        """All cases, one by one; in a grid the last axis runs fastest."""
        for index in range(self.count):
            yield self.case_at(index)

    def case_at(self, index: int) -> Case:
        """Case number ``index``, from 0; each has its own seed."""
        try:
            return self._case(self._values_at(index))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.file}: {self.design}: case {index}: {error}") from None

    def _values_at(self, index: int) -> dict[str, Any]:
        if self.design == "zip":
            return {a: v[0] if len(v) == 1 else v[index] for a, v in self.axes.items()}
        chosen: dict[str, Any] = {}
        if self.design == "grid":
            for axis, values in reversed(self.axes.items()):
                index, place = divmod(index, len(values))
                chosen[axis] = values[place]
            return chosen
        # the same sample however many there are
        stream = np.random.SeedSequence(self.search_seed, spawn_key=(index,))
        rng = np.random.default_rng(stream)
        # of 53 bits, which every format of tables holds exactly
        chosen["seed"] = int(rng.integers(2**53))
        for axis, values in sorted(self.axes.items()):
            share = float(rng.random())
            drawn = isinstance(values, Span)
            chosen[axis] = values.at(share) if drawn else values[int(share * len(values))]
        return chosen

    def _case(self, values: Mapping[str, Any]) -> Case:
        fields: dict[str, Any] = dict(values)
        for axis, options in (("ensemble", "ensemble_options"), ("method", "options")):
            if isinstance(fields.get(axis), Named):
                fields[axis], fields[options] = fields[axis]
        return Case(**fields, keep=self.keep, curve=self.curves)

    def outline(self) -> Iterator[Case]:
        """Cases in which every axis takes its values, few however many combinations there are."""
        if self.design != "grid":
            yield from itertools.islice(self.cases(), _OUTLINED)
            return
        first = {axis: values[0] for axis, values in self.axes.items()}
        for axis, values in self.axes.items():
            yield from (self._case(first | {axis: value}) for value in values[:_OUTLINED])

    def _require_zipped(self) -> None:
        """Raise unless the lists go together, and no case is there twice."""
        lengths = {axis: len(values) for axis, values in self.axes.items() if len(values) > 1}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{axis} has {length}" for axis, length in lengths.items())
            raise ValueError(
                f"{self.file}: zip: all lists must have the same length, but {listed}; make "
                f"them equal, or take [grid] for all combinations."
            )
        places: dict[str, int] = {}
        for index, case in enumerate(self.cases()):
            before = places.setdefault(case.key, index)
            if before != index:
                raise ValueError(
                    f"{self.file}: zip: cases {before} and {index}, counted from 0, are the "
                    f"same; leave one out, or give them seeds of their own."
                )

    def _require_sound(self) -> None:
        """Raise where values that are fine by themselves do not go together.

        Only what an ensemble, a mask and a method take depends on the others.
        """
        first = {a: v.at(0.0) if isinstance(v, Span) else v[0] for a, v in self.axes.items()}
        if self.design == "random":
            first["seed"] = self.search_seed
        axes = [a for a in ("ensemble", "file", "mask", "method") if a in self.axes]
        for combination in itertools.product(*(self.axes[axis] for axis in axes)):
            try:
                self._case(first | dict(zip(axes, combination, strict=True)))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{self.file}: {self.design}: {error}") from None

    @classmethod
    def load(cls, source: str | os.PathLike[str], *, quick: bool = False) -> Self:
        """Read a study file, or a built-in study by its name.

        ``quick`` uses the values of its ``[quick]`` table.
        """
        path = Path(source)
        if isinstance(source, str) and source in SHIPPED and not path.is_file():
            return cls.from_text(SHIPPED[source].text, source, quick=quick)
        if not path.is_file():
            raise FileNotFoundError(
                f"{os.fspath(source)}: there is no such study file; check the path, or use a "
                f"built-in study: {', '.join(shipped())}."
            )
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path.name}: is not TOML, which is UTF-8 text: {error}.") from None
        name, file = name_as_text(path.stem), name_as_text(path.name)
        return cls.from_text(text, name, file, quick=quick)

    @classmethod
    def from_text(
        cls, text: str, name: str = "study", file: str | None = None, *, quick: bool = False
    ) -> Self:
        """The study written in ``text``; errors call it ``file``."""
        called = file or f"{name}.toml"
        try:
            content = tomllib.loads(text)
            if quick:
                content = made_quick(content)
                text = _as_toml(content)
            specification = checked(content)
            _require_conclusive(specification)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise ValueError(
                f"{called}: is not TOML: {error}; a study is written like `[grid]`, then `size = "
                f"[50, 100]`, one axis per line."
            ) from None
        except ValueError as error:
            raise ValueError(f"{called}: {error}") from None
        return cls(name=name, text=text, file=called, **vars(specification))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], name: str = "study") -> Self:
        """The study in these tables, which are those of a file."""
        return cls.from_text(_as_toml(content), name, name)

    @classmethod
    def grid(cls, *, name: str = "study", **fields: Any) -> Self:
        """All combinations: each axis is a value or a list; other fields as in a file."""
        return cls._of("grid", name, fields)

    @classmethod
    def zip(cls, *, name: str = "study", **fields: Any) -> Self:
        """The first values of all axes, the second of all, and so on."""
        return cls._of("zip", name, fields)

    @classmethod
    def random(cls, samples: int, seed: int, *, name: str = "study", **fields: Any) -> Self:
        """A random search: ``samples`` cases from lists and from ``{low, high, log}``."""
        return cls._of("random", name, {"samples": samples, "seed": seed} | fields)

    @classmethod
    def _of(cls, design: str, name: str, fields: Mapping[str, Any]) -> Self:
        content = {key: fields[key] for key in fields if key in BESIDE}
        axes = {key: fields[key] for key in fields if key not in BESIDE}
        return cls.from_dict(content | {design: axes}, name)

    def __repr__(self) -> str:
        varied = {
            axis: f"{values.low:g} … {values.high:g}" if isinstance(values, Span) else len(values)
            for axis, values in self.axes.items()
            if isinstance(values, Span) or len(values) > 1
        }
        listed = ", ".join(f"{axis}: {values}" for axis, values in varied.items()) or "one case"
        return f"<Study {self.name}: {self.count:,} cases, {self.design}; {listed}>"


def shipped() -> list[str]:
    """Names of the built-in studies.

    Examples
    --------
    >>> from memcurve.studies.sweeping import shipped
    >>> shipped()
    ['architectures', 'noise', 'radius', 'sparsity']
    """
    return sorted(SHIPPED)


def _require_conclusive(specification: Specification) -> None:
    """Raise unless the study has all that its concluding sentence needs, before it is run."""
    name = specification.conclusion
    if name is None:
        return
    if name not in SHIPPED:
        raise ValueError(f"conclusion: {name!r} is none of {', '.join(SHIPPED)}.")
    if specification.design != "grid":
        raise ValueError(
            f"conclusion: {name!r} compares all combinations, so it needs [grid], not "
            f"[{specification.design}]; leave it out for a general sentence."
        )
    needs, axes, keep = SHIPPED[name], specification.axes, specification.keep
    lacking = [f"the axis {axis!r} in [grid]" for axis in needs.axes if axis not in axes]
    lacking += [f"{one!r} in `keep`" for one in needs.quantities if one not in keep]
    if lacking:
        raise ValueError(
            f"conclusion: {name!r} needs {' and '.join(lacking)}; add that, or leave "
            f"`conclusion` out for a general sentence."
        )


def _as_toml(content: Mapping[str, Any]) -> str:
    """Tables as TOML that reads back the same; what Python alone has, in the words of a file."""
    plain = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    lines = list(_entries(plain))
    for name, table in content.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{_key(name)}]", *_entries(table)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _entries(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{_key(str(k))} = {_written(v)}" for k, v in table.items() if v is not None)


def _key(name: str) -> str:
    bare = name.replace("_", "").replace("-", "")
    return name if bare.isascii() and bare.isalnum() else _quoted(name)


def _written(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, range) and value and value.step > 0:
        value = {"from": value.start, "to": value[-1], "step": value.step}
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_entries(value))} }}"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, int | float):
        return repr(value).lower()
    raise TypeError(f"a study file holds numbers, words, lists and tables; got {value!r}.")


def _quoted(text: str) -> str:
    """A TOML string. JSON's escapes of rare characters are pairs, which TOML does not know."""
    text.encode()  # raises for half a character, which no file could hold
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
