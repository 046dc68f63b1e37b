"""torch.fft: discrete Fourier transforms, in one dim and in several, with gradients.

    fft: y[k] = s sum_j x[j] exp(-2 pi i j k / n)        ifft: the same with + and 1/n

`n` (or `s`, for several dims) is the length that the input is cut or zero-padded to; norm "backward" (default), "ortho" or
"forward" says where 1/n stands. float32 gives complex64. Source: Cooley & Tukey 1965; computed by NumPy's pocketfft.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, IndexOutOfRangeError, tr
from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.core.public_api.taken import named
from badak.ops import fourier as ops
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.convert import cast
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.promote import into, told_constant
from badak.tensor.rearrange import roll
from badak.tensor.tensor import Tensor

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
    "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


def _checked(where, x, n, dim, norm, halved=False) -> tuple[int, int, str]:
    """n, by default the size along dim (of a half spectrum: what it is half of), dim from the front, the norm's name."""
    if x._array.ndim == 0 or not -x._array.ndim <= dim < x._array.ndim:
        cause = tr("{}: expected dim in 0 .. {}; got dim={}", where, x._array.ndim - 1, dim)
        raise IndexOutOfRangeError(cause, "dim=-1 is the last one")
    size = x._array.shape[dim]
    n = (2 * (size - 1) if halved else size) if n is None else n
    if norm not in (None, *ops.OPPOSITE):
        raise ArgumentError(tr("{}: Invalid normalization mode: {!r}", where, norm), 'norm="backward", "ortho" or "forward"')
    if n < 1:
        raise ArgumentError(tr("{}: Invalid number of data points ({}) specified", where, n), "n >= 1")
    return n, dim % x._array.ndim, norm or "backward"


def _complex(where, x, n, dim, norm, inverse) -> Tensor:
    n, dim, norm = _checked(where, x, n, dim, norm)
    return apply(ops.Fourier, _as_complex(x), n=n, axis=dim, norm=norm, inverse=inverse)


