"""Usable memory of many small diagonal networks at once, in input-normal coordinates.

A channel has modes λ_k driven by its own input, x_k(t) = λ_k x_k(t−1) + b_k z_t; complex states are
read through real and imaginary parts. The all-pass cascade of its poles is the input-normal
realization ξ_t = A'ξ_{t−1} + C'z_t, and the states are x = Tξ with rows in closed form::

    T_k = b_k Σ_t λ_k^t ξ(t) = b_k Ξ(λ_k),   Ξ(z) the transfer function of the cascade's states

so that no digit is lost however close the poles are. Where a channel has several inputs (``drive``
has a third axis), or modes that act on each other (a matrix A in place of its poles), T is the
triangular factor of [B, AB, A²B, …], by doubling. Noise is relative: s times the standard deviation
of each state, as rounding is, which makes b irrelevant but for its phase. With T = D·UΣVᵀ, D the
standard deviations, and W = diag(1/√(σ² + s²))UᵀD⁻¹::

    Σ_τ MC_τ(s) = Σ_i σ_i²/(σ_i² + s²),   Σ_{τ≥m} MC_τ(s) = ‖W A^m T‖²
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.types import EPS, SEED, Floats
from memcurve.memory import rank
from memcurve.network import LinearNetwork
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


def channel_memory(
    A: Numbers, drive: Numbers | None, noise: float, *, entries: int = 2**21
) -> ChannelMemory:
    """Memory of channels with poles (channels, modes), or matrices, ``entries`` at a time."""
    rows = max(1, entries // real_states(A) ** 2)
    parts = []
    for start in range(0, len(A), rows):
        block = slice(start, start + rows)
        parts.append(_block(A[block], None if drive is None else drive[block], noise))
    return ChannelMemory(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def real_states(A: Numbers) -> int:
    """How many real states a channel has."""
    return int(A.shape[1]) * (2 if np.iscomplexobj(A) else 1)


def _block(A: Numbers, drive: Numbers | None, noise: float) -> ChannelMemory:
    powers = _powers(A)
    T, sizes = state_rows(A, drive, powers)
    U, sigma, _ = np.linalg.svd(T, full_matrices=False)
    total, change = (sigma**2 / (sigma**2 + noise**2)).sum(axis=1), row_error(A, drive)
    if A.ndim == 3:
        change = change + _measured_change(A, drive, sigma)
    # ages are those of the states above rounding
    squares = sigma**2 + noise**2 + change**2
    W = U.transpose(0, 2, 1) / np.sqrt(squares)[:, :, None]
    W = W / np.where(sizes > 0, sizes, 1.0)[:, None, :]
    X, usable = _modes(T * sizes[:, :, None], A), (sigma**2 / squares).sum(axis=1)
    half, nine_tenths = (_lags(powers, W, X, left * usable) for left in (0.5, 0.1))
    later = np.square(W @ _summed(powers, _advanced(A, X))).sum(axis=(1, 2))
    age = later / np.where(usable > 0, usable, 1.0)  # nothing is remembered where nothing drives
    moduli = np.abs(np.linalg.eigvals(A) if A.ndim == 3 else A).max(axis=1)
    with np.errstate(divide="ignore"):
        slowest = np.where(moduli > 0, -1 / np.log(np.where(moduli > 0, moduli, 0.5)), 0.0)
    error = rounding_error(sigma, noise, change)
    rank = _ranks(A, drive, sigma[:, -1:] > change)
    return ChannelMemory(total, error, rank, half, nine_tenths, age, slowest)


def state_rows(
    A: Numbers, drive: Numbers | None, powers: list[Numbers] | None = None
) -> tuple[Floats, Floats]:
    """T with rows scaled to one (of complex states real and imaginary parts), and their sizes."""
    if drive is not None and max(A.ndim, drive.ndim) == 3:
        T = _summed(powers or _powers(A), drive)
    else:
        X = _transfer(A)
        T = _parts(X if drive is None else X * drive[:, :, None])
    sizes = np.sqrt((T**2).sum(axis=2, keepdims=True))
    return np.where(sizes > 0, T / np.where(sizes > 0, sizes, 1.0), 0.0), sizes[:, :, 0]


def _parts(X: Numbers) -> Floats:
    """Rows (…, modes, k) of complex states as those of their real and imaginary parts in turn."""
    if not np.iscomplexobj(X):
        return X
    return np.stack([X.real, X.imag], axis=-2).reshape(*X.shape[:-2], -1, X.shape[-1])


def _modes(T: Floats, A: Numbers) -> Numbers:
    """Rows of the real states as those of the states that A acts on."""
    return T[:, ::2] + 1j * T[:, 1::2] if np.iscomplexobj(A) else T


def _advanced(power: Numbers, X: Numbers) -> Numbers:
    """A^m X of poles or of matrices."""
    return np.asarray(power @ X if power.ndim == 3 else power[:, :, None] * X)


def _powers(A: Numbers) -> list[Numbers]:
    """A, A², A⁴, … until they vanish; those of matrices may not, for rounding."""
    powers, most = [A], 48 if A.ndim == 3 else 64
    while np.abs(powers[-1]).max() > EPS and len(powers) <= most:
        powers.append(powers[-1] @ powers[-1] if A.ndim == 3 else powers[-1] ** 2)
    return powers


def _summed(powers: list[Numbers], X: Numbers) -> Floats:
    """T with TTᵀ = Σ_j (A^jX)(A^jX)ᵀ of the real states, by doubling; QR errs row by row."""
    for power in powers:
        X = np.concatenate([X, _advanced(power, X)], axis=2)
        if X.shape[2] > (n := real_states(X)):
            R = np.linalg.qr(_parts(X).transpose(0, 2, 1), mode="r")
            X = _modes(np.asarray(R).transpose(0, 2, 1), X)
    T = _parts(X)
    return np.pad(T, ((0, 0), (0, 0), (0, n - T.shape[2])))


def _lags(powers: list[Numbers], W: Floats, X: Numbers, left: Floats) -> Floats:
    """How many lags there are until Σ_{τ≥m} MC_τ = ‖W A^m X‖² is no more than ``left``."""
    lags = np.ones(len(W))
    for k in range(len(powers) - 1, -1, -1):
        further = _advanced(powers[k], X)
        stays = np.square(W @ _parts(further)).sum(axis=(1, 2)) > left
        X = np.where(stays[:, None, None], further, X)
        lags += np.where(stays, 2.0**k, 0.0)
    return lags


def _measured_change(A: Numbers, drive: Numbers | None, sigma: Floats) -> Floats:
    """How far singular values of T move where matrices and masks are rounded at random."""
    A, drive = _rounded([A, drive], np.random.default_rng(SEED))
    moved: Floats = np.linalg.svd(state_rows(A, drive)[0], compute_uv=False) - sigma
    return np.asarray(SAFETY * np.linalg.norm(moved, axis=1, keepdims=True))


def _rounded(arrays: Sequence[Any], rng: np.random.Generator) -> list[Any]:
    """The same to about a rounding."""
    return [x if x is None else x * (1 + 2 * EPS * rng.standard_normal(x.shape)) for x in arrays]


def row_error(A: Numbers, drive: Numbers | None) -> Floats:
    """How far rows of T are off, (channels, 1): a few roundings a section, or of powers of A."""
    error = np.full(len(A), 8 * EPS * real_states(A) ** 1.5)
    if A.ndim == 2 and drive is not None and drive.ndim == 3:
        error = error + 4 * EPS / (1 - np.abs(A).max(axis=1))
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


def _section(pole: Numbers) -> tuple[Floats, Floats]:
    """A and B of the lattice section, x' = Ax + Bu, of a real pole, or of one and its conjugate."""
    if not np.iscomplexobj(pole):
        return pole[:, None, None], np.sqrt((1 - pole) * (1 + pole))[:, None]
    modulus = np.abs(pole)
    square, inside = modulus**2, (1 - modulus) * (1 + modulus)
    s1 = -2 * pole.real / (1 + square)
    c1 = np.sqrt(inside**2 + 4 * pole.imag**2) / (1 + square)
    c2 = np.sqrt(inside * (1 + square))
    A = np.stack([np.stack([-s1, -c1 * square], 1), np.stack([c1, -s1 * square], 1)], 1)
    return A, np.stack([c1 * c2, s1 * c2], 1)


