"""The in-place twins of functions, named with a trailing underscore: x.add_(y) makes x hold x + y, history included.

The result must have x's shape, and a dtype that may go into x's: not a float into an integer, for one.
"""

import math
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from badak import kernels
from badak.core import events
from badak.core.errors import ArgumentError, DTypeError, GraphError, ShapeError, tr
from badak.core.memory import offset_of, opened, owner_of
from badak.core.modes import anywhere, modes
from badak.core.public_api.taken import named
from badak.ops._check import axis_of
from badak.tensor import arithmetic, shape, vmap
from badak.tensor.attributes import held_by
from badak.tensor.batched import Batched
from badak.tensor.data import as_array, fit
from badak.tensor.index import as_slice, check_index_copy, index_copy
from badak.tensor.inplace import changed_, expect_writable, refuse_inference, refuse_leaf, refuse_overlap, write_
from badak.tensor.layouts import order_asked, preserve_format
from badak.tensor.meta_storage import filled, new_memory, unfilled
from badak.tensor.promote import can_cast, operand, told_constant
from badak.tensor.tensor import Tensor


def store(x: Tensor, y: Tensor, name: str) -> Tensor:
    """Make x hold y, where y may go there."""
    if y._array.dtype is not x._array.dtype and not can_cast(y.dtype, x.dtype):
        cause = tr("result type {} can't be cast to the desired output type {}", y.dtype, x.dtype)
        raise DTypeError(cause, tr("x = x.{}(...), or x.to({}) first", name.rstrip("_"), y.dtype))
    return write_(x, y, name)


_BY_PLACE = frozenset("index_add_ index_fill_ index_put_ index_reduce_ put_ scatter_ scatter_add_ scatter_reduce_".split())


def twin(function: Callable, name: str) -> Callable:
    """The in-place form of a function: its result goes into its first argument."""

    by_place, called = name in _BY_PLACE, signature(function)
    fills = [*called.parameters, "value"].index("value") - 1  # where a number stands that is read before anything is written

    def in_place(input, *args, **named) -> Tensor:
        others = (*args[:fills], *args[fills + 1 :], *(x for key, x in named.items() if key != "value"))
        refuse_overlap(input, others, name, by_place)
        return store(input, function(input, *args, **named), name)

    in_place.__name__ = in_place.__qualname__ = name
    in_place.__doc__ = f"{name[:-1]}, in place."
    kept = [each for each in called.parameters.values() if each.name != "out"]
    in_place.__signature__ = called.replace(parameters=kept, return_annotation=Tensor)  # type: ignore[attr-defined]
    return in_place


def add_(input: Tensor, *args: Any, alpha: complex | None = 1, other: Tensor | complex | None = None) -> Tensor:
    """input += alpha other. The old form add_(alpha, other) is accepted too."""
    if len(args) == 2:
        alpha, other = args
    elif args:
        (other,) = args
    refuse_overlap(input, (other,), "add_")
    return store(input, arithmetic.add(input, other, alpha=alpha), "add_")


def sub_(input: Any, *args: Any, alpha: Any = 1, other: Any = None) -> Tensor:
    """input -= alpha other. The old form sub_(alpha, other) is accepted too."""
    if len(args) == 2:
        alpha, other = args
    elif args:
        (other,) = args
    refuse_overlap(input, (other,), "sub_")
    return store(input, arithmetic.sub(input, other, alpha=alpha), "sub_")


def float_power_(input: Tensor, exponent: Tensor | complex) -> Tensor:
    """input ** exponent, in place: input has the dtype of the result, float64 or complex128."""
    y = arithmetic.float_power(input, exponent)
    if y.dtype is not input.dtype:
        cause = tr("the base given to float_power_ has dtype {} but the operation's result requires dtype {}", input.dtype, y.dtype)
        raise DTypeError(cause, "x = x.float_power(...)")
    return store(input, y, "float_power_")


