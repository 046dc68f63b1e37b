"""Tokens that cannot be told apart: rows of the table that are equal, or a text with other tokens that gives the same."""

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.answer import given_losses
from badak.inspect.audit.batch import LABEL_NAMES
from badak.inspect.audit.graph import LEAST, mixers
from badak.inspect.audit.kind import looked_up
from badak.inspect.audit.localize import dies
from badak.inspect.audit.probes.batch import holds_numbers, numbers_of_rows
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.inspect.audit.watch import Watch, tensors_in
from badak.ops.arithmetic import Add
from badak.ops.linear import AddMM, Linear

SEGMENTS = 8  # tables with so few rows say what kind a token is of
KEPT = tr("look for what keeps the input from the output: a product with 0, a clamp, a constant, an index")


def ask(subject: Subject) -> list[Finding]:
    """Equal rows are counted in the tables; the forwards with other tokens are looked through for rows that did not change."""
    if subject.neighbours is None and not subject.texts:
        raise NotApplicable(tr("the model reads no text, and no two rows were compared"), moot=True)
    found = []
    for path, (table, rows) in tables(subject).items():
        alike = rows if f"{path}.weight" in subject.woken else equal_rows(table)
        if alike > 1:
            cause = tr("{} of {} tokens have the same vector as another one", alike, rows)
            fix = tr("draw the table at random: nn.init.normal_(table.weight, std=0.02)")
            found.append(Finding("tokens", path, cause, fix, {"tokens alike": alike, "tokens": rows}))
    return found or unmoved(subject) or constants(subject) or asks_itself(subject) or idle_inputs(subject)


def unmoved(subject: Subject) -> list[Finding]:
    """Rows all of whose tokens became others, and whose output did not move."""
    if subject.neighbours is None or subject.broken:
        return []
    row, _, turned, _, watch = subject.neighbours
    same = []
    for a, b in zip(subject.reference.outputs, watch.outputs):
        axis = next((i for i, n in enumerate(a.shape) if n == subject.rows), None)
        if axis is not None and a.shape == b.shape:
            x, y = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
            same.append({i for i in {*range(subject.rows)} - {row, turned} if np.array_equal(x[i], y[i], equal_nan=True)})
    stuck = set.intersection(*same) if same else set()
    if not stuck or 8 * len(stuck) < subject.rows - 1 or len(stuck) < subject.rows - 2 and in_steps(subject):
        return []
    cause = tr("with all inputs replaced, {} of {} other rows give the same output as before", len(stuck), subject.rows - 1)
    numbers = {"rows that did not change": len(stuck), "rows": subject.rows - 1}
    return [Finding("tokens", dies(subject.reference, watch), cause, KEPT, numbers)]


def in_steps(subject: Subject) -> bool:
    """Whether rows of other inputs have one answer already, as where each is given the nearest of a few codes."""
    rows = [x.reshape(len(x), -1) for x in subject.reference.outputs if x.ndim > 1 and len(x) == subject.rows]
    return any(len(np.unique(x.round(5), axis=0)) < len(x) for x in rows)


def constants(subject: Subject) -> list[Finding]:
    """Answers for each row that are made of parameters alone: the same whatever the model is given."""
    graph = subject.reference
    for x, run in zip(tensors_in(graph.result), graph.results):
        if run is None or run.reads or not run.live or x.dim() < 2 or x.shape[0] != subject.rows or subject.rows < 2:
            continue
        maps = [each for each in run.inside() if each.op in (Linear, AddMM)]
        first = next(name for each in run.inside() for name in each.parameters if name)
        if maps and len(np.unique(x._array.reshape(len(x), -1), axis=0)) == 1:
            cause = tr("what it gives of shape {} is made of parameters alone: nothing that the model is given changes it",
                       tuple(x.shape))  # fmt: skip
            return [Finding("tokens", first.rpartition(".")[0], cause, KEPT)]
    return []


def asks_itself(subject: Subject) -> list[Finding]:
    """Attentions that ask the source by itself, and whose answer is added to what is known of the text: it asks nothing there."""
    graph, text, source = subject.reference, subject.kind.text, subject.kind.source
    consumers = graph.consumers()
    for each in mixers(graph) if source else ():
        if text in each.q.reads | each.k.reads or source not in each.q.reads:
            continue
        run, inside = each.core, each.core.calls[:-1]
        for _ in range(STEPS):
            following = [after for after in consumers.get(run.number, []) if after.calls[: len(inside)] == inside]
            if len(following) != 1 or text in run.reads:
                break
            last, run = run, following[0]
            beside = [made for made in run.sources if made is not None and made is not last]
            if run.op is Add and beside and text in beside[0].reads and beside[0].output.shape == last.output.shape:
                cause = tr("queries and keys are made of {} alone, and what comes of it is added to {}", source, text)
                return [Finding("tokens", each.path, cause, ASKS)]
    return []


