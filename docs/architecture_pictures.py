"""Draw the pictures of the architecture page from the code: the rings, and the path of a question.

python docs/architecture_pictures.py
"""

from __future__ import annotations

import importlib
import textwrap
import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from grimp import ImportGraph, build_graph

from memcurve.solve.balls.general import solve_in_balls
from memcurve.solve.choose import LAST_LEAVES, SOLVERS

ROOT = Path(__file__).parents[1]
WIDTH = 800
STYLE = """\
svg.drawing { color: var(--pst-color-text-base, #222);
  font-family: var(--pst-font-family-base, sans-serif); }
@media (prefers-color-scheme: dark) { svg.drawing { color: var(--pst-color-text-base, #ddd); } }
svg.drawing text { fill: currentColor; font-size: 14px; }
svg.drawing text.middle { text-anchor: middle; }
svg.drawing text.module { font: 12px var(--pst-font-family-monospace, monospace); }
svg.drawing text.name, svg.drawing tspan.name { font-weight: 600; }
svg.drawing .box { fill: var(--pst-color-surface, none); stroke: currentColor; }
svg.drawing .way { fill: none; stroke: currentColor; stroke-width: 1.3px; }
"""


def svg(name: str, title: str, height: float, parts: list[str]) -> str:
    """A whole picture. A page may hold several: its arrows refer to a tip of its own."""
    content = "\n".join(parts)
    return f"""\
<svg class="drawing" width="{WIDTH}" height="{height:g}" viewBox="0 0 {WIDTH} {height:g}" \
role="img" aria-labelledby="{name}-title" xmlns="http://www.w3.org/2000/svg">
<title id="{name}-title">{escape(title)}</title>
<style>
{STYLE}svg.drawing .to-{name} {{ marker-end: url(#{name}-tip); }}
</style>
<marker id="{name}-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" \
orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker>
{content}
</svg>
"""


def rectangle(x: float, y: float, width: float, height: float) -> str:
    """A box with round corners."""
    return f'<rect class="box" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>'


def text(kind: str, x: float, y: float, words: str) -> str:
    """A line of text."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" xml:space="preserve">{words}</text>'


# --- the rings


def rings() -> list[str]:
    """The rings from the top down, as the contract of import-linter has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [contract] = [one for one in contracts if one.get("containers") == ["memcurve"]]
    return [ring for layer in contract["layers"] for ring in layer.split(" | ")]


def ring_picture(graph: ImportGraph) -> str:
    """A box for every ring; the line from its right side leads to all rings that it imports."""
    order = rings()
    edge = 576  # where boxes end, and lines begin
    lane = {ring: WIDTH - 14 - 23 * place for place, ring in enumerate(order)}
    imported = {
        ring: [other for other in order if other != ring and imports(graph, ring, other)]
        for ring in order
    }
    parts, middle, top = [], {}, 4
    for ring in order:
        names = [
            module.rpartition(".")[2] + ("/" if graph.find_children(module) else "")
            for module in sorted(graph.find_children(f"memcurve.{ring}"))
        ]
        lines = textwrap.wrap("  ".join(names), 58) or ["one module"]
        height = 18 * len(lines) + 22
        middle[ring] = top + height / 2
        parts += [rectangle(4, top, edge - 4, height), text("module name", 16, top + 25, ring)]
        parts += [text("module", 134, top + 25 + 18 * row, line) for row, line in enumerate(lines)]
        top += height + 10
    for ring in order:
        importers = [lane[other] for other in order if ring in imported[other]]
        y = middle[ring] - 8
        if importers:
            way = f"M{max(importers)} {y:g}H{edge + 2}"
            parts.append(f'<path class="way to-rings" d="{way}"/>')
        parts += [f'<circle cx="{x}" cy="{y:g}" r="3.5" fill="currentColor"/>' for x in importers]
        if imported[ring]:
            lowest = max(middle[other] for other in imported[ring]) - 8
            way = f"M{edge} {middle[ring] + 8:g}H{lane[ring]}V{lowest:g}"
            parts.append(f'<path class="way" d="{way}"/>')
    sentences = [f"{ring} imports {', '.join(imported[ring]) or 'nothing'}." for ring in order]
    return svg("rings", "The rings from the top down. " + " ".join(sentences), top - 6, parts)


def imports(graph: ImportGraph, importer: str, imported: str) -> bool:
    """Whether a module or package imports another, directly or through the façade of its ring."""
    importer, imported = f"memcurve.{importer}", f"memcurve.{imported}"
    facade = ".".join(imported.split(".")[:2])
    return graph.direct_import_exists(importer=importer, imported=imported, as_packages=True) or (
        not importer.startswith(facade)
        and graph.direct_import_exists(importer=importer, imported=facade)
        and graph.direct_import_exists(importer=facade, imported=imported)
    )


# --- the path of a question


