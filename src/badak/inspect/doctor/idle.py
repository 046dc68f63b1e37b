"""Lines of a program that do nothing, or less than they look like: told from its text alone."""

import ast
import re
from collections.abc import Iterator

from badak.core.errors import tr
from badak.inspect.doctor.source import shown, unparse, walk
from badak.inspect.doctor.syntax import called, find, is_binary, named_in, read_in, stored_in, trainings
from badak.inspect.doctor.told import OTHER, Found, Told, rule
from badak.inspect.doctor.unread import READ_IT, TERM, made_zero, never_read
from badak.optim import lr_scheduler

BATCHES = re.compile(r"loader|_dl\b|^dl\b|batches|dataset|_iter\b|\.(split|chunk)\(|randperm|permutation", re.IGNORECASE)

JOINS = frozenset("stack cat concat concatenate hstack column_stack".split())
DRAWN = re.compile(
    r"rand|sample|normal|uniform|noise|dropout|augment|next\(|choice|freq|angle|theta|zeros|ones|view|draw|jitter|crop",
    re.IGNORECASE,
)


def idle(tree: ast.Module) -> Iterator[Told]:
    """All of them."""
    for each in (compared_only, rates, never_moved, twice, never_moves_on, lost_terms):
        yield from each(tree)
    methods = [[x for x in kind.body if isinstance(x, ast.FunctionDef)] for kind in find(tree, ast.ClassDef)]
    models = {id(x) for own in methods if any(each.name == "forward" for each in own) for x in own}
    for function in find(tree, ast.FunctionDef):
        if function.name == "forward" or id(function) in models:
            yield from never_read(function)
            yield from made_zero(function)
    for each in (given_for_nothing, last_of_a_list, given_for_its_shape, one_of_two_draws, one_of_two_labels):
        yield from each(tree)
    for loop in find(tree, ast.For):
        yield from ends_at_once(loop)
        yield from not_of_the_batch(loop)


@rule("setting", "{} compares, and sets nothing")
def compared_only(tree: ast.Module) -> Found:
    """x == y as a line of its own, where x = y was meant."""
    for node in walk(tree):
        if not isinstance(node, ast.Expr) or shown(node):
            continue
        if isinstance(node.value, ast.Compare) and isinstance(node.value.ops[0], ast.Eq):
            what = unparse(node.value)
            yield node, what.replace("==", "=", 1), what


@rule("setting", "{} was set, which nobody reads")
def rates(tree: ast.Module) -> Found:
    """A rate that is set as an attribute of an optimizer of PyTorch's, which reads that of its groups."""
    for node in walk(tree):
        if not isinstance(node, ast.Assign | ast.AugAssign):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Attribute) and target.attr in ("lr", "learning_rate"):
            name = unparse(target.value)
            made = rf"(?<!\w){re.escape(name.rpartition('.')[2])} = (torch\.)?optim\.\w+\("
            if re.search(made, unparse(tree)):
                yield node, f'for group in {name}.param_groups: group["lr"] = ...', f"{name}.{target.attr}"


@rule("setting", "{} is made, and its step() is never called: the rate stays as it is")
def never_moved(tree: ast.Module) -> Found:
    """A schedule of the learning rate that is made, and that nothing is done with."""
    for node in walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            kind = unparse(node.value.func).rpartition(".")[2]
            name = unparse(node.targets[0]).rpartition(".")[2]
            if isinstance(vars(lr_scheduler).get(kind), type) and len(re.findall(rf"\b{re.escape(name)}\b", unparse(tree))) == 1:
                yield node, f"{name}.step()", kind


