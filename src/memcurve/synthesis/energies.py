"""Control energies, information and Hankel values, from the input-normal realization."""

import contextlib
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import exact_array
from memcurve.core.errors import UncertainResultError
from memcurve.core.notes import Note
from memcurve.core.types import EPS, SEED, Floats
from memcurve.io.adapters import as_network
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.solve import (
    Analysis,
    few_threads,
    input_normal_realization,
    responses_to,
    solve_stein,
)
from memcurve.synthesis import directions
from memcurve.synthesis.result import PROSE, SynthesisResult

#: Up to so many states the smallest directions are found, to their last digits. Doubled: minutes.
FEW_STATES = 500
#: Lags are listed until the share of the information that is left is this. Doubled: a lag less.
NEGLIGIBLE = 1e-12
#: A total that is known to this share is not computed in another way. Doubled: twice the error.
KNOWN = 1e-9
#: It is said where more than this share of the information is at lags that are not listed.
LISTED = 1e-9


class GradedResult(SynthesisResult):
    """Singular values with relative errors."""

    values: Floats
    errors: Floats

    @property
    def error(self) -> float:
        """The largest of the relative errors."""
        return float(self.errors.max())


@dataclass(frozen=True, eq=False, repr=False)
class HankelValues(GradedResult):
    """Hankel singular values, from :func:`memcurve.hankel_values`: ``values`` and ``errors``.

    Errors are relative. A balanced truncation to k states is off by at most twice the sum of the
    other values.

    Examples
    --------
    >>> import memcurve
    >>> memcurve.hankel_values(memcurve.ensembles.delay_line(3)).values.round(9)
    array([1.73205081, 1.41421356, 1.        ])
    """

    FORMAT: ClassVar[str] = "memcurve.HankelValues/1"

    values: Floats
    errors: Floats
    network: str
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype)


@dataclass(frozen=True, eq=False, repr=False)
class ControlEnergy(GradedResult):
    """Control energies of the states, from :func:`memcurve.control_energy`.

    Attributes
    ----------
    values : (n,) array
        Singular values σ of [C, AC, A²C, …], largest first; G has the eigenvalues σ².
    errors : (n,) array
        Their relative errors.
    rank, states : int
        n and the number of states; if they differ, some directions are unreachable.
    energy : float
        Least Σz² of inputs that lead from rest to the ``target``; NaN where there is none.
    energy_error : float
        Its relative error.

    Examples
    --------
    >>> import memcurve
    >>> memcurve.control_energy(memcurve.ensembles.delay_line(3)).values.round(9)
    array([1., 1., 1.])
    """

    FORMAT: ClassVar[str] = "memcurve.ControlEnergy/1"

    values: Floats
    errors: Floats
    rank: int
    states: int
    energy: float
    energy_error: float
    network: str
    notes: tuple[Note, ...] = ()

    @property
    def lambda_min(self) -> float:
        """Smallest eigenvalue of the Gramian: zero where some directions are not reached."""
        return float(self.values[-1] ** 2) if self.rank == self.states else 0.0

    @property
    def trace(self) -> float:
        """Trace of the Gramian G: the state power for white input of unit variance."""
        return float((self.values**2).sum())


@dataclass(frozen=True, eq=False, repr=False)
class Information(SynthesisResult):
    """Mutual information of noisy states and past inputs, in nats, by :func:`memcurve.information`.

    Attributes
    ----------
    total : float
        Mutual information of the states and all past inputs, with ``error``.
    given_newer : (lags,) array
        Information about the input at each lag, conditional on all newer ones; over all lags its
        sum is the total. About each input alone it is −½ log(1 − MC_τ).
    given_newer_error : float
        Its largest error at any lag.

    Examples
    --------
    >>> import memcurve
    >>> result = memcurve.information(memcurve.ensembles.delay_line(3), 0.1)
    >>> result.given_newer.round(4), round(result.total, 4)
    (array([2.3076, 2.3076, 2.3076]), 6.9227)
    """

    FORMAT: ClassVar[str] = "memcurve.Information/3"

    total: float
    error: float
    given_newer: Floats
    given_newer_error: float
    noise: float
    network: str
    notes: tuple[Note, ...] = ()

    @property
    def bits(self) -> float:
        """The total in bits."""
        return self.total / float(np.log(2))


