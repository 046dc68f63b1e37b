"""Loops of a program in which a model writes: what it drew is read in the next round, from the last place, and it may end."""

import ast
import re
from collections.abc import Iterator

from badak.core.errors import tr
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.source import unparse, walk
from badak.inspect.doctor.syntax import called, find, functions_of, ids_below, named_in, names_in
from badak.inspect.doctor.told import Found, Told, rule

DRAWS = frozenset("multinomial argmax topk sample".split())
GROWS = frozenset("cat concat concatenate hstack append".split())


def writing(tree: ast.Module) -> Iterator[Told]:
    """All of them."""
    for loop in (x for x in find(tree, ast.For | ast.While) if writes(x)):
        yield from never_fed_back(loop)
        yield from from_the_beginning(loop)
        yield from state_thrown_away(tree, loop)
    yield from never_ends(tree)


def writes(loop: ast.For | ast.While) -> bool:
    """Whether a loop, and none inside of it, draws a token and keeps it."""
    body = walk(loop.body)
    calls = {called(x) for x in body if isinstance(x, ast.Call)}
    plain = not isinstance(loop, ast.For) or unparse(loop.iter).startswith("range(")
    inner = any(isinstance(x, ast.For | ast.While) and writes(x) for x in body)
    grows = calls & GROWS or any(isinstance(x, ast.AugAssign) and isinstance(x.op, ast.Add) for x in body)  # text += letter
    return plain and not inner and bool(calls & DRAWS) and bool(grows) and "backward" not in calls


def drawn(loop: ast.For | ast.While) -> set[str]:
    """The names that hold what was drawn, or what is made of it alone."""
    found: set[str] = set()
    for line in find(loop.body, ast.Assign):
        calls = [called(x) for x in find(line.value, ast.Call)]
        names = names_in(line.value) - {"torch", "np", "F"}
        if set(calls) & DRAWS and not set(calls) & {"cat", "concat"} or names and names <= found:
            found |= {x.id for target in line.targets for x in find(target, ast.Name)}
    return found


def asked(loop: ast.For | ast.While) -> list[tuple[ast.Assign, ast.Call]]:
    """The lines that ask a model, which what is drawn is made of: the first calls of a name in a line of their own."""
    every = find(loop.body, ast.Assign)
    lines = [x for x in find(loop.body, ast.Assign) if isinstance(x.value, ast.Call)]
    draws = [x for x in lines if any(called(each) in DRAWS for each in walk(x.value))]
    made = {x.id for line in draws for x in find(line.value, ast.Name)}
    for line in reversed(lines):  # what it is made of, too
        if made & named_in(line.targets[0]):
            made |= names_in(line.value)
    models = re.compile(
        r"^(self(\.\w*(model|decoder|net|rnn|gpt)\w*)?|(\w+\.)?\w*(model|decoder|net|gpt|rnn|lm)\w*)(\.(forward|decode))?$",
        re.IGNORECASE,
    )
    own = [(x, y) for x in every for y in find(x.value, ast.Call) if models.match(unparse(y.func)) and y.args]
    return [(x, y) for x, y in own if made & named_in(x.targets[0])]


