"""A network beside its null models: p-values, resumed runs, scale, and what is said of them."""

import contextlib
import csv
import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import memcurve
from memcurve.network.scaling import scale_to_spectral_radius
from memcurve.studies import connectome
from memcurve.studies.connectome import (
    PROSE,
    NullComparison,
    PermutationTest,
    _Job,
    adjusted_p_values,
)
from refusals import refuses

NETWORK = memcurve.ensembles.sparse_normal(30, density=0.12, spectral_radius=0.8, seed=2)


def compared(network=NETWORK, null="shuffle", **options) -> NullComparison:
    asked = {"draws": 6, "noise": 1e-3, "seed": 1, "executor": "serial"} | options
    return memcurve.compare_with_nulls(network, null, **asked)


def test_p_values_are_those_of_a_permutation_test() -> None:
    test = PermutationTest.of("rewire", "total", 10.0, np.array([1.0, 2.0, 3.0, 4.0]))
    assert test.p == 1 / 5  # as small as four draws can show
    assert (test.below, test.above, test.draws) == (4, 0, 4)
    assert test.z == pytest.approx(7.5 / np.std([1, 2, 3, 4], ddof=1))
    middle = PermutationTest.of("rewire", "total", 2.5, np.array([1.0, 2.0, 3.0, 4.0]))
    assert (middle.p, middle.z) == (1.0, 0.0)


def test_p_values_are_valid() -> None:
    """Of exchangeable numbers, each is the network once: p ≤ k/(n+1) for at most k of n+1."""
    values = np.random.default_rng(1).gamma(0.5, size=50)
    p = [PermutationTest.of("", "", one, np.delete(values, k)).p for k, one in enumerate(values)]
    assert all(np.sum(np.array(p) <= k / 50) <= k for k in range(1, 51))
    assert min(p) == 1 / 50


@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_adjusted_p_values_are_valid_together(shared: float) -> None:
    """Whatever the quantities have to do with each other, the least of them is a p-value."""
    rng = np.random.default_rng(2)
    values = shared * rng.gamma(0.5, size=(60, 1)) + (1 - shared) * rng.normal(size=(60, 4))
    p = [adjusted_p_values(one, np.delete(values, k, axis=0)) for k, one in enumerate(values)]
    least = np.min(p, axis=1)
    assert all(np.sum(least <= k / 60 + 1e-12) <= k for k in range(1, 61))
    assert least.min() == pytest.approx(1 / 60)


@given(
    arrays(float, (8, 3), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0, 50.0, math.nan])),
    arrays(float, 3, elements=st.sampled_from([0.0, 1.0, 60.0])),
)
def test_adjusted_p_values_are_never_below_p(drawn: np.ndarray, observed: np.ndarray) -> None:
    names, draws = ("a", "b", "c"), memcurve.studies.connectome.Draws("rewire", drawn)
    found = NullComparison("n", 3, 6, 0.9, 1, names, observed, (draws,))
    for test in found.tests:
        assert math.isnan(test.p) or 1 / (test.draws + 1) <= test.p <= test.adjusted


def test_adjusted_p_values_of_what_is_not_known() -> None:
    drawn = np.array([[1.0, math.nan], [2.0, 5.0], [3.0, 5.0], [math.nan, math.nan]])
    far, unknown = adjusted_p_values(np.array([9.0, math.nan]), drawn)
    assert far == 1 / 4
    assert math.isnan(unknown)
    assert adjusted_p_values(np.array([9.0, 5.0]), drawn)[1] == 1


def test_what_agrees_is_no_effect() -> None:
    same = PermutationTest.of("", "", 5.0, np.full(9, 5.0 + 1e-12))
    assert (same.z, same.p, same.below, same.above) == (0.0, 1.0, 0, 0)
    tenths = PermutationTest.of("", "", 0.1, np.full(9, 0.1))  # whose mean is not quite a tenth
    assert (tenths.z, tenths.mean, tenths.spread) == (0.0, 0.1, 0.0)
    other = PermutationTest.of("", "", 4.0, np.full(9, 5.0))
    assert (other.z, other.p) == (-math.inf, 1 / 10)
    unknown = PermutationTest.of("", "", math.nan, np.full(9, 5.0))
    assert math.isnan(unknown.p)
    assert PermutationTest.of("", "", 1.0, np.array([2.0, math.nan, 3.0])).draws == 2


def test_numbers_are_those_of_the_functions() -> None:
    found = compared(null=["shuffle", "rewire"], noise=[1e-2, 1e-5])
    assert found.quantities == (
        "total (rank)", "usable memory (σ = 0.01)", "usable memory (σ = 1e-5)",
        "memory horizon (σ = 0.01)", "memory horizon (σ = 1e-5)",
    )  # fmt: skip
    profile = memcurve.noise_profile(NETWORK, [1e-2, 1e-5])
    expected = [memcurve.rank(NETWORK), *profile.totals, *(curve.horizon() for curve in profile)]
    np.testing.assert_allclose(found.observed, expected, atol=1e-12)
    assert [draws.null for draws in found.nulls] == ["shuffle", "rewire"]
    assert all(draws.values.shape == (6, 5) for draws in found.nulls)
    assert found.threshold == 0.05 / 2
    # another order of null models, or more of them, gives the same draws
    alone = compared(null="rewire", noise=[1e-2, 1e-5])
    np.testing.assert_array_equal(alone.nulls[0].values, found.nulls[1].values)


