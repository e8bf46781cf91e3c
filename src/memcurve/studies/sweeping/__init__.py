"""Sweeps: one question for many networks; a study file, a crash-safe store, a picture at the end.

A study (``studies``) is a list of cases (``cases``), each evaluated by a pool of workers
(``executors``, ``engine``) and saved in a ``store`` as soon as it is done. Start reading at
``run``. Imports ``memory`` and the rings below it.
"""

from memcurve.studies.sweeping.cases import Case, evaluate
from memcurve.studies.sweeping.result import Sweep
from memcurve.studies.sweeping.run import sweep
from memcurve.studies.sweeping.studies import Study, shipped

__all__ = ["Case", "Study", "Sweep", "evaluate", "shipped", "sweep"]
