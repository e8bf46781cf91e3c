"""Files of networks and of recordings.

One module opens each format (``npy``, ``hdf5``, ``tensors``, ``text``, ``market``, ``arrow``,
``graphs``), without loading it and without ever running a pickle; ``arrays`` has what they return.
``networks`` makes a LinearNetwork of that, with ``edges`` and ``nodes`` for lists of these, and
``recordings`` states and their input, in chunks. Imports networks, masks and what stands below
them; what others use of it is named here, and nothing else is imported from outside. Start
reading at :func:`load_network`.
"""

from memcurve.io.arrays import (
    Archive,
    MissingMaskError,
    NetworkFileError,
    ending_of,
    name_as_text,
    readable,
    stem_of,
)
from memcurve.io.graphs import graph_matrix, node_names
from memcurve.io.networks import (
    NETWORK_FORMATS,
    as_mask,
    load_driven,
    load_matrix,
    load_network,
    network_parts,
    save_network,
    with_leak,
)
from memcurve.io.nodes import NodeTable, listed_nodes, load_nodes, node_mask, node_place
from memcurve.io.recordings import (
    RECORDING_FORMATS,
    Names,
    Source,
    View,
    first_rows,
    lagged,
    lagged_chunks,
    open_recording,
    present,
    require_rows,
    within_range,
)
from memcurve.io.tensors import as_array, open_checkpoint, open_safetensors, tensor_values

__all__ = [
    "NETWORK_FORMATS",
    "RECORDING_FORMATS",
    "Archive",
    "MissingMaskError",
    "Names",
    "NetworkFileError",
    "NodeTable",
    "Source",
    "View",
    "as_array",
    "as_mask",
    "ending_of",
    "first_rows",
    "graph_matrix",
    "lagged",
    "lagged_chunks",
    "listed_nodes",
    "load_driven",
    "load_matrix",
    "load_network",
    "load_nodes",
    "name_as_text",
    "network_parts",
    "node_mask",
    "node_names",
    "node_place",
    "open_checkpoint",
    "open_recording",
    "open_safetensors",
    "present",
    "readable",
    "require_rows",
    "save_network",
    "stem_of",
    "tensor_values",
    "with_leak",
    "within_range",
]
