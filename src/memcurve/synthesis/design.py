"""From a wanted memory curve to a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import require_number, require_size, table_entry
from memcurve.core.notes import Note
from memcurve.core.types import Complexes, Floats
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.solve import cascade, section_poles
from memcurve.synthesis.fitting import fitted
from memcurve.synthesis.result import PROSE, SynthesisResult
from memcurve.synthesis.schur import banded, dense, rounded, schur_parameters
from memcurve.synthesis.wanted import is_step, least_gap, wanted_curve

#: Lags for each state that are fitted. Doubled: twice the time, for values below .01 mostly.
FITTED_LAGS = 10
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

    Its notes say why a curve cannot be reached, where that is proven.

    Attributes
    ----------
    curve : str
        The name of the wanted curve, ``"as given"`` if it has none.
    size : int
        Number of states n.
    realization : str
        ``"banded"``, ``"cascade"`` or ``"dense"``.
    wanted, reached : (lags,) arrays
        The curve that was asked for, and that of the network.
    error : float
        Bound on the error of ``reached``.
    least_gap : float
        Proven: the curve of every network, of any size, is at least so far from the wanted one at
        some lag. Zero where nothing is known against it.
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
        """The design with Schur parameters of so many bits, 2 to 52: stable, whatever is lost.

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
