"""Grouped heads: which head of keys and values each head of queries reads."""

import numpy as np

from badak.inspect.audit.graph import mixers
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject

FIX = "k.repeat_interleave(H // G, dim=1), and v the same; not k.repeat(1, H // G, 1, 1)"


class Heads:
    """Heads of keys that are equal are one head, laid out for several of queries: one after the other, or in turn."""

    name = "heads"

    def ask(self, subject: Subject) -> list[Finding]:
        found, looked = [], False
        for mixer in mixers(subject.reference):
            if mixer.keys is None or mixer.keys.ndim != 4 or mixer.values is None or mixer.values.ndim != 4:
                continue
            keys, values = layout(mixer.keys), layout(mixer.values)
            if keys is None and values is None:
                continue
            looked = True
            if keys != values:
                cause = f"query heads read other heads of values than of keys: {words(keys)} of keys, {words(values)} of values"
            elif keys is not None and keys != sorted(keys):
                cause = f"query heads read {words(keys)} of keys: head h reads h % G, where h // (H / G) is meant"
            else:
                continue
            found.append(Finding("heads", mixer.path, cause, FIX))
        if not looked:
            raise NotApplicable("no two heads share keys", moot=True)
        return found


def layout(x: np.ndarray) -> list[int] | None:
    """For each head of (B, H, S, D) the first that is equal to it; None where all differ."""
    H = x.shape[1]
    first = [next((j for j in range(i) if np.array_equal(x[:, i], x[:, j])), i) for i in range(H)]
    kinds = len(set(first))
    return None if kinds in (1, H) else first


def words(first: list[int] | None) -> str:
    return "each its own" if first is None else "heads " + ", ".join(str(sorted(set(first)).index(i)) for i in first)
