"""What a classifier takes for what: scikit-learn's figures, in the log as from badak eval, and a class that is never predicted."""

import json

import numpy as np
import pytest

from badak.autograd import no_grad
from badak.cli import main
from badak.training.build import start
from badak.training.confusion import Confusion
from badak.training.loop import train
from badak.training.presets import PRESETS, change
from badak.training.score import r2
from badak.training.testing import evaluate
from tests.training.test_reading import SENTENCES, setup_of, table

NAMES = ("a", "b", "c", "d", "e")


def drawn(seed, classes=5, given=4, count=60):
    """True classes and those that are given: the last one never is."""
    random = np.random.default_rng(seed)
    return random.integers(0, classes, count), random.integers(0, given, count)


def test_figures_by_hand():
    found = Confusion.of(np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 0, 0]), ("a", "b", "c", "d"))
    assert found.counts.tolist() == [[2, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert found.precision.tolist() == [0.5, 0.5, 0, 0] and found.recall.tolist() == [2 / 3, 0.5, 0, 0]
    assert found.f1.tolist() == pytest.approx([4 / 7, 0.5, 0, 0])
    assert found.macro(found.f1) == pytest.approx((4 / 7 + 0.5 + 0) / 3)  # no example is of d, and none is given d
    assert found.never() == "1 of 4 classes are never predicted: c (1 of 6)"
    assert found.mistakes(2) == [("a", "b", 1), ("b", "a", 1)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_figures_are_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    true, given = drawn(seed)
    found = Confusion.of(true, given, NAMES)
    assert (found.counts == metrics.confusion_matrix(true, given, labels=range(5))).all()
    precision, recall, f1, support = metrics.precision_recall_fscore_support(true, given, labels=range(5), zero_division=0)
    for ours, theirs in ((found.precision, precision), (found.recall, recall), (found.f1, f1), (found.support, support)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert found.macro(found.f1) == pytest.approx(metrics.f1_score(true, given, average="macro"), rel=1e-12)
    error = true - given
    assert r2(error, true) == pytest.approx(metrics.r2_score(true, given), rel=1e-12)


def test_the_calibration_error_by_hand():
    true, given = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])
    found = Confusion.of(true, given, ("a", "b"), np.array([1.0, 0.61, 0.62, 0.55], np.float32))
    assert found.bins.sum(axis=1).tolist() == pytest.approx([4, 2.78, 3]) and found.bins[0, [14, 9, 8]].tolist() == [1, 2, 1]
    assert found.calibration_error == pytest.approx((0 + abs(1 - 1.23) + abs(1 - 0.55)) / 4)
    assert np.isnan(Confusion.of(true, given, ("a", "b")).calibration_error)


@pytest.mark.slow
def test_the_reliability_diagram_is_that_of_scikit_learn():
    calibration = pytest.importorskip("sklearn.calibration")
    chances = np.random.default_rng(0).uniform(0.5, 1.0, 300)
    right = np.random.default_rng(1).uniform(size=300) < chances
    found = Confusion.of(right.astype(int), np.ones(300, int), ("a", "b"), chances)
    count, chance, hit = found.bins
    shares, means = calibration.calibration_curve(right, chances, n_bins=15)
    np.testing.assert_allclose(hit[count > 0] / count[count > 0], shares, rtol=1e-12)
    np.testing.assert_allclose(chance[count > 0] / count[count > 0], means, rtol=1e-12)


@pytest.mark.slow
def test_eval_writes_json_and_draws(tmp_path, capsys):
    assert main(["train", "text", "--steps", "4", "--run", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert (
        main(["eval", str(tmp_path / "run"), "--json", str(tmp_path / "found.json"), "--plot", str(tmp_path / "classes.png")]) == 0
    )
    shown, found = capsys.readouterr().out, json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert f"{found['figures']['ece']:.4f}" in shown and f"{found['figures']['accuracy']:.4%}" in shown
    assert np.sum(found["confusion"]) == sum(found["calibration"]["examples"]) == sum(row["support"] for row in found["classes"])
    assert (tmp_path / "classes.png").read_bytes()[:4] == b"\x89PNG"
    assert main(["eval", str(tmp_path / "run"), "--plot", str(tmp_path / "classes.txt")]) == 2
    assert capsys.readouterr().err.endswith("expected a name that ends with .png, .svg, .pdf\nfix: --plot classes.png\n")
    assert main(["eval", str(tmp_path / "run"), "--limit", "3"]) == 2
    assert capsys.readouterr().err == (
        "error: --include-path, --num-fewshot, --limit and --apply-chat-template belong to --tasks\nfix: --tasks NAME\n"
    )


def test_r2_of_equal_numbers_is_not_a_number():
    assert np.isnan(r2(np.ones(3), np.ones(3))) and r2(np.array([1.0, -1.0]), np.array([0.0, 2.0])) == 0


NEW = {"d_model": 16, "layers": 1}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_log_and_eval_have_the_same_figures_by_the_same_formula(tmp_path, task):
    """Of held-out numbers whose mean and variance are not those of the numbers learned from."""
    rows = [(f"{text} {i}", label if task == "classification" else str(i % 7)) for i in range(6) for text, label in SENTENCES]
    tested = [(f"{text} x", label if task == "classification" else str(5 + 3 * i)) for i, (text, label) in enumerate(SENTENCES)]
    for name, part in (("train", rows), ("test", tested)):
        (tmp_path / f"{name}.tsv").write_text(table(part), encoding="utf-8")
    setup = change(change(setup_of(path=tmp_path, task=task), "model", NEW), "train", {"steps": 3, "batch_size": 8})
    run, experiment = start(tmp_path / "r", setup)
    train(experiment, setup.train, run)
    row, found = run.rows()[-1], evaluate(run.folder)
    assert found.facts["loss"] == f"{row.val_loss:.6g}"
    if task == "regression":
        with no_grad():
            told = np.concatenate([experiment.model(ids)[:, 0].numpy() for ids, _ in experiment.validation]).astype(np.float64)
        true = np.concatenate([labels.numpy() for _, labels in experiment.validation]).astype(np.float64)
        expected = 1 - ((told - true) ** 2).sum() / ((true - true.mean()) ** 2).sum()
        assert row.val("r2") == pytest.approx(expected, rel=1e-6) and abs(expected - (1 - row.val_loss)) > 0.1
        assert found.facts["R²"] == f"{row.val('r2'):.4f}"
        assert found.facts["mean absolute error"] == f"{setup_unit(run) * np.abs(told - true).mean():.4g}"
        said = f"val: R² {row.val('r2'):.4f}, mean absolute error {row.val('mae'):.4g}, "
        assert experiment.closing_words()[0].startswith(said)
    else:
        assert found.facts["accuracy"] == f"{row.val_accuracy:.4%}" and found.facts["macro F1"] == f"{row.val('f1'):.4f}"
        assert np.diag(found.confusion.counts).sum() / found.confusion.counts.sum() == row.val_accuracy


def setup_unit(run):
    return run.setup.deviation


def lopsided(tmp_path, labels):
    """A run whose model gives everything the first class, whatever it reads."""
    rows = [(f"{text} {i}", label) for i, label in enumerate(labels * 8) for text, _ in SENTENCES]
    (tmp_path / "t.tsv").write_text(table(rows), encoding="utf-8")
    setup = change(change(setup_of(path=tmp_path / "t.tsv", val_split=0.5), "model", NEW), "train", {"steps": 1, "lr": 1e-9})
    run, experiment = start(tmp_path / "r", setup)
    with no_grad():
        experiment.model.head.bias[0] = 100.0
    train(experiment, setup.train, run)
    return experiment


@pytest.mark.parametrize("classes", [2, 3, 14])
def test_a_class_that_is_never_predicted_is_named(tmp_path, capsys, classes):
    labels = [f"class{at:02}" for at in range(classes)]
    experiment = lopsided(tmp_path, labels)
    assert experiment.closing_words()[0].startswith(f"{classes - 1} of {classes} classes are never predicted: class01 (")
    assert main(["eval", str(tmp_path / "r")]) == 0
    out, err = capsys.readouterr()
    assert f"warning: {classes - 1} of {classes} classes are never predicted: class01 (" in err
    assert err.splitlines()[-1].endswith(f"and {classes - 6} more") is (classes > 6)
    lines = out.splitlines()
    assert [line.split() for line in lines if line.startswith("class  ")] == [["class", "precision", "recall", "F1", "examples"]]
    assert next(line for line in lines if line.startswith("class01")).split()[1:4] == ["0.0000", "0.0000", "0.0000"]
    if classes > 12:
        assert "the commonest mistakes:" in lines and lines[-1].strip().startswith("class")
    else:
        assert lines[-1].split()[0] == labels[-1] and lines[-1].split()[2:] == ["0"] * (classes - 1)


def test_digits_have_a_table_of_classes_too():
    """Whatever is given: the task over images counts as the one over texts does."""
    from badak.training.image_classification import Pictures

    experiment = object.__new__(Pictures)
    experiment.setup = PRESETS["classify"]["small"]
    import badak
    from badak.models.classifier import build_classifier

    experiment.model = build_classifier(experiment.setup.model).eval()
    labels = badak.arange(10)
    experiment.validation = [(badak.rand(10, 28, 28), labels)]
    with no_grad():
        score = experiment.evaluate()
    assert experiment.confusion.support.tolist() == [1] * 10
    assert np.diag(experiment.confusion.counts).sum() == score.right and set(experiment.figures) == {"f1"}
