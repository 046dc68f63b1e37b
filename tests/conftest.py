"""What all tests share: enough threads to compare, quiet imports, warnings that speak again in every test."""

import os

os.environ.setdefault("NUMBA_NUM_THREADS", "4")  # before Numba is imported: 1 == 2 == 4 threads can be compared anywhere
os.environ.setdefault("BADAK_COMPILE_CHECK", "2")  # before badak is: every second replay is also run as it is, and compared

import signal
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from badak import errors

torch.set_num_threads(1)
# A shell starts what runs in its background with Ctrl-C ignored, and children inherit that; tests of Ctrl-C need it to work.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def fresh_state():
    """Every test starts with the same numbers and hears every warning."""
    errors.forget_warnings()
    np.random.seed(0)
    torch.manual_seed(0)


@pytest.fixture
def threads():
    """`with threads(n): ...` runs the compiled kernels on n threads."""
    fast = pytest.importorskip("badak.kernels.fast", reason="the fast kernels are an extra")

    @contextmanager
    def on(count: int):
        before = fast.get_num_threads()
        fast.set_num_threads(count)
        try:
            yield
        finally:
            fast.set_num_threads(before)

    return on
