"""White: the input of the classical memory curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memcurve.arguments import require_number
from memcurve.inputs.process import Floats, InputProcess


@dataclass(frozen=True, eq=False)
class White(InputProcess):
    """White noise: γ(0) = ``variance``, γ(k) = 0 otherwise, f constant.

    Examples
    --------
    >>> from memcurve import inputs
    >>> inputs.White().autocovariance(3)
    array([1., 0., 0.])
    """

    variance: float = 1.0

    def __post_init__(self) -> None:
        variance = require_number(self.variance, "variance", "above 0", lambda v: v > 0)
        object.__setattr__(self, "variance", variance)

    @property
    def name(self) -> str:
        """The label "white"."""
        return "white"

    @property
    def finite_lags(self) -> int:
        """0."""
        return 0

    def density_bounds(self) -> tuple[float, float]:
        """Return the variance twice."""
        return self.variance, self.variance

    def _autocovariance(self, count: int) -> Floats:
        gamma = np.zeros(count)
        gamma[0] = self.variance
        return gamma

    def _density(self, omega: Floats) -> Floats:
        return np.full(len(omega), self.variance)

    def _draw(self, count: int, channels: int, rng: np.random.Generator) -> Floats:
        return rng.standard_normal((count, channels)) * float(np.sqrt(self.variance))
