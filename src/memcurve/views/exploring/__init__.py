"""An interactive page in the browser: ``memcurve explore``.

``files`` (what was opened) → ``scene`` (what stands on the page, and what is shown of it at once) →
``stories`` and ``answers``, which a worker process computes → ``server``, which the page asks;
``page`` is the page itself, which needs no server for what it computes in the browser.
"""

from memcurve.views.exploring.scene import move_eigenvalue

__all__ = ["move_eigenvalue"]
