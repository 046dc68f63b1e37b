"""What goes into a recorded step and what comes out of it."""

from typing import Any

from ..graph import Node, changes, modes
from ..tensor import Tensor
from .entries import results_in
from .recorder import LIVE_GRAPH, Recorder

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
            return value._array.shape, value._array.dtype
        if kind is tuple or kind is list:
            return kind, tuple([self._key(part) for part in value])
        if kind is dict:
            return kind, tuple([(name, self._key(part)) for name, part in value.items()])
        if kind in _NUMBERS:
            return kind, value
        return kind, id(value), _Alive(value)

    def on(self, tensors):
        """(args, kwargs) with these tensors in the places of the others."""
        waiting = iter(tensors)
        return _replaced(self.args, waiting), _replaced(self.kwargs, waiting)


class _Alive:
    """Keeps an object as long as its id stands in a key; equal to any other."""

    def __init__(self, thing):
        self.thing = thing

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def _varies(value) -> bool:
    """Whether an argument is a tensor that may have other values in the next call."""
    return type(value) is Tensor and not value._requires_grad


def _replaced(value, waiting):
    kind = type(value)
    if _varies(value):
        return next(waiting)
    if kind is tuple or kind is list:
        return kind([_replaced(part, waiting) for part in value])
    if kind is dict:
        return {name: _replaced(part, waiting) for name, part in value.items()}
    return value


class Results:
    """What the step returned: tensors, which are copied out after every replay, and what is not a tensor."""

    def __init__(self, result, recorder: Recorder):
        self.result, self.inference = result, modes.inference
        recorder.words.append(("result", self._described(result, recorder)))

    def _described(self, value, recorder: Recorder):
        if isinstance(value, Tensor):
            if value._requires_grad and (value._node is None or value._node.saved is not None):
                recorder.refuse(LIVE_GRAPH)
            return recorder.origins.describe(value._array), value._requires_grad
        if isinstance(value, tuple | list):
            return type(value), [self._described(part, recorder) for part in value]
        if isinstance(value, dict):
            return [(name, self._described(part, recorder)) for name, part in value.items()]
        return recorder.origins.describe(value)

    def arrays(self) -> list:
        """The arrays of its tensors."""
        return results_in(self.result)

    def fresh(self):
        """The result, its tensors in memory of their own."""
        return self._fresh(self.result)

    def _fresh(self, value):
        if isinstance(value, Tensor):
            copy = Tensor._of(value._array.copy())
            if value._requires_grad:  # as after a backward: its graph is spent
                copy._requires_grad, copy._node = True, Node(value._node.op, None, [], value._node.slots)
            if self.inference:
                copy._inference = True
            return copy
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self._fresh, value))
        if isinstance(value, tuple | list):
            return type(value)(map(self._fresh, value))
        if isinstance(value, dict):
            return {name: self._fresh(part) for name, part in value.items()}
        return value
