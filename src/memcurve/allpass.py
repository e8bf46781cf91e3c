"""Poles → memory curve: the tail energy of an all-pass filter, by a unitary lattice.

With B(z) = Π_k (z − λ̄_k)/(1 − λ_k z) = Σ_j b_j z^j, the all-pass filter whose poles are the
network's controllable eigenvalues, the memory of the network driven by white input is::

    MC_τ = Σ_{j>τ} |b_j|² = 1 − Σ_{j≤τ} |b_j|²

because the rows of the infinite Krylov matrix span the model space H² ⊖ B·H². Summed over all lags
it gives Σ_j j|b_j|², the winding number of B, which is the number of poles.

The filter runs as a cascade of unitary sections, s_k = √(1 − |λ_k|²)::

    x_k ← λ_k x_k + s_k u,    u ← s_k x_k(before) − λ̄_k u,    u = 1, 0, 0, … into the first section

whose states hold exactly the energy that has not left yet: MC_τ = ‖x‖² and 1 − MC_τ = Σ|u_out|².
Both are sums of squares: nothing cancels, nothing is truncated, and both keep *relative* accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Memory, summed over all later lags, that may lie beyond the lags chosen by default.
NEGLIGIBLE_MEMORY = 1e-12
#: No more lags than this are chosen by default, however close the poles are to the unit circle.
MOST_DEFAULT_LAGS = 100_000


def memory_of_poles(
    poles: NDArray[np.complex128], lags: int | None = None
) -> tuple[Floats, Floats]:
    """Return ``(MC_τ, 1 − MC_τ)`` for τ = 0 … lags − 1.

    ``lags=None`` goes on until all but :data:`NEGLIGIBLE_MEMORY` is held, or to
    :data:`MOST_DEFAULT_LAGS`.
    """
    blocks: list[tuple[Floats, Floats]] = []
    count = 0
    for memory, loss in _lattice_blocks(poles):
        blocks.append((memory, loss))
        if lags is None:
            lags = enough_lags(memory, first=count)
        count += len(memory)
        if lags is None and count >= MOST_DEFAULT_LAGS:
            lags = MOST_DEFAULT_LAGS
        if lags is not None and count >= lags:
            break
    memory, loss = (np.concatenate(parts)[:lags] for parts in zip(*blocks, strict=True))
    # energy is conserved exactly in theory: dividing by the sum removes its drift in practice
    energy = memory + loss
    return memory / energy, loss / energy


def enough_lags(memory: Floats, first: int = 0) -> int | None:
    """Number of lags m at which m·MC_{m−1} is negligible, or None if ``memory`` ends before.

    A pole with time constant T adds about 1/T to each of T lags, so what lies beyond lag m is
    below m·MC_m once that is small. ``memory[0]`` is the value at lag ``first``.
    """
    lags = first + 1 + np.arange(len(memory))
    small = np.flatnonzero(lags * memory <= NEGLIGIBLE_MEMORY)
    return int(lags[small[0]]) if len(small) else None


def _lattice_blocks(poles: NDArray[np.complex128]) -> Iterator[tuple[Floats, Floats]]:
    """Yield (MC, 1 − MC) for consecutive lags, block by block, without end.

    Section k handles time τ in wave k + τ, so that a wave is one vector operation on all sections.
    """
    # ascending modulus, conjugate pairs side by side
    order = np.lexsort((poles.imag, poles.real, np.abs(poles)))
    sections = poles[order] if np.any(poles.imag) else poles[order].real
    size = len(sections)
    modulus = np.abs(sections)
    s = np.sqrt((1 - modulus) * (1 + modulus))
    section = np.array([[sections, s], [s, -sections.conj()]])

    waves = int(np.clip(size, 128, 1024))
    # row w: states x_k, one gap, then the signals u_k entering section k and the one leaving last
    history = np.zeros((waves + 1, 2, size + 1), dtype=sections.dtype)
    history[0, 1, 0] = 1.0
    before = history[:-1, :, :size]
    row, _, cell = history.strides
    after = np.lib.stride_tricks.as_strided(
        history[1:], (waves, 2, size), (row, (size + 2) * cell, cell)
    )
    product = np.empty((2, 2, size), dtype=sections.dtype)
    left, right = product[:, 0], product[:, 1]
    # shear[w, w − k + size − 1] = |x_k|² in wave w, so that a column collects one lag
    shear = np.zeros((waves, waves + size))
    row, cell = shear.strides
    sheared = np.lib.stride_tricks.as_strided(shear, (waves, size), (row + cell, cell))

    unfinished = np.zeros(size - 1)
    lost = 0.0
    skip = size - 1  # the first lag leaves the cascade in wave size − 1
    while True:
        for inside, outside in zip(before, after, strict=True):
            np.multiply(section, inside, out=product)
            np.add(left, right, out=outside)
        sheared[:] = _energy(history[1:, 0, size - 1 :: -1] if size > 1 else history[1:, 0, :1])
        held = shear.sum(axis=0)
        held[: size - 1] += unfinished
        unfinished = held[waves : waves + size - 1].copy()
        loss = lost + np.cumsum(_energy(history[1:, 1, size]))
        lost = float(loss[-1])
        history[0] = history[-1]
        history[0, 1, 0] = 0.0
        if skip < waves:
            yield held[skip:waves], loss[skip:]
        skip = max(0, skip - waves)


def _energy(signal: NDArray[np.complex128] | Floats) -> Floats:
    return np.asarray(signal.real**2 + signal.imag**2 if np.iscomplexobj(signal) else signal**2)
