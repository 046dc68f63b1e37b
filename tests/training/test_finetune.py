"""A text classifier that begins with a folder of Hugging Face, and pairs of texts: the numbers are those of transformers."""

import json

import numpy as np
import pytest
import torch

import badak
from badak import kernels
from badak.cli import main
from badak.core.errors import BadakError
from badak.data.tokenizer import BERT_MARKS, Tokenizer
from badak.generation.classify import TextClassifier
from badak.models.bert import BERT, BERTClassifier, BERTConfig, SentenceConfig, SentenceEncoder, TextConfig
from badak.models.gpt import GPT, GPTConfig
from badak.training.build import build, load_classifier, resume, start
from badak.training.loop import train
from badak.training.memory import learned_of, weights_of
from badak.training.presets import PRESETS, change
from tests.training.test_resume import stop_at

ROWS = [
    ("a dog runs", "an animal moves", "same"),
    ("a man sleeps", "the sun rises over the hills", "other"),
    ("the bank raised its rates again", "money got dearer", "same"),
    ("two girls play", "the train is late", "other"),
] * 6
TEXTS = [part for first, second, _ in ROWS for part in (first, second)]
SIZES = {"context": 24, "d_model": 16, "heads": 2, "layers": 3, "feedforward_ratio": 2, "dropout": 0.0, "norm_eps": 1e-12}


@pytest.fixture(autouse=True)
def plain():
    with kernels.use("reference"):
        yield


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis,label\n" + "\n".join(",".join(row) for row in ROWS))
    return path


def folder_of(place, kind, type_vocab_size=2):
    """A random encoder with weights that matter, and its tokenizer, as Hugging Face keeps them."""
    badak.manual_seed(3)
    tokenizer = Tokenizer.train_wordpiece(TEXTS, 150)
    sizes = {**SIZES, "vocab_size": len(tokenizer) + 2, "type_vocab_size": type_vocab_size, "pad_id": tokenizer.pad}
    if kind == "sentences":
        model = SentenceEncoder(SentenceConfig(**sizes, pooling="mean"))
    elif kind == "masked":
        model = BERT(BERTConfig(**sizes))
    else:
        model = BERTClassifier(TextConfig(**sizes, classes=2))
    for p in model.parameters():
        p.data.add_(badak.randn(*p.shape) * 0.2)
    model.save_pretrained(place)
    tokenizer.save(place)
    if kind == "classifier":
        said = json.loads((place / "config.json").read_text())
        said["id2label"], said["label2id"] = {"0": "other", "1": "same"}, {"other": 0, "same": 1}
        (place / "config.json").write_text(json.dumps(said))
    return place


def setup_from(place, data, pair="hypothesis", **train):
    setup = change(PRESETS["text"]["finetune"], "data", {"path": str(data), "pair_column": pair, "text_column": "premise"})
    return change(change(setup, "train", {"steps": 3, "batch_size": 6, **train}), "start", {"folder": str(place)})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classifier", "masked", "sentences"])
def test_a_training_begins_with_the_weights_of_the_folder(tmp_path, data, kind):
    place, lines = folder_of(tmp_path / "base", kind), []
    experiment = build(setup_from(place, data), lines.append)
    new = {"classifier": "the classes are its own", "masked": "new: head, pooler", "sentences": "new: head"}[kind]
    assert f"begins with the weights of {place}; {new}" in lines
    config = experiment.setup.model
    assert (config.pooling, config.pooler) == (("mean", False) if kind == "sentences" else ("cls", True))
    assert experiment.vocabulary == Tokenizer.load(place)
    assert config.context == 24 and config.vocab_size == 2 + len(experiment.vocabulary)
    kinds = {"classifier": BERTClassifier, "masked": BERT, "sentences": SentenceEncoder}
    theirs, ours = kinds[kind].from_pretrained(place).state_dict(), experiment.model.state_dict()
    same = [name for name in ours if name in theirs and not name.startswith("head.") or kind == "classifier"]
    assert len(same) > 30
    for name in same:
        np.testing.assert_array_equal(ours[name].detach().numpy(), theirs[name].detach().numpy(), name)


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [False, True])
def test_batches_and_answers_are_those_of_transformers(tmp_path, data, pairs):
    transformers = pytest.importorskip("transformers")
    place = folder_of(tmp_path / "base", "classifier")
    experiment = build(setup_from(place, data, "hypothesis" if pairs else ""))
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    judge = transformers.AutoModelForSequenceClassification.from_pretrained(place).eval()
    first, second = [row[0] for row in ROWS], [row[1] for row in ROWS]
    fed = tokenizer(first, second if pairs else None, padding=True, return_tensors="pt")
    with torch.no_grad():
        expected = judge(**fed).logits.softmax(-1).numpy()
    texts = list(zip(first, second)) if pairs else first
    found, _ = TextClassifier(experiment.model, experiment.vocabulary, experiment.setup.labels).answers(texts)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    experiment.model.eval()
    for batch in experiment.validation:
        inputs, labels = experiment.prepare(batch)
        assert len(inputs) == 1 + pairs
        logits = experiment.model(*inputs)
        for row, answer in zip(inputs[0].tolist(), logits.softmax(-1).tolist(), strict=True):
            words = [token for token in row if token != experiment.vocabulary.pad]
            at = [[token for token in ids if token != tokenizer.pad_token_id] for ids in fed.input_ids.tolist()].index(words)
            assert answer == pytest.approx(expected[at].tolist(), abs=1e-5)
        assert len(labels) == len(logits)


