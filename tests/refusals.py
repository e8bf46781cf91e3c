"""Refusals: the class of an error and the facts that it names, not its sentence."""

import re
from collections.abc import Callable
from typing import Any

import pytest


def refuses(
    error: type[Exception] | tuple[type[Exception], ...],
    facts: str | tuple[str, ...],
    call: Callable[..., Any],
    *arguments: Any,
    **options: Any,
) -> str:
    """``call(*arguments, **options)`` raises ``error`` with every one of ``facts`` in its text.

    Facts are whole words or numbers: an argument in backticks, a value that was received, a limit.
    Returns the text.
    """
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    for fact in (facts,) if isinstance(facts, str) else facts:
        assert re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", str(caught.value)), str(caught.value)
    return str(caught.value)
