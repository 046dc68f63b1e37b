"""Formulas whose names say what they should be: (x - std) / mean, a distance that is asked to be large, a chance turned round."""

import ast
import re
from collections.abc import Callable, Iterator

from badak.core.errors import tr
from badak.inspect.doctor import noise, shares
from badak.inspect.doctor.idle import terms
from badak.inspect.doctor.returns import factors
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import asked_of, assigned, binaries, called, find, holder_of, is_binary, is_ordered, values_of
from badak.inspect.doctor.told import Found, Told, rule

MEAN = re.compile(r"(^|[._])(mean|means|mu|avg|average)\d?$|^(mean|mu)_\w+$", re.IGNORECASE)
STD = re.compile(r"(^|[._])(std|stds|sd|sigma|stdev|scale)\d?$|^(std|sd|sigma)_\w+$", re.IGNORECASE)
SPREAD = re.compile(r"(^|[._])(std|stds|sd|sigma|stdev)\d?$|^(std|sd|sigma)_\w+$", re.IGNORECASE)  # a scale may be a mean
LOG_VAR = re.compile(r"(^|[._])(log_?vars?|lv)\d?$", re.IGNORECASE)
COLD = re.compile(r"(^|[._])(temp|temperature|tau)$", re.IGNORECASE)
GOOD, BAD = re.compile(r"(^|_)(pos|positive|ap|d_ap|dp|d_p)(_|$|\d)"), re.compile(r"(^|_)(neg|negative|an|d_an|dn|d_n)(_|$|\d)")
FAR = re.compile(r"dist|norm\(|cdist|pow\(2\)|\*\* 2|^d_|(^|_)d(_|$)")
NEAR = re.compile(r"sim|score|cos|@|matmul|einsum|logit")
DISTANCES = re.compile(r"(^|_)d(ist(ance)?s?)?$")
CHANCE = re.compile(r"rand(range|int|om_action)\(|\.sample\(|choice\(")
ASKED = re.compile(r"(^|[._])(logits?|q_?values?|q|probs?|q_vals|policy|scores)$")


def formulas(tree: ast.Module) -> Iterator[Told]:
    """A formula in one line; where there is none, all others."""
    found = [*in_one_line(tree)]
    yield from found or (told for each in OTHERS for told in each(tree))


@rule("formula")
def in_one_line(tree: ast.Module) -> Found:
    """What is wrong with a formula by itself."""
    given = values_of(tree)
    for node in walk(tree):
        for each in LINES if isinstance(node, ast.expr) else ():
            if said := each(node, given):
                yield node, said[1], said[0]


def text_of(node: ast.AST) -> str:
    """A name without what only changes its shape or kind."""
    plain = re.sub(r"\[[^\[\]]*\]", "", unparse(node))
    return re.sub(r"(\.(item|detach|cpu|numpy|unsqueeze|squeeze|view|reshape|to|float)\([^()]*\))+$", "", plain)


