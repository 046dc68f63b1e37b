"""Tensor: an array, and where it came from.

This file holds what a tensor *is*: its state, in one block. What it can *do* stands in the files next to this one.
`properties.py` is what it says of itself, `history.py` its place in the graph and its gradient, `values.py` how its values get out
to Python and NumPy, each of them on the one before, whose words it uses: history asks for sizes and dtype, a value that goes out
whether a gradient is wanted. Each family of functions has a file of its own, and `methods.py` binds them here.
"""

import importlib
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from badak.autograd.node import Leaf, Node, Version
from badak.core.errors import ArgumentTypeError, GraphError, tr
from badak.core.memory import copied_with_others
from badak.core.modes import modes
from badak.core.public_api import absent_attribute, overriding
from badak.tensor import dtypes
from badak.tensor.attributes import Attributes, held_by, show_own_dict, slots_of, state_of
from badak.tensor.batched import Batched
from badak.tensor.meta_storage import description
from badak.tensor.values import Values
from badak.tensor.wrapped import Wrapped

_new = object.__new__


class Tensor(Values):
    """An n-dimensional array that can be differentiated through, with PyTorch's API.

    `Tensor(2, 3)` makes an uninitialised float32 tensor of that shape, `Tensor([2, 3])` one of those values (PyTorch's
    legacy constructor); `badak.tensor(data)` is the usual way in.
    """

    _array: np.ndarray  # the values; also a single one is an array, of shape ()
    _described: Any = None  # of a tensor on the meta device, which has no _array: its shape, dtype and strides

    # What follows has its default here, on the class: most tensors never need more.

    # Where it came from, as long as gradients are wanted
    _requires_grad: bool = False  # for a view ask `requires_grad`, which looks at its base first
    _node: Node | None = None  # the run of the operation that made it; None for a leaf
    _output_number: int = 0  # which of the outputs of that run it is

    # Its gradient
    _grad: "Tensor | None" = None  # what `.grad` shows
    _leaf_end: tuple[Leaf, int] | None = None  # of a leaf: where its gradient arrives; made when first asked for
    _kept_by: object = None  # what its hook knows it by, where it keeps .grad although it is no leaf
    _backward_hooks_after: dict[int, Callable] | None = None  # of a leaf: called after .grad was added to

    # Whose memory it sees
    _version_counter: Version | None = None  # counts in-place changes, one for all who see the memory; made when first asked for
    _whole: "Tensor | None" = None  # of a view: the tensor whose memory it sees
    _view_steps: tuple = ()  # of a view: the view operations that lead there from its base: (op, attributes, output number)
    _seen_again: ClassVar[Callable[..., "Tensor"]]  # takes such steps once more (bound by `apply.py`)
    _rebased: int = 0  # of a base: how often in-place changes have rewritten the history of its memory
    _reshaped_at: int = 0  # of a base: which of these rewritings gave it another shape last
    _made_at: int = 0  # of a view: which of these rewritings its own history belongs to

    # How it was made
    _inference: bool = False  # under inference_mode(): it never joins a graph

    __array_priority__ = 1000  # NumPy on the left defers to us

    def __new__(cls, *data, device=None):
        dtypes.check_device(device)
        if len(data) == 1 and isinstance(data[0], Tensor):  # as in PyTorch: the same memory and history
            return data[0].as_subclass(cls)
        if len(data) == 1 and not isinstance(data[0], int):
            values = data[0]
            if isinstance(values, dtypes.Size):
                values = np.empty(values, np.float32)
            return cls._of(np.array(values, dtypes.default_dtype().numpy), cls)
        return cls._of(np.empty(data or 0, dtypes.default_dtype().numpy), cls)

    @classmethod
    def _of(cls, array, kind=None) -> "Tensor":
        """A tensor around this very array, with no history."""
        if type(array) is Wrapped and array.of is not None:
            return array.of
        tensor = _new(kind or Tensor)
        tensor._array = array if type(array) is np.ndarray or type(array) is Batched else np.asarray(array)
        return tensor

    @classmethod
    def _fresh(cls, array) -> "Tensor":
        """A tensor of numbers that no operation made; those that are made in inference mode are of it."""
        tensor = cls._of(array)
        if modes.inference:
            tensor._inference = True
        return tensor

    @classmethod
    def _like_meta(cls, description: np.ndarray, kind=None) -> "Tensor":
        """A tensor on the meta device of this shape, dtype and strides."""
        tensor = _new(kind or Tensor)
        tensor._described = description
        return tensor

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.partition(".")[0] == "badak":
            cls._is_badaks = True
        else:
            overriding.add(cls)
            overriding.ask_for_attributes(cls, Tensor)
        show_own_dict(cls, Tensor)

    _is_badaks: ClassVar[bool]  # whether the class is Tensor or Parameter, and none that a program derives

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """What is done for a derived class: what is done for tensors, and the results are of that class."""
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        if overriding.state.without_classes:  # badak asks nobody here: it is PyTorch that was given badak's tensors
            name = getattr(func, "__name__", func)
            cause = tr("{} of PyTorch was given tensors of badak", name)
            raise ArgumentTypeError(cause, tr("badak's {}, or torch.from_numpy(x.numpy())", name))
        before, overriding.state.without_classes = overriding.state.without_classes, True
        try:
            made = func(*args, **(kwargs or {}))
        finally:
            overriding.state.without_classes = before
        return made if func in (Tensor.grad.__get__, Tensor._base.__get__) else _as_kind(made, cls)

    def as_subclass(self, cls: type) -> "Tensor":
        """This tensor as one of a derived class: the same memory and history."""
        if not (isinstance(cls, type) and issubclass(cls, Tensor)):
            raise ArgumentTypeError(tr("as_subclass: cls must be a class that derives from Tensor; got {!r}", cls), "a class")
        before, overriding.state.without_classes = overriding.state.without_classes, True
        try:  # its own class would give the view what it gives to results
            seen = self.view(self.shape)
        finally:
            overriding.state.without_classes = before
        return _of_class(seen, cls)

    @staticmethod
    def _make_subclass(cls, data: "Tensor", require_grad: bool = False, **ignored: object) -> "Tensor":
        """A leaf of a derived class with the memory of `data`."""
        return _of_class(data.detach(), cls).requires_grad_(require_grad)

    @staticmethod
    def _make_wrapper_subclass(
        cls, size, *, strides=None, storage_offset=None, memory_format=None, dtype=None, layout=None, device=None,
        pin_memory=False, requires_grad=False, dispatch_sizes_strides_policy=None, **ignored: object,
    ) -> "Tensor":  # fmt: skip
        """A tensor of a derived class that has sizes and no memory: what is done to it goes to the class's __torch_dispatch__."""
        how = importlib.import_module("badak.compat.torch.wrapper")
        place = size, strides, storage_offset, memory_format
        return how.make(cls, *place, dtype, layout, device, requires_grad, dispatch_sizes_strides_policy)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        """What is done for a wrapper whose class leaves it to badak: its sizes are all that there is."""
        return importlib.import_module("badak.compat.torch.wrapper")._disabled_torch_dispatch_impl(func, types, args, kwargs)

    def __hash__(self) -> int:
        return id(self)  # == compares element by element, so a tensor as a key of a dict is this very one

    def __deepcopy__(self, memo):
        if self._node is not None:
            cause = tr("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.")
            raise GraphError(cause, "copy x.detach() instead")
        if id(self) in memo:
            return memo[id(self)]
        if self._described is None and type(self._array) is Wrapped:
            before, modes.grad = modes.grad, False
            try:
                twin = self.clone()
            finally:
                modes.grad = before
            if type(twin) is not type(self):
                cause = tr("The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that "
                           "properly implement clone(); got {} of a {}", type(twin).__name__, type(self).__name__)  # fmt: skip
                raise ArgumentTypeError(cause, "a clone in its __torch_dispatch__, or a __deepcopy__ of its own")
        elif self._described is None:
            twin = Tensor._of(copied_with_others(self._array, memo), type(self))
        else:
            twin = Tensor._like_meta(self._described, type(self))
        twin._requires_grad = self._requires_grad
        if self._grad is not None:
            kept = self._grad.is_sparse or type(self._grad) is not Tensor
            twin._grad = deepcopy(self._grad) if kept else Tensor._of(self._grad._array.copy("K"))
        memo[id(self)] = twin
        vars(twin).update(deepcopy(dict(vars(self)), memo))
        for name, value in slots_of(self).items():
            setattr(twin, name, deepcopy(value, memo))
        return twin

    def __reduce_ex__(self, protocol):
        if self._described is not None:
            made = (type(self), self._described.shape, self.dtype, self._described.strides, self._requires_grad)
            return _with_state(_rebuild_meta, made, state_of(self))
        if type(self._array) is Wrapped:
            like = self._array
            made = (type(self), self.dtype, tuple(like.shape), self.stride(), like.offset, self.device, self.requires_grad)
            return _with_state(_rebuild_wrapper, made, state_of(self))
        kind = None if type(self) is Tensor else type(self)  # its own name depends on the program
        return _with_state(_rebuild, (kind, self._array, self._requires_grad), state_of(self))

    def __setstate__(self, state):
        attributes, slots = state if type(state) is tuple else (state, {})
        vars(self).update(attributes)
        for name, value in slots.items():
            setattr(self, name, value)

    @property
    def __dict__(self):  # type: ignore[override]
        return Attributes(held_by(self), STATE)

    @__dict__.setter
    def __dict__(self, attributes):  # as a class does that gives a result what its input has: y.__dict__ = x.__dict__
        own, new = vars(self), dict(attributes)
        own.clear()
        own.update(new)

    if not TYPE_CHECKING:  # type checkers know from `interface.pyi` what there is

        def __getattr__(self, name: str):
            # Reached only for what a tensor has not.
            if name == "_array":
                raise dtypes.on_meta()
            raise absent_attribute("Tensor", name, self)


