"""What the text of a program does to the rows of its tables before they become batches: an order for some, a scale of all."""

import ast
import re

from badak.core.errors import tr
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import assigned, called, calls_of, find, names_in
from badak.inspect.doctor.told import Found, Told, rule

ORDERS = frozenset("permutation randperm".split())
DRAWN = re.compile("|".join(sorted(ORDERS)))  # each call is an order of its own
ON_PURPOSE = re.compile(r"null|rand|perm|shuff|control|fake|wrong|neg|noise", re.IGNORECASE)
SAME_ROWS = frozenset(
    "from_numpy as_tensor tensor Tensor FloatTensor LongTensor asarray array transform fit_transform astype float long clip clamp "
    "nan_to_num".split()
)
TRAIN = re.compile(r"train|(^|[._])[xy]?tr($|[._])", re.IGNORECASE)
SAME_NAMES = frozenset("np torch math".split())
SPLITS = frozenset("train_test_split random_split".split())
ONE_ORDER = tr("one order for both: rows = torch.randperm(n); x[rows], y[rows]")


def picks(node: ast.AST) -> list[tuple[str, str]]:
    """(name, index) of all rows that a line picks of names by something that is no number."""
    found = []
    for each in walk(node):
        if isinstance(each, ast.Subscript) and is_table(each.value) and isinstance(each.ctx, ast.Load):
            first = each.slice.elts[0] if isinstance(each.slice, ast.Tuple) else each.slice
            names = find(first, ast.Name)
            if names or isinstance(first, ast.Slice) and (first.lower or first.upper):
                found.append((unparse(each.value), unparse(first)))
    return found


def datasets(tree: ast.AST) -> set[str]:
    """The classes of the program that are datasets."""
    kinds = find(tree, ast.ClassDef)
    return {x.name for x in kinds if any(unparse(base).endswith("Dataset") for base in x.bases)}


def bare(x: ast.expr) -> ast.expr:
    """What has a row for each row of another, as torch.tensor(x) has, is that one."""
    given = (
        x.args[:1] or [x.func.value]
        if called(x) in SAME_ROWS and isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute)
        else []
    )  # noqa: E501
    return bare(given[0]) if given else x


def is_table(x: ast.expr) -> bool:
    """Whether something is a name, or one of several tables under a name: data["x"], data[0]."""
    return isinstance(x, ast.Name | ast.Attribute) or isinstance(x, ast.Subscript) and isinstance(x.slice, ast.Constant)


PARTED = re.compile(r"train|test|val|pos|neg|rand|perm|shuff|noise", re.IGNORECASE)


def together(tree: ast.AST) -> set[frozenset[str]]:
    """The pairs of names whose rows belong together: picked by one index in one line, or given to a dataset side by side."""
    found: set[frozenset[str]] = set()
    functions = {node.name: node for node in find(tree, ast.FunctionDef)}
    own_datasets = datasets(tree)
    for node in walk(tree):
        if isinstance(node, ast.Assign | ast.Return | ast.Expr | ast.AugAssign):
            every = picks(node)
            found |= {frozenset((a, b)) for a, i in every for b, j in every if a != b and i == j and not DRAWN.search(i)}
            for loop in find(node, ast.comprehension):
                over = loop.iter.elts if isinstance(loop.iter, ast.Tuple | ast.List) else []
                names = [unparse(x) for x in over if isinstance(x, ast.Name)]
                if isinstance(loop.target, ast.Name) and loop.target.id in {name for name, _ in every}:
                    found |= {frozenset((a, b)) for a in names for b in names if a != b}
        if isinstance(node, ast.For | ast.While):
            calls = [x.value for x in node.body if isinstance(x, ast.Expr) and called(x.value) == "append"]
            names = [unparse(x.func).removesuffix(".append") for x in calls]  # type: ignore[attr-defined]
            names = [x for x in names if not PARTED.search(x) and f"tensor({x}" in unparse(tree)]
            found |= {frozenset((a, b)) for a in names for b in names if a != b}
        if isinstance(node, ast.FunctionDef) and node.name == "__getitem__" and len(node.args.args) > 1:
            own = sorted({base for base, index in picks(node) if index == node.args.args[1].arg})
            found |= {frozenset((a, b)) for a in own for b in own if a != b}
        if isinstance(node, ast.Call) and (called(node) in own_datasets or called(node).endswith(("Dataset", "_test_split"))):
            names = [unparse(x) for x in map(bare, node.args) if isinstance(x, ast.Name | ast.Attribute)]
            found |= {frozenset((a, b)) for a in names for b in names if a != b}
    parts = {name: each for _, name, value in assigned(tree) for each in picks(value)[:1] if isinstance(value, ast.Subscript)}
    for a, b in (sorted(pair) for pair in list(found) if len(pair) == 2):  # x_train = x[:n], y_train = y[:n]
        if a in parts and b in parts and parts[a][1] == parts[b][1]:
            found.add(frozenset((parts[a][0], parts[b][0])))
    for node in (x for x in find(tree, ast.Call) if called(x) in functions):
        own = [each.arg for each in functions[called(node)].args.args]
        given = {name: unparse(x) for name, x in zip(own, node.args) if isinstance(x, ast.Name)}
        for pair in list(found):
            if pair <= set(own) and all(name in given for name in pair):
                found.add(frozenset(given[name] for name in pair))
    return {pair for pair in found if len(pair) == 2}


