"""What kernels do to one row of numbers, register by register, the last one by a mask.

A register is a vector of SUMS bytes here, which LLVM puts into one to four of the CPU's: sums have one order on all of them.

Numba's loops take what does not fill four registers number by number: a softmax of 100 numbers spent two thirds of its time
on the last 36. Every operation is rounded on its own: with fast-math flags, (x - top) - rest would become x - (top + rest).
"""

# mypy: disable-error-code="call-arg"

from inspect import signature

import numpy as np

from badak.kernels.numba.codegen.bfloat16 import is_bfloat16
from badak.kernels.numba.codegen.floats import rounded
from badak.kernels.numba.codegen.instructions import LIKE, instruction
from badak.kernels.numba.codegen.registers import FLOAT32, FLOAT64, I64, SUMS, Loops, Vectors, outlined
from badak.kernels.numba.simd.functions import exp, exp_lanes

_TOGETHER = 4  # registers of a turn of a reduction, each with a result of its own: an addition takes four cycles
_LONG = 1 << 16  # numbers that are summed in their own precision: the sums of a longer row's parts are added in float64


def _sweep(v, size, body, carried=(), together=1):
    """Run carried = body(number of the register's first place, mask, carried) for each register of a row; gives `together` results.

    Whole registers interleaved of `together` come with no mask, those that are left with the mask of what they hold of the row.
    """
    builder, width = v.builder, len(carried)
    step = together * v.lanes
    turns = builder.udiv(size, I64(step))
    done = builder.mul(turns, I64(step))

    def turn(i, states):
        new = []
        for u in range(together):
            at = builder.add(builder.mul(i, I64(step)), I64(u * v.lanes))
            new += body(at, None, states[u * width : (u + 1) * width])
        return new

    def rest(i, states):
        at = builder.add(done, builder.mul(i, I64(v.lanes)))
        return [*body(at, v.first(builder.sub(size, at)), states[:width]), *states[width:]]

    states = v.repeat(turns, list(carried) * together, turn)
    left = builder.udiv(builder.add(builder.sub(size, done), I64(v.lanes - 1)), I64(v.lanes))
    states = v.repeat(left, states, rest)
    return [states[u * width : (u + 1) * width] for u in range(together)]


def _at(v, address, place, half):
    """The address of the number at a place of a row."""
    return v.builder.add(address, v.builder.mul(place, I64(2 if half else v.bytes)))


def _kept(v, mask, value, rest):
    """The value in the lanes of the mask, the rest in the others."""
    return value if mask is None else v.builder.select(mask, value, rest)


def _write(v, y, size, half, made):
    """Write y = made(number of the register's first place, mask) for each register of a row; for instructions that give nothing."""

    def body(place, mask, carried):
        v.store(made(place, mask), _at(v, y, place, half), mask=mask, half=half)
        return []

    _sweep(v, size, body)


def _of_half(emit):
    """The instructions that `emit` makes for rows x of numbers, and of bfloat16."""
    return emit(False), emit(True)


def _sum(v, first, size, body, together=_TOGETHER):
    """The sum of so many numbers of a row from `first` on, for a body that adds a register of it to a total."""
    totals = _sweep(v, size, lambda place, mask, total: body(v.builder.add(first, place), mask, total), [v.zero], together)
    totals = [total for (total,) in totals]
    while len(totals) > 1:
        totals = [v.builder.fadd(a, b) for a, b in zip(totals[::2], totals[1::2])]
    return v.total(totals[0])


def _summing(same):
    """The instruction that gives the sum of a row, from emit(builder, like, *values, first, size), `_sum` of a part of it.

    same: as of `instruction`. A long row is summed by a function of its own: among the loops that want such a sum its parts would
    take their registers.
    """

    def made(emit):
        def several(builder, like, *values):
            whole = lambda: [emit(builder, like, *values[:-1], I64(0), values[-1])]
            parts = lambda: [outlined(builder, like.type, values, _of_parts(emit, like.type))]
            (total,) = Loops(builder).either(builder.icmp_signed("<=", values[-1], I64(_LONG)), whole, parts, likely=True)
            return total

        told = signature(emit)
        several.__signature__ = told.replace(parameters=[each for each in told.parameters.values() if each.name != "first"])
        return instruction(same, gives=LIKE)(several)

    return made


def _of_parts(emit, kind):
    """What emits the sums of a row's parts, added in float64."""

    def parts(builder, *values):
        *values, size = values
        widened, narrowed = (builder.fpext, builder.fptrunc) if kind == FLOAT32 else (lambda value, kind: value,) * 2

        def part(i, whole):
            first = builder.mul(i, I64(_LONG))
            left = builder.sub(size, first)
            count = builder.select(builder.icmp_signed("<", left, I64(_LONG)), left, I64(_LONG))
            return [builder.fadd(whole[0], widened(emit(builder, kind(0.0), *values, first, count), FLOAT64))]

        count = builder.udiv(builder.add(size, I64(_LONG - 1)), I64(_LONG))
        (whole,) = Loops(builder).repeat(count, [FLOAT64(0.0)], part)
        return narrowed(whole, kind)

    return parts


