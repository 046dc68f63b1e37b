"""What the text of a program does to columns: those that are cut into rows, or asked for in the units of another; two orders."""

import ast
import re
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import (
    SCOPES,
    assigned,
    binaries,
    called,
    calls_of,
    find,
    functions_of,
    holder_of,
    ids_below,
    is_binary,
    names_in,
    returns_of,
    stored_in,
    trainings,
)
from badak.inspect.doctor.tables import ONE_ORDER, SAME_NAMES, apart_from, picks
from badak.inspect.doctor.told import OTHER, Found, rule

ERRORS = re.compile(r"^(\w+_)?(mae|mse|rmse|mean_abs\w*|abs_err\w*|rms)(_\w+)?$", re.IGNORECASE)


@rule("read", "{} is the mean of differences, of which those above 0 and those below cancel")
def errors_that_cancel(tree: ast.Module) -> Found:
    """mae = (guess - y).mean()."""
    for line, name, value in (x for x in assigned(tree) if ERRORS.match(x[1])):
        text = unparse(value)
        plain = re.search(r"\(?\w+(\.\w+)? - \w+(\.\w+)?\)?(\.float\(\))?(\.mean\(|\)$)", text) and "mean(" in text
        if plain and not re.search(r"abs|\*\*|pow|square|loss|l1|mse|norm|sqrt|\* ?\(", text):
            yield line, f"{name} = (...).abs().mean()", name
    for function in (x for x in find(tree, ast.FunctionDef) if re.match(r"(\w+_)?(errors?|mae|mse|rmse)$", x.name)):
        for value in returns_of(function) if not CANCELS_NOT.search(unparse(function)) else ():
            if re.fullmatch(r"\(.+ - .+\)\.mean\([^()]*\)(\.item\(\))?", unparse(value)):
                yield value, unparse(value).replace(".mean(", ".abs().mean("), f"{function.name}()"
    for function in (x for x in find(tree, ast.FunctionDef) if not CANCELS_NOT.search(unparse(x))):
        less = {name: unparse(value) for _, name, value in assigned(function) if re.match(r"err(or)?s?$|residuals?$", name)}
        for node in (x for x in find(function, ast.AugAssign) if isinstance(x.op, ast.Add)):
            name = unparse(node.value).partition(".sum(")[0]
            if re.match(r"\(?.+ - \w+\)?( [*/] .+)?$", less.get(name, "")) and ".sum(" in unparse(node.value):
                yield node, f"{name}.abs().sum()", unparse(node.target)


CANCELS_NOT = re.compile(r"abs|\*\*|pow|square|loss|l1|mse|norm|sqrt|bias|error \* error|backward")
HIGH = re.compile(r"score|logit|sim|prob|pred", re.IGNORECASE)


@rule("read", "{} counts what has a smaller score, and the best has the largest")
def ranked_from_below(tree: ast.Module) -> Found:
    """rank = (scores < scores[0]).sum(), and rank < 10 is a hit."""
    text = unparse(tree)
    for line, name, value in assigned(tree):
        found = re.search(r"\((\w+) < \1\[[^\]]+\]\)\.sum\(", unparse(value))
        if found and "rank" in name.lower() and HIGH.search(found[1]) and re.search(rf"\b{re.escape(name)} <=? ", text):
            yield line, unparse(value).replace("<", ">"), name


@rule("read", "{} begins with the least likely, and precision is asked of the first k")
def sorted_from_below(tree: ast.Module) -> Found:
    """order = scores.argsort(), hits = truth[order].cumsum(0), and hits / arange(1, n + 1): the least likely come first."""
    for function in find(tree, SCOPES):
        text = unparse(function)
        for line, name, value in (x for x in assigned(function) if called(x[2]) == "argsort" and HIGH.search(unparse(x[2]))):
            plain = not re.search(r"descending|argsort\(-|\(-\w+\)\.argsort|flip|stable=", unparse(value))
            hits = re.search(rf"\[{re.escape(name)}\](\.float\(\))?\.cumsum|cumsum\(\w+\[{re.escape(name)}\]", text)
            turned = re.search(rf"{re.escape(name)}\[::-1\]|{re.escape(name)}\.flip|flip\({re.escape(name)}", text)
            if plain and hits and not turned and re.search(r"/ (torch|np)\.arange\(1", text):
                yield line, "scores.argsort(descending=True)", name


