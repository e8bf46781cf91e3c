"""What could be gained: mask, readout, realization and pruning of one network in one report."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import require_size
from memcurve.core.errors import UncertainResultError
from memcurve.core.notes import Note
from memcurve.core.types import EPS, TINY
from memcurve.io.adapters import as_network
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.rendering.report import Chart, Section
from memcurve.solve import Analysis, solve_stein
from memcurve.synthesis.directions import directions_of, display_name, noise_level
from memcurve.synthesis.driving import (
    MOST_STATES,
    MaskChoice,
    as_dense,
    best_mask,
    rounding_of,
    usable_of,
)
from memcurve.synthesis.pruning import Pruned, pruned, require_tolerance
from memcurve.synthesis.reading import ReadoutChoice, best_readout, greedy
from memcurve.synthesis.result import PROSE, SynthesisResult
from memcurve.synthesis.whitening import NOTICEABLE, Whitened, whitened

#: Up to so many nodes an audit tries other masks. Doubled: they take a fifth of its time by
#: themselves.
FEW_NODES = 100
#: Rounding of the Gramian, relative to the noise, that changes no printed digit. Doubled: nothing.
CLEAR = 1e-4


@dataclass(frozen=True, eq=False, repr=False)
class Improvement(SynthesisResult):
    """Possible gains of a network at one noise level, from :func:`memcurve.improvement`.

    Attributes
    ----------
    usable, error : float
        Usable memory of the network as it is.
    mask, readout, white, small : MaskChoice, ReadoutChoice, Whitened, Pruned or None
        The result of each way; None if it does not apply, with a note that says why.

    Examples
    --------
    >>> import memcurve
    >>> result = memcurve.improvement(memcurve.ensembles.cyclic(6), 0.1, count=3)
    >>> round(result.usable, 4), round(result.readout.value, 4)
    (5.9234, 2.9733)
    """

    FORMAT: ClassVar[str] = "memcurve.Improvement/1"

    usable: float
    error: float
    noise: float
    name: str
    mask: MaskChoice | None
    readout: ReadoutChoice | None
    white: Whitened | None
    small: Pruned | None
    notes: tuple[Note, ...] = ()

    def rows(self) -> list[tuple[str, float, str]]:
        """Each way, the usable memory that it reaches, and its bound."""
        reached: dict[str, Callable[[Any], float]] = {
            "mask": lambda way: way.value,
            "white": lambda way: float(way.after[2]),
            "readout": lambda way: way.value,
            "small": lambda way: way.totals[1],
        }
        rows = []
        for kind, value in reached.items():
            way = getattr(self, kind)
            if way is not None:
                name, proof = (text.format(way=way) for text in self._prose[kind])
                rows.append((name, value(way), proof))
        return rows

    @property
    def verdict(self) -> tuple[str, ...]:
        """The main findings in a few sentences."""
        names = [self._prose[kind][0] for kind in ("mask", "white")]
        values = {name: value for name, value, _ in self.rows() if name in names}
        gains = {k: v for k, v in values.items() if v > (1 + NOTICEABLE) * self.usable}
        texts = [self._prose["gain"].format(way=k, value=v) for k, v in gains.items()]
        if len(values) == len(names) and not gains:
            texts = [self._prose["no_gain"]]
        return *super().verdict, *texts

    def columns(self) -> Mapping[str, Any]:
        """One row for each way."""
        names, values, proofs = zip(*self.rows(), strict=True) if self.rows() else ((), (), ())
        return {"way": list(names), "usable": list(values), "proven": list(proofs)}

    def figures(self) -> list[tuple[str, str]]:
        """The main numbers by name, as text."""
        ways = [(name, f"{value:.6g} ({proof})") for name, value, proof in self.rows()]
        return super().figures() + ways

    def chart(self) -> Chart:
        """The chart of the first improvement."""
        return self._parts()[0].chart()

    def _sections(self) -> list[Section]:
        whole = [part.document() for part in self._parts()]
        return [Section(d.title, " ".join(d.verdict), chart=d.sections[0].chart) for d in whole]

    def _parts(self) -> list[SynthesisResult]:
        ways = [self.mask, self.white, self.readout, self.small]
        return [way for way in ways if way is not None]


def improvement(
    network: Any, noise: float, *, count: int = 10, tolerance: float = 1e-3
) -> Improvement:
    """Mask, readout, white states and pruning of a network, in one report.

    Parameters
    ----------
    network, noise, tolerance
        As for :func:`memcurve.pruned`.
    count : int
        Nodes to read.

    Examples
    --------
    >>> import memcurve
    >>> better = memcurve.improvement(memcurve.ensembles.normal(20, seed=1), 1e-2)
    >>> [name for name, _, _ in better.rows()]
    ['better input weights', 'white states', 'best readout of 10', 'pruned to size 18']
    """
    subject, s = as_network(network), noise_level(noise)
    count, tolerance = require_size(count, "count"), require_tolerance(tolerance)
    notes = list(subject.notes)

    def tried(way: str, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except (UncertainResultError, ValueError) as error:
            notes.append(Note("method", f"{way} left out: {error}"))
            return None

    now = memory_curve(subject, noise=s)
    read = len(subject.readout) if subject.readout is not None else subject.size
    if subject.states <= MOST_STATES:
        mask = tried("mask", lambda: best_mask(subject, s, inputs=subject.inputs))
        white = tried("white states", lambda: whitened(subject, s * np.array([0.01, 0.1, 1, 10])))
    else:
        mask = white = None
        notes.append(Note("method", PROSE["Improvement"]["large"].format(most=MOST_STATES)))
    chosen = tried("readout", lambda: best_readout(subject, s, min(count, read)))
    small = tried("pruning", lambda: pruned(subject, s, tolerance))
    return Improvement(
        now.total, now.total_error, s, display_name(subject), mask, chosen,
        white, small, tuple(notes),
    )  # fmt: skip


def quick_gains(network: LinearNetwork, noise: float) -> dict[str, float]:
    """Usable memory now and with each quick improvement: for audits."""
    if network.readout is not None or network.is_complex:
        return {}
    A, mask, size = as_dense(network), network.real_pair()[1], network.size
    now, w, B = usable_of(solve_stein(A, mask @ mask.T), noise)
    power = float(w.sum())
    # neither rounded below the noise nor so small that digits are lost
    is_clear = power > TINY / EPS and EPS * size * power <= CLEAR * noise**2
    if is_clear:
        rows = B * (np.sqrt(w) / noise)
    else:
        directions = directions_of(network, noise)
        now, power = float(directions.shares.sum()), float((directions.sigma**2).sum())
        rows = directions.rows(network) / noise
    if not 0 < power < np.inf:
        return {"now": now}
    rank = Analysis.of(network).rank
    gains = {"now": now, "white": rank / (1 + noise**2 * rank / power)}
    gains["readout"] = float(greedy(rows, min(10, size))[1][-1])
    if is_clear and size <= FEW_NODES:
        Y = solve_stein(A.T, (B / (w + noise**2) ** 2) @ B.T)
        squares, V = np.linalg.eigh(Y)
        steps = Y @ mask, (V * np.sqrt(np.maximum(squares, 0.0))) @ (V.T @ mask)
        masks = [C * (np.linalg.norm(mask) / np.linalg.norm(C)) for C in steps]
        tried = [usable_of(solve_stein(A, C @ C.T), noise) for C in masks]
        gains["mask"] = max(now, *(total - rounding_of(w, noise) for total, w, _ in tried))
    return gains
