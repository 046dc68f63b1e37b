"""What is done to the logits (B, V) of the next token before one is drawn: each filter returns new logits.

A token that a filter removes gets -inf and so probability 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.io.config import Checked, option
from badak.tensor import Tensor, full_like, tensor, where

COLDEST = 1e-20  # of two logits of 32 bits the larger one wins for sure; a colder one would make both infinite


@dataclass(frozen=True)
class GenerationConfig(Checked):
    """How the next token is chosen; temperature 0 is greedy: always the most likely one.

    Args:
        max_new_tokens: most tokens that are written
        temperature: logits are divided by it; 0 is greedy
        top_k: only the k most likely; 0 for all
        top_p: only the most likely that reach this probability together
        min_p: only those with at least this share of the highest probability
        repetition_penalty: divides the logits of tokens that occurred; 1 for none
        no_repeat_ngram_size: no n-gram of this size twice; 0 for none
        num_beams: 1 samples; more search
        length_penalty: exponent of the length in a beam's score
        seed: of the draws

    Raises:
        ArgumentError: for a setting outside its range

    Example:
        >>> from badak.generation import GenerationConfig
        >>> GenerationConfig(temperature=0).max_new_tokens
        300
    """

    max_new_tokens: int = option(300, "maximum number of new tokens", unit="tokens", at_least=0)
    temperature: float = option(0.8, "sampling temperature (0 = greedy)", at_least=0)
    top_k: int = option(40, "sample from the k most likely tokens (0 = all)", unit="tokens", at_least=0)
    top_p: float = option(1.0, "nucleus sampling: sample from the smallest set with this probability", above=0, at_most=1)
    min_p: float = option(0.0, "drop tokens below this fraction of the top token's probability", at_least=0, below=1)
    repetition_penalty: float = option(1.0, "penalty for tokens that were already used (1 = off)", at_least=1)
    no_repeat_ngram_size: int = option(0, "never repeat an n-gram of this size (0 = off)", unit="tokens", at_least=0)
    num_beams: int = option(1, "beam search with this many beams", at_least=1, at_most=1_000)
    length_penalty: float = option(1.0, "beam search: above 0 favors long texts, below 0 short ones", at_least=-10, at_most=10)
    seed: int = option(0, "random seed of sampling", at_least=0)


def forbid(logits: Tensor, suppress_tokens: Sequence[int]) -> Tensor:
    """Without these tokens: what stands for a padding or a mask is no text. ArgumentError where none would be left."""
    if not suppress_tokens:
        return logits
    if len(set(suppress_tokens)) >= logits.shape[-1]:
        raise ArgumentError(tr("generate: each of the {} tokens is forbidden", logits.shape[-1]), "a vocabulary with words")
    return logits.index_fill(-1, tensor(list(suppress_tokens)), float("-inf"))


def scale_temperature(logits: Tensor, temperature: float) -> Tensor:
    """logits / temperature: below 1 the likely become likelier, above 1 all become alike."""
    return logits / max(temperature, COLDEST)


def keep_top_k(logits: Tensor, k: int) -> Tensor:
    """Only the k largest logits of each row, exactly k: of equal ones those that `topk` lists first."""
    if k >= logits.shape[-1]:
        return logits
    values, indices = logits.topk(k, dim=-1)
    return full_like(logits, float("-inf")).scatter(-1, indices, values)


def keep_top_p(logits: Tensor, p: float) -> Tensor:
    """Only the smallest set of likely tokens whose probabilities reach p ("nucleus"); the most likely one always stays.

    Source: Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020.
    """
    values, indices = logits.sort(dim=-1, descending=True)
    mass = values.softmax(dim=-1)
    before = mass.cumsum(dim=-1) - mass  # probability of everything likelier: the first has 0
    values = values.masked_fill(before >= p, float("-inf"))
    return full_like(logits, float("-inf")).scatter(-1, indices, values)


def keep_min_p(logits: Tensor, p: float) -> Tensor:
    """Only the tokens that have at least p times the probability of the most likely one: few where the model is sure.

    Source: Nguyen et al., "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs", 2024.
    """
    chances = logits.softmax(dim=-1)
    return logits.masked_fill(chances < p * chances.amax(dim=-1, keepdim=True), float("-inf"))


def penalise_repetition(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """Logits of the tokens in `ids` (B, T) moved down: a positive one divided by `penalty`, a negative one times it.

    Source: Keskar et al., "CTRL", 2019.
    """
    seen = logits.gather(-1, ids)
    return logits.scatter(-1, ids, where(seen > 0, seen / penalty, seen * penalty))


def forbid_repeats(logits: Tensor, ids: Tensor, n: int) -> Tensor:
    """Without the tokens that would end a run of n tokens which stands in `ids` (B, T) already.

    Source: Paulus et al., "A Deep Reinforced Model for Abstractive Summarization", 2017, section 2.5.
    """
    if ids.shape[1] < n:
        return logits
    runs = ids.unfold(1, n, 1)  # (B, T - n + 1, n)
    again = (runs[..., :-1] == ids[:, None, ids.shape[1] - n + 1 :]).all(dim=-1)  # the run begins like the text ends
    banned = full_like(logits, 0).scatter_add(-1, runs[..., -1], again.to(logits.dtype)) > 0
    return logits.masked_fill(banned, float("-inf"))


FILTERS = {  # in their order: name: (whether `config` asks for it, the logits after it)
    "repetition_penalty": (
        lambda config: config.repetition_penalty > 1,
        lambda logits, ids, config: penalise_repetition(logits, ids, config.repetition_penalty),
    ),
    "no_repeat_ngram_size": (
        lambda config: config.no_repeat_ngram_size > 0,
        lambda logits, ids, config: forbid_repeats(logits, ids, config.no_repeat_ngram_size),
    ),
    "temperature": (
        lambda config: config.temperature > 0,
        lambda logits, ids, config: scale_temperature(logits, config.temperature),
    ),
    "top_k": (lambda config: config.top_k > 0, lambda logits, ids, config: keep_top_k(logits, config.top_k)),
    "top_p": (lambda config: config.top_p < 1, lambda logits, ids, config: keep_top_p(logits, config.top_p)),
    "min_p": (lambda config: config.min_p > 0, lambda logits, ids, config: keep_min_p(logits, config.min_p)),
}


def filter_logits(logits: Tensor, ids: Tensor, config: GenerationConfig) -> Tensor:
    """All filters that `config` asks for, in their order: repetition, runs, temperature, top-k, top-p, min-p."""
    if logits.dim() != 2 or ids.dim() != 2 or len(logits) != len(ids) or not logits.is_floating_point():
        got = tr("{} {} and {}", logits.dtype, tuple(logits.shape), tuple(ids.shape))
        raise ShapeError(tr("filter_logits: expected logits (B, V) of floats and ids (B, T); got {}", got), "logits[:, -1], ids")
    for asked, filtered in FILTERS.values():
        if asked(config):
            logits = filtered(logits, ids, config)
    return logits
