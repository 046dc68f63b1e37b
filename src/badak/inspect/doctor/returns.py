"""What the text of a program makes of rewards: returns that are summed up in the wrong direction, or take the wrong state."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.idle import terms
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import (
    assigned,
    binaries,
    called,
    calls_of,
    find,
    is_binary,
    named_in,
    names_in,
    parts_of,
    read_in,
    stored_by,
    stored_in,
    values_of,
)
from badak.inspect.doctor.tables import ONE_ORDER, ORDERS
from badak.inspect.doctor.told import Found, Told, rule

DISCOUNT = re.compile(r"(^|[._])(gamma|discount|GAMMA|DISCOUNT|disc|lam|lambda_?|LAMBDA|LAM|tau)\w*$|^[gγλ]$")
REWARD = re.compile(r"(^|[._])(rewards?|rews?|rs?|delta\w*|td\w*|reward_\w+|ep_rewards?)(\[.*\])?$")
ENDS = re.compile(r"^(b_|batch_)?(dones?|terminals?|terminated|terminations?|finished|is_?last)(_(b|t|batch|mask|tensor|flags?))?$")


REWARDS = re.compile(r"reward|\benv\.step\(", re.IGNORECASE)  # a training by rewards, whatever it calls them


def returns(tree: ast.Module) -> Iterator[Told]:
    """All of it, in a program that speaks of rewards."""
    if REWARDS.search(unparse(tree)):
        for loop in find(tree, ast.For):
            yield from forwards(tree, loop)
        for each in OF_REWARDS:
            yield from each(tree)


@rule("returns", "{} is filled from the last step to the first, and read from the first to the last")
def never_turned(tree: ast.Module) -> Found:
    """for r in reversed(rewards): R = r + gamma * R; returns.append(R), and nobody turns the list round."""
    loops = [x for x in find(tree, ast.For) if TURNED.search(unparse(x.iter))]
    heads = sum(len(TURNED.findall(unparse(x.iter))) for x in loops)
    for loop in loops if len(BACK.findall(unparse(tree))) == heads else ():
        summed = [x for x in loop.body if isinstance(x, ast.Assign) and isinstance(x.targets[0], ast.Name)]
        names = {unparse(x.targets[0]) for x in summed if unparse(x.targets[0]) in discounted_names(x.value)}
        for line in (x for x in loop.body if isinstance(x, ast.Expr) and called(x.value) == "append"):
            call: Any = line.value
            if call.args and unparse(call.args[0]) in names:
                held = unparse(call.func.value)
                yield line, f"{held}.reverse()", held


TURNED = re.compile(r"reversed\(|\[::-1\]|, -1, -1\)")
BACK = re.compile(r"reversed\(|\[::-1\]|, -1, -1\)|\.reverse\(|\.flip\(|appendleft|insert\(0|flipud|np\.flip")


def discounted_names(value: ast.expr) -> set[str]:
    """What is multiplied by a discount in a sum."""
    return {text for _, each in terms(value) for text in discounted(each)}


@rule("returns")
def of_another_action(tree: ast.Module) -> Found:
    """action = dist.sample(), and dist.log_prob(dist.sample()); or an action that is the largest, and its log_prob is learnt."""
    text = unparse(tree)
    drawn = {unparse(x.func.value): name for _, name, x in of_draws(tree)}
    best = {name for _, name, value in assigned(tree) if called(value) == "argmax"}
    best -= {name for _, name, value in assigned(tree) if called(value) != "argmax"}
    for node in (x for x in calls_of(tree, "log_prob") if len(x.args) == 1):
        of, given = unparse(node.func.value), node.args[0]
        if called(given) == "sample" and unparse(given.func.value) == of and of in drawn:
            yield (
                node,
                f"{of}.log_prob({drawn[of]})",
                tr("{} is the likelihood of another draw than {}, which is acted by", unparse(node), drawn[of]),
            )
        acted = next((x for x in sorted(best) if x == unparse(given) or re.match(r"act|a$", x)), "")
        if acted and not re.search(r"sample\(|multinomial\(|rand(int|range|om)\w*\(", text) and "Categorical(" in text:
            yield (
                node,
                f"{acted} = {of}.sample()",
                tr("{} is the largest and never drawn: a policy that tries nothing else learns of nothing else", acted),
            )


def of_draws(tree: ast.Module) -> list[tuple[int, str, Any]]:
    """(line, name, call) of a = dist.sample()."""
    plain = [(line, name, value) for line, name, value in assigned(tree) if called(value) == "sample"]
    return [each for each in plain if isinstance(each[2].func, ast.Attribute) and not each[2].args]  # type: ignore[attr-defined]


def factors(node: ast.expr) -> list[ast.expr]:
    """What is multiplied."""
    if is_binary(node, ast.Mult):
        return [*factors(node.left), *factors(node.right)]
    return [node]


def discounted(node: ast.expr) -> list[str]:
    """What a product multiplies a discount with; nothing where there is none in it."""
    texts = [unparse(each) for each in factors(node)]
    plain = [each for each in texts if not DISCOUNT.search(each) and not re.fullmatch(r"0?\.9\d*", each)]
    plain = plain or [each for each in texts[1:] if each in ("g", "G")]  # gamma * G
    return plain if len(plain) < len(texts) else []


@rule("returns", "{} is summed up from the first step to the last: each step is given what came before it, not what follows")
def forwards(tree: ast.Module, loop: ast.For) -> Found:
    """R = reward + gamma * R in a loop that goes from the first step to the last: each step is given what came before it."""
    over = unparse(loop.iter)
    name = loop.iter.id if isinstance(loop.iter, ast.Name) else ""
    backwards = re.compile(r"reversed|\[::-1\]|flip|, -1\)")
    index = loop.target.id if isinstance(loop.target, ast.Name) else ""
    from_the_end = index and re.search(rf"(-|- |~){index}\b", " ".join(map(unparse, loop.body)))
    if from_the_end or any(backwards.search(each) for each in [over, *(unparse(v) for _, n, v in assigned(tree) if n == name)]):
        return
    for line in loop.body:
        if not isinstance(line, ast.Assign) or not isinstance(line.targets[0], ast.Name):
            continue
        own = line.targets[0].id
        every = terms(line.value)
        summed = any(own in discounted(each) for sign, each in every if sign > 0)
        rewarded = any(REWARD.search(unparse(each)) for sign, each in every if sign > 0)
        learnt = any(isinstance(x, ast.Expr) and called(x.value) == "backward" for x in loop.body)
        kept = learnt or any(own in names_in(x) and is_kept(x) for x in loop.body)
        if summed and rewarded and kept and not re.search(r"\.step\(|sample\(", unparse(loop)):
            yield line, f"for ... in reversed({over}):", own


def is_kept(line: ast.stmt) -> bool:
    """Whether a line puts something into a list or a place of an array."""
    if isinstance(line, ast.Assign):
        return isinstance(line.targets[0], ast.Subscript)
    return isinstance(line, ast.Expr) and called(line.value) in ("append", "insert")


@rule("returns", "{} is what follows and what it is compared with: both are of one state")
def same_state(tree: ast.Module) -> Found:
    """reward + gamma * V(s) - V(s): the state that follows is the state itself."""
    given = values_of(tree)

    def meant(text: str) -> set[str]:
        values = given.get(text, [])
        if len(values) != 1:
            return {text}
        one = values[0]
        return {text, *(unparse(x) for x in ([one.body, one.orelse] if isinstance(one, ast.IfExp) else [one]))}

    for node in walk(tree):
        if is_binary(node, ast.Sub):
            every = terms(node)
            less = {unparse(each) for sign, each in every if sign < 0}
            for text in (text for sign, each in every if sign > 0 for text in discounted(each)):
                if len(every) > 2 and meant(text) & less:
                    yield node, tr("the value of the next state: values[t + 1]"), sorted(meant(text) & less)[0]


@rule("returns", "{} is given {}, where episodes end, and never reads it: what comes after an end is added to what came before")
def never_ends(tree: ast.Module) -> Found:
    """A function is given where episodes end, and never reads it."""
    calls = {called(node) for node in find(tree, ast.Call)}
    for function in (node for node in find(tree, ast.FunctionDef) if node.name in calls):
        read = named_in(function.body)
        text = unparse(function)
        for each in function.args.args:
            sums = any(discounted(x) for node in find(function, ast.BinOp) for _, x in terms(node))
            if ENDS.match(each.arg) and each.arg not in read and sums and "raise NotImplementedError" not in text:
                yield function, "gamma * next_value * (1 - done)", function.name, each.arg


@rule("returns", "{} is kept behind env.step(): next to each action stands the state that it led to")
def state_after(tree: ast.Module) -> Found:
    """states.append(obs) behind obs, reward, done = env.step(action): the action is kept next to the state that it led to."""
    empty = {name for _, name, value in assigned(tree) if unparse(value) in ("[]", "list()")}
    for loop in find(tree, ast.For | ast.While):
        steps: list[Any] = [
            (x, parts_of(x.targets[0]), x.value) for x in loop.body if isinstance(x, ast.Assign) and called(x.value) == "step"
        ]
        if len(steps) != 1 or len(steps[0][1]) < 2:
            continue
        at, after, acts = steps[0][0].lineno, unparse(steps[0][1][0]), set().union(*map(names_in, steps[0][2].args))
        becomes = {name for line, name, value in assigned(loop) if unparse(value) == after and line > at}
        calls: list[Any] = [x.value for x in loop.body if isinstance(x, ast.Expr)]
        lists = [x for x in calls if called(x) == "append" and x.args]
        keeps = [(x, unparse(x.func.value), names_in(x.args[0])) for x in lists]
        moved = min((x.lineno for x in loop.body if after in stored_in(x) and x.lineno > at), default=loop.end_lineno + 1)
        plain = [(x, re.match(r"(?:(?:torch|np|numpy)\.\w+\()?(\w+)", unparse(x.args[0]))) for x in lists]
        before = [x for x, name in plain if name and (name[1] in becomes or name[1] == after and x.lineno < at)]
        states = [(x, held) for x, held, names in keeps if after in names and at < x.lineno <= moved and held in empty]
        states = [(x, held) for x, held in states if not re.match("next|new|following", held)]
        if any(acts & names for _, _, names in keeps) and states and not before:
            yield states[0][0], tr("keep the state before the step"), states[0][1]


@rule("apart", "the rows of {} are put in another order, and those of {}, which belong to them, are not")
def of_others(tree: ast.Module) -> Found:
    """log_prob * advantage[torch.randperm(n)]: an order that has no name, which nothing else is picked in."""
    for node in binaries(tree, ast.Mult):
        for each in factors(node):
            if not isinstance(each, ast.Subscript) or called(each.slice) not in ORDERS:
                continue
            others = [unparse(other) for other in factors(node) if other is not each]
            if any(re.search(r"log_?p", other) for other in others):
                yield node, ONE_ORDER, unparse(each.value), others[0]


@rule("returns", "{} is kept as the state and as the one that follows it")
def same_state_kept(tree: ast.Module) -> Found:
    """buffer.push(state, action, reward, state, done): what follows a state is the state itself."""
    for node in calls_of(tree, "push", "append", "add", "store", "remember"):
        given = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], ast.Tuple) else node.args
        texts = [unparse(each) for each in given]
        twice = next(
            (each for each in texts if texts.count(each) > 1 and re.match(r"(\w*_)?(s|states?|obs|observations?)\b", each)), ""
        )
        if len(texts) >= 4 and twice:
            yield node, tr("state, action, reward, next_state, done"), twice


@rule("returns", "{} is never given {}: in this loop each action is chosen in the same state")
def stands_still(tree: ast.Module) -> Found:
    """next_state, reward, done = env.step(...), and state never becomes next_state: each action is chosen in the first state."""
    starts = {
        unparse(x.elts[0] if isinstance(x, ast.Tuple) else x)  # what else reset() gives stays: the goal of an episode
        for line in walk(tree)
        for x, value in stored_by(line)
        if "reset(" in unparse(value)
    }
    for loop in find(tree, ast.For | ast.While):
        for line in (x for x in loop.body if isinstance(x, ast.Assign) and called(x.value) == "step"):
            if still := never_stored(loop, starts) if isinstance(line.targets[0], ast.Tuple) else "":
                yield line, tr("give it the state that follows, at the end of the loop"), still, unparse(line.targets[0].elts[0])  # type: ignore[attr-defined]
            first = line.targets[0].elts[0] if isinstance(line.targets[0], ast.Tuple) else line.targets[0]
            name = re.sub(r"^(next|new)_|_(next|new|prime)$|_$", "", unparse(first))
            moves = any(isinstance(x.ctx, ast.Store) for x in find(loop.body, ast.Name) if x.id == name)
            before = {x.id for x in find(loop.body, ast.Name) if x.lineno < line.lineno}
            if name in before and isinstance(first, ast.Name) and first.id not in {name, *before} and not moves:
                yield line, f"{name} = {first.id}", name, first.id


def never_stored(loop: ast.For | ast.While, starts: set[str]) -> str:
    """Of names that reset() gave something, one that a loop of steps reads and never gives anything new; "" where there is none."""
    names = find(loop.body, ast.Name)
    kept = {x.id for x in names if isinstance(x.ctx, ast.Store)}
    chosen = [x for x in find(loop.body, ast.Assign) if re.match("act|a$", unparse(x.targets[0]))]
    asked = {name for x in chosen for name in names_in(x.value)}
    return min((starts & asked) - kept, default="")


def given_by_the_world(tree: ast.Module) -> dict[str, int]:
    """What state, reward, done = env.step(action) gives, by its name: its place."""
    lines = [x.targets[0] for x in find(tree, ast.Assign) if called(x.value) == "step" and isinstance(x.targets[0], ast.Tuple)]
    return {x.id: i for each in lines if len(each.elts) > 2 for i, x in enumerate(each.elts[:3]) if isinstance(x, ast.Name)}


@rule("returns")
def ends_turned(tree: ast.Module) -> Found:
    """reward + gamma * value * done, which should be (1 - done); or where episodes end is unpacked and never read."""
    turned = re.search(r"\b0(\.0)? if \w*(done|term)\w* else 1|(float|int)\(not \w*(done|term)", unparse(tree))  # as it was kept
    for node in (x for x in binaries(tree, ast.Mult) if not turned):
        inside = [unparse(each) for each in factors(node)]
        if any(
            given_by_the_world(tree).get(each) == 2 or ENDS.match(re.sub(r"\[.*\]|\.float\(\)", "", each)) for each in inside
        ) and discounted(node):
            yield (
                node,
                "gamma * next_value * (1 - done)",
                tr("{}: what follows counts where an episode ends, and only there", unparse(node)),
            )
    for function in find(tree, ast.FunctionDef):
        names = {x.id: x for x in find(function.body, ast.Name) if isinstance(x.ctx, ast.Store)}
        read = read_in(function.body)
        sums = any(discounted(x) for node in find(function, ast.BinOp) for _, x in terms(node))
        for name, where in names.items() if sums and "backward" in unparse(function) else ():
            if ENDS.match(name) and name not in read:
                yield (
                    where,
                    "gamma * next_value * (1 - done)",
                    tr(
                        "{} is given {}, where episodes end, and never reads it: what comes after an end is added to what came "
                        "before",
                        function.name,
                        name,
                    ),
                )


CHANCE = re.compile(r"eps(ilon)?(_\w+)?")


@rule("returns", "{} is {} and never falls: all is done by chance")
def always_by_chance(tree: ast.Module) -> Found:
    """epsilon = 1.0, which never falls."""
    stores = Counter(unparse(x) for x in find(tree, ast.Name | ast.Attribute) if isinstance(x.ctx, ast.Store))
    once = {name: value for _, name, value in assigned(tree) if stores[name] == 1}
    for line, name, value in (x for x in assigned(tree) if stores[x[1]] == 1 and CHANCE.fullmatch(x[1].rpartition(".")[2])):
        value = once.get(unparse(value), value)
        whole = isinstance(value, ast.Constant) and isinstance(value.value, int | float) and 0.9 <= value.value <= 1
        said = re.escape(name)
        compared = re.search(rf"rand\w*\(\)? ?\)? ?[<>]=? {said}\b|{said} [<>]=? \w*\.?rand", unparse(tree))
        given = re.search(rf"\w+\([^()]*, {said}\)", unparse(tree))
        if whole and (compared or given and "_" not in name):
            yield line, f"{name} = max(0.05, {name} * 0.99)", name, unparse(value)


@rule("returns", "{} takes the mean over the actions: what follows a state is worth what its best action is")
def mean_of_values(tree: ast.Module) -> Found:
    """gamma * target(next_states).mean(1): what follows is worth what the best action is, not what all are."""
    made = {name: value for _, name, value in assigned(tree)}
    if "gather(" not in unparse(tree):
        return
    for node in binaries(tree, ast.Mult):
        for text in discounted(node):
            value = made.get(text)
            found = value if value is not None else next((x for x in factors(node) if unparse(x) == text), node)
            if re.search(r"\w\([^()]*next[^()]*\)\.(mean|sum)\((dim=|axis=)?-?1\b", unparse(found)):
                yield getattr(found, "lineno", node.lineno), "target(next_states).max(1).values", unparse(found)


@rule("returns", "{} stands for what follows, and is {} in each step")
def nothing_follows(tree: ast.Module) -> Found:
    """delta = r + gamma * following - value, where following = 0.0 before the loop, and nothing in it gives it a value."""
    given = values_of(tree)
    arguments = {x.arg for x in find(tree, ast.arg)} | {
        name for x in find(tree, ast.For | ast.comprehension) for name in named_in(x.target)
    }
    for loop in find(tree, ast.For | ast.While):
        for node in binaries(loop.body, ast.Mult):
            for text in discounted(node):
                values = given.get(text, [])
                still = bool(values) and all(isinstance(x, ast.Constant) and x.value in (0, 0.0) for x in values)
                grown = any(unparse(x.target) == text for x in find(tree, ast.AugAssign))
                inside = text in stored_in(loop.body)
                if still and not grown and not inside and text not in arguments:
                    yield node, tr("give it the value of the next state in each round"), text, unparse(values[0])


@rule("returns", "{} is the number of an action, and stands for what it is worth")
def number_of_the_best(tree: ast.Module) -> Found:
    """gamma * target(next_states).max(1).indices, or argmax(1): which action is best, not what it is worth."""
    made = {name: value for _, name, value in assigned(tree)}
    for node in binaries(tree, ast.Mult):
        for text in discounted(node):
            value = made.get(text)
            found = value if value is not None else next((x for x in factors(node) if unparse(x) == text), node)
            if re.search(r"(max\([^()]*\)(\.indices|\[1\])|argmax\([^()]*\))(\.\w+\([^()]*\))*$", unparse(found)):
                yield found, "target(next_states).max(1).values", unparse(found)


@rule("returns", "{} tells what follows is worth, and stays as it began: nothing gives it what is learnt")
def never_follows(tree: ast.Module) -> Found:
    """target.load_state_dict(q.state_dict()) before the training alone, and gamma * target(next_states)."""
    made = {name: value for _, name, value in assigned(tree)}
    follows = [
        made.get(text, x)
        for node in binaries(tree, ast.Mult)
        for x in factors(node)
        for text in [unparse(x)]
        if text in discounted(node)
    ]
    asked = {unparse(x.func) for value in follows for x in find(value, ast.Call) if isinstance(x.func, ast.Name | ast.Attribute)}
    later = [x.body for x in find(tree, ast.For | ast.While)] + [
        x.body for x in find(tree, ast.FunctionDef) if x.name != "__init__"
    ]
    inside = {id(x) for body in later for x in find(body, ast.Name | ast.Attribute)}
    for name in sorted(asked):
        reads = [x for x in find(tree, ast.Name | ast.Attribute) if unparse(x) == name and isinstance(x.ctx, ast.Load)]
        plain = {id(x.func) for x in find(tree, ast.Call)}
        copied = re.search(rf"(?<![\w.]){re.escape(name)}(\.load_state_dict\(| = (copy\.)?deepcopy\()", unparse(tree))
        if copied and all(id(x) in plain or id(x) not in inside for x in reads):
            if not re.search(rf"(?<![\w.]){re.escape(name)}\.parameters\(\)", unparse(tree)) or "load_state_dict" in copied[0]:
                yield reads[0], tr("{}.load_state_dict(...) every so many steps", name), name


OF_REWARDS = (
    same_state, never_ends, state_after, of_others, never_turned, of_another_action, same_state_kept, stands_still,
    ends_turned, always_by_chance, mean_of_values, number_of_the_best, never_follows,
    nothing_follows,
)  # fmt: skip
