"""memory_curves: the memory of a stack of networks, on any array library and device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import exact_array
from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.notes import Note
from memcurve.core.types import Complexes, Floats
from memcurve.memory.batch.decisions import (
    eigenvalues_fit,
    fully_excited,
    pole_sensitivities,
    scaling,
)
from memcurve.memory.batch.poles import (
    Curves,
    empty_stack,
    lattice_curves,
    listed,
    require_stable,
    rounding_error,
    truncation_notes,
)
from memcurve.memory.batch.result import MemoryCurves
from memcurve.memory.curve import MemoryCurve
from memcurve.memory.entry_points import memory_curve
from memcurve.network import LinearNetwork
from memcurve.network.backend import Array, Backend, blocks, has_gradient, to_host, without_gradient
from memcurve.solve import LARGEST_ERROR, validated_lags

NO_MASK = Note(
    "question",
    "no mask was given: the curves hold for a random mask, and for any mask with the same "
    "controllable modes",
)
UNPROVEN = Note("method", "some modes may be uncontrollable")
UNCERTAIN = Note("arithmetic", "the eigenvalues are too uncertain in plain floating point")
_SEED = 20230501
_BY_POLES = "Eigenvalues go to memcurve.memory.batch.curves_of_poles."


def memory_curves(
    A: Any,
    C: Any = None,
    lags: int | None = None,
) -> MemoryCurves:
    """Memory of a stack of networks lag by lag, computed where the stack is.

    As by :func:`memcurve.memory_curve`, from the eigenvalues of each network
    (:func:`memcurve.memory.batch.curves_of_poles`), all of which are proven to count by exact
    arithmetic modulo a prime. Networks for which that is not so, or whose eigenvalues are too
    uncertain, are handed to ``memory_curve`` one by one, on the CPU, with a note.

    Parameters
    ----------
    A : (..., N, N) array
        Connectivity, real or complex, of NumPy, torch, cupy, jax or another namespace of the array
        API that has ``linalg.eigvals``. Single precision and integers convert exactly; the result
        is float64. The nodes of complex networks count twice, as in
        :class:`memcurve.LinearNetwork`.
    C : (N,) or (..., N) array, optional
        Masks, one for all networks or one each. None takes a random mask: the curve does not
        depend on the mask as long as it excites every mode that any mask excites.
    lags : int, optional
        ``lags=m`` gives lags 0 … m − 1, None as many as matter.

    Returns
    -------
    MemoryCurves
        Arrays of the namespace and on the device of A.

    Notes
    -----
    ``values`` can be differentiated with respect to A where ``linalg.eigvals`` can (torch, jax).
    The gradient of a repeated eigenvalue does not exist and comes out as NaN or very large, though
    that of the curve does; a network that would have to be handed to the CPU is refused then.

    In a stack, small networks take a tenth of the time they take one by one (N = 10); on a CPU
    networks of some hundred nodes take up to half as much again, for the proof of the rank. Whether
    the rank hangs on the last digits of the numbers (``rank_robust``) is not checked.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> A = 0.9 * np.random.default_rng(1).standard_normal((3, 50, 50)) / np.sqrt(50)
    >>> curves = memcurve.memory_curves(A, np.ones(50))
    >>> curves.total
    array([50., 50., 50.])
    >>> bool(curves.error.max() < 1e-11)
    True
    """
    lags = validated_lags(lags)
    if isinstance(A, tuple):
        raise TypeError(
            f"`A` must be an array of matrices, got a tuple; give these and their masks as two "
            f"arguments, memory_curves(A, C). {_BY_POLES}"
        )
    backend = Backend.of(A, "A")
    shape, stacked, mask = _real_stack(backend, backend.float64(A, "A"), C)
    if len(mask) == 0:
        return empty_stack(backend, shape, lags)
    parts = [_decomposed(backend, stacked[own, :, :]) for own in blocks(*mask.shape)]
    device_poles, parts_on_host, sensitivities = zip(*parts, strict=True)
    poles, host_poles = backend.joined(device_poles, 0), np.concatenate(parts_on_host)
    sensitivity = np.concatenate(sensitivities)
    require_stable(host_poles, "A")
    # the error is largest where half of an input is remembered
    error = rounding_error(host_poles, sensitivity, np.sqrt([[0.5]]), lags)[:, 0]
    uncertain, unproven = error > LARGEST_ERROR, np.zeros(len(mask), dtype=bool)
    certain = np.flatnonzero(~uncertain)
    rows = backend.rows(without_gradient(stacked), certain)
    unproven[certain] = ~fully_excited(backend, rows, mask[certain])
    notes = [NO_MASK] if C is None else []
    for reason, which in (UNPROVEN, unproven), (UNCERTAIN, uncertain):
        networks = np.flatnonzero(which)
        if len(networks):
            if has_gradient(stacked):
                raise UncertainResultError(
                    f"{listed(networks)} of the stack cannot be computed with a gradient, since "
                    f"{reason}; without one, memory_curve would compute them. Leave them out, or "
                    f"detach `A`."
                )
            text = f"{listed(networks)}: one by one on the CPU, by memory_curve, as {reason}"
            notes.append(Note(reason.kind, text))
    careful = np.flatnonzero(unproven | uncertain)
    matrices = zip(to_host(backend.rows(stacked, careful)), careful.tolist(), strict=True)
    exact = {k: _exact_curve(matrix, mask[k], k, lags) for matrix, k in matrices}
    for k, curve in exact.items():
        notes += [Note(note.kind, f"network {k}: {note}") for note in curve.notes]
    if exact:  # whose curves are replaced below, and have no gradient
        host_poles[careful] = 0.0
        poles = backend.put(host_poles)
    at_least = max(map(len, exact.values()), default=1)
    curves = lattice_curves(backend, poles, host_poles, sensitivity, lags, at_least=at_least)
    methods = ["exact"] * bool(exact)
    if len(careful) < len(mask):
        notes += truncation_notes(curves, lags)
        methods.append("lattice")
    rank = np.full(len(mask), mask.shape[1])
    if exact:
        rank[careful] = [curve.rank for curve in exact.values()]
        curves = _replaced(backend, curves, exact)
    return curves.of_stack(backend, shape, rank, " and ".join(methods), notes)


def _decomposed(backend: Backend, A: Array) -> tuple[Array, Complexes, Floats]:
    """Eigenvalues, their values on the host (zero where the solver failed), their sensitivity."""
    eigvals = getattr(backend.xp.linalg, "eigvals", None)
    if eigvals is None:
        raise TypeError(
            f"`A` is an array of {backend.name}, which has no linalg.eigvals; compute the "
            f"eigenvalues elsewhere and give them to memcurve.memory.batch.curves_of_poles, which "
            f"needs the array API alone."
        )
    scale, balanced = scaling(backend, without_gradient(A))
    if scale is not None:
        factors = backend.put(scale)
        A = A * (factors[:, None, :] / factors[:, :, None])
    poles, plain = backend.complex128(eigvals(A)), without_gradient(A)  # NumPy's may be real
    host_poles = to_host(poles)
    readable = np.isfinite(host_poles).all(axis=1) & eigenvalues_fit(backend, plain, host_poles)
    sensitivity = pole_sensitivities(backend, plain)
    sensitivity[~(balanced & readable)] = np.inf
    return poles, np.where(readable[:, None], host_poles, 0.0), sensitivity


def _exact_curve(A: Floats, C: Floats, number: int, lags: int | None) -> MemoryCurve:
    """The exact curve of a network, whose number messages give."""
    try:
        return memory_curve(LinearNetwork(A, C), lags)
    except (UnstableNetworkError, UncertainResultError) as error:
        raise type(error)(f"network {number} of the stack: {error}") from error


def _replaced(backend: Backend, curves: Curves, exact: dict[int, MemoryCurve]) -> Curves:
    """The curves with some rows by memory_curve.

    No curve rises: what follows its lags lies between zero and its last value.
    """
    shape = tuple(curves.values.shape)
    rows = Curves(np.zeros(shape), np.zeros(shape), np.ones(shape))
    for k, curve in exact.items():
        rows.error[k] = curve.values[-1] + curve.error[-1]
        for name in Curves._fields:
            getattr(rows, name)[k, : len(curve)] = getattr(curve, name)
    replaced = np.isin(np.arange(shape[0]), list(exact))
    which = backend.put(np.broadcast_to(replaced[:, None], shape))
    pairs = zip(rows, curves, strict=True)
    return Curves(*(backend.xp.where(which, backend.put(new), old) for new, old in pairs))


def _real_stack(backend: Backend, A: Array, C: Any) -> tuple[tuple[int, ...], Array, Floats]:
    """Leading axes, and real networks (B, N, N) and masks (B, N) whose states are the ones read.

    Complex ones become [[Re A, −Im A], [Im A, Re A]] and [Re C; Im C], as in
    :meth:`memcurve.LinearNetwork.real_pair`. Without masks, one is drawn at random for all. Masks
    stay on the host: they only enter decisions.
    """
    xp, lengths = backend.xp, tuple(int(length) for length in A.shape)
    if len(lengths) < 2 or lengths[-1] != lengths[-2] or lengths[-1] == 0:
        raise ValueError(
            f"`A` must be a stack of square matrices, of shape (B, N, N) or (N, N) with N of at "
            f"least one, got shape {lengths}."
            f"{' ' + _BY_POLES if len(lengths) == 1 else ''}"
        )
    shape, size, stack = lengths[:-2], lengths[-1], math.prod(lengths[:-2])
    mask: NDArray[Any] | None = None
    if C is not None:
        mask = exact_array(C if Backend.of(C, "C").xp is np else to_host(C), "C")
    if mask is not None and mask.shape not in ((size,), (*shape, size)):
        raise ValueError(
            f"`C` must have shape ({size},), or {(*shape, size)} with a mask for each network, to "
            f"fit `A`; got {mask.shape}. Networks of several inputs go one by one, through "
            f"memcurve.memory_curve."
        )
    A = xp.reshape(A, (stack, size, size))
    complex_matrix = bool(xp.isdtype(A.dtype, "complex floating"))
    if complex_matrix or (mask is not None and np.iscomplexobj(mask)):
        real = xp.real(A) if complex_matrix else A
        imaginary = xp.imag(A) if complex_matrix else xp.zeros_like(A)
        upper = xp.concat([real, -imaginary], axis=2)
        A = xp.concat([upper, xp.concat([imaginary, real], axis=2)], axis=1)
        mask = None if mask is None else np.concatenate([mask.real, mask.imag], axis=-1)
        size = 2 * size
    if mask is None:
        mask = np.random.default_rng(_SEED).integers(1, 2**20, size).astype(float)
    return shape, A, np.broadcast_to(mask, (*shape, size)).reshape(stack, size)
