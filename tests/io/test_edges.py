"""Edge lists and graphs in files: what is read, how it is told from a matrix, what is refused."""

import gzip
import re
import sys

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from memcurve import load_matrix, load_network, load_nodes, save_network
from memcurve.core.limits import TooLargeError
from memcurve.io import MissingMaskError
from memcurve.io import text as reader
from refusals import refuses
from stored_networks import refused

#: A ring a → b → c → a, with a self-loop at c; nodes in the order a, b, c.
RING = np.array([[0, 0, 0.5], [0.25, 0, 0], [0, -2, 0.125]])
EDGES = [("a", "b", "0.25"), ("b", "c", "-2"), ("c", "a", "0.5"), ("c", "c", "0.125")]
NUMBER = {"a": "3", "b": "20", "c": "100"}  # in another order than as text


def written(tmp_path, text, name="e.csv"):
    path = tmp_path / name
    content = text.encode()
    path.write_bytes(gzip.compress(content) if name.lower().endswith(".gz") else content)
    return path


def listing(separator=",", header=(), rename=lambda node: node):
    rows = [(rename(source), rename(target), weight) for source, target, weight in EDGES]
    lines = [separator.join(row) for row in ([tuple(header)] if header else []) + rows]
    return "\n".join(lines) + "\n"


def dense(network):
    assert network.is_sparse
    return network.A.toarray()


@pytest.mark.parametrize("separator", [",", "\t", ";", " ", ", ", "   "])
@pytest.mark.parametrize("header", [(), ("source", "target", "weight"), ("x", "y", "z")])
@pytest.mark.parametrize("rename", [str, NUMBER.get, lambda node: f"{NUMBER[node]}.0"])
def test_every_way_of_writing_a_list(tmp_path, separator, header, rename):
    network = load_network(
        written(tmp_path, listing(separator, header, rename)), mask=[rename("b")]
    )
    np.testing.assert_array_equal(dense(network), RING)
    assert network.C.tolist() == [0, 1, 0]
    assert network.labels == (("a", "b", "c") if rename is str else ("3", "20", "100"))
    assert [note.kind for note in network.notes] == ["network"]
    assert "read as 4 edges between 3 nodes" in network.notes[0]


@pytest.mark.parametrize(
    "name",
    [f"e{end}{packed}" for end in (".csv", ".txt", ".tsv", ".edges") for packed in ("", ".gz")]
    + ["E.EDGELIST", "E.CSV.GZ"],
)
def test_endings(tmp_path, name):
    network = load_network(written(tmp_path, listing(), name), mask="a")
    np.testing.assert_array_equal(dense(network), RING)
    assert network.name == name[0]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffsource,target,weight\r\n" + listing().replace("\n", "\r\n"),
        "% konect\n# another\n\n" + listing() + "\n\n",
        listing().rstrip("\n"),
        '"a","b",0.25\n"b","c",-2\n"c","a",0.5\n"c","c",0.125\n',
        "weight,from,to\n0.25,a,b\n-2,b,c\n0.5,c,a\n0.125,c,c\n",
        "pre,post,region,syn_count\na,b,R,0.25\nb,c,L,-2\nc,a,R,0.5\nc,c,R,0.125\n",
        ",source,target,weight\n0,a,b,0.25\n1,b,c,-2\n2,c,a,0.5\n3,c,c,0.125\n",
        "\tsource\ttarget\tweight\n0\ta\tb\t0.25\n1\tb\tc\t-2\n2\tc\ta\t0.5\n3\tc\tc\t0.125\n",
        "Neuron 1,Neuron 2,Type,Nbr\na,b,S,0.25\nb,c,S,-2\nc,a,S,0.5\nc,c,S,0.125\n",
        "id,Node A,Node B,strength\n1,a,b,0.25\n1,b,c,-2\n1,c,a,0.5\n1,c,c,0.125\n",
        "Origin,Target,Type,Number of Connections\na,b,x,0.25\nb,c,x,-2\nc,a,x,0.5\nc,c,x,0.125\n",
        "weight from to\n0.25 a b\n-2 b c\n0.5 c a\n0.125 c c\n\n",
        listing().replace("-2", "-1e0\nb,c,-1"),
        "# weighted\n#weight,to,from\n0.25,b,a\n-2,c,b\n0.5,a,c\n0.125,c,c\n",
        "% target source weight\nb a 0.25\nc b -2\na c 0.5\nc c 0.125\n",
    ],
)
def test_oddities(tmp_path, text):
    for rename in (str, NUMBER.get):  # "region" and the like stay what they are
        text = re.sub(r"\b[abc]\b", lambda node, to=rename: to(node[0]), text)
        path = written(tmp_path, text)
        network = load_network(path, mask=[rename("a")])
        np.testing.assert_array_equal(dense(network), RING)


