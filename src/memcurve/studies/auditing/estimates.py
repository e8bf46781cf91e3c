"""Reports of standard methods for a network, beside its exact memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.limits import one_thread
from memcurve.core.notes import Note, texts_beside
from memcurve.core.types import Floats
from memcurve.data import correlations
from memcurve.memory import (
    METHODS,
    MemoryCurve,
    Method,
    Variant,
    ask,
    in_range,
    lagged_products,
    memory_curve,
)
from memcurve.network import LinearNetwork
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.solve import Problem
from memcurve.studies.auditing.sentences import say

#: Where a claim is within this share of a simulation's total, and might be one, the simulation is
#: run with this many inputs, to know how much totals scatter.
NEAR = 0.5
REPEATS = 3
#: A larger spectral radius makes simulations forget their start after millions of steps only.
SLOWEST = 1 - 1e-5
#: States up to which simulations of other libraries are repeated: they take a minute or so there.
MOST_STATES = 400
#: A ridge so far above all states that more of it changes no correlation; doubled: nothing.
_ALL_RIDGE = 1e30


@dataclass(frozen=True, eq=False)
class Estimate:
    """The report of one standard method.

    ``key`` is ``"gramian_solve"``, ``"gramian_pinv"``, ``"osm"``, ``"osm_plus"``, ``"montecarlo"``,
    ``"reservoirpy"``, ``"conn2res"``, next to a claim also ``"braph"``, ``"braph_35"`` and
    ``"rcjl"``; ``name`` and ``about`` are the method and its settings in words, ``why`` is what
    makes it differ. ``values`` is its memory curve from ``first_lag`` on, ``total`` their sum,
    ``truth`` the exact sum over the same lags and ``largest_error`` the largest distance from the
    exact curve at any lag.
    ``samples`` is the length of the simulation, where it is one; ``spread`` the standard deviation
    of ``total`` over repetitions, NaN where it is not known; ``seconds`` is how long it took.
    ``inverts`` says that it inverts a covariance of the states, ``by_construction`` that its total
    is no measurement.
    """

    key: str
    name: str
    about: str
    samples: int | None
    first_lag: int
    values: Floats
    total: float
    truth: float
    spread: float
    largest_error: float
    why: str
    seconds: float
    inverts: bool = False
    by_construction: bool = False

    @property
    def last_lag(self) -> int:
        """The largest lag it covers."""
        return self.first_lag + len(self.values) - 1


def standard_estimates(
    problem: Problem,
    rank: int,
    exact: Callable[[], MemoryCurve],
    seed: int,
    notify: Callable[[str], None],
    *,
    claimed: float | None = None,
) -> tuple[tuple[Estimate, ...], tuple[Note, ...]]:
    """Estimates for white input beside the ``exact`` curve, and notes on those left out."""
    if not rank:
        return (), (_note("no_memory"),)
    network = problem.network
    # name, largest number of states, whether its start must be forgotten, and how it is run
    ways = list[tuple[str, float, bool, Callable[[MemoryCurve], Estimate]]]()
    for method in METHODS.values():
        for variant in method.variants if method.can_answer(problem) else ():
            run = partial(_estimated, problem, method, variant, seed)
            simulates = method.draws and "samples" in method.options
            ways.append((variant.name, variant.largest_size, simulates, run))
    for protocol in PROTOCOLS.values():
        settings = protocol(network.read_states)
        if claimed is None and settings.only_for_claims:
            continue
        run = partial(_simulated, settings, network, seed, claimed)
        ways.append((settings.name, MOST_STATES, False, run))
    estimates, notes = list[Estimate](), list[Note]()
    slow = [name for name, most, *_ in ways if network.states > most]
    if slow:
        notes.append(_note("slow", states=network.states, names="; ".join(slow)))
    ways = [way for way in ways if way[0] not in slow]
    if not ways:
        return (), tuple(notes)
    radius = float(np.abs(problem.analysis.all_eigenvalues).max(initial=0.0))
    if radius >= 1:
        return (), (_note("unstable", radius=radius),)
    try:
        curve = exact()
    except UncertainResultError:
        return (), (*notes, _note("no_curve"))
    for name, _, simulates, estimate in ways:
        if simulates and radius > SLOWEST:
            notes.append(_note("transient", name=name))
            continue
        notify(name)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what is infinite is reported
                estimates.append(estimate(curve))
        except (UncertainResultError, UnstableNetworkError, np.linalg.LinAlgError) as error:
            notes.append(_note("failed", name=name, error=error))
    return tuple(estimates), tuple(notes)


def _note(reason: str, **facts: object) -> Note:
    return Note("method", say(f"reasons.{reason}", **facts))


def _estimated(
    problem: Problem, method: Method, variant: Variant, seed: int, exact: MemoryCurve
) -> Estimate:
    start = time.perf_counter()
    curve = ask(problem, method.name, seed=seed, options=variant.options)
    samples = variant.options.get("samples")
    return Estimate(
        key=variant.key,
        name=variant.name,
        about=variant.about,
        samples=samples if isinstance(samples, int) else None,
        first_lag=0,
        values=curve.values,
        total=float(curve.values.sum()),
        truth=float(exact.values.sum()),
        spread=float("nan"),
        largest_error=float(np.abs(curve.channels - exact.channels).max()),
        why="; ".join(note for note in curve.notes if note.kind == "method"),
        seconds=time.perf_counter() - start,
        inverts=variant.inverts,
        by_construction=variant.by_construction,
    )


def _simulated(
    protocol: Protocol, network: LinearNetwork, seed: int, claimed: float | None, exact: MemoryCurve
) -> Estimate:
    start = time.perf_counter()
    scores: list[Floats] = []
    streams = np.random.SeedSequence(seed).spawn(1 if claimed is None else REPEATS)
    with one_thread():
        for z, x in protocol.simulated(network, [np.random.default_rng(s) for s in streams]):
            scores.append(protocol.scores(z, x))
            total = float(scores[0].sum())
            # how far it scatters matters next to the claim only
            if claimed is None or abs(claimed - total) > max(1.0, NEAR * total):
                break
    seconds = (time.perf_counter() - start) / len(scores)
    totals = [float(score.sum()) for score in scores]
    if len(exact) <= protocol.last_lag:  # few nodes
        exact = memory_curve(network, protocol.last_lag + 1)
    truth = exact.values[1 : protocol.last_lag + 1]
    noise = protocol.noise_floor
    ridge = say("reasons.ridge", noise=noise) if noise else ""
    return Estimate(
        key=protocol.key,
        name=protocol.name,
        about=protocol.about,
        samples=protocol.samples,
        first_lag=1,
        values=scores[0],
        total=totals[0],
        truth=float(truth.sum()),
        spread=float(np.std(totals, ddof=1)) if len(scores) > 1 else float("nan"),
        largest_error=float(np.abs(scores[0][: len(truth)] - truth).max(initial=0.0)),
        why=say("reasons.protocol", ridge=ridge, tested=protocol.rows),
        seconds=seconds,
    )


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How a library measures memory: simulate, train a ridge readout, correlate on a test part.

    A readout W = (XᵀX + αI)⁻¹XᵀY is trained on the first part of a simulation to recall the input τ
    steps ago, for every lag at once; the score of a lag is the squared (or the absolute)
    correlation of its output with the input on the rest. Its bias follows from the ridge α, which
    acts as noise of variance α/T, from the number T of samples and from the largest lag.
    """

    key: str
    name: str  # of the library
    text: str  # on its settings
    last_lag: int  # lags 1 … last_lag are summed
    samples: int  # of the input; the first ``last_lag`` only serve as the past of the rows
    lead: int = 0  # steps simulated before the first row
    warmup: int = 0  # rows discarded at the start
    tested: int = 0  # rows tested on at the end; 0: those trained on
    amplitude: float = 1.0  # the input is uniform on mean ± amplitude
    mean: float = 0.0
    ridge: float = 0.0  # α
    intercept: bool = False  # whether the readout has a constant term
    squared: bool = True  # r², or else |r|
    only_for_claims: bool = False  # not one of the usual settings: run next to a claim only

    @classmethod
    def of(cls, key: str, states: int) -> Self:
        """That of ``estimates.toml`` for so many states."""
        settings = dict(_SETTINGS[key])
        per_state = settings.pop("per_state", {}).items()
        return cls(key=key, **settings, **{name: round(of * states) for name, of in per_state})

    @property
    def about(self) -> str:
        """Its settings in words."""
        return self.text.format(lags=self.last_lag, samples=self.samples)

    @property
    def rows(self) -> int:
        """Rows that the correlations are taken over."""
        return self.tested or self.samples - self.last_lag - self.warmup

    @property
    def noise_floor(self) -> float:
        """The noise on states, for unit input, with the same effect as its ridge."""
        deviation = self.amplitude / np.sqrt(3)
        return float(np.sqrt(self.ridge / (self.samples - self.tested)) / deviation)

    def measure(
        self, network: LinearNetwork | NonlinearNetwork, rng: np.random.Generator
    ) -> Floats:
        """Score of lags 1 … last_lag, summed over the inputs."""
        [(z, x)] = self.simulated(network, [rng])
        return self.scores(z, x)

    def simulated(
        self, network: LinearNetwork | NonlinearNetwork, rngs: Sequence[np.random.Generator]
    ) -> Iterator[tuple[Floats, Floats]]:
        """Inputs and states of a simulation for each generator, all of them run side by side."""
        shape = (self.samples, network.inputs)
        z = self.mean + self.amplitude * np.stack([rng.uniform(-1, 1, shape) for rng in rngs])
        x = network.simulate_replicas(z[:, self.last_lag - self.lead :], washout=self.lead)
        return zip(z, x, strict=True)

    def scores(self, z: Floats, x: Floats) -> Floats:
        """The same from inputs (samples, d) and states (rows, states)."""
        if self.intercept:
            x = np.column_stack([np.ones(len(x)), x])
        x, unit = in_range(x)
        scores, split = np.zeros(self.last_lag), len(x) - self.tested
        train, test = x[self.warmup : split], x[len(x) - self.rows :]
        ridge = min(self.ridge / unit / unit, _ALL_RIDGE)
        normal_matrix = train.T @ train + ridge * np.eye(x.shape[1])
        for channel in z.T:
            right = lagged_products(channel[self.warmup : split + self.last_lag - 1], train)
            right = right[::-1].T  # the largest lag is the first shift
            windows = np.lib.stride_tricks.sliding_window_view(channel, self.last_lag + 1)
            past = np.ascontiguousarray(windows[len(x) - self.rows :, -2::-1])
            try:
                readout = np.linalg.solve(normal_matrix, right)
            except np.linalg.LinAlgError:  # exactly singular, e.g. a node that never moves
                readout = np.linalg.lstsq(normal_matrix, right, rcond=None)[0]
            r = correlations(test @ readout, past)
            scores += r**2 if self.squared else np.abs(r)
        return scores


_SETTINGS = texts_beside(__file__)
#: Protocols by name; each is a function of the number of states.
PROTOCOLS = {key: partial(Protocol.of, key) for key in _SETTINGS}
