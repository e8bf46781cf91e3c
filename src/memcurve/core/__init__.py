"""What every other ring uses, and what knows no mathematics.

Number types, errors, notes, checks of arguments, limits of memory, progress, and ``Result``, the
surface that all results share. Imports nothing of memcurve. Start reading at ``result``.
"""
