"""How many functions of its inputs can a quantum reservoir hold?"""

import itertools

from memcurve.state_affine import capacities, ising_reservoir
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

QUBITS = (2, 3, 4)
ENCODED = 2  # z and √(1 − z²), of one qubit that is reset


def study(seed: int) -> Study:
    """Functions of the newest input alone, and of all inputs, read from all Pauli strings."""
    points, numbers = [], {"encoded": float(ENCODED)}
    for n in QUBITS:
        strings = ["".join(letters) for letters in itertools.product("IXYZ", repeat=n)][1:]
        network = ising_reservoir(n, observables=strings, seed=seed)
        result = capacities(network, degree=2)
        newest = float(result.by_window[0])
        points.append(Point(f"{n} qubits, newest input", ENCODED, newest, result.error))
        points.append(Point(f"{n} qubits, all inputs", ENCODED, result.total, result.error))
        numbers |= {f"newest_{n}": newest, f"total_{n}": result.total}
    return points, numbers


def judge(numbers: Numbers) -> Verdict:
    """Whether functions of one input, and of all, stay within what is encoded."""
    newest, totals = ([numbers[f"{kind}_{n}"] for n in QUBITS] for kind in ("newest", "total"))
    if max(newest) > numbers["encoded"] + 1e-9:
        return Verdict("an artefact", "counts")
    if totals[-1] > totals[0]:
        return Verdict("right in another sense", "counts", "grows")
    return Verdict("right", "counts")