@pytest.mark.parametrize(
    ("separator", "names"),
    [(",", ("a,1", "b;2", "c;3")), (";", ("a,1", "b;2", "c 3")), (" ", ("a 1", "b", "c;3"))],
)
def test_separators_within_names(tmp_path, separator, names):
    called = dict(zip("abc", names, strict=True))
    path = written(tmp_path, listing(separator, rename=lambda node: f'"{called[node]}"'))
    network = load_network(path, mask=names[0])
    np.testing.assert_array_equal(dense(network), RING)
    assert (network.labels, network.C.tolist()) == (names, [1, 0, 0])


def test_two_columns_weigh_one(tmp_path):
    for text in (
        "a b\nb c\nc a\n",
        "from,to\na,b\nb,c\nc,a\n",
        "node1,node2\na,b\nb,c\nc,a\n",
        "source,target,kind\na,b,x\nb,c,y\nc,a,x\n",
    ):
        network = load_network(written(tmp_path, text), mask="a")
        np.testing.assert_array_equal(dense(network), np.eye(3)[[2, 0, 1]])
        assert "each of weight 1" in network.notes[0]
    like_a_header = written(tmp_path, "node1,node2\nnode2,node3\nnode3,node1")
    assert load_network(like_a_header, mask="node1").labels == ("node1", "node2", "node3")
    by_year = written(tmp_path, "pre,post,n,m\na,b,1,7\nb,a,2,9\n")
    assert load_network(by_year, mask="a", matrix="m").A.data.tolist() == [9, 7]
    refused(by_year, "must have a column 'q'", "pre, post, n, m", mask="a", matrix="q")


def test_numbers_beyond_float64_are_kept(tmp_path):
    first = 720575940628857210
    text = "".join(f"{first + k},{first + (k + 1) % 5},1\n" for k in range(5))
    network = load_network(written(tmp_path, text), mask=f"{first + 1}")
    assert network.labels == tuple(str(first + k) for k in range(5))
    assert network.C.tolist() == [0, 1, 0, 0, 0]


@pytest.mark.parametrize("names", ["{:d}", "n{:d}", "{:04d}"])
@pytest.mark.parametrize("separator", [",", " ", "\t"])
def test_blocks_are_one_list(tmp_path, names, separator, monkeypatch):
    """Against numpy's dense sums, whatever the lines that a block ends in."""
    monkeypatch.setattr(reader, "BLOCK", 10**4)
    rng = np.random.default_rng(1)
    source, target = rng.integers(0, 30, (2, 2000))
    weights = rng.integers(-5, 5, 2000) / 4
    lines = [
        separator.join((names.format(s), names.format(t), f"{w}"))
        for s, t, w in zip(source, target, weights, strict=True)
    ]
    lines.insert(1500, "# half way")
    expected = np.zeros((30, 30))
    np.add.at(expected, (target, source), weights)
    path = written(tmp_path, "\n".join(lines), "e.txt.gz")
    network = load_network(path, mask=names.format(7))
    order = np.argsort([int(label.strip("n")) for label in network.labels])
    np.testing.assert_array_equal(dense(network)[np.ix_(order, order)], expected)
    assert network.C[order].tolist() == [0] * 7 + [1] + [0] * 22
    lines[1700] = separator.join((names.format(1), names.format(2), "much"))
    refused(written(tmp_path, "\n".join(lines)), "line 1701 has the weight 'much'", mask="7")


