"""What is printed: whole wherever it is sent, strict JSON, and tables in terminals of any width."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import POSIX, run, shell, succeeded
from memcurve import Comparison, MemoryCurve, NoiseProfile, ensembles
from memcurve.rendering.report import Chart, Series
from memcurve.views.cli.console import Printer, plot_lines, print_document
from report_example import LONG, NASTY, document


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
def test_messages_with_nowhere_to_go(tmp_path) -> None:
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


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Path:
    z = np.random.default_rng(3).standard_normal(600)
    X = ensembles.orthogonal(4, spectral_radius=0.8, seed=1).simulate(z)
    file = tmp_path_factory.mktemp("recording") / "rec.npz"
    np.savez(file, states=X[100:], z=z[100:])
    return file


def strict_json(text: str) -> Any:
    """Read strict JSON: no NaN, no infinity, nothing before or after."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


CURVE = ("curve", "--size", 8)
QUESTIONS = [
    (CURVE, MemoryCurve),
    ((*CURVE, "--profile"), NoiseProfile),
    (("compare", "--ensemble", "normal", "--size", 6, "--lags", 20), Comparison),
    (("data",), MemoryCurve),
    (("data", "--estimator", "k_fold"), MemoryCurve),
]


@pytest.mark.parametrize(("asked", "kind"), QUESTIONS)
def test_results_are_read_back(command, recording: Path, tmp_path, asked: tuple, kind: Any) -> None:
    asked = ("data", recording, *asked[1:], "--lags", 6) if asked[0] == "data" else asked
    png, saved = tmp_path / "x.png", tmp_path / "x.json"
    done = succeeded(command(*asked, "--json", "--plot", png, "--save", saved, "--verbose"))
    strict_json(done.out)
    assert kind.from_json(done.out).to_json() == done.out.rstrip("\n")
    assert saved.read_text(encoding="utf-8") == done.out.rstrip("\n")
    assert done.err == f"picture written to {png}\nresult written to {saved}\n"


@pytest.mark.parametrize("asked", ["curve", "audit", "compare", "data", "measure --precision 1"])
def test_results_are_saved_as_their_ending_says(
    command, recording: Path, tmp_path, asked: str
) -> None:
    which = [recording] if asked == "data" else ["--ensemble", "normal", "--size", 6]
    for ending, start in ((".csv", ("lag,", "method,")), (".tex", "\\begin{tabular}")):
        succeeded(command(*asked.split(), *which, "--save", tmp_path / f"x{ending}"))
        assert (tmp_path / f"x{ending}").read_text(encoding="utf-8").startswith(start)
    assert command(*asked.split(), *which, "--save", tmp_path / "x.xls").code == 2


WIDTHS = (80, 200)

STUDY = """
keep = ["total", "usable_float32", "usable_12bit", "horizon_half"]
[grid]
ensemble = ["normal", "orthogonal"]
size = [8, 12]
spectral_radius = [0.5, 0.725]
seed = [1, 2, 3]
"""

COMMANDS = {
    "audit": "audit --size 5 --claimed 4.7 --full",
    "curve": "curve --size 30",
    "several inputs": "curve --size 12 --inputs 6",
    "usable memory": "curve --size 10 --profile",
    "compare": "compare --size 10",
    "recording": "data recording.npz",
    "sweep": "sweep study.toml --serial",
    "list of studies": "sweep",
}


def _terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")


def _numbers(text: str) -> set[str]:
    """What has digits in it and is no chart: each must be printed as it is everywhere else."""
    without_times = re.sub(r"[\d.e+-]+ s\b", "", text)
    return {word for word in re.findall(r"[^\s_(]*\d[^\s_(]*", without_times) if "│" not in word}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_every_command_shows_numbers_whole(arguments: str, command, tmp_path, monkeypatch) -> None:
    """What a terminal shows is in the pipe's output too, word for word."""
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY)
    z = np.random.default_rng(1).standard_normal(600)
    states = np.column_stack([np.roll(z, k) + 0.1 * np.roll(z, k + 1) for k in range(4)])
    np.savez("recording.npz", states=states, z=z)
    whole = command(*arguments.split()).out
    numbers = _numbers(whole)
    assert numbers
    for width in WIDTHS:
        _terminal(monkeypatch, width)
        shown = re.sub(r"\x1b\[[0-9;]*m", "", command(*arguments.split()).out)
        widest = 120 if "study.toml" in arguments else width  # of which the terminal makes two
        assert max(map(len, shown.splitlines())) <= max(width, widest)
        assert _numbers(shown) == numbers


def test_a_table_wider_than_the_terminal(monkeypatch, capsys) -> None:
    """Words are folded, then heads; numbers stay whole, and the terminal breaks the lines."""
    _terminal(monkeypatch, 40)
    numbers = [f"{k}.123456789 ± 0.01" for k in range(4)]
    for count, longest in ((1, 40), (4, 100)):
        heads = ["words", *["a long head"] * count]
        Printer().table(heads, [["some words " * 9, *numbers[:count]]], right=range(1, count + 1))
        shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
        assert max(map(len, shown.splitlines())) <= longest
        assert all(number in shown for number in numbers[:count])


def test_reports_in_a_pipe(capsys) -> None:
    print_document(document())
    piped = capsys.readouterr().out
    assert "\x1b" not in piped
    assert "…" not in piped
    for text in (NASTY, LONG, "Needs attention. ", *document().verdict, *document().notes):
        assert text in piped
    assert "1 │█" in piped


def test_plots_in_the_terminal() -> None:
    x = np.arange(10.0)
    lines = plot_lines(Chart("", "x", "y", (Series("s", x, x),)), 10)
    assert lines[0] == "9 │        ▁█"
    assert [line.index(" │") for line in lines[:8]] == [1] * 8
    assert lines[7] == "0 │ ▇████████"
    assert lines[-1].split() == ["0", "9"]
    assert plot_lines(Chart("", "x", "y", (Series("s", x, np.full(10, np.nan)),))) == []
    assert plot_lines(Chart("", "x", "y", ())) == []
    assert len(plot_lines(Chart("", "x", "y", (Series("s", x[:1], x[:1]),)))) == 10
