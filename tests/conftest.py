"""What all tests share: enough threads to compare, quiet imports, warnings that speak again in every test."""

import gc
import os

os.environ.setdefault("NUMBA_NUM_THREADS", "4")  # before Numba is imported: 1 == 2 == 4 threads can be compared anywhere
os.environ.setdefault("BADAK_COMPILE_CHECK", "2")  # before badak is: every second replay is also run as it is, and compared

os.environ["BADAK_LANG"] = "en"  # texts are compared

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is: a name that is no folder asks no network

import signal
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from badak.core import errors

torch.set_num_threads(1)
# A shell starts what runs in its background with Ctrl-C ignored, nohup with SIGHUP, and children inherit that; tests need them.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # not on Windows
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)  # before -m "not slow" is looked at
def pytest_collection_modifyitems(items):
    """`make check` runs some of a test's cases: every eighth where marked `many`, else 8 to 16; of more than 128 every 16th."""
    tests = [item.nodeid.partition("[")[0] for item in items]
    count, seen = Counter(tests), Counter()
    for item, test in zip(items, tests):
        step = 8 if item.get_closest_marker("many") else min(16, max(1, count[test] // 8))
        if seen[test] % step:
            item.add_marker("slow")
        seen[test] += 1


def pytest_collection_finish():
    """The tests themselves are never garbage: with 25,000 of them each look of the collector took a quarter of a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def fresh_state():
    """Every test starts with the same numbers and hears every warning."""
    errors.forget_warnings()
    np.random.seed(0)
    torch.manual_seed(0)


@pytest.fixture
def threads():
    """`with threads(n): ...` runs the compiled kernels on n threads."""
    fast = pytest.importorskip("badak.kernels.numba", reason="the fast kernels are an extra")

    @contextmanager
    def on(count: int):
        before = fast.get_num_threads()
        fast.set_num_threads(count)
        try:
            yield
        finally:
            fast.set_num_threads(before)

    return on
