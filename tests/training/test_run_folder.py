"""What a run folder holds is believed only as it was written; one training at a time; a run can be made longer."""

import copy
import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import badak
from badak import kernels
from badak.core.errors import ArgumentError, BadakError, BadakWarning, FileError, StateError
from badak.inspect.profiling.profiled import profile_run
from badak.io import checkpoint
from badak.io.checkpoint import Checkpoint
from badak.io.sealed import seal, unseal
from badak.tensor import Tensor
from badak.training.build import open_model, resume, start
from badak.training.describe import describe
from badak.training.loop import train
from badak.training.metrics import write_row
from badak.training.presets import PRESETS, change
from badak.training.run import Run
from badak.training.train_state import TrainState

SETUP = change(
    change(PRESETS["gpt"]["sentences"], "model", {"d_model": 8, "heads": 1, "layers": 1, "dropout": 0.2}),
    "train", {"epochs": 2, "batch_size": 4, "eval_every": 2},
)  # fmt: skip
FILES = ("config.json", "state.json", "model.safetensors", "optimizer.safetensors")


@pytest.fixture(autouse=True)
def plain():
    with kernels.use("reference"):
        yield


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "r"
    with kernels.use("reference"):
        run, experiment = start(folder, SETUP)
        assert train(experiment, SETUP.train, run)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(trained, tmp_path):
    """A copy of a finished run."""
    (tmp_path / "r").mkdir()
    for name, data in trained.items():
        (tmp_path / "r" / name).write_bytes(data)
    return tmp_path / "r"


def go_on(folder, **changes):
    run, experiment = resume(folder, changes=changes)
    assert train(experiment, run.setup.train, run)
    return run


# ---------------------------------------------------------------------- hashes


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", [0.0, 0.03, 0.5, 0.97, 1.0])
def test_a_changed_byte_is_refused_by_all_who_read_it(folder, name, place):
    data = bytearray((folder / name).read_bytes())
    data[round(place * (len(data) - 1))] ^= 4
    (folder / name).write_bytes(data)
    readers = [go_on, lambda folder: profile_run(folder, 1, 0, print)]
    if name != "optimizer.safetensors":
        readers.append(lambda folder: open_model(folder, "gpt"))
    for read in readers:
        with pytest.raises(FileError, match=rf"{name}: damaged.*\nfix: restore"):
            read(folder)
    assert (folder / name).read_bytes() == data


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES[1:])
def test_a_file_that_is_gone_is_not_begun_anew(folder, name):
    (folder / name).unlink()
    with pytest.raises(FileError, match=rf"{name}: no such file"):
        go_on(folder)


def test_settings_of_another_run_are_refused(folder, tmp_path):
    other, _ = start(tmp_path / "other", change(SETUP, "train", {"lr": 0.5}))
    (folder / "config.json").write_bytes((other.folder / "config.json").read_bytes())
    for read in (go_on, lambda folder: open_model(folder, "gpt")):
        with pytest.raises(StateError, match="learned with other settings than config.json has\nfix: restore both"):
            read(folder)


def test_settings_without_an_option_that_came_later_are_the_same(folder):
    """As a run of an older badak has them."""
    table = unseal(folder / "config.json", "")
    del table["train"]["label_smoothing"]
    run = Run(folder, SETUP, table)
    run.write_settings()
    run.save(checkpoint.load(folder), unseal(folder / "state.json", "")["state"]["origin"]["data"])
    assert go_on(folder, epochs=3).load().step == 9


