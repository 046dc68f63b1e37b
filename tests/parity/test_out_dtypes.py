"""out= of every dtype: where PyTorch casts the result into it, where it wants the result's own dtype, and what it computes in."""

import itertools
import warnings

import pytest
import torch

import badak

DTYPES = "float16 float32 float64 int32 int64 bool complex64 complex128".split()


def _v(t, d):
    return t.tensor([1.25, 0.0, 2.5]).to(d)


def _m(t, d):
    return t.tensor([[1.25, 0.0], [2.5, 1.0]]).to(d)


def _b(t, d):
    return _m(t, d)[None]


_ONE = "neg abs floor ceil round trunc sign sgn square sqrt exp sigmoid reciprocal erf isnan logical_not signbit nan_to_num".split()
_TWO = "add sub mul div pow eq lt maximum fmod floor_divide atan2 copysign logical_and outer kron float_power inner dot".split()
_DIM = "sum prod mean amax amin all any argmax cumsum cumprod logsumexp".split()
CALLS = {
    **{name: lambda t, d, out, f=name: getattr(t, f)(_v(t, d), out=out) for name in _ONE},
    **{name: lambda t, d, out, f=name: getattr(t, f)(_v(t, d), _v(t, d), out=out) for name in _TWO},
    **{name: lambda t, d, out, f=name: getattr(t, f)(_v(t, d), 0, out=out) for name in _DIM},
    **{name: lambda t, d, out, f=name: getattr(t, f)([_v(t, d), _v(t, d)], out=out) for name in ("cat", "stack", "vstack")},
    "max": lambda t, d, out: t.max(_v(t, d), out=out),
    "norm": lambda t, d, out: t.norm(_v(t, d), 2, 0, out=out),
    "clamp": lambda t, d, out: t.clamp(_v(t, d), 0, 1, out=out),
    "where": lambda t, d, out: t.where(t.tensor([True, False, True]), _v(t, d), _v(t, d), out=out),
    "index_select": lambda t, d, out: t.index_select(_v(t, d), 0, t.tensor([1, 0]), out=out),
    "index_add": lambda t, d, out: t.index_add(_v(t, d), 0, t.tensor([1, 0, 1]), _v(t, d), out=out),
    "index_copy": lambda t, d, out: t.index_copy(_v(t, d), 0, t.tensor([1, 0, 2]), _v(t, d), out=out),
    "scatter_add": lambda t, d, out: t.scatter_add(_v(t, d), 0, t.tensor([1, 0, 1]), _v(t, d), out=out),
    "gather": lambda t, d, out: t.gather(_v(t, d), 0, t.tensor([1, 0]), out=out),
    "take": lambda t, d, out: t.take(_v(t, d), t.tensor([1, 0]), out=out),
    "masked_select": lambda t, d, out: t.masked_select(_v(t, d), t.tensor([True, False, True]), out=out),
    "tril": lambda t, d, out: t.tril(_m(t, d), out=out),
    "diag": lambda t, d, out: t.diag(_v(t, d), out=out),
    "mm": lambda t, d, out: t.mm(_m(t, d), _m(t, d), out=out),
    "addmm": lambda t, d, out: t.addmm(_m(t, d), _m(t, d), _m(t, d), out=out),
    "addbmm": lambda t, d, out: t.addbmm(_m(t, d), _b(t, d), _b(t, d), out=out),
    "addr": lambda t, d, out: t.addr(_m(t, d), _v(t, d)[:2], _v(t, d)[:2], out=out),
    "softmax": lambda t, d, out: t.softmax(_v(t, d), 0, out=out),
    "linalg.inv": lambda t, d, out: t.linalg.inv(_m(t, d), out=out),
    "linalg.vector_norm": lambda t, d, out: t.linalg.vector_norm(_v(t, d), out=out),
    "mvlgamma": lambda t, d, out: t.mvlgamma(_v(t, d) + 3, 2, out=out),
    "heaviside": lambda t, d, out: t.heaviside(_v(t, d), _v(t, d), out=out),
}
OURS = {
    "mean": {"complex64"}, "logsumexp": {"complex64", "bool"},  # PyTorch computes in the dtype of out, a lower one too
    "pow": {"complex64"}, "float_power": {"complex64"},  # 0j ** 0j is 1 in badak, NaN in PyTorch
    "abs": {"complex64"},  # into complex128; below, PyTorch has no kernel
    "addbmm": {"int32", "int64"},  # into float16
    "floor": {"bool"}, "ceil": {"bool"}, "round": {"bool"}, "trunc": {"bool"}, "inner": {"bool"}, "dot": {"bool"},
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_out_of_another_dtype_is_filled_or_refused_as_in_pytorch(name):
    wrong = []
    for given in ("float32", "int32", "int64", "float64", "bool", "complex64"):
        if given in OURS.get(name, ()):
            continue
        for asked in DTYPES:
            if asked == "bool" and name in ("cumsum", "cumprod", "sum", "prod"):
                continue  # sums of booleans: PyTorch has no kernel for the running ones
            made = [_made(t, name, given, asked) for t in (torch, badak)]
            if made[0] != made[1]:
                wrong.append(f"{given} into {asked}: {made[1]}, in PyTorch {made[0]}")
    assert not wrong, "\n" + "\n".join(wrong)


def _made(t, name, given, asked):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            out = t.empty(0, dtype=getattr(t, asked))
            made = CALLS[name](t, getattr(t, given), out)
        except (RuntimeError, TypeError):
            return "refused"
    assert made is out
    numbers = map(complex, out.flatten().tolist())
    return str(out.dtype).split(".")[1], [f"{round(z.real, 2) + 0.0} {round(z.imag, 2) + 0.0}" for z in numbers]


def test_sums_are_counted_in_the_dtype_of_out():
    for t in (torch, badak):
        x, out = t.full((1000,), 0.1), t.empty((), dtype=t.float64)
        assert abs(t.sum(x, (0,), out=out).item() - 1000 * x[0].item()) < 1e-9


def test_addbmm_of_integers_keeps_their_dtype():
    x = badak.ones(1, 2, 2, dtype=badak.int32)
    assert badak.addbmm(x[0], x, x).dtype is badak.int32


@pytest.mark.parametrize("t", [torch, badak])
def test_an_operation_in_place_or_of_two_dtypes_that_pytorch_refuses(t):
    x = t.ones(2)
    with pytest.raises(RuntimeError, match="operation's result requires dtype"):
        x.float_power_(2)
    assert x.double().float_power_(2).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="not yet implemented for tensors with different dtypes"):
        t.heaviside(x, x.double())
    with pytest.raises(RuntimeError, match="Boolean alpha only supported for Boolean results"):
        x.add(x, alpha=True)
    assert x.bool().add(x.bool(), alpha=True).tolist() == [True, True]


