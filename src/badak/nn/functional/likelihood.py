"""Losses that are negative log-likelihoods of numbers and counts, and margins between classes."""

import math
from collections.abc import Callable
from typing import Any

from badak.autograd import no_grad
from badak.core import events
from badak.core.errors import ArgumentError, ShapeError, tr
from badak.nn.functional._common import float_tensor, reduction_of, tensor
from badak.nn.functional.activation import logsigmoid, relu
from badak.nn.functional.linear import linear
from badak.nn.functional.loss import _need_equal_dims, _need_reduction, _reduced, cross_entropy, pairwise_distance
from badak.tensor import Tensor, triu_indices
from badak.tensor.linalg import vector_norm
from badak.tensor.upcast import in_float32

__all__ = [
    "gaussian_nll_loss", "linear_cross_entropy", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "pdist", "poisson_nll_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip


@in_float32
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """(ln v + (x - target)^2 / v) / 2, v = max(var, eps); full adds ln(2 pi) / 2.

    var: a number, or a tensor of x's shape, of x's shape with a last axis of 1, or without the last axis. What max does to var
    leaves its gradient as it is.
    """
    x = tensor(input, "gaussian_nll_loss")
    v = x.new_full(x.shape, var) if isinstance(var, int | float) else tensor(var, "gaussian_nll_loss", "var")
    _not_below_zero(v)
    if v.shape != x.shape:
        differ = sum(n for m, n in zip(x.shape, v.shape) if m != n)
        if x.shape[:-1] == v.shape:
            v = v.unsqueeze(-1)
        elif x.dim() != v.dim() or differ != 1:
            cause = tr("gaussian_nll_loss: var is of incorrect size: {} for input {}", tuple(v.shape), tuple(x.shape))
            raise ShapeError(cause, "var of input's shape")
    v = v.clone()
    with no_grad():
        v.clamp_(min=eps)
    loss = 0.5 * (v.log() + (x - target) ** 2 / v)
    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction, "gaussian_nll_loss")


@events.check(elementwise=True)
def _not_below_zero(v: Tensor) -> None:
    if v._array.size and v._array.min() < 0:
        raise ArgumentError("gaussian_nll_loss: var has negative entry/entries", "var.exp() of what a layer predicts")


