"""Complex numbers: made from their parts, taken apart, conjugated."""

from badak.core.errors import DTypeError, ShapeError, tr
from badak.ops import complex as ops
from badak.ops._check import expect_floats, expect_real
from badak.tensor.apply import apply, see
from badak.tensor.arithmetic import neg
from badak.tensor.dtypes import float32, float64
from badak.tensor.pointwise import atan2
from badak.tensor.promote import floating, into, not_a_tensor, same
from badak.tensor.shape import matrices
from badak.tensor.tensor import Tensor


def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:  # noqa: A002
    """abs (cos angle + i sin angle), complex."""
    expect_real("polar", abs, angle)
    expect_floats("polar", abs, angle)
    return into(out, apply(ops.Polar, *same(abs, angle)), exact=True)


def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:  # noqa: A001
    """real + i imag, of two floating tensors of one dtype."""
    if real.dtype is not imag.dtype or real.dtype not in (float32, float64):
        cause = tr("complex: expected two float32 or two float64 tensors; got {} and {}", real.dtype, imag.dtype)
        raise DTypeError(cause, "imag.to(real.dtype)")
    return into(out, apply(ops.Complex, *same(real, imag)), exact=True)


def real(input: Tensor) -> Tensor:
    """The real part; a view."""
    return apply(ops.Real, input) if input._array.dtype.kind == "c" else input


def imag(input: Tensor) -> Tensor:
    """The imaginary part; a view."""
    if input._array.dtype.kind != "c":
        cause = tr("imag is not implemented for tensors with non-complex dtypes; got {}", input.dtype)
        raise DTypeError(cause, "badak.zeros_like(x)")
    return apply(ops.Imag, input)


def conj(input: Tensor) -> Tensor:
    """The complex conjugate; of a real tensor the tensor itself."""
    return apply(ops.Conj, input) if input._array.dtype.kind == "c" else input


def conj_physical(input: Tensor) -> Tensor:
    """The complex conjugate, as conj: badak computes it at once, PyTorch's conj only notes it."""
    return conj(input)


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: a conjugate is computed at once here."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("resolve_conj", input)
    return input


def _neg_view(input) -> Tensor:
    """-x, computed at once. What is written into PyTorch's changes x; so this one can only be read."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("_neg_view", input)
    y = neg(input)
    y._array.flags.writeable = False
    return y


def is_neg(input: Tensor) -> bool:
    """False: -x is computed at once here."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("is_neg", input)
    return False


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: a negative is computed at once here."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("resolve_neg", input)
    return input


def is_conj(input: Tensor) -> bool:
    """False: a conjugate is computed at once here."""
    return False


def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of each complex number in (-pi, pi]; of a real one 0, pi where it is negative."""
    if input._array.dtype.kind != "c":
        return into(out, apply(ops.Angle, floating(input, "angle")))
    return into(out, atan2(imag(input), real(input)))


def _into(part):
    """How a part is assigned: its values change, those of the other part stay."""

    def assign(input: Tensor, value: Tensor) -> None:
        seen = part(input)
        seen.copy_(value) if isinstance(value, Tensor) else seen.fill_(value)

    return assign


Real = property(real, _into(real), doc="The real part; a view.")


Imag = property(imag, _into(imag), doc="The imaginary part; a view.")


def view_as_real(input: Tensor) -> Tensor:
    """A complex tensor as pairs (real, imaginary) in a new last dim; a view."""
    if input._array.dtype.kind != "c":
        raise DTypeError(tr("view_as_real is only supported for complex tensors; got {}", input.dtype), None)
    return see(ops.ViewAsReal, input)


def view_as_complex(input: Tensor) -> Tensor:
    """Pairs (real, imaginary) on the last dim as complex numbers; a view."""
    array = input._array
    if array.dtype.kind != "f" or array.itemsize < 4:
        cause = tr("view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
                   "{}; badak has no complex numbers of half", input.dtype.word)  # fmt: skip
        raise DTypeError(cause, "x.float()")
    if array.ndim == 0:
        raise ShapeError("Input tensor must have one or more dimensions", "x of shape (..., 2)")
    if array.shape[-1] != 2:
        raise ShapeError(tr("Tensor must have a last dimension of size 2; got {}", array.shape), "x.reshape(*x.shape[:-1], -1, 2)")
    strides = input.stride()
    if strides[-1] != 1:
        raise ShapeError("Tensor must have a last dimension with stride 1", "x.contiguous()")
    if any(s % 2 for s in strides[:-1]):
        raise ShapeError("Tensor must have a stride divisible by 2 for all but last dimension", "x.contiguous()")
    if input.storage_offset() % 2:
        raise ShapeError("Tensor must have a storage_offset divisible by 2", "x.clone()")
    return see(ops.ViewAsComplex, input)


def adjoint(input: Tensor) -> Tensor:
    """The last two dims exchanged, conjugated if complex."""
    return matrices(input.conj(), "adjoint()")


def _of_matrix(input) -> Tensor:
    if input._array.ndim not in (0, 2):
        raise ShapeError(
            tr("tensor.H is only supported on matrices (2-D tensors). Got {}-D tensor.", input._array.ndim),
            "x.mH for a batch of matrices" if input._array.ndim > 2 else "x.unsqueeze(-1) is a column, x.unsqueeze(0) a row",
        )
    return matrices(input.conj(), "H")


mH = property(lambda x: matrices(x.conj(), "mH"), doc="The last two dims exchanged, conjugated if complex.")


H = property(_of_matrix, doc="A matrix transposed and conjugated.")
