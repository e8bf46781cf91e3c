"""The one judge of which eigenvalues count: a network's controllable spectrum.

*Exact means exact for the stored numbers.* The rank is that of the Krylov matrix [C, AC, A²C, …] of
the float64 numbers in A and C, a question with one answer. A mode that a change in the last digit
would silence still counts; ``rank_robust`` and ``margin`` tell how much hangs on such modes.

::

    every node drives one other at most → closed form
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

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.errors import UncertainResultError, unstable
from memcurve.core.limits import require_room_for_states
from memcurve.core.types import EPS, SEED, TINY, Complexes, Floats
from memcurve.network.graph import DrivenPath, eigenvalues, in_units, is_symmetric, separate_parts
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
    Ring,
    Screening,
    Spectrum,
    robust_rank,
    screen,
    touching,
    unit_norm,
)
from memcurve.solve.modular import dyadic, krylov_rank
from memcurve.solve.powers import power_norms
from memcurve.solve.states import States

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
    settles the generic case as for one input. Otherwise a full rank may hang on the last digits, as
    it does where inputs differ by these: rounding makes different inputs of copies.
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
            sizes = np.linalg.svd(C, compute_uv=False)
            alike = scale.min() >= LEAST_EXCITATION * scale.max()
            return len(C), bool(alike and sizes[-1] > NOT_ROUNDING * sizes[0])
    return krylov_rank(states.sparse, states.mask), False


def _decided(states: States) -> Spectrum:
    full, look = len(states), None
    if full == 0:
        return Spectrum(np.zeros(0, complex), 0, 0, states.nodes, np.nan, 0.0, 0.0)
    if states.nodes_on_cycles >= full - 1:  # else zero is a multiple eigenvalue
        look = screen(states.stored, states.mask[:, 0])
        if look.unstable_radius is not None:
            raise unstable(look.unstable_radius)
        if look.sure:
            return _full(states, look)
    return (_full if states.degree.degree == full else _deficient)(states, look)


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
        if whole and not look.sure:
            rank_robust = robust_rank(look)
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
    found = None
    if not states.knows_lost:
        found = _krylov_space(states) or _merged(states)
    found = found or _without_lost(states, look)
    if found is None:
        return Spectrum(None, rank, rank, states.nodes, np.nan, *UNKNOWN)
    _require_stable(states, found.values)
    poles, sensitivity, response = found.values, found.sensitivity, None
    if found.shift:
        response = Response(poles, found.shift, sensitivity.curve)
        poles = _with_exact_zeros(poles, rank, found.lost)
        sensitivity = UNKNOWN
    return Spectrum(
        poles, rank, rank, states.nodes, found.margin, *sensitivity,
        response=response, lost=found.lost,
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

    In the Hessenberg form of (A, C) a step that leads out of the space by rounding only ends it:
    the poles are the eigenvalues of the leading block. Rounding in an early direction is passed on
    to the last ones, divided by the steps between: where their product is small, the space is not
    known.
    """
    from scipy.linalg import hessenberg

    (A, unit), rank, size = in_units(states.A), states.degree.degree, len(states)
    joint = np.zeros((size + 1, size + 1))
    joint[1:, 0], joint[1:, 1:] = unit_norm(states.C[:, 0]), A
    H: Any = hessenberg(joint, overwrite_a=True)[1:, 1:]
    norm = max(float(np.sqrt((A**2).sum())), TINY)
    steps = np.abs(np.diag(H, -1)) / norm
    product, out = float(np.prod(steps[: rank - 1])), steps[rank - 1 : rank].max(initial=0.0)
    leakage = rank * max(EPS * size**0.5, float(out)) / product if product > 0 else np.inf
    if not leakage <= NOT_ROUNDING:
        return None
    H = np.asfortranarray(unit * H[:rank, :rank])
    rounding, norms = backward_error(H) + leakage * unit * norm, power_norms(H)
    if not rounding * norms.sum <= FIRST_ORDER:
        return None
    curve = 4 * rounding * float(np.sqrt(norms.squares))
    return Poles(eigenvalues(H), Sensitivity(curve, 2 * rounding * norms.sum))


