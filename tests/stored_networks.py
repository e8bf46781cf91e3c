"""Small networks that the tests of files store and read back."""

import numpy as np
from scipy import sparse

from memcurve import load_network
from refusals import refuses

rng = np.random.default_rng(20240607)
A = rng.standard_normal((5, 5)) / 3
C = rng.standard_normal(5)
C2 = rng.standard_normal((5, 2))
COMPLEX = (A + 1j * rng.standard_normal((5, 5))).astype(np.complex64)
SPARSE = sparse.csr_array(np.where(np.abs(A) > 0.3, A, 0.0))


def same(network, A, C):
    dense = network.A.toarray() if network.is_sparse else network.A
    expected = A.toarray() if sparse.issparse(A) else A
    assert network.is_sparse == sparse.issparse(A)
    assert dense.shape == expected.shape
    np.testing.assert_array_equal(dense, expected)
    assert network.C.shape == C.shape
    np.testing.assert_array_equal(network.C, C)


def refused(path, *parts, error=ValueError, load=load_network, **options):
    return refuses(error, (str(path), *parts), load, path, **options)
