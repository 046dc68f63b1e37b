"""From one dtype to another, and into new memory."""

from badak import kernels
from badak.kernels.half import BFLOAT16, converted
from badak.kernels.memory_format import channels_innermost, copied
from badak.ops._broadcast import elementwise, quiet
from badak.ops.operation import MOVES, operation


def _cast(x, dtype):
    if dtype == BFLOAT16 or x.dtype == BFLOAT16:
        return kernels.of(x).cast(x, dtype)
    return converted(x, dtype) if dtype.itemsize == 1 else x.astype(dtype)


def _real(dy, dtype):
    return dy.real if dy.dtype.kind == "c" != dtype.kind else dy


Cast = operation(
    "Cast", "y = x in another dtype;   dx = dy in x's.", _cast,
    lambda dy, x_dtype: _cast(_real(dy, x_dtype), x_dtype),
    twice=(lambda dy, x_dtype: _real(dy, x_dtype).astype(x_dtype),),
    lies=elementwise, slope=quiet, data_movement=True, capturable=True,  # where there are kernels for the two dtypes
)  # fmt: skip


def _clone(x, order=None):
    if order == "channels":
        return channels_innermost(x)
    return kernels.of(x).contiguous(x) if order and not x.flags.c_contiguous else copied(x)


def _each_cloned(run, op, xs, batched, attributes):
    return NotImplemented if attributes.get("order") == "channels" else run(op, *xs, **attributes)


Clone = operation(
    "Clone",
    """y = x in memory of its own, as x lies, or in the `order` "rows" or "channels" (images, channels innermost);   dx = dy.""",
    _clone, lambda dy: dy, owns_grads=False, capturable=True, batching=_each_cloned, **MOVES,
)  # fmt: skip
