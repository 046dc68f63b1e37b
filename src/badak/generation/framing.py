"""Texts, and pairs of texts, as the tokens that an encoder reads: marks around them, their ends cut off, in bounded memory.

[CLS] tokens [SEP]                          a text
[CLS] tokens [SEP] tokens [SEP]             a pair: segment 0 up to the first [SEP], segment 1 from there on
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from badak.data.tokenizer import BERT_MARKS, Tokenizer

TOGETHER = 1_000_000  # characters that are cut into tokens at once
LONG = 100_000  # characters of a text that is cut into tokens in parts

SPACE = re.compile(r"\s")

Text = str | tuple[str, str]  # a pair of texts is one example


class Framed(NamedTuple):
    """The tokens of N examples with their marks; how many tokens of each were cut off; where the second text of each begins."""

    rows: list[np.ndarray]
    cuts: list[int]
    seconds: np.ndarray  # int64 (N,); the length of the row where there is one text only


def framed(tokenizer: Tokenizer, texts: Sequence[Text], context: int) -> Framed:
    """The tokens of each text or pair, at most `context` with the marks; of a pair the longer text is cut first."""
    first, last = (tokenizer.ids[mark] for mark in BERT_MARKS[2:4])
    parts = encoded(tokenizer, [part for text in texts for part in ([text] if isinstance(text, str) else text)], context)
    rows, cuts, seconds = [], [], []
    for text in texts:
        ids, whole = next(parts)
        if isinstance(text, str):
            rows.append(np.array([first, *ids[: max(context - 2, 0)], last]))
            cuts.append(max(whole + 2 - context, 0))
            seconds.append(len(rows[-1]))
            continue
        other, more = next(parts)
        kept = shares(whole, more, max(context - 3, 0))
        rows.append(np.array([first, *ids[: kept[0]], last, *other[: kept[1]], last]))
        cuts.append(max(whole + more + 3 - context, 0))
        seconds.append(2 + kept[0])
    return Framed(rows, cuts, np.array(seconds, np.int64))


def frame(tokenizer: Tokenizer, texts: Sequence[str], context: int) -> tuple[list[np.ndarray], list[int]]:
    """[CLS] tokens [SEP] of each text, cut at `context`, its last mark kept; and how many tokens of each were cut off."""
    return framed(tokenizer, texts, context)[:2]


def shares(first: int, second: int, room: int) -> tuple[int, int]:
    """How many tokens of two texts are kept: the longer one is cut until both fit, as `truncation="longest_first"` does."""
    if first + second <= room:
        return first, second
    half = room // 2
    if min(first, second) > half:
        return (room - half, half) if first > second else (half, room - half)
    return (room - second, second) if second <= half else (first, room - first)


def segments_of(seconds: np.ndarray, length: int) -> np.ndarray:
    """Of which text each token is, 0 or 1, int64 (N, length)."""
    return (np.arange(length) >= seconds[:, None]).astype(np.int64)


def encoded(tokenizer: Tokenizer, texts: Sequence[str], most: int) -> Iterator[tuple[np.ndarray, int]]:
    """The first `most` tokens of each text, and how many it has; never more than a million characters at once.

    A text above a hundred thousand characters goes in parts that begin at a white space, where tokens do.
    """
    group: list[tuple[int, str]] = []
    size, done = 0, 0
    heads: dict[int, list[np.ndarray]] = {}
    counts: dict[int, int] = {}

    def flush() -> None:
        for (at, _), ids in zip(group, tokenizer.encode_all([part for _, part in group])):
            room = most - min(counts.get(at, 0), most)
            heads.setdefault(at, []).append(ids[:room].copy())  # not a view that holds the whole
            counts[at] = counts.get(at, 0) + len(ids)

    for at, text in enumerate(texts):
        for part in _parts(text):
            if group and size + len(part) > TOGETHER:
                flush()
                group, size = [], 0
            group.append((at, part))
            size += len(part)
        if not group or group[0][0] == at:  # all texts before this one are counted
            for earlier in range(done, at):
                yield np.concatenate(heads.pop(earlier)), counts.pop(earlier)
            done = at
    flush()
    for at in range(done, len(texts)):
        yield np.concatenate(heads.pop(at)), counts.pop(at)


def _parts(text: str) -> Iterator[str]:
    begin = 0
    while len(text) - begin > LONG:
        space = SPACE.search(text, begin + LONG, begin + TOGETHER)
        end = space.start() if space else begin + TOGETHER
        yield text[begin:end]
        begin = end
    yield text[begin:]
