"""The page as one file: static, for a disk, a site, a lecture; or served by Python."""

import dataclasses
import json
from string import Template
from typing import Any

import numpy as np

from memcurve.core.notes import text_beside, texts_beside
from memcurve.core.version import __version__
from memcurve.memory import controllable_spectrum
from memcurve.network import ensembles, masks
from memcurve.network.linear import LinearNetwork

SIZES = (10, 30, 60, 100)
NOISES = (0.0, *(float(f"{digit}e{power}") for power in range(-9, 0) for digit in (1, 3)), 1.0)


def upper_eigenvalues(network: LinearNetwork, scale: float) -> list[list[float]]:
    """Controllable eigenvalues of the real states, pairs once, by the one above the real axis."""
    poles = controllable_spectrum(LinearNetwork(*network.real_pair())).poles
    assert poles is not None  # those of the ensembles here are known
    upper = scale * poles[poles.imag >= 0]
    upper = upper[np.lexsort((upper.real, -upper.imag))]
    return [[float(pole.real), float(pole.imag)] for pole in upper]


def static_page() -> str:
    """The page that needs nothing, as HTML.

    Examples
    --------
    >>> page = static_page()
    >>> len(page) < 1_000_000
    True
    """
    presets = {}
    for key, preset in texts_beside(__file__, "presets.toml").items():
        states = 2 if key == "lru_ring" else 1  # of a complex node: its real and imaginary part
        options, fixed = preset.get("options", {}), preset.get("fixed", False)
        networks = {n: ensembles.make(key, n // states, **options) for n in SIZES}
        scale = 1 if fixed else 2
        poles = {n: upper_eigenvalues(network, scale) for n, network in networks.items()}
        presets[key] = {"name": preset["name"], "fixed": fixed, "poles": poles}
    return _page({"presets": presets}, served="")


def served_page(file: str | None, file_name: str) -> str:
    """The page with a Python behind it, and the key and name of a file to begin with."""
    from memcurve.views.exploring.files import OWN_MASK
    from memcurve.views.exploring.scene import MOST_NODES, PageSettings
    from memcurve.views.exploring.stories import STORIES, settings_of

    stories = {
        name: {"settings": dataclasses.asdict(settings_of(name)), "shows": story.get("shows")}
        for name, story in STORIES.items()
    }
    live = {
        "settings": dataclasses.asdict(PageSettings(file=file)),
        "most": MOST_NODES,
        "noises": NOISES,
        "ensembles": list(ensembles.ENSEMBLES),
        "masks": [OWN_MASK, *masks.MASKS],
        "stories": stories,
        "files": {file: file_name} if file else {},
    }
    return _page({"presets": {}, "live": live}, served=text_beside(__file__, "play/live.js"))


def _page(facts: dict[str, Any], served: str) -> str:
    # “<” in a name must not end the script that contains the facts
    embedded = json.dumps(facts, separators=(",", ":")).replace("<", "\\u003c")
    parts = {name: text_beside(__file__, f"play/{name}.js") for name in ("memory", "page")}
    style = text_beside(__file__, "play/page.css")
    return Template(text_beside(__file__, "play/page.html")).substitute(
        parts, style=style, live=served, facts=embedded, version=__version__
    )
