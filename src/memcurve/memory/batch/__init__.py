"""Stacks of networks on any array library and device, with gradients.

:func:`memcurve.memory_curves` takes connectivity matrices, :func:`curves_of_poles` eigenvalues.
"""

from memcurve.memory.batch.poles import curves_of_poles
from memcurve.memory.batch.result import MemoryCurves
from memcurve.memory.batch.stack import memory_curves

__all__ = ["MemoryCurves", "curves_of_poles", "memory_curves"]
