"""An array that records what is done to it: NumPy's functions, called with one, run badak's operations on its tensor."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from badak.ops import arithmetic, linalg, reduce, select, triangular, trigonometry
from badak.ops.cast import Cast, Clone
from badak.ops.complex import Conj, Imag, Real
from badak.ops.concat import Cat
from badak.ops.fourier import Fourier, InverseRealFourier, RealFourier
from badak.ops.index import Index, Select
from badak.ops.matmul import MatMul
from badak.ops.op import NotRecordable, Op
from badak.ops.pointwise import DECLARED
from badak.ops.rearrange import Flip, Reshape, Roll
from badak.ops.shape import Expand, Permute, Transpose
from badak.tensor.apply import apply
from badak.tensor.tensor import Tensor


class Recorded(NDArrayOperatorsMixin):
    """A float array of which every use is recorded. Comparisons and roundings, which have no slope, give NumPy's arrays."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    # ---------------------------------------------------------------- what it looks like

    @property
    def values(self) -> np.ndarray:
        """NumPy's array, for what has no gradient: comparisons, sizes."""
        return self.tensor._array

    kernels: Any  # what `badak.kernels.of` gives for it (bound by this package's table of contents)

    dtype = property(lambda self: self.values.dtype)
    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)
    size = property(lambda self: self.values.size)
    flags = property(lambda self: self.values.flags)
    strides = property(lambda self: self.values.strides)
    real = property(lambda self: run(Real, self) if self.dtype.kind == "c" else self)
    imag = property(lambda self: run(Imag, self))
    T = property(lambda self: self.transpose())

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise NotRecordable("its truth")

    # ---------------------------------------------------------------- NumPy's methods

    def reshape(self, *shape: Any) -> Tensor:
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return run(Reshape, self, shape=tuple(shape))

    def transpose(self, *axes: Any) -> Tensor:
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return run(Permute, self, axes=tuple(axes) if axes else tuple(range(self.ndim))[::-1])

    def swapaxes(self, a: int, b: int) -> Tensor:
        return run(Transpose, self, a=a % self.ndim, b=b % self.ndim)

    def sum(self, axis: int | Sequence[int] | None = None, dtype: Any = None, keepdims: bool = False) -> Any:
        x = self if dtype is None else self.astype(np.dtype(dtype))
        return run(reduce.Sum, x, axis=_axes(axis, self.ndim), keepdims=keepdims)

    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        return run(reduce.Mean, self, axis=_axes(axis, self.ndim), keepdims=keepdims)

    def prod(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        return run(reduce.Prod, self, axis=_axes(axis, self.ndim), keepdims=keepdims)

    def astype(self, dtype: np.dtype, copy: bool = True) -> "Recorded":
        return self if self.dtype == dtype else run(Cast, self, dtype=np.dtype(dtype))

    def conj(self) -> Any:
        return run(Conj, self) if self.dtype.kind == "c" else self

    def copy(self, order: str = "C") -> "Recorded":
        return run(Clone, self, order="rows" if order == "C" else None)

    def ravel(self) -> Tensor:
        return self.reshape(self.size)

    def __getitem__(self, key: tuple) -> Tensor:
        parts = key if type(key) is tuple else (key,)
        return run(Index if any(type(part) is np.ndarray for part in parts) else Select, self, key=key)

    # ---------------------------------------------------------------- NumPy's functions

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        if out is not None:
            raise NotRecordable(f"numpy.{ufunc.__name__}(out=...)")
        if method == "reduce" and ufunc in _REDUCTIONS:
            axis = _axes(options.get("axis", 0), self.ndim)
            made = run(_REDUCTIONS[ufunc], self, axis=axis, keepdims=options.get("keepdims", False))
            return _same_dtype(self, options.get("dtype"), made)
        if method != "__call__":
            raise NotRecordable(f"numpy.{ufunc.__name__}.{method}")
        if ufunc in _WITHOUT_SLOPE or ufunc is np.sign and self.dtype.kind != "c":
            return ufunc(*(x.values if type(x) is Recorded else x for x in inputs), **options)
        if ufunc in _OF_TWO:
            made = _of_two(*_OF_TWO[ufunc], *inputs)
        elif (op := DECLARED.get(ufunc)) is not None:
            made = run(op, *inputs)
        else:
            raise NotRecordable(f"numpy.{ufunc.__name__}")
        return _same_dtype(made, options.get("dtype"), made)

    def __array_function__(self, function, types, args, kwargs):
        if function in _FUNCTIONS:
            return _FUNCTIONS[function](*args, **kwargs)
        if function in DECLARED:
            return run(DECLARED[function], *args, **kwargs)
        raise NotRecordable(f"numpy.{function.__name__}")

    @staticmethod
    def run(op: type[Op], *inputs: Any, **attributes: Any) -> "Recorded":
        """An operation by its class: what `Op.of` asks for."""
        return run(op, *inputs, **attributes)


def run(op: type[Op], *inputs: Any, **attributes: Any) -> Any:
    """The operation on arrays, recorded ones or constants."""
    made = apply(op, *map(tensor_of, inputs), **attributes)
    return tuple(map(Recorded, made)) if type(made) is tuple else Recorded(made)


def tensor_of(x: "np.ndarray | Recorded") -> Tensor | None:
    """The tensor of a recorded array, or one around a constant."""
    if x is None or type(x) is Tensor:
        return x
    return x.tensor if type(x) is Recorded else Tensor._of(np.asarray(x))


def zeros(shape: Any, like: Recorded) -> Recorded:
    """A constant: zeros of like's dtype."""
    return Recorded(Tensor._of(np.zeros(shape, like.dtype)))


# ---------------------------------------------------------------- which operation NumPy's function is


# the operation of two arrays; of an array and a number; of a number and an array
_OF_TWO: dict[np.ufunc, tuple] = {
    np.add: (arithmetic.Add, arithmetic.Shift, arithmetic.Shift),
    np.subtract: (arithmetic.Sub, None, arithmetic.SubFrom),
    np.multiply: (arithmetic.Mul, arithmetic.Scale, arithmetic.Scale),
    np.divide: (arithmetic.Div, arithmetic.DivBy, arithmetic.DivInto),
    np.power: (arithmetic.Pow, arithmetic.PowBy, arithmetic.PowOf),
    np.maximum: (select.Maximum, None, None),
    np.minimum: (select.Minimum, None, None),
    np.arctan2: (trigonometry.Atan2, None, None),
    np.matmul: (MatMul, None, None),
}

_REDUCTIONS = {np.add: reduce.Sum, np.multiply: reduce.Prod, np.maximum: reduce.Amax, np.minimum: reduce.Amin}

_WITHOUT_SLOPE = {
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.isnan, np.isinf, np.isfinite,
    np.logical_and, np.logical_or, np.logical_not, np.signbit, np.floor, np.ceil, np.trunc, np.rint, np.floor_divide,
}  # fmt: skip


def _of_two(both, left, right, a, b) -> Recorded:
    if left is not None and _is_number(b):
        return run(left, _holding(a, b), c=_number(b))
    if right is not None and _is_number(a):
        return run(right, _holding(b, a), c=_number(a))
    dtype = np.result_type(*(x.dtype for x in (a, b) if type(x) is Recorded))
    return run(both, _as(a, dtype), _as(b, dtype))


def _is_number(x) -> bool:
    return isinstance(x, int | float | complex | np.generic)


def _number(x):
    return x.item() if isinstance(x, np.generic) else x


def _holding(x: Recorded, number) -> Recorded:
    """x as complex numbers, where the number is one."""
    return x.astype(np.result_type(x.dtype, np.complex64)) if isinstance(number, complex | np.complexfloating) else x


def _as(x, dtype):
    """x in this dtype; a constant that is complex stays so."""
    if type(x) is Recorded:
        return x.astype(dtype)
    x = np.asarray(x)
    return x if x.dtype.kind == "c" else x.astype(dtype)


def _axes(axis, ndim: int):
    if axis is None:
        return None
    return tuple(a % ndim for a in axis) if isinstance(axis, tuple | list) else (axis % ndim,)


def _same_dtype(x: Recorded, dtype, made: Recorded) -> Recorded:
    if dtype is not None and np.dtype(dtype) != made.dtype:
        raise NotRecordable(f"a result of dtype {np.dtype(dtype)} from {x.dtype}")
    return made


def _where(keep, a, b) -> Recorded:
    dtype = np.result_type(*(x.dtype for x in (a, b) if type(x) is Recorded))
    return run(select.Where, np.asarray(keep), _as(a, dtype), _as(b, dtype))


def _moveaxis(x: Recorded, source, destination):
    source, destination = (np.atleast_1d(places) % x.ndim for places in (source, destination))
    axes = [a for a in range(x.ndim) if a not in source]
    for to, a in sorted(zip(destination.tolist(), source.tolist())):
        axes.insert(to, a)
    return x.transpose(axes)


def _expand_dims(x: Recorded, axis):
    axes = {a % (x.ndim + (len(axis) if isinstance(axis, tuple | list) else 1)) for a in np.atleast_1d(axis).tolist()}
    sizes = iter(x.shape)
    return x.reshape([1 if a in axes else next(sizes) for a in range(x.ndim + len(axes))])


def _flip(x: Recorded, axis=None):
    return run(Flip, x, axes=_axes(axis, x.ndim) or tuple(range(x.ndim)))


def _cumsum(x: Recorded, axis, dtype=None):
    return _same_dtype(x, dtype, run(reduce.CumSum, x, axis=axis))


def _cumprod(x: Recorded, axis, dtype=None):
    return _same_dtype(x, dtype, run(reduce.CumProd, x, axis=axis))


def _fourier(inverse: bool):
    def transform(x, n=None, axis=-1, norm=None):
        n = x.shape[axis] if n is None else n
        dtype = np.result_type(x.dtype, np.complex64)
        return run(Fourier, x.astype(dtype), n=n, axis=axis, norm=norm or "backward", inverse=inverse)

    return transform


def _rfft(x, n=None, axis=-1, norm=None):
    return run(RealFourier, x, n=x.shape[axis] if n is None else n, axis=axis, norm=norm or "backward")


_FUNCTIONS: dict[Callable, Callable] = {
    np.where: _where,
    np.clip: lambda x, low, high: run(select.Clamp, x, lo=low, hi=high),
    np.broadcast_to: lambda x, shape: run(Expand, x, shape=tuple(shape)),
    np.expand_dims: _expand_dims,
    np.reshape: lambda x, shape: x.reshape(shape),
    np.moveaxis: _moveaxis,
    np.swapaxes: lambda x, a, b: x.swapaxes(a, b),
    np.zeros_like: lambda x, shape=None: zeros(x.shape if shape is None else shape, x),
    np.flip: _flip,
    np.roll: lambda x, shifts, axes: run(Roll, x, shifts=shifts, axes=axes),
    np.cumsum: _cumsum,
    np.cumprod: _cumprod,
    np.tril: lambda x, k=0: run(triangular.Tril, x, k=k),
    np.triu: lambda x, k=0: run(triangular.Triu, x, k=k),
    np.concatenate: lambda xs, axis=0: run(Cat, *xs, axis=axis % np.ndim(xs[0].values)),
    np.linalg.inv: lambda x: run(linalg.Inverse, x),
    np.linalg.solve: lambda a, b: run(linalg.Solve, a, b),
    np.fft.fft: _fourier(False),
    np.fft.ifft: _fourier(True),
    np.fft.rfft: _rfft,
    np.fft.irfft: lambda x, n, axis=-1, norm=None: run(InverseRealFourier, x, n=n, axis=axis, norm=norm or "backward"),
}
