"""Beam search: several texts that are written at once, of which the best is kept."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

from badak.generation.logit_filters import GenerationConfig, filter_logits, forbid
from badak.generation.reader import Reader, answering, next_logits
from badak.generation.validation import Ends, ends_of, expect_prompt, expect_settings
from badak.nn import Module
from badak.tensor import Tensor, cat, stack, tensor


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
