"""Cases, the unit of a sweep: one network and one question about it.

Everything is computed with one BLAS thread: sums over several threads are rounded differently, and
the results of the naive methods are mostly rounding.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memcurve.core import arguments
from memcurve.core.errors import UncertainResultError, rank_among_notes
from memcurve.core.limits import one_thread
from memcurve.inputs import White, parse, processes_for
from memcurve.inputs import noise as noises
from memcurve.io import load_driven, with_leak
from memcurve.memory import METHODS, MemoryCurve, memory_curve, noise_profile, rank
from memcurve.network import LinearNetwork, ensembles
from memcurve.network.ensembles import ENSEMBLES, SPARSE_FROM
from memcurve.network.masks import MASKS, is_random
from memcurve.solve import Analysis
from memcurve.studies.sweeping.store import TEXTS, fault


@dataclass(frozen=True)
class Quantity:
    """A number that a case can keep: its definition, its label, how it is computed."""

    meaning: str
    label: str
    of: Callable[[AnsweredCase], Any]
    #: Whether the number of states is an upper bound.
    bounded: bool = False
    #: Whether it equals the number of states without noise, by theory.
    counts_states: bool = False
    #: Why a finished case may not have it.
    missing: str = "not known"


_COMPUTED: dict[str, Callable[[AnsweredCase], Any]] = {
    "total": lambda answer: answer.curve.total,
    "total_error": lambda answer: answer.curve.total_error,
    "rank": lambda answer: answer.rank,
    "usable_float64": lambda answer: answer.usable["float64"],
    "usable_float32": lambda answer: answer.usable["float32"],
    "usable_16bit": lambda answer: answer.usable["16 bit"],
    "usable_12bit": lambda answer: answer.usable["12 bit"],
    "horizon_half": lambda answer: answer.curve.horizon(0.5),
    "horizon_tenth": lambda answer: answer.curve.horizon(0.1),
    "largest_error": lambda answer: answer.curve.error.max(initial=0.0),
    "error_against_exact": lambda answer: answer.error_against_exact,
}
#: What a case can keep.
QUANTITIES = {n: Quantity(of=of, **TEXTS["quantities"][n]) for n, of in _COMPUTED.items()}
#: The largest whole number that the store and all formats of tables hold.
LARGEST = 2**63 - 1
#: What a case keeps by default.
USUAL = ("total", "rank")
#: Ranks of sparse networks of so many nodes take seconds; of ten times as many, half an hour.
RANK_UP_TO = 20_000
FORMAT = "memcurve.Case/1"
#: Options of ensembles that are fields of their own, too.
LIFTED = ("spectral_radius", "density", "mask")


@functools.cache
def require_ensemble_options(ensemble: str | None, names: tuple[str, ...]) -> None:
    make = arguments.table_entry(ENSEMBLES, ensemble, "ensemble")
    arguments.require_options(make, dict.fromkeys(("seed", *names)))


@functools.cache
def draws(ensemble: str | None, mask: str | None, method: str) -> bool:
    """Whether something is drawn at random, so that a seed is needed."""
    # the own mask of rings of any lengths is drawn, although their weights are not
    by_mask = ensemble == "permutation" if mask is None else is_random(mask)
    if ensemble is not None:
        seed = inspect.signature(ENSEMBLES[ensemble]).parameters["seed"]
        by_mask = by_mask or seed.default is inspect.Parameter.empty
    return by_mask or METHODS[method].draws


@functools.lru_cache(maxsize=1000)
def _states_and_digest(path: Path, changed: int, size: int) -> tuple[int, str]:
    """The number of states of a network's file, and the SHA-256 of its contents."""
    network, _ = load_driven(path, mask="ones", seed=0)
    return network.states, hashlib.sha256(path.read_bytes()).hexdigest()


def number_of_states(case: Mapping[str, Any]) -> int:
    """The bound on the memory of white input; complex states count twice."""
    return int(case["size"]) * (2 if case.get("ensemble") == "lru_ring" else 1)


