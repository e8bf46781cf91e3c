"""The command ``memcurve``. Imports what it needs when it needs it, so that help is instant."""

from __future__ import annotations

import re
import sys
from typing import Any

from cyclopts import App
from cyclopts.help import DefaultFormatter

from memcurve.core.version import __version__
from memcurve.views.cli.process import EXIT_CODES, exit_code

__all__ = ["COMMANDS", "app", "main"]

#: The commands, each a function in the module of its name, and what the overview says of them: the
#: first lines of their docstrings, for which nothing is imported.
COMMANDS = {
    "audit": "Total and usable memory of a network, and what a number claimed for it means.",
    "curve": "Memory curve of a network from a file or of a built-in ensemble.",
    "capacities": "Every capacity of a bilinear, quantum or other state-affine network, exactly.",
    "compare": "Several methods on one network, measured against the exact curve.",
    "connectome": "Memory of a network against null models: how much is explained by the wiring.",
    "data": "Memory of a network from its recorded states.",
    "measure": "Memory of any network by simulation, to a requested precision.",
    "layers": "Memory of every recurrent layer of a trained model, from its weights.",
    "claims": "Published claims about memory, re-examined: a list, or the study of one claim.",
    "design": "A network with a given memory curve, or the reason why there is none.",
    "improve": "What a network could gain: better mask, readout and realization, and fewer states.",
    "explore": "Explore the memory of networks interactively, in the browser.",
    "paper": 'The figures and claims of "Memory of recurrent networks: Do we compute it right?".',
    "sweep": "Parameter studies: one question for many networks, with a picture and a summary.",
}


#: What `memcurve --help` shows first.
ABOUT = """\
How much a recurrent network remembers, computed right.

For example:

  memcurve audit --claimed 48.7
  memcurve curve reservoir.mat --noise 1e-3 --plot memory.png
  memcurve COMMAND --help"""


class _Help(DefaultFormatter):
    """Help whose sentences the terminal breaks, not also the lines of a docstring."""

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
    """The command; for its overview none of its commands is imported, and none can be run."""
    made = App(
        name="memcurve",
        help=f"{ABOUT}\n\n{EXIT_CODES}",
        help_format="plaintext",
        help_formatter=_Help(),
        version=__version__,
        suppress_keyboard_interrupt=False,  # it is told in a line, as errors are
    )
    for name, summary in COMMANDS.items():
        said = summary if overview else None  # else it would stand for all of the docstring
        made.command(f"memcurve.views.cli.{name}:{name}", name=name, help=said)
    made.register_install_completion_command(help="Install tab completion in your shell.")
    return made


def main() -> None:
    """Entry point: ends with an exit code, and with one line on stderr where something is wrong."""
    how: Any = {"result_action": "return_value", "print_error": False, "exit_on_error": False}
    overview = sys.argv[1:] in ([], ["--help"], ["-h"])
    asked = _application(overview=True) if overview else app
    sys.exit(exit_code(lambda: asked(**how), _options))


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