def _of_class(seen: Tensor, cls: type) -> Tensor:
    """A tensor that nobody else has yet as one of a derived class, which may have slots."""
    try:
        seen.__class__ = cls
        return seen
    except TypeError:
        made: Tensor = object.__new__(cls)
        held_by(made).update(held_by(seen))
        return made


def _as_kind(made: Any, cls: type) -> Any:
    """The tensors among results as ones of a derived class."""
    if cls is Tensor or made is NotImplemented:
        return made
    if isinstance(made, Tensor) and not isinstance(made, cls):
        return made.as_subclass(cls)
    if type(made) in (list, tuple):
        return type(made)(_as_kind(each, cls) for each in made)
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        return type(made)(*(_as_kind(each, cls) for each in made))
    return made


Tensor._is_badaks = True
STATE = frozenset(Tensor.__annotations__) - {"_is_badaks"}  # by name, what vars(tensor) keeps to itself


def _with_state(rebuild, made: tuple, state) -> tuple:
    """What a pickle holds: a function and its arguments, two things as in PyTorch, of which derived classes make two others."""
    return (rebuild, made) if state is None else (_rebuild_with_state, (rebuild, made, state))


def _rebuild_with_state(rebuild, made: tuple, state) -> Tensor:
    again = rebuild(*made)
    again.__setstate__(state)
    return again


def _rebuild_meta(kind, shape, dtype, strides, requires_grad: bool) -> Tensor:
    tensor = Tensor._like_meta(description(shape, dtype.numpy, strides), kind)
    tensor._requires_grad = requires_grad
    return tensor


def _rebuild_wrapper(kind, dtype, size, strides, offset, device, requires_grad: bool) -> Tensor:
    place = {"strides": strides, "storage_offset": offset, "device": device}
    return Tensor._make_wrapper_subclass(kind, size, dtype=dtype, requires_grad=requires_grad, **place)


def _rebuild(kind, array, requires_grad: bool) -> Tensor:
    tensor = Tensor._of(array, kind)
    tensor._requires_grad = requires_grad
    return tensor