def _merged(states: States) -> Poles | None:
    """Eigenvalues of a normal A, those that are equal merged, which the mask excites.

    Rounding moves them by no more than it moves A (Hoffman–Wielandt). Of the eigenvectors of one
    eigenvalue a mask excites a single combination. None where A is not normal, or it is not clear
    which eigenvalues are excited: there must be as many as the exact rank says.
    """
    from scipy.linalg import schur

    (A, unit), C, rank = in_units(states.dense), unit_norm(states.mask[:, 0]), states.degree.degree
    if not np.allclose((A**2).sum(axis=0), (A**2).sum(axis=1), rtol=NOT_ROUNDING, atol=0.0):
        return None
    rounding = backward_error(A)
    if is_symmetric(A):
        values, W = np.linalg.eigh(A)
    else:
        T, W = schur(A, output="complex")
        values = np.diag(T)
        # what is left of T beside its diagonal is rounding (Sun 1984: times √n, if not)
        rounding = len(A) ** 0.5 * (rounding + float(np.linalg.norm(np.triu(T, 1))))
        if not rounding <= NOT_ROUNDING * np.linalg.norm(A):
            return None
    groups = touching(values, np.full(len(values), rounding))
    centre = np.array([values[group].mean() for group in groups], complex)
    centre.imag[np.abs(centre.imag) <= 2 * rounding] = 0
    energy = np.abs(W.conj().T @ C) ** 2
    excitation = np.sqrt([energy[group].sum() for group in groups])
    ranked = np.argsort(-excitation, kind="stable")
    least, rest = excitation[ranked[:rank]].min(), excitation[ranked[rank:]].max(initial=0.0)
    if len(groups) < rank or not (rest <= NOT_ROUNDING and least > CLEAR * max(rest, EPS)):
        return None
    poles, lost = unit * _in_pairs(centre[np.sort(ranked[:rank])]), []
    for place, k in enumerate(ranked.tolist()):
        if centre[k].imag >= 0 and len(groups[k]) > (place < rank):
            own = unit * _in_pairs(centre[[k]])
            lost.append(LostModes(own, len(groups[k]), int(place < rank)))
    sensitivity = normal_sensitivity(poles, unit * rounding)
    return Poles(poles, sensitivity, 0, tuple(lost), float(least)) if len(poles) == rank else None


def _in_pairs(values: Complexes) -> Complexes:
    """Real values and the upper ones of pairs, with the conjugates of these made exactly so."""
    upper = values[values.imag > 0]
    return np.concatenate([values[values.imag == 0], upper, upper.conj()])


def _without_lost(states: States, look: Screening | None) -> Poles | None:
    """All poles but those that are lost, with the zeros among these as a shift."""
    exact, nonzero = states.degree, states.nonzero_eigenvalues
    zeros = len(states) - nonzero
    lost = [LostModes(np.zeros(1, complex), zeros, exact.zeros)] if zeros > exact.zeros else []
    blocks = [k for k, B in enumerate(states.blocks) if B.any()]
    missing, roots, more = nonzero - exact.nonzero, np.zeros(0, complex), Sensitivity(0.0, 0.0)
    if missing and states.repeated.missing == missing:
        roots, missing = states.repeated.roots, 0
        blocks = [k for k in blocks if k not in set(states.repeated.blocks)]
        more = uncertain_poles_sensitivity(roots, 4 * EPS * np.abs(roots))
        lost += states.repeated.lost
    others = [states.strong_components[k] for k in blocks]
    poles = eigenvalues(states.stored, others) if others else np.zeros(0, complex)
    if missing:
        silent = _lost_roots(states, look, zeros)
        if sum(often for _, often, _ in silent) != missing:
            return None
        poles, more, gone = _without(poles, silent)
        lost += gone
    poles = np.concatenate([poles, roots])
    shift = len(poles) - exact.degree
    if shift < 0:  # zeros that count were left out
        poles, shift = np.concatenate([poles, np.zeros(-shift)]), 0
    sensitivity = pole_sensitivity(states.stored, others).plus(more)
    return Poles(poles, sensitivity, shift, tuple(lost))


#: Lost eigenvalues, with how often each is lost and how far it may be off.
Roots = list[tuple[complex, int, float]]


