"""The script of the page about the worm, which the site is built without."""

import csv
import runpy
from pathlib import Path
from typing import Any

import pytest

import memcurve
from documentation import DOCS

FOLDER = DOCS / "tutorials"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / "worm_stages.py"))


@pytest.fixture(scope="module")
def kept() -> list[list[str]]:
    with (FOLDER / "worm_stages.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_table_and_picture(script: dict[str, Any], kept: list[list[str]], tmp_path: Path) -> None:
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
