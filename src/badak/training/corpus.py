"""What a GPT learns from: a text and its tokens, or a folder of tokens that is read where it lies."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from badak.core.errors import ArgumentError, tr
from badak.data.files import read_text
from badak.data.pieces import PieceVocabulary
from badak.data.sentences import TEN_SENTENCES
from badak.data.stories import stories
from badak.data.text import CharVocabulary, WordVocabulary, python_topics
from badak.data.tokenizer import Tokenizer
from badak.data.tokens import ABOUT, TokenFile, cut_at_lines
from badak.generation.text import TextVocabulary
from badak.training.presets import Kind, TextData

TRAINED = ("bpe", "wordpiece")  # tokenizers that are made of the text
PART = 100_000  # characters of it that are looked at together
OWN: dict[str, Callable[[TextData], str]] = {  # the corpora that need no file
    "stories": lambda data: "\n".join(stories(data.language)),
    "topics": lambda data: python_topics(),
    "sentences": lambda data: "\n".join(TEN_SENTENCES),
}
HEAD = 64  # tokens in which the first word of a folder of tokens is looked for


@dataclass
class Corpus:
    """A text with its vocabulary; of a folder of tokens there is no text, but `tokens`."""

    vocabulary: TextVocabulary
    text: str = ""
    tokens: TokenFile | None = None
    kind: Kind = field(default="tokenizer", kw_only=True)  # what a token is, in the words of TextData.tokens

    def ids(self) -> np.ndarray:
        """All tokens, (N,); those of a folder lie on the disk."""
        return self.vocabulary.encode(self.text) if self.tokens is None else self.tokens.ids

    def lines(self) -> list[str]:
        """The lines that are not empty."""
        if self.tokens is not None:
            cause = tr("{}: a folder of tokens has no lines", self.tokens.folder)
            raise ArgumentError(cause, "the text itself, or leave out --lines")
        return [line for line in self.text.split("\n") if line.strip()]

    def first_word(self) -> str:
        """What a text may begin with."""
        if self.tokens is None:
            return self.text.split()[0]
        return next(iter(self.tokens.tokenizer.decode(self.tokens.ids[:HEAD], skip_special=True).split()), "The")

    def data(self) -> list[bytes | memoryview]:
        """All that there is to learn."""
        if self.tokens is None:
            return [self.text.encode("utf-8", "surrogatepass")]
        return [np.ascontiguousarray(part).data for part in (self.tokens.ids, self.tokens.ends)]

    def describe(self) -> str:
        """How much there is, in a line."""
        if self.tokens is not None:
            about = self.tokens.about
            return tr(
                "{:,} tokens of {:,} documents, {:,} distinct ones", about["tokens"], about["documents"], len(self.vocabulary)
            )
        what = tr("pieces of words") if isinstance(self.vocabulary, Tokenizer) else self.kind
        return tr("{:,} characters, {:,} distinct {}", len(self.text), len(self.vocabulary), what)


def open_corpus(data: TextData, tokenizer: Tokenizer | None, log: Callable[[str], None]) -> Corpus:
    """What `data` names; tokenizer: the one to read it with, where there is one already."""
    if data.path and (Path(data.path) / ABOUT).is_file():
        found = TokenFile(data.path)
        if data.tokenizer:
            raise ArgumentError(tr("{}: its tokens are made already; got --tokenizer too", data.path), "leave out --tokenizer")
        return Corpus(found.tokenizer, tokens=found)
    text = read_corpus(data)
    if tokenizer is not None:
        return Corpus(tokenizer, text, kind=data.tokens)
    if not data.tokenizer:
        return Corpus(make_vocabulary(data, text, log), text, kind=data.tokens)
    if data.tokens in TRAINED:
        raise ArgumentError(tr("--tokens {} makes a tokenizer, and --tokenizer names one", data.tokens), "leave out one of them")
    return Corpus(Tokenizer.load(data.tokenizer), text)


def read_corpus(data: TextData) -> str:
    """The text of the file that `data` names, or a corpus that needs none."""
    if not data.path:
        return OWN[data.corpus](data)
    text = read_text(data.path)
    if not text.strip():
        raise ArgumentError(tr("{}: the file has no text", data.path), "give a file with some pages of text")
    return text


def make_vocabulary(data: TextData, text: str, log: Callable[[str], None]) -> TextVocabulary:
    """The distinct tokens of `text` and of a line's end, of the kind that `data` names; subwords of the part to learn from."""
    if data.tokens in TRAINED:
        learned = text[: len(text) - int(len(text) * data.val_split)]
        make = Tokenizer.train_bpe if data.tokens == "bpe" else Tokenizer.train_wordpiece
        made = make(cut_at_lines(learned[at : at + PART] for at in range(0, len(learned), PART)), data.vocabulary)
        log(tr("a tokenizer of {:,} tokens was made from {:,} characters", len(made), len(learned)))
        return made
    if data.tokens == "tokenizer":
        raise ArgumentError("--tokens tokenizer: which one is not said", "--tokenizer PATH, or --data with a folder of tokens")
    text += "\n"
    if data.tokens == "pieces":
        return PieceVocabulary.from_text(text, data.vocabulary)
    return CharVocabulary.from_text(text) if data.tokens == "characters" else WordVocabulary.from_texts([text])
