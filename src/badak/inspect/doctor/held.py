"""What the text of a program holds back for its tests, and whether it is that which it tests with."""

import ast
import re

from badak.core.errors import tr
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import assigned, called, changed, find, named_in, names_in, read_in
from badak.inspect.doctor.tables import SPLITS, TRAIN, datasets
from badak.inspect.doctor.told import Found, rule

UNSEEN = tr("rows that no step has seen: random_split(data, [0.8, 0.2]), and test on the second part")


@rule("chosen", "{} takes all of {}, and {} asks for the last of it")
def last_is_learnt(tree: ast.Module) -> Found:
    """train = [(u, s) for u, h in histories for s in h], where test = [(u, h[-1]) for u, h in histories]."""
    comps = [(line, name, value) for line, name, value in assigned(tree) if isinstance(value, ast.ListComp)]
    for _, name, value in (x for x in comps if is_held(x[1])):
        last = [unparse(x.value) for x in find(value.elt, ast.Subscript) if unparse(x.slice) == "-1"]
        for line, other, whole in (x for x in comps if TRAIN.search(x[1])):
            loops = whole.generators
            if len(loops) > 1 and unparse(loops[0].iter) == unparse(value.generators[0].iter) and unparse(loops[1].iter) in last:
                yield line, f"for ... in {last[0]}[:-1]", other, last[0], name


LIMIT = re.compile(r"thresh|cut_?off|best_t(hr)?$|^thr$", re.IGNORECASE)


@rule("chosen", "{} is chosen by {}, and the same rows tell how good it is")
def limit_of_the_test(tree: ast.Module) -> Found:
    """threshold = max(grid, key=lambda t: f1(test_scores, test_labels, t))."""
    for line, name, value in assigned(tree):
        text = unparse(value)
        asks = {x.id for x in find(value, ast.Name) if is_held(x.id)} or asked_for(tree, named_in(value), line)
        if (
            LIMIT.search(name)
            and re.search(r"max\(|argmax|key=|quantile\(|percentile\(|mean\(|std\(", text)
            and asks
            and all("test" in x.lower() for x in asks)
        ):
            yield line, tr("choose by what the validation gives"), name, min(asks)


def asked_for(tree: ast.Module, names: set[str], line: int) -> set[str]:
    """The data for tests that names were made of by a call last, before a line: scores, labels = collect(model, test_loader)."""
    found: set[str] = set()
    for name in names:
        before = [(at, value) for at, other, value in assigned(tree) if other == name and at < line]
        value = max(before, key=lambda each: each[0])[1] if before else None
        found |= {x.id for x in value.args if isinstance(x, ast.Name) and is_held(x.id)} if isinstance(value, ast.Call) else set()
    return found


@rule("chosen", "what is called {!r} is asked of {}")
def loader_of_the_training(tree: ast.Module) -> Found:
    """{"train": DataLoader(sets["train"]), "val": DataLoader(sets["train"])}."""
    for table in find(tree, ast.Dict):
        for key, value in zip(table.keys, table.values):
            name = str(key.value) if isinstance(key, ast.Constant) else ""
            data = unparse(value.args[0]) if isinstance(value, ast.Call) and value.args else ""
            plain = called(value) == "DataLoader" and "ampler" not in unparse(value)
            if plain and is_held(name) and DATA.search(data) and not says_test(data):
                yield value, UNSEEN, name, data


CHOOSES = re.compile(r"(^|_)(val|valid|validation|dev)(_|$)", re.IGNORECASE)


@rule("chosen", "{} is {}, and {} is {}: rows of both choose the best, and tell how good it is")
def best_of_the_test(tree: ast.Module) -> Found:
    """val, test = order[900:1150], order[1000:]: rows by which the best is chosen are tested again."""
    given = assigned(tree)
    numbers = {name: value.value for _, name, value in given if isinstance(value, ast.Constant) and isinstance(value.value, int)}
    cuts = [(line, name, value) for line, name, value in given if isinstance(value, ast.Subscript) and is_held(name)]
    for _, name, value in (x for x in cuts if CHOOSES.search(x[1])):
        for line, other, cut in (x for x in cuts if "test" in x[1].lower() and not CHOOSES.search(x[1])):
            if value is not cut and unparse(value.value) == unparse(cut.value) and overlap(value.slice, cut.slice, numbers):
                yield line, UNSEEN, name, unparse(value), other, unparse(cut)


