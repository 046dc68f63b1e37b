"""Registers of whole tiles, and those of 64 bytes that tiles are packed and finished with: products below float32 stand on them.

A tile register (AMX) holds 16 rows of 64 bytes, and one instruction multiplies two of them into a third.
"""

# mypy: disable-error-code="attr-defined,call-arg"

from llvmlite import ir

from badak.kernels.numba.codegen import internals
from badak.kernels.numba.codegen.cpu import FEATURES
from badak.kernels.numba.codegen.internals import cgutils
from badak.kernels.numba.codegen.registers import I32, I64, Loops

LINE, TILE = 64, 1024  # bytes of a row of a tile, and of a tile
_I8, _I16 = ir.IntType(8), ir.IntType(16)


class _BFloat(ir.Type):
    """LLVM's bfloat, which llvmlite has not."""

    def _to_string(self):
        return "bfloat"


_BFLOAT = _BFloat()


def has(*names):
    """Whether the CPU has these features, by LLVM's names."""
    return all(FEATURES.get(name) for name in names)


def target():
    """The CPU that is compiled for, and all its features, as words."""
    return repr(internals.target())


def stack(builder, size):
    """The address of `size` bytes on the stack, aligned to lines of cache."""
    with builder.goto_entry_block():
        space = builder.alloca(ir.ArrayType(_I8, size))
        space.align = LINE
    return builder.ptrtoint(space, I64)


class Tiles:
    """The eight tile registers of a thread, by their numbers."""

    def __init__(self, builder):
        self.builder = builder

    def configure(self, shapes=((16, LINE),) * 8):
        """Each has so many rows and bytes of a row from now on, until `release`: all 16 of 64, unless told."""
        rows, widths = (sum(shape[at] << bits * tile for tile, shape in enumerate(shapes)) for at, bits in ((0, 8), (1, 16)))
        words = [1, 0, widths & (1 << 64) - 1, widths >> 64, 0, 0, rows, 0]
        kind, space = ir.ArrayType(I64, len(words)), stack(self.builder, LINE)
        self.builder.store(ir.Constant(kind, words), self.builder.inttoptr(space, kind.as_pointer()))
        self._call("ldtilecfg", self._place(space))

    def release(self):
        """The thread has no tiles any more, and the system none to keep when it gives the core to another thread."""
        self._call("tilerelease")

    def zero(self, tile):
        self._call("tilezero", _I8(tile))

    def load(self, tile, address, step, once=False):
        """16 rows, `step` bytes apart. once: they are not wanted again soon, and leave the first cache to others."""
        self._call("tileloaddt164" if once else "tileloadd64", _I8(tile), self._place(address), step)

    def store(self, tile, address, step):
        self._call("tilestored64", _I8(tile), self._place(address), step)

    def multiply(self, name, total, left, right):
        """total += left right, by the instruction `name`."""
        self._call(name, _I8(total), _I8(left), _I8(right))

    def _place(self, address):
        return self.builder.inttoptr(address, _I8.as_pointer())

    def _call(self, name, *values):
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in values])
        self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.x86.{name}"), values)


