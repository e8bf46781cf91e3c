"""One table: sources × questions × the truth, proven with no step shared."""

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.linalg import block_diag

from draws import of_radius
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
from memcurve.inputs import ARMA, Autocovariance
from tolerances import COLOURED, SEVERAL, WHOLE_SUM, coloured, well_conditioned, within
from truth import PROCESSES, Truth, truth

HORIZONS = 5
KINDS = ("normal", "symmetric", "orthogonal")
READOUTS = ([4], [0, 3, 5], [14, 2, 7, 11, 13, 3, 0, 1, 8])
#: Every source of the factor that answers, and the tree, which takes one of them or balls.
ALL = ("best", "hessenberg", "cascade", "certified")


class Question(NamedTuple):
    """A network, the noise and input, the same in words of the oracle, and what may be off."""

    network: LinearNetwork
    noise: Any = None
    input: Any = None
    known: Mapping[str, Any] = MappingProxyType({})
    limit: float = SEVERAL
    sources: tuple[str, ...] = ALL


def network(
    kind: str = "normal", inputs: int = 1, readout: Any = None, *, size: int = 15
) -> LinearNetwork:
    A = ensembles.make(kind, size, seed=4, spectral_radius=0.7).A
    C = np.random.default_rng(inputs).standard_normal((size, inputs))
    return LinearNetwork(A, C, readout=readout)


def rounded() -> Question:
    """Float32 is noise of every state's own size."""
    given = network()
    powers = [np.linalg.matrix_power(given.A, k) @ given.C for k in range(99)]
    own = Float32().observation(np.sqrt(np.sum(np.square(powers), axis=(0, 2))))
    assert np.ptp(own) > 0
    return Question(given, Float32(), known={"observation": own**2})


def driven(name: str, given: LinearNetwork, noise: Any = None, **known: Any) -> Question:
    """By a process, whose density may range far."""
    process = ARMA(*PROCESSES[name])
    limit = SEVERAL if noise else min(COLOURED, coloured(*process.density_bounds()))
    return Question(given, noise, process, {"arma": PROCESSES[name], **known}, limit)


def together(names: tuple[str, ...], apart: bool) -> Question:
    """Inputs of their own colours, in one network or in parts that do not meet."""
    weights, count = [PROCESSES.get(name, ([], [])) for name in names], len(names)
    parts = [ensembles.normal(5, seed=k, spectral_radius=0.8).A for k in range(count)]
    given = network("normal", count)
    if apart:
        given = LinearNetwork(block_diag(*parts), np.kron(np.eye(count), np.ones((5, 1))))
    sources = ("best",) if apart else ("best", "cascade")
    known = {"arma": weights}
    return Question(given, None, [ARMA(*each) for each in weights], known, sources=sources)


def drawn(name: str, size: int, **options: Any) -> tuple[str, Question]:
    """Without noise, by its own name: the rank is the size, and the error near rounding."""
    given = getattr(ensembles, name)(size, **options)
    question = Question(given, limit=well_conditioned(size), sources=("best",))
    return given.name, question


def positive() -> LinearNetwork:
    A = np.random.default_rng(1).uniform(0, 1, (40, 40))
    return LinearNetwork(of_radius(A, 0.6), np.random.default_rng(2).standard_normal((40, 2)))


