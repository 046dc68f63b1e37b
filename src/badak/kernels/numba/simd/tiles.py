"""The inner loops of a matrix product: a tile of the result in registers, and the packing of what it reads in order.

Addresses and strides are int64, in bytes.
"""

# mypy: disable-error-code="call-arg"

from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.registers import FOUR, I64, INT64, REGISTER, ROWS, THREE, TWO, Vectors

# k of a panel. The deeper it is, the less often a result is read and written again; it need not stay in the first cache, for
# the inner loop reads it in order, a register in four cycles.
DEPTH = 384
PANEL = (DEPTH + REGISTER // 4) * 3 * REGISTER  # bytes of a panel; `transpose` may write some rows too many


def rows_from(builder, start, count, rows, step):
    """The addresses of `count` rows, of the last one again where there are fewer: read and written again, nothing is next to it."""
    places = [start]
    for i in range(1, count):
        places.append(builder.add(places[-1], builder.select(builder.icmp_signed("<", I64(i), rows), step, I64(0))))
    return places


def _parts(builder, values):
    """The numbers of a tuple."""
    return [builder.extract_value(values, i) for i in range(values.type.count)]


_TOGETHER = 32 // ROWS  # k in a turn of the inner loop, of about fifty cycles
_LINE = 64  # bytes of a line of cache


def _sums(builder, v, width, a, a_row, a_column, rows, panel, fresh):
    """A function add(times, along, down, *sums) that gives these offsets of a[:, k] and panel[k], and sums, `times` k later.

    fresh = (address, step, mask of the last register): the panel is made of these rows on the way, and not read.
    """
    starts = rows_from(builder, a, ROWS, rows, a_row)

    def row(down, *source):
        if not source:
            return [v.load(builder.add(panel, down), j * REGISTER) for j in range(width)]
        right = [v.load(source[0], j * REGISTER, fresh[2] if j == width - 1 else None) for j in range(width)]
        for j in range(width):
            v.store(right[j], builder.add(panel, down), j * REGISTER)
        return right

    def add(times, along, down, *state):
        source, sums = state[: len(state) % 2], state[len(state) % 2 :]  # there is an even number of sums
        for _ in range(times):
            right = row(down, *source)
            new = []
            for i, start in enumerate(starts):  # one number of a at a time: registers would not suffice for all
                left = v.number(builder.add(start, along))
                new += [v.fma(left, right[j], sums[i * width + j]) for j in range(width)]
            # Were it not hidden what `along` is, each address of a turn would be worked out ahead, and kept on the stack.
            sums, along, down = new, v.hidden(builder.add(along, a_column)), builder.add(down, I64(width * REGISTER))
            source = [builder.add(place, fresh[1]) for place in source]
        return [along, down, *source, *sums]

    return add


@instruction(3, [*[INT64] * 3, THREE, INT64, TWO, TWO, TWO, *[INT64] * 3, FOUR, TWO])
def tile(builder, vectors, packing, alpha, rows, columns, depth, left, panel, source, begin, base, c, c_row, soon, ahead, beside):
    """c[i, j] = alpha (begin[i, j] + sum_k a[i, k] panel[k, j]) + base[i, j] for i < rows <= ROWS, j < columns <= vectors * lanes.

    The sums stay in registers: each k takes `vectors` loads of the panel and ROWS numbers of a for ROWS * vectors fused
    multiply-adds of a whole register. Each sum runs over k in order, wherever its row lies: a result does not depend on
    the tile that it is in.

    Meanwhile the caches are asked for what comes next, one line in each turn: first for the ROWS rows of c at `soon`, then
    for `ahead` = (address, step, shift, lines): 2^shift lines from the address on, as many `step` bytes further, and so on.
    And all the time for lines `next to` = (address, step): as many as a strip's part of the lines of a whose columns lie in order.
    left: the address of a, bytes from row to row and to column; begin, base: address and bytes from row to row,
    address 0 for zeros.
    packing 1: the panel is written first, from the rows of b at `source` = (address, step), while its numbers are used; stores of
    lines that are not in the first cache take as long as that.
    """
    v = Vectors(builder, alpha.type)
    (a, a_row, a_column), source = _parts(builder, left), _parts(builder, source)
    places = [(i, j) for i in range(ROWS) for j in range(vectors)]
    masks = [None] * (vectors - 1) + [v.first(builder.sub(columns, I64((vectors - 1) * v.lanes)))]
    add = _sums(builder, v, vectors, a, a_row, a_column, rows, panel, (*source, masks[-1]))
    address, step, shift, lines = _parts(builder, ahead)
    column, column_step = _parts(builder, beside)
    lines_of_a = _TOGETHER * ROWS * v.bytes // _LINE

    def asking_for_a(turn):
        first = builder.add(column, builder.mul(builder.mul(turn, I64(lines_of_a)), column_step))
        for i in range(lines_of_a):
            v.ask(builder.add(first, builder.mul(column_step, I64(i))), False)

    def asking_for_c(turn, state):
        asking_for_a(turn)
        row, line = builder.and_(turn, I64(ROWS - 1)), builder.udiv(turn, I64(ROWS))
        v.ask(builder.add(soon, builder.add(builder.mul(row, c_row), builder.mul(line, I64(_LINE)))), True)
        return add(_TOGETHER, *state)

    def asking_for_b(turn, state):
        asking_for_a(builder.add(turn, of_c))
        turn = builder.select(builder.icmp_signed("<", turn, lines), turn, lines)
        row = builder.lshr(turn, shift)
        line = builder.sub(turn, builder.shl(row, shift))
        v.ask(builder.add(address, builder.add(builder.mul(row, step), builder.mul(line, I64(_LINE)))), False)
        return add(_TOGETHER, *state)

    def where_given(place, absent, given):
        start, step = _parts(builder, place)
        there = builder.icmp_signed("!=", start, I64(0))
        return v.either(there, lambda: given(rows_from(builder, start, ROWS, rows, step)), absent)

    turns = builder.sdiv(depth, I64(_TOGETHER))
    of_c = I64(ROWS * (-(-vectors * REGISTER // _LINE) + 1))  # rows need not begin with a line
    of_c = builder.select(builder.icmp_signed("<", turns, of_c), turns, of_c)
    offsets = [I64(0), I64(0), *source[:packing]]
    loaded = lambda starts: [v.load(starts[i], j * REGISTER, masks[j]) for i, j in places]
    sums = where_given(begin, lambda: [v.zero] * len(places), loaded)
    state = v.repeat(of_c, [*offsets, *sums], asking_for_c)
    state = v.repeat(builder.sub(turns, of_c), state, asking_for_b)
    state = v.repeat(builder.srem(depth, I64(_TOGETHER)), state, lambda k, state: add(1, *state))
    total, factor = state[len(offsets) :], v.splat(alpha)
    added = lambda starts: [v.fma(sum, factor, value) for sum, value in zip(total, loaded(starts))]
    made = where_given(base, lambda: [v.fma(sum, factor, v.zero) for sum in total], added)
    outs = rows_from(builder, c, ROWS, rows, c_row)
    for (i, j), value in zip(places, made):
        v.store(value, outs[i], j * REGISTER, masks[j])


@instruction(1)
def transpose(builder, like, x, x_row, rows, columns, y, y_row):
    """y[j, i] = x[i, j] for i < rows <= lanes, j < columns <= lanes, of numbers like `like`.

    All lanes x lanes places of y are written. Interleaving the upper half of the rows with the lower half, log2(lanes)
    times, transposes a square.
    """
    v = Vectors(builder, like.type)
    mask = v.first(columns)
    square = [v.load(row, mask=mask) for row in rows_from(builder, x, v.lanes, rows, x_row)]
    for _ in range(v.lanes.bit_length() - 1):
        square = [v.interleave(square[i // 2], square[i // 2 + v.lanes // 2], i % 2) for i in range(v.lanes)]
    for j, row in enumerate(square):
        v.store(row, builder.add(y, builder.mul(I64(j), y_row)))


@instruction(2)
def copy_row(builder, vectors, like, x, columns, y):
    """y[j] = x[j] for j < columns, then zeros up to vectors * lanes, of numbers like `like`."""
    v = Vectors(builder, like.type)
    mask = v.first(builder.sub(columns, I64((vectors - 1) * v.lanes)))
    for j in range(vectors):
        v.store(v.load(x, j * REGISTER, mask if j == vectors - 1 else None), y, j * REGISTER)


@instruction(1)
def copy_strip(builder, like, x, y):
    """y[j] = x[j] for j < ROWS, of numbers like `like`."""
    v = Vectors(builder, like.type)
    v.copy(ROWS, x, y)


@instruction(1)
def copy_number(builder, like, x, y):
    """y[0] = x[0], of numbers like `like`."""
    v = Vectors(builder, like.type)
    builder.store(builder.load(v.pointer(x, kind=v.element)), v.pointer(y, kind=v.element))


@instruction(1, gives=INT64)
def panel_space(builder, like):
    """The address of room for one packed panel, on the stack, aligned to registers."""
    return Vectors(builder, like.type).space(PANEL)
