"""`torch.fx`: badak does not trace programs. The marks for tracing are accepted, the classes of traces can be named."""

from types import SimpleNamespace
from typing import Any, NoReturn

from badak.core.public_api import MissingName


class _Traced:
    """What a traced program is made of: nothing is an instance, and making one is an error."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        name = next(kind.__name__ for kind in cls.__mro__ if kind.__module__ == __name__)
        raise MissingName(f"torch.fx.{name}: badak does not trace programs", "call the module itself")


class Proxy(_Traced):
    """What stands for a value in a trace."""


class Node(_Traced):
    """One operation of a trace."""


class Graph(_Traced):
    """A trace."""


class GraphModule(_Traced):
    """A module made of a trace."""


class Tracer(_Traced):
    """What makes a trace."""


class Interpreter(_Traced):
    """What runs a trace."""


class Transformer(_Traced):
    """What rewrites a trace."""


node = SimpleNamespace(Node=Node, Target=Any, Argument=Any)
proxy = SimpleNamespace(Proxy=Proxy)
graph = SimpleNamespace(Graph=Graph)
graph_module = SimpleNamespace(GraphModule=GraphModule)


def symbolic_trace(root: Any, concrete_args: Any = None) -> NoReturn:
    """Raises MissingName: badak does not trace programs."""
    raise MissingName("torch.fx.symbolic_trace: badak does not trace programs", "call the module itself")


def wrap(fn_or_name):
    """The function or name itself."""
    return fn_or_name


def has_side_effect(fn):
    """The function itself."""
    return fn
