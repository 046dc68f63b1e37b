"""What the text of a program does over and over with one model, or lays flat in two orders."""

import ast
import re

from badak.core.errors import tr
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import assigned, called, calls_of, find, names_in
from badak.inspect.doctor.told import Found, rule

FOLDS = re.compile(r"fold|kf\b|\bcv\b", re.IGNORECASE)
BEGINS = re.compile(r"reset_|\.apply\(|init")


@rule("chosen", "{} is made once, before the loop over folds, and learns in each: what a fold holds back it has learnt from")
def one_for_all(tree: ast.Module) -> Found:
    """A model that is made before the loop over folds, and learns in each: what a fold holds back, the fold before has taught."""
    functions = {node.name: unparse(node) for node in find(tree, ast.FunctionDef)}
    kinds = {node.name for node in find(tree, ast.ClassDef)} | {"Sequential"}
    given = assigned(tree)
    models = {name: line for line, name, value in given if called(value) in kinds}
    for loop in find(tree, ast.For):
        picked = {unparse(x) for x in find(loop.body, ast.Subscript)}
        picked = {each for each in picked if each.endswith(f"[{unparse(loop.target)}]")}  # folds[i]
        head = " ".join([unparse(loop.target), unparse(loop.iter), *sorted(picked)])
        if not FOLDS.search(head):
            continue
        inside = {name for line in loop.body for _, name, _ in assigned(ast.Module([line], []))}
        around = [x for x in find(tree, ast.For) if x is not loop and any(y is loop for y in walk(x))]
        inside |= {name for x in around for _, name, _ in assigned(x)}
        if begins_again(loop, inside):
            continue
        calls = find(loop.body, ast.Call)
        text = " ".join(map(unparse, loop.body))
        trains = ".backward(" in text or any(".backward(" in functions.get(called(x), "") for x in calls)
        learn = {
            name for x in calls for name in names_in(x) if name in models and name not in inside and models[name] < loop.lineno
        }
        moved = own_optimizers(given) if ".backward(" in text and ".step(" in text else set()
        learn = {
            name
            for name in learn
            if f"{name}.parameters()" in text or name in moved or any(trained(x, name, functions) for x in calls)
        }
        if trains and learn:
            name = min(learn)
            yield loop, tr("make the model and its optimizer in the loop"), name


def own_optimizers(given: list[tuple[int, str, ast.expr]]) -> set[str]:
    """The models whose parameters an optimizer was given."""
    every = [match[1] for _, _, value in given if (match := re.search(r"optim\w*\.\w+\((\w+)\.parameters\(\)", unparse(value)))]
    return set(every)


@rule("chosen", "{} is drawn again for each fold: a row is held back by several folds, or by none")
def drawn_in_each(tree: ast.Module) -> Found:
    """fold_of = permutation(n) % k in the loop over folds: a row is held back by several of them, or by none."""
    for loop in (x for x in find(tree, ast.For) if FOLDS.search(f"{unparse(x.target)} {unparse(x.iter)}")):
        number = unparse(loop.target)
        for line in loop.body:
            for _, name, value in assigned(ast.Module([line], [])):
                drawn = re.search(r"perm(utation)?\(|randint\(|\.choice\(|shuffle\(|integers\(", unparse(value))
                asked = re.search(rf"\b{re.escape(name)} [!=]= {re.escape(number)}\b", unparse(loop))
                if drawn and asked and "seed" not in unparse(value).lower():
                    yield line, tr("draw it once, before the loop over folds"), name


@rule("read", "{} is the sum of what several models give, and is compared with 0.5 as if it were their mean")
def added_up(tree: ast.Module) -> Found:
    """p += predict(model, x) of each fold, and p > 0.5: a sum of several probabilities."""
    for loop in (x for x in find(tree, ast.For) if MEMBERS.search(f"{unparse(x.target)} {unparse(x.iter)}")):
        for line in (x for x in loop.body if isinstance(x, ast.AugAssign) and isinstance(x.op, ast.Add)):
            name = unparse(line.target)
            again = re.compile(rf"\b{re.escape(name)}( /=? |\.div|\.mean\()")
            read = [x for x in find(tree, ast.Compare) if unparse(x).startswith((f"{name} > 0.5", f"{name} >= 0.5"))]
            if read and "/" not in unparse(line.value) and not again.search(unparse(tree)) and isinstance(line.value, ast.Call):
                yield read[0], f"{name} / k > 0.5", name


MEMBERS = re.compile(r"fold|\bkf\b|\bcv\b|models|seeds?\b|ensemble", re.IGNORECASE)


def begins_again(loop: ast.For, inside: set[str]) -> bool:
    """Whether a round gives the weights that it begins with again: those that were kept in this round are not."""
    loads = [x for x in calls_of(loop.body, "load_state_dict") if x.args]
    copies = [x for x in walk(loop.body) if called(x) == "deepcopy" and "state_dict" not in unparse(x)]
    again = [x for x in loads if not names_in(x.args[0]) & inside]
    return bool(again or copies or BEGINS.search(" ".join(map(unparse, loop.body))))


def trained(call: ast.Call, name: str, functions: dict[str, str]) -> bool:
    """Whether a function of the program that trains is given a model."""
    return ".backward(" in functions.get(called(call), "") and any(name == unparse(x) for x in call.args)


@rule("flat", "{} is laid flat with its axes swapped, and {}, which one loop gathered with it, as it is")
def flat_in_two_orders(tree: ast.Module) -> Found:
    """Of what one loop gathered some is laid flat as it is, and some with its two axes swapped."""
    stacked = set()
    for _, name, value in assigned(tree):
        if isinstance(value, ast.Call) and called(value) == "stack" and len(value.args) == 1 and not value.keywords:
            stacked.add(name)
    plain: dict[str, int] = {}
    turned: dict[str, int] = {}
    for node in find(tree, ast.Call):
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
        yield turned[name], tr("lay both flat alike: x.flatten(0, 1), y.flatten(0, 1)"), name, min(plain)


RULES = (one_for_all, drawn_in_each, added_up)
