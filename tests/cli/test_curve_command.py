"""``memcurve curve``: every option is an argument of the library."""

import json
import re
from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest

from command import failed, succeeded
from memcurve import (
    Float32,
    LinearNetwork,
    MemoryCurve,
    NoiseProfile,
    Quantised,
    StateNoise,
    adapters,
    ensembles,
    fisher_curve,
    forecasting_curve,
    inputs,
    masks,
    memory_curve,
    noise_profile,
)
from memcurve.memory.methods import METHODS
from memcurve.views.cli import options


def test_choices_are_the_tables() -> None:
    assert list(get_args(options.Ensemble)) == list(ensembles.ENSEMBLES)
    assert list(get_args(options.Method)) == list(METHODS)
    for mask in masks.MASKS:
        assert mask in (options.NetworkOptions.__doc__ or "")


def test_a_mask_of_the_file_that_is_left_out_is_told(tmp_path, command) -> None:
    """A 4 × 7 array is [A | C]; with --mask its C is not used."""
    np.save(tmp_path / "wide.npy", np.random.default_rng(1).normal(size=(4, 7)) / 10)
    for mask, is_told in ((["--mask", "ones"], True), ([], False)):
        done = command("curve", tmp_path / "wide.npy", *mask, "--lags", 2)
        assert ("is left out for the one that is given" in done.out) is is_told


def test_several_levels_of_noise_give_a_curve_each(tmp_path, command) -> None:
    family = noise_profile(ensembles.normal(6, spectral_radius=0.9, seed=1), [1e-1, 1e-3])
    asked = ("curve", "--size", 6, "--noise", "1e-1", "1e-3", "--plot", tmp_path / "x.svg")
    lines = command(*asked).out.splitlines()
    rows = {name: values for name, *values in (re.split("  +", line.strip()) for line in lines[2:])}
    assert lines[1].split() == ["noise", "0.1", "noise", "0.001"]
    for name, values in (("total", family.totals), ("lag 5", family.values[:, 5])):
        assert [float(value) for value in rows[name]] == pytest.approx(values, abs=1e-6)
    assert (tmp_path / "x.svg").read_text().count("usable memory") >= 2  # a line each


def test_a_matrix_alone_needs_a_mask(tmp_path, command) -> None:
    np.save(tmp_path / "A.npy", ensembles.normal(8, seed=1).A)
    for mask in ("ones", "normal"):
        asked = ["--mask", mask, "--method", "certified", "--json"]
        curve = MemoryCurve.from_json(command("curve", tmp_path / "A.npy", *asked).out)
        assert (curve.total, curve.method, curve.network) == (8, "certified", "A")
    assert "no input mask C" in failed(command("curve", tmp_path / "A.npy"))


def test_names_are_shown_as_they_are(command, tmp_path) -> None:
    """Neither markup nor emoji nor escape sequences are read from them, also in pictures."""
    for name in ("net[red]", "_a$b", ":wave:", "\x1b[31mred"):
        np.savez(tmp_path / f"{name}.npz", A=np.eye(2) / 2, C=np.ones(2))
        done = succeeded(command("curve", tmp_path / f"{name}.npz", "--plot", tmp_path / "x.png"))
        shown = name.replace("\x1b", "\ufffd")
        assert f"network  {shown}\n" in done.out
        assert "Warning" not in done.err


TWELVE = ("curve", "--size", 12, "--seed", 3)
NETWORK = ensembles.normal(12, seed=3)
SERIES = inputs.ARMA(ar=[0.7]).simulate(500, seed=1)
TWO_INPUTS = LinearNetwork(NETWORK.A, np.random.default_rng(1).standard_normal((12, 2)))

