"""Example settings with texts filled from results, both from ``stories.toml``."""

from typing import Any

import numpy as np

from memcurve.core.limits import one_thread
from memcurve.core.notes import texts_beside
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork, ensembles
from memcurve.state_affine import bilinear, capacities
from memcurve.studies.auditing.estimates import PROTOCOLS
from memcurve.studies.auditing.sentences import number
from memcurve.views.exploring.scene import PageSettings, Scene

STORIES: dict[str, dict[str, Any]] = texts_beside(__file__)
STRENGTHS = tuple(round(0.05 * k, 2) for k in range(25))  # with which the input multiplies states


def settings_of(name: str) -> PageSettings:
    """The settings of a story."""
    return PageSettings(**STORIES[name].get("settings", {}))


def story_text(name: str) -> dict[str, Any]:
    """The text of a story, from its results."""
    story, scene = STORIES[name], settings_of(name).scene()
    facts = {"size": scene.network.size, "total": number(scene.curve.total)}
    if "facts" in story:
        facts |= _FACTS[story["facts"]](scene)
    return {"said": story["text"].format(**facts)}


def _simulated(scene: Scene) -> dict[str, Any]:
    protocol = PROTOCOLS["reservoirpy"](scene.network.read_states)
    with one_thread():
        reported = float(protocol.measure(scene.network, np.random.default_rng(1)).sum())
    floor = protocol.noise_floor
    usable = number(memory_curve(scene.network, 1, noise=floor).total)
    about = {"name": protocol.name, "about": protocol.about, "floor": floor}
    return about | {"reported": number(reported), "usable": usable}


def _cyclic(scene: Scene) -> dict[str, Any]:
    return {"first": scene.curve[0], "second": scene.curve[scene.network.size]}


def _evenly(scene: Scene) -> dict[str, Any]:
    at_one = memory_curve(ensembles.cyclic(scene.network.size, spectral_radius=0.5), 1).total
    return {"lost": scene.network.size - round(scene.curve.total), "one": number(at_one)}


_FACTS = {"simulated": _simulated, "cyclic": _cyclic, "evenly": _evenly}


def products(network: LinearNetwork, lags: int) -> dict[str, Any]:
    """Capacities of a network whose input multiplies its states, and its memory curves."""
    B = ensembles.normal(network.size, spectral_radius=1.0, seed=2).A
    results = [capacities(bilinear(network.A, s * B, network.C), degree=3) for s in STRENGTHS]
    degrees = np.array([[one.by_degree.get(d, 0.0) for d in (1, 2, 3)] for one in results])
    totals = np.array([one.total for one in results])
    return {
        "strengths": STRENGTHS,
        "totals": totals,
        "degrees": [*degrees.T, totals - degrees.sum(axis=1)],
        "curves": [one.curve.values[:lags] for one in results],
    }
