"""Random small models, prompts and settings: cache, padding and compiled steps change no token; texts are those of transformers."""

import random

import numpy as np
import pytest
import torch
import transformers

import badak
from badak import models, nn
from badak.generation import GenerationConfig, generate
from tests.generation.test_sampling import Uncached

pytestmark = pytest.mark.slow  # the import of transformers takes two seconds

V = 23


class Compiled(nn.Module):
    """The same model through badak.compile, with its cache."""

    takes_cache = takes_starts = True

    def __init__(self, model):
        super().__init__()
        self.config, self.model, self.run = model.config, model, badak.compile(model)

    def forward(self, ids, **more):
        return self.run(ids, **more)


def drawn_model(draw):
    """A GPT or Llama of any small sizes, whose attention matters."""
    badak.manual_seed(draw.randrange(1000))
    heads = draw.choice([1, 2, 4])
    sizes = {"vocab_size": V, "context": draw.randint(3, 14), "d_model": heads * draw.choice([4, 8]), "heads": heads,
             "layers": draw.randint(1, 3)}  # fmt: skip
    if draw.random() < 0.5:
        model = models.GPT(models.GPTConfig(**sizes))
    else:
        keys = draw.choice([g for g in (1, 2, 4) if heads % g == 0])
        options = {
            "num_key_value_heads": keys,
            "tied": draw.random() < 0.5,
            "qkv_bias": draw.random() < 0.5,
            "qk_norm": draw.random() < 0.5,
        }
        model = models.Llama(models.LlamaConfig(**sizes, feedforward=draw.choice([8, 20]), **options))
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5)
    return model


def drawn_config(draw, num_beams=1):
    filters = {
        "top_k": draw.choice([0, 5]), "repetition_penalty": draw.choice([1.0, 1.4]), "no_repeat_ngram_size": draw.choice([0, 2]),
        "temperature": draw.choice([0.0, 0.9]), "top_p": draw.choice([1.0, 0.8]), "min_p": draw.choice([0.0, 0.05]),
    }  # fmt: skip
    return GenerationConfig(max_new_tokens=draw.randint(1, 12), num_beams=num_beams, seed=draw.randrange(99),
                        length_penalty=draw.choice([0.0, 1.0, 2.0, -1.0]), **filters)  # fmt: skip


def written(model, prompts, config, eos):
    return [one.tolist() for one in generate(model, prompts, config, eos)]


@pytest.mark.parametrize("seed", range(8))
def test_a_cache_and_compiled_steps_change_no_token(seed):
    draw = random.Random(seed)
    model, eos = drawn_model(draw), draw.choice([None, 3])
    prompts = [[draw.randrange(V) for _ in range(T)] for T in [draw.randint(1, 16)] * draw.randint(1, 3)]
    config = drawn_config(draw, draw.choice([1, 1, 3]))
    plain = written(Uncached(model), prompts, config, eos)
    assert written(model, prompts, config, eos) == plain
    if seed % 3 == 0:
        assert written(Compiled(model), prompts, config, eos) == plain


@pytest.mark.parametrize("seed", range(8))
def test_padding_changes_no_token_of_a_text_within_the_context(seed):
    draw = random.Random(100 + seed)
    model, eos = drawn_model(draw), draw.choice([None, 3])
    context = model.config.context
    prompts = [[draw.randrange(V) for _ in range(draw.randint(1, context))] for _ in range(draw.randint(2, 4))]
    config = GenerationConfig(**{**vars(drawn_config(draw)), "temperature": 0.0, "max_new_tokens": draw.randint(1, 8)})
    for text, prompt in zip(written(model, prompts, config, eos), prompts):
        alone = written(Uncached(model), [prompt], config, eos)[0]
        assert text[:context] == alone[:context] and len(text) == len(alone)


@pytest.mark.parametrize("seed", range(8))
def test_texts_are_those_of_transformers(seed, tmp_path):
    draw = random.Random(200 + seed)
    model = drawn_model(draw)
    room = model.config.context
    model.save_pretrained(tmp_path)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    ids = np.array([[draw.randrange(4, V) for _ in range(draw.randint(1, room - 1))]])
    beams, end = draw.choice([1, 2, 4]), draw.choice([None, 3])
    config = GenerationConfig(**{**vars(drawn_config(draw, beams)), "temperature": 0.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0,
                             "max_new_tokens": room - ids.shape[1]})  # fmt: skip
    options = {"eos_token_id": -1 if end is None else end, "pad_token_id": 0 if end is None else end}
    with torch.no_grad():
        expected = theirs.generate(
            torch.from_numpy(ids), attention_mask=torch.ones_like(torch.from_numpy(ids)), num_beams=beams, do_sample=False,
            max_new_tokens=config.max_new_tokens, repetition_penalty=config.repetition_penalty,
            no_repeat_ngram_size=config.no_repeat_ngram_size, length_penalty=config.length_penalty, **options,
        )  # fmt: skip
    assert generate(model, badak.from_numpy(ids), config, end).tolist() == expected.tolist()
