"""What the text of a program compares, counts or makes twice, where something else was meant the second time."""

import ast
import re

from badak.core.errors import tr
from badak.inspect.doctor.held import is_held
from badak.inspect.doctor.idle import DRAWN
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import (
    SCOPES,
    asked_of,
    assigned,
    binaries,
    called,
    calls_of,
    changed,
    find,
    is_binary,
    names_in,
    number,
    stored_by,
    target_of,
    values_of,
)
from badak.inspect.doctor.tables import TRAIN
from badak.inspect.doctor.told import OTHER, Found, Told, rule

COMPARES = re.compile(
    r"(^|_)(loss|criterion|mse|mae|accuracy|acc|score|eq|equal|isclose|allclose|similarity|distance|dist|zip)(_|$)|_loss$|Loss$"
)


def ranks(call: ast.Call, tree: ast.Module) -> bool:
    """Whether what a call gives is put in order: d = distance(x, x), and d.argsort() says which rows are near to each."""
    orders = r"\.(?:arg)?(?:sort|topk|min|kthvalue|fill_diagonal_)\("
    names = [re.escape(name) for _, name, value in assigned(tree) if value is call]
    return any(re.search(rf"(?<![\w.]){x}{orders}|{orders}{x}\b", unparse(tree)) for x in names)


@rule("twice", "{} compares {} with itself")
def with_itself(tree: ast.Module) -> Found:
    """abs(v - v), criterion(out, out), zip(pred, pred), (y == y).mean(), (a > 0) & (a > 0)."""
    several = values_of(tree)
    given = {name: values[0] for name, values in several.items() if len(values) == 1 and isinstance(values[0], ast.Compare)}
    for node in walk(tree):
        sides: list[ast.expr] = []
        if is_binary(node, ast.Sub | ast.BitAnd | ast.BitOr):
            sides = [node.left, node.right]
        elif isinstance(node, ast.BoolOp):
            sides = node.values[:2]
        elif isinstance(node, ast.Call) and COMPARES.search(called(node)):
            sides = node.args[:2]
            if called(node) == "eq" and len(node.args) == 1 and isinstance(node.func, ast.Attribute):
                sides = [node.func.value, node.args[0]]
        elif isinstance(node, ast.Call) and called(node) in ("sum", "mean") and isinstance(node.func, ast.Attribute):
            of = node.func.value
            while called(of) in ("float", "double", "int", "long", "to", "astype") and isinstance(of.func, ast.Attribute):  # type: ignore[attr-defined]
                of = of.func.value  # type: ignore[attr-defined]
            if isinstance(of, ast.Compare) and isinstance(of.ops[0], ast.Eq):
                sides = [given.get(unparse(x), x) for x in (of.left, of.comparators[0])]
        texts = [unparse(x) for x in sides]
        plain = len(sides) == 2 and all(names_in(x) for x in sides) and not DRAWN.search(texts[0])
        drawn = any(isinstance(x, ast.Call) and not x.args and not isinstance(x.func, ast.Attribute) for x in sides)
        if plain and texts[0] == texts[1] and not drawn and not (isinstance(node, ast.Call) and ranks(node, tree)):
            yield node, OTHER, unparse(node)[:60], texts[0]


COUNTS = re.compile(r"==|!=|[<>&|~]|\.eq\(|\.ne\(|logical")


@rule()
def counted_alike(tree: ast.Module) -> Found:
    """tp = (p & y).sum(), fp = (p & y).sum(); and two columns of a table that are the same numbers."""
    for block in (x.body for x in walk(tree) if isinstance(getattr(x, "body", None), list)):
        known: dict[tuple[str, str], str] = {}
        for line in block:
            target = target_of(line)
            if target is None or not isinstance(target, ast.Name | ast.Subscript):
                continue
            name, value = unparse(target), unparse(line.value)
            titled = (
                isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)
            )
            sums = isinstance(target, ast.Name) and COUNTS.search(value) and re.search(r"sum\(|count", value)
            made = titled and isinstance(line, ast.Assign) and names_in(line.value) and find(line.value, ast.BinOp)
            if not sums and not made:
                continue
            holder = unparse(target.value) if isinstance(target, ast.Subscript) else ""
            other = known.setdefault((holder, value), name)
            if other != name and not DRAWN.search(re.sub(r"sin\(|cos\(", "", value).replace("theta", "").replace("angle", "")):
                yield Told(
                    "read" if sums else "twice", line.lineno, tr("{} is what {} is: {}", name, other, value[:60]),
                    OTHER,
                )  # fmt: skip


