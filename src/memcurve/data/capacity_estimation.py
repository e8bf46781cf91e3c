"""Capacities of all targets: R² of each, which are more than chance, and these together.

*The scan.* Sums Σ_t q_t w_{t−τ} for all lags at once, by one Fourier transform a block of time,
give R² of every target, which is corrected for leverage and compared with chance.

*The joint estimate.* One R² a target counts what the targets share by chance several times, so that
their sum has a large variance and exceeds the number of states. Regress the states on the
significant targets instead: with whitened states x = Bᵀw + e for orthonormal targets w,

    capacity of target s = b_sᵀ Γ⁻¹ b_s,    Γ = BᵀB + Cov(e),

which sum to r − tr Γ⁻¹Cov(e) ≤ r, and to r without error if the targets explain the states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from memcurve.data.capacity_targets import Pattern, Polynomials, Reach, columns, patterns

Floats = NDArray[np.float64]

#: A block is this many times as long as the lags it must overlap: longer ones waste less on the
#: overlap, shorter ones leave the sums to matrix products. Measured best from 4 to 8.
BLOCK_PER_LAG = 6
#: Shortest block: below it the overhead of many small transforms shows.
SHORTEST_BLOCK = 256
#: Numbers in one batch of targets (32 MiB): large enough for fast products, small beside states.
BATCH_NUMBERS = 1 << 22
#: Targets whose variance is below this share of that of an orthonormal one do not vary.
NO_VARIANCE = 1e-12
#: Numbers of the targets that are in memory at a time (64 MiB).
CHUNK_NUMBERS = 1 << 23
#: Directions of the Gram matrix of the targets below this share of the largest are dropped:
#: they come from inputs that repeat, whose targets coincide.
COINCIDENT = 1e-10
#: The share of the state covariance left to the residual is never estimated below this.
LEAST_RESIDUAL = 0.05


@dataclass(frozen=True, eq=False)
class Basis:
    """Orthonormal basis Q of the centred states, from the row ``start`` of the recording on."""

    Q: Floats
    start: int

    @property
    def rows(self) -> int:
        """Number of rows n."""
        return len(self.Q)

    @property
    def rank(self) -> int:
        """Number of columns r."""
        return int(self.Q.shape[1])

    def weights(self) -> Floats:
        """q_t² / (1 − q_t² − 1/n): what a residual of unit size at t adds to R² by chance.

        q_t² + 1/n is the leverage of row t; at equal leverages the weights are r/(n − 1 − r).
        """
        leverage = np.einsum("tk,tk->t", self.Q, self.Q)
        return np.asarray(leverage / np.maximum(1 - leverage - 1 / self.rows, 1 / self.rows))


def state_basis(rows: Floats, start: int) -> tuple[Basis, int]:
    """Orthonormal basis of the centred states, and how many of them are constant."""
    n, states = rows.shape
    if n < states + 3:
        raise ValueError(
            f"`states` must have more rows than states after the first {start} steps (longest lag "
            f"and washout), got {n} rows for {states} states; record more, or give smaller lags."
        )
    centred = rows - rows.mean(axis=0)
    scale = np.sqrt(np.einsum("tk,tk->k", centred, centred))
    # rounding of the mean leaves a constant of up to √n·eps in each of n rows
    varying = scale > n * np.finfo(float).eps * np.abs(rows).max(axis=0)
    if not varying.any():
        raise ValueError("`states` must vary in time, got constant columns only; check the data.")
    factor, triangle = np.linalg.qr(centred[:, varying] / scale[varying])
    left, singular, _ = np.linalg.svd(triangle)
    kept = singular > singular[0] * max(n, states) * np.finfo(float).eps
    Q = np.ascontiguousarray(factor @ left[:, kept])
    return Basis(Q, start), int((~varying).sum())


class Correlator:
    """Correlations of fixed columns q with any series w, over the lags 0 … ``lags``.

    With blocks b of ``step`` rows and F ≥ step + lags points of the transform,

        Σ_t q_t w_{t−τ} = F⁻¹[ Σ_b conj(F q_b) · F w_b ](lags − τ),

    and the sum over blocks is, at every frequency, one product of matrices.

    Parameters
    ----------
    fixed : (n, k) array
        The columns q.
    lags : int
        The longest lag.
    """

    def __init__(self, fixed: Floats, lags: int) -> None:
        from scipy.fft import next_fast_len, rfft

        self.rows, self.lags = len(fixed), lags
        self.points = int(next_fast_len(max(BLOCK_PER_LAG * (lags + 1), SHORTEST_BLOCK), real=True))
        self.step = self.points - lags
        self.blocks = -(-self.rows // self.step)
        padded = np.zeros((self.blocks * self.step, fixed.shape[1]))
        padded[: self.rows] = fixed
        blocks = padded.reshape(self.blocks, self.step, -1)
        transform = rfft(blocks, self.points, axis=1)
        self._fixed = np.ascontiguousarray(transform.transpose(1, 2, 0).conj())

    def sums(self, series: Floats, chosen: slice = slice(None)) -> Floats:
        """Return Σ_t q_t w_{t−τ} as a (lags + 1, k, m) array.

        Parameters
        ----------
        series : (m, lags + n) array
            The series w, each with the ``lags`` values before the first row of q in front.
        chosen : slice
            The columns of q that are wanted.
        """
        from scipy.fft import irfft, rfft

        length = self.blocks * self.step + self.lags
        padded = np.zeros((len(series), length))
        padded[:, : series.shape[1]] = series
        row, item = padded.strides
        shape = (self.blocks, len(series), self.points)
        overlapping = as_strided(padded, shape, (self.step * item, row, item), writeable=False)
        transform = rfft(overlapping, axis=2)
        product = np.matmul(self._fixed[:, chosen], transform.transpose(2, 0, 1))
        return np.asarray(irfft(product, self.points, axis=0)[self.lags :: -1], dtype=np.float64)


def sliding_sums(series: Floats, rows: int) -> Floats:
    """Σ_{t<rows} w_{t+j} for every start j, as a (lags + 1, m) array ordered by lag.

    ``series`` is (m, lags + rows); lag τ starts at j = lags − τ.
    """
    ends = np.zeros((len(series), series.shape[1] + 1))
    np.cumsum(series, axis=1, out=ends[:, 1:])
    return np.ascontiguousarray((ends[:, rows:] - ends[:, : ends.shape[1] - rows]).T[::-1])


@dataclass(eq=False)
class Scan:
    """What the scan of one degree found."""

    reach: Reach
    count: int = 0
    #: Σ of the corrected R² over all targets, and over those that are not significant.
    uncut: float = 0.0
    left_out: float = 0.0
    #: Σ over all targets of the squared cut: how much passes by chance, if anything does.
    chance: float = 0.0
    chosen: list[tuple[Pattern, int]] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)
    single: list[float] = field(default_factory=list)


def beta_cut(rank: int, rows: int, threshold: float) -> float:
    """R² that a target unrelated to the states exceeds with probability ``threshold``.

    R² ~ Beta(r/2, (n − 1 − r)/2) for regression of an independent Gaussian target on r states.
    """
    from scipy.stats import beta

    return float(beta.isf(threshold, rank / 2, (rows - 1 - rank) / 2))


def scan(
    basis: Basis, polynomials: Polynomials, plan: Sequence[Reach], threshold: float
) -> list[Scan]:
    """Look at all targets of every degree of ``plan``."""
    weights = basis.weights()
    fixed = np.column_stack([basis.Q, weights])
    cut = beta_cut(basis.rank, basis.rows, threshold)
    return [_scanned(basis, fixed, polynomials, reach, cut, threshold) for reach in plan]


def _scanned(
    basis: Basis,
    fixed: Floats,
    polynomials: Polynomials,
    reach: Reach,
    cut: float,
    threshold: float,
) -> Scan:
    found = Scan(reach)
    correlator = Correlator(fixed, reach.lag)
    shapes = list(patterns(reach, polynomials.highest))
    batch = max(1, BATCH_NUMBERS // (basis.rows + reach.lag))
    for first in range(0, len(shapes), batch):
        some = shapes[first : first + batch]
        raw, bias = r_squared(correlator, basis, polynomials, some, reach.lag)
        spans = np.array([pattern.offsets[-1] for pattern in some])
        # a shift that takes the last factor beyond the longest lag is no target of this degree
        valid = np.arange(reach.lag + 1)[:, None] + spans <= reach.lag
        single = raw - (1 - raw) * bias
        # where the target is large at rows of large leverage, chance gives more than the Beta law
        cuts = cut * np.maximum(bias / (basis.rank / (basis.rows - 1 - basis.rank)), 1)
        passed = valid & (raw > cuts)
        found.count += int(valid.sum())
        found.uncut += float(single[valid].sum())
        found.left_out += float(single[valid & ~passed].sum())
        found.chance += threshold * float((cuts[valid] ** 2).sum())
        for shift, k in np.argwhere(passed):
            found.chosen.append((some[k], int(shift)))
            found.raw.append(float(raw[shift, k]))
            found.single.append(float(single[shift, k]))
    return found


def r_squared(
    correlator: Correlator,
    basis: Basis,
    polynomials: Polynomials,
    shapes: Sequence[Pattern],
    lag: int,
) -> tuple[Floats, Floats]:
    """R² of every pattern at the shifts 0 … ``lag``, and its leverage-weighted bias at R² = 0.

    With centred targets w, R² = |Qᵀw|²/|w|² and the bias is Σ_t h_t w_t²/Σ_t w_t² for the weights
    h of :meth:`Basis.weights`. Both are (lag + 1, patterns) arrays. Shifts that reach further back
    than ``lag`` mean nothing: their first values are missing.
    """
    n, r = basis.Q.shape
    w = _padded(polynomials, shapes, basis.start - lag, basis.start + n)
    sums = correlator.sums(w)
    squares = w * w
    mean = sliding_sums(w, n) / n
    energy = sliding_sums(squares, n) - n * mean**2
    weighted = correlator.sums(squares, slice(r, r + 1))[:, 0]
    # the states are centred, so the mean of the target drops out of Qᵀw; not of the weights
    weighted += mean * (mean * basis.weights().sum() - 2 * sums[:, r])
    explained = np.einsum("tks,tks->ts", sums[:, :r], sums[:, :r])
    varies = energy > NO_VARIANCE * n
    energy = np.where(varies, energy, 1.0)
    raw = np.where(varies, np.clip(explained / energy, 0, 1), 0.0)
    return raw, np.where(varies, np.maximum(weighted / energy, 0), 0.0)


def _padded(polynomials: Polynomials, shapes: Sequence[Pattern], start: int, stop: int) -> Floats:
    """Patterns at shift 0 from ``start`` on; zero where a factor would lie before the recording."""
    made = np.zeros((len(shapes), stop - start))
    for row, pattern in zip(made, shapes, strict=True):
        begin = max(start, pattern.offsets[-1])
        row[begin - start :] = columns(polynomials.values, [(pattern, 0)], begin, stop)[0]
    return made


@dataclass(frozen=True, eq=False)
class Joint:
    """Capacities with their errors, and the errors of their sums by group and over all."""

    capacity: Floats
    error: Floats
    group_errors: Floats
    total_error: float


def joint_capacities(
    basis: Basis,
    polynomials: Polynomials,
    chosen: Sequence[tuple[Pattern, int]],
    groups: NDArray[np.intp],
    count: int,
) -> Joint:
    """Capacities b_sᵀΓ⁻¹b_s of the ``chosen`` targets, less their bias.

    Bias: b̂_s has the covariance E(w_s² eeᵀ)/n, which adds Σ_t w_ts² (e_tᵀΓ⁻¹e_t)/n² by chance,
    reduced by the share 1 − capacity that chance is left with. Errors: the influence function

        ψ_t = 2 (v·e_t)(w_ts − v·g_t) − (v·e_t)²,    v = Γ⁻¹b_s,  g_t = Bᵀw_t,

    averaged over ⌊√n⌋ blocks in time, whose means are nearly independent, and the variance
    2 tr (Γ⁻¹Cov e)²/n² that chance has where b_s = 0.

    ``groups`` gives each target's group, 0 … ``count`` − 1, for the errors of sums over groups.
    """
    n, k = basis.rows, len(chosen)
    if k == 0:
        return Joint(np.zeros(0), np.zeros(0), np.zeros(count), 0.0)
    gram, cross, mean = _moments(basis, polynomials, chosen)
    scale = np.sqrt(np.diag(gram) / n)
    inverse = _inverse(gram / np.outer(scale, scale))
    B = inverse @ (cross / scale[:, None]) * np.sqrt(n)
    variances = np.diag(inverse)  # of each b̂_s, in units of the residual's
    explained = B.T @ (cross / scale[:, None]) / np.sqrt(n)
    covariance = (np.eye(basis.rank) - (explained + explained.T) / 2) * (n / (n - 1 - k))
    # B̂ᵀB̂ has Σ_s Var b̂_s too much, which is taken from the residual's share
    share = max(1 - float(variances.sum()), LEAST_RESIDUAL)
    metric = np.linalg.inv(B.T @ B + share * covariance)
    V, spread = metric @ B.T, metric @ covariance
    leverage = np.clip(np.einsum("sr,rs->s", B, V), 0, 1)

    blocks = _Blocks(n, k, count)
    noise = np.zeros(k)
    for rows, w in _chunks(basis, polynomials, chosen):
        w = (w - mean[:, None]) / scale[:, None]
        fitted = w.T @ B
        e = basis.Q[rows] * np.sqrt(n) - fitted
        noise += (w * w) @ np.einsum("tr,rq,tq->t", e, metric, e)
        along = e @ V
        blocks.add(rows.start, 2 * along * (w.T - fitted @ V) - along**2, groups)
    bias = noise / n * variances * (1 - leverage) * (n / (n - 1 - k))
    second = 2 * float(np.trace(spread @ spread)) * (variances * (1 - leverage)) ** 2
    by_group = np.bincount(groups, weights=second, minlength=count)
    return Joint(
        capacity=np.clip(leverage - bias, 0, 1),
        error=np.sqrt(blocks.variance(blocks.single) + second),
        group_errors=np.sqrt(blocks.variance(blocks.grouped) + by_group),
        total_error=float(
            np.sqrt(blocks.variance(blocks.grouped.sum(1, keepdims=True))[0] + second.sum())
        ),
    )


def _chunks(
    basis: Basis, polynomials: Polynomials, chosen: Sequence[tuple[Pattern, int]]
) -> Iterator[tuple[slice, Floats]]:
    """Rows of the basis a few at a time, with the targets (k, rows) there."""
    size = max(1, CHUNK_NUMBERS // len(chosen))
    for first in range(0, basis.rows, size):
        last = min(first + size, basis.rows)
        times = basis.start + first, basis.start + last
        yield slice(first, last), columns(polynomials.values, chosen, *times)


def _moments(
    basis: Basis, polynomials: Polynomials, chosen: Sequence[tuple[Pattern, int]]
) -> tuple[Floats, Floats, Floats]:
    """Gram matrix of the centred targets, their products with Q, and their means."""
    k = len(chosen)
    gram, cross, total = np.zeros((k, k)), np.zeros((k, basis.rank)), np.zeros(k)
    for rows, w in _chunks(basis, polynomials, chosen):
        gram += w @ w.T
        cross += w @ basis.Q[rows]
        total += w.sum(axis=1)
    mean = total / basis.rows
    return gram - basis.rows * np.outer(mean, mean), cross, mean


def _inverse(gram: Floats) -> Floats:
    """Inverse of a Gram matrix, on the directions in which its targets differ."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > COINCIDENT * values[-1]
    return np.asarray((vectors[:, kept] / values[kept]) @ vectors[:, kept].T)


class _Blocks:
    """Means over blocks of time of series that arrive a few rows at a time."""

    def __init__(self, rows: int, series: int, groups: int) -> None:
        self.count = max(2, int(np.sqrt(rows)))
        self.rows = rows
        self.single = np.zeros((self.count, series))
        self.grouped = np.zeros((self.count, groups))

    def add(self, first: int, psi: Floats, groups: NDArray[np.intp]) -> None:
        """Add the rows ``first`` … of ψ (rows, series)."""
        block = (np.arange(first, first + len(psi)) * self.count) // self.rows
        starts = np.flatnonzero(np.diff(block, prepend=-1))
        sums = np.add.reduceat(psi, starts, axis=0)
        self.single[block[starts]] += sums
        for group in range(self.grouped.shape[1]):
            self.grouped[block[starts], group] += sums[:, groups == group].sum(axis=1)

    def variance(self, sums: Floats) -> Floats:
        """Variance of the mean of each series, from the sums over blocks."""
        means = sums * (self.count / self.rows)
        return np.asarray(means.var(axis=0, ddof=1) / self.count)
