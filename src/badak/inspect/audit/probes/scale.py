"""Scale: scores of queries and keys grow with the width of a head; they are divided by its root, once."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.graph import PRODUCTS, Graph, Ran, between, scores_of, summands
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.inspect.audit.watch import within
from badak.ops.activation import Tanh
from badak.ops.arithmetic import Add, Div, DivBy, Mul, Neg, Scale, Shift, Sub
from badak.ops.attention import Attention
from badak.ops.concat import Cat
from badak.ops.linear import AddMM, Linear
from badak.ops.select import Dropout, MaskedFill, Where
from badak.ops.softmax import Softmax

FIX = tr("scores = q @ k.transpose(-2, -1) / math.sqrt(D), with D the width of a head; or F.scaled_dot_product_attention(q, k, v)")
ONE = 1e-3  # how near a factor is to another
SCALES = re.compile(r"att\w*(scal|multiplier)")
NARROW = 4  # heads for which it hardly matters
KEPT = (Add, Sub, MaskedFill, Where, Dropout, Tanh, Shift, Neg, Cat)


class Scaled(NamedTuple):
    """One attention: what the product of its queries and keys is multiplied by, D, and what else bears on how large it may be."""

    path: str
    factors: list[float]
    width: int
    free: bool  # whether a bias that is learned is added, as in T5, which divides nothing; of pictures nothing is meant by that
    unit: bool  # whether vectors have length 1
    meant: bool = False  # whether a configuration says that they are multiplied by 1
    others: tuple[int, ...] = ()  # what else there is as many of: the width of all heads, places, rows

    @property
    def factor(self) -> float:
        return float(np.prod(self.factors))


def ask(subject: Subject) -> list[Finding]:
    """Multiply the numbers up that stand between the maps of queries and keys and the softmax of their scores."""
    seen = list(scaled(subject.reference))
    if subject.primary.ndim == 4 and not subject.texts:  # a bias excuses what reads words alone
        seen = [each._replace(free=False) for each in seen]
    if not seen:
        raise NotApplicable(tr("no attention was seen whose scores are made of the maps of a text"), moot=True)
    without = any(each.free and each.factor == 1 for each in seen)  # as in T5, whose maps start smaller
    return [Finding("scale", each.path, cause, FIX, {"factor": each.factor, "D": each.width})
            for each in {each.path: each for each in seen}.values() if (cause := wrong(each, without))]  # fmt: skip


def wrong(each: Scaled, without: bool) -> str:
    """What is wrong with the scale of an attention; "" where nothing is. without: whether others need none."""
    if each.unit or each.width < NARROW:
        return ""
    root = each.width**-0.5
    if not each.factors or abs(each.factor - 1) < ONE:
        if without or each.free or each.meant:
            return ""
        return tr("queries and keys of {} numbers are multiplied, and nothing divides their scores by its root", each.width)
    if each.factor > 1:
        return tr("scores of queries and keys of {} numbers are multiplied by {:.3g}, and not divided", each.width, each.factor)
    if sum(abs(factor / root - 1) < ONE for factor in each.factors) > 1:
        return tr("scores of queries and keys of {} numbers are divided by its root twice", each.width)
    mistaken = next((n for n in each.others if n not in (1, each.width, each.width**2) and abs(each.factor * n**0.5 - 1) < ONE), 0)
    if mistaken and not each.free:
        return tr("scores of queries and keys of {} numbers are divided by the root of {} instead", each.width, mistaken)
    return ""


def scaled(graph: Graph) -> Iterator[Scaled]:
    """The attentions whose queries and keys come from maps, and all of whose factors are known."""
    for run in graph.runs:
        if issubclass(run.op, Attention):
            sides = before(run.sources[0], run.sources[1], owner(graph, run.path))
            given = run.attributes.get("scale")
            if sides is not None and run.inputs[0] is not None:
                width = run.inputs[0].shape[-1]
                factors = [*sides[0], width**-0.5 if given is None else float(given)]
                free, others = learned(run.sources[4], run.parameters[4]), sizes(run.output.shape, width, sides[1])
                yield Scaled(run.path, factors, width, free, unit(run.inputs[0]), meant(graph, run.path), others)
        elif run.op is Softmax and run.output.ndim > 2 and (product := scores_of(run)) is not None:
            behind, free = factors_between(run, product)
            sides = None if len(summands(run)) > 1 else before(product.sources[0], product.sources[1], owner(graph, run.path))
            if behind is not None and sides is not None:
                width, alike = contracted(product), any(map(unit, product.inputs[:2]))
                others = sizes(run.output.shape, width, sides[1])
                yield Scaled(run.path, [*sides[0], *behind], width, free, alike, meant(graph, run.path), others)


def meant(graph: Graph, path: str) -> bool:
    """Whether a configuration says that scores are multiplied by 1."""
    held = (getattr(module, "config", None) for module in (graph.model, graph.model.get_submodule(owner(graph, path))))
    said = ((name, value) for each in held for name, value in getattr(each, "__dict__", {}).items())
    return any(SCALES.search(name) and type(value) in (int, float) and value == 1 for name, value in said)


def owner(graph: Graph, path: str) -> str:
    """The module in which the maps of an attention stand: that which calls it, where its own has no parameters."""
    while path and not any(True for _ in graph.model.get_submodule(path).parameters()):
        path = path.rpartition(".")[0]
    return path


def sizes(shape: tuple, width: int, read: int) -> tuple[int, ...]:
    """What a root may be of by mistake: the width of all heads, or of what their maps read; as many as heads, places, rows."""
    return (width * shape[1] if len(shape) == 4 else width, read, *shape)


def contracted(product: Ran) -> int:
    """How many numbers are multiplied and added up for each score."""
    if "ta" not in product.attributes:
        return int(product.inputs[0].shape[-1])  # type: ignore[union-attr]
    ta, ty = product.attributes["ta"], product.attributes["ty"]
    return int(np.prod([n for n, c in zip(product.inputs[0].shape, ta) if c not in ty]))  # type: ignore[union-attr]


def unit(x: np.ndarray | None) -> bool:
    """Whether vectors have length 1 along an axis of theirs."""
    return x is not None and any(np.allclose(np.square(x).sum(axis=axis), 1.0, atol=1e-2) for axis in (-1, -2))


def learned(source: Ran | None, parameter: str | None) -> bool:
    """Whether what is added is a parameter, or made of one."""
    return parameter is not None or source is not None and source.live


def factors_between(softmax: Ran, product: Ran) -> tuple[list[float] | None, bool]:
    """The numbers that scores are multiplied by on their way to a softmax, None where one is not known; and whether something that
    is learned is added."""
    way = between(softmax, product)
    factors = [times(run, side) for run, side in way or ()]
    sums = [(run, side) for run, side in way or () if run.op in (Add, Sub)]
    free = any(learned(run.sources[i], run.parameters[i]) for run, side in sums for i in range(len(run.inputs)) if i != side)
    known = [factor for factor in factors if factor is not None]
    return (None if way is None or len(known) < len(factors) else [factor for factor in known if factor != 1]), free


def times(run: Ran, side: int) -> float | None:
    """What an operation multiplies one of its inputs by; 1 where it does not, None where that is no one number."""
    if run.op is Scale:
        return float(run.attributes["c"])
    if run.op is DivBy:
        return 1 / float(run.attributes["c"])
    if run.op in (Mul, Div):
        x, made, parameter = run.inputs[1 - side], run.sources[1 - side], run.parameters[1 - side]
        if x is None or x.size != 1 or parameter is not None or made is not None and (made.live or made.reads):
            return None
        return float(x.item()) if run.op is Mul else 1 / float(x.item()) if side == 0 else None
    return 1.0 if run.moves or run.op in KEPT else None


def before(q: Ran | None, k: Ran | None, path: str) -> tuple[list[float], int] | None:
    """The numbers that queries and keys are multiplied by behind their maps, and how wide what these read is; None where they come
    from no map in the module at `path`: what a recurrent layer gives may ask as it is."""
    both = [since_map(q, path), since_map(k, path)]
    return None if both[0] is None or both[1] is None else (both[0][0] + both[1][0], both[0][1])


def since_map(run: Ran | None, path: str) -> tuple[list[float], int] | None:
    """The numbers that vectors are multiplied by on their way from a map with weights, turned or normalised or not; and how many
    numbers that map reads."""
    factors: list[float] = []
    while run is not None:
        if run.op in (Linear, AddMM, *PRODUCTS):
            reads = next((x.shape[-1] for x, name in zip(run.inputs, run.parameters) if x is not None and not name), 0)
            return (factors, reads) if any(run.parameters) and within(run.path, path) else None
        reading = [i for i, source in enumerate(run.sources) if source is not None and source.reads]
        if not reading:
            return None
        if run.op in (Scale, DivBy, Mul, Div) and (factor := times(run, reading[0])) is not None and len(reading) == 1:
            factors += [] if factor == 1 else [factor]
        wide = [i for i in reading if run.sources[i].output.size == run.output.size]  # type: ignore[union-attr]
        run = run.sources[(wide or reading)[0]]
    return None
