"""Quantum reservoirs as state-affine networks: spins, general channels, shot noise.

A density matrix that a channel of the input is applied to is an affine function of itself: its
coordinates in a basis of Hermitian matrices are the states.
"""

import functools
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from memcurve.core.arguments import Seed, generator, require_number, require_size, table_entry
from memcurve.core.types import Complexes, Floats
from memcurve.inputs.noise import Noise
from memcurve.state_affine.builders import from_functions
from memcurve.state_affine.faults import fault
from memcurve.state_affine.laws import law_of
from memcurve.state_affine.network import HALF_CIRCLE, Power, StateAffineNetwork
from memcurve.state_affine.result import note

MOST_QUBITS = 6  # the superoperator of one more takes 2 GB
ROUNDING = 1e-14  # of the entries of a channel; others are of order one
TRACE = 1e-10  # how far a channel may be from trace-preserving
_PAULI = np.array(
    [[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]], dtype=complex
)
_LETTERS = "IXYZ"
#: Encodings of the input in the first qubit: its Pauli matrices, and their functions.
_ENCODINGS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "pure": ("IZX", (Power(0), Power(1), HALF_CIRCLE)),
    "diagonal": ("IZ", (Power(0), Power(1))),
}


class ShotNoise(Noise):
    """Averages of so many measurements of observables with the values −1 and 1.

    One measurement has the variance 1 − ⟨O⟩², whose mean over inputs enters.

    Examples
    --------
    >>> from memcurve import quantum
    >>> quantum.ShotNoise(100).label
    '100 shots'
    """

    def __init__(self, shots: int) -> None:
        self.shots = require_size(shots, "shots")

    @property
    def label(self) -> str:
        return f"{self.shots:,} shots"

    def of_outputs(self, mean: Floats, variances: Floats) -> Floats:
        """Standard deviations for expectations of these means and variances."""
        left = 1 - mean**2 - variances
        if left.min() < -1e-9:
            raise ValueError("`noise` of shots is for observables with the values -1 and 1 only.")
        return np.asarray(np.sqrt(np.maximum(left, 1e-12) / self.shots))


def ising_reservoir(
    qubits: int,
    *,
    coupling: float = 1.0,
    field: float = 1.0,
    time: float = 10.0,
    seed: Seed = 1,
    **options: Any,
) -> StateAffineNetwork:
    """A transverse-field Ising model whose first qubit is reset to the input at every step.

    H = Σ_{i<j} J_ij X_i X_j + Σ_i h Z_i with J_ij uniform on [−coupling, coupling] (Fujii and
    Nakajima 2017).

    Parameters
    ----------
    qubits : int
        From 2 to 6.
    coupling, field : float
        Largest size of J_ij, and h.
    time, **options
        As for :func:`spin_reservoir`: encoding, virtual_nodes, dephasing, observables, input, name.
    seed : int, SeedSequence or Generator
        Of the couplings.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.quantum.ising_reservoir(3, seed=1)
    >>> result = memcurve.capacities(network)
    >>> result.total, round(sum(result.by_degree.values()) + result.beyond, 9)
    (3.0, 3.0)
    """
    n, rng = require_size(qubits, "qubits"), generator(seed)
    if not 2 <= n <= MOST_QUBITS:
        raise ValueError(f"`qubits` must be from 2 to {MOST_QUBITS}, got {n}.")
    H = sum(field * _string(_with("Z", {i}, n)) for i in range(n))
    for pair in itertools.combinations(range(n), 2):
        H = H + coupling * rng.uniform(-1, 1) * _string(_with("X", pair, n))
    return spin_reservoir(H, time, **options)


