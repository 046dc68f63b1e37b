"""What the text of a program tells by itself: results that are thrown away, loops that do the same each time, how tests count."""

import ast
import re

from badak.core.errors import tr
from badak.inspect.doctor import (
    asking,
    beside,
    better,
    carried,
    columns,
    counts,
    epochs,
    equal,
    folds,
    formulas,
    held,
    idle,
    kept,
    objectives,
    odd,
    prepared,
    returns,
    scaled,
    scales,
    writing,
)  # fmt: skip
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.source import own_text, shown, sources, unparse, walk
from badak.inspect.doctor.syntax import (
    SCOPES,
    assigned,
    called,
    find,
    functions_of,
    is_binary,
    named_in,
    reads,
    stored_in,
    values_of,
)
from badak.inspect.doctor.tables import apart
from badak.inspect.doctor.told import Found, Told, rule

CALLED = frozenset("zero_grad step backward eval train".split())  # of a training, without arguments
FUNCTIONS = frozenset(
    "relu gelu softmax log_softmax sigmoid tanh dropout normalize cat stack bmm matmul clamp where flip roll squeeze unsqueeze "
    "transpose permute reshape flatten einsum layer_norm interpolate pad one_hot load".split()
)
METHODS = frozenset(
    "detach clamp squeeze unsqueeze transpose permute reshape masked_fill softmax log_softmax sigmoid relu tanh contiguous "
    "permutation dropna fillna drop_duplicates reset_index sort_values astype".split()
)
LAYERS = re.compile(r"(^|\.)(Dropout\d?d?|ReLU|GELU|SiLU|Tanh|Sigmoid|Softmax|LayerNorm|LeakyReLU|ELU)$")
PLACES = frozenset("torch F functional np numpy".split())
LOADER = re.compile(r"loader|_dl$|^dl$", re.IGNORECASE)


@rule("setting")
def thrown_away(tree: ast.Module) -> Found:
    """A method that is named and not called, and functions without effect whose result nobody takes."""
    layers = {unparse(each.targets[0]) for each in find(tree, ast.Assign) if is_layer(each.value)}
    for node in walk(tree):
        if not isinstance(node, ast.Expr) or shown(node):
            continue
        value = node.value
        if isinstance(value, ast.Attribute) and value.attr in CALLED:
            text = unparse(value)
            yield node, f"{text}()", tr("{} is named and not called: nothing is done", text)
        elif isinstance(value, ast.Call) and not any(each.arg in ("inplace", "out") for each in value.keywords):
            name, holder = "", value.func
            if isinstance(value.func, ast.Attribute):
                name, holder = value.func.attr, value.func.value
            place = unparse(holder).rpartition(".")[2]
            pure = name in FUNCTIONS if place in PLACES else name in METHODS and not of_its_own(value, tree)
            pure |= name == "update" and called(holder) == "state_dict"  # a dict of its own
            if pure or unparse(value.func) in layers:
                text = unparse(value)[:60]
                yield node, f"x = {text}", tr("what {} gives is thrown away, and nothing else comes of it", text)


def of_its_own(call: ast.Call, tree: ast.Module) -> bool:
    """Whether a method is not that of a tensor or a table: of a class of the program, of what a class made, or given a tensor."""
    name, holder = called(call), call.func.value  # type: ignore[attr-defined]
    held = unparse(holder.value if isinstance(holder, ast.Subscript) else holder)
    values = [value for _, other, value in assigned(tree) if other == held]
    kinds = {called(x) for value in values for x in find(value, ast.Call)}  # Memory(9).to(device)
    axis = not call.args or isinstance(call.args[0], ast.Constant | ast.UnaryOp) or "softmax" not in name  # softmax(-1)
    methods = {x.name for kind in find(tree, ast.ClassDef) for x in kind.body if isinstance(x, ast.FunctionDef)}
    return name in methods or any(x[:1].isupper() for x in kinds - TABLES) or not axis


TABLES = frozenset("DataFrame Series Tensor FloatTensor LongTensor Parameter Variable".split())


def is_layer(value: ast.expr) -> bool:
    """Whether something is a layer that only computes: no batch norm, nothing in place."""
    return isinstance(value, ast.Call) and bool(LAYERS.search(unparse(value.func))) and "inplace" not in unparse(value)


