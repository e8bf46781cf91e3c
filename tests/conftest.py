"""Settings for all tests."""

import os
import signal
import threading

from hypothesis import HealthCheck, settings

# one BLAS thread: they are many small problems, on machines that have other work
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# the same examples in every run, however long a busy machine takes for them
settings.register_profile(
    "memcurve",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("memcurve")

# a shell lets what it starts in the background ignore Ctrl-C, and so would the commands tested here
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
