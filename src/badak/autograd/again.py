"""Arrays that a graph does not keep, as they can be made again, to the bit, of what it keeps anyway: activations, products, norms.

A frozen layer's input, as large as the batch, is kept for the gradient of an adapter's few rows alone; and it is often the
product of two arrays that are kept too. `thin` takes it out of what the adapter's operation saved, and out of what made it
what can be made again in turn. An operation says by `again` that it is no dearer to compute than to read; DEPTH of them are
computed at most to get one array, and each once.
"""

from typing import Any
from weakref import ref

import numpy as np

from badak.autograd.node import Leaf, Node, check_unchanged
from badak.kernels import LARGE
from badak.ops.op import Saved

DEPTH = 2


class Again:
    """How an array is made again: by an operation, of arrays or of what is to be made again itself."""

    __slots__ = ("attributes", "inputs", "made", "node_name", "op", "watched")

    def __init__(self, node: Node, inputs: list, attributes: dict[str, Any]) -> None:
        self.op, self.inputs, self.attributes = node.op, inputs, attributes
        self.watched, self.node_name = node.watched, node._where()
        self.made: Any = None

    def array(self) -> np.ndarray:
        """The array; what it was made of must be as it was."""
        if self.made is None:
            check_unchanged(self.watched, self.node_name)
            given = [each.array() if type(each) is Again else each for each in self.inputs]
            self.made = self.op.forward(Saved((False,) * len(given)), *given, **self.attributes)
            self.inputs, self.watched = [], None
        return self.made


class Thin(Saved):
    """What a forward saved, some arrays as long as somebody else holds them, and afterwards as a way to make them again."""

    __slots__ = ("ways",)

    def __init__(self, saved: Saved) -> None:
        super().__init__(saved.needs)
        self.__dict__.update(vars(saved))
        self.ways: dict[str, tuple[ref, Again]] = dict(saved.ways) if type(saved) is Thin else {}

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" or name not in self.ways:
            raise AttributeError(name)
        seen, way = self.ways[name]
        array = seen()
        return way.array() if array is None else array

    def let_go(self, name: str, way: Again) -> None:
        """Hold this array no longer."""
        self.ways[name] = ref(self.__dict__.pop(name)), way


def thin(node: Node, name: str, place: int) -> None:
    """Let `node` keep the input `name`, which is at this place, as a way to make it again, where there is one."""
    edge = node.edges[place]
    if edge is not None and (way := _way(edge[0], DEPTH)) is not None:
        _let_go(node, name, way)


def _let_go(node: Node, name: str, way: Again) -> None:
    if type(node.saved) is not Thin:
        node.saved = Thin(node.saved)
    node.saved.let_go(name, way)


def _way(node: Any, depth: int) -> Again | None:
    """How the output of a node is made again; None where that takes more than is kept."""
    if type(node) is Leaf or node.again is not None:
        return getattr(node, "again", None)
    saved, names = node.saved, node.op.again
    if not names or not depth or type(saved) not in (Saved, Thin) or node.slots != 1:
        return None
    count = len(node.edges)
    inputs: list = []
    before: dict[str, Again] = {}
    for name, edge in zip(names, node.edges):
        x = saved.__dict__.get(name)
        if x is None and type(saved) is Thin and name in saved.ways:
            x = saved.ways[name][1]
        elif x is None or type(x) is np.ndarray and x.size >= LARGE:
            way = None if edge is None else _way(edge[0], depth - 1)
            if way is not None and x is not None:
                before[name] = way
            x = x if way is None else way
        if type(x) not in (np.ndarray, Again) and not (x is None and name in vars(saved)):
            return None
        inputs.append(x)
    node.again = Again(node, inputs, {name: getattr(saved, name) for name in names[count:]})
    for name, way in before.items():
        _let_go(node, name, way)
    return node.again
