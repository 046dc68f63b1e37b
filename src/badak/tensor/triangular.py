"""The triangles and diagonals of matrices."""

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.core.public_api.taken import named
from badak.ops import pad
from badak.ops import triangular as ops
from badak.ops._check import axis_of
from badak.tensor.apply import apply
from badak.tensor.promote import into
from badak.tensor.shape import diagonal
from badak.tensor.tensor import Tensor

_TRIANGLE = """The part on and {side} a diagonal of the last two dims, 0 elsewhere (diagonal 1 is the one above the main one).

Args:
    input: (..., M, N)
    diagonal: the {which} one that stays; 0 is the main one
    out: where the result is written

Returns: tensor of input's shape

Example:
    >>> badak.ones(2, 2).{name}().tolist()
    {example}
"""


def _triangle(name: str, op, **words: str):
    def function(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
        return into(out, apply(op, _matrix(name, input), k=diagonal), exact=True)

    return named(function, name, _TRIANGLE.format(name=name, **words))


tril = _triangle("tril", ops.Tril, side="below", which="last", example="[[1.0, 0.0], [1.0, 1.0]]")
triu = _triangle("triu", ops.Triu, side="above", which="first", example="[[1.0, 1.0], [0.0, 1.0]]")


def _matrix(name: str, x: Tensor) -> Tensor:
    if x._array.ndim < 2:
        raise ShapeError(tr("{}: input tensor must have at least 2 dimensions; got shape {}", name, x._array.shape), "x[None]")
    return x


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A vector as the diagonal of a matrix, or a matrix's diagonal as a vector (a copy)."""
    if input._array.ndim == 1:
        return diag_embed(input, diagonal)
    if input._array.ndim > 2:
        cause = tr("diag(): Supports 1D or 2D tensors. Got {}D", input._array.ndim)
        raise ShapeError(cause, "x.diagonal(0, -2, -1) of each matrix")
    return _diagonal_of(_matrix("diag", input), diagonal)


def _diagonal_of(input, offset: int) -> Tensor:
    return diagonal(input, offset).clone()


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices of dims dim1 and dim2 that hold the last dim of input on a diagonal, 0 elsewhere."""
    ndim = input._array.ndim + 1
    a, b = axis_of(dim1, ndim), axis_of(dim2, ndim)
    if a == b:
        raise ArgumentError(tr("diag_embed: diagonal dimensions cannot be identical: {}, {}", dim1, dim2), "dim1=-2, dim2=-1")
    n, k = input._array.shape[-1], abs(offset)
    apart = apply(pad.Pad, input.contiguous().unsqueeze(-1), pads=((0, 0),) * (ndim - 1) + ((0, n),), value=0)
    spread = apart.flatten(-2)[..., : n * n].unflatten(-1, (n, n))  # with n zeros behind each entry, entry i stands in column i
    above, left = (0, k) if offset >= 0 else (k, 0)
    pads = ((0, 0),) * (ndim - 2) + ((above, k - above), (left, k - left))
    made = apply(pad.Pad, spread, pads=pads, value=0) if k else spread
    return made.movedim((-2, -1), (a, b)).contiguous()


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """All entries of input as a diagonal of one matrix."""
    return diag_embed(input.reshape(-1), offset)