def _lost_roots(states: States, look: Screening | None, zeros: int) -> Roots:
    """Eigenvalues other than zero that are lost: exactly known ones, or those of silent modes."""
    exact = integer_roots(states.blocks, states.degree.modulo)
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
        own = np.array([root, root.conjugate()][: 2 if root.imag else 1])
        for _ in range(often):
            nearest = int(np.argmin(np.abs(poles - root)))
            pole, poles = poles[nearest], np.delete(poles, nearest)
            if pole.imag:
                partner = int(np.argmin(np.abs(poles - pole.conjugate())))
                if root.imag:
                    poles = np.delete(poles, partner)
                else:  # a pair around a real root: one of it is left
                    poles[partner] = 2 * pole.real - root.real
            error = np.full(len(own), 2 * abs(pole - root) + off)
            more = more.plus(uncertain_poles_sensitivity(own, error))
        counts = int(np.count_nonzero(np.abs(poles - root) <= NOT_ROUNDING**0.5 * abs(root)))
        lost.append(LostModes(own, often + counts, counts))
    return poles, more, lost


def counting_poles(spectrum: Spectrum, values: Complexes) -> Complexes:
    """Those of all eigenvalues that count: without lost ones, and with zeros that are exact.

    Rounding scatters a multiple zero; the eigenvalues of largest modulus are not among it.
    """
    lost = [modes for modes in spectrum.lost if modes.values.any()]
    roots = [(complex(root), m.appears - m.counts, 0.0) for m in lost for root in m.values]
    return _with_exact_zeros(_without(values, roots)[0], spectrum.rank, spectrum.lost)


def _with_exact_zeros(poles: Complexes, rank: int, lost: Sequence[LostModes]) -> Complexes:
    """The poles of largest modulus, and for the rest the zeros that count."""
    zeros = sum(modes.counts for modes in lost if not modes.values.any())
    largest = np.argsort(-np.abs(poles), kind="stable")[: rank - zeros]
    return np.concatenate([poles[largest], np.zeros(zeros)])


# --- closed forms


def path_spectrum(path: DrivenPath, mask: Floats) -> Spectrum | None:
    """The spectrum in closed form where every reachable node drives a single other one.

    Let the nodes be 0, 1, …, n − 1, each driving the next with weight a_i ≠ 0, and the last one
    node t (a tail of t nodes into a cycle of c = n − t) or nothing (a chain, t = n). Scaled to
    y_i = x_i/(a_0⋯a_{i−1}), the network multiplies polynomials by z modulo z^t (z^c − p), where
    p = a_t⋯a_{n−1}: the eigenvalues are t zeros and the c roots of λ^c = p, which all differ. With
    m(z) = Σ_i C_i/(a_0⋯a_{i−1}) z^i for the mask, the rank is n − deg gcd(m, z^t (z^c − p)), which
    is n for a single driven node. p is a product of stored numbers and is computed exactly; so is
    the question whether |p| < 1.

    The left eigenvector of λ is w_i = λ^i/(a_0⋯a_{i−1}), so that the mode is driven by m(λ). None
    where floating point leaves a doubt which modes are. ``mask`` is that of all nodes. Raises
    UnstableNetworkError where a driven mode has modulus one or more.
    """
    size, tail = len(path.order), path.tail
    reachable, C = np.sort(path.order), mask[path.order]
    driven = np.count_nonzero(C)
    if tail == size:
        margin = 1.0 if driven == 1 else float(_share_of_first(path, C))
        if not margin > LEAST_EXCITATION:
            return None
        zeros = np.zeros(size, dtype=complex)
        ring = Ring(size, 0, -np.inf, 1.0)
        return Spectrum(zeros, size, size, reachable, margin, 0.0, 0.0, ring=ring)
    ring, negative, stable = _ring(path)
    poles = ring_poles(ring, negative=negative)
    margin = float(size**-0.5)
    if driven > 1:
        margin = _least_excitation(path, C, poles, ring, negative)
        if np.isnan(margin):
            return None
    if not stable:
        raise unstable(float(np.abs(poles).max()))
    # an angle and a logarithm, each rounded
    relative = EPS * (8 + abs(ring.log_square / ring.length))
    sensitivity = uncertain_poles_sensitivity(poles, relative * np.abs(poles))
    return Spectrum(poles, size, size, reachable, margin, *sensitivity, ring=ring)


