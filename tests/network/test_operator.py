"""Networks that are known by their products only: the same answers, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.sparse.linalg import LinearOperator

import memcurve
from memcurve import LinearNetwork, memory_curve
from memcurve.network.operator import Operator
from refusals import refuses
from tolerances import agree

SIZE = 400
_rng = np.random.default_rng(1)
A = csr_array(random_array((SIZE, SIZE), density=0.02, random_state=_rng) - 0.01 * np.eye(SIZE))
A = A * (0.9 / abs(np.linalg.eigvals(A.toarray())).max())
C = _rng.standard_normal((SIZE, 2))


def products(function: Callable[[Any], Any], dtype: Any = float, C: Any = C) -> LinearNetwork:
    return LinearNetwork(LinearOperator((SIZE, SIZE), matvec=function, dtype=dtype), C)


@pytest.mark.parametrize("readout", [None, [0, 3, 5]])
@pytest.mark.parametrize(
    "noise", [0.1, 1e-6, memcurve.Float32(), memcurve.Quantised(bits=8, low=-9, high=9)], ids=repr
)
def test_products_answer_like_the_matrix(noise: Any, readout: Any) -> None:
    matrix = LinearNetwork(A, C, readout)
    of_products = products(lambda x: A @ x).replace(readout=readout)
    found, known = (memory_curve(network, noise=noise) for network in (of_products, matrix))
    assert agree(found, known)
    # what rounding leads out of the basis is not at right angles to the nodes that are read
    assert found.error.max() < (1e-9 if readout is None else 1e-4)


def test_coloured_input_and_profiles() -> None:
    network = products(lambda x: A @ x)
    coloured = {"noise": 0.1, "input": memcurve.inputs.ARMA(ar=[0.8])}
    assert agree(memory_curve(network, **coloured), memory_curve((A, C), **coloured))
    levels = [1.0, 1e-3]
    found, known = (memcurve.noise_profile(one, levels) for one in (network, (A, C)))
    assert found.totals == pytest.approx(known.totals, abs=1e-9)
    assert found.marks == pytest.approx(known.marks, rel=1e-9)


def test_complex_products_are_refused_with_the_remedy() -> None:
    complex_A = LinearOperator((SIZE, SIZE), lambda x: A @ x, dtype=complex)
    refuses(TypeError, ("`A`", "complex128", "real pair"), LinearNetwork, complex_A, C)
    refuses(TypeError, ("`C`", "real pair"), products, lambda x: A @ x, float, C + 1j)


def test_single_precision_counts_in_the_error() -> None:
    """Products of float32 are off by 1e-7, which the error of the curve covers."""
    rough = A.astype(np.float32)
    network = products(lambda x: (rough @ x.astype(np.float32)).astype(float))
    known = memory_curve((rough.astype(float), C), noise=0.1)
    found = memory_curve(network, noise=0.1)
    assert agree(found, known)
    assert 1e-9 < found.error.max() < 1e-3


BAD = {
    "tanh": (lambda x: np.tanh(A @ x), "linear"),
    "slightly bent": (lambda x: A @ x * (1 + 1e-3 * x.mean()), "linear"),
    "a constant": (lambda x: A @ x + 1, "linear"),
    "NaN": (lambda x: np.where(np.arange(SIZE) == 3, np.nan, A @ x), "finite"),
    "short": (lambda x: (A @ x)[:-1], "400"),
    "complex": (lambda x: A @ x + 0j, "complex128"),
}


@pytest.mark.parametrize(("function", "fact"), BAD.values(), ids=BAD)
def test_bad_products_are_refused(function: Callable[[Any], Any], fact: str) -> None:
    refuses(ValueError, ("`A`", fact), memory_curve, products(function), noise=0.1)


def test_nan_out_of_a_later_product() -> None:
    calls: list[int] = []

    def fails(x: Any) -> Any:
        calls.append(1)
        return A @ x if len(calls) < 20 else np.full(SIZE, np.nan)

    refuses(ValueError, ("`A`", "400"), memory_curve, products(fails), noise=0.1)


def test_growing_powers_are_found_with_their_rate() -> None:
    grows = products(lambda x: 1.1 / 0.9 * (A @ x))
    with pytest.raises(memcurve.UnstableNetworkError, match=r" 1\.1\d* "):
        memory_curve(grows, noise=0.1)
    # a sparse matrix of as many states is judged by its eigenvalues
    known = 1.1 / 0.9 * A, C[:, 0]
    refuses(memcurve.UnstableNetworkError, "1.1", memory_curve, known, noise=0.1)


QUESTIONS: dict[str, Callable[[LinearNetwork], Any]] = {
    "memory without noise": memory_curve,
    "state noise": lambda n: memory_curve(n, noise=memcurve.StateNoise(0.1)),
    "certified": lambda n: memory_curve(n, noise=0.1, method="certified"),
    "Fisher": memcurve.fisher_curve,
    "forecast": lambda n: memcurve.forecasting_curve(n, "ar:0.5"),
    "rank": memcurve.rank,
    "structural rank": memcurve.structural_rank,
    "spectrum": lambda n: memcurve.controllable_spectrum(n.replace(C=C[:, 0])),
    "input normal": memcurve.input_normal,
    "spectral radius": lambda n: n.spectral_radius,
    "file": lambda n: memcurve.save_network(n, "network.npz"),
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_what_takes_entries_says_what_can_be_asked(
    ask: Callable[[LinearNetwork], Any], tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refuses(TypeError, ("noise=…", "memcurve.pruned", "numpy.eye"), ask, products(lambda x: A @ x))
    assert list(tmp_path.iterdir()) == []


def test_the_matrix_can_be_made() -> None:
    network = products(lambda x: A @ x)
    made = network.replace(A=network.A @ np.eye(SIZE))
    assert np.array_equal(made.A, A.toarray())
    assert isinstance(network.A, Operator)
    assert not network.is_sparse
    assert "products only" in repr(network)
    wide = LinearOperator((3, 4), matvec=lambda x: x[:3], dtype=float)
    refuses(ValueError, ("`A`", "(3, 4)"), LinearNetwork, wide, C)
