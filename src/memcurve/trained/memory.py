"""How long each recurrent layer of a model remembers, from its weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import exact_array, require_number, table_entry
from memcurve.core.notes import Note, NoteTexts, Sentences, counted, texts_beside
from memcurve.core.progress import Progress, progress_callback
from memcurve.core.result import installed_versions
from memcurve.core.types import Floats
from memcurve.inputs.noise import floating_point_deviations
from memcurve.io import NetworkFileError
from memcurve.network import LinearNetwork
from memcurve.rendering import report
from memcurve.synthesis import hankel_values
from memcurve.trained.channels import channel_hankel_values, channel_memory, real_states
from memcurve.trained.checkpoints import Checkpoint, open_model
from memcurve.trained.kinds import KINDS, Numbers, Recurrence, Setting, StoredLayer, recognised

#: Binary digits after the point of number formats, by the names that files and torch use.
FORMATS = {
    "float64": 52, "f64": 52, "float32": 23, "f32": 23, "float16": 10, "f16": 10,
    "bfloat16": 7, "bf16": 7, "float8_e4m3fn": 3, "f8_e4m3": 3, "float8_e5m2": 2, "f8_e5m2": 2,
    "complex64": 23, "complex128": 52,
}  # fmt: skip
#: Noise of squares that are numbers. Doubled: nothing.
LEAST_NOISE = 1e-100
#: Decays of matrices, and of modes, below which powers grow by rounding. Doubled: more refusals.
LEAST_DECAYS = 1e-12, 1e-15
#: Columns of the table that are medians over the channels.
_MEDIANS = ("usable", "half", "nine_tenths", "mean_age", "time_constant")
_TEXTS = texts_beside(__file__)
_REPORT: dict[str, str] = _TEXTS["report"]
#: Columns that the command and the report show, and what they are called there.
_HEADS: dict[str, str] = _TEXTS["heads"]
_note = NoteTexts(_TEXTS["notes"])
_fault = Sentences(_TEXTS["faults"])


@dataclass(frozen=True, eq=False)
class LayerMemory:
    """One layer and the memory of each of its channels.

    Attributes
    ----------
    name, kind, gate : str
        The prefix of its tensors, its kind, and the gate it is computed at; no gate for a layer
        that is linear as it is.
    states, channels, inputs : int
        Real states and inputs of a channel, and the number of channels.
    number_format : str
        The format that its weights are stored in.
    noise : float
        Standard deviation of the noise, relative to that of each state.
    usable, error : (channels,) array
        Usable memory, and a bound on its error.
    rank : (channels,) array
        Memory without noise: the number of controllable states.
    half, nine_tenths : (channels,) array
        How many lags hold half, and nine tenths, of the usable memory.
    mean_age : (channels,) array
        Mean lag of the usable memory; this, ``half`` and ``nine_tenths`` under the rounding of
        float64 where that is more than the noise.
    time_constant : (channels,) array
        Steps in which the slowest mode decays to 1/e.
    hankel, hankel_error : (channels, states) array or None
        Hankel singular values from the channel's input to its output, largest first, and their
        relative errors; where the output weights are not stored, all states are outputs.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> weights = {"rnn.nu_log": np.full(4, -3.0), "rnn.theta_log": np.arange(4.0)}
    >>> [layer] = memcurve.layers(weights).layers
    >>> layer.kind, layer.channels, layer.states
    ('LRU', 1, 8)
    """

    name: str
    kind: str
    gate: str
    states: int
    channels: int
    inputs: int
    number_format: str
    noise: float
    usable: Floats
    error: Floats
    rank: Floats
    half: Floats
    nine_tenths: Floats
    mean_age: Floats
    time_constant: Floats
    hankel: Floats | None = None
    hankel_error: Floats | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ModelMemory(report.Reported):
    """The memory of every recurrent layer of a model.

    Attributes
    ----------
    model : str
        The model's name.
    layers : tuple of LayerMemory
        In the order of the checkpoint; ``result["name"]`` is one of them.
    notes : tuple of Note
        On gates, and on layers left out because their weights have diverged.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> weights = {"mixer.A_log": np.log(np.ones((4, 1)) * np.arange(1, 5)),
    ...            "mixer.dt_proj.bias": np.full(4, -4.0)}
    >>> result = memcurve.layers(weights, noise=1e-3)
    >>> result["mixer"].usable.round(3)
    array([3.992, 3.992, 3.992, 3.992])
    """

    FORMAT: ClassVar[str] = "memcurve.ModelMemory/1"

    model: str
    layers: tuple[LayerMemory, ...]
    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    def __getitem__(self, name: str) -> LayerMemory:
        """The layer of this name."""
        return table_entry({layer.name: layer for layer in self.layers}, name, "name")

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """One row per layer: its medians over the channels."""
        rows = [_row(layer) for layer in self.layers]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def plot(self, ax: Any = None) -> Any:
        """Draw a heat map: how far the channels of each layer remember, sorted."""
        from memcurve.rendering import plot

        return plot.layer_map(self, ax=ax)

    def chart(self) -> report.Chart:
        """How far the channels of each layer remember, from the least to the most, for reports."""
        quantiles = np.linspace(0, 1, 101)
        series = tuple(
            report.Series(
                layer.name, 100 * quantiles,
                np.quantile(layer.nine_tenths, quantiles, method="nearest"),
                shown=len(self.layers) <= 8 or k in (0, len(self.layers) - 1),
            )
            for k, layer in enumerate(self.layers)
        )  # fmt: skip
        return report.Chart(
            _REPORT["chart"], "share of the channels, %", "steps", series, log_y=True
        )

    def document(self) -> report.Document:
        """The report that ``to_html`` and ``to_markdown`` render."""
        subtitle, heads, rows = as_table(self)
        numbers = frozenset(range(2, len(heads)))
        table = report.Table(tuple(heads), tuple(map(tuple, rows)), numbers)
        longest = max(self.layers, key=lambda layer: float(np.median(layer.mean_age)))
        half, most = (_cell(float(np.median(x))) for x in (longest.half, longest.nine_tenths))
        count = counted(len(self.layers), "recurrent layer")
        verdict = [
            _REPORT["count"].format(model=self.model, count=count),
            _REPORT["longest"].format(layer=longest.name, half=half, most=most),
        ]
        return report.Document(
            title=_REPORT["title"].format(model=self.model),
            subtitle=subtitle,
            verdict=verdict,
            good=None,
            figures=[("layers", str(len(self.layers)))],
            sections=[
                report.Section("Layers", _REPORT["layers"], table=table),
                report.Section("Channels", _REPORT["channels"], chart=self.chart()),
            ],
            notes=[str(note) for note in self.notes],
            footer=", ".join(f"{name} {version}" for name, version in self.versions.items()) + ".",
        )

    def __repr__(self) -> str:
        lines = [
            f"  {layer.name}: {layer.kind}, {layer.channels} × {layer.states} states, usable "
            f"{np.median(layer.usable):.3g} ± {layer.error.max():.1g}"
            for layer in self.layers
        ]
        return "\n".join([f"<ModelMemory of {self.model}", *lines]) + ">"


def layers(
    model: Any,
    *,
    noise: Any = None,
    gates: Mapping[str, Any] | None = None,
    quantile: float = 0.5,
    select: Sequence[str] | str | None = None,
    hankel: bool = False,
    progress: Progress = None,
) -> ModelMemory:
    """Memory of every recurrent layer of a model, from its weights.

    Parameters
    ----------
    model : path, torch.nn.Module or mapping
        A Hugging Face folder (shards are read lazily), a ``.safetensors`` file, a PyTorch
        checkpoint (weights only), a live module, or a tree of arrays as jax and flax have it.
    noise : float or str, optional
        Standard deviation of the noise relative to that of each state, or a number format such as
        ``"bfloat16"``. By default the rounding of the format that the weights are stored in.
    gates : mapping, optional
        Values of the gate by layer name, one per channel, where the decay of a layer depends on
        its input: the quantity that ``gate`` of its row names; or a recording of it, (samples,
        channels). By default the gate at rest, that of input zero.
    quantile : float
        Which quantile of recorded gates each channel is computed at.
    select : str or sequence of str, optional
        Only layers whose names contain one of these.
    hankel : bool
        Compute the Hankel singular values of every channel too, with their relative errors.
    progress : bool or function
        As for :func:`memcurve.memory_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> rng = np.random.default_rng(1)
    >>> weights = {"lru.nu_log": rng.normal(-3, 1, 8), "lru.theta_log": rng.normal(0, 1, 8)}
    >>> result = memcurve.layers(weights)
    >>> result.layers[0].kind, result.layers[0].states
    ('LRU', 16)
    """
    checkpoint, level = open_model(model), given_noise(noise)
    chosen = selected(checkpoint, select)
    if not chosen:
        raise NetworkFileError(_nothing(checkpoint, select))
    values = dict(gates or {})
    share = require_number(quantile, "quantile", "from 0 to 1", lambda x: 0 <= x <= 1)
    rows, notes = list[LayerMemory](), list[Note]()
    with progress_callback(progress) as notify:
        for k, layer in enumerate(chosen):
            notify("layers", k, len(chosen))
            gate = values.pop(layer.name, None), share
            try:
                rows.append(_layer(checkpoint, layer, gate, level, hankel))
            except NetworkFileError as error:
                notes.append(_note("left_out", error=error))
                if len(notes) == len(chosen):
                    raise
        notify("layers", len(chosen), len(chosen))
    if values:
        names = ", ".join(repr(row.name) for row in rows[:6])
        raise ValueError(_fault("gates", names=", ".join(map(repr, values)), layers=names))
    for kind in dict.fromkeys(layer.kind for layer in chosen):
        notes.append(_note("rule", kind=kind.name, source=kind.source))
        if kind.gate:
            at = f"{kind.gate}{' or as given' if gates else ', at rest'}"
            notes.append(_note("gated", kind=kind.name, gate=at))
    return ModelMemory(checkpoint.name, tuple(rows), tuple(notes))


def selected(checkpoint: Checkpoint, select: Sequence[str] | str | None) -> list[StoredLayer]:
    """The layers of a model, or those with one of these in their names."""
    parts = [select] if isinstance(select, str) else select
    return [
        layer
        for layer in recognised(checkpoint.shapes)
        if parts is None or any(part in layer.prefix for part in parts)
    ]


def layer_network(model: Any, name: str, channel: int = 0) -> LinearNetwork:
    """One channel of a layer as a network, for :func:`memcurve.audit` and the other functions."""
    checkpoint = open_model(model)
    by_name = {layer.name: layer for layer in recognised(checkpoint.shapes)}
    recurrence = layer_recurrence(checkpoint, table_entry(by_name, name, "name"))
    return recurrence.network(channel).replace(name=f"{name}, channel {channel}")


def given_noise(noise: Any) -> float | None:
    """The noise asked for, a number or that of a number format; None for that of the weights."""
    if noise is None:
        return None
    if isinstance(noise, str):
        return _format_noise(table_entry(FORMATS, noise.lower(), "noise"))
    rule = (
        f"from {LEAST_NOISE:g} to {1 / LEAST_NOISE:g}, relative to the standard deviation of each "
        f"state, or a number format"
    )
    return require_number(noise, "noise", rule, lambda s: LEAST_NOISE <= s <= 1 / LEAST_NOISE)


def layer_noise(
    checkpoint: Checkpoint, layer: StoredLayer, level: float | None
) -> tuple[float, str]:
    """The noise of a layer, by default the rounding of its number format; and that format."""
    number_format = checkpoint.number_format(f"{layer.prefix}{layer.names[0]}")
    noise = _format_noise(FORMATS.get(number_format, 23)) if level is None else level
    return noise, number_format


def _format_noise(digits: int) -> float:
    return float(floating_point_deviations(np.ones(1), digits)[0])


def layer_tensors(checkpoint: Checkpoint, layer: StoredLayer) -> dict[str, Any]:
    """The tensors of a layer by the names after its prefix, its own part of stacked ones."""
    tensors = {name: checkpoint.read(f"{layer.prefix}{name}") for name in layer.names}
    if layer.position is None:
        return tensors
    together = layer.kind.together
    return {name: np.asarray(together(tensor))[layer.position] for name, tensor in tensors.items()}


def layer_recurrence(checkpoint: Checkpoint, layer: StoredLayer, gate: Any = None) -> Recurrence:
    """The poles or networks of a layer."""
    tensors = {
        name: np.asarray(tensor, complex if np.iscomplexobj(tensor) else float)
        for name, tensor in layer_tensors(checkpoint, layer).items()
    }
    required = [tensors[name] for name in layer.names[: len(layer.kind.tensors)]]
    if empty := [name for name, tensor in tensors.items() if not tensor.size]:
        facts = {"names": ", ".join(empty), "shape": tensors[empty[0]].shape}
        raise NetworkFileError(_fault("empty", layer=layer.name, **facts))
    for name, tensor in zip(layer.names, required, strict=False):
        if not np.isfinite(tensor).all():
            raise NetworkFileError(_fault("not_finite", layer=layer.name, tensor=name))
    try:
        with np.errstate(over="raise", invalid="raise", under="ignore"):
            return layer.kind.recurrence(required, tensors, Setting(gate, checkpoint.config))
    except (ValueError, IndexError, FloatingPointError) as error:
        listing = ", ".join(f"{n} {checkpoint.shapes[layer.prefix + n]}" for n in layer.names)
        is_large = isinstance(error, FloatingPointError)
        why = "its numbers are too large for poles" if is_large else str(error).removesuffix(".")
        facts = {"kind": layer.kind.name, "why": why, "listing": listing}
        raise NetworkFileError(_fault("shapes", layer=layer.name, **facts)) from error


def _layer(
    checkpoint: Checkpoint,
    layer: StoredLayer,
    gate: tuple[Any, float],
    level: float | None,
    hankel: bool,
) -> LayerMemory:
    noise, number_format = layer_noise(checkpoint, layer, level)
    recurrence, about = layer_recurrence(checkpoint, layer), layer.kind.gate
    if gate[0] is not None:
        values, about = _given_gate(layer, *gate, recurrence.gates)
        recurrence = layer_recurrence(checkpoint, layer, values)
    elif about:
        about = f"{about}, at rest"
    A, drive = recurrence.A, recurrence.drive
    require_decay(A, layer.name)
    memory = channel_memory(A, drive, noise)
    states = real_states(A)
    inputs = 1 if drive is None else int(np.prod(drive.shape[2:]))
    fields = {key: np.asarray(value, dtype=float) for key, value in memory._asdict().items()}
    channels = len(memory.usable)
    if hankel:
        fields["hankel"], fields["hankel_error"] = _hankel(recurrence, channels, states)
    return LayerMemory(
        layer.name, layer.kind.name, about, states, channels, inputs, number_format, noise, **fields
    )


def _given_gate(layer: StoredLayer, gate: Any, quantile: float, count: int) -> tuple[Floats, str]:
    """One value for each of ``count`` gates, and a description."""
    values, text = exact_array(gate, "gates"), "as given"
    if values.size > count == values.shape[-1]:
        values = np.quantile(values.reshape(-1, count), quantile, axis=0)
        text = f"{quantile:g} quantile of a recording"
    if not layer.kind.gate or values.size != count:
        rule = f"hold {count} values, one per channel" if layer.kind.gate else "leave out"
        facts = {"kind": layer.kind.name, "shape": np.shape(gate)}
        raise ValueError(_fault("gate", rule=rule, layer=layer.name, **facts))
    return values, text


def require_decay(A: Numbers, name: str) -> None:
    """Refuse modes that do not decay in float64."""
    moduli = np.abs(np.linalg.eigvals(A) if A.ndim == 3 else A)
    limit = 1 - LEAST_DECAYS[A.ndim != 3]
    if not moduli.max() < limit:
        count, largest = np.count_nonzero(moduli >= limit), moduli.max()
        facts = {"count": count, "modes": moduli.size, "largest": largest}
        raise NetworkFileError(_fault("no_decay", layer=name, **facts))


def _hankel(recurrence: Recurrence, channels: int, states: int) -> tuple[Floats, Floats]:
    """Hankel values of each channel and their relative errors, with zeros for lost states."""
    A, drive = recurrence.A, recurrence.drive
    if A.ndim == 3 or drive is None or drive.ndim == 2:
        return channel_hankel_values(A, drive, recurrence.output)
    values, errors = np.zeros((channels, states)), np.zeros((channels, states))
    for k in range(channels):
        hankel = hankel_values(recurrence.network(k), recurrence.output_weights(k))
        values[k, : len(hankel)], errors[k, : len(hankel)] = hankel.values, hankel.errors
    return values, errors


def _row(layer: LayerMemory) -> dict[str, Any]:
    """A row of the table, medians over the channels."""
    cells = {name: getattr(layer, name) for name in ("channels", "states", "inputs", "noise")}
    row = {"layer": layer.name, "kind": layer.kind, "gate": layer.gate or "none", **cells}
    row |= {name: float(np.median(getattr(layer, name))) for name in _MEDIANS}
    low, high = np.quantile(layer.usable, [0.1, 0.9])
    return row | {
        "error": float(layer.error.max()), "usable_low": float(low), "usable_high": float(high),
    }  # fmt: skip


def as_table(model: ModelMemory) -> tuple[str, list[str], list[list[str]]]:
    """A line on what was computed; heads and rows that the command and the report show."""
    noise = ", ".join(f"{s:.2g}" for s in sorted({layer.noise for layer in model.layers}))
    count = counted(len(model.layers), "recurrent layer")
    columns = model.columns()
    columns = {**columns, "error": [f"{error:.1e}" for error in columns["error"]]}
    values = zip(*(columns[name] for name in _HEADS), strict=True)
    rows = [[_cell(value) for value in row] for row in values]
    return (
        f"{count}; noise {noise} of each state; medians over the channels",
        [*_HEADS.values()],
        rows,
    )


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4g}" if abs(value) < 1e4 or value == np.inf else f"{value:,.0f}"


def _nothing(checkpoint: Checkpoint, select: Sequence[str] | str | None) -> str:
    if select is not None:
        return _fault("none_selected", model=checkpoint.name, select=select)
    kinds = "; ".join(
        f"{kind.name}: {', '.join('/'.join(either) for either in kind.tensors)}" for kind in KINDS
    )
    listing = checkpoint.archive.listing
    return _fault("none", model=checkpoint.name, listing=listing, kinds=kinds)
