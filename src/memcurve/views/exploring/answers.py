"""Questions of the page, and the answers as plain data for JSON.

``scene`` is computed at once; the other answers by :class:`Worker`, one after the other.
"""

import json
import math
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError, rank_among_notes
from memcurve.core.types import Complexes
from memcurve.core.version import __version__
from memcurve.inputs.noise import Float32
from memcurve.memory import METHODS, MemoryCurve, Method, is_known, memory_curve
from memcurve.network import LinearNetwork
from memcurve.studies.auditing.estimates import SLOWEST
from memcurve.studies.auditing.result import spectrum_section, usable_chart
from memcurve.studies.auditing.sentences import number, small
from memcurve.studies.auditing.usable import usable_memory
from memcurve.studies.comparison import compare
from memcurve.studies.sweeping.executors import ProcessPool
from memcurve.views.exploring import stories
from memcurve.views.exploring.files import UPLOADS
from memcurve.views.exploring.scene import PageSettings, Scene

Answer = dict[str, Any]

CUT = (-0.25, 1.5)  # of standard methods, which can return anything

#: Faster settings of standard methods than those of an audit.
_QUICKLY: dict[str, tuple[str, dict[str, Any]]] = {
    "montecarlo": ("simulation of 2,000 steps", {"samples": 2000}),
    "osm_plus": ("OSM+ with 10 masks", {"masks": 10}),
}


def scene(settings: PageSettings) -> Answer:
    """The exact memory for white input, and the eigenvalues."""
    answer: Answer = {"ignored": settings.ignored()}
    try:
        seen = settings.scene()
    except (ValueError, UncertainResultError, MemoryError) as error:
        return answer | {"trouble": str(error)}
    network, curve, eigenvalues = seen.network, seen.curve, seen.eigenvalues
    shown = eigenvalues.all if eigenvalues.counting is None else eigenvalues.counting
    upper = shown[shown.imag >= 0]
    upper = upper[np.argsort(-np.abs(upper), kind="stable")]
    return answer | {
        "name": network.name or "",
        "inputs": network.inputs,
        "states": network.read_states,
        "all_read": network.readout is None,
        "total": _with_error(curve),
        "exact": curve.total,
        "error": small(float(curve.error.max(initial=0.0))),
        "values": curve.values[: seen.end + 1],
        "half": curve.horizon(0.5) if network.inputs == 1 else None,
        "notes": list(curve.notes),
        "seconds": seen.seconds,
        "radius": network.spectral_radius,
        "poles": _pairs(upper),
        "others": [] if eigenvalues.all_count else _pairs(eigenvalues.all),
        "complex": network.is_complex,
        "movable": seen.is_movable and len(upper) > 0,
        # whether the eigenvalues are all that the curve depends on: then the page can draw it
        "lattice": seen.is_movable and eigenvalues.counting is not None,
        "spectrum": spectrum_section(eigenvalues).text,
        "python": python_lines(settings),
        "methods": list(shown_methods()),
        "lags": compared_lags(seen),
    }


def _with_error(curve: MemoryCurve) -> str:
    """A total, with its error where that reaches the digits that are written."""
    return _total(curve.total, curve.total_error) if is_known(curve) else "?"


def _total(total: float, error: float) -> str:
    return number(total) if error <= 1e-5 * total else f"{number(total)} ± {small(error)}"


def _pairs(values: Complexes) -> list[list[float]]:
    return [[float(value.real), float(value.imag)] for value in values]


def compared_lags(seen: Scene) -> int:
    """Lags over which standard methods are compared."""
    return max(2 * seen.network.states, seen.end + 1)


# --- answers of the worker


def asked_curve(network: LinearNetwork, lags: int | None, **arguments: Any) -> MemoryCurve:
    """The exact curve under the input and the noise that are set."""
    with rank_among_notes():
        return memory_curve(network, lags, **arguments)


def asked(network: LinearNetwork, settings: PageSettings, lags: int) -> Answer:
    """The curve under input and noise, the total without noise, and its usable part."""
    arguments, answer = settings.arguments(), dict[str, Any]()
    if arguments:
        try:
            curve = asked_curve(network, lags, **arguments)
            answer = {"values": curve.values[:lags], "total": _with_error(curve)}
        except (ValueError, UncertainResultError) as error:
            answer = {"problem": str(error)}
    noise = arguments.pop("noise", Float32())
    for key, more in {"theory": {}, "usable": {"noise": noise}}.items():
        try:
            answer[key] = _with_error(asked_curve(network, 1, **arguments, **more))
        except (ValueError, UncertainResultError):
            answer[key] = "?"
    return answer


def usable(network: LinearNetwork, settings: PageSettings) -> Answer:
    """Usable memory in number formats and against noise, as a chart; or why there is none."""
    arguments = settings.arguments()
    profile = usable_memory(network, arguments.get("input"), arguments.pop("noise", None))
    if profile.reason:
        return {"trouble": profile.reason}
    single = profile.at("float32")
    drawn = usable_chart(profile, asked_curve(network, 1, **arguments).total)
    lines = [{"name": one.name, "x": one.x, "y": one.y} for one in drawn.series]
    axes = {"x": drawn.x_label, "y": drawn.y_label}
    return {
        "single": None if single is None else _total(single.total, single.error),
        "chart": axes | {"series": lines, "marks": drawn.marks, "levels": drawn.levels},
    }


