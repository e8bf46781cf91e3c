"""memory_curves: the memory of a stack of networks, on any array library and device.

Eigenvalues and curves are computed where the stack is. What is decided before, on the host, is
decided as for single networks: how far rounding can move a curve (:mod:`memcurve.solve.errors`),
and whether the mask excites every mode (:mod:`memcurve.network.modular`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve import solve
from memcurve.core.arguments import exact_array
from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.notes import Note
from memcurve.core.types import SEED, Complexes, Floats
from memcurve.memory.batch import result
from memcurve.memory.batch.poles import lattice_curves
from memcurve.memory.curve import MemoryCurve, fault, note
from memcurve.memory.entry_points import memory_curve
from memcurve.network import LinearNetwork, modular
from memcurve.network.backend import Array, Backend, blocks, has_gradient, to_host
from memcurve.network.graph import balanced

_BY_POLES = "Eigenvalues go to memcurve.memory.batch.curves_of_poles."


def memory_curves(A: Any, C: Any = None, lags: int | None = None) -> result.MemoryCurves:
    """Memory of a stack of networks lag by lag, in arrays where the stack is.

    A :class:`memcurve.MemoryCurves` as by :func:`memcurve.memory_curve`, from the eigenvalues of
    each network (:func:`memcurve.memory.batch.curves_of_poles`), all of which are proven
    controllable by exact arithmetic modulo a prime. Networks for which that is not so, or whose
    eigenvalues are too uncertain, go to ``memory_curve`` one by one, on the CPU, with a note.

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

    Notes
    -----
    ``values`` can be differentiated with respect to A where ``linalg.eigvals`` can (torch, jax).
    The gradient of a repeated eigenvalue does not exist and comes out as NaN or very large, though
    that of the curve does; a network that would have to be handed to the CPU is refused then.

    In a stack, networks of ten nodes take a third of the time of single calls, those of some
    hundred nodes about as long. Whether the rank depends on the last digits of the numbers
    (``rank_robust``) is not checked.

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
    lags = solve.validated_lags(lags)
    if isinstance(A, tuple):
        raise TypeError(
            f"`A` must be an array of matrices, got a tuple; give these and their masks as two "
            f"arguments, memory_curves(A, C). {_BY_POLES}"
        )
    backend = Backend.of(A, "A")
    shape, A, mask = _flat(backend, backend.float64(A, "A"), C)
    notes, host = [note("no_mask")] if C is None else [], to_host(A)
    if len(host) == 0:
        empty = lattice_curves(backend, A[:, 0, :], np.zeros(0), lags)
        return result.stacked(backend, shape, empty, np.zeros(0), "", [note("empty_stack")])
    scaled, factors = map(np.stack, zip(*map(balanced, host), strict=True))
    if (factors != 1).any():  # powers of two: nothing is rounded
        scale = backend.put(factors)
        A = A * (scale[:, None, :] / scale[:, :, None])
    poles = _eigenvalues(backend, A)
    pairs = zip(scaled, to_host(poles), strict=True)
    sensitivity = np.array([_sensitivity(matrix, spectrum) for matrix, spectrum in pairs])
    result.require_stable(np.where(np.isnan(sensitivity)[:, None], 0.0, to_host(poles)), "A")
    if np.iscomplexobj(host) or np.iscomplexobj(mask):  # real and imaginary parts are states each
        poles = backend.xp.concat([poles, backend.xp.conj(poles)], axis=1)
        host, mask = _in_real_parts(host), np.concatenate([mask.real, mask.imag], axis=1)
    certain = sensitivity <= solve.LARGEST_ERROR
    proven = fully_excited(backend, host, np.where(certain[:, None], mask, 0.0))
    for reason, affected in ("unproven", certain & ~proven), ("uncertain", ~certain):
        if not affected.any():
            continue
        networks = result.listed(np.flatnonzero(affected))
        notes.append(note(reason, networks=networks))
        if has_gradient(A):
            raise UncertainResultError(fault("no_gradient", networks=networks, why=notes[-1]))
    exact = dict[int, MemoryCurve]()
    for k in np.flatnonzero(~proven).tolist():
        try:
            exact[k] = memory_curve(LinearNetwork(host[k], mask[k]), lags)
        except (UnstableNetworkError, UncertainResultError) as error:
            raise type(error)(f"network {k} of the stack: {error}") from error
        notes += [Note(one.kind, f"network {k}: {one}") for one in exact[k].notes]
    lattice, rank = np.flatnonzero(proven), np.full(len(host), mask.shape[1])
    poles, sensitivity = backend.rows(poles, lattice), sensitivity[lattice]
    curves = lattice_curves(backend, poles, sensitivity, lags)
    if exact:
        rank[list(exact)] = [curve.rank for curve in exact.values()]
        longest = max(map(len, exact.values()))
        if curves[0].shape[1] < longest:
            curves = lattice_curves(backend, poles, sensitivity, longest)
        curves = _joined(backend, curves, lattice, exact)
    if len(lattice):
        notes += result.truncation_notes(curves[0], lags)
    method = " and ".join(["exact"] * bool(exact) + ["lattice"] * bool(len(lattice)))
    return result.stacked(backend, shape, curves, rank, method, notes)


def _eigenvalues(backend: Backend, A: Array) -> Array:
    eigvals = getattr(backend.xp.linalg, "eigvals", None)
    if eigvals is None:
        raise TypeError(fault("no_eigvals", library=backend.name))
    return backend.complex128(eigvals(A))  # NumPy's may be real


