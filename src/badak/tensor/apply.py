"""Where tensors meet operations: the one function that runs an Op and records it."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from badak.autograd.node import Node
from badak.core.errors import GraphError, NotSupportedError, tr
from badak.core.events import INFERENCE
from badak.core.memory import offset_of, owner_of
from badak.core.modes import anywhere, modes
from badak.kernels.half import BFLOAT16
from badak.ops.cast import Cast
from badak.ops.op import Saved
from badak.ops.scatter import AsStrided
from badak.tensor.tensor import Tensor
from badak.tensor.wrapped import is_wrapper

_new = object.__new__


class _NoNeeds(dict):
    """n -> the `needs` of n inputs of which none wants a gradient."""

    def __missing__(self, n: int) -> tuple[bool, ...]:
        return (False,) * n


_NO_NEEDS = _NoNeeds({n: (False,) * n for n in range(16)})
batched_run: list = []  # what runs an operation on all examples of a vmap: `vmap.py` puts it here
wrapped_run: list = []  # what hands an operation to the class of a wrapper: `compat/torch/wrapper.py` puts it here
_FORGOTTEN = Saved((False,))  # for what views save, shapes and axes, where nobody will ask for it


def apply(op: Any, *inputs: Any, **attributes: Any) -> Any:
    """Run `op` on the arrays of `inputs` (tensors, or None for what is optional) and record it where a gradient is wanted.

    Returns a tensor, or a tuple of tensors where the operation has several outputs.
    """
    if anywhere.casting:
        if op in modes.replaced:
            return modes.replaced[op](inputs, attributes)
        if wrapped_run and (made := wrapped_run[0](op, inputs, attributes)) is not NotImplemented:
            return made
        if modes.batching and (made := batched_run[0](op, inputs, attributes)) is not NotImplemented:
            return made
        if modes.casting is not None:
            op, inputs = modes.casting(op, inputs)
    if not modes.grad:
        return _run(op, inputs, attributes)
    arrays: list = []
    edges: list = []  # as in Node
    needs = []
    for x in inputs:
        if x is None:
            arrays.append(None)
            edges.append(None)
            needs.append(False)
            continue
        array = x._array
        if (
            array.itemsize <= 2
            and array.dtype.kind in "fV"
            and not (op.data_movement or (op.supports_bf16 and array.dtype == BFLOAT16))
        ):
            return _in_float32(op, inputs, attributes)
        arrays.append(array)
        # a view may have to take its history again first, which the property does
        if x._requires_grad if x._whole is None else x.requires_grad:
            edges.append((x._leaf_end or x._edge()) if x._node is None else (x._node, x._output_number))
            needs.append(True)
        else:
            edges.append(None)
            needs.append(False)
    observed = anywhere.observers and modes.observer is not None
    wanted = True in needs
    if wanted or observed or (value := op.value) is None:
        saved = _new(Saved)  # a call of the class would cost as much again
        saved.needs = tuple(needs)
        forward = modes.observer.on_op_enter(op, op.forward) if observed else op.forward
        made = forward(saved, *arrays, **attributes)
    else:
        made = value(*arrays, **attributes)
    if type(made) is ndarray:
        y = _new(Tensor)
        y._array = made
        outputs: tuple[Tensor, ...] = (y,)
    else:
        outputs = tuple(map(Tensor._of, made)) if type(made) is tuple else (Tensor._of(made),)
    if op.view:
        _share(op, inputs[0], outputs, attributes)
    if wanted:
        record(op, saved, edges, outputs, inputs, arrays)
    if observed and modes.observer is not None:
        modes.observer.on_op(op, saved, inputs, arrays, attributes, outputs)
    return outputs if type(made) is tuple else outputs[0]


def see(op: Any, x: Tensor, **attributes: Any) -> Tensor:
    """apply for an operation whose only output is a view of its only input, of which a layer has many: half of the time."""
    if wrapped_run and is_wrapper(x):
        return apply(op, x, **attributes)
    y = _new(Tensor)
    if not modes.grad:
        observer = modes.observer
        if anywhere.casting and observer is not None and modes.batching:
            return apply(op, x, **attributes)
        quiet, value = observer is None or observer is INFERENCE, op.value
        if quiet and value is not None:
            y._array = value(x._array, **attributes)
        else:
            forward = op.forward if quiet else observer.on_op_enter(op, op.forward)
            y._array = forward(_FORGOTTEN, x._array, **attributes)
        if observer is INFERENCE and x._inference:  # what inference makes never joins a graph, so nobody asks whose view it is
            y._inference = True
            return y
        _share(op, x, (y,), attributes)
        if observer is not None:
            observer.on_op(op, _FORGOTTEN, (x,), (x._array,), attributes, (y,))
        return y
    wanted = (x._requires_grad if x._whole is None else x.requires_grad) and not x._inference
    observed = anywhere.observers and modes.observer is not None
    if not (wanted or observed or (value := op.value) is None):
        y._array = value(x._array, **attributes)
        _share(op, x, (y,), attributes)
        return y
    saved = _new(Saved)
    saved.needs = (wanted,)
    if observed and modes.batching:
        return apply(op, x, **attributes)
    forward = modes.observer.on_op_enter(op, op.forward) if observed else op.forward
    y._array = forward(saved, x._array, **attributes)
    _share(op, x, (y,), attributes)
    if wanted:
        edge = (x._leaf_end or x._edge()) if x._node is None else (x._node, x._output_number)
        y._node, y._requires_grad = Node(op, saved, [edge]), True
    if observed and modes.observer is not None:
        modes.observer.on_op(op, saved, (x,), (x._array,), attributes, (y,))
    return y


def _run(op, inputs, attributes):
    """apply, where nothing is recorded: the way of generation, on which an operation costs little next to its kernel."""
    arrays = []
    for x in inputs:
        if x is None:
            arrays.append(None)
            continue
        array = x._array
        if (
            array.itemsize <= 2
            and array.dtype.kind in "fV"
            and not (op.data_movement or (op.supports_bf16 and array.dtype == BFLOAT16))
        ):
            return _in_float32(op, inputs, attributes)
        arrays.append(array)
    observer = modes.observer
    quiet, value = observer is None or observer is INFERENCE, op.value
    if quiet and value is not None:
        saved, made = _FORGOTTEN, value(*arrays, **attributes)
    else:
        saved = _new(Saved)
        saved.needs = _NO_NEEDS[len(arrays)]
        made = (op.forward if quiet else observer.on_op_enter(op, op.forward))(saved, *arrays, **attributes)
    if type(made) is ndarray:
        y = _new(Tensor)
        y._array = made
        if quiet and not op.view:
            if observer is not None:
                y._inference = True
            return y
        outputs = (y,)
    else:
        outputs = tuple(map(Tensor._of, made)) if type(made) is tuple else (Tensor._of(made),)
    if op.view and not (modes.inference and inputs[0]._inference):
        _share(op, inputs[0], outputs, attributes)
    if observer is not None:
        observer.on_op(op, saved, inputs, arrays, attributes, outputs)
    return outputs if type(made) is tuple else outputs[0]


def _in_float32(op, inputs, attributes):
    """apply for 16-bit floats where the operation does not take them: computed in float32, rounded once, gradients likewise."""
    narrow = next(x._array.dtype for x in inputs if x is not None and _is_half(x._array))
    if narrow.itemsize == 1:
        raise NotSupportedError(tr("\"{}\" not implemented for '{}'", op.name, narrow), "x.float(): 8-bit floats store numbers")
    given = [x for x in inputs if x is not None and x._array.dtype.kind in "fcV"]
    if any(x._array.dtype != narrow for x in given):  # for the operation to refuse, or to take
        op.of(*[None if x is None else x._array for x in inputs], **attributes)
    casting, modes.casting = modes.casting, None  # which would make them narrow again
    try:
        wide = [apply(Cast, x, dtype=_FLOAT32) if x is not None and _is_half(x._array) else x for x in inputs]
        made = apply(op, *wide, **attributes)
    finally:
        modes.casting = casting
    return tuple(_rounded(y, narrow) for y in made) if type(made) is tuple else _rounded(made, narrow)


_FLOAT32 = np.dtype(np.float32)


def _is_half(array) -> bool:
    return array.itemsize <= 2 and array.dtype.kind in "fV"


def _rounded(y: Tensor, kind) -> Tensor:
    return apply(Cast, y, dtype=kind) if y._array.dtype == _FLOAT32 else y


def record(op: Any, saved: Any, edges: Any, outputs: Any, inputs: Sequence[Tensor] | None = None, arrays: Any = ()) -> None:
    """Make the node of this run, the history of `outputs`, and note which tensors must not change before its backward.

    inputs: the tensors of `arrays`; None where the operation looks after its own, or saves shapes only.
    """
    node = Node(op, saved, edges, len(outputs))
    slot = 0
    for y in outputs:
        if y is not None and y._array.dtype.kind in "fcV" and not y._inference:  # bfloat16 is of kind V
            y._node, y._output_number, y._requires_grad = node, slot, True
        slot += 1
    if inputs is None and anywhere.has_observers and modes.observer is not None:
        modes.observer.on_node(node)
    if inputs is None or op.saves_no_tensors:
        return  # such as views, which save shapes
    kept, kept_for, needs = set(map(id, saved.__dict__.values())), op.kept_for, saved.needs
    watched: list = []
    for i, array in enumerate(arrays):
        if array is not None and id(array) in kept and (i not in kept_for or needs[kept_for[i]]):
            x = inputs[i]
            if x._inference:
                raise _inference_error(op)
            version = x._version_counter or x._watch()
            watched.append((version, version.count, i))
    for y in outputs:
        if id(y._array) in kept:
            version = y._version_counter or y._watch()
            watched.append((version, version.count, None))
    if watched:
        node.watched = watched
    if op.thins is not None and saved.needs[0] and not (anywhere.has_observers and modes.observer) and op.thins(saved):
        importlib.import_module("badak.autograd.again").thin(node, "x", 0)  # which adapters alone need


def _inference_error(op) -> GraphError:
    cause = tr("Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor and use "
               "it in autograd; {} needs one that was made in inference_mode()", op.name)  # fmt: skip
    return GraphError(cause, "x.clone() outside inference_mode() gives a tensor that can be used, or make it under no_grad()")


def _share(op, x: Tensor, outputs, attributes) -> None:
    """Tie views to the tensor whose memory they see."""
    array = x._array
    base, owner = x._whole, array.base
    if base is None:
        base = x
    elif x._made_at < base._reshaped_at:
        x._renew()
    if owner is None:
        owner = array
    slot = 0
    for y in outputs:
        seen = y._array
        if seen.base is owner or seen is array or seen.base is array or owner_of(seen) is owner:
            y._whole, y._made_at = base, base._rebased
            y._view_steps = (*x._view_steps, (op, attributes, slot))
            y._version_counter = x._version_counter
            if x._inference:
                y._inference = True
        slot += 1


IN_FUNCTION = object()  # the step of a view that a custom Function gave, in whose history no other may take part


def see_in_function(y: Tensor, x: Tensor, name: str, slot: int) -> None:
    """Note that y, which sees x's memory, came out of the custom Function of this name."""
    y._whole = x if x._whole is None else x._whole
    y._made_at, y._version_counter = y._whole._rebased, x._watch()
    y._view_steps = (*x._view_steps, (IN_FUNCTION, {"name": name}, slot))


