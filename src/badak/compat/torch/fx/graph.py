"""The graph of `torch.fx`: a list of nodes; `codegen.py` writes the Python code that says the same."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from badak.compat.torch.fx.codegen import Code, PythonCode, _Namespace
from badak.compat.torch.fx.codegen import inplace_methods as inplace_methods
from badak.compat.torch.fx.codegen import magic_methods as magic_methods
from badak.compat.torch.fx.codegen import reflectable_magic_methods as reflectable_magic_methods
from badak.compat.torch.fx.node import Argument, Node, Target, map_arg
from badak.core.errors import ArgumentError, StateError, tr


class _Nodes:
    """The nodes in their order."""

    def __init__(self, root: Node, backwards: bool = False) -> None:
        self._root, self._backwards = root, backwards

    def __iter__(self) -> Iterator[Node]:
        step: Callable[[Node], Node] = (lambda node: node._prev) if self._backwards else (lambda node: node._next)
        node = step(self._root)
        while node is not self._root:
            following = step(node)
            if not node._erased:
                yield node
            node = step(node) if not node._erased else following

    def __reversed__(self) -> Iterator[Node]:
        return iter(_Nodes(self._root, not self._backwards))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _InsertPoint:
    """Where new nodes of a graph go from now on; the end of a `with` block brings back where they went before."""

    def __init__(self, graph: "Graph", insert: Callable[[Node], None]) -> None:
        self.graph, self.orig_insert = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.graph._insert = self.orig_insert


class Graph:
    """Operations in an order in which they can run: placeholders, calls, one output.

    Example:
        >>> from badak import fx
        >>> graph = fx.Graph()
        >>> x = graph.placeholder("x")
        >>> _ = graph.output(graph.call_function(badak.relu, (x,)))
        >>> fx.GraphModule({}, graph)(badak.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None) -> None:
        self.owning_module, self._tracer_cls = owning_module, tracer_cls
        self._graph_namespace = _Namespace()
        self._root = Node.__new__(Node)  # before the first and after the last one
        vars(self._root).update(graph=self, op="root", name="", _erased=False, _prev=self._root, _next=self._root, users={})
        self._insert: Callable[[Node], None] = self._root.prepend

    @property
    def nodes(self) -> _Nodes:
        """All nodes, to go through while the graph changes."""
        return _Nodes(self._root)

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of one kind, of one target."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    def output_node(self) -> Node:
        """The last node."""
        return self.find_nodes(op="output")[0]

    # making nodes

    def create_node(
        self, op: str, target: Target, args: tuple | None = None, kwargs: dict | None = None, name: str | None = None,
        type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """A new node at the point of insertion, at first the end."""
        foreign = next((x for x in _nodes_in((args, kwargs)) if x.graph is not self), None)
        if foreign is not None:
            cause = tr("Node '{}' does not belong to this Graph: it is of another", foreign.name)
            raise ArgumentError(cause, "graph.node_copy(node)")
        name = self._graph_namespace.create_name(name if name is not None else self._target_to_str(target), None)
        node = Node(self, name, op, target, args or (), kwargs or {}, type_expr)
        self._insert(node)
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """An argument of the graph."""
        return self.create_node("placeholder", name, () if default_value is ... else (default_value,), type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A parameter, buffer or other attribute of the module."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name: str, args: tuple | None = None, kwargs: dict | None = None, type_expr: Any = None) -> Node:
        """A call of a submodule."""
        if self.owning_module is not None and not _has(self.owning_module, module_name):
            cause = tr("call_module: the owning module has no submodule {!r}", module_name)
            raise ArgumentError(cause, "graph_module.add_submodule(name, module) first")
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: tuple | None = None, kwargs: dict | None = None, type_expr: Any = None) -> Node:
        """A call of a method of args[0]."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self, the_function: Callable, args: tuple | None = None, kwargs: dict | None = None, type_expr: Any = None,
        name: str | None = None,
    ) -> Node:  # fmt: skip
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """The result of the graph."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Argument] = lambda node: node) -> Node:
        """A copy of a node of another graph; arg_transform gives the nodes of this graph for those of its arguments."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copy = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copy.meta = dict(node.meta)
        return copy

    def graph_copy(self, g: "Graph", val_map: dict, return_output_node: bool = False) -> Any:
        """Copy all nodes of g; gives what g gives, as nodes of this graph."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda x: val_map[x])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda x: val_map[x])
        return None

    def __deepcopy__(self, memo: dict | None = None) -> "Graph":
        copy = Graph(tracer_cls=self._tracer_cls)
        known: dict[Node, Node] = {}
        for node in self.nodes:
            known[node] = copy.node_copy(node, lambda x: known[x])
        if memo is not None:
            memo[id(self)] = copy
        return copy

    # changing it

    def erase_node(self, to_erase: Node) -> None:
        """Take out a node that nobody uses."""
        if to_erase.users:
            cause = tr(
                "Tried to erase Node {} but it still had {} users in the graph: {}!", to_erase, len(to_erase.users), to_erase.users
            )
            raise StateError(cause, "node.replace_all_uses_with(other) first")
        if to_erase.graph is not self:
            raise StateError(tr("Attempting to remove {} from wrong graph!", to_erase), "node.graph.erase_node(node)")
        if not to_erase._erased:
            to_erase._remove()
            to_erase._erased = True
            to_erase._set((), {})

    def inserting_before(self, n: Node | None = None) -> "_InsertPoint":
        """From here on, or in a `with` block, new nodes come before n; without n, at the very beginning, the last one first."""
        return _InsertPoint(self, self._root.append if n is None else self._own(n).prepend)

    def inserting_after(self, n: Node | None = None) -> "_InsertPoint":
        """From here on, or in a `with` block, new nodes come right after n, the last one first; without n, at the end."""
        return _InsertPoint(self, self._root.prepend if n is None else self._own(n).append)

    def _own(self, n: Node) -> Node:
        if not isinstance(n, Node) or n.graph is not self:
            raise ArgumentError("inserting: expected a node of this graph; got something else", "one of graph.nodes")
        return n

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Take out what nobody uses; gives whether there was something."""
        self.lint()
        dead = is_impure_node or (lambda node: node.is_impure())
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not dead(node):
                self.erase_node(node)
                changed = True
        return changed

    def lint(self) -> None:
        """Raise StateError where a node comes before what it uses, a name comes twice, or a target is nowhere."""
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            for x in node.all_input_nodes:
                if x.graph is not self or x not in seen:
                    cause = tr("Argument '{}' of Node '{}' was used before it has been defined! Please check that Nodes in the "
                               "graph are topologically ordered", x, node)  # fmt: skip
                    raise StateError(cause, "graph.inserting_after(argument), or node.append")
            if node.name in names:
                raise StateError(tr("Node redefined name {}!", node.name), "let the graph choose names")
            if (
                node.op in ("get_attr", "call_module")
                and self.owning_module is not None
                and not _has(self.owning_module, node.target)
            ):
                cause = tr("Node {} target {} references nonexistent attribute of the owning module", node, node.target)
                raise StateError(cause, "graph_module.add_submodule, or register_buffer")
            seen.add(node)
            names.add(node.name)

    # as text

    def _target_to_str(self, target: Target | None) -> str:
        if callable(target):
            text = getattr(target, "__name__", None) or type(target).__name__
        else:
            text = str(target)
            text = text[2:-2] if len(text) > 4 and text.startswith("__") and text.endswith("__") else text
        return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", text).lower()

    def python_code(self, root_module: str) -> PythonCode:
        """The code of a function `forward` that does what the graph does."""
        return Code(self, root_module).python()

    def print_tabular(self) -> None:
        """Print a row for each node."""
        rows = [[node.op, node.name, str(node.target), str(node.args), str(node.kwargs)] for node in self.nodes]
        heads = ["opcode", "name", "target", "args", "kwargs"]
        widths = [max(len(heads[i]) + 2, *(len(row[i]) for row in rows)) for i in range(5)]
        lines = [heads, ["-" * width for width in widths], *rows]
        print("\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths)).rstrip() for line in lines))  # noqa: T201

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *(node.format_node() for node in self.nodes)])


def _has(module: Any, path: str) -> bool:
    for name in path.split("."):
        if not hasattr(module, name):
            return False
        module = getattr(module, name)
    return True


def _nodes_in(a: Any) -> list[Node]:
    found: list[Node] = []
    map_arg(a, lambda node: found.append(node))
    return found
