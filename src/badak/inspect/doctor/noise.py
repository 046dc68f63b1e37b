"""What the text of a program does with noise: a diffusion, what is made of it, and answers at a temperature."""

import ast
import re
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.idle import terms
from badak.inspect.doctor.returns import factors
from badak.inspect.doctor.source import unparse
from badak.inspect.doctor.syntax import (
    asked_of,
    assigned,
    called,
    find,
    is_binary,
    named_in,
    names_in,
    stored_in,
    trainings,
    values_of,
)
from badak.inspect.doctor.told import Found, rule


@rule("formula", "{} is given {}: the shares of the noise, not those of the data")
def product_of_noise(tree: ast.Module) -> Found:
    """alphas_cumprod = cumprod(betas): what is left of the data is the product of 1 - beta."""
    for line, name, value in assigned(tree):
        text = unparse(value)
        if re.search(r"alpha", name, re.IGNORECASE) and called(value) == "cumprod" and not re.search(r"alpha|1(\.0)? - ", text):
            if re.search(r"\bbetas?\b", text):
                yield line, text.replace("betas", "1 - betas"), name, text


@rule("formula", "noise is taken away from the least time to the largest: {} begins with the most of it")
def noise_from_the_begin(tree: ast.Module) -> Found:
    """for t in range(T): x = step(model(x, t), t, x), which takes noise away from the least time on."""
    if "cumprod" not in unparse(tree):
        return
    for loop in (x for x in find(tree, ast.For) if isinstance(x.target, ast.Name)):
        t, over = loop.target.id, loop.iter
        inner: Any = over.args[0] if called(over) in ("tqdm", "trange") and over.args else over
        if called(inner) != "range" or len(inner.args) > 1 or ".backward(" in unparse(loop) or "randint" in unparse(loop):
            continue
        moved = {name for x in loop.body for _, name, value in assigned(x) if name in named_in(value)}
        at = {t} | {name for x in loop.body for _, name, value in assigned(x) if t in named_in(value)} - moved
        timed = [x for x in find(loop.body, ast.Call) if at & named_in(x) and moved & named_in(x)]
        asks = re.search(r"\b(model|net|unet|denoiser|network|self|eps_model)\(", unparse(loop))
        cleans = re.search(r"rand|sqrt|step\(|p_sample|denoise", unparse(loop))
        listed = re.search(rf"(time_?steps|seq|ts|schedule|times)\[{t}\]", unparse(loop))
        turned = re.search(rf"- {t}\b|- 1 - |flip|\[::-1\]|alphas? \*=|noise_?level|add_noise|q_sample", unparse(loop))
        if timed and moved and asks and cleans and not listed and not turned:
            yield loop, f"for {t} in reversed({unparse(inner)}):", min(moved)


@rule("time", "{} is one time for all rows, in each step")
def one_time_for_all(tree: ast.Module) -> Found:
    """t = torch.full((n,), T - 1) in the loop that trains a diffusion: one time for all rows of all batches."""
    if not re.search(r"cumprod|add_noise|q_sample", unparse(tree)):
        return
    for loop in trainings(tree):
        for line in (x for x in loop.body if isinstance(x, ast.Assign)):
            name = unparse(line.targets[0])
            same = called(line.value) in ("full", "zeros", "ones", "full_like", "zeros_like", "ones_like")
            timed = re.fullmatch(r"t|ts|timesteps?|times?|steps?", name)
            fill = line.value.args[1:2] if isinstance(line.value, ast.Call) and called(line.value).startswith("full") else []
            moving = stored_in(loop)
            if same and timed and not any(named_in(x) & moving for x in fill):
                yield line, "torch.randint(0, T, (len(x),))", name


FORETOLD = re.compile(r"^(?:pred(?:icted)?_(\w+)|(\w+?)_(?:pred|hat|predicted))$")


@rule("formula", "{} is compared with {}, and {} stands next to it")
def asked_for_another(tree: ast.Module) -> Found:
    """mse_loss(noise_pred, batch), where noise stands next to it."""
    for scope in find(tree, ast.FunctionDef | ast.For):
        values, args = values_of(scope), {x.arg for x in find(scope, ast.arg)}
        texts = {name: [*map(unparse, each)] for name, each in values.items()}
        for node in (x for x in find(scope, ast.Call) if len(x.args) == 2 and ASKS.search(unparse(x.func))):
            sides = [unparse(x) for x in node.args]
            for side, other in (sides, sides[::-1]):
                meant = foretold(side)
                known = meant in args or any(line <= node.lineno and name == meant for line, name, _ in assigned(scope))
                if not known or other == meant or not other.isidentifier() or is_model(meant, tree):
                    continue
                given = any(meant in named_in(value) for value in values.get(side, []))  # it was made of that
                alike = any(meant in x for x in texts.get(other, []))
                alike |= any(other in x and "rand" not in x for x in texts.get(meant, []))
                if not given and not alike:
                    yield node, unparse(node).replace(other, meant), side, other, meant


