"""Turned, cut and put together: rot90, hsplit, block_diag; matrices of sums of products."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ShapeError, expect_kind, tr
from badak.ops._check import axis_of, expect_floats
from badak.tensor.concat import cat
from badak.tensor.create import zeros
from badak.tensor.elementwise import clip, where
from badak.tensor.linalg.norms import vector_norm
from badak.tensor.promote import floating, into, promote_types, result_type
from badak.tensor.rearrange import flip
from badak.tensor.shape import tensor_split, transpose
from badak.tensor.tensor import Tensor
from badak.tensor.upcast import in_float32


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """The plane of these dims turned k times by 90 degrees, from the first dim towards the second."""
    if len(dims) != 2:
        raise ArgumentError(tr("expected total rotation dims == 2, but got dims = {}", len(dims)), "dims=(0, 1)")
    if input.dim() < 2:
        raise ShapeError(tr("expected total dims >= 2, but got total dims = {}", input.dim()), "x[None]")
    a, b = (axis_of(d, input.dim()) for d in dims)
    if a == b:
        cause = tr("expected rotation dims to be different, but got dim0 = {} and dim1 = {}", dims[0], dims[1])
        raise ArgumentError(cause, "dims=(0, 1)")
    k %= 4
    if k == 2:
        return flip(input, a, b)
    if k == 0:
        return input.clone().contiguous()
    return transpose(flip(input, b if k == 1 else a), a, b)


def hsplit(input: Tensor, indices_or_sections: int | Sequence[int] | Tensor) -> tuple[Tensor, ...]:
    """tensor_split along columns: dim 1, or dim 0 of a vector."""
    return _split("hsplit", input, indices_or_sections, 0 if input.dim() == 1 else 1, 1)


def vsplit(input: Tensor, indices_or_sections: int | Sequence[int] | Tensor) -> tuple[Tensor, ...]:
    """tensor_split along rows."""
    return _split("vsplit", input, indices_or_sections, 0, 2)


def dsplit(input: Tensor, indices_or_sections: int | Sequence[int] | Tensor) -> tuple[Tensor, ...]:
    """tensor_split along dim 2."""
    return _split("dsplit", input, indices_or_sections, 2, 3)


def _split(name: str, x, parts, dim: int, least: int):
    if x.dim() < least:
        raise ShapeError(
            tr("torch.{} requires a tensor with at least {} dimension, but got a tensor with {} dimensions!", name, least, x.dim()),
            "x[None]",
        )
    if isinstance(parts, int) and (parts < 1 or x.size(dim) % parts):
        cause = tr("torch.{} attempted to split along dimension {}, but the size of the dimension {} is not divisible "
                   "by the split_size {}!", name, dim, x.size(dim), parts)  # fmt: skip
        raise ArgumentError(cause, tr("tensor_split(x, {}, {}) makes parts of two sizes", max(parts, 1), dim))
    return tensor_split(x, parts, dim)


def block_diag(*tensors: Any) -> Tensor:
    """Matrices along the diagonal, zeros elsewhere; vectors are rows, numbers 1 by 1."""
    if not tensors:
        return zeros(1, 0)
    for x in tensors:
        expect_kind(x, Tensor, "block_diag: expected tensors; got {}", "badak.tensor(values)")
        if x.dim() > 2:
            cause = tr("block_diag: Input tensors must have 2 or fewer dimensions; got {}", x.dim())
            raise ShapeError(cause, "one matrix after the other")
    dtype = result_type(*tensors) if len(tensors) > 1 else tensors[0].dtype
    for x in tensors[2:]:
        dtype = result_type(zeros(1, dtype=dtype), x)
    blocks = [x.to(dtype) if x.dim() == 2 else x.to(dtype).reshape(1, -1) for x in tensors]
    width, before, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        left, right = (zeros(x.shape[0], before, dtype=dtype), zeros(x.shape[0], width - before - x.shape[1], dtype=dtype))
        rows.append(cat([left, x, right], 1))
        before += x.shape[1]
    return cat(rows, 0)


@events.pure
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> Any:
    """The coordinates of flat positions in a tensor of this shape: one int64 tensor for each dim."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    flat = indices._array
    if flat.dtype.kind not in "iu":
        raise ArgumentError(tr("expected 'indices' to be integer dtype, but got {}", indices.dtype), "indices.long()")
    if flat.size and (flat.min() < 0 or flat.max() >= np.prod(shape)):
        raise ArgumentError(tr("unravel_index: an index lies outside of shape {}", shape), "indices of that shape")
    return tuple(Tensor._of(np.asarray(i, np.int64)) for i in np.unravel_index(flat, shape))


