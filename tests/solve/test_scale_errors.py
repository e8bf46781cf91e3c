"""The ways that large networks go, on networks small enough to know the truth: errors hold."""

import contextlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy.linalg import toeplitz
from scipy.sparse import csr_array

from draws import of_radius
from graph_families import random_graph, scale_free, small_world, weighted
from memcurve import LinearNetwork, ObservationNoise
from memcurve.core.errors import UncertainResultError
from memcurve.solve import arnoldi, leaves
from memcurve.solve.analysis import Analysis
from memcurve.solve.answer import Answer
from memcurve.solve.choose import LARGEST_ERROR
from memcurve.solve.leaves import krylov_model, solve_arnoldi, solve_cascade, solve_hessenberg
from memcurve.solve.problem import Problem
from truth import truth

Rng = np.random.Generator
EPS = float(np.finfo(float).eps)
LEVELS = (1.0, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12)
SIZE, LAGS = 24, 40
#: Up to so many nodes the truth is proven, and matrices may be as far from normal as they like:
#: longer ones of the same kind have powers beyond all numbers.
PROVEN = 60


def gaussian(size: int, rng: Rng, radius: float = 0.9) -> np.ndarray:
    kept = rng.random((size, size)) < 10 / size
    return of_radius(
        rng.standard_normal((size, size)) * kept + np.diag(np.full(size, 1e-3)), radius
    )


