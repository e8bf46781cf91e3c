"""Files of networks and of recordings.

One module opens each format (``npy``, ``hdf5``, ``tensors``, ``text``, ``market``, ``arrow``,
``graphs``), without loading it and without ever running a pickle; ``arrays`` has what they return.
``networks`` makes a LinearNetwork of that, with ``parts`` for arrays by name, ``edges`` and
``nodes`` for lists of these, and ``recordings`` states and their input, in chunks. Imports
``network`` and ``core``; what others use of it is named here, and nothing else is imported from
outside. Start reading at :func:`load_network`.
"""

from memcurve.io.arrays import Archive as Archive
from memcurve.io.arrays import MissingMaskError as MissingMaskError
from memcurve.io.arrays import NetworkFileError as NetworkFileError
from memcurve.io.arrays import ending_of as ending_of
from memcurve.io.arrays import name_as_text as name_as_text
from memcurve.io.arrays import note as note
from memcurve.io.arrays import opened as opened
from memcurve.io.arrays import readable as readable
from memcurve.io.arrays import reading as reading
from memcurve.io.arrays import stem_of as stem_of
from memcurve.io.arrays import words as words
from memcurve.io.graphs import graph_matrix as graph_matrix
from memcurve.io.graphs import node_names as node_names
from memcurve.io.networks import NETWORK_FORMATS as NETWORK_FORMATS
from memcurve.io.networks import load_driven as load_driven
from memcurve.io.networks import load_matrix as load_matrix
from memcurve.io.networks import load_network as load_network
from memcurve.io.networks import save_network as save_network
from memcurve.io.networks import with_leak as with_leak
from memcurve.io.nodes import NodeTable as NodeTable
from memcurve.io.nodes import listed_nodes as listed_nodes
from memcurve.io.nodes import load_nodes as load_nodes
from memcurve.io.nodes import node_mask as node_mask
from memcurve.io.nodes import node_place as node_place
from memcurve.io.npy import open_npz as open_npz
from memcurve.io.parts import as_mask as as_mask
from memcurve.io.parts import network_parts as network_parts
from memcurve.io.recordings import RECORDING_FORMATS as RECORDING_FORMATS
from memcurve.io.recordings import Names as Names
from memcurve.io.recordings import Source as Source
from memcurve.io.recordings import View as View
from memcurve.io.recordings import first_rows as first_rows
from memcurve.io.recordings import lagged as lagged
from memcurve.io.recordings import lagged_chunks as lagged_chunks
from memcurve.io.recordings import open_recording as open_recording
from memcurve.io.recordings import present as present
from memcurve.io.recordings import require_rows as require_rows
from memcurve.io.recordings import within_range as within_range
from memcurve.io.tensors import CHECKPOINTS as CHECKPOINTS
from memcurve.io.tensors import as_array as as_array
from memcurve.io.tensors import open_checkpoint as open_checkpoint
from memcurve.io.tensors import open_safetensors as open_safetensors
from memcurve.io.tensors import tensor_tree as tensor_tree
from memcurve.io.tensors import tensor_values as tensor_values
