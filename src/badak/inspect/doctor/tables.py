"""What the text of a program does to the rows of its tables before they become batches: an order for some, a scale of all."""

import ast
import re
from collections.abc import Iterator

from badak.core.errors import tr
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.told import Told

ORDERS = frozenset("permutation randperm".split())
DRAWN = re.compile("|".join(sorted(ORDERS)))  # each call is an order of its own
ON_PURPOSE = re.compile(r"null|rand|perm|shuff|control|fake|wrong|neg|noise", re.IGNORECASE)
SPREAD = frozenset("std max ptp var".split())
CENTRE = frozenset("mean min median".split())
SAME_ROWS = frozenset(
    "from_numpy as_tensor tensor Tensor FloatTensor LongTensor asarray array transform fit_transform astype float long clip clamp "
    "nan_to_num".split()
)
TRAIN = re.compile(r"train|(^|[._])tr($|[._])", re.IGNORECASE)
SAME_NAMES = frozenset("np torch math".split())
JOINS = frozenset("column_stack hstack concatenate cat".split())
SPLITS = frozenset("train_test_split random_split".split())


def tables(tree: ast.Module) -> Iterator[Told]:
    """All that they tell."""
    yield from apart(tree)
    yield from scaled_by_all(tree)
    yield from raw_in_the_test(tree)


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


def picks(node: ast.AST) -> list[tuple[str, str]]:
    """(name, index) of all rows that a line picks of names by something that is no number."""
    found = []
    for each in walk(node):
        if isinstance(each, ast.Subscript) and is_table(each.value) and isinstance(each.ctx, ast.Load):
            first = each.slice.elts[0] if isinstance(each.slice, ast.Tuple) else each.slice
            names = [x for x in walk(first) if isinstance(x, ast.Name)]
            if names or isinstance(first, ast.Slice) and (first.lower or first.upper):
                found.append((unparse(each.value), unparse(first)))
    return found


def is_table(x: ast.expr) -> bool:
    """Whether something is a name, or one of several tables under a name: data["x"], data[0]."""
    return isinstance(x, ast.Name | ast.Attribute) or isinstance(x, ast.Subscript) and isinstance(x.slice, ast.Constant)


PARTED = re.compile(r"train|test|val|pos|neg|rand|perm|shuff|noise", re.IGNORECASE)


