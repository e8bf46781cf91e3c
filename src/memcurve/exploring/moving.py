"""Move one eigenvalue of a network, and leave everything else where it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.network import LinearNetwork


def move_eigenvalue(network: LinearNetwork, eigenvalue: complex, to: complex) -> LinearNetwork:
    """The network with one eigenvalue of A moved, its eigenvectors and all others kept.

    With right and left eigenvectors v and w of λ, scaled so that wᴴv = 1::

        A + (μ − λ) v wᴴ

    has the eigenvalues of A but for λ, which becomes μ. In a real network the conjugate of λ moves
    to the conjugate of μ, by the conjugate of that term.

    Parameters
    ----------
    network : LinearNetwork
        Any network with a simple eigenvalue there.
    eigenvalue : complex
        The eigenvalue of A nearest to this one is moved.
    to : complex
        Where it goes. A real eigenvalue of a real network stays real.

    Raises
    ------
    ValueError
        ``to`` is complex for a real eigenvalue of a real network, or the eigenvalue is not simple
        (its eigenvectors are not defined).

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.exploring import move_eigenvalue
    >>> network = memcurve.LinearNetwork([[0.9, 0.3], [0.0, 0.5]], [1.0, 1.0])
    >>> move_eigenvalue(network, 0.5, -0.2).A
    array([[ 0.9  ,  0.825],
           [ 0.   , -0.2  ]])
    """
    import scipy.linalg

    A: Any = network.A.toarray() if network.is_sparse else network.A
    values, left, right = scipy.linalg.eig(A, left=True, right=True)
    k = int(np.argmin(np.abs(values - eigenvalue)))
    value = complex(values[k])
    v, w = right[:, k], left[:, k]
    overlap = np.vdot(w, v)
    if abs(overlap) < _DEFECTIVE:
        raise ValueError(
            f"`eigenvalue` must be a simple one, but {value:.6g} has left and right eigenvectors "
            f"that are orthogonal to {abs(overlap):.1g}; choose another."
        )
    step = (to - value) * np.outer(v, w.conj()) / overlap
    if not network.is_complex:
        if value.imag == 0 and complex(to).imag != 0:
            raise ValueError(
                f"`to` must be real for the real eigenvalue {value.real:.6g} of a real network, "
                f"got {to:.6g}; complex ones come in pairs."
            )
        step = step.real if value.imag == 0 else 2 * step.real
    return network.replace(A=A + step, name=f"{network.name}, {value:.4g} → {to:.4g}")


#: Overlap of left and right eigenvectors below which an eigenvalue counts as multiple.
_DEFECTIVE = 1e-10
