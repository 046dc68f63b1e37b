"""The bits of a result do not depend on where its memory lies."""

import importlib

import numpy as np
import pytest

from badak import kernels

GAPS = [gap for gap in range(-90, 91) if abs(gap) >= 50]


def softmax(x, y):
    importlib.import_module("badak.kernels.numba.softmax").softmax_rows(1, x.size, y, x, 1)


def cross_entropy_backward(x, y):
    one, none = np.ones(1, np.float32), np.zeros(0, np.float32)
    kernel = importlib.import_module("badak.kernels.numba.cross_entropy").cross_entropy_backward_rows
    kernel(1, x.size, y, one, x, np.zeros(1, np.int64), one * 4, none, -100, 0.0, 1, np.zeros(1, np.int64))


@pytest.mark.parametrize("function", [softmax, cross_entropy_backward])
def test_a_result_right_behind_its_input_has_the_same_bits(function):
    with kernels.use("numba"):
        memory, found = np.zeros(256, np.float32), set()
        for gap in GAPS:
            x, y = (memory[start : start + 50].reshape(1, 50) for start in (100, 100 + gap))
            x[...] = np.random.default_rng(0).standard_normal(50)
            function(x, y)
            found.add(y.tobytes())
    assert len(found) == 1
