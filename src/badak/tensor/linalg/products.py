"""Products of vectors and matrices."""

from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, DTypeError, NotSupportedError, ShapeError, expect_kind, tr
from badak.core.events import pure
from badak.core.modes import modes
from badak.kernels.half import BFLOAT16
from badak.ops._broadcast import expands
from badak.ops._check import expect_floats, unlike_factors
from badak.ops.linear import AddMM
from badak.ops.matmul import MatMul
from badak.tensor.apply import apply
from badak.tensor.arithmetic import add, mul, sub
from badak.tensor.casting import in_half
from badak.tensor.concat import stack
from badak.tensor.dtypes import int8, uint8
from badak.tensor.linalg.einsum import tensordot
from badak.tensor.promote import factor, into, not_a_tensor
from badak.tensor.reductions import sum
from badak.tensor.shape import diagonal, reshape, unsqueeze
from badak.tensor.tensor import Tensor
from badak.tensor.upcast import in_float32


def matmul(input: Any, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Matrix product over the last two dims; leading dims broadcast, a vector on the left is a row, on the right a column.

    y[..., m, n] = sum_k a[..., m, k] b[..., k, n];   da = dy b^T, db = a^T dy.
    float16 and bfloat16 are multiplied in float32 and rounded once.

    Args:
        input: (..., M, K), or (K,)
        other: (..., K, N), or (K,)
        out: where the result is written

    Returns: (..., M, N); without the axis that a vector lacks

    Raises:
        ShapeError: where the two K differ

    Example:
        >>> badak.matmul(badak.ones(2, 3), badak.ones(3, 4)).shape
        badak.Size([2, 4])
    """
    try:
        kind = input._array.dtype.kind
    except AttributeError:
        raise not_a_tensor("matmul", input) from None
    if not isinstance(other, Tensor):
        raise not_a_tensor("matmul", other)
    y = apply(MatMul, input, other) if kind in "fV" else _by_numpy(input, other)
    return into(out, y, exact=True)


def _by_numpy(a: Tensor, b: Tensor) -> Tensor:
    """Dtypes that the kernels do not know."""
    if a.dtype is not b.dtype:
        raise DTypeError(unlike_factors(a._array, b._array), "b.to(a.dtype)")
    if a._array.dtype.kind == "b":
        raise NotSupportedError("\"matmul\" not implemented for 'Bool'", "a.float() @ b.float()")
    if a.is_complex():
        real = apply(MatMul, a.real, b.real) - apply(MatMul, a.imag, b.imag)
        return real + (apply(MatMul, a.real, b.imag) + apply(MatMul, a.imag, b.real)) * 1j
    try:
        return Tensor._of(a._array @ b._array)
    except ValueError:
        cause = tr("mat1 and mat2 shapes cannot be multiplied: {} and {}", a._array.shape, b._array.shape)
        raise ShapeError(cause, "the last size of a must be the second to last of b") from None


def _dims(name: str, x: Tensor, ndim: int, what: str) -> None:
    if x._array.ndim != ndim:
        kind = {1: tr("a vector"), 2: tr("a matrix")}.get(ndim, f"{ndim}D")
        raise ShapeError(tr("{}: {} must be {}; got shape {}", name, what, kind, x._array.shape), "badak.matmul takes any dims")


def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix product, (M, K) and (K, N)."""
    _dims("mm", input, 2, "self")
    _dims("mm", mat2, 2, "mat2")
    return matmul(input, mat2, out=out)


@pure
def _int_mm(input, mat2) -> Tensor:
    """The matrix product of 8-bit integers, (M, K) and (K, N), in int32."""
    for name, x in (("self", input), ("mat2", mat2)):
        expect_kind(x, Tensor, "{}(): argument '{}' must be Tensor, not {}", "badak.tensor(x)", "_int_mm", name)
        _dims("_int_mm", x, 2, name)
        if x.dtype not in (int8, uint8):
            raise DTypeError(tr("_int_mm: expected {} dtype to be int8 or uint8 but got {}", name, x.dtype), "x.to(badak.int8)")
    if input.shape[1] != mat2.shape[0]:
        cause = tr("_int_mm: self.size(1) needs to match mat2.size(0) but got {} and {}", input.shape[1], mat2.shape[0])
        raise ShapeError(cause, "x.T")
    exact = input._array.astype(np.float64) @ mat2._array.astype(np.float64)  # whose products are whole, and sums below 2^53
    return Tensor._of(exact.astype(np.int64).astype(np.int32))


def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of two stacks of matrices, (B, M, K) and (B, K, N).

    Args:
        input: (B, M, K)
        mat2: (B, K, N)
        out: where the result is written

    Returns: (B, M, N)

    Raises:
        ShapeError: for other numbers of axes, or sizes that do not fit

    Example:
        >>> tuple(badak.bmm(badak.ones(5, 2, 3), badak.ones(5, 3, 4)).shape)
        (5, 2, 4)
    """
    _dims("bmm", input, 3, "batch1")
    _dims("bmm", mat2, 3, "batch2")
    a, b = input._array.shape, mat2._array.shape
    if a[0] != b[0] or a[2] != b[1]:
        cause = tr(
            "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].", a[0], a[2], b[0], b[1]
        )
        raise ShapeError(cause, tr("the shapes are {} and {}; bmm takes (B, M, K) and (B, K, N)", a, b))
    return matmul(input, mat2, out=out)


def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A matrix (M, K) times a vector (K,)."""
    _dims("mv", input, 2, "self")
    _dims("mv", vec, 1, "vec")
    return matmul(input, vec, out=out)


def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inner product of two vectors of one length."""
    a, b = input._array, tensor._array
    if a.ndim != 1 or b.ndim != 1:
        raise ShapeError(tr("1D tensors expected, but got {}D and {}D tensors", a.ndim, b.ndim), "(a * b).sum()")
    if a.dtype != b.dtype:
        raise DTypeError(unlike_factors(a, b), None)
    if a.shape != b.shape:
        cause = tr("inconsistent tensor size, expected tensor {} and src {} to have the same number of "
                   "elements, but got {} and {} elements respectively", list(a.shape), list(b.shape), a.size, b.size)  # fmt: skip
        raise ShapeError(cause, None)
    return matmul(input, tensor, out=out)


def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """dot of the conjugate of input with other."""
    return dot(input.conj(), other, out=out)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Products summed over the last dim of both."""
    if not input._array.ndim or not other._array.ndim:
        return mul(input, other)
    return tensordot(input, other, dims=([-1], [-1]))


def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y[i, j] = a[i] b[j]."""
    if input._array.ndim != 1 or vec2._array.ndim != 1:
        cause = tr("outer: Expected 1-D arguments; got shapes {} and {}", input._array.shape, vec2._array.shape)
        raise ShapeError(cause, "x.flatten()")
    return mul(unsqueeze(input, 1), unsqueeze(vec2, 0), out=out)


ger = outer


def _plus(input, product: Tensor, beta, alpha, out, exact: bool = True) -> Tensor:
    beta, alpha = factor(product, beta, "beta"), factor(product, alpha, "alpha")
    sizes = product._array.shape
    if not expands(input._array.shape, sizes):
        cause = tr("the input of shape {} does not expand to the product's, {}", input._array.shape, sizes)
        raise ShapeError(cause, "an input of the product's shape, or one that stretches to it")
    product = product if alpha == 1 else mul(product, alpha)
    # lies as the product does
    return into(out, product if beta == 0 else add(product, input if beta == 1 else mul(input, beta)), exact)


_MIXED = {"f", BFLOAT16.char}  # which autocast takes as they are
_ALIKE = {3 * char for char in ("f", "d", BFLOAT16.char)}


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: complex = 1, alpha: complex = 1, out: Tensor | None = None) -> Tensor:
    """beta input + alpha mat1 mat2."""
    b, x, w = input._array, mat1._array, mat2._array
    if b.ndim == 1 and x.ndim == w.ndim == 2 and beta == alpha == 1 and out is None:
        kinds = b.dtype.char + x.dtype.char + w.dtype.char
        if (kinds in _ALIKE or (modes.casting is not None and set(kinds) == _MIXED)) and (*x.shape[1:], *b.shape) == w.shape:
            return apply(AddMM, input, mat1, mat2)
    return _plus(in_half(input), mm(mat1, mat2), beta, alpha, out)


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: complex = 1, alpha: complex = 1, out: Tensor | None = None) -> Tensor:
    """beta input + alpha mat vec."""
    return _plus(input, mv(mat, vec), beta, alpha, out)


@in_float32
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: complex = 1, alpha: complex = 1, out: Tensor | None = None
) -> Tensor:
    """beta input + alpha sum_b batch1[b] batch2[b]."""
    return _plus(in_half(input), sum(bmm(batch1, batch2), 0, dtype=batch1.dtype), beta, alpha, out)


@in_float32
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: complex = 1, alpha: complex = 1, out: Tensor | None = None
) -> Tensor:
    """beta input + alpha batch1[b] batch2[b] for each b."""
    return _plus(in_half(input), bmm(batch1, batch2), beta, alpha, out)


def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: complex = 1, alpha: complex = 1, out: Tensor | None = None) -> Tensor:
    """beta input + alpha outer(vec1, vec2); of booleans True where one of the two summands is."""
    product = outer(vec1, vec2)
    kind = max((input, product), key=lambda x: "buifc".find(x._array.dtype.kind))._array.dtype.kind
    for name, one in (("beta", beta), ("alpha", alpha)):
        if isinstance(one, bool) and kind != "b":
            raise ArgumentError(tr("Boolean {} only supported for Boolean results.", name), f"{name}=1")
        if isinstance(one, float) and kind in "iub":
            cause = tr("For integral input tensors, argument {} must not be a floating point number.", name)
            raise ArgumentError(cause, "x.float() for each of the tensors")
    if kind == "b":
        beta, alpha = bool(beta), bool(alpha)
    return _plus(input, product, beta, alpha, out, exact=False)


def chain_matmul(*matrices: Any) -> Tensor:
    """The product of several matrices, from left to right."""
    y = matrices[0]
    for m in matrices[1:]:
        y = matmul(y, m)
    return y


@in_float32
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    _dims("trace", input, 2, "input")
    expect_floats("trace", input, also="iu")
    return sum(diagonal(input))


def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: every entry of input times the whole of other."""
    a, b = input, other
    while a._array.ndim < b._array.ndim:
        a = unsqueeze(a, 0)
    while b._array.ndim < a._array.ndim:
        b = unsqueeze(b, 0)
    n = a._array.ndim
    for d in range(n):
        a, b = unsqueeze(a, 2 * d + 1), unsqueeze(b, 2 * d)
    y = mul(a, b)  # (a0, b0, a1, b1, ...)
    shape = y._array.shape
    return reshape(y, [shape[2 * d] * shape[2 * d + 1] for d in range(n)])


# ---------------------------------------------------------------------- einsum


def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:  # noqa: A002
    """The vector product along `dim`, of size 3."""
    if input._array.ndim != other._array.ndim:
        cause = tr(
            "linalg.cross: inputs must have the same number of dimensions; got {} and {}", input._array.shape, other._array.shape
        )
        raise ShapeError(cause, "other.expand_as(input)")
    a, b = input.unbind(dim), other.unbind(dim)
    if len(a) != 3 or len(b) != 3:
        raise ArgumentError(tr("linalg.cross: inputs dimension {} must have length 3. Got {} and {}", dim, len(a), len(b)), None)
    parts = [sub(mul(a[i], b[j]), mul(a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
    return into(out, stack(parts, dim), exact=True)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The sum along `dim` of the products of the conjugate of x with y."""
    return into(out, mul(in_half(x).conj(), in_half(y)).sum(dim), exact=True)


@in_float32
def multi_dot(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, from left to right."""
    tensors = list(tensors)
    if len(tensors) < 2:
        raise ArgumentError("multi_dot(): expected at least 2 tensors", None)
    return into(out, chain_matmul(*tensors), exact=True)
