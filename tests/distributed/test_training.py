"""badak train on several ranks: the same bits on 1, 2 and 4, whoever goes on with it, and whatever is killed in between."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from tests.distributed.ranks import LIMIT, environment, launch

SIZES = [
    "--layers",
    "1",
    "--heads",
    "2",
    "--d-model",
    "16",
    "--context",
    "16",
    "--vocab-size",
    "40",
    "--schedule",
    "constant",
]
WAY = [
    "--batch-size",
    "4",
    "--accumulate",
    "4",
    "--eval-every",
    "2",
    "--dropout",
    "0.2",
    "--clip",
    "1",
    "--warmup-steps",
    "2",
]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """A text of so many batches that the last update of an epoch has fewer."""
    path = tmp_path_factory.mktemp("data") / "text.txt"
    path.write_text(
        "\n".join(f"{i} times {i} is {i * i}, and a little more than {i}." for i in range(28)), encoding="utf-8"
    )
    return path


def arguments(text: Path, run: Path, steps: int) -> list[str]:
    """A training of a GPT of a few numbers."""
    return ["train", "gpt", "--data", str(text), "--run", str(run), "--steps", str(steps), *SIZES, *WAY]


def state(run: Path) -> list[str]:
    """Hashes of the weights and the moments, and the rows without their times."""
    made = []
    for name in ("model", "optimizer"):
        tensors = load_file(run / f"{name}.safetensors")
        made.append(
            hashlib.sha256(b"".join(key.encode() + tensors[key].tobytes() for key in sorted(tensors))).hexdigest()
        )
    return made + [",".join(line.split(",")[:8]) for line in (run / "metrics.csv").read_text().splitlines()]


@pytest.fixture(scope="module")
def alone(text, tmp_path_factory):
    """The run of one rank, to its eighth step."""
    run = tmp_path_factory.mktemp("alone") / "run"
    done = launch(1, *arguments(text, run, 8), "--tree")
    assert done.code == 0, done.err
    return state(run)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 4])
def test_several_ranks_train_to_the_bits_of_one(ranks, text, alone, tmp_path):
    done = launch(ranks, *arguments(text, tmp_path / "run", 8))
    assert done.code == 0, done.err
    assert done.out.count("run folder") == 1
    assert state(tmp_path / "run") == alone


@pytest.mark.slow
def test_what_two_ranks_saved_one_goes_on_with(text, alone, tmp_path):
    run = tmp_path / "run"
    assert launch(2, *arguments(text, run, 4)).code == 0
    done = launch(1, "train", "gpt", "--resume", run, "--steps", "8")
    assert done.code == 0, done.err
    assert state(run) == alone


@pytest.mark.slow
def test_a_killed_rank_costs_nothing_but_time(text, alone, tmp_path):
    run = tmp_path / "run"
    line = [sys.executable, "-m", "badak", "launch", "-n", "2", "--restarts", "2", *arguments(text, run, 8)]
    process = subprocess.Popen(line, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + LIMIT
    while not (run / "metrics.csv").exists() and time.monotonic() < until:
        time.sleep(0.01)
    victims = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_rank(pid, str(run))]
    os.kill(victims[-1], signal.SIGKILL)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    assert "was killed by SIGKILL (9)" in err and "starting again, 1 of 2 times" in err
    assert state(run) == alone


def is_rank(pid: int, run: str) -> bool:
    """Whether this process computes in that run."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return False
    return words[1:4] == ["-m", "badak", "train"] and run in words


@pytest.mark.slow
def test_fewer_batches_than_ranks_are_two_lines(text, tmp_path):
    done = launch(2, *arguments(text, tmp_path / "run", 8), "--accumulate", "1")
    assert done.code == 1
    assert "error: training: 2 ranks share the batches of an update, and --accumulate is 1\n" in done.err
    assert "fix: --accumulate 2, with a --batch-size smaller by as much\n" in done.err