@_of_half
def _largest(half):
    @instruction(1, gives=LIKE)
    def largest(builder, like, x, size):
        v = Vectors(builder, like.type, SUMS)
        least = v.constant(float("-inf"))

        def body(place, mask, top):
            return [v.larger(top[0], _kept(v, mask, v.load(_at(v, x, place, half), mask=mask, half=half), least))]

        tops = [top for (top,) in _sweep(v, size, body, [least], _TOGETHER)]
        while len(tops) > 1:
            tops = [v.larger(a, b) for a, b in zip(tops[::2], tops[1::2])]
        return v.reduce(tops[0], v.larger)

    return largest


def _emit_exp(half, writes):
    """The instruction that gives the sum of exp(x - shift), and writes the numbers of which it is made, not rounded."""

    @_summing(2)
    def several(builder, like, shift, made, x, first, size):
        v = Vectors(builder, like.type, SUMS)
        shift = v.splat(shift)

        def body(place, mask, total):
            e = exp_lanes(v, builder.fsub(v.load(_at(v, x, place, half), mask=mask, half=half), shift))
            if writes:
                v.store(e, _at(v, made, place, False), mask=mask)
            return [builder.fadd(total[0], _kept(v, mask, e, v.zero))]

        return _sum(v, first, size, body, together=1)

    return several


_exp_row, _exp_total = _of_half(lambda half: _emit_exp(half, True)), _of_half(lambda half: _emit_exp(half, False))


@_of_half
def _scaled(half):
    @instruction(2)
    def scaled(builder, like, factor, y, x, size):
        v = Vectors(builder, like.type, SUMS)
        factor = v.splat(factor)
        made = lambda place, mask: builder.fmul(v.load(_at(v, x, place, False), mask=mask), factor)
        _write(v, y, size, half, made)

    return scaled


@_of_half
def _shifted(half):
    @instruction(3)
    def shifted(builder, like, first, second, y, x, size):
        v = Vectors(builder, like.type, SUMS)
        first, second = v.splat(first), v.splat(second)

        def made(place, mask):
            return builder.fsub(builder.fsub(v.load(_at(v, x, place, half), mask=mask, half=half), first), second)

        _write(v, y, size, half, made)

    return shifted


def _emit_total(half, squares):
    """The instruction that gives the sum of x, or of (x - m)^2."""

    @_summing(2)
    def several(builder, like, m, x, first, size):
        v = Vectors(builder, like.type, SUMS)
        m = v.splat(m)

        def body(place, mask, total):
            number = v.load(_at(v, x, place, half), mask=mask, half=half)
            if not squares:
                return [builder.fadd(total[0], number)]
            d = _kept(v, mask, builder.fsub(number, m), v.zero)
            return [v.fma(d, d, total[0])]

        return _sum(v, first, size, body)

    return several


def _emit_products(half_a, half_b):
    """The instruction that gives the sum of a b; which of them is of bfloat16."""

    @_summing(1)
    def several(builder, like, a, b, first, size):
        v = Vectors(builder, like.type, SUMS)

        def body(place, mask, total):
            left = v.load(_at(v, a, place, half_a), mask=mask, half=half_a)
            return [v.fma(left, v.load(_at(v, b, place, half_b), mask=mask, half=half_b), total[0])]

        return _sum(v, first, size, body)

    return several


@_of_half
def _slopes(half):
    @_summing(3)
    def several(builder, like, m, r, dy, w, x, first, size):
        v = Vectors(builder, like.type, SUMS)
        m, r = v.splat(m), v.splat(r)

        def body(place, mask, total):
            g = builder.fmul(v.load(_at(v, dy, place, half), mask=mask, half=half), v.load(_at(v, w, place, False), mask=mask))
            h = builder.fmul(builder.fsub(v.load(_at(v, x, place, half), mask=mask, half=half), m), r)
            return [v.fma(g, h, total[0])]

        return _sum(v, first, size, body)

    return several


_products = {(a, b): _emit_products(a, b) for a, b in ((False, False), (True, False), (True, True))}
_total, _squares = _of_half(lambda half: _emit_total(half, False)), _of_half(lambda half: _emit_total(half, True))


