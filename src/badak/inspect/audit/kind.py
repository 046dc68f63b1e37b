"""What kind of model it is: found in what it does and what it is given, or said."""

from typing import NamedTuple

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.batch import LABEL_NAMES, TARGET_NAMES, Batch
from badak.inspect.audit.graph import Lookup, Seen
from badak.inspect.audit.padding import mask_leaves, triangular
from badak.inspect.audit.past import past_name
from badak.nn import Module

KINDS = ("causal", "bidirectional", "encoder-decoder", "image")
SHIFTED = 2  # tokens that a program cuts off a text, or puts before it, at most
UNKNOWN = "unknown"
LEAST = 8  # labels that show something


class Kind(NamedTuple):
    """kind, how it was found, the text that the model answers or reads, if that is no text, and the source next to it."""

    kind: str
    why: str
    text: str
    source: str | None = None


def texts_of(batch: Batch, lookups: list[Lookup] = ()) -> list[str]:  # type: ignore[assignment]
    """The names of integer tensors that are looked up in tables; before that is known, those that look like texts."""
    flat = _flat(batch)
    if any(leaf.array.dtype.kind == "f" and leaf.array.ndim > 1 for leaf in batch.leaves.values()):  # what numbers are answered by
        flat = [name for name in flat if name.lower() not in LABEL_NAMES]
    if not lookups:
        return [n for n in flat if not _is_label(n, flat)]
    looked = looked_up(batch, lookups)
    most = max(looked.values(), default=0)
    found = [name for name, size in looked.items() if size == most or any(word in name for word in TARGET_NAMES)]
    return found or [n for n in flat if not _is_label(n, flat) and not _of_columns(batch.leaves[n].array, lookups)][:1]


def _of_columns(x: np.ndarray, lookups: list[Lookup]) -> bool:
    """Whether each column is looked up in a table of its own: categories of a row, and no text."""
    return sum(any(np.array_equal(look.indices.ravel(), column) for look in lookups) for column in x.T) > 1


def _flat(batch: Batch) -> list[str]:
    """The names of what can be texts: integers, (B, T), and no mask over scores."""
    flat = [name for name, leaf in batch.leaves.items() if leaf.integer and leaf.array.ndim == 2 and min(leaf.array.shape) > 0]
    return [name for name in flat if not triangular(batch.leaves[name].array)]


def looked_up(batch: Batch, lookups: list[Lookup]) -> dict[str, int]:
    """Of each that was looked up in tables the most rows that one of those has."""
    sizes = {name: [x.vocabulary for x in lookups if reads(x, name, batch)] for name in _flat(batch)}
    return {name: max(each) for name, each in sizes.items() if each}


def reads(lookup: Lookup, name: str, batch: Batch) -> bool:
    """Whether a table was asked for this tensor of the batch, or a part of it."""
    if lookup.reads and name not in lookup.reads:
        return False
    return part_of(lookup.indices, batch.leaves[name].array, batch.batch_axis) is not None


def part_of(indices: np.ndarray, ids: np.ndarray, batch_axis: int) -> int | None:
    """Where in a text (B, T) the ids begin that were looked up: 0 for the whole, 1 for ids[:, 1:], -1 for a token before
    ids[:, :-1]; None where they are not of this text."""
    if indices.size == ids.size and any(np.array_equal(indices.reshape(x.shape), x) for x in (ids, ids.T)):
        return 0
    text = ids if batch_axis == 0 else ids.T
    if text.ndim != 2:
        return None
    for x in (indices, indices.T):
        if x.ndim != 2 or x.shape[0] != text.shape[0] or abs(x.shape[1] - text.shape[1]) > SHIFTED or x.shape[1] < 3:
            continue
        if x.shape == text.shape and np.array_equal(np.roll(x, 1, axis=1), text):  # around the end: no text is read so
            return 0
        for first in (-1, 0, 1, -2, 2):
            low, high = max(first, 0), min(first + x.shape[1], text.shape[1])
            if high - low >= text.shape[1] - SHIFTED and _alike(x[:, low - first : high - first], text[:, low:high]):
                return first
    return None