class Wide(Loops):
    """Instructions on registers of 64 bytes, addresses being int64."""

    floats, words = ir.VectorType(ir.FloatType(), 16), ir.VectorType(I32, 16)
    shorts = ir.VectorType(_I16, 32)  # bits of bfloat16

    nothing = ir.Constant(floats, None)

    def at(self, address, offset):
        """address + offset, a constant or a value."""
        return self.builder.add(address, I64(offset) if isinstance(offset, int) else offset)

    def first(self, count, lanes):
        """The mask of the first `count` lanes of 16 or 32."""
        kind = ir.VectorType(I32, lanes)
        blank = ir.Constant(kind, ir.Undefined)
        one = self.builder.insert_element(blank, self.builder.trunc(count, I32), I32(0))
        every = self.builder.shuffle_vector(one, blank, ir.Constant(kind, [0] * lanes))
        return self.builder.icmp_signed("<", ir.Constant(kind, list(range(lanes))), every)

    def load(self, kind, address, mask=None):
        """The lanes of the mask, and zeros; without a mask, all."""
        place = self.builder.inttoptr(address, kind.as_pointer())
        if mask is None:
            loaded = self.builder.load(place)
            loaded.align = _bytes(kind)
            return loaded
        return self._call(f"masked.load.{_name(kind)}.p0", kind, place, I32(_bytes(kind)), mask, ir.Constant(kind, None))

    def store(self, value, address, mask=None):
        """Write the lanes of the mask; without a mask, all."""
        kind = value.type
        place = self.builder.inttoptr(address, kind.as_pointer())
        if mask is None:
            self.builder.store(value, place).align = _bytes(kind)
        else:
            self._call(f"masked.store.{_name(kind)}.p0", ir.VoidType(), value, place, I32(_bytes(kind)), mask)

    def ask(self, address):
        """Ask the second cache for the line at the address, if there is one: the first has as many waiting as it can."""
        place = self.builder.inttoptr(address, _I8.as_pointer())
        self._call("prefetch.p0", ir.VoidType(), place, I32(0), I32(2), I32(1))

    def shuffle(self, a, b, order):
        """The lanes `order` of a and, counting on, b."""
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, len(order)), order))

    def splat(self, value):
        """A number in 16 lanes."""
        blank = ir.Constant(ir.VectorType(value.type, 16), ir.Undefined)
        return self.shuffle(self.builder.insert_element(blank, value, I32(0)), blank, [0] * 16)

    def fma(self, a, b, c):
        return self._call("fma.v16f32", self.floats, a, b, c)

    def rounded_two(self, low, high):
        """Two registers of float32 to one, of the bits of bfloat16, to nearest even."""
        made = self._call("x86.avx512bf16.cvtne2ps2bf16.512", _bfloats(32), high, low)
        return self.builder.bitcast(made, self.shorts)

    def numbers(self, item, address, count=None):
        """32 numbers at the address, of which each has `item` bytes, as bits of bfloat16; zeros from `count` on."""
        if item == 2:
            return self.load(self.shorts, address, None if count is None else self.first(count, 32))
        masks = [None if count is None else self.first(self.builder.sub(count, I64(i)), 16) for i in (0, 16)]
        return self.rounded_two(*(self.load(self.floats, self.at(address, LINE * i), masks[i]) for i in (0, 1)))

    def pairs(self, item, above, below, columns):
        """Two registers of pairs (above[j], below[j]) for j < 16 and j < 32; zeros from columns = (of above, of below) on."""
        if item == 2:
            a, b = (self.load(self.shorts, x, self.first(count, 32)) for x, count in zip((above, below), columns))
            return [self.shuffle(a, b, [i + 16 * half + 32 * row for i in range(16) for row in (0, 1)]) for half in (0, 1)]
        made = []
        for half in (0, 1):
            counts = [self.builder.sub(count, I64(16 * half)) for count in columns]
            rows = zip((above, below), counts)
            bits = self.rounded_two(*(self.load(self.floats, self.at(x, LINE * half), self.first(count, 16)) for x, count in rows))
            made.append(self.shuffle(bits, bits, [i + 16 * row for i in range(16) for row in (0, 1)]))
        return made

    def turned(self, square):
        """16 registers of 16 words, rows become columns: interleaving the upper half with the lower half, four times."""
        square = [self.builder.bitcast(row, self.words) for row in square]
        for _ in range(4):
            made = []
            for i in range(16):
                start = 8 * (i % 2)
                order = [start + j // 2 + j % 2 * 16 for j in range(16)]
                made.append(self.shuffle(square[i // 2], square[i // 2 + 8], order))
            square = made
        return square

    def dot(self, total, a, b):
        """total + a0 b0 + a1 b1 in each lane, for registers of pairs."""
        left, right = (self.builder.bitcast(x, _bfloats(32)) for x in (a, b))
        return self._call("x86.avx512bf16.dpbf16ps.512", self.floats, total, left, right)

    def _call(self, name, result, *values):
        kind = ir.FunctionType(result, [value.type for value in values])
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}"), values)


def _bfloats(lanes):
    return ir.VectorType(_BFLOAT, lanes)


def _bytes(kind):
    return 4 if kind.element in (I32, ir.FloatType()) else 2


def _name(kind):
    return f"v{kind.count}{'f' if kind.element == ir.FloatType() else 'i'}{8 * _bytes(kind)}"
