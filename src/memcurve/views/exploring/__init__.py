"""An interactive page in the browser: ``memcurve explore``.

``files`` (opened files) → ``scene`` (settings, and what is shown at once) → ``stories`` and
``answers``, which a worker process computes → ``server``, which the page queries; ``page`` is the
page itself, which computes much in the browser without the server.
"""

from memcurve.views.exploring.scene import move_eigenvalue

__all__ = ["move_eigenvalue"]