def together(tree: ast.AST) -> set[frozenset[str]]:
    """The pairs of names whose rows belong together: picked by one index in one line, or given to a dataset side by side."""
    found: set[frozenset[str]] = set()
    functions = {node.name: node for node in walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in walk(tree):
        if isinstance(node, ast.Assign | ast.Return | ast.Expr | ast.AugAssign):
            every = picks(node)
            found |= {frozenset((a, b)) for a, i in every for b, j in every if a != b and i == j and not DRAWN.search(i)}
            for loop in (x for x in walk(node) if isinstance(x, ast.comprehension)):
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
        if isinstance(node, ast.Call) and (called(node).endswith("Dataset") or called(node) == "train_test_split"):
            names = [unparse(x) for x in node.args if isinstance(x, ast.Name | ast.Attribute)]
            found |= {frozenset((a, b)) for a in names for b in names if a != b}
    for node in (x for x in walk(tree) if isinstance(x, ast.Call) and called(x) in functions):
        own = [each.arg for each in functions[called(node)].args.args]
        given = {name: unparse(x) for name, x in zip(own, node.args) if isinstance(x, ast.Name)}
        for pair in list(found):
            if pair <= set(own) and all(name in given for name in pair):
                found.add(frozenset(given[name] for name in pair))
    return {pair for pair in found if len(pair) == 2}


def apart(tree: ast.Module) -> Iterator[Told]:
    """Rows of one table are put in an order that those of another, which they belong to, are not."""
    mates = together(tree)
    given = assigned(tree)
    indices = {name for node in walk(tree) if isinstance(node, ast.Subscript) for name in names_in(node.slice)}
    known = {name: unparse(value) for _, name, value in given if called(value) in ORDERS}
    known |= dict.fromkeys(shuffled_in_place(tree), "")
    moved: dict[str, tuple[int, str]] = {}
    for line, name, value in given:
        for each in walk(value):
            order = ""
            if called(each) in ORDERS and called(each) == "permutation" and each.args and holds_rows(each.args[0]):  # type: ignore[attr-defined]
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
            if other != order and not ordered and born(mate, given) < line and behind(tree, name, mate, line):
                yield apart_from(line, name, mate)
                return
    yield from shuffled_alone(tree, mates)
    yield from of_the_place(tree, given)


def apart_from(line: int, name: str, mate: str) -> Told:
    """Rows of one table lie in another order than those that belong to them."""
    return Told(
        "apart", line,
        tr("the rows of {} are put in another order, and those of {}, which belong to them, are not", name, mate),
        tr("one order for both: rows = torch.randperm(n); x[rows], y[rows]"),
    )  # fmt: skip


def of_the_place(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> Iterator[Told]:
    """x[rows], y[i : i + n], where rows = order[i : i + n]: the one by the order, the other as it stands."""
    taken = [
        (line, name, value)
        for line, name, value in given
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice)
    ]
    orders = {name for _, name, value in given if called(value) in ORDERS} | set(shuffled_in_place(tree))
    rows = {name: (unparse(value.value), unparse(value.slice)) for _, name, value in taken if unparse(value.value) in orders}  # type: ignore[attr-defined]
    loops = [x for x in walk(tree) if isinstance(x, ast.For)]
    inner = [x for x in loops if not any(isinstance(y, ast.For) for line in x.body for y in walk(line))]
    for node in (x for x in (*walk(tree), *inner) if isinstance(x, ast.Assign | ast.Return | ast.Expr | ast.For)):
        if isinstance(node, ast.For) and not any(node is x for x in inner):
            continue
        every = [each for line in node.body for each in picks(line)] if isinstance(node, ast.For) else picks(node)
        every = [each for each in every if not ON_PURPOSE.search(each[0]) or not isinstance(node, ast.For)]
        for order, place in (rows[index] for _, index in every if index in rows):
            apart = next((base for base, index in every if index == place and base != order), "")
            sorted_too = any(base == apart and index == order for _, _, value in given for base, index in picks(value))
            if apart and not sorted_too:
                yield Told(
                    "apart", node.lineno,
                    tr("rows are picked by {}, and those of {} are taken as they stand", order, apart),
                    tr("one order for both: rows = torch.randperm(n); x[rows], y[rows]"),
                )  # fmt: skip
                return


def behind(tree: ast.Module, a: str, b: str, line: int) -> bool:
    """Whether both are used by one line behind this one."""
    lines = [x for x in walk(tree) if isinstance(x, ast.Assign | ast.Expr | ast.Return | ast.For) and x.lineno > line]
    plain = [ast.For(target=x.target, iter=x.iter, body=[], orelse=[]) if isinstance(x, ast.For) else x for x in lines]
    return any({a, b} <= names_in(x) for x in plain)


def shuffled_in_place(tree: ast.Module) -> dict[str, int]:
    """The names that shuffle() is called for, and its line."""
    calls = [x for x in walk(tree) if isinstance(x, ast.Call) and called(x) == "shuffle" and len(x.args) == 1]
    return {unparse(x.args[0]): x.lineno for x in calls if isinstance(x.args[0], ast.Name | ast.Attribute)}


def shuffled_alone(tree: ast.Module, mates: set[frozenset[str]]) -> Iterator[Told]:
    """The same by shuffle(), in place."""
    moved = shuffled_in_place(tree)
    indices = {name for node in walk(tree) if isinstance(node, ast.Subscript) for name in names_in(node.slice)}
    given = assigned(tree)
    for name, line in moved.items():
        others = sorted(other for pair in mates if name in pair for other in pair - {name})
        if others and not any(other in moved for other in others) and not used_as_index(name, given, indices):
            yield apart_from(line, name, others[0])
            return


def names_in(node: ast.AST) -> set[str]:
    """The names in it, but for those of which only the length is asked; kept at the node, too."""
    known = node.__dict__.get("_names")
    if known is None:
        own = {node.id} if isinstance(node, ast.Name) else set()
        known = set() if called(node) == "len" else own.union(*map(names_in, ast.iter_child_nodes(node)))
        node._names = known  # type: ignore[attr-defined]
    return known


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


def born(name: str, given: list[tuple[int, str, ast.expr]]) -> int:
    """The line that first gives a name something; 0 where none does."""
    return min((line for line, other, _ in given if other == name), default=0)


def scaled_by_all(tree: ast.Module) -> Iterator[Told]:
    """A table is scaled by the mean and the spread of all of its rows, and rows for a test are taken of it then."""
    given = assigned(tree)
    for line, base in statistics(tree, given):
        made, last = {base}, line
        cuts = {x.name for x in walk(tree) if isinstance(x, ast.FunctionDef) and ".append(" in unparse(x)}  # into windows, say
        for _ in range(4):
            made |= {name for at, name, value in given if at >= line and (keeps_rows(value, made) or windows(value, made, cuts))}
        for at, text in test_rows(tree, made, given):
            if at >= last:
                yield Told(
                    "scaled", line,
                    tr("{} is scaled by the numbers of all of its rows, and {} takes rows for a test of them then", base, text),
                    tr("split first; take the mean and the spread of the rows of the training alone"),
                )  # fmt: skip
                return


def windows(value: ast.expr, made: set[str], cuts: set[str]) -> bool:
    """Whether a function that puts a list together is given one of these first, as one that cuts a series into windows."""
    given = value.args[:1] if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in cuts else []
    return any(unparse(x) in made for x in given)


def raw_in_the_test(tree: ast.Module) -> Iterator[Told]:
    """Rows of a test are taken of the table as it was, and those of the training of what was scaled."""
    given = assigned(tree)
    for line, scaled, value in given:
        base = next((name for name in names_in(value) if keeps_rows(value, {name})), "")
        text = unparse(value)
        if not base or base == scaled or not re.search(r" / |\.transform\(|fit_transform\(", text) or base in SAME_NAMES:
            continue
        after = [(at, name, picks(each)) for at, name, each in given if at > line]
        learnt = any(own == scaled for _, name, several in after if not says_test(name) for own, _ in several)
        raw = [at for at, name, several in after if says_test(name) and any(own == base for own, _ in several)]
        tested = any(own == scaled for _, name, several in after if says_test(name) for own, _ in several)
        if learnt and raw and not tested:
            yield Told(
                "prepared", raw[0],
                tr("rows of the test are taken of {}, and those of the training of {}, which is scaled", base, scaled),
                tr("prepare both alike, once, with the mean and the spread of the training data"),
            )  # fmt: skip
            return


def statistics(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> list[tuple[int, str]]:
    """(line, table) where the middle and the spread of all rows of a table are taken, or a scaler is fitted to it."""
    found: dict[str, dict[str, int]] = {}
    functions = [node for node in walk(tree) if isinstance(node, ast.FunctionDef)]
    parts = [f for f in functions if not splits(f)]
    own = {(id(x), each.arg) for f in parts for each in f.args.args for x in walk(f)}  # what they are given may be a part
    scaling = {function.name for function in functions if scales(function)}
    for node in walk(tree):
        if not isinstance(node, ast.Call):
            continue
        func, what = node.func, called(node)
        of: ast.expr | None = None
        kind = ("centre" if what in CENTRE else "spread" if what in SPREAD else "") if down_the_rows(node) else ""
        if kind and isinstance(func, ast.Attribute):
            of = node.args[0] if unparse(func.value) in ("np", "numpy", "torch") and node.args else func.value
        elif what in scaling or is_fitted(node, given):
            kind, of = "both", node.args[0] if node.args else None
        if kind and isinstance(of, ast.Name | ast.Attribute) and (id(node), unparse(of)) not in own:
            found.setdefault(unparse(of), {}).setdefault(kind, node.lineno)
    several = [
        (max(at.values()), name)
        for name, at in found.items()
        if "both" in at or {"centre", "spread"} <= set(at) and divides(tree, name, given)
    ]
    parted = {each.arg for f in functions if splits(f) for each in f.args.args}
    return [(line, name) for line, name in several if not TRAIN.search(name) and (whole(name, line, given) or name in parted)]


def splits(function: ast.FunctionDef) -> bool:
    """Whether a function itself parts what it is given into rows for the training and for the test."""
    names = [name for _, name, _ in assigned(function)]
    return any(map(says_test, names)) and any(map(TRAIN.search, names))


def divides(tree: ast.Module, name: str, given: list[tuple[int, str, ast.expr]]) -> bool:
    """Whether something is divided by the spread of a table."""
    spread = re.compile(rf"(?<![\w.]){re.escape(name)}\.({'|'.join(SPREAD)})\(|\.({'|'.join(SPREAD)})\({re.escape(name)}\b")
    spreads = {other for _, other, value in given if spread.search(unparse(value))}
    by = [x.right for x in walk(tree) if isinstance(x, ast.BinOp) and isinstance(x.op, ast.Div)]
    return any(spread.search(unparse(x)) or spreads & {unparse(each) for each in walk(x) if isinstance(each, ast.expr)} for x in by)


def down_the_rows(call: ast.Call) -> bool:
    """Whether no axis but the first is named."""
    given = [unparse(x) for x in [*call.args, *(each.value for each in call.keywords if each.arg in ("axis", "dim"))]]
    return not any(re.match(r"-?[1-9]", each) for each in given)


def is_fitted(call: ast.Call, given: list[tuple[int, str, ast.expr]]) -> bool:
    """Whether a scaler, and not a model, is fitted."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("fit", "fit_transform"):
        return False
    text = unparse(call.func.value)
    values = [unparse(value) for _, name, value in given if name == text]
    return any(re.search(r"scal|standardi|normali", each, re.IGNORECASE) for each in [text, *values])


def scales(function: ast.FunctionDef) -> bool:
    """Whether a function gives its first argument back, less its middle, by its spread."""
    args = [each.arg for each in function.args.args]
    returns = [x.value for x in walk(function) if isinstance(x, ast.Return) and x.value is not None]
    if len(args) != 1 or len(returns) != 1 or not isinstance(returns[0], ast.BinOp):
        return False
    name, text = re.escape(args[0]), unparse(function)
    both = all(re.search(rf"{name}\.({'|'.join(kinds)})\(|\.({'|'.join(kinds)})\({name}\b", text) for kinds in (SPREAD, CENTRE))
    return both and isinstance(returns[0].op, ast.Div) and args[0] in names_in(returns[0])


def whole(name: str, line: int, given: list[tuple[int, str, ast.expr]]) -> bool:
    """Whether a name still has all rows: what it was last given is no part of something."""
    values = [value for at, other, value in given if other == name and at < line]
    return bool(values) and not is_part(values[-1])


def is_part(value: ast.expr) -> bool:
    """Whether something is some rows of a table, or is computed number by number of them."""
    if isinstance(value, ast.Subscript):
        first = value.slice.elts[0] if isinstance(value.slice, ast.Tuple) else value.slice
        return unparse(first) != ":" and not isinstance(first, ast.Constant) or is_part(value.value)
    if isinstance(value, ast.BinOp):
        return is_part(value.left)
    return isinstance(value, ast.Call) and any(is_part(x) for x in spine(value))


def spine(value: ast.Call) -> list[ast.expr]:
    """What a call that keeps the rows of a table is called of."""
    if called(value) not in SAME_ROWS:
        return []
    inner = [value.func.value] if isinstance(value.func, ast.Attribute) else []
    return [*inner, *value.args[:1]]


def keeps_rows(value: ast.expr, made: set[str]) -> bool:
    """Whether what comes out has a row for each row of one of these: it is computed number by number, or is of another kind."""
    if isinstance(value, ast.Name | ast.Attribute):
        return unparse(value) in made
    if isinstance(value, ast.BinOp):
        return keeps_rows(value.left, made)
    if called(value) in JOINS and isinstance(value, ast.Call) and value.args:
        wide = called(value) in ("column_stack", "hstack") or re.search(r"(axis|dim)=-?1\)$", unparse(value))
        return bool(wide) and any(keeps_rows(x, made) for x in getattr(value.args[0], "elts", ()))
    return isinstance(value, ast.Call) and any(keeps_rows(x, made) for x in spine(value))


def test_rows(tree: ast.Module, made: set[str], given: list[tuple[int, str, ast.expr]]) -> Iterator[tuple[int, str]]:
    """(line, text) where rows for a test are taken of one of these."""
    dicts = [(name, value) for _, name, value in given if isinstance(value, ast.Dict)]
    parts = {name for name, value in dicts if any(says_test(unparse(key)) for key in value.keys if key)}
    for node in walk(tree):
        if isinstance(node, ast.For) and says_test(unparse(node.iter)) and TRAIN.search(unparse(node.iter)):
            for base, index in (each for line in node.body for each in picks(line)):
                if base in made and index in names_in(node.target):
                    yield node.lineno, f"{base}[{index}]"
        if isinstance(node, ast.Call):
            found = called(node) in SPLITS and any(names_in(x) & made for x in node.args[:1])
        elif isinstance(node, ast.DictComp | ast.ListComp):
            found = any(names_in(loop.iter) & parts for loop in node.generators) and any(base in made for base, _ in picks(node))
        else:
            continue
        if found:
            yield node.lineno, unparse(node)[:60]
    for line, name, value in given:
        for base, index in picks(value):
            if base in made and (says_test(name) or says_test(index)):
                yield line, f"{base}[{index}]"
