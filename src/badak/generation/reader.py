"""A model that reads: what it answers after more and more tokens, each read once where it has a cache."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from inspect import signature
from typing import Any
from weakref import WeakKeyDictionary

from badak.autograd import no_grad
from badak.compiler.compiled import Compiled
from badak.core.errors import ArgumentError, tr
from badak.generation.logit_filters import forbid
from badak.generation.validation import expect_answers, expect_known
from badak.nn import KeyValueCache, Module
from badak.tensor import Tensor


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


def widened(logits: Tensor) -> Tensor:
    """Logits of which probabilities are made: 16-bit ones would be rounded, too."""
    return logits.float() if logits.itemsize == 2 else logits


def next_logits(reader: "Reader", ids: Tensor, ends: tuple[int, ...], suppress_tokens: Sequence[int]) -> Tensor:
    """The logits (B, V) of what may come after ids: of 32 bits at least, without `suppress_tokens`."""
    return checked_logits(reader.model, reader.read(ids), ends, suppress_tokens)


def checked_logits(model: Module, logits: Tensor, ends: tuple[int, ...], suppress_tokens: Sequence[int]) -> Tensor:
    """What a model answered, (B, V), as `next_logits` gives it."""
    logits = widened(logits)
    expect_known(ends, logits.shape[-1])
    expect_answers(model, logits)
    return forbid(logits, suppress_tokens)


def last_logits(model: Module) -> dict[str, int]:
    """The argument by which a model computes only the logits that come last: transformers' `logits_to_keep`, where it has it."""
    return {"logits_to_keep": 1} if "logits_to_keep" in signature(type(model).forward).parameters else {}


class Reader:
    """Reads a text (B, T) that grows at its end, and gives the logits (B, V) of the token that comes next.

    max_length    tokens that the text will have at most
    starts  where the text of each row begins (B,), or None

    Positions count from the first token that the model sees. Once the text is longer than the context that token moves on,
    and with it every position: what is cached holds no more, and the window is read again each time.
    """

    def __init__(self, model: Module, max_length: int, starts: Tensor | None = None) -> None:
        self.model, self.starts = model, starts
        self.weights: list = []  # what `go_on` found
        self.last = last_logits(model)
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
        more: dict[str, Any] = self.last if self.starts is None else {**self.last, "starts": self.starts - beyond}
        if self.cache is None:
            return self._last(self.model(ids[:, beyond:], **more), ids)
        new = ids[:, self.cache.length :]
        with resting(self.model) if new.shape[1] > 1 else nullcontext():  # the length of a prompt seldom comes again
            logits = self._last(self.model(new, cache=self.cache, **more), ids)
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
                tr("generate: {} gave {} for ids {}; expected logits (B, T, V)", type(self.model).__name__, got, tuple(ids.shape)),
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
        """Read the text again the next time: the weights are others."""
        if self.cache is not None:
            self.cache.rewind()

    def close(self) -> None:
        """Nothing more is read: the next text of a compiled model is read with this cache."""
        if self.cache is not None and is_compiled(self.model):
            _spare[self.model] = self.cache


def _weights_of(model: Module) -> list[tuple[int, Any]]:
    """What tells whether a model has the weights that it had: nothing does of those that other processes may write."""
    return [(id(x), object() if x.is_shared() else x._version) for x in model.parameters()]


_spare: WeakKeyDictionary[Module, KeyValueCache] = WeakKeyDictionary()  # of compiled models, whose recordings know their cache
ROOM = 256  # tokens by which the caches of compiled models grow


def is_compiled(model: Module) -> bool:
    """Whether calls of the model are recorded and replayed."""
    return isinstance(model.__dict__.get("forward"), Compiled)


@contextmanager
def resting(model: Module) -> Iterator[None]:
    """Calls of a compiled model run as they are."""
    compiled = model.__dict__.get("forward")
    if not isinstance(compiled, Compiled):
        yield
        return
    before, compiled.rests = compiled.rests, True
    try:
        yield
    finally:
        compiled.rests = before


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
