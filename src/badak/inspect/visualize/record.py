"""The record of one look: everything that the page shows, as one object of JSON."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from badak.core.errors import tr
from badak.core.public_api.version import version
from badak.inspect.audit.kind import Kind
from badak.inspect.visualize.answer import Answer, lens, predictions
from badak.inspect.visualize.attention import Attended, heads, lower, matrices
from badak.inspect.visualize.boxes import Boxes
from badak.inspect.visualize.floors import derivations, kind_of
from badak.inspect.visualize.layers import Layers
from badak.inspect.visualize.numbers import short, squares
from badak.inspect.visualize.sequences import Decoder, Sequence, reads
from badak.inspect.visualize.stream import Stream, per_token
from badak.inspect.visualize.trace import Ran, Trace
from badak.nn import Module

FORMAT = 1
TOKENS = 64  # that are shown, unless more are asked for


@dataclass(eq=False)
class Seen:
    """All that was found in one run: what a record is made of."""

    model: Module
    title: str
    kind: Kind
    trace: Trace
    sequences: list[Sequence]
    attended: list[Attended]
    streams: list[Stream]
    layers: Layers
    answer: Answer | None
    decoder: Decoder | None = None
    classes: list[str] | None = None
    most: int = TOKENS
    loss: dict[str, Any] | None = None
    loss_run: Ran | None = None
    wanted: list[int] | None = None  # the label at each place, -1: none
    grads: dict[str, np.ndarray] = field(default_factory=dict)
    place: int = 0
    words: list[dict[str, Any]] = field(default_factory=list)

    def remark(self, code: str, text: str, **values: Any) -> None:
        """A word about what was cut, or cannot be known."""
        self.words.append({"code": code, "text": text, "values": values})

    @property
    def answering(self) -> int:
        """Which sequence the answer is about."""
        return len(self.sequences) - 1


def record_of(seen: Seen) -> dict[str, Any]:
    """The record."""
    ends = [run for run in (seen.answer.run if seen.answer else None, seen.loss_run) if run is not None] or seen.trace.runs[-1:]
    boxes = Boxes(seen.trace, ends, seen.sequences, seen.streams, seen.layers, seen.place)
    each = seen.answer is None or seen.answer.each
    shown = min(seen.sequences[seen.answering].length, seen.most) if each else 1
    record: dict[str, Any] = {
        "format": FORMAT,
        "badak": version(),
        "title": seen.title,
        "model": _model(seen),
        "sequences": [_sequence(seen, i) for i in range(len(seen.sequences))],
        "layers": _layers(seen),
        "attentions": _attentions(seen, boxes),
        "streams": [_stream(seen, stream, boxes) for stream in seen.streams],
        "lens": _lens(seen, shown),
        "predictions": _predictions(seen, shown),
        "loss": seen.loss,
        "gradients": _gradients(seen),
        "row": {"sequence": seen.answering, "place": seen.place},
        "boxes": boxes.records(),
    }
    kinds = {run.op.__name__: run.op for run in boxes.runs}
    record["kinds"] = {name: kind_of(op) for name, op in kinds.items()}
    record["derivations"] = derivations({kind["derivation"] for kind in record["kinds"].values() if kind["derivation"]})
    _say_gaps(seen, boxes)
    record["vocabulary"] = _vocabulary(seen, record)
    record["words"] = seen.words
    return record


def _model(seen: Seen) -> dict[str, Any]:
    floats = [p for p in seen.model.parameters() if p.dtype.is_floating_point]
    heads_ = next((each.weights.shape[0] for each in seen.attended), None)
    width = next((stream.states[0].made.output.shape[-1] for stream in seen.streams), None)
    words = seen.answer.logits.shape[-1] if seen.answer is not None else None
    last = "vocabulary" if seen.answer is not None and seen.answer.words else "classes"
    sizes: list[list[Any]] = [["T", "tokens", seen.sequences[-1].length], ["C", "channels", width], ["H", "heads", heads_],
             ["L", "layers", len(seen.layers.list) or None], ["V", last, words]]  # fmt: skip
    if len(seen.sequences) > 1:
        sizes.insert(0, ["S", "source tokens", seen.sequences[0].length])
    return {
        "name": type(seen.model).__name__,
        "kind": seen.kind.kind,
        "parameters": sum(p.numel() for p in seen.model.parameters()),
        "dtype": str(floats[0].dtype).rpartition(".")[2] if floats else "",
        "sizes": [size for size in sizes if size[2] is not None],
    }


def _sequence(seen: Seen, number: int) -> dict[str, Any]:
    sequence = seen.sequences[number]
    shown = min(sequence.length, seen.most)
    if shown < sequence.length:
        seen.remark("cut_tokens", tr("{}: the first {} of {} tokens are shown", sequence.name, shown, sequence.length),
                 name=sequence.name, kept=shown, of=sequence.length)  # fmt: skip
    ids = None if sequence.ids is None else sequence.ids[:shown]
    texts = sequence.texts[:shown] if ids is None else [seen.decoder(i) if seen.decoder else str(i) for i in ids]
    labels = seen.wanted if number == seen.answering and seen.answer is not None and seen.answer.each else None
    return {
        "name": sequence.name, "length": shown, "of": sequence.length, "ids": ids, "tokens": texts,
        "labels": None if labels is None else labels[:shown], "picture": sequence.picture,
    }  # fmt: skip


def _layers(seen: Seen) -> list[dict[str, Any]]:
    """Each with its stack, where there are two, and its number there."""
    stacks, counts = [], {"": 0, "encoder": 0, "decoder": 0}
    two = len(seen.streams) > 1
    for layer in seen.layers.list:
        words = layer.prefix.lower()
        stack = "" if not two else "decoder" if "decoder" in words else "encoder" if "encoder" in words else ""
        stacks.append({"name": layer.prefix, "stack": stack, "number": counts[stack]})
        counts[stack] += 1
    return stacks


def _attentions(seen: Seen, boxes: Boxes) -> list[dict[str, Any]]:
    code, fit = matrices(seen.attended, seen.most)
    if fit < len(seen.attended):
        count = len(seen.attended)
        text = tr("the matrices of {} of {} attentions are shown: more would not fit in the page", fit, count)
        seen.remark("cut_matrices", text, kept=fit, of=count)
    found = []
    for each in seen.attended[:fit]:
        T, S = each.weights.shape[1:]
        queries, keys = _sides(seen, each)
        ids = seen.sequences[keys].ids if keys is not None else None
        found.append({
            "layer": seen.layers.of(each.run), "path": each.path, "kind": each.kind, "queries": queries, "keys": keys,
            "T": min(T, seen.most), "S": min(S, seen.most), "scale": None if each.scale is None else short(each.scale),
            "causal": each.causal, "box": boxes.number(each.run), "code": code,
            "packed": "lower" if lower(each, seen.most) else "full", "heads": heads(each, code, seen.most, ids),
        })  # fmt: skip
    return found


def _sides(seen: Seen, each: Attended) -> tuple[int | None, int | None]:
    """The sequences of the queries and of the keys, where their lengths are those."""
    T, S = each.weights.shape[1:]
    queries = reads(each.run, seen.sequences)
    keys = 0 if each.kind == "cross" and len(seen.sequences) > 1 else queries
    lengths = [sequence.length for sequence in seen.sequences]
    return (
        queries if queries is not None and lengths[queries] == T else None,
        keys if keys is not None and lengths[keys] == S else None,
    )


def _stream(seen: Seen, stream: Stream, boxes: Boxes) -> dict[str, Any]:
    sequence = reads(stream.states[-1].made, seen.sequences)
    length = seen.sequences[sequence].length if sequence is not None else 0
    states, before = [], None
    for state in stream.states:
        h = per_token(state.made.output, length)
        added = None if state.sum is None else per_token(_side(state), length)
        name = "embedding" if state.sum is None else state.made.path
        states.append({
            "name": name, "layer": seen.layers.of(state.made), "part": state.part, "box": boxes.number(state.made),
            "norm": _norms(h, seen.most), "added": _norms(added, seen.most), "angle": _angles(added, before, seen.most),
            "gradient": _norms(_gradient(seen.trace, state.made, length), seen.most),
        })  # fmt: skip
        before = h
    first = next((layer for layer in map(seen.layers.of, (s.made for s in stream.states)) if layer is not None), None)
    name = _layers(seen)[first]["stack"] if first is not None else ""
    return {"sequence": sequence, "name": name, "states": states}


def _side(state: Any) -> np.ndarray:
    return state.sum.inputs[state.slot]


def _norms(x: np.ndarray | None, most: int) -> list | None:
    return None if x is None else short(np.sqrt(np.square(x[:most]).sum(axis=-1)))


def _angles(a: np.ndarray | None, b: np.ndarray | None, most: int) -> list | None:
    if a is None or b is None or a.shape != b.shape:
        return None
    size = np.sqrt(np.square(a).sum(-1) * np.square(b).sum(-1))
    return short(((a * b).sum(axis=-1) / np.where(size > 0, size, 1.0))[:most])


def _gradient(trace: Trace, run: Ran, length: int) -> np.ndarray | None:
    """d loss / d what this operation gave: what came to its backward."""
    dy = run.dys[0] if run.dys is not None else None
    return None if dy is None else per_token(dy, length)


def _ends(seen: Seen) -> list[list[int]]:
    """For each stream the states that the lens reads: the embedding, and the last of each layer."""
    found = []
    for stream in seen.streams:
        numbers = [seen.layers.of(state.sum) if state.sum is not None else None for state in stream.states]
        last = len(numbers) - 1
        found.append([i for i, n in enumerate(numbers) if i in (0, last) or (i < last and n != numbers[i + 1])])
    return found


def _lens(seen: Seen, shown: int) -> dict[str, Any] | None:
    if seen.answer is None or not seen.streams:
        return None
    length = seen.sequences[seen.answering].length
    try:
        found = lens(seen.streams, seen.answer, _ends(seen), seen.wanted, length, shown)
    except Exception:  # an operation that a state of another layer does not fit
        found = None
    if found is None:
        seen.remark("no_lens", tr("the prediction cannot be read at every layer: the logits are not made from one stream alone"))
        return None
    for row in found["layers"]:
        layer = seen.layers.of(seen.streams[found["stream"]].states[row["state"]].sum) if row["state"] else None
        row["name"] = seen.layers.list[layer].prefix if layer is not None else row["name"]
    return found | {"sequence": seen.answering}


def _predictions(seen: Seen, shown: int) -> dict[str, Any] | None:
    if seen.answer is None:
        return None
    found = predictions(seen.answer, seen.wanted, seen.answering, shown)
    labels = None if seen.wanted is None else seen.wanted[: len(found["top"])]
    return found | {"classes": seen.classes if found["of"] == "classes" else None, "labels": labels}


def _gradients(seen: Seen) -> dict[str, Any] | None:
    if not seen.grads:
        return None
    rows = [
        (name, seen.layers.of_path(name), list(p.shape), squares(seen.grads[name]), squares(p._array))
        for name, p in seen.model.named_parameters()
        if name in seen.grads
    ]
    groups = _by_layer([(layer, gradient, weight) for _, layer, _, gradient, weight in rows])
    names: dict[Any, str] = {i: layer.prefix for i, layer in enumerate(seen.layers.list)}
    order = [key for key in ("embedding", *names, "output") if key in groups]
    return {
        "parameters": [
            {"name": name, "layer": layer, "shape": shape, "norm": short(gradient**0.5), "weight": short(weight**0.5)}
            for name, layer, shape, gradient, weight in rows
        ],
        "layers": [
            {"layer": key if key in names else None, "name": names.get(key, key),
             "norm": short(groups[key][0] ** 0.5), "weight": short(groups[key][1] ** 0.5)}
            for key in order
        ],
    }  # fmt: skip


def _by_layer(rows: list[tuple[int | None, float, float]]) -> dict[Any, tuple[float, float]]:
    """Sums of squares of each layer; what stands before the first is the embedding, what stands after it the output."""
    groups: dict[Any, tuple[float, float]] = {}
    begun = False
    for layer, gradient, weight in rows:
        begun = begun or layer is not None
        key = layer if layer is not None else "output" if begun else "embedding"
        before = groups.get(key, (0.0, 0.0))
        groups[key] = before[0] + gradient, before[1] + weight
    return groups


def _vocabulary(seen: Seen, record: dict[str, Any]) -> dict[str, str]:
    """The text of every token that the record speaks of."""
    if seen.decoder is None or (seen.answer is not None and not seen.answer.words):
        return {}
    ids = {i for sequence in record["sequences"] for i in [*(sequence["ids"] or []), *(sequence["labels"] or [])]}
    for table in (record["predictions"], *((record["lens"] or {}).get("layers", []))):
        ids |= {entry[0] for row in (table or {}).get("top", []) for entry in row}
    ids |= {(record["loss"] or {}).get("token")} - {None}
    return {str(i): seen.decoder(i) for i in sorted(ids) if i >= 0}


def _say_gaps(seen: Seen, boxes: Boxes) -> None:
    """Words about what is missing."""
    if not seen.attended:
        seen.remark("no_attention", tr("no attention was seen in this run"))
    if not seen.streams:
        seen.remark("no_stream", tr("no residual sums x + part(x) were found"))
    if seen.answer is None:
        seen.remark("no_logits", tr("the model gives no logits: there are no predictions to show"))
    if seen.loss is None:
        why = tr("there is no loss") if seen.answer is None else tr("nothing here wants a gradient")
        seen.remark("no_gradients", tr("no backward was made: {}", why))
    if seen.decoder is None and any(sequence.ids is not None for sequence in seen.sequences):
        seen.remark(
            "no_vocabulary", tr("tokens are shown as numbers: badak.look(model, batch, tokenizer=...) gives them their text")
        )
    if boxes.left_out:
        kept, count = len(boxes.runs), len(boxes.runs) + boxes.left_out
        text = tr("{} of {} operations, of the middle layers, are left out", boxes.left_out, count)
        seen.remark("cut_boxes", text, kept=kept, of=count)