def shown_methods() -> dict[str, tuple[Method, Mapping[str, Any]]]:
    """The standard methods with their options, by their names on the page."""
    shown: dict[str, tuple[Method, Mapping[str, Any]]] = {}
    for method in METHODS.values():
        for variant in method.variants:
            name, options = _QUICKLY.get(variant.key, (variant.name, variant.options))
            shown[name] = method, options
    return shown


def standard(network: LinearNetwork, name: str, lags: int, seed: int) -> Answer:
    """What a standard method reports for white input, measured against the exact curve."""
    method, options = shown_methods()[name]
    if "samples" in method.options and network.spectral_radius > SLOWEST:
        raise ValueError("a simulation of this network takes too long to forget its initial state")
    exact, row = compare(network, [(method.name, options)], lags=lags, seed=seed).rows
    answer: Answer = {"exact": [number(exact.total), small(exact.largest_error)], "note": row.note}
    if row.curve is not None:
        answer["row"] = [number(row.total), small(row.largest_error)]
        answer["values"] = np.clip(row.curve.values, *CUT)
    return answer


def data(network: LinearNetwork, settings: PageSettings, lags: int) -> Answer:
    """The curve to export: under input and noise, where they are set."""
    curve = asked_curve(network, lags if settings.arguments() else None, **settings.arguments())
    return {"csv": curve.to_csv(), "json": curve.to_json()}


def python_lines(settings: PageSettings) -> str:
    """The script that gives the numbers of the page."""
    made = f"memcurve.ensembles.{settings.ensemble}({settings.size}"
    if settings.file is not None:
        made = f"memcurve.load_network({UPLOADS.name(settings.file)!r}"
    options = "".join(f", {name}={v!r}" for name, v in settings.options().items())
    given = [f"input=memcurve.inputs.ARMA(ar=[{settings.colour!r}])"] if settings.colour else []
    profile = ", ".join(["network", *given])
    given += [f"noise={settings.noise!r}"] if settings.noise else []
    lines = [f"# memcurve {__version__}", "import memcurve", "", f"network = {made}{options})"]
    if settings.moves:
        lines.insert(2, "from memcurve.views.exploring import move_eigenvalue")
    lines += [f"network = move_eigenvalue(network, {a!r}, {b!r})" for a, b in settings.moves]
    lines += ["", "curve = memcurve.memory_curve(network)", "print(curve.total, curve.error.max())"]
    if given:
        lines += [f"asked = memcurve.memory_curve(network, {', '.join(given)})"]
        lines += ["print(asked.total, asked.error.max())"]
    return "\n".join([
        *lines,
        f"print(memcurve.noise_profile({profile}))",
        f"print(memcurve.compare(network, seed={settings.seed}))  # what standard methods report",
        f"memcurve.plot.save(memcurve.plot.curves(curve{', asked' * bool(given)}), 'memory.png')",
        "",
    ])  # fmt: skip


class Stale(Exception):
    """The page has changed, and no longer needs this answer."""


class Worker(ProcessPool):
    """A process that computes one call after the other, and is replaced if a call kills it."""

    def __init__(self) -> None:
        super().__init__(1)
        self._turn = threading.Lock()

    def start(self) -> None:
        """Start the process and let it load what the answers need meanwhile."""
        super().start()
        tiny, settings = LinearNetwork([[0.5, 0.2], [-0.2, 0.4]], [1.0, 0.0]), PageSettings()
        self.call(usable, tiny, settings)
        self.call(standard, tiny, next(iter(shown_methods())), 2, 0)

    def result(self, wanted: Callable[[], bool], function: Callable[..., Any], *values: Any) -> Any:
        """The result of a call; Stale where it is not ``wanted`` any more when its turn comes."""
        with self._turn:
            if not wanted():
                raise Stale
            return self.call(function, *values).result()


def answer(question: str, given: Answer, worker: Worker, wanted: Callable[[], bool]) -> Answer:
    """Answer a question of the page; KeyError, ValueError or TypeError where it makes no sense."""
    if question == "story":
        jobs: dict[str, Any] = {"story": (stories.story_text, given["story"])}
    else:
        settings = PageSettings.of(given["settings"])
        if question == "scene":
            return scene(settings)
        try:
            seen = settings.scene()
        except (ValueError, UncertainResultError, MemoryError) as error:
            return {"trouble": str(error)}
        network, lags = seen.network, seen.end + 1
        jobs = {
            "asked": (asked, network, settings, lags),
            "usable": (usable, network, settings),
            "products": (stories.products, network, lags),
            "data": (data, network, settings, lags),
        }
        if question == "standard":
            name, compared = given["method"], compared_lags(seen)
            jobs["standard"] = (standard, network, name, compared, settings.seed)
    function, *arguments = jobs[question]
    try:
        return dict(worker.result(wanted, function, *arguments))
    except Stale:
        raise
    except Exception as error:  # every failure is shown in place of its figure
        return {"trouble": str(error) or type(error).__name__}


def as_json(content: Answer) -> bytes:
    """An answer as it is sent: lists for arrays, null for what is not finite."""

    def plain(array: Any) -> Any:
        values = array.tolist()
        if array.ndim == 0:
            return values
        return [value if math.isfinite(value) else None for value in values]

    return json.dumps(content, default=plain, allow_nan=False, separators=(",", ":")).encode()
