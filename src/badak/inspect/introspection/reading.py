"""What a function is made of, read from its code: operations, kernels, other functions, methods of tensors.

A name is looked up as Python does, in the function's closure and its module; what stands in a local variable is not known, but
for a kernel set. So a reading says what a function *may* call; which of it runs depends on the arguments.
"""

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from badak.autograd import Function
from badak.core.public_api import home
from badak.inspect.introspection.source import function_of, inside, node_of
from badak.kernels import reference
from badak.nn import Module
from badak.ops.op import Op

_SETS = ("of", "active", "reference")  # what `kernels.` gives a kernel set by
_NOTHING = object()
_TENSORS = frozenset(
    "input self other tensor tensors x y a b q k v w h weight bias value values logits loss target mask src tgt memory query key "
    "x1 x2 input1 input2 mat1 mat2 anchor positive negative start end probs out grid theta index indices A B X L".split()
)  # arguments of these names hold tensors, for all that one can see
_ROOMS = ("badak.tensor.", "badak.nn.functional.")  # whose functions give tensors, as a rule
_LOOP = ast.For | ast.comprehension
_COMPARED = ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq | ast.NotEq
_PLAIN = frozenset(name for kind in (np.ndarray, str, list, dict, set, int, np.random.RandomState) for name in dir(kind))
_PARTS = frozenset("T mT H mH real imag data grad".split())  # attributes of a tensor that are tensors
_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.MatMult: "matmul", ast.Mod: "remainder",
    ast.FloorDiv: "floor_divide", ast.USub: "neg", ast.Invert: "bitwise_not", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip


@dataclass
class Reading:
    """What stands in the code of one function, each once, in order."""

    ops: list[type[Op]] = field(default_factory=list)
    kernels: list[str] = field(default_factory=list)  # names in the reference set, or functions of its files
    functions: list[FunctionType] = field(default_factory=list)  # of badak
    layers: list[type[Module]] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)  # x.name(...), of something that is not known
    operators: list[str] = field(default_factory=list)  # x + y and its kin, likewise: as methods of Tensor
    numpy: list[str] = field(default_factory=list)

    def note(self, value: Any, depth: int = 0) -> None:
        """Take note of a value that the code names."""
        if isinstance(value, type):
            if issubclass(value, Op) and value is not Op:
                _add(self.ops, value)
            elif issubclass(value, Module) and value is not Module:
                _add(self.layers, value)
        elif isinstance(value, np.ufunc):
            _add(self.numpy, value.__name__)
        elif callable(value) and str(getattr(value, "__module__", "")).startswith("numpy") and not isinstance(value, type):
            _add(self.numpy, value.__name__)
        elif isinstance(value, list | tuple | dict | set | frozenset) and depth < 2:  # a table of functions
            for part in value.values() if isinstance(value, dict) else value:
                if callable(part) or isinstance(part, list | tuple):
                    self.note(part, depth + 1)
        elif callable(value):
            own: Any = getattr(value, "__self__", None)
            applied = isinstance(own, type) and issubclass(own, Function) and value.__name__ == "apply"
            function = function_of(own.forward if applied else value)
            if function is not None and inside(function.__code__.co_filename):
                kernel = _plain_name(function)
                _add(self.kernels, kernel) if kernel else _add(self.functions, function)


def _add(found: list, value: Any) -> None:
    if value not in found:
        found.append(value)


def _plain_name(function: FunctionType) -> str:
    """The name of a reference kernel, with its file where the set does not list it; "" for what is none."""
    space = function.__globals__.get("__name__", "")
    if not space.startswith("badak.kernels.reference.") or space.endswith("._arrays"):
        return ""
    listed = vars(reference).get(function.__name__)
    return function.__name__ if listed and function_of(listed) is function else f"{space.rpartition('.')[2]}.{function.__name__}"


@cache
def read(function: FunctionType, owner: type | None = None) -> Reading:
    """What the code of this function names; owner: the class whose `self` its first argument is."""
    reading, node = Reading(), node_of(function)
    if node is not None:
        for each in _in_order(node, _Scope(function, node, owner), reading):
            reading.note(each)
    return reading


