"""All checks of a recording, in order, and of what is passed for one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve.arguments import require_limit, require_number
from memcurve.data.checks.alignment import check_alignment
from memcurve.data.checks.findings import LEAST, Finding, Findings, Floats, Level
from memcurve.data.checks.input import check_input
from memcurve.data.checks.states import (
    basis_of,
    check_clipping,
    check_rank,
    check_storage,
    check_transient,
    distinct_columns,
)

#: Rows of a recording that always suffice.
LONG = 20_000


def check_recording(
    states: ArrayLike, inputs: ArrayLike, *, washout: int = 0, level: float = 1e-4
) -> Findings:
    """Look for whatever would falsify the memory computed from a recording.

    Parameters
    ----------
    states : (T, N) array
        A state a row; row t is already driven by ``inputs[t]``.
    inputs : (T,) array
        The input.
    washout : int
        Rows at the start not to look at.
    level : float
        Chance of a false alarm, for each of the tests.

    Notes
    -----
    *Alignment.* Of independent inputs, states know nothing of those to come: R²_k of z_{t+k} on
    x_t, k > 0, is Beta(N/2, (n − 1 − N)/2) distributed, and so is R²_{−k} for inputs that have not
    reached the states yet. A lag into the future with more means that the states lead; dead lags
    0 … k − 1 mean that they are late. All shifts up to n/2 are tested, with z and z² as targets
    (intensities are even in z), clipped at their 0.5 % quantiles; of coloured z, its innovations.

    *Input.* Ljung and Box's Q over min(50, n/5) lags for z, for z² (volatility), and for z_{t+k}
    with z_t² (chaotic maps); of coloured z, for the innovations of the AR model least in BIC.

    *Transient.* Means over blocks of the Mahalanobis distance of the first rows, under mean and
    covariance of the later ones, against their scatter.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(1).standard_normal(1000)
    >>> states = np.stack([np.roll(z, k) for k in range(4)], axis=1)
    >>> print(check_recording(states[10:990], z[12:992]))
    warning: the states are late by 2 steps: they hold nothing of the input at lags 0 to 1 and \
R² = 1.00 at lag 2; pass states[2:], inputs[:-2], unless this delay is the system's own
    """
    x, z = _validated(states, inputs, require_limit(washout, "washout"))
    level = require_number(level, "level", "above 0 and at most 0.05", lambda p: 0 < p <= 0.05)
    if broken := _not_finite(x, z, washout):
        return Findings((broken,), kept=np.arange(x.shape[1]), washout=washout)
    found: list[Finding] = []
    kept = distinct_columns(x, found)
    signal = check_input(z, level, found)
    if len(kept) == 0 or signal is None:
        return Findings(tuple(found), kept=kept, washout=washout)
    rows, columns = len(x), len(kept)
    _check_length(rows, columns, found)
    half = min(rows // 2, max(LONG, 20 * columns) // 2)
    head, body = (x[a : a + half][:, kept].astype(float) for a in (0, rows // 2))
    floor, step = check_storage(body, z, found)
    if not signal.period:  # a repeated peak is no clipping
        check_clipping(x, kept, found)
    start = check_transient(head, body, washout, level, found)
    # of a long recording its middle, unless the input repeats: its targets cover the first period
    first, last = (start, rows) if rows < 2 * half + 2 else (rows // 2, rows // 2 + half)
    basis = check_rank(x[first:last][:, kept].astype(float), floor, found)
    if signal.period:
        first, last = start, min(signal.period, start + 2 * half)
        basis = basis_of(x[first:last][:, kept].astype(float))[0]
    targets = tuple(target[first:last] for target in signal.targets)
    shift = check_alignment(basis, targets, level, found)
    return Findings(
        tuple(sorted(found, key=lambda one: ("error", "warning", "info").index(one.level))),
        kept=kept,
        step=step,
        shift=shift,
        washout=washout + start,
        coloured=signal.coloured,
        period=signal.period,
    )


def _validated(states: Any, inputs: Any, washout: int) -> tuple[NDArray[Any], Floats]:
    """Views of what was passed, less the washout, if it has the form of a recording."""
    x, z = _real(states, "states"), _real(inputs, "inputs")
    if x.ndim != 2 or 0 in x.shape:
        raise ValueError(
            f"`states` must be a T×N array, one state a row, got shape {x.shape}; a single node's "
            f"series is states[:, None]."
        )
    if z.ndim == 2 and z.shape[1] == 1:
        z = z[:, 0]
    if z.ndim != 1:
        raise ValueError(
            f"`inputs` must be one series of T values, got shape {z.shape}; several inputs are not "
            f"supported: pass one column, e.g. inputs[:, 0]."
        )
    if len(x) != len(z):
        turned = (
            "`states` seems transposed: pass states.T"
            if x.shape[1] == len(z)
            else ("cut them to the same time steps, row t of `states` being driven by inputs[t]")
        )
        raise ValueError(
            f"`states` and `inputs` must have a row for every time step, got {len(x)} rows of "
            f"states (shape {x.shape}) and {len(z)} inputs; {turned}."
        )
    if len(z) - washout < LEAST:
        raise ValueError(
            f"`states` must have at least {LEAST} rows after the washout, got {len(z)} less "
            f"`washout`={washout}; record longer, 20 rows a state at least."
        )
    return x[washout:], z[washout:].astype(float)


def _real(value: Any, argument: str) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"`{argument}` must be a plain array, got a masked one; cut the recording to a stretch "
            f"without masked entries and pass its .data."
        )
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(
            f"`{argument}` must be a rectangular array, got rows of unequal length. ({error})"
        ) from None
    if array.dtype.kind == "c":
        raise TypeError(
            f"`{argument}` must be real, got dtype {array.dtype}; read complex states through real "
            f"and imaginary parts, e.g. numpy.hstack([x.real, x.imag])."
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"`{argument}` must hold numbers, got dtype {array.dtype}; convert them first, e.g. "
            f"numpy.asarray({argument}, dtype=float)."
        )
    return array


def _not_finite(x: NDArray[Any], z: Floats, washout: int) -> Finding | None:
    bad = ~(np.isfinite(x).all(axis=1) & np.isfinite(z))
    if not bad.any():
        return None
    ends = np.concatenate([[-1], np.flatnonzero(bad), [len(z)]]) + washout
    longest = int(np.diff(ends).argmax())
    first, last = int(ends[longest]) + 1, int(ends[longest + 1])
    return Finding(
        "error",
        "not_finite",
        f"{bad.sum()} of {len(z)} rows hold NaN or infinite numbers, the first is row "
        f"{int(ends[1])}; nothing else was checked",
        f"rows taken out would break the order in time: cut to the longest stretch without, "
        f"[{first}:{last}] of both, {last - first} rows",
    )


def _check_length(rows: int, columns: int, found: list[Finding]) -> None:
    if rows >= 20 * columns:
        return
    message = f"there are {rows} rows for {columns} states, "
    remedy = f"record {20 * columns} rows or more"
    if rows <= columns:
        message += "not more than states: every input is fitted perfectly, at every lag"
        remedy += ", or read fewer states"
    elif rows < 10 * columns:
        message += f"{rows / columns:.1f} a state: totals and their standard errors are unreliable"
    else:
        message += (
            f"{rows / columns:.1f} a state: totals of slow networks are biased and their standard "
            f"errors too small"
        )
        remedy += ", 60 a state for slow networks"
    level: Level = "error" if rows <= columns else "warning"
    found.append(Finding(level, "short", message, remedy))