RIGHT = re.compile(r"(^|_)(correct|right|hits?|tp|true_pos\w*)\b", re.IGNORECASE)


@rule("read", "{} counts what is guessed, and no label is read")
def without_the_labels(tree: ast.Module) -> Found:
    """hits[c] += (pred == c).sum(), what is guessed, not what is right; (pred == y).sum() of all places, by the number of rows."""
    for loop in (x for x in find(tree, ast.For) if unparse(x.iter).startswith("range(")):
        grows = [x for x in find(loop.body, ast.AugAssign) if RIGHT.search(unparse(x.target))]
        for each in grows:
            compares = find(each.value, ast.Compare)
            if len(compares) == 1 and not re.search(r"[&*\[]", unparse(each.value)):
                sides = {unparse(compares[0].left), unparse(compares[0].comparators[0])}
                if unparse(loop.target) in sides and all(re.fullmatch(r"\w+", x) for x in sides):
                    yield each, "((pred == c) & (y == c)).sum()", unparse(each)
    for scope in find(tree, SCOPES):
        yield from masked_by_all(scope)
        yield from places_by_texts(scope)


@rule("read", "{} counts places, and is divided by {}, the number of texts")
def places_by_texts(scope: ast.AST) -> Found:
    """pred = logits.argmax(2), right += (pred == y).sum(), n += len(y)."""
    placed = {name for _, name, value in assigned(scope) if re.search(r"argmax\((dim=|axis=)?2\)$", unparse(value))}
    grown = {unparse(x.target): unparse(x.value) for x in find(scope, ast.AugAssign)}
    for node in binaries(scope, ast.Div):
        right, count = grown.get(unparse(node.left), ""), grown.get(unparse(node.right), "")
        found = re.fullmatch(r"\((\w+) == [^()]+\)\.sum\(\)(\.item\(\))?", right)
        if found and found[1] in placed and re.search(r"^len\(|\.size\(0\)$|\.shape\[0\]$", count):
            yield (
                node,
                tr("(pred == y).all(dim=1).sum(), or divide by the number of places"),
                unparse(node.left),
                unparse(node.right),
            )


@rule("read", "{} counts the places of {} alone, and is divided by all")
def masked_by_all(scope: ast.AST) -> Found:
    """right += (pred[mask] == y[mask]).sum(), and n += y.numel()."""
    grown = {unparse(x.target): x.value for x in find(scope, ast.AugAssign)}
    for node in binaries(scope, ast.Div):
        right, count = grown.get(unparse(node.left)), grown.get(unparse(node.right))
        if right is None or count is None:
            continue
        found = re.fullmatch(r"\((\w+)\[(\w+)\] == (\w+)\[\2\]\)\.sum\(\)(\.item\(\))?", unparse(right))
        if found and re.fullmatch(rf"({found[1]}|{found[3]})\.(numel\(\)|nelement\(\)|shape\.numel\(\))", unparse(count)):
            yield node, f"{unparse(node.right)} += {found[2]}.sum().item()", unparse(node.left), found[2]


RESULT = re.compile(r"(^|_)(precision|recall|tp|fp|fn|tn|acc|f1|sensitivity|specificity)\d?$", re.IGNORECASE)


