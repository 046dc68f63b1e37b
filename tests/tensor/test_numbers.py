"""How Python's numbers enter a dtype: exactly, or with an error; never as another number."""

import math

import numpy as np
import pytest
import torch

import badak as bk
from badak.core.errors import BadakError, DTypeError
from tests.tiers import looped

# fmt: off
NUMBERS = (0.1, 1 / 3, -7, 1.5, 2.7, True, 255, 300, -1, -300, 2**63 - 1, 2**63, -(2**63), 1e40, math.inf, math.nan, 1j, 2**130)
DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool", "complex64", "complex128")
# fmt: on


def assign(lib, x, key, value):
    x[key] = value
    return x


WAYS = {
    "tensor": lambda lib, x, c: lib.tensor(c, dtype=x.dtype),
    "tensor of a list": lambda lib, x, c: lib.tensor([[c], [c]], dtype=x.dtype),
    "as_tensor": lambda lib, x, c: lib.as_tensor([c], dtype=x.dtype),
    "new_tensor": lambda lib, x, c: x.new_tensor([c, c]),
    "full": lambda lib, x, c: lib.full((2,), c, dtype=x.dtype),
    "full_like": lambda lib, x, c: lib.full_like(x, c),
    "new_full": lambda lib, x, c: x.new_full((2,), c),
    "fill_": lambda lib, x, c: x.fill_(c),
    "x[0] =": lambda lib, x, c: assign(lib, x, 0, c),
    "x[:] =": lambda lib, x, c: assign(lib, x, slice(None), c),
    "x[mask] =": lambda lib, x, c: assign(lib, x, lib.tensor([True, False, True]), c),
    "masked_fill": lambda lib, x, c: x.masked_fill(lib.tensor([True, False, True]), c),
    "index_fill": lambda lib, x, c: x.index_fill(0, lib.tensor([0, 2]), c),
    "scatter": lambda lib, x, c: x.scatter(0, lib.tensor([0, 2]), c),
    "pad": lambda lib, x, c: lib.nn.functional.pad(x, (1, 1), value=c),
    "where": lambda lib, x, c: lib.where(lib.tensor([True, False, True]), x, c),
    "clamp": lambda lib, x, c: lib.clamp(x, min=c),
    "add": lambda lib, x, c: x + c,
    "mul": lambda lib, x, c: c * x,
    "scalar_tensor": lambda lib, x, c: lib.scalar_tensor(c, dtype=x.dtype),
}


def excused(way, dtype, c, ours, theirs):
    """Why badak and PyTorch may differ here."""
    if way == "pad" and (ours is None or theirs is None or c == 2**63 - 1):
        return "PyTorch passes this value as a C double"
    if ours is None:
        if "inf" in repr(theirs) and abs(c) < math.inf:
            return "badak refuses a finite number that would be infinite, PyTorch in some of its functions"
        return dtype == "bool" and (type(c) is complex or abs(c) >= 2**63) and "nothing is lost by refusing it"
    if theirs is None:
        if type(c) is int and abs(c) >= 2**63 and dtype not in ("int64", "int32", "int8", "uint8"):
            return "PyTorch refuses large ints before it looks at the dtype; a float holds them"
        return dtype == "bool" and way in ("clamp", "index_fill") and "PyTorch has no kernel for it"
    if way in ("add", "mul") and dtype.startswith("complex") and not abs(c) < 1e38:
        return "what an infinite complex number is differs between NumPy and C++"
    return theirs[0] == "complex32" and "complex32 is not there, complex64 holds it"


def outcome(lib, way, dtype, c):
    try:
        y = WAYS[way](lib, lib.ones(3, dtype=getattr(lib, dtype)), c)
    except Exception as problem:
        if lib is bk:
            assert isinstance(problem, BadakError) and "\nfix: " in str(problem), problem
        return None
    return str(y.dtype).split(".")[-1], y.tolist()


