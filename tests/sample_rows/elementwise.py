"""Rows of choices between numbers; those of the pointwise operations follow from their declarations (pointwise.py)."""

import numpy as np
import torch

from badak.ops.elementwise import Round
from badak.ops.select import Clamp, ClampBetween, MaskedFill, Maximum, Minimum, Where
from tests.samples import EXTREME, Sample, bools, case

SHAPES = [(3, 4), (0, 5), (1,), (), (33,)]
PAIRS = [((2, 3), (3,)), ((2, 1), (1, 4)), ((0, 3), (1, 3)), ((), (2,)), ((1,), (1,))]
TIES = (np.array([1.0, 2.0, 3.0, np.nan, np.inf]), np.array([1.0, 3.0, 2.0, 1.0, np.inf]))


ROWS = [
    Sample(
        Round,
        lambda x, decimals: torch.round(x, decimals=decimals),
        [np.array([[0.123, -1.278], [33.3, -17.2]])],
        decimals=[1, -1],
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
