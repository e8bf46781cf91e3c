"""The graph of imports has no cycle: not at run time, not in functions, not for types."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from repository import ROOT

SOURCE = ROOT / "src"


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def imported(name: str, tree: ast.AST, modules: frozenset[str]) -> Iterator[str]:
    """The modules that one names in its import statements, wherever they stand.

    ``from memcurve.x import y`` is an import of ``memcurve.x.y`` where that is a module, else of
    ``memcurve.x``. Packages above are imported too, but only who names one depends on it.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: imports are absolute"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found = inner if inner in modules else node.module
                if found in modules:
                    yield found


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one node (Tarjan), and nodes with a loop."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = [[node] for node, others in graph.items() if node in others]

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            component = stack[at:]
            del stack[at:]
            if len(component) > 1:
                found.append(sorted(component))

    for node in graph:
        if node not in index:
            visit(node)
    return sorted(found)


def test_cycles_are_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d", "a"}}) == [["b", "c"], ["d"]]
    code = "if True:\n  import p\ndef f():\n  from p import x, y\n  from q.r import z\n"
    named = imported("p.x", ast.parse(code), frozenset({"p", "p.x", "q.r"}))
    assert list(named) == ["p", "p.x", "p", "q.r"]


def test_imports_form_no_cycle() -> None:
    names = frozenset(MODULES)
    graph = {
        name: set(imported(name, ast.parse(path.read_text(encoding="utf-8")), names))
        for name, path in MODULES.items()
    }
    found = cycles(graph)
    if found:
        pytest.fail("\n".join(f"{len(one)} modules: {', '.join(one)}" for one in found))
