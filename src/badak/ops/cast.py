"""From one dtype to another, and into new memory."""

from typing import Any

import numpy as np

from badak import kernels
from badak.kernels.half import BFLOAT16, converted
from badak.kernels.memory_format import channels_innermost, copied
from badak.ops._broadcast import elementwise, quiet
from badak.ops.operation import MOVES, operation


def _cast(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if dtype == BFLOAT16 or x.dtype == BFLOAT16:
        return kernels.of(x).cast(x, dtype)
    return converted(x, dtype) if dtype.itemsize == 1 else x.astype(dtype)


def _real(dy: np.ndarray, dtype: Any) -> np.ndarray:
    return dy.real if dy.dtype.kind == "c" != dtype.kind else dy


Cast = operation(
    "Cast", "y = x in another dtype;   dx = dy in x's.", _cast,
    lambda dy, x_dtype: _cast(_real(dy, x_dtype), x_dtype),
    twice=(lambda dy, x_dtype: _real(dy, x_dtype).astype(x_dtype),),
    lies=elementwise, slope=quiet, data_movement=True, capturable=True,  # where there are kernels for the two dtypes
)  # fmt: skip


def _clone(x: np.ndarray, order: Any = None) -> np.ndarray:
    if order == "channels":
        return channels_innermost(x)
    return kernels.of(x).contiguous(x) if order and not x.flags.c_contiguous else copied(x)


def _each_cloned(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
    return NotImplemented if attributes.get("order") == "channels" else run(op, *xs, **attributes)


Clone = operation(
    "Clone",
    """y = x in memory of its own, as x lies, or in the `order` "rows" or "channels" (images, channels innermost);   dx = dy.""",
    _clone, lambda dy: dy, owns_grads=False, capturable=True, batching=_each_cloned, **MOVES,
)  # fmt: skip
