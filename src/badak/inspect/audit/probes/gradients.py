"""Parameters that get no gradient: they will stay as they are."""

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.answer import given_losses
from badak.inspect.audit.graph import in_turn, readers
from badak.inspect.audit.kind import reads
from badak.inspect.audit.past import states_in
from badak.inspect.audit.probes.cut_off import cut_off
from badak.inspect.audit.probes.vain import EACH_PART, in_vain
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject, words
from badak.inspect.audit.watch import BackWatch, tensors_in
from badak.nn.containers import ModuleList, Sequential
from badak.nn.conv import _ConvNd
from badak.nn.embedding import Embedding
from badak.nn.linear import Linear
from badak.ops.arithmetic import Add
from badak.ops.linear import Linear as Product
from badak.ops.select import MaskedFill, Where
from badak.ops.softmax import Softmax
from badak.tensor import Tensor


def ask(subject: Subject) -> list[Finding]:
    """One backward of the outputs' sum with random weights, or of `loss(outputs)`; every trainable parameter must be reached."""
    trainable = {name: p for name, p in subject.model.named_parameters() if p.requires_grad}
    if not trainable:
        raise NotApplicable(tr("every parameter is frozen"), moot=True)
    try:
        backward(subject)
    except Failed as error:
        return [Finding("gradients", "", tr("the backward fails: {}", error), tr("loss.backward() by itself says more"))]
    missing = {name: p for name, p in trainable.items() if p.grad is None}
    zeros = without_effect(subject, trainable)
    called = {call.path for call in subject.training.calls}
    reached = [name for name in missing if _owner(name) in called]
    found = [
        finding(path, below(missing, path), trainable, tr("takes no part in the forward"), UNUSED)
        for path in covering(subject, set(missing) - set(reached))
    ]
    for stop, names in stops(subject, reached):
        why = tr("is not reached by the backward") + (", nor is what only leads there" if len(names) > 1 else "")
        found.append(finding(stop, sorted(names, key=lambda n: _owner(n) != stop), trainable, why, CUT))
    found += frozen_between(subject) + stepped(subject, trainable) + strangers(subject)
    return (
        found
        or zeros
        or tied_but_cut(subject, trainable)
        or idle_outputs(subject, trainable)
        or idle_rows(subject, trainable)
        or idle_answers(subject, trainable)
        or in_vain(subject, trainable)
        or cut_off(subject)
    )


def stops(subject: Subject, names: list[str]) -> list[tuple[str, list[str]]]:
    """(where the backward stops first, what it does not reach for that) of parameters that it does not reach: what is called last,
    and each that does not lead there."""
    graph, found = subject.training, list[tuple[str, list[str]]]()
    called = {call.path: call.index for call in graph.calls}
    uses = {name: [run for run in graph.runs if name in run.parameters] for name in names}
    left = sorted(names, key=lambda name: called[_owner(name)])
    while left:
        stop = _owner(left[-1])
        own = {name for name in left if _owner(name) == stop}
        before = {each.number for run in graph.runs if own & {*run.parameters} for each in run.inside()}
        behind = {name for name in left if not uses[name] or any(run.number in before for run in uses[name])} | own
        found.append((stop, [name for name in left if name in behind]))
        left = [name for name in left if name not in behind]
    return found


def strangers(subject: Subject) -> list[Finding]:
    """Tensors that get gradients, and that are kept in a module and are no parameters: no optimizer is told of them."""
    for path, module in subject.model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, Tensor) and any(value is leaf for leaf in subject.leaves):
                who = path or tr("the model")
                cause = tr("{}.{} gets a gradient and is a plain tensor: parameters() does not have it", who, name)
                return [Finding("gradients", path, cause, tr("nn.Parameter(...), or register_buffer() where it is not to learn"))]
    return []


