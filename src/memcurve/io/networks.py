"""Files of other programs → LinearNetwork, and LinearNetwork → .npz.

Which of a file's arrays are A and C follows from their names; whether a text is a matrix or lists
edges, from its first lines.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import Seed, require_number
from memcurve.core.limits import TooLargeError, require_room_for_states
from memcurve.core.notes import Note, counted, notes_of
from memcurve.core.result import replacing
from memcurve.io.arrays import (
    Archive,
    Array,
    Graph,
    MissingMaskError,
    NetworkFileError,
    Opened,
    Opener,
    ending_of,
    opened,
    readable,
    reading,
    stem_of,
)
from memcurve.io.arrow import ARROW
from memcurve.io.edges import LISTS, EdgeOptions, counts_nodes, open_text, read_graph, read_table
from memcurve.io.graphs import GRAPHS
from memcurve.io.market import open_market
from memcurve.io.matlab import open_mat
from memcurve.io.nodes import NodeTable, listed_nodes, node_mask, node_place
from memcurve.io.npy import SPARSE_PARTS, open_npy, open_npz
from memcurve.io.tensors import CHECKPOINTS, open_checkpoint, open_safetensors
from memcurve.io.text import Text, open_matrix
from memcurve.network import LinearNetwork
from memcurve.network.diagonal import diagonal_network, lru_mask, lru_poles
from memcurve.network.masks import MASKS, make
from memcurve.network.nonlinear import leaky_pair
from memcurve.network.ranks import RankRows, Ranks
from memcurve.network.scaling import scale_to_spectral_radius

#: How to open files of one array.
SINGLE: dict[str, Opener] = {".npy": open_npy, ".csv": open_matrix, ".mtx": open_market}
#: Text, plain or packed: a matrix or edges, and of a mask the nodes that are driven.
TEXT = [end + gz for gz in ("", ".gz") for end in (".csv", ".tsv", ".txt", *LISTS)]
#: How to open each ending of edges.
_EDGES: dict[str, Callable[[Path, EdgeOptions], Opened | Graph]] = {
    **dict.fromkeys(TEXT, open_text),
    **dict.fromkeys(ARROW, read_table),
    **dict.fromkeys([end + gz for gz in ("", ".gz") for end in GRAPHS], read_graph),
}
#: How to open each ending that networks come with.
NETWORK_FORMATS: dict[str, Callable[..., Opened | Graph]] = {
    ".npz": open_npz,
    ".mat": open_mat,
    ".safetensors": open_safetensors,
    **SINGLE,
    **_EDGES,
    **dict.fromkeys(CHECKPOINTS, open_checkpoint),
}

#: Connectivity and mask, in the order they are looked for.
_RESERVOIRS = ("W", "W_res", "Wres", "W_rec")
_PAIRS = (("A", "C"), *((W, Win) for W in _RESERVOIRS for Win in ("Win", "W_in")))
_LEAKS = ("lr", "leak", "leak_rate", "leaking_rate")
_BIASES = ("bias",)
_POLES = ("eigenvalues", "lambda", "Lambda")
_STEPS = ("step", "Delta", "delta", "dt")
_LRU = ("nu_log", "theta_log", "B_re", "B_im")
_HIDDEN, _INPUT = "weight_hh_l0", "weight_ih_l0"
#: Further parts of a network that are read from a .npz file, where they are there.
_EXTRAS = ("shift", "readout")
_TEXTS = ("labels", "notes")
_REPLACED = "the file's own input mask, {}, is left out for the one that is given"

Parts = dict[str, Any]


def load_network(
    path: str | os.PathLike[str],
    *,
    matrix: str | None = None,
    mask: str | os.PathLike[str] | ArrayLike | Mapping[str, float] | None = None,
    seed: Seed | None = None,
    readout: str | Sequence[str] | Sequence[int] | None = None,
    edges: bool | None = None,
    nodes: str | os.PathLike[str] | NodeTable | None = None,
    where: str | None = None,
    min_weight: float | None = None,
    signs: str | None = None,
    inhibitory: str | Sequence[str] | None = None,
    spectral_radius: float | None = None,
    name: str | None = None,
    communicator: Any = None,
) -> LinearNetwork:
    r"""Read a network from a file of its matrices, a list of its edges, or a graph.

    Parameters
    ----------
    path : path
        ``.npz``, ``.mat``, ``.safetensors`` and PyTorch's ``.pt``, ``.pth``, ``.ckpt``, ``.bin``
        hold arrays by name: A and C, or else W (W_res) and Win (W_in) with a leak rate ``lr`` or
        ``leak`` and a ``bias``, also as fields of a MATLAB struct, or a layer, see Notes.
        ``.npy``, ``.csv`` and ``.mtx`` hold A, or A and C side by side, (N, N + d); in text with a
        header line, or the names of nodes above and before the numbers.
        ``.csv``, ``.tsv``, ``.txt``, ``.edges`` and ``.edgelist`` may list edges: source, target
        and, optionally, weight, with a header or without: ``A[target, source] = weight``. So may
        ``.feather`` and ``.parquet`` tables (pyarrow) and ``.graphml``, ``.gml``, ``.gexf`` graphs
        (networkx). Text and graphs may be packed, ``.csv.gz``.
    matrix : str, optional
        Name of the connectivity in an archive, e.g. ``"rnn.weight_hh_l0"``; of the column or
        attribute that holds the weights of edges.
    mask : str, path, array, list of names or mapping, optional
        The input mask, in place of the file's own: one of :data:`memcurve.masks.MASKS`, the name of
        an array in the archive, a ``.npy``, ``.csv`` or ``.mtx`` file, or the numbers themselves.
        Or the nodes that the input drives, by name (or number, from 0 on): a list, ``"a,b"``, a
        condition on ``nodes`` (``"class == 'sensory'"``), a mapping ``{"a": 0.5}`` of weights, or a
        text file with one node per line, optionally followed by a weight.
    seed : int, SeedSequence or Generator, optional
        Where the draw of a random mask starts.
    readout : str, sequence of str or of int, optional
        The nodes that are read, by name, number, or a condition on ``nodes``.
    edges : bool, optional
        Whether a text lists edges (True) or is a matrix (False), where its first lines mislead.
    nodes : path or NodeTable, optional
        A table of nodes, see :func:`memcurve.load_nodes`: only edges between its nodes are taken.
    where : str, optional
        Only the nodes of the table for which this holds, e.g. ``"class == 'sensory'"``.
    min_weight : float, optional
        Leave out pairs of nodes whose edges together weigh less, before signs: 5 of synapse counts.
    signs : str, optional
        The column of transmitters, of the edges or else of ``nodes`` (that of the source), by
        which weights get their signs.
    inhibitory : str or sequence of str, optional
        Transmitters whose weights become negative (default GABA, glutamate and histamine, as in
        flies: Liu and Wilson 2013, PNAS 110, 10294; Shiu et al. 2024, Nature 634, 210); all others
        are positive.
    spectral_radius : float, optional
        Scale A to this largest modulus of an eigenvalue.
    name : str, optional
        A label (default: the file's name without its ending).
    communicator : mpi4py.MPI.Comm, optional
        Share the rows of A out over the ranks of an MPI job, all of which call this: A is a
        :class:`memcurve.RankRows`. Of a sparse A in an ``.npz`` file each reads its own only.

    Returns
    -------
    LinearNetwork
        Sparse matrices and edges give a sparse A; nodes of edges are sorted by number or name, and
        edges listed several times are summed. ``notes`` say what was done.

    Notes
    -----
    Where there is neither pair, these make a network too: a vector ``eigenvalues``, ``lambda`` or
    ``Lambda`` with ``B``, in continuous time if there is a ``step`` or ``Delta`` (zero-order hold);
    ``nu_log``, ``theta_log``, ``B_re``, ``B_im`` and ``gamma_log`` of one linear recurrent unit;
    ``weight_hh_l0`` and ``weight_ih_l0`` of one torch layer, as a linear recurrence, with its
    biases. Names in a PyTorch checkpoint are joined by dots; only tensors and plain containers are
    ever unpickled (``weights_only=True``). MATLAB 7.3, ``.safetensors``, ``.feather`` and
    ``.parquet`` need ``pip install memcurve[files]``, checkpoints torch, graphs
    ``memcurve[adapters]``. A damaged file, or one without a network, is a ValueError.

    Examples
    --------
    >>> import memcurve
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pair.csv"
    ...     _ = path.write_text("pre,post,syn_count,nt_type\na,b,5,ACH\nb,a,2,GABA\n")
    ...     network = memcurve.load_network(path, mask="a", signs="nt_type")
    >>> network, network.labels
    (LinearNetwork('pair', size=2, inputs=1, sparse), ('a', 'b'))
    >>> network.A.toarray()
    array([[ 0., -2.],
           [ 5.,  0.]])
    """
    which = EdgeOptions(matrix, edges, nodes, where, min_weight, signs, inhibitory)
    read = partial(_read, path, which, mask, seed, readout, name)
    if communicator is None:
        return _leaking(*read(None), path, spectral_radius)
    ranks = communicator if isinstance(communicator, Ranks) else Ranks(communicator)
    with ranks.collective():
        parts = read(ranks if spectral_radius is None else None)
        network = _leaking(*parts, path, spectral_radius)
        return network if isinstance(network.A, RankRows) else ranks.split(network)


def _opened(
    path: str | os.PathLike[str], which: EdgeOptions, ranks: Ranks | None = None
) -> Opened | Graph:
    """Open a file; each of the ``ranks`` will read some rows of A only, where it can."""
    ending, formats = ending_of(path), dict(NETWORK_FORMATS)
    formats[".npz"] = partial(open_npz, ranks=ranks)
    for end, read in _EDGES.items():
        formats[end] = lambda file, read=read: read(file, which)
    if which.edges and ending not in formats:
        formats[ending] = formats[".txt"]
    if which.inhibitory is not None and which.signs is None:
        raise ValueError("`inhibitory` lists transmitters; name their column by `signs`.")
    if which.edges is not None and ending in NETWORK_FORMATS and ending not in TEXT:
        raise NetworkFileError(
            f"{path}: `edges` says whether a text lists edges, and a {ending} file is none; leave "
            f"it out."
        )
    contents = opened(path, formats, "build LinearNetwork(A, C)")
    if (which.select or which.table) and not isinstance(contents, Graph):
        raise NetworkFileError(
            f"{path}: `nodes`, `min_weight` and `signs` are for edges, and it holds matrices; "
            f"leave them out, or change A: LinearNetwork(A, C)."
        )
    return contents


def _by_class(which: EdgeOptions, text: Any, labels: Sequence[str] | None) -> list[str] | None:
    """The nodes for which a condition holds, where the text is one; else None."""
    if which.table is None or labels is None or not isinstance(text, str) or text in labels:
        return None
    if not set(text) & set("=<>") or Path(text).is_file():
        return None
    return [labels[place] for place in which.table.places(text, labels)]


def _read(
    path: str | os.PathLike[str],
    which: EdgeOptions,
    mask: Any,
    seed: Seed | None,
    readout: Any,
    name: str | None,
    ranks: Ranks | None = None,
) -> tuple[LinearNetwork, Any]:
    """A network from a file, of which each of the ``ranks`` may read some rows only.

    And the leak rates beside it, which are not applied yet; None where there are none.
    """
    file, contents = Path(path), _opened(path, which, ranks)
    if isinstance(contents, Graph):
        mask = _by_class(which, mask, contents.labels) or mask
    kind = _kind_of_mask(mask, contents)
    array = mask if kind == "array" else None
    parts = _parts(file, contents, which.matrix, array, kind not in (None, "array"))
    aside = ""
    if kind is not None and array is None:
        aside = f" (with the mask {mask!s})" if isinstance(mask, str | os.PathLike) else ""
        parts["C"], notes = _mask_of(mask, kind, seed, parts)
        parts["notes"] = (*parts["notes"], *notes)
    leak = parts.pop("leak", None)
    extra = not parts.keys() <= {"A", "C", "notes"} and not isinstance(contents, Graph)
    remedy = " Name `matrix` and `mask` to read these two alone." if extra else ""
    with _naming(f"{file}{aside}", remedy):
        network = LinearNetwork(**parts, name=stem_of(file) if name is None else name)
        if readout is None:
            return network, leak
        read = _by_class(which, readout, network.labels) or readout
        if isinstance(read, str):
            read = [part.strip() for part in read.split(",")]
        return network.replace(readout=read), leak


def with_leak(network: LinearNetwork, leak: Any) -> LinearNetwork:
    """The linear network of W and Win, which ``network`` holds, with leak rates, if not None."""
    if leak is None:
        return network
    A, C = leaky_pair(network.A, network.C, leak)
    shift = None if network.shift is None else np.asarray(leak) * network.shift
    note = Note("network", "the leak rate is applied: A = (1 − lr)·I + lr·W, C = lr·Win")
    return network.replace(A=A, C=C, shift=shift, notes=(note, *network.notes))


def _leaking(
    network: LinearNetwork, leak: Any, file: str | os.PathLike[str], radius: float | None
) -> LinearNetwork:
    """The linear network of W and Win with leak rates, scaled to a spectral radius."""
    if radius is not None:
        radius = require_number(radius, "spectral_radius", "at least 0", lambda r: r >= 0)
    both = " Undirected edges are to be listed in both directions." if network.labels else ""
    with _naming(str(file), "" if radius is None else both):
        leaky = with_leak(network, leak)
        if radius is None:
            return leaky
        return leaky.replace(A=scale_to_spectral_radius(leaky.A, radius))


def load_matrix(
    path: str | os.PathLike[str], *, matrix: str | None = None, edges: bool | None = None
) -> Any:
    """Read a connectivity alone, e.g. to try it with several input masks.

    Parameters
    ----------
    path, matrix, edges
        As for :func:`memcurve.load_network`: an archive that holds A, or else W, a file of one
        array, which must be square, or one of edges.

    Returns
    -------
    (N, N) array or scipy sparse array
        The same numbers that ``load_network(...).A`` would hold, checked alike; they cannot be
        written to, so take a ``.copy()`` to change them.

    Examples
    --------
    >>> import memcurve
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "A.npy", [[0.0, 0.5], [0.25, 0.0]])
    ...     A = memcurve.load_matrix(Path(folder) / "A.npy")
    >>> A
    array([[0.  , 0.5 ],
           [0.25, 0.  ]])
    """
    contents = _opened(path, EdgeOptions(matrix, edges))
    parts = _parts(Path(path), contents, matrix, None, has_mask=True, extras=False)
    with _naming(str(path)):  # a network is the one place that checks matrices
        network = LinearNetwork(parts["A"], np.zeros(parts["A"].shape[:1]))
    return _leaking(network, parts.get("leak"), path, None).A


def load_driven(
    path: str | os.PathLike[str],
    *,
    mask: Any = None,
    seed: Seed | None = None,
    readout: Any = None,
    spectral_radius: float | None = None,
    **which: Any,
) -> tuple[LinearNetwork, Any]:
    """Read the weights of :func:`load_network` without the leak, and the leak rates or None.

    For a network that is driven, x_t = (1 − lr)·x_{t−1} + lr·f(W x_{t−1} + Win z_t + bias): A and C
    are W and Win, ``shift`` is the bias, and ``spectral_radius`` is that of W.
    """
    network, leak = _read(path, EdgeOptions(**which), mask, seed, readout, None)
    return _leaking(network, None, path, spectral_radius), leak


def save_network(network: LinearNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network to an ``.npz`` file that :func:`memcurve.load_network` reads back exactly.

    The arrays are A, C and, where the network has them, shift, readout, labels and notes; a sparse
    A is stored as A_data, A_indices, A_indptr and A_shape. The name is not stored: the file's name
    takes its place. A file of that name is replaced in one step, so that no half-written one is
    seen.

    Examples
    --------
    >>> import memcurve
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     memcurve.save_network(memcurve.ensembles.cyclic(5), Path(folder) / "ring.npz")
    ...     memcurve.load_network(Path(folder) / "ring.npz")
    LinearNetwork('ring', size=5, inputs=1)
    """
    file = Path(path)
    if not isinstance(network, LinearNetwork):
        raise TypeError(f"`network` must be a LinearNetwork, got {type(network).__name__}.")
    if file.suffix.lower() != ".npz":
        raise ValueError(f"{file}: networks are written as .npz; give a path that ends so.")
    arrays: dict[str, Any] = {"C": network.C}
    if network.is_sparse:
        arrays |= {f"A_{part}": getattr(network.A, part) for part in SPARSE_PARTS}
    else:
        arrays["A"] = np.asarray(network.A)
    arrays |= {k: getattr(network, k) for k in _EXTRAS if getattr(network, k) is not None}
    texts = {"labels": network.labels, "notes": network.notes}
    arrays |= {name: np.array(listed) for name, listed in texts.items() if listed}
    with replacing(file) as stream:
        np.savez(stream, **arrays)


