"""Loops of a program that test: what they count, what they leave out, and what they are given that the training is not."""

import ast
import re

from badak.core.errors import tr
from badak.inspect.doctor.held import is_held
from badak.inspect.doctor.idle import BATCHES
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import (
    SCOPES,
    assigned,
    called,
    calls_of,
    find,
    functions_of,
    ids_below,
    named_in,
    names_in,
    parts_of,
    stored_in,
)
from badak.inspect.doctor.tables import TRAIN
from badak.inspect.doctor.told import OTHER, Found, rule


def own_nodes(scope: ast.AST) -> list[ast.AST]:
    """What stands in a function, or in a file outside of functions."""
    known = scope.__dict__.get("_own")
    if known is None:
        below = [x for x in find(scope, ast.FunctionDef | ast.Lambda) if x is not scope]
        inner = ids_below(below)
        known = scope._own = [x for x in walk(scope) if id(x) not in inner]  # type: ignore[attr-defined]
    return known


def tests(scope: ast.AST) -> list[tuple[ast.For, bool]]:
    """The loops over batches, and whether they teach nothing."""
    loops = [x for x in own_nodes(scope) if isinstance(x, ast.For) and BATCHES.search(unparse(x.iter))]
    return [(x, not re.search(r"\.(backward|step)\(", unparse(x))) for x in loops]


def read_behind(scope: ast.AST, loop: ast.For) -> dict[str, int]:
    """The names that a scope reads behind a loop, and where first."""
    names = [x for x in reversed(own_nodes(scope)) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)]
    return {x.id: x.lineno for x in names if x.lineno > (loop.end_lineno or 0)}


EMPTY, LIST = re.compile(r"^(\[\]|list\(\)|0|0\.0|(torch|np)\.zeros\(.*\))$"), re.compile(r"^(\[\]|list\(\))$")


@rule("read", "each batch gives {} something new: what is read behind the loop is the last batch alone")
def last_batch_alone(tree: ast.Module) -> Found:
    """preds = [] before a loop over batches, and preds = logits.argmax(1) in it: the last batch alone is left."""
    for scope in find(tree, SCOPES):
        for loop, only in tests(scope):
            empty = EMPTY if only else LIST  # a training may show the loss of its last batch
            begun = {name for line, name, value in assigned_in(scope) if line < loop.lineno and empty.match(unparse(value))}
            body = walk(loop.body)
            lines = [x for x in loop.body if isinstance(x, ast.Assign)]
            given = {unparse(x) for line in lines for target in line.targets for x in parts_of(target)}
            read = {x.id for x in body if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}
            grown = {unparse(x.target) for x in body if isinstance(x, ast.AugAssign)}
            later = read_behind(scope, loop)
            for name in sorted((begun & given) - read - grown):
                if name in later and not name.endswith("loss"):  # that of the last batch may be what is shown
                    yield later[name], tr("gather all batches: {}.append(...), or +=", name), name


COUNTED = re.compile(r"^(np|numpy|torch)\.zeros\(")


@rule("read", "{} begins again in each batch: the last one alone is read behind the loop")
def begun_in_each_batch(tree: ast.Module) -> Found:
    """for x, y in val_loader: confusion = np.zeros((4, 4)), which grows in that round and is read behind the loop."""
    for scope in find(tree, SCOPES):
        for loop, only in tests(scope) if scope is not tree else ():
            begun = {
                name
                for line in loop.body
                for _, name, value in assigned(line)
                if EMPTY.match(unparse(value)) or COUNTED.match(unparse(value))
            }
            for name in sorted(begun & {*read_behind(scope, loop)}) if only else ():
                text = " ".join(map(unparse, loop.body))
                grows = re.search(
                    rf"(?<![\w.]){name}(\[[^=]*\])? \+=|(?<![\w.]){name}\.(append|extend|add_)\(|\.at\({name}\b", text
                )
                nested = any(isinstance(x, ast.For | ast.While) for x in walk(loop.body))
                if grows and not nested:
                    yield loop, tr("{} = ... once, before the loop", name), name


