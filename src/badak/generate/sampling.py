"""Text from left to right: ask the model for the next token, choose one, append it, ask again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from badak.autograd import no_grad
from badak.errors import ArgumentError
from badak.generate.filters import SampleConfig, filter_logits, forbid
from badak.nn import KeyValueCache, Module
from badak.tensor import Generator, Tensor, cat, full_like, multinomial, where


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


def choose(logits: Tensor, ids: Tensor, config: SampleConfig, generator: Generator) -> Tensor:
    """One token (B, 1) for each row of logits (B, V): the most likely at temperature 0, else drawn after the filters."""
    if logits.itemsize == 2:  # whose probabilities would be rounded, too
        logits = logits.float()
    logits = filter_logits(logits, ids, config)
    if config.temperature == 0:
        return logits.argmax(dim=-1, keepdim=True)
    return multinomial(logits.softmax(dim=-1), 1, generator=generator)


def stream(
    model: Module, ids: Tensor, config: SampleConfig, eos: int | None = None, never: Sequence[int] = ()
) -> Iterator[Tensor]:
    """The new tokens (B, 1), one step at a time, until `config.new_tokens` are written or every row has ended.

    ids (B, T) is the prompt, T at least 1. The model sees the last `model.config.context` tokens. A row ends with `eos`
    and is filled up with it while others go on. The tokens `never` are not written. The same seed gives the same text.

    Where the model `takes_cache`, as a GPT does, only the last token goes through its `config.layers` as long as the text
    fits into the context; beyond that, and with any other model, the whole context does, for every token. The numbers are
    the same, to rounding. The model is in eval mode until the stream ends, fails or is closed, then in the mode it was in.

    Raises ArgumentError for a prompt without a token, and where `never` leaves none to write.
    """
    if ids.dim() != 2 or ids.shape[1] == 0:
        raise ArgumentError(
            f"generate: expected a prompt ids (B, T) with at least one token; got {tuple(ids.shape)}",
            fix="one text alone is ids[None]; an empty text can start with a newline or the start mark",
        )
    generator, reader = Generator().manual_seed(config.seed), Reader(model, ids.shape[1] + config.new_tokens - 1)
    ended = full_like(ids[:, :1], 0) > 0  # (B, 1), nobody yet
    with evaluating(model):
        for _ in range(config.new_tokens):
            if trained := model.training:  # who takes the tokens went on with training in between
                reader.forget()
            with answering(model) if trained else no_grad():
                token = choose(forbid(reader.read(ids), never), ids, config, generator)
            if eos is not None:
                token = where(ended, full_like(token, eos), token)
                ended = ended | (token == eos)
            yield token
            ids = cat([ids, token], dim=1)
            if eos is not None and bool(ended.all()):
                return


class Reader:
    """Reads a text (B, T) that grows at its end, and gives the logits (B, V) of the token that comes next.

    room    tokens that the text will have at most

    Positions count from the first token that the model sees. Once the text is longer than the context that token moves on,
    and with it every position: what is cached holds no more, and the window is read anew each time.
    """

    def __init__(self, model: Module, room: int):
        self.model, self.context = model, model.config.context
        takes_cache, room = getattr(model, "takes_cache", False), min(room, self.context)
        self.cache = KeyValueCache(model.config.layers, room) if takes_cache and room > 0 else None

    def read(self, ids: Tensor) -> Tensor:
        """The logits after the last token of ids (B, T), which begins with what was read before."""
        if ids.shape[1] > self.context:
            self.cache = None
        if self.cache is None:
            return self.model(ids[:, -self.context :])[:, -1]
        return self.model(ids[:, self.cache.length :], cache=self.cache)[:, -1]

    def forget(self) -> None:
        """Read the text anew the next time: the weights are others."""
        if self.cache is not None:
            self.cache.rewind()


def generate(
    model: Module, ids: Tensor, config: SampleConfig, eos: int | None = None, never: Sequence[int] = ()
) -> Tensor:
    """The prompt ids (B, T) with what the model writes after it, (B, T + new): see `stream`."""
    return cat([ids, *stream(model, ids, config, eos, never)], dim=1)
