"""Rows of functions of one number, and of choices between numbers."""

import numpy as np
import torch

from badak.ops import elementwise as e
from badak.ops import trigonometry as t
from badak.ops.select import Clamp, ClampBetween, MaskedFill, Maximum, Minimum, Where
from tests.samples import EXTREME, Sample, bools, case

SHAPES = [(3, 4), (0, 5), (1,), (), (33,)]
PAIRS = [((2, 3), (3,)), ((2, 1), (1, 4)), ((0, 3), (1, 3)), ((), (2,)), ((1,), (1,))]
HALVES = np.array([-2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 1e10, np.inf, np.nan])
SMALL = np.array([0.0, -0.0, 1.0, -1.0, 1e-30, 30.0, -30.0, np.nan])
TIES = (np.array([1.0, 2.0, 3.0, np.nan, np.inf]), np.array([1.0, 3.0, 2.0, 1.0, np.inf]))


ROWS = [
    Sample(e.Exp, torch.exp, SHAPES, extremes=[EXTREME]),
    Sample(e.Exp2, torch.exp2, SHAPES, extremes=[SMALL]),
    Sample(e.Expm1, torch.expm1, SHAPES, extremes=[EXTREME]),
    Sample(e.Log, torch.log, SHAPES, domain=(0.2, 4.0), extremes=[EXTREME]),
    Sample(e.Log1p, torch.log1p, SHAPES, domain=(-0.5, 4.0), extremes=[EXTREME]),
    Sample(e.Log2, torch.log2, SHAPES, domain=(0.2, 4.0), extremes=[EXTREME], extremes_backward=False),
    Sample(e.Log10, torch.log10, SHAPES, domain=(0.2, 4.0), extremes=[EXTREME], extremes_backward=False),
    Sample(e.Logaddexp, torch.logaddexp, PAIRS, extremes=[(EXTREME, EXTREME[::-1].copy())], extremes_backward=False),
    Sample(e.Sqrt, torch.sqrt, SHAPES, domain=(0.2, 4.0), extremes=[EXTREME]),
    Sample(e.Rsqrt, torch.rsqrt, SHAPES, domain=(0.2, 4.0), extremes=[EXTREME], extremes_backward=False),
    Sample(e.Square, torch.square, SHAPES, extremes=[EXTREME]),
    Sample(e.Reciprocal, torch.reciprocal, SHAPES, domain=(0.2, 4.0), extremes=[EXTREME], extremes_backward=False),
    Sample(e.Erf, torch.erf, SHAPES, extremes=[EXTREME]),
    Sample(e.Abs, torch.abs, SHAPES, extremes=[EXTREME]),
    Sample(e.Sign, torch.sign, SHAPES, extremes=[EXTREME]),
    Sample(e.Floor, torch.floor, SHAPES, extremes=[HALVES]),
    Sample(e.Ceil, torch.ceil, SHAPES, extremes=[HALVES]),
    Sample(e.Trunc, torch.trunc, SHAPES, extremes=[HALVES]),
    Sample(e.Round, lambda x, decimals=0: torch.round(x, decimals=decimals), SHAPES, extremes=[HALVES]),
    Sample(
        e.Round,
        lambda x, decimals: torch.round(x, decimals=decimals),
        [np.array([[0.123, -1.278], [33.3, -17.2]])],
        decimals=[1, -1],
    ),
    Sample(e.Frac, torch.frac, SHAPES, extremes=[HALVES[:-2]]),
    Sample(t.Sin, torch.sin, SHAPES, extremes=[SMALL]),
    Sample(t.Cos, torch.cos, SHAPES, extremes=[SMALL]),
    Sample(t.Tan, torch.tan, SHAPES, domain=(-1.2, 1.2)),
    Sample(t.Asin, torch.asin, SHAPES, domain=(-0.9, 0.9)),
    Sample(t.Acos, torch.acos, SHAPES, domain=(-0.9, 0.9)),
    Sample(t.Atan, torch.atan, SHAPES, extremes=[EXTREME]),
    Sample(t.Sinh, torch.sinh, SHAPES, extremes=[SMALL]),
    Sample(t.Cosh, torch.cosh, SHAPES, extremes=[SMALL]),
    Sample(t.Asinh, torch.asinh, SHAPES, extremes=[SMALL]),
    Sample(t.Acosh, torch.acosh, SHAPES, domain=(1.2, 4.0)),
    Sample(t.Atanh, torch.atanh, SHAPES, domain=(-0.9, 0.9)),
    Sample(
        t.Atan2,
        torch.atan2,
        PAIRS,
        extremes=[(np.array([0.0, 0.0, 1.0]), np.array([0.0, -1.0, 0.0]))],
        extremes_backward=False,
    ),
    Sample(
        Clamp,
        lambda x, lo, hi: torch.clamp(x, lo, hi),
        [case(shape, lo=lo, hi=hi) for shape in SHAPES for lo, hi in ((-0.5, 0.5), (None, 0.1), (0, None), (1.0, -1.0))],
        extremes=[case(EXTREME, lo=-1.0, hi=1.0)],
    ),
    Sample(
        ClampBetween,
        torch.clamp,
        [
            case((4, 5), (5,), (4, 1)),
            case((0, 5), (5,), None),
            case((1,), None, (1,)),
            case((2, 3), (2, 3), (2, 3)),
        ],
    ),
    Sample(Maximum, torch.maximum, PAIRS, extremes=[TIES]),
    Sample(Minimum, torch.minimum, PAIRS, extremes=[TIES]),
    Sample(
        Where,
        torch.where,
        [(bools(2, 3), (3,), (2, 1)), (bools(3), (2, 3), ()), (bools(0, 3), (0, 3), (3,)), (bools(1), (1,), (1,))],
        extremes=[(np.array([True, False]), np.array([1.0, np.nan]), np.array([np.inf, 2.0]))],
    ),
    Sample(
        MaskedFill,
        lambda x, mask, c: x.masked_fill(mask, c),
        [((2, 3), bools(3)), ((3,), bools(2, 3)), ((0, 3), bools(0, 3)), ((1,), bools(1)), ((), bools(2))],
        extremes=[case((2, 3), bools(3), c=float("-inf"))],
        c=[-1e9, 0],
    ),
]