def test_null_models_that_differ_in_arrays_are_compared_one_by_one() -> None:
    models = [("blocks", {"blocks": np.arange(30) % k}) for k in (2, 3)]
    refuses(ValueError, ("`nulls`", "'blocks' twice"), compared, null=models)
    found = compared(null=[models[0], models[0]], draws=2)
    assert [one.null for one in found.nulls] == ["blocks"]


def test_levels_close_together_keep_their_own_numbers() -> None:
    found = compared(noise=[1e-2, 1.00000003e-2], draws=2, rank=False)
    assert found.quantities[:2] == ("usable memory (σ = 0.01)", "usable memory (σ = 0.0100000003)")
    assert found.observed[0] > found.observed[1]


def test_draws_have_the_radius_of_the_network() -> None:
    for radius in (0.8, None):
        job = _Job(NETWORK, {"rewire": ("rewire", {})}, (1e-3,), radius, True)
        drawn = job._drawn(job.case("rewire", 0, 1))
        assert (abs(drawn.spectral_radius - 0.8) < 1e-12) == (radius is not None)


def test_unstable_networks_are_scaled() -> None:
    counts = NETWORK.replace(A=50 * NETWORK.A)
    found = compared(counts)
    assert found.spectral_radius == pytest.approx(0.9)
    assert any("scaled to 0.9" in note for note in found.notes)
    asked = compared(counts, spectral_radius=0.5)
    expected = NETWORK.replace(A=scale_to_spectral_radius(NETWORK.A, 0.5))
    usable = memcurve.memory_curve(expected, noise=1e-3).total
    assert asked.observed[1] == pytest.approx(usable, abs=1e-9)


def test_networks_without_cycles_keep_their_scale() -> None:
    line = memcurve.ensembles.delay_line(8)
    found = compared(line)
    assert found.observed[0] == 8
    assert any("no cycles" in note for note in found.notes)


def test_a_ring_remembers_more_than_its_rewirings() -> None:
    """A ring of n nodes has rank n; rewired it falls into cycles, and the input drives one."""
    ring = memcurve.ensembles.cyclic(12, spectral_radius=0.9)
    ring = ring.replace(C=np.eye(12)[0])
    found = compared(ring, "rewire", draws=29)
    total = found.tests[0]
    lengths = found.nulls[0].values[:, 0]
    assert total.observed == 12
    assert lengths.min() >= 2  # no self-loops
    # the length of a given node's cycle is nearly even on 2 … 12
    assert abs(lengths.mean() - 7) < 5 * 3.3 / math.sqrt(29)
    assert total.below == np.sum(lengths < 12)


def stored(path: Path) -> dict[str, float]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT key, seconds FROM results").fetchall())


def test_a_store_is_gone_on_with(tmp_path, monkeypatch) -> None:
    store = tmp_path / "nulls.sqlite"
    first = compared(store=store, draws=3)
    before = stored(store)
    more = compared(store=store, draws=5)
    after = stored(store)
    assert len(before) == 4
    assert len(after) == 6
    assert before.items() <= after.items()  # computed once
    drawn = []
    monkeypatch.setattr(connectome, "make", lambda *_, seed, **__: drawn.append(seed))
    again = compared(store=store, draws=5)
    assert drawn == [1]  # of a network without edges, by which options are checked
    np.testing.assert_array_equal(again.nulls[0].values, more.nulls[0].values)
    monkeypatch.undo()
    np.testing.assert_array_equal(more.nulls[0].values[:3], first.nulls[0].values)
    other = compared(NETWORK.replace(C=2 * NETWORK.C), store=store, draws=3)
    assert other.observed[1] != first.observed[1]


def test_sentence_and_threshold() -> None:
    def made(observed: float, count: int) -> NullComparison:
        values = np.random.default_rng(1).normal(10, 1, (count, 1))
        drawn = (memcurve.studies.connectome.Draws("rewire", values),)
        about = ("worm", 5, 9, 0.9, 1)
        return NullComparison(*about, ("usable",), np.array([observed]), drawn)

    facts = {"count": 99, "null": "rewire"}
    numbers = "usable: 4, surrogates 9.922 ± 0.86"
    for observed, kind, what in ((4.0, "lower", numbers), (10.2, "same", "usable")):
        sentence = PROSE[kind].format(quantities=what, **facts)
        assert made(observed, 99).sentence == f"worm: {sentence}."
    assert made(16.0, 99).sentence.startswith("worm: higher than 99 rewire surrogates")
    assert "too few for a test at level 0.05: 9 rewire surrogates" in made(4.0, 9).sentence
    assert not made(4.0, 18).can_tell
    assert made(4.0, 19).can_tell  # 1/20 is 0.05


