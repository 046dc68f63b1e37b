"""Numbers of bfloat16 arrays as float32 and back, where kernels compute in several steps.

Rows of heads, of 8 or 32 numbers, are too short for loops of Numba: they go by registers.
"""

# mypy: disable-error-code="call-arg"

import numpy as np

from badak.kernels.numba.codegen.bfloat16 import is_bfloat16, rounded_bits, widened_bits
from badak.kernels.numba.codegen.compile import overload
from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.registers import FLOAT32, I64, Vectors


def _move_rows(reading, writing, rounding=False):
    """The instruction that moves rows of numbers from x to y; reading, writing: whether x and y are bfloat16, else float32.

    rounding: the numbers of y are those of bfloat16.
    """

    @instruction()
    def move(builder, x, x_row, rows, columns, y, y_row):
        v = Vectors(builder, FLOAT32)
        whole = builder.udiv(columns, I64(v.lanes))
        rest = builder.sub(columns, builder.mul(whole, I64(v.lanes)))
        more = builder.zext(builder.icmp_signed(">", rest, I64(0)), I64)

        def register(i, j, mask):
            source, target = (builder.add(start, builder.mul(i, step)) for start, step in ((x, x_row), (y, y_row)))
            wide, narrow = (builder.mul(j, I64(item * v.lanes)) for item in (4, 2))
            numbers = v.load(source, narrow if reading else wide, mask, reading)
            if rounding:
                numbers = widened_bits(builder, rounded_bits(builder, numbers))
            v.store(numbers, target, narrow if writing else wide, mask, writing)
            return []

        def row(i, _):
            v.repeat(whole, [], lambda j, _: register(i, j, None))
            v.repeat(more, [], lambda _, __: register(i, whole, v.first(rest)))
            return []

        v.repeat(rows, [], row)

    return move


widen_rows, round_rows, round_in_float32 = _move_rows(True, False), _move_rows(False, True), _move_rows(False, False, True)


def summing(x):
    """Zeros that stand for x (one or two axes) while it is summed up: x itself, or float32 if x is bfloat16."""
    x[...] = 0
    return x


def numbers_in(x, room):
    """What stands for x (M, N) while it is computed: x itself, or the corner of `room`, float32, if x is bfloat16."""
    return x


def rounded_to(x, sums):
    """x = the numbers of `summing(x)` or `numbers_in(x, room)`, rounded once. The last axis of both is contiguous."""


def in_full(wide, x, room):
    """x (M, N), rows contiguous, in float32 in the corner of `room` if it is bfloat16 and `wide`; x itself where it is none."""
    return x


@overload(summing)
def _(x):
    if is_bfloat16(x):
        return lambda x: np.zeros(x.shape, np.float32)

    def run(x):
        x[...] = 0
        return x

    return run


@overload(numbers_in)
def _(x, room):
    return (lambda x, room: room[: x.shape[0], : x.shape[1]]) if is_bfloat16(x) else (lambda x, room: x)


@overload(rounded_to)
def _(x, sums):
    if not is_bfloat16(x):
        return lambda x, sums: None
    if x.ndim == 1:

        def run(x, sums):
            for i in range(x.shape[0]):
                x[i] = sums[i]

    else:

        def run(x, sums):
            round_rows(sums.ctypes.data, sums.strides[0], x.shape[0], x.shape[1], x.ctypes.data, x.strides[0])

    return run


@overload(in_full)
def _(wide, x, room):
    if not is_bfloat16(x):
        return lambda wide, x, room: x

    def run(wide, x, room):
        y = room[: x.shape[0], : x.shape[1]] if wide else room[:0]
        widen_rows(x.ctypes.data, x.strides[0], y.shape[0], y.shape[1], y.ctypes.data, y.strides[0])
        return y

    return run
