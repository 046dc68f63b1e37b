"""`torch._C._ConvBackend`: PyTorch's kinds of convolutions, named after the kernels that it has for them."""

from collections.abc import Sequence
from enum import Enum

import badak
from badak.core.errors import ShapeError, tr
from badak.nn.functional.sizes import sizes
from badak.tensor import Tensor

_ConvBackend = Enum(
    "_ConvBackend",
    "CudaDepthwise2d CudaDepthwise3d Cudnn CudnnTranspose Empty Miopen MiopenDepthwise MiopenTranspose Mkldnn MkldnnTranspose "
    "MkldnnEmpty NnpackSpatial Overrideable Slow2d Slow3d SlowDilated2d SlowDilated3d SlowTranspose2d SlowTranspose3d "
    "Winograd3x3Depthwise Xnnpack2d Mps MpsTranspose",
    module=__name__,
    start=0,
)


def _select_conv_backend(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    bias_sizes: Sequence[int] | None = None,
) -> Enum:
    """The kind of a convolution, by the rule of a PyTorch that has no vendor's library (oneDNN, NNPACK, cuDNN) to choose.

    It says what is computed, not how: badak computes every kind as a product of the weight and the windows of the input.

    Args:
        input, weight, bias, stride, padding, dilation, transposed, output_padding, groups: as in torch.convolution
        bias_sizes: ignored

    Returns: a member of torch._C._ConvBackend

    Raises:
        ShapeError: for input of a size 0 that is neither batch nor channels, and for what torch.convolution refuses

    Source: aten/src/ATen/native/Convolution.cpp

    Example:
        >>> from badak.compat.torch.conv_backend import _select_conv_backend
        >>> _select_conv_backend(badak.ones(1, 1, 4), badak.ones(1, 1, 2), None, [1], [0], [2], False, [0], 1).name
        'SlowDilated2d'
    """
    x, w, b = input.to("meta"), weight.to("meta"), None if bias is None else bias.to("meta")
    badak.convolution(x, w, b, stride, padding, dilation, transposed, output_padding, groups)  # for its errors
    if 0 in input.shape[:2]:
        return _ConvBackend["Empty"]
    if not input.numel():
        cause = tr("Only zero batch or zero channel inputs are supported, but got input shape: {}", list(input.shape))
        raise ShapeError(cause, "sizes of 1 or more")
    axes = input.dim() - 2
    planes = max(axes, 2)  # lines count as planes of one row
    if transposed:
        return _ConvBackend[f"SlowTranspose{planes}d"]
    dilated = any(step != 1 for step in sizes(dilation, axes, "convolution", "dilation"))
    return _ConvBackend[f"{'SlowDilated' if dilated else 'Slow'}{planes}d"]
