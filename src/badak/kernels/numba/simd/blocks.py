"""Products with weights in blocks (`kernels/block_formats.py`), 16 parts of 32 numbers at a time: exact sums of integers, then
their scales, then sums over the parts in order, as `reference/blocks.py` says.

Inputs are rounded to 8 bits, `quantize_part`. Next to the numbers lie a scale for each part, and what their sum takes off a product
with numbers without sign (int32; of formats with minima the sum itself, float32).

One row of weights at a time: registers are filled with 16 parts of a row (`scaled_parts`) until the row ends, sixteen rows' are
turned, and a register has a lane for each row (`add_parts`). Inputs lie as the numbers do in these registers, so that one load gets
them:

    QUADS   register 2 i + h: 16-number halves h of the parts i, i + 4, i + 8, i + 12
    PAIRS   register i: the parts i, i + 4 for i < 4; i + 4, i + 8 for others

Addresses and strides are int64, in bytes.
"""

# mypy: disable-error-code="attr-defined,call-arg"

from badak.kernels.block_formats import FORMATS, TOGETHER
from badak.kernels.numba.codegen.amx import Wide, has
from badak.kernels.numba.codegen.bfloat16 import rounded_bits
from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.integers import (
    BIT,
    F32,
    I8,
    I16,
    I32,
    UNDEFINED,
    WAYS,
    Bytes,
    Sixteen,
    literal,
    vector,
    widened_half,
)
from badak.kernels.numba.codegen.registers import I64, REGISTER
from badak.kernels.numba.simd.integers import _factors

PLAIN, QUADS, PAIRS = range(3)  # orders of inputs
GROUP = 512  # bytes of the inputs of 16 parts
SCALES, TAKEN = GROUP, GROUP + 4 * TOGETHER  # where their scales lie, and what is taken off
INPUTS = GROUP + 2 * 4 * TOGETHER  # with both of them
CODES = tuple(FORMATS[name].code for name in ("q8_0", "q4_0", "q4_k"))
_AHEAD = 8192  # bytes of weights further on that the caches are asked for
_LINE = 64
_SHUFFLES_WORDS = REGISTER == 64 and has("avx512bw")
_ROUNDS = has("avx512bf16")