def label(name: str, options: Mapping[str, Any]) -> str:
    """An ensemble or a method with its options, as tables show it."""
    inside = ", ".join(f"{key}={value}" for key, value in options.items())
    return f"{name}({inside})" if inside else name


# --- Each field in its one form.


def _tidy_noise(noise: Any) -> float | str | None:
    """A number, a word, or None where there is none."""
    if isinstance(noise, str):
        read = noises.parse_noise([noise])  # a word may stand for no noise, or for a number
        if not isinstance(read, float):
            is_zero = isinstance(read, noises.StateNoise) and read.deviation == 0
            return None if is_zero else noise.strip().lower()
        noise = read
    level = noises.noise_of(
        arguments.require_number(noise, "noise", "at least 0", lambda s: s >= 0)
    )
    return None if level is None else float(noise)


@functools.lru_cache(maxsize=1000)
def _tidy_input(text: Any) -> str | None:
    """The input process as words without blanks, None for white."""
    if isinstance(text, str) and text.strip().lower().startswith("series:"):
        raise ValueError(fault("series", text=text))
    return None if isinstance(parse(text), White) else "".join(text.lower().split())


def _tidy_seed(seed: Any) -> int:
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= seed <= LARGEST:
        raise ValueError(f"`seed` must be a whole number from 0 to 2^63 - 1, got {seed!r}.")
    return int(seed)


def tidy_keep(keep: Any) -> tuple[str, ...]:
    """The quantities, each once and in a fixed order."""
    names = [keep] if isinstance(keep, str) else keep
    if not isinstance(names, Sequence) or not names:
        raise ValueError(f"`keep` must name at least one quantity, got {keep!r}.")
    for name in names:
        arguments.table_entry(QUANTITIES, name, "keep")
    return tuple(sorted(set(names)))


def _tidy_options(options: Any) -> dict[str, Any]:
    try:
        # as JSON has them; what JSON lacks is refused
        return dict(sorted(json.loads(json.dumps(dict(options), allow_nan=False)).items()))
    except (TypeError, ValueError) as error:
        raise TypeError(fault("options", options=options, error=error)) from None


