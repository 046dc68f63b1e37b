"""Positions that do not matter: nothing depends on what stands there."""

import re
from contextlib import suppress

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.answer import given_losses
from badak.inspect.audit.graph import Graph, asked_for
from badak.inspect.audit.kind import SHIFTED
from badak.inspect.audit.localize import dies
from badak.inspect.audit.padding import hidden_ends, pad_ids, triangular
from badak.inspect.audit.probes.gradients import Failed, backward
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject, tried
from badak.nn import Module
from badak.tensor import Tensor


def ask(subject: Subject) -> list[Finding]:
    """The gradient of the outputs with respect to what the token embedding gave: exactly zero at a place says that nothing
    depends on it. Padding is left out."""
    with suppress(Failed):  # which another probe reports
        backward(subject)
    if found := unread_numbers(subject):
        return found
    if not subject.texts:
        return halves(subject)
    if not subject.tables:
        raise NotApplicable(tr("no gradient reaches a token embedding"))
    dead: dict[tuple[str, int], np.ndarray] = {}  # of each text, and of its length there; read twice, once is enough
    for indices, gradient in subject.tables:
        name = subject.text_of(indices)
        if name is None:
            continue
        now = without_gradient(subject, name, indices, gradient)
        key = name, now.shape[1]
        dead[key] = dead[key] & now if key in dead else now
    found = []
    for (name, length), places_dead in dead.items():
        shape, places = subject.ids(name).shape, subject.places[name]
        if length not in places.all or len(places_dead) != shape[0]:
            continue
        real = ~subject.padding[name] if name in subject.padding else np.ones(shape, bool)
        real = places.moved(real & answered(subject, name), length)
        lost = np.flatnonzero((places_dead | ~real).all(axis=0) & real.any(axis=0)) + places.all[length]
        if len(lost) and not (places_dead | ~real).all():
            found.append(finding(subject, name, lost))
    return found


def finding(subject: Subject, name: str, lost: np.ndarray) -> Finding:
    watch = tried(lambda: subject.forward({name: subject.other_tokens(name, (slice(None), lost))}))
    path = "" if watch is None else dies(subject.reference, watch)
    places = ", ".join(map(str, lost[:8].tolist())) + (", ..." if len(lost) > 8 else "")
    cause = tr("nothing depends on position {} of {}: the gradient there is zero in every row", places, name)
    fix = tr("look for a slice, a mask or a product that takes these places out")
    return Finding("positions", path, cause, fix, {"positions": len(lost), "of": subject.length(name)})


def unread_numbers(subject: Subject) -> list[Finding]:
    """Of series, pictures and films a good part of an axis whose numbers get no gradient in any row, and the others do."""
    for name, x in subject.inputs.items() if not subject.broken else ():
        grad = None if x.grad is None else x.grad.to_dense()._array
        rows = subject.axis_of_rows(x._array)
        if grad is None or not np.any(grad) or any(which == name for which, *_ in hidden_ends(subject)):
            continue
        for axis in (i for i in range(x.dim()) if i != rows and x.shape[i] > 1):
            idle = ~np.any(grad, axis=tuple(i for i in range(x.dim()) if i != axis))
            if PART * len(idle) <= idle.sum() < len(idle) and len(np.unique(x._array)) > 2:
                if not np.ptp(np.compress(idle, x._array, axis=axis)):  # as the dark rim of pictures: weights that began at 0 stay
                    continue
                return [without(subject, name, axis, idle)]
    return []


CUT = tr("look for a slice or an index that takes these places out")
PART = 0.3  # of an axis; a few places may be left over behind the last patch


def without(subject: Subject, name: str, axis: int, idle: np.ndarray) -> Finding:
    index = (slice(None),) * axis + (np.flatnonzero(idle),)
    watch = tried(lambda: subject.forward({name: subject.other_values(name, index)}))
    path = "" if watch is None else dies(subject.reference, watch)
    cause = tr("nothing depends on {} of the {} places along axis {} of {}: their gradients are zero in every row",
               int(idle.sum()), len(idle), axis, name)  # fmt: skip
    return Finding("positions", path, cause, CUT)


