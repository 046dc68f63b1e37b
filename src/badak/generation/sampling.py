"""Text from left to right: ask the model for the next token, choose one, append it, ask again.

`logit_filters.py` says what may be chosen: temperature, top-k, top-p, penalties.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any

from badak.autograd import no_grad
from badak.data.padding import pad
from badak.generation.beams import beam_search
from badak.generation.logit_filters import GenerationConfig, filter_logits
from badak.generation.reader import Reader, answering, evaluating, next_logits
from badak.generation.validation import Ends, ends_of, expect_prompt, expect_settings, expect_some_left, prompts_of
from badak.models.gpt import expect_starts
from badak.nn import Module
from badak.tensor import Generator, Tensor, cat, full_like, multinomial, tensor, where


def drawn(logits: Tensor, config: GenerationConfig, generator: Generator) -> Tensor:
    """One token (B, 1) for each row of filtered logits (B, V): the most likely at temperature 0, else drawn."""
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
    the same, to rounding where all of them are bfloat16. The model is in eval mode until the stream ends, fails or is closed, then
    in the mode it was in.

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


def filter_rows(logits: Tensor, ids: Tensor, starts: Tensor | None, config: GenerationConfig) -> Tensor:
    """`filter_logits`, each row with its own text: what stands before it was not written."""
    if starts is None:
        return filter_logits(logits, ids, config)
    rows = [filter_logits(logits[i : i + 1], ids[i : i + 1, start:], config) for i, start in enumerate(starts.tolist())]
    return cat(rows)


Prompts = Tensor | Sequence[Sequence[int] | Tensor]


def generate(model: Module, ids: Prompts, config: GenerationConfig, eos: Ends = None, suppress_tokens: Sequence[int] = ()) -> Any:
    """What the model writes after prompts, with them before it.

    ids (B, T): prompts of one length -> (B, T + new), rows that ended filled up with `eos`. A list of prompts of any lengths ->
    a list of texts (T + new,), each with its own `eos` at the end if it ended: each is the one that its prompt gives alone, but
    for the draws, which all rows share. See `stream`; with `config.num_beams` above 1 the most likely of several texts, see
    `beam_search`.

    Args:
        model: maps ids (B, T) to logits (B, T, V)
        ids: (B, T), or a list of prompts of any lengths
        config: how the next token is chosen
        eos: id, or ids, that end a text
        suppress_tokens: ids that are never written

    Returns: (B, T + new), or a list of (T + new,)

    Example:
        >>> from badak.generation import GenerationConfig, generate
        >>> from badak.models import GPT, GPTConfig
        >>> model = GPT(GPTConfig(vocab_size=50, context=16, d_model=8, layers=1, heads=2)).eval()
        >>> tuple(generate(model, badak.tensor([[1, 2]]), GenerationConfig(max_new_tokens=3)).shape)
        (1, 5)
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
