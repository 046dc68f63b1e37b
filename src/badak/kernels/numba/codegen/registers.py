"""Vector registers of the CPU, as LLVM's instructions on them: what the files of `vectors/` are written with.

Numba has no type for a register: its loops do not keep a tile of a product in registers, and take the last lanes of a row
one by one. What is built with `Vectors` is compiled for the registers that this CPU has: 16 lanes of float32 with AVX-512,
8 with AVX2, 4 elsewhere.
"""

# mypy: disable-error-code="attr-defined,call-arg"

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import overload

from badak.kernels.numba.codegen.bfloat16 import rounded_bits, widened_bits
from badak.kernels.numba.codegen.cpu import FEATURES
from badak.kernels.numba.codegen.internals import cgutils

REGISTER = 64 if FEATURES.get("avx512f") else 32 if FEATURES.get("avx2") else 16  # bytes of a vector register
SUMS = 64  # bytes of the vectors by which rows are summed up: on every CPU the same, so that the sums are
# A tile of the result is ROWS rows of up to three registers; it and three registers of b fill a CPU's 32 or 16.
ROWS = 4 if REGISTER == 32 else 8

I64, I32, I16 = ir.IntType(64), ir.IntType(32), ir.IntType(16)


def describe():
    """The instructions that products are computed with."""
    name = {64: "AVX-512", 32: "AVX2", 16: "128-bit vectors"}[REGISTER]
    return f"badak's own ({name}: tiles of {ROWS} x {3 * REGISTER // 4} float32)"


def outlined(builder, gives, values, emit):
    """The value of emit(builder, *values), emitted into a function of its own, which no caller takes in."""
    module = builder.module
    function = ir.Function(module, ir.FunctionType(gives, [each.type for each in values]), module.get_unique_name("outlined"))
    function.linkage = "internal"
    function.attributes.add("noinline")
    inner = ir.IRBuilder(function.append_basic_block())
    inner.ret(emit(inner, *function.args))
    return builder.call(function, values)


class Loops:
    """Loops and choices among emitted instructions."""

    def __init__(self, builder):
        self.builder = builder

    def repeat(self, count, carried, body):
        """Emit `for i in range(count): carried = body(i, carried)`, and give the carried values."""
        b = self.builder
        entry = b.block
        loop, after = b.append_basic_block("repeat"), b.append_basic_block("done")
        b.cbranch(b.icmp_signed(">", count, I64(0)), loop, after)
        b.position_at_end(loop)
        i, before = b.phi(I64), [b.phi(value.type) for value in carried]
        new = [b.add(i, I64(1)), *body(i, before)]
        for phi, first, then in zip([i, *before], [I64(0), *carried], new):
            phi.add_incoming(first, entry)
            phi.add_incoming(then, b.block)
        b.cbranch(b.icmp_signed("<", new[0], count), loop, after)
        last = b.block
        b.position_at_end(after)
        results = [b.phi(value.type) for value in carried]
        for phi, first, then in zip(results, carried, new[1:]):
            phi.add_incoming(first, entry)
            phi.add_incoming(then, last)
        return results

    def either(self, condition, first, second, likely=None):
        """The values that first() emits and gives, a list, where the condition holds, and those of second() where it does not."""
        ends = []
        with self.builder.if_else(condition, likely) as blocks:
            for block, emit in zip(blocks, (first, second)):
                with block:
                    ends.append((emit(), self.builder.block))
        results = [self.builder.phi(value.type) for value in ends[0][0]]
        for values, block in ends:
            for phi, value in zip(results, values):
                phi.add_incoming(value, block)
        return results


