"""Normalisation over the batch: of each channel, or of each channel of each image."""

from badak.autograd import no_grad
from badak.errors import ArgumentError, ShapeError
from badak.nn.functional._common import tensor
from badak.nn.functional.norm import group_norm, layer_norm
from badak.tensor import Tensor


def batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
) -> Tensor:
    """y = weight (x - mean) / sqrt(var + eps) + bias for each channel of x (N, C, ...), over all else.

    training: mean and (biased) var are those of x, and running_mean, running_var move towards them (the variance unbiased)
    by `momentum`; otherwise they are running_mean and running_var. Ioffe, Szegedy 2015.
    """
    x = tensor(input, "batch_norm").contiguous()
    if x.dim() < 2:
        raise ShapeError(f"batch_norm: expected input (N, C, ...); got {tuple(x.shape)}", "x.unsqueeze(0)")
    C = x.shape[1]
    channels = (C, *(1,) * (x.dim() - 2))
    if training:
        rows = x.transpose(0, 1).reshape(C, x.numel() // max(C, 1))  # (C, M)
        if rows.shape[1] == 1:
            raise ArgumentError(
                f"Expected more than 1 value per channel when training, got input size {list(x.shape)}",
                "a larger batch, or model.eval()",
            )
        _move(running_mean, running_var, rows, momentum)
        y = layer_norm(rows, rows.shape[1:], eps=eps)
        y = y.reshape(C, x.shape[0], *x.shape[2:]).transpose(0, 1).contiguous()
    else:
        if running_mean is None or running_var is None:
            raise ArgumentError("Expected running_mean and running_var to be defined when training=False", "training=True")
        y = (x - running_mean.reshape(channels)) * (running_var + eps).rsqrt().reshape(channels)
    if weight is not None:
        y = y * weight.reshape(channels)
    return y if bias is None else y + bias.reshape(channels)


def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05
) -> Tensor:
    """As batch_norm for each x[n, c] by itself, over the positions alone. Ulyanov et al. 2016."""
    x = tensor(input, "instance_norm")
    if not use_input_stats:
        return batch_norm(x, running_mean, running_var, weight, bias, False, momentum, eps)
    N, C = x.shape[:2]
    if x.numel() == N * C:
        raise ArgumentError(f"Expected more than 1 spatial element when training, got input size {list(x.shape)}", None)
    if running_mean is not None:
        with no_grad():
            rows = x.reshape(N, C, -1)
            running_mean.mul_(1 - momentum).add_(rows.mean(2).mean(0), alpha=momentum)
            running_var.mul_(1 - momentum).add_(rows.var(2).mean(0), alpha=momentum)
    return group_norm(x, C, weight, bias, eps)


def _move(running_mean: Tensor | None, running_var: Tensor | None, rows: Tensor, momentum: float) -> None:
    with no_grad():
        if running_mean is not None:
            running_mean.mul_(1 - momentum).add_(rows.mean(1), alpha=momentum)
        if running_var is not None:
            running_var.mul_(1 - momentum).add_(rows.var(1), alpha=momentum)
