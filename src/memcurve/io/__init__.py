"""Files of networks and recordings. A format is opened in one module; nothing runs pickles."""

from memcurve.io.arrays import MissingMaskError, NetworkFileError
from memcurve.io.networks import load_masked, load_matrix, load_network, save_network
from memcurve.io.nodes import NodeTable, load_nodes
from memcurve.io.recordings import Source, open_recording

__all__ = [
    "MissingMaskError",
    "NetworkFileError",
    "NodeTable",
    "Source",
    "load_masked",
    "load_matrix",
    "load_network",
    "load_nodes",
    "open_recording",
    "save_network",
]
