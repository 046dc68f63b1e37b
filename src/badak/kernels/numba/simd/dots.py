"""A few rows times the rows of a matrix, each read once and where it lies: a token at a time, weights as (outputs, inputs).

A register of sums has a lane for each row of the matrix, and takes its numbers in the order of k: pieces of rows are transposed on
the way, which reading them from memory hides. Each sum is that of `gemm`, to the bit: over k in order, in pieces of DEPTH, so a row
of a result does not depend on how many rows it is computed with. Sums along the rows, with a lane for every k, are the first to be
thought of, and were 1e-6 away from those of products of tiles. Rows that are a
multiple of 4 KiB apart share places of the cache; where sixteen pushed each other out, eight are read, two pieces of each
(`_crowded`): 3072 x 768 float32 comes at 33 GB/s on one core, as with sums along the rows, in place of 26 (AMD EPYC 26/2).
"""

from badak.kernels.numba.codegen.amx import Wide, has
from badak.kernels.numba.codegen.bfloat16 import is_bfloat16
from badak.kernels.numba.codegen.caches import SECOND_CACHE
from badak.kernels.numba.codegen.compile import overload
from badak.kernels.numba.codegen.floats import rounded
from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.registers import FLOAT32, I32, I64, REGISTER, Vectors
from badak.kernels.numba.simd.tiles import DEPTH, rows_from

_LINE, _PART = 64, 16  # bytes of a line of cache, of which so many numbers of each row are read at a time
_GROUPS = _LINE // REGISTER  # registers of sums of each row of x, so that as many adders are busy on every CPU
_AHEAD = 8 * _LINE  # bytes of long rows that are asked for before they are read
_TIMES, _NEAR = 2, 16384  # with one row of x so many times as many rows, where they lie within so many bytes
TOGETHER = _LINE // 4  # rows of a float32 or bfloat16 matrix that are read side by side
# w and x are numbers; w is bfloat16; both are, multiplied by AVX512_BF16; or in float32, each 32 of k summed as a tile sums them
_NUMBERS, _HALVES, _PAIRS, _TILES = range(4)


def dots(w, x, alpha, base, y):
    """y[m, n] = alpha sum_k x[m, k] w[n, k] + base[n], base empty for none; the rows of w, x and y are contiguous.

    y[m, n] has the bits that a product of tiles gives it: of `gemm`, and for w in bfloat16 of `bf16_gemm`: in the way WIDE where x
    is float32, whose numbers are those of bfloat16 then, in AVX512 where x is bfloat16. The size of such rows is even.
    """
    y[...] = (x @ w.T) * y.dtype.type(alpha) + (base if base.size else 0)


def tile_dots(w, x, alpha, base, y):
    """`dots` of w and x in bfloat16 with the bits of AMX's tiles: of every 32 of k, which are a line of cache, those of even and
    those of odd number are summed up from zero, and both sums together are added to what came before. Intel's manual describes it
    so, at TDPBF16PS; only denormal numbers, which tiles take as zero, are kept here.
    """
    dots(w, x, alpha, base, y)


