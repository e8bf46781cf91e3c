"""What the usual ways would have reported for a network, beside its exact memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memcurve.auditing.protocols import PROTOCOLS, Protocol
from memcurve.comparison import Comparison, compare
from memcurve.curve import MemoryCurve
from memcurve.network import LinearNetwork

Floats = NDArray[np.float64]

#: Simulations are repeated with this many inputs, to know how much their totals scatter.
REPEATS = 3
#: Random masks of OSM+, and samples of Monte Carlo.
MASKS, SAMPLES = 100, 10_000
#: A larger spectral radius makes simulations forget their start after millions of steps only.
SLOWEST = 1 - 1e-5
#: States up to which each estimate is made: they take a minute or so there.
MOST_STATES = {"naive": 1000, "osm": 600, "osm_plus": 200, "montecarlo": 600, "protocol": 400}

_SHORT_OF_TIME = "left out: with more than {most} states it takes minutes"


@dataclass(frozen=True, eq=False)
class Estimate:
    """What one of the usual ways reports.

    Attributes
    ----------
    key : str
        ``"gramian_solve"``, ``"gramian_pinv"``, ``"osm"``, ``"osm_plus"``, ``"montecarlo"``,
        ``"reservoirpy"`` or ``"conn2res"``.
    name, about : str
        In words: the method, and its settings.
    samples : int or None
        Length of the simulation, where it is one.
    first_lag : int
        The lag of ``values[0]``.
    values : (m,) array
        Its memory curve.
    total : float
        What it reports: the sum of ``values``.
    truth : float
        The exact sum over the same lags.
    spread : float
        Standard deviation of ``total`` over repetitions; NaN where it is not known.
    largest_error : float
        Largest distance from the exact curve, at any lag.
    why : str
        What makes it differ.
    seconds : float
        How long it took.
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

    @property
    def last_lag(self) -> int:
        """The largest lag it covers."""
        return self.first_lag + len(self.values) - 1


@dataclass(frozen=True)
class _Method:
    """One of the methods of :func:`memcurve.compare`, with its options."""

    key: str
    name: str
    about: str
    method: str
    options: dict[str, object]
    spread: float = float("nan")


_PAPER = (
    _Method("gramian_solve", "Gramian, solved", "MC_τ from G⁻¹ by a linear solver", "naive", {}),
    _Method(
        "gramian_pinv",
        "Gramian, pseudo-inverse",
        "MC_τ from the pseudo-inverse of G",
        "naive",
        {"inverse": "pinv"},
    ),
    _Method("osm", "OSM", "orthogonalised subspace method", "osm", {}),
    _Method(
        "osm_plus", "OSM+", f"OSM averaged over {MASKS} masks", "osm_plus", {"masks": MASKS}
    ),
    _Method(
        "montecarlo",
        "Monte Carlo",
        f"sample covariances of {SAMPLES:,} samples",
        "montecarlo",
        {"samples": SAMPLES},
    ),
)  # fmt: skip


def usual_estimates(
    network: LinearNetwork, exact: MemoryCurve, seed: int, say: Callable[[str], None]
) -> tuple[tuple[Estimate, ...], tuple[str, ...]]:
    """The usual estimates over 2N lags for white input, and notes on those left out.

    ``exact`` is the exact curve for white input, to as many lags.
    """
    found: list[Estimate] = []
    notes: list[str] = []
    if not exact.rank:
        return (), ("the usual estimates need a network that holds some memory; left out",)
    radius = network.spectral_radius
    if radius >= 1:
        return (), (
            f"the usual estimates are left out: A has an eigenvalue of modulus {radius:.4g} that "
            f"the input does not excite, and they cannot tell",
        )
    plain = network.inputs == 1 and network.readout is None
    for method in _PAPER:
        if not plain and method.method.startswith("osm"):
            continue
        most = MOST_STATES[method.method]
        if network.states > most:
            notes.append(f"{method.name}: {_SHORT_OF_TIME.format(most=most)}")
            continue
        if method.method == "montecarlo" and radius > SLOWEST:
            notes.append(f"{method.name}: left out, since a start is forgotten only after ages")
            continue
        say(method.name)
        outcome = compare(
            network,
            [method.method],
            lags=len(exact),
            seed=seed,
            options={method.method: method.options},
        )
        found += _from_comparison(method, outcome, notes)
    for key, protocol in PROTOCOLS.items():
        settings = protocol(network.read_states)
        if network.states > MOST_STATES["protocol"]:
            most = MOST_STATES["protocol"]
            notes.append(f"{settings.name}: {_SHORT_OF_TIME.format(most=most)}")
            continue
        say(settings.name)
        found.append(_simulated(key, settings, network, exact, seed))
    return tuple(found), tuple(notes)


def _from_comparison(method: _Method, outcome: Comparison, notes: list[str]) -> Iterator[Estimate]:
    row = outcome.rows[1]
    if row.curve is None:
        notes.append(f"{method.name}: {row.note}")
        return
    yield Estimate(
        key=method.key,
        name=method.name,
        about=method.about,
        samples=SAMPLES if method.method == "montecarlo" else None,
        first_lag=0,
        values=row.curve.values,
        total=row.total,
        truth=float(outcome.exact.values.sum()),
        spread=method.spread,
        largest_error=row.largest_error,
        why=row.note,
        seconds=row.seconds,
    )


def _simulated(
    key: str, protocol: Protocol, network: LinearNetwork, exact: MemoryCurve, seed: int
) -> Estimate:
    start = time.perf_counter()
    streams = np.random.SeedSequence(seed).spawn(REPEATS)
    scores = [protocol.measure(network, np.random.default_rng(stream)) for stream in streams]
    seconds = (time.perf_counter() - start) / REPEATS
    totals = [float(score.sum()) for score in scores]
    truth = exact.values[1 : protocol.last_lag + 1]
    floor = float(np.sqrt(protocol.ridge / (protocol.samples - protocol.tested)))
    deviation = protocol.amplitude / np.sqrt(3)
    return Estimate(
        key=key,
        name=protocol.name,
        about=protocol.about,
        samples=protocol.samples,
        first_lag=1,
        values=scores[0],
        total=totals[0],
        truth=float(truth.sum()),
        spread=float(np.std(totals, ddof=1)),
        largest_error=float(np.abs(scores[0][: len(truth)] - truth).max(initial=0.0)),
        why=(
            f"lag 0 is left out; its ridge chooses the readout as for a noise of "
            f"{floor / deviation:.1g} on states driven by unit input; correlations of "
            f"{protocol.tested} test rows never vanish"
        ),
        seconds=seconds,
    )
