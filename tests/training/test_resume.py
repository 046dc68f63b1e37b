"""A run that is interrupted and resumed equals one that is not, bit for bit."""

import dataclasses
import signal

import numpy as np
import pytest

from badak.core.errors import ArgumentError, FileError, StateError
from badak.training.build import resume, start
from badak.training.loop import train
from badak.training.metrics import Row, read_rows, write_row
from badak.training.presets import PRESETS, change
from badak.training.run import Run

TINY = {
    "gpt": change(
        change(PRESETS["gpt"]["sentences"], "model", {"d_model": 16, "layers": 1, "dropout": 0.2}),
        "train", {"epochs": 6, "batch_size": 3, "eval_every": 5, "schedule": "cosine",
                  "warmup_steps": 4, "optimizer": "adamw", "max_grad_norm": 1.0},
    ),
    "stream": change(
        change(PRESETS["gpt"]["characters"], "model", {"d_model": 16, "layers": 1, "context": 16, "dropout": 0.1}),
        "train", {"steps": 23, "batch_size": 4, "eval_every": 10},
    ),
    "bert": change(
        change(PRESETS["bert"]["proverbs"], "model", {"d_model": 16, "layers": 1}), "train", {"epochs": 8, "eval_every": 7}
    ),
}  # fmt: skip
TINY["stream"] = change(TINY["stream"], "data", {"corpus": "sentences", "val_split": 0.3})
TINY["text"] = change(
    change(PRESETS["text"]["opinions"], "model", {"d_model": 16}), "train", {"steps": 29, "eval_every": 12, "batch_size": 32}
)
TINY["text, numbers"] = change(change(TINY["text"], "data", {"task": "regression"}), "model", {"pooling": "mean"})
TINY["translate, weights averaged"] = change(
    change(PRESETS["translate"]["phrases"], "model", {"d_model": 16, "heads": 2, "feedforward": 16, "dropout": 0.2}),
    "train", {"epochs": 4, "batch_size": 9, "eval_every": 5, "ema_decay": 0.9},
)  # fmt: skip
TINY["gpt, batches accumulated"] = change(TINY["gpt"], "train", {"grad_accum_steps": 3})
TINY["gpt in bf16"] = change(TINY["gpt"], "train", {"precision": "bf16"})


def stop_at(step):
    """What a user does who presses Ctrl-C after `step` updates."""

    def report(progress):
        if progress.step == step:
            signal.raise_signal(signal.SIGINT)

    return report


def timeless(run):
    """The rows without their times, to compare: NaN (there is no accuracy of numbers) equals itself here."""
    return [repr(dataclasses.replace(row, seconds=0.0, per_second=0.0)) for row in run.rows()]


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("stops", [[1], [5, 10], [7, 8, 9]])
def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(tmp_path, name, stops):
    setup = TINY[name]
    whole, experiment = start(tmp_path / "whole", setup)
    assert train(experiment, setup.train, whole)

    parts, experiment = start(tmp_path / "parts", setup)
    for stop in stops:
        assert not train(experiment, setup.train, parts, stop_at(stop))
        parts, experiment = resume(parts.folder)
    assert train(experiment, setup.train, parts)

    for file in ("model.safetensors", "optimizer.safetensors", "config.json"):
        assert (whole.folder / file).read_bytes() == (parts.folder / file).read_bytes(), file
    assert timeless(whole) == timeless(parts) != []


@pytest.mark.slow
def test_resuming_at_the_end_of_an_epoch_begins_the_next_one(tmp_path):
    setup = change(TINY["gpt"], "train", {"batch_size": 5})  # two batches in an epoch
    run, experiment = start(tmp_path / "a", setup)
    assert not train(experiment, setup.train, run, stop_at(4))
    run, experiment = resume(run.folder)
    assert train(experiment, setup.train, run)
    assert run.rows()[-1].step == 12


