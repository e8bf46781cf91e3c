"""The command ``memcurve data``: recordings in files, and what is wrong with them."""

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from command import Command, failed, succeeded
from memcurve import MemoryCurve, ensembles, memory_from_data
from memcurve.data.estimators import ESTIMATORS
from memcurve.views.cli.data import Estimator

ROWS, STATES = 800, 6
RNG = np.random.default_rng(3)
NETWORK = ensembles.orthogonal(STATES, spectral_radius=0.8, seed=1)
DRIVE = RNG.standard_normal((ROWS + 100, 2))
X, Z = NETWORK.simulate(DRIVE[:, 0])[100:], DRIVE[100:, 0]
#: The same network of two inputs.
X2 = NETWORK.replace(C=RNG.standard_normal((STATES, 2))).simulate(DRIVE)[100:]
Z2 = DRIVE[100:]
BROKEN = np.where(np.arange(ROWS * STATES).reshape(ROWS, STATES) == 602, np.inf, X)
WIDE = np.random.default_rng(1).standard_normal((60, 80))


@pytest.fixture
def command(command) -> Command:
    return lambda *arguments: command("data", *arguments)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory) -> Path:
    """Archives, tables, and pairs of files."""
    folder = tmp_path_factory.mktemp("recordings")
    for name, states, inputs in (
        ("rec", X, Z), ("fast", np.repeat(X, 2, axis=0), Z), ("wide", WIDE, Z[:60]),
        ("held", np.repeat(X, 3, axis=0), np.repeat(Z, 3)), ("two", X2, Z2), ("nan", BROKEN, Z),
        ("noise", WIDE.reshape(-1, 3)[:250], Z[:250]), ("lead", X[2:], Z[:-2]),
        ("start", np.vstack([100 + X[:60], X[60:]]), Z),
    ):  # fmt: skip
        np.savez(folder / f"{name}.npz", states=states, z=inputs)
    np.savez(folder / "own.npz", rates=X, stimulus=Z)
    np.save(folder / "x.npy", X)
    np.save(folder / "z.npy", Z)
    (folder / "x.docx").write_text("x")
    nodes = [f"x{k}" for k in range(STATES)]
    # as it was recorded: blanks between fields, units, a clock, a column of NaN, packed
    clock, nothing = np.arange(ROWS) * 1e-3, np.full(ROWS, np.nan)
    volts = ["time[s]", *(f"ch{k}[V]" for k in range(STATES)), "9_I[A]", "drive[V]"]
    for file, names, separator, columns in (
        ("rec.csv", ["drive", *nodes], ",", (Z, X)),
        ("two.csv", [*nodes, "left", "right"], ",", (X2, Z2)),
        ("rec.txt.gz", volts, " ", (clock, X, nothing, Z)),
    ):
        head = separator.join(names)
        table = np.column_stack(columns)
        np.savetxt(folder / file, table, "%.17g", separator, header=head, comments="")
    return folder


def test_choices_are_the_table() -> None:
    assert get_args(Estimator) == ("regression", *ESTIMATORS)


def test_tables(command, recordings: Path) -> None:
    code, out, _ = command(recordings / "rec.npz", "--lags", 20)
    here = memory_from_data(X, Z, 20)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["checks", "nothing", "to", "report"]
    assert f"rec: {ROWS - 19} rows of {STATES} states" in lines[1]
    assert f"{here.total:.4f} ± {here.total_error:.2g} over lags 0 … 19" in out
    assert "90 % interval" in out
    low, high = here.bands[5]
    assert f"{here.values[5]:.5f}  {low:.5f} … {high:.5f}" in out
    assert "last significant lag" in out
    assert "note: estimated from" in out


