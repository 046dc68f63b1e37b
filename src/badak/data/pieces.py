"""A vocabulary of frequent words and all characters: any text has tokens, and common words have one each."""

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np

from badak.core.errors import ArgumentError, tr
from badak.core.public_api import guard_types as _guard_types
from badak.data import validation
from badak.data.text import CharVocabulary, Vocabulary

# A word with the space before it, line ends with the indentation after them, a run of spaces, or a single character.
PART = re.compile(r" ?[^\W\d_]+|\n+ *| +|.", re.DOTALL)


class PieceVocabulary(Vocabulary):
    """Text is cut into words, spaces and signs; a part that is among the tokens is one token, another one is spelled out.

    No text is lost: decode(encode(text)) == text for every text of known characters.
    """

    kind = "pieces"

    def __init__(self, tokens: Iterable[str]) -> None:
        super().__init__(tokens)
        self.letters = CharVocabulary(token for token in self.tokens if len(token) == 1)

    @classmethod
    def from_text(cls, text: str, vocab_size: int) -> "PieceVocabulary":
        """All characters of `text`, and its most frequent parts of more than one: at most `vocab_size` tokens."""
        validation.whole("PieceVocabulary", "vocab_size", vocab_size, least=1)
        counts = Counter(part for part in PART.findall(validation.text("from_text", text)) if len(part) > 1)
        characters = sorted(set(text))
        if vocab_size < len(characters):
            raise ArgumentError(
                tr("PieceVocabulary: the text has {:,} distinct characters, more than vocab_size={}", len(characters), vocab_size),
                tr("vocab_size={} or more: each character is a token", len(characters)),
            )
        frequent = sorted(counts, key=lambda part: (-counts[part], part))[: vocab_size - len(characters)]
        return cls([*characters, *frequent])

    def encode(self, text: str) -> np.ndarray:
        """Numbers of the parts, int64 (T,). ArgumentError for a character that the vocabulary lacks."""
        self.letters.encode(text)  # complains about what cannot be spelled
        numbers: list[int] = []
        for part in PART.findall(text):
            if part in self.ids:
                numbers.append(self.ids[part])
            else:
                numbers.extend(self.ids[letter] for letter in part)
        return np.array(numbers, np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of these numbers."""
        return "".join(self._token(i) for i in validation.numbers("decode", ids))


_guard_types(globals(), __name__)
