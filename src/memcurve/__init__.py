"""memcurve: how much a recurrent network remembers, computed right."""

import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from memcurve.core.version import __version__ as __version__

# Public names are listed in the stub and imported on first use: numpy and scipy would make
# `memcurve --help` slow.
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOMES = {name: home for home, name in re.findall(r"^from (\S+) import (\w+) as ", _STUB, re.M)}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None or home == "memcurve":  # a ring, such as memcurve.inputs
        if name.startswith("_") or importlib.util.find_spec(f"memcurve.{name}") is None:
            raise AttributeError(f"module 'memcurve' has no attribute {name!r}")
        return _with_public_names(importlib.import_module(f"memcurve.{name}"))
    ring = importlib.import_module(home)
    public = getattr(ring, name, None) or importlib.import_module(f"{home}.{name}")
    return _with_public_names(public) if isinstance(public, ModuleType) else public


def _with_public_names(module: ModuleType) -> ModuleType:
    """A public module, of which ``dir`` lists what it defines, or what it says it does."""
    own = (
        name
        for name, value in vars(module).items()
        if name[0] != "_" and getattr(value, "__module__", None) == module.__name__
    )
    names = sorted(getattr(module, "__all__", own))
    module.__dir__ = lambda: names  # type: ignore[method-assign]
    return module


def __dir__() -> list[str]:
    return __all__
