"""What the text of a program does from epoch to epoch: how long it waits, and what it adds up."""

import ast
import re
from collections.abc import Iterator

from badak.core.errors import tr
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import assigned, called, calls_of, find, is_binary, read_in, values_of
from badak.inspect.doctor.told import Found, rule


def stored(block: list[ast.stmt]) -> set[str]:
    """The names and attributes that a block gives something new."""
    every = find(block, ast.Name | ast.Attribute)
    return {unparse(x) for x in every if isinstance(x.ctx, ast.Store)}


@rule("setting", "{} counts the epochs in which nothing got better, and never begins again where {} did")
def never_patient(tree: ast.Module) -> Found:
    """bad += 1 where nothing got better, and where something did, bad stays: a few bad epochs in all end the training."""
    begun: dict[str, int] = {}
    for line in find(tree, ast.Assign):
        for name in stored([line]):
            begun[name] = begun.get(name, 0) + 1
    limits = [unparse(x.test) for x in find(tree, ast.If) if isinstance(x.test, ast.Compare)]
    for node in (x for x in find(tree, ast.If) if x.orelse and isinstance(x.test, ast.Compare)):
        for better, worse in ((node.body, node.orelse), (node.orelse, node.body)):
            best = next((each for each in stored(better) if "best" in each.lower() and each in unparse(node.test)), "")
            counts = [unparse(x.target) for x in worse if isinstance(x, ast.AugAssign) and unparse(x.value) == "1"]
            for name in counts if best else ():
                waited = any(re.search(rf"(?<![\w.]){re.escape(name)} >=? |[<=]=? {re.escape(name)}$", each) for each in limits)
                if waited and begun.get(name, 0) == 1:
                    yield node, f"{name} = 0", name, best


FUNCTIONS = re.compile(r"^(F|functional|torch\.nn\.functional|nn\.functional)\.\w+$")
REDUCED = re.compile(r"reduction|size_average|\breduce=")  # says that it may be no mean
LOSSES = re.compile(r"(^|\.)\w+Loss$")
ROWS = re.compile(r"len\([\w.\[\]'\"]+\.dataset\)$|len\(\w*(_set|_ds|datasets?)(\[.+\])?\)$")
BATCHES = re.compile(r"len\([\w.\[\]'\"]*(loader|_dl|iterator)(\[\W?\w+\W?\])?\)$")


@rule("read")
def means_of_batches(tree: ast.Module) -> Found:
    """total += loss.item(), the mean of a batch, and total / len(loader.dataset); or the other way round."""
    given = values_of(tree)
    for scope in find(tree, ast.FunctionDef | ast.For):
        kinds: dict[str, set[str]] = {}
        for node in (x for x in find(scope, ast.AugAssign) if isinstance(x.op, ast.Add)):
            kinds.setdefault(unparse(node.target), set()).add(kind_of(node.value, given))
        ones, by_rows = rounds(scope, "1"), rounds(scope, MANY)
        for over, below, line in divisions(scope):
            kind, means = kinds.get(over, set()), below if "len(" in below else meant(below, given)
            if kind == {"mean"} and (ROWS.search(means) or over in by_rows.get(below, ())):
                yield (
                    line,
                    f"{over} += loss.item() * len(x)",
                    tr("{} adds up the mean loss of each batch, and is divided by {}, the number of rows", over, below),
                )
            if kind == {"sum"} and (BATCHES.search(means) or over in ones.get(below, ())):
                yield (
                    line,
                    tr("divide by the number of rows"),
                    tr("{} adds up the loss of each row, and is divided by {}, the number of batches", over, below),
                )


def meant(text: str, given: dict[str, list[ast.expr]]) -> str:
    """What a name, or a place of a dict, is given in the program: len(train_set)."""
    several = given.get(re.sub(r"\[.*\]$", "", text), [])
    values = [
        x.value if isinstance(x, ast.DictComp) else x.values[0] if isinstance(x, ast.Dict) and x.values else x for x in several
    ]
    return unparse(values[0]) if len(values) == 1 else text


MANY = r"len\(\w+\)|\w+\.(size\(0\)|shape\[0\]|size\(\)\[0\]|numel\(\))"


