"""What comes out of a recorded step.

A caller may change what it is given. What it shares then with the caller's arguments, with the program's tensors, with a .grad,
and with other results, it shares after a replay, too.
"""

import copy
from typing import NamedTuple

import numpy as np

from badak.autograd.node import Node
from badak.compiler.arguments import room_for, see
from badak.compiler.capture import WAITS, Recorder
from badak.compiler.entries import results_in
from badak.core.errors import tr
from badak.core.memory import address, lies_in, reach
from badak.tensor import Tensor
from badak.tensor.layouts import strided


class _Within(NamedTuple):
    """Where a result lies: so many bytes behind the start of an argument, of a leaf's .grad, or of memory that results share.

    offset: None where the result is that .grad itself.
    """

    whole: object  # the number of the argument, the leaf, or a `_Shared`
    offset: int | None


class _Shared:
    """Memory that several results see a part of."""

    def __init__(self, values: list[Tensor]):
        bounds = [np.lib.array_utils.byte_bounds(value._array) for value in values]
        self.low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
        self.__array_interface__ = {"data": (self.low, True), "shape": (high - self.low,), "typestr": "|u1", "version": 3}

    def copied(self) -> Tensor:
        """The bytes as they are now, in memory of their own."""
        return Tensor._of(np.array(self))


