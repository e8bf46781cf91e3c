"""Mappings of names to arrays or tensors, such as torch's state dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memcurve.arguments import rectangular_array
from memcurve.files.checkpoints import tensor_values
from memcurve.files.contents import network_parts
from memcurve.network import LinearNetwork


def from_mapping(
    mapping: Mapping[Any, Any],
    *,
    matrix: str | None = None,
    mask: Any = None,
    discretisation: str = "zoh",
) -> LinearNetwork:
    """Take A and C by their names, or what the names there are make of it, as in files."""
    arrays = {str(key): tensor_values(value) for key, value in mapping.items()}

    def fetch(key: str) -> Any:
        array = arrays[key]
        return array if hasattr(array, "toarray") else np.asarray(array)

    present = {key: _about(key, array) for key, array in arrays.items()}
    named = isinstance(mask, str)
    parts = network_parts(
        "the mapping",
        (present, fetch),
        matrix=matrix,
        mask=mask if named else None,
        given=None if named else tensor_values(mask),
        discretisation=discretisation,
    )
    return LinearNetwork(**parts)


def _about(key: str, array: Any) -> str:
    if not hasattr(array, "dtype"):
        array = rectangular_array(array, key)
    return f"{tuple(array.shape)} {array.dtype}"
