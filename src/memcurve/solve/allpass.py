"""Poles → memory curve: the tail energy of an all-pass filter, by an orthogonal lattice.

With B(z) = Π_k (z − λ̄_k)/(1 − λ_k z) = Σ_j b_j z^j, the all-pass filter whose poles are the
network's controllable eigenvalues, the memory of the network driven by white input is::

    MC_τ = Σ_{j>τ} |b_j|² = 1 − Σ_{j≤τ} |b_j|²

because the rows of the infinite Krylov matrix span the model space H² ⊖ B·H². Summed over all lags
it gives Σ_j j|b_j|², the winding number of B, which is the number of poles.

The filter runs as a cascade of orthogonal sections, each with its own states x (one for a real
pole, two for a conjugate pair) and the signal u passing through::

    [x; u] ← M [x; u],    M orthogonal,    u = 1, 0, 0, … into the first section

so that the cascade holds exactly the energy that has not left yet: MC_τ = Σ‖x‖² and
1 − MC_τ = Σ u_out². Both are sums of squares: nothing cancels, nothing is truncated, and both keep
*relative* accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memcurve.core.types import Complexes, Floats
from memcurve.solve.answer import Lags

#: Lags that a wave of the lattice takes at once. Doubled: less time for each wave, more for it to
#: get through the groups of sections.
LAGS = 6


def memory_of_poles(poles: Complexes, lags: int | None = None) -> tuple[Floats, Floats]:
    """``(MC_τ, 1 − MC_τ)`` for τ = 0 … lags − 1; for as many as matter by default."""
    blocks: list[tuple[Floats, Floats]] = []
    listed = Lags(lags, len(poles))
    for block in _lattice_blocks(poles):
        blocks.append(block)
        if listed.enough(block[0]):
            break
    memory, signal = (np.concatenate(parts)[: listed.count] for parts in zip(*blocks, strict=True))
    loss = np.cumsum(signal**2)
    # energy is conserved exactly in theory: dividing by the sum removes its drift in practice
    energy = memory + loss
    return memory / energy, loss / energy


def impulse_response(poles: Complexes, count: int) -> Floats:
    """Coefficients b_0 … b_{count−1} of the filter: the signal that leaves the cascade."""
    blocks: list[Floats] = []
    for _, signal in _lattice_blocks(poles):
        blocks.append(signal)
        if sum(map(len, blocks)) >= count:
            break
    return np.concatenate(blocks)[:count]


def section_poles(poles: Complexes) -> Complexes:
    """One pole a section, in order of modulus: the real ones and the upper ones of the pairs."""
    chosen = poles[poles.imag >= 0]
    if 2 * np.count_nonzero(chosen.imag) + np.count_nonzero(chosen.imag == 0) != len(poles):
        raise ValueError("`poles` must come in conjugate pairs, as those of a real network do.")
    return chosen[np.argsort(np.abs(chosen), kind="stable")]


def sections_of(upper_poles: Complexes) -> Floats:
    """Orthogonal matrices (sections, 3, 3) that map (u, x₁, x₂) to (x₁, x₂, u).

    A real pole λ, with s = √(1 − λ²)::

        x₁ ← λ x₁ + s u,    u ← s x₁ − λ u        (x₂ stays zero)

    A pair λ, λ̄ with r = |λ| is a normalised lattice of two rotations, cosines
    k₁ = −2 Re λ/(1 + r²) and k₂ = r², sines c₁ = |1 − λ²|/(1 + r²) and c₂ = √(1 − r⁴)::

        x₁ ← −k₁ x₁ − c₁k₂ x₂ + c₁c₂ u,    x₂ ← c₁ x₁ − k₁k₂ x₂ + k₁c₂ u,    u ← c₂ x₂ + k₂ u
    """
    sections = np.zeros((len(upper_poles), 3, 3))
    is_real = upper_poles.imag == 0
    real, upper = upper_poles.real[is_real], upper_poles[~is_real]
    s, zero = np.sqrt((1 - real) * (1 + real)), np.zeros_like(real)
    single = np.array([[s, real, zero], [zero, zero, zero], [-real, s, zero]])
    r, zero = np.abs(upper), np.zeros(len(upper))
    k1, k2 = -2 * upper.real / (1 + r**2), r**2
    c1 = np.abs(1 - upper) * np.abs(1 + upper) / (1 + r**2)
    c2 = np.sqrt((1 - r) * (1 + r) * (1 + r**2))
    double = np.array([[c1 * c2, -k1, -c1 * k2], [k1 * c2, c1, -k1 * k2], [k2, zero, c2]])
    sections[is_real] = single.transpose(2, 0, 1)
    sections[~is_real] = double.transpose(2, 0, 1)
    return sections


def cascade(upper_poles: Complexes) -> tuple[Floats, Floats]:
    """Real (A', C') with the poles of these sections whose states are white: A'A'ᵀ + C'C'ᵀ = I."""
    system = system_matrix(upper_poles)
    return np.ascontiguousarray(system[1:, 1:]), system[1:, 0].copy()


def system_matrix(upper_poles: Complexes) -> Floats:
    """The cascade as one orthogonal matrix [[d, row], [C', A']], input and what leaves it first.

    What enters section k is row·ξ_{t−1} + d·z_t, from the states ξ of the sections before it and
    the input z; row and d start at 0 and 1.
    """
    orders = np.where(upper_poles.imag == 0, 1, 2)  # a real pole has one state
    size = int(orders.sum())
    system = np.zeros((size + 1, size + 1))
    A, C = system[1:, 1:], system[1:, 0]
    row, d, start = np.zeros(size), 1.0, 0
    for section, order in zip(sections_of(upper_poles), orders.tolist(), strict=True):
        own = slice(start, start + order)
        from_u, from_x = section[:, 0], section[:, 1 : 1 + order]
        A[own, :start] = from_u[:order, None] * row[:start]
        A[own, own] = from_x[:order]
        C[own] = from_u[:order] * d
        row, d = from_u[2] * row, from_u[2] * d
        row[own] = from_x[2]
        start += order
    system[0, 0], system[0, 1:] = d, row
    return system


def _full_sections(upper_poles: Complexes) -> Floats:
    """Sections of two poles each: pairs, and real poles two by two, one after the other."""
    is_real = upper_poles.imag == 0
    real = upper_poles.real[is_real]
    left_over = upper_poles[np.flatnonzero(is_real)[2 * (len(real) // 2) :]]
    a, b = real[: 2 * (len(real) // 2)].reshape(-1, 2).T
    s, t, zero = np.sqrt((1 - a) * (1 + a)), np.sqrt((1 - b) * (1 + b)), np.zeros_like(a)
    both = np.array([[s, a, zero], [-t * a, t * s, b], [a * b, -b * s, t]]).transpose(2, 0, 1)
    rest = np.concatenate([left_over, upper_poles[~is_real]])
    sections = np.concatenate([both, sections_of(rest)])
    # ascending modulus, that of the larger one for two real poles
    modulus = np.concatenate([np.maximum(np.abs(a), np.abs(b)), np.abs(rest)])
    return np.asarray(sections[np.argsort(modulus, kind="stable")])


def _grouped(sections: Floats, *, group: int = 6) -> Floats:
    """Join consecutive sections into maps (signals, states) → (states, signals), LAGS at once."""
    # a section that lets u through fills the last group
    through = np.zeros((-len(sections) % group, 3, 3))
    through[:, 2, 0] = 1.0
    members = np.concatenate([sections, through]).reshape(-1, group, 3, 3)
    states = 2 * group
    one = np.zeros((len(members), 1 + states, 1 + states))
    one[:, range(1 + states), range(1 + states)] = 1.0
    for k in range(group):
        own = [0, 2 * k + 1, 2 * k + 2]  # u and this member's states change, by all of them
        one[:, own] = members[:, k, [2, 0, 1]] @ one[:, own]
    joined = np.zeros((len(members), LAGS + states, LAGS + states))
    joined[:, range(states), range(LAGS, LAGS + states)] = 1.0
    for lag in range(LAGS):  # of the signals and states at first
        now = joined[:, :states].copy()
        both = np.concatenate([np.eye(1, LAGS + states, lag)[None] + 0 * now[:, :1], now], axis=1)
        both = one @ both
        joined[:, states + lag], joined[:, :states] = both[:, 0], both[:, 1:]
    return joined


def _lattice_blocks(
    poles: Complexes, *, negligible: float = 1e-40
) -> Iterator[tuple[Floats, Floats]]:
    """Yield MC_τ and the signal b_τ that leaves, for consecutive lags, block by block, endlessly.

    Group k handles the lags of time t in wave k + t: one operation on all groups. Fast poles come
    first, and are left out once a ``negligible`` share of the energy that has not left is in them.
    """
    groups = _grouped(_full_sections(section_poles(poles)))
    rows, steps = _wavefront(groups, int(np.clip(len(groups) // LAGS, 16, 256)))
    rows[0, 0] = 1.0
    lost, passed = 0.0, 0
    skip = len(groups) - 1  # the first lags leave the cascade in wave count − 1
    while True:
        for before, after in steps:
            np.matmul(groups, before, after)
        signals, last = rows[1:, -LAGS:].copy(), rows[-1]
        held = np.einsum("ij,ij->i", rows[1:, :-LAGS], rows[1:, :-LAGS])
        lost += float((signals**2).sum())
        if skip < len(held):
            memory = np.repeat(held[:, None], LAGS, axis=1)
            memory[:, :-1] += np.cumsum(signals[:, :0:-1] ** 2, axis=1)[:, ::-1]
            yield memory[skip:].ravel(), signals[skip:].ravel()
        skip, passed = max(0, skip - len(held)), passed + len(held)
        energy = np.cumsum((last[:-LAGS].reshape(len(groups), -1) ** 2).sum(axis=1))
        done = int(np.searchsorted(energy, negligible * min(held[-1], lost), side="right"))
        if skip == 0 and len(groups) > done > len(groups) // 8:
            last = last[done * groups.shape[1] :]
            groups = groups[done:]
            # the longer it took, the longer it goes on
            rows, steps = _wavefront(groups, int(np.clip(passed // 4, 16, 256)))
        rows[0] = last


def _wavefront(groups: Floats, waves: int) -> tuple[Floats, list[tuple[Floats, Floats]]]:
    """Rows of zeros, one a wave, of (signals, states) and what leaves; what each reads and writes.

    What leaves group k enters group k + 1: the next row is written LAGS places further.
    """
    count, order, _ = groups.shape
    rows = np.zeros((waves + 1, order * count + LAGS))
    shape = (waves, count, order, 1)
    read, written = rows[:-1, :-LAGS].reshape(shape), rows[1:, LAGS:].reshape(shape)
    return rows, list(zip(read, written, strict=True))
