"""Whole investigations: audits, sweeps, connectomes and null models, claims, the paper.

Each asks many questions of ``solve``, ``data`` and ``io`` and returns one result. Imports every
ring but ``views``. Start reading at ``auditing.run`` or ``sweeping.run``.
"""
