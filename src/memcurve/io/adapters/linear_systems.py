"""Discrete-time systems of scipy.signal and python-control, whose state lags behind its input."""

import importlib
from typing import Any

from memcurve.core.arguments import exact_array
from memcurve.io import as_mask, note
from memcurve.io.adapters.arrays import fault
from memcurve.network import LinearNetwork


def from_system(system: Any) -> LinearNetwork:
    """The states of a StateSpace of either library, or of what scipy converts to one."""
    kinds = {parent.__name__ for parent in type(system).__mro__}
    is_scipy = bool(kinds & {"lti", "dlti"})
    if "TransferFunction" in kinds and not is_scipy:
        try:
            system, kinds = importlib.import_module("control").ss(system), {"StateSpace"}
        except Exception as error:  # improper, or of several inputs without Slycot
            raise ValueError(fault("transfer_function", error=error)) from error
    if not is_scipy and "StateSpace" not in kinds:
        raise TypeError(fault("no_system", got=type(system).__name__))
    if "lti" in kinds or (not is_scipy and not system.dt):
        raise ValueError(fault("continuous"))
    system = system.to_ss() if is_scipy else system
    A, B = exact_array(system.A, "A"), exact_array(system.B, "B")
    if len(A) == 0:
        raise ValueError(fault("static"))
    return LinearNetwork(A, as_mask(B), notes=(note("lag"),))
