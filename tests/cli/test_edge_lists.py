"""Edge lists on the command line: by name from the file to the audit."""

from __future__ import annotations

import gzip
import json
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


def test_drawn_masks(command: Command, edges: Path) -> None:
    done = command("curve", edges, "--mask", "ones", "--spectral-radius", 0.9, "--json")
    assert MemoryCurve.from_json(done.out).total == pytest.approx(4, abs=1e-12)


def test_numbers_are_names(command: Command, tmp_path: Path) -> None:
    (tmp_path / "ring.txt").write_text("10 11\n11 12\n12 13\n13 10\n")
    asked = ["--mask", 12, "--spectral-radius", 0.9, "--json"]
    done = command("curve", tmp_path / "ring.txt", *asked, "--readout", "12-13")
    curve = MemoryCurve.from_json(done.out)
    assert curve.total == pytest.approx(2, abs=1e-12)
    assert curve.values[0] == pytest.approx(1 - 0.9**8, abs=1e-12)  # and every fourth lag after it
    text = failed(command("curve", tmp_path / "ring.txt", *asked, "--readout", "0"), 2)
    assert "--readout must name nodes by their labels, '10' … '13'; got '0'" in text


def test_audits_name_nodes(command: Command, edges: Path) -> None:
    asked = ["--mask", "b", "--spectral-radius", 0.9, "--json"]
    losses = json.loads(command("audit", edges, *asked).out)["account"]["losses"]
    assert any("nodes c, d and e" in loss["text"] for loss in losses)


def test_compare(command: Command, edges: Path) -> None:
    asked = ["--mask", "a", "--spectral-radius", 0.9, "--methods", "naive"]
    assert "brain" in command("compare", edges, *asked).out


def test_errors(command: Command, edges: Path, tmp_path: Path) -> None:
    text = failed(command("curve", edges, "--mask", "a"))
    assert "eigenvalue of modulus 2" in text
    assert "--spectral-radius 0.9" in text
    text = failed(command("curve", edges))
    assert "--mask" in text
    assert "--mask a,…" in text
    assert "got 'x'" in failed(command("curve", edges, "--mask", "a,x"), 2)
    assert "not a number" in failed(command("curve", edges, "--mask", "ones", "--no-edges"))
    (tmp_path / "chain.csv").write_text("a,b,1\nb,c,1\n")
    asked = ["--mask", "a", "--spectral-radius", "0.9"]
    assert "no cycle" in failed(command("curve", tmp_path / "chain.csv", *asked))
