"""Analysis: what is known of a network, each fact found when it is needed and at most once.

Reachability, the controllable spectrum, the rank, an input-normal realization and the map to the
network's own states depend on the network alone, and serve every question about it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from memcurve.core.errors import UnstableNetworkError
from memcurve.core.limits import require_room_for_states
from memcurve.core.progress import Listener, silent
from memcurve.core.types import Complexes
from memcurve.network import LinearNetwork
from memcurve.network.graph import Indices
from memcurve.solve.modes import Spectrum
from memcurve.solve.spectrum import assumed, block_rank, decided, path_spectrum
from memcurve.solve.states import KEPT_UP_TO, States


class Analysis(States):
    """A network, analysed as far as questions need it: the states that inputs reach.

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
        super().__init__(network)
        #: Reduced models of this network, by the source and by the units of its states.
        self.models: dict[Any, Any] = {}
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

    @cached_property
    def everything(self) -> States:
        """All states of the network."""
        if len(self) == self.network.states:
            return self
        return States(self.network, np.arange(self.network.states, dtype=np.intp))

    # --- modes

    @cached_property
    def spectrum(self) -> Spectrum:
        """The controllable spectrum of a network with a single input."""
        return self._closed_form() or decided(self)

    def assumed_spectrum(self) -> Spectrum:
        """The spectrum with all reached modes taken to count, where closed forms do not tell."""
        return self._closed_form() or assumed(self)

    def _closed_form(self) -> Spectrum | None:
        """The spectrum of a single path, where all of its modes are driven."""
        self._require_single()
        if self.path is None:
            return None
        spectrum = path_spectrum(self.path, self._pair[1][:, 0])
        if spectrum is None:
            require_room_for_states(len(self), "exact")
        return spectrum

    def _require_single(self) -> None:
        if self.inputs != 1:
            raise ValueError(
                f"`network` must have a single input for its controllable spectrum, got "
                f"{self.inputs}; pass one column of C at a time."
            )

    @property
    def knows_rank(self) -> bool:
        """Whether the rank was found already."""
        return not {"spectrum", "rank"}.isdisjoint(vars(self))

    @cached_property
    def rank(self) -> int:
        """Exact rank of [C, AC, A²C, …] for the stored numbers."""
        return self.spectrum.rank if self.inputs == 1 else self._block_rank[0]

    @cached_property
    def _block_rank(self) -> tuple[int, bool]:
        return block_rank(self)

    @property
    def rank_is_robust(self) -> bool:
        """Whether no mode that counts hangs on the last digits."""
        if self.inputs > 1:
            return self._block_rank[1]
        spectrum = self.spectrum
        return spectrum.rank_robust >= spectrum.rank

    def exact_rank(self, rows: Indices, tell: Listener) -> int:
        """The same without eigenvalues, of some rows of the states that are reached."""
        if len(rows) == len(self):
            if self.knows_rank:
                return self.rank
            if self.path is not None:
                with contextlib.suppress(UnstableNetworkError):  # which has a rank, too
                    closed = path_spectrum(self.path, self._pair[1][:, 0])
                    if closed is not None:
                        return closed.rank
        return super().exact_rank(rows, tell)

    @cached_property
    def all_eigenvalues(self) -> Complexes:
        """All eigenvalues of A, reached or not, as far as LAPACK knows them."""
        poles = self.spectrum.poles if "spectrum" in vars(self) else None
        whole = poles is not None and len(poles) == self.network.states
        return poles if poles is not None and whole else self.everything.eigenvalues
