"""Layers that are one matrix product, and those that only change the shape."""

import math
from typing import Any

from badak.core.errors import ArgumentTypeError, tr
from badak.core.public_api import overriding
from badak.nn import functional as F
from badak.nn import init
from badak.nn.errors import kind
from badak.nn.module import Module, Shown
from badak.nn.parameter import Parameter
from badak.ops import linear as ops
from badak.tensor import apply, empty
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.tensor import Tensor


class Identity(Module):
    """y = x. Takes and ignores any arguments, so that it can stand in the place of any layer.

    Args:
        *args, **kwargs: ignored

    Returns: module; `forward(x)` gives x itself

    Example:
        >>> nn.Identity()(badak.ones(2)).tolist()
        [1.0, 1.0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """y = x W^T + b over the last axis.

    x (..., in_features) -> y (..., out_features); W (out_features, in_features), b (out_features,).
    W and b start uniform in +-1/sqrt(in_features).

    Args:
        in_features: size K of the last axis of the input
        out_features: size N of the last axis of the output
        bias: whether b is added
        device, dtype: of the parameters; float32 on the CPU by default

    Returns: module; `forward` maps (..., K) to (..., N)

    Raises:
        ShapeError: from `forward`, for an input whose last axis is not K

    Example:
        >>> layer = nn.Linear(4, 2)
        >>> tuple(layer(badak.zeros(3, 4)).shape)
        (3, 2)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Device = None, dtype: DType | None = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw W and b again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))  # = uniform in +-1/sqrt(in_features)
        _reset_bias(self.bias, self.in_features)

    def forward(self, input: Tensor) -> Tensor:
        weight, bias = self._held("weight", "bias")
        if overriding.active:  # somebody may answer for the public function
            return F.linear(input, weight, bias)
        return apply(ops.Linear, input, weight, bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """Linear under the name that PyTorch prints for the output projection of attention."""


class Bilinear(Module):
    """y_k = x1^T A_k x2 + b_k.

    x1 (..., in1_features), x2 (..., in2_features) -> y (..., out_features); A (out, in1, in2).
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(empty(out_features, in1_features, in2_features, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw A and b again, uniform in +-1/sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        _reset_bias(self.bias, self.in1_features)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Flatten(Shown):
    """The axes start_dim to end_dim as one.

    Args:
        start_dim: first axis
        end_dim: last axis

    Returns: module; `forward` gives a tensor with these axes as one

    Example:
        >>> tuple(nn.Flatten()(badak.zeros(2, 3, 4)).shape)
        (2, 12)
    """

    _shown = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Shown):
    """The axis dim as several, of the sizes `unflattened_size` (one of which may be -1)."""

    _shown = ("dim", "unflattened_size")

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)) or not all(isinstance(size, int) for size in unflattened_size):
            cause = tr("unflattened_size must be a tuple of ints, but found {} {!r}", kind(unflattened_size), unflattened_size)
            raise ArgumentTypeError(cause)
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)


def _reset_bias(bias: Parameter | None, fan_in: int) -> None:
    if bias is not None:
        bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
        init.uniform_(bias, -bound, bound)
