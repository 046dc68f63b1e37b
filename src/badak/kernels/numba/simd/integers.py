"""Products of 8-bit integers, summed in 32: exact, so that every way to compute them gives the same bits.

The numbers of one side, x, have no sign and are 128 too large, as `vpdpbusd` wants them; 128 times the sum of the other
side, w, is taken off at the end. Sums wrap around on their way; what is left fits for up to 133,000 numbers.

    AMX         16 x 16 sums in a tile, 64 products for each of them in one instruction
    VNNI        four products for each sum of a register in one instruction, vpdpbusd
    WIDENED     the numbers become 16 bits wide, then products are added in pairs, as pmaddwd does

x is read from tiles (M / 16, K / 64, 16, 64): 64 numbers of a row, below them 64 of the next row. w is read from panels
(N / 16, K / 4, 16, 4): 4 numbers of each of 16 rows of w. Addresses and strides are int64, in bytes.
"""

# mypy: disable-error-code="attr-defined,call-arg"

from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.integers import F32, I32, WAYS, Bytes, Sixteen
from badak.kernels.numba.codegen.registers import I64, REGISTER, Loops
from badak.kernels.numba.simd.dots import ask_ahead

AMX = 2  # next to WIDENED and VNNI
CHUNK = 64  # numbers of a row that lie together: a row of a tile
BLOCK = 32  # rows and columns of what is computed between two looks at the result
TILE_ROWS = 8 if REGISTER == 64 else 4  # of `multiply_registers`; it takes two registers of columns
_TILE = 1024  # bytes of a tile, of either side
_SHIFT = 128
_TINY = 2.0**-120  # a row whose numbers are all smaller counts as zeros: 127 / 2^-120 is a float32


def _factors(builder, wide, top):
    """(127 / the largest number, the largest number / 127), from the largest bits of numbers without sign.

    0 and 0 where it is tiny; 0 and NaN where it is an infinity or NaN.
    """
    largest = builder.bitcast(top, F32)
    fine = builder.icmp_signed("<", top, I32(0x7F800000))
    some = builder.and_(fine, builder.fcmp_ordered(">=", largest, F32(_TINY)))
    inverse = builder.select(some, builder.fdiv(F32(127.0), largest), F32(0.0))
    scale = builder.select(some, builder.fdiv(largest, F32(127.0)), F32(0.0))
    return inverse, builder.select(fine, scale, F32(float("nan")))


@instruction()
def quantize_row(builder, x, size, out, apart, scale):
    """out = x / scale as integers + 128, of size float32; scale = the largest of them / 127.

    They are rounded to the nearest, ties to even. Whole chunks are written, `apart` bytes from each other, with 128 after
    the last number. A row with an infinity or NaN has scale NaN.
    """
    wide = Sixteen(builder)
    whole = builder.udiv(size, I64(16))
    rest = wide.first(builder.urem(size, I64(16)))
    bits = wide.constant(wide.ints, 0x7FFFFFFF)
    at = lambda i: builder.add(x, builder.mul(i, I64(64)))

    def larger(loaded, top):
        return wide.call("smax.v16i32", wide.ints, builder.and_(builder.bitcast(loaded, wide.ints), bits), top)

    (top,) = Loops(builder).repeat(
        whole, [wide.constant(wide.ints, 0)], lambda i, top: [larger(wide.load(at(i), wide.floats), top[0])]
    )
    top = larger(wide.load(at(whole), wide.floats, rest), top)
    inverse, made = _factors(builder, wide, wide.call("vector.reduce.smax.v16i32", I32, top))
    builder.store(made, builder.inttoptr(scale, F32.as_pointer()))
    inverse = wide.splat(inverse, wide.floats)
    known = builder.fcmp_ordered("==", made, made)
    known = wide.splat(known, wide.bits)

    def rounded(loaded):
        loaded = builder.select(known, loaded, wide.constant(wide.floats, 0.0))
        near = wide.call("rint.v16f32", wide.floats, builder.fmul(loaded, inverse))
        number = builder.add(builder.fptosi(near, wide.ints), wide.constant(wide.ints, _SHIFT))
        return builder.trunc(number, wide.bytes)

    def place(i):
        chunk = builder.mul(builder.lshr(i, I64(2)), apart)
        return builder.add(out, builder.add(chunk, builder.mul(builder.and_(i, I64(3)), I64(16))))

    def store(i, carried):
        wide.store(rounded(wide.load(at(i), wide.floats)), place(i))
        return carried

    def pad(i, carried):
        i = builder.add(i, whole)
        mask = wide.first(builder.sub(size, builder.mul(i, I64(16))))
        wide.store(rounded(wide.load(at(i), wide.floats, mask)), place(i))
        return carried

    Loops(builder).repeat(whole, [], store)
    chunks = builder.udiv(builder.add(size, I64(CHUNK - 1)), I64(CHUNK))
    Loops(builder).repeat(builder.sub(builder.mul(chunks, I64(4)), whole), [], pad)


def _finished(builder, call, sums, factor, bias, biased):
    """sums factor + bias: numbers of 32 bits become floats, and each operation is rounded."""
    made = builder.fmul(call(sums), factor)
    return builder.select(biased, builder.fadd(made, bias), made)