@rule("twice", "{} stands twice in {}, and adds nothing the second time")
def named_twice(tree: ast.Module) -> Found:
    """COLUMNS = ["age", "age", "fare"], by which a table is picked."""
    picked = {name for x in find(tree, ast.Subscript) for name in names_in(x.slice)}
    lists = [(line, name, value) for line, name, value in assigned(tree) if isinstance(value, ast.List) and name in picked]
    for line, name, value in lists:
        words = [unparse(x) for x in value.elts if isinstance(x, ast.Constant) and isinstance(x.value, str)]
        same = next((x for x in words if words.count(x) > 1), "")
        if same and len(words) == len(value.elts):
            yield line, OTHER, same, name


@rule("read", "{} is the order of the rows, not the rank of each")
def order_for_ranks(tree: ast.Module) -> Found:
    """ranks = argsort(scores) + 1, and ranks[positive].sum(): where each stands is argsort of argsort."""
    text = unparse(tree)
    for line, name, value in assigned(tree):
        order = value.left if is_binary(value, ast.Add) else value
        plain = called(order) == "argsort" and unparse(order).count("argsort") == 1
        if plain and "rank" in name.lower() and re.search(rf"\b{re.escape(name)}\[[^\]:]+\]\.(sum|mean)\(", text):
            if not re.search(rf"argsort\({re.escape(name)}\b|\b{re.escape(name)}\.argsort", text):
                yield line, f"{name} = argsort(argsort(x)) + 1", name


@rule("view")
def cut_into_rows(tree: ast.Module) -> Found:
    """np.stack([a, b, c]).reshape(n, 3): columns one behind the other, cut into rows of three numbers of one column."""
    joined = {name: value for _, name, value in assigned(tree) if columns_in(value)}
    for node in calls_of(tree, "reshape", "view"):
        holder = holder_of(node)
        sizes = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], ast.Tuple) else node.args
        if holder is not None and unparse(holder) in SAME_NAMES:  # np.reshape(x, (n, 3))
            holder, sizes = node.args[0], node.args[1].elts if len(node.args) > 1 and isinstance(node.args[1], ast.Tuple) else []
        turned = re.fullmatch(r"(.+)\.(T|transpose\(\))", unparse(holder)) if holder is not None else None
        if turned and len(sizes) == 2 and unparse(sizes[1]) == "-1" and rows_of(turned[1], unparse(sizes[0])):
            yield (
                node,
                tr("the table as it is, or .T alone"),
                tr(
                    "{} cuts columns that lie one behind the other into rows: each row has numbers of one column",
                    unparse(node)[-60:],
                ),
            )
        several = columns_in(joined.get(unparse(holder), holder)) if holder is not None else 0
        if several > 1 and len(sizes) == 2 and unparse(sizes[1]) == str(several) and unparse(sizes[0]) != "1":
            yield (
                node,
                tr("np.stack([a, b, c], axis=1), or .T"),
                tr(
                    "{} columns lie one behind the other, and {} cuts them into rows: each row has numbers of one column",
                    several,
                    unparse(node)[-40:],
                ),
            )


def rows_of(table: str, size: str) -> bool:
    """Whether a number is how many rows a table has."""
    found = re.fullmatch(r"len\(([\w.]+)\)|([\w.]+)\.shape\[0\]", size)
    return found is not None and table.startswith(found[1] or found[2])


