"""Errors that hold, on families that squeeze, against python-flint; and refusals."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats

import memcurve
import word_oracle
from memcurve.core.errors import UnstableNetworkError
from memcurve.state_affine import StateAffineNetwork, laws
from memcurve.state_affine.letters import letters_of
from memcurve.state_affine.ranks import reached_by_words
from memcurve.state_affine.white import spectral_radius, whitened
from refusals import refuses

FAMILIES = """normal rank1 weak chain gain critical smooth diagonal positive line polynomial
nilpotent proportional scaled faint""".split()


def family(kind: str, size: int, seed: int) -> StateAffineNetwork:
    rng = np.random.default_rng(seed)
    i = np.arange(size)
    A, B = rng.standard_normal((2, size, size)) / np.sqrt(size)
    a, b = 0.6, 0.5
    if kind == "smooth":
        width = rng.uniform(2, 5)
        A, B = (np.exp(-((i[:, None] - i) ** 2) / (2 * w**2)) for w in (width, width + 1))
        A, B = A / np.linalg.norm(A, 2), B / np.linalg.norm(B, 2)
    elif kind == "diagonal":
        A, B = (np.diag(rng.uniform(-1, 1, size)) for _ in range(2))
    elif kind == "positive":
        A, B = np.diag(np.sort(rng.uniform(0.1, 1, size))), np.diag(rng.uniform(0.2, 1, size))
    elif kind == "line":
        A, B = np.diag(np.linspace(0.1, 0.95, size)), np.diag(np.linspace(1, 0.2, size))
    elif kind == "polynomial":
        A = 0.9 * A / np.linalg.norm(A, 2)
        B = A @ A
    elif kind == "rank1":
        B = np.outer(B[0], B[1]) * np.sqrt(size)
    elif kind == "weak":
        b = 1e-6
    elif kind == "chain":
        A = np.eye(size, k=-1)
        B = A * rng.uniform(0.2, 1, size)[:, None]
    elif kind == "gain":
        A, B = 1.5 * np.eye(size, k=-1) + 0.3 * np.eye(size), 0.1 * B
    elif kind == "critical":
        A, B = A / np.abs(np.linalg.eigvals(A)).max(), 0.8 * B / np.linalg.norm(B, 2)
        a = b = 0.93 / np.sqrt(spectral_radius(np.stack([A, B / np.sqrt(3)])))
    elif kind == "nilpotent":
        A, B = np.tril(A, -1) * 3, np.tril(B, -1) * 3
    elif kind == "proportional":  # the last states are twice the first ones: half the rank
        half = size // 2
        for M in (A, B):
            M[half : 2 * half], M[2 * half :] = 2 * M[:half], 0
    elif kind == "scaled":  # states in units that differ by twelve orders
        units = 10 ** rng.uniform(-6, 6, size)
        A, B = (units[:, None] * M / units for M in (A, B))
    q = np.stack([0.3 * rng.standard_normal(size), rng.standard_normal(size)])
    if kind == "faint":  # masks that differ by nine
        q = np.stack([np.zeros(size), q[1] * 10 ** rng.uniform(-9, 0, size)])
    if kind == "proportional":
        q[:, size // 2 : 2 * (size // 2)], q[:, 2 * (size // 2) :] = 2 * q[:, : size // 2], 0
    return StateAffineNetwork([a * A, b * B], q)


def require_right(
    result: memcurve.Capacities, network: StateAffineNetwork, words: Any = None, **question: Any
) -> None:
    """Every word within the error that is told of what the oracle says of the ``question``."""
    asked = word_oracle.words(1, 4) if words is None else words
    truth = word_oracle.capacities(network, asked, **question)
    assert np.abs([result.of(word) for word in asked] - truth).max() <= result.error


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize(
    ("size", "seed"),
    [(6, 21), (11, 22), *(pytest.param(*one, marks=pytest.mark.slow)
                          for one in ((6, 101), (11, 102), (16, 101), (16, 102)))],
)  # fmt: skip
def test_errors_hold(kind: str, size: int, seed: int) -> None:
    network = family(kind, size, seed)
    if spectral_radius(letters_of(network).T) >= 0.999:
        pytest.skip("next to no covariance")
    asked = word_oracle.words(1, 4) + [(0,) * j + (1,) for j in range(4, size + 4)]
    result = memcurve.capacities(network, degree=2)
    if kind != "proportional":  # whose covariance is singular
        require_right(result, network, asked)


@pytest.mark.parametrize("kind", ["normal", "smooth", "line", "scaled"])
@pytest.mark.parametrize("noise", [1e-7, 1e-3])
def test_errors_hold_under_noise(kind: str, noise: float) -> None:
    network = family(kind, 8, 23)
    result = memcurve.capacities(network, noise, degree=2)
    require_right(result, network, noise=noise)
    assert result.error < 1e-9


def test_floats_alone_would_be_silently_wrong() -> None:
    """Letters on a line: whiteness is perfect, the words are not; balls take over and say so."""
    network = family("line", 18, 2)
    letters = letters_of(network)
    white = whitened(letters.T, letters.r)
    assert np.abs(white.defect()).max() < 1e-14
    result = memcurve.capacities(network, degree=2)
    assert result.arithmetic == "balls"
    require_right(result, network)
    words = word_oracle.words(1, 4)
    alone = [float(np.sum(_coefficient(white, w) ** 2)) for w in words]
    assert np.abs(alone - word_oracle.capacities(network, words)).max() > 1e-7


def _coefficient(white: Any, word: tuple[int, ...]) -> np.ndarray:
    c = white.r[word[-1]]
    for k in word[-2::-1]:
        c = white.T[k] @ c
    return np.asarray(c)


def test_exact_rank_of_deficient_networks() -> None:
    """States that repeat others, and networks that no word fills, in floats and in balls."""
    network = family("proportional", 9, 3)
    result = memcurve.capacities(network)
    assert result.rank == 4 == result.total
    half = StateAffineNetwork(network.p[:, :4, :4] + 2 * network.p[:, :4, 4:8], network.q[:, :4])
    other = memcurve.capacities(half)
    assert other.rank == 4
    for word in word_oracle.words(1, 4):
        assert abs(result.of(word) - other.of(word)) < 1e-10
    assert any(note.kind == "reach" for note in result.notes)
    dead = memcurve.capacities(StateAffineNetwork([[[0.5]], [[0.1]]], [[0.0]]))
    assert dead.total == 0
    assert dead.of((1,)) == 0
    assert dead.largest(3) == ()


def test_modular_rank_counts_letters_of_the_law() -> None:
    """The square of a coin is constant: with it, one letter less, and a smaller span."""
    p = np.zeros((3, 3, 3))
    p[1][1, 0] = p[2][2, 0] = 0.5
    q = [[0, 0, 0], [1, 0, 0]]
    assert reached_by_words(StateAffineNetwork(p, q, "uniform")).rank == 3
    # of coins, x₂ = ½x₀ delayed and x₁ = ½z x₀: both are words still; without z² letter 2 is none
    assert reached_by_words(StateAffineNetwork(p, q, "rademacher")).rank == 3
    p[2] = 0
    q = [[0, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert reached_by_words(StateAffineNetwork(p, q, "uniform")).rank == 3
    assert reached_by_words(StateAffineNetwork(p, q, "rademacher")).rank == 2


@pytest.mark.parametrize("input", ["uniform", "normal", "rademacher"])
@pytest.mark.parametrize("angle", [0.0, 0.3])
def test_a_network_without_mean(input: str, angle: float) -> None:
    """E p has the eigenvalue 1: rounding may hide that from floats, but not from primes."""
    P = np.array([[1.0, angle], [0.0, 0.5]])
    network = StateAffineNetwork([P, P / 9], [[0, 0], [1, 2]], input)
    refuses(UnstableNetworkError, "`p`", memcurve.capacities, network)
    refuses(UnstableNetworkError, (), reached_by_words, network)


def test_infinite_variance_is_told_from_instability() -> None:
    rng = np.random.default_rng(3)
    A, B = 0.2 * rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    fine = memcurve.bilinear(A, 0.5 * B, np.ones(4))
    assert memcurve.capacities(fine).total == 4
    refuses(UnstableNetworkError, ("infinite", "Lyapunov"), memcurve.capacities,
        memcurve.bilinear(A, 0.9 * B, np.ones(4)))  # fmt: skip
    refuses(UnstableNetworkError, ("grow", "Lyapunov"), memcurve.capacities,
        memcurve.bilinear(A, 4 * B, np.ones(4)))  # fmt: skip


def test_noise_needs_no_noise_free_structure() -> None:
    """A network too squeezed and too large for anything else: usable capacities, with an error."""
    network = family("line", 120, 1)
    refuses(memcurve.UncertainResultError, ("`noise`", "96"), memcurve.capacities, network)
    result = memcurve.capacities(network, noise=1e-3, degree=2)
    assert result.error < 1e-7
    G = _covariance_by_iteration(network)
    M = np.linalg.inv(G + 1e-6 * np.eye(120))
    assert abs(result.total - np.trace(M @ G)) < 1e-5
    mean = np.linalg.solve(np.eye(120) - network.p[0], network.q[0])
    c = network.p[0] @ (network.p[1] @ mean + network.q[1]) / np.sqrt(3)
    assert abs(result.of((0, 1)) - c @ M @ c) < 1e-7


def _covariance_by_iteration(network: StateAffineNetwork) -> np.ndarray:
    mean = np.linalg.solve(np.eye(network.size) - network.p[0], network.q[0])
    r = (network.p[1] @ mean + network.q[1]) / np.sqrt(3)
    G = term = np.outer(r, r)
    for _ in range(800):
        term = network.p[0] @ term @ network.p[0].T + network.p[1] @ term @ network.p[1].T / 3
        G = G + term
    return G


def test_squeezed_outputs_are_whitened_in_balls() -> None:
    """Two outputs that differ by 1e-9: read as their sum and their difference."""
    network = family("line", 14, 4)
    D = np.zeros((2, 14))
    D[0, 0] = D[1, 0] = 1.0
    D[1, 5] = 1e-9
    one = memcurve.capacities(network.replace(readout=D), degree=2)
    two = memcurve.capacities(network.replace(readout=[0, 5]), degree=2)
    assert one.total == 2
    assert max(one.error, two.error) < 1e-5
    for word in word_oracle.words(1, 4):
        assert abs(one.of(word) - two.of(word)) <= one.error + two.error + 1e-6


GOOD: dict[str, Any] = {"p": [[[0.4, 0.2], [0, 0.3]], np.eye(2) / 4], "q": [[0, 0], [1, 2]]}


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"p": [[[1, 2, 3]]]}, "`p`"),
        ({"p": np.eye(2)}, "`p`"),
        ({"p": [[[1j]]], "q": [[0]]}, "`p`"),
        ({"q": [[0, 0, 0]]}, ("`q`", "(2,)")),
        ({"q": [[0, np.nan]]}, "`q`"),
        ({"readout": [0, 2]}, ("`readout`", "2")),
        ({"readout": [0, 0]}, "`readout`"),
        ({"readout": np.ones((1, 3))}, "`readout`"),
        ({"input": "cauchy"}, ("`input`", "cauchy")),
        ({"input": scipy.stats.t(2.5)}, ("`input`", "2")),
        ({"functions": [lambda z: 0 * z + 2, lambda z: z]}, "`functions`"),
        ({"functions": [lambda z: 0 * z + 1]}, ("`functions`", "2")),
        ({"functions": [lambda z: 0 * z + 1, lambda z: np.log(z)]}, "`functions`"),
        ({"rounding": "none"}, "`rounding`"),
        ({"outputs": ([np.ones((1, 3))], [[0]])}, "`outputs`"),
    ],
)  # fmt: skip
def test_bad_networks(changes: dict[str, Any], facts: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the logarithm of a negative number
        refuses((ValueError, TypeError), facts, StateAffineNetwork, **(GOOD | changes))


def test_heavy_tails_need_their_moments() -> None:
    """Student's law with 5.5 degrees of freedom has a fourth moment but no sixth."""
    law = scipy.stats.t(5.5)
    network = StateAffineNetwork(**GOOD, input=law)
    assert memcurve.capacities(network.replace(readout=[0])).total == 1
    three = {"p": [np.eye(1) / 9] * 4, "q": [[0], [1]], "input": law}
    refuses(ValueError, ("`input`", "6"), StateAffineNetwork, **three)


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        ({"noise": -1.0}, "`noise`"),
        ({"noise": [0.1, 0.1, 0.1]}, ("`noise`", "2")),
        ({"noise": memcurve.StateNoise(0.1)}, "`noise`"),
        ({"degree": 0}, "`degree`"),
        ({"lags": 1.5}, "`lags`"),
        ({"basis": [lambda z: 0 * z + 1, lambda z: z]}, ("`basis`", "0.333333")),
        ({"basis": [lambda z: z]}, "`basis`"),
    ],
)
def test_bad_questions(options: dict[str, Any], facts: Any) -> None:
    refuses(
        (ValueError, TypeError), facts, memcurve.capacities, StateAffineNetwork(**GOOD), **options
    )


