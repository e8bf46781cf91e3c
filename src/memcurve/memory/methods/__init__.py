"""The methods: a function each, with one declaration (:class:`Method`), in a table."""

from memcurve.memory.methods import exact, paper  # isort: skip - the order of the table
from memcurve.memory.methods import montecarlo
from memcurve.memory.methods.method import METHODS, Method, Variant, declared, estimate

__all__ = ["METHODS", "Method", "Variant", "declared", "estimate"]

del exact, montecarlo, paper
