"""Settings of the page, the network they make, and the scene: what is shown of it at once."""

from __future__ import annotations

import dataclasses
import inspect
import re
import time
from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError, rank_among_notes
from memcurve.inputs import ARMA
from memcurve.memory import MemoryCurve, memory_curve
from memcurve.network import LinearNetwork
from memcurve.network.ensembles import ENSEMBLES, make
from memcurve.network.masks import is_random
from memcurve.studies.auditing.result import visible_end
from memcurve.studies.auditing.structure import Eigenvalues, eigenvalues_of

OWN_MASK = "its own"  # that an ensemble brings along, or that stands in a file
MOST_NODES = 400  # of a network that is drawn live: about half a second
HIGHEST_RADIUS = 0.999  # at 1 there is no memory curve
NOISES = (0.0, *(float(f"{digit}e{power}") for power in range(-9, 0) for digit in (1, 3)), 1.0)
MOST_IN_BALLS = 60  # states up to which ball arithmetic may take over: well below a second
MOST_LAGS = 4000  # that are drawn; slower networks go on beyond
DEFECTIVE = 1e-10  # overlap of eigenvectors below which an eigenvalue counts as multiple


@dataclasses.dataclass(frozen=True, kw_only=True)
class PageSettings:
    """Where the controls stand; the defaults are the paper's network.

    ``spectral_radius``, ``density`` and ``seed`` go to the ensembles that take them; for a chain
    the radius is that of its loops, for a ring of linear recurrent units the outermost.
    """

    ensemble: str = "sparse_normal"
    size: int = 100
    spectral_radius: float = 0.9
    density: float = 0.1
    mask: str = OWN_MASK
    noise: float = 0.0
    colour: float = 0.0
    seed: int = 1

    def options(self) -> dict[str, Any]:
        """The options of the ensemble, all of which matter."""
        radius, takes = self.spectral_radius, _OPTIONS[self.ensemble]
        controls = dict.fromkeys(_RADII, radius) | {
            "radius_min": round(0.9 * radius, 6), "density": self.density, "seed": self.seed,
        }  # fmt: skip
        asked: dict[str, Any] = {name: v for name, v in controls.items() if name in takes}
        if self.mask != OWN_MASK:
            asked |= {"mask": self.mask, "seed": self.seed}
        return asked

    @property
    def draws_mask(self) -> bool:
        """Whether the mask is drawn at random, by the seed."""
        return self.mask != OWN_MASK and is_random(self.mask)

    def ignored(self) -> list[str]:
        """Controls that do nothing for this ensemble."""
        takes = _OPTIONS[self.ensemble] | ({"seed"} if self.draws_mask else set())
        stand_for = {"spectral_radius": _RADII, "density": ("density",), "seed": ("seed",)}
        return [name for name, options in stand_for.items() if takes.isdisjoint(options)]

    def network(self) -> LinearNetwork:
        """Draw the network."""
        return make(self.ensemble, self.size, **self.options())

    def arguments(self) -> dict[str, Any]:
        """Input and noise, as :func:`memcurve.memory_curve` takes them."""
        arguments: dict[str, Any] = {"input": ARMA(ar=[self.colour])} if self.colour else {}
        return arguments | ({"noise": self.noise} if self.noise else {})


_RADII = ("spectral_radius", "loop", "radius_max")  # what the control of the radius stands for
# the options of each ensemble; its seed where it is drawn
_OPTIONS = {
    name: {
        k
        for k, v in inspect.signature(ensemble).parameters.items()
        if k != "seed" or v.default is v.empty
    }
    for name, ensemble in ENSEMBLES.items()
}
_OPTIONS["permutation"].add("seed")  # its weights are not drawn, but its own mask is


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """A network and its exact memory for white input; ``end`` is the last lag drawn."""

    network: LinearNetwork
    curve: MemoryCurve
    eigenvalues: Eigenvalues
    end: int
    seconds: float


