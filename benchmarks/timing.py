"""Times that can be compared: taken in turn, in one run, with a known number of threads."""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

#: Whose versions are written down with the results.
PACKAGES = (
    "memcurve", "numpy", "scipy", "python-flint", "reservoirpy", "rcbench", "resdag", "ipc-module",
    "control", "slycot", "conn2res", "pymor",
)  # fmt: skip
#: How often a short function is repeated in a round, and how many rounds there are.
MOST_REPETITIONS = 30
ROUNDS = 3
#: A function that takes more than one budget gets one more round; more than so many, none.
LONG = 3
ABSENT = "not installed"


def seconds_of(
    function: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Time of one call."""
    start = clock()
    function()
    return clock() - start


def fresh(network: Any) -> Any:
    """The network, with nothing known of it from before: an analysis is kept with it."""
    vars(network).pop("_analysis", None)
    return network


def best_times(
    *functions: Callable[[], object], budget: float = 1.0, count: int | None = None
) -> list[float]:
    """Best time of each function over several rounds, so that a busy machine hits all alike.

    Parameters
    ----------
    *functions : callables
        Each is called once before the rounds, which also loads what it needs.
    budget : float
        Seconds that one function may take in all rounds together, if single calls leave the choice.
    count : int, optional
        Threads of the libraries, their default by default. On one thread the time is that of the
        processor, which other processes hardly disturb; on several it is that of the wall clock.

    Within a round each function is repeated on its own: NumPy's and SciPy's idle BLAS threads spin
    for some milliseconds and would slow down the other's first call.
    """
    count = default_threads() if count is None else count
    clock = time.process_time if count == 1 else time.perf_counter
    with threads(count):
        best = [seconds_of(function, clock) for function in functions]
        rounds = [ROUNDS if t < budget else 1 if t < LONG * budget else 0 for t in best]
        for k in range(ROUNDS):
            for j, function in enumerate(functions):
                spent, calls = 0.0, 0
                while k < rounds[j] and calls < MOST_REPETITIONS and spent < budget / ROUNDS:
                    seconds = seconds_of(function, clock)
                    best[j] = min(best[j], seconds)
                    spent, calls = spent + seconds, calls + 1
    return best


def default_threads() -> int:
    """Threads that the BLAS libraries use unless they are told otherwise."""
    found = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(found, default=1)


def thread_counts() -> list[int]:
    """One thread, and the default number where that is another."""
    return sorted({1, default_threads()})


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Let every library loaded so far use so many threads, and no more than it does by itself."""
    if count >= default_threads():
        yield
        return
    with threadpool_limits(count):
        yield


def machine() -> dict[str, Any]:
    """What the times were taken on."""
    import scipy.linalg  # noqa: F401  # it brings a BLAS of its own

    pools = [
        {key: pool.get(key) for key in ("internal_api", "version", "architecture", "num_threads")}
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    ]
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "blas": pools,
        "blas_threads": default_threads(),
    }


def load() -> float | None:
    """Processes that wanted a core in the last minute, on average, where the system tells."""
    with contextlib.suppress(AttributeError, OSError):
        return round(os.getloadavg()[0], 2)
    return None


def versions() -> dict[str, str]:
    """Versions of Python and of every library that takes part, or that it is not installed."""
    return {"python": platform.python_version()} | {name: version_of(name) for name in PACKAGES}


def version_of(name: str) -> str:
    """The version of a distribution, or that it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ABSENT


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None
