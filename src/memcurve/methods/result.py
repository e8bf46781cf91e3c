"""What methods share: the network as matrices at the start, and a MemoryCurve at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.allpass import NEGLIGIBLE_MEMORY
from memcurve.arguments import require_size
from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError, UnstableNetworkError
from memcurve.general import Problem
from memcurve.network import LinearNetwork

Floats = NDArray[np.float64]

NO_ERROR_NOTE = "no error bound: this method cannot tell how far it is off; method='exact' can"


def dense_single_input(network: LinearNetwork) -> tuple[Floats, Floats]:
    """Return A as a dense matrix and the one column of C, both real, for a method without proofs.

    A mask so large or small that its squares leave float64 is scaled, which memory does not feel.
    """
    require_stable(network)
    A, C = network.real_pair()
    largest = float(np.abs(C).max())
    if largest == 0:
        raise UncertainResultError(
            "the mask is zero, and this method has nothing to work on; method='exact' gives 0."
        )
    scale = 1.0 if 1e-100 < largest < 1e100 else largest
    return (A if isinstance(A, np.ndarray) else A.toarray()), C[:, 0] / scale


def require_stable(network: LinearNetwork) -> None:
    """Raise where LAPACK's eigenvalues say that the network is unstable."""
    radius = network.spectral_radius
    if radius >= 1:
        raise UnstableNetworkError(
            f"the network is unstable as far as floating point can tell: its spectral radius is "
            f"{radius:.6g}. Scale `A` below 1."
        )


def require_driven(problem: Problem) -> None:
    """Raise where no state that is read is ever driven: a method without proofs has no data."""
    if len(problem.rows) == 0 or not problem.C.any():
        raise UncertainResultError(
            "no input reaches the states that are read, and this method has nothing to work on; "
            "method='exact' gives 0."
        )


def problem_options(problem: Problem) -> dict[str, Any]:
    """The inputs and the noise as text, for the record."""
    options: dict[str, Any] = {}
    if not problem.is_white:
        names = [process.name for process in problem.processes]
        options["input"] = names[0] if len(set(names)) == 1 else names
    if problem.noise is not None:
        options["noise"] = repr(problem.noise)
    return options


def truncation_for(size: int, given: int | None, argument: str, lags: int | None = None) -> int:
    """Return the number of columns of the Krylov matrix: 5N unless given, and at least ``lags``."""
    if given is None:
        return max(5 * size, lags or 0)
    if require_size(given, argument) < size:
        raise ValueError(f"`{argument}` must be at least the number of states {size}, got {given}.")
    if lags is not None and lags > given:
        raise ValueError(
            f"`lags` must be at most `{argument}`={given} for this method, got {lags}; raise "
            f"`{argument}`."
        )
    return int(given)


def single_channel_curve(
    network: LinearNetwork,
    *,
    method: str,
    memory: Floats,
    loss: Floats,
    error: Floats,
    rank: int,
    capped: bool = False,
    notes: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    diagnostics: Mapping[str, Any] | None = None,
) -> MemoryCurve:
    """The curve of a single-input network whose total over all lags is its rank."""
    if capped:
        missing = rank - float(memory.sum())
        notes = [
            *notes,
            f"lags stop at {len(memory)}: {missing:.3g} of the memory {rank} lies beyond (the "
            f"default aims at {NEGLIGIBLE_MEMORY:g}); give `lags` to see further",
        ]
    return MemoryCurve(
        lags=np.arange(len(memory)),
        values=memory,
        error=error,
        loss=loss,
        total=float(rank),
        total_error=0.0,
        rank=rank,
        channels=memory[:, None],
        method=method,
        notes=tuple(notes),
        options=dict(options or {}),
        diagnostics=dict(diagnostics or {}),
        network=network.name or f"N = {network.size}",
    )


def estimated_curve(
    network: LinearNetwork,
    method: str,
    memory: Floats,
    *,
    total: float | None = None,
    bands: Floats | None = None,
    notes: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    diagnostics: Mapping[str, Any] | None = None,
) -> MemoryCurve:
    """The curve of a method that has no error bound and does not know the rank.

    ``memory`` has a column an input, or is a vector for one.
    """
    channels = memory.reshape(len(memory), -1)
    values = channels.sum(axis=1)
    return MemoryCurve(
        lags=np.arange(len(values)),
        values=values,
        error=np.full(len(values), np.nan),
        loss=channels.shape[1] - values,
        total=float(values.sum()) if total is None else total,
        rank=None,
        channels=channels,
        bands=bands,
        method=method,
        notes=(*notes, NO_ERROR_NOTE),
        options=dict(options or {}),
        diagnostics=dict(diagnostics or {}),
        network=network.name or f"N = {network.size}",
    )
