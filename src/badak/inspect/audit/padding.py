"""Which places of a text are padding: said, or found in the masks that the model is given, in its tables, in its attributes."""

import inspect
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from badak.inspect.audit.batch import TARGET_NAMES, Batch, Leaf
from badak.inspect.audit.graph import HIDDEN, Graph
from badak.nn import Module
from badak.nn.embedding import Embedding
from badak.ops.arithmetic import Mul
from badak.ops.select import MaskedFill, Where

if TYPE_CHECKING:
    from badak.inspect.audit.subject import Subject

_PAD = re.compile(r"(^|_)pad(ding)?(_token)?(_?(id|idx|index))$")


def pad_ids(model: Module) -> list[int]:
    """The ids that fill texts up, as the model's tables and attributes name them."""
    found = [m.padding_idx for m in model.modules() if isinstance(m, Embedding) and m.padding_idx is not None]
    for module in model.modules():
        for holder in (vars(module), _attributes(getattr(module, "config", None))):
            found += [v for k, v in holder.items() if _PAD.search(k) and isinstance(v, int) and not isinstance(v, bool) and v >= 0]
    return list(dict.fromkeys(found))


def _attributes(config: Any) -> dict:
    if isinstance(config, dict):
        return config
    return dict(getattr(config, "__dict__", {}))


def mask_left_out(model: Module, batch: Batch) -> str:
    """The argument by which the model would be told of padding, and which the batch does not give; "" where there is none."""
    known = list(inspect.signature(model.forward).parameters)
    given = {*known[: len(batch.args)], *batch.kwargs}
    return next((name for name in known if "mask" in name and name not in given), "")


def triangular(array: np.ndarray) -> bool:
    """Whether the last two axes hold a lower or upper triangle of another value."""
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] < 2:
        return False
    one = array.reshape(-1, *array.shape[-2:])[0]
    upper, lower = one[np.triu_indices(len(one), 1)], one[np.tril_indices(len(one))]
    return bool((upper == upper[0]).all() and (lower != upper[0]).mean() > 0.7)


def mask_leaves(batch: Batch, texts: list[str], lengths: set[int]) -> list[Leaf]:
    """The tensors that say who is seen: next to the texts, with two values at most and as long as one of them."""
    found = []
    for name, leaf in batch.leaves.items():
        if name in texts or leaf.array.ndim < 2 or leaf.array.shape[-1] not in lengths:
            continue
        if leaf.array.dtype == bool or (leaf.array.size <= 1 << 24 and len(np.unique(leaf.array)) <= 2):
            found.append(leaf)
    return found


def says_how_long(x: np.ndarray, shape: tuple) -> bool:
    """Whether numbers are how long the texts of a batch are, one of them as long as all: none of it is padding then."""
    return x.shape == shape[:1] and x.dtype.kind in "iu" and x.min() > 0 and x.max() == shape[1]


def padding_of(ids: np.ndarray, mask: Leaf) -> np.ndarray | None:
    """(B, T), True where `mask` hides places of a text (B, T) from everybody at one of its ends; None if it does not."""
    m: Any = mask.array
    if m.shape[-1] != ids.shape[1] or m.shape[0] != ids.shape[0] or triangular(m) and m.ndim == 2:
        return None
    m = m > HIDDEN if m.dtype.kind == "f" and m.min() <= HIDDEN else m != 0
    for hidden in (m, np.logical_not(m)):
        flat = hidden.reshape(hidden.shape[0], -1, hidden.shape[-1]).all(axis=1)
        if at_one_end(flat) and len(np.unique(ids[flat])) == 1:
            return flat
    return None


def at_one_end(hidden: np.ndarray) -> bool:
    """Whether some places (B, T) are hidden, all at the end of their rows, or all at the start of them."""
    steps = np.diff(hidden.astype(int), axis=1)
    at_end, at_start = (steps >= 0).all() and not hidden[:, 0].any(), (steps <= 0).all() and not hidden[:, -1].any()
    return bool(hidden.any() and (at_end or at_start))


