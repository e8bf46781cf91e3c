"""Linear systems of scipy.signal and python-control, whose state lags behind its input."""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.core.arguments import exact_array, require_number, table_entry
from memcurve.core.notes import Note
from memcurve.io import as_mask
from memcurve.network import LinearNetwork

_METHODS = {name: name for name in "zoh foh bilinear euler backward_diff impulse".split()}
_LAG_NOTE = Note(
    "network",
    "a system's state x[t] has not seen its input u[t] yet: the network's state at t is x[t+1], so "
    "that lag τ here is lag τ + 1 there",
)


def from_system(
    system: Any, *, outputs: bool = False, step: float | None = None, method: str | None = None
) -> LinearNetwork:
    """A StateSpace of either library, or what converts to one, e.g. a TransferFunction."""
    kinds = {parent.__name__ for parent in type(system).__mro__}
    if kinds & {"lti", "dlti"}:  # scipy's
        system, is_discrete = system.to_ss(), "dlti" in kinds
    elif kinds & {"TransferFunction", "StateSpace"}:
        if "TransferFunction" in kinds:  # in its controllable form
            import control

            system = control.tf2ss(system)
        if system.dt is None:
            raise ValueError(
                "`network` has no time base, dt=None: say whether it is a discrete-time system, "
                "control.ss(A, B, C, D, True), or a continuous-time one, control.ss(A, B, C, D, 0)."
            )
        is_discrete = system.dt != 0
    else:
        raise TypeError(
            f"`network` must be a linear system with states, StateSpace or what converts to one, "
            f"got {type(system).__name__}; give its matrices as as_network((A, B))."
        )
    matrices, notes = (system.A, system.B, system.C, system.D), list[Note]()
    if is_discrete and (step is not None or method is not None):
        raise ValueError(
            "`step` and `method` are for continuous-time systems, got a discrete-time one; leave "
            "them out."
        )
    if not is_discrete:
        if step is None:
            raise ValueError(
                "`network` is a continuous-time system, and memory is counted in steps; give the "
                "`step` to discretise it with, e.g. step=0.1 (and `method`, zoh by default)."
            )
        from scipy.signal import cont2discrete

        length = require_number(step, "step", "above 0, the time step", lambda h: h > 0)
        rule = table_entry(_METHODS, "zoh" if method is None else method, "method")
        discretise: Any = cont2discrete  # its many signatures do not fit a tuple of any arrays
        matrices = discretise(matrices, length, method=rule)[:4]
        note = f"continuous-time system, discretised with step {length:g} ({rule})"
        notes.append(Note("network", note))
    A, B, C, D = (exact_array(part, "ABCD"[k]) for k, part in enumerate(matrices))
    size, count = len(A), len(C)
    if size == 0:
        raise ValueError(
            "`network` must have at least one state, got a static gain; it has no memory."
        )
    if not outputs:
        return LinearNetwork(A, as_mask(B), notes=(*notes, _LAG_NOTE))
    # y[t] = C x[t] + D u[t] is a state driven by x[t] = x'_{t−1} and u[t]: no product is rounded
    joined = np.zeros((size + count, size + count), dtype=np.result_type(A, C))
    joined[:size, :size], joined[size:, :size] = A, C
    read = f"read through its {count} output(s) y[t] = C x[t] + D u[t], the last node(s)"
    notes.append(Note("network", read))
    mask, read_out = as_mask(np.vstack([B, D])), range(size, size + count)
    return LinearNetwork(joined, mask, readout=read_out, notes=notes)