def test_bad_words_laws_and_files() -> None:
    result = memcurve.capacities(StateAffineNetwork(**GOOD))
    for word in ((), (0, 0), (-1, 1), (1.5,), "1", (True,)):
        refuses(ValueError, "`word`", result.of, word)
    refuses(ValueError, "`above`", result.largest, above=0)
    refuses(ValueError, "`count`", result.largest, 0)
    read = memcurve.Capacities.from_json(result.to_json())
    assert read.largest(2) == result.largest(2)
    assert read.table.tolist() == result.table.tolist()
    refuses(ValueError, "capacities(network)", read.of, (1,))
    refuses(ValueError, "`probabilities`", laws.discrete, [0, 1], [0.5, 0.4])
    refuses(ValueError, "`values`", laws.discrete, [0, 0], [0.5, 0.5])
    refuses(ValueError, "`low`", laws.density, np.exp, 1, 0)
    two_inputs = memcurve.LinearNetwork(np.eye(2) / 2, np.ones((2, 2)))
    refuses(ValueError, ("`network`", "2"), memcurve.capacities, two_inputs)


@pytest.mark.parametrize("place", ["tree.Tree.table", "white.whitened"])
def test_interrupts_keep_what_is_known(place: str, monkeypatch) -> None:
    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"memcurve.state_affine.{place}", stopped)
    if place == "white.whitened":  # before any capacity
        with pytest.raises(KeyboardInterrupt, match="the total without noise is 2"):
            memcurve.capacities(StateAffineNetwork(**GOOD))
        return
    result = memcurve.capacities(StateAffineNetwork(**GOOD))
    assert result.total == 2 == round(sum(result.by_degree.values()), 6)
    assert any("interrupted" in note for note in result.notes)
    assert 0 < result.of((0, 1)) < 1


