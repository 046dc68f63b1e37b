"""Layers of which one does the work of two, and layers without first values."""

import copy
from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Tensor, channels_last, channels_last_3d, zeros_like


def _factors(scale: Any, var: Tensor, eps: float) -> Tensor:
    root = (var + eps).rsqrt()
    return root if scale is None else scale * root


def _fused(bias: Any, mean: Tensor, var: Tensor, factors: Tensor, shift: Any) -> Tensor:
    begin = zeros_like(mean) if bias is None else bias
    y = (begin - mean) * factors
    return y if shift is None else y + shift


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple:
    """(weight, bias) of a convolution that does what a convolution followed by a batch norm in evaluation does.

    w' = w g, b' = (b - mean) g + shift, g = scale / sqrt(var + eps), one g for each output channel.
    """
    factors = _factors(bn_w, bn_rv, bn_eps)
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * factors.reshape(shape + [1] * (conv_w.dim() - 2))
    bias = _fused(conv_b, bn_rm, bn_rv, factors, bn_b)
    return Parameter(weight.detach(), conv_w.requires_grad), Parameter(
        bias.detach(), conv_w.requires_grad if conv_b is None else conv_b.requires_grad
    )


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of the convolution that does the work of the batch norm behind it, too; both in evaluation."""
    _in_evaluation(conv, bn)
    made = copy.deepcopy(conv)
    made.weight, made.bias = fuse_conv_bn_weights(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return made


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor, bn_b: Tensor
) -> tuple:
    """As fuse_conv_bn_weights, of a linear layer."""
    factors = _factors(bn_w, bn_rv, bn_eps)
    bias = _fused(linear_b, bn_rm, bn_rv, factors, bn_b)
    return Parameter((linear_w * factors.unsqueeze(-1)).detach(), linear_w.requires_grad), Parameter(
        bias.detach(), linear_w.requires_grad if linear_b is None else linear_b.requires_grad
    )


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of the linear layer that does the work of the batch norm behind it, too; both in evaluation."""
    _in_evaluation(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        cause = tr("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
        raise ArgumentError(cause, "the BatchNorm1d that follows this layer")
    made = copy.deepcopy(linear)
    made.weight, made.bias = fuse_linear_bn_weights(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return made


def _in_evaluation(first: Module, bn: Any) -> None:
    if first.training or bn.training:
        raise ArgumentError("Fusion only for eval!", "model.eval() first")
    if bn.running_mean is None or bn.running_var is None:
        raise ArgumentError("Only support fusing a batch norm that has running statistics", "track_running_stats=True")


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """A module whose parameters hold what memory held: made on the meta device, then given memory. device: where at last."""
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise ArgumentError(tr("Expected a Module; got {}", module_cls), "skip_init(nn.Linear, 4, 8)")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)


def convert_conv2d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Let the weights of all Conv2d and ConvTranspose2d lie in memory as `memory_format` says."""
    return _laid(module, memory_format, 2, channels_last)


def convert_conv3d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Let the weights of all Conv3d and ConvTranspose3d lie in memory as `memory_format` says."""
    return _laid(module, memory_format, 3, channels_last_3d)


def _laid(module: Module, memory_format, axes: int, only) -> Module:
    for part in module.modules():
        if getattr(part, "axes", 0) == axes and hasattr(part, "kernel_size"):
            part.weight.data = part.weight.detach().clone().contiguous(memory_format=memory_format)
    return module
