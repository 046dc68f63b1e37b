"""Normalisation layers: each row or group is brought to mean 0 and size 1, then scaled and shifted by learned numbers."""

import numbers

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.core.public_api import overriding
from badak.nn import functional as F
from badak.nn import init
from badak.nn.functional.norm import layer_norm, rms_norm
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Size, Tensor, arange, empty
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812


class _Affine(Module):
    """A learned weight that starts at 1 and a bias that starts at 0, each of them optional."""

    def _register(self, shape: tuple, weight: bool, bias: bool, device, dtype) -> None:
        for name, wanted in (("weight", weight), ("bias", bias)):
            self.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight to 1, bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)


class LayerNorm(_Affine):
    """y = w (x - mean) / sqrt(var + eps) + b, over the last axes, which are of shape `normalized_shape`.

    var is the biased variance. Source: Ba, Kiros, Hinton 2016, "Layer normalization".

    Args:
        normalized_shape: sizes of the last axes that are normalized together; an int for one axis
        eps: added to the variance
        elementwise_affine: whether w and b are learned
        bias: whether there is a b
        device, dtype: of the parameters

    Returns: module; `forward` keeps the shape of its input

    Raises:
        ShapeError: from `forward`, for an input that does not end in `normalized_shape`

    Derivation: docs/explanation/derivations/layer_norm.md

    Example:
        >>> y = nn.LayerNorm(4)(badak.tensor([[1.0, 2.0, 3.0, 4.0]]))
        >>> y.detach().mul(1000).round().tolist()
        [[-1342.0, -447.0, 447.0, 1342.0]]
    """

    def __init__(
        self,
        normalized_shape: int | list[int] | Size,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape(normalized_shape), eps, elementwise_affine
        self._register(self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        weight, bias = self._held("weight", "bias")
        norm = F.layer_norm if overriding.active else layer_norm  # somebody may answer for the public function
        return norm(input, self.normalized_shape, weight, bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(_Affine):
    """y = w x / sqrt(mean(x^2) + eps), over the last axes, which are of shape `normalized_shape`.

    eps None means the machine epsilon of x's dtype. Source: Zhang, Sennrich 2019, "Root mean square layer normalization".

    Args:
        normalized_shape: sizes of the last axes that are normalized together
        eps: added to the mean square; None is the machine epsilon of the input's dtype
        elementwise_affine: whether w is learned
        device, dtype: of the parameter

    Returns: module; `forward` keeps the shape of its input

    Raises:
        ShapeError: from `forward`, for an input that does not end in `normalized_shape`

    Example:
        >>> nn.RMSNorm(2)(badak.tensor([3.0, 4.0])).square().mean().round().item()
        1.0
    """

    def __init__(
        self,
        normalized_shape: int | list[int] | Size,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape(normalized_shape), eps, elementwise_affine
        weight = Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        norm = F.rms_norm if overriding.active else rms_norm
        return norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    """As LayerNorm over groups of channels: x (B, C, ...), the C channels in num_groups groups of neighbours.

    w and b are (C,). Source: Wu, He 2018, "Group normalization".

    Args:
        num_groups: groups; they divide the channels
        num_channels: C
        eps: added to the variance
        affine: whether w and b are learned
        device, dtype: of the parameters
        bias: whether there is a b (with affine)

    Returns: module; `forward` keeps the shape (B, C, ...)

    Raises:
        ArgumentError: where num_groups does not divide num_channels

    Example:
        >>> tuple(nn.GroupNorm(2, 4)(badak.randn(1, 4, 5)).shape)
        (1, 4, 5)
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Device = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ArgumentError(tr("num_channels ({}) must be divisible by num_groups ({})", num_channels, num_groups))
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._register((num_channels,), affine, affine and bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


def _shape(normalized_shape: int | list[int] | Size) -> tuple[int, ...]:
    return (int(normalized_shape),) if isinstance(normalized_shape, numbers.Integral | int) else tuple(normalized_shape)


class LocalResponseNorm(Module):
    """x / (k + alpha mean(x^2 of `size` channels around))^beta. Source: Krizhevsky et al. 2012."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """x / (k + alpha / size * sum of x^2 over the channels around)^beta, x (N, C, H, W).

    "Around" is what PyTorch's forward sums: (size - 1) // 2 channels on each side, and the first channel for every channel that
    lies farther from it, too. The gradient is the derivative of this; PyTorch's shifts the channels, and is not. LocalResponseNorm
    has neither.

    Source: Krizhevsky et al. 2012.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ShapeError(tr("CrossMapLRN2d: Expected input to be 4D, got {}D instead.", input.dim()), "x (N, C, H, W)")
        if self.size < 1:
            raise ArgumentError(tr("CrossMapLRN2d: size must be 1 or more; got {}", self.size), "size=5 channels, as in the source")
        squares, side = input * input, (self.size - 1) // 2
        sums = F.pad(squares, (0, 0, 0, 0, side, side)).unfold(1, 2 * side + 1, 1).sum(-1)
        far = (arange(input.shape[1]) > side).to(input.dtype).reshape(-1, 1, 1)
        return input * (self.k + self.alpha / self.size * (sums + far * squares[:, :1])) ** -self.beta

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
