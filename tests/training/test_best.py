"""--keep best: what a run answers with is its best evaluation, whatever came after it; --patience ends it early, in one line."""

import dataclasses

import numpy as np
import pytest

from badak.cli import main
from badak.core.errors import ArgumentError, StateError
from badak.io import checkpoint
from badak.nn import functional as F
from badak.training import fit
from badak.training.best import Best
from badak.training.build import open_model, resume, start
from badak.training.config import TrainConfig
from badak.training.loop import train
from badak.training.metrics import Row
from badak.training.presets import PRESETS, change
from badak.training.testing import evaluate
from tests.training.test_fit import QUIET, batches, loader, model
from tests.training.test_resume import TINY, stop_at, timeless

ROUGH = {"lr": 5e-3, "schedule": "constant", "max_grad_norm": 1.0}
RUNS = {
    "gpt": change(TINY["gpt"], "train", {**ROUGH, "eval_every": 2}),
    "bert": change(TINY["bert"], "train", {**ROUGH, "eval_every": 2}),
    "text": change(TINY["text"], "train", {**ROUGH, "steps": 12, "eval_every": 2}),
    "text, numbers": change(TINY["text, numbers"], "train", {**ROUGH, "steps": 12, "eval_every": 2}),
    "translate, weights averaged": change(TINY["translate, weights averaged"], "train", {**ROUGH, "lr": 0.1, "eval_every": 3}),
}


@pytest.fixture
def worse(monkeypatch):
    """From its fifth update on a training throws its weights about."""
    monkeypatch.setattr(TrainConfig, "rate", lambda config, step, last: 1.0 if step < 4 else 80.0)


def best_of(rows, setup):
    """By hand: the figure first, the loss where it is the same, then the first."""
    sign = -1 if setup.metric in ("accuracy", "r2") else 1
    return min(rows, key=lambda row: (sign * row.val(setup.metric), row.val_loss, row.step))


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_run_answers_with_its_best_evaluation(tmp_path, worse, name):
    setup = RUNS[name]
    run, experiment = start(tmp_path / "r", setup)
    outcome = train(experiment, setup.train, run)
    best = best_of(run.rows(), setup)
    assert outcome and outcome.best.step == best.step < outcome.step
    found = evaluate(run.folder).facts  # of another process, as it were: from the files alone
    assert found["loss"] == f"{best.val_loss:.6g}"
    assert found["weights"] == f"those of the best evaluation, {outcome.best}"
    opened = open_model(run.folder, setup.experiment).model.state_dict()
    for key, x in experiment.model.state_dict().items():  # who goes on with the model in memory has the same
        np.testing.assert_array_equal(x.detach().numpy(), opened[key].detach().numpy(), key)


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_went_on_after_its_best_one_goes_on_bit_for_bit(tmp_path, worse, name):
    setup = change(RUNS[name], "train", {"patience": 3})
    whole, experiment = start(tmp_path / "whole", setup)
    ended = train(experiment, setup.train, whole).ended
    parts, experiment = start(tmp_path / "parts", setup)
    for stop in (3, 5, 8):
        train(experiment, setup.train, parts, stop_at(stop))
        parts, experiment = resume(parts.folder)
    assert train(experiment, setup.train, parts).ended == ended
    for file in ("model.safetensors", "optimizer.safetensors", "config.json"):
        assert (whole.folder / file).read_bytes() == (parts.folder / file).read_bytes(), file
    assert timeless(whole) == timeless(parts)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt", "translate, weights averaged"])
def test_the_last_weights_are_kept_where_they_are_asked_for(tmp_path, worse, name):
    setup = change(RUNS[name], "train", {"keep": "last", "epochs": 3})
    run, experiment = start(tmp_path / "r", setup)
    outcome = train(experiment, setup.train, run)
    found = evaluate(run.folder).facts
    assert found["loss"] == f"{run.rows()[-1].val_loss:.6g}" and found["weights"] == f"the last ones, of step {outcome.step}"
    trained = checkpoint.load(run.folder).trained
    assert (trained is None) is not setup.train.ema_decay


