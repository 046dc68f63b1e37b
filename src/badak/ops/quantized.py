"""The affine map of the last axis with weights of 8 or 16 bits, for models that answer."""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import DTypeError, GraphError, ShapeError, tr
from badak.kernels.half import BFLOAT16
from badak.ops.embedding import check as check_ids
from badak.ops.op import Op, flops_of_products

_FLOAT32 = np.dtype(np.float32)


class _ForAnswers:
    """What operations have in common that compute with weights of 8 or 16 bits."""

    owns_grads = False
    capturable = True
    data_movement = True  # 16 bits are welcome, and may become float32 here
    batching: Callable[..., Any] | None = None

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> Any:
        cause = tr("backward: weights of 8 or 16 bits for answering have no gradient, and their inputs get none")
        raise GraphError(cause, "train the float32 model, and badak.quantize it afterwards")


class LinearInt8(_ForAnswers, Op):
    """y = q w^T (x_scale scale) + b, where the rows of x are about q x_scale, q integers; no gradient.

    x (..., K) of any float, w (N, K) int8, scale (N,) and b (N,) float32, b or None -> (..., N) in x's dtype. Sums of products
    q w are exact; the rest is computed in float32.
    """

    flops = flops_of_products(0, 1, lambda inputs: inputs[1].shape[-1])

    @staticmethod
    def forward(save: Any, x: Any, w: np.ndarray, scale: Any, b: Any) -> np.ndarray:
        _check(x, w.shape[1], _of_bits(w))
        if x.dtype is _FLOAT32:
            return kernels.of(x).linear_int8(x, w, scale, b)
        x32, scale, b = (None if a is None else a.astype(_FLOAT32) for a in (x, scale, b))
        return kernels.of(x32).linear_int8(x32, w, scale, b).astype(x.dtype)


class LinearBFloat16(_ForAnswers, Op):
    """y = x w^T + b, x and w being rounded to bfloat16; no gradient.

    x (..., K) of any float, w (N, K) bfloat16, b (N,) or None -> (..., N) in x's dtype. Sums in float32, of float64 in float64.
    """

    flops = flops_of_products(0, 1, lambda inputs: inputs[1].shape[-1])

    @staticmethod
    def forward(save: Any, x: Any, w: Any, b: Any) -> np.ndarray:
        _check(x, w.shape[1], _of_bits(w))
        kind = x.dtype
        if kind.itemsize == 8:  # for which there is no product of bfloat16
            x, w, b = (None if a is None else a.astype(kind) for a in (x.astype(BFLOAT16), w.astype(BFLOAT16), b))
            return kernels.of(x).linear(x, w, b)
        w = w if w.itemsize == 2 else w.astype(BFLOAT16)
        wide = kind if kind in (_FLOAT32, BFLOAT16) else _FLOAT32
        y = kernels.active().linear(x if kind is wide else x.astype(wide), w, b, wide)
        return y if kind is wide else y.astype(kind)


def _check(x: np.ndarray, size: int, weight: Any) -> None:
    """weight: what an error says of it."""
    if x.dtype.kind not in "fV":
        raise DTypeError(tr("linear: expected an input of floats; got {}", x.dtype), "x.float()")
    if not x.ndim or x.shape[-1] != size:
        cause = tr("linear: weight {} takes input (..., {}); got input={}", weight, size, x.shape)
        raise ShapeError(cause, tr("an input whose last size is {}", size))


def _of_bits(w: np.ndarray) -> str:
    return tr("{} of {} bits", w.shape, 8 * w.itemsize)


class LinearBlocks(_ForAnswers, Op):
    """y = x w^T + b, w in blocks of 4 or 8 bits, x rounded to 8 bits in parts of 32;   dx = dy w.

    x (..., size) of any float, w uint8 (N, bytes of a row) in the format `form`, b (N,) or None -> (..., N) in x's dtype.
    w and b get no gradient; dx is that of the product without the rounding of x, made of dy and w rounded to bfloat16.
    (`kernels/reference/blocks.py`)
    """

    flops = flops_of_products(0, 1, lambda inputs: inputs[0].shape[-1])

    @staticmethod
    def forward(save: Any, x: np.ndarray, w: np.ndarray, b: np.ndarray | None, form: str, size: int) -> np.ndarray:
        _check(x, size, f"({len(w)}, {size}) in {form}")
        save.w, save.form, save.size = w, form, size
        if x.dtype is _FLOAT32:
            return kernels.of(x).linear_blocks(x, w, b, form)
        b = None if b is None else b.astype(_FLOAT32)
        return kernels.of(w).linear_blocks(x.astype(_FLOAT32), w, b, form).astype(x.dtype)

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> tuple:
        return kernels.of(dy).linear_blocks_backward(dy, saved.w, saved.form, saved.size), None, None


class EmbeddingBlocks(_ForAnswers, Op):
    """y[..., :] = the numbers of row ids[...] of w, which is in blocks of 4 or 8 bits; no gradient.

    w uint8 (V, bytes of a row) in the format `form`, ids int (...) -> float32 (..., size).
    """

    @staticmethod
    def forward(save: Any, w: np.ndarray, ids: np.ndarray, form: str, size: int) -> np.ndarray:
        check_ids(w, ids)
        return kernels.active().embedding_blocks(w, ids, form, size)
