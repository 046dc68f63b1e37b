"""Many rows of inputs times a panel of 16 rows of weights in blocks: see `blocks.py` for the inputs, and for what is computed.

A panel has 512 bytes for each part of 32 numbers: 8 times four numbers of each of the 16 rows. A register has a lane for each of
them; its sums of a part are exact, and then scaled and added to the total, part by part.
"""

# mypy: disable-error-code="attr-defined,call-arg"

from badak.kernels.block_formats import TOGETHER
from badak.kernels.numba.codegen.amx import LINE, Tiles, has, stack
from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.integers import F32, I32, WAYS
from badak.kernels.numba.codegen.registers import I64, REGISTER
from badak.kernels.numba.simd.blocks import GROUP, Groups
from badak.kernels.numba.simd.integers import AMX

AHEAD = 2  # parts that tiles are multiplied ahead of their scales: a tile takes long to get through memory to other registers
DOWN = 8 if REGISTER == 64 else 2  # rows of inputs that registers take at once; tiles take 16
_THERE = has("amx-tile", "amx-int8")
_SHAPES = ((16, 64),) * 2 + ((16, 32),) * 2 + ((8, 64),) * 2 + ((16, 64),) * 2  # sums, inputs, weights


@instruction()
def begin_part_tiles(builder):
    """The tiles of this thread, until `end_tiles`: 16 x 16 sums, 16 rows of 32 inputs, 8 of 64 bytes of a panel."""
    if _THERE:
        Tiles(builder).configure(_SHAPES)


def _part(b, x, number):
    """Where the numbers and the scale of a part of a row of inputs lie, the sum one line after the scale."""
    at = b.and_(number, I64(TOGETHER - 1))
    start = b.add(x, b.mul(b.lshr(number, I64(4)), I64(GROUP + 2 * LINE)))
    return b.add(start, b.mul(at, I64(32))), b.add(start, b.add(b.mul(at, I64(4)), I64(GROUP)))


def _number(v, address, kind):
    return v.splat(v.builder.load(v.builder.inttoptr(address, kind.as_pointer())), v.floats if kind is F32 else v.ints)


def _sums_in_registers(v, x, x_step, panel, scale, shifted):
    """A register of sums for each of DOWN rows of inputs. scale: where the scale of the first one lies."""
    b = v.builder
    rows = [b.mul(x_step, I64(r)) for r in range(DOWN)]
    sums = [v.word(0)] * DOWN
    if shifted:
        sums = [b.sub(sums[r], _number(v, b.add(scale, b.add(rows[r], I64(LINE))), I32)) for r in range(DOWN)]
    for four in range(8):
        weights = v.load(b.add(panel, I64(64 * four)), v.ints)
        for r in range(DOWN):
            sums[r] = v.dot(sums[r], weights, _number(v, b.add(x, b.add(rows[r], I64(4 * four))), I32))
    return sums


@instruction(2, way=(*WAYS, AMX), minima=(0, 1))
def multiply_parts(builder, way, minima, x, x_step, panel, scales, less, parts, bias, y, y_step, rows, columns):
    """y[r, n] = x[r] panel[:, n] + bias[n] for r < rows, n < columns <= 16; of DOWN rows, or 16 in tiles. minima 1: `less` are
    those of the weights.
    """
    tiled, b, v = way == AMX, builder, Groups(builder, way)
    if tiled and not _THERE:
        return
    count = 16 if tiled else DOWN
    with_minima = bool(minima)
    tiles, room = Tiles(b), stack(b, 1024 << AHEAD) if tiled else None
    place_of = lambda number: b.add(room, b.mul(b.and_(number, I64((1 << AHEAD) - 1)), I64(1024)))

    def in_tiles(number, carried):
        tiles.zero(0)
        tiles.load(2, _part(b, x, number)[0], x_step)
        tiles.load(4, b.add(panel, b.mul(number, I64(GROUP))), I64(LINE))
        tiles.multiply("tdpbssd", 0, 2, 4)
        tiles.store(0, place_of(number), I64(LINE))
        return carried

    def sums_of(number, at, scale):
        if not tiled:
            return _sums_in_registers(v, at, x_step, b.add(panel, b.mul(number, I64(GROUP))), scale, not with_minima)
        later, last = b.add(number, I64(AHEAD)), b.sub(parts, I64(1))
        in_tiles(b.select(b.icmp_signed("<", later, last), later, last), ())
        return [v.load(b.add(place_of(number), I64(LINE * r)), v.ints) for r in range(count)]

    def add_part(number, totals):
        at, scale = _part(b, x, number)
        sums = sums_of(number, at, scale)
        line = b.mul(number, I64(LINE))
        known = v.load(b.add(scales, line), v.floats)
        lower = v.load(b.add(less, line), v.floats) if with_minima else None
        made = []
        for r, total in enumerate(totals):
            place = b.add(scale, b.mul(x_step, I64(r)))
            u = b.sitofp(sums[r], v.floats)
            if lower is None:
                u = b.fmul(u, known)
            else:
                off = b.fneg(b.fmul(_number(v, b.add(place, I64(LINE)), F32), lower))
                u = v.call("fma.v16f32", v.floats, u, known, off)
            made.append(v.call("fma.v16f32", v.floats, u, _number(v, place, F32), total))
        return made

    if tiled:
        begin = b.select(b.icmp_signed("<", parts, I64(AHEAD)), parts, I64(AHEAD))
        v.registers.repeat(begin, [], in_tiles)
    totals = v.registers.repeat(parts, [v.constant(v.floats, 0.0)] * count, add_part)
    mask, some, nowhere = v.first(columns), b.icmp_signed("!=", bias, I64(0)), stack(b, 64)
    added = v.load(b.select(some, bias, nowhere), v.floats, mask)
    for r, total in enumerate(totals):
        inside = b.icmp_signed("<", I64(r), rows)
        out = b.select(inside, b.add(y, b.mul(y_step, I64(r))), nowhere)
        v.store(b.select(some, b.fadd(total, added), total), out, mask)