def test_networks_at_the_edge_of_a_covariance_and_what_is_none() -> None:
    """ρ(Φ) = 1, up to rounding of √3: the equation of the covariance is singular."""
    for root in (3**0.5, np.nextafter(3**0.5, 2)):
        with pytest.raises(
            (memcurve.UnstableNetworkError, memcurve.UncertainResultError), match="covariance"
        ):
            memcurve.capacities(memcurve.bilinear([[0.0]], [[root]], [1.0]))
    refuses(TypeError, "`network`", memcurve.capacities, None)


def test_text_lists_degrees_that_can_be_read() -> None:
    network = memcurve.bilinear([[0.5]], [[0.3]], [1.0])
    assert "0.000000" not in repr(memcurve.capacities(network, degree=50))
    slow = memcurve.capacities(memcurve.bilinear([[0.0]], [[1.7]], [1.0]))
    assert "others" in repr(slow)
    assert len(repr(slow).splitlines()) < 20


@pytest.mark.parametrize("gap", [1e-6, 1e-12])
@pytest.mark.parametrize("noise", [None, 1e-9])
def test_readouts_are_taken_as_they_are_stored(gap: float, noise: float | None) -> None:
    """Rows that nearly agree: their products with p, rounded, would be those of another readout."""
    rng = np.random.default_rng(46)
    network = family("normal", 4, 46)
    D = np.tile(rng.standard_normal(4), (2, 1))
    D[1] += gap * rng.standard_normal(4)
    result = memcurve.capacities(network.replace(readout=D), noise, degree=2)
    require_right(result, network, [(1,), (0, 1)], noise=noise or 0.0, readout=D)
    assert result.error < 1e-6
    assert result.rank == 2


