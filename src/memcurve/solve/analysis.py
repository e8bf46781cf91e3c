"""Analysis: what is known of a network, each fact found when it is needed and at most once.

Reachability, the controllable spectrum, the rank, an input-normal realization and the map to the
network's own states depend on the network alone, and serve every question about it. A
:class:`Task` is a question in the matrices of an analysis: what solvers work on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UncertainResultError, UnstableNetworkError, unstable
from memcurve.inputs import InputProcess
from memcurve.limits import fits, require_room_for_states
from memcurve.network import LinearNetwork
from memcurve.network.device import DeviceMatrix
from memcurve.network.graph import DrivenPath, Indices, reachable_nodes, single_path
from memcurve.network.operator import Operator
from memcurve.progress import Listener, silent
from memcurve.result import Complexes, Floats
from memcurve.solve.closed_forms import walk_spectrum
from memcurve.solve.factor import state_covariance, state_sizes
from memcurve.solve.filters import Filter, filters_of, impulses
from memcurve.solve.modes import Spectrum
from memcurve.solve.question import Question
from memcurve.solve.spectrum import assumed, block_rank, decided
from memcurve.solve.states import States

#: An analysis is kept with its network up to this many states: beyond, its arrays are too large to
#: stay in memory for as long as the network does.
KEPT_UP_TO = 2000


#: States of a sparse network that are so much below the largest are measured in a dense form, if
#: they are few: products add up to rounding of the largest. Doubled: more of them are.
FAR_BELOW = 1e-8
#: Up to this many it takes no time. Doubled: eight times as long, a tenth of a second.
FEW_STATES = 300
#: Relative to the largest, squares of smaller states may have vanished. Doubled: nothing.
VANISHED = 2.0**-500
#: Masks above 2 to this power drive states that are beyond number formats, which others may be
#: within that are out of sight. Doubled: these are taken for too small.
LARGE_MASK = 100


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
        self._sizes: dict[Any, tuple[Any, tuple[Floats, Indices]]] = {}
        #: Reduced models of this network, by the source and by the units of its states.
        self.models: dict[Any, Any] = {}
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
    def walk(self) -> DrivenPath | None:
        """The walk that all nodes reached by a single input form, where they do."""
        A, C = self._pair
        return single_path(A, C) if C.shape[1] == 1 else None

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

    # --- sizes of the states

    def covariance(
        self, states: States, processes: tuple[InputProcess, ...]
    ) -> tuple[Floats, Floats]:
        """p_0 and Γ of the states themselves, in their measure; no more to be inverted than G."""
        return state_covariance(states.A, states.C, filters_of(processes))

    def deviations(self, states: States, processes: tuple[InputProcess, ...]) -> Floats:
        """Standard deviations of the states without noise, as they are stored."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(*self.sizes(states, processes)))

    def sizes(self, states: States, processes: tuple[InputProcess, ...]) -> tuple[Floats, Indices]:
        """The same as numbers times powers of two, which float64 may be too narrow for."""
        white = all(process.is_white for process in processes)
        key = (id(states), None if white else tuple(map(id, processes)))
        if key not in self._sizes:
            with np.errstate(all="ignore"):
                sizes = self._state_sizes(states, filters_of(processes))
            self._sizes[key] = (processes, sizes)  # kept, so that no other gets its id
        return self._sizes[key][1]

    def _state_sizes(self, states: States, filters: tuple[Filter, ...]) -> tuple[Floats, Indices]:
        if not isinstance(states.multiplied, np.ndarray):
            try:
                sizes, exponent = states.sizes(impulses(filters))
                least = float(sizes.min() / sizes.max())
                vanished = least < VANISHED and exponent > LARGE_MASK
                if vanished and (self.products_only or len(states) > KEPT_UP_TO):
                    raise UncertainResultError("the states differ too much in size.")
                dense = len(states) <= FEW_STATES and not self.products_only
                if not vanished and (least >= FAR_BELOW or not dense):
                    return sizes, np.full(len(sizes), exponent)
            except UncertainResultError:
                if states.runaway:
                    raise unstable(states.runaway) from None
                if self.products_only or not fits(len(states), "noise"):
                    raise
        return state_sizes(states, filters)


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


