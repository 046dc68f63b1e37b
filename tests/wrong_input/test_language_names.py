"""Every public name of badak.generation, models and data, called with wrong and with random input: two lines, or a result."""

import contextlib
import inspect
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import badak
from badak import data, models, nn
from badak import generation as G  # noqa: N812
from badak.data import files, mnist, pieces, text, tokenizer, tokens
from badak.generation import embed, explain, logit_filters, picture
from badak.generation import text as writing
from tests.wrong_input.spoil import WORDS, spoiled
from tests.wrong_input.test_wrong_input import answer

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

Call = tuple[Callable, list, dict[str, Any]]
T = badak.tensor
ALSO = (*WORDS, 3, -1, 0, 2.5, float("nan"), True, b"x", "a\0b", [[]], [[1], [2, 3]], ["x"], {"a": [1]}, (), np.ones((2, 2)),
        range(3), 10**30, [1.5], [None], np.array("x"), int, len, Path("."))  # fmt: skip


class Plain(nn.Module):
    def forward(self, ids):
        return badak.nn.functional.one_hot(ids % 9, 9).float()


def small(kind: str = "GPT", **more: Any) -> Any:
    sizes = {"vocab_size": 9, "d_model": 8, "heads": 2, "layers": 1, "context": 8, **more}
    config = getattr(models, {"BERT": "BERTConfig", "BERTEncoder": "BERTConfig", "SentenceEncoder": "SentenceConfig",
                              "BERTClassifier": "TextConfig"}.get(kind, f"{kind}Config"))  # fmt: skip
    return getattr(models, kind)(config(**sizes))


class Place:
    """Files that are right, in a folder of the test."""

    def __init__(self, folder: Path):
        self.folder = folder
        (folder / "a.txt").write_text("one two\nthree\n", encoding="utf-8")
        self.words = text.WordVocabulary.from_texts(["one two three", "two four"])
        self.characters = text.CharVocabulary("\n abc")
        self.bpe = tokenizer.Tokenizer.train_bpe(["one two three"] * 3, 270)
        self.wordpieces = tokenizer.Tokenizer.train_wordpiece(["one two three"] * 3, 60)
        small().save_pretrained(folder / "gpt")
        encoder = small("SentenceEncoder", vocab_size=len(self.wordpieces))
        encoder.save_pretrained(folder / "encoder")
        self.wordpieces.save(folder / "encoder")
        self.encoder = embed.TextEncoder(encoder, self.wordpieces)
        self.tokens = tokens.write_tokens(folder / "tokens", [["one two"], ["three"]], self.bpe)
        drawn = np.full((28, 28), 255, np.uint8)
        drawn[5:20, 10:14] = 0
        Image.fromarray(drawn).save(folder / "digit.png")
        self.digits = models.Classifier(models.ClassifierConfig(d_model=8, heads=2))


def everything(iterator: Any) -> list:
    return [everything(one) if isinstance(one, Iterator) else one for one in iterator]


def gone_through(function: Callable) -> Callable:
    """The function, and what it yields."""
    return lambda *args, **kwargs: everything(function(*args, **kwargs))


def loaded(*args: Any, **kwargs: Any) -> None:
    """A DataLoader, and a round of it."""
    list(data.DataLoader(*args, **kwargs))


def sampled(kind: Callable) -> Callable:
    def run(*args: Any, **kwargs: Any) -> None:
        order = kind(*args, **kwargs)
        iterator = iter(order)
        for _ in range(5):
            next(iterator, None)

    return run


