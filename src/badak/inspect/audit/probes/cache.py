"""Cache: the text in two parts, the first remembered, gives what the text at once gives."""

import inspect
import re
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from badak.autograd import no_grad
from badak.core.errors import tr
from badak.inspect.audit.batch import LABEL_NAMES, TARGET_NAMES, Batch
from badak.inspect.audit.compare import change, near
from badak.inspect.audit.localize import Begin, begins
from badak.inspect.audit.past import held_by, optional, past_name, past_of
from badak.inspect.audit.preserve_state import as_it_was
from badak.inspect.audit.probes.handed_on import goes_on, taken_and_given
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NO_NUMBERS, NotApplicable, Subject, words
from badak.inspect.audit.watch import Call, Watch
from badak.nn import Module
from badak.nn.cache import KeyValueCache
from badak.tensor import Tensor

MORE = tr("the batch is more than one text of two tokens")
NONE = tr("the model takes no nn.KeyValueCache and no past_key_values")
FIX = tr("count positions from the length of the cache, and hide with its end in view: query i sees keys 0 .. length + i")


def ask(subject: Subject) -> list[Finding]:
    """All tokens but the last, then the last one with what was remembered of them."""
    layers = getattr(getattr(subject.model, "config", None), "layers", None)
    own = layers if getattr(subject.model, "takes_cache", False) and isinstance(layers, int) else 0
    takes = past_name(subject.model)
    keeps = KeepsItself(subject.model)
    if subject.causal and not own and (taken := taken_and_given(subject)) and not subject.broken and not subject.leaks_future:
        found = goes_on(subject, taken)
        with suppress(NotApplicable):  # it was asked already
            found = found or (written(subject) if keeps.writes else [])
        return found
    if not own and not takes and not keeps:
        raise NotApplicable(NONE, moot=True)
    if subject.broken or subject.answer is None:
        raise NotApplicable(NO_NUMBERS if subject.broken else tr("the model gives no answer next to its loss"))
    if subject.leaks_future or subject.shown.remembers is None and not subject.causal:
        raise NotApplicable(tr("the model sees what follows: with a cache it cannot give the same"), moot=True)
    if not own and not takes:
        return keeps.ask(subject)
    name, whole_batch, masks = subject.kind.text, subject.batch, list[str]()
    if subject.texts and subject.length() > 2 and (other := reads_labels(subject)):
        name, whole_batch = other[0], other[1]
    elif takes and (alone := without_labels(subject)):
        whole_batch, masks = alone
    elif not subject.texts or len(subject.batch.leaves) > 1 and not read_whole(subject) or subject.length() < 2:
        raise NotApplicable(MORE)
    subject.afford(2)
    leaf = whole_batch.leaves[name].array
    ids = subject.batch.by_rows(leaf)
    length, own_text = ids.shape[1], subject.kind.text
    padding = subject.padding.get(own_text, np.zeros(subject.ids(own_text).shape, bool)) | (subject.ids(own_text) < 0)
    full = np.logical_not(np.asarray(padding.any(axis=1)))
    if not full.any():
        raise NotApplicable(tr("every row has padding"))
    reference = subject.reference if name == own_text else subject.forward(whole_batch)
    flag = {"use_cache": True} if "use_cache" in inspect.signature(subject.model.forward).parameters else {}
    given: dict = {"cache": KeyValueCache(own, length)} if own else flag
    for part in (ids[:, :-1], ids[:, -1:]):
        cut = {each: whole_batch.leaves[each].array[:, :-1] for each in masks} if len(part[0]) == length - 1 > 1 else {}
        batch = whole_batch.with_({name: subject.placed(part), **cut})
        batch.kwargs = {**batch.kwargs, **given}
        try:
            last = subject.forward(batch)
        except NotApplicable as why:
            if takes not in given or own or masks:
                raise
            where = getattr(why.__cause__, "badak_module", "")
            return [Finding("cache", where, tr("with the {} that it gave itself, {}", takes, why), FIX)]
        if not own and (past := past_of(last.result, takes)) is None:
            if hasattr(subject.model, "generate"):
                return written(subject)
            raise NotApplicable(tr("the model takes {} and gives none{}", takes, tr(", though use_cache=True") if flag else ""))
        if not own:
            given[takes] = past

    return ends_alike(subject, reference, last, length, full)


def other_end(begin: Begin, length: int, largest: float) -> Finding:
    cause = tr("the last token with a cache of those before gives other outputs than the whole text, by up to {:.2g} of their size",
               largest)  # fmt: skip
    return Finding("cache", begin.path, cause, FIX, {"tokens": length, "largest change": largest}, begin.between)


def scores(subject: Subject, outputs: list[np.ndarray]) -> np.ndarray:
    """The answer among what a forward gave: with a loss next to it, or without."""
    like = subject.reference.outputs[subject.answer or 0]
    at = subject.answer or 0
    if at < len(outputs) and outputs[at].shape[-1:] == like.shape[-1:]:
        return outputs[at]
    return next((y for y in outputs if y.ndim == like.ndim and y.shape[-1] == like.shape[-1]), outputs[0])


