"""What stands for a value while a program is traced: whatever is done to it becomes a node."""

import dis
import operator
import sys
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

from badak.compat.torch.fx.graph import Graph, magic_methods, reflectable_magic_methods
from badak.compat.torch.fx.node import Node, map_aggregate
from badak.compat.torch.overrides import is_tensor_method_or_property
from badak.core.errors import ArgumentTypeError, BadakError, NotSupportedError, StateError, tr
from badak.core.public_api import overriding
from badak.tensor import device, dtype, layout, memory_format

BASE = (str, int, float, bool, complex, bytes, dtype, device, memory_format, layout, type(None), type(...))


class TraceError(BadakError, ValueError):
    """A program that cannot be traced: its control flow depends on a value."""


class TracerBase:
    """Makes nodes of what is done to proxies."""

    graph: Graph
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def create_node(
        self, kind: str, target: Any, args: tuple, kwargs: dict, name: str | None = None, type_expr: Any = None
    ) -> Node:  # fmt: skip
        """A new node of the graph. Raises StateError for a function that changes memory, where that is asked for."""
        if kind == "call_function" and self.check_mutable_operations:
            called, out = getattr(target, "__name__", ""), kwargs.get("out") is not None
            if hasattr(target, "__explained__") and (out or overriding.changes(called)):
                whole = f"aten::{called}{'.out' if out else ''}"
                cause = tr("Tried to trace mutable operation {}. FX only supports functional code", whole)
                raise StateError(cause, tr("the function without out= and without the _ at its end"))
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> "Proxy":
        """The proxy of a node."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: tuple, kwargs: dict, name: str | None = None, type_expr: Any = None,
        proxy_factory_fn: Callable | None = None,
    ) -> "Proxy":  # fmt: skip
        """The proxy of a new node."""
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a: Any) -> Any:
        """A value as an argument of a node: nodes for proxies, numbers and text as they are."""
        if isinstance(a, tuple | list | dict | slice):
            if isinstance(a, dict) and any(isinstance(name, Proxy | Node) for name in a):
                raise ArgumentTypeError("a key of a dict that is an argument of a node must be no node", "dict keys: strings")
            if isinstance(a, tuple) and hasattr(a, "_fields"):  # a node makes it
                return self.create_node("call_function", type(a), tuple(map(self.create_arg, a)), {})
            if isinstance(a, tuple | list):
                return (tuple if isinstance(a, tuple) else list)(map(self.create_arg, a))
            if isinstance(a, dict):
                return {name: self.create_arg(x) for name, x in a.items()}
            return slice(*map(self.create_arg, (a.start, a.stop, a.step)))
        if isinstance(a, range):
            return range(*(self.create_arg(x) for x in (a.start, a.stop, a.step)))
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, (Node, *BASE)) or callable(a) and hasattr(a, "__name__"):
            return a
        raise NotSupportedError(tr("argument of type: {}", type(a)), "tensors, numbers, text, and lists, tuples and dicts of them")

    def to_bool(self, obj: "Proxy") -> bool:
        """A proxy decides over control flow."""
        fix = tr("concrete_args={'flag': True} for an argument that is a switch, or fx.wrap the function that decides")
        raise TraceError(tr("symbolically traced variables cannot be used as inputs to control flow: {}", obj.node.name), fix)

    def iter(self, obj: "Proxy") -> Iterator:
        """A proxy is iterated: possible where the program unpacks so many values."""
        frame = sys._getframe(2)
        instructions = list(dis.get_instructions(frame.f_code))
        at = next(i for i, each in enumerate(instructions) if each.offset == frame.f_lasti)
        if instructions[at].opname == "UNPACK_SEQUENCE":
            return (operator.getitem(obj, i) for i in range(instructions[at].argval))  # type: ignore[call-overload]
        cause = tr("Proxy object cannot be iterated: how long {} is depends on the run", obj.node.name)
        raise TraceError(cause, "unpack a fixed number: a, b = x")

    def keys(self, obj: "Proxy") -> Any:
        """The keys of a proxy, for **x."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds to a graph that is there."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy:
    """A value of a trace. Operators, functions, methods and attributes of it give proxies of new nodes."""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = tracer or GraphAppendingTracer(node.graph)
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> "Attribute":
        if k in ("node", "tracer", "_array") or k.startswith("__array"):  # before __init__, of tensors alone, and what NumPy asks
            raise AttributeError(k)
        return Attribute(self, k)

    def __deepcopy__(self, memo: dict) -> "Proxy":
        cause = tr("a Proxy cannot be copied: {}", self.node.name)
        raise TraceError(cause, "copy.deepcopy outside of what is traced, or x.clone()")

    def __call__(self, *args: Any, **kwargs: Any) -> "Proxy":
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator:
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __abs__(self) -> "Proxy":
        return self.tracer.create_proxy("call_function", abs, (self,), {})

    def __len__(self) -> int:
        cause = tr("'len' is not supported in symbolic tracing by default")
        raise TraceError(cause, "if you want this call to be recorded, call fx.wrap('len') at module scope, or use x.shape[0]")

    def __index__(self) -> int:
        raise TraceError(tr("{} has no number yet: it cannot be an index, or the argument of range", self.node.name), "x.size(0)")

    __int__ = __float__ = __index__

    def __setitem__(self, key: Any, value: Any) -> None:
        self.tracer.create_proxy("call_function", operator.setitem, (self, key, value), {})

    def __contains__(self, item: Any) -> bool:
        raise TraceError(tr("{} has no values yet: 'in' cannot be answered", self.node.name), "compare outside of what is traced")

    def keys(self) -> Any:
        """For **x."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(cls, orig_method: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> "Proxy":
        found: list[TracerBase] = []
        map_aggregate((args, kwargs or {}), lambda x: found.append(x.tracer) if isinstance(x, Proxy) else None)
        if is_tensor_method_or_property(orig_method):
            return found[0].create_proxy("call_method", orig_method.__name__, args, kwargs or {})
        if orig_method.__module__ == "badak.nn.functional" and orig_method.__name__ not in _COMPILED:
            args, kwargs = _spelt_out(orig_method, args, kwargs or {})
        return found[0].create_proxy("call_function", orig_method, args, kwargs or {})


_COMPILED = frozenset(
    """avg_pool1d avg_pool2d avg_pool3d bilinear channel_shuffle conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d cosine_similarity gelu hardshrink linear logsigmoid one_hot pdist pixel_shuffle pixel_unshuffle prelu
    scaled_dot_product_attention softplus softshrink""".split()
)  # functions of nn.functional that PyTorch has in C: a node of them has the arguments of the call


def _spelt_out(function: Callable, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments of a function as PyTorch's Python functions hand them on: what has a default by its name."""
    given = signature(function).bind(*args, **kwargs)
    given.apply_defaults()
    parameters = given.signature.parameters
    by_name = [name for name, each in parameters.items() if each.default is not each.empty]
    return tuple(x for name, x in given.arguments.items() if name not in by_name), {name: given.arguments[name] for name in by_name}


class Attribute(Proxy):
    """x.name: a node once it is used, a call of a method where it is called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _operator(name: str, swapped: bool = False) -> Callable:
    function = getattr(operator, name)

    def operate(self, *others: Any) -> Proxy:
        args = (*others, self) if swapped else (self, *others)
        return self.tracer.create_proxy("call_function", function, args, {})

    return operate


for _name in magic_methods:
    setattr(Proxy, f"__{_name.strip('_')}__", _operator(_name))
for _name in reflectable_magic_methods:
    if _name != "getitem":
        setattr(Proxy, f"__r{_name.strip('_')}__", _operator(_name, swapped=True))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]  # == is a node
