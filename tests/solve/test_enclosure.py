"""The general enclosure contains the truth, whatever the input, the noise and the rows read."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb_mat, ctx

from memcurve import UncertainResultError, UnstableNetworkError, ensembles, inputs
from memcurve.solve.answer import MOST_DEFAULT_LAGS
from memcurve.solve.balls.arithmetic import Powers, diagonal, solve_stein
from memcurve.solve.balls.general import Enclosable, enclose_any
from memcurve.solve.balls.plain import enclose
from refusals import refuses
from tolerances import EPS, LAST_DIGIT
from truth import Truth, truth

WHITE = inputs.White()
#: A moving average whose autocovariances are floating-point numbers.
WEIGHTS = [1.0, 0.5, 0.25, 0.0, 0.125, 0.0, -0.0625]
FINITE = np.correlate(WEIGHTS, WEIGHTS, "full")[6:]
INPUTS: dict[str, tuple[inputs.InputProcess, dict[str, Any]]] = {
    "white": (inputs.White(3.0), {}),
    "AR(1)": (inputs.ARMA([0.9]), {"arma": ([0.9], [])}),
    "ARMA(2,2)": (inputs.ARMA([0.5, -0.3], [0.4, 2.0]), {"arma": ([0.5, -0.3], [0.4, 2.0])}),
    "AR(3)": (inputs.ARMA([0.2, 0.0, 0.5]), {"arma": ([0.2, 0.0, 0.5], [])}),
    "MA(1)": (inputs.ARMA(ma=[0.999]), {"arma": ([], [0.999])}),
    "ARMA(1,3)": (inputs.ARMA([-0.6], [0.1, 0.0, 0.7]), {"arma": ([-0.6], [0.1, 0.0, 0.7])}),
    "finite": (inputs.Autocovariance(FINITE), {"arma": ([], WEIGHTS[1:])}),
}
NOISE: dict[str, dict[str, Any]] = {
    "none": {},
    "observation": {"observation": np.full(6, 0.1)},
    "state": {"state": np.full(6, 0.2)},
    "mixed": {
        "observation": np.array([0, 0.3, 0, 0, 1e-3, 0]),
        "state": np.array([0, 0, 0.1, 0, 0, 0]),
        "rows": [5, 1, 2, 0],
    },
    "rows": {"rows": [4, 0]},
    "noisy rows": {"rows": [3, 1], "observation": np.array([0, 0.1, 0, 0.2, 0, 0])},
}


def run(
    A: Any,
    C: Any,
    process: inputs.InputProcess | Sequence[inputs.InputProcess] = WHITE,
    lags: int | None = None,
    **options: Any,
) -> Any:
    """The numbers at the one noise level, with rank and precision."""
    A = np.array(A, dtype=float)
    C = np.array(C, dtype=float).reshape(len(A), -1)
    single = isinstance(process, inputs.InputProcess)
    processes = [process] * C.shape[1] if single else process
    quiet = {"observation": np.zeros(len(A)), "state": np.zeros(len(A)), "rows": range(len(A))}
    asked = {name: options.pop(name) for name in ("horizons", "max_bits") if name in options}
    problem = Enclosable(A, C, processes=processes, **(quiet | options))
    answer = enclose_any(problem, lags, **asked)
    parts = {name: part for name, part in vars(answer).items() if isinstance(part, np.ndarray)}
    numbers = {name: part[0] for name, part in parts.items()}
    return SimpleNamespace(**numbers | {"rank": answer.rank} | answer.diagnostics)


def drawn(size: int, columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((size, size))
    return A * 0.8 / np.abs(np.linalg.eigvals(A)).max(), rng.standard_normal((size, columns))


def require_enclosed(found: Any, expected: Truth) -> None:
    assert np.all(np.abs(found.memory - expected.memory) <= found.memory_error + LAST_DIGIT)
    assert np.all(np.abs(found.forecast - expected.forecast) <= found.forecast_error + LAST_DIGIT)
    assert abs(found.total - expected.total) <= found.total_error + 4 * EPS * found.total
    assert found.total_forecast == pytest.approx(expected.total_forecast, rel=4 * EPS)
    assert max(found.memory_error.max(), found.forecast_error.max()) <= EPS
    assert found.total_error <= 4 * EPS * found.total


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("process", INPUTS)
def test_encloses_the_truth(process: str, noise: str) -> None:
    options = NOISE[noise]
    kind, given = INPUTS[process]
    d = 1 + (len(process) + len(noise)) % 3
    A, C = drawn(6, d, len(process + noise))
    found = run(A, C, kind, 20, horizons=8, **options)
    expected = truth(
        A,
        C,
        20,
        horizons=8,
        observation=np.square(options.get("observation", 0.0)),
        state=np.square(options.get("state", 0.0)),
        readout=options.get("rows"),
        **given,
    )
    require_enclosed(found, expected)
    assert found.rank == len(options.get("rows", A))


@pytest.mark.parametrize(
    "network",
    [
        ensembles.normal(30, seed=1),
        ensembles.symmetric(20, seed=2),
        ensembles.chain(12, loop=0.9, gain=3.0),
        ensembles.hippo_legt(12),
        ensembles.orthogonal(20, seed=3, spectral_radius=0.99),
    ],
    ids=lambda n: n.name,
)
def test_agrees_with_the_plain_enclosure(network: Any) -> None:
    found = run(network.A, network.C)
    plain = enclose(network.A, network.C.ravel(), len(found.memory))
    memory, error, rank = plain.memory[0, :, 0], plain.memory_error[0, :, 0], plain.rank
    assert np.all(np.abs(found.memory[:, 0] - memory) <= found.memory_error[:, 0] + error)
    assert found.rank == plain.rank == found.total
    assert found.memory.sum() == pytest.approx(rank, abs=1e-11)


@pytest.mark.parametrize("process", ["white", "AR(1)", "finite"])
def test_copies_add_nothing_but_less_noise(process: str) -> None:
    """Two equal halves; noise on some copies does not matter where another has none."""
    kind, given = INPUTS[process]
    A, C = drawn(4, 2, 5)
    twice, masks = np.kron(np.eye(2), A), np.vstack([C, C])
    alone = run(A, C, kind, 20, horizons=3)
    for quiet in ({}, {"observation": np.array([0, 0, 0, 0, 0.1, 0.1, 0, 0.1])}):
        both = run(twice, masks, kind, 20, horizons=3, **quiet)
        assert both.rank == 4
        assert both.total == pytest.approx(alone.total, abs=both.total_error + alone.total_error)
        assert np.all(np.abs(both.memory - alone.memory) <= both.memory_error + alone.memory_error)
        assert both.forecast == pytest.approx(alone.forecast, abs=EPS)
    both = run(twice, masks, kind, 20, observation=np.full(8, 0.1))
    expected = truth(twice, masks, 20, observation=0.1**2, **given)
    assert both.memory == pytest.approx(expected.memory, abs=LAST_DIGIT)


def test_every_input_has_its_own_process() -> None:
    """The last of them drives nothing."""
    names = ("white", "ARMA(2,2)", "AR(1)", "MA(1)", "AR(3)")
    A, C = drawn(6, 5, 1)
    C[:, 4] = 0.0
    found = run(A, C, [INPUTS[name][0] for name in names], 15, horizons=4)
    weights = [INPUTS[name][1].get("arma", ([], [])) for name in names]
    require_enclosed(found, truth(A, C, 15, arma=weights, horizons=4))
    assert not found.memory[:, 4].any()
    assert not found.memory_error[:, 4].any()


def test_scale_does_not_matter() -> None:
    A, C = drawn(5, 2, 8)
    kind = inputs.ARMA([0.9])
    plain = run(A, C, kind, 10, horizons=2)
    for factor in (2.0**-660, 2.0**660):
        scaled = run(A, factor * C, kind, 10, horizons=2)
        assert np.array_equal(scaled.memory, plain.memory)
        assert scaled.total == plain.total
        noise = run(A, factor * C, kind, 10, observation=np.full(5, factor / 8))
        assert np.array_equal(
            noise.memory, run(A, C, kind, 10, observation=np.full(5, 0.125)).memory
        )


def test_default_lags_wait_for_memory_that_comes_back() -> None:
    """γ is zero but for lags 0 and 100, so that memory returns after 70 lags of nothing."""
    A, C = 0.3 * drawn(4, 1, 9)[0], np.ones(4)
    found = run(A, C, inputs.ARMA(ma=[0.0] * 99 + [0.9]))
    assert found.memory[60:80].max() < 1e-12
    assert found.memory.sum() == pytest.approx(found.total, abs=1e-11)


def test_slow_modes_and_non_normal_ones() -> None:
    slow = run([[0.9999]], [1.0])
    assert len(slow.memory) == MOST_DEFAULT_LAGS
    expected = (1 - 0.9999**2) * 0.9999 ** (2 * np.arange(MOST_DEFAULT_LAGS))
    assert slow.memory[:, 0] == pytest.approx(expected, rel=1e-10)
    steep = ensembles.chain(20, loop=0.5, gain=1e8)
    assert run(steep.A, steep.C, inputs.ARMA([0.9]), 10).memory_error.max() <= EPS
    edge = run([[1 - 2.0**-52]], [1.0], lags=3)
    assert edge.memory[0, 0] == pytest.approx(2.0**-51, rel=1e-12)


def test_long_chains_take_few_bits() -> None:
    """States are measured in units of their deviation, which grows by two from node to node."""
    chain = ensembles.chain(90)
    found = run(chain.A, chain.C, lags=3, observation=np.full(90, 1e-2))
    assert found.total == pytest.approx(73.5638645465924, abs=1e-12)
    assert found.bits < 450


def test_no_silent_failure() -> None:
    A, C = drawn(10, 1, 11)
    refuses(UncertainResultError, "100 bits", run, A, C, lags=5, max_bits=100)


def test_nothing_is_read() -> None:
    assert run([[0.5]], [0.0], lags=4).total == 0.0
    A = np.diag([0.5, 0.25])
    assert not run(A, [1.0, 0.0], lags=4, rows=[1]).memory.any()


def test_state_noise_excites_what_the_input_does_not() -> None:
    with pytest.raises(UnstableNetworkError, match="`A`"):
        run([[1.0, 0.5], [0.5, 1.0]], [1.0, -1.0], lags=4, state=np.array([0.1, 0.0]))


def test_stein_equations_are_enclosed() -> None:
    """The residual counts: what few bits leave open, many bits find inside."""
    A, _ = drawn(8, 1, 12)
    with ctx.workprec(70):
        matrix = arb_mat(A.tolist())
        wide = solve_stein(Powers(matrix), Powers(matrix), diagonal([1] * 8))
    with ctx.workprec(400):
        close = solve_stein(Powers(matrix), Powers(matrix), diagonal([1] * 8))
    assert wide.contains(close)
