"""The one judge of which eigenvalues count: a network's controllable spectrum.

*Exact means exact for the stored numbers.* The rank is that of the Krylov matrix [C, AC, A²C, …] of
the float64 numbers in A and C, a question with one answer. A mode that a change in the last digit
would silence still counts; ``rank_robust`` and ``margin`` tell how much hangs on such modes.

1. Nodes the mask does not reach drop out (graph search, exact).
2. If every mode is isolated and excited well above rounding, all count: the generic case.
3. Otherwise the degree of the minimal polynomial of C is computed exactly (modular arithmetic). If
   it equals the number of reachable nodes, all eigenvalues count.
4. If not, the eigenvalues that count are singled out, either as all the non-zero ones (with the
   exact multiplicity of zero) or by clusters, where the numbers agree with the exact degree.
5. Where they do not, ``poles`` is None, and only the minimal polynomial itself can tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UnstableNetworkError
from memcurve.graph import (
    Indices,
    eigenvalues,
    reachable_nodes,
    separate_parts,
    strong_components,
    submatrix,
)
from memcurve.network import LinearNetwork
from memcurve.spectrum.modes import robust_modes, screen
from memcurve.spectrum.modular import MinimalDegree, minimal_degree
from memcurve.spectrum.sensitivity import pole_sensitivity

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: Singular values below this, relative to the largest, are taken for zero when deflating zeros.
ZERO_SINGULAR_VALUE = 1e-12
#: Poles of clusters whose imaginary part is at most this are taken as real.
REAL_POLE = 1e-8


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The controllable spectrum of a single-input network.

    Attributes
    ----------
    poles : complex array or None
        The eigenvalues that count, with multiplicity; None where floating point cannot single
        them out.
    rank : int
        Exact rank of [C, AC, A²C, …] for the stored numbers: the total memory.
    rank_robust : int
        The rank up to rounding: modes that a change in the last digits would silence left out.
    reachable : int array
        States that the input reaches along the edges of the network.
    margin : float
        Smallest excitation |w*C|/‖C‖ among the modes: the relative change of the mask that would
        silence one. NaN for an empty spectrum, and where the numbers in A and C differ so much in
        size that float64 cannot tell (``rank_robust`` is then the rank).
    sensitivity : float
        Bound on |δMC_τ| / √(min(MC_τ, 1 − MC_τ)) due to rounding in the poles.
    """

    poles: Complexes | None
    rank: int
    rank_robust: int
    reachable: Indices
    margin: float
    sensitivity: float


def controllable_spectrum(network: LinearNetwork) -> Spectrum:
    """Return the eigenvalues of ``network`` that its input mask excites.

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
        return _controllable_spectrum(network)


def _controllable_spectrum(network: LinearNetwork) -> Spectrum:
    A, mask = network.real_pair()
    if mask.shape[1] != 1:
        raise ValueError(
            f"`network` must have a single input for its controllable spectrum, got "
            f"{mask.shape[1]}; pass one column of C at a time."
        )
    C = mask[:, 0]
    nodes = reachable_nodes(A, mask)
    if len(nodes) == 0:
        return Spectrum(np.zeros(0, complex), 0, 0, nodes, np.nan, 0.0)
    if len(nodes) < len(C):
        A = A[np.ix_(nodes, nodes)] if isinstance(A, np.ndarray) else A[nodes][:, nodes]
        C = C[nodes]

    first_look = screen(A, C)
    if first_look.unstable_radius is not None:
        raise UnstableNetworkError(
            f"the network is unstable: its mask excites an eigenvalue of modulus "
            f"{first_look.unstable_radius:.6g}, so that the states grow without bound. Scale `A` "
            f"below spectral radius 1."
        )
    if first_look.all_count:
        count = len(C)
        blocks_are_whole = len(strong_components(A)) == len(separate_parts(A))
        poles = first_look.values if blocks_are_whole else eigenvalues(A)
        margin = float(first_look.excitation.min())
        return Spectrum(poles, count, count, nodes, margin, pole_sensitivity(A))

    return _closer_look(A, C, nodes, minimal_degree(A, C))


def _closer_look(A: Any, C: Floats, nodes: Indices, exact: MinimalDegree) -> Spectrum:
    robust = robust_modes(submatrix(A, np.arange(len(C), dtype=np.intp)), C)
    margin = np.nan if robust is None else robust.margin
    rank_robust = exact.degree if robust is None else min(len(robust.values), exact.degree)
    poles: Complexes | None = None
    amplification = 1.0
    if exact.degree == len(C):
        poles = eigenvalues(A)
    else:
        non_zero = _nonzero_eigenvalues(A)
        if len(non_zero) == exact.degree - exact.zeros:
            # backward stable: the deflated spectrum is that of a nearby A with the same zeros
            amplification = 4.0
            poles = np.concatenate([non_zero, np.zeros(exact.zeros)])
        elif robust is not None and len(robust.values) == exact.degree:
            amplification = 4 * robust.projector_norm
            poles = _in_conjugate_pairs(robust.values, exact.zeros)
    sensitivity = amplification * pole_sensitivity(A) if poles is not None else np.inf
    return Spectrum(poles, exact.degree, rank_robust, nodes, margin, sensitivity)


def _in_conjugate_pairs(values: Complexes, zeros: int) -> Complexes | None:
    """Poles of a real network from values that rounding has moved off the symmetry."""
    values = values[np.argsort(-np.abs(values), kind="stable")][: len(values) - zeros]
    # a pair this close to the real axis is as good as a double pole: p(z) moves by the square
    real = np.abs(values.imag) <= REAL_POLE
    upper = values[~real & (values.imag > 0)]
    if 2 * len(upper) != np.count_nonzero(~real):
        return None
    return np.concatenate([values[real].real, upper, upper.conj(), np.zeros(zeros)])


def _nonzero_eigenvalues(A: Any) -> Complexes:
    """Eigenvalues left when the zero ones are deflated: B ← B restricted to its range, repeated."""
    parts = []
    for nodes in strong_components(A):
        B = submatrix(A, nodes)
        while len(B) > 1:
            U, singular, Vh = np.linalg.svd(B)
            rank = int((singular > ZERO_SINGULAR_VALUE * singular[0]).sum())
            if rank == len(B):
                break
            B = (singular[:rank, None] * Vh[:rank]) @ U[:, :rank]
        parts.append(
            np.linalg.eigvals(B).astype(complex) if len(B) > 1 else B.ravel().astype(complex)
        )
    values: Complexes = np.concatenate(parts)
    return np.asarray(values[values != 0])
