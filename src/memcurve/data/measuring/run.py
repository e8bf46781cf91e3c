"""measure: simulate a model until its memory is known to the requested precision.

Independent replicas are driven by independent inputs; the rows of all of them, past the washout,
make one recording, whose regression gives the interval (:mod:`memcurve.data.regression`). Its width
falls with the square root of the rows, so a first estimate shows how many are needed.
"""

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from memcurve import data
from memcurve.core.arguments import Seed, generator, require_limit, require_number, require_size
from memcurve.core.errors import ModelError, UnstableNetworkError
from memcurve.core.limits import available_memory
from memcurve.core.notes import Note
from memcurve.core.progress import Progress, ProgressCallback, progress_callback
from memcurve.core.types import Floats
from memcurve.data.measuring.forgetting import SEEN, Draw, Forgetting, forgetting, settled_run
from memcurve.data.measuring.models import Model, as_model
from memcurve.data.prose import ENDED, fault, note
from memcurve.inputs import processes_for
from memcurve.memory import MemoryCurve

#: Rows of the first estimate: per state, per lag, and at least. Halved: its interval understates
#: the uncertainty.
ROWS_PER_STATE = 20
ROWS_PER_LAG = 4
LEAST_ROWS = 2000
#: Rows for each of the steps in which the model forgets by a factor e: slower modes than the rows
#: show are missed, and intervals of fewer are wider in proportion. Halved: 0.75 of the totals of
#: networks with modes of modulus 0.995 are covered, of 90 % (measured).
ROWS_PER_TIME = 40
#: Factors by which rows grow at least and at most, and rows beyond those predicted, whose number is
#: uncertain. Doubled: more rows than needed.
LEAST_GROWTH = 1.3
MOST_GROWTH = 8.0
MARGIN = 1.1
#: Replicas run together, and the fraction of the steps that washouts may take. Doubled: more
#: memory, and more washout.
REPLICAS = 64
WASHED_OUT = 0.2
#: Fraction of the free RAM that the states may take. Doubled: other programs may run out of it.
SHARE_OF_MEMORY = 0.3
#: Steps, and numbers in all states, after which to stop unless `steps` or `budget` say otherwise.
#: Doubled: what cannot be measured as precisely as asked takes twice as long to say so.
MOST_STEPS = 1_000_000
MOST_NUMBERS = 50_000_000
#: Where the memory ends after this share of the lags listed, a thin tail may go on: more are.
#: Doubled: the tail of a mode of modulus 0.999 is cut off at 400 lags, with a memory of 0.9.
ENDS_BEFORE = 0.5
#: Findings of the checks that are so by design, or measured here: states belong to their inputs,
#: and a model without memory of them has a memory of zero.
KNOWN = ("coloured", "held", "transient", "short", "unpaired", "alignment_untested")
#: What coloured inputs need besides the lags: the order of their autoregression.
ORDER = 64