#: How each field gets its one form.
TIDY: dict[str, Callable[[Any], Any]] = {
    "ensemble": functools.partial(arguments.require_choice, argument="ensemble", choices=ENSEMBLES),
    "size": arguments.require_size,
    "file": str,
    "digest": str,
    "spectral_radius": lambda radius: arguments.require_number(
        radius, "spectral_radius", "at least 0", lambda r: r >= 0
    ),
    "density": arguments.require_density,
    "leak": lambda leak: arguments.require_number(
        leak, "leak", "above 0, at most 1", lambda r: 0 < r <= 1
    ),
    "mask": functools.partial(arguments.require_choice, argument="mask", choices=MASKS),
    "ensemble_options": _tidy_options,
    "inputs": functools.partial(arguments.require_size, argument="inputs"),
    "input": _tidy_input,
    "noise": _tidy_noise,
    "method": functools.partial(arguments.require_choice, argument="method", choices=METHODS),
    "options": _tidy_options,
    "lags": functools.partial(arguments.require_size, argument="lags"),
    "seed": _tidy_seed,
    "keep": tidy_keep,
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A network, a method to compute its memory, and what to keep of the result.

    ``ensemble``, ``size``, ``spectral_radius``, ``density``, ``mask`` and ``ensemble_options`` are
    those of :func:`memcurve.ensembles.make`, None the ensemble's own default; ``seed`` is that of
    everything drawn. In place of an ensemble, ``file`` is one of your own with the SHA-256 of its
    contents as its ``digest``; W and the mask of a file are scaled and replaced. With a ``leak``
    rate lr, A is (1 − lr) I + lr W and C is lr times the mask. ``inputs`` have a mask each;
    ``input`` and ``noise`` are words of the command, or a standard deviation; ``method``,
    ``options`` and ``lags`` are those of :func:`memcurve.memory_curve`. ``keep`` names some of
    :data:`memcurve.studies.sweeping.cases.QUANTITIES`.

    Examples
    --------
    >>> from memcurve.studies.sweeping import Case
    >>> case = Case(ensemble="normal", size=20, seed=1)
    >>> case.to_dict()
    {'ensemble': 'normal', 'size': 20, 'method': 'exact', 'seed': 1, 'keep': ['rank', 'total']}
    >>> Case(**case.to_dict()) == case
    True
    """

    ensemble: str | None = None
    size: int | None = None
    file: str | None = None
    digest: str | None = None
    spectral_radius: float | None = None
    density: float | None = None
    leak: float | None = None
    mask: str | None = None
    ensemble_options: Mapping[str, Any] = field(default_factory=dict)
    inputs: int = 1
    input: str | None = None
    noise: float | str | None = None
    method: str = "exact"
    options: Mapping[str, Any] = field(default_factory=dict)
    lags: int | None = None
    seed: int | None = None
    keep: tuple[str, ...] = USUAL

    def __post_init__(self) -> None:
        # equal cases have one form, and so one key: 1 is 1.0, "white" is None, order means nothing
        fields = dict(vars(self))
        for name in sorted(self.ensemble_options.keys() & set(LIFTED)):
            if fields[name] is not None:
                facts = {"got": fields[name], "other": self.ensemble_options[name]}
                raise ValueError(fault("twice", name=name, ensemble=self.ensemble, **facts))
        if self.file is not None:
            fields |= self._of_file()
        for name, tidy in TIDY.items():
            value = None if fields[name] is None else tidy(fields[name])
            object.__setattr__(self, name, value)
        if self.file is None:
            arguments.require_size(self.size)
            require_ensemble_options(self.ensemble, tuple(self.ensemble_arguments))
        unknown = sorted(set(self.options) - set(METHODS[self.method].options))
        if unknown:
            taken = ", ".join(METHODS[self.method].options) or "none"
            raise TypeError(
                fault("method_options", method=self.method, taken=taken, unknown=", ".join(unknown))
            )
        if self.seed is None and (self.inputs > 1 or draws(self.ensemble, self.mask, self.method)):
            source = f"file {self.file!r}" if self.file else f"ensemble {self.ensemble!r}"
            raise ValueError(fault("no_seed", source=source, mask=self.mask, method=self.method))

    def _of_file(self) -> dict[str, Any]:
        """What a case knows of its file, which must be what it was when the case was made."""
        for name in ("ensemble", "density", "ensemble_options"):
            if getattr(self, name):
                raise ValueError(f"`{name}` is for ensembles; leave it out, or leave out `file`.")
        if self.inputs != 1:
            raise ValueError("`inputs` is for ensembles; a file has its own.")
        path = Path(self.file or "")
        if not path.is_file():
            raise ValueError(f"`file` must be the file of a network, and there is no {path}.")
        state = path.stat()
        states, digest = _states_and_digest(path.resolve(), state.st_mtime_ns, state.st_size)
        if self.digest not in (None, digest):
            raise ValueError(fault("changed_file", path=path))
        return {"file": str(path), "size": states, "digest": digest}

    @property
    def ensemble_arguments(self) -> dict[str, Any]:
        """What :func:`memcurve.ensembles.make` gets besides the size and the seed."""
        named = {name: getattr(self, name) for name in LIFTED if getattr(self, name) is not None}
        return {**self.ensemble_options, **named}

    def to_dict(self) -> dict[str, Any]:
        """What is set, as plain JSON types; what is at its default is left out."""
        return {
            item.name: list(value) if isinstance(value, tuple) else value
            for item in dataclasses.fields(self)
            if (value := getattr(self, item.name)) not in (item.default, {})
            or item.name in ("method", "keep")
        }

    @functools.cached_property
    def key(self) -> str:
        """SHA-256 of the case: the same case has the same key in every study."""
        content = [FORMAT, self.to_dict()]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def __hash__(self) -> int:
        return hash(self.key)


def evaluate(case: Mapping[str, Any]) -> dict[str, float | int | None]:
    """Compute a case, given as :meth:`Case.to_dict` writes it.

    Returns
    -------
    dict
        One number per quantity, None if it is not known (an error bound of a method that has none,
        a horizon beyond the lags). The same case gives the same bits.

    Examples
    --------
    >>> from memcurve.studies.sweeping import evaluate
    >>> evaluate({"ensemble": "orthogonal", "size": 10, "seed": 1, "keep": ["total", "rank"]})
    {'rank': 10, 'total': 10.0}
    """
    checked = Case(**case)
    with one_thread(), rank_among_notes():
        network = network_of(checked)
        curve = _curve(checked, network)
        if not math.isfinite(curve.total):
            raise UncertainResultError(f"method {checked.method!r} gives a total of {curve.total}.")
        answer = AnsweredCase(checked, network, curve)
        return {name: _plain(QUANTITIES[name].of(answer)) for name in checked.keep}


def network_of(case: Case) -> LinearNetwork:
    """The network of a case, the same as that of the command with the same options."""
    if case.file is not None:
        radius, seed = case.spectral_radius, case.seed or 0
        network, leak = load_driven(case.file, mask=case.mask, seed=seed, spectral_radius=radius)
        if leak is not None and case.leak is not None:
            raise ValueError(f"`leak` must not be given: {case.file} has a leak rate.")
        return with_leak(network, leak if case.leak is None else case.leak)
    arguments: dict[str, Any] = {"seed": case.seed, **case.ensemble_arguments}
    network = ensembles.make(case.ensemble or "", case.size or 1, **arguments)
    several = ensembles.with_inputs(network, case.inputs, case.mask, case.seed)
    return with_leak(several, case.leak)


@dataclass(eq=False)
class AnsweredCase:
    """The curve of a case, and shared results of several quantities, computed at most once."""

    case: Case
    network: LinearNetwork
    curve: MemoryCurve

    @property
    def rank(self) -> int | None:
        """The rank of the network, whatever the method reports."""
        network = self.network
        if self.curve.rank is not None:
            return self.curve.rank
        if network.is_sparse and network.size >= SPARSE_FROM:  # by products, unless that takes long
            return rank(network) if network.size <= RANK_UP_TO else None
        return memory_curve(network, 1).rank

    @property
    def error_against_exact(self) -> float:
        """Largest difference from the exact answer to the same question, at the same lags."""
        if self.case.method == "exact":
            return 0.0
        exact = _curve(self.case, self.network, exact_at=len(self.curve))
        return float(abs(self.curve.channels - exact.channels).max(initial=0.0))

    @functools.cached_property
    def usable(self) -> dict[str, float]:
        """Exact totals by number format, its rounding taken as noise of one size in all states."""
        processes = processes_for(self.case.input, self.network.inputs)
        deviations = Analysis.of(self.network).deviations(processes)
        levels = noises.number_formats(deviations)
        totals = {}
        for kind in (noises.Float64(), noises.Float32()):
            if not kind.readable(deviations).all():  # which no noise of one size stands for
                levels.pop(kind.label, None)
                curve = memory_curve(self.network, 1, input=self.case.input, noise=kind)
                totals[kind.label] = curve.total
        family = noise_profile(self.network, [*levels.values()], lags=1, input=self.case.input)
        return totals | dict(zip(levels, family.known_totals.tolist(), strict=True))


def _curve(case: Case, network: LinearNetwork, exact_at: int | None = None) -> MemoryCurve:
    """The curve of the case's method, or the exact one at so many lags."""
    noise: Any = noises.parse_noise([case.noise]) if isinstance(case.noise, str) else case.noise
    question = {"input": case.input, "noise": noise, "seed": case.seed}
    how: dict[str, Any] = {"method": case.method, **case.options} if exact_at is None else {}
    curve: MemoryCurve = memory_curve(network, exact_at or case.lags, **question, **how)
    return curve


def _plain(value: Any) -> float | int | None:
    """A number as JSON has it; NaN means that it is not known."""
    if value is None or math.isnan(value):
        return None
    return int(value) if isinstance(value, int | np.integer) else float(value)
