"""No way around: in a stack with residual sums, one attention or map that everything has to pass through."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from badak import nn
from badak.core.errors import tr
from badak.inspect.audit.graph import PRODUCTS, Graph, Mixer, Ran, additive, mixers, readers, summands_of
from badak.inspect.audit.probes.sums import alone
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.inspect.audit.watch import Call
from badak.nn.norm import LayerNorm, RMSNorm
from badak.ops import norm
from badak.ops.activation import ACTIVATIONS, Sigmoid, Tanh
from badak.ops.arithmetic import Mul
from badak.ops.conv import Conv
from badak.ops.embedding import Embedding
from badak.ops.index import Index
from badak.ops.linear import AddMM, Linear
from badak.ops.select import Dropout
from badak.ops.softmax import Softmax

FIX = tr("lead around it: x = x + f(norm(x))")
SUM_FIX = tr("add to what is newest: h = x + attention(norm(x)); h = h + mlp(norm(h))")
MAPS = (Linear, AddMM, *PRODUCTS)
NORMS = (norm.LayerNorm, norm.RMSNorm, norm.GroupNorm)


class Part(NamedTuple):
    """One attention, one map of a feed-forward part, or one module of a block: the operations to take out, and the stream that
    they read."""

    what: str
    cores: list[Ran]
    stream: list[Ran]
    module: str = ""
    normed: bool = False  # whether its block has a norm, which stands next to a sum
    lifts: bool = False  # whether it mixes places channel by channel, makes many channels of them, and as few as before of those

    @property
    def path(self) -> str:
        return self.module or self.cores[0].path


def ask(subject: Subject) -> list[Finding]:
    """Take each part out of the graph of the first forward: is there still a way from the tokens to the output?"""
    graph = subject.reference
    parts = attentions(subject, graph)
    others = modules(graph)
    if not parts and not others:
        raise NotApplicable(tr("no attention and no stack of modules was seen"), moot=True)
    sink, roots = subject.sink(), roots_of(subject, graph)
    if sink is None or not roots & numbers(sink.inside()):
        raise NotApplicable(tr("the operations between the tokens and the output are not all known"), moot=True)
    way = numbers(sink.inside())
    parts = [part for part in parts if way & numbers(part.cores)]
    maps = [part for part in feed_forwards(graph, parts) if way & numbers(part.cores)] if parts else []
    cut = {part.path: part for part in (*parts, *maps) if passes(part, sink, roots | stream_of(graph, part))}
    cut = {path: part for path, part in cut.items() if not widens(graph, path)}
    cut |= {part.path: part for part in abreast(graph, parts, maps) if not {part.path} & set(cut) and passes(part, sink, roots)}
    taken = {n for part in (*parts, *cut.values()) for n in numbers(part.cores)}
    others = [each for each in others if way & numbers(each.cores) and not numbers(each.cores) & taken]
    shut = {part.path: part for part in others if passes(part, sink, roots)}
    free = {stack(part.path) for part in (*parts, *maps, *others) if part.path not in {**cut, **shut}}
    cut |= {path: part for path, part in shut.items() if stack(path) in free or part.lifts or part.normed and subject.texts}
    lone = [(part, n) for part, n in alone(graph, [*parts, *maps]) if part.path not in cut]
    lost = {part.path: part for part in (*maps, *parts) if part.path not in cut and drops_sum(part, parts, sink)}
    parts = [*parts, *(part for part in others if part.path in cut or part.path not in shut)]
    around = [part.path for part in (*parts, *maps) if part.path not in cut]
    if not around and len(parts) < 2 and not residual_sum(graph):
        raise NotApplicable(tr("one attention and no residual sum make no stack"), moot=True)
    rest = tr("the other {} attentions and maps have a way around them", len(around))
    rest, counts = rest if around else tr("as everything in this model"), {"with a way around": len(around), "without": len(cut)}
    found = []
    for path, part in cut.items():
        cause = tr("all that is known of a token passes through this {}: its residual sum is left out; {}", part.what, rest)
        found.append(Finding("residual", path, cause, FIX, counts))
    return found + [dropped(part) for part in lost.values()] + [lonely(part, n) for part, n in lone]


def widens(graph: Graph, path: str) -> bool:
    """Whether a module gives rows, not in heads, of another width than those that it reads: nothing can be added to them."""
    calls = [call for call in graph.calls if call.path == path and call.inputs and len(call.outputs) == 1]
    pairs = [(call.inputs[0], call.outputs[0]) for call in calls if call.inputs[0].ndim == call.outputs[0].ndim == 2]
    return bool(pairs) and all(a.shape[-1] != b.shape[-1] for a, b in pairs)


def dropped(part: Part) -> Finding:
    cause = tr("what the attention before adds to the stream reaches the output through this {} alone: its sum takes an older one",
               part.what)  # fmt: skip
    return Finding("residual", part.path, cause, SUM_FIX)


def lonely(part: Part, others: int) -> Finding:
    cause = tr("what this {} gives is not added to what it was given; what the {} next to it give is", part.what, others)
    return Finding("residual", part.path, cause, FIX)


def numbers(runs: Iterable[Ran]) -> set[int]:
    return {run.number for run in runs}


def roots_of(subject: Subject, graph: Graph) -> set[int]:
    """The operations that bring in tokens, or what stands for them."""
    names = {subject.kind.text, subject.kind.source}
    every = {n: leaf.array for n, leaf in subject.batch.leaves.items() if leaf.array.dtype.kind == "f" and leaf.array.ndim > 2}
    floats = {n for n, x in every.items() if x.shape[-1] != x.shape[-2]}  # else who is next to whom
    first = [run for run in graph.runs if not any(source is not None and source.reads for source in run.sources)]
    first = [run for run in first if carries(run.output)]
    found = {run.number for run in first if run.reads & (floats if subject.texts else names)}
    sizes = {subject.vocabulary(name) for name in subject.texts}
    if not subject.texts:  # ids with three axes, as of several choices
        sizes = {max((look.vocabulary for look in graph.lookups if look.reads & names), default=0)}
    asked = (run for run in graph.runs if run.op is Embedding or run.op is Index and any(run.parameters))
    return found | {run.number for run in asked if run.reads & names and table(run) in sizes}


def stream_of(graph: Graph, part: Part) -> set[int]:
    """What made the stream that the block of a part is given: a model may read its tokens elsewhere, too."""
    path = block(part.path) if block(part.path) != part.path else ""
    calls = [call for call in graph.calls if call.path == path != "" and call.index in part.cores[0].calls]
    before = [run for run in part.cores[0].inside() if run.live]
    given = [call.inputs[0] for call in calls if call.inputs and carries(call.inputs[0])]
    made = ([run for run in before if run.output.shape == x.shape and np.array_equal(run.output, x)] for x in given)
    first = [min(each, key=lambda run: run.number) for each in made if each]  # what comes later is a copy
    return numbers(run for run in first if not normed_from(graph, run, calls[0]))


def normed_from(graph: Graph, run: Ran, call: Call) -> bool:
    """Whether a norm made this for a call of a stream that others read, too: that one is the stream, and its sum stands outside."""
    around = [each for each in run.calls if each not in parents(call)][-1:]
    whole = [each for each in graph.runs if around and around[0] in each.calls] or [run]
    if any(each.op in (*MAPS, Conv, Embedding) for each in whole) or whole == [run] and run.op not in NORMS:
        return False
    inner = numbers(whole)
    given = {source.number for each in whole for source in each.sources if source is not None and source.number not in inner}
    return any(
        source is not None and source.number in given and each.number not in inner for each in graph.runs for source in each.sources
    )


def parents(call: Call | None) -> set[int]:
    """A call and those that it stands in."""
    found = set()
    while call is not None:
        found.add(call.index)
        call = call.parent
    return found


def table(run: Ran) -> int:
    """Rows of the table that was read."""
    return next((x.shape[0] for x in run.inputs if x is not None and x.dtype.kind not in "iu"), 0)


def passes(part: Part, sink: Ran, roots: set[int]) -> bool:
    """Whether some token reaches the output through this part alone."""
    inside = {n for run in part.stream for n in numbers(run.inside())} & roots
    return bool(inside - reached_without(part, sink))


def reached_without(part: Part, sink: Ran) -> set[int]:
    """The operations that the output is made of without this part."""
    reached: set[int] = set()
    pending, out = [sink], weighted(part, sink)
    while pending:
        run = pending.pop()
        if run.number in reached or run.number in out:
            continue
        reached.add(run.number)
        live = any(source is not None and source.live for source in run.sources)
        for source, x in zip(run.sources, run.inputs):
            if source is None or x is None or not carries(x):
                continue
            if not (live and not source.live and x.size < run.output.size):
                pending.append(source)  # not what is known of all tokens together, such as the mean that is put back
    return reached


def drops_sum(part: Part, parts: list[Part], sink: Ran) -> bool:
    """Whether the stream with the attention before a part in its block added reaches the output through the part alone."""
    before = part.stream[0].inside()
    last = max(
        (each for each in parts if numbers(each.cores) & numbers(before)), key=lambda each: each.cores[0].number, default=None
    )
    if last is None or not common(last.path, part.path) or part.what == "attention" and block(last.path) != block(part.path):
        return False
    own = numbers(last.cores)
    behind = ((run, [bool(own & numbers(source.inside())) for source in summands_of(run)]) for run in before)
    sums = [run for run, words in behind if len({*words}) == 2]
    return bool(sums) and sums[-1].number not in reached_without(part, sink)


def common(one: str, other: str) -> str:
    """The innermost module that holds both."""
    names = [a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(one.split("."), other.split(".")))]
    return ".".join(names)


def carries(x: np.ndarray | None) -> bool:
    """Whether an input carries more of a token than where it is."""
    return x is not None and x.dtype.kind in "fc"


def weighted(part: Part, sink: Ran) -> set[int]:
    """The part, and it times one number for each token, such as an expert's share: that number is no way around it."""
    out = numbers(part.cores)
    for run in sink.inside():
        made = [source is not None and source.number in out for source in run.sources]
        if run.op is Mul and any(made):
            x = run.inputs[1 - made.index(True)]
            narrow = x is not None and x.ndim == run.output.ndim and x.shape[-1] == 1 < run.output.shape[-1]
            out |= {run.number} if narrow or all(made) else set()
        elif any(made) and (run.moves or run.op is Dropout):
            out.add(run.number)
    return out


