"""Order: a model that does not know where a token stands gives the same for the tokens in another order."""

import re
from functools import partial
from typing import Any

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.answer import verdict
from badak.inspect.audit.batch import Batch, counts
from badak.inspect.audit.compare import batches, change, kept
from badak.inspect.audit.graph import Graph, Mixer, mixers
from badak.inspect.audit.localize import begins, twins
from badak.inspect.audit.probes.batch import circle, leak
from badak.inspect.audit.probes.distances import NEARER, rewarded
from badak.inspect.audit.probes.positions import distances_unread, idle_table
from badak.inspect.audit.probes.rotary import turns
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NO_NUMBERS, NotApplicable, Subject, tried
from badak.inspect.audit.watch import Watch
from badak.nn.conv import Conv2d

ALIKE, SUMMED = 1e-4, 1e-5  # what another order of a sum explains is less: small weights make tokens count little
EXPLAINS = {  # what makes another order give the same, or nearly, whatever is known of positions
    "future": tr("the model does not see what came before"),
    "rotary": tr("positions are turned wrongly"),
    "residual": tr("not all of a token reaches the output"),
    "tokens": tr("tokens are alike"),
}
FIX = tr("add positions to the tokens: nn.Embedding(context, C)(arange(T)), nn.PositionalEncoding, or rotary attention")


def ask(subject: Subject) -> list[Finding]:
    """Swap tokens, and see whether the outputs are only swapped (or, of the whole text, the same).

    Behind a causal mask a second layer knows from the first where a token stands; there the first attention is looked at.
    """
    if table := idle_table(subject):
        return [Finding("order", *table, FIX)]
    if path := never_called(subject):
        cause = tr("{} is there for positions, and is never called", path)
        return [Finding("order", path, cause, FIX, {"adds": 0})]
    idle = idle_positions(subject)
    if idle:
        cause = tr("{} is there for positions and adds none: it gives what it was given, or the same everywhere", idle)
        return [Finding("order", idle, cause, FIX, {"adds": 0})]
    if far := rewarded(subject):
        cause = tr("what is added to the scores by distance grows with it: the farthest tokens count most")
        return [Finding("order", far, cause, NEARER)]
    if subject.broken:
        raise NotApplicable(NO_NUMBERS)
    if apart := rows_apart(subject):
        return [apart]
    if why := next((each for each in EXPLAINS if each in subject.found), None):
        raise NotApplicable(EXPLAINS[why], moot=True)
    if subject.forgets:
        cause = tr("with another token in the middle nothing behind it changes: each is read as if none came before")
        fix = tr("hand the state on: output, state = rnn(x, state); or let queries see what came before")
        return [Finding("order", where_positions_are_lost(subject, subject.kind.text), cause, fix)]
    if text := blind_to_order(subject):
        return [lost(subject, text, tr("its first attention gives the same behind them"))]
    by_itself = subject.texts and any(own(each, subject.kind.text) for each in mixers(subject.reference))
    several = moved(subject, subject.kind.source or subject.kind.text)
    return several or (moved(subject, subject.kind.text) if subject.kind.source and not by_itself else [])


def moved(subject: Subject, name: str) -> list[Finding]:
    """What is found with the tokens, or the patches, in another order."""
    if not subject.texts and in_any_order(subject.model, name):
        raise NotApplicable(tr("names say that it reads a set: points, nodes, particles have no order"), moot=True)
    shape = subject.batch.leaves[name].array.shape
    if len(shape) < 2 or (len(shape) != 4 and subject.length(name) < 4):
        raise NotApplicable(tr("the text has fewer than four positions"), moot=True)
    if subject.batch.leaves[name].integer and len(shape) > 2:
        raise NotApplicable(tr("the text has sentences of words, and no one order"), moot=True)
    if subject.batch.leaves[name].integer:
        places = movable(subject, name)
        if len(places) < 2:
            raise NotApplicable(tr("no two tokens could be swapped"))
        batch, move = swapped(subject, name, places)
    elif subject.causal and len(shape) == 3 and name == subject.kind.text:
        batch, move = series(subject, name)
        sees = not blind(subject, subject.facts(batch), name, move, None)
        return [] if sees else [lost(subject, name, tr("its first attention gives the same behind them"))]
    else:
        batch, move = halves(subject, name)
    if subject.answer is None:
        pair = within(subject.reference, subject.forward(batch), name)
    else:
        pair = subject.reference.outputs[subject.answer], subject.plain(batch)[subject.answer]
    if pair is None or not alike(subject, name, *pair, move):
        return []
    if name in subject.texts and turns(subject):  # small weights make small scores, whatever they are turned by
        return []
    if change(*pair) > SUMMED and told_apart(subject, name, batch, move):
        return []
    if not subject.batch.leaves[name].integer and not again(subject, name, move):
        return []
    return [lost(subject, name, tr("the outputs are the same") + (", in that order" if change(*pair) > ALIKE else ""))]