class Task:
    """A question in the matrices of its network's analysis."""

    def __init__(self, question: Question, analysis: Analysis | None = None) -> None:
        self.question = question
        self.analysis = Analysis.of(observed(question.network)) if analysis is None else analysis

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
        """Which of these states are read, less those that the number format cannot hold."""
        return self.asked if self.readable is None else self.asked[self.readable]

    @cached_property
    def readable(self) -> NDArray[np.bool_] | None:
        """Which of the states that are asked for their number format holds; None for all."""
        noise = self.question.noise
        if noise is None or not noise.has_range or not self.states.mask.any():
            return None
        try:
            sizes, exponents = self.analysis.sizes(self.states, self.question.processes)
        except UncertainResultError:  # which solvers have more to say of
            return None
        found = noise.readable(sizes[self.asked], exponents[self.asked])
        return None if found.all() else found

    def narrowed(self) -> Task:
        """The same question without states beyond the number format that lead to none within."""
        network = self.analysis.network
        if self.readable is None or network.is_complex or not len(self.rows):
            return self
        part = observed(network.replace(readout=self.states.nodes[self.rows]))
        if part.size == network.size:
            return self
        return Task(replace(self.question, network=part))

    def range_remarks(self) -> list[str]:
        """What to say of states that are too large or too small for their number format."""
        noise = self.question.noise
        if noise is None or not noise.has_range or not self.states.mask.any():
            return []
        try:
            sizes, exponents = self.analysis.sizes(self.states, self.question.processes)
        except UncertainResultError:
            return [f"sizes of the states are not known: some may be out of range of {noise.label}"]
        return noise.range_remarks(sizes[self.asked], exponents[self.asked])

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
        return self.states.rows_rank(self.rows, self.analysis.rank) if self.is_driven else 0

    @cached_property
    def observation(self) -> Floats:
        """Standard deviations of the errors of reading, at level one."""
        noise = self.question.noise
        if noise is None:
            return np.zeros(len(self.states))
        if not noise.is_relative:
            return self._in_measure(noise.observation(np.ones(len(self.states))), 0)
        sizes, units = self.analysis.sizes(self.states, self.question.processes)
        return self._in_measure(noise.relative_observation(sizes, units), units)

    def matrices(self) -> tuple[Floats, Floats, Floats, Floats]:
        """A, C, and deviations of both kinds of noise, in a measure in which float64 holds all."""
        noise = self.question.noise
        try:
            return self.A, self.C, self.observation, self.state
        except UncertainResultError:
            if noise is None or not noise.is_relative:
                raise
        sizes, units = self.analysis.sizes(self.states, self.question.processes)
        errors = noise.relative_observation(sizes, units)
        return *self.states.measured_in(units), errors, np.zeros(len(errors))

    @cached_property
    def state(self) -> Floats:
        """Standard deviations of the errors that enter the recursion, at level one."""
        noise, unit = self.question.noise, np.ones(len(self.states))
        return 0 * unit if noise is None else self._in_measure(noise.state(unit), 0)

    def _in_measure(self, given: Floats, units: Indices | int) -> Floats:
        """Deviations of the noise, in units of powers of two, in the measure of A and C."""
        if self.readable is not None:
            given = np.array(given)
            given[self.asked[~self.readable]] = 0.0  # not read
        with np.errstate(all="ignore"):
            found = np.ldexp(given, units - self.states.exponents)
            lost = not np.array_equal(np.ldexp(found, self.states.exponents - units), given)
        if lost:
            raise UncertainResultError(
                "the noise is so far above or below the states that float64 cannot hold both; "
                "measure the states in other units."
            )
        return found
