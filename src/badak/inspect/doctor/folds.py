"""What the text of a program does over and over with one model, or lays flat in two orders."""

import ast
import re
from collections.abc import Iterator

from badak.core.errors import tr
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.tables import assigned, called, names_in
from badak.inspect.doctor.told import Told

FOLDS = re.compile(r"fold|kf\b|\bcv\b", re.IGNORECASE)
ANEW = re.compile(r"load_state_dict|deepcopy|reset_|\.apply\(|init")


def folds(tree: ast.Module) -> Iterator[Told]:
    """A model that is made before the loop over folds, and learns in each: what a fold holds back, the fold before has taught."""
    functions = {node.name: unparse(node) for node in walk(tree) if isinstance(node, ast.FunctionDef)}
    kinds = {node.name for node in walk(tree) if isinstance(node, ast.ClassDef)} | {"Sequential"}
    given = assigned(tree)
    models = {name: line for line, name, value in given if called(value) in kinds}
    for loop in (node for node in walk(tree) if isinstance(node, ast.For)):
        picked = {unparse(x) for line in loop.body for x in walk(line) if isinstance(x, ast.Subscript)}
        picked = {each for each in picked if each.endswith(f"[{unparse(loop.target)}]")}  # folds[i]
        head = " ".join([unparse(loop.target), unparse(loop.iter), *sorted(picked)])
        if not FOLDS.search(head) or ANEW.search(" ".join(map(unparse, loop.body))):
            continue
        inside = {name for line in loop.body for _, name, _ in assigned(ast.Module([line], []))}
        calls = [x for line in loop.body for x in walk(line) if isinstance(x, ast.Call)]
        text = " ".join(map(unparse, loop.body))
        trains = ".backward(" in text or any(".backward(" in functions.get(called(x), "") for x in calls)
        learn = {
            name for x in calls for name in names_in(x) if name in models and name not in inside and models[name] < loop.lineno
        }
        learn = {name for name in learn if f"{name}.parameters()" in text or any(trained(x, name, functions) for x in calls)}
        if trains and learn:
            name = min(learn)
            yield Told(
                "chosen", loop.lineno,
                tr("{} is made once, before the loop over folds, and learns in each: what a fold holds back it has learnt "
                   "from", name),
                tr("make the model and its optimizer in the loop"),
            )  # fmt: skip
            return


def trained(call: ast.Call, name: str, functions: dict[str, str]) -> bool:
    """Whether a function of the program that trains is given a model."""
    return ".backward(" in functions.get(called(call), "") and any(name == unparse(x) for x in call.args)


def flat_in_two_orders(tree: ast.Module) -> Iterator[Told]:
    """Of what one loop gathered some is laid flat as it is, and some with its two axes swapped."""
    stacked = set()
    for _, name, value in assigned(tree):
        if isinstance(value, ast.Call) and called(value) == "stack" and len(value.args) == 1 and not value.keywords:
            stacked.add(name)
    plain: dict[str, int] = {}
    turned: dict[str, int] = {}
    for node in (x for x in walk(tree) if isinstance(x, ast.Call)):
        flat = re.search(r"\.(flatten\((0, 1)?|(reshape|view)\(-1\b[^()]*)\)$", unparse(node))
        if not flat or not isinstance(node.func, ast.Attribute):
            continue
        of = unparse(node.func.value)
        swapped = re.fullmatch(r"(\w+)\.(transpose|swapaxes|swapdims)\(0, 1\)(\.contiguous\(\))?", of)
        if of in stacked:
            plain.setdefault(of, node.lineno)
        elif swapped and swapped[1] in stacked:
            turned.setdefault(swapped[1], node.lineno)
    if plain and turned and not set(plain) & set(turned):
        name = min(turned)
        yield Told(
            "flat", turned[name],
            tr("{} is laid flat with its axes swapped, and {}, which one loop gathered with it, as it is", name, min(plain)),
            tr("lay both flat alike: x.flatten(0, 1), y.flatten(0, 1)"),
        )  # fmt: skip
