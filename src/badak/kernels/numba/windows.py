"""Windows that slide over up to three axes: cut out, put back, their maximum and their mean. A task owns whole channels.

`at` holds for each axis D, H, W (those that are missing have one entry): the size of x, of a window, its stride, padding,
dilation, and the number of windows.
"""

import math

import numpy as np

from badak.kernels import reference
from badak.kernels.numba._blocks import contiguous, rows_per_block
from badak.kernels.numba.codegen.arrays import unit_stride
from badak.kernels.numba.codegen.compile import exact
from badak.kernels.numba.simd.windows import STRIDES, largest_of_windows
from badak.kernels.numba.threadpool.parallel import parallel_exact

SIZE, WINDOW, STRIDE, PADDING, DILATION, OUT = range(6)


@exact
def reach(at, axis, k):
    """(first and last + 1 of the windows whose place k lies inside along an axis, where that of the first window lies)."""
    size, stride, out = at[SIZE, axis], at[STRIDE, axis], at[OUT, axis]
    start = k * at[DILATION, axis] - at[PADDING, axis]
    first = min(max((-start + stride - 1) // stride, 0), out)
    last = min(max((size - start + stride - 1) // stride, first), out)
    return first, last, start


@parallel_exact("W4 R3 Ri2 i")
def unfold_channels(task, cols, x, at, step):
    """cols[n, c, k, o] = x[n, c, o stride - padding + k dilation] of `step` channels; 0 outside."""
    wide, lines, across, stride = at[OUT, 2], at[SIZE, 1], at[SIZE, 2], at[STRIDE, 2]
    for channel in range(task * step, min((task + 1) * step, x.shape[0] * x.shape[1])):
        n, c = divmod(channel, x.shape[1])
        for k in range(cols.shape[2]):
            rest, kw = divmod(k, at[WINDOW, 2])
            kd, kh = divmod(rest, at[WINDOW, 1])
            d0, d1, d = reach(at, 0, kd)
            h0, h1, h = reach(at, 1, kh)
            w0, w1, w = reach(at, 2, kw)
            for od in range(at[OUT, 0]):
                for oh in range(at[OUT, 1]):
                    begin = (od * at[OUT, 1] + oh) * wide
                    target = unit_stride(cols[n, c, k])[begin : begin + wide]
                    if not (d0 <= od < d1 and h0 <= oh < h1) or w0 == w1:
                        for o in range(target.size):
                            target[o] = 0
                        continue
                    begin = ((od * at[STRIDE, 0] + d) * lines + oh * at[STRIDE, 1] + h) * across + w + w0 * stride
                    source = x[n, c, begin:]
                    for o in range(w0):
                        target[o] = 0
                    for o in range(target.size - w1):
                        target[w1 + o] = 0
                    middle = target[w0:w1]
                    if stride == 1:
                        for o in range(middle.size):
                            middle[o] = source[o]
                    else:
                        for o in range(middle.size):
                            middle[o] = source[o * stride]


@parallel_exact("W3 R4 Ri2 i")
def fold_channels(task, x, cols, at, step):
    """x = 0, then x[n, c, o stride - padding + k dilation] += cols[n, c, k, o] for k = 0, 1, ... of `step` channels."""
    wide, lines, across, stride = at[OUT, 2], at[SIZE, 1], at[SIZE, 2], at[STRIDE, 2]
    for channel in range(task * step, min((task + 1) * step, x.shape[0] * x.shape[1])):
        n, c = divmod(channel, x.shape[1])
        whole = x[n, c]
        for i in range(whole.size):
            whole[i] = 0
        for k in range(cols.shape[2]):
            rest, kw = divmod(k, at[WINDOW, 2])
            kd, kh = divmod(rest, at[WINDOW, 1])
            d0, d1, d = reach(at, 0, kd)
            h0, h1, h = reach(at, 1, kh)
            w0, w1, w = reach(at, 2, kw)
            for od in range(d0, d1):
                for oh in range(h0, h1):
                    begin = (od * at[OUT, 1] + oh) * wide
                    given = unit_stride(cols[n, c, k])[begin + w0 : begin + w1]
                    begin = ((od * at[STRIDE, 0] + d) * lines + oh * at[STRIDE, 1] + h) * across + w + w0 * stride
                    target = x[n, c, begin:]
                    if stride == 1:
                        for o in range(given.size):
                            target[o] += given[o]
                    else:
                        for o in range(given.size):
                            target[o * stride] += given[o]


@exact
def inside(at, axis, o):
    """(first and last + 1 of the places of window o that lie in x, where its place 0 lies)."""
    start, apart, count = o * at[STRIDE, axis] - at[PADDING, axis], at[DILATION, axis], at[WINDOW, axis]
    if start >= 0 and start + (count - 1) * apart < at[SIZE, axis]:  # all of it: no division
        return 0, count, start
    return max((-start + apart - 1) // apart, 0), min((at[SIZE, axis] - start + apart - 1) // apart, count), start


@exact
def max_line(y, index, x, at, offsets, od, oh, first, last):
    """A line of `max_channels`: its windows [first, last) a register of them at a time where they lie inside, others one by one."""
    d0, d1, d = inside(at, 0, od)
    h0, h1, h = inside(at, 1, oh)
    lines, across, apart, wide = at[SIZE, 1], at[SIZE, 2], at[DILATION, 2], at[OUT, 2]
    down, along, stride, padding = at[DILATION, 0], at[DILATION, 1], at[STRIDE, 2], at[PADDING, 2]
    if d1 - d0 < at[WINDOW, 0] or h1 - h0 < at[WINDOW, 1]:
        first = last = 0
    if first < last:
        start = (d * lines + h) * across + first * stride - padding
        largest_of_windows(y[first:last], index[first:last], x, start, stride, offsets)
    for number in range(wide - (last - first)):
        ow = number if number < first else number + last - first
        w = ow * stride - padding
        best, where = x.dtype.type(-np.inf), -1
        w0, w1, _ = inside(at, 2, ow)
        if d0 < d1 and h0 < h1 and w0 < w1:
            where = ((d + d0 * down) * lines + h + h0 * along) * across + w + w0 * apart
        for kd in range(d0, d1):
            for kh in range(h0, h1):
                begin = ((d + kd * down) * lines + h + kh * along) * across + w
                for kw in range(w0, w1):
                    place = begin + kw * apart
                    value = x[place]
                    if value > best or value != value:
                        best, where = value, place
        y[ow], index[ow] = best, where


@parallel_exact("W3 Wi3 R3 Ri2 Ri1 i")
def max_channels(task, y, index, x, at, offsets, step):
    """The largest entry of each window of `step` channels, the first of equals, NaN if there is one, and its place."""
    wide, stride, padding, first, last = at[OUT, 2], at[STRIDE, 2], at[PADDING, 2], 0, 0
    if stride <= STRIDES[-1]:
        first = min((padding + stride - 1) // stride, wide)
        reached = at[SIZE, 2] - 1 - (at[WINDOW, 2] - 1) * at[DILATION, 2] + padding
        last = max(min(reached // stride + 1, wide), first)
    for channel in range(task * step, min((task + 1) * step, x.shape[0] * x.shape[1])):
        n, c = divmod(channel, x.shape[1])
        begin = 0
        for od in range(at[OUT, 0]):
            for oh in range(at[OUT, 1]):
                end = begin + wide
                max_line(y[n, c, begin:end], index[n, c, begin:end], x[n, c], at, offsets, od, oh, first, last)
                begin = end


@parallel_exact("W3 R3 Ri3 i")
def spread_channels(task, dx, dy, index, step):
    """dx = 0, then dx[n, c, index[n, c, o]] += dy[n, c, o] for o = 0, 1, ... of `step` channels."""
    for channel in range(task * step, min((task + 1) * step, dx.shape[0] * dx.shape[1])):
        n, c = divmod(channel, dx.shape[1])
        target, given, where = dx[n, c], dy[n, c], index[n, c]
        for i in range(target.size):
            target[i] = 0
        for o in range(given.size):
            target[where[o]] += given[o]


def unfold(x, kernel, stride, padding, dilation, out):
    """cols (N, C, *K, *O), the windows of x; see `reference.unfold`."""
    if not _taken(x, kernel, out):
        return reference.unfold(x, kernel, stride, padding, dilation, out)
    n, c = x.shape[:2]
    cols = np.empty((n, c, *kernel, *out), x.dtype)
    flat = cols.reshape(n, c, math.prod(kernel), math.prod(out))
    at, step = _geometry(x.shape[2:], kernel, stride, padding, dilation, out), rows_per_block(flat[0, 0].size)
    unfold_channels(-(-n * c // step), cols.size * 0.3, flat, flat_axes(x), at, step)
    return cols


def fold(cols, size, stride, padding, dilation):
    """x (N, C, *size), each entry of cols added where `unfold` takes it from; see `reference.fold`."""
    axes = len(size)
    kernel, out = cols.shape[2 : 2 + axes], cols.shape[2 + axes :]
    if not _taken(cols, kernel, out) or not math.prod(size):
        return reference.fold(cols, size, stride, padding, dilation)
    n, c = cols.shape[:2]
    flat, x = contiguous(cols).reshape(n, c, math.prod(kernel), math.prod(out)), np.empty((n, c, *size), cols.dtype)
    at, step = _geometry(size, kernel, stride, padding, dilation, out), rows_per_block(flat[0, 0].size)
    fold_channels(-(-n * c // step), cols.size * 0.4, x.reshape(n, c, math.prod(size)), flat, at, step)
    return x


def max_pool(x, kernel, stride, padding, dilation, out):
    """y, index (N, C, *O): the largest entry of each window and its place; see `reference.max_pool`."""
    if not _taken(x, kernel, out):
        return reference.max_pool(x, kernel, stride, padding, dilation, out)
    n, c = x.shape[:2]
    y, index = np.empty((n, c, *out), x.dtype), np.empty((n, c, *out), np.int64)
    at, places = _geometry(x.shape[2:], kernel, stride, padding, dilation, out), math.prod(out)
    step = rows_per_block(places * math.prod(kernel))
    work = y.size * math.prod(kernel)
    offsets = offsets_of(x.shape[2:], kernel, dilation)
    max_channels(-(-n * c // step), work, y.reshape(n, c, places), index.reshape(n, c, places), flat_axes(x), at, offsets, step)
    return y, index


def max_pool_backward(dy, index, size):
    """dx (N, C, *size): each dy goes to the entry that was the largest."""
    if not dy.size or dy.dtype.char not in "fd":
        return reference.max_pool_backward(dy, index, size)
    n, c = dy.shape[:2]
    dx, where = np.empty((n, c, *size), dy.dtype), flat_axes(index)
    step = rows_per_block(max(where.shape[2], math.prod(size)))
    spread_channels(-(-n * c // step), dy.size * 1.5, dx.reshape(n, c, math.prod(size)), flat_axes(dy), where, step)
    return dx


def _taken(x, kernel, out):
    """Whether the kernels take these windows."""
    return (
        math.prod(x.shape[2:]) < 2**31
        and len(kernel) <= 3
        and x.dtype.char in "fd"
        and x.size > 0 < math.prod(kernel) * math.prod(out)
    )


def offsets_of(size, kernel, dilation):
    """How far each place of a window lies from its first one, in an image of this size."""
    offsets = np.zeros(1, np.int64)
    for n, k, d in zip(size, kernel, dilation):
        offsets = (offsets[:, None] * n + np.arange(k) * d).ravel()
    return offsets


def flat_axes(x):
    """x (N, C, *S) as (N, C, prod(S)), row-major."""
    return contiguous(x).reshape(*x.shape[:2], math.prod(x.shape[2:]))


def _geometry(*facts):
    """The facts of each axis, those of missing axes first."""
    missing = 3 - len(facts[0])
    fill = (1, 1, 1, 0, 1, 1)
    return np.array([(value,) * missing + tuple(fact) for value, fact in zip(fill, facts)], np.int64)