def network_parts(
    archive: Archive,
    matrix: str | None,
    mask: str | None,
    has_mask: bool,
    discretisation: str = "zoh",
) -> Parts:
    """Return A, C and notes from the arrays named, or else from the first kind of network found.

    Where a mask is given elsewhere (``has_mask``), C is not looked for, and left out.
    """
    keys, start = archive.arrays.keys(), _struct(archive, matrix)
    known = [(start + a, start + c) for a, c in _PAIRS]
    pairs = [(matrix or a, mask or c)[: 1 if has_mask else 2] for a, c in known]
    pair = next((names for names in pairs if keys >= {*names}), None)
    named = matrix is not None or mask is not None
    if pair is None:
        parts = None if named else _layer_parts(archive, has_mask, discretisation)
        if parts is None:
            raise _no_pair(archive, pairs, has_mask)
        return parts
    A = _whole(archive.arrays[pair[0]])
    C = None if has_mask else _own_mask(archive.arrays[pair[1]], A)
    own = archive.first([c for a, c in known if a == pair[0]])
    used = {*pair, own, *_EXTRAS, *_TEXTS}
    notes: list[str | Note] = [_REPLACED.format(own)] if has_mask and own is not None else []
    if pair[0].removeprefix(start) in _RESERVOIRS:
        leak, bias = (
            None if named else archive.first([start + name for name in names])
            for names in (_LEAKS, _BIASES)
        )
        return _reservoir_parts(archive, pair, own, (A, C), leak, bias, notes)
    if pair[0].endswith(_HIDDEN):
        others = _further_layers(archive, pair[0].removesuffix(_HIDDEN))
        notes += [f"one layer of several: {', '.join(others)} left out"] if others else []
    elif not named:
        if pair[0] == "A" and keys >= {*_PAIRS[1]}:
            text = "A and C are taken, W and Win left out; choose them with matrix='W', mask='Win' "
            notes.append(text + "(--matrix W --mask Win)")
            used |= {*_PAIRS[1]}
        notes += _unused(archive, used)
    return _network_of(A, C, *notes) | _layer_bias(archive, pair[0])