def _alike(indices: np.ndarray, text: np.ndarray) -> bool:
    """Whether these ids are of the text; -100 and the like never are looked up as they are."""
    return bool(((indices == text) | (text < 0)).all() and (text >= 0).any())


def _is_label(name: str, all_of_them: list[str]) -> bool:
    return len(all_of_them) > 1 and name != all_of_them[0] and name.lower() in LABEL_NAMES


class Shown(NamedTuple):
    """What one forward, and the loss behind it, have shown of a model."""

    attentions: list[Seen] = []  # noqa: RUF012
    lookups: list[Lookup] = []  # noqa: RUF012
    sides: list[tuple[frozenset[str], frozenset[str]]] = []  # noqa: RUF012 -- of each attention, what its queries and keys read
    labels: list[np.ndarray] = []  # noqa: RUF012 -- that losses compared answers with
    answers: list[np.ndarray] = []  # noqa: RUF012 -- what the model gives, or its last module
    triangles: list[int] = []  # noqa: RUF012 -- sizes of triangular masks that met scores
    unused: list[int] = []  # noqa: RUF012 -- of those that were made, or handed on, and met none
    remembers: bool | None = False  # whether keys and values, or states, come back; None where what layers read does


def lookups_of(batch: Batch, name: str, shown: Shown) -> list[Lookup]:
    """What tables were asked for of a text."""
    return [x for x in shown.lookups if part_of(x.indices, batch.leaves[name].array, batch.batch_axis) is not None]


def kind_of(model: Module, batch: Batch, shown: Shown, said: str | None) -> Kind:
    """The kind, as far as one forward shows it."""
    texts = texts_of(batch, shown.lookups)
    if not texts:
        return _without_text(batch, shown, said)
    if said in (None, "encoder-decoder"):
        looked = looked_up(batch, shown.lookups)
        two = _crossed(looked, shown.sides)
        both = texts if len(texts) > 1 else list(looked)
        seen = [(queries | keys) & {*both[:2]} for queries, keys in shown.sides]
        apart = len(both) > 1 and (not seen or all({name} in seen for name in both[:2]))  # each is attended to by itself
        two = two or (both[:2] if apart and _two_sides(model, both) else None)
        two = two or _written(batch, texts, shown)
        if two and said is None and not _answers(batch, two[1], shown):
            return Kind("bidirectional", tr("it compares {} with {}, and answers no tokens", two[1], two[0]), two[1], two[0])
        if two:
            return Kind("encoder-decoder", tr("said") if said else tr("it reads {} and answers {}", two[0], two[1]), two[1], two[0])
    if said:
        return Kind(said, tr("said"), texts[-1] if said == "encoder-decoder" else texts[0])
    causal = _causal(model, batch, texts, shown)
    if causal:
        return Kind("causal", causal, texts[0])
    why = _bidirectional(batch, texts, shown)
    return Kind("bidirectional", why, texts[0]) if why else Kind(UNKNOWN, _NOTHING, texts[0])


_TRIANGLE = tr("a triangular mask meets the scores of its attentions, though it does not hide what follows")
_UNUSED = tr("a triangular mask is made, though it hides nothing")
_NOTHING = tr("nothing hides what follows, and nothing shows whether it may be seen")


def _answers(batch: Batch, name: str, shown: Shown) -> bool:
    """Whether some answer is one for each place of a text, or for each token that there is; one number alone for each place, which
    says where something begins, is none."""
    length = batch.length(name)
    places = {length + k for k in range(-SHIFTED, SHIFTED + 1)}
    sizes = places | {x.vocabulary for x in shown.lookups}
    several = batch.leaves[name].array.shape[batch.batch_axis]
    answers = [y for y in shown.answers if y.ndim and y.shape not in ((several, length), (length, several))]
    first = [y.shape[0] for y in answers if y.shape[0] != several]  # (T, B, V), or all laid flat
    return any(n in places or n % several == 0 and n // several in places for n in first) or any(
        n in sizes for y in answers for n in y.shape[1:]
    )


