"""What the model answers: the logits of a run, what is read from them, and the logits of the states below (the logit lens).

The lens reads a state as the model reads its last one: through the operations that stand between the last state and the logits,
run again on the other state.

Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from badak.inspect.audit.watch import tensors_in
from badak.inspect.visualize.numbers import floats, short
from badak.inspect.visualize.stream import WEIGHED, Stream, per_token
from badak.inspect.visualize.trace import Ran, Trace, through
from badak.ops.arithmetic import Add
from badak.ops.op import Saved
from badak.ops.softmax import LogSoftmax, Softmax
from badak.tensor import Tensor


@dataclass(eq=False)
class Answer:
    """Logits of one row: (T, V) for an answer at every token, (1, V) for one answer to the whole."""

    run: Ran
    tensor: Tensor
    logits: np.ndarray
    each: bool
    words: bool  # tokens of the vocabulary; else classes
    chances: bool = False  # what the model gives are probabilities already


def answer_of(trace: Trace, length: int, vocabularies: set[int]) -> Answer | None:
    """The logits among what the model gave: made by a linear map, and one row for each token or one for all."""
    found = [answer for x in _candidates(trace.result) if (answer := _answer(trace, x, length, vocabularies))]
    return next((answer for answer in found if answer.words), found[0] if found else None)


def _answer(trace: Trace, x: Tensor, length: int, vocabularies: set[int]) -> Answer | None:
    """One tensor of the model's result as logits, None where it holds none."""
    run = trace.maker(x._array)
    made, chances = through(run), False
    if run is None or made is None or x._array.dtype.kind not in "fV" or x.dim() < 2:
        return None
    while made is not None and made.op is Add and made.parameters[1]:
        made = through(made.sources[0])
    if made is not None and made.op in (Softmax, LogSoftmax):
        chances = made.op is Softmax
    elif made is None or made.op not in WEIGHED:
        return None
    rows, words = per_token(x._array, length), x.shape[-1] in vocabularies
    if rows is not None and (words or length > 1):
        return Answer(run, x, rows, True, words, chances)
    if x.numel() == x.shape[-1]:
        return Answer(run, x, floats(x._array.reshape(1, -1)), False, False, chances)
    return None


def _candidates(result: Any) -> list[Tensor]:
    named = getattr(result, "logits", None)
    return [named] if isinstance(named, Tensor) else list(tensors_in(result))


def chances(answer: Answer, logits: np.ndarray) -> np.ndarray:
    """Probabilities of rows of logits."""
    if answer.chances:
        return logits
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def most_likely(p: np.ndarray, most: int) -> np.ndarray:
    """The columns of the largest numbers of each row, the largest first."""
    return np.argsort(-p, axis=-1, kind="stable")[:, :most]


def predictions(answer: Answer, wanted: list[int] | None, sequence: int | None, shown: int) -> dict[str, Any]:
    """The table of the most likely answers, and where the wanted ones stand in it."""
    logits = answer.logits[:shown]
    p = chances(answer, logits)
    logs = np.log(np.where(p > 0, p, 1.0))
    rank = share = None
    if wanted is not None:
        labels = wanted[: len(p)]
        rank = [int((row > row[label]).sum()) if label >= 0 else None for row, label in zip(p, labels)]
        share = [short(row[label]) if label >= 0 else None for row, label in zip(p, labels)]
    top = [[[int(i), short(row[i]), short(log[i])] for i in best] for row, log, best in zip(p, logits, most_likely(p, 10))]
    return {
        "sequence": sequence,
        "places": "each" if answer.each else "whole",
        "of": "tokens" if answer.words else "classes",
        "classes": None,
        "top": top,
        "entropy": short(-(p * logs).sum(axis=-1)),
        "rank": rank,
        "wanted": share,
    }


# ---------------------------------------------------------------- the lens


def tail_of(stream: Stream, answer: Answer) -> list[Ran] | None:
    """The operations between the last state and the logits, in order; None where the logits are not read from that state."""
    last, inside = stream.states[-1].made, answer.run.inside()
    reached, tail = {last.number}, []
    for run in inside:
        if run.number != last.number and any(s is not None and s.number in reached for s in run.sources):
            reached.add(run.number)
            tail.append(run)
    return tail if answer.run.number in reached and tail else None


def read_through(tail: list[Ran], last: Ran, state: np.ndarray) -> np.ndarray:
    """What the model would answer if `state` were its last one."""
    made: dict[int, list[np.ndarray]] = {last.number: [state]}
    for run in tail:
        arrays = [
            made[source.number][slot] if source is not None and source.number in made else x
            for x, source, slot in zip(run.inputs, run.sources, run.slots)
        ]
        given = run.op.forward(Saved((False,) * len(arrays)), *arrays, **run.attributes)
        made[run.number] = list(given) if type(given) is tuple else [given]
    return made[tail[-1].number][0]


def lens(
    streams: list[Stream], answer: Answer, layers: list[list[int]], wanted: list[int] | None, length: int, shown: int
) -> dict[str, Any] | None:
    """The prediction read at the embedding and after every layer. layers: for each stream the states that end one, in order."""
    for number, stream in reversed(list(enumerate(streams))):
        tail = tail_of(stream, answer)
        if tail is None:
            continue
        best = chances(answer, answer.logits[:shown]).argmax(axis=-1)
        rows = []
        for index in layers[number]:
            state = stream.states[index].made
            if state.output.shape != stream.states[-1].made.output.shape:
                return None
            logits = read_through(tail, stream.states[-1].made, state.output)
            read = per_token(logits, length) if answer.each else floats(logits.reshape(1, -1))
            assert read is not None
            p = chances(answer, read[:shown])
            tops = most_likely(p, 5)
            rows.append({
                "state": index,
                "name": state.path if index else "embedding",
                "top": [[[int(i), short(row[i])] for i in best_of] for row, best_of in zip(p, tops)],
                "answer": short(p[np.arange(len(p)), best]),
                "wanted": None if wanted is None
                else [short(row[label]) if label >= 0 else None for row, label in zip(p, wanted)],
            })  # fmt: skip
        names = list(dict.fromkeys(run.path or run.op.name for run in tail if not run.moves))
        return {
            "sequence": None,
            "stream": number,
            "places": "each" if answer.each else "whole",
            "layers": rows,
            "through": names,
        }
    return None
