"""Functions of one number, and choices between numbers, against PyTorch."""

import numpy as np
import pytest
import torch

import badak as bk
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError
from tests.twins import agree, agree_both, flags, floats, whole

EVERYWHERE = (
    "exp exp2 expm1 sin cos tan atan sinh cosh asinh tanh sigmoid relu erf square abs sign floor ceil trunc round frac neg"
).split()
ODD = bk.tensor([0.0, -1.0, float("inf"), -float("inf"), float("nan")], requires_grad=True)


@pytest.mark.parametrize("name", EVERYWHERE)
def test_function_of_any_number(name):
    for x in (floats(3, 4), floats(), floats(0, 3), floats(2, 3, dtype=np.float64)):
        agree_both(name, x)


@pytest.mark.parametrize("name", [n for n in EVERYWHERE if n != "frac"])
def test_integers_become_floats_or_stay_integers_as_in_pytorch(name):
    agree_both(name, whole(5, 3, low=-4))


@pytest.mark.parametrize("name", ["log", "log1p", "log2", "log10", "sqrt", "rsqrt", "reciprocal"])
def test_function_of_positive_numbers(name):
    for x in (floats(3, 4, low=0.1, high=3.0), floats(low=0.1, high=3.0), whole(5, 3, low=1), flags(3)):
        agree_both(name, x)
    agree_both(name, ODD)


def test_functions_with_small_domains():
    for name in ("asin", "acos", "atanh"):
        agree_both(name, floats(3, 4, low=-0.9, high=0.9))
    agree_both("acosh", floats(3, low=1.1, high=3.0))
    agree_both("atan2", floats(2, 3), floats(3))
    agree_both("hypot", floats(2, 3), floats(3))
    agree_both("logaddexp", floats(2, 3), floats(3))


def test_softmax_along_any_dim_and_in_another_dtype():
    for dim in (0, -1):
        agree_both("softmax", floats(2, 3), dim)
        agree_both("log_softmax", floats(2, 3), dim=dim)
    agree_both("softmax", floats(2, 3), dim=0, dtype=bk.float64)


def test_clamp_with_numbers_and_tensors():
    x = floats(5)
    for bounds in ((-0.5, 0.5), (None, 0.1), (0.0, None), (1, -1), (0, 1)):
        agree_both("clamp", x, *bounds)
    agree_both("clamp", x, floats(5), floats(5, low=0.0, high=1.0))
    agree_both("clamp", x, min=floats(5, low=-1.0, high=0.0))
    agree_both("clamp", whole(9, 5), 2, 5)
    agree_both("clamp", whole(9, 5), min=2.5)
    agree_both("clamp_min", x, 0.0)
    agree_both("clamp_max", x, 0.0)
    with pytest.raises(ArgumentError, match="At least one of 'min' or 'max'"):
        x.clamp()


def test_equal_values_share_the_gradient_of_maximum():
    a = bk.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = bk.tensor([1.0, 3.0, 2.0], requires_grad=True)
    agree_both("maximum", a, b)
    agree_both("minimum", a, b)


def test_where_takes_tensors_and_numbers():
    for a, b in ((floats(2, 3), floats(3)), (floats(3), 0.0), (1.0, 0), (floats(3), floats(3, dtype=np.float64))):
        agree(bk.where, torch.where, flags(2, 3), a, b)
    agree(lambda x, m: x.where(m, 0.0), lambda x, m: x.where(m, 0.0), floats(3), flags(3))
    agree(bk.where, torch.where, flags(2, 3))


def test_where_and_masked_fill_refuse_what_is_no_mask():
    with pytest.raises(DTypeError, match="expected condition to be a boolean"):
        bk.where(floats(3), floats(3), 0.0)
    with pytest.raises(DTypeError, match="masked_fill_ only supports boolean masks, but got mask with dtype"):
        floats(3).masked_fill(bk.ones(3, dtype=bk.uint8), 0.0)


def test_masked_fill_with_every_kind_of_value():
    for value in (-1e9, float("-inf"), 0, bk.tensor(2.0), floats()):
        agree_both("masked_fill", floats(2, 3), flags(3), value)
        agree_both("masked_fill", floats(3), flags(2, 3), value)
    agree_both("masked_fill", whole(5, 3), flags(3), 7)


def test_nan_to_num():
    agree_both("nan_to_num", ODD)
    agree_both("nan_to_num", ODD, 1.0, 2.0, -2.0)


def test_a_list_is_no_tensor_and_the_error_says_how_to_make_one():
    with pytest.raises(ArgumentTypeError, match=r"exp\(\): argument 'input' \(position 1\) must be Tensor, not list"):
        bk.exp([1.0])