def _transfer(poles: Numbers) -> Numbers:
    """Ξ(λ) = (1 − λA')⁻¹C' of the cascade at all poles (channels, modes, n)."""
    u, parts = np.ones_like(poles), []
    for k in range(poles.shape[1]):
        parts.append(_response(*_section(poles[:, k]), poles, u))
        u = u * _through(poles[:, k, None], poles)
    return np.concatenate(parts, axis=2)


def _response(A: Floats, B: Floats, z: Numbers, u: Numbers) -> Numbers:
    """States of a section for an input of transfer u, at z: (1 − zA)⁻¹Bu."""
    if A.shape[1] == 1:
        return np.asarray(B * u / (1 - z * A[:, 0]))[:, :, None]
    # Cramer's rule: determinant 1 + a₁z + a₂z², which is away from zero within the disc
    (a, b), (c, d) = A.transpose(1, 2, 0)[..., None]
    first, second = B.T[..., None]
    scale = u / ((1 - z * a) * (1 - z * d) - z**2 * b * c)
    both = (1 - z * d) * first + z * b * second, (1 - z * a) * second + z * c * first
    return np.asarray(np.stack(both, axis=2) * scale[:, :, None])


def _through(pole: Numbers, z: Numbers) -> Numbers:
    """(z − λ̄)/(1 − λz), with the conjugate of complex poles: exactly zero at the pole itself."""
    if not np.iscomplexobj(pole):
        return np.asarray((z - pole) / (1 - pole * z))
    both = (z - pole) * (z - pole.conj())
    return np.asarray(both / ((1 - pole.conj() * z) * (1 - pole * z)))


