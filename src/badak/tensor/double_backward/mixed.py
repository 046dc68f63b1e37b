"""The gradients of products of float32 and bfloat16 side by side, as operations: rounded where the forward rounds."""

from types import SimpleNamespace

from badak.kernels import reference
from badak.kernels.half import BFLOAT16, FLOAT32
from badak.ops import matmul, mixed
from badak.tensor.double_backward.formulas import of


@of(mixed.MixedLinear)
def linear(saved, dy):
    x, w = saved.x, saved.w
    dx, dw, db = reference.linear_backward(dy.astype(FLOAT32), _rounded(x), _rounded(w), saved.needs)
    return _typed(dx, x.dtype), _typed(dw, w.dtype), _typed(db, saved.kind)


@of(mixed.MixedAddMM)
def addmm(saved, dy):
    of_b, of_x, of_w = saved.needs
    x, w = saved.x, saved.w
    dx, dw, db = reference.linear_backward(dy.astype(FLOAT32), _rounded(x), _rounded(w).T, (of_x, of_w, of_b))
    return _typed(db, saved.kind), _typed(dx, x.dtype), None if dw is None else _typed(dw.T, w.dtype)


@of(mixed.MixedMatMul)
def multiply(saved, dy):
    a, b = saved.a, saved.b
    wide = SimpleNamespace(a=_rounded(a), b=_rounded(b), needs=saved.needs)
    da, db = matmul.gradients(wide, dy.astype(FLOAT32))
    return _typed(da, a.dtype), _typed(db, b.dtype)


def _rounded(x):
    return x.astype(BFLOAT16).astype(FLOAT32)


def _typed(dx, dtype):
    return None if dx is None else dx.astype(dtype)