def test_another_text_with_the_same_characters_is_refused(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("abc cab bca " * 20)
    setup = change(change(PRESETS["gpt"]["characters"], "model", {"d_model": 8, "heads": 1, "layers": 1, "context": 4}),
                   "data", {"path": str(text)})  # fmt: skip
    setup = change(setup, "train", {"steps": 1, "batch_size": 2})
    run, experiment = start(tmp_path / "r", setup)
    train(experiment, setup.train, run)
    moved = tmp_path / "moved.txt"
    moved.write_text(text.read_text())
    text.write_text("cba bac acb " * 20)
    with pytest.raises(StateError, match=r"the data is not what this run began with\nfix: bring the old data back"):
        go_on(run.folder)
    assert go_on(run.folder, path=str(moved), steps=2).load().step == 2


def test_looking_at_a_run_changes_nothing(folder):
    with (folder / "metrics.csv").open("ab") as file:
        file.write(b"7,torn")
    (folder / "model.safetensors.new").write_bytes(b"of a training that is at work")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    profile_run(folder, 1, 0, print)
    open_model(folder, "gpt")
    describe(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


# ---------------------------------------------------------------------- metrics.csv


@pytest.mark.slow
@pytest.mark.parametrize("end", [b"", b"7", b"7,3.5,0.0001", b"8,4.0,1,1,1,1,1,1,1,1\r\n", b"\xff\x00"])
def test_what_was_written_after_the_state_is_cut_off(folder, end):
    before = (folder / "metrics.csv").read_bytes()
    (folder / "metrics.csv").write_bytes(before + end)
    run = go_on(folder, epochs=3)
    assert [row.step for row in run.rows()] == [2, 4, 6, 8, 9]
    assert (folder / "metrics.csv").read_bytes().startswith(before)


@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: data.replace(b"2,", b"3,", 1)])
def test_rows_that_changed_are_named_and_can_be_moved_away(folder, damage):
    path = folder / "metrics.csv"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FileError, match=r"metrics.csv: damaged or edited.*\nfix: restore it from a copy, or move it away"):
        go_on(folder)
    path.rename(folder / "old.csv")
    assert [row.step for row in go_on(folder, epochs=3).rows()] == [8, 9]


def test_a_damaged_metrics_file_keeps_the_curves_away_and_nothing_else(folder, pictures):
    (folder / "metrics.csv").write_bytes(b"step,epoch\n1,two\n")
    said = []
    assert not Run.open(folder).draw(said.append)
    assert len(said) == 1 and said[0].startswith("no curves.png: ") and "not a metrics file" in said[0]


# ---------------------------------------------------------------------- one training at a time

HOLD = """
import sys, time
from badak.training.run import Run
with Run.open(sys.argv[1]).locked():
    print("held", flush=True)
    time.sleep(600)
"""


def hold(folder):
    source = str(Path(badak.__file__).parent.parent)
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": source}
    )
    assert process.stdout.readline().strip() == b"held"
    return process


@pytest.mark.slow
def test_a_second_training_in_a_folder_is_refused_until_the_first_is_dead(folder):
    other = hold(folder)
    try:
        with pytest.raises(StateError) as caught:
            go_on(folder, epochs=3)
        assert str(caught.value) == (
            f"{folder}: another training is at work there (process {other.pid})\n"
            "fix: wait until it ends, or stop it; --run names another folder for a new run"
        )
        assert open_model(folder, "gpt").model is not None  # asking is always possible
    finally:
        other.kill()
        other.communicate()
    assert go_on(folder, epochs=3).load().step == 9


def test_a_second_training_of_the_same_process_is_refused(folder):
    run, experiment = resume(folder)
    with run.locked(), pytest.raises(StateError, match="another training is at work there"):
        train(experiment, run.setup.train, Run.open(folder))