def reach(form):
    """Bytes that `scaled_parts` may read from where a row's 16 parts begin."""
    width = TOGETHER * form.width * 32 // form.size
    return -(-width // _LINE) * _LINE


class Groups(Sixteen):
    """16 parts of a row of weights: registers of 64 bytes, which LLVM cuts into those that there are."""

    def __init__(self, builder, way):
        super().__init__(builder)
        self.registers = Bytes(builder, way)

    def word(self, number):
        return self.constant(self.ints, number)

    def shuffle(self, a, b, order):
        order = list(order)
        return self.builder.shuffle_vector(a, b, literal(vector(I32, len(order)), order))

    def joined(self, parts):
        """Vectors one after the other."""
        while len(parts) > 1:
            count = 2 * parts[0].type.count
            parts = [self.shuffle(a, b, range(count)) for a, b in zip(parts[::2], parts[1::2])]
        return parts[0]

    def pieces(self, start, offsets):
        """64 bytes, of equal pieces at these offsets: 16 numbers of 32 bits."""
        return self.joined([self.words(start, offset, 16 // len(offsets)) for offset in offsets])

    def words(self, start, offset, count, kind=I32):
        kind = vector(kind, count)
        loaded = self.builder.load(self.builder.inttoptr(self.at(start, offset), kind.as_pointer()))
        loaded.align = 1
        return loaded

    def at(self, start, offset):
        return self.builder.add(start, I64(offset) if isinstance(offset, int) else offset)

    def dot(self, sums, numbers, x):
        """sums + the four products of each lane, `numbers` without sign."""
        lanes = REGISTER // 4
        if lanes == 16:
            return self.registers.dot(sums, numbers, x)
        cut = [[self.shuffle(v, v, range(i, i + lanes)) for i in range(0, 16, lanes)] for v in (sums, numbers, x)]
        return self.joined([self.registers.dot(*parts) for parts in zip(*cut)])

    def fours(self, sums):
        """Of four registers, one: in each quarter the sum of this quarter of each of them."""
        b = self.builder
        low = [q + i // 2 + 16 * (i % 2) for q in range(0, 16, 4) for i in range(4)]
        high = [lane + 2 for lane in low]
        ends = [q + (0, 1, 16, 17)[i] for q in range(0, 16, 4) for i in range(4)]
        two = [b.add(self.shuffle(x, y, low), self.shuffle(x, y, high)) for x, y in (sums[:2], sums[2:])]
        return b.add(self.shuffle(*two, ends), self.shuffle(*two, [lane + 2 for lane in ends]))

    def halves(self, sums):
        """Of eight registers, one: the sums of their halves, in the order of PAIRS."""
        a, b = self.fours(sums[:4]), self.fours(sums[4:])
        first = [piece + lane for piece in (0, 8, 16, 24) for lane in range(4)]
        return self.builder.add(self.shuffle(a, b, first), self.shuffle(a, b, [lane + 4 for lane in first]))

    def nibbles(self, x):
        """[the lower nibble of each byte, the upper one]."""
        fifteen = self.word(0x0F0F0F0F)
        return [self.builder.and_(x, fifteen), self.builder.and_(self.builder.lshr(x, self.word(4)), fifteen)]

    def numbers(self, form, start):
        """The 512 numbers without sign, in the order of the format's inputs."""
        width = form.width
        if form.name == "q8_0":
            places = [width * (i + i // 4 * 4) + 2 for i in range(8)]
            flip = self.word(0x80808080 - (1 << 32))
            return [self.builder.xor(self.pieces(start, [at, at + 4 * width]), flip) for at in places]
        if form.name == "q4_0":
            raw = [self.pieces(start, [width * (i + k) + 2 for k in (0, 4, 8, 12)]) for i in range(4)]
        else:
            raw = [self.pieces(start, [width * s + 16 + 32 * c, width * s + 80 + 32 * c]) for s in (0, 1) for c in (0, 1)]
        return [half for one in raw for half in self.nibbles(one)]

    def sums(self, form, numbers, x):
        """Sums of products of 16 parts with the inputs at x, a lane for each part."""
        made = [self.word(0)] * (4 if form.name == "q4_0" else 8)
        for i, one in enumerate(numbers):
            to = i // 2 if form.name == "q4_0" else i
            made[to] = self.dot(made[to], one, self.pieces(x, [_LINE * i]))
        return self.fours(made) if form.name == "q4_0" else self.halves(made)

    def scales(self, form, start, mask):
        """[the scales of 16 parts], and [the minima] where the format has them; zeros outside of the mask."""
        if form.shift:
            made = [widened_half(self.builder, self._strided(start, form.width))]
        else:
            made = self._scales_of_six_bits(form, start)
        return [self.builder.select(mask, one, self.constant(self.floats, 0.0)) for one in made]

    def _strided(self, start, width):
        """16 halfwords, `width` bytes apart."""
        b = self.builder
        if not _SHUFFLES_WORDS:
            made = literal(vector(I16, 16), UNDEFINED)
            for i in range(16):
                loaded = b.load(b.inttoptr(self.at(start, width * i), I16.as_pointer()))
                loaded.align = 1
                made = b.insert_element(made, loaded, I32(i))
            return made
        kind = vector(I16, 32)
        made = literal(kind, [0] * 32)
        for line in range(-(-width * 15 // _LINE)):
            places = [width * i // 2 - 32 * line if i < 16 else -1 for i in range(32)]
            inside = [0 <= place < 32 for place in places]
            order = literal(kind, [place if fits else 0 for place, fits in zip(places, inside)])
            moved = self.call(f"x86.avx512.permvar.hi.{8 * REGISTER}", kind, self.words(start, _LINE * line, 32, I16), order)
            made = b.select(literal(vector(BIT, 32), [int(fits) for fits in inside]), moved, made)
        return self.shuffle(made, made, range(16))

    def _scales_of_six_bits(self, form, start):
        b, six, four, upper = self.builder, I32(0x3F3F3F3F), I32(0x0F0F0F0F), I32(0x30303030)
        scales, minima, factors = [], [], []
        for block in (0, form.width):
            half = self.words(start, block, 2, I16)
            factors.append([widened_half(b, b.extract_element(half, I32(i))) for i in (0, 1)])
            first, second, rest = (b.extract_element(self.words(start, block + 4, 3), I32(i)) for i in range(3))
            top = lambda word: b.and_(b.lshr(word, I32(2)), upper)
            scales += [b.and_(first, six), b.or_(b.and_(rest, four), top(first))]
            minima += [b.and_(second, six), b.or_(b.and_(b.lshr(rest, I32(4)), four), top(second))]
        made = []
        for which, words in enumerate((scales, minima)):
            packed = literal(vector(I32, 4), UNDEFINED)
            for i, word in enumerate(words):
                packed = b.insert_element(packed, word, I32(i))
            numbers = b.uitofp(b.bitcast(packed, self.bytes), self.floats)
            both = [self.splat(factor[which], self.floats) for factor in factors]
            made.append(b.fmul(numbers, self.shuffle(*both, [*range(8), *range(24, 32)])))
        return made

    def scaled(self, sums, taken, scales):
        """u of the parts: sums scale, or sums scale - (sum of inputs) minimum. taken: what lies next to the inputs."""
        b = self.builder
        if len(scales) == 1:
            return b.fmul(b.sitofp(b.sub(sums, taken), self.floats), scales[0])
        less = b.fneg(b.fmul(b.bitcast(taken, self.floats), scales[1]))
        return self.call("fma.v16f32", self.floats, b.sitofp(sums, self.floats), scales[0], less)

    def ask(self, address):
        """Ask the caches for a line."""
        self.registers.ask(address, False)


@instruction()
def quantize_part(builder, x, size, out, second, shift, scale, taken):
    """16 numbers at `out` and 16 at `second`: those of x, `size` at most, in steps of the scale; and shift times their sum as
    int32, the sum as float32 where shift is 0. Ties are rounded to even; an infinity or NaN makes the scale NaN, the numbers 0.
    """
    wide = Sixteen(builder)
    b, bits = builder, wide.constant(wide.ints, 0x7FFFFFFF)
    both = [wide.load(b.add(x, I64(64 * h)), wide.floats, wide.first(b.sub(size, I64(16 * h)))) for h in (0, 1)]
    plain = [b.and_(b.bitcast(one, wide.ints), bits) for one in both]
    larger = wide.call("smax.v16i32", wide.ints, *plain)
    inverse, made = _factors(b, wide, wide.call("vector.reduce.smax.v16i32", I32, larger))
    b.store(made, b.inttoptr(scale, F32.as_pointer()))
    known, inverse = wide.splat(b.fcmp_ordered("==", made, made), wide.bits), wide.splat(inverse, wide.floats)
    numbers = []
    for one, place in zip(both, (out, second)):
        one = b.select(known, one, wide.constant(wide.floats, 0.0))
        near = wide.call("rint.v16f32", wide.floats, b.fmul(one, inverse))
        numbers.append(b.fptosi(near, wide.ints))
        wide.store(b.trunc(numbers[-1], wide.bytes), place)
    total = wide.call("vector.reduce.add.v16i32", I32, b.add(*numbers))
    shift = b.trunc(shift, I32)
    whole = b.mul(total, shift)
    bare = b.bitcast(b.sitofp(total, F32), I32)
    b.store(b.select(b.icmp_signed("==", shift, I32(0)), bare, whole), b.inttoptr(taken, I32.as_pointer()))


@instruction(3, code=CODES, way=WAYS, many=(1, 4))
def scaled_parts(builder, code, way, many, w, step, count, groups, width, left, x, x_step, out, out_step):
    """u of `groups` times 16 parts of `count` rows of weights, `left` of these parts there, with `many` rows of inputs: 16 float32
    of each row; a KiB further those of the next 16 parts, `out_step` further those with the next row of inputs. width: bytes of 16
    parts. A row of weights is read from its first byte to its last.
    """
    form = next(one for one in FORMATS.values() if one.code == code)
    v, b = Groups(builder, way), builder

    def row(i, carried):
        first, place = b.add(w, b.mul(i, step)), b.add(out, b.mul(i, I64(_LINE)))

        def group(j, carried):
            start, to = b.add(first, b.mul(j, width)), b.add(place, b.mul(j, I64(1024)))
            own = b.add(x, b.mul(j, I64(INPUTS)))
            for line in range(0, reach(form), _LINE):
                v.ask(b.add(start, I64(_AHEAD + line)))
            mask = v.first(b.sub(left, b.mul(j, I64(TOGETHER))))
            numbers, scales = v.numbers(form, start), v.scales(form, start, mask)
            for m in range(many):
                inputs = b.add(own, b.mul(x_step, I64(m)))
                u = v.scaled(v.sums(form, numbers, inputs), v.load(b.add(inputs, I64(TAKEN)), v.ints), scales)
                v.store(u, b.add(to, b.mul(out_step, I64(m))))
            return carried

        v.registers.repeat(groups, [], group)
        return carried

    v.registers.repeat(count, [], row)


@instruction()
def add_parts(builder, u, d, totals):
    """totals[r] += u[r, part] d[part] for 16 parts in order and 16 rows r."""
    v = Sixteen(builder)
    turned = Wide(builder).turned([v.load(builder.add(u, I64(64 * r)), v.floats) for r in range(16)])
    total = v.load(totals, v.floats)
    for part, column in enumerate(turned):
        one = builder.load(builder.inttoptr(builder.add(d, I64(4 * part)), F32.as_pointer()))
        total = v.call("fma.v16f32", v.floats, builder.bitcast(column, v.floats), v.splat(one, v.floats), total)
    v.store(total, totals)


@instruction()
def finish_rows(builder, totals, bias, y, count):
    """y[r] = totals[r] + bias[r] for r < count <= 16; bias 0: nothing is added."""
    v = Sixteen(builder)
    mask, some = v.first(count), builder.icmp_signed("!=", bias, I64(0))
    total = v.load(totals, v.floats)
    added = v.load(builder.select(some, bias, totals), v.floats, mask)
    v.store(builder.select(some, builder.fadd(total, added), total), y, mask)


@instruction(2, code=CODES, signed=(0, 1))
def unpack_parts(builder, code, signed, w, step, count, left, out, scales, minima):
    """The numbers of 16 parts of `count` rows, 512 bytes for each, and their scales and minima, 16 float32 for each.
    signed: as they are; else without sign."""
    form = next(one for one in FORMATS.values() if one.code == code)
    v, b = Groups(builder, 0), builder
    width = 16 if form.name == "q4_0" else 32
    many = vector(I8, _LINE)

    def less(register):
        shifted = b.sub(b.bitcast(register, many), literal(many, [form.shift - (256 if form.shift > 127 else 0)] * _LINE))
        return b.bitcast(shifted, v.ints) if signed and form.shift else register

    def row(i, carried):
        start, target = b.add(w, b.mul(i, step)), b.add(out, b.mul(i, I64(GROUP)))
        for at, register in enumerate(map(less, v.numbers(form, start))):
            for piece in range(_LINE // width):
                part = at // 2 + 4 * piece if width == 16 else at + at // 4 * 4 + 4 * piece
                lanes = range(piece * width // 4, (piece + 1) * width // 4)
                place = b.add(target, I64(32 * part + (16 * (at % 2) if width == 16 else 0)))
                v.store(v.shuffle(register, register, lanes), place)
        for scales_of, place in zip(v.scales(form, start, v.first(left)), (scales, minima)):
            v.store(scales_of, b.add(place, b.mul(i, I64(_LINE))))
        return carried

    v.registers.repeat(count, [], row)


@instruction(2, item=(2, 4), less=(0, 1))
def write_numbers(builder, item, less, raw, scales, minima, parts, out):
    """The numbers of `parts` unpacked parts: raw scale, and where `less`, - minimum. item 4: float32, 2: rounded to bfloat16."""
    v, b = Groups(builder, 0), builder

    def one(start, i):
        return v.splat(b.load(b.inttoptr(b.add(start, b.mul(i, I64(4))), F32.as_pointer())), v.floats)

    def numbers_of(i, carried):
        scale, halves = one(scales, i), []
        for half in (0, 1):
            whole = b.sext(v.load(b.add(raw, b.add(b.mul(i, I64(32)), I64(16 * half))), v.bytes), v.ints)
            number = b.fmul(b.sitofp(whole, v.floats), scale)
            halves.append(b.fsub(number, one(minima, i)) if less else number)
        if item == 2:
            halves = [Wide(b).rounded_two(*halves)] if _ROUNDS else [rounded_bits(b, number) for number in halves]
        width = 32 * item
        place = b.add(out, b.mul(i, I64(width)))
        for at, made in enumerate(halves):
            v.store(made, b.add(place, I64(width // len(halves) * at)))
        return carried

    v.registers.repeat(parts, [], numbers_of)