def addcmul_(input: Tensor, *args: Any, value: complex = 1, **named: Any) -> Tensor:
    """input += value tensor1 tensor2. The old form addcmul_(value, tensor1, tensor2) is accepted too."""
    if len(args) == 3:
        value, args = args[0], args[1:]
    refuse_overlap(input, args, "addcmul_")
    return store(input, arithmetic.addcmul(input, *args, value=value, **named), "addcmul_")


def addcdiv_(input: Tensor, *args: Any, value: complex = 1, **named: Any) -> Tensor:
    """input += value tensor1 / tensor2. The old form addcdiv_(value, tensor1, tensor2) is accepted too."""
    if len(args) == 3:
        value, args = args[0], args[1:]
    refuse_overlap(input, args, "addcdiv_")
    return store(input, arithmetic.addcdiv(input, *args, value=value, **named), "addcdiv_")


def fill_(input: Any, value: Any) -> Tensor:
    """Every entry = value, a number or a 0-d tensor."""
    if isinstance(value, Tensor):
        if value._array.ndim:
            cause = tr("fill_ only supports 0-dimension value tensor but got tensor with {} dimensions.", value._array.ndim)
            raise ShapeError(cause, "x.copy_(value)")
        return write_(input, value.to(input.dtype), "fill_")
    value = fit(operand(value, "fill_"), input._array.dtype, "fill_")
    if modes.grad and input.requires_grad:
        return write_(input, told_constant(np.asarray(value, input._array.dtype)), "fill_")
    refuse_inference(input)
    if not (unfilled.on and not input._array.flags.writeable):
        _fill(input, value)
    return input


@events.writes(elementwise=True)
def _fill(input, value) -> None:
    array = input._array
    if not array.flags.writeable:  # the entries that share a place, as of an expanded tensor, get one number
        array = opened(array[tuple(slice(None if step else 1) for step in array.strides)])
    if not array.flags.writeable:
        expect_writable(input, "fill_")
    array.fill(value)
    changed_(input, "fill_")


def zero_(input: Tensor) -> Tensor:
    """Every entry = 0."""
    return fill_(input, 0)


def fill_diagonal_(input: Tensor, fill_value: complex, wrap: bool = False) -> Tensor:
    """The main diagonal, x[i, i, ...], = fill_value; with wrap, of a tall matrix, it begins again below each end."""
    sizes = input._array.shape
    if len(sizes) < 2:
        raise ShapeError(tr("fill_diagonal_: dimensions must larger than 1; got shape {}", sizes), "x.fill_(value)")
    if len(sizes) > 2 and len(set(sizes)) > 1:
        cause = tr("all dimensions of input must be of equal length; got shape {}", sizes)
        raise ShapeError(cause, "x[i] for each matrix x[i] in it")
    again = sizes[1] + 1 if wrap and len(sizes) == 2 else max(sizes[0], 1)
    for top in range(0, sizes[0], again):
        part = input[top:]
        while part._array.ndim > 1:
            part = shape.diagonal(part, 0, 0, -1)
        fill_(part, fill_value)
    return input


