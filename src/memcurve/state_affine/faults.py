"""What is wrong with state-affine networks and questions about them: sentences of faults.toml."""

from functools import cache
from typing import Any

from memcurve.core.notes import texts_beside


@cache
def _texts() -> dict[str, str]:
    return texts_beside(__file__)


def fault(kind: str, /, **facts: Any) -> str:
    """The sentence of a kind, filled with facts."""
    return _texts()[kind].format(**facts)