def columns_in(value: ast.expr) -> int:
    """How many names a call joins along the first axis; 0 where it does anything else."""
    if called(value) not in ("stack", "vstack", "concatenate", "cat") or not isinstance(value, ast.Call) or len(value.args) != 1:
        return 0
    plain = not any(each.arg in ("axis", "dim") and unparse(each.value) != "0" for each in value.keywords)
    parts = value.args[0].elts if isinstance(value.args[0], ast.List | ast.Tuple) else []
    return len(parts) if plain and all(isinstance(each, ast.Name | ast.Attribute) for each in parts) else 0


ASKED = re.compile(r"^(y|ys|target|targets|label|labels|future|truth)(_\w+)?$")


@rule("formula", "column {} is asked for, and the errors are told in the units of column {}")
def other_column(tree: ast.Module) -> Found:
    """target = series[i : i + n, 2], and what is told of errors in its own units is multiplied by std[0], or by std["load"]."""
    columns: dict[int, int] = {}
    given = assigned(tree)
    for line, name, value in given:
        if ASKED.match(name):
            columns |= dict.fromkeys(fixed_columns(value), line)
    units = set(spreads(tree))
    if len(units) > 1:  # those that answers are told in
        units = {x for _, name, value in given if ANSWERS.search(name) for x in spreads(value)}
    if len(columns) != 1 or len(units) != 1:
        return
    (number, line), unit = *columns.items(), next(iter(units))
    column: Any = number
    if isinstance(unit, str):  # the name of a column: the list of them says which it is
        several = [x for _, name, x in given if isinstance(x, ast.List | ast.Tuple) and len(x.elts) > 1]
        titles = [[getattr(each, "value", None) for each in x.elts] for x in several]
        fits = [each for each in titles if all(isinstance(x, str) for x in each) and number < len(each)]
        found = {each[number] for each in fits if unit in each} or {each[number] for each in fits}
        column = found.pop() if len(found) == 1 else unit
    if column != unit:
        yield line, tr("one column for both: it is what is asked for"), column, unit


ANSWERS = re.compile(r"pred|forecast|(^|_)y_?hat|outputs?$|answers?$")


def spreads(node: ast.AST) -> list[Any]:
    """0 of std[0], "load" of std["load"], that something is multiplied by."""
    products = binaries(node, ast.Mult)
    several = [x for each in products for x in (each.left, each.right) if isinstance(x, ast.Subscript)]
    return [x.slice.value for x in several if isinstance(x.slice, ast.Constant) and SPREADS.search(unparse(x.value))]


SPREADS = re.compile(r"(^|[._])(std|sd|sigma|scale|stds|scales)(_\w+)?$", re.IGNORECASE)


def fixed_columns(value: ast.expr) -> list[int]:
    """The columns that are taken of some rows, one after the other: x[a:b, 2]."""
    several = [x.slice.elts for x in find(value, ast.Subscript) if isinstance(x.slice, ast.Tuple)]
    return [
        each[-1].value  # type: ignore[attr-defined]
        for each in several
        if len(each) == 2 and isinstance(each[0], ast.Slice) and isinstance(each[1], ast.Constant) and type(each[1].value) is int
    ]


@rule("apart", "rows are picked by {}, and those of {} are taken as they stand")
def sorted_alone(tree: ast.Module) -> Found:
    """x[rows], y[np.sort(rows)]: the same rows, in two orders."""
    for node in find(tree, ast.Assign | ast.Return | ast.Expr | ast.FunctionDef):
        every = picks(node)
        if isinstance(node, ast.FunctionDef):  # by what it is given, which it does not change
            args, stored = {x.arg for x in node.args.args} - stored_in(node), {name for _, name, _ in assigned(node)}
            every = [(base, index) for base, index in every if {*re.findall(r"\w+", index)} & args and base not in stored]
        for base, index in every:
            found = re.fullmatch(r"(?:\w+\.)?(?:sort|sorted|permutation|flip|roll|flipud)\((\w+)\b[^()]*\)|(\w+)\[::-1\]", index)
            other = next((own for own, at in every if found and own != base and at == (found[1] or found[2])), "")
            if other and not any(own == other and at == index for own, at in every):
                yield node, ONE_ORDER, index, other


