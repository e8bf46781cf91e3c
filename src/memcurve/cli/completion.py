"""``memcurve --install-completion``: commands and options at the press of the tab key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from memcurve.cli.errors import UsageError

Shell = Literal["bash", "zsh", "fish"]

# the line that loads the script is put into these files; fish finds it by itself
_STARTUP_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc"}


def install_completion(
    *,
    shell: Shell | None = None,
    output: Path | None = None,
    verbose: Annotated[bool, Parameter(negative="")] = False,
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
    verbose
        Show the full traceback of an error.
    """
    from memcurve.cli import app

    chosen = shell or _shell_in_use()
    try:
        script = app.install_completion(shell=chosen, output=output, add_to_startup=output is None)
    except OSError as error:
        raise OSError(
            f"the completion script cannot be written ({error}); name another file with --output."
        ) from error
    print(f"completion for {chosen} written to {script}")
    if output is not None:
        return 0
    if chosen in _STARTUP_FILES:
        print(f"{_STARTUP_FILES[chosen]} loads it; start a new shell.")
    else:
        print("start a new shell.")
    return 0


def _shell_in_use() -> Shell:
    from cyclopts.completion import detect_shell
    from cyclopts.completion.detect import ShellDetectionError

    try:
        found = detect_shell()
    except ShellDetectionError:
        found = None
    for shell in ("bash", "zsh", "fish"):
        if shell == found:
            return shell
    raise UsageError(
        f"the shell in use is {found or 'not known'}; name one with --shell bash, zsh or fish."
    )
