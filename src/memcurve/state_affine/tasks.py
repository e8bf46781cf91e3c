"""Errors of nonlinear tasks, predicted without a simulation: targets, teachers, NARMA-10."""

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from memcurve.core.arguments import require_limit, require_number
from memcurve.core.errors import UncertainResultError
from memcurve.core.notes import text_beside
from memcurve.state_affine.builders import as_state_affine, on_shared_functions
from memcurve.state_affine.evaluation import coordinates
from memcurve.state_affine.faults import fault
from memcurve.state_affine.laws import Law, law_of
from memcurve.state_affine.letters import letters_of
from memcurve.state_affine.network import StateAffineNetwork
from memcurve.state_affine.tree import Word
from memcurve.state_affine.white import solve

MOST_STEPS = 20_000  # after which a teacher's memory must have faded


@dataclass(frozen=True)
class WordTarget:
    """A target Σ d_w Φ_w of past inputs: coefficients by word, its variance, and what is missing.

    ``missing`` is the share of the variance that the words listed do not have, ``input`` the law
    that they are of, if it matters.
    """

    name: str
    coefficients: Mapping[Word, float]
    variance: float
    missing: float = 0.0
    input: Law | None = None


def delayed_product(*lags: int) -> WordTarget:
    """The product of inputs some steps back, e.g. z_{t−1}·z_{t−2}; of coins it is their parity.

    Examples
    --------
    >>> from memcurve.state_affine import delayed_product
    >>> delayed_product(1, 2).coefficients
    {(0, 1, 1): 1.0}
    """
    chosen = [require_limit(lag, "lags") for lag in lags]
    if not chosen or len(set(chosen)) < len(chosen):
        raise ValueError(f"`lags` must be different delays, at least one; got {lags!r}.")
    name = f"product of lags {', '.join(map(str, chosen))}"
    return WordTarget(name, {_word(chosen): 1.0}, 1.0)


def _word(lags: list[int]) -> Word:
    """The word of a product of inputs, each as often as it is listed."""
    return tuple(lags.count(lag) for lag in range(max(lags) + 1))


def function_target(
    function: Callable[..., Any], count: int, *, input: Any = "uniform", degree: int = 8
) -> WordTarget:
    """Any function f(z_t, z_{t−1}, …) of some newest inputs, expanded up to a degree in each.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve.state_affine import function_target
    >>> target = function_target(lambda a, b: np.sin(a + b), 2)
    >>> bool(target.missing < 1e-9)
    True
    """
    law = law_of(input)
    phi = law.polynomials(degree) * law.weights
    grid = np.meshgrid(*[law.nodes] * count, indexing="ij", sparse=True)
    values = np.broadcast_to(np.asarray(function(*grid), dtype=float), (len(law.nodes),) * count)
    moments, squares = values, values**2
    for _ in range(count):  # one axis after the other, the oldest last
        moments = np.moveaxis(np.tensordot(phi, moments, axes=(1, 0)), 0, -1)
        squares = np.tensordot(law.weights, squares, axes=(0, 0))
    variance = float(squares) - float(moments[(0,) * count]) ** 2
    coefficients = {}
    for word in itertools.product(range(degree + 1), repeat=count):
        if any(word) and moments[word] ** 2 > 1e-16 * variance:
            trimmed = word[: max(j for j, k in enumerate(word) if k) + 1]
            coefficients[trimmed] = float(moments[word])
    missing = max(0.0, 1 - sum(c * c for c in coefficients.values()) / variance)
    return WordTarget("a function of inputs", coefficients, variance, missing, law)


