"""What is made, joined or added in vain: a part that nothing reads, one part for two, a sum that changes nothing."""

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.graph import Ran, through
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import Subject
from badak.inspect.audit.watch import tensors_in
from badak.ops.along import TakeAlong
from badak.ops.arithmetic import Add, DivBy, Mul, Scale
from badak.ops.concat import Cat
from badak.ops.conv import Conv
from badak.ops.index import Index, Select
from badak.ops.linear import Linear as Product
from badak.ops.select import Dropout, MaskedFill, Where
from badak.ops.softmax import Softmax


def in_vain(subject: Subject, trainable: dict) -> list[Finding]:
    """The first of these."""
    return (
        side_by_side(subject)
        or unread(subject, trainable)
        or choosing(subject)
        or picked_twice(subject)
        or alike_for_all(subject, trainable)
        or gates(subject)
    )


def gates(subject: Subject) -> list[Finding]:
    """Two gates of one map that multiply each other, while a tanh stands before a third part of it: what a gate lets through was
    made a gate, and a gate what it lets through."""
    for run in subject.reference.runs:
        one, two = (through(source) for source in run.sources[:2]) if run.op is Mul and len(run.sources) > 1 else (None, None)
        if one is None or two is None or one is two or not one.op.__name__ == two.op.__name__ == "Sigmoid":
            continue
        root = cut_from(one)
        parts = [each for each in subject.reference.runs if each.op.__name__ == "Tanh" and cut_from(each) is root]
        if root is not None and root is cut_from(two) and parts:
            cause = tr("two gates of one map, each behind a sigmoid, multiply each other, and a third part stands behind a tanh")
            return [Finding("gradients", run.path, cause, GATES)]
    return []


def cut_from(run: Ran) -> Ran | None:
    """What a map gave, of which one part was given to this; None where it was given something else."""
    at, was_cut = run.sources[0] if run.sources else None, False
    while at is not None and (at.moves or at.op.pieces or at.op in (Select, Index)):
        was_cut |= at.op.pieces or at.op in (Select, Index)
        at = at.sources[0]
    return at if was_cut else None


EACH_PART = tr("use each part that chunk() or split() gives, or make the layer smaller")
ONCE = tr("look at the indices of what is joined: two parts, each once")
GATES = tr("look at which part is which: c = f.sigmoid() * c + i.sigmoid() * g.tanh(), h = o.sigmoid() * c.tanh()")


def side_by_side(subject: Subject) -> list[Finding]:
    """The same numbers, which the text was read for, put next to themselves along the channels: one of two parts was meant."""
    for run in subject.reference.runs:
        channels = (-1, 1, run.output.ndim - 1) if run.output.ndim == 4 else (-1, run.output.ndim - 1)  # of pictures, too
        if run.op is not Cat or run.output.ndim < 2 or run.attributes.get("axis", 0) not in channels:
            continue
        parts = [x for x, made in zip(run.inputs, run.sources) if x is not None and made is not None and made.live and made.reads]
        twice = [x for i, x in enumerate(parts) if x.size > 8 and np.ptp(x) > 0 and any(np.array_equal(x, y) for y in parts[:i])]
        if twice:
            cause = tr("what has shape {} is put next to itself: {} comes of it", twice[0].shape, run.output.shape)
            return [Finding("gradients", run.path, cause, ONCE)]
    return []


def picked_twice(subject: Subject) -> list[Finding]:
    """A sum of one part of something with the same part again, each picked by an index of its own."""
    for run in subject.reference.runs:
        one, two = run.sources[:2] if run.op is Add else (None, None)
        if one is None or two is None or one is two:
            continue
        if one.op is two.op and one.op in (Select, Index) and one.live and one.reads and one.sources[0] is two.sources[0]:
            if one.output.shape == two.output.shape and np.ptp(one.output) > 0 and np.array_equal(one.output, two.output):
                cause = tr("a part of shape {} is added to itself", one.output.shape)
                return [Finding("gradients", run.path, cause, ONCE)]
    return []


