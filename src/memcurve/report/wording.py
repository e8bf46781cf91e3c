"""Words and text that all renderings share."""

from __future__ import annotations

import re

#: The heading of the notes.
NOTES = "Before quoting the numbers"

#: Characters that are neither text nor blanks; half characters cannot be written as UTF-8.
_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    """Text without control characters, which terminals obey and browsers refuse."""
    return _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Text in one line."""
    return re.sub(r"[ \t\n]+", " ", clean(text)).strip()


def paragraphs(text: str) -> list[str]:
    """The parts of a text between blank lines."""
    parts = (one_line(part) for part in re.split(r"\n\s*\n", clean(text)))
    return [part for part in parts if part]