def padding_at_work(ids: np.ndarray, keeps: list[np.ndarray]) -> np.ndarray | None:
    """(B, T), True at places of a text that an attention hides from every query, or that a mask shuts out: its ends, and all of
    one id."""
    for keep in keeps:
        if keep.ndim < 3 or keep.shape[0] != ids.shape[0] or keep.shape[-1] != ids.shape[1]:
            continue
        hidden = np.asarray(~keep.reshape(keep.shape[0], -1, keep.shape[-1]).any(axis=1))
        if at_one_end(hidden) and len(np.unique(ids[hidden])) == 1 and not (ids[~hidden] == ids[hidden][0]).any():
            return hidden
    return None


def kept_by(graph: Graph, shape: tuple) -> list[np.ndarray]:
    """(..., T), True = kept, of all attentions and masks."""
    return [*(seen.keep for seen in graph.attentions), *shut_out(graph, shape)]


def shut_out(graph: Graph, shape: tuple) -> Iterator[np.ndarray]:
    """(B, 1, T), True = kept, of each mask over the places (B, T) of a text that multiplies numbers, or that they are filled by."""
    for run in graph.runs:
        for x, made in zip(run.inputs, run.sources) if run.op in (Mul, MaskedFill, Where) else ():
            if x is None or made is not None and made.reads or x.ndim < 2 or x.size != np.prod(shape):
                continue
            mask = x.reshape([n for n in x.shape if n > 1] or [1])
            if mask.shape in (shape, shape[::-1]) and ((mask == 0) | (mask == 1)).all():
                keep = (mask if mask.shape == shape else mask.T)[:, None] != 0
                yield from (keep, np.logical_not(keep))


def find_padding(model: Module, batch: Batch, texts: list[str], pad: int | None, graph: Graph) -> tuple[dict[str, np.ndarray], str]:
    """{text: (B, T), True where padding}, and how it was found; an empty dict where nothing says what padding is."""
    masks = mask_leaves(batch, texts, set(map(batch.length, texts)))
    known = [pad] if pad is not None else pad_ids(model) or behind_lengths(batch, texts) or named_pad(model, batch, texts)
    found, how = {}, ""
    for name in texts:
        ids = batch.ids(name)
        by_mask = [p for mask in masks if (p := padding_of(ids, mask)) is not None]
        if by_mask:
            found[name], how = by_mask[0], "masks of the batch"
        elif not known and (at_work := padding_at_work(ids, kept_by(graph, ids.shape))) is not None:
            found[name], how = at_work, how or "places that attentions hide"
        elif known:
            mine = _for(model, name, known, ids)
            found[name], how = ids == mine, how or f"padding is {mine}"
    return found, how


def behind_lengths(batch: Batch, texts: list[str]) -> list[int]:
    """The one id that stands behind the ends of rows, and nowhere before, where the batch says how long each row is."""
    for name in texts:
        ids = batch.ids(name)
        for leaf in batch.leaves.values():
            n = leaf.array
            if not leaf.integer or n.shape != ids.shape[:1] or not 0 < n.min() < n.max() == ids.shape[1]:
                continue
            behind = np.arange(ids.shape[1]) >= n[:, None]
            if len(kinds := np.unique(ids[behind])) == 1 and not (ids[~behind] == kinds[0]).any():
                return [int(kinds[0])]
    return []


def named_pad(model: Module, batch: Batch, texts: list[str]) -> list[int]:
    """What a model itself calls `pad`, where that id stands behind the ends of texts and nowhere else: a convolution may, too."""
    for name in texts:
        ids = batch.ids(name)
        for value in (getattr(model, each, None) for each in ("pad", "PAD", "padding")):
            if isinstance(value, int) and not isinstance(value, bool) and at_one_end(ids == value) and (ids == value).any():
                return [value]
    return []


def nested_padding(subject: "Subject") -> dict[str, np.ndarray]:
    """{name: (B, R, L), True where padding} of ids with three axes, such as sentences of documents, that a table is asked for."""
    known, found = pad_ids(subject.model), {}
    for name, leaf in subject.batch.leaves.items():
        asked = any(np.array_equal(x.indices.ravel(), leaf.array.ravel()) for x in subject.reference.lookups)
        hidden = np.isin(leaf.array, known)
        if leaf.integer and leaf.array.ndim == 3 and asked and hidden.any() and not hidden.all():
            found[name] = hidden
    return found


