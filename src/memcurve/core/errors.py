"""Errors and warnings besides wrong arguments (those are ValueError and TypeError)."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class UnstableNetworkError(ValueError):
    """The network's spectral radius is at least one: its states have no stationary law.

    Examples
    --------
    >>> import memcurve
    >>> try:
    ...     memcurve.memory_curve(([[2.0]], [1.0]))
    ... except memcurve.UnstableNetworkError as error:
    ...     print(str(error).partition(":")[0])
    the network is unstable
    """


def unstable(radius: float) -> UnstableNetworkError:
    """The error for a network whose input excites an eigenvalue of modulus ``radius``."""
    return UnstableNetworkError(
        f"the network is unstable: the input excites an eigenvalue of modulus {radius:.6g}, so "
        f"that the states grow without bound. Scale `A` below spectral radius 1; for a network "
        f"that is read from a file, give `spectral_radius=0.9`."
    )


class UncertainResultError(ArithmeticError):
    """No number with a known error can be given; the message has the reason and the remedy.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.cyclic(30)
    >>> try:
    ...     memcurve.memory_curve(network, method="certified", certify_up_to=10)
    ... except memcurve.UncertainResultError as error:
    ...     print(str(error).partition(" is")[0])
    method 'certified'
    """


class ModelError(RuntimeError):
    """A simulated model failed, or its states are invalid.

    Examples
    --------
    >>> import memcurve
    >>> try:
    ...     memcurve.measure(lambda z: float('nan') * z, seed=1)
    ... except memcurve.ModelError as error:
    ...     print(type(error).__name__)
    ModelError
    """


class RankWarning(UserWarning):
    """The rank of the stored numbers and the rank up to rounding differ.

    Examples
    --------
    >>> import warnings
    >>> import memcurve
    >>> warnings.simplefilter("ignore", memcurve.RankWarning)  # the curve's notes say the same
    """


@contextmanager
def rank_among_notes() -> Iterator[None]:
    """No RankWarning: for callers that pass on the notes, which say the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        yield


class RecordingWarning(UserWarning):
    """A property of a recording biases the estimate.

    Examples
    --------
    >>> import warnings
    >>> import memcurve
    >>> warnings.simplefilter("ignore", memcurve.RecordingWarning)  # the curve's notes say the same
    """
