"""The calls of one run as a graph of TorchScript's: `torch.jit._get_trace_graph` and `traced.graph`, for programs that count.

A node is a call of a public function, "aten::linear", with its inputs in the order of PyTorch's C++ code; a function that PyTorch
writes in Python, such as multi-head attention, is told by the operations in it. Sizes are numbers: there is no "aten::size".
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from badak.compat.torch.pytree import tree_flatten, tree_unflatten
from badak.compat.torch.tracing.call_arguments import RENAMED
from badak.compat.torch.tracing.call_arguments import told as told_of
from badak.compat.torch.tracing.forms import form_of
from badak.compat.torch.tracing.sizes import name_of
from badak.core import events
from badak.core.errors import user_line
from badak.core.events import Observer
from badak.core.modes import modes
from badak.core.public_api import overriding
from badak.nn import Module
from badak.tensor import Tensor

_KINDS = {bool: "bool", int: "int", float: "float", complex: "complex", str: "str", type(None): "NoneType"}


class Type:
    """What a value is: str(type) as TorchScript writes it, and of a tensor its sizes."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def sizes(self) -> list[int] | None:
        """The shape of a tensor."""
        return list(self._value.shape) if isinstance(self._value, Tensor) else None

    def dim(self) -> int | None:
        """How many axes a tensor has."""
        return self._value.dim() if isinstance(self._value, Tensor) else None

    def dtype(self) -> Any:
        """The dtype of a tensor."""
        return getattr(self._value, "dtype", None)

    def scalarType(self) -> str | None:  # noqa: N802  (PyTorch's name)
        """ "Float", "Long"."""
        return self._value.type().split(".")[-1].removesuffix("Tensor") if isinstance(self._value, Tensor) else None

    def kind(self) -> str:
        """ "TensorType", "ListType"."""
        word = str(self).split("[")[0]
        return {"NoneType": "NoneType", "str": "StringType"}.get(word, f"{word[0].upper()}{word[1:]}Type")

    def __str__(self) -> str:
        if isinstance(self._value, tuple | list):
            inner = [str(Type(each)) for each in self._value]
            return f"List[{inner[0] if inner else 'Tensor'}]" if isinstance(self._value, list) else f"Tuple[{', '.join(inner)}]"
        return _KINDS.get(type(self._value), "Tensor" if isinstance(self._value, Tensor) else "Device")

    __repr__ = __str__


class Value:
    """An input or a result of a node."""

    def __init__(self, value: Any, node: "Node", name: str) -> None:
        self._value, self._node, self._name = value, node, name
        self._array = getattr(value, "_array", None)  # its id is that of one object as long as this lives

    def type(self) -> Type:
        """What it is."""
        return Type(self._value)

    def isCompleteTensor(self) -> bool:  # noqa: N802  (PyTorch's name)
        """Whether it is a tensor, whose sizes are known."""
        return isinstance(self._value, Tensor)

    def toIValue(self) -> Any:  # noqa: N802  (PyTorch's name)
        """The value of a constant; None of all else."""
        return self._value if self._node.kind() == "prim::Constant" else None

    def requires_grad(self) -> bool:
        """Whether it is a tensor that wants a gradient."""
        return isinstance(self._value, Tensor) and self._value.requires_grad

    def node(self) -> "Node":
        """Where it was made."""
        return self._node

    def debugName(self) -> str:  # noqa: N802  (PyTorch's name)
        """Its name in the printed graph."""
        return self._name

    def __repr__(self) -> str:
        return f"{self._name} defined in ({self._node})"


