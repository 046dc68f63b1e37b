"""The inner loops of a product of matrices, written in the vectors of LLVM: the other file that names the compiler.

Numba has no type for a vector register, and its loops do not keep a tile of the result in registers. What stands here is
compiled for the registers that this CPU has: 16 lanes of float32 with AVX-512, 8 with AVX2, 4 elsewhere. Addresses and
strides are int64, in bytes.
"""

# mypy: disable-error-code="attr-defined,call-arg"

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

__all__ = ["DEPTH", "REGISTER", "ROWS", "copy_row", "describe", "lanes", "panel_space", "tile", "transpose", "zero_row"]


def _features():
    """What this CPU has, by LLVM's names; nothing where LLVM cannot tell."""
    try:
        return llvm.get_host_cpu_features()
    except RuntimeError:
        return {}


_FEATURES = {} if numba.config.DISABLE_JIT else _features()
REGISTER = 64 if _FEATURES.get("avx512f") else 32 if _FEATURES.get("avx2") else 16  # bytes of a vector register
# A tile of the result is ROWS rows of up to three registers; it and three registers of b fill a CPU's 32 or 16.
ROWS = 4 if REGISTER == 32 else 8
DEPTH = 256  # of a panel: 256 rows of three registers are 48 KiB, in the first or second cache

_I64, _I32 = ir.IntType(64), ir.IntType(32)
_PANEL = (DEPTH + REGISTER // 4) * 3 * REGISTER  # bytes of a packed panel; `transpose` may write some rows too many


def describe():
    """The instructions that products are computed with."""
    name = {64: "AVX-512", 32: "AVX2", 16: "128-bit vectors"}[REGISTER]
    return f"badak's own ({name}: tiles of {ROWS} x {3 * REGISTER // 4} float32)"


class _Vectors:
    """Vectors of `number` (a Numba type) that fill one register, and the instructions on them."""

    def __init__(self, builder, number):
        self.builder, self.bytes = builder, number.bitwidth // 8
        self.element = ir.FloatType() if self.bytes == 4 else ir.DoubleType()
        self.lanes = REGISTER // self.bytes
        self.type, self.indices = ir.VectorType(self.element, self.lanes), ir.VectorType(_I32, self.lanes)
        self.zero = ir.Constant(self.type, [0.0] * self.lanes)

    def splat(self, value):
        """`value` in every lane."""
        blank = ir.Constant(ir.VectorType(value.type, self.lanes), ir.Undefined)
        first = self.builder.insert_element(blank, value, _I32(0))
        return self.builder.shuffle_vector(first, blank, ir.Constant(self.indices, [0] * self.lanes))

    def first(self, count):
        """The mask of the first `count` lanes."""
        numbers = ir.Constant(self.indices, list(range(self.lanes)))
        return self.builder.icmp_signed("<", numbers, self.splat(self.builder.trunc(count, _I32)))

    def pointer(self, address, offset=0, kind=None):
        return self.builder.inttoptr(self.builder.add(address, _I64(offset)), (kind or self.type).as_pointer())

    def number(self, address):
        """The number at the address, in every lane."""
        return self.splat(self.builder.load(self.pointer(address, kind=self.element)))

    def load(self, address, offset=0, mask=None):
        """The lanes of the mask, and zeros; without a mask, all."""
        place = self.pointer(address, offset)
        if mask is None:
            loaded = self.builder.load(place)
            loaded.align = self.bytes
            return loaded
        return self._call("masked.load", self.type, [place, _I32(self.bytes), mask, self.zero], ".p0")

    def store(self, value, address, offset=0, mask=None):
        """Write the lanes of the mask; without a mask, all."""
        place = self.pointer(address, offset)
        if mask is None:
            self.builder.store(value, place).align = self.bytes
        else:
            self._call("masked.store", ir.VoidType(), [value, place, _I32(self.bytes), mask], ".p0")

    def fma(self, a, b, c):
        return self._call("fma", self.type, [a, b, c])

    def interleave(self, a, b, half):
        """a0 b0 a1 b1 ... of the lower (0) or upper (1) halves of a and b."""
        start = half * self.lanes // 2
        order = [start + i // 2 + i % 2 * self.lanes for i in range(self.lanes)]
        return self.builder.shuffle_vector(a, b, ir.Constant(self.indices, order))

    def _call(self, name, result, values, suffix=""):
        kind = ir.FunctionType(result, [value.type for value in values])
        full = f"llvm.{name}.v{self.lanes}f{8 * self.bytes}{suffix}"
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, full), values)


def _row(builder, start, i, rows, step):
    """The address of row i, or of the last one where there are fewer: read and written again, nothing is beside it."""
    last = builder.sub(rows, _I64(1))
    i = builder.select(builder.icmp_signed("<", _I64(i), last), _I64(i), last)
    return builder.add(start, builder.mul(i, step))


def _int64s(count):
    return [types.int64] * count


