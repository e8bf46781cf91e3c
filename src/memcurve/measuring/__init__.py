"""Memory of models that are simulated, estimated to a given precision."""

from memcurve.measuring import models
from memcurve.measuring.driven import MeasurementReport, measurement_report
from memcurve.measuring.run import measure
from memcurve.measuring.scales import ScaleProfile, measure_scales

__all__ = [
    "MeasurementReport", "ScaleProfile", "measure", "measure_scales", "measurement_report",
    "models",
]  # fmt: skip
