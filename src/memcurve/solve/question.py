"""What is asked: a network, its inputs, the noise, and what to list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from memcurve.inputs import InputProcess, processes_for
from memcurve.network import LinearNetwork
from memcurve.noise import Noise, noise_of
from memcurve.types import Floats

Kind = Literal["memory", "forecasting", "Fisher"]
#: What a question may have beyond one white input without noise, read from all nodes.
Feature = Literal["coloured input", "noise", "several inputs", "a readout of some nodes"]
#: More take gigabytes of memory.
MOST_LAGS = 50_000_000


@dataclass(frozen=True, eq=False)
class Question:
    """A question about a network, as it was asked.

    Attributes
    ----------
    network : LinearNetwork
        The network.
    processes : tuple of InputProcess
        One an input; all are taken to unit variance.
    noise : Noise or None
        Errors of the states.
    lags : int or None
        Number of lags; None for as many as hold nearly all memory.
    horizons : int
        Number of steps ahead.
    kind : str
        ``"memory"``, ``"forecasting"`` or ``"Fisher"``.
    """

    network: LinearNetwork
    processes: tuple[InputProcess, ...]
    noise: Noise | None = None
    lags: int | None = None
    horizons: int = 0
    kind: Kind = "memory"

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
    ) -> Question:
        """The question that the arguments of :func:`memcurve.memory_curve` stand for."""
        processes = processes_for(input, network.inputs)
        return cls(network, processes, noise_of(noise), validated_lags(lags), horizons, kind)

    @property
    def features(self) -> tuple[Feature, ...]:
        """What it has beyond the question of the paper."""
        asked: list[tuple[bool, Feature]] = [
            (not self.is_white, "coloured input"),
            (self.noise is not None, "noise"),
            (self.network.inputs > 1, "several inputs"),
            (self.network.readout is not None, "a readout of some nodes"),
        ]
        return tuple(feature for found, feature in asked if found)

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


def validated_lags(lags: Any) -> int | None:
    """The number of lags, None or a positive integer that fits."""
    if lags is None:
        return None
    whole = isinstance(lags, int | np.integer) and not isinstance(lags, bool | np.bool_)
    if not whole or lags < 1:
        raise ValueError(
            f"`lags` must be a positive integer or None, got {lags!r}; lags=m means lags 0 … m − 1."
        )
    if lags > MOST_LAGS:
        raise ValueError(
            f"`lags` must be at most {MOST_LAGS:,}, which take gigabytes of memory; got {lags:,}."
        )
    return int(lags)