@cache
def narma10() -> WordTarget:
    """NARMA-10, y_{t+1} = 0.3y + 0.05y Σ_{i<10}y_{t−i} + 1.5u_{t−9}u_t + 0.1, u = (z + 1)/4.

    Its expansion was measured once, on 16 million steps of runs that stay bounded: products of up
    to two inputs, which have all but ``missing`` of its variance. 86 % of it are linear: no linear
    network comes below a normalised error of about 0.14 (NRMSE 0.38).

    Examples
    --------
    >>> from memcurve.state_affine import narma10
    >>> target = narma10()
    >>> linear = sum(d * d for word, d in target.coefficients.items() if sum(word) == 1)
    >>> round(linear / target.variance, 2)
    0.86
    """
    stored = json.loads(text_beside(__file__, "narma10.json"))
    coefficients = {_word(lags): value for lags, value in stored["coefficients"]}
    listed, variance = sum(d * d for d in coefficients.values()), stored["variance"]
    return WordTarget("NARMA-10", coefficients, variance, 1 - listed / variance, law_of("uniform"))


def as_target(target: Any) -> WordTarget | Mapping[Word, float] | StateAffineNetwork | None:
    """A nonlinear target from what users write; None where it is not one of these."""
    if isinstance(target, WordTarget | Mapping | StateAffineNetwork):
        return target
    kind, _, numbers = target.partition(":") if isinstance(target, str) else ("", "", "")
    if kind == "narma10":
        return narma10()
    if kind not in ("product", "parity"):
        return None
    lags = [int(part) for part in numbers.split(",") if part.strip().isdigit()]
    if len(lags) != len(numbers.split(",")) or (kind == "parity" and len(lags) != 1):
        raise ValueError(fault("target", got=target))
    return delayed_product(*(lags if kind == "product" else range(lags[0])))


def predicted_error(
    network: Any, target: WordTarget | Mapping[Word, float] | StateAffineNetwork, noise: Any = None
) -> tuple[float, float]:
    """Smallest normalised mean square error of a linear readout, and its error."""
    if isinstance(target, StateAffineNetwork):
        share, error = _of_teacher(as_state_affine(network, target.input), target, noise)
        slack = 0.0
    else:
        if not isinstance(target, WordTarget):
            if not all(isinstance(word, tuple) for word in target):
                raise TypeError(f"`target` must have words such as (0, 1) for keys, got {target}.")
            squares = (require_number(d, "target", "for every word") ** 2 for d in target.values())
            target = WordTarget("words", dict(target), sum(squares))
        if not target.variance > 0:
            raise ValueError("`target` must vary, got one of variance 0.")
        converted = as_state_affine(network, target.input or "uniform")
        if target.input is not None and not converted.input.is_same(target.input):
            laws = {"law": converted.input.name, "other": target.input.name}
            raise ValueError(fault("other_input", target=target.name, **laws))
        words = coordinates(converted, noise)
        share, error = words.tree.explained(target.coefficients) / target.variance, words.error
        slack = np.sqrt(max(target.missing, 0.0))
    # |√share − √truth| ≤ √missing, by the triangle inequality
    ends = max(np.sqrt(share) - slack, 0.0) ** 2 - error, (np.sqrt(share) + slack) ** 2 + error
    nmse, high, low = np.clip(1 - np.array([share, *ends]), 0.0, 1.0).tolist()
    return nmse, max(high - nmse, nmse - low)


def _of_teacher(
    network: StateAffineNetwork, teacher: StateAffineNetwork, noise: Any
) -> tuple[float, float]:
    """From the covariance X of the two networks, X = Σ T X T'ᵀ + Σ r r'ᵀ, over the same letters."""
    student, other = on_shared_functions(network, teacher.replace(outputs=None))
    white, letters = coordinates(student, noise), letters_of(other)
    tree, T, r = white.tree, letters.T, letters.r
    X = term = tree.r.T @ r
    for _ in range(MOST_STEPS):
        term = sum((a @ term @ b.T for a, b in zip(tree.T, T, strict=True)), np.zeros_like(term))
        X = X + term
        if np.abs(term).max() <= 1e-17 * max(np.abs(X).max(), 1e-300):
            break
    else:
        raise UncertainResultError("the covariance with the teacher does not settle.")
    read = sum((a @ X @ b.T for a, b in zip(tree.out, T, strict=True)), tree.direct.T @ r)
    variance = float(solve(T, r.T @ r, 1e-13)[0, 0])
    return float(read[:, 0] @ read[:, 0]) / variance, white.error
