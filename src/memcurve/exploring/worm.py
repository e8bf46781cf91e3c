"""A worm's brain, from the package ``cect`` where that is installed."""

from __future__ import annotations

from memcurve import masks
from memcurve.adapters.graphs import cect_dataset, cect_wiring
from memcurve.network import LinearNetwork
from memcurve.network.scaling import scale_to_spectral_radius


def worm_brain(
    *, spectral_radius: float = 0.9, mask: str = "normal", seed: int | None = None
) -> LinearNetwork:
    """The nervous system of the worm *C. elegans* as a linear network (White et al. 1986).

    A weight is the number of synapses from one neuron to another, chemical ones in their direction,
    gap junctions in both; all are scaled alike.

    Parameters
    ----------
    spectral_radius : float
        Spectral radius of A.
    mask : str
        How the input enters, by its name in :mod:`memcurve.masks`.
    seed : int, optional
        Where a random mask starts.

    Raises
    ------
    ModuleNotFoundError
        The package ``cect``, the connectome toolbox of OpenWorm, is not installed.
    """
    dataset = cect_dataset("White_whole", "the worm's brain")
    wiring, cells, notes = cect_wiring(dataset)
    A = scale_to_spectral_radius(wiring.toarray(), spectral_radius)
    C = masks.make(mask, len(cells), seed=seed)
    name = f"C. elegans, {len(cells)} cells, ρ={spectral_radius:g}"
    return LinearNetwork(A, C, name=name, labels=cells, notes=notes)
