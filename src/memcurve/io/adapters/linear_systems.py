"""Discrete-time systems of scipy.signal and python-control, whose state lags behind its input."""

import importlib
from typing import Any

from memcurve.core.arguments import exact_array
from memcurve.io import as_mask, note
from memcurve.network import LinearNetwork


def from_system(system: Any) -> LinearNetwork:
    """The states of a StateSpace of either library, or of what scipy converts to one."""
    kinds = {parent.__name__ for parent in type(system).__mro__}
    is_scipy = bool(kinds & {"lti", "dlti"})
    if "TransferFunction" in kinds and not is_scipy:
        try:
            system, kinds = importlib.import_module("control").ss(system), {"StateSpace"}
        except Exception as error:  # improper, or of several inputs without Slycot
            raise ValueError(
                f"`network` must be a transfer function that control converts to states ({error}); "
                f"give these, control.ss(A, B, C, D, dt)."
            ) from error
    if not is_scipy and "StateSpace" not in kinds:
        raise TypeError(
            f"`network` must be a StateSpace or a transfer function, which have states; got "
            f"{type(system).__name__}. Give its matrices, as_network((A, B))."
        )
    if "lti" in kinds or (not is_scipy and not system.dt):
        raise ValueError(
            "`network` must be a discrete-time system, since memory is counted in steps, got one "
            "in continuous time or without a time base; discretise it, system.to_discrete(0.1) of "
            "scipy or control.sample_system(system, 0.1), or take memcurve.ContinuousNetwork."
        )
    system = system.to_ss() if is_scipy else system
    A, B = exact_array(system.A, "A"), exact_array(system.B, "B")
    if len(A) == 0:
        raise ValueError(
            "`network` must have at least one state, got a static gain; it has no memory."
        )
    return LinearNetwork(A, as_mask(B), notes=(note("lag"),))
