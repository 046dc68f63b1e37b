"""Tensors with entries around them."""

from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, ShapeError, tr
from badak.ops import pad as ops
from badak.ops._check import whole
from badak.tensor.apply import apply
from badak.tensor.casting import in_full
from badak.tensor.convert import as_images
from badak.tensor.data import fit
from badak.tensor.promote import operand, told_constant
from badak.tensor.tensor import Tensor


def pad(input: Tensor, pad: Any, mode: str = "constant", value: Tensor | complex | None = None) -> Tensor:
    """x with entries around it: pad = (before, after) of the last dim, then of the one before it, and so on.

    mode "constant" adds `value` (0), and a negative number cuts off; "reflect" mirrors without repeating the edge,
    "replicate" repeats the edge, "circular" wraps around: these three need every size given to fit.
    dx = dy inside, plus what the entries that are used twice collect.

    Args:
        input: any shape
        pad: (before, after) of the last axis, then of the one before it, and so on
        mode: "constant", "reflect", "replicate" or "circular"
        value: what "constant" adds; 0 by default

    Returns: tensor with each named axis longer by before + after

    Example:
        >>> F.pad(badak.ones(2), (1, 2)).tolist()
        [0.0, 1.0, 1.0, 0.0, 0.0]
    """
    try:
        pad = list(map(whole, pad))
    except TypeError:
        cause = tr("pad(): argument 'pad' must be a list of ints, not {!r}", pad)
        raise ArgumentTypeError(cause, "(1, 1) for one entry on both sides") from None
    shape = input._array.shape
    if len(pad) % 2 or len(pad) // 2 > len(shape):
        cause = tr("pad: expected two numbers for each of at most {} dims, from the last one on; got {}", len(shape), pad)
        raise ShapeError(cause, "(left, right)")
    pairs = [(0, 0)] * (len(shape) - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    for a, (n, (before, after)) in enumerate(zip(shape, pairs)):
        _need_some_left(a, n, before, after, mode)
    if mode == "constant":
        value = fit(operand(0 if value is None else value, "pad"), input._array.dtype, "pad")
        return apply(ops.Pad, input, pads=tuple(pairs), value=value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotSupportedError(tr("Unrecognised padding mode {!r}", mode), "mode='constant', 'reflect', 'replicate' or 'circular'")
    if value is not None and value != 0:
        raise ArgumentError(tr('Padding mode "{}" doesn\'t take in value argument; got {}', mode, value), "mode='constant'")
    if len(pad) and len(shape) not in (len(pad) // 2 + 1, len(pad) // 2 + 2):
        fix = tr("{} numbers, with 0 for the dims that stay, or x.unsqueeze(0)", 2 * max(len(shape) - 2, 1))
        raise NotSupportedError(tr("Padding size {} is not supported for {}D input tensor.", len(pad), len(shape)), fix)
    if mode != "circular":
        expect_some(input, len(pad) // 2)
    takes = [(a, told_constant(_rows(n, p[0], p[1], mode))._array) for a, (n, p) in enumerate(zip(shape, pairs)) if p != (0, 0)]
    if not takes:
        return input.clone()
    input = input if mode == "circular" else in_full(input)
    y = apply(ops.PadBy, input, takes=tuple(takes))
    return y if mode == "circular" else as_images(y, input)


def expect_some(x: Tensor, axes: int) -> None:
    """Raise ShapeError where x (C, ...) or (N, C, ...), which ends with so many axes, has no numbers, though it has examples."""
    own = x._array.shape[-axes - 1 :]
    if axes and 0 in own:
        raise ShapeError(
            tr("Expected {}D or {}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
               "got: {}", axes + 1, axes + 2, list(x._array.shape)),
            "an input with channels",
        )  # fmt: skip


def _need_some_left(a: int, n: int, before: int, after: int, mode: str) -> None:
    left = n + min(before, 0) + min(after, 0) if mode in ("constant", "circular") else n + before + after
    if left < (1 if mode in ("reflect", "replicate") and n else 0):
        cause = tr("pad: the input size {}, plus negative padding {} and {}, resulted in a negative output size at dimension {}", n,
                   before, after, a)  # fmt: skip
        raise ShapeError(cause, None)


def _rows(n: int, before: int, after: int, mode: str):
    """Which of the n entries stands at each place of the padded dim."""
    most = {"reflect": n - 1, "circular": n, "replicate": max(before, after) if n else 0}[mode]
    if max(before, after) > most:
        cause = tr("pad: Padding size should be less than the corresponding input dimension in mode {}; "
                   "got ({}, {}) for a size of {}, at most {}", mode, before, after, n, most)  # fmt: skip
        raise ShapeError(cause, "mode='constant'")
    if mode == "circular":  # negative numbers cut off first, and what is left goes round
        cut = np.arange(max(-before, 0), n - max(-after, 0))
        return cut[np.arange(-max(before, 0), cut.size + max(after, 0)) % max(cut.size, 1)]
    at = np.arange(-before, n + after)
    return at.clip(0, n - 1) if mode == "replicate" else n - 1 - np.abs(n - 1 - np.abs(at))
