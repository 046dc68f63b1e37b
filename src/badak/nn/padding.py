"""Padding layers: entries around the last one, two or three axes; see nn.functional.pad."""

from collections.abc import Iterable, Sequence
from typing import Any

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.nn import functional as F
from badak.nn.module import Module
from badak.tensor import Tensor


class _Pad(Module):
    """padding: one number for all sides, or (before, after) of the last axis, then of the one before it, and so on."""

    axes = 0
    mode = ""

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        self.padding = tuple(padding) if isinstance(padding, Iterable) else (padding,) * (2 * self.axes)
        if len(self.padding) != 2 * self.axes:
            cause = tr("{}: expected {} paddings or one; got {}", type(self).__name__, 2 * self.axes, padding)
            raise ArgumentError(cause, "padding=1")

    def forward(self, input: Tensor) -> Tensor:
        few = self.axes + 1
        if self.mode == "circular" and input.dim() not in (few, few + 1):
            cause = tr("expected {}D or {}D input (got {}D input)", few, few + 1, input.dim())
            raise ShapeError(cause, f"CircularPad{input.dim() - 2}d")
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    mode = "constant"

    def __init__(self, padding: int | Sequence[int], value: Any) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """x (N, C, L) with `value` around it."""

    axes = 1


class ConstantPad2d(_ConstantPadNd):
    """x (N, C, H, W) with `value` around it."""

    axes = 2


class ConstantPad3d(_ConstantPadNd):
    """x (N, C, D, H, W) with `value` around it."""

    axes = 3


class _ZeroPad(_ConstantPadNd):
    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    extra_repr = _Pad.extra_repr


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """x (N, C, L) with zeros around it."""


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """x (N, C, H, W) with zeros around it."""


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """x (N, C, D, H, W) with zeros around it."""


class _ReflectionPadNd(_Pad):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """x (N, C, L) with its mirror image around it, the edge itself not repeated."""

    axes = 1


class ReflectionPad2d(_ReflectionPadNd):
    """x (N, C, H, W) with its mirror image around it, the edge itself not repeated."""

    axes = 2


class ReflectionPad3d(_ReflectionPadNd):
    """x (N, C, D, H, W) with its mirror image around it, the edge itself not repeated."""

    axes = 3


class _ReplicationPadNd(_Pad):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """x (N, C, L) with its edge repeated around it."""

    axes = 1


class ReplicationPad2d(_ReplicationPadNd):
    """x (N, C, H, W) with its edge repeated around it."""

    axes = 2


class ReplicationPad3d(_ReplicationPadNd):
    """x (N, C, D, H, W) with its edge repeated around it."""

    axes = 3


class _CircularPadNd(_Pad):
    mode = "circular"


class CircularPad1d(_CircularPadNd):
    """x (N, C, L) going round: before its start stands its end."""

    axes = 1


class CircularPad2d(_CircularPadNd):
    """x (N, C, H, W) going round: before its start stands its end."""

    axes = 2


class CircularPad3d(_CircularPadNd):
    """x (N, C, D, H, W) going round: before its start stands its end."""

    axes = 3
