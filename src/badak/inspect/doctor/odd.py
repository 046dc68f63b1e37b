"""Settings that the text of a program shows to be odd, and a norm that two places of a model share."""

import ast
import re
from collections.abc import Iterator

from badak.core.errors import tr
from badak.inspect.doctor.source import unparse
from badak.inspect.doctor.syntax import (
    assigned,
    called,
    calls_of,
    find,
    functions_of,
    ids_below,
    names_in,
    number,
    stored_in,
    target_of,
    values_of,
)
from badak.inspect.doctor.told import Found, Told, rule

NORM = re.compile(r"(^|\.)BatchNorm\dd$")


def odd(tree: ast.Module) -> Iterator[Told]:
    """All of it."""
    for each in (smoothed_away, no_chance, rises, same_draws, over_the_rows, writes_the_data):
        yield from each(tree)
    for kind in find(tree, ast.ClassDef):
        yield from shared_norm(kind)


@rule("odd", "label_smoothing is {}: the label itself gets {:.0%}, and all classes share the rest")
def smoothed_away(tree: ast.Module) -> Found:
    """CrossEntropyLoss(label_smoothing=0.9)."""
    for node in (x for x in find(tree, ast.keyword) if x.arg == "label_smoothing"):
        share = number(tree, node.value) or 0.0
        if 0.5 <= share <= 1:
            yield node.value, "label_smoothing=0.1", share, 1 - share


@rule("odd", "{} multiplies the learning rate by {}: it rises without end")
def rises(tree: ast.Module) -> Found:
    """StepLR(optimizer, 2, gamma=1.5)."""
    for node in calls_of(tree, "StepLR", "MultiStepLR", "ExponentialLR"):
        given = [x.value for x in node.keywords if x.arg == "gamma"] + node.args[1 if called(node) == "ExponentialLR" else 2 :][:1]
        factor = number(tree, given[0]) if given else None
        if factor is not None and factor > 1:
            yield node, tr("a factor below 1"), called(node), factor


@rule("same", "{} stands in __getitem__: each row draws the same numbers")
def same_draws(tree: ast.Module) -> Found:
    """def __getitem__(self, i): np.random.seed(SEED), and a draw: each row draws the same numbers, in each epoch."""
    for function in functions_of(tree, "__getitem__"):
        seeds = [x for x in calls_of(function, "seed", "manual_seed") if x.args]
        own = stored_in(function)
        own |= {x.arg for x in function.args.args[1:]}
        for node in seeds:
            if not names_in(node.args[0]) & own and "self" not in names_in(node.args[0]):
                yield node, tr("set the seed once, before the training"), unparse(node)


@rule("setting", "{} is a view of what the dataset holds, and is written: the data changes each time that a row is asked for")
def writes_the_data(tree: ast.Module) -> Found:
    """def __getitem__(self, i): x = self.x[i]; x += noise: the next epoch finds this noise, too."""
    for function in functions_of(tree, "__getitem__"):
        index = function.args.args[1].arg if len(function.args.args) > 1 else ""
        given = values_of(function).items()
        views = {name for name, each in given if len(each) == 1 and re.fullmatch(rf"self\.\w+\[{index}\]", unparse(each[0]))}
        for node in find(function.body, ast.AugAssign | ast.Assign | ast.Call):
            if (name := written_by(node)) in views:
                yield node, f"{name} = self....[{index}].clone()", name


def written_by(node: ast.AST) -> str:
    """The name of what a line writes into: x[i] = y, x += f(y), x.add_(y)."""
    into = target_of(node)
    if isinstance(into, ast.Subscript):
        return unparse(into.value)
    if isinstance(node, ast.AugAssign):
        return unparse(into) if find(node.value, ast.Call) else ""
    method = re.fullmatch(r"(\w+)\.\w*[a-z]_", unparse(node.func)) if isinstance(node, ast.Call) else None
    return method[1] if method else ""


@rule("rows", "{} makes each column of the batch 1 long, and not each row")
def over_the_rows(tree: ast.Module) -> Found:
    """def forward(self, x): ... F.normalize(self.head(h), dim=0), of a Linear: the length of a column of the batch is 1."""
    for kind in find(tree, ast.ClassDef):
        linear = {name for _, name, value in assigned(kind) if name.startswith("self.") and called(value) == "Linear"}
        made = {name for _, name, value in assigned(kind) if isinstance(value, ast.Call) and unparse(value.func) in linear}
        for node in (x for x in calls_of(kind, "normalize") if x.args):
            of, axis = node.args[0], [x.value for x in node.keywords if x.arg == "dim"] + node.args[2:3]
            own = isinstance(of, ast.Call) and unparse(of.func) in linear or unparse(of) in made
            if own and axis and unparse(axis[0]) == "0":
                yield node, "F.normalize(x, dim=-1)", unparse(node)


CHANCE = re.compile(r"^(random\.random\(\)|np\.random\.(rand|random)\(\)|torch\.rand\(1?\)(\.item\(\))?)$")


@rule("odd", "{} is a number from 0 to 1: {} is always the same")
def no_chance(tree: ast.Module) -> Found:
    """if torch.rand(1) < 1.5: always so."""
    for node in (x for x in find(tree, ast.Compare) if CHANCE.match(unparse(x.left))):
        if (number(tree, node.comparators[0]) or 0.0) > 1:
            yield node, tr("a chance from 0 to 1"), unparse(node.left), unparse(node)


@rule("norm", "{} follows {} different layers, and has one mean and one spread for all in eval mode")
def shared_norm(kind: ast.ClassDef) -> Found:
    """self.bn(self.conv1(x)), and self.bn(self.conv2(x)) in the same forward."""
    norms = {
        name
        for _, name, value in assigned(kind)
        if name.startswith("self.") and NORM.search(unparse(getattr(value, "func", value)))
    }
    for forward in (x for x in kind.body if isinstance(x, ast.FunctionDef) and x.name == "forward"):
        either = ids_below(find(forward, ast.If | ast.IfExp))
        calls = [x for x in find(forward, ast.Call) if unparse(x.func) in norms and id(x) not in either and x.args]
        for one in calls:
            others = [x for x in calls if unparse(x.func) == unparse(one.func) and x is not one]
            if any(made_by(x) and made_by(x) != made_by(one) for x in others) and made_by(one):
                yield max(x.lineno for x in (one, *others)), tr("a norm for each layer"), unparse(one.func), len(others) + 1


def made_by(norm: ast.Call) -> str:
    """The layer of a model whose answer a norm is given in the same line."""
    given = norm.args[0]
    return unparse(given.func) if isinstance(given, ast.Call) and re.match(r"self\.", unparse(given.func)) and called(given) else ""
