"""Other libraries' memory capacities, each in its documented set-up, on a network given to it.

Those that take no network but recorded states are given a simulation, whose time counts too. All
random numbers have seeds. None of these libraries is needed to run the rest.
"""

from __future__ import annotations

import logging
from importlib.util import find_spec

import numpy as np

from benchmarks.contenders import Contender, Estimate, quadratic_forms
from memcurve import LinearNetwork
from memcurve.studies.auditing.estimates import PROTOCOLS

SEED = 1
#: Steps of input a lag, where a library leaves the length to its user.
STEPS_PER_LAG = 10
#: ipc-module: samples a node (20,000 for 100 nodes), and surrogates, which only set its threshold.
SAMPLES_PER_NODE = 200
SURROGATES = 20


def contenders() -> list[Contender]:
    """All of them, whether they are installed or not."""
    gram = "gram" if find_spec("slycot") is not None else "dlyap"
    why = "" if gram == "gram" else " (control.gram needs slycot, which is not installed)"
    return [
        Contender(
            "reservoirpy",
            "memory_capacity as documented: lags 1 … 2N, 20N steps, Ridge(1e-4), test r²",
            reservoirpy,
            ("reservoirpy",),
        ),
        Contender(
            "rcbench, defaults",
            "MemoryCapacityEvaluator: 30 delays, 10 principal components, ridge 1, test r²",
            lambda network: rcbench(network, 30),
            ("rcbench",),
        ),
        Contender(
            "rcbench, linear",
            "the same with 2N delays, all N components, no ridge, 20N steps",
            lambda network: rcbench(
                network, 2 * network.size, modeltype="Linear", num_features=network.size
            ),
            ("rcbench",),
        ),
        Contender(
            "conn2res, protocol",
            "not on the package index; its memory task as in studies/auditing: lags 1 … 2N, "
            "Ridge(0.5), test |r|",
            conn2res_protocol,
        ),
        Contender(
            "resdag",
            "memory_capacity with its defaults but 2N lags: 2,000 samples, ridge 1e-8, test r²",
            resdag,
            ("resdag", "torch"),
        ),
        Contender(
            "ipc-module",
            f"UnivariateProfiler, degree 1, lags 0 … 2N − 1, {SAMPLES_PER_NODE}N steps, "
            f"{SURROGATES} surrogates",
            ipc_module,
            ("ipc_module",),
        ),
        Contender(
            f"control.{gram} + solve",
            f"Gramian from python-control, solved for 5N lags{why}",
            control_gramian,
            ("control",),
        ),
        Contender(
            "scipy Lyapunov + pinv",
            "solve_discrete_lyapunov and a pseudo-inverse, 5N lags",
            scipy_lyapunov,
            ("scipy",),
        ),
    ]


def reservoirpy(network: LinearNetwork) -> Estimate:
    """``reservoirpy.observables.memory_capacity`` with a linear reservoir of these weights."""
    from reservoirpy.nodes import Reservoir, Ridge
    from reservoirpy.observables import memory_capacity

    size = network.size
    reservoir = Reservoir(
        W=network.A, Win=network.C[:, None], bias=np.zeros(size), activation="identity", lr=1.0
    )
    model = reservoir >> Ridge(ridge=1e-4)
    scores = memory_capacity(model, k_max=2 * size, as_list=True, seed=SEED)
    return Estimate(1, np.asarray(scores, dtype=float))


def rcbench(network: LinearNetwork, delays: int, **options: object) -> Estimate:
    """The ``MemoryCapacityEvaluator`` of rcbench on simulated states."""
    from rcbench.tasks.memorycapacity import MemoryCapacityEvaluator

    logging.getLogger("rcbench.tasks.memorycapacity").setLevel(logging.WARNING)
    logging.getLogger("rcbench.tasks.baseevaluator").setLevel(logging.WARNING)
    logging.getLogger("rcbench.tasks.featureselector").setLevel(logging.WARNING)
    z, x = recording(network, STEPS_PER_LAG * 2 * network.size)
    evaluator = MemoryCapacityEvaluator(z, x, max_delay=delays)
    found = evaluator.calculate_total_memory_capacity(**options)
    return Estimate(1, np.array([found["delay_results"][k] for k in range(1, delays + 1)]))


def conn2res_protocol(network: LinearNetwork) -> Estimate:
    """The memory task of conn2res, written out in memcurve."""
    protocol = PROTOCOLS["conn2res"](network.size)
    return Estimate(1, protocol.measure(network, np.random.default_rng(SEED)))


def resdag(network: LinearNetwork) -> Estimate:
    """``resdag.metrics.memory_capacity`` with a linear layer of these weights."""
    import torch
    from resdag.layers import ESNLayer
    from resdag.metrics import memory_capacity

    layer = ESNLayer(
        network.size, feedback_size=1, bias=False, activation="identity", dtype=torch.float64
    )
    with torch.no_grad():
        layer.cell.weight_hh.copy_(torch.from_numpy(network.A.copy()))
        layer.cell.weight_feedback.copy_(torch.from_numpy(network.C[:, None].copy()))
    found = memory_capacity(layer, max_delay=2 * network.size, seed=SEED, return_curve=True)
    assert isinstance(found, tuple)
    return Estimate(1, np.asarray(found[1], dtype=float))


def ipc_module(network: LinearNetwork) -> Estimate:
    """Capacities of degree one by ipc-module, those below its surrogates set to zero."""
    from ipc_module import config
    from ipc_module.profiler import UnivariateProfiler

    config.set_progress_bar(False)
    z, x = recording(network, SAMPLES_PER_NODE * network.size)
    profiler = UnivariateProfiler(
        z[:, None], x, "Legendre", surrogate_num=SURROGATES, offset=len(z) // 20
    )
    profiler.calc(1, 2 * network.size)
    _, found, surrogates = profiler[(1,)]
    scores = np.asarray(found, dtype=float)[:, 0]
    return Estimate(0, np.where(scores > np.max(surrogates), scores, 0.0))


def control_gramian(network: LinearNetwork) -> Estimate:
    """``control.gram`` where slycot is installed, else ``control.dlyap``; then a linear solve."""
    import control

    A, C = network.A, network.C
    if find_spec("slycot") is not None:
        system = control.ss(A, C[:, None], np.eye(len(C)), 0, dt=True)
        gramian = np.asarray(control.gram(system, "c"))
    else:
        gramian = np.asarray(control.dlyap(A, np.outer(C, C)))
    solved = quadratic_forms(A, C, lambda K: np.linalg.solve(gramian, K), 5 * len(C))
    return Estimate(0, solved)


def scipy_lyapunov(network: LinearNetwork) -> Estimate:
    """SciPy's Gramian and NumPy's pseudo-inverse, as the formula says."""
    from scipy.linalg import solve_discrete_lyapunov

    A, C = network.A, network.C
    inverse = np.linalg.pinv(solve_discrete_lyapunov(A, np.outer(C, C)), hermitian=True)
    return Estimate(0, quadratic_forms(A, C, lambda K: inverse @ K, 5 * len(C)))


def recording(network: LinearNetwork, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Uniform input on ±1 and the states it drives."""
    z = np.random.default_rng(SEED).uniform(-1, 1, steps)
    return z, network.simulate(z)
