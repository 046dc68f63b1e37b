"""Pooling layers: the maximum or the mean of windows."""

from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.nn import functional as F
from badak.nn.functional.sizes import sizes
from badak.nn.module import Module, Shown
from badak.tensor import Tensor


class _MaxPoolNd(Shown):
    _shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.return_indices, self.ceil_mode = padding, dilation, return_indices, ceil_mode

    def _arguments(self) -> tuple:
        return self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices


class MaxPool1d(_MaxPoolNd):
    """The largest number of each window of x (N, C, L); the stride is kernel_size unless given."""

    def forward(self, input: Tensor) -> Tensor:
        return F.max_pool1d(input, *self._arguments())


class MaxPool2d(_MaxPoolNd):
    """The largest number of each window of x (N, C, H, W); the stride is kernel_size unless given.

    Args:
        kernel_size: of a window; one number or two
        stride: step between windows; kernel_size by default
        padding: -inf added at each side
        dilation: step between the taps of a window
        return_indices: also give where each maximum was, counted in H W
        ceil_mode: windows that stick out at the end count

    Returns: module; `forward` maps (N, C, H, W) to (N, C, O1, O2)

    Example:
        >>> nn.MaxPool2d(2)(badak.arange(4.0).view(1, 1, 2, 2)).item()
        3.0
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.max_pool2d(input, *self._arguments())


class MaxPool3d(_MaxPoolNd):
    """The largest number of each window of x (N, C, D, H, W); the stride is kernel_size unless given."""

    def forward(self, input: Tensor) -> Tensor:
        return F.max_pool3d(input, *self._arguments())


class _AvgPoolNd(Shown):
    _shown = ("kernel_size", "stride", "padding")


class AvgPool1d(_AvgPoolNd):
    """The mean of each window of x (N, C, L); the stride is kernel_size unless given."""

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        each = _tuple1
        self.kernel_size, self.stride = each(kernel_size), each(kernel_size if stride is None else stride)
        self.padding, self.ceil_mode, self.count_include_pad = each(padding), ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPool(_AvgPoolNd):
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override

    def _arguments(self) -> tuple:
        return (self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)


class AvgPool2d(_AvgPool):
    """The mean of each window of x (N, C, H, W); the stride is kernel_size unless given.

    Args:
        kernel_size: of a window; one number or two
        stride: step between windows; kernel_size by default
        padding: zeros added at each side
        ceil_mode: windows that stick out at the end count
        count_include_pad: whether the zeros count in the mean
        divisor_override: what the sums are divided by instead

    Returns: module; `forward` maps (N, C, H, W) to (N, C, O1, O2)

    Example:
        >>> nn.AvgPool2d(2)(badak.arange(4.0).view(1, 1, 2, 2)).item()
        1.5
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(input, *self._arguments())


class AvgPool3d(_AvgPool):
    """The mean of each window of x (N, C, D, H, W); the stride is kernel_size unless given."""

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool3d(input, *self._arguments())


class _AdaptiveAvgPoolNd(Shown):
    _shown = ("output_size",)

    def __init__(self, output_size: int | Sequence[int | None] | None) -> None:
        super().__init__()
        self.output_size = output_size


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of `output_size` windows that cover x (N, C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of `output_size` windows that cover x (N, C, H, W); None keeps an axis."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of `output_size` windows that cover x (N, C, D, H, W); None keeps an axis."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPoolNd(Shown):
    _shown = ("output_size",)

    def __init__(self, output_size: int | Sequence[int | None] | None, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The maxima of `output_size` windows that cover x (N, C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The maxima of `output_size` windows that cover x (N, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The maxima of `output_size` windows that cover x (N, C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _LPPoolNd(Shown):
    _shown = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(
        self, norm_type: float, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def _arguments(self) -> tuple:
        return float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode


class LPPool1d(_LPPoolNd):
    """The p-norm of each window of x (N, C, L); see nn.functional.lp_pool1d."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(input, *self._arguments())


class LPPool2d(_LPPoolNd):
    """The p-norm of each window of x (N, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(input, *self._arguments())


class LPPool3d(_LPPoolNd):
    """The p-norm of each window of x (N, C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(input, *self._arguments())


class _MaxUnpoolNd(Shown):
    _shown = ("kernel_size", "stride", "padding")

    axes = 0

    def __init__(
        self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0
    ) -> None:
        super().__init__()
        self.kernel_size = sizes(kernel_size, self.axes, type(self).__name__, "kernel_size")
        self.stride = sizes(kernel_size if stride is None else stride, self.axes, type(self).__name__, "stride")
        self.padding = sizes(padding, self.axes, type(self).__name__, "padding")


class MaxUnpool1d(_MaxUnpoolNd):
    """What MaxPool1d took back to its places, 0 elsewhere: x (N, C, O) and indices -> (N, C, L)."""

    axes = 1

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """As MaxUnpool1d over two axes."""

    axes = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """As MaxUnpool1d over three axes."""

    axes = 3

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


def _tuple1(value) -> tuple:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


class _FractionalMaxPool(Module):
    axes = 0

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if (output_size is None) == (output_ratio is None):
            what = (
                tr("requires specifying either an output size, or a pooling ratio")
                if output_size is None
                else tr("takes only one of")
            )
            cause = tr("{} {}: output_size={}, output_ratio={}", name, what, output_size, output_ratio)
            raise ArgumentError(cause, "output_ratio=0.5")
        self.kernel_size, self.output_size = self._each(kernel_size), None if output_size is None else self._each(output_size)
        self.output_ratio = None if output_ratio is None else self._each(output_ratio)
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ArgumentError(tr("output_ratio must be between 0 and 1 (got {})", output_ratio), "output_ratio=0.5")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)

    def _each(self, value) -> tuple:
        return tuple(value) if isinstance(value, tuple | list) else (value,) * self.axes


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest number of windows that overlap by chance: see nn.functional.fractional_max_pool2d."""

    axes = 2

    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool2d(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest number of windows that overlap by chance: see nn.functional.fractional_max_pool3d."""

    axes = 3

    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool3d(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )
