"""Comparisons, logic and bits against PyTorch."""

import operator

import numpy as np
import pytest
import torch

import badak as bk
from badak.core.errors import DTypeError, NotSupportedError
from tests.twins import agree, agree_both, flags, floats, whole


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(name):
    x = whole(5, 2, 3)
    for a, b in (
        (x, whole(5, 3)),
        (x, 2),
        (x, 2.5),
        (floats(3), 0),
        (floats(3), whole(3, 3)),
        (flags(3), True),
        (floats(2, 3), floats(2, 4)),
    ):
        agree_both(name, a, b)
    function = getattr(operator, name)
    for a, b in ((floats(3), 0.5), (2, x), (floats(3), floats()), (np.float64(0.5), floats(3))):
        agree(function, function, a, b)


@pytest.mark.parametrize("name", ["and_", "or_", "xor"])
def test_bits_promote(name):
    function = getattr(operator, name)
    for a, b in (
        (flags(3), flags(3)),
        (flags(3), whole(2, 3, dtype=np.uint8)),
        (flags(3), whole(2, 3, dtype=np.int32)),
        (whole(9, 3), 3),
        (flags(3), True),
        (True, flags(3)),
        (whole(9, 3), whole(9, 3)),
    ):
        agree(function, function, a, b)


def test_bits_of_floats_do_not_exist():
    with pytest.raises(NotSupportedError):
        floats(3) & floats(3)
    with pytest.raises(DTypeError, match="only implemented on integer and Boolean-type tensors"):
        ~floats(3)
    agree(operator.invert, operator.invert, flags(3))
    agree(operator.invert, operator.invert, whole(5, 3))


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "isposinf", "isneginf"])
def test_kinds_of_number(name):
    agree_both(name, bk.tensor([1.0, float("nan"), float("inf"), -float("inf")]))
    agree_both(name, whole(3, 2))


def test_logic():
    for name in ("logical_and", "logical_or", "logical_xor"):
        agree_both(name, floats(3), flags(3))
    agree_both("logical_not", whole(3, 4))


def test_closeness_and_membership():
    agree_both("isclose", floats(3), floats(3))
    agree_both("allclose", floats(3), floats(3))
    agree_both("equal", floats(3), floats(4))
    agree_both("isin", whole(5, 4), bk.tensor([1, 2]))
    agree_both("isin", whole(5, 4), 2)
    for known in ([2], [0, 1, 2, 3], [4, 3, 2, 1, 0]):
        agree_both("isin", whole(5, 4).T, bk.tensor(known), invert=True)
    assert bk.is_tensor(floats(1)) and not bk.is_tensor([1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_a_number_is_compared_as_the_dtype_holds_it(dtype):
    values = [256.0, 0.1, -0.1, 257.0, 6e4, 0.3, float("nan")]
    for number in (257, 0.1, 1e39, -1e39, True, float("inf"), float("nan"), -257, 70000):
        for name in ("eq", "ne", "lt", "le", "gt", "ge"):
            ours, theirs = (getattr(lib, name)(lib.tensor(values).to(getattr(lib, dtype)), number).tolist() for lib in (bk, torch))
            assert ours == theirs, (number, name)