def foretold(name: str) -> str:
    """noise of noise_pred, and of predicted_noise."""
    found = FORETOLD.match(name)
    return (found[1] or found[2]) if found else ""


def is_model(name: str, tree: ast.Module) -> bool:
    """Whether something of this name is called, or trained."""
    return bool(re.search(rf"(?<![\w.]){name}(\.(train|eval|parameters|state_dict|to))?\(", unparse(tree)))


@rule("formula", "{} is what the model reads, noise and all, and it is asked to give the same back")
def asked_for_its_noise(tree: ast.Module) -> Found:
    """noisy = x + noise; mse(model(noisy), noisy): what the noise was added to is not asked for."""
    for scope in find(tree, ast.FunctionDef | ast.For):
        own = {name: value for _, name, value in assigned(scope)}
        drawn = {name for name, value in own.items() if called(value) in ("randn", "randn_like", "normal")}
        noisy = re.compile("|".join([r"rand\w*\(|normal\(", *(rf"\b{name}\b" for name in drawn)]))
        spoiled = {name for name, value in own.items() if noisy.search(unparse(value)) and adds(value)}
        for node in (x for x in find(scope, ast.Call) if len(x.args) == 2 and ASKS.search(unparse(x.func))):
            for answer, label in (node.args, node.args[::-1]):
                made = own.get(unparse(answer), answer)
                name = unparse(label)
                if name in spoiled and isinstance(made, ast.Call) and [unparse(x) for x in made.args[:1]] == [name]:
                    yield node, unparse(node).replace(name, tr("what the noise was added to")), name


@rule("formula")
def other_condition(tree: ast.Module) -> Found:
    """critic(made, wanted), and critic(made.detach(), labels): one picture, and what it was not asked to be."""
    calls = [x for x in find(tree, ast.Call) if len(x.args) == 2 and isinstance(x.args[1], ast.Name)]
    kinds = {x.name for x in find(tree, ast.ClassDef)}
    models = {name for _, name, value in assigned(tree) if called(value) in kinds}
    calls = [x for x in calls if unparse(x.func) in models]
    plain = {(unparse(x.func), unparse(x.args[0])): unparse(x.args[1]) for x in calls}
    for call in calls:
        held = re.fullmatch(r"(\w+)\.detach\(\)", unparse(call.args[0]))
        meant = plain.get((unparse(call.func), held[1])) if held else None
        if held and meant and meant != unparse(call.args[1]):
            yield (
                call,
                unparse(call).replace(unparse(call.args[1]), meant),
                tr("{} was asked to be {}, and is judged here as {}", held[1], meant, unparse(call.args[1])),
            )
    for loop in (x for x in find(tree, ast.For) if isinstance(x.target, ast.Tuple) and len(x.target.elts) == 2):
        data, label = map(unparse, loop.target.elts)
        read = named_in(loop.body)
        drawn = {name for line in loop.body for _, name, value in assigned(line) if re.search(r"randint\(", unparse(value))}
        for call in (x for x in find(loop.body, ast.Call) if len(x.args) == 2):
            if label not in read and unparse(call.args[0]) == data and unparse(call.args[1]) in drawn:
                if re.search(r"label|class|cond", unparse(call.args[1])) and ".backward(" in unparse(loop):
                    yield (
                        call,
                        unparse(call).replace(unparse(call.args[1]), label),
                        tr(
                            "{} comes with {}, which is never read, and is judged by {}, which are drawn",
                            data,
                            label,
                            unparse(call.args[1]),
                        ),
                    )


