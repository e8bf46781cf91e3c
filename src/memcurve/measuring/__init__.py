"""Memory of whatever can be run, measured to a precision that is asked for."""

from memcurve.measuring import models
from memcurve.measuring.driven import Dossier, dossier
from memcurve.measuring.run import measure
from memcurve.measuring.scales import ScaleProfile, measure_scales

__all__ = ["Dossier", "ScaleProfile", "dossier", "measure", "measure_scales", "models"]
