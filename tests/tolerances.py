"""Every tolerance the tests use, with its reason. Memory lies in [0, 1]: all are absolute."""

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
#: Coloured input, against the truth, where the density's range does not matter: measured at 1e-14.
COLOURED = 1e-13
#: Residuals of the input-normal realization, up to 200 nodes.
INPUT_NORMAL = 1e-13
#: Fisher memory relative to its size: R is at least the identity, solving with it is harmless.
FISHER = 1e-12
#: Covariances of a few states summed, solved and compared in plain float64.
SMALL_DIRECT = 1e-9


def coloured(least: float, most: float) -> float:
    """Error for coloured input: rounding times the condition number, max f / min f."""
    return 1e-13 * most / least
