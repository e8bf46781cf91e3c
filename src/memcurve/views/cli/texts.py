"""What help says of commands and options: `help.toml` has it, by the names of what is described."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

HELP: dict[str, str] = tomllib.loads(Path(__file__).with_name("help.toml").read_text("utf-8"))
#: The commands, each a function in the module of its name, and the first sentence on each.
COMMANDS = {
    name: " ".join(text.partition("\n\n")[0].split())
    for name, text in HELP.items()
    if name.islower()
}

_Described = TypeVar("_Described")


def documented(described: _Described) -> _Described:
    """Give a command, or a class of options, the docstring that its help is made from."""
    described.__doc__ = HELP[described.__name__]  # type: ignore[attr-defined]
    return described