def test_a_matrix_stays_a_matrix(tmp_path):
    """Three edges between numbers are as good a matrix: that is what they are, with a note."""
    path = written(tmp_path, "0,1,1\n1,2,1\n2,0,1\n", "three.csv")
    matrix = load_network(path, mask=[1, 0, 0])
    np.testing.assert_array_equal(matrix.A, [[0, 1, 1], [1, 2, 1], [2, 0, 1]])
    assert "edges=True (--edges)" in matrix.notes[0]
    refused(path, "no input mask C", "--edges", error=MissingMaskError)
    ring = load_network(path, mask="0", edges=True)
    np.testing.assert_array_equal(dense(ring), np.eye(3)[[2, 0, 1]])
    named = written(tmp_path, listing())
    refused(named, "'a' is not a number", edges=False)
    refused(named, "one array without a name", "edges=True", edges=False, mask="a")
    np.testing.assert_array_equal(load_matrix(path, edges=True).toarray(), dense(ring))
    np.testing.assert_array_equal(load_matrix(named).toarray(), RING)
    np.savetxt(tmp_path / "m.txt", RING)
    plain = load_network(tmp_path / "m.txt", mask="0,2")
    np.testing.assert_array_equal(plain.A, RING)
    assert plain.C.tolist() == [1, 0, 1]
    assert plain.labels is None
    other = written(tmp_path, listing(), "e.dat")
    np.testing.assert_array_equal(dense(load_network(other, mask="a", edges=True)), RING)
    np.save(tmp_path / "A.npy", RING)
    refused(tmp_path / "A.npy", "`edges` says whether a text lists edges", edges=True)


def test_masks_by_name(tmp_path):
    path = written(tmp_path, listing())
    for mask, expected in (("a,c", [1, 0, 1]), (" b ", [0, 1, 0]), (["b", "a"], [1, 1, 0])):
        assert load_network(path, mask=mask).C.tolist() == expected
    assert load_network(path, mask={"c": -2.5}).C.tolist() == [0, 0, -2.5]
    two = load_network(path, mask={"c": [1, 2], "a": [0, 3]})
    assert two.C.tolist() == [[0, 3], [0, 0], [1, 2]]
    assert load_network(path, mask=[1.0, 0, 2]).C.tolist() == [1, 0, 2]
    np.save(tmp_path / "C.npy", [1.0, 0, 2])
    assert load_network(path, mask=tmp_path / "C.npy").C.tolist() == [1, 0, 2]
    for name, text in (
        ("n.txt", "b\n\n# a comment\na\n"),
        ("n.csv", "name,weight\nb,1\na,1\n"),
        ("n.tsv", "b\t1\na\t1"),
        ("n.txt.gz", "b\na 1\n"),
    ):
        assert load_network(path, mask=written(tmp_path, text, name)).C.tolist() == [1, 1, 0]
        assert load_network(path, mask=str(tmp_path / name)).C.tolist() == [1, 1, 0]
    more = load_network(path, mask=written(tmp_path, "b\nx\ny\n", "n.txt"))
    assert more.C.tolist() == [0, 1, 0]
    assert more.notes[-1].startswith("left out 2 of the 3 nodes in n.txt")
    spaced = written(tmp_path, "left a,right b,0.5\nright b,left a,0.5\n", "s.csv")
    nodes = written(tmp_path, "right b\n", "n.txt")
    assert load_network(spaced, mask=nodes).C.tolist() == [0, 1]


