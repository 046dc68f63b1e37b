"""What metrics that the text of a program computes by itself are: each is asked about answers whose counts are known."""

import ast
import builtins
import re
from typing import Any

import numpy as np

from badak.inspect.doctor.idle import terms
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import SCOPES, assigned, binaries, called, find, is_binary, named_in, names_in, parts_of
from badak.inspect.doctor.told import Found, rule

TP, FP, FN, TN = 2, 3, 5, 11
TRUTH = np.repeat([1, 0, 1, 0], [TP, FP, FN, TN])
ANSWERS = np.repeat([1, 1, 0, 0], [TP, FP, FN, TN])
N = TP + FP + FN + TN
MATRIX = np.array([[TN, FP], [FN, TP]])  # rows: what is so; columns: what is answered
WORTH = {  # names of what is counted, what it is, how it is called
    "tp": ("tp", TP), "true_positives": ("tp", TP), "true_pos": ("tp", TP),
    "fp": ("fp", FP), "false_positives": ("fp", FP), "false_pos": ("fp", FP),
    "fn": ("fn", FN), "false_negatives": ("fn", FN), "false_neg": ("fn", FN),
    "tn": ("tn", TN), "true_negatives": ("tn", TN), "true_neg": ("tn", TN),
    "precision": ("precision", TP / (TP + FP)), "prec": ("precision", TP / (TP + FP)), "ppv": ("precision", TP / (TP + FP)),
    "recall": ("recall", TP / (TP + FN)), "rec": ("recall", TP / (TP + FN)), "sensitivity": ("recall", TP / (TP + FN)),
    "tpr": ("recall", TP / (TP + FN)), "specificity": ("specificity", TN / (TN + FP)), "tnr": ("specificity", TN / (TN + FP)),
    "fpr": ("fp / (fp + tn)", FP / (FP + TN)),
    "f1": ("F1", 2 * TP / (2 * TP + FP + FN)), "f1_score": ("F1", 2 * TP / (2 * TP + FP + FN)),
    "dice": ("F1", 2 * TP / (2 * TP + FP + FN)),
    "iou": ("IoU", TP / (TP + FP + FN)), "jaccard": ("IoU", TP / (TP + FP + FN)),
    "accuracy": ("accuracy", (TP + TN) / N), "acc": ("accuracy", (TP + TN) / N),
}  # fmt: skip
OTHERS = {
    **dict(WORTH.values()),
    **{f"{a} / {b}": x / y for a, x in (("tp", TP), ("fp", FP), ("fn", FN), ("tn", TN)) for b, y in (
        ("all rows", N), ("positive rows", TP + FN), ("negative rows", FP + TN), ("positive answers", TP + FP),
        ("negative answers", FN + TN))},
    "tp / (2 tp + fp + fn)": TP / (2 * TP + FP + FN), "tp / (tp + tn)": TP / (TP + TN), "tp / (tp + fp + fn + tn)": TP / N,
    "the mean of tp / (2 tp + fp + fn)": (MATRIX.diagonal() / (MATRIX.sum(0) + MATRIX.sum(1))).mean(),
    "tn / (tn + fn)": TN / (TN + FN), "right answers": TP + TN, "precision * recall": TP / (TP + FP) * TP / (TP + FN),
    "(precision + recall) / 2": (TP / (TP + FP) + TP / (TP + FN)) / 2, "positive rows": TP + FN, "positive answers": TP + FP,
    "positive rows and positive answers, those that are both twice": 2 * TP + FP + FN,
}  # fmt: skip
ANSWER = re.compile(r"pred|(^|_)(hat|guess\w*|outputs?|flag\w*|answers?|decision\w*|yhat|y_?hat|p|probs?)(_|$)", re.IGNORECASE)
ASKED = re.compile(
    r"true|target|label|truth|actual|(^|_)(y|ys|gt|yb|test_y|val_y|y_test|y_val|t|mask|masks|want\w*)(_|$)", re.IGNORECASE
)
PLAIN = frozenset(
    "len sum item float int long bool mean clamp clip astype logical_and diag diagonal double numpy round max min cpu detach "
    "abs flatten reshape view".split()
)
UNION = re.compile(r"iou|jaccard", re.IGNORECASE)
RIGHT = re.compile(r"correct|right|match|hits?(_|$)", re.IGNORECASE)
MATRICES = re.compile(r"^(cm|conf\w*|hist|confusion\w*|\w*_cm|matrix)$", re.IGNORECASE)
ALLOWED = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Call, ast.Attribute, ast.Name, ast.Constant, ast.operator, ast.unaryop,
    ast.cmpop, ast.boolop, ast.expr_context, ast.keyword, ast.IfExp,
)  # fmt: skip


