"""Input masks: how the input enters the nodes, one column per input.

Every column of a mask is scaled to unit Euclidean norm unless ``norm`` says otherwise. The memory
of a network with one input does not depend on the mask as long as it excites every mode; under
noise, with several inputs, and in the older methods it does.

Random masks need an explicit ``seed``: an int, a :class:`numpy.random.SeedSequence` or a
:class:`numpy.random.Generator`. The same int or SeedSequence gives the same mask every time; a
Generator moves on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from memcurve.core.arguments import (
    Seed,
    generator,
    require_density,
    require_number,
    require_options,
    require_size,
    table_entry,
)
from memcurve.core.limits import require_room_for_array
from memcurve.core.types import Floats

Draw = Callable[[int], Floats]


def normal(size: int, *, seed: Seed, inputs: int = 1, norm: float | None = 1.0) -> Floats:
    """Mask with independent standard normal entries: a direction evenly spread on the sphere.

    Of shape (N,), or (N, d) for d > 1 ``inputs``; ``norm`` is the Euclidean norm of each column,
    None leaves the entries as drawn.

    Examples
    --------
    >>> from memcurve.network import masks
    >>> float(round(sum(masks.normal(100, seed=1) ** 2), 12))
    1.0
    """
    return _finished(generator(seed).standard_normal(_shape(size, inputs)), norm)


def uniform(
    size: int, *, seed: Seed, low: float = -1.0, inputs: int = 1, norm: float | None = 1.0
) -> Floats:
    """Mask with independent entries uniform on [``low``, 1]. Parameters as in :func:`normal`.

    >>> from memcurve.network import masks
    >>> bool((masks.uniform(5, seed=1, low=0) > 0).all())
    True
    """
    least = require_number(low, "low", "below 1", lambda number: number < 1)
    return _finished(generator(seed).uniform(least, 1, _shape(size, inputs)), norm)


def sparse_normal(
    size: int, *, seed: Seed, density: float = 0.1, inputs: int = 1, norm: float | None = 1.0
) -> Floats:
    """Mask with standard normal entries on a random share of the nodes, zero elsewhere.

    Each column has exactly ``max(1, round(density·N))`` non-zeros at positions drawn without
    replacement, so that no input is ever cut off. Other parameters as in :func:`normal`.

    >>> from memcurve.network import masks
    >>> int((masks.sparse_normal(20, seed=1) != 0).sum())
    2
    """
    rng = generator(seed)
    return _sparse(size, rng, density, inputs, norm, rng.standard_normal)


def sparse_uniform(
    size: int,
    *,
    seed: Seed,
    density: float = 0.1,
    low: float = -1.0,
    inputs: int = 1,
    norm: float | None = 1.0,
) -> Floats:
    """Mask with entries uniform on [``low``, 1] on a random share of the nodes, zero elsewhere.

    The number of non-zeros is that of :func:`sparse_normal`. The paper's sparse uniform mask,
    MATLAB's ``sprand``, has ``low=0``.

    >>> from memcurve.network import masks
    >>> int((masks.sparse_uniform(20, seed=1, low=0) > 0).sum())
    2
    """
    rng, least = generator(seed), require_number(low, "low", "below 1", lambda number: number < 1)
    return _sparse(size, rng, density, inputs, norm, lambda count: rng.uniform(least, 1, count))


def ones(size: int, *, norm: float | None = 1.0) -> Floats:
    """Mask of equal weights for all nodes; ``norm=None`` leaves them at one.

    >>> from memcurve.network import masks
    >>> masks.ones(4)
    array([0.5, 0.5, 0.5, 0.5])
    """
    return _finished(np.ones(_shape(size)), norm)


def basis(size: int, node: int = 0, *, norm: float | None = 1.0) -> Floats:
    """Mask that drives one node only, the basis vector e_{node+1}.

    Examples
    --------
    >>> from memcurve.network import masks
    >>> masks.basis(3, node=1)
    array([0., 1., 0.])
    """
    mask = np.zeros(_shape(size))
    if isinstance(node, bool) or not isinstance(node, int | np.integer) or not 0 <= node < size:
        raise ValueError(
            f"`node` must be an integer from 0 to N - 1 = {size - 1}, got {node!r}; "
            f"the first node is 0."
        )
    mask[node] = 1
    return _finished(mask, norm)


MASKS: dict[str, Callable[..., Floats]] = {
    mask.__name__: mask for mask in (normal, uniform, sparse_normal, sparse_uniform, ones, basis)
}


__all__ = ["MASKS", "is_random", "make", *MASKS]


def is_random(name: str) -> bool:
    """Whether the mask called ``name`` is drawn, and so needs a seed.

    >>> from memcurve.network import masks
    >>> masks.is_random("normal"), masks.is_random("ones")
    (True, False)
    """
    return "seed" in inspect.signature(MASKS[name]).parameters


def make(name: str, size: int, *, seed: Seed | None = None, **options: Any) -> Floats:
    """Return the mask called ``name``, one of :data:`MASKS`.

    The seed is required for random masks and unused for the others; ``options`` are those of the
    mask's own function.

    Examples
    --------
    >>> from memcurve.network import masks
    >>> masks.make("ones", 4, seed=3)
    array([0.5, 0.5, 0.5, 0.5])
    """
    mask = table_entry(MASKS, name, "mask")
    if is_random(name):
        options["seed"] = seed
    require_options(mask, options)
    return mask(size, **options)


def _shape(size: int, inputs: int = 1) -> tuple[int, int]:
    shape = require_size(size), require_size(inputs, "inputs")
    require_room_for_array(shape, f"a mask of `size`={size} and `inputs`={inputs}")
    return shape


def _sparse(
    size: int, rng: np.random.Generator, density: float, inputs: int, norm: float | None, draw: Draw
) -> Floats:
    mask = np.zeros(_shape(size, inputs))
    count = max(1, round(require_density(density) * len(mask)))
    for column in mask.T:
        column[rng.choice(len(mask), count, replace=False)] = draw(count)
    return _finished(mask, norm)


def _finished(mask: Floats, norm: float | None) -> Floats:
    if norm is not None:
        norm = require_number(norm, "norm", "above 0, or None", lambda n: n > 0)
        mask = mask * (norm / np.linalg.norm(mask, axis=0))
    return mask[:, 0] if mask.shape[1] == 1 else mask
