"""Texts as vectors: those of the model on each text alone, whatever stands next to it; and what is found by them."""

import numpy as np
import pytest

import badak
from badak import models
from badak.cli import main
from badak.core.errors import ArgumentError
from badak.data.tokenizer import Tokenizer
from badak.generation.embed import TextEncoder, cosines, nearest, passages

TEXTS = ["a dog runs", "the cat sleeps on the sofa", "dogs", "", "a dog runs far over the hills and is gone for ever and a day"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small sentence encoder with random weights that matter, and its tokenizer."""
    place = tmp_path_factory.mktemp("encoder")
    tokenizer = Tokenizer.train_wordpiece(TEXTS * 3, 80)
    badak.manual_seed(0)
    config = models.SentenceConfig(vocab_size=len(tokenizer), context=16, d_model=16, heads=2, layers=2, pad_id=tokenizer.pad)
    model = models.SentenceEncoder(config)
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * badak.randn_like(parameter))
    model.save_pretrained(place)
    tokenizer.save(place)
    return place


@badak.no_grad()
def test_each_text_has_the_vector_that_it_has_alone(folder):
    encoder = TextEncoder.load(folder)
    assert encoder.length == 16
    for batch in (1, 2, 32):
        made = encoder.encode(TEXTS, batch)
        assert made.shape == (5, 16) and made.dtype == np.float32
        for text, vector in zip(TEXTS, made):
            ids = encoder.tokenizer.encode(text, marks=True)
            ids = ids if len(ids) <= 16 else np.append(ids[:15], ids[-1])
            alone = encoder.model(badak.from_numpy(ids)[None])[0].numpy()
            np.testing.assert_allclose(vector, alone, rtol=0, atol=1e-6)
            assert abs(np.linalg.norm(vector) - 1) < 1e-5
    assert encoder.encode([]).shape == (0, 16)


def test_a_tokenizer_of_more_tokens_is_refused(folder):
    encoder = TextEncoder.load(folder)
    with pytest.raises(ArgumentError, match="TextEncoder: a tokenizer of 300 tokens, a model of .*\nfix: the tokenizer that"):
        TextEncoder(encoder.model, Tokenizer.train_bpe(TEXTS * 9, 300, least=1))


def test_the_nearest_come_first():
    vectors = np.array([[1, 0], [0, 2], [3, 3], [0, 0]], np.float32)
    found = nearest(np.array([0, 5], np.float32), vectors, 3)
    assert [row for row, _ in found] == [1, 2, 0] and np.allclose([cosine for _, cosine in found], [1, 0.5**0.5, 0])
    assert cosines(vectors, vectors)[3].tolist() == [0, 0, 0, 0]


def test_passages_know_their_line():
    assert passages("f", "one\ntwo\n\n\n\nthree\n\nfour\n") == [("f:1", "one two"), ("f:6", "three"), ("f:8", "four")]


@pytest.mark.slow
def test_the_command_compares_searches_and_writes(folder, tmp_path, capsys):
    assert main(["embed", str(folder), "a dog runs", "dogs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[0].startswith(" 1.000") and lines[0].endswith("  a dog runs")
    (tmp_path / "notes.txt").write_text("the cat sleeps\n\na dog\nruns\n\nfar over the hills")
    command = ["embed", str(folder), "--in", str(tmp_path), "--search", "a dog runs", "--top", "2", "-o", str(tmp_path / "v.npy")]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("3 vectors of 16 numbers in ") and len(lines) == 3
    assert lines[1] == f" 1.000  {tmp_path / 'notes.txt'}:3  a dog runs"
    assert np.load(tmp_path / "v.npy").shape == (3, 16)
    assert main(["embed", str(folder)]) == 2
    assert capsys.readouterr().err == "error: no text\nfix: badak embed MODEL 'a text', or --in FOLDER\n"
