"""memcurve: how much a recurrent network remembers, computed right."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from memcurve.version import __version__

if TYPE_CHECKING:
    from memcurve import adapters, ensembles, inputs, masks, plot
    from memcurve.adapters import as_network
    from memcurve.auditing import Audit, audit
    from memcurve.batch import MemoryCurves, memory_curves
    from memcurve.comparison import Comparison, compare
    from memcurve.curve import MemoryCurve, NoiseProfile
    from memcurve.data.capacity import Capacity, capacity_from_data
    from memcurve.data.checks import check_recording
    from memcurve.data.memory import memory_from_data
    from memcurve.errors import (
        RankWarning,
        RecordingWarning,
        UncertainResultError,
        UnstableNetworkError,
    )
    from memcurve.io import load_matrix, load_network, save_network
    from memcurve.memory import (
        controllable_spectrum,
        fisher_curve,
        forecasting_curve,
        memory_curve,
        noise_profile,
    )
    from memcurve.network import LinearNetwork
    from memcurve.network.nonlinear import NonlinearNetwork
    from memcurve.noise import Float32, Float64, ObservationNoise, Quantised, StateNoise
    from memcurve.normal_form import InputNormal, input_normal
    from memcurve.sweeping import Study, Sweep, sweep

# Public names are imported on first use: numpy and scipy would make `memcurve --help` slow.
_HOMES = {
    "Audit": "memcurve.auditing",
    "Capacity": "memcurve.data.capacity",
    "Comparison": "memcurve.comparison",
    "Float32": "memcurve.noise",
    "Float64": "memcurve.noise",
    "InputNormal": "memcurve.normal_form",
    "LinearNetwork": "memcurve.network",
    "MemoryCurve": "memcurve.curve",
    "MemoryCurves": "memcurve.batch",
    "NoiseProfile": "memcurve.curve",
    "NonlinearNetwork": "memcurve.network.nonlinear",
    "ObservationNoise": "memcurve.noise",
    "Quantised": "memcurve.noise",
    "RankWarning": "memcurve.errors",
    "RecordingWarning": "memcurve.errors",
    "StateNoise": "memcurve.noise",
    "Study": "memcurve.sweeping",
    "Sweep": "memcurve.sweeping",
    "UncertainResultError": "memcurve.errors",
    "UnstableNetworkError": "memcurve.errors",
    "adapters": "memcurve",
    "as_network": "memcurve.adapters",
    "audit": "memcurve.auditing",
    "capacity_from_data": "memcurve.data.capacity",
    "check_recording": "memcurve.data.checks",
    "compare": "memcurve.comparison",
    "controllable_spectrum": "memcurve.memory",
    "ensembles": "memcurve",
    "fisher_curve": "memcurve.memory",
    "forecasting_curve": "memcurve.memory",
    "input_normal": "memcurve.normal_form",
    "inputs": "memcurve",
    "load_matrix": "memcurve.io",
    "load_network": "memcurve.io",
    "masks": "memcurve",
    "memory_curve": "memcurve.memory",
    "memory_curves": "memcurve.batch",
    "memory_from_data": "memcurve.data.memory",
    "noise_profile": "memcurve.memory",
    "plot": "memcurve",
    "save_network": "memcurve.io",
    "sweep": "memcurve.sweeping",
}

__all__ = [
    "Audit",
    "Capacity",
    "Comparison",
    "Float32",
    "Float64",
    "InputNormal",
    "LinearNetwork",
    "MemoryCurve",
    "MemoryCurves",
    "NoiseProfile",
    "NonlinearNetwork",
    "ObservationNoise",
    "Quantised",
    "RankWarning",
    "RecordingWarning",
    "StateNoise",
    "Study",
    "Sweep",
    "UncertainResultError",
    "UnstableNetworkError",
    "__version__",
    "adapters",
    "as_network",
    "audit",
    "capacity_from_data",
    "check_recording",
    "compare",
    "controllable_spectrum",
    "ensembles",
    "fisher_curve",
    "forecasting_curve",
    "input_normal",
    "inputs",
    "load_matrix",
    "load_network",
    "masks",
    "memory_curve",
    "memory_curves",
    "memory_from_data",
    "noise_profile",
    "plot",
    "save_network",
    "sweep",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name, "memcurve")
    if home == "memcurve":
        if name.startswith("_") or importlib.util.find_spec(f"memcurve.{name}") is None:
            raise AttributeError(f"module 'memcurve' has no attribute {name!r}")
        return importlib.import_module(f"memcurve.{name}")  # also krylov, limits, methods, …
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
