"""What a study file says: axes and their values, the picture, all checked field by field."""

from __future__ import annotations

import difflib
import functools
import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    create_model,
)

from memcurve.io import NETWORK_FORMATS
from memcurve.memory import METHODS
from memcurve.studies.sweeping.cases import (
    LARGEST,
    QUANTITIES,
    TABLES,
    TIDY,
    USUAL,
    ensemble_options,
    file_and_digest,
    label,
    tidy_keep,
)

#: What can be varied, in the order of tables.
AXES = (
    "ensemble", "file", "size", "spectral_radius", "density", "leak", "mask", "inputs", "input",
    "noise", "method", "lags", "seed",
)  # fmt: skip
WHOLE = ("size", "inputs", "lags", "seed")
_OPTIONS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "ensemble": ensemble_options,
    "method": lambda name: METHODS[name].settings,
}
DESIGNS = ("grid", "zip", "random")
KINDS = ("lines", "bars", "heatmap", "curves")


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
        """The quantile of this ``share``."""
        low, high = float(self.low), float(self.high)
        if self.whole:  # each whole number has half a step of room on either side
            low, high = low - 0.5, high + 0.5
        if self.log:
            number = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            number = low + share * (high - low)
        inside = min(self.high, max(self.low, number))
        return round(inside) if self.whole else inside


def axis_values(name: str, given: Any, *, design: str) -> Sequence[Any] | Span:
    """The values of the axis ``name`` as a study writes them.

    One value, a list, ``{from, to}`` (with ``step`` for whole numbers, ``count`` and ``log`` for
    others), or in a random search ``{low, high, log}``, also written ``{from, to, log}``. Long
    ranges are not expanded. Only in a grid may no value be there twice: in a zip that makes another
    case, in a random search it is drawn twice as often.
    """
    if isinstance(given, Mapping) and not (name in _OPTIONS and "name" in given):
        if name not in (*WHOLE, "spectral_radius", "density", "leak", "noise"):
            form = 'a name or { name = "…", option = … }' if name in _OPTIONS else "a word"
            raise ValueError(f"must be a value or a list of values, each {form}; got {given!r}.")
        listed = {"count", "step"} & {*given} or (name in WHOLE and {*given} == {"from", "to"})
        if design == "random" and not listed:
            ends = {"from": "low", "to": "high"}  # all that lies between
            limits = {ends.get(key, key): value for key, value in given.items()}
            return _span(name, _validated(_Limits, limits))
        return _range(name, given) if name in WHOLE else _spaced(name, given)
    values = tuple(given) if isinstance(given, list | tuple) else (given,)
    if name == "file":
        values = tuple(itertools.chain.from_iterable(map(_files, values)))
    if not values:
        raise ValueError("is empty; give at least one value, or leave it out.")
    tidy = tuple(_value(name, value) for value in values)
    for k, value in enumerate(tidy):
        if design == "grid" and value in tidy[:k]:
            raise ValueError(f"has {values[k]!r} twice; leave one out.")
    return tidy


def _files(given: Any) -> list[str]:
    """The file of a network, or all those in a folder."""
    if not isinstance(given, str):
        raise ValueError(f"must be a file, a list of files or a folder; got {given!r}.")
    if not Path(given).is_dir():
        return [file_and_digest(given)[0]]
    found = sorted(str(path) for path in Path(given).iterdir() if path.suffix in NETWORK_FORMATS)
    if not found:
        raise ValueError(f"the folder {given} has no file of a network.")
    return found


def _value(name: str, value: Any) -> Any:
    if name in _OPTIONS:
        return _named(name, value)
    if name in TABLES:
        return _one_of(value, TABLES[name])
    if value is None:
        raise ValueError("must be a value, got none; leave the axis out for its default.")
    if name in WHOLE and isinstance(value, int) and value > LARGEST:
        raise ValueError(f"must be at most {LARGEST} (2^63 - 1), got {value}; take a smaller one.")
    try:
        return TIDY[name](value)
    except (TypeError, ValueError) as error:
        raise ValueError(str(error).removeprefix(f"`{name}` ")) from None  # it is named already


def _named(kind: str, value: Any) -> Named:
    options = dict(value) if isinstance(value, Mapping) else {"name": value}
    name = _one_of(options.pop("name", None), TABLES[kind])
    taken = _OPTIONS[kind](name)
    for key in options:
        if key not in taken:
            allowed = ", ".join(taken) or "none"
            raise ValueError(f"{name!r} has no option {key!r}; it takes {allowed}.")
    try:
        return Named(name, TIDY["options"](options))
    except TypeError as error:
        rule = str(error).removeprefix("`options` ")
        raise ValueError(f"the options of {name!r} {rule}") from None


def _one_of(given: Any, names: Collection[str]) -> str:
    if not isinstance(given, str) or given not in names:
        raise ValueError(f"{given!r} is none of {', '.join(names)}{_near(given, names)}.")
    return given


