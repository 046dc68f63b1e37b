"""What a training by rewards keeps of each step, and never reads."""

import ast
import re
from collections.abc import Iterator

from badak.inspect.doctor.returns import ENDS, REWARDS, discounted, given_by_the_world
from badak.inspect.doctor.source import unparse
from badak.inspect.doctor.syntax import SCOPES, assigned, called, calls_of, find, ids_below, names_in, pairs, read_in, unread
from badak.inspect.doctor.told import Found, Told, rule


def kept(tree: ast.Module) -> Iterator[Told]:
    """All of it, in a program that speaks of rewards."""
    if REWARDS.search(unparse(tree)):
        yield from kept_for_nothing(tree)
        yield from unread_of_a_batch(tree)
        yield from kept_and_left(tree)


@rule("returns", "{} of each step is kept, and nobody reads what was kept")
def kept_and_left(tree: ast.Module) -> Found:
    """ends.append(done) of state, reward, done = env.step(action), and nobody reads ends."""
    given, nowhere = given_by_the_world(tree), unread(tree)
    for line in find(tree, ast.Expr):
        what = line.value.args[0] if called(line.value) == "append" and line.value.args else None
        kept = min((name for name in names_in(what) if given.get(name, 0) > 0), default="") if what is not None else ""
        if kept and unparse(line.value.func.value) in nowhere:
            yield line, "reward + gamma * next_value * (1 - done)", kept


KIND = re.compile(r"^(float|int|bool)\(|(?<=\w)\)$")  # float(done)


@rule("returns", "{} is {} of what was kept, and the loss never reads it")
def kept_for_nothing(tree: ast.Module) -> Found:
    """memory.append((s, a, r, s2, done)), and of s, a, r, s2, d = zip(*batch) the rewards, or the ends, are never read."""
    world = given_by_the_world(tree)
    calls = calls_of(tree, "push", "append", "add", "store", "remember")
    kept = [x.args[0].elts if len(x.args) == 1 and isinstance(x.args[0], ast.Tuple) else x.args for x in calls]
    for function in (x for x in find(tree, SCOPES) if ".backward()" in unparse(x)):
        elsewhere = read_elsewhere(tree, function)
        for line in (x for x in find(function, ast.Assign) if isinstance(x.targets[0], ast.Tuple)):
            names = [unparse(x) for x in line.targets[0].elts]
            like = next(([KIND.sub("", unparse(x)) for x in each] for each in kept if len(each) == len(names) > 3), [])
            for name, what in zip(names, like):
                asked = what in world or ENDS.match(what) or re.fullmatch(r"\w*(reward|rew)|r", what)
                if asked and not used(function, name) and name not in elsewhere:
                    yield line, "reward + gamma * next_value * (1 - done)", name, what


OF_BATCH = re.compile(r"(^|\W)(batch|transitions?|samples?|mini_?batch)\.\w+|zip\(\*")


@rule("returns", "{} is taken of what was kept, and {}() never reads it")
def unread_of_a_batch(tree: ast.Module) -> Found:
    """done_batch = torch.cat(batch.done), and next_states of zip(*batch), which the function that learns never reads."""
    for function in (x for x in find(tree, ast.FunctionDef) if ".backward()" in unparse(x)):
        text = unparse(function)
        if "gather(" not in text and not any(discounted(x) for x in find(function, ast.BinOp)):
            continue
        reads = read_in(function) | read_elsewhere(tree, function)
        for line, name, value in assigned(function):
            if OF_BATCH.search(unparse(value)) and not name.startswith("_") and name not in reads and name.isidentifier():
                yield line, "reward + gamma * next_value * (1 - done)", name, function.name


def read_elsewhere(tree: ast.Module, function: ast.AST) -> set[str]:
    """The names that another function is given, too, and reads: what they are worth was made of them before."""
    others = [x for x in find(tree, ast.FunctionDef) if x is not function and function is not tree]
    tuples = [(x, line.targets[0]) for x in others for line in find(x, ast.Assign)]
    return {unparse(y) for x, given in tuples if isinstance(given, ast.Tuple) for y in given.elts if unparse(y) in read_in(x)}


def used(function: ast.AST, name: str) -> bool:
    """Whether a name is read by more than the lines that give it something new."""
    own = [x for x in find(function, ast.Assign) if name in [n for n, _ in pairs(x.targets, x.value)]]
    plain = [value for x in own for n, value in pairs(x.targets, x.value) if n == name]
    reads = [x for x in find(function, ast.Name) if x.id == name and isinstance(x.ctx, ast.Load)]
    inside = ids_below(plain)
    return any(id(x) not in inside for x in reads)
