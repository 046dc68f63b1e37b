"""Future leak: in a causal model nothing before a position may change, not by a bit, when the token there does."""

from collections import Counter
from collections.abc import Iterator
from functools import partial

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.answer import counted, given_losses
from badak.inspect.audit.compare import before, real, same
from badak.inspect.audit.graph import Ran, mixers, origins
from badak.inspect.audit.kind import SHIFTED, UNKNOWN, part_of
from badak.inspect.audit.localize import Begin, Clean, begins, but_totals, judged
from badak.inspect.audit.padding import pad_ids
from badak.inspect.audit.probes.batch import shapes
from badak.inspect.audit.probes.laid_out import other_layout
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject, tried
from badak.nn.recurrent import RNNBase, RNNCellBase


def ask(subject: Subject) -> list[Finding]:
    """Change the token at position t in every row at random; twice, at a place in the middle and at the last one."""
    if found := labels_read(subject) or other_layout(subject) or not_hidden(subject):
        return found
    if subject.kind.kind == UNKNOWN:
        raise NotApplicable(tr('{}: kind="causal" asks, kind="bidirectional" says that it may', subject.kind.why))
    if not subject.causal:
        raise NotApplicable(tr("the model is no causal one: {}", subject.kind.kind), moot=True)
    length = subject.length()
    if length < 2:
        raise NotApplicable(tr("the text has one position"))
    name = subject.kind.text
    since = answered_from(subject)
    middle = since + (length - since) // 2 + int(subject.rng.integers(0, max(1, (length - since) // 4)))
    watch = subject.facts({name: subject.other_at(name, middle)})
    subject.sizes_move = shapes(subject.reference) != shapes(watch)
    subject.moves_within = moved_within(subject, watch.outputs, middle)
    shift = 0 if series_read(subject) else wrong_shift(subject)
    clean = nothing_before(subject, middle)
    if shift is None and own_read(subject, watch.outputs, middle) and subject.clean(watch, clean):
        shift = 0
    if shift is not None:
        subject.leaks_future = True
        cause = tr("its loss compares the answer at each place with the token of {} that it {}", name, WRONG[shift])
        return [Finding("future", "", cause, SHIFT)]
    if not subject.clean(watch, clean):
        subject.leaks_future = True
        if scaled(subject):
            raise NotApplicable(
                tr("each row is scaled by one number of all its places, so that all of them see what follows"), moot=True
            )
        return [finding(subject, middle, watch.outputs, begins(subject.reference, watch, clean))]
    subject.forgets = forgotten(subject, watch.outputs, middle)
    last = length - 1
    batch = subject.batch.with_({name: subject.other_at(name, last)})
    outputs = subject.plain(batch)
    clean = nothing_before(subject, last)
    if judged(subject.reference.outputs, outputs, but_totals(clean)) is False:
        subject.leaks_future = True
        begin = begins(subject.reference, subject.forward(batch), clean)
        return [finding(subject, last, outputs, begin)]
    return beginning(subject)


def beginning(subject: Subject) -> list[Finding]:
    """The first token that a loss asks for in each row, where some stand before it that it does not, which may be seen whole:
    the answer that it is compared with does not know it."""
    name, shape = subject.kind.text, subject.ids(subject.kind.text).shape
    every = (each for loss in given_losses(subject.reference) for each in [asked_in(subject, loss, shape)] if each is not None)
    labels, rows, at = next(every, (np.zeros(0, int),) * 3)
    fine = labels >= 0
    first = {row: int(at[fine & (rows == row)].min()) for row in set(rows[fine].tolist())}
    if subject.moves_within or not any(first.values()) or subject.answer is None:
        return []
    where = np.zeros(shape, bool)
    for row, t in first.items():
        where[row, min(t + 1, shape[1] - 1)] = True
    if (watch := tried(lambda: subject.forward({name: subject.other_tokens(name, where)}))) is None:
        return []
    a, b = (each.outputs[subject.answer] for each in (subject.reference, watch))
    if a.shape[:2] != shape or a.shape != b.shape:
        return []
    known = [row for row, t in first.items() if t + 1 < shape[1] and not same(a[row, t], b[row, t])]
    if not known:
        return []
    cause = tr("the first token that its loss asks for changes the answer that it is compared with, in {} of {} rows",
               len(known), len(first))  # fmt: skip
    return [Finding("future", "", cause, BEGINNING)]


