"""Convolutions without the windows of all the input in memory: a task cuts out those of some places, and multiplies them at once.

x is padded first (`_padded`), so that every window lies inside. `at` holds for each axis D, H, W (those that are missing have one
entry): the size of the padded x, the stride, and the number of windows. `offsets` says how far each place of a window lies from the
first one.
"""

import math

import numpy as np

from badak.kernels import reference
from badak.kernels.numba._blocks import PER_COPY, contiguous, rows_per_block
from badak.kernels.numba.codegen.arrays import unit_stride
from badak.kernels.numba.codegen.compile import kernel
from badak.kernels.numba.codegen.registers import REGISTER, lanes
from badak.kernels.numba.gemm import FLOPS_PER_NS
from badak.kernels.numba.matmul import matmul
from badak.kernels.numba.simd.gemm import gemm
from badak.kernels.numba.simd.tiles import DEPTH, copy_number, copy_row
from badak.kernels.numba.threadpool.parallel import parallel, parallel_exact
from badak.kernels.numba.windows import flat_axes, fold, offsets_of
from badak.kernels.reference.conv import grouped

SIZE, STRIDE, OUT = range(3)
_PANELS = 8  # of columns that a task makes at most: fewer, and its weight is read too often
_TASKS, _ROWS = 16, 64  # where there are fewer tasks, each takes half of the weight's rows, if that are so many
_COLUMNS = 48  # of the weight's gradient, and three times as many where that still makes two tasks
_SWAPPED = 16  # channels of which a task swaps the weights with those of the others
_SCRATCH = 65_536  # windows that a task of the weight's gradient holds at a time


@kernel
def runs_of(runs, first, count, image, at, images):
    """Windows that lie side by side in x, of `count` from `first` on: from where in x, to which column, how many; their number."""
    places, wide, found, q = at[OUT, 0] * at[OUT, 1] * at[OUT, 2], at[OUT, 2], 0, first
    while q < first + count:
        n, p = divmod(q, places)
        line, w = divmod(p, wide)
        d, h = divmod(line, at[OUT, 1])
        start = (d * at[STRIDE, 0] * at[SIZE, 1] + h * at[STRIDE, 1]) * at[SIZE, 2] + w * at[STRIDE, 2]
        runs[0, found] = (image + n) * images + start
        runs[1, found] = q - first
        runs[2, found] = min(wide - w, first + count - q)
        q += runs[2, found]
        found += 1
    return found


@kernel
def cut(like, x, channels, apart, offsets, stride, runs, found, space, pitch):
    """space[c k, column] = the number at place k of each window of `runs` in `channels` channels from address x on.

    Rows are `pitch` bytes apart. What is written behind the end of a row the next one covers; behind the last there is room.
    """
    item, step = REGISTER // lanes(like), lanes(like)
    for c in range(channels):
        for k in range(offsets.size):
            source, target = x + (c * apart + offsets[k]) * item, space + (c * offsets.size + k) * pitch
            for r in range(found):
                start, into = source + runs[0, r] * item, target + runs[1, r] * item
                if stride == 1:
                    for i in range(0, runs[2, r], step):
                        copy_row(1, like, start + i * item, runs[2, r] - i, into + i * item)
                else:
                    for i in range(runs[2, r]):
                        copy_number(like, start + i * stride * item, into + i * item)


@parallel_exact("W4 R4 i i i i")
def pad_images(task, y, x, depth, height, width, step):
    """y = x with zeros around it, `depth`, `height` and `width` of them, for `step` images x (I, D, H, W)."""
    zero = x.dtype.type(0)
    for image in range(task * step, min((task + 1) * step, x.shape[0])):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                line, d, h = unit_stride(y[image, i, j]), i - depth, j - height
                if d < 0 or d >= x.shape[1] or h < 0 or h >= x.shape[2]:
                    for k in range(line.size):
                        line[k] = zero
                    continue
                for k in range(width):
                    line[k] = line[line.size - 1 - k] = zero
                source, inside = unit_stride(x[image, d, h]), line[width:]
                for k in range(source.size):
                    inside[k] = source[k]


