"""Arrays of bfloat16 in compiled code: 16 bits in memory, float32 as soon as they are read.

A load widens (the bits become the upper half of a float32, which is exact), a store rounds to the nearest, ties to even, and a
NaN stays a NaN. So a kernel written for float32 compiles for bfloat16 as it stands, computes in float32, and rounds once,
where it writes: `x[i]` is a float32, `x.dtype.type(0)` makes one, and `x.dtype` is float32's wherever a kernel asks for it.

Numba does not know the dtype, and looks long for what it does not know: a driver takes such arrays as uint16, which they are in
memory, and `viewed` says what they are to its kernel.
"""

# mypy: disable-error-code="attr-defined,call-arg"

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from badak.kernels.half import BFLOAT16, value_dtype
from badak.kernels.numba.codegen.internals import (
    AbstractTemplate,
    ArrayAttribute,
    Conversion,
    PrimitiveModel,
    get_array_index_type,
    infer_getattr,
    infer_global,
    lower_cast,
    register_default,
    signature,
)

STORED = np.dtype(np.uint16)  # as what a driver takes it


class _Bfloat16(types.Type):
    """The element type of such arrays. No value has it: what is read is float32."""

    def __init__(self):
        super().__init__("bfloat16")

    def can_convert_from(self, typingctx, other):
        return Conversion.unsafe if isinstance(other, types.Number) else None


_bfloat16 = _Bfloat16()


def is_bfloat16(kind):
    """Whether an argument of an `overload` (a Numba type there) is an array of bfloat16."""
    return isinstance(kind, types.Array) and kind.dtype is _bfloat16


def viewed(kind):
    """The type under which a kernel knows what its driver took as `kind`."""
    return kind.copy(dtype=_bfloat16) if isinstance(kind, types.Array) and kind.dtype == types.uint16 else kind


def number_of(dtype):
    """(what a number of a NumPy dtype is in compiled code, what it is in the arrays that a driver takes): Numba types."""
    number = types.float32 if value_dtype(dtype) == np.float32 else types.float64
    return number, types.uint16 if dtype == BFLOAT16 else number


def _like(value, element):
    """`element`, an LLVM type, in as many lanes as `value` has."""
    return ir.VectorType(element, value.type.count) if isinstance(value.type, ir.VectorType) else element


def _constant(kind, number):
    return ir.Constant(kind, [number] * kind.count if isinstance(kind, ir.VectorType) else number)


def widened_bits(builder, bits):
    """The float32, or a vector of them, that these 16 bits are."""
    wide = _like(bits, ir.IntType(32))
    return builder.bitcast(builder.shl(builder.zext(bits, wide), _constant(wide, 16)), _like(bits, ir.FloatType()))


def rounded_bits(builder, value):
    """The 16 bits of a float32, or of a vector of them: the nearest bfloat16, of two equally near ones the even one."""
    wide = _like(value, ir.IntType(32))
    sixteen = _constant(wide, 16)
    bits = builder.bitcast(value, wide)
    upper = builder.lshr(bits, sixteen)
    odd = builder.and_(upper, _constant(wide, 1))
    near = builder.lshr(builder.add(bits, builder.add(odd, _constant(wide, 0x7FFF))), sixteen)
    nan = builder.or_(upper, _constant(wide, 0x40))  # of a NaN with digits in the lower half alone, infinity would be left
    chosen = builder.select(builder.fcmp_unordered("uno", value, value), nan, near)
    return builder.trunc(chosen, _like(value, ir.IntType(16)))


@register_default(_Bfloat16)
class _Model(PrimitiveModel):
    """A float32 of which memory holds 16 bits."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.FloatType())

    def get_data_type(self):
        return ir.IntType(16)

    def as_data(self, builder, value):
        return rounded_bits(builder, value)

    def from_data(self, builder, value):
        return widened_bits(builder, value)


@lower_cast(types.Number, _bfloat16)
def _(context, builder, given, wanted, value):
    return context.cast(builder, value, given, types.float32)


def bits(x):
    """The 16 bits of each number of an array of bfloat16, as they lie in memory: integers."""
    return x.astype(BFLOAT16).view(STORED)


@intrinsic
def _bits(typingctx, x):
    return x.copy(dtype=types.uint16)(x), lambda context, builder, signature, values: values[0]


overload(bits)(lambda x: (lambda x: _bits(x)) if is_bfloat16(x) else None)


def room_for(y):
    """Where a kernel that goes over a row of y (N, C) several times keeps its numbers meanwhile; y itself, if y can hold them."""
    return y


def unrounded(room, row):
    """The row of numbers that becomes `row` of y in the end."""
    return row


def rounded(row, numbers):
    """Round the numbers of `unrounded` into the row of y."""


@overload(room_for)
def _(y):
    return (lambda y: np.empty(y.shape[1], np.float32)) if is_bfloat16(y) else (lambda y: y)


@overload(unrounded)
def _(room, row):
    return (lambda room, row: room) if is_bfloat16(row) else (lambda room, row: row)


@overload(rounded)
def _(row, numbers):
    if not is_bfloat16(row):
        return lambda row, numbers: None

    def write(row, numbers):
        for c in range(row.size):
            row[c] = numbers[c]

    return write


@infer_global(operator.getitem)
class _Read(AbstractTemplate):
    """x[i] is a float32. It is asked before Numba's own rule for arrays, being made for the CPU."""

    metadata = {"target": "cpu"}  # noqa: RUF012

    def generic(self, arguments, named):
        array, index = arguments
        if not is_bfloat16(array):
            return None
        found = get_array_index_type(array, index)
        return found and signature(types.float32 if found.result is _bfloat16 else found.result, array, found.index)


@infer_getattr
class _Attribute(ArrayAttribute):
    """The dtype of such an array is that of what is read from it."""

    metadata = {"target": "cpu"}  # noqa: RUF012

    def resolve_dtype(self, array):
        return types.DType(types.float32) if is_bfloat16(array) else None
