"""Hooks on what a graph saves: `pack` when a forward saves a tensor, `unpack` when its backward asks for it."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from badak.autograd.grad_mode import no_grad
from badak.core import events
from badak.core.errors import ArgumentTypeError, GraphError, StateError, tr
from badak.core.events import Observer
from badak.core.modes import modes
from badak.ops.op import Saved
from badak.tensor import Tensor

_active: list["saved_tensors_hooks"] = []
_refused: list[str] = []
events.for_all(globals(), "_refused")
HOOKED = tr("what is saved for backward has a hook")


class _Packed(Saved):
    """What a forward saved, arrays in the form that pack gave them; each comes back when it is asked for."""

    __slots__ = ("_packed", "__weakref__")

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" or name not in self._packed:
            raise AttributeError(name)
        return self._packed[name].open()._array


class _Held(NamedTuple):
    """What a hook made of a tensor, and the hook that makes the tensor of it again."""

    packed: Any
    unpack: Callable[[Any], Tensor]

    def open(self) -> Tensor:
        made = self.unpack(self.packed)
        if not isinstance(made, Tensor):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(made).__name__}"
            )
        return made


class SavedTensor:
    """A tensor that an operation has saved, as in y.grad_fn._raw_saved_self: hooks of its own pack and unpack it.

    Programs are given them. look: what is saved, where it is None or what hooks have made of it; and pack: what puts such in its
    place.
    """

    def __init__(self, look: Callable[[], Any] | None = None, pack: Callable[[Callable, Callable], None] | None = None) -> None:
        if look is None or pack is None:
            raise StateError("Trying to create a SavedTensor object from Python is forbidden.", "y.grad_fn._raw_saved_self")
        self._look, self._pack = look, pack

    def register_hooks(self, *hooks: Callable) -> None:
        """Call pack_hook(tensor) now, and unpack_hook(what it gave) when the backward asks for the tensor.

        Args:
            *hooks: pack_hook and unpack_hook

        Raises:
            StateError: for None, and for a tensor that has hooks
            GraphError: where pack_hook changes the tensor
        """
        if len(hooks) != 2 or not all(map(callable, hooks)):
            cause = tr("register_hooks(): incompatible function arguments: expected pack_hook and unpack_hook")
            raise ArgumentTypeError(cause, "register_hooks(pack, unpack)")
        held = self._look()
        if held is None:
            raise StateError("Calling register_hooks on a saved tensor with value None is forbidden", "a tensor that is not None")
        if type(held) is _Held:
            raise StateError("SavedTensor hooks have already been set", "one pair of hooks for a saved tensor")
        self._pack(*hooks)


def saved_by(node: Any, name: str, place: int | None, seen: Tensor) -> SavedTensor:
    """The array that a node has saved by this name. place: the number of the input that it is; seen: its tensor."""

    def look() -> Any:
        node.check()
        return node.saved._packed.get(name, True) if type(node.saved) is _Packed else True

    def pack(pack_hook: Callable, unpack_hook: Callable) -> None:
        before = node.saved
        value = getattr(before, name)
        with no_grad():
            packed = _packed(pack_hook, seen if seen._node is None else seen.detach())
        kept = dict(before._packed) if type(before) is _Packed else {}
        node.saved = _in_hands(before, kept | {name: _Held(packed, unpack_hook)})
        if node.watched and not _shares(packed, value):
            node.watched = [entry for entry in node.watched if entry[2] != place]

    return SavedTensor(look, pack)


def saved_in(ctx: Any) -> tuple[SavedTensor, ...]:
    """The tensors that a Function has saved."""

    def pack(i: int, pack_hook: Callable, unpack_hook: Callable) -> None:
        x = ctx._saved[i]
        with no_grad():
            packed = _packed(pack_hook, x if x._node is None else x.detach())
        ctx._saved = (*ctx._saved[:i], _Held(packed, unpack_hook), *ctx._saved[i + 1 :])

    def look(i: int) -> Any:
        return ctx._saved[i]

    return tuple(SavedTensor(partial(look, i), partial(pack, i)) for i in range(len(ctx._saved)))


def opened(saved: tuple) -> tuple:
    """The tensors of a Function, each of which a hook may have packed."""
    return tuple(each.open() if type(each) is _Held else each for each in saved)


def _in_hands(saved: Saved, held: dict[str, _Held]) -> _Packed:
    """The same with some arrays in the form that hooks gave them."""
    made = object.__new__(_Packed)
    made.needs = saved.needs
    vars(made).update({name: value for name, value in vars(saved).items() if name not in held})
    made._packed = held
    return made


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

    def on_op(
        self, op: Any, saved: Saved, inputs: Sequence[Tensor], arrays: list, attributes: dict, outputs: Sequence[Tensor]
    ) -> None:
        node = outputs[0]._node
        if _active[-1] is not self or node is None or node.saved is not saved:
            return
        kept = vars(saved)
        known = {id(x._array): x for x in (*outputs, *(x for x in inputs if x is not None))}
        packed = {name: value for name, value in kept.items() if isinstance(value, np.ndarray) and value.dtype.kind in "fcV"}
        if not packed:
            return
        with no_grad(), _paused():
            held = {name: _Held(_packed(self.pack_hook, _seen(known, value)), self.unpack_hook) for name, value in packed.items()}
        node.saved = _in_hands(saved, held)
        if node.watched:
            apart = {id(value) for name, value in packed.items() if not _shares(held[name].packed, value)}
            own = [id(y._array) for y in outputs if any(y._array is value for value in packed.values())]
            gone = {None: all(each in apart for each in own)} | {i: id(array) in apart for i, array in enumerate(arrays)}
            node.watched = [entry for entry in node.watched if not gone[entry[2]]]


def _packed(pack_hook: Callable, x: Tensor) -> Any:
    """What the hook makes of x. Raises GraphError where it changes x."""
    events.user_code(HOOKED)
    version = x._watch().count
    made = pack_hook(x)
    if x._watch().count != version:
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
def _paused():
    """What a hook computes is not packed in turn, nor told."""
    events.user_code(HOOKED)
    before, modes.observer = modes.observer, None
    try:
        yield
    finally:
        modes.observer = before


def packed_all(tensors: tuple) -> tuple[tuple, tuple]:
    """What a Function saves, packed where there are hooks, and the tensors that must not change before it is opened."""
    if not _active:
        return tensors, tuple(t for t in tensors if isinstance(t, Tensor))
    hooks, there = _active[-1], [isinstance(t, Tensor) for t in tensors]
    with no_grad(), _paused():
        seen = [t.detach() if is_tensor and t._node is not None else t for t, is_tensor in zip(tensors, there)]
        packed = [_Held(_packed(hooks.pack_hook, t), hooks.unpack_hook) if is_tensor else None for t, is_tensor in zip(seen, there)]
    return tuple(packed), tuple(t for t, held in zip(tensors, packed) if held is not None and _shares(held.packed, t._array))
