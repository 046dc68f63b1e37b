"""What is done to the logits (B, V) of the next token before one is drawn: each filter returns new logits.

A token that a filter removes gets -inf and so probability 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from badak.errors import ArgumentError
from badak.io.config import check, option
from badak.tensor import Tensor, full_like, tensor, where


@dataclass(frozen=True)
class SampleConfig:
    """How the next token is chosen; temperature 0 is greedy: always the most likely one."""

    new_tokens: int = option(300, "tokens to write at most", unit="tokens", at_least=0)
    temperature: float = option(0.8, "below 1 bolder, above 1 wilder, 0 always the most likely", at_least=0)
    top_k: int = option(40, "draw only from the k most likely; 0 is all", unit="tokens", at_least=0)
    top_p: float = option(1.0, "draw only from the fewest that hold this probability", above=0, at_most=1)
    repetition_penalty: float = option(1.0, "divide the odds of what was written already; 1 is off", at_least=1)
    seed: int = option(0, "seed of the draws", at_least=0)

    def __post_init__(self):
        check(self)


def forbid(logits: Tensor, never: Sequence[int]) -> Tensor:
    """Without these tokens: what stands for a padding or a mask is no text. ArgumentError where none would be left."""
    if not never:
        return logits
    if len(set(never)) >= logits.shape[-1]:
        raise ArgumentError(f"generate: each of the {logits.shape[-1]} tokens is forbidden", "a vocabulary with words")
    return logits.index_fill(-1, tensor(list(never)), float("-inf"))


def scale_temperature(logits: Tensor, temperature: float) -> Tensor:
    """logits / temperature: below 1 the likely become likelier, above 1 all become alike."""
    return logits / temperature


def keep_top_k(logits: Tensor, k: int) -> Tensor:
    """Only the k largest logits of each row, exactly k: of equal ones those that `topk` lists first."""
    if k >= logits.shape[-1]:
        return logits
    values, indices = logits.topk(k, dim=-1)
    return full_like(logits, float("-inf")).scatter(-1, indices, values)


def keep_top_p(logits: Tensor, p: float) -> Tensor:
    """Only the smallest set of likely tokens whose probabilities reach p ("nucleus"); the likeliest one always stays.

    Source: Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020.
    """
    values, indices = logits.sort(dim=-1, descending=True)
    mass = values.softmax(dim=-1)
    before = mass.cumsum(dim=-1) - mass  # probability of everything likelier: the first has 0
    values = values.masked_fill(before >= p, float("-inf"))
    return full_like(logits, float("-inf")).scatter(-1, indices, values)


def penalise_repetition(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """Logits of the tokens in `ids` (B, T) moved down: a positive one divided by `penalty`, a negative one times it.

    Source: Keskar et al., "CTRL", 2019.
    """
    seen = logits.gather(-1, ids)
    return logits.scatter(-1, ids, where(seen > 0, seen / penalty, seen * penalty))


def filter_logits(logits: Tensor, ids: Tensor, config: SampleConfig) -> Tensor:
    """All filters that `config` asks for, in their order: repetition, temperature, top-k, top-p."""
    if config.repetition_penalty > 1:
        logits = penalise_repetition(logits, ids, config.repetition_penalty)
    if config.temperature > 0:
        logits = scale_temperature(logits, config.temperature)
    if config.top_k:
        logits = keep_top_k(logits, config.top_k)
    if config.top_p < 1:
        logits = keep_top_p(logits, config.top_p)
    return logits
