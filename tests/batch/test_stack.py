"""Stacks of networks in NumPy against memory_curve, one network at a time."""

import json
import warnings
from collections import Counter

import array_api_strict as strict
import jsonschema
import numpy as np
import pytest

from draws import normal_stack
from hostile import FAMILIES, draw
from memcurve import (
    LinearNetwork,
    MemoryCurves,
    RankWarning,
    UncertainResultError,
    UnstableNetworkError,
    ensembles,
    memory_curve,
    memory_curves,
)
from memcurve.memory.batch import curves_of_poles
from memcurve.memory.batch.stack import fully_excited
from memcurve.network.backend import Backend
from refusals import refuses
from tolerances import EPS, agree


@pytest.mark.parametrize(
    ("size", "radius"), [(1, 0.9), (2, 0.9), (10, 0.999), (60, 0.9), (220, 0.9)]
)
def test_random_stacks(size: int, radius: float) -> None:
    A = normal_stack(4, size, seed=size, radius=radius)
    C = np.random.default_rng(size).standard_normal((4, size))
    curves = memory_curves(A, C)
    assert np.all(curves.rank == size)
    for k in range(4):
        assert agree(curves[k], memory_curve(LinearNetwork(A[k], C[k])))
        assert curves.values[k].sum() == pytest.approx(size, abs=1e-10)
        assert curves[k].rank == curves[k].total == curves.total[k] == size


@pytest.mark.parametrize(
    "name", ["normal", "sparse_normal", "orthogonal", "cyclic", "delay_line", "symmetric"]
)
def test_ensembles(name: str) -> None:
    networks = [
        ensembles.make(name, 20, **({} if name in ("cyclic", "delay_line") else {"seed": seed}))
        for seed in range(3)
    ]
    curves = memory_curves(
        np.array([n.A if isinstance(n.A, np.ndarray) else n.A.toarray() for n in networks]),
        np.array([n.C for n in networks]),
        60,
    )
    for k, network in enumerate(networks):
        one = memory_curve(network, 60)
        assert agree(curves[k], one)
        assert curves.rank[k] == one.rank


def test_uncontrollable_networks_among_good_ones() -> None:
    A, C = normal_stack(5, 12), np.ones((5, 12))
    A[1, 1] = A[1, 0]  # twins: alike in what drives them
    A[1, :, 1] = A[1, :, 0]
    C[3] = 0.0
    curves = memory_curves(A, C)
    one = memory_curve(LinearNetwork(A[1], C[1]))
    assert curves.rank.tolist() == [12, one.rank, 12, 0, 12]
    assert one.rank < 12
    assert agree(curves[1], one)
    assert not curves.values[3].any()
    assert curves.method == "exact and lattice"
    assert any("networks 1, 3: one by one on the CPU" in note for note in curves.notes)


def test_no_mask() -> None:
    A = normal_stack(2, 15)
    curves = memory_curves(A, lags=40)
    given = memory_curves(A, np.arange(1.0, 16.0), 40)
    assert np.abs(curves.values - given.values).max() <= 100 * EPS
    assert any("no mask was given" in note for note in curves.notes)
    # no mask excites more than the degree of the minimal polynomial
    assert memory_curves(0.5 * np.eye(4)).rank == 1


def test_complex_networks_count_twice() -> None:
    rng = np.random.default_rng(3)
    A = normal_stack(2, 8, 1, 0.6) + 0.5j * normal_stack(2, 8, 2, 0.6)
    C = rng.standard_normal((2, 8)) + 1j * rng.standard_normal((2, 8))
    for mask in (C, C.real, None):
        curves = memory_curves(A, mask, 60)
        assert curves.rank.tolist() == [16, 16]
        for k in range(2):
            used = np.ones(8) + 1j * np.arange(8) if mask is None else mask[k]
            assert agree(curves[k], memory_curve(LinearNetwork(A[k], used), 60))
    # a complex mask on a real network drives real and imaginary parts alike: nothing is gained
    real = memory_curves(A.real, C, 60)
    assert real.rank.tolist() == [memory_curve(LinearNetwork(A[k].real, C[k])).rank for k in (0, 1)]


