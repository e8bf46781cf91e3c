"""What the page asks, and the answers: plain data that JSON can carry.

``scene`` is computed at once; the other answers by :class:`Worker`, one after the other.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError, rank_among_notes
from memcurve.core.notes import counted
from memcurve.core.types import Complexes
from memcurve.core.version import __version__
from memcurve.inputs.noise import Float32
from memcurve.memory import METHODS, MemoryCurve, Method, is_known, memory_curve
from memcurve.network import LinearNetwork
from memcurve.rendering.report import Chart
from memcurve.rendering.report.document import listed
from memcurve.studies.auditing.estimates import SLOWEST
from memcurve.studies.auditing.result import spectrum_section, usable_chart
from memcurve.studies.auditing.sentences import number, small
from memcurve.studies.auditing.usable import usable_memory
from memcurve.studies.comparison import compare
from memcurve.studies.sweeping.executors import ProcessPool
from memcurve.views.exploring import stories
from memcurve.views.exploring.files import UPLOADS
from memcurve.views.exploring.scene import PageSettings, Scene

LOWEST, HIGHEST = -0.25, 1.5  # drawn for standard methods, which can return anything
NEARLY_ALL = 0.998  # of the memory, below which the lags drawn are said to miss some

Answer = dict[str, Any]

#: What the page shows quickly, in place of what an audit takes more time for.
_QUICKLY: dict[str, tuple[str, dict[str, Any]]] = {
    "montecarlo": ("simulation of 2,000 steps", {"samples": 2000}),
    "osm_plus": ("OSM+ with 10 masks", {"masks": 10}),
}

#: Sentences of the page, by kind.
PROSE = {
    "asked": "With {asked} the total is {total} instead of {without:g}.",
    "no curve": "With {asked} there is no curve: {problem}",
    "tail": " The lags drawn hold {held} of it; the rest is spread over many later lags.",
    "not driven": "The total memory is 0: no input reaches the {states}.",
    "total": "Total memory {total} of at most {states}{read}. {accuracy}",
    "accurate": "All values are within {error} of the truth.",
    "exact": "The values are exact.",
    "usable": "Memory in directions of small state variance is lost to noise first, and is missed "
    "by simulations.",
    "single": " States stored in single precision keep {total}.",
    "drag": "Drag one, or set its modulus and angle: its eigenvectors and all others stay, its "
    "conjugate moves along.",
    "complex": "Eigenvalues of a complex network, and their conjugates, cannot be moved here.",
    "none driven": "Here it excites none.",
    "not movable": "They cannot be moved here: rounding would excite uncontrollable modes.",
    "hidden": "{names} {have} no effect on {what}, and {are} hidden.",
}


def scene(settings: PageSettings) -> Answer:
    """The exact memory for white input, the eigenvalues and what is said of them."""
    ignored = settings.ignored()
    about: Answer = {"ignored": ignored}
    try:
        about["remark"] = _remark(settings, ignored)
        seen = settings.scene()
    except (ValueError, UncertainResultError, MemoryError) as error:
        return about | {"trouble": str(error)}
    network, curve, eigenvalues = seen.network, seen.curve, seen.eigenvalues
    shown = eigenvalues.all if eigenvalues.counting is None else eigenvalues.counting
    upper = shown[shown.imag >= 0]
    upper = upper[np.argsort(-np.abs(upper), kind="stable")]
    kind = "not movable" if curve.total else "none driven"
    kind = "drag" if seen.is_movable else "complex" if network.is_complex else kind
    return about | {
        "name": network.name or "", "states": network.states, "inputs": network.inputs,
        "total": _with_error(curve), "exact": curve.total, "values": curve.values[: seen.end + 1],
        "half": curve.horizon(0.5) if network.inputs == 1 else None,
        "summary": _summary(seen), "notes": list(curve.notes), "seconds": seen.seconds,
        "poles": _pairs(upper),
        "others": [] if eigenvalues.all_count else _pairs(eigenvalues.all),
        "movable": seen.is_movable and len(upper) > 0,
        # whether the eigenvalues are all that the curve depends on: then the page can draw it
        "lattice": seen.is_movable and eigenvalues.counting is not None,
        "radius": network.spectral_radius,
        "spectrum": f"{spectrum_section(eigenvalues).text} {PROSE[kind]}",
        "asked": asked_name(settings), "read": read_name(settings),
        "python": python_lines(settings),
        "methods": list(shown_methods()), "lags": compared_lags(seen),
    }  # fmt: skip


def _remark(settings: PageSettings, ignored: list[str]) -> str:
    """Which controls are hidden."""
    if not ignored:
        return ""
    what = "this ensemble"
    if settings.file is not None:
        what = UPLOADS.name(settings.file)
    names = listed([name.replace("_", " ") for name in ignored]).capitalize()
    have, are = ("has", "is") if len(ignored) == 1 else ("have", "are")
    return PROSE["hidden"].format(names=names, have=have, what=what, are=are)


def _summary(seen: Scene) -> str:
    """The total for white input, with its accuracy."""
    curve, network = seen.curve, seen.network
    if not curve.total:
        read = "states" if network.readout is None else "states that are read"
        return PROSE["not driven"].format(states=read)
    error, held = float(curve.error.max()), float(curve.values[: seen.end + 1].sum())
    return PROSE["total"].format(
        total=round(curve.total),
        states=counted(network.read_states, "state"),
        read="" if network.readout is None else " read",
        accuracy=PROSE["accurate" if error else "exact"].format(error=small(error)),
    ) + (PROSE["tail"].format(held=number(held)) if held < NEARLY_ALL * curve.total else "")


def asked_name(settings: PageSettings) -> str:
    """Input and noise in words; nothing for white input without noise."""
    parts = [f"AR({settings.colour:g}) input"] if settings.colour else []
    parts += [f"noise {settings.noise:g}"] if settings.noise else []
    return ", ".join(parts)


def read_name(settings: PageSettings) -> str:
    """How the states are read, for the memory that is usable then."""
    return f"with noise {settings.noise:g}" if settings.noise else "in single precision"


def _with_error(curve: MemoryCurve) -> str:
    """A total, with its error where that reaches the digits that are written."""
    total, error = curve.total, curve.total_error
    if not is_known(curve):
        return "?"
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


def asked(network: LinearNetwork, settings: PageSettings, lags: int, without: float) -> Answer:
    """The curve under input and noise, the total without noise, and what of it is usable."""
    arguments, answer = settings.arguments(), dict[str, Any]()
    if arguments:
        name = asked_name(settings)
        try:
            curve = asked_curve(network, lags, **arguments)
            total = _with_error(curve)
            said = PROSE["asked"].format(asked=name, total=total, without=without)
            answer = {"values": curve.values[:lags], "total": total, "said": said}
        except (ValueError, UncertainResultError) as error:
            answer = {"said": PROSE["no curve"].format(asked=name, problem=error)}
    noise = arguments.pop("noise", Float32())
    theory: dict[str, dict[str, Any]] = {"theory": {}} if arguments else {}
    usable = {"usable": {"noise": noise}} if without else {}
    for key, more in (theory | usable).items():
        try:
            answer[key] = _with_error(asked_curve(network, 1, **arguments, **more))
        except (ValueError, UncertainResultError):
            answer[key] = "?"
    return answer


def usable(network: LinearNetwork, settings: PageSettings) -> Answer:
    """Usable memory in number formats and against noise."""
    given = settings.arguments()
    profile = usable_memory(network, given.get("input"), given.pop("noise", None))
    if profile.reason:
        return {"said": profile.reason}
    said = PROSE["usable"]
    if (single := profile.at("float32")) is not None:
        close = single.error <= 1e-5 * single.total
        total = number(single.total) + ("" if close else f" ± {small(single.error)}")
        said += PROSE["single"].format(total=total)
    said += f" The input is AR({settings.colour:g})." if settings.colour else ""
    return {
        "said": said,
        "chart": chart(usable_chart(profile, asked_curve(network, 1, **given).total)),
    }


def chart(drawn: Chart) -> Answer:
    """A chart as the page draws it."""
    lines = [{"name": one.name, "x": one.x, "y": one.y} for one in drawn.series]
    labels = {"x": drawn.x_label, "y": drawn.y_label}
    return labels | {"series": lines, "marks": drawn.marks, "levels": drawn.levels}


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
        answer["values"] = np.clip(row.curve.values, LOWEST, HIGHEST)
    return answer


def data(network: LinearNetwork, settings: PageSettings, lags: int) -> Answer:
    """The curve to take home: under input and noise, where they are set."""
    curve = asked_curve(network, lags if settings.arguments() else None, **settings.arguments())
    return {"csv": curve.to_csv(), "json": curve.to_json()}


def python_lines(settings: PageSettings) -> str:
    """The script that gives the numbers of the page."""
    made = f"memcurve.ensembles.{settings.ensemble}({settings.size}"
    if settings.file is not None:
        made = f"memcurve.load_network({UPLOADS.name(settings.file)!r}"
    options = "".join(f", {name}={v!r}" for name, v in settings.options().items())
    network, imports = f"network = {made}{options})", ""
    for moved in settings.moves:
        imports = "from memcurve.views.exploring import move_eigenvalue\n"
        network += f"\nnetwork = move_eigenvalue(network, {moved[0]!r}, {moved[1]!r})"
    given = [f"input=memcurve.inputs.ARMA(ar=[{settings.colour!r}])"] if settings.colour else []
    profile = ", ".join(["network", *given])
    given += [f"noise={settings.noise!r}"] if settings.noise else []
    curve = f"asked = memcurve.memory_curve(network, {', '.join(given)})\nprint(asked.total)\n"
    return _SCRIPT.format(
        version=__version__,
        imports=imports,
        network=network,
        asked=curve if given else "",
        curves="curve, asked" if given else "curve",
        profile=profile,
        seed=settings.seed,
    )


_SCRIPT = """# memcurve {version}
import memcurve
{imports}
{network}

