"""Number types that most modules share, and how results write them as JSON."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

#: The distance from 1 to the next float64.
EPS = float(np.finfo(float).eps)
#: The smallest float64 that has all digits.
TINY = float(np.finfo(float).tiny)
#: Random numbers are drawn from this seed: the same network gives the same answer. Doubled: another
#: draw, and answers that agree within their errors.
SEED = 20230501


class Codec:
    """How pydantic reads and writes arrays and free content; pydantic is imported only then."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema as cs

        write = cs.plain_serializer_function_ser_schema(lambda value: value)  # see `plain`
        if self.dtype is None:
            return cs.any_schema(serialization=write)
        return cs.no_info_after_validator_function(self.read, cs.list_schema(), serialization=write)

    def read(self, values: Any) -> NDArray[Any]:
        if self.dtype is complex:
            pairs = np.array(values, dtype=float).reshape(-1, 2)
            return np.asarray(pairs[:, 0] + 1j * pairs[:, 1])
        return np.array(values, dtype=self.dtype)


Floats = Annotated[NDArray[np.float64], Codec(float)]
Integers = Annotated[NDArray[np.int64], Codec(np.int64)]
Complexes = Annotated[NDArray[np.complex128], Codec(complex)]
#: Whatever JSON can hold: options, diagnostics.
Free = Annotated[Mapping[str, Any], Codec(None)]
