"""MemoryCurve and NoiseProfile: memory lag by lag, and a family of such curves."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memcurve.core import cells
from memcurve.core.arguments import require_number
from memcurve.core.notes import Note, NoteTexts, Sentences, texts_beside
from memcurve.core.result import Result, installed_versions
from memcurve.core.types import EPS, Floats, Free, Integers
from memcurve.rendering import plot

#: The note of a name in ``notes.toml``, filled with facts.
note = NoteTexts(texts_beside(__file__, "notes.toml"))
#: What is wrong with a question.
fault = Sentences(texts_beside(__file__, "faults.toml"))
_TOTALS = {"memory": "total memory", "forecasting": "total capacity", "Fisher": "total Fisher"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MemoryCurve(Result):
    """Memory of a network lag by lag, with the error of every number.

    Forecasting and Fisher memory curves are of this type too; ``kind`` says which it is.

    Attributes
    ----------
    lags : (m,) int array
        The lags τ; lag 0 is the input at the same time step as the state.
    values : (m,) array
        MC_τ, the fraction of the variance of the input τ steps ago that is linearly recoverable
        from the states; with several inputs, the sum of these fractions.
    error : (m,) array
        Bound on ``|values − truth|`` for the numbers stored in the network: estimated for the
        exact method, proven for the certified one, NaN (with a note) for methods that have none.
    loss : (m,) array
        1 − MC_τ (number of inputs − MC_τ), also where ``values`` rounds to 1.
    total, total_error : float
        Memory over *all* lags, not only those listed, where the method knows it, and a bound on
        its error (zero for a rank); else over the lags that the method covers, and NaN. That of a
        slice is over its own lags: ``curve[1:201]`` sums lags 1 … 200, ``curve[1:]`` all lags from
        1 on, also those not listed.
    total_lags : tuple or None
        First lag and last lag (None: all that follow) of the total of a slice; else None.
    rank : int or None
        Rank of the Krylov matrix [C, AC, A²C, …] of the stored numbers, in the rows of the nodes
        that are read; None where it is not computed.
    channels, channel_errors : (m, d) array
        Memory of each input channel, whose rows sum to ``values``, and bounds on its error. For
        inputs with nearly parallel masks the joint memory may be accurate where the parts are not.
    bands : (m, 2) array or None
        5 % and 95 % quantiles of methods that average over masks; for memory from data intervals
        of the ``level`` among ``options``.
    notes : tuple of Note
        Caveats to read before quoting the numbers.
    kind : str
        ``"memory"``, ``"forecasting"`` (lags are steps ahead, from 1 on) or ``"Fisher"``.
    method, options, seed, network, versions
        How the curve was made, of which network, and with which packages.
    diagnostics : dict
        Further figures of the method, e.g. ``rank_robust``, ``margin``, ``reachable``.

    Examples
    --------
    >>> import memcurve
    >>> curve = memcurve.memory_curve(memcurve.ensembles.delay_line(3), lags=5)
    >>> curve.values
    array([1., 1., 1., 0., 0.])
    >>> curve[1:4].values
    array([1., 1., 0.])
    >>> curve.total, curve[1:].total, curve.mean_age, curve.spread
    (3.0, 2.0, 1.0, 0.0)
    """

    FORMAT: ClassVar[str] = "memcurve.MemoryCurve/2"
    DERIVED: ClassVar[tuple[str, ...]] = ("inputs",)

    lags: Integers
    values: Floats
    error: Floats
    loss: Floats
    total: float
    rank: int | None
    channels: Floats
    method: str
    channel_errors: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    total_error: float = float("nan")
    total_lags: tuple[int, int | None] | None = None
    kind: str = "memory"
    bands: Floats | None = None
    notes: tuple[Note, ...] = ()
    options: Free = field(default_factory=dict)
    seed: int | None = None
    diagnostics: Free = field(default_factory=dict)
    network: str = ""
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    def __post_init__(self) -> None:
        if self.channels.ndim != 2:  # read from JSON, where no lags leave no channels to see
            object.__setattr__(self, "channels", np.zeros((0, 1)))
        if self.bands is not None and self.bands.ndim != 2:
            object.__setattr__(self, "bands", np.zeros((0, 2)))
        if self.channel_errors.shape != self.channels.shape:  # one input, or a file without them
            every = np.broadcast_to(self.error[:, None], self.channels.shape)
            object.__setattr__(self, "channel_errors", every)
        for name in self._arrays():
            array = np.asarray(getattr(self, name)).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def _arrays(self) -> list[str]:
        """Names of the arrays whose first axis is the lag."""
        names = ["lags", "values", "error", "loss", "channels", "channel_errors"]
        return names if self.bands is None else [*names, "bands"]

    def __len__(self) -> int:
        return len(self.lags)

    def __iter__(self) -> Iterator[float]:
        return iter(self.values.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def __getitem__(self, lag: int | slice) -> Any:
        """``curve[τ]`` is the memory at lag τ; ``curve[a:b]`` the curve at lags a … b − 1."""
        if isinstance(lag, slice):
            return self._slice(lag)
        is_lag = isinstance(lag, int | np.integer) and len(self) > 0
        if not is_lag or not self.lags[0] <= lag <= self.lags[-1]:
            span = f"lags {self.lags[0]} to {self.lags[-1]}" if len(self) else "no lags"
            raise IndexError(fault("no_such_lag", lag=lag, span=span))
        return float(self.values[lag - int(self.lags[0])])

    def _slice(self, wanted: slice) -> MemoryCurve:
        """The curve at some lags, with the total over these; all that follow are in it if asked."""
        chosen = _selected(self.lags, wanted)
        parts: dict[str, Any] = {name: getattr(self, name)[chosen] for name in self._arrays()}
        lags, before = parts["lags"], ~chosen
        if "end_lag" in self.diagnostics:  # lags of a recording after which none is in the total
            before &= self.lags <= self.diagnostics["end_lag"]
        is_open = self.total_lags is None or self.total_lags[1] is None
        unlisted = int(self.lags[-1]) + 1 if len(self) else (self.total_lags or (-1,))[0]
        follows = bool(len(lags)) or wanted.start == unlisted
        rounding = EPS * abs(self.total)
        if is_open and wanted.stop is None and follows:
            if not chosen.all():
                parts["total"] = self.total - math.fsum(self.values[before])
                parts["total_error"] = self.total_error + math.fsum(self.error[before]) + rounding
                parts["total_lags"] = (int(lags[0]) if len(lags) else unlisted, None)
        else:
            parts["total"] = total = math.fsum(parts["values"])
            parts["total_error"] = math.fsum(parts["error"]) + EPS * abs(total)
            parts["total_lags"] = (int(lags[0]), int(lags[-1])) if len(lags) else (0, -1)
        return dataclasses.replace(self, **parts)

    @property
    def total_over(self) -> str:
        """The lags that ``total`` is over, in words."""
        lags = "horizons" if self.kind == "forecasting" else "lags"
        is_bounded = not np.isnan(self.total_error) and not self._is_estimate
        every = f"all {lags}" if is_bounded else f"the {lags} that the method covers"
        if self.total_lags is None:
            return every
        first, last = self.total_lags
        if last is None:
            return f"{every} from {first} on"
        return f"no {lags}" if last < first else f"{lags} {first} … {last}"

    @property
    def _is_estimate(self) -> bool:
        """Whether it comes from a recording, and knows but the lags listed."""
        return "estimator" in self.options

    def horizon(self, level: float = 0.5) -> int | None:
        """First lag from which on the memory is below ``level``; None if beyond the lags listed."""
        level = require_number(level, "level", "above 0, an amount of memory", lambda x: x > 0)
        above = np.flatnonzero(~(self.values < level))
        end = int(above[-1]) + 1 if len(above) else 0
        if end < len(self):
            return int(self.lags[end])
        if len(self) == 0 or self._is_estimate:
            return None
        rest = self[int(self.lags[-1]) + 1 :]
        is_open = rest.total_lags is not None and rest.total_lags[1] is None
        return int(self.lags[-1]) + 1 if is_open and rest.total + rest.total_error < level else None

    @property
    def mean_age(self) -> float:
        """Mean age of what is remembered, Σ τ·MC_τ/Σ MC_τ, in time steps.

        In closed form for one white input without noise, ``(n − 1)/2 + Σ_j |tr A^j|²/n`` on the
        n controllable modes: a delay line is youngest. Otherwise from the lags listed, which must
        hold all memory.
        """
        mean, variance = self._forgetting()
        return (variance + mean**2 - mean) / (2 * mean)

    @property
    def spread(self) -> float:
        """Standard deviation of the lag J at which an input is forgotten, P(J > τ) = MC_τ.

        ``√(2Σ_j |tr A^j|²)`` for one white input without noise: zero for a delay line, whose memory
        ends at once, and larger the longer a curve takes to fall. Several inputs are averaged.
        """
        return math.sqrt(max(self._forgetting()[1], 0.0))

    def _forgetting(self) -> tuple[float, float]:
        """Mean and variance of J: by traces, or by sums of positive terms around a whole lag."""
        if self.kind != "memory" or self.total_lags is not None or not self.total > 0:
            what = "a slice" if self.total_lags is not None else self.kind
            raise ValueError(fault("no_age", what=what, total=self.total))
        inputs = self.channels.shape[1]
        mean = self.total / inputs
        if "squared_traces" in self.diagnostics:
            return mean, 2 * float(self.diagnostics["squared_traces"])
        missing = self.total - math.fsum(self.values)
        if missing > 1e-9 * self.total + self.total_error:
            raise ValueError(fault("age_beyond", missing=missing, total=self.total))
        middle = math.floor(mean)
        offset = self.lags - middle
        later = (2 * offset + 1) * self.values
        sooner = (-2 * offset - 1) * self.loss
        square = math.fsum(np.where(offset >= 0, later, sooner)) / inputs
        return mean, square - (mean - middle) ** 2

    def columns(self) -> Mapping[str, Any]:
        """One row per lag: lag, values, error and loss.

        With several inputs also channel_0, channel_0_error, channel_1, …
        """
        columns = {name: getattr(self, name) for name in ("values", "error", "loss")}
        if self.channels.shape[1] > 1:
            pairs = zip(self.channels.T, self.channel_errors.T, strict=True)
            for k, (channel, error) in enumerate(pairs):
                columns |= {f"channel_{k}": channel, f"channel_{k}_error": error}
        if self.bands is not None:
            columns |= {"low": self.bands[:, 0], "high": self.bands[:, 1]}
        return {"lag": self.lags} | columns

    def _attributes(self) -> Mapping[str, Any]:
        rank = -1 if self.rank is None else self.rank
        names = ("kind", "total", "total_error", "total_over", "method", "network")
        return {"rank": rank} | {name: getattr(self, name) for name in names}

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve, see :func:`memcurve.plot.curves`."""
        return plot.curves(self, ax=ax)

    def _derived(self) -> dict[str, Any]:
        return {"inputs": self.channels.shape[1]}

    def summary(self) -> list[tuple[str, str]]:
        """The main figures as (name, text) rows, for tables."""
        rows = [
            ("network", self.network),
            ("method", self.method),
            (_TOTALS.get(self.kind, "total"), self._total_text()),
        ]
        if self.kind != "Fisher" and self.rank is not None:  # which has nothing to do with a rank
            rows.append(("rank", str(self.rank)))
        span = f"{self.lags[0]} … {self.lags[-1]}" if len(self) else "none"
        rows.append(("horizons" if self.kind == "forecasting" else "lags", span))
        if len(self):
            largest = self.error.max()
            rows.append(("largest error", "unknown" if np.isnan(largest) else f"{largest:.1e}"))
        return rows

    def _total_text(self) -> str:
        is_bounded = not np.isnan(self.total_error) and not self._is_estimate
        over = f" ({self.total_over})" if is_bounded or self.total_lags is not None else ""
        if self._is_estimate and not np.isnan(self.total_error):
            return f"{self.total:.4f} ± {self.total_error:.2g}{over}"
        error = f" ± {self.total_error:.1e}" if self.total_error > 0 else ""
        return f"{self.total:.10g}{error}{over}"

    def __repr__(self) -> str:
        body = ", ".join(f"{name}: {text}" for name, text in self.summary() if text)
        notes = "".join(f"\n  note: {note}" for note in self.notes)
        return f"<MemoryCurve {body}>{notes}"

    def _repr_html_(self) -> str:
        return cells.table(self.summary(), notes=self.notes)