@rule()
def apart(tree: ast.Module) -> Found:
    """Rows of one table are put in an order that those of another, which they belong to, are not."""
    mates = together(tree)
    given = assigned(tree)
    indices = {name for node in find(tree, ast.Subscript) for name in names_in(node.slice)}
    known = {name: unparse(value) for _, name, value in given if called(value) in ORDERS}
    known |= dict.fromkeys(shuffled_in_place(tree), "")
    moved: dict[str, tuple[int, str]] = {}
    for line, name, value in given:
        for each in walk(value):
            order = ""
            if called(each) in ORDERS and called(each) == "permutation" and each.args and holds_rows(each.args[0]):
                order = f"{unparse(each)}:{line}:{name}"
                same = name in names_in(each)
                if name in indices or used_as_index(name, given, indices) or not same and ON_PURPOSE.search(name):
                    continue
            elif isinstance(each, ast.Subscript) and name in names_in(each.value):  # x = x[order]
                if called(each.slice) in ORDERS:
                    order = f"{unparse(each.slice)}:{line}:{name}"
                elif isinstance(each.slice, ast.Name) and each.slice.id in known:
                    order = each.slice.id
            if order and name not in moved:
                moved[name] = line, order
    for name, (line, order) in moved.items():
        for mate in sorted(other for pair in mates if name in pair for other in pair - {name}):
            other = moved.get(mate, (0, ""))[1]
            ordered = any(base == mate and index == order for _, _, value in given for base, index in picks(value))
            if other != order and not ordered and 0 <= born(mate, given, tree, line) < line and behind(tree, name, mate, line):
                yield apart_from(line, name, mate)
    yield from shuffled_alone(tree, mates)
    yield from of_the_place(tree, given)


def apart_from(line: int, name: str, mate: str) -> Told:
    """Rows of one table lie in another order than those that belong to them."""
    return Told(
        "apart", line,
        tr("the rows of {} are put in another order, and those of {}, which belong to them, are not", name, mate),
        ONE_ORDER,
    )  # fmt: skip


@rule("apart", "rows are picked by {}, and those of {} are taken as they stand")
def of_the_place(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> Found:
    """x[rows], y[i : i + n], where rows = order[i : i + n]: the one by the order, the other as it stands."""
    taken = [
        (line, name, value)
        for line, name, value in given
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice)
    ]
    orders = {name for _, name, value in given if called(value) in ORDERS} | set(shuffled_in_place(tree))
    rows = {name: (unparse(value.value), unparse(value.slice)) for _, name, value in taken if unparse(value.value) in orders}
    loops = find(tree, ast.For)
    inner = [x for x in loops if not any(isinstance(y, ast.For) for y in walk(x.body))]
    mates: set[frozenset[str]] = together(tree)
    cut = [(line, name, value) for line, name, value in given if isinstance(value, ast.Subscript)]
    for line, name, value in (x for x in cut if unparse(x[2].slice) in rows):
        order, place = rows[unparse(value.slice)]
        for _, other, plain in cut:
            as_it_stands = unparse(plain.slice) == place and unparse(plain.value) not in (order, unparse(value.value))
            if as_it_stands and frozenset((name, other)) in mates:
                yield line, ONE_ORDER, order, unparse(plain.value)
    for node in (x for x in (*walk(tree), *inner) if isinstance(x, ast.Assign | ast.Return | ast.Expr | ast.For)):
        if isinstance(node, ast.For) and not any(node is x for x in inner):
            continue
        every = [each for line in node.body for each in picks(line)] if isinstance(node, ast.For) else picks(node)
        every = [each for each in every if not ON_PURPOSE.search(each[0]) or not isinstance(node, ast.For)]
        for order, place in (rows[index] for _, index in every if index in rows):
            apart = next((base for base, index in every if index == place and base != order), "")
            sorted_too = any(base == apart and index == order for _, _, value in given for base, index in picks(value))
            if apart and not sorted_too:
                yield node, ONE_ORDER, order, apart


