"""The same products in AMX's tiles: see `integers.py` for what lies where."""

# mypy: disable-error-code="attr-defined,call-arg"

from badak.kernels.numba.codegen.amx import LINE, TILE, Tiles, has
from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.registers import I64, Loops
from badak.kernels.numba.simd.integers import BLOCK

_THERE = has("amx-tile", "amx-int8")  # elsewhere the instructions do nothing, and nobody comes this way


@instruction()
def begin_tiles(builder):
    """The tiles of this thread, until `end_tiles`."""
    if _THERE:
        Tiles(builder).configure()


@instruction()
def end_tiles(builder):
    """No tiles any more, so that the system need not keep them."""
    if _THERE:
        Tiles(builder).release()


@instruction(1, down=(1, 2))
def multiply_tiles(builder, down, x, x_step, panel, panel_step, chunks, out):
    """out[i, j] = sum_k x[i, k] panel[k, j] for `down` tiles of x (1 or 2), x_step bytes apart, and two panels.

    Rows of out are BLOCK numbers apart.
    """
    if _THERE:
        _multiply(builder, down, x, x_step, panel, panel_step, chunks, out)


def _multiply(builder, down, x, x_step, panel, panel_step, chunks, out):
    tiles, line = Tiles(builder), I64(LINE)
    places = [(i, j) for i in range(down) for j in range(2)]  # of tiles 0 to 3; x comes into 4 and 5, panels into 6 and 7
    for n in range(len(places)):
        tiles.zero(n)

    def chunk(c, carried):
        along = builder.mul(c, I64(TILE))
        for j in range(2):
            tiles.load(6 + j, builder.add(panel, builder.add(along, builder.mul(panel_step, I64(j)))), line)
        for i in range(down):
            tiles.load(4 + i, builder.add(x, builder.add(along, builder.mul(x_step, I64(i)))), line)
            for j in range(2):
                tiles.multiply("tdpbusd", places.index((i, j)), 4 + i, 6 + j)
        return carried

    Loops(builder).repeat(chunks, [], chunk)
    for n, (i, j) in enumerate(places):
        tiles.store(n, builder.add(out, I64(i * 16 * 4 * BLOCK + j * LINE)), I64(4 * BLOCK))
