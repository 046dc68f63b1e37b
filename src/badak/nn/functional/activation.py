"""Non-linearities. Those of the hot path are one operation each; the others are compositions of tensor functions.

`inplace=True` writes the result into the input, as in PyTorch, and saves no memory here.
"""

from typing import Any

from badak.core.errors import ArgumentError, ShapeError, tr, warn_once
from badak.nn.functional._common import float_tensor, number_tensor, original, placed, real_tensor, tensor
from badak.ops import activation as ops
from badak.ops._check import expect_floats
from badak.ops.softmax import LogSoftmax, Softmax
from badak.tensor import Tensor, apply, float64, ones_like, where, zeros, zeros_like
from badak.tensor.elementwise import hardshrink as hardshrink
from badak.tensor.elementwise import prelu as prelu
from badak.tensor.elementwise import relu as of_tensor
from badak.tensor.promote import factor
from badak.tensor.random import default_generator
from badak.tensor.upcast import in_float32

__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6",
    "relu_", "rrelu", "rrelu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink",
    "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
]  # fmt: skip

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805  # Klambauer et al. 2017: they keep mean 0, variance 1


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """y = max(x, 0).   dx = dy where y > 0, else 0.

    Args:
        input: any shape
        inplace: overwrite the input

    Returns: tensor of input's shape

    Example:
        >>> F.relu(badak.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    return placed(of_tensor(tensor(input, "relu")), input, inplace, "relu_")


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """y = x Phi(x), Phi the distribution function of the standard normal.   dx = dy (Phi(x) + x phi(x)).

    approximate="tanh": y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), as in GPT-2. Hendrycks, Gimpel 2016.

    Args:
        input: any shape
        approximate: "none" or "tanh"

    Returns: tensor of input's shape

    Derivation: docs/explanation/derivations/gelu.md

    Example:
        >>> F.gelu(badak.tensor([0.0, 10.0])).tolist()
        [0.0, 10.0]
    """
    return apply(ops.GELU, real_tensor(float_tensor(input, "gelu"), "gelu"), approximate=approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """y = x s, s = sigmoid(x).   dx = dy s (1 + x (1 - s)).   Also called swish.

    Args:
        input: any shape
        inplace: overwrite the input

    Returns: tensor of input's shape

    Example:
        >>> F.silu(badak.tensor([0.0])).tolist()
        [0.0]
    """
    return placed(apply(ops.SiLU, float_tensor(input, "silu")), input, inplace, "silu_")


def tanh(input: Tensor) -> Tensor:
    """y = tanh(x).   dx = dy (1 - y^2)."""
    return tensor(input, "tanh").tanh()


def sigmoid(input: Tensor) -> Tensor:
    """y = 1 / (1 + exp(-x)).   dx = dy y (1 - y)."""
    return tensor(input, "sigmoid").sigmoid()


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """y = exp(x) / sum exp(x) along `dim`.   dx = y (dy - sum(dy y)).   A row of -inf gives NaN.

    dtype: x is converted to it first. Without `dim` it is guessed as PyTorch does, with a warning.

    Args:
        input: any shape
        dim: the axis whose values sum to 1
        dtype: what the input is converted to first

    Returns: tensor of input's shape

    Derivation: docs/explanation/derivations/softmax.md

    Example:
        >>> F.softmax(badak.zeros(2), dim=0).tolist()
        [0.5, 0.5]
    """
    return apply(Softmax, _cast(input, dtype, "softmax"), dim=_dim(dim, input, "softmax"))


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """y = x - log sum exp(x) along `dim`.   dx = dy - exp(y) sum(dy).

    Args:
        input: any shape
        dim: the axis whose probabilities sum to 1
        dtype: what the input is converted to first

    Returns: tensor of input's shape, in nats

    Derivation: docs/explanation/derivations/softmax.md

    Example:
        >>> F.log_softmax(badak.zeros(1), dim=0).tolist()
        [0.0]
    """
    return apply(LogSoftmax, _cast(input, dtype, "log_softmax"), dim=_dim(dim, input, "log_softmax"))


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-x)."""
    return softmax(-_cast(input, dtype, "softmin"), _dim(dim, input, "softmin"))


def _cast(x, dtype, where_: str) -> Tensor:
    x = tensor(x, where_)
    return real_tensor(x if dtype is None else x.to(dtype), where_)


