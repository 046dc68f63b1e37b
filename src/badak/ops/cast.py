"""From one dtype to another, between real and complex, and into new memory."""

import numpy as np

from badak.graph import Op
from badak.ops._broadcast import quiet


class Cast(Op):
    """y = x in another dtype;   dx = dy in x's."""

    fresh = True

    @staticmethod
    @quiet
    def forward(save, x, dtype):
        save.dtype = x.dtype
        return x.astype(dtype)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy.real.astype(saved.dtype) if dy.dtype.kind == "c" != saved.dtype.kind else dy.astype(saved.dtype)


class Clone(Op):
    """y = x in memory of its own, in row-major order where `contiguous`;   dx = dy."""

    @staticmethod
    def forward(save, x, contiguous=False):
        return x.copy(order="C" if contiguous else "K")

    @staticmethod
    def backward(saved, dy):
        return dy


class Polar(Op):
    """y = r (cos t + i sin t);   dr = Re(dy conj(e^(it))), dt = r Im(dy conj(e^(it)))."""

    @staticmethod
    def forward(save, r, t):
        save.r, save.t = r, t
        return (r * (np.cos(t) + 1j * np.sin(t))).astype(np.result_type(r.dtype, np.complex64))

    @staticmethod
    def backward(saved, dy):
        r, t = saved.r, saved.t
        g = dy * (np.cos(t) - 1j * np.sin(t))
        return g.real.astype(r.dtype), (r * g.imag).astype(t.dtype)


class Complex(Op):
    """y = a + i b;   da = Re dy, db = Im dy."""

    @staticmethod
    def forward(save, a, b):
        y = np.empty(a.shape, np.result_type(a.dtype, np.complex64))
        y.real, y.imag = a, b
        return y

    @staticmethod
    def backward(saved, dy):
        return dy.real, dy.imag


class Real(Op):
    """y = Re x;   dx = dy + 0i."""

    view = True

    @staticmethod
    def forward(save, x):
        return x.real

    @staticmethod
    def backward(saved, dy):
        return dy.astype(np.result_type(dy.dtype, np.complex64))


class Imag(Op):
    """y = Im x;   dx = i dy."""

    view = True

    @staticmethod
    def forward(save, x):
        return x.imag

    @staticmethod
    def backward(saved, dy):
        return dy * np.result_type(dy.dtype, np.complex64).type(1j)


class Conj(Op):
    """y = the complex conjugate of x;   dx = the conjugate of dy."""

    @staticmethod
    def forward(save, x):
        return x.conj()

    @staticmethod
    def backward(saved, dy):
        return dy.conj()
