"""Sweeps from study to file: the same bits everywhere, nothing computed twice; their pictures."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import memcurve
from memcurve import Study, Sweep, plot, sweep
from memcurve.studies.sweeping import Case
from memcurve.studies.sweeping.conclusions import PROSE
from memcurve.studies.sweeping.pictures import chosen_picture
from refusals import refuses

AXES: dict[str, Any] = {
    "ensemble": ["normal", "orthogonal"],
    "size": [8, 12],
    "method": ["exact", {"name": "naive", "inverse": "pinv"}],
    "noise": [0, 1e-3],
    "seed": [1, 2, 3],
    "keep": ["total", "rank", "horizon_half", "largest_error"],
}
STUDY = Study.grid(**AXES, title="Noise # and methods, side by side")


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("sweep") / "sweep.sqlite"


@pytest.fixture(scope="module")
def result(store: Path) -> Sweep:
    return sweep(STUDY, store, executor="serial")


def run(**fields: Any) -> Sweep:
    return sweep(Study.grid(**fields), None, executor="serial")


def outcome(result: Sweep) -> list[tuple[Any, ...]]:
    return [(r.key, r.status, json.dumps(r.values), r.error) for r in result.rows]


def failing_study() -> Study:
    """The subspace method takes no noise, so that half of the cases fail."""
    return Study.grid(ensemble="normal", size=5, method=["osm", "exact"], noise=[1e-3], seed=[1, 2])


def test_rows_are_in_the_order_of_the_study(result: Sweep) -> None:
    assert result.counts == {"done": 48, "failed": 0, "pending": 0}
    assert [row.key for row in result.rows] == [case.key for case in STUDY.cases()]
    assert [row.case for row in result.rows] == [case.to_dict() for case in STUDY.cases()]
    assert result.axes == ("ensemble", "size", "noise", "method", "seed")


def test_processes_give_the_same_bits(result: Sweep, tmp_path) -> None:
    other = sweep(STUDY, tmp_path / "other.sqlite", executor="processes", workers=2)
    assert outcome(other) == outcome(result)


def test_nothing_is_computed_twice(result: Sweep, store: Path, monkeypatch) -> None:
    monkeypatch.setattr("memcurve.studies.sweeping.run.evaluate", pytest.fail)
    assert outcome(sweep(STUDY, store, executor="serial")) == outcome(result)
    fewer = Study.grid(**AXES | {"seed": [3, 1], "size": 12})  # in another order
    assert sweep(fewer, store, executor="serial").counts["done"] == 16


def test_a_failing_case_is_a_row_and_can_be_tried_again(tmp_path, monkeypatch) -> None:
    path = tmp_path / "sweep.sqlite"
    found = sweep(failing_study(), path, executor="serial")
    assert found.counts == {"done": 2, "failed": 2, "pending": 0}
    assert all("'osm' does not support" in (r.error or "") for r in found.failed)
    assert [row.status for row in found.rows] == ["failed"] * 2 + ["done"] * 2
    assert "2 cases failed (excluded)" in repr(found)
    assert [note.kind for note in found.notes] == ["sweep"]
    assert "Without 2 of 4 cases" in found.sentence
    [osm, exact] = found.summary(["total"])
    assert (osm["count"], osm["failed"], osm["mean"]) == (0, 2, None)
    assert (exact["count"], exact["failed"]) == (2, 0)
    assert math.isnan(found.to_xarray()["total"].values.flat[0])
    monkeypatch.setattr("memcurve.studies.sweeping.run.evaluate", _failed_before)
    again = sweep(failing_study(), path, executor="serial", retry_failed=True)
    assert again.counts["failed"] == 2
    again.save(tmp_path / "rows.csv")
    frame = pd.read_csv(tmp_path / "rows.csv")
    assert frame["error"][0] == again.rows[0].error


def _failed_before(case: dict[str, Any]) -> dict[str, Any]:
    from memcurve.studies.sweeping import evaluate

    assert case["method"] == "osm"  # the others are done
    return evaluate(case)


def test_results_are_read_back(result: Sweep, store: Path, tmp_path) -> None:
    again = Sweep.open(store, STUDY)
    assert outcome(again) == outcome(result)
    assert again.provenance["study"] == STUDY.text
    [run, *_] = again.provenance["runs"]
    assert run["versions"]["memcurve"] == memcurve.__version__
    assert run["blas_threads"] == 1
    assert len(Sweep.open(store)) > 0
    assert Sweep.open(store, Study.grid(ensemble="cyclic", size=77)).counts["pending"] == 1


def test_table_and_summary_agree_with_pandas(result: Sweep) -> None:
    frame = result.to_pandas()
    assert len(frame) == 48
    assert list(frame["method"].unique()) == ["exact", "naive(inverse=pinv)"]
    assert list(frame["noise"].unique()) == [0.0, 1e-3]
    assert frame.attrs["study"] == STUDY.text
    grouped = frame.groupby(["ensemble", "size", "noise", "method"])["total"]
    entries = pd.DataFrame(result.summary(["total"]))
    entries = entries.set_index(["ensemble", "size", "noise", "method"]).sort_index()
    for mine, theirs in (("count", "count"), ("mean", "mean"), ("sd", "std"), ("min", "min")):
        np.testing.assert_allclose(
            entries[mine].astype(float), grouped.agg(theirs).sort_index(), rtol=1e-12, atol=1e-12
        )
    refuses(ValueError, ("`quantities`", "'usable_float32'"), result.summary, ["usable_float32"])


def test_arrays_have_the_axes_of_the_grid(result: Sweep) -> None:
    found = result.to_xarray()
    assert found.sizes == {"ensemble": 2, "size": 2, "method": 2, "noise": 2, "seed": 3}
    one = found.sel(
        {"ensemble": "orthogonal", "size": 12, "method": "exact", "noise": 0, "seed": 2}
    )
    assert float(one["total"]) == 12


def test_tables_in_files(result: Sweep, tmp_path) -> None:
    table = result.columns()
    for ending in (".csv", ".tex"):
        result.save(tmp_path / f"rows{ending}")
    # pandas before 3 reads the last digit less exactly than Python
    frame = pd.read_csv(tmp_path / "rows.csv", converters={"total": float})
    for name in ("ensemble", "size", "method", "noise", "seed", "total", "rank", "status", "key"):
        assert frame[name].tolist() == table[name], name
    about = json.loads(json.dumps(dict(result.provenance)))
    assert json.loads((tmp_path / "rows.csv.json").read_text()) == about | {"notes": []}
    assert (tmp_path / "rows.tex").read_text().count(r"\\") == 1 + len(result)
    refuses(ValueError, (".json", ".csv", ".tex"), result.save, tmp_path / "rows.xlsx")


def test_ensembles_are_told_apart_by_all_their_options() -> None:
    plain, sparse = "sparse_normal", {"name": "sparse_normal", "density": 0.05}
    for listed in ([plain, sparse], [sparse, plain]):
        found = run(ensemble=listed, size=30, seed=[1, 2], keep="total")
        entries = {entry["ensemble"]: entry for entry in found.summary()}
        assert set(entries) == {"sparse_normal", "sparse_normal(density=0.05)"}
        assert [entry["count"] for entry in entries.values()] == [2, 2]
        assert entries["sparse_normal"]["mean"] > entries["sparse_normal(density=0.05)"]["mean"]
    both = run(ensemble=plain, size=5, density=[0.4, 0.8], seed=1, keep="total")
    assert set(both.columns()["ensemble"]) == {plain}


def test_values_that_look_alike_are_not_merged() -> None:
    radii = [0.9, 0.90000001]
    fields: dict[str, Any] = {"ensemble": "normal", "size": 4, "seed": 1, "keep": "total"}
    text = repr(run(spectral_radius=radii, **fields))
    assert "\n            0.9      1" in text
    assert "\n     0.90000001      1" in text
    noise = [1e-3, 1.0000001e-3, "float32"]
    found = run(noise=noise, **fields)
    assert found.columns()["noise"] == ["0.001", "0.0010000001", "float32"]
    assert len(found.summary()) == 3
    assert found.to_xarray()["noise"].values.tolist() == found.columns()["noise"]


def test_means_say_of_how_many() -> None:
    found = run(
        ensemble="normal", size=30, spectral_radius=0.95, lags=29, seed=range(1, 6),
        keep=["total", "horizon_half"],
    )  # fmt: skip
    [entry] = found.summary(["horizon_half"])
    assert (entry["count"], entry["unknown"]) == (2, 3)
    assert "(2 of 5)" in repr(found)
    assert "note: horizon_half lies beyond the lags in 3 of 5 finished cases" in repr(found)
    assert [note.kind for note in found.notes] == ["lags"]


def test_rows_say_which_version_computed_them(tmp_path, monkeypatch) -> None:
    path = tmp_path / "sweep.sqlite"
    about: dict[str, Any] = {"versions": {"memcurve": "0.1"}}
    monkeypatch.setattr("memcurve.studies.sweeping.run.provenance", lambda: about)
    sweep(Study.grid(ensemble="cyclic", size=3), path, executor="serial")
    larger = Study.grid(ensemble="cyclic", size=[3, 4, 5])
    monkeypatch.setitem(about, "versions", {"memcurve": "0.2"})
    found = sweep(larger, path, executor="serial")
    assert found.columns()["memcurve_version"] == ["0.1", "0.2", "0.2"]
    assert "0.1 (1 case), 0.2 (2 cases)" in repr(found)
    monkeypatch.setitem(about, "versions", {"memcurve": "0.3"})
    again = sweep(larger, path, executor="serial")  # which computes nothing
    versions = [run["versions"]["memcurve"] for run in again.provenance["runs"]]
    assert versions == ["0.1", "0.2"]
    assert [run["run"] for run in again.provenance["runs"]] == [1, 2]
    assert again.columns()["run"] == [1, 2, 2]


def test_own_networks(tmp_path, monkeypatch) -> None:
    """Files or a folder of them, with radius, leak, mask and noise varied; their contents count."""
    monkeypatch.chdir(tmp_path)
    Path("nets").mkdir()
    networks = {f"nets/{seed}.npz": memcurve.ensembles.normal(6, seed=seed) for seed in (1, 2)}
    for file, network in networks.items():
        memcurve.save_network(network, file)
    axes: dict[str, Any] = {
        "spectral_radius": [0.5, 0.9], "leak": [0.3, 1.0], "mask": ["ones", "basis"],
        "noise": [1e-3, 1e-6],
    }  # fmt: skip
    study = Study.grid(file="nets", **axes, keep="total")
    assert study.axes["file"] == tuple(networks)
    assert study.count == 32
    found = sweep(study, "nets.sqlite", executor="serial")
    for row in found.rows:
        case = row.case
        network = networks[case["file"]]
        W = case["spectral_radius"] / network.spectral_radius * network.A
        C = memcurve.masks.make(case["mask"], 6, seed=0)
        leaky = memcurve.adapters.leaky(W, C, case.get("leak", 1.0))
        exact = memcurve.memory_curve(leaky, 1, noise=case["noise"])
        assert row.values["total"] == pytest.approx(exact.total, rel=1e-9)
        assert case["size"] == 6
    assert found.to_xarray()["total"].dims == ("file", "spectral_radius", "leak", "mask", "noise")
    found.plot()
    before = {case.key for case in study.cases()}
    memcurve.save_network(memcurve.ensembles.normal(6, seed=9), "nets/2.npz")
    assert len(before & {case.key for case in study.cases()}) == 16
    changed = next(row.case for row in found.rows if row.case["file"] == "nets/2.npz")
    refuses(ValueError, ("`file`", "nets/2.npz"), lambda: Case(**changed))


@pytest.mark.parametrize(
    ("fields", "facts"),
    [
        ({"file": "none.npz"}, "none.npz"),
        ({"file": "net.npz", "size": 5}, "grid.size"),
        ({"file": "net.npz", "density": 0.5}, "`density`"),
        ({"file": "net.npz", "mask": "normal"}, "`seed`"),
        ({"file": "."}, "folder"),
        ({"file": "net.npz", "leak": 2}, ("grid.leak", "2")),
    ],
)
def test_what_does_not_go_with_own_networks(
    fields: dict[str, Any], facts: Any, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if fields["file"] != ".":
        memcurve.save_network(memcurve.ensembles.cyclic(3), "net.npz")
    refuses(ValueError, facts, Study.grid, **fields)


def quick(name: str) -> Sweep:
    return sweep(Study.load(name, quick=True), None, executor="serial")


@pytest.fixture(scope="module")
def sparsity() -> Sweep:
    return quick("sparsity")


def test_a_quantity_that_varies_is_drawn_and_concluded_on() -> None:
    """Of one size the total is the number of states in every case: a flat line, and no news."""
    axes: dict[str, Any] = {"ensemble": ["normal", "orthogonal"], "spectral_radius": [0.5, 0.9]}
    found = run(size=12, seed=[1, 2], keep=["total", "usable_12bit"], **axes)
    assert chosen_picture(found).quantities == ("usable_12bit",)
    drawn = [line.get_ydata() for line in found.plot().lines if len(line.get_ydata()) == 2]
    means = found.to_pandas().groupby(["ensemble", "spectral_radius"])["usable_12bit"].mean()
    assert any(np.allclose(line, means["normal"]) for line in drawn)
    assert found.sentence.startswith(PROSE["states too"].format(quantity="total memory"))
    assert "mean usable memory with 12 bits changes most with the" in found.sentence
    alone = run(size=12, seed=[1, 2], keep="total", **axes)
    assert alone.sentence == PROSE["states"].format(quantity="total memory", range="12")
    assert chosen_picture(alone).quantities == ("total",)


def test_sparsity_seems_to_matter_and_does_not(sparsity: Sweep) -> None:
    """The false effect of standard formulas, and its absence."""
    frame = sparsity.to_pandas()
    means = frame.groupby(["method", "density"])["total"].mean().unstack()
    exact = frame[frame["method"] == "exact"]
    assert (exact["total"] == 60).all()
    assert (exact["rank"] == 60).all()
    for method in ("naive(inverse=pinv)", "naive(inverse=projector)"):
        assert means.loc[method, 1.0] - means.loc[method, 0.1] > 4
        assert means.loc[method].max() < 57
    assert "changes most with the method" in sparsity.sentence


def test_what_the_other_built_in_studies_find() -> None:
    radius = quick("radius")
    table = radius.to_pandas()
    assert (table["total"] == 40).all()
    means = table.groupby("spectral_radius")["usable_float32"].mean()
    assert means[0.99] > 2 * means[0.3]
    assert len(radius.plot().get_lines()) == 5 + 1
    architectures = quick("architectures")
    table = architectures.to_pandas()
    assert np.allclose(table["total"], 40)
    means = table.groupby("ensemble")["usable_12bit"].mean()
    assert means["delay_line"] > 39.9
    assert means["symmetric"] < 13
    labels = [label.get_text() for label in architectures.plot().get_xticklabels()]
    assert labels[:3] == ["delay line", "cyclic", "permutation"]
    noise = quick("noise")
    table = noise.to_pandas()
    assert (table["rank"] == 40).all()
    assert (table["total"] <= 40 + 1e-9).all()
    ax = noise.plot()
    assert (ax.get_xscale(), ax.get_ylabel()) == ("log", "usable memory")
    for found in (radius, architectures, noise):
        assert "changes most with the" in found.sentence


def test_lines_of_means_with_the_number_of_states(sparsity: Sweep) -> None:
    ax = sparsity.plot()
    exact, pinv, _, bound = ax.get_lines()
    np.testing.assert_array_equal(exact.get_ydata(), [60] * 4)
    entries = [e for e in sparsity.summary(["total"]) if e["method"] == "naive(inverse=pinv)"]
    np.testing.assert_allclose(pinv.get_ydata(), [entry["mean"] for entry in entries])
    assert (bound.get_label(), bound.get_linestyle()) == ("N = 60", "--")
    assert ax.get_title(loc="left") == "Does sparsity change memory?"
    legend = ax.get_legend()
    assert legend.get_title().get_text() == "mean and range of 6 seeds"
    assert exact.get_color() == plot.COLOURS[0]


def test_the_axes_choose_the_picture() -> None:
    cases = [
        ({"size": [5, 6]}, True, "size"),
        ({"ensemble": ["normal", "cyclic"]}, False, "ensemble"),
        ({"ensemble": ["normal", "cyclic"], "noise": [1e-9, 1e-3]}, True, "noise"),
        ({"mask": ["ones", "normal"], "noise": [1e-3, "float32"]}, False, "mask"),
    ]
    for fields, is_lines, x in cases:
        found = run(**{"ensemble": "normal", "size": 4, "seed": [1, 2]} | fields)
        picture = chosen_picture(found)
        assert (picture.is_lines, picture.x) == (is_lines, x)
        assert found.plot().get_ylabel() in ("total memory", "usable memory", "memory")


def test_zero_has_no_place_on_a_logarithmic_axis() -> None:
    found = run(ensemble="normal", size=4, noise=[0, 1e-6, 1e-4, 1e-2, 1.0], seed=1, keep="total")
    ax = found.plot()
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel().endswith("0 is not shown")


def test_coloured_input_has_no_bound() -> None:
    found = run(ensemble="delay_line", size=[3, 4], input="ar:0.9", keep="total")
    assert len(found.plot().get_lines()) == 1


def test_pictures_of_nothing_are_refused() -> None:
    found = run(ensemble="normal", size=[3, 4], method="naive", seed=1, keep="largest_error")
    refuses(ValueError, "largest_error", found.plot)
    refuses(ValueError, ("`quantity`", "'total'"), found.plot, quantity="total")
    failed = run(ensemble="normal", size=5, method="osm", noise=1, seed=1)
    refuses(ValueError, "finished", failed.plot)


def test_what_lies_beyond_the_lags_is_in_no_sentence_or_picture() -> None:
    found = run(
        ensemble="normal", size=30, spectral_radius=[0.3, 0.95], lags=29, seed=[1, 4, 5],
        keep="horizon_half",
    )  # fmt: skip
    assert "27 to 28 where it is known; in 4 of 6 finished cases" in found.sentence
    legend = found.plot().get_legend()
    assert "4 of 6 beyond the lags, not drawn" in legend.get_title().get_text()


def test_a_mean_over_sizes_is_drawn_only_where_there_are_too_many() -> None:
    axes: dict[str, Any] = {"ensemble": ["normal", "orthogonal"], "seed": [1, 2]}
    axes |= {"spectral_radius": [0.5, 0.9], "keep": "usable_12bit"}
    found = run(size=[4, 6, 8], **axes)
    lines = {line.get_label(): line for line in found.plot().lines}
    frame = found.to_pandas()
    means = frame.groupby(["size", "ensemble", "spectral_radius"])["usable_12bit"].mean()
    for size, ensemble in itertools.product((4, 6, 8), axes["ensemble"]):
        drawn = lines[f"{ensemble}, N = {size}"].get_ydata()
        np.testing.assert_allclose(drawn, means.loc[size, ensemble])
    many = run(size=range(3, 11), **axes).plot()
    assert len(many.lines) == 2
    assert many.get_legend().get_title().get_text() == "mean and range of 8 sizes × 2 seeds"
