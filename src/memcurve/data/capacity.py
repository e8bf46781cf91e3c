"""Information processing capacity of recorded states, by degree."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import exact_array, require_limit, require_number
from memcurve.core.notes import Note
from memcurve.core.progress import Progress, tracked
from memcurve.core.result import Result, installed_versions
from memcurve.core.types import Floats
from memcurve.data import capacity_estimation as estimation
from memcurve.data.capacity_estimation import Target as Target
from memcurve.data.checks import is_coloured
from memcurve.data.prose import fault, note
from memcurve.data.stretches import stuck_stretches
from memcurve.io import open_recording

#: Rows per state below which the errors are unreliable.
ROWS_PER_STATE = 20
#: Capacity at the last lag or the end of the window that suggests more beyond.
AT_THE_EDGE = 0.01


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Capacity(Result):
    """Information processing capacity by degree, with standard errors.

    Attributes
    ----------
    by_degree, errors : dict
        Total degree → capacity of all targets of that degree, significant or not, and its standard
        error.
    total, total_error : float
        Over all degrees; never above ``rank``.
    rank : int
        Number of linearly independent states, which bounds the capacity over all targets.
    states, rows : int
        Number of states N, and of the time steps that were used.
    targets : tuple of Target
        The significant ones, largest capacity first.
    count, reach : dict
        Total degree → number of targets examined, and their (window, longest lag).
    polynomials : str
        ``"legendre"`` of uniform input, ``"hermite"`` of Gaussian input, else ``"empirical"``:
        orthonormal under the law of the inputs given.
    threshold : float
        Probability that a target unrelated to the states passes as significant.
    notes, name, versions
        As for other results.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> z = np.random.default_rng(1).uniform(-1, 1, 2000)
    >>> result = memcurve.capacity_from_data(np.column_stack([z, z**2]), z, {1: 3, 2: 3})
    >>> round(result.by_degree[1], 2), result.rank
    (1.0, 2)
    """

    FORMAT: ClassVar[str] = "memcurve.Capacity/3"
    ATTRIBUTES: ClassVar[tuple[str, ...]] = ("total", "total_error", "rank")

    by_degree: Mapping[int, float]
    errors: Mapping[int, float]
    total: float
    total_error: float
    rank: int
    states: int
    rows: int
    targets: tuple[Target, ...]
    count: Mapping[int, int]
    reach: Mapping[int, tuple[int, int]]
    polynomials: str
    threshold: float
    notes: tuple[Note, ...] = ()
    name: str = ""
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    def significant(self, degree: int) -> tuple[Target, ...]:
        """The significant targets of one total degree, largest capacity first."""
        return tuple(target for target in self.targets if target.degree == degree)

    def columns(self) -> Mapping[str, Any]:
        """One row per degree: capacity, error, targets and significant."""
        return {
            "degree": list(self.by_degree),
            "capacity": list(self.by_degree.values()),
            "error": list(self.errors.values()),
            "targets": list(self.count.values()),
            "significant": [len(self.significant(degree)) for degree in self.by_degree],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw one bar, stacked by degree; see :func:`memcurve.plot.capacity` for several."""
        from memcurve.rendering import plot

        return plot.capacity(self, ax=ax)

    def __repr__(self) -> str:
        label = f"{self.name}, " if self.name else ""
        lines = [
            f"<Capacity {label}{self.states} states of rank {self.rank}, {self.rows} rows, "
            f"{self.polynomials} polynomials",
            "  degree  targets  significant   capacity",
        ]
        for degree, value, error, *counts in zip(*self.columns().values(), strict=True):
            targets = "  {:7d}  {:11d}".format(*counts)
            lines.append(f"  {degree:6d}{targets}  {value:9.4f} ± {error:.1e}")
        total = f"  {self.total:9.4f} ± {self.total_error:.1e}  of at most {self.rank}>"
        lines.append(f"   total  {sum(self.count.values()):7d}  {len(self.targets):11d}{total}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def capacity_from_data(
    states: ArrayLike,
    inputs: ArrayLike,
    degrees: Mapping[int, int | tuple[int, int]] | int = 3,
    *,
    washout: int | None = None,
    threshold: float = 1e-4,
    name: str = "",
    progress: Progress = False,
) -> Capacity:
    """Information processing capacity of recorded states by degree: a :class:`memcurve.Capacity`.

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
        One row per time step, already driven by the input of that step.
    inputs : (T,) array
        T ≥ n; the states belong to the last n of them, as ``network.simulate(inputs, washout)``
        gives them.
    degrees : mapping or int
        Total degree → longest lag τ_k, or (window, longest lag) where the window bounds τ_k − τ_1.
        With a longest lag alone the window is at most 20, 12, 7, 6, 5, 4 for degrees 2 to 7 and 3
        beyond. A number D ≤ 7 means degrees up to D and lags up to 80, 40, 30, 16, 12, 10, 8.
    washout : int, optional
        How many of the first inputs' states to leave out; at least the longest lag is.
    threshold : float
        A target counts if its R² exceeds what an unrelated one exceeds with this probability.
    name : str
        A label for plots.
    progress : bool or callable
        Show a bar on stderr, or call ``progress(label, done, total)``.

    Notes
    -----
    A target is significant where its R² exceeds the quantile of the Beta law at ``threshold``;
    totals have no threshold. Standard errors are those of influence functions.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve import capacity_from_data
    >>> z = np.random.default_rng(1).uniform(-1, 1, 2000)
    >>> states = np.column_stack([np.roll(z, 3), np.roll(z, 1) * np.roll(z, 2)])
    >>> result = capacity_from_data(states, z, {1: 10, 2: 10})
    >>> {degree: round(capacity, 3) for degree, capacity in result.by_degree.items()}
    {1: 1.0, 2: 1.0}
    >>> result.targets[0].lags, result.targets[1].lags
    ((3,), (1, 2))
    """
    threshold = require_number(threshold, "threshold", "between 0 and 1", lambda p: 0 < p < 1)
    plan = estimation.reaches(degrees)
    if not isinstance(name, str):
        raise TypeError(f"`name` must be a string, got {name!r}.")
    X, z, washout = _validated(states, inputs, 0 if washout is None else washout)
    longest = max(reach.lag for reach in plan)
    start = max(len(z) - len(X), longest, washout)
    if longest >= len(z):
        raise ValueError(fault("long_lag", count=len(z), longest=longest))
    basis, constant = estimation.state_basis(X[start - (len(z) - len(X)) :], start)
    polynomials = estimation.polynomials_of(z, plan[-1].degree)
    scans = [
        estimation.scan(basis, polynomials, reach)
        for reach in tracked(plan, "degrees", len(plan), progress)
    ]
    sums, errors, targets = estimation.estimate(basis, polynomials, scans, threshold)
    by_degree = [reach.degree for reach in plan]
    result = Capacity(
        by_degree=dict(zip(by_degree, np.maximum(sums, 0.0).tolist(), strict=True)),
        errors=dict(zip(by_degree, errors[:-1].tolist(), strict=True)),
        total=float(np.clip(sums.sum(), 0, basis.rank)),
        total_error=float(errors[-1]),
        targets=targets,
        rank=basis.rank,
        states=X.shape[1],
        rows=basis.rows,
        count={one.reach.degree: len(one.raw) for one in scans},
        reach={one.reach.degree: (one.reach.window, one.reach.lag) for one in scans},
        polynomials=polynomials.name,
        threshold=threshold,
        name=name,
    )
    notes = list(_notes(result, constant, z, len(polynomials.values) - 1))
    for first, last, column in stuck_stretches(X, z[len(z) - len(X) :]):
        subject = "no state moves" if column is None else f"column {column} does not move"
        notes.append(note("capacity.stuck", what=subject, first=first, last=last))
    return dataclasses.replace(result, notes=tuple(notes))