def stores(loop: ast.For | ast.While) -> set[str]:
    """The names that a round gives something new, in place, too."""
    every = walk(loop.body)
    names = {x.id for x in every if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    places = {y.id for x in every if isinstance(x, ast.Subscript) and isinstance(x.ctx, ast.Store) for y in find(x.value, ast.Name)}
    changed = {
        y.id
        for x in every
        if isinstance(x, ast.Call)
        and isinstance(x.func, ast.Attribute)
        and (x.func.attr in ("append", "extend", "push") or x.func.attr.endswith("_"))
        for y in find(x.func.value, ast.Name)
    }
    return names | places | changed | (named_in(loop.target) if isinstance(loop, ast.For) else set())


@rule("setting", "each round gives {} the same {}: what was drawn is never read")
def never_fed_back(loop: ast.For | ast.While) -> Found:
    """logits, h = model(x, h) in each round, and x stays the first token."""
    for line, call in asked(loop):
        given = [*call.args, *(x.value for x in call.keywords)]
        read = {x for each in given for x in names_in(each)}
        several = line.targets[0].elts[1:] if isinstance(line.targets[0], ast.Tuple) else []
        states = {x.id for each in several for x in find(each, ast.Name)}
        if read and not (read - states) & stores(loop):
            yield line, tr("give it what was drawn: x = next_token"), unparse(call.func), unparse(given[0])


def grown(loop: ast.For | ast.While) -> set[str]:
    """The texts that a round makes longer: ids = torch.cat((ids, next), 1)."""
    lines = [x for x in find(loop.body, ast.Assign) if called(x.value) in ("cat", "concat", "concatenate")]
    return {unparse(x.targets[0]) for x in lines if unparse(x.targets[0]) in names_in(x.value)}


@rule()
def from_the_beginning(loop: ast.For | ast.While) -> Found:
    """ids[:, :block_size], or logits[:, 0], where a text grows at its end."""
    texts = grown(loop)
    lines = asked(loop)
    if not texts or not any(names_in(x) & (texts | stores(loop)) for _, call in lines for x in call.args):
        return
    outputs = {x.id for line, _ in lines for x in find(line.targets[0], ast.Name)}
    for node in (y for y in find(loop.body, ast.Subscript) if isinstance(y.slice, ast.Tuple)):
        parts = node.slice.elts
        second = parts[1] if len(parts) > 1 and unparse(parts[0]) == ":" else None
        ahead = (
            isinstance(second, ast.Slice)
            and second.lower is None
            and second.upper is not None
            and not unparse(second.upper).startswith("-")
        )
        if unparse(node.value) in texts and ahead:
            yield Told(
                "setting", node.lineno, tr("{} are the first tokens, and the text grows at its end", unparse(node)),
                f"{unparse(node.value)}[:, -{unparse(second.upper)}:]",  # type: ignore[union-attr]
            )  # fmt: skip
        alone = node.value in [call for _, call in lines] or unparse(node.value) in outputs
        if alone and unparse(parts[0]) == "0" and grows_first(loop):
            yield Told(
                "read", node.lineno, tr("{} is the answer of the first place, and the text grows at its end", unparse(node)[-40:]),
                "[-1]",
            )  # fmt: skip
        if unparse(node.value) in outputs and isinstance(second, ast.Constant) and second.value == 0:
            yield Told(
                "read", node.lineno, tr("{} is the answer of the first place, and the text grows at its end", unparse(node)),
                f"{unparse(node.value)}[:, -1]",
            )  # fmt: skip


def grows_first(loop: ast.For | ast.While) -> bool:
    """Whether the text grows along its first axis: torch.cat([ids, next], dim=0)."""
    return any(called(x) == "cat" and re.search(r"(dim|axis)=0\)$|, 0\)$", unparse(x)) for x in find(loop.body, ast.Call))


STATE = re.compile(r"(h|hx|hc|hidden|state)(_?(n|t|dec|state))?$")


@rule("state", "{} reads one token in each round, and its state is thrown away")
def state_thrown_away(tree: ast.Module, loop: ast.For | ast.While) -> Found:
    """logits, _ = model(x) of one token, where forward(self, x, h=None) takes the state of the round before."""
    forwards = functions_of(tree, "forward")
    takes = any(
        len(f.args.args) > 2 and f.args.defaults and re.match(r"(h|hx|hc|hidden|state|prev)\w*$", f.args.args[2].arg)
        for f in forwards
    )
    new, text = drawn(loop), " ".join(map(unparse, loop.body))
    given_back = {unparse(x.value.elts[-1]) for f in forwards for x in find(f, ast.Return) if isinstance(x.value, ast.Tuple)}
    for line, call in asked(loop) if any(map(STATE.match, given_back)) else ():
        states = [x.id for x in call.args if isinstance(x, ast.Name) and STATE.match(x.id)]
        lost = isinstance(line.targets[0], ast.Tuple) and unparse(line.targets[0].elts[-1]).startswith("_")
        if len(states) == 1 and lost and states[0] not in stores(loop):
            yield line, f"{unparse(line.targets[0].elts[0])}, {states[0]} = {unparse(call)}", unparse(call.func)  # type: ignore[attr-defined]
    for line, call in asked(loop) if takes else ():
        target, arg = line.targets[0], call.args[0]
        if not isinstance(target, ast.Tuple) or len(call.args) > 1 or call.keywords or not isinstance(arg, ast.Name):
            continue
        left = unparse(target.elts[-1])
        lost = left.startswith("_") or len(re.findall(rf"(?<![\w.]){re.escape(left)}\b", text)) == 1
        again = [x.value for x in (y for y in walk(loop.body)) if isinstance(x, ast.Assign) and unparse(x.targets[0]) == arg.id]
        alone = bool(again) and all(called(x) in DRAWS or called(x) not in GROWS and names_in(x) - {"torch"} <= new for x in again)
        if lost and alone:
            yield line, f"{unparse(target.elts[0])}, state = {unparse(call.func)}({arg.id}, state)", unparse(call.func)


END = re.compile(r"^(EOS|END|STOP|EOT)(_?(ID|IDX|TOKEN|IX|INDEX))?$|^(eos|end|stop)_(id|idx|token|ix|index)$")


@rule("setting", "{} is waited for, and no text that is learnt from ends with it")
def never_ends(tree: ast.Module) -> Found:
    """if token == EOS: break, and no text that is learnt from ends with EOS."""
    reads = grouped((x.id, x) for x in walk(tree) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load) and END.match(x.id))
    compared = ids_below(find(tree, ast.Compare))
    for name, several in reads.items():
        values = [x.value for x in find(tree, ast.Assign) if name in named_in(x.targets[0])]
        token = values and all(
            isinstance(y, ast.Constant) and isinstance(y.value, int)
            for x in values
            for y in (x.elts if isinstance(x, ast.Tuple) else [x])
        )
        if token and all(id(x) in compared for x in several):
            yield several[0], tr("put it behind each text: ids + [{}]", name), name