def _for(model: Module, name: str, known: list[int], ids: np.ndarray) -> int:
    """Of several ids, the one whose attribute names this text; before that, one that fills up rows of it."""
    side = ("tgt", "trg", "dec") if any(word in name for word in TARGET_NAMES) else ("src", "enc")
    named = [
        value for attribute, value in vars(model).items()
        if _PAD.search(attribute) and any(word in attribute for word in side) and isinstance(value, int)
    ]  # fmt: skip
    return next((each for each in (*named, *known) if at_one_end(ids == each)), (*named, *known)[0])


def filled_up(batch: Batch, texts: list[str], pad: dict[str, int]) -> Batch:
    """The same batch with padding at the end of every row but the first, of another length each, and the lengths that it is given.

    Where it is given lengths, the longest text comes first: layers of packed texts may ask for that.
    """
    changed = {}
    for name in texts:
        ids = batch.leaves[name].array.copy()
        rows, length = ids.shape
        told = [leaf.name for leaf in batch.leaves.values() if says_how_long(leaf.array, ids.shape)]
        several = [(row if rows > 1 else 1) % max(2, length // 3) for row in range(rows)]
        for row, many in enumerate(sorted(several) if told else several):
            ids[row, length - many :] = pad[name]
        changed[name] = ids
        for leaf in batch.leaves.values():  # a mask that hides nothing hides them
            x = leaf.array
            if leaf.name not in texts and x.shape == ids.shape and ((x == 1).all() or x.dtype == bool and not x.any()):
                changed[leaf.name] = np.where(ids == pad[name], np.logical_not(x), x).astype(x.dtype)
        changed |= {each: np.sum(ids != pad[name], axis=1).astype(batch.leaves[each].array.dtype) for each in told}
    return batch.with_(changed)


def hidden_ends(subject: "Subject") -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(name, (B, S), the same as wide as the series; True where hidden) of each series of numbers (B, S, F), (B, S, T, F),
    (S, B, F) or (B, F, S), whose ends a mask of the batch, or lengths (B,), hide."""
    axis = subject.batch.batch_axis
    for name, leaf in subject.batch.leaves.items():
        x = leaf.array
        if x.dtype.kind != "f" or x.ndim < 3 or axis and x.ndim > 3:
            continue
        for hidden in ends_hidden(subject, x.shape[axis], x.shape[1 - axis]):
            yield name, hidden, np.broadcast_to((hidden.T if axis else hidden).reshape(*x.shape[:2], *[1] * (x.ndim - 2)), x.shape)
        if axis == 0 and x.ndim == 3 and x.shape[1] != x.shape[2]:
            yield from (
                (name, hidden, np.broadcast_to(hidden[:, None], x.shape)) for hidden in ends_hidden(subject, len(x), x.shape[2])
            )


def ends_hidden(subject: "Subject", rows: int, longest: int) -> Iterator[np.ndarray]:
    """(B, S), True where a mask of the batch, or lengths (B,), hide the ends of so many rows of so many places."""
    for other in subject.batch.leaves.values():
        m = other.array
        if other.name in subject.texts or m.dtype.kind == "f" and not ((m == 0) | (m == 1)).all():
            continue
        if m.shape == (rows,) and m.dtype.kind in "iu" and m.max() == longest > m.min() > 0:
            yield np.arange(longest) >= m[:, None]
        if len(np.unique(m)) != 2:
            continue
        turned = m.T if subject.batch.batch_axis and m.shape == (longest, rows) else None
        for mask in (m if m.shape == (rows, longest) else None, turned):
            for hidden in () if mask is None else (mask == mask.min(), mask == mask.max()):
                if at_one_end(hidden) and not hidden[:, 0].any():
                    yield hidden


STRIDES = (2, 3, 4, 8)


def fewer_places(hidden: np.ndarray) -> list[np.ndarray]:
    """Where the end of a series is hidden (B, S) among as few places as layers with a stride leave."""
    longest = hidden.shape[1]
    ends = longest - hidden.sum(axis=1)[:, None]
    counts = {-(-longest // stride): stride for stride in STRIDES if longest >= 2 * stride}
    return [np.arange(n) >= np.ceil(ends / stride) for n, stride in counts.items()]