def control_energy(network: Any, target: Any = None) -> ControlEnergy:
    """Energy to steer a network from rest: λ_min, trace, a given state.

    The least Σz² that leads to the state x is xᵀG⁻¹x, G = Σ A^jCCᵀ(A^j)ᵀ. With x = Tξ and white ξ
    it is ‖T⁻¹x‖², and λ_min(G) = σ_min(T)²: relatively accurate where G, in floating point, has no
    digit of either from some twenty nodes on.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        A stable network of up to some thousand states.
    target : (N,) array, optional
        The state to reach.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.symmetric(100, spectral_radius=0.9, seed=1)
    >>> energy = memcurve.control_energy(network)
    >>> energy.lambda_min < 1e-100, bool(energy.errors.max() < 1e-9)
    (True, True)
    """
    subject = directions.stable_subject(network).replace(readout=None)
    goal = None if target is None else exact_array(target, "target")
    if goal is not None and goal.shape != (subject.size,):
        raise ValueError(
            f"`target` must be one number for each of the {subject.size} nodes, got shape "
            f"{goal.shape}."
        )
    with few_threads(subject.states), np.errstate(all="ignore"):
        sigma, errors = directions.measured(
            subject,
            lambda one, rng: directions.jacobi(directions.state_transformation(one, rng))[0],
        )
        energy, off = float("nan"), float("nan")
        if goal is not None:
            if subject.is_complex:
                goal = np.concatenate([goal.real, goal.imag])
            energies, relative = directions.measured(
                subject, lambda one, rng: _energy(one, rng, goal)
            )
            energy, off = float(energies[0]), float(relative[0])
    notes, rank, prose = list(subject.notes), Analysis.of(subject).rank, PROSE["ControlEnergy"]
    unknown = prose["unknown"].format(known=len(sigma), rank=rank)
    if len(sigma) < rank == subject.states:
        raise UncertainResultError(unknown)
    if rank == len(sigma) == subject.states and not sigma[-1] ** 2 > 0:
        exponent = 2 * float(np.log10(sigma[-1]))
        notes.append(Note("arithmetic", prose["underflow"].format(exponent=exponent)))
    if rank < subject.states:
        notes.append(Note("reach", prose["rank"].format(lost=subject.states - rank)))
    if len(sigma) < rank:
        notes.append(Note("arithmetic", unknown))
    name = directions.display_name(subject)
    return ControlEnergy(sigma, errors, rank, subject.states, energy, off, name, tuple(notes))


def _energy(
    network: LinearNetwork,
    rng: np.random.Generator | None,
    goal: Floats,
    *,
    outside: float = 1e-9,
) -> Floats:
    """‖T⁻¹x‖², infinite where some of x is ``outside`` of what is reached."""
    reached, T = Analysis.of(network).nodes, directions.state_transformation(network, rng)
    columns = np.sqrt(np.square(T).sum(axis=0))
    rows = np.abs(T / columns).max(axis=1)
    rows[rows == 0] = 1.0
    scaled, wanted = T / columns / rows[:, None], goal[reached] / rows
    white = np.linalg.lstsq(scaled, wanted, rcond=None)[0]
    missed = float(np.linalg.norm(scaled @ white - wanted))
    if np.delete(goal, reached).any() or missed > outside * float(np.linalg.norm(wanted)):
        return np.array([np.inf])
    return np.array([np.square(white / columns).sum()])