def turned_scale(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """(x - std) / mean, and x * mean + std; (x - mean) // std."""
    if is_binary(node, ast.FloorDiv) and is_binary(node.left, ast.Sub) and SPREAD.search(text_of(node.right)):
        return tr("{} rounds each number down to a whole one", unparse(node)), "(x - mean) / std"
    if is_binary(node, ast.Div) and isinstance(node.left, ast.BinOp):
        less, by = node.left.right, node.right
        inside = isinstance(node.left.op, ast.Sub)
    elif is_binary(node, ast.Add) and isinstance(node.left, ast.BinOp):
        less, by = node.right, node.left.right
        inside = isinstance(node.left.op, ast.Mult)
    else:
        return None
    if inside and STD.search(text_of(less)) and MEAN.search(text_of(by)):
        return tr("{}: the mean and the spread stand in each other's place", unparse(node)), "(x - mean) / std"
    return None


def wide(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """q @ k * sqrt(d), and a @ b * temperature."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    for a, b in ((node.left, node.right), (node.right, node.left)):
        several = [a, *given.get(unparse(a), [])] if isinstance(a, ast.Name) else [a]
        product = any(is_binary(x, ast.MatMult) or called(x) in ("matmul", "bmm") for x in several)
        root = called(b) == "sqrt" or is_binary(b, ast.Pow) and unparse(b.right) == "0.5"
        if product and (root or COLD.search(text_of(b))):
            return tr("products are multiplied by {}, by which they should be divided", unparse(b)), f"... / {unparse(b)}"
    return None


SHARP = re.compile(r"^(log_)?softmax$|^cross_entropy$")


def warm(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """softmax(logits * temperature), of a temperature of 1 and less: what makes the choice bold makes it timid."""
    if not isinstance(node, ast.Call) or not SHARP.match(called(node)):
        return None
    of = asked_of(node)
    several = [of, *given.get(unparse(of), [])] if isinstance(of, ast.Name) else [of]
    for each in (x for x in several if is_binary(x, ast.Mult)):
        by = next((x for x in (each.left, each.right) if COLD.search(text_of(x))), None)
        values = [x.value for x in given.get(unparse(by), []) if isinstance(x, ast.Constant)] if by is not None else []
        large = any(isinstance(x, int | float) and x > 1 for x in values) or any(
            called(x) == "exp" for x in (given.get(unparse(by), []) if by is not None else [])
        )
        if by is not None and not large:  # of a logarithm that is learnt, exp() is 1 / temperature
            return tr("{} is multiplied by {}, by which it should be divided", unparse(each), unparse(by)), f"... / {unparse(by)}"
    return None


def divergence(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """1 + logvar - mu ** 2 - exp(logvar), with one sign turned round."""
    if not isinstance(node, ast.BinOp) or len(every := terms(node)) != 4:
        return None
    signs: dict[str, int] = {}
    for sign, each in every:
        text = text_of(each)
        if text in ("1", "1.0"):
            signs["one"] = sign
        elif LOG_VAR.search(text):
            signs["log"] = sign
        elif re.search(r"\.exp\(\)$|^(torch\.)?exp\(", unparse(each)):
            signs["exp"] = -sign
        elif re.search(r"\*\* 2$|\.pow\(2\)$|\.square\(\)$|square\(", unparse(each)):
            signs["square"] = -sign
    if len(signs) == 4 and len(set(signs.values())) > 1:
        return tr("{} is no divergence of a normal distribution: one of its signs is wrong", unparse(node)), (
            "-0.5 * (1 + logvar - mu.pow(2) - logvar.exp())"
        )
    return None


def against(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """relu(d_neg - d_pos + margin) of distances, relu(pos - neg + margin) of similarities, logsigmoid(neg - pos)."""
    if not isinstance(node, ast.Call) or called(node) not in ("relu", "clamp", "logsigmoid", "softplus"):
        return None
    held = holder_of(node)
    of = held if isinstance(held, ast.BinOp) else next(iter(node.args), None)
    if not isinstance(of, ast.BinOp):
        return None
    kinds: dict[int, list[str]] = {1: [], -1: []}
    texts = []
    for sign, each in terms(of):
        names = [text_of(x) for x in find(each, ast.Name | ast.Attribute)]
        kinds[sign] += [kind for name in names for kind, rule in (("good", GOOD), ("bad", BAD)) if rule.search(name)]
        texts += [unparse(each), *(unparse(value) for name in names for value in given.get(name, []))]
    if {*kinds[1]} | {*kinds[-1]} != {"good", "bad"} or len({*kinds[1]}) != 1 or len({*kinds[-1]}) != 1:
        return None
    far, near = any(FAR.search(x) for x in texts), any(NEAR.search(x) for x in texts)
    larger = kinds[1][0]  # is made smaller by the loss; by logsigmoid, which has a minus before it, larger
    if called(node) == "logsigmoid":
        wrong = larger == "bad"
    else:
        wrong = far != near and larger == ("bad" if far else "good")
    if wrong:
        return tr("{} brings near what belongs apart: the positive and the negative stand in each other's place", unparse(node)), (
            tr("turn both round")
        )
    return None


def surrogate(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """max of the two objectives of PPO, or min of the two losses."""
    if not isinstance(node, ast.Call) or called(node) not in ("min", "max", "minimum", "maximum") or len(node.args) != 2:
        return None
    values = [given.get(unparse(x), [x])[-1] for x in node.args]
    if not all("ratio" in unparse(x) for x in values) or not any("clamp" in unparse(x) or "clip" in unparse(x) for x in values):
        return None
    losses = all(unparse(x).startswith("-") for x in values)
    if called(node).startswith("min") == losses:
        right = "torch.max" if losses else "torch.min"
        return tr("{} takes the better of both, and lets the policy go as far as it likes", unparse(node)), f"{right}(...)"
    return None


def pinball(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """min(q * e, (q - 1) * e): the smaller of both errors of a quantile."""
    if called(node) not in ("min", "minimum") or not isinstance(node, ast.Call) or len(node.args) != 2:
        return None
    parts = [x for x in node.args if is_binary(x, ast.Mult)]
    less = [x for x in parts if any(re.fullmatch(r"\(?\w+ - 1(\.0)?\)?", unparse(y)) for y in (x.left, x.right))]
    if len(parts) == 2 and len(less) == 1:
        return tr(
            "{} is the smaller of both errors of a quantile, which is never above 0", unparse(node)
        ), "torch.max(q * e, (q - 1) * e)"
    return None


def noised(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """sqrt(1 - a) * x + sqrt(a) * noise."""
    if not isinstance(node, ast.BinOp) or len(every := terms(node)) != 2 or not all(sign > 0 for sign, _ in every):
        return None
    rest = re.compile(r"1(\.0)? - |one_minus|om_|1m")
    parts = [[unparse(value) for x in factors(each) for value in (x, *given.get(text_of(x), []))] for _, each in every]
    noisy = [any(re.fullmatch(r"noise|eps|epsilon|z|torch\.randn_like\(.*\)", x) for x in part) for part in parts]
    less = [any(rest.search(x) for x in part) for part in parts]
    roots = all("sqrt" in " ".join(part) or "** 0.5" in " ".join(part) for part in parts)
    roots &= not any(isinstance(x, ast.BinOp) and isinstance(x.op, ast.Sub | ast.Add) for _, each in every for x in factors(each))
    pairs = all(len(factors(each)) > 1 for _, each in every)
    text = unparse(node)
    if re.search(r"\bbetas?\b|beta_t", text) and "alpha" not in text:  # the share of the noise of one step, 1 - alpha
        less = less[::-1]
    if roots and pairs and sorted(noisy) == [False, True] and sorted(less) == [False, True] and noisy != less:
        return tr("{}: the noise has the share of the data", unparse(node)), "a.sqrt() * x + (1 - a).sqrt() * noise"
    return None


def least(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """logits.argmin()."""
    if isinstance(node, ast.Call) and called(node) == "argmin" and isinstance(node.func, ast.Attribute):
        of = asked_of(node) or node.func.value
        if ASKED.search(text_of(of)):
            return tr("{} is what the model holds for the least likely, or the worst", unparse(node)), f"{unparse(of)}.argmax(...)"
    if isinstance(node, ast.Call) and called(node) == "argmax" and isinstance(node.func, ast.Attribute):
        of = asked_of(node) or node.func.value
        values = given.get(unparse(of), []) if DISTANCES.search(unparse(of)) else []
        if values and all(re.search(r"cdist\(|pow\(2\)|\*\* ?2|norm\(", unparse(x)) and "exp(" not in unparse(x) for x in values):
            if not re.search(r"where|mask|min|^-|\(-", " ".join(map(unparse, values))):
                return tr(
                    "{} is what is farthest away, where {} are distances", unparse(node), unparse(of)
                ), f"{unparse(of)}.argmin(...)"
    return None


def twice_soft(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """softmax(softmax(logits)): the second makes of the shares of the first nearly equal ones."""
    if called(node) not in ("softmax", "log_softmax") or not isinstance(node, ast.Call):
        return None
    of = asked_of(node)
    several = given.get(unparse(of), []) if isinstance(of, ast.Name) else [of]
    if several and all(called(x) == "softmax" and x is not node for x in several):
        return tr("{} is a softmax of what a softmax gave: it makes all shares nearly equal", unparse(node)), unparse(of)
    return None


SAME = re.compile(r"(^|_)(same|similar|match(es)?|is_same|positive)(_|$)")


def contrast(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """same * relu(margin - d) ** 2 + (1 - same) * d ** 2, or relu(d - margin) for those that differ."""
    every = terms(node) if is_binary(node, ast.Add) else []
    if len(every) != 2 or any(sign < 0 or len(factors(each)) < 2 for sign, each in every):
        return None
    texts = [[unparse(x) for x in factors(each)] for _, each in every]
    name = next((x for part in texts for x in part if SAME.search(x) and any(f"1 - {x}" in y for y in (*texts[0], *texts[1]))), "")
    apart = next((part for part in texts if any(re.match(r"1(\.0)? - ", x) for x in part)), [])
    together = next((part for part in texts if name in part), [])
    hinges = [re.search(r"(relu|clamp)\(([^()]+)", " ".join(part)) for part in (together, apart)]
    if not name or not apart or apart is together:
        return None
    turned = hinges[0] is not None and hinges[1] is None
    wrong = hinges[1] is not None and re.match(r"[\w.]+ - (self\.)?\w*margin", hinges[1][2])
    if turned or wrong:
        return tr("{} drives apart what is the same, or brings near what is not", unparse(node)), (
            "same * d ** 2 + (1 - same) * relu(margin - d) ** 2"
        )
    return None


LINES: tuple[Callable, ...] = (
    turned_scale,
    wide,
    warm,
    twice_soft,
    contrast,
    divergence,
    against,
    surrogate,
    pinball,
    noised,
    least,
)


@rule("formula")
def named_wrongly(tree: ast.Module) -> Found:
    """mean = x.std(), and std = exp(logvar)."""
    for line, name, value in assigned(tree):
        func = called(value)
        other = {"mean": SPREAD, "std": MEAN}.get(func)
        if other is not None and other.search(name) and not (STD.search(name) and MEAN.search(name)):
            inner = unparse(value)
            spread = re.search(r"std|var|sigma|scale|- ", inner.replace(f".{func}(", ""))
            if not spread and "mean" not in inner.replace(".mean(", ""):
                yield (
                    line,
                    f"{name} = {inner.replace(func, 'std' if func == 'mean' else 'mean')}",
                    tr("{} is given {}", name, inner),
                )
        if func == "exp" and re.fullmatch(r"(std|sigma|stddev|\w+_std)", name) and isinstance(value, ast.Call):
            of = value.args[0] if value.args else holder_of(value)
            if of is not None and LOG_VAR.search(unparse(of)):
                yield (
                    line,
                    f"{name} = torch.exp(0.5 * {unparse(of)})",
                    tr("{} is given {}, which is the variance", name, unparse(value)),
                )


@rule("formula", "{} acts by chance where it should act by what it learnt, and the other way round")
def chance(tree: ast.Module) -> Found:
    """if random() > epsilon: a random action."""
    for node, behind in branches(tree):
        test = node.test
        if not is_ordered(test):
            continue
        left, right = unparse(test.left), unparse(test.comparators[0])
        drawn = re.compile(r"rand(om)?\(|uniform\(")
        if bool(drawn.search(left)) == bool(drawn.search(right)) or not re.search(r"eps", left + right, re.IGNORECASE):
            continue
        below = isinstance(test.ops[0], ast.Lt | ast.LtE) == bool(drawn.search(left))  # chance is below epsilon
        values = [x for _, name, x in assigned(tree) if name == (right if drawn.search(left) else left)]
        if below and values and all(isinstance(x, ast.Constant) and isinstance(x.value, float) and x.value > 0.5 for x in values):
            continue  # the share of what was learnt
        body = " ".join(map(unparse, node.body)) if isinstance(node, ast.If) else unparse(node.body)
        other = " ".join(map(unparse, node.orelse or behind)) if isinstance(node, ast.If) else unparse(node.orelse)
        greedy = re.compile(r"argmax|max\(")
        if (CHANCE.search(other) and greedy.search(body)) if below else (CHANCE.search(body) and greedy.search(other or "argmax")):
            yield node, tr("if random.random() < epsilon: a random action"), unparse(test)


def branches(tree: ast.Module) -> Iterator[tuple[ast.If | ast.IfExp, list[ast.stmt]]]:
    """All ifs; and, of one whose block ends in return, the lines behind it, which are its else."""
    behind: dict[int, list[ast.stmt]] = {
        id(line): block[i + 1 :]  # type: ignore[index]
        for node in walk(tree)
        for block in (getattr(node, "body", None), getattr(node, "orelse", None))
        for i, line in enumerate(block if isinstance(block, list) else ())
        if isinstance(line, ast.If) and isinstance(ends_with(line.body), ast.Return)
    }
    yield from ((node, behind.get(id(node), [])) for node in find(tree, ast.If | ast.IfExp))


def ends_with(block: list[ast.stmt]) -> ast.stmt:
    """The last line of a block, within a with at its end."""
    return ends_with(block[-1].body) if isinstance(block[-1], ast.With) else block[-1]


OVERLAP = re.compile(r"(^|_)(focal_?)?(dice|iou|jaccard|tversky)_?loss|loss_?(dice|iou|jaccard|tversky)", re.IGNORECASE)


@rule("formula", "{}() gives how much overlaps, which is 1 where all is right: as a loss it is made small")
def made_large(tree: ast.Module) -> Found:
    """dice_loss() that gives the share of what overlaps, 1 where all is right: the loss makes it small."""
    kinds = [x for x in find(tree, ast.ClassDef) if OVERLAP.search(x.name)]
    own = {y: x.name for x in kinds for y in x.body if isinstance(y, ast.FunctionDef) and y.name == "forward"}
    own |= {x: x.name for x in find(tree, ast.FunctionDef) if OVERLAP.search(x.name)}
    for function, name in own.items():
        ends = [x for x in find(function, ast.Return) if x.value is not None]
        text = unparse(function)
        if ends and "/" in text and not re.search(r"\b1(\.0?)? ?- |-\w|- ?\(|= -|return -|log\(|rsub|\bneg", text):
            yield ends[-1].lineno, f"return 1 - {unparse(ends[-1].value)}", name


@rule("formula", "{} is what the model holds for the least likely, or the worst")
def least_of_one(tree: ast.Module) -> Found:
    """step.argmin(1) of what self.decoder(...) gave, where the program takes the argmax of that elsewhere."""
    made: dict[str, set[str]] = {}
    for _, name, value in assigned(tree):
        if isinstance(value, ast.Call) and not re.match(r"(torch|np|F|numpy)\.", unparse(value.func)):
            made.setdefault(name, set()).add(unparse(value.func))
    of: dict[str, list[ast.Call]] = {"argmax": [], "argmin": []}
    for node in walk(tree):
        if isinstance(node, ast.Call) and called(node) in of and isinstance(node.func, ast.Attribute):
            of[called(node)].append(node)
    largest = {maker for x in of["argmax"] for maker in made.get(text_of(x.func.value), ())}  # type: ignore[attr-defined]
    for node in of["argmin"]:
        own = made.get(text_of(node.func.value), set()) & largest  # type: ignore[attr-defined]
        if own:
            yield node, unparse(node).replace("argmin", "argmax"), unparse(node)


ONES = re.compile(r"== 1(\.0)?\)?|(^|[._])(n_?pos|num_pos\w*|positives?|pos_count|pos)(_|\b)")
ZEROS = re.compile(r"== 0(\.0)?\)?|(^|[._])(n_?neg|num_neg\w*|negatives?|neg_count|neg)(_|\b)")


@rule("favoured", "pos_weight is {}, the ones by the zeros: it makes larger what is frequent")
def weighed_round(tree: ast.Module) -> Found:
    """pos_weight = ones / zeros, which makes what is rare count for less."""
    values = [(line, value) for line, name, value in assigned(tree) if name.endswith("pos_weight")]
    values += [(x.value.lineno, x.value) for x in find(tree, ast.keyword) if x.arg == "pos_weight"]
    for line, value in values:
        for node in binaries(value, ast.Div):
            a, b = unparse(node.left), unparse(node.right)
            if ONES.search(a) and ZEROS.search(b) and not ZEROS.search(a) and not ONES.search(b):
                yield line, f"{b} / {a}", unparse(node)


OTHERS = (named_wrongly, *shares.RULES, *noise.RULES, made_large, least_of_one, weighed_round, chance)
