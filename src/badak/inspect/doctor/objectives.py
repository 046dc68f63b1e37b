"""What a loss, or a schedule, is put together of, as the text of a program has it."""

import ast
import re
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.formulas import BAD, GOOD, LOG_VAR, text_of
from badak.inspect.doctor.idle import terms
from badak.inspect.doctor.returns import factors
from badak.inspect.doctor.source import unparse
from badak.inspect.doctor.syntax import (
    SCOPES,
    assigned,
    binaries,
    called,
    calls_of,
    find,
    holder_of,
    is_binary,
    names_in,
    number,
    returns_of,
    values_of,
)
from badak.inspect.doctor.told import Found, rule

THE_RARER = tr("the rarer, the larger: weight = 1 / counts")

RATE = re.compile(r"(^|[._])(lr|learning_rate|base_lr|init_lr|initial_lr|max_lr|LR)$")


@rule("favoured")
def counts_for_weights(tree: ast.Module) -> Found:
    """CrossEntropyLoss(weight=counts / counts.sum())."""
    given = {name: value for _, name, value in assigned(tree)}
    made = {name: unparse(value) for name, value in given.items()}
    counts = {
        name
        for name, text in made.items()
        if re.search(r"bincount\(|value_counts\(|Counter\(", text)
        and not re.search(r"/.*(bincount|counts?)\(|\*\* -|pow\(-|reciprocal", text)
    }
    losses = [x for x in find(tree, ast.Call) if re.search(r"cross_entropy|CrossEntropyLoss|NLLLoss", called(x))]
    samplers = [x for x in calls_of(tree, "WeightedRandomSampler") if x.args]
    for node in samplers:
        value = given.get(unparse(node.args[0]), node.args[0])
        by_row = isinstance(value, ast.Subscript) and re.fullmatch(r"\(?(\w+)\)?(\.(float|double)\(\))?", unparse(value.value))
        if by_row and by_row[1] in counts and "/" not in unparse(given[by_row[1]]):
            yield (
                node,
                THE_RARER,
                tr("rows are drawn by {}, how often their class comes: what is frequent is drawn the more", unparse(value)),
            )
    for node in losses:
        for weight in [x.value for x in node.keywords if x.arg == "weight"]:
            value = given.get(unparse(weight), weight)
            while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.args:  # torch.tensor(...)
                value = value.args[0]
            share = value
            while is_binary(share, ast.Div | ast.Mult) and names_in(share.left):
                share = share.left
            if text_of(share) in counts and not re.search(r"-1", unparse(value)):
                yield (
                    weight,
                    THE_RARER,
                    tr("the classes are weighted by {}, how often they come: it makes larger what is frequent", unparse(value)),
                )


POSITIVES = re.compile(r"(^|[._])(n_?)?pos(itives?)?(_count)?$|(^|_)num_pos\w*$|\by\w*\.sum\(\)$")
NEGATIVES = re.compile(r"neg|\(1 - ")


@rule("favoured", "pos_weight is {}: it makes larger what is frequent")
def ones_by_zeros(tree: ast.Module) -> Found:
    """BCEWithLogitsLoss(pos_weight=torch.tensor(n_pos / (n - n_pos)))."""
    given = {name: value for _, name, value in assigned(tree)}
    for weight in (x.value for x in find(tree, ast.keyword) if x.arg == "pos_weight"):
        value: ast.expr = weight
        for _ in range(3):
            value = given.get(unparse(value), value)
            value = value.args[0] if called(value) in ("tensor", "as_tensor", "FloatTensor") and value.args else value  # type: ignore[attr-defined]
            value = value.elts[0] if isinstance(value, ast.List) and len(value.elts) == 1 else value
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Div):
            continue
        above, below = unparse(value.left), unparse(value.right)
        rest = below.endswith(f" - {above}") or bool(NEGATIVES.search(below))
        if rest and POSITIVES.search(above) and not NEGATIVES.search(above):
            yield weight, tr("pos_weight = negatives / positives"), unparse(value)


