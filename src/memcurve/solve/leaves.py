"""The solvers: each answers some questions with errors that hold, or says why it cannot.

Which one is asked, and in which order, is decided in :mod:`memcurve.solve.choose`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.limits import require_room_for_states
from memcurve.core.types import EPS, SEED, TINY, Floats
from memcurve.inputs.filters import Filter, filters_of
from memcurve.network.device import DeviceMatrix
from memcurve.network.graph import eigenvalues
from memcurve.network.modular import UncontrollableModes
from memcurve.network.operator import Operator
from memcurve.solve.allpass import memory_of_poles
from memcurve.solve.analysis import VANISHED, Analysis
from memcurve.solve.answer import MOST_DEFAULT_LAGS, Answer, Lags
from memcurve.solve.arnoldi import Arnoldi
from memcurve.solve.basis import EXHAUSTED
from memcurve.solve.errors import (
    Truncation,
    backward_error,
    curve_error,
    measured,
    rounding,
)
from memcurve.solve.evaluate import SingularSystem, Whiten, singular_system
from memcurve.solve.factor import (
    COLOURED_TAIL,
    LEFT_OUT,
    MOST_ENTRIES,
    TAIL,
    KrylovFactor,
    ReducedModel,
    feed_forward,
    hessenberg,
    krylov_factor,
)
from memcurve.solve.powers import MANY_STATES, residual_norm, solve_stein
from memcurve.solve.problem import Problem
from memcurve.solve.realization import cascade_of, graded_realization, lasting_factor, modes_of
from memcurve.solve.spectrum import without_uncontrollable

#: Relative error of an input's density above which a filter does not stand for it. Doubled: errors
#: up to four times as much are let through.
LARGEST_UNCERTAINTY = 1e-9
#: Up to so many states of a dense network all directions are found at once. Doubled: audits of
#: larger networks take eight times as long.
FEW_STATES = 1000


# --- one white input, no noise: poles are all it takes


def solve_nothing(problem: Problem) -> Answer:
    """No memory, where no input reaches what is read."""
    levels, lags = len(problem.levels), problem.lags or 1
    return Answer.nothing(levels, lags, problem.horizons, problem.network.inputs)


def solve_lattice(problem: Problem) -> Answer:
    """The tail energy of the all-pass filter whose poles are the controllable eigenvalues."""
    _require_like_units(problem)
    spectrum, lags = problem.analysis.spectrum, problem.lags
    poles, shift, sensitivity = spectrum.poles, 0, spectrum.sensitivity
    if spectrum.response is not None:
        poles, (sensitivity, _), shift, _ = spectrum.response
    if poles is None:
        raise UncertainResultError(
            "rounding hides which of the eigenvalues are controllable by the input."
        )
    radius = float(np.abs(poles).max(initial=0.0))
    if radius >= 1:
        raise UncertainResultError(f"the spectral radius comes out as {radius:.6g}, not below 1.")
    if not np.isfinite(sensitivity):
        raise UncertainResultError("the powers of A grow too far for an error estimate.")
    memory, loss = memory_of_poles(poles, None if lags is None else lags + shift)
    error = curve_error(memory, loss, sensitivity, len(poles))
    if shift and not loss[shift - 1] <= error[shift - 1]:  # what a delay lets through is rounding
        raise UncertainResultError("rounding hides which zero eigenvalues are controllable.")
    memory, loss, error = memory[shift:], loss[shift:], error[shift:]
    return Answer.of_memory(memory[:, None], error[:, None], spectrum.rank, 0.0, loss[:, None])


def _require_like_units(problem: Problem) -> None:
    states, some_rows = problem.states, problem.noise is None and not problem.reads_all
    if some_rows and states.weight_range[0] < np.finfo(float).tiny / EPS**2:
        raise UncertainResultError("products with the smallest weights of `A` underflow.")
    if states.is_badly_scaled and not states.is_feed_forward:
        raise UncertainResultError(
            "the numbers in `A` differ too much in size: measure the states in other units."
        )


# --- everything else: the Krylov factor


class Coordinates(NamedTuple):
    """A network in units in which its noise is alike, and how its states are read.

    ``levels`` of the noise in these units; ``whiten`` maps states to those read, with noise of
    unit size (None: all, up to a rotation); ``exactly``: without noise; ``uncertainty``: relative
    error of its covariance; ``key`` tells these units and rows, where that is worth keeping.
    """

    A: Any
    C: Floats
    levels: Floats
    whiten: Whiten | None
    exactly: bool
    key: tuple[Any, ...] | None
    uncertainty: float = 0.0


def coordinates(problem: Problem, *, dense: bool = True) -> Coordinates:
    """The network of a question in such units."""
    states = problem.states
    rows = None if problem.reads_all else problem.rows
    chosen: Whiten | None = None if rows is None else lambda M: M[rows]
    key = None if rows is None else rows.tobytes()
    if problem.noise is None:
        return Coordinates(
            states.A, states.C, problem.levels, chosen, True, ("balanced", id(states), key)
        )
    if problem.noise.state(np.ones(1)).any():
        return _process_noise(problem)
    scale, power = _observation_scale(problem)
    unit = float(scale.max())
    scale = scale / unit
    C = states.mask if np.ptp(scale) == 0 else states.mask / scale[:, None]
    # a power of two: squares of what is about one neither overflow nor vanish
    exponent = int(np.frexp(max(C.max(), -C.min()))[1])
    if len(states) >= MANY_STATES and abs(exponent) <= 20:  # squares are far from overflow
        exponent = 0
    C = np.ldexp(C, -exponent) if exponent else C
    A = states.dense if dense else states.multiplied
    A = _scaled(A, scale) if np.ptp(scale) else A
    levels = np.ldexp(problem.levels * unit, power - exponent)
    if levels.min() * VANISHED > 1:
        raise UncertainResultError("the noise hides the states, and whether they grow.")
    if 0 < levels.min() < VANISHED and np.abs(C[C != 0]).min() < VANISHED:
        raise UncertainResultError("squares of the noise, and of some states, leave float64.")
    units = scale.tobytes() if np.ptp(scale) else b""
    return Coordinates(A, C, levels, chosen, False, (units, id(states), key))


def _scaled(A: Any, scale: Floats) -> Any:
    """D⁻¹AD."""
    if isinstance(A, np.ndarray):
        return A * (scale / scale[:, None])
    if isinstance(A, Operator | DeviceMatrix):
        return A.scaled(scale)
    from scipy.sparse import diags_array

    return (diags_array(1 / scale) @ A @ diags_array(scale)).tocsr()


def _observation_scale(problem: Problem) -> tuple[Floats, int]:
    """Standard deviations of observation noise at level one, and the power of two of their unit.

    States not read get noise in proportion to their size, as the others have in the mean.
    """
    noise, rows = problem.noise, problem.rows
    assert noise is not None
    given, places = problem.reading_errors
    if not noise.is_relative and problem.readable is None:
        return given[:1], 0
    sizes, units = problem.states.sizes(problem.processes)
    own, orders = np.log2(sizes) + units, np.log2(given) + places
    mean = float(orders[rows].mean())
    free = own + (mean - own[rows].mean())
    free[~np.isfinite(free)] = mean
    free[rows] = orders[rows]
    lowest = np.finfo(float).minexp
    if not free.max() - orders[rows].min() <= -lowest:
        raise UncertainResultError("some of the states are read without noise, or nearly so.")
    unit = int(np.floor(free.max()))
    scale = np.exp2(np.maximum(free - unit, lowest))
    scale[rows] = np.ldexp(given[rows], places[rows] - unit)
    return scale, unit


def _process_noise(problem: Problem) -> Coordinates:
    """Noise that enters the recursion: its covariance on the states that are read is factored."""
    from scipy.linalg import solve_triangular

    observed, entering = problem.observation[problem.rows], problem.state
    unit = float(entering.min())  # of the covariance: what is left out is relative to the least
    if unit == 0:
        raise UncertainResultError("the noise is below the range of floats.")
    observed, entering = observed / unit, entering / unit
    whole = solve_stein(problem.A, np.diag(entering**2))
    read = whole[np.ix_(problem.rows, problem.rows)] + np.diag(observed**2)
    try:
        L: Any = np.linalg.cholesky(read)
    except np.linalg.LinAlgError:
        raise UncertainResultError("the covariance of the noise is singular.") from None
    if not np.isfinite(L).all():
        raise UncertainResultError("the covariance of the noise is beyond the range of floats.")
    relative = residual_norm(problem.A, whole, np.diag(entering**2))
    relative += 4 * EPS * float(np.sqrt(len(L) * (read**2).sum()))

    def whiten(M: Floats) -> Floats:
        # what is not finite is refused where it is decomposed
        return np.asarray(solve_triangular(L, M[problem.rows], lower=True, check_finite=False))

    levels = problem.levels * unit
    return Coordinates(problem.A, problem.C, levels, whiten, False, None, relative)


def solve_hessenberg(
    problem: Problem, *, steps_of_rounding: tuple[float, ...] = (1e-13, 1e-12, 1e-11)
) -> Answer:
    """Any question from the Krylov factor of a dense network, without its eigenvalues.

    Where more directions are reached than the rank, ``steps_of_rounding`` are left out, as errors.
    """
    require_room_for_states(len(problem.states), "noise")
    _require_like_units(problem)
    filters, space = _filters(problem), coordinates(problem)
    model = _hessenberg_model(problem, space)
    if space.exactly and space.C.shape[1] > 1 and model.reached < len(problem.states):
        for share in steps_of_rounding:
            if model.reached <= problem.analysis.rank:
                break
            model = hessenberg(space.A, space.C, share)
    return _read_off(problem, model, space, filters)


def _hessenberg_model(problem: Problem, space: Coordinates) -> ReducedModel:
    """All directions of a dense network in these units, kept for further questions."""
    units = (space.key or ("balanced", id(problem.states)))[:2]
    key = ("hessenberg", space.exactly, *units)
    models = problem.analysis.models
    if key not in models:
        if problem.states.is_feed_forward:
            models[key] = feed_forward(space.A, space.C)
        else:  # with noise, directions that rounding alone leads to show what they are worth
            smallest = EXHAUSTED if space.exactly else TINY
            models[key] = hessenberg(space.A, space.C, smallest)
    model: ReducedModel = models[key]
    return model


def solve_arnoldi(problem: Problem) -> Answer:
    """Usable memory of sparse networks, and of those known by products, under observation noise."""
    filters, space = _filters(problem), coordinates(problem, dense=False)
    model = arnoldi_model(problem, space, _tail(filters))
    return _read_off(problem, model, space._replace(whiten=model.read and _as_it_is), filters)


def arnoldi_model(problem: Problem, space: Coordinates, tail: float = 0.0) -> ReducedModel:
    """The reduced-order model for the least noise, with a ``tail`` for the lags that matter."""
    A, level = space.A, float(space.levels.min())
    if not isinstance(A, np.ndarray | Operator | DeviceMatrix):
        A = A.tocsr()
    key = ("arnoldi", tail, space.key)
    kept: ReducedModel | None = problem.analysis.models.get(key)
    if kept is not None and kept.level <= level:
        return kept
    size = len(space.C)
    # beyond half of the states a dense form is quicker
    limit = size if size <= 300 or not problem.reads_all else max(300, size // 2)
    # directions are dear where states are many, and ten digits enough
    enough = 1e-10 / LEFT_OUT if size >= MANY_STATES else 1.0
    tail *= np.sqrt(enough) if tail == TAIL else enough  # of white inputs, the square counts
    solver = Arnoldi(most=min(Arnoldi.most, limit), left_out=enough * LEFT_OUT, tail=tail)
    rows = None if problem.reads_all else problem.rows
    model = solver.reduce(A, space.C, level, rows=rows, notify=problem.analysis.notify)
    model.level = level
    problem.analysis.models[key] = model
    return model


def _read_off(
    problem: Problem, model: ReducedModel, space: Coordinates, filters: tuple[Filter, ...]
) -> Answer:
    """The answer from a reduced model, its error measured."""
    level = float(space.levels.min())
    tail, whole = _tail(filters), space.whiten is None
    incomplete = level == 0 and model.reached < len(problem.states)
    if incomplete and model.reached != problem.analysis.rank:
        raise UncertainResultError(
            f"rounding hides which {problem.analysis.rank} of {len(model.H)} directions are "
            f"controllable."
        )

    def factor_of(model: ReducedModel, own: tuple[Filter, ...], **changed: Any) -> KrylovFactor:
        factor = krylov_factor(model, level, filters=own, tail=tail, whole=whole, **changed)
        if whole and space.exactly and not factor.complete:
            raise UncertainResultError("graded directions of the responses are nearly parallel.")
        return factor

    single = level if len(space.levels) == 1 else None  # whose system serves no other level
    key = (space.key, single, problem.horizons, *(each.psi.tobytes() for each in filters))
    kept = model.systems.get(key) if space.key is not None else None
    if kept is None or not kept[0] <= level:
        factor = factor_of(model, filters)
        fewer = factor.directions
        if fewer < len(model.H) and not model.lags:  # that directions were left out shows, too
            fewer = max(1, fewer - 1 - fewer // 50)

        def again(rng: np.random.Generator, own: tuple[Filter, ...]) -> KrylovFactor:
            changed = model.changed(rng, fewer)
            return factor_of(changed, own, directions=fewer, lags=factor.lags, rng=rng)

        systems = [
            _system(problem, space, filters, factor),
            *_repeated(problem, space, filters, again, fewer),
        ]
        left = _left_out(factor, space, filters)
        kept = model.systems[key] = level, systems, left
    _, systems, left = kept
    rank = _rank_read(problem, systems) if level == 0 else len(systems[0].sigma)
    return _listed(measured(systems, space.levels, rank, len(filters), left), problem)


def _tail(filters: tuple[Filter, ...]) -> float:
    """What all lags left out may be, relative to the noise or to each direction."""
    if all(each.is_white for each in filters):
        return TAIL
    return COLOURED_TAIL / max(each.gain for each in filters)


def _left_out(factor: KrylovFactor, space: Coordinates, filters: tuple[Filter, ...]) -> Truncation:
    """What a factor, and what is known of inputs and noise, leave open."""
    uncertainty = max(each.uncertainty for each in filters)
    if uncertainty > LARGEST_UNCERTAINTY:  # filters that are not used
        uncertainty = 0.0
    uncertainty += space.uncertainty + factor.colour
    # rounding was taken twice, and its square counts
    return Truncation(
        factor.missing, factor.tail, 4 * factor.outside, max(each.gain for each in filters),
        uncertainty,
    )  # fmt: skip


def _system(
    problem: Problem, space: Coordinates, filters: tuple[Filter, ...], factor: KrylovFactor
) -> SingularSystem:
    """What is read off a factor."""
    whiten = space.whiten if space.exactly else space.whiten or _as_it_is
    return singular_system(
        factor, levels=space.levels, whiten=whiten, filters=filters, horizons=problem.horizons
    )


def _repeated(
    problem: Problem,
    space: Coordinates,
    filters: tuple[Filter, ...],
    again: Callable[[np.random.Generator, tuple[Filter, ...]], KrylovFactor],
    directions: int,
) -> list[SingularSystem]:
    """The same of factors made ``again``, for networks and inputs changed by rounding."""
    systems, rng = [], np.random.default_rng(SEED)
    for _ in range(_trials(directions)):
        own = tuple(each.changed(partial(rounding, rng)) for each in filters)
        systems.append(_system(problem, space, own, again(rng, own)))
    return systems


def _trials(directions: int, *, few: int = 30) -> int:
    """Changes that are tried: of ``few`` directions, one may leave a number alone by accident."""
    return 1 if directions > few else 3 if directions > few // 2 else 8


def _as_it_is(M: Floats) -> Floats:
    return M


def _rank_read(problem: Problem, systems: list[SingularSystem], *, clear: float = 1e6) -> int:
    """Rank of what is read: that of its rows where no direction is a matter of rounding.

    That is, ``clear`` times its own change; doubled, ranks modulo primes are taken more often.
    """
    sizes, count = systems[0].sizes, len(problem.rows)
    if "rank" not in vars(problem) and all(len(each.sizes) == count for each in systems):
        shifts = np.max([np.abs(other.sizes - sizes) for other in systems[1:]], axis=0)
        least = shifts if problem.reads_all else shifts.max()
        if (sizes > clear * least).all():
            vars(problem)["rank"] = count  # no need to count modulo primes
    return problem.rank


def solve_cascade(problem: Problem, *, hopeless: float = 1e12) -> Answer:
    """Any question from the poles: an all-pass cascade, and a Stein equation for the states.

    Inputs whose largest density is ``hopeless`` times the least may as well have one that vanishes.
    """
    require_room_for_states(len(problem.states), "noise")
    filters, space = filters_of(problem.processes), coordinates(problem)
    single = problem.analysis.inputs == 1
    _require_like_units(problem)
    read = space.whiten is not None or not space.exactly
    poles, gap, delay = None, float(problem.states.sensitivity.gap), 0
    gone: Sequence[UncontrollableModes] = ()
    if single:
        spectrum = problem.analysis.spectrum
        poles, gap = spectrum.poles, spectrum.gap
        if spectrum.rank < len(problem.states):
            # all poles span what the states hold and more, which takes no part in what is read;
            # without a reader the zeros among them are a delay
            gone = [] if read else spectrum.uncontrollable
            poles, gap = without_uncontrollable(eigenvalues(space.A), gone)[0], 0.0
            delay = 0 if read else len(poles) - spectrum.rank
            if delay != sum(modes.times for modes in gone if not modes.values.any()):
                raise UncertainResultError("it is not known which eigenvalues are controllable.")
    elif problem.analysis.rank < len(problem.states) or not problem.analysis.rank_is_robust:
        raise UncertainResultError("some modes are controllable by rounding at most.")
    if not np.isfinite(gap):
        raise UncertainResultError("the controllable eigenvalues are too uncertain.")
    rank = problem.rank if space.exactly else len(problem.states)
    white = all(each.is_white for each in filters)
    lags = problem.lags or 4 * len(problem.states) + 64
    if not white:  # beyond the reach of the colour all is known
        lags = max(lags, max(len(each.gamma) for each in filters))
    bounds = [np.array(p.density_bounds()) / p.variance for p in problem.processes]
    with np.errstate(divide="ignore"):
        condition = float(max(b[1] for b in bounds) / np.float64(min(b[0] for b in bounds)))

    # where poles are stored numbers, and states not asked for or a closed form of them, rounding
    # leaves each number as it is but for its last digits
    exact = single and (modes_of(space.A, space.C) if read else problem.states.is_feed_forward)

    def again(rng: np.random.Generator, own: tuple[Filter, ...]) -> KrylovFactor:
        A, C = (_changed_in_place if exact else _changed)(space.A, space.C, rng)
        own_poles = without_uncontrollable(eigenvalues(A), gone)[0] if single else None
        # an input that rounding alone keeps going goes on here, so that what it is worth shows
        factor = lasting_factor(A, C, own_poles, read, delay=delay, smallest=0.0)
        return factor.listing(lags)

    factor = lasting_factor(space.A, space.C, poles, read, delay=delay)
    left = _left_out(factor, space, filters)
    if not white:
        terms = len(problem.states) + max(len(each.gamma) for each in filters)
        rounding = 4 * EPS * float(np.sqrt(min(condition, hopeless) * terms))
        left = left._replace(uncertainty=left.uncertainty + rounding)
    while True:
        base = _system(problem, space, filters, factor.listing(lags))
        bounded = measured([base], space.levels, rank, len(filters), left)
        enough = problem.lags is not None
        enough = enough or Lags(None, bounded.total).enough(bounded.memory.sum(axis=2))
        if enough or 2 * lags > min(MOST_DEFAULT_LAGS, MOST_ENTRIES // len(problem.states)):
            break
        lags *= 2
    systems = [base, *_repeated(problem, space, filters, again, len(problem.states))]
    return _listed(measured(systems, space.levels, rank, len(filters), left), problem)


def _changed(A: Floats, C: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A network changed at random by as much as LAPACK may change it."""
    change = rounding(rng, A.shape)
    change *= backward_error(A) / np.sqrt((change**2).sum())
    if np.array_equal(A, A.T):
        change = (change + change.T) / 2
    A, C = A + change, C * (1 + 4 * EPS * rounding(rng, C.shape))
    if not (np.isfinite(A).all() and np.isfinite(C).all()):
        raise UncertainResultError("the weights are close to the limits of float64.")
    return A, C


