"""badak doctor TRAIN.py: what it prints, writes and gives back, and what it says to wrong input."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import badak
from badak.cli import main
from badak.core.errors import ArgumentTypeError

SCRIPT = """
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F

class Tiny(nn.Module):
    def __init__(self, wrong):
        super().__init__()
        self.table, self.head, self.wrong = nn.Embedding(20, 16), nn.Linear(16, 20), wrong

    def forward(self, ids):
        logits = self.head(self.table(ids))
        return F.softmax(logits, dim=-1) if self.wrong else logits

def train():
    model = Tiny(wrong=sys.argv[1] == "wrong")
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(int(sys.argv[2])):
        ids = torch.randint(20, (4, 9))
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
    print("trained to the end")

if __name__ == "__main__":
    train()
"""


def run(*arguments, cwd=None):
    environment = {**os.environ, "PYTHONPATH": str(Path(badak.__file__).parent.parent)}
    command = [sys.executable, "-m", "badak", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd, check=False)


@pytest.mark.slow
def test_a_program_ends_when_the_steps_are_over_and_what_is_wrong_is_said_with_its_line(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    done = run("doctor", "--steps", 5, "--html", "report.html", "train.py", "wrong", 100, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("doctor of train.py: 5 steps") and "step 3" in done.stderr and "step 5" not in done.stderr
    line = next(i for i, text in enumerate(SCRIPT.splitlines(), 1) if "F.cross_entropy" in text)
    made = next(i for i, text in enumerate(SCRIPT.splitlines(), 1) if "F.softmax" in text)
    assert f"BADAK-202 probabilities in the place of logits  train.py:{line}" in done.stdout
    assert f"what softmax made at train.py:{made}" in done.stdout and "\n  fix: " in done.stdout
    assert len(done.stdout.splitlines()) <= 24 and "Traceback" not in done.stderr
    assert "BADAK-202" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_a_sound_program_may_go_on_to_its_end(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    done = run("doctor", "--steps", 5, "--continue", "train.py", "sound", 9, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing found" in done.stdout and "trained to the end" in done.stderr


WRONG = {
    "print('no model')": "ended before it called a module that has parameters",
    "1 / 0": "failed with ZeroDivisionError: division by zero, before it called a module that has parameters",
    "import sys; sys.exit(3)": "ended with exit code 3 before it called",
    "import torch; torch.nn.Linear(2, 2)(torch.ones(1, 2))": "ended before its first optimizer.step()",
    "import torch; torch.nn.Linear(2, 2)(torch.ones(1, 3))": "failed with",
}


@pytest.mark.thin(3)
@pytest.mark.slow
@pytest.mark.parametrize("program", WRONG)
def test_a_program_that_does_not_train_is_two_lines(program, tmp_path):
    (tmp_path / "train.py").write_text(program)
    done = run("doctor", "train.py", cwd=tmp_path)
    error = done.stderr.splitlines()[-2:]
    assert done.returncode == 2 and error[0].startswith("error: train.py: ") and WRONG[program] in error[0], done.stderr
    assert error[1] == "fix: badak run train.py shows what it does" and "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["nothing-there.py"], ["--steps", "0", "x.py"], ["--steps", "x", "x.py"], []])
def test_a_mistake_is_two_lines_and_code_2(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["doctor", *words]) == 2
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 2 and error[0].startswith("error: ") and error[1].startswith("fix: ")


def test_no_steps_leave_nothing_to_watch():
    with pytest.raises(badak.core.errors.ArgumentError, match="doctor: steps=0 leaves nothing to watch\nfix: steps=20"):
        badak.doctor(0)


def test_what_is_no_file_is_refused(capsys):
    assert main(["doctor", "nosuch.py"]) == 2
    assert capsys.readouterr().err == "error: nosuch.py: no such file\nfix: badak doctor TRAIN.py, a program that trains\n"
    with pytest.raises(ArgumentTypeError, match="file is int, which cannot be written to") as caught:
        badak.doctor(file=3)
    assert caught.value.fix == "file=sys.stdout"


LATE = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for epoch in range(3):
    for step in range(9):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.randn(6, 4)), torch.randint(3, (6,))).backward()
        optimizer.step()
    with torch.no_grad():
        model(torch.randn(6, 4))
    print("epoch", epoch)
"""


@pytest.mark.slow
def test_a_program_is_waited_for_until_its_first_test(tmp_path):
    (tmp_path / "train.py").write_text(LATE)
    done = run("doctor", "--steps", 5, "train.py", cwd=tmp_path)
    assert done.returncode == 1 and "BADAK-206 tested in train mode  train.py:12" in done.stdout, done.stdout + done.stderr
    assert "after step 5" in done.stdout and "epoch" not in done.stderr
