"""Order, positions, distinct values and counts against PyTorch."""

import numpy as np
import pytest
import torch

import badak as bk
from badak.core.errors import IndexOutOfRangeError
from tests.twins import agree_both, floats, whole


@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("down", [False, True])
def test_sorting(dim, down):
    agree_both("sort", floats(4, 5), dim, descending=down)
    agree_both("argsort", floats(4, 5), dim, descending=down)
    agree_both("topk", floats(4, 5), 3, dim, largest=down)
    agree_both("topk", floats(3, 600), 5, largest=down)


def test_equal_values_keep_their_order():
    x = bk.tensor([2.0, 1.0, 2.0, 1.0])
    assert x.argsort().tolist() == [1, 3, 0, 2] and x.argsort(descending=True).tolist() == [0, 2, 1, 3]
    assert x.topk(3).indices.tolist() == [0, 2, 1]


def test_nan_counts_as_the_largest():
    x = bk.tensor([1.0, float("nan"), 3.0])
    agree_both("sort", x)
    agree_both("sort", x, descending=True)
    agree_both("max", x, 0)
    agree_both("argmax", x)
    agree_both("median", x)


def test_topk_of_more_than_there_are():
    with pytest.raises(IndexOutOfRangeError, match="selected index k out of range: k=9 of the 5 values"):
        floats(5).topk(9)


def test_positions():
    for args, named in (
        ((), {}),
        ((1,), {}),
        ((), {"dim": 1, "keepdim": True}),
        ((0,), {}),
        ((), {"keepdim": True}),
        ((3,), {}),
    ):
        agree_both("argmax", floats(3, 4), *args, **named)
        agree_both("argmin", floats(3, 4), *args, **named)
    agree_both("argmax", bk.tensor([1, 3, 3]))
    agree_both("argmax", floats(), 0)


def test_middles():
    agree_both("median", floats(3, 4))
    agree_both("median", floats(3, 4), 1)
    agree_both("median", floats(3, 5), 0, keepdim=True)
    agree_both("median", whole(9, 6))
    agree_both("kthvalue", floats(3, 5), 2, 1)
    agree_both("mode", whole(3, 4, 5))
    agree_both("quantile", floats(5, grad=False), 0.3)
    agree_both("msort", floats(3, 4))


def test_distinct_values():
    agree_both("unique", whole(4, 3, 4))
    agree_both("unique", whole(4, 3, 4), return_inverse=True, return_counts=True)
    agree_both("unique", whole(2, 4, 2), dim=0)
    agree_both("unique_consecutive", bk.tensor([1, 1, 2, 2, 3, 1]), return_inverse=True, return_counts=True)


def test_counts():
    agree_both("bincount", whole(5, 9))
    agree_both("bincount", whole(5, 9), minlength=8)
    agree_both("bincount", whole(5, 4), floats(4, grad=False))
    agree_both("histc", floats(9, grad=False), 4, -1, 1)
    agree_both("histc", floats(9, grad=False))


def test_searching():
    edges = bk.tensor([1.0, 2, 3])
    agree_both("searchsorted", edges, floats(4, grad=False))
    agree_both("searchsorted", bk.tensor([[1.0, 2, 3], [4, 5, 6]]), floats(2, 4, grad=False), right=True)
    agree_both("bucketize", floats(4, grad=False), edges)


def test_random_rows_are_sorted_as_numpy_sorts_them():
    x = np.random.default_rng(0).integers(0, 50, (20, 700)).astype(np.float32)
    for k in (1, 7, 80, 699):
        values, indices = bk.from_numpy(x).topk(k)
        np.testing.assert_array_equal(values.numpy(), -np.sort(-x, 1)[:, :k])
        np.testing.assert_array_equal(np.take_along_axis(x, indices.numpy(), 1), values.numpy())


def test_a_bool_seen_in_other_memory_may_be_any_byte():
    for descending in (False, True):
        ours, theirs = (t.tensor([2, 0, 1, 3, 0], dtype=t.uint8).view(t.bool) for t in (bk, torch))
        for y, expected in zip(ours.sort(descending=descending), theirs.sort(descending=descending, stable=True)):
            assert y.tolist() == expected.tolist()
