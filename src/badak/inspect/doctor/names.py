"""Names of modules and parameters as the program has them, and the lines of its text."""

import ast
import gc
import inspect
import linecache
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from badak import optim
from badak.core.errors import PACKAGE, BadakError, tr
from badak.core.i18n import say
from badak.inspect.doctor.source import LIBRARIES, named_line, sources, trees, unparse, walk
from badak.inspect.doctor.syntax import find, ids_below, named_in
from badak.nn import Module, Parameter
from badak.nn.parameter import is_lazy

LOADER = re.compile(r"(te|test|va|val|valid|validation|dev|eval)_?(loader|dl|dataloader|iter|iterator|generator)$", re.IGNORECASE)
SET = re.compile(
    r"^(x_?)?(test|val|valid|dev|te)$|^(x_?)?(test|val|valid|dev|held)_?(set|data|ds|x|rows|texts|sessions|images|inputs|sentences|pairs|idx|indices|index|logs|h|y|features?|feats?|labels|targets|masks?)$|^held(_?out)?$",
    re.IGNORECASE,
)

_known: dict[CodeType, str] = {}  # "" for code of badak


def line() -> str:
    """ "file.py:12" of the nearest caller outside badak and of libraries, "" where there is none: half a microsecond, so that each
    node gets one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        name = _known.get(code)
        if name is None:
            name = _known[code] = "" if is_own(code) or LIBRARIES in code.co_filename else os.path.basename(code.co_filename)
        if name:
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def frames() -> Iterator[FrameType]:
    """Those of the program that led here, from the inside out, libraries left out."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_own(frame.f_code) and LIBRARIES not in frame.f_code.co_filename:
            yield frame
        frame = frame.f_back


def road() -> tuple[int, ...]:
    """The lines of the program that led here, from the inside out: two tests of one function are two roads."""
    return tuple(frame.f_lineno for frame in islice(frames(), 8))


def within(package: str) -> bool:
    """Whether a function of this package of badak calls, below the program's own line."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own(frame.f_code):
        if frame.f_globals.get("__name__", "").startswith(package):
            return True
        frame = frame.f_back
    return False


def said() -> str:
    """The text of the line that `line` names."""
    return next((linecache.getline(frame.f_code.co_filename, frame.f_lineno) for frame in frames()), "")


def is_own(code: CodeType) -> bool:
    """Whether code is badak's, or Python's that starts a program."""
    return code.co_filename.startswith(PACKAGE) or code.co_filename.startswith("<frozen")


def names_of(place: str) -> list[str]:
    """The names that a line of the program, "file.py:12", gives to what comes out of it: a, b = ..."""
    found = re.match(r"\s*(\w+(?:\s*,\s*\w+)*)\s*=[^=]", named_line(place))
    return re.split(r"\s*,\s*", found[1]) if found else []


BEGINS = re.compile(r"(^|\.)init\.\w+_\(|\.(weight|bias)(\.data)?\.\w+_\(")


def is_read(name: str, begun: bool = True) -> bool:
    """Whether the program reads a name or an attribute, or says it in a string; True for an unknown text.

    begun: also where it is only given the weights that it begins with.
    """
    several = trees()
    lines: list[ast.AST] = [x for tree in several for x in find(tree, ast.Expr) if not begun and BEGINS.search(unparse(x))]
    loops = [x for tree in several for x in find(tree, ast.For) if not begun]
    lines += [x.iter for x in loops if all(BEGINS.search(unparse(y)) for y in x.body)]
    left_out = ids_below(lines)
    for node in (each for tree in several for each in walk(tree) if id(each) not in left_out):
        if isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Store):
            if name == (node.id if isinstance(node, ast.Name) else node.attr):
                return True
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and name in node.value.split("."):
            return True
    return not several or not several[0].body


def never_called() -> list[tuple[str, str]]:
    """(name, place) of functions of the program that nobody names, and that average tensors or write into a buffer."""
    found = []
    for source in sources():
        plain = [node for node in source.tree.body if isinstance(node, ast.FunctionDef)]
        for kind in (node for node in source.tree.body if isinstance(node, ast.ClassDef)):
            bases = {unparse(base).rpartition(".")[2] for base in kind.bases}
            plain += [node for node in kind.body if isinstance(node, ast.FunctionDef)] if bases <= {"Module", "object"} else []
        for function in plain:
            own = hasattr(Module, function.name) or function.name.startswith("__")
            if not own and not is_read(function.name) and any(averages(node) for node in walk(function)):
                found.append((function.name, f"{source.name}:{function.lineno}"))
    return found


def averages_two() -> bool:
    """Whether the program has a loop over the weights of two models by pairs, and averages them in it."""
    loops = [node for tree in trees() for node in find(tree, ast.For)]
    pairs = [each for each in loops if unparse(each.iter).startswith("zip(") and unparse(each.iter).count("parameters()") == 2]
    return any(averages(node) for each in pairs for node in walk(each))


def averages(node: ast.AST) -> bool:
    """Whether a line moves one tensor towards another, or writes rows into a tensor of self."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        inner = node.func.value
        twice = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "mul_"
        copies = node.func.attr == "copy_" and bool(node.args) and isinstance(node.args[0], ast.BinOp)
        return node.func.attr == "lerp_" or copies or (node.func.attr == "add_" and twice)
    if not isinstance(node, ast.Assign):
        return False
    target = node.targets[0]
    if isinstance(target, ast.Attribute) and target.attr == "data":
        return isinstance(node.value, ast.BinOp)
    if isinstance(target, ast.Subscript) and isinstance(node.value, ast.BinOp) and unparse(target.value).startswith("self."):
        return isinstance(node.value.op, ast.Add) and unparse(target) in unparse(node.value)
    return (
        isinstance(target, ast.Subscript)
        and isinstance(target.value, ast.Attribute)
        and isinstance(target.slice, ast.Tuple | ast.Slice)
        and unparse(target.value).startswith("self.")
    )


