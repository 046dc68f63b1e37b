"""Sums, products, quotients, powers: values, dtypes, gradients and errors as PyTorch's."""

import operator
import warnings

import numpy as np
import pytest
import torch

import badak as bk
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from tests.twins import agree, agree_both, flags, floats, whole

NAMES = ["add", "sub", "mul", "div", "pow", "fmod", "remainder", "floor_divide", "true_divide"]
POSITIVE = {"low": 0.2, "high": 2.0}
PAIRS = [
    (floats(2, 3, **POSITIVE), floats(3, **POSITIVE)),
    (floats(2, 1, **POSITIVE), floats(1, 4, **POSITIVE)),
    (floats(**POSITIVE), floats(2, **POSITIVE)),
    (floats(0, 3), floats(1, 3, **POSITIVE)),
    (whole(5, 3, low=1), floats(3, **POSITIVE)),
    (whole(5, 3, low=1), whole(4, 3, low=1, dtype=np.int32)),
    (floats(3, **POSITIVE), floats(**POSITIVE, dtype=np.float64)),
    (whole(5, 3, low=1), floats(**POSITIVE)),
    (flags(3), whole(5, 3, low=1)),
    (whole(5, 3, low=1, dtype=np.uint8), whole(5, 3, low=1, dtype=np.int8)),
]
NUMBERS = [2, 2.5, -1, True, np.float64(1.5), np.int64(3)]
TENSORS = [
    floats(3, **POSITIVE),
    whole(5, 3, low=1),
    whole(4, 3, low=1, dtype=np.int32),
    whole(5, 3, low=1, dtype=np.uint8),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_two_tensors(name, pair):
    agree_both(name, *pair)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_a_tensor_and_a_number(name, number):
    for x in TENSORS:
        if not (name == "pow" and number == -1 and x.dtype is not bk.float32 and isinstance(number, float)):
            agree_both(name, x, number)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
def test_operators_with_numbers_on_either_side(name):
    function = getattr(operator, name)
    for a, b in (
        (2, floats(3, **POSITIVE)),
        (2.5, whole(5, 3, low=1)),
        (3, whole(5, 3, low=1)),
        (np.float64(2.0), floats(3, **POSITIVE)),
        (floats(3, **POSITIVE), np.float64(2.0)),
        (floats(3, **POSITIVE), 0.5),
        (1, flags(3)),
    ):
        agree(function, function, a, b)


def test_numpy_on_the_left_defers():
    y = np.float64(2) * floats(3)
    assert isinstance(y, bk.Tensor) and y.dtype is bk.float32
    z = np.ones(3, np.float32) + floats(3)
    assert isinstance(z, bk.Tensor) and z.requires_grad


@pytest.mark.parametrize("exponent", [2, 3, 0.5, -0.5, -1, -2, 0, 1.7])
def test_powers_of_every_special_exponent(exponent):
    agree_both("pow", floats(3, 4, **POSITIVE), exponent)


def test_power_has_a_gradient_at_zero():
    x = bk.tensor([0.0, 0.0, 2.0], requires_grad=True)
    agree_both("pow", x, bk.tensor([0.0, 2.0, 0.0], requires_grad=True))
    agree(lambda x: 10000 ** (x / 4), lambda x: 10000 ** (x / 4), x)


def test_alpha_scales_the_second():
    agree_both("add", floats(3), floats(3), alpha=2.5)
    agree_both("sub", floats(3), floats(3), alpha=2)
    agree_both("add", floats(3), 2.0, alpha=3)
    agree_both("add", whole(3, 3), whole(3, 3), alpha=2.5)


@pytest.mark.parametrize("mode", ["floor", "trunc", "other"])
def test_rounded_quotients(mode):
    agree_both("div", floats(3), floats(3), rounding_mode=mode)
    agree_both("div", whole(9, 5, low=-9), whole(4, 5, low=1), rounding_mode=mode)


def test_sums_of_three():
    for value in (1, 0.5):
        agree_both("addcmul", floats(3), floats(2, 3), floats(3), value=value)
        agree_both("addcdiv", floats(3), floats(2, 3), floats(3), value=value)
    for weight in (0.0, 0.3, 0.8, 1.0, floats(3)):
        agree_both("lerp", floats(3), floats(2, 3), weight)


def test_a_scalar_keeps_the_float32_of_a_tensor():
    assert (floats(3) / np.sqrt(4)).dtype is bk.float32
    assert (bk.arange(0, 4, 2) * -(np.log(1e4) / 4)).dtype is bk.float32


@pytest.mark.parametrize("dtype", [bk.float16, bk.bfloat16])
def test_half_precision_stays_half(dtype):
    x = bk.ones(2, 3, dtype=dtype)
    for y in (
        x + 1.5,
        x * 2,
        1 - x,
        x / 3,
        x + x,
        x**2,
        -x,
        x.sum(),
        x.mean(-1),
        x.exp(),
        x @ x.T,
        x.softmax(-1),
        x.tanh(),
    ):
        assert y.dtype is dtype
    assert (x + bk.ones(3)).dtype is bk.float32


def test_shapes_that_do_not_broadcast_are_named():
    with pytest.raises(ShapeError, match=r"tensor a \(3\) must match the size of tensor b \(4\) at non-singleton dimension 1") as e:
        bk.ones(2, 3) + bk.ones(2, 4)
    assert "(2, 3) and (2, 4)" in str(e.value) and "\nfix: " in str(e.value)


def test_booleans_are_not_subtracted():
    for wrong in (lambda m: 1 - m, lambda m: m - m, lambda m: m - 1, lambda m: -m):
        with pytest.raises(DTypeError, match="with a bool tensor is not supported"):
            wrong(bk.tensor([True, False]))


def test_integers_refuse_what_they_cannot_hold():
    with pytest.raises(ArgumentError, match="Integers to negative integer powers are not allowed"):
        bk.tensor([2]) ** -1
    with pytest.raises(ArgumentError, match="ZeroDivisionError"):
        bk.tensor([5]) // 0


def test_strangers_are_refused_by_functions_and_passed_on_by_operators():
    with pytest.raises(ArgumentTypeError):
        bk.add(bk.ones(2), "a")
    with pytest.raises(TypeError):
        bk.ones(2) + "a"
    assert (bk.ones(2) == "a") is False and (bk.ones(2) != None) is True  # noqa: E711


def test_out_receives_the_result():
    out = bk.empty(3)
    assert bk.add(bk.ones(3), 1.0, out=out) is out and out.tolist() == [2, 2, 2]
    with pytest.raises(DTypeError, match="result type"):
        bk.add(bk.ones(3), 1.0, out=bk.zeros(3, dtype=bk.int64))


def test_copies_of_views_are_written_into_out():
    x, out, two = bk.arange(4.0), bk.zeros(2, 2), (bk.zeros(2), bk.zeros(2))
    assert bk.view_copy(x, (2, 2), out=out) is out and out.tolist() == [[0, 1], [2, 3]]
    bk.split_copy(x, 2, out=two)
    assert [each.tolist() for each in two] == [[0, 1], [2, 3]]


def test_out_of_another_shape_is_resized_with_a_warning():
    total, each = lambda lib, out: lib.sum(lib.ones(3), dim=0, out=out), lambda lib, out: lib.sin(lib.ones(3), out=out)
    for made, other in ((total, (4,)), (each, (2, 3)), (each, ())):
        seen = []
        for lib in (bk, torch):
            with pytest.warns(UserWarning, match="An output with one or more elements was resized since it had shape"):
                out = lib.zeros(other)
                assert made(lib, out) is out
            seen.append((tuple(out.shape), out.stride()))
            np.testing.assert_allclose(out.numpy(), made(lib, None).numpy())
        assert seen[0] == seen[1]
        assert made(bk, bk.empty(0)).shape == made(bk, None).shape


def test_out_whose_numbers_share_memory_is_refused():
    with pytest.raises(RuntimeError, match="out=: unsupported operation"):
        bk.index_select(bk.rand(3, 6), 1, bk.tensor([0, 1]), out=bk.rand(1, 6).expand(2, 6))


def test_out_that_is_a_view_is_resized_in_its_memory():
    for lib in (bk, torch):
        x = lib.arange(12.0)
        with pytest.warns(UserWarning, match="was resized"):
            lib.sum(lib.ones(3, 2), 1, out=x[2:6])
        assert x.tolist() == [0, 1, 2, 2, 2, *range(5, 12)]


def test_in_place_change_of_a_product_is_legal_and_right():
    x, w = floats(3), floats(3)
    y = x * w
    y += 1.0
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), w.detach().numpy())


