"""Help texts of commands and options, from `help.toml`, by name."""

from typing import TypeVar

from memcurve.core.notes import texts_beside

HELP: dict[str, str] = texts_beside(__file__, "help.toml")
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