class Results:
    """What the step returned: tensors, which are copied out after every replay, and what is not a tensor.

    inputs: the twins of the caller's tensors; containers: those of its lists and dicts.
    """

    def __init__(self, result, recorder: Recorder, inputs=(), containers=()):
        self.result = result
        self._inputs = {id(x): number for number, x in enumerate(inputs)}  # what is handed back is the caller's own
        self._containers = {id(x) for x in containers}
        self._same: set[int] = set()  # ids of what was there before the step
        self._aliases: set[int] = set()  # ids of tensors on the program's memory
        self._within: dict[int, _Within] = {}  # by the id of a tensor
        self._made: dict = {}  # number of memory: the tensors of the result that see it
        self._views: list[Tensor] = []
        self._bases: dict[int, Tensor] = {}  # by the id of a view: the tensor of whose memory it shows a part
        self._handed_out: dict = {}  # while one result is handed out: what stands for a tensor, by its id, or for a `_Shared`
        recorder.trace.append(("result", self._described(result, recorder)))
        if not recorder.trouble:
            for value in self._views:
                self._find_base(value, recorder)
            self._share(recorder)
        others = (self._inputs, self._same, self._aliases, self._within, self._bases)
        self._plain = type(result) is Tensor and not any(id(result) in each for each in others)

    def _described(self, value, recorder: Recorder):
        if isinstance(value, Tensor):
            return self._described_tensor(value, recorder)
        if isinstance(value, list | dict) and id(value) in self._containers:
            recorder.refuse(tr("it returns a {} that it was given", type(value).__name__))
        if isinstance(value, list | dict) and recorder.surroundings.has(value):
            self._same.add(id(value))
            return "same", id(value)
        if isinstance(value, tuple | list):
            return type(value), [self._described(part, recorder) for part in value]
        if isinstance(value, dict):
            return type(value), [(name, self._described(part, recorder)) for name, part in value.items()]
        return recorder.origins.describe(value)

    def _described_tensor(self, value: Tensor, recorder: Recorder):
        if value._described is not None:
            recorder.refuse(tr("it returns a tensor on the meta device"))
            return None
        if value.layout is not strided:
            recorder.refuse(tr("it returns a sparse tensor"))
            return None
        if type(value) is not Tensor:
            recorder.refuse(tr("it returns a parameter"))
        if room_for(value._array) is None:
            recorder.refuse(tr("its result is scattered over much memory"))
        if _waits(value):
            recorder.refuse(WAITS)
        self._views += [value] if value._whole is not None else []
        self._find(value, recorder)
        return recorder.origins.describe(value._array), value._requires_grad

    def _find(self, value: Tensor, recorder: Recorder) -> None:
        """Note whose memory a tensor sees."""
        origin = recorder.origins.of(value._array)
        if origin[0] == "outside":
            (self._same if recorder.surroundings.has(value) else self._aliases).add(id(value))
        elif origin[0] == "argument" and value._array.size and id(value) not in self._inputs:
            self._within[id(value)] = _Within(origin[1], address(value._array) - address(recorder.arguments[origin[1]]))
        elif id(value) not in self._inputs and value._array.size:
            known = self._made.setdefault(recorder.origins.key(value._array), [])
            known += [value] if all(each is not value for each in known) else []

    def _find_base(self, value: Tensor, recorder: Recorder) -> None:
        """Note the base of a view, which is handed out with it. Of memory that no other result sees, a part is copied alone."""
        base: Tensor = value._whole  # type: ignore[assignment]
        several = self._made.get(recorder.origins.key(value._array), ())
        known = id(base) in self._inputs or recorder.origins.of(base._array)[0] != "made" or any(base is each for each in several)
        if (
            known
            or not (_waits(base) or type(base) is not Tensor)
            and (len(several) > 1 or base._array.nbytes == reach(value._array))
        ):
            self._bases[id(value)] = base
            self._find(base, recorder)

    def _share(self, recorder: Recorder) -> None:
        """Note what results lie in one memory, or in that of a .grad."""
        leaves = [leaf for leaf, *_ in recorder.leaves.values() if leaf._grad is not None and leaf._grad.layout is strided]
        grads = {recorder.origins.key(leaf._grad._array): leaf for leaf in leaves} if self._made else {}
        for key, several in self._made.items():
            if (leaf := grads.get(key)) is not None:
                grad = leaf._grad._array
                for value in several:
                    start = address(value._array) - address(grad)
                    if reach(grad) > grad.nbytes or not 0 <= start <= reach(grad) - reach(value._array):
                        recorder.refuse(tr("it returns memory of which a .grad sees a part"))
                    self._within[id(value)] = _Within(leaf, None if value is leaf._grad else start)
            elif len(several) > 1:
                memory = _Shared(several)
                self._within |= {id(value): _Within(memory, address(value._array) - memory.low) for value in several}
        self._made = {}

    def arrays(self) -> list:
        """The arrays of its tensors."""
        return results_in(self.result)

    def hand_out(self, tensors):
        """The result, its tensors in memory of their own. tensors: the arguments of the call."""
        if self._plain:
            return self._around(self.result, _copied(self.result._array))
        self._handed_out.clear()
        self._handed_out.update((key, tensors[number]) for key, number in self._inputs.items())
        result = self._handed(self.result, tensors)
        self._handed_out.clear()
        return result

    def _around(self, value: Tensor, array) -> Tensor:
        """What stands for a tensor of the result, with this array."""
        made = Tensor._of(array)
        if value._requires_grad:  # as after a backward: its graph is spent
            made._requires_grad, made._node = True, Node(value._node.op, None, [], value._node.slots)  # type: ignore[union-attr]
        if value._inference:
            made._inference = True
        return made

    def _tensor(self, value: Tensor, tensors) -> Tensor:
        where = self._within.get(id(value))
        if id(value) in self._same:
            return value
        if where is None:
            made = self._around(value, value._array if id(value) in self._aliases else _copied(value._array))
            made._version_counter = value._version_counter if id(value) in self._aliases else None
            return made
        if where.offset is None:
            return where.whole.grad  # type: ignore[attr-defined]
        if type(where.whole) is _Shared:
            memory = self._handed_out.get(where.whole)
            if memory is None:
                memory = self._handed_out[where.whole] = where.whole.copied()
        else:
            memory = tensors[where.whole] if type(where.whole) is int else where.whole.grad  # type: ignore[attr-defined]
        made = self._around(value, lies_in(value._array, memory._array, where.offset))
        made._version_counter = memory._watch()
        return made

    def _handed(self, value, tensors):
        if isinstance(value, Tensor):
            made = self._handed_out.get(id(value))
            if made is None:
                made = self._handed_out[id(value)] = self._tensor(value, tensors)
                if (base := self._bases.get(id(value))) is not None:
                    see(made, self._handed(base, tensors), value._view_steps)
            return made
        if id(value) in self._same:
            return value
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(self._handed(part, tensors) for part in value))
        if isinstance(value, tuple | list):
            return type(value)(self._handed(part, tensors) for part in value)
        if isinstance(value, dict):
            made = copy.copy(value) if type(value) is not dict else {}
            for name, part in value.items():  # one by one: a dict that is also a dataclass keeps its fields so
                made[name] = self._handed(part, tensors)
            return made
        return value


def _waits(x: Tensor) -> bool:
    """Whether the graph that a tensor belongs to still waits for a backward."""
    return x.requires_grad and (x._node is None or not (x._node.spent or x._node.saved is None))


def _copied(array):
    """The array in memory of its own, with its strides."""
    made = array.copy(order="K")
    if made.strides != array.strides:  # it has gaps, or is one number seen as many
        made = room_for(array)
        made[...] = array
        made.flags.writeable = array.flags.writeable
    return made