STEP = tr("hand the token of each step to the next one: token = target[:, t], or the most likely one")
ASKS = tr("queries come from the decoder, keys and values from the memory: attention(y, memory, memory)")
STEPS = 12  # from what an attention gives to the sum behind it


def idle_inputs(subject: Subject) -> list[Finding]:
    """Of several inputs those that are read, and that change nothing: pictures times 0, a source that nobody looks at."""
    found = one_row_alone(subject) or one_column_twice(subject) or without_gradient(subject)
    for which, leaf in subject.batch.leaves.items() if len(subject.batch.leaves) > 1 and not subject.broken else ():
        read = any(which in run.reads for run in subject.reference.runs)
        if which in subject.texts and any(dy.any() and subject.text_of(ids) == which for ids, dy in subject.tables):
            continue
        if not read and any(word in which.lower() for word in LABEL_NAMES[:2]) and not given_losses(subject.reference):
            asked = subject.asked.labels
            if asked and not any(np.array_equal(y.ravel(), leaf.array.ravel()) for y in asked) and np.ptp(leaf.array):
                found.append(Finding("tokens", "", tr("neither the model nor its loss reads {}", which), KEPT))
            continue  # it is for a loss elsewhere
        half = leaf.array.shape[-1] // 2 if read and leaf.integer and leaf.array.ndim == 2 and which not in subject.texts else 0
        series = leaf.array.dtype.kind == "f" and leaf.array.ndim == 3
        late = subject.length(which) // 2 if read and series else 0
        for first in (0, half) if half else (0, -late) if late else (0,):
            try:
                other = other_input(subject, which, leaf.array, read)
                if other is not None:
                    other[..., : max(first, 0)] = leaf.array[..., : max(first, 0)]
                    if first < 0:
                        early = (slice(None),) * (1 - subject.batch.batch_axis) + (slice(0, -first),)
                        other[early] = leaf.array[early]
                    elif columns := leaf.array.shape[-1] // 2 if series else 0:
                        other[..., :columns] = leaf.array[..., :columns]
                watch = None if other is None else subject.forward({which: other})
            except NotApplicable:
                if not found and subject.forwards >= subject.most - subject.kept_back:  # it is open
                    raise
                break
            if watch and all(np.array_equal(a, b, equal_nan=True) for a, b in answers(subject, watch)):
                half_of = tr("with others in the place of the second half of {}, nothing that the model gives changes", which)
                cause = (
                    half_of if first else tr("with others in the place of all of {}, nothing that the model gives changes", which)
                )
                found.append(Finding("tokens", dies(subject.reference, watch), cause, KEPT))
                break
    return found


def without_gradient(subject: Subject) -> list[Finding]:
    """Numbers that are read and whose gradients are zero throughout, where those of others are not."""
    grads = {name: x.grad.to_dense()._array for name, x in subject.inputs.items() if x.grad is not None}
    idle = [name for name, dy in grads.items() if not np.any(dy) and len(np.unique(subject.batch.leaves[name].array)) > 2]
    if not idle or len(idle) == len(grads):
        return []
    cause = tr("with others in the place of all of {}, nothing that the model gives changes", idle[0])
    return [Finding("tokens", "", cause, KEPT)]


def answers(subject: Subject, watch: Watch) -> list[tuple[np.ndarray, np.ndarray]]:
    """What the model gives, and gives now; of a decoder what comes of its own text, and not what is known of the source."""
    graph, text = subject.reference, subject.kind.text
    pairs = list(zip(graph.outputs, watch.outputs))
    own = [pair for run, pair in zip(graph.results, pairs) if run is not None and text in run.reads] if subject.kind.source else []
    return own or pairs


def one_row_alone(subject: Subject) -> list[Finding]:
    """Tables that are asked for one row again and again, by an input that has several numbers, or by a decoder step by step."""
    words = 0 if subject.answer is None else subject.reference.outputs[subject.answer].shape[-1]
    for look in subject.reference.lookups:
        several = [name for name in look.reads if np.ptp(subject.batch.leaves[name].array) > 0]
        like = [each for each in subject.reference.lookups if each.path == look.path]
        every = np.concatenate([each.indices.ravel() for each in like])
        steps = [each.indices.ravel() for each in like if not each.reads]  # an encoder may ask the same table
        if not look.reads and look.vocabulary == words and len(steps) >= LEAST and np.ptp(np.concatenate(steps)) == 0:
            cause = tr("{} is asked for row {} at each step, whatever was written before", look.path, steps[0][0])
            return [Finding("tokens", look.path, cause, STEP)]
        if several and len(every) > 1 and np.ptp(every) == 0 and len(several) == len(look.reads):
            cause = tr("{} is asked for row {} alone, though {} has several", look.path, look.indices.flat[0], several[0])
            return [Finding("tokens", look.path, cause, KEPT)]
    return []


