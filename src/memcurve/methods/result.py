"""From a method's numbers to a MemoryCurve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.allpass import NEGLIGIBLE_MEMORY
from memcurve.curve import MemoryCurve
from memcurve.network import LinearNetwork

Floats = NDArray[np.float64]


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
        rank=rank,
        channels=memory[:, None],
        method=method,
        notes=tuple(notes),
        options=dict(options or {}),
        diagnostics=dict(diagnostics or {}),
        network=network.name or f"N = {network.size}",
    )