@pytest.mark.parametrize("mixed", [False, True])
def test_small_states_are_usable_beside_large_ones(mixed: bool) -> None:
    """Noise between the sizes of states, which differ by eleven orders."""
    rng, units = np.random.default_rng(8), np.array([1e7, 1e-4, 1e-3])
    A, B = (units[:, None] * rng.standard_normal((3, 3)) / 5 / units for _ in range(2))
    network = StateAffineNetwork([A, B], units * rng.standard_normal((2, 3)))
    D = rng.standard_normal((3, 3)) if mixed else np.eye(3)
    result = memcurve.capacities(network.replace(readout=D), 1e-3)
    require_right(result, network, noise=1e-3, readout=D)
    assert result.error < 1e-9


def test_a_spectrum_that_turns_is_measured() -> None:
    """ρ(Φ) of E p with a complex pair as its largest eigenvalues, for which powers swing."""
    for turn in (0.3, 0.7, 1.57):
        R = 1.02 * np.array([[np.cos(turn), -3 * np.sin(turn)], [np.sin(turn) / 3, np.cos(turn)]])
        assert abs(spectral_radius(np.stack([R, 1e-9 * R])) - 1.02**2) < 1e-4
        network = StateAffineNetwork([R, 1e-9 * R], [[0, 0], [1, 1]])
        refuses(UnstableNetworkError, "1.0404", memcurve.capacities, network)