def assigned_in(scope: ast.AST) -> list[tuple[int, str, ast.expr]]:
    """What `assigned` gives, of a scope alone; also of a = b = 0."""
    own = {id(x) for x in own_nodes(scope)}
    chained = [x for x in own_nodes(scope) if isinstance(x, ast.Assign) and len(x.targets) > 1]
    found = [(x.lineno, unparse(t), x.value) for x in chained for t in x.targets]
    return found + [each for each in assigned(scope) if id(each[2]) in own]


@rule("chosen", "the loop over {} takes {} each time: what is tested is what was learnt")
def of_the_training_alone(tree: ast.Module) -> Found:
    """for split in ("train", "val"): get_batch("train"); and a test that reads train_x, where val_x is never read."""
    for loop in (x for x in find(tree, ast.For) if isinstance(x.target, ast.Name)):
        over = loop.iter.elts if isinstance(loop.iter, ast.List | ast.Tuple) else []
        parts = [x.value for x in over if isinstance(x, ast.Constant) and isinstance(x.value, str)]
        if not (any(map(says_test, parts)) and any(map(TRAIN.search, parts))):
            continue
        for call in find(loop.body, ast.Call):
            fixed = [str(x.value) for x in call.args if isinstance(x, ast.Constant) and x.value in parts]
            if fixed and TRAIN.search(fixed[0]) and not names_in(call) & {unparse(loop.target)}:
                yield call, f"{unparse(call.func)}({unparse(loop.target)})", unparse(loop.iter), unparse(call)
    yield from beside_what_was_held(tree)


@rule("chosen")
def beside_what_was_held(tree: ast.Module) -> Found:
    """def validate(): ... train_x ..., or valid_x = windows(train_rows), where nobody reads val_x, or valid_rows."""
    given = {name for _, name, _ in assigned(tree) if name.isidentifier()}
    counted = {id(x.args[0]) for x in calls_of(tree, "len") if x.args}
    loads = [x for x in find(tree, ast.Name) if isinstance(x.ctx, ast.Load) and id(x) not in counted]
    read = {x.id for x in loads}
    numbers = {name for _, name, value in assigned(tree) if is_number(value)}
    unread = {name for name in given - read - numbers if is_held(name)}
    places: list[tuple[str, list[ast.Name]]] = []
    for function in (x for x in find(tree, ast.FunctionDef) if says_test(x.name)):
        if not re.search(r"\.(backward|step)\(", unparse(function)):
            own = {x.arg for x in function.args.args} | stored_in(function)
            places.append((f"{function.name}()", [x for x in find(function, ast.Name) if x.id in given - own]))
    places += [
        (name, find(value, ast.Name)) for _, name, value in assigned(tree) if is_held(name) and not isinstance(value, ast.Name)
    ]
    for where, names in places:
        for x in (x for x in names if TRAIN.search(x.id) and not is_held(x.id) and x.id not in numbers):
            twins = [name for name in unread if rest(name) == rest(x.id) and name != where]
            if twins:
                yield x, tr("test with what was held back"), tr("{} reads {}, and nobody reads {}", where, x.id, twins[0])
    over = [x for x in find(tree, ast.For) if isinstance(x.iter, ast.Name)]
    twice = [x.iter.id for x in over]
    for name in (x for x in twice if is_held(x) and twice.count(x) > 1):
        alike = [
            x
            for x in unread
            if x.split("_")[0] == name.split("_")[0]
            and any(isinstance(y, ast.Name) and y.id == x and id(y) in counted for y in walk(tree))
        ]
        if alike:
            yield (
                max(x.lineno for x in over if unparse(x.iter) == name),
                OTHER,
                tr("two loops go over {}, and {} is only counted", name, alike[0]),
            )


def is_number(value: ast.expr) -> bool:
    """Whether something is how many rows there are: int(0.8 * n), len(data) - train_size."""
    if isinstance(value, ast.BinOp):
        return is_number(value.left) or is_number(value.right)
    return called(value) in ("int", "len", "round", "floor", "ceil")