def _as_complex(x) -> Tensor:
    x = x if x.is_floating_point() or x.is_complex() else cast(x, dtypes.default_dtype())
    return x if x.is_complex() else cast(x, x.dtype.to_complex())


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The transform along one dim, complex."""
    return into(out, _complex("fft", input, n, dim, norm, False))


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse transform along one dim, complex."""
    return into(out, _complex("ifft", input, n, dim, norm, True))


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The first n // 2 + 1 entries of fft of a real tensor; the others are their conjugates."""
    if input.is_complex():
        raise ArgumentError(tr("rfft: expects a real input tensor, but got {}", input.dtype), "fft, or input.real")
    n, dim, norm = _checked("rfft", input, n, dim, norm)
    x = input if input.is_floating_point() else cast(input, dtypes.default_dtype())
    return into(out, apply(ops.RealFourier, x, n=n, axis=dim, norm=norm))


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The n real numbers of which rfft is input; n = 2 (size - 1) by default."""
    n, dim, norm = _checked("irfft", input, n, dim, norm, halved=True)
    return into(out, apply(ops.InverseRealFourier, _as_complex(input), n=n, axis=dim, norm=norm))


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The transform, real, of a signal of which input is the first half and whose other half is its conjugate."""
    return into(out, irfft(input.conj(), n, dim, ops.OPPOSITE.get(norm or "backward", norm)))


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of hfft."""
    return into(out, rfft(input, n, dim, ops.OPPOSITE.get(norm or "backward", norm)).conj())


def _dims(where, x, s, dim, least=0) -> list[tuple]:
    """(size, dim) of each dim to transform; size None or -1 leaves it as it is."""
    s = [s] if isinstance(s, int) else s
    if dim is None:
        dim = range(-len(s), 0) if s is not None else range(x._array.ndim)
    dims = [dim] if isinstance(dim, int) else list(dim)
    sizes = [None] * len(dims) if s is None else [None if size == -1 else size for size in s]
    if len(sizes) != len(dims):
        raise ArgumentError(tr("{}: dim and shape must have the same length; got s={}, dim={}", where, s, dim))
    for d in dims:
        if not -x._array.ndim <= d < x._array.ndim:
            cause = tr("{}: expected dim in 0 .. {}; got dim={}", where, x._array.ndim - 1, d)
            raise IndexOutOfRangeError(cause, "dim=-1 is the last one")
    if len({d % x._array.ndim for d in dims}) != len(dims):
        raise ArgumentError(tr("{}: dims must be unique; got dim={}", where, dim), "dim=(0, 1)")
    if len(dims) < least:
        raise ArgumentError(tr("{} must transform at least one axis", where), "x[None]")
    return list(zip(sizes, dims))


def _each(one, where, x, s, dim, norm) -> Tensor:
    dims = _dims(where, x, s, dim)
    for size, d in dims:
        x = one(x, size, d, norm)
    return x if dims else _as_complex(x).clone()


def _to_half(where, x, s, dim, norm) -> Tensor:
    *others, (size, last) = _dims(where, x, s, dim, least=1)
    x = rfft(x, size, last, norm)
    for size, d in others:
        x = fft(x, size, d, norm)
    return x


def _of_half(where, x, s, dim, norm) -> Tensor:
    *others, (size, last) = _dims(where, x, s, dim, least=1)
    for other, d in others:
        x = ifft(x, other, d, norm)
    return irfft(x, size, last, norm)


def _of_dims(name: str, doc: str, of: Callable[..., Tensor], usual: tuple[int, int] | None = None) -> Callable[..., Tensor]:
    def transform(
        input: Tensor,
        s: int | Sequence[int] | None = None,
        dim: int | Sequence[int] | None = usual,
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        return into(out, of(name, input, s, dim, norm))

    return named(transform, name, doc)


_OF_DIMS: dict[str, tuple[str, Callable[..., Tensor]]] = {  # what each does, and to the input, sizes, dims and norm
    "fft": ("fft along each of the dims; all of them by default.", partial(_each, fft)),
    "ifft": ("ifft along each of the dims; all of them by default.", partial(_each, ifft)),
    "rfft": ("rfft along the last of the dims, then fft along the others.", _to_half),
    "irfft": ("ifft along all but the last of the dims, then irfft along that.", _of_half),
    "hfft": (
        "hfft along the last of the dims, fft along the others.",
        lambda where, x, s, dim, norm: _of_half(where, x.conj(), s, dim, ops.OPPOSITE.get(norm or "backward", norm)),
    ),
    "ihfft": (
        "The inverse of hfftn.",
        lambda where, x, s, dim, norm: _to_half(where, x, s, dim, ops.OPPOSITE.get(norm or "backward", norm)).conj(),
    ),
}
fftn, ifftn, rfftn, irfftn, hfftn, ihfftn = (_of_dims(f"{name}n", doc, of) for name, (doc, of) in _OF_DIMS.items())
fft2, ifft2, rfft2, irfft2, hfft2, ihfft2 = (
    _of_dims(f"{name}2", f"{name}n along two dims.", of, (-2, -1)) for name, (_, of) in _OF_DIMS.items()
)


def _frequencies(values, n, d, out, dtype, device, requires_grad) -> Tensor:
    dtypes.check_device(device)
    kind = dtypes.default_dtype() if dtype is None else dtypes.to_dtype(dtype)
    made = told_constant((values * (1.0 / (n * d))).astype(kind.numpy))
    return into(out, made.requires_grad_() if requires_grad else made)


def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: Any = None,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of fft's entries, (n,): 0, 1, ..., -2, -1 over n d, where d is the time between two samples."""
    return _frequencies(np.fft.fftfreq(n, 1.0 / n), n, d, out, dtype, device, requires_grad)


def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: Any = None,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of rfft's entries, (n // 2 + 1,): 0, 1, ... over n d."""
    return _frequencies(np.arange(n // 2 + 1.0), n, d, out, dtype, device, requires_grad)


def _shifted(input, dim, sign) -> Tensor:
    dims = range(input._array.ndim) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    sizes = [input._array.shape[d] for d in dims]
    return roll(input, [size // 2 if sign > 0 else -(size // 2) for size in sizes], list(dims))


def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Frequency 0 in the middle of each dim (of all by default)."""
    return _shifted(input, dim, 1)


def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The inverse of fftshift."""
    return _shifted(input, dim, -1)


__getattr__, __dir__ = _door("badak.fft")
_guard_names(globals(), "badak.fft")
