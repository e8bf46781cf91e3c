"""Analysis: what is known of a network, each fact found when it is needed and at most once.

Reachability, the controllable spectrum, the rank, an input-normal realization and the map to the
network's own states depend on the network alone, and serve every question about it. A
:class:`Task` is a question in the matrices of an analysis: what solvers work on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from memcurve.errors import UncertainResultError, UnstableNetworkError, unstable
from memcurve.inputs import InputProcess
from memcurve.limits import fits, require_room_for_states
from memcurve.network import LinearNetwork
from memcurve.network.graph import Indices, Walk, reachable_nodes, single_walk
from memcurve.network.operator import Operator
from memcurve.progress import Listener, silent
from memcurve.result import Complexes, Floats
from memcurve.solve.allpass import cascade, section_poles
from memcurve.solve.closed_forms import walk_spectrum
from memcurve.solve.coloured import filter_of, kernel_of
from memcurve.solve.modes import Spectrum
from memcurve.solve.question import Question
from memcurve.solve.realization import (
    StateMap,
    eigen_state_map,
    leja_order,
    several_input_cascade,
    stein_state_map,
)
from memcurve.solve.spectrum import assumed, block_rank, decided
from memcurve.solve.states import States
from memcurve.solve.stein import gramian, stein

T = TypeVar("T")

#: An analysis is kept with its network up to this many states: beyond, its arrays are too large to
#: stay in memory for as long as the network does.
KEPT_UP_TO = 2000


class Analysis:
    """A network, analysed as far as questions need it.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.solve.analysis import Analysis
    >>> network = memcurve.ensembles.normal(20, seed=1)
    >>> analysis = Analysis.of(network)
    >>> analysis.rank
    20
    >>> Analysis.of(network) is analysis
    True
    """

    def __init__(self, network: LinearNetwork) -> None:
        self.network = network
        self._spectrum: Spectrum | None = None
        self._deviations: dict[Any, tuple[Any, Floats]] = {}
        self._coordinates: dict[tuple[str, int], Any] = {}
        #: Small networks that stand for this one under noise, by the shape of the noise.
        self.reductions: dict[Any, Any] = {}
        #: Standard deviations of the states reached by white input, as good as rounding of the
        #: largest, where an answer had them at hand.
        self.known_deviations: Floats | None = None
        #: Whether usable memory has to come from products with A alone.
        self.products_only = isinstance(network.A, Operator)
        #: Whom to tell how far long work is.
        self.tell: Listener = silent

    @classmethod
    def of(cls, network: LinearNetwork) -> Analysis:
        """The analysis of a network: the one that is kept with it, or a new one."""
        kept: Analysis | None = network.__dict__.get("_analysis")
        if kept is None:
            kept = cls(network)
            if network.states <= KEPT_UP_TO:
                network.__dict__["_analysis"] = kept
        return kept

    @classmethod
    @contextlib.contextmanager
    def kept(cls, network: LinearNetwork) -> Iterator[Analysis]:
        """Keep the analysis of a network, however large, while several questions are asked."""
        analysis = network.__dict__.setdefault("_analysis", cls(network))
        try:
            yield analysis
        finally:
            if network.states > KEPT_UP_TO:
                network.__dict__.pop("_analysis", None)

    @contextlib.contextmanager
    def telling(self, tell: Listener) -> Iterator[None]:
        """Tell how far long work is."""
        before, self.tell = self.tell, tell
        try:
            yield
        finally:
            self.tell = before

    @contextlib.contextmanager
    def without_dense_matrices(self) -> Iterator[None]:
        """Take usable memory from products with A alone, where other ways would take too long."""
        before, self.products_only = self.products_only, True
        try:
            yield
        finally:
            self.products_only = before

    # --- states

    @cached_property
    def _pair(self) -> tuple[Any, Floats]:
        return self.network.real_pair()

    @property
    def inputs(self) -> int:
        """Number of inputs d."""
        return self.network.inputs

    @cached_property
    def walk(self) -> Walk | None:
        """The walk that all nodes reached by a single input form, where they do."""
        A, C = self._pair
        return single_walk(A, C) if C.shape[1] == 1 else None

    @cached_property
    def reached(self) -> States:
        """The states that inputs reach."""
        A, C = self._pair
        walk = self.walk
        nodes = reachable_nodes(A, C) if walk is None else np.sort(walk.order)
        return States(A, C, nodes)

    @cached_property
    def everything(self) -> States:
        """All states."""
        A, C = self._pair
        if len(self.reached) == len(C):
            return self.reached
        return States(A, C, np.arange(len(C), dtype=np.intp))

    # --- modes

    def spectrum(self, *, poles: bool = True) -> Spectrum:
        """The controllable spectrum of a network with a single input, decided once.

        Without ``poles`` these may be left out where the curve does not need them.
        """
        if self._spectrum is None:
            self._spectrum = self._closed_form() or decided(self.reached)
        if poles and self._spectrum.find_poles is not None:
            with np.errstate(all="ignore"):
                found, sensitivity = self._spectrum.find_poles()
            self._spectrum = replace(
                self._spectrum, poles=found, sensitivity=sensitivity.curve, gap=sensitivity.gap,
                find_poles=None,
            )  # fmt: skip
        return self._spectrum

    def assumed_spectrum(self) -> Spectrum:
        """The spectrum with all reached modes taken to count, where closed forms do not tell."""
        return self._closed_form() or assumed(self.reached)

    def _closed_form(self) -> Spectrum | None:
        """The spectrum of a single walk, where it is known."""
        self._require_single()
        if self.walk is None:
            return None
        found = walk_spectrum(self.walk, self._pair[1][:, 0])
        if found is None:
            require_room_for_states(len(self.walk.order), "exact")
        return found

    def _require_single(self) -> None:
        if self.inputs != 1:
            raise ValueError(
                f"`network` must have a single input for its controllable spectrum, got "
                f"{self.inputs}; pass one column of C at a time."
            )

    @property
    def knows_rank(self) -> bool:
        """Whether the rank was found already."""
        return self._spectrum is not None or "rank" in vars(self)

    @cached_property
    def rank(self) -> int:
        """Exact rank of [C, AC, A²C, …] for the stored numbers."""
        return self.spectrum(poles=False).rank if self.inputs == 1 else self._block_rank[0]

    @cached_property
    def _block_rank(self) -> tuple[int, bool]:
        return block_rank(self.reached)

    @property
    def rank_is_robust(self) -> bool:
        """Whether no mode that counts hangs on the last digits."""
        if self.inputs > 1:
            return self._block_rank[1]
        spectrum = self.spectrum(poles=False)
        return spectrum.rank_robust >= spectrum.rank

    def exact_rank(self, rows: Indices, tell: Listener) -> int:
        """The same without eigenvalues, of some rows of the states that are reached."""
        if len(rows) == len(self.reached):
            if self.knows_rank:
                return self.rank
            if self.walk is not None:
                with contextlib.suppress(UnstableNetworkError):  # which has a rank, too
                    closed = walk_spectrum(self.walk, self._pair[1][:, 0])
                    if closed is not None:
                        return closed.rank
        return self.reached.exact_rank(rows, tell)

    @cached_property
    def eigenvalues(self) -> Complexes:
        """All eigenvalues of A, as far as LAPACK knows them."""
        poles = None if self._spectrum is None else self._spectrum.poles
        if poles is not None and len(poles) == self.network.states:
            return poles
        return self.everything.eigenvalues

    # --- coordinates in which the states are white

    def once(self, name: str, states: States, make: Callable[[], T]) -> T:
        """What is made of these states, made at most once."""
        key = (name, id(states))
        if key not in self._coordinates:
            self._coordinates[key] = make()
        found: T = self._coordinates[key]
        return found

    def realization(self, states: States) -> tuple[Floats, Floats]:
        """An input-normal realization (A', C') of the network."""
        return self.once(
            "realization", states, lambda: realized(states.A, states.C, self.rank, self._poles())
        )

    def stein_map(self, states: States) -> StateMap:
        """The map to the network's own states from a Stein equation."""
        return self.once(
            "Stein", states, lambda: stein_state_map(states.A, states.C, self.realization(states))
        )

    def eigen_map(self, states: States) -> StateMap | None:
        """The map from eigenvectors, for a single input that excites every mode."""
        return self.once(
            "eigenvectors",
            states,
            lambda: eigen_state_map(states.A, states.C[:, 0]),
        )

    def _poles(self) -> Complexes | None:
        return self.spectrum().poles if self.inputs == 1 else None

    # --- sizes of the states

    def direct_covariance(
        self, states: States, processes: tuple[InputProcess, ...]
    ) -> tuple[Floats, Floats]:
        """p_0 and Γ of the states themselves, by Γ = AΓAᵀ + p₀Cᵀ + Cp₀ᵀ − CCᵀ.

        Good for the size of the states; no more to be inverted than any other such matrix.
        """
        if all(process.is_white for process in processes):
            made = self.once("Gramian", states, lambda: gramian(states.A, states.C))
            return states.C, made
        present = np.empty_like(states.C)
        for j, process in enumerate(processes):
            column = states.C[:, [j]]
            present[:, [j]] = column + kernel_of(process).half_sum(states.A, column)
        drive = present @ states.C.T
        return present, stein(states.A, drive + drive.T - states.C @ states.C.T)

    def rough_deviations(self, processes: tuple[InputProcess, ...]) -> Floats:
        """Standard deviations of these states, good to rounding of the largest of them."""
        if all(process.is_white for process in processes):
            if self.known_deviations is not None:
                return self.known_deviations
            for name in ("eigenvectors", "Stein"):
                found = self._coordinates.get((name, id(self.reached)))
                if found is not None:  # x = Tξ, and ξ is white
                    sizes = np.sqrt((found.T**2).sum(axis=1))
                    return np.asarray(np.ldexp(sizes, self.reached.exponents))
        return self.state_deviations(processes)

    def state_deviations(self, processes: tuple[InputProcess, ...]) -> Floats:
        """Standard deviations of the states that inputs reach, without noise."""
        if not isinstance(self.reached.multiplied, np.ndarray):
            try:
                return np.sqrt(self.reached.variances(_impulses(processes)))
            except UncertainResultError:
                if self.reached.runaway:
                    raise unstable(self.reached.runaway) from None
                if self.products_only or not fits(len(self.reached), "noise"):
                    raise
        sizes = self.deviations(self.reached, processes)
        return np.ldexp(sizes, self.reached.exponents)

    def deviations(self, states: States, processes: tuple[InputProcess, ...]) -> Floats:
        """Standard deviations of the states without noise, in their measure."""
        white = all(process.is_white for process in processes)
        key = (id(states), None if white else tuple(map(id, processes)))
        if key not in self._deviations:
            covariance = self.direct_covariance(states, processes)[1]
            sizes = np.sqrt(np.maximum(np.diag(covariance), 0.0))
            self._deviations[key] = (processes, sizes)  # kept, so that no other gets its id
        return self._deviations[key][1]


