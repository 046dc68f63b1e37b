"""Nothing is said of programs that others use, of badak's own experiments, and what a watch costs afterwards is nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import badak
from badak.cli import main
from tests.doctor import clients


@pytest.mark.slow
@pytest.mark.skipif(bool(clients.why_absent()), reason=clients.why_absent() or "they are here")
@pytest.mark.parametrize("name", [*clients.NAMES, *clients.SCRIPTS])
def test_nothing_is_said_of_the_programs_of_others(name):
    command = [sys.executable, "-m", "tests.doctor.clients", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    row = json.loads(done.stdout.splitlines()[-1])
    assert not row["found"], row["text"]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classify", "gpt", "bert"])
def test_nothing_is_said_of_the_experiments(task, tmp_path):
    small = ["--d-model", "16", "--heads", "2", "--layers", "1", "--epochs", "1"]
    with badak.doctor(20, quiet=True) as checkup:
        assert main(["train", task, "--run", str(tmp_path / "run"), *small]) == 0
    assert checkup.ok and checkup.steps, checkup
