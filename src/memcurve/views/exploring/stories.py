"""Example settings, each with a text made from its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memcurve.core.limits import one_thread
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork, ensembles
from memcurve.state_affine import bilinear, capacities
from memcurve.studies.auditing.estimates import PROTOCOLS
from memcurve.studies.auditing.sentences import number
from memcurve.views.exploring.files import OWN_MASK
from memcurve.views.exploring.scene import PageSettings, Scene

STRENGTHS = tuple(round(0.05 * k, 2) for k in range(25))  # with which the input multiplies states


@dataclass(frozen=True)
class Story:
    """Where the controls go, and a text with the facts that belong into it.

    ``shows`` is a section of its own, by the question that it asks.
    """

    text: str
    settings: PageSettings
    facts: Callable[[Scene], Mapping[str, Any]] = lambda scene: {}
    shows: str = ""


def told(name: str) -> dict[str, Any]:
    """The text of a story, from its results."""
    story = STORIES[name]
    scene = story.settings.scene()
    facts = {"size": scene.network.size, "total": number(scene.curve.total)}
    return {"said": story.text.format(**facts, **story.facts(scene))}


def _simulation(scene: Scene) -> Mapping[str, Any]:
    protocol = PROTOCOLS["reservoirpy"](scene.network.read_states)
    with one_thread():
        reported = float(protocol.measure(scene.network, np.random.default_rng(1)).sum())
    usable = memory_curve(scene.network, 1, noise=protocol.noise_floor).total
    return {
        "name": protocol.name, "about": protocol.about, "reported": number(reported),
        "floor": protocol.noise_floor, "usable": number(usable),
    }  # fmt: skip


def _cyclic(scene: Scene) -> Mapping[str, Any]:
    return {"first": scene.curve[0], "second": scene.curve[scene.network.size]}


def _evenly(scene: Scene) -> Mapping[str, Any]:
    driven_at_one = memory_curve(replace(_EVENLY, mask=OWN_MASK).network(), 1).total
    lost = scene.network.size - round(scene.curve.total)
    return {"lost": lost, "one": number(driven_at_one), "own": OWN_MASK}


_EVENLY = PageSettings(ensemble="cyclic", spectral_radius=0.5, mask="ones")

STORIES = {
    "why reservoirpy says 30": Story(
        "The total memory is {total}, older inputs in directions of ever smaller state variance. "
        "{name}, used as in its documentation ({about}), reports {reported}: its ridge acts like "
        "observation noise of {floor:.1g}, under which the usable memory is {usable}. The number "
        "depends on the protocol, not on the network alone.",
        PageSettings(),
        _simulation,
    ),
    "a cyclic network": Story(
        "The input enters at one node and goes around the cycle. For the first {size} lags MC_τ is "
        "{first:.3f}; for the next {size}, when newer inputs are superimposed, {second:.3f}. The "
        "total is {total}, one for each node, and the eigenvalues are evenly spaced on a circle.",
        PageSettings(ensemble="cyclic", spectral_radius=0.99),
        _cyclic,
    ),
    "driven evenly: memory 1": Story(
        "Every node of the cycle gets the same input, so all {size} states are equal: {lost} of "
        "{size} eigenvalues are uncontrollable, and the total memory is {total}. Driven at one "
        "node, the same cycle has {one}: choose “{own}” as the input mask.",
        _EVENLY,
        _evenly,
    ),
    "memory turns into nonlinearity": Story(
        "A linear network of {size} nodes remembers {total} inputs. Let the input multiply the "
        "states, and less and less of that is found in a memory curve: it turns into products of "
        "past inputs. Move the strength below.",
        PageSettings(ensemble="normal", size=20, spectral_radius=0.7),
        shows="products",
    ),
}


def products(network: LinearNetwork, lags: int) -> dict[str, Any]:
    """Capacities of a network whose input multiplies its states, and its memory curves."""
    B = ensembles.normal(network.size, spectral_radius=1.0, seed=2).A
    results = [capacities(bilinear(network.A, s * B, network.C), degree=3) for s in STRENGTHS]
    degrees = np.array([[one.by_degree.get(d, 0.0) for d in (1, 2, 3)] for one in results])
    totals = np.array([one.total for one in results])
    return {
        "strengths": STRENGTHS, "totals": totals,
        "degrees": [*degrees.T, totals - degrees.sum(axis=1)],
        "curves": [one.curve.values[:lags] for one in results],
    }  # fmt: skip
