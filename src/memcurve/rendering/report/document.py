"""Document: the content of a report, independent of its rendering.

A document is plain data: sentences, tables and charts. :func:`memcurve.rendering.report.markdown`
and :func:`memcurve.rendering.report.html` render it, the command prints it in the terminal; none of
them knows what the numbers mean.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from memcurve.core.types import Floats


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; ``numeric`` columns are aligned to the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Series:
    """One line, or one set of points, of a chart.

    ``low`` and ``high`` bound a band around it, called ``band`` in a legend. A series that is not
    ``shown`` at first can be switched on by the reader.
    """

    name: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    dashed: bool = False
    shown: bool = True
    band: str = ""


@dataclass(frozen=True, eq=False)
class Chart:
    """Series over one pair of axes.

    ``marks`` are labelled positions on the x axis, ``levels`` labelled heights. ``kind`` is
    ``"lines"``, ``"disc"`` for points in the complex plane around the unit circle, or ``"strip"``
    for points in rows, one per series, with y around the number of the row; pictures, not pages,
    also have ``"bars"`` on top of each other. ``x_range`` and ``y_range`` are the ends of the axes
    of lines, where these are not to follow the data.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: str = "lines"
    log_x: bool = False
    log_y: bool = False
    marks: tuple[tuple[str, float], ...] = ()
    levels: tuple[tuple[str, float], ...] = ()
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None

    @property
    def from_zero(self) -> bool:
        """Whether its y axis begins at zero: on a linear scale without negative values."""
        lows = [one.y[np.isfinite(one.y)].min(initial=np.inf) for one in self.series]
        return not self.log_y and bool(0 <= min(lows, default=-1.0) < np.inf)

    @property
    def counts(self) -> bool:
        """Whether its x axis has whole numbers only."""
        return not self.log_x and all(np.all(one.x == np.rint(one.x)) for one in self.series)


@dataclass(frozen=True)
class Bar:
    """A number to be compared with others, its ``text``, and a colour of the page by name."""

    name: str
    value: float
    text: str
    colour: str = "series-0"


@dataclass(frozen=True, eq=False)
class Section:
    """A title, a sentence, and a table, chart or picture; a ``picture`` lies beside the page."""

    title: str
    text: str = ""
    table: Table | None = None
    chart: Chart | None = None
    points: tuple[str, ...] = ()
    picture: str = ""


@dataclass(frozen=True, eq=False)
class Document:
    """A report.

    ``verdict`` are the few sentences that matter, ``word`` is the verdict in a word or two, which
    stands beside its colour, and ``good`` says whether it is favourable; None if there is no
    judgement. ``bars`` are the picture beside the verdict, and ``scale`` says what they
    count. ``figures`` are the main numbers by name, ``notes`` what one should know before quoting
    them; ``footer`` says how the report was made.
    """

    title: str
    subtitle: str
    verdict: Sequence[str]
    good: bool | None
    figures: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    notes: Sequence[str] = ()
    footer: str = ""
    word: str = "Summary"
    bars: Sequence[Bar] = ()
    scale: str = ""


#: The heading of the notes.
NOTES = "Before quoting the numbers"

# control characters, and surrogates, which cannot be written as UTF-8
_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    """Text without control characters: terminals act on escape sequences, browsers refuse them."""
    return _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Text in one line."""
    return re.sub(r"[ \t\n]+", " ", clean(text)).strip()


def listed(words: Iterable[str]) -> str:
    """Words one after the other: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def split_paragraphs(text: str) -> list[str]:
    """The parts of a text between blank lines."""
    parts = (one_line(part) for part in re.split(r"\n\s*\n", clean(text)))
    return [part for part in parts if part]
