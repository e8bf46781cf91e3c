"""Analysis: facts about a network, each computed when it is needed and at most once.

The reached states as matrices in the forms that solvers need, their standard deviations, the rank,
and which eigenvalues are controllable. *Exact means exact for the stored numbers.* The rank is that
of the Krylov matrix [C, AC, A²C, …] of the float64 numbers in A and C. A mode that a change in the
last digit would make uncontrollable is a controllable one; ``rank_robust`` is the rank without such
modes, and ``margin`` how far the closest one is from uncontrollable.

::

    every mode isolated and excited far above rounding (PBH test) → all controllable
    exact rank r, modulo primes (``modular``) = n → all controllable
    r < n → only zeros are uncontrollable: a shift of the filter by as many lags
          | r < n/2, and the Krylov space ends after r steps in floating point too: its r × r matrix
          | the uncontrollable eigenvalues are known exactly (``modular``), as roots of χ/μ
          | as many modes as are controllable stand out, equal eigenvalues taken as one (PBH test)
    else the poles are not known: ball arithmetic, or the rank alone

With χ the characteristic polynomial and μ the minimal polynomial of the mask, χ = z^m q μ. LAPACK
may scatter a multiple zero widely, but the product over all eigenvalues is backward stable:
uncontrollable zeros are taken away as a delay of m steps, and none of them need be told from the
eigenvalues around.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.errors import UncertainResultError, unstable
from memcurve.core.limits import fits, require_room_for_states
from memcurve.core.progress import ProgressCallback, no_progress
from memcurve.core.types import EPS, SEED, TINY, Complexes, Floats
from memcurve.inputs import ARMA, InputProcess, White
from memcurve.inputs.filters import filters_of, impulses
from memcurve.network import LinearNetwork, graph, modular
from memcurve.network.device import DeviceMatrix, on_host
from memcurve.network.graph import ORDINARY, Indices
from memcurve.network.modular import MinimalPolynomial, UncontrollableModes, sparse_if_few
from memcurve.network.operator import Operator
from memcurve.network.tall import backend_of
from memcurve.solve import spectrum as spectra
from memcurve.solve.errors import (
    UNKNOWN,
    Sensitivity,
    backward_error,
    normal_sensitivity,
    pole_sensitivity,
)
from memcurve.solve.factor import TAIL, state_covariance
from memcurve.solve.powers import power_norms, solve_stein, sums_of_powers
from memcurve.solve.spectrum import NOT_ROUNDING, PBHTest, Poles, Spectrum

#: An analysis is kept with its network up to this many states: beyond, its arrays are too large to
#: stay in memory for as long as the network does.
KEPT_UP_TO = 2000
#: Relative to the largest, squares of smaller states may have vanished. Doubled: nothing.
VANISHED = 2.0**-500


class Analysis:
    """A network, analysed as far as questions need it: the states inputs reach, or ``nodes``."""

    def __init__(self, network: LinearNetwork, nodes: Indices | None = None) -> None:
        self.network = network
        self._given = nodes
        self._ranks: dict[bytes, int] = {}
        self._sizes: dict[Any, tuple[Any, tuple[Floats, Indices]]] = {}
        #: Whether usable memory has to come from products with A alone.
        self.products_only = isinstance(network.A, Operator)
        #: Reduced models of this network, by the source and by the units of its states.
        self.models: dict[Any, Any] = {}
        #: Called with the progress of long work.
        self.notify: ProgressCallback = no_progress

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
    def reporting(self, notify: ProgressCallback, *, products_only: bool = False) -> Iterator[None]:
        """Report the progress of long work; usable memory from products with A alone, if so."""
        before = self.notify, self.products_only
        self.notify, self.products_only = notify, self.products_only or products_only
        try:
            yield
        finally:
            self.notify, self.products_only = before

    @cached_property
    def everything(self) -> Analysis:
        """All states of the network."""
        if len(self) == self.network.states:
            return self
        return Analysis(self.network, np.arange(self.network.states, dtype=np.intp))

    # --- matrices

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
    def nodes(self) -> Indices:
        """Which states of the network these are, in order."""
        if self._given is not None:
            return self._given
        return graph.reachable_nodes(*self._pair)

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
        return graph.submatrix(self.stored, np.arange(len(self), dtype=np.intp))

    @cached_property
    def sparse(self) -> Any:
        """Connectivity as it is stored, sparse where it has few entries."""
        return sparse_if_few(self.stored)

    @cached_property
    def strong_components(self) -> list[Indices]:
        """Sets of states that can all reach each other."""
        return graph.strong_components(self.sparse)

    @property
    def is_feed_forward(self) -> bool:
        """Whether there are no cycles but self-loops: eigenvalues are stored numbers."""
        return len(self.strong_components) == len(self)

    @cached_property
    def blocks(self) -> list[Floats]:
        """Connectivity within each strong component."""
        diagonal = self.stored.diagonal()
        return [
            graph.submatrix(self.stored, nodes) if len(nodes) > 1 else diagonal[nodes][:, None]
            for nodes in self.strong_components
        ]

    # --- scaling

    @cached_property
    def _scaled(self) -> tuple[Floats, Floats, NDArray[np.int64]]:
        with contextlib.suppress(UncertainResultError):
            A, C, units = self._in_state_units()
            if _same_digits(A, self.dense) and _same_digits(C, self.mask):
                return A, C, units
        unit = np.frexp(np.abs(self.mask).max(initial=0.0))[1]
        C = np.ldexp(self.mask, -unit)
        if not _same_digits(C, self.mask):
            raise UncertainResultError(
                "the numbers in `C` differ so much in size that float64 cannot hold them side by "
                "side; measure the states in other units."
            )
        return self.dense, C, np.full(len(self), unit, np.int64)

    @property
    def A(self) -> Floats:
        """D⁻¹AD, dense, with powers of two D that make each state about one, exactly."""
        return self._scaled[0]

    @property
    def C(self) -> Floats:
        """D⁻¹C (n, d)."""
        return self._scaled[1]

    @property
    def exponents(self) -> NDArray[np.int64]:
        """D = 2^exponents: state i of the network is 2^exponents[i] times the one scaled."""
        return self._scaled[2]

    @cached_property
    def weight_range(self) -> tuple[float, float]:
        """The least modulus of a weight that is not zero, and the largest."""
        sizes = np.abs(self.dense)
        least = sizes.min(initial=np.inf) or sizes.min(initial=np.inf, where=sizes > 0)
        return float(least), float(sizes.max(initial=0.0))

    @cached_property
    def is_badly_scaled(self, *, widest: int = 400) -> bool:
        """Whether squares overflow or underflow, even where each component is balanced."""
        least, largest = self.weight_range
        if largest > 0 and not ORDINARY[0] <= largest <= ORDINARY[1]:
            return True
        if largest <= 2.0**widest * least:
            return False
        scales = [graph.balanced(B)[1] for B in self.blocks if len(B) > 1]
        return any(np.ptp(np.frexp(scale)[1]) > widest for scale in scales)

    # --- sizes of the states

    def covariance(self, processes: tuple[InputProcess, ...]) -> tuple[Floats, Floats]:
        """p_0 and Γ of the scaled states; as ill-conditioned as G."""
        return state_covariance(self.A, self.C, filters_of(processes))

    def deviations(self, processes: tuple[InputProcess, ...]) -> Floats:
        """Standard deviations of the states without noise, as they are stored."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(*self.sizes(processes)))

    def sizes(self, processes: tuple[InputProcess, ...]) -> tuple[Floats, Indices]:
        """The same as numbers times powers of two, as they may overflow or underflow."""
        white = all(process.is_white for process in processes)
        key = None if white else tuple(map(id, processes))
        if key not in self._sizes:
            with np.errstate(all="ignore"):
                sizes = self._state_sizes(processes)
            self._sizes[key] = (processes, sizes)  # kept, so that no other gets its id
        return self._sizes[key][1]

    def _state_sizes(
        self, processes: tuple[InputProcess, ...], *, few: int = 300
    ) -> tuple[Floats, Indices]:
        """By products, or from a Stein equation where these take long; scaled where cheap."""
        dense = not self.products_only
        own = dense and (isinstance(self.multiplied, np.ndarray) or len(self) <= few)
        if own:
            A, C, units = self._in_state_units()
        else:
            units = np.full(len(self), np.frexp(np.abs(self.mask).max())[1])
            A, C = self.multiplied, np.ldexp(self.mask, -units[:, None])
        try:
            sizes = sizes_by_products(A, C, impulses(filters_of(processes)))
            if not own and sizes.min() < VANISHED * sizes.max():
                raise UncertainResultError("the states differ too much in size.")
            return sizes, units
        except UncertainResultError:
            if self.unstable_radius:
                raise unstable(self.unstable_radius) from None
            if not (dense and fits(len(self), "noise")):
                raise
        A, C, units = self._in_state_units()
        masks = np.split(C, C.shape[1], axis=1)
        variances = np.sum([*map(partial(_variances, A), masks, processes)], axis=0)
        if not np.isfinite(variances).all():
            raise UncertainResultError("the states differ too much in size for float64.")
        return np.sqrt(np.maximum(variances, 0.0)), units

    def _in_state_units(self) -> tuple[Floats, Floats, Indices]:
        """D⁻¹AD and D⁻¹C with powers of two D that make each state about one."""
        return self._in_units(state_units(self.dense, self.mask, self.strong_components))

    @cached_property
    def of_unit_variance(self) -> tuple[Floats, Floats, Indices]:
        """The same with D from the deviations under white input: no state is lost beside others.

        Balancing may take a slow state that drives fast ones to a tiny share of them.
        """
        sizes, units = self.sizes((White(),) * self.inputs)
        return self._in_units(units + np.frexp(sizes)[1])

    def _in_units(self, units: Indices) -> tuple[Floats, Floats, Indices]:
        A = np.ldexp(self.dense, units - units[:, None])
        C = np.ldexp(self.mask, -units[:, None])
        if not (np.isfinite(A).all() and np.isfinite(C).all()):
            raise UncertainResultError("the states differ too much in size for float64.")
        return A, C, units

    # --- ranks

    @property
    def knows_rank(self) -> bool:
        """Whether the rank was found already."""
        return not {"spectrum", "rank"}.isdisjoint(vars(self))

    @cached_property
    def rank(self) -> int:
        """Exact rank of [C, AC, A²C, …] for the stored numbers."""
        return self.spectrum.rank if self.inputs == 1 else self._block_rank[0]

    @property
    def rank_is_robust(self) -> bool:
        """Whether no controllable mode becomes uncontrollable by a change in the last digits."""
        if self.inputs > 1:
            return self._block_rank[1]
        return self.spectrum.rank_robust >= self.spectrum.rank

    @cached_property
    def _block_rank(self) -> tuple[int, bool]:
        """Exact rank of the block Krylov matrix of several inputs, and whether it is robust.

        If one combination of the inputs excites every mode, so do all; else it may be by rounding.
        """
        C = self.C[:, self.C.any(axis=0)]
        if C.size == 0:
            return 0, True
        scale = np.abs(C).max(axis=0)
        C = C / scale
        combination = C @ np.random.default_rng(SEED).uniform(0.5, 1.5, C.shape[1])
        if combination.any() and not self.is_badly_scaled:
            with np.errstate(all="ignore"):
                test = spectra.pbh_test(self.A, combination)
            if test.unstable_radius:
                raise unstable(test.unstable_radius)
            if test.sure:
                sizes = np.linalg.svd(C, compute_uv=False)
                comparable = scale.min() >= 1e-6 * scale.max()
                return len(C), bool(comparable and sizes[-1] > NOT_ROUNDING * sizes[0])
        return modular.krylov_rank(self.sparse, self.mask), False

    @cached_property
    def degree(self) -> MinimalPolynomial:
        """Exact degree of the minimal polynomial of a single mask."""
        return modular.minimal_polynomial(self.sparse, self.mask[:, 0])

    def exact_rank(
        self, rows: Indices, rank: int | None = None, notify: ProgressCallback = no_progress
    ) -> int:
        """Exact rank of some rows of the Krylov matrix, whose own is ``rank``, if that is known."""
        rank = self.rank if rank is None and self.knows_rank else rank
        whole = len(rows) == len(self)
        if whole and rank is not None:
            return rank
        key = rows.tobytes()
        if key not in self._ranks:
            if rank is None and not isinstance(self.sparse, np.ndarray):
                rank = int(np.count_nonzero(graph.generically_driven(self.sparse, self.mask)))
            read = None if whole else rows
            self._ranks[key] = modular.krylov_rank(self.sparse, self.mask, read, rank, notify)
        return self._ranks[key]

    # --- modes

    @cached_property
    def eigenvalues(self) -> Complexes:
        """All eigenvalues, one strongly connected component at a time."""
        return graph.eigenvalues(self.stored, self.strong_components)

    @cached_property
    def all_eigenvalues(self) -> Complexes:
        """All eigenvalues of A, reached or not, as far as LAPACK knows them."""
        poles = self.spectrum.poles if "spectrum" in vars(self) else None
        whole = poles is not None and len(poles) == self.network.states
        return poles if poles is not None and whole else self.everything.eigenvalues

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """What rounding in the eigenvalues can do."""
        return pole_sensitivity(self.stored, self.strong_components)

    @cached_property
    def unstable_radius(self) -> float:
        """Modulus of an unstable mode that a large sparse network excites for sure, or 0.

        Of wᵀA = λwᵀ neither ``|wᵀC|`` nor ``|λ| − 1`` may be rounding, which moves λ by
        ``1/|wᵀv|`` times that of A.
        """
        A, many_modes, surely = self.stored, 1000, 1e-6
        if isinstance(A, np.ndarray | Operator) or len(self) < many_modes:
            return 0.0
        leading = graph.leading_mode(A)
        if leading is None:
            return 0.0
        value, w, v = leading
        off = float(np.linalg.norm(A.T @ w - value * w))
        excited = float(np.abs(w @ self.mask).max() / np.abs(self.mask).max())
        beyond = (abs(value) - 1 - surely) * abs(w @ v)
        return abs(value) if beyond > off and excited > surely else 0.0

    @cached_property
    def spectrum(self) -> Spectrum:
        """The controllable spectrum of a network with a single input."""
        if self.inputs != 1:
            raise ValueError(
                f"`network` must have a single input for its controllable spectrum, got "
                f"{self.inputs}; pass one column of C at a time."
            )
        # overflow ends in infinite errors, which are dealt with; it need not be announced
        with np.errstate(all="ignore"):
            try:
                return self._decided()
            except np.linalg.LinAlgError:
                raise UncertainResultError(
                    "LAPACK did not converge on the eigenvalues of `A`."
                ) from None

    def _decided(self) -> Spectrum:
        full, test = len(self), None
        if full == 0:
            return Spectrum(np.zeros(0, complex), 0, 0, self.nodes, np.nan, 0.0, 0.0)
        if self.is_badly_scaled:
            rank = self.degree.degree
            return Spectrum(None, rank, rank, self.nodes, np.nan, *UNKNOWN)
        if self.nodes_on_cycles >= full - 1:  # else zero is a multiple eigenvalue
            test = spectra.pbh_test(self.stored, self.mask[:, 0])
            if test.unstable_radius:
                raise unstable(test.unstable_radius)
            if test.sure:
                return self._full(test)
        return self._full(test) if self.degree.degree == full else self._deficient()

    def _full(self, test: PBHTest | None) -> Spectrum:
        """All modes are controllable."""
        A, full, rank_robust, margin = self.stored, len(self), len(self), np.nan
        whole = test is not None and len(self.strong_components) == len(graph.separate_parts(A))
        poles = test.poles if test is not None and whole else self.eigenvalues
        if test is None:
            self._require_stable(poles)
        else:
            margin = float(test.excitation.min())
            if whole and not test.sure:
                rank_robust = test.robust_rank
        sensitivity = UNKNOWN
        if graph.is_symmetric(A):
            sensitivity = normal_sensitivity(poles, backward_error(A))
        if sensitivity is UNKNOWN:
            sensitivity = self.sensitivity
        return Spectrum(poles, full, rank_robust, self.nodes, margin, *sensitivity)

    def _deficient(self, *, small: float = 1e-12) -> Spectrum:
        """Not all modes are controllable; an error so ``small`` needs no second way."""
        require_room_for_states(len(self), "PBH test")
        rank, candidates = self.degree.degree, list[Poles | None]()
        if 2 * rank < len(self) and not self._only_zeros:
            candidates.append(spectra.krylov_space(self.A, self.C[:, 0], rank))
        if not any(each and each.sensitivity.curve <= small for each in candidates):
            candidates.append(self._without_uncontrollable())
        solved = min(
            filter(None, candidates), key=lambda each: each.sensitivity.curve, default=None
        )
        if solved is None:
            return Spectrum(None, rank, rank, self.nodes, np.nan, *UNKNOWN)
        poles, sensitivity, shift, uncontrollable = solved
        self._require_stable(poles)
        if shift:
            poles, sensitivity = spectra.with_exact_zeros(poles, rank, uncontrollable), UNKNOWN
        response = solved if shift else None
        return Spectrum(
            poles, rank, rank, self.nodes, np.nan, *sensitivity, response, uncontrollable
        )

    def _require_stable(self, poles: Complexes) -> None:
        """Raise where a controllable pole is well outside the circle: LAPACK alone cannot tell."""
        radius = float(np.abs(poles).max(initial=0.0))
        if radius >= 1 and self.is_feed_forward:
            raise unstable(radius)
        well_outside = 1 + NOT_ROUNDING ** (1 / 3)  # a threefold one is off by a cube root
        if radius > well_outside and not np.isfinite(power_norms(self.A).norms):
            raise unstable(radius)

    @cached_property
    def nodes_on_cycles(self) -> int:
        """How many nodes disjoint cycles can cover, a bound on the non-zero eigenvalues."""
        A = self.sparse
        edges = np.count_nonzero(A) if isinstance(A, np.ndarray) else A.nnz
        few = edges <= max(modular.FEW_NON_ZEROS * len(self), 4) * len(self)
        return graph.most_nodes_on_cycles(A) if few else len(self)

    @property
    def _only_zeros(self) -> bool:
        """Whether, by the wiring, no eigenvalues but zeros are uncontrollable."""
        return self.nodes_on_cycles == self.degree.nonzero

    def _uncontrollable(self) -> list[UncontrollableModes] | None:
        """Uncontrollable modes; None where it is not known which all of these are."""
        exact, zeros = self.degree, len(self) - self.nodes_on_cycles
        if self._only_zeros:
            at_zero = UncontrollableModes(np.zeros(1, complex), zeros, exact.zeros)
            return [at_zero] if at_zero.times else []
        modes, unknown = modular.uncontrollable_modes(self.blocks, exact.modulo)
        if not unknown:
            return modes
        modes = [each for each in modes if not each.values.any()]
        zeros = modes[0].multiplicity if modes else exact.zeros
        others = spectra.unexcited(self.dense, self.mask[:, 0], zeros, exact.nonzero)
        return others and modes + others

    def _without_uncontrollable(self) -> Poles | None:
        """All poles but uncontrollable ones, with the zeros among these as a shift."""
        exact, modes, kept = self.degree, None, self.strong_components
        if is_symmetric := graph.is_symmetric(self.dense) and not self._only_zeros:
            modes = spectra.unexcited(self.dense, self.mask[:, 0], 0, exact.degree)
        if modes is None:
            is_symmetric, modes = False, self._uncontrollable()
            pairs = zip(self.strong_components, self.blocks, strict=True)
            kept = [nodes for nodes, B in pairs if B.any()]
        if modes is None:
            return None
        poles = graph.eigenvalues(self.stored, kept) if kept else np.zeros(0, complex)
        poles, more = spectra.without_uncontrollable(poles, modes)
        if is_symmetric:
            sensitivity = normal_sensitivity(poles, backward_error(self.dense))
        else:
            sensitivity = pole_sensitivity(self.stored, kept).plus(more)
        shift = len(poles) - exact.degree
        if shift < 0:  # controllable zeros were left out
            poles, shift = np.concatenate([poles, np.zeros(-shift)]), 0
        return Poles(poles, sensitivity, shift, tuple(modes))