def open_kind(kind: Kind, shown: Shown, batch: Batch) -> bool:
    """Whether it may go from left to right all the same: no attention reads it, or it is asked for its own text, moved."""
    if kind.kind == "causal" or kind.source:
        return False
    size = batch.leaves[kind.text].array.size
    asked = any(size / 2 <= y.size <= size and y.dtype.kind in "iu" for y in shown.labels)
    attends = any(kind.text in both for pair in shown.sides for both in pair) if shown.sides else bool(shown.attentions)
    return not attends or asked and kind.kind in ("bidirectional", UNKNOWN)


def _written(batch: Batch, texts: list[str], shown: Shown) -> list[str] | None:
    """[source, target] of two texts, where the answer has a word for each place of one of them alone, and no attention is known."""
    if len(texts) != 2 or shown.sides:
        return None
    words = max((x.vocabulary for x in shown.lookups), default=0)
    lengths = list(map(batch.length, texts))
    answers = [y for y in shown.answers if y.ndim == 3 and y.shape[-1] == words]
    fits = [any(n in y.shape[:2] for y in answers) for n in lengths]
    return [texts[fits.index(False)], texts[fits.index(True)]] if sorted(fits) == [False, True] else None


def _crossed(looked: dict[str, int], sides: list) -> list[str] | None:
    """[source, target] where an attention asks one text by another; each may have a table of its own, and segments next to it."""
    for queries, keys in sides:
        source, other = ([name for name in looked if name in each] for each in (keys, queries - keys))
        if source and other:
            return [max(each, key=looked.__getitem__) for each in (source, other)]
    return None


def _two_series(batch: Batch, shown: Shown) -> Kind | None:
    """A series of numbers that asks another one, and hides what follows, or is compared with itself one further."""
    axis = 1 - batch.batch_axis
    known = [name for name, leaf in batch.leaves.items() if leaf.array.dtype.kind == "f" and leaf.array.ndim == 3]
    for queries, keys in shown.sides:
        source, text = ([name for name in known if name in each] for each in (keys, queries - keys))
        if not source or not text:
            continue
        x = batch.leaves[text[0]].array
        length = x.shape[axis]
        hides = any(_hides(seen.keep) for seen in shown.attentions if seen.keep.shape[-2:] == (length, length))
        further = any(one_further(y, x[..., : y.shape[-1]], batch.batch_axis) for y in shown.labels if y.ndim == 3)
        if length > 2 and (hides or length in shown.triangles or further):
            return Kind("encoder-decoder", tr("it reads {} and answers {}", source[0], text[0]), text[0], source[0])
    return None


def _without_text(batch: Batch, shown: Shown, said: str | None) -> Kind:
    if said in (None, "encoder-decoder") and (two := _two_series(batch, shown)):
        return two
    name = next((n for n, leaf in batch.leaves.items() if leaf.array.dtype.kind == "f" and leaf.array.ndim > 1), None)
    name = name or next(iter(batch.leaves))
    x = batch.leaves[name].array
    length = x.shape[1 - batch.batch_axis] if x.ndim == 3 else 0
    own = [seen for seen in shown.attentions if length and seen.keep.shape[-2:] == (length, length)]
    hides = [seen for seen in own if _hides(seen.keep)]
    if said or hides:
        why = tr("said") if said else tr("{} of {} self-attentions hide what follows", len(hides), len(own))
        return Kind(said or "causal", why, name)
    if length > 2 and length in shown.triangles:
        return Kind("causal", _TRIANGLE, name)
    for other, leaf in batch.leaves.items():  # the last places of all ask: what is known ahead, behind what was
        t = batch.length(other) if leaf.array.ndim == 3 and leaf.array.dtype.kind == "f" else 0
        ask = [seen.keep[..., -t:] for seen in shown.attentions if t > 2 and seen.keep.shape[-2] == t < seen.keep.shape[-1]]
        if any(map(_hides, ask)):
            return Kind("causal", tr("an attention of {} hides what follows", other), other)
    if length > 2 or x.ndim == 2 and x.shape[1 - batch.batch_axis] > LEAST:
        beside = [(n, leaf.array) for n, leaf in batch.leaves.items() if n != name and length]
        for other, y in (*beside, *(("what its loss compares with", y) for y in shown.labels)):
            if y.dtype.kind == "f" and one_further(y, x, batch.batch_axis):
                return Kind("causal", tr("{} is {}, one further", other, name), name)
        if own and any(y.shape == x.shape and y is not x for y in shown.answers):
            return Kind(UNKNOWN, _NOTHING, name)
    return Kind("image", tr("{} is of numbers, {}", name, x.shape), name)


