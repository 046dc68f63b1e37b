"""Dropout: numbers, channels or statistics-preserving. The masks are PyTorch's for the same seed.

Source: Srivastava et al. 2014; Tompson et al. 2015 for whole channels; Klambauer et al. 2017 for alpha dropout.
"""

import math

from badak.core.errors import ArgumentError, tr, warn_once
from badak.nn.functional._common import placed, tensor
from badak.nn.functional.activation import SELU_ALPHA, SELU_SCALE
from badak.ops._check import expect_floats
from badak.ops.select import Dropout
from badak.tensor import Tensor, apply
from badak.tensor.random import default_generator, dropout_mask
from badak.tensor.upcast import in_float32

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """y = x keep / (1 - p), keep True with probability 1 - p.   dx = dy keep / (1 - p).   Without training, x itself.

    Args:
        input: any shape
        p: probability that a value is dropped
        training: False gives the input itself
        inplace: overwrite the input

    Returns: tensor of input's shape

    Raises:
        ArgumentError: for p outside 0 to 1

    Example:
        >>> F.dropout(badak.ones(3), training=False).tolist()
        [1.0, 1.0, 1.0]
    """
    x = _checked(input, p, "dropout")
    if p == 0 or not training or x._array.size == 0:
        return x
    expect_floats("dropout", x)
    if p == 1:
        return placed(x * 0.0, x, inplace, "dropout_")
    keep = Tensor._of(dropout_mask(x._array, 1 - p))
    return placed(apply(Dropout, x, keep, p=p), x, inplace, "dropout_")


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    return _channels(input, p, training, inplace, 1, "dropout1d")


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, H, W), or of (N, C, L) as PyTorch reads it, and warns of it."""
    return _channels(input, p, training, inplace, 2, "dropout2d")


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    return _channels(input, p, training, inplace, 3, "dropout3d")


def _channels(input, p: float, training: bool, inplace: bool, axes: int, name: str) -> Tensor:
    x = _checked(input, p, name)
    expected = x.dim() - axes in (1, 2)  # dims
    if not expected and axes == 1:
        raise ArgumentError(tr("{}: Expected 2D or 3D input, but received a {}D input.", name, x.dim()), "dropout for any shape")
    lead = 2 if axes == 2 or x.dim() == axes + 2 else 1  # without a batch the channels come first
    if not expected:
        cause = tr("{}: Received a {}-D input to {}: dim {} is taken as the channels", name, x.dim(), name, lead - 1)
        warn_once((name, x.dim()), cause, "dropout for any shape")
    elif axes == 2 and x.dim() == 3:
        cause = tr("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired: "
                   "it is taken as (N, C, L), not as (C, H, W)")  # fmt: skip
        warn_once((name, 3), cause, tr("dropout1d(x), or dropout2d(x.unsqueeze(0)) of one image"))
    if x.dim() < lead:
        raise _few_dims()
    if p == 0 or not training or x.numel() == 0:
        return x
    expect_floats(name, x)
    if p == 1:
        return placed(x * 0.0, x, inplace, name + "_")
    shape = (1, *x.shape[:1]) if lead == 1 else tuple(x.shape[:2])
    keep = default_generator.bernoulli(1 - p, shape).reshape(*x.shape[:lead], *(1,) * (x.dim() - lead))
    mask = Tensor._of(keep).expand(x.shape)
    return placed(apply(Dropout, x, mask, p=p), x, inplace, name + "_")


def _few_dims() -> ArgumentError:
    return ArgumentError("Feature dropout requires at least 2 dimensions in the input", "x (N, C, ...)")


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """y = a (x keep + saturation (1 - keep)) + b, with a and b such that mean 0 and variance 1 stay (for SELU nets)."""
    x = _checked(input, p, "alpha_dropout")
    if p == 0 or not training or x.numel() == 0:
        return x
    expect_floats("alpha_dropout", x)
    if p == 1:
        return placed(x * 0.0, x, inplace, "alpha_dropout_")
    keep = Tensor._of(dropout_mask(x._array, 1 - p)).to(x.dtype)
    return placed(_saturated(x, keep, p), x, inplace, "alpha_dropout_")


@in_float32
def _saturated(x: Tensor, keep: Tensor, p: float) -> Tensor:
    low = -SELU_ALPHA * SELU_SCALE
    a = 1.0 / math.sqrt((low * low * p + 1.0) * (1.0 - p))
    return x * keep * a + ((1.0 - keep) * (low * a) - low * a * p)


def _checked(input, p: float, name: str) -> Tensor:
    if not 0.0 <= p <= 1.0:
        raise ArgumentError(tr("dropout probability has to be between 0 and 1, but got {}", p), f"{name}(x, p=0.1)")
    return tensor(input, name)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels of (N, C, ...)."""
    x = _checked(input, p, "feature_alpha_dropout")
    if p == 0 or not training or x.numel() == 0:
        return x
    if x.dim() < 2:
        raise _few_dims()
    if p == 1:
        return placed(x * 0.0, x, inplace, "feature_alpha_dropout_")
    keep = default_generator.bernoulli(1 - p, tuple(x.shape[:2])).reshape(*x.shape[:2], *(1,) * (x.dim() - 2))
    return placed(_saturated(x, Tensor._of(keep).to(x.dtype), p), x, inplace, "feature_alpha_dropout_")
