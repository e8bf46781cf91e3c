"""NoiseProfile: a family of memory curves, one a noise level."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.curve import MemoryCurve
from memcurve.optional import optional
from memcurve.writing import Saved

Floats = NDArray[np.float64]

FORMAT = "memcurve.NoiseProfile/1"


@dataclass(frozen=True, eq=False, repr=False)
class NoiseProfile(Saved):
    """Usable memory at several noise levels, from one decomposition of the states.

    It is a sequence of :class:`memcurve.MemoryCurve`, ``profile[k]`` for level k.

    Attributes
    ----------
    levels : (k,) array
        Standard deviations of the noise, relative to input of unit variance.
    curves : tuple of MemoryCurve
        One a level.
    noise : str
        The kind of noise.
    marks : dict
        Levels at which rounding of the states to some number format stands, by its name.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(50, seed=1)
    >>> profile = memcurve.memory_curve(network, noise=[1e-2, 1e-4, 1e-8])
    >>> profile.totals.round(3)
    array([17.215, 26.921, 38.731])
    >>> profile[0].values.shape == profile[2].values.shape
    True
    """

    levels: Floats
    curves: tuple[MemoryCurve, ...]
    noise: str
    marks: dict[str, float] = field(default_factory=dict)

    @property
    def lags(self) -> NDArray[np.int64]:
        """The lags of all curves."""
        return self.curves[0].lags

    @property
    def values(self) -> Floats:
        """Memory (levels, lags)."""
        return np.array([curve.values for curve in self.curves])

    @property
    def error(self) -> Floats:
        """Bounds on the error of ``values``."""
        return np.array([curve.error for curve in self.curves])

    @property
    def totals(self) -> Floats:
        """Usable memory over all lags, one a level."""
        return np.array([curve.total for curve in self.curves])

    @property
    def total_errors(self) -> Floats:
        """Bounds on the error of ``totals``."""
        return np.array([curve.total_error for curve in self.curves])

    @property
    def rank(self) -> int | None:
        """Total memory without noise, for white input."""
        return self.curves[0].rank

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that the curves share."""
        shared = [n for n in self.curves[0].notes if all(n in c.notes for c in self.curves)]
        return tuple(shared)

    def __len__(self) -> int:
        return len(self.curves)

    def __iter__(self) -> Iterator[MemoryCurve]:
        return iter(self.curves)

    def __getitem__(self, index: int) -> MemoryCurve:
        if not isinstance(index, int | np.integer):
            raise TypeError(f"a family of curves is indexed by whole numbers, got {index!r}.")
        if not -len(self) <= index < len(self):
            raise IndexError(f"this family has {len(self)} curves, got index {index}.")
        return self.curves[index]

    def to_json(self) -> str:
        """The whole family as JSON; floats keep every digit."""
        content = {
            "format": FORMAT,
            "noise": self.noise,
            "levels": self.levels.tolist(),
            "marks": self.marks,
            "curves": [json.loads(curve.to_json()) for curve in self.curves],
        }
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> NoiseProfile:
        """Read back what :meth:`to_json` wrote."""
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise ValueError(f"the `format` entry is not {FORMAT!r}")
            curves = tuple(MemoryCurve.from_json(json.dumps(one)) for one in content["curves"])
            return cls(np.array(content["levels"]), curves, content["noise"], content["marks"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"`text` must be the JSON of a noise profile written by NoiseProfile.save: {error}."
            ) from error

    def to_dataframe(self) -> Any:
        """A pandas DataFrame of level, total and its error."""
        pd = optional("pandas", "this", "frames")
        columns = {"total": self.totals, "error": self.total_errors}
        return pd.DataFrame(columns, index=pd.Index(self.levels, name="noise"))

    def __repr__(self) -> str:
        name = self.curves[0].network
        rows = [
            f"  {level:9.3g}  {total:12.6f} ± {error:.1e}"
            for level, total, error in zip(self.levels, self.totals, self.total_errors, strict=True)
        ]
        head = f"<NoiseProfile {name}, {self.noise}; rank {self.rank}\n      level  usable memory"
        return "\n".join([head, *rows]) + ">"