def _ranks(A: Numbers, drive: Numbers | None, is_full: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Controllable states: all where no singular value of T may be zero, else by exact means."""
    ranks = np.full(len(A), real_states(A))
    if drive is not None and A.ndim == 3:
        for k in np.flatnonzero(~is_full):
            ranks[k] = rank(LinearNetwork(A[k], drive[k]))
    elif drive is not None and drive.ndim == 3:
        ranks = np.array([_driven_rank(*pair) for pair in zip(A, drive, strict=True)])
    else:  # complex modes count twice, conjugates and equal ones are the same
        poles, none = A.real + 1j * np.abs(A.imag), 2.0
        ordered = np.sort_complex(poles if drive is None else np.where(drive == 0, none, poles))
        is_new = (np.diff(ordered, axis=1, prepend=np.inf) != 0) & (ordered != none)
        twice = np.where(ordered.imag == 0, 1, 2) if np.iscomplexobj(A) else 1
        ranks = np.asarray((is_new * twice).sum(axis=1))
    return ranks


def _driven_rank(poles: Numbers, B: Numbers) -> int:
    """Of several inputs equal modes are as many as their rows of B are independent."""
    B = np.where(poles.imag[:, None] < 0, B.conj(), B)
    same, count = poles.real + 1j * np.abs(poles.imag), 0
    for pole in np.unique(same):
        rows = B[same == pole]
        is_real = pole.imag == 0
        rows = _parts(rows) if is_real else rows
        count += int(np.linalg.matrix_rank(rows)) * (1 if is_real else 2)
    return count


def channel_hankel_values(
    poles: Numbers, drive: Numbers | None, output: Numbers | None
) -> tuple[Floats, Floats]:
    """Hankel singular values of channels, largest first, and their relative errors.

    With y = Re Σ_k c_k x_k the Hankel operator is Re Σ_k c_k b_k Ξ(λ_k)ᵀΞ(λ_k) in the cascade's
    orthonormal coordinates of past inputs and of future outputs; where all states are outputs, its
    rows are those of T, each times the length 1/√(1 − |λ_k|²) of what follows. Poles in Leja's
    order make these graded matrices, of which Jacobi rotations find all singular values to relative
    accuracy; not so for matrices. Errors as for :func:`memcurve.hankel_values`: of numbers rounded
    at random.
    """
    rng, arrays = np.random.default_rng(SEED), [poles, drive, output]
    values, *runs = [_hankel(*arrays), *(_hankel(*_rounded(arrays, rng)) for _ in range(3))]
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.abs(np.log(runs) - np.log(values)).max(axis=0)
    change = np.where(values > 0, np.where(np.isfinite(change), change, np.inf), 0.0)
    return values, SAFETY * change + 16 * EPS


def _hankel(poles: Any, drive: Numbers | None, output: Numbers | None) -> Floats:
    if poles.ndim == 3:  # matrices: the factors of both Gramians
        rows, lengths = state_rows(poles, drive)
        identity = np.broadcast_to(np.eye(poles.shape[1]), poles.shape)
        after = _summed(_powers(poles.transpose(0, 2, 1)), identity).transpose(0, 2, 1)
        return np.array([jacobi(matrix)[0] for matrix in after @ (rows * lengths[:, :, None])])
    order = _leja_order(poles)
    poles = np.take_along_axis(poles, order, axis=1)
    b = 1.0 if drive is None else np.take_along_axis(drive, order, axis=1)
    if output is None:
        after = b / np.sqrt((1 - np.abs(poles)) * (1 + np.abs(poles)))
        rows, lengths = state_rows(poles, after)
        M = rows * lengths[:, :, None]
    else:
        X = _transfer(poles)
        sizes = np.sqrt(np.square(np.abs(X)).sum(axis=1, keepdims=True))
        even = X / np.where(sizes > 0, sizes, 1.0)
        weights = np.take_along_axis(output, order[:, None], axis=2) * np.atleast_2d(b)[:, None]
        M = np.real(even.transpose(0, 2, 1)[:, None] * weights[:, :, None] @ even[:, None])
        M = (M * (sizes.transpose(0, 2, 1) * sizes)[:, None]).reshape(len(poles), -1, X.shape[2])
    return np.array([jacobi(matrix)[0] for matrix in M])


def _leja_order(poles: Numbers) -> NDArray[np.int64]:
    """The modes of each channel one by one, each where the sections before let most through."""
    channels, order = np.arange(len(poles)), []
    weights = -np.log((1 - np.abs(poles)) * (1 + np.abs(poles)))
    for _ in range(poles.shape[1]):
        order.append(np.argmax(weights, axis=1))
        weights[channels, order[-1]] = -np.inf
        with np.errstate(divide="ignore"):
            passed = 2 * np.log(np.abs(_through(poles[channels, order[-1]][:, None], poles)))
        weights = weights + np.maximum(passed, -1e300)
    return np.stack(order, axis=1)
