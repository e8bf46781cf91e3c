"""Networks whose memory is known in closed form: rings, delay lines and chains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from memcurve.arguments import Seed, exact_array, require_number, require_size
from memcurve.ensembles.assembly import (
    Mask,
    assembled,
    mask_stream,
    require_nodes,
    require_radius,
)
from memcurve.network import LinearNetwork


def permutation(
    size: int | None = None,
    *,
    cycles: Sequence[int] | None = None,
    spectral_radius: float = 0.9,
    mask: Mask = None,
    seed: Seed | None = None,
) -> LinearNetwork:
    """Rings of the lengths ``cycles`` side by side, all weights ρ. Mask: normal; it needs a seed.

    ``cycles`` is one ring of all nodes by default; ``size`` is their sum and may be left out. The
    eigenvalues are ρ times the c-th roots of one for each length c: common ones count once.

    Examples
    --------
    >>> from memcurve import ensembles
    >>> ensembles.permutation(cycles=[2, 3], seed=1).name
    'permutation, N=5, cycles 2+3, ρ=0.9, seed 1'
    """
    if cycles is None:
        cycles = [require_size(size)]
    cycles = [require_size(length, "cycles") for length in cycles]
    if not cycles or (size is not None and sum(cycles) != size):
        raise ValueError(
            f"`cycles` must add up to `size`, got {cycles} and {size!r}; leave out either one."
        )
    nodes = require_nodes(sum(cycles))
    A = np.zeros((nodes, nodes))
    for end, length in zip(np.cumsum(cycles), cycles, strict=True):
        A[end - length : end, end - length : end] = np.roll(np.eye(length), 1, axis=0)
    radius = require_radius(spectral_radius)
    details = f"cycles {'+'.join(map(str, cycles))}, ρ={radius:g}"
    return assembled(radius * A, mask, "normal", mask_stream(seed), "permutation", details, seed)


def cyclic(
    size: int, *, spectral_radius: float = 0.9, mask: Mask = None, seed: Seed | None = None
) -> LinearNetwork:
    """One ring of all nodes, ``A[i+1, i] = A[0, N−1] = ρ`` (Rodan and Tiňo 2011). Mask: e₁.

    Aᴺ = ρᴺ I, and MC_τ = (1 − ρ^{2N}) ρ^{2N⌊τ/N⌋}. The seed is for a random mask only.
    """
    size, radius = require_nodes(size), require_radius(spectral_radius)
    A = radius * np.roll(np.eye(size), 1, axis=0)
    return assembled(
        A, mask, "basis", mask_stream(seed), "cyclic", f"ρ={radius:g}", seed, drawn=False
    )


def delay_line(
    size: int, *, gain: float = 1.0, mask: Mask = None, seed: Seed | None = None
) -> LinearNetwork:
    """Shift register, ``A[i+1, i] = gain``: node k holds gainᵏ z_{t−k}. Mask: e₁.

    Nilpotent, so its spectral radius is 0; MC_τ = 1 for τ < N and 0 after. The seed is for a
    random mask only.
    """
    gain = require_number(gain, "gain", "of any size")
    A = gain * np.eye(require_nodes(size), k=-1)
    return assembled(
        A, mask, "basis", mask_stream(seed), "delay line", f"gain {gain:g}", seed, drawn=False
    )


def chain(
    size: int,
    *,
    loop: ArrayLike = 0.5,
    gain: float = 1.0,
    mask: Mask = None,
    seed: Seed | None = None,
) -> LinearNetwork:
    """Feed-forward chain with self loops, ``diag(loop)`` plus ``A[i+1, i] = gain``. Mask: e₁.

    ``loop`` is one weight for all nodes (a Jordan block for gain 1) or one a node; they are the
    eigenvalues. The seed is for a random mask only.
    """
    size, gain = require_nodes(size), require_number(gain, "gain", "of any size")
    loops = exact_array(loop, "loop")
    if loops.shape not in ((), (size,)):
        raise ValueError(
            f"`loop` must be one number or {size} of them, one a node; got shape {loops.shape}."
        )
    A = np.diag(np.broadcast_to(loops, size)) + gain * np.eye(size, k=-1)
    details = f"gain {gain:g}" if loops.ndim else f"loop {loops[()]:g}, gain {gain:g}"
    return assembled(A, mask, "basis", mask_stream(seed), "chain", details, seed, drawn=False)
