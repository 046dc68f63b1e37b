"""Rows of error and gamma functions, running extremes, reductions into places, views by strides."""

import numpy as np
import torch

from badak.ops import bessel as b
from badak.ops import running as r
from badak.ops import special as s
from badak.ops.scatter import AsStrided, ScatterReduce
from tests.samples import EXTREME, Sample, case, ints

NEAR_AND_FAR = np.array([0.0, -0.0, 1e-20, 0.3, -2.0, 5.0, -20.0, 29.9, 30.1, 60.0, np.nan])
EDGES = (np.array([0.0, 1.0, 0.0, 2.0, -1.0, 1.0, 5.0, 9.0]), np.array([1.0, 0.0, 0.0, np.inf, 1.0, -1.0, 3.0, 30.0]))


def gammainc(a, x):
    """P(a, x) as a series of PyTorch's functions, which has its derivative by a; PyTorch's own has none, nor digits for large a."""
    k = torch.arange(80, dtype=torch.float64)
    a, x = (t.double().unsqueeze(-1) for t in (a, x))
    return torch.exp((a + k) * x.log() - x - torch.lgamma(a + k + 1)).sum(-1)


SHAPES = [(3, 4), (0, 5), (1,), (), (33,)]
PLANES = [(3, 4), (0, 5), (1, 1), (2, 3, 5)]
PAIRS = [((2, 3), (3,)), ((2, 1), (1, 4)), ((0, 3), (1, 3)), ((), (2,)), ((1,), (1,))]
ZEROS = (np.array([0.0, 0.0, 0.0, 0.0, 2.0, -1.0, np.nan]), np.array([0.0, -1.0, np.nan, np.inf, 0.0, 3.0, 1.0]))
SIGNS = (np.array([0.0, -0.0, 1.0, -2.0, np.inf, np.nan]), np.array([-1.0, 1.0, -0.0, 0.0, -3.0, 1.0]))
NANS = (np.array([1.0, np.nan, np.nan, 3.0, np.inf]), np.array([1.0, 2.0, np.nan, np.nan, -np.inf]))
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
    Sample(s.Erfc, torch.erfc, SHAPES, extremes=[EXTREME, np.array([0.4, 0.5, 3.9, 4.1, 9.0, -5.0])]),
    Sample(s.Erfinv, torch.erfinv, SHAPES, domain=(-0.95, 0.95), extremes=[np.array([0.0, 1.0, -1.0, 1.5, np.nan])]),
    # near its zeros at 1 and 2 the gradient, digamma, of PyTorch keeps fewer digits
    Sample(s.Lgamma, torch.lgamma, SHAPES, domain=(0.2, 30.0),
           extremes=[np.array([0.0, -1.0, np.inf, np.nan])], extremes_backward=False),
    # PyTorch's trigamma stops its series after a relative 1e-9
    Sample(s.Polygamma, lambda x, n: torch.polygamma(n, x), SHAPES[:4], domain=(0.2, 9.0), n=[0, 1, 2, 3], slack=1e6),
    Sample(s.Xlogy, torch.xlogy, PAIRS, domain=(0.2, 4.0), extremes=[ZEROS], extremes_backward=False),
    Sample(s.Xlog1py, torch.special.xlog1py, PAIRS, domain=(0.2, 4.0), extremes=[ZEROS], extremes_backward=False),
    Sample(s.Logit, torch.logit, SHAPES, domain=(0.1, 0.9), eps=[None, 0.2], extremes=[np.array([0.0, 1.0, -0.1, 1.1, np.nan])],
           extremes_backward=False),
    Sample(b.I0, torch.special.i0, SHAPES, extremes=[NEAR_AND_FAR], slack=4),
    Sample(b.I0e, torch.special.i0e, SHAPES, extremes=[NEAR_AND_FAR], extremes_backward=False, slack=4),
    Sample(b.I1, torch.special.i1, SHAPES, extremes=[NEAR_AND_FAR], extremes_backward=False, slack=4),  # PyTorch: 0.5 for NaN
    Sample(b.I1e, torch.special.i1e, SHAPES, extremes=[NEAR_AND_FAR], extremes_backward=False, slack=256),  # a difference
    Sample(b.Erfcx, torch.special.erfcx, SHAPES, extremes=[NEAR_AND_FAR], extremes_backward=False, slack=16),
    Sample(b.GammaInc, lambda a, x: gammainc(a, x).to(a.dtype), PAIRS, domain=(0.5, 9.0), slack=64,
           order=torch.special.gammainc),
    Sample(b.GammaIncC, lambda a, x: (1 - gammainc(a, x)).to(a.dtype), PAIRS, domain=(0.5, 9.0), slack=64,
           order=torch.special.gammaincc),
    Sample(b.GammaInc, lambda a, x: torch.special.gammainc(a.detach(), x), [], extremes=[EDGES], extremes_backward=False,
           slack=16),
    Sample(b.GammaIncC, lambda a, x: torch.special.gammaincc(a.detach(), x), [], extremes=[EDGES], extremes_backward=False,
           slack=16),
    Sample(s.Sinc, torch.sinc, SHAPES, extremes=[np.array([0.0, -0.0, 0.5, np.nan])]),
    Sample(s.Copysign, torch.copysign, PAIRS, extremes=[SIGNS], extremes_backward=False),
    Sample(s.NextAfter, torch.nextafter, PAIRS),
    Sample(s.Fmax, torch.fmax, PAIRS, extremes=[NANS]),
    Sample(s.Fmin, torch.fmin, PAIRS, extremes=[NANS]),
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