def halves(subject: Subject) -> list[Finding]:
    """Of a series of numbers (B, T, C), which is all that the model is given: a half of it that changes nothing."""
    name, axis = subject.kind.text, 1 - subject.batch.batch_axis
    x = subject.batch.leaves[name].array
    if x.ndim == 3 and x.dtype.kind in "iu" and len(np.unique(x)) > 2 and x.shape[1] > 1 and not subject.broken:
        return first_alone(subject, name, x)
    if len(subject.batch.leaves) > 1 or x.ndim != 3 or x.dtype.kind != "f" or x.shape[axis] < 4 or subject.broken:
        raise NotApplicable(tr("the model reads no text"), moot=True)
    half = x.shape[axis] // 2
    for part, where in ((slice(half), "first"), (slice(half, None), "second")):
        index = (slice(None),) * axis + (part,)
        watch = subject.forward({name: subject.other_values(name, index)})
        if all(np.array_equal(a, b) for a, b in zip(subject.reference.outputs, watch.outputs)):
            cause = tr("with other numbers in the {} half of {}, nothing that the model gives changes", where, name)
            return [Finding("positions", dies(subject.reference, watch), cause, CUT)]
    return []


def first_alone(subject: Subject, name: str, x: np.ndarray) -> list[Finding]:
    """Of ids with three axes, (B, R, L), whether others in all rows but the first change something."""
    kinds = np.setdiff1d(np.unique(x), pad_ids(subject.model))
    other = np.where(np.isin(x, kinds), kinds[(np.searchsorted(kinds, x) + 1) % len(kinds)], x).astype(x.dtype)
    other[:, 0] = x[:, 0]
    watch = subject.forward({name: other})
    if not all(np.array_equal(a, b) for a, b in zip(subject.reference.outputs, watch.outputs)):
        return []
    cause = tr("with other ids in all rows of {} but the first, nothing that the model gives changes", name)
    return [Finding("positions", dies(subject.reference, watch), cause, CUT)]


def idle_table(subject: Subject) -> tuple[str, str] | None:
    """(module, cause) of a table of positions that adds none: numbers named for them that are alike everywhere, of which no more
    than the first is read, or a table of distances that is asked for one alone."""
    graph, model = subject.reference, subject.model
    words = {id(look.table) for look in graph.lookups if look.reads}  # of which one may fill up what is behind a text
    for look in graph.lookups:
        square = look.indices.ndim > 1 and look.indices.shape[-1] == look.indices.shape[-2] > 2
        if square and not look.reads and np.ptp(look.indices) == 0 and look.vocabulary > 2 and id(look.table) not in words:
            return look.path, tr(
                "its {} rows are asked for row {} alone, of each two places", look.vocabulary, look.indices.flat[0]
            )
    for run in graph.runs:
        key, x = asked_for(run.op, run.attributes) if any(run.parameters[:1]) else None, run.inputs[0] if run.inputs else None
        square = key is not None and key.ndim > 1 and key.shape[-1] == key.shape[-2] > 2
        if key is not None and x is not None and square and not run.reads and np.ptp(key) == 0 and len(x) > 2:
            return run.path, tr("its {} rows are asked for row {} alone, of each two places", len(x), key.flat[0])
    for name, p in model.named_parameters():
        grad = None if p.grad is None or p.dim() < 2 else p.grad.to_dense()._array.reshape(-1, p.shape[-1])
        if grad is None or len(grad) < 3 or not NAMED.search(name.rpartition(".")[2]):
            continue
        if np.any(grad, axis=1).sum() == 1 and not any(look.table is p._array for look in graph.lookups):
            return name.rpartition(".")[0], tr("{} has {} rows for positions, and {} of them are read", name, len(grad), 1)
    if "gradients" in subject.found:  # a part of the model may not have been called at all
        return None
    if unread := mask_unread(subject):
        return unread
    for path, module in model.named_modules():
        still = {n: p for n, p in module._parameters.items() if p is not None and not p.requires_grad}
        for name, table in {**still, **held(module)}.items():
            if not NAMED.search(name) or not table.is_floating_point() or table.dim() < 2:
                continue
            rows = table._array.reshape(-1, table.shape[-1])
            what = f"{path}.{name}".lstrip(".")
            read = most_read(graph, table._array, what) // table.shape[-1]
            if len(rows) < 3 or 1 < read and np.ptp(rows, axis=0).any():
                continue
            if read < 2:
                return path, tr("{} has {} rows for positions, and {} of them are read", what, len(rows), read)
            return path, tr("{} is there for positions, and its {} rows are alike", what, len(rows))
    return None


