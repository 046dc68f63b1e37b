"""What the text of a program takes for better: the larger loss, or the smaller share of right answers."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import asked_of, called, calls_of, find, is_ordered, returns_of, stored_by, values_of
from badak.inspect.doctor.told import Found, Told, rule

LOSS = re.compile(
    r"(^|[._])(loss\w*|losses|\w*loss|\w*criterion|mse|mae|rmse|nll|bce|ppl|perplexity|cross_entropy|err|error|errors|cer|wer)$"
)
GAIN = re.compile(
    r"(^|[._])(acc|accs|accuracy|f1|auc|auroc|iou|dice|(dice|iou)_(coeff?|score|index)|recall|precision|hits?|r2|bleu|correct)$|accuracy|_acc$|acc_"
)
DEEP = 8


def worse_is_better(tree: ast.Module) -> Iterator[Told]:
    """The worst is kept as the best, or a plateau is waited for on the wrong side."""
    known = Meaning(tree)
    for each in (kept, largest, plateaus):
        yield from each(tree, known)


class Meaning:
    """What numbers of a program are: "loss", "gain", or "" where that is not to be seen."""

    def __init__(self, tree: ast.Module) -> None:
        self.values = values_of(tree)
        self.grown = {unparse(x.target): x.value for x in find(tree, ast.AugAssign)}
        for x in (x for x in calls_of(tree, "append") if len(x.args) == 1):
            self.grown.setdefault(unparse(x.func).removesuffix(".append"), x.args[0])
        self.functions = {x.name: x for x in find(tree, ast.FunctionDef)}
        self.places = {
            name.id: (i, node.value)
            for node in find(tree, ast.Assign)
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Call)
            for i, name in enumerate(node.targets[0].elts)
            if isinstance(name, ast.Name)
        }
        self.given = self.arguments(tree)
        self.around = {id(x): function for function in find(tree, ast.FunctionDef) for x in walk(function)}

    def arguments(self, tree: ast.Module) -> dict[str, list[ast.expr]]:
        """What the parameters of the program's functions, and of what its objects are called with, are given."""
        kinds = {x.name: x for x in find(tree, ast.ClassDef)}
        made = {name: called(each) for name, values in self.values.items() for each in values if called(each) in kinds}
        found: dict[str, list[ast.expr]] = {}
        for node in find(tree, ast.Call):
            own = kinds.get(made.get(unparse(node.func), ""))
            calls = [x for x in own.body if isinstance(x, ast.FunctionDef) and x.name == "__call__"] if own is not None else []
            if isinstance(node.func, ast.Attribute) and (holder := kinds.get(made.get(unparse(node.func.value), ""))):
                calls = [x for x in holder.body if isinstance(x, ast.FunctionDef) and x.name == node.func.attr]
            elif isinstance(node.func, ast.Name) and node.func.id in self.functions:
                calls = [self.functions[node.func.id]]
            for function in calls[:1]:
                names = [each.arg for each in function.args.args if each.arg != "self"]
                for name, value in zip(names, node.args):
                    found.setdefault(f"{function.name}:{function.lineno}:{name}", []).append(value)
        return found

    def of(self, node: ast.expr, where: ast.AST | None = None, deep: int = DEEP) -> str:
        """What a number is; where: the function that it stands in."""
        text = re.sub(r"\.(item|detach|cpu|mean|sum)\(\)", "", unparse(node))
        if re.fullmatch(r"[\w.]+", text):
            if LOSS.search(text):
                return "loss"
            if GAIN.search(text):
                return "gain"
        if not deep:
            return ""
        if isinstance(node, ast.UnaryOp):
            turned = {"loss": "gain", "gain": "loss"} if isinstance(node.op, ast.USub) else {}
            return turned.get(self.of(node.operand, where, deep - 1), "")
        if isinstance(node, ast.BinOp):
            return self.of(node.left, where, deep) if isinstance(node.op, ast.Div | ast.Mult) else ""
        if isinstance(node, ast.Call):
            return self.of_call(node, 0, deep)
        if not isinstance(node, ast.Name):
            return ""
        if isinstance(where, ast.FunctionDef) and any(each.arg == node.id for each in where.args.args):
            several = self.given.get(f"{where.name}:{where.lineno}:{node.id}", [])
        elif node.id in self.places:
            return self.of_call(self.places[node.id][1], self.places[node.id][0], deep - 1)
        else:
            several = [self.grown[node.id]] if node.id in self.grown else self.values.get(node.id, [])
        kinds = {self.of(each, None, deep - 1) for each in several}
        return kinds.pop() if len(kinds) == 1 else ""

    def of_call(self, node: ast.expr, place: int, deep: int) -> str:
        """What comes out of a call, at one place of several."""
        name = called(node)
        if GAIN.search(name) and not LOSS.search(name):
            return "gain"
        if name not in self.functions:
            if isinstance(node, ast.Call) and name in ("item", "mean", "float", "sum"):
                of = asked_of(node)
                return self.of(of, None, deep - 1) if of is not None else ""
            return "loss" if LOSS.search(name) else ""
        function = self.functions[name]
        ends = returns_of(function)
        taken = [x.elts[place] if isinstance(x, ast.Tuple) and place < len(x.elts) else x for x in ends]
        kinds = {self.of(x, function, deep - 1) for x in taken}
        named = "loss" if LOSS.search(name) and len(taken) == 1 and not isinstance(ends[0], ast.Tuple) else ""
        return (kinds.pop() if len(kinds) == 1 else "") or named


