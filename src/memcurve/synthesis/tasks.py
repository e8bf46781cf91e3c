"""The error of linear tasks, exactly."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memcurve import solve
from memcurve.core.arguments import exact_array
from memcurve.core.errors import UncertainResultError, unstable
from memcurve.core.notes import Note
from memcurve.core.types import EPS, Floats
from memcurve.inputs import ARMA, parse
from memcurve.inputs.filters import filters_of
from memcurve.io.adapters import as_network
from memcurve.memory import memory_curve, one_level
from memcurve.network import LinearNetwork
from memcurve.state_affine import StateAffineNetwork, WordTarget, as_target, predicted_error
from memcurve.synthesis import directions
from memcurve.synthesis.result import SynthesisResult

#: Errors up to this are small. Doubled: fewer networks go to the projection.
LARGEST_ERROR = 1e-10
#: Up to so many states that takes no time, and is done where nothing else answers. Doubled: eight
#: times as long, some seconds and a minute.
FEW_STATES = 400
MOST_STATES = 1000
#: Longest delays and averages. Doubled: twice the time.
LONGEST = 2**17


@dataclass(frozen=True, eq=False, repr=False)
class TaskError(SynthesisResult):
    """The error of the best linear readout of a linear target, from :func:`memcurve.task_error`.

    Attributes
    ----------
    nmse : float
        Mean squared error of the best linear readout, relative to the variance of the target.
    error : float
        Bound on the error of ``nmse``.
    weighted : float
        The error that capacities alone would suggest, Σh_k²(1 − MC_k)/Σh_k². It ignores that errors
        at different lags are correlated. NaN for coloured or several inputs.
    weighted_error : float
        Bound on the error of ``weighted``.
    target : (lags,) array or (lags, inputs) array
        Coefficients h, newest first.

    Examples
    --------
    >>> import memcurve
    >>> result = memcurve.task_error(memcurve.ensembles.delay_line(2), [1.0, 0.5, 0.5])
    >>> round(result.nmse, 9)
    0.166666667
    """

    FORMAT: ClassVar[str] = "memcurve.TaskError/1"

    nmse: float
    error: float
    weighted: float
    weighted_error: float
    target: Floats
    noise: float
    network: str
    notes: tuple[Note, ...] = ()


def task_error(network: Any, target: Any, *, input: Any = None, noise: Any = None) -> TaskError:
    """Error of the best linear readout of y_t = Σ_k h_k z_{t−k}, exactly.

    Without noise, for white input, ``NMSE = Σ_{i≥0} (Σ_k h_k b_{k−i})²/Σh²`` with the coefficients
    b of the all-pass filter of the poles; observation noise s adds Σ_i s²/(σ_i² + s²)(v_i·h)²/Σh².
    Both are sums of squares: small errors keep their digits. No simulation, no regression.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        A stable network.
    target : array, int, str or ARMA
        Coefficients h, newest first, one column per input where there are several; an integer τ for
        a delay, ``"average:m"`` for the mean of the last m inputs; ``"ar:0.9"`` and the like, or a
        :class:`memcurve.inputs.ARMA`, for the filter of that process. Nonlinear targets, and
        all targets of a :class:`memcurve.StateAffineNetwork`, are for independent input:
        ``"product:1,2"`` for z_{t−1}z_{t−2}, ``"parity:3"``, ``"narma10"`` (no linear network gets
        below an NMSE of 0.14), coefficients by word, ``{(0, 1, 1): 1.0}``, a target of
        :func:`memcurve.state_affine.function_target`, or a StateAffineNetwork as a teacher, whose
        first state it is.
    input : input process, optional
        As for :func:`memcurve.memory_curve`; white by default.
    noise : float, optional
        Standard deviation of the observation noise; none by default.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(30, spectral_radius=0.9, seed=1)
    >>> average = memcurve.task_error(network, "average:40")
    >>> round(average.nmse, 4), round(average.weighted, 4)
    (0.0242, 0.259)
    >>> delay = memcurve.task_error(network, 25)
    >>> abs(delay.nmse - (1 - memcurve.memory_curve(network)[25])) < 1e-12
    True
    """
    goal = as_target(target)
    if goal is not None or isinstance(network, StateAffineNetwork):
        if input is not None:
            raise ValueError("`input` must be left out: it is that of the state-affine network.")
        subject = network if isinstance(network, StateAffineNetwork) else as_network(network)
        return _of_words(subject, goal, target, noise)
    subject, level = as_network(network), one_level(noise)
    h = _coefficients(target, subject.inputs)
    s = 0.0 if level is None or noise == 0 else directions.noise_level(noise)
    problem = directions.driven_problem(subject, s or None, input)
    unit = h / np.abs(h).max()  # the error is relative: targets of any size have squares
    nmse, error = _least_error(problem, unit, s, input)
    weighted, off = float("nan"), float("nan")
    if problem.is_white and subject.inputs == 1:
        curve, shares = memory_curve(subject, len(h), noise=noise), unit[:, 0] ** 2
        weighted, off = (float(shares @ x / shares.sum()) for x in (curve.loss, curve.error))
    name = directions.display_name(subject)
    coefficients = h if h.shape[1] > 1 else h[:, 0]
    return TaskError(nmse, error, weighted, off, coefficients, float(s), name, subject.notes)


def _of_words(network: Any, goal: Any, target: Any, noise: Any) -> TaskError:
    """A nonlinear target, or a network in which input and states multiply."""
    if goal is None:
        h = _coefficients(target, 1)[:, 0]
        goal = {(0,) * lag + (1,): float(c) for lag, c in enumerate(h) if c}
    nmse, error = predicted_error(network, goal, noise)
    words = goal.coefficients if isinstance(goal, WordTarget) else goal
    linear = np.zeros(1)
    if isinstance(words, Mapping):
        lags = {len(word) - 1: c for word, c in words.items() if sum(word) == 1}
        linear = np.array([lags.get(lag, 0.0) for lag in range(max(lags, default=0) + 1)])
    name = network.name or f"{network.size} states"
    level = 0.0 if noise is None else noise if isinstance(noise, int | float) else np.nan
    return TaskError(nmse, error, np.nan, np.nan, linear, float(level), name, network.notes)


def _coefficients(target: Any, inputs: int) -> Floats:
    """The target as coefficients (lags, inputs)."""
    kind, _, length = target.partition(":") if isinstance(target, str) else ("", "", "")
    if isinstance(target, int | np.integer) and not isinstance(target, bool):
        if not 0 <= target < LONGEST:
            raise ValueError(f"`target` must be a delay from 0 to {LONGEST - 1:,}, got {target}.")
        h = np.eye(1, int(target) + 1, int(target))[0]
    elif kind == "average":
        if not length.isdigit() or not 0 < int(length) < LONGEST:
            raise ValueError(
                f"`target` must be 'average:m' with an integer m from 1 on, got {target!r}."
            )
        h = np.full(int(length), 1 / int(length))
    elif isinstance(target, str | ARMA):
        process: Any = target
        with contextlib.suppress(ValueError):  # of an input, which this is not
            process = parse(target) if isinstance(target, str) else target
        if not isinstance(process, ARMA):
            raise ValueError(
                f"`target` must be coefficients, 'average:m' or an ARMA filter such as 'ar:0.9'; "
                f"got {target!r}."
            )
        try:
            psi = filters_of([process])[0].psi
        except UncertainResultError:
            raise ValueError(
                f"`target` must fade, got {process!r}; move its roots further from the unit circle."
            ) from None
        h = psi / psi[0]
    else:
        h = exact_array(target, "target")
    table = h[:, None] if h.ndim == 1 and inputs == 1 else h
    if table.ndim != 2 or table.shape[1] != inputs or np.iscomplexobj(h) or not h.any():
        raise ValueError(
            f"`target` must be real coefficients that are not all zero, newest first, one column "
            f"for each of {inputs} inputs; got {target!r:.60} of shape {h.shape}, {h.dtype}."
        )
    return np.asarray(table)


def _least_error(problem: solve.Problem, h: Floats, s: float, input: Any) -> tuple[float, float]:
    """NMSE and its error, in the quickest way, and where that is not enough by projection."""
    answers, reason = list[tuple[float, float]](), None
    is_quick = bool(s) or problem.is_plain
    if is_quick:
        try:
            answers = [(_noisy if s else _plain)(problem, h, s, input)]
        except UncertainResultError as error:
            reason = error
    if not (answers and answers[0][1] <= LARGEST_ERROR):
        limit = FEW_STATES if answers else MOST_STATES
        if len(problem.states) <= limit or not is_quick:
            try:  # directions far below rounding, or that do not fade, and poles next to the circle
                answers.append(_by_projection(problem.network, h, input, s))
            except UncertainResultError as error:
                reason = reason or error
    if not answers:
        raise reason or UncertainResultError("the poles of the network are not known.")
    return min(answers, key=lambda answer: answer[1])


def _by_projection(network: LinearNetwork, h: Floats, input: Any, s: float) -> tuple[float, float]:
    """NMSE by :func:`_projected`, and how far rounding of the network moves it."""
    nmse, relative = directions.measured(
        network, lambda one, rng: np.array([_projected(one, rng, h, input, s)])
    )
    value = float(nmse[0])
    error = value * float(relative[0]) + 16 * EPS * np.sqrt(value) * network.states
    if not error < 1:
        raise UncertainResultError(
            "rounding hides the error of this task; ask for observation noise, noise=1e-6, or for "
            "a network with fewer states."
        )
    return value, error


def _plain(problem: solve.Problem, h: Floats, *_: Any) -> tuple[float, float]:
    """One white input, no noise, all states: from the poles alone."""
    from scipy.signal import fftconvolve

    spectrum, u = problem.analysis.spectrum, h[:, 0]
    if spectrum.poles is None or len(spectrum.poles) != spectrum.rank:
        raise UncertainResultError("the poles of the network are not known.")
    radius = float(np.abs(spectrum.poles).max(initial=0.0))
    if radius >= 1:
        raise unstable(radius)
    b, size = solve.impulse_response(spectrum.poles, len(u)), float(np.linalg.norm(u))
    # e_i = Σ_k h_k b_{k−i}: directly where that is quick, without rounding relative to the largest
    direct = len(u) <= 4096
    both = np.correlate(u, b, "full") if direct else fftconvolve(u, b[::-1])
    root = float(np.linalg.norm(both[len(b) - 1 :])) / size
    # the space of inputs that are remembered turns by an angle of this sine at most
    rounding = (4 if direct else 40) * EPS * np.sqrt(len(u)) + EPS * len(spectrum.poles)
    turn = float(spectrum.gap) + float(rounding)
    return root**2, 2 * root * turn + turn**2


def _noisy(problem: solve.Problem, h: Floats, s: float, input: Any) -> tuple[float, float]:
    """Observation noise: every direction above it keeps its share."""
    listed = directions.directions_of(problem.network, s, input, seen=0.0, listed=True)
    filters = filters_of(problem.processes)
    u = directions.filtered(h.reshape(1, -1), filters)[0]
    nmse = _left(u, listed.V, 1 - listed.shares)
    off = 2 * listed.left / s + 4 * listed.error + max(f.uncertainty for f in filters)
    return nmse, float(off + 8 * EPS * np.sqrt(len(u)) * np.sqrt(nmse))


def _left(u: Floats, V: Floats, noisy: Floats, later: Floats | None = None) -> float:
    """Σu² less the part in orthonormal V, of which noise hides the share ``noisy``, over Σu².

    With ``later``, (k, n), V has rows beyond those given, and Σ VᵀV over them is later·laterᵀ.
    """
    count = max(len(u), len(V))
    u, V = np.pad(u, (0, count - len(u))), np.pad(V, ((0, count - len(V)), (0, 0)))
    held = V.T @ u
    rest, beyond = u - V @ held, 0.0
    if later is None:
        again = V.T @ rest
        rest, held = rest - V @ again, held + again
    else:
        beyond = float(np.square(held @ later).sum())
    return float((rest @ rest + beyond + (noisy * held**2).sum()) / (u @ u))


def _projected(
    network: LinearNetwork,
    rng: np.random.Generator | None,
    h: Floats,
    input: Any,
    s: float,
) -> float:
    """The projection on the states read, in coordinates that keep the smallest directions."""
    problem = solve.Problem.of(network, input=input)
    A, C, T = solve.input_normal_realization(problem.analysis, rng)
    filters, u, later = filters_of(problem.processes), h.reshape(-1), None
    if problem.is_white:  # lags beyond the target hold what is known of their squares
        V, R = solve.responses_to(A, C, len(h)).T, np.eye(len(A))
        later = np.linalg.matrix_power(A, len(h))
    else:
        V, R = np.linalg.qr(
            directions.filtered(directions.faded_responses(A, C, 1e-13)[0], filters).T
        )
        u = directions.filtered(h.reshape(1, -1), filters)[0]
    noisy = np.zeros(V.shape[1])
    if s or not problem.reads_all:
        rows = T[problem.rows] @ R.T
        sigma, Z = directions.jacobi(rows)
        count = len(sigma) if s else problem.rank
        Z = Z[:, :count]
        V, noisy = V @ Z, 1 / (1 + (sigma[:count] / s) ** 2) if s else noisy[:count]
        later = None if later is None else Z.T @ later
    return _left(u, np.asarray(V), noisy, later)