def stepped(subject: Subject, trainable: dict) -> list[Finding]:
    """Parameters whose every way to what the model gives leads through a function of steps, such as round: its slope is 0."""
    graph = subject.reference
    pending = [run for run in graph.results if run is not None]
    reached, stopped = {}, {}
    while pending:
        run = pending.pop()
        if run.op.steps:
            stopped[run.number] = run
        elif run.number not in reached:
            reached[run.number] = run
            pending += [source for source in run.sources if source is not None]
    learns = {name for run in reached.values() for name in run.parameters}
    found: list[Finding] = []
    told: set[str] = set()
    for run in stopped.values():
        behind = {name for each in run.inside() for name in each.parameters if name in trainable} - learns - told
        names = {name for name in behind if name is not None and idle(trainable[name])}
        told |= names
        for path in covering(subject, names) if names else ():
            who, step = path or tr("the model"), run.op.name
            cause = tr("all that {} gives goes through {}, whose slope is 0: its gradients are 0 throughout", who, step)
            found.append(Finding("gradients", path, cause, STEPS, {"parameters with a gradient of 0": len(below(names, path))}))
    return found


STEPS = tr("let the gradient pass by it: y = x + (round(x) - x).detach()")


def tied_but_cut(subject: Subject, trainable: dict) -> list[Finding]:
    """Tables that learn as output matrices alone: what they gave of the text got no gradient, or they were not asked at all."""
    found, asked = [], {id(look.table) for look in subject.reference.lookups}
    maps = {id(m.weight): path for path, m in subject.model.named_modules() if isinstance(m, Linear)}
    for path, module in subject.model.named_modules():
        if isinstance(module, Embedding) and id(module.weight) in maps and id(module.weight._array) not in asked and asked:
            cause = tr("{} is one with {}, which learns, and no text asks it for a row", path, maps[id(module.weight)])
            found.append(Finding("gradients", path, cause, tr("ask each table for the text that it is for")))
    for look in subject.reference.lookups:
        table = next((p for p in trainable.values() if p._array is look.table), None)
        name = subject.text_of(look.indices) or next((n for n in subject.batch.leaves if reads(look, n, subject.batch)), None)
        if name is None or table is None or table.shape != look.table.shape:
            continue
        if not any(np.array_equal(indices.ravel(), look.indices.ravel()) for indices, _ in subject.tables):
            cause = tr("no gradient reaches what {} gave of {}, though its weight gets some from elsewhere", look.path, name)
            found.append(Finding("gradients", look.path, cause, CUT, {"table": tuple(table.shape)}))
    return found


PARTS = range(2, 13)  # that a layer's outputs may be cut into


def idle(p: Tensor) -> bool:
    """Whether a parameter has a gradient that is zero throughout."""
    return p.grad is not None and not np.any(p.grad.to_dense()._array)


def some_idle(p: Tensor) -> np.ndarray:
    """Which rows of a parameter get no gradient, where others do; else none."""
    if p.grad is None:
        return np.zeros(len(p), bool)
    lost = ~np.any(p.grad.to_dense()._array.reshape(len(p), -1), axis=1)
    return lost & (not lost.all())


def idle_outputs(subject: Subject, trainable: dict) -> list[Finding]:
    """Linear layers of whose outputs one part, cut off by a chunk, gets no gradient at all, and every other does."""
    found: list[Finding] = []
    if any(seen.keep.shape[-1] == 1 for seen in subject.reference.attentions):  # of one key nothing is asked
        return found
    for path, module in subject.model.named_modules():
        w = trainable.get(f"{path}.weight".lstrip("."))
        if not isinstance(module, Linear) or w is None or len(w) < 8:
            continue
        lost = some_idle(w)
        for parts in PARTS if lost.any() else ():
            by = lost.reshape(parts, -1) if len(w) % parts == 0 and len(w) >= 4 * parts else None
            if by is not None and (by.all(axis=1) == by.any(axis=1)).all():
                several = int(by.all(axis=1).sum())
                cause = tr("{} of {} parts of what {} gives get no gradient: nothing reads them", several, parts, path)
                found.append(Finding("gradients", path, cause, EACH_PART))
                break
    return found


