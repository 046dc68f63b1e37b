"""Texts and their classes or numbers: what is learned, what is left out and said, and what is refused."""

import gzip

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError
from badak.data.reviews import opinions
from badak.training.build import build, load_classifier, start
from badak.training.loop import train
from badak.training.presets import PRESETS, change

OPINIONS = PRESETS["text"]["opinions"]
SENTENCES = [
    ("노래가 정말 좋아요", "good"),
    ("배우는 좀 아쉬워요", "bad"),
    ("영화가 꽤 멋져요", "good"),
    ("대사는 정말 지루해요", "bad"),
]


def table(rows, header=("id", "document", "label")):
    lines = [header, *((str(i), *row) for i, row in enumerate(rows))]
    return "\n".join("\t".join(line) for line in lines) + "\n"


def setup_of(**data):
    return change(OPINIONS, "data", {key: str(value) if key in ("path", "test") else value for key, value in data.items()})


def said_by(setup):
    """What building the experiment says."""
    lines = []
    return build(setup, lines.append), lines


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_opinions_are_told_apart_and_the_word_that_decides_is_found(tmp_path, pooling, pictures):
    setup = change(change(OPINIONS, "model", {"pooling": pooling}), "train", {"epochs": 5})
    run, experiment = start(tmp_path / "run", setup)
    assert train(experiment, setup.train, run)
    assert run.rows()[-1].val_accuracy == 1
    assert run.draw()
    judge = load_classifier(tmp_path / "run")
    texts = ["영화가 정말 지루해요", "노래가 꽤 훌륭해요", "이 책은 너무나 엉망이에요"]
    drops = {}
    for verdict, (label, word) in zip(
        judge.judge(texts), [("bad", "지루해요"), ("good", "훌륭해요"), ("bad", "엉망이에요")], strict=True
    ):
        assert verdict.label == label and verdict.value > 0.9
        drops[label] = verdict.value - verdict.words[0].without
        assert verdict.words[0].text == word or drops[label] < 0.01
    assert max(drops.values()) > 0.5  # of two classes, one is what the model says of a text that says nothing: no word decides it


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize("pooling, least, error", [("cls", 0.85, 1.2), ("mean", 0.95, 0.6)])
def test_numbers_are_told(tmp_path, pooling, least, error, pictures):
    """Who knows the class and not how much reaches 0.88; from a token without a word that is what is learned first."""
    setup = change(change(OPINIONS, "model", {"pooling": pooling}), "data", {"task": "regression"})
    run, experiment = start(tmp_path / "run", setup)
    assert train(experiment, setup.train, run)
    last = run.rows()[-1]
    assert last.val("r2") > least and np.isnan(last.val_accuracy)
    assert run.draw()
    truth = {text: float(number) for text, _, number in opinions()}
    judge = load_classifier(tmp_path / "run")
    texts = list(truth)[:60]
    told = np.array([one.value for one in judge.judge(texts, words=False)])
    assert np.abs(told - [truth[text] for text in texts]).mean() < error
    with badak.no_grad():
        pairs = [(experiment.model(ids)[:, 0].numpy(), labels.numpy()) for ids, labels in experiment.validation]
    told, true = (np.concatenate(one) for one in zip(*pairs))
    assert 1 - ((told - true) ** 2).sum() / ((true - true.mean()) ** 2).sum() == pytest.approx(
        float(experiment.closing_words()[0].split("R² ")[1].split(",")[0]), abs=1e-4
    )


def test_the_error_of_numbers_is_pytorchs():
    experiment = build(setup_of(task="regression"))
    outputs, labels = np.random.default_rng(0).normal(size=(2, 7)).astype(np.float32)
    loss, right, count = experiment.measure(badak.from_numpy(outputs[:, None]), badak.from_numpy(labels))
    assert right is None and count.item() == 7
    assert loss.item() == pytest.approx(torch.nn.functional.mse_loss(torch.tensor(outputs), torch.tensor(labels)).item())


def test_a_part_is_held_out_by_the_seed():
    parts = [said_by(change(OPINIONS, "train", {"seed": seed}))[0] for seed in (0, 0, 1)]
    sizes = {(len(one.loader.dataset), len(one.validation.dataset)) for one in parts}
    assert sizes == {(384, 43)}
    assert parts[0].fingerprint == parts[1].fingerprint != parts[2].fingerprint


def test_a_folder_as_it_lies_there(tmp_path):
    """The folder of ratings, packed or not; which column is which is found, and said."""
    for packed in (False, True):
        folder = tmp_path / str(packed)
        folder.mkdir()
        for name, rows in (("train", SENTENCES * 3), ("test", SENTENCES[:2])):
            data = table(rows).encode()
            (folder / f"ratings_{name}.txt{'.gz' * packed}").write_bytes(gzip.compress(data) if packed else data)
    (plain, lines), (packed, _) = (said_by(setup_of(path=tmp_path / name)) for name in ("False", "True"))
    assert plain.fingerprint == packed.fingerprint
    assert plain.setup.labels == ("bad", "good")
    assert lines[:2] == [
        "ratings_train.txt: text from 'document', label from 'label'",
        "ratings_test.txt: text from 'document', label from 'label'",
    ]
    assert lines[2].startswith("12 texts to learn from, 2 to test with, ") and lines[3] == "2 classes: 'bad' 50.0%, 'good' 50.0%"
    few, _ = said_by(setup_of(path=tmp_path / "False", examples=5, val_examples=1))
    assert (len(few.loader.dataset), len(few.validation.dataset)) == (5, 1)