def hankel_values(network: Any, output: Any = None) -> HankelValues:
    """Hankel singular values of a network: how much of the past each state transmits.

    Singular values of the map from past inputs to future outputs, √λ(GQ) with the observability
    Gramian Q. By Jacobi rotations of a graded matrix: relatively accurate, also for those that
    Gramians lose.

    Parameters
    ----------
    network
        As for :func:`memcurve.control_energy`.
    output : (N,) or (N, outputs) array, optional
        Weights of the outputs; by default every node that is read is an output.

    References
    ----------
    Haut and Beylkin, SIAM Journal on Matrix Analysis and Applications 32 (2011), 1101–1125.

    Examples
    --------
    >>> import memcurve
    >>> memcurve.hankel_values(memcurve.ensembles.delay_line(3), [0, 0, 1]).values
    array([1., 1., 1.])
    """
    subject = directions.stable_subject(network)
    weights = _outputs(subject, output)

    def singular_values(one: LinearNetwork, rng: np.random.Generator | None) -> Floats:
        analysis = Analysis.of(one)
        A, _, units = analysis.of_unit_variance
        scale = np.ldexp(1.0, units)[:, None]
        rows = np.eye(one.states) if weights is None else weights
        S = _observability(A, scale * rows[analysis.nodes], rng)
        T = directions.state_transformation(one, rng) / scale
        # columns of both are graded: without their sizes the product keeps the digits of all
        sizes = [np.sqrt(np.square(X).sum(axis=0)) for X in (S, T)]
        S, T = (X / np.where(size > 0, size, 1.0) for X, size in zip((S, T), sizes, strict=True))
        return directions.jacobi(sizes[0][:, None] * (S.T @ T) * sizes[1])[0][: len(analysis)]

    with few_threads(subject.states), np.errstate(all="ignore"):
        values, errors = directions.measured(subject, singular_values)
    return HankelValues(values, errors, directions.display_name(subject), subject.notes)


def _observability(A: Floats, weights: Floats, rng: np.random.Generator | None) -> Floats:
    """S with SSᵀ = Σ (Aᵀ)^j w wᵀ A^j: one output is excited by Aᵀ as an input is by A."""
    if not weights.any():  # what is reached has no outputs
        return np.zeros((len(A), 1))
    unit = int(np.frexp(np.abs(weights).max())[1])  # of units whose squares overflow
    weights = np.ldexp(weights, -unit)
    if weights.shape[1] == 1:
        transposed = LinearNetwork(A.T, weights[:, 0])
        T = directions.state_transformation(transposed, rng)
        S = np.zeros((len(A), T.shape[1]))
        S[Analysis.of(transposed).nodes] = T
        return np.ldexp(S, unit)
    Q = solve_stein(A.T, weights @ weights.T)
    if rng is not None:
        Q = Q + 4 * EPS * np.linalg.norm(Q) * rng.uniform(-1, 1, Q.shape)
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    return np.asarray(np.ldexp(vectors * np.sqrt(np.maximum(values, 0.0)), unit))


def _outputs(network: LinearNetwork, output: Any) -> Floats | None:
    """Weights of the outputs (states, outputs); None for all states."""
    if output is None:
        if network.readout is None:
            return None
        rows = np.asarray(network.readout)
        if network.is_complex:
            rows = np.concatenate([rows, rows + network.size])
        return np.eye(network.states)[:, rows]
    weights = exact_array(output, "output")
    fits = weights.ndim in (1, 2) and len(weights) == network.states
    if not fits or np.iscomplexobj(weights) or not weights.any():
        raise ValueError(
            f"`output` must be real weights that are not all zero, one row for each of the "
            f"{network.states} states, got {weights.dtype} of shape {weights.shape}."
        )
    return weights.reshape(len(weights), -1)