class Node:
    """A call: kind() is "aten::linear"."""

    def __init__(self, kind: str, scope: str, inputs: list[Value], python: str = "") -> None:
        self._kind, self._scope, self._inputs, self._python, self._line = kind, scope, inputs, python, user_line()
        self._outputs: list[Value] = []

    def kind(self) -> str:
        """ "aten::linear", "prim::Constant", "prim::PythonOp"."""
        return self._kind

    def scopeName(self) -> str:  # noqa: N802  (PyTorch's name)
        """The names that hooks pushed on `torch._C._get_tracing_state()`, joined by /."""
        return self._scope

    def pyname(self) -> str:
        """The class of Function that a prim::PythonOp applies."""
        return self._python

    def sourceRange(self) -> str:  # noqa: N802  (PyTorch's name)
        """The line of the program."""
        return self._line

    def inputs(self) -> Iterator[Value]:
        """What it is given."""
        return iter(self._inputs)

    def outputs(self) -> Iterator[Value]:
        """What it gives."""
        return iter(self._outputs)

    def input(self) -> Value:
        """The one input."""
        (one,) = self._inputs
        return one

    def output(self) -> Value:
        """The one result."""
        (one,) = self._outputs
        return one

    def inputsSize(self) -> int:  # noqa: N802  (PyTorch's name)
        """How many inputs."""
        return len(self._inputs)

    def outputsSize(self) -> int:  # noqa: N802  (PyTorch's name)
        """How many results."""
        return len(self._outputs)

    def inputsAt(self, i: int) -> Value:  # noqa: N802  (PyTorch's name)
        """The input at i."""
        return self._inputs[i]

    def outputsAt(self, i: int) -> Value:  # noqa: N802  (PyTorch's name)
        """The result at i."""
        return self._outputs[i]

    def __repr__(self) -> str:
        made = ", ".join(f"%{x.debugName()} : {x.type()}" for x in self._outputs)
        value = f"[value={self._outputs[0]._value!r}]" if self._kind == "prim::Constant" else ""
        kind = f"^{self._python}" if self._python else self._kind
        return f"{made} = {kind}{value}({', '.join(f'%{x.debugName()}' for x in self._inputs)})"


