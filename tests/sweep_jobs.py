"""Toy jobs for sweeps, and a driver that tests start, kill and interrupt."""

import functools
import hashlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np


def cases(count: int, **content: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(count):
        case = {"number": number} | content
        key = hashlib.sha256(repr(sorted(case.items())).encode()).hexdigest()
        yield key, case


def nothing(case: dict[str, Any]) -> dict[str, Any]:
    """The quickest job there is."""
    return {"n": case["number"]}


def digits(case: dict[str, Any]) -> dict[str, Any]:
    """Numbers of which every digit counts; takes case["seconds"] if there are any."""
    time.sleep(case.get("seconds", 0))
    return digits_at_once(case)


def digits_at_once(case: dict[str, Any]) -> dict[str, Any]:
    number = case["number"]
    waves = np.sin(np.arange(1, 6) * np.sqrt(number + 2))
    return {"third": number / 3, "endless": np.inf, "name": "μ", "waves": waves}


class Weighty:
    """A job that counts how often it is sent from here, and arrives."""

    sent = 0

    def __getstate__(self) -> dict[str, Any]:
        Weighty.sent += 1
        return {"weight": np.zeros(10**6)}

    def __call__(self, case: dict[str, Any]) -> dict[str, Any]:
        return {"sent": Weighty.sent, "process": os.getpid()}


def spectrum(case: dict[str, Any]) -> dict[str, Any]:
    """A computation whose last digits depend on the number of BLAS threads, and that number."""
    from threadpoolctl import threadpool_info

    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    threads = sorted({library["num_threads"] for library in blas})
    draw = np.random.default_rng(case["number"]).normal(size=(120, 120))
    values = np.linalg.eigvals(draw)
    return {"radius": np.abs(values).max(), "threads": threads, "real": np.sort(values.real)}


def raising(case: dict[str, Any]) -> dict[str, Any]:
    """Every third case is refused, in two lines; every seventh returns what cannot be kept."""
    if case["number"] % 3 == 0:
        raise ValueError(f"`number` must not be\n divisible by three, got {case['number']}.")
    if case["number"] % 7 == 0:
        return {"odd": object()}
    return nothing(case)


def deadly(case: dict[str, Any]) -> dict[str, Any]:
    """The cases named in case["deadly"] end their process as a crash in a library would."""
    if case["number"] in case["deadly"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return digits(case)


def hanging(case: dict[str, Any]) -> dict[str, Any]:
    """Those in case["hanging"] wait in C, without an end, and no other thread of Python runs."""
    if case["number"] in case["hanging"]:
        import ctypes

        ctypes.PyDLL(None).pause()
    return deadly(case)


def drive(
    path: str,
    kind: str,
    job: str,
    count: str,
    seconds: str = "0",
    address: str = "",
    timeout: str = "20",
) -> None:
    """Begin or go on with a sweep, as a command would."""
    from memcurve.studies.sweeping.engine import Interrupted, run_cases
    from memcurve.studies.sweeping.executors import open_executor
    from memcurve.studies.sweeping.store import Store

    chosen = {"workers": 2} if kind == "processes" else {}
    if address:
        chosen = {"address": address, "dask_timeout": float(timeout)}
    try:
        with open_executor(kind, **chosen) as pool, Store.open(path) as store:
            content = {"seconds": float(seconds)} if float(seconds) else {}
            wanted = functools.partial(cases, int(count), **content)
            store.begin_run("toy", {})
            print("begun", flush=True)
            print(run_cases(store, wanted, globals()[job], pool), flush=True)
    except Interrupted as stopped:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process is on its way out
        print(stopped, file=sys.stderr)
        sys.exit(130)
    except OSError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where tests run in background
    import sweep_jobs  # so that the job has the name it has for every worker

    sweep_jobs.drive(*sys.argv[1:])
