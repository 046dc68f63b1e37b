"""Losses that several operations make: the mean or the sum of what answers and data differ by, or of cross entropies of
probabilities; and sums of losses, of which backward() may be called of a part alone."""

from typing import Any, NamedTuple

import numpy as np

from badak.core.modes import modes
from badak.inspect.doctor import layout, mixtures, rewards
from badak.inspect.doctor.facts import Divergence, Watch
from badak.inspect.doctor.graph import behind, below, leaves_of, memory, of_edge
from badak.inspect.doctor.names import line

MOST = 32  # pairs and sums of a step
PLAIN = "mean sum add sub neg shift scale div_by sub_from clone cast expand".split()  # of which a sum of losses is made
UP = (
    "mean sum pow_by square mul abs sqrt neg scale shift where clamp div_by add log sub_from maximum".split()
)  # from a loss to what differs
LOGARITHM = "clamp shift log1p".split()
NUMBERS = "add sub scale div_by neg shift mul".split()  # of which a loss of several terms is made


class Pair(NamedTuple):
    """Answers and what they are compared with, as a node that a loss is made of."""

    node: Any
    kind: str
    made: Any  # the node of the answers
    answers: np.ndarray
    labels: np.ndarray


class Sum(NamedTuple):
    """A sum of numbers that have a graph."""

    node: Any
    place: str


def is_data(x: Any, like: np.ndarray) -> bool:
    """Whether a tensor is numbers without a graph, of the shape of what is made of them."""
    if x is None or x._node is not None or x._requires_grad:
        return False
    return x._array.dtype.kind == "f" and x._array.shape == like.shape


