"""badak train on several ranks: the same bits on 1, 2 and 4, whoever goes on with it, and whatever is killed in between."""

import sys

import pytest

from badak.cli import train
from badak.distributed.launch import agent
from badak.distributed.places import Place
from badak.training.presets import PRESETS
from tests.distributed.kills import Kills
from tests.distributed.ranks import SRC, _run, launch
from tests.distributed.small import arguments, state


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 4])
def test_several_ranks_train_to_the_bits_of_one(ranks, text, alone, tmp_path):
    done = launch(ranks, *arguments(text, tmp_path / "run", 8))
    assert done.code == 0, done.err
    assert done.out.count("run folder") == 1
    assert state(tmp_path / "run") == alone


@pytest.mark.slow
def test_train_starts_ranks_by_itself_and_keeps_the_log_of_each(text, alone, tmp_path):
    line = [sys.executable, "-m", "badak", *arguments(text, tmp_path / "run", 8), "--ranks", "2"]
    done = _run(line, tmp_path, PYTHONPATH=str(SRC))  # with pictures
    assert done.code == 0, done.err
    assert (tmp_path / "run" / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert state(tmp_path / "run") == alone
    kept = (tmp_path / "run" / "ranks" / "rank-0.log").read_text(encoding="utf-8")
    assert kept == done.out and "step      8 " in kept
    assert (tmp_path / "run" / "ranks" / "rank-1.log").read_text(encoding="utf-8") == ""


@pytest.mark.slow
def test_ranks_within_ranks_are_two_lines(tmp_path):
    done = _run([sys.executable, "-m", "badak", "train", "gpt", "--ranks", "2"], tmp_path, PMI_RANK="0", PMI_SIZE="2")
    assert done.code == 2
    assert done.err == ("error: badak train: --ranks 2, but this is one of several ranks already\nfix: leave --ranks out\n")


def test_a_log_has_no_progress_bar(tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(agent.os, "write", lambda number, text: shown.append(text))
    said = b"run folder x\n\r 0%|   |\r50%|## |\r        \rstep 2\n\r90%|\rended"
    (tmp_path / "said").write_bytes(said)
    with open(tmp_path / "said", "rb") as source, open(tmp_path / "log", "wb") as log:
        agent.tee(source, 1, log)
    assert b"".join(shown) == said
    assert (tmp_path / "log").read_bytes() == b"run folder x\nstep 2\nended"


@pytest.mark.nightly
@pytest.mark.slow
def test_killed_ranks_cost_nothing_but_time(tmp_path):
    kills = Kills(tmp_path, 2)
    for number in (0, 8, 10):  # while starting, writing a checkpoint, ending; more: python -m tests.distributed.kills 30
        found = kills.one(seed=0, number=number)
        assert found["right"], found


@pytest.mark.parametrize(
    ("given", "batch", "accumulate"),
    [({}, 32, 2), ({"batch_size": 10}, 5, 2), ({"batch_size": 9}, 9, 1), ({"grad_accum_steps": 1}, 64, 1)],
)
def test_ranks_cut_the_batch_of_an_update_where_nobody_says_how(given, batch, accumulate, monkeypatch, capsys):
    monkeypatch.setattr(train, "place", lambda: Place(0, 2, 0, 2))
    made = train.shared(train.choose_setup(PRESETS["classify"]["small"], given), given).train
    assert (made.batch_size, made.grad_accum_steps) == (batch, accumulate)
    told = f"each of 2 ranks takes {batch} of the {2 * batch} examples of an update\n"
    assert capsys.readouterr().out == (told if accumulate > 1 else "")


@pytest.mark.slow
def test_fewer_batches_than_ranks_are_two_lines(text, tmp_path):
    done = launch(2, *arguments(text, tmp_path / "run", 8), "--grad-accum-steps", "1")
    assert done.code == 1
    assert "error: training: 2 ranks share the batches of an update, and --grad-accum-steps is 1\n" in done.err
    assert "fix: --grad-accum-steps 2, with a --batch-size smaller by as much\n" in done.err
    assert "is 1; all ranks are ended" in done.err  # no place: the program is badak's