def test_badly_scaled_networks_are_balanced() -> None:
    """Rows and columns of any size, and poles next to the unit circle."""
    far = np.exp(4 * np.random.default_rng(5).standard_normal((5, 1, 15)))
    A = normal_stack(5, 15, radius=0.99999)
    curves = memory_curves(A * far / np.swapaxes(far, 1, 2), np.ones(15), 60)
    assert "exact" not in curves.method
    for k in range(5):
        assert agree(curves[k], memory_curve(LinearNetwork(A[k], np.ones(15)), 60))


def test_shapes_and_types() -> None:
    A = normal_stack(6, 5).reshape(2, 3, 5, 5)
    nested = memory_curves(A, np.ones((2, 3, 5)), 10)
    assert nested.values.shape == (2, 3, 10)
    assert nested.rank.shape == (2, 3)
    single = memory_curves(A[0, 0], [1, 1, 1, 1, 1], 10)
    assert single.values.shape == (10,)
    assert np.abs(single.values - nested.values[0, 0]).max() <= 100 * EPS
    rounded = memory_curves(A[0].astype(np.float32), np.ones(5), 10)
    assert rounded.values.dtype == np.float64
    assert agree(rounded[2], memory_curve(LinearNetwork(A[0, 2].astype(np.float32), np.ones(5))))
    assert memory_curves([[[0]]], [1]).total.tolist() == [1.0]
    for stack in (np.zeros((0, 4, 4)), np.zeros((2, 0, 4, 4))):
        nothing = memory_curves(stack, np.ones(4), 7)
        assert nothing.values.shape == (*stack.shape[:-2], 7)
        assert nothing.notes == ("the stack is empty",)


def test_default_lags_with_a_closer_look() -> None:
    """A stack has as many lags as its longest curve; the others go on with what is left."""
    A = np.array([normal_stack(1, 6, radius=0.3)[0], np.diag([0.99, 0.5, 0.4, 0.3, 0.2, 0.1])])
    curves = memory_curves(A, np.ones(6))
    assert agree(curves[0], memory_curve(LinearNetwork(A[0], np.ones(6)), curves.values.shape[1]))
    assert agree(curves[1], memory_curve(LinearNetwork(A[1], np.ones(6))))


def test_a_refused_closer_look_names_the_network() -> None:
    """Where memory_curve itself cannot answer, its message comes with the number."""
    A = np.zeros((2, 400, 400))
    A[0] = normal_stack(1, 400)[0]
    A[1] = np.diag(np.full(400, 0.5)) + np.diag(np.full(399, 3.0), k=-1) + np.eye(400, k=1) * 1e-3
    either = (UncertainResultError, UnstableNetworkError)
    refuses(either, "network 1 of the stack", memory_curves, A, np.ones(400), 10)


def test_inexact_matrix_products_are_found_out() -> None:
    class Careless:
        """NumPy whose matrix products of matrices are off in the last digit, as if emulated."""

        def __getattr__(self, name: str) -> object:
            return getattr(np, name)

        @staticmethod
        def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            product = a @ b
            return product + (np.arange(product.size).reshape(product.shape) == 7) * (a is b)

    backend = Backend(Careless(), None, "careless", True)
    one = normal_stack(1, 20), np.ones((1, 20))
    refuses(UncertainResultError, "integers", fully_excited, backend, *one)


def hostile_outcome(family: str, seed: int) -> str:
    network = draw(family, seed)
    lags = 3 * network.size
    A = network.A if isinstance(network.A, np.ndarray) else network.A.toarray()
    try:
        truth = memory_curve(network, lags, method="certified")
    except UnstableNetworkError:
        refuses(UnstableNetworkError, "", memory_curves, A[None], network.C.reshape(1, -1), lags)
        return "unstable, refused"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            curves = memory_curves(A[None], network.C.reshape(1, -1), lags)
    except (UncertainResultError, UnstableNetworkError):
        return "refused"
    return f"right, {curves.method}" if agree(curves[0], truth) else "VIOLATION"


