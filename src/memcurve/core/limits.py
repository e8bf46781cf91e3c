"""Memory limits, checked before the work begins.

Eigenvalues and covariances are dense: whatever the network, they take several N×N arrays for the N
states at work. Their number was measured for each question (peak memory of a process at N = 1500
and 2500, less that of the process itself and of A) and rounded down: what is refused would not have
fitted, what is let through may still be too large. Times are estimates, good to a small factor.

Usable memory of sparse networks takes no such array, but r vectors of N states, r the directions
above the noise: ``Work(0, 1, 0)`` for ``columns=r``, which is asked once r can be foreseen.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from memcurve.core.arguments import table_entry

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_ENTRY = 8  # bytes of a float64
#: Below this nothing is looked up: any machine has it.
_ALWAYS_THERE = 256 * 2**20
#: Bytes that may be used at most, where less is granted than there is.
_GRANTED: ContextVar[int | None] = ContextVar("_GRANTED", default=None)
#: Eigenvalues take about 25 N³ operations, at a rate most machines reach on one core or two.
_OPERATIONS = 25
_RATE = 5e10


class TooLargeError(MemoryError):
    """The computation does not fit into memory; nothing was computed or read."""


class Work(NamedTuple):
    """The cost of a question: N×N arrays of float64, besides A itself, and time.

    ``columns`` are arrays for each N columns of a Krylov matrix, of lags or of samples; ``times``
    is in units of the time of the eigenvalues.
    """

    arrays: float
    columns: float
    times: float


class Cost(NamedTuple):
    """Arrays that a question takes, as measured, and seconds of two cores of a common machine."""

    bytes: int
    seconds: float


#: What each question takes of the exact method; other methods declare their own.
WORK = {
    "exact": Work(4, 0, 2),
    "PBH test": Work(9, 0, 6),
    "noise": Work(13, 0, 5),
    "coloured": Work(12, 0, 8),
    "several inputs": Work(13, 0, 18),
    "readout": Work(27, 0, 15),
    "Fisher": Work(6, 0, 6),
    "realization": Work(9, 0, 7),
}


def estimated_cost(
    states: int, question: str | Work = "exact", *, columns: int | None = None
) -> Cost:
    """Memory and time that a question takes, by the estimate that decides what is refused.

    ``states`` are those solved together, ``question`` is a key of :data:`WORK` or what a method
    declares, ``METHODS["naive"].cost``, and ``columns`` are lags or samples, where the work depends
    on them; five per state by default.

    Examples
    --------
    >>> from memcurve.core.limits import estimated_cost
    >>> cost = estimated_cost(10_000)
    >>> cost.bytes / 1e9, cost.seconds / 60
    (3.2, 16.666666666666668)
    """
    work = question if isinstance(question, Work) else table_entry(WORK, question, "question")
    wide = 5 * states if columns is None else columns
    need = _ENTRY * states * (work.arrays * states + work.columns * wide)
    return Cost(int(need), work.times * _OPERATIONS * float(states) ** 3 / _RATE)


def require_room_for_states(
    states: int, question: str | Work, *, columns: int | None = None, reason: str = ""
) -> None:
    """Raise a TooLargeError where a question has no room; ``reason`` says why it takes so much."""
    cost = estimated_cost(states, question, columns=columns)
    free = _free_if_less(cost.bytes)
    if free is None:
        return
    work = question if isinstance(question, Work) else WORK[question]
    if columns is not None and work.columns * columns > work.arrays * states:
        raise TooLargeError(
            f"`samples` and `lags` must fit into memory, got {columns:,} for {states:,} states: "
            f"they take about {_size(cost.bytes)}, but {_size(free)} are available. Use fewer."
        )
    largest = int(states * math.sqrt(free / cost.bytes))  # a little less where columns count, too
    reason = f"About {largest:,} states would fit: {reason}. " if reason else ""
    raise TooLargeError(
        f"`network` must fit into memory, got {states:,} states that are solved together: they "
        f"take about {_size(cost.bytes)} of memory and, by estimate, {in_words(cost.seconds)}, "
        f"but {_size(free)} are available. {reason}Use fewer nodes, lags or samples, or a part "
        f"of the network; a `readout` of some nodes does not help, as all nodes influence those "
        f"that are read. Or record some nodes in a simulation, for memory_from_data."
    )


def require_room_for_array(shape: Sequence[int], what: str, *, itemsize: int = _ENTRY) -> None:
    """Raise a TooLargeError where an array, called ``what``, and its float64 copy cannot fit."""
    need = math.prod(int(length) for length in shape) * (itemsize + _ENTRY)
    sizes = " × ".join(f"{length:,}" for length in shape)
    what = f"{what} is too large: the {sizes} array, with the copy that is checked,"
    require_room(need, what, "Use fewer nodes, or store the matrix sparse.")


def require_room(need: int, what: str, remedy: str) -> None:
    """Raise a TooLargeError where so many bytes cannot be had; ``what`` is what takes them."""
    free = _free_if_less(need)
    if free is not None:
        raise TooLargeError(
            f"{what} takes about {_size(need)} of memory, but {_size(free)} are available. {remedy}"
        )


def require_room_for_columns(
    states: int, columns: float, what: str, free: int | None = None, *, sharing: int = 1
) -> None:
    """Raise a TooLargeError where so many columns of all states, ``what``, cannot fit.

    ``free`` bytes are available, where that is not the memory of the host; ``sharing`` ranks of a
    job have as much each, and share the memory of this machine.
    """
    need = int(_ENTRY * sharing * states * columns)
    free = _free_if_less(need) if free is None else free
    if free is None or need <= free:
        return
    on_ranks = f" on each of the {sharing} ranks here" if sharing > 1 else ""
    machines = 1 + math.ceil(need / max(free, _ALWAYS_THERE))
    raise TooLargeError(
        f"`network` must leave room for {what}, got {states:,} states{on_ranks}: about "
        f"{columns:,.0f} vectors of them take {_size(need)} of memory, but {_size(free)} are "
        f"available. Use {machines} machines or devices like this one, with the rows distributed "
        f"over the ranks of an MPI job, `mpiexec -n {machines} memcurve curve FILE --noise S "
        f"--mpi`; or more noise, a smaller spectral radius, or a part of the network."
    )


def available_memory() -> int | None:
    """Bytes available without swapping, or None where the system does not report it."""
    limits = _system_memory(), _GRANTED.get(), *_control_group_limits()
    return min((limit for limit in limits if limit is not None), default=None)


@contextlib.contextmanager
def memory_granted(count: int) -> Iterator[None]:
    """Grant so many bytes, or what may always be taken: for files of strangers."""
    before = _GRANTED.set(count)
    try:
        yield
    finally:
        _GRANTED.reset(before)


def fits(states: int, question: str | Work, *, columns: int | None = None) -> bool:
    """Whether there is room for a question about so many states."""
    return _free_if_less(estimated_cost(states, question, columns=columns).bytes) is None


def _free_if_less(need: int) -> int | None:
    """The bytes available if there are fewer than these, else None."""
    free = None if need <= _ALWAYS_THERE else available_memory()
    return free if free is not None and need > free else None


def one_thread() -> Any:
    """One BLAS thread, so that results that are mostly rounding are reproducible."""
    return blas_libraries().limit(limits=1, user_api="blas")


@cache
def blas_libraries() -> ThreadpoolController:
    """The BLAS of NumPy and SciPy; finding them takes as long as the curve of a small network."""
    import scipy.linalg  # noqa: F401 - what is not loaded yet is not found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _system_memory() -> int | None:
    """Memory available to any process on Linux; elsewhere the physical memory, if known."""
    available = _entry(Path("/proc/meminfo"), "MemAvailable:")
    if available is not None:
        return available * 1024
    with contextlib.suppress(AttributeError, OSError, ValueError):  # on Windows nothing is known
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def _control_group_limits() -> Iterator[int]:
    """Memory limits set by containers and batch systems: the control groups of this process."""
    root = Path("/sys/fs/cgroup")
    group_path = PurePosixPath("/")
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines():
            if line.startswith("0::"):
                group_path = PurePosixPath(line.removeprefix("0::"))
    for group in (group_path, *group_path.parents):
        folder = root / str(group).lstrip("/")
        with contextlib.suppress(OSError, ValueError):  # "max" is no number: no limit
            limit = int((folder / "memory.max").read_text())
            used = int((folder / "memory.current").read_text())
            cached = _entry(folder / "memory.stat", "inactive_file")  # used, but makes way
            yield max(0, limit - used + (cached or 0))


def _entry(file: Path, name: str) -> int | None:
    """The number behind ``name`` in a file of names and numbers, if there is one."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for words in map(str.split, file.read_text("utf-8").splitlines()):
            if words[:1] == [name]:
                return int(words[1])
    return None


def _size(count: int) -> str:
    """Bytes in words, e.g. 1.3 GB."""
    from rich.filesize import decimal

    return decimal(count)


def in_words(seconds: float) -> str:
    """A time in words, e.g. 3 hours."""
    for name, length in (("years", 3.156e7), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.0f} {name}"
    return "1 second" if round(seconds) == 1 else f"{seconds:.0f} seconds"