def ring_poles(ring: Ring, *, negative: bool) -> Complexes:
    """The zeros, then the c roots of p, a conjugate pair in two places next to each other."""
    radius = np.exp(ring.log_square / (2 * ring.length))
    steps = np.arange(ring.length // 2 + 1) * 2 + negative  # angles in units of π/c
    steps = steps[steps <= ring.length]
    is_real = (steps == 0) | (steps == ring.length)
    upper = radius * np.exp(1j * np.pi * (steps[~is_real] / ring.length))
    real = radius * np.where(steps[is_real] == 0, 1.0, -1.0)
    pairs = np.column_stack([upper, upper.conj()]).ravel()
    return np.concatenate([np.zeros(ring.tail), real, pairs])


def _ring(path: DrivenPath, bits: int = 192) -> tuple[Ring, bool, bool]:
    """The cycle of a path, whether p is negative, and whether |p| < 1; both are exact."""
    from flint import arb, ctx, fmpz

    integers, exponents = dyadic(path.weights[path.tail :])
    distinct, counts = np.unique(np.abs(integers), return_counts=True)
    pairs = zip(distinct.tolist(), counts.tolist(), strict=True)
    factors = [fmpz(m) ** k for m, k in pairs]
    while len(factors) > 1:  # factors of like size: quickest
        rest = factors[-1:] if len(factors) % 2 else []
        factors = [a * b for a, b in zip(factors[::2], factors[1::2], strict=False)] + rest
    [m], e = factors, int(exponents.sum())  # |p| = m·2^e
    one = fmpz(1) << max(0, -e)
    with ctx.workprec(bits):
        stable = e < 0 and m < one
        if not stable:
            log_p, gap = arb((m, e)).log(), arb(0)
        elif 2 * m < one:
            log_p, gap = arb((m, e)).log(), 1 - arb((m, e))
        else:  # without cancellation
            gap = arb((one - m, e))
            log_p = (-gap).log1p()
        log_square, complement = float((2 * log_p).mid()), float((gap * (2 - gap)).mid())
    negative = bool(np.count_nonzero(integers < 0) % 2)
    return Ring(path.tail, len(integers), log_square, complement), negative, stable


def _share_of_first(path: DrivenPath, C: Floats) -> float:
    """|m(0)| relative to the coefficients of m; NaN where they leave the range of float64."""
    scaled, _ = _mask_polynomial(path, C, 0.0)
    return abs(float(scaled[0])) / float(np.sqrt((scaled**2).sum()))


def _mask_polynomial(path: DrivenPath, C: Floats, log_radius: float) -> tuple[Floats, float]:
    """Coefficients of m(r·z) for a radius r, up to a common factor, and their relative error."""
    sizes = np.log(np.abs(path.weights[: len(C) - 1]))
    logs = np.concatenate([[0.0], np.cumsum(log_radius - sizes)])
    signs = np.concatenate([[1.0], np.cumprod(np.sign(path.weights[: len(C) - 1]))])
    driven = C != 0
    size = np.where(driven, logs + np.log(np.abs(np.where(driven, C, 1.0))), -np.inf)
    # each of n logarithms and of their sums is rounded once
    error = EPS * len(C) * (4 + float(np.abs(logs).max() + np.abs(sizes).max(initial=0.0)))
    return np.where(driven, signs * np.sign(C) * np.exp(size - size.max()), 0.0), error


def _least_excitation(
    path: DrivenPath, C: Floats, poles: Complexes, ring: Ring, negative: bool
) -> float:
    """The least excitation among the poles; NaN where one may be silent.

    m(λ) for all roots λ of p at once is a Fourier transform of m folded to c coefficients, since
    λ^{i+c} = p λ^i.
    """
    size, tail, length = len(C), ring.tail, ring.length
    scaled, error = _mask_polynomial(path, C, ring.log_square / (2 * length))
    norm = float(np.sqrt((scaled**2).sum()))
    turns = np.arange(size) // length  # a whole turn brings the sign of p
    signs = np.where(negative & (turns % 2 == 1), -1.0, 1.0)
    folded = np.bincount(np.arange(size) % length, signs * scaled, minlength=length)
    twist = np.exp(1j * np.pi * negative * np.arange(length) / length)
    spectrum = np.fft.ifft(folded * twist) * length  # at the angles (2k + negative)π/c
    steps = np.angle(poles[tail:]) * (length / np.pi)
    places = np.rint((steps - negative) / 2).astype(np.intp) % length
    excitation = float(np.abs(spectrum[places]).min()) / (norm * size**0.5)
    zero_mode = abs(float(scaled[0])) / norm if tail else np.inf
    noise = error + 8 * EPS * np.log2(2 * length)
    if not zero_mode > LEAST_EXCITATION or not excitation > 10 * CLEAR * noise < np.inf:
        return np.nan
    return float(min(zero_mode, excitation))