def _no_pair(archive: Archive, pairs: Sequence[Sequence[str]], has_mask: bool) -> NetworkFileError:
    wanted = ", or ".join(dict.fromkeys(map(" and ".join, pairs[:2])))
    problem = f"{archive.source}: has no {wanted}; it holds {archive.listing}."
    if has_mask:
        return NetworkFileError(f"{problem} Name the array with matrix='...'.")
    lacks_mask = archive.first([pair[0] for pair in pairs]) is not None
    return (MissingMaskError if lacks_mask else NetworkFileError)(
        f"{problem} Name the arrays with matrix='...' and mask='...', or give the mask as a file, "
        f"mask='C.npy'."
    )


def _reservoir_parts(
    archive: Archive,
    pair: Sequence[str],
    own: str | None,
    matrices: tuple[Any, Any],
    leak: str | None,
    bias: str | None,
    notes: Sequence[str | Note],
) -> Parts:
    """W and Win, with the leak rate and the bias beside them."""
    A, C = matrices
    missing = "an activation" if bias is not None else "an activation or bias"
    taken = f"{' and '.join(pair)} taken as a linear network: the file does not specify {missing}"
    unused = _unused(archive, {*pair, own, leak, bias})
    if unused and leak is None:
        unused = [Note("unused", f"{unused[0]} (a leak rate is called {' or '.join(_LEAKS)})")]
    if np.ndim(C) == 2 and C.shape[1] > 1:
        text = f"{pair[-1]} has {C.shape[1]} columns, taken as {C.shape[1]} inputs; remove a bias "
        unused.append(Note("unused", f"{text}column (--bias-column)"))
    parts = _network_of(A, C, taken, *notes, *unused)
    if leak is not None:
        parts["leak"] = _flat(archive, leak)
    if bias is not None:
        values = _flat(archive, bias)
        parts["shift"] = np.full(A.shape[0], values) if values.size == 1 else values
    return parts


