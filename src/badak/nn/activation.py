"""Activations as modules: each is the function of the same name in `nn.functional`, with its settings kept.

The formulas stand in the functions' docstrings.
"""

from badak.core.errors import ArgumentError, tr
from badak.nn import functional as F
from badak.nn.attention import MultiheadAttention as MultiheadAttention
from badak.nn.module import Module, Shown
from badak.nn.parameter import Parameter
from badak.tensor import Tensor, full
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812


class _Elementwise(Shown):
    """An activation whose settings are its constructor's arguments."""

    def extra_repr(self) -> str:
        return ", ".join(filter(None, (super().extra_repr(), "inplace=True" if getattr(self, "inplace", False) else "")))


class _Inplace(_Elementwise):
    """An activation whose one setting is whether it overwrites its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class ReLU(_Inplace):
    """y = max(x, 0).

    Args:
        inplace: whether the input is overwritten

    Returns: module; `forward` keeps the shape

    Example:
        >>> nn.ReLU()(badak.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class SiLU(_Inplace):
    """y = x sigmoid(x), also called swish.

    Args:
        inplace: whether the input is overwritten

    Returns: module; `forward` keeps the shape

    Example:
        >>> nn.SiLU()(badak.tensor([0.0])).tolist()
        [0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_Inplace):
    """y = x tanh(softplus(x))."""

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class SELU(_Inplace):
    """y = scale (max(x, 0) + min(0, alpha (exp(x) - 1))) with the two constants that keep mean 0 and variance 1."""

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class Hardswish(_Inplace):
    """y = x min(max(x + 3, 0), 6) / 6."""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""  # as PyTorch prints it


class Hardsigmoid(_Inplace):
    """y = min(max(x + 3, 0), 6) / 6."""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class GELU(_Elementwise):
    """y = x Phi(x), Phi the normal distribution function; approximate="tanh" for the tanh formula.

    Args:
        approximate: "none" or "tanh"

    Returns: module; `forward` keeps the shape

    Derivation: docs/explanation/derivations/gelu.md

    Example:
        >>> nn.GELU()(badak.tensor([0.0, 10.0])).tolist()
        [0.0, 10.0]
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Tanh(_Elementwise):
    """y = tanh(x).

    Returns: module; `forward` keeps the shape

    Example:
        >>> nn.Tanh()(badak.tensor([0.0])).tolist()
        [0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.tanh()


class Sigmoid(_Elementwise):
    """y = 1 / (1 + exp(-x)).

    Returns: module; `forward` keeps the shape

    Example:
        >>> nn.Sigmoid()(badak.tensor([0.0])).tolist()
        [0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.sigmoid()


class LogSigmoid(_Elementwise):
    """y = log(1 / (1 + exp(-x)))."""

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softsign(_Elementwise):
    """y = x / (1 + |x|)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(_Elementwise):
    """y = x - tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class LeakyReLU(_Elementwise):
    """y = x where x > 0, else negative_slope x."""

    _shown = ("negative_slope",)

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(_Elementwise):
    """y = x where x > 0, else alpha (exp(x) - 1)."""

    _shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Elementwise):
    """y = max(x, 0) + min(0, alpha (exp(x / alpha) - 1))."""

    _shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class Softplus(_Elementwise):
    """y = log(1 + exp(beta x)) / beta; x itself where beta x > threshold."""

    _shown = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class Hardtanh(_Elementwise):
    """y = x brought into min_val .. max_val."""

    _shown: tuple[str, ...] = ("min_val", "max_val")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,  # the older names of the two
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise ArgumentError(tr("max_val ({}) must be greater than min_val ({})", self.max_val, self.min_val))

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """y = min(max(x, 0), 6)."""

    _shown = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Threshold(_Elementwise):
    """y = x where x > threshold, else value."""

    _shown = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class _Shrink(_Elementwise):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(_Shrink):
    """y = x - lambd sign(x) where |x| > lambd, else 0."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class Hardshrink(_Shrink):
    """y = x where |x| > lambd, else 0."""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class PReLU(_Elementwise):
    """y = x where x > 0, else w x; w is learned, one number or one for each of num_parameters channels (axis 1)."""

    _shown = ("num_parameters",)

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Device = None, dtype: DType | None = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(full((num_parameters,), init, device=device, dtype=dtype))

    def reset_parameters(self) -> None:
        """Set w to `init`."""
        self.weight.data.fill_(self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)


class GLU(_Elementwise):
    """y = a sigmoid(b), a and b the two halves of x along dim."""

    _shown = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


class _AlongDim(_Elementwise):
    _shown = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class Softmax(_AlongDim):
    """y_i = exp(x_i) / sum_j exp(x_j) along dim.

    Args:
        dim: the axis whose values sum to 1

    Returns: module; `forward` keeps the shape

    Derivation: docs/explanation/derivations/softmax.md

    Example:
        >>> nn.Softmax(dim=-1)(badak.zeros(4)).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class Softmin(_AlongDim):
    """y = softmax(-x) along dim."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class LogSoftmax(_AlongDim):
    """y = log(softmax(x)) along dim.

    Args:
        dim: the axis whose probabilities sum to 1

    Returns: module; `forward` keeps the shape; the values are in nats

    Derivation: docs/explanation/derivations/softmax.md

    Example:
        >>> nn.LogSoftmax(dim=-1)(badak.zeros(1)).tolist()
        [0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class Softmax2d(_Elementwise):
    """Softmax over the channels of x (B, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ArgumentError(tr("Softmax2d: expected input to be 3D or 4D, got {}", tuple(input.shape)))
        return F.softmax(input, -3)


class RReLU(Module):
    """x where x > 0, else a x, a drawn between lower and upper in training. Source: Xu et al. 2015."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")
