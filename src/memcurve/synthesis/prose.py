"""Every sentence that reports of this ring say, by the kind of result."""

from __future__ import annotations

#: Why a wanted curve is the curve of no network.
REASONS = {
    "jumps": "no network, of any size, has a curve closer than {bound:.3g} to this one: it cannot "
    "drop both at lag {first} and at lag {second} (two jumps)",
    "zero": "the wanted curve is zero from lag {lag} on; the curve of every network but a delay "
    "line stays above zero, if only just",
    "limit": "the wanted curve is n/(τ + 1) at lag {lag}, the most that n states allow; a delay "
    "line alone reaches that, at lag n − 1",
}

#: What is said of pruned networks.
PRUNED_NOTES = {
    "nothing": "nothing can be cut: fewer states would not keep the usable memory to the tolerance",
    "network": "pruned from {name} of {states:,} states; every MC_τ is that of the whole to "
    "± {bound:.1g} under observation noise of {noise:g} or more",
}

#: What is said of masks.
MASK_NOTES = {
    "local": "the best mask found from several starts; others may lie between it and the bound",
}

#: What the report on all ways says.
IMPROVEMENTS = {
    "title": "What could be gained",
    "power": "at the same state power, {power:.4g}",
    "large": "mask and white states left out: they take dense matrices, up to {most:,} states",
}

#: What is said of energies.
ENERGY_NOTES = {
    "rank": "no input steers {lost} of the directions: the Gramian is singular, and targets "
    "outside of its range take infinite energy",
    "unknown": "of {rank} controllable directions the {known} largest are known in floating point",
    "underflow": "λ_min of the Gramian is 10^{exponent:.1f}, below the smallest number of floating "
    "point: it is given as 0, traces of the inverse as infinite; `values` and `log_determinant` "
    "have their digits",
}

#: Title and subtitle, the sentences of the verdict, heading and text of the section with the chart.
PROSE: dict[str, dict[str, tuple[str, ...]]] = {
    "Design": {
        "title": ("A network for a memory curve", "{self.size} states, {self.realization}"),
        "verdict": (
            "The memory curve of the network is within {self.gap:.4f} of the wanted one at every "
            "lag.",
            "Its states are white: usable memory at noise s is 1/(1 + s²) of each MC_τ.",
        ),
        "section": ("Wanted and reached", "Fraction of the input's variance, lag by lag."),
    },
    "ReadoutChoice": {
        "title": ("Which nodes to read", "{self.network}, observation noise {self.noise:g}"),
        "verdict": (
            "The nodes chosen hold {self.value:.4g} of {self.all_nodes:.4g} usable inputs; no "
            "choice of as many holds more than {self.bound:.4g}.",
            "As many random nodes hold {self.random:.3g}, those with the largest variance "
            "{self.largest_variance:.3g}.",
        ),
        "section": ("Node by node", "Usable memory of the nodes in the order of their choice."),
    },
    "Pruned": {
        "title": ("A pruned network", "{self.states:,} states, observation noise {self.noise:g}"),
        "verdict": (
            "{self.network.states:,} of {self.states:,} states keep the usable memory at every "
            "lag to {self.bound:.1g}.",
        ),
        "section": ("Before and after", "Usable memory, lag by lag."),
    },
    "MaskChoice": {
        "title": ("Better input weights", "{self.network}, observation noise {self.noise:g}"),
        "verdict": (
            "Input weights of the same norm reach {self.value:.4g}, where random ones reach "
            "{self.random:.4g} and the network's own {self.own:.4g}.",
            "No input weights of this norm exceed {self.bound:.4g}.",
        ),
        "section": ("Lag by lag", "Usable memory with these input weights and the network's own."),
    },
    "Whitened": {
        "title": ("The same curve with white states", "{self.name}"),
        "verdict": (
            "At the same state power, {self.power:.4g}, usable memory at noise "
            "{level:g} rises from {before:.4g} to "
            "{after:.4g}; no realization of this curve has more.",
        ),
        "section": ("Against noise", "Total usable memory before and after."),
    },
    "TaskError": {
        "title": ("The error of a linear task", "{self.network}"),
        "verdict": (
            "The best linear readout has a normalised mean squared error of {self.nmse:.6g} "
            "(± {self.error:.0e}).",
            "Capacities weighted by the target alone would suggest {self.weighted:.4g}: they leave "
            "out that errors at different lags are correlated.",
        ),
        "section": ("The target", "Coefficients of past inputs, newest first."),
    },
    "ControlEnergy": {
        "title": ("Control energy", "{self.network}"),
        "verdict": (
            "The smallest eigenvalue of the Gramian is {self.lambda_min:.4g}: a unit step in the "
            "worst direction takes an energy of its inverse.",
        ),
        "section": ("Directions", "Singular values of the Krylov matrix, largest first."),
    },
    "HankelValues": {
        "title": ("Hankel singular values", "{self.network}"),
        "verdict": ("{self.values.size} values, each with its relative error.",),
        "section": ("Values", "Largest first."),
    },
    "Information": {
        "title": ("Information about past inputs", "{self.network}, noise {self.noise:g}"),
        "verdict": ("The states tell {self.total:.6g} nats of all past inputs.",),
        "section": ("By lag", "To those who know all newer inputs, and by itself."),
    },
    "Improvement": {
        "title": (IMPROVEMENTS["title"], "{self.name}"),
        "verdict": ("Usable memory at noise {self.noise:g} is {self.usable:.4g} as it is.",),
        "section": ("Ways", "What each way reaches."),
    },
}