def spin_reservoir(
    hamiltonian: Any,
    time: float = 1.0,
    *,
    encoding: str = "pure",
    virtual_nodes: int = 1,
    dephasing: float = 0.0,
    observables: Sequence[str] | None = None,
    input: Any = "uniform",
    name: str | None = None,
) -> StateAffineNetwork:
    """Qubits with any Hamiltonian, the first of which is reset to the input at every step.

    ρ ← U(σ(z) ⊗ tr₁ρ)U†. The states of the network are the expectations of the 4^(n−1) − 1 Pauli
    strings of the other qubits, as these are all that stays; what is read are ``observables``.
    States that a conserved Pauli parity holds at zero are left out, and ``notes`` say so.

    Parameters
    ----------
    hamiltonian : (2ⁿ, 2ⁿ) array or QuTiP object
        Hermitian.
    time : float
        Of the evolution between inputs.
    encoding : str
        ``"pure"``: √((1−z)/2)|0⟩ + √((1+z)/2)|1⟩, or ``"diagonal"``: (1 − zZ)/2.
    virtual_nodes : int
        How many times, at equal distances, observables are read within a step.
    dephasing : float
        Share of coherence that every qubit loses between two virtual nodes, from 0 to 1.
    observables : sequence of str, optional
        Pauli strings such as ``"ZII"``; by default Z of every qubit.
    input, name
        As for :class:`memcurve.StateAffineNetwork`.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> H = np.kron([[0, 1], [1, 0]], [[0, 1], [1, 0]]) + np.diag([2, 0, 0, -2])
    >>> network = memcurve.quantum.spin_reservoir(H, 1.0)
    >>> network.outputs[1].shape
    (3, 2)
    """
    from scipy.linalg import expm

    H = _matrix(hamiltonian, "hamiltonian")
    n = len(H).bit_length() - 1
    if not 2 <= n <= MOST_QUBITS or len(H) != 2**n or not np.allclose(H, H.conj().T, atol=1e-12):
        raise ValueError(fault("hamiltonian", most=MOST_QUBITS, shape=H.shape))
    axes, functions = table_entry(_ENCODINGS, encoding, "encoding")
    nodes = require_size(virtual_nodes, "virtual_nodes")
    decoherence = require_number(dephasing, "dephasing", "from 0 to 1", lambda g: 0 <= g <= 1)
    span = require_number(time, "time", "above 0", lambda t: t > 0)
    law = law_of(input)
    if law.nodes.min() < -1 or law.nodes.max() > 1:
        raise ValueError(
            f"`input` must lie within [-1, 1] to be the state of a qubit, got {law.name}."
        )
    strings = _strings(n)
    damping = np.array([(1 - decoherence) ** sum(a in "XY" for a in s) for s in strings])
    step = damping[:, None] * _superoperator(expm(-1j * H * span / nodes), n)
    step[np.abs(step) < ROUNDING] = 0.0
    stay = 4 ** (n - 1)  # strings that begin with I
    whole, taps, rows = np.eye(4**n)[:stay], np.eye(4**n), []
    taps = taps[[_place(s, n) for s in observables or [_with("Z", {i}, n) for i in range(n)]]]
    for _ in range(nodes):
        whole, taps = whole @ step, taps @ step
        rows.append(taps)

    def encoded(A: Floats) -> Floats:
        """A, of all strings, for each function of the input that the first qubit holds."""
        parts = A.reshape(len(A), 4, stay)
        return np.stack([(-1) ** (a == "Z") * parts[:, _LETTERS.index(a)] for a in axes])

    p, read, labels = encoded(whole)[:, 1:], encoded(np.concatenate(rows)), strings[1:stay]
    p, q = p[:, :, 1:], p[:, :, 0]
    even, notes = _symmetry(p, q, labels, n)
    return StateAffineNetwork(
        p[:, even][:, :, even], q[:, even], law, functions=functions,
        outputs=(read[:, :, 1:][:, :, even], read[:, :, 0]), rounding="absolute",
        name=name or f"{n} qubits", notes=notes,
    )  # fmt: skip


def channel_reservoir(
    kraus: Callable[[float], Sequence[Any]],
    observables: Sequence[Any],
    *,
    input: Any = "uniform",
    name: str | None = None,
) -> StateAffineNetwork:
    """A system whose state goes through ρ ← Σ_m K_m(z) ρ K_m(z)† at every step.

    Parameters
    ----------
    kraus : function
        From an input to Kraus operators, arrays or QuTiP objects, with ΣK†K = 1; or to a QuTiP
        superoperator in any of its representations, e.g. ``(L * t).expm()`` of a Liouvillian L.
    observables : sequence of arrays or QuTiP objects
        Hermitian; their expectations are read.
    input, name
        As for :class:`memcurve.StateAffineNetwork`.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> def damped(z):
    ...     loss = (2 + z) / 4
    ...     return [np.diag([1, (1 - loss) ** 0.5]), [[0, loss**0.5], [0, 0]]]
    >>> network = memcurve.quantum.channel_reservoir(damped, [np.diag([1, -1])])
    >>> memcurve.capacities(network).total
    1.0
    """
    from scipy.linalg import ishermitian

    law = law_of(input)
    read = [_matrix(one, "observables") for one in observables]
    if not read or len({len(one) for one in read}) > 1 or not all(map(ishermitian, read)):
        raise ValueError("`observables` must be Hermitian matrices of one size; give e.g. [Z].")
    d = len(read[0])
    basis = _hermitian_basis(d)

    def channel(z: float) -> tuple[Floats, Floats]:
        images = _images(kraus(z), basis)
        full = np.einsum("aij,bji->ab", basis, images).real
        gap = np.abs(full[0] - np.eye(d * d)[0]).max()
        if gap > TRACE:
            raise ValueError(fault("trace", gap=gap, z=z))
        return full[1:, 1:], full[1:, 0] / np.sqrt(d)

    made = from_functions(lambda z: channel(z)[0], lambda z: channel(z)[1], law, name=name)
    D = np.array([np.einsum("aij,ji->a", basis, one).real for one in read])
    out, direct = D[:, 1:] @ made.p, made.q @ D[:, 1:].T
    direct[0] += D[:, 0] / np.sqrt(d)
    return made.replace(outputs=(out, direct))


