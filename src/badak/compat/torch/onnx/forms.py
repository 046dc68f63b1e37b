"""How each operation is said in ONNX: one form for each, (writer, its inputs, its attributes) -> the names of its results.

Inputs are `Ref`s (or None); `w.of` gives their names, `w.array` an example of each. tests/compat/test_onnx.py runs the forms by
ONNX Runtime on the samples of their operations.
"""

import math
from typing import Any

import numpy as np

from badak.compat.torch.onnx.writer import FORMS, INT, Writer, form
from badak.compat.torch.tracing.record import Ref
from badak.compat.torch.tracing.sizes import Expression
from badak.core.errors import NotSupportedError, tr
from badak.ops.einsum import in_small_letters

BOOL = np.dtype(bool)
_SAME = {
    "activation.ReLU": "Relu", "activation.Tanh": "Tanh", "activation.Sigmoid": "Sigmoid", "activation.Hardswish": "HardSwish",
    "arithmetic.Neg": "Neg",
    "elementwise.Exp": "Exp", "elementwise.Log": "Log", "elementwise.Sqrt": "Sqrt", "elementwise.Erf": "Erf",
    "elementwise.Abs": "Abs", "elementwise.Sign": "Sign", "elementwise.Floor": "Floor", "elementwise.Ceil": "Ceil",
    "elementwise.Reciprocal": "Reciprocal", "cast.Clone": "Identity", "trigonometry.Sin": "Sin", "trigonometry.Cos": "Cos",
    "trigonometry.Tan": "Tan", "trigonometry.Asin": "Asin", "trigonometry.Acos": "Acos", "trigonometry.Atan": "Atan",
    "trigonometry.Sinh": "Sinh", "trigonometry.Cosh": "Cosh", "trigonometry.Asinh": "Asinh", "trigonometry.Acosh": "Acosh",
    "trigonometry.Atanh": "Atanh", "compare.isnan": "IsNaN", "compare.logical_not": "Not",
}  # fmt: skip
_OF_TWO = {
    "arithmetic.Add": "Add", "arithmetic.Sub": "Sub", "arithmetic.Mul": "Mul", "arithmetic.Div": "Div", "arithmetic.Pow": "Pow",
    "select.Maximum": "Max", "select.Minimum": "Min",
}  # fmt: skip
_WITH_NUMBER = {
    "arithmetic.Shift": ("Add", False), "arithmetic.Scale": ("Mul", False), "arithmetic.DivBy": ("Div", False),
    "arithmetic.SubFrom": ("Sub", True), "arithmetic.DivInto": ("Div", True), "arithmetic.PowBy": ("Pow", False),
    "arithmetic.PowOf": ("Pow", True),
}  # fmt: skip
_COMPARED = {"eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual", "ne": "Equal"}


def _register() -> None:
    for place, kind in _SAME.items():
        form(place)(lambda w, out, x, kind=kind, **_: w.op(kind, w.of(x)))
    for place, kind in _OF_TWO.items():
        form(place)(lambda w, out, a, b, kind=kind: w.op(kind, w.as_dtype(a, out.dtype), w.as_dtype(b, out.dtype)))
    for place, (kind, swapped) in _WITH_NUMBER.items():
        form(place)(lambda w, out, x, c, kind=kind, swapped=swapped: _with_number(w, out, x, c, kind, swapped))
    for name, kind in _COMPARED.items():
        form(f"compare.{name}")(lambda w, out, a, b, kind=kind, name=name, **_: _compared(w, a, b, kind, name))
    for name, kind in (("logical_and", "And"), ("logical_or", "Or"), ("logical_xor", "Xor")):
        form(f"compare.{name}")(lambda w, out, a, b, kind=kind, **_: w.op(kind, w.as_dtype(a, BOOL), w.as_dtype(b, BOOL)))
    for name, kind in (("bitwise_and", "And"), ("bitwise_or", "Or"), ("bitwise_xor", "Xor")):
        form(f"compare.{name}")(lambda w, out, a, b, kind=kind, **_: _bits(w, out, a, b, kind))