@rule("prepared", "{} is given {} here, and {} before: the places of one are not those of the other")
def in_another_order(tree: ast.Module) -> Found:
    """Flowers(["rose", "lily", "iris"]) for the training, and the same list in another order for the test."""
    kinds = {x.name for x in find(tree, ast.ClassDef) if "Dataset" in " ".join(map(unparse, x.bases))}
    several = grouped(
        ((called(call), i), (call.lineno, [unparse(y) for y in x.elts]))
        for call in (x for x in find(tree, ast.Call) if called(x) in kinds)
        for i, x in enumerate([*call.args, *(x.value for x in call.keywords)])
        if isinstance(x, ast.List | ast.Tuple) and len(x.elts) > 2 and all(isinstance(y, ast.Constant) for y in x.elts)
    )
    for (kind, _), given in several.items():
        for line, one in given[1:]:
            first = next((x for _, x in given if sorted(x) == sorted(one)), one)
            if one != first and len(set(one)) == len(one):
                yield line, tr("one list with a name, for both"), kind, ", ".join(one), ", ".join(first)


@rule("chosen", "the loop over {} takes {} each time: what is tested is what was learnt")
def one_phase(tree: ast.Module) -> Found:
    """for phase in ["train", "val"]: for x, y in loaders["train"]: the same data in both."""
    for loop in (x for x in find(tree, ast.For) if isinstance(x.target, ast.Name)):
        over = [unparse(x) for x in loop.iter.elts] if isinstance(loop.iter, ast.List | ast.Tuple) else []
        if not (any(map(says_test, over)) and any(map(TRAIN.search, over))):
            continue
        for inner in find(loop.body, ast.For):
            taken = inner.iter
            if isinstance(taken, ast.Call) and called(taken) in ("enumerate", "tqdm", "iter") and taken.args:
                taken = taken.args[0]
            if isinstance(taken, ast.Subscript) and unparse(taken.slice) in over:
                yield inner, f"{unparse(taken.value)}[{loop.target.id}]", unparse(loop.iter), unparse(taken)


BY_CHANCE = re.compile(r"rand|perm|shuffle|sample|choice|next\(")


def is_held(name: str) -> bool:
    """Whether a name says test, and not training."""
    return says_test(name) and not TRAIN.search(name)


@rule("chosen", "{} is {}, and {} is {}: what is tested is what was learnt")
def same_part(tree: ast.Module) -> Found:
    """train_data, val_data = data[:n], data[:n], or parts that overlap; also in a dict, under "train" and "val"."""
    given = assigned(tree)
    numbers = {name: value.value for _, name, value in given if isinstance(value, ast.Constant) and isinstance(value.value, int)}
    dicts = find(tree, ast.Dict)
    inside = [[(x.lineno, str(k.value), v) for k, v in zip(x.keys, x.values) if isinstance(k, ast.Constant)] for x in dicts]
    own, functions = datasets(tree), {x.name for x in find(tree, ast.FunctionDef)}
    for several in (given, *inside):
        parts: list[tuple[str, ast.Subscript]] = []
        for line, name, value in ((line, name, rows_given(value, own, functions)) for line, name, value in several):
            if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Name) and BY_CHANCE.search(unparse(value)):
                continue
            if TRAIN.search(name) and not says_test(name):
                parts.append((name, value))
            elif is_held(name):
                for other, part in parts:
                    apart = part is value or changed(tree, names_in(value), part.lineno, line)  # two parts of one, or of another
                    same = unparse(part.value) == unparse(value.value) and not apart
                    if same and overlap(part.slice, value.slice, numbers):
                        yield line, UNSEEN, other, unparse(part), name, unparse(value)


def rows_given(value: ast.expr, own: set[str], functions: set[str]) -> ast.expr:
    """The rows that a loader, or a dataset of them, is given; or a function, where numbers say which."""
    first = value.args[0] if isinstance(value, ast.Call) and called(value) in functions and value.args else None
    if isinstance(first, ast.Subscript) and isinstance(first.slice, ast.Slice):
        low, high = first.slice.lower, first.slice.upper
        if low is None or isinstance(low, ast.Constant) and isinstance(high, ast.Constant):  # else a window may begin before
            return first
    while (
        isinstance(value, ast.Call) and value.args and (called(value).endswith(("DataLoader", "Dataset")) or called(value) in own)
    ):
        value = value.args[0]
    return value


def overlap(a: ast.expr, b: ast.expr, numbers: dict[str, int]) -> bool:
    """Whether two slices have rows in common, as far as that is to be seen; two that begin at the first row have."""
    if unparse(a) == unparse(b) and isinstance(a, ast.Slice | ast.Name):
        return True
    if not (isinstance(a, ast.Slice) and isinstance(b, ast.Slice)) or a.step or b.step:
        return False
    if all(x.lower is None and x.upper is not None for x in (a, b)):
        return not any(unparse(x.upper).startswith("-") for x in (a, b))  # type: ignore[arg-type]

    behind = re.fullmatch(r"(.+) - (\d+)", unparse(b.lower)) if b.lower is not None else None
    if behind and a.lower is None and a.upper is not None and behind[1] == unparse(a.upper):  # [:n], [n - 400 : m]
        return True
    (one, end), (two, other) = bounds(a, numbers), bounds(b, numbers)
    if one is None or end is None or two is None or other is None or min(one, end, two, other) < 0:
        return False
    return max(one, two) < min(end, other)


