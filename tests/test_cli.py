"""The command, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from memcurve import MemoryCurve, cli, ensembles, masks, memory_curve
from memcurve.methods import METHODS


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memcurve", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


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
