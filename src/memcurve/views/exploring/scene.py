"""Settings of the page, their network, and the scene: what is shown at once."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import threading
import time
from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError, UnstableNetworkError, rank_among_notes
from memcurve.inputs import ARMA
from memcurve.memory import MemoryCurve, memory_curve
from memcurve.network import LinearNetwork
from memcurve.network.ensembles import ENSEMBLES, make
from memcurve.network.masks import MASKS, is_random
from memcurve.studies.auditing.result import visible_end
from memcurve.studies.auditing.structure import Eigenvalues, eigenvalues_of
from memcurve.views.exploring.files import OWN_MASK, UPLOADS

MOST_NODES = 400  # of a network that is drawn live: about half a second
MOST_MOVES = 20  # eigenvalues that are moved one after the other
MOST_IN_BALLS = 60  # states up to which ball arithmetic may take over: well below a second
MOST_LAGS = 4000  # that are drawn; slower networks go on beyond
DEFECTIVE = 1e-10  # overlap of eigenvectors below which an eigenvalue counts as multiple


@dataclasses.dataclass(frozen=True, kw_only=True)
class PageSettings:
    """Values of the controls; the defaults are the paper's network.

    ``spectral_radius``, ``density`` and ``seed`` go to the ensembles that take them; for a chain
    the radius is that of its loops, for a ring of linear recurrent units the outermost. A ``file``
    that was opened replaces the ensemble, ``scaled`` to the radius on request;
    ``moves`` are eigenvalues and where they were moved to, one after the other.
    """

    ensemble: str = "sparse_normal"
    size: int = 100
    spectral_radius: float = 0.9
    density: float = 0.1
    mask: str = OWN_MASK
    noise: float = 0.0
    colour: float = 0.0
    seed: int = 1
    file: str | None = None
    scaled: bool = False
    moves: tuple[tuple[complex, complex], ...] = ()

    @classmethod
    def of(cls, content: Any) -> PageSettings:
        """Settings as the page sends them; a ValueError or TypeError where they make no sense."""
        if not isinstance(content, dict):
            raise TypeError(f"settings must be given by name, got {content!r}.")
        moves = content.get("moves", [])
        if len(moves) > MOST_MOVES:
            raise ValueError(f"`moves` must be at most {MOST_MOVES}, got {len(moves)}.")
        moved = tuple((complex(a, b), complex(c, d)) for a, b, c, d in moves)
        settings = cls(**content | {"moves": moved})
        for name, names in (("ensemble", [*ENSEMBLES]), ("mask", [OWN_MASK, *MASKS])):
            if (value := getattr(settings, name)) not in names:
                raise ValueError(f"`{name}` must be one of {', '.join(names)}, got {value!r}.")
        if not 1 <= settings.size <= MOST_NODES:
            raise ValueError(f"`size` must be from 1 to {MOST_NODES}, got {settings.size}.")
        return settings

    def options(self) -> dict[str, Any]:
        """The options of the ensemble or of the file, all of which matter."""
        drawn = {"mask": self.mask, "seed": self.seed} if self.mask != OWN_MASK else {}
        if self.file is not None:
            return drawn | ({"spectral_radius": self.spectral_radius} if self.scaled else {})
        radius, takes = self.spectral_radius, OPTIONS[self.ensemble]
        controls = dict.fromkeys(RADII, radius) | {
            "radius_min": round(0.9 * radius, 6), "density": self.density, "seed": self.seed,
        }  # fmt: skip
        return {name: value for name, value in controls.items() if name in takes} | drawn

    def ignored(self) -> list[str]:
        """Controls that have no effect."""
        seed = {"seed"} if self.mask != OWN_MASK and is_random(self.mask) else set()
        if self.file is not None:
            counts = seed | ({"spectral_radius"} if self.scaled else set())
            of_ensembles = ("ensemble", "size", "spectral_radius", "density", "seed")
            return [name for name in of_ensembles if name not in counts]
        takes = OPTIONS[self.ensemble] | seed
        stand_for = {"spectral_radius": RADII, "density": ("density",), "seed": ("seed",)}
        return [name for name, options in stand_for.items() if takes.isdisjoint(options)]

    def network(self) -> LinearNetwork:
        """Draw the network, or read its file; no eigenvalue has been moved yet."""
        if self.file is not None:
            return UPLOADS.network(self.file, **self.options())
        return make(self.ensemble, self.size, **self.options())

    def arguments(self) -> dict[str, Any]:
        """Input and noise, as :func:`memcurve.memory_curve` takes them."""
        arguments: dict[str, Any] = {"input": ARMA(ar=[self.colour])} if self.colour else {}
        return arguments | ({"noise": self.noise} if self.noise else {})

    def scene(self) -> Scene:
        """The scene; errors are those of :func:`memcurve.memory_curve`."""
        with _ONE_AT_A_TIME:
            return _scene(dataclasses.replace(self, noise=0.0, colour=0.0))


RADII = ("spectral_radius", "loop", "radius_max")  # what the control of the radius stands for
#: The options of each ensemble; its seed where it is drawn.
OPTIONS = {
    name: {
        k
        for k, v in inspect.signature(ensemble).parameters.items()
        if k != "seed" or v.default is v.empty
    }
    for name, ensemble in ENSEMBLES.items()
}
OPTIONS["permutation"].add("seed")  # its weights are not drawn, but its own mask is

_ONE_AT_A_TIME = threading.Lock()  # warnings are switched off for all threads


@functools.lru_cache(maxsize=8)
def _scene(settings: PageSettings) -> Scene:
    """The scene of a network, with its eigenvalues where they were moved to."""
    if not settings.moves:
        try:
            return scene_of(settings.network())
        except UnstableNetworkError as error:
            remedy = " Here: switch on “scale it to ρ”." if settings.file is not None else ""
            raise type(error)(f"{error}{remedy}") from error
    base = _scene(dataclasses.replace(settings, moves=()))
    network = base.network
    for eigenvalue, to in settings.moves:
        network = move_eigenvalue(network, eigenvalue, to)
    moved = scene_of(network)
    if moved.curve.rank != base.curve.rank:
        raise ValueError(
            f"there it coincides with another up to rounding: {moved.curve.rank} eigenvalues would "
            f"be controllable instead of {base.curve.rank}."
        )
    return moved


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """A network and its exact memory for white input; ``end`` is the last lag drawn."""

    network: LinearNetwork
    curve: MemoryCurve
    eigenvalues: Eigenvalues
    end: int
    seconds: float

    @property
    def is_movable(self) -> bool:
        """Whether eigenvalues can be moved: all are controllable, so rounding excites no others."""
        real = not self.network.is_complex
        return real and self.eigenvalues.all_count and self.curve.total > 0


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
