"""Example settings, each with a text made from its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memcurve.memory import memory_curve
from memcurve.studies.auditing.sentences import number
from memcurve.views.exploring.jobs import Job, simulated
from memcurve.views.exploring.scene import (
    DRAWN,
    OWN_MASK,
    PageSettings,
    Scene,
)

Found = Mapping[str, Any]


@dataclass(frozen=True)
class Story:
    """Where the controls go, what is ordered for it, and the text made of it once all is there."""

    settings: PageSettings
    tell: Callable[[Scene, Found], str]
    orders: Callable[[Scene], dict[str, Job]] = lambda scene: {}
    has_products: bool = False


def _simulation(scene: Scene, found: Found) -> str:
    protocol, reported, floor, usable = found["simulation"]
    return (
        f"The total memory is {number(scene.curve.total)}, older inputs in directions of ever "
        f"smaller state variance. {protocol.name}, used as in its documentation "
        f"({protocol.about}), reports {number(reported)}: its ridge acts like observation noise of "
        f"{floor:.1g}, under which the usable memory is {number(usable)}. The number depends on "
        f"the protocol, not on the network alone."
    )


def _ring(scene: Scene, found: Found) -> str:
    size, curve = scene.network.size, scene.curve
    return (
        f"The input enters at one node and travels around the cycle. For the first {size} lags "
        f"MC_τ is {curve[0]:.3f}; for the next {size}, when newer inputs are superimposed, "
        f"{curve[size]:.3f}. The total is {number(curve.total)}, one for each node, and the "
        f"eigenvalues are evenly spaced on a circle."
    )


def _evenly(scene: Scene, found: Found) -> str:
    size, total = scene.network.size, scene.curve.total
    fed_at_one = memory_curve(replace(_EVENLY, mask=OWN_MASK).network(), 1).total
    return (
        f"Every node of the cycle gets the same input, so all {size} states are equal: "
        f"{size - round(total)} of {size} eigenvalues are uncontrollable, and the total memory is "
        f"{number(total)}. Driven at one node, the same cycle has {number(fed_at_one)}: choose "
        f"“{OWN_MASK}” as the input mask."
    )


def _products(scene: Scene, found: Found) -> str:
    return (
        f"A linear network of {scene.network.size} nodes remembers {number(scene.curve.total)} "
        f"inputs. Let the input multiply the states, and less and less of that is found in a "
        f"memory curve: it turns into products of past inputs. Move the strength below."
    )


def _drawn(scene: Scene, found: Found) -> str:
    return (
        f"The other way round: draw the memory curve, and get a network of {scene.network.size} "
        f"nodes. Its eigenvalues, its usable memory and the lines that make it follow."
    )


def _simulation_orders(scene: Scene) -> dict[str, Job]:
    return {"simulation": (simulated, ("reservoirpy", scene.network, 1))}


_EVENLY = PageSettings(ensemble="cyclic", spectral_radius=0.5, mask="ones")

STORIES = {
    "why reservoirpy says 30": Story(PageSettings(), _simulation, _simulation_orders),
    "a ring": Story(PageSettings(ensemble="cyclic", spectral_radius=0.99), _ring),
    "driven evenly: memory 1": Story(_EVENLY, _evenly),
    "memory turns into nonlinearity": Story(
        PageSettings(ensemble="normal", size=20, spectral_radius=0.7), _products, has_products=True
    ),
    "draw a curve, get a network": Story(PageSettings(ensemble=DRAWN, size=20), _drawn),
}
