"""Usable memory of dense networks under very little noise: all directions at once.

Where noise is far below rounding, what leaves a basis of some directions, as of
:mod:`memcurve.solve.direct`, cannot be told from what rounding leads out of it. All directions
together have no outside:

* Where A is a multiple ρ of an isometry, the columns of K = [C, AC, A²C, …] have lengths ρⁿ‖C‖ and
  are far from parallel. With K = UD, D their lengths, and column n off by a share η_n of its
  length, K̂ = (I + X)K where ‖X‖² ≤ Σ η_n²·‖U⁻¹‖²: as if the noise were changed by a share 2‖X‖,
  whatever its level. η_n is the sum of ‖K_m − AK_{m−1}‖/‖K_m‖ over m ≤ n.
* Otherwise a Hessenberg form A = QHQᵀ, C = ‖C‖Qe₁, by Householder reflections: Arnoldi's method,
  backward stable as a whole, at a fifth of the time of eigenvalues. K = Q[c, Hc, H²c, …], of which
  the rows below those above the noise are left out. Its error is measured: all is repeated for a
  network changed at random by as much as rounding may change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memcurve.errors import UncertainResultError
from memcurve.krylov import krylov_matrix
from memcurve.progress import Listener
from memcurve.result import EPS, TINY, Floats
from memcurve.solve.analysis import Task
from memcurve.solve.answer import Outcome
from memcurve.solve.coloured import Filter
from memcurve.solve.direct import (
    LOOK_AGAIN,
    SAFETY,
    SMALL,
    Listed,
    Reduced,
    Seen,
    is_direct,
    is_wholly_dense,
    looked_at,
    responses,
    solve_reduced,
)
from memcurve.solve.evaluation import project
from memcurve.solve.errors import backward_error, sums_of_powers

#: A is taken for a multiple of an isometry where AᵀA/ρ² is the identity up to this; its columns are
#: used up to so many a state, where they are no closer to parallel than this. The bound on what
#: rounding changes the noise by is taken where it is no more than this.
ISOMETRY, MOST_COLUMNS, LARGEST_CONDITION, LARGEST_CHANGE = 1e-10, 20, 1e6, 2e-7
#: Up to so many states, columns of the Krylov matrix are made one by one.
ONE_BY_ONE = 600
#: What may be left out, in units of what is looked for.
ENOUGH = 10.0
_SEED = 20230501


def solve_whole(task: Task) -> Outcome:
    """Usable memory under errors of reading all states of a dense network with one input."""
    return solve_reduced(task, _whole)


def is_whole(task: Task) -> bool:
    """Whether the question is about a dense network, one input and all states."""
    if not is_direct(task) or not task.reads_all:
        return False
    return is_wholly_dense(task.states.multiplied, task.states.mask)


def _whole(
    A: Floats, C: Floats, level: float, rows: Any, tail: float | None, tell: Listener
) -> Reduced:
    assert tail is not None
    found = _isometry(A, C, level, tail * level)
    return found or _hessenberg(A, C, level, tail * level)


def _isometry(A: Floats, C: Floats, level: float, small: float) -> Listed | None:
    """The columns of K to where what follows is small, where A is a multiple of an isometry."""
    from scipy.linalg.lapack import dtrtri

    size = len(A)
    squares = np.einsum("ij,ij->j", A, A)
    square = float(squares.mean())
    if not 0 < square < 1 or not np.abs(squares / square - 1).max() <= ISOMETRY:
        return None
    gram = A.T @ A / square
    gram.flat[:: size + 1] -= 1
    gap = float(np.sqrt((gram**2).sum()))
    norm, length = float(np.sqrt(square * (1 + gap))), float(np.sqrt((C**2).sum()))
    if not gap <= ISOMETRY or not norm < 1:
        return None
    # Σ_{n ≥ lags} ‖A^n C‖² ≤ norm^(2·lags)‖C‖²/(1 − norm²)
    lags = int(np.log(small * np.sqrt(1 - norm**2) / length) / np.log(norm)) + 2
    if not 1 < lags <= MOST_COLUMNS * size:
        return None
    K = _columns(A, C, lags)
    lengths = np.sqrt(np.einsum("ij,ij->j", K, K))
    residual = K[:, 1:] - A @ K[:, :-1]
    residuals = np.sqrt(np.einsum("ij,ij->j", residual, residual)) / np.maximum(lengths[1:], TINY)
    # a residual has rounding of its own, which is as large
    shares = np.append(0.0, np.cumsum(2 * residuals + 4 * EPS)) * (1 + gap) ** np.arange(lags)
    count = min(size, lags)
    Q, upper = np.linalg.qr(K[:, :count] / lengths[:count])
    inverse, info = dtrtri(upper)
    if info != 0 or not np.abs(inverse).max() <= LARGEST_CONDITION:
        return None
    condition = float(np.sqrt((inverse**2).sum()))
    change = float(np.sqrt((shares[:count] ** 2).sum())) * condition
    later = float(np.sqrt((shares + change)[count:] ** 2 @ lengths[count:] ** 2))
    if not condition <= LARGEST_CONDITION:
        return None
    turned = 8 * EPS * np.sqrt(size) * condition
    if not (change <= LARGEST_CHANGE and later <= LARGEST_CHANGE * level):
        # what is bounded far too wide is measured instead
        other = _columns(*_changed(A, C, np.random.default_rng(_SEED)), lags) - K
        X = other[:, :count] / lengths[:count] @ inverse @ Q.T
        rest = other[:, count:] - X @ K[:, count:]
        # the rest is KZ too, as if the inputs were mixed
        Z = inverse @ (Q.T @ rest) / lengths[:count, None]
        change, later, mixed = (SAFETY * float(np.sqrt((M**2).sum())) for M in (X, rest, Z))
        if mixed < later / level:
            change, later, turned = change + mixed, 0.0, turned + 2 * mixed
    beyond = norm**lags * length / float(np.sqrt(1 - norm**2))
    # rows that fall in size make fewer rotations
    R = np.concatenate([upper * lengths[:count], Q.T @ K[:, count:]], axis=1)
    variances = np.einsum("ij,ij->i", K, K)
    return Listed(
        R=R, inputs=1, level=level, left_out=later, beyond=beyond, states=size,
        variances=variances, relative=change, turned=float(turned), decompose=project,
    )  # fmt: skip


def _columns(A: Floats, C: Floats, lags: int) -> Floats:
    """[C, AC, A²C, …], one by one as long as A stays in the cache: powers of it round more."""
    few = len(A) <= ONE_BY_ONE
    return krylov_matrix(A, C[:, 0], lags) if few else responses(A, C, lags)


def _changed(A: Floats, C: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A network changed at random by as much as rounding may change it."""
    change = rng.standard_normal(A.shape)
    change *= backward_error(A) / np.sqrt((change**2).sum())
    return A + change, C * (1 + 4 * EPS * rng.standard_normal(C.shape))