def _images(channel: Any, basis: Complexes) -> Complexes:
    """What a channel makes of matrices; of QuTiP's superoperators every representation is known."""
    d = basis.shape[1]
    is_super = getattr(channel, "issuper", False)
    if is_super:
        from qutip import to_choi, to_super

        choi, parts = to_choi(channel).full(), to_super(channel).full()[None]
    else:
        operators = [channel] if hasattr(channel, "full") else channel
        parts = np.array([_matrix(K, "kraus") for K in operators])
    size = d * d if is_super else d
    if parts.shape[1:] != (size, size):
        raise ValueError(fault("kraus", d=d, shape=parts.shape[1:]))
    if not is_super:
        return np.asarray(np.einsum("mij,bjk,mlk->bil", parts, basis, parts.conj()))
    gap = np.abs(choi - choi.conj().T).max() - min(np.linalg.eigvalsh(choi)[0], 0.0)
    if gap > TRACE:
        raise ValueError(fault("positive", gap=gap))
    columns = basis.transpose(0, 2, 1).reshape(-1, d * d)  # one below the other
    return np.asarray((columns @ parts[0].T).reshape(-1, d, d).transpose(0, 2, 1))


def _superoperator(U: Complexes, n: int) -> Floats:
    """R[a, b] = tr(P_a U P_b U†)/2ⁿ for Pauli strings P: how U moves expectations."""
    X = np.kron(U, U.conj()).reshape([2] * (4 * n))
    for k in range(2 * n):  # one qubit of a or b at a time
        matrices = _PAULI.conj() if k < n else _PAULI
        X = np.moveaxis(np.tensordot(matrices, X, axes=([1, 2], [0, n - k % n])), 0, -1)
    return np.asarray(X.real.reshape(4**n, 4**n) / 2**n)


def _strings(n: int) -> list[str]:
    """All Pauli strings of n qubits, in the order of numbers in base four."""
    return ["".join(letters) for letters in itertools.product(_LETTERS, repeat=n)]


def _with(letter: str, qubits: Collection[int], n: int) -> str:
    """The Pauli string with a letter at some qubits, e.g. IZI."""
    return "".join(letter if i in qubits else "I" for i in range(n))


def _string(letters: str) -> Complexes:
    """The matrix of a Pauli string."""
    matrices: list[Any] = [_PAULI[_LETTERS.index(a)] for a in letters]
    return functools.reduce(np.kron, matrices, np.eye(1, dtype=complex))


def _place(string: Any, n: int) -> int:
    """The index of a Pauli string that can be read."""
    letters = set(string) if isinstance(string, str) and len(string) == n else set()
    if letters <= {"I"} or not letters <= set(_LETTERS):
        raise ValueError(fault("string", n=n, got=string))
    return int(string.translate(str.maketrans(_LETTERS, "0123")), 4)


def _symmetry(p: Floats, q: Floats, labels: list[str], n: int) -> tuple[list[int], list[str]]:
    """States that a conserved parity allows, and notes on the others."""
    allowed, notes = list(range(len(labels))), list[str]()
    for axis in "ZXY":
        odd = [i for i in allowed if sum(a not in ("I", axis) for a in labels[i]) % 2]
        even = [i for i in allowed if i not in set(odd)]
        driven = np.abs(p[:, odd][:, :, even]).max(initial=0.0)
        if odd and max(driven, np.abs(q[:, odd]).max(initial=0.0)) < ROUNDING * 100:
            counts = {"reached": len(even), "count": len(allowed)}
            notes.append(note("parity", parity=axis * n, **counts))
            allowed = even or odd[:1]  # a network has a state
    return allowed, notes


def _hermitian_basis(d: int) -> Complexes:
    """Orthonormal Hermitian matrices, the identity over √d first."""
    from scipy.linalg import helmert

    basis = [np.diag(row) for row in helmert(d, full=True)]
    for i, j in itertools.combinations(range(d), 2):
        unit = np.outer(np.eye(d)[i], np.eye(d)[j]) / np.sqrt(2)
        basis += [unit + unit.T, 1j * (unit - unit.T)]
    return np.array(basis, dtype=complex)


def _matrix(operator: Any, argument: str) -> Complexes:
    """A square complex matrix, of an array or of QuTiP."""
    matrix = np.asarray(operator.full() if hasattr(operator, "full") else operator, dtype=complex)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError(f"`{argument}` must be finite square matrices, got shape {matrix.shape}.")
    return matrix
