"""Memory curves from eigenvalues alone: all it takes is the array API."""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.arguments import require_size
from memcurve.batch.backend import Backend, has_gradient, to_host
from memcurve.batch.evaluation import LATTICE, METHODS, Plan, error_of, evaluate, plan_for
from memcurve.batch.result import MemoryCurves, Origin, assembled
from memcurve.errors import UnstableNetworkError
from memcurve.memory import MOST_LAGS
from memcurve.solve.lags import MOST_DEFAULT_LAGS

SMALLEST_GRID = 4  # half a circle of three points
ABSOLUTE = (
    "values are right to within `error`; memory far below it has no digits of its own (for those, "
    "method='lattice' or memcurve.memory_curve)"
)


def curves_of_poles(
    poles: Any,
    lags: int | None = None,
    *,
    add_conjugates: bool = False,
    method: str = "auto",
    grid: int | None = None,
) -> MemoryCurves:
    """Memory of networks with given eigenvalues, each excited by the input.

    ``MC_τ = Σ_{j>τ} |b_j|²`` with ``Σ_j b_j zʲ = Π_k (z − λ̄_k)/(1 − λ_k z)``: the mask does not
    matter as long as it excites every mode, and repeated eigenvalues stand for Jordan blocks.
    Differentiable with respect to the eigenvalues, with torch (``backward``) and jax
    (``jax.grad``, outside of ``jax.jit``).

    Parameters
    ----------
    poles : (..., n) array
        Eigenvalues of modulus below one, real or complex, of NumPy, torch, cupy, jax or another
        namespace of the array API. Those of a real network come in conjugate pairs: give both, or
        say ``add_conjugates``.
    lags : int, optional
        ``lags=m`` gives lags 0 … m − 1; by default enough to hold all but 1e-12 of the memory of
        every network.
    add_conjugates : bool
        Add the conjugate of every pole: the states of a complex diagonal network (LRU, S4D), read
        through real and imaginary parts, have both, and count twice.
    method : str
        ``"circle"``: the filter at points of the unit circle, and a Fourier transform;
        ``"lattice"``: lag by lag, for poles close to the circle or few lags; ``"auto"``: whichever
        is cheaper.
    grid : int, optional
        Number of points on the circle, a power of two; by default as many as it takes. Too few
        fold the end of the curve back on its beginning, and ``error`` says how much at most.

    Returns
    -------
    MemoryCurves
        Exact for the stored poles, up to ``error``; the rank is the number of poles.

    Examples
    --------
    >>> from memcurve.batch import curves_of_poles
    >>> curves = curves_of_poles([[0.0, 0.0, 0.0], [0.9, 0.5, -0.5]], lags=4)
    >>> curves.values.round(4)
    array([[1.    , 1.    , 1.    , 0.    ],
           [0.9494, 0.9471, 0.1612, 0.1417]])
    """
    backend = Backend.of(poles, "poles")
    given = backend.float64(poles, "poles")
    xp = backend.xp
    if len(given.shape) == 0 or given.shape[-1] == 0:
        raise ValueError(
            f"`poles` must have shape (..., n) with n of at least one, got {tuple(given.shape)}."
        )
    lags = validated_lags(lags)
    _require_method(method, grid)
    *lead, size = given.shape
    stack = int(np.prod(lead, dtype=int))
    flat = xp.reshape(given, (stack, size))
    if not xp.isdtype(flat.dtype, "complex floating"):
        flat = flat + 0j if xp is np else xp.astype(flat, xp.complex128)
    if add_conjugates:
        flat = xp.concat([flat, xp.conj(flat)], axis=1)
    known = to_host(flat)
    require_stable(known, "poles")
    if stack == 0:
        return empty(backend, tuple(lead), lags)
    may_pair = add_conjugates or not has_gradient(flat)
    plan = plan_for(backend, known, lags, method, grid, may_pair=may_pair)
    found = evaluate(backend, flat, plan, lags)
    return assembled(
        backend,
        shape=tuple(lead),
        values=found.memory,
        error=error_of(backend, found, np.zeros(stack)),
        loss=found.loss,
        rank=np.full(stack, known.shape[1], dtype=np.int64),
        origins=origins_of(plan),
        notes=(
            *notes_of(plan, lags, found.memory.shape[1]),
            "every given pole counts: the mask is taken to excite all modes",
        ),
    )


def origins_of(plan: Plan) -> tuple[Origin, ...]:
    """How each network of a plan is computed."""
    return tuple(Origin("lattice" if p == LATTICE else "circle") for p in plan.points.tolist())


def notes_of(plan: Plan, asked: int | None, lags: int) -> tuple[str, ...]:
    """What to know about the curves of a plan, of which ``lags`` were computed."""
    points = plan.points[plan.points != LATTICE]
    notes = []
    if len(points):
        least, most = int(points.min()), int(points.max())
        span = f"{most}" if least == most else f"{least} to {most}"
        notes.append(f"circle: the filter sampled at {span} points of the circle; {ABSOLUTE}")
    if len(points) < len(plan.points):
        notes.append("lattice: lag by lag, without truncation or aliasing")
    if asked is None and lags >= MOST_DEFAULT_LAGS:
        notes.append(
            f"lags stop at {lags}: memory beyond them is in `total`, not in `values`; give `lags` "
            f"to see further"
        )
    return tuple(notes)


def empty(backend: Backend, shape: tuple[int, ...], lags: int | None) -> MemoryCurves:
    """The result for a stack of no networks."""
    nothing = backend.put(np.zeros((0, lags or 0)))
    return assembled(
        backend,
        shape=shape,
        values=nothing,
        error=nothing,
        loss=nothing,
        rank=np.zeros(0, dtype=np.int64),
        origins=(),
        notes=("the stack is empty",),
    )


def validated_lags(lags: Any) -> int | None:
    """The number of lags, None or a positive integer that fits."""
    if lags is None:
        return None
    if require_size(lags, "lags") > MOST_LAGS:
        raise ValueError(
            f"`lags` must be at most {MOST_LAGS:,}, which take gigabytes of memory; got {lags:,}."
        )
    return int(lags)


def require_stable(poles: np.ndarray, argument: str) -> None:
    """Raise where a network (a row) has an eigenvalue of modulus one or more, naming them all."""
    radius = np.abs(poles).max(axis=1, initial=0.0)
    outside = np.flatnonzero(radius >= 1)
    if len(outside):
        raise UnstableNetworkError(
            f"{listed(outside)} of the stack {'is' if len(outside) == 1 else 'are'} unstable as "
            f"far as floating point can tell: `{argument}` has eigenvalues of modulus up to "
            f"{radius.max():.6g}. Scale them below 1, or leave them out; memcurve.memory_curve "
            f"decides more carefully for a single network."
        )


def listed(networks: np.ndarray) -> str:
    """The networks in words, the first few of many."""
    numbers = ", ".join(str(k) for k in networks[:8].tolist())
    more = f" and {len(networks) - 8} more" if len(networks) > 8 else ""
    return f"network{'s' if len(networks) > 1 else ''} {numbers}{more}"


def _require_method(method: str, grid: int | None) -> None:
    if method not in METHODS:
        raise ValueError(f"`method` must be one of {', '.join(METHODS)}; got {method!r}.")
    if grid is None:
        return
    if method == "lattice":
        raise ValueError("`grid` is for the circle, got method='lattice'; leave one of them out.")
    if require_size(grid, "grid") & (grid - 1) or grid < SMALLEST_GRID:
        raise ValueError(
            f"`grid` must be a power of two, {SMALLEST_GRID} or more, got {grid}; give e.g. 4096."
        )