class CallGraph:
    """The nodes of a run in their order; its inputs are those of the program and then the parameters and buffers it used."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._param = Node("prim::Param", "", [])
        self._return = Node("prim::Return", "", [])

    def nodes(self) -> Iterator[Node]:
        """The calls."""
        return iter(self._nodes)

    def inputs(self) -> Iterator[Value]:
        """What goes in."""
        return self._param.outputs()

    def outputs(self) -> Iterator[Value]:
        """What comes out."""
        return self._return.inputs()

    def findAllNodes(self, kind: str, recurse: bool = True) -> list[Node]:  # noqa: N802  (PyTorch's name)
        """The nodes of a kind."""
        return [node for node in self._nodes if node.kind() == kind]

    def findNode(self, kind: str, recurse: bool = True) -> Node | None:  # noqa: N802  (PyTorch's name)
        """The first node of a kind."""
        return next(iter(self.findAllNodes(kind)), None)

    def __repr__(self) -> str:
        given = ",\n      ".join(f"%{x.debugName()} : {x.type()}" for x in self.inputs())
        lines = [f"  {node}" + (f", scope: {node.scopeName()}" if node.scopeName() else "") for node in self._nodes]
        made = ", ".join(f"%{x.debugName()}" for x in self.outputs())
        return "\n".join([f"graph({given}):", *lines, f"  return ({made})\n"])


class Calls(Observer):
    """`with calls:` keeps each call of a public function as a node; also a mode that is asked for it."""

    eager = tracing = True

    def __init__(self, inputs: list[Tensor], held: list[Tensor]) -> None:
        self.graph, self._scope = CallGraph(), [""]
        self.reads: list[tuple[str, str]] = []  # a value that went to Python: how, and the line of the program
        self._values: dict[int, Value] = {}  # by the id of an array, which the value keeps alive
        self._deep = 0  # in how many calls that are no nodes, as their operations are
        self._count = 0
        for x in [*inputs, *held]:
            self._made(x, self.graph._param)

    def __enter__(self):
        overriding.add(self)
        overriding.state.modes = (*overriding.state.modes, self)
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        overriding.state.modes = tuple(each for each in overriding.state.modes if each is not self)
        overriding.remove(self)

    def push_scope(self, name: str) -> None:
        """Calls from now on are within this name."""
        self._scope.append(name)

    def pop_scope(self) -> None:
        """The end of `push_scope`."""
        self._scope.pop()

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        name = func.__name__
        if name in IN_PYTHON:
            self._deep += 1
            try:
                return func(*args, **kwargs)
            finally:
                self._deep -= 1
        events.watch(self, False)
        try:
            told = told_of(name, func, args, kwargs)  # before the call, which may change its arguments
            result = func(*args, **kwargs)
        finally:
            events.watch(self)
        if name in ("item", "tolist"):
            self.on_read(name)
        self._node(*told, result)
        return result

    def on_op(
        self, op: Any, saved: Any, inputs: Sequence, arrays: list | tuple, attributes: dict, outputs: Sequence[Tensor]
    ) -> None:
        if not self._deep:
            return
        given = [None if a is None else Tensor._of(a) for a in arrays]
        form = form_of(op, name_of(op))
        function, args, kwargs = (None, given, attributes) if form is None else form(*given, **attributes)
        name = op.name if function is None else function.__name__
        told = (
            (f"aten::{RENAMED.get(op.name, op.name)}", [*args, *kwargs.values()])
            if function is None
            else told_of(name, function, tuple(args), kwargs)
        )
        self._node(*told, outputs[0] if len(outputs) == 1 else tuple(outputs))

    def on_function(self, function: Any, args: tuple, proceed: Callable) -> Any:
        events.watch(self, False)
        before, overriding.state.modes = overriding.state.modes, ()
        try:
            result = proceed()
        finally:
            overriding.state.modes = before
            events.watch(self)
        self._node("prim::PythonOp", [x for x in args if isinstance(x, Tensor)], result, function.__name__)
        return result

    def on_read(self, how: str) -> None:
        self.reads.append((how, user_line()))

    def _node(self, kind: str, inputs: list, result: Any, python: str = "") -> None:
        results = list(result) if isinstance(result, tuple | list) else [result]
        if not all(isinstance(x, Tensor) for x in results):
            return  # a size, or another answer to Python
        node = self._put(kind, [self._value(x) for x in inputs], python)
        if kind.removeprefix("aten::") in LISTS:
            node = self._put("prim::ListUnpack", [self._made(results, node)])
        for x in results:
            self._made(x, node)

    def _put(self, kind: str, inputs: list[Value], python: str = "") -> Node:
        node = Node(kind, "/".join(self._scope[1:]), inputs, python)
        self.graph._nodes.append(node)
        return node

    def _made(self, x: Any, node: Node) -> Value:
        value = Value(x, node, str(self._count))
        self._count += 1
        node._outputs.append(value)
        if isinstance(x, Tensor):
            self._values[id(x._array)] = value
        return value

    def _value(self, x: Any) -> Value:
        if isinstance(x, Tensor) and id(x._array) in self._values:
            return self._values[id(x._array)]
        if isinstance(x, tuple | list):
            return self._made(list(x), self._put("prim::ListConstruct", [self._value(each) for each in x]))
        return self._made(x, self._put("prim::Constant", []))


IN_PYTHON = frozenset("block_diag cartesian_prod cdist gumbel_softmax multi_head_attention_forward normalize".split())
LISTS = frozenset("broadcast_tensors chunk dsplit hsplit meshgrid split split_with_sizes tensor_split unbind vsplit".split())


def recorded(function: Callable, args: tuple, kwargs: dict) -> tuple[Calls, tuple, Any]:
    """The calls of function(*args, **kwargs), the arguments that it was given, and what it gave."""
    leaves, spec = tree_flatten((args, kwargs))
    leaves = [x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in leaves]
    args, kwargs = tree_unflatten(leaves, spec)
    held = [*function.parameters(), *function.buffers()] if isinstance(function, Module) else []
    calls = Calls([x for x in leaves if isinstance(x, Tensor)], held)
    with calls:
        made = function(*args, **kwargs)
    calls.graph._return._inputs = [calls._value(x) for x in tree_flatten(made)[0]]
    calls.graph._nodes = _needed(calls.graph)
    return calls, args, made


def _needed(graph: CallGraph) -> list[Node]:
    """The nodes that a result needs, or that change something."""
    used, kept = set(graph._return._inputs), []
    for node in reversed(graph._nodes):
        if node.kind() == "prim::PythonOp" or node.kind().endswith("_") or not used.isdisjoint(node._outputs):
            used.update(node._inputs)
            kept.append(node)
    return kept[::-1]


def tracing_state() -> Calls | None:
    """What records the calls of this thread, on which hooks push the names of their modules."""
    return next((each for each in modes.observers if isinstance(each, Calls)), None)
