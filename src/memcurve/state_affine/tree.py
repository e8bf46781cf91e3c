"""The tree of words: capacities of single words, of all words of a kind, and the largest."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import EPS, Floats
from memcurve.state_affine.white import Doubling, WhiteNetwork, applied, solve

Word = tuple[int, ...]
#: Work that the table by degree and lag may take, in multiplications. Doubled: large networks get
#: twice the lags, in twice the time.
TABLE_WORK = 1e11
#: Lags of that table at most. Doubled: long memory is seen further.
TABLE_LAGS = 30


@dataclass(frozen=True, eq=False)
class Tree:
    """White letters T, r of the states, and letters of what is read.

    These are ``out``, of states, and ``direct``, in coordinates in which the capacity of a word is
    the square of the length of its coefficient.
    The coefficient of the word (k, w) is out_k c_w, where c_w = T…r is that of w in the states, and
    that of a word of one letter k is direct_k. ``weights`` [d, k] are those of letter k in the
    polynomial of degree d; ``is_finite`` says that there are no polynomials beyond.
    """

    T: Floats
    r: Floats
    out: Floats
    direct: Floats
    weights: Floats
    is_finite: bool
    G: Floats | None = None

    @classmethod
    def under_noise(
        cls, T: Floats, r: Floats, G: Floats, out: Floats, direct: Floats, weights: Floats,
        noise: Floats,
    ) -> Tree:  # fmt: skip
        """In the coordinates of the letters themselves, whose covariance G is not inverted."""
        out, direct = out / noise[:, None], direct / noise
        gram = direct.T @ direct
        for one in out:
            gram += one @ G @ one.T
        values, U = np.linalg.eigh(gram)
        X = U / np.sqrt(np.maximum(values, 0) + 1)
        return cls(T, r, X.T @ out, direct @ X, weights, _is_finite(weights), G)

    @classmethod
    def of(
        cls,
        white: WhiteNetwork,
        out: Floats | None,
        direct: Floats | None,
        weights: Floats,
        *,
        rank: int | None = None,
        noise: Floats | None = None,
    ) -> Tree:
        """From white letters and those of what is read of white states, of exact ``rank``.

        Without ``out`` all states are read. ``noise`` are standard deviations, one an output.
        """
        is_finite = _is_finite(weights)
        if out is None or direct is None:
            if noise is None:
                return cls(white.T, white.r, white.T, white.r, weights, is_finite)
            out, direct = white.states @ white.T, white.r @ white.states.T
        if noise is not None:
            out, direct = out / noise[:, None], direct / noise
        # the covariance of outputs is F Fᵀ; the singular values of F lose half the digits less
        F = np.concatenate([*out, direct.T], axis=1)
        U, s, _ = np.linalg.svd(F, full_matrices=False)
        if noise is None:
            rank = len(s) if rank is None else rank
            U, s = U[:, :rank], s[:rank]
            X = U / np.where(s > 0, s, 1.0)
        else:
            X = U / np.sqrt(s**2 + 1)
        return cls(white.T, white.r, X.T @ out, direct @ X, weights, is_finite)

    @property
    def reads_states(self) -> bool:
        """Whether all states are read without noise."""
        return self.out is self.T

    def total(self) -> float:
        """Σ of all capacities, from the coordinates."""
        return self._size_of(self.out) + float((self.direct**2).sum())

    def _size_of(self, A: Floats) -> float:
        """Trace of A G Aᵀ, for one matrix or a stack."""
        return float((A**2).sum() if self.G is None else ((A @ self.G) * A).sum())

    def letter(self, degree: int, of: Floats) -> Floats:
        """The polynomial letter of a degree, of T, r, out or direct."""
        if degree >= len(self.weights):
            if not self.is_finite:
                raise UncertainResultError(
                    f"degrees up to {len(self.weights) - 1} are known for this network, whose "
                    f"alphabet has no end; got {degree}."
                )
            return np.zeros(of.shape[1:])
        if self.is_finite:
            return np.asarray(of[degree])
        return np.asarray(np.tensordot(self.weights[degree], of, 1))

    def capacity(self, word: Word) -> float:
        """Of one word, newest letter first."""
        c = self.coefficient(word)
        return float(c @ c)

    def line(self, lags: int, degree: int = 1, negligible: float = 0.0) -> Floats:
        """Capacities of φ_degree(z_{t−τ}), τ < lags, or until all that follow are negligible."""
        c = self.letter(degree, self.direct)
        found, c = [float(c @ c)], self.letter(degree, self.r)
        while len(found) < lags and float(c @ c) > negligible:
            v = self.out[0] @ c
            found.append(float(v @ v))
            c = self.T[0] @ c
        return np.array(found)

    @cached_property
    def _over_delays(self) -> Doubling:
        return Doubling(self.T[0])

    def by_degree(self, top: int, enough: float) -> dict[int, float]:
        """Totals of all words of degree 1, 2, … ``top``, or until their sum is ``enough``.

        G_d = Σ c_w c_wᵀ over words of degree d solves an ordinary Stein equation,
        G_d − T_0 G_d T_0ᵀ = r_d r_dᵀ + Σ_k T_k G_{d−k} T_kᵀ.
        """
        parts: dict[int, Floats] = {}
        totals: dict[int, float] = {}
        letters: dict[int, tuple[Floats, Floats]] = {}
        last = len(self.weights) - 1
        for d in range(1, top + 1):
            if not self.is_finite and d > last:
                break
            r, direct = self.letter(d, self.r), self.letter(d, self.direct)
            X, single = np.outer(r, r), float(direct @ direct)
            if d <= last:
                letters[d] = (self.letter(d, self.T), self.letter(d, self.out))
            for k, (T, out) in letters.items():
                if d - k in parts and T.any() | out.any():
                    X = X + T @ parts[d - k] @ T.T
                    single += _traced(out, parts[d - k])
            parts[d] = self._over_delays(X) if X.any() else X
            totals[d] = single + _traced(self.out[0], parts[d])
            if sum(totals.values()) >= enough:
                break
        return totals

    def by_delay(self, lags: int) -> Floats:
        """Totals of all functions of z_{t−j}, z_{t−j−1}, … alone, j = 0 … lags − 1."""
        found, A = [self.total()], self.out[0]
        for _ in range(lags - 1):
            found.append(self._size_of(A))
            A = A @ self.T[0]
        return np.array(found)

    def by_window(self, lags: int) -> Floats:
        """Totals of all words whose oldest lag is m = 0 … lags − 1."""
        found, X = [float((self.direct**2).sum())], self.r.T @ self.r
        while len(found) < lags:
            step = applied(self.T, X)
            read = float(np.trace(step)) if self.reads_states else self._read(X)
            found.append(read)
            X = step
        return np.array(found)

    def _read(self, X: Floats) -> float:
        return sum(_traced(out, X) for out in self.out)

    def table(self, degrees: int, lags: int, negligible: float = 1e-6) -> Floats:
        """Totals (degrees, lags) of all words of a degree and with an oldest lag.

        Lags end where what follows is ``negligible``.
        """
        degrees = degrees if self.is_finite else min(degrees, len(self.weights) - 1)
        used = range(min(degrees, len(self.weights) - 1) + 1)
        letters = {k: (self.letter(k, self.T), self.letter(k, self.out)) for k in used}
        live = [k for k, pair in letters.items() if pair[0].any() or pair[1].any()]
        columns, parts = list[Floats](), dict[int, Floats]()
        first = np.zeros(degrees)
        for d in range(1, degrees + 1):
            direct, r = self.letter(d, self.direct), self.letter(d, self.r)
            first[d - 1] = direct @ direct
            if r.any():
                parts[d] = np.outer(r, r)
        columns.append(first)
        while len(columns) < lags and sum(float(np.trace(X)) for X in parts.values()) > negligible:
            new, column = dict[int, Floats](), np.zeros(degrees)
            for d in range(1, degrees + 1):
                for k in [k for k in live if d - k in parts]:
                    T, out = letters[k]
                    step = T @ parts[d - k] @ T.T
                    both = (
                        float(np.trace(step)) if self.reads_states else _traced(out, parts[d - k])
                    )
                    column[d - 1] += both
                    new[d] = new[d] + step if d in new else step
            columns.append(column)
            parts = new
        return np.array(columns).T

    def affordable_lags(self, degrees: int) -> int:
        """Lags of a table that are computed in moderate time."""
        n, letters = self.T.shape[1], min(len(self.weights), degrees + 1)
        products = 2 * degrees * letters * float(n) ** 3
        return int(np.clip(TABLE_WORK / max(products, 1.0), 4, TABLE_LAGS))

    def explained(self, target: Mapping[Word, float]) -> float:
        """Σ over the target's expansion: bᵀMb for b = Σ d_w c_w, the variance that is explained."""
        b: Any = 0.0
        for word, coefficient in target.items():
            b = b + coefficient * self.coefficient(word)
        return float(np.dot(b, b))

    def coefficient(self, word: Word) -> Floats:
        """Coefficient of a word in what is read, in coordinates in which M = I."""
        if len(word) == 1:
            return self.letter(word[0], self.direct)
        c = self.letter(word[-1], self.r)
        for k in word[-2:0:-1]:
            c = self.letter(k, self.T) @ c
        return np.asarray(self.letter(word[0], self.out) @ c)


