"""Usable memory of many small diagonal networks at once, in input-normal coordinates.

A channel has modes λ_k driven by its own input, x_k(t) = λ_k x_k(t−1) + b_k z_t; complex states are
read through real and imaginary parts. The all-pass cascade of its poles is the input-normal
realization ξ_t = A'ξ_{t−1} + C'z_t, and the states are x = Tξ with rows in closed form::

    T_k = b_k Σ_t λ_k^t ξ(t) = b_k Ξ(λ_k),   Ξ(z) the transfer function of the cascade's states

so that no digit is lost however close the poles are. Noise is relative: s times the standard
deviation of each state, as rounding is, which makes b irrelevant but for its phase. With the
singular value decomposition of T, rows scaled to one, and F = diag(σ/√(σ² + s²))Vᵀ::

    MC_τ(s) = ‖F A'^τ C'‖²,   Σ_{τ≥m} MC_τ(s) = ‖F A'^m‖²
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.types import EPS, Floats

#: Real or complex.
Numbers = NDArray[Any]


class ChannelMemory(NamedTuple):
    """Numbers of each channel: all arrays are (channels,)."""

    usable: Floats
    error: Floats
    rank: NDArray[np.int64]
    half: Floats
    nine_tenths: Floats
    mean_age: Floats
    time_constant: Floats


class _Section(NamedTuple):
    """An orthogonal section of the cascade, for all channels: x' = Ax + Bu, y = Cx + Du."""

    A: Floats
    B: Floats
    C: Floats
    D: Floats