def _near(given: Any, names: Collection[str]) -> str:
    found = difflib.get_close_matches(str(given), names, 1)
    return f" (did you mean {found[0]!r}?)" if found else ""


def _range(name: str, given: Mapping[str, Any]) -> range:
    asked = _validated(_Range, given)
    first, last = asked.first, asked.last
    if last < first:
        raise ValueError(f"`to` must not be below `from`, got {first} to {last}: there is nothing.")
    for end in (first, last):
        _value(name, end)
    if (last - first) // asked.step >= LARGEST:
        raise ValueError(
            f"has more than {LARGEST} (2^63 - 1) values, {first} to {last}; take fewer, or a "
            f"larger `step`."
        )
    return range(first, last + 1, asked.step)


def _spaced(name: str, given: Mapping[str, Any]) -> tuple[float, ...]:
    asked = _validated(_Spaced, given)
    span, steps = _span(name, asked), asked.count - 1
    # to 12 digits: 0.3 and not 0.30000000000000004
    return tuple(_value(name, float(f"{span.at(k / steps):.12g}")) for k in range(asked.count))


def _span(name: str, asked: Any) -> Span:
    """The numbers between two ends."""
    first, last = (_value(name, end) or 0 for end in (asked.first, asked.last))
    low, high = ("low", "high") if isinstance(asked, _Limits) else ("from", "to")
    if isinstance(first, str) or isinstance(last, str) or not first < last:
        raise ValueError(f"`{low}` must be a number below `{high}`, got {first!r} and {last!r}.")
    if asked.log and first <= 0:
        raise ValueError(f"`{low}` must be above 0 with log = true, got {first!r}.")
    return Span(first, last, asked.log, whole=name in WHOLE)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Range(_Table):
    first: StrictInt = Field(alias="from")
    last: StrictInt = Field(alias="to")
    step: Annotated[StrictInt, Field(ge=1)] = 1


class _Spaced(_Table):
    first: Any = Field(alias="from")
    last: Any = Field(alias="to")
    count: Annotated[StrictInt, Field(ge=2, le=100_000)]
    log: StrictBool = False


class _Limits(_Table):
    first: Any = Field(alias="low")
    last: Any = Field(alias="high")
    log: StrictBool = False


def _quantities(given: Any) -> tuple[str, ...]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not names:
        raise ValueError(f"must be a list of quantities, e.g. {list(USUAL)}; got {given!r}.")
    return tuple(_one_of(name, QUANTITIES) for name in names)


_Kind = Annotated[str, BeforeValidator(functools.partial(_one_of, names=KINDS))]
_Axis = Annotated[str, BeforeValidator(functools.partial(_one_of, names=AXES))]
_Quantities = Annotated[tuple[str, ...], BeforeValidator(_quantities)]


class Picture(_Table):
    """What to draw: a kind, the axes across, up (of a heat map) and by colour, the quantities."""

    kind: _Kind | None = None
    x: _Axis | None = None
    y: _Axis | None = None
    hue: _Axis | None = None
    quantity: _Quantities | None = None
    labels: dict[str, StrictStr] = {}
    log_x: StrictBool | None = None
    log_y: StrictBool | None = None


def _axes(design: str, needed: bool) -> Any:
    """The table of a design; that of a quick run needs no axis."""
    fields: dict[str, Any] = {}
    for name in AXES:
        values = BeforeValidator(functools.partial(axis_values, name, design=design))
        fields[name] = (Annotated[Any, values], None)
    # the seed is that of the search: each case gets a seed of its own from it
    for name, least in (("samples", 1), ("seed", 0)) if design == "random" else ():
        number = Annotated[StrictInt, Field(ge=least, le=LARGEST)]
        fields[name] = (number, ... if needed else None)
    return create_model(f"_{design}", __base__=_Table, **fields)


_WHOLE, _QUICK = ({design: _axes(design, needed) for design in DESIGNS} for needed in (True, False))


class _Beside(_Table):
    """What stands beside the axes."""

    title: StrictStr = ""
    keep: _Quantities = USUAL
    curves: StrictBool = False
    conclusion: StrictStr | None = None
    picture: Picture = Picture()
    quick: Any = None


_Designs: Any = {design: (model | None, None) for design, model in _WHOLE.items()}
_File: Any = create_model("_File", __base__=_Beside, **_Designs)
#: Fields of a file that are no axes.
BESIDE = tuple(_Beside.model_fields)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Specification:
    """A study file that was checked; ``axes`` are in the order of the file."""

    title: str
    design: str
    axes: dict[str, Any]
    samples: int | None
    search_seed: int | None
    keep: tuple[str, ...]
    curves: bool
    conclusion: str | None
    picture: Picture

    @property
    def varied(self) -> tuple[str, ...]:
        """The axes along which cases differ, in the order of tables."""
        axes = {"seed"} if self.design == "random" else set()
        for axis, values in self.axes.items():
            if isinstance(values, Span) or any(value != values[0] for value in values):
                axes.add(axis)
        return tuple(axis for axis in AXES if axis in axes)


