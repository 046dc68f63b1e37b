"""Text from left to right: ask the model for the next token, choose one, append it, ask again."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from math import inf
from typing import Any
from weakref import WeakKeyDictionary

from badak.autograd import no_grad
from badak.compiler.compiled import Compiled
from badak.core.errors import ArgumentError
from badak.data.padding import pad
from badak.generation.filters import GenerationConfig, filter_logits, forbid
from badak.generation.validation import (
    Ends,
    ends_of,
    expect_answers,
    expect_known,
    expect_prompt,
    expect_settings,
    expect_some_left,
    prompts_of,
)
from badak.models.gpt import expect_starts
from badak.nn import KeyValueCache, Module
from badak.tensor import Generator, Tensor, cat, full_like, multinomial, stack, tensor, where


@contextmanager
def answering(model: Module) -> Iterator[None]:
    """Dropout off and nothing recorded while the model answers; afterwards each of its modules is in the mode it was in."""
    with evaluating(model), no_grad():
        yield


@contextmanager
def evaluating(model: Module) -> Iterator[None]:
    """Dropout off; afterwards each module is in the mode it was in. A model that never was in training is left alone."""
    modes = [(module, module.training) for module in model.modules()]
    if not any(training for _, training in modes):
        yield
        return
    model.eval()
    try:
        yield
    finally:
        model.train(modes[0][1])
        for module, training in modes:  # a part that was frozen by eval() stays so
            module.training = training


def choose(logits: Tensor, ids: Tensor, config: GenerationConfig, generator: Generator) -> Tensor:
    """One token (B, 1) for each row of logits (B, V): the most likely at temperature 0, else drawn after the filters."""
    logits = filter_logits(widened(logits), ids, config)
    return drawn(logits, config, generator)


def widened(logits: Tensor) -> Tensor:
    """Logits of which probabilities are made: of 16 bits they would be rounded, too."""
    return logits.float() if logits.itemsize == 2 else logits


def drawn(logits: Tensor, config: GenerationConfig, generator: Generator) -> Tensor:
    """One token (B, 1) for each row of filtered logits (B, V)."""
    expect_some_left(logits)
    if config.temperature == 0:
        return logits.argmax(dim=-1, keepdim=True)
    return multinomial(logits.softmax(dim=-1), 1, generator=generator)


def stream(
    model: Module,
    ids: Tensor,
    config: GenerationConfig,
    eos: Ends = None,
    suppress_tokens: Sequence[int] = (),
    starts: Tensor | None = None,
    reader: "Reader | None" = None,
) -> Iterator[Tensor]:
    """The new tokens (B, 1), one step at a time, until `config.max_new_tokens` are written or every row has ended.

    model: any module that gives logits (B, T, V) for ids (B, T). ids (B, T) is the prompt, T at least 1; starts (B,): where the
    text of each row begins, 0 unless told. The model sees the last `model.config.context` tokens, all of them where it has no
    such limit. A row ends with `eos`, or one of several, and is filled up with the first of them while others go on. The tokens
    `suppress_tokens` are not written. The same seed gives the same text. reader: one that has read another text for this model,
    such as the turns of a conversation so far: what both texts begin with is not read again.

    Where the model `takes_cache`, as a GPT does, only the last token goes through its `config.layers` as long as the text
    fits into the context; beyond that, and with any other model, the whole context does, for every token. The numbers are
    the same, to rounding. The model is in eval mode until the stream ends, fails or is closed, then in the mode it was in.

    Raises ArgumentError for a prompt without a token, a model without logits, and where `suppress_tokens` leaves none to write.
    """
    expect_settings(model, config, eos, suppress_tokens)
    expect_prompt(ids)
    if starts is not None:
        expect_starts(starts, len(ids))
    max_length = ids.shape[1] + config.max_new_tokens - 1
    if reader is None:
        return _stream(closing(Reader(model, max_length, starts)), ids, config, ends_of(eos), suppress_tokens)
    reader.go_on(ids, max_length)
    return _stream(nullcontext(reader), ids, config, ends_of(eos), suppress_tokens)


def _stream(
    opened: AbstractContextManager["Reader"],
    ids: Tensor,
    config: GenerationConfig,
    ends: tuple[int, ...],
    suppress_tokens: Sequence[int],
) -> Iterator[Tensor]:
    generator = Generator().manual_seed(config.seed)
    ended = full_like(ids[:, :1], 0) > 0  # (B, 1), nobody yet
    with opened as reader, evaluating(model := reader.model):
        starts = reader.starts
        for _ in range(config.max_new_tokens):
            if trained := model.training:  # who takes the tokens went on with training in between
                reader.forget()
            with answering(model) if trained else no_grad():
                logits = next_logits(reader, ids, ends, suppress_tokens)
                token = drawn(filter_rows(logits, ids, starts, config), config, generator)
            if ends:
                token = where(ended, full_like(token, ends[0]), token)
            for eos in ends:
                ended = ended | (token == eos)
            yield token
            ids = cat([ids, token], dim=1)
            if ends and bool(ended.all()):
                return


def next_logits(reader: "Reader", ids: Tensor, ends: tuple[int, ...], suppress_tokens: Sequence[int]) -> Tensor:
    """The logits (B, V) of what may come after ids: of 32 bits at least, without `suppress_tokens`."""
    logits = widened(reader.read(ids))
    expect_known(ends, logits.shape[-1])
    expect_answers(reader.model, logits)
    return forbid(logits, suppress_tokens)


def filter_rows(logits: Tensor, ids: Tensor, starts: Tensor | None, config: GenerationConfig) -> Tensor:
    """`filter_logits`, each row with its own text: what stands before it was not written."""
    if starts is None:
        return filter_logits(logits, ids, config)
    rows = [filter_logits(logits[i : i + 1], ids[i : i + 1, start:], config) for i, start in enumerate(starts.tolist())]
    return cat(rows)


class Reader:
    """Reads a text (B, T) that grows at its end, and gives the logits (B, V) of the token that comes next.

    max_length    tokens that the text will have at most
    starts  where the text of each row begins (B,), or None

    Positions count from the first token that the model sees. Once the text is longer than the context that token moves on,
    and with it every position: what is cached holds no more, and the window is read anew each time.
    """

    def __init__(self, model: Module, max_length: int, starts: Tensor | None = None):
        self.model, self.starts = model, starts
        self.weights: list = []  # what `go_on` found
        self.context: int | None = getattr(getattr(model, "config", None), "context", None)
        self._begin(max_length)

    def _begin(self, max_length: int) -> None:
        max_length = max_length if self.context is None else min(max_length, self.context)
        cached = getattr(self.model, "takes_cache", False) and max_length > 0
        self.cache: KeyValueCache | None = cache_for(self.model, max_length, self.context) if cached else None
        self.seen: Tensor | None = None  # the text that was read last

    def read(self, ids: Tensor) -> Tensor:
        """The logits after the last token of ids (B, T), which begins with what was read before."""
        beyond = 0 if self.context is None else max(ids.shape[1] - self.context, 0)
        if beyond:
            self.cache = None
        more = {} if self.starts is None else {"starts": self.starts - beyond}
        if self.cache is None:
            return self._last(self.model(ids[:, beyond:], **more), ids)
        logits = self._last(self.model(ids[:, self.cache.length :], cache=self.cache, **more), ids)
        self.seen = ids
        return logits

    def go_on(self, ids: Tensor, max_length: int) -> None:
        """Another text (1, T) is read next, `max_length` tokens at last: keep what it begins with, if the weights are the same."""
        before, self.weights = self.weights, _weights_of(self.model)
        max_length = max_length if self.context is None else min(max_length, self.context)
        if self.cache is None or self.seen is None or self.cache.max_length < max_length or self.weights != before:
            self._begin(max(2 * max_length, ROOM))
            return
        both = min(ids.shape[1] - 1, self.seen.shape[1], self.cache.length)  # the last token is read in any case
        differ = (ids[0, :both] != self.seen[0, :both]).nonzero()
        self.cache.rewind(int(differ[0]) if len(differ) else both)

    def _last(self, made: Any, ids: Tensor) -> Tensor:
        logits = getattr(made, "logits", made)  # Hugging Face's models give a table
        if not isinstance(logits, Tensor) or logits.dim() != 3 or logits.shape[0] != ids.shape[0]:
            got = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            raise ArgumentError(
                f"generate: {type(self.model).__name__} gave {got} for ids {tuple(ids.shape)}; expected logits (B, T, V)",
                "a module that maps ids to logits of the next token",
            )
        return logits[:, -1]

    def take(self, rows: Tensor) -> None:
        """Go on with these rows of the batch (B',)."""
        if self.cache is not None:
            self.cache.take(rows)
        if self.starts is not None:
            self.starts = self.starts[rows]

    def forget(self) -> None:
        """Read the text anew the next time: the weights are others."""
        if self.cache is not None:
            self.cache.rewind()

    def close(self) -> None:
        """Nothing more is read: the next text of a compiled model is read with this cache."""
        if self.cache is not None and is_compiled(self.model):
            _spare[self.model] = self.cache


def _weights_of(model: Module) -> list[tuple[int, int]]:
    """What tells whether a model has the weights that it had."""
    return [(id(x), x._version) for x in model.parameters()]


_spare: WeakKeyDictionary[Module, KeyValueCache] = WeakKeyDictionary()  # of compiled models, whose recordings know their cache
ROOM = 256  # tokens by which the caches of compiled models grow


def is_compiled(model: Module) -> bool:
    """Whether calls of the model are recorded and replayed."""
    return isinstance(model.__dict__.get("forward"), Compiled)


def cache_for(model: Module, max_length: int, context: int | None) -> KeyValueCache:
    """A cache for a text of `max_length` tokens: of a compiled model the one of its last text where that is large enough."""
    if not is_compiled(model):
        return KeyValueCache(model.config.layers, max_length)
    spare = _spare.pop(model, None)
    if spare is not None and spare.max_length >= max_length and len(spare) == model.config.layers:
        spare.rewind()
        return spare
    max_length = -(-max_length // ROOM) * ROOM
    return KeyValueCache(model.config.layers, max_length if context is None else min(max_length, context))


Prompts = Tensor | Sequence[Sequence[int] | Tensor]


def generate(model: Module, ids: Prompts, config: GenerationConfig, eos: Ends = None, suppress_tokens: Sequence[int] = ()) -> Any:
    """What the model writes after prompts, with them before it.

    ids (B, T): prompts of one length -> (B, T + new), rows that ended filled up with `eos`. A list of prompts of any lengths ->
    a list of texts (T + new,), each with its own `eos` at the end if it ended: each is the one that its prompt gives alone, to
    rounding where something is chosen, and to the draws, which all rows share. See `stream`; with `config.num_beams` above 1 the
    likeliest of several texts, see `beam_search`.
    """
    expect_settings(model, config, eos, suppress_tokens)
    if isinstance(ids, Tensor):
        if config.num_beams > 1:
            return beam_search(model, ids, config, eos, suppress_tokens)
        return cat([ids, *stream(model, ids, config, eos, suppress_tokens)], dim=1)
    prompts = prompts_of(ids)
    if not prompts:
        return []
    alike = len({len(one) for one in prompts}) == 1
    if alike or (getattr(model, "takes_starts", False) and config.num_beams == 1):
        return _together(model, prompts, config, eos, suppress_tokens, alike)
    return [_ended(generate(model, one[None], config, eos, suppress_tokens)[0], len(one), eos) for one in prompts]


def _together(
    model: Module, prompts: list, config: GenerationConfig, eos: Ends, suppress_tokens: Sequence[int], alike: bool
) -> list:
    """All prompts at once, ending at one place; before the shorter ones stands what nobody sees."""
    ids = pad(prompts, 0, left=True)
    gaps = [ids.shape[1] - len(one) for one in prompts]
    if alike:
        made = generate(model, ids, config, eos, suppress_tokens)
    else:
        made = cat([ids, *stream(model, ids, config, eos, suppress_tokens, tensor(gaps))], dim=1)
    return [_ended(row[gap:], len(one), eos) for row, gap, one in zip(made, gaps, prompts)]


def _ended(text: Tensor, prompt: int, eos: Ends) -> Tensor:
    """The text up to the first `eos` behind the prompt, which is kept."""
    ends = ends_of(eos)
    place = next((at for at, token in enumerate(text[prompt:].tolist()) if token in ends), None)
    return text if place is None else text[: prompt + place + 1]


def beam_search(
    model: Module, ids: Tensor, config: GenerationConfig, eos: Ends = None, suppress_tokens: Sequence[int] = ()
) -> Tensor:
    """For each prompt of ids (B, T) the best of the texts that `config.num_beams` beams find, (B, T + new), filled up with `eos`.

        score = sum of log p(token | what stands before) / (number of new tokens)^length_penalty

    At each step every text that is being written goes on with every token; the best `beams` of a prompt are kept, and those that
    end with `eos` are set aside. A prompt is done when as many were set aside and no text that is being written has a better
    score. Filters work on the log-probabilities; nothing is drawn, so temperature, top-k, top-p and min-p are not asked for.

    Source: Sutskever et al. 2014, "Sequence to Sequence Learning with Neural Networks"; the length: Wu et al. 2016, section 7.
    """
    expect_settings(model, config, eos, suppress_tokens)
    expect_prompt(ids)
    made = search(Reader(model, ids.shape[1] + config.max_new_tokens - 1), ids, config, eos, suppress_tokens)
    longest = max(map(len, made))
    filled = [cat([one, one.new_full((longest - len(one),), (*ends_of(eos), 0)[0])]) for one in made]
    return stack(filled)


class _Search:
    """The beams of one prompt: the texts that are written, and those that have ended, the best first."""

    def __init__(self, config: GenerationConfig, ends: tuple[int, ...], first: int):
        self.config, self.ends = config, ends
        self.rows, self.scores = [first], [0.0]  # of the texts that are written: where they stand, and their log-probabilities
        self.ended: list[tuple[float, Tensor]] = []

    def choose(self, best: list[list[float]], tokens: list[list[int]], texts: Tensor, step: int) -> list[tuple[float, int, int]]:
        """Which texts (score, row, token) go on, of the best tokens of each row; those that end here are set aside."""
        k, length = self.config.num_beams, step**self.config.length_penalty
        found = sorted(
            ((score, row, token) for row in self.rows for score, token in zip(best[row], tokens[row]) if score > -inf),
            key=lambda one: -one[0],
        )
        going: list[tuple[float, int, int]] = []
        for rank, (score, row, token) in enumerate(found[: max(2, 1 + len(self.ends)) * k]):
            if token not in self.ends:
                going += [(score, row, token)] if len(going) < k else []
            elif rank < k:
                self.ended.append((score / length, cat([texts[row], tensor([token])])))
        self.ended = sorted(self.ended, key=lambda one: -one[0])[:k]
        done = len(self.ended) == k and (not going or self.ended[-1][0] >= going[0][0] / length)
        return [] if done else going

    def best(self, nothing: Tensor) -> Tensor:
        """The text with the best score."""
        return max(self.ended, key=lambda one: one[0])[1] if self.ended else nothing


def search(reader: Any, ids: Tensor, config: GenerationConfig, eos: Ends, suppress_tokens: Sequence[int] = ()) -> list[Tensor]:
    """The best text (T + new,) of each prompt of ids (B, T), see `beam_search`; all beams of all prompts are read at once.

    reader: `read(texts)` gives the logits (R, V) after R texts of one length, `take(rows)` lets it go on with these of them, and
    `model` is what is asked.
    """
    config = replace(config, temperature=0.0, top_k=0, top_p=1.0, min_p=0.0)
    ends = ends_of(eos)
    searches, most = [_Search(config, ends, row) for row in range(len(ids))], max(2, 1 + len(ends)) * config.num_beams
    texts, running = ids, searches  # (R, length), those whose texts they are
    with answering(reader.model):
        for step in range(1, config.max_new_tokens + 1):
            scores = tensor([score for one in running for score in one.scores])
            chances = forbid(
                next_logits(reader, texts, ends, ()).log_softmax(dim=-1), suppress_tokens
            )  # what is left keeps its chance
            chances = filter_logits(chances, texts, config) + scores[:, None]  # (R, V)
            best, tokens = (x.tolist() for x in chances.topk(min(most, chances.shape[1]), dim=-1))  # each (R, 2 k)
            kept: list[tuple[float, int, int]] = []
            for one in running:
                going = one.choose(best, tokens, texts, step)
                one.rows, one.scores = list(range(len(kept), len(kept) + len(going))), [score for score, _, _ in going]
                kept += going
            running = [one for one in running if one.rows]
            if not running:
                break
            rows = tensor([row for _, row, _ in kept])
            texts = cat([texts[rows], tensor([[token] for _, _, token in kept])], dim=1)
            reader.take(rows)
        length = max(config.max_new_tokens, 1) ** config.length_penalty
        for one in running:
            one.ended += [(score / length, texts[row]) for row, score in zip(one.rows, one.scores)]
    return [one.best(prompt) for one, prompt in zip(searches, ids)]
