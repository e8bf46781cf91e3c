"""Checks of what users pass in. An error names the argument, the rule, the value and the remedy."""

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Seed = int | np.random.SeedSequence | np.random.Generator

#: Integers up to here are all float64 numbers; beyond it a conversion may change the value.
LARGEST_EXACT_INTEGER = 2**53


def exact_array(value: Any, argument: str) -> NDArray[Any]:
    """Return ``value`` as a new float64 or complex128 array of the same numbers, or refuse it."""
    array = rectangular_array(value, argument)
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"`{argument}` must hold real or complex numbers, got an array of dtype "
            f"{array.dtype}; convert it first, e.g. numpy.asarray({argument}, dtype=float)."
        )
    complex_valued = array.dtype.kind == "c"
    with np.errstate(over="ignore"):  # an overflow is refused below, as infinite
        exact = np.array(array, dtype=np.complex128 if complex_valued else np.float64)
    require_finite(exact, argument)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        beyond = array[(array > LARGEST_EXACT_INTEGER) | (array < -LARGEST_EXACT_INTEGER)]
        inexact = [value for value in beyond.tolist() if int(float(value)) != value]
        if inexact:
            raise ValueError(
                f"`{argument}` holds the integer {inexact[0]} beyond 2**53, which float64 cannot "
                f"represent; divide by a common factor or convert to float yourself."
            )
    elif array.dtype.itemsize > exact.dtype.itemsize and not np.array_equal(array, exact):
        raise ValueError(
            f"`{argument}` is {array.dtype} and holds numbers float64 cannot represent; round it "
            f"first, e.g. {argument}.astype(float), so that the stored numbers are the ones meant."
        )
    return exact


def rectangular_array(value: Any, argument: str) -> NDArray[Any]:
    """Return ``value`` as an array with no entry missing."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"`{argument}` has masked entries; fill them first, e.g. with .filled(0).")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(
            f"`{argument}` must be a rectangular array of numbers, got rows of unequal length; "
            f"build it with numpy.array first. ({error})"
        ) from None


def require_finite(array: NDArray[Any], argument: str) -> None:
    """Raise a ValueError naming the first entry of ``array`` that is NaN or infinite."""
    finite = np.isfinite(array)
    if finite.all():
        return
    if array.ndim == 0:
        raise ValueError(f"`{argument}` must be finite, got {array}; give a number.")
    where = tuple(int(i) for i in np.argwhere(~finite)[0])
    raise ValueError(
        f"`{argument}` must be finite, got {array[where]} at index {list(where)} "
        f"({int((~finite).sum())} such entries); remove or replace them."
    )


def require_number(
    value: Any, argument: str, rule: str, holds: Callable[[float], bool] = math.isfinite
) -> float:
    """Return ``value`` as a float if it is a finite real number for which ``holds`` is true."""
    numeric = isinstance(value, int | float | np.integer | np.floating)
    # an integer may be beyond all floats
    finite = numeric and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    if not finite or not holds(value):
        raise ValueError(f"`{argument}` must be a finite number {rule}; got {_plain(value)!r}.")
    return float(value)


def _plain(value: Any) -> Any:
    """A number of NumPy as messages show it: one of Python."""
    return value.item() if isinstance(value, np.generic) else value


def require_size(size: Any, argument: str = "size", least: int = 1) -> int:
    """Return ``size`` as an int if it is an integer of at least 1, or of ``least``."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < least:
        kind = "a positive integer" if least == 1 else f"an integer from {least} on"
        shown = _plain(size)
        raise ValueError(f"`{argument}` must be {kind}, got {shown!r}; give {least} or more.")
    if size > sys.float_info.max:
        raise ValueError(f"`{argument}` must be below 1e308, got {size!r}; give fewer.")
    return int(size)


def require_limit(limit: Any, argument: str) -> int:
    """Return ``limit`` as an int if it is zero or a positive integer."""
    return require_size(limit, argument, 0)


def require_flag(flag: Any, argument: str) -> bool:
    """Return ``flag`` as a bool if it is True or False; a text such as "no" would count as true."""
    if not isinstance(flag, bool | np.bool_):
        raise TypeError(f"`{argument}` must be True or False, got {flag!r:.80}.")
    return bool(flag)


def require_density(density: Any) -> float:
    """Return ``density`` as a float if it lies in (0, 1]."""
    return require_number(
        density, "density", "above 0 and at most 1, the share of non-zeros", lambda d: 0 < d <= 1
    )


def generator(seed: Seed) -> np.random.Generator:
    """The generator for a ``seed``; None is refused, so that results are reproducible."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, np.random.SeedSequence):
        # a fresh copy: spawning from the caller's own would change what it gives next time
        seed = np.random.SeedSequence(
            seed.entropy, spawn_key=seed.spawn_key, pool_size=seed.pool_size
        )
        return np.random.default_rng(seed)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(
            f"`seed` must be an int, a numpy.random.SeedSequence or a numpy.random.Generator, "
            f"got {seed!r}; random draws need an explicit seed, e.g. seed=1."
        )
    if seed < 0:
        raise ValueError(f"`seed` must not be negative, got {seed!r}; take e.g. seed=1.")
    return np.random.default_rng(int(seed))


def table_entry(table: Mapping[str, T], name: Any, kind: str) -> T:
    """Return ``table[name]``, or raise a ValueError that lists the valid names."""
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"`{kind}` must be one of {', '.join(table)}; got {name!r}.")
    return table[name]


def require_choice(name: Any, argument: str, choices: Iterable[str]) -> str:
    """Return ``name`` if it is one of these."""
    return table_entry({choice: choice for choice in choices}, name, argument)


def name_and_options(one: Any, argument: str) -> tuple[str, Mapping[str, Any]]:
    """A name with the options that may come with it, as a pair."""
    if isinstance(one, str):
        return one, {}
    if isinstance(one, tuple | list) and len(one) == 2 and isinstance(one[1], Mapping):
        return one[0], one[1]
    raise TypeError(
        f"`{argument}` must be names, or pairs of a name and its options such as ('name', "
        f"{{'option': 1}}); got {one!r}."
    )


def require_options(function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise a TypeError if ``options`` has some ``function`` does not take, or lacks a required."""
    taken = {n: p for n, p in inspect.signature(function).parameters.items() if n != "size"}
    unknown = [f"`{option}`" for option in options if option not in taken]
    if unknown:
        raise TypeError(
            f"{function.__name__} does not take {', '.join(unknown)}; it takes {', '.join(taken)}."
        )
    missing = [f"`{n}`" for n, p in taken.items() if p.default is p.empty and n not in options]
    if missing:
        raise TypeError(f"{function.__name__} needs {', '.join(missing)}, e.g. seed=1.")
