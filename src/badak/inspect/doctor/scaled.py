"""Tables that are scaled by numbers of rows that no training has seen."""

import ast
import re
from collections.abc import Iterator

from badak.core.errors import tr
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import asked_of, assigned, binaries, called, find, function_around, named_in, names_in, returns_of
from badak.inspect.doctor.tables import ORDERS, SAME_NAMES, SAME_ROWS, SPLITS, TRAIN, picks
from badak.inspect.doctor.told import Found, rule

CENTRE = frozenset("mean min median".split())
SPREAD = frozenset("std max ptp var".split())
JOINS = frozenset("column_stack hstack concatenate cat".split())
SPLIT_FIRST = tr("split first; take the mean and the spread of the rows of the training alone")
BOTH_ALIKE = tr("prepare both alike, once, with the mean and the spread of the training data")


@rule("scaled", "{} is scaled by the numbers of all of its rows, and {} takes rows for a test of them then")
def scaled_by_all(tree: ast.Module) -> Found:
    """A table is scaled by the mean and the spread of all of its rows, and rows for a test are taken of it then."""
    given = assigned(tree)
    for line, base in statistics(tree, given):
        made, last = {base}, line
        cuts = {x.name for x in find(tree, ast.FunctionDef) if ".append(" in unparse(x)}  # into windows, say
        for _ in range(4):
            made |= {name for at, name, value in given if at >= line and (keeps_rows(value, made) or windows(value, made, cuts))}
        cut_before = [(at, name, each) for at, name, value in given if at < line for each in picks(value) if each[0] == base]
        kept_apart = any(TRAIN.search(name) for _, name, _ in cut_before)
        before = [(last, f"{base}[{index}]") for _, name, (_, index) in cut_before if kept_apart and says_test(name)]
        for at, text in [*test_rows(tree, made, given), *before]:
            if at >= last and not of_another(tree, text.partition("[")[0], line, at):
                yield line, SPLIT_FIRST, base, text


def of_another(tree: ast.Module, name: str, line: int, at: int) -> bool:
    """Whether a name is one of another function in one line than in the other: an argument, or given something there."""
    one, other = (function_around(tree, y) for y in (line, at))
    if other is None or one is other or one is not None and one.lineno <= at <= (one.end_lineno or 0):
        return False
    return any(x.arg == name for x in other.args.args) or name in {each for _, each, _ in assigned(other)}


def windows(value: ast.expr, made: set[str], cuts: set[str]) -> bool:
    """Whether a function that puts a list together is given one of these first, as one that cuts a series into windows."""
    given = value.args[:1] if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in cuts else []
    return any(unparse(x) in made for x in given)


@rule("prepared", "rows of the test are taken of {}, and those of the training of {}, which is scaled")
def raw_in_the_test(tree: ast.Module) -> Found:
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
        spreads = named_in(value) - {base, *SAME_NAMES}
        back = [
            x.value if isinstance(x, ast.AugAssign) else x.right
            for x in find(tree, ast.AugAssign | ast.BinOp)
            if isinstance(x.op, ast.Mult)
        ]
        undone = any(spreads & names_in(x) for x in back)  # answers are brought back to what was not scaled
        if learnt and raw and not tested and not undone:
            yield raw[0], BOTH_ALIKE, base, scaled


def statistics(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> list[tuple[int, str]]:
    """(line, table) where the middle and the spread of all rows of a table are taken, or a scaler is fitted to it."""
    found: dict[str, dict[str, int]] = {}
    functions = find(tree, ast.FunctionDef)
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
            of = asked_of(node) or func.value
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
    by = [x.right for x in binaries(tree, ast.Div)]
    return any(spread.search(unparse(x)) or spreads & {unparse(each) for each in find(x, ast.expr)} for x in by)


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
    returns = returns_of(function)
    if len(args) != 1 or len(returns) != 1 or not isinstance(returns[0], ast.BinOp):
        return False
    name, text = re.escape(args[0]), unparse(function)
    both = all(re.search(rf"{name}\.({'|'.join(kinds)})\(|\.({'|'.join(kinds)})\({name}\b", text) for kinds in (SPREAD, CENTRE))
    return both and isinstance(returns[0].op, ast.Div) and args[0] in names_in(returns[0])


def whole(name: str, line: int, given: list[tuple[int, str, ast.expr]]) -> bool:
    """Whether a name still has all rows: what it was last given is no part of something."""
    orders = {other for _, other, value in given if called(value) in ORDERS}
    values = [value for at, other, value in given if other == name and at < line]
    values = [x for x in values if not (isinstance(x, ast.Subscript) and unparse(x.value) == name and unparse(x.slice) in orders)]
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
    functions = {x.name: x for x in find(tree, ast.FunctionDef)}
    for call in (x for x in find(tree, ast.Call) if called(x) in functions):
        function = functions[called(call)]
        for arg, x in zip(function.args.args, call.args):
            taken = sorted({base for base, index in picks(function) if base in made and index == arg.arg})
            if taken and isinstance(x, ast.Name) and says_test(x.id):
                yield call.lineno, f"{taken[0]}[{x.id}]"
    for line, name, value in given:
        for base, index in picks(value):
            if base in made and (says_test(name) or says_test(index)):
                yield line, f"{base}[{index}]"
