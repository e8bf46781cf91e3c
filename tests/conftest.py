"""One BLAS thread for all tests: they are many small problems, on machines that have other work."""

import os

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory):
    """The documentation, built once for all tests that look at it."""
    import documentation

    return documentation.build(tmp_path_factory.mktemp("site"))