def test_masks_refused(tmp_path):
    path = written(tmp_path, listing(rename=lambda node: f"neuron {node}"))
    refused(path, "lists edges", "mask='neuron a,…'", error=MissingMaskError)

    def wrong(mask, *parts, error=ValueError):
        refuses(error, parts, load_network, path, mask=mask)

    wrong("neuro a", "got 'neuro a'", "did you mean 'neuron a'?")
    wrong("nodes.txt", "nodes.txt: no such file", error=FileNotFoundError)
    wrong({}, "`mask`")
    for text, part in (
        ("x\ny\n", "n.txt"),
        ("neuron a;1\nneuron a;2\n", "line 2"),
        ("neuron a;1\nneuron b;1e400\n", "n.txt: line 2"),
        ("neuron a;x\nneuron b;1\n", "line 1"),
        ("# none\n", "n.txt"),
    ):
        wrong(written(tmp_path, text, "n.txt"), part)
    numbered = written(tmp_path, "0 1\n1 0\n1 2\n", "numbers.edges")
    vector = {"mask": written(tmp_path, "1\n0\n0\n", "n.csv")}
    refuses(ValueError, ("n.csv", "mask='C.npy'"), load_network, numbered, **vector)
    twice = {"mask": written(tmp_path, "0 1\n0.0 2\n", "n.txt")}
    refuses(ValueError, "n.txt: must name each node once", load_network, numbered, **twice)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b,strong\nb,a,weak\n", ["line 1 has the weight 'strong'", "`matrix`"]),
        ("a,b,1\nb,a,nan\n", ["line 2 has no weight, got 'nan'", "remove"]),
        ("a,b,1_0\nb,a,1\n", ["line 1 has the weight '1_0'"]),
        ("a;b;0,5 mV\nb;a;0,5\n", ["line 1 has the weight '0,5 mV'", "decimal point"]),
        ("a,b,1\nb\nb,a,1\n", ["line 2 has 1 fields, the first line 3"]),
        ("a,b,1\n,a,1\n", ["line 2 has no source"]),
        ("a,b,1\nb,NA,1\n", ["line 2 has no target, got 'NA'"]),
        ("0 1 1\n1 2 1\n2 0 1\n2 -1 1\n", ["line 4 has the target -1", "from 0 on"]),
        ("source,target\n", ["no edges below its header"]),
        ("\n# nothing\n", ["holds no rows"]),
    ],
)
def test_refused(tmp_path, text, parts):
    refused(written(tmp_path, text), *parts, mask="a")


def test_damaged_files(tmp_path):
    columns = "must have the columns source, target"
    for name, content, fact in (
        ("e.csv", b"a,b\xff\x00,1\nb,a,2\n", "cannot be read"),
        ("e.csv.gz", gzip.compress(listing().encode() * 1000)[:-20], "damaged, incomplete"),
        ("e.csv.gz", b"no gzip at all", "damaged, incomplete"),
        ("e.edgelist", b"a b {'weight': 7}\nb a {'weight': 7}\n", columns),
        ("e.edges", b"a\nb\n", columns),
    ):
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name, fact, mask="a")
    assert load_network(written(tmp_path, "a,b\n", "e.edges"), mask="a").size == 2


def test_labels_are_saved(tmp_path):
    network = load_network(written(tmp_path, listing()), mask="b", spectral_radius=0.5)
    save_network(network, tmp_path / "n.npz")
    again = load_network(tmp_path / "n.npz")
    assert again.labels == network.labels
    assert again.notes == network.notes
    assert load_network(tmp_path / "n.npz", mask="a,c").C.tolist() == [1, 0, 1]
    assert load_network(tmp_path / "n.npz", mask={"a": 2.0}).labels == network.labels
    assert abs(again.spectral_radius - 0.5) < 1e-15
    assert again.replace(readout=["c", "a"]).readout.tolist() == [2, 0]
    np.savez(tmp_path / "n.npz", A=RING, C=np.ones(3), labels=[3, 20, 100])
    assert load_network(tmp_path / "n.npz").labels == ("3", "20", "100")
    np.savez(tmp_path / "n.npz", A=RING, C=np.ones(3), labels=["a", "b"])
    refused(tmp_path / "n.npz", "`labels` must be 3 strings", "Name `matrix` and `mask`")


