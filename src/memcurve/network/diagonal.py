"""Diagonal recurrences of state-space layers: eigenvalues and B → LinearNetwork."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import exact_array, table_entry
from memcurve.network.linear import LinearNetwork

Numbers = NDArray[Any]


def diagonal_network(
    eigenvalues: Any,
    B: Any,
    *,
    step: Any = None,
    discretisation: str = "zoh",
    name: str | None = None,
) -> LinearNetwork:
    """What :func:`memcurve.adapters.diagonal` makes of arrays."""
    from scipy.sparse import diags_array

    poles, mask = exact_array(eigenvalues, "eigenvalues"), _validated_mask(B)
    if poles.ndim != 1 or len(poles) == 0:
        raise ValueError(
            f"`eigenvalues` must be a vector, the diagonal of A; got shape {poles.shape}. Take one "
            f"feature of a layer that has several, e.g. eigenvalues[0]."
        )
    if len(mask) != len(poles):
        raise ValueError(
            f"`B` must have one row for each of the {len(poles)} `eigenvalues`, got shape "
            f"{np.shape(B)}{'; transpose it' if np.shape(B)[-1:] == poles.shape else ''}."
        )
    notes: tuple[str, ...] = ()
    if step is None:
        _require_discrete(poles[mask.reshape(len(poles), -1).any(axis=1)])
    else:
        rule = table_entry(_DISCRETISATIONS, discretisation, "discretisation")
        steps = exact_array(step, "step")
        steps = steps.reshape(()) if steps.size == 1 else steps.ravel()
        fits = steps.dtype.kind == "f" and steps.shape in ((), poles.shape)
        if not fits or not (steps > 0).all():
            raise ValueError(
                f"`step` must be a number above 0, or {len(poles)} of them, one per state; got "
                f"{step!r}."
            )
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused, as infinite
            poles, gain = rule(poles, steps)
        mask = (gain * mask.T).T
        notes = (f"continuous-time eigenvalues and B, discretised ({discretisation})",)
    return LinearNetwork(diags_array(poles, format="csr"), mask, name=name, notes=notes)


def _require_discrete(driven: Numbers) -> None:
    """Raise where poles that grow in discrete time would all decay in continuous time."""
    modulus = float(np.abs(driven).max(initial=0.0))
    if modulus > 1 and (driven.real < 0).all():
        raise ValueError(
            f"`eigenvalues` must have moduli below 1, got {modulus:.6g}, but all real parts are "
            f"negative: they seem to be those of continuous time. Give the time step, e.g. "
            f"step=0.01 (in a file: a number `step`, `Delta` or `dt`), or scale them below 1."
        )


def _zero_order_hold(poles: Numbers, step: Numbers) -> tuple[Numbers, Numbers]:
    scaled = step * poles
    # expm1(x)/x is smooth, but written so it is 0/0 at x = 0
    at_zero = scaled == 0
    growth = np.where(at_zero, 1, np.expm1(scaled) / np.where(at_zero, 1, scaled))
    return np.exp(scaled), step * growth


def _bilinear(poles: Numbers, step: Numbers) -> tuple[Numbers, Numbers]:
    half = step * poles / 2
    if (half == 1).any():
        raise ValueError(
            "`step` must not be 2/λ for any of the `eigenvalues`: the bilinear rule divides by "
            "1 − step·λ/2; take another step, or discretisation='zoh'."
        )
    return (1 + half) / (1 - half), step / (1 - half)


_DISCRETISATIONS: dict[str, Callable[[Numbers, Numbers], tuple[Numbers, Numbers]]] = {
    "zoh": _zero_order_hold,
    "bilinear": _bilinear,
}


def _validated_mask(B: Any) -> Numbers:
    mask = exact_array(B, "B")
    if mask.ndim == 3 and mask.shape[2] == 2 and mask.dtype.kind == "f":
        mask = mask[..., 0] + 1j * mask[..., 1]
    if mask.ndim not in (1, 2) or mask.size == 0:
        raise ValueError(
            f"`B` must have shape (N,), (N, d), or (N, d, 2) with real and imaginary parts; got "
            f"{mask.shape}."
        )
    return mask[:, 0] if mask.ndim == 2 and mask.shape[1] == 1 else mask
