"""What a forward has left for its backward, as functions of its inputs."""

import inspect
from functools import cache
from typing import Any

import numpy as np

from badak.autograd.node import Leaf, Node
from badak.ops.op import NotRecordable
from badak.tensor.double_backward.array import Recorded
from badak.tensor.tensor import Tensor


class SavedAgain:
    """As Saved, its float arrays recorded: an input or an output with its history, or computed from these."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.needs = node.saved.needs

    def array(self, name: str) -> Any:
        """The attribute as the forward has left it."""
        return getattr(self._node.saved, name)

    def __getattr__(self, name: str) -> Any:
        value, op = self.array(name), self._node.op
        if name in op.saved_functions and isinstance(value, np.ndarray | np.generic):
            made = op.saved_functions[name](self)
        else:
            made = self._with_history(name, value)
        setattr(self, name, made)
        return made

    def _with_history(self, name: str, value):
        op = self._node.op
        if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind in "biu" or name in op.saved_constants:
            return value  # a size, a mask, an index; a number of NumPy's is the value of an array of shape ()
        place = _parameters(op).get(name)
        if place is not None:
            return self.given(place, value) if place < len(self._node.edges) else value
        if name in op.saved_outputs:
            return Recorded(joined(Tensor._of(value), (self._node, op.saved_outputs[name])))
        raise NotRecordable(f"its {name}")

    def given(self, place: int, value: Any) -> Recorded:
        """The value with the history of the input at this place."""
        tensor = joined(Tensor._of(value), self._node.edges[place])
        for version, _, number in self._node.watched or ():
            if number == place:
                tensor._version_counter = version
        return Recorded(tensor)


@cache
def _parameters(op) -> dict[str, int]:
    """The names of forward's arrays, and their places among the inputs."""
    names = list(inspect.signature(op.forward).parameters)[1:]
    return {name: place for place, name in enumerate(names)}


def joined(tensor: Tensor, edge: Any) -> Tensor:
    """The tensor, new and without a history, whose gradient goes along this edge from now on, if there is one."""
    if edge is not None:
        tensor._requires_grad = True
        if type(edge[0]) is Leaf:
            tensor._leaf_end = edge
        else:
            tensor._node, tensor._output_number = edge
    return tensor
