"""Functions with an underscore in PyTorch's own names that programs, and what its compilers write, call all the same."""

import math
from typing import Any

from badak.core.errors import ArgumentError, DTypeError, ShapeError, tr
from badak.core.public_api import guard_names as _guard_names
from badak.ops._check import axis_of
from badak.ops.activation import GELU
from badak.tensor.apply import apply
from badak.tensor.arithmetic import add
from badak.tensor.concat import cat
from badak.tensor.elementwise import masked_fill, relu, softmax
from badak.tensor.getset import getitem
from badak.tensor.index import index_put
from badak.tensor.linalg.products import addmm
from badak.tensor.tensor import Tensor

__all__ = [
    "_add_relu", "_addmm_activation", "_chunk_cat", "_masked_softmax", "_unsafe_index", "_unsafe_index_put", "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate",
]  # fmt: skip


def _add_relu(input, other, *, alpha=1) -> Tensor:
    """max(x + alpha other, 0)."""
    return relu(add(input, other, alpha=alpha))


def _addmm_activation(input, mat1, mat2, *, beta=1, alpha=1, use_gelu: bool = False) -> Tensor:
    """relu, or gelu, of addmm."""
    y = addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    return apply(GELU, y) if use_gelu else relu(y)


def _masked_softmax(input, mask, dim=None, mask_type=None) -> Tensor:
    """softmax along dim (the last) where mask is False; NaN where nothing is left.

    mask_type: 0 (T, S), 1 (B, S) of an input (B, H, T, S), 2 as the input; a mask of the input's shape is taken as it is.
    """
    if mask.dtype.word != "Bool":
        raise DTypeError(tr("_masked_softmax: Mask should be a boolean tensor; got {}", mask.dtype), "mask.bool()")
    if mask_type not in (None, 0, 1, 2):
        cause = tr("_masked_softmax: Mask Type should be 0 (src_mask), 1 (src_key_padding_mask), or 2; got {}", mask_type)
        raise ArgumentError(cause)
    if mask.shape != input.shape:
        fits = {0: 2 * tuple(input.shape[-1:]), 1: (input.shape[0], input.shape[-1])}.get(mask_type)
        if input.ndim != 4 or tuple(mask.shape) != fits:
            cause = tr(
                "_masked_softmax: a mask {} of type {} does not fit an input {}", tuple(mask.shape), mask_type, tuple(input.shape)
            )
            raise ShapeError(cause, "a mask of the input's shape")
        mask = mask[:, None, None, :] if mask_type == 1 else mask
    return softmax(masked_fill(input, mask, -math.inf), -1 if dim is None else dim)


def _unsafe_index(input, indices) -> Tensor:
    """x[indices], None taking a dim as a whole."""
    return getitem(input, _key(indices))


def _unsafe_index_put(input, indices, values, accumulate: bool = False) -> Tensor:
    """x with values at x[indices]."""
    return index_put(input, tuple(indices), values, accumulate)


def _unsafe_masked_index(input, mask, indices, fill) -> Tensor:
    """x[indices] where mask is True, fill elsewhere, whose indices may lie outside."""
    return masked_fill(getitem(input, _key(_within(input, indices))), ~mask.bool(), fill)


def _unsafe_masked_index_put_accumulate(input, mask, indices, values) -> Tensor:
    """x with values added at x[indices] where mask is True; elsewhere indices may lie outside."""
    return index_put(input, tuple(_within(input, indices)), masked_fill(values, ~mask.bool(), 0), True)


def _key(indices: Any) -> tuple:
    return tuple(slice(None) if index is None else index for index in indices)


def _within(x: Tensor, indices: Any) -> list:
    return [None if index is None else index.clamp(-n, n - 1) for n, index in zip(x.shape, indices)]


def _chunk_cat(tensors, dim: int, num_chunks: int, *, out=None) -> Tensor:
    """The tensors side by side, each as num_chunks rows: its entries from dim on in one, zeros at the end of its last chunk."""
    made, dim = [], axis_of(dim, tensors[0].ndim)
    for x in tensors:
        size = x.shape[dim]
        long = -(-size // num_chunks)
        missing = [*x.shape]
        missing[dim] = long * num_chunks - size
        padded = cat([x, x.new_zeros(missing)], dim)
        made.append(padded.reshape(*x.shape[:dim], num_chunks, -1))
    return cat(made, dim + 1) if out is None else out.copy_(cat(made, dim + 1))


_guard_names(globals(), "badak")
