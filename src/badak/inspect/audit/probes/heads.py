"""Grouped heads: which head of keys and values each head of queries reads."""

from collections.abc import Iterator

import numpy as np

from badak.inspect.audit.graph import Mixer, Ran, mixers, through
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
        consumers, known = subject.reference.consumers(), {each.module for each in found}
        for mixer in mixers(subject.reference):
            if mixer.path not in known and (each := turned(mixer, consumers)) is not None:
                known.add(mixer.path)
                found.append(each)
        if not looked and not found:
            raise NotApplicable("no two heads share keys", moot=True)
        return found


def turned(mixer: Mixer, consumers: dict) -> Finding | None:
    """An attention whose heads are taken out of the width, or put back into it, by a view that takes places for heads."""
    y, v, x = through(mixer.v), mixer.values, mixer.mixed
    if v is not None and y is not None and v.ndim == 4 and y.output.size == v.size and y.output.shape[:2] == (len(v), v.shape[2]):
        right = y.output.reshape(len(v), v.shape[2], v.shape[1], -1).swapaxes(1, 2)
        if not np.array_equal(v, right) and np.array_equal(v, y.output.reshape(v.shape)):
            shape = f"({', '.join(map(str, y.output.shape))})"
            return Finding("heads", mixer.path, f"what has shape {shape} is viewed as {v.shape}: places become heads", SPLIT)
    if x.ndim != 4 or min(x.shape[1:3]) < 2:
        return None
    made = x.swapaxes(1, 2)
    for z in (run.output for run in laid_out(mixer.core, consumers)):
        if z.size == x.size and z.shape[-1] == x.shape[1] * x.shape[3] and z.shape[:2] == made.shape[:2]:
            if np.array_equal(z, made.reshape(z.shape)) or not np.array_equal(z, x.reshape(z.shape)):
                return None
            return Finding("heads", mixer.path, f"what has shape {x.shape} is viewed as {z.shape}: heads become places", MERGED)
    return None


def laid_out(run: Ran, consumers: dict) -> Iterator[Ran]:
    """What an operation made, as views and copies lay it out."""
    for each in consumers.get(run.number, []):
        if each.moves:
            yield each
            yield from laid_out(each, consumers)


SPLIT = "x.view(B, T, H, D).transpose(1, 2), not x.view(B, H, T, D)"
MERGED = "x.transpose(1, 2).reshape(B, T, H * D), not x.reshape(B, T, H * D)"


def layout(x: np.ndarray) -> list[int] | None:
    """For each head of (B, H, S, D) the first that is equal to it; None where all differ."""
    H = x.shape[1]
    first = [next((j for j in range(i) if np.array_equal(x[:, i], x[:, j])), i) for i in range(H)]
    kinds = len(set(first))
    return None if kinds in (1, H) else first


def words(first: list[int] | None) -> str:
    return "each its own" if first is None else "heads " + ", ".join(str(sorted(set(first)).index(i)) for i in first)
