"""Tokenizers: the numbers of transformers for the same files, texts that come back as they went, and files that are none."""

import json

import numpy as np
import pytest
import transformers

from badak.core.errors import ArgumentError, ArgumentTypeError, FileError, IndexOutOfRangeError, NotSupportedError
from badak.data.files import read_text
from badak.data.tokenizer import Tokenizer
from tests.real_data import real_data

pytestmark = pytest.mark.slow  # the import of transformers takes two seconds

TEXTS = {
    "English": "It's 12:30, isn't it?  Yes -- \"quite\".\n\n\tEnd.  ",
    "Korean": "오늘은 날씨가 참 좋다. ㅋㅋㅋ 바닥부터 시작하자!\n",
    "emoji": "👩‍👩‍👧‍👦 🇰🇷 naïve é é 𝄞 \u200d x",
    "no letters": " \n \t\n  ...!?  ",
    "nothing": "",
}


@pytest.fixture(scope="module")
def gpt2():
    return Tokenizer.load(real_data("gpt2-bpe"))


@pytest.fixture(scope="module")
def bert():
    return Tokenizer.load(real_data("bert-uncased"))


@pytest.fixture(scope="module")
def small():
    return Tokenizer.train_bpe(list(TEXTS.values()) * 3, 320)


def long_texts():
    return [*TEXTS.values(), read_text(real_data("prose"))[:200_000], read_text(real_data("nsmc/ratings_test.txt.gz"))[:50_000]]


@pytest.mark.slow
def test_gpt2s_files_give_the_numbers_of_transformers(gpt2):
    place = real_data("gpt2-bpe")
    theirs = transformers.GPT2Tokenizer(str(place / "encoder.json"), str(place / "vocab.bpe"))
    assert len(gpt2) == 50_257 and gpt2.eos == gpt2.sos == 50_256 and gpt2.special == (50_256,) and gpt2.pad is None
    for text in long_texts():
        ids = gpt2.encode(text)
        assert ids.dtype == np.int64 and ids.tolist() == theirs(text)["input_ids"]
        assert gpt2.decode(ids) == text == "".join(gpt2.pieces(ids))
    assert gpt2.encode("a<|endoftext|>b").tolist() == [64, 50256, 65]
    assert gpt2.decode([64, 50256, 65], skip_special=True) == "ab"


@pytest.mark.slow
def test_berts_file_gives_the_numbers_of_transformers(bert):
    theirs = transformers.BertTokenizer(str(real_data("bert-uncased/vocab.txt")))
    assert (bert.pad, bert.unk, bert.sos, bert.eos, bert.mask) == (0, 100, 101, 102, 103)
    for text in long_texts():
        assert bert.encode(text, marks=True).tolist() == theirs(text)["input_ids"]
        assert bert.encode(text).tolist() == theirs(text, add_special_tokens=False)["input_ids"]
    assert bert.decode(bert.encode("Unaffable [MASK]s!", marks=True)) == "[CLS] unaffable [MASK] s! [SEP]"


def test_capital_letters_stay_where_the_pieces_have_them(tmp_path):
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\nA\na\nb\n")
    assert Tokenizer.load(tmp_path).encode("A a B").tolist() == [2, 3, 1]
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    assert Tokenizer.load(tmp_path).encode("A a B").tolist() == [3, 3, 4]


def test_a_file_that_pads_and_cuts_does_neither(small, tmp_path):
    made = Tokenizer.from_dict(small.to_dict()).library
    made.enable_padding(length=64)
    made.enable_truncation(5)
    (tmp_path / "tokenizer.json").write_text(made.to_str(), encoding="utf-8")
    padded = Tokenizer.load(tmp_path)
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    for text in TEXTS.values():
        assert padded.encode(text).tolist() == small.encode(text).tolist() == theirs(text)["input_ids"]
        assert padded.encode_all([text, "a"])[0].tolist() == small.encode(text).tolist()


@pytest.mark.parametrize("text", TEXTS)
def test_byte_level_pieces_lose_nothing(small, text):
    ids = small.encode(TEXTS[text])
    assert small.decode(ids) == TEXTS[text] == "".join(small.pieces(ids))
    assert [one.tolist() for one in small.encode_all([TEXTS[text]] * 2)] == [ids.tolist()] * 2