def _is_finite(weights: Floats) -> bool:
    """Whether letters are polynomials themselves."""
    return len(weights) == weights.shape[1] and np.array_equal(weights, np.eye(len(weights)))


def _traced(out: Floats, X: Floats) -> float:
    """Trace of out X outᵀ."""
    return float(np.sum((out @ X) * out))


class Search:
    """Words in exactly decreasing order of capacity, found as they are asked for.

    A newer letter never raises a capacity of the states, and what is read is a part of these, so
    that ‖c_w‖² bounds all words that end with w. Two heaps: words whose newer letters are still to
    be looked at, by that bound, and words that were looked at, by their capacity.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree, self.words = tree, list[tuple[Word, float]]()
        self._found: list[tuple[float, Word]] = []
        self._open: list[tuple[float, Word, Floats]] = []
        self._beyond = 0.0
        if not tree.is_finite:
            self._beyond = float((tree.direct**2).sum() - ((tree.weights @ tree.direct) ** 2).sum())
        self._dual: Floats | None = None
        if tree.G is not None:  # all extensions together, where one alone has no bound
            first = sum((out.T @ out for out in tree.out), np.zeros_like(tree.G))
            self._dual = solve(tree.T.transpose(0, 2, 1), first, 1e-12)
        pairs = zip(self._mixed(tree.direct), self._mixed(tree.r), strict=True)
        for k, (direct, r) in enumerate(pairs):
            if k:
                heapq.heappush(self._found, (-float(direct @ direct), (k,)))
                heapq.heappush(self._open, (-self._bound(r), (k,), r))

    def _mixed(self, vectors: Floats) -> Floats:
        """Of letters, those of polynomials."""
        return vectors if self.tree.is_finite else np.asarray(self.tree.weights @ vectors)

    def _bound(self, c: Floats) -> float:
        """Of all words that a word of coefficient c is the older part of."""
        return float(c @ c if self._dual is None else (c @ self._dual @ c) * (1 + 1e-9))

    def _expand(self) -> None:
        _, word, c = self._open[0]
        tree = self.tree
        steps = np.stack([T @ c for T in tree.T])
        reads = steps if tree.reads_states else np.stack([out @ c for out in tree.out])
        if not tree.is_finite:
            rest = float((reads**2).sum() - (self._mixed(reads) ** 2).sum())
            self._beyond = max(self._beyond, rest)
        steps, reads = self._mixed(steps), self._mixed(reads)
        heapq.heappop(self._open)  # only now: an interrupt before loses nothing
        for k, (step, read) in enumerate(zip(steps, reads, strict=True)):
            size, bound = float(read @ read), self._bound(step)
            if size > 0:
                heapq.heappush(self._found, (-size, (k, *word)))
            if bound > 0:
                heapq.heappush(self._open, (-bound, (k, *word), step))

    def next(self) -> tuple[Word, float] | None:
        """The next largest; None where none is left."""
        while self._open and (not self._found or self._found[0][0] > self._open[0][0]):
            if self._open[0][0] > -1e-300:
                break
            self._expand()
        if not self._found or self._found[0][0] > -1e-300:
            return None
        size, word = self._found[0]
        if -size < self._beyond - 1e3 * EPS:
            raise UncertainResultError(
                f"words of degrees above {len(self.tree.weights) - 1} may be larger than "
                f"{-size:.3g}; ask for fewer words, or for larger ones."
            )
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
