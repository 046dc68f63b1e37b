"""Discrete Fourier transforms of one axis, of length n: what is longer is cut off, what is shorter is filled with zeros.

With F[k, j] = exp(-2 pi i j k / n) the transforms are s F x and s F^H x, and each is the other's gradient: dx = s F^H dy,
dx = s F dy. The scale s is named as in PyTorch: "backward" puts 1/n on the inverse, "forward" on the other, "ortho" a
root of it on both; so a gradient has the same scale under the opposite name.
"""

import numpy as np

from badak.ops._broadcast import by_rows
from badak.ops.op import Op
from badak.ops.pad import Pad

OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def fitted(x, size, axis):
    """x cut off or filled with zeros to `size` along the axis."""
    if x.shape[axis] >= size:
        return x[(slice(None),) * (axis % x.ndim) + (slice(size),)]
    wide = [(0, 0)] * x.ndim
    wide[axis] = (0, size - x.shape[axis])
    return np.pad(x, wide)


def _fitted(x, size, axis):
    """`fitted`, as an operation."""
    return Pad.of(x, pads=tuple((0, size - n if a == axis else 0) for a, n in enumerate(x.shape)))


class Fourier(Op):
    """y = s F x of complex x, s F^H x where `inverse`;   dx = s F^H dy, s F dy."""

    portable = ""
    saves_no_tensors = True
    name = "fft"

    @staticmethod
    @by_rows
    def forward(save, x, n, axis, norm="backward", inverse=False):
        save.shape, save.axis, save.norm, save.inverse = x.shape, axis, norm, inverse
        return (np.fft.ifft if inverse else np.fft.fft)(x, n, axis, norm)

    @staticmethod
    def backward(saved, dy):
        axis = saved.axis
        dx = (np.fft.fft if saved.inverse else np.fft.ifft)(dy, None, axis, OPPOSITE[saved.norm])
        return fitted(dx, saved.shape[axis], axis)

    @staticmethod
    def double_backward(saved, dy):
        axis = saved.axis % dy.ndim
        transform = np.fft.fft if saved.inverse else np.fft.ifft
        return _fitted(transform(dy, None, axis, OPPOSITE[saved.norm]), saved.shape[axis], axis)


class RealFourier(Op):
    """y = the first n // 2 + 1 entries of s F x of real x;   dx = s Re(F^H dy) with zeros for the other entries of dy."""

    portable = ""
    name = "rfft"

    @staticmethod
    @by_rows
    def forward(save, x, n, axis, norm="backward"):
        save.shape, save.n, save.axis, save.norm = x.shape, n, axis, norm
        return np.fft.rfft(x, n, axis, norm)

    @staticmethod
    def backward(saved, dy):
        dx = np.fft.ifft(dy, saved.n, saved.axis, OPPOSITE[saved.norm]).real
        return fitted(dx, saved.shape[saved.axis], saved.axis)

    @staticmethod
    def double_backward(saved, dy):
        """s Re(F^H dy), with zeros for the other entries of dy."""
        axis = saved.axis % dy.ndim
        dx = np.fft.ifft(_fitted(dy, saved.n, axis), None, axis, OPPOSITE[saved.norm]).real
        return _fitted(dx, saved.shape[axis], axis)


class InverseRealFourier(Op):
    """y = the n real numbers whose s F is x at the first n // 2 + 1 entries;   dx = s w F dy there.

    w is 1 at frequency 0 and at n / 2, 2 elsewhere: an entry between them stands for itself and its conjugate.
    """

    portable = ""
    saves_no_tensors = True
    name = "irfft"

    @staticmethod
    @by_rows
    def forward(save, x, n, axis, norm="backward"):
        save.shape, save.n, save.axis, save.norm = x.shape, n, axis, norm
        return np.fft.irfft(x, n, axis, norm)

    @staticmethod
    def backward(saved, dy):
        dx = np.moveaxis(np.fft.rfft(dy, None, saved.axis, OPPOSITE[saved.norm]), saved.axis, -1)
        dx[..., 1 : (saved.n + 1) // 2] *= 2
        return fitted(np.moveaxis(dx, -1, saved.axis), saved.shape[saved.axis], saved.axis)

    @staticmethod
    def double_backward(saved, dy):
        """s w F dy, w = 2 but for frequency 0 and n / 2."""
        axis, ndim = saved.axis % dy.ndim, dy.ndim
        dx = np.fft.rfft(dy, None, axis, OPPOSITE[saved.norm])
        twice = np.ones(dx.shape[axis], dy.dtype)
        twice[1 : (saved.n + 1) // 2] = 2
        return _fitted(dx * twice.reshape([-1 if a == axis else 1 for a in range(ndim)]), saved.shape[axis], axis)
