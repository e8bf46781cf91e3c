"""The man page and the completions of the command, which go with a release.

Run by the workflow `release`: ``python -m uv run --group docs python docs/man_page.py FOLDER``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from docutils.core import publish_string

from memcurve.core.version import __version__
from memcurve.views.cli import COMMANDS, app

HEAD = f"""\
========
memcurve
========
-------------------------------------
memory capacity of recurrent networks
-------------------------------------

:Version: memcurve {__version__}
:Manual section: 1

"""
#: What each shell calls the file of a command's completions.
COMPLETIONS = {"bash": "memcurve.bash", "fish": "memcurve.fish", "zsh": "_memcurve"}


def man_page() -> bytes:
    """The help of all commands as troff."""
    for name in COMMANDS:  # once imported, each is described in the list of all
        _ = app[name].help
    text = app.generate_docs(output_format="rst")
    text = text[text.index("::\n") :]  # below its title
    text = re.sub(r"\.\. contents::.*\n(   .*\n)*", "", text)
    text = re.sub(r"^(For example|Exit codes):\n+", r"\1::\n\n", text, flags=re.MULTILINE)
    settings = {"halt_level": 3, "report_level": 3}
    return publish_string(HEAD + text, writer="manpage", settings_overrides=settings)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memcurve.1").write_bytes(man_page())
    for shell, name in COMPLETIONS.items():
        (folder / name).write_text(app.generate_completion(shell=shell), encoding="utf-8")
