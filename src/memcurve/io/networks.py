"""Files → LinearNetwork, and LinearNetwork → files.

Which of a file's arrays are A and C follows from their names (``parts``); whether a text is a
matrix or lists edges, from its first lines (``edges``).
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import Seed, require_number
from memcurve.core.limits import TooLargeError
from memcurve.core.notes import notes_of
from memcurve.core.optional import optional
from memcurve.core.result import replacing, require_ending
from memcurve.io.arrays import (
    Archive,
    Graph,
    MissingMaskError,
    NetworkFileError,
    Opened,
    Opener,
    ending_of,
    fault_error,
    note,
    opened,
    stem_of,
    words,
)
from memcurve.io.arrow import ARROW
from memcurve.io.edges import LISTS, EdgeOptions, counts_nodes, open_text, read_graph, read_table
from memcurve.io.graphs import GRAPHS
from memcurve.io.market import open_market
from memcurve.io.matlab import open_mat
from memcurve.io.nodes import NodeTable, driven_nodes
from memcurve.io.npy import SPARSE_PARTS, open_npy, open_npz
from memcurve.io.parts import (
    EXTRAS,
    PAIRS,
    Parts,
    as_mask,
    network_parts,
    side_by_side,
    texts,
    whole,
)
from memcurve.io.tensors import CHECKPOINTS, open_checkpoint, open_safetensors
from memcurve.io.text import Text, open_matrix
from memcurve.network import LinearNetwork
from memcurve.network.device import on_host
from memcurve.network.masks import MASKS, make
from memcurve.network.nonlinear import leaky_pair
from memcurve.network.ranks import Ranks
from memcurve.network.scaling import scale_to_spectral_radius

#: How to open files of arrays by name, which can be written, too.
_ARCHIVES: dict[str, Opener] = {
    ".npz": open_npz,
    ".mat": open_mat,
    ".safetensors": open_safetensors,
}
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
    **_ARCHIVES,
    **SINGLE,
    **_EDGES,
    **dict.fromkeys(CHECKPOINTS, open_checkpoint),
}


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
        ``leak`` and a ``bias``, or A and B of a state-space system, also as fields of a MATLAB
        struct; or a torch layer, see Notes.
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
        Seed of a random mask.
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
        :class:`memcurve.RankRows`.

    Returns
    -------
    LinearNetwork
        Sparse matrices and edges give a sparse A; nodes of edges are sorted by number or name, and
        edges listed several times are summed. ``notes`` say what was done.

    Notes
    -----
    Where there is neither pair, ``weight_hh_l0`` and ``weight_ih_l0`` of one torch layer make a
    linear recurrence, with its biases; :func:`memcurve.layers` reads state-space layers. Names in a
    PyTorch checkpoint are joined by dots; only tensors and plain containers are ever unpickled
    (``weights_only=True``). MATLAB 7.3, ``.safetensors``, ``.feather`` and ``.parquet`` need
    ``pip install memcurve[files]``, checkpoints torch, graphs ``memcurve[adapters]``. A damaged
    file, or one without a network, is a ValueError.

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
    options = EdgeOptions(matrix, edges, nodes, where, min_weight, signs, inhibitory)
    read = partial(_read, path, options, mask, seed, readout, name)
    if communicator is None:
        return _leaking(*read(), path, spectral_radius)
    ranks = communicator if isinstance(communicator, Ranks) else Ranks(communicator)
    with ranks.collective():
        return ranks.split(_leaking(*read(), path, spectral_radius))


def load_matrix(
    path: str | os.PathLike[str], *, matrix: str | None = None, edges: bool | None = None
) -> Any:
    """Read a connectivity alone, e.g. to try it with several input masks.

    It is ``load_network(…).A``, dense or sparse, and cannot be written to: change a ``.copy()``.

    Parameters
    ----------
    path, matrix, edges
        As for :func:`memcurve.load_network`: an archive that holds A, or else W, a file of one
        array, which must be square, or one of edges.

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
    return load_network(path, matrix=matrix, mask="ones", edges=edges).A