@rule("setting", "the loop over {} never reads {}, and takes {} each time")
def same_each_time(tree: ast.Module) -> Found:
    """A loop over the places of something that takes the same place each time, or calls the same layer of several."""
    for loop in find(tree, ast.For):
        over = loop.iter
        if not isinstance(over, ast.Call) or unparse(over.func) != "range" or not isinstance(loop.target, ast.Name):
            continue
        body = walk(loop.body)
        name, count = loop.target.id, unparse(over)
        if name.startswith("_") or any(isinstance(node, ast.Name) and node.id == name for node in body):
            continue
        yield from one_place_written(tree, loop, body)
        for node in body:
            layer = isinstance(node, ast.Call)
            taken = node.func if isinstance(node, ast.Call) else node
            if not isinstance(taken, ast.Subscript) or not isinstance(taken.ctx, ast.Load) or not fixed(taken.slice):
                continue
            held = unparse(taken.value)
            if layer or re.search(rf"\blen\({re.escape(held)}\)|(?<![\w.]){re.escape(held)}\.(shape\[|size\()", count):
                yield taken, tr("put {} into the index", name), count, name, unparse(taken)
                break


@rule("setting", "the loop over {} never reads {}, and takes {} each time")
def one_place_written(tree: ast.Module, loop: ast.For, body: list[ast.AST]) -> Found:
    """losses = torch.zeros(n); for k in range(n): losses[0] = loss.item()."""
    size = unparse(loop.iter)[6:-1]  # of range(n)
    sized = {
        name for _, name, value in assigned(tree) if called(value) in ("zeros", "empty", "ones") and f"({size}" in unparse(value)
    }
    for line in (x for x in body if isinstance(x, ast.Assign)):
        place = line.targets[0]
        if isinstance(place, ast.Subscript) and fixed(place.slice) and unparse(place.value) in sized:
            yield line, tr("put {} into the index", unparse(loop.target)), unparse(loop.iter), unparse(loop.target), unparse(place)


@rule("setting", "the loop over {} never reads {}, and takes {} each time")
def one_of_all(tree: ast.Module) -> Found:
    """A loop over layers, or several lists of them, that never reads what it goes over and calls one of them by its number."""
    for loop in find(tree, ast.For):
        over = unparse(loop.iter)
        names = named_in(loop.target)
        body = walk(loop.body)
        names = {name for name in names if not any(isinstance(node, ast.Name) and node.id == name for node in body)}
        if not {name for name in names if not name.startswith("_")} or over.startswith("range("):
            continue
        for node in body:
            taken = node.func if isinstance(node, ast.Call) else None
            if isinstance(taken, ast.Subscript) and fixed(taken.slice) and unparse(taken.value) in over:
                yield taken, tr("call what the loop goes over"), over, min(names), unparse(taken)
                break


@rule("setting", "the loop over {} never reads {}, and takes {} each time")
def column_each_time(tree: ast.Module) -> Found:
    """[table(x[:, 0]) for i, table in enumerate(tables)]: the number of each is never read, and one place is taken each time."""
    for node in find(tree, ast.ListComp | ast.GeneratorExp):
        loop, targets = node.generators[0], node.generators[0].target
        if not unparse(loop.iter).startswith("enumerate(") or not isinstance(targets, ast.Tuple):
            continue
        number, names = unparse(targets.elts[0]), named_in(targets)
        if number.startswith("_") or number in named_in(node.elt):
            continue
        for taken in (x for x in find(node.elt, ast.Subscript) if fixed(x.slice)):
            if not names & named_in(taken.value):
                yield taken, tr("put {} into the index", number), unparse(loop.iter), number, unparse(taken)


