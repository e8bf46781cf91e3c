"""What the page shows of a network too large for a scene, by matrix-vector products with A."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memcurve.core.limits import estimated_cost, in_words
from memcurve.core.notes import counted
from memcurve.core.progress import silent
from memcurve.core.version import __version__
from memcurve.inputs.noise import Float32
from memcurve.memory import MemoryCurve
from memcurve.network import LinearNetwork
from memcurve.rendering.report import Chart, Section, Series, web
from memcurve.solve import Analysis
from memcurve.studies.auditing.losses import Account, account_of_wiring
from memcurve.studies.auditing.result import visible_end
from memcurve.studies.auditing.sentences import number
from memcurve.studies.auditing.usable import (
    MOST_STATES,
    UsableMemory,
    usable_memory,
    usable_memory_at_scale,
)
from memcurve.views.exploring import figures
from memcurve.views.exploring.files import network_lines, question
from memcurve.views.exploring.jobs import Job, asked_curve
from memcurve.views.exploring.scene import MOST_NODES, PageSettings

#: Sentences of this part of the page, by kind.
PROSE = {
    "reached": ", {reached} of them reachable from the input",
    "structural": "; the structural rank is {rank:,}",
    "no structure": ". The structural rank is not known: {problem}",
    "left out": "Left out, since {states} are more than the {most} of live computation: the curve "
    "without noise and the eigenvalues to drag, which take dense matrices of {gigabytes:.3g} GB "
    "and an estimated {seconds}; and standard methods, which take longer. “memcurve audit FILE” in "
    "a terminal gives more.",
    "curve": "Fraction of the input's variance recoverable τ steps later. The area under the curve "
    "is the usable memory, {total}.",
    "no curve": f"There is no curve here: {{problem}}{figures.SCALE_IT}\n\n",
}


def curve_under_noise(network: LinearNetwork, arguments: dict[str, Any]) -> MemoryCurve:
    """The curve under the noise that is set, by products with A alone where it has many nodes."""
    with Analysis.kept(network) as analysis:
        if network.states <= MOST_STATES:
            return asked_curve(network, None, arguments)
        with analysis.without_dense_matrices():
            return asked_curve(network, None, arguments)


def wiring(network: LinearNetwork) -> Account:
    """Nodes that are reached, what the wiring allows, and the rank where it is a matter of time."""
    return account_of_wiring(network, silent)[0]


def usable(network: LinearNetwork, arguments: dict[str, Any]) -> tuple[UsableMemory, float]:
    """Usable memory in number formats and against noise; without noise it is not known."""
    given = arguments.get("input"), arguments.get("noise")
    if network.states <= MOST_STATES:
        return usable_memory(network, *given), float("nan")
    with Analysis.kept(network) as analysis, analysis.without_dense_matrices():
        found, left_out = usable_memory_at_scale(network, *given, lambda step: None)
    if not found.reason and not len(found.levels):
        found = UsableMemory(reason="; ".join(f"{what}: {why}" for what, why in left_out))
    return found, float("nan")


def jobs(network: LinearNetwork, settings: PageSettings) -> dict[str, Job]:
    """What the page waits for: the wiring, and the curve under the noise of the controls."""
    asked = {"noise": Float32()} | settings.arguments()
    return {"wiring": (wiring, (network,)), "curve": (curve_under_noise, (network, asked))}


def headline(network: LinearNetwork, settings: PageSettings, found: Mapping[str, Any]) -> str:
    """The main numbers as HTML, as far as they are ``found``, and the notes of the file."""
    account = found.get("wiring")
    coloured = f" for AR({settings.colour:g}) input" if settings.colour else ""
    total = figures.total(found.get("curve"))
    parts = [f"<strong>{total}</strong> usable {figures.how_read(settings)}{coloured}"]
    text = counted(network.states, "state")
    if isinstance(account, Account):
        up_to = "" if account.rank is not None else "at most "
        parts.append(f"{up_to}<strong>{account.most:,}</strong> in theory")
        reached = "all" if account.reached == account.states else f"{account.reached:,}"
        text += PROSE["reached"].format(reached=reached)
        if account.possible is not None:
            text += PROSE["structural"].format(rank=account.possible)
        losses = [loss.text for loss in account.losses if loss.kind != "wiring"]
        text = ". ".join([text, *(f"{loss[:1].upper()}{loss[1:]}" for loss in losses)])
    elif account is not None:
        text += PROSE["no structure"].format(problem=account)
    line = " · ".join(f"<span>{part}</span>" for part in parts)
    return (
        f"<div class='summary' aria-live='polite'><p class='headline'>{line}</p>"
        f"<p class='remark'>{web.text(text)}.</p>{web.bullets(network.notes)}</div>"
    )


def memory_section(
    network: LinearNetwork, settings: PageSettings, found: Mapping[str, Any]
) -> Section:
    """The curve under noise, and what is left out."""
    title, curve = "Usable memory by lag", found.get("curve")
    cost = estimated_cost(network.states)
    left_out = PROSE["left out"].format(
        states=counted(network.states, "state"), most=MOST_NODES, gigabytes=cost.bytes / 1e9,
        seconds=in_words(cost.seconds),
    )  # fmt: skip
    if not isinstance(curve, MemoryCurve):
        why = "" if curve is None else PROSE["no curve"].format(problem=curve)
        return Section(title, f"{why}{left_out}")
    end = visible_end(curve.values)
    drawn = Series(
        f"usable {figures.how_read(settings)}", np.arange(end + 1.0), curve.values[: end + 1]
    )
    text = PROSE["curve"].format(total=number(curve.total))
    chart = Chart("Usable memory", "lag τ", "memory MC_τ", (drawn,))
    return Section(title, f"{text}\n\n{left_out}", chart=chart)


def python_lines(settings: PageSettings, file: str, *, scaled: bool) -> str:
    """The script that gives the numbers of the page."""
    asked = question(settings) + ([] if settings.noise else ["noise=memcurve.Float32()"])
    network = "\n".join(network_lines(settings, file, scaled))
    return _SCRIPT.format(version=__version__, network=network, asked=", ".join(asked))


_SCRIPT = """# memcurve {version}
import memcurve

{network}
curve = memcurve.memory_curve(network, {asked})
print(curve.total, curve.total_error)
print(memcurve.structural_rank(network))
memcurve.plot.save(memcurve.plot.curves(curve), "memory.png")
"""