def _two_sides(model: Module, texts: list[str]) -> bool:
    names = [path.lower() for path, _ in model.named_modules()]
    sides = any("encoder" in n for n in names) and any("decoder" in n for n in names)
    return sides or any(word in texts[1].lower() for word in TARGET_NAMES)


def _hides(keep: np.ndarray) -> bool:
    """Whether queries see what stands before them and mostly not what follows, of the keys that any query sees: padding at the end
    of texts is hidden from all.
    """
    T = keep.shape[-1]
    flat = keep.reshape(-1, T, T)
    seen = np.broadcast_to(flat.any(axis=1, keepdims=True), flat.shape)
    upper, lower = (flat[seen & part(np.ones((T, T), bool), k)] for part, k in ((np.triu, 1), (np.tril, -1)))
    return bool(upper.size and lower.size and upper.mean() <= 0.5 * lower.mean())


def one_further(labels: np.ndarray, text: np.ndarray, batch_axis: int) -> bool:
    """Whether labels are a text, one further: as long as it, without its first, flat or not; those below 0 do not count, nor does
    the end of a row where both were filled up after they were moved."""
    x = text if batch_axis == 0 else np.swapaxes(text, 0, 1)
    rows, length = x.shape[:2]
    rest = x.shape[2:]
    for n in (length, length - 1):
        if labels.size != rows * n * int(np.prod(rest)) or n < 2:
            continue
        y = labels.reshape(n, rows, *rest).swapaxes(0, 1) if batch_axis else labels.reshape(rows, n, *rest)
        y, wanted, same = y[:, : length - 1], x[:, 1:], x[:, : length - 1]
        counts = np.ones(y.shape, bool)
        if y.dtype.kind in "iu" and x.ndim == 2:
            counts = (y >= 0) & ~filled(x)[:, 1:]
        if counts.any() and (y == wanted)[counts].all() and not (y == same)[counts].all():
            return True
        odd = y[counts & (y != wanted)]  # one id in the place of labels that do not count, as of prompts
        if y.dtype.kind in "iu" and x.ndim == 2 and len(odd) and np.ptp(odd) == 0 and 3 * len(odd) < 2 * counts.sum() > LEAST:
            others = counts & (y != odd[0])
            if others.sum() > LEAST and (y == wanted)[others].all() and not (y == same)[others].all():
                return True
    return False


def square(own: list) -> bool:
    """Whether each place of a text asks all others."""
    return any(seen.keep.shape[-1] == seen.keep.shape[-2] > 2 for seen in own)


def filled(ids: np.ndarray) -> np.ndarray:
    """(B, T), True where the ends of rows repeat one id, the same in all of them that do; a last token alone repeats nothing."""
    steps = np.flip(np.logical_and.accumulate(np.flip(ids == ids[:, -1:], axis=1), axis=1), axis=1)
    several = steps.sum(axis=1) > 1
    ends = ids[:, -1]
    return steps & np.isin(ends, ends[several])[:, None] if len(set(ends[several].tolist())) == 1 else np.zeros_like(steps)


