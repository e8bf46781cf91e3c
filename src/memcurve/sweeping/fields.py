"""The fields of a case: what each may be, and the one form that equal values share."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from memcurve.arguments import (
    require_density,
    require_number,
    require_options,
    require_size,
    table_entry,
)
from memcurve.ensembles import ENSEMBLES
from memcurve.inputs import White, parse
from memcurve.masks import MASKS, is_random
from memcurve.methods import METHODS
from memcurve.noise import StateNoise, noise_of, parse_noise

#: What a case can keep, and what each is.
QUANTITIES = {
    "total": "memory over all lags (or those the method covers), under the case's noise, if any",
    "total_error": "the method's own bound on the error of the total",
    "rank": "rank of the Krylov matrix: the total without noise, for white input",
    "rank_robust": "the rank that a change of the network in its last digits leaves",
    # the rounding taken as noise of the same size in all states, as in `noise_profile`
    "usable_float64": "total with states in double precision",
    "usable_float32": "total with states in single precision",
    "usable_16bit": "total with states recorded with 16 bits",
    "usable_12bit": "total with states recorded with 12 bits",
    "horizon_half": "first lag at which less than half of the input is left",
    "horizon_tenth": "first lag at which less than a tenth of the input is left",
    "largest_error": "the method's own bound on the error of the curve, at its worst lag",
    "error_against_exact": "largest distance from the exact curve at any lag",
    "total_error_against_exact": "sum over the method's lags, minus that of the exact curve",
}
#: What the exact method says of these, whatever the method of the case.
USABLE = ("usable_float64", "usable_float32", "usable_16bit", "usable_12bit")
AGAINST_EXACT = ("error_against_exact", "total_error_against_exact")
#: States of a node, where they are not one: complex ones count twice.
ENSEMBLE_STATES = {"lru_ring": 2}
#: The largest whole number that the store and all formats of tables hold.
LARGEST = 2**63 - 1
#: What a case keeps unless told otherwise.
USUAL = ("total", "rank")


@functools.cache
def method_options(method: str) -> tuple[str, ...]:
    """Options that a study may give to a method."""
    parameters = list(inspect.signature(METHODS[method]).parameters)[2:]
    given = ("input", "noise", "seed", "mapper", "progress")
    return tuple(name for name in parameters if name not in given)


@functools.cache
def ensemble_options(ensemble: str) -> tuple[str, ...]:
    """Options that a study may give to an ensemble, besides its size and seed."""
    parameters = inspect.signature(ENSEMBLES[ensemble]).parameters
    return tuple(name for name in parameters if name not in ("size", "seed"))


@functools.cache
def require_ensemble_options(ensemble: str, names: tuple[str, ...]) -> None:
    require_options(ENSEMBLES[ensemble], dict.fromkeys(("seed", *names)))


@functools.cache
def draws(ensemble: str, mask: str | None, method: str) -> bool:
    """Whether something is drawn at random, so that a seed is needed."""
    parameters = inspect.signature(ENSEMBLES[ensemble]).parameters
    if parameters["seed"].default is inspect.Parameter.empty:
        return True
    # the own mask of rings of any lengths is drawn, although their weights are not
    by_mask = ensemble == "permutation" if mask is None else is_random(mask)
    return by_mask or "seed" in inspect.signature(METHODS[method]).parameters


def tidy_noise(noise: Any) -> float | str | None:
    """One form for each noise: a number, a word, or None where there is none."""
    if noise is None:
        return None
    if isinstance(noise, str):
        # a word may stand for no noise, or for a number
        read = parse_noise([noise])
        if not isinstance(read, float):
            if isinstance(read, StateNoise) and read.deviation == 0:
                return None
            return noise.strip().lower()
        noise = read
    level = noise_of(require_number(noise, "noise", "at least 0", lambda s: s >= 0))
    return None if level is None else float(noise)


@functools.lru_cache(maxsize=1000)
def tidy_input(text: Any) -> str | None:
    """The input process as words without blanks, None for white."""
    if text is None:
        return None
    if isinstance(text, str) and text.strip().lower().startswith("series:"):
        raise ValueError(
            f"`input` must say all there is to know, and a file may change between runs; got "
            f"{text!r}. Give its autocovariance as acov:1,0.5,…, or a process fitted to it."
        )
    process = parse(text)
    return None if isinstance(process, White) else "".join(text.lower().split())


def _tidy_seed(seed: Any) -> int | None:
    if seed is None:
        return None
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= seed <= LARGEST:
        limit = f" and at most {LARGEST} (2^63 - 1)" if whole and seed > 0 else ""
        raise ValueError(
            f"`seed` must be a whole number from 0 on{limit}, got {seed!r}; take e.g. 1."
        )
    return int(seed)


def _tidy_radius(radius: Any) -> float | None:
    if radius is None:
        return None
    return require_number(radius, "spectral_radius", "at least 0", lambda r: r >= 0)


def tidy_keep(keep: Any) -> tuple[str, ...]:
    """The quantities, each once and in a fixed order."""
    names = [keep] if isinstance(keep, str) else list(keep)
    for name in names:
        table_entry(QUANTITIES, name, "keep")
    return tuple(sorted(set(names)))


def _named(table: Mapping[str, Any], kind: str) -> Any:
    def tidy(name: Any) -> str:
        table_entry(table, name, kind)
        return str(name)

    return tidy


def label(name: str, options: Mapping[str, Any]) -> str:
    """An ensemble or a method with its options, as tables show it."""
    inside = ", ".join(f"{key}={value}" for key, value in options.items())
    return f"{name}({inside})" if inside else name


def _plain(value: Any) -> Any:
    """Options as JSON has them; what JSON lacks is refused."""
    return json.loads(json.dumps(value, allow_nan=False))


def _tidy_options(options: Any) -> dict[str, Any]:
    if not isinstance(options, Mapping):
        raise TypeError(f"`options` must be a table of names and values, got {options!r}.")
    try:
        return {str(name): _plain(value) for name, value in sorted(options.items())}
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"`options` must hold numbers, words and lists of them, so that they can be stored; "
            f"got {dict(options)!r} ({error})."
        ) from None


def _or_none(tidy: Any) -> Any:
    return lambda value: None if value is None else tidy(value)


#: How each field gets its one form.
TIDY: dict[str, Any] = {
    "ensemble": _named(ENSEMBLES, "ensemble"),
    "size": require_size,
    "spectral_radius": _tidy_radius,
    "density": _or_none(require_density),
    "mask": _or_none(_named(MASKS, "mask")),
    "ensemble_options": _tidy_options,
    "inputs": functools.partial(require_size, argument="inputs"),
    "input": tidy_input,
    "noise": tidy_noise,
    "method": _named(METHODS, "method"),
    "options": _tidy_options,
    "lags": _or_none(functools.partial(require_size, argument="lags")),
    "seed": _tidy_seed,
    "keep": tidy_keep,
    "curve": bool,
}