def _impulses(processes: tuple[InputProcess, ...]) -> Floats:
    """Filters of several inputs, (lags, d)."""
    filters = [filter_of(process).psi for process in processes]
    psi = np.zeros((max(map(len, filters)), len(filters)))
    for j, each in enumerate(filters):
        psi[: len(each), j] = each
    return psi


def realized(A: Floats, C: Floats, rank: int, poles: Complexes | None) -> tuple[Floats, Floats]:
    """An input-normal realization (A', C') of a pair with these poles, or of several inputs."""
    if C.shape[1] > 1:
        if rank < len(A):
            raise UncertainResultError("not every mode is driven by the inputs.")
        return several_input_cascade(A, C)
    if poles is None or not np.abs(poles).max() < 1:
        raise UncertainResultError("the eigenvalues that count cannot be told well enough.")
    upper = section_poles(poles)
    A1, C1 = cascade(upper[leja_order(upper)])
    return A1, C1[:, None]


class Task:
    """A question in the matrices of its network's analysis."""

    def __init__(self, question: Question, analysis: Analysis | None = None) -> None:
        self.question = question
        self.analysis = Analysis.of(question.network) if analysis is None else analysis

    @cached_property
    def states(self) -> States:
        """States that matter: those that inputs reach, or all where noise enters every state."""
        noise = self.question.noise
        if noise is not None and noise.state(np.ones(1)).any():
            return self.analysis.everything
        return self.analysis.reached

    @property
    def A(self) -> Floats:
        """Connectivity of the states that matter, dense, and balanced."""
        return self.states.A

    @property
    def C(self) -> Floats:
        """Their mask (n, d), in the same measure."""
        return self.states.C

    @cached_property
    def rows(self) -> Indices:
        """Which of these states are read."""
        network = self.question.network
        read = network.readout
        if read is None:
            return np.arange(len(self.states), dtype=np.intp)
        if network.is_complex:
            read = np.concatenate([read, read + network.size])
        return np.flatnonzero(np.isin(self.states.nodes, read)).astype(np.intp)

    @property
    def reads_all(self) -> bool:
        """Whether every one of these states is read."""
        return self.question.network.readout is None or len(self.rows) == len(self.states)

    @property
    def is_driven(self) -> bool:
        """Whether any state that is read is ever driven."""
        return bool(self.states.mask.any()) and (self.reads_all or len(self.rows) > 0)

    @cached_property
    def rank(self) -> int:
        """Exact rank of what is read of the Krylov matrix."""
        return self.states.rows_rank(self.rows, self.analysis.rank) if self.is_driven else 0

    @cached_property
    def observation(self) -> Floats:
        """Standard deviations of the errors of reading, at level one."""
        noise = self.question.noise
        return np.zeros(len(self.states)) if noise is None else self._measured(noise.observation)

    @cached_property
    def state(self) -> Floats:
        """Standard deviations of the errors that enter the recursion, at level one."""
        noise = self.question.noise
        return np.zeros(len(self.states)) if noise is None else self._measured(noise.state)

    def _measured(self, deviations: Callable[[Floats], Floats]) -> Floats:
        """Deviations of the noise in the measure of A and C."""
        noise = self.question.noise
        if noise is not None and noise.is_relative:  # to a power of two the same anywhere
            return deviations(self.analysis.deviations(self.states, self.question.processes))
        given = deviations(np.ones(len(self.states)))
        with np.errstate(all="ignore"):
            found = np.ldexp(given, -self.states.exponents)
            lost = not np.array_equal(np.ldexp(found, self.states.exponents), given)
        if lost:
            raise UncertainResultError(
                "the noise is so far above or below the states that float64 cannot hold both; "
                "measure the states in other units."
            )
        return found