def again(subject: Subject, name: str, move: np.ndarray) -> bool:
    """Whether rows of patches, or quarters, in another order give the same, too: windows can hide that halves were swapped."""
    axis = 1 - subject.batch.batch_axis if subject.batch.leaves[name].array.ndim == 3 else 2
    high = patch_of(subject, name) if axis == 2 else 1
    part = high if high > 1 else len(move) // 4 if len(move) % 4 == 0 else 0
    if not part or subject.answer is None:
        return True
    order = np.concatenate([np.arange(part, 2 * part), np.arange(part), np.arange(2 * part, len(move))])
    other = subject.plain(reordered(subject, name, order, axis))
    return alike(subject, name, subject.reference.outputs[subject.answer], other[subject.answer], order)


def alike(subject: Subject, name: str, a: np.ndarray, b: np.ndarray, move: np.ndarray) -> bool:
    """Whether the answer is the old one, moved as the tokens were (after the last move, in a causal model)."""
    if a.ndim == 0 or a.dtype.kind != "f" or a.shape != b.shape:
        return False
    return any(x.size and change(x, y) < ALIKE for x, y in views(subject, name, a, b, move))


def views(subject: Subject, name: str, a: np.ndarray, b: np.ndarray, move: np.ndarray):
    own = name == subject.kind.text and name in subject.texts
    places = list(subject.by_place(a, b, name=name)) if own else []
    if not places or subject.rows == len(move):  # as many rows as places: which is which cannot be told
        yield a, b
    if not own and a.ndim > 2:  # of pictures: which token is which patch is not known
        yield ordered(a), ordered(b)
    for first, (x, y) in places:
        if subject.causal:
            after = max(0, last_moved(move) + 1 - first)
            yield x[after:], y[after:]
        else:
            at = np.arange(len(x))
            known = at[(at + first >= 0) & (at + first < len(move))]
            source = move[known + first] - first
            fine = (source >= 0) & (source < len(at))
            yield x[source[fine]], y[known[fine]]


def told_apart(subject: Subject, name: str, batch: Batch, move: np.ndarray) -> bool:
    """Whether the first self-attention of a text gives other sums where its tokens stand in another order: what is added to them
    next to it may be so much larger that the answer hardly shows it."""
    watch = tried(lambda: subject.facts(batch))
    both = None if watch is None else first_mixed(subject, watch, name)
    return both is not None and both[0].shape[-2] == len(move) and change(np.take(both[0], move, -2), both[1]) > ALIKE


