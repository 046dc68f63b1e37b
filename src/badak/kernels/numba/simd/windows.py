"""The largest number of each of many windows side by side, a register of windows at a time."""

# mypy: disable-error-code="call-arg"

from badak.kernels.numba.codegen.floats import rounded
from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.registers import I32, I64, Vectors, ir
from badak.kernels.numba.simd.rows import _at, _sweep

STRIDES = 1, 2  # those that `largest_of_windows` knows


@instruction(2, stride=STRIDES)
def _largest(builder, like, stride, y, index, x, start, offsets, count, size):
    v = Vectors(builder, like.type)
    doubles = Vectors(builder, ir.DoubleType(), 8 * v.lanes)  # as which places are stored, bit by bit
    wide = ir.VectorType(I64, v.lanes)
    apart = ir.Constant(wide, [stride * lane for lane in range(v.lanes)])
    every_second = ir.Constant(v.indices, [2 * lane for lane in range(v.lanes)])

    def numbers(place, mask):
        """Those at a place of the windows of a register. Of every second number, the one behind the last is not touched."""
        if stride == 1:
            return v.load(place, mask=mask)
        if mask is None:
            first, second = v.load(place), v.load(place, v.lanes * v.bytes, mask=v.first(I64(v.lanes - 1)))
        else:
            left = builder.sub(builder.mul(builder.sub(size, at[0]), I64(2)), I64(1))
            first = v.load(place, mask=v.first(left))
            second = v.load(place, v.lanes * v.bytes, mask=v.first(builder.sub(left, I64(v.lanes))))
        return builder.shuffle_vector(first, second, every_second)

    at = [None]

    def body(place, mask, carried):
        at[0] = place
        begin = builder.add(start, builder.mul(place, I64(stride)))

        def turn(k, states):
            best, where = states
            offset = builder.load(builder.inttoptr(builder.add(offsets, builder.mul(k, I64(8))), I64.as_pointer()))
            found = numbers(_at(v, x, builder.add(begin, offset), False), mask)
            larger = builder.fcmp_ordered(">", found, best)
            better = builder.or_(larger, builder.fcmp_unordered("uno", found, found))
            here = v.splat(builder.trunc(offset, I32))
            return [builder.select(better, found, best), builder.select(better, here, where)]

        none = ir.Constant(v.indices, [0] * v.lanes)
        best, where = v.repeat(count, [v.constant(float("-inf")), none], turn)
        v.store(best, _at(v, y, place, False), mask=mask)
        places = builder.add(builder.add(builder.sext(where, wide), apart), v.splat(begin))
        bits = builder.bitcast(places, doubles.type)
        doubles.store(bits, builder.add(index, builder.mul(place, I64(8))), mask=mask)
        return []

    _sweep(v, size, body)


def largest_of_windows(y, index, x, start, stride, offsets):
    """y[o] = the largest of x[start + o stride + offsets], the first of equals, NaN if there is one, and `index` its place."""
    for o in range(y.size):
        places = start + o * stride + offsets
        odd = places[x[places] != x[places]]
        index[o] = odd[-1] if odd.size else places[x[places].argmax()]
        y[o] = x[index[o]]


@rounded(largest_of_windows)
def _(y, index, x, start, stride, offsets):
    def run(y, index, x, start, stride, offsets):
        _largest(
            x.dtype.type(0),
            stride,
            y.ctypes.data,
            index.ctypes.data,
            x.ctypes.data,
            start,
            offsets.ctypes.data,
            offsets.size,
            y.size,
        )

    return run
