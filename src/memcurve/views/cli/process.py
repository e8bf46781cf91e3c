"""The process of a command: exit codes, one-line errors, and complete output on stdout."""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import CycloptsError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError

if TYPE_CHECKING:
    from memcurve.network.ranks import Ranks

FINE = 0
FAILED = 1
USAGE = 2
MISMATCH = 3
INTERRUPTED = 130
#: As shells report for a process ended by SIGTERM.
TERMINATED = 143

#: The part of `memcurve --help` on exit codes.
EXIT_CODES = f"""\
Exit codes:
  {FINE}    success
  {FAILED}    failed: an unreadable file, a refused computation, too little memory
  {USAGE}    usage: an unknown command or option, a bad value, conflicting options
  {MISMATCH}    a requested check found a mismatch (audit --fail-on-mismatch)
  {INTERRUPTED}  stopped by Ctrl-C ({TERMINATED} by SIGTERM)"""

# an argument as Python writes it: `name`, name='value', name=3 or name=[...]
_ARGUMENT = re.compile(
    r"`(?P<quoted>[a-z_]+)`"
    r"|`?\b(?P<name>[a-z_]+)=(?P<value>'[^']*'|\[[^\]]*\]|True|False|[-+\d.][\w.:+-]*\b)`?"
)


class UsageError(ValueError):
    """Options that exclude or need each other, or an invalid value."""


def require_at_most_one(**options: Any) -> None:
    """Raise where several of these options are given: they exclude each other."""
    names = [option_name(name) for name, v in options.items() if v is not None and v is not False]
    if len(names) > 1:
        raise UsageError(f"{' and '.join(names)} exclude each other; give one of them.")


def option_name(argument: str) -> str:
    """The option that sets an argument."""
    return f"--{argument.replace('_', '-')}"


def require_other_files(file: Path | None, *outputs: Path | None, what: str = "network") -> None:
    """Raise where an output is the input, two outputs are one file, or a folder is missing."""
    paths = [output.resolve() for output in outputs if output is not None]
    for k, path in enumerate(paths):
        if path in paths[:k]:
            raise UsageError(f"{path.name} is written twice; give each output a file of its own.")
        if file is not None and path == file.resolve():
            raise UsageError(f"{path.name} is the {what} itself; write to another file.")
        if not path.parent.is_dir():
            raise UsageError(f"{path} cannot be written: there is no folder {path.parent}.")


def warn(text: str) -> None:
    """Print a warning on stderr."""
    _print_error(f"memcurve: {text}")


@contextlib.contextmanager
def stoppable(store: Path) -> Iterator[None]:
    """A context for a sweep: reports what is saved when it stops, and why workers failed."""
    import signal
    from concurrent.futures import BrokenExecutor

    from memcurve.studies.sweeping.executors import UnusableWorkerError

    try:
        yield
    except (UnusableWorkerError, BrokenExecutor) as error:
        raise OSError(str(error)) from error
    except KeyboardInterrupt as stopped:
        # by itself it says what is kept and how to go on, unless it came before the first case
        early = (
            f"stopped before the first case; {store} is unchanged. Run the same command "
            f"again to go on."
        )
        warn(str(stopped) or early)
        is_term = getattr(stopped, "signal", None) == signal.SIGTERM
        raise SystemExit(TERMINATED if is_term else INTERRUPTED) from None


