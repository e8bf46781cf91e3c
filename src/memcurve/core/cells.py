"""Tables as text: columns, HTML, LaTeX, and CSV whose cells no spreadsheet takes for formulas."""

import contextlib
import csv
import io
import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

# a spreadsheet takes a cell that begins with one of these for a formula, and computes it
_RUN = ("=", "+", "-", "@", "\t", "\r")
_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"±": r"$\pm$", "−": "--", "…": r"\dots{}"}
#: Digits of a number in LaTeX. Twice as many are all it has, which no reader of a table needs.
_DIGITS = 6


def safe_cell(text: str) -> str:
    """Text for a cell of a spreadsheet, which is never a formula; numbers stay numbers."""
    with contextlib.suppress(ValueError):
        float(text)
        return text
    return f"'{text}" if text.startswith(_RUN) else text


def csv_text(columns: Mapping[str, Iterable[Any]]) -> str:
    """The columns as CSV, their names first; numbers with all digits, nothing where not known."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(map(_cell, columns))
    writer.writerows(map(_cell, row) for row in zip(*columns.values(), strict=True))
    return lines.getvalue()


def _cell(value: Any) -> str:
    value = value.item() if hasattr(value, "item") else value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return safe_cell(" ".join(value.split()))  # in one line, which every reader can take
    return json.dumps(value) if isinstance(value, Sequence | Mapping) else repr(value)


def latex_text(columns: Mapping[str, Iterable[Any]]) -> str:
    """The columns as a tabular, which needs no package; six digits of each number."""
    table = {name: list(map(_cell, values)) for name, values in columns.items()}
    aligned = "".join("r" if all(map(_is_number, cells)) else "l" for cells in table.values())
    rows = [f"{' & '.join(map(_tex, row))} \\\\" for row in zip(*table.values(), strict=True)]
    head = rf"{' & '.join(map(_tex, table))} \\"
    lines = [rf"\begin{{tabular}}{{{aligned}}}", r"\hline", head, r"\hline", *rows, r"\hline"]
    return "\n".join([*lines, r"\end{tabular}", ""])


def _is_number(cell: str) -> bool:
    try:
        return cell == "" or bool(float(cell) + 1)
    except ValueError:
        return False


def _tex(cell: str) -> str:
    """A cell in LaTeX: numbers rounded, signs that mean something to it escaped."""
    if cell and _is_number(cell):
        number = float(cell)
        if math.isinf(number):
            return r"$\infty$" if number > 0 else r"$-\infty$"
        mantissa, _, exponent = f"{number:.{_DIGITS}g}".partition("e")
        if exponent:
            return rf"${mantissa} \times 10^{{{int(exponent)}}}$"
        return f"${mantissa}$" if number < 0 else mantissa
    return "".join(map(_tex_sign, cell))


def _tex_sign(sign: str) -> str:
    name = unicodedata.name(sign, "").split()
    if name[:1] == ["GREEK"]:
        letter = name[-1].lower()
        return rf"$\{letter.capitalize() if sign.isupper() else letter}$"
    return _LATEX.get(sign, sign)


def table(
    rows: Iterable[Sequence[str]], head: Sequence[str] = (), notes: Iterable[str] = ()
) -> str:
    """Rows under a head, or of names and figures, and notes, everything escaped."""
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    cells = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    points = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<table><tr>{heads}</tr>{cells}</table>" + (f"<ul>{points}</ul>" if points else "")


def columns_of_text(rows: Iterable[Sequence[str]], left: int = 0) -> list[str]:
    """Lines of cells in columns, the first ``left`` of which are aligned on the left."""
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in table
    ]