@rule()
def sorted_within(tree: ast.Module) -> Found:
    """words, tags = sentences[i]; [ids[w] for w in words], [kinds[t] for t in sorted(tags)]."""
    for function in find(tree, ast.FunctionDef):
        twins = [x.targets[0] if isinstance(x, ast.Assign) else x.target for x in find(function, ast.Assign | ast.For)]
        several = [[unparse(each) for each in x.elts] for x in twins if isinstance(x, ast.Tuple)]
        loops = [(x.generators[0].iter, x.lineno) for x in find(function, ast.ListComp | ast.GeneratorExp)]
        plain = {unparse(over) for over, _ in loops}
        for over, line in loops:
            found = re.fullmatch(r"(?:sorted|reversed|set)\((\w+)\)|(\w+)\[::-1\]", unparse(over))
            name = found[1] or found[2] if found else ""
            mate = next((each for names in several if name in names for each in names if each != name and each in plain), "")
            if mate and name not in plain:
                yield apart_from(line, name, mate)


@rule("twice", "{} stands twice in one line, and adds nothing the second time")
def column_twice(tree: ast.Module) -> Found:
    """center, context = batch[:, 0], batch[:, 0]."""
    for node in (x for x in find(tree, ast.Assign) if isinstance(x.targets[0], ast.Tuple)):
        values = node.value.elts if isinstance(node.value, ast.Tuple) else []
        columns = [
            unparse(x) for x in values if isinstance(x, ast.Subscript) and isinstance(x.slice, ast.Tuple) and fixed_columns(x)
        ]
        same = next((each for each in columns if columns.count(each) > 1), "")
        if same and len(columns) == len(values):
            yield node, OTHER, same


@rule()
def gathered_in_two_orders(tree: ast.Module) -> Found:
    """[q for q, _ in batch], [a for _, a in sorted(batch)]; and x[a:b], np.roll(y, 1)[a:b]."""
    begins = functions_of(tree, "__init__")
    widths = ids_below(begins)  # of layers
    settings = {name for _, name, value in assigned(tree) if isinstance(value, ast.List | ast.Tuple) and is_literal(value)}
    for block in (x.body for x in walk(tree) if isinstance(getattr(x, "body", None), list)):
        plain = [
            x
            for line in block
            if not isinstance(line, ast.FunctionDef | ast.ClassDef | ast.For | ast.While | ast.If)
            for x in walk(line)
        ]
        loops = [x.generators[0].iter for x in plain if isinstance(x, ast.ListComp | ast.GeneratorExp) and len(x.generators) == 1]
        texts = {unparse(x) for x in loops} - settings
        backwards = {
            id(y)
            for x in plain
            if isinstance(x, ast.Assign) and TEXTS.search(unparse(x.targets[0]))
            for y in walk(x.value)
            if re.match(r"reversed\(|\w+\[::-1\]$", unparse(y)[:80])
        }  # tgt = [BOS, *(ids[w] for w in reversed(words))]: a text that is asked for from its end
        for over in (x for x in loops if id(x) not in widths | backwards):
            found = re.fullmatch(
                r"(?:sorted|reversed)\((\w+)\b.*\)|(\w+)\[::-1\]|random\.sample\((\w+), len\(\w+\)\)", unparse(over)
            )
            name = next((x for x in found.groups() if x), "") if found else ""
            if name and name in texts:
                yield apart_from(over.lineno, unparse(over), name)
        cuts = [x for x in plain if isinstance(x, ast.Subscript) and isinstance(x.slice, ast.Slice)]
        rolled = [
            x for x in cuts if called(x.value) in ("roll", "flip", "flipud") and isinstance(x.value, ast.Call) and x.value.args
        ]
        for x in rolled:
            alike = (y.value for y in cuts if y is not x and unparse(y.slice) == unparse(x.slice) and isinstance(y.value, ast.Name))
            mate = next(map(unparse, alike), "")
            if mate and mate != unparse(x.value.args[0]):  # type: ignore[attr-defined]
                yield apart_from(x.lineno, unparse(x.value.args[0]), mate)  # type: ignore[attr-defined]


