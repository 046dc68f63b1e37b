"""Rows of sums, products, quotients, powers, and what lies between two values."""

import numpy as np
import torch

from badak.ops.arithmetic import (
    Add,
    Addcdiv,
    Addcmul,
    Div,
    DivBy,
    DivInto,
    FloorDiv,
    Fmod,
    Lerp,
    LerpBy,
    Mul,
    Neg,
    Pow,
    PowBy,
    PowOf,
    Remainder,
    Scale,
    Shift,
    Sub,
    SubFrom,
    TruncDiv,
)
from tests.samples import EXTREME, Sample, case, uniform

ONE = [(3, 4), (0, 5), (1,), ()]
PAIRS = [((2, 3), (3,)), ((2, 1), (1, 4)), ((0, 3), (1, 3)), ((), (2,)), ((1,), (1,)), ((2, 3), (2, 3))]
AWAY = [  # divisors that stay away from 0
    (a, uniform(0.5, 2.0, *b)) for a, b in PAIRS
]
THREE = [((2, 3), (3,), (2, 1)), ((0, 3), (1, 3), (3,)), ((), (1,), (2,)), ((1,), (1,), (1,))]
FINITE = np.array([0.0, -0.0, 1.0, -1.0, 1e-30, 1e4, -1e4, 1e18])
TIES = np.array([0.0, 1.0, -2.0, 2.0, np.inf])


def zero_gradient(y, *xs):
    """y with a gradient of 0 for each x, where PyTorch gives none."""
    for x in xs:
        y = y + 0 * x.sum() if y.numel() and x.numel() else y
    return y


ROWS = [
    Sample(Add, torch.add, PAIRS, extremes=[(EXTREME, EXTREME[::-1].copy())]),
    Sample(Sub, torch.sub, PAIRS, extremes=[(EXTREME, EXTREME[::-1].copy())]),
    Sample(Mul, torch.mul, PAIRS, extremes=[(EXTREME, EXTREME[::-1].copy())]),
    Sample(Div, torch.div, AWAY, extremes=[(EXTREME, EXTREME[::-1].copy())], extremes_backward=False),
    Sample(Shift, lambda x, c: x + c, ONE, c=[2, -0.5], extremes=[EXTREME]),
    Sample(SubFrom, lambda x, c: c - x, ONE, c=[2, -0.5], extremes=[EXTREME]),
    Sample(Scale, lambda x, c: x * c, ONE, c=[2, -0.5, 0], extremes=[EXTREME]),
    Sample(DivBy, lambda x, c: x / c, ONE, c=[2, -0.7], extremes=[EXTREME]),
    Sample(DivInto, lambda x, c: c / x, ONE, c=[2, -0.7], domain=(0.5, 2.0), extremes=[FINITE], extremes_backward=False),
    Sample(FloorDiv, lambda a, b: zero_gradient(torch.floor_divide(a.detach(), b.detach()), a, b), AWAY),
    Sample(TruncDiv, lambda a, b: torch.div(a, b, rounding_mode="trunc"), AWAY),
    Sample(Remainder, torch.remainder, AWAY, extremes=[(FINITE, np.full(8, 3.0))]),
    Sample(Fmod, torch.fmod, AWAY, extremes=[(FINITE, np.full(8, 3.0))]),
    Sample(Neg, torch.neg, ONE, extremes=[EXTREME]),
    Sample(PowBy, lambda x, c: x**c, ONE, c=[2, 3, 0.5, -0.5, -1, -2, 0, 1, 2.5], domain=(0.3, 2.0)),
    Sample(PowBy, lambda x, c: x**c, [(3, 4), (0,)], c=[2, 3, 0, 4], extremes=[EXTREME]),
    Sample(PowOf, lambda x, c: c**x, ONE, c=[2, 0.3], extremes=[TIES]),
    Sample(PowOf, lambda x, c: torch.pow(c, x), [], c=[0], extremes=[TIES], extremes_backward=False),
    Sample(
        Pow,
        torch.pow,
        [case(uniform(0.3, 2.0, *a), b) for a, b in PAIRS],
        extremes=[(np.zeros(4), np.array([0.0, 1, 2, 3]))],
    ),
    Sample(Addcmul, lambda x, a, b, c: torch.addcmul(x, a, b, value=c), THREE, c=[1, 0.5]),
    Sample(
        Addcdiv,
        lambda x, a, b, c: torch.addcdiv(x, a, b, value=c),
        [(x, a, uniform(0.5, 2.0, *b)) for x, a, b in THREE],
        c=[1, 0.5],
    ),
    Sample(LerpBy, lambda a, b, c: torch.lerp(a, b, c), PAIRS, c=[0.0, 0.3, 0.8, 1.0]),
    Sample(Lerp, torch.lerp, THREE),
]
