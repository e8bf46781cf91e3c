"""What takes longer than an eye's blink: computed in a process of its own, and shown as it arrives.

The page asks with :meth:`Workshop.order` and reads with :meth:`Workshop.arrivals`; whatever is no
longer wanted is dropped before it starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from threading import Lock
from typing import Any

from memcurve.auditing.structure import Squeezing, squeezing_of
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
    outcome = compare(network, [method], lags=lags, seed=seed, options={method: options})
    return outcome.rows[1]


def usable(network: LinearNetwork, arguments: dict[str, Any]) -> UsableMemory:
    """Usable memory in number formats and at the noise that is set, and against its level."""
    return usable_memory(network, arguments.get("input"), arguments.get("noise"))


def squeezing(network: LinearNetwork, rank: int) -> Squeezing | None:
    """How fast the Krylov vectors run out of new directions."""
    return squeezing_of(network, rank)


def _warm_up() -> None:
    """Load what the jobs need."""
    tiny = LinearNetwork([[0.5, 0.2], [-0.2, 0.4]], [1.0, 0.0])
    for way in USUAL:
        usual_estimate(way, tiny, 2, 0)
    usable(tiny, {})


class Workshop:
    """One process that computes, one job after the other."""

    def __init__(self) -> None:
        self._pool = ProcessPool(1)
        self._lock = Lock()

    def open(self) -> None:
        """Start the process and let it load its libraries meanwhile."""
        with self._lock:
            self._pool.start()
            self._pool.submit(_warm_up)

    def close(self) -> None:
        """End it, whatever it does."""
        with self._lock:
            self._pool.stop()

    def order(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have something computed; a process that died is replaced."""
        with self._lock:
            self._pool.start()
            try:
                return self._pool.submit(function, *arguments)
            except BrokenProcessPool:
                self._pool.renew()
                return self._pool.submit(function, *arguments)

    def arrivals(
        self,
        jobs: Mapping[str, tuple[Callable[..., Any], tuple[Any, ...]]],
        wanted: Callable[[], bool],
    ) -> Iterator[tuple[str, Any]]:
        """Order all jobs, and yield each one's name and result, or error, as it arrives.

        Ends early, and drops what has not begun, once it is no longer ``wanted``.
        """
        time.sleep(PATIENCE)
        if not wanted():
            return
        names = {self.order(function, *given): name for name, (function, given) in jobs.items()}
        waiting = set(names)
        try:
            while waiting:
                done, waiting = wait(waiting, _PULSE, FIRST_COMPLETED)
                if not wanted():
                    return
                for future in sorted(done, key=list(names).index):
                    yield names[future], _outcome(future)
        finally:
            for future in waiting:
                future.cancel()


def _outcome(future: Future[Any]) -> Any:
    try:
        return future.result()
    except CancelledError as error:
        return RuntimeError(f"it was dropped: {error}")
    except Exception as error:  # every failure is shown in place of its figure
        return error


#: The process of this server, shared by all pages that are open.
WORKSHOP = Workshop()