def _causal(model: Module, batch: Batch, texts: list[str], shown: Shown) -> str:
    """What shows that the model is causal; "" where nothing does."""
    leaf = batch.leaves[texts[0]]
    length, mine = batch.length(texts[0]), lookups_of(batch, texts[0], shown)
    lengths = {length} | {x.indices.shape[-1 - batch.batch_axis] for x in mine if x.indices.ndim == 2}
    if length < 2:
        return ""
    squares = [seen for seen in shown.attentions if seen.keep.shape[-1] == seen.keep.shape[-2]]
    own = [seen for seen in squares if seen.keep.shape[-1] in lengths]
    own = own or [seen for seen in squares if seen.keep.shape[-1] in (2 * length, 3 * length)]  # states and actions, in turn
    if not own:  # something stands before the text: a prefix that all may see
        own = [seen for seen in squares if seen.keep.shape[-1] > length]
        lengths |= {seen.keep.shape[-1] for seen in own}
        own = [seen._replace(keep=seen.keep[..., -length:, -length:]) for seen in own]
    if not own:  # the last places alone ask
        asks = [seen for seen in shown.attentions if 1 < seen.keep.shape[-2] < seen.keep.shape[-1] == length]
        own = [seen._replace(keep=seen.keep[..., -seen.keep.shape[-2] :]) for seen in asks]
    hides = [seen for seen in own if seen.keep.shape[-1] > 1 and _hides(seen.keep)]
    if hides:
        return tr("{} of {} self-attentions hide what follows", len(hides), len(own))
    for name, other in batch.leaves.items():
        if name != texts[0] and other.integer and one_further(other.array, leaf.array, batch.batch_axis):
            return tr("{} is {}, one further", name, texts[0])
    if any(one_further(labels, leaf.array, batch.batch_axis) for labels in shown.labels):
        return tr("its loss compares an answer with the token of {} one further", texts[0])
    for mask in mask_leaves(batch, texts, lengths):
        if triangular(mask.array):
            return tr("{} is a triangle", mask.name)
    if lengths & set(shown.triangles):
        return _TRIANGLE
    words = max((x.vocabulary for x in mine), default=0)
    each = [y for y in shown.answers if y.ndim > 2 or y.shape[:-1] == (leaf.array.size,)]
    if lengths & set(shown.unused) and (any(y.shape[-1] == words for y in each) or not each and square(own)):
        return _UNUSED
    if any(b.dim() >= 2 and b.shape[-1] >= length and triangular(b._array) for b in model.buffers()):
        return tr("it holds a triangular mask")
    if shown.remembers and (own or not shown.attentions):
        return tr("it gives what its next forward takes")
    takes = past_name(model) if shown.remembers is not None else ""
    if takes and own and any(y.ndim > 2 and y.shape[-1] == words for y in shown.answers):
        return tr("it takes what a forward before has remembered: {}", takes)
    return ""


def _bidirectional(batch: Batch, texts: list[str], shown: Shown) -> str:
    """What shows that every place may see every other; "" where nothing does."""
    leaf = batch.leaves[texts[0]]
    if any(labels.size == leaf.array.size and labels.dtype.kind in "iu" for labels in shown.labels):
        return tr("its loss compares an answer with a label of the same place")
    words = max((x.vocabulary for x in lookups_of(batch, texts[0], shown)), default=0)
    square = any(seen.keep.shape[-1] == seen.keep.shape[-2] for seen in shown.attentions)
    if not square and shown.answers and all(y.shape == (leaf.array.shape[batch.batch_axis], words) for y in shown.answers):
        return tr("it gives one answer for each text, and no attention mixes its places")
    if any(y.ndim and words and y.shape[-1] == words for y in shown.answers):
        length, width = batch.length(texts[0]), {x.table.shape[1] for x in shown.lookups if x.vocabulary == words}
        parts = [x for x in shown.lookups if 1 < x.vocabulary <= 4 and x.table.shape[1] in width and length in x.indices.shape]
        return tr("it reads which part of the text a token is of") if parts else ""
    return tr("it answers no tokens, and nothing hides what follows") if shown.answers else ""
