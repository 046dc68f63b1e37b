"""From one dtype to another, and into new memory."""

from badak import kernels
from badak.kernels.half import BFLOAT16, converted
from badak.kernels.memory_format import channels_innermost, copied
from badak.ops._broadcast import elementwise, quiet
from badak.ops.op import Moving, Op


class Cast(Op):
    """y = x in another dtype;   dx = dy in x's."""

    data_movement = True
    saves_no_tensors = True
    capturable = True  # where there are any for the two dtypes

    @staticmethod
    @elementwise
    def forward(save, x, dtype):
        save.dtype = x.dtype
        return _cast(x, dtype)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return _cast(dy.real if dy.dtype.kind == "c" != saved.dtype.kind else dy, saved.dtype)

    @staticmethod
    def double_backward(saved, dy):
        return (dy.real if dy.dtype.kind == "c" != saved.dtype.kind else dy).astype(saved.dtype)


def _cast(x, dtype):
    if dtype == BFLOAT16 or x.dtype == BFLOAT16:
        return kernels.of(x).cast(x, dtype)
    return converted(x, dtype) if dtype.itemsize == 1 else x.astype(dtype)


class Clone(Moving, Op):
    """y = x in memory of its own, as x lies, or in the `order` "rows" or "channels" (images with channels innermost);   dx = dy."""

    owns_grads = False
    capturable = True

    @staticmethod
    def forward(save, x, order=None):
        if order == "channels":
            return channels_innermost(x)
        return kernels.of(x).contiguous(x) if order and not x.flags.c_contiguous else copied(x)

    @staticmethod
    def backward(saved, dy):
        return dy

    @staticmethod
    def batching(run, op, xs, batched, attributes):
        return NotImplemented if attributes.get("order") == "channels" else run(op, *xs, **attributes)
