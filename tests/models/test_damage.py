"""Folders of models and tokenizers with damage: each is refused with one line of cause and one of fix, without memory and time."""

import json
import shutil
import tracemalloc

import pytest

import badak
from badak import models
from badak.core.errors import BadakError
from badak.data.files import read_text
from badak.data.text import WordVocabulary
from badak.data.tokenizer import Tokenizer
from badak.data.tokens import TokenWindows, documents, write_tokens
from badak.generation import GenerationConfig, generate
from badak.training.build import start
from badak.training.presets import PRESETS, change

MODEL, INDEX = "model.safetensors", "model.safetensors.index.json"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder of a Llama in several files, with a tokenizer in each of its forms."""
    place = tmp_path_factory.mktemp("whole")
    config = models.LlamaConfig(vocab_size=300, d_model=8, heads=2, num_key_value_heads=1, layers=2, context=8, feedforward=12)
    models.Llama(config).save_pretrained(place / "one")
    models.Llama(config).save_pretrained(place / "shards", shard=3000)
    made = Tokenizer.train_bpe(["hello there, hello"] * 4, 300, special=("<|endoftext|>",))
    table = made.to_dict()["model"]
    (place / "bpe").mkdir()
    (place / "bpe" / "vocab.json").write_text(json.dumps(table["vocab"]), encoding="utf-8")
    pairs = "\n".join(" ".join(pair) for pair in table["merges"])
    (place / "bpe" / "merges.txt").write_text(f"#version: 0.2\n{pairs}\n", encoding="utf-8")
    (place / "wordpiece").mkdir()
    (place / "wordpiece" / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##b\n")
    return place


@pytest.fixture
def place(whole, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(whole, tmp_path / "folder")


def header(place, change_, keep_size=True):
    """Rewrite the header of the safetensors file; the bytes behind it stay."""
    path = place / "one" / MODEL
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    said = change_(data[8 : 8 + length].decode())
    text = said if isinstance(said, bytes) else said.encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])


def entries(change_):
    """The same, of the table that the header is."""

    def run(text):
        table = json.loads(text)
        names = sorted((name for name in table if name != "__metadata__"), key=lambda name: table[name]["data_offsets"])
        change_(table, names)
        return json.dumps(table)

    return lambda place: header(place, run)


def move(table, name, by):
    table[name]["data_offsets"] = [at + by for at in table[name]["data_offsets"]]


def say(place, file, **values):
    said = json.loads((place / file).read_text())
    (place / file).write_text(json.dumps({**said, **values}))


def told(place):
    return json.loads((place / "shards" / INDEX).read_text())["weight_map"]


def point_elsewhere(place, name):
    said = json.loads((place / "shards" / INDEX).read_text())
    said["weight_map"] = dict.fromkeys(said["weight_map"], name)
    (place / "shards" / INDEX).write_text(json.dumps(said))


SAFETENSORS = {
    "tensors that overlap": (entries(lambda table, names: move(table, names[1], -8)), "tensors '.*' and '.*' overlap"),
    "a hole": (entries(lambda table, names: table.pop(names[1])), "bytes before tensor '.*' belong to no tensor"),
    "a hole at the end": (entries(lambda table, names: table.pop(names[-1])), "bytes at its end belong to no tensor"),
    "offsets beyond the end": (
        entries(lambda table, names: move(table, names[-1], 1 << 40)),
        "but there are .*: the file is cut short",
    ),
    "offsets that fall": (
        entries(lambda table, names: table[names[0]]["data_offsets"].reverse()),
        r"has data_offsets .* not \[start, stop\]",
    ),
    "a name twice": (
        lambda place: header(place, lambda text: text.replace("{", '{"x": {}, "x": {}, ', 1)),
        "the header names 'x' twice",
    ),
    "a shape that lies": (
        entries(lambda table, names: table[names[0]].update(shape=[1 << 62, 1 << 62])),
        "needs .* bytes, its data_offsets",
    ),
    "an unknown dtype": (
        entries(lambda table, names: table[names[0]].update(dtype="F4")),
        "has dtype 'F4'; badak reads BOOL",
    ),
    "a header of 100 MB": (
        lambda place: (place / "one" / MODEL).write_bytes((100_000_001).to_bytes(8, "little") + b"{}"),
        "announce a header of 100,000,001 bytes, but the limit is 100,000,000",
    ),
    "a header beyond the file": (
        lambda place: (place / "one" / MODEL).write_bytes((90_000_000).to_bytes(8, "little") + b"{}"),
        "announce a header of 90,000,000 bytes, but only 2 bytes follow",
    ),
    "no JSON": (lambda place: header(place, lambda text: text[:-9]), "the header is not JSON"),
    "no UTF-8": (lambda place: header(place, lambda text: b"\xff" + text.encode()), "the header is not JSON"),
    "nothing": (lambda place: (place / "one" / MODEL).write_bytes(b""), "it has 0 bytes, fewer than the 8"),
    "sizes that lie": (lambda place: say(place / "one", "config.json", hidden_size=16), "where config.json asks for"),
    "sizes of terabytes": (
        lambda place: say(place / "one", "config.json", vocab_size=10**12, intermediate_size=10**12),
        "config.json: vocab_size is 1,000,000,000,000, and no tensor is wider than 300",
    ),
    "a million layers": (
        lambda place: say(place / "one", "config.json", num_hidden_layers=10**6),
        r"config.json: 1,000,000 layers, and \d+ tensors are there",
    ),
    "sizes below 1": (
        lambda place: say(place / "one", "config.json", num_hidden_layers=0),
        "config.json: .*layers >= 1",
    ),
    "heads that do not divide": (
        lambda place: say(place / "one", "config.json", num_attention_heads=3, head_dim=None),
        "config.json: .*d_model=8 is not divisible by heads=3",
    ),
    "a config that is a list": (
        lambda place: (place / "one" / "config.json").write_text("[]"),
        "config.json: expected a table",
    ),
}
SHARDS = {
    "a missing shard": (
        lambda place: (place / "shards" / min(told(place).values())).unlink(),
        "is missing, and model.safetensors.index",
    ),
    "a shard outside": (
        lambda place: point_elsewhere(place, f"../one/{MODEL}"),
        "names '../one/model.safetensors', which is no file of",
    ),
    "an absolute shard": (
        lambda place: point_elsewhere(place, "/etc/passwd"),
        "names '/etc/passwd', which is no file of this folder",
    ),
    "one shard of several": (
        lambda place: point_elsewhere(place, min(told(place).values())),
        "tensors are (missing|there)",
    ),
    "an index of numbers": (
        lambda place: point_elsewhere(place, 3),
        "expected weight_map, a table of tensors and files",
    ),
    "an index that is cut": (
        lambda place: (place / "shards" / INDEX).write_text((place / "shards" / INDEX).read_text()[:-20]),
        "index.json: not JSON: line ",
    ),
}
TOKENIZERS = {
    "merges that are cut": (
        "bpe",
        lambda place: (place / "merges.txt").write_text("#version: 0.2\nh e\nl"),
        "merges.txt: expected two pieces in a line; got 'l'",
    ),
    "merges of other pieces": (
        "bpe",
        lambda place: (place / "merges.txt").write_text("쀍 쀎\n"),
        "no tokenizer that the library",
    ),
    "no merges": ("bpe", lambda place: (place / "merges.txt").unlink(), "merges.txt: no such file"),
    "merges that are no text": (
        "bpe",
        lambda place: (place / "merges.txt").write_bytes(b"a b\n\xff c\n"),
        "not UTF-8 text: byte 4 is 0xff",
    ),
    "numbers with a hole": (
        "bpe",
        lambda place: (place / "vocab.json").write_text('{"a": 0, "b": 7}') and (place / "merges.txt").write_text(""),
        "2 tokens are numbered up to 7",
    ),
    "numbers that are words": (
        "bpe",
        lambda place: (place / "vocab.json").write_text('{"a": "x"}'),
        "a token embedding and numbers",
    ),
    "a vocabulary of GPT-2 in BERT's file": (
        "wordpiece",
        lambda place: (place / "vocab.txt").write_text("Ġhello\nĠthere\n"),
        r"vocab.txt: has no \[UNK\]",
    ),
    "a piece twice": (
        "wordpiece",
        lambda place: (place / "vocab.txt").write_text("[UNK]\na\na\n"),
        "vocab.txt: names a token twice",
    ),
    "an empty vocabulary": (
        "wordpiece",
        lambda place: (place / "vocab.txt").write_text(""),
        r"vocab.txt: has no \[UNK\]",
    ),
    "a vocabulary that is no text": (
        "wordpiece",
        lambda place: (place / "vocab.txt").write_bytes(b"[UNK]\n\xc3("),
        "byte 6 is 0xc3",
    ),
}


def refused(read, text):
    with pytest.raises(BadakError, match=text) as caught:
        read()
    lines = str(caught.value).splitlines()
    assert len(lines) == 2 and lines[1].startswith("fix: ") and max(map(len, lines)) < 900


@pytest.mark.parametrize("fault", SAFETENSORS)
def test_a_damaged_file_of_tensors_is_refused_and_takes_no_memory(fault, place):
    spoil, text = SAFETENSORS[fault]
    spoil(place)
    tracemalloc.start()
    refused(lambda: models.from_pretrained(place / "one"), text)
    assert tracemalloc.get_traced_memory()[1] < 100e6
    tracemalloc.stop()


@pytest.mark.parametrize("fault", SHARDS)
def test_damaged_shards_are_refused(fault, place):
    spoil, text = SHARDS[fault]
    models.from_pretrained(place / "shards")
    spoil(place)
    refused(lambda: models.from_pretrained(place / "shards"), text)


@pytest.mark.parametrize("fault", TOKENIZERS)
def test_damaged_tokenizers_are_refused(fault, place):
    folder, spoil, text = TOKENIZERS[fault]
    Tokenizer.load(place / folder)
    spoil(place / folder)
    refused(lambda: Tokenizer.load(place / folder), text)


TEXTS = {
    "broken UTF-8": ("좋다\n".encode() + b"\xec\xa2", "not UTF-8 text: byte 7 is 0xec"),
    "a byte that begins nothing": (b"ok\n\x80", "not UTF-8 text: byte 3 is 0x80"),
    "Latin letters": ("naïve".encode("latin-1"), "not UTF-8 text: byte 2 is 0xef"),
    "UTF-16": ("text".encode("utf-16"), "not UTF-8 text: UTF-16"),
    "half a gzip file": (b"\x1f\x8b\x08\x00\x00\x00", "a damaged gzip file"),
}


@pytest.mark.parametrize("fault", TEXTS)
def test_a_text_that_is_none_names_the_place(fault, place):
    data, text = TEXTS[fault]
    (place / "t.txt").write_bytes(data)
    tokenizer = Tokenizer.load(place / "bpe")
    refused(lambda: read_text(place / "t.txt"), f"t.txt: {text}")
    refused(lambda: write_tokens(place / "tokens", documents([place / "t.txt"]), tokenizer), f"t.txt: {text}")


@pytest.mark.parametrize("text", ["", "\n\n\n", " \n\t\n"], ids=["nothing", "empty lines", "white space"])
@pytest.mark.parametrize("tokens", ["characters", "words", "pieces"])
def test_an_empty_text_is_refused_before_anything_is_learned(text, tokens, tmp_path):
    (tmp_path / "t.txt").write_text(text)
    setup = change(next(iter(PRESETS["gpt"].values())), "data", {"path": str(tmp_path / "t.txt"), "tokens": tokens})
    with pytest.raises(BadakError) as caught:
        start(tmp_path / "run", setup)
    assert len(str(caught.value).splitlines()) == 2 and not (tmp_path / "run").exists()


def test_a_text_beyond_the_context_is_refused_or_its_end_is_read(whole):
    model = models.from_pretrained(whole / "one")
    ids = badak.arange(20)[None]
    refused(lambda: model(ids), "Llama: length 20 > context 8\nfix: give the last 8 tokens")
    config = GenerationConfig(max_new_tokens=3, temperature=0.0)
    assert generate(model, ids, config)[:, 20:].tolist() == generate(model, ids[:, -8:], config)[:, 8:].tolist()
    refused(lambda: TokenWindows(ids[0].numpy(), 20), "TokenWindows: 20 tokens, a window needs 21")
    bert = models.BERT(models.BERTConfig(context=8))
    refused(lambda: bert(ids), "BERT: length 20 > context 8\nfix: shorten the sentence")


def test_words_of_another_vocabulary_are_unknown_or_refused(whole):
    model = models.from_pretrained(whole / "one")
    refused(lambda: generate(model, badak.tensor([[300]]), GenerationConfig(max_new_tokens=1)), "300")
    words = WordVocabulary.from_texts(["one"])
    assert words.encode("one two").tolist() == [5, words.unk]
