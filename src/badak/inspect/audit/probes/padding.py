"""Padding leak: what stands in the places of padding, and how many of them there are, changes nothing elsewhere."""

from collections.abc import Collection, Iterable
from functools import partial
from itertools import permutations

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.batch import Batch
from badak.inspect.audit.compare import change, pairs, real, same, shortened
from badak.inspect.audit.kind import reads
from badak.inspect.audit.localize import Begin, Clean, begins, twins
from badak.inspect.audit.padding import fewer_places, hidden_ends, mask_left_out, nested_padding
from badak.inspect.audit.probes.one_more import in_total, letters
from badak.inspect.audit.probes.order import rows_apart
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject, tried
from badak.inspect.audit.watch import Call, Watch
from badak.nn.embedding import Embedding
from badak.tensor import Tensor

FIX = tr("hide padding from every query: key_padding_mask, src_key_padding_mask, or attn_mask & (ids != pad)[:, None, None, :]")


def ask(subject: Subject) -> list[Finding]:
    """Once other vectors in the places of padding, once less padding."""
    masks = {name: mask for name, mask in subject.padding.items() if mask.any() and not mask.all()}
    if not masks:
        series = of_series(subject)
        words = series or nested(subject)
        if series is not None or words is not None:
            return words or []
        raise NotApplicable(tr("no padding is known: audit(..., pad=ID) says which id it is, and the batch needs some"), moot=True)
    if subject.invented:
        subject.notes.append(tr("the batch had no padding: the ends of its rows were taken for it"))
    found = other_values(subject, masks)
    if found and subject.invented and (name := mask_left_out(subject.model, subject.batch)):
        raise NotApplicable(tr("the model is told of padding by {}, which the batch does not give", name), moot=True)
    if found and pinned(subject, masks) and (less := other_amount(subject, masks)) is not None:
        return less  # its vectors are always 0, which is what stands behind the end of a shorter text, too
    found = found or beside(subject, masks)
    if found or subject.leaks_rows or rows_apart(subject):
        return found
    return (
        other_amount(subject, masks)
        or of_series(subject)
        or in_total(subject, masks)
        or letters(subject, all_masks(subject, masks))
    )


def of_series(subject: Subject) -> list[Finding] | None:
    """Other numbers where a mask of the batch hides the ends of a series, as of sounds; None where there is none such."""
    asked = False
    for name, hidden, where in hidden_ends(subject):
        clean = partial(real, paddings=[hidden, *fewer_places(hidden)])
        try:
            watch = subject.forward({name: subject.other_values(name, np.nonzero(where))})
            if subject.clean(watch, clean, moves=False):
                asked = True
                if found := shorter(subject, name, hidden):
                    return found
                continue
        except NotApplicable:
            return None
        if not subject.batch.leaves[name].array[where].any():  # always 0, as behind the end of a shorter one
            return shorter(subject, name, hidden)
        begin = begins(subject.reference, watch, clean)
        what = tr("with other numbers where a mask hides the end of {}", name)
        return [finding(subject, begin, what, zip(subject.reference.outputs, watch.outputs), {name: hidden})]
    return [] if asked else None


def nested(subject: Subject) -> list[Finding] | None:
    """Random vectors in the places of padding of ids with three axes; None where there is none."""
    for name, hidden in nested_padding(subject).items():
        ids = subject.batch.leaves[name].array
        pads = np.unique(ids[hidden])
        asked = [x for x in subject.reference.lookups if x.indices.size == ids.size and name in x.reads]

        def other(result, call, pads=pads):
            x = call.inputs[0] if call.inputs else np.zeros(0)
            return noised(subject, x, np.isin(x, pads), result, call)  # also in a part of them

        edit = {x.path: other for x in asked if isinstance(subject.model.get_submodule(x.path), Embedding)}
        watch, clean = subject.forward(subject.batch, edit=edit), partial(apart_from, hidden)
        if subject.clean(watch, clean, moves=False):
            return []
        begin = begins(subject.reference, watch, clean)
        cause = tr("with other vectors in the places of padding of {}, real places change", name)
        return [Finding("padding", begin.path, cause, FIX, {"places of padding": int(hidden.sum())}, begin.between)]
    return None


