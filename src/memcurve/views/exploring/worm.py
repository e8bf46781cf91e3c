"""The connectome of C. elegans, from the package ``cect`` if installed."""

from __future__ import annotations

from memcurve.io.adapters.graphs import cect_dataset, cect_wiring
from memcurve.network import LinearNetwork, masks
from memcurve.network.scaling import scale_to_spectral_radius


def worm_brain(
    *, spectral_radius: float = 0.9, mask: str = "normal", seed: int | None = None
) -> LinearNetwork:
    """The nervous system of the worm *C. elegans* as a linear network (White et al. 1986).

    A weight is the number of synapses from one neuron to another: chemical synapses are directed,
    gap junctions undirected. All weights are scaled by one factor.

    It comes with the package ``cect``, the connectome toolbox of OpenWorm.

    Examples
    --------
    >>> from memcurve.views.exploring import worm_brain
    >>> worm_brain(seed=1).size  # doctest: +SKIP
    302
    """
    dataset = cect_dataset("White_whole", "the worm's brain")
    wiring, cells, notes = cect_wiring(dataset)
    A = scale_to_spectral_radius(wiring.toarray(), spectral_radius)
    C = masks.make(mask, len(cells), seed=seed)
    name = f"C. elegans, {len(cells)} cells, ρ={spectral_radius:g}"
    return LinearNetwork(A, C, name=name, labels=cells, notes=notes)
