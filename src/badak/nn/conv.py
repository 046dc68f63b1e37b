"""Convolution layers: a small matrix slides over a sequence or an image."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from badak.core.errors import ArgumentError, tr, undefined
from badak.nn import functional as F
from badak.nn import init
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Tensor, empty
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.pad import pad

MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions share: the numbers, the weight and the bias, which start uniform in +-1/sqrt(C/groups prod(K))."""

    axes = 0
    transposed = False
    padding: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int],
        padding: str | int | Sequence[int],
        dilation: int | Sequence[int],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device,
        dtype: DType | None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ArgumentError("groups must be a positive integer")
        if in_channels % groups or out_channels % groups:
            which = "in_channels" if in_channels % groups else "out_channels"
            cause = tr("{} must be divisible by groups: {} -> {} in {} groups", which, in_channels, out_channels, groups)
            raise ArgumentError(cause)
        if padding_mode not in MODES:
            raise ArgumentError(tr("padding_mode must be one of {}, but got padding_mode={!r}", MODES, padding_mode))
        if isinstance(padding, str) and (padding not in ("same", "valid") or self.transposed):
            raise ArgumentError(tr("Invalid padding string {!r}, should be one of 'same', 'valid'", padding))
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        self.kernel_size, self.stride = self._each(kernel_size), self._each(stride)
        self.padding = padding if isinstance(padding, str) else self._each(padding)
        self.dilation = self._each(dilation)
        if padding == "same" and any(s != 1 for s in self.stride):
            raise ArgumentError("padding='same' is not supported for strided convolutions")
        self.output_padding = (0,) * self.axes
        pair = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(empty(*pair, *self.kernel_size, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def _each(self, value) -> tuple[int, ...]:
        return tuple(value) if isinstance(value, Iterable) else (value,) * self.axes

    def reset_parameters(self) -> None:
        """Draw weight and bias again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def _padded(self, input: Tensor) -> tuple[Tensor, Any]:
        """(x, padding): padding other than zeros is put around x here."""
        if self.padding_mode == "zeros":
            return input, self.padding
        if self.padding == "valid":
            return input, 0
        if self.padding == "same":
            total = [d * (k - 1) for k, d in zip(self.kernel_size, self.dilation)]
            sides = [(n // 2, n - n // 2) for n in total]
        else:
            sides = [(p, p) for p in self.padding]
        around = [n for side in reversed(sides) for n in side]
        return pad(input, around, self.padding_mode), (0,) * self.axes

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        zeros, ones = (0,) * self.axes, (1,) * self.axes
        for name, usual in (("padding", zeros), ("dilation", ones), ("output_padding", zeros), ("groups", 1)):
            value = getattr(self, name)
            if value != usual:
                text += f", {name}={value}"
        if self.bias is None:
            text += ", bias=False"
        return text if self.padding_mode == "zeros" else f"{text}, padding_mode={self.padding_mode}"


class _Conv(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: str | int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """What forward does with its own weight; subclasses give it another, as in PyTorch."""
        raise undefined(self, "def _conv_forward(self, input, weight, bias)")

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """y[n, m, o] = b[m] + sum_{c, k} w[m, c, k] x[n, c, o stride - padding + k dilation].

    x (N, C, L) -> (N, M, O). padding: a number, 'same' or 'valid'; padding_mode: zeros, reflect, replicate or circular.

    Args:
        in_channels: C
        out_channels: M
        kernel_size: K
        stride: step between windows
        padding: entries added at each end, "same" or "valid"
        dilation: step between the taps of a window
        groups: channels are cut into so many groups, each with its own weights
        bias: whether b is added
        padding_mode: "zeros", "reflect", "replicate" or "circular"
        device, dtype: of the parameters

    Returns: module; `forward` maps (N, C, L) to (N, M, O), O = (L + 2 padding - dilation (K - 1) - 1) // stride + 1

    Example:
        >>> tuple(nn.Conv1d(3, 8, 5, padding="same")(badak.zeros(2, 3, 20)).shape)
        (2, 8, 20)
    """

    axes = 1

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        x, padding = self._padded(input)
        return F.conv1d(x, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv2d(_Conv):
    """As Conv1d over two axes: x (N, C, H, W) -> (N, M, O1, O2).

    Args:
        in_channels: C
        out_channels: M
        kernel_size: K, or (K1, K2)
        stride: step between windows; one number or two
        padding: entries added at each side, "same" or "valid"
        dilation: step between the taps of a window
        groups: channels are cut into so many groups, each with its own weights
        bias: whether b is added
        padding_mode: "zeros", "reflect", "replicate" or "circular"
        device, dtype: of the parameters

    Returns: module; `forward` maps (N, C, H, W) to (N, M, O1, O2)

    Example:
        >>> tuple(nn.Conv2d(3, 8, 3, stride=2)(badak.zeros(1, 3, 9, 9)).shape)
        (1, 8, 4, 4)
    """

    axes = 2

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        x, padding = self._padded(input)
        return F.conv2d(x, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv3d(_Conv):
    """As Conv1d over three axes: x (N, C, D, H, W) -> (N, M, O1, O2, O3)."""

    axes = 3

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        x, padding = self._padded(input)
        return F.conv3d(x, weight, bias, self.stride, padding, self.dilation, self.groups)


class _ConvTransposeNd(_ConvNd):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: str | int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | Sequence[int] = 1,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ArgumentError(tr('Only "zeros" padding mode is supported for {}', type(self).__name__))
        _ConvNd.__init__(
            self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        )
        self.output_padding = self._each(output_padding)

    def _extra(self, input: Tensor, output_size) -> tuple[int, ...]:
        """output_padding, or what makes the output of size `output_size`."""
        if output_size is None:
            return self.output_padding
        wanted, size = list(output_size)[-self.axes :], input.shape[-self.axes :]
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(size, self.stride, self.padding, self.dilation, self.kernel_size)
        ]
        extra = tuple(w - n for w, n in zip(wanted, least))
        if any(not 0 <= e < s for e, s in zip(extra, self.stride)):
            most = [n + s - 1 for n, s in zip(least, self.stride)]
            raise ArgumentError(tr("requested an output size of {}, but valid sizes range from {} to {}", wanted, least, most))
        return extra


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of Conv1d in its input, as a layer: x (N, C, O) -> (N, M, L), w (C, M/groups, K)."""

    axes = 1

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        extra = self._extra(input, output_size)
        return F.conv_transpose1d(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


class ConvTranspose2d(_ConvTransposeNd):
    """As ConvTranspose1d over two axes."""

    axes = 2

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        extra = self._extra(input, output_size)
        return F.conv_transpose2d(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


class ConvTranspose3d(_ConvTransposeNd):
    """As ConvTranspose1d over three axes."""

    axes = 3

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        extra = self._extra(input, output_size)
        return F.conv_transpose3d(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)