def measure(
    model: Any,
    lags: int | None = None,
    *,
    precision: float = 0.05,
    of: Literal["total", "lags"] = "total",
    input: Any = None,
    noise: float = 0.0,
    seed: Seed,
    budget: float | None = None,
    steps: int | None = None,
    washout: int | None = None,
    level: float = 0.9,
    noise_floor: float = 1e-12,
    start: Any = None,
    inputs: int | None = None,
    progress: Progress = None,
) -> MemoryCurve:
    """Memory of any model that can be simulated, to a requested precision.

    The model is driven by random inputs until the confidence interval of its memory is narrow
    enough, and reliable, or a budget is spent; the result says which.

    Parameters
    ----------
    model
        A :class:`memcurve.NonlinearNetwork` or :class:`memcurve.LinearNetwork`; a torch module
        (``nn.RNN``, ``nn.LSTM``, ``nn.GRU``, a cell); a reservoirpy node or model; a function from
        inputs (T,) to states (T, N); with ``start=`` a function ``step(state, input) -> state``; or
        one of :mod:`memcurve.models`, which also has commands, and options.
    lags : int, optional
        Number of lags from 0 on; by default twice the number of states, at least 100, or as many
        as there is memory at.
    precision : float
        Half the width that the interval may have, in inputs remembered.
    of : str
        Of the ``"total"``, or of ``"lags"``: the widest interval of all lags listed.
    input : optional
        Independent Gaussian numbers of unit variance by default, or numbers spread evenly over the
        range that a model takes; a process of :mod:`memcurve.inputs`, or one for each input; or a
        function ``input(rng, shape)`` that draws independent numbers.
    noise : float
        Standard deviation of white noise that is added to the states.
    seed : int, SeedSequence or Generator
        Seed of the inputs. Required.
    budget : float, optional
        Seconds after which to stop; the same seed then gives other numbers, since the number of
        steps depends on the machine and its load.
    steps : int, optional
        Steps after which to stop, of all replicas together; where neither is given, a million, or
        fewer for more than 50 states.
    washout : int, optional
        Steps to leave out at the start of each replica; by default the measured time in which two
        different initial states converge.
    level, noise_floor
        As for :func:`memcurve.memory_from_data`, whose result this has.
    start, inputs
        The state before the first input, for a step function; the number of inputs, where the
        model does not know it.
    progress : bool, callable or None
        Show how narrow the interval is so far; None shows it by itself after two seconds.

    Returns
    -------
    MemoryCurve
        ``diagnostics`` has besides those of :func:`memcurve.memory_from_data` ``steps``,
        ``replicas``, ``washout``, ``precision``, ``reached`` (whether that is what was asked for,
        from as many rows as its interval needs to hold), ``own_noise`` and ``forgets``.

    Raises
    ------
    UnstableNetworkError
        The states leave the finite numbers before anything is known. Where that happens later, or
        a device stops answering, what was measured until then is returned, and a note says so.

    Examples
    --------
    >>> import memcurve
    >>> linear = memcurve.ensembles.orthogonal(20, spectral_radius=0.9, seed=1)
    >>> network = memcurve.NonlinearNetwork(linear.A, linear.C, input_scale=0.5)
    >>> curve = memcurve.measure(network, precision=0.2, seed=1)
    >>> bool(curve.total_error <= 0.2)
    True
    """
    precision = require_number(precision, "precision", "above 0", lambda p: p > 0)
    until = float("inf")
    if budget is not None:
        until = time.monotonic() + require_number(budget, "budget", "above 0", lambda s: s > 0)
    noise = require_number(noise, "noise", "at least 0", lambda s: s >= 0)
    if of not in ("total", "lags"):
        raise ValueError(f'`of` must be "total" or "lags", got {of!r}.')
    step_limit = None if steps is None else require_size(steps, "steps")
    model = as_model(model, start=start, inputs=inputs)
    rng = generator(seed)
    draw, coloured = drawn_inputs(model, input, rng)
    with progress_callback(progress) as report_progress:
        report_progress("washout", 0, None)
        settled = forgetting(model, draw, max(noise_floor, noise * 1e-3))
        discarded = settled.washout if washout is None else require_limit(washout, "washout")
        count = None if lags is None else require_size(lags, "lags")
        options = {"level": level, "noise_floor": noise_floor}
        bench = _Bench(model, draw, rng, noise, discarded, coloured, settled.time, count, options)
        findings = bench.first_look()
        if step_limit is None and budget is None:
            least = 2 * (bench.lead + bench.first_rows)
            step_limit = max(min(MOST_STEPS, MOST_NUMBERS // bench.states), least)
        curve, stopped = _until_precise(bench, precision, of, until, step_limit, report_progress)
    if stopped is None and not settled.forgets:  # of other pasts the total may be another
        stopped = ENDED["remembers"]
    reached = _width(curve, of)
    further: dict[str, Any] = {
        "precision": reached,
        "reached": stopped is None,
        "steps": bench.steps,
        "replicas": bench.count,
        "washout": discarded,
        "own_noise": settled.own_noise,
        "forgets": settled.forgets,
        "findings": [dataclasses.asdict(one) for one in findings],
    }
    notes = [one for one in curve.notes if one.kind != "missing"]  # rows of the washouts
    notes += _notes(bench, settled, precision, reached, stopped)
    notes += [Note("finding", str(one)) for one in findings if one.level == "warning"]
    return dataclasses.replace(
        curve,
        method="measured",
        network=model.name,
        notes=tuple(notes),
        options={**curve.options, "precision": precision, "of": of, "noise": noise},
        diagnostics={**curve.diagnostics, **further},
    )


def drawn_inputs(model: Model, input: Any, rng: np.random.Generator) -> tuple[Draw, bool]:
    """How to draw series (R, T, d), and whether they are coloured."""
    d = model.inputs
    if callable(input):

        def drawn(count: int, steps: int) -> Floats:
            values = np.asarray(input(rng, (count, steps, d)), float)
            if values.shape != (count, steps, d) or not np.isfinite(values).all():
                raise ValueError(fault("drawn", wanted=(count, steps, d), shape=values.shape))
            return values

        return drawn, False
    if input is None and model.input_range is not None:
        low, high = model.input_range
        return lambda count, steps: rng.uniform(low, high, (count, steps, d)), False
    processes = processes_for(input, d)

    def simulated(count: int, steps: int) -> Floats:
        series = [process.simulate(steps, seed=rng, channels=count) for process in processes]
        return np.asarray(np.stack(series, axis=2).transpose(1, 0, 2))

    return simulated, not all(process.is_white for process in processes)


@dataclass(eq=False)
class _Bench:
    """The rows measured so far: states past the washout, with the inputs before them."""

    model: Model
    draw: Draw
    rng: np.random.Generator
    noise: float
    washout: int
    coloured: bool
    time: float  # in which it forgets
    lag_count: int | None  # as asked for
    options: dict[str, Any]
    more: int = 1  # times the usual number of lags
    X: list[Floats] = field(default_factory=list)
    z: list[Floats] = field(default_factory=list)
    rows: int = 0
    steps: int = 0
    count: int = 0
    columns: Any = field(default_factory=lambda: slice(None))  # those that vary
    states: int = 0

    @property
    def lags(self) -> int:
        usual = max(2 * self.states, data.USUAL_LAGS)
        # what came before the washout is forgotten, and inputs before it belong to no other replica
        reach = max(usual, self.washout - ORDER * self.coloured)
        return self.lag_count or min(self.more * usual, reach)

    def reaches_further(self, curve: MemoryCurve) -> bool:
        """Whether there is memory at most of the lags listed; then more are from here on."""
        before = self.lags
        if self.lag_count is None and curve.diagnostics["end_lag"] >= ENDS_BEFORE * before:
            self.more *= 2
        return self.lags > before

    @property
    def first_rows(self) -> int:
        """Rows of the first estimate."""
        return max(LEAST_ROWS, ROWS_PER_STATE * self.states, ROWS_PER_LAG * self.lags)

    @property
    def lead(self) -> int:
        """Steps of each replica before its first row that counts."""
        return max(self.washout, self.lags - 1 + ORDER * self.coloured)

    def first_look(self) -> data.Findings:
        """Check a first run as recordings are; columns that do not vary are left out."""
        z = self.draw(1, self.washout + LEAST_ROWS)
        X = settled_run(self.model, z, self.washout, self.noise, self.rng)
        findings = data.check_recording(X[0], z[0, self.washout :])
        findings = dataclasses.replace(
            findings, found=tuple(one for one in findings if one.name not in KNOWN)
        )
        if findings.errors:
            listed = "\n  ".join(map(str, findings.errors))
            raise ModelError(
                f"no memory can be estimated from the states of {self.model.name}:\n  {listed}"
            )
        self.columns, self.states = findings.kept, len(findings.kept)
        return findings

    def extend(self, rows: int) -> None:
        """Run more replicas, for about so many rows; nothing changes where the model fails."""
        count = 1
        if self.model.together:
            count = int(np.clip(WASHED_OUT * rows / self.lead, 1, REPLICAS))
        rows_each = -(-rows // count)
        z = self.draw(count, self.lead + rows_each)
        X = settled_run(self.model, z, 0, self.noise, self.rng)[:, :, self.columns]
        X[:, : self.lead] = np.nan  # rows that do not count, though their inputs do
        self.X.append(X.reshape(-1, X.shape[2]))
        self.z.append(z.reshape(-1, z.shape[2]))
        self.rows += count * rows_each
        self.steps += count * z.shape[1]
        self.count += count

    def curve(self) -> MemoryCurve:
        """The memory of all rows so far."""
        if len(self.X) > 1:
            self.X, self.z = [np.concatenate(self.X)], [np.concatenate(self.z)]
        z = self.z[0][:, 0] if self.model.inputs == 1 else self.z[0]
        arguments = {"checks": False, "innovations": self.coloured, **self.options}
        curve = data.memory_from_data(self.X[0], z, self.lags, **arguments)
        wanted = int(ROWS_PER_TIME * self.time)
        if self.rows >= wanted:
            return curve
        wider = wanted / self.rows
        warning = note("few_rows.time", rows=self.rows, time=self.time, wanted=wanted, wider=wider)
        rows_wanted = max(wanted, curve.diagnostics["rows_wanted"])
        return dataclasses.replace(
            curve,
            total_error=wider * curve.total_error,
            notes=(*curve.notes, warning),
            diagnostics={**curve.diagnostics, "rows_wanted": rows_wanted},
        )


def _until_precise(
    bench: _Bench,
    precision: float,
    of: str,
    until: float,
    step_limit: int | None,
    progress: ProgressCallback,
) -> tuple[MemoryCurve, str | None]:
    """Extend and estimate until the interval is narrow enough; else the reason why it is not."""
    wanted: float = bench.first_rows
    most_rows = SHARE_OF_MEMORY * (available_memory() or np.inf) / 8 / bench.states
    curve: MemoryCurve | None = None
    while True:
        began = time.monotonic()
        more = int(wanted - bench.rows)
        if step_limit is not None:
            more = min(more, step_limit - bench.steps - bench.lead)
        try:
            if curve is None or more > 0:
                bench.extend(max(more, 2 * bench.lags + bench.states))
        except (ModelError, UnstableNetworkError, ArithmeticError, OSError) as error:
            if curve is None:
                raise
            return curve, ENDED["failed"].format(steps=bench.steps, problem=error)
        curve = bench.curve()
        while bench.reaches_further(curve):
            curve = bench.curve()
        reached = _width(curve, of)
        progress(f"± {reached:.3g} so far, ± {precision:g} wanted", bench.rows, None)
        # an interval of fewer rows is not to be trusted, however narrow it is
        needed = max(ROWS_PER_LAG * bench.lags, curve.diagnostics["rows_wanted"])
        if reached <= precision and bench.rows >= needed:
            return curve, None
        now = time.monotonic()
        growth = np.clip(MARGIN * (reached / precision) ** 2, LEAST_GROWTH, MOST_GROWTH)
        # an estimate takes time for all rows, a run for new ones: at most in proportion
        affordable = (until - now) / max(now - began, 1e-9)
        if affordable < LEAST_GROWTH:
            return curve, ENDED["time"]
        growth = max(growth, needed / bench.rows)
        wanted = bench.rows * min(growth, affordable)
        if step_limit is not None and bench.steps + bench.lead >= step_limit:
            return curve, ENDED["steps"]
        if wanted > most_rows:
            if bench.rows * LEAST_GROWTH > most_rows:
                return curve, ENDED["memory"]
            wanted = most_rows


def _width(curve: MemoryCurve, of: str) -> float:
    return float(curve.total_error if of == "total" else np.max(curve.error))


def _notes(
    bench: _Bench, settled: Forgetting, precision: float, reached: float, stopped: str | None
) -> Iterator[Note]:
    """Notes on the measurement and on the model."""
    runs = "one run" if bench.count == 1 else f"{bench.count} replicas"
    ended = ""
    if stopped is not None:
        kind = "wide" if reached > precision else "few_rows" if settled.forgets else "other_pasts"
        ended = ENDED[kind].format(reached=reached, precision=precision, why=stopped)
    yield note("measured", steps=bench.steps, runs=runs, lead=bench.lead, ended=ended)
    if settled.kept_state:
        yield note("not_reset", distance=settled.kept_state)
    if settled.own_noise > SEEN:
        yield note("own_noise", distance=settled.own_noise)
    if not settled.forgets:
        yield note("remembers", distance=settled.left, steps=settled.distances.shape[1])
