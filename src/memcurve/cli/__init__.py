"""The command ``memcurve``. Imports what it needs when it needs it, so that help is instant."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any, Literal, get_args

from cyclopts import App

from memcurve.cli.audit import audit
from memcurve.cli.claims import claims
from memcurve.cli.compare import compare
from memcurve.cli.connectome import connectome
from memcurve.cli.curve import curve
from memcurve.cli.data import data
from memcurve.cli.explore import explore
from memcurve.cli.measure import measure
from memcurve.cli.options import Verbose
from memcurve.cli.paper import paper
from memcurve.cli.process import EXIT_CODES, UsageError, exit_code
from memcurve.cli.sweep import sweep
from memcurve.version import __version__

__all__ = ["app", "main"]

app = App(
    name="memcurve",
    help=f"How much a recurrent network remembers, computed right.\n\n{EXIT_CODES}",
    help_format="plaintext",
    version=__version__,
    suppress_keyboard_interrupt=False,  # it is told in a line, as errors are
)
_COMMANDS = (audit, curve, compare, connectome, data, measure, claims, explore, paper, sweep)
for _command in _COMMANDS:
    app.command(_command)


def main() -> None:
    """Entry point: ends with an exit code, and with one line on stderr where something is wrong."""
    how: Any = {"result_action": "return_value", "print_error": False, "exit_on_error": False}
    sys.exit(exit_code(lambda: app(**how), _options))


def _options() -> dict[str, str]:
    """Options of the command that was asked for, by the names of their arguments."""
    command = app.parse_commands(sys.argv[1:])[1][-1]
    found = {"inputs": "--input"}  # of functions that take recordings
    for argument in command.assemble_argument_collection():
        long = [name for name in argument.names if name.startswith("--")]
        found |= {argument.field_info.name: long[0]} if long else {}
    return found


Shell = Literal["bash", "zsh", "fish"]

# the line that loads the script is put into these files; fish finds it by itself
_STARTUP_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc"}


@app.command(name="--install-completion")
def install_completion(
    *, shell: Shell | None = None, output: Path | None = None, verbose: Verbose = False
) -> int:
    """Let the tab key complete commands and options in bash, zsh or fish.

    For example:

      memcurve --install-completion
      memcurve --install-completion --shell zsh
      memcurve --install-completion --shell bash --output memcurve.bash

    Parameters
    ----------
    shell
        Shell to complete in. Default: the one in use.
    output
        Write the script here, and leave it to you to load it. Default: where the shell looks, with
        a line in ~/.bashrc or ~/.zshrc that loads it.
    """
    from cyclopts.completion import detect_shell
    from cyclopts.completion.detect import ShellDetectionError

    chosen: Any = shell
    if chosen is None:
        with contextlib.suppress(ShellDetectionError):
            chosen = detect_shell()
    if chosen not in get_args(Shell):
        found = chosen or "not known"
        raise UsageError(f"the shell in use is {found}; name one with --shell bash, zsh or fish.")
    try:
        script = app.install_completion(shell=chosen, output=output, add_to_startup=output is None)
    except OSError as error:
        raise OSError(
            f"the completion script cannot be written ({error}); name another file with --output."
        ) from error
    print(f"completion for {chosen} written to {script}")
    if output is None:
        loaded = f"{_STARTUP_FILES[chosen]} loads it; " if chosen in _STARTUP_FILES else ""
        print(f"{loaded}start a new shell.")
    return 0
