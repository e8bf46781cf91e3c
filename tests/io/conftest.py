"""Networks in files of every format in turn."""

import pytest

from written import ARCHIVES, SINGLES


@pytest.fixture(params=ARCHIVES)
def archive(request, tmp_path):
    """A function that writes an archive of the format in turn and returns its path."""

    def write(items):
        path = tmp_path / f"network.{request.param.partition('-')[0]}"
        ARCHIVES[request.param](path, **items)
        return path

    return write


@pytest.fixture(params=SINGLES)
def single(request, tmp_path):
    """A function that writes one array in the format in turn and returns its path."""

    def write(array, stem="single"):
        path = tmp_path / f"{stem}.{request.param}"
        SINGLES[request.param](path, array)
        return path

    return write