def _emit_normal(half, biased):
    """The instruction that writes y = (x - m) r w + b, or without b; w and b are never bfloat16."""

    @instruction(3)
    def several(builder, like, m, r, y, x, w, b, size):
        v = Vectors(builder, like.type, SUMS)
        m, r = v.splat(m), v.splat(r)

        def made(place, mask):
            number = v.load(_at(v, x, place, half), mask=mask, half=half)
            h = builder.fmul(builder.fsub(number, m), r)
            factor = v.load(_at(v, w, place, False), mask=mask)
            return v.fma(h, factor, v.load(_at(v, b, place, False), mask=mask)) if biased else builder.fmul(h, factor)

        _write(v, y, size, half, made)

    return several


_normal, _normal_biased = _of_half(lambda half: _emit_normal(half, False)), _of_half(lambda half: _emit_normal(half, True))


def largest_in(x):
    """The largest number of a row; a NaN may be passed over: it shows in the sum of `exp_row` and `exp_total`."""
    return x.max(initial=-np.inf)


def exp_row(made, x, shift):
    """made = exp(x - shift), and its sum."""
    made[:] = exp(x - shift)
    return made.sum()


def exp_total(x, shift):
    """The sum of exp(x - shift)."""
    return exp(x - shift).sum()


def scaled_row(y, x, factor):
    """y = x factor; y may be x, or rounded to bfloat16."""
    y[:] = x * factor


def shifted_row(y, x, first, second):
    """y = (x - first) - second, each difference rounded on its own; y and x are of one dtype."""
    y[:] = (x - first) - second


def total_in(x):
    """The sum of a row."""
    return x.sum()


def squares_in(x, m):
    """The sum of (x - m)^2."""
    return ((x - m) ** 2).sum()


def products_in(a, b):
    """The sum of a b; b is of a's dtype, or of numbers where a is bfloat16."""
    return (a * b).sum()


def slopes_in(dy, w, x, m, r):
    """The sum of dy w (x - m) r; dy and x are of one dtype, w is never bfloat16."""
    return (dy * w * (x - m) * r).sum()


def normal_row(y, x, m, r, w, b):
    """y = (x - m) r w + b, b a row or None; y and x are of one dtype."""
    y[:] = (x - m) * r * w + (0 if b is None else b)


@rounded(total_in)
def _(x):
    total = _total[is_bfloat16(x)]
    return lambda x: total(x.dtype.type(0), x.dtype.type(0), x.ctypes.data, x.size)


@rounded(squares_in)
def _(x, m):
    squares = _squares[is_bfloat16(x)]
    return lambda x, m: squares(x.dtype.type(0), m, x.ctypes.data, x.size)


@rounded(products_in)
def _(a, b):
    products = _products[is_bfloat16(a), is_bfloat16(b)]
    return lambda a, b: products(a.dtype.type(0), a.ctypes.data, b.ctypes.data, a.size)


@rounded(slopes_in)
def _(dy, w, x, m, r):
    slopes = _slopes[is_bfloat16(x)]
    return lambda dy, w, x, m, r: slopes(x.dtype.type(0), m, r, dy.ctypes.data, w.ctypes.data, x.ctypes.data, x.size)


@rounded(normal_row)
def _(y, x, m, r, w, b):
    normal, biased = _normal[is_bfloat16(x)], _normal_biased[is_bfloat16(x)]
    if getattr(b, "ndim", 0) == 0:

        def run(y, x, m, r, w, b):
            normal(x.dtype.type(0), m, r, y.ctypes.data, x.ctypes.data, w.ctypes.data, 0, x.size)

    else:

        def run(y, x, m, r, w, b):
            biased(x.dtype.type(0), m, r, y.ctypes.data, x.ctypes.data, w.ctypes.data, b.ctypes.data, x.size)

    return run


@rounded(largest_in)
def _(x):
    largest = _largest[is_bfloat16(x)]
    return lambda x: largest(x.dtype.type(0), x.ctypes.data, x.size)


@rounded(exp_row)
def _(made, x, shift):
    several = _exp_row[is_bfloat16(x)]
    return lambda made, x, shift: several(x.dtype.type(0), shift, made.ctypes.data, x.ctypes.data, x.size)


@rounded(exp_total)
def _(x, shift):
    several = _exp_total[is_bfloat16(x)]
    return lambda x, shift: several(x.dtype.type(0), shift, 0, x.ctypes.data, x.size)


@rounded(scaled_row)
def _(y, x, factor):
    scaled = _scaled[is_bfloat16(y)]
    return lambda y, x, factor: scaled(x.dtype.type(0), factor, y.ctypes.data, x.ctypes.data, x.size)


@rounded(shifted_row)
def _(y, x, first, second):
    shifted = _shifted[is_bfloat16(y)]
    return lambda y, x, first, second: shifted(x.dtype.type(0), first, second, y.ctypes.data, x.ctypes.data, x.size)
