"""Edge lists and ``memcurve connectome``: nodes by name, file and class; files, runs that go on."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memcurve
from command import failed, succeeded
from memcurve import MemoryCurve, NullComparison, ensembles

SIZE = 12


@pytest.fixture
def brain(tmp_path, monkeypatch) -> Any:
    """A small brain: edges with names, a table of its cells, and the network that is meant."""
    monkeypatch.chdir(tmp_path)
    network = ensembles.sparse_normal(SIZE, density=0.3, spectral_radius=0.8, seed=3)
    names = [f"n{k:02}" for k in range(SIZE)]
    targets, sources = np.nonzero(network.A)
    rows = zip(sources, targets, strict=True)
    lines = [f"{names[s]},{names[t]},{float(network.A[t, s])!r}" for s, t in rows]
    Path("edges.csv").write_text("\n".join(["pre,post,weight", *lines, ""]))
    cells = [f"{name},{'sens' if k < 4 else 'motor'},{k},{k**2}" for k, name in enumerate(names)]
    Path("cells.csv").write_text("\n".join(["name,class,x,y", *cells, "gone,sens,0,0", ""]))
    Path("sensory.txt").write_text("n00\nn01\nn02\nn03\n")
    np.save("matrix.npy", network.A.T)
    return network.replace(C=(np.arange(SIZE) < 4).astype(float), labels=names)


ASKED = ["--draws", 3, "--noise", 1e-3, "--serial", "--null", "shuffle"]


def result(done: Any) -> NullComparison:
    assert done.code == 0, done.err
    return NullComparison.from_json(done.out)


def expected(network: Any) -> list[float]:
    curve = memcurve.memory_curve(network, noise=1e-3)
    return [memcurve.rank(network), curve.total, float(curve.horizon() or 0)]


@pytest.mark.parametrize(
    ("inputs", "readout"),
    [
        ("sensory.txt", "motor.txt"),
        ("n00,n01,n02,n03", "n04,n05,n06,n07,n08,n09,n10,n11"),
        ("class=sens", "class == 'motor'"),
    ],
)
def test_inputs_and_readouts(command, brain: Any, inputs: str, readout: str) -> None:
    Path("motor.txt").write_text("\n".join(brain.labels[4:]))
    asked = ["connectome", "edges.csv", "--nodes", "cells.csv", "--inputs", inputs, *ASKED]
    found = result(command(*asked, "--json"))
    np.testing.assert_allclose(found.observed, expected(brain), atol=1e-9)
    assert any("driven: 4 nodes" in note for note in found.notes)
    found = result(command(*asked, "--readout", readout, "--json"))
    read = brain.replace(readout=range(4, SIZE))
    np.testing.assert_allclose(found.observed, expected(read), atol=1e-9)


def test_matrices_of_sources_by_targets(command, brain: Any) -> None:
    asked = ["matrix.npy", "--transpose", "--inputs", "0,1,2,3"]
    found = result(command("connectome", *asked, *ASKED, "--json"))
    np.testing.assert_allclose(found.observed, expected(brain), atol=1e-9)
    drawn = result(command("connectome", "matrix.npy", "--transpose", *ASKED, "--json"))
    mask = memcurve.masks.normal(SIZE, seed=1)
    np.testing.assert_allclose(drawn.observed, expected(brain.replace(C=mask)), atol=1e-9)
    assert any("all nodes are driven, with normal weights" in note for note in drawn.notes)
    assert any("transposed: rows of the matrix are sources" in note for note in drawn.notes)
    turned = result(command("connectome", "matrix.npy", *ASKED, "--json"))
    assert any("--transpose" in note for note in turned.notes)


def test_blocks_and_positions(command, brain: Any) -> None:
    asked = ["--inputs", "sensory.txt", "--nodes", "cells.csv", "--draws", 2, "--serial"]
    models = ["--null", "blocks,spatial", "--blocks", "class", "--positions", "x,y"]
    found = result(command("connectome", "edges.csv", *asked, *models, "--json"))
    assert [draws.null for draws in found.nulls] == ["blocks", "spatial"]
    usual = result(command("connectome", "edges.csv", *asked, "--blocks", "class", "--json"))
    assert [draws.null for draws in usual.nulls] == ["blocks", "shuffle"]
    for alone in (["--null", "blocks"], ["--null", "rewire", "--blocks", "class"]):
        text = failed(command("connectome", "edges.csv", *asked, *alone), code=2)
        assert "--null blocks and --blocks" in text


def test_printed_and_written(command, brain: Any) -> None:
    asked = ["connectome", "edges.csv", "--inputs", "sensory.txt", *ASKED]
    files = ["--plot", "nulls.png", "--html", "nulls.html", "--save", "nulls.csv"]
    done = succeeded(command(*asked, *files))
    assert "usable memory (σ = 0.001)" in done.out
    assert "too few" in done.out
    assert all(Path(name).stat().st_size for name in files[1::2])
    assert Path("edges.nulls.sqlite").is_file()
    again = json.loads(command(*asked, "--json").out)
    assert again["sentence"] in done.out
    assert "were done before" in command(*asked).err


def test_errors(command, brain: Any) -> None:
    text = failed(command("connectome", "edges.csv", "--inputs", "class=sens"), code=2)
    assert "give the table of nodes by --nodes" in text
    asked = ["connectome", "edges.csv", "--nodes", "cells.csv", "--inputs"]
    assert "no node has class='sense'" in failed(command(*asked, "class=sense"))
    assert "no column 'kind'" in failed(command(*asked, "kind=sens"))


def test_numbers_are_names(command, tmp_path) -> None:
    (tmp_path / "ring.txt").write_text("10 11\n11 12\n12 13\n13 10\n")
    asked = ["--mask", 12, "--spectral-radius", 0.9, "--json"]
    done = command("curve", tmp_path / "ring.txt", *asked, "--readout", "12-13")
    curve = MemoryCurve.from_json(done.out)
    assert curve.total == pytest.approx(2, abs=1e-12)
    assert curve.values[0] == pytest.approx(1 - 0.9**8, abs=1e-12)  # and every fourth lag after it
    text = failed(command("curve", tmp_path / "ring.txt", *asked, "--readout", "0"), 2)
    assert "--readout must name nodes by their labels, '10' … '13'; got '0'" in text


@pytest.mark.parametrize("name", ["curve", "audit", "connectome"])
def test_a_connectome_as_published(tmp_path, command, name: str, monkeypatch) -> None:
    """Signs, the least weight, a table of nodes: as in Python, in all commands that read edges."""
    monkeypatch.chdir(tmp_path)
    edges, cells = tmp_path / "connections.csv", tmp_path / "cells.csv"
    rows = ["1,2,7,ACH", "2,3,6,GABA", "3,1,9,ACH", "1,3,2,ACH", "3,4,9,ACH", "4,1,8,ACH"]
    edges.write_text("\n".join(["pre_root_id,post_root_id,syn_count,nt_type", *rows]))
    cells.write_text("root_id,class\n1,sensory\n2,inter\n3,motor\n4,glia\n")
    which = ["--nodes", cells, "--where", "class != 'glia'", "--min-weight", 5]
    which += ["--signs", "nt_type", "--spectral-radius", 0.9, "--readout", "class == 'motor'"]
    inputs = "--inputs" if name == "connectome" else "--mask"
    more = {"curve": [], "audit": ["--full"], "connectome": ["--draws", 2, "--serial"]}[name]
    done = succeeded(command(name, edges, inputs, "class=sensory", *which, *more))
    printed = " ".join(done.out.split())
    assert "3 of the 4 nodes and 4 of the 6 edges" in printed
    assert "negative for GABA (1 edge)" in printed
    assert "1 pair of nodes of a weight below 5" in printed
    refusal = command(name, edges, inputs, "1", "--signs", "transmitter")
    assert refusal.code != 0
    assert "transmitter" in refusal.err
