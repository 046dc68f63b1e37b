"""What goes on with a run that two ranks saved: any number of ranks, and after a kill while it was saved; and what is refused."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from badak.io.checkpoint import read_step
from tests.distributed.ranks import PROGRAMS, launch, without_ranks
from tests.distributed.small import arguments, state

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def half(text, tmp_path_factory):
    """What two ranks saved at the fourth step."""
    run = tmp_path_factory.mktemp("half") / "run"
    done = launch(2, *arguments(text, run, 4))
    assert done.code == 0, done.err
    return run


def go_on(ranks: int, half: Path, run: Path):
    """The run of two ranks, in a folder of its own, goes on to the eighth step; with 0 ranks in this process."""
    shutil.copytree(half, run)
    words = ["train", "gpt", "--resume", run, "--steps", "8"]
    return launch(ranks, *words) if ranks else without_ranks(*words)


@pytest.mark.thin(1)
@pytest.mark.parametrize("ranks", [1, 4])
def test_what_two_ranks_saved_any_number_goes_on_with(ranks, half, alone, tmp_path):
    done = go_on(ranks, half, tmp_path / "run")
    assert done.code == 0, done.err
    assert state(tmp_path / "run") == alone


def test_what_two_ranks_saved_three_go_on_with_in_another_order(half, tmp_path):
    done = go_on(3, half, tmp_path / "three")
    assert done.code == 0, done.err
    assert go_on(0, half, tmp_path / "one").code == 0
    one, three = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "three"))
    for name, value in one.items():
        # gradients differ by some roundings of 6e-8; Adam divides by their size, and moves by lr = 1e-3 at most, four times
        np.testing.assert_allclose(three[name], value, rtol=0, atol=1e-5, err_msg=name)
    assert read_step(tmp_path / "three") == 8


@pytest.mark.thin(1)
@pytest.mark.parametrize("when, step", [("write", 2), ("rename", 4)])
def test_a_rank_killed_while_it_saves_leaves_one_whole_state(when, step, text, alone, tmp_path):
    run = tmp_path / "run"
    done = launch(2, PROGRAMS / "dies_saving.py", when, *arguments(text, run, 8), options=("--restarts", "1"))
    assert done.code == 0, done.err
    assert "was killed by SIGKILL (9)" in done.err and "starting again, 1 of 1 times" in done.err
    assert f"goes on from step {step} of 8" in done.out
    assert state(run) == alone
    assert not [path.name for path in run.iterdir() if path.suffix in (".new", ".partial")]


@pytest.mark.parametrize(
    "ranks, name, spoil, said",
    [
        (1, "model", lambda data: data[:-1], "bytes instead of"),
        (2, "optimizer", lambda data: data[:-9] + bytes([data[-9] ^ 4]) + data[-8:], "its SHA-256 differs"),
    ],
)
def test_a_damaged_state_is_refused_in_two_lines(ranks, name, spoil, said, half, tmp_path):
    shutil.copytree(half, tmp_path / "run")
    path = tmp_path / "run" / f"{name}.safetensors"
    path.write_bytes(spoil(path.read_bytes()))
    done = launch(ranks, "train", "gpt", "--resume", tmp_path / "run", "--steps", "8")
    assert done.code == 1 and "Traceback" not in done.err
    assert f"error: {path}: damaged, or of another step than state.json (step 4): " in done.err and said in done.err
    assert done.err.count(f"fix: restore {path.name} and state.json from one copy of the folder\n") == 1