class _Scope:
    """What names mean inside a function."""

    def __init__(self, function: FunctionType, node: Any, owner: type | None):
        cells = zip(function.__code__.co_freevars, function.__closure__ or ())
        self.known = vars(builtins) | function.__globals__ | {name: _content(cell) for name, cell in cells}
        arguments = node.args
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg) if each]
        local = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        hinted = [each for each in arguments.args if isinstance(each.annotation, ast.Name) and each.annotation.id == "Tensor"]
        inner = [each.arg for each in ast.walk(node) if isinstance(each, ast.arg)]  # of lambdas too
        self.tensors = {name for name in inner if name in _TENSORS} | {each.arg for each in hinted}
        self.sets = {name for each in ast.walk(node) if isinstance(each, ast.Assign) for name in self._kernel_sets(each)}
        for name in (*names, *local):
            self.known.pop(name, None)
        if owner is not None and names:
            self.known[names[0]] = owner
        for _ in range(2):  # what is computed from tensors is one
            for each in ast.walk(node):
                if isinstance(each, ast.Assign | _LOOP) and self.is_tensor(
                    each.value if isinstance(each, ast.Assign) else each.iter
                ):
                    for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
                        self.tensors |= {name.id for name in ast.walk(target) if isinstance(name, ast.Name)}

    def _kernel_sets(self, node: ast.Assign) -> Iterator[str]:
        """The local names that an assignment gives to a kernel set: kernel = kernels.of(x)."""
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts))
            yield from (name.id for name, value in pairs if isinstance(name, ast.Name) and self.is_set(value))

    def is_set(self, node: ast.AST) -> bool:
        """Whether an expression gives a kernel set: kernels.of(x), kernels.reference, a variable that holds one."""
        if isinstance(node, ast.Call):
            node = node.func
        if isinstance(node, ast.Name):
            return node.id in getattr(self, "sets", ())
        return (
            isinstance(node, ast.Attribute)
            and node.attr in _SETS
            and isinstance(node.value, ast.Name)
            and node.value.id == "kernels"
        )

    def is_tensor(self, node: Any) -> bool:
        """Whether an expression looks like a tensor, or a list of them."""
        if isinstance(node, ast.Name):
            return node.id in self.tensors
        if isinstance(node, ast.Attribute):
            return node.attr in _PARTS and self.is_tensor(node.value)
        if isinstance(node, ast.Subscript | ast.Starred):
            return self.is_tensor(node.value)
        if isinstance(node, ast.BinOp):
            return self.is_tensor(node.left) or self.is_tensor(node.right)
        if isinstance(node, ast.Compare):
            return isinstance(node.ops[0], _COMPARED) and any(map(self.is_tensor, (node.left, *node.comparators)))
        if isinstance(node, ast.UnaryOp):
            return self.is_tensor(node.operand)
        if isinstance(node, ast.IfExp):
            return self.is_tensor(node.body) or self.is_tensor(node.orelse)
        if isinstance(node, ast.Tuple | ast.List):
            return any(map(self.is_tensor, node.elts))
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return self.is_tensor(node.elt) or self.is_tensor(node.generators[0].iter)
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and self.is_tensor(node.func.value):
                return True
            function = function_of(self.value(node.func))
            known = function is not None and inside(function.__code__.co_filename)
            return known and (home(function).startswith(_ROOMS) or any(map(self.is_tensor, node.args)))
        return False

    def value(self, node: ast.AST) -> Any:
        """What a name or a chain of attributes stands for; _NOTHING where that is not known."""
        if isinstance(node, ast.Name):
            return self.known.get(node.id, _NOTHING)
        if isinstance(node, ast.Attribute):
            base = self.value(node.value)
            if isinstance(base, ModuleType | type):
                return getattr(base, node.attr, _NOTHING)
        return _NOTHING


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _NOTHING


def _in_order(node: ast.AST, scope: _Scope, reading: Reading) -> Iterator[Any]:
    """The values that an expression names, in order; methods, operators and kernels are noted on the way."""
    if isinstance(node, ast.Raise):
        return
    if isinstance(node, ast.Name | ast.Attribute):
        value = scope.value(node)
        if value is not _NOTHING:
            yield value
            return
    if isinstance(node, ast.Attribute):
        if scope.is_set(node.value):
            _add(reading.kernels, node.attr)
        elif scope.is_tensor(node.value) or (node.attr not in _PLAIN and scope.value(node.value) is _NOTHING):
            _add(reading.methods, node.attr)  # what has such a name is a method of a tensor, if tensors have one of it
    operator: Any = getattr(node, "op", None) or (node.ops[0] if isinstance(node, ast.Compare) else None)
    words = any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in ast.iter_child_nodes(node))
    if type(operator) in _OPERATORS and not words and any(map(scope.is_tensor, ast.iter_child_nodes(node))):
        _add(reading.operators, _OPERATORS[type(operator)])
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and scope.is_tensor(node.value):
        _add(reading.operators, "__getitem__")
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for each in child if isinstance(child, list) else [child]:
            if isinstance(each, ast.AST):
                yield from _in_order(each, scope, reading)
