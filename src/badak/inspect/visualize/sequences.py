"""What the model was given, as the page shows it: tokens with their texts, or a picture and the part of it that each token is."""

import base64
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from badak.inspect.audit.answer import labels_in, triangles_in
from badak.inspect.audit.batch import Batch, Leaf
from badak.inspect.audit.graph import mixers
from badak.inspect.audit.kind import UNKNOWN, Kind, Shown, kind_of
from badak.inspect.audit.watch import tensors_in
from badak.inspect.visualize.attention import Attended
from badak.inspect.visualize.trace import Ran, Trace
from badak.ops.embedding import Embedding

Decoder = Callable[[int], str]  # from an id to its text


@dataclass(eq=False)
class Sequence:
    """One row of tokens: ids, or for pictures none; `roots` are the operations that read it first."""

    name: str
    length: int
    ids: list[int] | None = None
    picture: dict[str, Any] | None = None
    roots: set[int] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)


def sequences_of(model: Any, batch: Batch, trace: Trace, attended: list[Attended], said: str | None) -> tuple[Kind, list[Sequence]]:
    """What kind of model it is, and its sequences, the source first."""
    sides = [(each.q.reads, each.k.reads) for each in mixers(trace)]
    outputs = [x._array for x in tensors_in(trace.result) if x.dim()]
    kind = kind_of(
        model, batch, Shown(trace.attentions, trace.lookups, sides, labels_in(trace), outputs, *triangles_in(trace)), said
    )
    if kind.kind == UNKNOWN:  # what is seen is that all see all
        kind = kind._replace(kind="bidirectional")
    if batch.leaves[kind.text].integer:
        names = [name for name in (kind.source, kind.text) if name]
        words = {name: "text" if len(names) == 1 else ("source", "target")[i] for i, name in enumerate(names)}
        return kind, [_text(words[name], batch.leaves[name], trace, [n for n in names if n != name]) for name in names]
    length = max((each.weights.shape[-1] for each in attended), default=0)
    return kind, [_pictured(batch.leaves[kind.text].array, length)]


def _text(name: str, leaf: Leaf, trace: Trace, others: list[str]) -> Sequence:
    """A text; its roots are the tables that it was looked up in, by way of what was done to it, or by its numbers."""
    ids = leaf.array.reshape(-1)
    found = Sequence(name, len(ids), [int(i) for i in ids])
    for run in trace.runs:
        if run.op is Embedding:
            given = next((x for x in run.inputs if x is not None and x.dtype.kind in "iu"), None)
            alike = given is not None and given.size == ids.size and np.array_equal(given.reshape(-1), ids)
            if leaf.name in run.reads or (alike and not run.reads & {*others}):
                found.roots.add(run.number)
    return found


def _pictured(x: np.ndarray, length: int) -> Sequence:
    """A picture (1, H, W), (1, 1, H, W) or (1, 3, H, W) whose tokens are rows or patches; other numbers are rows of nothing."""
    x = x[0]
    channels = x.shape[0] if x.ndim == 3 and x.shape[0] in (1, 3) else 1
    if not (x.ndim == 2 or (x.ndim == 3 and x.shape[0] in (1, 3))):
        return Sequence("rows", length, texts=[str(i + 1) for i in range(length)])
    pixels = (x[None] if x.ndim == 2 else x).transpose(1, 2, 0).astype(np.float64)  # (H, W, channels)
    height, width = pixels.shape[:2]
    low, high = float(pixels.min()), float(pixels.max())
    shown = np.round(255 * (pixels - low) / ((high - low) or 1.0)).astype(np.uint8)
    name, boxes, texts = _boxes(height, width, length)
    picture = {
        "width": width, "height": height, "channels": channels, "boxes": boxes,
        "pixels": base64.b64encode(shown.tobytes()).decode(),
    }  # fmt: skip
    return Sequence(name, length, picture=picture, texts=texts)


def _boxes(height: int, width: int, length: int) -> tuple[str, list, list[str]]:
    """What each token is of a picture: its rows, or a grid of patches, perhaps behind one learned token."""
    for extra in (0, 1):
        learned: list = [None] * extra
        names = ["[CLS]"] * extra
        if length - extra == height:
            return "rows", learned + [[0, i, width, 1] for i in range(height)], names + [f"{i + 1}" for i in range(height)]
    for extra in (0, 1, 2):
        count = length - extra
        side = math.isqrt(height * width // count) if count > 0 else 0
        if side and side * side * count == height * width and height % side == 0 and width % side == 0:
            places = [(x, y) for y in range(0, height, side) for x in range(0, width, side)]
            texts = ["[CLS]", "[DIST]"][:extra] + [f"{y // side + 1},{x // side + 1}" for x, y in places]
            return "patches", [None] * extra + [[x, y, side, side] for x, y in places], texts
    return "rows", [None] * length, [str(i + 1) for i in range(length)]


def reads(run: Ran, sequences: list[Sequence]) -> int | None:
    """Which sequence the tokens of an operation are: the target where it has read that, else the source."""
    if len(sequences) == 1:
        return 0
    inside = {each.number for each in run.inside()}
    return next((i for i in reversed(range(len(sequences))) if sequences[i].roots & inside), None)


def decoder_of(tokenizer: Any) -> Decoder | None:
    """A function from an id to its text, of a tokenizer with decode, a list, a dict, or a function; None where there is none."""
    if tokenizer is None:
        return None
    if hasattr(tokenizer, "decode"):
        return lambda number: _readable(tokenizer, number)
    if callable(tokenizer):
        return lambda number: str(tokenizer(number))
    if isinstance(tokenizer, dict):
        return lambda number: str(tokenizer.get(number, number))
    return lambda number: str(tokenizer[number]) if 0 <= number < len(tokenizer) else str(number)


def _readable(tokenizer: Any, number: int) -> str:
    """The text of a token; of one that is part of a character the token as the vocabulary has it."""
    try:
        text = tokenizer.decode([number])
    except Exception:  # of a library: an id that has no token, as in a table that was rounded up
        return f"<{number}>"
    if "\ufffd" not in text and text:
        return text
    inner = getattr(tokenizer, "library", tokenizer)
    named = getattr(inner, "id_to_token", None) or getattr(inner, "convert_ids_to_tokens", None)
    return str(named(number)) if named is not None else text
