"""One table: sources × questions × the truth, proven with no step shared."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

from memcurve import (
    Float32,
    LinearNetwork,
    ObservationNoise,
    StateNoise,
    UncertainResultError,
    ensembles,
    forecasting_curve,
    memory_curve,
)
from memcurve.inputs import ARMA
from tolerances import EPS, SEVERAL, WHOLE_SUM
from truth import Truth, truth

LAGS, HORIZONS = 30, 5
KINDS = ("normal", "symmetric", "orthogonal")
READOUTS = ([4], [0, 3, 5], [14, 2, 7, 11, 13, 3, 0, 1, 8])
COLOUR = {"arma": ([0.9], [])}


class Question(NamedTuple):
    """A network, the noise, and the same in words of the oracle."""

    network: LinearNetwork
    noise: Any = None
    known: Mapping[str, Any] = MappingProxyType({})


def network(kind: str = "normal", inputs: int = 1, readout: Any = None) -> LinearNetwork:
    A = ensembles.make(kind, 15, seed=4, spectral_radius=0.7).A
    C = np.random.default_rng(inputs).standard_normal((15, inputs))
    return LinearNetwork(A, C, readout=readout)


def rounded() -> Question:
    """Float32 is noise of every state's own size."""
    given = network()
    powers = [np.linalg.matrix_power(given.A, k) @ given.C for k in range(99)]
    own = Float32().observation(np.sqrt(np.sum(np.square(powers), axis=(0, 2))))
    assert np.ptp(own) > 0
    return Question(given, Float32(), {"observation": own**2})


QUESTIONS = {
    **{f"{kind}, {len(read)} read": Question(network(kind, readout=read))
       for kind in KINDS for read in READOUTS},
    **{f"{kind}, {d} inputs": Question(network(kind, d)) for kind in KINDS for d in (2, 3)},
    **{f"state noise {s:g}": Question(network(), StateNoise(s), {"state": s**2})
       for s in (10.0, 1e-2, 1e-8)},
    **{f"colour, {kind} {s:g}": Question(network(), noise(s), {kind: s**2} | COLOUR)
       for kind, noise in (("observation", ObservationNoise), ("state", StateNoise))
       for s in (0.3, 1e-6)},
    **{f"{kind}, colour": Question(network(kind), None, COLOUR) for kind in KINDS},
    "two inputs, noise": Question(network(inputs=2), 1e-3, {"observation": 1e-6}),
    "two inputs, colour": Question(network(inputs=2), None, COLOUR),
    "two inputs, 3 read, colour, noise": Question(
        network(inputs=2, readout=[1, 4, 10]), 0.1, {"observation": 0.01} | COLOUR
    ),
    "two inputs, 3 read, state noise": Question(
        network(inputs=2, readout=[1, 4, 10]), StateNoise(0.1), {"state": 0.01}
    ),
    "Float32": rounded(),
}  # fmt: skip


@pytest.fixture(scope="module", params=QUESTIONS)
def asked(request: pytest.FixtureRequest) -> tuple[Question, Truth]:
    question = QUESTIONS[request.param]
    given = question.network
    known = truth(
        given.A, given.C, LAGS, horizons=HORIZONS, readout=given.readout, **question.known
    )
    return question, known


@pytest.mark.parametrize("solver", ["best", "hessenberg", "cascade", "certified"])
def test_agrees_with_the_truth(asked: tuple[Question, Truth], solver: str) -> None:
    """Where a single source says that it cannot tell, others can."""
    question, known = asked
    process = ARMA(ar=[0.9]) if "arma" in question.known else None
    options: dict[str, Any] = {"solver": solver}
    if solver in ("best", "certified"):
        options = {"method": "certified" if solver == "certified" else "exact"}
    given = {"input": process, "noise": question.noise, **options}
    try:
        curve = memory_curve(question.network, LAGS, **given)
    except UncertainResultError:
        assert solver == "cascade"
        return
    off = np.abs(curve.channels - known.memory)
    assert np.all(off <= curve.channel_errors + 4 * EPS)  # variances and the truth are rounded
    assert off.max() <= SEVERAL
    assert abs(curve.total - known.total) <= curve.total_error + 1e-12 * known.total
    if process is not None and solver == "best":
        ahead = forecasting_curve(question.network, process, HORIZONS, noise=question.noise)
        assert np.abs(ahead.channels - known.forecast).max() <= SEVERAL


@pytest.mark.parametrize("inputs", [1, 3])
@pytest.mark.parametrize(
    "asked",
    [
        {"input": "ar:0.9"},
        {"noise": 0.1},
        {"noise": 0.1, "input": "ma:0.5"},
        {"noise": StateNoise(0.1), "input": "ar:0.9"},
    ],
    ids=str,
)
def test_default_lags_hold_the_total_which_no_rotation_changes(asked: Any, inputs: int) -> None:
    given = network(inputs=inputs)
    curve = memory_curve(given, **asked)
    assert abs(curve.values.sum() - curve.total) <= curve.total_error + inputs * WHOLE_SUM
    Q = ensembles.orthogonal(15, seed=1, spectral_radius=1.0).A
    turned = memory_curve(LinearNetwork(Q @ given.A @ Q.T, Q @ given.C), **asked)
    count = min(len(curve), len(turned))
    assert np.abs(curve[:count].channels - turned[:count].channels).max() <= SEVERAL
    assert curve.total == pytest.approx(turned.total, abs=SEVERAL)
