"""Operations as autocast runs them, on float32 and bfloat16 side by side: what is a copy of an input in PyTorch is part of them.

A product rounds its inputs to bfloat16 while it packs them, adds a bias as it is, and gives bfloat16. The gradient of each input
has that input's dtype and is rounded once, from a sum in float32; PyTorch's of a weight is bfloat16 before it becomes float32.
So no copy of a weight has to be kept and looked after, and a step has no more operations than one in float32.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np

from badak import kernels
from badak.kernels.half import BFLOAT16, FLOAT32
from badak.ops.arithmetic import Add
from badak.ops.linear import AddMM, Linear, check_shapes
from badak.ops.loss import CrossEntropy, unrounded_cross_entropy
from badak.ops.matmul import MatMul, gradients, multiplied
from badak.ops.op import Op


class MixedLinear(Linear):
    """y = x w^T + b;   dx = dy w, dw = sum of dy^T x over the rows, db = sum of dy over the rows.

    x (..., K), w (N, K), b (N,) or None, each in float32 or bfloat16 -> (..., N) in bfloat16. db is first rounded as dw is.
    """

    name = "linear"

    @staticmethod
    def forward(save: Any, x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> np.ndarray:
        size = w.shape
        if len(size) != 2 or not x.ndim or x.shape[-1] != size[1] or (b is not None and b.shape != size[:1]):
            check_shapes(x, w, b)
        save.x, save.w, save.kind = x, w, None if b is None else b.dtype
        return kernels.of(x).linear(x, w, b, BFLOAT16)

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> tuple:
        dx, dw, db = Linear.backward(saved, dy)
        return dx, dw, db if db is None or db.dtype is saved.kind else db.astype(saved.kind)

    @staticmethod
    def double_backward(saved: Any, dy: Any) -> tuple:
        x, w = saved.x, saved.w
        dx, dw, db = kernels.reference.linear_backward(dy.astype(FLOAT32), _rounded(x), _rounded(w), saved.needs)
        return _typed(dx, x.dtype), _typed(dw, w.dtype), _typed(db, saved.kind)


class MixedAddMM(Op):
    """y = b + x w;   db = sum of dy over the rows, dx = dy w^T, dw = x^T dy.    b (N,), x (M, K), w (K, N), all that fit."""

    name = "addmm"
    flops, kept_for = AddMM.flops, AddMM.kept_for
    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save: Any, b: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        save.x, save.w, save.kind = x, w, b.dtype
        return kernels.of(x).linear(x, w.T, b, BFLOAT16)

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> tuple:
        of_b, of_x, of_w = saved.needs
        x, w, kernel = saved.x, saved.w, kernels.of(dy)
        dx, _, db = kernel.linear_backward(dy, x, w.T, (of_x, False, of_b))
        if db is not None and db.dtype is not saved.kind:
            db = db.astype(saved.kind)
        return db, dx, kernel.matmul(x.T, dy, w.dtype) if of_w else None

    @staticmethod
    def double_backward(saved: Any, dy: Any) -> tuple:
        of_b, of_x, of_w = saved.needs
        x, w = saved.x, saved.w
        dx, dw, db = kernels.reference.linear_backward(dy.astype(FLOAT32), _rounded(x), _rounded(w).T, (of_x, of_w, of_b))
        return _typed(db, saved.kind), _typed(dx, x.dtype), None if dw is None else _typed(dw.T, w.dtype)


class MixedMatMul(MatMul):
    """y[..., m, n] = sum_k a[..., m, k] b[..., k, n], in bfloat16;   da = dy b^T, db = a^T dy, summed over stretched axes."""

    name = "matmul"

    @staticmethod
    def forward(save: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        save.a, save.b = a, b
        return multiplied(a, b, BFLOAT16)

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> tuple:
        return gradients(saved, dy, saved.a.dtype, saved.b.dtype)

    @staticmethod
    def double_backward(saved: Any, dy: Any) -> tuple:
        a, b = saved.a, saved.b
        da, db = gradients(SimpleNamespace(a=_rounded(a), b=_rounded(b), needs=saved.needs), dy.astype(FLOAT32))
        return _typed(da, a.dtype), _typed(db, b.dtype)


def _rounded(x: Any) -> Any:
    return x.astype(BFLOAT16).astype(FLOAT32)


def _typed(dx: Any, dtype: Any) -> Any:
    return None if dx is None else dx.astype(dtype)


class MixedCrossEntropy(CrossEntropy):
    """The loss of logits in bfloat16, in float32; dlogits is rounded once."""

    name = "cross_entropy"
    forward: Any = staticmethod(unrounded_cross_entropy)


class MixedAdd(Add):  # type: ignore[valid-type, misc]
    """y = a + b in float32, of one in float32 and one in bfloat16 of the same shape;   da = dy, db = dy, rounded for the latter."""

    name = "add"
    ufunc = None

    @staticmethod
    def forward(save: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        save.kinds = a.dtype, b.dtype
        return kernels.active().add_mixed(a, b)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        (na, nb), (ka, kb) = saved.needs, saved.kinds
        cast = kernels.of(dy).cast
        return cast(dy, ka) if na else None, cast(dy, kb) if nb else None
