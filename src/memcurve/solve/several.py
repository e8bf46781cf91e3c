"""Input-normal realization for several inputs: Blaschke–Potapov factors from a Schur form.

With A lower triangular (a Schur form), λ its first entry, c the first row of C, u = c/‖c‖ and
s = √(1 − |λ|²), the first state alone is an all-pass section in the direction u::

    ξ ← λξ + s·u·v,        v ← v − u*·u·v + βu*(sξ − λ̄·u·v),        β = (1 − λ)/(1 − λ̄)

What the other states owe to ξ is x = (I − λ̄T₂₂)⁻¹(λ̄t₂₁ + C₂(su)*), with t₂₁ scaled to unit
variance of ξ; taken away, they are a smaller network driven by the signal v that has passed::

    C₂ ← B + (β̄s·a − (1 + β̄λ)·B u*)·u,      a = T₂₂x + t₂₁ − λx,      B = C₂ − x(su)

and so on. The phase β lets constant signals pass unchanged, so that the two sections of a
conjugate pair have real coefficients together. No Gramian is formed; rows are kept near unit size
by powers of two, which are exact. Conjugate pairs of sections are rotated to real coordinates at
the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import Complexes, Floats


def several_input_cascade(A: Floats, C: Floats) -> tuple[Floats, Floats]:
    """Real (A', C') with A'A'ᵀ + C'C'ᵀ = I, similar to a controllable pair (A, C)."""
    poles, directions = _sections(A, C)
    return _real_state_space(poles, directions)


def _sections(A: Floats, C: Floats) -> tuple[Complexes, Complexes]:
    """Poles (n,), conjugate pairs adjacent, and unit directions (n, d) of the sections."""
    from scipy.linalg import rsf2csf, schur, solve_triangular

    S, Z = rsf2csf(*schur(A.T, output="real"))
    T: Any = S.conj().T.copy()
    rest: Any = Z.conj().T @ C
    poles, directions = _paired(np.diag(T)), np.empty(rest.shape, complex)
    if not np.abs(poles).max() < 1:
        raise UncertainResultError("the eigenvalues come out at modulus one or beyond.")
    for k, pole in enumerate(poles):
        length = float(np.linalg.norm(rest[0]))
        if not 0 < length < np.inf:
            raise UncertainResultError(
                "a mode of this network is not driven by any input, up to rounding."
            )
        s = np.sqrt((1 - abs(pole)) * (1 + abs(pole)))
        u = directions[k] = rest[0] / length
        column, T, rest = T[1:, 0] * (length / s), T[1:, 1:], rest[1:]
        if len(T) == 0:
            break
        owed = solve_triangular(
            np.eye(len(T)) - pole.conj() * T, pole.conj() * column + s * (rest @ u.conj()),
            lower=True, check_finite=False,
        )  # fmt: skip
        a = T @ owed + column - pole * owed
        B = rest - np.outer(owed, s * u)
        phase = (1 - pole.conj()) / (1 - pole)
        rest = B + np.outer(phase * s * a - (1 + phase * pole) * (B @ u.conj()), u)
        T, rest = _unit_rows(T, rest)
    return poles, directions


def _paired(diagonal: Complexes) -> Complexes:
    """Make neighbours that are conjugate up to rounding exactly so."""
    poles, k = diagonal.copy(), 0
    while k < len(poles):
        if poles[k].imag != 0 and k + 1 < len(poles):
            mean = (poles[k] + poles[k + 1].conj()) / 2
            poles[k : k + 2] = mean, mean.conj()
            k += 2
        else:
            poles[k] = poles[k].real
            k += 1
    return poles


def _unit_rows(T: Complexes, rest: Complexes) -> tuple[Complexes, Complexes]:
    """A diagonal similarity by powers of two that brings the rows of the mask near length one."""
    length = np.sqrt((np.abs(rest) ** 2).sum(axis=1))
    usable = (length > 0) & np.isfinite(length)
    scale = np.ldexp(1.0, -np.rint(np.log2(np.where(usable, length, 1.0))).astype(int))
    return T * (scale[:, None] / scale), rest * scale[:, None]


def _real_state_space(poles: Complexes, directions: Complexes) -> tuple[Floats, Floats]:
    """The cascade as one real state space.

    What enters section k is R ξ_{t−1} + D z_t, R and D starting at 0 and 1. The states of a pair of
    sections satisfy ξ̄ = Jξ with a symmetric unitary J = QᵀQ, so that Qξ is real.
    """
    n, d = directions.shape
    A, C = np.zeros((n, n)), np.zeros((n, d))
    R, D = np.zeros((d, n)), np.eye(d)
    start = 0
    while start < n:
        order = 1 if poles[start].imag == 0 else 2
        own = slice(start, start + order)
        a, b, c, through = _block(poles[own], directions[own])
        A[own, :start] = b @ R[:, :start]
        A[own, own] = a
        C[own] = b @ D
        R, D = through @ R, through @ D
        R[:, own] = c
        start += order
    return A, C


def _block(poles: Complexes, directions: Complexes) -> tuple[Floats, Floats, Floats, Floats]:
    """One real section (a, b, c, through): ξ ← aξ + bv, v ← cξ + through·v."""
    order, d = directions.shape
    a, b = np.zeros((order, order), complex), np.zeros((order, d), complex)
    c, through = np.zeros((d, order), complex), np.eye(d, dtype=complex)
    for k, (pole, u) in enumerate(zip(poles, directions, strict=True)):
        s = np.sqrt((1 - abs(pole)) * (1 + abs(pole)))
        a[k] += s * (u @ c)
        a[k, k] = pole
        b[k] = s * (u @ through)
        phase = (1 - pole) / (1 - pole.conj())
        c -= (1 + phase * pole.conj()) * np.outer(u.conj(), u @ c)
        c[:, k] += phase * s * u.conj()
        through -= (1 + phase * pole.conj()) * np.outer(u.conj(), u @ through)
    Q = _to_real(a, b)
    return (Q @ a @ Q.conj().T).real, (Q @ b).real, (c @ Q.conj().T).real, through.real


def _to_real(a: Complexes, b: Complexes, *, generic: float = 0.7390851332151607) -> Complexes:
    """Unitary Q with Qξ real, for a section whose impulse responses span a real space."""
    order = len(a)
    # J = Σ_k conj(a^k b)(a^k b)* solves J = conj(a) J a* + conj(b) b*
    system = np.eye(order * order) - np.kron(a.conj(), a.conj())
    J: Any = np.linalg.solve(system, (b.conj() @ b.conj().T).ravel()).reshape(order, order)
    J = (J + J.T) / 2
    # the real and imaginary parts of a symmetric unitary matrix commute: one rotation serves both
    axes: Any = np.linalg.eigh(J.real + generic * J.imag)[1]
    phases = np.angle(np.diag(axes.T @ J @ axes))
    return np.asarray(np.exp(0.5j * phases)[:, None] * axes.T)