class Box(NamedTuple):
    """A thing, in a few words, and its module; the leaves of the tree are the columns."""

    row: int
    first: float
    last: float
    name: str
    module: str
    words: str = ""

    def span(self) -> tuple[float, float]:
        """Where the box begins and ends from left to right."""
        unit = (WIDTH + 8) / (len(SOLVERS) + 1)
        return 4 + unit * self.first, unit * self.last - 12

    def drawn(self) -> str:
        """The box and its text."""
        (left, right), top = self.span(), 4 + 74 * self.row
        title = f'<tspan class="name">{self.name}</tspan>' + (self.words and f": {self.words}")
        centre = (left + right) / 2
        words = text("middle", centre, top + 22, title)
        module = text("module middle", centre, top + 39, self.module)
        return "\n".join([rectangle(left, top, right - left, 48), words, module])

    def arrow(self, other: Box) -> str:
        """To the right within a row, else down where the two overlap."""
        (left, right), (other_left, other_right) = self.span(), other.span()
        if self.row == other.row:
            way = f"M{right:g} {28 + 74 * self.row}H{other_left - 1:g}"
        else:
            centre = (max(left, other_left) + min(right, other_right)) / 2
            way = f"M{centre:g} {52 + 74 * self.row}V{3 + 74 * other.row}"
        return f'<path class="way to-question" d="{way}"/>'


def modules_used(function: FunctionType, seen: set[Any]) -> Iterator[str]:
    """The modules of all that a function uses, also through other functions of its module."""
    seen.add(function)
    codes = [function.__code__]
    for code in codes:
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
        for value in [function.__globals__.get(name) for name in code.co_names]:
            yield getattr(value, "__module__", "")
            if isinstance(value, FunctionType) and value.__module__ == function.__module__:
                yield from modules_used(value, seen) if value not in seen else ()


def question_picture(graph: ImportGraph) -> str:
    """From a network to its report, through the tree of solvers."""
    solvers = {one.name: one.solve for one in SOLVERS} | {LAST_LEAVES[0][0]: solve_in_balls}
    wide = len(solvers)
    leaves = [
        Box(4, column, column + 1, name, ".".join(solve.__module__.split(".")[1:3]))
        for column, (name, solve) in enumerate(solvers.items())
    ]
    factored = [
        leaf
        for leaf in leaves
        if "memcurve.solve.evaluate" in modules_used(solvers[leaf.name], set())
    ]
    first, last = factored[0].first, factored[-1].last
    assert len(factored) == last - first, "leaves with a factor are to stand side by side"
    things = [
        network := Box(0, 0, wide, "LinearNetwork", "network.linear", "A, C, readout"),
        entry := Box(1, 0, wide, "memory_curve", "memory.entry_points", "the entry point"),
        problem := Box(2, 0, wide / 2, "Problem", "solve.problem", "what is asked"),
        analysis := Box(2, wide / 2, wide, "Analysis", "solve.analysis", "facts, when needed"),
        choose := Box(3, 0, wide, "choose", "solve.choose", "until every error is small"),
        factor := Box(5, first, last, "KrylovFactor", "solve.factor", "K = M·Wᵀ"),
        system := Box(6, first, last, "SingularSystem", "solve.evaluate", "the evaluation"),
        memory := Box(7, first, last, "_read_off", "solve.leaves", "memory with its errors"),
        answer := Box(8, 0, wide, "Answer", "solve.answer", "numbers, errors, notes"),
        curves := Box(9, 0, wide, "curves_of", "memory.curves", "one curve per noise level"),
        curve := Box(10, 0, wide, "MemoryCurve", "memory.curve", "the result"),
        plot := Box(11, 0, wide / 3, "curves", "rendering.plot", "the picture"),
        audit := Box(11, wide / 3, wide * 2 / 3, "Audit", "studies.auditing.result", "a study"),
        report := Box(11, wide * 2 / 3, wide, "Document", "rendering.report.document", "report"),
    ]  # fmt: skip
    ways = [
        (network, entry), (entry, problem), (problem, analysis), (problem, choose),
        *((choose, leaf) for leaf in leaves),
        *((leaf, factor if leaf in factored else answer) for leaf in leaves),
        (factor, system), (system, memory), (memory, answer), (answer, curves), (curves, curve),
        (curve, plot), (curve, audit), (audit, report),
    ]  # fmt: skip
    for thing in things:
        getattr(importlib.import_module(f"memcurve.{thing.module}"), thing.name)
    for start, end in ways:
        one, other = start.module, end.module
        assert imports(graph, one, other) or imports(graph, other, one), (
            f"{one}, {other}: no import"
        )
    parts = [box.drawn() for box in things + leaves] + [one.arrow(other) for one, other in ways]
    title = "The path of a question: " + ", ".join(f"{a.name} to {b.name}" for a, b in ways)
    return svg("question", title + ".", 4 + 74 * 12 - 22, parts)


def pictures() -> dict[str, str]:
    """Both pictures, by the names of their files."""
    graph = build_graph("memcurve", cache_dir=None)
    return {"rings.svg": ring_picture(graph), "question.svg": question_picture(graph)}


if __name__ == "__main__":
    for file, drawing in pictures().items():
        (ROOT / "docs" / "_static" / file).write_text(drawing, encoding="utf-8")
