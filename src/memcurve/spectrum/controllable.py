"""The one judge of which eigenvalues count: a network's controllable spectrum.

*Exact means exact for the stored numbers.* The rank is that of the Krylov matrix [C, AC, A²C, …] of
the float64 numbers in A and C, a question with one answer. A mode that a change in the last digit
would silence still counts; ``rank_robust`` and ``margin`` tell how much hangs on such modes.

0. Where each reachable node drives one other at most, all is known in closed form (``walks``).
1. Nodes the mask does not reach drop out (graph search, exact).
   Circulant networks whose modes stand apart are known from there on (``circulant``).
2. If every mode is isolated and excited far above rounding, all count: the generic case.
3. Otherwise the degree of the minimal polynomial of C is computed exactly (modular arithmetic,
   wrong with a probability below 1e-8). If it is the number of reachable nodes, all of them count.
4. If not, but the exact number of non-zero eigenvalues says that all of them count, the zero ones
   are deflated and zero gets its exact multiplicity.
5. If not, the modes that count may stand apart so clearly that they can be singled out.
6. Otherwise ``poles`` is None, and only the minimal polynomial itself can tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UnstableNetworkError
from memcurve.limits import require_room_for_states
from memcurve.network import LinearNetwork
from memcurve.network.graph import (
    Indices,
    balanced,
    eigenvalues,
    is_symmetric,
    reachable_nodes,
    separate_parts,
    single_walk,
    strong_components,
    submatrix,
)
from memcurve.spectrum.circulant import circulant_column, circulant_spectrum
from memcurve.spectrum.clusters import RobustModes, robust_modes
from memcurve.spectrum.modes import screen
from memcurve.spectrum.modular import MinimalDegree, minimal_degree, nonzero_eigenvalue_count
from memcurve.spectrum.result import Spectrum
from memcurve.spectrum.sensitivity import (
    EPS,
    UNKNOWN,
    Sensitivity,
    pole_sensitivity,
    symmetric_sensitivity,
    uncertain_poles_sensitivity,
)
from memcurve.spectrum.walks import walk_spectrum

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: Singular values below this, relative to the norm, are taken for zero when deflating zeros.
ZERO_SINGULAR_VALUE = 1e-10
#: Singled out modes are trusted if their uncertainty moves the curve by at most this.
WELL_KNOWN = 1e-9
#: Π(A − λ)C, relative to the size of its terms, has vanished if it is below this.
VANISHES = 1e-12


def controllable_spectrum(
    network: LinearNetwork, *, keep_basis: bool = False, assume_controllable: bool = False
) -> Spectrum:
    """Return the eigenvalues of ``network`` that its input mask excites.

    Parameters
    ----------
    network : LinearNetwork
        A network with one input.
    keep_basis : bool
        Whether eigenvectors that are at hand are wanted too.
    assume_controllable : bool
        Take it for granted that all modes of the reachable nodes count, except where closed forms
        tell anyway. ``margin`` is then NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve import LinearNetwork
    >>> from memcurve.spectrum import controllable_spectrum
    >>> ring = 0.9 * np.roll(np.eye(6), 1, axis=0)
    >>> controllable_spectrum(LinearNetwork(ring, [1, 0, 0, 1, 0, 0])).rank
    3
    """
    # overflow ends in infinite errors, which are dealt with; it need not be announced
    with np.errstate(all="ignore"):
        return _controllable_spectrum(network, keep_basis, assume_controllable)


def _controllable_spectrum(
    network: LinearNetwork, keep_basis: bool, assume_controllable: bool
) -> Spectrum:
    A, mask = network.real_pair()
    if mask.shape[1] != 1:
        raise ValueError(
            f"`network` must have a single input for its controllable spectrum, got "
            f"{mask.shape[1]}; pass one column of C at a time."
        )
    C = mask[:, 0]
    walk = single_walk(A, C)
    if walk is not None:
        found = walk_spectrum(walk, C)
        if found is not None:
            return found
        require_room_for_states(len(walk.order), "exact")  # walks of any length are let through
    nodes = reachable_nodes(A, mask)
    if len(nodes) == 0:
        return Spectrum(np.zeros(0, complex), 0, 0, nodes, np.nan, 0.0, 0.0)
    if len(nodes) < len(C):
        A = A[np.ix_(nodes, nodes)] if isinstance(A, np.ndarray) else A[nodes][:, nodes]
        C = C[nodes]
    column = circulant_column(A)
    found = None if column is None else circulant_spectrum(column, C, nodes)
    if found is not None:
        return found
    if assume_controllable:
        poles, full = eigenvalues(A), len(C)
        sensitivity = symmetric_sensitivity(poles) if is_symmetric(A) else pole_sensitivity(A)
        return Spectrum(poles, full, full, nodes, np.nan, *sensitivity, assumed=True)

    first_look = screen(A, C, keep_basis=keep_basis)
    if first_look.unstable_radius is not None:
        raise UnstableNetworkError(
            f"the network is unstable: its mask excites an eigenvalue of modulus "
            f"{first_look.unstable_radius:.6g}, so that the states grow without bound. Scale `A` "
            f"below spectral radius 1."
        )
    full = len(C)
    exact = MinimalDegree(full, 0) if first_look.sure else minimal_degree(A, C)
    if first_look.likely and exact.degree == full:
        blocks_are_whole = len(strong_components(A)) == len(separate_parts(A))
        poles = first_look.poles if blocks_are_whole else eigenvalues(A)
        margin = float(first_look.excitation.min())
        sensitivity = symmetric_sensitivity(poles) if first_look.symmetric else pole_sensitivity(A)
        return Spectrum(poles, full, full, nodes, margin, *sensitivity, basis=first_look.basis)
    return _closer_look(A, C, nodes, exact)


def _closer_look(A: Any, C: Floats, nodes: Indices, exact: MinimalDegree) -> Spectrum:
    require_room_for_states(len(C), "closer look")
    dense = submatrix(A, np.arange(len(C), dtype=np.intp))
    robust = robust_modes(dense, C)
    margin = np.nan if robust is None else robust.margin
    rank_robust = exact.degree if robust is None else min(len(robust.values), exact.degree)
    poles: Complexes | None
    if exact.degree == len(C):
        poles, sensitivity = eigenvalues(A), pole_sensitivity(A)
    elif nonzero_eigenvalue_count(dense) == exact.degree - exact.zeros:
        poles, sensitivity = _all_nonzero(A, exact)
    else:
        poles, sensitivity = _selected(dense, C, robust, exact)
    return Spectrum(poles, exact.degree, rank_robust, nodes, margin, *sensitivity)


def _all_nonzero(A: Any, exact: MinimalDegree) -> tuple[Complexes | None, Sensitivity]:
    """Poles where all non-zero eigenvalues count, and zero with its own exact multiplicity."""
    non_zero, dropped = _nonzero_eigenvalues(A)
    if len(non_zero) != exact.degree - exact.zeros:
        return None, UNKNOWN
    # backward stable: the spectrum is that of A + δA with the same number of zeros
    sensitivity = pole_sensitivity(A).times(max(4.0, dropped / EPS))
    return np.concatenate([non_zero, np.zeros(exact.zeros)]), sensitivity


def _selected(
    A: Floats, C: Floats, robust: RobustModes | None, exact: MinimalDegree
) -> tuple[Complexes | None, Sensitivity]:
    """Poles where the modes that count stand apart; None unless they are known very well."""
    if robust is None or len(robust.values) != exact.degree:
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
    if sensitivity.curve > WELL_KNOWN or not _annihilates(A, C, poles):
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


def _nonzero_eigenvalues(A: Any) -> tuple[Complexes, float]:
    """Eigenvalues left when the zero ones are deflated, B ← B restricted to its range, repeated.

    Also the largest singular value taken for zero, relative to the norm of its block.
    """
    parts, dropped = [], 0.0
    for nodes in strong_components(A):
        B = balanced(submatrix(A, nodes))[0]
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
