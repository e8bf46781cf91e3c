"""What runs in the processes that do the work, wherever they are."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing import connection, parent_process
from typing import Any

from memcurve.result import installed_versions
from memcurve.sweeping.store import Outcome

Job = Callable[[dict[str, Any]], dict[str, Any]]

#: Libraries read these once, when they are loaded.
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
}

#: One chunk at a time in a process: neither the number of BLAS threads nor what a job does with
#: warnings is a matter of one thread alone. It is a matter of Dask workers with several threads.
_ONE_AT_A_TIME = threading.Lock()


class UnusableWorkerError(ChildProcessError):
    """A worker cannot run the job at all, or would not give the results of the driver."""


def versions() -> dict[str, str]:
    """The versions on which the digits of a result depend."""
    found = installed_versions()
    return {package: found[package] for package in ("memcurve", "numpy", "scipy")}


def run_chunk(
    job: Job, expected: dict[str, str], cases: list[tuple[str, str]], budget: float
) -> list[Outcome]:
    """Run a job on some cases, given by key and JSON, and return what became of them.

    Once ``budget`` seconds have passed the rest is left to later: cases may turn out to take longer
    than those before them, and what is finished should reach the store. The versions of the
    packages have to be ``expected``, those of the driver.
    """
    differing = [f"{n} {v}, not {expected[n]}" for n, v in versions().items() if v != expected[n]]
    if differing:
        raise UnusableWorkerError(
            f"a worker has {' and '.join(differing)}, so that results could differ; install the "
            f"versions of the driver there."
        )
    finished: list[Outcome] = []
    end = time.perf_counter() + budget
    # one BLAS thread: more are slower here, and another number of them gives other digits
    with _ONE_AT_A_TIME, blas_libraries().limit(limits=1):
        for key, content in cases:
            finished.append(_outcome(job, key, content))
            if time.perf_counter() > end:
                break
    return finished


def _outcome(job: Job, key: str, content: str) -> Outcome:
    start = time.perf_counter()
    try:
        result = job(json.loads(content))
        if not isinstance(result, dict) or result.keys() != {"values", "curve"}:
            raise TypeError(f"a job must return a dict of values and curve, got {result!r:.200}")
        seconds = time.perf_counter() - start
        return Outcome.of(key, result["values"], result["curve"], None, seconds)
    except (Exception, SystemExit) as problem:
        error = f"{type(problem).__name__}: {problem}"
        return Outcome.of(key, None, None, error, time.perf_counter() - start)


@functools.cache
def blas_libraries() -> Any:
    """The libraries that may use several threads."""
    # loaded before the libraries are looked up, which takes too long to be done for each chunk
    import scipy.linalg  # noqa: F401, and with it numpy
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def prepare_process() -> None:
    """Make the process one of a pool on this machine: it ends with its parent, never before."""
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    if sys.platform == "linux":
        _die_with_parent()
    parent = parent_process()
    if parent is not None:
        watch = functools.partial(_end_with, parent.sentinel)
        threading.Thread(target=watch, name="parent watch", daemon=True).start()


def _end_with(sentinel: Any) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _die_with_parent() -> None:
    """Let the kernel end the process with its parent, also where a library never lets go.

    The watching thread cannot run while a call into a C library holds the interpreter.
    """
    import ctypes

    set_parent_death_signal = 1  # PR_SET_PDEATHSIG
    with contextlib.suppress(OSError, AttributeError):  # the watching thread is left
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