def _struct(archive: Archive, matrix: str | None) -> str:
    """What stands before the names of a network's arrays: the name of the one struct of a pair."""
    if matrix is not None:
        return matrix[: matrix.rfind(".") + 1]
    keys = archive.arrays.keys()
    starts = {key[: key.rfind(".") + 1] for key in keys}
    starts = {start for start in starts if any({start + a, start + c} <= keys for a, c in _PAIRS)}
    return "" if "" in starts or len(starts) != 1 else starts.pop()


def _unused(archive: Archive, used: Collection[str | None]) -> list[Note]:
    """What is said of arrays that may be part of the network, and were not used."""
    others = [key for key in archive.arrays if key not in used and key[:2] != "A_"]
    text = f"not used: {', '.join(others[:8])}{' …' if len(others) > 8 else ''}"
    return [Note("unused", text)] if others else []


def _layer_bias(archive: Archive, hidden: str) -> Parts:
    """The constant of a torch layer, the sum of its two biases; nothing where it has none."""
    if "weight_hh_l" not in hidden:
        return {}
    names = [hidden.replace("weight_hh_l", f"bias_{part}_l") for part in ("ih", "hh")]
    biases = [_flat(archive, name) for name in names if name in archive.arrays]
    return {"shift": np.sum(biases, axis=0)} if biases else {}


