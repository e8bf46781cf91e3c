"""Directions of the states above the noise: singular values and vectors of K = [C, AC, A²C, …].

K = UΣVᵀ, rows of UΣ = KV are the states in input-normal coordinates. From the responses of the
reduced-order model (H, c) of ``solve``, which has Σ and V above the noise; where these do not fade,
from K = TWᵀ with white states ξ = Wᵀz and x = Tξ, without a list of lags.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from memcurve import solve
from memcurve.core.arguments import require_number
from memcurve.core.errors import UncertainResultError, unstable
from memcurve.core.limits import require_room_for_states
from memcurve.core.types import EPS, SEED, Floats
from memcurve.inputs.filters import Filter, filters_of
from memcurve.io.adapters import as_network
from memcurve.network import LinearNetwork
from memcurve.network.device import on_host
from memcurve.network.tall import backend_of

#: Lags end where all that follow are below this share of the noise. Doubled: fewer lags, and errors
#: of twice as much.
FADED = 1e-9
#: Numbers in the responses at most. Doubled: slower networks are answered, in twice the memory.
MOST_ENTRIES = 50_000_000
#: Directions below this share of the noise are left out: they hold its square. Doubled: four times
#: as much, 4e-10 of an input each.
SEEN = 1e-5
#: |δ Σσ²/(σ² + s²)| ≤ this · Σ|δσ|/s, the largest slope of x²/(x² + 1).
SLOPE = 3 * np.sqrt(3) / 8
#: Reduced models of dense networks that are off by more are not used. Doubled: twice the error.
UNSURE = 1e-6
#: Up to so many states input-normal coordinates are found without lags. Doubled: a minute.
FEW_STATES = 1500
#: Noise has fourth powers that are numbers.
LEAST_NOISE = 1e-70
MOST_NOISE = 1e70
#: Where not all directions are known, those above this share of the mask are. Doubled: fewer.
FAR_BELOW = 1e-8
#: Lags whose responses are multiplied at once. Doubled: as much memory more.
BLOCK = 32
#: A measured change times this is an error, as elsewhere. Doubled: errors twice as large.
SAFETY = 40.0
#: Of so few states one change may leave a number alone by accident, and more are tried. Doubled:
#: energies of networks in between take twice as long.
FEW_NUMBERS = 15


class Directions(NamedTuple):
    """Singular values σ, largest first, and V (lags·d, k) of K above the noise of a ``level``.

    V is empty where responses do not fade. ``states`` (N, k) are KV, None where they are yet to be
    made. ``model`` (H, c, reader) has ``axes``, its directions by their variance; ``reader`` maps
    its states to those that are read (None: all are, up to a rotation). ``left`` bounds what K is
    off by (Frobenius norm), ``error`` how far the memory is off at any lag.
    """

    sigma: Floats
    V: Floats
    level: float
    left: float
    error: float
    states: Floats | None = None
    model: tuple[Floats, Floats, Floats | None] | None = None
    axes: Floats | None = None

    @property
    def shares(self) -> Floats:
        """σ²/(σ² + s²), which add up to the usable memory."""
        with np.errstate(over="ignore", divide="ignore"):  # of directions far below the noise
            return np.asarray(1 / (1 + (self.level / self.sigma) ** 2))

    def total_error(self, directions: int) -> float:
        """Bound on the error of a sum of so many shares of rows of K."""
        cut = len(self.sigma) * SEEN**2
        off = SLOPE * np.sqrt(max(directions, 1)) * self.left / self.level
        return float(off + cut + self.error * max(1.0, float(self.shares.sum())))

    def rows(self, network: LinearNetwork) -> Floats:
        """KV: all states of a network (states, k) in input-normal coordinates, in their units."""
        if self.states is not None:
            return self.states
        A, X = network.real_pair()
        A, d = on_host(A), X.shape[1]
        summed = np.zeros((len(X), len(self.sigma)))
        for start in range(0, len(self.V), BLOCK * d):
            weights, columns = self.V[start : start + BLOCK * d], []
            for _ in range(len(weights) // d):
                columns.append(X)
                X = np.asarray(A @ X)
            summed += np.concatenate(columns, axis=1) @ weights
        return summed


def noise_level(noise: Any, argument: str = "noise") -> float:
    """The standard deviation of observation noise, above zero."""
    limits = f"from {LEAST_NOISE:g} to {MOST_NOISE:g}"
    rule = f"{limits}, a standard deviation; scale it and the mask alike"
    return require_number(noise, argument, rule, lambda x: LEAST_NOISE <= x <= MOST_NOISE)


def driven_problem(network: LinearNetwork, noise: float | None, input: Any = None) -> solve.Problem:
    """The problem of usable memory, if an input reaches what is read."""
    problem = solve.Problem.of(network, noise=noise, input=input)
    if not problem.is_driven:
        raise ValueError(
            "`network` must have an input that reaches what is read: its mask is zero, or leads "
            "elsewhere. Give another `C` or `readout`."
        )
    return problem


def stable_subject(network: Any) -> LinearNetwork:
    """A network that is driven, stable, and small enough for all of its directions."""
    subject = as_network(network)
    analysis = driven_problem(subject, None).analysis
    require_room_for_states(len(analysis), "realization")
    radius = float(np.abs(analysis.eigenvalues).max())
    if radius >= 1:
        raise unstable(radius)
    return subject


def display_name(network: LinearNetwork) -> str:
    """The name of a network, or its size."""
    return network.name or f"{network.size} nodes"


def require_all_read(network: LinearNetwork) -> None:
    """Raise where some nodes are read."""
    if network.readout is not None:
        raise ValueError(
            "`network` must be read from all its nodes: what is read of some of them is another "
            "question; use network.replace(readout=None)."
        )


def directions_of(
    network: LinearNetwork,
    noise: Any,
    input: Any = None,
    *,
    seen: float = SEEN,
    model: bool = False,
    listed: bool = False,
) -> Directions:
    """The directions of a network above observation noise of one standard deviation.

    For coloured input V is that of the white noise behind it, K that of the states in it. With a
    ``model`` where that is asked for; where V is to be ``listed``, responses have to fade.
    """
    s = noise_level(noise)
    problem = driven_problem(network, s, input)
    with np.errstate(all="ignore"), backend_of(network.A).collective():
        H, c, reader, error = _model(problem)
        try:
            R, rest = faded_responses(H, c, FADED * s)
        except UncertainResultError:
            if listed or len(problem.states) > FEW_STATES or not problem.is_white:
                raise
            return _by_realization(problem, s, seen)
    filters = filters_of(problem.processes)
    R, rest = filtered(R, filters), rest * max(f.gain for f in filters)
    with solve.few_threads(len(H)):
        axes = np.linalg.svd(R, full_matrices=False)[0] if model else None
        K = R if reader is None else reader @ R
        _, sigma, Vt = np.linalg.svd(K, full_matrices=False)
    count = max(1, int(np.count_nonzero(sigma > seen * s)))
    gain = 1.0 if reader is None else float(np.linalg.norm(reader, 2))
    left = gain * rest + 8 * EPS * float(np.linalg.norm(K))
    V = np.ascontiguousarray(Vt[:count].T)
    return Directions(sigma[:count], V, s, left, error, None, (H, c, reader), axes)


def _model(problem: solve.Problem) -> tuple[Floats, Floats, Floats | None, float]:
    """The reduced model, or a dense network as it is where that is better known."""
    states = problem.states
    try:
        model = solve.reduction_of(problem)
        if model[3] <= UNSURE or not isinstance(states.stored, np.ndarray):
            return model
    except UncertainResultError:
        if not isinstance(states.stored, np.ndarray):
            raise
    radius = float(np.abs(np.linalg.eigvals(states.stored)).max())
    if radius >= 1:
        raise unstable(radius)
    return states.stored, states.mask, _selection(problem), 0.0


def _selection(problem: solve.Problem) -> Floats | None:
    return None if problem.reads_all else np.eye(len(problem.states))[problem.rows]


def _by_realization(problem: solve.Problem, s: float, seen: float) -> Directions:
    """The same from white states x = Tξ, which have no lags; how far rounding moves it is said."""

    def decomposed(
        problem: solve.Problem, rng: np.random.Generator | None = None
    ) -> tuple[Floats, Floats, Floats]:
        _, _, T = solve.input_normal_realization(problem.analysis, rng)
        _, sigma, Zt = np.linalg.svd(T[problem.rows], full_matrices=False)
        return T, sigma, Zt

    network, rng = problem.network, np.random.default_rng(SEED)
    with solve.few_threads(len(problem.states)):
        T, sigma, Zt = decomposed(problem)
        shares, change = 1 / (1 + (s / sigma) ** 2), 0.0
        for _ in range(2):
            other = decomposed(driven_problem(rounded_network(network, rng), s), rng)[1]
            k = min(len(other), len(sigma))
            moved = np.abs(1 / (1 + (s / other[:k]) ** 2) - shares[:k])
            change = max(change, float(moved.max()), *shares[k : k + 1])
        axes = np.linalg.svd(T, full_matrices=False)[0]
    count = max(1, int(np.count_nonzero(sigma > seen * s)))
    states = np.zeros((network.states, count))
    states[problem.analysis.nodes] = T @ Zt[:count].T
    model = problem.states.dense, problem.states.mask, _selection(problem)
    error = SAFETY * change + 16 * EPS
    return Directions(sigma[:count], np.zeros((0, count)), s, 0.0, error, states, model, axes)


def filtered(R: Floats, filters: tuple[Filter, ...]) -> Floats:
    """Weights (n, lags·d) of past inputs as those of the white noise behind them."""
    d = len(filters)
    parts = [process.applied(R[:, j::d].T) for j, process in enumerate(filters)]
    weights = np.zeros((max(map(len, parts)), d, len(R)))
    for j, part in enumerate(parts):
        weights[: len(part), j] = part
    return np.ascontiguousarray(weights.reshape(-1, len(R)).T)


def faded_responses(H: Floats, c: Floats, tolerance: float) -> tuple[Floats, float]:
    """[c, Hc, …] to where the rest is small enough, and a bound on the rest."""
    gramian, d = solve.solve_stein(H, c @ c.T), c.shape[1]
    lags, power = 1, H
    while True:
        later = float(np.sqrt(max(float(np.trace(power @ gramian @ power.T)), 0.0)))
        if later <= tolerance:
            return solve.responses_to(H, c, lags), later
        if not np.isfinite(later) or 2 * lags * d * len(H) > MOST_ENTRIES:
            raise UncertainResultError(
                f"the states take more than {lags:,} lags to fade; ask for more "
                f"noise, or for a network further below spectral radius 1."
            )
        lags, power = 2 * lags, power @ power


def rounded_network(network: LinearNetwork, rng: np.random.Generator) -> LinearNetwork:
    """The network, every weight perturbed in its last digits; zeros stay."""
    A = network.A.copy()
    entries = A if isinstance(A, np.ndarray) else A.data
    factors = 1 + 2 * EPS * rng.standard_normal(entries.shape)
    if isinstance(A, np.ndarray):
        if np.array_equal(A, A.T):  # symmetric networks stay so
            factors = np.triu(factors) + np.triu(factors, 1).T
        A = A * factors
    else:
        A.data = entries * factors
    return network.replace(A=A, C=network.C * (1 + 2 * EPS * rng.standard_normal(network.C.shape)))


def jacobi(M: Floats) -> tuple[Floats, Floats]:
    """Singular values and right singular vectors to relative accuracy, whatever the scales."""
    from scipy.linalg.lapack import dgejsv

    unit = int(np.frexp(np.abs(M).max(initial=0.0))[1])
    M = np.ldexp(M, -unit)
    wide = len(M) < M.shape[1]
    tall = np.asfortranarray(M.T if wide else M)
    values, U, V, work, _, info = dgejsv(tall, joba=2, jobu=0, jobv=0, jobr=0, jobt=0, jobp=0)
    if info != 0 or not np.isfinite(values).all():
        raise UncertainResultError(f"LAPACK's dgejsv ends with info = {info}.")
    sigma = values * (work[0] / work[1])
    order = np.argsort(-sigma, kind="stable")
    vectors = (U[:, : len(sigma)] if wide else V)[:, order]
    return np.ldexp(sigma[order], unit), np.asarray(vectors)


def state_transformation(network: LinearNetwork, rng: np.random.Generator | None = None) -> Floats:
    """T (states that are reached, n) in the network's own units; ``rng``: with other rounding."""
    analysis = solve.Analysis.of(network)
    try:
        with np.errstate(all="ignore"):
            return solve.input_normal_realization(analysis, rng)[2]
    except UncertainResultError:  # the larger directions alone, to rounding of the largest
        whole = network.replace(readout=None)
        level = FAR_BELOW * float(np.linalg.norm(analysis.mask))
        return directions_of(whole, level, seen=1.0).rows(whole)[analysis.nodes]


def measured(
    network: LinearNetwork,
    compute: Callable[[LinearNetwork, np.random.Generator | None], Floats],
) -> tuple[Floats, Floats]:
    """Positive numbers and relative errors: changes of logarithms under random rounding.

    That of weights, and of the computation, where ``compute`` is given a generator for it.
    """
    rng, values = np.random.default_rng(SEED), compute(network, None)
    trials = 3 if network.states > FEW_NUMBERS else 8
    others = [compute(rounded_network(network, rng), rng) for _ in range(trials)]
    count = min(map(len, [values, *others]))
    values = values[:count]
    with np.errstate(all="ignore"):
        changes = [np.log(one[:count]) - np.log(values) for one in others]
        change = np.where(values > 0, np.abs(changes).max(axis=0), 0.0)
    return values, np.where(np.isfinite(change), SAFETY * change, np.inf) + 16 * EPS
