"""Fading memory, consistency and the report, against linear networks whose answers are exact."""

from typing import Any

import numpy as np
import pytest

import memcurve
from command import succeeded
from memcurve import MeasurementReport, NonlinearNetwork, StateNoise, ensembles, models
from memcurve.core.types import Floats
from memcurve.data.measuring.driven import _consistency, measurement_report
from memcurve.data.measuring.forgetting import forgetting
from memcurve.data.measuring.models import as_model
from memcurve.data.prose import REPORT
from refusals import refuses


def white(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return lambda count, steps: rng.standard_normal((count, steps, 1))


@pytest.mark.parametrize("radius", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("kind", ["orthogonal", "normal", "symmetric"])
def test_linear_networks_forget_at_their_spectral_radius(kind: str, radius: float) -> None:
    model = as_model(getattr(ensembles, kind)(20, spectral_radius=radius, seed=2))
    draw = white(1)
    settled = forgetting(model, draw, 1e-12)
    assert settled.forgets
    assert settled.own_noise == 0
    assert settled.kept_state == 0
    # the distance of two pasts is below 1e-12 after as many steps, more or less a transient
    expected = np.log(1e-12) / np.log(radius)
    assert 0.8 * expected <= settled.washout <= 1.3 * expected


def test_a_chaotic_network_does_not_forget() -> None:
    rng = np.random.default_rng(1)
    network = NonlinearNetwork(
        3 * rng.standard_normal((50, 50)) / np.sqrt(50), np.ones(50), input_scale=0.01
    )
    model, draw = as_model(network), white(1)
    settled = forgetting(model, draw, 1e-12)
    assert not settled.forgets
    assert settled.left > 0.1


def test_consistency_under_noise_is_the_usable_memory() -> None:
    """Two replicas of a linear network share exactly what their input explains of them."""
    network = ensembles.normal(8, spectral_radius=0.8, seed=1)
    noise = 0.2
    own = np.random.default_rng(2)

    def run(z: Floats) -> Floats:
        x, rows = np.zeros(8), []
        for value in z:
            x = network.A @ x + network.C * value + noise * own.standard_normal(8)
            rows.append(x)
        return np.array(rows)

    model, draw = models.Function(run), white(3)
    settled = forgetting(model, draw, 1e-12)
    assert settled.own_noise > 0.01
    assert settled.forgets
    z = draw(1, settled.washout + 3000)
    found = _consistency(*(model.run(z)[0, settled.washout :] for _ in range(2)))
    exact = memcurve.memory_curve(network, noise=StateNoise(noise)).total
    assert abs(found.total - exact) <= 2 * found.error
    assert found.error < 0.2


@pytest.fixture(scope="module")
def tanh() -> MeasurementReport:
    linear = ensembles.orthogonal(10, spectral_radius=0.8, seed=1)
    network = NonlinearNetwork(linear.A, linear.C, input_scale=0.5, name="a tanh network")
    return measurement_report(network, seed=1, precision=0.2, scales=[0.01, 1.0])


def test_the_report_has_the_results(tanh: MeasurementReport) -> None:
    assert tanh.good
    assert tanh.forgets
    assert tanh.consistency.share == pytest.approx(1)
    # memory is the capacity of degree 1, and all capacities together are at most the states
    assert abs(tanh.capacity.by_degree[1] - tanh.total) <= 0.5
    assert tanh.capacity.total <= 10
    said = " ".join(tanh.verdict)
    for fact in (f"{tanh.washout} steps", REPORT["deterministic"], "degree 3"):
        assert fact in said
    assert f"{tanh.scales.limit.total:.4g}, exactly" in said


def test_the_report_as_a_page(tanh: MeasurementReport) -> None:
    page = tanh.to_html()
    assert page.startswith("<!DOCTYPE html>") or page.startswith("<!doctype html>")
    assert "a tanh network" in page
    assert REPORT["scales"] in tanh.to_markdown()
    assert tanh.document().word == "Fading memory confirmed"
    assert tanh._repr_markdown_() == tanh.to_markdown()


def test_audits_are_of_linear_networks() -> None:
    network = NonlinearNetwork(*ensembles.normal(5, seed=1).real_pair())
    for model in (network, lambda z: z[:, None]):
        refuses(ValueError, ("`network`", "measurement_report"), memcurve.audit, model)


def test_a_report_of_noise_and_of_several_inputs() -> None:
    own = np.random.default_rng(2)

    def run(z: Floats) -> Floats:
        mixed = z @ np.array([[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]])
        return np.tanh(mixed) + own.standard_normal((len(z), 3))

    noisy = models.Function(run, inputs=2, name="noisy")
    found = measurement_report(noisy, seed=1, precision=0.3, scales=[])
    assert found.capacity is None
    assert found.scales is None
    assert not found.good
    assert f"of {found.consistency.states}; the rest is intrinsic noise" in " ".join(found.verdict)
    assert found.document().word == "Not consistent"


def test_the_command_writes_a_page(tmp_path, command) -> None:
    page = tmp_path / "report.html"
    asked = ("--size", 5, "--precision", 1, "--budget", 5, "--html", page)
    done = succeeded(command("measure", *asked))
    assert "forgets initial conditions" in done.out
    assert page.stat().st_size > 10_000