def test_rows_written_after_the_saved_state_are_dropped(tmp_path):
    setup = TINY["gpt"]
    run, experiment = start(tmp_path / "a", setup)
    train(experiment, setup.train, run, stop_at(5))
    run.write(dataclasses.replace(run.rows()[-1], step=9))
    assert [row.step for row in run.rows()] == [5, 9]
    assert run.load().step == 5
    assert [row.step for row in run.rows()] == [5, 9]  # looking changes nothing
    run.rewind(run.load())
    assert [row.step for row in run.rows()] == [5]


@pytest.mark.slow
def test_a_finished_run_has_nothing_left_to_do(tmp_path):
    setup = TINY["bert"]
    run, experiment = start(tmp_path / "a", setup)
    train(experiment, setup.train, run)
    before = (run.folder / "model.safetensors").read_bytes()
    run, experiment = resume(run.folder)
    assert train(experiment, setup.train, run)
    assert (run.folder / "model.safetensors").read_bytes() == before


def test_the_second_interrupt_stops_at_once(tmp_path):
    setup = TINY["bert"]
    run, experiment = start(tmp_path / "a", setup)

    def twice(progress):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(experiment, setup.train, run, twice)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_text_that_changed_since_is_refused(tmp_path):
    (tmp_path / "text.txt").write_text("one two three\n" * 30)
    setup = change(TINY["stream"], "data", {"path": str(tmp_path / "text.txt")})
    run, experiment = start(tmp_path / "a", setup)
    train(experiment, setup.train, run, stop_at(2))
    (tmp_path / "text.txt").write_text("six seven eight\n" * 30)
    with pytest.raises(StateError, match="the text is not the one that this run began with"):
        resume(run.folder)


def test_a_state_cut_short_is_named(tmp_path):
    setup = TINY["bert"]
    run, experiment = start(tmp_path / "a", setup)
    train(experiment, setup.train, run, stop_at(2))
    path = run.folder / "optimizer.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    run, experiment = resume(run.folder)
    with pytest.raises(FileError, match=r"optimizer.safetensors: damaged"):
        train(experiment, setup.train, run)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the loss is NaN")  # which says where
def test_a_loss_that_is_not_a_number_stops_the_run_and_keeps_the_last_state(tmp_path):
    setup = change(TINY["gpt"], "train", {"max_grad_norm": 0.0, "warmup_steps": 0})
    run, experiment = start(tmp_path / "a", setup)
    train(experiment, setup.train, run, stop_at(5))
    run, experiment = resume(run.folder)
    restored = Run.load

    def poisoned(run):
        state = restored(run)
        state.trained["norm.weight"].fill_(float("nan"))
        return state

    Run.load = poisoned
    try:
        with pytest.raises(ArgumentError, match=r"the loss is nan at step 6\nfix: a smaller --lr"):
            train(experiment, setup.train, run)
    finally:
        Run.load = restored
    assert run.load().step == 5 and np.isfinite(run.load().model["norm.weight"].numpy()).all()


@pytest.mark.slow
def test_metrics_read_back_as_they_were_written(tmp_path):
    setup = TINY["bert"]
    run, experiment = start(tmp_path / "a", setup)
    train(experiment, setup.train, run)
    assert [row.step for row in run.rows()] == [7, 14, 21, 24]
    assert read_rows(tmp_path / "none.csv") == []


def test_a_damaged_metrics_file_is_named(tmp_path):
    (tmp_path / "metrics.csv").write_text("step,epoch\n1,two\n")
    with pytest.raises(FileError, match=r"metrics.csv: not a metrics file of badak"):
        read_rows(tmp_path / "metrics.csv")


def test_metrics_that_cannot_be_written_are_named(tmp_path):
    with pytest.raises(FileError, match=r"metrics.csv: cannot be written \(No such file or directory\)"):
        write_row(tmp_path / "gone" / "metrics.csv", Row(1, 0.5, 1e-3, 2.0, 0.1, 2.1, 0.2, 8.0, 100.0, 1.0))
