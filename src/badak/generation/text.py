"""From text to text: a prompt written on, a sentence with its holes filled."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, tr, warn
from badak.core.public_api import guard_names as _guard_names
from badak.data.pieces import PieceVocabulary
from badak.data.text import CharVocabulary, WordVocabulary
from badak.data.tokenizer import TextStream, Tokenizer
from badak.data.validation import several, text
from badak.generation.explain import loop_in
from badak.generation.fill_mask import fill_mask
from badak.generation.logit_filters import GenerationConfig
from badak.generation.sampling import generate, stream
from badak.generation.validation import Ends, ends_of
from badak.nn import Module
from badak.tensor import from_numpy

TextVocabulary = CharVocabulary | PieceVocabulary | WordVocabulary | Tokenizer


def generate_text(
    model: Module,
    vocabulary: TextVocabulary,
    prompt: str,
    config: GenerationConfig,
    eos: Ends = None,
    stop: Sequence[str] = (),
    written: list[int] | None = None,
) -> Iterator[str]:
    """The prompt, then what the model writes after it, as it comes; ends before the token `eos`, or one of several, and before
    the texts `stop`.

    No other special token is written. An empty prompt is a new line, or the marks that a Tokenizer puts around a prompt.
    Raises ArgumentError for a prompt of words or characters that the model has never seen. written: a list that is given the
    new tokens.
    """
    ids = prompt_ids(vocabulary, prompt)
    stop = stops(stop)
    ends = ends_of(eos)
    suppress_tokens = [token for token in vocabulary.special if token not in ends]
    yield prompt
    if config.num_beams > 1:
        tokens = iter(generate(model, from_numpy(ids)[None], config, ends, suppress_tokens)[0, len(ids) :].tolist())
    else:
        tokens = (int(token) for token in stream(model, from_numpy(ids)[None], config, ends, suppress_tokens))
    yield from until(pieces_of(vocabulary, noted(tokens, ends, written), ids), stop)


def prompt_ids(vocabulary: TextVocabulary, prompt: str, marks: bool | None = None) -> np.ndarray:
    """The tokens of a prompt (T,), at least one. marks: whether a Tokenizer's own stand around it; as `prompt_marks` says."""
    if isinstance(vocabulary, Tokenizer) and (vocabulary.prompt_marks if marks is None else marks):
        known(vocabulary, text("prompt_ids", prompt))
        ids = vocabulary.encode(prompt, marks=True)
        if ids.size:
            return ids
    ids = known(vocabulary, text("prompt_ids", prompt) or "\n")
    if ids.size == 0:
        raise ArgumentError("generate: the prompt has no word", tr('--prompt "{}"', vocabulary.tokens[len(vocabulary) // 2]))
    return ids


def noted(tokens: Iterator[int], ends: Sequence[int], written: list[int] | None = None) -> Iterator[int]:
    """The tokens before the first one of `ends`, each added to `written` as it comes."""
    for token in tokens:
        if token in ends:
            return
        if written is not None:
            written.append(token)
        yield token


def pieces_of(vocabulary: TextVocabulary, tokens: Iterator[int], after: Sequence[int] | np.ndarray = ()) -> Iterator[str]:
    """The text of tokens as they come, behind the text of others."""
    stream = text_stream(vocabulary, after)
    yield from map(stream.push, tokens)
    if rest := stream.rest():
        yield rest


class TokenStream:
    """The text of tokens that each are text by themselves, of a vocabulary of characters or words."""

    def __init__(self, vocabulary: TextVocabulary) -> None:
        self.vocabulary, self.gap = vocabulary, " " if isinstance(vocabulary, WordVocabulary) else ""

    def push(self, token: int) -> str:
        """The text of the next token."""
        return self.gap + self.vocabulary.decode([token])

    def rest(self) -> str:
        """Nothing: each token is whole."""
        return ""


def text_stream(vocabulary: TextVocabulary, after: Sequence[int] | np.ndarray = ()) -> TextStream | TokenStream:
    """What makes text of tokens that come one by one, behind the text of others."""
    return TextStream(vocabulary, after) if isinstance(vocabulary, Tokenizer) else TokenStream(vocabulary)  # type: ignore[arg-type]


class Until:
    """Text that comes in pieces, up to the first of the texts `stop`, which may begin in one piece and end in another.

    stripped: without the white space before the first letter. `ended` turns True where a text of `stop` was found.
    """

    def __init__(self, stop: Sequence[str], stripped: bool = False) -> None:
        self.stop, self.held, self.stripped, self.ended = [one for one in stops(stop) if one], "", stripped, False

    def push(self, piece: str) -> str:
        """What of the text is for sure before `stop` now, and was not before."""
        if self.stripped:
            piece = piece.lstrip()
            self.stripped = not piece
        held = self.held + piece
        place = min((at for one in self.stop if (at := held.find(one)) >= 0), default=-1)
        if place >= 0:
            self.ended, self.held = True, ""
            return held[:place]
        open_ = max((n for one in self.stop for n in range(1, len(one)) if held.endswith(one[:n])), default=0)
        self.held = held[len(held) - open_ :]
        return held[: len(held) - open_]

    def rest(self) -> str:
        """What was held back when the text ends."""
        return self.held


def until(pieces: Iterable[str], stop: Sequence[str], stripped: bool = False) -> Iterator[str]:
    """The pieces of a text as `Until` lets them through."""
    text = Until(stop, stripped)
    for piece in pieces:
        if ready := text.push(piece):
            yield ready
        if text.ended:
            return
    if text.held:
        yield text.held


def stops(stop: Any) -> list[str]:
    """The texts that end an answer; a text alone is no list of them."""
    return [text("stop", one) for one in several("generate", stop, tr("the texts that end an answer"), "stop=['.']")]


def warn_of_a_loop(vocabulary: TextVocabulary, written: Sequence[int]) -> None:
    """Say where a text ends in a loop, and which option would stop it."""
    found = loop_in(written)
    if found is not None:
        length, times = found
        run = "".join(pieces_of(vocabulary, iter(written[-length:]))).removeprefix(" ") or " "
        fix = tr("--no-repeat-ngram-size 3 forbids it, --repetition-penalty 1.2 makes it unlikely; a greedy text loops most")
        warn(tr("the model repeats itself: {} times {!r} at the end", times, run), fix)


def fill_sentence(
    model: Module, vocabulary: WordVocabulary | Tokenizer, sentence: str, top: int = 5
) -> tuple[str, list[list[tuple[str, float]]]]:
    """The sentence with the most likely word in each [MASK], and for each of them the `top` words with their probabilities."""
    if isinstance(vocabulary, Tokenizer):
        known(vocabulary, sentence)
        ids = vocabulary.encode(sentence, marks=True)
    else:
        ids = np.array([vocabulary.sos, *known(vocabulary, sentence), vocabulary.eos], np.int64)
    rankings = fill_mask(model, from_numpy(ids), vocabulary.mask, top, vocabulary.special)  # type: ignore[arg-type]
    ids[ids == vocabulary.mask] = [ranking[0][0] for ranking in rankings]
    words = [[(vocabulary.tokens[token], chance) for token, chance in ranking] for ranking in rankings]
    return vocabulary.decode(ids, skip_special=True), words


def known(vocabulary: TextVocabulary, prompt: str) -> np.ndarray:
    """The tokens of `prompt`; a word that the model has never seen is refused with the nearest known ones."""
    ids = vocabulary.encode(prompt)
    by_words = isinstance(vocabulary, WordVocabulary) or isinstance(vocabulary, Tokenizer) and vocabulary.by_words
    unknown: Any = getattr(vocabulary, "unk", None) if by_words else None
    if unknown is not None and (ids == unknown).any():
        word = next(word for word in prompt.split() if unknown in vocabulary.encode(word))
        near = [token for token in vocabulary.tokens if token.strip(",.;").lower() == word.strip(",.;").lower()]
        hint = (
            tr("the model knows {}", " and ".join(near)) if near else tr("use the words of the training text, as they stand there")
        )
        raise ArgumentError(tr("the model has never seen the word {!r}", word), hint)
    return ids


_guard_names(globals(), __name__)