PAIR, PACKED = ("x.npy", "--input", "z.npy"), ("rec.txt.gz", "--input", "drive[V]")
FLAGS = "--washout 50 --noise-floor 0.1 --level 0.5 --no-checks --innovations".split()
SETTINGS = {"washout": 50, "noise_floor": 0.1, "level": 0.5, "checks": False, "innovations": True}
#: What is asked of the command, and the states, input and options of the same in Python.
QUESTIONS: list[tuple[tuple[Any, ...], Any, Any, dict[str, Any]]] = [
    (("rec.npz",), X, Z, {}),
    (("own.npz", "--states", "rates", "--input", "stimulus"), X, Z, {}),
    (("rec.csv", "--input", "drive"), X, Z, {}),
    (("rec.csv", "--input", "drive", "--states", "x0", "x2"), X[:, [0, 2]], Z, {}),
    ((*PAIR, *FLAGS), X, Z, SETTINGS),
    *((("x.npy", "--input", "z.npy", "--estimator", name), X, Z, {"estimator": name})
      for name in ESTIMATORS),
    *(((*PACKED, *more), X, Z, {})
      for more in (("--states", "ch*"), ("--states", "ch0[V]-ch5[V]"), ("--drop", "time[s]", "9*"),
                   ("--states", "ch0[V]", "ch1[V]-ch5[V]"))),
    ((*PACKED, "--states", "ch*", "--rows", "50:700"), X[50:700], Z[50:700], {}),
    (("two.csv", "--input", "left", "right"), X2, Z2, {}),
    (("two.npz",), X2, Z2, {}),
    (("held.npz", "--every", 3), X, Z, {}),
    (("lead.npz", "--shift", -2), X[2:-2], Z[2:-2], {}),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "states", "inputs", "options"), QUESTIONS)
def test_options_are_arguments(
    command, recordings: Path, monkeypatch, asked: Any, states: Any, inputs: Any, options: Any
) -> None:
    monkeypatch.chdir(recordings)
    done = succeeded(command(*asked, "--lags", 15, "--json"))
    found, here = MemoryCurve.from_json(done.out), memory_from_data(states, inputs, 15, **options)
    assert np.array_equal(found.channels, here.channels)
    assert np.array_equal(found.error, here.error, equal_nan=True)
    assert ("findings" in found.diagnostics) == ("--no-checks" not in asked)
    assert ("ar_order" in found.diagnostics) == ("--innovations" in asked)


TWO = memory_from_data(X2, Z2, 15)
EACH = [f"input {k}  {x:.4f} ± " for k, x in enumerate(TWO.diagnostics["channel_totals"])]


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        (PACKED, ("which count the rows: time[s]", "columns: 9_I[A]")),
        (("two.npz", "--lags", 15), (f"total memory  {TWO.total:.4f}", *EACH)),
        (("fast.npz", "--rows", "1::2"), ()),
        (("held.npz", "--lags", 9), ("repeated 3 times", "--every 3")),
        (("noise.npz",), ("(no lag is significant)",)),
        (("start.npz",), ("drop them, e.g. with --washout ",)),
        (("lead.npz", "--no-checks"), ()),
        ((*PAIR, "--estimator", "k_fold", "--lags", 10, "--no-checks"), ("skipped", "unknown")),
    ],
)  # fmt: skip
def test_what_is_printed(command, recordings: Path, monkeypatch, asked: Any, facts: Any) -> None:
    monkeypatch.chdir(recordings)
    done = succeeded(command(*asked))
    assert all(fact in done.out for fact in facts), done.out
    assert "-1" not in done.out.split("lag ")[0]


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        # what is not there; what is, is listed
        (("none.npz",), ("none.npz",)),
        (("rec.npz", "--input", "none.npy"), ("none.npy",)),
        (("x.npy",), ("--input",)),
        (("x.docx",), ("'.docx'",)),
        (("rec.npz", "--states", "rates"), ("--states", f"states ({ROWS}, {STATES}) float64")),
        (("rec.npz", "--input", "drive"), ("--input",)),
        (("rec.csv",), ("drive, x0, x1, x2, x3, x4, x5", "--input")),
        (("rec.csv", "--input", "g"), ("'g'", "drive, x0, x1, x2, x3, x4, x5")),
        # what gives no memory ends with the list
        (("nan.npz",), ("error: 1 of 800 rows hold infinite numbers", "--no-checks")),
        (("wide.npz",), ("error: there are 60 rows for 80 states", "--no-checks")),
        (("lead.npz",), ("error: the states lead by 2 steps", "--no-checks",
                         "take --shift -2, states[:-2] with inputs[2:]")),
        (("wide.npz", "--no-checks"), ("must have more rows",)),
        (("fast.npz",), ("take every n-th row (--every)",)),
    ],
)  # fmt: skip
def test_what_is_refused(command, recordings: Path, monkeypatch, asked: Any, facts: Any) -> None:
    monkeypatch.chdir(recordings)
    told = failed(command(*asked))
    assert all(fact in told for fact in facts), told