def test_pieces_come_when_their_characters_are_whole(small):
    ids = small.encode("가👩")
    given = list(small.pieces(ids[:-1]))
    assert "".join(given) == small.decode(ids[:-1]) and given[-1].endswith("\ufffd") and "\ufffd" not in "".join(given[:-1])


@pytest.mark.slow
def test_training_gives_as_many_tokens_as_asked_the_same_ones_each_time():
    text = [read_text(real_data("tinyshakespeare"))[:100_000]]
    first, second = (Tokenizer.train_bpe(text, 700) for _ in range(2))
    assert len(first) == 700 and first == second and first.eos == 0
    words, again = (Tokenizer.train_wordpiece(text, 500) for _ in range(2))
    assert words.to_bytes() == again.to_bytes()  # the library's own order is another one each time
    assert len(words) == 500 and (words.pad, words.unk, words.sos, words.eos, words.mask) == (0, 1, 2, 3, 4)
    assert words.decode(words.encode("First Citizen")) == "first citizen"
    marks = Tokenizer.train_bpe(text, 700, special=("<pad>", "<s>", "</s>"))
    assert (marks.pad, marks.sos, marks.eos) == (0, 1, 2) and marks.special == (0, 1, 2)


def test_a_tokenizer_comes_back_as_it_went(small, tmp_path):
    small.save(tmp_path)
    small.save(tmp_path / "named.json")
    for again in (Tokenizer.load(tmp_path), Tokenizer.load(tmp_path / "named.json"), Tokenizer.from_dict(small.to_dict())):
        assert again == small and again.tokens == small.tokens
    assert transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))("가 a")["input_ids"] == (
        small.encode("가 a").tolist()
    )


WRONG_FILES = {
    "nothing": ("tokenizer.json", "", "not JSON: line 1"),
    "another table": ("tokenizer.json", '{"a": 1}', "no tokenizer that the library tokenizers reads"),
    "a list": ("tokenizer.json", "[1]", "expected a table; got list"),
    "no model": ("tokenizer.json", '{"version": "1.0", "model": null}', "no tokenizer that the library tokenizers reads"),
    "holes": (
        "tokenizer.json",
        json.dumps({"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0, "b": 7}, "merges": []}}),
        "2 tokens are numbered up to 7",
    ),
    "numbers that are words": ("vocab.json", '{"a": "b"}', "expected a token embedding and numbers"),
    "merges of three": ("vocab.json", '{"a": 0}', "expected two pieces in a line; got 'a b c'"),
    "no [UNK]": ("vocab.txt", "a\nb\n", "has no \\[UNK\\]"),
    "twice": ("vocab.txt", "[UNK]\nb\nb\n", "names a token twice"),
    "another folder": ("readme.txt", "", "no tokenizer.json, no vocab.json with merges.txt and no vocab.txt"),
}


@pytest.mark.parametrize("fault", WRONG_FILES)
def test_a_file_that_is_none_is_refused_in_two_lines(fault, tmp_path):
    name, text, cause = WRONG_FILES[fault]
    (tmp_path / name).write_text(text)
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b c\n")
    with pytest.raises(FileError, match=cause) as caught:
        Tokenizer.load(tmp_path)
    assert len(str(caught.value).splitlines()) == 2


def test_what_is_no_text_and_no_token_is_refused(small):
    with pytest.raises(ArgumentTypeError, match="encode: expected a text; got int\nfix: "):
        small.encode(3)
    with pytest.raises(ArgumentError, match="character 1 is half of a surrogate pair, no text\nfix: "):
        small.encode("a\ud800")
    with pytest.raises(IndexOutOfRangeError, match=r"decode: token 999 is outside of this vocabulary of \d+ tokens"):
        small.decode([1, 999])
    with pytest.raises(ArgumentError, match="train_bpe: expected a size of 257 tokens or more; got 10\nfix: size=10000"):
        Tokenizer.train_bpe(["a"], 10)


def test_without_the_library_the_extra_is_named(monkeypatch, tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(NotSupportedError, match=r'the library tokenizers is not installed\nfix: pip install "badak\[text\]"'):
        Tokenizer.load(tmp_path)
