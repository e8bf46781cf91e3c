"""The page that needs nothing: one file with its own JavaScript, for a disk, a site, a lecture."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from memcurve.core.version import __version__
from memcurve.memory import controllable_spectrum
from memcurve.network import ensembles
from memcurve.network.linear import LinearNetwork

SIZES = (10, 30, 60, 100)
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
    """The page as HTML.

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
    folder = files("memcurve.views.exploring") / "play"
    text = {name: (folder / name).read_text(encoding="utf-8") for name in
            ("page.html", "page.css", "memory.js", "page.js")}  # fmt: skip
    return Template(text["page.html"]).substitute(
        style=text["page.css"], memory=text["memory.js"], page=text["page.js"],
        presets=json.dumps(presets, separators=(",", ":")), version=__version__,
    )  # fmt: skip


def write_static_page(path: Path) -> None:
    """Write the page into a file."""
    path.write_text(static_page(), encoding="utf-8")