def sizes_by_products(
    A: Any, C: Floats, psi: Floats, *, most_products: int = 10_000, ahead: int = 16
) -> Floats:
    """Standard deviations of x_t = A x_{t−1} + C z_t, z white noise through ψ (lags, d): Σ_k x_k².

    What comes later is at most ‖x_k‖² Σ_m ‖A^m‖², and left out below rounding of the least one.
    """
    backend, later = backend_of(A), sums_of_powers(A).squares
    C, weights = backend.put(C), backend.small(psi)
    total, x = 0.0, 0.0 * C
    for k in range(0, most_products, ahead):
        made = []
        for j in range(k, k + ahead):
            x = A @ x if j else x
            x = x + C * weights[j] if j < len(psi) else x
            made.append(x)
        total = total + (backend.joined(made) ** 2).sum(axis=1)
        if k + ahead >= len(psi):
            least, largest = backend.host(
                [-backend.largest(-total), backend.largest(total)]
            ).tolist()
            if float(backend.squares(x).sum()) * later <= max(TAIL**2 * least, EPS**3 * largest):
                return np.asarray(np.sqrt(backend.host(total)))
    raise UncertainResultError("the states take too long to settle.")


def _variances(A: Floats, c: Floats, process: InputProcess) -> Floats:
    """Variances of the states driven by one input, however long it remembers."""
    if process.is_white or not isinstance(process, ARMA):
        return np.diag(state_covariance(A, c, filters_of((process,)))[1])
    F, g = process.realization()
    joint = np.block([[A, c @ F[:1]], [np.zeros((len(F), len(A))), F]])
    mask = np.concatenate([c * g[0], g]) / np.sqrt(process.variance)
    return np.diag(solve_stein(joint, mask @ mask.T))[: len(A)]


