"""Example settings, each with a text made from its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memcurve.memory import memory_curve
from memcurve.studies.auditing.sentences import number
from memcurve.views.exploring.jobs import Job, simulated
from memcurve.views.exploring.scene import OWN_MASK, PageSettings, Scene

#: Texts of the stories, by kind.
PROSE = {
    "simulation": "The total memory is {total}, older inputs in directions of ever smaller state "
    "variance. {name}, used as in its documentation ({about}), reports {reported}: its ridge acts "
    "like observation noise of {floor:.1g}, under which the usable memory is {usable}. The number "
    "depends on the protocol, not on the network alone.",
    "cyclic": "The input enters at one node and goes around the cycle. For the first {size} lags "
    "MC_τ is {first:.3f}; for the next {size}, when newer inputs are superimposed, {second:.3f}. "
    "The total is {total}, one for each node, and the eigenvalues are evenly spaced on a circle.",
    "evenly": "Every node of the cycle gets the same input, so all {size} states are equal: "
    "{lost} of {size} eigenvalues are uncontrollable, and the total memory is {total}. Driven at "
    "one node, the same cycle has {one}: choose “{own}” as the input mask.",
    "products": "A linear network of {size} nodes remembers {total} inputs. Let the input multiply "
    "the states, and less and less of that is found in a memory curve: it turns into products of "
    "past inputs. Move the strength below.",
}


@dataclass(frozen=True)
class Story:
    """Where the controls go, and the facts that its text of PROSE tells.

    The first order is computed before, by a worker.
    """

    kind: str
    settings: PageSettings
    facts: Callable[[Scene, Any], Mapping[str, Any]] = lambda scene, ordered: {}
    orders: Callable[[Scene], dict[str, Job]] = lambda scene: {}

    def tell(self, scene: Scene, arrived: Mapping[str, Any]) -> str:
        """The text, once all that was ordered has arrived."""
        facts = {"size": scene.network.size, "total": number(scene.curve.total)}
        return PROSE[self.kind].format(**facts, **self.facts(scene, arrived.get("first")))


def _simulation(scene: Scene, ordered: Any) -> Mapping[str, Any]:
    protocol, reported, floor, usable = ordered
    return {
        "name": protocol.name, "about": protocol.about, "reported": number(reported),
        "floor": floor, "usable": number(usable),
    }  # fmt: skip


def _evenly(scene: Scene, ordered: Any) -> Mapping[str, Any]:
    driven_at_one = memory_curve(replace(_EVENLY, mask=OWN_MASK).network(), 1).total
    lost = scene.network.size - round(scene.curve.total)
    return {"lost": lost, "one": number(driven_at_one), "own": OWN_MASK}


_EVENLY = PageSettings(ensemble="cyclic", spectral_radius=0.5, mask="ones")

STORIES = {
    "why reservoirpy says 30": Story(
        "simulation",
        PageSettings(),
        _simulation,
        lambda scene: {"first": (simulated, ("reservoirpy", scene.network, 1))},
    ),
    "a cyclic network": Story(
        "cyclic",
        PageSettings(ensemble="cyclic", spectral_radius=0.99),
        lambda scene, _: {"first": scene.curve[0], "second": scene.curve[scene.network.size]},
    ),
    "driven evenly: memory 1": Story("evenly", _EVENLY, _evenly),
    "memory turns into nonlinearity": Story(
        "products", PageSettings(ensemble="normal", size=20, spectral_radius=0.7)
    ),
}