def without_labels(subject: Subject) -> tuple[Batch, list[str]] | None:
    """A batch of one text without the labels next to it, and the masks over its places; None where it holds no such, or more."""
    text, batch = subject.kind.text, subject.batch
    free = optional(subject.model)
    labels = [name for name in batch.leaves if name in batch.kwargs and name in LABEL_NAMES and name in free]
    masks = [name for name in batch.leaves if name != text and name not in labels]
    over = all(subject.ids(text).shape == (x := batch.leaves[name].array).shape and set(np.unique(x)) <= {0, 1} for name in masks)
    if subject.texts != [text] or batch.batch_axis or subject.length() < 3 or not over or not (labels or masks):
        return None
    kwargs = {name: x for name, x in batch.kwargs.items() if name not in labels}
    return Batch.of(subject.model, (batch.args, kwargs)), masks


class KeepsItself:
    """A model that may remember in its own modules: it writes by generate(), or its forward has a switch for that
    (use_cache=False), or takes where its text begins (start_pos)."""

    def __init__(self, model: Module):
        given = inspect.signature(model.forward).parameters.values()
        self.writes = writer_of(model) is not None
        self.switches = {p.name: True for p in given if p.default is False and SWITCH.search(p.name)}
        self.begins = [p.name for p in given if BEGIN.search(p.name) and (p.default is p.empty or type(p.default) is int)]

    def __bool__(self) -> bool:
        return self.writes or bool(self.switches or self.begins)

    def ask(self, subject: Subject) -> list[Finding]:
        why: NotApplicable | None = None
        for can, ask in ((self.writes, written), (self.switches or self.begins, self.in_two)):
            if can:
                try:
                    return ask(subject)
                except NotApplicable as each:
                    why = why or each
        assert why is not None
        raise why

    def in_two(self, subject: Subject) -> list[Finding]:
        """All tokens but the last, then the last one, of a model whose modules are others after the first part."""
        name, model = subject.kind.text, subject.model
        if subject.texts != [name] or subject.batch.batch_axis or subject.length() < 3 or len(subject.batch.leaves) > 1:
            raise NotApplicable(MORE, moot=True)
        subject.afford(2)
        ids, length = subject.ids(name), subject.length()
        bound = inspect.signature(model.forward).bind(*subject.batch.args, **subject.batch.kwargs).arguments
        with as_it_was(model):
            for first, part in ((0, ids[:, :-1]), (length - 1, ids[:, -1:])):
                kwargs = {**bound, **self.switches, **dict.fromkeys(self.begins[:1], first)}
                batch = Batch.of(model, ((), {**kwargs, name: Tensor._of(part.copy())}))
                last = subject.forward(batch)
                if first == 0 and held_by(model) == subject.held:
                    raise NotApplicable(NONE, moot=True)
        return ends_alike(subject, subject.reference, last, length, np.ones(len(ids), bool))


SWITCH = re.compile(r"cache|incremental")
BEGIN = re.compile(r"^(start(_pos(ition)?)?|(pos(ition)?_)?offset|past_len(gth)?|cur(r(ent)?)?_pos|input_pos|pos)$")


WHOLE = tr("generate() of the model gives it the whole text each time")
NEW = 3  # tokens that a model writes


class Writing(Watch):
    """A model that writes: until it is given a text again that it has read, or has read enough new tokens.

    reader: path of what is given the new tokens, "" for the model itself; but: the ids of a source that it is given as well.
    """

    def __init__(self, model: Module, reader: str = "", but: np.ndarray | None = None):
        super().__init__(model)
        self.reader, self.but = reader, but
        self.steps: list[Call] = []

    def entered(self, module, args, kwargs) -> Call | None:
        call = super().entered(module, args, kwargs)
        if call is None or call.path != self.reader or not call.inputs or self.reader == "" and call.parent is not None:
            return call
        if self.but is not None and np.array_equal(call.inputs[0], self.but):
            return call
        if self.steps and call.inputs[0].shape[-1] > 1:
            raise Reread
        if len(self.steps) > NEW:
            raise Written
        self.steps.append(call)
        return call


class Written(Exception):
    """It has written enough."""


class Reread(Exception):
    """It is given the whole text at each step."""


def writer_of(model: Module) -> Any:
    """The method of a model that writes a text token by token; None where it has none."""
    names = [n for n in ("generate", *vars(type(model))) if WRITES.search(n)]
    return next((method for n in names if callable(method := getattr(model, n, None))), None)


WRITES = re.compile(r"^(generate|greedy|translate|sample|write|infer|summarize|caption|answer|decode_greedy)(_\w+)?$")