def checked(content: Mapping[str, Any]) -> Specification:
    """The specification in these tables, or a ValueError that names field and value."""
    designs = [design for design in DESIGNS if design in content]
    if len(designs) != 1:
        found = ", ".join(f"[{design}]" for design in designs) or "none"
        raise ValueError(f"must have one of [grid], [zip] and [random]; got {found}.")
    [design] = designs
    if not isinstance(content[design], Mapping):
        raise ValueError(f"{design}: must be a table, got {content[design]!r}.")
    model = _validated(_File, content)
    if model.quick is not None:
        _validated(_QUICK[design], model.quick, "quick")
    axes = {axis: getattr(getattr(model, design), axis) for axis in content[design]}
    wrong = [axis for axis in ("ensemble", "size") if (axis in axes) == ("file" in axes)]
    is_for = "is for ensembles; leave it out, or leave out `file`."
    is_missing = "is missing; give a value or a list of values, or `file`."
    if wrong:
        rule = is_for if "file" in axes else is_missing
        raise ValueError(" ".join(f"{design}.{axis}: {rule}" for axis in wrong))
    _require_drawable(model, list(axes))
    beside = {name: getattr(model, name) for name in ("title", "curves", "conclusion", "picture")}
    samples, seed = (axes.pop(n) if design == "random" else None for n in ("samples", "seed"))
    return Specification(
        design=design, axes=axes, samples=samples, search_seed=seed,  # which is no axis
        keep=tidy_keep(model.keep), **beside,
    )  # fmt: skip


def made_quick(content: Mapping[str, Any]) -> dict[str, Any]:
    """The tables with those values of ``[quick]`` in place of the whole study's."""
    design = checked(content).design
    if "quick" not in content:
        raise ValueError(
            "has no [quick] table, which would say what a quick run takes in place of the whole; "
            "add one, e.g. `[quick]`, then `size = 20`, or run it whole."
        )
    whole = {key: value for key, value in content.items() if key != "quick"}
    return whole | {design: dict(content[design]) | dict(content["quick"])}


def _validated(model: Any, content: Any, table: str = "") -> Any:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        found = [_message(model, one, table) for one in error.errors()]
        raise ValueError(" ".join(dict.fromkeys(found))) from None


def _require_drawable(model: Any, axes: Sequence[str]) -> None:
    """Raise unless the picture is of axes and quantities that the study has."""
    picture, quantities = model.picture, model.picture.quantity or ()
    heatmap = picture.kind == "heatmap"
    for field in ("x", "y", "hue"):
        axis = getattr(picture, field)
        if axis not in (None, *axes):
            raise ValueError(
                f"picture.{field}: {axis!r} is no axis of this study, which has {', '.join(axes)}."
            )
    for quantity in quantities:
        if quantity not in model.keep:
            raise ValueError(
                f"picture.quantity: {quantity!r} is not kept; add it to `keep`, which has "
                f"{', '.join(model.keep)}."
            )
    if picture.kind == "curves" and not model.curves:
        raise ValueError("picture.kind: 'curves' needs `curves = true`, to keep them.")
    if heatmap and None in (picture.x, picture.y):
        raise ValueError("picture.kind: 'heatmap' needs the axes x and y.")
    if heatmap and len(quantities) > 1:
        listed = ", ".join(quantities)
        raise ValueError(
            f"picture.quantity: a heat map shows one quantity, got {listed}; leave one of them."
        )


def _message(model: Any, error: Any, table: str) -> str:
    """One complaint of pydantic's: the field, its value and what is allowed."""
    place = ".".join(str(part) for part in (table, *error["loc"]) if part != "")
    given, kind = error["input"], error["type"]
    if kind == "extra_forbidden":
        for part in error["loc"][:-1]:
            inside = model.model_fields[part].annotation
            alternatives = (inside, *getattr(inside, "__args__", ()))  # a table, or one or None
            model = next(one for one in alternatives if hasattr(one, "model_fields"))
        fields = [field.alias or name for name, field in model.model_fields.items()]
        near = _near(error["loc"][-1], fields)
        return f"{place}: there is no such field{near}; there are {', '.join(fields)}."
    if kind == "missing":
        count = error["loc"][-1:] == ("count",)
        what = "how many values, e.g. count = 5" if count else "a value or a list of values"
        return f"{place}: is missing; give {what}."
    if kind == "value_error":
        return f"{place}: {error['ctx']['error']}"
    if kind in ("model_type", "model_attributes_type"):
        return f"{place}: must be a table, got {given!r}."
    rule = error["msg"].removeprefix("Input should be ")
    return f"{place}: must be {rule}, got {given!r}."