def test_whole_numbers_to_negative_powers_in_a_tensor_lose_their_fractions():
    for call in (
        lambda lib: lib.tensor([0, 1, -1, 2, -2]) ** lib.tensor([-1, -2, -3, -1, -2]),
        lambda lib: lib.pow(2, lib.tensor([-1, 1])),
        lambda lib: lib.tensor([[2], [3]]) ** lib.tensor([2, -1, 0]),
    ):
        assert call(bk).tolist() == call(torch).tolist()


OLDER = {
    "two factors": lambda lib, a, b, c: lib.addmm(2, a, 3, b, c),
    "the first factor": lambda lib, a, b, c: lib.addmm(2, a, b, c),
    "of a method": lambda lib, a, b, c: a.addmm(2, 3, b, c),
    "in place": lambda lib, a, b, c: a.clone().addmm_(2, 3, b, c),
    "addcmul": lambda lib, a, b, c: lib.addcmul(a, 2, b, c),
    "add": lambda lib, a, b, c: lib.add(a, 2, b),
    "sub": lambda lib, a, b, c: a.sub(2, b),
}


@pytest.mark.parametrize("name", OLDER)
def test_factors_may_stand_before_what_they_multiply_as_in_older_programs(name):
    made = []
    for lib in (bk, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("error" if lib is bk else "ignore")
            if lib is bk:
                with pytest.raises(UserWarning, match="This overload of .* is deprecated\\nfix: "):
                    OLDER[name](lib, *(lib.arange(4.0).reshape(2, 2) + i for i in range(3)))
            warnings.simplefilter("ignore")
            made.append(OLDER[name](lib, *(lib.arange(4.0).reshape(2, 2) + i for i in range(3))).tolist())
    assert made[0] == made[1]


@pytest.mark.parametrize("kind", ["bool", "int32", "float16"])
def test_complex_numbers_in_real_tensors(kind):
    for lib in (bk, torch):
        x = lib.zeros(2, dtype=getattr(lib, kind))
        assert x.fill_(1 + 0j).tolist() == [1, 1]
        with pytest.raises(RuntimeError, match="Converting complex Scalar to non-complex type is not supported"):
            x.index_fill_(0, lib.tensor([0]), 1 + 1j)
        if kind != "bool":
            with pytest.raises(RuntimeError, match="without overflow"):
                x.fill_(1 + 1j)


def test_diff_refuses_parts_of_other_shapes():
    for lib in (bk, torch):
        x = lib.ones(2, 3)
        with pytest.raises(RuntimeError, match="prepend or append to be the same dimension as input"):
            x.diff(dim=0, prepend=lib.ones(3))
        with pytest.raises(RuntimeError, match="prepend or append to match that of input"):
            x.diff(dim=0, append=lib.ones(1, 2))


def test_addcdiv_refuses_to_divide_integers():
    for lib in (bk, torch):
        whole = lib.tensor([4, 6])
        for x in (whole, whole.float()):
            with pytest.raises(RuntimeError, match="Integer division with addcdiv is no longer supported"):
                lib.addcdiv(x, whole, whole)
        assert lib.addcdiv(whole, whole, whole.float()).tolist() == [5, 7]
