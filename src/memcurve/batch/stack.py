"""memory_curves: the memory of a stack of networks, on any array library and device."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.arguments import require_limit
from memcurve.batch.backend import Array, Backend, has_gradient, to_host, without_gradient
from memcurve.batch.closer import closer_look, continued
from memcurve.batch.degree import fully_excited
from memcurve.batch.evaluation import METHODS, Plan, error_of, evaluate, plan_for
from memcurve.batch.poles import (
    empty,
    listed,
    notes_of,
    origins_of,
    require_stable,
    validated_lags,
)
from memcurve.batch.result import MemoryCurves, Origin, assembled
from memcurve.batch.rounding import eigenvalues_fit, pole_sensitivities, scaling
from memcurve.batch.validation import real_stack, validated_mask, validated_shape
from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError
from memcurve.solve.solvers import LARGEST_ERROR

Floats = NDArray[np.float64]

NO_MASK = (
    "no mask was given: the curves are those of a mask drawn at random, and of any mask that "
    "excites the same modes"
)
ASSUMED = "assume_controllable=True: that the mask excites every mode was not checked"


def memory_curves(
    A: Any,
    C: Any = None,
    lags: int | None = None,
    *,
    method: str = "auto",
    assume_controllable: bool = False,
    closer_look_up_to: int = 3000,
) -> MemoryCurves:
    """Memory of a stack of networks lag by lag, computed where the stack is.

    The eigenvalues λ of each network, then ``MC_τ = Σ_{j>τ} |b_j|²`` with
    ``Σ_j b_j zʲ = Π_k (z − λ̄_k)/(1 − λ_k z)``; see :func:`memcurve.memory_curve` for what it means.
    That every eigenvalue counts is proven for the stored numbers by exact arithmetic modulo a
    prime. Networks for which it is not so, or whose eigenvalues are too uncertain, are handed to
    ``memory_curve`` one by one, on the CPU, with a note.

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
        ``lags=m`` gives lags 0 … m − 1; by default enough to hold all but 1e-12 of the memory of
        every network.
    method : str
        ``"circle"``, ``"lattice"`` or ``"auto"``, as for
        :func:`memcurve.batch.curves_of_poles`.
    assume_controllable : bool
        Take it for granted that each mask excites every mode. Saves time, and is noted.
    closer_look_up_to : int
        Number of states up to which a network may be handed to ``memory_curve`` on the CPU; beyond
        it such a network is refused.

    Returns
    -------
    MemoryCurves
        Arrays of the namespace and on the device of A.

    Notes
    -----
    ``values`` can be differentiated with respect to A where ``linalg.eigvals`` can (torch, jax).
    The gradient of a repeated eigenvalue does not exist and comes out as NaN or very large, though
    that of the curve does; a network that would have to be handed to the CPU is refused then.

    In a stack, small networks take a tenth of the time they take one by one (N = 10); networks of
    some hundred nodes take up to half as much again on a CPU, where the proof of the rank costs
    most.

    Whether the rank hangs on the last digits of the numbers (``rank_robust``) is not looked at, and
    a device that flushes subnormal numbers (jax) takes them for zero.

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
    if method not in METHODS:
        raise ValueError(f"`method` must be one of {', '.join(METHODS)}; got {method!r}.")
    closer_look_up_to = require_limit(closer_look_up_to, "closer_look_up_to")
    backend = Backend.of(A, "A")
    given = backend.float64(A, "A")
    shape = validated_shape(given)
    stacked, mask = real_stack(backend, given, validated_mask(C, shape, given.shape[-1]))
    states = mask.shape[1]
    if len(mask) == 0:
        return empty(backend, shape, lags)
    if not isinstance(assume_controllable, bool | np.bool_):
        raise TypeError(
            f"`assume_controllable` must be True or False, got {assume_controllable!r}."
        )
    judged = _judge(backend, stacked, mask, lags, method, assume_controllable)
    reasons = {
        "the mask may not excite every mode": ~judged.excited & ~judged.uncertain,
        "the eigenvalues are too uncertain in plain floating point": judged.uncertain,
    }
    notes = [NO_MASK] if C is None else []
    notes += [ASSUMED] if assume_controllable else []
    for reason, which in reasons.items():
        if which.any():
            networks = np.flatnonzero(which)
            _require_possible(networks, stacked, reason, closer_look_up_to)
            notes.append(f"{listed(networks)}: one by one on the CPU, by memory_curve, as {reason}")
    careful = np.flatnonzero(~judged.excited | judged.uncertain)
    good = np.flatnonzero(judged.excited & ~judged.uncertain)
    looked_at = closer_look(to_host(backend.rows(stacked, careful)), mask[careful], careful, lags)
    computed = None
    if len(good):
        plan = judged.plan.of(good)
        at_least = max((len(curve) for curve in looked_at), default=1)
        found = evaluate(backend, backend.rows(judged.poles, good), plan, lags, at_least=at_least)
        error = error_of(backend, found, judged.sensitivity[good])
        computed = Computed(found.memory, found.loss, error, origins_of(plan))
        notes += notes_of(plan, lags, found.memory.shape[1])
    return _joined(backend, shape, computed, good, looked_at, careful, tuple(notes), states)