def _changed_in_place(A: Floats, C: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A network each number of which is changed by some of its last digits."""
    A, C = (M * (1 + 4 * EPS * rounding(rng, M.shape)) for M in (A, C))
    return A, C


def _listed(answer: Answer, problem: Problem) -> Answer:
    """As many lags as were asked for, or as matter."""
    listed, summed = Lags(problem.lags, answer.total), answer.memory.sum(axis=2)
    if not listed.enough(summed):
        listed.count = problem.lags or summed.shape[1]
    count = listed.count or summed.shape[1]
    least = answer.memory_error.min(axis=(1, 2))

    def shown(values: Floats, beyond: Floats) -> Floats:
        missing = count - values.shape[1]
        if missing <= 0:
            return values[:, :count]
        shape = (len(values), missing, *values.shape[2:])
        rest = np.broadcast_to(beyond.reshape(-1, *[1] * (len(shape) - 1)), shape)
        return np.concatenate([values, rest], axis=1)

    memory, error = shown(answer.memory, 0 * least), shown(answer.memory_error, least)
    return replace(answer, memory=memory, memory_error=error)


def _filters(problem: Problem) -> tuple[Filter, ...]:
    filters = filters_of(problem.processes)
    if max(each.uncertainty for each in filters) > LARGEST_UNCERTAINTY:
        raise UncertainResultError("the input is not known well enough as a filter.")
    return filters


# --- what stands for a network


class Reduction(NamedTuple):
    """A small network that stands for a problem at its noise and above; what is read; the error."""

    H: Floats
    c: Floats
    reader: Floats | None
    error: float


def reduction_of(problem: Problem) -> Reduction:
    """The reduced-order model of a problem with one level of observation noise."""
    space, filters = coordinates(problem, dense=False), _filters(problem)
    try:
        model = arnoldi_model(problem, space)
        whiten: Whiten | None = model.read and _as_it_is
        size = len(model.H)
    except UncertainResultError:
        require_room_for_states(len(problem.states), "noise")
        space = coordinates(problem)
        model = _hessenberg_model(problem, space)
        whiten, size = space.whiten, model.cut(float(space.levels[0]))
    answer = _read_off(problem, model, space._replace(whiten=whiten), filters)
    reader = None
    if whiten is not None and model.read is not None:
        reader = whiten(model.read(np.eye(len(model.H))[:, :size]))
    unit = float(problem.levels[0] / space.levels[0])  # of the mask
    return Reduction(
        model.H[:size, :size], unit * model.c[:size], reader, float(answer.largest_error.max())
    )


def krylov_model(analysis: Analysis, level: float) -> ReducedModel:
    """Arnoldi's basis of a network as it is, down to a share ``level`` of its mask."""
    scale = float(np.ldexp(1.0, np.frexp(np.abs(analysis.mask).max())[1]))
    C = analysis.mask / scale
    if isinstance(analysis.multiplied, np.ndarray) and len(analysis) <= FEW_STATES:
        return hessenberg(analysis.dense, C)
    return Arnoldi().reduce(
        analysis.multiplied, C, level * float(np.sqrt((C**2).sum())), notify=analysis.notify
    )


def input_normal_realization(
    analysis: Analysis, rng: np.random.Generator | None = None
) -> tuple[Floats, Floats, Floats]:
    """A', C' and T of ξ_t = A'ξ_{t−1} + C'z_t, x = Tξ.

    With ``rng`` those of a network changed at random by as much as rounding changes it.
    """
    rank = analysis.rank  # which unstable networks do not have
    A, C, units = analysis.of_unit_variance
    try:
        model = hessenberg(A, C)
        if model.reached != rank:
            raise UncertainResultError("rounding hides which directions are controllable.")
        A1, C1, T = graded_realization(model if rng is None else model.changed(rng, len(A)))
    except UncertainResultError:
        if analysis.inputs > 1:
            raise
        poles = analysis.spectrum.poles
        if rng is not None:
            A, C = _changed(A, C, rng)
            poles = eigenvalues(A) if poles is not None and len(poles) == len(A) else poles
        A1, C1, T = cascade_of(A, C, poles)
    with np.errstate(over="ignore", under="ignore"):
        rows = np.ldexp(np.abs(T).max(axis=1), units)
    if not np.all(np.isfinite(rows) & ((rows >= TINY) | ~T.any(axis=1))):
        raise UncertainResultError("the states leave the range of float64.")
    return A1, C1, np.ldexp(T, units[:, None])
