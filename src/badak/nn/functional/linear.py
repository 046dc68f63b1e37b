"""Affine maps."""

from badak.core.errors import ShapeError, tr
from badak.nn.functional._common import tensor
from badak.ops._check import expect_floats
from badak.ops.linear import Linear
from badak.tensor import Tensor, apply, einsum

__all__ = ["bilinear", "linear"]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """y = x W^T + b.   dx = dy W, dW = sum dy^T x, db = sum dy.

    x (..., K), weight (N, K) or (K,), bias (N,) or None -> (..., N), or (...) for a weight (K,).

    Args:
        input: (..., K)
        weight: (N, K) or (K,)
        bias: (N,) or None

    Returns: (..., N); (...) for a weight (K,)

    Raises:
        ShapeError: where the last axes of input and weight differ

    Example:
        >>> F.linear(badak.ones(2), badak.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [3.0, 7.0]
    """
    if type(input) is not Tensor or not isinstance(weight, Tensor):
        tensor(input, "linear"), tensor(weight, "linear", "weight")
    if weight._array.dtype.kind == "b":
        expect_floats("linear", weight, also="iu")
    if weight._array.ndim == 1:
        y = apply(Linear, input, weight.unsqueeze(0), None).squeeze(-1)
        return y if bias is None else y + bias
    return apply(Linear, input, weight, bias)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """y[..., n] = x1 W[n] x2^T + b[n].   x1 (..., I), x2 (..., J), weight (N, I, J), bias (N,) -> (..., N)."""
    sizes = input1.shape[-1], input2.shape[-1]
    if weight.dim() != 3 or tuple(weight.shape[1:]) != sizes or input1.shape[:-1] != input2.shape[:-1]:
        cause = tr("bilinear: expected x1 (..., I), x2 (..., J), weight (N, I, J); got x1={}, x2={}, weight={}",
                   tuple(input1.shape), tuple(input2.shape), tuple(weight.shape))  # fmt: skip
        raise ShapeError(cause, tr("a weight of shape (N, {}, {})", sizes[0], sizes[1]))
    expect_floats("bilinear", weight, also="iu")
    y = einsum("...i,nij,...j->...n", input1, weight, input2)
    return y if bias is None else y + bias
