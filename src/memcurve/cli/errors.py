"""How the command ends: exit codes, and errors in the way a command line is written."""

from __future__ import annotations

FINE = 0
FAILED = 1
USAGE = 2
MISMATCH = 3
INTERRUPTED = 130

#: What `memcurve --help` says about them.
EXIT_CODES = f"""\
Exit codes:
  {FINE}    fine
  {FAILED}    failed: a file that cannot be read, a computation refused, not enough memory
  {USAGE}    usage: an unknown command or option, a value that does not parse, options at odds
  {MISMATCH}    a check the user asked for found a mismatch (audit --fail-on-mismatch)
  {INTERRUPTED}  stopped by Ctrl-C (143 by SIGTERM)"""


class UsageError(ValueError):
    """Options that exclude or need each other, or a value no command could make sense of."""
