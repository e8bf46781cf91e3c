"""The argument ``input`` of functions, and inputs written as text for command lines and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memcurve.inputs.arma import ARMA
from memcurve.inputs.autocovariance import Autocovariance, White
from memcurve.inputs.process import Floats, InputProcess

FORMS = (
    "white",
    "ar:0.9",
    "ar:0.5,-0.3",
    "ma:0.5",
    "arma:0.8,0.1/0.5",
    "acov:1,0.5,0.25",
    "series:FILE",
)


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
        raise TypeError(f"`input` must be text, one of the forms {', '.join(FORMS)}; got {text!r}.")
    kind, colon, rest = text.strip().partition(":")
    kind, rest = kind.strip().lower(), rest.strip()
    if kind == "white" and not colon:
        return White()
    if kind not in _KINDS or not rest:
        raise _unreadable(text)
    try:
        return _KINDS[kind](rest)
    except _NotNumbersError:
        raise _unreadable(text) from None


class _NotNumbersError(Exception):
    """Numbers separated by commas were expected."""


def _unreadable(text: str) -> ValueError:
    return ValueError(f"`input` must be one of the forms {', '.join(FORMS)}; got {text!r}.")


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise _NotNumbersError from None


def _arma(text: str) -> InputProcess:
    ar, slash, ma = text.partition("/")
    if not slash:
        raise _NotNumbersError
    return ARMA(ar=_numbers(ar), ma=_numbers(ma))


_KINDS: dict[str, Callable[[str], InputProcess]] = {
    "ar": lambda text: ARMA(ar=_numbers(text)),
    "ma": lambda text: ARMA(ma=_numbers(text)),
    "arma": _arma,
    "acov": lambda text: Autocovariance(_numbers(text)),
    "series": lambda text: Autocovariance.from_series(_read(Path(text))),
}


def _read(path: Path) -> Floats:
    """Return the numbers in a file of one column."""
    suffix = path.suffix.lower()
    if suffix not in {".npy", ".csv", ".txt"}:
        raise ValueError(
            f"`series` must be a .npy, .csv or .txt file, got {str(path)!r}; convert it."
        )
    if not path.is_file():
        raise FileNotFoundError(
            f"`series` must be an existing file, got {str(path)!r}; check the path."
        )
    if suffix == ".npy":
        array: Floats = np.load(path, allow_pickle=False)
        return array.ravel() if max(array.shape, default=0) == array.size else array
    lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    numbers = [_number(line) for line in lines]
    if numbers and numbers[0] is None:
        lines, numbers = lines[1:], numbers[1:]  # a heading
    for line, number in zip(lines, numbers, strict=True):
        if number is None:
            raise ValueError(
                f"`series` must be a file of one number a line, got {line[:40]!r} in "
                f"{str(path)!r}; keep one column."
            )
    return np.array(numbers, dtype=float)


def _number(line: str) -> float | None:
    try:
        return float(line)
    except ValueError:
        return None