def scaled(subject: Subject) -> bool:
    """Whether one number of each whole series (B, T), such as its mean, has a part in what is made of it, as DeepAR divides by."""
    series, name = subject.primary, subject.kind.text
    whole = (run for run in subject.reference.runs if not run.live and name in run.reads and run.output.size == subject.rows)
    made = any(x is not None and x.size == series.size for run in whole for x in run.inputs)
    return series.ndim == 2 and series.dtype.kind == "f" and made


def nothing_before(subject: Subject, t: int) -> Clean:
    """What asks whether nothing before a place differs, but at padding in front, which may see what it likes."""
    name, rows, tolerance = subject.kind.text, subject.rows, subject.rounding
    places, padding = subject.places[name], subject.padding.get(name)
    clean = partial(before, t=t, places=places, rows=rows, tolerance=tolerance)
    if padding is None or not padding[:, 0].any():
        return clean
    but = partial(real, paddings=places.masks(padding | (np.arange(padding.shape[1]) >= t)), tolerance=tolerance)

    def but_padding(a: np.ndarray, b: np.ndarray) -> bool | None:
        word = clean(a, b)
        return but(a, b) if word is False else word

    return but_padding


def answered_from(subject: Subject) -> int:
    """The first place of the text that has an answer, where the last ones alone have one; else 0."""
    known, outputs = subject.places[subject.kind.text].all, subject.reference.outputs
    shape = outputs[subject.answer].shape[:2] if subject.answer is not None else ()
    first = [known[n] for n in shape if n in known and n != subject.rows]
    return first[0] if first and first[0] > MANY else 0


MANY = 2  # places that are cut off a text without more


def labels_read(subject: Subject) -> list[Finding]:
    """An answer that is made of the very label that it is compared with, in a loss of the model."""
    for loss in given_losses(subject.reference):
        scores = loss.sources[0]
        for name, leaf in subject.batch.leaves.items():
            if scores is None or name in subject.texts or name not in scores.reads or not held(loss.inputs[1], leaf.array):
                continue
            x, t = np.array(leaf.array), leaf.array.shape[-1] // 2
            if not leaf.integer or x.ndim < 1 or np.ptp(x) == 0:
                continue
            at = (Ellipsis, t) if x.ndim > 1 else (slice(None),)
            fine = x[at] >= 0
            other = np.where(fine, (x[at] + 1) % (x.max() + 1), x[at])
            x[at] = other
            if (watch := tried(partial(subject.facts, {name: x}))) is None:
                return []
            twin = next((each for each in given_losses(watch) if each.number == loss.number), None)
            if twin is not None and moves_there(loss, twin, leaf.array.shape, t):
                cause = tr("with another label in {}, the answer that it is compared with changes: the model reads it", name)
                return [Finding("future", "", cause, LABELS)]
    return []


def not_hidden(subject: Subject) -> list[Finding]:
    """Words to fill in, some of a text that goes both ways, each of which is read at its own place."""
    for labels, rows, at in asked_of_places(subject) if subject.kind.kind == "bidirectional" else ():
        fine = (labels >= 0) & ~np.isin(labels, pad_ids(subject.model))
        asked = np.zeros(subject.ids(subject.kind.text).shape, bool)
        asked[rows[fine], at[fine]] = True
        if fine.sum() < LEAST or all_asked(subject, asked):
            continue
        read = [subject.batch.by_rows(x.indices) for x in subject.reference.lookups if subject.text_of(x.indices)]
        whole = [x for x in read if x.shape == subject.ids(subject.kind.text).shape]
        if any(np.array_equal(x[rows[fine], at[fine]], labels[fine]) for x in whole):
            cause = tr("each of the {} words that its loss asks for is read at its own place: none is hidden", int(fine.sum()))
            return [Finding("future", "", cause, HIDE)]
    return []