def scene_of(network: LinearNetwork) -> Scene:
    """Compute what is shown at once; errors are those of :func:`memcurve.memory_curve`."""
    if network.states > MOST_NODES:
        raise ValueError(
            f"the page takes networks of up to {MOST_NODES} states, got {network.states:,}; "
            f"`memcurve curve` and `memcurve audit` take larger ones."
        )
    start = time.perf_counter()
    try:
        with rank_among_notes():
            curve = memory_curve(network, certify_up_to=MOST_IN_BALLS)
    except UncertainResultError as error:
        raise UncertainResultError(
            f"{error} This page goes on in ball arithmetic for up to {MOST_IN_BALLS} states only; "
            f"`memcurve curve` and memcurve.memory_curve take more time."
        ) from error
    eigenvalues = eigenvalues_of(network)
    seconds = time.perf_counter() - start
    end = max(1, min(visible_end(curve.values), MOST_LAGS)) if len(curve) > 1 else 0
    return Scene(network, curve, eigenvalues, end, seconds)


def move_eigenvalue(network: LinearNetwork, eigenvalue: complex, to: complex) -> LinearNetwork:
    """The network with one eigenvalue of A moved, its eigenvectors and all others kept.

    With right and left eigenvectors v and w of λ, scaled so that wᴴv = 1::

        A + (μ − λ) v wᴴ

    has the eigenvalues of A but for λ, which becomes μ. In a real network the conjugate of λ moves
    to the conjugate of μ, by the conjugate of that term.

    ``eigenvalue`` is the nearest one, which must be simple; in a real network real ones stay real
    and those of a pair complex. The sum is rounded: where the mask leaves modes out, that excites
    them a little.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.views.exploring import move_eigenvalue
    >>> network = memcurve.LinearNetwork([[0.9, 0.3], [0.0, 0.5]], [1.0, 1.0])
    >>> move_eigenvalue(network, 0.5, -0.2).A
    array([[ 0.9  ,  0.825],
           [ 0.   , -0.2  ]])
    """
    import scipy.linalg

    A: Any = network.A.toarray() if network.is_sparse else network.A
    values, left, right = scipy.linalg.eig(A, left=True, right=True)
    k = int(np.argmin(np.abs(values - eigenvalue)))
    value = complex(values[k])
    v, w = right[:, k], left[:, k]
    overlap = np.vdot(w, v)
    if abs(overlap) < DEFECTIVE:
        raise ValueError(
            f"`eigenvalue` must be a simple one, but {value:.6g} has left and right eigenvectors "
            f"that are orthogonal to {abs(overlap):.1g}; choose another."
        )
    step = (to - value) * np.outer(v, w.conj()) / overlap
    if not network.is_complex:
        if (value.imag == 0) != (complex(to).imag == 0):
            kind, rule = ("real", "be real") if value.imag == 0 else ("complex", "not be real")
            raise ValueError(
                f"`to` must {rule} for the {kind} eigenvalue {value:.6g} of a real network, got "
                f"{to:.6g}; complex ones come in pairs."
            )
        step = step.real if value.imag == 0 else 2 * step.real
    # its own radius in place of the one that the network was drawn with
    moved = network.replace(A=A + step)
    name = re.sub(r"ρ=[\d.e-]+", f"ρ={moved.spectral_radius:.4g}", network.name or "")
    return moved.replace(name=f"{name}, {value:.4g} → {to:.4g}")


def moved_scene(base: Scene, eigenvalue: complex, to: complex) -> Scene:
    """The same network with one eigenvalue moved, drawn on the same axes.

    Refused where rounding would change the number of controllable eigenvalues.
    """
    moved = scene_of(move_eigenvalue(base.network, eigenvalue, to))
    if moved.curve.rank != base.curve.rank:
        raise ValueError(
            f"there it coincides with another up to rounding: {moved.curve.rank} eigenvalues would "
            f"be controllable instead of {base.curve.rank}."
        )
    return dataclasses.replace(moved, end=base.end)
