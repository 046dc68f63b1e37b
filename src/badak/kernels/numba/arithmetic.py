"""Sums, differences, products and quotients, shared out, as NumPy's use one core; the same bits, as each is rounded once."""

import types

import numpy as np

from badak.kernels import reference
from badak.kernels.memory_format import turn
from badak.kernels.numba._lines import cut, lines, made_like, stretched
from badak.kernels.numba.codegen.arrays import unit_stride
from badak.kernels.numba.codegen.compile import exact
from badak.kernels.numba.threadpool.parallel import call_log, parallel_exact
from badak.kernels.numba.threadpool.pool import team

_COST = 0.31  # nanoseconds of one core per element that comes from memory
_ARRAYS, _RIGHT, _LEFT = range(3)  # which operand is the number c: none, the right one, the left one


@exact
def line(x, i, j, k):
    """Line i, j, k of x (I, J, K, C), whose axes of size 1 are stretched."""
    return unit_stride(x[i if x.shape[0] > 1 else 0, j if x.shape[1] > 1 else 0, k if x.shape[2] > 1 else 0])


def _kernels_of(name, of):
    """The kernels of y = a of b: into new memory, and into that of a or b."""
    of = exact(of)

    def two(task, y, a, b, c, number, step, width):
        """`step` lines of y (I, J, K, C), `width` numbers of each, = a of b, or of the number c."""
        pieces = -(-y.shape[3] // width)
        group, piece = divmod(task, pieces)
        first, last = piece * width, min((piece + 1) * width, y.shape[3])
        for at in range(group * step, min((group + 1) * step, y.shape[0] * y.shape[1] * y.shape[2])):
            batch, k = divmod(at, y.shape[2])
            i, j = divmod(batch, y.shape[1])
            target, left, right = line(y, i, j, k)[first:last], line(a, i, j, k), line(b, i, j, k)
            if number == _RIGHT or (number == _ARRAYS and right.size == 1 < y.shape[3]):
                one, left = c if number == _RIGHT else right[0], left[first:last]
                for n in range(target.size):
                    target[n] = of(left[n], one)
            elif number == _LEFT or left.size == 1 < y.shape[3]:
                one, right = c if number == _LEFT else left[0], right[first:last]
                for n in range(target.size):
                    target[n] = of(one, right[n])
            else:
                left, right = left[first:last], right[first:last]
                for n in range(target.size):
                    target[n] = of(left[n], right[n])

    def into(task, y, x, c, number, turned, step, width):
        """y = y of x, or x of y where `turned`. Apart from `two`, whose loops are not vectorised where y is a: y might
        overlap it in other ways."""
        pieces = -(-y.shape[3] // width)
        group, piece = divmod(task, pieces)
        first, last = piece * width, min((piece + 1) * width, y.shape[3])
        for at in range(group * step, min((group + 1) * step, y.shape[0] * y.shape[1] * y.shape[2])):
            batch, k = divmod(at, y.shape[2])
            i, j = divmod(batch, y.shape[1])
            target, other = line(y, i, j, k)[first:last], line(x, i, j, k)
            if number or other.size == 1 < y.shape[3]:
                one = c if number else other[0]
                if turned:
                    for n in range(target.size):
                        target[n] = of(one, target[n])
                else:
                    for n in range(target.size):
                        target[n] = of(target[n], one)
            else:
                other = other[first:last]
                if turned:
                    for n in range(target.size):
                        target[n] = of(other[n], target[n])
                else:
                    for n in range(target.size):
                        target[n] = of(target[n], other[n])

    two, into = _named(two, f"{name}_lines"), _named(into, f"{name}_into_lines")
    return parallel_exact("W4 V4 V4 f i i i")(two), parallel_exact("X4 V4 f ? ? i i")(into)


def _named(function, name):
    """The function under a name of its own, by which it is kept on disk."""
    code = function.__code__.replace(co_name=name, co_qualname=name)
    return types.FunctionType(code, function.__globals__, name, None, function.__closure__)


_KERNELS = {
    np.add: _kernels_of("add", lambda a, b: a + b),
    np.subtract: _kernels_of("subtract", lambda a, b: a - b),
    np.multiply: _kernels_of("multiply", lambda a, b: a * b),
    np.divide: _kernels_of("divide", lambda a, b: a / b),
}


@parallel_exact("W4 V?4 V4 V4 f i i i")
def choose_lines(task, y, keep, a, b, c, number, step, width):
    """`step` lines of y (I, J, K, C), `width` numbers of each, = a where keep, else b; of a and b one may be a number alone."""
    pieces = -(-y.shape[3] // width)
    group, piece = divmod(task, pieces)
    first, last = piece * width, min((piece + 1) * width, y.shape[3])
    for at in range(group * step, min((group + 1) * step, y.shape[0] * y.shape[1] * y.shape[2])):
        batch, k = divmod(at, y.shape[2])
        i, j = divmod(batch, y.shape[1])
        target, kept = line(y, i, j, k)[first:last], line(keep, i, j, k)[first:last]
        left, right = line(a, i, j, k), line(b, i, j, k)
        if number == _RIGHT or right.size < y.shape[3]:
            one, left = c if number == _RIGHT else right[0], left[first:last]
            for n in range(target.size):
                target[n] = left[n] if kept[n] else one
        elif number == _LEFT or left.size < y.shape[3]:
            one, right = c if number == _LEFT else left[0], right[first:last]
            for n in range(target.size):
                target[n] = one if kept[n] else right[n]
        else:
            left, right = left[first:last], right[first:last]
            for n in range(target.size):
                target[n] = left[n] if kept[n] else right[n]


def arithmetic(ufunc, a, b, out=None):
    """y = ufunc(a, b), into `out` where given, which may be a or b itself; see `reference.arithmetic`."""
    if ufunc in _KERNELS and (known := _operands(a, b)) and (team.size > 1 or call_log.log is not None or known[0].itemsize == 2):
        two, into = _KERNELS[ufunc]
        y = _made(two, *known) if out is None else _changed(into, *known, out)
        if y is not None:
            return y
    return reference.arithmetic(ufunc, a, b, out)


def _operands(a, b):
    """(a, b, c, which of them is the number c, in whose place the other stands); None where kernels do not take them."""
    if type(b) in (float, int):
        return a, a, b, _RIGHT
    if type(a) in (float, int):
        return b, b, a, _LEFT
    return (a, b, 0, _ARRAYS) if type(a) is type(b) is np.ndarray and a.dtype is b.dtype else None


def _made(kernel, a, b, c, number):
    y, seen = made_like(stretched(a, b), a.dtype, (a, b))
    if seen is None or not any(_fills(x, seen[0]) for x in seen[1:]):
        return None
    tasks, step, width = cut(seen[0])
    kernel(tasks, y.size * _COST, *seen, c, number, step, width)
    return y


def _fills(x, y):
    """Whether x, seen as four axes, has a number for each of a line of y."""
    return x.shape[3] == y.shape[3]


def _changed(kernel, a, b, c, number, out):
    x = b if a is out else a
    if not (a is out or b is out) or stretched(out, x) != out.shape or not out.flags.writeable:
        return None
    if x is not out and np.may_share_memory(x, out):
        return None
    turned = turn(out.shape, out)
    if not (out if turned is None else out.transpose(turned[0])).flags.c_contiguous or not (seen := lines(out, (x,), turned)):
        return None
    tasks, step, width = cut(seen[0])
    kernel(tasks, out.size * _COST, *seen, c, number != _ARRAYS, number == _LEFT or b is out is not a, step, width)
    return out


def where(keep, a, b):
    """y = a where keep, else b; see `reference.where`."""
    known = _operands(a, b)
    if keep.dtype != bool or known is None:
        return reference.where(keep, a, b)
    left, right, c, number = known
    y, seen = made_like(stretched(keep, left, right), left.dtype, (keep, left, right))
    if seen is None or not _fills(seen[1], seen[0]) or not any(_fills(x, seen[0]) for x in seen[2:]):
        return reference.where(keep, a, b)
    tasks, step, width = cut(seen[0])
    choose_lines(tasks, y.size * _COST, *seen, c, number, step, width)
    return y
