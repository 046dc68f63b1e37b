"""What kind of model it is: found in what it does and what it is given, or said."""

import re
from typing import NamedTuple

import numpy as np

from badak.audit.batch import LABEL_NAMES, TARGET_NAMES, Batch
from badak.audit.padding import mask_leaves, triangular
from badak.audit.watch import Lookup, Seen
from badak.nn import Module

KINDS = ("causal", "bidirectional", "encoder-decoder", "pictures")
_CAUSAL_NAME = re.compile(r"GPT|Llama|Causal|Decoder(?!.*Encoder)|NextToken")


class Kind(NamedTuple):
    """kind, how it was found, the text that the model answers or reads, if that is no text, and the source that it reads beside."""

    kind: str
    why: str
    text: str
    source: str | None = None


def texts_of(batch: Batch, lookups: list[Lookup] = ()) -> list[str]:  # type: ignore[assignment]
    """The names of integer tensors that are looked up in tables; before that is known, those that look like texts."""
    flat = [
        name
        for name, leaf in batch.leaves.items()
        if leaf.integer and leaf.array.ndim == 2 and min(leaf.array.shape) > 0
    ]
    flat = [name for name in flat if not triangular(batch.leaves[name].array)]
    if not lookups:
        return [n for n in flat if not _is_label(n, flat)]
    looked = {}
    for name in flat:
        ids = batch.leaves[name].array
        sizes = [x.vocabulary for x in lookups if x.indices.size == ids.size and _same(x.indices, ids)]
        if sizes:
            looked[name] = max(sizes)
    most = max(looked.values(), default=0)
    return [name for name, size in looked.items() if size == most or any(word in name for word in TARGET_NAMES)] or [
        n for n in flat if not _is_label(n, flat)
    ][:1]


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.array_equal(a.reshape(b.shape), b)) or (a.shape == b.T.shape and bool(np.array_equal(a, b.T)))


def _is_label(name: str, all_of_them: list[str]) -> bool:
    return len(all_of_them) > 1 and name != all_of_them[0] and name.lower() in LABEL_NAMES


def kind_of(model: Module, batch: Batch, attentions: list[Seen], lookups: list[Lookup], said: str | None) -> Kind:
    """The kind, as far as one forward shows it."""
    texts = texts_of(batch, lookups)
    if not texts:
        return _without_text(batch, attentions, said)
    if len(texts) > 1 and said in (None, "encoder-decoder") and _two_sides(model, texts):
        return Kind(
            "encoder-decoder", "said" if said else f"it reads {texts[0]} and answers {texts[1]}", texts[1], texts[0]
        )
    if said:
        return Kind(said, "said", texts[-1] if said == "encoder-decoder" else texts[0])
    length = batch.leaves[texts[0]].array.shape[1 - batch.batch_axis]
    why = _causal(model, batch, texts, attentions, length)
    if why:
        return Kind("causal", why, texts[0])
    return Kind("bidirectional", "nothing hides what follows", texts[0])


def _without_text(batch: Batch, attentions: list[Seen], said: str | None) -> Kind:
    name = next((n for n, leaf in batch.leaves.items() if leaf.array.dtype.kind == "f" and leaf.array.ndim > 1), None)
    name = name or next(iter(batch.leaves))
    shape = batch.leaves[name].array.shape
    own = [seen for seen in attentions if len(shape) == 3 and seen.keep.shape[-2:] == (shape[1], shape[1])]
    hides = [seen for seen in own if _hides(seen.keep)]
    if said or hides:
        return Kind(
            said or "causal", "said" if said else f"{len(hides)} of {len(own)} self-attentions hide what follows", name
        )
    return Kind("pictures", f"{name} is of numbers, {shape}", name)


def _two_sides(model: Module, texts: list[str]) -> bool:
    names = [path.lower() for path, _ in model.named_modules()]
    sides = any("encoder" in n for n in names) and any("decoder" in n for n in names)
    return sides or any(word in texts[1].lower() for word in TARGET_NAMES)


def _hides(keep: np.ndarray) -> bool:
    """Whether queries see what stands before them and mostly not what follows."""
    T = keep.shape[-1]
    flat = keep.reshape(-1, T, T)
    upper = flat[:, np.triu(np.ones((T, T), bool), 1)].mean()
    lower = flat[:, np.tril(np.ones((T, T), bool), -1)].mean()
    return bool(upper < 0.4 * lower)


def _causal(model: Module, batch: Batch, texts: list[str], attentions: list[Seen], length: int) -> str:
    """What says that the model is causal; "" where nothing does."""
    if length < 2:
        return "its text has one position" if _CAUSAL_NAME.search(type(model).__name__) else ""
    own = [seen for seen in attentions if seen.keep.shape[-2:] == (length, length)]
    hides = [seen for seen in own if _hides(seen.keep)]
    if hides:
        return f"{len(hides)} of {len(own)} self-attentions hide what follows"
    ids = batch.leaves[texts[0]].array
    early: tuple = (slice(None, -1),) if batch.batch_axis else (slice(None), slice(None, -1))
    late: tuple = (slice(1, None),) if batch.batch_axis else (slice(None), slice(1, None))
    for name, leaf in batch.leaves.items():
        if (
            name not in texts
            and leaf.integer
            and leaf.array.shape == ids.shape
            and np.array_equal(leaf.array[early], ids[late])
        ):
            return f"{name} is {texts[0]}, one further"
    for leaf in mask_leaves(batch, texts, {length}):
        if triangular(leaf.array):
            return f"{leaf.name} is a triangle"
    if any(b.dim() >= 2 and b.shape[-1] >= length and triangular(b._array) for b in model.buffers()):
        return "it holds a triangular mask"
    return f"its name is {type(model).__name__}" if _CAUSAL_NAME.search(type(model).__name__) else ""
