"""Normalisation."""

import operator
from collections.abc import Sequence

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.nn.functional._common import real_tensor, tensor
from badak.ops._check import not_floating
from badak.ops.norm import GroupNorm, LayerNorm, RMSNorm
from badak.tensor import Tensor, apply, bfloat16, finfo, float16, float32
from badak.tensor.convert import as_images
from badak.tensor.inplace import write_
from badak.tensor.upcast import in_float32

__all__ = ["group_norm", "layer_norm", "normalize", "rms_norm"]


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """y = weight (x - mean) / sqrt(var + eps) + bias over the last axes, whose sizes are `normalized_shape`.

    The variance is the biased one. Ba, Kiros, Hinton 2016.

    Args:
        input: (..., *normalized_shape)
        normalized_shape: sizes of the last axes
        weight, bias: of shape normalized_shape, or None
        eps: added to the variance

    Returns: tensor of input's shape

    Raises:
        ShapeError: where the input does not end in normalized_shape

    Derivation: docs/explanation/derivations/layer_norm.md

    Example:
        >>> F.layer_norm(badak.tensor([1.0, 3.0]), (2,), eps=0.0).tolist()
        [-1.0, 1.0]
    """
    x = real_tensor(input, "layer_norm")
    if weight is not None and x._array.dtype is not weight._array.dtype and _in_float32_parameters(x, weight, bias):
        return layer_norm(x.float(), normalized_shape, weight, bias, eps).to(x.dtype)
    return apply(LayerNorm, x, weight, bias, eps=eps, axes=_axes("layer_norm", x, normalized_shape))


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """y = weight x / sqrt(mean(x^2) + eps) over the last axes. eps=None is the machine epsilon of x's dtype.

    Zhang, Sennrich 2019.

    Args:
        input: (..., *normalized_shape)
        normalized_shape: sizes of the last axes
        weight: of shape normalized_shape, or None
        eps: added to the mean square; None is the machine epsilon

    Returns: tensor of input's shape

    Example:
        >>> F.rms_norm(badak.tensor([2.0, 2.0]), (2,), eps=0.0).tolist()
        [1.0, 1.0]
    """
    x = tensor(input, "rms_norm")
    if not x.is_floating_point():
        raise not_floating("rms_norm", x)
    eps = finfo(x.dtype).eps if eps is None else float(eps)
    if weight is not None and x.dtype is not weight.dtype:
        if _in_float32_parameters(x, weight, None):
            return rms_norm(x.float(), normalized_shape, weight, eps).to(x.dtype)
        weight = weight if x.dtype is bfloat16 and weight.dtype is float32 else weight.to(x.dtype)
    return apply(RMSNorm, x, weight, eps=eps, axes=_axes("rms_norm", x, normalized_shape))


def _in_float32_parameters(x: Tensor, weight, bias) -> bool:
    """Whether x has 16 bits and the parameters of its norm have 32, as after `model.half()` that spares the norms.

    Where x is bfloat16, the operations of the norms take such parameters as they are.
    """
    parameters = [p for p in (weight, bias) if p is not None]
    return x.dtype is float16 and bool(parameters) and all(p.dtype is float32 for p in parameters)


def _axes(where: str, x: Tensor, normalized_shape) -> int:
    wanted = normalized_shape
    if type(wanted) is not tuple:
        wanted = (wanted,) if isinstance(wanted, int) else tuple(wanted)
    if not wanted or x._array.shape[-len(wanted) :] != wanted:
        cause = tr("{}: Given normalized_shape={}, expected input with shape [*{}], but got input of size {}", where, list(wanted),
                   "".join(f", {n}" for n in wanted), list(x.shape))  # fmt: skip
        raise ShapeError(cause, f"normalized_shape={tuple(x.shape[-len(wanted) :])}" if wanted else "at least one axis")
    return len(wanted)


@in_float32
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Layer norm of each of `num_groups` groups of channels of x (N, C, ...); weight and bias (C,). Wu, He 2018.

    Args:
        input: (N, C, ...)
        num_groups: groups; they divide C
        weight, bias: (C,) or None
        eps: added to the variance

    Returns: tensor of input's shape

    Example:
        >>> tuple(F.group_norm(badak.randn(1, 4, 5), 2).shape)
        (1, 4, 5)
    """
    x = real_tensor(input, "group_norm")
    if operator.index(num_groups) <= 0:
        raise ArgumentError(tr("group_norm: Expected num groups to be greater than 0, got {}", num_groups), "an integer above 0")
    if x.dim() < 2 or x.shape[1] % num_groups:
        cause = tr("group_norm: Expected number of channels in input to be divisible by num_groups; got input={}, num_groups={}",
                   tuple(x.shape), num_groups)  # fmt: skip
        raise ShapeError(cause, "num_groups that divides the size of dim 1")
    if x.numel() == num_groups:
        cause = tr("Expected more than 1 value per channel when training, got input size {}", list(x.shape))
        raise ArgumentError(cause, "fewer groups, or a larger input")
    if _in_float32_parameters(x, weight, bias):
        return group_norm(x.float(), num_groups, weight, bias, eps).to(x.dtype)
    return as_images(apply(GroupNorm, x, weight, bias, groups=num_groups, eps=eps), x)


@in_float32
def normalize(
    input: Tensor, p: float = 2.0, dim: int | Sequence[int] | None = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """y = x / max(|x|_p, eps) along `dim`.

    Args:
        input: any shape
        p: of the norm
        dim: the axis whose norm becomes 1
        eps: the smallest divisor
        out: where the result is written

    Returns: tensor of input's shape

    Example:
        >>> F.normalize(badak.tensor([[3.0, 4.0]])).mul(10).round().tolist()
        [[6.0, 8.0]]
    """
    if eps < 0:
        raise ArgumentError(tr("normalize: expected eps >= 0; got {}", eps), "eps=1e-12")
    x = tensor(input, "normalize")
    y = x / x.norm(p, dim, keepdim=True).clamp(min=eps).expand(x.shape)
    return y if out is None else write_(out, y, "normalize")
