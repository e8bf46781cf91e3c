"""``memcurve audit`` on the command line."""

import dataclasses
import re
import sys
from pathlib import Path

import pytest

import memcurve
from command import Command
from memcurve import Audit
from memcurve.studies.auditing.sentences import TEXTS
from memcurve.views.cli.console import print_document, print_screen


@pytest.fixture(scope="module")
def network(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("networks") / "small.npz"
    memcurve.save_network(memcurve.ensembles.normal(12, seed=1), file)
    return file


@pytest.fixture
def audit(command) -> Command:
    return lambda *arguments: command("audit", *arguments)


def test_reports(audit: Command, network: Path, tmp_path) -> None:
    page, text, saved = (tmp_path / name for name in ("a.html", "a.md", "a.json"))
    outputs = ("--html", page, "--markdown", text, "--save", saved)
    ended = audit(network, "--claimed", 11, *outputs, "--noise", 0.1)
    assert ended.code == 0, ended.err
    assert "The claim holds" in ended.out
    assert "without lag 0" in ended.out
    assert TEXTS["titles"]["estimates"] not in ended.out
    assert TEXTS["titles"]["estimates"] in text.read_text(encoding="utf-8")
    assert [line.split(" written")[0] for line in ended.err.splitlines()] == [
        "page", "report", "result",
    ]  # fmt: skip
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert text.read_text(encoding="utf-8").startswith("# Memory audit: small")
    assert Audit.load(saved).claim.holds  # type: ignore[union-attr]


def test_a_screen_by_default(network: Path, capsys, monkeypatch) -> None:
    """24 rows of 80 columns, one of which is the prompt's: verdict, five figures, the curve."""
    audited = memcurve.audit(network, claimed=7.31, noise=0.1).document()
    for document in (audited, dataclasses.replace(audited, notes=["one", "two"])):
        print_document(document)
        full = capsys.readouterr().out
        print_screen(document, "--full tells more.")
        piped = capsys.readouterr().out
        with monkeypatch.context() as changed:
            changed.setattr(sys.stdout, "isatty", lambda: True)
            changed.setenv("COLUMNS", "80")
            changed.setenv("TERM", "xterm")
            print_screen(document, "--full tells more.")
        lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
        assert len(lines) <= 23
        assert max(map(len, lines)) <= 80
        folded, whole = (
            " ".join(line.strip("▌ ") for line in text) for text in (lines, piped.splitlines())
        )
        assert folded == whole
        verdict = {line for line in piped.splitlines() if line.startswith("▌")}
        assert len(verdict) > 1
        assert verdict <= {*full.splitlines()}
        assert sum("│" in line for line in lines) >= 4
        assert all(f"{name}  {value}" in folded for name, value in document.figures[:5])
        notes = f"{len(document.notes)} notes on these numbers: " * bool(document.notes)
        assert folded.endswith(f"{notes}--full tells more.")


@pytest.mark.parametrize(("claimed", "code"), [("12", 0), ("11", 0), ("7.31", 3)])
def test_fail_on_mismatch(audit: Command, network: Path, claimed: str, code: int) -> None:
    ended = audit(network, "--claimed", claimed, "--fail-on-mismatch")
    assert ended.code == code
    assert "remembers 12" in ended.out  # whatever the code, the report is there
    assert ended.err == ""
