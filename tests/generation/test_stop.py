"""Texts that end an answer: transformers' `stop_strings` stop at the same place; theirs keep the string, ours end before it."""

import pytest
import torch
import transformers

import badak
from badak import models
from badak.data.tokenizer import Tokenizer
from badak.generation import GenerationConfig
from badak.generation.text import generate_text

pytestmark = pytest.mark.slow

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
TEXTS = ["ab ba abba cab", "바닥까지 내려가자", "one. two. three!"]


@pytest.mark.parametrize("seed", range(6))
def test_an_answer_ends_before_the_text_that_stops_transformers(seed, tmp_path):
    tokenizer = Tokenizer.train_bpe(TEXTS * 4, 300)
    badak.manual_seed(seed)
    model = models.GPT(models.GPTConfig(vocab_size=len(tokenizer), context=64, d_model=16, heads=2, layers=1)).eval()
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.6)
        for number in range(len(tokenizer)):  # a logit of 0, below the best of the others: bytes that are no characters
            if not tokenizer.decode([number]).isascii():
                model.token.weight[number] = 0.0
    model.save_pretrained(tmp_path)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer.library)
    config = GenerationConfig(max_new_tokens=40, temperature=0.0, top_k=0)
    whole = "".join(generate_text(model, tokenizer, "ab", config))[2:]
    readable = [i for i in range(1, len(whole) - 3) if "\ufffd" not in whole[i : i + 3]]
    assert readable
    for place in readable[:: max(1, len(readable) // 4)]:
        stop = whole[place : place + 3]  # often from the middle of one token to that of another
        made = "".join(generate_text(model, tokenizer, "ab", config, stop=[stop]))[2:]
        ids = torch.tensor(tokenizer.encode("ab"))[None]
        found = theirs.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=40, do_sample=False, stop_strings=[stop], tokenizer=fast,
            eos_token_id=-1, pad_token_id=0, suppress_tokens=list(tokenizer.special),
        )[0, ids.shape[1] :]  # fmt: skip
        text = tokenizer.decode(found.tolist())
        assert stop in text and made == text[: text.index(stop)]
        assert stop not in tokenizer.decode(found[:-1].tolist())  # it stops with the token that completes the string