def idle_answers(subject: Subject, trainable: dict) -> list[Finding]:
    """Maps of two or three numbers for each place, as for start and end, one of which the loss does not ask for."""
    graph, consumers = subject.reference, subject.reference.consumers()
    for run in graph.runs if subject.loss is not None else ():
        name = next((each for each in run.parameters if each is not None), "")
        p = trainable.get(name)
        if run.op is not Product or p is None or len(p) not in (2, 3):
            continue
        lost = some_idle(p)
        if lost.any() and all(each.op in ANSWERS for each in readers(run, consumers)):
            which = int(lost.argmax()) + 1
            cause = tr("answer {} of {} that {} gives gets no gradient: the loss does not ask for it", which, len(p), run.path)
            return [Finding("gradients", run.path, cause, tr("ask for each in the loss, or make the layer smaller"))]
    return []


ANSWERS = (MaskedFill, Where, Add, Softmax)  # between a map and a loss, none of which takes a gradient away whole


def idle_rows(subject: Subject, trainable: dict) -> list[Finding]:
    """Of a parameter of two or three rows, as for queries and keys, one that gets no gradient, and another that does."""
    modules = dict(subject.model.named_modules())
    for name, p in trainable.items():
        path = _owner(name)
        tables = (look.table for look in subject.reference.lookups)
        asked = isinstance(modules[path], Embedding | Linear | _ConvNd) or any(p._array is table for table in tables)
        if asked or p.dim() < 2 or len(p) not in (2, 3):
            continue
        lost = some_idle(p)
        if lost.any() and not any(run.reads for run in subject.reference.runs if run.parameters[:1] == [name]):
            cause = tr("row {} of {}, which has {}, gets no gradient: nothing reads it", int(lost.argmax()), name, len(p))
            fix = tr("use each part of it, or make it smaller")
            return [Finding("gradients", path, cause, fix)]
    return []


def frozen_between(subject: Subject) -> list[Finding]:
    """Layers of a list that are frozen whole, while some like them learn, both before and behind."""
    found = []
    for path, stack in subject.model.named_modules():
        layers = [(n, m) for n, m in stack._modules.items() if m is not None and any(True for _ in m.parameters())]
        if not isinstance(stack, (ModuleList, Sequential)) or len({type(m) for _, m in layers}) != 1:
            continue
        learns = [any(p.requires_grad for p in m.parameters()) for _, m in layers]
        for i, (at, _) in enumerate(layers):
            if not learns[i] and any(learns[:i]) and any(learns[i + 1 :]):
                n, of = sum(learns), len(layers)
                cause = tr("layer {} is frozen, and {} of its {} like it learn, before it and behind it", at, n, of)
                found.append(Finding("gradients", f"{path}.{at}".lstrip("."), cause, FROZEN))
    return found


FROZEN = tr("p.requires_grad_(True) for its parameters, or freeze all before it, too")
CUT = tr("use its output as it is, without .detach(), .data, item() or no_grad()")
UNUSED = tr("call it in forward, or delete it; what only the loss uses: audit(..., loss=lambda out: ...)")


class Failed(Exception):
    """The backward raised an error."""


def finding(path: str, names: list[str], trainable: dict, why: str, fix: str) -> Finding:
    """Parameters that will stay as they are, and the module to look at."""
    numbers = sum(trainable[name].numel() for name in names)
    which = path or tr("the model")
    cause = tr("{} {}: {} of {} parameters get no gradient, e.g. {}", which, why, len(names), len(trainable), names[0])
    counts = {"parameters without gradient": len(names), "numbers in them": numbers, "parameters": len(trainable)}
    return Finding("gradients", path, cause, fix, counts)


def _owner(name: str) -> str:
    return name.rpartition(".")[0]


def below(names, path: str) -> list[str]:
    """Those of `names` in the module at `path`."""
    return sorted(n for n in names if path == "" or n.startswith(path + "."))


