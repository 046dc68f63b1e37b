"""Any model, any prompts: each text of a batch is the one that its prompt gives alone; beams and filters are transformers'."""

import numpy as np
import pytest
import torch
import transformers

import badak
from badak import models, nn
from badak.core.errors import ArgumentError
from badak.generation import GenerationConfig, beam_search, generate
from badak.generation.logit_filters import FILTERS, filter_logits, forbid_repeats, keep_min_p
from tests.models.test_pretrained import ids_for, theirs

pytestmark = pytest.mark.slow
GREEDY = GenerationConfig(max_new_tokens=7, temperature=0.0, top_k=0)
V = 61


@pytest.fixture(scope="module", params=["gpt2", "llama", "qwen3"])
def pair(request, tmp_path_factory):
    """(theirs, ours) of the same weights, with a context of 24 tokens."""
    place = tmp_path_factory.mktemp("pair")
    model = theirs(request.param)
    model.save_pretrained(place)
    return model, models.from_pretrained(place)


class Anything(nn.Module):
    """A model that knows nothing of configs, caches and contexts."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(ids)


def prompts():
    return [[5, 9, 2], [7], [1, 2, 3, 4, 5, 6, 8, 9], [9, 9, 9, 9]]


FILTERED = GenerationConfig(max_new_tokens=7, temperature=0.0, top_k=0, repetition_penalty=1.5, no_repeat_ngram_size=2)


@pytest.mark.parametrize("config", [GREEDY, FILTERED])
def test_prompts_of_different_lengths_give_the_texts_that_each_gives_alone(pair, config):
    _, ours = pair
    together = generate(ours, prompts(), config)
    for text, prompt in zip(together, prompts()):
        assert text.tolist() == generate(ours, badak.tensor([prompt]), config)[0].tolist()
    again = generate(Anything(ours), prompts(), config)
    assert [text.tolist() for text in again] == [text.tolist() for text in together]


def test_they_also_do_beyond_the_context():
    badak.manual_seed(0)
    model = models.GPT(models.GPTConfig(vocab_size=V, context=9, d_model=16, layers=2))
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    config = GenerationConfig(max_new_tokens=20, temperature=0.0, top_k=0)
    for text, prompt in zip(generate(model, prompts(), config), prompts()):
        assert text[:9].tolist() == generate(model, badak.tensor([prompt]), config)[0, :9].tolist()


def test_each_text_of_a_list_ends_with_its_own_end(pair):
    _, ours = pair
    alone = [generate(ours, badak.tensor([prompt]), GREEDY)[0].tolist() for prompt in prompts()]
    end = alone[0][4]  # what the first one writes second
    for text, prompt, whole in zip(generate(ours, prompts(), GREEDY, eos=end), prompts(), alone):
        new = whole[len(prompt) :]
        assert text.tolist() == prompt + (new[: new.index(end) + 1] if end in new else new)
    same = [prompts()[0], [8, 8, 8]]
    assert [len(text) <= 10 for text in generate(ours, same, GREEDY, eos=end)] == [True, True]
    assert generate(ours, [], GREEDY) == []


@badak.no_grad()
def test_what_stands_before_a_text_changes_nothing(pair):
    _, ours = pair
    ids = badak.from_numpy(ids_for("llama").numpy())[:, :12]
    starts = badak.tensor([0, 3, 11])
    made = ours(ids, starts=starts)
    other = ids.clone()
    for row, start in enumerate(starts.tolist()):
        other[row, :start] = 1
        alone = ours(ids[row : row + 1, start:])[0]
        np.testing.assert_allclose(made[row, start:].numpy(), alone.numpy(), rtol=0, atol=1e-4 * alone.abs().max().item())
        cache = nn.KeyValueCache(2, max_length=12)
        parts = badak.cat([ours(part, cache, starts) for part in ids.split([4, 1, 7], dim=1)], dim=1)
        np.testing.assert_allclose(parts[row, start:].numpy(), alone.numpy(), rtol=0, atol=1e-4 * alone.abs().max().item())
    assert all(badak.equal(ours(other, starts=starts)[row, start:], made[row, start:]) for row, start in enumerate(starts.tolist()))


@pytest.mark.parametrize("penalty", [1.0, 0.0, 2.0, -1.0])
@pytest.mark.parametrize("beams", [2, 4])
@pytest.mark.parametrize("end", [None, 7])
def test_beams_find_the_texts_of_transformers(pair, beams, penalty, end):
    model, ours = pair
    ids = ids_for("llama")[:, :5]
    ends = {"eos_token_id": -1 if end is None else end, "pad_token_id": 0 if end is None else end}
    with torch.no_grad():
        expected = model.generate(ids, num_beams=beams, length_penalty=penalty, max_new_tokens=8, do_sample=False, **ends)
    config = GenerationConfig(max_new_tokens=8, num_beams=beams, length_penalty=penalty)
    assert beam_search(ours, badak.from_numpy(ids.numpy()), config, end).tolist() == expected.tolist()
    assert generate(Anything(ours), badak.from_numpy(ids.numpy()), config, end).tolist() == expected.tolist()


def test_beams_filter_as_transformers_does(pair):
    model, ours = pair
    ids = ids_for("llama")[:, :5]
    with torch.no_grad():
        expected = model.generate(
            ids, num_beams=3, max_new_tokens=9, do_sample=False, no_repeat_ngram_size=2, repetition_penalty=1.3,
            eos_token_id=-1, pad_token_id=0,
        )  # fmt: skip
    config = GenerationConfig(max_new_tokens=9, num_beams=3, no_repeat_ngram_size=2, repetition_penalty=1.3)
    assert generate(ours, badak.from_numpy(ids.numpy()), config).tolist() == expected.tolist()


PROCESSORS = {
    "repetition_penalty": (1.7, lambda value: transformers.RepetitionPenaltyLogitsProcessor(value)),
    "no_repeat_ngram_size": (2, lambda value: transformers.NoRepeatNGramLogitsProcessor(value)),
    "temperature": (0.6, lambda value: transformers.TemperatureLogitsWarper(value)),
    "top_k": (5, lambda value: transformers.TopKLogitsWarper(value)),
    "top_p": (0.7, lambda value: transformers.TopPLogitsWarper(value)),
    "min_p": (0.2, lambda value: transformers.MinPLogitsWarper(value)),
}


@pytest.mark.parametrize("names", [*[(name,) for name in PROCESSORS], tuple(PROCESSORS)], ids="-".join)
def test_filters_are_those_of_transformers_on_the_same_logits(names):
    assert list(PROCESSORS) == list(FILTERS)
    rng = np.random.default_rng(0)
    logits, ids = rng.normal(0, 3, (6, 12)).astype(np.float32), rng.integers(0, 4, (6, 9))
    expected = torch.from_numpy(logits)
    for name in names:
        value, made = PROCESSORS[name]
        expected = made(value)(torch.from_numpy(ids), expected)
    off = {"temperature": 1.0, "top_k": 0}
    config = GenerationConfig(**{**off, **{name: PROCESSORS[name][0] for name in names}})
    np.testing.assert_allclose(
        filter_logits(badak.from_numpy(logits), badak.from_numpy(ids), config).numpy(), expected.numpy(), rtol=1e-6
    )


def test_a_run_shorter_than_asked_forbids_nothing():
    logits = badak.zeros(1, 4)
    assert badak.equal(forbid_repeats(logits, badak.tensor([[1, 1]]), 3), logits)
    assert forbid_repeats(logits, badak.tensor([[1, 2]]), 1).tolist() == [[0, -np.inf, -np.inf, 0]]
    assert keep_min_p(badak.tensor([[0.0, 5.0]]), 0.99).tolist() == [[-np.inf, 5.0]]


WRONG = {
    "one number": (
        lambda: generate(nn.Flatten(0), badak.tensor([[1, 2]]), GREEDY),
        r"generate: Flatten gave \(2,\) for ids \(1, 2\); expected logits \(B, T, V\)",
    ),
    "an empty prompt": (lambda: generate(nn.Embedding(9, 9), [[1], []], GREEDY), "expected prompts of one axis and at least one"),
    "a table": (lambda: generate(nn.Embedding(9, 9), [[[1]]], GREEDY), "expected prompts of one axis and at least one"),
    "no prompt": (
        lambda: beam_search(nn.Embedding(9, 9), badak.zeros(1, 0, dtype=badak.int64), GREEDY),
        "expected a prompt ids",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_model_and_no_prompt_is_refused(case):
    run, text = WRONG[case]
    with pytest.raises(ArgumentError, match=text) as caught:
        run()
    assert len(str(caught.value).splitlines()) == 2
