"""MemoryCurve: slicing, conversion, saving, showing."""

import dataclasses
import json

import numpy as np
import pytest

from memcurve import (
    LinearNetwork,
    MemoryCurve,
    ensembles,
    fisher_curve,
    forecasting_curve,
    inputs,
    memory_curve,
    memory_from_data,
    noise_profile,
)
from refusals import refuses
from tolerances import within
from truth import truth

CURVE = memory_curve(ensembles.normal(20, seed=1, spectral_radius=0.95), seed=5)


def assert_equal(one: MemoryCurve, other: MemoryCurve) -> None:
    for name in ("lags", "values", "error", "loss", "channels", "channel_errors"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
        assert getattr(one, name).dtype == getattr(other, name).dtype
    for name in ("total", "rank", "method", "notes", "options", "seed", "network", "versions"):
        assert getattr(one, name) == getattr(other, name), name
    assert json.loads(one.to_json()) == json.loads(other.to_json())


def test_slicing_is_by_lag() -> None:
    part = CURVE[5:15]
    assert part.lags.tolist() == [*range(5, 15)]
    assert np.array_equal(part.values, CURVE.values[5:15])
    assert np.array_equal(part.error, CURVE.error[5:15])
    assert part.total == pytest.approx(part.values.sum())
    again = part[8:12]
    assert again.lags.tolist() == [8, 9, 10, 11]
    assert again[11] == CURVE[11] == CURVE.values[11]
    assert len(CURVE[:0]) == 0
    slices = slice(-3, None), slice(1.5, 3), slice(0, 9, 2)
    for lags in (-1, 10**6, 6.5, (1, 2), "3", *slices):
        refuses(IndexError, (), CURVE.__getitem__, lags)
    refuses(IndexError, (), CURVE[5:5].__getitem__, 0)
    assert repr(CURVE[:0])
    assert list(part) == np.asarray(part).tolist() == part.values.tolist()
    assert not CURVE.values.flags.writeable


def test_horizon() -> None:
    curve = memory_curve(ensembles.delay_line(7), 10)
    assert curve.horizon() == 7
    assert curve[:5].horizon() is None
    assert memory_curve(ensembles.delay_line(7), 7).horizon() == 7  # nothing is left after lag 6
    assert memory_curve(ensembles.delay_line(7), 6).horizon() is None
    [under_noise] = noise_profile(ensembles.delay_line(7), [0.1])
    assert under_noise.horizon() == 7
    assert memory_curve(ensembles.delay_line(7), 7, method="naive").horizon() is None


def test_save_and_load_are_exact(tmp_path) -> None:
    CURVE.save(tmp_path / "curve.json")
    assert [p.name for p in tmp_path.iterdir()] == ["curve.json"]
    assert_equal(MemoryCurve.load(tmp_path / "curve.json"), CURVE)
    empty = memory_curve(LinearNetwork([[0.5]], [0.0]))
    empty.save(tmp_path / "empty.json")
    assert_equal(MemoryCurve.load(tmp_path / "empty.json"), empty)
    assert empty.diagnostics["margin"] is None
    unknown = dataclasses.replace(CURVE, total=np.nan, error=np.full(len(CURVE), np.inf))
    again = MemoryCurve.from_json(unknown.to_json())
    assert np.isnan(again.total)
    assert np.all(np.isinf(again.error))
    json.loads(unknown.to_json(), parse_constant=pytest.fail)  # NaN is no JSON
    z = np.random.default_rng(1).standard_normal(200)
    parts = CURVE[:0], CURVE[3:], CURVE[2:5], memory_from_data(z[:, None], z, 5)[99:]
    for part in parts:
        again = MemoryCurve.from_json(part.to_json())
        assert_equal(again, part)
        assert again.total_lags == part.total_lags
        assert (again.bands is None) == (part.bands is None)
        assert list(again.columns()) == list(part.columns())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        "3",
        '{"format": "other/1"}',
        CURVE.to_json()[:-200],
        json.dumps(json.loads(CURVE.to_json()) | {"lags": [2**64]}),
    ],
)
def test_loading_something_else(tmp_path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    refuses(ValueError, "`text`", MemoryCurve.load, tmp_path / "x.json")
    (tmp_path / "y.json").write_bytes(b"\xff\xfe\x00")
    refuses(ValueError, "not a saved MemoryCurve", MemoryCurve.load, tmp_path / "y.json")


def test_dataframe() -> None:
    pytest.importorskip("xarray")
    frame, data = CURVE.to_pandas(), CURVE.to_xarray()
    assert float(data["values"].sel(lag=3)) == CURVE[3]
    assert data.attrs["total"] == 20
    assert frame.index.name == "lag"
    assert frame.loc[3, "values"] == CURVE[3]
    assert list(frame.columns) == ["values", "error", "loss"]
    assert frame.attrs["total"] == 20


def test_channels_have_errors_of_their_own() -> None:
    a, b, c, d = 0.8, 0.3, -0.2, 0.4  # nearly a quaternion: eigenvalues in two close pairs
    A = np.array([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])
    A += 1e-5 * np.diag([1.0, 2.0, 3.0, 4.0])
    first, other = np.random.default_rng(2).standard_normal((2, 4))
    C = np.stack([first, first + 1e-5 * other], axis=1)  # nearly the same input twice
    curve, known = memory_curve(LinearNetwork(A, C), 12), truth(A, C, 12)
    within(curve, known.memory, known.total)
    assert np.array_equal(curve[3:5].channel_errors, curve.channel_errors[3:5])
    again = MemoryCurve.from_json(curve.to_json())
    assert np.array_equal(again.channel_errors, curve.channel_errors)
    assert np.array_equal(curve.columns()["channel_1_error"], curve.channel_errors[:, 1])
    one = CURVE.channel_errors
    assert np.array_equal(one, CURVE.error[:, None])


def test_text_and_html() -> None:
    curve = memory_curve(LinearNetwork(np.diag([0.5, 0.4]), [1, 0], name="<one & two>"))
    assert "total memory: 1 (all lags)" in repr(curve)
    assert "1 of 2 states is never reached" in repr(curve)
    html = curve._repr_html_()
    assert "&lt;one &amp; two&gt;" in html
    assert "<li>" in html


def test_saving_replaces_files_only(tmp_path) -> None:
    (tmp_path / "folder.json").mkdir()
    refuses(ValueError, "must be a file", CURVE.save, tmp_path / "folder.json")
    (tmp_path / "real.json").write_text("old")
    try:
        (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    except OSError:
        pytest.skip("this user may not make links, as on Windows")
    CURVE.save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert_equal(MemoryCurve.load(tmp_path / "real.json"), CURVE)
    refuses(OSError, "cannot be written", CURVE.save, tmp_path / "no" / "such" / "x.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.json", "link.json", "real.json"]


def test_a_slice_has_its_own_total() -> None:
    """Parts add up to the whole, whatever the question, and say what they are over."""
    network = ensembles.normal(12, spectral_radius=0.9, seed=1)
    colour = inputs.ARMA(ar=[0.5])
    wholes = [
        memory_curve(network),
        memory_curve(network, 30, input=colour),
        memory_curve(network, 30, noise=1e-2),
        forecasting_curve(network, colour, horizons=6),
        fisher_curve(network, lags=40),
    ]
    for whole in wholes:
        first = int(whole.lags[0])
        head, rest = whole[: first + 4], whole[first + 4 :]
        bound = head.total_error + rest.total_error
        assert abs(head.total + rest.total - whole.total) <= bound < 1e-9
        assert abs(head.total - head.values.sum()) <= 1e-15 * abs(whole.total)
        assert rest.total_error >= whole.total_error
        assert head.total_lags == (first, first + 3)
        assert rest.total_lags == (first + 4, None)
        assert whole[first:].total == whole.total
        assert whole[first:].total_lags is None
        middle = rest[: first + 5]
        assert middle.total == whole[first + 4 : first + 5].total == whole[first + 4]
    rank = wholes[0]
    assert rank[1:].total == pytest.approx(12 - rank[0], abs=1e-12)
    certified = memory_curve(network, method="certified")[1:20]
    assert abs(rank[1:20].total - certified.total) <= rank[1:20].total_error + certified.total_error
    assert "(lags 1 … 19)" in repr(rank[1:20])
    assert "(all lags from 1 on)" in repr(rank[1:])
    assert (rank[3:3].total, rank[3:3].total_over) == (0, "no lags")
    assert rank[9999:].total_over == "no lags"  # what lies between is not listed
    assert wholes[3][1:3].total_over == "horizons 1 … 2"
    naive = memory_curve(network, method="naive")[1:]
    assert np.isnan(naive.total_error)
    assert naive.total_over == "the lags that the method covers from 1 on"


def test_a_slice_after_the_last_lag_has_the_total_of_what_is_not_listed() -> None:
    # one node: MC_τ = (1 − λ²)λ²ᵗ, of which λ⁶ is left after three lags
    curve = memory_curve(LinearNetwork([[0.5]], [1.0]), lags=3)
    rest = curve[3:]
    assert len(rest) == 0
    assert abs(rest.total - 0.5**6) <= rest.total_error < 1e-14
    assert rest[3:].total == rest.total
    assert rest.total_over == "all lags from 3 on"
    assert (rest[4:].total, rest[4:].total_over) == (0, "no lags")


def test_a_slice_of_a_recording_counts_what_its_total_does() -> None:
    network, rng = ensembles.delay_line(5), np.random.default_rng(1)
    z = rng.standard_normal(600)
    X = network.simulate(z)
    curve = memory_from_data(X + 0.5 * rng.standard_normal(X.shape), z, 40)
    end = curve.diagnostics["end_lag"] + 1
    assert end < 30
    assert curve[1:].total == pytest.approx(curve.values[1:end].sum(), abs=1e-12)
    assert curve[30:].total == pytest.approx(0, abs=1e-12)
    assert curve[30:].total_over == "the lags that the method covers from 30 on"


def test_attributes_of_a_profile_of_unknown_rank_can_be_stored() -> None:
    pytest.importorskip("xarray")
    network = ensembles.sparse_normal(400, density=0.02, seed=1)
    profile = noise_profile(network, [1e-1], lags=2)
    assert profile.rank is None
    data = profile.to_xarray()
    assert data.attrs["rank"] == -1
    assert all(isinstance(value, str | int) for value in data.attrs.values())
