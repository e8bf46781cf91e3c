"""Problem: the question, that is a network, its inputs, the noise, and what to list."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import Floats
from memcurve.inputs import InputProcess, processes_for
from memcurve.inputs.noise import Noise, noise_of
from memcurve.network import LinearNetwork
from memcurve.network.device import DeviceMatrix
from memcurve.network.graph import Indices, reachable_nodes
from memcurve.network.operator import Operator
from memcurve.solve.analysis import Analysis

Kind = Literal["memory", "forecasting", "Fisher"]
#: What a question may have beyond one white input without noise, read from all nodes.
Feature = Literal["coloured input", "noise", "several inputs", "a readout of some nodes"]
#: More take gigabytes of memory.
MOST_LAGS = 50_000_000


@dataclass(frozen=True, eq=False)
class Problem:
    """A question about a network, as it was asked, and in the matrices of its analysis.

    One of ``processes`` an input, all taken to unit variance; ``lags`` None for as many as hold
    nearly all memory; ``horizons`` steps ahead; ``given_analysis`` where it is not the one kept
    with the network.
    """

    network: LinearNetwork
    processes: tuple[InputProcess, ...]
    noise: Noise | None = None
    lags: int | None = None
    horizons: int = 0
    kind: Kind = "memory"
    given_analysis: Analysis | None = None

    @classmethod
    def of(
        cls,
        network: LinearNetwork,
        lags: Any = None,
        *,
        input: Any = None,
        noise: Any = None,
        horizons: int = 0,
        kind: Kind = "memory",
        analysis: Analysis | None = None,
    ) -> Problem:
        """The question that the arguments of :func:`memcurve.memory_curve` stand for."""
        processes = processes_for(input, network.inputs)
        return cls(
            network, processes, noise_of(noise), validated_lags(lags), horizons, kind, analysis
        )

    @property
    def features(self) -> tuple[Feature, ...]:
        """What it has beyond the question of the paper."""
        asked: list[tuple[bool, Feature]] = [
            (not self.is_white, "coloured input"),
            (self.noise is not None, "noise"),
            (self.network.inputs > 1, "several inputs"),
            (self.network.readout is not None, "a readout of some nodes"),
        ]
        return tuple(feature for is_asked, feature in asked if is_asked)

    @property
    def is_plain(self) -> bool:
        """Whether it is that of the paper: one white input, no noise, memory, all states read."""
        return self.kind == "memory" and not self.features

    @property
    def is_white(self) -> bool:
        """Whether every input is white."""
        return all(process.is_white for process in self.processes)

    @property
    def levels(self) -> Floats:
        """Factors of the noise, one a curve; a single zero without noise."""
        return np.zeros(1) if self.noise is None else self.noise.levels

    @property
    def input_names(self) -> list[str]:
        """Names of the input processes, each once."""
        return sorted({process.name for process in self.processes})

    def setting(self) -> tuple[str, ...]:
        """The input and the noise in words, where there is something to say."""
        parts = []
        if not self.is_white:
            parts.append("input " + ", ".join(self.input_names))
        if self.noise is not None:
            scaled = f" {self.levels[0]:g}" if self.noise.is_scaled else ""
            parts.append(f"{self.noise.label}{scaled}")
        return tuple(parts)

    def record(self, level: float) -> dict[str, Any]:
        """The inputs and the noise at one level as text, for the options of a result."""
        options: dict[str, Any] = {}
        if not self.is_white:
            names = [process.name for process in self.processes]
            options["input"] = names[0] if len(set(names)) == 1 else names
        if self.noise is not None:
            scaled = self.noise.is_scaled
            options["noise"] = (
                f"{type(self.noise).__name__}({level!r})" if scaled else repr(self.noise)
            )
        return options

    # --- the problem in the matrices of its network's analysis

    @cached_property
    def analysis(self) -> Analysis:
        """What is known of the part of the network that leads to what is read."""
        return self.given_analysis or Analysis.of(observed(self.network))

    def listing(self, lags: int) -> Problem:
        """The same for so many lags."""
        return replace(self, lags=lags, given_analysis=self.analysis)

    @cached_property
    def states(self) -> Analysis:
        """States that matter: those that inputs reach, or all where noise enters every state."""
        noise = self.noise
        if noise is not None and noise.state(np.ones(1)).any():
            return self.analysis.everything
        return self.analysis

    @property
    def A(self) -> Floats:
        """Connectivity of the states that matter, dense, and balanced."""
        return self.states.A

    @property
    def C(self) -> Floats:
        """Their mask (n, d), scaled alike."""
        return self.states.C

    @cached_property
    def rows(self) -> Indices:
        """Which of these states are read, less those that the number format cannot hold."""
        return self.asked if self.readable is None else self.asked[self.readable]

    @cached_property
    def _sizes_asked(self) -> tuple[Floats, Indices] | None:
        """Sizes of the states that are asked for, where a number format limits them."""
        if self.noise is None or not self.noise.has_range or not self.states.mask.any():
            return None
        with contextlib.suppress(UncertainResultError):  # which solvers have more to say of
            sizes, units = self.states.sizes(self.processes)
            return sizes[self.asked], units[self.asked]
        return None

    @cached_property
    def readable(self) -> NDArray[np.bool_] | None:
        """Which of the states that are asked for their number format holds; None for all."""
        if self.noise is None or self._sizes_asked is None:
            return None
        readable = self.noise.readable(*self._sizes_asked)
        return None if readable.all() else readable

    def narrowed(self) -> Problem:
        """The same question without states beyond the number format that lead to none within."""
        network = self.analysis.network
        if self.readable is None or network.is_complex or not len(self.rows):
            return self
        part = observed(network.replace(readout=self.states.nodes[self.rows]))
        if part.size == network.size:
            return self
        return replace(self, network=part, given_analysis=None)

    def range_remarks(self) -> list[str]:
        """What to say of states that are too large or too small for their number format."""
        noise = self.noise
        if noise is None or not noise.has_range or not self.states.mask.any():
            return []
        if self._sizes_asked is None:
            return [f"sizes of the states are not known: some may be out of range of {noise.label}"]
        return noise.range_remarks(*self._sizes_asked)

    @cached_property
    def asked(self) -> Indices:
        """Which of these states are asked for."""
        network = self.analysis.network
        read = network.readout
        if read is None:
            return np.arange(len(self.states), dtype=np.intp)
        if network.is_complex:
            read = np.concatenate([read, read + network.size])
        return np.flatnonzero(np.isin(self.states.nodes, read)).astype(np.intp)

    @property
    def reads_all(self) -> bool:
        """Whether every one of these states is read."""
        whole = self.analysis.network.readout is None and self.readable is None
        return whole or len(self.rows) == len(self.states)

    @property
    def is_driven(self) -> bool:
        """Whether any state that is read is ever driven."""
        return bool(self.states.mask.any()) and (self.reads_all or len(self.rows) > 0)

    @cached_property
    def rank(self) -> int:
        """Exact rank of what is read of the Krylov matrix."""
        return self.states.exact_rank(self.rows, self.analysis.rank) if self.is_driven else 0

    @cached_property
    def reading_errors(self) -> tuple[Floats, Indices]:
        """Standard deviations of observation noise at level one: numbers, and powers of two."""
        noise, ones = self.noise, np.ones(len(self.states))
        sizes, units = ones, np.zeros(len(ones), np.intp)
        if noise is None:
            return 0 * ones, units
        if noise.is_relative:
            sizes, units = self.states.sizes(self.processes)
        errors = noise.relative_observation(sizes, units)
        if self.readable is not None:
            errors[self.asked[~self.readable]] = 0.0  # not read
        return errors, units

    @cached_property
    def observation(self) -> Floats:
        """The same in the measure of A and C."""
        return self._in_measure(*self.reading_errors)

    @cached_property
    def state(self) -> Floats:
        """Standard deviations of the errors that enter the recursion, at level one."""
        noise, ones = self.noise, np.ones(len(self.states))
        return 0 * ones if noise is None else self._in_measure(noise.state(ones), 0)

    def _in_measure(self, given: Floats, units: Indices | int) -> Floats:
        with np.errstate(all="ignore"):
            scaled = np.ldexp(given, units - self.states.exponents)
        if not (np.isfinite(scaled).all() and np.array_equal(scaled == 0, given == 0)):
            raise UncertainResultError(
                "`noise` is so far above or below the states that float64 cannot hold both; "
                "measure the states in other units."
            )
        return scaled


def observed(network: LinearNetwork) -> LinearNetwork:
    """The part of a network that leads to what is read: all else is of no concern to the reader."""
    A = network.A
    if network.readout is None or network.is_complex or isinstance(A, Operator | DeviceMatrix):
        return network
    part: LinearNetwork | None = network.__dict__.get("_observed")
    if part is None:
        read = np.zeros((network.size, 1))
        read[network.readout] = 1.0
        nodes = reachable_nodes(A.T if isinstance(A, np.ndarray) else A.T.tocsr(), read)
        part = network
        if len(nodes) < network.size:
            inner = A[np.ix_(nodes, nodes)] if isinstance(A, np.ndarray) else A[nodes][:, nodes]
            readout = np.searchsorted(nodes, network.readout)
            part = LinearNetwork(inner, network.C[nodes], readout, name=network.name)
        network.__dict__["_observed"] = part
    return part


def validated_lags(lags: Any) -> int | None:
    """The number of lags, None or a positive integer that fits."""
    if lags is None:
        return None
    whole = isinstance(lags, int | np.integer) and not isinstance(lags, bool | np.bool_)
    if not whole or lags < 1:
        raise ValueError(
            f"`lags` must be a positive integer, got {lags!r:.80}; it is the number of lags, which "
            f"begin at 0."
        )
    if lags > MOST_LAGS:
        raise ValueError(
            f"`lags` must be at most {MOST_LAGS:,}, which take gigabytes of memory; got {lags:,}."
        )
    return int(lags)