@instruction(2, way=WAYS)
def dot_rows(builder, rows, way, w, step, x, size, x_scale, scales, bias, y):
    """y[j] = (sum_k (x[k] - 128) w[j, k]) x_scale scales[j] + bias[j] for j < rows; bias 0: nothing is added.

    x is one row, filled up with 128 to whole chunks. Rows of w are read side by side: several streams from memory.
    """
    v = Bytes(builder, way)
    count = rows
    starts = [builder.add(w, builder.mul(step, I64(row))) for row in range(count)]
    whole = builder.udiv(size, I64(REGISTER))
    rest = builder.udiv(builder.sub(size, builder.mul(whole, I64(REGISTER))), I64(4))

    def add(at, sums, mask):
        numbers, new = v.fours(x, at), []
        for row, start in enumerate(starts):
            weights = v.fours(start, at, mask)
            new.append(v.dot(sums[2 * row], numbers, weights))
            new.append(v.dot(sums[2 * row + 1], v.shift, weights))
        return new

    def turn(i, sums):
        at = builder.mul(i, I64(REGISTER))
        ask_ahead(v, starts, step, at)
        return add(at, sums, None)

    sums = v.repeat(whole, [v.nothing] * (2 * count), turn)
    more = builder.zext(builder.icmp_signed(">", rest, I64(0)), I64)
    sums = v.repeat(more, sums, lambda i, sums: add(builder.mul(whole, I64(REGISTER)), sums, v.first(rest)))
    biased = builder.icmp_signed("!=", bias, I64(0))
    bias = builder.select(biased, bias, scales)
    row_scale = builder.load(v.pointer(x_scale, kind=F32))
    for row in range(count):
        total = v.sum_of(builder.sub(sums[2 * row], sums[2 * row + 1]))
        factor = builder.fmul(row_scale, builder.load(v.pointer(scales, 4 * row, F32)))
        more = builder.load(v.pointer(bias, 4 * row, F32))
        made = _finished(builder, lambda sums: builder.sitofp(sums, F32), total, factor, more, biased)
        builder.store(made, v.pointer(y, 4 * row, F32))


@instruction(1, way=WAYS)
def sum_panel(builder, way, panel, groups, out):
    """out[j] = 128 times the sum of column j of a panel, of 4 groups rows."""
    v = Bytes(builder, way)
    parts = range(0, CHUNK, REGISTER)

    def add(i, sums):
        row = builder.add(panel, builder.mul(i, I64(CHUNK)))
        return [v.dot(total, v.shift, v.fours(row, part)) for total, part in zip(sums, parts)]

    sums = v.repeat(groups, [v.nothing for _ in parts], add)
    for total, part in zip(sums, parts):
        v.store(builder.bitcast(total, v.type), out, part)


@instruction(1, way=WAYS)
def multiply_registers(builder, way, x, panel, second, chunks, out):
    """out[i, j] = sum_k x[i, k] panel[k, j] for TILE_ROWS rows of a tile and two registers of columns.

    The second register lies `second` bytes after the first one. Rows of out are BLOCK numbers apart, its columns follow.
    """
    v = Bytes(builder, way)
    turns = 4  # of four groups of four numbers, in a chunk

    def chunk(c, state):
        tile, rows = (builder.add(start, builder.mul(c, I64(_TILE))) for start in (x, panel))

        def turn(i, sums):
            along, down = builder.mul(i, I64(CHUNK // turns)), builder.mul(i, I64(_TILE // turns))
            for g in range(4):
                place = builder.add(rows, builder.add(down, I64(CHUNK * g)))
                right = [v.fours(place), v.fours(builder.add(place, second))]
                new = []
                for row in range(TILE_ROWS):
                    left = v.four(builder.add(tile, builder.add(along, I64(CHUNK * row + 4 * g))))
                    new += [v.dot(sums[2 * row + j], left, right[j]) for j in range(2)]
                sums = new
            return sums

        return v.repeat(I64(turns), state, turn)

    sums = v.repeat(chunks, [v.nothing] * (2 * TILE_ROWS), chunk)
    for i, total in enumerate(sums):
        place = i // 2 * 4 * BLOCK + i % 2 * REGISTER
        v.store(builder.bitcast(total, v.type), out, place)


@instruction()
def scale_block(builder, sums, rows, columns, x_scales, scales, shifts, bias, y, y_row):
    """y[i, j] = (sums[i, j] - shifts[j]) x_scales[i] scales[j] + bias[j] for i < rows, j < columns <= BLOCK."""
    wide = Sixteen(builder)
    biased = builder.icmp_signed("!=", bias, I64(0))
    bias = builder.select(biased, bias, scales)
    masks = [wide.first(builder.sub(columns, I64(16 * part))) for part in range(2)]
    at = lambda start, part: builder.add(start, I64(64 * part))
    known = [wide.load(at(scales, part), wide.floats, masks[part]) for part in range(2)]
    less = [wide.load(at(shifts, part), wide.ints) for part in range(2)]
    more = [wide.load(at(bias, part), wide.floats, masks[part]) for part in range(2)]

    def row(i, carried):
        x_scale = builder.load(builder.inttoptr(builder.add(x_scales, builder.mul(i, I64(4))), F32.as_pointer()))
        x_scale = wide.splat(x_scale, wide.floats)
        start, out = builder.add(sums, builder.mul(i, I64(4 * BLOCK))), builder.add(y, builder.mul(i, y_row))
        for part in range(2):
            total = builder.sub(wide.load(at(start, part), wide.ints), less[part])
            factor = builder.fmul(x_scale, known[part])
            call = lambda sums: builder.sitofp(sums, wide.floats)
            wide.store(_finished(builder, call, total, factor, more[part], biased), at(out, part), masks[part])
        return carried

    Loops(builder).repeat(rows, [], row)
