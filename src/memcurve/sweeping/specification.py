"""The form of a study file, checked field by field with pydantic, and written back as TOML."""

from __future__ import annotations

import difflib
import functools
import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

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

from memcurve.sweeping.axes import AXES, axis_values
from memcurve.sweeping.fields import LARGEST, QUANTITIES, USUAL, tidy_keep

DESIGNS = ("grid", "zip", "random")
KINDS = ("lines", "bars", "heatmap", "curves")
#: Sentences of :mod:`memcurve.sweeping.conclusions`, with the axes and quantities they speak of.
CONCLUSIONS = {
    "sparsity": (("density", "method"), ("total", "rank")),
    "radius": (("spectral_radius",), ("total", "usable_float32", "usable_12bit")),
    "architectures": (
        ("ensemble",),
        ("total", "usable_float32", "usable_12bit", "horizon_half"),
    ),
    "noise": (("noise", "ensemble"), ("total", "rank")),
}


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _quantities(given: Any) -> tuple[str, ...]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not names:
        raise ValueError(f"must be a list of quantities, e.g. {list(USUAL)}; got {given!r}.")
    for name in names:
        if not isinstance(name, str) or name not in QUANTITIES:
            raise ValueError(f"{name!r} is none of {', '.join(QUANTITIES)}.")
    return tuple(names)


def _one_of(names: Collection[str]) -> Any:
    def check(given: Any) -> str:
        if not isinstance(given, str) or given not in names:
            raise ValueError(f"{given!r} is none of {', '.join(names)}.")
        return given

    return BeforeValidator(check)


_AxisName = Annotated[str, _one_of(AXES)]


class Picture(_Table):
    """What to draw: a kind, the axes across, up (of a heat map) and by colour, the quantities."""

    kind: Annotated[str, _one_of(KINDS)] | None = None
    x: _AxisName | None = None
    y: _AxisName | None = None
    hue: _AxisName | None = None
    quantity: Annotated[tuple[str, ...], BeforeValidator(_quantities)] | None = None
    labels: dict[str, StrictStr] = {}
    log_x: StrictBool | None = None
    log_y: StrictBool | None = None


def _axes(design: str, *, needed: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    random, repeats = design == "random", design != "grid"
    for name in AXES:
        values = functools.partial(axis_values, name, random=random, repeats=repeats)
        check = BeforeValidator(values)
        required = needed and name in ("ensemble", "size")
        fields[name] = (Annotated[Any, check], ... if required else None)
    if random:
        # the seed is that of the search: each case gets a seed of its own from it
        for name, least in (("samples", 1), ("seed", 0)):
            number = Annotated[StrictInt, Field(ge=least, le=LARGEST)]
            fields[name] = (number, ... if needed else None)
    return fields


_WHOLE_TABLES: dict[str, Any] = {
    design: create_model(f"_{design}", __base__=_Table, **_axes(design, needed=True))
    for design in DESIGNS
}
_QUICK_TABLES: dict[str, Any] = {
    design: create_model(f"_quick_{design}", __base__=_Table, **_axes(design, needed=False))
    for design in DESIGNS
}
_Grid: Any = _WHOLE_TABLES["grid"]
_Zip: Any = _WHOLE_TABLES["zip"]
_Random: Any = _WHOLE_TABLES["random"]


class _Specification(_Table):
    """A whole file."""

    title: StrictStr = ""
    keep: Annotated[tuple[str, ...], BeforeValidator(_quantities)] = USUAL
    curves: StrictBool = False
    conclusion: Annotated[str, _one_of(CONCLUSIONS)] | None = None
    picture: Picture | None = None
    grid: _Grid | None = None
    zip: _Zip | None = None
    random: _Random | None = None
    quick: Any = None


class Specification(BaseModel):
    """A study file that was checked; ``axes`` are in the order of the file."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    title: str
    design: str
    axes: dict[str, Any]
    samples: int | None
    search_seed: int | None
    keep: tuple[str, ...]
    curves: bool
    conclusion: str | None
    picture: Picture


def read(text: str, name: str) -> dict[str, Any]:
    """The tables of a study file called ``name``."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(
            f"{name}: is not TOML: {error}; a study is written like `[grid]`, then "
            f"`size = [50, 100]`, a line an axis."
        ) from None


