"""Sweeps: one question to many networks; a study file, a crash-safe store, a picture at the end.

A study (:mod:`memcurve.sweeping.studies`) is a list of cases (:mod:`memcurve.sweeping.cases`), each
computed by :func:`memcurve.sweeping.evaluate` and saved in a store as soon as it is done.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memcurve.sweeping.cases import Case, evaluate
    from memcurve.sweeping.result import Sweep
    from memcurve.sweeping.run import sweep
    from memcurve.sweeping.studies import Study, shipped

__all__ = ["Case", "Study", "Sweep", "evaluate", "shipped", "sweep"]

# imported on first use: workers need none of the files and pictures that the driver does
_HOMES = {
    "Case": "cases", "Study": "studies", "Sweep": "result", "evaluate": "cases",
    "shipped": "studies", "sweep": "run",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'memcurve.sweeping' has no attribute {name!r}")
    return getattr(importlib.import_module(f"memcurve.sweeping.{_HOMES[name]}"), name)
