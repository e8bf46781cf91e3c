"""Information processing capacity of recorded states: what they hold of the input, by degree."""

from memcurve.data.capacity.estimate import DEGREES, capacity_from_data
from memcurve.data.capacity.result import Capacity, Target

__all__ = ["DEGREES", "Capacity", "Target", "capacity_from_data"]
