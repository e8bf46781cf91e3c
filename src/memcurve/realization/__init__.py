"""Input-normal realizations: the same memory, in states that are white for white input."""

from memcurve.realization.several import several_input_cascade
from memcurve.realization.single import eigen_state_map, leja_order
from memcurve.realization.statemap import StateMap, map_error, residuals, stein_state_map

__all__ = [
    "StateMap",
    "eigen_state_map",
    "leja_order",
    "map_error",
    "residuals",
    "several_input_cascade",
    "stein_state_map",
]