def behind(tree: ast.Module, a: str, b: str, line: int) -> bool:
    """Whether both are used by one line behind this one, or are cut alike there."""
    lines = [x for x in find(tree, ast.Assign | ast.Expr | ast.Return | ast.For) if x.lineno > line]
    cut = [{index for x in lines for base, index in picks(x) if base == name} for name in (a, b)]
    plain = [ast.For(target=x.target, iter=x.iter, body=[], orelse=[]) if isinstance(x, ast.For) else x for x in lines]
    return any({a, b} <= names_in(x) for x in plain) or bool(cut[0] & cut[1])


def shuffled_in_place(tree: ast.Module) -> dict[str, int]:
    """The names that shuffle() is called for, and its line."""
    calls = [x for x in calls_of(tree, "shuffle") if len(x.args) == 1]
    return {unparse(x.args[0]): x.lineno for x in calls if isinstance(x.args[0], ast.Name | ast.Attribute)}


@rule()
def shuffled_alone(tree: ast.Module, mates: set[frozenset[str]]) -> Found:
    """The same by shuffle(), in place."""
    moved = shuffled_in_place(tree)
    indices = {name for node in find(tree, ast.Subscript) for name in names_in(node.slice)}
    given = assigned(tree)
    for name, line in moved.items():
        others = sorted(other for pair in mates if name in pair for other in pair - {name})
        if others and not any(other in moved for other in others) and not used_as_index(name, given, indices):
            yield apart_from(line, name, others[0])
    for function in find(tree, ast.FunctionDef):  # labels = [y for _, y in rows]; shuffle(labels); return texts, labels
        made = {x: (line, value) for line, x, value in assigned(function)}
        args = {x.arg for x in function.args.args}
        for name, line in shuffled_in_place(function).items():
            source = names_in(made[name][1]) & args if name in made and isinstance(made[name][1], ast.ListComp) else set()
            for end in (x for x in find(function, ast.Return) if isinstance(x.value, ast.Tuple)):
                given_back = [names_in(x) for x in end.value.elts]  # type: ignore[union-attr]
                others = sorted({x for each in given_back if name not in each for x in each} & {*made})
                filled = [x for x in others if any(source & names_in(y.iter) and x in names_in(y) for y in find(function, ast.For))]
                filled += [x for x in others if source & names_in(made[x][1])]
                if source and filled and any(name in each for each in given_back) and filled[0] not in shuffled_in_place(function):
                    yield apart_from(line, name, filled[0])


def holds_rows(x: ast.expr) -> bool:
    """Whether what is permuted is data, and not how many rows there are."""
    if isinstance(x, ast.Constant) or called(x) in ("len", "arange", "range") or "shape" in unparse(x):
        return False
    return not (isinstance(x, ast.Name) and x.id.isupper())


def used_as_index(name: str, given: list[tuple[int, str, ast.expr]], indices: set[str]) -> bool:
    """Whether a name, or what is made of it, says which rows are picked."""
    seen = {name}
    for _ in range(3):
        seen |= {other for _, other, value in given if seen & names_in(value)}
    return bool(seen & indices)


def born(name: str, given: list[tuple[int, str, ast.expr]], tree: ast.Module, line: int) -> int:
    """The line that first gives a name something; 0 where none does, and -1 where it is an argument of other functions alone."""
    functions = [x for x in find(tree, ast.FunctionDef) if any(each.arg == name for each in x.args.args)]
    elsewhere = bool(functions) and not any(x.lineno <= line <= (x.end_lineno or 0) for x in functions)
    return min((at for at, other, _ in given if other == name), default=-elsewhere)


RULES = apart
