"""Draws that NumPy's generators make: gamma, Poisson, binomial. Each call takes its seed from badak's generator.

So the same badak.manual_seed gives the same numbers, but not PyTorch's, as for the other draws.
"""

from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, DTypeError
from badak.kernels.reference import special
from badak.ops._broadcast import quiet
from badak.ops.op import Op
from badak.tensor.apply import apply
from badak.tensor.random import or_default
from badak.tensor.tensor import Tensor


class GammaDraw(Op):
    """y = x, drawn with concentration a and scale 1;   da = -dy (dP(a, x)/da) / p(x): the quantile P(a, x) stays what it is.

    Differences cannot see this gradient: the tests of the distributions look at it.
    Source: Figurnov, Mohamed and Mnih 2018, "Implicit reparameterization gradients".
    """

    @staticmethod
    def forward(save, a, x):
        save.a, save.x = a, x
        return x.copy()

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy * special.gamma_slope(saved.x, saved.a), None


@events.state
def _numbers(kind: str, generator, dtype: Any, *parameters: Tensor) -> Tensor:
    seed = or_default(generator).integers(0, 2**62, (2,))
    draw = getattr(np.random.Generator(np.random.PCG64(seed.tolist())), kind)
    return Tensor._of(np.asarray(draw(*[p._array for p in parameters])).astype(dtype))


def poisson(input, generator=None) -> Tensor:
    """Integers with mean input, in its dtype, without gradient. Other numbers than PyTorch's for a seed."""
    if not input.is_floating_point():
        raise DTypeError(f"poisson: expected floats; got {input.dtype}", "x.float()")
    _at_least_zero(input, "invalid Poisson rate, expected rate to be non-negative")
    return _numbers("poisson", generator, input._array.dtype, input.detach())


def binomial(count, prob, generator=None) -> Tensor:
    """How often of `count` times something of probability `prob` happens; without gradient. Not PyTorch's numbers."""
    _at_least_zero(count, "binomial: expected count >= 0")
    _at_least_zero(prob, "binomial: expected prob >= 0")
    return _numbers("binomial", generator, prob._array.dtype, count.detach().long(), prob.detach().clamp(0, 1))


def gamma(concentration: Tensor, generator=None) -> Tensor:
    """Draws of the gamma distribution with scale 1.   dconcentration: as the quantile stays. Other numbers than PyTorch's."""
    drawn = _numbers("standard_gamma", generator, concentration._array.dtype, concentration.detach())
    return apply(GammaDraw, concentration, drawn)


@events.check
def _at_least_zero(x: Tensor, rule: str) -> None:
    if x._array.size and not x._array.min() >= 0:
        raise ArgumentError(f"{rule}; got {x._array.min()}", "x.clamp(min=0)")
