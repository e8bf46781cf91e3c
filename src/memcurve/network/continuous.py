"""Networks in continuous time, dx = Ax dt + C dW: HiPPO and others, and their discretisations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memcurve.core import arguments
from memcurve.core.limits import require_room_for_array
from memcurve.core.types import Floats
from memcurve.network.linear import LinearNetwork

#: Entries of a diagonal are nearly equal below this share of the largest weight. Doubled: more
#: triangles are treated as full matrices, which takes as long.
NEARLY_EQUAL = 1e-3


@dataclass(frozen=True, eq=False)
class ContinuousNetwork:
    """A linear network in continuous time with one input: dx = Ax dt + C dW.

    Parameters
    ----------
    A : (N, N) array
        Real connectivity; the network forgets if all eigenvalues have negative real parts.
    C : (N,) array
        Input weights.
    name : str, optional
        A label for tables and plots.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ContinuousNetwork([[-1.0, 0.0], [1.0, -2.0]], [1.0, 0.0])
    >>> network.discretised(0.1).A.round(4)
    array([[0.9048, 0.    ],
           [0.0861, 0.8187]])
    """

    A: Floats
    C: Floats
    name: str | None = None

    def __post_init__(self) -> None:
        A, C = arguments.exact_array(self.A, "A"), arguments.exact_array(self.C, "C")
        if A.ndim != 2 or A.shape[0] != A.shape[1] or A.size == 0 or A.dtype.kind != "f":
            raise ValueError(f"`A` must be a real square matrix, got shape {A.shape}; give (N, N).")
        C = C[:, 0] if C.ndim == 2 and C.shape[1] == 1 else C
        if C.shape != (len(A),) or C.dtype.kind != "f":
            raise ValueError(
                f"`C` must be a real vector of {len(A)} input weights, one per node, got shape "
                f"{C.shape}; several inputs are asked for one by one."
            )
        if self.name is not None and not isinstance(self.name, str):
            raise TypeError(f"`name` must be a string, got {self.name!r:.80}.")
        for name, value in (("A", A), ("C", C)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.A)

    def discretised(self, step: float, method: str = "zoh") -> LinearNetwork:
        """The network whose input is held for a ``step`` h, in discrete time.

        ``"zoh"``, the zero-order hold: ``exp(hA)`` and ``∫₀ʰ exp(sA)C ds``; ``"bilinear"``:
        ``(I − hA/2)⁻¹(I + hA/2)`` and ``(I − hA/2)⁻¹hC``. A triangular A stays exactly triangular.
        """
        h = arguments.require_number(step, "step", "above 0", lambda h: h > 0)
        rule = arguments.table_entry(DISCRETISATIONS, method, "method")
        A, C = rule(h * self.A, h * self.C)
        name = f"{self.name or 'continuous network'}, step {h:g}, {method}"
        return LinearNetwork(A, C, name=name)


def hippo(kind: str, size: int) -> ContinuousNetwork:
    """A HiPPO network: ``"legs"``, ``"legt"`` (the Legendre memory unit), ``"lagt"``, ``"fout"``.

    For n, k = 0 … N − 1 (Gu, Dao, Ermon, Rudra and Ré 2020; Voelker, Kajić and Eliasmith 2019)::

        LegS  A_nk = −√((2n+1)(2k+1)) for n > k, −(n+1) for n = k;   C_n = √(2n+1)
        LegT  A_nk = −(2n+1)(−1)^(n−k) for n ≥ k, −(2n+1) for n < k;   C_n = (2n+1)(−1)ⁿ
        LagT  A_nk = −1 for n > k, −½ for n = k;   C_n = 1

    and FouT as S4 has it: rotations πk, less CCᵀ, with C = (1, 0, √2, 0, √2, …).

    Examples
    --------
    >>> from memcurve.network.continuous import hippo
    >>> hippo("legs", 2).C.round(4)
    array([1.    , 1.7321])
    """
    arguments.require_choice(kind, "kind", ("legs", "legt", "lagt", "fout"))
    size = arguments.require_size(size)
    require_room_for_array((size, size), f"a HiPPO network of `size`={size}")
    odd, ones = 2 * np.arange(size) + 1.0, np.ones((size, size))
    if kind == "legs":
        C = np.sqrt(odd)
        A = -np.tril(np.outer(C, C), -1) - np.diag(np.arange(1.0, size + 1))
    elif kind == "legt":
        sign = (-1.0) ** np.arange(size)
        A, C = -odd[:, None] * (np.tril(np.outer(sign, sign)) + np.triu(ones, 1)), odd * sign
    elif kind == "lagt":
        A, C = -np.tril(ones, -1) - np.eye(size) / 2, ones[0]
    else:
        turns, C = np.zeros(size - 1), np.zeros(size)
        turns[1::2] = np.pi * np.arange(1, len(turns[1::2]) + 1)
        C[::2], C[0] = np.sqrt(2), 1
        A = np.diag(turns, -1) - np.diag(turns, 1) - np.outer(C, C)
    return ContinuousNetwork(A, C, name=f"HiPPO-{kind[:3].capitalize()}{kind[3].upper()}, N={size}")


def _bilinear(A: Floats, C: Floats) -> tuple[Floats, Floats]:
    from scipy.linalg import solve_triangular

    one = np.eye(len(C))
    both: Any = np.column_stack([one + A / 2, C])
    if np.triu(A, 1).any():
        both = np.linalg.solve(one - A / 2, both)
    else:  # substitution keeps a triangular A exactly triangular
        both = solve_triangular(one - A / 2, both, lower=True)
    return both[:, :-1], both[:, -1]


def exponential(A: Any) -> Any:
    """The matrix exponential, also of triangles whose diagonal is nearly constant.

    SciPy takes the diagonal next to that of a triangle from differences (e^a − e^b)/(a − b), of
    which nearly equal a and b leave no digit. A rotation beside the triangle hides what it is.
    """
    from scipy.linalg import expm

    gaps, size = np.abs(np.diff(np.diag(A))), len(A)
    if not np.any((gaps > 0) & (gaps < NEARLY_EQUAL * np.abs(A).max())):
        return expm(A)
    beside = np.zeros((size + 2, size + 2), A.dtype)
    beside[:size, :size] = A
    beside[size, size + 1], beside[size + 1, size] = 1, -1
    return expm(beside)[:size, :size]


def _zero_order_hold(A: Floats, C: Floats) -> tuple[Floats, Floats]:
    # the held input is a state of its own; put first, it keeps a lower triangular A so
    flow = exponential(np.block([[np.zeros((1, len(C) + 1))], [C[:, None], A]]))
    if not np.triu(A, 1).any():  # which not every SciPy keeps to the last digit
        flow = np.tril(flow)
    return flow[1:, 1:], flow[1:, 0]


DISCRETISATIONS = {"bilinear": _bilinear, "zoh": _zero_order_hold}