@rule()
def asked_alike(tree: ast.Module) -> Found:
    """precision, recall = n / a, n / a; and a test that asks a model twice for the same."""
    for line in find(tree, ast.Assign):
        names: dict[str, str] = {}
        for target, of in stored_by(line) if len(stored_by(line)) > 1 else ():
            own, text = unparse(target), unparse(of)
            first = names.setdefault(text, own)
            if first != own and names_in(of) and RESULT.search(own):
                yield Told("read", line.lineno, tr("{} is what {} is: {}", own, first, text), OTHER)
    for scope in find(tree, ast.FunctionDef | ast.With):
        text = unparse(scope)
        if not re.search(r"no_grad|inference_mode", text[:200]) or re.search(
            r"\.(backward|train)\(\)|dropout|monte|mc_", text.replace(".train()", "", 1)
        ):
            continue
        known: dict[str, tuple[str, int]] = {}
        checks = [names_in(x) for x in find(tree, ast.Assert)]  # that both are equal
        for line in (x for x in scope.body if isinstance(x, ast.Assign) and isinstance(x.value, ast.Call) and x.value.args):
            name, value, read = unparse(line.targets[0]), unparse(line.value), names_in(line.value)
            other, since = known.setdefault(value, (name, line.lineno))
            made = called(line.value)[:1].isupper() or DRAWN.search(value)  # a thing of its own each time
            if changed(scope, read, since, line.lineno):
                known[value] = name, line.lineno
            elif other != name and len(read) > 1 and not made and not any({name, other} <= x for x in checks):
                yield Told("twice", line.lineno, tr("{} is what {} is: {}", name, other, value[:60]), OTHER)


@rule("formula", "{} puts what is least alike first")
def least_alike_first(tree: ast.Module) -> Found:
    """(queries @ answers.T).argsort(dim=1)[:, :k]: the smallest products come first."""
    given = {name: value for _, name, value in assigned(tree)}
    firsts = {unparse(x.value) for x in find(tree, ast.Subscript) if re.search(r"^\(?:, :\w+\)?$|^:, :\w+$", unparse(x.slice))}
    for _, name, value in assigned(tree):
        for node in (x for x in calls_of(value, "argsort", "sort", "topk") if isinstance(x.func, ast.Attribute)):
            of, text = asked_of(node) or node.func.value, unparse(node)
            of = of if of in node.args else given.get(unparse(of), of)
            if called(node) == "topk" and "largest=False" not in text:
                continue
            product = is_binary(of, ast.MatMult) or called(of) in ("matmul", "mm", "cosine_similarity")
            turned = "descending" in text or "[::-1]" in unparse(value) or "flip" in unparse(value)
            used = name in firsts or any(
                unparse(x).startswith(f"{name}[:, :") or unparse(x).startswith(f"{name}[:") for x in find(tree, ast.Subscript)
            )
            taken = any(name in names_in(x.slice) for x in find(tree, ast.Subscript)) or used
            if product and not turned and taken:
                yield node, "argsort(descending=True)", text[:60]


@rule("chosen", "{} is what {} is: {}")
def one_test_for_both(tree: ast.Module) -> Found:
    """valid_set = Windows(x[a:b]), test_set = Windows(x[a:b])."""
    known: dict[str, tuple[str, ast.expr]] = {}
    for line, name, value in assigned(tree):
        plain = isinstance(value, ast.Call | ast.Subscript) and not DRAWN.search(unparse(value))
        if plain and is_held(name) and re.search(r"set$|data|_x$|_ds$|df$|_loader$|rows|texts", name):
            cut = isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice)
            picked = cut or isinstance(value, ast.Call) and len(value.args) > 2
            other, first = known.setdefault(unparse(value), (name, value)) if picked else (name, value)
            if other != name and first is not value and not changed(tree, names_in(value), first.lineno, line):
                yield line, OTHER, name, other, unparse(value)[:60]


GUESSES = re.compile(r"fp\b|false_pos|pred|guess|retrieved|proposed|returned|found", re.IGNORECASE)
TRUTHS = re.compile(r"fn\b|false_neg|actual|gold|truth|relevant|support|target|label|true(?!_?pos)", re.IGNORECASE)


@rule("read", "{} is divided by {}, which the other one of precision and recall is")
def shares_changed_round(tree: ast.Module) -> Found:
    """precision = tp / (tp + fn), and recall = tp / predicted."""
    for line, name, value in assigned(tree):
        which = re.search(r"(^|_)(precision|recall)$", name)
        if not which or not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Div):
            continue
        below = unparse(value.right)
        kinds = bool(GUESSES.search(below)), bool(TRUTHS.search(below)) and "arange(" not in below
        if kinds == ((False, True) if which[2] == "precision" else (True, False)):
            right = "tp / (tp + fp)" if which[2] == "precision" else "tp / (tp + fn)"
            yield line, right, name, below


