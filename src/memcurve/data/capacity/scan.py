"""The scan: R² of every target, corrected for leverage, and which ones are more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memcurve.data.capacity.correlation import Correlator, sliding_sums
from memcurve.data.capacity.polynomials import Polynomials
from memcurve.data.capacity.targets import Pattern, Reach, columns, patterns

Floats = NDArray[np.float64]

#: Numbers in one batch of targets (32 MiB): large enough for fast products, small beside states.
BATCH_NUMBERS = 1 << 22
#: Targets whose variance is below this share of that of an orthonormal one do not vary.
NO_VARIANCE = 1e-12


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