def information(network: Any, noise: float) -> Information:
    """Mutual information of the states and past inputs under observation noise, in nats.

    For Gaussian input the total is ½Σ log(1 + σ²/s²); by the chain rule it is a sum over lags, what
    each input adds to those newer than it, from one triangular factor of I + KᵀK/s².

    Parameters
    ----------
    network, noise
        As for :func:`memcurve.pruned`; the network must be stable.

    Examples
    --------
    >>> import memcurve
    >>> answer = memcurve.information(memcurve.ensembles.delay_line(3), 1.0)
    >>> round(answer.total, 9)  # three times log 2 / 2
    1.039720771
    """
    subject, s = as_network(network), directions.noise_level(noise)
    is_small, d = subject.states <= FEW_STATES, subject.inputs
    total, error, chain, chain_error = np.nan, np.inf, np.zeros(0), np.inf
    try:
        factor = directions.directions_of(subject, s, seen=0.0, listed=True)
        sigma = factor.sigma / s
        total = 0.5 * float(np.log1p(sigma**2).sum())
        # |δ½log(1 + σ²/s²)| ≤ |δσ|/(2s), and the tail beyond what was listed
        error = float(np.sqrt(len(sigma)) * factor.left / (2 * s))
        error += 2 * factor.error * max(1.0, total)
        # a lag has the difference of two such totals, of all lags from it on and from the next on
        chain, chain_error = _chain(sigma, factor.V, d), 2 * error
        is_left = np.cumsum(chain[::-1])[::-1] > NEGLIGIBLE * total
        chain = chain[: max(1, int(np.count_nonzero(is_left)))]
    except UncertainResultError:
        if not is_small:
            raise
    if is_small and not error <= KNOWN * max(1.0, total):
        with contextlib.suppress(UncertainResultError), np.errstate(all="ignore"):
            sigma, relative = directions.measured(subject, lambda one, rng: _white(one, rng, s)[0])
            other = 0.5 * float(np.log1p((sigma / s) ** 2).sum())
            off = float((relative / (1 + (s / sigma) ** 2)).sum()) + 8 * EPS * other
            total, error = min((total, error), (other, off), key=lambda answer: answer[1])
    if is_small and not chain_error <= 2 * KNOWN * max(1.0, total):
        # responses do not fade, or are too large for the noise
        lags, refused = len(chain), [UncertainResultError] * bool(len(chain))
        with contextlib.suppress(*refused), np.errstate(all="ignore"):
            white, off = _chain_of_white(subject, s, lags or len(memory_curve(subject, noise=s)))
            if off < chain_error:
                chain, chain_error = white, off
    notes, listed = subject.notes, float(chain.sum())
    if total - listed > max(LISTED * total, error + chain_error):
        text = PROSE["Information"]["cut"]
        notes += (Note("lags", text.format(lags=len(chain), left=total - listed)),)
    return Information(
        total, error + 8 * EPS * total, chain, chain_error + 8 * EPS * total, s,
        directions.display_name(subject), notes,
    )  # fmt: skip


def _white(
    network: LinearNetwork, rng: np.random.Generator | None, s: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """σ and Z of what is read, ZΣ, in white states; their A and C."""
    problem = directions.driven_problem(network, s)
    A, C, T = input_normal_realization(problem.analysis, rng)
    sigma, Z = directions.jacobi(T[problem.rows])
    return sigma, Z, A, C


def _chain_of_white(network: LinearNetwork, s: float, lags: int) -> tuple[Floats, float]:
    """Information lag by lag from white states, and how far rounding moves it."""

    def chain(one: LinearNetwork, rng: np.random.Generator | None) -> Floats:
        sigma, Z, A, C = _white(one, rng, s)
        later = Z.T @ np.linalg.matrix_power(A, lags)
        return _chain(sigma / s, responses_to(A, C, lags).T @ Z, network.inputs, later)

    values, rng = chain(network, None), np.random.default_rng(SEED)
    other = chain(directions.rounded_network(network, rng), rng)
    return values, directions.SAFETY * float(np.abs(other - values).max())


def _chain(sigma: Floats, V: Floats, d: int, later: Floats | None = None) -> Floats:
    """½ log(1 + k_τᵀ(I + Σ_{j>τ}k_jk_jᵀ)⁻¹k_τ) by lag, oldest first, by Potter's square roots."""
    responses = (V * sigma).reshape(-1, d, len(sigma))
    root, gained = np.eye(len(sigma)), np.zeros(len(responses))
    if later is not None:  # all lags that V does not list
        U, sizes, _ = np.linalg.svd(sigma[:, None] * later)
        root = U / np.sqrt(1 + np.square(np.pad(sizes, (0, len(U) - len(sizes)))))
    for lag in range(len(responses) - 1, -1, -1):
        for response in responses[lag]:
            y = root.T @ response
            square = float(y @ y)
            gained[lag] += 0.5 * np.log1p(square)
            factor = 1 / (1 + square + np.sqrt(1 + square))
            root -= np.outer(root @ y, factor * y)
    return gained