HALVES = {
    "numbers": lambda lib, x: (x + 1.5) * 0.3 - 2 / x,
    "powers": lambda lib, x: x**2 + x**3 + x**0.5 + 2**x,
    "functions": lambda lib, x: x.exp() + x.tanh() + x.sigmoid() + x.log() + x.rsqrt() + x.sin() + lib.erf(x),
    "choices": lambda lib, x: lib.where(x > 1, x, 0.0) + x.masked_fill(x > 1, -1e4) + x.clamp(0.5, 1) + x.relu(),
    "blends": lambda lib, x: lib.addcmul(x, x, x, value=0.5) + lib.lerp(x, x * 2, 0.3),
    "products": lambda lib, x: x @ x.transpose(0, 1) + lib.einsum("ij,kj->ik", x, x),
    "reductions": lambda lib, x: x.sum(1) + x.mean(1) + x.std(1) + x.norm(dim=1) + x.logsumexp(1) + x.amax(1) + x.prod(1),
    "softmax": lambda lib, x: x.softmax(-1) + x.log_softmax(0) + x.cumsum(0),
    "places": lambda lib, x: x[[0, 0, 1]] + x.sort(-1)[0] + x.roll(1, 0) + x.scatter(1, lib.tensor([[0], [1], [0]]), 2.5),
    "in place": lambda lib, x: (x * 1).add_(1.5).mul_(0.3),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", HALVES)
def test_half_precision_follows_pytorch_to_its_rounding(name, dtype):
    values = np.random.default_rng(0).uniform(0.3, 2.0, (3, 4)).astype(np.float32)
    x = bk.from_numpy(values).to(getattr(bk, dtype)).requires_grad_()
    twin = torch.from_numpy(values).to(getattr(torch, dtype)).requires_grad_()
    y, expected = HALVES[name](bk, x), HALVES[name](torch, twin)
    y.sum().backward()
    expected.sum().backward()
    assert y.dtype.name == x.grad.dtype.name == dtype
    for found, wanted in ((y, expected), (x.grad, twin.grad)):
        wanted = wanted.detach().float().numpy()
        # a few roundings of 2^-8 or 2^-11 of the largest term
        np.testing.assert_allclose(
            found.detach().float().numpy(), wanted, 0, (2e-2 if dtype == "bfloat16" else 3e-3) * np.abs(wanted).max()
        )


def test_no_overflow_and_no_digits_lost_on_the_way():
    """Where a formula of parts overflows, or its slope is a difference of near numbers."""
    for lib in (torch, bk):
        x = lib.tensor([1e30, float("inf"), 3.0])
        found = lib.hypot(x, lib.tensor([1e30, float("nan"), 4.0])).tolist()
        assert found == [pytest.approx(1.4142136e30), float("inf"), 5.0]
        for name in ("logaddexp", "logaddexp2"):
            a = lib.tensor([1e8, 1e4], requires_grad=True)
            getattr(lib, name)(a, lib.tensor([1e8, 1e4])).sum().backward()
            assert a.grad.tolist() == [0.5, 0.5], name
        for activation in (lib.nn.functional.elu, lib.nn.functional.celu):
            a = lib.tensor([-20.0, -10.0], requires_grad=True)
            activation(a).sum().backward()
            assert a.grad.tolist() == pytest.approx([2.0611537e-09, 4.539993e-05], rel=1e-6)
        k0 = lib.special.modified_bessel_k0(lib.tensor([1e-310, 1.0], dtype=lib.float64))
        assert k0.tolist() == pytest.approx([713.917, 0.42102443824], rel=1e-5)


def test_digits_of_integers_and_signs_of_booleans():
    for dtype in (bk.int64, bk.uint8, bk.bool):
        agree_both("round", whole(90, 5).to(dtype), decimals=-1)
        agree_both("sign", whole(2, 5).to(dtype))


def test_polar_and_dropout_want_floats():
    for dtype in (bk.bool, bk.int32):
        x = bk.ones(2, 3, dtype=dtype)
        agree(bk.polar, torch.polar, x, x)
        for name in ("dropout", "dropout1d", "alpha_dropout"):
            with pytest.raises(NotImplementedError, match="not implemented for"):
                getattr(bk.nn.functional, name)(x, 0.5, True)
            assert getattr(bk.nn.functional, name)(x, 0.5, False) is x


def test_the_hypotenuse_of_large_and_small_numbers():
    large, small = bk.tensor([1e38, 1e-30, 0.0]), bk.tensor([1e38, 1e-30, 3.0])
    agree_both("hypot", large.requires_grad_(), small.requires_grad_())


@pytest.mark.filterwarnings("error")
def test_a_number_too_large_for_float16_is_infinite_where_pytorch_makes_it_so():
    found = []
    for lib in (bk, torch):
        x = lib.tensor([1.0, -2.0, float("inf")], dtype=lib.float16)
        one, other = x.clone(), x.clone()
        one[0], other[other > 0] = -1e9, 7e4
        found.append([y.tolist() for y in (lib.where(x > 0, x, -1e9), lib.nan_to_num(x, posinf=1e9), one, other)])
        for refused in (lambda x=x: x.masked_fill(x > 0, -1e9), lambda x=x: x.clamp(-1e9), lambda x=x: x.fill_(1e9)):
            with pytest.raises(RuntimeError, match="without overflow"):
                refused()
    assert found[0] == found[1]
