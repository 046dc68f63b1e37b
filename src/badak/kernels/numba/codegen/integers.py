"""8-bit Integers in vector registers: what `simd/integers.py` is written with."""

# mypy: disable-error-code="attr-defined,call-arg"

from llvmlite import ir

from badak.kernels.numba.codegen.amx import has
from badak.kernels.numba.codegen.internals import cgutils
from badak.kernels.numba.codegen.registers import REGISTER, Vectors

BIT, I8, I16, I32, F32 = ir.IntType(1), ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.FloatType()
vector, literal, UNDEFINED = ir.VectorType, ir.Constant, ir.Undefined
VNNI_FEATURES = ("avx512vnni",) if REGISTER == 64 else ("avxvnni",)
_HAS_VNNI = has(*VNNI_FEATURES)
WAYS = WIDENED, VNNI = 0, 1  # to multiply


class Sixteen:
    """16 numbers in one value of LLVM, which cuts it into the registers that there are."""

    lanes = 16
    floats, ints, bytes, bits = (ir.VectorType(kind, 16) for kind in (F32, I32, ir.IntType(8), BIT))

    def __init__(self, builder):
        self.builder = builder

    def constant(self, kind, number):
        return ir.Constant(kind, [number] * self.lanes)

    def splat(self, value, kind):
        blank = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(blank, value, I32(0))
        return self.builder.shuffle_vector(first, blank, self.constant(self.ints, 0))

    def load(self, address, kind, mask=None):
        place = self.builder.inttoptr(address, kind.as_pointer())
        if mask is None:
            loaded = self.builder.load(place)
            loaded.align = 1
            return loaded
        zero = self.constant(kind, 0.0 if kind is self.floats else 0)
        name = "f32" if kind is self.floats else "i32"
        return self.call(f"masked.load.v16{name}.p0", kind, place, I32(1), mask, zero)

    def store(self, value, address, mask=None):
        place = self.builder.inttoptr(address, value.type.as_pointer())
        if mask is None:
            self.builder.store(value, place).align = 1
        else:
            self.call("masked.store.v16f32.p0", ir.VoidType(), value, place, I32(1), mask)

    def first(self, count):
        """The mask of the first `count` numbers, an int64."""
        numbers = ir.Constant(self.ints, list(range(self.lanes)))
        return self.builder.icmp_signed("<", numbers, self.splat(self.builder.trunc(count, I32), self.ints))

    def call(self, name, result, *values):
        kind = ir.FunctionType(result, [value.type for value in values])
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}"), values)


class Bytes(Vectors):
    """Registers of 8-bit numbers, and of sums of 32, one for each four of them."""

    def __init__(self, builder, way):
        super().__init__(builder, F32)
        self.way, self.sums = way, ir.VectorType(I32, self.lanes)
        self.nothing = ir.Constant(self.sums, [0] * self.lanes)
        self.shift = ir.Constant(self.sums, [0x80808080 - (1 << 32)] * self.lanes)  # 128, 128, 128, 128

    def four(self, address):
        """The four numbers at the address, in every lane."""
        return self.splat(self.builder.load(self.pointer(address, kind=I32)))

    def fours(self, address, offset=0, mask=None):
        """A register of numbers; the lanes of the mask, and zeros."""
        return self.builder.bitcast(self.load(address, offset, mask), self.sums)

    def dot(self, sums, x, w):
        """sums + the four products of each lane, x without sign."""
        if self.way == VNNI and _HAS_VNNI:
            kind = ir.FunctionType(self.sums, [self.sums] * 3)
            name = f"llvm.x86.avx512.vpdpbusd.{8 * REGISTER}"
            return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), [sums, x, w])
        halves = ir.VectorType(ir.IntType(16), 2 * self.lanes)
        eight = ir.Constant(halves, [8] * (2 * self.lanes))
        x, w = self.builder.bitcast(x, halves), self.builder.bitcast(w, halves)
        odd = self._pairs(self.builder.lshr(x, eight), self.builder.ashr(w, eight))
        low = ir.Constant(halves, [255] * (2 * self.lanes))
        even = self._pairs(self.builder.and_(x, low), self.builder.ashr(self.builder.shl(w, eight), eight))
        return self.builder.add(self.builder.add(sums, odd), even)

    def _pairs(self, a, b):
        """The sums of two neighbouring products: LLVM knows what these lines come to, and has one instruction for it."""
        many = ir.VectorType(I32, 2 * self.lanes)
        product = self.builder.mul(self.builder.sext(a, many), self.builder.sext(b, many))
        parts = [ir.Constant(self.indices, list(range(start, 2 * self.lanes, 2))) for start in (0, 1)]
        even, odd = (self.builder.shuffle_vector(product, product, part) for part in parts)
        return self.builder.add(even, odd)

    def sum_of(self, sums):
        """All lanes, added up."""
        kind = ir.FunctionType(I32, [self.sums])
        name = f"llvm.vector.reduce.add.v{self.lanes}i32"
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), [sums])


_CONVERTS = has("f16c")


def widened_half(builder, bits):
    """The float32 that 16 bits of float16 are, or a vector of them."""
    lanes = bits.type.count if isinstance(bits.type, ir.VectorType) else 0
    kind = lambda element: ir.VectorType(element, lanes) if lanes else element
    if _CONVERTS:
        return builder.fpext(builder.bitcast(bits, kind(ir.HalfType())), kind(F32))
    constant = lambda element, number: ir.Constant(kind(element), [number] * lanes if lanes else number)
    wide = builder.zext(bits, kind(I32))
    size = builder.shl(builder.and_(wide, constant(I32, 0x7FFF)), constant(I32, 13))
    number = builder.fmul(builder.bitcast(size, kind(F32)), constant(F32, 2.0**112))
    endless = builder.or_(size, constant(I32, 0x7F800000))  # an infinity, or a NaN with its digits
    whole = builder.icmp_signed(">=", size, constant(I32, 0x7C00 << 13))
    number = builder.select(whole, endless, builder.bitcast(number, kind(I32)))
    sign = builder.shl(builder.and_(wide, constant(I32, 0x8000)), constant(I32, 16))
    return builder.bitcast(builder.or_(number, sign), kind(F32))
