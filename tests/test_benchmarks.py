"""The benchmarks run, say what they ran on, and name what is missing; the cost table holds."""

import json
import math
import re
import sys

import pytest

from command import ended, succeeded
from memcurve import ensembles
from memcurve.core.limits import WORK, estimated_cost
from memcurve.memory.methods import METHODS
from refusals import refuses
from repository import ROOT

TIMES = {"s": 1, "minutes": 60, "hours": 3600, "days": 86_400, "ms": 1e-3}
SIZES = {"kB": 1e3, "MB": 1e6, "GB": 1e9}
#: How far a measured time may be from the estimate, which is for any usual machine.
TIME_FACTOR = 4.0


PARTS = (
    "eigenvalues", "claim", "methods", "questions", "structured", "measured", "memory",
)  # fmt: skip


@pytest.mark.documentation  # docs/performance.md is made by it
def test_a_quick_run(tmp_path) -> None:
    """What it ran on, every table and row, and numbers for ratios and errors."""
    command = [sys.executable, "-m", "benchmarks", "--quick", "--output", str(tmp_path)]
    picture = str(tmp_path / "picture.png")
    done = succeeded(ended([*command, "--picture", picture, "--only", *PARTS], cwd=ROOT))
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    for name in ("python", "numpy", "scipy", "memcurve", "reservoirpy", "rcbench", "control"):
        assert results["versions"][name]
    machine = results["machine"]
    assert machine["processor"] in done.out
    assert machine["processor"]
    assert machine["cores"] >= 1
    assert all(pool["num_threads"] >= 1 for pool in machine["blas"])
    assert len(results["load"]) == 2
    assert (tmp_path / "results.md").read_text("utf-8") == done.out
    for title in (
        "against bare eigenvalues", "by threads", "side by side", "Questions against",
        "Large sparse networks", "Peak memory",
    ):  # fmt: skip
        assert title in done.out
    rows = results["methods"]
    assert len({row["network"] for row in rows}) == 4
    for name in (
        "exact", "certified", "naive, solve", "naive, pinv", "OSM", "OSM+ as printed",
        "OSM+ in memcurve", "Monte Carlo", "reservoirpy", "rcbench, defaults", "rcbench, linear",
        "conn2res, protocol", "resdag", "ipc-module", "scipy Lyapunov + pinv",
    ):  # fmt: skip
        those = [row for row in rows if row["method"] == name]
        assert len(those) == 4, name
        assert f"| {name} |" in done.out
    for row in results["eigenvalues"] + results["questions"]:
        assert 0 < row["ratio"] < math.inf
    measured = [row for row in results["methods"] + results["claim"] if row["status"] == "measured"]
    for row in measured:
        assert 0 < row["ratio_to_exact"] < math.inf
        assert 0 < row["ratio_to_eigvals"] < math.inf
        assert 0 <= row["error"] < math.inf
        assert math.isfinite(row["total"])
        assert 0 < row["true_total"] <= row["states"] + 1e-9
    exact = [row for row in measured if row["method"] == "exact"]
    assert exact
    for row in exact:
        assert row["error"] <= row["bound"] < 1e-11
    rows = results["measured"]
    libraries = {"memcurve", "reservoirpy", "rcbench", "ipc-module"}
    assert {row["contender"] for row in rows} == libraries
    own = [row for row in rows if row["contender"] == "memcurve"]
    # 0.05 s are spent by the first look: 2,000 rows, which know the total to about a tenth of 4
    assert all(row["status"] == "measured" for row in own)
    assert min(row["rmse"] for row in own) < 0.4
    assert (tmp_path / "measured.png").stat().st_size > 1000
    assert "cannot run it" in done.out


def test_what_is_not_installed_is_listed(monkeypatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import accuracy, contenders, table

    monkeypatch.setattr(contenders, "find_spec", lambda module: None)
    small = {"normal, N = 6": ensembles.normal(6, seed=1)}
    monkeypatch.setattr(accuracy, "networks", lambda quick: small)
    rows = accuracy.compared(quick=True, budget=0.001)
    missing = {row["method"] for row in rows if row["status"].startswith("not installed: ")}
    assert {"reservoirpy", "rcbench, defaults", "resdag", "ipc-module"} <= missing
    text = table._methods(rows)
    assert "| reservoirpy | not installed: reservoirpy |" in text
    assert "| exact | " in text


def test_documented_costs() -> None:
    """The table of docs/performance.md is what the estimate gives, and what was measured."""
    text = (ROOT / "docs" / "performance.md").read_text("utf-8")
    rows = re.findall(
        r"^\| ([\d,]+) \| ([\d.e+]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE
    )
    sizes = [int(row[0].replace(",", "")) for row in rows]
    assert sizes == [300, 1000, 3000, 5000, 10_000]
    for states, operations, memory, estimated, measured in rows:
        size = int(states.replace(",", ""))
        cost = estimated_cost(size)
        assert float(operations) == pytest.approx(50 * size**3, rel=0.05)
        assert number(memory, SIZES) == pytest.approx(cost.bytes, rel=0.06)
        assert number(estimated, TIMES) == pytest.approx(cost.seconds, rel=0.06)
        if not measured.startswith("not measured"):
            assert 1 / TIME_FACTOR < number(measured, TIMES) / cost.seconds < TIME_FACTOR, states


def number(words: str, units: dict[str, float]) -> float:
    """A number with its unit, e.g. 3.2 GB."""
    value, unit = words.split()[:2]
    return float(value.replace(",", "")) * units[unit]


def test_estimated_cost_of_other_questions() -> None:
    for question in WORK:
        cost = estimated_cost(1000, question)
        assert cost.bytes >= 4 * 8e6
        assert cost.seconds > 0
    naive = METHODS["naive"].cost
    assert estimated_cost(1000, naive, columns=10).bytes < estimated_cost(1000, naive).bytes
    refuses(ValueError, "`question`", estimated_cost, 1000, "nonsense")


def test_ways_of_large_networks_agree(tmp_path) -> None:
    """The total by products, by a dense Gramian, and by pyMOR where it is installed."""
    from benchmarks import scale, table

    row = scale.row_of(150, 1500)
    assert row["dense_off"] <= 1e-6
    assert row.get("pymor_off", 0.0) <= 1e-3
    assert row.get("pymor_note", "not installed") == "not installed"
    assert row["total"] <= row["rank"] <= row["lags"]
    assert row["ratio"] > 0
    found = {"nodes": [row, row | {"states": 1500}], "edges": [row], "growth": {"time": 1.0}}
    assert "| 1,500 | " in table._scale(found)
    scale.draw(found, tmp_path / "scale.png")
    assert (tmp_path / "scale.png").stat().st_size > 1000


def test_a_synthetic_brain(tmp_path) -> None:
    from benchmarks import brain, table

    file = tmp_path / "brain.npz"
    brain.made(200, 3000, file)
    rows = [brain.row_of(part, file) for part in brain.PARTS]
    assert all(row["edges"] == 3000 for row in rows)
    assert all(row["seconds"] > 0 for row in rows if row.get("note") != "no GPU")
    assert "| blocks | 200 | 3,000 |" in table._brain(rows)