def _sensitivity(A: NDArray[Any], poles: Complexes) -> float:
    """Bound on |δMC_τ|/√(min(MC_τ, 1 − MC_τ)) for the eigenvalues of a balanced A.

    Infinite where it is not known: where a row or column is zero beside the diagonal, too, as
    LAPACK balances what is left once more. NaN where these are no eigenvalues of A: some libraries
    return what they have where a solver failed, and say nothing. With the backward error δA,
    |tr δA| ≤ √N‖δA‖_F and |tr(A + δA)² − tr A²| ≤ 2‖A‖_F‖δA‖_F + ‖δA‖_F².
    """
    whole = _in_real_parts(A) if np.iscomplexobj(A) else A
    size, norm, rounding = len(A), float(np.linalg.norm(A)), 2 * solve.backward_error(whole)
    off = abs(poles.sum() - np.trace(A)), abs((poles**2).sum() - (A * A.T).sum())
    if not (off[0] <= np.sqrt(size) * rounding and off[1] <= 3 * norm * rounding):
        return math.nan
    others = A * (1 - np.eye(size))
    if size > 1 and not (others.any(axis=0).all() and others.any(axis=1).all()):
        return math.inf
    return solve.pole_sensitivity(whole, [np.arange(len(whole))]).curve


def fully_excited(backend: Backend, A: Floats, C: Floats) -> NDArray[np.bool_]:
    """Whether [C, AC, A²C, …] has full rank modulo a prime, which proves it; False is no proof."""
    stack, size = C.shape
    proven = np.zeros(stack, bool)
    for prime in modular.primes(size):
        waiting = np.flatnonzero(~proven & C.any(axis=1))
        for own in blocks(len(waiting), size):
            part = waiting[own]
            proven[part] = _have_full_rank(backend, A[part], C[part], prime)
    return proven


def _have_full_rank(backend: Backend, A: Floats, C: Floats, prime: int) -> list[bool]:
    """Whether the shortest recurrences of uᵀAᵏC modulo a prime, u random, are as long as C.

    Matrix products of a device need not be what they seem, as some emulate float64, so each
    squaring is checked with a random vector: (A²)w = A(Aw), which a wrong square passes with
    probability 1/p.
    """
    xp, (stack, size) = backend.xp, C.shape
    drawn = np.random.default_rng(SEED).integers(1, prime, (2, 1, size, 1)).astype(float)
    u, w = (backend.put(np.repeat(x, stack, axis=0)) for x in modular.centred(drawn, prime))
    matrices, v = (
        backend.put(modular.residues(A, prime)),
        backend.put(modular.residues(C, prime)[:, :, None]),
    )

    def product(a: Array, b: Array) -> Array:
        return modular.centred(xp.matmul(a, b), prime, xp)

    def square(power: Array) -> Array:
        squared = product(power, power)
        off = modular.centred(product(squared, w) - product(power, product(power, w)), prime, xp)
        if bool(to_host(xp.any(off != 0))):
            raise UncertainResultError(
                fault("inexact_products", library=backend.name, device=backend.device)
            )
        return squared

    squarings = max(0, round(math.log2(2 * size) / 2))
    terms = to_host(modular.krylov_terms(matrices, u, v, prime, square, squarings, xp))
    sequences = terms.reshape(stack, -1)[:, : 2 * size]
    return [len(modular.recurrence(sequence, prime)) == size + 1 for sequence in sequences]


def _joined(
    backend: Backend, curves: tuple[Array, ...], rows: NDArray[Any], exact: dict[int, MemoryCurve]
) -> tuple[Array, ...]:
    """Curves at some places, memory_curve's at others: none rises, so its end bounds the rest."""
    memory = np.zeros((len(rows) + len(exact), curves[0].shape[1]))
    joined = memory, memory + 0.0, memory + 1.0
    for part, values in zip(joined, curves, strict=True):
        part[rows] = to_host(values)
    for k, curve in exact.items():
        joined[1][k] = curve.values[-1] + curve.error[-1]
        for part, values in zip(joined, (curve.values, curve.error, curve.loss), strict=True):
            part[k, : len(curve)] = values
    return tuple(map(backend.put, joined))


def _flat(backend: Backend, A: Array, C: Any) -> tuple[tuple[int, ...], Array, NDArray[Any]]:
    """Leading axes, networks (B, N, N) and, on the host, as they only decide, masks (B, N)."""
    lengths = tuple(int(length) for length in A.shape)
    if len(lengths) < 2 or lengths[-1] != lengths[-2] or lengths[-1] == 0:
        raise ValueError(
            f"`A` must be a stack of square matrices, of shape (B, N, N) or (N, N) with N of at "
            f"least one, got shape {lengths}."
            f"{' ' + _BY_POLES if len(lengths) == 1 else ''}"
        )
    shape, size, stack = lengths[:-2], lengths[-1], math.prod(lengths[:-2])
    A = backend.xp.reshape(A, (stack, size, size))
    if C is None:
        parts = np.random.default_rng(SEED).integers(1, 2**20, (2, size)).astype(float)
        is_real = backend.xp.isdtype(A.dtype, "real floating")
        drawn = parts[0] if is_real else parts[0] + 1j * parts[1]
        return shape, A, np.broadcast_to(drawn, (stack, size))
    mask = exact_array(C if Backend.of(C, "C").xp is np else to_host(C), "C")
    if mask.shape not in ((size,), (*shape, size)):
        raise ValueError(fault("masks", size=size, shape=(*shape, size), got=mask.shape))
    return shape, A, np.broadcast_to(mask, (*shape, size)).reshape(stack, size)


def _in_real_parts(A: NDArray[Any]) -> Floats:
    """[[Re A, −Im A], [Im A, Re A]], as of :meth:`memcurve.LinearNetwork.real_pair`."""
    return np.block([[A.real, -A.imag], [A.imag, A.real]])