def in_function(name: str, slot: int, what: str = "is being modified inplace") -> GraphError:
    """The complaint about a change of such a view."""
    return GraphError(
        tr("Output {} of {} is a view and {}. This view was created inside a custom Function (or because an input "
           "was returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated with "
           "the custom Function, leading to incorrect gradients. This behavior is forbidden.", slot, name, what),
        "clone the output of the custom Function",
    )  # fmt: skip


def of_pieces(name: str, slot: int, what: str = "is being modified inplace") -> GraphError:
    """The complaint about a change of one of several views that an operation gave."""
    return GraphError(
        tr("Output {} of {} is a view and {}. This view is the output of a function that returns multiple views. Such functions do "
           "not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
           slot, name.title(), what),
        "x[i], or x.narrow(...), which may be changed",
    )  # fmt: skip


def seen_again(base: Tensor, view: Tensor) -> Tensor:
    """A view of this base once more, as the base is now."""
    seen = base
    if view._made_at < base._reshaped_at:
        view._view_steps = _by_places(view, base)
    for op, attributes, slot in view._view_steps:
        if op is IN_FUNCTION:
            raise in_function(attributes["name"], slot, tr("its base or another view of its base has been modified inplace"))
        if op.pieces:
            raise of_pieces(op.name, slot, tr("its base or another view of its base has been modified inplace"))
        made = apply(op, seen, **attributes)
        seen = made[slot] if type(made) is tuple else made
    return seen


def _by_places(view: Tensor, base: Tensor) -> tuple:
    """The steps to a view that was made before its base took another shape in place: by where its numbers lie."""
    if any(op is IN_FUNCTION or op.pieces for op, _, _ in view._view_steps):
        return view._view_steps
    x, array = base._array, view._array
    if x.dtype != array.dtype:
        cause = tr("a view of another dtype was made before the tensor that it sees took another shape in place")
        raise GraphError(cause, "y = x.squeeze(...) in place of x.squeeze_(...)")
    places = {"size": array.shape, "stride": tuple(s // x.itemsize for s in array.strides)}
    return ((AsStrided, places | {"offset": (offset_of(array) - offset_of(x)) // x.itemsize}, 0),)


Tensor._seen_again = seen_again