def _with_number(w: Writer, out: np.ndarray, x: Ref, c: Any, kind: str, swapped: bool) -> str:
    number = w.cast(w.size(c), out.dtype, INT) if isinstance(c, Expression) else w.constant(c, out.dtype)
    pair = w.as_dtype(x, out.dtype), number
    return w.op(kind, *(pair[::-1] if swapped else pair))


def _compared(w: Writer, a: Any, b: Any, kind: str, name: str) -> str:
    dtypes = [w.array(x).dtype if isinstance(x, Ref) else None for x in (a, b)]
    known = [each for each in dtypes if each is not None]
    to = np.result_type(*known)
    if None in dtypes and isinstance(b if dtypes[1] is None else a, float) and to.kind in "iub":
        to = np.dtype(np.float32)
    if to.kind == "b" and kind != "Equal" or to.kind == "u":
        to = INT
    made = w.op(kind, w.as_dtype(a, to), w.as_dtype(b, to))
    return w.op("Not", made) if name == "ne" else made


def _bits(w: Writer, out: np.ndarray, a: Any, b: Any, kind: str) -> str:
    if out.dtype.kind != "b":
        raise NotSupportedError(tr("onnx: bitwise {} of {} has no form", kind.lower(), out.dtype), "booleans")
    return w.op(kind, w.as_dtype(a, BOOL), w.as_dtype(b, BOOL))


_register()

# ---------------------------------------------------------------- elements


@form("activation.GELU")
def _gelu(w, out, x, approximate="none", **_):
    a = w.of(x)
    number = lambda c: w.constant(c, out.dtype)
    if approximate == "tanh":
        cube = w.op("Mul", w.op("Mul", w.op("Mul", a, a), a), number(0.044715))
        inner = w.op("Tanh", w.op("Mul", w.op("Add", a, cube), number(math.sqrt(2 / math.pi))))
    else:
        inner = w.op("Erf", w.op("Mul", a, number(math.sqrt(0.5))))
    return w.op("Mul", w.op("Mul", a, number(0.5)), w.op("Add", inner, number(1)))


@form("activation.ELU")
def _elu(w, out, x, alpha, scale, input_scale):
    inner = w.op("Mul", w.of(x), w.constant(input_scale, out.dtype))
    below = w.op("Mul", w.op("Elu", inner, alpha=1.0), w.constant(alpha * scale, out.dtype))
    above = w.op("Mul", w.of(x), w.constant(scale, out.dtype))
    return w.op("Where", w.op("Greater", w.of(x), w.constant(0, out.dtype)), above, below)


@form("activation.Softplus")
def _softplus(w, out, x, beta=1.0, threshold=math.inf):
    z = w.op("Mul", w.of(x), w.constant(beta, out.dtype))
    y = w.op("Div", w.op("Softplus", z), w.constant(beta, out.dtype))
    return w.op("Where", w.op("Greater", z, w.constant(threshold, out.dtype)), w.of(x), y)


@form("elementwise.Round")
def _round(w, out, x, **attributes):
    if any(attributes.values()):
        raise NotSupportedError("onnx: round to decimals has no form", "x * 10**decimals, rounded, and divided")
    return w.op("Round", w.of(x))


@form("elementwise.Logaddexp")
def _logaddexp(w, out, a, b):
    top = w.op("Max", w.of(a), w.of(b))
    return w.op("Add", top, w.op("Log", w.op("Add", *(w.op("Exp", w.op("Sub", w.of(x), top)) for x in (a, b)))))


@form("arithmetic.FloorDiv")
def _floor_div(w, out, a, b):
    x, y = (w.as_dtype(each, out.dtype) for each in (a, b))
    if out.dtype.kind == "f":
        return w.op("Floor", w.op("Div", x, y))
    return w.op("Div", w.op("Sub", x, w.op("Mod", x, y)), y)


@form("arithmetic.TruncDiv")
def _trunc_div(w, out, a, b):
    x = w.op("Div", w.as_dtype(a, out.dtype), w.as_dtype(b, out.dtype))
    return x if out.dtype.kind != "f" else w.op("Mul", w.op("Sign", x), w.op("Floor", w.op("Abs", x)))


