"""Noise on the states, which limits usable memory.

A network's states are read as x_t + e_t, with independent errors e of known standard deviations,
relative to input of unit variance. Noise ε that enters the recursion, x_t = Ax_{t−1} + Cz_t + ε_t,
accumulates to the covariance Σ_k A^k diag(σ²) (A^k)ᵀ. Rounding of recorded states is noise of known
size: a step q gives variance q²/12. Number formats have a range as well: states that overflow or
vanish in one are not read.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import exact_array, require_number, require_size
from memcurve.core.notes import counted
from memcurve.core.types import Floats

Flags = NDArray[np.bool_]

#: Gaussian states stay within 2 to this power times their standard deviations, but for one number
#: in 10¹⁵. Doubled: states within a factor of 64 of the largest number are not read.
REACH_BITS = 3
#: Standard deviations within which a state must stay in the range of a converter, or a note says
#: that it is clipped: 6e-5 of its values lie beyond. Doubled: notes on clipping that never occurs.
UNCLIPPED = 4
#: Binades below a state's standard deviation that are told apart. Doubled: nothing, they hold 1e-9
#: of the values, rounded in steps that are finer still.
BINADES = 30


class Noise(ABC):
    """Independent errors of the states, as standard deviations at unit level, times ``levels``.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> memcurve.Quantised(0.25).observation(np.ones(2)).round(4)
    array([0.0722, 0.0722])
    """

    #: Whether the level is a standard deviation; otherwise the kind says it all.
    is_scaled: ClassVar[bool] = False
    #: Whether the errors depend on the size of the states.
    is_relative: ClassVar[bool] = False
    #: Whether states may be too large or too small to be recorded.
    has_range: bool = False
    #: Whether several levels were asked for, so that the answer is a family of curves.
    is_family: bool = False

    @property
    @abstractmethod
    def label(self) -> str:
        """A short name for tables and plots."""

    @property
    def levels(self) -> Floats:
        """Factors of the standard deviations, one per curve."""
        return np.ones(1)

    def observation(self, state_deviations: Floats) -> Floats:
        """Standard deviations of the observation noise, for states of these deviations."""
        return np.zeros(len(state_deviations))

    def relative_observation(self, sizes: Floats, exponents: Any) -> Floats:
        """Those of deviations sizes·2^exponents, also beyond float64, in units of 2^exponents."""
        return self.observation(sizes)

    def state(self, state_deviations: Floats) -> Floats:
        """Standard deviations of the process noise, which enters the recursion."""
        return np.zeros(len(state_deviations))

    def readable(self, state_deviations: Floats, exponents: Any = 0) -> Flags:
        """Which states, of these deviations times 2^exponents, can be recorded: a mask."""
        readable = np.ones(len(state_deviations), dtype=bool)
        for affected, is_lost, _ in self._out_of_range(state_deviations, exponents):
            if is_lost:
                readable &= ~affected
        return readable

    def range_remarks(self, state_deviations: Floats, exponents: Any = 0) -> list[str]:
        """What to say of states that are too large or too small."""
        return [
            f"{np.count_nonzero(affected)} of {counted(len(affected), 'state')} "
            f"{'is' if np.count_nonzero(affected) == 1 else 'are'} {text}"
            for affected, _, text in self._out_of_range(state_deviations, exponents)
            if affected.any()
        ]

    def _out_of_range(self, sizes: Floats, exponents: Any) -> list[tuple[Flags, bool, str]]:
        """Which states are out of range, whether they are then unreadable, and a remark."""
        return []


def standard_deviations(value: Any, argument: str) -> Floats:
    """A standard deviation, or a vector of them, as a new array."""
    levels = exact_array(value, argument)
    if np.asarray(value).dtype == bool:
        raise TypeError(f"`{argument}` must be a standard deviation, got {value!r}.")
    if levels.ndim > 1 or levels.size == 0 or np.iscomplexobj(levels):
        raise ValueError(
            f"`{argument}` must be a standard deviation or a vector of them, got an array of shape "
            f"{levels.shape} and dtype {levels.dtype}."
        )
    if levels.min() < 0:
        raise ValueError(
            f"`{argument}` is a standard deviation and must not be negative, got "
            f"{float(levels.min())!r}; give e.g. 1e-3, relative to input of unit variance."
        )
    return np.asarray(np.abs(levels))  # no negative zero


@dataclass(frozen=True, eq=False, repr=False)
class _Levels(Noise):
    """Equal standard deviations for all states: a number, or a vector of levels."""

    is_scaled = True
    deviation: Any

    def __post_init__(self) -> None:
        levels = standard_deviations(self.deviation, "noise")
        levels.flags.writeable = False
        object.__setattr__(self, "deviation", levels if levels.ndim else float(levels))
        object.__setattr__(self, "is_family", levels.ndim > 0)

    @property
    def levels(self) -> Floats:
        return np.atleast_1d(self.deviation)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.deviation!r})"


class ObservationNoise(_Levels):
    """Observation noise: errors of standard deviation s in every state as it is read.

    ``noise=s`` means the same.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.delay_line(4, gain=0.5)
    >>> memcurve.memory_curve(network, noise=memcurve.ObservationNoise(0.1)).values.round(4)
    array([0.9901, 0.9615, 0.8621, 0.6098])
    """

    label = "observation noise"

    def observation(self, state_deviations: Floats) -> Floats:
        return np.ones(len(state_deviations))


class StateNoise(_Levels):
    """Process noise: errors of standard deviation s in every state at every step of the recursion.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.delay_line(4, gain=0.5)
    >>> memcurve.memory_curve(network, noise=memcurve.StateNoise(0.1)).values.round(4)
    array([0.9901, 0.9524, 0.8264, 0.5405])
    """

    label = "state noise"

    def state(self, state_deviations: Floats) -> Floats:
        return np.ones(len(state_deviations))


@dataclass(frozen=True, eq=False)
class Quantised(Noise):
    """States recorded in steps: an analogue-to-digital converter, a fixed-point format.

    Parameters
    ----------
    step : float
        The step itself; or
    bits : int
        number of bits over the range ``low`` … ``high``, in units of a state. States whose standard
        deviation is above ``high − low``, or that never come near the range, are not read. Others
        that leave it would be clipped, which is not linear: a note counts them, and their memory is
        that of states that are not clipped.

    Examples
    --------
    >>> import memcurve
    >>> noise = memcurve.Quantised(bits=4, low=-4, high=4)
    >>> noise.step
    0.5
    >>> network = memcurve.ensembles.delay_line(4, gain=0.5)
    >>> memcurve.memory_curve(network, noise=noise).values.round(4)
    array([0.9796, 0.9231, 0.75  , 0.4286])
    """

    step: float | None = None
    bits: int | None = None
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        missing = [part is None for part in (self.bits, self.low, self.high)]
        if any(missing) if self.step is None else not all(missing):
            raise ValueError(
                f"Quantised takes `step` alone, or `bits` with the range `low` and `high`, e.g. "
                f"Quantised(bits=12, low=-4, high=4); got {self!r}."
            )
        if self.step is None:
            bits = require_size(self.bits, "bits")
            low = require_number(self.low, "low", "below `high`")
            high = require_number(self.high, "high", f"above `low`={low:g}", lambda h: h > low)
            object.__setattr__(self, "step", math.ldexp(high - low, -bits))
        require_number(self.step, "step", "above 0", lambda q: q > 0)
        object.__setattr__(self, "has_range", self.bits is not None)

    @property
    def deviation(self) -> float:
        """Standard deviation of the rounding error, step/√12."""
        return float(self.step or 0.0) / math.sqrt(12)

    @property
    def label(self) -> str:
        return f"{self.bits} bits" if self.bits is not None else f"steps of {self.step:g}"

    def observation(self, state_deviations: Floats) -> Floats:
        return np.full(len(state_deviations), self.deviation)

    def _out_of_range(self, sizes: Floats, exponents: Any) -> list[tuple[Flags, bool, str]]:
        if self.low is None or self.high is None:
            return []
        distance = max(self.low, -self.high)  # of zero, where zero is not in the range
        with np.errstate(all="ignore"):  # beyond float64 is beyond any range
            sizes = np.ldexp(sizes, exponents)
            unreadable = (distance > np.ldexp(sizes, REACH_BITS)) | ~(sizes <= self.high - self.low)
            clipped = UNCLIPPED * sizes * (1 - 1e-12) > min(self.high, -self.low)
        span = f"the range {self.low:g} … {self.high:g}"
        beyond = f"beyond {span} within {UNCLIPPED} standard deviations: clipped there, which is "
        beyond += "not linear; the memory is that of states that are not clipped"
        return [
            (unreadable, True, f"outside {span}, or wider: clipped nearly always, and not read"),
            (clipped & ~unreadable, False, beyond),
        ]


class _FloatingPoint(Noise):
    """Rounding to ``digits`` bits below 2^``max_exponent``; even steps below 2^``min_exponent``."""

    is_relative, has_range = True, True
    digits: ClassVar[int]
    min_exponent: ClassVar[int]
    max_exponent: ClassVar[int]

    def observation(self, state_deviations: Floats) -> Floats:
        return self.relative_observation(state_deviations, 0)

    def relative_observation(self, sizes: Floats, exponents: Any) -> Floats:
        return floating_point_deviations(sizes, self.digits, self.min_exponent - exponents)

    def _out_of_range(self, sizes: Floats, exponents: Any) -> list[tuple[Flags, bool, str]]:
        binade = np.frexp(sizes)[1] + exponents  # 2^(binade − 1) ≤ σ < 2^binade
        large = (sizes != 0) & ((binade + REACH_BITS > self.max_exponent) | ~np.isfinite(sizes))
        zero = (sizes == 0) | (binade + REACH_BITS < self.min_exponent - self.digits)
        step = f"in equal steps of 2^{self.min_exponent - self.digits}"
        subnormal = (binade <= self.min_exponent) & ~zero
        ends = f"which ends at 2^{self.max_exponent}"
        return [
            (large, True, f"too large for {self.label}, {ends}: not read"),
            (zero, True, f"too small for {self.label}, zero {step}: not read"),
            (subnormal, False, f"below the smallest normal number of {self.label}: rounded {step}"),
        ]


@dataclass(frozen=True, eq=False)
class Float32(_FloatingPoint):
    """States recorded in single precision: rounding relative to the size of each state.

    For a Gaussian state of standard deviation σ the error has variance E 4^⌊log₂|x|⌋ · 2⁻⁴⁶/12,
    about 0.54σ²·2⁻⁴⁶/12. Below 2⁻¹²⁶ the step is 2⁻¹⁴⁹; states that would be stored as zero, or
    reach 2¹²⁸ within eight standard deviations, are not read.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(100, seed=1)
    >>> round(memcurve.memory_curve(network, noise=memcurve.Float32()).total, 1)
    54.4
    """

    label, digits, min_exponent, max_exponent = "float32", 23, -126, 128


@dataclass(frozen=True, eq=False)
class Float64(_FloatingPoint):
    """States recorded in double precision, as every simulation records them; see :class:`Float32`.

    About 0.54σ²·2⁻¹⁰⁴/12 of variance for a Gaussian state of standard deviation σ; the step is
    2⁻¹⁰⁷⁴ below 2⁻¹⁰²², and states that reach 2¹⁰²⁴ are not read.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(100, seed=1)
    >>> round(memcurve.memory_curve(network, noise=memcurve.Float64()).total, 1)
    80.4
    """

    label, digits, min_exponent, max_exponent = "float64", 52, -1022, 1024


def floating_point_deviations(
    state_deviations: Floats, digits: int, min_exponent: Any = -np.inf
) -> Floats:
    """Standard deviations of rounding Gaussian states to ``digits`` binary digits after the point.

    States 2^e ≤ |x| < 2^(e + 1) are stored in steps of 2^(e − digits), where e is replaced by
    ``min_exponent`` if that is larger. E 4^⌊log₂|x|⌋ for x of deviation σ = m·2^e, ½ ≤ m < 1, is
    4^e times a sum over binades.
    """
    from scipy.special import ndtr

    mantissa, exponent = np.frexp(state_deviations)
    mantissa = np.where(mantissa > 0, mantissa, 1.0)
    floor = np.asarray(min_exponent - exponent, dtype=float)  # of binades, relative to the states
    shift = np.maximum(floor, 0).astype(np.int64)  # powers of four that might overflow
    binades = np.arange(-BINADES, 5)[:, None]
    chance = 2 * (ndtr(2.0 ** (binades + 1) / mantissa) - ndtr(2.0**binades / mantissa))
    squares = 4.0 ** (np.maximum(binades, floor) - shift) * chance
    below = math.sqrt(2 / math.pi) * 2.0**-BINADES / mantissa * 4.0 ** (floor - shift)
    mean = np.sqrt((squares.sum(axis=0) + np.where(floor > -BINADES, below, 0.0)) / 12)
    return np.where(state_deviations > 0, np.ldexp(mean, exponent + shift - digits), 0.0)


def number_formats(state_deviations: Floats) -> dict[str, float]:
    """Noise levels that recording in some number formats amounts to, for these states.

    Floating point rounds each state relative to its size; converters of 16 and 12 bits are taken to
    span four standard deviations of the largest state, either way. Root mean square over the states
    that are in range; formats in which none is are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve.inputs.noise import number_formats
    >>> f"{number_formats(np.ones(3))['12 bit']:.2e}"
    '5.64e-04'
    """
    finite = state_deviations[np.isfinite(state_deviations)]
    marks = {}
    for noise in (Float64(), Float32()):
        sizes = finite[(finite == 0) | noise.readable(finite)]
        if len(sizes):
            unit = math.frexp(float(sizes.max()))[1]  # in which squares are numbers
            errors = noise.relative_observation(np.ldexp(sizes, -unit), unit)
            marks[noise.label] = math.ldexp(float(np.sqrt((errors**2).mean())), unit)
    reach = 4 * float(finite.max(initial=0.0))
    for bits in (16, 12) if 1e-300 < reach < 1e300 else ():
        marks[f"{bits} bit"] = Quantised(bits=bits, low=-reach, high=reach).deviation
    return marks


def noise_of(noise: Any) -> Noise | None:
    """The noise meant by ``noise``: None or 0, numbers, one of the classes here, or its text."""
    if noise is None or isinstance(noise, Noise):
        return noise
    if isinstance(noise, str):
        return noise_of(parse_noise([noise]))
    if isinstance(noise, bytes | bool | type):
        raise TypeError(
            f"`noise` must be a standard deviation, a vector of them, or one of StateNoise(s), "
            f"Quantised(step), Float32(), Float64(); got {noise!r}."
        )
    if isinstance(noise, int | float | np.number) and noise == 0:
        return None
    return ObservationNoise(noise)


def parse_noise(texts: Sequence[str]) -> Any:
    """The noise that words of a command line stand for; several must all be numbers."""
    parsed = [_parse_one(text) for text in texts]
    if len(parsed) == 1:
        return parsed[0]
    if all(isinstance(one, float) for one in parsed):
        return parsed
    if all(isinstance(one, StateNoise) for one in parsed):
        return StateNoise([one.deviation for one in parsed])
    raise ValueError(
        f"`noise` must be one of its forms, or several standard deviations; got {' '.join(texts)}."
    )


def _parse_one(text: str) -> Any:
    kind, colon, value = text.strip().lower().partition(":")
    if not colon and kind in ("float32", "float64"):
        return Float32() if kind == "float32" else Float64()
    try:
        number = float(value if colon else kind)
        bits = int(kind.removesuffix("bit")) if kind.endswith("bit") else 0
        form = "number" if not colon else "bit" if bits else kind
        make = {"number": float, "state": StateNoise, "step": Quantised, "bit": None}[form]
    except (ValueError, KeyError):
        raise ValueError(
            f"`noise` must be a standard deviation like 1e-3, or state:1e-3, float32, float64, "
            f"step:0.01 or 12bit:4 (12 bits over -4 … 4); got {text!r}."
        ) from None
    return Quantised(bits=bits, low=-number, high=number) if make is None else make(number)
