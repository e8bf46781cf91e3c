"""The Python lines that reproduce what is on the screen."""

from __future__ import annotations

from memcurve.exploring.later import USUAL
from memcurve.exploring.settings import OWN_MASK, Settings
from memcurve.version import __version__


def python_lines(
    settings: Settings,
    *,
    lags: int,
    file: str | None = None,
    moved: tuple[complex, complex] | None = None,
) -> str:
    """A script that gives the numbers of the page.

    Parameters
    ----------
    settings : Settings
        Where the controls stand.
    lags : int
        Lags over which the usual ways are compared.
    file : str, optional
        Name of the file that the network comes from, in place of an ensemble.
    moved : (from, to), optional
        The eigenvalue that was moved, and where to.
    """
    lines = [f"# memcurve {__version__}", "import memcurve"]
    if moved is not None:
        lines.append("from memcurve.exploring import move_eigenvalue")
    lines += ["", *_network_lines(settings, file)]
    if moved is not None:
        lines.append(f"network = move_eigenvalue(network, {moved[0]!r}, {moved[1]!r})")
    lines += [
        "",
        "curve = memcurve.memory_curve(network)",
        "print(curve.total, curve.error.max())",
    ]
    arguments = []
    if settings.colour:
        arguments.append(f"input=memcurve.inputs.ARMA(ar=[{settings.colour!r}])")
    profile = ", ".join(["network", *arguments])
    if settings.noise:
        arguments.append(f"noise={settings.noise!r}")
    curves = "curve, asked" if arguments else "curve"
    if arguments:
        lines += [
            "",
            f"asked = memcurve.memory_curve(network, {', '.join(arguments)})",
            "print(asked.total)",
        ]
    lines += ["", "# what the usual ways report", "ways = ["]
    for method, options in USUAL.values():
        given = dict(options)
        if method in ("osm_plus", "montecarlo"):
            given["seed"] = settings.seed
        lines.append(f'    ("{method}", {given!r}),')
    lines += [
        "]",
        "for method, options in ways:",
        "    try:",
        f"        way = memcurve.memory_curve(network, {lags}, method=method, **options)",
        "        print(method, options, way.values.sum())",
        "    except (ValueError, ArithmeticError, MemoryError) as problem:",
        "        print(method, options, problem)",
        "",
        "# usable memory against noise",
        f"print(memcurve.noise_profile({profile}))",
        "",
        f'memcurve.plot.save(memcurve.plot.curves({curves}), "memory.png")',
    ]
    return "\n".join(lines) + "\n"


def _network_lines(settings: Settings, file: str | None) -> list[str]:
    if file is None:
        options = "".join(f", {name}={value!r}" for name, value in settings.options().items())
        return [f"network = memcurve.ensembles.{settings.ensemble}({settings.size}{options})"]
    if settings.mask == OWN_MASK:
        return [f"network = memcurve.load_network({file!r})"]
    return [
        f"A = memcurve.load_matrix({file!r})",
        f'C = memcurve.masks.make("{settings.mask}", A.shape[0], seed={settings.seed})',
        "network = memcurve.LinearNetwork(A, C)",
    ]
