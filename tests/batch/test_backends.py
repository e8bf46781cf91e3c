"""The same numbers on every array library, and their gradients against finite differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from draws import normal_stack
from memcurve import UncertainResultError, memory_curves
from memcurve.memory.batch import curves_of_poles
from memcurve.network.backend import Backend, has_gradient, to_host
from refusals import refuses

#: Two eigenvalue solvers differ by their rounding errors; the curve feels this much of it.
SAME = 1e-12
#: Gradients against central differences of the NumPy implementation.
GRADIENT = 1e-6
STEP = 1e-5


#: How each library makes an array of one of NumPy's.
LIBRARIES = {
    "numpy": "asarray", "array_api_strict": "asarray", "torch": "tensor", "jax.numpy": "asarray",
    "cupy": "asarray",
}  # fmt: skip


@pytest.fixture(autouse=True)
def double_precision(request):
    """Switch float64 on for jax, and back again: other tests must not notice."""
    try:
        import jax
    except ImportError:
        yield
        return
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(params=LIBRARIES)
def arrays(request) -> Callable[[Any], Any]:
    library = pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    if request.param == "cupy" and not library.cuda.is_available():
        pytest.skip("cupy finds no GPU")
    return lambda x: getattr(library, LIBRARIES[request.param])(np.asarray(x))


def test_poles(arrays: Callable[[Any], Any]) -> None:
    poles = np.linalg.eigvals(normal_stack(3, 12))
    given = arrays(poles)
    curves = curves_of_poles(given, 40)
    assert type(curves.values) is type(given)
    expected = curves_of_poles(poles, 40)
    assert np.all(np.abs(to_host(curves.values) - expected.values) <= expected.error)
    assert np.all(to_host(curves.rank) == 12)
    assert np.abs(curves[1].values - expected.values[1]).max() <= expected.error.max()
    assert isinstance(curves.to_numpy().error, np.ndarray)
    # real poles, all lags; no networks; single precision
    real = curves_of_poles(arrays(np.array([0.5, -0.25])))
    assert to_host(real.values).sum() == pytest.approx(2, abs=1e-11)
    nothing = curves_of_poles(arrays(np.zeros((0, 3))), 5)
    assert to_host(nothing.values).shape == (0, 5)
    single = curves_of_poles(arrays(poles.astype(np.complex64)), 9)
    assert to_host(single.values).dtype == np.float64
    stored = curves_of_poles(poles.astype(np.complex64), 9)
    assert np.abs(to_host(single.values) - stored.values).max() <= stored.error.max()


def test_networks(arrays: Callable[[Any], Any]) -> None:
    A, C = normal_stack(4, 12), np.ones((4, 12))
    A[2, 1] = A[2, 0]
    A[2, :, 1] = A[2, :, 0]  # twins, which are looked at on the CPU
    given = arrays(A)
    curves = memory_curves(given, C)
    expected = memory_curves(A, C)
    assert type(curves.values) is type(given)
    assert np.array_equal(to_host(curves.rank), expected.rank)
    assert np.abs(to_host(curves.values) - expected.values).max() <= SAME
    assert Backend.of(curves.values, "x").device == Backend.of(given, "x").device
    masked = memory_curves(given, arrays(C), 10)
    assert np.abs(to_host(masked.values) - expected.values[:, :10]).max() <= SAME
    complex_valued = memory_curves(arrays(0.6 * A[:2] + 0.3j * A[[1, 3]]), None, 10)
    assert to_host(complex_valued.rank).tolist() == [24, 24]
    assert to_host(memory_curves(arrays(A[:0]), None, 3).values).shape == (0, 3)


def test_bad_numbers(arrays: Callable[[Any], Any]) -> None:
    A = normal_stack(3, 12)
    A[1, 2, 3] = np.nan
    refuses(ValueError, ("`A`", "1,", "2,", "3"), memory_curves, arrays(A))
    refuses(ValueError, "beyond", memory_curves, arrays(np.array([[[2**53 + 1]]])))
    integers = memory_curves(arrays(np.zeros((2, 1, 1), dtype=np.int32)))
    assert to_host(integers.rank).tolist() == [1, 1]


def test_half_precision_and_sparse_tensors_of_torch(torch) -> None:
    A = torch.tensor(normal_stack(3, 12))
    refuses(TypeError, ("`A`", "sparse"), memory_curves, A[0].to_sparse())
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        rounded = A.to(kind)
        curves = memory_curves(rounded, None, 20)
        exact = memory_curves(rounded.to(torch.float64).numpy(), None, 20)
        assert curves.values.dtype == torch.float64
        assert np.abs(curves.values.numpy() - exact.values).max() <= SAME


def test_jax_without_float64_says_so() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    jax.config.update("jax_enable_x64", False)
    refuses(TypeError, "jax_enable_x64", memory_curves, jax.numpy.asarray(normal_stack(3, 12)))


def test_jax_cannot_be_traced() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with pytest.raises(TypeError, match=r"jax\.jit"):
        jax.jit(lambda poles: curves_of_poles(poles, 5).values)(jax.numpy.asarray([0.5]))


def differences(function: Callable[[np.ndarray], float], x: np.ndarray) -> np.ndarray:
    """Central differences in every entry; of a complex array, along real and imaginary axes."""
    slopes = np.zeros_like(x)
    for where in np.ndindex(x.shape):
        for unit in (1.0, 1j) if np.iscomplexobj(x) else (1.0,):
            step = np.zeros_like(x)
            step[where] = STEP * unit
            slopes[where] += unit * (function(x + step) - function(x - step)) / (2 * STEP)
    return slopes


WEIGHTS = np.random.default_rng(9).standard_normal(25)


def gradient_of(library: str, function: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """∂f/∂Re x + i ∂f/∂Im x of Σ_τ w_τ MC_τ over all networks."""
    if library == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        given = torch.tensor(x, requires_grad=True)
        (function(given).values * torch.tensor(WEIGHTS)).sum().backward()
        return np.asarray(given.grad.numpy())
    jax = pytest.importorskip("jax", reason="jax is not installed")
    slope = jax.grad(lambda given: (function(given).values * WEIGHTS).sum())(jax.numpy.asarray(x))
    return np.asarray(slope).conj()  # jax gives ∂f/∂Re x − i ∂f/∂Im x


def summed(function: Callable[[Any], Any]) -> Callable[[np.ndarray], float]:
    return lambda x: float((function(x).values * WEIGHTS).sum())


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_gradient_of_poles(library: str) -> None:
    """Each pole on its own, also those of a pair; repeated poles and zero are no exception."""
    upper = np.array([[0.5 + 0.3j, -0.2 + 0.8j], [0.3j, 0.3j]])
    poles = np.concatenate([upper, upper.conj(), [[0.0, 0.4], [0.0, 0.0]]], axis=1)

    def curves(x: Any) -> Any:
        return curves_of_poles(x, 25)

    slope = gradient_of(library, curves, poles)
    assert np.abs(slope - differences(summed(curves), poles)).max() <= GRADIENT

    def with_conjugates(x: Any) -> Any:
        return curves_of_poles(x, 25, add_conjugates=True)

    slope = gradient_of(library, with_conjugates, upper)
    assert np.abs(slope - differences(summed(with_conjugates), upper)).max() <= GRADIENT


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_gradient_of_networks(library: str) -> None:
    A, C = normal_stack(2, 5), np.ones(5)

    def curves(x: Any) -> Any:
        return memory_curves(x, C, 25)

    slope = gradient_of(library, curves, A)
    assert np.abs(slope - differences(summed(curves), A)).max() <= GRADIENT
    # in coordinates where rows and columns differ in size, D A D⁻¹, the gradient is D⁻¹ (∂f/∂A) D
    scale = 2.0 ** np.array([9, -7, 0, 4, -6])
    far = gradient_of(library, curves, A * scale[:, None] / scale)
    assert np.abs(far * scale[:, None] / scale - slope).max() <= GRADIENT
    complex_valued = 0.6 * A + 0.3j * A[::-1]
    slope = gradient_of(library, curves, complex_valued)
    assert np.abs(slope - differences(summed(curves), complex_valued)).max() <= GRADIENT


def test_no_gradient_where_there_is_none(torch) -> None:
    """What goes to the CPU leaves the graph: refused, not given a gradient of zero."""
    A = torch.tensor(normal_stack(2, 4))
    A[1] = 0.5 * torch.eye(4)
    A.requires_grad_(True)
    refuses(UncertainResultError, ("network 1 of the stack", "gradient"), memory_curves, A)
    with torch.no_grad():
        assert memory_curves(A).rank.tolist() == [4, 1]
    curves = memory_curves(A[:1])
    assert has_gradient(curves.values)
    for part in (curves.error, curves.total):
        assert not has_gradient(part)
    assert not has_gradient(memory_curves(A.detach()).values)
