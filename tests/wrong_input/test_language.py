"""What models, their folders, generation and texts answer to what they cannot take: two lines, cause and fix."""

import numpy as np
import pytest

import badak
from badak import models, nn
from badak.core.errors import BadakError
from badak.data.files import read_text, text_files
from badak.data.pieces import PieceVocabulary
from badak.data.text import CharVocabulary, WordVocabulary
from badak.data.tokenizer import Tokenizer
from badak.data.tokens import TokenFile, TokenWindows, documents, write_tokens
from badak.generation import GenerationConfig, beam_search, fill_mask, filter_logits, generate, stream
from badak.generation.embed import TextEncoder, cosines, nearest
from badak.generation.explain import explain, loop_in
from badak.generation.text import generate_text
from badak.io import config, safetensors
from badak.training.run import Run

T = badak.tensor
TWO = GenerationConfig(max_new_tokens=2)
NO_PATH = "expected a path; got {}\nfix: a text such as 'data/file.txt', or a pathlib.Path"


class Wild(nn.Module):
    """A model whose weights have diverged."""

    def forward(self, ids):
        return badak.full((*ids.shape, 5), float("nan"))


@pytest.fixture(scope="module")
def gpt():
    return models.GPT(models.GPTConfig(vocab_size=9, d_model=8, heads=2, layers=1, context=8))


@pytest.fixture(scope="module")
def llama():
    return models.Llama(models.LlamaConfig(vocab_size=9, d_model=8, heads=2, num_key_value_heads=1, layers=1, context=8))


@pytest.fixture(scope="module")
def pieces():
    return Tokenizer.train_bpe(["a b"], 300)


def refused(run, text):
    with pytest.raises(BadakError) as caught:
        run()
    assert str(caught.value) == text


PATHS = {
    "from_pretrained": models.from_pretrained,
    "Tokenizer.load": Tokenizer.load,
    "TokenFile": TokenFile,
    "read_text": read_text,
    "TextEncoder.load": TextEncoder.load,
    "load_file": safetensors.load_file,
    "save_file": lambda path: safetensors.save_file({}, path),
    "read_json": config.read_json,
    "Run.open": Run.open,
    "Vocabulary.load": CharVocabulary.load,
    "text_files": lambda path: text_files([path]),
    "documents": lambda path: [list(one) for one in documents([path])],
}


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("wrong", [3, None, b"bytes", ["a"]], ids=str)
def test_what_is_no_path_is_refused_by_all_that_read_and_write(name, wrong):
    refused(lambda: PATHS[name](wrong), NO_PATH.format(type(wrong).__name__))


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("wrong", ["a\0b", "x" * 5000, "\ud800"], ids=["null", "long", "half a pair"])
def test_a_name_that_no_file_can_have_is_refused(name, wrong):
    with pytest.raises(BadakError, match=r"cannot be looked up \(.*\)\nfix: a path that this system can have$"):
        PATHS[name](wrong)


