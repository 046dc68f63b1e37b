"""Why a tensor has no graph, found when backward() misses it: nothing is noted beforehand.

The frame that calls backward() still has its names, and its source says what the loss was made of. Going back through the
assignments, the first expression that takes something with a graph and gives something without is where the graph ends.
"""

import ast
import inspect
import linecache
import textwrap
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from badak.core.errors import GraphError, file_name, tr, user_frame

if TYPE_CHECKING:
    from badak.tensor.tensor import Tensor

_LEAVES = {"detach", "data", "detach_"}
_NUMBERS = {"item", "tolist", "numpy", "float", "int", "array", "asarray", "tensor", "as_tensor", "from_numpy"}
_CHOICES = {"argmax", "argmin", "argsort", "eq", "ne", "lt", "le", "gt", "ge", "long", "int", "bool", "multinomial", "searchsorted"}
_OF_TORCH = {"tensor", "as_tensor", "array", "asarray", "from_numpy"}  # functions; elsewhere `x.float()` keeps the graph
_SWITCHES = {"no_grad", "inference_mode"}
_WHOLE = ("int", "long", "bool", "short")  # in the argument of x.to(...) and x.type(...)
_DEEP = 12
_NONE, _SEEN, _UNKNOWN = object(), object(), object()  # nothing of it had a graph, something had, what is called may have


class Cut(NamedTuple):
    """Where the graph ends: what does it ("leaves", "numbers", "choice", "no_grad", "inside", "nothing"), its code, its place."""

    how: str
    code: str
    place: str


def complaint(y: "Tensor") -> GraphError:
    """What backward() says of a tensor without a graph."""
    cut = _find(y)
    head = tr("element 0 of tensors does not require grad and does not have a grad_fn")
    how, code, place = cut or ("", "", "")
    if how == "leaves":
        cause, fix = tr("{}: {} ({}) leaves the graph", head, code, place), tr("leave it out where a gradient is to flow")
    elif how == "numbers":
        cause = tr("{}: {} ({}) takes the numbers out of the graph", head, code, place)
        fix = tr("compute with the tensor itself; item(), numpy(), tolist() and badak.tensor(x) are copies without a history")
    elif how == "choice":
        cause = tr("{}: {} ({}) gives integers or truth values, which have no gradient", head, code, place)
        fix = tr("compute the loss from the scores before it: cross_entropy(logits, labels)")
    elif how == "no_grad":
        cause, fix = tr("{}: {} ({}) was computed under no_grad()", head, code, place), tr("compute the loss outside no_grad()")
    elif how == "nothing":
        cause = tr("{}: nothing that {} ({}) was computed from requires grad", head, code, place)
        fix = tr("compute it with a model whose parameters are not frozen, or from a tensor with requires_grad=True")
    else:
        cause = tr("{}: the tensor of shape {} was computed under no_grad() or from detached data", head, tuple(y.shape))
        fix = tr("compute the loss outside no_grad(), from parameters with requires_grad=True, and without .detach() or .item()")
        if how == "inside":
            cause = tr("{}: what {} ({}) gave was computed under no_grad() or from detached data", head, code, place)
    return GraphError(cause, fix, code=23)


def _find(y) -> Cut | None:
    """Where the graph of y ends, as the source of its program has it; None where that cannot be read."""
    try:
        frame, depth = user_frame(), 0
        while frame is not None and depth < _DEEP:
            reading = _Reading.of(frame)
            found = reading and reading.of_tensor(y, depth == 0)
            if found:
                return found
            frame, depth = frame.f_back, depth + 1
    except (OSError, SyntaxError, ValueError, RecursionError):
        pass
    return None