class Vectors(Loops):
    """Vectors of an element (a type of LLVM) that fill `size` bytes, one register unless told, and the instructions on them."""

    def __init__(self, builder, element, size=REGISTER):
        super().__init__(builder)
        self.element, self.bytes = element, 4 if element == FLOAT32 else 8
        self.lanes = size // self.bytes
        self.type, self.indices = ir.VectorType(self.element, self.lanes), ir.VectorType(I32, self.lanes)
        self.halves = ir.VectorType(I16, self.lanes)
        self.zero = ir.Constant(self.type, [0.0] * self.lanes)

    def space(self, size):
        """The address of `size` bytes on the stack, aligned to registers."""
        with self.builder.goto_entry_block():
            space = self.builder.alloca(ir.ArrayType(ir.IntType(8), size))
            space.align = REGISTER
        return self.builder.ptrtoint(space, I64)

    def splat(self, value):
        """`value` in every lane."""
        blank = ir.Constant(ir.VectorType(value.type, self.lanes), ir.Undefined)
        first = self.builder.insert_element(blank, value, I32(0))
        return self.builder.shuffle_vector(first, blank, self.whole(0))

    def first(self, count):
        """The mask of the first `count` lanes."""
        numbers = ir.Constant(self.indices, list(range(self.lanes)))
        return self.builder.icmp_signed("<", numbers, self.splat(self.builder.trunc(count, I32)))

    def pointer(self, address, offset=0, kind=None):
        offset = I64(offset) if isinstance(offset, int) else offset
        return self.builder.inttoptr(self.builder.add(address, offset), (kind or self.type).as_pointer())

    def number(self, address, half=False):
        """The number at the address, in every lane. half: it is a bfloat16."""
        found = self.builder.load(self.pointer(address, kind=I16 if half else self.element))
        return self.splat(widened_bits(self.builder, found) if half else found)

    def load(self, address, offset=0, mask=None, half=False):
        """The lanes of the mask, and zeros; without a mask, all. The offset is a constant or an LLVM value, in bytes.

        half: memory holds bfloat16, which become float32.
        """
        kind = self.halves if half else self.type
        place = self.pointer(address, offset, kind)
        if mask is None:
            loaded = self.builder.load(place)
            loaded.align = 2 if half else self.bytes
        else:
            rest = ir.Constant(kind, [0] * self.lanes) if half else self.zero
            loaded = self._call("masked.load", kind, [place, I32(2 if half else self.bytes), mask, rest], ".p0", kind)
        return widened_bits(self.builder, loaded) if half else loaded

    def store(self, value, address, offset=0, mask=None, half=False):
        """Write the lanes of the mask; without a mask, all. half: as bfloat16, rounded."""
        if half:
            value = rounded_bits(self.builder, value)
        place = self.pointer(address, offset, value.type)
        if mask is None:
            self.builder.store(value, place).align = 2 if half else self.bytes
        else:
            self._call("masked.store", ir.VoidType(), [value, place, I32(2 if half else self.bytes), mask], ".p0", value.type)

    def copy(self, count, x, y):
        """Copy `count` numbers, not with a mask as part of a register, which would often lie in two lines of cache."""
        kind = ir.VectorType(self.element, count)
        numbers = self.builder.load(self.pointer(x, kind=kind))
        numbers.align = self.bytes
        self.builder.store(numbers, self.pointer(y, kind=kind)).align = self.bytes

    def hidden(self, number):
        """The same int64, of which the compiler knows nothing more."""
        return self.builder.asm(ir.FunctionType(I64, [I64]), "", "=r,0", [number], False)

    def ask(self, address, write):
        """Ask the caches for the line at the address, if there is one: the first to be written, the second to be read."""
        place = self.pointer(address, kind=ir.IntType(8))
        kind = ir.FunctionType(ir.VoidType(), [place.type, I32, I32, I32])
        call = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        self.builder.call(call, [place, I32(int(write)), I32(3 if write else 2), I32(1)])

    def fma(self, a, b, c):
        return self._call("fma", self.type, [a, b, c])

    def map(self, name, *values):
        """llvm.`name` of each lane."""
        return self._call(name, self.type, list(values))

    def larger(self, a, b):
        """The larger number of each lane, a where b is NaN (which one instruction does; a NaN shows in the sum)."""
        return self.builder.select(self.builder.fcmp_ordered(">", b, a), b, a)

    def constant(self, number):
        return ir.Constant(self.type, [float(number)] * self.lanes)

    def whole(self, number):
        return ir.Constant(self.indices, [number] * self.lanes)

    def total(self, vector):
        """The sum of the lanes."""
        return self.reduce(vector, self.builder.fadd)

    def reduce(self, vector, join):
        """One number of all lanes: halves are joined until one is left, in this order always."""
        half = self.lanes // 2
        while half:
            order = [half + i if i < half else i for i in range(self.lanes)]
            upper = self.builder.shuffle_vector(vector, vector, ir.Constant(self.indices, order))
            vector, half = join(vector, upper), half // 2
        return self.builder.extract_element(vector, I32(0))

    def interleave(self, a, b, half):
        """a0 b0 a1 b1 ... of the lower (0) or upper (1) halves of a and b."""
        start = half * self.lanes // 2
        order = [start + i // 2 + i % 2 * self.lanes for i in range(self.lanes)]
        return self.builder.shuffle_vector(a, b, ir.Constant(self.indices, order))

    def columns(self, rows, at):
        """The registers that hold the numbers of as many rows as a register has lanes at `at`, then those next to them, and so on
        for 16 bytes of each row.

        Such parts of rows are loaded next to each other, and the numbers then change places within parts: half of the shuffles
        that whole registers take.
        """
        side, part = 16 // self.bytes, ir.VectorType(self.element, 16 // self.bytes)
        several = []
        for i in range(side):
            parts = [self.builder.load(self.pointer(row, at, part)) for row in rows[i::side]]
            for loaded in parts:
                loaded.align = self.bytes
            while len(parts) > 1:
                count = 2 * parts[0].type.count
                parts = [self._shuffled(a, b, range(count)) for a, b in zip(parts[::2], parts[1::2])]
            several += parts
        half, starts = side // 2, range(0, self.lanes, side)
        for _ in range(side.bit_length() - 1):
            several = [
                self._shuffled(several[i // 2], several[i // 2 + half],
                               [self.lanes * (k % 2) + start + i % 2 * half + k // 2 for start in starts for k in range(side)])
                for i in range(side)
            ]  # fmt: skip
        return several

    def _shuffled(self, a, b, order):
        """The lanes `order` of a and, counting on, b."""
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, len(order)), list(order)))

    def _call(self, name, result, values, suffix="", of=None):
        kind = ir.FunctionType(result, [value.type for value in values])
        full = f"llvm.{name}.v{self.lanes}{'i16' if of == self.halves else f'f{8 * self.bytes}'}{suffix}"
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, full), values)


INT64, FLOAT32, FLOAT64 = types.int64, ir.FloatType(), ir.DoubleType()
TWO, THREE, FOUR = (types.UniTuple(INT64, count) for count in (2, 3, 4))


def lanes(like):
    """Numbers like `like` in a register."""
    return REGISTER // np.asarray(like).itemsize


@overload(lanes)
def _(like):
    count = REGISTER // (like.bitwidth // 8)
    return lambda like: count


def whole_registers(count, like):
    """Numbers from row to row of a matrix with `count` columns: whole registers, an odd number of them.

    An even number would put a column into few of the first cache's sets, and out of it (measured: attention
    (8, 6, 256, 64), forward, 3.6 against 3.0 ms).
    """
    return (-(-count // lanes(like)) | 1) * lanes(like)


@overload(whole_registers)
def _(count, like):
    step = REGISTER // (like.bitwidth // 8)
    return lambda count, like: (-(-count // step) | 1) * step
