"""``memcurve sweep``: from a study file to table, picture, sentence and exit code."""

import json
import signal
from pathlib import Path

import pandas as pd
import pytest

from command import Command, failed, succeeded
from memcurve import Sweep
from memcurve.studies.sweeping.engine import CaseCounts, Interrupted
from memcurve.studies.sweeping.store import Store

STUDY = """\
title = "Does the size matter?"
keep = ["total", "horizon_half"]

[grid]
ensemble = ["normal", "orthogonal"]
size = [4, 6]
seed = [1, 2]

[quick]
seed = 1
"""
FAILING = """\
[grid]
ensemble = "normal"
size = 4
method = ["exact", "osm"]
noise = 1e-3
seed = 1
"""


@pytest.fixture
def command(command) -> Command:
    return lambda *arguments: command("sweep", *arguments)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "failing.toml").write_text(FAILING)
    return tmp_path


def test_table_sentence_picture_and_files(command, folder: Path) -> None:
    done = command("study.toml", "--serial", "--plot", "study.png", "--save", "study.csv")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "Does the size matter?"
    assert lines[1].split() == ["ensemble", "size", "count", "total", "horizon_half"]
    assert lines[2].split()[:4] == ["normal", "4", "2", "4"]
    assert lines[-1].startswith(
        "The total memory is the number of states in every case. The mean lag"
    )
    assert done.err.splitlines() == ["picture written to study.png", "result written to study.csv"]
    assert (folder / "study.png").stat().st_size > 10_000
    assert len(pd.read_csv(folder / "study.csv")) == 8
    assert Sweep.open(folder / "study.sqlite").counts["done"] == 8


def test_it_goes_on_where_it_was(command, folder: Path) -> None:
    def counts(*words: str) -> dict[str, int]:
        shown = command("study.toml", *words, "--store", "kept.sqlite", "--json")
        return dict(json.loads(shown.out)["counts"])

    quick = {"done": 4, "failed": 0, "pending": 0}
    assert counts("--quick", "--serial") == counts("--quick", "--status") == quick
    assert counts("--status") == {"done": 4, "failed": 0, "pending": 4}
    rest = command("study.toml", "--serial", "--store", "kept.sqlite")
    assert "study: 4 of 8 were done before" in rest.err
    command("study.toml", "--status", "--store", "kept.sqlite", "--save", "now.json")
    assert Sweep.load(folder / "now.json").counts == {"done": 8, "failed": 0, "pending": 0}
    (folder / "study.toml").write_text(STUDY.replace("[4, 6]", "[4, 7]"))
    assert counts("--status") == {"done": 4, "failed": 0, "pending": 4}
    assert list(folder.glob("*.png")) == []


def test_failed_cases_are_counted_and_end_in_1(command) -> None:
    done = command("failing.toml", "--serial", "--save", "rows.csv")
    assert done.code == 1
    assert "note: 1 case failed (excluded); 1 ×: ValueError: `method` 'osm'" in done.out
    assert "memcurve: 1 case of 2 failed" in done.err
    again = command("failing.toml", "--serial", "--json", "--retry-failed")
    assert [row.case["method"] for row in Sweep.from_json(again.out).failed] == ["osm"]
    assert command("failing.toml", "--status").code == 1


def test_shipped_studies_by_name(command, folder: Path) -> None:
    listed = command()
    assert listed.code == 0
    assert "sparsity         660  Does sparsity change memory?" in listed.out
    done = succeeded(command("architectures", "--quick", "--serial"))
    assert "changes most with the ensemble" in done.out.splitlines()[-1]
    assert (folder / "architectures.png").stat().st_size > 10_000
    assert (folder / "architectures.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["none.toml"], 1, "none.toml: there is no such study file"),
        (["study.toml", "--serial", "--workers", "2"], 2, "--serial and --workers"),
        (["study.toml", "--dask", "a:1", "--workers", "2"], 2, "--dask and --workers"),
        (["failing.toml", "--quick"], 1, "failing: has no [quick] table"),
        (["study.toml", "--store", "study.toml"], 2, "is the study itself"),
        (["study.toml", "--store", "a.json", "--save", "a.json"], 2, "a.json is written twice"),
    ],
)
def test_what_is_wrong_is_one_line(command, words: list[str], code: int, message: str) -> None:
    assert message in failed(command(*words), code)
    assert not Path("study.sqlite").exists()


@pytest.mark.parametrize(
    ("sent", "code"), [(None, 130), (signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_sweep_that_is_stopped_says_what_is_saved(
    command, monkeypatch, sent: signal.Signals | None, code: int
) -> None:
    def stopped(store: Store, *_: object, **__: object) -> None:
        raise Interrupted(CaseCounts(done=3, failed=0, pending=5), store.path, sent)

    monkeypatch.setattr("memcurve.studies.sweeping.run.run_cases", stopped)
    done = command("study.toml", "--serial")
    assert (done.code, done.out) == (code, "")
    assert "3 of 8" in done.err
    assert "study.sqlite" in done.err
    assert (sent is None) or sent.name in done.err