def _network_of(A: Any, C: Any, *notes: str) -> Parts:
    return {"A": A, "C": C, "notes": notes_of(notes, "network")}


def _layer_parts(archive: Archive, has_mask: bool, discretisation: str) -> Parts | None:
    """Parts of a diagonal layer, a linear recurrent unit or a torch recurrence, if there is one."""
    arrays, poles = archive.arrays, archive.first(_POLES)
    if poles is not None and (has_mask or "B" in arrays):
        step, values = archive.first(_STEPS), _flat(archive, poles)
        network = diagonal_network(
            values,
            np.ones(len(values)) if has_mask else _own_mask(arrays["B"], values),
            step=None if step is None else _flat(archive, step),
            discretisation=discretisation,
            notes=notes_of([f"diagonal A from the vector {poles}"], "network"),
        )
        return _network_of(network.A, network.C, *network.notes)
    prefixes = _prefixes(archive, _LRU[0], _LRU[1:2] if has_mask else _LRU[1:])
    if len(prefixes) == 1:
        nu, theta, real, imaginary, gamma = (prefixes[0] + n for n in (*_LRU, "gamma_log"))
        values = lru_poles(_flat(archive, nu), _flat(archive, theta))
        B = np.ones(len(values))
        if not has_mask:
            scale = _flat(archive, gamma) if gamma in arrays else None
            B = lru_mask(_whole(arrays[real]) + 1j * _whole(arrays[imaginary]), scale)
        network = diagonal_network(values, B)
        note = f"a linear recurrent unit: λ = exp(−exp({nu}) + i·exp({theta}))"
        return _network_of(network.A, network.C, note)
    prefixes = _prefixes(archive, _HIDDEN, () if has_mask else (_INPUT,))
    if len(prefixes) != 1:
        return None
    hidden, inward = prefixes[0] + _HIDDEN, prefixes[0] + _INPUT
    if further := _further_layers(archive, prefixes[0]):
        raise archive.fault(
            f"{hidden} is one layer of several ({', '.join(further)}), which are no network by "
            f"themselves; pass the module, as_network(module), or name one layer: "
            f"matrix='{hidden}', mask='{inward}'."
        )
    note = f"{hidden} taken as a linear recurrence: the weights do not specify an activation"
    A = _whole(arrays[hidden])
    C = None if has_mask else _own_mask(arrays[inward], A)
    return _network_of(A, C, note) | _layer_bias(archive, hidden)


