"""`torch.fx.symbolic_trace`: a module is run once on proxies, and what it does is written down as a graph."""

import inspect
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

from badak.compat.torch.checks import _assert
from badak.compat.torch.fx.graph import Graph
from badak.compat.torch.fx.graph_module import GraphModule
from badak.compat.torch.fx.node import map_aggregate
from badak.compat.torch.fx.proxy import Proxy, TracerBase
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, expect_function, expect_kind, tr
from badak.core.events import Observer
from badak.core.public_api import overriding
from badak.core.public_api.homes import home
from badak.nn import Module, Parameter, Sequential
from badak.tensor import Tensor

_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}  # (id of a file's names, name) -> these names


class PHBase:
    """Where concrete_args has no value."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class _Watch(Observer):
    """Hands the calls of modules, and their parameters, to a tracer."""

    def __init__(self, tracer: "Tracer") -> None:
        self.tracer = tracer
        self._passing: Module | None = None

    def on_module_call(self, module: Module, args: tuple, kwargs: dict) -> Any:
        """The tracer says what the call is; what it passes on comes by here again."""
        if self._passing is module:
            self._passing = None
            return NotImplemented

        def forward(*args: Any, **kwargs: Any) -> Any:
            self._passing = module
            return Module.__call__(module, *args, **kwargs)

        return self.tracer.call_module(module, forward, args, kwargs)

    def on_member(self, module: Module, name: str) -> Any:
        """A proxy for a parameter."""
        held = module._parameters.get(name)
        if held is None and self.tracer.proxy_buffer_attributes:
            held = module._buffers.get(name)
        return NotImplemented if held is None else self.tracer.getattr(name, held, self.tracer.parameter_proxies)


class Tracer(TracerBase):
    """Traces modules; a subclass says by `is_leaf_module` which ones are one node, by `create_arg` what else a node may take.

    Args:
        autowrap_modules: Python modules whose functions become nodes where they are called with proxies
        autowrap_functions: such functions
        param_shapes_constant: accepted; shapes of parameters become nodes
    """

    def __init__(
        self, autowrap_modules: tuple[ModuleType, ...] = (math,), autowrap_functions: tuple[Callable, ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:  # fmt: skip
        self._autowrapped = {id(f) for f in autowrap_functions}
        for module in autowrap_modules:
            self._autowrapped |= {id(f) for name, f in vars(module).items() if not name.startswith("_") and callable(f)}
        self._searched = list(autowrap_modules)
        self.root: Module = Module()
        self.parameter_proxies: dict[str, Proxy] = {}
        self._constants: dict[int, str] = {}

    # what a subclass may say

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a call of the module is one node: those of badak.nn, but Sequential."""
        return home(type(m)).startswith(("badak.nn", "torch.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The name of a module below the root."""
        name = next((name for name, each in self.root.named_modules(remove_duplicate=False) if each is mod), None)
        if name is None:
            raise NameError(
                f"module is not installed as a submodule: {type(mod).__name__}\nfix: assign it to an attribute of the module"
            )
        return name

    def call_module(self, m: Module, forward: Callable, args: tuple, kwargs: dict) -> Any:
        """A node for a leaf, what is within for any other."""
        name = self.path_of_module(m)
        if self.is_leaf_module(m, name):
            return self.create_proxy("call_module", name, args, kwargs)
        return forward(*args, **kwargs)

    def _member(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """The proxy of a parameter of the root, made once; anything else as it is."""
        owned = {id(p): name for name, p in [*self.root.named_buffers(), *self.root.named_parameters()]}
        name = owned.get(id(attr_val))
        if name is None:
            return attr_val
        if name not in parameter_proxy_cache:
            parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {})
        return parameter_proxy_cache[name]

    getattr = _member  # PyTorch's name

    def create_arg(self, a: Any) -> Any:
        """As that of TracerBase; tensors and modules become get_attr nodes, of constants of the root where nobody holds them."""
        if isinstance(a, Tensor):
            return self.create_node("get_attr", self._name_of_tensor(a), (), {})
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super().create_arg(a)

    def _name_of_tensor(self, a: Tensor) -> str:
        for name, held in [*self.root.named_parameters(), *self.root.named_buffers()]:
            if held is a:
                return name
        if isinstance(a, Parameter):
            raise NameError("parameter is not a member of this module\nfix: assign it to an attribute of the module")
        for prefix, module in self.root.named_modules():
            for name, value in vars(module).items():
                if value is a:
                    return f"{prefix}.{name}" if prefix else name
        number = 0
        while hasattr(self.root, f"_tensor_constant{number}"):
            number += 1
        setattr(self.root, f"_tensor_constant{number}", a)
        return f"_tensor_constant{number}"

    # tracing

    def trace(self, root: Module | Callable, concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of a module or function.

        Args:
            root: what is traced
            concrete_args: argument -> the value that it has in all calls, for switches and for None

        Returns: Graph
        """
        if isinstance(root, Module):
            function = type(root).forward if not isinstance(vars(root).get("forward"), FunctionType) else vars(root)["forward"]
            self.root, own = root, (root,) if "forward" not in vars(root) else ()
        else:
            expect_function("symbolic_trace", root)
            function, self.root, own = root, Module(), ()
        self.graph = Graph(tracer_cls=type(self))
        self.parameter_proxies = {}
        overriding.add(Proxy)
        try:
            with _Watch(self), _wrapped(self._autowrapped, self._searched, function):
                args, kwargs = self._arguments(function, len(own), concrete_args or {})
                result = _with_whole_stars(function)(*own, *args, **kwargs)
                kind = getattr(function, "__annotations__", {}).get("return")
                self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=kind)
        finally:
            overriding.remove(Proxy)
        return self.graph

    def _arguments(self, function: Callable, skipped: int, concrete: dict[str, Any]) -> tuple[list, dict]:
        """A proxy for each argument, and the values of those that are concrete."""
        expect_kind(concrete, dict, "symbolic_trace: expected concrete_args as a dict; got {}", "concrete_args={'flag': True}")
        parameters = list(inspect.signature(function).parameters.values())[skipped:]
        if unknown := sorted(concrete.keys() - {each.name for each in parameters}):
            cause = tr("symbolic_trace: concrete_args has {!r}, but the arguments are {}", unknown[0],
                       tr(", ").join(p.name for p in parameters))  # fmt: skip
            raise ArgumentError(cause, "names of arguments")
        whole = _with_whole_stars(function) is not function
        if whole:
            parameters.sort(key=lambda each: (each.kind is each.VAR_POSITIONAL) + 2 * (each.kind is each.VAR_KEYWORD))
        args: list = []
        kwargs: dict = {}
        kinds = getattr(function, "__annotations__", {})
        for each in parameters:
            default = () if each.default is each.empty else (each.default,)
            if each.name in concrete:
                made = self._concrete(each.name, concrete[each.name], default)
            else:
                stars = "*" if each.kind is each.VAR_POSITIONAL else "**" if each.kind is each.VAR_KEYWORD else ""
                name = stars + each.name
                made = self.create_proxy("placeholder", name, default, {}, type_expr=kinds.get(each.name))
            if not whole and each.kind in (each.VAR_KEYWORD, each.KEYWORD_ONLY):
                kwargs[each.name] = made
            else:
                args.append(made)
        return args, kwargs

    def _concrete(self, name: str, value: Any, default: tuple) -> Any:
        """The value of an argument, and a node that raises where a call gives another one."""
        if isinstance(value, tuple | list | dict):
            cause = tr("symbolic_trace: concrete_args[{!r}] is a {}: not supported", name, type(value).__name__)
            raise NotSupportedError(cause, "give the values as arguments of their own")
        out = self.create_proxy("placeholder", f"{name}_1", default, {})
        if isinstance(value, PHBase):
            return out
        text = f"{name} has been specialized to have value {value} but got another value"
        if value is None:
            self.create_proxy("call_function", _assert_is_none, (out, text), {})
        elif isinstance(value, bool | int | float | str):
            self.create_proxy("call_function", _assert, (out == value, text), {})
        return value


def _with_whole_stars(function: Callable) -> Callable:
    """A function with *args or **kwargs as one that takes each of both as one argument, by place: a proxy stands for all of it."""
    stars = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__") or not function.__code__.co_flags & stars:
        return function
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount + (code.co_flags & stars).bit_count()
    plain: dict[str, Any] = {"co_flags": code.co_flags & ~stars, "co_argcount": count}
    plain |= {"co_posonlyargcount": 0, "co_kwonlyargcount": 0}
    return FunctionType(code.replace(**plain), function.__globals__, function.__name__, None, function.__closure__)


def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise ArgumentError(msg, "trace again with the other value in concrete_args")


# ---------------------------------------------------------------- functions that become nodes


def _calls_node(function: Callable) -> Callable:
    """The function: a node where an argument is a proxy."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        found: list[Proxy] = []
        map_aggregate((args, kwargs), lambda x: found.append(x) if isinstance(x, Proxy) else None)
        if not found:
            return function(*args, **kwargs)
        made = found[0].tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return wrapped


@contextmanager
def _wrapped(ids: set[int], searched: list[ModuleType], function: Callable) -> Iterator[None]:
    """A block in which the functions of `wrap`, and the chosen ones, become nodes."""
    before: list[tuple[Any, str, Any]] = []

    def patch(names: Any, name: str, made: Any, old: Any) -> None:
        before.append((names, name, old))
        names[name] = made

    try:
        for (_, name), names in list(_wrapped_fns_to_patch.items()):
            old = names.get(name) or vars(sys.modules["builtins"])[name]
            patch(names, name, _calls_node(old), names.get(name, NotImplemented))
        places = [vars(module) for module in searched] + [getattr(inspect.unwrap(function), "__globals__", {})]
        for names in places:
            for name, value in list(names.items()):
                if id(value) in ids and not name.startswith("_"):
                    patch(names, name, _calls_node(value), value)
        yield
    finally:
        for names, name, old in reversed(before):
            if old is NotImplemented:
                del names[name]
            else:
                names[name] = old


def wrap(fn_or_name: str | Callable) -> Any:
    """Let a function of this file be one node where it is called with proxies. Call it at the level of the file.

    Args:
        fn_or_name: the function, or its name; also that of a builtin such as "len"

    Returns: what was given, so that it serves as a decorator
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        cause = tr("wrap: expected a function or its name; got {}", type(fn_or_name).__name__)
        raise ArgumentTypeError(cause, "fx.wrap('len'), or @fx.wrap over the function")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("badak."):
        frame = frame.f_back
    assert frame is not None
    if frame.f_code.co_name != "<module>" and frame.f_locals is not frame.f_globals:
        raise NotSupportedError("wrap must be called at the top level of a module", "move fx.wrap(...) out of the function")
    _wrapped_fns_to_patch[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def is_fx_tracing() -> bool:
    """Whether a Tracer is at work."""
    return Proxy in overriding.active


is_fx_symbolic_tracing = is_fx_tracing


def symbolic_trace(root: Module | Callable, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """Trace a module or function into a GraphModule.

    Args:
        root: a module, or a function of tensors
        concrete_args: argument -> its value in all calls, for switches that decide over control flow

    Returns: GraphModule, which computes the same and holds the `graph`

    Raises:
        TraceError: control flow depends on a value

    Example:
        >>> from badak import fx
        >>> traced = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
        >>> [node.op for node in traced.graph.nodes]
        ['placeholder', 'call_module', 'call_module', 'output']
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else getattr(root, "__name__", "GraphModule")
    return GraphModule(tracer.root, graph, name)