@in_float32
def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance of variables (rows) over observations (columns): sum_n w_n (x_n - m)(x_n - m)' / (sum w - correction).

    fweights: how often each observation counts; aweights: how much. With both, w = fweights aweights, and the divisor is
    sum w - correction sum(w aweights) / sum w.
    """
    if input.dim() > 2:
        cause = tr("cov(): expected input to have two or fewer dimensions but got an input with {} dimensions", input.dim())
        raise ShapeError(cause, None)
    expect_floats("cov", input, also="iu")
    x = floating(input, "cov")
    x = x.reshape(1, -1) if x.dim() < 2 else x
    for name, w in (("fweights", fweights), ("aweights", aweights)):
        if w is not None and (w.dim() > 1 or w.numel() != x.shape[1]):
            cause = tr("cov(): expected {} to have one weight for each of {} observations; got {}", name, x.shape[1], list(w.shape))
            raise ShapeError(cause, None)
    if fweights is not None and fweights._array.dtype.kind not in "iu":
        cause = tr("cov(): expected fweights to have integral dtype but got {}", fweights.dtype)
        raise ArgumentError(cause, "fweights.long(), or aweights")
    _not_negative(fweights, aweights)
    x = x if aweights is None else x.to(promote_types(x.dtype, aweights.dtype))
    weights = [w.to(x.dtype.to_real()) for w in (fweights, aweights) if w is not None]
    w = weights[0] if len(weights) == 1 else weights[0] * weights[1] if weights else None
    if w is None:
        total, mean = x.shape[1], x.mean(1, keepdim=True)
        norm = max(total - correction, 0)
    else:
        total = w.sum()
        mean = (x * w).sum(1, keepdim=True) / total
        lost = correction if aweights is None else correction * (w * weights[-1]).sum() / total
        norm = (total - lost).clamp(min=0)
    x = x - mean
    y = (x if w is None else x * w) @ x.mH / norm
    return y.squeeze()


@events.check
def _not_negative(*weights) -> None:
    for name, w in zip(("fweights", "aweights"), weights):
        if w is not None and w._array.size and w._array.min() < 0:
            raise ArgumentError(tr("cov(): {} cannot be negative", name), "weights >= 0")


@in_float32
def corrcoef(input: Tensor) -> Tensor:
    """The correlation of variables: cov over the product of standard deviations, in [-1, 1]."""
    if input.dim() > 2:
        cause = tr("corrcoef(): expected input to have two or fewer dimensions but got an input with {} dimensions", input.dim())
        raise ShapeError(cause, None)
    c = cov(input)
    if not c.dim():
        return c / c
    d = (c.diagonal().real if c.is_complex() else c.diagonal()).sqrt()
    c = c / d.unsqueeze(1) / d.unsqueeze(0)
    return c if c.is_complex() else clip(c, -1, 1)


@in_float32
def renorm(input: Tensor, p: float, dim: int, maxnorm: float, *, out: Tensor | None = None) -> Tensor:
    """Each slice along dim whose p-norm is above maxnorm scaled down to it."""
    if not p > 0 or not maxnorm >= 0 or input.dim() < 2:
        raise ArgumentError(
            tr("renorm: expected p > 0, maxnorm >= 0 and at least 2 dims; got p={}, maxnorm={}, {} dims", p, maxnorm, input.dim()),
            "p=2",
        )
    dim = axis_of(dim, input.dim())
    norms = vector_norm(input, p, [d for d in range(input.dim()) if d != dim], keepdim=True)
    return into(out, (input * where(norms > maxnorm, maxnorm / (norms + 1e-7), norms.new_ones(()))).contiguous(), exact=True)