def load_driven(
    path: str | os.PathLike[str],
    *,
    mask: Any = None,
    seed: Seed | None = None,
    readout: Any = None,
    spectral_radius: float | None = None,
    **options: Any,
) -> tuple[LinearNetwork, Any]:
    """Read the weights of :func:`load_network` without the leak, and the leak rates or None.

    For a network that is driven, x_t = (1 − lr)·x_{t−1} + lr·f(W x_{t−1} + Win z_t + bias): A and C
    are W and Win, ``shift`` is the bias, and ``spectral_radius`` is that of W.
    """
    network, leak = _read(path, EdgeOptions(**options), mask, seed, readout, None)
    return _leaking(network, None, path, spectral_radius), leak


def save_network(
    network: LinearNetwork, path: str | os.PathLike[str], like: str | os.PathLike[str] | None = None
) -> None:
    """Write a network to a file that :func:`memcurve.load_network` reads back exactly.

    An ``.npz`` file has all of it: A, C and, where the network has them, shift, readout, labels and
    notes; a sparse A is stored as A_data, A_indices, A_indptr and A_shape. Files of other programs,
    ``.mat``, ``.safetensors``, ``.npy`` and ``.csv``, have the weights alone, the last two as
    [A | C]. The name is not stored: the file's name takes its place. A file of that name is
    replaced in one step, so that no half-written one is seen.

    Parameters
    ----------
    network : LinearNetwork
        The network.
    path : path
        The file to write; its ending says how.
    like : path, optional
        An archive whose names the arrays get, W and Win for example, in place of A and C.

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
    if not isinstance(network, LinearNetwork):
        raise TypeError(f"`network` must be a LinearNetwork, got {type(network).__name__}.")
    ending = require_ending(path, (*_ARCHIVES, ".npy", ".csv"))
    matrix, mask = names = _names_in(like)
    is_whole = ending == ".npz" and names == PAIRS[0]
    if network.readout is not None and not is_whole:
        facts = {"path": os.fspath(path), "matrix": matrix, "mask": mask}
        raise ValueError(words("networks", "partly_read", **facts))
    if network.is_complex and ending == ".csv":
        raise ValueError(f"`path` must end in .npz or .npy for complex weights, got {path}.")
    A, C = on_host(network.A), network.C
    arrays: dict[str, Any] = {mask: C if is_whole else C.reshape(network.size, -1)}
    if network.is_sparse and is_whole:
        arrays |= {f"A_{part}": getattr(A, part) for part in SPARSE_PARTS}
    else:
        arrays[matrix] = A.toarray() if network.is_sparse else np.asarray(A)
    if is_whole:
        arrays |= {k: getattr(network, k) for k in EXTRAS if getattr(network, k) is not None}
        listed = {"labels": network.labels, "notes": network.notes}
        arrays |= {name: np.array(words) for name, words in listed.items() if words}
    with replacing(path) as stream:
        if ending == ".npz":
            np.savez(stream, **arrays)
        elif ending == ".mat":
            from scipy.io import savemat

            savemat(cast(Any, stream), arrays)
        elif ending == ".safetensors":
            tensors = optional("safetensors.numpy", f"{path}: writing it", "files")
            stream.write(tensors.save({k: np.ascontiguousarray(v) for k, v in arrays.items()}))
        elif ending == ".npy":
            np.save(stream, np.hstack([arrays[matrix], arrays[mask]]))
        else:
            joined = np.hstack([arrays[matrix], arrays[mask]])
            np.savetxt(stream, joined, delimiter=",", fmt="%.17g")


def _names_in(like: str | os.PathLike[str] | None) -> tuple[str, str]:
    """The names of connectivity and mask in an archive; A and C where it is none."""
    keys: set[str] = set()
    if like is not None and ending_of(like) in _ARCHIVES and Path(like).is_file():
        contents = _opened(like, EdgeOptions())
        keys = {*contents.arrays} if isinstance(contents, Archive) else keys
    return next((pair for pair in PAIRS if keys >= {*pair}), PAIRS[0])


def _opened(path: str | os.PathLike[str], options: EdgeOptions) -> Opened | Graph:
    """Open a file by its ending, of text and graphs with the options of edges."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"`path` must be the path of a file, got {type(path).__name__}.")
    ending, formats = ending_of(path), dict(NETWORK_FORMATS)
    formats |= {end: lambda file, read=read: read(file, options) for end, read in _EDGES.items()}
    if options.edges and ending not in formats:
        formats[ending] = formats[".txt"]
    if options.inhibitory is not None and options.signs is None:
        raise ValueError("`inhibitory` lists transmitters; name their column by `signs`.")
    if options.edges is not None and ending in NETWORK_FORMATS and ending not in TEXT:
        raise fault_error(Path(path), "networks", "no_text", ending=ending)
    contents = opened(path, formats, "build LinearNetwork(A, C)")
    if options.are_about_edges and not isinstance(contents, Graph):
        raise fault_error(Path(path), "networks", "no_edges")
    return contents