@rule("formula", "of two distributions that are compared one is divided by {}, and the other one is {}")
def two_temperatures(tree: ast.Module) -> Found:
    """kl_div(log_softmax(a / T), softmax(b)), or softmax(b * T): the temperature of one of both."""
    for scope in find(tree, ast.FunctionDef | ast.For):
        own = {name: value for _, name, value in assigned(scope)}
        for call in (x for x in find(scope, ast.Call) if re.search(r"kl_?div", unparse(x.func), re.IGNORECASE)):
            soft: list[Any] = [own.get(unparse(x), x) for x in call.args[:2]]
            if len(soft) < 2 or not all(called(x) in ("softmax", "log_softmax") for x in soft):
                continue
            inner = [asked_of(x) or x for x in soft]
            ways = [(type(x.op).__name__, unparse(x.right)) if is_binary(x, ast.Div | ast.Mult) else ("", "") for x in inner]
            if ways[0][0] != ways[1][0] and "Div" in (ways[0][0], ways[1][0]):
                cold = next(by for way, by in ways if way == "Div")
                wrong = next(unparse(x) for x, (way, _) in zip(inner, ways) if way != "Div")
                yield call, tr("{} / {} in both", "logits", cold), cold, wrong


def adds(value: ast.expr) -> bool:
    """Whether noise is added to something with a name, or to its share."""
    every = terms(value) if is_binary(value, ast.Add) else []
    return len(every) == 2 and any(isinstance(x, ast.Name) for _, each in every for x in factors(each))


@rule("formula")
def other_shares(tree: ast.Module) -> Found:
    """a * x + (1 - a) * noise, or the roots of alphas[t], where a product of the alphas says what is left of the data."""
    made = values_of(tree)
    products = {name: unparse(value.args[0]) for _, name, value in assigned(tree) if called(value) == "cumprod" and value.args}  # type: ignore[attr-defined]
    singles = {text for text in products.values() if text.isidentifier()}

    def behind(node: ast.expr) -> str:
        texts = [unparse(node)]
        for _ in range(2):
            texts += [
                unparse(v)
                for text in texts
                for name in re.findall(r"[A-Za-z_]\w*", text)
                for v in made.get(name, [])[:2]
                if unparse(v) not in texts
            ]
        return " ".join(texts)

    for _, name, value in assigned(tree) if products else ():
        every = terms(value) if is_binary(value, ast.Add) else []
        drawn = [
            any(called(v) in ("randn", "randn_like") for x in factors(each) for v in (x, *made.get(unparse(x), [])))
            for _, each in every
        ]
        if sorted(drawn) != [False, True] or name in named_in(value) or not all(len(factors(each)) > 1 for _, each in every):
            continue
        shares = [[x for x in factors(each) if names_in(x)] for _, each in every]
        said = behind(value)
        whole = any(re.search(rf"\b{re.escape(x.rpartition('.')[2])}\b", said) for x in products)
        single = next((x for x in singles if re.search(rf"\b{re.escape(x)}\[", said)), "")
        if single and not whole:
            product = next(x for x, of in products.items() if of == single)
            yield (
                value,
                f"{product}[t]",
                tr("{} is the share of one step, and {} is what is left of the data", f"{single}[t]", product),
            )
        elif whole and "1 - " in said and not re.search(r"sqrt|\*\* 0?\.5|pow\(|sigma|std", said) and shares:
            yield (
                value,
                "a.sqrt() * x + (1 - a).sqrt() * noise",
                tr("{}: the shares are not the roots of what they should be", unparse(value)),
            )


@rule("formula", "{} is given numbers from 0 to 1 here, and has learnt of a normal distribution")
def other_prior(tree: ast.Module) -> Found:
    """vae.decode(torch.rand(8, 3)), where z was drawn by randn in the training."""
    made = values_of(tree)
    kinds: dict[str, dict[str, ast.Call]] = {"rand": {}, "randn": {}}
    for call in (x for x in find(tree, ast.Call) if x.args):
        for value in (call.args[0], *made.get(unparse(call.args[0]), [])):
            if called(value) in kinds and unparse(value).startswith("torch."):
                kinds[called(value)].setdefault(unparse(call.func), call)
    bends = re.search(r"log_?var|randn_like|rsample", unparse(tree))
    for name, call in kinds["rand"].items():
        decodes = re.search(r"(^|\.)(decode|decoder|dec)(_?\w*)$", name) and bends
        if (
            decodes
            and name not in kinds["randn"]
            or name in kinds["randn"]
            and call.lineno > kinds["randn"][name].lineno
            and GIVES.search(name)
        ):
            yield call, unparse(call).replace("torch.rand(", "torch.randn("), name


GIVES = re.compile(r"(^|[._])(g|gen|generator|netg|decoder?|flow|sampler)$", re.IGNORECASE)
ASKS = re.compile(r"loss|mse|criterion|l1|huber|loss_fn", re.IGNORECASE)


RULES = (
    product_of_noise, noise_from_the_begin, other_shares, other_prior, one_time_for_all, asked_for_another,
    asked_for_its_noise, other_condition, two_temperatures,
)  # fmt: skip