@pytest.mark.filterwarnings("ignore")
@looped(dtype=DTYPES)
@pytest.mark.parametrize("way", WAYS)
def test_a_number_enters_a_dtype_as_in_pytorch_or_is_refused(way, dtype):
    for c in NUMBERS:
        ours, theirs = outcome(bk, way, dtype, c), outcome(torch, way, dtype, c)
        if repr(ours) != repr(theirs):
            assert excused(way, dtype, c, ours, theirs), (way, dtype, c, ours, theirs)


EXACT = {
    "tensor": lambda lib, d: lib.tensor(0.1234567890123456789, dtype=d),
    "nested lists": lambda lib, d: lib.tensor([[0.1, 1 / 3], [2.0, 1e-300]], dtype=d),
    "arange": lambda lib, d: lib.arange(0.1, 1.0, 0.1, dtype=d),
    "linspace": lambda lib, d: lib.linspace(0.1, 1 / 3, 7, dtype=d),
    "logspace": lambda lib, d: lib.logspace(0.1, 0.2, 3, dtype=d),
    "DoubleTensor": lambda lib, d: lib.DoubleTensor([0.1, 1 / 3]),
    "tensor of NumPy scalars": lambda lib, d: lib.tensor([0.1, np.float64(1 / 3)]),
    "tensor of tensors": lambda lib, d: lib.tensor([lib.tensor(0.1, dtype=d), 1 / 3]),
    "ints among tensors": lambda lib, d: lib.tensor([np.int64(3), np.float32(0.1)]),
    "pow": lambda lib, d: lib.full((2,), 2.0, dtype=d) ** 0.1,
    "pow of a number": lambda lib, d: 0.1 ** lib.full((2,), 2.0, dtype=d),
    "float_power": lambda lib, d: lib.float_power(lib.tensor([2, 3]), 0.1),
    "lerp": lambda lib, d: lib.lerp(lib.zeros(2, dtype=d), lib.ones(2, dtype=d), 0.1),
    "clamp": lambda lib, d: lib.zeros(2, dtype=d).clamp(0.1, 1 / 3),
    "addcmul": lambda lib, d: lib.addcmul(*[lib.ones(2, dtype=d)] * 3, value=0.1),
    "quantile": lambda lib, d: lib.arange(10, dtype=d).quantile(0.1),
    "pad": lambda lib, d: lib.nn.functional.pad(lib.zeros(2, dtype=d), (1, 1), value=0.1),
    "setitem of a list": lambda lib, d: assign(lib, lib.zeros(2, dtype=d), 0, 0.1),
    "remainder": lambda lib, d: lib.full((2,), 1.0, dtype=d) % 0.3,
    "nan_to_num": lambda lib, d: lib.full((2,), math.nan, dtype=d).nan_to_num(0.1),
    "softplus": lambda lib, d: lib.nn.functional.softplus(lib.ones(2, dtype=d), beta=0.3),
    "leaky_relu": lambda lib, d: lib.nn.functional.leaky_relu(-lib.ones(2, dtype=d), 0.1),
    "constant_": lambda lib, d: lib.nn.init.constant_(lib.zeros(2, dtype=d), 0.1),
    "default dtype": lambda lib, d: _with_default(lib, d),
}


def _with_default(lib, d):
    before = lib.get_default_dtype()
    lib.set_default_dtype(d)
    try:
        return lib.tensor([0.1, 1 / 3])
    finally:
        lib.set_default_dtype(before)


@pytest.mark.parametrize("name", EXACT)
def test_float64_holds_every_digit_of_pythons_floats(name):
    ours, theirs = (EXACT[name](lib, lib.float64) for lib in (bk, torch))
    assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-15, atol=0)


@pytest.mark.parametrize("value", [None, "1", {}, object(), [None], ["a"]])
def test_only_numbers_are_assigned(value):
    x = bk.zeros(2, 3)
    with pytest.raises(BadakError):
        x[0] = value
    assert x.tolist() == [[0.0] * 3] * 2


