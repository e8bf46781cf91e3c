"""One BLAS thread for all tests: they are many small problems, on machines that have other work."""

import os

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Under ``-n`` the tests of a file stay together, and so do those that need the built site."""
    for item in items:
        together = "the site" if "site" in getattr(item, "fixturenames", ()) else str(item.path)
        item.add_marker(pytest.mark.xdist_group(together))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory):
    """The documentation, built once for all tests that look at it."""
    import documentation

    return documentation.build(tmp_path_factory.mktemp("site"))
