"""Edge lists on the command line: by name from the file to the audit."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import Command, failed
from memcurve import MemoryCurve


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