@parallel_exact("W4 R4 i")
def swap_channels(task, y, x, step):
    """y (G, C, M, K) = x (G, M, C, K) for `step` of its C: what lies side by side is read at once."""
    g, block = divmod(task, -(-x.shape[2] // step))
    for m in range(x.shape[1]):
        for c in range(block * step, min((block + 1) * step, x.shape[2])):
            for k in range(x.shape[3]):
                y[g, c, m, k] = x[g, m, c, k]


@parallel("W3 R3 R3 Ri2 Ri1 i i i")
def conv_panels(task, y, x, w, at, offsets, images, panels, rows):
    """`panels` panels of the columns of y (N, M, L) = W cols(x), which are those of `images` images side by side; w (G, M/G, J).

    A task takes `rows` rows of W.
    """
    like, item = w[0, 0, 0], y.itemsize
    width = 3 * lanes(like)
    groups, every, deep = w.shape
    channels, apart, places = x.shape[1] // groups, x.shape[2], y.shape[2]
    blocks = -(-images * places // (panels * width))
    rest, block = divmod(task, blocks)
    rest, part = divmod(rest, -(-every // rows))
    sheet, g = divmod(rest, groups)
    image, top = sheet * images, part * rows
    rows = min(rows, every - top)
    weight, top = w[g, top : top + rows], top + g * every
    taken = min(images, y.shape[0] - image) * places
    runs, sums = np.empty((3, width), np.int64), np.empty((rows if images > 1 else 0, width), y.dtype)
    space = np.empty((deep + 2) * width, y.dtype)
    skip = -space.ctypes.data % 64 // item
    for first in range(block * panels * width, min((block + 1) * panels * width, taken), width):
        columns = min(width, taken - first)
        pitch = -(-columns // lanes(like)) * lanes(like)
        found = runs_of(runs, first, columns, image, at, x.shape[1] * apart)
        start = x.ctypes.data + g * channels * apart * item
        cut(like, start, channels, apart, offsets, at[STRIDE, 2], runs, found, space.ctypes.data + skip * item, pitch * item)
        windows = space[skip : skip + deep * pitch].reshape((deep, pitch))[:, :columns]
        if images == 1:
            gemm(1, weight, windows, None, y[image, top : top + rows, first : first + columns])
            continue
        gemm(1, weight, windows, None, sums[:, :columns])
        q = first
        while q < first + columns:
            n, p = divmod(q, places)
            count = min(places - p, first + columns - q)
            for m in range(rows):
                target, source = y[image + n, top + m, p : p + count], sums[m, q - first : q - first + count]
                for i in range(count):
                    target[i] = source[i]
            q += count


@parallel("W3 R3 R3 Ri2 Ri1 i i")
def conv_weights(task, dw, dy, x, at, offsets, channels, depth):
    """dw (G, M/G, J) = sum_n dy cols(x)^T for the windows of `channels` channels, `depth` places at a time; dy (N, M, L)."""
    like, item = dw[0, 0, 0], dw.itemsize
    groups, rows = dw.shape[:2]
    every, apart = x.shape[1] // groups, x.shape[2]
    g, block = divmod(task, -(-every // channels))
    first, count = block * channels, min(channels, every - block * channels)
    across, begin = count * offsets.size, first * offsets.size
    out, runs = dw[g, :, begin : begin + across], np.empty((3, depth), np.int64)
    space = np.empty(across * (depth + 16) + 64, dw.dtype)
    for n in range(dy.shape[0]):
        for p in range(0, dy.shape[2], depth):
            columns = min(depth, dy.shape[2] - p)
            found = runs_of(runs, p, columns, n, at, x.shape[1] * apart)
            pitch = columns + 16  # not a power of two, so that a column of rows lies in many sets of a cache
            start = x.ctypes.data + (g * every + first) * apart * item
            cut(like, start, count, apart, offsets, at[STRIDE, 2], runs, found, space.ctypes.data, pitch * item)
            windows = space[: across * pitch].reshape((across, pitch))[:, :columns].T
            left = dy[n, g * rows : (g + 1) * rows, p : p + columns]
            if n == 0 and p == 0:
                gemm(1, left, windows, None, out)
            else:
                gemm(1, left, windows, out, out)


@parallel("W3 R3 R2 Ri2 Ri1 i")
def depthwise_lines(task, y, x, w, at, offsets, step):
    """y[n, c, o] = sum_k w[c, k] x[n, c, o + k] of `step` channels: whole lines of x at once, whose ends are left out."""
    wide, across = at[OUT, 2], at[SIZE, 2]
    lines = max(1, 2048 // across)
    sums = np.empty(lines * across, y.dtype)
    for channel in range(task * step, min((task + 1) * step, y.shape[0] * y.shape[1])):
        n, c = divmod(channel, y.shape[1])
        for d in range(at[OUT, 0]):
            for h in range(0, at[OUT, 1], lines):
                count = min(lines, at[OUT, 1] - h)
                total = unit_stride(sums[: (count - 1) * across + wide])
                for i in range(total.size):
                    total[i] = 0
                for k in range(offsets.size):
                    source, factor = x[n, c, (d * at[SIZE, 1] + h) * across + offsets[k] :], w[c, k]
                    for i in range(total.size):
                        total[i] += factor * source[i]
                for line in range(count):
                    target = y[n, c, ((d * at[OUT, 1]) + h + line) * wide :]
                    given = sums[line * across :]
                    for i in range(wide):
                        target[i] = given[i]


@parallel("W2 R3 R3 Ri2 Ri1")
def depthwise_weights(task, dw, dy, x, at, offsets):
    """dw[c, k] = sum_n,o dy[n, c, o] x[n, c, o + k] for c = task: as `depthwise_lines`, with zeros for what it leaves out."""
    wide, across, c = at[OUT, 2], at[SIZE, 2], task
    lines = max(1, 2048 // across)
    given = np.zeros(lines * across, dy.dtype)
    for k in range(offsets.size):
        dw[c, k] = 0
    for n in range(dy.shape[0]):
        for d in range(at[OUT, 0]):
            for h in range(0, at[OUT, 1], lines):
                count = min(lines, at[OUT, 1] - h)
                for line in range(count):
                    target, source = given[line * across :], dy[n, c, ((d * at[OUT, 1]) + h + line) * wide :]
                    for i in range(wide):
                        target[i] = source[i]
                all_lines = unit_stride(given[: (count - 1) * across + wide])
                for k in range(offsets.size):
                    source = x[n, c, (d * at[SIZE, 1] + h) * across + offsets[k] :]
                    total = dw[c, k] * 0
                    for i in range(all_lines.size):
                        total += all_lines[i] * source[i]
                    dw[c, k] += total


def conv(x, w, at, groups, out):
    """y (N, M, *O), the windows of x times w (M, C/G, *K); see `reference.conv`."""
    return _conv(x, w, at, groups, out) if _taken(x, w, out) else reference.conv(x, w, at, groups, out)


def _conv(x, w, at, groups, out, turned=False):
    """`conv`; turned: by w whose places stand in the opposite order."""
    n, m, places = x.shape[0], w.shape[0], math.prod(out)
    y = np.empty((n, m, *out), x.dtype)
    left = _weight(w, groups)
    if _is_one(w, at):
        return matmul(left, grouped(x, groups)).reshape(y.shape)
    stride, padding, dilation = at
    source, geometry, offsets = _slid(x, w.shape[2:], stride, padding, dilation, out)
    offsets = offsets[::-1].copy() if turned else offsets
    flat, work = y.reshape(n, m, places), 2 * y.size * left.shape[2] // FLOPS_PER_NS
    if groups == m == x.shape[1] and max(stride) == 1:
        step = max(1, 4096 // places)
        depthwise_lines(-(-n * m // step), 4 * work, flat, source, left.reshape(m, -1), geometry, offsets, step)
        return y
    width = 3 * REGISTER // x.itemsize
    images = 1 if places >= 2 * width else min(n, -(-4 * width // places))
    images = -(-n // -(-n // images))  # as many in each sheet
    panels = -(-images * places // width)
    together = max(1, min(_PANELS, panels * groups * -(-n // images) // 8))
    tasks, rows = -(-n // images) * groups * -(-images * places // (together * width)), left.shape[1]
    if tasks < _TASKS and rows >= 2 * _ROWS:
        tasks, rows = 2 * tasks, -(-rows // 2)
    conv_panels(tasks, work, flat, source, left, geometry, offsets, images, together, rows)
    return y


def conv_dx(dy, w, at, groups, size):
    """dx (N, C, *size), the adjoint of `conv` in x; see `reference.conv_dx`. Where strides are 1, w turned is moved over dy."""
    stride, padding, dilation = at
    reach = tuple(d * (k - 1) for d, k in zip(dilation, w.shape[2:]))
    left = _weight(w, groups)
    if not _taken(dy, w, size):
        return reference.conv_dx(dy, w, at, groups, size)
    if _is_one(w, at) and size == dy.shape[2:]:
        return matmul(left.swapaxes(1, 2), grouped(dy, groups)).reshape(dy.shape[0], -1, *size)
    cheap = left.shape[1] <= 4 * w.shape[1]  # to cut windows of dy out, next to those that are put back
    if cheap and max(stride) == 1 and all(p <= r for p, r in zip(padding, reach)):
        given = contiguous(w).reshape(groups, -1, w.shape[1], math.prod(w.shape[2:]))
        swapped = np.empty((groups, w.shape[1], given.shape[1], given.shape[3]), w.dtype)
        swap_channels(groups * -(-w.shape[1] // _SWAPPED), w.size * PER_COPY, swapped, given, _SWAPPED)
        swapped = swapped.reshape(-1, given.shape[1], *w.shape[2:])
        return _conv(dy, swapped, (stride, tuple(r - p for r, p in zip(reach, padding)), dilation), groups, size, turned=True)
    cols = matmul(left.swapaxes(1, 2), grouped(dy, groups))
    return fold(cols.reshape(dy.shape[0], groups * w.shape[1], *w.shape[2:], *dy.shape[2:]), size, *at)


def conv_dw(dy, x, shape, at, groups):
    """dw (*shape) = sum_n dy cols(x)^T; see `reference.conv_dw`."""
    if not _taken(x, dy, dy.shape[2:]) or not math.prod(shape):
        return reference.conv_dw(dy, x, shape, at, groups)
    stride, padding, dilation = at
    source, geometry, offsets = _slid(x, shape[2:], stride, padding, dilation, dy.shape[2:])
    dw, given = np.empty(shape, x.dtype), flat_axes(dy)
    work = 2 * dy.size * math.prod(shape[1:]) // FLOPS_PER_NS
    if groups == shape[0] == x.shape[1] and max(stride) == 1:
        depthwise_weights(groups, 4 * work, dw.reshape(groups, -1), given, source, geometry, offsets)
        return dw
    each, places = x.shape[1] // groups, given.shape[2]
    few, many = max(1, _COLUMNS // offsets.size), -(-3 * _COLUMNS // offsets.size)
    channels = min(many if each * groups >= 2 * many else few, each)
    depth = min(places, max(16, min(DEPTH, _SCRATCH // (channels * offsets.size))))
    conv_weights(groups * -(-each // channels), work, _weight(dw, groups), given, source, geometry, offsets, channels, depth)
    return dw


def _taken(x, w, out):
    """Whether the kernels compute it."""
    return x.ndim <= 5 and x.dtype is w.dtype and x.dtype.char in "fd" and x.size > 0 < w.size * math.prod(out)


def _slid(x, kernel, stride, padding, dilation, out):
    """(x padded, as (N, C, S); its geometry; the offsets of a window's places)."""
    if any(padding) or any((o - 1) * s + d * (k - 1) >= n for n, k, s, d, o in zip(x.shape[2:], kernel, stride, dilation, out)):
        x = _padded(x, padding)
    missing = 3 - len(out)
    geometry = np.array([(1,) * missing + tuple(each) for each in (x.shape[2:], stride, out)], np.int64)
    return flat_axes(x), geometry, offsets_of(x.shape[2:], kernel, dilation)


def _padded(x, padding):
    """x with zeros around it."""
    y = np.empty((*x.shape[:2], *(n + 2 * p for n, p in zip(x.shape[2:], padding))), x.dtype)
    missing = (1,) * (5 - x.ndim)
    images = (each.reshape(-1, *missing, *each.shape[2:]) for each in (y, contiguous(x)))
    step = rows_per_block(math.prod(y.shape[2:]))
    pad_images(-(-x.shape[0] * x.shape[1] // step), y.size * PER_COPY, *images, *(0,) * len(missing), *padding, step)
    return y


def _is_one(w, at):
    """Whether a window is one place, and each place has one: then the windows of x are x."""
    return math.prod(w.shape[2:]) == math.prod(at[0]) == 1 and not any(at[1])


def _weight(w, groups):
    """(G, M/G, J), row-major."""
    return contiguous(w).reshape(groups, w.shape[0] // groups, math.prod(w.shape[1:]))