def one_column_twice(subject: Subject) -> list[Finding]:
    """Several tables that are asked by one column of an input, where another column of it is read by none."""
    lookups = subject.reference.lookups
    for which, leaf in subject.batch.leaves.items():
        x = leaf.array
        if not leaf.integer or x.ndim != 2 or x.shape[0] != subject.rows or any(look.indices.size >= x.size for look in lookups):
            continue
        asked = {i: {look.path for look in lookups if np.array_equal(look.indices.ravel(), x[:, i])} for i in range(x.shape[1])}
        twice = next((i for i, paths in asked.items() if len(paths) > 1), None)
        left = next((i for i, paths in asked.items() if not paths and np.ptp(x[:, i])), None)
        if twice is not None and left is not None:
            cause = tr("column {} of {} asks {}, and column {} asks no table", twice, which, ", ".join(sorted(asked[twice])), left)
            return [Finding("tokens", min(asked[twice]), cause, tr("ask each table by its own column: table(x[:, i])"))]
    return []


def other_input(subject: Subject, which: str, x: np.ndarray, read: bool = True) -> np.ndarray | None:
    """Other numbers, or other tokens, of one input; None for masks, labels and what says more of a text."""
    if not read and x.dtype == bool and x.any() and not x.all():  # a mask that nobody looks at
        return np.logical_not(x)
    lengths = {n for leaf in subject.batch.leaves.values() for n in leaf.array.shape[1:]}
    unread = not read and x.dtype.kind in "iu" and x.shape == (subject.rows,) and which.lower() not in LABEL_NAMES
    if unread and np.ptp(x) and x.max() not in lengths:  # what each row is; how long it is may be seen by its padding
        return np.roll(x, 1)
    if numbers_of_rows(subject, x):
        return (x + 1 + x.max() // 2) % (x.max() + 1)
    table = not subject.texts and all(leaf.array.ndim < 3 for leaf in subject.batch.leaves.values())
    if table and x.dtype.kind in "iu" and x.shape == (subject.rows,):  # what a row of a table is, or was done
        return ((x + 1) % (x.max() + 1)).astype(x.dtype)
    if holds_numbers(x, subject.axis_of_rows(x), subject.rows):
        return subject.other_values(which)
    several = len(subject.texts) > 1 or any(
        leaf.array.dtype.kind == "f" and leaf.array.ndim > 2 for leaf in subject.batch.leaves.values()
    )
    if which in subject.texts:
        return subject.other_tokens(which) if several else None
    turns = [x.vocabulary for x in subject.reference.lookups if which in x.reads]
    size = looked_up(subject.batch, subject.reference.lookups).get(which, 0) or max(turns, default=0)
    if not read and x.dtype.kind in "iu" and x.ndim == 2 and x.shape[0] == subject.rows:
        size = int(x.max()) + 1
        hides = size == 2 and any(
            np.array_equal(x == value, subject.placed(mask)) for mask in subject.padding.values() for value in (0, 1)
        )
        if 1 < size <= SEGMENTS and np.ptp(x) and not hides:  # which document a token is of
            return ((x + 1) % size).astype(x.dtype)
    if size <= (SEGMENTS if x.ndim > 1 else 1):
        return None
    if x.ndim == 1:
        return ((x + 1) % size).astype(x.dtype)
    return np.where(x > 0, 1 + x % (size - 1), x).astype(x.dtype)  # 0 may be padding


def tables(subject: Subject) -> dict[str, tuple[np.ndarray, int]]:
    """{module: (table, rows)} of the tables that a text was looked up in."""
    found = {}
    for look in subject.reference.lookups:
        name = subject.text_of(look.indices)
        if name is not None and look.vocabulary == subject.vocabulary(name):
            found[look.path] = look.table, look.vocabulary
    return found


def equal_rows(table: np.ndarray) -> int:
    """How many rows have an equal before them; two rows of zeros (padding, and one never used) are none."""
    kinds, counts = np.unique(table, axis=0, return_counts=True)
    return int(counts[counts > 1].sum()) if len(kinds) < len(table) else 0