@contextlib.contextmanager
def over_ranks(mpi: bool) -> Iterator[Ranks | None]:
    """The ranks of this MPI job: all get through this or none, and only the first has a say."""
    if not mpi:
        yield None
        return
    from threadpoolctl import threadpool_limits

    from memcurve.network.ranks import Ranks, world

    ranks = Ranks(world())
    if ranks.number:
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    # ranks on one machine share its cores
    threads = max(1, (os.cpu_count() or 1) // ranks.processes)
    try:
        with threadpool_limits(threads), ranks.collective():
            yield ranks
    except Exception:
        if ranks.number == 0:
            raise
        raise SystemExit(FINE) from None  # rank 0 prints the error, and has the exit code


def as_options(text: str, options: Mapping[str, str]) -> str:
    """A text that speaks of arguments of a function, with the options of a command instead."""

    def spelled(match: re.Match[str]) -> str:
        name, value = match["quoted"] or match["name"], match["value"] or ""
        # of `figures` there is one --figure at a time, of `scale` several --scales
        named = (options.get(n) for n in (name, f"{name}s", name.removesuffix("s")))
        option = next(filter(None, named), None)
        if option is None:
            return match[0]
        if value in ("True", "False"):
            return option if value == "True" else option.replace("--", "--no-", 1)
        return " ".join([option, value.strip("[]'").replace("...", "NAME")]).rstrip()

    return _ARGUMENT.sub(spelled, text)


def exit_code(
    command: Callable[[], object], options: Callable[[], Mapping[str, str]] = dict
) -> int:
    """Exit code of ``command``; a user's errors are one line on stderr, in words of ``options``."""
    if sys.stderr is None:  # closed; messages would go to stdout, which is for the result alone
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # whatever the locale: Greek letters are meant
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        if sys.stdout is None:
            raise OSError(f"standard output is closed; send it to a file, or to {os.devnull}.")
        code = command()
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as end:
        # the reader, e.g. `head`, has seen enough; rich turns that into exit code 1
        if BrokenPipeError not in (type(end), type(end.__context__)):
            raise
        discard_output()
        return FINE
    except KeyboardInterrupt as stopped:
        with contextlib.suppress(OSError):
            warn(str(stopped) or "stopped; no file is half-written.")
        return INTERRUPTED
    except Exception as error:
        from memcurve.core.errors import ModelError, UncertainResultError

        expected = (CycloptsError, UncertainResultError, ModelError)
        named = (ValueError, TypeError, ImportError, OverflowError, OSError, MemoryError)
        if not (isinstance(error, (*expected, *named)) or _in_users_file(error)):  # our mistake
            raise
        text, code = _explained(error, options)
        _report(error, text)
    return code if isinstance(code, int) else FINE


def _explained(error: Exception, options: Callable[[], Mapping[str, str]]) -> tuple[str, int]:
    """The message of an error, and the exit code."""
    if isinstance(error, UnusedCliTokensError):
        more = ", ".join(map(repr, error.unused_tokens or ()))
        mask = " (an input mask: --mask FILE)" if "--mask" in options().values() else ""
        return f"unexpected argument {more}; give it by its option{mask}, see --help.", USAGE
    if isinstance(error, UnknownOptionError):
        return _unknown(error, [*options().values()]), USAGE
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        name = error.argument.name
        if error.argument.index is not None and name not in sys.argv:
            name = name.removeprefix("--").upper()
            return f"{name} is missing; see memcurve {sys.argv[1]} --help.", USAGE
    if isinstance(error, CycloptsError):
        return str(error), USAGE
    if isinstance(error, OSError):
        return _without_number(error), FAILED
    if where := _in_users_file(error):
        return f"{where}: {type(error).__name__}: {error}", FAILED
    empty = "out of memory; ask for fewer nodes or lags." if isinstance(error, MemoryError) else ""
    text = as_options(str(error), options()) or empty or type(error).__name__
    return text, USAGE if isinstance(error, UsageError) or _is_usage(error, text) else FAILED


def _in_users_file(error: Exception) -> str:
    """The line of a Python file of the user's where an error was raised, if it was in one."""
    import traceback

    files = {word.rpartition(":")[0] for word in sys.argv[1:]}
    if isinstance(error, SyntaxError) and error.filename in files:
        return f"{error.filename}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)[::-1]
    return next((f"{at.filename}, line {at.lineno}" for at in frames if at.filename in files), "")


def _is_usage(error: Exception, text: str) -> bool:
    """Whether a message is about an option that was given, and not about the file it names."""
    values = {name: value for name, _, value in (word.partition("=") for word in sys.argv)}
    values |= dict(zip(sys.argv, sys.argv[1:], strict=False))
    words = text.split(" ")[: None if isinstance(error, TypeError) else 1]
    named = {word.strip(",;.:") for word in words if word.startswith("--")} & values.keys()
    return bool(named) and not any(os.path.exists(values[name]) for name in named)


def _unknown(error: UnknownOptionError, options: list[str]) -> str:
    """The message for an unknown option: the nearest option by name or by a word of it."""
    word_given = error.token.keyword or error.token.value
    words = {word: name for name in options for word in name[2:].split("-")}
    words |= {name[2:]: name for name in options}
    near = difflib.get_close_matches(word_given.strip("-"), words, 1)
    remedy = f"Did you mean {words[near[0]]}?" if near else "See --help for all options."
    return f"Unknown option: {word_given}. {remedy}"


def _print_error(text: str) -> None:
    """Print lines on stderr, whole or, in a terminal, folded between words."""
    from rich.console import Console

    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    console.print(text, soft_wrap=not sys.stderr.isatty())


def discard_output() -> None:
    """Discard buffered output, which the interpreter would fail to flush at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _report(error: BaseException, message: str) -> None:
    """Show an error, in one line or with its traceback, after flushing previous output."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        discard_output()
    if "--verbose" in sys.argv:
        import traceback

        traceback.print_exception(error)
    else:
        from memcurve.rendering.report.document import clean

        with contextlib.suppress(OSError):
            # names from files may hold escape sequences
            _print_error(f"memcurve: error: {clean(message)}")


def _without_number(error: OSError) -> str:
    """The message of an error, less its number; one without a file is about what is printed to."""
    if error.strerror is None:
        return str(error)
    if error.filename is None:
        return f"standard output cannot be written ({error.strerror}); redirect it elsewhere."
    return f"{error.filename}: {error.strerror}; check the path."
