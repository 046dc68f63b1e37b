"""The inner loops of products below float32: tiles of 16 rows of 64 bytes, their packing, their product and its rounding.

Tiles of the left matrix hold 16 rows of 32 numbers in order; tiles of the right one 16 columns of 32 numbers, in pairs:
tile[k // 2, j, k % 2] = b[k, j]. Tiles lie side by side in twos: two of 16 rows, or two of 16 columns, at each 32 of k.
Addresses and strides are int64, in bytes. `item`: the bytes of a number where it is read or written, 2 for
bfloat16 and 4 for float32, which is rounded to nearest even on the way. The instructions flush denormal numbers to zero.
"""

# mypy: disable-error-code="call-arg"

from badak.kernels.numba.codegen.amx import LINE, TILE, Tiles, Wide, has, stack
from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.registers import I64, INT64

K = 32  # of a tile
SIDE = 16  # its rows
ITEMS = (2, 4)  # bytes of a number


@instruction(1, item=ITEMS)
def pack_row(builder, item, x, count, y):
    """y[i // 32] = x[i] for i < count, of tiles that lie in twos, then zeros to the end of the last one: a row of each tile."""
    w = Wide(builder)

    def piece(i, masked):
        left = builder.sub(count, builder.mul(i, I64(K))) if masked else None
        numbers = w.numbers(item, w.at(x, builder.mul(i, I64(K * item))), left)
        w.store(numbers, w.at(y, builder.mul(i, I64(2 * TILE))))
        return []

    whole = builder.udiv(count, I64(K))
    w.repeat(whole, [], lambda i, _: piece(i, False))
    rest = builder.sub(builder.udiv(w.at(count, K - 1), I64(K)), whole)
    w.repeat(rest, [], lambda i, _: piece(whole, True))


@instruction(1, item=ITEMS)
def pack_pairs(builder, item, x, x_row, rows, columns, y):
    """A row of two tiles side by side: pairs of x[0, j], x[1, j] for j < columns <= 32; zeros where rows is 1."""
    w = Wide(builder)
    both = builder.icmp_signed(">", rows, I64(1))
    below = builder.select(both, builder.add(x, x_row), x)
    counts = columns, builder.select(both, columns, I64(0))
    for half, pairs in enumerate(w.pairs(item, x, below, counts)):
        w.store(pairs, w.at(y, half * TILE))


def _limited(builder, i, rows, count):
    """Row i, or row 0 with nothing of it where there are fewer."""
    there = builder.icmp_signed("<", I64(i), rows)
    return builder.select(there, I64(i), I64(0)), builder.select(there, count, I64(0))


@instruction(1, item=ITEMS)
def turn_rows(builder, item, x, x_row, rows, count, y):
    """A tile of pairs from rows along k: y[k // 2, j, k % 2] = x[j, k] for j < rows <= 16, k < count, else zeros."""
    w = Wide(builder)
    square = []
    for i in range(SIDE):
        place, seen = _limited(builder, i, rows, count)
        square.append(w.numbers(item, w.at(x, builder.mul(place, x_row)), seen))
    for i, row in enumerate(w.turned(square)):
        w.store(row, w.at(y, LINE * i))


@instruction(1, item=ITEMS)
def turn_pairs(builder, item, x, x_row, rows, count, y):
    """Two tiles in order from columns along k: y[i, k] = x[k, i] for k < rows <= 32, i < count <= 32, else zeros."""
    w = Wide(builder)
    squares = [[], []]
    for pair in range(SIDE):
        (above, seen), (below, seen_below) = (_limited(builder, 2 * pair + i, rows, count) for i in (0, 1))
        places = [w.at(x, builder.mul(place, x_row)) for place in (above, below)]
        for half, pairs in enumerate(w.pairs(item, *places, (seen, seen_below))):
            squares[half].append(pairs)
    for half, square in enumerate(squares):
        for i, row in enumerate(w.turned(square)):
            w.store(row, w.at(y, half * TILE + LINE * i))


def _finisher(w, item, values):
    """A function that emits what `finish` does to row i."""
    alpha, columns, sums, sums_row, base, base_row, c, c_row = values
    builder, factor = w.builder, w.splat(alpha)
    masks = [w.first(builder.sub(columns, I64(SIDE * half)), SIDE) for half in (0, 1)]
    whole = w.first(columns, 2 * SIDE)

    def row(i):
        places = ((sums, sums_row), (base, base_row), (c, c_row))
        x, z, y = (w.at(start, builder.mul(i, step)) for start, step in places)
        added = [w.load(w.floats, w.at(z, LINE * half), mask) for half, mask in enumerate(masks)]
        made = [w.fma(w.load(w.floats, w.at(x, LINE * half)), factor, added[half]) for half in (0, 1)]
        if item == 2:
            w.store(w.rounded_two(*made), y, whole)
        else:
            for half, mask in enumerate(masks):
                w.store(made[half], w.at(y, LINE * half), mask)
        return []

    return row


@instruction(2, item=ITEMS)
def finish(builder, item, alpha, rows, columns, sums, sums_row, base, base_row, c, c_row):
    """c[i, j] = alpha sums[i, j] + base[i, j] for i < rows, j < columns <= 32: base and sums are float32, c may be rounded."""
    w = Wide(builder)
    row = _finisher(w, item, [alpha, columns, sums, sums_row, base, base_row, c, c_row])
    w.repeat(rows, [], lambda i, _: row(i))


@instruction()
def tiles_on(builder):
    """Let this thread use tile registers, until `tiles_off`. The process needs the system's permission first."""
    if has("amx-tile"):
        Tiles(builder).configure()


