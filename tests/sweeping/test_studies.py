"""Study files: what they mean, what is refused and how, and that nothing is expanded to count."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memcurve import Study
from memcurve.studies.sweeping import shipped
from memcurve.studies.sweeping.cases import evaluate
from refusals import refuses

GRID = """\
keep = ["total"]

[grid]
ensemble = ["normal", { name = "sparse_normal", density = 0.5 }]
size = { from = 10, to = 20, step = 5 }
method = ["exact", { name = "naive", inverse = "pinv" }]
seed = [1, 2]
"""


def test_a_grid_is_all_combinations_the_last_axis_fastest() -> None:
    study = Study.from_text(GRID)
    cases = list(study.cases())
    assert study.count == len(cases) == 2 * 3 * 2 * 2
    assert len({case.key for case in cases}) == len(cases)
    assert [case.seed for case in cases[:4]] == [1, 2, 1, 2]
    assert [case.size for case in cases[::4]] == [10, 15, 20, 10, 15, 20]
    assert cases[-1].ensemble_options == {"density": 0.5}
    assert cases[-1].options == {"inverse": "pinv"}
    assert cases[5] == study.case_at(5)
    assert study.varied == ("ensemble", "size", "method", "seed")


def test_python_and_toml_are_the_same_study() -> None:
    made = Study.grid(
        ensemble=["normal", {"name": "sparse_normal", "density": 0.5}],
        size=np.array([10, 15, 20]),
        method=["exact", {"name": "naive", "inverse": "pinv"}],
        seed=range(1, 3),
        keep=["total"],
    )
    keys = [case.key for case in made.cases()]
    assert keys == [case.key for case in Study.from_text(GRID).cases()]
    assert keys == [case.key for case in Study.from_text(made.text).cases()]


def test_ranges() -> None:
    study = Study.grid(
        ensemble="cyclic", size=5, spectral_radius={"from": 0.1, "to": 0.4, "count": 4},
        noise={"from": 1e-4, "to": 1e-1, "count": 4, "log": True},
    )  # fmt: skip
    assert study.axes["spectral_radius"] == (0.1, 0.2, 0.3, 0.4)
    assert study.axes["noise"] == (1e-4, 1e-3, 1e-2, 1e-1)
    sizes = Study.grid(ensemble="cyclic", size={"from": 10, "to": 1000, "count": 5, "log": True})
    assert sizes.axes["size"] == (10, 32, 100, 316, 1000)
    without_count = {"ensemble": "sparse_normal", "size": 9, "density": {"from": 0.1, "to": 0.9}}
    refuses(ValueError, ("grid.density", "count"), Study.grid, **without_count)


def test_a_billion_cases_are_counted_at_once() -> None:
    start = time.perf_counter()
    study = Study.grid(ensemble="normal", size=10, seed=range(1, 10**9 + 1))
    assert study.count == 10**9
    assert study.case_at(10**9 - 1).seed == 10**9
    assert time.perf_counter() - start < 2


VALID = '[grid]\nensemble = "normal"\nsize = 10\nseed = 1\n'


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (VALID.replace("normal", "nromal"), ("grid.ensemble", "'nromal'", "normal")),
        (VALID + "sede = 2", ("grid.sede", "seed")),
        ("colour = 1\n" + VALID, ("colour", "title")),
        (VALID.replace("10", '"ten"'), ("grid.size", "'ten'")),
        (VALID.replace("10", "[]"), "grid.size"),
        (VALID.replace("10", "[5, 5]"), ("grid.size", "5")),
        (VALID.replace("size = 10\n", ""), "grid.size"),
        (VALID.replace("seed = 1\n", ""), ("grid", "`seed`")),
        (VALID + "density = 0.1", ("grid", "`density`")),
        (VALID + 'mask = "one"', ("grid.mask", "'one'")),
        (VALID + "method = { name = 'naive', inv = 1 }", ("grid", "inv", "inverse")),
        (VALID.replace("seed = 1", "seed = { from = 3, to = 1 }"), "grid.seed"),
        (VALID.replace("seed = 1", "seed = { from = 1, to = 3, by = 2 }"), ("grid.seed", "by")),
        (VALID + "noise = { from = 0.5, to = 0.9, count = 1 }", ("grid.noise", "count", "1")),
        (VALID + "noise = { from = 0, to = 1, count = 3, log = true }", ("grid.noise", "0")),
        ('keep = ["totl"]\n' + VALID, ("keep", "'totl'")),
        ('keep = ["total"]', "grid"),
        (VALID + "[random]\nsize = 3", ("random", "no such field", "grid")),
        ("[grid]", "grid.ensemble"),
        ("[grid", "TOML"),
        (VALID.replace("seed = 1", f"seed = {2**63}"), "grid.seed"),
        (VALID.replace('"normal"', '{ name = "chain", loop = nan }'), "grid.ensemble"),
    ],
)
def test_bad_files_are_named_with_field_and_value(text: str, facts: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    refuses(ValueError, ("bad", *([facts] if isinstance(facts, str) else facts)), Study.load, path)


def test_missing_files_and_other_formats(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    refuses(FileNotFoundError, (str(path), "architectures"), Study.load, path)
    path.write_bytes(b"\xff\xfe")
    refuses(ValueError, "TOML", Study.load, path)
    refuses(ValueError, "[quick]", Study.from_text, VALID, quick=True)


@pytest.mark.parametrize("name", shipped())
def test_shipped_studies_are_sound(name: str) -> None:
    study, quick = Study.load(name), Study.load(name, quick=True)
    assert study.name == quick.name == name
    assert study.title.endswith("?")
    assert quick.count < study.count / 2
    again = Study.from_text(quick.text, name)
    assert [case.key for case in again.cases()] == [case.key for case in quick.cases()]
    assert evaluate(quick.case_at(0).to_dict()).keys() == set(study.keep)
