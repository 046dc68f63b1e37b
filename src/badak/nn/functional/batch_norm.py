"""Normalisation over the batch: of each channel, or of each channel of each image."""

import math

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, ArgumentTypeError, ShapeError, tr
from badak.nn.functional._common import tensor
from badak.nn.functional.norm import group_norm, layer_norm
from badak.tensor import Tensor, bfloat16, float16
from badak.tensor.convert import as_images

__all__ = ["batch_norm", "instance_norm"]

HALVES = (float16, bfloat16)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05) -> Tensor:
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
    given = tensor(input, "batch_norm")
    x = given.contiguous()
    if x.dim() < 2:
        raise ShapeError(tr("batch_norm: expected input (N, C, ...); got {}", tuple(x.shape)), "x.unsqueeze(0)")
    dtype, x = x.dtype, _check(x, "batch_norm", running_mean, running_var, weight, bias)
    C = x.shape[1]
    channels = (C, *(1,) * (x.dim() - 2))
    if training:
        if eps <= 0:
            raise ArgumentError(tr("batch_norm eps must be positive during training, but got {}", eps), "eps=1e-5")
        rows = x.transpose(0, 1).reshape(C, x.numel() // max(C, 1))  # (C, M)
        if rows.shape[1] == 1:
            raise ArgumentError(
                tr("Expected more than 1 value per channel when training, got input size {}", list(x.shape)),
                "a larger batch, or model.eval()",
            )
        if running_mean is not None and rows.shape[1]:  # nothing moves towards the statistics of nothing
            with no_grad():
                _move(running_mean, rows.mean(1), momentum)
                _move(running_var, rows.var(1), momentum)
        y = layer_norm(rows, rows.shape[1:], eps=eps)
        y = y.reshape(C, x.shape[0], *x.shape[2:]).transpose(0, 1).contiguous()
    else:
        if running_mean is None:
            raise ArgumentError("Expected running_mean and running_var to be defined when training=False", "training=True")
        y = (x - running_mean.reshape(channels)) * (running_var + eps).rsqrt().reshape(channels)
    if weight is not None:
        y = y * weight.reshape(channels)
    y = y if bias is None else y + bias.reshape(channels)
    return as_images(y.to(dtype) if dtype in HALVES else y, given)


def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05
) -> Tensor:
    """As batch_norm for each x[n, c] by itself, over the positions alone. Ulyanov et al. 2016."""
    x = tensor(input, "instance_norm")
    if not use_input_stats:
        return batch_norm(x, running_mean, running_var, weight, bias, False, momentum, eps)
    N, C = x.shape[:2]
    M = math.prod(x.shape[2:])
    if M == 1:
        raise ArgumentError(tr("Expected more than 1 spatial element when training, got input size {}", list(x.shape)), None)
    dtype, x = x.dtype, _check(x, "instance_norm", running_mean, running_var, weight, bias)
    if running_mean is not None and x.numel():
        with no_grad():
            rows = x.reshape(N, C, M)
            _move(running_mean, rows.mean(2).mean(0), momentum)
            _move(running_var, rows.var(2).mean(0), momentum)
    y = group_norm(x.contiguous(), C, weight, bias, eps)
    return y.to(dtype) if dtype in HALVES else y


def _check(x: Tensor, where: str, running_mean, running_var, weight, bias) -> Tensor:
    """x, in float32 where it has 16 bits. Raises before anything moves: an error leaves the statistics as they were."""
    if not x.is_floating_point():
        raise ArgumentTypeError(tr("{}: expected floats; got {}", where, x.dtype), "x.float()")
    if (running_mean is None) != (running_var is None):
        raise ArgumentError(
            "running_mean and running_var must either both be None or neither be None", "both of them, or None for both"
        )
    parts = ("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)
    for name, part in parts:
        if part is not None and part.numel() != x.shape[1]:
            raise ShapeError(
                tr(
                    "{}: {} should contain {} elements not {}: x has {} channels", where, name, x.shape[1], part.numel(), x.shape[1]
                ),
                tr("{} of shape ({},), or x of shape (N, {}, ...)", name, x.shape[1], part.numel()),
            )
    return x.float() if x.dtype in HALVES else x


def _move(running: Tensor, new: Tensor, momentum: float) -> None:
    running.mul_(1 - momentum).add_(new, alpha=momentum)
