"""From a wanted memory curve to a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import exact_array, require_number, require_size, table_entry
from memcurve.core.notes import Note
from memcurve.core.types import Complexes, Floats
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.solve import cascade, section_poles
from memcurve.synthesis.fitting import fitted
from memcurve.synthesis.result import PROSE, SynthesisResult
from memcurve.synthesis.schur import banded, dense, rounded, schur_parameters

#: Lags for each state that are fitted. Doubled: twice the time, for values below .01 mostly.
FITTED_LAGS = 10
#: Lags for each state at which names and functions are taken. Doubled: longer lists, of less.
LAGS = 40
#: How far the sum of a curve may be from the number of states, relative to it. Doubled: curves
#: that miss it by as much are taken for rounded ones.
SUM = 1e-3
#: What a tail beyond the last lag given may hold, in units of last value × lags: a power law τ^−α
#: has 1/(α − 1). Doubled: heavier tails may be left out of an array.
TAIL = 4.0
#: An array may leave out a tail from a value of at most this on. Doubled: more of a curve.
SMALL = 0.05
#: Jumps of a curve, largest first, whose pairs are examined. Doubled: four times the pairs.
JUMPS = 40
#: More states take minutes. Doubled: four times as long.
MOST_STATES = 1000


#: How Schur parameters and poles become a network.
REALIZATIONS: dict[str, Callable[[Floats, Complexes], tuple[Floats, Floats]]] = {
    "banded": lambda schur, poles: banded(schur),
    "cascade": lambda schur, poles: cascade(section_poles(poles)),
    "dense": lambda schur, poles: dense(schur),
}


@dataclass(frozen=True, eq=False, repr=False)
class Design(SynthesisResult):
    """A network made for a memory curve, from :func:`memcurve.design`.

    The notes say why a curve cannot be reached, where that is proven.

    Attributes
    ----------
    curve : str
        The name of the wanted curve, ``"as given"`` if it has none.
    size : int
        Number of states n.
    realization : str
        ``"banded"``, ``"cascade"`` or ``"dense"``.
    wanted, reached : (lags,) arrays
        The wanted curve, and that of the network.
    error : float
        Bound on the error of ``reached``.
    least_gap : float
        Proven lower bound: the curve of every network, of any size, is at least so far from the
        wanted one at some lag. Zero if no obstruction is known.
    poles : (n,) complex array
        Eigenvalues of the network, in conjugate pairs.
    schur : (n + 1,) array
        Schur parameters; the last is ±1. Round these, never the weights: see :meth:`rounded`.

    Examples
    --------
    >>> import memcurve
    >>> design = memcurve.design("ramp", 20)
    >>> design.gap < 0.02
    True
    >>> network = design.network
    >>> int((network.A != 0).sum(axis=1).max()), int((network.C != 0).sum())
    (4, 1)
    """

    FORMAT: ClassVar[str] = "memcurve.Design/1"

    curve: str
    size: int
    realization: str
    wanted: Floats
    reached: Floats
    error: float
    least_gap: float
    poles: Complexes
    schur: Floats
    notes: tuple[Note, ...] = ()

    @cached_property
    def network(self) -> LinearNetwork:
        """The network: white states of unit variance for white input of unit variance."""
        A, C = REALIZATIONS[self.realization](self.schur, self.poles)
        name = f"{self.realization} network, curve {self.curve}, n={self.size}"
        return LinearNetwork(A, C, name=name)

    @property
    def gap(self) -> float:
        """Largest distance of the reached from the wanted curve, over its lags."""
        return float(np.abs(self.reached - self.wanted).max())

    @property
    def spectral_radius(self) -> float:
        """Largest modulus of a pole."""
        return float(np.abs(self.poles).max())

    def rounded(self, bits: int) -> Design:
        """The design with Schur parameters of so many bits, 2 to 52: stable at any precision.

        Examples
        --------
        >>> import memcurve
        >>> design = memcurve.design("exponential", 10).rounded(8)
        >>> bool((design.schur[:-1] * 128 % 1 == 0).all())
        True
        """
        rule = "from 2 to 52, an integer: the bits of a Schur parameter"
        count = int(require_number(bits, "bits", rule, lambda b: b in range(2, 53)))
        changed = replace(self, schur=rounded(self.schur, count), realization="banded")
        poles = np.linalg.eigvals(changed.network.A).astype(complex)
        return replace(_judged(replace(changed, poles=poles)), realization=self.realization)


def design(curve: Any, size: int, *, realization: str = "banded") -> Design:
    """A network of ``size`` states whose memory curve is as close as can be to a wanted one.

    A memory curve does not rise, is at most one and sums to the number of states; the curves that
    networks have are the tail energies of all-pass filters. Poles are placed by the group delay,
    MC_τ being about the share of frequencies that are delayed by more than τ, then fitted, and
    realized with white states: of all networks with a curve and a state power, these have the
    largest usable memory (:func:`memcurve.whitened`).

    Parameters
    ----------
    curve : str, array or function
        ``"step"``, ``"exponential"``, ``"power"`` (τ⁻²) or ``"ramp"``; or MC_0, MC_1, …, or a
        function of the lag. An array may leave out a tail that is still above zero where it ends.
    size : int
        Number of states n, the sum of the curve.
    realization : str
        ``"banded"``: five diagonals and one driven node (truncated CMV matrix); ``"cascade"``:
        all-pass sections one after another; ``"dense"``: upper Hessenberg.

    References
    ----------
    Cantero, Moral and Velázquez, Linear Algebra and its Applications 362 (2003), 29–56, for the
    five-diagonal form; propositions and proofs are on the theory page "Design".

    Examples
    --------
    >>> import memcurve
    >>> design = memcurve.design("exponential", 10)
    >>> round(memcurve.memory_curve(design.network).total, 9), design.gap < 0.026
    (10.0, True)
    >>> half = [0.5] * 20 + [0] * 20
    >>> round(memcurve.design(half, 10).least_gap, 3)  # two jumps: no network at all
    0.134
    """
    n = require_size(size)
    table_entry(REALIZATIONS, realization, "realization")
    if n > MOST_STATES:
        raise ValueError(
            f"`size` must be at most {MOST_STATES}, as more take minutes; got {n}. The curve of a "
            f"smaller network, stretched along the lags, shows what is reachable."
        )
    wanted = wanted_curve(curve, n)
    fit_to = wanted[: FITTED_LAGS * n + 40]
    poles = np.zeros(n, complex) if is_step(wanted, n) else fitted(fit_to, n)
    bound, first, second = least_gap(wanted)
    prose, reasons = PROSE["reasons"], list[str]()
    if bound > 0:
        reasons.append(prose["jumps"].format(first=first, second=second, bound=bound))
    if not is_step(wanted, n):
        if wanted[-1] <= 0:
            reasons.append(prose["zero"].format(lag=int(np.argmax(wanted <= 0))))
        share = (1 + np.arange(len(wanted))) * wanted / n
        if share.max() >= 1 - 1e-9:
            reasons.append(prose["limit"].format(lag=int(np.argmax(share))))
    notes = tuple(Note("proof", reason) for reason in reasons)
    name = curve if isinstance(curve, str) else "as given"
    schur = schur_parameters(poles)
    return _judged(Design(name, n, realization, wanted, wanted, 0.0, bound, poles, schur, notes))


def _judged(made: Design) -> Design:
    """The design with the curve of its network."""
    curve = memory_curve(made.network, len(made.wanted))
    judged = replace(made, reached=curve.values, error=float(curve.error.max()))
    judged.__dict__["network"] = made.network
    return judged


# Wanted curves: MC_τ of n states is P(J > τ) of a random lag J of mean n, and the tail energy of an
# all-pass filter. What is proven here holds for networks of any size (theory page "Design").


def step(lags: Floats, size: int) -> Floats:
    """One up to lag n − 1, then nothing: a delay line."""
    return (lags < size).astype(float)


def exponential(lags: Floats, size: int) -> Floats:
    """q^(τ+1) with q = n/(n + 1)."""
    return np.asarray((size / (size + 1)) ** (lags + 1))


def ramp(lags: Floats, size: int) -> Floats:
    """A straight line to zero at lag 2n."""
    return np.clip(1 - (lags + 0.5) / (2 * size), 0, None)


def power(lags: Floats, size: int) -> Floats:
    """(1 + (τ + 1)/a)^−2, with a such that the sum is n: a²ψ′(a + 1) = n."""
    from scipy.optimize import brentq
    from scipy.special import polygamma

    a = brentq(lambda a: a**2 * float(polygamma(1, a + 1)) - size, 1e-3, 4.0 * size + 10)
    return np.asarray((1 + (lags + 1) / a) ** -2.0)


#: The curves that have a name.
CURVES: dict[str, Callable[[Floats, int], Floats]] = {
    "step": step,
    "exponential": exponential,
    "power": power,
    "ramp": ramp,
}


def wanted_curve(curve: Any, size: int) -> Floats:
    """The values of ``curve`` from lag 0 on, if the memory of a network may be so."""
    if isinstance(curve, str) or callable(curve):
        lags = np.arange(LAGS * size + LAGS, dtype=float)
        make = table_entry(CURVES, curve, "curve") if isinstance(curve, str) else None
        values = _evaluated(curve, lags) if make is None else make(lags, size)
        # a few lags more than states are enough where the rest is invisible
        visible = int(np.count_nonzero(values > 1e-4))
        values = values[: max(visible, min(len(values), 10 * size + 40))]
    else:
        values = exact_array(curve, "curve")
    if np.iscomplexobj(values) or values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"`curve` must be real values MC_0, MC_1, … in one row, a function of the lag or one "
            f"of {', '.join(CURVES)}; got an array of shape {values.shape}, {values.dtype}."
        )
    _require_curve(values, size)
    return np.asarray(values)


def _evaluated(curve: Callable[[Any], Any], lags: Floats) -> Floats:
    """A function at all lags at once, or lag by lag where it does not take arrays."""
    try:
        values = np.asarray(curve(lags))
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != lags.shape:
        values = np.array([curve(int(lag)) for lag in lags])
    return exact_array(values, "curve")


def _require_curve(values: Floats, size: int, *, slack: float = 1e-9) -> None:
    """Raise a ValueError that names the rule broken by a curve."""
    rising = np.flatnonzero(np.diff(values) > slack)
    if len(rising):
        lag = int(rising[0]) + 1
        raise ValueError(
            f"`curve` must not rise from lag to lag, as no memory does; got {values[lag]:.6g} at "
            f"lag {lag} after {values[lag - 1]:.6g}. Sort it, or take its running minimum."
        )
    if values[0] > 1 + slack or values[-1] < -slack:
        wrong = values[0] if values[0] > 1 + slack else values[-1]
        raise ValueError(
            f"`curve` must lie between 0 and 1, shares of the variance of an input; got "
            f"{wrong:.6g}. Divide it by its largest value."
        )
    total = float(values.sum())
    beyond = TAIL * float(values[-1]) * len(values) if values[-1] <= SMALL else 0.0
    if not total - SUM * size <= size <= total + SUM * size + beyond:
        whole = round(total)
        other = f", or ask for size={whole}" if whole and abs(total - whole) <= SUM * whole else ""
        remedy = "Give values above zero"
        if total > 0:
            remedy = f"Stretch the curve by a factor of {size / total:.6g} along the lags"
        raise ValueError(
            f"`curve` must sum to `size`, as the memory of n states sums to n; got a sum of "
            f"{total:.6g} over {len(values):,} lags and a size of {size}. {remedy}{other}."
        )


def is_step(values: Floats, size: int, *, slack: float = 1e-9) -> bool:
    """Whether a curve is that of a delay line."""
    lags = np.arange(len(values), dtype=float)
    return bool(np.all(np.abs(values - step(lags, size)) <= slack))


def least_gap(values: Floats) -> tuple[float, int, int]:
    """A proven bound from below on the largest distance of any network's curve; between which lags.

    The coefficients b of an all-pass filter have no correlation with themselves at any shift k:
    by Cauchy and Schwarz, with p_j = b_j² = MC_{j−1} − MC_j::

        p_i p_{i+k} ≤ (√((1 − MC_{i−1}) Σ_{k≤j<i+k} p_j) + √(MC_i MC_{i+k}))²

    A curve within δ of the wanted one has p of at least 2δ less, and a right side of at most that
    of values δ higher: the largest δ for which it would still be broken is the bound.
    """
    padded = np.concatenate([[1.0], values])  # MC_{j−1} is padded[j]
    p = -np.diff(padded)
    order = np.sort(np.argsort(-p, kind="stable")[:JUMPS])
    first, second = (order[k] for k in np.triu_indices(len(order), 1))
    if len(first) == 0:
        return 0.0, 0, 0
    own = np.where(first == 0, 1.0, 2.0)  # MC_{−1} = 1 is known

    def is_broken(delta: Floats) -> Any:
        left = np.maximum(p[first] - own * delta, 0) * np.maximum(p[second] - 2 * delta, 0)
        before = np.where(first == 0, 0.0, 1 - padded[first] + delta)
        between = np.maximum(padded[second - first] - padded[second] + 2 * delta, 0)
        after = np.maximum(values[first] + delta, 0) * np.maximum(values[second] + delta, 0)
        return np.sqrt(left) > np.sqrt(np.maximum(before, 0) * between) + np.sqrt(after)

    low, high = np.zeros(len(first)), np.ones(len(first))
    for _ in range(50):
        middle = (low + high) / 2
        broken = is_broken(middle)
        low, high = np.where(broken, middle, low), np.where(broken, high, middle)
    worst = int(np.argmax(low))
    bound = max(0.0, float(low[worst]) - 1e-12)  # rounding
    return bound, int(first[worst]), int(second[worst])