MODELS = {
    "a folder that is no path": (lambda gpt: gpt.save_pretrained(None), NO_PATH.format("NoneType")),
    "files of no byte": (
        lambda gpt: gpt.save_pretrained("never-made", shard=0),
        "save_pretrained: shard must be 1 or more bytes; got 0\nfix: shard=5000000000",
    ),
    "files of a text": (
        lambda gpt: gpt.save_pretrained("never-made", shard="5GB"),
        "save_pretrained: shard must be 1 or more bytes; got '5GB'\nfix: shard=5000000000",
    ),
    "integers as weights": (
        lambda gpt: models.from_pretrained("never-read", dtype=badak.int64),
        "from_pretrained: expected dtype as floats; got int64\nfix: badak.float32, badak.float16 or badak.bfloat16",
    ),
    "a word as dtype": (
        lambda gpt: gpt.save_pretrained("never-made", dtype="half"),
        "save_pretrained: expected dtype as floats; got 'half'\nfix: badak.float32, badak.float16 or badak.bfloat16",
    ),
    "starts of another batch": (
        lambda gpt: gpt(T([[1, 2]]), starts=T([0, 1])),
        "starts: expected (1,), a number for each text; got (2,)\nfix: badak.tensor([0, 3])",
    ),
    "starts that are floats": (
        lambda gpt: gpt(T([[1, 2]]), starts=T([0.5])),
        "starts: expected integers, int64; got badak.float32\nfix: starts.long()",
    ),
    "starts that are a number": (
        lambda gpt: gpt(T([[1, 2]]), starts=3),
        "starts: expected a Tensor (B,); got int\nfix: badak.tensor([0, 3])",
    ),
    "rows that are a number": (
        lambda gpt: nn.KeyValueCache(1, 4).take(3),
        "KeyValueCache.take: expected rows as int64 (B',); got int\nfix: badak.tensor([0, 0, 1])",
    ),
    "rows that are floats": (
        lambda gpt: nn.KeyValueCache(1, 4).take(T([0.0])),
        "KeyValueCache.take: expected rows as int64 (B',); got badak.float32 (1,)\nfix: badak.tensor([0, 0, 1])",
    ),
    "a module that the model lacks": (
        lambda gpt: badak.quantize(nn.Sequential(nn.Linear(4, 4)), "int8", skip_modules=("1",)),
        "quantize: skip_modules names '1', and badak.nn.containers.Sequential has no such module\nfix: skip_modules=('0',)",
    ),
    "a module that is a number": (
        lambda gpt: badak.quantize(nn.Sequential(nn.Linear(4, 4)), "int8", skip_modules=3),
        'quantize: expected skip_modules as paths of modules; got int\nfix: skip_modules=("head",)',
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_and_their_folders(name, gpt):
    run, text = MODELS[name]
    refused(lambda: run(gpt), text)


def test_llama_takes_the_same_starts(llama):
    refused(
        lambda: llama(T([[1, 2]]), starts=T([0, 1])),
        "starts: expected (1,), a number for each text; got (2,)\nfix: badak.tensor([0, 3])",
    )


@badak.no_grad()
def test_a_text_that_began_before_its_tokens_is_seen_whole(gpt, llama):
    ids = T([[1, 2, 3], [4, 5, 6]])
    for model in (gpt, llama):
        assert badak.allclose(model(ids, starts=T([-2, 0])), model(ids), atol=1e-6)


ASKED = {
    "a function as the model": (
        lambda gpt: generate(lambda ids: ids, T([[1]]), TWO),
        "generate: expected a model, an nn.Module; got function\nfix: a class of nn.Module with forward(ids)",
    ),
    "a table as settings": (
        lambda gpt: generate(gpt, T([[1]]), {"max_new_tokens": 3}),
        "generate: expected a GenerationConfig; got dict\nfix: GenerationConfig(max_new_tokens=100)",
    ),
    "settings of a stream": (
        lambda gpt: stream(gpt, T([[1]]), None),
        "generate: expected a GenerationConfig; got NoneType\nfix: GenerationConfig(max_new_tokens=100)",
    ),
    "an end that is a word": (
        lambda gpt: generate(gpt, T([[1]]), TWO, eos="x"),
        "generate: eos must be an integer of 0 or more; got 'x'\nfix: eos=1",
    ),
    "an end below 0": (
        lambda gpt: beam_search(gpt, T([[1]]), TWO, eos=-1),
        "generate: eos must be an integer of 0 or more; got -1\nfix: eos=1",
    ),
    "an end of another vocabulary": (
        lambda gpt: generate(gpt, T([[1]]), TWO, eos=9),
        "generate: eos=9 is outside of the model's 9 tokens\nfix: the tokenizer that the model was trained with",
    ),
    "a token that is never written": (
        lambda gpt: generate(gpt, T([[1]]), TWO, suppress_tokens=3),
        "generate: expected the tokens that are never written; got 3\nfix: suppress_tokens=[0]",
    ),
    "no prompt": (
        lambda gpt: generate(gpt, None, TWO),
        "generate: expected prompts of token numbers; got None\nfix: [[1, 2, 3], [4]]",
    ),
    "a text as a prompt": (
        lambda gpt: generate(gpt, "abc", TWO),
        "generate: expected prompts of token numbers; got 'abc'\nfix: [[1, 2, 3], [4]]",
    ),
    "texts as prompts": (
        lambda gpt: generate(gpt, ["abc"], TWO),
        "generate: expected prompts of token numbers; got str\nfix: tokenizer.encode(text)",
    ),
    "floats in a list": (
        lambda gpt: generate(gpt, [[1.5], [2, 3]], TWO),
        "generate: expected token numbers, which are whole; got badak.float64\nfix: ids.long()",
    ),
    "floats in a Tensor": (
        lambda gpt: generate(gpt, T([[1.5]]), TWO),
        "generate: expected token numbers, which are whole; got badak.float32\nfix: ids.long()",
    ),
    "truth values": (
        lambda gpt: generate(gpt, [[True]], TWO),
        "generate: expected token numbers, which are whole; got badak.bool\nfix: ids.long()",
    ),
    "an array": (
        lambda gpt: list(stream(gpt, np.ones((1, 1), np.int64), TWO)),
        "generate: expected a prompt ids (B, T) as a Tensor; got ndarray\nfix: badak.tensor([[1, 2]])",
    ),
    "weights that have diverged": (
        lambda gpt: generate(Wild(), T([[1]]), TWO),
        "generate: Wild gave logits whose largest is nan\nfix: weights of a training that has not diverged",
    ),
    "beams of such weights": (
        lambda gpt: generate(Wild(), T([[1]]), GenerationConfig(num_beams=2)),
        "generate: Wild gave logits whose largest is nan\nfix: weights of a training that has not diverged",
    ),
    "filters that leave nothing": (
        lambda gpt: generate(gpt, T([[*range(9)]]), GenerationConfig(no_repeat_ngram_size=1, temperature=0.0)),
        "generate: the filters leave none of the 9 tokens\nfix: a larger no_repeat_ngram_size, or fewer max_new_tokens",
    ),
    "explain a list": (
        lambda gpt: explain(gpt, [1], TWO),
        "generate: expected a prompt ids (B, T) as a Tensor; got list\nfix: badak.tensor([[1, 2]])",
    ),
    "explain two": (
        lambda gpt: explain(gpt, T([[1], [2]]), TWO),
        "explain: expected one prompt ids (1, T); got (2, 1)\n"
        "fix: one text alone is ids[None]; an empty text can start with a newline or the start mark",
    ),
    "fewer than none": (
        lambda gpt: explain(gpt, T([[1]]), TWO, top=-1),
        "explain: top must be an integer of 0 or more; got -1\nfix: top=1",
    ),
    "a loop in a number": (lambda gpt: loop_in(3), "loop_in: expected a list of tokens; got int\nfix: loop_in([7, 7, 7, 7])"),
    "a loop of one": (
        lambda gpt: loop_in([1, 2], least=1),
        "loop_in: least must be an integer of 2 or more; got 1\nfix: least=2",
    ),
    "a mask in a batch": (
        lambda gpt: fill_mask(gpt, T([[1]]), 1),
        "fill_mask: expected one sentence ids (T,) as a Tensor; got (1, 1)\nfix: ids[0] of a batch",
    ),
    "a stop that is no list": (
        lambda gpt: list(generate_text(gpt, CharVocabulary("\n abcdefg"), "a", TWO, stop="ab")),
        "generate: expected the texts that end an answer; got 'ab'\nfix: stop=['.']",
    ),
    "logits of another batch": (
        lambda gpt: filter_logits(badak.zeros(2, 9), T([[1]]), TWO),
        "filter_logits: expected logits (B, V) of floats and ids (B, T); got badak.float32 (2, 9) and (1, 1)\n"
        "fix: logits[:, -1], ids",
    ),
    "segments that are not read": (
        lambda gpt: models.BERT(models.BERTConfig())(T([[1]]), T([[0]])),
        "BERT: token_type_ids for a model that has no vectors for them\nfix: token_type_ids=None",
    ),
    "an encoder of numbers": (
        lambda gpt: TextEncoder(3, 4),
        "TextEncoder: expected a SentenceEncoder and a Tokenizer; got int and int\nfix: TextEncoder.load(folder)",
    ),
    "vectors of other widths": (
        lambda gpt: nearest(np.ones(3), np.ones((2, 4))),
        "cosines: vectors of 3 and of 4 numbers\nfix: both of one encoder",
    ),
    "a list of vectors": (
        lambda gpt: cosines([[1.0]], np.ones((2, 4))),
        "cosines: expected vectors as a NumPy array (N, C); got list\nfix: encoder.encode(texts)",
    ),
    "a batch as the query": (
        lambda gpt: nearest(np.ones((1, 4)), np.ones((2, 4))),
        "nearest: expected query (C,), one vector; got float64 (1, 4)\nfix: encoder.encode([text])[0]",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_generation_and_embedding(name, gpt):
    run, text = ASKED[name]
    refused(lambda: run(gpt), text)


DATA = {
    "a text to learn from": (
        lambda pieces, folder: Tokenizer.train_bpe("abc", 300),
        "train_bpe: expected a list of texts; got 'abc'\nfix: train_bpe(['a text'])",
    ),
    "a mark for each letter": (
        lambda pieces, folder: Tokenizer.train_bpe(["a"], 300, special="ab"),
        "train_bpe: expected marks; got 'ab'\nfix: special=['<end>']",
    ),
    "a text to encode one by one": (
        lambda pieces, folder: pieces.encode_all("abc"),
        "encode_all: expected a list of texts; got 'abc'\nfix: encode_all(['a text'])",
    ),
    "a word to decode": (
        lambda pieces, folder: pieces.decode(["x"]),
        "decode: expected token numbers; got 'x'\nfix: integers of one axis: [3, 1, 2]",
    ),
    "floats to decode": (
        lambda pieces, folder: CharVocabulary("ab").decode([0.5]),
        "decode: expected token numbers; got 0.5\nfix: integers of one axis: [3, 1, 2]",
    ),
    "a table to decode": (
        lambda pieces, folder: WordVocabulary.from_texts(["a"]).decode(np.ones((1, 2), np.int64)),
        "decode: expected token numbers; got [1, 1]\nfix: integers of one axis: [3, 1, 2]",
    ),
    "a number as text": (
        lambda pieces, folder: CharVocabulary("ab").encode(0),
        "encode: expected a text; got int\nfix: encode('a text')",
    ),
    "a text as texts": (
        lambda pieces, folder: WordVocabulary.from_texts("ab"),
        "from_texts: expected a list of texts; got 'ab'\nfix: from_texts(['a text'])",
    ),
    "a vocabulary of no tokens": (
        lambda pieces, folder: PieceVocabulary.from_text("ab ab", -1),
        "PieceVocabulary: vocab_size must be an integer of 1 or more; got -1\nfix: vocab_size=1",
    ),
    "no tokenizer": (
        lambda pieces, folder: write_tokens(folder, [["a"]], None),
        "write_tokens: expected a Tokenizer; got NoneType\nfix: Tokenizer.load('tokenizer.json')",
    ),
    "an end of another tokenizer": (
        lambda pieces, folder: write_tokens(folder, [["a"]], pieces, end=99_999),
        "write_tokens: end=99999 is outside of the 257 tokens\nfix: the number of a mark",
    ),
    "documents that are numbers": (
        lambda pieces, folder: write_tokens(folder, [3], pieces),
        "write_tokens: expected each document as a list of pieces; got 3\n"
        "fix: [['the first document'], ['the second']], or documents(files)",
    ),
    "documents in one piece": (
        lambda pieces, folder: write_tokens(folder, ["abc"], pieces),
        "write_tokens: expected each document as a list of pieces; got 'abc'\n"
        "fix: [['the first document'], ['the second']], or documents(files)",
    ),
    "windows of no token": (
        lambda pieces, folder: TokenWindows(np.arange(9), 0),
        "TokenWindows: context must be an integer of 1 or more; got 0\nfix: context=1",
    ),
    "windows of a word": (
        lambda pieces, folder: TokenWindows(np.arange(9), "x"),
        "TokenWindows: context must be an integer of 1 or more; got 'x'\nfix: context=1",
    ),
    "windows of a list": (
        lambda pieces, folder: TokenWindows([1, 2, 3], 1),
        "TokenWindows: expected ids as a NumPy array (N,) of integers; got list\nfix: numpy.array([3, 1, 2])",
    ),
    "windows of floats": (
        lambda pieces, folder: TokenWindows(np.ones(3), 1),
        "TokenWindows: expected ids as a NumPy array (N,) of integers; got float64 (3,)\nfix: numpy.array([3, 1, 2])",
    ),
    "a window that is not there": (
        lambda pieces, folder: TokenWindows(np.arange(9), 4)[5],
        "TokenWindows: window 5 of 5\nfix: a number in 0..4",
    ),
    "windows that are not there": (
        lambda pieces, folder: TokenWindows(np.arange(9), 4).gather([-1, 2]),
        "TokenWindows: windows -1..2 of 5\nfix: numbers in 0..4",
    ),
    "a path where paths belong": (
        lambda pieces, folder: text_files("abc"),
        "text_files: expected a list of paths; got 'abc'\nfix: text_files(['books'])",
    ),
    "a file where files belong": (
        lambda pieces, folder: list(documents("abc")),
        "documents: expected a list of files; got 'abc'\nfix: documents(['books/one.txt'])",
    ),
}


@pytest.mark.parametrize("name", DATA)
def test_texts_and_tokens(name, pieces, tmp_path):
    run, text = DATA[name]
    refused(lambda: run(pieces, tmp_path), text)


def test_the_last_window_is_also_number_minus_one():
    windows = TokenWindows(np.arange(9), 4)
    assert windows[-1][0].tolist() == [4, 5, 6, 7] == windows[4][0].tolist()
    assert len(list(windows)) == 5