@rule("same", "the loop over {} never reads {}: each round is given the same rows")
def never_moves_on(tree: ast.Module) -> Found:
    """for i in range(0, n, size): the same rows each time, for i is never read; also within enumerate() and tqdm()."""
    given = {unparse(x.targets[0]): x.value for x in find(tree, ast.Assign)}
    for loop in find(tree, ast.For):
        over, target = given.get(unparse(loop.iter), loop.iter), loop.target
        while isinstance(over, ast.Call) and unparse(over.func).rpartition(".")[2] in ("tqdm", "trange", "enumerate") and over.args:
            if unparse(over.func) == "enumerate" and isinstance(target, ast.Tuple):
                target = target.elts[-1]
            over = over.args[0]
        if called(over) != "range" or len(over.args) != 3 or not isinstance(target, ast.Name):
            continue
        body = walk(loop.body)
        picks = any(isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) for node in body)
        picks |= any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in body)
        if picks and not target.id.startswith("_") and target.id not in named_in(loop.body):
            yield loop, f"x[rows[{target.id} : {target.id} + size]]", unparse(over), target.id


def terms(node: ast.expr, sign: int = 1) -> list[tuple[int, ast.expr]]:
    """What is added up, with the sign of each."""
    if is_binary(node, ast.Add | ast.Sub):
        return [*terms(node.left, sign), *terms(node.right, sign if isinstance(node.op, ast.Add) else -sign)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return terms(node.operand, -sign)
    return [(sign, node)]


@rule("twice", "{} stands twice in one line, and adds nothing the second time")
def twice(tree: ast.Module) -> Found:
    """The same term twice in a sum, or the same column twice in a table, where another one was meant."""
    for node in find(tree, ast.BinOp | ast.Call):
        several: list[str] = []
        if is_binary(node, ast.Add):
            several = [unparse(each) for sign, each in terms(node) if sign > 0 and isinstance(each, ast.Call) and each.args]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in JOINS and node.args:
            parts = node.args[0].elts if isinstance(node.args[0], ast.Tuple | ast.List) else []
            columns = node.func.attr == "column_stack" or re.search(r"(stack|concatenate)\(.*(axis|dim)=-?1\)$", unparse(node))
            kinds = ast.Call | ast.Name if columns else ast.Call
            several = [unparse(each) for each in parts if isinstance(each, kinds)]
            half = len(several) // 2
            if half > 1 and several[:half] == several[half:]:  # the corners of boxes: x, y, x, y
                continue
        same = next((each for each in several if several.count(each) > 1 and not DRAWN.search(each)), "")
        if same:
            yield node, OTHER, same


@rule("setting", "the loop over {} is left in its first round: {} stands in it")
def ends_at_once(loop: ast.For) -> Found:
    """A loop over batches whose last line leaves it: return or break stands one step too far in."""
    over = unparse(loop.iter)
    last = loop.body[-1]
    skips = any(isinstance(node, ast.Continue) for node in walk(loop))
    if len(loop.body) > 1 and isinstance(last, (ast.Return, ast.Break)) and BATCHES.search(over) and not skips:
        text = " ".join(unparse(line) for line in loop.body[:-1])
        if re.search(r"\+=|\.append\(|backward\(", text):  # it gathers something
            yield last, tr("one step less far in, behind the loop"), over, unparse(last).split()[0]


@rule("setting")
def not_of_the_batch(loop: ast.For) -> Found:
    """A loop over batches that trains, and never reads what the batch holds."""
    if not BATCHES.search(unparse(loop.iter)) or "enumerate" in unparse(loop.iter):
        return
    target = loop.target
    if isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(target.elts[1], ast.Tuple):
        target = target.elts[1]  # i, (x, y)
    first = target.elts[0] if isinstance(target, ast.Tuple) else target
    if isinstance(loop.iter, ast.Call) and unparse(loop.iter.func).endswith("range"):  # a number, and no batch
        return
    body = walk(loop.body)
    trains = any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in body)
    thrown = isinstance(first, ast.Name) and first.id == "_" and re.search(r"loader|_dl$", unparse(loop.iter), re.IGNORECASE)
    if thrown and trains and "next(" not in unparse(loop) and isinstance(loop.target, ast.Name):
        yield (
            loop,
            tr("give the model what the loader gives"),
            tr("the loop over {} trains, and never reads its batch", unparse(loop.iter)),
        )
    if not trains or not isinstance(first, ast.Name) or first.id.startswith("_"):
        return
    read = {node.id for node in body if isinstance(node, ast.Name)}
    others = target.elts[1:] if isinstance(target, ast.Tuple) else []
    twins = [each for each in others if isinstance(each, ast.Name) and stem(each.id) == stem(first.id)]  # two views of one
    if not twins and len(others) > 1 and any(isinstance(each, ast.Name) and each.id in read for each in others):
        return  # names, x, y
    for name in (each.id for each in (first, *twins) if each.id not in read):
        yield (
            loop,
            tr("give the model {}, not what stands outside of the loop", name),
            tr("{} of each batch of {} is never read in the loop that trains", name, unparse(loop.iter)),
        )