def test_leftovers_of_killed_trainings_are_removed(folder):
    for name in (".state.json.77.partial", ".metrics.csv.8.partial"):
        (folder / name).write_bytes(b"half")
    (folder / "model.safetensors.new").write_bytes(b"half")
    go_on(folder)
    assert {path.name for path in folder.iterdir()} == {*FILES, "metrics.csv", ".lock"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has its own locks")
def test_a_file_system_without_locks_is_said_once(folder, monkeypatch):
    import errno
    import fcntl

    def none(handle, how):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    (folder / ".other.partial").write_bytes(b"perhaps of a training that is at work")
    with pytest.warns(BadakWarning, match=r"r: this file system has no locks \(.*\nfix: train one at a time") as said:
        go_on(folder, epochs=3)
    assert len(said) == 1 and (folder / ".other.partial").exists()


# ---------------------------------------------------------------------- longer than it was to be


@pytest.mark.slow
def test_a_longer_run_equals_one_that_was_to_be_so_long(folder, tmp_path):
    """With a rate that never changes, bit for bit."""
    longer = change(SETUP, "train", {"epochs": 4})
    whole, experiment = start(tmp_path / "whole", longer)
    assert train(experiment, longer.train, whole)
    run = go_on(folder, epochs=4)
    assert run.setup.train == Run.open(folder).setup.train == longer.train
    for name in ("config.json", "model.safetensors", "optimizer.safetensors"):
        assert (folder / name).read_bytes() == (whole.folder / name).read_bytes(), name


@pytest.mark.slow
def test_a_longer_cosine_is_followed_from_where_the_run_stands(tmp_path):
    setup = change(SETUP, "train", {"schedule": "cosine", "lr": 0.01})
    run, experiment = start(tmp_path / "r", setup)
    train(experiment, setup.train, run)
    said = []
    run, experiment = resume(tmp_path / "r", said.append, {"steps": 12})
    assert said[-1] == (
        "goes on from step 6 to 12; it was to end at 6. The learning rate is that of a run which was to make 12 steps from "
        "the start: 0.0055 next, not 0.001"
    )
    learner = TrainState(experiment, run.setup.train)
    learner.restore(run)
    assert learner.optimizer.param_groups[0]["lr"] == run.setup.train.lr * run.setup.train.rate(6, 12)
    assert train(experiment, run.setup.train, run)
    assert run.rows()[-1].lr == pytest.approx(0.001)


def test_a_run_cannot_end_before_where_it_stands(folder):
    with pytest.raises(ArgumentError, match=r"the run has made 6 steps, more than the 3 .*\nfix: --steps 9, or --epochs 3"):
        resume(folder, changes={"epochs": 1})
    assert Run.open(folder).setup.train == SETUP.train


def test_what_is_finished_or_never_saved_is_said(folder, tmp_path):
    said = []
    resume(folder, said.append)
    assert said[-1] == "this run is finished (step 6 of 6); with --epochs or --steps it goes on"
    start(tmp_path / "new", SETUP)
    resume(tmp_path / "new", said.append)
    assert f"{tmp_path / 'new'}: nothing was saved yet, it starts from the beginning" in said


# ---------------------------------------------------------------------- signals


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_to_end_saves(tmp_path, name):
    number = getattr(signal, name, None)
    if number is None:
        pytest.skip(f"this system has no {name}")
    run, experiment = start(tmp_path / "r", SETUP)
    assert not train(experiment, SETUP.train, run, lambda p: p.step == 3 and signal.raise_signal(number))
    assert run.load().step == 3


# ---------------------------------------------------------------------- sound files, nonsense inside


def leaves(value, path=()):
    """Where the parts of a state are, from the outside in."""
    yield path
    if isinstance(value, (dict, list, tuple)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*path, key))


def put(value, path, new):
    if not path:
        return new
    if isinstance(value, tuple):
        return tuple(put(list(value), path, new))
    value = copy.copy(value)
    value[path[0]] = put(value[path[0]], path[1:], new)
    return value


NONSENSE = [None, -1, 10**30, "x", [], {}, {"x": 1}, (1, 2), True, 0.5, float("nan"), float("inf"),
            Tensor._of(np.zeros((2, 3), np.float32)), Tensor._of(np.zeros(5056, np.uint8)), Tensor._of(np.array(-3))]  # fmt: skip


@pytest.mark.thin(3)
@pytest.mark.slow
@pytest.mark.parametrize("part", sorted({*checkpoint.PARTS, "model"}))
def test_nonsense_under_a_right_checksum_is_an_error_of_two_lines(folder, part):
    """Or it is a state that the training goes on from: never another exception."""
    run, experiment = resume(folder, changes={"epochs": 3})
    whole = run.load()
    refused = 0
    for path in leaves(getattr(whole, part)):
        for new in NONSENSE:
            with_it = dataclasses.replace(whole, **{part: put(getattr(whole, part), path, new)})
            Run.load, before = (lambda self, state=with_it: check(self, state)), Run.load
            try:
                learner = TrainState(experiment, run.setup.train)
                learner.restore(run)
                inputs, labels = experiment.prepare(learner.next_batch())
                learner._learn(inputs, labels)
                learner.schedule.step()
            except BadakError as error:
                assert len(str(error).split("\n")) == 2 and error.fix, (path, new)
                refused += 1
            finally:
                Run.load = before
    assert refused > len(NONSENSE) // 2


