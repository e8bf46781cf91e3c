"""The Krylov directions of a large network that stand above the noise, by products with A alone.

Columns of K = [C, AC, A²C, …] hardly differ ("Krylov squeezing"): memory above the noise lies in
few directions. An orthonormal basis Q of the Krylov space (Arnoldi's method, several steps at once
where their directions are far apart, orthogonalised twice) takes A to H = QᵀAQ and C to c = QᵀC.
It ends where what leaves the space, amplified by the powers of A, is far below the noise, or where
all lags that are not in the space together are: k steps hold the first k lags exactly.

A is a dense or sparse array, an operator, on a device, or divided among ranks: tall vectors stay
where A is (:mod:`memcurve.network.tall`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.errors import UncertainResultError
from memcurve.core.progress import ProgressCallback, no_progress
from memcurve.core.types import EPS, SEED, TINY, Floats
from memcurve.network.device import DeviceMatrix
from memcurve.network.operator import Operator
from memcurve.network.tall import Tall, backend_of
from memcurve.solve.answer import MOST_DEFAULT_LAGS
from memcurve.solve.basis import Basis
from memcurve.solve.factor import LEFT_OUT, ReducedModel, longer_responses
from memcurve.solve.powers import MANY_STATES, PowerSums, sums_of_powers, times


@dataclass(frozen=True)
class Arnoldi:
    """Arnoldi's method with its tolerances.

    At ``most`` so many directions are kept; how many it takes is foreseen ``foreseen_after``
    steps. The space is checked where the next power of A has ``convergence`` times the target
    outside. Up to ``ahead`` steps are taken at once, of vectors a share ``far_apart`` from those
    before. Of large networks the rounding of ``samples`` of columns is measured. ``left_out`` may
    be missing of K relative to the noise, ``tail`` of all lags beyond; zero: it holds all lags.
    """

    most: int = 4000
    foreseen_after: int = 96
    convergence: float = 10.0
    ahead: int = 16
    far_apart: float = 0.5
    samples: int = 32
    left_out: float = LEFT_OUT
    tail: float = 0.0

    def reduce(
        self,
        A: Any,
        C: Floats,
        level: float,
        *,
        rows: NDArray[np.intp] | None = None,
        notify: ProgressCallback = no_progress,
    ) -> ReducedModel:
        """Reduce (A, C), whose states (or some rows) are read with errors of size ``level``."""
        size, backend = len(C), backend_of(A)
        # powers that grow are found before a basis fills the memory
        powers = sums_of_powers(A)
        most = min(self.most, size)
        basis = Basis(size, min(size, most + C.shape[1]), backend)
        c = np.zeros((basis.capacity, C.shape[1]))
        log_sizes, parents = np.zeros(basis.capacity), list[int]()
        for j, column in enumerate(C.T):
            before = basis.count
            c[:, j] = basis.add(backend.put(np.array(column)))
            if basis.count > before:
                log_sizes[before] = np.log(abs(c[before, j]))
                parents.append(-1)
        H = np.zeros((basis.capacity, basis.capacity))
        # the lengths of the steps multiply to what the next power has outside of the space: as long
        # as that is not small, a convergence check is not worth its time
        check, k, history = basis.count, 0, list[float]()
        target = self.left_out * level
        log_new = np.log(np.sqrt((c**2).sum()))
        log_enough = np.log(self.convergence * target) - np.log(powers.norms)
        ahead = 4 if size >= MANY_STATES and C.shape[1] == 1 else 1
        room = None
        lags = _Responses(c, self.tail * level)
        while k < basis.count:
            before = basis.count
            # of a large network several steps at once, as long as their directions are far apart
            taken = 0
            if ahead > 1:
                room = backend.empty(size, self.ahead) if room is None else room
                taken = self._steps_at_once(A, basis, H, k, ahead, room)
            if taken:
                ahead = taken if taken < ahead else min(2 * ahead, self.ahead)
            else:
                H[:, k], taken, ahead = basis.add(A @ basis.column(k)), 1, max(1, ahead // 2)
            for j in range(k, k + taken):
                row = before + j - k
                new = H[row, j] if row < basis.count else 0.0
                if new:
                    log_sizes[row] = log_sizes[j] + np.log(abs(new))
                    log_new += np.log(abs(new)) / C.shape[1]
                history.append(log_new)
            history[k:] = backend.broadcast(history[k:])
            log_new, k = history[-1], k + taken
            lags.follow(H, k)
            if k // 16 > (k - taken) // 16:
                notify(f"rank so far {basis.count:,}, after {k:,} steps", k, None)
            if k >= self.foreseen_after > k - taken:
                steps = min(_steps_needed(history, log_enough), lags.steps_needed())
                if steps > 1.2 * most:
                    break
                basis.require_room(min(steps, most))
            if backend.broadcast(lags.faded) and k < basis.count:
                beyond = _size_ahead(
                    A, basis.combined(lags.last[: basis.count]), powers.squares, lags.enough
                )
                if beyond <= lags.enough:
                    model = self._model(A, C, basis, H, c, log_sizes[:k].copy(), rows, powers)
                    model.lags, model.beyond = lags.count, beyond
                    return model
                lags.enough_now *= 0.5 * lags.enough / beyond
            if k == basis.count or (k >= check and log_new <= log_enough):
                leaking = backend.broadcast(
                    _leakage(H[: basis.count, :k], c[:k], powers.norms, target)
                )
                if leaking <= 3 * target:
                    model = self._model(A, C, basis, H, c, log_sizes[:k].copy(), rows, powers)
                    model.leakage = float(leaking)
                    return model
                check = int(1.1 * k) + 1
            if basis.count > most:
                break
        raise UncertainResultError("the memory above the noise is spread over too many directions.")

    def _steps_at_once(
        self, A: Any, basis: Basis, H: Floats, k: int, count: int, room: Tall
    ) -> int:
        """Steps from the newest direction on, made together; how many of them were good.

        w_j = A w_{j−1}/n_j from w_0 = q_k on, orthogonalised at once. With g_j their coordinates,
        A w_{j−1} = n_j w_j is H g_{j−1} = n_j g_j; its last unknown column is that of the newest.
        """
        count = min(count, basis.capacity - basis.count)
        if count < 2 or k != basis.count - 1:
            return 0
        backend, norms, w = basis.backend, [], basis.column(k)
        W = room[:, :count]
        for j in range(count):
            w = A @ w
            norms.append(backend.square(w) ** 0.5)
            w = w / norms[-1]
            W = backend.write(W, j, w[:, None])
        lengths = backend.host(norms)
        if not lengths.min() > TINY:  # not either where one is not a number
            return 0
        P, S, T = basis.extended(W)
        pivots = np.abs(np.diag(T))
        far = int(np.argmin(np.append(pivots, 0.0) >= self.far_apart))
        basis.keep(P[:, :far])
        size = basis.count
        g = np.concatenate([S, T])[:size]
        for j in range(far):
            image = lengths[j] * g[:, j]
            if j:
                image = (image - H[:size, : k + j] @ g[: k + j, j - 1]) / g[k + j, j - 1]
            H[:size, k + j] = image
        return far

    def _model(
        self,
        A: Any,
        C: Floats,
        basis: Basis,
        H: Floats,
        c: Floats,
        log_sizes: Floats,
        rows: NDArray[np.intp] | None,
        powers: PowerSums,
    ) -> ReducedModel:
        """The model in the first directions, of these sizes, with what rounding did to it."""
        k, count, width, backend = len(log_sizes), basis.count, C.shape[1], basis.backend
        projected = np.concatenate([H[:count, :k], c[:count]], axis=1)
        sizes, rng = np.sqrt((projected**2).sum(axis=0)), np.random.default_rng(SEED)
        # rounding of all columns is of one kind: of large networks some of them tell, and
        # combinations of all of them where products are dear
        if isinstance(A, Operator) and not A.has_entries:
            weights = rng.standard_normal((k, 4))
            weights /= np.sqrt((weights**2).sum(axis=0))
            Q = basis.combined(weights)
        else:
            some = np.arange(k)
            if len(C) >= MANY_STATES and k > self.samples:
                some = np.sort(rng.choice(k, self.samples, replace=False))
            weights, Q = np.eye(k)[:, some], basis.columns(some)
        AQ = times(A, Q)
        residual = backend.joined([AQ, backend.put(C)])
        # a product is as far off as here, which a second one does not show: Σ_j (A_ij q_j)² by rows
        products = np.append(_product_sizes(A, Q, AQ), np.zeros(width))
        taken = np.concatenate([projected[:, :k] @ weights, projected[:, k:]], axis=1)
        residual = basis.without(residual, taken)
        residuals = np.hypot(2 * backend.lengths(residual), EPS * products)
        if len(residuals) == len(sizes):
            rounding = np.hypot(residuals, EPS * sizes)
        else:
            lengths = np.sqrt((taken[:, :-width] ** 2).sum(axis=0))
            share = float((residuals[:-width] / np.maximum(lengths, TINY)).max())
            steps = share * sizes[:k] + 2 * basis.dropped + EPS * products.max()
            rounding = np.append(steps, residuals[-width:]) + EPS * sizes
        reader = None
        if rows is not None:
            R = backend.triangle(basis.columns(np.arange(k), rows))

            def reader(X: Floats) -> Floats:
                return np.asarray(R[:, : len(X)] @ X)

        return ReducedModel(
            H=H[:k, :k].copy(), c=c[:k].copy(), log_sizes=log_sizes, rounding=rounding,
            read=reader, reached=k, lasting=powers.lasting if k < len(C) else 0.0,
        )  # fmt: skip


class _Responses:
    """Responses as far as they are exact in the directions found so far, to where they fade."""

    def __init__(self, c: Floats, enough: float) -> None:
        self.last, self.enough, self.enough_now, self.count = c, enough, enough, 0
        self.log_norms = [float(np.log(np.sqrt((c**2).sum())))]

    @property
    def faded(self) -> bool:
        """Whether what follows is small, if it decays as it did; with half of it to spare."""
        slope = (self.log_norms[-1] - self.log_norms[self.count // 2]) / max(1, self.count // 2)
        later = 1 - np.exp(min(2 * slope, -EPS))
        return bool(np.exp(self.log_norms[-1]) <= self.enough_now * np.sqrt(later / 2))

    def follow(self, H: Floats, steps: int) -> None:
        """All lags that lie in the space of so many directions whose images are known."""
        width = self.last.shape[1]
        while self.enough and not self.faded and (self.count + 1) * width <= steps:
            self.last = H[:, :steps] @ self.last[:steps]
            self.count += 1
            self.log_norms.append(float(np.log(max(np.sqrt((self.last**2).sum()), TINY))))

    def steps_needed(self) -> float:
        """Steps until they have faded, as they went so far."""
        if not self.enough or self.count < 2:
            return np.inf
        lags = _steps_needed(self.log_norms, float(np.log(self.enough)))
        return float(self.last.shape[1] * lags)


def _size_ahead(A: Any, X: Tall, squares: float, enough: float) -> float:
    """Bound on the size of [X, AX, A²X, …], from Σ‖A^m‖² where the rest of it is small."""
    backend = backend_of(A)
    energy, size = 0.0, float(backend.squares(X).sum())
    while size * squares > max(energy, enough**2 / 4):
        energy += size
        X = times(A, X)
        size = float(backend.squares(X).sum())
    return float(np.sqrt(energy + size * squares))


def _steps_needed(history: list[float], log_enough: float) -> float:
    """Steps until so little is outside of the space, by a line or a parabola that falls."""
    start, middle, end = history[0], history[len(history) // 2], history[-1]
    half = len(history) / 2
    bend = min(0.0, (end - 2 * middle + start) / half**2)
    slope = (end - middle) / half + bend * half / 2
    if bend == 0:
        return len(history) + (log_enough - end) / slope if slope < 0 else np.inf
    # end + slope·t + bend/2·t² = log_enough
    root = np.sqrt(slope**2 - 2 * bend * (end - log_enough))
    return len(history) + float((slope + root) / -bend)


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


def _leakage(H: Floats, c: Floats, passed_on: float, small: float) -> float:
    """Bound on what is missing of K: what leaves the space, and later lags; may be infinite."""
    k, d = H.shape[1], c.shape[1]
    before, asked = np.inf, False
    with np.errstate(all="ignore"):
        for R in longer_responses(H[:k], c, banded=True):
            last, lags = float(np.sqrt((R[:, -d:] ** 2).sum())), R.shape[1] // d
            if last <= small / passed_on:
                break
            if not np.isfinite(last) or lags >= MOST_DEFAULT_LAGS:
                return np.inf
            if last >= before and lags >= 4 * k and not asked:  # an eigenvalue has to tell
                asked = True
                if np.abs(np.linalg.eigvals(H[:k])).max() >= 1:
                    return np.inf
            before = last
    # convolution does not exceed the product of norms
    leaving = float(np.sqrt(((H[k:] @ R) ** 2).sum()))
    return (leaving + last) * passed_on
