"""The tree of words: capacities of single words, of all words of a kind, and the largest."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import EPS, SEED, Floats
from memcurve.state_affine.faults import fault
from memcurve.state_affine.white import Doubling, NotWhiteError, WhiteNetwork, applied, solve

Word = tuple[int, ...]
ROUNDING = 8 * EPS  # of entries in input-normal coordinates
# multiplications and lags of the table by degree, at most
TABLE_WORK = 1e11
TABLE_LAGS = 30


class Outputs(NamedTuple):
    """Letters of what is read: ``out`` (K + 1, M, n) of states, ``direct`` (K + 1, M); its mean."""

    out: Floats
    direct: Floats
    mean: Floats | None = None

    @property
    def factor(self) -> Floats:
        """F with F Fᵀ the covariance of what is read of white states."""
        return np.concatenate([*self.out, self.direct.T], axis=1)

    def covariance(self, G: Floats) -> Floats:
        """Of what is read of states with covariance G."""
        return sum((one @ G @ one.T for one in self.out), self.direct.T @ self.direct)

    def over(self, deviations: Floats) -> Outputs:
        """In units of the noise of each."""
        return Outputs(self.out / deviations[:, None], self.direct / deviations, self.mean)


@dataclass(frozen=True, eq=False)
class Tree:
    """Letters T, r of the states, and letters of what is read, ``out`` and ``direct``.

    The coefficient of a word (k, w) is out_k c_w, where c_w = T…r is that of w in the states, and
    that of a word of one letter is direct_k; its capacity is the square of the length of that.
    ``weights`` [d, k] are those of letter k in the polynomial of degree d. ``G`` is the covariance
    of the states, None for white ones.
    """

    T: Floats
    r: Floats
    out: Floats
    direct: Floats
    weights: Floats
    G: Floats | None = None

    @classmethod
    def of(
        cls, white: WhiteNetwork, read: Outputs | None, weights: Floats, rank: int | None = None
    ) -> Tree:
        """From letters of what is read (None: all states), of this rank or under noise of one."""
        if read is None:
            return cls(white.T, white.r, white.T, white.r, weights)
        # L⁻¹F for L Lᵀ = F Fᵀ (+ 1), the covariance of outputs (under noise), which is not formed
        F = read.factor
        below = F.T if rank is not None else np.concatenate([F.T, np.eye(len(F))])
        order = np.argsort(-np.abs(below).max(axis=1))  # rows of very different sizes keep digits
        Q = np.empty((len(below), min(below.shape)))
        Q[order] = qr(below[order], mode="economic", pivoting=True)[0]
        F = Q[: F.shape[1], :rank].T
        *out, direct = np.split(F, np.arange(1, len(read.out) + 1) * white.size, axis=1)
        return cls(white.T, white.r, np.stack(out), direct.T, weights)

    @classmethod
    def under_noise(cls, T: Floats, r: Floats, G: Floats, read: Outputs, weights: Floats) -> Tree:
        """In the coordinates of the letters themselves, whose covariance G is not inverted."""
        try:
            L = np.linalg.cholesky(read.covariance(G) + np.eye(read.out.shape[1]))
        except np.linalg.LinAlgError as error:
            raise NotWhiteError("the covariance is too ill-conditioned") from error
        out = np.stack([solve_triangular(L, one, lower=True) for one in read.out])
        return cls(T, r, out, solve_triangular(L, read.direct.T, lower=True).T, weights, G)

    def rounded(self) -> Tree:
        """The same with random changes as large as rounding, also of zeros and of the defect."""
        rng, parts = np.random.default_rng(SEED), (self.T, self.r, self.out, self.direct)
        T, r, *read = (p + ROUNDING * rng.standard_normal(p.shape) for p in parts)
        out, direct = (T, r) if self.reads_states else read
        return replace(self, T=T, r=r, out=out, direct=direct)

    @property
    def reads_states(self) -> bool:
        """Whether white states are read, all of them: Σ T c cᵀ Tᵀ has both for its traces."""
        return self.out is self.T

    @cached_property
    def is_finite(self) -> bool:
        """Whether letters are the polynomials themselves, so that there are none beyond."""
        count = self.weights.shape[1]
        return np.array_equal(self.weights, np.eye(count))

    def total(self) -> float:
        """Σ of all capacities, from the coordinates."""
        return self._from_prefix(self.out) + float((self.direct**2).sum())

    def _from_prefix(self, A: Floats) -> float:
        """Of all words that A, one matrix or a stack, is put before: tr A G Aᵀ."""
        return float((A**2).sum() if self.G is None else ((A @ self.G) * A).sum())

    def letter(self, degree: int, of: Floats) -> Floats:
        """The polynomial letter of a degree, of T, r, out or direct."""
        if degree < len(self.weights):
            row = self.weights[degree]
            return np.asarray(of[degree] if self.is_finite else np.tensordot(row, of, 1))
        if not self.is_finite:
            raise UncertainResultError(fault("degree", last=len(self.weights) - 1, got=degree))
        return np.zeros(of.shape[1:])

    def coefficient(self, word: Word) -> Floats:
        """Coefficient of a word, newest letter first, in what is read."""
        if len(word) == 1:
            return self.letter(word[0], self.direct)
        c = self.letter(word[-1], self.r)
        for k in word[-2:0:-1]:
            c = self.letter(k, self.T) @ c
        return np.asarray(self.letter(word[0], self.out) @ c)

    def capacity(self, word: Word) -> float:
        """Of one word."""
        c = self.coefficient(word)
        return float(c @ c)

    def explained(self, target: Mapping[Word, float]) -> float:
        """Variance of a target Σ d_w Φ_w that is explained: ‖Σ d_w c_w‖²."""
        b = sum((d * self.coefficient(w) for w, d in target.items()), np.zeros(self.out.shape[1]))
        return float(b @ b)

    def line(self, lags: int, negligible: float) -> Floats:
        """The memory curve up to ``lags``, or until all that follow are negligible."""
        direct, c = self.letter(1, self.direct), self.letter(1, self.r)
        values = [float(direct @ direct)]
        while len(values) < lags and float(c @ c) > negligible:
            v = self.out[0] @ c
            values.append(float(v @ v))
            c = self.T[0] @ c
        return np.array(values)

    @cached_property
    def _over_delays(self) -> Doubling:
        return Doubling(self.T[0])

    def _degrees(self, top: int) -> tuple[range, dict[int, tuple[Floats, Floats]]]:
        """Degrees up to ``top`` that are known, and the letters (T, out) that are not zero."""
        last = len(self.weights) - 1
        degrees = range(1, (top if self.is_finite else min(top, last)) + 1)
        letters = {}
        for k in range(min(top, last) + 1):
            T = self.letter(k, self.T)
            out = T if self.reads_states else self.letter(k, self.out)
            if T.any() or out.any():
                letters[k] = T, out
        return degrees, letters

    def by_degree(self, top: int) -> Iterator[tuple[int, float]]:
        """Totals of degrees up to ``top``: G_d = T_0 G_d T_0ᵀ + r_d r_dᵀ + Σ_k T_k G_{d−k} T_kᵀ."""
        G = dict[int, Floats]()
        degrees, letters = self._degrees(top)
        for d in degrees:
            r = self.letter(d, self.r)
            X = np.outer(r, r)
            for k, (T, _) in letters.items():
                if 0 < k < d:
                    X = X + T @ G[d - k] @ T.T
            G[d] = self._over_delays(X) if X.any() else X
            total = float(np.trace(G[d]))
            if not self.reads_states:
                direct = self.letter(d, self.direct)
                reads = [(out @ G[d - k]) * out for k, (_, out) in letters.items() if k < d]
                total = float(direct @ direct) + sum(float(one.sum()) for one in reads)
            yield d, total

    def table(self, top: int, lags: int, negligible: float = 1e-6) -> Floats:
        """Totals (degrees, lags) by degree and oldest lag, until what follows is ``negligible``."""
        degrees, letters = self._degrees(top)
        firsts = {d: self.letter(d, self.r)[:, None] for d in degrees}
        X = {d: first for d, first in firsts.items() if first.any()}  # Σ c cᵀ = X Xᵀ of each degree
        columns = [[float((self.letter(d, self.direct) ** 2).sum()) for d in degrees]]
        while len(columns) < lags and sum(float((x**2).sum()) for x in X.values()) > negligible:
            before, X = X, {}
            totals = dict.fromkeys(degrees, 0.0)
            for d in degrees:
                pairs = [(*letters[k], before[d - k]) for k in letters if d - k in before]
                if pairs:
                    steps = [T @ x for T, _, x in pairs]
                    reads = steps if self.reads_states else [out @ x for _, out, x in pairs]
                    totals[d] = sum(float((y**2).sum()) for y in reads)
                    X[d] = np.concatenate(steps, axis=1)
                    if X[d].shape[1] > 2 * len(X[d]):  # more words than directions
                        X[d] = np.asarray(np.linalg.qr(X[d].T, mode="r")).T
            columns.append(list(totals.values()))
        return np.array(columns).T

    def by_delay(self, lags: int) -> Floats:
        """Totals of all functions of z_{t−j}, z_{t−j−1}, … alone, j = 0 … lags − 1."""
        totals, A = [self.total()], self.out[0]
        for _ in range(lags - 1):
            totals.append(self._from_prefix(A))
            A = A @ self.T[0]
        return np.array(totals)

    def by_window(self, lags: int) -> Floats:
        """Totals of all words whose oldest lag is m = 0 … lags − 1."""
        totals, X = [float((self.direct**2).sum())], self.r.T @ self.r
        for _ in range(lags - 1):
            before, X = X, applied(self.T, X)
            read = X if self.reads_states else applied(self.out, before)
            totals.append(float(np.trace(read)))
        return np.array(totals)

    def affordable_lags(self, degrees: int) -> int:
        """Lags of a table that are computed in moderate time."""
        letters = min(len(self.weights), degrees + 1)
        products = 2 * degrees * letters * float(self.T.shape[1]) ** 3
        return int(np.clip(TABLE_WORK / max(products, 1.0), 4, TABLE_LAGS))


class Search:
    """Words in exactly decreasing order of capacity, found as they are asked for.

    A newer letter never raises a capacity of the states, so that ‖c_w‖² bounds all words that end
    with w; where not all states are read, or with noise, so does their total c_wᵀ H c_w with
    H = Σ outᵀout + Σ TᵀHT. Two heaps: words still to be extended, by that bound, and words that
    were extended, by their capacity.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree, self.words = tree, list[tuple[Word, float]]()
        self._found: list[tuple[float, Word]] = []
        self._open: list[tuple[float, Word, Floats]] = []
        self._beyond = 0.0  # the most that a word of an unlisted degree may have
        self._is_new = True

    @cached_property
    def _dual(self) -> Floats | None:
        """H, and some more than its error."""
        T, out = self.tree.T, self.tree.out
        if self.tree.reads_states or not T.size:
            return None
        H = solve(T.transpose(0, 2, 1), sum((o.T @ o for o in out), np.zeros(T.shape[1:])), 1e-12)
        return np.asarray(H + 1e-11 * np.linalg.norm(H, 2) * np.eye(len(H)))

    def _add(self, word: Word, steps: Floats, reads: Floats, most: float = np.inf) -> None:
        """Put letters before a word: none of what that gives has more than ``most``, its bound."""
        tree = self.tree
        if not tree.is_finite:
            all_of = float((reads**2).sum())
            steps, reads = tree.weights @ steps, tree.weights @ reads
            self._beyond = max(self._beyond, all_of - float((reads**2).sum()))
        for k, (step, read) in enumerate(zip(steps, reads, strict=True)):
            capacity, bound = min(float(read @ read), most), min(float(step @ step), most)
            if self._dual is not None:
                total = float(step @ self._dual @ step)
                bound = min(bound, total) if tree.G is None else min(total, most)
            if capacity > 1e-300:
                heapq.heappush(self._found, (-capacity, (k, *word)))
            if bound > 1e-300:
                heapq.heappush(self._open, (-bound, (k, *word), step))

    def next(self) -> tuple[Word, float] | None:
        """The next largest; None where none is left."""
        tree = self.tree
        if self._is_new:
            self._add((), tree.r, tree.direct)
            self._is_new = False
        while self._open and (not self._found or self._found[0][0] > self._open[0][0]):
            size, word, c = self._open[0]
            steps = tree.T @ c
            reads = steps if tree.reads_states else tree.out @ c
            heapq.heappop(self._open)  # only now: an interrupt before loses nothing
            self._add(word, steps, reads, -size)
        if not self._found:
            return None
        size, word = self._found[0]
        if -size < self._beyond - 1e3 * EPS:
            facts = {"last": len(tree.weights) - 1, "size": -size}
            raise UncertainResultError(fault("unlisted_degrees", **facts))
        heapq.heappop(self._found)
        self.words.append((word, -size))
        return self.words[-1]

    def first(self, count: int) -> Sequence[tuple[Word, float]]:
        """The largest ones."""
        while len(self.words) < count and self.next() is not None:
            pass
        return self.words[:count]

    def above(self, level: float) -> Sequence[tuple[Word, float]]:
        """All words with at least this capacity: none is missing."""
        while not self.words or self.words[-1][1] >= level:
            if self.next() is None:
                break
        return [pair for pair in self.words if pair[1] >= level]
