"""Convolution over one, two or three axes."""

from collections.abc import Callable, Sequence

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.nn.functional._common import number_tensor, tensor
from badak.nn.functional.sizes import check_moves, over_axes, sizes, with_batch
from badak.ops._check import expect_floats
from badak.ops.conv import Conv, ConvTranspose
from badak.tensor import Tensor, apply
from badak.tensor.convert import as_images
from badak.tensor.dtypes import int64
from badak.tensor.pad import pad

__all__ = ["conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]


def _over(axes: int, where: str) -> Callable[..., Tensor]:
    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: int | Sequence[int] = 1,
        padding: str | int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> Tensor:
        return _conv(input, weight, bias, stride, padding, dilation, groups, axes, where)

    return conv


_CONV = """y[n, m, o] = b[m] + sum_{{c, k}} w[m, c, k] x[n, c, o stride - padding + k dilation]; o and k have {axes} numbers.

Args:
    input: x (N, C, {L}) or (C, {L})
    weight: w (M, C / groups, {K})
    bias: b (M,) or None
    stride: step between windows; one number or one for each axis
    padding: entries added at each side, "same" (windows stand around every entry) or "valid" (0)
    dilation: step between the taps of a window
    groups: groups of channels with weights of their own

Returns: (N, M, {O}) or (M, {O})

Example:
    >>> F.{name}(badak.ones(1, 1, *[2] * {axes}), badak.ones(1, 1, *[2] * {axes})).item() == 2**{axes}
    True
"""
conv1d, conv2d, conv3d = over_axes(_over, "conv", _CONV)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """conv1d of texts with time first: x (T, B, C), w (K, C, M), b (M,) -> (O, B, M).

    Args:
        input: (T, B, C)
        weight: (K, C, M)
        bias: (M,)
        pad: zeros added before the first and after the last step

    Returns: (T + 2 pad - K + 1, B, M)

    Raises:
        ShapeError: input or weight has no three dims

    Example:
        >>> F.conv_tbc(badak.ones(3, 1, 2), badak.ones(2, 2, 1), badak.zeros(1)).flatten().tolist()
        [4.0, 4.0]
    """
    x, w = tensor(input, "conv_tbc"), tensor(weight, "conv_tbc", "weight")
    if x.dim() != 3 or w.dim() != 3:
        cause = tr("conv_tbc: expected input (T, B, C) and weight (K, C, M); got {} and {}", list(x.shape), list(w.shape))
        raise ShapeError(cause, "conv1d, which takes (B, C, T) and (M, C, K)")
    return _conv(x.permute(1, 2, 0), w.permute(2, 1, 0), bias, 1, pad, 1, 1, 1, "conv_tbc").permute(2, 0, 1)


def _transpose_over(axes: int, where: str) -> Callable[..., Tensor]:
    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        dilation: int | Sequence[int] = 1,
    ) -> Tensor:
        return _conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation, axes, where)

    return conv_transpose


_TRANSPOSE = """The gradient of conv{axes}d in its input, as a layer: x (N, M, {O}), w (M, C/groups, {K}) -> (N, C, {L}),

of which each size is (O - 1) stride - 2 padding + dilation (K - 1) + output_padding + 1.
"""
conv_transpose1d, conv_transpose2d, conv_transpose3d = over_axes(_transpose_over, "conv_transpose", _TRANSPOSE)


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """conv1d to conv3d, or conv_transpose1d to conv_transpose3d, by the axes of input (N, C, *S) and by `transposed`.

    Args:
        input: (N, C, *S), with one to three axes S
        weight: (M, C / groups, *K); transposed: (C, M / groups, *K)
        bias: (M,) or None
        stride, padding, dilation: one number for each axis of S
        transposed: conv_transpose1d to conv_transpose3d
        output_padding: entries added at the end of each axis, of a transposed convolution
        groups: groups of channels with weights of their own

    Returns: (N, M, *O)

    Example:
        >>> badak.convolution(badak.ones(1, 1, 4), badak.ones(1, 1, 2), None, [2], [0], [1], False, [0], 1).tolist()
        [[[2.0, 2.0]]]
    """
    axes = tensor(input, "convolution").dim() - 2
    if axes not in (1, 2, 3):
        cause = tr("convolution: expected input (N, C, *S) with 1 to 3 axes S; got {}", list(input.shape))
        raise ShapeError(cause, "x.unsqueeze(0)")
    if transposed:
        return _conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation, axes, "convolution")
    return _conv(input, weight, bias, stride, padding, dilation, groups, axes, "convolution")


