"""The command ``memcurve``. Imports what it needs when it needs it, so that help is instant."""

from __future__ import annotations

import io
import os
import sys

from cyclopts import App

from memcurve.cli.compare import compare
from memcurve.cli.curve import curve
from memcurve.cli.data import data
from memcurve.cli.options import Ensemble, Method, NetworkOptions, ProblemOptions
from memcurve.cli.paper import paper

__all__ = ["Ensemble", "Method", "NetworkOptions", "ProblemOptions", "app", "main"]

app = App(
    name="memcurve",
    help="How much a recurrent network remembers, computed right.",
    help_format="plaintext",
    version=lambda: _version(),
)
for _command in (curve, compare, data, paper):
    app.command(_command)


def main() -> None:
    """Entry point: user errors end in one line on stderr and exit code 1, not in a traceback."""
    from memcurve.errors import UncertainResultError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Greek letters
    try:
        app()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, e.g. `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except MemoryError as error:
        sys.exit(
            f"memcurve: error: out of memory ({error or 'no details'}); ask for fewer nodes "
            f"or lags."
        )
    except (ValueError, TypeError, OSError, ImportError, UncertainResultError) as error:
        if "--verbose" in sys.argv:
            raise
        sys.exit(f"memcurve: error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def _version() -> str:
    from memcurve import __version__

    return __version__
