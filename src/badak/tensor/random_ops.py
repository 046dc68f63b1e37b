"""Draws by rejection: gamma, Poisson, binomial numbers and proportions; see `kernels/reference/_rejection.py`."""

from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, DTypeError, GraphError, expect_kind, tr
from badak.kernels.reference import special
from badak.ops._broadcast import quiet
from badak.ops.op import Op
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.dtypes import finfo
from badak.tensor.generator import Generator
from badak.tensor.random import _drawn as flat
from badak.tensor.random import _finish, _need_float, or_default
from badak.tensor.shape import broadcast_tensors
from badak.tensor.tensor import Tensor


class GammaSlope(Op):
    """dx/da of a number drawn with concentration a and scale 1; a gradient of its own it has not, as in PyTorch."""

    @staticmethod
    def forward(save: Any, x: np.ndarray, a: np.ndarray) -> np.ndarray:
        return special.gamma_slope(x, a)

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> Any:
        raise GraphError("the gradient of a gamma draw cannot be differentiated again", "create_graph=False")


class DirichletSlope(GammaSlope):
    """dx_i/da_i / (1 - x_i) of proportions drawn with concentrations a, whose sum is `total`: x_i is a draw of Beta(a_i, rest)."""

    @staticmethod
    @quiet
    def forward(save: Any, x: np.ndarray, a: np.ndarray, total: np.ndarray) -> np.ndarray:
        return special.beta_slope(x, a, total) / (1 - x)


class StandardGamma(Op):
    """y = x, drawn with concentration a and scale 1;   da = -dy (dP(a, x)/da) / p(x): the quantile P(a, x) stays what it is.

    Differences cannot see this gradient: the tests of the distributions look at it.
    Source: Figurnov, Mohamed and Mnih 2018, "Implicit reparameterization gradients".
    """

    @staticmethod
    def forward(save: Any, a: np.ndarray, x: np.ndarray) -> np.ndarray:
        save.a, save.x = a, x
        return x.copy()

    @staticmethod
    @quiet
    def backward(saved: Any, dy: Any) -> tuple:
        return dy * GammaSlope.of(saved.x, saved.a), None


class DirichletDraw(Op):
    """y = x, drawn with concentrations a;   da = s (dy - sum x dy), s as in `DirichletSlope`: the others shrink as one grows."""

    @staticmethod
    def forward(save: Any, a: np.ndarray, x: np.ndarray) -> np.ndarray:
        save.a, save.x = a, x
        return x.copy()

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        slope = DirichletSlope.of(saved.x, saved.a, saved.a.sum(-1, keepdims=True))
        return slope * (dy - (saved.x * dy).sum(-1, keepdims=True)), None


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Integers with mean input, in its dtype; the gradient is 0."""
    (input,) = _floats("poisson", input)
    _at_least_zero(input, tr("invalid Poisson rate, expected rate to be non-negative"))
    return flat(_drawn("poisson", generator, input)._array, input)


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How often of `count` times something of probability `prob` happens, in their dtype; without gradient."""
    _at_least_zero(count, tr("binomial: expected count >= 0"))
    _at_least_zero(prob, tr("binomial: expected prob >= 0"))
    _floats("binomial", prob)
    count, prob = broadcast_tensors(count.to(prob.dtype), prob)
    return _drawn("binomial", generator, count, prob)


def gamma(concentration: Tensor, generator: Generator | None = None) -> Tensor:
    """Draws of the gamma distribution with scale 1.   dconcentration: as the quantile stays."""
    (concentration,) = _floats("gamma", concentration)
    _at_least_zero(concentration, tr("gamma: expected concentration >= 0"))
    drawn = _drawn("gamma", generator, concentration)
    return apply(StandardGamma, concentration, drawn.clamp(min=finfo(drawn.dtype).tiny))


def dirichlet(concentration: Tensor, generator: Generator | None = None) -> Tensor:
    """Gamma numbers over their sum, computed in float64.   dconcentration: as the quantiles of the proportions stay."""
    (concentration,) = _floats("dirichlet", concentration)
    _at_least_zero(concentration, tr("gamma: expected concentration >= 0"))
    wide = _drawn("gamma", generator, concentration.detach().double())
    wide = wide.clamp(min=finfo(wide.dtype).tiny)
    shares = (wide / wide.sum(-1, keepdim=True)).to(concentration.dtype)
    kind = shares._array.dtype.type
    shares = shares.clamp(min=finfo(shares.dtype).tiny, max=float(np.nextafter(kind(1), kind(0))))
    return apply(DirichletDraw, concentration, shares)


def gamma_grad(input: Tensor, output: Tensor) -> Tensor:
    """How gamma draws `output` move with their concentrations `input`; without gradient of its own."""
    return apply(GammaSlope, *broadcast_tensors(*_floats("_standard_gamma_grad", output, input)))


def dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """How proportions x move with their concentrations alpha, over 1 - x; total: the sums of alpha, in its shape."""
    return apply(DirichletSlope, *broadcast_tensors(*_floats("_dirichlet_grad", x, alpha, total)))


def _floats(name: str, *given: Tensor) -> tuple[Tensor, ...]:
    for x in given:
        expect_kind(x, Tensor, "{}: expected a Tensor; got {}", "badak.tensor(values)", name)
        if not x.is_floating_point():
            raise DTypeError(tr("{}: expected floats; got {}", name, x.dtype), "x.float()")
    return given


@events.state
def _drawn(name: str, generator, x: Tensor, y: Tensor | None = None) -> Tensor:
    kind = x._array.dtype
    parameters = [None if p is None else np.asarray(p._array, np.float64) for p in (x, y)]
    return Tensor._of(or_default(generator).rejection(name, *parameters, kind != np.float64).astype(kind))


@events.check
def _at_least_zero(x: Tensor, rule: str) -> None:
    proper = np.isfinite(x._array) & (x._array >= 0)
    if not proper.all():
        raise ArgumentError(tr("{}; got {}", rule, x._array[~proper].flat[0]), "x.clamp(min=0), of finite numbers")


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None,  # noqa: A002
                out: Tensor | None = None) -> Tensor:  # fmt: skip
    """num_samples class numbers drawn with weights input, (V,) or (B, V), which need not sum to 1; int64.

    Raises ArgumentError for weights below 0, inf or nan, for a row of zeros, and for more samples than classes without
    replacement. Parity: among scores p / q that are equal in float32, topk's choice is PyTorch's own affair.

    Args:
        input: weights (V,) or (B, V)
        num_samples: draws a row
        replacement: whether a class may come twice
        generator: drawn from; the default one if None
        out: where the result is written

    Returns: int64 (num_samples,) or (B, num_samples)

    Example:
        >>> badak.multinomial(badak.tensor([0.0, 1.0]), 1).tolist()
        [1]
    """
    _need_float(input, "multinomial")
    if input.ndim not in (1, 2):
        raise ArgumentError(tr("multinomial: expected weights of shape (V,) or (B, V); got {}", tuple(input.shape)))
    if input.shape[-1] > 1 << 24:
        cause = tr("multinomial: number of categories cannot exceed 2^24; got {}", input.shape[-1])
        raise ArgumentError(cause, "searchsorted in a cumsum of weights")
    if out is not None and out.dtype is not dtypes.int64:
        raise DTypeError(tr("multinomial: expected an int64 tensor as out; got {}", out.dtype), "leave out= away")
    return _finish(or_default(generator).multinomial(input._array, int(num_samples), replacement), out, False, "multinomial")
