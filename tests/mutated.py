"""Mutated valid files for every reader, read in a process of its own that has little memory.

``python mutated.py FOLDER COUNT FORMAT,…`` reads COUNT mutants of each format (of all, where none
is named), and prints a line of JSON each: how many of them were read, refused, or refused by their
size, and what else happened. The file that ended it, if one did, is then the last in the folder.
"""

import gzip
import io
import json
import re
import signal
import sys
import tempfile
import tomllib
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import scipy.io
from pyarrow import feather
from pyarrow import table as arrow_table
from scipy import sparse

import memcurve
from memcurve import inputs
from memcurve.core import limits
from memcurve.io import load_matrix, load_network, open_recording, save_network
from written import write_checkpoint, write_hdf5, write_mat73, write_parquet, write_safetensors

#: Bytes that a reader may take beyond what it needs to be there: what is refused by its size is
#: refused from 256 MB on here, and a reader holds some blocks besides.
ROOM = 2**30
#: Seconds of CPU time after which reading a file of a kilobyte hangs.
LONGEST = 20
OUTCOMES = ("read", "refused", "too large")
#: Formats whose pages tell their own size, at most 2 GB: it is asked for before they are unpacked,
#: and where it cannot be had the error says so.
PAGED = (".parquet", ".feather")
#: Errors that tell a user what is wrong.
CLEAR = (ValueError, TypeError, OSError, MemoryError, ModuleNotFoundError)

RNG = np.random.default_rng(21)
A = np.round(RNG.standard_normal((4, 4)) / 3, 3)
C = np.round(RNG.standard_normal((4, 2)), 3)
WIRED = sparse.csr_array(np.where(np.abs(A) > 0.2, A, 0.0))
X, Z = RNG.standard_normal((12, 3)), RNG.standard_normal(12)
EDGES = [(0, 1, 0.5), (1, 2, -2.0), (2, 0, 1e-3), (3, 3, 4.0), (3, 1, 1.0), (2, 3, 7.25)]

Reader = Callable[[Path], Any]


def network(path: Path) -> None:
    _sound(load_network(path))


def matrix(path: Path) -> None:
    load_matrix(path)
    _sound(load_network(path, mask=np.ones(load_matrix(path).shape[0])))


def mask(path: Path) -> None:
    _sound(load_network(path.parent / "fixed.npy", mask=path))


def recording(path: Path) -> None:
    source = open_recording(path)
    chunks = list(source.chunks(5))
    assert sum(len(x) for x, _ in chunks) == source.length > 0
    assert all(x.dtype == z.dtype == float and len(x) == len(z) for x, z in chunks)


def states(path: Path) -> None:
    source = open_recording(path, Z)
    assert np.concatenate([x for x, _ in source.chunks(5)]).shape == (12, source.columns)


def series(path: Path) -> None:
    inputs.parse(f"series:{path}")


def study(path: Path) -> None:
    found = memcurve.Study.load(path)
    assert found.count > 0
    memcurve.Study.load(path, quick="quick" in tomllib.loads(found.text))


def _sound(found: memcurve.LinearNetwork) -> None:
    dense = found.A.toarray() if found.is_sparse else found.A
    assert dense.shape == (found.size, found.size)
    assert found.C.shape[0] == found.size
    assert np.isfinite(dense).all()
    assert np.isfinite(found.C).all()


def _result(kind: Any) -> Reader:
    return lambda path: kind.load(path).to_json() and None