def _same_digits(scaled: Floats, numbers: Floats) -> bool:
    """Whether no number was lost, in part or as a whole, when they were scaled."""
    if np.count_nonzero(scaled) != np.count_nonzero(numbers) or not np.isfinite(scaled).all():
        return False
    small = np.abs(scaled) < TINY
    return not np.any(small & (scaled != 0) & (scaled != numbers))


def state_units(A: Floats, C: Floats, components: list[Indices] | None = None) -> NDArray[np.int64]:
    """Powers of two in which every state is about one, as masks and weights suggest.

    Strong components are balanced; between them it is the largest product of weights, times
    1/(1 − |w|) for a self-loop w.
    """
    components = components or graph.strong_components(A)
    label, inner = np.empty(len(A), np.intp), np.zeros(len(A))
    loops = np.abs(np.diag(A))
    lasting = -np.log2(1 - np.where(loops < 1, loops, 0.0))
    for k, nodes in enumerate(components):
        label[nodes] = k
        if len(nodes) > 1:
            inner[nodes], lasting[nodes] = (
                np.log2(graph.balanced(graph.submatrix(A, nodes))[1]),
                0.0,
            )
    to, start = np.nonzero(A if len(components) > 1 else A[:0])  # one has no edges to others
    apart = label[to] != label[start]
    to, start = to[apart], start[apart]
    with np.errstate(divide="ignore"):
        own = np.log2(np.abs(C).max(axis=1, initial=0.0)) - inner
    gain = np.log2(np.abs(A[to, start])) + inner[start] - inner[to] + lasting[to]
    level = np.full(len(components), -np.inf)
    np.maximum.at(level, label, own)
    for _ in components:
        before = level.copy()
        np.maximum.at(level, label[to], gain + level[label[start]])
        if np.array_equal(level, before):
            break
    orders = inner + level[label]
    return np.rint(np.where(np.isfinite(orders), orders, 0.0)).astype(np.int64)
