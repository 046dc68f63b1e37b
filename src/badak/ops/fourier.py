"""Discrete Fourier transforms of one axis, of length n: what is longer is cut off, what is shorter is filled with zeros.

With F[k, j] = exp(-2 pi i j k / n) the transforms are s F x and s F^H x, and each is the other's gradient: dx = s F^H dy,
dx = s F dy. The scale s is named as in PyTorch: "backward" puts 1/n on the inverse, "forward" on the other, "ortho" a
root of it on both; so a gradient has the same scale under the opposite name.
"""

from typing import Any

import numpy as np

from badak.ops._broadcast import by_rows
from badak.ops.operation import operation
from badak.ops.pad import Pad

OPPOSITE: dict = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def fitted(x: Any, size: int, axis: int) -> Any:
    """x cut off or filled with zeros to `size` along the axis."""
    axis %= x.ndim
    if x.shape[axis] == size:
        return x
    return Pad.of(x, pads=tuple((0, size - n if a == axis else 0) for a, n in enumerate(x.shape)))


def _adjoint(dy: Any, axis: int, norm: str, inverse: bool) -> Any:
    return (np.fft.fft if inverse else np.fft.ifft)(dy, None, axis % dy.ndim, OPPOSITE[norm])


Fourier = operation(
    "Fourier", "y = s F x of complex x, s F^H x where `inverse`;   dx = s F^H dy, s F dy.",
    lambda x, n, axis, norm="backward", inverse=False: (np.fft.ifft if inverse else np.fft.fft)(x, n, axis, norm),
    lambda dy, x_shape, axis, norm, inverse: fitted(_adjoint(dy, axis, norm, inverse), x_shape[axis], axis),
    lies=by_rows, portable="", name="fft",
)  # fmt: skip


def _real(dy: Any, x_shape: tuple[int, ...], n: int, axis: int, norm: str) -> Any:
    """s Re(F^H dy), with zeros for the other entries of dy."""
    axis = axis % dy.ndim
    dx = np.fft.ifft(fitted(dy, n, axis), None, axis, OPPOSITE[norm]).real
    return fitted(dx, x_shape[axis], axis)


RealFourier = operation(
    "RealFourier",
    "y = the first n // 2 + 1 entries of s F x of real x;   dx = s Re(F^H dy) with zeros for the other entries of dy.",
    lambda x, n, axis, norm="backward": np.fft.rfft(x, n, axis, norm),
    _real, lies=by_rows, saves_no_tensors=False, portable="", name="rfft",
)  # fmt: skip


def _half(dy: Any, x_shape: tuple[int, ...], n: int, axis: int, norm: str) -> Any:
    """s w F dy, w = 2 but for frequency 0 and n / 2."""
    axis = axis % dy.ndim
    dx = np.fft.rfft(dy, None, axis, OPPOSITE[norm])
    twice = np.ones(dx.shape[axis], dy.dtype)
    twice[1 : (n + 1) // 2] = 2
    return fitted(dx * twice.reshape([-1 if a == axis else 1 for a in range(dy.ndim)]), x_shape[axis], axis)


InverseRealFourier = operation(
    "InverseRealFourier",
    """y = the n real numbers whose s F is x at the first n // 2 + 1 entries;   dx = s w F dy there.

    w is 1 at frequency 0 and at n / 2, 2 elsewhere: an entry between them stands for itself and its conjugate.
    """,
    lambda x, n, axis, norm="backward": np.fft.irfft(x, n, axis, norm),
    _half, lies=by_rows, portable="", name="irfft",
)  # fmt: skip
