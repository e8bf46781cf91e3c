"""Sizes that cannot fit are refused before the work begins, and what fits is not."""

import sys
import time

import numpy as np
import pytest
from scipy import sparse

from command import ended, failed, succeeded
from memcurve import (
    LinearNetwork,
    StateNoise,
    UnstableNetworkError,
    ensembles,
    fisher_curve,
    forecasting_curve,
    input_normal,
    load_matrix,
    load_network,
    memory_curve,
    noise_profile,
    rank,
    structural_rank,
)
from memcurve.core import limits
from memcurve.core.limits import TooLargeError, require_room_for_array
from memcurve.memory.methods import METHODS
from refusals import refuses
from repository import TESTS

SMALL = ensembles.normal(20, seed=1)


@pytest.fixture
def room(monkeypatch):
    """Let so many bytes be all there are, and look at them for small sizes too."""

    def leave(count: float | None) -> None:
        monkeypatch.setattr(limits, "_ALWAYS_THERE", -1)
        monkeypatch.setattr(limits, "available_memory", lambda: None if count is None else count)

    return leave


def arrays(count: float, states: int = 20) -> float:
    return count * 8 * states**2


@pytest.mark.parametrize(
    ("ask", "argument"),
    [(lambda: memory_curve(SMALL, method="montecarlo", seed=1), "`samples`"), *((ask, "`network`")
      for ask in (
        lambda: memory_curve(SMALL),
        lambda: memory_curve(SMALL, noise=1e-3),
        lambda: memory_curve(SMALL, noise=StateNoise(1e-3)),
        lambda: memory_curve(SMALL, input="ar:0.9"),
        lambda: memory_curve(SMALL.replace(readout=[0, 1])),
        lambda: memory_curve(SMALL.replace(C=np.eye(20, 2))),
        *(lambda name=name: memory_curve(SMALL, method=name, seed=1)
          for name in METHODS if name not in ("exact", "certified", "montecarlo")),
        lambda: noise_profile(SMALL),
        lambda: forecasting_curve(SMALL, "ar:0.9"),
        lambda: fisher_curve(SMALL),
        lambda: input_normal(SMALL),
    ))],
)  # fmt: skip
def test_every_question_is_refused_without_room(room, ask, argument: str) -> None:
    room(arrays(2))
    refuses(TooLargeError, (argument, "20"), ask)
    room(None)  # a system that does not tell
    ask()
    room(arrays(2000))
    ask()


def test_certified_has_a_limit_of_its_own(room) -> None:
    network = ensembles.normal(5, seed=1)
    room(0)
    assert memory_curve(network, method="certified").total == 5


def test_ensembles_that_cannot_fit_say_so(room) -> None:
    room(1e6)
    for make in (ensembles.cyclic, ensembles.delay_line, ensembles.hippo_legs):
        refuses(TooLargeError, ("`size`", "1000"), make, 1000)
    refuses(TooLargeError, ("`size`", "1000"), ensembles.sparse_normal, 1000, seed=1)
    refuses(TooLargeError, ("`size`", "1000"), ensembles.permutation, cycles=[500, 500], seed=1)


def test_only_reachable_states_count(room) -> None:
    A = np.zeros((40, 40))
    A[:20, :20] = SMALL.A
    network = LinearNetwork(A, np.r_[SMALL.C, np.zeros(20)])
    for same in (network, network.replace(A=sparse.csr_array(A))):
        room(arrays(12))
        assert memory_curve(same, 30).total == 20
        room(arrays(3.9))
        refuses(TooLargeError, "got 20 states", memory_curve, same, 30)
        room(arrays(13.5))
        assert memory_curve(same, 30, noise=1e-3).total < 20
        room(arrays(13.5))  # which state noise enters everywhere
        refuses(TooLargeError, "got 40 states", memory_curve, same, 30, noise=StateNoise(1e-3))


def test_parts_without_connection_count_one_by_one(room) -> None:
    """As the exact method takes them; its closer look takes all at once."""
    values = np.linspace(0.1, 0.9, 30)
    network = LinearNetwork(sparse.diags_array(values).tocsr(), np.ones(30))
    room(arrays(12, 30))
    everything = memory_curve(network, 50)
    room(arrays(4, 1))
    assert np.array_equal(memory_curve(network, 50).values, everything.values)
    room(arrays(3.9, 1))
    refuses(TooLargeError, "got 1 states", memory_curve, network, 50)


