"""The command ``memcurve``. Imports what it needs when it needs it, so that help is instant."""

import re
import sys
from typing import Any

from cyclopts import App
from cyclopts.help import DefaultFormatter

from memcurve.core.version import __version__
from memcurve.views.cli.process import EXIT_CODES, exit_code
from memcurve.views.cli.texts import COMMANDS

__all__ = ["COMMANDS", "app", "main"]

#: What `memcurve --help` shows first.
ABOUT = """\
How much a recurrent network remembers, computed right.

For example:

  memcurve audit --claimed 48.7
  memcurve curve reservoir.mat --noise 1e-3 --plot memory.png
  memcurve COMMAND --help"""


class _Help(DefaultFormatter):
    """Help wrapped by the terminal, ignoring the line breaks of docstrings."""

    def __call__(self, console: Any, options: Any, panel: Any) -> None:
        for entry in panel.entries:
            _unfold(entry.description)
        super().__call__(console, options, panel)

    def render_description(self, console: Any, options: Any, description: Any) -> None:
        _unfold(description)
        console.print(description)


def _unfold(description: Any) -> None:
    """Join the lines of a paragraph; what is indented, as examples are, keeps its lines."""
    from rich.text import Text

    text = getattr(description, "primary_renderable", None)
    if isinstance(text, Text):
        joined = re.sub(r"(?<!\n)\n(?![ \n])", " ", text.plain)
        description.primary_renderable = Text(joined, end=text.end)


def _application(*, overview: bool) -> App:
    """The command; its overview imports none of the subcommands, which cannot be run then."""
    made = App(
        name="memcurve",
        help=f"{ABOUT}\n\n{EXIT_CODES}",
        help_format="plaintext",
        help_formatter=_Help(),
        version=__version__,
        suppress_keyboard_interrupt=False,  # reported in one line, as errors are
    )
    for name, summary in COMMANDS.items():
        help_text = summary if overview else None  # else it would stand for all of the docstring
        made.command(f"memcurve.views.cli.{name}:{name}", name=name, help=help_text)
    made.register_install_completion_command(help="Install tab completion in your shell.")
    return made


def main() -> None:
    """Entry point: ends with an exit code, and with one line on stderr where something is wrong."""
    how: Any = {"result_action": "return_value", "print_error": False, "exit_on_error": False}
    overview = sys.argv[1:] in ([], ["--help"], ["-h"])
    application = _application(overview=True) if overview else app
    sys.exit(exit_code(lambda: application(**how), _options))


def _options() -> dict[str, str]:
    """Options of the command that was asked for, by the names of their arguments."""
    command = app.parse_commands(sys.argv[1:])[1][-1]
    options: dict[str, str] = {}
    for argument in command.assemble_argument_collection():
        long = [name for name in argument.names if name.startswith("--")]
        options |= {argument.field_info.name: long[0]} if long else {}
    # of null models, whose mask is named by --inputs; else it is --input that recordings have
    return {"mask": options.get("inputs", "--input"), "input_name": "--input", **options}


app = _application(overview=False)
