"""What the loops of a program carry on, write over, or never write: sums that run on, the last batch alone, a best that stays."""

import ast
import re
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import (
    assigned,
    called,
    calls_of,
    find,
    ids_below,
    is_binary,
    named_in,
    names_in,
    trainings,
)
from badak.inspect.doctor.told import Found, rule
from badak.optim import lr_scheduler


@rule("setting", "{} is asked for its answers as it was drawn: nothing has trained or loaded it")
def teacher_as_drawn(tree: ast.Module) -> Found:
    """teacher = Net(), which is asked for its answers, and that nothing trained and nothing loaded."""
    functions = {x.name: x for x in find(tree, ast.FunctionDef)}
    kinds = {x.name for x in find(tree, ast.ClassDef)} | {*functions} | {"Sequential"}
    trainers = {x.name for x in find(tree, ast.ClassDef) if ".parameters()" in unparse(x)}
    named = {x.id for x in find(tree, ast.Name)} | {x.attr for x in find(tree, ast.Attribute)}
    text = "\n".join(unparse(x) for x in tree.body if not isinstance(x, ast.FunctionDef) or x.name in named)
    for line, name, value in assigned(tree):
        if not re.fullmatch(r"teacher(_(net|model))?", name) or called(value) not in kinds or "load" in called(value):
            continue
        taught: Any = re.search(rf"\b{name}\.(parameters|load_state_dict|named_parameters|state_dict)\(|load\w*\({name}\b", text)
        makes = unparse(functions[called(value)]) if called(value) in functions else ""
        for call in (x for x in find(tree, ast.Call) if called(x) in functions):
            args = [x.arg for x in functions[called(call)].args.args]
            for arg, given in zip(args, call.args):
                own = unparse(functions[called(call)])
                taught = (
                    taught
                    or unparse(given) == name
                    and re.search(rf"\b{arg}\.(parameters|load_state_dict|named_parameters)\(", own)
                )
        for call in (x for x in find(tree, ast.Call) if called(x) in trainers):
            taught = taught or any(name in names_in(x) for x in [*call.args, *(x.value for x in call.keywords)])
        taught = taught or any(name in names_in(x.iter) for x in find(tree, ast.For))
        stores = [x for x in find(tree, ast.Name) if x.id == name and isinstance(x.ctx, ast.Store)]
        if not taught and len(stores) == 1 and not re.search(r"load|\.backward\(|pretrained|deepcopy", makes + unparse(value)):
            if f"{name}(" in text and "student" in text.lower():
                yield line, tr("train it, or load its weights, before a student learns from it"), name


COUNTED = re.compile(r"loss|==|\.eq\(|\.item\(\)|correct|\.sum\(")


