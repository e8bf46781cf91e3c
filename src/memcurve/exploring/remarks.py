"""What the page has to say about the settings themselves, as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from memcurve.exploring.scene import Scene
from memcurve.exploring.settings import Settings
from memcurve.exploring.showing import explained
from memcurve.report import web

TITLE = (
    "<h1>How much does it remember?</h1>\n"
    "<p>A recurrent network x<sub>t</sub> = A x<sub>t−1</sub> + C z<sub>t</sub> holds past inputs "
    "z in its states x. Move the controls: its exact memory follows at once, computed on this "
    "machine; what takes longer arrives later.</p>"
)


def about_address(wrong: Sequence[str]) -> str:
    """What could not be read from the address of the page."""
    return explained("Not all of the address can be used.", " ".join(wrong)) if wrong else ""


def about_settings(settings: Settings, file: str | None, trouble: str) -> str:
    """Why there is no curve, or which controls have no effect."""
    if trouble and file is not None:
        return explained(f"{file} cannot be shown.", trouble)
    if trouble:
        return explained("These settings have no memory curve.", trouble)
    if file is not None:
        return _remark(
            f"This is {file}: size, ensemble, radius and density have no effect, and the seed only "
            f"on a random mask."
        )
    ignored = [name.replace("_", " ") for name in settings.ignored()]
    if ignored:
        have = "has" if len(ignored) == 1 else "have"
        return _remark(f"{' and '.join(ignored).capitalize()} {have} no effect on this ensemble.")
    return ""


def about_move(trouble: str) -> str:
    """Why an eigenvalue could not be moved there."""
    said = "What is shown is the network without the move."
    return (
        explained("The eigenvalue cannot be moved there.", f"{trouble} {said}") if trouble else ""
    )


def about_result(scene: Scene, summary: str) -> str:
    """The main numbers, how long they took, and the notes."""
    notes = web.bullets(scene.curve.notes)
    return (
        f"<div class='summary' aria-live='polite'><p><strong>{scene.curve.total:.6g}</strong> "
        f"{web.text(summary)}</p><p class='remark'>{web.text(scene.network.name or '')}, "
        f"computed in {1e3 * scene.seconds:.0f} ms.</p>{notes}</div>"
    )


def about_lines(lines: str, link: str | None) -> str:
    """The Python lines, to be read and copied, and the address of what is shown."""
    address = f"<p><a href='{web.text(link)}'>Link to these settings</a></p>" if link else ""
    return f"<pre class='lines' tabindex='0'>{web.text(lines)}</pre>{address}"


def _remark(text: str) -> str:
    return f"<p class='remark'>{web.text(text)}</p>"
