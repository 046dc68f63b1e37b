"""Complex numbers: made of two real arrays, taken apart, conjugated."""

import numpy as np

from badak.ops._broadcast import stretched
from badak.ops.batching import broadcasting
from badak.ops.operation import operation
from badak.ops.pointwise import pointwise

Polar = pointwise(
    "Polar", "y = r (cos t + i sin t);   dr = Re(dy conj(e^(it))), dt = r Im(dy conj(e^(it))), r = a, t = b.",
    lambda r, t: (r * (np.cos(t) + 1j * np.sin(t))).astype(np.result_type(r.dtype, np.complex64)),
    lambda dy, g, a: g.real.astype(a.dtype),
    lambda dy, g, a, b: (a * g.imag).astype(b.dtype),
    shared=lambda dy, b: dy * (np.cos(b) - 1j * np.sin(b)), owns_grads=False,
)  # fmt: skip


def _complex(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    y = np.empty(stretched(a.shape, b.shape), np.result_type(a.dtype, np.complex64))
    y.real, y.imag = a, b
    return y


Complex = pointwise(
    "Complex",
    "y = a + i b;   da = Re dy, db = Im dy.",
    _complex,
    lambda dy: dy.real,
    lambda dy: dy.imag,
    owns_grads=False,
    saves_no_tensors=False,
)


Angle = operation(
    "Angle", "y = the angle of the real x: 0, pi where x < 0, NaN for NaN;   dx = 0.",
    lambda x: np.where(x < 0, x.dtype.type(np.pi), np.where(x != x, x, x.dtype.type(0))),
    lambda dy: np.zeros_like(dy),
    saves_no_tensors=False, batching=broadcasting,
)  # fmt: skip


_VIEW: dict = {"view": True, "owns_grads": False, "batching": broadcasting}
Real = operation(
    "Real", "y = Re x;   dx = dy + 0i.",
    lambda x: x.real,
    lambda dy: dy.astype(np.result_type(dy.dtype, np.complex64)), **_VIEW,
)  # fmt: skip


Imag = operation(
    "Imag", "y = Im x;   dx = i dy.",
    lambda x: x.imag,
    lambda dy: dy * np.result_type(dy.dtype, np.complex64).type(1j), **_VIEW,
)  # fmt: skip


Conj = pointwise(
    "Conj", "y = the complex conjugate of x;   dx = the conjugate of dy.",
    lambda x: x.conj(), lambda dy: dy.conj(), like=np.conjugate, owns_grads=False,
)  # fmt: skip


def to_complex(x: np.ndarray) -> np.ndarray:
    """Pairs on the last axis as complex numbers, without a copy where the pairs lie side by side."""
    x = x if x.strides[-1] == x.itemsize else x.copy()
    return x.view(np.result_type(x.dtype, np.complex64))[..., 0]


def _to_real(x: np.ndarray) -> np.ndarray:
    return x[..., None].view(x.real.dtype)


ViewAsReal = operation(
    "ViewAsReal", "y[..., 0] = Re x, y[..., 1] = Im x;   dx = dy[..., 0] + i dy[..., 1].", _to_real, lambda dy: to_complex(dy),
    double_backward=lambda saved, dy: Complex.of(dy[..., 0], dy[..., 1]), **_VIEW,
)  # fmt: skip


ViewAsComplex = operation(
    "ViewAsComplex", "y = x[..., 0] + i x[..., 1];   dx[..., 0] = Re dy, dx[..., 1] = Im dy.", to_complex, lambda dy: _to_real(dy),
    double_backward=lambda saved, dy: ViewAsReal.of(dy), **_VIEW,
)  # fmt: skip