def backward(subject: Subject) -> None:
    """The one backward of the audit, from the forward in train mode; gradients then lie in .grad."""
    watch = subject.training
    if subject.backwards:
        return
    for p in subject.model.parameters():
        p.grad = None
    outputs = but_steps(subject, [y for y in tensors_in(watch.result) if y.requires_grad])
    if subject.shown.remembers:  # a state that is handed on is no answer: what it alone brings teaches nothing
        states = states_in(subject.model, watch.result)
        outputs = [y for y in outputs if id(y._array) not in states] or outputs
    if not outputs:
        return  # nothing can be differentiated, so nothing gets a gradient
    subject.backwards += 1
    with BackWatch() as back:
        try:
            if subject.loss is not None:
                subject.loss(watch.result).backward()
            else:
                parts = [(y * _weights(subject, y)).sum() for y in outputs]
                sum(parts[1:], parts[0]).backward()
        except Exception as error:
            raise Failed(words(error)) from error
    turns = in_turn(back.tables, lambda _: "", lambda pair: pair[0])
    subject.leaves = back.leaves
    subject.tables = back.tables + [
        (np.stack([i.ravel() for i, _ in each], 1), np.stack([dy.reshape(i.size, -1) for i, dy in each], 1))
        for turn in turns for each in (turn, turn[::-1])
    ]  # fmt: skip


def but_steps(subject: Subject, outputs: list[Tensor]) -> list[Tensor]:
    """Outputs without those that the loss which the model gives, or the answer of a decoder, is computed from: it is they that are
    trained, and a memory that is given with them teaches nothing."""
    graph, text = subject.reference, subject.kind.text
    made = graph.results
    asked = [run for run in made if run is not None and run.output.ndim == 0 and run.live and (given_losses(graph) or run.reads)]
    if not asked and subject.kind.source and (sink := subject.sink()) is not None:
        asked = [sink]
    last = {run.number for run in asked}
    steps = {each.number for run in asked for each in run.inside()} - last
    both = list(zip(tensors_in(subject.training.result), made))
    if subject.kind.source:
        both = [(y, run) for y, run in both if run is None or text in run.reads]
    kept = [y for y, run in both if run is None or run.number not in steps]
    return [y for y in outputs if any(y is each for each in kept)] or outputs


def _weights(subject: Subject, y: Tensor) -> Tensor:
    return Tensor._of(subject.rng.standard_normal(y.shape).astype(y._array.dtype))


def without_effect(subject: Subject, trainable: dict) -> list[Finding]:
    """Modules that are called, all of whose parameters have gradients of zero; a note, where that is not all of one."""
    zero = [name for name, p in trainable.items() if p.numel() and idle(p)]
    matrices = [name for name in zero if trainable[name].dim() > 1]
    if matrices:
        subject.notes.append(
            tr("{} matrices have a gradient of zero throughout, e.g. {}: are they of use?", len(matrices), matrices[0])
        )
    given = {call.path for call in subject.training.calls if any(x.dtype.kind == "f" and not x.any() for x in call.inputs)}
    lost = covering(subject, set(zero) - {n for n in zero for each in given if n in below(zero, each)}) if matrices else []
    ended = [(f"{call.path}.", call.ended) for call in subject.training.calls if call.path]
    last = {path: max((at for inner, at in ended if path and inner.startswith(f"{path}.")), default=-1) for path in lost}
    one_key = any(seen.keep.shape[-1] == 1 for seen in subject.reference.attentions)  # of which nothing is asked
    for path in sorted(lost, key=lambda each: -last[each]):  # what is called last takes it away from all that leads there
        inside = [name for name in below(matrices, path) if trainable[name].dim() > 1]
        if len(inside) > 1 or inside and path and not one_key:
            who = path or tr("the model")
            cause = tr("all that {} has gets gradients of zero: what it gives changes nothing that is asked for", who)
            fix = tr("look for what takes it away: a product with 0, a mask, a clamp, a difference of equals")
            return [Finding("gradients", path, cause, fix, {"parameters with a gradient of 0": len(below(zero, path))})]
    return []


def covering(subject: Subject, names: set[str]) -> list[str]:
    """The largest modules all of whose trainable parameters are among `names`; a lone parameter by its own name's module."""
    found: list[str] = []
    for path, module in subject.model.named_modules():
        if any(path.startswith(each + ".") or each == "" for each in found):
            continue
        own = [f"{path}.{n}" if path else n for n, p in module.named_parameters() if p.requires_grad]
        if own and all(n in names for n in own):
            found.append(path)
    for name in sorted(names):
        if not any(each == "" or name.startswith(each + ".") for each in found):
            found.append(_owner(name))
    return list(dict.fromkeys(found))