class Hessenberg:
    """A = QHQᵀ and C = ‖C‖Qe₁ up to a sign, H zero below its first subdiagonal."""

    def __init__(self, A: Floats, C: Floats) -> None:
        from scipy.linalg.lapack import dgehrd, dgehrd_lwork

        self._normal, first = C.copy(), -np.copysign(np.sqrt(C @ C), C[0])
        self._normal[0] -= first
        self._normal *= np.sqrt(2 / (self._normal @ self._normal))
        turned = A - np.outer(self._normal, self._normal @ A)
        turned = np.asfortranarray(turned - np.outer(turned @ self._normal, self._normal))
        work = int(dgehrd_lwork(len(A))[0])
        self._reflections, self._scales, _ = dgehrd(turned, lwork=work, overwrite_a=1)
        self.H = np.triu(self._reflections, -1)
        self.c = np.zeros((len(A), 1))
        self.c[0] = first

    def sizes(self, X: Floats) -> Floats:
        """Squared lengths of the rows of QX, for the first rows of X, the others being zero."""
        from scipy.linalg.lapack import dormqr

        Y = np.zeros((len(self.H), X.shape[1]), order="F")
        Y[: len(X)] = X
        if len(Y) > 1:
            # the first reflection leaves the first state alone
            reflections = self._reflections[1:, :-1]
            Y[1:] = dormqr("L", "N", reflections, self._scales, Y[1:], 64 * Y.shape[1])[0]
        Y -= np.outer(self._normal, self._normal @ Y)
        return np.asarray(np.einsum("ij,ij->i", Y, Y))


