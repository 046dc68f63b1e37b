"""What batch normalisation does to a row that is one channel of one image: see `rows.py`."""

# mypy: disable-error-code="call-arg"

from badak.kernels.numba.codegen.bfloat16 import is_bfloat16
from badak.kernels.numba.codegen.floats import rounded
from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.registers import SUMS, Vectors
from badak.kernels.numba.simd.rows import _at, _kept, _of_half, _sum, _summing, _write


@_of_half
def _affine(half):
    @instruction(4)
    def affine(builder, like, m, scale, b, y, x, size):
        v = Vectors(builder, like.type, SUMS)
        m, scale, b = v.splat(m), v.splat(scale), v.splat(b)

        def made(place, mask):
            return v.fma(builder.fsub(v.load(_at(v, x, place, half), mask=mask, half=half), m), scale, b)

        _write(v, y, size, half, made)

    return affine


@_of_half
def _leaning(half):
    @_summing(2)
    def several(builder, like, m, dy, x, first, size):
        v = Vectors(builder, like.type, SUMS)
        m = v.splat(m)

        def body(place, mask, total):
            d = builder.fsub(v.load(_at(v, x, place, half), mask=mask, half=half), m)
            d = _kept(v, mask, d, v.zero)
            return [v.fma(v.load(_at(v, dy, place, half), mask=mask, half=half), d, total[0])]

        return _sum(v, first, size, body)

    return several


@_of_half
def _back(half):
    @instruction(5)
    def back(builder, like, m, shift, lean, scale, dx, dy, x, size):
        v = Vectors(builder, like.type, SUMS)
        m, shift, lean, scale = v.splat(m), v.splat(shift), v.splat(lean), v.splat(scale)

        def made(place, mask):
            d = builder.fsub(v.load(_at(v, x, place, half), mask=mask, half=half), m)
            g = builder.fsub(v.load(_at(v, dy, place, half), mask=mask, half=half), shift)
            return builder.fmul(v.fma(lean, d, g), scale)

        _write(v, dx, size, half, made)

    return back


def affine_row(y, x, m, scale, b):
    """y = (x - m) scale + b; y and x are of one dtype."""
    y[:] = (x - m) * scale + b


def leaning_in(dy, x, m):
    """The sum of dy (x - m); dy and x are of one dtype."""
    return (dy * (x - m)).sum()


def back_row(dx, dy, x, m, shift, lean, scale):
    """dx = (dy - shift + lean (x - m)) scale; all rows are of one dtype."""
    dx[:] = (dy - shift + lean * (x - m)) * scale


@rounded(affine_row)
def _(y, x, m, scale, b):
    affine = _affine[is_bfloat16(x)]
    return lambda y, x, m, scale, b: affine(x.dtype.type(0), m, scale, b, y.ctypes.data, x.ctypes.data, x.size)


@rounded(leaning_in)
def _(dy, x, m):
    leaning = _leaning[is_bfloat16(x)]
    return lambda dy, x, m: leaning(x.dtype.type(0), m, dy.ctypes.data, x.ctypes.data, x.size)


@rounded(back_row)
def _(dx, dy, x, m, shift, lean, scale):
    back = _back[is_bfloat16(x)]

    def run(dx, dy, x, m, shift, lean, scale):
        back(x.dtype.type(0), m, shift, lean, scale, dx.ctypes.data, dy.ctypes.data, x.ctypes.data, x.size)

    return run