def _saved(suffix: str, write: Callable[[Path], Any]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"seed{suffix}"
        write(path)
        return path.read_bytes()


def _npz(**arrays: Any) -> bytes:
    return _saved(".npz", lambda path: np.savez_compressed(path, **arrays))


def _market(array: Any, **options: Any) -> bytes:
    return _saved(".mtx", lambda path: scipy.io.mmwrite(path, array, **options))


def _text(rows: Any, separator: str = ",", header: str = "") -> bytes:
    lines = [header] * bool(header) + [separator.join(map(str, row)) for row in rows]
    return "\n".join([*lines, ""]).encode()


def seeds() -> dict[str, tuple[str, bytes, Reader]]:
    """Endings of files, their contents and readers, by a name of the format."""
    own = memcurve.LinearNetwork(WIRED, C[:, 0], labels=["a", "b", "c", "d"], readout=[0, 2])
    columns = np.column_stack([X, Z]).tolist()
    edges = _text(EDGES, " ")
    named = _text([(f"n{a}", f"n{b}", w) for a, b, w in EDGES], ",", "source,target,weight")
    curve = memcurve.memory_curve(memcurve.LinearNetwork(0.5 * A, C[:, 0]))
    audit = memcurve.audit(memcurve.LinearNetwork(0.5 * A, C[:, 0]), claimed=2)
    table = {name: [row[k] for row in columns] for k, name in enumerate("abcz")}
    heads = enumerate(("pre", "post", "weight"))
    wires = arrow_table({name: [row[k] for row in EDGES] for k, name in heads})
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(EDGES)
    graphml = _saved(".graphml", lambda p: nx.write_graphml_xml(graph, p))
    gexf = _saved(".gexf", lambda p: nx.write_gexf(graph, p)) + b"<!-- what may change -->" * 40
    shipped = sorted(
        (Path(memcurve.__file__).parent / "studies" / "sweeping" / "builtin").glob("*.toml")
    )
    found: dict[str, tuple[str, bytes, Reader]] = {
        "npy": (".npy", _saved(".npy", lambda p: np.save(p, np.hstack([A, C]))), network),
        "npz": (".npz", _npz(A=A, C=C, shift=C[:, 0]), network),
        "npz of ours": (".npz", _saved(".npz", lambda p: save_network(own, p)), network),
        "npz of scipy": (".npz", _saved(".npz", lambda p: sparse.save_npz(p, WIRED)), matrix),
        "csv": (".csv", _text(np.hstack([A, C]).tolist()), network),
        "mtx listed": (".mtx", _market(WIRED.tocoo()), matrix),
        "mtx in full": (".mtx", _market(A + A.T, symmetry="symmetric"), matrix),
        "edges": (".edges", edges, matrix),
        "edges in txt": (".txt", edges, matrix),
        "edges in csv": (".csv", named, matrix),
        "edges in csv.gz": (".csv.gz", gzip.compress(named), matrix),
        "mask in npy": (".npy", _saved(".npy", lambda p: np.save(p, C)), mask),
        "mask in csv": (".csv", _text(C.tolist()), mask),
        "nodes in txt.gz": (".txt.gz", gzip.compress(b"0 1.5\n2 -1\n3 0.25\n"), mask),
        "recording npy": (".npy", _saved(".npy", lambda p: np.save(p, X)), states),
        "recording npz": (".npz", _npz(X=X, z=Z), recording),
        "recording csv": (".csv", _text(columns, ",", "a,b,c,z"), recording),
        "recording txt": (".txt", _text(columns, "\t", "# a\tb\tc\tz"), recording),
        "recording csv.gz": (".csv.gz", gzip.compress(_text(columns, ",", "a,b,c,z")), recording),
        "series npy": (".npy", _saved(".npy", lambda p: np.save(p, Z)), series),
        "series csv": (".csv", _text([[z] for z in Z.tolist()]), series),
        "study": (".toml", shipped[0].read_bytes(), study),
        "curve": (".json", curve.to_json().encode(), _result(memcurve.MemoryCurve)),
        "audit": (".json", audit.to_json().encode(), _result(memcurve.Audit)),
        "mat 7.3": (".mat", _saved(".mat", lambda p: write_mat73(p, A=WIRED, C=C)), network),
        "recording h5": (
            ".h5", _saved(".h5", lambda p: write_hdf5(p, chunks=(5, 2), X=X, z=Z)), recording,
        ),
        "safetensors": (
            ".safetensors", _saved(".safetensors", lambda p: write_safetensors(p, A=A, C=C)),
            network,
        ),
        "recording parquet": (
            ".parquet", _saved(".parquet", lambda p: write_parquet(p, table)), recording,
        ),
        **{f"edges in feather {way}": (
            ".feather", _saved(".feather", lambda p, w=way: feather.write_feather(wires, p, w)),
            matrix,
        ) for way in ("lz4", "uncompressed")},
        "recording feather": (
            ".feather", _saved(".feather", lambda p: feather.write_feather(arrow_table(table), p)),
            recording,
        ),
        "graphml": (".graphml", graphml, matrix),
        "gexf": (".gexf", gexf, matrix),
        "gml": (".gml", _saved(".gml", lambda p: nx.write_gml(graph, p)), matrix),
        "graphml.gz": (".graphml.gz", gzip.compress(graphml), matrix),
    }  # fmt: skip
    if find_spec("torch"):
        state = _saved(".pt", lambda p: write_checkpoint(p, A=A, C=C))
        found["checkpoint"] = (".pt", state, network)
    return found


# ---- mutations

_NUMBERS = [b"0", b"-1", b"7", b"1e400", b"nan", b"inf", b"4294967295", b"9" * 30, b"9" * 5000, b""]
_HOSTILE = [
    b"[" * 3000, b"{" * 3000, b'"', b"'", b"\0", b"\xff", b"\r", b"\n", b"#", b"%", b",", b"\t",
    b"=", b"[[a]]\n", b"nan", b"1_0", b"1j", b"\x80\x04", b"PK\x03\x04", "ä".encode(), b"<a>",
    b"\xef\xbb\xbf", "\u0661\u00b2\u2028".encode(), b"]", b"</graph>", b"true", b"null",
    b"1 " * 900,
]  # fmt: skip
_ENDS = [0, 1, 2**7, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1]
_TOKEN = re.compile(rb"[\w.+-]+")


def _flipped(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        changed[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: int(rng.integers(1, len(data) + 1))]


def _moved(data: bytes, rng: np.random.Generator) -> bytes:
    """A block deleted, doubled or moved."""
    a, b, c = sorted(map(int, rng.integers(0, len(data) + 1, 3)))
    parts = (data[:a], data[a:b], data[b:c], data[c:])
    return b"".join(parts[k] for k in ((0, 2, 3), (0, 1, 1, 2, 3), (0, 2, 1, 3))[rng.integers(3)])


def _counted(data: bytes, rng: np.random.Generator) -> bytes:
    """Another size, where binary files may have one."""
    size = int(rng.choice([1, 2, 4, 8]))
    number = _ENDS[rng.integers(len(_ENDS))] % 256**size
    at = int(rng.integers(len(data)))
    return data[:at] + number.to_bytes(size, rng.choice(["little", "big"])) + data[at + size :]


def _token(data: bytes, rng: np.random.Generator) -> bytes:
    """Another number or word in place of one, or two of them exchanged."""
    words = [found.span() for found in _TOKEN.finditer(data)]
    if len(words) < 2:
        return _flipped(data, rng)
    (a, b), (c, d) = (words[k] for k in sorted(rng.choice(len(words), 2, replace=False)))
    if rng.integers(2):
        return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]
    return data[:a] + _NUMBERS[rng.integers(len(_NUMBERS))] + data[b:]


def _inserted(data: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(data) + 1))
    return data[:at] + _HOSTILE[rng.integers(len(_HOSTILE))] + data[at:]


