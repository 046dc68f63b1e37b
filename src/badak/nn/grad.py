"""`torch.nn.grad`: the gradients of a convolution as functions of their own, for layers whose backward is written by hand."""

from collections.abc import Callable, Sequence

from badak.autograd import enable_grad, grad
from badak.core.modes import modes
from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.nn.functional import conv1d, conv2d, conv3d
from badak.tensor import Tensor, zeros

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _gradient(convolution: Callable, place: int, pair: tuple, dy: Tensor, *settings: object) -> Tensor:
    """The gradient in input (place 0) or weight (1) of a convolution, which is linear in each: of one only the shape is given."""
    like = pair[1 - place]
    with enable_grad():
        sought = zeros(*pair[place], dtype=like.dtype, requires_grad=True)
        y = convolution(*((sought, like) if place == 0 else (like, sought)), None, *settings)
    further = modes.grad and (like.requires_grad or dy.requires_grad)
    return grad(y, sought, dy, create_graph=further)[0]


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv1d in its input: dx[n, c, i] = sum_{m, o, k: o stride - padding + k dilation = i} w[m, c, k] dy[n, m, o].

    Args:
        input_size: (N, C, L), which the shape of dy does not tell where stride > 1
        weight: (M, C / groups, K)
        grad_output: dy (N, M, O)
        stride, padding, dilation, groups: as in conv1d

    Returns: (N, C, L); it can be differentiated in weight and grad_output

    Raises:
        ShapeError: where grad_output has not the shape of conv1d's result

    Example:
        >>> nn.grad.conv1d_input((1, 1, 3), badak.ones(1, 1, 2), badak.ones(1, 1, 2)).tolist()
        [[[1.0, 2.0, 1.0]]]
    """
    return _gradient(conv1d, 0, (input_size, weight), grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv1d in its weight: dw[m, c, k] = sum_{n, o} dy[n, m, o] x[n, c, o stride - padding + k dilation].

    Args:
        input: x (N, C, L)
        weight_size: (M, C / groups, K)
        grad_output: dy (N, M, O)
        stride, padding, dilation, groups: as in conv1d

    Returns: (M, C / groups, K); it can be differentiated in input and grad_output

    Raises:
        ShapeError: where grad_output has not the shape of conv1d's result

    Example:
        >>> nn.grad.conv1d_weight(badak.tensor([[[1.0, 2.0, 3.0]]]), (1, 1, 2), badak.ones(1, 1, 2)).tolist()
        [[[3.0, 5.0]]]
    """
    return _gradient(conv1d, 1, (input, weight_size), grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Tensor:
    """As conv1d_input over two axes: input_size (N, C, H, W)."""
    return _gradient(conv2d, 0, (input_size, weight), grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Tensor:
    """As conv1d_weight over two axes: weight_size (M, C / groups, K1, K2)."""
    return _gradient(conv2d, 1, (input, weight_size), grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Tensor:
    """As conv1d_input over three axes: input_size (N, C, D, H, W)."""
    return _gradient(conv3d, 0, (input_size, weight), grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Tensor:
    """As conv1d_weight over three axes: weight_size (M, C / groups, K1, K2, K3)."""
    return _gradient(conv3d, 1, (input, weight_size), grad_output, stride, padding, dilation, groups)


_guard_names(globals(), __name__)
__getattr__, __dir__ = _door("badak.nn.grad")
