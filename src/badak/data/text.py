"""Text to token numbers and back: vocabularies of characters and of words, and the corpora that need no file."""

import json
import os
import pydoc_data.topics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, FileError, IndexOutOfRangeError, tr
from badak.core.public_api import guard_types as _guard_types
from badak.data import validation
from badak.data.files import read_text
from badak.io.atomic import write_file
from badak.io.config import parse_json
from badak.io.errors import shown

_RESTORE = tr("restore the file, or train again")
PAD, SOS, EOS, UNK, MASK = SPECIALS = ("<pad>", "<sos>", "<eos>", "<unk>", "[MASK]")


class Vocabulary:
    """Distinct tokens in a fixed order: token `tokens[i]` has number i."""

    kind = ""
    special: Sequence[int] = ()  # numbers of tokens that stand for no text

    def __init__(self, tokens: Iterable[str]) -> None:
        name = type(self).__name__
        found = tuple(tokens if isinstance(tokens, str) else validation.several(name, tokens, tr("tokens"), tr("['a', 'b']")))
        self.tokens = tuple(validation.text(name, token) for token in found)
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        if len(self.ids) < len(self.tokens):
            twice = next(token for token, count in Counter(self.tokens).items() if count > 1)
            raise ArgumentError(tr("{}: expected distinct tokens; {} stands there twice", name, shown(twice)))

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other) -> bool:
        return type(other) is type(self) and other.tokens == self.tokens

    __hash__ = None  # type: ignore[assignment]  # equal by content, so not to be a key

    def _token(self, number) -> str:
        if not 0 <= number < len(self.tokens):
            raise IndexOutOfRangeError(tr("decode: token {} is outside of this vocabulary of {} tokens", number, len(self.tokens)))
        return self.tokens[number]

    def to_dict(self) -> dict[str, Any]:
        """{"kind": ..., "tokens": [...]}, for JSON."""
        return {"kind": self.kind, "tokens": list(self.tokens)}

    @classmethod
    def from_dict(cls, saved: Any) -> "Vocabulary":
        """What `to_dict` gave; FileError for anything else."""
        found = saved.get("tokens") if isinstance(saved, dict) else None
        if not isinstance(found, list) or not all(isinstance(token, str) for token in found) or saved.get("kind") != cls.kind:
            got = tr("kind {}", shown(saved.get("kind"))) if isinstance(saved, dict) else type(saved).__name__
            raise FileError(tr("not a vocabulary of {}: expected kind and a list of tokens; got {}", cls.kind, got))
        try:
            return cls(found)
        except ArgumentError as error:
            raise FileError(error.cause) from error

    def save(self, path: str | os.PathLike) -> None:
        """Write it as JSON (UTF-8)."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=0)
        write_file(path, lambda file: file.write(text.encode()) and None)

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Vocabulary":
        """What `save` wrote; FileError names the file and its damage."""
        try:
            return cls.from_dict(parse_json(read_text(path), path))
        except FileError as error:
            if str(path) in error.cause:
                raise
            raise FileError(tr("{}: {}", path, error.cause), error.fix or _RESTORE) from error


class CharVocabulary(Vocabulary):
    """Every character is a token."""

    kind = "characters"

    def __init__(self, tokens: Iterable[str]) -> None:
        super().__init__(tokens)
        long = next((token for token in self.tokens if len(token) != 1), None)
        if long is not None:
            raise ArgumentError(tr("CharVocabulary: expected single characters; got {}", shown(long)))

    @classmethod
    def from_text(cls, text: str) -> "CharVocabulary":
        """The characters of `text`, sorted."""
        return cls(sorted(set(validation.text("from_text", text))))

    def encode(self, text: str) -> np.ndarray:
        """Numbers of the characters, int64 (T,). ArgumentError for a character that the vocabulary lacks."""
        if not validation.text("encode", text):
            return np.empty(0, np.int64)
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        distinct, where = np.unique(codes, return_inverse=True)
        absent = [chr(code) for code in distinct.tolist() if chr(code) not in self.ids]
        if absent:
            cause = tr(
                "encode: {!r} (at character {}) is not among the {} characters known", absent[0], text.index(absent[0]), len(self)
            )
            raise ArgumentError(cause, "use the characters of the training text only")
        return np.array([self.ids[chr(code)] for code in distinct.tolist()], np.int64)[where]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of these numbers."""
        return "".join(self._token(i) for i in validation.numbers("decode", ids))


class WordVocabulary(Vocabulary):
    """Tokens are what white space separates, after the five special ones: <pad> <sos> <eos> <unk> [MASK] are 0 to 4."""

    kind = "words"
    pad, sos, eos, unk, mask = special = range(5)

    def __init__(self, tokens: Iterable[str]) -> None:
        super().__init__(tokens)
        if self.tokens[:5] != SPECIALS:
            cause = tr("WordVocabulary: expected the tokens {} first; got {}", " ".join(SPECIALS), shown(self.tokens[:5]))
            raise ArgumentError(cause)

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> "WordVocabulary":
        """The special tokens, then the words of `texts` in the order in which they first appear."""
        words = dict.fromkeys(
            word
            for text in validation.several("from_texts", texts, tr("a list of texts"), "from_texts(['a text'])")
            for word in validation.text("from_texts", text).split()
            if word not in SPECIALS
        )
        return cls((*SPECIALS, *words))

    def encode(self, text: str) -> np.ndarray:
        """Numbers of the words, int64 (T,); words never seen are <unk>, and special tokens may be written out."""
        return np.array([self.ids.get(word, self.unk) for word in validation.text("encode", text).split()], np.int64)

    def decode(self, ids: Iterable[int], skip_special: bool = False) -> str:
        """The words of these numbers, with spaces between; skip_special leaves out <pad>, <sos> and <eos>."""
        hidden = {self.pad, self.sos, self.eos} if skip_special else set()
        return " ".join(self._token(i) for i in validation.numbers("decode", ids) if i not in hidden)

    def frame(self, text: str, length: int | None = None) -> np.ndarray:
        """<sos> words <eos>, and <pad> up to `length`, int64. ArgumentError where the text is longer than that."""
        ids = [self.sos, *self.encode(text).tolist(), self.eos]
        if length is not None and len(ids) > length:
            raise ArgumentError(tr("frame: {} tokens with <sos> and <eos> do not fit into length={}: {!r}", len(ids), length, text))
        return np.array(ids + [self.pad] * ((length or 0) - len(ids)), np.int64)


def python_topics() -> str:
    """English prose that every Python brings along: the chapters of its help system, about 460,000 characters."""
    topics = pydoc_data.topics.topics
    return "\n\n".join(topics[name].strip() for name in sorted(topics)) + "\n"


_guard_types(globals(), __name__)
