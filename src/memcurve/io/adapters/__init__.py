"""Models of other libraries → LinearNetwork: one module per library, one table, `as_network`.

A library is never imported here: an object is recognised by the module its class comes from, and
an object can only exist where its library is installed.
"""

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

from memcurve.io import load_network
from memcurve.io.adapters.arrays import diagonal, fault, from_mapping, from_tuple, leaky
from memcurve.io.adapters.graphs import from_cect, from_graph
from memcurve.io.adapters.linear_systems import from_system
from memcurve.io.adapters.reservoirs import from_conn2res, from_reservoirpy
from memcurve.io.adapters.torch_modules import from_torch
from memcurve.network import LinearNetwork
from memcurve.network.nonlinear import NonlinearNetwork

__all__ = ["as_network", "diagonal", "leaky"]


def as_network(
    network: Any, *, readout: Any = None, name: str | None = None, **options: Any
) -> LinearNetwork:
    """Make a :class:`memcurve.LinearNetwork` from a model of another library.

    Everything is brought to x_t = A x_{t−1} + C z_t, where the state at time t is already driven by
    the input of time t and ``A[i, j]`` is the weight from node j to node i. The ``notes`` of the
    result say how it was converted.

    Parameters
    ----------
    network
        One of these, with the options it takes:

        - a ``LinearNetwork``, a ``NonlinearNetwork`` (linearised), or the path of a file
          (``matrix=``, ``mask=``, ``edges=``, ``spectral_radius=``, see
          :func:`memcurve.load_network`)
        - a tuple ``(A, C)``; ``(W, Win, lr)`` with a leak rate, see
          :func:`memcurve.adapters.leaky`; or ``(eigenvalues, B)`` and ``(eigenvalues, B, step)``,
          see :func:`memcurve.adapters.diagonal` (``discretisation=``); arrays, scipy sparse arrays
          or torch tensors
        - a reservoirpy ``Reservoir``, or an ``ESN`` or ``Model`` with one (``input_dim=``)
        - a conn2res ``EchoStateNetwork`` (``w_in=``, ``input_gain=``, ``output_nodes=``)
        - a discrete-time system of ``scipy.signal`` or python-control
        - a torch ``nn.RNN`` or ``nn.RNNCell``
        - a mapping of names to arrays or tensors, e.g. a ``state_dict()`` (``matrix=``, ``mask=``)
        - a networkx graph (``mask=``, ``weight=``, ``spectral_radius=``)
        - a *C. elegans* connectome of cect (``mask=``, ``signs=``, ``spectral_radius=``)
    readout : sequence of int or boolean mask, optional
        The nodes that can be read, in place of those the object has; of a networkx graph or a
        connectome a list of its nodes.
    name : str, optional
        A label for tables and plots.
    **options
        As listed with each kind of object.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.as_network(([[0.2, 0.5], [0.0, 0.1]], [1.0, 1.0], 0.3))
    >>> network.A.round(2)
    array([[0.76, 0.15],
           [0.  , 0.73]])
    >>> memcurve.memory_curve(network).total
    2.0
    """
    if isinstance(network, LinearNetwork) and readout is None and name is None and not options:
        return network
    adapter = _adapter(network)
    taken = inspect.signature(adapter).parameters
    keywords = [p.name for p in taken.values() if p.kind is p.KEYWORD_ONLY]
    accepted = [option for option in keywords if option not in ("readout", "name")]
    unknown = [f"`{option}`" for option in options if option not in accepted]
    if unknown:
        listed = ", ".join(f"`{option}`" for option in accepted) or "no options"
        raise TypeError(
            fault("options", unknown=", ".join(unknown), kind=_described(network), listed=listed)
        )
    if readout is not None and "readout" in taken:
        options["readout"], readout = readout, None
    converted = adapter(network, **options)
    overrides = {"readout": readout, "name": name}
    changes = {part: value for part, value in overrides.items() if value is not None}
    return converted.replace(**changes) if changes else converted


Adapter = Callable[..., LinearNetwork]
#: Kinds of objects of Python itself or of this package.
_OWN: tuple[tuple[Any, Adapter], ...] = (
    (LinearNetwork, lambda network: network),
    (NonlinearNetwork, NonlinearNetwork.linearised),
    ((str, os.PathLike), load_network),
    (tuple, from_tuple),
    (Mapping, from_mapping),
)
#: The package that a class, or one it is derived from, comes from.
_FOREIGN: dict[str, Adapter] = {
    "reservoirpy": from_reservoirpy,
    "conn2res": from_conn2res,
    "scipy.signal": from_system,
    "control": from_system,
    "torch.nn": from_torch,
    "networkx": from_graph,
    "cect": from_cect,
}
#: Functions for networks of this package that are not linear in discrete time.
_OWN_FUNCTIONS = {
    "StateAffineNetwork": "memcurve.capacities(network).curve is its memory curve",
    "ContinuousNetwork": "memcurve.memory_density(network) is the memory per unit of time, and "
    "network.discretised(step) a LinearNetwork",
}


def _adapter(obj: Any) -> Adapter:
    for kinds, adapter in _OWN:
        if isinstance(obj, kinds):
            return adapter
    for package, adapter in _FOREIGN.items():
        if comes_from(obj, package):
            return adapter
    raise TypeError(fault("kind", got=_described(obj), remedy=_remedy(obj)))


def comes_from(obj: Any, package: str) -> bool:
    """Whether an object's class, or one it is derived from, is of a package."""
    return any(f"{kind.__module__}.".startswith(f"{package}.") for kind in type(obj).__mro__)


def _remedy(obj: Any) -> str:
    if isinstance(obj, int):
        return f"memcurve.ensembles.normal({obj}, seed=1) draws one of {obj} nodes"
    return _OWN_FUNCTIONS.get(type(obj).__name__, "Give its weights as a pair (A, C)")


def _described(obj: Any) -> str:
    kind = type(obj)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
