"""``memcurve capacities``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memcurve.views.cli.console import Printer
from memcurve.views.cli.options import REPORT, ReportOptions, Whole, from_python
from memcurve.views.cli.process import require_at_most_one

if TYPE_CHECKING:
    from memcurve import Capacities


def capacities(
    model: str,
    *,
    degree: Whole | None = None,
    lags: Whole | None = None,
    noise: float | None = None,
    shots: Whole | None = None,
    words: Whole = 10,
    above: float | None = None,
    output: ReportOptions = REPORT,
) -> None:
    """Every capacity of a bilinear, quantum or other state-affine network, exactly.

    For example:

      memcurve capacities bilinear.npz --degree 3 --plot capacities.png
      memcurve capacities mymodels.py:reservoir --shots 10000
      memcurve capacities network.npz --above 0.01 --save capacities.json

    Parameters
    ----------
    model
        A StateAffineNetwork written by its save method, or a linear network as for `memcurve
        curve`; or FILE.py:NAME, an object that this Python file makes.
    degree
        Highest degree. Default: until nothing is left, or 24.
    lags
        Number of lags of the memory curve.
    noise
        Standard deviation of observation noise: capacities that can be used.
    shots
        Measurements of each observable of a quantum reservoir, instead of --noise.
    words
        How many of the largest capacities to list.
    above
        List all words with at least this capacity instead.
    """
    from memcurve import capacities as all_of
    from memcurve import quantum

    require_at_most_one(noise=noise is not None, shots=shots is not None)
    output.require_other_than(None if ".py:" in model else Path(model))
    network = from_python(model) if ".py:" in model else _read(Path(model))
    given = noise if shots is None else quantum.ShotNoise(shots)
    result = all_of(network, given, degree=degree, lags=lags)
    output.show(result, partial(_print, words=words, above=above))


def _read(file: Path) -> Any:
    """A state-affine network, or else a linear one."""
    from memcurve import StateAffineNetwork, load_network

    own = StateAffineNetwork.is_stored(file)
    return StateAffineNetwork.load(file) if own else load_network(file)


def _print(result: Capacities, words: int, above: float | None) -> None:
    from memcurve.state_affine import target_name

    listed = result.largest(words) if above is None else result.largest(above=above)
    printer = Printer()
    printer.named(result.summary(), 20)
    rows = [(str(d), f"{c:.6f}") for d, c in result.by_degree.items()]
    if result.beyond > result.error:
        rows.append(("higher", f"{result.beyond:.6f}"))
    printer.table(("degree", "capacity"), rows, right=range(2))
    named = [(target_name(word), str(sum(word)), f"{c:.6f}") for word, c in listed]
    named.append(("all others", "", f"{listed.remainder:.6f}"))
    printer.table(("target", "degree", "capacity"), named, right=(1, 2))
    printer.notes(result.notes)
