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
        Where it goes. In a real network real eigenvalues stay real, and those of a pair do not
        become real: there they would meet, and count once or twice as rounding falls.

    Raises
    ------
    ValueError
        One of these rules is broken, or the eigenvalue is not simple (its eigenvectors are not
        defined).

    Notes
    -----
    The sum is rounded. Where the mask leaves some modes out, that alone excites them a little: the
    exact rank of the numbers stored is then larger than that of ``network``.

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
        if (value.imag == 0) != (complex(to).imag == 0):
            kind, rule = ("real", "be real") if value.imag == 0 else ("complex", "not be real")
            raise ValueError(
                f"`to` must {rule} for the {kind} eigenvalue {value:.6g} of a real network, got "
                f"{to:.6g}; complex ones come in pairs."
            )
        step = step.real if value.imag == 0 else 2 * step.real
    return network.replace(A=A + step, name=f"{network.name}, {value:.4g} → {to:.4g}")


#: Overlap of left and right eigenvectors below which an eigenvalue counts as multiple.
_DEFECTIVE = 1e-10