def test_files(tmp_path) -> None:
    found = compared(null=["rewire", ("shuffle", {"signs": "fixed"})])
    found.save(tmp_path / "found.csv")
    rows = list(csv.DictReader((tmp_path / "found.csv").read_text().splitlines()))
    assert [row["null"] for row in rows[::3]] == ["rewire", "shuffle(signs=fixed)"]
    assert float(rows[1]["observed"]) == found.observed[1]
    page = found.to_html()
    assert "null models" in page
    assert found.sentence.split(",")[0] in page
    assert PROSE["legend"].split(";")[0] in page
    assert "usable memory (σ = 0.001)" in repr(found)


def test_errors() -> None:
    refuses(ValueError, ("`nulls`", "'random'"), compared, null="random")
    refuses(ValueError, ("`blocks`", "'blocks'"), compared, null=["blocks"])
    refuses(TypeError, "`bins`", compared, null=("shuffle", {"bins": 3}))
    refuses(ValueError, "`nulls`", compared, null=[])
    refuses(ValueError, "`seed`", compared, seed=None)
    refuses(ValueError, ("`draws`", "0"), compared, draws=0)
    refuses(ValueError, ("`spectral_radius`", "0"), compared, spectral_radius=0)
    refuses(ValueError, ("`executor`", "'x'"), compared, executor="x")
    for wrong in (3, [3], [("rewire", {}, 1)]):
        refuses(TypeError, "`nulls`", compared, null=wrong)
    refuses(ValueError, ("`noise`", "-1.0"), compared, noise=[1e-3, -1.0])
    refuses(TypeError, "`noise`", compared, noise="low")


def test_null_models_that_change_nothing_have_no_p_value(tmp_path) -> None:
    """All draws would be the network: z = 0 and p = 1 would say that it is as by chance."""
    positive = NETWORK.replace(A=abs(NETWORK.A))
    found = compared(positive, ["signs", "shuffle"], draws=19)
    assert [len(draws.values) for draws in found.nulls] == [0, 19]
    assert all(math.isnan(s.p) and math.isnan(s.z) for s in found.tests if s.null == "signs")
    assert "signs cannot change it (all weights have the same sign)" in found.sentence
    assert "19 shuffle surrogates" in found.sentence
    assert found.threshold == 0.05
    assert sum("no p-value" in note for note in found.notes) == 1
    found.save(tmp_path / "found.json")
    assert NullComparison.load(tmp_path / "found.json").sentence == found.sentence
    alone = compared(positive, "signs")
    assert alone.sentence.endswith("signs cannot change it (all weights have the same sign).")
    for one in (found, alone):
        assert "no p-value" in one.to_html()
        one.plot()


def test_classes_are_kept_apart_by_default() -> None:
    halves = np.arange(30) % 2
    assert [one.null for one in compared(null=None, draws=2).nulls] == ["rewire", "shuffle"]
    found = compared(null=None, blocks=halves, draws=2)
    assert [one.null for one in found.nulls] == ["blocks", "shuffle"]
    asked = compared(null=("blocks", {"blocks": halves}), draws=2)
    np.testing.assert_array_equal(found.nulls[0].values, asked.nulls[0].values)


def test_memory_by_region() -> None:
    """The two ways by hand; a region that is all of the network is the network."""
    regions = np.repeat(["a", "b", "c"], 10)
    found = memcurve.memory_by_region(NETWORK, regions, noise=1e-3)
    assert found.regions == ("a", "b", "c")
    read = NETWORK.replace(readout=range(10, 20))
    assert found.read[1] == memcurve.memory_curve(read, noise=1e-3).total
    mask = np.where(regions == "b", np.linalg.norm(NETWORK.C) / np.sqrt(10), 0.0)
    driven = NETWORK.replace(C=mask)
    assert found.driven[1] == memcurve.memory_curve(driven, noise=1e-3).total
    assert found.read.max() <= found.whole
    one = memcurve.memory_by_region(NETWORK, np.zeros(30), noise=1e-3)
    assert one.read[0] == pytest.approx(one.whole, abs=1e-9)
    refuses(ValueError, "`regions`", memcurve.memory_by_region, NETWORK, [1], noise=1)
    for wrong in ([1e-3, 1e-2], memcurve.StateNoise(0.1), -1):
        error = (ValueError, TypeError)
        refuses(error, "`noise`", memcurve.memory_by_region, NETWORK, regions, noise=wrong)
    sensory = NETWORK.replace(readout=range(10, 20))  # the best of one class
    assert {*memcurve.best_readout(sensory, 1e-3, 3).nodes.tolist()} < {*range(10, 20)}
