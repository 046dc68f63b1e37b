"""`torch.fake_quantize_*`: numbers as they are after a way through int8, for training that knows of it."""

from typing import Any

from badak.autograd import Function
from badak.core.errors import ArgumentError, IndexOutOfRangeError, ShapeError, tr
from badak.core.public_api import guard_names as _guard_names
from badak.tensor import Tensor, as_tensor


class _FakeQuantize(Function):
    """y = (clamp(round(x / scale) + zero_point, low, high) - zero_point) scale;   dx = dy where nothing was clamped."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor, zero_point: Tensor, low: int, high: int) -> Tensor:
        steps = (x * (1 / scale)).round() + zero_point
        ctx.save_for_backward((steps >= low) & (steps <= high))
        return ((steps.clamp(low, high) - zero_point) * scale).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple:
        return dy * ctx.saved_tensors[0], None, None, None, None


def fake_quantize_per_tensor_affine(input: Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> Tensor:
    """input rounded to (q - zero_point) scale for whole q from quant_min to quant_max.   dx = dy where q is within them.

    Args:
        input: floats, any shape
        scale: a number or a tensor of one: the step between two values
        zero_point: an int or a tensor of one: the q that stands for 0
        quant_min: the smallest q
        quant_max: the largest q

    Returns: tensor of input's shape

    Raises:
        ArgumentError: for quant_min > quant_max, or a zero_point that is not between them

    Example:
        >>> badak.fake_quantize_per_tensor_affine(badak.tensor([0.26, 9.0]), 0.1, 0, -8, 7).tolist()
        [0.30000001192092896, 0.699999988079071]
    """
    scale, zero_point = as_tensor(scale, input.dtype), as_tensor(zero_point)
    return _of(input, scale, zero_point, quant_min, quant_max)


def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """fake_quantize_per_tensor_affine with a scale and a zero_point for each entry of a dim.

    Args:
        input: floats, any shape
        scale: (C,)
        zero_point: (C,), integers
        axis: the dim of C entries
        quant_min: the smallest q
        quant_max: the largest q

    Returns: tensor of input's shape

    Raises:
        ArgumentError: for quant_min > quant_max, or a zero_point that is not between them
        IndexOutOfRangeError: for an axis that input has not
        ShapeError: for a scale or a zero_point of another length

    Example:
        >>> x = badak.ones(2, 2)
        >>> badak.fake_quantize_per_channel_affine(x, badak.tensor([0.5, 2.0]), badak.tensor([0, 0]), 0, -8, 7).tolist()
        [[1.0, 1.0], [0.0, 0.0]]
    """
    if not 0 <= axis < input.dim():
        raise IndexOutOfRangeError(tr("`axis` must be between 0 and number of dimensions of input; got {}", axis), "axis=0")
    if scale.shape != (input.shape[axis],) or zero_point.shape != scale.shape:
        cause = tr("dimensions of scale and zero-point are not consistent with input tensor: {} and {} for {} entries",
                   tuple(scale.shape), tuple(zero_point.shape), input.shape[axis])  # fmt: skip
        raise ShapeError(cause, "one scale and one zero_point for each entry of the dim")
    along = [-1 if each == axis else 1 for each in range(input.dim())]
    return _of(input, scale.reshape(along), zero_point.reshape(along), quant_min, quant_max)


def _of(input: Tensor, scale: Tensor, zero_point: Tensor, low: int, high: int) -> Tensor:
    if low > high:
        cause = tr("`quant_min` should be less than or equal to `quant_max`; got {} and {}", low, high)
        raise ArgumentError(cause, "quant_min=-128, quant_max=127")
    if ((zero_point < low) | (zero_point > high)).any():
        raise ArgumentError("`zero_point` must be between `quant_min` and `quant_max`.", "zero_point=0")
    return _FakeQuantize.apply(input, scale, zero_point, low, high)


_guard_names(globals(), "badak")