def of_generation(place: Place) -> dict[str, Call]:
    model, ids, config = small(), T([[1, 2]]), logit_filters.GenerationConfig(max_new_tokens=3)
    ask = [model, ids, config, 3, (0,)]
    vectors = place.encoder.encode(["one", "two"])
    bert = small("BERT", vocab_size=len(place.words))
    written = small(vocab_size=len(place.characters))
    logits = badak.randn(2, 9)
    return {
        "generate": (G.generate, ask, {}),
        "generate of lists": (G.generate, [model, [[1], [2, 3]], config], {}),
        "stream": (gone_through(G.stream), [*ask, None], {}),
        "stream with starts": (gone_through(G.stream), [model, T([[1, 2], [1, 2]]), config, None, (), T([0, 1])], {}),
        "beam_search": (G.beam_search, [model, ids, logit_filters.GenerationConfig(max_new_tokens=3, num_beams=2), 3, (0,)], {}),
        "filter_logits": (
            G.filter_logits,
            [logits, T([[1], [2]]), logit_filters.GenerationConfig(no_repeat_ngram_size=1, top_p=0.5, min_p=0.1)],
            {},
        ),
        "GenerationConfig": (logit_filters.GenerationConfig, [3, 0.5, 2, 0.9, 0.1, 1.2, 2, 1, 1.0, 0], {}),
        "fill_mask": (G.fill_mask, [bert, T([1, 4, 2]), 4, 2, (0,)], {}),
        "explain": (gone_through(explain.explain), [*ask, 2], {}),
        "loop_in": (explain.loop_in, [[1, 2, 1, 2, 1, 2], 3, 4], {}),
        "TextEncoder": (embed.TextEncoder, [place.encoder.model, place.wordpieces, 8], {}),
        "TextEncoder.load": (embed.TextEncoder.load, [place.folder / "encoder"], {}),
        "TextEncoder.encode": (place.encoder.encode, [["one", "two"], 2], {}),
        "nearest": (embed.nearest, [vectors[0], vectors, 1], {}),
        "cosines": (embed.cosines, [vectors, vectors], {}),
        "passages": (embed.passages, ["a.txt", "one\n\ntwo"], {}),
        "generate_text": (gone_through(writing.generate_text), [written, place.characters, "ab", config, 0, ("c",), []], {}),
        "fill_sentence": (writing.fill_sentence, [bert, place.words, "one [MASK] three", 2], {}),
        "known": (writing.known, [place.words, "one two"], {}),
        "prompt_ids": (writing.prompt_ids, [place.characters, "ab"], {}),
        "until": (gone_through(writing.until), [["ab", "c"], ("c",)], {}),
        "warn_of_a_loop": (writing.warn_of_a_loop, [place.characters, [1] * 9], {}),
        "read_picture": (picture.read_picture, [place.folder / "digit.png"], {}),
        "rank_classes": (picture.rank_classes, [place.digits, picture.read_picture(place.folder / "digit.png")], {}),
    }


def of_models(place: Place) -> dict[str, Call]:
    found: dict[str, Call] = {
        "from_pretrained": (models.from_pretrained, [place.folder / "gpt", badak.bfloat16], {}),
        "build_classifier": (models.build_classifier, [models.ClassifierConfig()], {}),
        "save_pretrained": (small().save_pretrained, [place.folder / "again", badak.float16, 1000], {}),
        "Classifier": (models.Classifier, [models.ClassifierConfig()], {}),
        "ClsClassifier": (models.ClsClassifier, [models.ClassifierConfig()], {}),
        "Classifier()": (place.digits, [badak.rand(2, 28, 28)], {}),
    }
    settings = "GPTConfig LlamaConfig BERTConfig TextConfig SentenceConfig ClassifierConfig RotaryScaling Seq2SeqConfig"
    for name in settings.split():
        kind = getattr(models, name)
        found[name] = (kind, [getattr(kind(), field) for field in inspect.signature(kind).parameters], {})
    for name in ("GPT", "Llama", "BERT", "BERTEncoder", "BERTClassifier", "SentenceEncoder"):
        model = small(name).eval()
        found[name] = (type(model), [model.config], {})
        more = {"cache": None, "starts": T([0, 1])} if name in ("GPT", "Llama") else {"token_type_ids": None}
        found[f"{name}()"] = (model, [T([[1, 2], [3, 4]])], more)
    translator = models.Seq2Seq(models.Seq2SeqConfig(vocab_size=9, context=8, d_model=8, heads=2, feedforward=8)).eval()
    found["Seq2Seq"] = (models.Seq2Seq, [translator.config], {})
    found["Seq2Seq()"] = (translator, [T([[3, 4, 2]]), T([[1, 5]])], {})
    return found