@pytest.mark.parametrize("ending", [".graphml", ".gml", ".graphml.gz", ".gml.gz"])
@pytest.mark.parametrize("kind", ["DiGraph", "Graph", "MultiDiGraph"])
def test_graphs(tmp_path, ending, kind):
    graph = getattr(nx, kind)()
    graph.add_weighted_edges_from((s, t, float(w)) for s, t, w in EDGES)
    graph.add_edge("b", "a")
    write = nx.write_graphml if ".graphml" in ending else nx.write_gml
    write(graph, tmp_path / f"g{ending}")
    network = load_network(tmp_path / f"g{ending}", mask="b,c")
    assert network.labels == tuple(graph.nodes) == ("a", "b", "c")
    np.testing.assert_array_equal(dense(network), nx.to_numpy_array(graph).T)
    assert network.C.tolist() == [0, 1, 1]
    assert network.name == "g"
    assert "A[target, source]" in network.notes[0]


def test_graphs_refused(tmp_path, monkeypatch):
    path = written(tmp_path, "<graphml", "g.graphml")
    refused(path, "damaged", mask="a")
    path = written(tmp_path, "graph [ ]", "g.gml")
    refused(path, "has no nodes", mask="a")
    refused(path, "leave it out", mask="a", edges=True)
    text = 'graph [ node [ id 0 label "A" ] edge [ source 0 target 0 weight "x" ] ]'
    refused(written(tmp_path, text, "t.gml"), "'weight'", mask="A")
    known = written(tmp_path, text.replace('weight "x"', "syn 2"), "t.gml")
    refused(known, "'q'", "syn", mask="A", matrix="q")
    monkeypatch.setattr("memcurve.core.limits._ALWAYS_THERE", 10)
    monkeypatch.setattr("memcurve.core.limits.available_memory", lambda: 100)
    refused(path, "is too large", "list of edges", error=TooLargeError, mask="a")
    monkeypatch.setitem(sys.modules, "networkx", None)
    refuses(ModuleNotFoundError, "`adapters`", load_network, path, mask="a")


@pytest.mark.parametrize("names", ["abc", "012", ("a 1", "b-2", "c")])
@pytest.mark.parametrize("corner", ["", "neuron", "pre/post", '""'])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_matrix_between_its_names(tmp_path, names, corner, separator):
    """As pandas writes a frame, and Excel a table with names above and before the numbers."""
    numbers = [["0", "0", "1"], ["0.25", "-2", "0"], ["0", "1e-1", "7"]]
    if separator == ";":
        numbers = [[number.replace(".", ",") for number in row] for row in numbers]
    lines = [[name, *row] for name, row in zip(names, numbers, strict=True)]
    text = "\n".join(separator.join(line) for line in [[corner, *names], *lines])
    network = load_network(written(tmp_path, text), mask=[names[1]])
    np.testing.assert_array_equal(network.A, [[0, 0, 1], [0.25, -2, 0], [0, 0.1, 7]])
    assert (network.labels, network.C.tolist()) == (tuple(names), [0, 1, 0])
    assert "read as a matrix of 3 nodes with their names" in network.notes[0]


def test_decimal_commas(tmp_path):
    for header in ("", "pre;post;weight\n", "pre;post;Stärke\n"):
        text = header + listing(";").replace(".", ",")
        np.testing.assert_array_equal(dense(load_network(written(tmp_path, text), mask="a")), RING)
    text = "pre\tpost\tn\na\tb\t1,5\nb\ta\t2\n"
    network = load_network(written(tmp_path, text), mask="a")
    np.testing.assert_array_equal(dense(network), [[0, 2], [1.5, 0]])
    refused(written(tmp_path, text.replace("1,5", "1,234")), "1,234", "decimal point", mask="a")


def test_undirected_edges_listed_once_are_told(tmp_path):
    path = written(tmp_path, "a,b,1\na,c,2\nb,c,3\n")
    assert "undirected edges" in load_network(path, mask="a").notes[-1]
    refused(path, "Undirected edges are to be listed", mask="a", spectral_radius=0.9)
    for text in ("a,b,1\na,c,2\nb,c,3\nc,b,1\n", "a,b,1\nb,c,3\n"):  # a cycle; a chain
        notes = load_network(written(tmp_path, text), mask="a").notes
        assert not any("undirected" in note for note in notes)


