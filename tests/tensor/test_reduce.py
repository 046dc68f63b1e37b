"""Sums, means, spreads, extremes and norms, with every spelling of dim, against PyTorch."""

import numpy as np
import pytest
import torch

import badak as bk
from badak.core.errors import ArgumentError, DTypeError, IndexOutOfRangeError
from tests.twins import agree, agree_both, flags, floats, whole

DIMS = [0, -1, 1, (0, -1), (1,)]
TIES = bk.tensor([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]], requires_grad=True)
ZEROS = bk.tensor([[0.0, 2.0, 3.0], [0.0, 0.0, 2.0], [1.0, 2.0, 3.0]], requires_grad=True)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin"])
@pytest.mark.parametrize("keepdim", [False, True])
def test_over_all_one_and_several_dims(name, keepdim):
    for dim in DIMS:
        agree_both(name, floats(2, 3, 4), dim, keepdim=keepdim)
    for x in (floats(2, 3), floats(4), floats(), floats(2, 3, dtype=np.float64)):
        agree_both(name, x)


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "count_nonzero"])
def test_integers_and_booleans(name):
    for x in (whole(3, 2, 3), flags(2, 3), whole(3, 2, 3, dtype=np.uint8), whole(3, 2, 3, dtype=np.int32)):
        agree_both(name, x)
        agree_both(name, x, 1)


def test_other_words_for_the_arguments():
    agree_both("sum", floats(2, 3), axis=1)
    agree_both("sum", floats(2, 3), dim=(0, 1), keepdim=True)
    agree_both("sum", floats(2, 3), ())
    agree_both("sum", floats(3), dtype=bk.float64)
    agree_both("mean", whole(3, 3), dtype=bk.float32)
    agree_both("argmax", floats(2, 3), axis=1)


def test_products_with_zeros():
    for dim in (0, 1, None):
        agree_both("prod", ZEROS, *(() if dim is None else (dim,)))
    agree_both("cumprod", ZEROS, 1)
    agree_both("cumprod", ZEROS, 0)


@pytest.mark.parametrize("name", ["var", "std"])
def test_spread_in_every_form(name):
    x = floats(3, 4)
    for args, named in (
        ((), {}),
        ((-1,), {}),
        ((-1, False), {}),
        ((False,), {}),
        ((-1,), {"unbiased": False, "keepdim": True}),
        ((0,), {"correction": 0}),
        (((0, 1),), {"keepdim": True}),
    ):
        agree_both(name, x, *args, **named)
    agree_both(f"{name}_mean", x, 1, keepdim=True)


def test_extremes_in_every_form():
    for name in ("max", "min"):
        agree_both(name, TIES)
        agree_both(name, TIES, 1)
        agree_both(name, floats(2, 3), dim=0, keepdim=True)
        agree_both(name, floats(3), floats(2, 3))
        agree_both(name, whole(5, 3, 4), 1)
    agree_both("aminmax", floats(2, 3), dim=1)
    agree_both("amax", TIES, 1)
    found = floats(2, 3).max(1)
    assert found.values is found[0] and found.indices is found[1]


def test_logsumexp():
    agree_both("logsumexp", floats(2, 3), 1)
    agree_both("logsumexp", floats(2, 3), (0, 1), keepdim=True)


def test_logsumexp_of_nothing_but_minus_infinity_has_no_gradient():
    x = bk.full((1, 3), -float("inf")).requires_grad_()
    y = x.logsumexp(1)
    y.sum().backward()
    assert y.item() == -float("inf") and x.grad.tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("p", [2, 1, float("inf"), -float("inf"), 3, 0, "fro", 2.5])
def test_norms(p):
    agree_both("norm", floats(3, 4), p)
    agree_both("norm", floats(3, 4), p=p, dim=-1, keepdim=True)
    agree_both("norm", bk.zeros(3, requires_grad=True), p)


def test_linalg_norms():
    import torch

    for args, named in (
        ((), {}),
        ((1,), {}),
        ((float("inf"),), {}),
        ((2,), {"dim": 1}),
        ((), {"dim": -1, "keepdim": True}),
        (("fro",), {}),
    ):
        agree(bk.linalg.norm, torch.linalg.norm, floats(3, 4), *args, **named)
    agree(bk.linalg.vector_norm, torch.linalg.vector_norm, floats(3, 4), dim=1)
    agree(bk.linalg.matrix_norm, torch.linalg.matrix_norm, floats(2, 3, 4))


