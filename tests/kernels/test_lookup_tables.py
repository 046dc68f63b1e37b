"""Functions of one bfloat16, each of the 65,536 of them."""

import numpy as np
import pytest

from badak.core.memory import is_read_only
from badak.kernels import reference
from badak.kernels.half import BFLOAT16
from tests.kernels.twin import fast_kernels

fast = fast_kernels()
EVERY = np.arange(1 << 16, dtype=np.uint16).view(BFLOAT16)
FUNCTIONS = [("gelu", "none"), ("gelu", "tanh"), ("silu",), ("tanh",), ("sigmoid",), ("exp",), ("log",)]
SLOPES = [("gelu_backward", "none"), ("gelu_backward", "tanh"), ("silu_backward",)]


@pytest.mark.parametrize(("name", "constants"), [(name, rest) for name, *rest in FUNCTIONS])
def test_every_number_is_the_float64_result_rounded_once(name, constants):
    with np.errstate(all="ignore"):
        wanted = getattr(reference, name)(EVERY.astype(np.float64), *constants).astype(BFLOAT16)
    made = getattr(fast, name)(EVERY, *constants)
    assert made.dtype == BFLOAT16
    np.testing.assert_array_equal(made.astype(np.float32), wanted.astype(np.float32))


@pytest.mark.parametrize(("name", "constants"), [(name, rest) for name, *rest in SLOPES])
def test_every_slope_times_the_gradient_is_rounded_once(name, constants):
    dy = np.random.default_rng(0).standard_normal(EVERY.shape).astype(BFLOAT16)
    with np.errstate(all="ignore"):
        wanted = getattr(reference, name)(dy.astype(np.float64), EVERY.astype(np.float64), *constants)
    made = getattr(fast, name)(dy, EVERY, *constants).astype(np.float64)
    off = np.abs(made - wanted) <= np.abs(wanted) * (2.0**-9 + 2.0**-22) + 1e-40
    assert (off | (made == wanted.astype(BFLOAT16)) | (np.isnan(made) & np.isnan(wanted))).all()


@pytest.mark.parametrize("name", ["gelu", "exp"])
def test_every_layout_gives_the_same(name):
    rows = np.random.default_rng(1).standard_normal((30, 700, 2)).astype(BFLOAT16)
    function, constants = getattr(fast, name), ["none"] if name == "gelu" else []
    wanted = function(rows, *constants).astype(np.float32)
    for turn in (lambda x: x.T, lambda x: x.swapaxes(0, 1), lambda x: x[::2, ::-1], lambda x: x[0, 0, 0:0], lambda x: x[0, 0, 0]):
        made = function(turn(rows), *constants)
        np.testing.assert_array_equal(made.astype(np.float32), turn(wanted))
    assert function(rows.T, *constants).strides == rows.T.strides


def test_what_nobody_may_write_is_a_table():
    table, array = np.zeros(3), np.zeros(3)
    table.flags.writeable = False
    assert is_read_only(table[1:]) and not is_read_only(array) and not is_read_only(np.broadcast_to(array, (2, 3)))
    assert not is_read_only(np.frombuffer(b"12345678"))