@pytest.mark.slow
def test_it_learns_and_goes_on_bit_for_bit_without_the_folder(tmp_path, data):
    place = folder_of(tmp_path / "base", "sentences")
    setup = setup_from(place, data, steps=40, lr=5e-3, warmup_steps=0, schedule="constant", eval_every=20)
    run, experiment = start(tmp_path / "whole", setup)
    assert train(experiment, setup.train, run)
    assert run.rows()[-1].train_loss < 0.9 * run.rows()[0].train_loss
    parts, experiment = start(tmp_path / "parts", setup)
    assert not train(experiment, setup.train, parts, stop_at(5))
    place.rename(tmp_path / "gone")
    parts, experiment = resume(parts.folder)
    assert train(experiment, parts.setup.train, parts)
    assert (run.folder / "model.safetensors").read_bytes() == (parts.folder / "model.safetensors").read_bytes()
    config = json.loads((run.folder / "config.json").read_text())
    assert len(config["start"]["sha256"]) == 64 and config["data"]["tokens"] == "tokenizer"
    assert (run.folder / "config.json").read_bytes() == (parts.folder / "config.json").read_bytes()
    judge = load_classifier(parts.folder)
    assert judge.pairs and {one.label for one in judge.judge([row[:2] for row in ROWS[:4]], words=False)} <= {"same", "other"}


@pytest.mark.slow
def test_the_lowest_layers_can_stay_as_they_are(tmp_path, data):
    place = folder_of(tmp_path / "base", "masked")
    setup = change(setup_from(place, data, lr=0.1, warmup_steps=0), "start", {"freeze": 2})
    run, experiment = start(tmp_path / "r", setup)
    before = {name: x.detach().numpy().copy() for name, x in experiment.model.state_dict().items()}
    assert train(experiment, setup.train, run)
    moved = {name for name, x in experiment.model.state_dict().items() if (x.detach().numpy() != before[name]).any()}
    still = set(before) - moved
    assert {name.split(".")[0] for name in still} >= {"token", "position", "segment", "norm"}
    assert {name.split(".")[2] for name in still if name.startswith("encoder.")} == {"0", "1"}
    assert {name.split(".")[2] for name in moved if name.startswith("encoder.")} == {"2"} and "head.weight" in moved
    assert learned_of(experiment.setup) < weights_of(experiment.setup)
    assert "--freeze 9: the model has 3 layers" in said_by(build, change(setup, "start", {"freeze": 9}))


def said_by(work, *arguments):
    with pytest.raises(BadakError) as caught:
        work(*arguments)
    assert caught.value.fix and len(str(caught.value).split("\n")) == 2
    return caught.value.cause


@pytest.mark.slow
def test_less_of_a_text_can_be_read_and_not_more_than_the_model_reads(tmp_path, data):
    place, lines = folder_of(tmp_path / "base", "sentences"), []
    experiment = build(change(setup_from(place, data), "model", {"context": 8}), lines.append)
    assert experiment.model.position.weight.shape[0] == 8 == experiment.setup.model.context
    assert any("more than context=8 tokens" in line for line in lines)
    build(setup_from(place, data), lines.append)
    assert f"the model of {place} reads 24 tokens of a text at most" in lines


@pytest.mark.slow
def test_a_model_without_segments_reads_pairs_by_their_marks(tmp_path, data):
    place, lines = folder_of(tmp_path / "base", "masked", type_vocab_size=1), []
    experiment = build(setup_from(place, data), lines.append)
    assert any("has no segments" in line for line in lines)
    inputs, _ = experiment.prepare(next(iter(experiment.loader)))
    assert len(inputs) == 1 and (inputs[0] == experiment.vocabulary.eos).sum(dim=1).tolist() == [2] * len(inputs[0])


@pytest.mark.slow
def test_numbers_of_pairs_are_learned_from_a_folder_too(tmp_path):
    place = folder_of(tmp_path / "base", "classifier")
    path = tmp_path / "scores.csv"
    path.write_text("premise,hypothesis,score\n" + "\n".join(f"{a},{b},{i % 5}" for i, (a, b, _) in enumerate(ROWS)))
    setup = change(setup_from(place, path, steps=1), "data", {"task": "regression"})
    run, experiment = start(tmp_path / "r", setup)
    assert train(experiment, setup.train, run) and experiment.model.head.weight.shape == (1, 16)
    assert set(run.rows()[-1].figures) == {"r2", "mae", "rmse"}
    (verdict,) = load_classifier(run.folder).judge([ROWS[0][:2]])
    assert verdict.label == "" and np.isfinite(verdict.value) and len(verdict.words) == 6


