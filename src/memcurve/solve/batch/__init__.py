"""Stacks of networks on any array library and device, with gradients.

:func:`memcurve.memory_curves` takes connectivity matrices, :func:`curves_of_poles` eigenvalues.
"""

from memcurve.solve.batch.poles import curves_of_poles
from memcurve.solve.batch.result import MemoryCurves, Origin
from memcurve.solve.batch.stack import memory_curves

__all__ = ["MemoryCurves", "Origin", "curves_of_poles", "memory_curves"]
