"""Proven enclosures of memory and forecasting capacity for any input, noise and readout.

:func:`enclose_any` works in ball arithmetic on the very numbers stored, as ``methods.certified``
does for the plain problem. The states' covariance M is enclosed with as many bits as its condition
takes, and W with W M Wᵀ ≈ I changes to coordinates in which the states are white. There nothing
cancels any more: lags, horizons and totals follow with some two hundred bits.
"""

from __future__ import annotations

from memcurve.enclosure.fisher import enclose_fisher
from memcurve.enclosure.general import enclose_any
from memcurve.enclosure.result import Enclosure

__all__ = ["Enclosure", "enclose_any", "enclose_fisher"]
