"""The site, built once for all tests that look at it, however many processes run them."""

import os
import pickle

import pytest
from filelock import FileLock

import documentation


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> documentation.Site:
    """The documentation as the documented command builds it."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # shared by the workers
    built = folder / "site.pickle"
    with FileLock(folder / "site.lock"):
        if not built.exists():
            built.write_bytes(pickle.dumps(documentation.build(folder / "site")))
        return pickle.loads(built.read_bytes())
