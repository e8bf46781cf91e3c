"""The argument ``input`` of functions, and inputs written as text for command lines and files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memcurve.core.arguments import require_size
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
    count = require_size(count, "count")
    if isinstance(input, Sequence) and not isinstance(input, str):
        if len(input) != count:
            raise ValueError(
                f"`input` must hold one process for each of the network's {count} inputs, got "
                f"{len(input)}; give a single process if all inputs have the same one."
            )
        return tuple(processes_for(one, 1)[0] for one in input)
    if input is None:
        return (WHITE,) * count
    if isinstance(input, str):
        return (parse(input),) * count
    if not isinstance(input, InputProcess):
        hint = f"; call it: {input.__name__}(…)" if isinstance(input, type) else ""
        raise TypeError(
            f"`input` must be an input process, e.g. inputs.ARMA(ar=[0.9]), or a sequence of them, "
            f"one per input; got {input!r}{hint}."
        )
    return (input,) * count


#: The default input.
WHITE = White()


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
        return _of_series(Path(rest))
    try:
        parts = [[float(word) for word in part.split(",")] for part in rest.split("/") if colon]
    except ValueError:
        parts = None
    match kind.lower(), parts:
        case "white", []:
            return WHITE
        case "ar", [ar]:
            return ARMA(ar=ar)
        case "ma", [ma]:
            return ARMA(ma=ma)
        case "arma", [ar, ma]:
            return ARMA(ar=ar, ma=ma)
        case "acov", [values]:
            return Autocovariance(values)
    raise ValueError(f"`input` must be one of the forms {FORMS}; got {text!r}.")


def _of_series(path: Path) -> Autocovariance:
    """The process estimated from the numbers in a file."""
    if not path.is_file():
        raise FileNotFoundError(
            f"`series` must be an existing file, got {str(path)!r}; check the path."
        )
    try:
        if path.suffix.lower() == ".npy":
            series = np.load(path, mmap_mode="r", allow_pickle=False)  # no memory that is not there
        else:
            if not (text := path.read_text(encoding="utf-8-sig")).strip():
                raise ValueError("it is empty.")
            try:
                series = np.loadtxt(text.splitlines())
            except ValueError:  # a heading
                series = np.loadtxt(text.splitlines(), skiprows=1)
        return Autocovariance.from_series(np.squeeze(series))
    except Exception as error:  # numpy's readers raise whatever a damaged header makes them
        raise ValueError(
            f"`series` must be a .npy, .csv or .txt file of one number per line, got "
            f"{str(path)!r}: {error}"
        ) from error
