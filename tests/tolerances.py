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