curve = memcurve.memory_curve(network)
print(curve.total, curve.error.max())
{asked}print(memcurve.noise_profile({profile}))
print(memcurve.compare(network, seed={seed}))  # what standard methods report
memcurve.plot.save(memcurve.plot.curves({curves}), "memory.png")
"""


class Stale(Exception):
    """The page has moved on, and waits for this answer no more."""


class Worker:
    """A process that computes, one call after the other; one that a call kills is replaced."""

    def __init__(self) -> None:
        self._pool, self._turn = ProcessPool(1), threading.Lock()

    def open(self) -> None:
        """Start the process and let it load its libraries meanwhile."""
        self._pool.start()
        self._pool.call(_warm_up)

    def close(self) -> None:
        """End it, whatever it does."""
        self._pool.stop()

    def call(
        self, function: Callable[..., Any], *given: Any, wanted: Callable[[], bool] = lambda: True
    ) -> Any:
        """The function's result; Stale where it is not ``wanted`` any more when its turn comes."""
        with self._turn:
            if not wanted():
                raise Stale
            return self._pool.call(function, *given).result()


def _warm_up() -> None:
    """Load what the jobs need."""
    tiny = LinearNetwork([[0.5, 0.2], [-0.2, 0.4]], [1.0, 0.0])
    for name in shown_methods():
        standard(tiny, name, 2, 0)
    usable(tiny, PageSettings())


def answer(question: str, given: Answer, worker: Worker, wanted: Callable[[], bool]) -> Answer:
    """Answer a question of the page; KeyError, ValueError or TypeError where it makes no sense."""
    if question == "story":
        jobs: dict[str, Any] = {"story": (stories.told, given["story"])}
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
            "asked": (asked, network, settings, lags, seen.curve.total),
            "usable": (usable, network, settings),
            "products": (stories.products, network, lags),
            "data": (data, network, settings, lags),
        }
        if question == "standard":
            name, compared = given["method"], compared_lags(seen)
            jobs["standard"] = (standard, network, name, compared, settings.seed)
    function, *arguments = jobs[question]
    try:
        return dict(worker.call(function, *arguments, wanted=wanted))
    except Stale:
        raise
    except Exception as error:  # every failure is shown in place of its figure
        return {"trouble": str(error) or type(error).__name__}


def plain(value: Any) -> Any:
    """What JSON can carry: lists for arrays, null for what is not finite."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value