def test_the_closer_look_is_refused_too(room) -> None:
    A = SMALL.A.copy()
    A[:, :7] = 0  # zero is an eigenvalue many times over
    network = LinearNetwork(A, SMALL.C)
    assert memory_curve(network, 50).rank == 14
    room(arrays(8))
    refuses(TooLargeError, "got 20 states", memory_curve, network.replace(), 50)
    assert memory_curve(SMALL, 50).rank == 20


def test_wide_arrays_count(room) -> None:
    room(arrays(4 + 3 * 2))
    memory_curve(SMALL, 40, method="naive")
    refuses(TooLargeError, "", memory_curve, SMALL, 60, method="naive")
    room(arrays(4 + 4))
    memory_curve(SMALL, method="osm", truncation=20)
    refuses(TooLargeError, "", memory_curve, SMALL, method="osm")


def test_refusals_tell_what_would_fit_and_what_can_be_asked(room) -> None:
    """Half of the states take a quarter of the memory."""
    size, rng = 200, np.random.default_rng(1)
    A = sparse.csr_array(sparse.random_array((size, size), density=0.02, random_state=rng) * 0.1)
    network = LinearNetwork(A, rng.standard_normal(size))
    room(arrays(limits.WORK["noise"].arrays, size // 2))
    refuses(TooLargeError, ("100", "process noise"), memory_curve, network, noise=StateNoise(0.1))
    room(arrays(limits.WORK["Fisher"].arrays, size // 2))
    refuses(TooLargeError, ("100", "`noise=1e-3`"), fisher_curve, network)
    room(arrays(limits.WORK["exact"].arrays, size // 2))
    refuses(TooLargeError, "memcurve.rank and memcurve.structural_rank", memory_curve, network)
    assert rank(network) == structural_rank(network).rank


def test_sparse_networks_under_noise_are_refused_for_what_they_do_only(room) -> None:
    """Not for dense matrices that nobody needs: powers that grow, say."""
    size = 6000
    nodes = np.arange(size)
    ring = sparse.csr_array((np.ones(size), ((nodes + 1) % size, nodes)))
    ring = LinearNetwork(0.5 * (ring + 0.1 * ring @ ring), nodes == 0)
    room(arrays(2, size))
    assert memory_curve(ring, noise=0.1).total_error < 1e-9
    with pytest.raises(UnstableNetworkError, match=r" 1\.\d+ "):
        memory_curve(ring.replace(A=2 * ring.A), noise=0.1)


def test_vectors_that_do_not_fit_are_told_where_they_would(room) -> None:
    room(1e9)
    limits.require_room_for_columns(10**6, 60, "a basis", sharing=2)
    with pytest.raises(TooLargeError, match=r"2 ranks.*1\.3 GB"):
        limits.require_room_for_columns(10**6, 80, "a basis", sharing=2)
    with pytest.raises(TooLargeError, match=r"9 machines.*-n 9"):
        limits.require_room_for_columns(10**7, 100, "a basis")
    room(None)
    limits.require_room_for_columns(10**12, 100, "a basis")


def test_a_basis_that_will_not_fit_is_refused_once_it_is_foreseen(room) -> None:
    size, rng = 16_000, np.random.default_rng(1)
    columns, weights = rng.integers(0, size, 3 * size), rng.standard_normal(3 * size)
    ends = np.arange(0, 3 * size + 1, 3)
    A = sparse.csr_array((weights * 0.9 / np.sqrt(3), columns, ends), shape=(size, size))
    room(8 * size * 70)  # as many as are taken at a time
    with pytest.raises(TooLargeError, match=r" [1-9]\d\d .* -n \d+ memcurve"):
        memory_curve((sparse.linalg.aslinearoperator(A), rng.standard_normal(size)), noise=1e-3)


def test_limits_of_containers(tmp_path, monkeypatch) -> None:
    """The tightest of the groups counts, less what is in use, but for cached files."""
    inner = tmp_path / "jobs" / "mine"
    inner.mkdir(parents=True)
    for folder, limit, used in ((tmp_path / "jobs", 9_000, 1_000), (inner, 6_000, 5_000)):
        (folder / "memory.max").write_text(f"{limit}\n")
        (folder / "memory.current").write_text(f"{used}\n")
        (folder / "memory.stat").write_text("anon 1\ninactive_file 300\n")
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "cgroup").write_text("0::/jobs/mine\n")
    places = {"/sys/fs/cgroup": tmp_path, "/proc/self/cgroup": tmp_path / "cgroup"}
    monkeypatch.setattr(limits, "Path", lambda place: places.get(place, tmp_path / "none"))
    assert list(limits._control_group_limits()) == [1_300, 8_300]
    assert limits.available_memory() == 1_300


def test_arrays_are_refused_by_their_headers(room, tmp_path) -> None:
    """Also where the file holds no more than its header: nothing is read."""
    with (tmp_path / "A.npy").open("wb") as stream:
        header = {"descr": "<f8", "fortran_order": False, "shape": (100_000, 100_000)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.truncate(2**30)  # sparse on disk
    room(24e9)
    for read in (load_matrix, load_network):
        refuses(TooLargeError, ("A.npy", "100,000 × 100,000"), read, tmp_path / "A.npy")
    np.savez(tmp_path / "net.npz", A=np.eye(50) / 2, C=np.ones(50), unused=np.zeros((200, 200)))
    assert load_network(tmp_path / "net.npz").size == 50
    room(3e4)
    refuses(TooLargeError, ("A in", "net.npz is too large"), load_network, tmp_path / "net.npz")
    room(1e5)  # what is not asked for need not fit
    assert load_network(tmp_path / "net.npz").size == 50
    with pytest.raises(TooLargeError, match=r"a table.*3 × 100,000,000"):
        require_room_for_array((3, 100_000_000), "a table", itemsize=4)


def test_the_command_says_so_in_one_line(command, room) -> None:
    room(24e9)
    assert "a network of --size 100000 is too large" in failed(command("curve", "--size", 100_000))
    room(2.5e4)
    text = failed(command("curve", "--size", 30))
    assert "`network` must fit into memory" in text
    assert len(text.splitlines()) == 1


def large_network(reached: int | None = None) -> LinearNetwork:
    """A network of 100,000 nodes, stored sparse; ``reached``: only so many driven by the input."""
    size = 100_000
    rng = np.random.default_rng(1)
    if reached is None:
        A = sparse.random_array((size, size), density=1e-4, random_state=rng, format="csr")
        return LinearNetwork(0.1 * A, rng.standard_normal(size))
    small = ensembles.normal(reached, seed=1)
    rest = sparse.diags_array(np.full(size - reached, 0.5))
    A = sparse.block_diag([sparse.csr_array(small.A), rest], format="csr")
    return LinearNetwork(A, np.r_[small.C, np.zeros(size - reached)])


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory as Linux tells it")
def test_a_large_network_that_cannot_fit() -> None:
    """For real: refused within seconds, in a process that stays small."""
    if (limits.available_memory() or 0) > 300e9 or limits.available_memory() is None:
        pytest.skip("this machine has the memory, or does not tell")
    code = (
        "import re, runpy, memcurve\n"
        f"network = runpy.run_path({__file__!r})['large_network']()\n"
        "try: memcurve.memory_curve(network)\n"
        "except memcurve.core.limits.TooLargeError as error: print(error)\n"
        # not ru_maxrss, which a process inherits from whoever started it
        "status = open('/proc/self/status').read()\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) // 1024)"
    )
    start = time.perf_counter()
    command = [sys.executable, "-c", f"import memcurve.core.limits\n{code}"]
    text, peak = succeeded(ended(command, cwd=TESTS)).out.splitlines()
    assert "got 100,000 states" in text
    assert int(peak) < 1500  # MiB
    assert time.perf_counter() - start < 30


def test_a_large_network_of_which_few_nodes_are_reached() -> None:
    curve = memory_curve(large_network(reached=50), 100)
    assert curve.total == 50
    assert curve.diagnostics["reachable"] == 50
    assert memory_curve(large_network(reached=50), 10, input="ar:0.9").rank == 50
