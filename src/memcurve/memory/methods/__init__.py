"""The table of methods: one small file each, one declaration each (:class:`Method`)."""

from __future__ import annotations

from memcurve.memory.methods import arnoldi, certified, exact, montecarlo, naive, neutral, osm
from memcurve.memory.methods.method import Method, Variant

__all__ = ["METHODS", "Method", "Variant"]

#: All methods by name. A further one is an entry more.
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        exact.METHOD,
        certified.METHOD,
        naive.METHOD,
        neutral.METHOD,
        *osm.METHODS,
        arnoldi.METHOD,
        montecarlo.METHOD,
    )
}