@dataclass(eq=False, kw_only=True)
class AllDirections(Reduced):
    """What is read of the Krylov matrix of the network (A, C), up to a rotation.

    ``small`` is what may lie beyond its lags; ``passed_on`` is Σ‖A^m‖.
    """

    A: Floats
    C: Floats
    small: float
    passed_on: float

    def seen(self, filters: tuple[Filter, ...]) -> list[Seen]:
        # one change tells: in a network so large it cannot leave some number alone by accident
        return self._changed_at_random(self.R, filters, 1, self._changed)

    def _changed(self, rng: np.random.Generator) -> Floats:
        A, C = _changed(self.A, self.C, rng)
        form = Hessenberg(A, C[:, 0])
        return _above(form, self.level, self.small, self.passed_on, len(self.R))[0]


def _hessenberg(A: Floats, C: Floats, level: float, small: float) -> AllDirections:
    """The directions above the noise in Hessenberg form, and lags until what follows is small."""
    form, passed_on = Hessenberg(A, C[:, 0]), sums_of_powers(A).norms
    R, left_out, beyond = _above(form, level, small, passed_on)
    after = np.sqrt(np.cumsum(np.einsum("ij,ij->j", R, R)[::-1])[::-1])
    variances = form.sizes(R[:, : int(np.count_nonzero(after > np.sqrt(EPS) * after[0]))])
    return AllDirections(
        R=R, inputs=1, level=level, left_out=left_out, beyond=beyond, states=len(A),
        variances=variances, A=A, C=C, small=small, passed_on=passed_on,
    )  # fmt: skip


def _above(
    form: Hessenberg, level: float, small: float, passed_on: float, least: int = 1
) -> tuple[Floats, float, float]:
    """Rows and lags of [c, Hc, H²c, …] that stand above the noise, and bounds on both rests.

    There will be at least so many rows.
    """
    size = len(form.H)
    # the lengths of the steps multiply to what the next power has outside of the first directions
    with np.errstate(divide="ignore"):
        steps = np.log(np.abs(np.diag(form.H, -1)))
    outside = np.log(abs(form.c[0, 0])) + np.cumsum(steps)
    few = np.flatnonzero(outside <= np.log(SMALL * level / passed_on))
    k = min(size, max(least, int(few[0]) + 1 if len(few) else size))
    while True:
        look_at = form.H[: min(k + 1, size), :k], form.c[:k], passed_on, SMALL * level
        R, left_out = looked_at(*look_at)
        if R is not None and left_out <= ENOUGH * SMALL * level:
            break
        if k == size:
            raise UncertainResultError("the states do not decay soon.")
        # as many more as the last step tells
        missing = np.log(max(left_out / (SMALL * level), 1.0)) if np.isfinite(left_out) else 0.0
        further = int(missing / -steps[k - 1]) if steps[k - 1] < 0 else 0
        k = min(size, max(k + further, int(LOOK_AGAIN * k)) + 1)
    after = np.sqrt(np.cumsum(np.einsum("ij,ij->j", R, R)[::-1])[::-1])
    count = max(1, int(np.count_nonzero(after > small)))
    beyond = float(after[count]) if count < len(after) else 0.0
    # what is nothing in floating point is below what is looked for
    return R[:, :count], left_out + SMALL * level, beyond