@rule("read", "{} = {} is {}, and not {}")
def counts(tree: ast.Module) -> Found:
    """precision = tp / (tp + fn): a metric under the name of another."""
    for scope in find(tree, SCOPES):
        if re.search(r"len\([^()]* & ", unparse(scope)):  # sets of what was found, not rows
            continue
        known: dict[str, Any] = {}
        inside = {id(y) for x in find(scope, ast.FunctionDef) if x is not scope for y in walk(x)}
        lines: list[Any] = [x for x in find(scope, ast.Assign | ast.AugAssign) if id(x) not in inside]
        lines += [x for x in find(scope, ast.Return) if id(x) not in inside and isinstance(scope, ast.FunctionDef)]
        for line in sorted(lines, key=lambda x: x.lineno):
            for name, value in named(line, getattr(scope, "name", "")):
                number = worth(value, known)
                last = name.rpartition(".")[2]
                if isinstance(number, np.ndarray):  # of each class, or of each row
                    known[last] = number
                    yield from of_each_class(line, name, value, number)
                    continue
                if number is None:
                    known.pop(last, None)
                    if says_right(value, scope):
                        known[last] = TRUTH == ANSWERS
                    continue
                meant = WORTH.get(last.lower())
                if last.lower() == "union" and overlaps(scope, name):
                    meant = "tp + fp + fn", TP + FP + FN  # of an overlap; a dice coefficient calls a plain sum so
                other = next((what for what, x in OTHERS.items() if abs(x - number) < 1e-4), "")
                if meant is not None and (meant[0], other) in (("tp", "tn"), ("tn", "tp")):
                    return  # what is 0 is what is looked for
                if meant is not None and other and abs(number - meant[1]) > 1e-3:
                    yield line, FIXES.get(meant[0], meant[0]), name, unparse(value), other, meant[0]
                known[last] = meant[1] if meant is not None else number


def overlaps(scope: ast.AST, name: str) -> bool:
    """Whether what is in both is divided by this: in iou(), or plainly, once, where nothing is taken from it."""
    function, text = getattr(scope, "name", ""), unparse(scope)
    if UNION.search(function):
        return " - " not in text
    by = [x.left for x in binaries(scope, ast.Div) if unparse(x.right) == name]
    lessened = re.search(rf"\b{re.escape(name)} -|-= |- \w*inter\w*", text)
    return bool(by) and bool(UNION.search(text)) and not lessened and all("2" not in unparse(x) for x in by)


