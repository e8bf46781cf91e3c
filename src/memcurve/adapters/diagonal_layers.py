"""Diagonal state-space layers: LRU, S4D, S5, or any eigenvalues with their B."""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.arguments import exact_array
from memcurve.files.checkpoints import tensor_values
from memcurve.network import LinearNetwork
from memcurve.network.diagonal import diagonal_network, lru_mask, lru_poles


def diagonal(
    eigenvalues: Any,
    B: Any,
    *,
    step: Any = None,
    discretisation: str = "zoh",
    name: str | None = None,
) -> LinearNetwork:
    """A network with diagonal A, as state-space layers have it: x_t = diag(λ) x_{t−1} + B z_t.

    With a ``step`` h the numbers are those of x′ = diag(λ) x + B z, discretised::

        zoh:       λ̄ = exp(hλ),                  B̄ = (λ̄ − 1)/λ · B
        bilinear:  λ̄ = (1 + hλ/2)/(1 − hλ/2),    B̄ = h/(1 − hλ/2) · B

    Parameters
    ----------
    eigenvalues : (N,) array or torch tensor
        λ, real or complex.
    B : (N,), (N, d) or (N, d, 2) array or torch tensor
        Input matrix; a third axis of two holds real and imaginary parts.
    step : float or (N,) array, optional
        Time step above 0, for all states or each. Without it λ and B are taken as they are.
    discretisation : str
        ``"zoh"``, the zero-order hold, or ``"bilinear"``.
    name : str, optional
        A label for tables and plots.

    Returns
    -------
    LinearNetwork
        With a sparse A. Complex states are read through real and imaginary parts, as by a layer
        that outputs Re(Cx); where λ lists conjugate pairs of a real system, the second of a pair
        adds nothing to the memory.

    Examples
    --------
    >>> import memcurve
    >>> layer = memcurve.adapters.diagonal([-1.0, -2.0], [1.0, 1.0], step=0.1)
    >>> layer.A.diagonal().round(4)
    array([0.9048, 0.8187])
    """
    poles, mask, steps = (tensor_values(value) for value in (eigenvalues, B, step))
    return diagonal_network(poles, mask, step=steps, discretisation=discretisation, name=name)


def lru(
    nu_log: Any, theta_log: Any, B: Any, gamma_log: Any = None, *, name: str | None = None
) -> LinearNetwork:
    """A linear recurrent unit (Orvieto et al. 2023), from its parameters.

    λ = exp(−exp(ν) + i·exp(θ)), and row k of the input matrix is exp(γ_k)·B_k.

    Parameters
    ----------
    nu_log, theta_log : (N,) array or torch tensor
        ν and θ.
    B : (N, d) complex array, or (N, d, 2) with real and imaginary parts
        Input matrix, without its normalisation.
    gamma_log : (N,) array or torch tensor, optional
        γ, the normalisation's logarithm.
    name : str, optional
        A label for tables and plots.
    """
    nu, theta, mask, gamma = (tensor_values(v) for v in (nu_log, theta_log, B, gamma_log))
    return diagonal_network(lru_poles(nu, theta), lru_mask(mask, gamma), name=name)


def s4d(
    log_A_real: Any,
    A_imag: Any,
    log_dt: Any,
    B: Any = None,
    *,
    discretisation: str = "zoh",
    name: str | None = None,
) -> LinearNetwork:
    """One feature of an S4D layer (Gu et al. 2022): λ = −exp(log_A_real) + i·A_imag.

    Parameters
    ----------
    log_A_real, A_imag : (N,) array or torch tensor
        One feature's row of the layer's parameters.
    log_dt : float
        Logarithm of the feature's time step.
    B : (N,) array, optional
        Input vector, all ones by default, as in the layer.
    discretisation, name
        As for :func:`diagonal`.
    """
    real, imaginary = (
        exact_array(tensor_values(value), argument)
        for value, argument in ((log_A_real, "log_A_real"), (A_imag, "A_imag"))
    )
    if real.ndim != 1 or real.shape != imaginary.shape:
        raise ValueError(
            f"`log_A_real` and `A_imag` must be equally long vectors, those of one feature, e.g. "
            f"log_A_real[0]; got shapes {real.shape} and {imaginary.shape}."
        )
    with np.errstate(over="ignore"):  # an overflow is refused below, as infinite
        poles = -np.exp(real) + 1j * imaginary
    mask = np.ones(len(poles)) if B is None else B
    return diagonal(
        poles, mask, step=_exponential(log_dt, "log_dt"), discretisation=discretisation, name=name
    )


def s5(
    Lambda: Any,
    B: Any,
    log_step: Any,
    *,
    discretisation: str = "zoh",
    name: str | None = None,
) -> LinearNetwork:
    """An S5 layer (Smith et al. 2022), from its parameters.

    Parameters
    ----------
    Lambda : (N,) complex array, or (N, 2) with real and imaginary parts
        Continuous-time eigenvalues.
    B : (N, d) complex array, or (N, d, 2) with real and imaginary parts
        Input matrix, in the coordinates of the eigenvectors.
    log_step : float, (N,) or (N, 1) array
        Logarithms of the time steps.
    discretisation, name
        As for :func:`diagonal`.
    """
    poles = exact_array(tensor_values(Lambda), "Lambda")
    if poles.ndim == 2 and poles.shape[1] == 2 and poles.dtype.kind == "f":
        poles = poles[:, 0] + 1j * poles[:, 1]
    steps = _exponential(log_step, "log_step")
    return diagonal(poles, B, step=steps, discretisation=discretisation, name=name)


def _exponential(logarithm: Any, argument: str) -> Any:
    with np.errstate(over="ignore"):  # an overflow is refused later, as infinite
        return np.exp(exact_array(tensor_values(logarithm), argument))