@intrinsic(prefer_literal=True)
def tile(typingctx, vectors, alpha, rows, columns, depth, a, a_row, a_column, panel, base, base_row, c, c_row):
    """c[i, j] = alpha sum_k a[i, k] panel[k, j] + base[i, j] for i < rows <= ROWS, j < columns <= vectors * lanes.

    The sums stay in registers: each k takes `vectors` loads of the panel and ROWS numbers of a for ROWS * vectors fused
    multiply-adds of a whole register. Each sum runs over k in order, wherever its row lies: a result does not depend on
    the tile that it is in.
    """

    def codegen(context, builder, signature, values):
        _, alpha, rows, columns, depth, a, a_row, a_column, panel, base, base_row, c, c_row = values
        v, width = _Vectors(builder, signature.args[1]), vectors.literal_value
        places = [(i, j) for i in range(ROWS) for j in range(width)]
        starts = [_row(builder, a, i, rows, a_row) for i in range(ROWS)]
        entry = builder.block
        loop, after = builder.append_basic_block("depth"), builder.append_basic_block("store")
        builder.cbranch(builder.icmp_signed(">", depth, _I64(0)), loop, after)

        builder.position_at_end(loop)
        k, along, down = (builder.phi(_I64) for _ in range(3))  # k, and the offsets of a[:, k] and panel[k]
        sums = {place: builder.phi(v.type) for place in places}
        right = [v.load(builder.add(panel, down), j * REGISTER) for j in range(width)]
        left = [v.number(builder.add(start, along)) for start in starts]
        added = {(i, j): v.fma(left[i], right[j], sums[i, j]) for i, j in places}
        following = [builder.add(k, _I64(1)), builder.add(along, a_column), builder.add(down, _I64(width * REGISTER))]
        for phi, first, then in [
            *((phi, _I64(0), then) for phi, then in zip((k, along, down), following)),
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
        masks = [None] * (width - 1) + [v.first(builder.sub(columns, _I64((width - 1) * v.lanes)))]
        factor = v.splat(alpha)
        bases = [_row(builder, base, i, rows, base_row) for i in range(ROWS)]
        made = {(i, j): v.fma(total[i, j], factor, v.load(bases[i], j * REGISTER, masks[j])) for i, j in places}
        outs = [_row(builder, c, i, rows, c_row) for i in range(ROWS)]
        for i, j in places:
            v.store(made[i, j], outs[i], j * REGISTER, masks[j])
        return context.get_dummy_value()

    return types.void(vectors, alpha, *_int64s(11)), codegen


@intrinsic
def transpose(typingctx, like, x, x_row, rows, columns, y, y_row):
    """y[j, i] = x[i, j] for i < rows <= lanes, j < columns <= lanes, of numbers like `like`.

    All lanes x lanes places of y are written. Interleaving the upper half of the rows with the lower half, log2(lanes)
    times, transposes a square.
    """

    def codegen(context, builder, signature, values):
        _, x, x_row, rows, columns, y, y_row = values
        v = _Vectors(builder, signature.args[0])
        mask = v.first(columns)
        square = [v.load(_row(builder, x, i, rows, x_row), mask=mask) for i in range(v.lanes)]
        for _ in range(v.lanes.bit_length() - 1):
            square = [v.interleave(square[i // 2], square[i // 2 + v.lanes // 2], i % 2) for i in range(v.lanes)]
        for j, row in enumerate(square):
            v.store(row, builder.add(y, builder.mul(_I64(j), y_row)))
        return context.get_dummy_value()

    return types.void(like, *_int64s(6)), codegen


@intrinsic(prefer_literal=True)
def copy_row(typingctx, vectors, like, x, columns, y):
    """y[j] = x[j] for j < columns, then zeros up to vectors * lanes, of numbers like `like`."""

    def codegen(context, builder, signature, values):
        _, _, x, columns, y = values
        v, width = _Vectors(builder, signature.args[1]), vectors.literal_value
        mask = v.first(builder.sub(columns, _I64((width - 1) * v.lanes)))
        for j in range(width):
            v.store(v.load(x, j * REGISTER, mask if j == width - 1 else None), y, j * REGISTER)
        return context.get_dummy_value()

    return types.void(vectors, like, *_int64s(3)), codegen


@intrinsic
def zero_row(typingctx, like, y):
    """y[j] = 0 in three registers of numbers like `like`."""

    def codegen(context, builder, signature, values):
        v = _Vectors(builder, signature.args[0])
        for j in range(3):
            v.store(v.zero, values[1], j * REGISTER)
        return context.get_dummy_value()

    return types.void(like, types.int64), codegen


@intrinsic
def copy_number(typingctx, like, x, y):
    """y[0] = x[0], of numbers like `like`."""

    def codegen(context, builder, signature, values):
        v = _Vectors(builder, signature.args[0])
        builder.store(builder.load(v.pointer(values[1], kind=v.element)), v.pointer(values[2], kind=v.element))
        return context.get_dummy_value()

    return types.void(like, *_int64s(2)), codegen


@intrinsic
def panel_space(typingctx):
    """The address of room for one packed panel and three registers behind it, on the stack, aligned to registers."""

    def codegen(context, builder, signature, values):
        with builder.goto_entry_block():
            space = builder.alloca(ir.ArrayType(ir.IntType(8), _PANEL + 3 * REGISTER))
            space.align = REGISTER
        return builder.ptrtoint(space, _I64)

    return types.int64(), codegen


def lanes(like):
    """Numbers like `like` in a register."""
    return REGISTER // like.itemsize


@overload(lanes)
def _(like):
    count = REGISTER // (like.bitwidth // 8)
    return lambda like: count