def _validated(states: Any, inputs: Any, washout: int) -> tuple[Floats, Floats, int]:
    """States (n, N), inputs (T,) with T ≥ n, and the washout, if they fit together."""
    z, X = exact_array(inputs, "inputs"), exact_array(states, "states")
    steps = len(z) if z.ndim else 0
    if z.ndim == 2 and z.shape[1] > 1:
        raise ValueError(fault("several_inputs", shape=z.shape))
    if X.ndim == 2 and len(X) < steps:  # the first inputs may be without states
        z = z.reshape(-1)
        open_recording(X, z[steps - len(X) :])
    else:
        open_recording(X, z)
    if require_limit(washout, "washout") >= steps:
        raise ValueError(fault("washout", last=steps - 1, washout=washout))
    return X, z.reshape(-1), int(washout)


def _notes(result: Capacity, constant: int, inputs: Floats, highest: int) -> Iterator[Note]:
    """On the input, the states, their number of rows, and what the degrees and lags may miss."""
    centred = (inputs - inputs.mean()) / inputs.std()
    kurtosis = float((centred**4).mean())
    if kurtosis >= 6:  # that of the Laplace law
        yield note("capacity.heavy_tails", kurtosis=kurtosis)
    if is_coloured(centred) or (kurtosis > 1 + 1e-12 and is_coloured(centred**2)):
        yield note("capacity.dependent")
    if highest < max(result.count):
        yield note("capacity.values", values=highest + 1, highest=highest)
    rows, rank, states = result.rows, result.rank, result.states
    if rank < states:
        cause = f", {constant} of them constant" if constant else ""
        yield note("capacity.rank", states=states, rank=rank, constant=cause)
    if rows < ROWS_PER_STATE * rank:
        yield note("capacity.few_rows", rows=rows, rank=rank, wanted=ROWS_PER_STATE)
    significant = len(result.targets)
    if (beyond := significant - rows // estimation.ROWS_PER_SIGNIFICANT) > 0:
        yield note("capacity.singly", count=significant, rows=rows, beyond=beyond)
    for degree, (window, lag) in result.reach.items():
        targets = result.significant(degree)
        last = sum(t.capacity for t in targets if t.lags[-1] == lag)
        wide = sum(t.capacity for t in targets if t.lags[-1] - t.lags[0] == window > 0)
        if last > AT_THE_EDGE:
            yield note("capacity.lag", degree=degree, capacity=last, lag=lag)
        if wide > AT_THE_EDGE and window < lag:
            yield note("capacity.window", degree=degree, capacity=wide, window=window)
    unexplained = result.rank - result.total
    if unexplained > max(3 * result.total_error, AT_THE_EDGE):
        yield note("capacity.unexplained", dimensions=unexplained)
