"""Sums of a stream and of what a part made of it: which parts of a module have one right behind them, and which has none."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from badak.inspect.audit.graph import Graph, Ran, through
from badak.inspect.audit.watch import within
from badak.ops import norm
from badak.ops.activation import ACTIVATIONS
from badak.ops.arithmetic import Add, DivBy, Mul, Scale, Sub
from badak.ops.attention import Attention
from badak.ops.concat import Cat
from badak.ops.conv import Conv
from badak.ops.einsum import Contract
from badak.ops.linear import AddMM, Linear
from badak.ops.matmul import MatMul
from badak.ops.select import Dropout
from badak.ops.softmax import Softmax

if TYPE_CHECKING:
    from badak.inspect.audit.probes.residual import Part

HANDS_ON = (norm.LayerNorm, norm.RMSNorm, norm.GroupNorm, Scale, DivBy, Mul, Dropout, Linear, AddMM, Conv)
USES = (*ACTIVATIONS, Softmax, MatMul, Contract)
LEAST = 2  # parts that show how a module is meant


def alone(graph: Graph, parts: list["Part"]) -> Iterator[tuple["Part", int]]:
    """(part, how many others) of each part without a sum in a module whose other parts, two at least, all have theirs."""
    consumers, beside = graph.consumers(), siblings(parts)
    summed = {id(part): has_sum(part, consumers) for part in parts}
    for part in parts:
        others = [each for each in beside.get(id(part), []) if each is not part]
        if summed[id(part)] is False and len(others) >= LEAST and all(summed[id(each)] for each in others):
            yield part, len(others)


def siblings(parts: list["Part"]) -> dict[int, list["Part"]]:
    """The parts that stand next to each part in the innermost module that holds several; none where that is the model itself."""
    holders = {id(part): holder(part.path, [each.path for each in parts if each is not part]) for part in parts}
    return {id(part): [each for each in parts if holders[id(each)] == holders[id(part)]] for part in parts if holders[id(part)]}


def holder(path: str, others: list[str]) -> str:
    """The innermost module around a part that holds another one, too."""
    while path and not any(within(each, path) for each in others):
        path = path.rpartition(".")[0]
    return path


def has_sum(part: "Part", consumers: dict[int, list[Ran]]) -> bool | None:
    """Whether what a part gives is added to, or put next to, what it was made of, before something else is made of it; None where
    it has another shape than the stream."""
    before = {run.number for each in part.stream for run in each.inside()}
    shapes = {run.output.shape for each in part.stream for run in each.inside() if run.live}
    own = {run.number for run in part.cores}
    if part.what == "map" and part.cores[0].output.shape not in shapes:
        return None
    made = through(next(iter(part.cores[0].sources), None))
    if part.what == "map" and made is not None and made.op is norm.GroupNorm:
        return None  # of channels in front: the sum stands behind the part that lays them out so again
    pending, seen, alike, used = list(part.cores), set(own), False, False
    while pending:
        run = pending.pop()
        for reader in consumers.get(run.number, []):
            if reader.number in seen:
                continue
            seen.add(reader.number)
            others = [each for each in reader.sources if each is not None and each is not run]
            if reader.op in (Add, Sub, Cat) and any(each.number in before and each.reads for each in others):
                return True
            if reader.op in (Add, Sub) and any(own & {each.number for each in other.inside()} for other in others):
                continue  # the sum of a part behind it
            if reader.op in (Add, Sub, *HANDS_ON) or reader.moves or reader.op.data_movement:
                alike = alike or reader.output.shape in shapes
                pending.append(reader)
            elif reader.op in USES or issubclass(reader.op, Attention):
                used = True
            else:  # such as the sum of what experts give, place by place
                return None
    return False if alike and used else None