def _further_layers(archive: Archive, prefix: str) -> list[str]:
    """Weights of further layers, or of the other direction, of a torch recurrence."""
    own = f"{prefix}weight_hh_l"
    return [key for key in archive.arrays if key.startswith(own) and key != f"{prefix}{_HIDDEN}"]


def _prefixes(archive: Archive, first: str, others: Sequence[str]) -> list[str]:
    """What stands before ``first`` in names for which all the others are there too."""
    starts = [key.removesuffix(first) for key in archive.arrays if key.endswith(first)]
    return [start for start in starts if all(start + name in archive.arrays for name in others)]


def _parts(
    file: Path,
    contents: Opened | Graph,
    matrix: str | None,
    mask: str | None,
    has_mask: bool,
    *,
    extras: bool = True,
) -> Parts:
    """Read a file's parts of a network: by their names, by the usual names, or side by side.

    ``extras`` are what else :func:`save_network` writes.
    """
    ending = ending_of(file)
    if isinstance(contents, Graph):
        if not has_mask:
            raise MissingMaskError(
                f"{file}: lists edges, but not which nodes the input drives; name them, "
                f"mask='{contents.labels[0]},…' or mask='nodes.txt' with one per line, or "
                f"give mask='C.npy'."
            )
        return _network_of(contents.A, None, *contents.notes) | {"labels": contents.labels}
    if isinstance(contents, Archive):
        with _naming(str(file)):
            parts = network_parts(contents, matrix, mask, has_mask)
        if ending == ".npz" and extras and matrix is mask is None:
            arrays = contents.arrays
            parts |= {part: _whole(arrays[part]) for part in _EXTRAS if part in arrays}
            if labels := _texts(contents, "labels"):
                parts["labels"] = labels
            parts["notes"] = notes_of([*_texts(contents, "notes"), *parts["notes"]], "network")
        return parts
    if matrix is not None or mask is not None:
        asked = f"mask={mask!r}" if matrix is None else f"matrix={matrix!r}"
        if_edges = " If it lists edges, say so: edges=True." if ending in TEXT else ""
        raise NetworkFileError(
            f"{file}: a {ending} file holds one array without a name, got {asked}; leave `matrix` "
            f"out, and give a mask as a {', '.join(SINGLE)} file.{if_edges}"
        )
    maybe = ending in TEXT and counts_nodes(Text(file))
    return _side_by_side(
        contents, has_mask, "edges=True (--edges) reads it as a list of edges" if maybe else ""
    )


