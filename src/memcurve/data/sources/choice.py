"""Which arrays or columns are the states and the input, and whether the two fit together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from memcurve.data.sources.source import Archive, Rows, Table
from memcurve.files.reading import NetworkFileError, pickle_error

#: Where no name is given, these are looked for.
STATES = ("states", "X", "x")
INPUTS = ("z", "u", "input", "inputs")
#: Columns that count the rows; among the states they would be a ramp.
_CLOCKS = ("", "t", "time", "Time", "index", "Unnamed: 0", "__index_level_0__")

Opened = Rows | Archive | Table
Names = str | Sequence[str] | None


def states_of(opened: Opened, names: Names) -> Rows:
    """Return the states, where the input lies elsewhere."""
    if isinstance(opened, Table):
        return opened.rows(_state_columns(opened, names, None))
    if isinstance(opened, Archive):
        name = _named(opened.file, opened.present, _single(names), STATES, "state_names", True)
        return opened.pick(name, False)
    return _unnamed(opened, names, "state_names")


def input_of(opened: Opened, name: str | None) -> Rows:
    """Return the input, where the states lie elsewhere."""
    if isinstance(opened, Table):
        return opened.rows([_input_column(opened, name, True)])
    if isinstance(opened, Archive):
        name = _named(opened.file, opened.present, name, INPUTS, "input_name", True)
        return opened.pick(name, True)
    return _unnamed(opened, name, "input_name")


def both_of(opened: Opened, names: Names, name: str | None) -> tuple[Rows, Rows | None]:
    """Return states and input out of one file; of a table, one array with the input last."""
    if isinstance(opened, Table):
        place = _input_column(opened, name, False)
        return opened.rows([*_state_columns(opened, names, place), place]), None
    if isinstance(opened, Archive):
        held = opened.present
        states = _named(opened.file, held, _single(names), STATES, "state_names", False)
        found = _named(opened.file, held, name, INPUTS, "input_name", False)
        return opened.pick(states, False), opened.pick(found, True)
    raise opened.fault("holds the states alone; give their input too: `inputs` as array or path.")


def check(states: Rows, inputs: Rows | None) -> None:
    """Raise an error unless these are T rows of states, and T numbers."""
    _require_real(states, "both parts as columns, e.g. numpy.hstack([X.real, X.imag])")
    if len(states.shape) != 2:
        raise states.fault(
            f"must be two-dimensional, a row for each time and a column for each state, got "
            f"shape {states.shape}; a single state has shape (T, 1)."
        )
    if 0 in states.shape or (inputs is None and states.shape[1] < 2):
        raise states.fault(f"holds no states, its shape is {states.shape}; check how it was made.")
    if inputs is None:
        return
    _require_real(inputs, "its real part, e.g. z.real")
    shape = inputs.shape
    if len(shape) == 2 and shape[0] == 1 < shape[1]:
        raise inputs.fault(f"is a row of shape {shape}; give a column, e.g. z.reshape(-1).")
    if len(shape) not in (1, 2) or shape[1:] not in ((), (1,)):
        raise inputs.fault(
            f"must be one input of shape (T,) or (T, 1), got several: shape {shape}; choose one, "
            f"e.g. z[:, 0]."
        )
    length, columns = states.shape
    if length == shape[0]:
        return
    if columns == shape[0]:
        raise states.fault(
            f"has shape {states.shape}, and the input {columns} rows: it is transposed, with a "
            f"column for each time; give a row for each time, e.g. X.T."
        )
    raise states.fault(
        f"has {length} rows, and the input ({inputs.label}) {shape[0]}; both must be of the same "
        f"times: cut the longer one, at the end where it is too long."
    )


def _require_real(rows: Rows, remedy: str) -> None:
    if rows.dtype.hasobject and rows.file is not None and rows.file.suffix.lower() == ".npz":
        raise pickle_error(rows.file)
    if rows.dtype.kind == "c":
        raise rows.fault(f"must hold real numbers, got {rows.dtype}; give {remedy}.")
    if rows.dtype.kind not in "biuf":
        raise rows.fault(f"must hold real numbers, got {rows.dtype}; store it as float64.")


def _unnamed(rows: Rows, names: Names, option: str) -> Rows:
    if names is not None:
        raise rows.fault(f"has no names to choose from, got {option}={names!r}; leave it out.")
    return rows


def _single(names: Names) -> str | None:
    if names is None or isinstance(names, str):
        return names
    if len(names) == 1:
        return names[0]
    raise ValueError(
        f"`state_names` must be the name of one array, that of all states, got {names!r}; lists "
        f"are for the columns of tables."
    )


def _named(
    file: Path,
    present: dict[str, str],
    name: str | None,
    usual: Sequence[str],
    option: str,
    alone: bool,
) -> str:
    """Return the name that is asked for, the usual one, or (``alone``) that of the only array."""
    held = ", ".join(_some(f"{key} {about}" for key, about in present.items())) or "nothing"
    if name is not None:
        key = str(name).removeprefix("/")
        if key in present:
            return key
        raise NetworkFileError(f"{file}: has no {name}; it holds {held}. Correct `{option}`.")
    found = [key for key in usual if key in present]
    if len(found) > 1:
        raise NetworkFileError(
            f"{file}: has {' and '.join(found)}; choose with {option}='{found[0]}'."
        )
    if not found and alone and len(present) == 1:
        return next(iter(present))
    if not found:
        raise NetworkFileError(
            f"{file}: has none of {', '.join(usual)}; it holds {held}. Name the array with "
            f"{option}='...'."
        )
    return found[0]


def _input_column(table: Table, name: str | None, alone: bool) -> int:
    if name is not None:
        return _column(table, name, "input_name")
    if alone and table.width == 1:
        return 0
    if table.names is None and alone:
        raise NetworkFileError(
            f"{table.file}: must hold one input, got several: {table.width} columns; give a file "
            f"of one column, or a header line and input_name='...'."
        )
    if table.names is None:
        raise NetworkFileError(
            f"{table.file}: has {table.width} columns without names, so that the input is not "
            f"known; write a header line, or give `inputs` as array or path."
        )
    found = [key for key in INPUTS if key in table.names]
    if len(found) == 1:
        return _column(table, found[0], "input_name")
    problem = f"has several inputs, {' and '.join(found)}"
    if not found:
        problem = f"has no column called {', '.join(INPUTS)}, only {', '.join(_some(table.names))}"
    raise NetworkFileError(f"{table.file}: {problem}; choose one with input_name='...'.")


def _state_columns(table: Table, names: Names, place: int | None) -> list[int]:
    """Return the columns listed, or all but the input's."""
    if names is not None:
        listed = [names] if isinstance(names, str) else names
        columns = [_column(table, name, "state_names") for name in listed]
        if len({*columns}) < len(columns):
            raise ValueError(f"`state_names` must name each column once, got {names!r}.")
        if place in columns:
            raise NetworkFileError(
                f"{table.file}: column {_called(table, place)} is the input and in `state_names`; "
                f"leave it out there: it would be remembered perfectly."
            )
        return columns
    columns = [column for column in range(table.width) if column != place]
    for column in columns if table.names is not None else ():
        name = _called(table, column)
        if name in _CLOCKS:
            raise NetworkFileError(
                f"{table.file}: column {name!r} seems to count the rows and not to be a state; "
                f"remove it, or list the states with state_names=[...]."
            )
        if name in INPUTS:
            raise NetworkFileError(
                f"{table.file}: column {name!r} seems to be an input and not a state; remove it, "
                f"or list the states with state_names=[...]."
            )
    return columns


def _called(table: Table, column: int | None) -> str:
    return table.names[column] if table.names is not None and column is not None else ""


def _column(table: Table, name: str, option: str) -> int:
    if table.names is None:
        raise NetworkFileError(
            f"{table.file}: its {table.width} columns have no names, got {option}={name!r}; write "
            f"a header line, or leave `{option}` out."
        )
    if name not in table.names:
        raise NetworkFileError(
            f"{table.file}: has no column {name!r}; it has {', '.join(_some(table.names))}. "
            f"Correct `{option}`."
        )
    if table.names.count(name) > 1:
        raise NetworkFileError(f"{table.file}: has several columns {name!r}; rename them.")
    return table.names.index(name)


def _some(names: Iterable[str], most: int = 40) -> list[str]:
    listed = list(names)
    return [*listed[:most], f"{len(listed) - most} more"] if len(listed) > most else listed
