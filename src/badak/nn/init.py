"""How weights start: every scheme of PyTorch, in place, with PyTorch's numbers for the same seed.

    xavier    var(w) = gain^2 2 / (fan_in + fan_out)        keeps the variance of tanh-like layers both ways
    kaiming   var(w) = gain^2 / fan                         keeps it through rectifiers one way

Each function changes the tensor itself (also a view such as `p.data`), outside of any gradient, and returns it.
`generator` is drawn from instead of the default generator.
"""

import math
import warnings
from typing import Any

import numpy as np

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, tr, warn_once
from badak.core.public_api import guard_names as _guard_names
from badak.kernels import elementary
from badak.tensor import Tensor
from badak.tensor.generator import Generator
from badak.tensor.inplace import write_
from badak.tensor.random import default_generator, draw_like, or_default
from badak.tensor.random import normal_ as _draw_normal_
from badak.tensor.random import uniform_ as _draw_uniform_

_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid")


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance through a nonlinearity.

    1 for linear, conv and sigmoid, 5/3 for tanh, sqrt 2 for relu, sqrt(2 / (1 + a^2)) for leaky_relu with slope a = param
    (0.01 where None), 3/4 for selu. ArgumentError for any other name.
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ArgumentError(tr("negative_slope {} not a valid number", param), fix="pass an int or a float")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    known = ", ".join((*_LINEAR, "tanh", "relu", "leaky_relu", "selu"))
    raise ArgumentError(tr("Unsupported nonlinearity {}", nonlinearity), fix=tr("one of {}", known))


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Inputs and outputs of one unit of a weight (out, in, ...), each times the size of the receptive field."""
    if tensor.dim() < 2:
        raise ValueError(  # Python's own class: lectures print the name of this error, which everybody meets once
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
            f"\nfix: nn.init.uniform_ or normal_ for this one, of shape {tuple(tensor.shape)}"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ArgumentError(tr("Mode {} not supported, please use one of ['fan_in', 'fan_out']", mode), fix="mode='fan_in'")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode.lower() == "fan_in" else fan_out


def _write(tensor: Tensor, values, name) -> Tensor:
    with no_grad():
        return write_(tensor, Tensor._of(np.asarray(values, tensor._array.dtype)), name)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """w uniform on [a, b)."""
    with no_grad():
        return _draw_uniform_(tensor, a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """w normal with this mean and standard deviation.

    Args:
        tensor: filled in place
        mean, std: of the distribution
        generator: drawn from; the default one if None

    Returns: the tensor itself

    Example:
        >>> nn.init.normal_(badak.empty(2), std=0.0).tolist()
        [0.0, 0.0]
    """
    with no_grad():
        return _draw_normal_(tensor, mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Generator | None = None
) -> Tensor:
    """w normal with this mean and deviation, given a <= w <= b (bounds in the weight's own unit, not in deviations).

    Where the interval holds more than 0.3 of the normal's mass, values outside are drawn again; else uniform candidates
    are accepted with probability density(w) / peak. Parity: PyTorch 2.13's draws; in the second way a candidate whose
    log-density lies within a rounding of its threshold may fall to the other side.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        cause = tr("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.")
        warn_once("trunc_normal_", cause, fix="choose a and b around the mean")
    mass = _below((b - mean) / std) - _below((a - mean) / std)
    way = _redraw_outside if mass > 0.3 else _accept_by_density
    return _write(tensor, way(tensor._array, mean, std, a, b, or_default(generator)), "trunc_normal_")


def _below(x: float) -> float:
    """The mass of a standard normal below x."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _redraw_outside(w, mean, std, a, b, source):
    rows, kind = w.flags.c_contiguous, w.dtype
    low, high = kind.type(a), kind.type(b)
    drawn = draw_like(w, lambda shape: source.normal(shape, kind, mean, std, rows))
    while (outside := (drawn < low) | (drawn > high)).any():
        drawn = np.where(outside, draw_like(w, lambda shape: source.normal(shape, kind, mean, std, rows)), drawn)
    return drawn


def _accept_by_density(w, mean, std, a, b, source):
    kind = w.dtype
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    drawn = np.empty(w.shape, kind)
    pending = np.ones(w.shape, bool)
    while pending.any():
        candidate = draw_like(w, lambda shape: source.uniform(shape, kind, a, b))
        drawn = np.where(pending, candidate, drawn)
        u = draw_like(w, lambda shape: source.uniform(shape, kind))
        with np.errstate(divide="ignore"):
            pending &= elementary.log(u) > ((candidate - kind.type(mean)) / kind.type(std)) ** 2 * kind.type(-0.5) - kind.type(peak)
    return drawn


def constant_(tensor: Tensor, val: float) -> Tensor:
    """w = val."""
    return _write(tensor, val, "constant_")


def ones_(tensor: Tensor) -> Tensor:
    """w = 1."""
    return _write(tensor, 1, "ones_")


def zeros_(tensor: Tensor) -> Tensor:
    """w = 0."""
    return _write(tensor, 0, "zeros_")


def eye_(tensor: Tensor) -> Tensor:
    """w = the identity matrix: a Linear layer then passes on as many inputs as it can. w (N, M)."""
    _need_matrix(tensor, "eye_")
    return _write(tensor, np.eye(*tensor.shape), "eye_")


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """w = 1 in the middle of the kernel from channel i to channel i, in each group; else 0. w (out, in, 1 to 3 kernel axes)."""
    if tensor.dim() not in (3, 4, 5):
        raise ArgumentError(tr("Only tensors with 3, 4, or 5 dimensions are supported; got shape {}", tuple(tensor.shape)))
    if tensor.shape[0] % groups != 0:
        raise ArgumentError(tr("dim 0 must be divisible by groups; got {} and groups={}", tensor.shape[0], groups))
    kernel = np.zeros(tensor.shape, np.float32)
    middle = tuple(s // 2 for s in tensor.shape[2:])
    per_group = tensor.shape[0] // groups
    for group in range(groups):
        for channel in range(min(per_group, tensor.shape[1])):
            kernel[(group * per_group + channel, channel, *middle)] = 1
    return _write(tensor, kernel, "dirac_")


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """w uniform in +-gain sqrt(6 / (fan_in + fan_out)).  Source: Glorot & Bengio 2010.

    Args:
        tensor: filled in place; at least two axes
        gain: factor of the bound
        generator: drawn from; the default one if None

    Returns: the tensor itself

    Raises:
        ArgumentError: for a tensor of fewer than two axes

    Example:
        >>> nn.init.xavier_uniform_(badak.empty(2, 4)).abs().max().item() <= 1
        True
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """w normal with deviation gain sqrt(2 / (fan_in + fan_out)).  Source: Glorot & Bengio 2010."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor, gain):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return gain * math.sqrt(2.0 / float(fan_in + fan_out))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """w uniform in +-gain sqrt(3 / fan).  a: the slope of leaky_relu; mode: fan_in keeps the variance forward, fan_out backward.

    Source: He et al. 2015.

    Args:
        tensor: filled in place; at least two axes
        a: slope of leaky_relu
        mode: "fan_in" or "fan_out"
        nonlinearity: name of the function that follows
        generator: drawn from; the default one if None

    Returns: the tensor itself

    Example:
        >>> tuple(nn.init.kaiming_uniform_(badak.empty(2, 4)).shape)
        (2, 4)
    """
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """w normal with deviation gain / sqrt(fan); arguments as kaiming_uniform_.  Source: He et al. 2015."""
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _is_empty(tensor):
    if tensor.numel() == 0:
        warn_once(tr("init of nothing"), "Initializing zero-element tensors is a no-op", fix="check the layer's sizes")
    return tensor.numel() == 0


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """w = gain Q with orthonormal rows or columns (the fewer), trailing axes flattened: Q R of a normal matrix, with diag R > 0.

    Parity: PyTorch's draws, its Q to rounding.  Source: Saxe et al. 2013; Mezzadri 2007 for the signs.
    """
    if tensor.dim() < 2:
        raise ArgumentError(tr("Only tensors with 2 or more dimensions are supported; got shape {}", tuple(tensor.shape)))
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    matrix = or_default(generator).normal((rows, tensor.numel() // rows), tensor._array.dtype)
    tall = matrix.T if rows < matrix.shape[1] else matrix
    q, r = np.linalg.qr(tall.astype(np.float64))
    q *= np.sign(np.diag(r))
    q = q.T if rows < matrix.shape[1] else q
    values = q.astype(tensor._array.dtype) * tensor._array.dtype.type(gain)
    return _write(tensor, values.reshape(tensor.shape), "orthogonal_")


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """w normal with deviation std, and ceil(sparsity N) entries of each column 0.  w (N, M).

    Parity: as in PyTorch the places of the zeros come from the default generator even where `generator` is given.
    Source: Martens 2010.
    """
    _need_matrix(tensor, "sparse_")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    normal_(tensor, 0, std, generator)
    values = tensor._array.copy()
    for column in range(columns):
        values[default_generator.permutation(rows)[:zeros], column] = 0
    return _write(tensor, values, "sparse_")


def _need_matrix(tensor, name):
    if tensor.dim() != 2:
        raise ArgumentError(tr("{}: Only tensors with 2 dimensions are supported; got shape {}", name, tuple(tensor.shape)))


def _deprecated(scheme):
    old = scheme.__name__[:-1]

    def with_old_name(*args: Any, **named: Any) -> Any:
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{scheme.__name__}`.", FutureWarning, 2)
        return scheme(*args, **named)

    with_old_name.__name__ = with_old_name.__qualname__ = old
    with_old_name.__doc__ = f"The old name of {scheme.__name__}."
    return with_old_name


uniform, normal, constant = _deprecated(uniform_), _deprecated(normal_), _deprecated(constant_)
eye, dirac, sparse, orthogonal = _deprecated(eye_), _deprecated(dirac_), _deprecated(sparse_), _deprecated(orthogonal_)
xavier_uniform, xavier_normal = _deprecated(xavier_uniform_), _deprecated(xavier_normal_)
kaiming_uniform, kaiming_normal = _deprecated(kaiming_uniform_), _deprecated(kaiming_normal_)

_guard_names(globals(), "badak.nn.init")


# What these are called within PyTorch; libraries import them.
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_