FITS = re.compile(r"vocab|tokenizer|index|lookup|scal|normal|standard|stats|stoi|word2|char2|label2|mapping|discret", re.IGNORECASE)
NETS = re.compile(r"Dataset|Loader|Model|Net|Embedding|Layer|Norm$|collate|Sampler", re.IGNORECASE)
LEARNS = re.compile(
    r"setdefault\(|Counter\(|\bset\(|enumerate\(|len\(self\.|len\(\w*(vocab|stoi|index|ids)\)|\.(mean|std|max|min)\(|sorted\("
)


@rule("prepared", "{} is made again, of {}: the test is prepared otherwise than what was learnt from")
def made_again(tree: ast.Module) -> Found:
    """Vocab(train_texts), and Vocab(test_texts): the same word has another number in the test."""
    own = {x.name: x for x in find(tree, ast.FunctionDef | ast.ClassDef)}
    calls = [(called(x), data_of(x.args[0]), x) for x in find(tree, ast.Call) if x.args and called(x) in own]
    several = [each for each in calls if FITS.search(each[0]) and not NETS.search(each[0]) and LEARNS.search(unparse(own[each[0]]))]
    for name, data, node in several:
        before = [of for other, of, x in several if other == name and TRAIN.search(of) and not is_held(of)]
        if before and says_test(data) and not TRAIN.search(data) and not names_of_both(own[name]):
            yield node, tr("make it once, of the training's data, and use it for both"), name, data


def data_of(value: ast.expr) -> str:
    """What something is made of, row by row."""
    if isinstance(value, ast.ListComp | ast.GeneratorExp | ast.SetComp):
        return data_of(value.generators[0].iter)
    return unparse(value)


def names_of_both(made: ast.AST) -> bool:
    """Whether a function that prepares data is given what was learnt of the training, too: scale(x, mean, std)."""
    args = made.args.args if isinstance(made, ast.FunctionDef) else []
    return any(re.search(r"mean|std|vocab|stoi|stats|scaler|min|max|lo$|hi$|train", x.arg) for x in args)


LOOKS_UP = re.compile(r"vocab|stoi|to_?i(d|x|dx|ndex)?s?$|2i(d|x|dx|ndex)?s?$|word|char|token", re.IGNORECASE)


@rule("setting", "{} has each word once, in any order: the text is lost")
def order_lost(tree: ast.Module) -> Found:
    """[vocab[w] for w in set(words)]: each word once, in any order."""
    for node in (x for x in find(tree, ast.ListComp) if len(x.generators) == 1):
        over, target, taken = node.generators[0].iter, unparse(node.generators[0].target), looked_up(node.elt)
        found = re.fullmatch(r"set\((.+)\)", unparse(over))
        if found and taken and taken[1] == target and LOOKS_UP.search(taken[0]) and taken[0] not in found[1]:
            yield node, f"for {target} in {found[1]}", unparse(over)


def looked_up(node: ast.expr) -> tuple[str, str] | None:
    """(table, key) of table[key], table.get(key, 0)."""
    if isinstance(node, ast.Subscript):
        return unparse(node.value), unparse(node.slice)
    if called(node) == "get" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        return unparse(node.func.value), unparse(node.args[0])
    return None


SCORED = re.compile(r"score|pred|prob|logit|out|guess|hat", re.IGNORECASE)


@rule("read", "{} compares logits with a probability")
def logits_by_half(tree: ast.Module) -> Found:
    """BCEWithLogitsLoss(), no sigmoid anywhere, and scores > 0.5."""
    text = unparse(tree)
    if not re.search(r"BCEWithLogitsLoss|binary_cross_entropy_with_logits", text) or re.search(
        r"sigmoid|softmax|exp\(|expit", text, re.IGNORECASE
    ):
        return
    for node in (x for x in find(tree, ast.Compare) if len(x.ops) == 1 and isinstance(x.ops[0], ast.Gt | ast.GtE)):
        if number(tree, node.comparators[0]) == 0.5 and SCORED.search(unparse(node.left)):
            yield node, tr("torch.sigmoid(logits) > 0.5, or logits > 0"), unparse(node)


RULES = (
    with_itself, counted_alike, one_test_for_both, asked_alike, without_the_labels, least_alike_first, shares_changed_round,
    made_again, order_lost, logits_by_half,
)  # fmt: skip
