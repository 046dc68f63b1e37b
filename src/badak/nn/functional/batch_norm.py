"""Normalisation over the batch: of each channel, or of each channel of each image."""

import math
from typing import Any

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, ArgumentTypeError, ShapeError, tr
from badak.nn.functional._common import tensor
from badak.ops._check import dtype_mismatch
from badak.ops.norm import BatchMoments, BatchNorm, check_channels
from badak.tensor import Tensor, apply, bfloat16, float16, float32

__all__ = ["batch_norm", "instance_norm"]

HALVES = (float16, bfloat16)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """y = weight (x - mean) / sqrt(var + eps) + bias for each channel of x (N, C, ...), over all else.

    training: mean and (biased) var are those of x, and running_mean, running_var move towards them (the variance unbiased)
    by `momentum`; otherwise they are running_mean and running_var. Ioffe, Szegedy 2015.

    Args:
        input: (N, C, ...)
        running_mean, running_var: (C,), moved in training, used in evaluation
        weight, bias: (C,) or None
        training: use mean and variance of the batch
        momentum: weight of the batch in the running values
        eps: added to the variance

    Returns: tensor of input's shape

    Example:
        >>> F.batch_norm(badak.ones(2, 1), badak.zeros(1), badak.ones(1), eps=0.0).tolist()
        [[1.0], [1.0]]
    """
    return _normed(input, running_mean, running_var, weight, bias, training, momentum, eps)[0]


def _normed(input, running_mean, running_var, weight, bias, training, momentum, eps) -> tuple[Tensor, Tensor, Tensor]:
    """(y, mean, var): the mean and the biased variance by which y was normalised."""
    x = tensor(input, "batch_norm")
    if x.dim() < 2:
        raise ShapeError(tr("batch_norm: expected input (N, C, ...); got {}", tuple(x.shape)), "x.unsqueeze(0)")
    _check(x, "batch_norm", running_mean, running_var, weight, bias)
    if not training:
        if running_mean is None:
            raise ArgumentError("Expected running_mean and running_var to be defined when training=False", "training=True")
        return _apply(x, weight, bias, running_mean, running_var, eps, False), running_mean, running_var
    if eps <= 0:
        raise ArgumentError(tr("batch_norm eps must be positive during training, but got {}", eps), "eps=1e-5")
    count = x.numel() // max(x.shape[1], 1)
    if count == 1:
        cause = tr("Expected more than 1 value per channel when training, got input size {}", list(x.shape))
        raise ArgumentError(cause, "a larger batch, or model.eval()")
    with no_grad():
        mean, var, unbiased = _moments(x)
        if running_mean is not None and count:  # nothing moves towards the statistics of nothing
            _move(running_mean, mean, momentum)
            _move(running_var, unbiased, momentum)
    return _apply(x, weight, bias, mean, var, eps, True), mean, var


def _moments(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return apply(BatchMoments, x.float() if x.dtype is float16 else x)


def _move(running: Any, new: Tensor, momentum: float) -> None:
    """Move what is remembered towards that of a batch."""
    kind = running.dtype
    running.lerp_(new if new.dtype is kind else new.to(kind), momentum)


def _apply(x: Tensor, weight, bias, mean: Tensor, var: Tensor, eps: float, moving: bool) -> Tensor:
    if x.dtype is float16:
        wide = [None if p is None else p.float() for p in (x, weight, bias, mean, var)]
        return apply(BatchNorm, *wide, eps=eps, moving=moving).to(float16)
    return apply(BatchNorm, x, weight, bias, mean, var, eps=eps, moving=moving)


def instance_norm(
    input: Tensor,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """As batch_norm for each x[n, c] by itself, over the positions alone. Ulyanov et al. 2016."""
    x = tensor(input, "instance_norm")
    if not use_input_stats:
        return batch_norm(x, running_mean, running_var, weight, bias, False, momentum, eps)
    N, C = x.shape[:2]
    M = math.prod(x.shape[2:])
    if M == 1:
        raise ArgumentError(tr("Expected more than 1 spatial element when training, got input size {}", list(x.shape)), None)
    _check(x, "instance_norm", running_mean, running_var, weight, bias)
    channels = x.contiguous().view(1, N * C, *x.shape[2:])  # each of each image is one of a batch of one
    with no_grad():
        mean, var, unbiased = _moments(channels)
        if running_mean is not None and x.numel():
            _move(running_mean, mean.view(N, C).mean(0), momentum)
            _move(running_var, unbiased.view(N, C).mean(0), momentum)
    wide = x.dtype is float16  # so that the gradients of all images are added up in float32
    each_weight, each_bias = (None if p is None else (p.float() if wide else p).repeat(N) for p in (weight, bias))
    return _apply(channels, each_weight, each_bias, mean, var, eps, True).view(x.shape)


def _check(x: Tensor, where: str, running_mean, running_var, weight, bias) -> None:
    """Raises before anything moves: an error leaves the statistics as they were."""
    if not x.is_floating_point():
        raise ArgumentTypeError(tr("{}: expected floats; got {}", where, x.dtype), "x.float()")
    if (running_mean is None) != (running_var is None):
        cause = tr("running_mean and running_var must either both be None or neither be None")
        raise ArgumentError(cause, "both of them, or None for both")
    parts = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    check_channels(where, x, **parts)
    kinds = {part.dtype for part in parts.values() if part is not None}
    if kinds - {x.dtype} and not (x.dtype in HALVES and kinds == {float32}):  # PyTorch takes float32 parameters next to them
        raise dtype_mismatch(where, tr("mixed dtype (CPU): all inputs must share same datatype"), input=x, **parts)
