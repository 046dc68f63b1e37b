"""Hooks on what a graph saves: `pack` when a forward saves a tensor, `unpack` when its backward asks for it."""

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np

from badak.autograd.grad_mode import no_grad
from badak.core.errors import GraphError, StateError
from badak.core.events import Observer
from badak.core.modes import modes
from badak.ops.op import Saved
from badak.tensor import Tensor

_active: list["saved_tensors_hooks"] = []
_refused: list[str] = []


class _Packed(Saved):
    """What a forward saved, arrays in the form that pack gave them; each comes back when it is asked for."""

    __slots__ = ("_packed", "_unpack")

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" or name not in self._packed:
            raise AttributeError(name)
        return _array(self._unpack(self._packed[name]))


def _array(x: Any) -> np.ndarray:
    if not isinstance(x, Tensor):
        raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(x).__name__}")
    return x._array


class saved_tensors_hooks(Observer):  # noqa: N801  (PyTorch's name)
    """A block in which each tensor that is saved for a backward goes through `pack`; `unpack` of that gives it back then.

    pack_hook: a tensor -> anything. unpack_hook: that -> a tensor of the same values. Of nested blocks the innermost counts.

        with badak.autograd.graph.saved_tensors_hooks(lambda x: x.numpy().copy(), badak.from_numpy):
            loss = model(x)
    """

    eager = True

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        if _refused:
            raise StateError(_refused[-1], "leave the block in which saved tensors hooks are disabled")
        _active.append(self)
        return super().__enter__()

    def __exit__(self, *error) -> None:
        super().__exit__(*error)
        _active.remove(self)

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        node = outputs[0]._node
        if _active[-1] is not self or node is None or node.saved is not saved:
            return
        kept = vars(saved)
        known = {id(x._array): x for x in (*outputs, *(x for x in inputs if x is not None))}
        packed = {name: value for name, value in kept.items() if isinstance(value, np.ndarray) and value.dtype.kind in "fcV"}
        if not packed:
            return
        made = object.__new__(_Packed)
        made.needs = saved.needs
        vars(made).update({name: value for name, value in kept.items() if name not in packed})
        with no_grad(), _paused(self):
            made._packed = {name: _packed(self.pack_hook, _seen(known, value)) for name, value in packed.items()}
        made._unpack = self.unpack_hook
        node.saved = made
        if node.watched:
            apart = {id(value) for name, value in packed.items() if not _shares(made._packed[name], value)}
            own = [id(y._array) for y in outputs if any(y._array is value for value in packed.values())]
            held = {None: all(each in apart for each in own)} | {i: id(array) in apart for i, array in enumerate(arrays)}
            node.watched = [entry for entry in node.watched if not held[entry[2]]]


def _packed(pack_hook: Callable, x: Tensor) -> Any:
    """What the hook makes of x. Raises GraphError where it changes x."""
    version = x._version
    made = pack_hook(x)
    if x._version != version:
        raise GraphError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified "
            "by in-place operations as this can lead to unexpected side-effects.",
            "return x + 1 rather than x += 1",
        )
    return made


def _seen(known: dict[int, Tensor], array: np.ndarray) -> Tensor:
    """The saved array as the program knows it: without a graph, but of a leaf the leaf itself."""
    x = known.get(id(array))
    return Tensor._of(array) if x is None else x if x._node is None else x.detach()


def _shares(packed: Any, array: np.ndarray) -> bool:
    """Whether what pack made of an array lies in its memory, so that a change of that would be a change of this."""
    if isinstance(packed, tuple | list):
        return any(_shares(each, array) for each in packed)
    held = packed._array if isinstance(packed, Tensor) else packed
    return isinstance(held, np.ndarray) and np.may_share_memory(held, array)


@contextmanager
def _paused(observer: Observer):
    """What a hook computes is not packed in turn."""
    before, modes.observer = modes.observer, None
    try:
        yield
    finally:
        modes.observer = before


def packed_all(tensors: tuple) -> tuple[tuple, Callable | None, tuple]:
    """What a Function saves, packed where there are hooks; what gives it back; and the tensors that must not change before."""
    if not _active:
        return tensors, None, tuple(t for t in tensors if isinstance(t, Tensor))
    hooks, there = _active[-1], [isinstance(t, Tensor) for t in tensors]
    with no_grad(), _paused(hooks):
        seen = [t.detach() if is_tensor and t._node is not None else t for t, is_tensor in zip(tensors, there)]
        packed = tuple(_packed(hooks.pack_hook, t) if is_tensor else None for t, is_tensor in zip(seen, there))

    def unpack(kept: tuple) -> tuple:
        return tuple(hooks.unpack_hook(each) if is_tensor else None for each, is_tensor in zip(kept, there))

    return packed, unpack, tuple(t for t, p, is_tensor in zip(tensors, packed, there) if is_tensor and _shares(p, t._array))
