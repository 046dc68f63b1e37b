"""Rows of Bessel's and Airy's functions and of orthogonal polynomials.

PyTorch's Bessel functions are 3e-7 off in float64, so mpmath judges them, with 50 digits.
"""

import mpmath
import numpy as np
import torch

from badak.ops import bessel as b
from badak.ops.bessel import (
    ChebyshevT,
    ChebyshevU,
    ChebyshevV,
    ChebyshevW,
    HermiteH,
    HermiteHe,
    Laguerre,
    Legendre,
    ShiftedChebyshevT,
    ShiftedChebyshevU,
    ShiftedChebyshevV,
    ShiftedChebyshevW,
)
from tests.samples import Sample, case, ints

SHAPES = [(3, 4), (0, 5), (1,), (), (9,)]
WAVES = np.array([0.0, 1e-20, 0.3, 5.0, 20.0, 24.9, 25.1, 60.0])


class Judged(torch.autograd.Function):
    """mpmath's function and slope, as one of PyTorch's."""

    @staticmethod
    def forward(ctx, x, function, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope
        return _each(x, function)

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        return dy * _each(x, ctx.slope), None, None


def _each(x, function):
    with mpmath.workdps(50):
        values = [float(function(mpmath.mpf(v))) for v in x.detach().double().flatten().tolist()]
    return torch.empty_like(x).copy_(torch.tensor(values, dtype=torch.float64).reshape(x.shape))  # it lies as x does


def judged(function, slope):
    return lambda x: Judged.apply(x, function, slope)


def _wave(function, n):
    return judged(lambda v: function(n, v), lambda v: function(n, v, derivative=1))


def polynomial(op):
    name = op.special[0]
    return lambda x, n: getattr(torch.special, name)(x, n)


POLYNOMIALS = [
    ChebyshevT,
    ChebyshevU,
    ChebyshevV,
    ChebyshevW,
    ShiftedChebyshevT,
    ShiftedChebyshevU,
    ShiftedChebyshevV,
    ShiftedChebyshevW,
    HermiteH,
    HermiteHe,
    Laguerre,
    Legendre,
]
DEGREES = np.array([-1, 0, 1, 2, 3, 4, 5, 6])
ROWS = [
    Sample(b.J0, _wave(mpmath.besselj, 0), SHAPES, extremes=[WAVES], slack=64),
    Sample(b.J1, _wave(mpmath.besselj, 1), SHAPES, extremes=[WAVES], extremes_backward=False, slack=64),
    Sample(b.Y0, _wave(mpmath.bessely, 0), SHAPES, domain=(0.1, 40.0), extremes=[WAVES[2:]], slack=256),
    Sample(b.Y1, _wave(mpmath.bessely, 1), SHAPES, domain=(0.1, 40.0), extremes=[WAVES[2:]], slack=256),
    Sample(b.AiryAi, judged(mpmath.airyai, lambda v: mpmath.airyai(v, derivative=1)), SHAPES, domain=(-8, 6), slack=2000),
    Sample(b.AirySlope, judged(lambda v: mpmath.airyai(v, derivative=1), lambda v: v * mpmath.airyai(v)), SHAPES, domain=(-8, 6),
           slack=2000),
    *[  # PyTorch has no gradient; tests/tensor/test_special_polynomials.py differentiates them
        Sample(op, polynomial(op), [case((3, 8), DEGREES), case((0, 2), ints(3, 2)), case((1,), ints(4, 1)), case((), ints(5))],
               no_grad=(0, 1), slack=64)
        for op in POLYNOMIALS
    ],
]  # fmt: skip
