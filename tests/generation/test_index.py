"""An index of texts: found again with the model that made it, and with no other; lines and passages; and a word on what was cut."""

import hashlib
import json
import shutil

import numpy as np
import pytest

import badak
from badak import models
from badak.cli import main
from badak.core.errors import ArgumentError, BadakError
from badak.data.tokenizer import Tokenizer
from badak.generation.embed import TextEncoder, lines, nearest, passages
from badak.generation.index import INDEX_FILE, Index
from badak.io.sealed import seal, unseal
from tests.generation.test_embed import TEXTS, folder  # noqa: F401

SENTENCES = ["a dog runs", "the cat sleeps", "dogs", "far over the hills", "a sofa for ever and a day"]


def made(encoder, precision="float32"):
    return Index([f"f:{i}" for i in range(5)], SENTENCES, encoder.encode(SENTENCES), encoder.fingerprint(), precision)


@pytest.mark.slow
def test_an_index_is_found_again_as_it_was(folder, tmp_path):  # noqa: F811
    encoder = TextEncoder.load(folder)
    index = made(encoder)
    index.save(tmp_path / "i")
    again = Index.load(tmp_path / "i", TextEncoder.load(folder).fingerprint())
    assert (again.places, again.texts, again.model, again.precision) == (index.places, SENTENCES, index.model, "float32")
    np.testing.assert_array_equal(again.vectors, index.vectors)
    query = encoder.encode(["the cats sleep"])[0]
    expected = [(index.places[row], SENTENCES[row], cosine) for row, cosine in nearest(query, index.vectors, 3)]
    assert again.search(query, 3) == expected
    Index(["x"], ["a dog"], encoder.encode(["a dog"]), index.model).save(tmp_path / "i")  # in its place
    assert Index.load(tmp_path / "i").texts == ["a dog"] and len(list((tmp_path / "i").iterdir())) == 2


@pytest.mark.parametrize("change", ["a weight", "the tokenizer", "the length", "the pooling"])
def test_an_index_of_another_model_is_refused(folder, tmp_path, change):  # noqa: F811
    encoder = TextEncoder.load(folder)
    made(encoder).save(tmp_path / "i")
    if change == "a weight":
        with badak.no_grad():
            encoder.model.token.weight[3, 3] += 1e-3
    elif change == "the tokenizer":
        encoder = TextEncoder(encoder.model, Tokenizer.train_wordpiece(TEXTS * 3, 70))
    elif change == "the length":
        encoder = TextEncoder(encoder.model, encoder.tokenizer, 12)
    else:
        config = models.SentenceConfig(**{**vars(encoder.model.config), "pooling": "cls"})
        other = models.SentenceEncoder(config)
        other.load_state_dict(encoder.model.state_dict())
        encoder = TextEncoder(other, encoder.tokenizer)
    with pytest.raises(ArgumentError, match="made by another model: its fingerprint is .*\nfix: the model that made it"):
        Index.load(tmp_path / "i", encoder.fingerprint())


def resealed(place, **said):
    """index.json with other things in it, and a checksum that fits."""
    table = unseal(place / INDEX_FILE, "")
    table.pop("sha256", None)
    for name, value in said.items():
        if isinstance(value, dict):
            value = {**table[name], **value}
        table[name] = value
    (place / INDEX_FILE).write_bytes(seal(table))


def flipped(path, at=-1):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def vectors_of(place):
    return next(place.glob("vectors-*"))


