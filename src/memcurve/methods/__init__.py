"""The table of methods: every one is ``method(network, lags, **options) -> MemoryCurve``."""

from collections.abc import Callable

from memcurve.curve import MemoryCurve
from memcurve.methods.certified import certified
from memcurve.methods.exact import exact

METHODS: dict[str, Callable[..., MemoryCurve]] = {
    "exact": exact,
    "certified": certified,
}
