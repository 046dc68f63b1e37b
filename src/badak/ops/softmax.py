"""Softmax and its logarithm along any axis."""

from badak import kernels
from badak.kernels.memory_format import row_major
from badak.ops._check import axis_of, not_floating
from badak.ops.op import Op


class Softmax(Op):
    """y = exp(x) / sum exp(x) along `dim`;   dx = y (dy - sum(dy y))."""

    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save, x, dim=-1):
        if x.dtype.kind in "iub":
            raise not_floating("softmax", x)
        save.dim = dim = axis_of(dim, x.ndim)
        save.y = y = _along(kernels.of(x).softmax, dim, x)
        return y

    @staticmethod
    def backward(saved, dy):
        return _along(kernels.of(dy).softmax_backward, saved.dim, dy, saved.y)


class LogSoftmax(Op):
    """y = x - log sum exp(x) along `dim`;   dx = dy - exp(y) sum(dy)."""

    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save, x, dim=-1):
        if x.dtype.kind in "iub":
            raise not_floating("log_softmax", x)
        save.dim = dim = axis_of(dim, x.ndim)
        save.y = y = _along(kernels.of(x).log_softmax, dim, x)
        return y

    @staticmethod
    def backward(saved, dy):
        return _along(kernels.of(dy).log_softmax_backward, saved.dim, dy, saved.y)


def _along(kernel, dim: int, *arrays):
    """A kernel of the last axis, applied along `dim`."""
    ndim = arrays[0].ndim
    if dim == ndim - 1:
        return kernel(*arrays)
    if ndim == 0:
        return kernel(*[x.reshape(1) for x in arrays]).reshape(())
    y = kernel(*[x.swapaxes(dim, -1) for x in arrays])
    return row_major(y.swapaxes(dim, -1))
