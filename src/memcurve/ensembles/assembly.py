"""A matrix, a mask and a label → LinearNetwork; and the random streams of the two."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve import masks
from memcurve.arguments import Seed, exact_array, generator, require_number
from memcurve.network import LinearNetwork

Floats = NDArray[np.float64]
Mask = ArrayLike | None


def assembled(
    A: Any,
    mask: Mask,
    own_mask: ArrayLike,
    mask_rng: np.random.Generator | None,
    kind: str,
    details: str,
    seed: Any,
) -> LinearNetwork:
    size = A.shape[0]
    chosen = own_mask if mask is None else mask
    if isinstance(chosen, str):
        C = masks.make(chosen, size, seed=mask_rng)
    else:
        C = exact_array(chosen, "mask")
        if C.ndim not in (1, 2) or len(C) != size:
            raise ValueError(
                f"`mask` must have shape ({size},) or ({size}, d) to fit {size} nodes, got "
                f"{C.shape}; or name one of {', '.join(masks.MASKS)}."
            )
    label = [kind, f"N={size}", details]
    if isinstance(seed, int | np.integer):
        label.append(f"seed {seed}")
    return LinearNetwork(A, C, name=", ".join(label))


def require_radius(spectral_radius: Any) -> float:
    return require_number(spectral_radius, "spectral_radius", "at least 0", lambda r: r >= 0)


def streams(seed: Seed) -> tuple[np.random.Generator, np.random.Generator]:
    matrix_rng, mask_rng = generator(seed).spawn(2)
    return matrix_rng, mask_rng


def mask_stream(seed: Seed | None) -> np.random.Generator | None:
    return None if seed is None else streams(seed)[1]
