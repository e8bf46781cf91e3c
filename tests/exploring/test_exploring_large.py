"""What ``memcurve explore`` shows of networks that are too large for their eigenvalues."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import diags_array

import memcurve
from memcurve.studies.auditing.usable import MOST_STATES
from memcurve.views.exploring import figures, large
from memcurve.views.exploring.files import network_of
from memcurve.views.exploring.files import python_lines as small_lines
from memcurve.views.exploring.scene import OWN_MASK, PageSettings, is_large

#: A chain of so many nodes, each of which hands on so much, and nodes that nothing leads to.
CHAIN, KEPT, UNREACHED = 500, 0.8, 7
NOISE = 1e-3


def chain() -> memcurve.LinearNetwork:
    """Node k holds the input of k steps ago, times ``KEPT**k``."""
    size = CHAIN + UNREACHED
    weights = np.where(np.arange(size - 1) < CHAIN - 1, KEPT, 0.0)
    return memcurve.LinearNetwork(diags_array(weights, offsets=-1), np.eye(size)[0], name="chain")


def test_the_curve_under_noise_is_its_closed_form() -> None:
    signal = KEPT ** (2.0 * np.arange(CHAIN))
    truth = signal / (signal + NOISE**2)
    network, settings = chain(), PageSettings(noise=NOISE)
    assert is_large(network)
    found = {name: job(*given) for name, (job, given) in large.jobs(network, settings).items()}
    curve = found["curve"]
    assert np.abs(curve.values[:CHAIN] - truth[: len(curve)]).max() <= curve.error.max() + 1e-12
    assert abs(curve.total - truth.sum()) <= curve.total_error + 1e-9
    account = found["wiring"]
    assert (account.rank, account.possible, account.reached) == (CHAIN, CHAIN, CHAIN)
    head = large.headline(network, settings, found)
    assert f"<strong>{truth.sum():.4g}</strong> usable with noise 0.001" in head
    assert f"<strong>{CHAIN}</strong> in theory" in head
    assert f"{CHAIN + UNREACHED} states, {CHAIN} of them reachable" in head
    assert f"{UNREACHED} nodes" in head
    assert "nodes 500, 501" in head
    section = large.memory_section(network, settings, found)
    assert section.chart is not None
    assert np.array_equal(section.chart.series[0].y, curve.values[: len(section.chart.series[0].y)])
    assert "curve without noise and the eigenvalues to drag" in section.text


@pytest.mark.parametrize("most", [MOST_STATES, 0])
def test_usable_memory_goes_by_the_same_solver(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "MOST_STATES", most)
    network = chain()
    usable, without = large.usable(network, {"noise": NOISE})
    assert np.isnan(without)
    row = usable.measured
    assert row is not None
    truth = large.curve_under_noise(network, {"noise": NOISE}).total
    assert row.total == pytest.approx(truth, abs=1e-9)
    assert usable.levels[0] <= row.level  # the line reaches the noise that is asked for
    assert figures.usable_section(PageSettings(), {"usable": (usable, without)}).chart is not None


def test_what_is_on_its_way_or_fails_is_said() -> None:
    settings = PageSettings()
    assert "<strong>…</strong> usable in single precision" in large.headline(chain(), settings, {})
    assert large.memory_section(chain(), settings, {}).chart is None
    ring = diags_array([1.5, 1.5], offsets=[-1, CHAIN - 1], shape=(CHAIN, CHAIN))
    unstable = memcurve.LinearNetwork(ring, np.ones(CHAIN))
    with pytest.raises(memcurve.UnstableNetworkError) as error:
        large.curve_under_noise(unstable, {"noise": NOISE})
    said = large.memory_section(unstable, settings, {"curve": error.value}).text
    assert "There is no curve here: the network is unstable" in said
    assert figures.SCALE_IT in said


@pytest.mark.parametrize("mask", [OWN_MASK, "ones"])
def test_a_file_is_scaled_to_the_radius_that_is_set(
    mask: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    drawn = memcurve.LinearNetwork(rng.standard_normal((20, 20)), rng.standard_normal(20))
    memcurve.save_network(drawn, "mine.npz")
    contents = Path("mine.npz").read_bytes()
    settings = PageSettings(spectral_radius=0.7, mask=mask, noise=0.1)
    scaled = network_of("mine.npz", contents, mask, 1, settings.spectral_radius)
    assert scaled.spectral_radius == pytest.approx(0.7, rel=1e-12)
    lines = large.python_lines(settings, "mine.npz", scaled=True)
    for script in (lines, small_lines(settings, lags=20, file="mine.npz", scaled=True)):
        names: dict[str, Any] = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(script, names)
        assert np.array_equal(names["network"].A, scaled.A)
        assert np.array_equal(names["network"].C, scaled.C)
    assert "spectral radius" not in figures.about_settings(settings, "mine.npz", "", scaled=True)
    assert "spectral radius" in figures.about_settings(settings, "mine.npz", "")
