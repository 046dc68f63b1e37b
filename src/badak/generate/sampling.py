"""Text from left to right: ask the model for the next token, choose one, append it, ask again."""

from collections.abc import Iterator
from contextlib import contextmanager

from badak.autograd import no_grad
from badak.errors import ArgumentError
from badak.generate.filters import SampleConfig, filter_logits
from badak.nn import Module
from badak.tensor import Generator, Tensor, cat, full_like, multinomial, where


@contextmanager
def answering(model: Module) -> Iterator[None]:
    """Dropout off while the model answers; afterwards the model is in the mode it was in."""
    was_training = model.training
    model.eval()
    try:
        with no_grad():
            yield
    finally:
        model.train(was_training)


def choose(logits: Tensor, ids: Tensor, config: SampleConfig, generator: Generator) -> Tensor:
    """One token (B, 1) for each row of logits (B, V): the most likely at temperature 0, else drawn after the filters."""
    logits = filter_logits(logits, ids, config)
    if config.temperature == 0:
        return logits.argmax(dim=-1, keepdim=True)
    return multinomial(logits.softmax(dim=-1), 1, generator=generator)


def stream(model: Module, ids: Tensor, config: SampleConfig, eos: int | None = None) -> Iterator[Tensor]:
    """The new tokens (B, 1), one step at a time, until `config.new_tokens` are written or every row has ended.

    ids (B, T) is the prompt, T at least 1. The model sees the last `model.config.context` tokens. A row ends with `eos`
    and is filled up with it while others go on. The same seed gives the same text.
    """
    if ids.dim() != 2 or ids.shape[1] == 0:
        raise ArgumentError(
            f"generate: expected a prompt ids (B, T) with at least one token; got {tuple(ids.shape)}",
            fix="one text alone is ids[None]; an empty text can start with a newline or the start mark",
        )
    generator, context = Generator().manual_seed(config.seed), model.config.context
    ended = full_like(ids[:, :1], 0) > 0  # (B, 1), nobody yet
    for _ in range(config.new_tokens):
        with answering(model):  # a KeyValueCache would enter here: only ids[:, -1:] is new to the model
            token = choose(model(ids[:, -context:])[:, -1], ids, config, generator)
        if eos is not None:
            token = where(ended, full_like(token, eos), token)
            ended = ended | (token == eos)
        yield token
        ids = cat([ids, token], dim=1)
        if eos is not None and bool(ended.all()):
            return


def generate(model: Module, ids: Tensor, config: SampleConfig, eos: int | None = None) -> Tensor:
    """The prompt ids (B, T) with what the model writes after it, (B, T + new): see `stream`."""
    return cat([ids, *stream(model, ids, config, eos)], dim=1)
