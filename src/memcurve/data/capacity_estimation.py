"""Capacities of all targets: their definition, R² of each, and the joint estimate.

*The targets* are products of polynomials of lagged inputs, orthonormal under the law of the input;
they come in patterns of degrees and lag differences that are shifted in time.

*The scan* gives R² of every target, corrected for leverage and compared with chance.

*The joint estimate* regresses the states on the strongest targets, significant or not, since what
these share by chance would count several times in single R²: with whitened states x = Bᵀw + e,
orthonormal w,

    capacity of target s = b_sᵀ Γ⁻¹ b_s,    Γ = BᵀB + Cov(e),

which sum to r − tr Γ⁻¹Cov(e) ≤ r, and to r without error if the targets explain the states. What
the others hold is the sum of their corrected R² on e, in which chance has fewer dimensions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.polynomial import hermite_e, legendre
from numpy.typing import NDArray

from memcurve.core.types import EPS, TINY, Floats
from memcurve.data.autocorrelation import beta_cut
from memcurve.data.columns import basis_of
from memcurve.data.prose import fault
from memcurve.data.tails import variance_of_mean

#: The law is recognised by its polynomials up to this degree, hence by six moments: the sample
#: moments of higher degree are too noisy to tell laws apart.
RECOGNISED_BY = 3
#: A sample moment further than this many standard errors from its expectation rules a law out.
RULED_OUT = 5.0
#: By degree: how far apart the lags of a product may lie, and the longest lag. The number of
#: targets grows like window^(degree − 1)·lag; these keep it near 1,000 or 2,000 per degree.
DEFAULT_REACH = dict(enumerate(((0, 80), (20, 40), (12, 30), (7, 16), (6, 12), (5, 10), (4, 8)), 1))
#: More targets than this are refused: the scan would take hours.
MOST_TARGETS = 5_000_000
#: The joint estimate has one target for so many rows at most, so many in all, and beyond these the
#: significant ones, one for so many rows. Halved, the first: what chance adds is no longer removed.
ROWS_PER_TARGET = 20
MOST_TOGETHER = 500
ROWS_PER_SIGNIFICANT = 4
#: A block is this many times as long as the lags it must overlap: longer ones waste less on the
#: overlap, shorter ones leave the sums to matrix products. Measured best from 4 to 8.
BLOCK_PER_LAG = 6
#: Numbers in one batch of targets (32 MiB): large enough for fast products, small beside states.
BATCH_NUMBERS = 1 << 22
#: Directions of the Gram matrix of the targets below this share of the largest are dropped:
#: they come from inputs that repeat, whose targets coincide.
COINCIDENT = 1e-10


class Polynomials(NamedTuple):
    """A family of orthonormal polynomials, and their values p_0, p_1, … at every input, by row."""

    name: str
    values: Floats


def polynomials_of(inputs: Floats, degree: int) -> Polynomials:
    """Polynomials up to ``degree`` under the law of the inputs.

    They are Legendre's or Hermite's where these are orthonormal on the data: the sample means of
    p_i p_j, i, j ≤ 3, are within a few standard errors of δ_ij under the law. Those of the data
    themselves scatter, and capacities with them (:func:`_by_moments`). k different values have
    polynomials up to degree k − 1.
    """
    different = len(np.unique(inputs))
    if different < 2:
        raise ValueError(
            "`inputs` must vary, got a constant series; capacity is a share of its variance."
        )
    degree, low, high = min(degree, different - 1), inputs.min(), inputs.max()
    spanning = 2 * (inputs - low) / (high - low) - 1  # a uniform law fills [−1, 1] up to O(1/T)
    standardised = (inputs - inputs.mean()) / inputs.std()
    for name, points, family, quadrature in (
        ("legendre", spanning, _legendre, legendre.leggauss),
        ("hermite", standardised, _hermite, hermite_e.hermegauss),
    ):
        nodes, weights = quadrature(16)  # enough for fourth powers
        squares = family(nodes, RECOGNISED_BY) ** 2
        spread = squares * (weights / weights.sum()) @ squares.T - np.eye(len(squares))
        values = family(points, RECOGNISED_BY)
        off = values @ values.T / len(inputs) - np.eye(len(values))
        allowed = RULED_OUT * np.sqrt(np.maximum(spread, 0) / len(inputs))
        if (np.abs(off) <= allowed + 1e-9).all():  # p_0² = 1 has no spread, only rounding
            # the deviation of the inputs is as well known as the mean of p_2
            return Polynomials(name, family(points, max(degree, 2)))
    factor, triangle = np.linalg.qr(legendre.legvander(spanning, degree))
    signs = np.where(np.diag(triangle) < 0, -1.0, 1.0)  # leading coefficients above zero
    values = np.ascontiguousarray((factor * signs * math.sqrt(len(inputs))).T)
    return Polynomials("empirical", values)


def _legendre(points: Floats, degree: int) -> Floats:
    """√(2d + 1)·P_d."""
    scale = np.sqrt(2 * np.arange(degree + 1) + 1)
    return np.ascontiguousarray((legendre.legvander(points, degree) * scale).T)


def _hermite(points: Floats, degree: int) -> Floats:
    """He_d/√d!."""
    scale = np.array([1 / math.sqrt(math.factorial(d)) for d in range(degree + 1)])
    return np.ascontiguousarray((hermite_e.hermevander(points, degree) * scale).T)


class Reach(NamedTuple):
    """Which targets of one total degree to look at: window and longest lag."""

    degree: int
    window: int
    lag: int

    def targets(self) -> int:
        """Number of targets if every polynomial exists: Σ over spans and numbers of factors."""
        return (self.lag + 1) + sum(
            (self.lag - span + 1) * math.comb(self.degree - 1, k - 1) * math.comb(span - 1, k - 2)
            for span in range(1, self.window + 1)
            for k in range(2, self.degree + 1)
        )


class Pattern(NamedTuple):
    """Degrees of the factors and their lags, the first at 0: ∏ p_{d_i}(z_{u − o_i})."""

    degrees: tuple[int, ...]
    offsets: tuple[int, ...]


#: A pattern, and by how much it is shifted into the past.
Placed = tuple[Pattern, int]


def reaches(degrees: Any) -> tuple[Reach, ...]:
    """The argument ``degrees`` checked and filled up, lowest degree first."""
    if _is_integer(degrees) and degrees in DEFAULT_REACH:
        degrees = {d: DEFAULT_REACH[d] for d in range(1, degrees + 1)}
    if not isinstance(degrees, Mapping) or not degrees:
        raise ValueError(fault("degrees", highest=max(DEFAULT_REACH), got=degrees))
    plan = sorted(_reach(degree, reach) for degree, reach in degrees.items())
    count = sum(reach.targets() for reach in plan)
    if count > MOST_TARGETS:
        raise ValueError(fault("many_targets", count=count, most=MOST_TARGETS))
    return tuple(plan)


def _reach(degree: Any, reach: Any) -> Reach:
    if not _is_integer(degree) or degree < 1:
        raise ValueError(f"`degrees` must have integers from 1 on as keys, got {degree!r}.")
    if _is_integer(reach):
        reach = (min(DEFAULT_REACH.get(degree, (3, 0))[0], max(reach, 0)), reach)
    if (
        not isinstance(reach, Sequence)
        or len(reach) != 2
        or not all(_is_integer(number) and number >= 0 for number in reach)
    ):
        raise ValueError(fault("reach", got=reach, degree=degree))
    window, lag = (int(number) for number in reach)
    # one factor has no second lag for a window to bound
    return Reach(int(degree), min(window, lag) if degree > 1 else 0, lag)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def patterns(reach: Reach, highest: int) -> Iterator[Pattern]:
    """All patterns of factors up to degree ``highest``; their shifts 0 … lag − span are targets."""
    by_factors: dict[int, list[tuple[int, ...]]] = {}
    for k in range(1, reach.degree + 1):  # the degree as an ordered sum of k positive integers
        cuts = itertools.combinations(range(1, reach.degree), k - 1)
        sums = (tuple(np.diff((0, *cut, reach.degree)).tolist()) for cut in cuts)
        by_factors[k] = [split for split in sums if max(split) <= highest]
    yield from (Pattern(split, (0,)) for split in by_factors[1])
    for span in range(1, reach.window + 1):
        for k in range(2, min(reach.degree, span + 1) + 1):
            for between in itertools.combinations(range(1, span), k - 2):
                for split in by_factors[k]:
                    yield Pattern(split, (0, *between, span))


def columns(values: Floats, chosen: Sequence[Placed], start: int, stop: int) -> Floats:
    """The ``chosen`` targets at the times from ``start``, at least the longest lag, one per row."""
    made = np.ones((len(chosen), stop - start))
    for row, (pattern, shift) in zip(made, chosen, strict=True):
        for degree, offset in zip(pattern.degrees, pattern.offsets, strict=True):
            row *= values[degree, start - shift - offset : stop - shift - offset]
    return made


class StateBasis(NamedTuple):
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
        """q_t² / (1 − q_t² − 1/n): what a residual of unit size at t adds to R² by chance."""
        leverage = np.einsum("tk,tk->t", self.Q, self.Q)
        return np.asarray(leverage / np.maximum(1 - leverage - 1 / self.rows, 1 / self.rows))

    def correlator(self, lags: int) -> Correlator:
        """Of the basis, its weights, and ones, which sum a series up."""
        return Correlator(np.column_stack([self.Q, self.weights(), np.ones(self.rows)]), lags)


def state_basis(rows: Floats, start: int) -> tuple[StateBasis, int]:
    """Orthonormal basis of the centred states, and the number of constant ones."""
    n, states = rows.shape
    if n < states + 3:
        raise ValueError(fault("more_states", start=start, rows=n, states=states))
    # rounding of the mean leaves a constant of up to √n·eps in each of n rows
    varying = rows.std(axis=0) > np.sqrt(n) * EPS * np.abs(rows).max(axis=0)
    if not varying.any():
        raise ValueError("`states` must vary in time, got constant columns only; check the data.")
    Q, _ = basis_of(rows[:, varying], max(n, states) * EPS)
    return StateBasis(Q, start), int((~varying).sum())


class Correlator:
    """Correlations of fixed columns q with any series w, over the lags 0 … ``lags``.

    With blocks b of ``step`` rows and F ≥ step + lags points of the transform,

        Σ_t q_t w_{t−τ} = F⁻¹[ Σ_b conj(F q_b) · F w_b ](lags − τ),

    and the sum over blocks is, at every frequency, one product of matrices.
    """

    def __init__(self, fixed: Floats, lags: int) -> None:
        from scipy.fft import next_fast_len, rfft

        self.rows, self.lags = len(fixed), lags
        # below 256 points the overhead of many small transforms shows
        self.points = int(next_fast_len(max(BLOCK_PER_LAG * (lags + 1), 256), real=True))
        self.step = self.points - lags
        self.blocks = -(-self.rows // self.step)
        padded = np.pad(fixed, [(0, self.blocks * self.step - self.rows), (0, 0)])
        transform = rfft(padded.reshape(self.blocks, self.step, -1), self.points, axis=1)
        self._fixed = np.ascontiguousarray(transform.transpose(1, 2, 0).conj())

    def sums(self, series: Floats, chosen: slice = slice(None)) -> Floats:
        """Σ_t q_t w_{t−τ}, (lags + 1, k, m), of ``chosen`` q; w begin ``lags`` values before q."""
        from scipy.fft import irfft, rfft

        padded = np.zeros((len(series), self.blocks * self.step + self.lags))
        padded[:, : series.shape[1]] = series
        overlapping = sliding_window_view(padded, self.points, axis=1)[:, :: self.step]
        transform = rfft(overlapping.transpose(1, 0, 2), axis=2)
        product = np.matmul(self._fixed[:, chosen], transform.transpose(2, 0, 1))
        return np.asarray(irfft(product, self.points, axis=0)[self.lags :: -1], dtype=np.float64)


class Scan(NamedTuple):
    """All targets of one degree: R² of each, and its bias for targets of capacity 0."""

    reach: Reach
    patterns: list[Pattern]
    indices: NDArray[np.int64]  # (targets, 2): shift, and number of the pattern
    raw: Floats
    bias: Floats

    @property
    def single(self) -> Floats:
        """R² less its bias by chance."""
        return np.asarray(self.raw - (1 - self.raw) * self.bias)

    @property
    def targets(self) -> Iterator[Placed]:
        """The targets, in the order of the other fields."""
        return ((self.patterns[k], shift) for shift, k in self.indices.tolist())

    def significant(self, basis: StateBasis, threshold: float) -> NDArray[np.bool_]:
        """Targets whose R² chance exceeds with a probability below ``threshold``."""
        # where the target is large at rows of large leverage, chance gives more than the Beta law
        usual = basis.rank / (basis.rows - 1 - basis.rank)
        cut = beta_cut(basis.rank, basis.rows, threshold) * np.maximum(self.bias / usual, 1)
        return np.asarray(self.raw > cut)


def scan(basis: StateBasis, polynomials: Polynomials, reach: Reach) -> Scan:
    """R² of all targets of one degree."""
    correlator = basis.correlator(reach.lag)
    shapes = list(patterns(reach, len(polynomials.values) - 1))
    batch = max(1, BATCH_NUMBERS // (basis.rows + reach.lag))
    raw, bias = np.zeros((2, reach.lag + 1, len(shapes)))
    for first in range(0, len(shapes), batch):
        batch_rows = slice(first, first + batch)
        raw[:, batch_rows], bias[:, batch_rows] = r_squared(
            correlator, basis, polynomials, shapes[batch_rows], reach.lag
        )
    spans = np.array([pattern.offsets[-1] for pattern in shapes], int)
    # a shift that takes the last factor beyond the longest lag is no target of this degree
    valid = np.arange(reach.lag + 1)[:, None] + spans <= reach.lag
    return Scan(reach, shapes, np.argwhere(valid), raw[valid], bias[valid])


def r_squared(
    correlator: Correlator,
    basis: StateBasis,
    polynomials: Polynomials,
    shapes: Sequence[Pattern],
    lag: int,
) -> tuple[Floats, Floats]:
    """R² of every pattern at the shifts 0 … ``lag``, and its leverage-weighted bias at R² = 0.

    With centred targets w, R² = |Qᵀw|²/|w|² and the bias is Σ_t h_t w_t²/Σ_t w_t² for the weights
    h. Shifts that reach further back than ``lag`` mean nothing: their first values are missing.
    """
    n, r = basis.Q.shape
    start, stop = basis.start - lag, basis.start + n
    w = np.zeros((len(shapes), stop - start))
    for row, pattern in zip(w, shapes, strict=True):
        begin = max(start, pattern.offsets[-1])  # before it a factor lies before the recording
        row[begin - start :] = columns(polynomials.values, [(pattern, 0)], begin, stop)[0]
    sums = correlator.sums(w)
    mean = sums[:, r + 1] / n
    weighted, energy = correlator.sums(w * w, slice(r, r + 2)).transpose(1, 0, 2)
    # the states are centred, so the mean of the target drops out of Qᵀw; not of the weights
    weighted = weighted + mean * (mean * basis.weights().sum() - 2 * sums[:, r])
    energy = energy - n * mean**2
    explained = np.einsum("tks,tks->ts", sums[:, :r], sums[:, :r])
    varies = energy > 1e-12 * n  # that of an orthonormal target is n
    energy = np.where(varies, energy, 1.0)
    raw = np.where(varies, np.clip(explained / energy, 0, 1), 0.0)
    return raw, np.where(varies, np.maximum(weighted / energy, 0), 0.0)


class Joint(NamedTuple):
    """Capacities of targets that were estimated together."""

    capacity: Floats
    error: Floats  # of each
    influence: Floats  # (n, groups): of the sum of each group
    chance: Floats  # (groups,): variance that chance adds to it
    residual: StateBasis  # the states that these targets do not explain, where Γ is the identity


def joint_capacities(
    basis: StateBasis, polynomials: Polynomials, chosen: Sequence[Placed], groups: Floats
) -> Joint:
    """Capacities b_sᵀΓ⁻¹b_s of the ``chosen`` targets, less their bias, and errors.

    Bias: b̂_s has the covariance E(w_s² eeᵀ)/n, which adds Σ_t w_ts² (e_tᵀΓ⁻¹e_t)/n² by chance,
    reduced by the share 1 − capacity that chance is left with. Errors: the influence function

        ψ_t = 2 (v·e_t)(w_ts − v·g_t) − (v·e_t)²,    v = Γ⁻¹b_s,  g_t = Bᵀw_t,

    and what polynomials made from the data add to it (:func:`_by_moments`), averaged over ⌊√n⌋
    blocks in time, whose means are nearly independent, and the variance
    2 tr (Γ⁻¹Cov e)²/n² that chance has where b_s = 0. ``groups`` is 1 at [s, group of target s].
    """
    n, k = basis.rows, len(chosen)
    gram, cross, mean = np.zeros((k, k)), np.zeros((k, basis.rank)), np.zeros(k)
    for rows, w in _chunks(basis, polynomials, chosen):
        gram += w @ w.T / n
        cross += w @ basis.Q[rows] / np.sqrt(n)
        mean += w.sum(axis=1) / n
    gram -= np.outer(mean, mean)
    inverse = np.linalg.pinv(gram, COINCIDENT, hermitian=True)
    B, variances = inverse @ cross, np.diag(inverse) / n  # these are of b̂_s, in units of Cov e
    explained = B.T @ cross
    covariance = (np.eye(basis.rank) - (explained + explained.T) / 2) * (n / (n - 1 - k))
    # B̂ᵀB̂ has Σ_s Var b̂_s too much, which is taken from the residual's share
    share = max(1 - float(variances.sum()), 0.05)
    metric = np.linalg.inv(B.T @ B + share * covariance)
    V, spread, root = metric @ B.T, metric @ covariance, np.linalg.cholesky(metric)
    leverage = np.clip(np.einsum("sr,rs->s", B, V), 0, 1)
    pairs, by_moments = _by_moments(chosen, B @ V, polynomials)

    lift = n / (n - 1 - k)  # residuals that were fitted are too small
    blocks = max(2, int(np.sqrt(n)))
    sums, noise = np.zeros((blocks, k)), np.zeros(k)
    influence, residual = np.empty((n, groups.shape[1])), np.empty_like(basis.Q)
    for rows, w in _chunks(basis, polynomials, chosen):
        w -= mean[:, None]
        fitted = w.T @ B
        e = basis.Q[rows] * np.sqrt(n) - fitted
        white = e @ root / np.sqrt(n)
        residual[rows] = lift * white
        noise += (w * w) @ (white**2).sum(axis=1)
        along = lift * (e @ V)
        psi = 2 * along * (w.T - fitted @ V) - along**2
        if pairs:
            now = polynomials.values[:, basis.start + rows.start : basis.start + rows.stop]
            psi += np.column_stack([now[i] * now[j] - (i == j) for i, j in pairs]) @ by_moments
        influence[rows] = psi @ groups
        block = np.arange(rows.start, rows.stop) * blocks // n
        starts = np.flatnonzero(np.diff(block, prepend=-1))
        sums[block[starts]] += np.add.reduceat(psi, starts, axis=0)
    bias = noise * variances * (1 - leverage) * (n / (n - 1 - k))
    chance = 2 * float(np.trace(spread @ spread)) * (variances * (1 - leverage)) ** 2
    error = np.sqrt((sums * (blocks / n)).var(axis=0, ddof=1) / blocks + chance)
    return Joint(
        leverage - bias, error, influence, chance @ groups, StateBasis(residual, basis.start)
    )


def _by_moments(
    chosen: Sequence[Placed], C: Floats, polynomials: Polynomials
) -> tuple[list[tuple[int, int]], Floats]:
    """Degrees i ≤ j, and how each capacity changes with the sample mean of p_i p_j.

    With polynomials that are off, targets become (1 + D) w, their b (1 − Dᵀ) b, and of C = BΓ⁻¹Bᵀ
    the diagonal changes by −2 Σ_k D_ks C_ks + 2 (CDC)_ss.
    """
    from scipy.sparse import coo_array

    factors = [
        dict(zip((shift + offset for offset in pattern.offsets), pattern.degrees, strict=True))
        for pattern, shift in chosen
    ]
    indices = {frozenset(factor.items()): s for s, factor in enumerate(factors)}
    entries: dict[tuple[int, int], list[tuple[int, int, float]]] = {}  # of D: row, column, value
    for s, factor in enumerate(factors):
        for lag, degree in factor.items():
            rest = {at: d for at, d in factor.items() if at != lag}
            for pair, lower, value in _off(polynomials.name, degree):
                other = rest | ({lag: lower} if lower else {})
                if (index := indices.get(frozenset(other.items()))) is not None:
                    entries.setdefault(pair, []).append((s, index, value))
    changes = np.zeros((len(entries), len(chosen)))
    for change, listed in zip(changes, entries.values(), strict=True):
        rows, columns, values = zip(*listed, strict=True)
        D = coo_array((values, (rows, columns)), C.shape)
        change[:] = -2 * D.multiply(C).sum(axis=0) + 2 * np.einsum("sk,ks->s", C, D @ C)
    return [*entries], changes


def _off(family: str, d: int) -> Iterator[tuple[tuple[int, int], int, float]]:
    """The share of p_e in p_d for each sample mean of p_i p_j, i ≤ j: (i, j), e, share.

    Polynomials of the data are p_d − Σ_{i<d} m_id p_i − (m_dd − 1) p_d/2 to first order. Hermite's
    are of (z − m_01)/(1 + m_02/√2), with p_d′ = √d p_{d−1}. Legendre's are off by O(1/T) only.
    """
    if family == "empirical":
        yield from (((i, d), i, -1.0) for i in range(d))
        yield (d, d), d, -0.5
    elif family == "hermite":
        yield (0, 1), d - 1, -math.sqrt(d)
        yield (0, 2), d, -d / math.sqrt(2)
        if d > 1:
            yield (0, 2), d - 2, -math.sqrt(d * (d - 1) / 2)


def _chunks(
    basis: StateBasis, polynomials: Polynomials, chosen: Sequence[Placed]
) -> Iterator[tuple[slice, Floats]]:
    """Rows of the basis a few at a time, with the targets (k, rows) there."""
    size = max(1, BATCH_NUMBERS // len(chosen))
    for first in range(0, basis.rows, size):
        last = min(first + size, basis.rows)
        times = basis.start + first, basis.start + last
        yield slice(first, last), columns(polynomials.values, chosen, *times)


@dataclass(frozen=True)
class Target:
    """One significant target ∏ p_{degrees[i]}(z_{t − lags[i]}).

    Attributes
    ----------
    degrees, lags : tuple of int
        Degree of each factor's polynomial, and how far back its input lies, most recent first.
    capacity : float
        Share of its variance that the states hold, estimated together with the other targets.
    error : float
        Standard error of ``capacity``.
    raw : float
        R² of the target regressed on the states, which chance makes too large.
    """

    degrees: tuple[int, ...]
    lags: tuple[int, ...]
    capacity: float
    error: float
    raw: float

    @property
    def degree(self) -> int:
        """Total degree."""
        return sum(self.degrees)

    @property
    def name(self) -> str:
        """E.g. ``p1[0]·p2[3]`` for p₁(z_t)·p₂(z_{t−3})."""
        return "·".join(f"p{d}[{lag}]" for d, lag in zip(self.degrees, self.lags, strict=True))


def estimate(
    basis: StateBasis, polynomials: Polynomials, scans: Sequence[Scan], threshold: float
) -> tuple[Floats, Floats, tuple[Target, ...]]:
    """Sums by degree, their errors and that of the total, and the targets that are significant."""
    degree = np.repeat(np.arange(len(scans)), [len(one.raw) for one in scans])
    groups = (degree[:, None] == np.arange(len(scans))).astype(float)
    targets = [target for one in scans for target in one.targets]
    raw = np.concatenate([one.raw for one in scans])
    single = np.concatenate([one.single for one in scans])
    significant = np.concatenate([one.significant(basis, threshold) for one in scans])
    usual = min(basis.rows // ROWS_PER_TARGET, MOST_TOGETHER)
    count = max(usual, min(int(significant.sum()), basis.rows // ROWS_PER_SIGNIFICANT), 1)
    strongest = np.lexsort((-single, ~significant))[:count]
    joint = joint_capacities(basis, polynomials, [targets[s] for s in strongest], groups[strongest])
    sums, chance, residual = joint.capacity @ groups[strongest], joint.chance, joint.residual
    if len(targets) > len(strongest):
        rest = groups.copy()
        rest[strongest] = 0.0
        others = [scan(residual, polynomials, one.reach) for one in scans]
        sums = sums + np.concatenate([one.single for one in others]) @ rest
        variance = 2 * np.concatenate([one.bias for one in others]) ** 2 / _dimensions(residual.Q)
        chance = chance + variance @ rest
    chance = chance * _serial_factor(residual.Q, max(one.reach.lag for one in scans))
    influence = np.column_stack([joint.influence, joint.influence.sum(axis=1)])
    variance = variance_of_mean(influence - influence.mean(axis=0), basis.rows, basis.rows)
    rounding = 1e-9 * basis.rank
    deviations = np.sqrt(variance + np.append(chance, chance.sum())) + rounding
    capacity, error = single.copy(), np.full(len(single), np.sqrt(2 * basis.rank) / basis.rows)
    capacity[strongest], error[strongest] = joint.capacity, joint.error
    capacity = np.clip(capacity, 0, 1)
    listed = np.flatnonzero(significant)
    listed = listed[np.argsort(-capacity[listed], kind="stable")]
    significant_ones = []
    for k in listed.tolist():
        pattern, shift = targets[k]
        lags = tuple(shift + offset for offset in pattern.offsets)
        values = float(capacity[k]), float(error[k]), float(raw[k])
        significant_ones.append(Target(pattern.degrees, lags, *values))
    return sums, deviations, tuple(significant_ones)


def _dimensions(E: Floats) -> float:
    """(tr S)²/tr S² of S = EᵀE: the effective dimension of the residuals."""
    S = E.T @ E
    return max(float(np.trace(S) ** 2 / max(float((S**2).sum()), TINY)), 1.0)


def _serial_factor(E: Floats, lags: int) -> float:
    """Factor on chance over shifts of one pattern, which see the same residuals in turn."""
    E = E[:20_000]  # which tell as much
    S = E.T @ E
    by_chance = float(np.trace(S)) ** 2 / len(E)
    shifts = range(1, min(lags, len(E) // 4) + 1)
    shared = sum(float(((E[:-j].T @ E[j:]) ** 2).sum()) - by_chance for j in shifts)
    return 1 + 2 * max(shared, 0.0) / max(float((S**2).sum()), TINY)
