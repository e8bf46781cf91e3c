"""Peak memory of the exact method, in dense N×N arrays of float64."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import memcurve
from memcurve.core.limits import estimated_cost

Row = dict[str, Any]


def in_a_process_of_its_own(size: int) -> Row:
    """The same in a fresh process: a peak is that of the whole life of a process."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--memory", str(size), "--json"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    row: Row = json.loads(done.stdout)
    return row


def peak_memory(size: int) -> Row:
    """Growth of this process's peak memory over one call, on a normal network of ``size`` nodes."""
    try:
        peak()
    except ImportError:  # systems other than Unix
        return {"states": size, "note": "this system does not tell the peak memory"}
    network = memcurve.ensembles.normal(size, spectral_radius=0.9, seed=1, scaling="circular_law")
    memcurve.memory_curve(memcurve.ensembles.normal(50, seed=1))  # load the libraries first
    before, start = peak(), time.process_time()
    curve = memcurve.memory_curve(network)
    seconds, after = time.process_time() - start, peak()
    cost, array = estimated_cost(size), 8 * size**2
    return {
        "states": size,
        "seconds": seconds,
        "total": curve.total,
        "error": float(curve.error.max()),
        "process_arrays": after / array,
        "arrays": (after - before) / array,
        "estimated_arrays": cost.bytes / array,
        "estimated_seconds": cost.seconds,
        "note": "",
    }


def peak(entry: str = "VmHWM") -> int:
    """Bytes this process has had at most; ``"VmRSS"`` has those it has now, where Linux tells.

    Linux tells it apart from that of the process that started this one; elsewhere the unit of
    ``ru_maxrss`` differs.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text("utf-8").splitlines():
            if line.startswith(f"{entry}:"):
                return 1024 * int(line.split()[1])
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else 1024 * used
