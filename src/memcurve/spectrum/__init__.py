"""Network → controllable spectrum: which eigenvalues count, and how well they are known."""

from memcurve.spectrum.controllable import controllable_spectrum
from memcurve.spectrum.result import Spectrum
from memcurve.spectrum.sensitivity import curve_error

__all__ = ["Spectrum", "controllable_spectrum", "curve_error"]
