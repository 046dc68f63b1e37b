"""What the text of a program does from epoch to epoch: how long it waits, what it adds up, whom it asks in which phase."""

import ast
import re
from collections.abc import Iterator

from badak.core.errors import tr
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.tables import TRAIN, assigned, called
from badak.inspect.doctor.told import Told


def epochs(tree: ast.Module) -> Iterator[Told]:
    """All of it."""
    yield from never_patient(tree)
    yield from means_of_batches(tree)
    yield from one_phase(tree)
    yield from same_part(tree)


def stored(block: list[ast.stmt]) -> set[str]:
    """The names and attributes that a block gives something new."""
    every = [x for line in block for x in walk(line) if isinstance(x, ast.Name | ast.Attribute)]
    return {unparse(x) for x in every if isinstance(x.ctx, ast.Store)}


def never_patient(tree: ast.Module) -> Iterator[Told]:
    """bad += 1 where nothing got better, and where something did, bad stays: a few bad epochs in all end the training."""
    begun: dict[str, int] = {}
    for node in (x for x in walk(tree) if isinstance(x, ast.Assign)):
        for name in stored([node]):
            begun[name] = begun.get(name, 0) + 1
    limits = [unparse(x.test) for x in walk(tree) if isinstance(x, ast.If) and isinstance(x.test, ast.Compare)]
    for node in (x for x in walk(tree) if isinstance(x, ast.If) and x.orelse and isinstance(x.test, ast.Compare)):
        for better, worse in ((node.body, node.orelse), (node.orelse, node.body)):
            best = next((each for each in stored(better) if "best" in each.lower() and each in unparse(node.test)), "")
            counts = [unparse(x.target) for x in worse if isinstance(x, ast.AugAssign) and unparse(x.value) == "1"]
            for name in counts if best else ():
                waited = any(re.search(rf"(?<![\w.]){re.escape(name)} >=? |[<=]=? {re.escape(name)}$", each) for each in limits)
                if waited and begun.get(name, 0) == 1:
                    yield Told(
                        "setting", node.lineno,
                        tr("{} counts the epochs in which nothing got better, and never begins anew where {} did", name, best),
                        f"{name} = 0",
                    )  # fmt: skip
                    return


FUNCTIONS = re.compile(r"^(F|functional|torch\.nn\.functional|nn\.functional)\.\w+$")
LOSSES = re.compile(r"(^|\.)\w+Loss$")
ROWS = re.compile(r"len\([\w.\[\]'\"]+\.dataset\)$|len\(\w*(_set|_ds|dataset)\)$")
BATCHES = re.compile(r"len\([\w.\[\]'\"]*(loader|_dl|iterator)(\[\W?\w+\W?\])?\)$")


def means_of_batches(tree: ast.Module) -> Iterator[Told]:
    """total += loss.item(), the mean of a batch, and total / len(loader.dataset); or the other way round."""
    given: dict[str, list[ast.expr]] = {}
    for _, name, value in assigned(tree):
        given.setdefault(name, []).append(value)
    for scope in (x for x in walk(tree) if isinstance(x, ast.FunctionDef | ast.For)):
        kinds: dict[str, set[str]] = {}
        for node in (x for x in walk(scope) if isinstance(x, ast.AugAssign) and isinstance(x.op, ast.Add)):
            kinds.setdefault(unparse(node.target), set()).add(kind_of(node.value, given))
        for over, below, line in divisions(scope):
            kind = kinds.get(over, set())
            if kind == {"mean"} and ROWS.search(below):
                yield Told(
                    "read", line,
                    tr("{} adds up the mean loss of each batch, and is divided by {}, the number of rows", over, below),
                    f"{over} += loss.item() * len(x)",
                )  # fmt: skip
                return
            if kind == {"sum"} and BATCHES.search(below):
                yield Told(
                    "read", line, tr("{} adds up the loss of each row, and is divided by {}, the number of batches", over, below),
                    tr("divide by the number of rows"),
                )  # fmt: skip
                return


def divisions(scope: ast.AST) -> Iterator[tuple[str, str, int]]:
    """(what is divided, by what, line)."""
    for node in walk(scope):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            yield unparse(node.target), unparse(node.value), node.lineno
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            yield unparse(node.left), unparse(node.right), node.lineno


def kind_of(value: ast.expr, given: dict[str, list[ast.expr]]) -> str:
    """ "mean" of the loss of a batch, as it is; "sum" where it is multiplied by how many rows there are; else ""."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
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
    if not isinstance(value, ast.Call) or "reduction" in unparse(value) or len(value.args) < 2:
        return ""
    func = unparse(value.func)
    if FUNCTIONS.match(func) and re.search(r"loss|entropy", func):
        return "mean"
    kinds = {
        LOSSES.search(unparse(x.func)) and "reduction" not in unparse(x) for x in given.get(func, ()) if isinstance(x, ast.Call)
    }
    return "mean" if kinds and all(kinds) else ""


def one_phase(tree: ast.Module) -> Iterator[Told]:
    """for phase in ["train", "val"]: for x, y in loaders["train"]: the same data in both."""
    for loop in (x for x in walk(tree) if isinstance(x, ast.For) and isinstance(x.target, ast.Name)):
        over = [unparse(x) for x in loop.iter.elts] if isinstance(loop.iter, ast.List | ast.Tuple) else []  # type: ignore[attr-defined]
        if not (any(map(says_test, over)) and any(map(TRAIN.search, over))):
            continue
        for inner in (x for line in loop.body for x in walk(line) if isinstance(x, ast.For)):
            taken = inner.iter.args[0] if called(inner.iter) in ("enumerate", "tqdm", "iter") and inner.iter.args else inner.iter
            if isinstance(taken, ast.Subscript) and unparse(taken.slice) in over:
                yield Told(
                    "chosen", inner.lineno,
                    tr("the loop over {} takes {} each time: what is tested is what was learnt", unparse(loop.iter),
                       unparse(taken)),
                    f"{unparse(taken.value)}[{loop.target.id}]",  # type: ignore[attr-defined]
                )  # fmt: skip
                return


BY_CHANCE = re.compile(r"rand|perm|shuffle|sample|choice|next\(")


def same_part(tree: ast.Module) -> Iterator[Told]:
    """train_data, val_data = data[:n], data[:n]; or val_loader = DataLoader(train_set)."""
    parts: dict[str, str] = {}
    for line, name, value in assigned(tree):
        tests, text = says_test(name) and not TRAIN.search(name), unparse(value)
        if isinstance(value, ast.Subscript) and not BY_CHANCE.search(text) and (isinstance(value.slice, ast.Slice | ast.Name)):
            if not tests and TRAIN.search(name):
                parts[text] = name
            elif tests and text in parts:
                yield Told(
                    "chosen", line, tr("{} and {} are both {}: what is tested is what was learnt", parts[text], name, text),
                    tr("rows that no step has seen: random_split(data, [0.8, 0.2]), and test on the second part"),
                )  # fmt: skip
                return
