"""Weights in blocks of 4 or 8 bits (`kernels/block_formats.py`), and int8 inputs to multiply them with."""

import numpy as np

from badak.kernels.block_formats import FORMATS, PART
from badak.kernels.half import BFLOAT16
from badak.kernels.reference._arrays import Array, quiet, rows
from badak.kernels.reference.int8 import quantize_rows

AT_ONCE = 1 << 21  # numbers of a weight that are unpacked at a time, for a gradient


@quiet
def quantize_blocks(w: Array, form: str) -> Array:
    """The bytes uint8 (N, width) of rows w (N, K) float32, to the byte as ggml makes them. form: "q8_0" or "q4_0".

    q8_0    d = max |w| / 127             q = w / d, rounded to the nearest, ties away from zero
    q4_0    d = w[k] / -8 of the largest |w[k]|     q = floor(w / d + 8.5), at most 15
    """
    blocks = _in_parts(np.ascontiguousarray(w, np.float32))
    if form == "q8_0":
        d = np.abs(blocks).max(axis=-1, keepdims=True) / np.float32(127)
        numbers = blocks * np.where(d == 0, np.float32(0), 1 / d)
        whole = np.floor(np.abs(numbers))
        whole += np.floor(2 * (np.abs(numbers) - whole))
        q = (np.sign(numbers) * whole).astype(np.int8).view(np.uint8)
    else:
        d = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=-1, keepdims=True), axis=-1) / np.float32(-8)
        numbers = blocks * np.where(d == 0, np.float32(0), 1 / d)
        q = np.trunc(numbers + np.float32(8.5)).astype(np.uint8).clip(0, 15)
        q = q[..., : PART // 2] | (q[..., PART // 2 :] << np.uint8(4))
    return np.concatenate([d.astype(np.float16).view(np.uint8), q], axis=-1).reshape(len(w), FORMATS[form].row(w.shape[1]))


def _in_parts(x: Array) -> Array:
    """x (N, K) as (N, parts, 32), filled up with zeros."""
    n, size = x.shape
    return np.pad(x, ((0, 0), (0, -size % PART))).reshape(n, -(-size // PART), PART)


@quiet
def unpacked(w: Array, form: str) -> tuple[Array, Array, Array | None]:
    """(q int8 (N, parts, 32), scale (N, parts), minimum (N, parts) or None) of rows in blocks: w = scale q - minimum."""
    width = FORMATS[form].width
    blocks = w.reshape(len(w), w.shape[1] // width, width)
    d = np.ascontiguousarray(blocks[..., :2]).view(np.float16)[..., 0].astype(np.float32)
    if form == "q8_0":
        return blocks[..., 2:].view(np.int8), d, None
    if form == "q4_0":
        return (_nibbles(blocks[..., 2:], PART // 2) - np.int8(8)).reshape(len(w), d.shape[1], PART), d, None
    low = np.ascontiguousarray(blocks[..., 2:4]).view(np.float16).astype(np.float32)
    six = blocks[..., 4:16].reshape(*blocks.shape[:2], 3, 4)
    first, second, rest = six[..., 0, :], six[..., 1, :], six[..., 2, :]
    s = np.concatenate([first & 63, (rest & 15) | ((first >> 2) & 48)], axis=-1)
    m = np.concatenate([second & 63, (rest >> 4) | ((second >> 2) & 48)], axis=-1)
    scale, minimum = ((factor * part).reshape(len(w), 8 * d.shape[1]) for factor, part in ((d[..., None], s), (low, m)))
    return _nibbles(blocks[..., 16:], PART).reshape(len(w), 8 * d.shape[1], PART), scale, minimum


@quiet
def q6_k_numbers(w: Array) -> Array:
    """The numbers float32 (N, K) of rows uint8 (N, width) in q6_k.

    A block is 128 bytes of lower nibbles, 64 of two upper bits, 16 scales and d; q = nibble + 16 bits - 32. Of each half of it, 64
    bytes hold the nibbles of 128 numbers, the lower ones first, and 32 bytes hold their bits: a byte those of
    j, j + 32, j + 64 and j + 96.
    """
    blocks = w.reshape(-1, 210)
    low = _nibbles(blocks[:, :128].reshape(-1, 64), 64).reshape(len(blocks), 256)
    high = blocks[:, 128:192].reshape(-1, 1, 32) >> np.array([[0], [2], [4], [6]], np.uint8)
    q = low + ((high & np.uint8(3)) << np.uint8(4)).astype(np.int8).reshape(low.shape) - np.int8(32)
    d = np.ascontiguousarray(blocks[:, 208:]).view(np.float16).astype(np.float32)
    scale = d * np.ascontiguousarray(blocks[:, 192:208]).view(np.int8)
    return (scale[..., None] * q.reshape(len(blocks), 16, 16)).reshape(len(w), -1)


def _nibbles(x: Array, count: int) -> Array:
    """The lower nibbles of `count` bytes, then the upper ones, and so on: int8."""
    both = x.reshape(*x.shape[:-1], x.shape[-1] // count, 1, count) >> np.array([[0], [4]], np.uint8)
    return (both & np.uint8(15)).astype(np.int8)


@quiet
def dequantize_blocks(w: Array, form: str, size: int) -> Array:
    """The numbers float32 (N, size) of rows in blocks, w uint8 (N, width)."""
    q, scale, minimum = unpacked(w, form)
    numbers = q * scale[..., None]
    if minimum is not None:
        numbers -= minimum[..., None]
    return np.ascontiguousarray(numbers.reshape(len(w), PART * q.shape[1])[:, :size])


def embedding_blocks(w: Array, ids: Array, form: str, size: int) -> Array:
    """y[..., :] = the numbers of row ids[...]; w uint8 (V, width), ids int (...) -> (..., size)."""
    return dequantize_blocks(w[ids.reshape(-1)], form, size).reshape(*ids.shape, size)


@quiet
def linear_blocks(x: Array, w: Array, b: Array | None, form: str) -> Array:
    """y = x w^T + b, x being rounded to 8 bits in parts of 32 numbers, with a scale each.

    x (..., K) float32, w uint8 (N, width) in blocks, b (N,) or None -> (..., N). With q, d of x and p, s, m of w, part by part:

        u = (q p) s, or (q p) s - (sum q) m        q p: a sum of 32 products of integers, exact
        y = ((u0 d0) + u1 d1) + u2 d2 ...          each added without rounding the product, over all parts in order; then b
    """
    lines = rows(x)
    q, d = quantize_rows(_in_parts(lines))
    p, s, m = unpacked(w, form)
    y = np.zeros((len(lines), len(w)), np.float32)
    for part in range(q.shape[1]):
        own = q[:, part].astype(np.float32)
        sums = own @ p[:, part].T.astype(np.float32)  # exact: below 2^24
        if m is None:
            u = sums * s[:, part]
        else:
            u = _added(sums, s[:, part], -(own.sum(axis=-1, keepdims=True) * m[:, part]))
        y = _added(u, d[:, part, None], y)
    if b is not None:
        y = y + b
    return y.reshape(*x.shape[:-1], len(w))


def _added(a: Array, b: Array, c: Array) -> Array:
    """a b + c in float32, rounded once.

    The product is exact in float64. So that the sum is not rounded twice, it is rounded to odd there: where something was lost,
    towards the neighbour whose last bit is 1.
    """
    product, c = a.astype(np.float64) * b, np.asarray(c, np.float64)
    total = np.asarray(product + c)
    back = total - product
    lost = (product - (total - back)) + (c - back)
    even = (total.view(np.int64) & 1) == 0
    odd = np.where((lost != 0) & even & np.isfinite(total), np.nextafter(total, np.where(lost > 0, np.inf, -np.inf)), total)
    return odd.astype(np.float32)


def linear_blocks_backward(dy: Array, w: Array, form: str, size: int) -> Array:
    """dx (..., size) = dy w, so many rows of w, in blocks, at a time that their numbers take little memory.

    Both are rounded to bfloat16, and their products added up in float32; for dy float64 nothing is rounded.
    """
    lines = rows(dy) if dy.dtype == np.float64 else _rounded(rows(dy))
    dx = np.zeros((len(lines), size), lines.dtype)
    step = max(1, AT_ONCE // max(size, 1))
    for n in range(0, len(w), step):
        numbers = dequantize_blocks(w[n : n + step], form, size)
        dx += lines[:, n : n + step] @ (numbers.astype(lines.dtype) if dy.dtype == np.float64 else _rounded(numbers))
    return dx.astype(dy.dtype, copy=False).reshape(*dy.shape[:-1], size)


def _rounded(x: Array) -> Array:
    """The numbers of x as bfloat16 has them, in float32."""
    return x.astype(BFLOAT16).astype(np.float32)