def residual_sum(graph: Graph) -> bool:
    """Whether a stream is added to what maps made of it, anywhere."""
    for run in graph.runs:
        for stream, branch in [made] if (made := summands_of(run)) else []:
            behind = (each for each in branch.inside() if stream.number in numbers(each.inside()))
            if any(each.op in MAPS and each is not stream for each in behind):
                return True
    return False


def stack(path: str) -> str:
    """The list that holds the block of a path."""
    return block(path).rpartition(".")[0]


def modules(graph: Graph) -> list[Part]:
    """The modules of several maps that the blocks of a stack hold, and that give what has the shape of what they take."""
    blocks = {call.index: call for call in graph.calls if block(call.path) == call.path != ""}
    paths = {call.path for call in blocks.values()}
    alike: Counter[tuple] = Counter((stack(call.path), type(call.module)) for call in blocks.values())
    within = [call for call in graph.calls if block(call.path) not in {"", call.path, *paths}]  # of lists: no module calls them
    alike.update((stack(call.path), call.path.removeprefix(block(call.path)), type(call.module)) for call in within)
    found = list(whole_blocks(graph, blocks.values(), alike))
    for call in graph.calls:
        parent = call.parent
        if parent is not None and block(call.path) not in paths and block(parent.path) != block(call.path):
            few = alike[stack(call.path), call.path.removeprefix(block(call.path)), type(call.module)] < 2
        else:
            few = parent is None or parent.index not in blocks or alike[stack(parent.path), type(parent.module)] < 2
        holder = parent.module if parent is not None and parent.index in blocks else call.module
        found += [] if few else of_maps(graph, call, 2, any(map(is_norm, holder.children())))
    return found