def of_texts(place: Place) -> dict[str, Call]:
    bpe, words, characters = place.bpe, place.words, place.characters
    parts = pieces.PieceVocabulary.from_text("ab ab", 5)
    found = {
        "train_bpe": (tokenizer.Tokenizer.train_bpe, [["one two"], 300, ("<end>",), 2, False], {}),
        "train_wordpiece": (tokenizer.Tokenizer.train_wordpiece, [["one two"], 60, True, 2, False], {}),
        "Tokenizer": (tokenizer.Tokenizer, [bpe.library], {}),
        "Tokenizer.load": (tokenizer.Tokenizer.load, [place.folder / "encoder"], {}),
        "Tokenizer.from_dict": (tokenizer.Tokenizer.from_dict, [bpe.to_dict(), "here"], {}),
        "Tokenizer.save": (bpe.save, [place.folder / "again.json"], {}),
        "Tokenizer.encode": (bpe.encode, ["one", True], {}),
        "Tokenizer.encode_all": (bpe.encode_all, [["one", "two"], True], {}),
        "Tokenizer.decode": (bpe.decode, [[1, 2], True], {}),
        "Tokenizer.pieces": (gone_through(bpe.pieces), [[1, 2], True], {}),
        "WordVocabulary.frame": (words.frame, ["one two", 5], {}),
        "WordVocabulary": (text.WordVocabulary, [words.tokens], {}),
        "WordVocabulary.from_texts": (text.WordVocabulary.from_texts, [["one", "two"]], {}),
        "CharVocabulary": (text.CharVocabulary, [["a", "b"]], {}),
        "CharVocabulary.from_text": (text.CharVocabulary.from_text, ["ab"], {}),
        "PieceVocabulary": (pieces.PieceVocabulary, [["a", "b", "ab"]], {}),
        "PieceVocabulary.from_text": (pieces.PieceVocabulary.from_text, ["ab ab", 4], {}),
        "Vocabulary": (text.Vocabulary, [["a", "b"]], {}),
        "Vocabulary.load": (text.CharVocabulary.load, [place.folder / "no"], {}),
        "Vocabulary.save": (characters.save, [place.folder / "characters.json"], {}),
        "Vocabulary.from_dict": (text.CharVocabulary.from_dict, [characters.to_dict()], {}),
        "python_topics": (text.python_topics, [], {}),
        "documents": (gone_through(tokens.documents), [[place.folder / "a.txt"], True], {}),
        "write_tokens": (tokens.write_tokens, [place.folder / "more", [["one"], ["two"]], bpe, 3], {}),
        "TokenFile": (tokens.TokenFile, [place.folder / "tokens"], {}),
        "TokenFile[]": (place.tokens.__getitem__, [1], {}),
        "TokenWindows": (tokens.TokenWindows, [np.arange(9), 3], {}),
        "TokenWindows[]": (tokens.TokenWindows(np.arange(9), 3).__getitem__, [1], {}),
        "TokenWindows.gather": (tokens.TokenWindows(np.arange(9), 3).gather, [[0, 1]], {}),
        "read_text": (files.read_text, [place.folder / "a.txt"], {}),
        "read_pieces": (gone_through(files.read_pieces), [place.folder / "a.txt"], {}),
        "text_files": (files.text_files, [[place.folder]], {}),
        "load_mnist": (mnist.load_mnist, [place.folder, "train"], {}),
        "cache_folder": (mnist.cache_folder, [], {}),
    }
    for name, one in {"Tokenizer": bpe, "words": words, "characters": characters, "pieces": parts}.items():
        found[f"{name}.decode"] = (one.decode, [[1, 2]], {})
        found[f"{name}.encode"] = (one.encode, ["a b"], {})
    return found


