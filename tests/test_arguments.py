"""Every public argument, given nonsense: an error that names it, or an answer; never a crash."""

from __future__ import annotations

import decimal
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import memcurve
from memcurve import ensembles, inputs, masks
from memcurve.memory.batch import curves_of_poles
from memcurve.memory.methods import METHODS
from memcurve.network import continuous, krylov, scaling

NETWORK = ensembles.normal(6, seed=1)
LAYER = memcurve.ContinuousNetwork([[-1.0, 0.0], [0.0, -2.0]], [1.0, 1.0])
NEGATIVE, COMPLEX = -1.5, 1 + 2j
#: What means nothing anywhere; texts and empty lists, which some arguments take, are left out.
NONSENSE: list[Any] = [
    *(
        np.nan,
        np.inf,
        NEGATIVE,
        COMPLEX,
        b"abc",
        decimal.Decimal("0.5"),
        np.datetime64("2020-01-01"),
    ),
    *([1.0, np.nan], [[1.0], [1.0, 2.0]], np.ones((2, 2, 2)), np.ma.array([1, 2], mask=[0, 1])),
    *(object(), {1, 2}, slice(1, 2)),
]
#: Arguments that may be negative, or complex.
SIGNED = ("gain", "loop", "low")
#: Numbers, and far too many of anything.
LARGE = (10**40, np.uint64(2**63 + 1), np.int64(10**12))


def calls() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Function, argument, and the function with all others given."""

    def each(function: Any, given: dict[str, Any], *arguments: str, name: str = "") -> Any:
        for argument in arguments:
            label = name or function.__qualname__
            yield (
                label,
                argument,
                lambda value, f=function, a=argument: f(**{**given, a: value}),
            )

    one = {"network": NETWORK}
    asked = [p.name for p in inspect.signature(memcurve.memory_curve).parameters.values()]
    yield from each(memcurve.memory_curve, one, *asked[:-1])
    for name, method in METHODS.items():
        given = one | {"method": name} | ({"seed": 1} if method.draws else {})
        given |= {"masks": 2} if name == "osm_plus" else {"samples": 99} if method.draws else {}
        given |= {"inverse": "tikhonov"} if name == "naive" else {}
        yield from each(memcurve.memory_curve, given, *method.options, name=name)
    yield from each(memcurve.memory_capacity, one, "lags")
    yield from each(memcurve.forecasting_curve, one | {"input": "ar:.9"}, "input", "horizons")
    yield from each(memcurve.fisher_curve, one, "network", "noise", "lags")
    yield from each(
        memcurve.noise_profile, one | {"levels": [0.1]}, "network", "levels", "state_noise"
    )
    for function in (memcurve.rank, memcurve.structural_rank, memcurve.controllable_spectrum):
        yield from each(function, {}, "network")
    yield from each(memcurve.input_normal, {}, "network")
    yield from each(memcurve.memory_curves, {"A": NETWORK.A}, "A", "C", "lags")
    yield from each(curves_of_poles, {"poles": [0.5, 0.2]}, "poles", "lags", "add_conjugates")
    parts = {"A": NETWORK.A, "C": NETWORK.C}
    fields = ("A", "C", "readout", "shift", "name", "labels", "notes")
    yield from each(memcurve.LinearNetwork, parts, *fields)
    yield from each(NETWORK.simulate, {"inputs": np.ones(5)}, "inputs", "washout")
    yield from each(
        memcurve.NonlinearNetwork, parts, "A", "C", "activation", "leak", "input_scale", "shift"
    )
    yield from each(memcurve.ContinuousNetwork, {"A": LAYER.A, "C": LAYER.C}, "A", "C", "name")
    yield from each(LAYER.discretised, {"step": 0.1}, "step", "method")
    yield from each(continuous.hippo, {"kind": "legs", "size": 3}, "kind", "size")
    yield from each(memcurve.memory_density, {"network": LAYER}, "network", "times")
    curve = memcurve.memory_curve(NETWORK)
    yield from each(curve.save, {}, "path")
    yield from each(curve.horizon, {}, "level")
    for kind in (memcurve.ObservationNoise, memcurve.StateNoise):
        yield from each(kind, {}, "deviation", name=kind.__name__)
    yield from each(memcurve.Quantised, {"bits": 3, "low": -1, "high": 1}, "bits", "low", "high")
    yield from each(inputs.ARMA, {}, "ar", "ma")
    yield from each(inputs.Autocovariance, {"values": [2.0, 1.0]}, "values", "taper")
    series = {"series": np.sin(np.arange(50.0))}
    yield from each(inputs.Autocovariance.from_series, series, "series", "lags")
    yield from each(inputs.ARMA([0.5]).autocovariance, {}, "count")
    drawn = {"count": 3, "seed": 1}
    yield from each(inputs.ARMA([0.5]).simulate, drawn, "count", "seed", "channels")
    yield from each(inputs.processes_for, {"input": "white", "count": 2}, "input")
    yield from each(inputs.parse, {}, "text")
    yield from each(scaling.scale_to_spectral_radius, {"A": NETWORK.A, "radius": 0.5}, "A")
    for function in (krylov.orthogonal_components, krylov.eigenvalue_products):
        yield from each(function, one, "count")
    tables = [(ensembles, name) for name in ensembles.__all__[3:]]
    for module, name in [*tables, *((masks, name) for name in masks.MASKS)]:
        function = getattr(module, name)
        taken = inspect.signature(function).parameters
        first = next(iter(taken))
        given = {first: 6} | ({"seed": 1} if "seed" in taken else {})
        yield from each(function, given, *(name for name in taken if name != "mask"))


CALLS = list(calls())


@pytest.mark.parametrize("call", [c[2] for c in CALLS], ids=[f"{n}-{a}" for n, a, _ in CALLS])
@pytest.mark.filterwarnings("ignore")
def test_nonsense_is_refused_by_name(call: Any, request: pytest.FixtureRequest) -> None:
    answered = []
    for value in (*NONSENSE, *LARGE):
        try:
            call(value)
            answered.append(value)
        except (ValueError, TypeError, MemoryError, ArithmeticError) as error:
            if "`" not in str(error):
                pytest.fail(f"{value!r}: {type(error).__name__}: {error}")
    fine = (*LARGE, NEGATIVE, COMPLEX) if request.node.callspec.id.endswith(SIGNED) else LARGE
    assert all(any(value is one for one in fine) for value in answered), answered