def _side_by_side(array: Any, has_mask: bool, hint: str) -> Parts:
    """A, or A and C side by side; ``hint`` is what else the file may be."""
    values, more = _whole(array), f"; {hint}" if hint else ""
    shape: tuple[int, ...] = values.shape
    rows, columns = shape if len(shape) == 2 else (0, 0)
    if not 0 < rows <= columns:
        remedy = "reshape it"
        if columns:
            remedy = (
                "recorded states, one row per time step, go to memory_from_data (memcurve data)"
            )
        raise NetworkFileError(
            f"{array.file}: must hold A, or [A | C] of shape (N, N + d), got shape {shape}; "
            f"{remedy}{more}."
        )
    if rows == columns and not has_mask:
        raise MissingMaskError(
            f"{array.file}: holds A of shape {shape} but no input mask C; give mask='C.npy' (or "
            f".csv, .mtx), store [A | C] side by side, or an archive with A and C, e.g. .npz{more}."
        )
    notes = [f"read as a matrix, A of shape {(rows, rows)}; {hint}"] if hint else []
    if rows < columns and has_mask:
        own = _REPLACED.format(f"of {counted(columns - rows, 'column')}")
        notes.insert(0, f"an array of {rows} × {columns} is read as [A | C]; {own}")
    C = None if has_mask else as_mask(values[:, rows:])
    return _network_of(values[:, :rows] if rows < columns else values, C, *notes)


def _texts(archive: Archive, name: str) -> list[str]:
    """The texts in an archive, if there are any of that name."""
    stored = archive.arrays.get(name)
    if stored is None or stored.dtype is None or stored.dtype.kind != "U":
        return []
    with reading(stored.file):  # what is no character is found out now
        return stored.whole().reshape(-1).tolist()  # type: ignore[no-any-return]


def _kind_of_mask(mask: Any, contents: Opened | Graph) -> str | None:
    """Whether a mask is drawn, an array of the archive, nodes by name, a file, or its values."""
    if mask is None:
        return None
    if isinstance(mask, str) and mask in MASKS:
        return "drawn"
    is_list = isinstance(mask, list | tuple | set | frozenset) and len(mask) > 0
    if isinstance(mask, Mapping) or (is_list and all(isinstance(node, str) for node in mask)):
        return "nodes"
    if not isinstance(mask, str | os.PathLike):
        return "values"
    ending, is_graph = ending_of(mask), isinstance(contents, Graph)
    if ending in SINGLE and not (is_graph and ending in TEXT):
        return "file"
    if is_graph or ending in TEXT:
        return "nodes"
    if not isinstance(mask, str):
        raise NetworkFileError(f"{mask}: a mask is read from {', '.join(SINGLE)}; convert it.")
    arrays = contents.arrays if isinstance(contents, Archive) else {}
    are_numbers = all(part.strip().isdigit() for part in mask.split(","))
    named = mask not in arrays and ("labels" in arrays or are_numbers)
    return "nodes" if named else "array"


def _mask_of(mask: Any, kind: str, seed: Seed | None, parts: Parts) -> tuple[Any, list[Note]]:
    """The mask given: drawn, by the nodes that are driven, from a file, or by its values."""
    if kind == "drawn":
        return make(mask, parts["A"].shape[0], seed=seed), []
    if kind == "nodes":
        return _driven(mask, parts)
    return as_mask(mask if kind == "values" else _whole(opened(mask, SINGLE, "pass an array"))), []