def of_data(place: Place) -> dict[str, Call]:
    rows = data.TensorDataset(badak.arange(6), badak.arange(6))
    order = data.SequentialSampler(rows)
    return {
        "TensorDataset": (data.TensorDataset, [badak.ones(3), badak.ones(3, 2)], {}),
        "StackDataset": (data.StackDataset, [rows, rows], {}),
        "ConcatDataset": (data.ConcatDataset, [[rows, rows]], {}),
        "ChainDataset": (data.ChainDataset, [[rows]], {}),
        "Subset": (lambda *args: data.Subset(*args)[0], [rows, [0, 1]], {}),
        "random_split": (data.random_split, [rows, [2, 4]], {}),
        "pad": (data.pad, [[[1, 2], [3]], 0, 2, True], {}),
        "padding_mask": (data.padding_mask, [T([[1, 0]]), 0], {}),
        "BucketBatchSampler": (sampled(data.BucketBatchSampler), [[3, 1, 2], 2, None, 1, False], {}),
        "BatchSampler": (sampled(data.BatchSampler), [order, 2, False], {}),
        "RandomSampler": (sampled(data.RandomSampler), [rows, True, 3], {}),
        "SequentialSampler": (sampled(data.SequentialSampler), [rows], {}),
        "SubsetRandomSampler": (sampled(data.SubsetRandomSampler), [[1, 2]], {}),
        "WeightedRandomSampler": (sampled(data.WeightedRandomSampler), [[0.5, 0.5], 2, True], {}),
        "DistributedSampler": (sampled(data.DistributedSampler), [rows, 2, 0, True, 0, False], {}),
        "DataLoader": (loaded, [rows, 2, False], {"drop_last": True}),
        "default_collate": (data.default_collate, [[badak.ones(2), badak.ones(2)]], {}),
        "default_convert": (data.default_convert, [np.ones(2)], {}),
        "get_worker_info": (data.get_worker_info, [], {}),
    }


ROOMS = {"generate": of_generation, "models": of_models, "texts": of_texts, "data": of_data}
ABSTRACT = {"Dataset", "IterableDataset", "Sampler", "WorkerInfo"}  # their subclasses are called


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some wrong names are right ones of files
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    badak.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield Place(tmp_path)


def wrong_calls(function: Callable, args: list, kwargs: dict[str, Any]) -> Iterator[tuple[str, list, dict[str, Any]]]:
    """The call with each argument spoiled, and with fewer and other ones."""
    for at, value in enumerate(args):
        for wrong in [*(each for _, each in spoiled(value)), *ALSO]:
            yield f"argument {at} = {wrong!r:.60}", [*args[:at], wrong, *args[at + 1 :]], kwargs
    for name, value in kwargs.items():
        for wrong in [*(each for _, each in spoiled(value)), *ALSO]:
            yield f"{name} = {wrong!r:.60}", args, {**kwargs, name: wrong}
    for several in range(20):  # two or more wrong at once
        draw = random.Random(several)
        yield f"draw {several}", [draw.choice(ALSO) if draw.random() < 0.5 else one for one in args], kwargs


LOOKS_UP = {"Subset", "SubsetRandomSampler"}  # what a container of the program's own raises passes through, as in PyTorch


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_wrong_input_is_answered_in_two_lines(room, place):
    problems = []
    for name, (function, args, kwargs) in ROOMS[room](place).items():
        for how, wrong, named in wrong_calls(function, args, kwargs):
            with contextlib.suppress(SystemExit):
                said = answer(function, wrong, named)  # other libraries may keep what callers held
            if said and not (name in LOOKS_UP and said.startswith(("KeyError", "IndexError"))):
                problems.append(f"{name}, {how}: {said}")
    assert problems == []


def test_every_public_name_is_called(place):
    called = {name.partition(" ")[0].partition(".")[0].rstrip("()[]") for room in ROOMS.values() for name in room(place)}
    public = {
        name
        for module in (data, models, badak.generation)
        for name, thing in vars(module).items()
        if name[0] != "_" and callable(thing) and getattr(thing, "__module__", "").startswith("badak")
    }
    assert public - called - ABSTRACT == set()
