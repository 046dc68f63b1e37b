"""What the text of a program does to the scale of columns, and of what is asked for."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.columns import ASKED
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.scaled import SPLIT_FIRST, statistics
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import assigned, binaries, called, calls_of, find, function_around, is_binary, names_in
from badak.inspect.doctor.tables import picks
from badak.inspect.doctor.told import Found, Told, rule


def scales(tree: ast.Module) -> Iterator[Told]:
    """All of it."""
    given = assigned(tree)
    for each in (
        by_all,
        never_back,
        half_back,
        one_side_back,
        other_side_scaled,
        mean_on_a_difference,
        of_the_parted,
        other_inverse,
        scaler_left_out,
    ):
        yield from each(tree, given)


@rule("scaled", "{} is scaled by the numbers of all of its rows, and {} takes rows for a test of them then")
def of_the_parted(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> Found:
    """train, test = df.iloc[:n], df.iloc[n:], and the spread that rows are divided by is df[COLUMNS].std()."""
    bases = {match[1] for _, _, value in given if (match := re.match(r"(\w+)\.i?loc\[", unparse(value)))}
    for base in bases:
        cuts = [(line, name) for line, name, value in given if re.match(rf"{base}\.i?loc\[", unparse(value))]
        parted = any(says_test(name) for _, name in cuts) and any("train" in name for _, name in cuts)
        spread = re.compile(rf"^{base}(\[[^\]]*\])?\.(std|max)\(")
        centre = re.compile(rf"^{base}(\[[^\]]*\])?\.(mean|min)\(")
        middle = any(line > min(cuts)[0] and centre.search(unparse(value)) for line, _, value in given) if cuts else False
        for line, _, value in given:
            if parted and middle and line > min(cuts)[0] and spread.search(unparse(value)) and "train" not in base:
                test = next(name for _, name in cuts if says_test(name))
                yield line, SPLIT_FIRST, base, test


LOGS = {"log": "exp", "log1p": "expm1", "log10": "10**", "log2": "2**", "sqrt": "square"}


@rule("read", "the model learns {}() of what is asked for, and {} is not what undoes it")
def other_inverse(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> Found:
    """y = log1p(price), and 10 ** prediction."""
    learnt = {called(x) for _, name, value in given if ASKED.match(name) for x in walk(value) if called(x) in LOGS}
    back: dict[str, tuple[int, str]] = {}
    for line, name, value in given:
        for x in walk(value) if ANSWERS.search(name) and not AWAY.search(name) else ():
            if called(x) in ("exp", "expm1", "exp2"):
                back[called(x)] = line, unparse(x)
            elif is_binary(x, ast.Pow) and unparse(x.left) in ("10", "10.0", "2", "2.0"):
                back[f"{unparse(x.left)[:-2] if '.' in unparse(x.left) else unparse(x.left)}**"] = line, unparse(x)
    if len(learnt) == 1 and back:
        log = min(learnt)
        if LOGS[log] not in back and not (log in ("log", "log1p") and {"exp", "expm1"} & {*back}):
            line, text = min(back.values())
            yield line, f"np.{LOGS[log]}(...)", log, text


NUMBERS = re.compile(r"Encoder|Binarizer|Vectorizer")  # gives numbers for names, and is no scale


def laid(value: ast.expr) -> ast.expr:
    """What is only laid otherwise: scaler.transform(y).ravel()."""
    while called(value) in ("ravel", "flatten", "reshape", "squeeze", "astype") and isinstance(value.func, ast.Attribute):  # type: ignore[attr-defined]
        value = value.func.value  # type: ignore[attr-defined]
    return value


@rule("read", "the model has learnt what {} gives, and its answers are read as if nobody had scaled them")
def scaler_left_out(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> Found:
    """y_train = scaler.fit_transform(log(y)), and exp(prediction), which nobody scaled back."""
    text = unparse(tree)
    for line, name, value in ((line, name, laid(value)) for line, name, value in given):
        if called(value) not in ("fit_transform", "transform") or not ASKED.match(name) or not isinstance(value, ast.Call):
            continue
        holder = unparse(value.func.value)  # type: ignore[attr-defined]
        if NUMBERS.search(holder + "".join(unparse(x) for _, other, x in given if other == holder)):
            continue
        if re.search(rf"\b{re.escape(holder)}\.(inverse|mean|scale|std|min_|max_|data_|var)", text) or holder == "self":
            continue
        if any(holder in map(unparse, x.args) for x in find(tree, ast.Call)):
            continue  # a function may do it
        raw = [
            x for _, x, v in given if ASKED.match(x) and says_test(x) and holder not in unparse(v) and isinstance(v, ast.Subscript)
        ]
        told = [v for _, other, v in given if ANSWERS.search(other) and not AWAY.search(other)]
        undone = calls_of(told, "exp", "expm1")
        scaled_tests = [x for _, x, v in given if ASKED.match(x) and says_test(x) and holder in unparse(v)]
        raw_by_a_split = {x for _, x, v in given if ASKED.match(x) and says_test(x) and called(v) == "train_test_split"}
        raw_by_a_split -= {x for _, x, v in given if called(laid(v)) in ("fit_transform", "transform")}
        answers = {x for _, x, _ in given if ANSWERS.search(x) and not AWAY.search(x)}
        met = [
            x
            for x in binaries(tree, ast.Sub)
            if {unparse(x.left), unparse(x.right)} & answers and {unparse(x.left), unparse(x.right)} & raw_by_a_split
        ]
        if undone or met or raw and not scaled_tests:
            yield (undone or met)[0].lineno if undone or met else line, f"{holder}.inverse_transform(...)", unparse(value)


def divided(value: ast.expr) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """(x, m, s) of (x - m) / s."""
    if is_binary(value, ast.Div) and isinstance(value.left, ast.BinOp):
        less = value.left
        if isinstance(less.op, ast.Sub):
            return less.left, less.right, value.right
    return None


@rule("scaled", "{} is scaled by the numbers of all of its rows, and {} takes rows for a test of them then")
def by_all(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> Found:
    """X_test, which is some rows of X, less the mean of X, by its spread: X was parted before."""
    for _, base in statistics(tree, given):
        whole = re.compile(rf"(?<![\w.]){re.escape(base)}\.(std|var|max)\(|\.(std|var|max|ptp)\({re.escape(base)}\b")
        spreads = {name for _, name, value in given if whole.search(unparse(value))}
        parts = {name for _, name, value in given if any(of == base for of, _ in picks(value))}
        for at, name, value in given:
            found = divided(value)
            if found is None or not says_test(name) or not names_in(found[0]) & parts:
                continue
            if names_in(found[2]) & spreads or whole.search(unparse(found[2])):
                yield at, SPLIT_FIRST, base, name


COMPARES = re.compile(r"loss|mse|mae|error|criterion|r2|rmse", re.IGNORECASE)


@rule("read", "{} is compared with {} as it was, and the model has learnt {}, which was divided by {}")
def never_back(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> Found:
    """y_train = (y_train - m) / s, and the test compares what the model gives with y_test as it was."""
    scaled = {}
    for _, name, value in given:
        found = divided(value)
        if found is not None and ASKED.match(name) and isinstance(found[2], ast.Name):
            scaled[name] = found[2].id
    if not scaled or "inverse" in unparse(tree):
        return
    spreads = set(scaled.values())
    back = [x for x in find(tree, ast.BinOp | ast.AugAssign) if isinstance(x.op, ast.Mult) and names_in(x) & spreads]
    raw = {name for _, name, _ in given if ASKED.match(name) and says_test(name) and name not in scaled}
    if back or not raw:
        return
    models = {name for _, name, value in given if names_in(value) and called(value) and not raw & names_in(value)}
    for node in walk(tree):
        sides: list[ast.expr] = []
        if is_binary(node, ast.Sub):
            sides = [node.left, node.right]
        elif isinstance(node, ast.Call) and COMPARES.search(called(node)):
            sides = node.args[:2]
        texts = [unparse(x) for x in sides]
        answer = next((x for x in texts if re.search(r"pred|out|hat", x) and x in models), "")
        if answer and any(x in raw for x in texts):
            label = next(x for x in texts if x in raw)
            learnt = min(scaled)
            yield node, f"{answer} * {scaled[learnt]} + mean", answer, label, learnt, scaled[learnt]


ANSWERS = re.compile(r"pred|forecast|(^|_)y_?hat|outputs?$|answers?$")
AWAY = re.compile(r"err|mae|mse|diff|abs\(|std|resid|loss|spread")


@rule("read", "{} is multiplied by {}, and {}, which is added elsewhere, is left out")
def half_back(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> Found:
    """a_pred = model(a) * s + m, and b_pred = model(b) * s, without m."""
    whole: dict[str, str] = {}
    half: list[tuple[int, str, str]] = []
    for line, name, value in given:
        if not ANSWERS.search(name) or AWAY.search(name) or AWAY.search(unparse(value)):
            continue
        if is_binary(value, ast.Add) and isinstance(value.left, ast.BinOp):
            if isinstance(value.left.op, ast.Mult):
                whole[unparse(value.left.right)] = unparse(value.right)
        elif is_binary(value, ast.Mult):
            half.append((line, name, unparse(value.right)))
    for line, name, by in half:
        if by in whole:
            yield line, f"... * {by} + {whole[by]}", name, by, whole[by]


@rule("read", "{} is brought back to its own units, and {} is not")
def one_side_back(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> Found:
    """preds, trues = predict(...); trues = trues * s + m; (preds - trues).abs(): the one in its own units, the other not."""
    pairs = [
        ({unparse(y) for y in x.targets[0].elts}, x.lineno)
        for x in find(tree, ast.Assign)
        if isinstance(x.targets[0], ast.Tuple) and isinstance(x.value, ast.Call)
    ]
    back = {name: line for line, name, value in given if brought(value, name)}
    for both, line in pairs:
        whole = {name for name in both if back.get(name, 0) > line}
        for name in sorted(whole):
            for node in binaries(tree, ast.Sub):
                sides = [unparse(node.left), unparse(node.right)]
                other = next((x for x in sides if x in both - whole), "")
                again = any(own == other and at > line for at, own, _ in given)
                if name in sides and other and node.lineno > back[name] and not again:
                    yield node, tr("bring both back"), name, other


@rule("read", "{} is a difference, and {} is added to it: what is taken from both sides falls away")
def mean_on_a_difference(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> Found:
    """(model(x) - y).abs() * y_std + y_mean, where y = (rent - y_mean) / y_std."""
    pairs = {(unparse(x[1]), unparse(x[2])) for node in binaries(tree, ast.Div) if (x := divided(node)) is not None}
    for node in (x for x in binaries(tree, ast.Add) if is_binary(x.left, ast.Mult)):
        product: Any = node.left
        if (unparse(node.right), unparse(product.right)) in pairs and binaries(product.left, ast.Sub):
            if called(product.left) in ("abs", "pow", "square", "absolute", "mean", "sqrt"):
                yield node, unparse(product), unparse(product.left), unparse(node.right)


@rule("read", "{} is brought back to its own units, and {} is not")
def other_side_scaled(tree: ast.Module, given: list[tuple[int, str, ast.expr]]) -> Found:
    """pred = model(x) * std + mean, compared with what was made of (series - mean) / std."""
    scaled: dict[str, str] = {}  # what it was divided by
    for _ in range(4):
        for _, name, value in given:
            found, read = divided(value), [scaled[x] for x in names_in(value) if x in scaled]
            by = unparse(found[2]) if found is not None else next(iter(read), "")
            if by and not multiplied(value, by):
                scaled.setdefault(name, by)
    grown = {unparse(x.target) for x in find(tree, ast.AugAssign)}
    for node in binaries(tree, ast.Sub):
        for answer, label in ((node.left, node.right), (node.right, node.left)):
            last = max(
                ((at, value) for at, name, value in given if name == unparse(answer) and at < node.lineno),
                default=None,
                key=lambda x: x[0],
            )
            back = last[1] if last is not None and function_around(tree, last[0]) is function_around(tree, node.lineno) else None
            by = unparse(back.left.right) if is_binary(back, ast.Add) and is_binary(back.left, ast.Mult) else ""
            what = unparse(label)
            if by and scaled.get(what) == by and what not in grown and not multiplied(node, by) and ANSWERS.search(unparse(answer)):
                yield node, tr("bring both back"), unparse(answer), what


def multiplied(value: ast.expr, by: str) -> bool:
    """Whether something in it is multiplied by this."""
    return any(by in (unparse(x.left), unparse(x.right)) for x in binaries(value, ast.Mult))


def brought(value: ast.expr, name: str) -> bool:
    """Whether x * s + m of a name, or inverse_transform() of it."""
    if called(value) == "inverse_transform" and isinstance(value, ast.Call) and value.args:
        return name in names_in(value.args[0])
    scaled = value.left if is_binary(value, ast.Add) else None
    return is_binary(scaled, ast.Mult) and name in (unparse(scaled.left), unparse(scaled.right))