#: What the command is asked, and the same question to the library.
QUESTIONS: dict[str, Callable[[], MemoryCurve | NoiseProfile]] = {
    "--input ar:0.9": lambda: memory_curve(NETWORK, 20, input=inputs.ARMA(ar=[0.9])),
    "--input series:z.npy": lambda: memory_curve(
        NETWORK, 20, input=inputs.Autocovariance.from_series(SERIES)
    ),
    "--noise state:0.01": lambda: memory_curve(NETWORK, 20, noise=StateNoise(0.01)),
    "--noise float32": lambda: memory_curve(NETWORK, 20, noise=Float32()),
    "--noise 12bit:4": lambda: memory_curve(NETWORK, 20, noise=Quantised(bits=12, low=-4, high=4)),
    "--input ma:0.5 --noise 0.1": lambda: memory_curve(NETWORK, 20, input="ma:0.5", noise=0.1),
    "--noise 0.1 --method certified": lambda: memory_curve(
        NETWORK, 20, noise=0.1, method="certified"
    ),
    "--readout 0,3,5-9": lambda: memory_curve(NETWORK.replace(readout=[0, 3, 5, 6, 7, 8, 9]), 20),
    "--forecast --input ar:0.9": lambda: forecasting_curve(NETWORK, "ar:0.9", 20),
    "--fisher --noise 0.1": lambda: fisher_curve(NETWORK, 0.1, 20),
    "--noise 0.1 0.001": lambda: noise_profile(NETWORK, [0.1, 0.001], lags=20),
    "--noise state:0.1 state:0.001": lambda: noise_profile(
        NETWORK, [0.1, 0.001], lags=20, state_noise=True
    ),
    "--method osm_plus": lambda: memory_curve(NETWORK, 20, method="osm_plus", seed=3),
    "--tolerance 1e-17": lambda: memory_curve(NETWORK, 20, tolerance=1e-17),
    "two.npz": lambda: memory_curve(TWO_INPUTS, 20),
}


@pytest.mark.parametrize("asked", QUESTIONS)
def test_options_are_arguments(asked: str, command, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("z.npy", SERIES)
    np.savez("two.npz", A=TWO_INPUTS.A, C=TWO_INPUTS.C)
    words = ("curve",) if asked.endswith("npz") else TWELVE
    done = succeeded(command(*words, *asked.split(), "--lags", 20, "--json"))
    here = QUESTIONS[asked]()
    found = type(here).from_json(done.out)
    assert np.array_equal(found.values, here.values)
    assert found.notes == here.notes
    if isinstance(here, MemoryCurve):
        assert (found.total, found.kind) == (here.total, here.kind)


def test_how_the_network_of_a_file_is_taken(command, tmp_path) -> None:
    """Leak, transposition and columns of the mask: the same curve as of the network by hand."""
    rng, file = np.random.default_rng(4), tmp_path / "esn.npz"
    W, Win = 0.5 * ensembles.normal(9, seed=2).A, rng.normal(size=(9, 3))
    np.savez(file, W=W, Win=Win)
    leaky = adapters.leaky
    expected = {
        "--leak 0.3": leaky(W, Win, 0.3),
        "--transpose": LinearNetwork(W.T, Win),
        "--input-column 1": LinearNetwork(W, Win[:, 1]),
        "--bias-column 0": LinearNetwork(W, Win[:, 1:]),
        "--input-column 2 --bias-column 0 --leak 0.5 --transpose": leaky(W.T, Win[:, 2], 0.5),
    }
    for given, network in expected.items():
        done = succeeded(command("curve", file, *given.split(), "--json"))
        found, curve = MemoryCurve.from_json(done.out), memory_curve(network)
        assert np.allclose(found.values, curve.values, rtol=0, atol=1e-12)
        audited = json.loads(command("audit", file, *given.split(), "--json").out)
        assert np.allclose(audited["curve"]["values"][:9], curve.values[:9], rtol=0, atol=1e-12)
    done = command("curve", file, "--leak", 0.3, "--spectral-radius", 0.8, "--json")
    scaled = leaky(0.8 / LinearNetwork(W, Win).spectral_radius * W, Win, 0.3)
    values = MemoryCurve.from_json(done.out).values
    assert np.allclose(values, memory_curve(scaled, len(values)).values, rtol=0, atol=1e-9)
    for given in ("--input-column 3", "--input-column 1 --bias-column 1", "--leak 2"):
        text = failed(command("curve", file, *given.split()), 2)
        assert given.split()[-2] in text
    assert "--transpose is about a file" in failed(command("curve", "--transpose"), 2)
    done = command("curve", "--ensemble", "cyclic", "--size", 7, "--leak", 0.4, "--json")
    ring = ensembles.cyclic(7)
    exact = memory_curve(leaky(ring.A, ring.C, 0.4))
    assert np.allclose(MemoryCurve.from_json(done.out).values, exact.values, rtol=0, atol=1e-12)