def test_numbers_that_fit_nowhere_say_so():
    with pytest.raises(BadakError) as caught:
        bk.tensor(2**63)
    assert str(caught.value) == ("tensor: 9223372036854775808 does not fit into int64\nfix: dtype=badak.float64 holds it, rounded")
    with pytest.raises(BadakError) as caught:
        bk.ones(2).fill_(1e40)
    assert str(caught.value) == (
        "fill_: value cannot be converted to type float32 without overflow; got 1e+40\n"
        "fix: a number that float32 holds, or a tensor of a larger dtype"
    )
    with pytest.raises(BadakError, match="can't assign a NoneType to a tensor\nfix: a number, a list of numbers"):
        bk.zeros(2)[0] = None


@pytest.mark.parametrize("name", ["gt", "ge", "lt", "le"])
def test_complex_numbers_have_no_order(name):
    with pytest.raises(BadakError, match=f"{name}: complex numbers have no order\nfix: x.abs"):
        getattr(bk, name)(bk.ones(2), 1j)


class Rate(float):
    """A number of a class of the program's."""


class Count(int):
    """The same for integers, as every IntEnum is."""


@pytest.mark.parametrize(
    "call",
    [
        lambda x, f, i: x * f, lambda x, f, i: f - x, lambda x, f, i: x.long() * f, lambda x, f, i: x.half() / f,
        lambda x, f, i: x.bfloat16() ** i, lambda x, f, i: x.bool() * i, lambda x, f, i: x.addcmul(x, x, value=f),
        lambda x, f, i: x.addcdiv(x, x + 1, value=f), lambda x, f, i: x.norm(f), lambda x, f, i: x.new_full((i,), f),
        lambda x, f, i: x.clamp(f), lambda x, f, i: x.add(x, alpha=f), lambda x, f, i: x.masked_fill(x > f, f),
    ],
)  # fmt: skip
def test_a_number_of_a_class_of_the_program_is_a_number_of_pythons(call):
    found, expected = (call(lib.arange(6.0).reshape(2, 3), Rate(1.5), Count(2)) for lib in (bk, torch))
    assert str(found.dtype).split(".")[1] == str(expected.dtype).split(".")[1]
    np.testing.assert_allclose(found.double().numpy(), expected.double().numpy(), rtol=1e-6)


def test_dtypes_of_two_numbers_are_pytorchs():
    calls = (
        lambda lib, t: lib.ldexp(t(1.0, "float64"), t(200, "int64")),
        lambda lib, t: lib.ldexp(t([1.0], "bfloat16"), t([3], "int8")),
        lambda lib, t: lib.ldexp(t([2], "int8"), t([3], "int8")),
        lambda lib, t: lib.copysign(t([1, 2], "uint8"), -2),
        lambda lib, t: lib.copysign(t([1, 2], "uint8"), t([1.0, -1.0], "float16")),
        lambda lib, t: lib.logaddexp2(t([1.0, 2.0], "float32"), t([1.0, 2.0], "float16")),
        lambda lib, t: lib.logaddexp2(t([True], "bool"), t([1.0], "float16")),
        lambda lib, t: lib.addcdiv(t([True], "bool"), t([1.0], "float16"), t([3.0], "float16")),
        lambda lib, t: lib.addcdiv(t([1], "int64"), t([1], "int64"), t([3.0], "float32"), value=2),
        lambda lib, t: t([0, 0], "uint8").copy_(-2),
        lambda lib, t: t([0, 0], "float32").copy_(2.5),
    )
    for call in calls:
        ours, theirs = (call(lib, lambda x, dtype, lib=lib: lib.tensor(x, dtype=getattr(lib, dtype))) for lib in (bk, torch))
        assert str(ours.dtype)[6:] == str(theirs.dtype)[6:]
        np.testing.assert_allclose(ours.double().numpy(), theirs.double().numpy(), rtol=2e-3)


def test_take_wants_int64():
    for lib in (bk, torch):
        for dtype in (lib.bool, lib.int32, lib.float32):
            with pytest.raises((RuntimeError, TypeError)):
                lib.take(lib.tensor([1, 2, 3]), lib.ones(2, dtype=dtype))
    with pytest.raises(DTypeError, match="expected a real weight"):
        bk.lerp(bk.ones(1), bk.ones(1), bk.tensor(1j))
