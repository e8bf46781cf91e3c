"""memcurve: how much a recurrent network remembers, computed right."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from memcurve.version import __version__ as __version__

if TYPE_CHECKING:  # for type checkers, to whom "as" says that a name is public
    from memcurve import adapters as adapters
    from memcurve import ensembles as ensembles
    from memcurve import inputs as inputs
    from memcurve import masks as masks
    from memcurve import nulls as nulls
    from memcurve import plot as plot
    from memcurve.adapters import as_network as as_network
    from memcurve.auditing import Audit as Audit
    from memcurve.auditing import audit as audit
    from memcurve.batch import MemoryCurves as MemoryCurves
    from memcurve.batch import memory_curves as memory_curves
    from memcurve.comparison import Comparison as Comparison
    from memcurve.comparison import compare as compare
    from memcurve.connectome import NullComparison as NullComparison
    from memcurve.connectome import compare_with_nulls as compare_with_nulls
    from memcurve.curve import MemoryCurve as MemoryCurve
    from memcurve.curve import NoiseProfile as NoiseProfile
    from memcurve.data import Capacity as Capacity
    from memcurve.data import capacity_from_data as capacity_from_data
    from memcurve.data import check_recording as check_recording
    from memcurve.data import memory_from_data as memory_from_data
    from memcurve.data import memory_score as memory_score
    from memcurve.errors import ModelError as ModelError
    from memcurve.errors import RankWarning as RankWarning
    from memcurve.errors import RecordingWarning as RecordingWarning
    from memcurve.errors import UncertainResultError as UncertainResultError
    from memcurve.errors import UnstableNetworkError as UnstableNetworkError
    from memcurve.io import load_matrix as load_matrix
    from memcurve.io import load_network as load_network
    from memcurve.io import load_nodes as load_nodes
    from memcurve.io import save_network as save_network
    from memcurve.literature import JudgedClaim as JudgedClaim
    from memcurve.literature import judge_claim as judge_claim
    from memcurve.measuring import Dossier as Dossier
    from memcurve.measuring import ScaleProfile as ScaleProfile
    from memcurve.measuring import measure as measure
    from memcurve.measuring import measure_scales as measure_scales
    from memcurve.measuring import models as models
    from memcurve.memory import controllable_spectrum as controllable_spectrum
    from memcurve.memory import fisher_curve as fisher_curve
    from memcurve.memory import forecasting_curve as forecasting_curve
    from memcurve.memory import memory_curve as memory_curve
    from memcurve.memory import noise_profile as noise_profile
    from memcurve.memory import rank as rank
    from memcurve.memory import reduced as reduced
    from memcurve.memory import structural_rank as structural_rank
    from memcurve.network import LinearNetwork as LinearNetwork
    from memcurve.network.nonlinear import NonlinearNetwork as NonlinearNetwork
    from memcurve.network.ranks import RankRows as RankRows
    from memcurve.noise import Float32 as Float32
    from memcurve.noise import Float64 as Float64
    from memcurve.noise import ObservationNoise as ObservationNoise
    from memcurve.noise import Quantised as Quantised
    from memcurve.noise import StateNoise as StateNoise
    from memcurve.normal_form import InputNormal as InputNormal
    from memcurve.normal_form import input_normal as input_normal
    from memcurve.sweeping import Study as Study
    from memcurve.sweeping import Sweep as Sweep
    from memcurve.sweeping import sweep as sweep

# Public names are imported on first use: numpy and scipy would make `memcurve --help` slow.
_NAMES = {
    "memcurve": "adapters ensembles inputs masks nulls plot",
    "memcurve.adapters": "as_network",
    "memcurve.auditing": "Audit audit",
    "memcurve.batch": "MemoryCurves memory_curves",
    "memcurve.comparison": "Comparison compare",
    "memcurve.connectome": "NullComparison compare_with_nulls",
    "memcurve.curve": "MemoryCurve NoiseProfile",
    "memcurve.data": ("Capacity capacity_from_data check_recording memory_from_data memory_score"),
    "memcurve.errors": (
        "ModelError RankWarning RecordingWarning UncertainResultError UnstableNetworkError"
    ),
    "memcurve.io": "load_matrix load_network load_nodes save_network",
    "memcurve.literature": "JudgedClaim judge_claim",
    "memcurve.measuring": "Dossier ScaleProfile measure measure_scales models",
    "memcurve.memory": (
        "controllable_spectrum fisher_curve forecasting_curve memory_curve noise_profile rank "
        "reduced structural_rank"
    ),
    "memcurve.network": "LinearNetwork",
    "memcurve.network.nonlinear": "NonlinearNetwork",
    "memcurve.network.ranks": "RankRows",
    "memcurve.noise": "Float32 Float64 ObservationNoise Quantised StateNoise",
    "memcurve.normal_form": "InputNormal input_normal",
    "memcurve.sweeping": "Study Sweep sweep",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name, "memcurve")
    if home == "memcurve":
        if name.startswith("_") or importlib.util.find_spec(f"memcurve.{name}") is None:
            raise AttributeError(f"module 'memcurve' has no attribute {name!r}")
        return importlib.import_module(f"memcurve.{name}")  # also krylov, limits, methods, …
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return __all__
