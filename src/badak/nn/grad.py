"""`torch.nn.grad`: the gradients of a convolution as functions of their own, for layers whose backward is written by hand."""

from collections.abc import Callable, Sequence

from badak.autograd import enable_grad, grad
from badak.core.modes import modes
from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.nn.functional import conv1d, conv2d, conv3d
from badak.nn.functional.sizes import over_axes
from badak.tensor import Tensor, zeros

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _gradient(axes: int, place: int, pair: tuple, dy: Tensor, *settings: object) -> Tensor:
    """The gradient in input (place 0) or weight (1) of a convolution, which is linear in each: of one only the shape is given."""
    like, convolution = pair[1 - place], (conv1d, conv2d, conv3d)[axes - 1]
    with enable_grad():
        sought = zeros(*pair[place], dtype=like.dtype, requires_grad=True)
        y = convolution(*((sought, like) if place == 0 else (like, sought)), None, *settings)
    further = modes.grad and (like.requires_grad or dy.requires_grad)
    return grad(y, sought, dy, create_graph=further)[0]


def _in_input(axes: int, where: str) -> Callable[..., Tensor]:
    def conv_input(
        input_size: Sequence[int],
        weight: Tensor,
        grad_output: Tensor,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
    ) -> Tensor:
        return _gradient(axes, 0, (input_size, weight), grad_output, stride, padding, dilation, groups)

    return conv_input


_INPUT = """The gradient of conv{axes}d in its input:

    dx[n, c, i] = sum_{{m, o, k: o stride - padding + k dilation = i}} w[m, c, k] dy[n, m, o].

Args:
    input_size: (N, C, {L}), which the shape of dy does not tell where stride > 1
    weight: (M, C / groups, {K})
    grad_output: dy (N, M, {O})
    stride, padding, dilation, groups: as in conv{axes}d

Returns: (N, C, {L}); it can be differentiated in weight and grad_output

Raises:
    ShapeError: where grad_output has not the shape of conv{axes}d's result

Example:
    >>> one = badak.ones(1, 1, *[1] * {axes})
    >>> nn.grad.{name}(one.shape, one, one).item()
    1.0
"""
conv1d_input, conv2d_input, conv3d_input = over_axes(_in_input, "conv", _INPUT, "_input")


def _in_weight(axes: int, where: str) -> Callable[..., Tensor]:
    def conv_weight(
        input: Tensor,
        weight_size: Sequence[int],
        grad_output: Tensor,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
    ) -> Tensor:
        return _gradient(axes, 1, (input, weight_size), grad_output, stride, padding, dilation, groups)

    return conv_weight


_WEIGHT = """The gradient of conv{axes}d in its weight:

    dw[m, c, k] = sum_{{n, o}} dy[n, m, o] x[n, c, o stride - padding + k dilation].

Args:
    input: x (N, C, {L})
    weight_size: (M, C / groups, {K})
    grad_output: dy (N, M, {O})
    stride, padding, dilation, groups: as in conv{axes}d

Returns: (M, C / groups, {K}); it can be differentiated in input and grad_output

Raises:
    ShapeError: where grad_output has not the shape of conv{axes}d's result

Example:
    >>> one = badak.ones(1, 1, *[1] * {axes})
    >>> nn.grad.{name}(one, one.shape, one).item()
    1.0
"""
conv1d_weight, conv2d_weight, conv3d_weight = over_axes(_in_weight, "conv", _WEIGHT, "_weight")


_guard_names(globals(), __name__)
__getattr__, __dir__ = _door("badak.nn.grad")
