"""Usable memory of many small diagonal networks at once, in input-normal coordinates.

A channel has modes λ_k driven by its own input, x_k(t) = λ_k x_k(t−1) + b_k z_t; complex states are
read through real and imaginary parts. The all-pass cascade of its poles is the input-normal
realization ξ_t = A'ξ_{t−1} + C'z_t, and the states are x = Tξ with rows in closed form::

    T_k = b_k Σ_t λ_k^t ξ(t) = b_k Ξ(λ_k),   Ξ(z) the transfer function of the cascade's states

so that no digit is lost however close the poles are. Where a channel has several inputs (``drive``
has a third axis), T is the triangular factor of [B, ΛB, Λ²B, …]. Noise is relative: s times the
standard deviation of each state, as rounding is, which makes b irrelevant but for its phase. With
the singular value decomposition of T, rows scaled to one, and F = diag(σ/√(σ² + s²))Vᵀ::

    MC_τ(s) = ‖F A'^τ C'‖²,   Σ_{τ≥m} MC_τ(s) = ‖F A'^m‖²
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.types import EPS, SEED, Floats
from memcurve.synthesis import jacobi

#: Real or complex.
Numbers = NDArray[Any]
#: A measured change times this is an error. Doubled: errors twice as large.
SAFETY = 20.0


class ChannelMemory(NamedTuple):
    """Numbers of each channel: all arrays are (channels,)."""

    usable: Floats
    error: Floats
    rank: NDArray[np.int64]
    half: Floats
    nine_tenths: Floats
    mean_age: Floats
    time_constant: Floats


class _OrthogonalSection(NamedTuple):
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
    T, sizes, sections = state_rows(poles, drive)
    U, sigma, Vt = np.linalg.svd(T, full_matrices=False)
    weights = sigma**2 / (sigma**2 + noise**2)
    total = weights.sum(axis=1)
    error = rounding_error(sigma, noise, row_error(poles, drive))
    if sections is None:
        W = U.transpose(0, 2, 1) / np.sqrt(sigma**2 + noise**2)[:, :, None]
        W = W / np.where(sizes > 0, sizes, 1.0)[:, None, :]
        channels = zip(poles, T * sizes[:, :, None], W, total, strict=True)
        half, nine_tenths, age = np.array([_driven_ages(*each) for each in channels]).T
    else:
        A, _ = _cascade(sections)
        half, nine_tenths, age = _ages(A, np.sqrt(weights)[:, :, None] * Vt, total)
    moduli = np.abs(poles).max(axis=1)
    with np.errstate(divide="ignore"):
        slowest = np.where(moduli > 0, -1 / np.log(np.where(moduli > 0, moduli, 0.5)), 0.0)
    return ChannelMemory(total, error, _ranks(poles, drive), half, nine_tenths, age, slowest)


def state_rows(
    poles: Numbers, drive: Numbers | None
) -> tuple[Floats, Floats, list[_OrthogonalSection] | None]:
    """T with rows scaled to one, their sizes, the states' deviations, and the cascade, if any.

    Rows of complex states are their real and imaginary parts in turn.
    """
    sections = None
    if drive is not None and drive.ndim == 3:
        T = np.stack([_summed(*each) for each in zip(poles, drive, strict=True)])
    else:
        sections, X = _transfer(poles)
        T = _parts(X if drive is None else X * drive[:, :, None])
    sizes = np.sqrt((T**2).sum(axis=2, keepdims=True))
    return np.where(sizes > 0, T / np.where(sizes > 0, sizes, 1.0), 0.0), sizes[:, :, 0], sections


def _parts(X: Numbers) -> Floats:
    """Rows (…, modes, k) of complex states as those of their real and imaginary parts in turn."""
    if not np.iscomplexobj(X):
        return X
    return np.stack([X.real, X.imag], axis=-2).reshape(*X.shape[:-2], -1, X.shape[-1])


def _summed(poles: Numbers, X: Numbers) -> Floats:
    """T with TTᵀ = Σ_j (Λ^jX)(Λ^jX)ᵀ of the real states, by doubling; QR errs row by row."""
    power = poles
    while True:
        rows = _parts(np.concatenate([X, power[:, None] * X], axis=1))
        rows = np.asarray(np.linalg.qr(rows.T, mode="r")).T
        if np.abs(power).max() <= EPS:
            return np.pad(rows, ((0, 0), (0, len(rows) - rows.shape[1])))
        X = rows[::2] + 1j * rows[1::2] if np.iscomplexobj(X) else rows
        power = power**2


def _driven_ages(poles: Numbers, T: Floats, W: Floats, total: float) -> tuple[float, float, float]:
    """Half, nine tenths and mean age of one channel: Σ_{τ≥m} MC_τ(s) = ‖WΛ^mT‖²."""
    X = T[::2] + 1j * T[1::2] if np.iscomplexobj(poles) else T

    def later(lag: int) -> float:
        return float(np.square(W @ _parts(poles[:, None] ** lag * X)).sum())

    lags = []
    for left in (0.5, 0.1):
        within, beyond = 0, 1
        while later(beyond) > left * total:
            within, beyond = beyond, 2 * beyond
        while beyond - within > 1:
            middle = (within + beyond) // 2
            is_within = later(middle) > left * total
            within, beyond = (middle, beyond) if is_within else (within, middle)
        lags.append(float(beyond))
    age = float(np.square(W @ _summed(poles, poles[:, None] * X)).sum() / total)
    return lags[0], lags[1], age


def row_error(poles: Numbers, drive: Numbers | None) -> Floats:
    """How far rows of T are off, (channels, 1): a few roundings a section, or of powers of Λ."""
    states = poles.shape[1] * (2 if np.iscomplexobj(poles) else 1)
    error = np.full(len(poles), 8 * EPS * states**1.5)
    if drive is not None and drive.ndim == 3:
        error = error + 4 * EPS / (1 - np.abs(poles).max(axis=1))
    return error[:, None]


def rounding_error(sigma: Floats, noise: float, change: Floats) -> Floats:
    """Bounds on the error of usable memory from the singular values of T, one for each channel.

    Singular values move by the ``change`` of the rows, one by one or as a vector (Weyl, Mirsky).
    The slope 2σs²/(σ² + s²)² of σ²/(σ² + s²) falls beyond σ = s/√3.
    """
    ratio = np.maximum((sigma - change) / noise, 3**-0.5)
    moved = change / noise * 2 * (ratio / (1 + ratio**2)) / (1 + ratio**2)
    one_by_one = np.minimum(moved, 1).sum(axis=1)
    rounding = 4 * sigma.shape[1] * EPS
    return np.asarray(np.minimum(one_by_one, np.linalg.norm(moved, axis=1)) + rounding)


def _section(pole: Numbers) -> _OrthogonalSection:
    """The lattice section of a real pole, or of a pole and its conjugate."""
    if not np.iscomplexobj(pole):
        c = np.sqrt((1 - pole) * (1 + pole))
        return _OrthogonalSection(pole[:, None, None], c[:, None], c[:, None], -pole)
    modulus = np.abs(pole)
    square, inside = modulus**2, (1 - modulus) * (1 + modulus)
    s1 = -2 * pole.real / (1 + square)
    c1 = np.sqrt(inside**2 + 4 * pole.imag**2) / (1 + square)
    s2, c2 = square, np.sqrt(inside * (1 + square))
    A = np.stack([np.stack([-s1, -c1 * s2], 1), np.stack([c1, -s1 * s2], 1)], 1)
    return _OrthogonalSection(A, np.stack([c1 * c2, s1 * c2], 1), np.stack([0 * c2, c2], 1), s2)


def _cascade(sections: list[_OrthogonalSection]) -> tuple[Floats, Floats]:
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


def _transfer(poles: Numbers) -> tuple[list[_OrthogonalSection], Numbers]:
    """The sections of the cascade, and Ξ(λ) = (1 − λA')⁻¹C' at all poles (channels, modes, n)."""
    sections = [_section(poles[:, k]) for k in range(poles.shape[1])]
    u, parts = np.ones_like(poles), []
    for k, each in enumerate(sections):
        parts.append(_response(each, poles, u))
        u = u * _through(poles[:, k, None], poles)
    return sections, np.concatenate(parts, axis=2)


def _response(section: _OrthogonalSection, z: Numbers, u: Numbers) -> Numbers:
    """States of a section for an input of transfer u, at z: (1 − zA)⁻¹Bu."""
    if section.A.shape[1] == 1:
        return np.asarray(section.B * u / (1 - z * section.A[:, 0]))[:, :, None]
    # Cramer's rule: determinant 1 + a₁z + a₂z², which is away from zero within the disc
    (a, b), (c, d) = section.A.transpose(1, 2, 0)[..., None]
    first, second = section.B.T[..., None]
    scale = u / ((1 - z * a) * (1 - z * d) - z**2 * b * c)
    both = (1 - z * d) * first + z * b * second, (1 - z * a) * second + z * c * first
    return np.asarray(np.stack(both, axis=2) * scale[:, :, None])


def _through(pole: Numbers, z: Numbers) -> Numbers:
    """(z − λ̄)/(1 − λz), with the conjugate of complex poles: exactly zero at the pole itself."""
    if not np.iscomplexobj(pole):
        return np.asarray((z - pole) / (1 - pole * z))
    both = (z - pole) * (z - pole.conj())
    return np.asarray(both / ((1 - pole.conj() * z) * (1 - pole * z)))


def _ages(
    A: Floats, F: Floats, total: Floats, *, doublings: int = 48
) -> tuple[Floats, Floats, Floats]:
    """Lags that hold half and nine tenths of the memory, and its mean age.

    Up to 2^``doublings`` lags; beyond, they are infinite.
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
    within = []
    for left in (0.5, 0.1):
        reached, rest = np.zeros(len(A)), F
        for k in range(len(powers) - 1, -1, -1):
            further = rest @ powers[k]
            stays = np.square(further).sum(axis=(1, 2)) > left * total
            rest = np.where(stays[:, None, None], further, rest)
            reached += np.where(stays, 2.0**k, 0.0)
        within.append(np.where(lost, np.inf, reached + 1))
    return within[0], within[1], np.where(lost, np.inf, age)


def _ranks(poles: Numbers, drive: Numbers | None) -> NDArray[np.int64]:
    """Controllable states: complex modes count twice, conjugates and equal ones are the same."""
    if drive is not None and drive.ndim == 3:
        return np.array([_driven_rank(*each) for each in zip(poles, drive, strict=True)])
    ordered = np.sort_complex(poles.real + 1j * np.abs(poles.imag))
    distinct = np.concatenate([np.ones((len(poles), 1), bool), np.diff(ordered, axis=1) != 0], 1)
    if not np.iscomplexobj(poles):
        return np.asarray(distinct.sum(axis=1))
    return np.asarray((distinct * np.where(ordered.imag == 0, 1, 2)).sum(axis=1))


def _driven_rank(poles: Numbers, B: Numbers) -> int:
    """Of several inputs equal modes are as many as their rows of B are independent."""
    B = np.where(poles.imag[:, None] < 0, B.conj(), B)
    same, rank = poles.real + 1j * np.abs(poles.imag), 0
    for pole in np.unique(same):
        rows = B[same == pole]
        is_real = pole.imag == 0
        rows = _parts(rows) if is_real else rows
        rank += int(np.linalg.matrix_rank(rows)) * (1 if is_real else 2)
    return rank


def channel_hankel_values(
    poles: Numbers, drive: Numbers | None, output: Numbers | None
) -> tuple[Floats, Floats]:
    """Hankel singular values of channels, largest first, and their relative errors.

    With y = Re Σ_k c_k x_k the Hankel operator is Re Σ_k c_k b_k Ξ(λ_k)ᵀΞ(λ_k) in the cascade's
    orthonormal coordinates of past inputs and of future outputs; where all states are outputs, its
    rows are those of T, each times the length 1/√(1 − |λ_k|²) of what follows. Poles in Leja's
    order make these graded matrices, of which Jacobi rotations find all singular values to relative
    accuracy. Errors as for :func:`memcurve.hankel_values`: of numbers rounded at random.
    """
    rng, given = np.random.default_rng(SEED), (poles, drive, output)
    runs = [_hankel(*given)]
    for _ in range(3):
        rounded = (
            None if x is None else x * (1 + 2 * EPS * rng.standard_normal(x.shape)) for x in given
        )
        runs.append(_hankel(*rounded))
    values = runs[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.abs(np.log(runs[1:]) - np.log(values)).max(axis=0)
    change = np.where(values > 0, np.where(np.isfinite(change), change, np.inf), 0.0)
    return values, SAFETY * change + 16 * EPS


def _hankel(poles: Any, drive: Numbers | None, output: Numbers | None) -> Floats:
    order = _leja_order(poles)
    poles = np.take_along_axis(poles, order, axis=1)
    b = 1.0 if drive is None else np.take_along_axis(drive, order, axis=1)
    if output is None:
        after = b / np.sqrt((1 - np.abs(poles)) * (1 + np.abs(poles)))
        rows, lengths, _ = state_rows(poles, after)
        M = rows * lengths[:, :, None]
    else:
        X = _transfer(poles)[1]
        sizes = np.sqrt(np.square(np.abs(X)).sum(axis=1, keepdims=True))
        even = X / np.where(sizes > 0, sizes, 1.0)
        weights = np.take_along_axis(output, order[:, None], axis=2) * np.atleast_2d(b)[:, None]
        M = np.real(even.transpose(0, 2, 1)[:, None] * weights[:, :, None] @ even[:, None])
        M = (M * (sizes.transpose(0, 2, 1) * sizes)[:, None]).reshape(len(poles), -1, X.shape[2])
    return np.array([jacobi(each)[0] for each in M])


def _leja_order(poles: Numbers) -> NDArray[np.int64]:
    """The modes of each channel one by one, each where the sections before let most through."""
    each, order = np.arange(len(poles)), []
    weights = -np.log((1 - np.abs(poles)) * (1 + np.abs(poles)))
    for _ in range(poles.shape[1]):
        order.append(np.argmax(weights, axis=1))
        weights[each, order[-1]] = -np.inf
        with np.errstate(divide="ignore"):
            passed = 2 * np.log(np.abs(_through(poles[each, order[-1]][:, None], poles)))
        weights = weights + np.maximum(passed, -1e300)
    return np.stack(order, axis=1)
