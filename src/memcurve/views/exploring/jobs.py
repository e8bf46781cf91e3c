"""Jobs of the page, and the worker process that computes them.

The page reads results from :meth:`Worker.results`; a job that is no longer wanted is not begun, or
ended when another one waits.
"""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, wait
from dataclasses import dataclass
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

#: Seconds to wait before something is ordered: a slider that moves on makes it pointless.
DEBOUNCE = 0.15
#: Seconds that a job nobody wants any more may go on before it is ended, or as many as a new
#: process takes to start, if these are more: on a busy machine the end would cost more than it.
TOLERATED = 1.0
#: Seconds in which a closed page may come back, before what it had is dropped.
REMEMBERED = 60
#: Seconds between looks at whether the results are still wanted.
POLL = 0.1

Job = tuple[Callable[..., Any], tuple[Any, ...]]

#: What the page shows quickly, in place of what an audit takes more time for.
_QUICKLY: dict[str, tuple[str, dict[str, Any]]] = {
    "montecarlo": ("simulation of 2,000 steps", {"samples": 2000}),
    "osm_plus": ("OSM+ with 10 masks", {"masks": 10}),
}


@dataclass(frozen=True)
class ShownMethod:
    """A method as the page shows it; ``dashed`` where its colour is close to the exact curve's."""

    method: Method
    options: Mapping[str, Any]
    dashed: bool


def shown_methods() -> dict[str, ShownMethod]:
    """The methods in use, by their names on the page: whatever is declared to be shown."""
    found = {}
    for method in METHODS.values():
        for variant in method.variants:
            name, options = _QUICKLY.get(variant.key, (variant.name, variant.options))
            found[name] = ShownMethod(method, options, dashed=variant.key == "osm_plus")
    return found


def asked_curve(network: LinearNetwork, lags: int | None, arguments: dict[str, Any]) -> MemoryCurve:
    """The exact curve under the input and the noise that are set."""
    with rank_among_notes():
        return memory_curve(network, lags, **arguments)


def estimate(name: str, network: LinearNetwork, lags: int, seed: int) -> ComparisonRow:
    """What one of the methods in use reports for white input, measured against the exact curve."""
    shown = shown_methods()[name]
    if "samples" in shown.method.options and network.spectral_radius > SLOWEST:
        raise ValueError("a simulation of this network takes too long to forget its initial state")
    return compare(network, [(shown.method.name, shown.options)], lags=lags, seed=seed).rows[1]


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
    """Usable memory in number formats, at the noise that is set and against it; and without it."""
    process = arguments.get("input")
    found = usable_memory(network, process, arguments.get("noise"))
    with rank_among_notes():
        return found, memory_curve(network, 1, input=process).total


def _warm_up() -> None:
    """Load what the jobs need."""
    tiny = LinearNetwork([[0.5, 0.2], [-0.2, 0.4]], [1.0, 0.0])
    for name in shown_methods():
        estimate(name, tiny, 2, 0)
    usable(tiny, {})


class Worker:
    """One process that computes, one job after the other.

    What nobody wants any more is ended when somebody waits, and a job that kills the process fails
    alone.
    """

    def __init__(self) -> None:
        self._pool, self._turn = ProcessPool(1), threading.Lock()
        self._is_open, self._waiting, self._tolerated = False, 0, TOLERATED

    def open(self) -> None:
        """Start the process and let it load its libraries meanwhile."""
        self._is_open = True
        self._start(self._pool.start)

    def _start(self, begin: Callable[[], None]) -> None:
        """Let a new process load its libraries, and see how long that takes."""
        start = time.monotonic()

        def loaded(_: Any) -> None:
            self._tolerated = max(TOLERATED, time.monotonic() - start)

        begin()
        self._pool.submit(_warm_up).add_done_callback(loaded)

    def close(self) -> None:
        """End it, whatever it does."""
        self._is_open = False
        self._pool.stop()
        time.sleep(POLL)  # its thread lets go, and then its semaphores can be collected
        gc.collect()

    def results(
        self, jobs: Mapping[str, Job], wanted: Callable[[], bool], pause: float = DEBOUNCE
    ) -> Iterator[tuple[str, Any]]:
        """Compute all jobs, and yield each one's name and result, or error, as it arrives.

        Ends early once it is no longer ``wanted``, or the worker is closed. It waits ``pause``
        seconds before it begins.
        """
        time.sleep(pause)
        for name, (function, given) in jobs.items():
            if not self._got_turn(wanted):
                return
            try:
                outcome = self._outcome(function, given, wanted)
            finally:
                self._turn.release()
            if not self._is_open or not wanted():
                return
            yield name, outcome

    def _got_turn(self, wanted: Callable[[], bool]) -> bool:
        """Wait for the process to be free, as long as that is wanted."""
        self._waiting += 1
        try:
            while self._is_open and wanted():
                if self._turn.acquire(timeout=POLL):
                    return True
            return False
        finally:
            self._waiting -= 1

    def _outcome(
        self, function: Callable[..., Any], given: tuple[Any, ...], wanted: Callable[[], bool]
    ) -> Any:
        """The result of a job, or the error it ended in."""
        try:
            future = self._pool.submit(function, *given)
            last_wanted = time.monotonic()
            while not wait([future], POLL).done:
                if not self._is_open:
                    return None
                last_wanted = time.monotonic() if wanted() else last_wanted
                if self._waiting and time.monotonic() > last_wanted + self._tolerated:
                    self._start(self._pool.renew)
                    return None
            return future.result()
        except Exception as error:  # every failure is shown in place of its figure
            if isinstance(error, BrokenExecutor) and self._is_open:
                self._start(self._pool.renew)
            return error


class Pages:
    """Which pages are open: the jobs of a page that was closed, or reloaded, must not go first."""

    def __init__(self) -> None:
        self._connections: Counter[str | None] = Counter()
        self._closed: dict[str | None, float] = {}

    @contextlib.contextmanager
    def connected(self, page: str | None) -> Iterator[None]:
        """A connection of a page, for as long as it holds."""
        self._connections[page] += 1
        try:
            yield
        finally:
            self._connections[page] -= 1
            self._closed[page] = time.monotonic()

    def is_open(self, page: str | None) -> bool:
        """Whether a page is connected; one that nothing is known of is taken to be."""
        return page not in self._closed or self._connections[page] > 0

    def may_return(self, page: str | None) -> bool:
        """Whether a page is open, or was a short while ago."""
        return self.is_open(page) or time.monotonic() - self._closed[page] < REMEMBERED


#: The process of this server, shared by all pages that are open, and these.
WORKER, PAGES = Worker(), Pages()
