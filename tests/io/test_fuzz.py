"""No file ends a reader in anything but an answer or an error that names it, nor runs code."""

import gzip
import json
import os
import pickle
import signal
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import io

import mutated
from command import ended
from memcurve.io import NETWORK_FORMATS, RECORDING_FORMATS
from memcurve.io.tensors import CHECKPOINTS
from refusals import refuses
from repository import ROOT
from written import Payload, write_hdf5, write_safetensors

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of a process are those of Linux")


def fuzz(folder: Path, count: int, formats: str = "") -> dict[str, dict[str, int]]:
    """What came of ``count`` mutants of each format: a table of outcomes, all of them clear."""
    places = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    command = [sys.executable, mutated.__file__, str(folder), str(count), formats]
    code, out, err = ended(command, env=os.environ | {"PYTHONPATH": places}, timeout=None)
    if code:
        last = max(folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        reason = signal.Signals(-code).name if code < 0 else err
        pytest.fail(f"reading {last} ended the process: {reason}")
    rows = [json.loads(line) for line in out.splitlines()]
    lines = [f"{'format':28}" + "".join(f"{name:>11}" for name in (*mutated.OUTCOMES, "other"))]
    found, others = {}, {}
    for name, outcomes in ((row["format"], row["outcomes"]) for row in rows):
        numbers = found[name] = {kind: outcomes.pop(kind, 0) for kind in mutated.OUTCOMES}
        counts = (*numbers.values(), sum(outcomes.values()))
        lines.append(f"{name:28}" + "".join(f"{number:11,}" for number in counts))
        others |= {name: outcomes} if outcomes else {}
    print("\n" + "\n".join(lines))
    assert not others, json.dumps(others, indent=1)
    return found


@linux
def test_mutated_files(tmp_path) -> None:
    for name, outcomes in fuzz(tmp_path, 25).items():
        assert 0 < outcomes["read"] < 25, name


@linux
@pytest.mark.slow
@pytest.mark.parametrize("part", range(6))
def test_many_mutated_files(tmp_path, part: int, held) -> None:
    for name, outcomes in fuzz(tmp_path, 10_000, ",".join([*mutated.seeds()][part::6])).items():
        held(f"{name}: files read", outcomes["read"], at_least=1, at_most=9999, draws=10_000)


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_no_reader_runs_a_pickle(tmp_path, protocol: int) -> None:
    """Neither bare, nor as an array of objects, nor within an archive, nor as text in a format."""
    victim = tmp_path / "victim"
    attack = pickle.dumps(Payload(victim), protocol)
    objects = np.array([[Payload(victim)]], dtype=object)
    files: list[Path] = []

    def written(name: str, write: Callable[[Path], Any]) -> None:
        write(tmp_path / name)
        files.append(tmp_path / name)

    for suffix in {*NETWORK_FORMATS, *RECORDING_FORMATS} - {*CHECKPOINTS}:
        packed = gzip.compress(attack) if suffix.endswith(".gz") else attack
        written(f"raw{suffix}", lambda path, content=packed: path.write_bytes(content))
    written("objects.npy", lambda path: np.save(path, objects))
    written("objects.npz", lambda path: np.savez(path, A=objects, C=objects, X=objects, z=objects))
    texts = {"A": objects.astype(str), "labels": objects, "notes": objects}
    written("texts.npz", lambda path: np.savez(path, C=[1.0], **texts))
    written("member.npz", lambda path: _archive(path, attack))
    raw = np.frombuffer(attack, np.uint8)
    written("bytes.mat", lambda path: io.savemat(path, {"A": raw, "C": raw, "X": objects.shape}))
    written("bytes.h5", lambda path: write_hdf5(path, X=np.void(attack), z=np.void(attack)))
    written("bytes.safetensors", lambda path: write_safetensors(path, A=raw, C=raw))
    written("type.parquet", lambda path: _with_pickled_type(path, attack))
    for file in files:
        for read in (mutated.network, mutated.matrix, mutated.recording, mutated.series):
            refuses(mutated.CLEAR, (), read, file)
    assert not victim.exists()
    pickle.loads(attack)
    assert victim.exists()  # the attack works on who loads it


def _archive(path: Path, attack: bytes) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name in "ACXz":
            archive.writestr(f"{name}.npy", attack)


def _with_pickled_type(path: Path, attack: bytes) -> None:
    """A column whose type is a pickle, which pyarrow ran before version 14.0.1 (CVE-2023-47248)."""
    kind = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": attack,
    }
    field = pa.field("a", pa.binary(), metadata=kind)
    table = pa.table([pa.array([b"1"])], schema=pa.schema([field]))
    parquet.write_table(table, path)


@pytest.mark.parametrize("packed", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_unpacks_without_bound_is_refused(tmp_path, packed: int) -> None:
    """A reader of zip files unpacks such members by blocks, whatever comes out of one."""
    file = tmp_path / "bomb.npz"
    with zipfile.ZipFile(file, "w", packed) as archive:
        for name in "ACXz":
            with archive.open(f"{name}.npy", "w") as member:
                np.save(member, np.zeros((5, 5)))
    for read in (mutated.network, mutated.recording):
        refuses(ValueError, "packed", read, file)


@linux
def test_a_pipe_is_not_waited_for(tmp_path) -> None:
    for suffix in (".npz", ".csv"):
        os.mkfifo(tmp_path / f"pipe{suffix}")
        for read in (mutated.network, mutated.recording):
            refuses(ValueError, "pipe", read, tmp_path / f"pipe{suffix}")
