"""The Python code of a graph of `torch.fx`."""

import builtins
import json
import keyword
import math
import operator
import re
from enum import Enum
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import badak
from badak.compat.torch.fx.node import Node, qualified_name
from badak.core.errors import ArgumentError, package, tr
from badak.core.public_api.homes import home
from badak.tensor import Tensor
from badak.tensor import device as device_type

if TYPE_CHECKING:
    from badak.compat.torch.fx.graph import Graph

reflectable_magic_methods = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}", "mod": "{} % {}",
    "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}",
    "getitem": "{}[{}]", "matmul": "{} @ {}",
}  # fmt: skip
magic_methods = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}",
    "pos": "+{}", "neg": "-{}", "invert": "~{}", **reflectable_magic_methods,
}  # fmt: skip
_NOT_IN_PLACE = ("getitem", "eq", "ne", "lt", "gt", "le", "ge", "pos", "neg", "invert")
inplace_methods = {f"i{name.rstrip('_')}": text for name, text in magic_methods.items() if name not in _NOT_IN_PLACE}
inplace_methods = {name: re.sub(r"(\S+) \{\}$", r"\1= {}", text) for name, text in inplace_methods.items()}
inplace_methods["setitem"] = "{}[{}] = {}"
_TAKEN = {name: object() for name in keyword.kwlist} | vars(builtins) | {"inf": math.inf, "nan": math.nan, "NoneType": type(None)}


class PythonCode(NamedTuple):
    """The text of a graph's `forward`, and what its names stand for."""

    src: str
    globals: dict[str, Any]


