"""Do quantum reservoirs trade memory for nonlinearity?"""

from memcurve.state_affine import capacities, ising_reservoir
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

QUBITS = 4  # and as many outputs
DEPHASING = (0.0, 0.1, 0.2, 0.4)  # share of the coherence lost at a step


def study(seed: int) -> Study:
    """Linear and nonlinear capacity of an Ising reservoir, the more its qubits lose coherence."""
    points, numbers = [], {"outputs": float(QUBITS)}
    for lost in DEPHASING:
        result = capacities(ising_reservoir(QUBITS, dephasing=lost, seed=seed), degree=6)
        linear, percent = result.by_degree[1], round(100 * lost)
        others, label = result.total - linear, f"dephasing {percent} %"
        points.append(Point(label, others, linear, result.error))
        numbers |= {f"linear_{percent}": linear, f"nonlinear_{percent}": others}
        numbers[f"age_{percent}"] = float(result.curve.mean_age)
    return points, numbers


def judge(numbers: Numbers) -> Verdict:
    """Whether the two together stay the same while their shares change."""
    percents = [round(100 * lost) for lost in DEPHASING]
    totals = [numbers[f"linear_{p}"] + numbers[f"nonlinear_{p}"] for p in percents]
    if max(abs(total - numbers["outputs"]) for total in totals) > 1e-6:
        return Verdict("an artefact", "shares")
    return Verdict("right", "shares", "ages")
