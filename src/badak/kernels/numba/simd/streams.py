"""One vector times a matrix whose rows are contiguous: sums of its rows, each row read once and in order."""

from badak.kernels.numba.codegen.compile import overload
from badak.kernels.numba.codegen.registers import I64, Vectors, instruction, returns

__all__ = ["add_rows"]

_TOGETHER = 8  # rows added in a turn, for one look at the sums


def add_rows(y, x, w):
    """y[m] += sum_k x[m, k] w[k]; rows are contiguous. The bits of y[m, n] depend on x[m] and the column n of w alone."""
    for k in range(w.shape[0]):
        for m in range(y.shape[0]):
            y[m] += x[m, k] * w[k]


def _emit(rows):
    """The instruction for `rows` rows: (one number, address of w, bytes from row to row, of x, of y, their width).

    While one turn is computed, what the next will read is asked for.
    """

    @instruction
    def several(typingctx, like, w, step, x, y, width):
        def codegen(context, builder, signature, values):
            v = Vectors(builder, signature.args[0])
            _, w, step, x, y, width = values
            starts = [builder.add(w, builder.mul(step, I64(row))) for row in range(rows)]
            factors = [v.number(builder.add(x, I64(v.bytes * row))) for row in range(rows)]
            whole = builder.udiv(width, I64(v.lanes))
            rest = builder.sub(width, builder.mul(whole, I64(v.lanes)))
            ahead = builder.mul(step, I64(rows))

            def add(at, mask):
                total = v.load(y, at, mask)
                for start, factor in zip(starts, factors):
                    v.ask(builder.add(builder.add(start, ahead), at), write=False)
                    total = v.fma(factor, v.load(start, at, mask), total)
                v.store(total, y, at, mask)

            def turn(i, carried):
                add(builder.mul(i, I64(v.bytes * v.lanes)), None)
                return carried

            def last(i, carried):
                add(builder.mul(whole, I64(v.bytes * v.lanes)), v.first(rest))
                return carried

            v.repeat(whole, [], turn)
            v.repeat(builder.zext(builder.icmp_signed(">", rest, I64(0)), I64), [], last)
            return context.get_dummy_value()

        return returns(None, (like,), 5), codegen

    return several


_several, _one = _emit(_TOGETHER), _emit(1)


@overload(add_rows)
def _(y, x, w):
    together = _TOGETHER

    def run(y, x, w):
        count, width = w.shape
        first = count - count % together
        zero, size = y.dtype.type(0), y.itemsize
        for k in range(0, first, together):
            for m in range(y.shape[0]):
                _several(zero, w.ctypes.data + k * w.strides[0], w.strides[0],
                         x.ctypes.data + m * x.strides[0] + k * size, y.ctypes.data + m * y.strides[0], width)  # fmt: skip
        for k in range(first, count):
            for m in range(y.shape[0]):
                _one(zero, w.ctypes.data + k * w.strides[0], w.strides[0],
                     x.ctypes.data + m * x.strides[0] + k * size, y.ctypes.data + m * y.strides[0], width)  # fmt: skip

    return run
