"""A small recording that the tests of files store and read back in chunks."""

import numpy as np

from memcurve.io import Source, open_recording
from refusals import refuses

rng = np.random.default_rng(20250311)
T, N = 53, 4
X = rng.standard_normal((T, N)) * 10.0 ** rng.integers(-300, 300, (T, N))
Z = rng.standard_normal(T)


def gathered(source, rows, start=0):
    chunks = list(source.chunks(rows, start))
    left = source.length - start
    assert [z.size for _, z in chunks] == [rows] * (left // rows) + [left % rows] * (
        left % rows > 0
    )
    for x, z in chunks:
        assert x.dtype == z.dtype == np.float64
        assert x.shape == (z.size, source.columns)
        assert z.ndim == 1
        assert x.flags.c_contiguous
        assert x.flags.writeable
        assert z.flags.writeable
    return np.vstack([x for x, _ in chunks]), np.concatenate([z for _, z in chunks])


def same(source, states=X, inputs=Z):
    """Check that a source gives these arrays, in chunks of all kinds, again and again."""
    assert isinstance(source, Source)
    assert (source.length, source.columns) == states.shape
    states, inputs = states.astype(np.float64), np.asarray(inputs, np.float64).reshape(-1)
    lengths = [(rows, 0) for rows in (7, 1, len(states), len(states) + 10, 7)]
    for rows, start in [*lengths, (7, 1), (5, 20), (60, len(states) - 1)]:
        x, z = gathered(source, rows, start)
        np.testing.assert_array_equal(x, states[start:])
        np.testing.assert_array_equal(z, inputs[start:])
    assert list(source.chunks(7, len(states))) == []
    return source


def refused(states, inputs=None, *parts, error=ValueError, **names):
    return refuses(error, parts, open_recording, states, inputs, **names)
