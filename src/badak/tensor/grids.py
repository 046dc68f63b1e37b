"""Coordinates of grids, and complex numbers from their parts."""

import itertools

import numpy as np

from badak.errors import ArgumentError, KindError
from badak.ops import cast as ops
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.elementwise import atan2
from badak.tensor.join import stack
from badak.tensor.promote import into, same
from badak.tensor.tensor import Tensor


def meshgrid(*tensors, indexing=None) -> tuple:
    """For vectors of lengths n0, n1, ...: one tensor of shape (n0, n1, ...) each, that runs along its own dim.

    indexing "xy" exchanges the first two dims; the default is "ij", as in PyTorch.
    """
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        tensors = tuple(tensors[0])
    if indexing not in (None, "ij", "xy"):
        raise ArgumentError(f'meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}', None)
    vectors = [x.reshape(-1) for x in tensors]
    shape = [x._array.size for x in vectors]
    n = len(vectors)
    grids = [x.reshape([-1 if a == k else 1 for a in range(n)]).expand(shape) for k, x in enumerate(vectors)]
    return tuple(g.transpose(0, 1) if indexing == "xy" and n > 1 else g for g in grids)


def cartesian_prod(*tensors) -> Tensor:
    """All combinations of one entry from each vector, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    return stack([g.reshape(-1) for g in meshgrid(*tensors)], dim=1)


def combinations(input, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of r entries of a vector, as rows."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(input._array.size), r)), np.int64).reshape(-1, r)
    return input[Tensor._of(rows)]


def polar(abs, angle, *, out=None) -> Tensor:  # noqa: A002
    """abs (cos angle + i sin angle), complex."""
    y = apply(ops.Polar, *same(abs, angle))
    return y if out is None else into(out, y)


def complex(real, imag, *, out=None) -> Tensor:  # noqa: A001
    """real + i imag."""
    y = apply(ops.Complex, *same(real, imag))
    return y if out is None else into(out, y)


def real(input) -> Tensor:
    """The real part; a view."""
    return apply(ops.Real, input) if input._array.dtype.kind == "c" else input


def imag(input) -> Tensor:
    """The imaginary part; a view."""
    if input._array.dtype.kind != "c":
        raise KindError(f"imag is not implemented for tensors with non-complex dtypes; got {input.dtype}", None)
    return apply(ops.Imag, input)


def conj(input) -> Tensor:
    """The complex conjugate; of a real tensor the tensor itself."""
    return apply(ops.Conj, input) if input._array.dtype.kind == "c" else input


def conj_physical(input) -> Tensor:
    """The complex conjugate, as conj: badak computes it at once, PyTorch's conj only notes it."""
    return conj(input)


def resolve_conj(input) -> Tensor:
    """The tensor itself: a conjugate is computed at once here."""
    return input


def resolve_neg(input) -> Tensor:
    """The tensor itself: a negative is computed at once here."""
    return input


def is_conj(input) -> bool:
    """False: a conjugate is computed at once here."""
    return False


def angle(input, *, out=None) -> Tensor:
    """The angle of each complex number in (-pi, pi]; of a real one 0, pi where it is negative."""
    x = input._array
    if x.dtype.kind != "c":
        kind = input.dtype if input.is_floating_point() else dtypes.default_dtype()
        return into(out, Tensor._of(np.where(x != x, x, np.where(x < 0, np.pi, 0)).astype(kind.numpy)))
    return into(out, atan2(imag(input), real(input)))


Real = property(real, doc="The real part; a view.")
Imag = property(imag, doc="The imaginary part; a view.")