def fixed(index: ast.expr) -> bool:
    """Whether an index is one place, or one column of all rows, and hangs on nothing."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    plain = [each for each in parts if not isinstance(each, ast.Slice)]
    return len(plain) == 1 and isinstance(plain[0], ast.Constant) and isinstance(plain[0].value, int)


SHORT = 40  # nodes of a function that counts


@rule("read")
def shares(tree: ast.Module) -> Found:
    """Right answers that are counted row by row and divided by how many batches there are, or the other way round."""
    functions = {x.name: unparse(x) for x in find(tree, ast.FunctionDef) if len(walk(x)) < SHORT}
    for scope in find(tree, SCOPES):
        kinds: dict[str, set[str]] = {}
        for node in walk(scope):
            if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
                text = unparse(node.value)
                text += functions.get(called(node.value), "")  # number_of_correct(pred, y)
                if "==" in text or ".eq(" in text:
                    kinds.setdefault(node.target.id, set()).add("mean" if "mean(" in text or "/" in text else "sum")
        ones = counters(scope)
        for node in walk(scope):
            if not (is_binary(node, ast.Div)):
                continue
            over = unparse(node.right)
            by_one = [each.id for each in find(node.left, ast.Name) if each.id in ones.get(over, ())]
            if any(kinds.get(name) == {"sum"} for name in by_one):
                what = tr("{} counts right rows, and is divided by {}, which is the number of batches", by_one[0], over)
                yield node, f"{over} += len(labels)", what
            batches = over.startswith("len(range(") and over.count(",") == 2
            names = named_in(node.left)
            for name in (each for each in names if kinds.get(each) == {"sum"}) if batches else ():
                what = tr("{} counts right rows, and is divided by {}, which is the number of batches", name, over)
                yield node, "len(x)", what
            rows = re.fullmatch(r"len\([\w.\[\]'\"]*?(\w+)(\['?\"?\w+'?\"?\])?\)", over)
            names = named_in(node.left)
            for name in (each for each in names if len(kinds.get(each, ())) == 1) if rows else ():
                by_batches = bool(LOADER.search(rows[1]))  # type: ignore[index]
                if by_batches and kinds[name] == {"sum"}:
                    what = tr("{} counts right rows, and is divided by {}, which is the number of batches", name, over)
                    yield node, f"{over[:-1]}.dataset)", what
                elif rows[1] == "dataset" and kinds[name] == {"mean"}:  # type: ignore[index]
                    what = tr("{} adds up the share of right answers of each batch, and is divided by {}, the number of rows", name,
                              over)  # fmt: skip
                    yield node, tr("divide by the number of batches"), what


def counters(scope: ast.AST) -> dict[str, set[str]]:
    """Of each name that grows by 1 alone, in a loop: the names that grow next to it by a sum over rows."""
    if re.search(r"batch_size\s*=\s*1\b", own_text()):
        return {}
    found: dict[str, set[str]] = {}
    grown: dict[str, set[str]] = {}
    for node in find(scope, ast.AugAssign):
        grown.setdefault(unparse(node.target), set()).add(unparse(node.value))
    for loop in find(scope, ast.For):
        own = [each for each in loop.body if isinstance(each, ast.AugAssign)]
        sums = {unparse(each.target) for each in own if re.search(r"\.sum\(\)", unparse(each.value))}
        for name in (unparse(each.target) for each in own):
            if grown[name] == {"1"} and sums:
                found.setdefault(name, set()).update(sums)
    return found


TRAINED = re.compile(r"train|^loss$|^running_loss$|^epoch_loss$|^total_loss$")
BEST = re.compile(r"best", re.IGNORECASE)


@rule("chosen", "the best weights are chosen by {}, which the training itself gives, and {} is only shown")
def chosen(tree: ast.Module) -> Found:
    """The best weights are chosen by the training's own loss, and what the test gives is only shown."""
    for loop in find(tree, ast.For | ast.While):
        stored = stored_in(loop)
        tests = {each for each in stored if says_test(each) and re.search(r"loss|acc|score|mse|mae|err|f1|auc", each)}
        for test in (node for node in find(loop, ast.If) if isinstance(node.test, ast.Compare)):
            sides = [test.test.left, *test.test.comparators]
            texts = [re.sub(r"\.item\(\)$", "", unparse(each)) for each in sides]
            keeps = any("state_dict(" in unparse(line) or "save(" in unparse(line) for line in test.body)
            if keeps and tests and len(texts) == 2 and any(map(BEST.search, texts)):
                other = next((each for each in texts if not BEST.search(each)), "")
                if TRAINED.search(other) and not says_test(other):
                    yield test, tr("choose by what the validation gives"), other, sorted(tests)[0]