def test_rows_without_a_text_are_left_out_and_long_ones_cut_and_it_is_said(tmp_path):
    rows = [*SENTENCES, ("", "good"), *SENTENCES, ("  ", "bad"), ("길고 " * 300, "bad")]
    path = tmp_path / "one.tsv"
    path.write_text(table(rows) + "\n\n", encoding="utf-8")
    experiment, lines = said_by(setup_of(path=path, val_split=0.4))
    assert "one.tsv: 2 rows without a text (line 6 first) and 2 empty lines left out" in lines
    longer = [line for line in lines if "their ends are cut off" in line]
    assert len(longer) == 1 and longer[0].startswith("1 of ") and "more than context=32 tokens" in longer[0]
    assert max(len(ids) for rows in (experiment.loader.dataset, experiment.validation.dataset) for ids, _ in rows) == 32


def test_what_is_kept_of_the_texts_is_flat(tmp_path):
    """A compiled step looks at all that it can reach: little arrays and strings by the thousand would take it seconds."""
    experiment = build(setup_of())
    found, pending, seen = 0, [vars(experiment)], set()
    while pending:
        thing = pending.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        found += isinstance(thing, str | np.ndarray | list | tuple)
        if isinstance(thing, dict):
            pending += thing.values()
        elif isinstance(thing, list | tuple):
            pending += thing
        elif type(thing).__module__.startswith(("badak.training", "badak.data")) and "tokenizer" not in type(thing).__module__:
            pending += vars(thing).values()
    assert found < 200 < len(experiment.loader.dataset)


GOOD, BAD = SENTENCES[0], SENTENCES[1]
WRONG = {  # rows to learn from, rows to test with, more settings, cause, fix; {} is the folder
    "one class": (
        [GOOD] * 4, [GOOD], {}, "all 4 texts to learn from have the label 'good': there is nothing to tell apart",
        "texts of two classes or more; --label-column names another column",
    ),
    "one number": (
        [("a b", "3")] * 4, [("a", "3")], {"task": "regression"},
        "all 4 texts to learn from have the number 3: there is nothing to learn", "--label-column names another column",
    ),
    "a label that was never learned": (
        SENTENCES, [GOOD, ("영화가 좋아요", "so")], {},
        "{}/test.tsv: line 3: the label 'so' is on no text to learn from ('bad', 'good')",
        "fix that line, or learn from texts with this label, too",
    ),
    "labels that are numbers": (
        [(f"word {i}", str(i)) for i in range(9)], [GOOD], {}, "9 distinct labels in 9 texts: '0', '1', ...",
        "--task regression learns a number; --label-column names another column",
    ),
    "no number": (
        SENTENCES, SENTENCES, {"task": "regression"}, "{}/train.tsv: line 2: 'good' is no number ('label')",
        "fix that line, name another --label-column, or --task classification",
    ),
    "a text and no label": (
        [*SENTENCES, ("제목", " ")], SENTENCES, {}, "{}/train.tsv: line 6 has a text and no label",
        "give it one, or take the line out",
    ),
    "no text at all": (
        [("", "good"), (" ", "bad")], SENTENCES, {}, "{}/train.tsv: no row has a text in 'document'",
        "--text-column names another column",
    ),
    "no such column": (
        SENTENCES, SENTENCES, {"label_column": "score"}, "{}/train.tsv: no column 'score'; it has id, document, label",
        "--label-column id, or another one of them",
    ),
    "one column for both": (
        SENTENCES, SENTENCES, {"text_column": "3"}, "{}/train.tsv: 'label' would be text and label at once",
        "--text-column and --label-column",
    ),
    "a quote that never closes": (
        [*SENTENCES, ('"영화', "bad")], SENTENCES, {}, "{}/train.tsv: line 6: the quote that opens there never closes",
        "close it, or --no-quotes where quotes are characters like others",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_wrong_data_is_answered_in_two_lines(tmp_path, what):
    learned, tested, more, cause, fix = WRONG[what]
    for name, rows in (("train", learned), ("test", tested)):
        (tmp_path / f"{name}.tsv").write_text(table(rows), encoding="utf-8")
    with pytest.raises(BadakError) as caught:
        build(setup_of(path=tmp_path, **more))
    assert (caught.value.cause, caught.value.fix) == (cause.format(tmp_path), fix)


def test_broken_utf8_names_the_place(tmp_path):
    (tmp_path / "a.tsv").write_bytes(table(SENTENCES).encode() + "9\t영화\tgood\n".encode("cp949"))
    with pytest.raises(BadakError) as caught:
        build(setup_of(path=tmp_path / "a.tsv"))
    place = len(table(SENTENCES).encode()) + 2
    assert caught.value.cause == f"{tmp_path / 'a.tsv'}: not UTF-8 text: byte {place} is 0xbf"
    assert caught.value.fix == "save it as UTF-8"


def test_too_few_texts(tmp_path):
    (tmp_path / "a.tsv").write_text(table(SENTENCES[:2]), encoding="utf-8")
    with pytest.raises(BadakError, match="2 texts are too few to learn from and to test with\nfix: a text and its label in each"):
        build(setup_of(path=tmp_path / "a.tsv"))
