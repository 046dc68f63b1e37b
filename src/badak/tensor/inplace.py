"""In-place changes, with the history kept right.

`write_` is the one way to change a tensor's values where gradients may be involved. A view's change is also its base's:
the base gets a node that replaces the slice, and every view of that memory takes its history again when next asked.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import GraphError, ShapeError, tr
from badak.core.memory import offset_of, opened
from badak.core.modes import anywhere, modes
from badak.kernels.half import converted
from badak.ops.copy_slices import Replaced, WriteView
from badak.ops.op import Saved
from badak.tensor import vmap
from badak.tensor.apply import IN_FUNCTION, apply, in_function, of_pieces, record
from badak.tensor.attributes import held_by
from badak.tensor.batched import Batched
from badak.tensor.meta_storage import unfilled
from badak.tensor.tensor import Tensor


def write_(x: Tensor, value: Tensor, name: str) -> Tensor:
    """Make x hold `value` (broadcast to x's shape, cast to x's dtype) together with value's history."""
    if anywhere.casting and modes.batching and Batched in (type(x._array), type(value._array)):
        return vmap.write(x, value, write_, name)
    recording = modes.grad and (x.requires_grad or value.requires_grad)
    if recording or (modes.grad and x._whole is not None):
        refuse_leaf(x, recording)
    if recording:
        _keep_original(value, x)
    array = x._array
    if x._inference:
        refuse_inference(x)
    if value._array.shape != array.shape:
        _check_broadcast(value._array.shape, array.shape, name)
        if recording:
            value = value.expand(array.shape)
    if recording and value._array.dtype != array.dtype:
        value = value.to(x.dtype)
    if recording and value._node is None and value.requires_grad:
        value = value.clone()  # a leaf's history is the leaf itself, which x does not become
    if not array.flags.writeable:
        if unfilled.on:
            return x
        expect_writable(x, name)
    if recording and x._whole is None and (not value.requires_grad or (name == "copy_" and x.requires_grad)):
        value = apply(Replaced, value, x)
    (put if anywhere.has_observers and modes.observer is not None else _put)(x, value, name)
    if recording:
        rewrite(x, value)
    return x


def _put(x: Tensor, value: Tensor, name: str) -> Tensor:
    """Write value's numbers to x's memory, no more: history is the caller's."""
    array, source = x._array, value._array
    array[...] = source if array.dtype.itemsize > 1 else converted(source, array.dtype)
    x._watch().bump(name)
    return x


put = events.writes(elementwise=True)(_put)


def changed_(x: Tensor, name: str) -> Tensor:
    """Note that x's values were changed directly, where no history is involved."""
    if modes.grad and (x._whole is not None or x.requires_grad):
        refuse_leaf(x, x.requires_grad)
    x._watch().bump(name)
    return x


def _keep_original(value: Tensor, x: Tensor) -> None:
    """Give the operation that made `value` a copy of what it saved of x, which its own result is about to overwrite."""
    node, old = value._node, x._array
    if node is None or not node.watched:
        return
    saved = node.saved.__dict__
    names = [name for name, array in saved.items() if array is old]
    if names:
        saved.update(dict.fromkeys(names, old.copy()))
        if not any(isinstance(array, np.ndarray) and np.may_share_memory(array, old) for array in saved.values()):
            version = x._watch()
            node.watched = [entry for entry in node.watched if entry[0] is not version]


def refuse_leaf(x: Tensor, recording: bool = True) -> None:
    """Raise where it is a leaf that requires a gradient, or a view of one: what is changed would have no gradient.

    A view without a history of a tensor with one, made under no_grad(), is refused as well: the change would be in no graph. And
    so is one of several views that one operation gave, where the change is recorded. On the meta device nothing has a graph.
    """
    if x._described is not None:
        return
    base = x if x._whole is None else x._whole
    for step, attributes, slot in x._view_steps:
        if step is IN_FUNCTION:
            raise in_function(attributes["name"], slot)
        if recording and step.pieces:
            raise of_pieces(step.name, slot)
    if base._node is None and (base._requires_grad or (base is not x and x.requires_grad)):
        what = tr("a leaf Variable that requires grad") if base is x else tr("a view of a leaf Variable that requires grad")
        cause = tr("{} is being used in an in-place operation.", what)
        raise GraphError(cause, "with badak.no_grad(): ... for initialisation and updates, or the out-of-place form")
    if base is not x and base._requires_grad and not x.requires_grad:
        cause = tr("A view was created in no_grad mode and is being modified inplace with grad mode enabled.")
        raise GraphError(cause, "the view outside of no_grad(), or the change within it")