def copy_(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """input = src, broadcast to input's shape and cast to its dtype."""
    src = operand(src, "copy_")
    refuse_overlap(input, (src,), "copy_")
    return write_(input, src if isinstance(src, Tensor) else Tensor._of(as_array(src)), "copy_")


def index_copy_(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """The slices index[0], index[1], ... along dim = those of source, in place."""
    if not input._array.ndim and isinstance(source, Tensor):
        index_copy_(input.reshape(1), dim, index, source.reshape(-1))
        return input
    source = as_slice(input, source)
    check_index_copy(input, dim, index, source)
    refuse_overlap(input, (index, source), "index_copy_", apart=True)
    if modes.grad and (input.requires_grad or source.requires_grad):
        return store(input, index_copy(input, dim, index, source), "index_copy_")
    expect_writable(input, "index_copy_")
    apart = not np.may_share_memory(input._array, source._array)
    _replace_slices(input, dim, index, source if apart else source.clone())
    return input


@events.writes(capturable=True)
def _replace_slices(input, dim: int, index, source) -> None:
    array = input._array
    kernels.of(array).index_copy(array, axis_of(dim, array.ndim), index._array.reshape(-1), source._array)
    changed_(input, "index_copy_")


def swap_shape(function: Callable, name: str) -> Callable:
    """The in-place form of a view function: the tensor itself takes the other shape, as a view of what it was."""

    def in_place(input, *args, **named) -> Tensor:
        if anywhere.casting and type(held_by(input).get("_array")) is Batched:
            if modes.grad:
                refuse_leaf(vmap.real_of(input))
            input._array = function(input, *args, **named)._array
            return input
        recorded = input.requires_grad and input._node is not None
        refuse_inference(input)
        if recorded and not modes.grad:
            cause = tr("{} of a tensor with a history under no_grad(): its gradient would have another shape than itself", name)
            raise GraphError(cause, tr("x.{}(...) outside of no_grad(), or x = x.{}(...)", name, name[:-1]))
        if modes.grad:
            refuse_leaf(input, input.requires_grad)
        seen = function(input._as_it_was() if recorded or input._whole is not None else input.detach(), *args, **named)
        events.redefine(input, tr("{} of a tensor", name))
        if input._whole is None:
            input._rebased += 1
            input._reshaped_at = input._rebased
        else:
            input._view_steps = seen._view_steps
            if name == "as_strided_":  # it may see more of its base than it saw
                input._made_at = -1
        input._array = seen._array
        if recorded:
            input._node, input._output_number = seen._node, seen._output_number
        input._watch().bump(name)
        return input

    in_place.__signature__ = signature(function).replace(return_annotation=Tensor)  # type: ignore[attr-defined]
    return named(in_place, name, f"{name[:-1]}, in place.")


def resize_(input: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """Another shape of the memory from input's first value on; more memory, with 0 after the values, where it is too short.

    Nothing is moved where input has the shape. A tensor that grows leaves the memory that others see.
    """
    if input.requires_grad:
        raise GraphError("cannot resize variables that require grad", "x.detach().clone().resize_(...)")
    wanted = shape.sizes(size)
    if tuple(wanted) == input._array.shape and memory_format is None:
        return input
    if min(wanted, default=0) < 0:
        raise ShapeError(tr("resize_: expected sizes of at least 0; got {}", list(wanted)), "x.resize_(2, 3)")
    if math.prod(wanted) * input._array.itemsize >= 2**63:
        raise ShapeError(tr("Storage size calculation overflowed with sizes={}", list(wanted)), "smaller sizes")
    if memory_format is preserve_format:
        raise ArgumentError("Unsupported memory formatPreserve", "contiguous_format, channels_last or channels_last_3d")
    order = order_asked(memory_format, len(wanted))
    refuse_inference(input)
    events.redefine(input, tr("resize_ of a tensor"))
    input._array = _resized(input._array, wanted, order)
    return changed_(input, "resize_")


def _resized(x: np.ndarray, wanted: tuple, order: str | None) -> np.ndarray:
    """The memory of x from its first value on in another shape and order; a copy of it where it is too short."""
    inner = (wanted[0], *wanted[2:], wanted[1]) if order == "channels" else wanted
    owner, count, values = owner_of(x), math.prod(wanted), x.ravel("K")
    if owner.flags.c_contiguous or owner.flags.f_contiguous:
        start = offset_of(x)
        values = np.ndarray((max(owner.nbytes - start, 0) // x.itemsize,), x.dtype, owner, start) if x.size else values
    if count <= values.size and values.base is not None:
        grown = values[:count].reshape(inner)
    else:
        grown = new_memory(inner, x.dtype) if filled and filled[0]() else np.zeros(inner, x.dtype)
        grown.reshape(-1)[: values.size] = values[:count]
    return np.moveaxis(grown, -1, 1) if order == "channels" else grown