def beside(subject: Subject, masks: dict) -> list[Finding]:
    """Padding of other texts that the same table is asked for, as of a second sentence; where a row has one answer."""
    answer = subject.reference.outputs[subject.answer] if subject.answer is not None else None
    if answer is None or answer.ndim > 2:
        return []
    tables = tables_of(subject, subject.texts)
    pads = pads_of(subject, masks)
    for which in subject.batch.leaves:
        ids = subject.batch.leaves[which].array
        asked = [x for x in subject.reference.lookups if x.path in tables and x.indices.shape == ids.shape]
        if which in subject.texts or not any(np.array_equal(x.indices, ids) for x in asked) or len(pads) != 1:
            continue
        mask = ids == next(iter(pads))
        if not mask.any() or (np.diff(mask.astype(int), axis=1) < 0).any():
            continue
        edit = {path: partial(noised, subject, ids, mask) for path in tables}
        watch = subject.forward(subject.batch, edit=edit)
        if change(subject.reference.outputs[subject.answer], watch.outputs[subject.answer]) > 0.0:  # type: ignore[index]
            cause = tr("with other vectors in the places of padding of {}, the answer changes", which)
            begin = begins(subject.reference, watch, partial(equal_but, ids.shape))
            return [Finding("padding", begin.path, cause, FIX, {}, begin.between)]
    return []


def other_values(subject: Subject, masks: dict) -> list[Finding]:
    edit = edits(subject, one_row(masks) if subject.leaks_rows else masks)
    if not edit:
        raise NotApplicable(tr("no nn.Embedding reads the text"))
    watch = subject.forward(subject.batch, edit=edit)
    judge = apart if subject.leaks_rows else real
    clean = partial(judge, paddings=all_masks(subject, masks))
    text = subject.kind.text  # and what is as long as another text is of that one, such as a memory
    own = {n: mask for n, mask in masks.items() if text not in masks or n == text or subject.length(n) != subject.length(text)}
    if subject.clean(watch, partial(judge, paddings=all_masks(subject, own)), moves=False):
        return []
    both = zip(subject.reference.outputs, watch.outputs)
    what = tr("with other vectors in the places of padding")
    return [finding(subject, behind_states(subject, watch, clean), what, both, masks)]


def other_amount(subject: Subject, masks: dict) -> list[Finding] | None:
    """None where there cannot be less of it."""
    cut = fewer(subject, masks)
    if cut is None:
        return None
    batch, rows, lengths, left = cut
    try:
        watch = subject.forward(batch)
    except NotApplicable as why:
        subject.notes.append(tr("other vectors stood in the places of padding, and it was not made less: {}", why))
        return None
    less = max(before - now for before, now in lengths.items())
    return as_shorter(subject, watch, rows, lengths, left, less, dict(zip(masks, left)))


def shorter(subject: Subject, name: str, hidden: np.ndarray) -> list[Finding]:
    """The rows of a series that are hidden at their end, without as much of it as all of them have."""
    tails, axis = hidden.sum(axis=1), subject.batch.batch_axis
    rows, longest = np.flatnonzero(tails), hidden.shape[1]
    less = int(tails[rows].min())
    cut, whole = {}, hidden.shape if axis == 0 else hidden.shape[::-1]
    for which, leaf in subject.batch.leaves.items():
        x = leaf.array
        along = axis if x.shape[:2] == whole else 0
        x = np.take(x, rows, along) if x.ndim and x.shape[along] == subject.rows else x
        channels_first = which == name and leaf.array.shape[:2] != whole
        if channels_first or leaf.array.shape[:2] == whole and (which == name or which not in subject.texts):
            x = np.take(x, range(longest - less), 2 if channels_first else 1 - axis)
            if not channels_first and leaf.array.shape[1:3] == (longest, longest):  # who is next to whom
                x = np.take(x, range(longest - less), 2)
        cut[which] = np.ascontiguousarray(x)
    try:
        watch = subject.forward(cut)
    except NotApplicable as why:
        subject.notes.append(tr("other numbers stood in the places of padding, and it was not made less: {}", why))
        return []
    lengths = {longest: longest - less}
    for call, twin in sorted(twins(subject.reference, watch), key=lambda both: both[0].index):
        for a, b in zip(call.outputs, twin.outputs):
            sizes = zip(a.shape, b.shape) if a.ndim == b.ndim else ()
            lengths |= {n: now for n, now in sizes if n > now and (n, now) != (subject.rows, len(rows))}
    ends = (longest - tails)[rows, None]  # where what is heard ends, also among fewer places
    left = [np.arange(now) >= np.ceil(ends * n / longest) for n, now in lengths.items()]
    return as_shorter(subject, watch, rows, lengths, left, less, {name: hidden}) or []


def as_shorter(
    subject: Subject, watch: Watch, rows: np.ndarray, lengths: dict[int, int], left: list[np.ndarray], less: int, masks: dict
) -> list[Finding] | None:
    """What is found where some of the rows with fewer places, of padding, give something else; None where that cannot be told."""
    cut = partial(shortened, taken=rows, rows=subject.rows, lengths=lengths, first=subject.batch.batch_axis == 0)

    def clean(a: np.ndarray, b: np.ndarray) -> bool | None:
        old = cut(a, b.shape)
        return None if old is None else real(old, b, left, tolerance=1e-3)

    if (word := tried(lambda: subject.clean(watch, clean, moves=False))) is not False:
        return [] if word else None
    both = ((cut(a, b.shape), b) for a, b in zip(subject.reference.outputs, watch.outputs))
    known = [(a, b) for a, b in both if a is not None]
    return [finding(subject, behind_states(subject, watch, clean), tr("with {} places of padding less", less), known, masks)]


