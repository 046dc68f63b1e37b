"""One look: the model runs once, forward and backward, and what was seen becomes a record."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from badak.autograd import enable_grad
from badak.compiler import Compiled
from badak.core.errors import ArgumentError, ArgumentTypeError, BadakError, IndexOutOfRangeError, ShapeError, tr
from badak.data.validation import whole
from badak.inspect.audit.batch import Batch, Leaf
from badak.inspect.audit.kind import KINDS
from badak.inspect.audit.preserve_state import Kept, as_it_was
from badak.inspect.visualize.answer import Answer, answer_of, chances
from badak.inspect.visualize.attention import Attended, attentions_of
from badak.inspect.visualize.layers import Layers
from badak.inspect.visualize.numbers import short
from badak.inspect.visualize.record import Seen, record_of
from badak.inspect.visualize.result import Look
from badak.inspect.visualize.sequences import decoder_of, sequences_of
from badak.inspect.visualize.stream import streams_of
from badak.inspect.visualize.trace import Ran, Trace
from badak.nn import Module
from badak.nn import functional as F
from badak.ops.loss import NLL, CrossEntropy
from badak.tensor import Tensor, tensor

NO_LABEL = -100


class Asked(NamedTuple):
    """The options of one look."""

    tokenizer: Any = None
    loss: Callable[[Any], Any] | None = None
    labels: Any = None
    classes: Any = None
    kind: str | None = None
    title: str | None = None
    most: int = 64
    place: int | None = None


def look_at(model: Any, batch: Any, **options: Any) -> Look:
    """What `badak.look` gives; its arguments are checked here."""
    if isinstance(model, Compiled) and isinstance(model.function, Module):
        model = model.function
    if not isinstance(model, Module):
        raise ArgumentTypeError(
            tr("look: model is {}, not a badak.nn.Module", type(model).__name__), "badak.look(model, batch), the model first"
        )
    asked = Asked(**options)
    if asked.kind is not None and asked.kind not in KINDS:
        raise ArgumentError(tr("look: kind={!r} is none of {}", asked.kind, ", ".join(KINDS)), "kind=None finds it")
    if asked.loss is not None and not callable(asked.loss):
        raise ArgumentTypeError(tr("look: loss is {}, no function", type(asked.loss).__name__), "loss=lambda output: output.loss")
    if asked.loss is not None and asked.labels is not None:
        raise ArgumentError("look: loss and labels are two ways to say the same", "give one of them")
    whole("look", "most", asked.most)
    given = Batch.of(model, batch, "look")
    with as_it_was(model, lazily=True) as kept:
        model.eval()
        for p in model.parameters():
            p.grad = None
        return Look(record_of(_first_seen(model, given, asked, kept)))


def _first_seen(model: Module, batch: Batch, asked: Asked, kept: Kept) -> Seen:
    """The look at the first row, whichever axis of the batch is the one of its rows."""
    try:
        seen = _seen(model, batch, asked, kept, 0)
    except BadakError:
        if any(leaf.array.ndim < 2 for leaf in batch.leaves.values()):
            raise
        try:
            seen = _seen(model, batch, asked, kept, 1)
        except BadakError:
            seen = None
        if seen is None:
            raise
    return seen or cast(Seen, _seen(model, batch, asked, kept, 1))


def _seen(model: Module, batch: Batch, asked: Asked, kept: Kept, axis: int) -> Seen | None:
    """One forward and one backward of the first row; None where another axis than `axis` is the one of the rows."""
    one, rows = first_row(batch, axis)
    trace = Trace(model, kept)
    with enable_grad(), trace:
        trace.given = {id(x): name for name, x in one.arrays()}
        trace.result = _called(model, one)
        attended = attentions_of(trace)
        if axis == 0 and rows > 1 and _one_token(attended, one):
            return None
        kind, sequences = sequences_of(model, one, trace, attended, asked.kind)
        vocabularies = {lookup.vocabulary for lookup in trace.lookups}
        answer = answer_of(trace, sequences[-1].length, vocabularies)
        classes = None if asked.classes is None else [str(name) for name in asked.classes]
        seen = Seen(
            model, asked.title or type(model).__name__, kind, trace, sequences, attended, streams_of(trace, attended),
            Layers(trace, attended), answer, decoder_of(asked.tokenizer), classes, asked.most,
        )  # fmt: skip
        seen.layers.settle(seen.streams)
        if rows > 1:
            seen.remark("cut_batch", tr("the first of {} rows of the batch was looked at, alone", rows), of=rows)
        seen.place = _place(seen, asked.place)
        _backward(seen, _loss(seen, _labels(asked.labels, rows, axis), asked))
    if asked.place is None:
        seen.place = max((t for t, label in enumerate((seen.wanted or [])[: seen.most]) if label >= 0), default=seen.place)
    return seen


def first_row(batch: Batch, axis: int) -> tuple[Batch, int]:
    """The batch with its first row alone, and how many it had. What has another size there belongs to no row."""
    text = next((leaf for leaf in batch.leaves.values() if leaf.integer and leaf.array.ndim > axis), None)
    main = text or next(iter(batch.leaves.values()))
    if main.array.ndim <= max(axis, 1) or main.array.shape[axis] == 0:
        raise ArgumentError(
            tr("look: {} of shape {} holds no row of a batch", main.name, main.array.shape), "a batch of one row: x[None]"
        )
    rows = main.array.shape[axis]

    def cut(leaf: Leaf) -> np.ndarray:
        x = leaf.array
        if x.ndim == 2 and x.shape[0] == x.shape[1] and not leaf.integer:  # a mask of queries and keys
            return x
        where = next((each for each in (axis, 1 - axis) if x.ndim > each and x.shape[each] == rows), None)
        return x if where is None or (where == 1 and axis == 0) else x.take([0], axis=where)

    one = batch.with_({name: cut(leaf).copy() for name, leaf in batch.leaves.items()})
    one.batch_axis = axis if rows > 1 or main.array.shape[0] == 1 else int(main.array.shape[1] == 1)
    return one, rows


def _one_token(attended: list[Attended], batch: Batch) -> bool:
    """Whether the attentions saw one token of a longer text: then what was taken for a row was a position."""
    text = next((leaf.array for leaf in batch.leaves.values() if leaf.integer and leaf.array.ndim == 2), None)
    return bool(attended) and attended[0].weights.shape[-1] == 1 and text is not None and text.shape[1] > 1


def _called(model: Module, batch: Batch) -> Any:
    try:
        return model(*batch.args, **batch.kwargs)
    except BadakError:
        raise
    except Exception as error:
        raise ArgumentError(
            tr("look: {} does not take this batch: {}: {}", type(model).__name__, type(error).__name__, error),
            "the batch is what the model is called with: look(model, (x,)), look(model, {'ids': x})",
        ) from error


def _place(seen: Seen, place: int | None) -> int:
    """The token whose numbers are shown: what was asked for, else the last one."""
    length = min(seen.sequences[-1].length, seen.most)
    if place is None:
        return max(length - 1, 0)
    if not length:
        raise ArgumentError(tr("look: place={} of a model that reads no text", place), "leave place out")
    if not -length <= place < length:
        cause = tr("look: place {} of a text of which {} tokens are shown", place, length)
        raise IndexOutOfRangeError(cause, tr("place={}, or most={}", length - 1, place + 1))
    return place % length


# ---------------------------------------------------------------- the loss and its backward


def _labels(labels: Any, rows: int, axis: int) -> Tensor | None:
    """The labels of the first row, flat."""
    if labels is None:
        return None
    x = labels if isinstance(labels, Tensor) else tensor(labels)
    if x.dtype.is_floating_point:
        raise ArgumentTypeError(tr("look: labels of {}, no integers", x.dtype), "labels=ids, or a class number")
    if rows > 1 and x.dim() > axis and x.shape[axis] == rows:
        x = x[:1] if axis == 0 else x[:, :1]
    return x.reshape(-1)


def _loss(seen: Seen, labels: Tensor | None, asked: Asked) -> Tensor | None:
    """The number to differentiate, and in `seen.loss` what it is."""
    result, answer = seen.trace.result, seen.answer
    if asked.loss is not None:
        value = asked.loss(result)
        if not isinstance(value, Tensor) or value.numel() != 1:
            raise ArgumentError(
                "look: loss gives no single number", "loss=lambda output: F.cross_entropy(output.flatten(0, 1), labels)"
            )
        of = "given"
    elif labels is not None:
        value, of = _cross_entropy(answer, labels), "labels"
    else:
        own = getattr(result, "loss", None)
        if isinstance(own, Tensor) and own.numel() == 1:
            value, of = own, "labels"
        elif answer is None:
            return None
        else:
            value, of = _chosen(seen, answer), "token"
    seen.loss = {"value": short(value.item()), "of": of, "token": None, "place": None} | (
        (seen.loss or {}) if of == "token" else {}
    )
    return value


def _cross_entropy(answer: Answer | None, labels: Tensor) -> Tensor:
    if answer is None:
        raise ArgumentError("look: labels for a model that gives no logits", "loss=lambda output: ..., a function of what it gives")
    logits = answer.tensor.reshape(-1, answer.tensor.shape[-1])
    if len(labels) != len(logits):
        cause = tr("look: {} labels for {} answers", len(labels), len(logits))
        raise ShapeError(cause, "a label for each token, -100 for one that does not count")
    return F.cross_entropy(logits, labels.long(), ignore_index=NO_LABEL)


def _chosen(seen: Seen, answer: Answer) -> Tensor:
    """Minus the log-probability of the most likely answer at the place that is shown."""
    place = seen.place if answer.each else 0
    token = int(answer.logits[place].argmax())
    logits = answer.tensor.reshape(-1, answer.tensor.shape[-1])[place : place + 1]
    share = float(chances(answer, answer.logits[place : place + 1])[0, token])
    seen.loss = {"token": token, "place": place if answer.each else None}
    seen.remark("chosen_token", tr("the backward begins from minus the log-probability of the most likely answer, {:.1%}", share),
             token=token, word=_word(seen, answer, token), place=place, probability=short(share))  # fmt: skip
    if answer.chances:
        return -logits[0, token].log()
    return F.cross_entropy(logits, tensor([token]))


def _word(seen: Seen, answer: Answer, number: int) -> str:
    """The text of an answer."""
    if answer.words and seen.decoder is not None:
        return seen.decoder(number)
    return seen.classes[number] if seen.classes and not answer.words and number < len(seen.classes) else str(number)


def _backward(seen: Seen, loss: Tensor | None) -> None:
    """Differentiate the loss, and keep what came."""
    if loss is None or not loss.requires_grad:
        seen.loss = None
        return
    seen.loss_run = seen.trace.maker(loss._array)
    loss.backward()
    seen.grads = {name: p.grad.to_dense()._array for name, p in seen.model.named_parameters() if p.grad is not None}
    if seen.loss is not None and seen.loss["of"] != "token":
        seen.wanted = _wanted(seen.loss_run, seen)


def _wanted(run: Ran | None, seen: Seen) -> list[int] | None:
    """The labels that the loss compared with, one for each answer."""
    if run is None or seen.answer is None:
        return None
    count = len(seen.answer.logits)
    for each in reversed(run.inside()):
        if each.op in (CrossEntropy, NLL) and each.inputs[1] is not None and each.inputs[1].size in {count, max(count - 1, 1)}:
            labels = [int(i) if 0 <= i < seen.answer.logits.shape[-1] else -1 for i in each.inputs[1].reshape(-1)]
            return labels + [-1] * (count - len(labels))
    return None