@pytest.mark.slow
def test_patience_ends_a_training_and_more_of_it_lets_it_go_on(tmp_path, worse):
    setup = change(RUNS["bert"], "train", {"patience": 2})
    run, experiment = start(tmp_path / "r", setup)
    outcome = train(experiment, setup.train, run)
    rows = run.rows()
    assert not outcome and len(rows) - 1 - rows.index(best_of(rows, setup)) == 2 and outcome.step == rows[-1].step < 24
    assert outcome.ended == f"no evaluation was better than {outcome.best} for 2 evaluations (--patience 2)"
    run, experiment = resume(run.folder)
    assert train(experiment, run.setup.train, run).ended == outcome.ended and run.rows()[-1].step == outcome.step
    run, experiment = resume(run.folder, changes={"patience": 5})
    longer = train(experiment, run.setup.train, run)
    straight, experiment = start(tmp_path / "s", change(setup, "train", {"patience": 5}))
    assert train(experiment, straight.setup.train, straight).step == longer.step > outcome.step
    for file in ("model.safetensors", "optimizer.safetensors", "config.json"):
        assert (run.folder / file).read_bytes() == (straight.folder / file).read_bytes(), file


@pytest.mark.slow
def test_rows_that_are_gone_do_not_forget_the_best(tmp_path, worse):
    setup = RUNS["gpt"]
    run, experiment = start(tmp_path / "r", setup)
    train(experiment, setup.train, run, stop_at(9))
    best = best_of(run.rows(), setup)
    (run.folder / "metrics.csv").unlink()
    run, experiment = resume(run.folder)
    outcome = train(experiment, change(setup, "train", {"epochs": 5}).train, run)
    assert outcome.best.step == best.step and outcome.best.value == best.val_perplexity


def test_a_training_stopped_before_its_first_evaluation_answers_with_what_it_has(tmp_path):
    run, experiment = start(tmp_path / "r", RUNS["gpt"])
    train(experiment, RUNS["gpt"].train, run, stop_at(1))
    assert run.load().best is None
    assert evaluate(run.folder).facts["weights"] == "the last ones, of step 1"


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken",
    [
        {"best": 3},
        {"best": {"figure": "perplexity", "step": 0, "value": 1.0, "loss": 1.0, "since": 0}},
        {"best": {"figure": "perplexity", "step": 1, "value": 1.0}},
        {"trained": None},
        {"trained": {}},
    ],
)
def test_a_state_whose_best_is_nonsense_is_refused(tmp_path, broken):
    setup = RUNS["gpt"]
    run, experiment = start(tmp_path / "r", setup)
    train(experiment, setup.train, run, stop_at(3))
    checkpoint.save(run.folder, dataclasses.replace(run.load(), **broken))
    run, experiment = resume(run.folder)
    with pytest.raises(StateError, match=r"the saved state is not one of this experiment: .*best.*\nfix: "):
        train(experiment, setup.train, run)


NONSENSE = [3, [], "\ud800\x1b[2J", {}, {"figure": "perplexity", "step": True, "value": 1.0, "loss": 1.0, "since": 0}, 10**400,
            {"figure": "perplexity", "step": -(10**300), "value": 1.0, "loss": 1.0, "since": 0}]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("best", NONSENSE, ids=range(len(NONSENSE)))
@pytest.mark.parametrize("command", ["info", "eval"])
def test_whoever_reads_a_nonsense_as_the_best_says_it_in_two_lines(tmp_path, capsys, best, command):
    setup = RUNS["gpt"]
    run, experiment = start(tmp_path / "r", setup)
    train(experiment, setup.train, run, stop_at(3))
    checkpoint.save(run.folder, dataclasses.replace(run.load(), best=best))
    assert main([command, str(run.folder)]) == 2
    cause, fix = capsys.readouterr().err.splitlines()[-2:]
    assert "best evaluation" in cause and cause.isprintable() and len(cause) < 400 and fix.startswith("fix: restore the folder")