def sides(test: ast.expr) -> list[ast.expr]:
    """The parts of a condition, of which one, or each, must hold."""
    return test.values if isinstance(test, ast.BoolOp) else [test]


def worst(what: str, larger: bool) -> str:
    """The worst of a loss, or of a share of right answers, is kept."""
    if larger:
        return tr("{} is kept as the best where it is {}, and it is a loss: the worst is kept", what, tr("larger"))
    return tr("{} is kept as the best where it is {}, and it counts what is right: the worst is kept", what, tr("smaller"))


@rule("best")
def kept(tree: ast.Module, known: Meaning) -> Found:
    """if loss > best: best = loss, or the other way round for a share of right answers."""
    for node, test in ((found, x) for found in find(tree, ast.If) for x in sides(found.test)):
        if not is_ordered(test):
            continue
        a, b = test.left, test.comparators[0]
        stored = [(unparse(name), unparse(value)) for line in node.body for name, value in stored_by(line)]
        for new, old, sign in ((a, b, 1), (b, a, -1)):
            if (unparse(old), unparse(new)) not in stored or "best" not in unparse(old).lower():
                continue
            larger = isinstance(test.ops[0], ast.Gt | ast.GtE) == (sign == 1)
            what = known.of(new, known.around.get(id(node)))
            if what == ("loss" if larger else "gain"):
                yield node, f"if {unparse(new)} {'<' if larger else '>'} {unparse(old)}:", worst(unparse(new), larger)


@rule("best")
def largest(tree: ast.Module, known: Meaning) -> Found:
    """best = max(best, loss), or min(best, accuracy)."""
    for node in find(tree, ast.Assign):
        best, call = unparse(node.targets[0]), node.value
        if not isinstance(call, ast.Call):
            continue
        others = [x for x in call.args if unparse(x) != best]
        if "best" not in best.lower() or unparse(call.func) not in ("max", "min") or len(call.args) != 2 or len(others) != 1:
            continue
        larger = unparse(call.func) == "max"
        if known.of(others[0], known.around.get(id(node))) == ("loss" if larger else "gain"):
            what, other = unparse(others[0]), "min" if larger else "max"
            yield node, f"{best} = {other}({best}, {what})", worst(what, larger)


@rule("plateau", "ReduceLROnPlateau with mode={!r} is told {}: it takes what gets better for what does not")
def plateaus(tree: ast.Module, known: Meaning) -> Found:
    """ReduceLROnPlateau that waits for a loss to rise, or for a share of right answers to fall."""
    made: dict[str, Any] = {}
    for line in find(tree, ast.Assign):
        if isinstance(line.value, ast.Call) and called(line.value) == "ReduceLROnPlateau":
            given = [*(x.value for x in line.value.keywords if x.arg == "mode"), *line.value.args[1:2], ast.Constant("min")]
            made[unparse(line.targets[0])] = given[0].value if isinstance(given[0], ast.Constant) else ""
    for node in (x for x in find(tree, ast.Call) if x.args):
        mode = made.get(unparse(node.func.value)) if isinstance(node.func, ast.Attribute) and node.func.attr == "step" else ""
        if mode and (mode, known.of(node.args[0], known.around.get(id(node)))) in (("max", "loss"), ("min", "gain")):
            yield node, 'mode="min"' if mode == "max" else 'mode="max"', mode, unparse(node.args[0])
