"""Questions that rules ask of the syntax tree of a program: what stands in it, what is called, what names are given and read."""

import ast
from collections.abc import Iterable
from typing import Any, TypeGuard

from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.source import unparse, walk

SCOPES = ast.FunctionDef | ast.Module


def find(node: ast.AST | list[Any], kinds: Any) -> list[Any]:
    """The nodes of some kinds below one, itself first, or of a block of lines; kept at the node, for many rules ask."""
    if isinstance(node, list):
        return [x for line in node for x in find(line, kinds)]
    known = node.__dict__.setdefault("_found", {})
    if kinds not in known:
        known[kinds] = [x for x in walk(node) if isinstance(x, kinds)]
    return [*known[kinds]]


def calls_of(node: ast.AST | list[Any], *names: str) -> list[Any]:
    """The calls of what has one of these names."""
    return [x for x in find(node, ast.Call) if called(x) in names]


def functions_of(node: ast.AST, name: str) -> list[Any]:
    """The functions, and methods, of a name."""
    return [x for x in find(node, ast.FunctionDef) if x.name == name]


def is_binary(node: Any, operators: Any) -> TypeGuard[ast.BinOp]:
    """Whether a node is a sum, say, by ast.Add."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, operators)


def binaries(node: ast.AST | list[Any], operators: Any) -> list[Any]:
    """The sums, say, by ast.Add."""
    return [x for x in find(node, ast.BinOp) if isinstance(x.op, operators)]


def named_in(node: ast.AST | list[Any]) -> set[str]:
    """All names in it."""
    return {x.id for x in find(node, ast.Name)}


def read_in(node: ast.AST | list[Any]) -> set[str]:
    """The names that are read."""
    return {x.id for x in find(node, ast.Name) if isinstance(x.ctx, ast.Load)}


def stored_in(node: ast.AST | list[Any]) -> set[str]:
    """The names that are given something."""
    return {x.id for x in find(node, ast.Name) if isinstance(x.ctx, ast.Store)}


def ids_below(nodes: Iterable[ast.AST]) -> set[int]:
    """The nodes (their id) below some."""
    return {id(y) for x in nodes for y in walk(x)}


def returns_of(function: ast.AST) -> list[Any]:
    """What a function gives back."""
    return [x.value for x in find(function, ast.Return) if x.value is not None]


def holder_of(call: Any) -> Any:
    """What a method is called of; None where something else is called."""
    return call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None


def parts_of(node: ast.expr) -> list[Any]:
    """a and b of a tuple, (a, b); what is none is one part."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def target_of(line: ast.AST) -> Any:
    """What a line gives something, alone or by +=; None for other lines."""
    if isinstance(line, ast.AugAssign):
        return line.target
    return line.targets[0] if isinstance(line, ast.Assign) and len(line.targets) == 1 else None


ORDERED = ast.Lt | ast.Gt | ast.LtE | ast.GtE


def is_ordered(test: Any) -> TypeGuard[ast.Compare]:
    """Whether something is asked for being larger, or smaller, than something else."""
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ORDERED)


LIBRARIES = frozenset("torch np numpy math F functional nn.functional torch.nn.functional".split())


def asked_of(call: Any) -> Any:
    """x of x.softmax(), and of F.softmax(x); None where there is none."""
    holder = holder_of(call)
    return holder if holder is not None and unparse(holder) not in LIBRARIES else next(iter(call.args), None)


def function_around(tree: ast.AST, line: int) -> ast.FunctionDef | None:
    """The innermost function that a line stands in."""
    every = (x for x in find(tree, ast.FunctionDef) if x.lineno <= line <= x.end_lineno)
    return max(every, key=lambda x: x.lineno, default=None)


def trainings(tree: ast.AST) -> list[Any]:
    """The loops that call backward()."""
    return [x for x in find(tree, ast.For) if ".backward(" in unparse(x)]