@pytest.mark.parametrize(
    ("draws", "first"), [(2, 0), pytest.param(40, 5000, marks=pytest.mark.slow)]
)
def test_hostile_networks(draws: int, first: int, held) -> None:
    total: Counter[str] = Counter()
    for family in FAMILIES:
        total += Counter(hostile_outcome(family, seed) for seed in range(first, first + draws))
    violations = sum(n for outcome, n in total.items() if outcome.startswith("VIOLATION"))
    held("hostile stacks: beyond their errors", violations, at_most=0, draws=total.total())
    assert draws > 2 or total["refused"] <= 2


def test_eigenvalues_of_a_failed_solver_are_found_out(monkeypatch) -> None:
    A = normal_stack(3, 20)
    right = np.linalg.eigvals(A)

    def failing(matrices: np.ndarray) -> np.ndarray:
        values = right.copy()
        values[1, 3] *= 1 + 1e-9
        values[2, 0] = np.nan
        return values

    monkeypatch.setattr(np.linalg, "eigvals", failing)
    curves = memory_curves(A, np.ones(20), 10)
    monkeypatch.undo()
    assert any("networks 1, 2: one by one" in note for note in curves.notes)
    for k in range(3):
        assert agree(curves[k], memory_curve(LinearNetwork(A[k], np.ones(20)), 10))


# ---- JSON, frames and a picture

FIELDS = ("lags", "values", "error", "loss", "total", "rank")


def stack(*shape: int) -> MemoryCurves:
    """Networks of three nodes, every second of which does not excite its modes."""
    A = np.empty((int(np.prod(shape)), 3, 3))
    A[::2], A[1::2] = [[0.5, 0.2, 0.1], [0.3, -0.4, 0.2], [0.1, 0.2, 0.3]], 0.2
    return memory_curves(A.reshape(*shape, 3, 3), np.ones(3), 12)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,), (0, 3), (2, 0)])
def test_json_gives_the_stack_back(shape: tuple[int, ...], tmp_path) -> None:
    curves = stack(*shape)
    curves.save(tmp_path / "curves.json")
    again = MemoryCurves.load(tmp_path / "curves.json")
    for name in FIELDS:
        ours, theirs = getattr(curves, name), getattr(again, name)
        assert theirs.dtype == ours.dtype
        assert np.array_equal(theirs, ours)  # and so of one shape
    assert (again.shape, again.method) == (shape, curves.method)
    assert [n.kind for n in again.notes] == [n.kind for n in curves.notes]
    content = json.loads((tmp_path / "curves.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, MemoryCurves.json_schema())
    assert len(content["values"]) == np.prod(shape, dtype=int)  # a row a network


def test_json_of_other_arrays_holds_their_values() -> None:
    curves = curves_of_poles(strict.asarray(np.array([[0.5, -0.25], [0.1, 0.2]])), 5)
    again = MemoryCurves.from_json(curves.to_json())
    assert isinstance(again.values, np.ndarray)
    assert np.array_equal(again.values, curves.to_numpy().values)
    assert curves.to_pandas().shape == (5, 2)
    assert curves.to_xarray().sizes == {"lag": 5}
    assert len(curves.plot().lines) == 2


def test_notes_are_those_of_the_stack() -> None:
    curves = stack(2)
    assert curves[1].notes == curves.notes
    assert [note.kind for note in memory_curves(0.5 * np.eye(1)).notes] == ["question"]


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_frames(shape: tuple[int, ...]) -> None:
    curves = stack(*shape)
    frame = curves.to_pandas()
    assert frame.index.name == "lag"
    assert list(frame.columns) == [",".join(map(str, place)) for place in np.ndindex(*shape)]
    assert np.array_equal(frame.to_numpy().T, curves.values.reshape(-1, 12))
    assert frame.attrs["rank"] == curves.rank.ravel().tolist()


@pytest.mark.parametrize(("shape", "lines"), [((), 1), ((2, 3), 6), ((9,), 1)])
def test_picture(shape: tuple[int, ...], lines: int) -> None:
    curves = stack(*shape)
    ax = curves.plot()
    assert len(ax.lines) == lines
    assert curves.plot(ax) is ax
    if lines == 1 and shape:
        assert np.array_equal(ax.lines[0].get_ydata(), np.median(curves.values, axis=0))
        assert "9 networks: median" in ax.get_legend().get_texts()[0].get_text()
