"""Cache: the text in two parts, the first remembered, gives what the text at once gives."""

import inspect
from functools import partial

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.compare import change, near
from badak.inspect.audit.localize import begins
from badak.inspect.audit.past import past_name, past_of
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NO_NUMBERS, NotApplicable, Subject
from badak.nn.cache import KeyValueCache

FIX = tr("count positions from the length of the cache, and hide with its end in view: query i sees keys 0 .. length + i")


class Cache:
    """All tokens but the last, then the last one with what was remembered of them."""

    name = tr("cache")

    def ask(self, subject: Subject) -> list[Finding]:
        layers = getattr(getattr(subject.model, "config", None), "layers", None)
        own = layers if getattr(subject.model, "takes_cache", False) and isinstance(layers, int) else 0
        takes = past_name(subject.model)
        if not own and not takes:
            raise NotApplicable(tr("the model takes no nn.KeyValueCache and no past_key_values"), moot=True)
        if subject.broken or subject.answer is None:
            raise NotApplicable(NO_NUMBERS if subject.broken else tr("the model gives no answer next to its loss"))
        if subject.leaks_future:
            raise NotApplicable(tr("the model sees what follows: with a cache it cannot give the same"), moot=True)
        name = subject.kind.text
        if not subject.texts or len(subject.batch.leaves) > 1 and not read_whole(subject) or subject.length() < 2:
            raise NotApplicable(tr("the batch is more than one text of two tokens"))
        subject.afford(2)
        length, ids = subject.length(), subject.ids(name)
        padding = subject.padding.get(name, np.zeros(ids.shape, bool))
        full = np.logical_not(np.asarray(padding.any(axis=1)))
        if not full.any():
            raise NotApplicable(tr("every row has padding"))
        flag = {"use_cache": True} if "use_cache" in inspect.signature(subject.model.forward).parameters else {}
        given: dict = {"cache": KeyValueCache(own, length)} if own else flag
        for part in (ids[:, :-1], ids[:, -1:]):
            batch = subject.batch.with_({name: subject.placed(part)})
            batch.kwargs = {**batch.kwargs, **given}
            try:
                last = subject.forward(batch)
            except NotApplicable as why:
                if takes not in given or own:
                    raise
                where = getattr(why.__cause__, "badak_module", "")
                return [Finding("cache", where, tr("with the {} that it gave itself, {}", takes, why), FIX)]
            if not own and (past := past_of(last.result, takes)) is None:
                raise NotApplicable(tr("the model takes {} and gives none{}", takes, tr(", though use_cache=True") if flag else ""))
            if not own:
                given[takes] = past

        clean = partial(as_at_the_end, length=length, full=full)
        whole, step = subject.reference.outputs[subject.answer], last.outputs[subject.answer]
        if clean(whole, step) is not False:
            return []
        begin = begins(subject.reference.calls, last.calls, clean)
        largest = change(whole[full, -1:], step[full]) if len(whole) == len(full) else change(whole[:, -1:], step)
        return [
            Finding(
                "cache",
                begin.path,
                tr("the last token with a cache of those before gives other outputs than the whole text, by up to {:.2g} "
                   "of their size", largest),
                FIX,
                {"tokens": length, "largest change": largest},
                begin.between,
            )
        ]  # fmt: skip


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
