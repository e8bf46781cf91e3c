"""Files of networks and recordings. A format is opened in one module; nothing runs pickles."""

from memcurve.io.arrays import MissingMaskError, NetworkFileError
from memcurve.io.networks import load_masked, load_matrix, load_network, save_network
from memcurve.io.recordings import Source, open_recording

__all__ = [
    "MissingMaskError",
    "NetworkFileError",
    "Source",
    "load_masked",
    "load_matrix",
    "load_network",
    "open_recording",
    "save_network",
]