def _dim(dim, x: Tensor, name: str) -> int:
    if dim is not None:
        return dim
    guess = 0 if x.dim() in (0, 1, 3) else 1
    cause = tr("{}: implicit dimension choice has been deprecated; dim={} is taken for {} dims", name, guess, x.dim())
    warn_once((name, "dim"), cause, tr("{}(x, dim=-1), or dim={} if it was meant", name, guess))
    return guess


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the Gumbel-softmax distribution: softmax((logits + g) / tau), g = -log(-log(u)).

    hard=True: the one-hot of the largest, whose gradient is that of the soft sample. Jang, Gu, Poole 2017.
    """
    x = float_tensor(real_tensor(logits, "gumbel_softmax", "logits"), "gumbel_softmax")
    if eps != 1e-10:
        warn_once(tr("gumbel_softmax eps"), "gumbel_softmax: eps is deprecated and has no effect", "leave eps out")
    gumbels = -Tensor._of(default_generator.exponential(x._array.shape, x._array.dtype, 1.0)).log()
    soft = softmax((x + gumbels) / tau, dim)
    if not hard:
        return soft
    winner = soft.detach().argmax(dim, keepdim=True)
    return zeros_like(soft).scatter_(dim, winner, 1.0) - soft.detach() + soft


def logsigmoid(input: Tensor) -> Tensor:
    """y = log sigmoid(x) = min(x, 0) - log(1 + exp(-|x|)), without overflow.   dx = dy sigmoid(-x)."""
    return apply(ops.LogSigmoid, real_tensor(float_tensor(input, "logsigmoid"), "logsigmoid"))


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """y = log(1 + exp(beta x)) / beta, and x itself where beta x > threshold.   dx = dy sigmoid(beta x)."""
    x = real_tensor(float_tensor(input, "softplus"), "softplus")
    return apply(ops.Softplus, x, beta=float(beta * 1.0), threshold=float(threshold * 1.0))


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """y = x tanh(softplus(x)). Misra 2019."""
    x = original(real_tensor(float_tensor(input, "mish"), "mish"), inplace, "mish")
    return placed(apply(ops.Mish, x), input, inplace, "mish_")


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """y = x between min_val and max_val, the nearer of the two beyond."""
    if min_val > max_val:
        raise ArgumentError(tr("hardtanh: expected min_val <= max_val; got {}, {}", min_val, max_val), "swap them")
    x = original(real_tensor(tensor(input, "hardtanh"), "hardtanh"), inplace, "hardtanh")
    if x._array.dtype.kind in "bu":
        expect_floats("hardtanh", x)
    if x._array.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
    return placed(_between(x, min_val, max_val), input, inplace, "hardtanh_")


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """y = min(max(x, 0), 6)."""
    x = original(real_tensor(tensor(input, "relu6"), "relu6"), inplace, "relu6")
    if x._array.dtype.kind == "b":
        expect_floats("relu6", x)
    return placed(_between(x, 0, 6), input, inplace, "relu6_")


def _between(x: Tensor, low: float, high: float) -> Tensor:
    """x clamped; unlike clamp's, the slope at the two corners is 0, as in PyTorch's hardtanh."""
    if x._array.dtype.kind in "iu":
        return x.clamp(low, high)
    return apply(ops.Hardtanh, x, min_val=float(low), max_val=float(high))


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """y = min(max(x + 3, 0), 6) / 6."""
    x = real_tensor(float_tensor(input, "hardsigmoid"), "hardsigmoid")
    return placed(apply(ops.Hardsigmoid, x), input, inplace, "hardsigmoid_")


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """y = x min(max(x + 3, 0), 6) / 6. Howard et al. 2019."""
    x = original(real_tensor(float_tensor(input, "hardswish"), "hardswish"), inplace, "hardswish")
    return placed(apply(ops.Hardswish, x), input, inplace, "hardswish_")


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """y = x where x > 0, else negative_slope x."""
    x = original(real_tensor(float_tensor(input, "leaky_relu"), "leaky_relu"), inplace, "leaky_relu")
    return placed(apply(ops.LeakyReLU, x, negative_slope=float(negative_slope * 1.0)), input, inplace, "leaky_relu_")


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """y = x where x > 0, else alpha (exp(x) - 1). Clevert et al. 2016."""
    x, alpha = original(real_tensor(float_tensor(input, "elu"), "elu"), inplace, "elu"), float(alpha * 1.0)  # no text
    return placed(apply(ops.ELU, x, alpha=alpha, scale=1.0, input_scale=1.0), input, inplace, "elu_")


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """y = x where x > 0, else alpha (exp(x / alpha) - 1)."""
    if alpha == 0:
        raise ArgumentError("alpha cannot be 0 for CELU", "alpha=1.0")
    x, alpha = original(real_tensor(float_tensor(input, "celu"), "celu"), inplace, "celu"), float(alpha * 1.0)
    return placed(apply(ops.ELU, x, alpha=alpha, scale=1.0, input_scale=1.0 / alpha), input, inplace, "celu_")


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """y = scale elu(x, alpha), with the two constants that keep mean 0 and variance 1."""
    x = original(real_tensor(float_tensor(input, "selu"), "selu"), inplace, "selu")
    return placed(apply(ops.ELU, x, alpha=SELU_ALPHA, scale=SELU_SCALE, input_scale=1.0), input, inplace, "selu_")


def threshold(input: Tensor, threshold: Any, value: Any, inplace: bool = False) -> Tensor:
    """y = value where x <= threshold, else x: NaN stays NaN."""
    x = original(number_tensor(input, "threshold"), inplace, "threshold")
    return placed(_above(x, threshold, value), input, inplace, "threshold_")


def _above(x: Tensor, threshold: Any, value: Any) -> Tensor:
    return where(x <= factor(x, threshold, "threshold"), factor(x, value, "threshold"), x)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """y = a sigmoid(b), a and b the two halves of x along `dim`. Dauphin et al. 2017."""
    x = float_tensor(input, "glu")
    size = x.shape[dim]
    if size % 2:
        cause = tr("glu: Halving dimension must be even, but dimension {} is size {}", dim, size)
        raise ShapeError(cause, tr("an input of {} there", size + 1))
    return _gated(*x.chunk(2, dim))


@in_float32
def _gated(a: Tensor, b: Tensor) -> Tensor:
    return a * b.sigmoid()


@in_float32
def softsign(input: Tensor) -> Tensor:
    """y = x / (1 + |x|)."""
    return input / (input.abs() + 1.0)


def tanhshrink(input: Tensor) -> Tensor:
    """y = x - tanh(x)."""
    return input - input.tanh()


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """y = x - lambd where x > lambd, x + lambd where x < -lambd, else 0."""
    if lambd < 0:
        raise ArgumentError(tr("softshrink: lambda must be greater or equal to 0, but found to be {}.", lambd), "abs(lambd)")
    input = float_tensor(input, "softshrink")
    return where(input > lambd, input - lambd, where(input < -lambd, input + lambd, where(input.isnan(), input.detach(), 0.0)))


def relu_(input: Tensor) -> Tensor:
    """relu, in place."""
    return relu(input, True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """leaky_relu, in place."""
    return leaky_relu(input, negative_slope, True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """elu, in place."""
    return elu(input, alpha, True)


def celu_(input: Tensor, alpha: Any = 1.0) -> Tensor:
    """celu, in place."""
    return celu(input, alpha, True)


def selu_(input: Tensor) -> Tensor:
    """selu, in place."""
    return selu(input, True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """hardtanh, in place."""
    return hardtanh(input, min_val, max_val, True)


def threshold_(input: Tensor, threshold: Any, value: Any) -> Tensor:
    """threshold, in place."""
    x = original(number_tensor(input, "threshold_"), True, "threshold_")
    return placed(_above(x, threshold, value), input, True, "threshold_")


def rrelu(input: Tensor, lower: Any = 1.0 / 8, upper: Any = 1.0 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    """y = x where x > 0, else a x: a uniform on [lower, upper), drawn for each such x in training, else their mean.

    Source: Xu et al. 2015, "Empirical evaluation of rectified activations in convolutional network".
    """
    if not lower <= upper:
        cause = tr("rrelu: lower bound must not be greater than the upper bound; got {} and {}", lower, upper)
        raise ArgumentError(cause, "1/8, 1/3")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    x = original(float_tensor(input, "rrelu"), inplace, "rrelu")
    below = x.detach() <= 0
    slopes = zeros(int(below.sum()), dtype=float64).uniform_(lower, upper).to(x.dtype)
    return placed(x * ones_like(x.detach()).masked_scatter(below, slopes), input, inplace, "rrelu_")


def rrelu_(input: Tensor, lower: complex = 1.0 / 8, upper: complex = 1.0 / 3, training: bool = False) -> Tensor:
    """rrelu, in place."""
    return rrelu(input, lower, upper, training, True)
