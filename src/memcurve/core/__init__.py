"""What every other ring uses, without any mathematics.

Number types, errors, notes, checks of arguments, limits of memory, progress, and ``Result``, the
base class of all results. Imports nothing of memcurve. Start reading at ``result``.
"""
