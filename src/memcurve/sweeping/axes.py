"""The axes of a study: what may be varied, and how its values are written."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memcurve.ensembles import ENSEMBLES
from memcurve.masks import MASKS
from memcurve.methods import METHODS
from memcurve.sweeping.fields import LARGEST, TIDY, ensemble_options, label, method_options

#: What can be varied, in the order of tables.
AXES = (
    "ensemble", "size", "spectral_radius", "density", "mask", "inputs", "input", "noise",
    "method", "lags", "seed",
)  # fmt: skip
WHOLE = ("size", "inputs", "lags", "seed")
_NUMBERS = ("spectral_radius", "density", "noise")
_TABLES: dict[str, Mapping[str, Any]] = {"ensemble": ENSEMBLES, "method": METHODS, "mask": MASKS}
_OPTIONS = {"ensemble": ensemble_options, "method": method_options}


class Named(NamedTuple):
    """An ensemble or a method, with its options."""

    name: str
    options: dict[str, Any]

    @property
    def label(self) -> str:
        """As tables show it."""
        return label(self.name, self.options)


class Span(NamedTuple):
    """Numbers to draw from, of a random search."""

    low: float
    high: float
    log: bool
    whole: bool

    def at(self, share: float) -> float | int:
        """The number below which this share of all lies."""
        low, high = float(self.low), float(self.high)
        if self.whole:  # each whole number has half a step of room on either side
            low, high = low - 0.5, high + 0.5
        if self.log:
            number = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            number = low + share * (high - low)
        inside = min(self.high, max(self.low, number))
        return round(inside) if self.whole else inside


def axis_values(
    name: str, given: Any, *, random: bool = False, repeats: bool = False
) -> Sequence[Any] | Span:
    """The values of the axis ``name`` as a study writes them.

    One value, a list, ``{from, to}`` (with ``step`` for whole numbers, ``count`` and ``log`` for
    others), or in a random search ``{low, high, log}``. Long ranges are not expanded. A list has a
    value twice only where ``repeats`` is true: in a zip that makes another case, in a random search
    it is drawn twice as often.
    """
    if isinstance(given, Mapping) and not (name in _OPTIONS and "name" in given):
        if random and set(given) & {"low", "high"}:
            return _span(name, given)
        if name not in (*WHOLE, *_NUMBERS):
            raise ValueError(f"must be a value or a list of values, {_forms(name)}; got {given!r}.")
        return _range(name, given) if name in WHOLE else _spaced(name, given)
    values = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not values:
        raise ValueError("is empty; give at least one value, or leave it out.")
    tidy = tuple(_value(name, value) for value in values)
    for k, value in enumerate(() if repeats else tidy):
        if value in tidy[:k]:
            raise ValueError(f"has {values[k]!r} twice; leave one out.")
    return tidy


def differ(values: Sequence[Any]) -> bool:
    """Whether an axis takes more than one value."""
    if isinstance(values, range):
        return len(values) > 1
    return any(value != values[0] for value in values)


def shown(value: Any) -> Any:
    """A value as a coordinate: words for ensembles and methods, None as the default it means."""
    return value.label if isinstance(value, Named) else value


def _value(name: str, value: Any) -> Any:
    if name in _OPTIONS:
        return _named(name, value)
    if name in _TABLES and (not isinstance(value, str) or value not in _TABLES[name]):
        raise ValueError(f"{value!r} is none of {', '.join(_TABLES[name])}{_near(name, value)}.")
    if value is None:
        raise ValueError("must be a value, got none; leave the axis out for its default.")
    if name in WHOLE and isinstance(value, int) and value > LARGEST:
        raise ValueError(f"must be at most {LARGEST} (2^63 - 1), got {value}; take a smaller one.")
    try:
        return TIDY[name](value)
    except (TypeError, ValueError) as error:
        raise ValueError(re.sub(r"^`\w+` ", "", str(error))) from None


def _named(kind: str, value: Any) -> Named:
    table = value if isinstance(value, Mapping) else {"name": value}
    options = {key: option for key, option in table.items() if key != "name"}
    name = table.get("name")
    if not isinstance(name, str) or name not in _TABLES[kind]:
        raise ValueError(f"{name!r} is none of {', '.join(_TABLES[kind])}{_near(kind, name)}.")
    taken = _OPTIONS[kind](name)
    for key in options:
        if key not in taken:
            raise ValueError(
                f"{name!r} has no option {key!r}; it takes {', '.join(taken) or 'none'}."
            )
    try:
        return Named(name, TIDY["options"](options))
    except TypeError as error:
        raise ValueError(re.sub(r"^`\w+` ", f"the options of {name!r} ", str(error))) from None


def _near(kind: str, value: Any) -> str:
    found = difflib.get_close_matches(str(value), _TABLES[kind], 1)
    return f" (did you mean {found[0]!r}?)" if found else ""


def _range(name: str, given: Mapping[str, Any]) -> range:
    _require_keys(given, ("from", "to"), ("step",))
    first, last, step = given["from"], given["to"], given.get("step", 1)
    for key, number in (("from", first), ("to", last), ("step", step)):
        if isinstance(number, bool) or not isinstance(number, int):
            raise ValueError(f"`{key}` must be a whole number, got {number!r}.")
    if step < 1:
        raise ValueError(f"`step` must be at least 1, got {step}.")
    if last < first:
        raise ValueError(f"`to` must not be below `from`, got {first} to {last}: there is nothing.")
    for end in (first, last):
        _value(name, end)
    if (last - first) // step >= LARGEST:
        raise ValueError(
            f"has more than {LARGEST} (2^63 - 1) values, {first} to {last}; take fewer, or a "
            f"larger `step`."
        )
    return range(first, last + 1, step)


def _spaced(name: str, given: Mapping[str, Any]) -> tuple[float, ...]:
    _require_keys(given, ("from", "to", "count"), ("log",))
    count = given["count"]
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= 100_000:
        raise ValueError(f"`count` must be a whole number from 2 to 100,000, got {count!r}.")
    first, last, log = _ends(name, given, "from", "to")
    # to 12 digits: 0.3 and not 0.30000000000000004
    span = Span(first, last, log, whole=False)
    values = [float(f"{span.at(k / (count - 1)):.12g}") for k in range(count)]
    return tuple(_value(name, value) for value in values)


def _span(name: str, given: Mapping[str, Any]) -> Span:
    if name not in (*WHOLE, *_NUMBERS):
        raise ValueError(f"must be a value or a list of values, {_forms(name)}; got {given!r}.")
    _require_keys(given, ("low", "high"), ("log",))
    return Span(*_ends(name, given, "low", "high"), whole=name in WHOLE)


def _ends(name: str, given: Mapping[str, Any], low: str, high: str) -> tuple[Any, Any, bool]:
    """The numbers under the keys ``low`` and ``high``, and whether their steps are ratios."""
    first, last = (_value(name, given[key]) or 0 for key in (low, high))
    log = given.get("log", False)
    if not isinstance(log, bool):
        raise ValueError(f"`log` must be true or false, got {log!r}.")
    if isinstance(first, str) or isinstance(last, str) or not first < last:
        raise ValueError(f"`{low}` must be a number below `{high}`, got {first!r} and {last!r}.")
    if log and first <= 0:
        raise ValueError(f"`{low}` must be above 0 with log = true, got {first!r}.")
    return first, last, log


def _require_keys(given: Mapping[str, Any], needed: Sequence[str], extra: Sequence[str]) -> None:
    form = f"{{{', '.join(f'{key} = …' for key in needed)}}}"
    for key in needed:
        if key not in given:
            raise ValueError(f"a range has the form {form}; got {dict(given)!r}, without {key!r}.")
    for key in given:
        if key not in (*needed, *extra):
            allowed = ", ".join((*needed, *extra))
            raise ValueError(f"a range has no {key!r}; it has {allowed}.")


def _forms(name: str) -> str:
    if name in _OPTIONS:
        return 'each a name or { name = "…", option = … }'
    return "each a word"
