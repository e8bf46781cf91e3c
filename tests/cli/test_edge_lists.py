"""Edge lists on the command line: by name from the file to the audit."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from command import Command, failed
from memcurve import LinearNetwork, MemoryCurve, memory_curve

#: A chain a → b → c that closes a loop, and two nodes, d and e, that b drives alike.
EDGES = "pre,post,synapses\na,b,4\nb,c,2\nc,a,1\nb,d,3\nb,e,3\n"


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "brain.csv.gz"
    path.write_bytes(gzip.compress(EDGES.encode()))
    return path


def expected() -> LinearNetwork:
    """A loop of weight 8, scaled to a spectral radius of 0.9 by hand."""
    A = [[0, 0, 1, 0, 0], [4, 0, 0, 0, 0], [0, 2, 0, 0, 0], [0, 3, 0, 0, 0], [0, 3, 0, 0, 0]]
    return LinearNetwork([[0.45 * weight for weight in row] for row in A], [1, 0, 0, 0, 0])


def test_curve(command: Command, edges: Path, tmp_path: Path) -> None:
    (tmp_path / "nodes.txt").write_text("a\nnobody\n")
    for mask in ("a", tmp_path / "nodes.txt"):
        asked = ["--mask", mask, "--spectral-radius", 0.9]
        done = command("curve", edges, *asked, "--noise", 1e-3, "--json")
        found = MemoryCurve.from_json(done.out)
        assert found.total == pytest.approx(memory_curve(expected(), noise=1e-3).total, abs=1e-12)
        assert found.network == "brain"
    done = command("curve", edges, *asked)
    assert done.code == 0
    assert "5 edges between 5 nodes" in done.out
    assert "left out 1 of the 2 nodes in nodes.txt" in done.out
    done = command("curve", edges, *asked, "--readout", "d,c", "--json")
    truth = memory_curve(expected().replace(readout=[3, 2]))
    assert MemoryCurve.from_json(done.out).total == pytest.approx(truth.total, abs=1e-12)


def test_numbers_are_names(command: Command, tmp_path: Path) -> None:
    (tmp_path / "ring.txt").write_text("10 11\n11 12\n12 13\n13 10\n")
    asked = ["--mask", 12, "--spectral-radius", 0.9, "--json"]
    done = command("curve", tmp_path / "ring.txt", *asked, "--readout", "12-13")
    curve = MemoryCurve.from_json(done.out)
    assert curve.total == pytest.approx(2, abs=1e-12)
    assert curve.values[0] == pytest.approx(1 - 0.9**8, abs=1e-12)  # and every fourth lag after it
    text = failed(command("curve", tmp_path / "ring.txt", *asked, "--readout", "0"), 2)
    assert "--readout must name nodes by their labels, '10' … '13'; got '0'" in text


@pytest.mark.parametrize("name", ["curve", "audit", "connectome"])
def test_a_connectome_as_published(
    tmp_path: Path, command: Command, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    done = command(name, edges, inputs, "class=sensory", *which, *more)
    assert done.code == 0, done.err
    printed = " ".join(done.out.split())
    assert "3 of the 4 nodes and 4 of the 6 edges" in printed
    assert "negative for GABA (1 edge)" in printed
    assert "1 pair of nodes of a weight below 5" in printed
    refusal = command(name, edges, inputs, "1", "--signs", "transmitter")
    assert refusal.code != 0
    assert "transmitter" in refusal.err