def ask_ahead(v, starts, step, at, size=None):
    """Ask the caches for lines of as many rows of a matrix as `starts` has, further on, while those at `at` are read.

    Rows of `size` bytes, one behind the other, are asked for in the order of memory, which brings a half more of them than the
    order in which they are read (AMD EPYC 17/1): the next rows where they fit into the second cache, else what is next of these.
    Rows apart from each other, or without `size`, are asked for at `at`.
    """
    builder, count = v.builder, I64(len(starts))
    further = builder.mul(step, count)
    begin, gap = builder.add(builder.add(starts[0], further), at), step
    if size is not None:
        dense = builder.icmp_signed("==", step, size)
        small = builder.icmp_signed("<=", further, I64(SECOND_CACHE // 4))
        ordered = builder.and_(dense, small)
        gap = builder.select(ordered, I64(_LINE), step)
        ahead = builder.select(small, further, I64(_AHEAD))
        begin = builder.add(builder.add(starts[0], ahead), builder.select(ordered, builder.mul(at, count), at))
    for _ in starts:
        v.ask(begin, False)
        begin = builder.add(begin, gap)


def _plus(v, kind, total, x, at, column):
    """total + x[k] w[k] for the one or two k of a register of w's column, the numbers of x being read at x + at.

    In the kind _TILES total is two, of which each takes one of the two k.
    """
    builder = v.builder
    if kind == _NUMBERS:
        return v.fma(v.number(builder.add(x, at)), column, total)
    words = builder.bitcast(column, v.indices)
    if kind == _PAIRS:
        pair = v.splat(builder.load(v.pointer(x, at, I32)))
        return Wide(builder).dot(total, pair, words)
    halves = _two_numbers(v, words)
    if kind == _TILES:
        pair = _two_numbers(v, v.splat(builder.load(v.pointer(x, at, I32))))
        return [v.fma(number, half, sum) for number, half, sum in zip(pair, halves, total)]
    for number, half in enumerate(halves):
        place = builder.add(x, builder.add(builder.mul(at, I64(2)), I64(4 * number)))
        total = v.fma(v.number(place), half, total)
    return total


def _two_numbers(v, words):
    """The two bfloat16 of each word, in float32."""
    parts = v.builder.shl(words, v.whole(16)), v.builder.and_(words, v.whole(-1 << 16))
    return [v.builder.bitcast(part, v.type) for part in parts]


def _column(v, starts, at):
    """The words at `at` of as many rows as a register has lanes, one by one."""
    column = v.zero
    for i, start in enumerate(starts):
        column = v.builder.insert_element(column, v.builder.load(v.pointer(start, at, v.element)), I32(i))
    return column


def _begun(v, kind, before):
    """The sums to add a line to: of _TILES two new ones for each."""
    return [(v.zero, v.zero)] * len(before) if kind == _TILES else list(before)


def _ended(v, kind, before, sums):
    """The sums with a line added: of _TILES its two sums are added to each other first."""
    return [v.builder.fadd(total, v.builder.fadd(*pair)) for total, pair in zip(before, sums)] if kind == _TILES else sums


def _left(v, kind, count, before, word):
    """The sums with the last `count` words added, which are no whole line."""
    if kind != _TILES:
        return v.repeat(count, before, word)
    pairs = v.repeat(count, [v.zero] * 2 * len(before), word)
    return _ended(v, kind, before, list(zip(pairs[::2], pairs[1::2])))


def _there(v, base, other):
    """(base, a mask of all), or (other, a mask of none) where base is 0: to read no lane at an address that is none takes some
    hundred cycles.
    """
    absent = v.builder.icmp_signed("==", base, I64(0))
    return v.builder.select(absent, other, base), v.first(v.builder.select(absent, I64(0), I64(v.lanes)))


def _emit(kind, rows, times=1):
    """The instruction for `rows` rows of x and `times` TOGETHER rows of w: (alpha, then address of w, bytes from row to row, rows
    of w at most, of x, bytes from row to row, the words of a row, of base or 0, of y, bytes from row to row). A word is a number,
    or two bfloat16.
    """
    registers = _GROUPS * times  # of sums of each row of x

    @instruction(1)
    def several(builder, alpha, w, step, count, x, x_row, size, base, y, y_row):
        v = Vectors(builder, FLOAT32 if kind else alpha.type)
        if kind in (_PAIRS, _TILES) and not has("avx512bf16"):
            return
        lanes, item, words = v.lanes, I64(v.bytes), _LINE // v.bytes
        deep = {_NUMBERS: DEPTH, _HALVES: DEPTH // 2}.get(kind)
        starts = rows_from(builder, w, registers * lanes, count, step)
        groups = [starts[i : i + lanes] for i in range(0, registers * lanes, lanes)]
        masks = [v.first(builder.sub(count, I64(lanes * group))) for group in range(registers)]
        lines = [builder.add(x, builder.mul(x_row, I64(m))) for m in range(rows)]

        def added(group, sums, at, column):
            mine = zip(sums[group * rows :], lines)
            sums[group * rows : (group + 1) * rows] = [_plus(v, kind, total, line, at, column) for total, line in mine]

        def line(at, before):
            sums = _begun(v, kind, before)
            ask_ahead(v, starts, step, at, builder.mul(size, item))
            for offset in range(0, _LINE, _PART):
                for group in range(registers):
                    for number, column in enumerate(v.columns(groups[group], builder.add(at, I64(offset)))):
                        added(group, sums, builder.add(at, I64(offset + number * v.bytes)), column)
            return _ended(v, kind, before, sums)

        def word(at, before):
            sums = list(zip(before[::2], before[1::2])) if kind == _TILES else list(before)
            for group in range(registers):
                added(group, sums, at, _column(v, groups[group], at))
            return [each for pair in sums for each in pair] if kind == _TILES else sums

        def piece(number, before):
            first = builder.mul(number, I64(deep or 0))
            left = builder.sub(size, first)
            if deep:
                left = builder.select(builder.icmp_signed("<", left, I64(deep)), left, I64(deep))
            whole = builder.sdiv(left, I64(words))
            done = builder.add(first, builder.mul(whole, I64(words)))
            at = lambda start, i, step: builder.mul(builder.add(start, builder.mul(i, I64(step))), item)
            sums = v.repeat(whole, [v.zero] * len(before), lambda i, sums: line(at(first, i, words), sums))
            sums = _left(v, kind, builder.srem(left, I64(words)), sums, lambda i, sums: word(at(done, i, 1), sums))
            return [v.fma(total, v.splat(alpha), known) for total, known in zip(sums, before)]

        base, some = _there(v, base, w)
        before = [v.load(base, group * REGISTER, builder.and_(masks[group], some)) for group in range(registers)]
        pieces = builder.sdiv(builder.add(size, I64(deep - 1)), I64(deep)) if deep else I64(1)
        made = v.repeat(pieces, [each for each in before for _ in range(rows)], piece)
        for number, total in enumerate(made):
            group, m = divmod(number, rows)
            v.store(total, builder.add(y, builder.mul(y_row, I64(m))), group * REGISTER, masks[group])

    return several


@instruction(1)
def _crowded(builder, alpha, w, step, count, x, pairs, base, y):
    """One row of x, and rows of w that share places of the cache, of which half as many are read side by side: 2 `pairs` pieces of
    each, two at a time, a lane for each row and piece. (alpha, address of w, bytes from row to row, rows of w at most, of x, how
    many pairs of pieces, of base or 0, of y.)
    """
    v = Vectors(builder, alpha.type)
    half, piece = v.lanes // 2, DEPTH * v.bytes
    rows = rows_from(builder, w, half, count, step)
    starts = [*rows, *(builder.add(row, I64(piece)) for row in rows)]
    order = [*range(half), *range(v.lanes + half, 2 * v.lanes)]
    mask = v.first(count)

    def line(at, total):
        ask_ahead(v, rows, step, at)
        ask_ahead(v, rows, step, builder.add(at, I64(piece)))
        for offset in range(0, _LINE, _PART):
            for number, column in enumerate(v.columns(starts, builder.add(at, I64(offset)))):
                place = builder.add(x, builder.add(at, I64(offset + number * v.bytes)))
                both = v._shuffled(v.number(place), v.number(builder.add(place, I64(piece))), order)
                total = v.fma(both, column, total)
        return [total]

    def pair(number, known):
        first = builder.mul(number, I64(2 * piece))
        lines = I64(piece // _LINE)
        (total,) = v.repeat(lines, [v.zero], lambda i, sums: line(builder.add(first, builder.mul(i, I64(_LINE))), *sums))
        second = v._shuffled(total, total, [*range(half, v.lanes), *range(half)])
        return [v.fma(second, v.splat(alpha), v.fma(total, v.splat(alpha), *known))]

    base, some = _there(v, base, w)
    (made,) = v.repeat(pairs, [v.load(base, 0, builder.and_(mask, some))], pair)
    v.store(made, y, 0, mask)


_SHAPES = (1, 1), (2, 1), (4, 1), (1, _TIMES)
_SEVERAL = [[_emit(kind, *shape) for shape in _SHAPES] for kind in (_NUMBERS, _HALVES, _PAIRS, _TILES)]


@overload(dots)
def _(w, x, alpha, base, y):
    return _by_groups((1 + is_bfloat16(x)) if is_bfloat16(w) else _NUMBERS, w, y)


@rounded(tile_dots)
def _(w, x, alpha, base, y):
    return _by_groups(_TILES, w, y) if is_bfloat16(w) and is_bfloat16(x) else lambda w, x, alpha, base, y: None


def _by_groups(kind, w, y):
    """`dots` of a kind, for arrays of the types w and y."""
    one, two, four, more = _SEVERAL[kind]
    number, word = y.dtype, 2 if is_bfloat16(w) else 1
    pair = 2 * DEPTH if _GROUPS == 1 and not is_bfloat16(w) else 0  # numbers of a row
    together, times, near = _LINE // (y.dtype.bitwidth // 8), _TIMES, _NEAR

    def run(w, x, alpha, base, y):
        size, factor = w.shape[1] // word, number(alpha)
        first, step = 0, together * times
        if x.shape[0] == 1 and step * w.strides[0] <= near:  # sums wait for each other: twice as many at a time
            first = w.shape[0] // step * step
            for n in range(0, first, step):
                start, added = w.ctypes.data + n * w.strides[0], base.ctypes.data + n * y.itemsize if base.size else 0
                out = y.ctypes.data + n * y.itemsize
                more(factor, start, w.strides[0], step, x.ctypes.data, x.strides[0], size, added, out, y.strides[0])
        for n in range(first, w.shape[0], together):
            count, start = min(together, w.shape[0] - n), w.ctypes.data + n * w.strides[0]
            added, m = base.ctypes.data + n * y.itemsize if base.size else 0, 0
            while m < x.shape[0]:
                left, line = x.shape[0] - m, x.ctypes.data + m * x.strides[0]
                out = y.ctypes.data + m * y.strides[0] + n * y.itemsize
                if left >= 4:
                    four(factor, start, w.strides[0], count, line, x.strides[0], size, added, out, y.strides[0])
                    m += 4
                elif left >= 2:
                    two(factor, start, w.strides[0], count, line, x.strides[0], size, added, out, y.strides[0])
                    m += 2
                elif pair and w.strides[0] % 4096 == 0 and size >= pair:
                    step, pairs, half = w.strides[0], size // pair, together // 2
                    for behind in range(0, count, half):
                        own, at = added + behind * y.itemsize if added else 0, behind * y.itemsize
                        _crowded(factor, start + behind * step, step, min(half, count - behind), line, pairs, own, out + at)
                    done, rest = pairs * pair * y.itemsize, size - pairs * pair
                    if rest:  # behind what is in y by now
                        one(factor, start + done, step, count, line + done, x.strides[0], rest, out, out, y.strides[0])
                    m += 1
                else:
                    one(factor, start, w.strides[0], count, line, x.strides[0], size, added, out, y.strides[0])
                    m += 1

    return run
