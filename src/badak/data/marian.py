"""The tokens of Marian's folders ("opus-mt"): one model of SentencePiece for each language, and one table of numbers for both.

    tokens = MarianTokens.load("opus-mt-de-en")           source.spm, target.spm, vocab.json
    ids = tokens.encode_all(["Ein Hund rennt."])[0]       int64 (T,), without the mark of the end
    tokens.decode([18, 402, 3])

SentencePiece is an extra. A sentence for a model of several languages begins with the mark of the wanted one: ">>fr<< Hello".
Source: Kudo and Richardson 2018, "SentencePiece".
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from badak.core.errors import FileError, NotSupportedError, tr
from badak.data import validation
from badak.io.atomic import as_path
from badak.io.config import read_json
from badak.io.errors import line

VOCABULARY, SOURCE, TARGET = "vocab.json", "source.spm", "target.spm"
UNKNOWN, END, PAD = "<unk>", "</s>", "<pad>"
SPACE = "\u2581"  # how SentencePiece writes a space


class MarianTokens:
    """Sentences of the source as numbers, and numbers as sentences of the target."""

    def __init__(self, ids: dict[str, int], source: Any, target: Any) -> None:
        self.ids, self.source, self.target = ids, source, target
        self.tokens = {number: token for token, number in ids.items()}
        self.eos = ids[END]
        self.special = tuple(ids[mark] for mark in (END, UNKNOWN, PAD))

    def __len__(self) -> int:
        return max(self.tokens) + 1

    @classmethod
    def load(cls, folder: str | os.PathLike) -> "MarianTokens":
        """From the three files of a folder. Raises FileError, which names the file; NotSupportedError without sentencepiece."""
        place = as_path(folder)
        ids = read_json(place / VOCABULARY)
        if not isinstance(ids, dict) or not all(type(number) is int and number >= 0 for number in ids.values()):
            raise FileError(tr("{}: expected a token embedding and numbers", place / VOCABULARY), "copy or download it again")
        absent = [mark for mark in (UNKNOWN, END, PAD) if mark not in ids]
        if absent:
            raise FileError(tr("{}: has no {}", place / VOCABULARY, absent[0]), "copy or download it again")
        return cls(ids, _pieces(place / SOURCE), _pieces(place / TARGET))

    def encode_all(self, texts: Iterable[str]) -> list[np.ndarray]:
        """Numbers of the pieces of each sentence; what the table does not know is <unk>."""
        sentences = validation.several("encode_all", texts, tr("a list of texts"), "encode_all(['a text'])")
        return [self._encode(validation.text("encode_all", one).strip()) for one in sentences]

    def _encode(self, text: str) -> np.ndarray:
        mark, end, rest = text.partition("<<")
        wanted = [mark + end] if end and mark.startswith(">>") else []
        pieces = [*wanted, *self.source.encode(rest if wanted else text, out_type=str)]
        return np.array([self.ids.get(piece, self.ids[UNKNOWN]) for piece in pieces], np.int64)

    def decode(self, ids: Iterable[int], skip_special: bool = False) -> str:
        """The sentence of these numbers."""
        numbers = validation.numbers("decode", ids)
        pieces = [self.tokens.get(i, UNKNOWN) for i in numbers if not (skip_special and i in self.special)]
        return self.target.decode_pieces(pieces).replace(SPACE, " ").strip()


def _pieces(path: Path) -> Any:
    """A model of SentencePiece."""
    if not path.is_file():
        raise FileError(tr("{}: is missing", path), "copy or download the whole folder again")
    try:
        import sentencepiece  # an extra: only Marian's folders need it
    except ImportError:
        cause = tr("{}: the library sentencepiece is not installed", path)
        raise NotSupportedError(cause, 'pip install "badak[translate]"') from None
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except Exception as error:
        cause = tr("{}: no model that sentencepiece reads ({})", path, line(str(error)))
        raise FileError(cause, "copy or download it again") from None