def alike_for_all(subject: Subject, trainable: dict) -> list[Finding]:
    """What is made of a text and added to all that a softmax weighs alike, with nothing but sums and maps behind it: it changes no
    weight."""
    for softmax in subject.reference.runs:
        run = softmax.sources[0] if softmax.op is Softmax and softmax.reads else None
        at = softmax.attributes.get("dim", -1) % softmax.output.ndim if run is not None else 0
        n = softmax.output.shape[at] if run is not None else 0
        while run is not None and n > 2:
            if run.op is Add:
                behind = run.output.ndim - at
                for x, made in zip(run.inputs[:2], run.sources[:2]):
                    alike = x is not None and x.size > 1 and (behind > x.ndim or not np.ptp(x, axis=-behind).any())
                    if alike and made is not None and made.live and made.reads:
                        maps = (each for each in reversed(made.inside()) if each.op is Product and each.parameters[1] in trainable)
                        if (first := next(maps, None)) is not None:
                            cause = tr(
                                "what {} gives is added to all {} that a softmax weighs alike: it changes nothing", first.path, n
                            )
                            return [Finding("gradients", first.path, cause, SHIFTS)]
            scored = run.op is Product and run.parameters[:1] == [None] and at < run.output.ndim - 1
            reading = [each for each in run.sources if each is not None and each.reads and each.output.dtype.kind == "f"]
            if run.op is Where and len(reading) > 1:  # as of a leaky nonlinearity
                break
            last, run = run, next((each for each in reading if n in each.output.shape), None)
            if run is None or not (scored or last.moves or last.op in (Add, *PASSES)):
                break
            if last.moves and (at >= run.output.ndim or run.output.shape[at] != n):
                at = run.output.shape.index(n)
    return []


SHIFTS = tr("put a nonlinearity between the sum and the map that scores it: v(tanh(w1(keys) + w2(query)))")
PASSES = (Scale, DivBy, MaskedFill, Where, Dropout)


def unread(subject: Subject, trainable: dict) -> list[Finding]:
    """Of what channels are cut into one part that nothing is made of, and others that are read."""
    graph = subject.reference
    given = {(run.number, slot) for x in tensors_in(graph.result) if (made := graph.made(x._array)) for run, slot in [made]}
    asked = {number for run in {number for number, _ in given} for number in (each.number for each in graph.runs[run].inside())}
    reading = (both for run in graph.runs if run.number in asked for both in zip(run.sources, run.slots))
    read = given | {(source.number, slot) for source, slot in reading if source is not None}
    for run in graph.runs:
        axis = run.attributes.get("axis", 0)
        origin, x = through(run.sources[0]) if run.sources else None, run.inputs[0]
        of_conv = origin is not None and origin.op is Conv and x is not None and x.shape == origin.output.shape
        last = 1 if of_conv else x.ndim - 1 if x is not None else 0
        channels = run.op.pieces and run.live and run.reads and x is not None and axis % x.ndim == last
        slots = [(run.number, slot) in read for slot in range(len(run.outputs))] if channels else []
        if any(slots) and not all(slots) and not (origin and learns_whole(origin, trainable)):
            cause = tr("part {} of {} that channels are cut into is read by nothing", slots.index(False) + 1, len(slots))
            return [Finding("gradients", run.path, cause, EACH_PART)]
    return []


WEIGHED = (MaskedFill, Where, Add, Softmax)  # between a map and the choice of its largest numbers


def choosing(subject: Subject) -> list[Finding]:
    """A map whose largest numbers choose, as among experts, and that has no other part in the answer: a loss alone brings it
    gradients, and the answer never tells which choice is good."""
    sink = subject.sink() if subject.answer is not None else None
    inside = {run.number for run in sink.inside()} if sink is not None else set()
    for run in subject.reference.runs:
        source = run.sources[0] if run.op is TakeAlong and run.reads and sink is not None else None
        while source is not None and (source.moves or source.op in WEIGHED):
            source = source.sources[0]
        if source is not None and source.op is Product and any(source.parameters) and source.number not in inside:
            cause = tr("what {} gives chooses, and what is chosen is not multiplied by it: no gradient of the answer reaches it",
                       source.path)  # fmt: skip
            return [Finding("gradients", source.path, cause, tr("multiply what each choice gives by its weight, and add that up"))]
    return []


def learns_whole(run: Ran, trainable: dict) -> bool:
    """Whether its weight gets a gradient for each number that it gives: what is written into another tensor is read there."""
    axis = 0 if run.op in (Product, Conv) else -1
    grads = [p.grad.to_dense()._array for name in run.parameters if (p := trainable.get(name)) is not None and p.grad is not None]
    rows = [np.moveaxis(grad, axis, 0).reshape(grad.shape[axis], -1) for grad in grads if grad.ndim > 1]
    return bool(rows) and all(each.any(axis=1).all() for each in rows)