@rule("formula", "{} is a rate, and LambdaLR multiplies the rate of the optimizer by it")
def rate_for_a_factor(tree: ast.Module) -> Found:
    """LambdaLR(optimizer, lambda step: lr * ...): what it gives is multiplied by the rate already."""
    functions = {x.name: x for x in find(tree, ast.FunctionDef)}
    for node in (x for x in calls_of(tree, "LambdaLR") if len(x.args) + len(x.keywords) > 1):
        moved, given = [*node.args, *(x.value for x in node.keywords)][:2]
        if rates_of_their_own(unparse(moved), tree):
            continue
        bodies: list[ast.expr] = [given.body] if isinstance(given, ast.Lambda) else []
        inner = [called(x) for x in find(given, ast.Call)] + [unparse(given).rpartition(".")[2]]
        for name in (each for each in inner if each in functions):
            bodies += returns_of(functions[name])
        for body in bodies:
            rates = {unparse(x.value) for x in find(tree, ast.keyword) if x.arg == "lr" and isinstance(x.value, ast.Constant)}
            if (
                any(RATE.search(unparse(each)) or unparse(each) in rates - {"1.0", "1"} for each in factors(body))
                and len(factors(body)) > 1
            ):
                yield body, tr("a factor: 1 at its highest"), unparse(body)


def rates_of_their_own(optimizer: str, tree: ast.Module) -> bool:
    """Whether an optimizer is given groups that say their rates themselves, which may be 1."""
    own = {name: value for _, name, value in assigned(tree)}
    made = [value for _, name, value in assigned(tree) if name == optimizer and isinstance(value, ast.Call) and value.args]
    groups = [x.args[0] for x in made if isinstance(x, ast.Call)]
    return any(re.search(r"lr\b", unparse(own.get(unparse(x), x))) for x in groups)


@rule("formula", "of {} one is a mean over all numbers and the other one their sum: the one counts for nothing")
def mean_and_sum(tree: ast.Module) -> Found:
    """A reconstruction that is summed, and a divergence that is a mean of all numbers, added as they are; or the other way."""
    for function in find(tree, ast.FunctionDef):
        given = {name: value for _, name, value in assigned(function)}
        for end in binaries(function, ast.Add):
            parts = [unweighted(x, tree) for x in (end.left, end.right)]
            parts = [given.get(unparse(x), x) for x in parts]
            kinds = {reduced(x) for x in parts}
            if {kind for _, kind in kinds} == {"mean", "sum"} and {which for which, _ in kinds} == {"kl", "other"}:
                yield end, tr("both as sums, or both as sums over a row and means over the rows"), unparse(end)


def unweighted(term: ast.expr, tree: ast.Module) -> ast.expr:
    """What a term of a loss is multiplied by 1."""
    if is_binary(term, ast.Mult):
        for weight, rest in ((term.left, term.right), (term.right, term.left)):
            if number(tree, weight) == 1:
                return rest
    return term


def reduced(value: ast.expr) -> tuple[str, str]:
    """("kl" or "other", "mean" or "sum") of a term of a loss; empty where that is not to be seen."""
    text = unparse(value)
    if len([x for x in find(value, ast.expr) if LOG_VAR.search(unparse(x))]) and "exp(" in text:
        if re.search(r"(dim|axis)=|(sum|mean)\(-?\d+[,)]", text):
            return "", ""
        ways = set(re.findall(r"(?<=\.)(sum|mean)\(", text))
        return "kl", ways.pop() if len(ways) == 1 else ""
    if isinstance(value, ast.Call) and re.match(
        r"(F|nn\.functional|torch\.nn\.functional|functional)\.\w*(cross_entropy|loss)", text
    ):
        way = re.search(r"reduction='(\w+)'", text)
        return "other", way[1] if way else "mean"
    return "", ""


@rule("formula", "{} brings near what belongs apart: the positive and the negative stand in each other's place")
def one_sided(tree: ast.Module) -> Found:
    """logsigmoid(negative_score), or logsigmoid(-positive_score), whose sum is made large."""
    given = values_of(tree)
    for node in calls_of(tree, "logsigmoid"):
        of = node.args[0] if node.args else holder_of(node) or node
        minus = isinstance(of, ast.UnaryOp) and isinstance(of.op, ast.USub)
        of = of.operand if isinstance(of, ast.UnaryOp) else of
        values = [unparse(x) for x in given.get(unparse(of), [])]
        if not isinstance(of, ast.Name) or not values or any(re.search(r"neg\(\)|^-| - |-1", x) for x in values):
            continue
        if minus and GOOD.search(of.id) or not minus and BAD.search(of.id):
            yield node, tr("logsigmoid(positive) and logsigmoid(-negative)"), unparse(node)


@rule("formula", "{} and {} both make a score larger, and nothing makes one smaller")
def all_upwards(tree: ast.Module) -> Found:
    """-(logsigmoid(p) + logsigmoid(n).sum(1)).mean(): what is drawn at random is brought near, too."""
    given = values_of(tree)
    every = calls_of(tree, "logsigmoid")
    asked = [x.args[0] if x.args else holder_of(x) or x for x in every]
    values = [unparse(x) for each in asked for x in (each, *given.get(unparse(each), []))]
    if any(re.search(r"neg\(\)|(?<![\w(,:=] )-(?!1\)|1,)|logit", x) for x in values):
        return
    for line in find(tree, ast.Return | ast.Assign):
        inside = [x for x in every if line.value is not None and any(x is y for y in find(line.value, ast.Call))]
        if len({unparse(x) for x in inside}) > 1:
            yield inside[1], tr("logsigmoid(positive) and logsigmoid(-negative)"), unparse(inside[0]), unparse(inside[1])