def test_even_and_odd_functions_of_very_different_size() -> None:
    """One state, xₜ = ½xₜ₋₁ + 1 + z² + εz of coins: its variance ε²·4/3 beside noise of size ε."""
    for size in (1e-3, 1e-7, 1e-9):
        network = StateAffineNetwork([[[0.5]]], [[1.0], [size], [np.pi]], "rademacher")
        result = memcurve.capacities(network, [size])
        assert abs(result.of((1,)) - 1 / (1 + 4 / 3)) <= result.error < 1e-9


@pytest.mark.parametrize("size", [1.0, 1e-8, 1e-120])
def test_outputs_may_feel_the_newest_input_far_more_than_the_states(size: float) -> None:
    """Two mixtures of zₜ and xₜ₋₁ hold both, however small x is: xₜ = ½xₜ₋₁ + size·zₜ."""
    read = [[[0.3], [-1.7]]], [[0.0, 0.0], [0.7, 1.3]]
    result = memcurve.capacities(
        StateAffineNetwork([[[0.5]], [[0.0]]], [[0.0], [size]], outputs=read)
    )
    assert result.total == 2
    for word, truth in (((1,), 1.0), ((0, 1), 0.75), ((0, 0, 1), 0.75 / 4)):
        assert abs(result.of(word) - truth) <= result.error < 1e-9
