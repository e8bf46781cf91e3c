"""Run a command to its end: one exit code, one line for an error, and a stdout that is whole."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable

from cyclopts import CycloptsError

from memcurve.cli.errors import FAILED, FINE, INTERRUPTED, USAGE, UsageError

#: What users can bring about, besides OSError, MemoryError and UncertainResultError; among the
#: ValueErrors are LinAlgError, UnstableNetworkError and UnicodeError. Anything else is a mistake in
#: this package and shows its traceback.
_USERS_DOING = (ValueError, TypeError, ImportError, OverflowError)


def run_to_end(command: Callable[[], object]) -> int:
    """Call ``command`` and return the exit code of the process.

    An integer that ``command`` returns is passed on. Errors that are the user's doing end in one
    line on stderr, or in their traceback where the command line has ``--verbose``.
    """
    from memcurve.errors import UncertainResultError

    if sys.stderr is None:  # closed; messages would go to stdout, which is for the result alone
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Greek letters
    try:
        _require_stdout()
        code = command()
        _flush()
    except BrokenPipeError:  # the reader, e.g. `head`, has seen enough
        discard_output()
        return FINE
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # rich turns one into exit code 1
            discard_output()
            return FINE
        raise
    except KeyboardInterrupt:
        return INTERRUPTED
    except (CycloptsError, UsageError) as error:
        return _report(error, str(error), USAGE)
    except MemoryError as error:
        return _report(error, str(error) or "out of memory; ask for fewer nodes or lags.", FAILED)
    except OSError as error:
        return _report(error, _without_number(error), FAILED)
    except (*_USERS_DOING, UncertainResultError) as error:
        return _report(error, str(error) or type(error).__name__, FAILED)
    return code if isinstance(code, int) else FINE


def _report(error: BaseException, message: str, code: int) -> int:
    """Show an error, in one line or with its traceback; what was printed before goes out first."""
    try:
        _flush()
    except OSError:
        discard_output()
    if "--verbose" in sys.argv:
        import traceback

        traceback.print_exception(error)
    else:
        from memcurve.report.wording import clean

        with contextlib.suppress(OSError):
            # names from files may hold what a terminal would obey
            print(f"memcurve: error: {clean(message)}", file=sys.stderr)
    return code


def _require_stdout() -> None:
    if sys.stdout is None:
        raise OSError(
            "standard output is closed, so that no result can be printed; send it to a file, or to "
            "/dev/null where --save or --plot is all you want."
        )


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _without_number(error: OSError) -> str:
    """The message of an error, less its number; one without a file is about what is printed to."""
    if error.strerror is None:
        return str(error)
    if error.filename is None:
        return f"standard output cannot be written ({error.strerror}); send it where there is room."
    return f"{error.filename}: {error.strerror}; check the path."


def discard_output() -> None:
    """Let what is still in the buffer go nowhere: the interpreter would fail on it at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