def is_norm(module: nn.Module) -> bool:
    """Whether it is one of the channels, also of the program's own."""
    return isinstance(module, LayerNorm | RMSNorm) or bool(re.search("(?<!batch)norm$", type(module).__name__.lower()))


def of_maps(graph: Graph, call: Call, axes: int, normed: bool) -> list[Part]:
    """A call that runs several maps with weights, and gives what has the shape of what it takes, of so many axes at least."""
    if not call.outputs or not call.inputs or call.inputs[0].shape != call.outputs[0].shape or call.outputs[0].ndim < axes:
        return []
    runs = [run for run in graph.runs if call.index in run.calls]
    cores = [run for run in runs if run.op in (*MAPS, Conv) and any(run.parameters)]
    sources = (source for run in runs for source in run.sources)
    given = [each for each in sources if each is not None and each.reads and call.index not in each.calls]
    return [Part("module", cores, given, call.path, normed)] if len(cores) > 1 and given else []


def whole_blocks(graph: Graph, blocks: Iterable[Call], alike: Counter) -> Iterator[Part]:
    """The blocks of a stack that have a norm and several maps of their own, none of them in a module that is a part by itself."""
    for call in blocks:
        module = call.module
        own = [each for each in module.children() if isinstance(each, nn.Linear | nn.Conv1d)]
        normed = any(map(is_norm, module.children())) or "residual" in type(module).__name__.lower()
        several = alike[stack(call.path), type(module)] > 1
        if several and len(own) > 1 and normed:
            yield from of_maps(graph, call, 3, True)
        for part in of_maps(graph, call, 4, normed) if several else ():
            if lifts(part):
                yield part._replace(lifts=True)


def lifts(part: Part) -> bool:
    """Whether one of its maps is a convolution of each channel alone, one makes twice as many channels, and one half as many."""
    inputs = ((run.op, x) for run in part.cores for x, own in zip(run.inputs, run.parameters) if own)
    weights = [(op, x.shape) for op, x in inputs if x is not None and x.ndim > 1]
    alone = any(op is Conv and size[1] == 1 < size[0] and max(size[2:], default=1) > 1 for op, size in weights)
    maps = [size for _, size in weights if size[1] > 1]
    return alone and any(a >= 2 * b for a, b, *_ in maps) and any(2 * a <= b for a, b, *_ in maps)


