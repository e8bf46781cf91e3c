"""Facts: all that an audit finds out, before it is put into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memcurve.auditing.claims import Claim
from memcurve.auditing.estimates import Estimate
from memcurve.auditing.losses import Account
from memcurve.auditing.structure import Eigenvalues, RoundedWeights, Squeezing
from memcurve.auditing.usable import UsableMemory
from memcurve.curve import MemoryCurve
from memcurve.notes import Note
from memcurve.result import installed_versions


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Facts:
    """What is known of a network's memory, what the usual ways say, and what a number means.

    Attributes
    ----------
    network : str
        The network's name, or its size.
    size, states, inputs : int
        Numbers of nodes, of real states, and of inputs.
    curve : MemoryCurve
        The exact memory curve, every value with its error.
    horizons : dict
        First lag that memory is below ½, and below 0.1, at; None where it never is.
    account : Account
        States, rank, margin, and why memory is lost where it is.
    estimates : tuple of Estimate
        What the usual ways would have reported, for white input.
    usable : UsableMemory
        Memory that is left in number formats and under noise.
    eigenvalues, squeezing, rounded
        The spectrum, Krylov squeezing (None for several inputs), and what rounding the weights to
        single precision does.
    claim : Claim or None
        The claimed number, judged.
    notes : tuple of Note
        Everything one should know before quoting the numbers.
    seed : int
        Of the simulations.
    versions : dict
        Versions of Python and the packages the numbers depend on.
    """

    network: str
    size: int
    states: int
    inputs: int
    input: str
    curve: MemoryCurve
    horizons: Mapping[str, int | None]
    account: Account
    estimates: tuple[Estimate, ...]
    usable: UsableMemory
    eigenvalues: Eigenvalues
    squeezing: Squeezing | None
    rounded: RoundedWeights
    claim: Claim | None
    notes: tuple[Note, ...]
    seed: int
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    @property
    def total(self) -> float:
        """Total memory over all lags."""
        return self.curve.total

    @property
    def rank(self) -> int | None:
        """Rank of the Krylov matrix of the stored numbers."""
        return self.curve.rank