def expect_writable(x: Tensor, name: str) -> None:
    """Raise where x may not be written to."""
    if x._inference:
        refuse_inference(x)
    if not x._array.flags.writeable and x._whole is not None and x._whole._array.flags.writeable:
        x._array = opened(x._array)
    if not x._array.flags.writeable:
        raise read_only(name, x._array)


def refuse_inference(x: Tensor) -> None:
    """Raise outside of inference mode where x was made in it: nobody counts its changes."""
    if x._inference and not modes.inference:
        cause = tr("Inplace update to inference tensor outside InferenceMode is not allowed.")
        raise GraphError(cause, "x.clone() gives a tensor that may be changed")


def refuse_overlap(x: Tensor, others: Iterable[Any], name: str, apart: bool = False) -> None:
    """Raise where one of the tensors that say what is written, or where, sees a part of the memory of x; with gaps, nobody knows.

    apart: it may not be the very same places either.
    """
    array = held_by(x).get("_array")
    for other in others:
        if isinstance(other, list | tuple):
            refuse_overlap(x, other, name, apart)
        elif isinstance(other, Tensor) and (apart or other is not x) and _overlap(array, seen := held_by(other).get("_array")):
            if not apart and seen.strides == array.strides and offset_of(seen) == offset_of(array) and seen.size == array.size:
                continue
            cause = tr("{}: unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                       "memory location. Please clone() the tensor before performing the operation.", name)  # fmt: skip
            raise GraphError(cause, tr("x.{}(...) of other.clone()", name))


def _overlap(a: Any, b: Any) -> bool:
    """Whether two arrays without gaps have memory in common."""
    both = type(a) is type(b) is np.ndarray and np.may_share_memory(a, b)
    return both and all(each.flags.c_contiguous or each.flags.f_contiguous for each in (a, b))


def read_only(name: str, array: np.ndarray) -> GraphError:
    """The complaint about a change of memory that several elements of a tensor share, or that is not ours."""
    if all(step or size < 2 for step, size in zip(array.strides, array.shape)):
        cause = tr("{}: the tensor lies on memory that may only be read", name)
        return GraphError(cause, "x = x.clone() gives it memory of its own")
    cause = tr("{}: unsupported operation: more than one element of the written-to tensor refers to a single memory location", name)
    return GraphError(cause, "x = x.clone() before performing the operation")


def _check_broadcast(shape, target, name: str) -> None:
    fits = len(shape) <= len(target) and all(a in (1, b) for a, b in zip(reversed(shape), reversed(target)))
    if not fits:
        cause = tr("{}: output with shape {} doesn't match the broadcast shape {}", name, list(target), list(shape))
        raise ShapeError(cause, "the right side must broadcast to the tensor that is changed")


def rewrite(x: Tensor, value: Tensor) -> None:
    """Give x the history of value; where x is a view, give its base a node that says which part was replaced."""
    events.redefine(x if x._whole is None else x._whole, tr("an in-place change with a history"))
    if x._whole is None:
        x._node, x._output_number, x._requires_grad = value._node, value._output_number, value._requires_grad
        x._rebased += 1
        if x._kept_by is not None:
            x._keep_here()
        return
    base = x._whole
    saved = Saved((base._requires_grad, value._requires_grad))
    saved.base, saved.steps = base._array, x._view_steps
    record(WriteView, saved, [base._edge(), value._edge()], (base,))
    base._rebased += 1
    if base._kept_by is not None:
        base._keep_here()