def _selected(lags: NDArray[np.int64], wanted: slice) -> NDArray[np.bool_]:
    start, stop = (0 if wanted.start is None else wanted.start), wanted.stop
    whole = all(isinstance(bound, int | np.integer) for bound in (start, stop or 0))
    if not whole or start < 0 or (stop or 0) < 0 or wanted.step not in (None, 1):
        raise IndexError(fault("slice", start=wanted.start, stop=stop, step=wanted.step))
    return np.asarray((lags >= start) & (lags < (np.inf if stop is None else stop)))


#: A total is known where its error is at most this share of it, or of one input.
KNOWN = 1e-2


def is_known(curve: MemoryCurve) -> bool:
    """Whether the total is known well enough; noise may lie too far below rounding."""
    return curve.total_error <= KNOWN * max(1.0, curve.total)


@dataclass(frozen=True, eq=False, repr=False)
class NoiseProfile(Result):
    """Usable memory at several noise levels, from one decomposition of the states.

    It is a sequence of :class:`memcurve.MemoryCurve`, ``profile[k]`` for level k.

    Attributes
    ----------
    levels : (k,) array
        Standard deviations of the noise, relative to input of unit variance.
    curves : tuple of MemoryCurve
        One per level.
    noise : str
        The kind of noise.
    marks : dict
        Noise levels of number formats, by name.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(50, seed=1)
    >>> profile = memcurve.noise_profile(network, [1e-2, 1e-4, 1e-8])
    >>> profile.totals.round(3)
    array([17.215, 26.921, 38.731])
    >>> profile[0].values.shape == profile[2].values.shape
    True
    """

    FORMAT: ClassVar[str] = "memcurve.NoiseProfile/2"

    levels: Floats
    curves: tuple[MemoryCurve, ...]
    noise: str
    marks: dict[str, float] = field(default_factory=dict)

    @property
    def lags(self) -> NDArray[np.int64]:
        """The lags of all curves."""
        return self.curves[0].lags

    @property
    def values(self) -> Floats:
        """Memory (levels, lags)."""
        return np.array([curve.values for curve in self.curves])

    @property
    def error(self) -> Floats:
        """Bounds on the error of ``values``."""
        return np.array([curve.error for curve in self.curves])

    @property
    def totals(self) -> Floats:
        """Usable memory over all lags, one per level."""
        return np.array([curve.total for curve in self.curves])

    @property
    def total_errors(self) -> Floats:
        """Bounds on the error of ``totals``."""
        return np.array([curve.total_error for curve in self.curves])

    @property
    def known_totals(self) -> Floats:
        """``totals``, with NaN where the error exceeds a hundredth of them, and of one input."""
        return np.array([curve.total if is_known(curve) else np.nan for curve in self.curves])

    @property
    def rank(self) -> int | None:
        """Total memory without noise, for white input."""
        return self.curves[0].rank

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Notes that the curves share."""
        shared = [n for n in self.curves[0].notes if all(n in c.notes for c in self.curves)]
        return tuple(shared)

    def __len__(self) -> int:
        return len(self.curves)

    def __iter__(self) -> Iterator[MemoryCurve]:
        return iter(self.curves)

    def __getitem__(self, index: int) -> MemoryCurve:
        return self.curves[index]

    def columns(self) -> Mapping[str, Any]:
        """One row per level: noise, total and its error."""
        return {"noise": self.levels, "total": self.totals, "error": self.total_errors}

    def _attributes(self) -> Mapping[str, Any]:
        return {"kind": self.noise, "rank": -1 if self.rank is None else self.rank}

    def plot(self, ax: Any = None) -> Any:
        """Draw total memory against the noise level, see :func:`memcurve.plot.profile`."""
        return plot.profile(self, ax=ax)

    def __repr__(self) -> str:
        name = self.curves[0].network
        head = f"<NoiseProfile {name}, {self.noise}; rank {self.rank}\n      level  usable memory"
        return "\n".join([head, *(f"  {s:>9}  {text:>22}" for s, text in self._rows())]) + ">"

    def _repr_html_(self) -> str:
        return cells.table(self._rows(), (self.noise, "usable memory"), self.notes)

    def _rows(self) -> list[tuple[str, str]]:
        totals = zip(self.levels, self.totals, self.total_errors, strict=True)
        return [(f"{s:.3g}", f"{total:.6f} ± {error:.1e}") for s, total, error in totals]
