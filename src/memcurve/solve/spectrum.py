"""The one judge of which eigenvalues count: a network's controllable spectrum.

*Exact means exact for the stored numbers.* The rank is that of the Krylov matrix [C, AC, A²C, …] of
the float64 numbers in A and C, a question with one answer. A mode that a change in the last digit
would silence still counts; ``rank_robust`` and ``margin`` tell how much hangs on such modes.

0. Where each reachable node drives one other at most, all is known in closed form
   (``closed_forms``).
1. Nodes the mask does not reach drop out (graph search, exact).
   Circulant networks whose modes stand apart are known from there on (``closed_forms``).
2. If every mode is isolated and excited far above rounding, all count: the generic case. It cannot
   be where too few nodes lie on disjoint cycles (a matching, exact): zero is then multiple.
3. Otherwise the degree of the minimal polynomial of C is computed exactly (modular arithmetic,
   wrong with a probability below 1e-7). If it is the number of reachable nodes, all of them count.
4. If not, but the exact number of non-zero eigenvalues says that all of them count, the zeros that
   do not are a delay of the all-pass filter (``response``): none of them need be found. Where poles
   are asked for, zeros are deflated.
5. If not, eigenvalues of small strong components are counted exactly (``factors``).
6. What is lost elsewhere are roots of small polynomials in the weight of the network, or of two of
   its weights, that are eigenvalues so and so often: their filter is divided out. Or modes that are
   silent beyond doubt, in the exact number.
7. Otherwise only the minimal polynomial itself can tell.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from memcurve.errors import unstable
from memcurve.limits import require_room_for_states
from memcurve.network.graph import (
    Indices,
    balanced,
    eigenvalues,
    is_symmetric,
    separate_parts,
    submatrix,
)
from memcurve.result import EPS, Complexes, Floats
from memcurve.solve.closed_forms import circulant_column, circulant_spectrum
from memcurve.solve.clusters import SHARE_AMONG_ZEROS, Cluster, clearly_driven
from memcurve.solve.errors import (
    UNKNOWN,
    Sensitivity,
    backward_error,
    pole_sensitivity,
    symmetric_sensitivity,
    uncertain_poles_sensitivity,
)
from memcurve.solve.factors import counting_roots, likely_factor, likely_factors
from memcurve.solve.modes import Response, Spectrum, screen
from memcurve.solve.modular import Block, eigenvalue_multiplicity, krylov_rank, multiplicity
from memcurve.solve.states import States

#: Singular values below this, relative to the norm, are taken for zero when deflating zeros.
ZERO_SINGULAR_VALUE = 1e-10
#: Up to this many states it is told how many modes count up to rounding, where the curve is known.
MOST_JUDGED = 1500
#: The same of feed-forward networks, whose curves take a small part of the time of a judgement.
MOST_JUDGED_FORWARD = 150
#: Eigenvalues in a cluster that are not the one that is proven, at most.
MOST_BESIDE = 4
#: An eigenvalue outside of this circle is outside the unit circle, rounding or not.
WELL_OUTSIDE = 1.001
#: Inputs alike in size: a mode that all of them together drive is driven beyond doubt by each.
ALIKE = 1e-6
#: Inputs that differ by less are nearly copies; modes are close where the product of distances in
#: the disc is below this.
NEARLY_COPIES, CLOSE_MODES = 1e-9, 1e-13
#: Roots that are known to their last digits are the same up to this.
SAME_ROOT = 1e-12
_SEED = 20230501


def decided(states: States, *, keep_basis: bool = False) -> Spectrum:
    """The eigenvalues of states, all of them reached by a single input, that it excites.

    ``keep_basis`` keeps eigenvectors that are at hand.
    """
    # overflow ends in infinite errors, which are dealt with; it need not be announced
    with np.errstate(all="ignore"):
        return _decided(states, keep_basis)


def assumed(states: States) -> Spectrum:
    """The same with all modes taken to count, without being asked; ``margin`` is then NaN."""
    A, full = states.stored, len(states)
    with np.errstate(all="ignore"):
        found = _circulant(states)
        if found is not None:
            return found
        poles = states.eigenvalues
        sensitivity = symmetric_sensitivity(poles) if is_symmetric(A) else states.sensitivity
    return Spectrum(poles, full, full, states.nodes, np.nan, *sensitivity, assumed=True)


def block_rank(states: States) -> tuple[int, bool]:
    """Exact rank of the block Krylov matrix of several inputs, and whether it is full for sure.

    If a single combination of the inputs excites every mode, so do all of them together; that
    settles the generic case as for one input. Otherwise a full rank may hang on the last digits.
    """
    C = states.C[:, states.C.any(axis=0)]
    weights = np.random.default_rng(_SEED).uniform(0.5, 1.5, C.shape[1])
    if C.size == 0:
        return 0, True
    scale, look = np.abs(C).max(axis=0), None
    combination = C @ (weights / scale)
    if combination.any():
        with np.errstate(all="ignore"):
            look = screen(states.A, combination)
        if look.unstable_radius is not None:
            raise unstable(look.unstable_radius)
    is_sure = look is not None and look.sure
    rank = len(C) if is_sure else krylov_rank(states.A, C)
    with np.errstate(all="ignore"):
        is_clear = is_sure and scale.min() >= ALIKE * scale.max()
        is_clear = is_clear or (rank == len(C) and clearly_driven(states.A, C))
    return rank, bool(is_clear) and _are_told_apart(states, C / scale)


def _are_told_apart(states: States, C: Floats) -> bool:
    """Whether inputs differ by more than last digits, or modes by enough for one to drive them all.

    Rounding makes different inputs of copies, and gives each a memory of its own.
    """
    sizes = np.linalg.svd(C, compute_uv=False)
    if sizes[-1] > NEARLY_COPIES * sizes[0]:
        return True
    poles = states.eigenvalues
    with np.errstate(all="ignore"):
        apart = np.abs((poles[:, None] - poles) / (1 - poles[:, None] * poles.conj()))
        np.fill_diagonal(apart, 1.0)
        return bool(np.log(apart).sum(axis=1).min() > np.log(CLOSE_MODES))


def _decided(states: States, keep_basis: bool) -> Spectrum:
    if len(states) == 0:
        return Spectrum(np.zeros(0, complex), 0, 0, states.nodes, np.nan, 0.0, 0.0)
    found = _circulant(states)
    if found is not None:
        return found
    A, full = states.stored, len(states)
    if states.nodes_on_cycles < full - 1:  # zero is a multiple eigenvalue, whatever the weights
        return _closer_look(states)
    if states.is_alike and states.degree.degree < full:
        return _closer_look(states)
    first_look = screen(A, states.mask[:, 0], keep_basis=keep_basis)
    if first_look.unstable_radius is not None:
        raise unstable(first_look.unstable_radius)
    if first_look.sure or (first_look.likely and states.degree.degree == full):
        blocks_are_whole = len(states.strong_components) == len(separate_parts(A))
        poles = first_look.poles if blocks_are_whole else states.eigenvalues
        margin = float(first_look.excitation.min())
        sensitivity = symmetric_sensitivity(poles) if first_look.symmetric else states.sensitivity
        return Spectrum(
            poles, full, full, states.nodes, margin, *sensitivity, basis=first_look.basis
        )
    return _closer_look(states)


def _circulant(states: States) -> Spectrum | None:
    column = circulant_column(states.stored)
    return None if column is None else circulant_spectrum(column, states.mask[:, 0], states.nodes)


def _closer_look(states: States) -> Spectrum:
    require_room_for_states(len(states), "closer look")
    exact = states.degree
    most = MOST_JUDGED_FORWARD if states.is_feed_forward else MOST_JUDGED
    clusters = states.counted_clusters if len(states) <= most else None
    for c in clusters or []:
        if c.rank == c.size and c.clear and abs(c.centre) - c.uncertainty >= 1:
            raise unstable(abs(c.centre))
    margin, rank_robust = np.nan, exact.degree
    if clusters is not None:
        margin = min((c.excitation for c in clusters if c.rank), default=np.inf)
        rank_robust = min(sum(c.rank for c in clusters), exact.degree)
    poles: Complexes | None
    poles, sensitivity, response, later = None, UNKNOWN, None, None
    if exact.degree == len(states):
        poles, sensitivity = states.eigenvalues, states.sensitivity
    else:
        found = _counting_poles(states, deflated=False)
        if found is not None:
            response = Response(found[0], found[1], found[2].curve, found[3])
            later = partial(_poles, states)
    return Spectrum(
        poles, exact.degree, rank_robust, states.nodes, margin, *sensitivity,
        response=response, find_poles=later,
    )  # fmt: skip


def _poles(states: States) -> tuple[Complexes | None, Sensitivity]:
    found = _counting_poles(states, deflated=True)
    return (None, UNKNOWN) if found is None else (found[0], found[2])


def _inside(states: States, poles: Complexes, removed: Complexes) -> Complexes:
    """Poles that count; raises UnstableNetworkError where one is well outside the unit circle.

    LAPACK may find one there though none is: then the powers of A decay all the same. Where it has
    nothing to find, any pole outside that is not ``removed`` will do.
    """
    radius = float(np.abs(poles).max(initial=0.0))
    if states.is_feed_forward and not np.any(np.abs(removed) >= 1):
        outside = radius >= 1
    else:
        outside = radius > WELL_OUTSIDE and not np.isfinite(states.power_norms.sum)
    if outside:
        raise unstable(radius)
    return poles


def _counting_poles(
    states: States, *, deflated: bool
) -> tuple[Complexes, int, Sensitivity, Complexes] | None:
    """The poles that count, with ``shift`` zeros that do not, and how well they are known.

    Also roots to be removed: lost eigenvalues that are known exactly, the poles near which need not
    be told apart either, unless they are ``deflated``.

    With χ the characteristic polynomial and μ the minimal polynomial of the mask, χ = z^m q μ.
    LAPACK may scatter a multiple zero widely, but the product over all eigenvalues is backward
    stable: the zeros that do not count are taken away as a delay of m steps, and none of them need
    be told from the eigenvalues around; or they are ``deflated``, and m is zero. The roots of q
    must be told: those of small components exactly, others where the exact number of silent modes
    stands apart from all others. None where they cannot be told.
    """
    exact, lost = states.degree, states.lost
    counting = counting_roots(states.blocks if lost else [], exact.modulo)
    decided = set(counting.blocks)
    chosen = [k for k, B in enumerate(states.blocks) if B.any() and k not in decided]
    others = [states.strong_components[k] for k in chosen]
    nonzero = states.nonzero_eigenvalues - counting.nonzero
    sensitivity = pole_sensitivity(states.stored, others)
    if deflated:
        poles, dropped = _nonzero_eigenvalues(states, others)
        if len(poles) != nonzero:
            return None
        # backward stable: the spectrum is that of A + δA with the same number of zeros
        sensitivity = sensitivity.times(max(4.0, dropped / EPS))
    else:
        poles = eigenvalues(states.stored, others) if others else np.zeros(0, complex)
    zeros, removed = len(poles) - nonzero, np.zeros(0, complex)
    blocks = [states.exact_blocks[k] for k in chosen]
    if counting.lost < lost and not deflated:
        removed = _lost_roots(states, poles, blocks, lost - counting.lost, counting.roots)
        # a filter of a pole run backwards in floating point
        sensitivity = sensitivity.plus(uncertain_poles_sensitivity(removed, 16 * EPS))
    if counting.lost + len(removed) < lost:
        found = _without_silent(states, poles, blocks, lost - counting.lost, counting.roots)
        if found is None:
            return None
        poles, more = found
        sensitivity = sensitivity.plus(more)
    rounding = 4 * EPS * np.abs(counting.roots)
    sensitivity = sensitivity.plus(uncertain_poles_sensitivity(counting.roots, rounding))
    added = np.zeros(max(0, exact.zeros - zeros))
    poles = _inside(states, np.concatenate([poles, counting.roots, added]), removed)
    return poles, max(0, zeros - exact.zeros), sensitivity, removed


def _lost_roots(
    states: States, poles: Complexes, blocks: list[Block], lost: int, roots: Complexes
) -> Complexes:
    """The eigenvalues of blocks that do not count, where all are roots of small factors, or none.

    Their exact number says that there are no others. ``roots`` are decided already.

    How often a root is an eigenvalue is known modulo one prime p near 2³⁰. An unlucky one, with a
    chance of about 1/p, finds it too often; and should all that is silent add up to the exact
    number then, the root is divided out more often than it is among the poles, which the misfit of
    the filter tells. How often it counts comes from a minimal polynomial of the right degree,
    modulo which a factor divides no less often than it does.
    """
    found: list[Complexes] = []
    for factor, own in likely_factors(states.weights, poles):
        decided = np.count_nonzero(np.abs(roots - own[0]) <= SAME_ROOT * abs(own[0]))
        index = multiplicity(factor, states.degree.modulo)
        counts, most = max(0, index - int(decided)), lost // len(own)
        silent = eigenvalue_multiplicity(factor, blocks, counts + most, max(1, index)) - counts
        found += [own] * max(0, silent)
        lost -= max(0, silent) * len(own)
        if lost <= 0:
            break
    return np.concatenate(found) if lost == 0 and found else np.zeros(0, complex)


def _without_silent(
    states: States, poles: Complexes, blocks: list[Block], lost: int, roots: Complexes
) -> tuple[Complexes, Sensitivity] | None:
    """Poles of blocks without those of silent modes, and what that does to the curve's error.

    Clusters that count in part are left out, and their mean is put in as often as they count; or
    the root of a small factor, where that is proven. ``roots`` are decided already.
    """
    clusters = [c for c in states.clusters or [] if c.values.any()]  # zeros are split off
    left_out = states.nonzero_eigenvalues - sum(c.size for c in clusters)
    if not 0 <= left_out <= SHARE_AMONG_ZEROS * states.nonzero_eigenvalues:
        return None
    kept: list[complex] = []
    more, expected = Sensitivity(0.0, 0.0), len(poles) - lost
    for cluster in clusters:
        near = np.abs(poles - cluster.centre) <= 2 * cluster.uncertainty
        if (cluster.clear and cluster.rank == cluster.size) or not near.any():
            continue
        counted = int(np.count_nonzero(np.abs(roots - cluster.centre) <= 2 * cluster.uncertainty))
        found, count = int(np.count_nonzero(near)), cluster.rank - counted
        value, uncertainty = cluster.centre, 2 * cluster.uncertainty
        if abs(value.imag) <= cluster.uncertainty:
            value = complex(value.real)
        more = more.plus(states.sensitivity.times(cluster.projector))
        proven = _proven_root(states, blocks, cluster, value, found)
        if proven is not None:
            value, uncertainty, same, often = proven
            rounding = found * backward_error(states.A) * cluster.projector
            others, doubt = _beside(poles[near], value.real, found - same, rounding)
            more = more.plus(uncertain_poles_sensitivity(others, doubt))
            kept += others.tolist()
            found, count = same, often - counted
        elif not cluster.clear or (count if counted else found != cluster.size):
            return None  # which of them are decided cannot be told
        if not 0 <= count <= found:
            return None
        if cluster.size == 1:
            more = more.plus(uncertain_poles_sensitivity(poles[near], 2 * cluster.uncertainty))
        more = more.plus(uncertain_poles_sensitivity(np.full(count, value), uncertainty))
        poles, lost = poles[~near], lost - (found - count)
        kept += [value] * count
    poles = np.concatenate([poles, kept])
    # conjugates are each other's to the last digit
    poles = np.concatenate([poles[poles.imag == 0], *[poles[poles.imag > 0]] * 2])
    poles[len(poles) - np.count_nonzero(poles.imag) // 2 :].imag *= -1
    return (poles, more) if lost == 0 and len(poles) == expected else None


def _proven_root(
    states: States,
    blocks: list[Block],
    cluster: Cluster,
    value: complex,
    found: int,
) -> tuple[complex, float, int, int] | None:
    """The eigenvalue of a cluster where it is the root of a small factor, and its uncertainty.

    Also how many of the poles found are this eigenvalue, nearly all, and how often it counts.
    """
    likely = likely_factor(states.weights, value, 2 * cluster.uncertainty)
    if likely is None:
        return None
    factor, root = likely
    often, same = multiplicity(factor, states.degree.modulo), found
    if not (cluster.clear and often == cluster.rank):
        same = eigenvalue_multiplicity(factor, blocks, found, max(1, often))
    if same < found - MOST_BESIDE or (same < found and root.imag):
        return None
    return root, 4 * EPS * abs(root), same, often


def _beside(
    values: Complexes, root: float, count: int, rounding: float
) -> tuple[Complexes, Floats]:
    """Eigenvalues of a cluster beside a root that appears in it all other times, and their errors.

    LAPACK scatters the root, but keeps the polynomial of the whole cluster, of which it is known
    how many roots are equal.
    """
    polynomial = np.poly(values - root)[: count + 1].real
    found = np.roots(polynomial).astype(complex)
    with np.errstate(all="ignore"):
        error = rounding / np.abs(np.polyval(np.polyder(polynomial), found))
    worst = rounding ** (1 / max(count, 1))
    values = np.asarray(found + root, complex)
    return values, np.asarray(np.where(error < worst, 2 * error, 2 * worst), float)


def _nonzero_eigenvalues(states: States, components: list[Indices]) -> tuple[Complexes, float]:
    """Eigenvalues left when the zero ones are deflated, B ← B restricted to its range, repeated.

    Also the largest singular value taken for zero, relative to the norm of its block.
    """
    parts, dropped = [], 0.0
    for nodes in components:
        B = balanced(submatrix(states.stored, nodes))[0]
        norm = float(np.sqrt((B**2).sum()))
        while len(B) > 1:
            U, singular, Vh = np.linalg.svd(B)
            rank = int((singular > ZERO_SINGULAR_VALUE * norm).sum())
            if rank == len(B):
                break
            dropped = max(dropped, float(singular[rank]) / norm if norm > 0 else 0.0)
            B = (singular[:rank, None] * Vh[:rank]) @ U[:, :rank]
        values = np.linalg.eigvals(B) if len(B) > 1 else B.ravel()
        parts.append(values.astype(complex))
    values = np.concatenate([np.zeros(0, complex), *parts])
    return values[values != 0], dropped