@instruction()
def tiles_off(builder):
    """Leave the tile registers."""
    if has("amx-tile"):
        Tiles(builder).release()


@instruction(2, down=(1, 2), across=(1, 2))
def tile_block(builder, down, across, a, b, count, begin, out, out_row, soon, soon_row, soon_rows):
    """out = begin + a b in float32, for `down` x `across` tiles (literals, 1 or 2) and `count` tiles along k.

    begin: whether out is added to what is there. Four sums, two tiles of a and two of b are the eight registers. Meanwhile the
    caches are asked for the lines of `soon_rows` rows that will be written soon.
    """
    if has("amx-bf16"):
        _emit_tiles(builder, "tdpbf16ps", down, across, [a, b, count, begin, out, out_row, soon, soon_row, soon_rows])


@instruction(2, item=ITEMS)
def tile_block_after(
    builder, item, alpha, a, b, count, begin, out, out_row, soon, soon_row, soon_rows,
    rows, columns, sums, sums_row, base, base_row, c, c_row,
):  # fmt: skip
    """`tile_block` for 2 x 2 tiles; meanwhile `finish` for what was multiplied before, whose rows may be none.

    Adding, rounding and writing take vector units and stores, which multiplying tiles leaves idle.
    """
    if has("amx-bf16"):
        w, block = Wide(builder), [a, b, count, begin, out, out_row, soon, soon_row, soon_rows]
        row = _finisher(w, item, [alpha, columns, sums, sums_row, base, base_row, c, c_row])
        share = builder.sdiv(builder.add(rows, builder.sub(count, I64(1))), count)

        def meanwhile(done):
            left = builder.sub(rows, done)
            now = builder.select(builder.icmp_signed("<", left, share), left, share)
            w.repeat(now, [], lambda i, _: row(builder.add(done, i)))
            return builder.add(done, now)

        _emit_tiles(builder, "tdpbf16ps", 2, 2, block, meanwhile)


_ASKED = 2  # lines asked for at each step along k


def _emit_tiles(builder, name, down, across, values, meanwhile=None):
    a, b, count, begin, out, out_row, soon, soon_row, soon_rows = values
    w, tiles = Wide(builder), Tiles(builder)
    end = builder.add(soon, builder.mul(soon_row, builder.sub(soon_rows, I64(1))))
    starts = [builder.add(out, builder.mul(I64(SIDE * i), out_row)) for i in range(down)]
    places = [(2 * i + j, w.at(starts[i], LINE * j)) for i in range(down) for j in range(across)]
    with builder.if_else(builder.icmp_signed("==", begin, I64(0))) as (new, old):
        with new:
            for tile, _ in places:
                tiles.zero(tile)
        with old:
            for tile, place in places:
                tiles.load(tile, place, out_row)
    line = I64(LINE)

    def step(i, carried):
        left, right, place, *done = carried
        for _ in range(_ASKED):
            w.ask(place)
            further = builder.add(place, soon_row)
            place = builder.select(builder.icmp_signed("<", further, end), further, end)
        for j in range(across):
            tiles.load(6 + j, w.at(right, TILE * j), line, once=True)
        for i in range(down):
            tiles.load(4 + i, w.at(left, TILE * i), line)
            for j in range(across):
                tiles.multiply(name, 2 * i + j, 4 + i, 6 + j)
        done = [meanwhile(each) for each in done]
        return [w.at(left, 2 * TILE), w.at(right, 2 * TILE), place, *done]

    w.repeat(count, [a, b, soon, *([] if meanwhile is None else [I64(0)])], step)
    for tile, place in places:
        tiles.store(tile, place, out_row)


@instruction(2)
def dot_block(builder, rows, across, a, b, count, begin, out, out_row):
    """`tile_block` for `rows` rows (a literal, 1 to 8) within one tile of a, in registers of 16 sums (AVX512_BF16)."""
    if has("avx512bf16"):
        _emit_dots(builder, rows, across, [a, b, count, begin, out, out_row])


def _emit_dots(builder, rows, across, values):
    a, b, count, begin, out, out_row = values
    w = Wide(builder)
    starts = [builder.add(out, builder.mul(I64(i), out_row)) for i in range(rows)]
    places = [w.at(start, LINE * j) for start in starts for j in range(across)]
    old = builder.icmp_signed("!=", begin, I64(0))
    mask = w.first(builder.select(old, I64(SIDE), I64(0)), SIDE)
    sums = [w.load(w.floats, place, mask) for place in places]

    def step(_, carried):
        left, right, *sums = carried
        for pair in range(SIDE):
            columns = [w.load(w.words, w.at(right, TILE * j + LINE * pair)) for j in range(across)]
            for i in range(rows):
                place = builder.inttoptr(w.at(left, LINE * i + 4 * pair), w.words.element.as_pointer())
                both = w.splat(builder.load(place))
                for j in range(across):
                    sums[i * across + j] = w.dot(sums[i * across + j], both, columns[j])
        return [w.at(left, 2 * TILE), w.at(right, 2 * TILE), *sums]

    _, _, *sums = w.repeat(count, [a, b, *sums], step)
    for place, total in zip(places, sums):
        w.store(total, place)


@instruction(gives=INT64)
def scratch(builder):
    """The address of room on the stack for two times 32 x 32 sums and a row of zeros behind them, aligned to lines."""
    w, start = Wide(builder), stack(builder, 8 * TILE + 2 * LINE)
    for i in (0, 1):
        w.store(w.nothing, w.at(start, 8 * TILE + LINE * i))
    return start
