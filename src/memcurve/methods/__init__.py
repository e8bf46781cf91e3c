"""The table of methods: every one is ``method(network, lags, **options) -> MemoryCurve``."""

from collections.abc import Callable

from memcurve.curve import MemoryCurve
from memcurve.methods.arnoldi import arnoldi
from memcurve.methods.certified import certified
from memcurve.methods.exact import exact
from memcurve.methods.montecarlo import montecarlo
from memcurve.methods.naive import naive
from memcurve.methods.neutral import neutral
from memcurve.methods.osm import osm
from memcurve.methods.osm_plus import osm_plus

METHODS: dict[str, Callable[..., MemoryCurve]] = {
    "exact": exact,
    "certified": certified,
    "naive": naive,
    "neutral": neutral,
    "osm": osm,
    "osm_plus": osm_plus,
    "arnoldi": arnoldi,
    "montecarlo": montecarlo,
}

#: Methods that take any input, noise, number of inputs and readout.
GENERAL = ("exact", "certified", "naive", "montecarlo")
