"""Tables of nodes: classes and positions by name, and what is wrong with a table."""

import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather

import memcurve
from memcurve.io import NetworkFileError, load_nodes
from refusals import refuses

TABLE = "id,class1,x,y\n07,sens,0.5,1\n3,inter,1,2\n11,sens,2,3\n4,motor,0,0\n"


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "cells.csv"
    path.write_text(TABLE)
    return path


def test_classes_and_positions(table: Path) -> None:
    nodes = load_nodes(table)
    assert nodes.where("class1=sens") == ["07", "11"]
    assert nodes.where("class1 = sens, motor") == ["07", "11", "4"]
    labels = ("3", "7", "9")  # numbers may be written in other ways, and nodes be missing
    assert nodes.places("class1=sens", labels) == [1]
    assert nodes.entries("class1", labels) == ["inter", "sens", ""]
    np.testing.assert_array_equal(nodes.numbers(["x", "y"], ["4", "11"]), [[0, 0], [2, 3]])


@pytest.mark.parametrize("separator", [";", "\t", " "])
def test_other_separators_and_packed_files(tmp_path, separator: str) -> None:
    path = tmp_path / "cells.tsv.gz"
    path.write_bytes(gzip.compress(TABLE.replace(",", separator).encode()))
    assert load_nodes(path).where("class1=inter") == ["3"]


def test_attributes_of_graphs(tmp_path) -> None:
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    nx.set_node_attributes(graph, {"a": "sens", "b": "inter"}, "kind")
    nx.write_graphml(graph, tmp_path / "graph.graphml")
    nodes = load_nodes(tmp_path / "graph.graphml")
    assert nodes.where("kind=sens") == ["a"]
    network = memcurve.load_network(tmp_path / "graph.graphml", mask=nodes.where("kind=sens"))
    assert network.labels == nodes.names
    np.testing.assert_array_equal(network.C, [1, 0, 0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,class\n", "header"),
        ("id\n1\n2\n", "header"),
        ("id,class\n1,a\n2\n", "line 3"),
        ("id,class\n1,a\n1,b\n", "'1'"),
        ("# nothing\n", "no rows"),
    ],
)
def test_what_is_no_table(tmp_path, text: str, message: str) -> None:
    path = tmp_path / "cells.csv"
    path.write_text(text)
    refuses(NetworkFileError, message, load_nodes, path)


def test_unknown_columns_values_and_nodes(table: Path) -> None:
    nodes = load_nodes(table)
    refuses(NetworkFileError, ("'class'", "class1"), nodes.where, "class=sens")
    refuses(NetworkFileError, ("'sense'", "'sens'"), nodes.where, "class1=sense")
    refuses(NetworkFileError, "class1=sens", nodes.places, "class1=sens", ("x", "y"))
    refuses(NetworkFileError, "'x'", nodes.entries, "class1", ("x", "y"))
    refuses(NetworkFileError, "'class1'", nodes.numbers, ["class1"], ("7",))


@pytest.mark.parametrize(
    ("condition", "nodes"),
    [
        ("class1 == 'sens'", ["07", "11"]),
        ("class1 != 'sens'", ["3", "4"]),
        ("class1 = sens and x > 1", ["11"]),
        ("class1 == 'sens' and x >= 1 or class1 == 'motor'", ["11", "4"]),
        ("`x` < 1", ["07", "4"]),
        ("y<=1", ["07", "4"]),
    ],
)
def test_conditions(table: Path, condition: str, nodes: list[str]) -> None:
    assert load_nodes(table).where(condition) == nodes
    assert load_nodes(table).selected(condition).names == tuple(nodes)


def test_a_name_that_two_nodes_share_names_none(tmp_path: Path) -> None:
    """As in the table of the larva, whose first column has no name."""
    path = tmp_path / "cells.csv"
    path.write_text(",name,class\n29,KC,a\n31,KC,b\n")
    assert load_nodes(path).where("class=b") == ["31"]


def test_conditions_that_are_none(table: Path) -> None:
    nodes = load_nodes(table)
    for condition in ("sens", "class1 ==", "== 'sens'", "x > much", "x > inf"):
        refuses(NetworkFileError, "`where`", nodes.where, condition)
    for condition in ("class1 == '", "class1 = sens'", "class1 == 'sens", "x > 1000"):
        refuses(NetworkFileError, "no node has", nodes.where, condition)
    table.write_text("id,region\na,food and water\nb,other\nc,a'b'\n")
    nodes = load_nodes(table)
    assert nodes.where("region = 'food and water' or id = b") == ["a", "b"]
    assert nodes.where("region = a'b'") == ["c"]


def test_tables_of_pyarrow(tmp_path) -> None:
    columns = {"somaSide": ["L", None], "bodyId": [10001, 10002], "soma": [[1, 2], [3, 4]]}
    feather.write_feather(pa.table(columns), tmp_path / "cells.feather")
    nodes = load_nodes(tmp_path / "cells.feather")
    assert nodes.names == ("10001", "10002")
    assert {name: list(column) for name, column in nodes.columns.items()} == {
        "somaSide": ["L", ""], "bodyId": ["10001", "10002"],
    }  # fmt: skip