def rest(name: str) -> str:
    """A name without what says training or test."""
    return re.sub(r"_?(train(ing)?|tr|test|te|val(id(ation)?)?|dev|eval|held(_?out)?)_?", "", name, flags=re.IGNORECASE)


FORCES = re.compile(r"teacher|forc")


@rule("read", "{} is asked with {}={}, as in training: it reads the answers that it is tested on")
def given_the_answers(tree: ast.Module) -> Found:
    """forward(self, src, tgt, teacher_forcing=0.5), and a test that calls model(src, tgt)."""
    for forward in functions_of(tree, "forward"):
        args = forward.args.args[1:]
        default = dict(zip([x.arg for x in reversed(args)], reversed(forward.args.defaults)))
        name = next((x for x in default if FORCES.search(x)), "")
        value = default.get(name)
        if not isinstance(value, ast.Constant) or not value.value or "self.training" in unparse(forward):
            continue
        place = [x.arg for x in args].index(name)
        kinds = {x.name for x in find(tree, ast.ClassDef) if forward in x.body}
        models = {own for _, own, made in assigned(tree) if called(made) in kinds} | {"model", "net", "seq2seq"}
        for scope in find(tree, ast.FunctionDef | ast.With):
            text = unparse(scope)
            if not re.search(r"no_grad|\.eval\(\)|inference_mode", text) or re.search(r"\.(backward|step)\(", text):
                continue
            for call in (x for x in find(scope, ast.Call) if unparse(x.func) in models):
                if place >= len(call.args) and not any(x.arg in (name, None) for x in call.keywords) and len(call.args) >= 2:
                    yield call, f"{name}=0", unparse(call.func), name, unparse(value)


CHANCE = re.compile(
    r"rand|choice|noise|noisy|drop|shuffle|augment|jitter|crop|flip|corrupt|mask|perturb|mix|normal|smooth", re.IGNORECASE
)
MODELS = re.compile(r"^(self\.)?\w*(model|net|encoder|classifier|rnn|cnn|clf)\w*$", re.IGNORECASE)


@rule("prepared", "{} is prepared by {}() where the model learns, and is given as it is in this loop")
def in_the_training_alone(tree: ast.Module) -> Found:
    """x = resample(x) in the loop that trains, and model(x) as it is in the one that tests."""
    own = {x.name for x in find(tree, ast.FunctionDef) if not CHANCE.search(x.name + unparse(x))}
    own |= {name for _, name, value in assigned(tree) if isinstance(value, ast.Lambda) and not CHANCE.search(name + unparse(value))}
    loops = [x for x in find(tree, ast.For) if BATCHES.search(unparse(x.iter))]
    learn = [x for x in loops if ".backward(" in unparse(x)]
    ask = [x for x in loops if not re.search(r"\.(backward|step)\(", unparse(x)) and x not in learn]
    for loop in learn:
        batch = named_in(loop.target)
        made = [x for x in find(loop, ast.Assign) if isinstance(x.value, ast.Call)]
        for line in made:
            name, function = unparse(line.targets[0]), called(line.value)
            first = [unparse(x) for x in line.value.args[:1]]
            if function not in own or name not in batch or first != [name] or not given_to_a_model(loop, name):
                continue
            for other in ask:
                calls = [x for x in find(other, ast.Call) if called(x) in own]
                if given_to_a_model(other, name) and not any(name in names_in(each) for x in calls for each in x.args):
                    yield other, f"{name} = {function}({name})", name, function


def given_to_a_model(loop: ast.For, name: str) -> bool:
    """Whether a loop gives a model something under this name."""
    calls = [x for x in find(loop, ast.Call) if MODELS.match(unparse(x.func))]
    return any(unparse(x) == name for call in calls for x in call.args)


RULES = (last_batch_alone, begun_in_each_batch, of_the_training_alone, given_the_answers, in_the_training_alone)
