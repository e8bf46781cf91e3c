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
}
