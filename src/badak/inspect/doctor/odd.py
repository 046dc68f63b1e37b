"""Settings that the text of a program shows to be odd, and a norm that two places of a model share."""

import ast
import re
from collections.abc import Iterator

from badak.core.errors import tr
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.tables import assigned, called
from badak.inspect.doctor.told import Told

NORM = re.compile(r"(^|\.)BatchNorm\dd$")


def odd(tree: ast.Module) -> Iterator[Told]:
    """All of it."""
    yield from smoothed_away(tree)
    yield from no_chance(tree)
    for kind in (x for x in walk(tree) if isinstance(x, ast.ClassDef)):
        yield from shared_norm(kind)


def smoothed_away(tree: ast.Module) -> Iterator[Told]:
    """CrossEntropyLoss(label_smoothing=0.9)."""
    for node in (x for x in walk(tree) if isinstance(x, ast.keyword) and x.arg == "label_smoothing"):
        values = [value for _, name, value in assigned(tree) if name == unparse(node.value)] or [node.value]
        share = getattr(values[0], "value", 0.0)
        if len(values) == 1 and isinstance(share, float) and 0.5 <= share <= 1:
            yield Told(
                "odd", node.value.lineno,
                tr("label_smoothing is {}: the label itself gets {:.0%}, and all classes share the rest", share, 1 - share),
                "label_smoothing=0.1",
            )  # fmt: skip
            return


CHANCE = re.compile(r"^(random\.random\(\)|np\.random\.(rand|random)\(\)|torch\.rand\(1?\)(\.item\(\))?)$")


def no_chance(tree: ast.Module) -> Iterator[Told]:
    """if torch.rand(1) < 1.5: always so."""
    numbers = {name: value for _, name, value in assigned(tree) if isinstance(value, ast.Constant)}
    for node in (x for x in walk(tree) if isinstance(x, ast.Compare) and CHANCE.match(unparse(x.left))):
        limit = node.comparators[0]
        share = getattr(numbers.get(unparse(limit), limit), "value", 0.5)
        if isinstance(share, int | float) and share > 1:
            yield Told(
                "odd", node.lineno, tr("{} is a number from 0 to 1: {} is always the same", unparse(node.left), unparse(node)),
                tr("a chance from 0 to 1"),
            )  # fmt: skip
            return


def shared_norm(kind: ast.ClassDef) -> Iterator[Told]:
    """self.bn(self.conv1(x)), and self.bn(self.conv2(x)) in the same forward."""
    norms = {
        name
        for _, name, value in assigned(kind)
        if name.startswith("self.") and NORM.search(unparse(getattr(value, "func", value)))
    }
    for forward in (x for x in kind.body if isinstance(x, ast.FunctionDef) and x.name == "forward"):
        either = {id(y) for x in walk(forward) if isinstance(x, ast.If | ast.IfExp) for y in walk(x)}
        calls = [
            x for x in walk(forward) if isinstance(x, ast.Call) and unparse(x.func) in norms and id(x) not in either and x.args
        ]
        for one in calls:
            others = [x for x in calls if unparse(x.func) == unparse(one.func) and x is not one]
            if any(made_by(x) and made_by(x) != made_by(one) for x in others) and made_by(one):
                yield Told(
                    "norm", max(x.lineno for x in (one, *others)),
                    tr("{} follows {} different layers, and has one mean and one spread for all in eval mode", unparse(one.func),
                       len(others) + 1),
                    tr("a norm for each layer"),
                )  # fmt: skip
                return


def made_by(norm: ast.Call) -> str:
    """The layer of a model whose answer a norm is given in the same line."""
    given = norm.args[0]
    return unparse(given.func) if isinstance(given, ast.Call) and re.match(r"self\.", unparse(given.func)) and called(given) else ""