# ---- connectomes as they are published

#: Rows as the Codex of FlyWire lists them: a pair may have several, one a neuropil.
CODEX = [
    ("720575940", "720575941", "AL_L", 3, "ACH"),
    ("720575940", "720575941", "AL_R", 4, "ACH"),
    ("720575941", "720575942", "AL_L", 6, "GABA"),
    ("720575942", "720575940", "LH_L", 9, "GLUT"),
    ("720575942", "720575941", "LH_L", 2, "DA"),
    ("720575943", "720575940", "LH_L", 8, ""),
]
HEADS = {
    "codex": ("pre_root_id", "post_root_id", "neuropil", "syn_count", "nt_type"),
    "male": ("body_pre", "body_post", "roi", "weight", "nt_type"),
    "neuprint": ("bodyId_pre", "bodyId_post", "roi", "weight", "nt_type"),
}
SIGNED = np.array([[0, 0, -9, 8], [7, 0, 2, 0], [0, -6, 0, 0], [0, 0, 0, 0]])


def published(tmp_path, ending, heads="codex", rows=CODEX):
    path = tmp_path / f"connections{ending}"
    if ".csv" in ending:
        lines = [HEADS[heads], *rows]
        return written(tmp_path, "\n".join(",".join(map(str, row)) for row in lines), path.name)
    if ending in (".gexf", ".graphml"):
        graph = nx.MultiDiGraph()
        for pre, post, _, count, kind in rows:
            graph.add_edge(pre, post, weight=count, nt_type=kind)
        (nx.write_gexf if ending == ".gexf" else nx.write_graphml)(graph, path)
        return path
    columns = dict(zip(HEADS[heads], map(list, zip(*rows, strict=True)), strict=True))
    columns |= {name: [int(node) for node in columns[name]] for name in HEADS[heads][:2]}
    table = pa.table(columns)
    if ending == ".feather":
        feather.write_feather(table, path)
    else:
        parquet.write_table(table, path)
    return path


@pytest.mark.parametrize("ending", [".feather", ".parquet", ".csv", ".csv.gz", ".gexf", ".graphml"])
def test_published_formats(tmp_path, ending, monkeypatch):
    for heads in HEADS if "g" not in ending[1:2] else ["codex"]:
        path = published(tmp_path, ending, heads)
        for arrow_from in (0, 10**9):  # read by pyarrow, and line by line
            monkeypatch.setattr("memcurve.io.arrow._LONG", arrow_from)
            plain = load_network(path, mask="ones")
            assert plain.labels == tuple(str(720575940 + k) for k in range(4))
            np.testing.assert_array_equal(dense(plain), np.abs(SIGNED))
            unused = [note for note in plain.notes if note.kind == "unused"]
            assert "nt_type" in unused[0]
            signed = load_network(path, mask="ones", signs="nt_type")
            np.testing.assert_array_equal(dense(signed), SIGNED)
            assert not any("nt_type" in note for note in signed.notes if note.kind == "unused")
            own = load_network(path, mask="ones", signs="nt_type", inhibitory="da, ach")
            np.testing.assert_array_equal(np.sign(dense(own)[1]), [-1, 0, -1, 0])


