"""What runs a graph node by node, and what rewrites it on the way."""

from collections.abc import Callable, Iterator
from typing import Any

from badak.compat.torch.fx._symbolic_trace import Tracer
from badak.compat.torch.fx.codegen import last_uses
from badak.compat.torch.fx.graph import Graph
from badak.compat.torch.fx.graph_module import GraphModule
from badak.compat.torch.fx.node import Node, map_arg
from badak.compat.torch.fx.proxy import Proxy
from badak.core.errors import ArgumentError, tr
from badak.core.nests import changed
from badak.core.public_api import overriding
from badak.nn import Module


class Interpreter:
    """Runs a graph, one method for each kind of node; a subclass overrides what it wants to measure or change.

    Args:
        module: GraphModule, or the module that the graph's names refer to
        garbage_collect_values: forget a value after its last use
        graph: the graph, where it is not module.graph

    Example:
        >>> from badak import fx
        >>> fx.Interpreter(fx.symbolic_trace(nn.ReLU())).run(badak.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.graph = graph if graph is not None else module.graph
        self.submodules = dict(module.named_modules())
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.args_iter: Iterator = iter(())
        self._last = last_uses(self.graph)

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """The result of the graph. initial_env: nodes whose values are known, which do not run."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self.run_node(node)
            if self.garbage_collect_values:
                for x in self._last.get(node, ()):
                    self.env.pop(x, None)
            if node.op == "output":
                return self.env[node]
        return None

    def run_node(self, n: Node) -> Any:
        """The value of one node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The next argument."""
        if target.startswith("*"):
            return list(self.args_iter)
        missing = object()
        value = next(self.args_iter, args[0] if args else missing)
        if value is missing:
            raise ArgumentError(tr("Expected positional argument for parameter {}, but one was not passed in!", target), "run(x)")
        return value

    def get_attr(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """An attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The result of a function."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The result of a method."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The result of a submodule."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The result."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """What the module has under a dotted name."""
        found: Any = self.module
        for name in target.split("."):
            if not hasattr(found, name):
                raise ArgumentError(tr("Node referenced nonexistent target {}", target), "a module that has what the graph names")
            found = getattr(found, name)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple, dict]:
        """The arguments of a node."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """The same nest with values for nodes."""

        def value(x: Node) -> Any:
            if x not in self.env:
                raise ArgumentError(tr("Node {} referenced nonexistent value {}", n, x), "graph.lint()")
            return self.env[x]

        return _plain(map_arg(args, value))


def _plain(a: Any) -> Any:
    """Lists and dicts that a function may change."""
    if isinstance(a, tuple):
        return type(a)(*map(_plain, a)) if hasattr(a, "_fields") else tuple(map(_plain, a)) if type(a) is tuple else a
    if type(a).__name__ == "immutable_list":
        return [_plain(x) for x in a]
    return {name: _plain(x) for name, x in a.items()} if type(a).__name__ == "immutable_dict" else a


class _Rewriter(Tracer):
    """Adds nodes to the graph of a Transformer; every module is one node."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """True."""
        return True


class Transformer(Interpreter):
    """Makes a new GraphModule: its methods give proxies, so that a subclass replaces a function by calling another one."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.tracer = _Rewriter(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: Any, args: tuple, kwargs: dict) -> Proxy:
        """A placeholder of the new graph."""
        return Proxy(self.new_graph.placeholder(target, default_value=args[0] if args else ...), self.tracer)

    def get_attr(self, target: Any, args: tuple, kwargs: dict) -> Proxy:
        """An attribute."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """A call of a submodule."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target: Callable, args: tuple, kwargs: dict) -> Any:
        """A call of a function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_method(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """A call of a method."""
        return self.tracer.create_proxy("call_method", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The new module."""
        overriding.add(Proxy)
        try:
            result = super().run(enable_io_processing=False)
        finally:
            overriding.remove(Proxy)
        self.new_graph.output(changed(result, Proxy, lambda x: x.node))
        return GraphModule(self.module, self.new_graph)
