"""Rows of error and gamma functions, running extremes, reductions into places, views by strides."""

import numpy as np
import torch

from badak.ops import bessel as b
from badak.ops import running as r
from badak.ops import special as s
from badak.ops.scatter import AsStrided, ScatterReduce
from tests.samples import Sample, case, ints

EDGES = (np.array([0.0, 1.0, 0.0, 2.0, -1.0, 1.0, 5.0, 9.0]), np.array([1.0, 0.0, 0.0, np.inf, 1.0, -1.0, 3.0, 30.0]))


def gammainc(a, x):
    """P(a, x) as a series of PyTorch's functions, which has its derivative by a; PyTorch's own has none, nor digits for large a."""
    k = torch.arange(80, dtype=torch.float64)
    a, x = (t.double().unsqueeze(-1) for t in (a, x))
    return torch.exp((a + k) * x.log() - x - torch.lgamma(a + k + 1)).sum(-1)


PLANES = [(3, 4), (0, 5), (1, 1), (2, 3, 5)]
PAIRS = [((2, 3), (3,)), ((2, 1), (1, 4)), ((0, 3), (1, 3)), ((), (2,)), ((1,), (1,))]
TIES = np.array([1.0, 3.0, 3.0, np.nan, 7.0, np.nan])


def index_cases():
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for include_self in (True, False):
            named = {"reduce": reduce, "include_self": include_self}
            yield case((3, 4), ints(3, 5, 4), (5, 4), dim=0, **named)
            yield case((2, 4), ints(4, 2, 3), (2, 3), dim=1, **named)
            yield case((0, 4), ints(4, 0, 3), (0, 3), dim=1, **named)
            yield case((1,), ints(1, 1), (1,), dim=0, **named)


ROWS = [
    Sample(b.GammaInc, lambda a, x: gammainc(a, x).to(a.dtype), PAIRS, domain=(0.5, 9.0), slack=64,
           order=torch.special.gammainc),
    Sample(b.GammaIncC, lambda a, x: (1 - gammainc(a, x)).to(a.dtype), PAIRS, domain=(0.5, 9.0), slack=64,
           order=torch.special.gammaincc),
    Sample(b.GammaInc, lambda a, x: torch.special.gammainc(a.detach(), x), [], extremes=[EDGES], extremes_backward=False,
           slack=16),
    Sample(b.GammaIncC, lambda a, x: torch.special.gammaincc(a.detach(), x), [], extremes=[EDGES], extremes_backward=False,
           slack=16),
    Sample(s.NextAfter, torch.nextafter, PAIRS),
    Sample(r.CumMax, lambda x, axis: torch.cummax(x, axis), PLANES, axis=[0, 1], extremes=[case(TIES, axis=0)]),
    Sample(r.CumMin, lambda x, axis: torch.cummin(x, axis), PLANES, axis=[0, 1], extremes=[case(TIES, axis=0)]),
    # PyTorch adds positive and negative parts of the gradient apart
    Sample(r.LogCumSumExp, lambda x, axis: torch.logcumsumexp(x, axis), PLANES, axis=[0, 1], slack=8),
    Sample(
        ScatterReduce,
        lambda x, index, src, dim, reduce, include_self: x.scatter_reduce(dim, index, src, reduce, include_self=include_self),
        list(index_cases()),
    ),
    Sample(
        AsStrided,
        lambda x, size, stride, offset: x.as_strided(size, stride, offset),
        [
            case((3, 4), size=(2, 2), stride=(4, 1), offset=1), case((12,), size=(5, 3), stride=(2, 1), offset=0),
            case((1,), size=(1,), stride=(1,), offset=0), case((0, 3), size=(0, 2), stride=(1, 1), offset=0),
            case((5,), size=(2, 3), stride=(0, 1), offset=2),
        ],
        of_memory=True,
    ),
]  # fmt: skip
