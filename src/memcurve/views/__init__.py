"""User interfaces: the command (``cli``) and the interactive page (``exploring``).

Imports every other ring; nothing imports it. Start reading at ``cli.process``.
"""
