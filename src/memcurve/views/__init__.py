"""Where people meet memcurve: the command (``cli``) and the page to play with (``exploring``).

Imports every other ring; nothing imports it. Start reading at ``cli.process``.
"""
