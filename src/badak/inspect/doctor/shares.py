"""Mixtures of two: both parts with one share, and averages of weights that are none."""

import ast
import re

from badak.core.errors import tr
from badak.inspect.doctor.idle import terms
from badak.inspect.doctor.returns import factors
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import assigned, called, find, is_binary
from badak.inspect.doctor.told import Found, rule

MIXES = re.compile(r"(^|[._])(lam|lambda_?|alpha|tau|momentum|decay|m)$")


@rule("formula", "both parts of {} have the share {}")
def one_share(tree: ast.Module) -> Found:
    """lam * a + lam * b, where the program mixes by lam and 1 - lam elsewhere."""
    text = unparse(tree)
    for node in walk(tree):
        if is_binary(node, ast.Add) and len(every := terms(node)) == 2:
            shares = [{unparse(x) for x in factors(each) if isinstance(x, ast.Name | ast.Attribute)} for _, each in every]
            both = [name for name in shares[0] & shares[1] if MIXES.search(name)]
            if both and all(len(factors(each)) > 1 for _, each in every) and re.search(rf"1(\.0)? - {re.escape(both[0])}\b", text):
                yield node, f"1 - {both[0]}", unparse(node), both[0]


AVERAGED = re.compile(r"ema|avg|average|shadow|running|smooth|moving|teacher|target", re.IGNORECASE)


@rule("average")
def shares_of_an_average(tree: ast.Module) -> Found:
    """average = decay * average + decay * new; and (1 - decay) * average + decay * new, with a decay of 0.99."""
    for line, name, value in stores(tree):
        every = terms(value) if is_binary(value, ast.Add) else []
        if len(every) != 2 or not all(sign > 0 and len(factors(each)) == 2 for sign, each in every):
            continue
        split = [sorted(factors(each), key=lambda x: unparse(x) != name and name in unparse(x)) for _, each in every]
        old = next((x for x in split if any(of(y) == of_text(name) for y in x)), None)
        if old is None:
            continue
        new = next(x for x in split if x is not old)
        keeps = next(unparse(x) for x in old if of(x) != of_text(name))
        takes = {unparse(x) for x in new}
        if keeps in takes and keeps not in ("0.5", "1 / 2"):
            yield line, f"1 - {keeps}", tr("both parts of {} have the share {}", unparse(value), keeps)
        share = re.fullmatch(r"1(?:\.0)? - ([\w.]+)", keeps)
        if share and share[1] in takes and AVERAGED.search(name) and (large := numbers(tree, share[1])) and min(large) >= 0.9:
            yield (
                line,
                f"{share[1]} * {name} + (1 - {share[1]}) * ...",
                tr(
                    "{} keeps 1 - {} of what it was, and {} is {:g}: it is what came last, and no average",
                    name,
                    share[1],
                    share[1],
                    min(large),
                ),
            )


def stores(tree: ast.Module) -> list[tuple[int, str, ast.expr]]:
    """(line, what is given something, what) of all assignments, places of dicts and lists, too."""
    every = [x for x in find(tree, ast.Assign) if len(x.targets) == 1]
    return [(x.lineno, unparse(x.targets[0]), x.value) for x in every if not isinstance(x.targets[0], ast.Tuple)]


def of(x: ast.expr) -> str:
    return of_text(unparse(x))


def of_text(text: str) -> str:
    return re.sub(r"(\.(data|detach\(\)|clone\(\)))+$", "", text)


def numbers(tree: ast.Module, name: str) -> list[float]:
    """The numbers that a name is given anywhere in the program: as a default, by name, by its place, or plainly."""
    last = name.rpartition(".")[2]
    found: list[ast.expr] = [value for _, other, value in assigned(tree) if other.rpartition(".")[2] == last]
    places: dict[str, int] = {}
    kinds = {f: x.name for x in find(tree, ast.ClassDef) for f in x.body if isinstance(f, ast.FunctionDef)}
    for function in find(tree, ast.FunctionDef):
        args = [each.arg for each in function.args.args]
        if last in args:
            found += function.args.defaults[max(0, args.index(last) - len(args) + len(function.args.defaults)) :][:1] * (
                args.index(last) >= len(args) - len(function.args.defaults)
            )
            owner = kinds.get(function, "")
            places[owner if function.name == "__init__" else function.name] = args.index(last) - bool(owner)
    for call in find(tree, ast.Call):
        found += [x.value for x in call.keywords if x.arg == last]
        found += call.args[places[called(call)] :][:1] if called(call) in places else []
    return [float(x.value) for x in found if isinstance(x, ast.Constant) and isinstance(x.value, int | float)]


RULES = (one_share, shares_of_an_average)
