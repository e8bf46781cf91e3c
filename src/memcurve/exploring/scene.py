"""Scene: what the page shows of a network at once, before anything slower arrives."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.auditing.document import visible_end
from memcurve.auditing.structure import Eigenvalues, eigenvalues_of
from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError, rank_among_notes
from memcurve.exploring.settings import MOST_NODES
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.solve.allpass import impulse_response

Floats = NDArray[np.float64]

#: States up to which ball arithmetic may take over: well below a second.
MOST_IN_BALLS = 60
#: Lags that are drawn at most; slower networks go on beyond.
MOST_LAGS = 4000
#: Overlap of left and right eigenvectors below which an eigenvalue counts as multiple.
DEFECTIVE = 1e-10


class TooLargeToWatchError(ValueError):
    """The network is too large to be computed while one watches."""


@dataclass(frozen=True, eq=False)
class Scene:
    """A network and its exact memory for white input without noise.

    ``end`` is the last lag that is drawn; ``response`` the impulse response b_0, b_1, … of the
    all-pass filter that makes the curve, None where there is no such filter (several inputs, a
    readout); ``seconds`` how long curve and eigenvalues took.
    """

    network: LinearNetwork
    curve: MemoryCurve
    eigenvalues: Eigenvalues
    end: int
    response: Floats | None
    seconds: float


def scene_of(network: LinearNetwork) -> Scene:
    """Compute what is shown at once; errors are those of :func:`memcurve.memory_curve`."""
    if network.states > MOST_NODES:
        twice = ", two for each complex node" if network.is_complex else ""
        raise TooLargeToWatchError(
            f"this page computes networks of up to {MOST_NODES} states while you watch, and "
            f"{network.name or 'this one'} has {network.states:,}{twice}. `memcurve "
            f"curve FILE` and memcurve.memory_curve take it; memcurve.limits.estimated_cost tells "
            f"how long."
        )
    start = time.perf_counter()
    try:
        with rank_among_notes():
            curve = memory_curve(network, certify_up_to=MOST_IN_BALLS)
    except UncertainResultError as error:
        raise UncertainResultError(
            f"{error} This page goes on in ball arithmetic for up to {MOST_IN_BALLS} states only; "
            f"`memcurve curve` and memcurve.memory_curve take more time."
        ) from error
    eigenvalues = eigenvalues_of(network)
    seconds = time.perf_counter() - start
    end = max(1, min(visible_end(curve.values), MOST_LAGS)) if len(curve) > 1 else 0
    poles = eigenvalues.counting
    response = None if poles is None else impulse_response(poles, end + 2)
    return Scene(network, curve, eigenvalues, end, response, seconds)


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
    if abs(overlap) < DEFECTIVE:
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


def moved_scene(base: Scene, eigenvalue: complex, to: complex) -> Scene:
    """The same network with one eigenvalue moved, where rounding leaves those that count alone."""
    moved = scene_of(move_eigenvalue(base.network, eigenvalue, to))
    if moved.curve.rank != base.curve.rank:
        raise ValueError(
            f"there it meets another, up to rounding, and {moved.curve.rank} eigenvalues would "
            f"count in place of {base.curve.rank}."
        )
    return moved
