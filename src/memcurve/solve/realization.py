"""Input-normal realizations: A', C' with A'A'ᵀ + C'C'ᵀ = 1, and the map M to the states, x = Mξ.

* ``graded_realization``: from graded coordinates, without eigenvalues, any number of inputs;
* ``cascade_of``: the all-pass cascade of the poles; M solves a Stein equation, M = AMA'ᵀ + CC'ᵀ;
* ``modal_realization``: the same where A is diagonal, or has blocks of conjugate pairs, as in
  state-space layers. M is known in closed form then, each number to nearly all digits.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import EPS, Complexes, Floats
from memcurve.network.graph import separate_parts
from memcurve.solve.allpass import cascade, section_poles
from memcurve.solve.basis import EXHAUSTED
from memcurve.solve.factor import (
    PARALLEL,
    TAIL,
    KrylovFactor,
    ReducedModel,
    faded,
    graded_responses,
    hessenberg,
    orthonormal,
)
from memcurve.solve.powers import power_norms, solve_stein

#: Singular values of a delay are zero or one; further from both than this, it is none. Doubled:
#: nothing, as rounding moves them by some eps.
PARTLY = 1e-9


def graded_realization(model: ReducedModel) -> tuple[Floats, Floats, Floats]:
    """Input-normal A', C' and the map T to the states, x = Tξ, without eigenvalues.

    With S the scale of graded coordinates and L from R = LWᵀ, or from G = LLᵀ where several inputs
    do not fade: A' = L⁻¹S⁻¹HSL, C' = L⁻¹S⁻¹c, T = QSL, graded: small directions are kept.
    """
    from scipy.linalg import solve_triangular

    m, R = model.reached, None
    H, c, log_sizes = model.H[:m, :m], model.c[:m], model.log_sizes[:m]
    with contextlib.suppress(*([UncertainResultError] if c.shape[1] > 1 else [])):
        R, log_sizes = graded_responses(model, m, 0.0, (TAIL, TAIL))[:2]
    with np.errstate(all="ignore"):
        sizes = np.exp(log_sizes)
        A = np.where(H == 0, 0.0, H * (sizes / sizes[:, None]))
        C, T = c / sizes[:, None], np.diag(sizes)
    if not (sizes.min(initial=1.0) > 0 and np.isfinite(sizes).all()):
        raise UncertainResultError("responses differ so much in size that float64 overflows.")
    passes = 3 if R is None else 2  # the later ones for the rounding of those before
    for k in range(passes):
        if R is None:
            try:
                L: Any = np.linalg.cholesky(solve_stein(A, C @ C.T))
            except np.linalg.LinAlgError:
                L = np.zeros((m, m))
        else:
            L = orthonormal(np.asfortranarray(R.T))[1].T.copy()
        lengths = np.sqrt((L**2).sum(axis=1))
        if L.shape[1] < m or not (np.abs(np.diag(L)) > PARALLEL * lengths).all():
            raise UncertainResultError("graded directions of the responses are nearly parallel.")
        with np.errstate(all="ignore"):
            product = A @ L
        if not np.isfinite(product).all():
            raise UncertainResultError("responses differ so much in size that float64 overflows.")
        A = np.asarray(solve_triangular(L, product, lower=True))
        C, T = np.asarray(solve_triangular(L, C, lower=True)), T @ L
        if R is not None and k < passes - 1:
            R = faded(A, C, np.ones(m), TAIL)[0]
    assert model.read is not None
    return A, C, model.read(T)


def cascade_of(
    A: Floats, C: Floats, poles: Complexes | None, read: bool = True
) -> tuple[Floats, Floats, Floats]:
    """A', C' of the all-pass cascade with these poles, and M = A M A'ᵀ + C C'ᵀ, if ``read``."""
    if poles is None or not np.abs(poles).max(initial=0.0) < 1:
        raise UncertainResultError("the controllable eigenvalues are not known well enough.")
    try:
        A1, c = cascade(section_poles(poles))
    except ValueError:
        raise UncertainResultError("rounding hides which eigenvalues are a pair.") from None
    C1 = c[:, None]
    return A1, C1, solve_stein(A, C @ C1.T, A1) if read else np.zeros((0, len(A1)))


def modes_of(A: Floats, C: Floats) -> tuple[Complexes, NDArray[np.intp], Complexes] | None:
    """Eigenvalues λ_k of a diagonal A, or one of blocks of pairs, one of each pair; None otherwise.

    With the mode k(i) of each state and its weight g_i: x_i = Re(g_i Σ_t λ_k^t z_t), as a block B
    of trace 2h has B^t = Re λ^t + (B − h) Im λ^t / Im λ.
    """
    parts = separate_parts(A)
    if max(map(len, parts)) > 2:
        return None
    # a state of its own is a block of two the second of which is not there
    first, last = (np.array([part[k] for part in parts]) for k in (0, -1))
    half = (A[first, first] + A[last, last]) / 2
    lean = (A[first, first] - A[last, last]) / 2
    product = np.where(first != last, A[first, last] * A[last, first], 0.0)
    square = -(lean**2 + product)
    if np.any((square <= 0) & (first != last)):  # two real eigenvalues
        return None
    turn = np.sqrt(square)
    mode, weight = np.zeros(len(A), np.intp), C[:, 0].astype(complex)
    mode[first] = mode[last] = np.arange(len(parts))
    pair = np.flatnonzero(first != last)
    i, j, turns, c = first[pair], last[pair], turn[pair], C[:, 0]
    weight[i] -= 1j * (lean[pair] * c[i] + A[i, j] * c[j]) / turns
    weight[j] -= 1j * (A[j, i] * c[i] - lean[pair] * c[j]) / turns
    return half + 1j * turn, mode, weight


def modal_realization(
    values: Complexes, mode: NDArray[np.intp], weight: Complexes
) -> tuple[Floats, Floats, Floats]:
    """A', C' and M of a network of such modes, which only enter as products of differences.

    Row i of M is Re(g_i (1 − λA')⁻¹C'). Poles come in the order in which they take most of what is
    left of the states (Leja's order, for modes alike in size): M is graded, and its small singular
    values are as well known as its entries.
    """
    if not np.abs(values).max(initial=0.0) < 1:
        raise UncertainResultError("a mode does not fade.")
    energy = np.bincount(mode, np.abs(weight) ** 2) / ((1 - np.abs(values)) * (1 + np.abs(values)))
    signal, columns, order = np.ones(len(values), complex), list[Complexes](), list[int]()
    for _ in range(len(values)):
        left = energy * np.abs(signal) ** 2
        left[order] = -1.0
        order.append(k := int(left.argmax()))
        pole, fading = values[k], 1 - values * values[k]
        if pole.imag == 0:
            columns.append(np.sqrt((1 - pole.real) * (1 + pole.real)) / fading * signal)
            signal = signal * (values - pole) / fading
            continue
        r, both = abs(pole), fading * (1 - values * pole.conj())
        c1 = abs(1 - pole) * abs(1 + pole) / (1 + r**2)
        c2 = np.sqrt((1 - r) * (1 + r) * (1 + r**2))
        columns.append(c1 * c2 / both * signal)
        columns.append(c2 * (values - 2 * pole.real / (1 + r**2)) / both * signal)
        signal = signal * (values - pole) * (values - pole.conj()) / both
    states = np.stack(columns, axis=1)
    A1, c = cascade(values[order])
    return A1, c[:, None], (weight[:, None] * states[mode]).real


def delayed(A: Floats, C: Floats, steps: int) -> tuple[Floats, Floats]:
    """The realization less a delay of so many ``steps``, that is less as many poles at zero.

    A^steps is a partial isometry then: its left singular vectors V for one span what is left, which
    has VᵀAV and VᵀA^steps C. Which of the eigenvalues next to zero these poles are is left open.
    """
    power = np.linalg.matrix_power(A, steps)
    U, sizes, _ = np.linalg.svd(power)
    count = len(A) - steps
    if not np.all(np.abs(sizes - (np.arange(len(A)) < count)) < PARTLY):
        raise UncertainResultError("rounding hides which zero eigenvalues are controllable.")
    V = U[:, :count]
    return V.T @ A @ V, V.T @ power @ C


def lasting_factor(
    A: Floats,
    C: Floats,
    poles: Complexes | None,
    read: bool,
    *,
    delay: int = 0,
    smallest: float = EXHAUSTED,
) -> KrylovFactor:
    """From poles, or of several inputs from graded coordinates; W has yet to be listed."""
    if C.shape[1] == 1:
        modes = modes_of(A, C) if read else None
        A1, C1, M = modal_realization(*modes) if modes else cascade_of(A, C, poles, read)
        A1, C1 = delayed(A1, C1, delay) if delay else (A1, C1)
        colour = 0.0  # those of a single input are to the last digits, relative to each section
    else:
        A1, C1, M = graded_realization(hessenberg(A, C, smallest))
        # their covariance is Σ A'^k(1 + E)(A'^k)ᵀ with what directions are off by
        E = np.linalg.norm(A1 @ A1.T + C1 @ C1.T - np.eye(len(A1))) + 2 * EPS * np.sqrt(len(A1))
        colour = float(E) * power_norms(A1).squares
    M = M if read else np.zeros((0, len(A1)))
    return KrylovFactor(M=M, W=C1.T, inputs=C.shape[1], colour=colour, input_normal=(A1, C1))