def all_asked(subject: Subject, asked: np.ndarray) -> bool:
    """Whether no place is left out but padding, or what a mask of the batch hides."""
    beside = (subject.batch.by_rows(leaf.array) for leaf in subject.batch.leaves.values())
    masks = [x == value for x in beside if x.shape == asked.shape and len(np.unique(x)) == 2 for value in np.unique(x)]
    hides = [mask for mask in (*subject.padding.values(), *masks) if mask.shape == asked.shape]
    return bool(asked.all()) or any((asked | mask).all() for mask in hides)


def in_losses(subject: Subject, shape: tuple, answer: np.ndarray | None) -> Iterator[tuple]:
    """(scores, labels, the answers for a whole batch that the scores are of) of each comparison, also in the model."""
    for loss in given_losses(subject.reference):
        yield loss.inputs[0], labels_of(loss), whole_of(loss, shape, subject.batch.batch_axis)
    yield from subject.asked.each(answer)


def compared_with(subject: Subject) -> list[np.ndarray | None]:
    """What the losses of the model and of its program compare with."""
    return [*(loss.inputs[1] for loss in given_losses(subject.reference)), *subject.asked.labels]


def asked_of_places(subject: Subject) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(labels, row, place) of what losses ask for: labels of all places, or of some that were picked before."""
    shape, axis = subject.primary.shape, subject.batch.batch_axis
    answer = subject.reference.outputs[subject.answer] if subject.answer is not None else None
    for scores, labels, whole in in_losses(subject, shape, answer):
        if labels is not None and labels.dtype.kind in "iu" and labels.size == np.prod(shape):
            y = labels.reshape(shape) if axis == 0 else labels.reshape(shape).T
            rows, at = np.indices(y.shape)
            yield y.ravel(), rows.ravel(), at.ravel()
        elif answer is not None and subject.kind.text in subject.texts:
            found = compared(scores, labels, answer if whole is None else whole, shape, axis)
            if found is not None:
                yield found


HIDE = tr("read ids.masked_fill(chosen, MASK), and compare at the chosen places with ids")
BEGINNING = tr("hide it with the rest: keys j < length of the beginning are seen by all, not j <= it")
LABELS = tr("give the labels to the loss alone; a decoder reads them one place later")


def held(x: np.ndarray | None, labels: np.ndarray) -> bool:
    """Whether a loss compares with these labels, flat or not; those below 0 do not count."""
    if x is None or x.size != labels.size:
        return False
    counts = x.ravel() >= 0 if x.dtype.kind == "i" else np.ones(x.size, bool)
    return bool(counts.any() and np.array_equal(x.ravel()[counts], labels.ravel()[counts]))


def moves_there(loss: Ran, twin: Ran, shape: tuple, t: int) -> bool:
    """Whether the scores of the labels that changed are others, too: at place t of labels (..., T), or all, of (B,)."""
    a, b = (each.inputs[0] for each in (loss, twin))
    if a is None or b is None or a.shape != b.shape or a.ndim < 2:
        return False
    a, b = (np.moveaxis(x, 1, -1).reshape(*shape, -1) for x in (a, b))
    a, b = (x[..., t, :] if len(shape) > 1 else x for x in (a, b))
    return bool(np.isfinite(a).all()) and not same(a, b)


SHIFT = tr("shift them by one: read ids[:, :-1], and compare with ids[:, 1:]")


def moved_within(subject: Subject, outputs: list[np.ndarray], t: int) -> bool:
    """Whether the answer at a place does not change with the token there, and some behind it do: the model moves its text."""
    for first, (x, y) in subject.answers_by_place(outputs):
        return 0 <= t - first < len(x) and same(x[t - first], y[t - first]) and not same(x[t - first :], y[t - first :])
    return False


def forgotten(subject: Subject, outputs: list[np.ndarray], t: int) -> bool:
    """Whether nothing behind a token changes with it, though the model has what reads one after the other."""
    recurrent = any(isinstance(m, RNNBase | RNNCellBase) for m in subject.model.modules())
    for first, (x, y) in subject.answers_by_place(outputs) if recurrent or mixers(subject.reference) else ():
        late = max(0, t + 1 - first)
        return bool(x[late:].size) and same(x[late:], y[late:]) and not same(x, y)
    return False


def wrong_shift(subject: Subject) -> int | None:
    """How far behind the token that is read the label stands which the answer there is compared with, where it is not the next one
    in any loss: 0 for the token itself, which no mask hides from its answer; None where that cannot be told."""
    seen: list[int] = []
    axis, text = subject.batch.batch_axis, subject.primary
    looked = [look.indices for look in subject.reference.lookups if look.indices.ndim == 2]
    for ids in looked or [text]:  # no table is asked where letters are columns
        if part_of(ids, text, axis) is None:
            continue
        read = ids if axis == 0 else ids.T
        if len(read) != subject.rows == read.shape[1]:  # a model may turn its text before it reads it
            read = read.T
        padding = next((each for each in subject.padding.values() if each.shape == read.shape), None)
        for scores, answers, whole in in_losses(subject, read.shape, subject.reference.outputs[subject.answer or 0]):
            if (asked := compared(scores, answers, whole, read.shape, axis)) is None:
                continue
            labels, rows, at = asked
            fine = (labels >= 0) & ~np.isin(labels, pad_ids(subject.model))
            if padding is not None:
                fine &= ~padding[rows, at]
            labels, rows, at = labels[fine], rows[fine], at[fine]
            if len(labels) >= LEAST:
                less = int(subject.moves_within)  # it reads the token before there
                seen += [next((shift for shift in (1, *WRONG) if agrees(read, labels, rows, at, shift - less)), 1)]
    return seen[0] if seen and 1 not in seen else None


def own_read(subject: Subject, outputs: list[np.ndarray], t: int) -> bool:
    """Whether labels are the text as it is, and the answer at a place changes with the token there."""
    name, ids = subject.kind.text, subject.ids(subject.kind.text)
    parts = [ids[:, : ids.shape[1] - less] for less in range(SHIFTED + 1) if ids.shape[1] - less > 1]
    if name not in subject.texts or not any(held(y, subject.placed(part)) for y in compared_with(subject) for part in parts):
        return False
    whole = [both for first, both in subject.answers_by_place(outputs) if first == 0]
    return any(not same(x[t], y[t]) for x, y in whole[:1])


def series_read(subject: Subject) -> bool:
    """Whether a loss compares what is made of a series of numbers with these numbers as they are."""
    x = subject.primary
    alike = [
        y for y in compared_with(subject) if y is not None and y.dtype.kind == x.dtype.kind == "f" and y.ndim == x.ndim in (2, 3)
    ]
    alike = [y for y in alike if x.ndim == 3 or y.shape == x.shape]
    return any(y.shape[:2] == x.shape[:2] and np.array_equal(y, x[..., : y.shape[-1]]) for y in alike)


WRONG = {0: tr("reads at that place"), -1: tr("read before that place"), 2: tr("reads two places on, and never with the next")}
LEAST = 8  # labels that show something
MOST = 0.9  # of them


def agrees(read: np.ndarray, labels: np.ndarray, rows: np.ndarray, at: np.ndarray, shift: int) -> bool:
    """Whether labels are what is read so many places further, but for an end that was moved otherwise."""
    known = (at + shift >= 0) & (at + shift < read.shape[1])
    return bool(known.any()) and float((read[rows[known], at[known] + shift] == labels[known]).mean()) > MOST


def labels_of(loss: Ran) -> np.ndarray:
    """What a loss within a model compares with, -100 where it does not."""
    return counted(loss.inputs[1], loss.attributes)  # type: ignore[arg-type]


def asked_in(subject: Subject, loss: Ran, shape: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(labels, row, place) of what a loss of the model asks for."""
    axis = subject.batch.batch_axis
    return compared(loss.inputs[0], loss.inputs[1], whole_of(loss, shape, axis), shape, axis)


