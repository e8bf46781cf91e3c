"""What is printed arrives whole wherever it is sent, or the command says that it did not."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from command import POSIX, run, shell
from memcurve import MemoryCurve


@POSIX
@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("curve --help", 0),
        ("curve --size 60 --lags 3000 --json", 0),
        ("audit --size 12 --claimed 7.31 --fail-on-mismatch", 3),
    ],
)
def test_a_reader_that_has_seen_enough(asked: str, code: int) -> None:
    done = shell(f'memcurve {asked} | head -1; exit "${{PIPESTATUS[0]}}"')
    assert done.code == code
    assert done.err == ""
    assert len(done.out.splitlines()) == 1


FULL = "standard output cannot be written (No space left on device)"


@POSIX
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("memcurve --version >&-", "standard output is closed"),
        ("memcurve curve --size 60 --lags 3000 --json > /dev/full", FULL),
        ("memcurve --help > /dev/full", FULL),
    ],
)
def test_what_cannot_be_written_is_an_error(script: str, message: str) -> None:
    if "full" in script and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = shell(script)
    assert done.code == 1
    assert message in done.err
    assert len(done.err.splitlines()) == 1


@POSIX
def test_messages_with_nowhere_to_go(tmp_path: Path) -> None:
    """They do not get into the result."""
    saved = tmp_path / "x.json"
    done = shell(f"memcurve curve --size 5 --json --save {saved} 2>&-")
    assert (done.code, done.err) == (0, "")
    assert MemoryCurve.from_json(done.out).total == 5
    assert shell("memcurve curve --size 0 2>&-") == (2, "", "")


@pytest.mark.skipif(sys.platform != "linux", reason="`script` with the options of Linux")
def test_terminals_without_colour_or_width() -> None:
    """In a terminal of 40 columns no number is cut; a dumb one gets no escapes, NO_COLOR none."""
    for setting, forbidden in (("TERM=dumb", "\x1b["), ("TERM=xterm NO_COLOR=1", "\x1b[33m")):
        done = shell(
            f"export {setting}; export -f memcurve\n"
            "script -qec 'stty cols 40; memcurve curve --size 4 --method naive' /dev/null"
        )
        if "script: command not found" in done.err:
            pytest.skip("script is not installed")
        assert done.code == 0
        assert "note:" in done.out
        assert forbidden not in done.out
        assert "below 0.5 from here" in " ".join(done.out.split())


def test_the_output_is_utf_8_whatever_the_locale() -> None:
    """As JSON has to be; what is no text, in the name of a file, is replaced."""
    for settings in ({"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "cp1252"}):
        given: Any = {"env": os.environ | settings, "encoding": "utf-8"}
        assert "normal, N=4, ρ=0.9" in run("curve", "--size", 4, **given).out
        assert "ρ" in json.loads(run("curve", "--size", 4, "--json", **given).out)["network"]
    assert "\ufffd.npz: no such file" in run("curve", "\udcfc.npz").err