FROM_0 = re.compile(r"(^|_)(acc\w*|accuracy|f1|auc|iou|dice|recall|precision|hits?)(_|$|\.|\()")
MAY_BE_BELOW = re.compile(r"log_?prob|nll|elbo|logdet|critic|reward|energy", re.IGNORECASE)


INFINITE = re.compile(r"^(float\(['\"]\+?inf(inity)?['\"]\)|(math|np|numpy|torch)\.inf)$")
TOP = re.compile(rf"{INFINITE.pattern}|^(1\.0|100(\.0)?)$")  # or a share of all


@rule("setting", "{} begins at {}, and {} is kept where it is {}: it never is")
def never_best(tree: ast.Module) -> Found:
    """The best begins where nothing is better: at infinity, or all, where the larger is kept; at 0, where the smaller is."""
    assigned = [each for each in find(tree, ast.Assign) if len(each.targets) == 1]
    begins: dict[str, str] = {}
    for each in assigned:
        names, values = (x.elts if isinstance(x, ast.Tuple) else [x] for x in (each.targets[0], each.value))
        for name, value in zip(names, values) if len(names) == len(values) else ():
            begins.setdefault(unparse(name), unparse(value))
    for node in find(tree, ast.If):
        test = node.test
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Lt | ast.Gt):
            continue
        sides = [unparse(test.left), unparse(test.comparators[0])]
        kept = [unparse(x) for x in find(node.body, ast.Name | ast.Attribute) if isinstance(x.ctx, ast.Store)]
        best = next((side for side in sides if side in kept and side in begins), "")
        other = sides[1 - sides.index(best)] if best else ""
        larger = isinstance(test.ops[0], ast.Gt) == (sides.index(best) == 1) if best else False  # the larger is kept
        first = begins.get(best, "")
        never = larger and TOP.match(first) and (first[-1] not in "0" or FROM_0.search(other))
        never = never or not larger and first.startswith("-") and INFINITE.match(first[1:])
        least = first in ("0", "0.0") and not (
            MAY_BE_BELOW.search(other) or "-" in " ".join(map(unparse, values_of(tree).get(other, [])))
        )
        if best and (never or not larger and least):
            error = least and not FROM_0.search(other)
            yield (
                node,
                f'{best} = float("inf")' if error else f"if {other} {'<' if larger else '>'} {best}:",
                best,
                first,
                other,
                (tr("larger") if larger else tr("smaller")),
            )


WORTH = re.compile(r"(^|[._])(adv\w*|returns?|rewards?|rets?|rews?|delta\w*|td\w*|disc\w*|gae\w*|gains?|[gGR]|Gt|R_t|G_t)$")


def weight_of(place: str) -> int:
    """1 where a line multiplies something by an advantage, -1 by one with a minus before it; 0 where that is not to be seen."""
    file, _, number = place.rpartition(":")
    line, signs = int(number) if number.isdigit() else 0, set()
    for node in (x for source in sources() if source.name == file for x in walk(source.tree)):
        if is_binary(node, ast.Mult) and node.lineno <= line <= (node.end_lineno or 0):
            for side in (node.left, node.right):
                minus = isinstance(side, ast.UnaryOp) and isinstance(side.op, ast.USub)
                text = unparse(side.operand if isinstance(side, ast.UnaryOp) else side)
                name = re.sub(r"(\[.*\]|\.(detach|float|squeeze|unsqueeze|view|reshape|flatten|expand|clone)\(.*\))+$", "", text)
                scaled = re.search(
                    rf"(?<![\w.]){re.escape(name)} = \(?(\w+) - \1\.mean\(\)", own_text()
                )  # norm = (adv - adv.mean()) / ...
                name = scaled[1] if scaled else name
                if WORTH.search(name):
                    turned = re.search(rf"(?<![\w.]){re.escape(name)}\s*=\s*-", own_text())
                    signs.add(0 if turned else -1 if minus else 1)
    return signs.pop() if len(signs) == 1 else 0