def behind_states(subject: Subject, watch: Watch, clean: Clean) -> Begin:
    """Where it begins, the last states of recurrent layers apart, which hold padding where nobody reads them; or there."""
    rows = subject.rows

    def apart(a: np.ndarray, b: np.ndarray) -> bool | None:
        return None if a.ndim == 3 and a.shape[1] == rows and a.shape[0] <= 4 < rows * a.shape[2] else clean(a, b)

    found, whole = (begins(subject.reference, watch, judge) for judge in (apart, clean))
    reading = [(each.inputs, twin.inputs) for each, twin in twins(subject.reference, watch) if each.path == found.path]
    taken = any(apart(a, b) is None and not same(a, b) for both in reading for a, b in zip(*both))
    given = [(each.outputs, twin.outputs) for each, twin in twins(subject.reference, watch) if each.parent is None]
    if not any(apart(a, b) is False for both in given for a, b in zip(*both)):  # the states are all that differs
        return whole
    if not found.path and not taken:  # the model's own code, where nothing reads these states
        calls = [each for each in subject.reference.calls if each.path == whole.path and each.parent is not None]
        states = [x for each in calls for x in each.outputs if x.ndim == 3 and x.shape[1] == rows and x.shape[0] <= 4]
        outside = (run for run in subject.reference.runs if not {each.index for each in calls} & set(run.calls))
        read = (x for run in outside for x in run.inputs if x is not None)
        return whole if not states or any(same(x, y) for x in read for y in states) else found
    return found if found.path and not taken else whole


def pads_of(subject: Subject, masks: dict) -> set[int]:
    """The ids that stand in the places of padding."""
    return {int(i) for name, mask in masks.items() for i in np.unique(subject.ids(name)[mask])}


def tables_of(subject: Subject, texts: Collection[str]) -> set[str]:
    """The paths of the tables that are asked for some texts."""
    return {look.path for look in subject.reference.lookups if subject.text_of(look.indices) in texts}


def pinned(subject: Subject, masks: dict) -> bool:
    """Whether every table that is asked for padding gives zeros for it, and never learns others: padding_idx."""
    tables = map(subject.model.get_submodule, tables_of(subject, masks))
    pads = pads_of(subject, masks)
    return all(pads == {getattr(table, "padding_idx", None)} and not table.weight._array[list(pads)].any() for table in tables)


def row_of(padding: np.ndarray) -> int:
    """The row that has most padding, and something else."""
    return int(np.where(padding.all(axis=1), 0, padding.sum(axis=1)).argmax())