def _conv(input, weight, bias, stride, padding, dilation, groups: int, axes: int, where: str) -> Tensor:
    x, batched = with_batch(number_tensor(input, where), axes, where)
    stride, dilation = sizes(stride, axes, where, "stride"), sizes(dilation, axes, where, "dilation")
    if isinstance(padding, str):
        x, padding = _named_padding(x, padding, tuple(weight.shape[2:]), stride, dilation, where)
    padding = sizes(padding, axes, where, "padding")
    check_moves(where, weight.shape[2:] or (1,), stride, padding, dilation)
    if groups < 1:
        raise ArgumentError(tr("{}: non-positive groups is not supported; got {}", where, groups), "groups=1")
    y = apply(Conv, x, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups)
    y = _laid(y, x, weight) if x.shape[1] else y[:, :0]  # of no channels PyTorch makes none, whatever the weight says
    return y if batched else y.squeeze(0)


def _laid(y: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """y in memory as images x are or the weights; of lines (N, C, L) the weights alone decide, as in PyTorch."""
    return as_images(y, weight, lines=True) if x.dim() == 3 else as_images(y, x, weight)


def _named_padding(x: Tensor, padding: str, kernel, stride, dilation, where: str):
    """(x, padding) for "valid" and "same"; what is odd goes to the end, as in PyTorch."""
    if padding == "valid":
        return x, 0
    if padding != "same":
        raise ArgumentError(tr("{}: Invalid padding string: {!r}", where, padding), "'valid' or 'same'")
    if any(s != 1 for s in stride):
        raise ArgumentError(tr("{}: padding='same' is not supported for strided convolutions", where), "padding as a number")
    total = [d * (k - 1) for k, d in zip(kernel, dilation)]
    odd = [n % 2 for n in total]
    if any(odd):
        x = pad(x, [n for extra in reversed(odd) for n in (0, extra)])
    return x, tuple(n // 2 for n in total)


def _conv_transpose(input, weight, bias, stride, padding, output_padding, groups: int, dilation, axes: int, where: str) -> Tensor:
    x, batched = with_batch(number_tensor(input, where), axes, where)
    if x.dtype is not int64:
        expect_floats(where, x)
    stride, dilation = sizes(stride, axes, where, "stride"), sizes(dilation, axes, where, "dilation")
    padding, extra = sizes(padding, axes, where, "padding"), sizes(output_padding, axes, where, "output_padding")
    check_moves(where, weight.shape[2:] or (1,), stride, padding, dilation)
    if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation)):
        cause = tr("{}: output padding must be smaller than either stride or dilation, but got output_padding={}, "
                   "stride={}, dilation={}", where, extra, stride, dilation)  # fmt: skip
        raise ArgumentError(cause, None)
    if not weight.shape[0]:
        cause = tr("{}: expected weight to be at least 1 at dimension 0, but got weight of size {}", where, tuple(weight.shape))
        raise ShapeError(cause, "a layer with in_channels >= 1")
    y = apply(
        ConvTranspose, x, weight, bias, stride=stride, padding=padding, dilation=dilation, output_padding=extra, groups=groups
    )
    y = _laid(y, x, weight) if axes < 3 else y
    return y if batched else y.squeeze(0)
