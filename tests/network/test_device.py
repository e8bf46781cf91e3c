"""Sparse matrices of other libraries: their answers are those of scipy, within the errors."""

import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

import memcurve
from memcurve import LinearNetwork, memory_curve
from memcurve.network.backend import Backend
from memcurve.network.device import DeviceMatrix
from memcurve.network.tall import DeviceBackend
from refusals import refuses
from tolerances import agree

pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")

SIZE = 150
_rng = np.random.default_rng(1)
A = csr_array(random_array((SIZE, SIZE), density=0.02, rng=_rng) - 0.01 * np.eye(SIZE))
A = A * (0.9 / abs(np.linalg.eigvals(A.toarray())).max())
C = _rng.standard_normal((SIZE, 2))


class Library(NamedTuple):
    """How a library makes sparse matrices and arrays."""

    sparse: Callable[[Any], Any]
    array: Callable[[Any], Any]


def _torch() -> Library:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    there = {"device": "cuda" if torch.cuda.is_available() else "cpu"}

    def sparse(matrix: Any) -> Any:
        entries = matrix.tocoo()
        places = torch.tensor(np.stack([entries.row, entries.col]))
        return torch.sparse_coo_tensor(places, torch.tensor(entries.data), matrix.shape, **there)

    return Library(sparse, lambda x: torch.tensor(x, **there))


def _jax() -> Library:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    from jax.experimental import sparse

    return Library(lambda matrix: sparse.BCOO.from_scipy_sparse(matrix), jax.numpy.asarray)


def _cupy() -> Library:
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    if not cupy.cuda.is_available():
        pytest.skip("cupy finds no GPU")
    from cupyx.scipy.sparse import csr_matrix
    from scipy.sparse import csr_matrix as on_host

    return Library(lambda matrix: csr_matrix(on_host(matrix)), cupy.asarray)


@pytest.fixture(params=[_torch, _jax, _cupy], ids=["torch", "jax", "cupy"])
def library(request) -> Iterator[Library]:
    """A library, with float64 switched on for jax, and back again."""
    made = request.param()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the libraries' own, that sparse matrices are new
        if request.param is not _jax:
            yield made
            return
        import jax

        before = jax.config.jax_enable_x64
        jax.config.update("jax_enable_x64", True)
        yield made
        jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("readout", [None, [0, 3, 5]])
def test_usable_memory_is_that_of_scipy(library: Library, readout: Any) -> None:
    network = LinearNetwork(library.sparse(A), C, readout)
    assert isinstance(network.A, DeviceMatrix)
    for noise in (1e-6, memcurve.Float32()):
        found, known = (
            memory_curve(one, noise=noise) for one in (network, LinearNetwork(A, C, readout))
        )
        assert agree(found, known)
        # of rows that are read, what rounding leads out of the basis counts at first order
        assert found.error.max() < (1e-9 if readout is None else 1e-4)


def test_pairs_and_functions_of_vectors_stay_on_the_device(library: Library) -> None:
    there, mask = library.sparse(A), library.array(C)
    assert isinstance(memcurve.as_network((there, mask)).A, DeviceMatrix)
    known = memory_curve((A, C), noise=0.1)
    functions = (lambda x: there @ x, mask), (lambda x: A @ x, C)  # the second is NumPy's
    for held in ((there, mask), *(LinearNetwork(*each) for each in functions)):
        assert agree(memory_curve(held, noise=0.1), known)


@pytest.mark.parametrize("name", ["rewire", "shuffle", "erdos_renyi"])
def test_null_models_are_drawn_as_on_the_host(library: Library, name: str) -> None:
    there, here = (memcurve.nulls.make(name, (one, C), seed=1) for one in (library.sparse(A), A))
    assert isinstance(there.A, DeviceMatrix)
    assert (there.A.host != here.A).nnz == 0
    assert there.notes == here.notes


def _smooth(rows: int) -> np.ndarray:
    """Columns of all sizes, of which many are combinations of others but for their last digits."""
    x = np.linspace(0, 1, rows)[:, None]
    return np.exp(-30 * (x - np.linspace(0, 1, 60)) ** 2) * 10.0 ** -np.linspace(0, 12, 60)


@pytest.mark.parametrize("kind", ["smooth", "few rows", "nothing"])
def test_triangles_have_the_singular_values(library: Library, kind: str) -> None:
    backend = DeviceBackend(Backend.of(library.array(np.ones(1)), "x"))
    kinds = {"smooth": _smooth(5000), "few rows": np.eye(5000, 60), "nothing": np.zeros((5000, 60))}
    K = kinds[kind]
    R, rounding = backend.triangle(backend.put(K)), 1e-13 * np.linalg.norm(K)
    sigma = np.linalg.svd(K, compute_uv=False)
    assert np.abs(np.linalg.svd(R, compute_uv=False) - sigma).max() <= rounding
    assert np.abs(R.T @ R - K.T @ K).max() <= 2 * rounding * np.linalg.norm(K)


