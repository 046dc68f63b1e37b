"""One operation of a graph of `torch.fx`, and what its arguments may hold."""

import builtins
import inspect
import operator
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from badak.compat.torch.checks import _assert, _assert_async
from badak.core.errors import ArgumentError, NotSupportedError, package, tr
from badak.core.public_api.homes import home
from badak.core.public_api.table import pytorch_place
from badak.tensor import Tensor

if TYPE_CHECKING:
    from badak.compat.torch.fx.graph import Graph

Target = Any  # a function, or a name
Argument = Any
_side_effectful_functions: set[Callable] = {operator.setitem, _assert, _assert_async}
OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")


def has_side_effect(fn: Callable) -> Callable:
    """Decorator: a call of the function is never dead code."""
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a: Any, fn: Callable) -> Any:
    """The same nest of tuples, lists, dicts and slices with fn(x) for each x in it."""
    if isinstance(a, tuple):
        values = [map_aggregate(x, fn) for x in a]
        return type(a)(*values) if hasattr(a, "_fields") else tuple(values)
    if isinstance(a, list):
        return immutable_list(map_aggregate(x, fn) for x in a)
    if isinstance(a, dict):
        return immutable_dict((name, map_aggregate(x, fn)) for name, x in a.items())
    if isinstance(a, slice):
        return slice(*(map_aggregate(x, fn) for x in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable) -> Any:
    """The same nest with fn(node) for each node in it."""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def _immutable(self, *args, **kwargs):
    cause = tr("'{}' object does not support mutation: a graph could not follow it", type(self).__name__)
    raise NotSupportedError(cause, "copy it, change the copy, and set node.args or node.kwargs to that")


class immutable_list(list):  # noqa: N801  (PyTorch's name)
    """A list of arguments: `node.args = ...` is the way to change it."""

    append = extend = insert = pop = remove = clear = reverse = sort = __setitem__ = __delitem__ = __iadd__ = __imul__ = _immutable

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple:
        return immutable_list, (tuple(self),)


class immutable_dict(dict):  # noqa: N801  (PyTorch's name)
    """A dict of arguments: `node.kwargs = ...` is the way to change it."""

    pop = popitem = clear = update = setdefault = __setitem__ = __delitem__ = __ior__ = _immutable

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple:
        return immutable_dict, (tuple(self.items()),)


def qualified_name(function: Callable) -> str:
    """The name under which code finds a function: "torch.relu", "math.sqrt", "len"."""
    name = getattr(function, "__name__", None) or type(function).__name__
    if getattr(builtins, name, None) is function:
        return name
    if isinstance(function, types.MethodDescriptorType | types.WrapperDescriptorType):
        return f"{function.__objclass__.__module__}.{function.__objclass__.__name__}.{name}"
    module = home(function).replace("_operator", "operator")
    module = pytorch_place(module) if module.startswith("badak.compat.") else module
    if function is Tensor:
        module = "badak"
    head, dot, rest = module.partition(".")
    return f"{package() if head == 'badak' else head}{dot}{rest}.{name}"


class Node:
    """One operation: `op` says what kind of, `target` which, `args` and `kwargs` of what, `users` who needs its result."""

    def __init__(
        self, graph: "Graph", name: str, op: str, target: Target, args: tuple, kwargs: dict, return_type: Any = None
    ) -> None:
        if op not in OPS:
            raise ArgumentError(tr("Node: expected op of {}; got {!r}", ", ".join(OPS), op), "graph.call_function(function, args)")
        if op == "call_function" and not callable(target) or op != "call_function" and not isinstance(target, str):
            wanted, found = tr("a Callable") if op == "call_function" else tr("a str"), type(target).__name__
            raise ArgumentError(
                tr("Node [graph = {}, name = '{}'] target {!r} has type {} but {} is expected", graph, name, target, found, wanted),
                "call_function takes the function itself, call_method and call_module a name",
            )
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users: dict[Node, None] = {}
        self._input_nodes: dict[Node, None] = {}
        self._args: tuple = ()
        self._kwargs: dict = {}
        self.meta: dict[str, Any] = {}
        self._prev = self._next = self
        self._erased = False
        self._set(args, kwargs)

    def _set(self, args: Any, kwargs: Any) -> None:
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._input_nodes = {}

        def used(x: Any) -> Any:
            if isinstance(x, Node):
                self._input_nodes.setdefault(x)
                x.users.setdefault(self)
            return x

        self._args, self._kwargs = map_aggregate(tuple(args), used), map_aggregate(dict(kwargs), used)

    args = property(lambda self: self._args, lambda self, args: self._set(args, self._kwargs))
    kwargs = property(lambda self: self._kwargs, lambda self, kwargs: self._set(self._args, kwargs))
    next = property(lambda self: self._next)
    prev = property(lambda self: self._prev)
    all_input_nodes = property(lambda self: list(self._input_nodes))
    stack_trace = property(lambda self: self.meta.get("stack_trace"), lambda self, text: self.meta.update(stack_trace=text))

    def _remove(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def prepend(self, x: "Node") -> None:
        """Let x come right before this one, from wherever it was."""
        if x is self or x.graph is not self.graph:
            raise ArgumentError("prepend: expected another node of the same graph; got one of another", "graph.node_copy(x)")
        x._remove()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x

    def append(self, x: "Node") -> None:
        """Let x come right after this one."""
        if self._next is not x:
            self._next.prepend(x)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Give args[idx] another value."""
        self.args = (*self.args[:idx], arg, *self.args[idx + 1 :])

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put an argument before args[idx]."""
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Give kwargs[key] another value."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_all_uses_with(
        self, replace_with: "Node", delete_user_cb: Callable = lambda user: True, *, propagate_meta: bool = False
    ) -> list:
        """Let `replace_with` be used wherever this node is; gives the nodes that changed."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def replace_input_with(self, old_input: "Node", new_input: "Node") -> None:
        """Use new_input where this node uses old_input."""
        swap = lambda node: new_input if node is old_input else node
        self._set(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether it does more than to give a result."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":  # what draws moves the generator on
            draws = (getattr(inspect.unwrap(self.target), "__module__", None) or "").startswith("badak.tensor.random")
            return draws or self.target in _side_effectful_functions
        if self.op == "call_module" and self.graph.owning_module is not None:
            return getattr(self.graph.owning_module.get_submodule(self.target), "_is_impure", False)
        return self.op == "call_method" and self.target.endswith("_") and not self.target.endswith("__")

    def _pretty_print_target(self, target: Any) -> str:
        if isinstance(target, str):
            return target
        name = qualified_name(target)
        return name if "." in name else f"builtins.{name}"

    def format_node(self) -> str:
        """The line of this node in str(graph)."""
        kind = f" : {_type_name(self.type)} [" if self.type else " : ["
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            return f"%{self.name}{kind}num_users={len(self.users)}] = placeholder[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"%{self.name}{kind}num_users={len(self.users)}] = get_attr[target={self.target}]"
        if self.op == "output":
            return f"return {self.args[0]}"
        args, kwargs = _percent(self.args), f"{{{', '.join(f'{name}: {_percent(x)}' for name, x in self.kwargs.items())}}}"
        head = f"%{self.name}{kind}num_users={len(self.users)}] = {self.op}[target={self._pretty_print_target(self.target)}]"
        return f"{head}(args = {args}, kwargs = {kwargs})"

    def __repr__(self) -> str:
        return self.name

    def __lt__(self, other: "Node") -> bool:
        """Whether it comes earlier in the graph."""
        return any(node is other for node in _after(self))


def _after(node: Node) -> Iterator[Node]:
    while (node := node._next).op != "root":
        yield node


def _type_name(kind: Any) -> str:
    return qualified_name(kind) if isinstance(kind, type) else str(kind)


def _percent(a: Any) -> str:
    """An argument as text, with % before names of nodes."""
    if isinstance(a, tuple):
        return f"({', '.join(map(_percent, a))}{',' if len(a) == 1 else ''})"
    if isinstance(a, list):
        return f"[{', '.join(map(_percent, a))}]"
    return f"%{a.name}" if isinstance(a, Node) else str(a)
