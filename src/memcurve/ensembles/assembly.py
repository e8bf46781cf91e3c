"""A matrix, a mask and a label → LinearNetwork; and the random streams of the two."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve import masks
from memcurve.arguments import Seed, exact_array, generator, require_number, require_size
from memcurve.limits import require_room_for_array
from memcurve.network import LinearNetwork

Mask = ArrayLike | None


def assembled(
    A: Any,
    mask: Mask,
    own_mask: ArrayLike,
    kind: str,
    details: str,
    seed: Seed | None,
    *,
    mask_rng: np.random.Generator | None = None,
    drawn: bool = True,
) -> LinearNetwork:
    """Join connectivity and mask; the label names the seed only if something was ``drawn``.

    A mask that is drawn comes from ``mask_rng``, by default the mask's stream of the seed.
    """
    size = A.shape[0]
    if mask_rng is None and seed is not None:
        mask_rng = streams(seed)[1]
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
    if isinstance(mask, str):
        label.append(f"mask {mask}")
        drawn = drawn or masks.is_random(mask)
    if drawn and isinstance(seed, int | np.integer):
        label.append(f"seed {seed}")
    return LinearNetwork(A, C, name=", ".join(label))


def require_nodes(size: Any, *, sparse: bool = False) -> int:
    """Return ``size`` as an int if it is a number of nodes, and the weights between them fit."""
    nodes = require_size(size)
    if not sparse:
        require_room_for_array((nodes, nodes), f"an ensemble of `size`={nodes}")
    return nodes


def require_radius(spectral_radius: Any) -> float:
    """Return ``spectral_radius`` as a float if it is finite and not negative."""
    return require_number(spectral_radius, "spectral_radius", "at least 0", lambda r: r >= 0)


def streams(seed: Seed) -> tuple[np.random.Generator, np.random.Generator]:
    """Return independent streams for the connectivity and the mask."""
    matrix_rng, mask_rng = generator(seed).spawn(2)
    return matrix_rng, mask_rng
