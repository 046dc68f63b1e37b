"""From text to text: a prompt written on, a sentence with its holes filled."""

from collections.abc import Iterator

import numpy as np

from badak.data.pieces import PieceVocabulary
from badak.data.text import CharVocabulary, WordVocabulary
from badak.errors import ArgumentError
from badak.generate.fill_mask import fill_mask
from badak.generate.filters import SampleConfig
from badak.generate.sampling import stream
from badak.nn import Module
from badak.tensor import from_numpy

TextVocabulary = CharVocabulary | PieceVocabulary | WordVocabulary


def write_on(
    model: Module, vocabulary: TextVocabulary, prompt: str, config: SampleConfig, eos: int | None = None
) -> Iterator[str]:
    """The prompt, then what the model writes after it, as it comes; ends before the token `eos`. No other special token is written.

    An empty prompt is a new line. Raises ArgumentError for a prompt of words or characters that the model has never seen.
    """
    ids = known(vocabulary, prompt or "\n")
    if ids.size == 0:
        raise ArgumentError("generate: the prompt has no word", f'--prompt "{vocabulary.tokens[len(vocabulary) // 2]}"')
    gap = " " if isinstance(vocabulary, WordVocabulary) else ""
    yield prompt
    never = [token for token in vocabulary.special if token != eos]
    for token in stream(model, from_numpy(ids)[None], config, eos, never):
        if int(token) == eos:
            return
        yield gap + vocabulary.decode([int(token)])


def fill_sentence(
    model: Module, vocabulary: WordVocabulary, sentence: str, top: int = 5
) -> tuple[str, list[list[tuple[str, float]]]]:
    """The sentence with the likeliest word in each [MASK], and for each of them the `top` words with their probabilities."""
    ids = np.array([vocabulary.sos, *known(vocabulary, sentence), vocabulary.eos], np.int64)
    rankings = fill_mask(model, from_numpy(ids), vocabulary.mask, top, vocabulary.special)
    ids[ids == vocabulary.mask] = [ranking[0][0] for ranking in rankings]
    words = [[(vocabulary.tokens[token], chance) for token, chance in ranking] for ranking in rankings]
    return vocabulary.decode(ids, skip_special=True), words


def known(vocabulary: TextVocabulary, text: str) -> np.ndarray:
    """The tokens of `text`; a word that the model has never seen is refused with the nearest known ones."""
    ids = vocabulary.encode(text)
    if isinstance(vocabulary, WordVocabulary) and (ids == vocabulary.unk).any():
        word = text.split()[int(np.flatnonzero(ids == vocabulary.unk)[0])]
        near = [token for token in vocabulary.tokens if token.strip(",.;").lower() == word.strip(",.;").lower()]
        hint = (
            f"the model knows {' and '.join(near)}"
            if near
            else "use the words of the training text, as they stand there"
        )
        raise ArgumentError(f"the model has never seen the word {word!r}", hint)
    return ids
