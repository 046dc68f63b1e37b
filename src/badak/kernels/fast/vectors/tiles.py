"""The inner loops of a product of matrices: a tile of the result in registers, and the packing of what it reads in order.

Addresses and strides are int64, in bytes.
"""

# mypy: disable-error-code="call-arg"

from badak.kernels.fast.compiler.registers import I64, INT64, REGISTER, ROWS, Vectors, instruction, returns

__all__ = ["DEPTH", "PANEL", "copy_number", "copy_row", "panel_space", "tile", "transpose", "zero_row"]

DEPTH = 128  # of a panel: 128 rows of three registers are 24 KiB, in the first cache; longer sums round more
PANEL = (DEPTH + REGISTER // 4) * 3 * REGISTER  # bytes of a packed panel; `transpose` may write some rows too many


def _row(builder, start, i, rows, step):
    """The address of row i, or of the last one where there are fewer: read and written again, nothing is beside it."""
    last = builder.sub(rows, I64(1))
    i = builder.select(builder.icmp_signed("<", I64(i), last), I64(i), last)
    return builder.add(start, builder.mul(i, step))


@instruction
def tile(typingctx, vectors, alpha, rows, columns, depth, a, a_row, a_column, panel, base, base_row, c, c_row):
    """c[i, j] = alpha sum_k a[i, k] panel[k, j] + base[i, j] for i < rows <= ROWS, j < columns <= vectors * lanes.

    The sums stay in registers: each k takes `vectors` loads of the panel and ROWS numbers of a for ROWS * vectors fused
    multiply-adds of a whole register. Each sum runs over k in order, wherever its row lies: a result does not depend on
    the tile that it is in.
    """

    def codegen(context, builder, signature, values):
        _, alpha, rows, columns, depth, a, a_row, a_column, panel, base, base_row, c, c_row = values
        v, width = Vectors(builder, signature.args[1]), vectors.literal_value
        places = [(i, j) for i in range(ROWS) for j in range(width)]
        starts = [_row(builder, a, i, rows, a_row) for i in range(ROWS)]
        entry = builder.block
        loop, after = builder.append_basic_block("depth"), builder.append_basic_block("store")
        builder.cbranch(builder.icmp_signed(">", depth, I64(0)), loop, after)

        builder.position_at_end(loop)
        k, along, down = (builder.phi(I64) for _ in range(3))  # k, and the offsets of a[:, k] and panel[k]
        sums = {place: builder.phi(v.type) for place in places}
        right = [v.load(builder.add(panel, down), j * REGISTER) for j in range(width)]
        added = {}
        for i, start in enumerate(starts):  # one number of a at a time: with all of them first, registers would not suffice
            left = v.number(builder.add(start, along))
            added |= {(i, j): v.fma(left, right[j], sums[i, j]) for j in range(width)}
        following = [builder.add(k, I64(1)), builder.add(along, a_column), builder.add(down, I64(width * REGISTER))]
        for phi, first, then in [
            *((phi, I64(0), then) for phi, then in zip((k, along, down), following)),
            *((sums[place], v.zero, added[place]) for place in places),
        ]:
            phi.add_incoming(first, entry)
            phi.add_incoming(then, loop)
        builder.cbranch(builder.icmp_signed("<", following[0], depth), loop, after)

        builder.position_at_end(after)
        total = {place: builder.phi(v.type) for place in places}
        for place, phi in total.items():
            phi.add_incoming(v.zero, entry)
            phi.add_incoming(added[place], loop)
        masks = [None] * (width - 1) + [v.first(builder.sub(columns, I64((width - 1) * v.lanes)))]
        factor = v.splat(alpha)
        bases = [_row(builder, base, i, rows, base_row) for i in range(ROWS)]
        made = {(i, j): v.fma(total[i, j], factor, v.load(bases[i], j * REGISTER, masks[j])) for i, j in places}
        outs = [_row(builder, c, i, rows, c_row) for i in range(ROWS)]
        for i, j in places:
            v.store(made[i, j], outs[i], j * REGISTER, masks[j])
        return context.get_dummy_value()

    return returns(None, [vectors, alpha], 11), codegen


@instruction
def transpose(typingctx, like, x, x_row, rows, columns, y, y_row):
    """y[j, i] = x[i, j] for i < rows <= lanes, j < columns <= lanes, of numbers like `like`.

    All lanes x lanes places of y are written. Interleaving the upper half of the rows with the lower half, log2(lanes)
    times, transposes a square.
    """

    def codegen(context, builder, signature, values):
        _, x, x_row, rows, columns, y, y_row = values
        v = Vectors(builder, signature.args[0])
        mask = v.first(columns)
        square = [v.load(_row(builder, x, i, rows, x_row), mask=mask) for i in range(v.lanes)]
        for _ in range(v.lanes.bit_length() - 1):
            square = [v.interleave(square[i // 2], square[i // 2 + v.lanes // 2], i % 2) for i in range(v.lanes)]
        for j, row in enumerate(square):
            v.store(row, builder.add(y, builder.mul(I64(j), y_row)))
        return context.get_dummy_value()

    return returns(None, [like], 6), codegen


@instruction
def copy_row(typingctx, vectors, like, x, columns, y):
    """y[j] = x[j] for j < columns, then zeros up to vectors * lanes, of numbers like `like`."""

    def codegen(context, builder, signature, values):
        _, _, x, columns, y = values
        v, width = Vectors(builder, signature.args[1]), vectors.literal_value
        mask = v.first(builder.sub(columns, I64((width - 1) * v.lanes)))
        for j in range(width):
            v.store(v.load(x, j * REGISTER, mask if j == width - 1 else None), y, j * REGISTER)
        return context.get_dummy_value()

    return returns(None, [vectors, like], 3), codegen


@instruction
def zero_row(typingctx, like, y):
    """y[j] = 0 in three registers of numbers like `like`."""

    def codegen(context, builder, signature, values):
        v = Vectors(builder, signature.args[0])
        for j in range(3):
            v.store(v.zero, values[1], j * REGISTER)
        return context.get_dummy_value()

    return returns(None, [like], 1), codegen


@instruction
def copy_number(typingctx, like, x, y):
    """y[0] = x[0], of numbers like `like`."""

    def codegen(context, builder, signature, values):
        v = Vectors(builder, signature.args[0])
        builder.store(builder.load(v.pointer(values[1], kind=v.element)), v.pointer(values[2], kind=v.element))
        return context.get_dummy_value()

    return returns(None, [like], 2), codegen


@instruction
def panel_space(typingctx, like):
    """The address of room for one packed panel and three registers behind it, on the stack, aligned to registers."""

    def codegen(context, builder, signature, values):
        return Vectors(builder, signature.args[0]).space(PANEL + 3 * REGISTER)

    return returns(INT64, [like], 0), codegen