def rounds(scope: ast.AST, by: str) -> dict[str, set[str]]:
    """Of each name that grows by 1 alone, in a loop, or by how many rows there are: what else grows in each of its rounds."""
    grown = [x for x in find(scope, ast.AugAssign) if isinstance(x.op, ast.Add)]
    ones = {unparse(x.target) for x in grown} - {unparse(x.target) for x in grown if not re.fullmatch(by, unparse(x.value))}
    found: dict[str, set[str]] = {}
    for loop in find(scope, ast.For):
        own = {unparse(x.target) for x in loop.body if isinstance(x, ast.AugAssign)}
        for name in own & ones:
            found.setdefault(name, set()).update(own - ones)
    return found


def divisions(scope: ast.AST) -> Iterator[tuple[str, str, int]]:
    """(what is divided, by what, line)."""
    for node in walk(scope):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            yield unparse(node.target), unparse(node.value), node.lineno
        elif is_binary(node, ast.Div):
            yield unparse(node.left), unparse(node.right), node.lineno


def kind_of(value: ast.expr, given: dict[str, list[ast.expr]]) -> str:
    """ "mean" of the loss of a batch, as it is; "sum" where it is multiplied by how many rows there are; else ""."""
    if is_binary(value, ast.Mult):
        sides = [value.left, value.right]
        many = [x for x in sides if re.search(r"^len\(\w+\)$|\.size\(0\)$|\.shape\[0\]$|\.size\(\)\[0\]$", unparse(x))]
        rest = [x for x in sides if x not in many]
        return "sum" if len(many) == len(rest) == 1 and kind_of(rest[0], given) == "mean" else ""
    if called(value) in ("item", "detach", "float", "cpu") and isinstance(value, ast.Call):
        return kind_of(value.func.value if isinstance(value.func, ast.Attribute) else value.args[0], given) if value else ""
    if isinstance(value, ast.Name):
        several = {kind_of(each, {}) or made_by(each, given) for each in given.get(value.id, ())}
        return several.pop() if len(several) == 1 else ""
    return made_by(value, given)


def made_by(value: ast.expr, given: dict[str, list[ast.expr]]) -> str:
    """ "mean" where a loss of PyTorch's, which is given no reduction, is called."""
    if not isinstance(value, ast.Call) or REDUCED.search(unparse(value)) or len(value.args) < 2:
        return ""
    func = unparse(value.func)
    if FUNCTIONS.match(func) and re.search(r"loss|entropy", func):
        return "mean"
    kinds = {
        LOSSES.search(unparse(x.func)) and not REDUCED.search(unparse(x)) for x in given.get(func, ()) if isinstance(x, ast.Call)
    }
    return "mean" if kinds and all(kinds) else ""


ALONG = re.compile(r"(^torch\.max\(.+, |\.max\()(dim=|axis=)?-?1\)$")


@rule("read", "{} is the largest number, and is compared as if it were its place, the class")
def largest_for_its_place(tree: ast.Module) -> Found:
    """predicted, _ = torch.max(outputs, 1), and predicted == labels."""
    compared = {unparse(x.left): x.lineno for x in find(tree, ast.Compare) if isinstance(x.ops[0], ast.Eq)}
    calls = [x for x in calls_of(tree, "eq") if isinstance(x.func, ast.Attribute)]
    compared |= {unparse(x.func.value): x.lineno for x in calls}
    read = read_in(tree)
    for _, name, value in assigned(tree):  # .max(1)[0], .max(1).values
        first = (
            isinstance(value, ast.Subscript)
            and unparse(value.slice) == "0"
            or isinstance(value, ast.Attribute)
            and value.attr == "values"
        )
        of = unparse(value.value) if first else ""  # type: ignore[attr-defined]
        if ALONG.search(of) and any(x == name or x.startswith(f"{name}[") for x in compared):
            yield value, f"{of}[1]", name
    for node in (x for x in find(tree, ast.Assign) if isinstance(x.targets[0], ast.Tuple)):
        names = [unparse(x) for x in node.targets[0].elts]
        along = ALONG.search(unparse(node.value))
        if along and len(names) == 2 and names[0] in compared and names[1] not in read:
            yield node, f"{names[1]}, {names[0]} = {unparse(node.value)}", names[0]


RULES = (never_patient, means_of_batches, largest_for_its_place)