def _encoded(data: bytes, rng: np.random.Generator) -> bytes:
    return data.decode("latin-1").encode(str(rng.choice(["utf-8", "utf-16", "utf-32", "utf-7"])))


MUTATIONS = (_flipped, _cut, _moved, _counted, _token, _inserted)


def mutant(suffix: str, data: bytes, rng: np.random.Generator) -> bytes:
    """A valid file with one to three changes; of packed ones also what is inside."""
    if suffix.endswith(".gz") and rng.integers(3):
        return gzip.compress(_changed(gzip.decompress(data), rng), 1)
    if suffix in (".npz", ".pt") and rng.integers(3):
        return _repacked(data, rng)
    return _changed(data, rng)


def _changed(data: bytes, rng: np.random.Generator) -> bytes:
    if not rng.integers(40):
        return _encoded(data, rng)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        data = MUTATIONS[rng.integers(len(MUTATIONS))](data, rng) or b"\n"
    return data


def _repacked(data: bytes, rng: np.random.Generator) -> bytes:
    """An archive with right checksums, one of whose members is changed, left out or doubled."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as changed:
        names = archive.namelist()
        chosen = int(rng.integers(len(names)))
        for k, name in enumerate(names):
            content = archive.read(name)
            if k == chosen:
                kind = int(rng.integers(12))
                content = content if kind < 2 else _changed(content, rng)
                name = names[rng.integers(len(names))] if kind == 0 else name
                if kind == 1:
                    continue
            if name not in changed.namelist():
                changed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


# ---- the process that reads them


def outcome(read: Reader, path: Path) -> str:
    """What comes of a file: "read", "refused", "too large", or else what should not happen."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(path)
    except CLEAR as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        own = Path(where.filename).is_relative_to(Path(memcurve.__file__).parent)
        named = path.stem in str(error)
        if own and named and not isinstance(error, MemoryError):
            return "refused"
        if own and named and (isinstance(error, limits.TooLargeError) or path.suffix in PAGED):
            return "too large"
        return _shown(error)
    except Exception as error:
        return _shown(error)
    return "read"


def _shown(error: BaseException) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {where.filename}:{where.lineno}: {str(error)[:200]}"


def _refuse_pickles(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "pickle.find_class":
        raise AssertionError(f"a pickle is run: {arguments}")


def main(place: str, count: str, formats: str = "") -> Iterator[dict[str, Any]]:
    """Go through the formats."""
    import resource  # where there are files of /proc

    limits.available_memory = lambda: 0  # more than 256 MB are never there
    folder, known = Path(place), seeds()
    np.save(folder / "fixed.npy", A)
    names = formats.split(",") if formats else list(known)
    for name in names:  # imports what they need, and all is well
        suffix, data, read = known[name]
        path = folder / f"seed{suffix}"
        path.write_bytes(data)
        assert outcome(read, path) == "read", name
    sys.addaudithook(_refuse_pickles)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))

    def timed(read: Reader, path: Path, data: bytes) -> str:
        path.unlink(missing_ok=True)  # written over, it would wait for the disk
        path.write_bytes(data)
        signal.setitimer(signal.ITIMER_PROF, LONGEST)  # ends the process, in C too
        try:
            return outcome(read, path)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    for name in names:
        suffix, data, read = known[name]
        path, found = folder / f"mutant{suffix}", Counter[str]()
        for number in range(int(count)):
            rng = np.random.default_rng([sum(name.encode()), number])
            came = timed(read, path, mutant(suffix, data, rng))
            found[came if came in OUTCOMES else f"{number}: {came}"] += 1
        yield {"format": name, "outcomes": found}


if __name__ == "__main__":
    for line in main(*sys.argv[1:]):
        print(json.dumps(line), flush=True)