def replaced(place):
    """Sound vectors of another number, with their own hash."""
    from badak.io import safetensors

    data = safetensors.save({"vectors": badak.zeros(3, 16)})
    vectors_of(place).write_bytes(data)
    resealed(place, vectors={"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()})


SPOILED = {
    "a byte of the vectors": lambda place: flipped(vectors_of(place)),
    "a byte of the texts": lambda place: flipped(place / INDEX_FILE, 200),
    "cut vectors": lambda place: vectors_of(place).write_bytes(vectors_of(place).read_bytes()[:-8]),
    "no vectors": lambda place: vectors_of(place).unlink(),
    "no index": lambda place: (place / INDEX_FILE).unlink(),
    "another format": lambda place: resealed(place, format="badak index 9"),
    "texts that are none": lambda place: resealed(place, texts=[1, 2, 3, 4, 5]),
    "too few texts": lambda place: resealed(place, texts=["a"]),
    "no model": lambda place: resealed(place, model=3),
    "a file elsewhere": lambda place: resealed(place, vectors={"file": "../vectors-x.safetensors"}),
    "a shape that is none": lambda place: resealed(place, vectors={"shape": [5, "16"]}),
    "sizes that lie": lambda place: resealed(place, vectors={"shape": [5, 10**9]}),
    "no table": lambda place: resealed(place, vectors=3),
    "other vectors": replaced,
}


@pytest.mark.parametrize("what", SPOILED)
def test_what_is_damaged_is_refused_in_two_lines(folder, tmp_path, what):  # noqa: F811
    made(TextEncoder.load(folder)).save(tmp_path / "i")
    SPOILED[what](tmp_path / "i")
    with pytest.raises(BadakError) as caught:
        Index.load(tmp_path / "i")
    assert str(tmp_path / "i") in caught.value.cause and caught.value.fix
    assert "make it again" in caught.value.fix or "no such file" in caught.value.cause
    assert len(str(caught.value).split("\n")) == 2


def test_a_folder_of_something_else_is_left_alone(folder, tmp_path):  # noqa: F811
    (tmp_path / "thesis.txt").write_text("mine")
    index = made(TextEncoder.load(folder))
    with pytest.raises(BadakError, match="holds other files than an index\nfix: a new folder"):
        index.save(tmp_path)
    with pytest.raises(BadakError, match="is a file\nfix: the name of a folder"):
        index.save(tmp_path / "thesis.txt")
    (tmp_path / INDEX_FILE).write_text(json.dumps({"any": 1}))
    with pytest.raises(BadakError):
        index.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"thesis.txt", INDEX_FILE}


def test_a_write_that_is_cut_short_leaves_the_index_before(folder, tmp_path, monkeypatch):  # noqa: F811
    encoder = TextEncoder.load(folder)
    made(encoder).save(tmp_path / "i")
    kept = {path.name: path.read_bytes() for path in (tmp_path / "i").iterdir()}
    monkeypatch.setattr("badak.generation.index.seal", lambda said: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Index(["x"], ["a dog"], encoder.encode(["a dog"]), encoder.fingerprint()).save(tmp_path / "i")
    assert Index.load(tmp_path / "i").texts == SENTENCES
    assert all((tmp_path / "i" / name).read_bytes() == data for name, data in kept.items())


# ---------------------------------------------------------------------- lines, passages and the command


def test_lines_and_passages_of_files_of_any_kind():
    text = "one\n  two \n \t\n\n three\n\u3000\nfour"
    assert passages("f", text) == [("f:1", "one two"), ("f:5", "three"), ("f:7", "four")]
    assert lines("f", text) == [("f:1", "one"), ("f:2", "two"), ("f:5", "three"), ("f:7", "four")]
    assert passages("f", "") == lines("f", "\n \n") == []


def test_encode_tells_what_is_cut_and_how_far_it_is(folder, monkeypatch):  # noqa: F811
    encoder, cut, done = TextEncoder.load(folder), [], []
    whole = encoder.encode(TEXTS)
    monkeypatch.setattr("badak.generation.embed.TOGETHER", 2)
    found = encoder.encode(TEXTS, 2, lambda i, tokens: cut.append((i, tokens)), done.append)
    np.testing.assert_allclose(found, whole, atol=1e-6)
    lengths = [len(encoder.tokenizer.encode(text, marks=True)) for text in TEXTS]
    assert cut == [(i, n) for i, n in enumerate(lengths) if n > 16] != [] and sum(done) == len(TEXTS)


def said(capsys, *words, code=0):
    capsys.readouterr()
    assert main(["embed", *map(str, words)]) == code
    return capsys.readouterr()


@pytest.mark.slow
def test_the_command_keeps_and_searches(folder, tmp_path, capsys):  # noqa: F811
    notes = tmp_path / "notes.txt"
    notes.write_text("\n".join(SENTENCES * 2))
    out, err = said(capsys, folder, "--in", notes, "--search", "the cat sleeps", "--top", 1)
    assert out.count("\n") == 1 and "notes.txt:1 " in out
    assert err.startswith("1 of 1 texts have more than the 16 tokens that the model reads; ")
    assert "notes.txt:1 is the first, with " in err and "(--by lines takes each line for itself)" in err
    out, err = said(capsys, folder, "--in", notes, "--by", "lines", "--save", tmp_path / "i")
    assert out.startswith("10 texts in ") and err == ""
    direct = said(capsys, folder, "--in", notes, "--by", "lines", "--search", "the cat sleeps", "--top", 3).out
    notes.unlink()
    assert said(capsys, folder, "--index", tmp_path / "i", "--search", "the cat sleeps", "--top", 3).out == direct
    assert direct.splitlines()[0] == f" 1.000  {notes}:2  the cat sleeps"
    _, err = said(capsys, folder, "--index", tmp_path / "i", "--search", "the cat " * 20)
    assert err.startswith("the query has ") and err.endswith(", the model reads 16 of them\n")


@pytest.mark.slow
def test_the_precision_of_an_index_is_its_own(folder, tmp_path, capsys):  # noqa: F811
    said(capsys, folder, *SENTENCES, "--save", tmp_path / "i", "--precision", "bf16")
    assert said(capsys, folder, "--index", tmp_path / "i", "--search", "dogs").out.startswith(" 1.000  dogs")
    err = said(capsys, folder, "--index", tmp_path / "i", "--search", "dogs", "--precision", "int8", code=2).err
    assert "made with --precision bf16" in err and err.count("\n") == 2


@pytest.mark.slow
def test_what_does_not_go_together_is_refused(folder, tmp_path, capsys):  # noqa: F811
    assert "--index takes --search, and no texts" in said(capsys, folder, "a", "--index", tmp_path, "--search", "b", code=2).err
    assert "--index takes --search, and no texts" in said(capsys, folder, "--index", tmp_path, code=2).err
    assert "no index of badak embed" in said(capsys, folder, "--index", tmp_path, "--search", "b", code=2).err
    assert "101 texts are too many to show each next to each" in said(capsys, folder, *["a"] * 101, code=2).err
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    flipped(other / "model.safetensors")
    said(capsys, folder, "a", "--save", tmp_path / "i")
    assert "made by another model" in said(capsys, other, "--index", tmp_path / "i", "--search", "b", code=2).err
