"""`torch.nn.attention.bias`: causal masks by their corner, as masks: True = attend."""

from enum import IntEnum

from badak.core.errors import ArgumentError, tr
from badak.core.public_api import door as _door
from badak.tensor import Tensor, dtypes, ones


class CausalVariant(IntEnum):
    """The corner in which the triangle of a causal mask begins."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


def causal_upper_left(*size: int) -> Tensor:
    """The mask of T queries and S keys in which query i sees the keys up to i.

    Args:
        size: T and S

    Returns: (T, S) bool

    Raises:
        ArgumentError: for more or fewer than two sizes

    Example:
        >>> from badak.compat.torch.causal_bias import causal_upper_left
        >>> causal_upper_left(1, 3).tolist()
        [[True, False, False]]
    """
    return _tril("causal_upper_left", size, 0)


def causal_lower_right(*size: int) -> Tensor:
    """The mask of T queries and S keys in which the last query sees all keys, the one before it all but the last.

    Args:
        size: T and S

    Returns: (T, S) bool

    Raises:
        ArgumentError: for more or fewer than two sizes

    Example:
        >>> from badak.compat.torch.causal_bias import causal_lower_right
        >>> causal_lower_right(1, 3).tolist()
        [[True, True, True]]
    """
    return _tril("causal_lower_right", size, 1)


def _tril(where: str, size: tuple[int, ...], right: int) -> Tensor:
    if len(size) != 2:
        raise ArgumentError(tr("{} only supports 2D tensors; got {} sizes", where, len(size)), f"{where}(queries, keys)")
    return ones(*size, dtype=dtypes.bool_).tril(right * (size[1] - size[0]))


__getattr__, __dir__ = _door("badak.nn.attention.bias")
