"""`torch.nn.attention.bias`: causal masks by their corner, as masks: True = attend."""

from collections.abc import Callable
from enum import IntEnum

from badak.core.errors import ArgumentError, tr
from badak.core.public_api import door as _door
from badak.core.public_api.taken import named
from badak.tensor import Tensor, dtypes, ones


class CausalVariant(IntEnum):
    """The corner in which the triangle of a causal mask begins."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


def _of_corner(corner: str, right: int, seen: str, example: str) -> Callable[..., Tensor]:
    where = f"causal_{corner}"

    def mask(*size: int) -> Tensor:
        if len(size) != 2:
            raise ArgumentError(tr("{} only supports 2D tensors; got {} sizes", where, len(size)), f"{where}(queries, keys)")
        return ones(*size, dtype=dtypes.bool_).tril(right * (size[1] - size[0]))

    return named(mask, where, _DOC.format(where=where, seen=seen, example=example))


_DOC = """The mask of T queries and S keys in which {seen}.

Args:
    size: T and S

Returns: (T, S) bool

Raises:
    ArgumentError: for more or fewer than two sizes

Example:
    >>> from badak.compat.torch.causal_bias import {where}
    >>> {where}(1, 3).tolist()
    [[{example}]]
"""
causal_upper_left = _of_corner("upper_left", 0, "query i sees the keys up to i", "True, False, False")
causal_lower_right = _of_corner(
    "lower_right", 1, "the last query sees all keys, the one before it all but the last", "True, True, True"
)


__getattr__, __dir__ = _door("badak.nn.attention.bias")
