"""The command ``memcurve data``: recordings in files, and what is wrong with them."""

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from command import Command, failed
from memcurve import MemoryCurve, ensembles, memory_from_data
from memcurve.data.estimators import ESTIMATORS
from memcurve.views.cli.data import Estimator

ROWS, STATES = 800, 6


@pytest.fixture(scope="module")
def recording() -> tuple[np.ndarray, np.ndarray]:
    z = np.random.default_rng(3).standard_normal(ROWS + 100)
    states = ensembles.orthogonal(STATES, spectral_radius=0.8, seed=1).simulate(z)
    return states[100:], z[100:]


@pytest.fixture
def command(command) -> Command:
    return lambda *arguments: command("data", *arguments)


@pytest.fixture
def file(recording, tmp_path) -> Path:
    np.savez(tmp_path / "rec.npz", states=recording[0], z=recording[1])
    return tmp_path / "rec.npz"


def test_choices_are_the_table() -> None:
    assert get_args(Estimator) == ("regression", *ESTIMATORS)


def test_tables(command, file, recording) -> None:
    code, out, _ = command(file, "--lags", 20)
    here = memory_from_data(*recording, 20)
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


def test_options_are_arguments(command, file, recording, tmp_path) -> None:
    """Archives, tables and pairs of files; names, columns, and every setting of the estimate."""
    X, z = recording
    np.savez(tmp_path / "own.npz", rates=X, stimulus=z)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "z.npy", z)
    names = ",".join(["drive", *(f"x{k}" for k in range(STATES))])
    table = np.column_stack([z, X])
    np.savetxt(tmp_path / "rec.csv", table, "%.17g", ",", header=names, comments="")
    settings = {"washout": 50, "noise_floor": 0.1, "level": 0.5}
    flags = ["--washout", 50, "--noise-floor", 0.1, "--level", 0.5, "--no-checks", "--innovations"]
    pair = ["x.npy", "--input", tmp_path / "z.npy"]
    questions: list[tuple[list, dict]] = [
        (["rec.npz"], {}),
        (["own.npz", "--states", "rates", "--input", "stimulus"], {}),
        (["rec.csv", "--input", "drive"], {}),
        (["rec.csv", "--input", "drive", "--states", "x0", "x2"], {"states": X[:, [0, 2]]}),
        ([*pair, *flags], {"checks": False, "innovations": True, **settings}),
        *(([*pair, "--estimator", name], {"estimator": name}) for name in ESTIMATORS),
    ]
    for (name, *asked), arguments in questions:
        done = command(tmp_path / name, *asked, "--lags", 15, "--json")
        assert done.code == 0, done.err
        found = MemoryCurve.from_json(done.out)
        here = memory_from_data(arguments.pop("states", X), z, 15, **arguments)
        assert np.array_equal(found.values, here.values)
        assert np.array_equal(found.error, here.error, equal_nan=True)
        assert ("findings" in found.diagnostics) == ("--no-checks" not in asked)
        assert ("ar_order" in found.diagnostics) == ("--innovations" in asked)
    out = command(file, "--estimator", "k_fold", "--lags", 10, "--no-checks").out
    assert "skipped" in out
    assert "unknown" in out


def test_columns_and_rows_of_a_table_as_it_was_recorded(command, recording, tmp_path) -> None:
    """Blanks between fields, units, a clock, columns of NaN, packed."""
    X, z = recording
    clock, nothing = np.arange(ROWS) * 1e-3, np.full(ROWS, np.nan)
    names = " ".join(["time[s]", *(f"ch{k}[V]" for k in range(STATES)), "9_I[A]", "drive[V]"])
    file = tmp_path / "rec.txt.gz"
    np.savetxt(file, np.column_stack([clock, X, nothing, z]), "%.17g", header=names, comments="")
    asked = ["--input", "drive[V]", "--lags", 12]
    done = command(file, *asked)
    assert "columns, which count the rows: time[s]" in done.out
    assert "columns: 9_I[A]" in done.out
    assert f"rec: {ROWS - 11} rows of {STATES} states" in done.out
    here = memory_from_data(X, z, 12).values
    for names in (["ch*"], ["ch0[V]-ch5[V]"], ["ch0[V]", "ch1[V]-ch5[V]"]):
        out = command(file, *asked, "--states", *names, "--json").out
        assert np.array_equal(MemoryCurve.from_json(out).values, here)
    out = command(file, *asked, "--drop", "time[s]", "9*", "--json").out
    assert np.array_equal(MemoryCurve.from_json(out).values, here)
    out = command(file, *asked, "--states", "ch*", "--rows", "50:700", "--json").out
    here = memory_from_data(X[50:700], z[50:700], 12).values
    assert np.array_equal(MemoryCurve.from_json(out).values, here)


