"""States at work together, as matrices in the forms that solvers need, each made at most once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.errors import UncertainResultError, unstable
from memcurve.core.limits import fits
from memcurve.core.progress import Listener
from memcurve.core.types import EPS, TINY, Complexes, Floats
from memcurve.inputs import InputProcess
from memcurve.network import LinearNetwork
from memcurve.network.device import DeviceMatrix, on_host
from memcurve.network.graph import (
    DrivenPath,
    Indices,
    balanced,
    eigenvalues,
    generically_driven,
    leading_mode,
    most_nodes_on_cycles,
    reachable_nodes,
    single_path,
    strong_components,
    submatrix,
)
from memcurve.network.operator import Operator
from memcurve.network.places import place_of
from memcurve.solve.errors import Sensitivity, pole_sensitivity
from memcurve.solve.factor import state_covariance, state_sizes
from memcurve.solve.factors import Repeated, repeated_components
from memcurve.solve.filters import Filter, filters_of, impulses
from memcurve.solve.modular import (
    FEW_NON_ZEROS,
    MinimalPolynomial,
    krylov_rank,
    minimal_polynomial,
    rank_of_high_powers,
    sparse_if_few,
)
from memcurve.solve.powers import PowerNorms, power_norms, sums_of_powers

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


def _same_digits(scaled: Floats, numbers: Floats) -> bool:
    """Whether no number was lost, in part or as a whole, when they were scaled."""
    if np.count_nonzero(scaled) != np.count_nonzero(numbers) or not np.isfinite(scaled).all():
        return False
    small = np.abs(scaled) < TINY
    return not np.any(small & (scaled != 0) & (scaled != numbers))


def _in_like_units(
    A: Floats, C: Floats, *, widest: int = 950
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """D⁻¹AD, D⁻¹C and the exponents of D, which differ by no more than ``widest``."""
    stored = A
    A, d = balanced(stored) if len(stored) else (stored, np.ones(0))
    exponents = np.frexp(d)[1].astype(np.int64) - 1
    if len(stored) and (np.ptp(exponents) > widest or not _same_digits(A, stored)):
        A, exponents = stored, np.zeros(len(stored), np.int64)
    largest = np.frexp(C)[1] - exponents[:, None]
    shift = int(largest[C != 0].max()) if C.any() else 0
    scaled = np.ldexp(C, -(exponents + shift)[:, None])
    if not _same_digits(scaled, C):
        raise UncertainResultError(
            "the numbers in `C` differ so much in size that float64 cannot hold them side by "
            "side; measure the states in other units."
        )
    return np.ascontiguousarray(A), scaled, exponents + shift


def _runaway(A: Any, C: Floats, *, many_modes: int = 1000, surely: float = 1e-6) -> float:
    """The modulus of the leading mode, where it is unstable and excited for sure; 0 otherwise.

    The mode λ with wᵀA = λwᵀ, in networks of ``many_modes``. Neither |wᵀC| nor |λ| − 1 may be a
    matter of rounding, ``surely``: errors in A move λ by up to 1/|wᵀv| times as much, v the right
    eigenvector, of the same length.
    """
    if isinstance(A, np.ndarray | Operator) or len(C) < many_modes:
        return 0.0
    found = leading_mode(A)
    if found is None:
        return 0.0
    value, w, v = found
    off = float(np.linalg.norm(A.T @ w - value * w))
    excited = float(np.abs(w @ C).max() / np.abs(C).max())
    beyond = abs(value) - 1 - surely
    return abs(value) if beyond * abs(w @ v) > off and excited > surely else 0.0


class States:
    """Some states of a network, as real matrices: those that inputs reach, or those given.

    Parameters
    ----------
    network : LinearNetwork
        The network.
    nodes : int array or None
        Which of its states these are, in order; None for those that inputs reach.
    """

    def __init__(self, network: LinearNetwork, nodes: Indices | None = None) -> None:
        self.network = network
        self._given = nodes
        self._ranks: dict[bytes, int] = {}
        self._sizes: dict[Any, tuple[Any, tuple[Floats, Indices]]] = {}
        #: Whether usable memory has to come from products with A alone.
        self.products_only = isinstance(network.A, Operator)

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def _pair(self) -> tuple[Any, Floats]:
        return self.network.real_pair()

    @property
    def inputs(self) -> int:
        """Number of inputs d."""
        return self.network.inputs

    @cached_property
    def path(self) -> DrivenPath | None:
        """The path that all nodes reached by a single input form, where they do."""
        A, C = self._pair
        return single_path(A, C) if C.shape[1] == 1 else None

    @cached_property
    def nodes(self) -> Indices:
        """Which states of the network these are, in order."""
        if self._given is not None:
            return self._given
        return reachable_nodes(*self._pair) if self.path is None else np.sort(self.path.order)

    @cached_property
    def mask(self) -> Floats:
        """Mask (n, d) as it is stored."""
        C = self._pair[1]
        return C if len(self) == len(C) else C[self.nodes]

    @cached_property
    def stored(self) -> Any:
        """Connectivity as it is stored, dense or sparse, on the host."""
        A, nodes = on_host(self._pair[0]), self.nodes
        if len(nodes) == A.shape[0]:
            return A
        return A[np.ix_(nodes, nodes)] if isinstance(A, np.ndarray) else A[nodes][:, nodes]

    @cached_property
    def multiplied(self) -> Any:
        """Connectivity where products with it are taken: on its device, if it has one."""
        A = self._pair[0]
        if not isinstance(A, DeviceMatrix):
            return self.stored
        return A if len(self) == A.shape[0] else A.like(self.stored)

    @cached_property
    def dense(self) -> Floats:
        """Connectivity as a dense array."""
        return submatrix(self.stored, np.arange(len(self), dtype=np.intp))

    @cached_property
    def sparse(self) -> Any:
        """Connectivity as it is stored, sparse where it has few entries."""
        return sparse_if_few(self.stored)

    @cached_property
    def _scaled(self) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """D⁻¹AD, D⁻¹C and the exponents of D."""
        return _in_like_units(self.dense, self.mask)

    @cached_property
    def has_wild_units(self, *, widest: int = 400) -> bool:
        """Whether units of nodes of one cycle differ by more binary orders: products overflow."""
        A = self.dense
        sizes = np.abs(A)
        least = float(sizes.min(where=sizes > 0, initial=np.inf))
        if sizes.max(initial=0.0) <= 2.0**widest * least:
            return False
        scales = [balanced(submatrix(A, nodes))[1] for nodes in self.strong_components]
        return any(np.ptp(np.frexp(scale)[1]) > widest for scale in scales)

    def units(self) -> NDArray[np.int64]:
        """Powers of two in which every state is about one, as far as mask and weights tell.

        Nodes that can reach each other are alike once they are balanced; from one set of them to
        the next the largest product of weights tells.
        """
        A, count = self.dense, len(self.strong_components)
        label, inner = np.empty(len(self), np.intp), np.zeros(len(self))
        for k, nodes in enumerate(self.strong_components):
            label[nodes] = k
            if len(nodes) > 1:
                inner[nodes] = np.log2(balanced(submatrix(A, nodes))[1])
        to, start = np.nonzero(A)
        apart = label[to] != label[start]
        to, start = to[apart], start[apart]
        with np.errstate(divide="ignore"):
            own = np.log2(np.abs(self.mask).max(axis=1)) - inner
        gain = np.log2(np.abs(A[to, start])) + inner[start] - inner[to]
        level = np.full(count, -np.inf)
        np.maximum.at(level, label, own)
        for _ in range(count):
            before = level.copy()
            np.maximum.at(level, label[to], gain + level[label[start]])
            if np.array_equal(level, before):
                break
        found = inner + level[label]
        return np.rint(np.where(np.isfinite(found), found, 0.0)).astype(np.int64)

    def measured_in(self, units: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """D⁻¹AD and D⁻¹C for D of these powers of two, exactly."""
        A = np.ldexp(self.dense, units - units[:, None])
        C = np.ldexp(self.mask, -units[:, None])
        if not (_same_digits(A, self.dense) and _same_digits(C, self.mask)):
            raise UncertainResultError("the states differ too much in size for float64.")
        return A, C

    @property
    def A(self) -> Floats:
        """Connectivity, dense, and balanced.

        States are measured in powers of two, chosen so that rows and columns of A are alike in
        size and the mask is about one. That is exact, and no answer depends on it.
        """
        return self._scaled[0]

    @property
    def C(self) -> Floats:
        """Mask (n, d), in the same measure."""
        return self._scaled[1]

    @property
    def exponents(self) -> NDArray[np.int64]:
        """The measure: state i of the network is 2^exponents[i] times the one here."""
        return self._scaled[2]

    @cached_property
    def strong_components(self) -> list[Indices]:
        """Sets of states that can all reach each other."""
        return strong_components(self.sparse)

    @cached_property
    def eigenvalues(self) -> Complexes:
        """All eigenvalues, one strongly connected component at a time."""
        return eigenvalues(self.stored, self.strong_components)

    @cached_property
    def power_norms(self) -> PowerNorms:
        """Σ‖A^k‖² and Σ‖A^k‖ in this measure."""
        return power_norms(np.asfortranarray(self.A))

    def covariance(self, processes: tuple[InputProcess, ...]) -> tuple[Floats, Floats]:
        """p_0 and Γ of the states themselves, in their measure; no more to be inverted than G."""
        return state_covariance(self.A, self.C, filters_of(processes))

    def deviations(self, processes: tuple[InputProcess, ...]) -> Floats:
        """Standard deviations of the states without noise, as they are stored."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(*self.sizes(processes)))

    def sizes(self, processes: tuple[InputProcess, ...]) -> tuple[Floats, Indices]:
        """The same as numbers times powers of two, which float64 may be too narrow for."""
        white = all(process.is_white for process in processes)
        key = None if white else tuple(map(id, processes))
        if key not in self._sizes:
            with np.errstate(all="ignore"):
                sizes = self._state_sizes(filters_of(processes))
            self._sizes[key] = (processes, sizes)  # kept, so that no other gets its id
        return self._sizes[key][1]

    def _state_sizes(self, filters: tuple[Filter, ...]) -> tuple[Floats, Indices]:
        if not isinstance(self.multiplied, np.ndarray):
            try:
                sizes, exponent = self._sizes_by_products(impulses(filters))
                least = float(sizes.min() / sizes.max())
                vanished = least < VANISHED and exponent > LARGE_MASK
                if vanished and (self.products_only or len(self) > KEPT_UP_TO):
                    raise UncertainResultError("the states differ too much in size.")
                dense = len(self) <= FEW_STATES and not self.products_only
                if not vanished and (least >= FAR_BELOW or not dense):
                    return sizes, np.full(len(sizes), exponent)
            except UncertainResultError:
                if self.runaway:
                    raise unstable(self.runaway) from None
                if self.products_only or not fits(len(self), "noise"):
                    raise
        return state_sizes(self, filters)

    def _sizes_by_products(self, psi: Floats, *, most_products: int = 10_000) -> tuple[Floats, int]:
        """Standard deviations of the states, by products, and the power of two of their unit.

        Their squares are Σ_k (A^k C)² for white input. In general inputs are white noise through
        filters, the columns of ψ (lags, d), and the sum is that of the squares of
        x_k = A x_{k−1} + C ψ_k. What comes later is at most ‖x_k‖² Σ_m ‖A^m‖², and left out where
        it is below rounding of the largest. Raises UncertainResultError where that takes more than
        so many products.
        """
        A, unit = self.multiplied, int(np.frexp(np.abs(self.mask).max())[1])
        place, later = place_of(A), sums_of_powers(A).squares
        C = place.put(np.ldexp(self.mask, -unit))
        total, x, weights = 0.0, 0.0 * C, place.small(psi)
        for k in range(most_products):
            x = (A @ x if k else x) + (C * weights[k] if k < len(psi) else 0.0)
            total = total + (x**2).sum(axis=1)
            if k >= len(psi) - 1 and k % place.ahead == 0:
                largest = float(place.host([place.largest(total)])[0])
                if float(place.squares(x).sum()) * later <= EPS**2 * largest:
                    return np.sqrt(place.host(total)), unit
        raise UncertainResultError("the states take too long to settle.")

    @cached_property
    def runaway(self) -> float:
        """The modulus of an unstable mode that the input excites for sure, or 0.

        Looked for in large sparse networks, where all modes take long.
        """
        return _runaway(self.stored, self.mask)

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """What rounding in the eigenvalues can do."""
        return pole_sensitivity(self.stored, self.strong_components)

    @cached_property
    def degree(self) -> MinimalPolynomial:
        """Exact degree of the minimal polynomial of a single mask."""
        return minimal_polynomial(self.sparse, self.mask[:, 0])

    @cached_property
    def blocks(self) -> list[Floats]:
        """Connectivity within each strong component."""
        diagonal = self.stored.diagonal()
        return [
            submatrix(self.stored, nodes) if len(nodes) > 1 else diagonal[nodes][:, None]
            for nodes in self.strong_components
        ]

    @cached_property
    def nodes_on_cycles(self) -> int:
        """How many nodes disjoint cycles can cover: no more eigenvalues are non-zero.

        Where there are few edges; with many of them there are nearly always enough cycles.
        """
        A = self.sparse
        edges = np.count_nonzero(A) if isinstance(A, np.ndarray) else A.nnz
        few = edges <= max(FEW_NON_ZEROS * len(self), 4) * len(self)
        return most_nodes_on_cycles(A) if few else len(self)

    @property
    def is_feed_forward(self) -> bool:
        """Whether there are no cycles but self-loops: eigenvalues are stored numbers."""
        return len(self.strong_components) == len(self)

    @cached_property
    def repeated(self) -> Repeated:
        """Components that repeat each other, and which of their eigenvalues a single mask loses."""
        return repeated_components(self.blocks, self.degree.modulo)

    @cached_property
    def knows_lost(self) -> bool:
        """Whether zeros and components that repeat each other are all that is lost."""
        missing = self.nodes_on_cycles - self.degree.nonzero
        return missing == 0 or missing == self.repeated.missing

    @cached_property
    def nonzero_eigenvalues(self) -> int:
        """Exact number of eigenvalues that are not zero, for a single mask."""
        if self.knows_lost:
            return self.nodes_on_cycles
        alone = sum(1 for B in self.blocks if len(B) == 1 and B.any())
        least = self.degree.nonzero + self.repeated.missing - alone
        larger = [B for B in self.blocks if len(B) > 1]
        return alone + rank_of_high_powers(larger, least, self.degree.zeros)

    def exact_rank(self, rows: Indices, tell: Listener) -> int:
        """Exact rank of the Krylov matrix of inputs that reach all states, or of some of its rows.

        Nothing but products of residues, sparse ones where A has few edges.
        """
        A, read = self.sparse, None if len(rows) == len(self) else rows
        if isinstance(A, np.ndarray):
            if read is None and self.mask.shape[1] == 1:
                return self.degree.degree
            return krylov_rank(A, self.mask, read)
        from scipy.sparse import csr_array

        most = int(np.count_nonzero(generically_driven(A, self.mask)))
        twin = self.multiplied if isinstance(self.multiplied, DeviceMatrix) else None
        return krylov_rank(csr_array(A), self.mask, read, most, tell, twin)

    def rows_rank(self, rows: Indices, rank: int) -> int:
        """Exact rank of some rows of the Krylov matrix, whose own rank is ``rank``."""
        if len(rows) == len(self):
            return rank
        key = rows.tobytes()
        if key not in self._ranks:
            self._ranks[key] = krylov_rank(self.sparse, self.mask, rows, rank)
        return self._ranks[key]
