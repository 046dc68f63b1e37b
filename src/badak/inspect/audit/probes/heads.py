"""Grouped heads: which head of keys and values each head of queries reads."""

from collections.abc import Iterator

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.graph import Mixer, Ran, additive, mixers, origins, readers, through
from badak.inspect.audit.probes.places import exchanged, in_windows, misplaced, patches, torn, viewed
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.ops.conv import Conv
from badak.ops.windows import Unfold

FIX = tr("k.repeat_interleave(H // G, dim=1), and v the same; not k.repeat(1, H // G, 1, 1)")


def ask(subject: Subject) -> list[Finding]:
    """Heads of keys that are equal are one head, laid out for several of queries: one after the other, or in turn."""
    found, looked = [], False
    for mixer in mixers(subject.reference):
        if mixer.keys is None or mixer.keys.ndim != 4 or mixer.values is None or mixer.values.ndim != 4:
            continue
        if len(mixer.keys) == 1 < subject.rows == mixer.keys.shape[1]:  # rows of one head, which stand in the place of heads
            continue
        keys, values = layout(mixer.keys, mixer.values.shape[1]), layout(mixer.values, mixer.values.shape[1])
        if keys is None and values is None:
            continue
        looked = True
        if keys != values:
            cause = tr("query heads read other heads of values than of keys: {} of keys, {} of values", words(keys), words(values))
        elif keys is not None and keys != sorted(keys):
            cause = tr("query heads read {} of keys: head h reads h % G, where h // (H / G) is meant", words(keys))
        else:
            continue
        found.append(Finding("heads", mixer.path, cause, FIX))
    for mixer in mixers(subject.reference):
        if (groups := groups_of(mixer)) is not None:
            looked = True
            if any(group != slot // (len(groups) // len({*groups.values()})) for slot, group in groups.items()):
                order = ", ".join(str(groups[slot]) for slot in sorted(groups))
                cause = tr("query heads read heads {} of keys: head h reads h % G, where h // (H / G) is meant", order)
                found.append(Finding("heads", mixer.path, cause, GROUPS))
    consumers, known = subject.reference.consumers(), {each.module for each in found}
    for mixer in [*mixers(subject.reference), *additive(subject.reference)]:
        if mixer.path not in known and (each := turned(mixer, consumers)) is not None:
            known.add(mixer.path)
            found.append(each)
    found += [*channels_as_places(subject), *exchanged(in_windows(subject)), *patches(subject.reference), *misplaced(subject)]
    found += [each for each in torn(subject.reference) if each.module not in {other.module for other in found}]
    if not looked and not found:
        raise NotApplicable(tr("no two heads share keys"), moot=True)
    return found


def groups_of(mixer: Mixer) -> dict[int, int] | None:
    """{head of queries, as it stands in the width: head of keys that it reads} of queries (B, G, H / G, T, D), or with these two
    exchanged; None where they are laid out otherwise, or are more than what a map gives."""
    q, k = mixer.queries, mixer.keys
    if q.ndim != 5 or k is None or k.ndim != 5 or (k.shape[1] == 1) == (k.shape[2] == 1) or 1 in q.shape[1:3]:
        return None
    heads = [(i, j) for i in range(q.shape[1]) for j in range(q.shape[2])]
    parts: np.ndarray | None = None
    rest = (len(heads) * q.shape[-1],), (len(heads), q.shape[-1])
    for x in (run.output for run in origins(mixer.q)):  # as they were before they were moved, (B, T, H, D) or (B, T, H D)
        if x.size == q.size and x.shape[:2] == (len(q), q.shape[3]) and x.shape[2:] in rest:
            parts = x.reshape(*x.shape[:2], len(heads), q.shape[-1])
    if parts is None:
        return None
    found = {}
    for i, j in heads:
        slot = next((h for h in range(len(heads)) if np.array_equal(parts[:, :, h], q[:, i, j])), None)
        if slot is not None:
            found[slot] = i if k.shape[2] == 1 else j
    return found if len(found) == len(heads) else None


def turned(mixer: Mixer, consumers: dict) -> Finding | None:
    """An attention whose heads are taken out of the width, or put back into it, by a view that takes places for heads."""
    for made, v in ((mixer.v, mixer.values), (mixer.k, mixer.keys), (mixer.q, mixer.queries)):
        if v is not None and v.ndim == 3 and (found := in_rows(made, v, mixer.path)):
            return found
        if v is None or v.ndim not in (4, 5):
            continue
        v = v.reshape(-1, *v.shape[-3:])  # of cells, in rows and columns
        across, laid = v.swapaxes(1, 2) if v.shape[1] != v.shape[2] else None, taken_apart(made, v)
        if laid is not None and np.array_equal(v, laid.reshape(v.shape)) and not np.array_equal(v, split(laid, v)):
            return viewed(mixer.path, laid, v, HEADS, SPLIT)
        if laid is not None:
            continue
        if across is not None and (wide := taken_apart(made, across)) is not None:
            if wide.shape[2] == v.shape[2] * v.shape[3] and np.array_equal(v, wide.reshape(v.shape)):
                return asked_as(mixer.path, wide, v)
        if (wide := all_three(made, v)) is not None:
            rest = {*range(v.shape[2])} - {t for t in range(v.shape[2]) if np.isin(v[0, :, t], wide[0, t]).all()}
            if rest and np.isin(v[0], wide[0]).all():
                return viewed(mixer.path, wide, v, HEADS, SPLIT)
        if across is not None and (wide := all_three(made, across)) is not None:
            if all(np.isin(v[0, t], wide[0, t]).all() for t in range(v.shape[1])):
                return asked_as(mixer.path, wide, v)
    x = mixer.mixed
    if x.ndim == 3:
        return merged_in_rows(mixer, consumers)
    if x.ndim != 4 or min(x.shape[1:3]) < 2:
        return None
    wide = x.swapaxes(1, 2)
    for z in (run.output for run in laid_out(mixer.core, consumers)):
        if z.size == x.size and z.shape[-1] == x.shape[1] * x.shape[3] and z.shape[:2] == wide.shape[:2]:
            if np.array_equal(z, wide.reshape(z.shape)) or not np.array_equal(z, x.reshape(z.shape)):
                return None
            return viewed(mixer.path, x, z, JOINED, MERGED)
    return None


def asked_as(path: str, x: np.ndarray, v: np.ndarray) -> Finding:
    cause = tr("what has shape {} is asked as {}: the heads of one place attend to each other", x.shape, v.shape)
    return Finding("heads", path, cause, SPLIT)


def in_rows(made: Ran, v: np.ndarray, path: str) -> Finding | None:
    """Heads as rows (B H, T, D), taken out of (B, T, H D) by a view alone."""
    for x in (run.output for run in origins(made)):
        if x.size == v.size and x.ndim == 3 and x.shape[1] == v.shape[1] > 1 and x.shape[2] > v.shape[2] and len(x) < len(v):
            wide = x.reshape(*x.shape[:2], -1, v.shape[2]).swapaxes(1, 2).reshape(v.shape)
            if np.array_equal(v, x.reshape(v.shape)) and not np.array_equal(v, wide):
                return viewed(path, x, v, HEADS, SPLIT)
    return None


def merged_in_rows(mixer: Mixer, consumers: dict) -> Finding | None:
    """What heads as rows (B H, T, D) gave, put back into (B, T, H D) by a view alone."""
    x = mixer.mixed
    for z in (run.output for run in laid_out(mixer.core, consumers)):
        if z.size == x.size and z.ndim == 3 and z.shape[1] == x.shape[1] > 1 and len(z) < len(x) and z.shape[2] > x.shape[2]:
            wide = x.reshape(len(z), -1, *x.shape[1:]).swapaxes(1, 2).reshape(z.shape)
            if np.array_equal(z, x.reshape(z.shape)) and not np.array_equal(z, wide):
                return viewed(mixer.path, x, z, JOINED, MERGED)
    return None


def taken_apart(made: Ran, v: np.ndarray) -> np.ndarray | None:
    """What heads (B, H, T, D) were laid out of, (B, T, H D), with rows and columns for B or not."""
    run: Ran | None = made
    x = made.output
    while run is not None and not laid_for(x, v):
        source = run.sources[0] if run.moves and run.sources else None
        x = x if source is None else source.outputs[run.slots[0]]
        run = source
    return None if run is None else x.reshape(-1, *x.shape[-2:])


def laid_for(x: np.ndarray, v: np.ndarray) -> bool:
    return x.size == v.size and x.ndim in (3, 4) and x.shape[-2] == v.shape[2] and np.prod(x.shape[:-2]) == len(v)


def all_three(made: Ran, v: np.ndarray) -> np.ndarray | None:
    """What queries, keys and values are laid out of at once, (B, T, 3 H D)."""
    run = through(made)
    x = None if run is None or run.moves else run.output
    fits = x is not None and x.ndim == 3 and x.shape[:2] == (len(v), v.shape[2]) and x.size % v.size == 0 and x.size > v.size
    return x if fits else None


def split(y: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(B, T, H D) as heads (B, H, T, D)."""
    return y.reshape(len(v), v.shape[2], v.shape[1], -1).swapaxes(1, 2)


def channels_as_places(subject: Subject) -> Iterator[Finding]:
    """What a convolution made, (B, C, ...), viewed as (B, N, C) or (B, ..., C): a vector is of many places, and of one channel."""
    consumers = subject.reference.consumers()
    for run in subject.reference.runs:
        x, y = run.inputs[0] if run.inputs else None, run.output
        if run.moves and x is not None and (what := other_axis(x, y)) and any(each.op is Conv for each in readers(run, consumers)):
            yield viewed(run.path, x, y, what, PLACES)
        if (
            not run.moves
            or x is None
            or x.ndim not in (3, 4)
            or x.size != y.size
            or 1 in (x.shape[1], x[0, 0].size)  # an axis of one moves nothing
            or y.shape == (*x.shape[:2], x[0, 0].size)
            or [n for n in y.shape if n > 1] == [n for n in x.shape if n > 1]
        ):
            continue
        vectors = next((y.shape[at:] for at in (2, x.ndim - 1) if y.shape[1:at] in ((x[0, 0].size,), x.shape[2:])), ())
        if not vectors or np.prod(vectors) != x.shape[1] or not np.array_equal(y, x.reshape(y.shape)):  # also of several parts
            continue
        made = run.sources[0]
        given = made is None and x.ndim == 4 and x.shape[1] > 1 and bool(run.reads)  # a picture
        while made is not None and made.op not in CHANNELS_FIRST and made.output.shape[:2] == x.shape[:2] and made.sources:
            made = made.sources[0]
        if given or made is not None and made.op in CHANNELS_FIRST:
            yield viewed(run.path, x, y, tr("channels become places"), CHANNELS)


CHANNELS_FIRST = (Conv, Unfold)


def other_axis(x: np.ndarray, y: np.ndarray) -> str:
    """What a view takes for what, of places (B, N, C) that become a picture (B, C, H, W), or of films (B, C, T, H, W) that become
    pictures (B T, C, H, W); "" where it takes nothing for anything else."""
    if not np.array_equal(y, x.reshape(y.shape)) if x.size == y.size else True:
        return ""
    if x.ndim == 3 and y.ndim == 4 and y.shape[:2] == (len(x), x.shape[2]) and x.shape[1] != x.shape[2] and x.shape[1] > 1:
        return tr("places become channels")
    if x.ndim == 5 and y.ndim == 4 and y.shape == (len(x) * x.shape[2], x.shape[1], *x.shape[3:]) and x.shape[1] != x.shape[2]:
        return tr("times become channels")
    return ""


def laid_out(run: Ran, consumers: dict) -> Iterator[Ran]:
    """What an operation made, as views and copies lay it out."""
    for each in consumers.get(run.number, []):
        if each.moves:
            yield each
            yield from laid_out(each, consumers)


HEADS, JOINED = tr("places become heads"), tr("heads become places")
GROUPS = tr("q.view(B, T, G, H // G, D): the heads of a group stand side by side")
SPLIT = tr("x.view(B, T, H, D).transpose(1, 2), not x.view(B, H, T, D)")
PLACES = tr("x.transpose(1, 2).reshape(B, C, H, W); for films x.permute(0, 2, 1, 3, 4) before they are made flat")
CHANNELS = tr("x.flatten(2).transpose(1, 2), not x.reshape(B, -1, C)")
MERGED = tr("x.transpose(1, 2).reshape(B, T, H * D), not x.reshape(B, T, H * D)")


def layout(x: np.ndarray, H: int) -> list[int] | None:
    """For each of H heads of (B, H, S, D) the first that is equal to it; None where all differ. Several of keys may be one of
    values."""
    x = x.reshape(len(x), H, -1, *x.shape[2:]) if x.shape[1] % H == 0 else x
    H = x.shape[1]
    first = [next((j for j in range(i) if np.array_equal(x[:, i], x[:, j])), i) for i in range(H)]
    kinds = len(set(first))
    return None if kinds in (1, H) else first


def words(first: list[int] | None) -> str:
    return "each its own" if first is None else "heads " + ", ".join(str(sorted(set(first)).index(i)) for i in first)