def test_weak_pairs_are_left_out_as_if_never_listed(tmp_path):
    """A pair counts with all its rows, whatever their signs; nodes without others go too."""
    total = {(a, b): sum(row[3] for row in CODEX if row[:2] == (a, b)) for a, b, *_ in CODEX}
    strong = [row for row in CODEX if total[row[:2]] >= 7]
    found = load_network(published(tmp_path, ".csv"), mask="ones", min_weight=7, signs="nt_type")
    path = published(tmp_path, ".csv", rows=strong)
    expected = load_network(path, mask="ones", signs="nt_type")
    assert found.labels == expected.labels
    np.testing.assert_array_equal(dense(found), dense(expected))
    mixed = [("1", "2", "x", 4, "ACH"), ("1", "2", "y", 4.5, "GABA"), ("2", "1", "x", 7, "ACH")]
    path = published(tmp_path, ".csv", rows=mixed)
    assert load_network(path, mask="ones", min_weight=8, signs="nt_type").A.data.tolist() == [-0.5]
    refused(path, "9", "`min_weight`", mask="ones", min_weight=9)
    refuses(ValueError, "`min_weight`", load_network, path, mask="ones", min_weight=-1)
    asked = {"signs": "nt_type", "inhibitory": "GABBA"}
    refused(path, "`inhibitory`", "ACH, GABA", mask="ones", **asked)
    refuses(ValueError, "`inhibitory`", load_network, path, **asked | {"inhibitory": "GABA,"})
    refused(path, "`signs`", "no inhibitory", mask="ones", signs="neuropil")
    asked |= {"inhibitory": "GABA,glut"}
    assert any("no glut" in note for note in load_network(path, mask="ones", **asked).notes)
    bulk = ":START_ID(Body-ID),weight:int,weightHP:int,:END_ID(Body-ID)\n7,3,1,8\n8,2,2,7\n"
    found = load_network(written(tmp_path, bulk, "neuprint.csv"), mask="7")
    assert found.A.toarray().tolist() == [[0, 2], [3, 0]]


CELLS = "root_id,class,side,size,nt\n" + "\n".join(
    f"{720575940 + k},{kind},{side},{10 * k},{nt}"
    for k, (kind, side, nt) in enumerate(
        [("sensory", "left", "GABA"), ("inter", "left", "ach"), ("motor", "right", "histamine")]
    )
)


def test_only_the_nodes_of_a_table(tmp_path):
    path, cells = published(tmp_path, ".csv"), written(tmp_path, CELLS, "cells.csv")
    listed = load_network(path, nodes=cells, mask="class=sensory", readout="class == 'motor'")
    assert listed.labels == tuple(str(720575940 + k) for k in range(3))
    np.testing.assert_array_equal(dense(listed), np.abs(SIGNED[:3, :3]))
    assert listed.C.tolist() == [1, 0, 0]
    assert listed.readout.tolist() == [2]
    assert any("3 of the 4 nodes and 5 of the 6 edges" in note for note in listed.notes)
    left = load_network(path, nodes=cells, where="side == 'left'", mask="ones")
    np.testing.assert_array_equal(dense(left), np.abs(SIGNED[:2, :2]))
    by_source = load_network(path, nodes=load_nodes(cells), signs="nt", mask="ones")
    np.testing.assert_array_equal(dense(by_source), np.abs(SIGNED[:3, :3]) * [-1, 1, -1])
    refused(path, "'nt'", "neuropil", "`signs`", mask="ones", signs="nt")
    refuses(ValueError, "`nodes`", load_network, path, mask="ones", where="side=left")
    refuses(ValueError, "`signs`", load_network, path, mask="ones", inhibitory="GABA")
    other = written(tmp_path, "id,class\nx,a\ny,b\n", "other.csv")
    refused(path, "2 nodes of other.csv", "'720575940'", mask="ones", nodes=other)
    negative = written(tmp_path, "pre,post,w,nt\na,b,-1,ACH\nb,a,1,ACH\n", "n.csv")
    refused(negative, "negative", mask="ones", signs="nt")
    np.save(tmp_path / "A.npy", RING)
    refused(tmp_path / "A.npy", "for edges", mask="ones", min_weight=1)


def test_tables_with_holes_are_refused(tmp_path):
    holes = [("body_pre", [1, None]), ("weight", [1.0, np.nan]), ("weight", [1, None])]
    for column, values in holes:
        table = {"body_pre": [1, 2], "body_post": [2, 1], "weight": [1, 1], column: values}
        feather.write_feather(pa.table(table), tmp_path / "e.feather")
        refused(tmp_path / "e.feather", "rows 0 … 1", mask="ones")
    unnamed = pa.table({name: [1, 2] for name in "abcd"})
    feather.write_feather(unnamed, tmp_path / "e.feather")
    refused(tmp_path / "e.feather", "source, target", mask="ones")