class _Namespace:
    """Names that are used once."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Any, str]] = {}  # id -> (the object, kept alive, its name)
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """A name like `candidate` that nobody has; the same one again for the same object."""
        if obj is not None and id(obj) in self._of:
            return self._of[id(obj)][1]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        candidate = f"_{candidate}" if candidate[0].isdigit() else candidate
        split = re.match(r"(.*?)(?:_(\d+))?$", candidate)
        assert split is not None
        base, number = split.groups()
        if number is None or candidate in self._used:
            count = self._counts.get(base, 0)
            heads = {"torch": badak, package(): badak, "device": device_type}
            taken = _TAKEN | heads
            if candidate in taken and taken[candidate] is not obj:
                count += 1
                candidate = f"{base}_{count}"
        else:
            count = int(number)
        while candidate in self._used:
            count += 1
            candidate = f"{base}_{count}"
        self._used.add(candidate)
        self._counts[base] = count
        if obj is not None:
            self._of[id(obj)] = obj, candidate
        return candidate


def _path(base: str, target: str) -> str:
    for name in target.split("."):
        base = f"{base}.{name}" if name.isidentifier() else f"getattr({base}, {json.dumps(name)})"
    return base


def last_uses(graph: "Graph") -> dict[Node, list[Node]]:
    """For each node the values that none after it takes."""
    last: dict[Node, list[Node]] = {}
    seen: set[Node] = set()
    for node in reversed(graph.nodes):
        for x in node.all_input_nodes:
            if x not in seen:
                seen.add(x)
                last.setdefault(node, []).append(x)
    return last


class Code:
    """Writes the code of one graph."""

    def __init__(self, graph: "Graph", root: str) -> None:
        self.graph, self.root = graph, root
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.names = _Namespace()
        self.arguments: list[str] = []
        self.returns = ""
        self.body: list[str] = []
        for node in graph.nodes:  # no global gets the name of a value
            self.names.create_name(node.name, node)

    def python(self) -> PythonCode:
        """The code, and what its names stand for."""
        last = last_uses(self.graph)
        for node in self.graph.nodes:
            line = self.statement(node)
            if line is None:
                continue
            over = [] if node.op in ("placeholder", "output") else [*last.get(node, ()), *([] if node.users else [node])]
            self.body.append(f"{line};  {' = '.join(map(repr, over))} = None" if over else line)
        marks = "\n".join(f'{self.name_of(badak)}.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped)
        lines = [*(self.body or ["pass"]), ""]
        head = f"def forward({', '.join([self.root, *self.arguments])}){self.returns}:"
        return PythonCode("\n".join(["", marks, "", head, *(f"    {line}" for line in lines)]), self.globals)

    def name_of(self, thing: Any, hint: str = "") -> str:
        """A global name of a function, type or module."""
        if thing is badak:
            self.globals[package()] = badak
            return package()
        hint = hint or qualified_name(thing)
        if hint in vars(builtins) and vars(builtins)[hint] is thing:
            return hint
        if _found(hint) is thing:
            self.globals[package()] = badak
            return hint
        if isinstance(thing, ModuleType):
            hint = thing.__name__
        name = self.names.create_name(hint.replace(".", "_"), thing)
        self.globals[name] = thing
        return name

    def type_of(self, kind: Any) -> str:
        """A type as text."""
        if kind is None or kind == ():
            return "None" if kind is None else "()"
        if kind is Tensor:
            return f"{self.name_of(badak)}.Tensor"
        if isinstance(kind, str):
            return repr(kind)
        return self.name_of(kind, getattr(kind, "__qualname__", None) or re.sub(r"\W", "_", str(kind)))

    def text(self, a: Any) -> str:
        """An argument as code."""
        if isinstance(a, Node):
            return a.name
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return f"{self.name_of(type(a))}({', '.join(map(self.text, a))})"
        if isinstance(a, tuple):
            return f"({', '.join(map(self.text, a))}{',' if len(a) == 1 else ''})"
        if isinstance(a, list):
            return f"[{', '.join(map(self.text, a))}]"
        if isinstance(a, dict):
            return f"{{{', '.join(f'{name!r}: {self.text(x)}' for name, x in a.items())}}}"
        if isinstance(a, slice):
            return f"slice({self.text(a.start)}, {self.text(a.stop)}, {self.text(a.step)})"
        if isinstance(a, Enum):
            return f"{self.name_of(type(a), type(a).__name__)}.{a.name}"
        if isinstance(a, float) and not math.isfinite(a):
            return f"float({str(a)!r})"
        if a is None or a is ... or isinstance(a, int | float | str | complex | bytes | range):
            return repr(a)
        shown = repr(a)
        if shown.startswith(f"{package()}.") and _found(shown) is a:
            self.name_of(badak)
            return shown
        if isinstance(a, device_type):
            return f"{self.name_of(badak)}.{shown}" if not shown.startswith(package()) else shown
        return self.name_of(a, getattr(a, "__name__", None) and qualified_name(a) or f"_{type(a).__name__.lower()}")

    def call(self, function: str, args: tuple, kwargs: dict) -> str:
        """A call as code."""
        if wrong := next((name for name in kwargs if not name.isidentifier()), None):
            raise ArgumentError(tr("Graph: {!r} is no name of an argument", wrong), "a Python identifier")
        return f"{function}({', '.join([*map(self.text, args), *(f'{name} = {self.text(x)}' for name, x in kwargs.items())])})"

    def statement(self, node: Node) -> str | None:
        """The line of a node; None where it has none."""
        kind = "" if node.type is None else f" : {self.type_of(node.type)}"
        to, args = f"{node.name}{kind} = ", node.args
        if node.op == "placeholder":
            plain = node.target.lstrip("*")
            if not plain.isidentifier():
                raise ArgumentError(tr("Graph: {!r} is no name of an argument", node.target), "a Python identifier")
            self.arguments.append(f"{node.target}{kind}" + (f" = {self.text(args[0])}" if args else ""))
            return None if plain == node.name else f"{node.name} = {plain}"
        if node.op == "output":
            self.returns = "" if node.type is None else f" -> {self.type_of(node.type)}"
            return f"return {self.text(args[0])}"
        if node.op == "get_attr":
            return to + _path(self.root, node.target)
        if node.op == "call_method":
            return to + self.call(_path(self.text(args[0]), node.target), args[1:], node.kwargs)
        if node.op == "call_module":
            return to + self.call(_path(self.root, node.target), args, node.kwargs)
        target = node.target
        word = str(getattr(target, "__name__", ""))
        if getattr(operator, word, None) is target and not node.kwargs:
            texts = [self.text(a) for a in args]
            if word in inplace_methods:
                return f"{inplace_methods[word].format(*texts)};  {to}{texts[0]}"
            if word in magic_methods:
                return to + magic_methods[word].format(*texts)
        name = self.name_of(target)
        if target is getattr and len(args) == 2 and isinstance(args[1], str) and args[1].isidentifier():
            return f"{to}{_path(self.text(args[0]), args[1])}"
        if node.meta.get("is_wrapped"):
            self.wrapped.setdefault(name)
        return to + self.call(name, args, node.kwargs)


def _found(name: str) -> Any:
    """What badak has under "torch.nn.functional.relu", or None."""
    head, *rest = name.split(".")
    found: Any = badak if head == package() else None
    for part in rest:
        found = getattr(found, part, None) if part.isidentifier() else None
    return found if rest and "<" not in name and home(found) is not None else None
