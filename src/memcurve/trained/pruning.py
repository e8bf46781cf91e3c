"""Pruning of trained layers: modes that contribute no memory above the noise.

The modes of a diagonal layer are uncoupled: leaving some out is not reading them, and the others
do not change. Every MC_τ can only fall by that, and all of them together by what
usable memory falls, so that the fall of the total bounds that of every lag::

    0 ≤ MC_τ − MC_τ' ≤ Σ_τ (MC_τ − MC_τ') = usable − usable'

With T the states in input-normal coordinates (rows scaled to one) and K = (TTᵀ + s²)⁻¹, leaving
out the rows R costs |R| − s²·tr(K_RR⁻¹(K²)_RR). One mode after the other is left out, that which
costs least; the total loss follows from the singular values of the remaining rows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import require_number
from memcurve.core.optional import optional
from memcurve.core.progress import Progress, progress_callback
from memcurve.core.types import Floats
from memcurve.trained import memory
from memcurve.trained.channels import rounding_error, row_error, state_rows
from memcurve.trained.checkpoints import Checkpoint, open_model
from memcurve.trained.kinds import Kind, Numbers, Recurrence, StoredLayer


@dataclass(frozen=True)
class PrunedLayer:
    """One layer after pruning.

    Attributes
    ----------
    name, kind : str
        As in :class:`memcurve.ModelMemory`.
    modes, kept : int
        Modes of a channel, before and after.
    needed : (channels,) array
        Modes that each channel needs; all channels keep as many as the largest of these.
    bound : float
        By how much usable memory of any channel falls, at most; no MC_τ falls by more.
    output_error : float
        Standard deviation of the change of the outputs, relative to them, for white input; their
        weights are fitted anew to the modes that are kept. NaN where they are not stored.
    """

    name: str
    kind: str
    modes: int
    kept: int
    needed: Floats
    bound: float
    output_error: float


@dataclass(frozen=True)
class PrunedModel:
    """A model with fewer modes, from :func:`memcurve.pruned_layers`.

    Attributes
    ----------
    layers : tuple of PrunedLayer
        Those whose modes do not act on each other.
    untouched : tuple of str
        The others, by name, which stay as they are.
    tensors : dict
        All tensors that changed, under their names.
    noise, tolerance : float
        As requested; None for the rounding of the format of the weights.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> weights = {"rnn.nu_log": np.full(4, -3.0), "rnn.theta_log": np.arange(4.0)}
    >>> memcurve.pruned_layers(weights, noise=0.1).untouched
    ()
    """

    layers: tuple[PrunedLayer, ...]
    untouched: tuple[str, ...]
    tensors: Mapping[str, Any]
    noise: float | str | None
    tolerance: float

    def __repr__(self) -> str:
        """One line per layer."""
        lines = [
            f"  {layer.name}: {layer.kind}, {layer.modes} → {layer.kept} modes, usable memory "
            f"falls by at most {layer.bound:.2g}"
            for layer in self.layers
        ]
        lines += [f"  {name}: as it was" for name in self.untouched]
        return "\n".join(["<PrunedModel", *lines]) + ">"

    def save(self, path: str | os.PathLike[str], model: Any = None) -> None:
        """Write a ``.safetensors`` file: tensors that changed, and the others of ``model``."""
        writer = optional("safetensors.numpy", "writing tensors", "files")
        others = {} if model is None else open_model(model).archive.arrays
        tensors = {name: array.whole() for name, array in others.items()} | dict(self.tensors)
        stored = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
        for name in stored.keys() & others.keys():
            if others[name].kind.lower() in ("bf16", "bfloat16"):  # which numpy reads as float32
                half = optional("ml_dtypes", "writing tensors", "files").bfloat16
                stored[name] = stored[name].astype(half)
        writer.save_file(stored, os.fspath(Path(path)))


def pruned_layers(
    model: Any,
    *,
    noise: Any = None,
    tolerance: float = 0.1,
    select: Sequence[str] | str | None = None,
    progress: Progress = None,
) -> PrunedModel:
    """Prune modes of a model's layers that contribute no memory above the noise.

    Layers whose modes do not act on each other and are listed in their tensors: LRU, S5 and S4D.
    All channels of a layer keep as many modes as the one that needs most, each its own.

    Parameters
    ----------
    model, noise, select, progress
        As for :func:`memcurve.layers`.
    tolerance : float
        By how much the usable memory of a channel may fall, and with it MC_τ at any lag.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> layer = {
    ...     "s4d.log_A_real": np.log(np.full((4, 16), 0.5)),
    ...     "s4d.A_imag": np.ones((4, 1)) * np.linspace(0.1, 3, 16),
    ...     "s4d.log_dt": np.log([0.01, 0.02, 0.05, 0.1]),
    ... }
    >>> small = memcurve.pruned_layers(layer, noise=0.1, tolerance=0.5)
    >>> small.layers[0].bound < 0.5, small.tensors["s4d.A_imag"].shape
    (True, (4, 11))
    """
    rule = "above 0, how far usable memory may fall"
    largest_fall = require_number(tolerance, "tolerance", rule, lambda x: x > 0)
    checkpoint, level = open_model(model), memory.given_noise(noise)
    groups: dict[str, list[StoredLayer]] = {}
    for each in memory.selected(checkpoint, select):
        groups.setdefault(each.prefix, []).append(each)
    rows, untouched, tensors = list[PrunedLayer](), list[str](), dict[str, Any]()
    with progress_callback(progress) as notify:
        for k, group in enumerate(groups.values()):
            notify("layers", k, len(groups))
            analyses = [_LayerAnalysis.of(checkpoint, each, level) for each in group]
            separate = [each for each in analyses if each is not None]
            if len(separate) < len(group):
                untouched += [each.name for each in group]
                continue
            needed = [each.needed(largest_fall) for each in separate]
            count = max(int(each.max()) for each in needed)  # stacked layers stay of one size
            layers = [one.cut(count, modes) for one, modes in zip(separate, needed, strict=True)]
            rows += [layer for layer, _ in layers]
            for name in layers[0][1]:
                parts = [changed[name] for _, changed in layers]
                is_stacked = group[0].position is not None
                tensors[f"{group[0].prefix}{name}"] = np.stack(parts) if is_stacked else parts[0]
        notify("layers", len(groups), len(groups))
    return PrunedModel(tuple(rows), tuple(untouched), tensors, noise, largest_fall)


@dataclass(frozen=True)
class _LayerAnalysis:
    """A layer whose modes are alone, and what leaving out some of them costs."""

    layer: StoredLayer
    tensors: Mapping[str, Any]
    recurrence: Recurrence
    noise: float
    rows: Floats  # T
    sizes: Floats
    order: Any  # the turn in which each mode is left out
    losses: Floats  # when 0, 1, … modes are left out

    @classmethod
    def of(
        cls, checkpoint: Checkpoint, layer: StoredLayer, level: float | None
    ) -> _LayerAnalysis | None:
        """None where modes are not alone, or are shared by channels."""
        noise, _ = memory.layer_noise(checkpoint, layer, level)
        recurrence = memory.layer_recurrence(checkpoint, layer)
        tensors = memory.layer_tensors(checkpoint, layer)
        poles = recurrence.A
        if layer.kind.modes is None:
            return None
        memory.require_decay(poles, layer.name)
        rows, sizes = state_rows(poles, recurrence.drive)
        stored = np.atleast_2d(tensors[layer.names[0]])
        steps = np.asarray(tensors.get("log_dt", tensors.get("inv_dt", 0.0)))
        if stored.shape != poles.shape or steps.size > max(1, len(poles)):
            return None
        order = _order(rows, poles.shape[1], noise)
        losses = _losses(rows, order, noise, row_error(poles, recurrence.drive))
        return cls(layer, tensors, recurrence, noise, rows, sizes, order, losses)

    def needed(self, tolerance: float) -> Floats:
        """How many modes each channel needs; the first loss, of none, is zero."""
        return np.asarray(self.order.shape[1] + 1.0 - (self.losses <= tolerance).sum(axis=1))

    def cut(self, count: int, needed: Floats) -> tuple[PrunedLayer, dict[str, Any]]:
        """The layer with so many modes, and its tensors."""
        kind, modes, error = self.layer.kind, self.order.shape[1], np.nan
        keep = np.sort(np.argsort(self.order, axis=1)[:, modes - count :], axis=1)
        bound = float(self.losses[:, modes - count].max())
        changed = {
            name: _taken(np.asarray(self.tensors[name]), keep, axis)
            for name, axis in (kind.modes or {}).items()
            if name in self.tensors
        }
        if self.recurrence.output is not None and count < modes:
            output, error = self._refitted(keep)
            changed |= _stored_output(kind, self.tensors, output)
        changed = {name: x.astype(self.tensors[name].dtype) for name, x in changed.items()}
        name = self.layer.name
        return PrunedLayer(name, kind.name, modes, count, needed, bound, error), changed

    def _refitted(self, keep: Any) -> tuple[Numbers, float]:
        """Output weights by ridge regression on the states that stay, and the outputs' change."""
        fitted, residual, whole = [], 0.0, 0.0
        for k, (T, size, stays) in enumerate(zip(self.rows, self.sizes, keep, strict=True)):
            weights = self.recurrence.output_weights(k)
            assert weights is not None
            rotated = weights.reshape(2, len(T) // 2, -1).transpose(1, 0, 2).reshape(len(T), -1)
            outputs = T.T @ (size[:, None] * rotated)
            rows = (2 * stays[:, None] + [0, 1]).ravel()
            R = T[rows]
            v = np.linalg.solve(R @ R.T + self.noise**2 * np.eye(len(R)), R @ outputs)
            residual += float(np.square(outputs - R.T @ v).sum())
            whole += float(np.square(outputs).sum())
            parts = (v / size[rows, None]).reshape(len(stays), 2, -1)
            fitted.append((parts[:, 0] - 1j * parts[:, 1]).T)
        return np.stack(fitted), float(np.sqrt(residual / whole)) if whole else 0.0


def _order(rows: Floats, modes: int, noise: float) -> NDArray[np.int64]:
    """The turn in which each mode is left out (channels, modes), the cheapest first."""
    parts = rows.shape[1] // modes
    T, turns = rows.copy(), np.full((len(rows), modes), modes - 1)
    alive = np.ones((len(rows), modes), bool)
    for turn in range(modes - 1):
        U, sigma, _ = np.linalg.svd(T)
        N = (U * (noise**2 / (sigma**2 + noise**2))[:, None, :]) @ U.transpose(0, 2, 1)
        blocks = N.reshape(len(N), modes, parts, modes, parts)
        diagonal = np.einsum("ckakb->ckab", blocks)
        squares = np.einsum("ckajd,ckbjd->ckab", blocks, blocks)
        floor = np.finfo(float).tiny * np.eye(parts)
        cost = parts - np.einsum("ckaa->ck", np.linalg.solve(diagonal + floor, squares))
        worst = np.argmin(np.where(alive, cost, np.inf), axis=1)
        channels = np.arange(len(T))
        alive[channels, worst], turns[channels, worst] = False, turn
        T.reshape(len(T), modes, parts, -1)[channels, worst] = 0.0
    return turns


def _losses(rows: Floats, order: Any, noise: float, change: Floats) -> Floats:
    """By how much usable memory falls, at most, when the first 0, 1, … modes are left out."""
    modes = order.shape[1]
    totals, errors = [], []
    for count in range(modes):
        stays = np.repeat(order >= count, rows.shape[1] // modes, axis=1)
        sigma = np.linalg.svd(rows * stays[:, :, None], compute_uv=False)
        totals.append((sigma**2 / (sigma**2 + noise**2)).sum(axis=1))
        errors.append(rounding_error(sigma, noise, change))
    usable, error = np.stack(totals, axis=1), np.stack(errors, axis=1)
    losses = usable[:, :1] + error[:, :1] - (usable - error)
    losses[:, 0] = 0.0
    return np.asarray(losses)


def _taken(tensor: Any, keep: Any, axis: int) -> Any:
    """The modes to keep along an axis; the axis before it lists channels, where there are any."""
    if len(keep) == 1:
        return np.take(tensor, keep[0], axis=axis)
    after = tensor.ndim - 1 - axis % tensor.ndim
    before = tensor.ndim - 2 - after
    return np.take_along_axis(tensor, keep.reshape(*[1] * before, *keep.shape, *[1] * after), axis)


def _stored_output(kind: Kind, tensors: Mapping[str, Any], output: Numbers) -> dict[str, Any]:
    """Output weights (channels, outputs, modes) as the tensors of a kind hold them."""
    values = output[0] if kind.axes == 1 else output.transpose(1, 0, 2)
    if "C_re" in tensors:
        return {"C_re": values.real, "C_im": values.imag}
    stored = np.asarray(tensors["C"])
    if kind.name != "LRU":  # the others imply the conjugate half
        values = values / 2
    if not np.iscomplexobj(stored):
        values = np.stack([values.real, values.imag], axis=-1)
    return {"C": values if values.ndim == stored.ndim else values[0]}
