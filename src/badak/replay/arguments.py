"""What goes into a recorded step and what comes out of it."""

import copy
import weakref
from typing import Any

import numpy as np

from badak.graph import Node, changes, modes
from badak.replay.entries import results_in
from badak.replay.recorder import LIVE_GRAPH, Recorder
from badak.tensor import Tensor

_SCATTERED = 1 << 20  # bytes that an argument may reach over without filling an eighth of them
_NUMBERS = (int, float, bool, str, type(None))


class Arguments:
    """The arguments of a call: the tensors among them, and a key that says what they are apart from the tensors' values.

    A tensor that requires a gradient, a module and any other object is part of the key as the very object that it is.
    """

    def __init__(self, args, kwargs):
        self.tensors: list[Tensor] = []
        self.args, self.kwargs = args, kwargs
        self.simple = not kwargs and all(_varies(x) for x in args)
        self.key = self._key(args), self._key(kwargs), modes.grad, modes.inference, changes.modes

    def _key(self, value) -> Any:
        kind = type(value)
        if _varies(value):
            self.tensors.append(value)
            array = value._array
            flags = array.flags
            return array.shape, array.dtype, None if flags.c_contiguous else array.strides, flags.writeable
        if kind is tuple or kind is list or _has_fields(value):
            return kind, tuple([self._key(part) for part in value])
        if kind is dict:
            return kind, tuple([(name, self._key(part)) for name, part in value.items()])
        if kind is float:
            return kind, value.hex()  # which tells 0.0 from -0.0, and knows nan
        if kind in _NUMBERS:
            return kind, value
        return kind, id(value), _Itself(value)

    def on(self, tensors):
        """(args, kwargs) with these tensors in the places of the others."""
        waiting = iter(tensors)
        return _replaced(self.args, waiting), _replaced(self.kwargs, waiting)


class _Itself:
    """An object, equal to itself alone. It is kept only where it cannot be watched: it may hold a whole batch."""

    def __init__(self, thing):
        try:
            self.thing = weakref.ref(thing)
        except TypeError:
            self.thing = lambda: thing

    def __eq__(self, other):
        thing = self.thing()
        return thing is not None and thing is other.thing()

    def __hash__(self):
        return 0


def _varies(value) -> bool:
    """Whether an argument is a tensor that may have other values in the next call."""
    return type(value) is Tensor and not value.requires_grad


def room_for(array):
    """New memory with the shape and the strides of an array, in whose order NumPy sums; None where it is scattered too far."""
    if array.flags.c_contiguous:
        return np.empty(array.shape, array.dtype)
    reach = sum((size - 1) * stride for size, stride in zip(array.shape, array.strides)) + array.itemsize
    if reach > max(8 * array.nbytes, _SCATTERED):
        return None
    return np.ndarray(array.shape, array.dtype, np.empty(reach, np.uint8), 0, array.strides)


def shown(memory, array) -> Tensor:
    """A tensor of this memory that may be written to where `array` may."""
    if not array.flags.writeable:
        memory = memory.view()
        memory.flags.writeable = False
    return Tensor._of(memory)


def state_of(x: Tensor) -> tuple:
    """What a step may change of an argument."""
    return x._array.tobytes(), id(x._array), x._version, x.requires_grad, id(x._grad)


def _has_fields(value) -> bool:
    """Whether it is a named tuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _replaced(value, waiting):
    kind = type(value)
    if _varies(value):
        return next(waiting)
    if kind is tuple or kind is list:
        return kind([_replaced(part, waiting) for part in value])
    if _has_fields(value):
        return kind(*[_replaced(part, waiting) for part in value])
    if kind is dict:
        return {name: _replaced(part, waiting) for name, part in value.items()}
    return value


class Results:
    """What the step returned: tensors, which are copied out after every replay, and what is not a tensor."""

    def __init__(self, result, recorder: Recorder):
        self.result, self.inference = result, modes.inference
        self._made: dict = {}  # id of a tensor of the result: its copy, while one result is made
        recorder.words.append(("result", self._described(result, recorder)))

    def _described(self, value, recorder: Recorder):
        if isinstance(value, Tensor):
            if type(value) is not Tensor:
                recorder.refuse("it returns a parameter")
            if value.requires_grad and (value._node is None or value._node.saved is not None):
                recorder.refuse(LIVE_GRAPH)
            return recorder.origins.describe(value._array), value._requires_grad
        if isinstance(value, tuple | list):
            return type(value), [self._described(part, recorder) for part in value]
        if isinstance(value, dict):
            return type(value), [(name, self._described(part, recorder)) for name, part in value.items()]
        return recorder.origins.describe(value)

    def arrays(self) -> list:
        """The arrays of its tensors."""
        return results_in(self.result)

    def fresh(self):
        """The result, its tensors in memory of their own."""
        if type(self.result) is Tensor:
            return self._copy(self.result)
        self._made.clear()
        return self._fresh(self.result)

    def _copy(self, value: Tensor) -> Tensor:
        made = Tensor._of(value._array.copy(order="K"))
        if value._requires_grad:  # as after a backward: its graph is spent
            made._requires_grad, made._node = True, Node(value._node.op, None, [], value._node.slots)  # type: ignore[union-attr]
        if self.inference:
            made._inference = True
        return made

    def _fresh(self, value):
        if isinstance(value, Tensor):
            made = self._made.get(id(value))
            if made is None:
                made = self._made[id(value)] = self._copy(value)
            return made
        if _has_fields(value):
            return type(value)(*map(self._fresh, value))
        if isinstance(value, tuple | list):
            return type(value)(map(self._fresh, value))
        if isinstance(value, dict):
            made = copy.copy(value) if type(value) is not dict else {}
            made.update((name, self._fresh(part)) for name, part in value.items())
            return made
        return value
