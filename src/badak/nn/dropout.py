"""Dropout: in training, values are zeroed by chance and the others scaled up, so that the expectation stays."""

from badak.core.errors import ArgumentError, tr
from badak.nn import functional as F
from badak.nn.module import Shown
from badak.tensor import Tensor


class _DropoutNd(Shown):
    _shown = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ArgumentError(tr("dropout probability has to be between 0 and 1, but got {}", p))
        self.p, self.inplace = p, inplace


class Dropout(_DropoutNd):
    """Training: y = x k / (1 - p) with k = 0 with probability p, else 1, for each value. Evaluation: y = x.

    Source: Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from overfitting".

    Args:
        p: probability that a value is dropped, 0 to 1
        inplace: whether the input is overwritten

    Returns: module; `forward` keeps the shape of its input

    Raises:
        ArgumentError: for p outside 0 to 1

    Example:
        >>> nn.Dropout(0.5).eval()(badak.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """As Dropout, one k for each channel: x (B, C, T) or (C, T)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """As Dropout, one k for each channel: x (B, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """As Dropout, one k for each channel: x (B, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean 0 and variance 1 behind SELU: dropped values become SELU's lower limit, then all are rescaled.

    Source: Klambauer et al. 2017, "Self-normalizing neural networks".
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """As AlphaDropout, one choice for each channel: x (B, C, ...)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