@rule()
def for_nobody(tree: ast.Module) -> Found:
    """Net().load_state_dict(...), whose model nobody keeps; and a dict of weights that is written and given to nobody."""
    kinds = {x.name for x in find(tree, ast.ClassDef)}
    loaded = [x for x in find(tree, ast.Expr) if called(x.value) == "load_state_dict"]
    for node in loaded:
        holder = getattr(getattr(node.value, "func", None), "value", None)
        if isinstance(holder, ast.Call) and called(holder) in kinds:
            yield Told(
                "setting", node.lineno, tr("weights are loaded into a {} that nobody keeps", called(holder)),
                tr("load them into the model that is used"),
            )  # fmt: skip
    read = reads(tree)
    for _, name, value in (x for x in assigned(tree) if called(x[2]) in kinds):
        loads = [x for x in loaded if unparse(x).startswith(f"{name}.load_state_dict(")]
        others = [other for _, other, x in assigned(tree) if called(x) == called(value) and other != name]
        if loads and len(read.get(name, ())) == len(loads) and others:
            yield Told(
                "setting", loads[0].lineno, tr("weights are loaded into {}, and nothing is asked of it", name),
                tr("load them into the model that is used"),
            )  # fmt: skip
    for line, name, value in assigned(tree):
        if called(value) != "state_dict" or not name.isidentifier():
            continue
        own = find(tree, ast.Subscript | ast.Call | ast.For | ast.comprehension)
        places = [x for x in own if isinstance(x, ast.Subscript) and unparse(x.value) == name]
        over = [
            x
            for x in own
            if isinstance(x, ast.For | ast.comprehension) and re.fullmatch(rf"{name}(\.(keys|items)\(\))?", unparse(x.iter))
        ]
        written = any(isinstance(x.ctx, ast.Store) for x in places)
        in_place = any(re.match(rf"{name}\[[^\]]*\]\.\w+_\(", unparse(x)) for x in own if isinstance(x, ast.Call))
        if written and not in_place and len(places) + len(over) == len(read.get(name, ())):
            yield Told(
                "average", line, tr("the places of {} are written, and it is given to no model", name),
                f"model.load_state_dict({name})",
            )  # fmt: skip


ON_PURPOSE = re.compile(r"monte|mc_|mcdrop|uncertain|bayes|ensemble", re.IGNORECASE)


@rule("drops", "{} drops in eval mode, too: it is not told of it")
def always_drops(tree: ast.Module) -> Found:
    """F.dropout(x, 0.5) in a model that eval() is called of: it is told nothing of tests."""
    asked = {id(y) for x in find(tree, ast.If | ast.IfExp) if ".training" in unparse(x.test) for y in walk(x)}
    text = own_text()
    if ".eval()" not in text or ON_PURPOSE.search(text):
        return
    for function in functions_of(tree, "forward"):
        for node in (
            x for x in find(function, ast.Call) if re.fullmatch(r"(F|\w+\.functional|functional)\.dropout\d?d?", unparse(x.func))
        ):
            if len(node.args) < 3 and id(node) not in asked and not any(x.arg in ("training", None) for x in node.keywords):
                yield node, tr("F.dropout(x, p, training=self.training), or a layer nn.Dropout(p)"), unparse(node)


RULES = (
    thrown_away, idle.idle, same_each_time, one_of_all, column_each_time, shares, chosen, prepared.prepared,
    prepared.scaled_by_itself, prepared.augmented_test, never_best, apart, scaled.scaled_by_all, scaled.raw_in_the_test,
    *columns.RULES, returns.returns, kept.kept, better.worse_is_better, formulas.formulas, *folds.RULES, folds.flat_in_two_orders,
    *epochs.RULES, *objectives.RULES, scales.scales, *held.RULES, *beside.RULES, for_nobody, always_drops, *asking.RULES,
    *equal.RULES, writing.writing, *carried.RULES, *counts.RULES, prepared.coded_apart, odd.odd,
)  # fmt: skip


def told() -> list[Told]:
    """What the text of the program, and of its own modules, tells; nothing where it is not to be had. Of a place, each fix once."""
    found = [
        each._replace(place=f"{source.name}:{each.line}") for rule in RULES for source in sources() for each in rule(source.tree)
    ]
    return [*{(each.place, each.fix): each for each in reversed(found)}.values()][::-1]
