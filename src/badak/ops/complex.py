"""Complex numbers: made of two real arrays, taken apart, conjugated."""

import numpy as np

from badak.ops._broadcast import elementwise, stretched, unbroadcast
from badak.ops.batching import broadcasting
from badak.ops.op import Op


class Polar(Op):
    """y = r (cos t + i sin t);   dr = Re(dy conj(e^(it))), dt = r Im(dy conj(e^(it)))."""

    owns_grads = False

    @staticmethod
    @elementwise
    def forward(save, r, t):
        save.r, save.t = r, t
        return (r * (np.cos(t) + 1j * np.sin(t))).astype(np.result_type(r.dtype, np.complex64))

    @staticmethod
    def backward(saved, dy):
        r, t = saved.r, saved.t
        g = dy * (np.cos(t) - 1j * np.sin(t))
        return unbroadcast(g.real.astype(r.dtype), r.shape), unbroadcast((r * g.imag).astype(t.dtype), t.shape)


class Complex(Op):
    """y = a + i b;   da = Re dy, db = Im dy."""

    owns_grads = False

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.shapes = a.shape, b.shape
        y = np.empty(stretched(a.shape, b.shape), np.result_type(a.dtype, np.complex64))
        y.real, y.imag = a, b
        return y

    @staticmethod
    def backward(saved, dy):
        return tuple(unbroadcast(part, shape) for part, shape in zip((dy.real, dy.imag), saved.shapes))


class Angle(Op):
    """y = the angle of the real x: 0, pi where x < 0, NaN for NaN;   dx = 0."""

    batching = staticmethod(broadcasting)

    @staticmethod
    def forward(save, x):
        return np.where(x < 0, x.dtype.type(np.pi), np.where(x != x, x, x.dtype.type(0)))

    @staticmethod
    def backward(saved, dy):
        return np.zeros_like(dy)


class Real(Op):
    """y = Re x;   dx = dy + 0i."""

    owns_grads = False
    view = True
    batching = staticmethod(broadcasting)

    @staticmethod
    def forward(save, x):
        return x.real

    @staticmethod
    def backward(saved, dy):
        return dy.astype(np.result_type(dy.dtype, np.complex64))


class Imag(Op):
    """y = Im x;   dx = i dy."""

    owns_grads = False
    view = True
    batching = staticmethod(broadcasting)

    @staticmethod
    def forward(save, x):
        return x.imag

    @staticmethod
    def backward(saved, dy):
        return dy * np.result_type(dy.dtype, np.complex64).type(1j)


class Conj(Op):
    """y = the complex conjugate of x;   dx = the conjugate of dy."""

    owns_grads = False

    saves_no_tensors = True

    @staticmethod
    @elementwise
    def forward(save, x):
        return x.conj()

    @staticmethod
    def backward(saved, dy):
        return dy.conj()


class ViewAsReal(Op):
    """y[..., 0] = Re x, y[..., 1] = Im x;   dx = dy[..., 0] + i dy[..., 1]."""

    owns_grads = False
    view = True
    batching = staticmethod(broadcasting)

    @staticmethod
    def forward(save, x):
        return x[..., None].view(x.real.dtype)

    @staticmethod
    def backward(saved, dy):
        return to_complex(dy)

    @staticmethod
    def double_backward(saved, dy):
        return Complex.of(dy[..., 0], dy[..., 1])


class ViewAsComplex(Op):
    """y = x[..., 0] + i x[..., 1];   dx[..., 0] = Re dy, dx[..., 1] = Im dy."""

    owns_grads = False
    view = True
    batching = staticmethod(broadcasting)

    @staticmethod
    def forward(save, x):
        return to_complex(x)

    @staticmethod
    def backward(saved, dy):
        return ViewAsReal.forward(saved, dy)

    @staticmethod
    def double_backward(saved, dy):
        return ViewAsReal.of(dy)


def to_complex(x):
    """Pairs on the last axis as complex numbers, without a copy where the pairs lie side by side."""
    x = x if x.strides[-1] == x.itemsize else x.copy()
    return x.view(np.result_type(x.dtype, np.complex64))[..., 0]