@form("arithmetic.Remainder")
def _remainder(w, out, a, b):
    x, y = (w.as_dtype(each, out.dtype) for each in (a, b))
    if out.dtype.kind != "f":
        return w.op("Mod", x, y)
    return w.op("Sub", x, w.op("Mul", y, w.op("Floor", w.op("Div", x, y))))


@form("select.Clamp")
def _clamp(w, out, x, lo, hi):
    y = w.of(x)
    y = y if lo is None else w.op("Max", y, w.constant(lo, out.dtype))
    return y if hi is None else w.op("Min", y, w.constant(hi, out.dtype))


@form("arithmetic.Lerp", "arithmetic.LerpBy")
def _lerp(w, out, a, b, c):
    share = w.of(c) if isinstance(c, Ref) else w.constant(c, out.dtype)
    return w.op("Add", w.of(a), w.op("Mul", share, w.op("Sub", w.of(b), w.of(a))))


@form("embedding._one_hot")
def _one_hot(w, out, tensor, num_classes):
    return w.op("OneHot", w.of(tensor), w.constant(num_classes, INT), w.constant([0, 1], INT))


# ---------------------------------------------------------------- sums along axes


def _axes(axis: Any) -> Any:
    return None if axis is None else [axis] if isinstance(axis, int) else list(axis)


def _reduction(kind: str):
    def said(w, out, x, axis=None, keepdims=False, nan=False):
        return w.reduce(kind, w.as_dtype(x, out.dtype), _axes(axis), keepdims)

    return said


for _place, _kind in (
    ("Sum", "ReduceSum"), ("Mean", "ReduceMean"), ("Prod", "ReduceProd"), ("Amax", "ReduceMax"), ("Amin", "ReduceMin"),
    ("LogSumExp", "ReduceLogSumExp"),
):  # fmt: skip
    form(f"reduce.{_place}")(_reduction(_kind))


@form("reduce.Var")
def _var(w, out, x, axis=None, correction=1, keepdims=False):
    axes, a = _axes(axis), w.of(x)
    d = w.op("Sub", a, w.reduce("ReduceMean", a, axes, True))
    total = w.reduce("ReduceSum", w.op("Mul", d, d), axes, keepdims)
    shape = w.op("Shape", a)
    n = w.op(
        "ReduceProd",
        shape if axes is None else w.op("Gather", shape, w.constant([i % w.array(x).ndim for i in axes], INT)),
        keepdims=0,
    )
    return w.op("Div", total, w.op("Sub", w.cast(n, out.dtype), w.constant(correction, out.dtype)))


@form("reduce.Norm")
def _norm(w, out, x, p=2, axis=None, keepdims=False):
    if p not in (1, 2):
        raise NotSupportedError(tr("onnx: the norm with p={} has no form", p), "p=1 or p=2")
    return w.reduce(f"ReduceL{int(p)}", w.of(x), _axes(axis), keepdims)


@form("sort.argmax_along", "reduce._argmax")
def _argmax(w, out, x, dim, keepdim=False):
    return w.op("ArgMax", w.of(x), axis=dim, keepdims=int(keepdim))


@form("sort.argmin_along", "reduce._argmin")
def _argmin(w, out, x, dim, keepdim=False):
    return w.op("ArgMin", w.of(x), axis=dim, keepdims=int(keepdim))


@form("sort._top")
def _top(w, out, array, k, dim, largest):
    return w.op("TopK", w.of(array), w.op("Reshape", w.size(k), w.constant([1], INT)), outputs=2, axis=dim, largest=int(largest))[1]


@form("sort._order")
def _order(w, out, array, dim, descending):
    n = w.op("Gather", w.op("Shape", w.of(array)), w.constant([dim], INT))
    return w.op("TopK", w.of(array), n, outputs=2, axis=dim, largest=int(descending))[1]


# ---------------------------------------------------------------- products and norms


@form("linear.Linear")
def _linear(w, out, x, weight, b):
    if w.array(x).ndim == 2:
        return w.op("Gemm", w.of(x), w.of(weight), w.of(b), transB=1)
    y = w.op("MatMul", w.of(x), w.op("Transpose", w.of(weight), perm=[1, 0]))
    return y if b is None else w.op("Add", y, w.of(b))