def difference(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """What answers differ by from data."""
    layout.stretched(watch, op, saved, inputs, arrays, attributes, outputs)
    layout.crossed(watch, inputs, arrays)
    layout.apart(watch, inputs, arrays)
    y, node = outputs[0]._array, outputs[0]._node
    if node is None or not modes.grad or y.size < 2 or len(watch.pairs) >= MOST or len(inputs) != 2:
        return
    if inputs[0]._node is not None and inputs[1]._node is not None:
        rewards.target(watch, inputs[0], inputs[1])
        if inputs[0]._node is not inputs[1]._node and not y.any() and y.size >= 8 and len(watch.open.equal) < MOST:
            watch.open.equal.append(line())
    layout.addend(watch, inputs, y, node)
    for x, other in ((0, 1), (1, 0)):
        if inputs[x]._node is None or arrays[x].shape != y.shape:
            continue
        if is_data(inputs[other], y):
            watch.pairs[id(node)] = Pair(node, "difference", inputs[x]._node, arrays[x], arrays[other])
        elif y.ndim > 2 and y.shape[-1] > 1 and is_data(inputs[other], y[..., :1]):  # several quantiles of each
            watch.pairs[id(node)] = Pair(node, "quantiles", inputs[x]._node, arrays[x], arrays[other][..., 0])


def taken_apart(watch: Watch, node: Any) -> None:
    """A node that what backward() is called of is a sum of: a term that was detached is for nothing."""
    if id(node) in watch.addends and len(watch.open.constants) < 64:
        _, place, mean = watch.addends[id(node)]
        watch.open.constants.append((place, mean, True))


def product(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """Labels times the logarithm of probabilities."""
    y, node = outputs[0]._array, outputs[0]._node
    layout.multiplied(watch, inputs, arrays, y, node)
    mixtures.times(watch, arrays, outputs)
    mixtures.spread(watch, inputs, arrays)
    if len(inputs) == 2 and y.ndim == 2 and node is not None:
        layout.stretched(watch, op, saved, inputs, arrays, attributes, outputs)
    if node is not None and watch.looks_closely and modes.grad and len(inputs) == 2:
        layout.scaled(watch, inputs, arrays)
    if node is None or not modes.grad or len(inputs) != 2:
        return
    if inputs[0]._node is not None and inputs[1]._node is not None and y.ndim < 3:
        rewards.advantage(watch, inputs)
    elif y.ndim < 3:
        rewards.weighed(watch, inputs, arrays, node)
    for x, other in ((0, 1), (1, 0)) if y.ndim and y.size == len(y) >= 8 and len(watch.open.zeroed) < MOST else ():
        if inputs[x]._node is not None and is_data(inputs[other], y):
            watch.open.zeroed.append((line(), not arrays[other].any()))
    if y.size < 2 or len(watch.pairs) >= MOST:
        return
    for x, other in ((0, 1), (1, 0)):
        made = behind(inputs[x], ()) if inputs[x]._node is not None and is_data(inputs[other], y) else None
        if made is not None and ((arrays[other] == 0) | (arrays[other] == 1)).all():
            if made.name in ("softmax", "sigmoid"):
                watch.overlaps[id(node)] = node, None
            elif arrays[x].min() < 0 or arrays[x].max() > 1:
                watch.overlaps[id(node)] = node, made
        log = behind(inputs[x], LOGARITHM) if inputs[x]._node is not None and is_data(inputs[other], y) else None
        labels = arrays[other]
        if log is not None and log.name == "log" and labels.min() >= 0 and labels.max() <= 1:
            made = of_edge(log.edges[0])
            new = Pair(node, "bce", made, np.exp(arrays[x]), labels)
            if any(each.made is made and same_but_turned(each, new) for each in watch.pairs.values()):
                layout.note(watch, "both", arrays[x].shape, labels.shape)
            watch.pairs[id(node)] = new


def entropy(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """The cross entropy of probabilities as one operation, of which a loss is the mean or the sum."""
    y, node = outputs[0]._array, outputs[0]._node
    if node is not None and modes.grad and 1 < y.size and len(watch.pairs) < MOST and is_data(inputs[1], y):
        watch.pairs[id(node)] = Pair(node, "bce", inputs[0]._node, arrays[0], arrays[1])


def same_but_turned(a: Pair, b: Pair) -> bool:
    """Whether y and 1 - y ask for one and the same."""
    return a.labels.shape == b.labels.shape and np.array_equal(a.answers, b.answers) and np.allclose(a.labels + b.labels, 1.0)


def share_of_both(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """How much probabilities, or logits, and labels overlap, of the sum of both."""
    layout.normalised(watch, op, saved, inputs, arrays, attributes, outputs)
    node = outputs[0]._node
    if watch.overlaps and node is not None and len(node.edges) == 2 and None not in node.edges:
        above, under = (plain_below(of_edge(edge)) for edge in node.edges)
        for _, made in [watch.overlaps[id(each)] for each in above if id(each) in watch.overlaps][:1]:
            if made is None:
                watch.likely[id(node)] = node, line(), 1, watch.open.overlaps
            elif any(each is made for each in under) and len(watch.open.unbounded) < 64:
                watch.open.unbounded.append(line())


def chosen(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """where(label, p, 1 - p): the probability of what a label says."""
    node, condition = outputs[0]._node, inputs[0]
    labels = watch.told.get(memory(arrays[0])) if node is not None and modes.grad and condition is not None else None
    branch = next((i for i in (1, 2) if inputs[i] is not None and inputs[i]._node is not None), 0) if labels is not None else 0
    if labels is None or not branch or len(watch.pairs) >= MOST:
        return
    layout.stretched(watch, op, saved, (inputs[branch], condition), (arrays[branch], labels[1]), attributes, outputs)
    if all(x is not None and x._node is inputs[branch]._node for x in inputs[1:3]):
        layout.note(watch, "both", arrays[branch].shape, labels[1].shape)
    if labels[1].shape == arrays[branch].shape == outputs[0].shape and outputs[0]._array.size > 1:
        made = behind(inputs[branch], ("sub_from", *LOGARITHM))
        if made is not None and made.name in ("sigmoid", "select", "softmax"):
            watch.pairs[id(node)] = Pair(node, "bce", made, arrays[branch], labels[1])


def squashed(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """The sigmoid of what a sigmoid made."""
    made = behind(inputs[0], ()) if outputs[0]._node is not None and inputs[0]._node is not None else None
    if made is not None and made.name == "sigmoid" and len(watch.open.twice) < 64:
        watch.open.twice.append((line(), made.line, "the sigmoid is taken of what a sigmoid"))


def behind_loss(watch: Watch, node: Any) -> Pair | None:
    """The answers and labels that a number is made of, element by element."""
    for _ in range(10):
        if node is None or not hasattr(node, "op"):
            return None
        pair = watch.pairs.get(id(node))
        if pair is not None or node.name not in UP and not node.op.view:
            return pair
        node = next((edge[0] for edge in node.edges if edge is not None), None)
    return None


def added_up(watch: Watch, node: Any, inputs: tuple) -> None:
    """Note a sum of two numbers that both have a graph of this step."""
    if len(watch.sums) < MOST and len(inputs) == 2 and all(x._node is not None and x._node.order > watch._first for x in inputs):
        watch.sums.append(Sum(node, line()))


def plain_below(node: Any) -> list[Any]:
    """What a number is a sum of, and all that is between."""
    found: list[Any] = []
    pending = [node] if node is not None else []
    while pending and len(found) < MOST:
        found.append(each := pending.pop())
        if each.name in PLAIN or each.op.view:
            pending += below(each)
    return found


def root(watch: Watch, node: Any) -> None:
    """What backward() is called of: what it is a sum of; also where that is the logarithm of a sigmoid."""
    every = plain_below(node)
    watch._plain |= {id(each) for each in every}
    for each in every if len(watch.optimizers) < 2 else ():  # what one player makes likely another makes unlikely
        if each.name in ("log_sigmoid", "softplus"):
            watch.likely[id(each)] = each, line(), 1 if each.name == "log_sigmoid" else -1, watch.open.likely


def in_part(watch: Watch, passed: set[int]) -> list[str]:
    """The lines of sums that nothing was differentiated of as a whole, and some of whose terms were, and others were not."""
    found = []
    for node, place in watch.sums if passed else ():
        if id(node) in passed:
            continue
        terms = [id(term) for term in terms_of(node)]
        went = [term in passed for term in terms]
        if any(went) and not all(went):
            found.append(place)
    return found


def terms_of(node: Any) -> list[Any]:
    """The nodes of the losses that a sum is made of."""
    terms: list[Any] = []
    pending = [node]
    while pending and len(terms) < 16:
        node = pending.pop()
        if node.name in NUMBERS and below(node) and len(terms) + len(pending) < 16:
            pending += below(node)
        else:
            terms.append(node)
    return terms


def reached_by(node: Any) -> list[tuple[str, frozenset[int]]]:
    """The line of each term of what backward() is called of, and the leaves (their id) that it depends on."""
    terms = terms_of(node)
    return [(each.line, frozenset(leaves_of(each))) for each in terms] if len(terms) > 1 else []


TERMS = "add sub neg shift scale div_by sum mean clone cast".split()  # of which a divergence is made


def diverged(watch: Watch, node: Any, made: Any, shape: tuple[int, ...]) -> None:
    """Note a sum of l, exp(l) and squares, or of v, log(v) and squares: a divergence from the standard normal distribution."""
    if node.name not in TERMS or len(watch.open.divergences) >= MOST or made._node is None:
        return
    terms: set[int] = set()
    exps, logs, squares, pending, left, drawn_at = [], [], 0, [node], 24, ""
    while pending and left:
        node, left = pending.pop(), left - 1
        made_by = [edge[0] for edge in node.edges if edge is not None]
        terms.add(id(node))
        if node.name in TERMS or node.op.view:
            pending += [each for each in made_by if hasattr(each, "op")]
            terms |= {id(each) for each in made_by}
        elif node.name == "exp" and made_by:
            exps.append(through_scale(made_by[0]))
            drawn_at = drawn_at or watch.spreads.get(id(made_by[0]), (None, ""))[1]
        elif node.name == "log" and made_by:
            logs.append(id(made_by[0]))
            terms |= {id(each) for each in [made_by[0]] if is_square(each)}
        elif is_square(node):
            terms |= {id(each) for each in made_by}
            squares += 1
    if squares and any(each in terms for each in (*exps, *logs)):
        watch.open.divergences.append(Divergence(line(), made._node, float(made._array.sum()), shape, drawn_at=drawn_at))
        watch.divergences[id(made._node)] = watch.open.divergences[-1]


def is_square(node: Any) -> bool:
    made_by = {id(edge[0]) for edge in getattr(node, "edges", ()) if edge is not None}
    return getattr(node, "name", "") in ("pow_by", "square") or (getattr(node, "name", "") == "mul" and len(made_by) == 1)


def through_scale(node: Any) -> int:
    """The id of a node, or of what it is a multiple of."""
    while getattr(node, "name", "") in ("scale", "div_by"):
        node = node.edges[0][0] if node.edges[0] is not None else None
    return id(node)


def added(watch: Watch, node, inputs) -> None:
    """Note where a sum that hangs on numbers of earlier steps grows on, from step to step."""
    added_up(watch, node, inputs)
    made = [edge[0].order for edge in node.edges if edge is not None and hasattr(edge[0], "op")]
    old = [order for order in made if order < watch._first]
    if old:
        watch._sums[node.order] = long = 1 + max(watch._sums.get(order, 0) for order in old)
        if long > 1:
            watch.open.carried.append(line())