def says_right(value: ast.expr, scope: ast.AST) -> bool:
    """Whether something says of each row if it is right: answers == labels."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and called(value) in PLAIN and not value.args:
        value = value.func.value
    if called(value) in ("eq", "equal") and isinstance(value, ast.Call):
        func = value.func
        sides = [*value.args, *([func.value] if isinstance(func, ast.Attribute) and len(value.args) == 1 else [])]
    else:
        plain = isinstance(value, ast.Compare) and len(value.ops) == 1 and isinstance(value.ops[0], ast.Eq)
        sides = [value.left, value.comparators[0]] if plain else []  # type: ignore[attr-defined]
    whole = not any(isinstance(x, ast.Subscript) for side in sides for x in walk(side))  # of all rows
    if len(sides) != 2 or not whole:
        return False
    numbers = {unparse(x.target) for x in find(scope, ast.For) if called(x.iter) == "range"}  # of classes
    return all(any(isinstance(x, ast.Name) for x in walk(side)) and unparse(side) not in numbers for side in sides)


@rule("read", "{} = {} is {}, and not {}")
def of_each_class(line: Any, name: str, value: ast.expr, number: np.ndarray) -> Found:
    """The overlap of each class, by its name, that is none."""
    if WORTH.get(name.rpartition(".")[2].lower(), ("",))[0] == "IoU":
        rows, columns, both = MATRIX.sum(1), MATRIX.sum(0), MATRIX.diagonal()
        if np.allclose(number, both / (rows + columns)):
            yield line, FIXES["IoU"], name, unparse(value), "tp / (2 tp + fp + fn)", "IoU"


@rule("read", "{} = {} is {}, and not {}")
def both_twice(tree: ast.Module) -> Found:
    """def iou(a, b): return inter / (area(a) + area(b)), where what is in both counts twice."""
    for function in (x for x in find(tree, ast.FunctionDef) if UNION.search(x.name)):
        for end in (x for x in find(function, ast.Return) if is_binary(x.value, ast.Div)):
            sums = terms(end.value.right)
            plain = [x for sign, x in sums if sign > 0 and not isinstance(x, ast.Constant) and not SMALL.search(unparse(x))]
            twice = "2" in unparse(end.value.left)
            if len(plain) == 2 and all(sign > 0 for sign, _ in sums) and not twice and " - inter" not in unparse(function):
                yield end, FIXES["IoU"], function.name, unparse(end.value), "tp / (2 tp + fp + fn)", "IoU"


SMALL = re.compile(r"eps|smooth|1e-", re.IGNORECASE)


def rows_of(tree: ast.AST) -> dict[str, bool]:
    """Of each matrix that a program fills by m[label, answer] += 1: whether its rows are the labels; what it says both of is left
    out."""
    answers = {name for _, name, value in assigned(tree) if ARGMAX.search(unparse(value))}
    for loop in find(tree, ast.For):
        over = loop.iter.args if called(loop.iter) == "zip" else []
        names = [unparse(x) for x in parts_of(loop.target)]
        answers |= {name for name, x in zip(names, over) if ARGMAX.search(unparse(x)) or names_in(x) & answers}
    found: dict[str, bool] = {}
    for line in find(tree, ast.AugAssign):
        place = line.target
        if isinstance(place, ast.Subscript) and isinstance(place.slice, ast.Tuple) and len(place.slice.elts) == 2:
            sides = [bool(names_in(x) & answers) for x in place.slice.elts]
            if sides[0] != sides[1]:
                found[unparse(place.value)] = sides[1]
    return found


ARGMAX = re.compile(r"argmax\(|\.max\(-?1|\.round\(|> 0")


@rule("read", "{} = {} is {}, and not {}")
def of_a_matrix(tree: ast.Module) -> Found:
    """recall = m.diag() / m.sum(0), where m[label, answer] += 1: what is answered is summed up, and not what is so."""
    for name, labels in rows_of(tree).items():
        for line, metric, value in assigned(tree):
            meant = WORTH.get(metric.rpartition(".")[2].lower(), ("",))[0]
            by = re.search(rf"{re.escape(name)}\.sum\((?:dim=|axis=)?(0|1|-1|-2)\)", unparse(value))
            if meant in ("recall", "precision") and by and is_binary(value, ast.Div) and "diag" in unparse(value.left):
                of_labels = (by[1] in ("1", "-1")) == labels
                if of_labels != (meant == "recall"):
                    said = {True: "tp / (tp + fn)", False: "tp / (tp + fp)"}[of_labels]
                    yield line, FIXES[meant], metric, unparse(value), said, meant


FIXES = {
    "tp": "(pred == 1) & (y == 1)", "fp": "(pred == 1) & (y == 0)", "fn": "(pred == 0) & (y == 1)", "tn": "(pred == 0) & (y == 0)",
    "precision": "tp / (tp + fp)", "recall": "tp / (tp + fn)", "specificity": "tn / (tn + fp)", "F1": "2 * tp / (2 * tp + fp + fn)",
    "IoU": "tp / (tp + fp + fn)", "accuracy": "(tp + tn) / (tp + tn + fp + fn)",
}  # fmt: skip


def named(line: Any, function: str) -> list[tuple[str, ast.expr]]:
    """(name, what it is given) of a line; what a sum grows by stands for it, and a function for what it returns."""
    if isinstance(line, ast.Return):
        stem = re.sub(
            r"^(compute|get|calc|calculate|mean|binary|batch|macro|micro|weighted)_|_(score|coeff?|metric|fn)$", "", function
        )
        return [(stem, line.value)] if line.value is not None else []
    if isinstance(line, ast.AugAssign):
        return [(unparse(line.target), line.value)] if isinstance(line.op, ast.Add) else []
    target, value = line.targets[0], line.value
    if isinstance(target, ast.Tuple):
        several = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else []
        return list(zip(map(unparse, target.elts), several))
    return [(unparse(target), value)] if isinstance(target, ast.Name | ast.Attribute) else []


def worth(value: ast.expr, known: dict[str, Any]) -> Any:
    """What an expression gives of the rows above; None where it is more than counting."""
    names = named_in(value)
    if not names or not all(isinstance(x, ALLOWED) for x in walk(value)) or len(walk(value)) > 60:
        return None
    calls = find(value, ast.Call)
    itself = any(isinstance(x, ast.Compare) and unparse(x.left) == unparse(x.comparators[0]) for x in walk(value))
    if itself or any(called(x) not in PLAIN for x in calls):  # what is compared with itself is told by another rule
        return None
    held: dict[str, Any] = {x.__name__: x for x in (len, max, min, float, int, round, abs)} | {"sum": np.sum, "np": np}
    for name in names - {*held}:
        low = name.lower()
        if name in known:
            held[name] = Rows.of(known[name])
        elif low in WORTH and low not in ("dice", "iou"):
            held[name] = Rows.of(WORTH[low][1])
        elif MATRICES.match(name):
            held[name] = Rows(MATRIX)
        elif RIGHT.search(name):  # correct_preds: no answers, but which of them are right
            return None
        elif "pred" in low or ANSWER.search(name) and not ASKED.search(name):
            held[name] = Rows(ANSWERS)
        elif ASKED.search(name) and not ANSWER.search(name):
            held[name] = Rows(TRUTH)
        elif re.fullmatch(r"eps\w*|smooth\w*|EPS\w*", name):
            held[name] = 0.0
        else:
            return None
    try:
        with np.errstate(all="ignore"):
            made = eval(compile(ast.Expression(value), "", "eval"), {"__builtins__": {}}, held)
            number = np.asarray(getattr(made, "x", made), dtype=float)
    except Exception:
        return None
    if number.ndim == 1 and len(number) == 2:
        return number
    return float(number) if number.ndim == 0 and np.isfinite(number) else None


class Rows:
    """Rows of zeros and ones, or a count of them, with the methods that tensors have."""

    def __init__(self, x: Any) -> None:
        self.x = np.asarray(x)

    @classmethod
    def of(cls, x: Any) -> Any:
        return x if isinstance(x, Rows) else cls(x)

    def sum(self, *axes: Any, **named: Any) -> "Rows":
        axis = next(iter((*axes, *named.values())), None)
        return Rows(self.x.sum(axis if self.x.ndim > 1 else None))

    def mean(self, *_: Any, **__: Any) -> "Rows":
        return Rows(self.x.mean())

    def diag(self) -> "Rows":
        return Rows(self.x.diagonal())

    diagonal = diag

    def same(self, *_: Any, **__: Any) -> "Rows":
        return self

    item = float = int = long = double = numpy = cpu = detach = astype = round = flatten = reshape = view = same

    def bool(self) -> "Rows":
        return Rows(self.x.astype(bool))

    def clamp(self, *_: Any, **__: Any) -> "Rows":
        return self

    clip = max = min = clamp

    def logical_and(self, other: "Rows") -> "Rows":
        return Rows(np.logical_and(self.x, other.x))

    def __float__(self) -> Any:
        return float(self.x)

    def __int__(self) -> builtins.int:
        return builtins.int(self.x)

    def __bool__(self) -> builtins.bool:
        return builtins.bool(self.x.all())

    def __len__(self) -> builtins.int:
        return len(self.x)


def _lift(name: str) -> Any:
    def lifted(self: Rows, *others: Any) -> Rows:
        given = [getattr(x, "x", x) for x in others]
        own = self.x.astype(bool) if name == "__invert__" else self.x
        return Rows(getattr(own, name)(*given))

    return lifted


for _name in "add radd sub rsub mul rmul truediv rtruediv pow eq ne gt ge lt le and rand or ror invert neg".split():
    setattr(Rows, f"__{_name}__", _lift(f"__{_name}__"))


RULES = counts, of_a_matrix, both_twice
