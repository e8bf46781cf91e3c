"""Pages as they are written: code in them is run, links lead somewhere, layers are named."""

import csv
import importlib
import json
import os
import re
import runpy
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import memcurve
from command import ended
from documentation import DOCS, PAGES, WRITTEN, blocks
from repository import ROOT

#: Blocks that are shown and not run; all others are directives, or shell, run below.
SHOWN = {"text", "toml", "json", "yaml"}


@pytest.mark.parametrize("page", WRITTEN)
def test_all_code_runs(page: str) -> None:
    """Python is executed as the page is built, shell by the next test; all else is no code."""
    text = (DOCS / page).read_text("utf-8")
    parts = list(blocks(text))
    for block in parts:
        where = f"{page}:{block.line}: a block {block.kind or 'without a language'!r}"
        if not block.kind.startswith("{"):
            assert block.kind in SHOWN | {"sh"}, f"{where}; Python goes into a code-cell"
        assert not re.match(r"\{(code|code-block|sourcecode)\}", block.kind), where
        assert ".. code" not in block.text or block.kind != "{eval-rst}", where
    if any(block.kind.startswith("{code-cell}") for block in parts):
        begin = text.split("---\n")[1]
        assert "file_format: mystnb" in begin, f"{page}: without it, no cell is executed"
        assert "kernelspec" in begin, page


SHELL = {
    page: texts
    for page in WRITTEN
    if (texts := [b.text for b in blocks((DOCS / page).read_text("utf-8")) if b.kind == "sh"])
}


@pytest.mark.documentation
@pytest.mark.parametrize("page", SHELL)
def test_shell_blocks_run(page: str, tmp_path) -> None:
    """One after the other, in one shell and in a folder that is empty at first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["bash", "-euo", "pipefail", "-c", "\n".join(SHELL[page])]
    done = ended(command, cwd=tmp_path, env=os.environ | {"PATH": path, "COLUMNS": "100"})
    assert done.code == 0, f"{done.out[-2000:]}\n{done.err[-3000:]}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.endswith(".ipynb")])
def test_no_outputs_are_kept(page: str) -> None:
    cells = json.loads((DOCS / page).read_text("utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells)


def test_blocks_are_found() -> None:
    """The reader of pages itself: prose within directives is looked at, code is not."""
    text = (
        "```python\n1\n```\n\n::::{grid} 1 2\n:::{grid-item-card} A\n```sh\nls\n```\n:::\n::::\n"
        "````{code-cell}\n:tags: [x]\n```\n````\n\n> ```\n> quoted\n> ```\n"
    )
    found = [(block.kind, block.line) for block in blocks(text)]
    assert found == [("python", 1), ("sh", 7), ("{code-cell}", 12), ("", 17)]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"])
def test_links_between_files_of_the_repository(name: str) -> None:
    file = ROOT / name
    for link in re.findall(r"\]\(([^)\s]+)\)", file.read_text("utf-8")):
        if not link.startswith("https://"):
            assert (file.parent / link.partition("#")[0]).exists(), link


# --- the architecture

ARCHITECTURE = DOCS / "contributing" / "architecture.md"


def layers(package: str = "memcurve") -> list[list[str]]:
    """The layers of a package that import-linter checks, from the top down."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [contract] = [one for one in contracts if one.get("containers") == [package]]
    return [layer.split(" | ") for layer in contract["layers"]]


def test_architecture_has_every_ring() -> None:
    rows = re.findall(r"^\| (`[^|]*`) \|", ARCHITECTURE.read_text("utf-8"), re.MULTILINE)
    assert [re.findall(r"`(\w+)`", row) for row in rows] == layers()


def test_architecture_has_every_module_of_the_solvers() -> None:
    [listed] = [one.text for one in blocks(ARCHITECTURE.read_text("utf-8")) if one.kind == "text"]
    rows = [re.split(r"\s{2,}", line)[0].split(" · ") for line in listed.splitlines()]
    assert rows == layers("memcurve.solve")


def test_architecture_names_modules_and_types_that_exist() -> None:
    """`ring.module` is a module, and a type of the first table is in the module beside it."""
    text = ARCHITECTURE.read_text("utf-8")
    rings = "|".join(ring for layer in layers() for ring in layer)
    named = set(re.findall(rf"`((?:{rings})(?:\.\w+)+)`", text))
    assert len(named) > 15
    for name in named:
        importlib.import_module(f"memcurve.{name}")
    rows = re.findall(r"^\| (\w+) \| `([\w.]+)` \|", text, re.MULTILINE)
    assert len(rows) > 6
    for name, module in rows:
        kind = getattr(importlib.import_module(f"memcurve.{module}"), name)
        assert kind.__module__ == f"memcurve.{module}", name


def test_architecture_pictures_show_the_imports(monkeypatch) -> None:
    """Drawn anew from the import graph, they are those of the page."""
    monkeypatch.syspath_prepend(DOCS)
    text = ARCHITECTURE.read_text("utf-8")
    for name, drawing in importlib.import_module("architecture_pictures").pictures().items():
        stored = (DOCS / "_static" / name).read_text("utf-8")
        assert drawing == stored, f"{name} is out of date: run python docs/architecture_pictures.py"
        assert f":file: ../_static/{name}\n" in text


FOLDER = DOCS / "tutorials"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / "worm_stages.py"))


@pytest.fixture(scope="module")
def kept() -> list[list[str]]:
    with (FOLDER / "worm_stages.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_table_and_picture(script: dict[str, Any], kept: list[list[str]], tmp_path) -> None:
    """With networks that anybody has: the columns are those of the table on the page."""
    networks = [memcurve.ensembles.sparse_normal(20, density=0.2, seed=seed) for seed in (1, 2)]
    found = [
        memcurve.compare_with_nulls(
            network, "rewire", draws=5, noise=script["NOISE"], seed=1, executor="serial"
        )
        for network in networks
    ]
    head, *rows = script["table"](found)
    assert head == kept[0]
    assert [len(row) for row in rows] == [len(head)] * 2
    script["picture"](found, tmp_path / "stages.png")
    assert (tmp_path / "stages.png").stat().st_size > 1000


def test_the_brains_are_those_of_the_page(script: dict[str, Any], kept: list[list[str]]) -> None:
    pytest.importorskip("cect", reason="cect is not installed (pip install cect)")
    assert [row[0] for row in kept[1:]] == [script["brain"](number).name for number in range(1, 9)]
    own = [k for k, name in enumerate(kept[0]) if not name.endswith((", rewired", ", p"))]
    again = script["table"]([script["against_nulls"](number, 2) for number in (1, 8)])
    for row, before in zip(again[1:], (kept[1], kept[8]), strict=True):
        assert [row[k] for k in own] == [before[k] for k in own]
