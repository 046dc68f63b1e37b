"""Texts as vectors: near in meaning, near in space."""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, ShapeError, tr
from badak.core.public_api import guard_names as _guard_names
from badak.core.public_api import guard_types as _guard_types
from badak.data.padding import BucketBatchSampler, pad
from badak.data.tokenizer import Tokenizer
from badak.data.validation import several, whole
from badak.generation.reader import answering
from badak.io.config import read_json
from badak.models.bert import SentenceEncoder
from badak.models.pretrained import found
from badak.nn.weight_hash import hash_of

TOGETHER = 1_024  # texts that are cut into tokens at once


class TextEncoder:
    """A sentence encoder with its tokenizer: texts in, vectors out.

    length: tokens of a text that are read at most, with its marks; what stands behind is cut off.
    """

    def __init__(self, model: SentenceEncoder, tokenizer: Tokenizer, length: int | None = None) -> None:
        if not isinstance(model, SentenceEncoder) or not isinstance(tokenizer, Tokenizer):
            got = tr("{} and {}", type(model).__name__, type(tokenizer).__name__)
            cause = tr("TextEncoder: expected a SentenceEncoder and a Tokenizer; got {}", got)
            raise ArgumentTypeError(cause, "TextEncoder.load(folder)")
        self.model, self.tokenizer, room = model, tokenizer, model.config.context
        self.length = room if length is None else min(whole("TextEncoder", "length", length, least=2), room)
        if len(tokenizer) > model.config.vocab_size:
            cause = tr("TextEncoder: a tokenizer of {} tokens, a model of {}", len(tokenizer), model.config.vocab_size)
            raise ArgumentError(cause, "the tokenizer that the model was trained with")

    @classmethod
    def load(cls, folder: str | os.PathLike) -> "TextEncoder":
        """From a folder of sentence-transformers: model, tokenizer, how its vectors are made, and how much of a text it reads."""
        place = found(folder)
        beside = place / "sentence_bert_config.json"
        said = read_json(beside) if beside.is_file() else {}
        length = said.get("max_seq_length") if isinstance(said, dict) else None
        tokenizer = Tokenizer.load(place)
        return cls(SentenceEncoder.from_pretrained(place), tokenizer, length if type(length) is int and length > 2 else None)

    def encode(
        self, texts: Sequence[str], batch: int = 32, cut: Callable[[int, int], None] | None = None,
        done: Callable[[int], None] | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Vectors (N, C) float32 of N texts. Those of like length go through the model together, `batch` at a time.

        cut(i, tokens) is told which text has more tokens than `length`, done(n) how many more texts are through.
        """
        whole("encode", "batch", batch)
        texts = [*several("encode", texts, tr("a list of texts"), "encode(['a text'])")]
        made = np.empty((len(texts), self.model.config.d_model), np.float32)
        with answering(self.model):
            for first in range(0, len(texts), TOGETHER):
                rows = []
                for i, ids in enumerate(self.tokenizer.encode_all(texts[first : first + TOGETHER], marks=True), first):
                    if cut is not None and len(ids) > self.length:
                        cut(i, len(ids))
                    rows.append(self._cut(ids))
                for chosen in BucketBatchSampler([len(row) for row in rows], batch, shuffle=False):
                    at = [first + i for i in chosen]
                    made[at] = self.model(pad([rows[i] for i in chosen], self.model.config.pad_id)).numpy()
                    if done is not None:
                        done(len(at))
        return made

    def fingerprint(self) -> str:
        """SHA-256 of all that decides about a vector: weights, tokenizer, how much of a text is read, how it becomes one vector."""
        config = self.model.config
        about = f"{hash_of(self.model)} {self.length} {config.pooling} {config.normalize} {config.norm_eps} {config.heads}"
        return hashlib.sha256(about.encode() + self.tokenizer.to_bytes()).hexdigest()

    def _cut(self, ids: np.ndarray) -> np.ndarray:
        """The first `length` tokens; the last mark stays the last."""
        return ids if len(ids) <= self.length else np.append(ids[: self.length - 1], ids[-1])


def nearest(query: np.ndarray, vectors: np.ndarray, top: int = 5) -> list[tuple[int, float]]:
    """The `top` rows of vectors (N, C) that are nearest to query (C,), as (row, cosine), the nearest first."""
    whole("nearest", "top", top)
    if not isinstance(query, np.ndarray) or query.ndim != 1:
        raise ArgumentTypeError(tr("nearest: expected query (C,), one vector; got {}", _kind(query)), "encoder.encode([text])[0]")
    scores = cosines(query[None], vectors)[0]
    return [(int(i), float(scores[i])) for i in np.argsort(-scores, kind="stable")[:top]]


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cosine of each row of a (M, C) with each row of b (N, C), as (M, N); 0 for a row of zeros."""
    for one in (a, b):
        if not isinstance(one, np.ndarray) or one.ndim != 2 or one.dtype.kind not in "fiu":
            cause = tr("cosines: expected vectors as a NumPy array (N, C); got {}", _kind(one))
            raise ArgumentTypeError(cause, "encoder.encode(texts)")
    if a.shape[1] != b.shape[1]:
        raise ShapeError(tr("cosines: vectors of {} and of {} numbers", a.shape[1], b.shape[1]), "both of one encoder")
    lengths = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)
    return a @ b.T / np.maximum(lengths, np.finfo(np.float32).tiny)


def _kind(x: Any) -> str:
    return f"{x.dtype} {x.shape}" if isinstance(x, np.ndarray) else type(x).__name__


def passages(path: Path, text: str) -> list[tuple[str, str]]:
    """(where, paragraph) of a text, cut at empty lines, and at lines of white space."""
    pieces: list[tuple[str, str]] = []
    begins, words = 0, list[str]()
    for number, row in enumerate([*text.split("\n"), ""], 1):
        if row.strip():
            begins = begins if words else number
            words += row.split()
        elif words:
            pieces.append((f"{path}:{begins}", " ".join(words)))
            words = []
    return pieces


def lines(path: Path, text: str) -> list[tuple[str, str]]:
    """(where, line) of a text, without the lines of white space."""
    return [(f"{path}:{number}", row.strip()) for number, row in enumerate(text.split("\n"), 1) if row.strip()]


_guard_names(globals(), __name__)
_guard_types(globals(), __name__)
