"""Formulas whose names say what they should be: (x - std) / mean, a distance that is asked to be large, a chance turned round."""

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.idle import terms
from badak.inspect.doctor.returns import factors
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.tables import assigned, called
from badak.inspect.doctor.told import Told

MEAN = re.compile(r"(^|[._])(mean|means|mu|avg|average)\d?$|^(mean|mu)_\w+$", re.IGNORECASE)
STD = re.compile(r"(^|[._])(std|stds|sd|sigma|stdev|scale)\d?$|^(std|sd|sigma)_\w+$", re.IGNORECASE)
SPREAD = re.compile(r"(^|[._])(std|stds|sd|sigma|stdev)\d?$|^(std|sd|sigma)_\w+$", re.IGNORECASE)  # a scale may be a mean
LOG_VAR = re.compile(r"(^|[._])(log_?vars?|lv)\d?$", re.IGNORECASE)
COLD = re.compile(r"(^|[._])(temp|temperature|tau)$", re.IGNORECASE)
MIXES = re.compile(r"(^|[._])(lam|lambda_?|alpha|tau|momentum|decay|m)$")
GOOD, BAD = re.compile(r"(^|_)(pos|positive|ap|d_ap)(_|$|\d)"), re.compile(r"(^|_)(neg|negative|an|d_an)(_|$|\d)")
FAR = re.compile(r"dist|norm\(|cdist|pow\(2\)|\*\* 2|^d_|(^|_)d(_|$)")
NEAR = re.compile(r"sim|score|cos|@|matmul|einsum|logit")
CHANCE = re.compile(r"rand(range|int|om_action)\(|\.sample\(|choice\(")
ASKED = re.compile(r"(^|[._])(logits?|q_?values?|q|probs?|q_vals|policy|scores)$")


def formulas(tree: ast.Module) -> Iterator[Told]:
    """All of them, each once."""
    given: dict[str, list[ast.expr]] = {}
    for _, name, value in assigned(tree):
        given.setdefault(name, []).append(value)
    for node in walk(tree):
        for rule in RULES:
            if isinstance(node, ast.expr) and (said := rule(node, given)):
                yield Told("formula", node.lineno, *said)
                return
    yield from named_wrongly(tree)
    yield from one_share(tree)
    yield from shares_of_an_average(tree)
    yield from product_of_noise(tree)
    yield from noise_from_the_begin(tree)
    yield from one_time_for_all(tree)
    yield from asked_for_another(tree)
    yield from asked_for_its_noise(tree)
    yield from other_condition(tree)
    yield from two_temperatures(tree)
    yield from made_large(tree)
    yield from least_of_one(tree)
    yield from weighed_round(tree)
    yield from chance(tree)


def text_of(node: ast.AST) -> str:
    """A name without what only changes its shape or kind."""
    plain = re.sub(r"\[[^\[\]]*\]", "", unparse(node))
    return re.sub(r"(\.(item|detach|cpu|numpy|unsqueeze|squeeze|view|reshape|to|float)\([^()]*\))+$", "", plain)


