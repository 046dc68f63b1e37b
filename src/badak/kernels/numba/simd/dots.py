"""The products of a matrix's rows with one vector: what reading the weights once for a token comes down to."""

from badak.kernels.numba.codegen.bfloat16 import is_bfloat16
from badak.kernels.numba.codegen.compile import overload
from badak.kernels.numba.codegen.registers import I64, REGISTER, Vectors, instruction, returns

__all__ = ["ask_ahead", "dots"]

_TOGETHER = 4  # rows read side by side: four streams from memory instead of one, 95 against 70 GB/s on two cores
_STEPS = 2  # registers of each row in a turn, each with a sum of its own


def dots(w, x, y):
    """y[n] = sum_k w[n, k] x[k]; the rows of w, x and y are contiguous. The bits of y[n] depend on w[n] and x alone.

    w and x may both be bfloat16, y is then float32 and the size of x even.
    """
    y[:] = w @ x


def _numbers(v, start, at, masks, half):
    """_STEPS registers of numbers from an offset on. half: the even ones and the odd ones of as many bfloat16."""
    builder = v.builder
    if not half:
        return [v.load(start, builder.add(at, I64(v.bytes * v.lanes * u)), masks[u]) for u in range(_STEPS)]
    pairs = builder.bitcast(v.load(start, at, masks[0]), v.indices)
    even, odd = builder.shl(pairs, v.whole(16)), builder.and_(pairs, v.whole(-1 << 16))
    return [builder.bitcast(each, v.type) for each in (even, odd)]


def ask_ahead(v, starts, step, at, registers):
    """Ask the caches for what lies as far as `starts`, rows of a matrix, but as many rows further.

    Rows are short next to what a CPU reads ahead by itself: 768 16-bit numbers came at two thirds of the rate.
    """
    ahead = v.builder.add(at, v.builder.mul(step, I64(len(starts))))
    for start in starts:
        for register in range(registers):
            v.ask(v.builder.add(start, v.builder.add(ahead, I64(REGISTER * register))), False)


def _emit(rows, half=False):
    """The instruction for `rows` rows: (one number, address of w, bytes from row to row, of x, its size, address of y).

    half: w and x are bfloat16, whose rows are pairs: a register of them becomes two of float32 without a shuffle.
    """

    @instruction
    def several(typingctx, like, w, step, x, size, y):
        def codegen(context, builder, signature, values):
            v = Vectors(builder, signature.args[0])
            _, w, step, x, size, y = values
            starts = [builder.add(w, builder.mul(step, I64(row))) for row in range(rows)]
            turn, item = _STEPS * v.lanes, 2 if half else v.bytes
            whole = builder.udiv(size, I64(turn))
            rest = builder.sub(size, builder.mul(whole, I64(turn)))

            def add(at, sums, masks):
                right = _numbers(v, x, at, masks, half)
                new = []
                for row in range(rows):
                    left = _numbers(v, starts[row], at, masks, half)
                    new += [v.fma(left[u], right[u], sums[row * _STEPS + u]) for u in range(_STEPS)]
                return new

            def turns(i, sums):
                at = builder.mul(i, I64(item * turn))
                ask_ahead(v, starts, step, at, item * turn // REGISTER)
                return add(at, sums, [None] * _STEPS)

            def last(i, sums):
                masks = [v.first(builder.sub(rest, I64(v.lanes * u))) for u in range(_STEPS)]
                if half:
                    masks = [v.first(builder.udiv(rest, I64(2)))]
                return add(builder.mul(whole, I64(item * turn)), sums, masks)

            sums = v.repeat(whole, [v.zero] * (rows * _STEPS), turns)
            sums = v.repeat(builder.zext(builder.icmp_signed(">", rest, I64(0)), I64), sums, last)
            for row in range(rows):
                total = sums[row * _STEPS]
                for u in range(1, _STEPS):
                    total = builder.fadd(total, sums[row * _STEPS + u])
                builder.store(v.total(total), v.pointer(y, v.bytes * row, v.element))
            return context.get_dummy_value()

        return returns(None, (like,), 5), codegen

    return several


_OF_FLOATS, _OF_HALVES = ((_emit(_TOGETHER, half), _emit(1, half)) for half in (False, True))


@overload(dots)
def _(w, x, y):
    together = _TOGETHER
    _several, _one = _OF_HALVES if is_bfloat16(w) else _OF_FLOATS

    def run(w, x, y):
        count = w.shape[0]
        first = count - count % together
        zero, size, width = y.dtype.type(0), w.shape[1], y.itemsize
        for n in range(0, first, together):
            _several(zero, w.ctypes.data + n * w.strides[0], w.strides[0], x.ctypes.data, size, y.ctypes.data + n * width)
        for n in range(first, count):
            _one(zero, w.ctypes.data + n * w.strides[0], w.strides[0], x.ctypes.data, size, y.ctypes.data + n * width)

    return run