def test_running_sums():
    agree_both("cumsum", floats(2, 3), 1)
    agree_both("cumsum", flags(3), 0)
    agree_both("cumsum", floats(2, 3), dim=-1, dtype=bk.float64)
    agree_both("nansum", bk.tensor([1.0, float("nan")], requires_grad=True))
    agree_both("nanmean", bk.tensor([1.0, float("nan"), 3.0], requires_grad=True))
    agree_both("diff", floats(4))


def test_nothing_to_reduce():
    agree_both("sum", floats(2, 0, 3), 1)
    agree_both("mean", floats(2, 0, 3), 1)
    for name in ("max", "amax", "argmax"):
        with pytest.raises(IndexOutOfRangeError, match="Expected reduction dim to be specified"):
            getattr(bk, name)(bk.empty(0, 3))


def test_a_dim_that_is_not_there():
    with pytest.raises(IndexOutOfRangeError, match=r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 5\)"):
        floats(2, 3).sum(5)
    with pytest.raises(ArgumentError, match="multiple times"):
        floats(2, 3).sum((0, 0))


def test_the_mean_of_integers_says_what_to_do():
    with pytest.raises(DTypeError, match="could not infer output dtype") as e:
        whole(3, 3).mean()
    assert "x.float().mean()" in str(e.value)


KEEPING = "sum mean prod amax amin logsumexp all any argmax argmin max min median mode nansum nanmean".split()


@pytest.mark.parametrize("name", KEEPING)
def test_a_second_dim_is_not_taken_for_keepdim(name):
    for library in (torch, bk):
        with pytest.raises(TypeError, match="bool"):
            getattr(library.ones(2, 3), name)(0, 1)
    with pytest.raises(TypeError) as caught:
        getattr(bk.ones(2, 3), name)(0, 1)
    assert str(caught.value).splitlines() == [
        "keepdim must be a bool, but got 1 of type int",
        "fix: x.sum((0, 1)) reduces two dims; x.sum(0, keepdim=True) keeps one",
    ]


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp"])
def test_what_runs_along_an_axis_is_carried_on_in_float64(name, dim):
    """As in PyTorch, so that 1 - pmf.cumsum() does not depend on how many entries there are."""
    numbers = np.random.default_rng(0).uniform(0.5, 1.5, (40, 50, 60)).astype(np.float32)
    x = bk.tensor(numbers, requires_grad=True)
    y, wide = getattr(x, name)(dim), getattr(bk.tensor(numbers).double(), name)(dim)
    np.testing.assert_array_equal(y.detach().numpy(), wide.float().numpy())
    if name == "cumsum":
        y.backward(bk.tensor(numbers))
        np.testing.assert_array_equal(x.grad.numpy(), bk.tensor(numbers).double().flip(dim).cumsum(dim).flip(dim).float().numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dim", [0, (0, 1), -1])
def test_equal_numbers_vary_by_nothing_and_slope_by_nothing(dim, dtype):
    for value in (0.1, 0.31622776, 1000.1, 3.3e6):
        for n in (3, 7, 10, 100):
            x = bk.full((n, 2, n), value, dtype=getattr(bk, dtype), requires_grad=True)
            sigma = x.std(dim, keepdim=True)
            assert not sigma.any() and not x.var(dim).any()
            sigma.sum().backward()
            assert not x.grad.any()


@pytest.mark.parametrize("name", ["sum", "nansum", "prod", "cumsum", "cumprod"])
def test_a_sum_has_the_dtype_that_was_asked_for(name):
    for given in ("bool", "uint8", "int32", "float32", "bfloat16"):
        for dtype in ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"):
            ours, theirs = (
                getattr(lib, name)(lib.tensor([[3, 0, 1], [100, 7, 2]]).to(getattr(lib, given)), 1, dtype=getattr(lib, dtype))
                for lib in (bk, torch)
            )
            assert str(ours.dtype)[6:] == str(theirs.dtype)[6:] == dtype
            np.testing.assert_array_equal(ours.double().numpy(), theirs.double().numpy())


def test_any_and_all_over_no_dim():
    x = whole(2, 3, 4)
    for each in (x, x.to(bk.uint8), x.bool(), x.float()):
        for none in ((), []):
            agree_both("any", each, none)
            agree_both("all", each, none, keepdim=True)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "int8", "uint8", "bool"])
@pytest.mark.parametrize("asked", [{}, {"dim": 1}, {"dim": (0,), "keepdim": True}, {"dim": (0, 1)}])
def test_the_hash_of_numbers_is_pytorchs(asked, dtype):
    theirs, ours = (t.hash_tensor(t.arange(-3, 3).reshape(2, 3).to(getattr(t, dtype)).t(), **asked) for t in (torch, bk))
    assert (ours.tolist(), tuple(ours.shape), ours.dtype) == (theirs.tolist(), tuple(theirs.shape), bk.uint64)
