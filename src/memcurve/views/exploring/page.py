"""The page as one file: for a disk, a site, a lecture; or with a Python behind it."""

from __future__ import annotations

import dataclasses
import json
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from memcurve.core.version import __version__
from memcurve.memory import controllable_spectrum
from memcurve.network import ensembles, masks
from memcurve.network.linear import LinearNetwork

SIZES = (10, 30, 60, 100)
NOISES = (0.0, *(float(f"{digit}e{power}") for power in range(-9, 0) for digit in (1, 3)), 1.0)
#: Ensembles of the page: what it calls them, how one is made, and whether its radius is its own;
#: the others are made at half of the radius that the page scales from.
PRESETS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "normal": ("random (Gaussian)", {"spectral_radius": 0.5, "seed": 1}, False),
    "sparse_normal": ("random, sparse", {"spectral_radius": 0.5, "density": 0.2, "seed": 1}, False),
    "symmetric": ("symmetric", {"spectral_radius": 0.5, "seed": 1}, False),
    "orthogonal": ("orthogonal", {"spectral_radius": 0.5, "seed": 1}, False),
    "cyclic": ("ring", {"spectral_radius": 0.5}, False),
    "lru_ring": ("linear recurrent unit, at initialisation", {"seed": 1}, True),
    "hippo_legs": ("HiPPO-LegS", {}, True),
    "hippo_legt": ("HiPPO-LegT (LMU)", {}, True),
    "delay_line": ("delay line", {}, True),
}


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
    for key, (name, options, fixed) in PRESETS.items():
        states = 2 if key == "lru_ring" else 1  # of a complex node: its real and imaginary part
        networks = {n: ensembles.make(key, n // states, **options) for n in SIZES}
        scale = 1 if fixed else 2
        poles = {n: upper_eigenvalues(network, scale) for n, network in networks.items()}
        presets[key] = {"name": name, "fixed": fixed, "poles": poles}
    return _page({"presets": presets}, served="")


def served_page(file: str | None, file_name: str) -> str:
    """The page with a Python behind it, and the key and name of a file to begin with."""
    from memcurve.views.exploring.files import OWN_MASK
    from memcurve.views.exploring.scene import MOST_NODES, PageSettings
    from memcurve.views.exploring.stories import STORIES, settings_of

    live = {
        "settings": dataclasses.asdict(PageSettings(file=file)), "most": MOST_NODES,
        "noises": NOISES,
        "ensembles": list(ensembles.ENSEMBLES), "masks": [OWN_MASK, *masks.MASKS],
        "stories": {
            name: {"settings": dataclasses.asdict(settings_of(name)), "shows": one.get("shows")}
            for name, one in STORIES.items()
        },
        "files": {file: file_name} if file else {},
    }  # fmt: skip
    return _page({"presets": {}, "live": live}, served=_text("live.js"))


def _page(facts: dict[str, Any], served: str) -> str:
    # “<” in a name must not end the script that the facts stand in
    given = json.dumps(facts, separators=(",", ":")).replace("<", "\\u003c")
    return Template(_text("page.html")).substitute(
        style=_text("page.css"), memory=_text("memory.js"), page=_text("page.js"), live=served,
        facts=given, version=__version__,
    )  # fmt: skip


def _text(name: str) -> str:
    return (files("memcurve.views.exploring") / "play" / name).read_text(encoding="utf-8")


def write_static_page(path: Path) -> None:
    """Write the page that needs nothing into a file."""
    path.write_text(static_page(), encoding="utf-8")