def channel_memory(
    poles: Numbers, drive: Numbers | None, noise: float, *, entries: int = 2**21
) -> ChannelMemory:
    """Memory of channels with these ``poles`` (channels, modes), under relative ``noise``.

    At most ``entries`` matrix entries are held at once; twice as many take twice the memory.
    """
    states = poles.shape[1] * (2 if np.iscomplexobj(poles) else 1)
    rows = max(1, entries // states**2)
    parts = []
    for start in range(0, len(poles), rows):
        block = slice(start, start + rows)
        part = None if drive is None else drive[block]
        parts.append(_block(poles[block], part, noise))
    return ChannelMemory(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _block(poles: Numbers, drive: Numbers | None, noise: float) -> ChannelMemory:
    T, _, sections = state_rows(poles, drive)
    A, _ = _cascade(sections)
    _, sigma, Vt = np.linalg.svd(T, full_matrices=False)
    weights = sigma**2 / (sigma**2 + noise**2)
    total, error = weights.sum(axis=1), rounding_error(sigma, noise)
    F = np.sqrt(weights)[:, :, None] * Vt
    half, nine_tenths, age = _ages(A, F, total)
    moduli = np.abs(poles).max(axis=1)
    with np.errstate(divide="ignore"):
        slowest = np.where(moduli > 0, -1 / np.log(np.where(moduli > 0, moduli, 0.5)), 0.0)
    return ChannelMemory(total, error, _ranks(poles), half, nine_tenths, age, slowest)


def state_rows(poles: Numbers, drive: Numbers | None) -> tuple[Floats, Floats, list[_Section]]:
    """T with rows scaled to one, their sizes, which are the states' deviations, and the cascade."""
    sections = [_section(poles[:, k]) for k in range(poles.shape[1])]
    T = _states(poles, sections, drive)
    sizes = np.sqrt((T**2).sum(axis=2, keepdims=True))
    live = sizes > 0
    return np.where(live, T / np.where(live, sizes, 1.0), 0.0), sizes[:, :, 0], sections


def rounding_error(sigma: Floats, noise: float) -> Floats:
    """Bounds on the error of usable memory from the singular values of T, one for each channel.

    Rows are good to a few roundings a section, and singular values, one by one or as a vector, to
    ‖δT‖ (Weyl, Mirsky). The slope 2σs²/(σ² + s²)² of σ²/(σ² + s²) falls beyond σ = s/√3.
    """
    states = sigma.shape[1]
    change = 8 * states * EPS * np.sqrt(states)
    ratio = np.maximum((sigma - change) / noise, 3**-0.5)
    moved = change / noise * 2 * (ratio / (1 + ratio**2)) / (1 + ratio**2)
    one_by_one = np.minimum(moved, 1).sum(axis=1)
    return np.asarray(np.minimum(one_by_one, np.linalg.norm(moved, axis=1)) + 4 * states * EPS)


def _section(pole: Numbers) -> _Section:
    """The lattice section of a real pole, or of a pole and its conjugate."""
    if not np.iscomplexobj(pole):
        c = np.sqrt((1 - pole) * (1 + pole))
        return _Section(pole[:, None, None], c[:, None], c[:, None], -pole)
    modulus = np.abs(pole)
    square, inside = modulus**2, (1 - modulus) * (1 + modulus)
    s1 = -2 * pole.real / (1 + square)
    c1 = np.sqrt(inside**2 + 4 * pole.imag**2) / (1 + square)
    s2, c2 = square, np.sqrt(inside * (1 + square))
    A = np.stack([np.stack([-s1, -c1 * s2], 1), np.stack([c1, -s1 * s2], 1)], 1)
    return _Section(A, np.stack([c1 * c2, s1 * c2], 1), np.stack([0 * c2, c2], 1), s2)


def _cascade(sections: list[_Section]) -> tuple[Floats, Floats]:
    """A' and C' of the sections in a row: AAᵀ + CCᵀ = 1."""
    count = len(sections[0].D)
    n = sum(each.A.shape[1] for each in sections)
    A, C = np.zeros((count, n, n)), np.zeros((count, n))
    output, through = np.zeros((count, n)), np.ones(count)
    at = 0
    for each in sections:
        own = slice(at, at + each.A.shape[1])
        A[:, own, :] = each.B[:, :, None] * output[:, None, :]
        A[:, own, own] = each.A
        C[:, own] = each.B * through[:, None]
        output *= each.D[:, None]
        output[:, own] = each.C
        through = each.D * through
        at = own.stop
    return A, C


def _states(poles: Numbers, sections: list[_Section], drive: Numbers | None) -> Floats:
    """T: the states in input-normal coordinates, real rows (channels, states, n)."""
    is_complex = np.iscomplexobj(poles)
    rows = []
    for k in range(poles.shape[1]):
        z = poles[:, k]
        u = np.ones(len(z), dtype=poles.dtype) if drive is None else drive[:, k].astype(poles.dtype)
        parts = []
        for j, each in enumerate(sections):
            parts.append(_response(each, z, u))
            u = u * _through(poles[:, j], z)
        row = np.concatenate(parts, axis=1)
        rows += [row.real, row.imag] if is_complex else [row]
    return np.stack(rows, axis=1)


def _response(section: _Section, z: Numbers, u: Numbers) -> Numbers:
    """States of a section for an input of transfer u, at z: (1 − zA)⁻¹Bu."""
    A, B = section.A, section.B
    if A.shape[1] == 1:
        return (B * u[:, None]) / (1 - z * A[:, 0, 0])[:, None]
    # Cramer's rule: determinant 1 + a₁z + a₂z², which is away from zero within the disc
    determinant = (1 - z * A[:, 0, 0]) * (1 - z * A[:, 1, 1]) - z**2 * A[:, 0, 1] * A[:, 1, 0]
    first = (1 - z * A[:, 1, 1]) * B[:, 0] + z * A[:, 0, 1] * B[:, 1]
    second = (1 - z * A[:, 0, 0]) * B[:, 1] + z * A[:, 1, 0] * B[:, 0]
    return np.stack([first, second], axis=1) * (u / determinant)[:, None]


def _through(pole: Numbers, z: Numbers) -> Numbers:
    """(z − λ̄)/(1 − λz), with the conjugate of complex poles: exactly zero at the pole itself."""
    if not np.iscomplexobj(pole):
        return np.asarray((z - pole) / (1 - pole * z))
    both = (z - pole) * (z - pole.conj())
    return np.asarray(both / ((1 - pole.conj() * z) * (1 - pole * z)))


def _ages(
    A: Floats, F: Floats, total: Floats, *, doublings: int = 21
) -> tuple[Floats, Floats, Floats]:
    """Lags that hold half and nine tenths of the memory, and its mean age.

    Up to 2^``doublings`` lags; beyond, they are infinite. Twice as many take twice the time.
    """
    powers = [A]
    later = A @ A.transpose(0, 2, 1)  # Σ_{m≥1} A^m(A^m)ᵀ, by doubling
    for _ in range(doublings):
        power = powers[-1]
        later = later + power @ later @ power.transpose(0, 2, 1)
        powers.append(power @ power)
        if np.abs(powers[-1]).max() < EPS:
            break
    age = np.einsum("cij,cjk,cik->c", F, later, F) / total
    lost = (np.square(powers[-1]).sum(axis=(1, 2)) > EPS) & (len(powers) > doublings)
    found = []
    for left in (0.5, 0.1):
        reached, rest = np.zeros(len(A)), F
        for k in range(len(powers) - 1, -1, -1):
            further = rest @ powers[k]
            stays = np.square(further).sum(axis=(1, 2)) > left * total
            rest = np.where(stays[:, None, None], further, rest)
            reached += np.where(stays, 2.0**k, 0.0)
        found.append(np.where(lost, np.inf, reached + 1))
    return found[0], found[1], np.where(lost, np.inf, age)


def _ranks(poles: Numbers) -> NDArray[np.int64]:
    """Modes that differ: complex ones count twice, real ones once; conjugates are the same."""
    ordered = np.sort_complex(poles.real + 1j * np.abs(poles.imag))
    distinct = np.concatenate([np.ones((len(poles), 1), bool), np.diff(ordered, axis=1) != 0], 1)
    if not np.iscomplexobj(poles):
        return np.asarray(distinct.sum(axis=1))
    return np.asarray((distinct * np.where(ordered.imag == 0, 1, 2)).sum(axis=1))
