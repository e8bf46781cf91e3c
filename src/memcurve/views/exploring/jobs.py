"""Jobs of the page, and the process that computes them, one after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import wait
from typing import Any

import numpy as np

from memcurve.core.errors import rank_among_notes
from memcurve.core.limits import one_thread
from memcurve.memory import METHODS, MemoryCurve, Method, memory_curve
from memcurve.network import LinearNetwork
from memcurve.studies.auditing.estimates import PROTOCOLS, SLOWEST, Protocol
from memcurve.studies.auditing.usable import UsableMemory, usable_memory
from memcurve.studies.comparison import ComparisonRow, compare
from memcurve.studies.sweeping.executors import ProcessPool

DEBOUNCE = 0.15  # seconds before something is ordered: a slider that moves on makes it pointless
POLL = 0.1  # seconds between looks at whether a result is still wanted

Job = tuple[Callable[..., Any], tuple[Any, ...]]

#: What the page shows quickly, in place of what an audit takes more time for.
_QUICKLY: dict[str, tuple[str, dict[str, Any]]] = {
    "montecarlo": ("simulation of 2,000 steps", {"samples": 2000}),
    "osm_plus": ("OSM+ with 10 masks", {"masks": 10}),
}


def shown_methods() -> dict[str, tuple[Method, Mapping[str, Any]]]:
    """The methods in use with their options, by their names on the page."""
    shown: dict[str, tuple[Method, Mapping[str, Any]]] = {}
    for method in METHODS.values():
        for variant in method.variants:
            name, options = _QUICKLY.get(variant.key, (variant.name, variant.options))
            shown[name] = method, options
    return shown


def asked_curve(network: LinearNetwork, lags: int | None, arguments: dict[str, Any]) -> MemoryCurve:
    """The exact curve under the input and the noise that are set."""
    with rank_among_notes():
        return memory_curve(network, lags, **arguments)


def estimate(name: str, network: LinearNetwork, lags: int, seed: int) -> ComparisonRow:
    """What one of the methods in use reports for white input, measured against the exact curve."""
    method, options = shown_methods()[name]
    if "samples" in method.options and network.spectral_radius > SLOWEST:
        raise ValueError("a simulation of this network takes too long to forget its initial state")
    return compare(network, [(method.name, options)], lags=lags, seed=seed).rows[1]


def simulated(
    library: str, network: LinearNetwork, seed: int
) -> tuple[Protocol, float, float, float]:
    """A library's protocol, the total it reports, its noise floor, and what is usable under it."""
    protocol = PROTOCOLS[library](network.read_states)
    with one_thread():
        total = float(protocol.measure(network, np.random.default_rng(seed)).sum())
    floor = protocol.noise_floor
    return protocol, total, floor, asked_curve(network, 1, {"noise": floor}).total


def usable(network: LinearNetwork, arguments: dict[str, Any]) -> tuple[UsableMemory, float]:
    """Usable memory in number formats and against noise; and the total without noise."""
    process = arguments.get("input")
    profile = usable_memory(network, process, arguments.get("noise"))
    return profile, asked_curve(network, 1, {"input": process}).total


def _warm_up() -> None:
    """Load what the jobs need."""
    tiny = LinearNetwork([[0.5, 0.2], [-0.2, 0.4]], [1.0, 0.0])
    for name in shown_methods():
        estimate(name, tiny, 2, 0)
    usable(tiny, {})


class Worker:
    """One process that computes, one job after the other; one that a job kills is replaced."""

    def __init__(self) -> None:
        self._pool, self._turn, self._is_open = ProcessPool(1), threading.Lock(), False

    def open(self) -> None:
        """Start the process and let it load its libraries meanwhile."""
        self._is_open = True
        self._pool.start()
        self._pool.call(_warm_up)

    def close(self) -> None:
        """End it, whatever it does."""
        self._is_open = False
        self._pool.stop()
        time.sleep(POLL)  # its thread lets go

    def results(
        self, jobs: Mapping[str, Job], wanted: Callable[[], bool], pause: float = DEBOUNCE
    ) -> Iterator[tuple[str, Any]]:
        """After a pause, each job's name and result, or error, for as long as ``wanted``."""
        time.sleep(pause)
        for name, (function, given) in jobs.items():
            with self._turn:
                if not self._is_open or not wanted():
                    return
                outcome = self._outcome(function, given)
            if not self._is_open or not wanted():
                return
            yield name, outcome

    def _outcome(self, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        try:
            future = self._pool.call(function, *given)
            while not wait([future], POLL).done:
                if not self._is_open:
                    return None
            return future.result()
        except Exception as error:  # every failure is shown in place of its figure
            return error


#: The process of this server, shared by all pages that are open.
WORKER = Worker()
