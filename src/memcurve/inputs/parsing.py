"""The argument ``input`` of functions, and inputs written as text for command lines and files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memcurve.core.types import Floats
from memcurve.inputs.arma import ARMA
from memcurve.inputs.autocovariance import Autocovariance, White
from memcurve.inputs.process import InputProcess

#: How inputs may be written; see :func:`parse`.
FORMS = "white, ar:0.9, ar:0.5,-0.3, ma:0.5, arma:0.8,0.1/0.5, acov:1,0.5,0.25, series:FILE"


def processes_for(input: Any, count: int) -> tuple[InputProcess, ...]:
    """Return one process for each of ``count`` inputs.

    ``input`` is None (white), a process, a text that :func:`memcurve.inputs.parse` reads, or a
    sequence with one of these for each input.

    Examples
    --------
    >>> from memcurve import inputs
    >>> inputs.processes_for("ar:0.9", 2)
    (ARMA(ar=[0.9], ma=[]), ARMA(ar=[0.9], ma=[]))
    """
    if input is None or isinstance(input, InputProcess | str):
        return (_process(input),) * count
    if not isinstance(input, Sequence):
        raise TypeError(
            f"`input` must be an input process, e.g. inputs.ARMA(ar=[0.9]), or a sequence of them, "
            f"one per input; got {type(input).__name__}."
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


def parse(text: str) -> InputProcess:
    """Return the process that ``text`` describes.

    ====================  ==========================================================
    ``white``             unit white noise
    ``ar:0.5,-0.3``       ``ARMA(ar=[0.5, -0.3])``
    ``ma:0.5``            ``ARMA(ma=[0.5])``
    ``arma:0.8,0.1/0.5``  ``ARMA(ar=[0.8, 0.1], ma=[0.5])``
    ``acov:1,0.5,0.25``   ``Autocovariance([1, 0.5, 0.25])``
    ``series:FILE``       ``Autocovariance.from_series`` of the numbers in a ``.npy``, ``.csv`` or
                          ``.txt`` file, one column; a first line of text is skipped
    ====================  ==========================================================

    Examples
    --------
    >>> from memcurve import inputs
    >>> inputs.parse("ar:0.9")
    ARMA(ar=[0.9], ma=[])
    """
    if not isinstance(text, str):
        raise TypeError(f"`input` must be text, one of the forms {FORMS}; got {text!r}.")
    kind, colon, rest = (part.strip() for part in text.strip().partition(":"))
    if kind.lower() == "series" and rest:
        return _series(Path(rest))
    try:
        parts = [[float(word) for word in part.split(",")] for part in rest.split("/") if colon]
    except ValueError:
        parts = None
    match kind.lower(), parts:
        case "white", []:
            return White()
        case "ar", [ar]:
            return ARMA(ar=ar)
        case "ma", [ma]:
            return ARMA(ma=ma)
        case "arma", [ar, ma]:
            return ARMA(ar=ar, ma=ma)
        case "acov", [values]:
            return Autocovariance(values)
    raise ValueError(f"`input` must be one of the forms {FORMS}; got {text!r}.")


def _series(path: Path) -> Autocovariance:
    """The law of the numbers in a file."""
    suffix = path.suffix.lower()
    if suffix not in {".npy", ".csv", ".txt"}:
        raise ValueError(
            f"`series` must be a .npy, .csv or .txt file, got {str(path)!r}; convert it."
        )
    if not path.is_file():
        raise FileNotFoundError(
            f"`series` must be an existing file, got {str(path)!r}; check the path."
        )
    try:
        return Autocovariance.from_series(_read(path))
    except Exception as error:  # whatever numpy makes of a damaged header
        raise ValueError(
            f"`series` must be a file of one number per line, got {str(path)!r}: {error}"
        ) from error


def _read(path: Path) -> Floats:
    """Return the numbers in a file of one column."""
    if path.suffix.lower() == ".npy":  # a map runs no pickle, and takes no memory that is not there
        array: Floats = np.lib.format.open_memmap(path, mode="r")
        return np.array(array.ravel() if max(array.shape, default=0) == array.size else array)
    text = path.read_text(encoding="utf-8-sig")
    lines = [line for line in map(str.strip, text.splitlines()) if line and line[0] != "#"]
    numbers: list[float] = []
    for k, line in enumerate(lines):
        try:
            numbers.append(float(line))
        except ValueError:
            if k > 0:  # not a heading
                raise ValueError(f"{line[:40]!r} is no number; keep one column.") from None
    return np.array(numbers)