@in_float32
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """exp(x) - target x, x the logarithm of the rate; without log_input x - target ln(x + eps).

    full adds Stirling's target ln target - target + ln(2 pi target) / 2 where target > 1.
    """
    reduction, x = reduction_of(size_average, reduce, reduction), tensor(input, "poisson_nll_loss")
    target = tensor(target, "poisson_nll_loss", "target")
    loss = x.exp() - target * x if log_input else x - target * (x + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return _reduced(loss, reduction, "poisson_nll_loss")


@in_float32
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of -(target ln sigmoid(x) + (1 - target) ln sigmoid(-x))."""
    reduction, x = reduction_of(size_average, reduce, reduction), tensor(input, "multilabel_soft_margin_loss")
    if not isinstance(target, int | float):
        tensor(target, "multilabel_soft_margin_loss", "target")
    loss = -(target * logsigmoid(x) + (1 - target) * logsigmoid(-x))
    loss = loss if weight is None else loss * weight
    return _reduced(loss.sum(x.dim() - 1) / x.size(-1), reduction, "multilabel_soft_margin_loss")


def _need_classes(x: Tensor) -> None:
    """Raise ShapeError where x is not (N, V), (V,) or a number, with V of 1 or more."""
    if x.dim() > 2 or x.dim() and not x.shape[-1]:
        cause = tr("Expected non-empty vector or matrix with optional 0-dim batch size, but got: {}", list(x.shape))
        raise ShapeError(cause, "x (N, V) or (V,), with a number for each class")


@in_float32
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: float = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes k other than t = target of max(0, margin - x_t + x_k)^p, times weight_t; x (N, V) or (V,)."""
    reduction, x = reduction_of(size_average, reduce, reduction), float_tensor(input, "multi_margin_loss")
    x = x if x.dim() else x.reshape(1)
    if p not in (1, 2):
        raise ArgumentError(tr("multi_margin_loss: only p == 1 and p == 2 supported; got {}", p), "p=1")
    _need_classes(x)
    if target.dim() > 1 or target.numel() != math.prod(x.shape[:-1]):
        cause = tr("multi_margin_loss: expected x (N, V) and target (N,); got {} and {}", tuple(x.shape), tuple(target.shape))
        raise ShapeError(cause, None)
    _need_reduction(reduction, "multi_margin_loss")
    if weight is not None and weight.dim() != 1:
        raise ShapeError(tr("multi_margin_loss: weight must be one-dimensional; got {}", tuple(weight.shape)), "one for each class")
    at = target.reshape(x.shape[:-1]).unsqueeze(-1)
    loss = relu(margin - x.gather(-1, at) + x)
    loss = loss if p == 1 else loss * loss
    loss = loss if weight is None else loss * weight[at]
    loss = loss.scatter(-1, at, 0.0).sum(-1) / x.size(-1)
    return _reduced(loss.reshape(target.shape), reduction, "multi_margin_loss")


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """triplet_margin_loss with a distance of one's own; pairwise_distance unless given."""
    if not margin > 0:
        raise ArgumentError(tr("triplet_margin_with_distance_loss: margin must be greater than 0, got {}", margin), "margin=1.0")
    _need_equal_dims("triplet_margin_with_distance_loss", anchor=anchor, positive=positive, negative=negative)
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    far = far.minimum(distance(positive, negative)) if swap else far
    return _reduced((margin + near - far).clamp(min=0), reduction, "triplet_margin_with_distance_loss")


@in_float32
def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """The sum over labels j and over classes i that are none of max(0, 1 - x_j + x_i), / V; x (N, V) or (V,).

    target, of x's shape: the labels of each row, those before its first negative number.
    """
    reduction, x = reduction_of(size_average, reduce, reduction), tensor(input, "multilabel_margin_loss")
    _need_reduction(reduction, "multilabel_margin_loss")
    _need_classes(x)
    if target.shape != x.shape and not (target.dim() < 2 and x.dim() < 2 and target.numel() == x.numel() == 1):
        cause = tr("multilabel_margin_loss: expected x (N, V) and target of the same shape; got {} and {}", tuple(x.shape),
                   tuple(target.shape))  # fmt: skip
        raise ShapeError(cause, "labels first, then -1 up to V numbers")
    shape = x.shape[:-1]
    x, target = x.reshape(-1, x.shape[-1] if x.dim() else 1), target.reshape(-1, x.shape[-1] if x.dim() else 1)
    counts = (target >= 0).to(x.dtype).cumprod(-1).detach()
    at = target * counts.to(target.dtype)
    labels = x.new_zeros(x.shape).scatter_add(-1, at, counts) > 0
    gaps = relu(1 - x.gather(-1, at).unsqueeze(-1) + x.unsqueeze(-2)) * counts.unsqueeze(-1)
    loss = gaps.masked_fill(labels.unsqueeze(-2), 0).sum((-2, -1)) / x.shape[-1]
    return _reduced(loss.reshape(shape), reduction, "multilabel_margin_loss")


@in_float32
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-distances of all pairs i < j of the rows of x (N, C), in one row, in the order of i, then of j."""
    x = tensor(input, "pdist")
    if x.dim() != 2:
        raise ShapeError(tr("pdist only supports 2D tensors, got: {}D", x.dim()), "x (N, C)")
    if not p >= 0:
        raise ArgumentError("pdist only supports non-negative p values", "p=2.0")
    pairs = triu_indices(x.shape[0], x.shape[0], 1)
    if not x.shape[1]:
        return (x * 0).sum() * x.new_zeros(pairs.shape[1])
    return vector_norm(x[pairs[0]] - x[pairs[1]], p, -1)


@in_float32
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """cross_entropy(linear(x, W, b), target): x (..., K), W (V, K) or (V, d1, ..., K) for several losses of each x.

    `options`, how PyTorch cuts the work, changes nothing here: logits are made as a whole.
    """
    x, w = tensor(input, "linear_cross_entropy"), tensor(linear_weight, "linear_cross_entropy", "linear_weight")
    if x.dim() == 1 and w.dim() > 2:
        cause = tr("K-dimensional loss defined by linear_weight shape {} requires batched input, (N, "
                   "{}), got unbatched input with shape {}", tuple(w.shape), w.shape[-1], tuple(x.shape))  # fmt: skip
        raise ShapeError(cause, "input[None] and target[None]")
    classes, *inner = w.shape[:-1]
    logits = linear(x, w.reshape(-1, w.shape[-1]), None if linear_bias is None else linear_bias.reshape(-1))
    logits = logits.reshape(*x.shape[:-1], classes, *inner) if inner else logits
    at = -100 if ignore_index is None else ignore_index
    return cross_entropy(logits, target, weight, ignore_index=at, reduction=reduction, label_smoothing=label_smoothing)
