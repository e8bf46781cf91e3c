"""``python -m memcurve`` is the command ``memcurve``."""

from memcurve.cli import main

main()