def is_literal(value: ast.expr) -> bool:
    kinds = ast.List | ast.Tuple | ast.Constant | ast.expr_context
    return len(walk(value)) > 2 and all(isinstance(x, kinds) and isinstance(getattr(x, "value", 0), int) for x in walk(value))


@rule("apart", "{} is the same in each round of the loop over {}, and {} moves on")
def one_stands_still(tree: ast.Module) -> Found:
    """for i in range(n): x = a[:k], y = b[i : i + k]: what belongs to y moves on, and a does not."""
    for loop in (x for x in find(tree, ast.For) if unparse(x.iter).startswith("range(")):
        place = unparse(loop.target)
        lines = [x for x in loop.body if isinstance(x, ast.Assign) and isinstance(x.targets[0], ast.Name)]
        names = find(loop.body, ast.Name)
        stored = {x.id for x in names if isinstance(x.ctx, ast.Store)} | {place}
        cuts = [(line, x) for line in lines for x in slices(line.value)]
        kept = " ".join(unparse(x) for x in walk(loop) if called(x) == "append")
        for line, (table, cut, at) in cuts:
            end = cut.upper
            if names_in(cut) & stored or table in stored or end is None or isinstance(end, ast.Constant):
                continue
            moving = [
                f"{own}[{unparse(y)}]"
                for other, (own, y, _) in cuts
                if other is not line and place in names_in(y) and unparse(end) in unparse(y) and own != table
            ]
            if moving and unparse(line.targets[0]) in kept:
                yield at, tr("put {} into the index", place), f"{table}[{unparse(cut)}]", unparse(loop.iter), moving[0]


def slices(value: ast.expr) -> list[tuple[str, ast.Slice, int]]:
    """(table, slice, line) of all rows that are taken of names, one after the other."""
    several = [x for x in find(value, ast.Subscript) if isinstance(x.value, ast.Name)]
    return [(unparse(x.value), x.slice, x.lineno) for x in several if isinstance(x.slice, ast.Slice)]


TURNS = (
    r"{0}\.flip\(\(?\[?0,?\]?\)?\)", r"torch\.flip\({0}, (dims=)?[\[(]0,?[\])]\)", r"(torch|np)\.roll\({0}, [^,]+, 0\)",
    r"{0}\.roll\([^,]+, 0\)", r"{0}\[::-1\]",
)  # fmt: skip
TEXTS = re.compile(r"src|trg|tgt|text|seq|sent|tokens|ids")  # may lie one place after the other


@rule()
def turned_alone(tree: ast.Module) -> Found:
    """for x, y in DataLoader(...): x = x.flip(0), and y as it is."""
    if "DataLoader(" not in unparse(tree):
        return
    for loop in trainings(tree):
        batch = [x.id for x in find(loop.target, ast.Name)]
        for line in (x for x in find(loop.body, ast.Assign) if unparse(x.targets[0]) in batch):
            name, text = unparse(line.targets[0]), unparse(line.value)
            turned = any(re.fullmatch(each.format(name), text) for each in TURNS)
            mates = [x for x in batch if x != name]
            others = {unparse(x.targets[0]) for x in find(loop, ast.Assign)}
            if turned and mates and not others & {*mates} and not TEXTS.search(name):
                yield apart_from(line.lineno, name, mates[-1])


RULES = (
    cut_into_rows, other_column, sorted_alone, sorted_within, column_twice, gathered_in_two_orders, one_stands_still,
    turned_alone, named_twice, order_for_ranks, errors_that_cancel, ranked_from_below, sorted_from_below,
)  # fmt: skip
