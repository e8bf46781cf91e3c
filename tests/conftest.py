"""One BLAS thread for all tests: they are many small problems, on machines that have other work."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