def held(module: Module) -> dict[str, Tensor]:
    """The buffers of a module, and its attributes that are tensors."""
    return {n: x for n, x in {**module._buffers, **vars(module)}.items() if isinstance(x, Tensor)}


def mask_unread(subject: Subject) -> tuple[str, str] | None:
    """(module, cause) of a mask over two places each, as of windows that were moved, that a module which is called keeps, and that
    nothing reads. One that is a triangle says what kind of model it is, and is asked for elsewhere."""
    graph = subject.reference
    called = {call.path for call in graph.calls}
    sizes = {seen.keep.shape[-1] for seen in graph.attentions}
    for path, module in subject.model.named_modules():
        for name, x in module._buffers.items() if path in called else ():
            if x is None or x.dim() < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] not in sizes or triangular(x._array):
                continue
            kinds = np.unique(x._array)
            if len(kinds) == 2 and (kinds[0] < HIDES and kinds[1] == 0) and not most_read(graph, x._array, ""):
                what = f"{path}.{name}".lstrip(".")
                return path, tr("{} is there to hide scores, and nothing reads it", what)
    return None


HIDES = -50.0  # what is added to a score that is hidden is less
NAMED = re.compile(r"(^|_)(pos|position|positions|positional|pe|wpe)(_|$)")


def distances_unread(subject: Subject) -> str:
    """The module that keeps numbers named for distances or angles, such as slopes, that nothing reads; "" where there is none."""
    graph, called = subject.reference, {call.path for call in subject.reference.calls}
    for path, module in subject.model.named_modules():
        for name, x in held(module).items() if path in called else ():
            if x.is_floating_point() and DISTANCES.search(name) and not most_read(graph, x._array, ""):
                return path
    return ""


DISTANCES = re.compile(r"(^|_)(slopes?|alibi|inv_freq|freqs?(_cis)?|rope|rotary|cos|sin|pos|position|positional|pe)(_|$)")


def most_read(graph: Graph, table: np.ndarray, name: str) -> int:
    """How many numbers of a table an operation read, at most; of a parameter, by its name, its parts are known."""
    read = [run.output.size if run.op.view else table.size for run in graph.runs if any(x is table for x in run.inputs)]
    parts = [x.size for run in graph.runs for x, part in zip(run.inputs, run.parameters) if part == name and x is not None]
    return max(read + parts, default=0)


def without_gradient(subject: Subject, name: str, indices: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """(B, T), True where the gradient of what a table gave is zero."""
    rows_first = indices.ndim != 2 or indices.shape[0] == subject.ids(name).shape[0]
    shape = indices.shape if indices.ndim == 2 else subject.batch.leaves[name].array.shape
    if indices.ndim != 2:
        rows_first = subject.batch.batch_axis == 0
    by_place = np.any(gradient.reshape(*shape, -1), axis=-1)
    return ~(by_place if rows_first else by_place.T)


def answered(subject: Subject, name: str) -> np.ndarray:
    """(B, T) True where a place can matter: in a causal model none does behind the last that has an answer."""
    fine = np.ones(subject.ids(name).shape, bool)
    if not subject.causal or name != subject.kind.text or subject.answer is None:
        return fine
    if subject.moves_within:
        fine[:, -1] = False
    shape, places = subject.reference.outputs[subject.answer].shape, subject.places[name]
    ends = [min(first + n, places.length) for n, first in places.all.items() if n in shape or n * subject.rows in shape]
    fine[:, max(ends, default=places.length) :] = False
    asked = subject.loss is not None or given_losses(subject.reference)
    if asked:  # the last answers of a text have no next token that a loss could ask for
        fine[:, max(1, places.length - SHIFTED) :] = False
    return fine