AR6 = Autocovariance(0.6 ** np.arange(80))  # cut where it is below rounding
#: One process in several forms; a weight of 2 is one of ½ up to the variance.
FORMS: dict[str, tuple[Any, dict[str, Any]]] = {
    **{f"{form!r}": (form, {"arma": ([], [0.5])})
       for form in (ARMA(ma=[0.5]), ARMA(ma=[2.0]), Autocovariance([1.25, 0.5]), "ma:0.5")},
    **{f"{form.name}": (form, {"arma": ([0.6], [])})
       for form in (AR6, ARMA(ar=[0.6]))},
}  # fmt: skip
NARROW = {"observation": 1e-6}
QUESTIONS = {
    **{f"{kind}, {len(read)} read": Question(network(kind, readout=read))
       for kind in KINDS for read in READOUTS},
    **{f"{kind}, {d} inputs": Question(network(kind, d)) for kind in KINDS for d in (2, 3)},
    **{f"state noise {s:g}": Question(network(), StateNoise(s), known={"state": s**2})
       for s in (10.0, 1e-2, 1e-8)},
    **{f"colour, {kind} {s:g}": driven("AR .9", network(), noise(s), **{kind: s**2})
       for kind, noise in (("observation", ObservationNoise), ("state", StateNoise))
       for s in (0.3, 1e-6)},
    **{f"{kind}, {name}": driven(name, network(kind)) for kind in KINDS for name in PROCESSES
       if kind == "normal" or name in ("AR .9", "MA .999", "ARMA(2,2)")},
    **{f"{', '.join(names)}{', apart' * apart}": together(names, apart)
       for names in (("AR .9", "MA .5", "white"), ("AR .9", "AR .9"),
                     ("MA .999", "ARMA(2,2)", "AR −.5"))
       for apart in (False, True)},
    **{f"{form}, {given.name or 'normal'}": Question(given, None, process, known, sources=("best",))
       for form, (process, known) in FORMS.items()
       for given in (network(size=20), ensembles.delay_line(4))},
    "two inputs, noise": Question(network(inputs=2), 1e-3, known=NARROW),
    "two inputs, colour": driven("AR .9", network(inputs=2))._replace(limit=SEVERAL),
    "two inputs, 3 read, colour, noise": driven(
        "AR .9", network(inputs=2, readout=[1, 4, 10]), 0.1, observation=0.01
    ),
    "two inputs, 3 read, state noise": Question(
        network(inputs=2, readout=[1, 4, 10]), StateNoise(0.1), known={"state": 0.01}
    ),
    "symmetric 40, two inputs": Question(network("symmetric", 2, size=40), sources=("best",)),
    "positive 40, two inputs": Question(positive(), sources=("best",)),
    "Float32": rounded(),
    **dict([
        drawn("normal", 40, seed=1),
        drawn("normal", 40, seed=2, spectral_radius=0.5),
        drawn("normal", 40, seed=3, spectral_radius=0.99),
        drawn("uniform", 30, seed=5, mask="ones"),
        drawn("sparse_normal", 50, seed=7, mask="sparse_normal"),
        drawn("sparse_uniform", 40, seed=8),
        drawn("orthogonal", 25, seed=10, spectral_radius=0.999),
        drawn("cyclic", 40),
        drawn("symmetric", 30, seed=11),
        drawn("symmetric", 25, seed=12, mask="ones"),
        *(drawn("chain", size, loop=loop) for size, loop in ((2, 0.5), (15, -0.75), (40, 0.9))),
    ]),
}  # fmt: skip
SLOW = {
    **{f"{kind} 60, {name}": driven(name, ensembles.make(kind, 60, seed=2))
       for kind in KINDS for name in PROCESSES},
    **dict([
        *(drawn(name, 100, seed=seed)
          for name, seed in (("normal", 1), ("uniform", 4), ("sparse_normal", 6),
                             ("orthogonal", 9), ("sp_c", 13))),
        drawn("symmetric", 60, seed=11),
    ]),
}  # fmt: skip
PAIRS = [(name, source) for name in QUESTIONS for source in QUESTIONS[name].sources]
PAIRS += [pytest.param(name, "best", marks=pytest.mark.slow) for name in SLOW]


@functools.cache
def known(name: str) -> Truth:
    asked = (QUESTIONS | SLOW)[name]
    given = asked.network
    lags = max(30, 2 * given.size)
    return truth(
        given.A, given.C, lags, horizons=HORIZONS, readout=given.readout, **asked.known
    )  # fmt: skip


@pytest.mark.parametrize(("name", "source"), PAIRS)
def test_agrees_with_the_truth(name: str, source: str, held) -> None:
    """Where a single source says that it cannot tell, others can."""
    asked, fact = (QUESTIONS | SLOW)[name], known(name)
    options: dict[str, Any] = {"input": asked.input, "noise": asked.noise}
    if source == "certified":
        options |= {"method": source}
    elif source != "best":
        options |= {"solver": source}
    try:
        curve = memory_curve(asked.network, len(fact.memory), **options)
    except UncertainResultError:
        assert source == "cascade"
        return
    off = within(curve, fact.memory, fact.total, asked.limit)
    held(f"{'coloured' if asked.input else 'white'} input: off by", off, at_most=SEVERAL)
    assert curve.rank in (fact.rank, None)
    if asked.input is not None and source == "best":
        ahead = forecasting_curve(asked.network, asked.input, HORIZONS, noise=asked.noise)
        within(ahead, fact.forecast, fact.total_forecast, asked.limit)


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
