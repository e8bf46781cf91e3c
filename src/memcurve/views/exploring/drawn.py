"""A network for a memory curve that was drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq

from memcurve import design
from memcurve.core.types import Floats
from memcurve.network import LinearNetwork

#: Lags, in units of the number of nodes, whose heights are drawn; at the last the curve is zero.
HANDLES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
MOST_DRAWN = 60  # nodes of a network that is made while one draws


def drawn_curve(heights: Sequence[float], size: int) -> Floats:
    """The curve through the heights, stretched along the lags to sum to ``size``."""
    lags = (np.arange(40 * size + 40) + 0.5) / size

    def curve(stretch: float) -> Floats:
        return np.interp(lags * stretch, HANDLES, [*heights, 0.0])

    return curve(float(brentq(lambda stretch: curve(stretch).sum() - size, 0.01, 100.0)))


def drawn_network(heights: Sequence[float], size: int) -> LinearNetwork:
    """The network whose memory curve comes closest to one that was drawn, by its heights.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.views.exploring import drawn_network
    >>> network = drawn_network([1, 0.9, 0.8, 0.6, 0.4, 0.2, 0.1, 0.1, 0.0], 10)
    >>> memcurve.memory_curve(network).total
    10.0
    """
    if not 0 < size <= MOST_DRAWN:
        raise ValueError(
            f"`size` must be at most {MOST_DRAWN} for a curve that is drawn, got {size}; "
            f"memcurve.design takes more."
        )
    return design(drawn_curve(heights, size), size).network
