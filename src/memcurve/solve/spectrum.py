"""The one judge of which eigenvalues count: a network's controllable spectrum.

*Exact means exact for the stored numbers.* The rank is that of the Krylov matrix [C, AC, A²C, …] of
the float64 numbers in A and C, a question with one answer. A mode that a change in the last digit
would silence still counts; ``rank_robust`` and ``margin`` tell how much hangs on such modes.

0. Where each reachable node drives one other at most, all is known in closed form
   (``closed_forms``).
1. Nodes the mask does not reach drop out (graph search, exact).
   Circulant networks whose modes stand apart are known from there on (``closed_forms``).
2. If every mode is isolated and excited far above rounding, all count: the generic case.
3. Otherwise the degree of the minimal polynomial of C is computed exactly (modular arithmetic,
   wrong with a probability below 1e-8). If it is the number of reachable nodes, all of them count.
4. If not, but the exact number of non-zero eigenvalues says that all of them count, the zero ones
   are deflated and zero gets its exact multiplicity.
5. If not, the modes that count may stand apart so clearly that they can be singled out.
6. If not even that, the curve may be known where the poles are not: zeros that do not count are a
   delay, and the other modes that are lost are silent beyond doubt (``response``).
7. Otherwise only the minimal polynomial itself can tell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import unstable
from memcurve.limits import require_room_for_states
from memcurve.network.graph import (
    balanced,
    is_symmetric,
    separate_parts,
    submatrix,
)
from memcurve.solve.closed_forms import circulant_column, circulant_spectrum
from memcurve.solve.clusters import RobustModes, clearly_driven, robust_modes
from memcurve.solve.modes import Response, Spectrum, screen
from memcurve.solve.modular import krylov_rank
from memcurve.solve.sensitivity import (
    EPS,
    UNKNOWN,
    Sensitivity,
    symmetric_sensitivity,
    uncertain_poles_sensitivity,
)
from memcurve.solve.states import States

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]


#: Singular values below this, relative to the norm, are taken for zero when deflating zeros.
ZERO_SINGULAR_VALUE = 1e-10
#: Singled out modes are trusted if their uncertainty moves the curve by at most this.
WELL_KNOWN = 1e-9
#: Π(A − λ)C, relative to the size of its terms, has vanished if it is below this.
VANISHES = 1e-12
_SEED = 20230501


def decided(states: States, *, keep_basis: bool = False) -> Spectrum:
    """The eigenvalues of states, all of them reached by a single input, that it excites.

    ``keep_basis`` keeps eigenvectors that are at hand.
    """
    # overflow ends in infinite errors, which are dealt with; it need not be announced
    with np.errstate(all="ignore"):
        return _decided(states, keep_basis)


def assumed(states: States) -> Spectrum:
    """The same with all modes taken to count, without being asked; ``margin`` is then NaN."""
    A, full = states.stored, len(states)
    with np.errstate(all="ignore"):
        found = _circulant(states)
        if found is not None:
            return found
        poles = states.eigenvalues
        sensitivity = symmetric_sensitivity(poles) if is_symmetric(A) else states.sensitivity
    return Spectrum(poles, full, full, states.nodes, np.nan, *sensitivity, assumed=True)


def block_rank(states: States) -> tuple[int, bool]:
    """Exact rank of the block Krylov matrix of several inputs, and whether it is full for sure.

    If a single combination of the inputs excites every mode, so do all of them together; that
    settles the generic case as for one input. Otherwise a full rank may hang on the last digits.
    """
    C = states.C
    weights = np.random.default_rng(_SEED).uniform(0.5, 1.5, C.shape[1])
    scale = np.abs(C).max(axis=0)
    combination = C @ (weights / np.where(scale > 0, scale, 1.0))
    if combination.any():
        with np.errstate(all="ignore"):
            look = screen(states.A, combination)
        if look.unstable_radius is not None:
            raise unstable(look.unstable_radius)
        if look.sure:
            return len(C), True
    rank = krylov_rank(states.A, C)
    with np.errstate(all="ignore"):
        return rank, rank == len(C) and clearly_driven(states.A, C)


def _decided(states: States, keep_basis: bool) -> Spectrum:
    if len(states) == 0:
        return Spectrum(np.zeros(0, complex), 0, 0, states.nodes, np.nan, 0.0, 0.0)
    found = _circulant(states)
    if found is not None:
        return found
    A, full = states.stored, len(states)
    first_look = screen(A, states.mask[:, 0], keep_basis=keep_basis)
    if first_look.unstable_radius is not None:
        raise unstable(first_look.unstable_radius)
    if first_look.sure or (first_look.likely and states.degree.degree == full):
        blocks_are_whole = len(states.strong_components) == len(separate_parts(A))
        poles = first_look.poles if blocks_are_whole else states.eigenvalues
        margin = float(first_look.excitation.min())
        sensitivity = symmetric_sensitivity(poles) if first_look.symmetric else states.sensitivity
        return Spectrum(
            poles, full, full, states.nodes, margin, *sensitivity, basis=first_look.basis
        )
    return _closer_look(states)


def _circulant(states: States) -> Spectrum | None:
    column = circulant_column(states.stored)
    return None if column is None else circulant_spectrum(column, states.mask[:, 0], states.nodes)


def _closer_look(states: States) -> Spectrum:
    require_room_for_states(len(states), "closer look")
    exact = states.degree
    robust = None if states.clusters is None else robust_modes(states.clusters)
    margin = np.nan if robust is None else robust.margin
    rank_robust = exact.degree if robust is None else min(len(robust.values), exact.degree)
    poles: Complexes | None
    if exact.degree == len(states):
        poles, sensitivity = states.eigenvalues, states.sensitivity
    elif states.nonzero_eigenvalues == exact.degree - exact.zeros:
        poles, sensitivity = _all_nonzero(states)
    else:
        poles, sensitivity = _selected(states, robust)
    response = None
    if poles is None or not np.isfinite(sensitivity.curve):
        response, sensitivity = _shifted(states)
    return Spectrum(
        poles, exact.degree, rank_robust, states.nodes, margin, *sensitivity, response=response
    )


def _shifted(states: States) -> tuple[Response | None, Sensitivity]:
    """All eigenvalues but the non-zero ones that are lost, and the number of zeros that are.

    With χ the characteristic polynomial and μ the minimal polynomial of the mask, χ = z^m q μ.
    LAPACK may scatter a multiple zero widely, but the product over all eigenvalues is backward
    stable: the zeros that do not count are taken away as a delay of m steps, and none of them need
    be told from the eigenvalues around. The roots of q must be told: they are silent, all other
    modes that are not zero are excited far beyond rounding, and the exact counts agree.
    """
    exact, poles = states.degree, states.eigenvalues
    lost = states.nonzero_eigenvalues - (exact.degree - exact.zeros)
    response = Response(poles, len(states) - exact.degree - lost)
    if lost == 0 or states.clusters is None or lost < 0:
        return (response, states.sensitivity) if lost == 0 else (None, UNKNOWN)
    others = [c for c in states.clusters if abs(c.centre) > c.uncertainty]
    silent = [(c, c.values[k]) for c in others for k in range(c.rank, c.size)]
    known = sum(c.size for c in others) == states.nonzero_eigenvalues
    if not known or len(silent) != lost or not all(c.clear for c in others):
        return None, UNKNOWN
    for cluster, value in silent:
        nearest = int(np.argmin(np.abs(poles - value)))
        if abs(poles[nearest] - value) > 2 * cluster.uncertainty:
            return None, UNKNOWN
        poles = np.delete(poles, nearest)
    values, uncertainty = (
        np.array([value for _, value in silent]),
        np.array([2 * cluster.uncertainty for cluster, _ in silent]),
    )
    removed = uncertain_poles_sensitivity(values, uncertainty)
    sensitivity = Sensitivity(
        states.sensitivity.curve + removed.curve, states.sensitivity.gap + removed.gap
    )
    upper = np.count_nonzero(poles.imag > 0)
    if upper != np.count_nonzero(poles.imag < 0) or sensitivity.curve > WELL_KNOWN:
        return None, UNKNOWN
    return response._replace(poles=poles), sensitivity


def _all_nonzero(states: States) -> tuple[Complexes | None, Sensitivity]:
    """Poles where all non-zero eigenvalues count, and zero with its own exact multiplicity."""
    exact = states.degree
    non_zero, dropped = _nonzero_eigenvalues(states)
    if len(non_zero) != exact.degree - exact.zeros:
        return None, UNKNOWN
    # backward stable: the spectrum is that of A + δA with the same number of zeros
    sensitivity = states.sensitivity.times(max(4.0, dropped / EPS))
    return np.concatenate([non_zero, np.zeros(exact.zeros)]), sensitivity


def _selected(states: States, robust: RobustModes | None) -> tuple[Complexes | None, Sensitivity]:
    """Poles where the modes that count stand apart; None unless they are known very well."""
    exact = states.degree
    clear = states.clusters is not None and all(cluster.clear for cluster in states.clusters)
    if robust is None or len(robust.values) != exact.degree or not clear:
        return None, UNKNOWN
    order = np.argsort(-np.abs(robust.values), kind="stable")[: exact.degree - exact.zeros]
    values, uncertainty = robust.values[order], robust.uncertainty[order]
    real = np.abs(values.imag) <= uncertainty
    upper = ~real & (values.imag > 0)
    if 2 * np.count_nonzero(upper) != np.count_nonzero(~real):
        return None, UNKNOWN
    poles = np.concatenate([values[real].real, values[upper], values[upper].conj()])
    known = np.concatenate([uncertainty[real], uncertainty[upper], uncertainty[upper]])
    sensitivity = uncertain_poles_sensitivity(poles, known)
    poles = np.concatenate([poles, np.zeros(exact.zeros)])
    if sensitivity.curve > WELL_KNOWN or not _annihilates(states.dense, states.mask[:, 0], poles):
        return None, UNKNOWN
    return poles, sensitivity


def _annihilates(A: Floats, C: Floats, poles: Complexes) -> bool:
    """Whether Π(A − λ)C vanishes, as it must, up to rounding."""
    v, size, magnitude = C.astype(complex), np.abs(C), np.abs(A)
    for pole in poles:
        v = A @ v - pole * v
        size = magnitude @ size + abs(pole) * size
        largest = size.max()
        if not 0 < largest < np.inf:
            return False
        v, size = v / largest, size / largest
    return bool(np.all(np.abs(v) <= VANISHES))


def _nonzero_eigenvalues(states: States) -> tuple[Complexes, float]:
    """Eigenvalues left when the zero ones are deflated, B ← B restricted to its range, repeated.

    Also the largest singular value taken for zero, relative to the norm of its block.
    """
    parts, dropped = [], 0.0
    for nodes in states.strong_components:
        B = balanced(submatrix(states.stored, nodes))[0]
        norm = float(np.sqrt((B**2).sum()))
        while len(B) > 1:
            U, singular, Vh = np.linalg.svd(B)
            rank = int((singular > ZERO_SINGULAR_VALUE * norm).sum())
            if rank == len(B):
                break
            dropped = max(dropped, float(singular[rank]) / norm if norm > 0 else 0.0)
            B = (singular[:rank, None] * Vh[:rank]) @ U[:, :rank]
        values = np.linalg.eigvals(B) if len(B) > 1 else B.ravel()
        parts.append(values.astype(complex))
    values = np.concatenate(parts)
    return values[values != 0], dropped
