"""Exit codes of the command, and errors in one line: 1 for what failed, 2 for how it was asked."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from command import POSIX, failed
from memcurve import UncertainResultError, ensembles, save_network
from refusals import refuses

TWELVE = ("curve", "--size", 12, "--seed", 3)

USAGE = [
    (["nonsense"], 'Unknown command "nonsense"'),
    (["curve", "--frobnicate"], "--frobnicate"),
    (["curve", "--size", "many"], "it must be a whole number, e.g. 100; got 'many'"),
    (["curve", "one.npz", "two.npz"], "two.npz"),
    (["data"], "STATES is missing"),
    (["curve", "--matrix", "W"], "--matrix is about a file"),
    (["curve", "x.csv", "--save", "x.csv"], "is the network itself"),
    ([*TWELVE, "--input", "brown"], "--input must be one of the forms white"),
    ([*TWELVE, "--noise", "loud"], "--noise must be a standard deviation like 1e-3"),
    ([*TWELVE, "--profile", "--noise", "step:0.1"], "--profile takes standard deviations"),
    ([*TWELVE, "--readout", "1-x"], "--readout must list nodes and ranges"),
    (["curve", "--plot", "x.docx"], "It must end in one of .png"),
    (["curve", "--raduis", "0.9"], "Did you mean --spectral-radius?"),
    (["curve", "orthogonal"], "the ensemble is --ensemble orthogonal"),
    (["audit", "W.npy", "Win.npy"], "--mask FILE"),
]

#: Bad values, command by command: numbers out of range, names that are none, options at odds.
VALUES = [
    (["curve", "--size", "0"], "--size must be a positive integer, got 0"),
    (["curve", "--ensemble", "cyclic", "--density", "0.1"], "does not take --density"),
    ([*TWELVE, "--noise", "0.1", "--method", "osm"], "--method 'osm' does not support noise"),
    ([*TWELVE, "--forecast"], "--forecast needs an input"),
    ([*TWELVE, "--forecast", "--input", "ar:0.9", "--noise", "1", "2"], "one level of --noise"),
    ([*TWELVE, "--fisher", "--tolerance", "1"], "--fisher takes no --method"),
    ([*TWELVE, "--inputs", "0"], "--inputs must be a positive integer, got 0"),
    ([*TWELVE, "--readout", "5-99999999999"], "--readout must hold indices from 0 to 11, got 12"),
    ([*TWELVE, "--readout", "12"], "--readout must hold indices from 0 to 11, got 12"),
    ([*TWELVE, "--mpi", "--noise", "1", "--method", "certified"], "--mpi is for usable memory"),
    (["audit", "--size", "5", "--claimed", "x"], "--claimed must be a total memory"),
    (["audit", "--size", "5", "--fail-on-mismatch"], "needs --claimed"),
    (["audit", "net.npz", "--channel", "1"], "--layer"),
    (["audit", "net.npz", "--layer", "rnn", "--leak", "0.3"], "--leak does not go with --layer"),
    (["compare", "--size", "5", "--methods", "osm", "--noise", "1"], "--methods 'osm'"),
    (["connectome", "net.npz", "--null", "nope"], "nope"),
    (["connectome", "net.npz", "--draws", "1" + 12 * "0"], "--draws must be at most 1,000,000"),
    (["data", "rec.npz", "--rows", "a:b"], "--rows must be FROM:TO"),
    (["data", "rec.npz", "--shift", "1000"], "--shift must be a whole number of steps"),
    (["measure", "--command", "cat", "--leak", "0.3"], "--leak does not go with --command"),
    (["measure", "a.py:b", "--input-scale", "2"], "--input-scale and --model"),
    (["audit", "--size", "5", "--html", "no/such/folder/a.html"], "cannot be written"),
    (["curve", "--size", "5", "--plot", "no/such/folder/a.png"], "cannot be written"),
    (["claims", "nope"], "there is no claim 'nope'"),
    (["explore", "--port", "0"], "--port must be from 1 to 65535"),
    (["explore", "--host", ""], "--host must be an address"),
    (["paper", "--figure", "9"], "--figure must be among 1, 2, 3, 4, 5, 6, got 9"),
    (["sweep", "study.toml", "--workers", "0"], "--workers must be at least 1"),
]

#: What is refused for what it would take, or for what files hold; a missing file is one.
FAILURES = [
    (["curve", "--size", "1" + 20 * "0"], "is too large"),
    (["curve", "--spectral-radius", "1.5"], "the network is unstable"),
    (["audit", "--size", "100000"], "GB"),
    (["curve", "net.npz", "--matrix", "B"], "has no B and C"),
    ([*TWELVE, "--input", "series:none.npy"], "existing file"),
    (["design", "study.toml", "--size", "3"], "study.toml: cannot be read"),
    (["data", "rec.npz", "--input", "z.npy"], "must be of the same times"),
    (["sweep", "study.toml", "--status"], "there is no such store"),
    (["measure", "model.py:fails"], "model.py, line 2: KeyError: 3"),
    (["capacities", "wrong.py:x"], "wrong.py, line 1: SyntaxError"),
    (["explore", os.devnull], f"{os.devnull}: is a device"),
]


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [(*case, 2) for case in USAGE + VALUES] + [(*case, 1) for case in FAILURES],
)
def test_errors_end_in_one_line(
    command, arguments: list, message: str, code: int, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if {"net.npz", "rec.npz", "study.toml", "model.py:fails", "wrong.py:x"} & {*arguments}:
        _write_files(tmp_path)
    text = failed(command(*arguments), code)
    assert message in text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(("asked", "code"), [("curve --size 0", 2), ("curve missing.npz", 1)])
def test_tracebacks_are_for_those_who_ask(command, asked: str, code: int) -> None:
    verbose = command(*asked.split(), "--verbose")
    assert (verbose.code, verbose.out) == (code, "")
    assert "Traceback" in verbose.err


def _write_files(folder: Path) -> None:
    network, z = ensembles.normal(3, seed=1), np.random.default_rng(1).normal(size=300)
    save_network(network, folder / "net.npz")
    np.savez(folder / "rec.npz", states=network.simulate(z), z=z)
    np.save(folder / "z.npy", z[:200])
    (folder / "model.py").write_text("def fails(u):\n    raise KeyError(3)\n")
    (folder / "wrong.py").write_text("def (")
    (folder / "study.toml").write_text('keep = ["total"]\n[grid]\nensemble = "cyclic"\nsize = 3\n')


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "out of memory; ask for fewer nodes or lags."),
        (MemoryError("Unable to allocate 8 TiB"), "Unable to allocate 8 TiB"),
        (UncertainResultError("too uncertain"), "too uncertain"),
        (ModuleNotFoundError("No module named 'h5py'"), "h5py"),
        (PermissionError(13, "Permission denied", "x.npz"), "x.npz: Permission denied"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "invalid start byte"),
        (ValueError(), "ValueError"),
        (KeyError("a mistake"), "a mistake"),
    ],
)
def test_whatever_is_the_users_doing(command, error: Exception, message: str, monkeypatch) -> None:
    """In one line; mistakes of the package keep their traceback."""

    def fails(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("memcurve.memory.memory_curve", fails)
    if isinstance(error, KeyError):
        refuses(KeyError, message, command, "curve", "--size", 5)
    else:
        assert message in failed(command("curve", "--size", 5))


@POSIX
def test_ctrl_c() -> None:
    code = """
import sys, time, memcurve.studies.paper
from memcurve.views.cli import main

def reproduce(*arguments, **options):
    print("at work", flush=True)
    for _ in range(600):  # a signal on the way into a sleep is seen after it
        time.sleep(0.1)

memcurve.studies.paper.reproduce = reproduce
sys.argv[1:] = ["paper"]
main()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == b"memcurve: stopped; no file is half-written.\n"