def check(run: Run, state: Checkpoint) -> Checkpoint:
    """What `Run.load` makes of a state that it read."""
    run._check_origin(state.origin)
    return state


@pytest.mark.parametrize("said", [{"bytes": "\ud800"}, {"bytes": 1.5}, {"sha256": 3}, {"sha256": None}, {"more": 1}])
def test_what_state_json_says_of_a_file_is_a_size_and_a_hash(folder, said):
    index = unseal(folder / "state.json", "")
    index["files"]["model.safetensors"].update(said)
    (folder / "state.json").write_bytes(seal(index))
    with pytest.raises(FileError, match=r"state.json: damaged, .*: expected bytes and sha256 of model.safetensors\nfix: "):
        open_model(folder, "gpt")


@pytest.mark.parametrize("number", ["x" * 10_000, "4.4" * 1000, "\ud800", ""])
def test_a_row_that_is_no_number_is_quoted_in_a_short_line(folder, number):
    (folder / "metrics.csv").write_text("step,epoch\n" + number + ",1\n", errors="surrogatepass")
    with pytest.raises(FileError, match=r"metrics.csv: not a metrics file of badak \(.*\)\nfix: ") as told:
        Run.open(folder).rows()
    assert len(str(told.value)) < 600 and str(told.value).count("\n") == 1


def test_a_model_of_any_size_is_refused_before_it_is_built(folder):
    for width in (10**9, 10**30, 10**200):
        table = unseal(folder / "config.json", "")
        table["model"]["d_model"] = width
        (folder / "config.json").write_bytes(seal(table))
        with pytest.raises(ArgumentError, match=r"a model of d_model=10+ and 1 layer has .* e?.*GB"):
            open_model(folder, "gpt")


@pytest.mark.parametrize("layers, width", [(100_000, 8), (1, 8_000)])
@pytest.mark.parametrize("read", [lambda folder: open_model(folder, "gpt"), resume])
def test_a_model_larger_than_its_weights_is_refused_before_it_is_built(folder, layers, width, read):
    table = unseal(folder / "config.json", "")
    table["model"].update(layers=layers, d_model=width)
    (folder / "config.json").write_bytes(seal(table))
    cause = r"model.safetensors: [\d,]+ bytes, too few for the model in config.json\nfix: |needs .* GB"
    with pytest.raises(BadakError, match=cause):
        read(folder)


def test_weights_of_another_model_are_an_error_of_two_lines(folder):
    state = checkpoint.load(folder)
    state.model["blocks.0.norm1.bias.x"] = state.model.pop("blocks.0.norm1.bias")
    checkpoint.save(folder, state)
    cause = r"model.safetensors: not the weights of the model in config.json: .*\nfix: restore the folder"
    with pytest.raises(StateError, match=cause) as told:
        open_model(folder, "gpt")
    assert len(str(told.value).split("\n")) == 2 and "blocks.0.norm1.bias" in str(told.value)


@pytest.mark.parametrize("step", [-1, 5, 7, 10**30, True, 6.0, "6", None])
def test_another_step_is_refused(folder, step):
    index = unseal(folder / "state.json", "")
    (folder / "state.json").write_bytes(seal({**index, "step": step}))
    with pytest.raises(BadakError) as caught:
        go_on(folder, epochs=3)
    assert len(str(caught.value).split("\n")) == 2


def test_rows_are_not_written_where_they_cannot_be(folder):
    row = Run.open(folder).rows()[0]
    with pytest.raises(FileError, match=r"cannot be written"):
        write_row(folder / "metrics.csv" / "x", row)


def test_lines_need_a_token_that_ends_them(folder):
    table = unseal(folder / "config.json", "")
    table["data"]["tokens"], table["vocabulary"] = "characters", [chr(65 + i) for i in range(len(table["vocabulary"]))]
    (folder / "config.json").write_bytes(seal(table))
    with pytest.raises(FileError, match=r"config.json: data.lines is true, but no token ends a line\nfix: restore the file"):
        open_model(folder, "gpt")
