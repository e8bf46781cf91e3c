"""The argument ``input`` of functions: one process for all inputs of a network, or one for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memcurve.inputs.parsing import parse
from memcurve.inputs.process import InputProcess
from memcurve.inputs.white import White


def processes_for(input: Any, count: int) -> tuple[InputProcess, ...]:
    """Return one process for each of ``count`` inputs.

    ``input`` is None (white), a process, a text that :func:`memcurve.inputs.parse` reads, or a
    sequence with one of these for each input.
    """
    if input is None or isinstance(input, InputProcess | str):
        return (_process(input),) * count
    if not isinstance(input, Sequence):
        raise TypeError(
            f"`input` must be an input process, e.g. inputs.ARMA(ar=[0.9]), or a sequence of them, "
            f"one an input; got {type(input).__name__}."
        )
    if len(input) != count:
        raise ValueError(
            f"`input` must hold one process for each of the network's {count} inputs, got "
            f"{len(input)}; give a single process if all inputs are alike."
        )
    return tuple(_process(one) for one in input)


def _process(one: Any) -> InputProcess:
    if one is None:
        return White()
    if isinstance(one, str):
        return parse(one)
    if not isinstance(one, InputProcess):
        hint = f"; call it: {one.__name__}(…)" if isinstance(one, type) else ""
        raise TypeError(
            f"`input` must be an input process, e.g. inputs.ARMA(ar=[0.9]), got {one!r}{hint}."
        )
    return one
