"""Modules: their imports form no cycle, and none has the name of what its package shows."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

import pytest

from repository import ROOT

SOURCE = ROOT / "src"
FILES = {path: path.relative_to(SOURCE).with_suffix("").parts for path in SOURCE.rglob("*.py")}
MODULES = {".".join(p[:-1] if p[-1] == "__init__" else p): path for path, p in FILES.items()}


def imported(name: str) -> Iterator[str]:
    """The modules that one names in its import statements, wherever they stand.

    ``from memcurve.x import y`` is an import of ``memcurve.x.y`` where that is a module, else of
    ``memcurve.x``. Packages above are imported too, but only who names one depends on it.
    """
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: imports are absolute"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                source = inner if inner in MODULES else node.module
                if source in MODULES:
                    yield source


def test_imports_form_no_cycle() -> None:
    """Not at run time, not in functions, not for types."""
    graph = {name: set(imported(name)) for name in MODULES}
    assert graph["memcurve.memory"] >= {"memcurve.memory.batch", "memcurve.memory.curve"}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" ← ".join(error.args[1]))


def test_no_module_hides_a_name_of_its_package() -> None:
    """Who imports such a module by its path finds it where the function or class was."""
    for name in MODULES:
        package, _, own = name.rpartition(".")
        shown = getattr(importlib.import_module(package), own, None) if package else None
        assert shown is None or inspect.ismodule(shown), name