class _Reading:
    """The source of a running function, and the values of its names."""

    def __init__(self, frame: FrameType | None, body: ast.AST, path: str, names: dict[str, Any]):
        self.frame, self.body, self.path, self.names = frame, body, path, names
        self.above = {child: node for node in ast.walk(body) for child in ast.iter_child_nodes(node)}
        self.depth = 0

    @classmethod
    def of(cls, frame: FrameType) -> "_Reading | None":
        code = frame.f_code
        source = "".join(linecache.getlines(code.co_filename, frame.f_globals))
        if not source:
            return None
        tree: ast.AST = ast.parse(source)
        if code.co_name != "<module>":
            functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))
            named = (node for node in functions if code.co_firstlineno in _first_lines(node))
            found = next(named, None)
            if found is None:
                return None
            tree = found
        return cls(frame, tree, code.co_filename, {**frame.f_globals, **frame.f_locals})

    def of_tensor(self, y, innermost: bool) -> Cut | None:
        """The cut behind y: the receiver of the call that runs here, or a name that y has."""
        assert self.frame is not None
        if innermost and (asked := self._asked()) is not None:
            return self._ended(asked, self.explain(asked, self.frame.f_lineno))
        for name, value in self.frame.f_locals.items():
            if value is y and self._assigned(name, self.frame.f_lineno):
                node = ast.Name(name, ast.Load(), lineno=self.frame.f_lineno)
                return self._ended(node, self.explain(node, self.frame.f_lineno))
        return None

    def _asked(self) -> ast.expr | None:
        """The expression on which the running call asks for gradients: `loss` in loss.backward(), in backward(loss)."""
        assert self.frame is not None
        place = list(self.frame.f_code.co_positions())[self.frame.f_lasti // 2]
        for node in ast.walk(self.body):
            if isinstance(node, ast.Call) and (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == place:
                if isinstance(node.func, ast.Attribute) and node.func.attr == "backward" and not self._is_module(node.func.value):
                    return node.func.value
                first = node.args[0] if node.args else None
                return first.elts[0] if isinstance(first, ast.List | ast.Tuple) and first.elts else first
        return None

    def _ended(self, node: ast.expr, found) -> Cut | None:
        """A cut, or that nothing has a graph, or the last expression where its inputs have one."""
        if isinstance(found, Cut):
            return found
        while _path(node):
            made = self._assigned(_path(node), node.lineno)
            if not made:
                return None
            node = made[0]
        return self._cut("nothing", node) if found is _NONE else self._inside(node) or self._cut("inside", node)

    def explain(self, node: ast.expr, line: int):
        """A Cut, or _SEEN, _NONE or _UNKNOWN."""
        self.depth += 1
        if self.depth > 400:
            raise RecursionError
        if isinstance(node, ast.Name) or self._held(node):
            return self._name(node, line)
        if isinstance(node, ast.Lambda | ast.Constant):
            return _NONE
        found = self._together(self._inputs(node), line)
        if isinstance(found, Cut):
            return found
        if found is not _SEEN and not self._begins(node):
            return _NONE if found is _NONE and self._of_badak(node) else self._switched_off(node) or _UNKNOWN
        if how := self._cutter(node):
            return self._cut(how, node)
        return self._switched_off(node) or _SEEN

    def _held(self, node: ast.expr) -> bool:
        """Whether `self.out` stands for what an attribute was given, or holds something with a graph."""
        path = _path(node)
        return bool(path) and not self._cutter(node) and (bool(self._given(path)) or _graphed(self._value(node)))

    def _name(self, node: ast.expr, line: int):
        """What a name had when this line ran; it may have got another value since."""
        path, value = _path(node), self._value(node)
        again = self._changed_since(path, line)
        if _graphed(value) and not again:
            return _SEEN
        if hasattr(value, "_modules") and not again:
            return _NONE
        results = []
        for made in self._assigned(path, line):
            found = self.explain(made, made.lineno)
            if found in (_SEEN, _UNKNOWN) and not again:  # its inputs have a graph, and it has none
                found = self._inside(made) or (self._cut("inside", made) if found is _SEEN else found)
            if isinstance(found, Cut):
                return found
            results.append(found)
        return next((each for each in (_SEEN, _UNKNOWN) if each in results), _NONE)

    def _together(self, nodes: list[ast.expr], line: int):
        found = [self.explain(node, line) for node in nodes]
        cuts = [each for each in found if isinstance(each, Cut)]
        return _SEEN if _SEEN in found else cuts[0] if cuts else _UNKNOWN if _UNKNOWN in found else _NONE

    def _begins(self, node: ast.expr) -> bool:
        """Whether an expression makes something that requires grad: a module, a parameter, zeros(3, requires_grad=True)."""
        if not isinstance(node, ast.Call):
            return False
        called = self._value(node.func)
        made = isinstance(called, type) and (hasattr(called, "named_parameters") or called.__name__ == "Parameter")
        asked = any(each.arg == "requires_grad" and ast.unparse(each.value) == "True" for each in node.keywords)
        return made or asked or getattr(node.func, "attr", "") == "requires_grad_"

    def _of_badak(self, node: ast.expr) -> bool:
        """Whether an expression without a graph in its inputs gives none: all but calls of what the program has written."""
        if not isinstance(node, ast.Call):
            return True
        if isinstance(node.func, ast.Attribute) and not _path(node.func):
            return True  # a method of what has been looked at
        called = self._value(node.func)
        home = getattr(called, "__module__", None) or ""
        return hasattr(called, "_modules") or (called is not None and home.split(".")[0] in ("", "builtins", "badak", "numpy"))

    def _inputs(self, node: ast.expr) -> list[ast.expr]:
        """What the value of an expression is computed from."""
        if isinstance(node, ast.Call):
            function = [] if self._is_module(getattr(node.func, "value", None)) else [node.func]
            return [*function, *node.args, *(word.value for word in node.keywords)]
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            return [node.elt, *(each.iter for each in node.generators)]
        return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]

    def _cutter(self, node: ast.expr, sure: bool = True) -> str:
        """How this expression itself ends the graph, "" where it does not."""
        if isinstance(node, ast.Compare):
            return "choice" if sure else ""
        if isinstance(node, ast.Attribute):
            return "leaves" if node.attr == "data" else ""
        if not isinstance(node, ast.Call):
            return ""
        if isinstance(node.func, ast.Name):
            return "numbers" if node.func.id in ("float", "int") and sure else ""
        name = getattr(node.func, "attr", "")
        function = self._is_module(getattr(node.func, "value", None))
        if name in ("to", "type") and any(word in ast.unparse(each) for each in node.args for word in _WHOLE):
            return "choice" if sure else ""
        if name in _OF_TORCH and function or name in ("item", "tolist", "numpy"):
            return "numbers"
        if name in _LEAVES:
            return "leaves"
        return "choice" if name in _CHOICES and sure else ""

    def _switched_off(self, node: ast.AST) -> Cut | None:
        """The block or the decorator that turns recording off around an expression."""
        inner = node
        while node in self.above:
            node = self.above[node]
            if isinstance(node, ast.With) and any(_is_switch(item.context_expr) for item in node.items):
                return self._cut("no_grad", inner)
        if any(_is_switch(each) for each in getattr(node, "decorator_list", ())):
            return self._cut("no_grad", inner)
        return None

    def _inside(self, node: ast.expr) -> Cut | None:
        """The cut within the function or the forward() of a module that this expression calls."""
        for call in ast.walk(node):
            if isinstance(call, ast.Call):
                made = isinstance(call.func, ast.Call)  # Net()(x)
                called = self._value(call.func.func if made else call.func)  # type: ignore[attr-defined]
                if made or hasattr(called, "_modules"):
                    called = getattr(called if made else type(called), "forward", None)
                called = inspect.unwrap(called) if callable(called) else None
                found = inspect.isfunction(called) and not called.__module__.startswith("badak.") and _within(called)
                if found:
                    return found
        return None

    def _value(self, node: ast.expr):
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._value(node.value), node.attr, None) if not isinstance(node.value, ast.Call) else None
        return None

    def _is_module(self, node) -> bool:
        return isinstance(node, ast.expr) and inspect.ismodule(self._value(node))

    def _assigned(self, path: str, line: int) -> list[ast.expr]:
        """What is assigned to a name before this line, the latest first, back to the last that replaces it."""
        before = [each for each in self._given(path) if each[0] < line] or [each for each in self._given(path) if each[0] == line]
        before.sort(key=lambda each: -each[0])
        end = next((i for i, (_, more, _) in enumerate(before) if not more), len(before) - 1)
        return [value for _, _, value in before[: end + 1]]

    def _changed_since(self, path: str, line: int) -> bool:
        last = line if self.frame is None else self.frame.f_lineno
        return any(line <= at < last for at, _, _ in self._given(path))

    def _given(self, path: str) -> list[tuple[int, bool, ast.expr]]:
        """(line, whether it adds to what was there, value) of each assignment to a name, each loop over it, each append."""
        found: list[tuple[int, bool, ast.expr]] = []
        for node in _own(self.body):
            more, value = False, getattr(node, "value", None)
            targets: list[Any] = [getattr(node, "target", None)]
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.For):
                value = node.iter
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("append", "extend"):
                more, value, targets = True, node.args[0] if node.args else None, [node.func.value]
            elif not isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
                continue
            more = more or isinstance(node, ast.AugAssign)
            paths = {_path(each) for target in targets if target is not None for each in ast.walk(target)}
            if value is not None and path in paths:
                found.append((node.lineno, more, value))
        return found

    def _cut(self, how: str, node: ast.AST) -> Cut:
        code = " ".join(ast.unparse(node).split())
        if len(code) > 60:
            code = f"...{code[-57:]}" if how in ("leaves", "numbers", "choice") else f"{code[:57]}..."
        return Cut(how, code, f"{file_name(self.path)}:{node.lineno}")  # type: ignore[attr-defined]