def written(subject: Subject) -> list[Finding]:
    """What a model says at the end of a text that it writes itself, by generate(), and of the same text at once."""
    name, source, model = subject.kind.text, subject.kind.source, subject.model
    write = writer_of(model)
    needed = [p for p in inspect.signature(write).parameters.values() if p.default is p.empty]
    if len(needed) > 2 or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in needed):
        raise NotApplicable(tr("generate() of the model asks for more than a text and a number"), moot=True)
    one = subject.texts == [name] if source is None else subject.texts == [source, name] and read_whole(subject)
    if not one or subject.batch.batch_axis or subject.length() < NEW + 2:
        raise NotApplicable(MORE, moot=True)
    known = list(inspect.signature(write).parameters)[1:]
    number = next((n for n in known if NUMBER.search(n)), next(iter(known), None) if len(needed) > 1 or source is None else None)
    subject.afford(2)
    text = subject.ids(name)[:, : subject.length() - NEW] if source is None else subject.ids(source)
    count = subject.length() if number and "len" in number else NEW + 1
    reader, answers = "", ""
    if source is not None:
        reader = next((look.path for look in subject.reference.lookups if look.reads == {name}), "")
        answers = sink.path if (sink := subject.sink()) is not None else ""
        if not reader or not answers:
            raise NotApplicable(WHOLE, moot=True)
    watch = Writing(model, reader, None if source is None else text)
    with as_it_was(model), no_grad(), watch:
        try:
            write(Tensor._of(text.copy()), **({number: count} if number else {}))
        except Reread:
            subject.forwards += 1
            raise NotApplicable(WHOLE, moot=True) from None
        except Written:
            pass
        except Exception as error:
            raise NotApplicable(tr("generate() of the model fails: {}", words(error)), moot=source is not None) from error
    steps = [call for call in watch.steps if call.outputs]
    subject.forwards += 1  # the first of them is as long as a text
    if len(steps) < 2 or any(step.inputs[0].shape != (subject.rows, 1) for step in steps[1:]):
        raise NotApplicable(WHOLE, moot=True)
    last = Watch(model)
    last.calls = [call for call in watch.calls if call.index >= steps[-1].index]
    said = [call for call in last.calls if call.path == answers and call.outputs]
    ids = np.concatenate([step.inputs[0] for step in steps], axis=1)
    if not said or ids.ndim != 2:
        raise NotApplicable(WHOLE, moot=True)
    last.outputs = said[-1].outputs
    if source is not None:  # its parts were called one by one
        whole_call = Call(-1, "", model, None, [], last.outputs, [call for call in last.calls if call.parent is None])
        for call in whole_call.children:
            call.parent = whole_call
        last.calls.insert(0, whole_call)
    whole = subject.forward({name: subject.placed(ids)})
    return ends_alike(subject, whole, last, ids.shape[1], np.ones(len(ids), bool))


NUMBER = re.compile(r"new|len|num|max|steps|count|tokens|^n$")


def ends_alike(subject: Subject, whole: Watch, last: Watch, length: int, full: np.ndarray) -> list[Finding]:
    """What is found where the last token, read after what was remembered, gives other outputs than the end of the whole text."""
    clean = partial(as_at_the_end, length=length, full=full)
    a, b = (scores(subject, each.outputs) for each in (whole, last))
    if clean(a, b) is not False:
        return []
    largest = change(a[full, -1:], b[full]) if len(a) == len(full) else change(a[:, -1:], b)
    return [other_end(begins(whole, last, clean), length, largest)]


def reads_labels(subject: Subject) -> tuple[str, Batch] | None:
    """(name, batch) by which a decoder that moves its labels itself reads the same text without them; None where it takes none."""
    text = subject.kind.text
    if subject.kind.source is None or text not in subject.batch.kwargs or read_whole(subject):
        return None
    free = (n for n in optional(subject.model) if n not in subject.batch.kwargs and "ids" in n)
    takes = [n for n in free if any(word in n for word in TARGET_NAMES)]
    read = [look.indices for look in subject.reference.lookups if look.reads == {text} and look.indices.ndim == 2]
    if len(takes) != 1 or not read or read[0].shape != subject.batch.leaves[text].array.shape:
        return None
    kwargs = {n: x for n, x in subject.batch.kwargs.items() if n != text} | {takes[0]: Tensor._of(read[0].copy())}
    return takes[0], Batch.of(subject.model, (subject.batch.args, kwargs))


def as_at_the_end(a: np.ndarray, b: np.ndarray, length: int, full: np.ndarray) -> bool | None:
    """Whether what comes of the last token alone is what the whole text has at its end, in the rows that are full; None where no
    axis is as long as the text."""
    if not full.all() and a.shape[:1] == b.shape[:1] == full.shape:  # what was padding is not known of what is remembered
        a, b = a[full], b[full]
    if a.shape == b.shape:
        return near(a, b)
    for axis, n in enumerate(a.shape):
        if n == length and a.ndim == b.ndim and b.shape[axis] == 1:
            end = (slice(None),) * axis + (slice(-1, None),)
            if a[end].shape == b.shape:
                return near(a[end], b)
    return None


def read_whole(subject: Subject) -> bool:
    """Whether a decoder reads its text as it is, and next to it nothing but a source, and what says something of its places."""
    name, source = subject.kind.text, subject.kind.source
    if source is None or not any(
        np.array_equal(look.indices, subject.batch.leaves[name].array) for look in subject.reference.lookups
    ):
        return False
    beside = [leaf.array.shape for n, leaf in subject.batch.leaves.items() if n not in (name, source)]
    return all(shape == subject.batch.leaves[source].array.shape for shape in beside)
