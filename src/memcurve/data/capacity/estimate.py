"""Information processing capacity from recorded states and inputs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve.arguments import exact_array, require_limit, require_number
from memcurve.data.capacity import notes as noted
from memcurve.data.capacity.joint import joint_capacities
from memcurve.data.capacity.polynomials import polynomials_of
from memcurve.data.capacity.result import Capacity, Target
from memcurve.data.capacity.scan import Basis, Scan, scan
from memcurve.data.capacity.targets import reaches

Floats = NDArray[np.float64]

#: The degrees examined unless others are asked for: 2,825 targets.
DEGREES: Mapping[int, int | tuple[int, int]] = MappingProxyType({1: 80, 2: (20, 40), 3: (12, 30)})
#: At most one row in so many is spent on the joint regression; further targets count singly.
ROWS_PER_TARGET = 4


def capacity_from_data(
    states: ArrayLike,
    inputs: ArrayLike,
    degrees: Mapping[int, int | tuple[int, int]] | int = DEGREES,
    *,
    washout: int | None = None,
    polynomials: str = "auto",
    threshold: float = 1e-4,
    name: str = "",
) -> Capacity:
    """Information processing capacity of recorded states, by degree.

    The capacity of a target y is the share of its variance that is linear in the states,
    1 − min_W E(y_t − Wᵀx_t)²/Var y. Targets are products of polynomials p_d that are orthonormal
    under the law of the input,

        y_t = p_{d_1}(z_{t−τ_1}) · … · p_{d_k}(z_{t−τ_k}),    τ_1 < … < τ_k,

    of total degree d_1 + … + d_k. For independent inputs the capacities of all targets sum to at
    most N, and to N for states that are functions of a fading past (Dambre, Verstraeten, Schrauwen
    and Massar 2012). Degree 1 is the memory curve of :func:`memcurve.memory_curve`.

    Parameters
    ----------
    states : (n, N) array
        One row a time step, already driven by the input of that step.
    inputs : (T,) array
        T ≥ n; the states belong to the last n of them, as ``network.simulate(inputs, washout)``
        gives them.
    degrees : mapping or int
        Total degree → longest lag τ_k, or (window, longest lag) where the window bounds τ_k − τ_1.
        With a longest lag alone the window is at most 20, 12, 7, 6, 5, 4 for degrees 2 to 7 and 3
        beyond. A number D ≤ 7 means all degrees up to D with the longest lags 80, 40, 30, 16, 12,
        10, 8.
    washout : int, optional
        How many of the first inputs' states to leave out; at least the longest lag is.
    polynomials : str
        ``"legendre"`` (uniform input), ``"hermite"`` (Gaussian input), ``"empirical"``
        (orthonormal under the empirical law, for any input) or ``"auto"``: Legendre or Hermite if
        six moments of the data agree with the law, else empirical.
    threshold : float
        A target counts if its R² exceeds what an unrelated one exceeds with this probability.
    name : str
        A label for plots.

    Returns
    -------
    Capacity
        Totals by degree with standard errors, and the significant targets.

    Notes
    -----
    One QR decomposition of the centred states gives an orthonormal Q; all shifts of a pattern of
    degrees and lag differences are one cross-correlation of Q with one series, in blocks by
    Fourier transform. ``R² = |Qᵀw|²/|w|²`` exceeds the capacity by chance by κ = Σ h w²/Σ w² for
    leverages h. Significant is R² > c·max(κ/κ₀, 1), where c is the quantile of the Beta law at
    ``threshold`` and κ₀ the value of κ at equal leverages.

    The capacities of the significant targets are then estimated together, from a regression of
    the states on the targets: the sum of single R² has several times the standard error and
    exceeds N. Standard errors are those of influence functions, in blocks of time; to them are
    added the capacity that the cut may have left out (the sum of the corrected R² of all
    others and its own error, as far as the states have room) and what passes by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve.data.capacity import capacity_from_data
    >>> z = np.random.default_rng(1).uniform(-1, 1, 2000)
    >>> states = np.column_stack([np.roll(z, 3), np.roll(z, 1) * np.roll(z, 2)])
    >>> result = capacity_from_data(states, z, {1: 10, 2: 10})
    >>> {degree: round(capacity, 3) for degree, capacity in result.by_degree.items()}
    {1: 1.0, 2: 1.0}
    >>> result.targets[0].lags, result.targets[1].lags
    ((3,), (1, 2))
    """
    threshold = require_number(threshold, "threshold", "between 0 and 1", lambda p: 0 < p < 1)
    plan = reaches(degrees)
    if not isinstance(name, str):
        raise TypeError(f"`name` must be a string, got {name!r}.")
    z = _series(inputs)
    X = _recorded(states, len(z))
    longest = max(reach.lag for reach in plan)
    start = max(len(z) - len(X), longest, _washout(washout, len(z)))
    if longest >= len(z):
        raise ValueError(
            f"`degrees` must have lags shorter than the recording of {len(z)} inputs, got a "
            f"longest lag of {longest}; record more or give smaller lags."
        )
    basis, constant = _basis(X[start - (len(z) - len(X)) :], start)
    highest = plan[-1].degree
    family = polynomials_of(z, highest, polynomials)
    scans = scan(basis, family, plan, threshold)
    found = _joined(basis, family, scans)

    count = {one.reach.degree: one.count for one in scans}
    notes = [
        *noted.of_inputs(z, family, highest),
        *noted.of_states(X.shape[1], basis.rank, constant, basis.rows),
        *found.pop("notes"),
        *noted.of_results(
            plan,
            found["targets"],
            count,
            threshold,
            basis.rank - found["total"],
            found["total_error"],
        ),
    ]
    return Capacity(
        **found,
        rank=basis.rank,
        states=X.shape[1],
        rows=basis.rows,
        count=count,
        uncut={one.reach.degree: one.uncut for one in scans},
        reach={one.reach.degree: (one.reach.window, one.reach.lag) for one in scans},
        polynomials=family.name,
        threshold=threshold,
        notes=tuple(notes),
        name=name,
    )


def _joined(basis: Basis, family: Any, scans: list[Scan]) -> dict[str, Any]:
    """Capacities of the significant targets, their sums by degree and errors."""
    degrees = [one.reach.degree for one in scans]
    groups = np.repeat(np.arange(len(scans)), [len(one.chosen) for one in scans])
    chosen = [target for one in scans for target in one.chosen]
    raw = np.array([value for one in scans for value in one.raw])
    single = np.array([value for one in scans for value in one.single])
    most = basis.rows // ROWS_PER_TARGET
    order = np.argsort(-single, kind="stable")
    together = np.sort(order[:most])
    joint = joint_capacities(
        basis, family, [chosen[s] for s in together], groups[together], len(scans)
    )
    capacity, error = (
        np.maximum(single, 0),
        np.sqrt(2 * basis.rank * np.ones(len(raw))) / basis.rows,
    )
    capacity[together], error[together] = joint.capacity, joint.error
    sums = np.bincount(groups, weights=capacity, minlength=len(scans))
    # what lies below the cut is known up to the chance R² of that many targets, of variance
    # 2r/n² each; no more can have been left out than the states have room for
    room = max(basis.rank - float(capacity.sum()), 0.0)
    below = np.maximum([one.left_out for one in scans], 0)
    blur = np.array([2 * basis.rank * one.count for one in scans]) / basis.rows**2
    chance = np.array([one.chance for one in scans])
    errors = np.sqrt(joint.group_errors**2 + np.minimum(below**2 + blur, room**2) + chance)
    beyond = len(raw) - len(together)
    targets = tuple(
        Target(
            degrees=chosen[s][0].degrees,
            lags=tuple(chosen[s][1] + offset for offset in chosen[s][0].offsets),
            capacity=float(capacity[s]),
            error=float(error[s]),
            raw=float(raw[s]),
            single=float(single[s]),
        )
        for s in np.argsort(-capacity, kind="stable")
    )
    missed = min(below.sum() ** 2 + blur.sum(), room**2)
    total_error = np.sqrt(joint.total_error**2 + missed + chance.sum())
    return {
        "by_degree": dict(zip(degrees, sums.tolist(), strict=True)),
        "errors": dict(zip(degrees, errors.tolist(), strict=True)),
        "total": float(min(capacity.sum(), basis.rank)),
        "total_error": float(total_error),
        "targets": targets,
        "notes": [
            f"{len(raw)} targets are significant, too many for {basis.rows} rows: the weakest "
            f"{beyond} are estimated singly; record more"
        ]
        * (beyond > 0),
    }


def _series(inputs: ArrayLike) -> Floats:
    z = exact_array(inputs, "inputs")
    if z.ndim == 2 and z.shape[1] == 1:
        z = z[:, 0]
    if z.ndim != 1 or np.iscomplexobj(z):
        raise ValueError(
            f"`inputs` must be one real series of shape (T,), got shape {z.shape} and dtype "
            f"{z.dtype}; give one input channel at a time."
        )
    return z


def _recorded(states: ArrayLike, steps: int) -> Floats:
    X = exact_array(states, "states")
    if X.ndim != 2 or X.shape[1] == 0 or np.iscomplexobj(X):
        raise ValueError(
            f"`states` must be real of shape (n, N), one row a time step, got shape {X.shape} and "
            f"dtype {X.dtype}; a single state goes as states[:, None], complex ones as real and "
            f"imaginary parts."
        )
    if len(X) > steps:
        hint = "; transpose it" if X.shape[1] == steps else "; give the inputs of all of them"
        raise ValueError(
            f"`states` must not have more rows than `inputs` has steps, got {len(X)} rows and "
            f"{steps} inputs{hint}."
        )
    return X


def _washout(washout: int | None, steps: int) -> int:
    if washout is None:
        return 0
    if require_limit(washout, "washout") >= steps:
        raise ValueError(
            f"`washout` must be an integer from 0 to T - 1 = {steps - 1}, got {washout!r}; give a "
            f"longer recording or a shorter washout."
        )
    return int(washout)


def _basis(rows: Floats, start: int) -> tuple[Basis, int]:
    """Orthonormal basis of the centred states, and how many of them are constant."""
    n, states = rows.shape
    if n < states + 3:
        raise ValueError(
            f"`states` must have more rows than states after the first {start} steps (longest lag "
            f"and washout), got {n} rows for {states} states; record more, or give smaller lags."
        )
    centred = rows - rows.mean(axis=0)
    scale = np.sqrt(np.einsum("tk,tk->k", centred, centred))
    # rounding of the mean leaves a constant of up to √n·eps in each of n rows
    varying = scale > n * np.finfo(float).eps * np.abs(rows).max(axis=0)
    if not varying.any():
        raise ValueError("`states` must vary in time, got constant columns only; check the data.")
    factor, triangle = np.linalg.qr(centred[:, varying] / scale[varying])
    left, singular, _ = np.linalg.svd(triangle)
    kept = singular > singular[0] * max(n, states) * np.finfo(float).eps
    Q = np.ascontiguousarray(factor @ left[:, kept])
    return Basis(Q, start), int((~varying).sum())
