"""Rows of convolution and of windows that slide."""

import numpy as np
import torch.nn.functional as F

from badak.ops.conv import Conv, ConvTranspose
from badak.ops.windows import AvgPool, Fold, MaxPool, Unfold
from tests.samples import Sample, case


def conv(x, w, b, stride, padding, dilation, groups=1):
    function = F.conv1d if x.ndim == 3 else F.conv2d if x.ndim == 4 else F.conv3d
    return function(x, w, b, stride, padding, dilation, groups)


def conv_transpose(x, w, b, stride, padding, dilation, output_padding, groups=1):
    function = F.conv_transpose1d if x.ndim == 3 else F.conv_transpose2d if x.ndim == 4 else F.conv_transpose3d
    return function(x, w, b, stride, padding, output_padding, groups, dilation)


def unfold(x, kernel, stride, padding, dilation, out):
    return F.unfold(x, kernel, dilation, padding, stride).reshape(*x.shape[:2], *kernel, *out)


def fold(x, size, stride, padding, dilation):
    N, C, *rest = x.shape
    cols = x.reshape(N, C * rest[0] * rest[1], rest[2] * rest[3])
    return F.fold(cols, size, rest[:2], dilation, padding, stride)


def max_pool(x, kernel, stride, padding, dilation, out):
    function = F.max_pool1d if x.ndim == 3 else F.max_pool2d if x.ndim == 4 else F.max_pool3d
    return function(x, kernel, stride, padding, dilation, ceil_mode=True, return_indices=True)


def avg_pool(x, kernel, stride, padding, out, counts):
    function = F.avg_pool1d if x.ndim == 3 else F.avg_pool2d if x.ndim == 4 else F.avg_pool3d
    return function(x, kernel, stride, padding, ceil_mode=True)


def one(*inputs, stride=1, padding=0, dilation=1, **options):
    """A case over one axis."""
    return case(*inputs, stride=(stride,), padding=(padding,), dilation=(dilation,), **options)


def two(*inputs, stride=(1, 1), padding=(0, 0), dilation=(1, 1), **options):
    return case(*inputs, stride=stride, padding=padding, dilation=dilation, **options)


TIES = np.array([[[1.0, 1.0, 0.0, 2.0, 2.0, 2.0, -3.0], [np.nan, 1.0, np.inf, np.inf, -np.inf, -np.inf, -np.inf]]])

IMAGES = "windows are read in rows; PyTorch keeps images channels-last where they come so, for its own kernels' speed"
ROWS = [
    Sample(Conv, conv, [
        one((2, 3, 7), (4, 3, 3), (4,)),
        one((2, 3, 7), (4, 3, 3), None, stride=2, padding=1),
        one((1, 4, 9), (6, 2, 2), (6,), dilation=3, groups=2),
        one((2, 3, 5), (3, 1, 3), (3,), padding=2, groups=3),
        one((0, 3, 5), (2, 3, 3), (2,)), one((1, 1, 1), (1, 1, 1), (1,)), one((3, 2, 4), (5, 2, 1), (5,)),
        two((2, 3, 5, 6), (4, 3, 2, 3), (4,), padding=(1, 0)),
        two((2, 3, 6, 6), (4, 3, 3, 3), (4,), stride=(3, 3)),
        two((1, 4, 7, 5), (4, 2, 3, 2), None, stride=(2, 1), padding=(2, 1), dilation=(2, 1), groups=2),
        case((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), (2,), stride=(1, 2, 1), padding=(0, 1, 1), dilation=(1, 1, 1)),
    ], threads=[two((3, 8, 30, 30), (16, 8, 3, 3), (16,), padding=(1, 1)),
                two((5, 4, 7, 8), (262, 2, 3, 2), (262,), padding=(1, 1), groups=2)], by_rows=IMAGES),
    Sample(ConvTranspose, conv_transpose, [
        one((2, 3, 5), (3, 4, 3), (4,), output_padding=(0,)),
        one((2, 4, 5), (4, 2, 3), None, stride=2, padding=1, output_padding=(1,), groups=2),
        one((0, 3, 5), (3, 2, 3), (2,), output_padding=(0,)), one((1, 1, 1), (1, 1, 1), (1,), output_padding=(0,)),
        two((2, 3, 4, 3), (3, 2, 2, 3), (2,), stride=(2, 2), padding=(1, 0), dilation=(1, 2), output_padding=(1, 0)),
        case((1, 2, 3, 2, 2), (2, 3, 2, 1, 2), (3,), stride=(2, 1, 2), padding=(1, 0, 1), dilation=(1, 1, 2),
             output_padding=(1, 0, 1)),
    ], by_rows=IMAGES),
    Sample(Unfold, unfold, [
        two((2, 3, 5, 4), kernel=(2, 3), out=(4, 2)), two((0, 3, 5, 4), kernel=(2, 3), out=(4, 2)),
        two((1, 1, 1, 1), kernel=(1, 1), out=(1, 1)),
        two((1, 2, 6, 7), kernel=(3, 2), stride=(2, 3), padding=(1, 2), dilation=(2, 1), out=(2, 4)),
    ]),
    Sample(Fold, fold, [
        two((2, 3, 2, 3, 4, 2), size=(5, 4)), two((0, 3, 2, 3, 4, 2), size=(5, 4)), two((1, 1, 1, 1, 1, 1), size=(1, 1)),
        two((1, 2, 3, 2, 2, 4), size=(6, 7), stride=(2, 3), padding=(1, 2), dilation=(2, 1)),
    ]),
    Sample(MaxPool, max_pool, [
        one((2, 3, 7), kernel=(3,), out=(5,)), one((0, 3, 7), kernel=(3,), out=(5,)), one((1, 1, 1), kernel=(1,), out=(1,)),
        one((2, 3, 7), kernel=(3,), stride=2, padding=1, out=(4,)), one((2, 3, 6), kernel=(2,), stride=4, out=(2,)),
        two((2, 3, 6, 7), kernel=(2, 3), stride=(2, 2), padding=(1, 1), out=(4, 4)),
        two((1, 2, 7, 7), kernel=(2, 3), dilation=(2, 3), out=(5, 1)),
        case((1, 2, 4, 5, 3), kernel=(2, 3, 2), stride=(2, 1, 1), padding=(1, 0, 1), dilation=(1, 1, 1), out=(3, 3, 4)),
    ], extremes=[one(TIES, kernel=(3,), stride=2, padding=1, out=(4,))], extremes_backward=False, by_rows=IMAGES),
    Sample(AvgPool, avg_pool, [
        case((2, 3, 7), kernel=(3,), stride=(2,), padding=(1,), out=(4,), counts=np.array([3, 3, 3, 3])),
        case((0, 3, 7), kernel=(3,), stride=(2,), padding=(0,), out=(3,), counts=np.array([3, 3, 3])),
        case((1, 1, 1), kernel=(1,), stride=(1,), padding=(0,), out=(1,), counts=np.array([1])),
        case((2, 3, 4, 6), kernel=(2, 3), stride=(2, 3), padding=(0, 0), out=(2, 2), counts=np.full((2, 2), 6)),
        case((2, 3, 5, 6), kernel=(2, 3), stride=(1, 2), padding=(1, 1), out=(6, 4), counts=np.array([[6, 6, 6, 4]] * 6)),
        case((1, 2, 4, 3, 2), kernel=(2, 1, 2), stride=(2, 1, 1), padding=(0, 0, 0), out=(2, 3, 1), counts=np.full((2, 3, 1), 4)),
    ], by_rows=IMAGES),
]  # fmt: skip
