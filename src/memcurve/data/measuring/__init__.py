"""Memory of models that are simulated, estimated to a given precision."""

from memcurve.data.measuring import models
from memcurve.data.measuring.driven import MeasurementReport, measurement_report
from memcurve.data.measuring.run import measure
from memcurve.data.measuring.scales import ScaleProfile, measure_scales

__all__ = [
    "MeasurementReport", "ScaleProfile", "measure", "measure_scales", "measurement_report",
    "models",
]  # fmt: skip
