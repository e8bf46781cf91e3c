"""Measure, print and save.

    python -m benchmarks                     everything; some minutes
    python -m benchmarks --quick             small sizes, seconds: a check that all of it runs
    python -m benchmarks --sizes 100 3000    other sizes against bare eigenvalues
    python -m benchmarks --memory 3000       peak memory of one call, in this process, and no more
    python -m benchmarks --scale             sparse networks up to a million nodes, and no more
    python -m benchmarks --brain             null models of 25 million edges, and no more
    python -m benchmarks --only measured     models that are run, libraries side by side; an hour

Run it in a clone of the repository as ``uv run --no-dev --group benchmarks python -m benchmarks``,
which also installs the libraries it compares with; those that are not installed are listed as such.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import memcurve
from benchmarks import accuracy, brain, eigenvalues, measured, memory, picture, scale, table
from benchmarks.timing import load, machine, versions

SIZES = [100, 300, 1000, 3000]
QUICK_SIZES = [20, 40]
MEMORY_SIZES = [1000, 2000]
QUICK_MEMORY_SIZES = [200]


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and do what it says."""
    asked = _parser().parse_args(arguments)
    if asked.memory:
        row = memory.peak_memory(asked.memory)
        print(json.dumps(row) if asked.json else table.markdown(_described({"memory": [row]})))
        return
    if asked.scale_row:
        print(json.dumps(scale.row_of(*asked.scale_row)))
        return
    if asked.brain_row:
        print(json.dumps(brain.row_of(*asked.brain_row)))
        return
    if asked.scale:
        _part_alone(asked, "scale")
        return
    if asked.brain:
        _part_alone(asked, "brain")
        return
    budget = 0.01 if asked.quick else 1.0
    sizes = asked.sizes or (QUICK_SIZES if asked.quick else SIZES)
    results = _described({})
    memcurve.memory_curve(memcurve.ensembles.normal(20, seed=1))  # load the libraries first
    parts: dict[str, Any] = {
        "eigenvalues": lambda: eigenvalues.plain(sizes, budget),
        "claim": lambda: accuracy.claimed(asked.quick, budget),
        "methods": lambda: accuracy.compared(asked.quick, budget),
        "questions": lambda: eigenvalues.questions(asked.quick, budget),
        "structured": lambda: eigenvalues.structured(asked.quick, budget),
        "measured": lambda: measured.measured(asked.quick, asked.workers),
        "memory": lambda: [
            memory.in_a_process_of_its_own(size)
            for size in (QUICK_MEMORY_SIZES if asked.quick else MEMORY_SIZES)
        ],
    }
    folder = Path(asked.output)
    folder.mkdir(parents=True, exist_ok=True)
    for name in asked.only or [name for name in parts if name != "measured"]:
        print(f"measuring: {name} …", file=sys.stderr)
        results[name] = parts[name]()
        results["load"] = [results["load"][0], load()]
        _save(results, folder)  # also what an interrupted run has measured so far
    print(table.markdown(results), end="")
    if "methods" in results:
        picture.draw(results["methods"], asked.picture or folder / "accuracy.png")
    if "measured" in results:
        measured.draw(results["measured"], folder / "measured.png")


def _part_alone(asked: argparse.Namespace, name: str) -> None:
    """Measure large networks or a synthetic brain, and nothing else."""
    part = {"scale": scale, "brain": brain}[name]
    folder = Path(asked.output)
    folder.mkdir(parents=True, exist_ok=True)
    results = _described({})
    results[name] = part.measured(asked.quick, asked.sizes)
    results["load"].append(load())
    _save(results, folder, name)
    print(table.markdown(results), end="")
    if name == "scale":
        scale.draw(results[name], asked.picture or folder / "scale.png")


def _save(results: dict[str, Any], folder: Path, name: str = "results") -> None:
    whole = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
    (folder / f"{name}.json").write_text(whole, encoding="utf-8")
    (folder / f"{name}.md").write_text(table.markdown(results), encoding="utf-8")


def _described(results: dict[str, Any]) -> dict[str, Any]:
    command = "python -m benchmarks " + " ".join(sys.argv[1:])
    return {
        "command": command.strip(),
        "versions": versions(),
        "machine": machine(),
        "load": [load()],
    } | results


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=(__doc__ or "").split("\n")[0],
        epilog="Results are ratios of times taken in one run.",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, in seconds")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of nodes against eigenvalues")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=[
            "eigenvalues", "claim", "methods", "questions", "structured", "memory",
            "measured",
        ],
        help="some of the tables",
    )  # fmt: skip
    parser.add_argument(
        "--workers", type=int, default=1, metavar="K", help="processes of --only measured"
    )
    parser.add_argument(
        "--output", default=".benchmarks", metavar="DIR", help="folder of results.md and .json"
    )
    parser.add_argument("--picture", metavar="FILE", help="accuracy.png in that folder by default")
    parser.add_argument("--memory", type=int, metavar="N", help="peak memory of one call only")
    parser.add_argument("--scale", action="store_true", help="large sparse networks only")
    parser.add_argument(
        "--scale-row", type=int, nargs=2, metavar=("N", "EDGES"), help="one of its rows, as JSON"
    )
    parser.add_argument(
        "--brain", action="store_true", help="a brain of 25 million edges (--sizes N EDGES) only"
    )
    parser.add_argument("--brain-row", nargs=2, metavar=("PART", "FILE"), help="one of its rows")
    parser.add_argument("--json", action="store_true", help="with --memory: print JSON")
    return parser


if __name__ == "__main__":
    main()