def test_several_inputs(command, tmp_path) -> None:
    rng = np.random.default_rng(3)
    z = rng.standard_normal((900, 2))
    network = ensembles.orthogonal(STATES, spectral_radius=0.8, seed=1)
    X = network.replace(C=rng.standard_normal((STATES, 2))).simulate(z)[100:]
    z = z[100:]
    names = ",".join([*(f"x{k}" for k in range(STATES)), "left", "right"])
    table = np.column_stack([X, z])
    np.savetxt(tmp_path / "rec.csv", table, "%.17g", ",", header=names, comments="")
    here = memory_from_data(X, z, 15)
    done = command(tmp_path / "rec.csv", "--input", "left", "right", "--lags", 15)
    assert done.code == 0, done.err
    assert f"total memory  {here.total:.4f}" in done.out
    for k, total in enumerate(here.diagnostics["channel_totals"]):
        assert f"input {k}  {total:.4f} ± " in done.out
    np.savez(tmp_path / "rec.npz", states=X, inputs=z)
    out = command(tmp_path / "rec.npz", "--lags", 15, "--json").out
    assert np.array_equal(MemoryCurve.from_json(out).channels, here.channels)


def test_remedies_are_options(command, recording, tmp_path) -> None:
    X, z = recording
    np.savez(tmp_path / "fast.npz", states=np.repeat(X, 2, axis=0), z=z)
    assert "take every n-th row (--every)" in failed(command(tmp_path / "fast.npz"))
    assert command(tmp_path / "fast.npz", "--rows", "1::2")[0] == 0
    np.savez(tmp_path / "held.npz", states=np.repeat(X, 3, axis=0), z=np.repeat(z, 3))
    assert "repeated 3 times" in (out := command(tmp_path / "held.npz", "--lags", 9).out)
    assert "--every 3" in out
    asked, json = ("--lags", 9, "--json"), []
    np.savez(tmp_path / "plain.npz", states=X, z=z)
    for file, more in (("held.npz", ("--every", 3)), ("plain.npz", ())):
        json.append(MemoryCurve.from_json(command(tmp_path / file, *asked, *more).out))
    assert np.array_equal(json[0].values, json[1].values)
    np.savez(
        tmp_path / "noise.npz", states=np.random.default_rng(1).standard_normal((250, 3)), z=z[:250]
    )
    out = command(tmp_path / "noise.npz").out
    assert "(no lag is significant)" in out
    assert "-1" not in out.split("lag ")[0]
    start = np.vstack([100 + X[:60], X[60:]])
    np.savez(tmp_path / "start.npz", states=start, z=z)
    assert "drop them, e.g. with --washout " in command(tmp_path / "start.npz").out
    text = failed(command(tmp_path / "fast.npz", "more"), 2)
    assert "unexpected argument 'more'" in text


def test_what_is_not_there(command, file, recording, tmp_path) -> None:
    """Files, arrays and columns; those there are are listed."""
    np.save(tmp_path / "x.npy", recording[0])
    names = ",".join([*"abcdef", "drive"])
    content = np.column_stack(recording)
    np.savetxt(tmp_path / "x.csv", content, delimiter=",", header=names, comments="")
    (tmp_path / "x.docx").write_text("x")
    for asked, facts in {
        ("none.npz",): ["none.npz"],
        ("rec.npz", "--input", "none.npy"): ["none.npy"],
        ("x.npy",): ["--input"],
        ("x.docx",): ["'.docx'"],
        ("rec.npz", "--states", "rates"): ["--states", f"states ({ROWS}, {STATES}) float64"],
        ("rec.npz", "--input", "drive"): ["--input"],
        ("x.csv",): ["a, b, c, d, e, f, drive", "--input"],
        ("x.csv", "--input", "g"): ["'g'", "a, b, c, d, e, f, drive"],
    }.items():
        said = failed(command(tmp_path / asked[0], *asked[1:]))
        assert all(fact in said for fact in facts), said


def test_what_gives_no_memory_ends_with_the_list(command, recording, tmp_path) -> None:
    X, z = recording
    broken = X.copy()
    broken[100, 2] = np.inf
    wide = np.random.default_rng(1).standard_normal((60, 80))
    cases = {
        "nan": (broken, z, "error: 1 of 800 rows hold infinite numbers"),
        "wide": (wide, z[:60], "error: there are 60 rows for 80 states"),
        "lead": (X[2:], z[:-2], "error: the states lead by 2 steps"),
    }
    for name, (states, inputs, message) in cases.items():
        np.savez(tmp_path / f"{name}.npz", states=states, z=inputs)
        text = failed(command(tmp_path / f"{name}.npz"))
        assert message in text
        assert "--no-checks" in text
    text = failed(command(tmp_path / "lead.npz"))
    assert "take --shift -2, states[:-2] with inputs[2:]" in text
    lead = command(tmp_path / "lead.npz", "--shift", -2, "--lags", 12, "--json").out
    here = memory_from_data(X[2:-2], z[2:-2], 12)
    assert np.array_equal(MemoryCurve.from_json(lead).values, here.values)
    assert command(tmp_path / "lead.npz", "--no-checks")[0] == 0
    assert "must have more rows" in failed(command(tmp_path / "wide.npz", "--no-checks"))
