"""No way around: in a stack with residual sums, one attention or map that everything has to pass through."""

import re
from typing import NamedTuple

from badak.inspect.audit.graph import PRODUCTS, Graph, Mixer, Ran, mixers, readers
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.ops.activation import GELU, ReLU, SiLU
from badak.ops.embedding import Embedding
from badak.ops.linear import AddMM, Linear
from badak.ops.softmax import Softmax

FIX = "lead around it: x = x + f(norm(x))"
MAPS = (Linear, AddMM, *PRODUCTS)


class Part(NamedTuple):
    """One attention, or one map of a feed-forward part: the operations to take out, and the stream that they read."""

    what: str
    cores: list[Ran]
    stream: list[Ran]

    @property
    def path(self) -> str:
        return self.cores[0].path


class Residual:
    """Take each part out of the graph of the first forward: is there still a way from the tokens to the output?"""

    name = "residual"

    def ask(self, subject: Subject) -> list[Finding]:
        graph = subject.reference
        parts = attentions(subject, graph)
        if not parts:
            raise NotApplicable("no attention was seen", moot=True)
        sink, roots = subject.sink(), roots_of(subject, graph)
        if sink is None or not roots & numbers(sink.inside()):
            raise NotApplicable("the operations between the tokens and the output are not all known", moot=True)
        maps = feed_forwards(graph, parts)
        cut = {part.path: part for part in (*parts, *maps) if passes(part, sink, roots)}
        around = [part.path for part in (*parts, *maps) if part.path not in cut]
        if not around and len(parts) < 2:
            raise NotApplicable("one attention and no residual sum make no stack", moot=True)
        rest = f"the other {len(around)} attentions and maps have a way around them" if around else "as everything in this model"
        return [
            Finding(
                "residual",
                path,
                f"all that is known of a token passes through this {part.what}: its residual sum is left out; {rest}",
                FIX,
                {"with a way around": len(around), "without": len(cut)},
            )
            for path, part in cut.items()
        ]


def numbers(runs: list[Ran]) -> set[int]:
    return {run.number for run in runs}


def roots_of(subject: Subject, graph: Graph) -> set[int]:
    """The operations that bring in tokens, or what stands for them."""
    names = {subject.kind.text, subject.kind.source}
    if not subject.texts:
        return {run.number for run in graph.runs if run.reads & names and not any(s is not None and s.reads for s in run.sources)}
    sizes = {subject.vocabulary(name) for name in subject.texts}
    return {run.number for run in graph.runs if run.op is Embedding and run.reads & names and table(run) in sizes}


def table(run: Ran) -> int:
    """Rows of the table that was read."""
    return next((x.shape[0] for x in run.inputs if x is not None and x.dtype.kind not in "iu"), 0)


def passes(part: Part, sink: Ran, roots: set[int]) -> bool:
    """Whether some token reaches the output through this part alone."""
    inside = {n for run in part.stream for n in numbers(run.inside())} & roots
    reached, pending = set(), [sink]
    out = numbers(part.cores)
    while pending:
        run = pending.pop()
        if run.number in reached or run.number in out:
            continue
        reached.add(run.number)
        pending += [source for source in run.sources if source is not None]
    return bool(inside - reached)


def attentions(subject: Subject, graph: Graph) -> list[Part]:
    """The attentions whose queries are a whole text; heads that are modules of their own are one."""
    found: list[Part] = []
    places = subject.places_of_all()
    for each in mixers(graph):
        if each.queries.ndim < 2 or each.queries.shape[-2] not in places or not each.q.reads:
            continue
        if found and beside(found[-1], each):
            found[-1].cores.append(each.core)
        else:
            found.append(Part("attention", [each.core], [each.q]))
    return found


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
    attended = numbers([core for part in parts for core in part.cores])
    last = max(attended)
    blocks = {block(part.path) for part in parts} - {""}
    for run in graph.runs:
        if run.op not in (GELU, ReLU, SiLU):
            continue
        core = map_after(run, consumers)
        if core is None or core.number in found or not attended & numbers(run.inside()):
            continue
        if core.number < last or block(core.path) in blocks:
            found[core.number] = Part("map", [core], [run])
    return list(found.values())


def block(path: str) -> str:
    """The innermost numbered module: layers.2 of layers.2.mlp.0 is the first number, not that of the Sequential within."""
    match = re.match(r"(.*?\.)?\d+(?=\.|$)", path)
    return match.group() if match else ""


def map_after(run: Ran, consumers: dict[int, list[Ran]], depth: int = 5) -> Ran | None:
    """The next product with weights behind a nonlinearity, behind factors and dropout."""
    for reader in readers(run, consumers):
        if reader.op in MAPS:
            return reader if reader.output.ndim > 1 else None
        if depth and reader.output.shape == run.output.shape and reader.op is not Softmax:
            found = map_after(reader, consumers, depth - 1)
            if found is not None:
                return found
    return None
