"""``mpiexec -n K memcurve curve … --mpi``: one answer, one voice, and an end in any case."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import memcurve
from command import Ended, ended, mpiexec, needs_mpi, succeeded

SIZE = 6000
#: A rank that goes wrong in its 20th product, by itself.
LONELY = """
import os, signal, sys
import memcurve
from mpi4py import MPI

class Failing(memcurve.RankRows):
    products = 0

    def __matmul__(self, x):
        self.products += 1
        if self.products == 20 and MPI.COMM_WORLD.rank == 1:
            if sys.argv[2] == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError("a row went missing")
        return super().__matmul__(x)

whole = memcurve.load_network(sys.argv[1])
half = whole.size // 2
mine = whole.A[:half] if MPI.COMM_WORLD.rank == 0 else whole.A[half:]
print(memcurve.memory_curve((Failing(mine), whole.C), noise=0.3).total)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    rng = np.random.default_rng(3)
    columns, weights = rng.integers(0, SIZE, 3 * SIZE), rng.standard_normal(3 * SIZE)
    ends = np.arange(0, 3 * SIZE + 1, 3)
    A = csr_array((weights * 0.7 / np.sqrt(3), columns, ends), shape=(SIZE, SIZE))
    path = tmp_path_factory.mktemp("ranks") / "network.npz"
    mask = rng.standard_normal(SIZE) / np.sqrt(SIZE)
    memcurve.save_network(memcurve.LinearNetwork(A, mask), path)
    return path


def on_ranks(count: int, *arguments: object) -> Ended:
    return ended([*mpiexec(count), sys.executable, *map(str, arguments)])


@needs_mpi
def test_three_ranks_answer_as_one_process(file: Path, tmp_path) -> None:
    save = tmp_path / "curve.json"
    asked = ("-m", "memcurve", "curve", file, "--noise", "0.3", "--mpi")
    done = succeeded(on_ranks(3, *asked, "--json", "--save", save))
    found, known = (
        json.loads(done.out),
        memcurve.memory_curve(memcurve.load_network(file), noise=0.3),
    )
    assert json.loads(save.read_text()) == found
    within = found["total_error"] + known.total_error
    assert abs(found["total"] - known.total) <= within < 1e-8
    values = np.array(found["values"])[: len(known)]
    assert np.abs(values - known.values[: len(values)]).max() <= known.error.max() + 1e-9
    # what all ranks find wrong is told once
    missing = on_ranks(2, "-m", "memcurve", "curve", tmp_path / "none.npz", "--noise", "1", "--mpi")
    assert missing.code == 1
    assert missing.err.count("memcurve: error: ") == missing.err.count("no such file") == 1


@needs_mpi
@pytest.mark.parametrize("how", ["fails", pytest.param("dies", marks=pytest.mark.slow)])
def test_a_rank_that_goes_wrong_ends_the_job(how: str, file: Path, tmp_path) -> None:
    script = tmp_path / "lonely.py"
    script.write_text(LONELY)
    done = on_ranks(2, script, file, how)
    assert done.code != 0
    assert done.out == ""
    told = "rank 1 of 2 failed alone, and the job is ended: a row went missing"
    assert told in done.err or how == "dies"