@pytest.mark.parametrize("name", ["add", "sub", "add_", "sub_", "rsub"])
def test_alpha_is_of_a_kind_that_the_result_holds(name):
    def told(t, values):
        first, second, alpha = (t.tensor(x[0]) if isinstance(x, list) else x for x in values)
        try:
            called = getattr(t, name) if hasattr(t, name) else getattr(t.Tensor, name)
            made = called(first, second, alpha=alpha)
        except (RuntimeError, TypeError):
            return "refused"
        return str(made.dtype).rpartition(".")[2], made.item()

    numbers = True, False, 1, 2, -1, 300, 2.5, 1j, [True], [2], [2.5]
    operands = True, 2, 2.5, [True], [False], [1], [1.5]
    for values in itertools.product(operands if name in ("add", "sub") else operands[3:], (*operands, 1j), numbers):
        assert told(badak, values) == told(torch, values), values


FACTORS = {
    "addcmul": lambda t, x, c: t.addcmul(x, x, x, value=c),
    "addcdiv": lambda t, x, c: t.addcdiv(x, x, x + 1, value=c),
    "alpha": lambda t, x, c: t.addmm(x, x, x, alpha=c),
    "beta": lambda t, x, c: t.baddbmm(x[None], x[None], x[None], beta=c),
    "rows": lambda t, x, c: t.addmv(x[0], x, x[0], alpha=c, beta=c),
    "outer": lambda t, x, c: t.addr(x, x[0], x[0], alpha=c),
    "lerp": lambda t, x, c: t.lerp(x, x + x, c),
    "threshold": lambda t, x, c: t.nn.functional.threshold(x, 0, c),
    "threshold_": lambda t, x, c: t.threshold_(x, c, c),
    "scatter": lambda t, x, c: t.scatter(x, 0, t.tensor([[0]]), c, reduce="add"),
}


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "float16", "complex64"])
@pytest.mark.parametrize("name", FACTORS)
def test_a_factor_is_of_the_dtype_that_the_result_keeps(name, dtype):
    def told(t, c):
        try:
            made = FACTORS[name](t, t.tensor([[1, 0], [3, 2]]).to(getattr(t, dtype)), c)
        except (RuntimeError, NotImplementedError):
            return "refused"
        return str(made.dtype).rpartition(".")[2], [round(complex(x).real, 3) for x in made.flatten().tolist()]

    for c in (2, 2.5, 1j, 1e39):
        assert told(badak, c) == told(torch, c), c


@pytest.mark.parametrize("t", [torch, badak])
def test_booleans_are_squared_as_integers_and_have_themselves_as_sign(t):
    x = t.tensor([True, False])
    assert (t.square(x).tolist(), t.square(x).dtype) == ([1, 0], t.int64)
    assert (t.sgn(x).tolist(), t.sgn(x).dtype) == ([True, False], t.bool)
    assert t.tensor([1 + 2j]).conj_physical_().tolist() == [1 - 2j]


@pytest.mark.parametrize("t", [torch, badak])
def test_polygamma_is_a_method_and_takes_its_order_as_a_tensor(t):
    x = t.tensor([1.0, 2.0])
    assert x.polygamma(1).tolist() == t.polygamma(1, x).tolist() == t.special.polygamma(t.tensor(1), x).tolist()
    assert t.ones(()).polygamma(1).item() == pytest.approx(1.6449341)


MAKERS = {
    "arange": lambda t, out: t.arange(0, 1, 0.1, out=out),
    "linspace": lambda t, out: t.linspace(0, 10, 7, out=out),
    "logspace": lambda t, out: t.logspace(0, 1, 7, out=out),
    "full": lambda t, out: t.full((2,), 0.1, out=out),
}


@pytest.mark.parametrize(
    "name, dtype",
    [(name, dtype) for name in MAKERS for dtype in ("float32", "float64", "int32") if (name, dtype) != ("arange", "int32")],
)
def test_what_makes_numbers_makes_them_in_the_dtype_of_out(name, dtype):
    theirs, ours = (MAKERS[name](t, t.empty(0, dtype=getattr(t, dtype))).tolist() for t in (torch, badak))
    assert ours == theirs


@pytest.mark.parametrize("t, dtype", [(torch, "int64"), (badak, "int64"), (badak, "int32")])  # PyTorch's int32 gives ten zeros
def test_a_step_that_is_0_in_integers_is_refused(t, dtype):
    with pytest.raises(ValueError, match="step must be nonzero"):
        MAKERS["arange"](t, t.empty(0, dtype=getattr(t, dtype)))