def first_mixed(subject: Subject, watch: Graph, name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """What the first self-attention of a text gives, before and now."""
    first, other = (next((m.mixed for m in mixers(each) if own(m, name)), None) for each in (subject.reference, watch))
    return None if first is None or other is None or first.shape != other.shape else (first, other)


def lost(subject: Subject, name: str, what: str) -> Finding:
    cause = tr("with {} in another order {}: the model does not know where a token stands", name, what)
    return Finding("order", where_positions_are_lost(subject, name), cause, FIX)


def last_moved(move: np.ndarray) -> int:
    return int(np.flatnonzero(move != np.arange(len(move)))[-1])


def ordered(x: np.ndarray) -> np.ndarray:
    """(B, N, C) with the N vectors of each row in the order of their sums."""
    by = x.reshape(x.shape[0], x.shape[1], -1).sum(axis=2).argsort(axis=1)
    return np.take_along_axis(x, by.reshape(*by.shape, *[1] * (x.ndim - 2)), axis=1)


def within(reference: Graph, other: Watch, name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """What the last module that reads the text gives, before and now."""
    reading = {index for run in reference.runs if name in run.reads for index in run.calls}
    for call, twin in reversed(twins(reference, other)):
        if call.parent is not None and call.index in reading and call.outputs and call.outputs[0].ndim > 1:
            return call.outputs[0], twin.outputs[0]
    return None


def rows_apart(subject: Subject) -> Finding | None:
    """Two rows with the same text that give different outputs: something counts along the batch."""
    near_by = subject.neighbours
    if near_by is None or near_by.twin is None or subject.leaks_rows:
        return None
    one, two = near_by.row, near_by.twin
    alike = partial(rows_alike, one=one, two=two, rows=subject.rows)
    if verdict(near_by.watch, near_by.watch, lambda a, b: alike(b)) is not False:
        return None
    if leak := first_row_reads(subject):
        return leak
    begin = begins(near_by.watch, near_by.watch, lambda a, b: alike(b))
    cause = tr("rows {} and {} hold the same text and give different outputs: positions are counted along the batch", two, one)
    fix = tr("count along the axis of the text: (B, T, C) + table[:T], or (T, B, C) + table[:T, None]; look at batch_first")
    return Finding("order", begin.path, cause, fix, between=begin.between)


def first_row_reads(subject: Subject) -> Finding | None:
    """The first row that reads the others, where the one in the middle does not, as with rows in the opposite order."""
    watch = tried(lambda: subject.forward({name: subject.other_tokens(name, slice(1, None)) for name in subject.texts}))
    clean = partial(kept, row=0, rows=subject.rows)
    if watch is None or not subject.texts or tried(lambda: subject.clean(watch, clean)) is not False:
        return None
    subject.leaks_rows = True
    return leak(subject, watch, clean, 0)


def rows_alike(x: np.ndarray, one: int, two: int, rows: int) -> bool | None:
    """Whether two rows of one tensor are the same, to rounding, along an axis that can be the batch."""
    looked = False
    for shape, axis in batches(x.shape, rows):
        looked = True
        a, b = (np.take(x.reshape(shape), row, axis) for row in (one, two))
        if change(a, b) < ALIKE:
            return True
    return False if looked else None


def blind_to_order(subject: Subject) -> str:
    """The causal text whose first attention does not know the order of what it reads; "" where there is none."""
    near_by = subject.neighbours
    name = subject.kind.text
    if near_by is None or near_by.turned is None or name not in near_by.moves or subject.leaks_rows or not subject.causal:
        return ""
    return name if blind(subject, near_by.watch, name, near_by.moves[name], near_by.turned) else ""


def blind(subject: Subject, watch: Graph, name: str, move: np.ndarray, row: int | None) -> bool:
    """Whether the first self-attention of a text gives the same behind the tokens that were moved."""
    both, rows, known = first_mixed(subject, watch, name), subject.rows, subject.places[name].all
    if both is None or both[0].ndim < 3 or both[0].shape[0] % rows or both[0].shape[-2] not in known:
        return False
    begin = last_moved(move) + 1 - known[both[0].shape[-2]]
    a, b = (x.reshape(rows, -1, *x.shape[-2:])[slice(None) if row is None else row][..., begin:, :] for x in both)
    return bool(a.size) and change(a, b) < SUMMED


def own(mixer: Mixer, name: str) -> bool:
    return name in mixer.q.reads and name in mixer.k.reads and mixer.queries.shape[-2] > 1


def series(subject: Subject, name: str) -> tuple[Batch, np.ndarray]:
    """Rows of numbers with those of the first half moved on by one."""
    move = circle(subject.length(name), None)
    if move is None:
        raise NotApplicable(tr("the series has fewer than four steps"), moot=True)
    return reordered(subject, name, move, 1 - subject.batch.batch_axis), move


def reordered(subject: Subject, name: str, move: np.ndarray, axis: int) -> Batch:
    """The batch with what stands along an axis of a tensor in another order."""
    return subject.batch.with_({name: np.take(subject.batch.leaves[name].array, move, axis)})


def movable(subject: Subject, name: str) -> np.ndarray:
    """Places whose tokens can be swapped: none of padding, the same in all that stands next to the text."""
    ids = subject.ids(name)
    fine = np.ones(ids.shape[1], bool)
    if name in subject.padding:
        fine &= ~subject.padding[name].any(axis=0)
    fine[0] = False
    if subject.causal and name == subject.kind.text:
        fine[-1] = False
    beside = [
        leaf.array for n, leaf in subject.batch.leaves.items()
        if n not in subject.texts and leaf.array.shape == ids.shape and not (leaf.integer and counts(leaf.array).all())
        and not any(np.array_equal(leaf.array.ravel(), labels.ravel()) for labels in subject.shown.labels)
    ]  # fmt: skip
    if beside:
        signs = np.stack([x.T for x in beside], axis=1).reshape(ids.shape[1], -1)
        same = [(signs == sign).all(axis=1) & fine for sign in signs]
        if not subject.causal:
            fine = max(same, key=np.sum)
    return np.flatnonzero(fine)


def swapped(subject: Subject, name: str, places: np.ndarray) -> tuple[Batch, np.ndarray]:
    """The batch with its tokens moved in a circle, and where each came from."""
    ids = subject.ids(name)
    if subject.causal and name == subject.kind.text:
        places = places[: max(2, len(places) // 2)]
    move = np.arange(ids.shape[1])
    move[places] = np.roll(places, 1)
    if not (ids[:, move] != ids).any():
        raise NotApplicable(tr("all tokens are the same"))
    return reordered(subject, name, move, 1 - subject.batch.batch_axis), move


def patch_of(subject: Subject, name: str) -> int:
    """How high the patches are that a model cuts pictures (B, C, H, W) into, by a convolution whose steps are as long as it is, or
    by a view (B, C, H / P, P, W / P, P); else 1."""
    first = next((m for m in subject.model.modules() if isinstance(m, Conv2d)), None)
    if first is not None:
        return int(first.stride[0]) if tuple(first.stride) == tuple(first.kernel_size) else 1
    shape = subject.batch.leaves[name].array.shape
    views = (run.output.shape for run in subject.reference.runs if run.moves and name in run.reads and run.output.ndim == 6)
    return next((y[3] for y in views if y[:2] == shape[:2] and y[2] * y[3] == shape[2] and y[4] * y[5] == shape[3]), 1)


def halves(subject: Subject, name: str) -> tuple[Batch, np.ndarray]:
    """Pictures with their lower half above the upper one: the rows, and the patches, that are tokens stay whole."""
    x = subject.batch.leaves[name].array
    axis = 1 - subject.batch.batch_axis if x.ndim == 3 else 2 if x.ndim == 4 else None
    high = patch_of(subject, name) if axis == 2 else 1
    if axis is None or x.shape[axis] % (2 if high == 1 else high) or x.shape[axis] < 2 * high:
        raise NotApplicable(tr("the picture has no two halves"), moot=True)
    move = np.roll(np.arange(x.shape[axis]), x.shape[axis] // high // 2 * high)
    return reordered(subject, name, move, axis), move


SETS = re.compile(r"set_?transformer|deep_?set|point|cloud|\bbag\b|unordered|permutation|in any order|\bnode|graph|particle", re.I)


def in_any_order(model: Any, name: str) -> bool:
    """Whether a name or a docstring says that a model reads a set."""
    kind = type(model)
    words = () if kind.__module__.startswith("badak.") else (kind.__name__, kind.__doc__ or "")
    return any(SETS.search(each) for each in (*words, name))


def never_called(subject: Subject) -> str:
    """A module without parameters that is named for positions, and that its holder, which is called, neither calls nor reads."""
    graph = subject.reference
    called = {call.path for call in graph.calls}
    read = {id(x) for run in graph.runs for x in run.inputs}
    for path, module in subject.model.named_modules():
        name = f"{path.rpartition('.')[2]} {type(module).__name__}".lower().replace("post", "")
        if path in called or path.rpartition(".")[0] not in called or not re.search(r"pos|rot(ary|ate)|rope|alibi", name):
            continue
        tables = [b._array for b in module.buffers()]
        if tables and not any(True for _ in module.parameters()) and not any(id(x) in read for x in tables):
            return path
    return ""


def idle_positions(subject: Subject) -> str:
    """A module that is named for positions and gives what it was given, or the same at each of them; "" where there is none."""
    for call in subject.reference.calls:
        name = f"{call.path.rpartition('.')[2]} {type(call.module).__name__}".lower()
        named = ("pos" in name.replace("post", "") or "wpe" in name) and "drop" not in name and "identity" not in name
        y = call.outputs[0] if named and len(call.outputs) == 1 else np.zeros(0)
        if y.dtype.kind != "f" or y.ndim < 2:
            continue
        unchanged = bool(call.inputs) and call.inputs[0].shape == y.shape and np.array_equal(call.inputs[0], y)
        axis = 0 if y.ndim == 2 else 1 - subject.batch.batch_axis
        flat = y.shape[axis] > 1 and not np.any(y - np.take(y, [0], axis))
        if unchanged or flat:
            return call.path
    return ""


def where_positions_are_lost(subject: Subject, text: str) -> str:
    """The module for positions of a text, if there is one, else the one that holds the tokens' table."""
    graph = subject.reference
    elsewhere = {name for name in subject.texts if name != text}
    reading = {index for run in graph.runs if text in run.reads for index in run.calls}
    others = {index for run in graph.runs if run.reads & elsewhere for index in run.calls} - reading
    for call in graph.calls:
        if call.index not in others and "pos" in call.path.lower().rpartition(".")[2].replace("post", ""):
            return call.path
    if unread := distances_unread(subject):
        return unread
    tables = [x.path for x in graph.lookups if subject.text_of(x.indices) == text]
    path, called = tables[0].rpartition(".")[0] if tables else "", {call.path for call in subject.reference.calls}
    while path not in called and path:
        path = path.rpartition(".")[0]
    return path
