"""Settings that tell a story, each with a sentence made from what is computed for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memcurve import ensembles
from memcurve.auditing.sentences import number
from memcurve.exploring.jobs import Job, asked_curve, simulated
from memcurve.exploring.scene import OWN_MASK, WIRINGS, WORM, PageSettings, Scene
from memcurve.memory import memory_curve
from memcurve.noise import Float32

#: States read as a device of ten bits would.
DEVICE = 1e-3

Found = Mapping[str, Any]


@dataclass(frozen=True)
class Story:
    """Where the controls go, what is ordered for it, and the text made of it once all is there."""

    settings: PageSettings
    tell: Callable[[Scene, Found], str]
    orders: Callable[[Scene], dict[str, Job]] = lambda scene: {}


def _simulation(scene: Scene, found: Found) -> str:
    protocol, said, floor, usable = found["simulation"]
    return (
        f"All {number(scene.curve.total)} inputs are there, the older ones in ever fainter "
        f"directions of the states. {protocol.name}, told to measure this network as its "
        f"documentation does ({protocol.about}), reports {number(said)}: its ridge hides what a "
        f"noise of {floor:.1g} on the states would, under which {number(usable)} can be used. The "
        f"number is one of the recipe, not of the network."
    )


def _ring(scene: Scene, found: Found) -> str:
    size, curve = scene.network.size, scene.curve
    return (
        f"The input enters at one node and is handed on from node to node. For one round, "
        f"{size} lags, each input is held to {curve[0]:.3f}; a round later, when newer ones lie "
        f"over it, to {curve[size]:.3f}. The steps add up to {number(curve.total)}, one for each "
        f"node, and the eigenvalues stand evenly on a circle."
    )


def _evenly(scene: Scene, found: Found) -> str:
    size, total = scene.network.size, scene.curve.total
    fed_at_one = memory_curve(replace(_EVENLY, mask=OWN_MASK).network(), 1).total
    return (
        f"Every node of the ring gets the same input, so all {size} hold the same number: "
        f"{size - round(total)} of {size} eigenvalues are never excited, and the memory is "
        f"{number(total)}. Fed at one node, the same ring remembers {number(fed_at_one)}: choose "
        f"“{OWN_MASK}” as the input mask."
    )


def _worm(scene: Scene, found: Found) -> str:
    size, total = scene.network.size, scene.curve.total
    single, device, drawn = (number(found[name].total) for name in ("single", "device", "random"))
    return (
        f"The {size} cells of the worm C. elegans, wired as White and others saw them in 1986, if "
        f"they were linear: {number(total)} past inputs in theory, {size - round(total)} fewer "
        f"than cells. Of states in single precision {single} are left, with noise {DEVICE:g} "
        f"{device}; a random network of as many nodes keeps {drawn} in single precision."
    )


def _simulation_orders(scene: Scene) -> dict[str, Job]:
    return {"simulation": (simulated, ("reservoirpy", scene.network, 1))}


def _worm_orders(scene: Scene) -> dict[str, Job]:
    size, single = scene.network.size, {"noise": Float32()}
    random = ensembles.normal(size, spectral_radius=0.9, seed=1)
    return {
        "single": (asked_curve, (scene.network, 1, single)),
        "device": (asked_curve, (scene.network, 1, {"noise": DEVICE})),
        "random": (asked_curve, (random, 1, single)),
    }


_EVENLY = PageSettings(ensemble="cyclic", spectral_radius=0.5, mask="ones")

STORIES = {
    "why reservoirpy says 30": Story(PageSettings(), _simulation, _simulation_orders),
    "a ring": Story(PageSettings(ensemble="cyclic", spectral_radius=0.99), _ring),
    "driven evenly: memory 1": Story(_EVENLY, _evenly),
}
WORM_STORY = Story(PageSettings(ensemble=WORM), _worm, _worm_orders)
if WORM in WIRINGS:
    STORIES["a worm's brain"] = WORM_STORY
