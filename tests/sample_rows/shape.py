"""Rows of views, joins, repetitions, triangles, paddings and casts."""

import numpy as np
import torch
import torch.nn.functional as F

from badak.ops import cast as c
from badak.ops import complex as z
from badak.ops import concat, pad, triangular
from badak.ops import rearrange as r
from badak.ops import shape as s
from badak.ops.copy_slices import Replaced, WriteView
from badak.ops.observe import Observe
from tests.samples import EXTREME, Sample, case

SHAPES = [(2, 3, 4), (1, 1, 1), (0, 3, 2)]
COMPLEX = np.array([1 + 2j, -0.5j, 3.0], np.complex64)


def padded_by(x, takes):
    for axis, rows in takes:
        x = x.index_select(axis, torch.from_numpy(rows))
    return x


TAKES = ((0, np.array([1, 0, 1, 2, 1])), (2, np.array([0, 0, 1, 3])))


class Unchanged:
    """Looks at gradients and leaves them as they are."""

    def __call__(self, *dys):
        return dys

    def __repr__(self) -> str:
        return "unchanged"


ROWS = [
    Sample(
        s.View,
        lambda x, shape: x.reshape(shape),
        [case((2, 6), shape=(3, 4)), case((0, 2), shape=(2, 0)), case((1,), shape=())],
    ),
    Sample(s.Transpose, lambda x, a, b: x.transpose(a, b), SHAPES, a=0, b=[1, 2]),
    Sample(s.Permute, lambda x, axes: x.permute(axes), SHAPES, axes=[(2, 0, 1), (0, 1, 2), (1, 2, 0)]),
    Sample(
        s.Expand,
        lambda x, shape: x.expand(shape),
        [
            case((2, 1), shape=(3, 2, 4)),
            case((1,), shape=(1,)),
            case((), shape=(2,)),
            case((0, 1), shape=(0, 3)),
            case((1,), shape=(0,)),
        ],
    ),
    Sample(
        s.Split,
        lambda x, sizes, axis: x.split(list(sizes), axis),
        [
            case((5, 2), sizes=(2, 3), axis=0),
            case((2, 5), sizes=(1, 0, 4), axis=1),
            case((1,), sizes=(1,), axis=0),
            case((0, 2), sizes=(1, 1), axis=1),
        ],
    ),
    Sample(
        s.Unbind,
        lambda x, axis: x.unbind(axis),
        [case((2, 3), axis=0), case((2, 3), axis=1), case((1,), axis=0), case((2, 0), axis=0)],
    ),
    Sample(
        s.Diagonal,
        lambda x, offset, a, b: x.diagonal(offset, a, b),
        [case(shape, offset=k, a=0, b=1) for shape in ((3, 4), (4, 3), (1, 1), (0, 2)) for k in (0, 1, -1)]
        + [case((2, 3, 4), offset=1, a=2, b=0)],
    ),
    Sample(
        s.Unfold,
        lambda x, axis, size, step: x.unfold(axis, size, step),
        [
            case((2, 7), axis=1, size=3, step=2),
            case((7, 2), axis=0, size=2, step=1),
            case((1,), axis=0, size=1, step=1),
            case((0, 3), axis=1, size=2, step=1),
        ],
    ),
    Sample(
        z.ViewAsComplex,
        lambda x: torch.view_as_complex(x if x.stride(-1) == 1 else x.clone(memory_format=torch.contiguous_format)),
        [(3, 2), (0, 2), (1, 2), (2,)],
    ),
    Sample(z.ViewAsReal, torch.view_as_real, [COMPLEX, COMPLEX[:1], COMPLEX[:0]]),
    Sample(
        r.Reshape,
        lambda x, shape: x.reshape(shape),
        [case((2, 6), shape=(3, 4)), case((0, 2), shape=(0,)), case((), shape=(1, 1))],
    ),
    Sample(
        concat.Cat,
        lambda *xs, axis: torch.cat(xs, axis),
        [case((2, 3), (1, 3), axis=0), case((2, 1), (2, 0), (2, 3), axis=1), case((1,), (1,), axis=0)],
    ),
    Sample(
        concat.Stack,
        lambda *xs, axis: torch.stack(xs, axis),
        [case((2, 3), (2, 3), axis=1), case((), (), axis=0), case((0, 2), (0, 2), axis=2)],
    ),
    Sample(r.Flip, lambda x, axes: x.flip(axes), SHAPES, axes=[(0,), (0, 2)]),
    Sample(r.Roll, lambda x, shifts, axes: x.roll(shifts, axes), SHAPES, shifts=[(1, -2)], axes=[(0, 2), (1, 1)]),
    Sample(
        r.Repeat,
        lambda x, times: x.repeat(times),
        [case((2, 3), times=(2, 1, 3)), case((1,), times=(1,)), case((0, 2), times=(2, 2)), case((2,), times=(0,))],
    ),
    Sample(
        r.RepeatInterleave,
        lambda x, times, axis: x.repeat_interleave(times if isinstance(times, int) else torch.from_numpy(times), axis),
        [
            case((2, 3), times=2, axis=1),
            case((2, 3), times=np.array([0, 2]), axis=0),
            case((1,), times=1, axis=0),
            case((0, 3), times=2, axis=0),
        ],
    ),
    Sample(triangular.Tril, lambda x, k: x.tril(k), SHAPES, k=[0, 1, -1]),
    Sample(triangular.Triu, lambda x, k: x.triu(k), SHAPES, k=[0, 1, -1]),
    Sample(
        pad.Pad,
        lambda x, pads, value: F.pad(x, [n for pair in reversed(pads) for n in pair], value=value),
        SHAPES,
        pads=[((0, 0), (1, 2), (3, 0)), ((0, 0), (-1, 1), (2, -1))],
        value=[0, 2.5],
    ),
    Sample(
        pad.PadBy,
        padded_by,
        [case((3, 2, 4), takes=TAKES), case((3, 0, 4), takes=TAKES), case((1,), takes=((0, np.zeros(3, np.int64)),))],
    ),
    Sample(c.Cast, lambda x, dtype: x.to(getattr(torch, dtype.name)), SHAPES, dtype=[np.dtype(bool), np.dtype(np.int64)]),
    Sample(c.Clone, lambda x, order=None: x.clone(), [*SHAPES, ()]),
    # for r < 0 PyTorch's dr has the wrong sign
    Sample(z.Polar, torch.polar, [((3,), (3,)), ((1,), (1,)), ((0,), (0,)), ((3,), ()), ((2, 1), (3,))], domain=(0.2, 2.0)),
    Sample(z.Angle, torch.angle, [(3, 4), (0,), ()], extremes=[EXTREME]),
    Sample(z.Complex, torch.complex, [((3,), (3,)), ((1,), (1,)), ((0,), (0,)), ((3,), ()), ((2, 1), (3,))]),
    Sample(z.Real, torch.real, [COMPLEX, COMPLEX[:1], COMPLEX[:0]]),
    Sample(z.Imag, torch.imag, [COMPLEX, COMPLEX[:1], COMPLEX[:0]]),
    Sample(z.Conj, lambda x: x.conj().resolve_conj(), [COMPLEX, COMPLEX[:1], COMPLEX[:0]]),
    Sample(Observe, lambda x, observer: x.view_as(x), [*SHAPES, ()], observer=Unchanged()),
    Sample(
        Replaced,
        lambda value, x, y: value + 0 * x.sum() + 0 * y.sum(),
        [((2, 3), (2, 3), (3,)), ((0, 2), (0, 2), ()), ((1,), (1,), (1,)), ((3,), (2, 4), ())],
        order=lambda value, x, y: value.clone(),
    ),
    Sample(
        WriteView,
        lambda base, value, steps: base.clone().t().copy_(value).t(),
        [((3, 4), (4, 3)), ((1, 1), (1, 1)), ((0, 2), (2, 0))],
        steps=((s.Transpose, {"a": 0, "b": 1}, 0),),
    ),
]
