"""The vocabulary of a run, written and read in one place.

Characters, words and frequent pieces stand in config.json, under `vocabulary`. A Tokenizer is a file of its own, tokenizer.json,
which other programs read, too; config.json has its SHA-256 under `tokenizer`, so that one that was damaged or exchanged is refused.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from badak.core.errors import ArgumentError, BadakError, FileError, tr
from badak.data.pieces import PieceVocabulary
from badak.data.text import CharVocabulary, WordVocabulary
from badak.data.tokenizer import FILE, Tokenizer
from badak.generation.text import TextVocabulary
from badak.io.atomic import read_small, write_file
from badak.io.config import parse_json

VOCABULARIES: dict[str, Callable[..., TextVocabulary]] = {
    "characters": CharVocabulary,
    "pieces": PieceVocabulary,
    "words": WordVocabulary,
}
RESTORE = tr("restore the file from a copy, or train again")
S = TypeVar("S")


def noted(setup: S, vocabulary: TextVocabulary) -> S:
    """`setup` with what config.json says of the vocabulary: its tokens, or the SHA-256 of the tokenizer's file."""
    if isinstance(vocabulary, Tokenizer):
        return replace(setup, tokenizer=hashlib.sha256(vocabulary.to_bytes()).hexdigest())  # type: ignore[type-var]
    return replace(setup, vocabulary=vocabulary.tokens)  # type: ignore[type-var]


def write(folder: Path, vocabulary: TextVocabulary | None) -> None:
    """tokenizer.json, where the vocabulary has one. Another one that is there already is not written over."""
    if not isinstance(vocabulary, Tokenizer):
        return
    data, path = vocabulary.to_bytes(), folder / FILE
    if path.exists() and read_small(path) != data:
        raise ArgumentError(tr("{}: another tokenizer is in this folder already", path), "--run names another folder")
    write_file(path, lambda file: file.write(data) and None)


def read(folder: Path, setup: Any, config: Path) -> TextVocabulary | None:
    """The vocabulary that `setup` speaks of, None where it has none; `config`: the file that `setup` was read from.

    Raises FileError where it is not the one of the model, or not as it was written; NotSupportedError without the library
    tokenizers.
    """
    if not hasattr(setup, "vocabulary"):
        return None
    if getattr(setup, "tokenizer", ""):
        vocabulary: TextVocabulary = _tokenizer(folder / FILE, setup.tokenizer, config)
    else:
        try:
            vocabulary = VOCABULARIES[getattr(setup.data, "tokens", "words")](setup.vocabulary)
        except BadakError as error:
            raise FileError(tr("{}: {}", config, error.cause), RESTORE) from None
    spare = range(len(vocabulary), setup.model.vocab_size)
    if spare and isinstance(vocabulary, Tokenizer):  # a table that was rounded up: what has no text is never written
        vocabulary.special = (*vocabulary.special, *spare)
    elif len(vocabulary) != setup.model.vocab_size:
        raise FileError(
            tr("{}: {} tokens stand under vocabulary, but model.vocab_size is {}", config, len(vocabulary), setup.model.vocab_size),
            RESTORE,
        )
    return vocabulary


def _tokenizer(path: Path, sha256: str, config: Path) -> Tokenizer:
    data = read_small(path)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise FileError(tr("{}: damaged or exchanged: its SHA-256 is not the one that {} has", path, config.name), RESTORE)
    return Tokenizer.from_dict(parse_json(data, path), path)