def _driven(mask: Any, parts: Parts) -> tuple[Any, list[Note]]:
    """The mask of the nodes named, and a note on those in a file that the network has not."""
    size = parts["A"].shape[0]
    labels = parts.get("labels") or range(size)
    places = {str(label): k for k, label in enumerate(labels)}
    weights, notes, where = _named_weights(mask, places)
    driven: dict[int, Any] = {}
    for name, weight in weights.items():
        place = node_place(name, places)
        if place is None:
            near = difflib.get_close_matches(name, places, 1)
            meant = f"; did you mean {near[0]!r}?" if near else ", nor is there such a file."
            raise NetworkFileError(
                f"`mask` must name nodes of the network, {labels[0]!r} … {labels[-1]!r}, got "
                f"{name!r}, which is none of them{meant}"
            )
        if driven.setdefault(place, weight) is not weight:
            raise NetworkFileError(f"{where} must name each node once, got {name!r} twice.")
    return node_mask(driven, size), notes


def _named_weights(mask: Any, places: Mapping[str, int]) -> tuple[dict[str, Any], list[Note], str]:
    """Weights by the names of nodes, notes, and where they were named."""
    if isinstance(mask, Mapping):
        return {str(name): weight for name, weight in mask.items()}, [], "`mask`"
    is_file = isinstance(mask, os.PathLike)
    if isinstance(mask, str):  # one node, which may have commas in it, several, or a file of them
        names = [mask] if mask in places else [part.strip() for part in mask.split(",")]
        is_file = ending_of(mask) in TEXT or Path(mask).is_file()
        is_file = is_file and any(node_place(name, places) is None for name in names)
    else:
        names = [] if is_file else [*map(str, mask)]
    if not is_file:
        return dict.fromkeys(names, 1.0), [], "`mask`"
    file = readable(mask)
    listed = listed_nodes(file, places)
    unknown = [name for name in listed if node_place(name, places) is None]
    if len(unknown) == len(listed):
        raise NetworkFileError(
            f"{file}: must name nodes of the network, such as {next(iter(places))!r}; got "
            f"{unknown[0]!r} …, none of which is one."
        )
    few = ", ".join(unknown[:5]) + ", …" * (len(unknown) > 5)
    text = f"left out {len(unknown):,} of the {counted(len(listed), 'node')} in {file.name}, as "
    notes = [Note("network", f"{text}the network has none called {few}")] if unknown else []
    known = {name: weight for name, weight in listed.items() if name not in {*unknown}}
    return known, notes, f"{file}:"


@contextmanager
def _naming(source: str, remedy: str = "") -> Iterator[None]:
    """Turn what is wrong with a network into an error that names its file."""
    try:
        yield
    except (NetworkFileError, TooLargeError):
        raise
    except (ValueError, TypeError, MemoryError) as error:
        raise NetworkFileError(f"{source}: {error}{remedy}") from error


def _whole(array: Any) -> Any:
    """Read an array; a square one is a connectivity, which is to be worked on."""
    array.require_room()
    square = len(array.shape) == 2 and array.shape[0] == array.shape[1]
    if square and not array.is_sparse and array.file is not None:
        with reading(array.file):
            require_room_for_states(array.shape[0], "exact")
    return array.whole()


def _flat(archive: Archive, name: str) -> Any:
    """A vector from a number, or from a row or column of them, as MATLAB stores both."""
    array = _whole(archive.arrays[name])
    values = np.asarray(array.toarray() if hasattr(array, "toarray") else array)
    return values.reshape(-1) if values.size == max(values.shape, default=1) else values


def _own_mask(stored: Array, A: Any) -> Any:
    """The mask in an archive, one row of which is meant as a column."""
    C = stored.whole()
    is_row = len(C.shape) == 2 and C.shape[0] == 1 < C.shape[1] == A.shape[0]
    return as_mask(C.T if is_row else C)


def as_mask(C: Any) -> Any:
    """Return an input mask dense, and as a vector where it has one column."""
    C = C.toarray() if hasattr(C, "toarray") else C
    shape: tuple[int, ...] = getattr(C, "shape", ())
    return C.reshape(-1) if len(shape) == 2 and shape[1] == 1 else C