@form("norm.LayerNorm")
def _layer_norm(w, out, x, weight, b, eps=1e-5, axes=1):
    if weight is not None:
        return w.op("LayerNormalization", w.of(x), w.of(weight), w.of(b), axis=-axes, epsilon=eps)
    last = list(range(-axes, 0))
    d = w.op("Sub", w.of(x), w.reduce("ReduceMean", w.of(x), last, True))
    var = w.reduce("ReduceMean", w.op("Mul", d, d), last, True)
    y = w.op("Div", d, w.op("Sqrt", w.op("Add", var, w.constant(eps, out.dtype))))
    return y if b is None else w.op("Add", y, w.of(b))


@form("norm.GroupNorm")
def _group_norm(w, out, x, weight, b, groups, eps=1e-5):
    shape, channels = w.op("Shape", w.of(x)), [1, -1, *(1,) * (w.array(x).ndim - 2)]
    y = w.op("Reshape", w.of(x), w.constant([0, groups, -1], INT))  # 0: the size that x has there
    d = w.op("Sub", y, w.reduce("ReduceMean", y, [-1], True))
    var = w.reduce("ReduceMean", w.op("Mul", d, d), [-1], True)
    y = w.op("Reshape", w.op("Div", d, w.op("Sqrt", w.op("Add", var, w.constant(eps, out.dtype)))), shape)
    y = y if weight is None else w.op("Mul", y, w.op("Reshape", w.of(weight), w.constant(channels, INT)))
    return y if b is None else w.op("Add", y, w.op("Reshape", w.of(b), w.constant(channels, INT)))


@form("norm.BatchMoments")
def _batch_moments(w, out, x):
    axes = [i for i in range(w.array(x).ndim) if i != 1]
    d = w.op("Sub", w.of(x), w.reduce("ReduceMean", w.of(x), axes, True))
    square, x_shape = w.op("Mul", d, d), w.op("Shape", w.of(x))
    count = w.cast(w.op("ReduceProd", w.op("Gather", x_shape, w.constant(axes, INT)), keepdims=0), out[0].dtype)
    rest = w.op("Max", w.op("Sub", count, w.constant(1, out[0].dtype)), w.constant(1, out[0].dtype))
    unbiased = w.op("Div", w.reduce("ReduceSum", square, axes, False), rest)
    return [w.reduce("ReduceMean", w.of(x), axes, False), w.reduce("ReduceMean", square, axes, False), unbiased]


@form("norm.BatchNorm")
def _batch_norm(w, out, x, weight, b, mean, var, eps=1e-5, moving=False):
    filled = lambda value: w.op("Expand", w.constant(value, out.dtype), w.op("Shape", w.of(mean)))
    scale, bias = filled(1) if weight is None else w.of(weight), filled(0) if b is None else w.of(b)
    return w.op("BatchNormalization", w.of(x), scale, bias, w.of(mean), w.of(var), epsilon=eps)


@form("norm.RMSNorm")
def _rms_norm(w, out, x, weight, eps=1e-5, axes=1):
    a = w.of(x)
    square = w.reduce("ReduceMean", w.op("Mul", a, a), list(range(-axes, 0)), True)
    y = w.op("Div", a, w.op("Sqrt", w.op("Add", square, w.constant(eps, out.dtype))))
    return y if weight is None else w.op("Mul", y, w.of(weight))


# ---------------------------------------------------------------- what one expression says

