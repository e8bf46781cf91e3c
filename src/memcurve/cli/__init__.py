"""The command ``memcurve``. Imports what it needs when it needs it, so that help is instant."""

from __future__ import annotations

import sys

from cyclopts import App

from memcurve.cli.audit import audit
from memcurve.cli.compare import compare
from memcurve.cli.completion import install_completion
from memcurve.cli.curve import curve
from memcurve.cli.data import data
from memcurve.cli.ending import run_to_end
from memcurve.cli.errors import EXIT_CODES, UsageError
from memcurve.cli.explore import explore
from memcurve.cli.options import Ensemble, Method, NetworkOptions, ProblemOptions
from memcurve.cli.paper import paper
from memcurve.cli.sweep import sweep

__all__ = [
    "Ensemble",
    "Method",
    "NetworkOptions",
    "ProblemOptions",
    "UsageError",
    "app",
    "main",
]

app = App(
    name="memcurve",
    help=f"How much a recurrent network remembers, computed right.\n\n{EXIT_CODES}",
    help_format="plaintext",
    version=lambda: _version(),
)
for _command in (audit, curve, compare, data, explore, paper, sweep):
    app.command(_command)
app.command(install_completion, name="--install-completion")


def main() -> None:
    """Entry point: ends with an exit code, and with one line on stderr where something is wrong."""
    sys.exit(run_to_end(_call))


def _call() -> object:
    return app(result_action="return_value", print_error=False, exit_on_error=False)


def _version() -> str:
    from memcurve import __version__

    return __version__
