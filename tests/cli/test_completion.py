"""Completion by the tab key: a script that bash accepts and that knows the commands."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from command import Command, ended
from memcurve.studies.sweeping import shipped
from memcurve.views.cli import COMMANDS

BASH = pytest.mark.skipif(
    os.name != "posix" or shutil.which("bash") is None, reason="bash is not installed"
)


@pytest.fixture
def command(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """The command, at home in an empty folder."""
    for home in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(home, str(tmp_path))
    for name in ("ZSH", "ZSH_CUSTOM", "BASH_VERSION", "ZSH_VERSION", "FISH_VERSION"):
        monkeypatch.delenv(name, raising=False)
    return command


def completed(script: Path, *words: str) -> list[str]:
    """What bash offers for the last of the words."""
    listed = " ".join(f"'{word}'" for word in words)
    code = (
        f"source {script}\nCOMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}\n"
        f'COMP_LINE="${{COMP_WORDS[*]}}"; COMP_POINT=${{#COMP_LINE}}\n'
        'f=$(complete -p memcurve | sed "s/.*-F \\([^ ]*\\).*/\\1/")\n'
        f"$f memcurve '{words[-1]}' '{words[-2]}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = ended(["bash", "--norc", "-c", code])
    assert done.err == ""
    return [word.strip() for word in done.out.split("\n") if word.strip()]


@BASH
def test_bash(command: Command, tmp_path: Path) -> None:
    done = command("--install-completion", "--shell", "bash")
    assert done.code == 0, done.err
    script = tmp_path / ".local/share/bash-completion/completions/memcurve"
    assert str(script) in done.out
    assert str(script) in (tmp_path / ".bashrc").read_text()
    assert ended(["bash", "-n", str(script)]).code == 0
    assert {"curve", "compare", "data", "paper"} <= set(completed(script, "memcurve", ""))
    assert completed(script, "memcurve", "cur") == ["curve"]
    assert "--spectral-radius" in completed(script, "memcurve", "curve", "--sp")
    assert "orthogonal" in completed(script, "memcurve", "curve", "--ensemble", "orth")
    assert completed(script, "memcurve", "sweep", "") == shipped()


@pytest.mark.parametrize("asked", ["app.generate_completion(shell='bash')", "main()"])
def test_completion_and_help_import_nothing_heavy(asked: str) -> None:
    """They stay fast without numpy and the like; the overview imports no command either."""
    code = (
        "import sys\n"
        "from memcurve.views.cli import app, main\n"
        "sys.argv[1:] = ['--help']\n"
        f"try: {asked}\n"
        "finally: print(*sys.modules)"
    )
    done = ended([sys.executable, "-c", code])
    assert done.code == 0, done.err
    modules = {*done.out.splitlines()[-1].split()}
    assert "memcurve.views.cli" in modules
    assert not modules & {"numpy", "scipy", "matplotlib", "flint", "pandas"}
    commands = {f"memcurve.views.cli.{name}" for name in COMMANDS}
    assert asked != "main()" or not modules & commands


def test_release_files(tmp_path: Path) -> None:
    """The man page has every command with its examples as they are typed."""
    script = Path(__file__).parents[2] / "docs" / "man_page.py"
    done = ended([sys.executable, str(script), str(tmp_path)])
    assert done.code == 0, done.err
    page = (tmp_path / "memcurve.1").read_text("utf-8")
    assert all(f".SH {name}\n" in page for name in COMMANDS)
    assert "\nmemcurve audit \\-\\-html audit.html\n" in page
    for name in ("memcurve.bash", "memcurve.fish", "_memcurve"):
        assert "connectome" in (tmp_path / name).read_text("utf-8")