def stem(name: str) -> str:
    """A name without the number, or the letter, that tells it from another."""
    return re.sub(r"_?(\d|(?<=_)[a-f])$", "", name) or name


@rule("unlearnt", "{} is computed in each step, and nobody reads it: nothing learns from it")
def lost_terms(tree: ast.Module) -> Found:
    """dice = dice_loss(...) in a loop that trains, which nothing reads."""
    read = read_in(tree)
    for loop in (x for x in find(tree, ast.For | ast.While) if ".backward(" in unparse(x)):
        for line in (x for x in find(loop, ast.Assign) if isinstance(x.value, ast.Call)):
            target, func = line.targets[0], unparse(line.value.func).rpartition(".")[2]
            if isinstance(target, ast.Name) and target.id not in read and TERM.search(func) and not target.id.startswith("_"):
                yield line, tr("add it to the loss that backward() is called of"), target.id


@rule("unread", "{} is given {} and never reads it")
def given_for_nothing(tree: ast.Module) -> Found:
    """forward(self, x, adjacency), which never reads adjacency, where no other forward does, but to hand it on."""
    every = find(tree, ast.FunctionDef)
    forwards = [x for x in every if x.name == "forward" or GIVES_LOSS.search(x.name) or GIVES_LOSS.search(last_line(x))]
    functions = {id(x.func) for x in find(tree, ast.Call)}
    handed = {x.id for x in find(tree, ast.Name) if isinstance(x.ctx, ast.Load) and id(x) not in functions}
    for function in forwards:
        if function.name in handed or isinstance(function.body[-1], ast.Raise):  # who calls it says what it is given
            continue
        own = function.args.args[:1] if function.args.args and function.args.args[0].arg in ("self", "cls") else []
        args, several = function.args.args[len(own) :], len(function.args.defaults)
        sizes = {id(x.value) for x in find(function, ast.Attribute) if x.attr in ("size", "shape")}
        read = {x.id for x in find(function.body, ast.Name) if id(x) not in sizes}
        plain = "_step" not in function.name  # of a library that calls it, which gives more than is asked for
        for arg in args[1 : len(args) - several] if read and plain else ():
            others = [x for x in forwards if x is not function and any(each.arg == arg.arg for each in x.args.args)]
            used = any(arg.arg in named_in(f.body) and not called_with(f, arg.arg) for f in others)
            data = function.name == "forward" or DATA.search(arg.arg)
            alike = [x for x in others if [y.arg for y in x.args.args] == [y.arg for y in function.args.args]]
            if any(not any(isinstance(y, ast.Name) and y.id == arg.arg for y in walk(x.body)) for x in alike):
                continue  # all of a kind are called alike
            if arg.arg not in read and not arg.arg.startswith("_") and not used and data:
                yield function, tr("read it, or leave it out"), function.name, arg.arg


@rule("unlearnt", "{} is all that is read of them: nothing learns from the others")
def last_of_a_list(tree: ast.Module) -> Found:
    """losses.append(...) in a loop, and losses[-1] is all that is read of them."""
    for function in find(tree, ast.FunctionDef):
        names = find(function, ast.Name)
        taken = {id(x.value): x for x in find(function, ast.Subscript) if unparse(x.slice) in ("-1", "0")}
        for loop in find(function, ast.For):
            calls = [unparse(x.func) for x in find(loop, ast.Call) if isinstance(x.func, ast.Attribute)]
            for name in (x.removesuffix(".append") for x in calls if x.endswith(".append") and TERM.search(x)):
                later = [x for x in names if x.id == name and x.lineno > (loop.end_lineno or 0)]
                if later and all(id(x) in taken for x in later):
                    said = unparse(taken[id(later[0])])
                    yield later[0], f"sum({name})", said