def bounds(x: ast.Slice, numbers: dict[str, int]) -> list[float | None]:
    """Where a slice begins and ends; None where that is not to be seen."""
    found: list[float | None] = []
    for side, place in ((x.lower, 0.0), (x.upper, float("inf"))):
        value = side.value if isinstance(side, ast.Constant) else numbers.get(unparse(side)) if side is not None else place
        found.append(value if isinstance(value, int | float) else None)
    return found


DATA = re.compile(
    r"(^|[._])(train|training|tr)_?(loader|dl|iter|iterator|data|dataset|set|ds|pairs|x|ids|batches|features|windows|sequences|texts)$"
    r"|^[xX]_?tr(ain)?$|^trainloader$|^train[XY]$|\['(train|training)'\]$",
)
SCORES = re.compile(r"loss|acc|score|mse|mae|rmse|err|f1|auc|r2|bleu|ppl|perplex|iou|dice|precision|recall|correct|hits")


@rule("chosen", "what is called {!r} is asked of {}")
def asked_of_the_training(tree: ast.Module) -> Found:
    """test_acc = evaluate(model, train_loader), and print(f"test accuracy {evaluate(model, train_loader)}")."""
    functions = {x.name for x in find(tree, ast.FunctionDef) if ".backward(" not in unparse(x)}
    said: list[tuple[str, ast.expr]] = [
        (name, value) for _, name, value in assigned(tree) if SCORES.search(name) or says_test(name)
    ]
    for node in (x for x in find(tree, ast.Call) if unparse(x.func) == "print"):
        words = ""
        for part in (y for x in node.args for y in (x.values if isinstance(x, ast.JoinedStr) else [x])):
            if isinstance(part, ast.Constant):
                words = str(part.value)
            else:
                value = part.value if isinstance(part, ast.FormattedValue) else part
                said.append((words, value))
    for name, value in said:
        calls = [x for x in find(value, ast.Call) if called(x) in functions]
        for call in calls[:1] if is_held(name) else ():
            given = [unparse(x) for x in call.args]
            if any(map(DATA.search, given)) and not any(map(says_test, given)):
                data = next(x for x in given if DATA.search(x))
                yield call, UNSEEN, name.strip(" :,|=") or name, data


@rule("chosen", "{} is {}, and all of {} is learnt")
def part_of_the_learnt(tree: ast.Module) -> Found:
    """dev = train[:60], where the training goes over all of train; and Pairs(12, seed=0) for the training and for the test."""
    given, kinds = assigned(tree), {x.name for x in find(tree, ast.ClassDef)}
    for line, name, value in given:
        base = unparse(value.value) if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice) else ""
        again = any(other == base and at >= line for at, other, _ in given) or any(
            other == name and x is not value for _, other, x in given
        )
        if (
            is_held(name)
            and TRAIN.search(base)
            and base.isidentifier()
            and not again
            and not re.search(r"x|y|label", name, re.IGNORECASE)
        ):
            cut = any(base in names_in(x) for _, other, x in given if TRAIN.search(other) and other != base)
            if not cut and not changed(tree, {base}, line, 1 << 30) and f"del {base}[" not in unparse(tree):
                yield line, UNSEEN, name, unparse(value), base
    made = [(line, name, x) for line, name, value in given for x in find(value, ast.Call)[:3] if called(x) in kinds and x.args]
    for line, name, call in (x for x in made if is_held(x[1])):
        numbered = all(isinstance(x, ast.Constant) for x in [*call.args, *(y.value for y in call.keywords)]) and len(call.args) > 1
        first = next((other for _, other, x in made if TRAIN.search(other) and unparse(x) == unparse(call)), "") if numbered else ""
        if first and re.search(r"manual_seed\(|default_rng\(|RandomState\(|Random\(", unparse(tree)):
            yield line, UNSEEN, name, unparse(call), first


