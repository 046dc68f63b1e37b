"""One vector times a matrix whose rows are contiguous: sums of its rows, each row read once and in order."""

from badak.kernels.numba.codegen.compile import overload
from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.registers import I64, Vectors

_TOGETHER = 8  # rows added in a turn, for one look at the sums
_AHEAD = 8192  # bytes further on, at least, that the caches are asked for


def add_rows(y, x, w):
    """y[m] += sum_k x[m, k] w[k]; rows are contiguous. The bits of y[m, n] depend on x[m] and the column n of w alone."""
    for k in range(w.shape[0]):
        for m in range(y.shape[0]):
            y[m] += x[m, k] * w[k]


def _emit(rows, sums=1):
    """The instruction for `rows` rows of w and `sums` of y: (one number, address of w, bytes from row to row, of x, bytes from row
    to row, of y, bytes from row to row, their width). While one turn is computed, what later ones will read is asked for.
    """

    @instruction(1)
    def several(builder, like, w, step, x, x_step, y, y_step, width):
        v = Vectors(builder, like.type)
        starts = [builder.add(w, builder.mul(step, I64(row))) for row in range(rows)]
        lines = [builder.add(x, builder.mul(x_step, I64(m))) for m in range(sums)]
        results = [builder.add(y, builder.mul(y_step, I64(m))) for m in range(sums)]
        factors = [[v.number(builder.add(line, I64(v.bytes * row))) for row in range(rows)] for line in lines]
        whole = builder.udiv(width, I64(v.lanes))
        rest = builder.sub(width, builder.mul(whole, I64(v.lanes)))
        ahead = builder.mul(step, I64(rows))
        ahead = builder.select(builder.icmp_signed("<", ahead, I64(_AHEAD)), I64(_AHEAD), ahead)

        def add(at, mask):
            totals = [v.load(result, at, mask) for result in results]
            for row, start in enumerate(starts):
                v.ask(builder.add(builder.add(start, ahead), at), write=False)
                numbers = v.load(start, at, mask)
                totals = [v.fma(factors[m][row], numbers, total) for m, total in enumerate(totals)]
            for total, result in zip(totals, results):
                v.store(total, result, at, mask)

        def turn(i, carried):
            add(builder.mul(i, I64(v.bytes * v.lanes)), None)
            return carried

        def last(i, carried):
            add(builder.mul(whole, I64(v.bytes * v.lanes)), v.first(rest))
            return carried

        v.repeat(whole, [], turn)
        v.repeat(builder.zext(builder.icmp_signed(">", rest, I64(0)), I64), [], last)

    return several


_several, _pair, _one = _emit(_TOGETHER), _emit(_TOGETHER, 2), _emit(1)


@overload(add_rows)
def _(y, x, w):
    together = _TOGETHER

    def run(y, x, w):
        count, width = w.shape
        first, paired = count - count % together, y.shape[0] // 2 * 2
        zero, size = y.dtype.type(0), y.itemsize
        for k in range(0, first, together):
            rows = w.ctypes.data + k * w.strides[0]
            for m in range(0, paired, 2):
                line, sums = x.ctypes.data + m * x.strides[0] + k * size, y.ctypes.data + m * y.strides[0]
                _pair(zero, rows, w.strides[0], line, x.strides[0], sums, y.strides[0], width)
            for m in range(paired, y.shape[0]):
                line, sums = x.ctypes.data + m * x.strides[0] + k * size, y.ctypes.data + m * y.strides[0]
                _several(zero, rows, w.strides[0], line, x.strides[0], sums, y.strides[0], width)
        for k in range(first, count):
            rows = w.ctypes.data + k * w.strides[0]
            for m in range(y.shape[0]):
                line, sums = x.ctypes.data + m * x.strides[0] + k * size, y.ctypes.data + m * y.strides[0]
                _one(zero, rows, w.strides[0], line, x.strides[0], sums, y.strides[0], width)

    return run