def test_pairs_without_a_folder_have_segments_of_their_own(data):
    read = {"path": str(data), "pair_column": "2", "text_column": "1", "vocabulary": 300}
    setup = change(PRESETS["text"]["reviews"], "data", read)
    experiment = build(change(setup, "model", {"d_model": 16, "layers": 1}))
    assert experiment.setup.model.type_vocab_size == 2
    (ids, token_type_ids), _ = experiment.prepare(next(iter(experiment.loader)))
    for row, of in zip(ids.tolist(), token_type_ids.tolist()):
        first = row.index(experiment.vocabulary.eos)
        assert of == [0] * (first + 1) + [1] * (len(row) - first - 1)


def writer(place):
    GPT(GPTConfig(vocab_size=99, context=8, d_model=8, heads=1, layers=1)).save_pretrained(place)


WRONG = {
    "a writer": ("its model does not read a whole text at once", writer),
    "another tokenizer": ("the tokenizer has", lambda place: Tokenizer.train_bpe(TEXTS * 9, 400, special=BERT_MARKS).save(place)),
    "a tokenizer without marks": ("the tokenizer has no [PAD]", lambda place: Tokenizer.train_bpe(TEXTS, 260).save(place)),
    "no weights": ("no model.safetensors", lambda place: (place / "model.safetensors").unlink()),
    "no tokenizer": ("no tokenizer.json", lambda place: (place / "tokenizer.json").unlink()),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_folder_that_is_none_is_refused(tmp_path, data, what):
    cause, spoil = WRONG[what]
    place = folder_of(tmp_path / "base", "sentences")
    if what == "a writer":
        (place / "modules.json").unlink()
    spoil(place)
    assert cause in said_by(build, setup_from(place, data))


@pytest.mark.parametrize(
    "column, cause",
    [("label", "'label' would be second text and label at once"), ("premise", "'premise' would be both texts of the pair"),
     ("x", "no column 'x'")],
)  # fmt: skip
def test_wrong_columns_of_pairs_are_named(data, column, cause):
    setup = change(PRESETS["text"]["reviews"], "data", {"path": str(data), "text_column": "premise", "pair_column": column})
    assert cause in said_by(build, setup)
    bare = change(PRESETS["text"]["opinions"], "data", {"pair_column": "2"})
    assert "the opinions that come with badak are no pairs" in said_by(build, bare)


# ---------------------------------------------------------------------- the commands


def complaint(capsys, *words):
    capsys.readouterr()
    assert main([str(word) for word in words]) == 2
    return capsys.readouterr().err


@pytest.mark.slow
def test_the_commands_train_test_and_judge_pairs(tmp_path, data, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder_of(tmp_path / "base", "sentences")
    named = ["--data", "pairs.csv", "--text-column", "premise", "--pair-column", "hypothesis", "--init-from", "base"]
    assert main(["train", "text", *named, "--run", "r", "--steps", "2", "--lr", "0.01"]) == 0
    out = capsys.readouterr().out
    assert "pairs.csv: text from 'premise' and 'hypothesis', label from 'label'" in out
    assert "next: badak predict r '--pair=" in out
    assert main(["eval", "r"]) == 0
    assert "macro F1" in capsys.readouterr().out
    assert main(["predict", "r", "a dog runs", "--pair", "an animal moves"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("a dog runs | an animal moves: ")
    assert {line.split("without ")[1] for line in lines if "  without" in line} <= {"a", "dog", "runs", "an", "animal", "moves"}
    assert main(["predict", "r", "--file", "pairs.csv", "--text-column", "premise", "--pair-column", "hypothesis", "--json"]) == 0
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["line"], one["text"], one["pair"]) for one in objects] == [(at, *row[:2]) for at, row in enumerate(ROWS, 2)]
    (tmp_path / "lines.txt").write_text("a dog runs\tan animal moves\n")
    assert main(["predict", "r", "--file", "lines.txt", "--words", "0"]) == 0
    assert capsys.readouterr().out.split("\t")[2:] == ["a dog runs", "an animal moves\n"]
    assert "text 1 is one text; the model was trained on pairs of texts" in complaint(capsys, "predict", "r", "a dog runs")
    assert "line 2: the model reads pairs" in complaint(capsys, "predict", "r", "--file", "pairs.csv", "--text-column", "premise")
    assert "--pair is the second text of one text; got 2" in complaint(capsys, "predict", "r", "a", "b", "--pair", "c")


def test_what_the_folder_says_is_not_asked_for(tmp_path, data, capsys):
    place = folder_of(tmp_path / "base", "sentences")
    asked = ["train", "text", "--data", data, "--init-from", place, "--run", tmp_path / "r"]
    assert "--init-from says how large the model is; got --layers too" in complaint(capsys, *asked, "--layers", "2")
    assert "has its own tokenizer; got --vocab-size too" in complaint(capsys, *asked, "--vocab-size", "900")
    assert "there is no --init-from" in complaint(capsys, "train", "text", "--freeze", "1", "--run", tmp_path / "r")
    assert "there is no --init-from" in complaint(capsys, "train", "text", "--tokens", "tokenizer", "--run", tmp_path / "r")
    assert not (tmp_path / "r").exists()
