"""What is refused: the argument, the rule and the value are named; or there is an answer."""

import decimal
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import memcurve
from memcurve import (
    LinearNetwork,
    NonlinearNetwork,
    compare,
    ensembles,
    fisher_curve,
    forecasting_curve,
    inputs,
    masks,
    memory_curve,
    memory_curves,
)
from memcurve.memory.batch import curves_of_poles
from memcurve.memory.methods import METHODS
from memcurve.network import continuous, krylov, scaling
from refusals import refuses

NETWORK = ensembles.normal(6, seed=1)
LAYER = memcurve.ContinuousNetwork([[-1.0, 0.0], [0.0, -2.0]], [1.0, 1.0])
NEGATIVE, COMPLEX = -1.5, 1 + 2j
#: What means nothing anywhere; texts and empty lists, which some arguments take, are left out.
NONSENSE: list[Any] = [
    np.nan, np.inf, NEGATIVE, COMPLEX, b"abc", decimal.Decimal("0.5"), np.datetime64("2020-01-01"),
    [1.0, np.nan], [[1.0], [1.0, 2.0]], np.ones((2, 2, 2)), np.ma.array([1, 2], mask=[0, 1]),
    object(), {1, 2}, slice(1, 2),
]  # fmt: skip
#: Arguments that may be negative, or complex.
SIGNED = ("gain", "loop", "low")
#: Numbers, and far too many of anything.
LARGE = (10**40, 10**400, np.uint64(2**63 + 1), np.int64(10**12))