def attentions(subject: Subject, graph: Graph) -> list[Part]:
    """The attentions whose queries are a whole text; heads that are modules of their own are one."""
    found: list[Part] = []
    squares = {seen.keep.shape[-1] for seen in graph.attentions if seen.keep.shape[-1] == seen.keep.shape[-2]}
    places = subject.places_of_all() | squares
    for each in mixers(graph):
        if each.queries.ndim < 2 or each.queries.shape[-2] not in places or not each.q.reads:
            continue
        if found and beside(found[-1], each):
            found[-1].cores.append(each.core)
        else:
            found.append(Part("attention", [each.core], [each.q]))
    return found or [Part("attention", [each.core], [each.v]) for each in additive(graph) if each.v.reads]


def beside(last: Part, each: Mixer) -> bool:
    """Whether an attention is one more head of the last one: in the same list, and not behind it."""
    if stem(last.path) != stem(each.path):
        return False
    return not numbers(last.cores) & numbers(each.core.inside())


def stem(path: str) -> str:
    return re.sub(r"\.?\d+$", "", path)


def feed_forwards(graph: Graph, parts: list[Part]) -> list[Part]:
    """The maps behind a nonlinearity in blocks that hold an attention, or between two attentions."""
    consumers, found = graph.consumers(), {}
    attended = numbers([each.core for each in mixers(graph)]) | numbers([core for part in parts for core in part.cores])
    last = max(attended)
    blocks = {block(part.path) for part in parts} - {""}
    for run in graph.runs:
        if run.op not in ACTIVATIONS or run.op in (Sigmoid, Tanh):
            continue
        core = map_after(run, consumers)
        if core is None or core.number in found:
            continue
        if not attended & numbers(run.inside()) and block(core.path) not in blocks:
            continue
        if core.number < last or block(core.path) in blocks:
            found[core.number] = Part("map", [core], [run])
    return together(list(found.values()))


def abreast(graph: Graph, parts: list[Part], maps: list[Part]) -> Iterator[Part]:
    """An attention and the maps of its own block that stand next to it, as one: neither is a way around the other."""
    for part in parts:
        own = part.cores[0]
        before = numbers(own.inside())
        apart = [run for run in graph.runs if run.op in MAPS and any(run.parameters) and block(run.path) == block(part.path) != ""]
        apart = [run for run in apart if run.number not in before and own.number not in numbers(run.inside())]
        beside = [
            each for each in maps
            if block(each.path) == block(part.path) != "" and not numbers(part.cores) & numbers(each.stream[0].inside())
        ]  # fmt: skip
        if beside or apart:
            both = [core for each in beside for core in each.cores] + apart, [run for each in beside for run in each.stream]
            yield Part("attention and the map next to it", part.cores + both[0], part.stream + both[1])


def together(maps: list[Part]) -> list[Part]:
    """Maps of experts, which stand side by side in a list and are summed up, as one."""
    found: list[Part] = []
    for part in maps:
        last = found[-1] if found else None
        if last and counted(last.path) == counted(part.path) and not numbers(last.cores) & numbers(part.stream[0].inside()):
            last.cores.append(part.cores[0])
            last.stream.append(part.stream[0])
        else:
            found.append(part)
    return found


def counted(path: str) -> str:
    """The path without the last number in it, as of an expert."""
    return re.sub(r"(^|\.)\d+(?!.*\.\d+(\.|$))(?=\.|$)", "", path)


def block(path: str) -> str:
    """The innermost numbered module: layers.2 of layers.2.mlp.0 is the first number, not that of the Sequential within."""
    match = re.match(r"(.*?\.)?\d+(?=\.|$)", path)
    return match.group() if match else ""


def pointwise(run: Ran) -> bool:
    """Whether it is a convolution that looks at one place at a time: a linear map."""
    weight = run.inputs[1] if run.op is Conv and len(run.inputs) > 1 else None
    return weight is not None and weight.ndim > 2 and set(weight.shape[2:]) == {1}


def map_after(run: Ran, consumers: dict[int, list[Ran]], depth: int = 5) -> Ran | None:
    """The next product with weights behind a nonlinearity, behind factors and dropout."""
    for reader in readers(run, consumers):
        if reader.op in MAPS or pointwise(reader):
            return reader if reader.output.ndim > 1 else None
        if depth and reader.output.shape == run.output.shape and reader.op is not Softmax:
            found = map_after(reader, consumers, depth - 1)
            if found is not None:
                return found
    return None