TURNED = re.compile(r"-\s*\(?loss\b|loss = -|loss \*= -1|-\w*loss\(|-1(\.0)? \* loss")


@rule("certain", "{} is the logarithm of a probability, and is made smaller")
def made_unlikely(tree: ast.Module) -> Found:
    """loss = (logsigmoid(a) + logsigmoid(-b)).mean(), without the minus."""
    for function in find(tree, ast.FunctionDef):
        given = {name: value for _, name, value in assigned(function)}
        values = [x.value for x in find(function, ast.Return) if x.value is not None and is_loss(function, tree)]
        values += [given["loss"]] if "loss" in given and not TURNED.search(unparse(tree)) else []
        for value in values:
            inner, end = value, ""
            while isinstance(inner, ast.Call) and called(inner) in ("mean", "sum") and isinstance(inner.func, ast.Attribute):
                inner, end = inner.func.value, called(inner)
            every = [(sign, given.get(unparse(x), x)) for sign, x in terms(inner)]
            if end and all(
                sign > 0 and re.match(r"(F|nn\.functional|torch\.nn\.functional)\.logsigmoid\(", unparse(x)) for sign, x in every
            ):
                yield value, f"-{unparse(value)}", unparse(value)


LOSS_CALL = re.compile(r"(F|nn\.functional)\.\w*(entropy|loss)")


@rule("certain", "{} is a loss with a minus before it: the worse, the smaller")
def turned_loss(tree: ast.Module) -> Found:
    """return -((1 - p) ** gamma * ce).mean(), where ce is a loss already."""
    losses = {name for _, name, value in assigned(tree) if re.search(r"(^|\.)\w+Loss$", unparse(getattr(value, "func", value)))}
    for function in (x for x in find(tree, ast.FunctionDef) if is_loss(x, tree)):
        given = {name: value for _, name, value in assigned(function)}
        calls = {name: value for name, value in given.items() if isinstance(value, ast.Call)}
        own = {name for name, value in calls.items() if unparse(value.func) in losses or LOSS_CALL.match(unparse(value))}
        for end in (x for x in find(function, ast.Return) if isinstance(x.value, ast.UnaryOp)):
            turned: Any = end.value
            inner = turned.operand
            while isinstance(inner, ast.Call) and called(inner) in ("mean", "sum") and isinstance(inner.func, ast.Attribute):
                inner = inner.func.value
            if isinstance(turned.op, ast.USub) and {unparse(x) for x in factors(inner)} & own:
                yield end, unparse(turned.operand), unparse(turned)


def is_loss(function: ast.FunctionDef, tree: ast.Module) -> bool:
    """Whether what a function gives is called a loss, and never with a minus before it."""
    text = unparse(tree)
    named = "loss" in function.name or function.name == "forward" and re.search(r"\bloss = \w+\(", text)
    return bool(named) and not TURNED.search(text)


SHARES = re.compile(r"(^|_)(dice|iou|jaccard|tversky)(_?(coeff?|coefficient|score|index|metric))?$", re.IGNORECASE)


@rule("formula", "{}() gives how much overlaps, which is 1 where all is right: as a loss it is made small")
def overlap_added(tree: ast.Module) -> Found:
    """loss = bce + dice_coeff(...), which is 1 where all is right."""
    functions = {x.name: unparse(x) for x in find(tree, ast.FunctionDef)}
    for function in find(tree, SCOPES):
        given = {name: value for _, name, value in assigned(function)}
        sums = returns_of(function) if "loss" in getattr(function, "name", "") else []
        sums += [value for name, value in given.items() if "loss" in name]
        for total in sums:
            for sign, each in terms(total) if len(terms(total)) > 1 else ():
                value = given.get(unparse(each), each)
                name = called(value)
                share = name in functions and SHARES.search(name) and not re.search(r"\b1(\.0?)? ?- |return -", functions[name])
                if sign > 0 and share:
                    yield value, f"1 - {unparse(value)}", name


RULES = (
    rate_for_a_factor, mean_and_sum, one_sided, all_upwards, made_unlikely, overlap_added, counts_for_weights,
    ones_by_zeros, turned_loss,
)  # fmt: skip