def whole_of(loss: Ran, shape: tuple, axis: int) -> np.ndarray | None:
    """The answers for a whole text that a loss was given, or parts of it."""
    order = shape if axis == 0 else shape[::-1]
    words = loss.inputs[0].shape[1:2] if loss.inputs[0] is not None else ()
    made = (run.output for run in origins(loss.sources[0]))
    return next((y for y in made if y.shape[:2] == order and y.shape[-1:] == words), None)


def compared(
    scores: np.ndarray | None, labels: np.ndarray | None, whole: np.ndarray | None, shape: tuple, axis: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(labels, row, place) of each answer in a loss over tokens; None where it cannot be told of which place each is.

    whole: the answers for all places.
    """
    if scores is None or labels is None or labels.dtype.kind not in "iu" or scores.ndim < 2:
        return None
    scores = np.moveaxis(scores, 1, -1).reshape(-1, scores.shape[1])  # (N, V), (B, V, T)
    order = shape if axis == 0 else shape[::-1]
    if whole is not None and whole.shape == scores.shape == (order[0] * order[1], scores.shape[1]):  # made flat by the model
        whole = whole.reshape(*order, scores.shape[1])
    if whole is None or whole.ndim != 3 or whole.shape != (*order, scores.shape[1]) or len(scores) != labels.size:
        return None
    answers = [row.tobytes() for row in np.ascontiguousarray(whole.reshape(-1, scores.shape[1]))]
    times = Counter(answers)
    once = {row: i for i, row in enumerate(answers) if times[row] == 1}  # padding may have the same answer everywhere
    found = np.array([once.get(row.tobytes(), -1) for row in np.ascontiguousarray(scores)])
    known = found >= 0
    first, second = np.divmod(found[known], order[1])
    return labels.ravel()[known], *((first, second) if axis == 0 else (second, first))


def finding(subject: Subject, t: int, outputs: list[np.ndarray], begin: Begin) -> Finding:
    """What was measured in the output that changed most."""
    largest, size, early = 0.0, 0.0, set()
    for a, b in zip(subject.reference.outputs, outputs):
        for start, both in list(subject.by_place(a, b))[:1] if a.shape == b.shape and a.dtype.kind == "f" else ():
            x, y = (z.reshape(len(z), -1).astype("f8") for z in both)
            gap = np.abs(np.nan_to_num(x) - np.nan_to_num(y)).max(axis=1)
            gap = gap[: max(0, t - start)]
            early |= set(np.flatnonzero(gap).tolist())
            if gap.size and gap.max() >= largest:
                largest, size = float(gap.max()), float(np.sqrt(np.mean(np.nan_to_num(x) ** 2)))
    first = min(early, default=0)
    where = f"{first}..{max(early)}" if len(early) > 1 else str(first)
    told = tr(": at {}, by up to {:.2g} (outputs are of size {:.2g})", where, largest, size)
    cause = tr(
        "with another token at position {}, the output before it changes{}", t, told if early else tr(", seen within the model")
    )
    fix = tr("hide what follows: is_causal=True, or a mask that is True on and below the diagonal only, tril(ones(T, T))")
    sizes = {"largest change": largest, "size of outputs": size}
    numbers = {"position changed": t, "positions before it that change": len(early), **sizes}
    return Finding("future", begin.path, cause, fix, numbers, begin.between)