FORMS |= {
    "activation.SiLU": lambda w, out, x: w.op("Mul", w.of(x), w.op("Sigmoid", w.of(x))),
    "activation.LeakyReLU": lambda w, out, x, negative_slope: w.op("LeakyRelu", w.of(x), alpha=negative_slope),
    "activation.PReLU": lambda w, out, x, slope: w.op("PRelu", w.of(x), w.of(slope)),
    "activation.Hardtanh": lambda w, out, x, min_val, max_val: w.op(
        "Clip", w.of(x), w.constant(min_val, out.dtype), w.constant(max_val, out.dtype)
    ),
    "activation.Hardsigmoid": lambda w, out, x: w.op("HardSigmoid", w.of(x), alpha=1 / 6, beta=0.5),
    "activation.LogSigmoid": lambda w, out, x: w.op("Neg", w.op("Softplus", w.op("Neg", w.of(x)))),
    "activation.Mish": lambda w, out, x: w.op("Mul", w.of(x), w.op("Tanh", w.op("Softplus", w.of(x)))),
    "elementwise.Rsqrt": lambda w, out, x: w.op("Reciprocal", w.op("Sqrt", w.of(x))),
    "elementwise.Square": lambda w, out, x: w.op("Mul", w.of(x), w.of(x)),
    "elementwise.Expm1": lambda w, out, x: w.op("Sub", w.op("Exp", w.of(x)), w.constant(1, out.dtype)),
    "elementwise.Log1p": lambda w, out, x: w.op("Log", w.op("Add", w.of(x), w.constant(1, out.dtype))),
    "elementwise.Log2": lambda w, out, x: w.op("Div", w.op("Log", w.of(x)), w.constant(math.log(2), out.dtype)),
    "elementwise.Log10": lambda w, out, x: w.op("Div", w.op("Log", w.of(x)), w.constant(math.log(10), out.dtype)),
    "elementwise.Exp2": lambda w, out, x: w.op("Pow", w.constant(2, out.dtype), w.of(x)),
    "elementwise.Trunc": lambda w, out, x: w.op("Mul", w.op("Sign", w.of(x)), w.op("Floor", w.op("Abs", w.of(x)))),
    "arithmetic.Fmod": lambda w, out, a, b: w.op("Mod", w.as_dtype(a, out.dtype), w.as_dtype(b, out.dtype), fmod=1),
    "select.Where": lambda w, out, keep, a, b: w.op("Where", w.of(keep), w.as_dtype(a, out.dtype), w.as_dtype(b, out.dtype)),
    "select.MaskedFill": lambda w, out, x, mask, c: w.op("Where", w.of(mask), w.constant(c, out.dtype), w.of(x)),
    "cast.Cast": lambda w, out, x, dtype: w.cast(w.of(x), out.dtype),
    "compare.isinf": lambda w, out, x: w.op("IsInf", w.of(x)),
    "compare.isfinite": lambda w, out, x: w.op("Not", w.op("Or", w.op("IsInf", w.of(x)), w.op("IsNaN", w.of(x)))),
    "compare.bitwise_not": lambda w, out, x, **_: _bits(w, out, x, True, "Xor"),
    "arithmetic.Addcmul": lambda w, out, x, a, b, c: w.op(
        "Add", w.of(x), w.op("Mul", w.op("Mul", w.of(a), w.of(b)), w.constant(c, out.dtype))
    ),
    "arithmetic.Addcdiv": lambda w, out, x, a, b, c: w.op(
        "Add", w.of(x), w.op("Mul", w.op("Div", w.of(a), w.of(b)), w.constant(c, out.dtype))
    ),
    "reduce.Std": lambda w, out, x, **attributes: w.op("Sqrt", _var(w, out, x, **attributes)),
    "reduce.CumSum": lambda w, out, x, axis: w.op("CumSum", w.as_dtype(x, out.dtype), w.constant(axis, INT)),
    "softmax.Softmax": lambda w, out, x, dim=-1: w.op("Softmax", w.of(x), axis=dim),
    "softmax.LogSoftmax": lambda w, out, x, dim=-1: w.op("LogSoftmax", w.of(x), axis=dim),
    "matmul.MatMul": lambda w, out, a, b: w.op("MatMul", w.of(a), w.of(b)),
    "linear.AddMM": lambda w, out, b, x, weight: w.op("Add", w.op("MatMul", w.of(x), w.of(weight)), w.of(b)),
    "einsum.Contract": lambda w, out, a, b, ta, tb, ty: w.op(
        "Einsum", w.of(a), w.of(b), equation=in_small_letters(f"{ta},{tb}->{ty}")
    ),
    "einsum.SumTo": lambda w, out, x, tx, ty: w.op("Einsum", w.of(x), equation=in_small_letters(f"{tx}->{ty}")),
    "embedding.Embedding": lambda w, out, weight, ids, **_: w.op("Gather", w.of(weight), w.of(ids), axis=0),
}
