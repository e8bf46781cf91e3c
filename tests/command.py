"""The command, run as users run it or, for speed, within the process of the tests."""

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

POSIX = pytest.mark.skipif(os.name != "posix", reason="shells, signals and devices of POSIX")
needs_mpi = pytest.mark.skipif(
    shutil.which("mpiexec") is None or importlib.util.find_spec("mpi4py") is None,
    reason="mpiexec or mpi4py is not installed",
)


class Ended(NamedTuple):
    """How a command ended: its exit code, and what it printed."""

    code: int
    out: str
    err: str


def run(*arguments: object, **options: Any) -> Ended:
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "memcurve", *map(str, arguments)]
    return ended(command, **options)


def shell(script: str, **options: Any) -> Ended:
    """Run a bash script in which ``memcurve`` is the command."""
    prelude = f'memcurve() {{ "{sys.executable}" -m memcurve "$@"; }}\n'
    return ended(["bash", "-c", prelude + script], **options)


@functools.cache
def mpiexec(count: int) -> tuple[str, ...]:
    """What starts a command on so many ranks of this machine, whoever else is at work on it."""
    version = subprocess.run(["mpiexec", "--version"], capture_output=True, text=True).stdout
    if "Open" not in version:
        return ("mpiexec", "-n", str(count))
    anywhere = ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none")
    return ("mpiexec", *anywhere, "--mca", "mpi_yield_when_idle", "1", "-n", str(count))


def ended(command: list[str], **options: Any) -> Ended:
    """Run any command to its end."""
    # the limit is for what hangs: a machine may be busy with ten other things
    asked: dict[str, Any] = {"stdin": subprocess.DEVNULL, "encoding": "utf-8", "timeout": 900}
    # MPI, once begun in this process, leaves variables in it with which no other mpiexec begins
    asked |= {"capture_output": True, "env": dict(os.environ)} | options
    done = subprocess.run(command, check=False, **asked)
    return Ended(done.returncode, done.stdout, done.stderr)


Command = Callable[..., Ended]


def succeeded(done: Ended) -> Ended:
    """A command that ended well."""
    assert done.code == 0, done.err
    return done


def failed(done: Ended, code: int = 1) -> str:
    """The one message of a command that ended with ``code`` and printed nothing else."""
    assert done.code == code, done.err
    assert done.out == ""
    assert done.err.startswith("memcurve: error: ")
    assert "Traceback" not in done.err
    return done.err
