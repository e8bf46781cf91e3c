"""memcurve: how much a recurrent network remembers, computed right."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from memcurve.version import __version__

if TYPE_CHECKING:
    from memcurve import ensembles, masks, plot
    from memcurve.comparison import Comparison, compare
    from memcurve.curve import MemoryCurve
    from memcurve.errors import RankWarning, UncertainResultError, UnstableNetworkError
    from memcurve.files import load_matrix, load_network, save_network
    from memcurve.memory import memory_curve
    from memcurve.network import LinearNetwork
    from memcurve.spectrum import controllable_spectrum

# Public names are imported on first use: numpy and scipy would make `memcurve --help` slow.
_HOMES = {
    "Comparison": "memcurve.comparison",
    "LinearNetwork": "memcurve.network",
    "MemoryCurve": "memcurve.curve",
    "RankWarning": "memcurve.errors",
    "UncertainResultError": "memcurve.errors",
    "UnstableNetworkError": "memcurve.errors",
    "compare": "memcurve.comparison",
    "controllable_spectrum": "memcurve.spectrum",
    "ensembles": "memcurve",
    "load_matrix": "memcurve.files",
    "load_network": "memcurve.files",
    "masks": "memcurve",
    "memory_curve": "memcurve.memory",
    "plot": "memcurve",
    "save_network": "memcurve.files",
}

__all__ = [
    "Comparison",
    "LinearNetwork",
    "MemoryCurve",
    "RankWarning",
    "UncertainResultError",
    "UnstableNetworkError",
    "__version__",
    "compare",
    "controllable_spectrum",
    "ensembles",
    "load_matrix",
    "load_network",
    "masks",
    "memory_curve",
    "plot",
    "save_network",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'memcurve' has no attribute {name!r}")
    if home == "memcurve":
        return importlib.import_module(f"memcurve.{name}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
