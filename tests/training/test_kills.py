"""A training that is killed at any of its file operations, or whose disk is full there, goes on and ends as one that was not."""

import dataclasses

import pytest

from badak import kernels
from badak.core.errors import FileError
from badak.training.build import resume, start
from badak.training.loop import train
from badak.training.presets import PRESETS, change
from badak.training.run import CONFIG
from tests.training.files import Killed, failing

pytestmark = pytest.mark.slow

SETUP = change(
    change(PRESETS["gpt"]["sentences"], "model", {"d_model": 8, "heads": 1, "layers": 1, "dropout": 0.2}),
    "train", {"steps": 3, "batch_size": 4, "eval_every": 2},
)  # fmt: skip
WRITTEN = {"config.json", "model.safetensors", "optimizer.safetensors", "state.json", "metrics.csv", ".lock"}


@pytest.fixture(autouse=True)
def plain():
    with kernels.use("reference"):
        yield


def go_on(folder):
    """What the user does next: begin where nothing was begun, else go on; the run when it is through."""
    began = (folder / CONFIG).exists()
    run, experiment = resume(folder) if began else start(folder, SETUP)
    assert train(experiment, SETUP.train, run)
    return run


def found(run):
    """All that a run leaves that does not depend on the clock."""
    rows = [dataclasses.replace(row, seconds=0.0, per_second=0.0) for row in run.rows()]
    files = {name: (run.folder / name).read_bytes() for name in WRITTEN if name.endswith(("json", "safetensors"))}
    files["state.json"] = files["state.json"].partition(b'"history"')[0]  # the rows have the seconds in them
    assert {path.name for path in run.folder.iterdir()} == WRITTEN
    return files, rows


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What an uninterrupted run leaves, and how many file operations it takes."""
    folder = tmp_path_factory.mktemp("whole") / "r"
    with kernels.use("reference"), failing(0, "never") as state:
        run = go_on(folder)
    return found(run), state.count


def operations(kind):
    """The numbers of the file operations of a whole run. The last test sees to it that these are enough."""
    return range(1, 91 if kind != "full" else 61)


@pytest.mark.thin(2)
@pytest.mark.parametrize("kind", ["kill", "full", "full once"])
@pytest.mark.parametrize("part", range(6))
def test_whatever_operation_fails_the_run_ends_as_if_none_had(tmp_path, whole, kind, part):
    expected, _ = whole
    for at in operations(kind)[part::6]:
        folder = tmp_path / str(at)
        for again in (at, 5 * at % 37):  # the next training fails too, somewhere else
            try:
                with failing(again, kind):
                    go_on(folder)
            except Killed:
                assert kind == "kill"
            except FileError as error:
                assert kind != "kill" and "No space left on device" in error.cause, error
                assert len(str(error).split("\n")) == 2
        assert found(go_on(folder)) == expected, at


def test_all_operations_were_tried(whole):
    assert whole[1] < len(operations("kill"))
