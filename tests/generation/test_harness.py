"""The three questions of lm-evaluation-harness, answered as transformers answers them; tests/world runs the harness itself."""

import sys

import pytest
import torch
import transformers
from tokenizers import Tokenizer as Tokens
from tokenizers import decoders, models, pre_tokenizers, trainers

from badak.core.errors import ArgumentError, NotSupportedError
from badak.generation.harness import Questions, run_tasks
from badak.training.load import load_generator

pytestmark = pytest.mark.slow  # the import of transformers takes two seconds

TEXT = ["the cat sat on the mat", "Anna gave the kite to Ben", "a small red drum by the lake", "Ben ran fast to the river"]


def written(folder, context=24):
    """A small GPT-2 with its tokenizer, as transformers writes them."""
    tokens = Tokens(models.BPE())
    tokens.pre_tokenizer, tokens.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    special = ["<|endoftext|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokens.train_from_iterator(TEXT, trainers.BpeTrainer(vocab_size=290, special_tokens=special, initial_alphabet=alphabet))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=tokens, bos_token=special[0], eos_token=special[0])
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=context, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(2.5)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model, tokenizer


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt2")
    torch.manual_seed(0)
    return (*written(folder), Questions(load_generator(folder), batch_size=3), folder)


def test_likelihoods_are_those_of_transformers_also_of_texts_that_are_cut(both):
    model, tokenizer, questions, _ = both
    pairs = [
        (tokenizer.encode(context), tokenizer.encode(rest))
        for context in (*TEXT, " ".join(TEXT), TEXT[0])
        for rest in (" and the cat", " drum", " drum and the small kite by the river")
    ]
    found = questions.likelihoods(pairs)
    for (context, rest), (total, likeliest) in zip(pairs, found, strict=True):
        ids = [*context, *rest][-25:]
        with torch.no_grad():
            scores = model(torch.tensor([ids[:-1]])).logits[0, -len(rest) :].log_softmax(-1)
        assert total == pytest.approx(scores.gather(1, torch.tensor(rest)[:, None]).sum().item(), abs=2e-4)
        assert likeliest == (scores.argmax(-1) == torch.tensor(rest)).all().item()


def test_what_is_written_is_what_transformers_writes_up_to_a_stop(both):
    model, tokenizer, questions, _ = both
    for prompt in TEXT[:2]:
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        made = model.generate(ids, max_new_tokens=8, do_sample=False, pad_token_id=0)[0, ids.shape[1] :]
        whole = tokenizer.decode(made, skip_special_tokens=True)
        assert questions.write(prompt, [], 8) == whole
        assert questions.write(prompt, [whole[2:3]], 8) == whole.split(whole[2:3])[0]
    assert len(questions.write(" ".join(TEXT), ["\n"], 6)) > 0  # the beginning does not fit, and is cut off
    with pytest.raises(ArgumentError, match="24 new tokens, and the model reads 24"):
        questions.write("the", [], 24)


def test_an_empty_context_is_the_token_that_begins_a_text(both):
    assert both[2].before == 0 and both[2].tokens("") == []


def test_a_folder_of_tasks_must_be_there(both, tmp_path):
    with pytest.raises(ArgumentError, match="no folder\nfix: a folder with YAML files of tasks"):
        run_tasks(load_generator(both[3]), ["mine"], tmp_path / "absent")


def test_without_the_harness_it_says_how_to_get_it(both, monkeypatch):
    monkeypatch.setitem(sys.modules, "lm_eval", None)
    monkeypatch.setitem(sys.modules, "lm_eval.evaluator", None)
    with pytest.raises(NotSupportedError, match=r'the package lm_eval is not installed.*\nfix: pip install "badak\[eval\]"'):
        run_tasks(load_generator(both[3]), ["mine"])
