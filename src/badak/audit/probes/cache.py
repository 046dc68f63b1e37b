"""Cache: the text in two parts, the first remembered, gives what the text at once gives."""

import inspect
from collections.abc import Mapping
from typing import Any

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
        own = layers if getattr(subject.model, "takes_cache", False) and isinstance(layers, int) else 0
        if not own and not takes_past(subject.model):
            raise Unasked("the model takes no nn.KeyValueCache and no past_key_values")
        if len(subject.batch.leaves) > 1 or not subject.texts or subject.length() < 2:
            raise Unasked("the batch is more than one text of two tokens")
        subject.afford(2)
        name, length = subject.kind.text, subject.length()
        ids = subject.ids(name)
        given: dict = {"cache": KeyValueCache(own, length)} if own else {"use_cache": True}
        for part in (ids[:, :-1], ids[:, -1:]):
            batch = subject.batch.with_({name: np.ascontiguousarray(part)})
            batch.kwargs = {**batch.kwargs, **given}
            last = subject.forward(batch)
            if not own and (past := past_of(last.result)) is None:
                raise Unasked("the model takes past_key_values and gives none, though use_cache=True")
            if not own:
                given["past_key_values"] = past

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
                "count positions from the length of the cache, and hide with its end in view: query i sees keys 0 .. length + i",
                {"tokens": length, "largest change": largest},
                begin.between,
            )
        ]


def takes_past(model: Any) -> bool:
    """Whether a model takes a cache as those of transformers do: forward(..., past_key_values=, use_cache=)."""
    return {"past_key_values", "use_cache"} <= set(inspect.signature(model.forward).parameters)


def past_of(result: Any) -> Any:
    """What was remembered of a forward."""
    return result.get("past_key_values") if isinstance(result, Mapping) else getattr(result, "past_key_values", None)
