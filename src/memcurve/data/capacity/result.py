"""Capacity: what recorded states hold of products of the past inputs, by degree."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memcurve.curve import installed_versions
from memcurve.optional import optional
from memcurve.writing import Saved, plain

FORMAT = "memcurve.Capacity/1"


@dataclass(frozen=True)
class Target:
    """One significant target ∏ p_{degrees[i]}(z_{t − lags[i]}).

    Attributes
    ----------
    degrees, lags : tuple of int
        Degree of each factor's polynomial, and how far back its input lies, most recent first.
    capacity : float
        Share of its variance that the states hold, estimated together with the other targets.
    error : float
        Standard error of ``capacity``.
    raw : float
        R² of the target regressed on the states, which chance makes too large.
    single : float
        ``raw`` less its leverage-weighted bias: the estimate from this target alone.
    """

    degrees: tuple[int, ...]
    lags: tuple[int, ...]
    capacity: float
    error: float
    raw: float
    single: float

    @property
    def degree(self) -> int:
        """Total degree."""
        return sum(self.degrees)

    @property
    def name(self) -> str:
        """E.g. ``p1[0]·p2[3]`` for p₁(z_t)·p₂(z_{t−3})."""
        return "·".join(f"p{d}[{lag}]" for d, lag in zip(self.degrees, self.lags, strict=True))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Capacity(Saved):
    """Information processing capacity by degree, with standard errors.

    Attributes
    ----------
    by_degree : dict
        Total degree → capacity of all significant targets of that degree.
    errors : dict
        Total degree → standard error, including what the significance cut may have left out.
    total, total_error : float
        Over all degrees; never above ``rank``.
    rank : int
        Number of linearly independent states, which bounds the capacity over all targets.
    states : int
        Number of states N.
    rows : int
        Time steps that were used.
    targets : tuple of Target
        The significant ones, largest capacity first.
    count : dict
        Total degree → number of targets examined.
    uncut : dict
        Total degree → Σ of ``Target.single`` over all targets examined, significant or not: free
        of the cut's bias, with more noise. It may exceed ``rank`` or be negative.
    reach : dict
        Total degree → (window, longest lag) of the targets examined.
    polynomials : str
        ``"legendre"``, ``"hermite"`` or ``"empirical"``.
    threshold : float
        Probability that a target unrelated to the states passes as significant.
    notes : tuple of str
        Everything one should know before quoting the numbers.
    name : str
        A label for plots.
    versions : dict
        Versions of Python and the packages the numbers depend on.
    """

    by_degree: Mapping[int, float]
    errors: Mapping[int, float]
    total: float
    total_error: float
    rank: int
    states: int
    rows: int
    targets: tuple[Target, ...]
    count: Mapping[int, int]
    uncut: Mapping[int, float]
    reach: Mapping[int, tuple[int, int]]
    polynomials: str
    threshold: float
    notes: tuple[str, ...] = ()
    name: str = ""
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    def significant(self, degree: int) -> tuple[Target, ...]:
        """The significant targets of one total degree, largest capacity first."""
        return tuple(target for target in self.targets if target.degree == degree)

    def to_dataframe(self, targets: bool = False) -> Any:
        """A pandas DataFrame, one row a degree, or with ``targets=True`` one a significant target.

        The columns by degree are capacity, error, uncut, targets and significant.
        """
        pd = optional("pandas", "this", "frames")
        if targets:
            rows = [dataclasses.asdict(t) | {"name": t.name} for t in self.targets]
            names = [f.name for f in dataclasses.fields(Target)]
            frame = pd.DataFrame(rows, columns=["name", *names]).set_index("name")
        else:
            columns = {
                "capacity": list(self.by_degree.values()),
                "error": list(self.errors.values()),
                "uncut": list(self.uncut.values()),
                "targets": list(self.count.values()),
                "significant": [len(self.significant(d)) for d in self.by_degree],
            }
            frame = pd.DataFrame(columns, index=pd.Index(list(self.by_degree), name="degree"))
        frame.attrs.update(total=self.total, total_error=self.total_error, rank=self.rank)
        return frame

    def to_json(self) -> str:
        """The whole result as JSON; floats keep every digit."""
        content = {"format": FORMAT} | dataclasses.asdict(self)
        return json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Capacity:
        """Read back what :meth:`to_json` wrote."""
        try:
            content = json.loads(text)
            if content.pop("format") != FORMAT:
                raise ValueError(f"the `format` entry is not {FORMAT!r}")
            for name in ("by_degree", "errors", "uncut"):
                content[name] = {int(d): float(value) for d, value in content[name].items()}
            content["count"] = {int(d): int(value) for d, value in content["count"].items()}
            content["reach"] = {int(d): tuple(pair) for d, pair in content["reach"].items()}
            content["targets"] = tuple(_target(entry) for entry in content["targets"])
            content["notes"] = tuple(content["notes"])
            for name in ("total", "total_error"):
                content[name] = float(content[name])
            return cls(**content)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"`text` must be the JSON of a capacity written by Capacity.save: {error}."
            ) from error

    def __repr__(self) -> str:
        label = f"{self.name}, " if self.name else ""
        head = (
            f"<Capacity {label}{self.states} states of rank {self.rank}, {self.rows} rows, "
            f"{self.polynomials} polynomials\n"
            f"  degree  targets  significant   capacity"
        )
        rows = [
            f"  {degree:6d}  {self.count[degree]:7d}  {len(self.significant(degree)):11d}"
            f"  {value:9.4f} ± {self.errors[degree]:.1e}"
            for degree, value in self.by_degree.items()
        ]
        last = (
            f"   total  {sum(self.count.values()):7d}  {len(self.targets):11d}"
            f"  {self.total:9.4f} ± {self.total_error:.1e}  of at most {self.rank}>"
        )
        return "\n".join([head, *rows, last, *(f"  note: {note}" for note in self.notes)])


def _target(entry: dict[str, Any]) -> Target:
    degrees, lags = (tuple(int(k) for k in entry.pop(name)) for name in ("degrees", "lags"))
    return Target(degrees, lags, **{name: float(value) for name, value in entry.items()})
