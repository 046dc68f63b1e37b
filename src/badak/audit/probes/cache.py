"""Cache: the text in two parts, the first remembered, gives what the text at once gives."""

import numpy as np

from badak.audit.compare import change, near
from badak.audit.descend import begins
from badak.audit.report import Finding
from badak.audit.subject import Subject, Unasked
from badak.nn.cache import KeyValueCache


class Cache:
    """All tokens but the last, then the last one with what was remembered of them."""

    name = "cache"

    def ask(self, subject: Subject) -> list[Finding]:
        layers = getattr(getattr(subject.model, "config", None), "layers", None)
        if not getattr(subject.model, "takes_cache", False) or not isinstance(layers, int):
            raise Unasked("the model takes no nn.KeyValueCache")
        if len(subject.batch.leaves) > 1 or not subject.texts or subject.length() < 2:
            raise Unasked("the batch is more than one text of two tokens")
        subject.afford(2)
        name, length = subject.kind.text, subject.length()
        ids = subject.ids(name)
        cache = KeyValueCache(layers, length)
        watches = []
        for part in (ids[:, :-1], ids[:, -1:]):
            batch = subject.batch.with_({name: np.ascontiguousarray(part)})
            batch.kwargs = {**batch.kwargs, "cache": cache}
            watches.append(subject.forward(batch))
        last = watches[1]

        def clean(a: np.ndarray, b: np.ndarray) -> bool | None:
            if a.shape == b.shape:
                return near(a, b)
            for axis, n in enumerate(a.shape):
                if n == length and a.ndim == b.ndim and b.shape[axis] == 1:
                    end = (slice(None),) * axis + (slice(-1, None),)
                    if a[end].shape == b.shape:
                        return near(a[end], b)
            return None

        whole, step = subject.reference.outputs[0], last.outputs[0]
        if clean(whole, step) is not False:
            return []
        begin = begins(subject.reference.calls, last.calls, clean)
        largest = change(whole[:, -1:], step)
        return [
            Finding(
                "cache",
                begin.path,
                f"the last token with a cache of those before gives other outputs than the whole text, by up to {largest:.2g} "
                "of their size",
                "count positions from cache.length, and hide with the end of the cache in view: query i sees keys 0 .. length + i",
                {"tokens": length, "largest change": largest},
                begin.between,
            )
        ]
