"""A traced program as a module."""

from typing import Any, NamedTuple

from badak.compat.torch.fx.graph import Graph
from badak.compat.torch.fx.graph_module import _put
from badak.compat.torch.fx.node import Node
from badak.compat.torch.tracing.signature import Signature
from badak.core.errors import ArgumentError, BadakError, tr
from badak.core.public_api.explain import FOREIGN
from badak.nn import Module
from badak.tensor import Tensor


class _Slot(NamedTuple):
    """Where the value of a node is kept while the graph runs."""

    number: int


class _Call(NamedTuple):
    """A node, ready to run: function None is an attribute, whose owner and name the arguments are."""

    slot: int
    function: Any
    args: tuple
    kwargs: dict
    over: list[int]  # slots that nobody reads after it


def place(module: Module, tensors: dict[str, Tensor]) -> None:
    """Give a module tensors under dotted names, of submodules for their parts."""
    for name, x in tensors.items():
        *path, last = name.split(".")
        owner = module
        for part in path:
            if part not in owner._modules:
                owner.add_module(part, Module())
            owner = owner._modules[part]  # type: ignore[assignment]
        _put(owner, last, x)


class Traced(Module):
    """Runs a graph, one public function after the other; parameters and buffers have the names of the traced module."""

    _where = tr("traced module")

    def __init__(self, graph: Graph, tensors: dict[str, Tensor], signature: Signature) -> None:
        super().__init__()
        self.__dict__.update(_graph=graph, _signature=signature)
        place(self, tensors)

    @property
    def fx_graph(self) -> Graph:
        """The graph: tensors in, a list of the leaves of the result out."""
        return self.__dict__["_graph"]

    @property
    def code(self) -> str:
        """The graph as Python."""
        return self.fx_graph.python_code("self").src

    def held(self) -> dict[str, Tensor]:
        """The tensors that the graph names."""
        wanted = {node.target for node in self.fx_graph.nodes if node.op == "get_attr"}
        every = [*self.named_parameters(remove_duplicate=False), *self.named_buffers(remove_duplicate=False)]
        return {name: x for name, x in every if name in wanted}

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        signature: Signature = self.__dict__["_signature"]
        return signature.result(self.run(*signature.tensors(self._where, args, kwargs)))

    def run(self, *tensors: Tensor) -> list:
        """The leaves of the result."""
        values: list[Any] = [*tensors, *[None] * len(self.fx_graph.nodes)]
        for slot, function, args, kwargs, over in self._calls():
            if function is None:
                owner, name = args
                values[slot] = getattr(self.get_submodule(owner), name)
                continue
            given = [_filled(a, values) for a in args]
            named = {name: _filled(a, values) for name, a in kwargs.items()}
            try:
                values[slot] = function(*given, **named)
            except FOREIGN as error:  # what Python's own operators say
                if isinstance(error, BadakError):
                    raise
                name = getattr(function, "__name__", "a call")
                fix = tr("trace the program again, or read an undamaged file")
                raise ArgumentError(f"{self._where}: {name}: {error}", fix) from None
            for number in over:
                values[number] = None
        return values[-1]

    def _calls(self) -> list[_Call]:
        if "_plan" not in self.__dict__:
            self.__dict__["_plan"] = _plan(self.fx_graph)
        return self.__dict__["_plan"]


def _plan(graph: Graph) -> list[_Call]:
    """The calls of a graph in their order; the last slot gets the result."""
    nodes = list(graph.nodes)
    slots = {node: i for i, node in enumerate([each for each in nodes if each.op == "placeholder"])}
    first = len(slots)
    slots |= {node: first + i for i, node in enumerate(nodes) if node not in slots}
    last = {x: node for node in nodes for x in node.all_input_nodes}
    calls = []
    for node in nodes:
        if node.op == "placeholder":
            continue
        over = [slots[x] for x in node.all_input_nodes if last[x] is node]
        args, kwargs = _slotted(node.args, slots), _slotted(node.kwargs, slots)
        if node.op == "get_attr":
            owner, _, name = node.target.rpartition(".")
            calls.append(_Call(slots[node], None, (owner, name), {}, []))
        elif node.op == "output":
            calls.append(_Call(-1, list, args, {}, over))
        else:
            calls.append(_Call(slots[node], Tensor.size if node.op == "call_method" else node.target, args, kwargs, over))
    return calls


def _slotted(a: Any, slots: dict[Node, int]) -> Any:
    if isinstance(a, Node):
        return _Slot(slots[a])
    if isinstance(a, tuple):
        return tuple(_slotted(x, slots) for x in a)
    if isinstance(a, list):
        return [_slotted(x, slots) for x in a]
    if isinstance(a, dict):
        return {name: _slotted(x, slots) for name, x in a.items()}
    return slice(*(_slotted(x, slots) for x in (a.start, a.stop, a.step))) if isinstance(a, slice) else a


def _filled(a: Any, values: list) -> Any:
    kind = type(a)
    if kind is _Slot:
        return values[a.number]
    if kind is tuple or kind is list:
        return kind([_filled(x, values) for x in a])
    if kind is slice:
        return slice(_filled(a.start, values), _filled(a.stop, values), _filled(a.step, values))
    return a
