"""Usable memory directly from the Krylov matrix: no eigenvalues, no noise-free structure.

In units in which the errors of reading are independent and of size s, the states are x = K z with
K = [C, AC, A²C, …] and z the past inputs, so that with K = UΣVᵀ::

    MC_τ(s) = Σ_i σ_i²/(σ_i² + s²) V²_{τi}

Coloured inputs are white noise through filters, z = Ψe, and K = UΣWᵀ becomes KΨ = UΣWᵀ, V = ΨW.

Columns of K hardly differ ("Krylov squeezing"): memory above the noise lies in few directions. An
orthonormal basis Q of the Krylov space (Arnoldi's method, each step orthogonalised twice) reduces
the network to (H, c) = (QᵀAQ, QᵀC), and K to Q·[c, Hc, H²c, …]. The basis ends where what leaves
it, passed on by the powers of A, is far below the noise; the lags end where nothing is left.

Errors: what is left out of K, of norm e relative to the noise, moves MC_τ by at most about e, and
is kept below :data:`SMALL`. Rounding makes the basis that of a network (A + δA, C + δC), changed by
about eps·‖A‖ and eps·‖C‖; what that does is measured: the small problem is solved again for (H, c)
changed at random by as much, and twenty times the difference is the error (ten times were enough in
thousands of draws). Rounding also leads out of the basis, and weak connections may be lost in it:
in the changed problems one more state, read like the others, stands for all that lies outside.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UncertainResultError
from memcurve.network.device import DeviceMatrix
from memcurve.network.operator import Operator
from memcurve.network.places import Tall, place_of
from memcurve.progress import Listener, silent
from memcurve.result import EPS, TINY, Floats
from memcurve.solve.analysis import KEPT_UP_TO, Analysis, Task
from memcurve.solve.answer import Outcome
from memcurve.solve.basis import BLOCK, Basis, require_room_at
from memcurve.solve.coloured import Filter, filter_of
from memcurve.solve.columns import FEWEST_LAGS, PILOT, PROVEN_TAIL, TAIL, TOLD_EVERY, LagByLag
from memcurve.solve.evaluation import Projection, normwise, project
from memcurve.solve.lags import MOST_DEFAULT_LAGS, Lags
from memcurve.solve.errors import MANY_STATES, PowerSums, sums_of_powers, times
from memcurve.solve.states import States

#: What is left out of the Krylov matrix, relative to the noise.
SMALL = 1e-13
#: A measured change is taken this many times to be an error.
SAFETY = 20.0
#: Where an error comes out above this, no digit is known: another change may do far more.
NOT_SMALL = 1e-4
#: Changes at random that are tried, where there are few directions: in a large problem, a single
#: change cannot leave some number alone by accident.
TRIALS, FEW_DIRECTIONS = 3, 30
#: A look at whether the basis is large enough is taken where the next power of A has less than this
#: many times :data:`SMALL` outside of it; again after so many more steps, relative to their number,
#: or after this share of those foreseen, if that is not more than so many times their number.
PROMISING, LOOK_AGAIN, SHARE_FORESEEN, NOT_FURTHER = 10.0, 1.05, 0.8, 1.3
#: Rounding of a large network is measured in so many columns; that of products only in so many
#: combinations of all columns, two and two.
SOME, SOME_PRODUCTS = 32, 4
#: Steps taken at once, at first and at most, and how much of a vector must lie outside of the space
#: with those before.
FIRST_AHEAD, MOST_AHEAD, FAR_APART = 4, 16, 0.5
#: Up to so many states the basis may span all of them; beyond, half of them, and never more than
#: the latter: other ways are quicker then.
FEW_STATES, MOST_DIRECTIONS = 300, 4000
#: After so many steps it is foreseen how many it will take.
ENOUGH_TO_SEE = 96
#: Filters that are worse than this, relative to the density of the input, are left alone.
LARGEST_DOUBT = 1e-9
#: Where lags are listed one by one: what may lie beyond them for coloured input, and their
#: rounding, both relative to the noise; and how much noise it takes, relative to the mask.
COLOURED_TAIL, LISTED_ROUNDING, LEAST_LISTED = 1e-10, 1e-7, 1e-6
#: With less noise than this, relative to the mask, rounding leads out of a basis of some
#: directions, and dense networks of more than so many states are reduced with all of them.
LEAST_REDUCED, WHOLE_FROM = 1e-9, 300
#: So many lags are made at most where it is not foreseen how many there are.
MOST_ON_TRIAL = 4000
#: Seconds on some machine: of a product with A an edge, of the reflections an entry of K and lag;
#: and how much dearer the steps of a basis are.
PRODUCT, ENTRY, ARNOLDI = 2e-9, 1.7e-10, 6
#: Masks of large networks may be larger or smaller than one by so many binary digits.
ABOUT_ONE = 20
#: Below this much noise a reduction knows the size of all states: profiles mark number formats.
LITTLE_NOISE = 1e-6
#: Responses that grow after so many times as many lags as directions have an eigenvalue to tell.
SETTLED_AFTER = 4
#: Powers are squared until a block has so many columns as those of a basis, and further where there
#: are far more columns than rows: a product with a block is then quick, and they are not too many.
MANY_BLOCKS = 8
_SEED = 20230501


#: Makes what is read of a network that is changed at random by as much as rounding may change it.
Change = Callable[[np.random.Generator], Floats]


class Seen(NamedTuple):
    """Singular values of what is read, (k,), and the squared share of each input in each direction.

    ``squares`` has the shape (lags·inputs, k).
    """

    sigma: Floats
    squares: Floats

    @classmethod
    def of(
        cls,
        R: Floats,
        filters: Sequence[Filter],
        decompose: Callable[[Floats], Projection] = project,
    ) -> Seen:
        """Of responses R (rows, lags·inputs) to inputs that filters make from white noise.

        With x = Kz, z = Ψe and KΨ = UΣWᵀ, the covariance of the states with the inputs is
        UΣ·(ΨW)ᵀ: no factor of the covariance of the inputs is inverted.
        """
        if not np.isfinite(R).all():
            raise UncertainResultError("the states leave the range of floating point.")
        inputs = [
            each.applied(R[:, j :: len(filters)]) for j, each in enumerate(filters)
        ]  # (rows, lags) each
        lags = max(part.shape[1] for part in inputs)
        wide = np.zeros((len(R), lags, len(filters)))
        for j, part in enumerate(inputs):
            wide[:, : part.shape[1], j] = part
        sigma, W = decompose(wide.reshape(len(R), -1))
        shares = [each.adjoint(W[j :: len(filters)]) ** 2 for j, each in enumerate(filters)]
        return cls(sigma, np.stack(shares, axis=1).reshape(W.shape))

    def memory(self, levels: Floats, inputs: int) -> tuple[Floats, Floats]:
        """Memory (levels, lags, inputs) and its total."""
        shares = Projection(self.sigma, self.squares).shares(levels, len(self.sigma))
        return _by_lag(shares @ self.squares.T, inputs), shares @ self.held

    @property
    def held(self) -> Floats:
        """What each direction holds of all inputs; as a row, NumPy adds it up by halves."""
        return np.asarray(np.ascontiguousarray(self.squares.T).sum(axis=1))

    def spread(self, levels: Floats, blur: Floats) -> Floats:
        """How far the shares may be off where the singular values are, by ``blur`` each."""
        return Projection(self.sigma, self.squares).spread(levels, len(self.sigma), blur)


@dataclass(eq=False, kw_only=True)
class Reduced(ABC):
    """What stands for a network under noise: its Krylov matrix, and bounds on what is missing.

    R (k, lags·inputs) has as many lags as matter. ``level`` is the least noise it is good for;
    ``left_out`` bounds what is missing of R, ``beyond`` what lies beyond its lags, where that is
    not part of the former; ``states`` is how many are read. ``relative`` bounds ‖X‖ where rounding
    is X·R, which changes the noise by a share of 2‖X‖; ``turned`` is how far rounding may turn
    singular vectors, twice. ``variances`` are those of all states, where they are worth keeping.
    """

    R: Floats
    inputs: int
    level: float
    left_out: float
    states: int
    variances: Floats | None = None
    beyond: float = 0.0
    relative: float = 0.0
    turned: float = 0.0
    _seen: dict[tuple[bytes, ...], list[Seen]] = field(default_factory=dict, init=False)

    @property
    def outside(self) -> float:
        """The square of what rounding leads to outside of the directions."""
        return 0.0

    @abstractmethod
    def seen(self, filters: tuple[Filter, ...]) -> list[Seen]:
        """What is read of the Krylov matrix, first of the network itself, then of changed ones."""

    def _changed_at_random(
        self, R: Floats, filters: tuple[Filter, ...], trials: int, change: Change
    ) -> list[Seen]:
        """The same of what is read, R, and of what ``change`` gives, each made once."""
        key = tuple(each.psi.tobytes() for each in filters)
        if key not in self._seen:
            rng, found = np.random.default_rng(_SEED), [Seen.of(R, filters)]
            for _ in range(trials):
                other = change(rng)
                found.append(Seen.of(other, [each.changed(rng) for each in filters]))
            self._seen[key] = found
        return self._seen[key]


@dataclass(eq=False, kw_only=True)
class Reduction(Reduced):
    """A small network (H, c) whose states, read through ``reader``, stand for those read.

    R = [c, Hc, H²c, …]. Where the basis does not span all states, ``wider`` and ``reader`` have one
    more state, which stands for those outside: nothing leads to it but rounding, whose size is
    ``rounding`` for every column of H and c; ``lasting`` is Σ_m ‖A^m v‖² for vectors v of length
    one.
    """

    wider: Floats
    c: Floats
    reader: Floats | None
    rounding: Floats
    lasting: float

    @property
    def H(self) -> Floats:
        """The small network itself."""
        return self.wider[: len(self.c), : len(self.c)]

    def seen(self, filters: tuple[Filter, ...]) -> list[Seen]:
        trials = TRIALS if len(self.H) <= FEW_DIRECTIONS else 1
        return self._changed_at_random(self._read(self.R), filters, trials, self._changed)

    @cached_property
    def outside(self) -> float:
        """The square of what rounding leads to outside of the basis, at all lags.

        A passes it on, and may have slow modes there that it has not inside. As further states that
        are read it can but add memory, as much as this relative to the noise.
        """
        k = len(self.c)
        if len(self.wider) == k:
            return 0.0
        entering = (self.rounding[:k] ** 2 @ self.R**2).sum() + (self.rounding[k:] ** 2).sum()
        return float(SAFETY * self.lasting * entering)

    def _read(self, R: Floats) -> Floats:
        return R if self.reader is None else self.reader[:, : len(R)] @ R

    def _changed(self, rng: np.random.Generator) -> Floats:
        """What is read of (H, c) with a change at random of the size of rounding."""
        size, (k, width) = len(self.wider), self.c.shape
        change = np.zeros((size, k + width))
        inside = rng.standard_normal((k, k + width))
        change[:k] = inside * (self.rounding / np.sqrt((inside**2).sum(axis=0)))
        change[k:] = self.rounding * rng.choice([-1.0, 1.0], k + width)
        H, c = self.wider.copy(), change[:, k:]
        H[:, :k] += change[:, :k]
        c[:k] += self.c
        return self._read(responses(H, c, self.R.shape[1] // width))


@dataclass(eq=False, kw_only=True)
class Listed(Reduced):
    """What is read of the Krylov matrix itself, up to a rotation of the states, as R.

    ``left_out`` bounds the rounding in it.
    """

    decompose: Callable[[Floats], Projection] = normwise

    def seen(self, filters: tuple[Filter, ...]) -> list[Seen]:
        """What is read; nothing is changed, as rounding is bounded."""
        return [Seen.of(self.R, filters, self.decompose)]


#: A way to reduce (A, C), for noise of this level in states that are read, and what may lie beyond.
Reducer = Callable[
    [Any, Floats, float, "NDArray[np.intp] | None", "float | None", Listener], Reduced
]


def solve_direct(task: Task) -> Outcome:
    """Usable memory under errors of reading."""
    return solve_reduced(task, _reduced_by_cost)


def solve_by_lags(task: Task) -> Outcome:
    """The same from the Krylov matrix itself, where other ways fail.

    Waves that run through a network have few lags, though the eigenvalues of H are outside the
    circle until nearly all directions are there, and those of A cannot be told.
    """
    return solve_reduced(task, _listed)


def solve_reduced(task: Task, reduce: Reducer) -> Outcome:
    """The same with a way to reduce networks."""
    filters = tuple(map(filter_of, task.question.processes))
    if max(each.doubt for each in filters) > LARGEST_DOUBT:
        raise UncertainResultError("the input is not known well enough as a filter.")
    deviations = _deviations(task)
    deviations = deviations if task.reads_all or len(deviations) == 1 else deviations[task.rows]
    unit = float(deviations.max())
    if not deviations.min() > 0:
        raise UncertainResultError("some of the states are read without noise.")
    levels = task.question.levels * unit
    rows = None if task.reads_all else task.rows
    gain = 1.0 if task.question.is_white else max(each.gain for each in filters)
    tail = TAIL if task.question.is_white else COLOURED_TAIL / gain
    reduction, measure = _kept(
        task.analysis, task.states, deviations / unit, float(levels.min()), rows, tail, reduce
    )
    return _evaluated(reduction, levels / measure, filters, task.question.lags)


def is_direct(task: Task) -> bool:
    """Whether the question is one of memory and errors of reading at positive levels."""
    question = task.question
    return (
        question.kind == "memory"
        and question.noise is not None
        and bool(np.all(question.levels > 0))
        and not question.noise.state(np.ones(1)).any()
    )


def is_wholly_dense(A: Any, C: Floats) -> bool:
    """Whether a network is dense, has one input, and is large enough for all directions at once."""
    return isinstance(A, np.ndarray) and C.shape[1] == 1 and len(A) > WHOLE_FROM


def is_listable(task: Task) -> bool:
    """Whether lags may be listed besides: A has entries."""
    return is_direct(task) and getattr(task.question.network.A, "has_entries", True)


def _deviations(task: Task) -> Floats:
    """Standard deviations of the errors of reading at level one, or one for all states alike."""
    noise = task.question.noise
    assert noise is not None
    if noise.is_relative:
        return noise.observation(task.analysis.state_deviations(task.question.processes))
    return noise.observation(np.ones(1))


def krylov_reduction(analysis: Analysis, level: float) -> Reduction:
    """The reduction of the network as it is, down to a share ``level`` of its mask."""
    states = analysis.reached
    largest = float(np.abs(states.mask).max())
    length = largest * float(np.sqrt(((states.mask / largest) ** 2).sum()))
    at = level * length
    found, _ = _kept(analysis, states, np.ones(1), at, None, None, _reduced_by_cost)
    assert isinstance(found, Reduction)
    return found


def reduction_of(task: Task) -> tuple[Floats, Floats, Floats | None, float]:
    """(H, c) and the reader of the small network that stands for a task, and its error.

    At the noise of the task, which has one level, and above.
    """
    [level] = task.question.levels.tolist()
    rows = None if task.reads_all else task.rows
    found, measure = _kept(
        task.analysis, task.states, np.ones(1), level, rows, None, _reduced_by_cost
    )
    assert isinstance(found, Reduction)
    filters = tuple(map(filter_of, task.question.processes))
    outcome = _evaluated(found, np.array([level]) / measure, filters, None)
    size = len(found.c)
    reader = None if found.reader is None else found.reader[:, :size]
    return found.H, measure * found.c, reader, float(outcome.largest_error.max())


def _kept(
    analysis: Analysis,
    states: States,
    shape: Floats,
    level: float,
    rows: NDArray[np.intp] | None,
    tail: float | None,
    reduce: Reducer,
) -> tuple[Reduced, float]:
    """The reduction for noise of this shape, kept for further levels, and the unit of its mask.

    ``shape`` has the noise of each state read, or a single number where they are alike.
    ``tail`` is what may lie beyond the lags, relative to the noise, where they are listed one by
    one; without it they are not.
    """
    alike = len(shape) == 1 or bool(np.ptp(shape) == 0)
    scale = shape[:1] if alike else shape
    if rows is not None and not alike:
        scale = np.full(len(states), float(np.exp(np.log(shape).mean())))
        scale[rows] = shape
    C = states.mask if alike and scale[0] == 1 else states.mask / scale[:, None]
    # a power of two: squares of what is about one neither overflow nor vanish
    exponent = int(np.frexp(max(C.max(), -C.min()))[1])
    if len(states) >= MANY_STATES and abs(exponent) <= ABOUT_ONE:
        exponent = 0  # a large mask is not copied for nothing
    measure = float(np.ldexp(1.0, exponent))
    key = (id(states), scale.tobytes(), None if rows is None else rows.tobytes(), tail, reduce)
    found: Reduced | None = analysis.reductions.get(key)
    if found is None or level / measure < found.level:
        A = states.multiplied
        if alike:
            A = A if isinstance(A, np.ndarray | Operator | DeviceMatrix) else A.tocsr()
        elif isinstance(A, np.ndarray):
            A = A * (scale / scale[:, None])
        elif isinstance(A, Operator | DeviceMatrix):
            A = A.scaled(scale)
        else:
            from scipy.sparse import diags_array

            A = (diags_array(1 / scale) @ A @ diags_array(scale)).tocsr()
        C = C if measure == 1 else C / measure
        found = reduce(A, C, level / measure, rows, tail, analysis.tell)
        analysis.reductions[key] = found
        if found.variances is not None and states is analysis.reached:
            analysis.known_deviations = scale * measure * np.sqrt(found.variances)
    return found, measure


def _listed(
    A: Any,
    C: Floats,
    level: float,
    rows: NDArray[np.intp] | None,
    tail: float | None,
    tell: Listener,
    lag_by_lag: LagByLag | None = None,
    most: int = MOST_ON_TRIAL,
) -> Listed:
    """Lags until all that follows is small; an error where these are too many, or rounding is."""
    products_only = isinstance(A, Operator) and not A.has_entries
    if tail is None or products_only or level < LEAST_LISTED * np.sqrt(np.vdot(C, C)):
        raise UncertainResultError("there is too little noise for its lags to be listed.")
    if lag_by_lag is None:
        lag_by_lag = LagByLag(A, C, rows, tell)
        lag_by_lag.require_room(most)
    proven = level * (PROVEN_TAIL if tail == TAIL else tail)
    found = place_of(A).same(lag_by_lag.finished(tail * level, most, proven))
    if found.rounding > LISTED_ROUNDING * level:
        raise UncertainResultError("rounding of its lags is too large for the noise.")
    read = len(C) if rows is None else len(rows)
    return Listed(
        R=found.R, inputs=C.shape[1], level=level, states=read, left_out=found.rounding,
        beyond=found.beyond,
    )  # fmt: skip


def _reduced_by_cost(
    A: Any,
    C: Floats,
    level: float,
    rows: NDArray[np.intp] | None,
    tail: float | None,
    tell: Listener,
) -> Reduction | Listed:
    """The Krylov matrix of a large sparse network lag by lag, where that is less work than a basis.

    Neither where rounding, which counts relative to the noise there, would be too much.
    """
    small, length = len(C) < MANY_STATES or isinstance(A, np.ndarray), np.sqrt(np.vdot(C, C))
    little = level < LEAST_LISTED * length
    whole = rows is None and tail is not None and is_wholly_dense(A, C)
    if whole and level < LEAST_REDUCED * length:
        raise UncertainResultError("rounding leads out of a basis of some directions.")
    if small or tail is None or little or (isinstance(A, Operator) and not A.has_entries):
        # powers that grow are found before a basis fills the memory
        first = len(C) >= MANY_STATES or isinstance(A, Operator)
        powers = sums_of_powers(A) if first else None
        return reduced(A, C, level, rows=rows, powers=powers, tell=tell)
    lag_by_lag, width = LagByLag(A, C, rows, tell), C.shape[1]
    lag_by_lag.advance(max(FEWEST_LAGS, PILOT // width))
    place = place_of(A)
    lags = place.same(lag_by_lag.lags_needed(tail * level))
    steps = np.inf
    if rows is None and len(C) > 2 * width:  # the diagonal of R tells how a basis would grow
        lengths = np.log(np.abs(np.diag(lag_by_lag.rough_triangle())) + TINY)
        lengths = lengths[: len(lengths) // width * width].reshape(-1, width)
        log_enough = np.log(PROMISING * SMALL * level / lag_by_lag.passed_on)
        foreseen = width * _steps_needed(lengths.mean(axis=1).tolist(), log_enough)
        foreseen = place.same(foreseen)
        steps = foreseen if foreseen > 0 else steps  # nothing is foreseen where numbers overflow
    product, entry = PRODUCT * A.nnz, ENTRY * len(C)
    by_steps = steps * (2 * product + steps * ARNOLDI * entry)
    by_lags = width * lags * (1.6 * product + width * lags * entry)
    powers = lag_by_lag.powers
    if by_lags <= by_steps and lags <= MOST_DEFAULT_LAGS:
        lag_by_lag.require_room(lags)
        with contextlib.suppress(UncertainResultError):
            most = int(2 * lags) + PILOT
            return _listed(A, C, level, rows, tail, tell, lag_by_lag, most)
    else:
        require_room_at(place, len(C), min(steps, MOST_DIRECTIONS), "a basis of its states")
    del lag_by_lag
    return reduced(A, C, level, rows=rows, powers=powers, tell=tell)


def reduced(
    A: Any,
    C: Floats,
    level: float,
    *,
    rows: NDArray[np.intp] | None = None,
    powers: PowerSums | None = None,
    tell: Listener = silent,
) -> Reduction:
    """Reduce (A, C), whose states are read with errors of size ``level``, by Arnoldi's method.

    ``powers`` are the sums over powers of A, where they are known already.
    """
    size = len(C)
    # other ways are worse than this one where some states are read only
    half = size if size <= FEW_STATES or rows is not None else max(FEW_STATES, size // 2)
    most = min(half, MOST_DIRECTIONS)
    place = place_of(A)
    basis = Basis(size, most + C.shape[1], place)
    c = np.zeros((basis.capacity, C.shape[1]))
    for j, column in enumerate(C.T):
        c[:, j] = basis.add(place.put(np.array(column)))
    H = np.zeros((basis.capacity, basis.capacity))
    # the lengths of the steps multiply to what the next power has outside of the space: as long
    # as that is not small, a closer look is not worth its time; nor before all of C is in it
    look, k, history = basis.count, 0, []
    log_new, log_enough = np.log(np.sqrt((c**2).sum())), np.log(PROMISING * SMALL * level)
    if powers is not None:
        log_enough -= np.log(powers.norms)
    ahead = FIRST_AHEAD if size >= MANY_STATES and C.shape[1] == 1 else 1
    looks = list[tuple[int, float]]()
    while k < basis.count:
        before = basis.count
        # of a large network several steps at once, as long as their directions are far apart
        taken = _steps_at_once(A, basis, H, k, ahead) if ahead > 1 else 0
        if taken:
            ahead = taken if taken < ahead else min(2 * ahead, MOST_AHEAD)
        else:
            H[:, k], taken, ahead = basis.add(A @ basis.column(k)), 1, max(1, ahead // 2)
        for j in range(k, k + taken):
            new = H[before + j - k, j] if before + j - k < basis.count else 0.0
            log_new += np.log(new) / C.shape[1] if new else 0.0
            history.append(log_new)
        history[k:] = place.same(history[k:])
        log_new, k = history[-1], k + taken
        if k // TOLD_EVERY > (k - taken) // TOLD_EVERY:
            tell(f"rank so far {basis.count:,}, after {k:,} steps", k, None)
        if k >= ENOUGH_TO_SEE > k - taken:
            steps = _steps_needed(history, log_enough)
            if steps > 1.2 * most:
                break
            basis.require_room(min(steps, most))
        if k == basis.count or (k >= look and log_new <= log_enough):
            powers = sums_of_powers(A) if powers is None else powers
            look_at = H[: basis.count, :k], c[:k], powers.norms, SMALL * level
            R, left_out = place.same(looked_at(*look_at))
            if R is not None and left_out <= 3 * SMALL * level:
                lasting = powers.lasting
                return _with_rounding(A, C, basis, H, R, c, level, left_out, rows, lasting)
            looks.append((k, float(left_out)))
            look = _next_look(looks, SMALL * level)
        if basis.count > most:
            break
    raise UncertainResultError("the memory above the noise is spread over too many directions.")


def _steps_at_once(A: Any, basis: Basis, H: Floats, k: int, count: int) -> int:
    """Steps from the newest direction on, made together; how many of them were good.

    w_j = A w_{j−1}/n_j from w_0 = q_k on, orthogonalised together: one wide product instead of many
    narrow ones. With g_j their coordinates, A w_{j−1} = n_j w_j is H g_{j−1} = n_j g_j, whose last
    unknown column is that of the newest direction. Ends where a w_j is not far from those before.
    """
    count = min(count, basis.capacity - basis.count)
    if count < 2 or k != basis.count - 1:
        return 0
    place, found, w = basis.place, [], basis.column(k)
    W = place.empty(basis.size, count)
    for j in range(count):
        w = A @ w
        found.append(place.square(w) ** 0.5)
        w = w / found[-1]
        W = place.write(W, j, w[:, None])
    lengths = place.host(found)
    if not lengths.min() > TINY:  # not either where one is not a number
        return 0
    P, S, T = basis.extended(W)
    pivots = np.abs(np.diag(T))
    far = int(np.argmin(np.append(pivots, 0.0) >= FAR_APART))
    basis.keep(P[:, :far])
    size = basis.count
    g = np.concatenate([S, T])[:size]
    for j in range(far):
        image = lengths[j] * g[:, j]
        if j:
            image = (image - H[:size, : k + j] @ g[: k + j, j - 1]) / g[k + j, j - 1]
        H[:size, k + j] = image
    return far


def _next_look(looks: list[tuple[int, float]], enough: float) -> int:
    """Steps after which to look again, from what was left out at each look so far."""
    k, left_out = looks[-1]
    soon = int(LOOK_AGAIN * k) + 1
    if len(looks) < 2 or not np.isfinite(looks[-2][1]) or not 0 < left_out < looks[-2][1]:
        return soon
    before, more = looks[-2]
    needed = np.log(left_out / enough) * (k - before) / np.log(more / left_out)
    # the last steps are not waited for, as the fall may get steeper
    return k + max(1, int(min(SHARE_FORESEEN * needed, (NOT_FURTHER - 1) * k)))


def _steps_needed(history: list[float], log_enough: float) -> float:
    """Steps until the next power has so little outside of the space, as they went so far.

    Logarithms of what is outside fall along a line, or faster as Krylov spaces squeeze: a parabola
    that does not bend upwards.
    """
    start, middle, end = history[0], history[len(history) // 2], history[-1]
    half = len(history) / 2
    bend = min(0.0, (end - 2 * middle + start) / half**2)
    slope = (end - middle) / half + bend * half / 2
    if bend == 0:
        return len(history) + (log_enough - end) / slope if slope < 0 else np.inf
    # end + slope·t + bend/2·t² = log_enough
    root = np.sqrt(slope**2 - 2 * bend * (end - log_enough))
    return len(history) + float((slope + root) / -bend)


def _with_rounding(
    A: Any,
    C: Floats,
    basis: Basis,
    H: Floats,
    R: Floats,
    c: Floats,
    level: float,
    left_out: float,
    rows: NDArray[np.intp] | None,
    lasting: float,
) -> Reduction:
    """The reduction to the vectors that R has coordinates for, with what rounding did to it."""
    k, count = len(R), basis.count
    known = np.concatenate([H[:count, :k], c[:count]], axis=1)
    sizes = np.sqrt((known**2).sum(axis=0))
    place, width, rng = basis.place, C.shape[1], np.random.default_rng(_SEED)
    # rounding of all columns is of one kind: of large networks some of them tell, and combinations
    # of all of them where products are dear
    if isinstance(A, Operator) and not A.has_entries:
        weights = rng.standard_normal((k, SOME_PRODUCTS))
        weights /= np.sqrt((weights**2).sum(axis=0))
        Q = basis.combined(weights)
    else:
        some = np.arange(k)
        if len(C) >= MANY_STATES and k > SOME:
            some = np.sort(rng.choice(k, SOME, replace=False))
        weights, Q = np.eye(k)[:, some], basis.columns(some)
    AQ = times(A, Q)
    residual = place.joined([AQ, place.put(C)])
    # a product is as far off as here, which a second one does not show: Σ_j (A_ij q_j)² by rows
    products = np.append(_product_sizes(A, Q, AQ), np.zeros(width))
    taken = np.concatenate([known[:, :k] @ weights, known[:, k:]], axis=1)
    residual = basis.without(residual, taken)
    found = 2 * place.lengths(residual) + EPS * products
    if len(found) == len(sizes):
        rounding = found + EPS * sizes
    else:
        lengths = np.sqrt((taken[:, :-width] ** 2).sum(axis=0))
        share = float((found[:-width] / np.maximum(lengths, TINY)).max())
        steps = share * sizes[:k] + 2 * basis.dropped + EPS * products.max()
        rounding = np.append(steps, found[-width:]) + EPS * sizes
    wider = H[:k, :k]
    if k < len(C):
        outside = _outside(residual, basis, k)
        step = A @ outside
        corner = place.dot(outside, step)
        wider = np.block([[wider, basis.dot(step)[:k, None]], [np.zeros(k), corner]])
    reader, states = None, len(C)
    if rows is not None:
        Q = basis.columns(np.arange(k), rows)
        if k < len(C):
            Q = place.joined([Q, place.rows(outside, rows)[:, None]])
        reader, states = place.factor([Q]).R, len(rows)
    variances = None
    if len(C) <= KEPT_UP_TO and level <= LITTLE_NOISE:
        Q = place.host(basis.columns(np.arange(k)))
        variances = np.maximum(np.einsum("ij,ij->i", Q @ (R @ R.T), Q), 0.0)
    return Reduction(
        R=R, inputs=width, level=level, left_out=left_out, states=states, variances=variances,
        wider=wider.copy(), c=c[:k], reader=reader, rounding=rounding, lasting=lasting,
    )  # fmt: skip


def _product_sizes(A: Any, Q: Tall, AQ: Tall) -> Floats:
    """Sizes of what is added up in each column of AQ, of which rounding is a share of eps."""
    if isinstance(A, Operator):
        return A.rounding(Q, AQ) / EPS
    if isinstance(A, DeviceMatrix):
        return A.product_sizes(Q)
    if isinstance(A, np.ndarray):
        squares = np.einsum("ij,ij->j", A, A)
    else:
        squares = np.bincount(A.indices, A.data**2, A.shape[1])
    return np.asarray(np.sqrt(squares @ Q**2))


def _outside(residual: Tall, basis: Basis, k: int) -> Tall:
    """A direction outside of the first k: half where rounding leads to, half anywhere."""
    rng, place = np.random.default_rng(_SEED), basis.place

    def without(v: Tall) -> Tall:
        inside = basis.dot(v)
        inside[k:] = 0.0
        return basis.without(v, inside)

    def length(v: Tall) -> float:
        return max(float(np.sqrt(place.dot(v, v))), TINY)

    direction = place.combined(residual, rng.standard_normal(residual.shape[1]))
    anywhere = place.put(rng.standard_normal(basis.size))
    one, other = (v / length(v) for v in (without(direction), without(anywhere)))
    # where one is left, they do not cancel
    direction = without(other + (one if place.dot(one, other) >= 0 else -one))
    return direction / length(direction)


def looked_at(H: Floats, c: Floats, passed_on: float, small: float) -> tuple[Floats | None, float]:
    """All responses that matter, and a bound on what is missing of the Krylov matrix.

    That is what leaves the space at each of these lags, passed on by the powers of A, and the lags
    beyond. No responses where the small network does not decay (yet): eigenvalues of H may well lie
    outside the unit circle though those of A do not.
    """
    k = H.shape[1]
    R = _decayed(H[:k], c, small / passed_on)
    if R is None:
        return None, np.inf
    # convolution does not exceed the product of norms
    leaving = float(np.sqrt(((H[k:] @ R) ** 2).sum()))
    # more lags were made than it takes: those that hold nothing any more are left out
    energy = (R**2).sum(axis=0).reshape(-1, c.shape[1]).sum(axis=1)
    after = np.sqrt(np.cumsum(energy[::-1])[::-1])
    count = max(1, int(np.count_nonzero(after > small)))
    # what comes after all of them begins with the last one, and may vanish and come back, where a
    # delay line has gains: the powers of A tell how far
    beyond = np.sqrt(energy[-1]) * passed_on + (after[count] if count < len(after) else 0.0)
    return R[:, : count * c.shape[1]], leaving * passed_on + float(beyond)


def _decayed(H: Floats, c: Floats, negligible: float) -> Floats | None:
    """[c, Hc, H²c, …] (r, lags·d) to where one of them is negligible; None where it is not soon."""
    before, asked = np.inf, False
    with np.errstate(all="ignore"):
        for R in _longer_responses(H, c):
            size, lags = float(np.sqrt((R[:, -c.shape[1] :] ** 2).sum())), R.shape[1] // c.shape[1]
            if size <= negligible:
                return R
            if not np.isfinite(size) or lags >= MOST_DEFAULT_LAGS:
                return None
            if size >= before and lags >= SETTLED_AFTER * len(H) and not asked:
                asked = True
                if np.abs(np.linalg.eigvals(H)).max() >= 1:
                    return None
            before = size
    return None


def responses(H: Floats, c: Floats, lags: int) -> Floats:
    """[c, Hc, H²c, …] (r, lags·d)."""
    width = lags * c.shape[1]
    with np.errstate(all="ignore"):
        return next(R[:, :width] for R in _longer_responses(H, c) if R.shape[1] >= width)


def _longer_responses(H: Floats, c: Floats) -> Iterator[Floats]:
    """[c, Hc, H²c, …] to ever more lags, about half as many more each time.

    Doubled as long as they are few; then the power reached is good for many blocks, as long as
    these are less work than to square it.
    """
    R, power, block = c, H, c.shape[1]
    while True:
        later = [R[:, -block:]]
        while sum(part.shape[1] for part in later) <= max(block, R.shape[1] // 2):
            later.append(power @ later[-1])
        R = np.concatenate([R, *later[1:]], axis=1)
        yield R
        if block < BLOCK or R.shape[1] > MANY_BLOCKS * len(H):
            power = power @ power
            block = min(2 * block, R.shape[1])


def _evaluated(
    reduction: Reduced, levels: Floats, filters: tuple[Filter, ...], lags: int | None
) -> Outcome:
    width = reduction.inputs
    found, *others = reduction.seen(filters)
    memory, total = found.memory(levels, width)
    changes, moved, shifts = _changes(levels, found, others, memory, total)
    unknown = SAFETY * np.maximum(changes[:, 0, 0], moved / np.maximum(total, 1.0)) > NOT_SMALL
    changes[unknown], moved[unknown] = 1.0, reduction.states / SAFETY
    gain, doubt = max(each.gain for each in filters), max(each.doubt for each in filters)
    missing, beyond = gain * reduction.left_out / levels, gain * reduction.beyond / levels
    if any(len(each.psi) > 1 for each in filters):
        missing, beyond = missing + beyond, 0.0 * beyond
    # what is left out moves a value by at most twice its size relative to the noise; lags beyond
    # are noise to the reader, of which the square counts, unless they are correlated with those
    # before. A change of the inputs' density by a share of it moves past inputs and states by half
    # as much each, and what the one has of the other
    outside = gain**2 * reduction.outside / levels**2
    left = 2 * missing + missing**2 + beyond**2 + 4 * doubt + outside
    rounding = 8 * EPS * np.sqrt(len(found.sigma) + 1) + reduction.turned
    # directions that rounding alone lifts above the noise are there in every changed problem too,
    # with a share of one: that their sizes differ gives them away
    spread = found.spread(levels, SAFETY * shifts + reduction.relative * found.sigma)
    error = SAFETY * changes + left[:, None, None]
    # where a direction is in doubt altogether, so are those that it is mixed with
    mixed = np.where(spread.max(axis=1) > NOT_SMALL, spread.max(axis=1), 0.0)
    error = error + _by_lag(spread @ found.squares.T, width) + mixed[:, None, None]
    error = error + rounding * np.sqrt(memory) + EPS
    total_error = SAFETY * moved + rounding * np.maximum(total, 1.0)
    total_error += spread @ found.held
    # d tr(MMᵀ(MMᵀ + s²)⁻¹) = 2 tr(s²(MMᵀ + s²)⁻² M dMᵀ), and every direction holds gain² at most
    shares = Projection(found.sigma, found.squares).shares(levels, len(found.sigma))
    slope = np.sqrt((shares * (1 - shares)).sum(axis=1))
    second = (missing**2 + beyond**2) * len(found.sigma)
    total_error += gain**2 * (2 * missing * slope + second + 4 * doubt * shares.sum(axis=1))
    total_error += outside
    listed = Lags(lags, total)
    summed = memory.sum(axis=2)
    if not listed.enough(summed):
        listed.count = lags or summed.shape[1]
    count = listed.count or summed.shape[1]
    beyond = SAFETY * changes + left[:, None, None]
    memory, error = _to_length(memory, count), _to_length(error, count, beyond)
    ahead = np.zeros((len(levels), 0, width))
    none = np.zeros(len(levels))
    return Outcome(
        np.clip(memory, 0.0, 1.0), np.minimum(error, 1.0), ahead, ahead, total, total_error,
        none, none,
    )  # fmt: skip


def _by_lag(values: Floats, width: int) -> Floats:
    """Values (levels, lags·inputs) as (levels, lags, inputs)."""
    return values.reshape(len(values), -1, width)


def _changes(
    levels: Floats, known: Seen, others: list[Seen], memory: Floats, total: Floats
) -> tuple[Floats, Floats, Floats]:
    """Largest changes that rounding of (H, c) amounts to.

    Of values (levels, 1, 1), of totals (levels,) and of singular values.
    """
    changes, moved = np.zeros(len(levels)), np.zeros(len(levels))
    shifts = np.zeros(len(known.sigma))
    for found in others:
        other, other_total = found.memory(levels, memory.shape[2])
        length = max(memory.shape[1], other.shape[1])
        difference = np.abs(_to_length(other, length) - _to_length(memory, length))
        changes = np.maximum(changes, difference.max(axis=(1, 2)))
        moved = np.maximum(moved, np.abs(other_total - total))
        moved = np.maximum(moved, difference.sum(axis=(1, 2)))
        sigma = np.zeros(max(len(shifts), len(found.sigma)))
        sigma[: len(found.sigma)] = found.sigma
        shifts = np.maximum(shifts, np.abs(sigma[: len(shifts)] - known.sigma))
    return changes[:, None, None], moved, shifts


def _to_length(values: Floats, lags: int, beyond: Floats | None = None) -> Floats:
    """Cut curves (levels, lags, inputs), or continue them by nothing, or by (levels, 1, 1)."""
    missing = lags - values.shape[1]
    if missing <= 0:
        return values[:, :lags]
    rest = np.zeros((len(values), missing, values.shape[2]))
    return np.concatenate([values, rest if beyond is None else rest + beyond], axis=1)
