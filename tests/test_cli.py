"""The command, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from memcurve import (
    Float32,
    LinearNetwork,
    MemoryCurve,
    NoiseProfile,
    Quantised,
    StateNoise,
    cli,
    ensembles,
    fisher_curve,
    forecasting_curve,
    inputs,
    masks,
    memory_curve,
    noise_profile,
)
from memcurve.methods import METHODS


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memcurve", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def inside(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[object, str]:
    """The same within this process, for speed: what it exits with, and what it prints."""
    monkeypatch.setattr(sys, "argv", ["memcurve", *map(str, arguments)])
    code: object = 0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Cyclopts application invoked without tokens")
        try:
            cli.main()
        except SystemExit as end:
            code = end.code
    return code or 0, capsys.readouterr().out


def test_choices_are_the_tables() -> None:
    assert list(get_args(cli.Ensemble)) == list(ensembles.ENSEMBLES)
    assert list(get_args(cli.Method)) == list(METHODS)
    for mask in masks.MASKS:
        assert mask in (cli.NetworkOptions.__doc__ or "")


def test_table_picture_and_result(tmp_path: Path) -> None:
    png, saved = tmp_path / "memory.png", tmp_path / "memory.json"
    done = run("curve", "--size", 30, "--seed", 3, "--plot", png, "--save", saved)
    assert done.returncode == 0
    assert "normal, N=30, ρ=0.9, seed 3" in done.stdout
    assert "30 (all lags)" in done.stdout
    assert f"picture written to {png}" in done.stderr
    assert png.read_bytes().startswith(b"\x89PNG")
    here = memory_curve(ensembles.normal(30, seed=3))
    assert np.array_equal(MemoryCurve.load(saved).values, here.values)


def test_json_is_all_of_stdout() -> None:
    done = run("curve", "--ensemble", "cyclic", "--size", 10, "--lags", 25, "--json")
    curve = MemoryCurve.from_json(done.stdout)
    assert curve.total == 10
    assert len(curve) == 25


@pytest.mark.parametrize("ensemble", ensembles.ENSEMBLES)
def test_every_ensemble(ensemble: str) -> None:
    network = ensembles.make(ensemble, 12, **{"seed": 1} | cli_defaults(ensemble))
    done = run("curve", "--ensemble", ensemble, "--size", 12, *cli_flags(ensemble), "--json")
    assert done.returncode == 0, done.stderr
    assert MemoryCurve.from_json(done.stdout).total == memory_curve(network).total


def cli_defaults(ensemble: str) -> dict[str, float]:
    """Small matrices need more entries than the default density gives."""
    return {"density": 0.5} if ensemble.startswith("sp") else {}


def cli_flags(ensemble: str) -> list[object]:
    return ["--density", 0.5] if ensemble.startswith("sp") else []


def test_file_with_its_own_and_with_a_named_mask(tmp_path: Path) -> None:
    network = ensembles.normal(8, seed=1)
    np.savez(tmp_path / "net.npz", W=network.A, Win=network.C)
    np.save(tmp_path / "A.npy", network.A)
    done = run("curve", tmp_path / "net.npz", "--json")
    assert np.array_equal(MemoryCurve.from_json(done.stdout).values, memory_curve(network).values)
    for mask in ("ones", "normal"):
        done = run("curve", tmp_path / "A.npy", "--mask", mask, "--method", "certified", "--json")
        curve = MemoryCurve.from_json(done.stdout)
        assert (curve.total, curve.method, curve.network) == (8, "certified", "A")
    done = run("curve", tmp_path / "A.npy")
    assert done.returncode == 1
    assert "no input mask C" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["curve", "--ensemble", "nope"], 2, "sparse_normal"),
        (["curve", "--method", "nope"], 2, "certified"),
        (["curve", "--size", "many"], 2, "many"),
        (["curve", "--frobnicate"], 2, "frobnicate"),
        (["nonsense"], 2, "nonsense"),
        (["curve", "--size", "0"], 1, "`size` must be a positive integer, got 0"),
        (["curve", "--lags", "0"], 1, "`lags` must be a positive integer"),
        (["curve", "--seed", "-1"], 1, "`seed` must not be negative"),
        (["curve", "--spectral-radius", "1.5"], 1, "the network is unstable"),
        (["curve", "--mask", "nope"], 1, "sparse_uniform"),
        (["curve", "--ensemble", "cyclic", "--density", "0.1"], 1, "does not take `density`"),
        (["curve", "missing.npz"], 1, "no such file"),
        (["curve", "--plot", "x.docx"], 1, "must end in one of"),
        (["curve", "--plot", "png"], 1, "must end in one of"),
        (["curve", "--lags", "1.5"], 2, "1.5"),
        (["curve", "--lags", "100000000000000"], 1, "`lags` must be at most"),
        (["curve", "--matrix", "W"], 1, "--matrix names an array in a file"),
        (["curve", "x.npz", "--spectral-radius", "0.5"], 1, "--spectral-radius is for built-in"),
        (["curve", "x.npz", "--save", "x.npz"], 1, "is the network itself"),
        (["curve", "--plot", "no/such/folder/x.png"], 1, "No such file or directory"),
        (["curve", "--save", "no/such/folder/x.json"], 1, "cannot be written"),
    ],
)
def test_user_errors_end_without_traceback(arguments: list, code: int, message: str) -> None:
    done = run(*arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_verbose_shows_the_traceback() -> None:
    done = run("curve", "--size", 0, "--verbose")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    np.savez(tmp_path / "net[red].npz", A=np.eye(2) / 2, C=np.ones(2))
    done = run("curve", tmp_path / "net[red].npz", "--plot", tmp_path / "x.png")
    assert "net[red]" in done.stdout
    np.savez(tmp_path / "_a$b.npz", A=np.eye(2) / 2, C=np.ones(2))
    done = run("curve", tmp_path / "_a$b.npz", "--plot", tmp_path / "x.png")
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr


def test_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m memcurve curve --size 5 | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_help_and_version() -> None:
    assert "memcurve curve --plot memory.png" in run("curve", "--help").stdout
    assert run("--version").stdout.strip() == "0.1.0"


def test_help_imports_nothing_heavy() -> None:
    """Help stays fast because numpy, scipy, matplotlib and flint are not imported for it."""
    code = (
        "import sys, memcurve.cli\n"
        "heavy = {'numpy', 'scipy', 'matplotlib', 'flint', 'pandas'} & set(sys.modules)\n"
        "sys.exit(repr(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# Input, noise, forecasting, Fisher memory, profiles, several inputs and readouts

TWELVE = ("curve", "--size", 12, "--seed", 3)


@pytest.mark.parametrize(
    ("flags", "arguments"),
    [
        (["--input", "ar:0.9"], {"input": inputs.ARMA(ar=[0.9])}),
        (["--input", "white"], {}),
        (["--input", "arma:0.5/0.3"], {"input": inputs.ARMA([0.5], [0.3])}),
        (["--input", "acov:1,0.4"], {"input": inputs.Autocovariance([1.0, 0.4])}),
        (["--noise", "1e-3"], {"noise": 1e-3}),
        (["--noise", "state:0.01"], {"noise": StateNoise(0.01)}),
        (["--noise", "float32"], {"noise": Float32()}),
        (["--noise", "step:0.01"], {"noise": Quantised(0.01)}),
        (["--noise", "12bit:4"], {"noise": Quantised(bits=12, low=-4, high=4)}),
        (["--input", "ma:0.5", "--noise", "0.1"], {"input": "ma:0.5", "noise": 0.1}),
        (["--noise", "0.1", "--method", "certified"], {"noise": 0.1, "method": "certified"}),
    ],
)
def test_input_and_noise(
    flags: list, arguments: dict, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    code, out = inside(monkeypatch, capsys, *TWELVE, "--lags", 20, *flags, "--json")
    assert code == 0
    here = memory_curve(ensembles.normal(12, seed=3), 20, **arguments)
    found = MemoryCurve.from_json(out)
    assert np.array_equal(found.values, here.values)
    assert found.total == here.total
    assert found.notes == here.notes


def test_input_from_a_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    series = inputs.ARMA(ar=[0.7]).simulate(500, seed=1)
    np.save(tmp_path / "z.npy", series)
    asked = ["--input", f"series:{tmp_path / 'z.npy'}", "--lags", 10]
    _, out = inside(monkeypatch, capsys, *TWELVE, *asked, "--json")
    process = inputs.Autocovariance.from_series(series)
    here = memory_curve(ensembles.normal(12, seed=3), 10, input=process)
    assert np.array_equal(MemoryCurve.from_json(out).values, here.values)


def test_family_and_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    network = ensembles.normal(12, seed=3)
    code, out = inside(monkeypatch, capsys, *TWELVE, "--noise", 0.1, 0.001, "--json")
    assert code == 0
    here = memory_curve(network, noise=[0.1, 0.001])
    assert np.array_equal(NoiseProfile.from_json(out).values, here.values)
    code, out = inside(
        monkeypatch, capsys, *TWELVE, "--noise", "state:0.1", "state:0.001", "--json"
    )
    assert code == 0
    assert NoiseProfile.from_json(out).noise == "state noise"
    png, saved = tmp_path / "usable.png", tmp_path / "usable.json"
    code, out = inside(monkeypatch, capsys, *TWELVE, "--profile", "--plot", png, "--save", saved)
    assert code == 0
    assert png.read_bytes().startswith(b"\x89PNG")
    profile = noise_profile(network)
    again = NoiseProfile.load(saved)
    assert np.array_equal(again.totals, profile.totals)
    assert again.marks == profile.marks
    assert "float32" in out
    assert f"{profile.totals[0]:.6f}" in out
    code, out = inside(monkeypatch, capsys, *TWELVE, "--profile", "--noise", 0.5, "--json")
    assert NoiseProfile.from_json(out).levels.tolist() == [0.5]


def test_forecasting(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    asked = ["--input", "ar:0.9", "--forecast"]
    here = forecasting_curve(ensembles.normal(12, seed=3), "ar:0.9", 7)
    code, out = inside(monkeypatch, capsys, *TWELVE, *asked, "--lags", 7, "--json")
    assert code == 0
    found = MemoryCurve.from_json(out)
    assert np.array_equal(found.values, here.values)
    assert found.kind == "forecasting"
    code, out = inside(monkeypatch, capsys, *TWELVE, *asked)
    assert code == 0
    assert "1 … 10" in out
    assert "total capacity" in out
    assert "horizon" in out


def test_fisher(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    here = fisher_curve(ensembles.normal(12, seed=3), 0.1, 15)
    asked = ["--fisher", "--noise", 0.1, "--lags", 15]
    code, out = inside(monkeypatch, capsys, *TWELVE, *asked, "--json")
    assert code == 0
    found = MemoryCurve.from_json(out)
    assert np.array_equal(found.values, here.values)
    assert found.kind == "Fisher"
    code, out = inside(monkeypatch, capsys, *TWELVE, "--fisher")
    assert code == 0
    assert "total Fisher" in out
    assert "rank" not in out


def test_several_inputs_and_readout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    code, out = inside(monkeypatch, capsys, *TWELVE, "--inputs", 3, "--lags", 8, "--json")
    assert code == 0
    three = MemoryCurve.from_json(out)
    assert three.channels.shape == (8, 3)
    assert three.total == 12
    code, out = inside(monkeypatch, capsys, *TWELVE, "--inputs", 2, "--lags", 8)
    assert "input 0" in out
    assert "input 1" in out
    code, out = inside(monkeypatch, capsys, *TWELVE, "--readout", "0,3,5-9", "--lags", 8, "--json")
    assert code == 0
    network = ensembles.normal(12, seed=3).replace(readout=[0, 3, 5, 6, 7, 8, 9])
    assert np.array_equal(MemoryCurve.from_json(out).values, memory_curve(network, 8).values)
    assert MemoryCurve.from_json(out).total == 7


def test_inputs_of_one_seed_share_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """Another input joins those there are; an input of no use to the others takes memory away."""
    curves = []
    for count in (1, 2, 3):
        _, out = inside(monkeypatch, capsys, *TWELVE, "--inputs", count, "--lags", 5, "--json")
        curves.append(MemoryCurve.from_json(out))
    first = [curve.channels[:, 0] for curve in curves]
    assert np.all(first[1] <= first[0] + 1e-12)
    assert np.all(first[2] <= first[1] + 1e-12)


def test_file_with_several_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    rng = np.random.default_rng(1)
    A, C = ensembles.normal(8, seed=1).A, rng.standard_normal((8, 2))
    np.savez(tmp_path / "net.npz", A=A, C=C)
    _, out = inside(monkeypatch, capsys, "curve", tmp_path / "net.npz", "--lags", 9, "--json")
    here = memory_curve(LinearNetwork(A, C), 9)
    assert np.array_equal(MemoryCurve.from_json(out).channels, here.channels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "ar:1.1"], "`ar` must be stationary"),
        (["--input", "acov:1,0.9"], "taper='bartlett'"),
        (["--input", "brown"], "`input` must be one of the forms white"),
        (["--input", "series:none.npy"], "existing file"),
        (["--noise", "-1"], "must not be negative"),
        (["--noise", "loud"], "`noise` must be a standard deviation like 1e-3"),
        (["--noise", "0bit:4"], "`bits` must be a positive integer"),
        (["--noise", "xbit:4"], "`noise` must be a standard deviation like 1e-3"),
        (["--noise", "step:0"], "`step` must be a finite number above 0"),
        (["--noise", "0.1", "float32"], "or several standard deviations; got 0.1 float32"),
        (["--noise", "nan"], "`noise` must be finite"),
        (["--noise", "0.1", "--method", "osm"], "method 'osm' is for one white input"),
        (["--input", "ar:0.5", "--method", "osm"], "coloured input"),
        (["--inputs", "2", "--method", "neutral"], "2 inputs"),
        (["--readout", "1", "--method", "arnoldi"], "a readout of some nodes"),
        (["--forecast"], "--forecast needs an input that is not white"),
        (["--forecast", "--fisher"], "exclude each other"),
        (["--forecast", "--input", "ar:0.9", "--noise", "1", "2"], "single level"),
        (["--fisher", "--input", "ar:0.9"], "--fisher takes neither --method nor --input"),
        (["--fisher", "--method", "osm"], "--fisher takes neither --method nor --input"),
        (["--fisher", "--noise", "float32"], "--fisher takes one standard deviation"),
        (["--fisher", "--noise", "0"], "`noise` must be a finite number above 0"),
        (["--fisher", "--readout", "1"], "leave out --readout"),
        (["--profile", "--lags", "5"], "leave out --lags"),
        (["--profile", "--method", "osm"], "`method` must be one of exact, certified; got 'osm'"),
        (["--inputs", "0"], "--inputs must be at least 1"),
        (["--readout", "1-x"], "--readout must list nodes and ranges"),
        (["--readout", "12"], "`readout` must hold indices from 0 to 11, got 12"),
        (["--readout", "1,1"], "`readout` must name each node once"),
        (["--readout", "5-3"], "`readout` must list at least one node"),
    ],
)
def test_bad_problems_end_in_one_line(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    code, out = inside(monkeypatch, capsys, *TWELVE, *arguments)
    assert isinstance(code, str)  # printed by the interpreter, which ends with 1
    assert code.startswith("memcurve: error: ")
    assert message in code
    assert "\n" not in code
    assert out == ""


def test_a_bad_problem_as_users_see_it() -> None:
    done = run("curve", "--size", 5, "--input", "ar:1.1")
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "`ar` must be stationary" in done.stderr