@rule("read", "{} is divided by {} in each round of the loop over {}, and never begins again: it holds all rounds before")
def runs_on(tree: ast.Module) -> Found:
    """total = 0 before the loop over epochs, and total / len(loader) in each: what an epoch tells holds all before it."""
    for loop in find(tree, ast.For):
        inner = find(loop.body, ast.For)
        grown = [x for one in inner for x in find(one, ast.AugAssign) if isinstance(x.target, ast.Name)]
        every = walk(loop.body)
        stays = {unparse(x.target) for x in grown if isinstance(x.op, ast.Add) and COUNTED.search(unparse(x.value))}
        moved = {unparse(x.target) for x in every if isinstance(x, ast.AugAssign)}
        plain = [y for x in every if isinstance(x, ast.Assign | ast.With) for y in walk(x)]
        stays -= {x.id for x in plain if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
        inside = ids_below(inner)
        numbered = called(loop.iter) in ("range", "enumerate", "trange", "tqdm", "count")
        for node in (x for x in every if id(x) not in inside and is_binary(x, ast.Div)):
            name, below = unparse(node.left), unparse(node.right)
            steady = not (names_in(node.right) & moved) and not isinstance(node.right, ast.Constant) and "time" not in below
            counts = numbered and named_in(loop.target) & names_in(node.right)
            if name in stays and steady and not counts:
                yield node, tr("{} = 0 at the begin of each round", name), name, below, unparse(loop.iter)


KEEPS = re.compile(r"state_dict\(|\bsave\(|deepcopy\(|save_")


@rule("setting", "{} is compared with {}, and never given what was better: all that is better than at the begin is kept")
def stays_the_best(tree: ast.Module) -> Found:
    """if score > best: save(model), and best is never written: the last is kept, whatever it is worth."""
    functions = find(tree, ast.FunctionDef)
    for node in (x for x in find(tree, ast.If) if isinstance(x.test, ast.Compare) and len(x.test.ops) == 1):
        test: Any = node.test
        sides = [test.left, test.comparators[0]]
        best = next((unparse(x) for x in sides if isinstance(x, ast.Name | ast.Attribute) and "best" in unparse(x).lower()), "")
        ordered = isinstance(test.ops[0], ast.Lt | ast.Gt | ast.LtE | ast.GtE)
        if not best or not ordered or not any(KEEPS.search(unparse(x)) for x in node.body):
            continue
        around = [x for x in find(tree, ast.For | ast.While) if any(y is node for y in walk(x))]
        writes = [x for x in find(tree, ast.Name | ast.Attribute) if isinstance(x.ctx, ast.Store)]
        own = [x for x in writes if unparse(x) == best]
        once = {id(y) for f in functions if f.name == "__init__" for y in walk(f)}
        late = [x for x in own if id(x) not in once] if "." in best or not around else own
        looped = ids_below(around)
        if own and not any(id(x) in looped for x in own) and (around or not late) and ("." not in best or not late):
            other = unparse(sides[0] if unparse(sides[1]) == best else sides[1])
            yield node, f"{best} = {other}", other, best


@rule("setting")
def kept_for_nobody(tree: ast.Module) -> Found:
    """best_state = deepcopy(model.state_dict()), which nobody loads: what is tested at the end is the last epoch."""
    for line, name, value in assigned(tree):
        last = name.rpartition(".")[2]
        kept = "best" in last.lower() and "state_dict()" in unparse(value)
        if not kept and (not re.search(r"\btorch\.load\(", unparse(value)) or ends_with(tree, line)):
            continue
        reads = [x for x in find(tree, ast.Name | ast.Attribute) if isinstance(x.ctx, ast.Load)]
        read = any(last == (x.id if isinstance(x, ast.Name) else x.attr) for x in reads)
        said = any(isinstance(x, ast.Constant) and x.value == last for x in walk(tree))
        if not read and not said:
            yield (
                line,
                f"model.load_state_dict({name})",
                (
                    tr("{} is kept, and nobody reads it: the model at the end is that of the last epoch", name)
                    if kept
                    else tr("{} is loaded, and nobody reads it", name)
                ),
            )


def ends_with(tree: ast.Module, line: int) -> bool:
    """Whether behind a line of the program itself nothing is asked of a model: all that comes writes and reads files."""
    own = any(x.lineno <= line <= (x.end_lineno or 0) for x in tree.body if not isinstance(x, ast.FunctionDef | ast.ClassDef))
    later = {called(x) for x in find(tree, ast.Call) if x.lineno > line}
    return own and "save" in later and later <= {"load", "save", "load_state_dict", "state_dict"}


COUNTS = re.compile(r"steps_per_epoch|len\([\w.\[\]'\"]*(loader|_dl|iterator|batches)(\[\W?\w+\W?\])?\)", re.IGNORECASE)


@rule("setting", "{} counts batches ({}), and its step() is called once an epoch: the rate stays near its begin")
def once_an_epoch(tree: ast.Module) -> Found:
    """OneCycleLR(..., steps_per_epoch=len(loader)) whose step() stands behind the loop over batches."""
    trains = trainings(tree)
    inner = [x for x in trains if not any(isinstance(y, ast.For) and ".backward(" in unparse(y) for y in walk(x.body))]
    learning = {x.name for x in find(tree, ast.FunctionDef) if any(y is z for z in inner for y in walk(x))}
    for _, name, value in assigned(tree):
        kind = called(value)
        if not isinstance(vars(lr_scheduler).get(kind), type) or not isinstance(value, ast.Call):
            continue
        given = [unparse(x) for x in [*value.args, *(x.value for x in value.keywords)]]
        given += [unparse(v) for _, n, v in assigned(tree) if n in given]
        says = next((x for x in [*given, *(x.arg or "" for x in value.keywords)] if COUNTS.search(x)), "")
        if not says:
            continue
        moves = [x for x in calls_of(tree, "step") if same(x, name)]
        within = ids_below(inner)
        loops = [x for x in find(tree, ast.For) if any(y is z for z in moves for y in walk(x))]
        epochs = [x for x in loops if any(y in inner or called(y) in learning for y in walk(x.body))]
        if inner and moves and epochs and not any(id(x) in within for x in moves):
            yield moves[0], tr("{}.step() in the loop over batches", name), kind, says


LENGTH = re.compile(r"total|max_?(steps|iters)|num_training|T_max|total_iters|n_?iters|decay_steps", re.IGNORECASE)


@rule("plateau", "{} is the number of batches of one epoch, and the schedule is moved on in each batch of all epochs")
def one_epoch_long(tree: ast.Module) -> Found:
    """total_steps = len(loader), by which a schedule goes that is moved in each batch of several epochs."""
    trains = trainings(tree)
    nested = [x for x in trains if any(x is not y and any(z is x for z in walk(y)) for y in trains)]
    called_in = [x for x in find(tree, ast.For) if "epoch" in unparse(x.target).lower() and x not in trains]
    if not nested and not (trains and called_in):
        return
    made = [x for x in find(tree, ast.Call) if isinstance(vars(lr_scheduler).get(called(x)), type)]
    text = " ".join(map(unparse, made))
    functions = {x.name: x for x in find(tree, ast.FunctionDef)}
    text += " ".join(unparse(f) for name, f in functions.items() if re.search(rf"\b{name}\b", text))
    batchwise = any(re.search(r"sched\w*\.step\(\)", unparse(x)) for x in nested or trains)
    for line, name, value in assigned(tree):
        text_of = re.sub(r"( // \w+(\.\w+)?| \+ 1)$", "", unparse(value))
        own = COUNTS.fullmatch(text_of) and LENGTH.search(name) and "warm" not in name.lower()
        if own and batchwise and re.search(rf"(?<![\w.]){re.escape(name)}\b", text):
            yield line, f"{name} = epochs * {unparse(value)}", name


def same(call: Any, name: str) -> bool:
    """Whether a method of what a name holds is called, whoever it belongs to."""
    held = call.func.value if isinstance(call.func, ast.Attribute) else None
    return held is not None and unparse(held).rpartition(".")[2] == name.rpartition(".")[2]


@rule("setting", "{} is given what was best when nothing is asked of it any more: what was tested is the last epoch")
def loaded_too_late(tree: ast.Module) -> Found:
    """print(test(model)); model.load_state_dict(best_state), and the program ends."""
    last = max((x.end_lineno or 0 for x in trainings(tree)), default=0)
    for i, line in enumerate(tree.body):
        call: Any = line.value if isinstance(line, ast.Expr) else None
        if not isinstance(call, ast.Call) or called(call) != "load_state_dict" or "best" not in unparse(call).lower():
            continue
        later = " ".join(map(unparse, tree.body[i + 1 :]))
        tested = [x for x in tree.body[:i] if x.lineno > last > 0 and "test" in unparse(x).lower() and find(x, ast.Call)]
        if tested and not re.search(r"save|\w\(", later):
            yield line, tr("load it before the test"), unparse(call.func.value)  # type: ignore[attr-defined]


@rule("setting", "{} is made again in each round of the loop over {}: what it has learnt before is lost")
def made_each_epoch(tree: ast.Module) -> Found:
    """for epoch in range(9): model = Net(), and a loop over batches in it that trains."""
    kinds = {x.name for x in find(tree, ast.ClassDef)} | {"Sequential"}
    for loop in (x for x in trainings(tree) if re.match(r"epoch|ep$", unparse(x.target)) and trainings(ast.Module(x.body, []))):
        for line in (x for x in loop.body if isinstance(x, ast.Assign) and called(x.value) in kinds):
            name = unparse(line.targets[0])
            if re.search(rf"(?<![\w.]){re.escape(name)}\.parameters\(\)", unparse(loop)):
                yield line, tr("make it once, before the loop"), name, unparse(loop.iter)


RULES = (
    loaded_too_late,
    made_each_epoch,
    runs_on,
    stays_the_best,
    kept_for_nobody,
    once_an_epoch,
    one_epoch_long,
    teacher_as_drawn,
)