DATA = re.compile(
    r"^[abxyz]\d?$|_[abij12]$|\d$|target|label|logits|mask|^mu$|log_?var|anchor|positive|negative|weights?$|advantage"
)
GIVES_LOSS = re.compile(r"loss|^return .*(cross_entropy|criterion)\(", re.IGNORECASE)


def last_line(function: ast.FunctionDef) -> str:
    return unparse(function.body[-1])


@rule()
def one_of_two_labels(tree: ast.Module) -> Found:
    """x, y_a, y_b, lam = mixup(x, y), and the loss reads y_a alone."""
    own = {x.name for x in find(tree, ast.FunctionDef)}
    for loop in trainings(tree):
        read = read_in(loop)
        batch = stored_in(loop)
        for line in (x for x in find(loop.body, ast.Assign) if isinstance(x.targets[0], ast.Tuple)):
            called_by = line.value.func if isinstance(line.value, ast.Call) else None
            names = [x.id for x in line.targets[0].elts if isinstance(x, ast.Name)]
            left = next((x for x in names if x not in read and any(y in read and stem(x) == stem(y) != x for y in names)), "")
            given = named_in(line.value)
            if left and given & batch and called_by is not None and unparse(called_by).rpartition(".")[2] in own:
                mixes = next(x for x in find(tree, ast.FunctionDef) if x.name == unparse(called_by).rpartition(".")[2])
                mixed = re.search(r"randperm|permutation", unparse(mixes))
                yield Told(
                    "apart" if mixed else "unread", line.lineno, tr("{} is computed, and nobody reads it", left),
                    READ_IT,
                )  # fmt: skip


@rule("unread", "{} is drawn, and nobody reads it")
def one_of_two_draws(tree: ast.Module) -> Found:
    """top, left = randint(0, 5, (2,)).tolist(), and nobody reads left."""
    for function in find(tree, ast.FunctionDef):
        read = read_in(function)
        for line in (x for x in find(function, ast.Assign) if isinstance(x.targets[0], ast.Tuple)):
            names = [x.id for x in line.targets[0].elts if isinstance(x, ast.Name)]
            left = [name for name in names if name not in read and not name.startswith("_")]
            drawn = re.search(r"\b(randint|integers|uniform|rand|random|randrange)\(", unparse(line.value))
            if drawn and left and set(names) & read:
                yield line, READ_IT, left[0]


@rule("unread", "all that is read of {} is its shape: what it holds is lost")
def given_for_its_shape(tree: ast.Module) -> Found:
    """def augment(x): return 0.1 * torch.randn_like(x): all that is read of x is its shape."""
    calls = {unparse(x.func).rpartition(".")[2] for x in find(tree, ast.Call)}
    for function in (x for x in find(tree, ast.FunctionDef) if x.name in calls):
        end = function.body[-1]
        drawn = re.search(r"randn?_like\((\w+)\)", unparse(end)) if isinstance(end, ast.Return) else None
        name = drawn[1] if drawn else ""
        if name and name in {x.arg for x in function.args.args} and unparse(end).count(name) == 1:
            made = [x for x in function.body if isinstance(x, ast.Assign) and unparse(x.targets[0]) == name]
            if made and not re.search(r"noise|latent|prior|sample", function.name, re.IGNORECASE):
                yield end, f"return {name} + ...", name


def called_with(function: ast.FunctionDef, name: str) -> bool:
    """Whether a function hands what it was given under a name on to others, and does nothing else with it."""
    reads = [x for x in find(function, ast.Name) if x.id == name and isinstance(x.ctx, ast.Load)]
    handed = [x for call in find(function, ast.Call) for x in call.args if isinstance(x, ast.Name) and x.id == name]
    return bool(handed) and len(handed) == len(reads)