def _read(
    path: str | os.PathLike[str],
    options: EdgeOptions,
    mask: Any,
    seed: Seed | None,
    readout: Any,
    name: str | None,
) -> tuple[LinearNetwork, Any]:
    """A network from a file, and leak rates that are not applied yet; None where it has none."""
    contents, file = _opened(path, options), Path(path)
    if isinstance(contents, Graph):
        mask = options.nodes_with(mask, contents.labels) or mask
    kind = _kind_of_mask(mask, contents)
    array = mask if kind == "array" else None
    parts = _parts(file, contents, options.matrix, array, has_mask=kind not in (None, "array"))
    aside = ""
    if kind not in (None, "array"):
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
        nodes = options.nodes_with(readout, network.labels) or readout
        if isinstance(nodes, str):
            nodes = [part.strip() for part in nodes.split(",")]
        return network.replace(readout=nodes), leak


def _parts(
    file: Path, contents: Opened | Graph, matrix: str | None, mask: str | None, *, has_mask: bool
) -> Parts:
    """A file's parts of a network, those among them that only :func:`save_network` writes."""
    ending = ending_of(file)
    if isinstance(contents, Graph):
        if not has_mask:
            text = words("networks", "no_mask", label=contents.labels[0])
            raise MissingMaskError(f"{file}: {text}")
        return {"A": contents.A, "C": None, "notes": contents.notes, "labels": contents.labels}
    if isinstance(contents, Archive):
        with _naming(str(file)):
            parts = network_parts(contents, matrix, mask, has_mask)
        if ending == ".npz" and matrix is mask is None:
            arrays = contents.arrays
            parts |= {part: whole(arrays[part]) for part in EXTRAS if part in arrays}
            if labels := texts(contents, "labels"):
                parts["labels"] = labels
            parts["notes"] = notes_of([*texts(contents, "notes"), *parts["notes"]], "network")
        return parts
    if matrix is not None or mask is not None:
        option, remedy = f"matrix={matrix!r}", "leave `matrix` out"
        if matrix is None:
            option, remedy = f"mask={mask!r}", f"give one of {', '.join(MASKS)}, numbers, or"
            remedy += f" a {', '.join(SINGLE)} file of them"
        remedy += ". If it lists edges, say so: edges=True" if ending in TEXT else ""
        facts = {"ending": ending, "option": option, "remedy": remedy}
        raise fault_error(file, "networks", "one_array", **facts)
    maybe = ending in TEXT and counts_nodes(Text(file))
    hint = "edges=True (--edges) reads it as a list of edges" if maybe else ""
    return side_by_side(contents, has_mask, hint)


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


def _mask_of(mask: Any, kind: str | None, seed: Seed | None, parts: Parts) -> tuple[Any, Any]:
    """The mask given, drawn, by the nodes that are driven, from a file, or by its values; notes."""
    size = parts["A"].shape[0]
    if kind == "drawn":
        return make(mask, size, seed=seed), ()
    if kind == "nodes":
        return driven_nodes(mask, parts.get("labels") or range(size), lists=TEXT)
    return as_mask(mask if kind == "values" else whole(opened(mask, SINGLE, "pass an array"))), ()


def with_leak(network: LinearNetwork, leak: Any) -> LinearNetwork:
    """The linear network of W and Win, which ``network`` holds, with leak rates, if not None."""
    if leak is None:
        return network
    A, C = leaky_pair(network.A, network.C, leak)
    shift = None if network.shift is None else np.asarray(leak) * network.shift
    return network.replace(A=A, C=C, shift=shift, notes=(note("leak"), *network.notes))


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


@contextmanager
def _naming(source: str, remedy: str = "") -> Iterator[None]:
    """Turn what is wrong with a network into an error that names its file."""
    try:
        yield
    except (NetworkFileError, TooLargeError):
        raise
    except (ValueError, TypeError, MemoryError) as error:
        raise NetworkFileError(f"{source}: {error}{remedy}") from error
