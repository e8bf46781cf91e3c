"""Every tolerance the tests use, with its reason. Memory lies in [0, 1]: all are absolute."""

from typing import Any

import numpy as np

EPS = float(np.finfo(float).eps)

#: Closed forms evaluated in floating point themselves.
CLOSED_FORM = 1e-13
#: Sums over all default lags: the truncation aims at 1e-12.
WHOLE_SUM = 1e-12
#: Ball radii and oracles are far below rounding; this is the rounding of a number near one.
LAST_DIGIT = 2 * EPS


def well_conditioned(size: int) -> float:
    """Error of the exact method on well-conditioned spectra."""
    return 8 * size * EPS


#: Memory through noise, against the truth: relative accuracy of the singular values keeps it.
USABLE = 1e-12
#: Several inputs, against the truth: rounding of a cascade of 60 sections, measured at 1e-13.
SEVERAL = 1e-12
#: Autocovariances relative to γ(0): rounded twice, and the closed forms a few times more.
AUTOCOVARIANCE = 8 * EPS
#: Spectral densities relative to their largest: products of at most ten rounded factors.
DENSITY = 100 * EPS
#: Spectral radius after scaling: LAPACK's eigenvalues of well-conditioned matrices up to N = 100.
SCALED_RADIUS = 1e-12
#: Coloured input, against the truth, where the density's range does not matter: measured at 1e-14.
COLOURED = 1e-13
#: Residuals of the input-normal realization, up to 200 nodes.
INPUT_NORMAL = 1e-13
#: Curves of realizations of the same poles: reflections of up to 100 states, measured at 1e-14.
REALIZED = 1e-12
#: Fisher memory relative to its size: R is at least the identity, solving with it is harmless.
FISHER = 1e-12
#: Covariances of a few states summed, solved and compared in plain float64.
SMALL_DIRECT = 1e-9


def coloured(least: float, most: float) -> float:
    """Error for coloured input: rounding times the condition number, max f / min f."""
    return 1e-13 * most / least


#: Correlations by Fourier transform against one regression a target: rounding of sums over time.
KERNEL = 1e-10
#: Capacities whose standard error is zero: targets that span the states exactly, up to rounding.
SPANNED = 1e-9
#: Statistics may be this many standard errors off; the draws of the tests are fixed.
STANDARD_ERRORS = 3.0
#: The slope of a callable by five-point differences.
DIFFERENCES = 1e-11
#: An order of convergence measured between two scales, against the one of theory.
ORDER = 0.05
#: A quantisation step found in a recording against the one it was rounded to: some rounding.
LATTICE_STEP = 1e-9
#: Share of shifts of −3 … 3 steps that must be named, of recordings of 2000 rows.
NAMED_SHIFTS = 0.95
#: Share of starts from rest that must be found: weak, as they fill within N rows.
FOUND_RESTS = 0.5


def agree(one: Any, other: Any) -> bool:
    """Totals and values, of every input too, within both errors; ranks, where both are known."""
    count = min(len(one), len(other))
    for numbers, errors in (("values", "error"), ("channels", "channel_errors")):
        off = np.abs(getattr(one, numbers)[:count] - getattr(other, numbers)[:count])
        if not np.all(off <= getattr(one, errors)[:count] + getattr(other, errors)[:count]):
            return False
    ranks = {one.rank, other.rank} - {None}
    return len(ranks) < 2 and abs(one.total - other.total) <= one.total_error + other.total_error


def within(curve: Any, channels: Any, total: float | None = None, limit: float = np.inf) -> float:
    """Every number is within its error of the truth, and the limit; return how far off it is."""
    off = np.abs(curve.channels - channels)
    assert np.all(off <= curve.channel_errors + LAST_DIGIT), (off - curve.channel_errors).max()
    assert off.max() <= limit
    sums, inputs = np.abs(curve.values - channels.sum(axis=1)), channels.shape[1]
    assert np.all(sums <= curve.error + inputs * LAST_DIGIT)
    if total is not None:
        assert abs(curve.total - total) <= curve.total_error + 1e-12 * max(1.0, total)
    return float(off.max())


#: Words in white coordinates: some products of matrices of norm at most one, of up to ten states.
WORDS = 1e-12