def _within(function) -> Cut | None:
    """The first expression of a function that surely ends a graph, or its no_grad()."""
    function = inspect.unwrap(function)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    reading = _Reading(None, tree, function.__code__.co_filename, function.__globals__)
    for node in sorted(_own(tree), key=lambda node: getattr(node, "lineno", 0)):
        if isinstance(node, ast.expr) and (how := reading._cutter(node, sure=False)):
            return reading._cut(how, node)
        if isinstance(node, ast.Return) and node.value is not None and (cut := reading._switched_off(node.value)):
            return cut
    return None


def _own(body: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions within it."""
    pending = list(ast.iter_child_nodes(body))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))


def _path(node: ast.AST) -> str:
    """ "self.out" of a name or of attributes of a name; "" of other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    above = _path(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{above}.{node.attr}" if above else ""  # type: ignore[attr-defined]


def _first_lines(node) -> set[int]:
    return {node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))}


def _is_switch(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    name = getattr(called, "attr", getattr(called, "id", ""))
    off = isinstance(node, ast.Call) and [ast.unparse(each) for each in node.args] == ["False"]
    return (name in _SWITCHES and not off) or (name == "set_grad_enabled" and off)


def _tensors(value) -> list:
    """The tensors of a value: itself, those of a list, the parameters of a module."""
    if hasattr(value, "_edge"):
        return [value]
    if hasattr(value, "_modules") and hasattr(value, "parameters"):
        return list(value.parameters())
    if type(value) in (list, tuple):
        return [x for each in value[:100] for x in _tensors(each)]
    return [x for each in value.values() for x in _tensors(each)] if type(value) is dict and len(value) < 100 else []


def _graphed(value) -> bool:
    return any(each.requires_grad for each in _tensors(value))