def test_large_networks_lag_by_lag_and_by_a_basis(library: Library) -> None:
    size, rng = 5000, np.random.default_rng(2)
    weights = random_array((size, size), density=4 / size, rng=rng, data_sampler=rng.normal)
    large = csr_array(weights) * 0.3
    mask = rng.standard_normal(size) / np.sqrt(size)
    known = memory_curve((large, mask), noise=1e-2)
    there = LinearNetwork(library.sparse(large), mask)
    assert agree(memory_curve(there, noise=1e-2), known)
    small = memcurve.pruned(there, 1e-2).network
    assert abs(memory_curve(small, noise=1e-2).total - known.total) < 1e-8


def test_profiles_reductions_and_complex_networks(library: Library) -> None:
    levels = [1.0, 1e-3]
    there = LinearNetwork(library.sparse(A), C)
    found, known = (memcurve.noise_profile(one, levels) for one in (there, (A, C)))
    assert found.totals == pytest.approx(known.totals, abs=1e-9)
    assert found.marks == pytest.approx(known.marks, rel=1e-9)
    turned = A * np.exp(0.3j)
    network = LinearNetwork(library.sparse(turned), C)
    assert network.states == 2 * SIZE
    assert agree(memory_curve(network, noise=0.1), memory_curve((turned, C), noise=0.1))


def test_the_rank_is_exact(library: Library) -> None:
    sparse = csr_array(random_array((200, 200), density=0.01, rng=np.random.default_rng(5)))
    for mask in (np.eye(200)[:, 0], np.ones(200), np.eye(200)[:, :3]):
        for readout in (None, [3, 5, 8, 13]):
            there = LinearNetwork(library.sparse(sparse), mask, readout)
            assert memcurve.rank(there) == memcurve.rank(LinearNetwork(sparse, mask, readout))


def test_everything_else_is_answered_by_a_copy_on_the_host(library: Library) -> None:
    network = LinearNetwork(library.sparse(A), C[:, 0], name="there")
    assert agree(memory_curve(network), memory_curve((A, C[:, 0])))
    assert memcurve.structural_rank(network).rank == SIZE
    assert network.spectral_radius == pytest.approx(0.9)
    z = np.ones(5)
    assert np.allclose(network.simulate(z), LinearNetwork(A, C[:, 0]).simulate(z))
    assert "sparse" in repr(network)
    assert np.array_equal(network.A.toarray(), A.toarray())


def test_pickled_networks_are_the_same() -> None:
    made = _torch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = pickle.loads(pickle.dumps(LinearNetwork(made.sparse(A), C)))
        assert np.array_equal(network.A.toarray(), A.toarray())


def test_what_is_refused(library: Library) -> None:
    refuses(ValueError, ("`A`", "nan"), LinearNetwork, library.sparse(A * np.nan), C)
    refuses(ValueError, ("`A`", "(5, 150)"), LinearNetwork, library.sparse(A[:5]), C)
    refuses(ValueError, ("`C`", "(5, 2)"), LinearNetwork, library.sparse(A), C[:5])
    mask, unstable = library.array(C[:, 0]), library.sparse(A * 2)
    grows = LinearNetwork(lambda x: unstable @ x, mask)
    refuses(memcurve.UnstableNetworkError, "unstable", memory_curve, grows, noise=0.1)
    for function, words in (
        (lambda x: x * x, "linear"),
        (lambda x: x * float("nan"), "finite"),
        (lambda x: x[:5], "vectors"),
        (lambda x: np.zeros(SIZE), "where `C` is"),
    ):
        network = LinearNetwork(function, mask)
        refuses(ValueError, ("`A`", words), memory_curve, network, noise=0.1)


def test_masks_of_another_library_are_refused() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    there = _torch().sparse(A)
    for mask in (strict.asarray(C), torch.zeros(SIZE, device="meta")):
        refuses(ValueError, ("`C`", "`A`"), LinearNetwork, there, mask)


def test_damaged_matrices_are_refused() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        starts, columns = torch.tensor([0, 1, 2]), torch.tensor([0, 7])
        damaged = torch.sparse_csr_tensor(
            starts, columns, torch.ones(2), (2, 2), check_invariants=False
        )
        refuses(ValueError, ("`A`", "damaged"), LinearNetwork, damaged, np.ones(2))