class Judged(NamedTuple):
    """What decides how each network of a stack is computed.

    ``excited``: every mode counts, proven or taken for granted. ``uncertain``: the error would be
    too large.
    """

    poles: Array
    plan: Plan
    sensitivity: Floats
    excited: NDArray[np.bool_]
    uncertain: NDArray[np.bool_]


def _judge(
    backend: Backend,
    A: Array,
    mask: Floats,
    lags: int | None,
    method: str,
    assume_controllable: bool,
) -> Judged:
    """Eigenvalues of a stack A (B, N, N), their uncertainty, and whether all of them count."""
    plain = without_gradient(A)
    exponents, balanced = scaling(backend, plain)
    poles = _eigenvalues(backend, A, exponents)
    known = to_host(poles)
    scaled = _scaled(backend, plain, exponents)
    readable = np.isfinite(known).all(axis=1) & eigenvalues_fit(backend, scaled, known)
    known = np.where(readable[:, None], known, 0.0)
    require_stable(known, "A")
    sensitivity = pole_sensitivities(backend, scaled)
    sensitivity[~(balanced & readable)] = np.inf
    del scaled  # another N×N array a network
    plan = plan_for(backend, known, lags, method)
    uncertain = plan.largest_error(sensitivity) > LARGEST_ERROR
    excited = np.full(len(mask), assume_controllable)
    asked = np.flatnonzero(~uncertain & ~excited)
    if len(asked):
        excited[asked] = fully_excited(backend, backend.rows(plain, asked), mask[asked])
    return Judged(poles, plan, sensitivity, excited, uncertain)


class Computed(NamedTuple):
    """Curves (B, m) computed on the device, and how."""

    memory: Array
    loss: Array
    error: Array
    origins: tuple[Origin, ...]


def _scaled(backend: Backend, A: Array, exponents: Floats | None) -> Array:
    """D⁻¹AD with the powers of two 2^e in D: the same eigenvalues, without rounding."""
    if exponents is None:
        return A
    scale = backend.put(2.0**exponents)
    return A * (scale[:, None, :] / scale[:, :, None])


def _eigenvalues(backend: Backend, A: Array, exponents: Floats | None) -> Array:
    xp = backend.xp
    eigvals = getattr(xp.linalg, "eigvals", None)
    if eigvals is None:
        raise TypeError(
            f"`A` is an array of {backend.name}, which has no linalg.eigvals; compute the "
            f"eigenvalues elsewhere and give them to memcurve.batch.curves_of_poles, which needs "
            f"the array API alone."
        )
    poles = eigvals(_scaled(backend, A, exponents))
    if xp is np:  # real where all eigenvalues are
        return np.asarray(poles, dtype=np.complex128)
    return poles if xp.isdtype(poles.dtype, "complex floating") else xp.astype(poles, xp.complex128)


def _require_possible(
    networks: NDArray[np.intp], A: Array, reason: str, closer_look_up_to: int
) -> None:
    """Raise where networks would have to be handed to the CPU and cannot be."""
    if has_gradient(A):
        raise UncertainResultError(
            f"{listed(networks)} of the stack cannot be computed with a gradient, since {reason}; "
            f"without one, memory_curve would take a closer look. Leave them out, or detach `A`."
        )
    states = int(A.shape[-1])
    if states > closer_look_up_to:
        raise UncertainResultError(
            f"{listed(networks)} of the stack must be looked at more closely, one by one on the "
            f"CPU, since {reason}; but there are {states} states and `closer_look_up_to` is "
            f"{closer_look_up_to}. Raise it (a closer look takes several times as long as the "
            f"eigenvalues on the CPU), or leave these networks out."
        )


def _joined(
    backend: Backend,
    shape: tuple[int, ...],
    computed: Computed | None,
    good: NDArray[np.intp],
    looked_at: list[MemoryCurve],
    careful: NDArray[np.intp],
    notes: tuple[str, ...],
    states: int,
) -> MemoryCurves:
    """Both kinds of curves in the order of the stack."""
    xp = backend.xp
    lags = max(map(len, looked_at)) if computed is None else int(computed.memory.shape[1])
    parts = [] if computed is None else [computed]
    if looked_at:
        rows = [continued(curve, lags) for curve in looked_at]
        values, loss, error = (backend.put(np.stack(part)) for part in zip(*rows, strict=True))
        own = tuple(Origin(curve.method, curve.notes) for curve in looked_at)
        parts.append(Computed(values, loss, error, own))
    order = np.argsort(np.concatenate([good, careful]), kind="stable")
    ranks = np.concatenate(
        [np.full(len(good), states), np.array([curve.rank for curve in looked_at], dtype=int)]
    )
    memory, loss, error = (
        backend.rows(xp.concat([part[k] for part in parts], axis=0), order) for k in range(3)
    )
    origins = [origin for part in parts for origin in part.origins]
    return assembled(
        backend,
        shape=shape,
        values=memory,
        error=error,
        loss=loss,
        rank=ranks[order].astype(np.int64),
        origins=tuple(origins[k] for k in order),
        notes=notes,
    )