def one_row(masks: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The padding of one row alone."""
    return {name: mask & (np.arange(len(mask)) == row_of(mask))[:, None] for name, mask in masks.items()}


def apart(a: np.ndarray, b: np.ndarray, paddings: list[np.ndarray]) -> bool | None:
    """The same of one row of a model whose rows see each other: what other rows give shows nothing of padding."""
    others = [padding | (np.arange(len(padding)) != row_of(padding))[:, None] for padding in paddings]
    return real(a, b, others) or (False if any(True for _ in pairs(a.shape, *others[0].shape)) else None)


def all_masks(subject: Subject, masks: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Where padding stands, for each length that its text has on its way."""
    return [each for name, mask in masks.items() for each in subject.places[name].masks(mask)]


def equal_but(shape: tuple, a: np.ndarray, b: np.ndarray) -> bool | None:
    """Whether both are equal; None of what says something of each place of a text."""
    return None if a.shape[:2] == shape else bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def apart_from(hidden: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool | None:
    """Whether nothing differs but at padding (B, R, L), or where all of a row, or of a column, is padding."""
    if same(a, b):
        return True
    if a.shape != b.shape:
        return None
    looked, (B, R, L) = False, hidden.shape
    rows, columns = hidden.all(axis=2), hidden.all(axis=1)
    pair = np.asarray(columns)[:, :, None] | np.asarray(columns)[:, None]
    known = [(hidden, (B, R, L)), (hidden.reshape(B * R, L), (B * R, L)), (pair, (B, L, L)), (rows, (B, R)), (columns, (B, L))]
    known.append((rows.reshape(B * R), (B * R,)))
    for mask, sizes in known:
        fits = [at for at in permutations(range(a.ndim), len(sizes)) if tuple(a.shape[i] for i in at) == sizes]
        for at in fits:
            looked = True
            if same(*(np.moveaxis(x, at, range(len(sizes)))[np.logical_not(mask)] for x in (a, b))):
                return True
        if fits:
            return False
    return False if looked or B in a.shape else None


def noised(subject: Subject, ids: np.ndarray, where: np.ndarray, result: Tensor, call: Call) -> Tensor:
    """What a table gave of these ids, with random vectors at some of the places."""
    if not call.inputs or call.inputs[0].shape != ids.shape or not np.array_equal(call.inputs[0], ids):
        return result
    array = result._array.copy()
    noise = subject.rng.standard_normal((int(where.sum()), array.shape[-1])) * (array.std() or 1.0)
    array[where] = noise.astype(array.dtype)
    return Tensor._of(array)


def edits(subject: Subject, masks: dict) -> dict:
    """What puts random vectors where a token embedding was asked for padding."""

    def other(result, call):
        for name, padding in masks.items():
            where = subject.batch.by_rows(padding)
            result = noised(subject, subject.batch.leaves[name].array, where, result, call)
        return result

    return {path: other for path in tables_of(subject, masks) if isinstance(subject.model.get_submodule(path), Embedding)}


def fewer(subject: Subject, masks: dict) -> tuple[Batch, np.ndarray, dict[int, int], list[np.ndarray]] | None:
    """The rows that end in padding, cut; None where that cannot be done: (batch, rows, {length: length now}, padding now)."""
    tails = {name: np.array([_tail(row) for row in mask]) for name, mask in {**masks, **padding_beside(subject, masks)}.items()}
    together = np.min(list(tails.values()), axis=0)
    rows = np.flatnonzero(together > 0)
    if not len(rows):
        return None
    axis, lengths, cut = subject.batch.batch_axis, {}, {}
    for name in masks:
        tail = tails[name]
        less = int(tail[rows].min()) if len({subject.length(n) for n in tails}) == len(tails) else int(together[rows].min())
        lengths[subject.length(name)] = subject.length(name) - less
    for name, leaf in subject.batch.leaves.items():
        x = leaf.array
        for i, n in enumerate(leaf.array.shape):
            at: tuple = (slice(None),) * i
            is_text = leaf.integer and x.ndim == 2
            if n == subject.rows and (i == axis if is_text else i == 0):
                x = x[(*at, rows)]
            elif n in lengths and (not is_text or i == 1 - axis or x.shape[0] == x.shape[1]):
                x = x[(*at, slice(0, lengths[n]))]
        cut[name] = np.ascontiguousarray(x)
    left = [mask[rows][:, : lengths[subject.length(name)]] for name, mask in masks.items()]
    for name, mask in masks.items():  # what has another length is cut at its end, too
        places, less = subject.places[name], subject.length(name) - lengths[subject.length(name)]
        for n in places.others:
            if n > less and n not in lengths:
                lengths[n] = n - less
                left.append(places.moved(mask, n)[rows][:, : n - less])
    return subject.batch.with_(cut), rows, lengths, left


def padding_beside(subject: Subject, masks: dict) -> dict[str, np.ndarray]:
    """The padding of other texts that the same tables are asked for, as of an answer that was refused."""
    known, pads, found = tables_of(subject, masks), pads_of(subject, masks), {}
    for name, leaf in subject.batch.leaves.items():
        if name in masks or not leaf.integer or leaf.array.ndim != 2 or len(pads) != 1:
            continue
        if any(look.path in known and reads(look, name, subject.batch) for look in subject.reference.lookups):
            found[name] = subject.ids(name) == next(iter(pads))
    return {name: mask for name, mask in found.items() if mask.any()}


def _tail(row: np.ndarray) -> int:
    return len(row) - 1 - int(np.flatnonzero(~row)[-1]) if (~row).any() else 0


def finding(subject: Subject, begin: Begin, what: str, both: Iterable, masks: dict) -> Finding:
    """The largest change in the outputs, at real places where they have such."""
    padding = masks.get(subject.kind.text)
    largest = 0.0
    for a, b in both:
        if a.ndim and a.dtype.kind == "f":
            if padding is not None and a.shape[:2] == padding.shape:
                a, b = a[~padding], b[~padding]
            largest = max(largest, change(a, b))
    places = sum(int(mask.sum()) for mask in masks.values())
    cause = tr("{}, the output at real places changes by up to {:.2g} of its size", what, largest)
    cause = cause if largest else tr("{}, real places change within the model", what)
    numbers = {"places of padding": places, "largest change": largest, "padding": subject.padding_how}
    return Finding("padding", begin.path, cause, FIX, numbers, begin.between)