def gain_chain(gain: float) -> Callable[[int, Rng], np.ndarray]:
    """A delay line whose nodes amplify, over some ten nodes, and damp as much further on."""

    def made(size: int, rng: Rng) -> np.ndarray:
        gains = np.full(size - 1, 0.8 if size <= PROVEN else 0.68)
        gains[: min(10, size // 3)] = gain
        return np.diag(rng.uniform(0.1, 0.5, size)) + np.diag(gains, -1)

    return made


def of_symbol(A: np.ndarray) -> np.ndarray:
    """A Toeplitz matrix whose powers grow by some orders before they decay.

    ‖A‖ is the largest modulus of its symbol Σ a_k e^{ikω}, of any size: here 1 + 10/N.
    """
    size = len(A)
    around = np.fft.fft(np.concatenate([A[:, 0], [0.0], A[0, :0:-1]]))
    return A * ((1 + 10 / size) / np.abs(around).max())


def grcar(size: int, rng: Rng) -> np.ndarray:
    """Far from normal: ones above the diagonal, −1 below it."""
    column, row = np.zeros(size), np.zeros(size)
    column[:2], row[:4] = (1, -1), 1
    A = toeplitz(column, row)
    return of_radius(A) if size <= PROVEN else of_symbol(A)


def tridiagonal(size: int, rng: Rng) -> np.ndarray:
    """Symmetric in disguise, with a wide range of scales."""
    column, row = np.zeros(size), np.zeros(size)
    column[:2], row[:2] = (0.1, 0.8), (0.1, 0.25)
    A = toeplitz(column, row)
    return A if size <= PROVEN else of_symbol(A)


def ring(size: int, rng: Rng) -> np.ndarray:
    return 0.95 * np.roll(np.eye(size), 1, axis=0)


def symmetric(size: int, rng: Rng, radius: float = 0.9) -> np.ndarray:
    A = gaussian(size, rng)
    return of_radius(A + A.T, radius)


FAMILIES: dict[str, Callable[[int, Rng], np.ndarray]] = {
    "Gaussian": gaussian,
    "Gaussian, radius .99": lambda size, rng: gaussian(size, rng, 0.99),
    "symmetric": symmetric,
    "symmetric, radius .999": lambda size, rng: symmetric(size, rng, 0.999),
    "positive": lambda size, rng: of_radius(np.abs(gaussian(size, rng))),
    "scale-free": lambda size, rng: of_radius(
        weighted(scale_free(size, 3, rng), "normal", rng) + 1e-2 * np.eye(size)
    ),
    "small world": lambda size, rng: of_radius(weighted(small_world(size, 4, rng), "normal", rng)),
    "random graph": lambda size, rng: of_radius(
        weighted(random_graph(size, 4, rng), "normal", rng) + 1e-2 * np.eye(size)
    ),
    "ring": ring,
    "gain chain": gain_chain(2.0),
    "strong gain chain": gain_chain(5.0),
    "Grcar": grcar,
    "Toeplitz": tridiagonal,
}
#: Eigenvalues of these cannot be told.
FAR_FROM_NORMAL = ("gain chain", "strong gain chain", "Grcar", "Toeplitz")


def drawn(family: str, size: int, seed: int = 1) -> LinearNetwork:
    rng = np.random.default_rng(seed)
    A, C = FAMILIES[family](size, rng), rng.standard_normal(size)
    return LinearNetwork(csr_array(A), C / np.linalg.norm(C))


def answers(network: LinearNetwork, level: float, lags: int) -> list[Answer]:
    """By a basis, step by step and several steps at once as for large networks, and both dense."""
    found = []
    ways = (
        *((many, solve_arnoldi) for many in (arnoldi.MANY_STATES, 0)),
        *((0, solve) for solve in (solve_hessenberg, solve_cascade)),
    )
    for many, solve in ways:
        problem = Problem.of(network.replace(name=f"{many} {solve}"), lags, noise=level)
        with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
            patch.setattr(arnoldi, "MANY_STATES", many)
            patch.setattr(leaves, "MANY_STATES", many)
            try:
                found.append(solve(problem))
            except UncertainResultError:  # too many directions or lags, a gain too strong: said so
                continue
    return found


def require_holds(found: Answer, memory: np.ndarray, total: float, own: float = 0.0) -> None:
    """Every number within its error of the truth, which is known to ``own``."""
    seen = found.memory[0, : len(memory)]
    assert np.all(np.abs(seen - memory) <= found.memory_error[0, : len(memory)] + own)
    assert abs(found.total[0] - total) <= found.total_error[0] + own * max(1.0, total)


@pytest.mark.parametrize("family", [name for name in FAMILIES if ".999" not in name])
@pytest.mark.parametrize("readout", [None, [1, 5, 6]])
def test_errors_hold_against_balls(family: str, readout: list[int] | None) -> None:
    network = drawn(family, SIZE).replace(readout=readout)
    A, C = network.A.toarray(), network.C.reshape(-1, 1)
    for level in LEVELS[:: 2 if family.startswith("Gaussian") else 3]:
        known = truth(A, C, LAGS, observation=level**2, readout=readout)
        found = answers(network, level, LAGS)
        for one in found:
            require_holds(one, known.memory, known.total, 1e-15)
        sure = [one for one in found if one.largest_error[0] <= LARGEST_ERROR]
        assert sure or level < 1e-6 or family == "strong gain chain"


class Known(NamedTuple):
    """Memory (levels, lags, 1) and totals (levels,), and how well they are known at each level."""

    memory: np.ndarray
    total: np.ndarray
    own: np.ndarray


def proven(network: LinearNetwork) -> Known:
    A, C = network.A.toarray(), network.C.reshape(-1, 1)
    found = [truth(A, C, LAGS, observation=level**2) for level in LEVELS]
    memory = np.array([each.memory for each in found])
    return Known(memory, np.array([each.total for each in found]), np.full(len(found), 1e-15))


def dense(network: LinearNetwork) -> Known:
    """In white coordinates; of symmetric networks these come from eigenvectors alone."""
    problem = Problem.of(network.replace(name="dense"), LAGS, noise=ObservationNoise(LEVELS))
    with np.errstate(all="ignore"):
        found = solve_cascade(problem)
    return Known(found.memory[:, :LAGS], found.total, found.largest_error)


def listed(network: LinearNetwork) -> Known:
    """From all lags there are: in extended precision, then one SVD, whose error is eps·‖K‖/s."""
    A, x = network.A.astype(np.longdouble), network.C.astype(np.longdouble)
    columns, sizes = [], []
    while not columns or max(sizes[-max(50, len(sizes) // 4) :]) > 1e-9 * LEVELS[3]:
        columns.append(x.astype(float))
        sizes.append(float(np.sqrt((x**2).sum())))
        x = A @ x
        assert len(columns) < 12_000
    K = np.array(columns).T
    _, sigma, Vt = np.linalg.svd(K, full_matrices=False)
    shares = sigma**2 / (sigma**2 + np.square(LEVELS)[:, None])
    memory = (shares @ Vt[:, :LAGS] ** 2)[:, :, None]
    own = np.minimum(1.0, 20 * EPS * np.linalg.norm(sizes) / np.array(LEVELS))
    return Known(memory, shares.sum(axis=1), own)


def known_by_matrices(family: str, network: LinearNetwork) -> Known:
    if family not in FAR_FROM_NORMAL:
        with contextlib.suppress(UncertainResultError):
            return dense(network)
    return listed(network)


#: Families whose networks of 1,000 nodes take seconds.
QUICK = ("symmetric", "Toeplitz", "small world", "positive", "random graph")


@pytest.mark.slow
@pytest.mark.parametrize("size", [24, PROVEN, 300, 1000, 2000])
@pytest.mark.parametrize("family", FAMILIES)
def test_errors_hold_at_all_levels(family: str, size: int, pytestconfig) -> None:
    """Against proven numbers, else in white coordinates, or from all lags where these fail."""
    is_dear = size == 2000 or (size == 1000 and family not in QUICK)
    if is_dear and not pytestconfig.getoption("--thorough"):
        pytest.skip("half a minute or more, with --thorough")
    network = drawn(family, size, seed=2)
    known = proven(network) if size <= PROVEN else known_by_matrices(family, network)
    compared = 0
    for level, memory, total, own in zip(LEVELS, *known, strict=True):
        for found in answers(network, level, LAGS):
            require_holds(found, memory, float(total), float(own))
            compared += 1
    assert compared or family in FAR_FROM_NORMAL  # said so, where powers grow too far


def test_few_steps_where_lags_are_many() -> None:
    """Radius .999: some thousand lags, and a basis of some hundred directions."""
    network = drawn("symmetric, radius .999", 120)
    model = krylov_model(Analysis.of(network), 1e-3)
    assert len(model.c) < 120
    assert model.leakage <= 1e-15


@pytest.mark.slow
def test_waves_take_all_directions() -> None:
    """Of a long delay line whose eigenvalues cannot be told, with gains, the lags are few."""
    network = drawn("gain chain", 500)
    known, at = listed(network), LEVELS.index(1e-2)
    with pytest.raises(UncertainResultError, match="directions"):
        solve_arnoldi(Problem.of(network, LAGS, noise=1e-2))
    found = solve_hessenberg(Problem.of(network, LAGS, noise=1e-2))
    require_holds(found, known.memory[at], float(known.total[at]), float(known.own[at]))
    assert found.largest_error[0] < 1e-6