def held_back() -> list[str]:
    """The names of loaders and sets for tests that the program makes and never reads."""
    several = trees()
    kept = [x for tree in several for x in find(tree, ast.Name | ast.Attribute) if isinstance(x.ctx, ast.Store)]
    names = [node.id if isinstance(node, ast.Name) else node.attr for node in kept]
    held = [name for name in dict.fromkeys(names) if LOADER.match(name) or SET.search(name)]
    split = [x.targets[0] for tree in several for x in find(tree, ast.Assign) if isinstance(x.value, ast.Call)
             and unparse(x.value.func).endswith("random_split")]  # fmt: skip
    held += [unparse(y) for x in split if isinstance(x, ast.Tuple) for y in x.elts if not unparse(y).startswith("_")]
    return [
        name for name in held if not is_read(name) or SET.search(name) and (only_prepared(several, name) or counted(several, name))
    ]


def counted(several: list[ast.Module], name: str) -> bool:
    """Whether all that is read of a name is how long it is."""
    calls = [unparse(node) for tree in several for node in find(tree, ast.Call)]
    return calls.count(f"len({name})") == named(several, ast.Load).count(name)


def only_prepared(several: list[ast.Module], name: str) -> bool:
    """Whether a name is read by lines alone that give it, or places of it, something new, as those that scale a table."""
    every = [node for tree in several for node in walk(tree)]
    own = [node for node in every if isinstance(node, ast.Assign) and name in named(node.targets, ast.Store)]
    places = [node.value for node in every if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)]
    inside = sum(named([node.value], ast.Load).count(name) for node in own) + named(places, ast.Load).count(name)
    return inside == named(several, ast.Load).count(name)


def named(nodes: Iterable[ast.AST], context: type) -> list[str]:
    """The names that lines read, or write."""
    return [x.id for node in nodes for x in find(node, ast.Name) if isinstance(x.ctx, context)]


def tests_at_the_end() -> bool:
    """Whether the program asks a model without gradients behind a loop that trains one, or says so."""
    every = [node for tree in trees() for node in find(tree, ast.FunctionDef | ast.ClassDef | ast.Module)]
    every += [x for tree in trees() for x in find(tree, ast.For) if any(trains_for_epochs(line) for line in x.body)]
    functions = {node.name: unparse(node) for node in every if isinstance(node, ast.FunctionDef)}
    asking = {name for name, text in functions.items() if ASKS.search(text)}
    training = {name for name, text in functions.items() if ".step(" in text}
    for node in every:
        behind = False
        for line in node.body:
            text = unparse(line) if not isinstance(line, (ast.FunctionDef, ast.ClassDef)) else ""
            names = named_in(line) if text else set()
            names |= {each.attr for each in find(line, ast.Attribute)} if text else set()
            if behind and (ASKS.search(text) or names & (asking - training)):
                return True
            behind |= isinstance(line, (ast.For, ast.While, ast.If)) and (".step(" in text or bool(names & training))
            behind |= isinstance(line, (ast.Expr, ast.Assign)) and bool(names & training)
    return False


def trains_for_epochs(line: ast.stmt) -> bool:
    """Whether a line is a loop over loops that train."""
    return isinstance(line, ast.For) and any(".step(" in unparse(x) for inner in line.body for x in find(inner, ast.For))


