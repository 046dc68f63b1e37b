"""Order, positions, distinct values and counts against PyTorch."""

import copy
import itertools
import pickle

import numpy as np
import pytest
import torch

import badak as bk
from badak.core.errors import IndexOutOfRangeError
from tests.twins import agree_both, flat, floats, whole


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


WITH_NAN = [1.0, float("nan"), float("-inf"), 3.0, float("nan"), 0.0, float("inf"), -2.0]
ORDERS = {
    "sort": lambda x: x.sort(stable=True),
    "sort down": lambda x: x.sort(descending=True, stable=True),
    "argsort": lambda x: x.argsort(stable=True),
    "topk": lambda x: x.topk(3).values,
    "topk of the smallest": lambda x: x.topk(3, largest=False).values,
    "kthvalue": lambda x: (x.kthvalue(2).values, x.kthvalue(8).values),
    "median": lambda x: (x.median(), x.median(-1), x.nanmedian(), x.nanmedian(-1)),
    "mode": lambda x: x.mode(),
    "max": lambda x: (x.max(), x.min(), x.argmax(), x.argmin(), x.max(-1), x.min(-1), x.aminmax()),
    "msort": lambda x: x.msort(),
    "unique": lambda x: x.unique(return_counts=True),
    "unique_consecutive": lambda x: x.unique_consecutive(return_inverse=True, return_counts=True),
    "comparisons": lambda x: (x < 1, x >= x.flip(-1), x == x),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("of", ORDERS.values(), ids=ORDERS)
def test_nan_has_its_place_in_every_float(of, dtype):
    rows = [WITH_NAN, WITH_NAN[::-1], [0.0, 1.0, 0.0, 5.0, -1.0, 0.0, 7.0, 2.0]]
    for values in (WITH_NAN, rows):
        ours, theirs = (flat(of(lib.tensor(values, dtype=getattr(lib, dtype)))) for lib in (bk, torch))
        for y, expected in zip(ours, theirs, strict=True):
            assert str(y.dtype)[6:] == str(expected.dtype)[6:]
            np.testing.assert_array_equal(y.double().numpy(), expected.double().numpy())


def test_topk_of_many_bfloat16_with_nan():
    x = floats(3, 600, grad=False).bfloat16()
    x[1, 17] = x[1, 500] = float("nan")
    for largest in (True, False):
        expected = torch.tensor(x.tolist()).topk(5, largest=largest).values
        np.testing.assert_array_equal(x.topk(5, largest=largest).values.float().numpy(), expected.numpy())


def test_no_nan_is_another():
    x = bk.tensor([1.0, float("nan"), 0.0, float("nan"), 1.0])
    assert x.unique().shape == (4,) and x.unique(dim=0).shape == (4,)
    values, inverse, counts = x.unique(return_inverse=True, return_counts=True)
    assert inverse.tolist() == [1, 2, 0, 3, 1] and counts.tolist() == [1, 2, 1, 1]
    rows = bk.tensor([[0.0, float("nan")], [0.0, float("nan")], [1.0, 2.0]])
    assert rows.unique(dim=0).shape == torch.tensor(rows.tolist()).unique(dim=0).shape == (3, 2)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_nan_goes_to_the_end(dtype):
    for right in (False, True):
        found = []
        for lib in (bk, torch):
            x = lib.tensor(WITH_NAN, dtype=getattr(lib, dtype))
            order, kind = lib.tensor([-2.0, 0.0, 0.0, 3.0], dtype=x.dtype), {"right": right}
            found.append([*lib.searchsorted(order, x, **kind), *lib.bucketize(x, order, **kind)])
            found[-1] += lib.searchsorted(lib.stack([order, order]), lib.stack([x, x.flip(0)]), **kind).flatten()
        assert [int(at) for at in found[0]] == [int(at) for at in found[1]]


def test_a_histogram_of_integers_is_refused():
    for dtype in (bk.uint8, bk.int64, bk.bool):
        with pytest.raises(RuntimeError, match='"histc" not implemented for'):
            bk.histc(bk.ones(3, dtype=dtype), 4)


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_a_median_goes_into_out(name):
    x, place, values, indices = floats(3, 5, grad=False), bk.empty(()), bk.empty(3), bk.empty(3, dtype=bk.int64)
    assert getattr(bk, name)(x, out=place) is place and place.item() == getattr(x, name)().item()
    found = getattr(bk, name)(x, 1, out=(values, indices))
    assert found.values is values and found.indices is indices and bk.equal(values, getattr(x, name)(1).values)


@pytest.mark.parametrize("lib", [torch, bk], ids=["pytorch", "badak"])
def test_results_with_names_are_made_of_a_sequence_and_kept_by_pickle(lib):
    kind, x = lib.return_types.max, lib.tensor([[1.0, 3.0], [2.0, 0.0]])
    pair = kind((1, 2))
    assert (pair.values, pair.indices) == (1, 2) and kind([1, 2]) == pair
    with pytest.raises(TypeError, match=r"return_types.max\(\) takes a 2-sequence \(3-sequence given\)"):
        kind((1, 2, 3))
    for again in (pickle.loads(pickle.dumps(x.max(1))), copy.deepcopy(x.max(1)), copy.copy(x.max(1))):
        assert type(again) is kind and again.values.tolist() == [3.0, 2.0] and again.indices.tolist() == [1, 0]


REFUSED = {
    "no ranges": lambda t: t.histogram(t.ones(3), bins=0),
    "fewer than none": lambda t: t.histogram(t.ones(3), bins=-1),
    "half a range": lambda t: t.histogram(t.ones(3), bins=2.5),
    "a bool": lambda t: t.histogram(t.ones(3), bins=True),
    "a word": lambda t: t.histogram(t.ones(3), bins="a"),
    "bounds turned round": lambda t: t.histogram(t.ones(3), range=(2.0, 1.0)),
    "one bound": lambda t: t.histogram(t.ones(3), range=(1.0,)),
    "a bound that is NaN": lambda t: t.histogram(t.ones(3), range=(float("nan"), 1.0)),
    "values that are NaN": lambda t: t.histogram(t.tensor([1.0, float("nan")])),
    "histc of none": lambda t: t.histc(t.ones(3), bins=-1),
    "histc turned round": lambda t: t.histc(t.ones(3), min=2, max=1),
    "histc of NaN": lambda t: t.histc(t.tensor([1.0, float("nan")])),
    "points, none": lambda t: t.histogramdd(t.ones(3, 2), [2, -1]),
    "points, turned round": lambda t: t.histogramdd(t.ones(3, 2), [2, 2], range=[2.0, 1.0, 0.0, 1.0]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_ranges_that_are_none_are_refused(name):
    for lib in (torch, bk):
        with pytest.raises((RuntimeError, TypeError, ValueError)) as told:
            REFUSED[name](lib)
    assert str(told.value).count("\n") == 1 and "invalid literal" not in str(told.value)


def test_ranges_of_no_values_go_from_0_to_1():
    for lib in (torch, bk):
        assert lib.histogram(lib.empty(0), bins=2).bin_edges.tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("name", ["argsort", "sort"])
def test_the_order_of_a_turned_tensor_lies_as_the_tensor_does(name):
    def story(lib, axes, dim):
        made = getattr(lib.arange(24).reshape(2, 3, 4).permute(axes) * 7 % 24, name)(dim, descending=True)
        return [(y.tolist(), tuple(y.stride())) for y in (made if isinstance(made, tuple) else (made,))]

    for axes, dim in itertools.product(itertools.permutations(range(3)), range(3)):
        assert story(bk, axes, dim) == story(torch, axes, dim)
