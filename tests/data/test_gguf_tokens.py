"""Tokenizers of GGUF files cut texts as the libraries do that they come from."""

import io

import numpy as np
import pytest
import sentencepiece

from badak.core.errors import ArgumentError, FileError
from badak.data.gguf_tokens import BYTE, CONTROL, GGML, NORMAL, UNKNOWN, marks_of, tokenizer_facts, tokenizer_of
from badak.data.tokenizer import Tokenizer

TEXTS = [
    "to be or not to be, that is the question. 바닥부터 배우는 Transformer! don't 12345\n\n  x = f(y)\n",
    "Whether 'tis nobler in the mind to suffer the slings and arrows",
    "of outrageous fortune, or to take arms against a sea of troubles 한국어 텍스트",
]
NEW = ["new words: zebra 漢字 🎈", "x", "", " two  spaces "]


@pytest.fixture(scope="module")
def bpe():
    return Tokenizer.train_bpe(TEXTS * 9, 400, special=("<|endoftext|>", "<|im_start|>"))


@pytest.fixture(scope="module")
def pieces():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS * 50), model_writer=model, vocab_size=420, model_type="bpe", byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, minloglevel=9,
    )  # fmt: skip
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def test_byte_level_pieces_there_and_back(bpe):
    facts = tokenizer_facts(bpe, 410, "{{ template }}")
    found = tokenizer_of(facts, "file")
    assert len(found) == 410 and found.special == bpe.special and found.eos == bpe.eos
    assert facts["tokenizer.chat_template"] == "{{ template }}"
    for text in TEXTS + NEW:
        assert found.encode(text).tolist() == bpe.encode(text).tolist() and found.decode(found.encode(text)) == text


def test_pieces_of_sentencepiece(pieces):
    count = pieces.vocab_size()
    kinds = [
        UNKNOWN if pieces.is_unknown(i) else CONTROL if pieces.is_control(i) else BYTE if pieces.is_byte(i) else NORMAL
        for i in range(count)
    ]
    facts = {f"{GGML}model": "llama", f"{GGML}tokens": [pieces.id_to_piece(i) for i in range(count)], f"{GGML}token_type": kinds,
             f"{GGML}scores": np.array([pieces.get_score(i) for i in range(count)], np.float32), f"{GGML}bos_token_id": 1,
             f"{GGML}eos_token_id": 2}  # fmt: skip
    found = tokenizer_of(facts, "file")
    for text in TEXTS + NEW[:2]:
        assert found.encode(text).tolist() == pieces.encode(text) and found.decode(pieces.encode(text)) == text
    about, ends = marks_of(facts, found)
    assert about == {"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True, "add_eos_token": False} and ends == (2,)


@pytest.mark.parametrize("name", ["qwen2", "llama-bpe"])
def test_patterns_cut_numbers_as_their_models_do(bpe, name):
    facts = tokenizer_facts(bpe, len(bpe)) | {f"{GGML}pre": name}
    found = tokenizer_of(facts, "file")
    cut = found.library.pre_tokenizer.pre_tokenize_str("a 12345")
    assert [part for part, _ in cut] == (["a", "Ġ", *"12345"] if name == "qwen2" else ["a", "Ġ", "123", "45"])
    assert tokenizer_facts(found, len(found))[f"{GGML}pre"] == name


def test_what_a_file_does_not_say(bpe):
    facts = tokenizer_facts(bpe, len(bpe))
    for changes, why in (
        ({"model": "t5"}, "its tokenizer is 't5'; badak reads gpt2 and llama"),
        ({"tokens": None}, "there is no tokenizer.ggml.tokens"),
        ({"tokens": 5}, "there is no tokenizer.ggml.tokens"),
        ({"tokens": []}, "0 tokens and 400 kinds"),
        ({"token_type": [1]}, "400 tokens and 1 kind"),
        ({"tokens": ["a"] * 400}, "the token 'a' is there twice"),
        ({"pre": "odd"}, "it cuts texts as 'odd'; badak knows gpt-2, qwen2, llama-bpe"),
        ({"merges": ["a"]}, "joins 'a', and not all"),
        ({"merges": ["a zzzz"]}, "joins 'a zzzz', and not all"),
        ({"model": "llama"}, "there is no tokenizer.ggml.scores"),
    ):
        with pytest.raises(FileError, match=f"file: .*{why}") as caught:
            tokenizer_of(facts | {GGML + name: value for name, value in changes.items()}, "file")
        assert len(str(caught.value).splitlines()) == 2
    with pytest.raises(ArgumentError, match="GGUF: no words for this tokenizer"):
        tokenizer_facts(Tokenizer.train_wordpiece(TEXTS, 60), 60)
