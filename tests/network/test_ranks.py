"""Rows over ranks: the numbers of one process, rows of its own on each rank, and no hang."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, random_array, save_npz

import memcurve
from memcurve import LinearNetwork, RankRows, inputs, load_network, memory_curve, noise_profile
from memcurve.network import ranks as ranks_module
from memcurve.network.ranks import Ranks
from refusals import refuses
from threaded_ranks import Aborted, answers, on_ranks
from tolerances import agree

SIZE = 120
_rng = np.random.default_rng(1)
A = csr_array(random_array((SIZE, SIZE), density=0.05, rng=_rng, data_sampler=_rng.standard_normal))
A = csr_array(A * (0.9 / abs(np.linalg.eigvals(A.toarray())).max()))
C = _rng.standard_normal((SIZE, 2))


def uneven(comm: Any, matrix: Any = A) -> Any:
    """Rows of this rank, in shares of different sizes."""
    size, count = matrix.shape[0], comm.Get_size()
    ends = np.append(0, np.cumsum(np.arange(1, count + 1)))
    first, last = (size * ends // ends[-1])[comm.Get_rank() :][:2]
    return matrix[first:last]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_products_and_factors_are_those_of_the_whole(count: int) -> None:
    X = np.random.default_rng(2).standard_normal((SIZE, 5))

    def work(comm: Any) -> tuple[Any, ...]:
        rows = RankRows(uneven(comm), comm)
        backend, dense = rows.backend, RankRows(uneven(comm, A.toarray()), comm)
        own = backend.put(X)
        assert len(own) == backend.local_rows(SIZE) == uneven(comm).shape[0]
        Q, R = backend.qr(own.copy(order="F"))
        some = backend.host(backend.rows(own, np.arange(0, SIZE, 7)))
        scaled = rows.scaled(np.exp(X[:, 0])) @ own[:, 1]
        products = [rows @ own, dense @ own, scaled[:, None]]
        triangle = backend.triangle(own)
        assert np.allclose(np.abs(triangle), np.abs(R), atol=1e-13)
        return *map(backend.host, products), backend.host(Q), R, some, backend.dot(own, own)

    for product, dense, scaled, Q, R, some, gram in answers(count, work):
        assert np.allclose(product, A @ X, atol=1e-14)
        assert np.allclose(dense, A @ X, atol=1e-13)
        d = np.exp(X[:, 0])
        assert np.allclose(scaled[:, 0], (A @ (d * X[:, 1])) / d, atol=1e-12)
        assert np.allclose(Q.T @ Q, np.eye(5), atol=1e-14)
        assert np.allclose(Q @ R, X, atol=1e-13)
        assert np.array_equal(some, X[::7])
        assert np.allclose(gram, X.T @ X, atol=1e-11)


QUESTIONS: dict[str, dict[str, Any]] = {
    "noise": {"noise": 0.1},
    "little noise": {"noise": 1e-6},
    "number format": {"noise": memcurve.Float32()},
    "coloured": {"noise": 0.1, "input": inputs.ARMA(ar=[0.8])},
    "some lags": {"noise": 0.1, "lags": 7},
}


@pytest.mark.parametrize(
    ("question", "readout"),
    [*((name, None) for name in QUESTIONS), ("noise", [0, 3, 119]), ("coloured", [0, 3, 119])],
)
def test_curves_are_those_of_one_process(question: str, readout: Any) -> None:
    asked = QUESTIONS[question]
    known = memory_curve(LinearNetwork(A, C, readout), **asked)

    def work(comm: Any) -> Any:
        return memory_curve(LinearNetwork(RankRows(uneven(comm), comm), C, readout), **asked)

    for count in (1, 2, 3) if question == "noise" else (2,):
        found = answers(count, work)
        assert agree(found[0], known)
        assert found[0].error.max() < 1e-8
        for other in found[1:]:  # every rank has the same to the last digit
            assert np.array_equal(other.values, found[0].values)
            assert np.array_equal(other.error, found[0].error)


@pytest.mark.parametrize("noise", [1e-2, 3e-7], ids=["lag by lag", "a basis"])
def test_many_states_at_once(noise: float) -> None:
    rng, size = np.random.default_rng(3), 6000
    columns = rng.integers(0, size, 3 * size)
    weights = rng.standard_normal(3 * size) * 0.7 / np.sqrt(3)
    large = csr_array((weights, columns, np.arange(0, 3 * size + 1, 3)), shape=(size, size))
    mask = rng.standard_normal(size) / np.sqrt(size)
    known = memory_curve((large, mask), noise=noise)

    def work(comm: Any) -> Any:
        return memory_curve((RankRows(uneven(comm, large), comm), mask), noise=noise)

    for found in answers(3, work):
        assert agree(found, known)
        assert found.total_error < 1e-9


def test_profiles_and_small_networks_in_place_of_large_ones() -> None:
    known = noise_profile((A, C), [1.0, 1e-7])
    small = memcurve.pruned((A, C), 0.1, 1e-2)

    def work(comm: Any) -> Any:
        network = LinearNetwork(RankRows(uneven(comm), comm), C)
        assert "rows over 2 ranks" in repr(network)
        return noise_profile(network, [1.0, 1e-7]), memcurve.pruned(network, 0.1, 1e-2)

    for profile, found in answers(2, work):
        assert profile.totals == pytest.approx(known.totals, abs=1e-9)
        assert profile.marks == pytest.approx(known.marks, rel=1e-9)
        assert found.is_cut
        totals = [memory_curve(each.network, noise=0.1).total for each in (found, small)]
        assert totals[0] == pytest.approx(totals[1], abs=1e-9)


def _ours(file: Path) -> None:
    memcurve.save_network(LinearNetwork(A, C), file)


def _packed(file: Path) -> None:
    parts = {f"A_{part}": getattr(A, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez_compressed(file, C=C, **parts)


@pytest.mark.parametrize(
    "write",
    [
        _ours,
        _packed,
        lambda file: save_npz(file, A),
        lambda file: save_npz(file, csc_array(A)),
        lambda file: np.savez(file, A=A.toarray(), C=C),
    ],
    ids=["ours", "packed", "scipy by rows", "scipy by columns", "dense"],
)
def test_every_rank_reads_its_rows(write: Any, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("memcurve.io.arrays.BLOCK", 1000)  # several blocks a part
    write(tmp_path / "network.npz")
    np.save(tmp_path / "C.npy", C)

    def work(comm: Any) -> Any:
        found = load_network(tmp_path / "network.npz", mask=tmp_path / "C.npy", communicator=comm)
        assert isinstance(found.A, RankRows)
        assert found.A._rows.shape[0] == SIZE // 3
        return found.A.backend.host(found.A @ found.A.backend.put(C)), found.C

    for product, mask in answers(3, work):
        assert np.allclose(product, A @ C, atol=1e-14)
        assert np.array_equal(mask, C)


def test_what_is_refused() -> None:
    def work(comm: Any) -> None:
        network = LinearNetwork(RankRows(uneven(comm), comm), C)
        for ask in (
            lambda: memory_curve(network),
            lambda: memory_curve(network, noise=memcurve.StateNoise(0.1)),
            lambda: memcurve.rank(network),
            lambda: network.simulate(np.ones((5, 2))),
        ):
            refuses(TypeError, ("`A`", "2 ranks"), ask)
        refuses(TypeError, ("`C`", "real pair"), LinearNetwork, network.A, C + 1j)
        for wrong, facts in (
            (uneven(comm)[:, :-1], "(40, 119)"),
            (uneven(comm)[:0], "(0, 120)"),
            (uneven(comm) * 1j, "complex"),
            (np.full((SIZE // 2, SIZE), np.nan), "nan"),
        ):
            refuses((TypeError, ValueError), ("`rows`", facts), RankRows, wrong, comm)
        one = LinearNetwork([[0.5]], [1.0])
        refuses(ValueError, ("`network`", "2 ranks", "mpiexec -n 1"), Ranks(comm).split, one)

    answers(2, work)


def test_audits_tell_what_products_tell() -> None:
    """Usable memory as one machine has it, and what was left out."""
    whole = memcurve.audit((A, C), noise=0.1, estimates=False).usable.rows

    def work(comm: Any) -> Any:
        found = memcurve.audit((RankRows(uneven(comm), comm), C), noise=0.1, estimates=False)
        assert found.left_out
        return {row.name: (row.total, row.error) for row in found.usable.rows}

    for found in answers(2, work):
        assert found
        for row in whole:
            if row.name in found:
                total, error = found[row.name]
                assert abs(total - row.total) <= error + row.error


@pytest.mark.parametrize("lonely", [0, 2])
def test_a_rank_that_fails_alone_ends_the_job(lonely: int, monkeypatch, capfd) -> None:
    monkeypatch.setattr(ranks_module, "PATIENCE", 0.2)

    class Failing(RankRows):
        products = 0

        def __matmul__(self, x: Any) -> Any:
            self.products += 1
            if self.products == 9 and self.backend.ranks.number == lonely:
                raise MemoryError("no room for a ninth product")
            return super().__matmul__(x)

    def work(comm: Any) -> Any:
        return memory_curve((Failing(uneven(comm), comm), C), noise=0.1)

    found = on_ranks(3, work)
    assert all(isinstance(each, Aborted) for each in found)
    said = f"rank {lonely} of 3 failed alone, and the job is ended: no room for a ninth product"
    assert said in capfd.readouterr().err
