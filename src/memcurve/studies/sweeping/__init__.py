"""Sweeps: one question to many networks; a study file, a crash-safe store, a picture at the end.

A study (:mod:`memcurve.studies.sweeping.studies`) is a list of cases
(:mod:`memcurve.studies.sweeping.cases`), each computed by
:func:`memcurve.studies.sweeping.evaluate` and saved in a store as soon as it is done.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memcurve.studies.sweeping.cases import Case, evaluate
    from memcurve.studies.sweeping.result import Sweep
    from memcurve.studies.sweeping.run import sweep
    from memcurve.studies.sweeping.studies import Study, shipped

__all__ = ["Case", "Study", "Sweep", "evaluate", "shipped", "sweep"]

# imported on first use: workers need none of the files and pictures that the driver does
_HOMES = {
    "Case": "cases", "Study": "studies", "Sweep": "result", "evaluate": "cases",
    "shipped": "studies", "sweep": "run",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'memcurve.studies.sweeping' has no attribute {name!r}")
    return getattr(importlib.import_module(f"memcurve.studies.sweeping.{_HOMES[name]}"), name)
