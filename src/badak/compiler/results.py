"""What comes out of a recorded step."""

import copy

from badak.autograd.node import Node
from badak.compiler.arguments import room_for
from badak.compiler.capture import WAITS, Recorder
from badak.compiler.entries import results_in
from badak.core.errors import tr
from badak.core.modes import modes
from badak.tensor import Tensor
from badak.tensor.layouts import strided


class Results:
    """What the step returned: tensors, which are copied out after every replay, and what is not a tensor."""

    def __init__(self, result, recorder: Recorder, inputs=()):
        self.result, self.inference = result, modes.inference
        self._inputs = {id(x): number for number, x in enumerate(inputs)}  # what is handed back is the caller's own
        self._copies: dict = {}  # id of a tensor of the result: its copy, while one result is handed out
        recorder.trace.append(("result", self._described(result, recorder)))

    def _described(self, value, recorder: Recorder):
        if isinstance(value, Tensor):
            if value.layout is not strided:
                recorder.refuse(tr("it returns a sparse tensor"))
                return None
            if type(value) is not Tensor:
                recorder.refuse(tr("it returns a parameter"))
            if room_for(value._array) is None:
                recorder.refuse(tr("its result is scattered over much memory"))
            node = value._node
            if value.requires_grad and (node is None or not (node.spent or node.saved is None)):
                recorder.refuse(WAITS)
            return recorder.origins.describe(value._array), value._requires_grad
        if isinstance(value, tuple | list):
            return type(value), [self._described(part, recorder) for part in value]
        if isinstance(value, dict):
            return type(value), [(name, self._described(part, recorder)) for name, part in value.items()]
        return recorder.origins.describe(value)

    def arrays(self) -> list:
        """The arrays of its tensors."""
        return results_in(self.result)

    def hand_out(self, tensors):
        """The result, its tensors in memory of their own. tensors: the arguments of the call."""
        if type(self.result) is Tensor and not self._inputs:
            return self._copy(self.result)
        self._copies.clear()
        self._copies.update((key, tensors[number]) for key, number in self._inputs.items())
        return self._handed(self.result)

    def _copy(self, value: Tensor) -> Tensor:
        array = value._array.copy(order="K")
        if array.strides != value._array.strides:  # the result has gaps, or is one number seen as many
            array = room_for(value._array)
            array[...] = value._array
            array.flags.writeable = value._array.flags.writeable
        made = Tensor._of(array)
        if value._requires_grad:  # as after a backward: its graph is spent
            made._requires_grad, made._node = True, Node(value._node.op, None, [], value._node.slots)  # type: ignore[union-attr]
        if self.inference:
            made._inference = True
        return made

    def _handed(self, value):
        if isinstance(value, Tensor):
            made = self._copies.get(id(value))
            if made is None:
                made = self._copies[id(value)] = self._copy(value)
            return made
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self._handed, value))
        if isinstance(value, tuple | list):
            return type(value)(map(self._handed, value))
        if isinstance(value, dict):
            made = copy.copy(value) if type(value) is not dict else {}
            for name, part in value.items():  # one by one: a dict that is also a dataclass keeps its fields so
                made[name] = self._handed(part)
            return made
        return value
