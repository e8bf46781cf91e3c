"""What to type where an optional package is missing."""

import pytest

from memcurve.core import optional
from refusals import refuses


@pytest.mark.parametrize(("pip", "line"), [(True, "-m pip install"), (False, "uv pip install")])
@pytest.mark.parametrize(("extra", "installed"), [("all", "memcurve[all]"), (None, "nowhere")])
def test_what_is_missing_is_named(
    pip: bool, line: str, extra: str | None, installed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optional, "find_spec", lambda name: pip)
    facts = ("a dream", "nowhere", line, f'"{installed}"')
    refuses(ModuleNotFoundError, facts, optional.optional, "nowhere.at.all", "a dream", extra)
