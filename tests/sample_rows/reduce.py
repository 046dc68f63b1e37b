"""Rows of sums, means, products, spreads, extremes, norms and running sums."""

import warnings

import numpy as np
import torch

from badak.ops import reduce as r
from tests.samples import EXTREME, Sample, case, ints

SHAPES = [(2, 3, 5), (1, 1, 1), (4, 1, 2)]
EMPTY = [(2, 0, 3)]
AXES = [None, (0,), (2,), (0, 2)]
TIES = np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0], [-1.0, -2.0, -1.0]])
ZEROS = np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 2.0], [1.0, 2.0, 3.0], [4.0, 0.0, 5.0]])


def over(function):
    """A function of (x, dim, keepdim) with our names."""
    return lambda x, axis, keepdims, **named: function(x, tuple(range(x.ndim)) if axis is None else axis, keepdim=keepdims, **named)


def spread(function):
    """The same for var and std, without PyTorch's warning where there is nothing to spread."""

    def quiet(x, axis, keepdims, correction):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return over(function)(x, axis, keepdims, correction=correction)

    return quiet


def prod(x, axis, keepdims):
    for a in sorted(range(x.ndim) if axis is None else axis, reverse=True):
        x = x.prod(a, keepdim=keepdims)
    return x


def norm(x, p, axis, keepdims):
    return torch.linalg.vector_norm(x, p, axis, keepdims)


NORMS = [2, 1, 3, 2.5, float("inf"), float("-inf")]
ROWS = [
    Sample(r.Sum, over(torch.sum), [*SHAPES, *EMPTY], axis=AXES, keepdims=[False, True], threads=[(257, 65, 3)]),
    Sample(r.Mean, over(torch.mean), SHAPES, axis=AXES, keepdims=[False, True]),
    Sample(r.Mean, over(torch.mean), EMPTY, axis=[(0,), (0, 2)], keepdims=False),
    Sample(r.Prod, prod, [*SHAPES, *EMPTY], axis=AXES, keepdims=[False, True]),
    Sample(r.Prod, prod, [ZEROS], axis=[None, (0,), (1,)], keepdims=False),
    Sample(
        r.Var,
        spread(torch.var),
        [(2, 3, 5), (4, 1, 2)],
        axis=[None, (0,), (0, 2)],
        keepdims=[False, True],
        correction=[0, 1],
    ),
    Sample(r.Var, spread(torch.var), [(1, 1, 1), (2, 0, 3)], axis=[(0,)], keepdims=False, correction=0),
    Sample(
        r.Std,
        spread(torch.std),
        [(2, 3, 5), (4, 1, 2)],
        axis=[None, (0,), (0, 2)],
        keepdims=[False, True],
        correction=[0, 1],
    ),
    Sample(r.Std, spread(torch.std), [(2, 0, 3), (2, 1), (1,)], axis=[(0,)], keepdims=False, correction=0),
    Sample(
        r.Std,
        spread(torch.std),
        [],
        axis=[(0,)],
        keepdims=False,
        correction=0,
        extremes=[np.ones((1, 1)), np.ones((3, 2))],
    ),
    Sample(r.Amax, over(torch.amax), SHAPES, axis=AXES, keepdims=[False, True]),
    Sample(r.Amax, over(torch.amax), [(2, 0, 3)], axis=[(0,)], keepdims=False, extremes=[TIES, EXTREME[:-1]]),
    Sample(
        r.OneOf,
        lambda x, index: x.gather(-1, index),
        [case(shape, ints(shape[-1], *shape[:-1], 1)) for shape in ((5,), (3, 4), (0, 4), (1, 1))],
    ),
    Sample(r.Amin, over(torch.amin), SHAPES, axis=AXES, keepdims=[False, True]),
    Sample(r.Amin, over(torch.amin), [(2, 0, 3)], axis=[(0,)], keepdims=False, extremes=[TIES, EXTREME[:-1]]),
    Sample(r.LogSumExp, over(torch.logsumexp), SHAPES, axis=AXES, keepdims=[False, True]),
    Sample(
        r.LogSumExp,
        over(torch.logsumexp),
        EMPTY,
        axis=[(0,), (1,)],
        keepdims=False,
        extremes=[EXTREME[:12].reshape(3, 4)],
    ),
    Sample(r.Norm, norm, [*SHAPES, (0, 3)], p=NORMS[:4], axis=[None, (0,)], keepdims=[False, True]),
    Sample(r.Norm, norm, SHAPES, p=NORMS, axis=[(2,), (0, 2)], keepdims=True),
    Sample(r.Norm, norm, [], p=[2, 1, float("inf")], axis=[(1,)], keepdims=False, extremes=[np.zeros((2, 3)), TIES]),
    Sample(r.Norm, norm, [(3, 4)], p=0, axis=[(1,)], keepdims=False),
    Sample(r.CumSum, lambda x, axis: x.cumsum(axis), [*SHAPES, *EMPTY], axis=[0, 1, 2]),
    Sample(
        r.CumProd,
        lambda x, axis: x.cumprod(axis),
        [*SHAPES, *EMPTY, case(ZEROS, axis=0), case(ZEROS, axis=1)],
        axis=[0, 1, 2],
    ),
]
ROWS += [
    Sample(op, over(getattr(torch, op.names[0])), SHAPES, axis=AXES, keepdims=[False, True])
    for op in r.REDUCTIONS
    if op.names and op not in {row.op for row in ROWS}
]