@pytest.mark.slow
def test_the_commands_say_it_in_a_line(tmp_path, capsys):
    words = "--d-model 16 --layers 1 --lr 1 --schedule constant --warmup-steps 0 --eval-every 1 --batch-size 30".split()
    folder = str(tmp_path / "r")
    assert main(["train", "bert", *words, "--epochs", "40", "--patience", "2", "--run", folder]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("early stopping", "kept:"))]
    assert len(said) == 2 and said[0].endswith(" for 2 evaluations (--patience 2)")
    assert said[1].startswith("kept: the weights of the best evaluation, accuracy ")
    for command in ("eval", "info"):
        assert main([command, folder]) == 0
        assert said[1].removeprefix("kept: the weights of ") in capsys.readouterr().out
    assert main(["train", "bert", "--resume", folder, "--patience", "3"]) == 0
    assert "for 3 evaluations (--patience 3)" in capsys.readouterr().out


# ---------------------------------------------------------------------- fit


@pytest.mark.slow
def test_fit_keeps_the_best_where_it_is_asked(tmp_path):
    given = model()
    settings = {"epochs": 5, "lr": 1.0, "schedule": "constant", "warmup_steps": 0, "eval_every": 2}
    outcome = fit(given, loader(), F.cross_entropy, val=batches(40), keep="best", folder=tmp_path / "r", **settings, **QUIET)
    lowest = min(outcome.rows, key=lambda row: row.val_loss)
    assert outcome.best.step == lowest.step
    again = fit(given, loader(), F.cross_entropy, val=batches(40), steps=1, lr=1e-30, warmup_steps=0, **QUIET)
    assert again.rows[0].val_loss == pytest.approx(lowest.val_loss, rel=1e-5)


def test_fit_ends_early_by_patience():
    settings = {"epochs": 50, "lr": 3.0, "schedule": "constant", "warmup_steps": 0, "eval_every": 1, "patience": 2}
    outcome = fit(model(), loader(), F.cross_entropy, val=batches(40), **settings, **QUIET)
    assert "no evaluation was better than loss" in outcome.ended and outcome.best.since == 2 and not outcome.best.weights


@pytest.mark.parametrize("setting", [{"keep": "best"}, {"patience": 1}])
def test_fit_without_an_evaluation_has_no_best(setting):
    with pytest.raises(ArgumentError, match="keep='best' and patience ask for batches to evaluate with\nfix: val=batches"):
        fit(model(), loader(), F.cross_entropy, **setting, **QUIET)


def test_equal_accuracies_are_told_apart_by_the_loss():
    def row(step, accuracy, loss):
        return Row(step, 1.0, 0.1, 1.0, 0.5, loss, accuracy, 2.0, 1.0, 1.0)

    rows = [row(1, 0.5, 0.3), row(2, 0.9, 0.8), row(3, 0.9, 0.4), row(4, 0.9, 0.4), row(5, float("nan"), float("nan"))]
    assert Best.among(rows, "accuracy").step == 3 and Best.among(rows, "loss").step == 1
    assert Best.among(rows[::-1], "accuracy").step == 4


def test_the_loss_decides_and_is_shown_where_the_figure_has_no_value():
    rows = [
        Row(step, 1.0, 0.1, 1.0, 0.0, loss, 0.0, 2.0, 1.0, 1.0, {"r2": float("nan")})
        for step, loss in ((1, 0.5), (2, 0.3), (3, 0.4))
    ]
    best = Best.among(rows, "r2")
    assert best.step == 2 and str(best) == "val_loss 0.3 at step 2"


def test_the_presets_keep_the_best():
    assert {setup.train.keep for named in PRESETS.values() for setup in named.values()} == {"best"}