def checked(content: Mapping[str, Any], name: str) -> Specification:
    """The specification in these tables, or a ValueError that names file, field and value."""
    designs = [design for design in DESIGNS if design in content]
    if len(designs) != 1:
        found = ", ".join(f"[{design}]" for design in designs) or "none"
        raise ValueError(f"{name}: must have one of [grid], [zip] and [random]; got {found}.")
    [design] = designs
    if not isinstance(content[design], Mapping):
        raise ValueError(f"{name}: {design}: must be a table, got {content[design]!r}.")
    model = _validated(_Specification, content, name)
    if model.quick is not None:
        _validated(_QUICK_TABLES[design], model.quick, name, "quick")
    _require_drawable(model, list(content[design]), name)
    _require_conclusive(model, design, list(content[design]), name)
    table = getattr(model, design)
    named = [axis for axis in content[design] if axis in AXES]
    search = design == "random"
    return Specification(
        title=model.title,
        design=design,
        axes={axis: getattr(table, axis) for axis in named if not (search and axis == "seed")},
        samples=table.samples if search else None,
        search_seed=table.seed if search else None,
        keep=tidy_keep(model.keep),
        curves=model.curves,
        conclusion=model.conclusion,
        picture=model.picture or Picture(),
    )


def made_quick(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The tables with those values of ``[quick]`` in place of the whole study's."""
    checked(content, name)
    if "quick" not in content:
        raise ValueError(
            f"{name}: has no [quick] table, which would say what a quick run takes in place of the "
            f"whole; add one, e.g. `[quick]`, then `size = 20`, or run it whole."
        )
    [design] = [design for design in DESIGNS if design in content]
    whole = {key: value for key, value in content.items() if key != "quick"}
    return whole | {design: dict(content[design]) | dict(content["quick"])}


def _validated(model: Any, content: Any, name: str, table: str = "") -> Any:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        found = [_message(model, one, name, table) for one in error.errors()]
        raise ValueError(" ".join(dict.fromkeys(found))) from None


def _require_drawable(model: Any, axes: Sequence[str], name: str) -> None:
    """Raise unless the picture is of axes and quantities that the study has."""
    picture = model.picture or Picture()
    for field in ("x", "y", "hue"):
        axis = getattr(picture, field)
        if axis is not None and axis not in axes:
            raise ValueError(
                f"{name}: picture.{field}: {axis!r} is no axis of this study, which has "
                f"{', '.join(axes)}."
            )
    for quantity in picture.quantity or ():
        if quantity not in model.keep:
            raise ValueError(
                f"{name}: picture.quantity: {quantity!r} is not kept; add it to `keep`, which has "
                f"{', '.join(model.keep)}."
            )
    if picture.kind == "curves" and not model.curves:
        raise ValueError(f"{name}: picture.kind: 'curves' needs `curves = true`, to keep them.")
    if picture.kind == "heatmap" and (picture.x is None or picture.y is None):
        raise ValueError(f"{name}: picture.kind: 'heatmap' needs the axes x and y.")
    if picture.kind == "heatmap" and len(picture.quantity or ()) > 1:
        raise ValueError(
            f"{name}: picture.quantity: a heat map shows one quantity, got "
            f"{', '.join(picture.quantity or ())}; leave one of them."
        )


def _require_conclusive(model: Any, design: str, axes: Sequence[str], name: str) -> None:
    """Raise unless the study has all that its sentence speaks of: hours later is too late."""
    if model.conclusion is None:
        return
    if design != "grid":
        raise ValueError(
            f"{name}: conclusion: {model.conclusion!r} compares all combinations, so it needs "
            f"[grid], not [{design}]; leave it out for a general sentence."
        )
    needed, kept = CONCLUSIONS[model.conclusion]
    lacking = [f"the axis {axis!r} in [grid]" for axis in needed if axis not in axes]
    lacking += [f"{quantity!r} in `keep`" for quantity in kept if quantity not in model.keep]
    if lacking:
        raise ValueError(
            f"{name}: conclusion: {model.conclusion!r} needs {' and '.join(lacking)}; add that, or "
            f"leave `conclusion` out for a general sentence."
        )


def _message(model: Any, error: Any, name: str, table: str) -> str:
    """One complaint of pydantic's: the field, its value and what is allowed."""
    place = ".".join(str(part) for part in (table, *error["loc"]) if part != "")
    head = f"{name}: {place}: " if place else f"{name}: "
    given, kind = error["input"], error["type"]
    if kind == "extra_forbidden":
        fields = _fields_at(model, error["loc"][:-1])
        near = difflib.get_close_matches(str(error["loc"][-1]), fields, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        return f"{head}there is no such field{hint}; there are {', '.join(fields)}."
    if kind == "missing":
        return f"{head}is missing; give a value or a list of values."
    if kind == "value_error":
        return f"{head}{error['ctx']['error']}"
    if kind in ("model_type", "model_attributes_type"):
        return f"{head}must be a table, got {given!r}."
    rule = error["msg"].removeprefix("Input should be ")
    return f"{head}must be {rule}, got {given!r}."


def _fields_at(model: Any, place: Sequence[Any]) -> list[str]:
    for part in place:
        inside = model.model_fields[part].annotation
        alternatives = (inside, *getattr(inside, "__args__", ()))  # a table, or a table or None
        model = next(one for one in alternatives if hasattr(one, "model_fields"))
    return list(model.model_fields)
