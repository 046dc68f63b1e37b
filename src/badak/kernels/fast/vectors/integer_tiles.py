"""The same products in AMX's tiles: see `integers.py` for what lies where."""

# mypy: disable-error-code="attr-defined,call-arg"

from badak.kernels.fast.compiler.integers import I8, bytes_of, repeat, tile_call
from badak.kernels.fast.compiler.registers import I64, instruction, returns
from badak.kernels.fast.vectors.integers import BLOCK

__all__ = ["begin_tiles", "end_tiles", "multiply_tiles"]

_ROWS, _BYTES = 16, 64  # of each of the eight tiles


@instruction
def begin_tiles(typingctx):
    """Eight tiles of 16 rows of 64 bytes, for this thread."""

    def codegen(context, builder, signature, values):
        memory = bytes([1] + [0] * 15 + [_BYTES, 0] * 8 + [0] * 16 + [_ROWS] * 8 + [0] * 8)
        tile_call(builder, "ldtilecfg", bytes_of(builder, memory))
        return context.get_dummy_value()

    return returns(None, [], 0), codegen


@instruction
def end_tiles(typingctx):
    """No tiles any more, so that the system need not save them."""

    def codegen(context, builder, signature, values):
        tile_call(builder, "tilerelease")
        return context.get_dummy_value()

    return returns(None, [], 0), codegen


@instruction
def multiply_tiles(typingctx, down, x, x_step, panel, panel_step, chunks, out):
    """out[i, j] = sum_k x[i, k] panel[k, j] for `down` tiles of x (1 or 2), x_step bytes apart, and two panels.

    Rows of out are BLOCK numbers apart.
    """

    def codegen(context, builder, signature, values):
        _, x, x_step, panel, panel_step, chunks, out = values
        places = [(i, j) for i in range(down.literal_value) for j in range(2)]
        number = I8
        for n in range(len(places)):
            tile_call(builder, "tilezero", number(n))

        def chunk(c, carried):
            along = builder.mul(c, I64(_ROWS * _BYTES))
            for j in range(2):
                start = builder.add(panel, builder.add(along, builder.mul(panel_step, I64(j))))
                tile_call(builder, "tileloadd64", number(6 + j), builder.inttoptr(start, I8.as_pointer()), I64(_BYTES))
            for i in range(down.literal_value):
                start = builder.add(x, builder.add(along, builder.mul(x_step, I64(i))))
                tile_call(builder, "tileloadd64", number(4 + i), builder.inttoptr(start, I8.as_pointer()), I64(_BYTES))
                for j in range(2):
                    tile_call(builder, "tdpbusd", number(places.index((i, j))), number(4 + i), number(6 + j))
            return carried

        repeat(builder, chunks, [], chunk)
        for n, (i, j) in enumerate(places):
            start = builder.add(out, I64(i * _ROWS * 4 * BLOCK + j * _BYTES))
            tile_call(builder, "tilestored64", number(n), builder.inttoptr(start, I8.as_pointer()), I64(4 * BLOCK))
        return context.get_dummy_value()

    return returns(None, [down], 6), codegen
