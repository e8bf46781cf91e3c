"""One network and one question about it: the unit of a sweep."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from memcurve.sweeping.fields import (
    TIDY,
    USUAL,
    draws,
    method_options,
    require_ensemble_options,
)

FORMAT = "memcurve.Case/1"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A network of an ensemble, a way to compute its memory, and what to keep of the result.

    Attributes
    ----------
    ensemble, size
        As for :func:`memcurve.ensembles.make`.
    spectral_radius, density, mask, ensemble_options
        Options of the ensemble; None is its own default.
    inputs : int
        Number of inputs, each with a mask of its own.
    input : str or None
        Input process in the words of :func:`memcurve.inputs.parse`; None is white.
    noise : float, str or None
        A standard deviation, or words like ``"state:1e-3"``, ``"float32"``, ``"12bit:4"``.
    method, options
        As for :func:`memcurve.memory_curve`.
    lags : int or None
        Number of lags; None is the method's own choice.
    seed : int or None
        Of everything drawn: connectivity, mask, and what the method draws.
    keep : tuple of str
        Names from :data:`memcurve.sweeping.fields.QUANTITIES`.
    curve : bool
        Whether to keep the whole curve.

    Examples
    --------
    >>> from memcurve.sweeping import Case
    >>> case = Case(ensemble="normal", size=20, seed=1)
    >>> case.to_dict()
    {'ensemble': 'normal', 'size': 20, 'method': 'exact', 'seed': 1, 'keep': ['rank', 'total']}
    >>> Case.from_dict(case.to_dict()) == case
    True
    """

    ensemble: str
    size: int
    spectral_radius: float | None = None
    density: float | None = None
    mask: str | None = None
    ensemble_options: Mapping[str, Any] = field(default_factory=dict)
    inputs: int = 1
    input: str | None = None
    noise: float | str | None = None
    method: str = "exact"
    options: Mapping[str, Any] = field(default_factory=dict)
    lags: int | None = None
    seed: int | None = None
    keep: tuple[str, ...] = USUAL
    curve: bool = False

    def __post_init__(self) -> None:
        # equal cases have one form, and so one key: 1 is 1.0, "white" is None, order means nothing
        _lift_options(self)
        for name, tidy in TIDY.items():
            object.__setattr__(self, name, tidy(getattr(self, name)))
        require_ensemble_options(self.ensemble, tuple(self.ensemble_arguments))
        unknown = sorted(set(self.options) - set(method_options(self.method)))
        if unknown:
            taken = ", ".join(method_options(self.method)) or "none"
            raise TypeError(
                f"method {self.method!r} takes the options {taken}; got {', '.join(unknown)}."
            )
        if self.seed is None and (self.inputs > 1 or draws(self.ensemble, self.mask, self.method)):
            raise ValueError(
                f"`seed` must be given, since the case draws at random (ensemble "
                f"{self.ensemble!r}, mask {self.mask!r}, method {self.method!r}); add e.g. seed=1."
            )

    @property
    def ensemble_arguments(self) -> dict[str, Any]:
        """What :func:`memcurve.ensembles.make` gets besides the size and the seed."""
        named = {name: getattr(self, name) for name in LIFTED}
        given = {name: value for name, value in named.items() if value is not None}
        return dict(self.ensemble_options) | given

    def to_dict(self) -> dict[str, Any]:
        """What is set, as plain JSON types; what is at its default is left out."""
        content: dict[str, Any] = {}
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if item.name in _ALWAYS or value != _DEFAULTS[item.name]:
                content[item.name] = list(value) if isinstance(value, tuple) else value
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Read back what :meth:`to_dict` gave."""
        if not isinstance(content, Mapping):
            raise TypeError(f"a case must be a mapping of its fields, got {content!r}.")
        known = [item.name for item in dataclasses.fields(cls)]
        for name in content:
            if name not in known:
                raise ValueError(
                    f"a case has no field {name!r}; its fields are {', '.join(known)}."
                )
        for name in ("ensemble", "size"):
            if name not in content:
                raise ValueError(f"a case needs `{name}`, got {dict(content)!r}.")
        return cls(**content)

    @functools.cached_property
    def key(self) -> str:
        """SHA-256 of the case: the same case has the same key in every study."""
        text = json.dumps(
            [FORMAT, self.to_dict()], sort_keys=True, separators=(",", ":"), allow_nan=False
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def __hash__(self) -> int:
        return hash(self.key)


#: Options of ensembles that are fields of their own.
LIFTED = ("spectral_radius", "density", "mask")
_ALWAYS = ("ensemble", "size", "method", "keep")
_DEFAULTS: dict[str, Any] = {
    item.name: {} if item.default_factory is not dataclasses.MISSING else item.default
    for item in dataclasses.fields(Case)
}


def _lift_options(case: Case) -> None:
    """Move options of the ensemble to the fields of that name."""
    options = case.ensemble_options
    for name in LIFTED:
        if isinstance(options, Mapping) and name in options:
            if getattr(case, name) is not None:
                raise ValueError(
                    f"`{name}` must be given once, got {getattr(case, name)!r} and, among the "
                    f"options of ensemble {case.ensemble!r}, {options[name]!r}."
                )
            object.__setattr__(case, name, options[name])
            options = {key: value for key, value in options.items() if key != name}
    object.__setattr__(case, "ensemble_options", options)
