"""Training a translator: what it reads of pairs, the mean of its weights, and that a tiny corpus is memorized."""

import re

import numpy as np
import pytest

import badak
from badak.cli import main
from badak.core.errors import ArgumentError, StateError
from badak.generation.translate import translate
from badak.io import checkpoint
from badak.training.build import build, open_model, resume, start
from badak.training.experiment import IGNORED
from badak.training.loop import train
from badak.training.presets import PRESETS, change
from badak.training.train_state import TrainState

TINY = change(
    change(PRESETS["translate"]["phrases"], "model", {"d_model": 32, "heads": 2, "feedforward": 32, "decoder_layers": 1}),
    "train", {"epochs": 2, "batch_size": 10, "eval_every": 0},
)  # fmt: skip


@pytest.mark.nightly
@pytest.mark.slow
def test_fifty_phrases_are_learned_by_heart(tmp_path, capsys):
    """The short form of `python -m bench.translate`: trained, translated by the command, and its BLEU counted."""
    setup = PRESETS["translate"]["phrases"]
    run, experiment = start(tmp_path / "r", setup)
    assert train(experiment, setup.train, run)
    korean, english = zip(*experiment.corpus.train)
    made = translate(open_model(run.folder, "translate").model, experiment.vocabulary, korean)
    assert sum(a == b for a, b in zip(made, english)) >= 48
    assert experiment.closing_words()[0] == "  안녕하세요.\n    Hello." and experiment.example() == ["안녕하세요."]
    for name, lines in (("ko", korean), ("en", english)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["translate", str(run.folder), "--in", str(tmp_path / "ko"), "--reference", str(tmp_path / "en")]) == 0
    counted = re.search(r"BLEU ([\d.]+)   nrefs:1\|case:\w+\|eff:no\|tok:13a", capsys.readouterr().err)
    assert float(counted[1]) > 95


def test_a_batch_is_source_what_was_written_and_what_comes_next():
    experiment = build(TINY)
    marks = experiment.setup.model
    for batch in experiment.loader:
        (source, target), labels = experiment.prepare(batch)
        assert source.shape == target.shape == labels.shape
        assert bool((target[:, 0] == marks.sos_id).all()) and bool(((source == marks.eos_id).sum(dim=1) == 1).all())
        written = labels != IGNORED
        assert badak.equal(target[:, 1:][written[:, 1:]], labels[:, :-1][written[:, 1:]])  # one place later
        assert bool((labels[written.sum(dim=1, keepdim=True) - 1 == badak.arange(labels.shape[1])] == marks.eos_id).all())
        assert experiment.seen((source, target)) == int((source != marks.pad_id).sum() + written.sum())


def test_both_directions_and_small_letters():
    setup = change(TINY, "data", {"src": "en", "tgt": "ko", "lowercase": True})
    experiment = build(setup)
    assert experiment.corpus.train[0] == ("Hello.", "안녕하세요.")
    ids = experiment.vocabulary.encode(" HELLO. 안녕")
    assert experiment.vocabulary.decode(ids) == " hello. 안녕"
    with pytest.raises(ArgumentError, match="badak are Korean and English; got de and fr\nfix: --data DIR"):
        build(change(TINY, "data", {"src": "de", "tgt": "fr"}))


def test_pairs_that_are_too_long_are_left_out_and_counted(tmp_path):
    rows = [f"short {i}\tkurz {i}" for i in range(60)] + [f"{'long ' * 40}{i}\t{'lang ' * 40}{i}" for i in range(20)]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows))
    setup, said = change(TINY, "data", {"path": str(tmp_path / "pairs.tsv"), "src": "en", "tgt": "de", "val_split": 0.1}), []
    experiment = build(change(setup, "model", {"context": 30}), said.append)
    left = [line for line in said if line.endswith("are longer than 30 tokens and left out")]
    assert left and left[0].split()[2] == str(len(experiment.corpus.train))
    with pytest.raises(ArgumentError, match=r"all \d+ pairs are longer than context=2 tokens\nfix: --context \d"):
        build(change(setup, "model", {"context": 2}))


@pytest.mark.slow
def test_the_mean_of_the_weights_is_what_is_tested_and_kept(tmp_path):
    """By hand, in float64: a += (1 - m) (w - a) with m = min(average, (1 + t) / (10 + t))."""
    setup = change(TINY, "train", {"ema_decay": 0.8, "epochs": 1, "warmup_steps": 0})
    run, experiment = start(tmp_path / "r", setup)
    learner = TrainState(experiment, setup.train)
    name, weight = next(iter(experiment.model.named_parameters()))
    mean = weight.detach().numpy().astype(np.float64)
    for t in range(1, 1 + learner.last_step):
        experiment.model.train()
        learner.update()
        learner.step += 1
        mean += (1 - min(0.8, (1 + t) / (10 + t))) * (weight.detach().numpy() - mean)
    trained = weight.detach().numpy().copy()
    with learner.averaged():
        np.testing.assert_allclose(weight.detach().numpy(), mean, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(weight.detach().numpy(), trained)
    assert np.abs(trained - mean).max() > 1e-4

    run, experiment = start(tmp_path / "whole", setup)
    assert train(experiment, setup.train, run)
    saved = checkpoint.load(run.folder)
    kept, weight = saved.model[name].numpy(), dict(experiment.model.named_parameters())[name].detach().numpy()
    np.testing.assert_array_equal(weight, kept)  # who goes on with the model has what is kept
    assert np.abs(saved.trained[name].numpy() - kept).max() > 1e-4
    row = run.rows()[-1]
    experiment.model.eval()
    with badak.no_grad():
        assert experiment.evaluate().loss == pytest.approx(row.val_loss, rel=1e-6)


@pytest.mark.slow
def test_a_state_without_its_mean_is_refused(tmp_path):
    run, experiment = start(tmp_path / "r", TINY)
    assert train(experiment, TINY.train, run)
    _, experiment = resume(run.folder)
    with pytest.raises(StateError, match="the weights that are trained are None, with ema_decay=0.5"):
        TrainState(experiment, change(TINY, "train", {"ema_decay": 0.5}).train).restore(run)


def test_the_run_of_another_experiment_is_refused(tmp_path):
    run, _ = start(tmp_path / "r", TINY)
    with pytest.raises(ArgumentError, match=r"a run of badak train translate; this needs one of badak train gpt\nfix: badak"):
        open_model(run.folder, "gpt")
