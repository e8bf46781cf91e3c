"""The one judge of which eigenvalues count: a network's controllable spectrum.

*Exact means exact for the stored numbers.* The rank is that of the Krylov matrix [C, AC, A²C, …] of
the float64 numbers in A and C, a question with one answer. A mode that a change in the last digit
would silence still counts; ``rank_robust`` and ``margin`` tell how much hangs on such modes.

::

    every node drives one other at most → closed form (``closed_forms``)
    every mode isolated and excited far above rounding (PBH test) → all count
    exact rank r, modulo primes (``modular``) = n → all count
    r < n → only zeros are lost: a shift of the filter by as many lags
          | the Krylov space ends after r steps, in floating point too: its r × r matrix
          | normal A: equal eigenvalues merged, those that the mask excites
          | components that repeat each other: their eigenvalues counted exactly (``factors``)
          | weights are multiples of one: the lost eigenvalues, from χ/μ over the integers
          | as many modes are silent beyond doubt as are lost (PBH test)
    else the poles are not known: ball arithmetic, or the rank alone

With χ the characteristic polynomial and μ the minimal polynomial of the mask, χ = z^m q μ. LAPACK
may scatter a multiple zero widely, but the product over all eigenvalues is backward stable: zeros
that do not count are taken away as a delay of m steps, and none of them need be told from the
eigenvalues around.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from memcurve.errors import UncertainResultError, unstable
from memcurve.limits import require_room_for_states
from memcurve.network.graph import (
    Indices,
    balanced,
    eigenvalues,
    in_units,
    is_symmetric,
    separate_parts,
    submatrix,
)
from memcurve.solve.errors import (
    FIRST_ORDER,
    UNKNOWN,
    Sensitivity,
    backward_error,
    normal_sensitivity,
    pole_sensitivity,
    symmetric_sensitivity,
    uncertain_poles_sensitivity,
)
from memcurve.solve.factors import integer_roots
from memcurve.solve.modes import (
    CLEAR,
    LEAST_EXCITATION,
    LostModes,
    Response,
    Screening,
    Spectrum,
    diagonal_values,
    robust_rank,
    schur_with_mask,
    screen,
    touching,
    unit_norm,
)
from memcurve.solve.modular import krylov_rank
from memcurve.solve.powers import power_norms
from memcurve.solve.states import States
from memcurve.types import EPS, SEED, TINY, Complexes, Floats

#: Quantities below this, relative to their scale, may be nothing but rounding; above, they are not.
#: Doubled: hardly anything, as what is exactly zero comes out below 1e-13.
NOT_ROUNDING = 1e-9


def decided(states: States) -> Spectrum:
    """The eigenvalues of states, all of them reached by a single input, that it excites."""
    # overflow ends in infinite errors, which are dealt with; it need not be announced
    with np.errstate(all="ignore"):
        try:
            return _decided(states)
        except np.linalg.LinAlgError:
            raise UncertainResultError("LAPACK does not find the eigenvalues of `A`.") from None


def assumed(states: States) -> Spectrum:
    """The same with all modes taken to count, without being asked; ``margin`` is then NaN."""
    with np.errstate(all="ignore"):
        return _full(states, None, assumed=True)


def block_rank(states: States) -> tuple[int, bool]:
    """Exact rank of the block Krylov matrix of several inputs, and whether it is full for sure.

    If a single combination of the inputs excites every mode, so do all of them together; that
    settles the generic case as for one input. Otherwise a full rank may hang on the last digits.
    """
    C = states.C[:, states.C.any(axis=0)]
    if C.size == 0:
        return 0, True
    scale = np.abs(C).max(axis=0)
    C = C / scale
    combination = C @ np.random.default_rng(SEED).uniform(0.5, 1.5, C.shape[1])
    if combination.any():
        with np.errstate(all="ignore"):
            look = screen(states.A, combination)
        if look.unstable_radius is not None:
            raise unstable(look.unstable_radius)
        if look.sure:
            alike = scale.min() >= LEAST_EXCITATION * scale.max()
            return len(C), bool(alike) and _are_told_apart(states, C)
    return krylov_rank(states.sparse, states.mask), False


def _are_told_apart(states: States, C: Floats) -> bool:
    """Whether inputs differ by more than last digits, or modes by enough for one to drive them all.

    Rounding makes different inputs of copies, and gives each a memory of its own.
    """
    sizes = np.linalg.svd(C, compute_uv=False)
    if sizes[-1] > NOT_ROUNDING * sizes[0]:
        return True
    poles = states.eigenvalues
    with np.errstate(all="ignore"):
        apart = np.abs((poles[:, None] - poles) / (1 - poles[:, None] * poles.conj()))
        np.fill_diagonal(apart, 1.0)
        return bool(np.prod(apart, axis=1).min() > NOT_ROUNDING**1.5)


def _decided(states: States) -> Spectrum:
    if len(states) == 0:
        return Spectrum(np.zeros(0, complex), 0, 0, states.nodes, np.nan, 0.0, 0.0)
    full = len(states)
    if states.nodes_on_cycles < full - 1:  # zero is a multiple eigenvalue, whatever the weights
        return (_full if states.degree.degree == full else _deficient)(states, None)
    if states.is_alike and states.degree.degree < full:
        return _deficient(states, None)
    look = screen(states.stored, states.mask[:, 0])
    if look.unstable_radius is not None:
        raise unstable(look.unstable_radius)
    return (_full if look.sure or states.degree.degree == full else _deficient)(states, look)


def _full(states: States, look: Screening | None, *, assumed: bool = False) -> Spectrum:
    """All modes count."""
    A, full, rank_robust, margin = states.stored, len(states), len(states), np.nan
    whole = look is not None and len(states.strong_components) == len(separate_parts(A))
    poles = look.poles if look is not None and whole else states.eigenvalues
    symmetric = is_symmetric(A) if look is None else look.symmetric
    if look is None and not assumed:
        _require_stable(states, poles)
    if look is not None:
        margin = float(look.excitation.min())
        if not (look.sure or look.likely):
            rank_robust = robust_rank(states.dense, states.mask[:, 0])
    sensitivity = symmetric_sensitivity(poles) if symmetric else states.sensitivity
    return Spectrum(poles, full, rank_robust, states.nodes, margin, *sensitivity, assumed=assumed)


class Poles(NamedTuple):
    """Poles that count, with ``shift`` zeros that do not, and how well they are known."""

    values: Complexes
    sensitivity: Sensitivity
    shift: int = 0
    lost: tuple[LostModes, ...] = ()
    margin: float = np.nan


def _deficient(states: States, look: Screening | None) -> Spectrum:
    """Not all modes count."""
    require_room_for_states(len(states), "closer look")
    rank = states.degree.degree
    found = None if states.knows_lost else _krylov_space(states) or _merged(states)
    if found is None:
        found = _without_lost(states, look)
    if found is None:
        robust = rank
        if states.nodes_on_cycles >= len(states) - 1:  # else zeros would blur the modes around
            robust = min(rank, robust_rank(states.dense, states.mask[:, 0]))
        return Spectrum(None, rank, robust, states.nodes, np.nan, *UNKNOWN)
    _require_stable(states, found.values)
    poles: Complexes | None
    poles, sensitivity, response, later = found.values, found.sensitivity, None, None
    if found.shift:
        response = Response(found.values, found.shift, found.sensitivity.curve)
        poles, sensitivity, later = None, UNKNOWN, partial(_deflated, states, look)
    return Spectrum(
        poles, rank, rank, states.nodes, found.margin, *sensitivity,
        response=response, find_poles=later, lost=found.lost,
    )  # fmt: skip


def _require_stable(states: States, poles: Complexes) -> None:
    """Raises UnstableNetworkError where a pole that counts is well outside the unit circle.

    LAPACK may find one there though none is: then the powers of A decay all the same. Self-loops of
    feed-forward networks are exact.
    """
    radius = float(np.abs(poles).max(initial=0.0))
    if radius >= 1 and states.is_feed_forward:
        raise unstable(radius)
    well_outside = 1 + NOT_ROUNDING ** (1 / 3)  # a threefold one is off by a cube root
    if radius > well_outside and not np.isfinite(states.power_norms.sum):
        raise unstable(radius)


# --- the ways to the poles of networks of deficient rank


def _krylov_space(states: States) -> Poles | None:
    """The Krylov space, where it ends after as many steps as the exact rank says.

    An orthonormal basis is grown from the mask (Arnoldi). A step that leads out of the space by
    rounding only ends it: the poles are the eigenvalues of A on it. Rounding in an early direction
    is passed on to the last ones, divided by the steps between: where their product is small, the
    space is not known.
    """
    (A, unit), rank = in_units(states.A), states.degree.degree
    size = np.abs(A)
    norm = max(float(np.sqrt(size.sum(axis=0).max() * size.sum(axis=1).max())), TINY)  # ≥ ‖A‖₂
    rounding, product = EPS * len(A) ** 0.5, 1.0
    basis, H = np.zeros((rank, len(A))), np.zeros((rank, rank))
    q = unit_norm(states.C[:, 0])
    for k in range(rank):
        basis[k], x = q, A @ q
        for _ in range(2):
            steps = basis[: k + 1] @ x
            x, H[: k + 1, k] = x - steps @ basis[: k + 1], H[: k + 1, k] + steps
        length = float(np.sqrt(x @ x))
        if k + 1 < rank:
            product *= length / norm
            if not product * NOT_ROUNDING > rounding:
                return None
            H[k + 1, k], q = length, x / length
    leakage = rank * max(rounding, length / norm) / product
    if not leakage <= NOT_ROUNDING:
        return None
    H = np.asfortranarray(unit * H)
    rounding, norms = backward_error(H) + leakage * unit * norm, power_norms(H)
    if not rounding * norms.sum <= FIRST_ORDER:
        return None
    curve = 4 * rounding * float(np.sqrt(norms.squares))
    return Poles(eigenvalues(H), Sensitivity(curve, 2 * rounding * norms.sum))


def _merged(states: States) -> Poles | None:
    """Eigenvalues of a normal A, those that are equal merged, which the mask excites.

    Rounding moves them by no more than it moves A (Hoffman–Wielandt). Of the left eigenvectors of
    one eigenvalue a mask excites a single combination. None where A is not normal, or it is not
    clear which eigenvalues are excited: there must be as many as the exact rank says.
    """
    (A, unit), C = in_units(states.dense), unit_norm(states.mask[:, 0])
    rows, columns = (A**2).sum(axis=1), (A**2).sum(axis=0)
    if not np.allclose(rows, columns, rtol=NOT_ROUNDING, atol=0.0):
        return None
    rounding = backward_error(A)
    if is_symmetric(A):
        real_values, W = np.linalg.eigh(A)
        values, energy = real_values.astype(complex), (W.T @ C) ** 2
    else:
        factor = schur_with_mask(A, C)
        if factor is None:
            return None
        T, energy = factor[0][:-1, :-1], factor[0][:-1, -1] ** 2
        values = diagonal_values(T)
        first = np.flatnonzero(values.imag > 0)
        energy[first] += energy[first + 1]
        # what is left of T beside blocks [a b; −b a] is rounding (Sun 1984: times √n, if not)
        T[first, first + 1] += T[first + 1, first]
        rounding = len(A) ** 0.5 * (rounding + float(np.linalg.norm(np.triu(T, 1))))
        if not rounding <= NOT_ROUNDING * np.sqrt(rows.sum()):
            return None
        upper = values.imag >= 0
        values, energy = values[upper], energy[upper]
    groups = touching(values, np.full(len(values), rounding))
    centre = np.array([values[group].mean() for group in groups])
    centre.imag[np.abs(centre.imag) <= 2 * rounding] = 0
    excitation = np.sqrt([energy[group].sum() for group in groups])
    order, size = np.argsort(-excitation), np.where(centre.imag, 2, 1)
    counted = np.cumsum(size[order])
    count = int(np.searchsorted(counted, states.degree.degree)) + 1
    if count > len(order) or counted[count - 1] != states.degree.degree:
        return None
    least, rest = excitation[order[count - 1]], excitation[order[count:]].max(initial=0.0)
    if not (rest <= NOT_ROUNDING and least > CLEAR * max(rest, EPS)):
        return None
    poles = unit * _with_conjugates(centre[np.sort(order[:count])])
    lost = []
    for place, k in enumerate(order.tolist()):
        appears = int(np.where(values[groups[k]].imag, 2, 1).sum()) // int(size[k])
        if appears > (place < count):
            own = unit * _with_conjugates(centre[[k]])
            lost.append(LostModes(own, appears, int(place < count)))
    sensitivity = normal_sensitivity(poles, unit * rounding)
    return Poles(poles, sensitivity, 0, tuple(lost), float(least))


def _with_conjugates(upper: Complexes) -> Complexes:
    return np.concatenate([upper, upper[upper.imag > 0].conj()])


def _without_lost(
    states: States, look: Screening | None, *, deflated: bool = False
) -> Poles | None:
    """All poles but those that are lost, with the zeros among these as a shift, or deflated."""
    exact, nonzero = states.degree, states.nonzero_eigenvalues
    zeros = len(states) - nonzero
    lost = [LostModes(np.zeros(1, complex), zeros, exact.zeros)] if zeros > exact.zeros else []
    known, chosen = np.zeros(0, complex), list(range(len(states.blocks)))
    missing = nonzero - exact.nonzero
    if missing and states.repeated.missing == missing:
        known = states.repeated.roots
        chosen = [k for k in chosen if k not in set(states.repeated.blocks)]
        lost, missing = lost + states.repeated.lost, 0
    others = [states.strong_components[k] for k in chosen if states.blocks[k].any()]
    sensitivity = pole_sensitivity(states.stored, others)
    if deflated:
        poles, dropped = _nonzero_eigenvalues(states, others)
        sensitivity = sensitivity.times(max(4.0, dropped / EPS))
    else:
        poles = eigenvalues(states.stored, others) if others else np.zeros(0, complex)
    if missing:
        roots = _lost_roots(states, look, zeros)
        if sum(often for _, often, _ in roots) != missing:
            return None
        poles, more, gone = _without(poles, roots)
        lost, sensitivity = [*lost, *gone], sensitivity.plus(more)
    if deflated and len(poles) + len(known) != exact.nonzero:
        return None
    rounding = uncertain_poles_sensitivity(known, 4 * EPS * np.abs(known))
    poles = np.concatenate([poles, known])
    shift = len(poles) - exact.degree
    if shift < 0:  # zeros that count were left out
        poles, shift = np.concatenate([poles, np.zeros(-shift)]), 0
    return Poles(poles, sensitivity.plus(rounding), shift, tuple(lost))


#: Lost eigenvalues, with how often each is lost and how far it may be off.
Roots = list[tuple[complex, int, float]]


def _lost_roots(states: States, look: Screening | None, zeros: int) -> Roots:
    """Eigenvalues other than zero that are lost: exactly known ones, or those of silent modes."""
    if states.is_alike:
        exact = integer_roots(states.weights, states.blocks, states.degree.modulo)
        if exact:
            return [(root, often, 4 * EPS * abs(root)) for root, often in exact]
    look = look or screen(states.stored, states.mask[:, 0])
    chosen = np.argsort(np.abs(look.values), kind="stable")[zeros:]
    excitation, noise = look.excitation[chosen], look.noise[chosen]
    silent = excitation <= np.minimum(10 * noise, NOT_ROUNDING)
    if np.any(~silent & (excitation <= CLEAR * noise)):
        return []
    gone = chosen[silent]
    apart = np.abs(look.values[gone, None] - look.values) > look.disc[gone, None] + look.disc
    if np.count_nonzero(apart) != apart.size - len(gone):
        return []
    return [(complex(look.values[k]), 1, float(look.disc[k])) for k in gone]


def _without(poles: Complexes, roots: Roots) -> tuple[Complexes, Sensitivity, list[LostModes]]:
    """The poles without those next to lost eigenvalues, which may be as far off as they are."""
    more, lost = Sensitivity(0.0, 0.0), list[LostModes]()
    for root, often, off in (each for each in roots if each[0].imag >= 0):
        for _ in range(often):
            nearest = int(np.argmin(np.abs(poles - root)))
            pole, poles = poles[nearest], np.delete(poles, nearest)
            if pole.imag:
                partner = int(np.argmin(np.abs(poles - pole.conjugate())))
                if root.imag:
                    poles = np.delete(poles, partner)
                else:  # a pair around a real root: one of it is left
                    poles[partner] = 2 * pole.real - root.real
            own = _with_conjugates(np.array([root]))
            error = np.full(len(own), 2 * abs(pole - root) + off)
            more = more.plus(uncertain_poles_sensitivity(own, error))
        counts = int(np.count_nonzero(np.abs(poles - root) <= NOT_ROUNDING**0.5 * abs(root)))
        lost.append(LostModes(own, often + counts, counts))
    return poles, more, lost


def _deflated(states: States, look: Screening | None) -> tuple[Complexes | None, Sensitivity]:
    """The poles of a shifted filter, with the zeros that count as they are."""
    found = _without_lost(states, look, deflated=True)
    if found is None or found.shift:
        return None, UNKNOWN
    return found.values, found.sensitivity


def _nonzero_eigenvalues(states: States, components: list[Indices]) -> tuple[Complexes, float]:
    """Eigenvalues left when the zero ones are deflated, B ← B restricted to its range, repeated.

    Backward stable: the spectrum is that of A + δA with the same number of zeros. Also the largest
    singular value taken for zero, relative to the norm of its block.
    """
    parts, dropped = [np.zeros(0, complex)], 0.0
    for nodes in components:
        B = balanced(submatrix(states.stored, nodes))[0]
        norm = float(np.sqrt((B**2).sum()))
        while len(B) > 1:
            U, singular, Vh = np.linalg.svd(B)
            rank = int((singular > NOT_ROUNDING * norm).sum())
            if rank == len(B):
                break
            dropped = max(dropped, float(singular[rank]) / norm)
            B = (singular[:rank, None] * Vh[:rank]) @ U[:, :rank]
        parts.append((np.linalg.eigvals(B) if len(B) > 1 else B.ravel()).astype(complex))
    values = np.concatenate(parts)
    return values[values != 0], dropped
