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
    "control", "slycot", "conn2res",
)  # fmt: skip
#: How often a short function is repeated in a round, and how many rounds there are.
MOST_REPETITIONS, ROUNDS = 30, 3
#: Functions that take more budgets than these together get one more round, or none.
LONG, VERY_LONG = 5, 30
ABSENT = "not installed"


def seconds_of(function: Callable[[], object]) -> float:
    """Time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def best_times(*functions: Callable[[], object], budget: float = 1.0) -> list[float]:
    """Best time of each function over several rounds, so that a busy machine hits all alike.

    Parameters
    ----------
    *functions : callables
        Each is called once before the rounds, which also loads what it needs.
    budget : float
        Seconds that one function may take in all rounds together, if one call leaves it the choice.

    Within a round each function is repeated on its own: NumPy's and SciPy's idle BLAS threads spin
    for some milliseconds and would slow down the other's first call.
    """
    best = [seconds_of(function) for function in functions]
    repetitions = [
        max(1, min(MOST_REPETITIONS, int(budget / ROUNDS / max(first, 1e-9)))) for first in best
    ]
    rounds = ROUNDS if sum(best) < LONG * budget else 1 if sum(best) < VERY_LONG * budget else 0
    for _ in range(rounds):
        for k, function in enumerate(functions):
            for _ in range(repetitions[k]):
                best[k] = min(best[k], seconds_of(function))
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
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None
