"""Help: instant, complete, and its examples run; completion by the tab key; the man page."""

import gzip
import importlib
import inspect
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

import memcurve
import memcurve.studies.connectome
from command import Command, ended, run, succeeded
from memcurve import __version__, ensembles
from memcurve.studies.sweeping import shipped
from memcurve.views import cli
from memcurve.views.cli.process import EXIT_CODES
from memcurve.views.cli.texts import HELP

#: What each command does, by its name; these need no model, page or hour.
COMMANDS = {
    name: getattr(importlib.import_module(f"memcurve.views.cli.{name}"), name)
    for name in cli.COMMANDS
    if name not in ("claims", "explore", "layers", "measure")
}


def examples(function: Any) -> list[list[str]]:
    """The lines of a docstring that users may copy."""
    text = inspect.getdoc(function) or ""
    return [shlex.split(line)[1:] for line in re.findall(r"^ +(memcurve .*)$", text, re.MULTILINE)]


EXAMPLES = [words for function in COMMANDS.values() for words in examples(function)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The files that examples speak of, all of them small."""
    place = tmp_path_factory.mktemp("examples")
    network = ensembles.normal(6, seed=1)
    savemat(place / "network.mat", {"A": network.A, "C": network.C})
    savemat(place / "reservoir.mat", {"W": network.A, "Win": network.C})
    np.savez(place / "network.npz", A=network.A, C=network.C)
    np.save(place / "weights.npy", network.A)
    np.savetxt(place / "wanted.txt", np.ones(5))
    memcurve.bilinear(network.A / 2, network.A / 4, network.C).save(place / "bilinear.npz")
    made = "from memcurve import quantum\nreservoir = quantum.ising_reservoir(2, seed=1)\n"
    (place / "mymodels.py").write_text(made)
    np.savetxt(place / "edges.csv.gz", [[0, 1, 2], [1, 2, 3], [2, 0, 1], [0, 0, 1]], "%d", ",")
    for name in ("nodes.txt", "sensory.txt"):
        (place / name).write_text("0\n2\n")
    (place / "edges.csv").write_bytes(gzip.decompress((place / "edges.csv.gz").read_bytes()))
    (place / "cells.csv").write_text("id,class\n0,sens\n1,motor\n2,sens\n")
    from pyarrow import feather, table

    brain = {"body_pre": [0, 1, 2], "body_post": [1, 2, 0], "weight": [5, 6, 7], "nt": ["GABA"] * 3}
    feather.write_feather(table(brain), place / "brain.feather")
    from safetensors.numpy import save_file

    save_file({"rnn.A": network.A, "rnn.B": network.C}, place / "layer.safetensors")
    z = np.random.default_rng(3).standard_normal(1600)
    X = ensembles.orthogonal(4, spectral_radius=0.8, seed=1).simulate(z)[100:]
    z = z[100:]
    np.save(place / "states.npy", X)
    np.save(place / "input.npy", z)
    np.savez(place / "recording.npz", states=X, z=z)
    savemat(place / "recording.mat", {"firing_rates": X, "stimulus": z})
    columns = np.column_stack([X[:, :3], z])
    np.savetxt(place / "recording.csv", columns, delimiter=",", header="x0,x1,x2,u", comments="")
    packed = gzip.compress((place / "recording.csv").read_bytes())
    (place / "recording.csv.gz").write_bytes(packed)
    import h5py

    with h5py.File(place / "recording.h5", "w") as file:
        file["states"], file["z"] = X, z
    study = '[grid]\nensemble = "normal"\nsize = [4, 6]\nseed = [1, 2]\n'
    (place / "study.toml").write_text(study, encoding="utf-8")
    return place


def test_there_are_examples() -> None:
    assert all(len(examples(function)) >= 3 for function in COMMANDS.values())


@pytest.mark.parametrize("words", EXAMPLES, ids=" ".join)
def test_examples_run(command, words: list[str], folder: Path, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("SHELL", "/bin/bash")
    if words[0] == "paper":  # hours of work, tested elsewhere
        page = folder / "index.html"
        monkeypatch.setattr("memcurve.studies.paper.reproduce", lambda *a, **k: (page, []))
    if words[0] == "connectome":  # few draws, here
        full = memcurve.studies.connectome.compare_with_nulls
        few = {"draws": 2, "executor": "serial", "store": None}
        monkeypatch.setattr(
            "memcurve.studies.connectome.compare_with_nulls", lambda *a, **k: full(*a, **(k | few))
        )
    serial = ["--serial"] * (words[:2] == ["sweep", "sparsity"])  # another starts processes
    done = command(*words, *serial)
    assert done.code == (3 if "--fail-on-mismatch" in words else 0), done.err
    assert done.out
    for option in ("--plot", "--save", "--html", "--markdown"):
        if option in words:
            assert (folder / words[words.index(option) + 1]).stat().st_size > 100


@pytest.mark.parametrize("name", ["", *cli.COMMANDS])
def test_help_fits_a_terminal(command, monkeypatch, name: str) -> None:
    """Examples and exit codes fit into 80 columns, and sentences fill them."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = command(*[name] * bool(name), "--help").out
    lines = [line.rstrip() for line in shown.splitlines()]
    assert lines[0].startswith("Usage: memcurve")
    assert max(map(len, lines)) <= 80
    module = importlib.import_module(f"memcurve.views.cli.{name}") if name else None
    told = EXIT_CODES if module is None else inspect.getdoc(getattr(module, name)) or ""
    assert {*re.findall("^  (?:memcurve|[0-9]).*$", told, re.MULTILINE)} <= {*lines}
    if name == "data":  # broken after "driven", not after "that", where the docstring is
        assert "driven by the input of that step. .npy" in " ".join(shown.replace("│", " ").split())


def test_version_and_overview() -> None:
    done = run("--version")
    assert (done.code, done.out.strip()) == (0, __version__)
    assert "memcurve COMMAND" in run().out


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_option_is_described(name: str) -> None:
    """By `help.toml`, which describes nothing else."""
    own, *shared = (
        set(re.findall(r"^(\w+)$", text.partition("---\n")[2], re.MULTILINE))
        for text in (HELP[name], *(HELP[kind] for kind in HELP if not kind.islower()))
    )
    options = cli.app[name].assemble_argument_collection()
    named = {one.field_info.name for one in options if not one.children and not one.parameter.help}
    assert named <= own.union(*shared)
    assert own <= named


BASH = pytest.mark.skipif(
    os.name != "posix" or shutil.which("bash") is None, reason="bash is not installed"
)


@pytest.fixture
def at_home(command, monkeypatch, tmp_path) -> Command:
    """The command, at home in an empty folder."""
    for home in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(home, str(tmp_path))
    for name in ("ZSH", "ZSH_CUSTOM", "BASH_VERSION", "ZSH_VERSION", "FISH_VERSION"):
        monkeypatch.delenv(name, raising=False)
    return command


def completed(script: Path, *words: str) -> list[str]:
    """What bash offers for the last of the words."""
    listed = " ".join(f"'{word}'" for word in words)
    code = (
        f"source {script}\nCOMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}\n"
        f'COMP_LINE="${{COMP_WORDS[*]}}"; COMP_POINT=${{#COMP_LINE}}\n'
        'f=$(complete -p memcurve | sed "s/.*-F \\([^ ]*\\).*/\\1/")\n'
        f"$f memcurve '{words[-1]}' '{words[-2]}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = ended(["bash", "--norc", "-c", code])
    assert done.err == ""
    return [word.strip() for word in done.out.split("\n") if word.strip()]


@BASH
def test_bash(at_home: Command, tmp_path) -> None:
    done = succeeded(at_home("--install-completion", "--shell", "bash"))
    script = tmp_path / ".local/share/bash-completion/completions/memcurve"
    assert str(script) in done.out
    assert str(script) in (tmp_path / ".bashrc").read_text()
    assert ended(["bash", "-n", str(script)]).code == 0
    assert {"curve", "compare", "data", "paper"} <= set(completed(script, "memcurve", ""))
    assert completed(script, "memcurve", "cur") == ["curve"]
    assert "--spectral-radius" in completed(script, "memcurve", "curve", "--sp")
    assert "orthogonal" in completed(script, "memcurve", "curve", "--ensemble", "orth")
    assert completed(script, "memcurve", "sweep", "") == shipped()


@pytest.mark.parametrize("asked", ["app.generate_completion(shell='bash')", "main()"])
def test_completion_and_help_import_nothing_heavy(asked: str) -> None:
    """They stay fast without numpy and the like; the overview imports no command either."""
    code = (
        "import sys\n"
        "from memcurve.views.cli import app, main\n"
        "sys.argv[1:] = ['--help']\n"
        f"try: {asked}\n"
        "finally: print(*sys.modules)"
    )
    done = succeeded(ended([sys.executable, "-c", code]))
    modules = {*done.out.splitlines()[-1].split()}
    assert "memcurve.views.cli" in modules
    assert not modules & {"numpy", "scipy", "matplotlib", "flint", "pandas"}
    commands = {f"memcurve.views.cli.{name}" for name in cli.COMMANDS}
    assert asked != "main()" or not modules & commands


def test_release_files(tmp_path) -> None:
    """The man page has every command with its examples as they are typed."""
    script = Path(__file__).parents[2] / "docs" / "man_page.py"
    succeeded(ended([sys.executable, str(script), str(tmp_path)]))
    page = (tmp_path / "memcurve.1").read_text("utf-8")
    assert all(f".SH {name}\n" in page for name in cli.COMMANDS)
    assert "\nmemcurve audit \\-\\-html audit.html\n" in page
    for name in ("memcurve.bash", "memcurve.fish", "_memcurve"):
        assert "connectome" in (tmp_path / name).read_text("utf-8")