def trains_again() -> bool:
    """Whether the program makes several optimizers, or one in a function that it calls several times."""
    every = [node for tree in trees() for node in walk(tree)]
    calls = [node.func for node in every if isinstance(node, ast.Call)]
    names = [func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in calls]
    makes = [name for name in names if isinstance(vars(optim).get(name), type)]
    making = [node.name for node in every if isinstance(node, ast.FunctionDef) and any(name in unparse(node) for name in makes)]
    return len(makes) > 1 or any(names.count(name) > 1 for name in making)


ASKS = re.compile(r"no_grad|inference_mode|\.eval\(\)")


def failed_at(error: BaseException | None) -> str:
    """ "file.py:12", the innermost line of the program on the way to an error."""
    trace, found = error.__traceback__ if error is not None else None, ""
    while trace is not None:
        if not is_own(trace.tb_frame.f_code):
            found = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


class Names:
    """What the modules and parameters of some models are called; `tops` are the models, the largest first."""

    def __init__(self, called: Iterable[Module], alive: Iterable[Any]):
        self.tops = _tops(called, alive)
        self.modules: dict[int, str] = {}
        self.parameters: dict[int, str] = {}
        self.owners: dict[int, Module] = {}
        for top in self.tops:
            head = f"{type(top).__name__}." if len(self.tops) > 1 else ""
            for name, module in top.named_modules():
                self.modules.setdefault(id(module), head + name if name else type(top).__name__)
                for own, p in module._parameters.items():
                    if p is not None:
                        self.parameters.setdefault(id(p), f"{head}{name}.{own}" if name else head + own)
                        self.owners.setdefault(id(p), module)

    @property
    def largest(self) -> str:
        """The class of the largest model, and how many parameters it has."""
        return f"{type(self.tops[0]).__name__}, {say('{:,} parameters', sum(p.numel() for p in weights_of(self.tops[0])))}"

    def of(self, module: Module | None) -> str:
        if module is None:
            return ""
        return self.modules.get(id(module), type(module).__name__)

    def few(self, parameters: Iterable[Any], most: int = 3) -> str:
        """ "a.weight, a.bias and 12 more": the first names of some parameters."""
        names = [self.parameters.get(id(p), f"a tensor {tuple(p.shape)}") for p in parameters]
        rest = len(names) - most
        return ", ".join(names[:most]) + (tr(" and {} more", rest) if rest > 0 else "")


def living(*kinds: type) -> list[Any]:
    """The objects of these classes and of those derived from them, in one walk over all there is: no proxy is woken."""
    every, pending = set(), list(kinds)
    while pending:
        kind = pending.pop()
        if kind not in every:
            every.add(kind)
            pending += kind.__subclasses__()
    found = [thing for thing in gc.get_objects() if type(thing) in every]
    return [thing for thing in found if not isinstance(thing, Module) or "_modules" in vars(thing)]  # else its __init__ has failed


def weights_of(module: Module) -> list[Parameter]:
    """Its parameters that have values: those of a lazy module get them in its first call, which may never come."""
    return [p for p in module.parameters() if not is_lazy(p)]


def _tops(called: Iterable[Module], alive: Iterable[Any]) -> list[Module]:
    """The modules that no other holds, of those that were called and what holds these."""
    parents: dict[int, Module] = {}
    for thing in alive:
        if isinstance(thing, Module):
            for child in thing._modules.values():
                if child is not None:
                    parents.setdefault(id(child), thing)
    tops: dict[int, Module] = {}
    for module in called:
        seen = {id(module)}
        while id(module) in parents and id(parents[id(module)]) not in seen:
            module = parents[id(module)]
            seen.add(id(module))
        if weights_of(module):
            tops[id(module)] = module
    return sorted(tops.values(), key=lambda top: -sum(p.numel() for p in weights_of(top)))


def assigned_at(module: Module, attribute: str) -> str:
    """ "file.py:12", the first line in its class that says self.attribute = ...; "" where the text is not to be had."""
    try:
        lines, first = inspect.getsourcelines(type(module))
        tree = ast.parse(textwrap.dedent("".join(lines)))
        file = os.path.basename(inspect.getsourcefile(type(module)) or "")
    except (OSError, TypeError, SyntaxError):
        return ""
    for node in walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in (each for several in targets for each in walk(several)):
            if isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store) and target.attr == attribute:
                return f"{file}:{first + target.lineno - 1}"
    return ""


def name_of(error: BaseException) -> str:
    """The first line of what an error says."""
    with suppress(Exception):
        text = error.cause if isinstance(error, BadakError) else f"{type(error).__name__}: {error}"
        return (text.splitlines() or [type(error).__name__])[0][:300]
    return type(error).__name__
