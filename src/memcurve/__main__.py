"""``python -m memcurve`` is the command ``memcurve``."""

from memcurve.views.cli import main

main()