def turned_scale(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """(x - std) / mean, and x * mean + std."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.left, ast.BinOp):
        less, by = node.left.right, node.right
        inside = isinstance(node.left.op, ast.Sub)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.left, ast.BinOp):
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
        product = any(isinstance(x, ast.BinOp) and isinstance(x.op, ast.MatMult) or called(x) in ("matmul", "bmm") for x in several)
        root = called(b) == "sqrt" or isinstance(b, ast.BinOp) and isinstance(b.op, ast.Pow) and unparse(b.right) == "0.5"
        if product and (root or COLD.search(text_of(b))):
            return tr("products are multiplied by {}, by which they should be divided", unparse(b)), f"... / {unparse(b)}"
    return None


SHARP = re.compile(r"^(log_)?softmax$|^cross_entropy$")


def warm(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """softmax(logits * temperature), of a temperature of 1 and less: what makes the choice bold makes it timid."""
    if not isinstance(node, ast.Call) or not SHARP.match(called(node)):
        return None
    of = (
        node.func.value
        if isinstance(node.func, ast.Attribute) and unparse(node.func.value) not in PLACES
        else next(iter(node.args), None)
    )
    several = [of, *given.get(unparse(of), [])] if isinstance(of, ast.Name) else [of]
    for each in (x for x in several if isinstance(x, ast.BinOp) and isinstance(x.op, ast.Mult)):
        by = next((x for x in (each.left, each.right) if COLD.search(text_of(x))), None)
        values = [x.value for x in given.get(unparse(by), []) if isinstance(x, ast.Constant)] if by is not None else []
        if by is not None and not any(isinstance(x, int | float) and x > 1 for x in values):
            return tr("{} is multiplied by {}, by which it should be divided", unparse(each), unparse(by)), f"... / {unparse(by)}"
    return None


PLACES = frozenset("torch F nn.functional torch.nn.functional functional".split())


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
    held = node.func.value if isinstance(node.func, ast.Attribute) else None
    of = held if isinstance(held, ast.BinOp) else next(iter(node.args), None)
    if not isinstance(of, ast.BinOp):
        return None
    kinds: dict[int, list[str]] = {1: [], -1: []}
    texts = []
    for sign, each in terms(of):
        names = [text_of(x) for x in walk(each) if isinstance(x, ast.Name | ast.Attribute)]
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
    parts = [x for x in node.args if isinstance(x, ast.BinOp) and isinstance(x.op, ast.Mult)]
    less = [
        x
        for x in parts
        if re.fullmatch(r"\(?\w+ - 1(\.0)?\)?", unparse(x.left)) or re.fullmatch(r"\(?\w+ - 1(\.0)?\)?", unparse(x.right))
    ]
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
    pairs = all(len(factors(each)) > 1 for _, each in every)
    if roots and pairs and sorted(noisy) == [False, True] and sorted(less) == [False, True] and noisy != less:
        return tr("{}: the noise has the share of the data", unparse(node)), "a.sqrt() * x + (1 - a).sqrt() * noise"
    return None


def least(node: ast.expr, given: dict) -> tuple[str, str] | None:
    """logits.argmin()."""
    if isinstance(node, ast.Call) and called(node) == "argmin" and isinstance(node.func, ast.Attribute):
        of = node.func.value if unparse(node.func.value) not in ("torch", "np") else (node.args or [node.func.value])[0]
        if ASKED.search(text_of(of)):
            return tr("{} is what the model holds for the least likely, or the worst", unparse(node)), f"{unparse(of)}.argmax(...)"
    return None


RULES: tuple[Callable, ...] = (turned_scale, wide, warm, divergence, against, surrogate, pinball, noised, least)


def named_wrongly(tree: ast.Module) -> Iterator[Told]:
    """mean = x.std(), and std = exp(logvar)."""
    for line, name, value in assigned(tree):
        func = called(value)
        if (
            func in ("mean", "std")
            and (SPREAD if func == "mean" else MEAN).search(name)
            and not (STD.search(name) and MEAN.search(name))
        ):
            inner = unparse(value)
            if not re.search(r"std|var|sigma|scale|- ", inner.replace(f".{func}(", "")) and "mean" not in inner.replace(
                ".mean(", ""
            ):
                yield Told(
                    "formula",
                    line,
                    tr("{} is given {}", name, inner),
                    f"{name} = {inner.replace(func, 'std' if func == 'mean' else 'mean')}",
                )
                return
        if func == "exp" and re.fullmatch(r"(std|sigma|stddev|\w+_std)", name) and isinstance(value, ast.Call):
            of = value.args[0] if value.args else value.func.value if isinstance(value.func, ast.Attribute) else None
            if of is not None and LOG_VAR.search(unparse(of)):
                yield Told(
                    "formula",
                    line,
                    tr("{} is given {}, which is the variance", name, unparse(value)),
                    f"{name} = torch.exp(0.5 * {unparse(of)})",
                )
                return


def one_share(tree: ast.Module) -> Iterator[Told]:
    """lam * a + lam * b, where the program mixes by lam and 1 - lam elsewhere."""
    text = unparse(tree)
    for node in walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and len(every := terms(node)) == 2:
            shares = [{unparse(x) for x in factors(each) if isinstance(x, ast.Name | ast.Attribute)} for _, each in every]
            both = [name for name in shares[0] & shares[1] if MIXES.search(name)]
            if both and all(len(factors(each)) > 1 for _, each in every) and re.search(rf"1(\.0)? - {re.escape(both[0])}\b", text):
                yield Told(
                    "formula", node.lineno, tr("both parts of {} have the share {}", unparse(node), both[0]), f"1 - {both[0]}"
                )
                return


AVERAGED = re.compile(r"ema|avg|average|shadow|running|smooth|moving|teacher|target", re.IGNORECASE)


def shares_of_an_average(tree: ast.Module) -> Iterator[Told]:
    """average = decay * average + decay * new; and (1 - decay) * average + decay * new, with a decay of 0.99."""
    for line, name, value in stores(tree):
        every = terms(value) if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) else []
        if len(every) != 2 or not all(sign > 0 and len(factors(each)) == 2 for sign, each in every):
            continue
        split = [sorted(factors(each), key=lambda x: unparse(x) != name and name in unparse(x)) for _, each in every]
        old = next((x for x in split if any(of(y) == of_text(name) for y in x)), None)
        if old is None:
            continue
        new = next(x for x in split if x is not old)
        keeps = next(unparse(x) for x in old if of(x) != of_text(name))
        takes = {unparse(x) for x in new}
        if keeps in takes and keeps not in ("0.5", "1 / 2"):
            yield Told("average", line, tr("both parts of {} have the share {}", unparse(value), keeps), f"1 - {keeps}")
            return
        share = re.fullmatch(r"1(?:\.0)? - ([\w.]+)", keeps)
        if share and share[1] in takes and AVERAGED.search(name) and (large := numbers(tree, share[1])) and min(large) >= 0.9:
            yield Told(
                "average", line,
                tr("{} keeps 1 - {} of what it was, and {} is {:g}: it is what came last, and no average", name, share[1], share[1],
                   min(large)),
                f"{share[1]} * {name} + (1 - {share[1]}) * ...",
            )  # fmt: skip
            return


def stores(tree: ast.Module) -> list[tuple[int, str, ast.expr]]:
    """(line, what is given something, what) of all assignments, places of dicts and lists, too."""
    every = [x for x in walk(tree) if isinstance(x, ast.Assign) and len(x.targets) == 1]
    return [(x.lineno, unparse(x.targets[0]), x.value) for x in every if not isinstance(x.targets[0], ast.Tuple)]


def of(x: ast.expr) -> str:
    return of_text(unparse(x))


def of_text(text: str) -> str:
    return re.sub(r"(\.(data|detach\(\)|clone\(\)))+$", "", text)


def numbers(tree: ast.Module, name: str) -> list[float]:
    """The numbers that a name is given anywhere in the program: as a default, by name, by its place, or plainly."""
    last = name.rpartition(".")[2]
    found: list[ast.expr] = [value for _, other, value in assigned(tree) if other.rpartition(".")[2] == last]
    places: dict[str, int] = {}
    kinds = {f: x.name for x in walk(tree) if isinstance(x, ast.ClassDef) for f in x.body if isinstance(f, ast.FunctionDef)}
    for function in (x for x in walk(tree) if isinstance(x, ast.FunctionDef)):
        args = [each.arg for each in function.args.args]
        if last in args:
            found += function.args.defaults[max(0, args.index(last) - len(args) + len(function.args.defaults)) :][:1] * (
                args.index(last) >= len(args) - len(function.args.defaults)
            )
            owner = kinds.get(function, "")
            places[owner if function.name == "__init__" else function.name] = args.index(last) - bool(owner)
    for call in (x for x in walk(tree) if isinstance(x, ast.Call)):
        found += [x.value for x in call.keywords if x.arg == last]
        found += call.args[places[called(call)] :][:1] if called(call) in places else []
    return [float(x.value) for x in found if isinstance(x, ast.Constant) and isinstance(x.value, int | float)]


def product_of_noise(tree: ast.Module) -> Iterator[Told]:
    """alphas_cumprod = cumprod(betas): what is left of the data is the product of 1 - beta."""
    for line, name, value in assigned(tree):
        text = unparse(value)
        if re.search(r"alpha", name, re.IGNORECASE) and called(value) == "cumprod" and not re.search(r"alpha|1(\.0)? - ", text):
            if re.search(r"\bbetas?\b", text):
                yield Told(
                    "formula", line, tr("{} is given {}: the shares of the noise, not those of the data", name, text),
                    text.replace("betas", "1 - betas"),
                )  # fmt: skip
                return


def noise_from_the_begin(tree: ast.Module) -> Iterator[Told]:
    """for t in range(T): x = step(model(x, t), t, x), which takes noise away from the least time on."""
    if "cumprod" not in unparse(tree):
        return
    for loop in (x for x in walk(tree) if isinstance(x, ast.For) and isinstance(x.target, ast.Name)):
        t, over = loop.target.id, loop.iter  # type: ignore[attr-defined]
        inner = over.args[0] if isinstance(over, ast.Call) and called(over) in ("tqdm", "trange") and over.args else over
        if (
            not isinstance(inner, ast.Call)
            or called(inner) != "range"
            or len(inner.args) > 1
            or ".backward(" in unparse(loop)
            or "randint" in unparse(loop)
        ):
            continue
        moved = {name for x in loop.body for _, name, value in assigned(x) if name in names(value)}
        timed = [x for line in loop.body for x in walk(line) if isinstance(x, ast.Call) and t in names(x) and moved & names(x)]
        asks = re.search(r"\b(model|net|unet|denoiser|network|self|eps_model)\(", unparse(loop))
        listed = re.search(rf"(time_?steps|seq|ts|schedule|times)\[{t}\]", unparse(loop))
        if (
            timed
            and moved
            and asks
            and not listed
            and re.search(r"rand|sqrt|step\(|p_sample|denoise", unparse(loop))
            and not re.search(rf"- {t}\b|- 1 - |flip|\[::-1\]|alphas? \*=|noise_?level|add_noise|q_sample", unparse(loop))
        ):
            yield Told(
                "formula", loop.lineno,
                tr("noise is taken away from the least time to the largest: {} begins with the most of it", min(moved)),
                f"for {t} in reversed({unparse(inner)}):",
            )  # fmt: skip
            return


def one_time_for_all(tree: ast.Module) -> Iterator[Told]:
    """t = torch.full((n,), T - 1) in the loop that trains a diffusion: one time for all rows of all batches."""
    if not re.search(r"cumprod|add_noise|q_sample", unparse(tree)):
        return
    for loop in (x for x in walk(tree) if isinstance(x, ast.For) and ".backward(" in unparse(x)):
        for line in (x for x in loop.body if isinstance(x, ast.Assign)):
            name = unparse(line.targets[0])
            same = called(line.value) in ("full", "zeros", "ones", "full_like", "zeros_like", "ones_like")
            timed = re.fullmatch(r"t|ts|timesteps?|times?|steps?", name)
            fill = line.value.args[1:2] if isinstance(line.value, ast.Call) and called(line.value).startswith("full") else []
            moving = {x.id for x in walk(loop) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
            if same and timed and not any(names(x) & moving for x in fill):
                yield Told(
                    "time", line.lineno, tr("{} is one time for all rows, in each step", name),
                    "torch.randint(0, T, (len(x),))",
                )  # fmt: skip
                return


def names(node: ast.AST) -> set[str]:
    return {x.id for x in walk(node) if isinstance(x, ast.Name)}


FORETOLD = re.compile(r"^(?:pred(?:icted)?_(\w+)|(\w+?)_(?:pred|hat|predicted))$")


def asked_for_another(tree: ast.Module) -> Iterator[Told]:
    """mse_loss(noise_pred, batch), where noise stands next to it."""
    for scope in (x for x in walk(tree) if isinstance(x, ast.FunctionDef | ast.For)):
        own = {name for _, name, _ in assigned(scope)} | {x.arg for x in walk(scope) if isinstance(x, ast.arg)}
        for node in (x for x in walk(scope) if isinstance(x, ast.Call) and len(x.args) == 2 and ASKS.search(unparse(x.func))):
            sides = [unparse(x) for x in node.args]
            found = [FORETOLD.match(x) for x in sides]
            for side, other, of_it in ((sides[0], sides[1], found[0]), (sides[1], sides[0], found[1])):
                meant = (of_it[1] or of_it[2]) if of_it else ""
                made = [unparse(value) for _, name, value in assigned(scope) if name == other]
                read = any(meant in names(value) for _, name, value in assigned(scope) if name == side)  # it was given that
                if meant in own and other != meant and not read and other.isidentifier() and not any(meant in x for x in made):
                    if not any(other in unparse(v) and "rand" not in unparse(v) for _, n, v in assigned(scope) if n == meant):
                        yield Told(
                            "formula", node.lineno, tr("{} is compared with {}, and {} stands next to it", side, other, meant),
                            unparse(node).replace(other, meant),
                        )  # fmt: skip
                        return


def asked_for_its_noise(tree: ast.Module) -> Iterator[Told]:
    """noisy = x + noise; mse(model(noisy), noisy): what the noise was added to is not asked for."""
    for scope in (x for x in walk(tree) if isinstance(x, ast.FunctionDef | ast.For)):
        own = {name: value for _, name, value in assigned(scope)}
        spoiled = {name for name, value in own.items() if re.search(r"rand\w*\(|normal\(", unparse(value)) and adds(value)}
        for node in (x for x in walk(scope) if isinstance(x, ast.Call) and len(x.args) == 2 and ASKS.search(unparse(x.func))):
            for answer, label in (node.args, node.args[::-1]):
                made = own.get(unparse(answer), answer)
                name = unparse(label)
                if name in spoiled and isinstance(made, ast.Call) and [unparse(x) for x in made.args[:1]] == [name]:
                    yield Told(
                        "formula", node.lineno,
                        tr("{} is what the model reads, noise and all, and it is asked to give the same back", name),
                        unparse(node).replace(name, tr("what the noise was added to")),
                    )  # fmt: skip
                    return


def other_condition(tree: ast.Module) -> Iterator[Told]:
    """critic(made, wanted), and critic(made.detach(), labels): one picture, and what it was not asked to be."""
    calls = [x for x in walk(tree) if isinstance(x, ast.Call) and len(x.args) == 2 and isinstance(x.args[1], ast.Name)]
    kinds = {x.name for x in walk(tree) if isinstance(x, ast.ClassDef)}
    models = {name for _, name, value in assigned(tree) if called(value) in kinds}
    calls = [x for x in calls if unparse(x.func) in models]
    plain = {(unparse(x.func), unparse(x.args[0])): unparse(x.args[1]) for x in calls}
    for call in calls:
        held = re.fullmatch(r"(\w+)\.detach\(\)", unparse(call.args[0]))
        meant = plain.get((unparse(call.func), held[1])) if held else None
        if held and meant and meant != unparse(call.args[1]):
            yield Told(
                "formula", call.lineno,
                tr("{} was asked to be {}, and is judged here as {}", held[1], meant, unparse(call.args[1])),
                unparse(call).replace(unparse(call.args[1]), meant),
            )  # fmt: skip
            return
    for loop in (x for x in walk(tree) if isinstance(x, ast.For) and isinstance(x.target, ast.Tuple) and len(x.target.elts) == 2):
        data, label = map(unparse, loop.target.elts)  # type: ignore[attr-defined]
        read = {x.id for line in loop.body for x in walk(line) if isinstance(x, ast.Name)}
        drawn = {name for line in loop.body for _, name, value in assigned(line) if re.search(r"randint\(", unparse(value))}
        for call in (x for line in loop.body for x in walk(line) if isinstance(x, ast.Call) and len(x.args) == 2):
            if label not in read and unparse(call.args[0]) == data and unparse(call.args[1]) in drawn:
                if re.search(r"label|class|cond", unparse(call.args[1])) and ".backward(" in unparse(loop):
                    yield Told(
                        "formula", call.lineno,
                        tr("{} comes with {}, which is never read, and is judged by {}, which are drawn", data, label,
                           unparse(call.args[1])),
                        unparse(call).replace(unparse(call.args[1]), label),
                    )  # fmt: skip
                    return


def two_temperatures(tree: ast.Module) -> Iterator[Told]:
    """kl_div(log_softmax(a / T), softmax(b)), or softmax(b * T): the temperature of one of both."""
    for scope in (x for x in walk(tree) if isinstance(x, ast.FunctionDef | ast.For)):
        own = {name: value for _, name, value in assigned(scope)}
        for call in (x for x in walk(scope) if isinstance(x, ast.Call) and re.search(r"kl_?div", unparse(x.func), re.IGNORECASE)):
            soft: list[Any] = [own.get(unparse(x), x) for x in call.args[:2]]
            if len(soft) < 2 or not all(called(x) in ("softmax", "log_softmax") for x in soft):
                continue
            inner = [x.args[0] if x.args else x for x in soft]
            inner = [
                x.func.value
                if isinstance(x.func, ast.Attribute) and unparse(x.func.value) not in ("F", "torch", "nn.functional")
                else y
                for x, y in zip(soft, inner)
            ]
            ways = [
                (type(x.op).__name__, unparse(x.right))
                if isinstance(x, ast.BinOp) and isinstance(x.op, ast.Div | ast.Mult)
                else ("", "")
                for x in inner
            ]
            if ways[0][0] != ways[1][0] and "Div" in (ways[0][0], ways[1][0]):
                cold = next(by for way, by in ways if way == "Div")
                wrong = next(unparse(x) for x, (way, _) in zip(inner, ways) if way != "Div")
                yield Told(
                    "formula", call.lineno,
                    tr("of two distributions that are compared one is divided by {}, and the other one is {}", cold, wrong),
                    tr("{} / {} in both", "logits", cold),
                )  # fmt: skip
                return


def adds(value: ast.expr) -> bool:
    """Whether noise is added to something with a name."""
    every = terms(value) if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) else []
    return len(every) == 2 and any(isinstance(each, ast.Name) for _, each in every)


ASKS = re.compile(r"loss|mse|criterion|l1|huber|loss_fn", re.IGNORECASE)


def chance(tree: ast.Module) -> Iterator[Told]:
    """if random() > epsilon: a random action."""
    for node, behind in branches(tree):
        test = node.test
        if (
            not isinstance(test, ast.Compare)
            or len(test.ops) != 1
            or not isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        ):
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
            yield Told(
                "formula", node.lineno,
                tr("{} acts by chance where it should act by what it learnt, and the other way round", unparse(test)),
                tr("if random.random() < epsilon: a random action"),
            )  # fmt: skip
            return


def branches(tree: ast.Module) -> Iterator[tuple[ast.If | ast.IfExp, list[ast.stmt]]]:
    """All ifs; and, of one whose block ends in return, the lines behind it, which are its else."""
    behind: dict[int, list[ast.stmt]] = {
        id(line): block[i + 1 :]  # type: ignore[index]
        for node in walk(tree)
        for block in (getattr(node, "body", None), getattr(node, "orelse", None))
        for i, line in enumerate(block if isinstance(block, list) else ())
        if isinstance(line, ast.If) and isinstance(ends_with(line.body), ast.Return)
    }
    yield from ((node, behind.get(id(node), [])) for node in walk(tree) if isinstance(node, ast.If | ast.IfExp))


def ends_with(block: list[ast.stmt]) -> ast.stmt:
    """The last line of a block, within a with at its end."""
    return ends_with(block[-1].body) if isinstance(block[-1], ast.With) else block[-1]


OVERLAP = re.compile(r"(^|_)(focal_?)?(dice|iou|jaccard|tversky)_?loss|loss_?(dice|iou|jaccard|tversky)", re.IGNORECASE)


def made_large(tree: ast.Module) -> Iterator[Told]:
    """dice_loss() that gives the share of what overlaps, 1 where all is right: the loss makes it small."""
    kinds = [x for x in walk(tree) if isinstance(x, ast.ClassDef) and OVERLAP.search(x.name)]
    own = {y: x.name for x in kinds for y in x.body if isinstance(y, ast.FunctionDef) and y.name == "forward"}
    own |= {x: x.name for x in walk(tree) if isinstance(x, ast.FunctionDef) and OVERLAP.search(x.name)}
    for function, name in own.items():
        ends = [x for x in walk(function) if isinstance(x, ast.Return) and x.value is not None]
        text = unparse(function)
        if ends and "/" in text and not re.search(r"\b1(\.0?)? ?- |-\w|- ?\(|= -|return -|log\(|rsub|\bneg", text):
            yield Told(
                "formula", ends[-1].lineno,
                tr("{}() gives how much overlaps, which is 1 where all is right: as a loss it is made small", name),
                f"return 1 - {unparse(ends[-1].value)}",  # type: ignore[arg-type]
            )  # fmt: skip
            return


def least_of_one(tree: ast.Module) -> Iterator[Told]:
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
            yield Told(
                "formula", node.lineno,
                tr("{} is what the model holds for the least likely, or the worst", unparse(node)),
                unparse(node).replace("argmin", "argmax"),
            )  # fmt: skip
            return


ONES = re.compile(r"== 1(\.0)?\)?|(^|[._])(n_?pos|num_pos\w*|positives?|pos_count|pos)(_|\b)")
ZEROS = re.compile(r"== 0(\.0)?\)?|(^|[._])(n_?neg|num_neg\w*|negatives?|neg_count|neg)(_|\b)")


def weighed_round(tree: ast.Module) -> Iterator[Told]:
    """pos_weight = ones / zeros, which makes what is rare count for less."""
    values = [(line, value) for line, name, value in assigned(tree) if name.endswith("pos_weight")]
    values += [(x.value.lineno, x.value) for x in walk(tree) if isinstance(x, ast.keyword) and x.arg == "pos_weight"]
    for line, value in values:
        for node in (x for x in walk(value) if isinstance(x, ast.BinOp) and isinstance(x.op, ast.Div)):
            a, b = unparse(node.left), unparse(node.right)
            if ONES.search(a) and ZEROS.search(b) and not ZEROS.search(a) and not ONES.search(b):
                yield Told(
                    "favoured", line,
                    tr("pos_weight is {}, the ones by the zeros: it makes larger what is frequent", unparse(node)),
                    f"{b} / {a}",
                )  # fmt: skip
                return
