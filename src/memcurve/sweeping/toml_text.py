"""Studies as TOML text, to the letter what a file would say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def as_toml(content: Mapping[str, Any]) -> str:
    """Tables as TOML that reads back the same."""
    plain = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {_written(value)}" for key, value in plain.items()]
    for name, table in content.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{_key(name)}]"]
            lines += [f"{_key(key)} = {_written(value)}" for key, value in table.items()]
    return "\n".join(lines).lstrip("\n") + "\n"


def _key(name: str) -> str:
    bare = name.replace("_", "").replace("-", "")
    return name if bare.isascii() and bare.isalnum() else _quoted(name)


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {_written(one)}" for key, one in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    raise TypeError(f"a study file holds numbers, words, lists and tables; got {value!r}.")


def _quoted(text: str) -> str:
    """A TOML string. JSON's escapes of rare characters are pairs, which TOML does not know."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"a study file holds text that UTF-8 can write, got {text!r}; leave out what is half a "
            f"character."
        ) from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def in_words_of_a_file(value: Any) -> Any:
    """What Python has and TOML has not, in the words of a file."""
    if isinstance(value, range):
        if not value or value.step < 1:
            return list(value)
        return {"from": value.start, "to": value[-1], "step": value.step}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): in_words_of_a_file(one) for key, one in value.items() if one is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [in_words_of_a_file(one) for one in value]
    return value
