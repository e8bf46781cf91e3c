"""One factor, K = M·Wᵀ, from which every question but the plain one is read off.

K = [C, AC, A²C, …] maps past inputs to states, x = Kz. W has orthonormal columns, so that ξ = Wᵀz
are states of an input-normal realization and x = Mξ. All that rounding can spoil is in how M and W
are found, since columns of K hardly differ and its singular values fall by dozens of decades:

* ``hessenberg``: Householder reflections take A to Hessenberg form H = QᵀAQ and C to QᵀC = c. A lag
  first reaches direction i with size s_i, a product of subdiagonals. In coordinates *graded* by
  these sizes the responses S⁻¹H^τc are far from parallel, however small s_i, and
  [c, Hc, …] = S·L·Wᵀ by a QR decomposition with a well-conditioned L. No eigenvalue is computed.
* ``arnoldi``: the same from an orthonormal basis of the directions that stand above the noise, by
  products with A (:mod:`memcurve.solve.arnoldi`).
* ``cascade``: W are the states of the all-pass filter of the poles, and M solves a Stein equation,
  M = A M A'ᵀ + C C'ᵀ; for responses that do not fade, and spectra on a line, whose graded
  coordinates are nearly parallel, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import EPS, TINY, Floats
from memcurve.inputs.filters import Filter
from memcurve.solve.basis import EXHAUSTED
from memcurve.solve.errors import backward_error, rounding
from memcurve.solve.powers import PowerSums, power_norms, solve_stein

#: Parts of K below this share of the noise are left out. Doubled: fewer directions, and errors of
#: twice as much, 1e-13 at most.
LEFT_OUT = 1e-13
#: Lags end where all that follow are below this share of the noise, or of each direction without
#: noise. Of white input its square counts. Doubled: fewer lags, and errors of four times as much,
#: 1e-14 at most.
TAIL = 1e-7
#: The same where the input is coloured, relative to its largest density: what is left out counts as
#: it is. Doubled: fewer lags, and errors of twice as much, 2e-10 at most.
COLOURED_TAIL = 1e-10
#: Numbers in the responses that are kept at most. Doubled: slower networks are answered without
#: their poles, with twice the memory (0.4 GB).
MOST_ENTRIES = 50_000_000
#: Lags that are followed at most. Doubled: the same, in twice the time.
MOST_LAGS = 50_000
#: By how much lags left out are mostly longer in white states. Doubled: a few more lags; halved,
#: responses are often made twice.
USUAL_STRETCH = 256.0
#: What rounding leads to beyond the directions, relative to the noise, before all are taken.
#: Doubled: four times the error, of 4e-8 at most.
OUTSIDE = 1e-4
#: The same where some of the states are read. Doubled: twice the error, of 4e-8 at most.
OUTSIDE_ROWS = 1e-8
#: What rounding leads to and the network leads back, relative to the noise, before all are taken.
#: Doubled: twice the error, of 2e-7 at most.
RETURNING = 1e-7
#: Up to this many directions changed networks have all of them. Doubled: usable memory of 200
#: states takes twice as long.
ALL_DIRECTIONS = 100
#: Rows whose lengths differ by more decades (e-folds) than this are scaled anew. Doubled: rounding
#: in responses grows by as much.
UNEVEN = 7.0
#: Graded directions with less than this of their own are taken for parallel to those before, where
#: there is no noise. Doubled: as much less accuracy is let through, to be measured.
PARALLEL = 1e-7


@dataclass(eq=False, kw_only=True)
class ReducedModel:
    """H = QᵀAQ and c = QᵀC in an orthonormal basis of Krylov directions, in the order of reach.

    ``log_sizes`` of the size at which a lag first reaches each direction (``scale``: all lags),
    the first ``reached`` by more than rounding; ``rounding`` (m + d) in each column of H and c,
    ``dropped`` of what was taken for it (``relative``: of each entry). ``read(X)`` is Q[rows]·X,
    None where all states are read. ``leakage`` bounds what leaves the space. ``lags`` are held,
    later ones below ``beyond``; zero: all lags. ``lasting``: Σ_m ‖A^m v‖² for unit v outside.
    ``level`` is the least noise it is good for, ``systems`` were read off it.
    """

    H: Floats
    c: Floats
    log_sizes: Floats
    rounding: Floats
    read: Callable[[Floats], Floats] | None = None
    reached: int = 0
    leakage: float = 0.0
    dropped: Floats | float = 0.0
    lags: int = 0
    beyond: float = 0.0
    lasting: float = 0.0
    level: float = 0.0
    relative: bool = False
    scale: Floats | None = None
    systems: dict[Any, Any] = field(default_factory=dict)

    def changed(self, rng: np.random.Generator, directions: int) -> ReducedModel:
        """The model of a network that is changed at random by as much as rounding changes it."""
        if self.relative:
            size = 2 * EPS * np.sqrt(len(self.H))
            H, c = (X * (1 + size * rounding(rng, X.shape)) for X in (self.H, self.c))
            return replace(self, H=H, c=c)
        m, d = min(directions, len(self.H)), self.c.shape[1]
        change = rounding(rng, (m, m + d))
        sizes = np.hypot(self.rounding, self.dropped)
        sizes = np.append(sizes[:m], sizes[len(self.H) :])
        change *= sizes / np.sqrt((change**2).sum(axis=0))
        # rounding may lead to where nothing else does: that is to be seen
        model = hessenberg(self.H[:m, :m] + change[:, :m], self.c[:m] + change[:, m:], TINY)
        model.reached, model.lags, model.beyond = min(self.reached, m), self.lags, self.beyond
        model.scale = self.scale
        if self.read is None:
            return model
        outer, inner = self.read, model.read
        assert inner is not None
        model.read = lambda X: outer(_padded(len(self.H), inner(X)))
        return model

    @cached_property
    def powers(self) -> PowerSums:
        """Σ_m ‖A^m‖ and its like, infinite where they are not known."""
        return power_norms(self.H)

    @cached_property
    def _from_lag_on(self) -> Floats:
        """Bounds on all lags from each one on, of those that are held and the next."""
        squares = np.square(responses_to(self.H, self.c, self.lags)).sum(axis=0)
        later = np.append(squares.reshape(self.lags, -1).sum(axis=1), self.beyond**2)
        return np.asarray(np.sqrt(np.cumsum(later[::-1])[::-1]))

    def first_lags(self, enough: float) -> int:
        """How many lags it takes for all later ones to be below this, of those that are held."""
        return max(1, int(np.count_nonzero(self._from_lag_on[:-1] > enough)))

    def later_lags(self, count: int) -> float:
        """Bound on all lags but the first, in units of K."""
        return float(self._from_lag_on[min(count, self.lags)])

    def cut(self, level: float) -> int:
        """Directions that stand above a level, with what they are reached by."""
        if level == 0 or self.relative:
            return self.reached
        # what is small itself may drive others that are not
        drives = np.log(np.maximum(1.0, np.sqrt(np.einsum("ij,ij->j", self.H, self.H))))
        above = np.flatnonzero(self.log_sizes + drives > np.log(LEFT_OUT * level))
        return int(above[-1]) + 1 if len(above) else 1


@dataclass(eq=False, kw_only=True)
class KrylovFactor:
    """KΨ = M·Wᵀ for d inputs coloured by Ψ, W (lags·d, n) with orthonormal columns.

    M has the rows that are read, or all up to a rotation. Where W is but the first of many lags,
    ``input_normal`` is (A', C') of ξ_t = A'ξ_{t−1} + C'z_t, not yet coloured. ``missing``, ``tail``
    and ``outside`` bound what is left out, as in Truncation; ``complete``: nothing but rounding.
    ``colour``: how far ξ is from white. ``directions`` and ``lags`` of the model were used.
    """

    M: Floats
    W: Floats
    inputs: int
    missing: float = 0.0
    tail: float = 0.0
    outside: float = 0.0
    complete: bool = True
    directions: int = 0
    lags: int = 0
    colour: float = 0.0
    input_normal: tuple[Floats, Floats] | None = None

    def listing(self, lags: int) -> KrylovFactor:
        """The same with as many lags, where there are more than are listed."""
        if self.input_normal is None:
            return self
        return replace(self, W=np.ascontiguousarray(responses_to(*self.input_normal, lags).T))


# --- the dense source


def hessenberg(A: Floats, C: Floats, smallest: float = EXHAUSTED) -> ReducedModel:
    """Reduce a dense network; of several inputs, shares below ``smallest`` are left out."""
    if not (np.isfinite(A).all() and np.isfinite(C).all()):
        raise UncertainResultError("the states leave the range of floating point.")
    size = backward_error(A)
    if C.shape[1] > 1:
        return _band_arnoldi(A, C, size, smallest)
    from scipy.linalg.lapack import dgehrd, dgehrd_lwork, dorghr

    m = len(A)
    joint = np.zeros((m + 1, m + 1), order="F")  # the first reflection is that of the mask
    joint[1:, :1], joint[1:, 1:] = C, A
    work = int(dgehrd_lwork(m + 1)[0])
    reflections, scales, _ = dgehrd(joint, lwork=work, overwrite_a=1)
    H, first = np.triu(reflections[1:, 1:], -1), float(reflections[1, 0])
    # directions that rounding alone leads to are kept: changed networks show what they are worth
    steps = np.maximum(np.abs(np.diag(H, -1)), EPS * size)
    H[np.arange(1, m), np.arange(m - 1)] = np.copysign(steps, np.diag(H, -1))
    small = np.flatnonzero(steps <= EXHAUSTED * size / EPS / np.sqrt(m))
    reached = int(small[0]) + 1 if len(small) else m
    c = np.zeros((m, 1))
    c[0] = first
    log_sizes = np.log(abs(first)) + np.append(0.0, np.cumsum(np.log(steps)))

    def read(X: Floats) -> Floats:
        Q = dorghr(reflections, scales, lwork=64 * m)[0]
        return np.asarray(Q[1:, 1 : 1 + len(X)] @ X)

    sizes = np.append(np.full(m, size / np.sqrt(m)), 4 * EPS * abs(first))
    return ReducedModel(H=H, c=c, log_sizes=log_sizes, rounding=sizes, read=read, reached=reached)


def _padded(size: int, X: Floats) -> Floats:
    """The first rows of as many directions as there are states."""
    return np.concatenate([X, np.zeros((size - len(X), X.shape[1]))])


def feed_forward(A: Floats, C: Floats) -> ReducedModel:
    """A network without cycles but self-loops as it is: reflections would lead back."""
    size = len(A)
    largest = np.abs(responses_to(A, C, size)).max(axis=1)  # a path has no more steps than nodes
    if not (np.isfinite(largest).all() and largest.min() > 0):
        raise UncertainResultError("the states leave the range of floating point.")
    return ReducedModel(
        H=A, c=C, log_sizes=np.log(largest), rounding=np.zeros(size + C.shape[1]),
        read=partial(_padded, size), reached=size, relative=True,
    )  # fmt: skip


def _band_arnoldi(A: Floats, C: Floats, size: float, smallest: float) -> ReducedModel:
    """The same for several inputs, of which some may be exhausted sooner than others."""
    n, d = C.shape
    Q, H, c = np.zeros((n, n), order="F"), np.zeros((n, n)), np.zeros((n, d))
    log_sizes, count, done = np.zeros(n), 0, 0

    def extend(V: Floats, parents: Floats, column: Floats) -> None:
        """Orthogonalise V against all directions, keep what is new."""
        nonlocal count
        first, lengths = count, np.sqrt(np.einsum("ij,ij->j", V, V))
        part = Q[:, :count].T @ V
        V = V - Q[:, :count] @ part
        column[:count] += part
        for j, (v, before) in enumerate(zip(V.T, lengths.tolist(), strict=True)):
            rest, since = float(np.sqrt(v @ v)), first
            for _ in range(4):  # until nothing goes away any more
                since, before = (since if rest > 0.7 * before else 0), rest
                part = Q[:, since:count].T @ v
                v = v - Q[:, since:count] @ part
                column[since:count, j] += part
                rest = float(np.sqrt(v @ v))
                if rest > 0.7 * before:
                    break
            # what still goes away lies along the others, to the last digit
            if count < n and rest > max(0.7 * before, smallest * lengths[j]):
                Q[:, count] = v / rest
                column[count, j] = rest
                log_sizes[count] = np.log(rest) + parents[j]
                count += 1
                rest = 0.0
            dropped.append(rest)

    dropped = list[float]()
    extend(C, np.zeros(d), c)
    while done < count:
        stop = min(count, done + d)
        images = np.stack([A @ Q[:, j] for j in range(done, stop)], axis=1)
        extend(images, log_sizes[done:stop], H[:, done:stop])
        done = stop
    m = count
    left = np.append(dropped[d:], dropped[:d])
    sizes = np.append(np.full(m, size / np.sqrt(max(m, 1))), 4 * EPS * np.sqrt((C**2).sum(axis=0)))

    def read(X: Floats) -> Floats:
        return np.asarray(Q[:, : len(X)] @ X)

    return ReducedModel(
        H=H[:m, :m], c=c[:m], log_sizes=log_sizes[:m], rounding=sizes, read=read, reached=m,
        dropped=left, lasting=power_norms(A).squares if m < n else 0.0,
    )  # fmt: skip


# --- from responses to the factor


def krylov_factor(
    model: ReducedModel,
    level: float,
    *,
    filters: Sequence[Filter],
    tail: float = TAIL,
    directions: int | None = None,
    lags: int = 0,
    whole: bool = True,
    rng: np.random.Generator | None = None,
) -> KrylovFactor:
    """The factor of a reduced model, good for noise of this level and above, or without (zero).

    Of ``directions`` and ``lags``, or all that matter; ``rng``: rounding of the decomposition is
    imitated; ``whole``: all states are read, alike up to a rotation.
    """
    # directions of responses are not at right angles: in white coordinates the tail is longer
    cut = tail / USUAL_STRETCH
    for _ in range(3):
        tails = cut, tail
        factor, beyond, stretch = _factor(
            model, level, filters, tails, directions, lags, whole, rng
        )
        factor.tail = beyond * stretch
        if factor.tail <= 4 * tail or directions is not None or not np.isfinite(stretch):
            break
        cut = tail / stretch
    return factor


def _factor(
    model: ReducedModel,
    level: float,
    filters: Sequence[Filter],
    tails: tuple[float, float],
    directions: int | None,
    lags: int,
    whole: bool,
    rng: np.random.Generator | None,
) -> tuple[KrylovFactor, float, float]:
    """The factor, what lies beyond its lags, and by how much that may be longer in white states."""
    fixed, d, n = directions is not None, model.c.shape[1], len(model.H)
    m = directions or (model.reached if level == 0 else n)
    if model.lags and not fixed:  # the first lags of so many directions, exactly
        lags = model.first_lags(tails[1] * level)
        m = min(n, lags * d)
    try:
        R, log_sizes, beyond, by_noise = graded_responses(model, m, level, tails, lags)
    except UncertainResultError:  # those reached far below the noise may last far longer
        if fixed or not (m := model.cut(level)) < n:
            raise
        R, log_sizes, beyond, by_noise = graded_responses(model, m, level, tails, lags)
    if model.scale is None:
        model.scale = log_sizes
    with np.errstate(under="ignore", over="ignore"):
        sizes = np.exp(log_sizes)
        K = sizes[:, None] * R
    energy, leaving = np.square(K).sum(axis=1), np.square(model.H[m : m + d, :m] @ K).sum()
    # so many directions hold so many lags, exactly
    used = m if fixed or model.relative else min(m, R.shape[1])
    outside = _lifted(model, energy) if used < n or model.lasting else 0.0
    returning = 0.0  # what rounding leads to beyond these directions, and the network back
    if used < n and not fixed:
        returning = float(np.sqrt(outside * np.square(model.H[:used, used:]).sum() / (n - used)))
    most = OUTSIDE if whole else OUTSIDE_ROWS
    beyond_noise = np.sqrt(outside) > most * level or returning > RETURNING * level
    if not fixed and not model.relative and (beyond_noise or n <= ALL_DIRECTIONS):
        # where changed networks have all directions, what rounding leads to shows
        used, outside, returning = n, outside if model.lasting else 0.0, 0.0
    missing = model.leakage + returning
    if m < R.shape[1] and leaving > 0 and not fixed:
        missing += float(np.sqrt(leaving)) * model.powers.norms
    if level > 0:  # rows that hold nothing above the noise
        after = np.sqrt(np.cumsum(energy[::-1])[::-1])
        kept = max(1, int(np.count_nonzero(after > LEFT_OUT * level)))
        missing += float(after[kept]) if kept < m else 0.0
        R, sizes = R[:kept], sizes[:kept]
    if rng is not None:  # rounding knows nothing of where the responses come from
        size = np.sqrt(np.einsum("ij,ij->i", R, R) / R.shape[1])
        R = R + (2 * EPS * size)[:, None] * rounding(rng, R.shape)
    count, weights = R.shape[1] // d, np.ones(len(R))
    if level > 0:
        weights = sizes / level if by_noise else np.minimum(1.0, sizes / level)
    B, cut = coloured(R.T, filters, weights, tails[by_noise])
    W, triangle = orthonormal(B)
    L, complete = triangle.T.copy(), level == 0
    if level == 0:
        parts = np.abs(np.diag(L)) / np.sqrt(np.einsum("ij,ij->i", L, L))[: L.shape[1]]
        parallel = np.flatnonzero(~(parts > PARALLEL))
        if len(parallel) and parallel[0] > 0:
            kept, complete = int(parallel[0]), False
            missing += float(np.sqrt(energy[kept:].sum()))
            W, L, sizes = W[:, :kept], L[:kept, :kept], sizes[:kept]
    if lags and model.lags:
        beyond = model.later_lags(lags) / level
    beyond += cut
    stretch = 1.0 if by_noise else _stretch(L, sizes, level)
    M = sizes[:, None] * L
    if not whole:  # what lies outside is not at right angles to the rest where some rows are read
        assert model.read is not None
        M, missing, outside = model.read(M), missing + 2 * float(np.sqrt(outside)), 0.0
    factor = KrylovFactor(
        M=M, W=W, inputs=d, missing=missing, outside=outside, complete=complete,
        directions=used, lags=count,
    )  # fmt: skip
    return factor, beyond, stretch


def coloured(
    W: Floats, filters: Sequence[Filter], weights: Floats, tail: float
) -> tuple[Floats, float]:
    """ΨᵀW for weights W (lags·d, n), to where the rest, weighted, is below ``tail``; the rest."""
    if all(each.is_white for each in filters):
        return np.asfortranarray(W), 0.0
    d, n = len(filters), W.shape[1]
    parts = [each.applied(W[j::d]) for j, each in enumerate(filters)]
    both = np.zeros((max(map(len, parts)), d, n))
    for j, part in enumerate(parts):
        both[: len(part), j] = part
    after = np.sqrt(np.cumsum((np.square(both) @ np.square(weights)).sum(axis=1)[::-1])[::-1])
    count = max(n // d + 1, int(np.count_nonzero(after > tail)))
    rest = float(after[count]) if count < len(after) else 0.0
    return np.asfortranarray(both[:count].reshape(-1, n)), rest


def _lifted(model: ReducedModel, energy: Floats) -> float:
    """The square of what rounding leads to from directions of so much energy, amplified by A."""
    whole = float(energy.sum())
    if model.relative:
        return (4 * EPS * len(energy)) ** 2 * whole
    lasting = model.lasting or max(1.0, whole / float(np.square(model.c).sum()))
    entering = lasting * np.square(model.rounding)
    if np.any(model.dropped):  # the same at every step, and in phase where A repeats itself
        entering += max(lasting, model.powers.norms**2) * np.square(model.dropped)
    return float(entering[: len(energy)] @ energy + entering[len(model.H) :].sum())


def _stretch(L: Floats, sizes: Floats, level: float) -> float:
    """‖(LLᵀ + Λ²)^(−½)w⁻¹‖ with the noise Λ in graded units and w the weights of lags left out."""
    from scipy.linalg.lapack import dtrtri

    if level > 0:
        noise = level / sizes
        weights = np.minimum(1.0, 1 / noise)
        both = np.concatenate([L, np.diag(noise)], axis=1) * weights[:, None]
        triangle = np.asarray(np.linalg.qr(both.T, mode="r"))
    elif L.shape[0] != L.shape[1]:
        return np.inf
    else:
        triangle = L.T
    inverse, singular = dtrtri(triangle)
    return np.inf if singular else float(np.sqrt((np.triu(inverse) ** 2).sum()))


def orthonormal(X: Floats) -> tuple[Floats, Floats]:
    """Q with orthonormal columns and T, upper triangular, with X = QT; X may be overwritten."""
    from scipy.linalg.lapack import dgeqrf, dorgqr

    n = min(X.shape)
    reflections, scales, _, info = dgeqrf(X, lwork=64 * X.shape[1], overwrite_a=1)
    T = np.triu(reflections[:n])
    Q, _, failed = dorgqr(reflections[:, :n], scales, lwork=64 * n, overwrite_a=1)
    if info or failed:
        raise UncertainResultError("LAPACK's dgeqrf fails.")
    return Q, T


def graded_responses(
    model: ReducedModel, m: int, level: float, tails: tuple[float, float], lags: int = 0
) -> tuple[Floats, Floats, float, bool]:
    """Responses in coordinates in which each direction has about unit variance; their scale.

    Also a bound on what lies beyond their lags, and whether it is relative to the noise or to each
    direction, with a tail for each.
    """
    H, c, banded = model.H[:m, :m], model.c[:m], not model.relative
    log_sizes = model.log_sizes if model.scale is None else model.scale
    log_sizes = (log_sizes if len(log_sizes) >= m else model.log_sizes)[:m]
    for _ in range(4):
        with np.errstate(all="ignore"):
            ratio = np.exp(np.minimum(log_sizes - log_sizes[:, None], 700.0))
            scaled = np.where(H == 0, 0.0, H * ratio)
            start = np.where(c == 0, 0.0, c * np.exp(-log_sizes)[:, None])
            unit, weights = None, np.ones(m)
            if level > 0:
                weights = np.exp(np.minimum(0.0, log_sizes - np.log(level)))
                share = tails[0] / tails[1]
                unit = Unit(np.exp(log_sizes - np.log(level)) * share, lambda: model.powers.squares)
            if lags:
                R, beyond, by_noise = responses_to(scaled, start, lags, banded=banded), 0.0, True
            else:
                R, beyond, by_noise = faded(
                    scaled, start, weights, tails[0], banded=banded, unit=unit
                )
        largest = np.abs(R).max(axis=1)
        if level > 0:  # what is reached by later lags only is far below the noise
            largest = np.where(largest == 0, 1.0, largest)
        lengths = largest * np.sqrt(((R / largest[:, None]) ** 2).sum(axis=1))
        if level > 0:
            lengths = np.where(lengths == 0, 1.0, lengths)
        if not (np.isfinite(lengths).all() and lengths.min() > 0):
            raise UncertainResultError("the states leave the range of floating point.")
        if np.abs(np.log(lengths)).max() <= UNEVEN:
            break
        log_sizes = log_sizes + np.log(lengths)
    return R, log_sizes, beyond * (tails[1] / tails[0] if by_noise else 1.0), by_noise


class Unit(NamedTuple):
    """Sizes of the directions relative to the noise, and a bound on Σ_m ‖A^m‖², when asked."""

    sizes: Floats
    squares: Callable[[], float]


def faded(
    H: Floats,
    c: Floats,
    weights: Floats,
    tail: float,
    most: int = MOST_LAGS,
    *,
    banded: bool = False,
    unit: Unit | None = None,
    below: float = 0.03,
    margin: float = 10.0,
) -> tuple[Floats, float, bool]:
    """[c, Hc, H²c, …] to where all that follows is small; a bound on it; whether in the unit.

    Later lags of v are at most ‖v‖² Σ_m ‖A^m‖² in a ``unit`` in which that is known. Without, in
    graded coordinates, they are followed to a share ``below`` of the ``tail``, and extrapolated
    with a ``margin``: a mode still out of sight there is below it altogether.
    """
    n, d = c.shape
    before = (1, float(np.sqrt((c**2).sum())))
    most = min(most, MOST_ENTRIES // (4 * c.size))  # beyond, poles take less time
    for R in longer_responses(H, c, banded=banded):
        last, lags = R[:, -d:], R.shape[1] // d
        size = float(np.sqrt((last**2).sum()))
        if not np.isfinite(size) or lags > most:
            break
        rate = np.log(max(size, TINY) / max(before[1], TINY)) / (lags - before[0])
        slow = lags > 4 * n + 2000 and size > tail
        if slow and lags - np.log(size / tail) / min(rate, -TINY) > 2 * most:
            break  # at the rate of now it takes too long
        rest, in_unit = np.inf, False
        if lags > 2 * before[0]:  # far enough back for responses that swing
            before = lags, size
        if unit is not None:
            own = float(np.sqrt(((unit.sizes[:, None] * last) ** 2).sum()))
            if own <= tail and (rest := own * float(np.sqrt(unit.squares()))) <= tail:
                in_unit, weights = True, unit.sizes
        if not in_unit and size <= below * tail and lags * d >= n and rate < 0:
            rest = margin * size / float(np.sqrt(-np.expm1(2 * rate)))
        if not rest <= tail:
            continue
        # more lags were made than it takes
        energy = ((weights[:, None] * R) ** 2).sum(axis=0).reshape(-1, d).sum(axis=1)
        after = np.sqrt(np.cumsum(energy[::-1])[::-1])
        count = max(1, int(np.count_nonzero(after > tail)))
        cut = float(after[count]) if count < len(after) else 0.0
        return R[:, : count * d], cut + rest, in_unit
    raise UncertainResultError("the responses do not fade soon.")


def faded_states(A: Floats, C: Floats, tail: float) -> tuple[Floats, float]:
    """[C, AC, A²C, …] to where all that follows is below ``tail``, and a bound on it."""
    ones = np.ones(len(A))
    unit = Unit(ones, cache(lambda: power_norms(A).squares))
    return faded(A, C, ones, tail, unit=unit, below=0.0)[:2]


def longer_responses(
    H: Floats, c: Floats, *, banded: bool = False, few: float = 4, block: int = 32
) -> Iterator[Floats]:
    """[c, Hc, H²c, …] to ever more lags. ``banded``: each lag reaches d further directions at most.

    One by one, quickest while less than ``few`` times the directions; then by powers, in blocks.
    """
    n, d = c.shape
    few = few if n > 200 else 0.125  # squares take no time
    R, made, power, taken = np.zeros((n, 64 * d), order="F"), 1, H, 1
    R[:, :d] = c
    while True:
        goal = max(made + 16, made + made // 4)
        goal = made + taken * max(1, (goal - made) // taken)
        if goal * d > R.shape[1]:
            longer = np.zeros((n, 2 * goal * d), order="F")
            longer[:, : made * d] = R[:, : made * d]
            R = longer
        if taken == 1:
            for k in range(made * d, goal * d):
                top, inner = (min(n, k + 1), min(n, k + 1 - d)) if banded else (n, n)
                R[:top, k] = H[:top, :inner] @ R[:inner, k - d]
        else:
            for k in range(made * d, goal * d, taken * d):
                R[:, k : k + taken * d] = power @ R[:, k - taken * d : k]
        made = goal
        yield R[:, : made * d]
        while made > few * n and taken < min(made // 2, max(block, made // n)):
            power, taken = power @ power, 2 * taken


def responses_to(H: Floats, c: Floats, lags: int, *, banded: bool = False) -> Floats:
    """[c, Hc, H²c, …] (n, lags·d)."""
    width = lags * c.shape[1]
    with np.errstate(all="ignore"):
        many = longer_responses(H, c, banded=banded)
        return next(R[:, :width] for R in many if R.shape[1] >= width)


# --- sizes of the states


def state_covariance(A: Floats, C: Floats, filters: Sequence[Filter]) -> tuple[Floats, Floats]:
    """p₀ = Cov(x_t, z_t) = Σ_k γ(k)A^k C, and Γ = AΓAᵀ + p₀Cᵀ + Cp₀ᵀ − CCᵀ."""
    present = C.copy()
    for j, each in enumerate(filters):
        if not each.is_white:
            present[:, j] = responses_to(A, C[:, j : j + 1], len(each.gamma)) @ each.gamma
    drive = present @ C.T
    return present, solve_stein(A, drive + drive.T - C @ C.T)
