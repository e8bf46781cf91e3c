"""Weakly stationary input processes: what drives a network when the input is not white.

Every process knows its autocovariance γ(k) = E z_t z_{t+k}, its spectral density

    f(ω) = Σ_k γ(k) e^{−ikω},        γ(k) = 1/(2π) ∫ f(ω) e^{ikω} dω,

so that unit white noise has f = 1, and how to draw Gaussian series that are stationary from the
first value on. Means are zero throughout. Processes never change once made. ``noise`` has what is
added to the states. Imports ``core``. Start reading at ``process``.
"""

from __future__ import annotations

from memcurve.inputs.arma import ARMA
from memcurve.inputs.autocovariance import Autocovariance, White
from memcurve.inputs.parsing import parse, processes_for
from memcurve.inputs.process import InputProcess

__all__ = ["ARMA", "Autocovariance", "InputProcess", "White", "parse", "processes_for"]


def __dir__() -> list[str]:
    return __all__
