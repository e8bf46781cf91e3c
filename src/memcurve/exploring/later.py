"""What takes longer than an eye's blink: computed in a process of its own, and shown as it arrives.

The page orders and reads with :meth:`Workshop.arrivals`; what is no longer wanted is dropped before
it starts, or ended when something else is wanted.
"""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, wait
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from memcurve.auditing.estimates import SLOWEST
from memcurve.auditing.usable import UsableMemory, usable_memory
from memcurve.comparison import Row, compare
from memcurve.curve import MemoryCurve
from memcurve.errors import rank_among_notes
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.sweeping.executors import ProcessPool

#: The usual ways: name on the page, method, options. Few masks and samples, so that they arrive.
USUAL: dict[str, tuple[str, dict[str, Any]]] = {
    "Gramian, solved": ("naive", {}),
    "Gramian, pseudo-inverse": ("naive", {"inverse": "pinv"}),
    "OSM": ("osm", {}),
    "simulation of 2,000 steps": ("montecarlo", {"samples": 2000}),
    "OSM+ with 10 masks": ("osm_plus", {"masks": 10}),
}
#: Seconds to wait before something is ordered: a slider that moves on makes it pointless.
PATIENCE = 0.15
#: Seconds that a job nobody wants any more may go on before it is ended.
TOLERATED = 1.0
#: Seconds between looks at whether the results are still wanted.
_PULSE = 0.1


def asked_curve(network: LinearNetwork, lags: int, arguments: dict[str, Any]) -> MemoryCurve:
    """The exact curve under the input and the noise that are set."""
    with rank_among_notes():
        curve: MemoryCurve = memory_curve(network, lags, **arguments)
    return curve


def usual_estimate(way: str, network: LinearNetwork, lags: int, seed: int) -> Row:
    """What one of the usual ways reports for white input, measured against the exact curve."""
    method, options = USUAL[way]
    if method == "montecarlo" and network.spectral_radius > SLOWEST:
        raise ValueError("a simulation of this network forgets its start only after ages")
    outcome = compare(network, [method], lags=lags, seed=seed, options={method: options})
    return outcome.rows[1]


def usable(network: LinearNetwork, arguments: dict[str, Any]) -> tuple[UsableMemory, float]:
    """Usable memory in number formats, at the noise that is set and against it; and without it."""
    process = arguments.get("input")
    found = usable_memory(network, process, arguments.get("noise"))
    with rank_among_notes():
        return found, memory_curve(network, 1, input=process).total


def _warm_up() -> None:
    """Load what the jobs need."""
    tiny = LinearNetwork([[0.5, 0.2], [-0.2, 0.4]], [1.0, 0.0])
    for way in USUAL:
        usual_estimate(way, tiny, 2, 0)
    usable(tiny, {})


@dataclass(frozen=True)
class _Order:
    """A job, whether anybody waits for it, and whom to tell."""

    function: Callable[..., Any]
    given: tuple[Any, ...]
    wanted: Callable[[], bool]
    deliver: Callable[[Any], None]


class Workshop:
    """One process that computes, one job after the other.

    It is given one job at a time, so that the end of it is nobody else's loss: what nobody wants
    any more is ended when somebody waits, and a job that kills the process fails alone.
    """

    def __init__(self) -> None:
        self._pool = ProcessPool(1)
        self._orders: SimpleQueue[_Order] = SimpleQueue()
        self._is_open = False

    def open(self) -> None:
        """Start the process and let it load its libraries meanwhile."""
        self._is_open = True
        self._pool.start()
        self._pool.submit(_warm_up)
        threading.Thread(target=self._work, name="workshop", daemon=True).start()

    def close(self) -> None:
        """End it, whatever it does."""
        self._is_open = False
        self._pool.stop()
        time.sleep(_PULSE)  # its thread lets go, and then its semaphores can be collected
        gc.collect()

    def arrivals(
        self,
        jobs: Mapping[str, tuple[Callable[..., Any], tuple[Any, ...]]],
        wanted: Callable[[], bool],
    ) -> Iterator[tuple[str, Any]]:
        """Order all jobs, and yield each one's name and result, or error, as it arrives.

        Ends early once it is no longer ``wanted``, or the workshop is closed.
        """
        time.sleep(PATIENCE)
        arrived: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        listening = True

        def still_wanted() -> bool:
            return listening and wanted()

        def deliver(name: str) -> Callable[[Any], None]:
            return lambda outcome: arrived.put((name, outcome))

        try:
            if wanted():
                for name, (function, given) in jobs.items():
                    self._orders.put(_Order(function, given, still_wanted, deliver(name)))
            left = len(jobs)
            while left and self._is_open and wanted():
                with contextlib.suppress(Empty):
                    yield arrived.get(timeout=_PULSE)
                    left -= 1
        finally:
            listening = False

    def _work(self) -> None:
        """Compute what is ordered, as long as the workshop is open."""
        while self._is_open:
            try:
                order = self._orders.get(timeout=_PULSE)
            except Empty:
                continue
            if order.wanted():
                order.deliver(self._outcome(order))

    def _outcome(self, order: _Order) -> Any:
        """The result of a job, or the error it ended in."""
        try:
            future = self._pool.submit(order.function, *order.given)
            unwanted_since = None
            while not wait([future], _PULSE).done:
                now = time.monotonic()
                unwanted_since = None if order.wanted() else unwanted_since or now
                if not self._is_open:
                    return None
                if unwanted_since and now - unwanted_since > TOLERATED and self._orders.qsize():
                    self._pool.renew()
                    return None
            return future.result()
        except Exception as error:  # every failure is shown in place of its figure
            if isinstance(error, BrokenExecutor) and self._is_open:
                self._pool.renew()
            return error


#: The process of this server, shared by all pages that are open.
WORKSHOP = Workshop()
