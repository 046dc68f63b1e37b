"""A module made of a graph: its `forward` is the code of the graph."""

import copy
import linecache
from itertools import count
from typing import Any

import badak
from badak.compat.torch.fx.graph import Graph, PythonCode, _has
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, expect_kind, tr
from badak.nn import Module, Parameter
from badak.tensor import Tensor

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_numbers = count()


class _CodeOnlyModule(Module):
    """A module with the attributes of another one, before its code is written."""

    def __init__(self, body: dict) -> None:
        super().__init__()
        self.__dict__ = body


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Let to_module.target be from_module.target."""
    *path, last = target.split(".")
    for name in path:
        from_module = getattr(from_module, name)
        if not hasattr(to_module, name):
            setattr(to_module, name, Module())
        to_module = getattr(to_module, name)
    _put(to_module, last, getattr(from_module, last))


def _put(module: Module, name: str, value: Any) -> None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


class GraphModule(Module):
    """A module whose forward is a graph. After a change of the graph, `recompile()` writes its code again.

    Args:
        root: the module whose submodules, parameters and buffers the graph names, or a dict of them
        graph: Graph
        class_name: what the module is called in its repr

    Example:
        >>> from badak import fx
        >>> traced = fx.symbolic_trace(nn.ReLU())
        >>> traced.code.strip().splitlines()[0]
        'def forward(self, x):'
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> "GraphModule":
        own = next(each for each in cls.__mro__ if each.__name__ != "GraphModuleImpl")  # each has a forward of its own
        return super().__new__(type("GraphModuleImpl", (own,), {}))

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        expect_kind(graph, Graph, "GraphModule: expected a Graph; got {}", "fx.symbolic_trace(module).graph")
        self.__class__.__name__ = class_name
        targets = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = root.training
            for target in targets:
                if not _has(root, target):
                    cause = tr("GraphModule: the graph names {!r}, which the root has not", target)
                    raise ArgumentError(cause, "a root that has it")
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for target in sorted(set(targets), key=lambda target: target.count(".")):
                if target not in root:
                    cause = tr("GraphModule: the graph names {!r}, which the dict has not", target)
                    raise ArgumentError(cause, "a dict that has it")
                *path, last = target.split(".")
                owner: Module = self
                for name in path:
                    if not hasattr(owner, name):
                        setattr(owner, name, Module())
                    owner = getattr(owner, name)
                _put(owner, last, root[target])
        else:
            cause = tr("GraphModule: expected a module or a dict as root; got {}", type(root).__name__)
            raise ArgumentTypeError(cause, "nn.Module()")
        self.meta: dict[str, Any] = {}
        self.graph = graph

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.__dict__["_graph"]

    @graph.setter
    def graph(self, graph: Graph) -> None:
        expect_kind(graph, Graph, "GraphModule.graph: expected a Graph; got {}", "fx.Graph()")
        self.__dict__["_graph"] = graph
        graph.owning_module = self
        self.recompile()

    def recompile(self) -> PythonCode:
        """Write the code of the graph again, and run that from now on."""
        code = self.graph.python_code("self")
        self.__dict__["_code"] = code.src
        file = f"<eval_with_key>.{next(_numbers)}"
        names = {**code.globals, "badak": badak, "torch": badak}
        exec(compile(code.src, file, "exec"), names)  # noqa: S102  (the text is the graph's own, of checked names)
        linecache.cache[file] = (len(code.src), None, code.src.splitlines(True), file)
        type(self).forward = names["forward"]
        return code

    @property
    def code(self) -> str:
        """The code of forward."""
        return self.__dict__["_code"]

    def print_readable(self, print_output: bool = True, **options: Any) -> str:
        """The code as that of a class; printed, unless print_output is False."""
        lines = self.graph.python_code("self").src.lstrip("\n").split("\n")
        body = "\n".join(f"    {line}" if line.strip() else line for line in lines)
        text = f"class {type(self).__name__}(torch.nn.Module):\n{body}"
        for name, child in self.named_children():
            if isinstance(child, GraphModule):
                inner = child.print_readable(print_output=False).replace(type(child).__name__, name, 1)
                text += "\n\n" + "\n".join(f"    {line}" if line else "" for line in inner.split("\n"))
        if print_output:
            print(text)  # noqa: T201
        return text

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a path, such as "layers.2", making what is missing on the way; gives whether that was possible."""
        *path, last = target.split(".")
        owner: Module = self
        for name in path:
            if not hasattr(owner, name):
                setattr(owner, name, Module())
            owner = getattr(owner, name)
            if not isinstance(owner, Module):
                return False
        owner.add_module(last, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Take a submodule out; gives whether it was there."""
        path, _, last = target.rpartition(".")
        if not _has(self, target) or not isinstance(getattr(self.get_submodule(path), last), Module):
            return False
        delattr(self.get_submodule(path), last)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take out the submodules that no node of the graph needs."""
        targets = [node.target for node in self.graph.nodes if node.op in ("call_module", "get_attr")]
        needed = lambda name: any(f"{target}.".startswith(f"{name}.") or f"{name}.".startswith(f"{target}.") for target in targets)
        for name in [name for name, _ in self.named_modules() if name and not needed(name)]:
            self.delete_submodule(name)

    def __deepcopy__(self, memo: dict) -> "GraphModule":
        kept = {name: value for name, value in vars(self).items() if name not in ("_graph", "_code")}
        twin = GraphModule.__new__(type(self).__mro__[1])
        memo[id(self)] = twin
        twin.__dict__.update({name: copy.deepcopy(value, memo) for name, value in kept.items()})
        type(twin).__name__ = type(self).__name__
        twin.graph = copy.deepcopy(self.graph)
        return twin

    def __copy__(self) -> "GraphModule":
        return GraphModule(self, copy.deepcopy(self.graph), type(self).__name__)

    def __reduce__(self) -> Any:
        cause = tr("GraphModule: a pickle of it would hold code")
        raise NotSupportedError(cause, "torch.export.save, torch.jit.save of a trace, or save its state_dict")

    def __str__(self) -> str:
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self.code, hint])
