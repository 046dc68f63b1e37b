"""Nothing is said of the programs of others, nor of badak's own experiments."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import badak
from badak.cli import main
from tests.doctor import clients
from tests.real_data import real_data


@pytest.mark.slow
@pytest.mark.skipif(bool(clients.why_absent()), reason=clients.why_absent() or "they are here")
@pytest.mark.parametrize("name", [*clients.NAMES, *clients.SCRIPTS])
def test_nothing_is_said_of_the_programs_of_others(name):
    command = [sys.executable, "-m", "tests.doctor.clients", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    row = json.loads(done.stdout.splitlines()[-1])
    assert not row["found"], row["text"]


class Enough(Exception):
    """The report is complete."""


class Ends:
    """Where the report is written: ends the training then."""

    def write(self, text: str) -> None:
        raise Enough


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classify", "gpt", "bert"])
def test_nothing_is_said_of_the_experiments(task, tmp_path):
    small = ["--d-model", "16", "--heads", "2", "--epochs", "8" if task == "bert" else "1"]
    if task == "classify":
        small += ["--data", str(real_data("mnist")), "--encoder-layers", "1", "--decoder-layers", "1"]
    else:
        small += ["--layers", "1"]
    with suppress(Enough), badak.doctor(20, file=Ends()) as checkup:
        main(["train", task, "--run", str(tmp_path / "run"), *small])
    assert checkup.ok and checkup.steps == 20, checkup