def values_of(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """All that each name is given."""
    return grouped((name, value) for _, name, value in assigned(tree))


def called(node: ast.AST) -> str:
    """The last name of what is called; "" where nothing is."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def pairs(targets: list[ast.expr], value: ast.expr) -> list[tuple[str, ast.expr]]:
    """(name, what it is given) of an assignment; of one of several names by one value, that value each time."""
    names = targets[0].elts if isinstance(targets[0], ast.Tuple) else targets[:1]
    several = each_of(value) if isinstance(targets[0], ast.Tuple) else []
    elts = several or (value.elts if isinstance(value, ast.Tuple) else [])
    values = elts if len(elts) == len(names) else [value] * len(names)
    return [(unparse(name), each) for name, each in zip(names, values) if isinstance(name, ast.Name | ast.Attribute)]


def each_of(value: ast.expr) -> list[ast.expr]:
    """What a, b = (f(x) for x in (a, b)) gives each of them."""
    if not isinstance(value, ast.GeneratorExp | ast.ListComp) or len(value.generators) != 1 or value.generators[0].ifs:
        return []
    over, target = value.generators[0].iter, value.generators[0].target
    if not isinstance(over, ast.Tuple | ast.List) or not isinstance(target, ast.Name):
        return []
    return [ast.copy_location(Put(target.id, each).visit(copy(value.elt)), value) for each in over.elts]


def copy(node: ast.expr) -> ast.expr:
    """The same once more, without what is kept at its nodes."""
    made = ast.parse(unparse(node), mode="eval").body
    return ast.increment_lineno(made, node.lineno - 1)


class Put(ast.NodeTransformer):
    """Puts something in the place of a name."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802
        return self.value if node.id == self.name else node


def stored_by(line: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """(name, what it is given) of an assignment, also of several at once."""
    if not isinstance(line, ast.Assign):
        return []
    name, value = line.targets[0], line.value
    several = isinstance(name, ast.Tuple) and isinstance(value, ast.Tuple) and len(name.elts) == len(value.elts)
    return list(zip(name.elts, value.elts)) if several else [(name, value)]  # type: ignore[attr-defined]


def assigned(tree: ast.AST) -> list[tuple[int, str, ast.expr]]:
    """(line, name, value) of all assignments; kept at the node, for many rules ask."""
    known = tree.__dict__.get("_assigned")
    if known is None:
        every = [node for node in walk(tree) if isinstance(node, ast.Assign) and len(node.targets) == 1]
        known = [(node.lineno, name, value) for node in every for name, value in pairs(node.targets, node.value)]
        tree._assigned = known  # type: ignore[attr-defined]
    return known


def number(tree: ast.AST, value: ast.expr) -> float | None:
    """The number that stands in a place, or the only one that its name, a field of settings or an argument too, is given."""
    if isinstance(value, ast.Constant):
        return value.value if type(value.value) in (int, float) else None  # type: ignore[return-value]
    known: dict[str, list[ast.expr]] | None = tree.__dict__.get("_numbers")
    if known is None:
        known = {}
        fields = [(unparse(x.target), x.value) for x in walk(tree) if isinstance(x, ast.AnnAssign) and x.value is not None]
        args = [x.args for x in walk(tree) if isinstance(x, ast.FunctionDef)]
        defaults = [(own.arg, each) for x in args for own, each in zip(reversed(x.args), reversed(x.defaults))]
        for name, each in [*((name, each) for _, name, each in assigned(tree)), *fields, *defaults]:
            known.setdefault(name.rpartition(".")[2], []).append(each)
        tree._numbers = known  # type: ignore[attr-defined]
    several = known.get(unparse(value).rpartition(".")[2], []) if isinstance(value, ast.Name | ast.Attribute) else []
    plain = [x.value for x in several if isinstance(x, ast.Constant) and type(x.value) in (int, float)]
    rest = [
        x for x in several if not isinstance(x, ast.Constant) and unparse(x).rpartition(".")[2] != unparse(value).rpartition(".")[2]
    ]
    return plain[0] if len({*plain}) == 1 and not rest else None  # type: ignore[return-value]


def reads(tree: ast.AST) -> dict[str, list[ast.Name]]:
    """Where each name is read; kept at the node, too."""
    known: dict[str, list[ast.Name]] | None = tree.__dict__.get("_reads")
    if known is None:
        known = {}
        for node in walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                known.setdefault(node.id, []).append(node)
        tree._reads = known  # type: ignore[attr-defined]
    return known


def changed(scope: ast.AST, names: set[str], first: int, last: int) -> bool:
    """Whether one of the names is given something new, or something is called of it, in the lines between two."""
    between = [x for x in walk(scope) if first < getattr(x, "lineno", 0) < last]
    stored = {x.id for x in between if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    calls = [x.value.func for x in between if isinstance(x, ast.Expr) and isinstance(x.value, ast.Call)]
    return bool(names & stored.union(*(names_in(x.value) for x in calls if isinstance(x, ast.Attribute))))


def names_in(node: ast.AST) -> set[str]:
    """The names in it, but for those of which only the length is asked; kept at the node, too."""
    known = node.__dict__.get("_names")
    if known is None:
        own = {node.id} if isinstance(node, ast.Name) else set()
        known = set() if called(node) == "len" else own.union(*map(names_in, ast.iter_child_nodes(node)))
        node._names = known  # type: ignore[attr-defined]
    return known


KEEPS = frozenset("append extend insert appendleft add".split())


def unread(tree: ast.AST) -> set[str]:
    """The names whose values go nowhere: into themselves, or into lists and names that go nowhere, and into nothing else.

    Kept at the node, too.
    """
    known: set[str] | None = tree.__dict__.get("_unread")
    if known is not None:
        return known
    into: dict[int, set[str]] = {}  # a name that is read: the names that its value goes into
    for line in find(tree, ast.Assign | ast.AugAssign):
        for name, value in (
            pairs(line.targets, line.value) if isinstance(line, ast.Assign) else [(unparse(line.target), line.value)]
        ):
            if name.isidentifier():
                for each in find(value, ast.Name):
                    into.setdefault(id(each), set()).add(name)
    for call in (x.value for x in find(tree, ast.Expr) if isinstance(x.value, ast.Call) and called(x.value) in KEEPS):
        holder = holder_of(call)
        if isinstance(holder, ast.Name):
            for each in find(call, ast.Name):
                into.setdefault(id(each), set()).add(holder.id)
    known = stored_in(tree)
    every = reads(tree)
    left = None
    while left != known:
        left = {*known}
        known = {name for name in known if all(into.get(id(x), {""}) <= known for x in every.get(name, ()))}
    tree._unread = known  # type: ignore[attr-defined]
    return known