def calls() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Function, argument, and the function with all others given."""

    def each(function: Any, given: dict[str, Any], *arguments: str, name: str = "") -> Any:
        for argument in arguments:
            label = name or function.__qualname__
            yield (label, argument, lambda value, f=function, a=argument: f(**{**given, a: value}))

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
def test_nonsense_is_refused_by_name(call: Any, request) -> None:
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


A2 = np.array([[0.5, 0.1], [0.0, 0.3]])
TALL, WIDE, NAN = np.ones((2, 3)), np.ones((1, 2)), np.diag([1.0, np.nan])
DAMAGED = sparse.csr_array(A2)
DAMAGED.indices[1] = -3
HELD = LinearNetwork(A2, [1, 1])
TWO = LinearNetwork(A2, A2)
ARMA, GIVEN, SERIES = inputs.ARMA, inputs.Autocovariance, inputs.Autocovariance.from_series
STACK = 0.1 * np.ones((4, 5, 5))
PLUS, SAMPLED = ({"seed": 1, "method": method} for method in ("osm_plus", "montecarlo"))
LINE, WIDE_LINE = ensembles.delay_line(3), ensembles.delay_line(3).replace(C=np.eye(3, 2))
NOISE = [
    (-0.1, "-0.1"),
    ([0.1, -1], "-1.0"),
    (1j, "standard deviation"),
    ([], "standard deviation"),
    (np.ones((2, 2)), "shape (2, 2)"),
    ([[0.1], [0.2, 0.3]], "rectangular"),
    ([0.1, 0.2], "2"),
    ("loud", "'loud'"),
    ("state:loud", "'state:loud'"),
    ("state:-1", "-1.0"),
    (b"0.1", "b'0.1'"),
    (["0.1"], "numbers"),
    (True, "True"),
    (memcurve.Float32, "Float32()"),
    ({0.1}, "numbers"),
]
COLOURS = [
    (0.9, ("`input`", "0.9")),
    (ARMA, "`input`"),
    ([ARMA], ("`input`", "ARMA(…)")),
    ([0.9], "`input`"),
    ("ar", ("`input`", "'ar'")),
    ([None, None], ("`input`", "2")),
    ([], ("`input`", "0")),
    (["ar:0.5"] * 3, ("`input`", "1", "3")),
    ("ar:1", "`ar`"),
    ("acov:1,0.9", "taper='parzen'"),
]
WRITTEN = ("", "pink", "white:2", "ar", "ar:", "ar:x", "ar:0.5,,0.1", "arma:0.5/")


def layer(size: int, width: int, **parts: Any) -> LinearNetwork:
    return LinearNetwork(0.1 * np.ones((size, size)), np.ones((size, width)), **parts)


#: A function, its arguments, and what the error says.
WRONG: list[tuple[Any, tuple[Any, ...], dict[str, Any], str | tuple[str, ...]]] = [
    (LinearNetwork, (TALL, [1, 1]), {}, ("`A`", "(2, 3)")),
    (LinearNetwork, (np.ones(4), np.ones(4)), {}, ("`A`", "(4,)", "diagonal")),
    (LinearNetwork, (np.zeros((0, 0)), []), {}, ("`A`", "(0, 0)")),
    (LinearNetwork, (A2, np.ones(3)), {}, ("`C`", "(2,)", "(3,)")),
    (LinearNetwork, (A2, WIDE), {}, ("`C`", "transpose")),
    (LinearNetwork, (NAN, [1, 1]), {}, ("`A`", "nan", "[1, 1]")),
    (LinearNetwork, (sparse.csr_array(NAN), [1, 1]), {}, ("`A`", "nan")),
    (LinearNetwork, (A2.astype(object), [1, 1]), {}, ("`A`", "object")),
    (LinearNetwork, ([[2**53 + 1]], [1]), {}, ("`A`", "2**53")),
    (LinearNetwork, (A2.astype(np.longdouble) / 3, [1, 1]), {}, ("`A`", "float64")),
    (LinearNetwork, (DAMAGED, [1, 1]), {}, ("`A`", "damaged")),
    (LinearNetwork, (A2, [1, 1]), {"shift": [1, 2, 3]}, ("`shift`", "(2,)", "(3,)")),
    (LinearNetwork, (A2, [1, 1]), {"readout": [0, 2]}, ("`readout`", "1", "2")),
    (LinearNetwork, (A2, [1, 1]), {"readout": []}, "`readout`"),
    (LinearNetwork, (A2, [1, 1]), {"readout": [0, 0]}, ("`readout`", "once")),
    (LinearNetwork, (A2, [1, 1]), {"readout": [True, False, True]}, ("`readout`", "boolean")),
    *((LinearNetwork, (A2, [1, 1]), {"notes": n}, "`notes`") for n in ("one", [1], {"one"})),
    (HELD.simulate, (np.ones((5, 2)),), {}, ("`inputs`", "(T, 1)", "(5, 2)")),
    (HELD.simulate, (np.ones(5), 5), {}, ("`washout`", "4", "5")),
    (HELD.simulate, (np.ones(5), True), {}, "`washout`"),
    (TWO.simulate_replicas, (np.zeros((4, 10)),), {}, ("`inputs`", "(R, T, 2)")),
    (HELD.simulate_replicas, (np.zeros(10),), {}, ("`inputs`", "(10,)")),
    (NonlinearNetwork, ([[0.5j]], [1.0]), {}, ("`A`", "complex")),
    (NonlinearNetwork, (A2, [1, 1]), {"leak": 0.0}, ("`leak`", "0.0")),
    (NonlinearNetwork, (A2, [1, 1]), {"activation": "sigmoid"}, ("`activation`", "relu")),
    (NonlinearNetwork, (A2, [1, 1]), {"activation": np.sum}, "`activation`"),
    (NonlinearNetwork, (A2, [1, 1]), {"activation": lambda x: x + 1j}, "`activation`"),
    *((scaling.scale_to_spectral_radius, (A, 0.9), {}, "`A`") for A in (TALL, TALL[:0], NAN)),
    *((ensembles.make, (n, 0), {"seed": 1}, "`size`") for n in ensembles.ENSEMBLES),
    (ensembles.normal, (9,), {"seed": 1, "scaling": "norm"}, ("`scaling`", "spectral_norm")),
    (ensembles.sparse_normal, (9,), {"seed": 1, "density": 0}, ("`density`", "0")),
    (ensembles.sparse_normal, (9,), {"seed": 1, "density": 0.1, "degree": 1}, "`degree`"),
    (ensembles.sparse_normal, (9,), {"seed": 1, "degree": 10}, ("`degree`", "9", "10")),
    (ensembles.sp_c, (9,), {"seed": 1, "density": 0.05}, ("`density`", "1/N")),
    (ensembles.hippo_legs, (9,), {"discretisation": "euler"}, ("`discretisation`", "bilinear")),
    (ensembles.chain, (9,), {"loop": [0.1, 0.2]}, ("`loop`", "9", "(2,)")),
    (ensembles.permutation, (9,), {"seed": 1, "cycles": [5, 6]}, ("`cycles`", "9")),
    (ensembles.lru_ring, (9,), {"seed": 1, "radius_max": 0.5}, "`radius_max`"),
    (ensembles.delay_reservoir, (5,), {"feedback": 1.5, "seed": 1}, "`feedback`"),
    (ensembles.delay_reservoir, (5,), {}, "`seed`"),
    (ensembles.delay_reservoir, (5,), {"mask": [1.0]}, "`mask`"),
    (ensembles.stacked, ([],), {}, "`layers`"),
    (ensembles.stacked, ([A2],), {}, "`layers`"),
    (ensembles.stacked, ([layer(5, 1), layer(4, 3)],), {}, ("layer 1", "3", "(4, 5)")),
    (ensembles.stacked, ([layer(5, 1, readout=[0])],), {}, ("layer 0", "readout")),
    (masks.make, ("gauss", 10), {"seed": 1}, ("`mask`", "'gauss'")),
    (masks.make, ("ones", 10), {"density": 0.1}, "`density`"),
    *((masks.make, (n, 10), {}, "`seed`") for n in masks.MASKS if masks.is_random(n)),
    (masks.normal, (10,), {"seed": -1}, ("`seed`", "-1")),
    (masks.basis, (3, 3), {}, ("`node`", "0", "2", "3")),
    (masks.sparse_normal, (10,), {"seed": 1, "density": 0}, ("`density`", "0")),
    (masks.sparse_normal, (10,), {"seed": 1, "norm": 0}, ("`norm`", "0")),
    (ARMA, ([1.0],), {}, ("`ar`", "modulus up to 1")),
    (ARMA, ([2.0],), {}, ("`ar`", "modulus up to 2")),
    (ARMA, ([0, 1.21],), {}, "`ar`"),
    (ARMA, (0.9,), {}, ("`ar`", "brackets")),
    (ARMA, (["0.9"],), {}, "`ar`"),
    (ARMA, ((), np.ones(101)), {}, ("`ma`", "100", "101")),
    (ARMA, ((), [1e200]), {}, ("`ma`", "float64")),
    (GIVEN, ([],), {}, ("`values`", "1", "0")),
    (GIVEN, ([0, 0],), {}, "`values`"),
    (GIVEN, ([1, 0.2, 1.5],), {}, ("`values`", "γ(2) = 1.5")),
    (GIVEN, (np.ones(20_002),), {"taper": "parzen"}, ("`values`", "20000", "20001")),
    (GIVEN, (0.9 ** np.arange(21),), {}, ("`values`", "taper='parzen'")),
    (GIVEN, ([1, 0.1],), {"taper": "hann"}, ("`taper`", "'hann'")),
    (SERIES, (range(5),), {}, ("`series`", "10", "5")),
    (SERIES, (np.full(20, 0.1),), {}, ("`series`", "0.1")),
    (SERIES, (range(20), 20), {}, ("`lags`", "19", "20")),
    (SERIES, (range(20), 5), {"taper": None}, "taper='parzen'"),
    (SERIES, (np.arange(20) * 1e200,), {}, ("`series`", "float64")),
    *((inputs.parse, (text,), {}, ("`input`", "series:FILE", repr(text))) for text in WRITTEN),
    (inputs.parse, ("ar:1.5",), {}, "`ar`"),
    (inputs.White, (0,), {}, ("`variance`", "0")),
    (curves_of_poles, ([[0.5], [1.0], [-1.5]],), {}, ("networks 1, 2 of the stack", "1.5")),
    (curves_of_poles, (np.zeros((3, 0)),), {}, ("`poles`", "(3, 0)")),
    *((memory_curve, (LINE,), {"noise": noise}, ("`noise`", fact)) for noise, fact in NOISE),
    *(
        (ask, (LINE,), {"input": colour}, facts)
        for colour, facts in COLOURS
        for ask in (memory_curve, forecasting_curve)
    ),
    *(
        (forecasting_curve, (LINE, "ar:0.9", count), {}, "`horizons`")
        for count in (0, -1, 2.5, "3", True, None, 10**9)
    ),
    (memory_curve, (WIDE_LINE,), {"input": ["ar:0.5"] * 3}, ("`input`", "2", "3")),
    (forecasting_curve, (LINE, "ar:0.9"), {"noise": [0.1, 0.2]}, ("`noise`", "2")),
    (forecasting_curve, (LINE, "ar:0.9"), {"method": "osm"}, "'osm'"),
    (forecasting_curve, (LINE, "ar:0.9"), {"masks": 3}, "`masks`"),
    (forecasting_curve, (A2, "ar:0.9"), {}, "`network`"),
    (memory_curve, (LINE,), {"method": "osm", "input": "ar:0.9"}, ("`method`", "'osm'")),
    *(
        (fisher_curve, (LINE, noise), {}, "`noise`")
        for noise in (0, -1.0, np.nan, [1.0, 2.0], memcurve.StateNoise(1.0))
    ),
    *((fisher_curve, (LINE,), {"lags": lags}, "`lags`") for lags in (0, 1.5)),
    (fisher_curve, (LINE,), {"certify_up_to": -1}, "`certify_up_to`"),
    (fisher_curve, (LINE.replace(readout=[0]),), {}, "`network`"),
    *(
        (LINE.replace, (), {"readout": nodes}, "`readout`")
        for nodes in ([-1], np.zeros(3, bool), [0.5], [[0, 1]], "all", 1)
    ),
    (memcurve.Quantised, (), {}, "`bits`"),
    (memcurve.Quantised, (), {"bits": 12}, "`low`"),
    (memcurve.Quantised, (), {"step": 0.1, "bits": 12}, ("`step`", "`bits`")),
    (memcurve.Quantised, (), {"step": 0.0}, ("`step`", "0.0")),
    (memcurve.Quantised, (), {"step": np.nan}, "`step`"),
    (memcurve.Quantised, (), {"bits": 2.5, "low": 0, "high": 1}, ("`bits`", "2.5")),
    (memcurve.Quantised, (), {"bits": 8, "low": 1, "high": 1}, ("`high`", "`low`=1")),
    (memcurve.Quantised, (), {"bits": 8, "low": "a", "high": 1}, ("`low`", "'a'")),
    (memcurve.StateNoise, (-1.0,), {}, "must not be negative"),
    (memcurve.ObservationNoise, (-1.0,), {}, "must not be negative"),
    (memcurve.StateNoise, ("much",), {}, "`noise`"),
    (memory_curve, (NETWORK,), PLUS | {"distribution": "ones"}, "`distribution`"),
    (memory_curve, (NETWORK,), {"method": "osm", "truncation": 5}, ("`truncation`", "6", "5")),
    (memory_curve, (NETWORK, 30), {"method": "osm", "truncation": 20}, ("`lags`", "20")),
    (memory_curve, (NETWORK, 20), SAMPLED | {"samples": 20}, "`samples`"),
    (memory_curve, (NETWORK, 5), SAMPLED | {"samples": 6}, "`samples`"),
    (krylov.orthogonal_components, (NETWORK, 7), {}, ("`count`", "6")),
    (krylov.orthogonal_components, (NETWORK, 3), {"by": "magic"}, "`by`"),
    (krylov.numerical_rank, (TWO,), {}, ("`network`", "2")),
    (compare, (A2,), {}, "`network`"),
    (compare, (NETWORK, ["magic"]), {}, "`method`"),
    (compare, (NETWORK, ["osm"]), {"options": {"magic": {}}}, "`method`"),
    (compare, (NETWORK, ["osm_plus"]), {}, "need an explicit seed"),
    (compare, (NETWORK, [("exact", {"terms": 3})]), {}, "'exact'"),
    *((compare, (NETWORK, methods), {}, "`methods`") for methods in (3, [3], [("naive", 3)])),
    (compare, (NETWORK,), {"noise": [0.1, 0.2]}, ("`noise`", "2")),
    (compare, (NETWORK, ["osm"]), {"noise": 0.1}, ("`method`", "'osm'")),
    (compare, (NETWORK,), {"input": ["ar:0.9", "ar:0.9"]}, ("`input`", "1", "2")),
    (compare, (ensembles.normal(5, seed=1, spectral_radius=1.1), []), {}, "unstable"),
    (memory_curves, (STACK * np.array([1, 9, 1, 9])[:, None, None],), {}, "networks 1, 3"),
    (memory_curves, (np.zeros((3, 4)),), {}, ("`A`", "(3, 4)")),
    (memory_curves, (np.array([0.5, 0.1]),), {}, ("`A`", "memcurve.memory.batch.curves_of_poles")),
    (memory_curves, ((A2, [1, 1]),), {}, "memory_curves(A, C)"),
    (memory_curves, (STACK, np.ones((3, 5))), {}, ("`C`", "(4, 5)", "(3, 5)")),
]


@pytest.mark.parametrize(("function", "arguments", "options", "facts"), WRONG)
def test_what_is_wrong_is_said(
    function: Any, arguments: tuple[Any, ...], options: dict[str, Any], facts: Any
) -> None:
    refuses((ValueError, TypeError), facts, function, *arguments, **options)


def test_numbers_at_the_ends_of_the_range() -> None:
    """What overflows within is no crash, and what nobody reads does not matter."""
    large, small = (ensembles.delay_line(6, gain=gain) for gain in (1e50, 1e-100))
    assert memcurve.input_normal(large).dynamics_residual < 1e-12
    refuses(memcurve.UncertainResultError, "certified", memcurve.input_normal, small)
    stable = memcurve.noise_profile((np.diag([0.5, 0.3]), [1.0, 1.0]), [0.01])
    unread = LinearNetwork(np.diag([0.5, 0.3, 2.0]), [1.0, 1.0, 1.0], readout=[0, 1])
    assert memcurve.noise_profile(unread, [0.01]).marks == stable.marks
