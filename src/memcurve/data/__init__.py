"""Memory estimated from recordings: states that were measured or simulated, with their input.

A recording is checked (``checks``, ``columns``), and its memory is the regression of the states on
past inputs (``memory``, ``regression``); ``capacity`` does the same for products of past inputs,
``estimators`` has the standard estimators for comparison, and ``prose`` the sentences of findings,
notes and reports. Start reading at ``memory``. Imports ``solve``, for its curves, and what stands
below that; others import the names below only.
"""

from memcurve.data.autocorrelation import correlations as correlations
from memcurve.data.capacity import Capacity as Capacity
from memcurve.data.capacity import capacity_from_data as capacity_from_data
from memcurve.data.capacity_estimation import DEFAULT_REACH as DEFAULT_REACH
from memcurve.data.checks import check_recording as check_recording
from memcurve.data.estimators import ESTIMATORS as ESTIMATORS
from memcurve.data.findings import Findings as Findings
from memcurve.data.memory import USUAL_LAGS as USUAL_LAGS
from memcurve.data.memory import memory_from_data as memory_from_data
from memcurve.data.tails import long_run_variance as long_run_variance