@rule("chosen", "{} is never read, and {} tells how a test went")
def never_asked(tree: ast.Module) -> Found:
    """What is held back for tests is never read, and the program tells how a test went."""
    given = assigned(tree)
    kept = {
        name: (line, value)
        for line, name, value in given
        if is_held(name) and not SCORES.search(name)
        and (isinstance(value, ast.Subscript) or re.search(r"(Loader|Dataset)$", called(value)) or called(value) in SPLITS)
    }  # fmt: skip
    names = [x for x in find(tree, ast.Name | ast.Attribute) if isinstance(x.ctx, ast.Load)]
    inside = {id(x) for name, (_, value) in kept.items() for x in walk(value)}
    read = {unparse(x) for x in names if id(x) not in inside}
    others = {name for _, name, _ in given if is_held(name) and not SCORES.search(name) and name not in kept} | {
        x.arg for x in find(tree, ast.arg) if is_held(x.arg)
    }
    scores = [name for _, name, _ in given if is_held(name) and SCORES.search(name)]
    text = unparse(tree)
    if kept and scores and not others and not read & {*kept} and re.search(r"no_grad|inference_mode|eval\(\)", text):
        if not any(re.search(rf"\.{name}\b|['\"]{name}['\"]", text) for name in kept):
            name = min(kept)
            yield kept[name][0], tr("test with what was held back"), name, scores[0]


@rule("chosen", "{} is never read, and {} chooses the best and tells how good it is")
def chosen_by_the_test(tree: ast.Module) -> Found:
    """Data for validation that nobody reads, and in the loop that keeps the best that for tests is asked."""
    loaders = {name: line for line, name, value in assigned(tree) if is_held(name) and not SCORES.search(name)}
    read = read_in(tree)
    left = [name for name in loaders if CHOOSES.search(name) and name not in read]
    for loop in find(tree, ast.For | ast.While) if left else ():
        asked = sorted(read_in(loop) & {name for name in loaders if "test" in name.lower()})
        keeps = any(re.search("best", unparse(x.test), re.IGNORECASE) for x in find(loop, ast.If))
        if asked and keeps:
            yield loaders[left[0]], tr("choose by what the validation gives"), left[0], asked[0]
            return


AUGMENTS = re.compile(r"^(augment|augmented|augmentation|train|training|is_train|aug|shuffle_labels)$")


STRENGTH = re.compile(r"jitter|noise|augment|flip|crop|shift|rotat|erase|(^|_)p$|(^|_)aug", re.IGNORECASE)


def zero_by_default(kind: ast.ClassDef, name: str) -> bool:
    """Whether a class is given nothing under a name where the program says nothing."""
    begins = [x for x in kind.body if isinstance(x, ast.FunctionDef) and x.name == "__init__"]
    for args in (x.args for x in begins):
        names = [x.arg for x in args.args]
        i = names.index(name) - len(names) + len(args.defaults) if name in names else -1
        if 0 <= i < len(args.defaults):
            return unparse(args.defaults[i]) in ("0", "0.0", "False", "None")
    return False


@rule("prepared", "{} is made with {}: what it is tested with is changed by chance")
def by_chance(tree: ast.Module) -> Found:
    """val_set = Cells(48, augment=True), of a class of the program's own, which is made without it elsewhere, or by default."""
    kinds = {x.name: x for x in find(tree, ast.ClassDef)}
    for line, name, value in assigned(tree):
        for call in (x for x in find(value, ast.Call) if called(x) in kinds):
            on = next((x.arg for x in call.keywords if x.arg and AUGMENTS.match(x.arg) and unparse(x.value) == "True"), "")
            own = unparse(kinds[called(call)]) if on else ""
            more = [
                x for x in call.keywords if x.arg and STRENGTH.search(x.arg) and isinstance(x.value, ast.Constant) and x.value.value
            ]
            if not on and more and is_held(name) and zero_by_default(kinds[called(call)], str(more[0].arg)):
                on, own = str(more[0].arg), unparse(kinds[called(call)])
            if on and is_held(name) and re.search(rf"self\.{on}\b", own) and re.search(r"rand|choice|flip|random", own):
                yield line, tr("without chance in tests: the same picture each time"), name, on


@rule("chosen", "what is called {!r} is asked of {}")
def in_one_block(tree: ast.Module) -> Found:
    """with torch.no_grad(): x = prepared(train_x); val_loss = criterion(model(x), y): no data for tests is read in it."""
    for block in (x for x in find(tree, ast.With) if "no_grad" in unparse(x.items[0])):
        names = find(block.body, ast.Name)
        scores = [x.id for x in names if isinstance(x.ctx, ast.Store) and is_held(x.id) and SCORES.search(x.id)]
        read = [x for x in names if isinstance(x.ctx, ast.Load)]
        learnt = [x for x in read if DATA.search(x.id)]
        if scores and learnt and not any(says_test(x.id) and not SCORES.search(x.id) for x in read):
            yield learnt[0], UNSEEN, scores[0], learnt[0].id


RULES = (
    one_phase, same_part, asked_of_the_training, never_asked, by_chance, in_one_block, loader_of_the_training, best_of_the_test,
    in_another_order, last_is_learnt, limit_of_the_test, part_of_the_learnt, chosen_by_the_test,
)  # fmt: skip
