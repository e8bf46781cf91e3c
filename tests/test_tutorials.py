"""The tutorial notebooks run from top to bottom, and say what they claim."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TUTORIALS = sorted((Path(__file__).parents[1] / "docs" / "tutorials").glob("*.ipynb"))


#: In a process of its own, since the sockets of the kernel's client warn when they are collected.
EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


def executed(path: Path, folder: Path) -> Any:
    """The notebook with its outputs."""
    for package in ("nbformat", "nbclient", "ipykernel"):
        pytest.importorskip(package, reason=f"executing notebooks needs {package}")
    import nbformat

    result = folder / path.name
    command = [sys.executable, "-c", EXECUTE, str(path), str(result)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return nbformat.read(result, as_version=4)


def test_there_are_tutorials() -> None:
    assert [path.stem for path in TUTORIALS] == ["first_audit"]


@pytest.mark.parametrize("path", TUTORIALS, ids=[path.stem for path in TUTORIALS])
def test_tutorial_runs(path: Path, tmp_path: Path) -> None:
    notebook = executed(path, tmp_path)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        warned = [one for one in cell.outputs if one.get("name") == "stderr"]
        assert not warned, warned
    shown = [data for cell in cells for one in cell.outputs if (data := one.get("data"))]
    assert sum("text/html" in data for data in shown) >= 4  # network, curve, comparison, audit
    assert sum("image/png" in data for data in shown) == 2
    texts = " ".join(data.get("text/plain", "") for data in shown)
    assert "is right" in texts
    assert texts.rstrip().endswith("100.0")


@pytest.mark.parametrize("path", TUTORIALS, ids=[path.stem for path in TUTORIALS])
def test_no_outputs_are_kept(path: Path) -> None:
    """Outputs would go stale, and make every change of a notebook unreadable."""
    nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
