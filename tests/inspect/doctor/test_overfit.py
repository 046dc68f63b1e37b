"""badak doctor --overfit: the first step of a program, made again and again, and what is said of the loss."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import badak
from badak.inspect.doctor.overfit import Trial

pytestmark = pytest.mark.slow

SOUND = ("sound", "loader", "inside", "byhand", "parts")


class Answer(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


SCRIPT = """
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F

HOW = sys.argv[1]
torch.manual_seed(0)

class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.drop, self.body = nn.Embedding(20, 16), nn.Dropout(0.9), nn.Linear(16, 32)
        self.head, self.bias = nn.Linear(32, 20, bias=False), nn.Parameter(torch.zeros(20))

    def forward(self, ids, labels=None):
        x = self.head(torch.relu(self.body(self.drop(self.table(ids)))))
        logits = (x.detach() if HOW == "detached" else x) + self.bias
        if HOW == "hides":
            self.aux = logits * 2
            return logits.detach()
        if labels is None:
            return logits
        if HOW == "drawn":
            labels = torch.randint(20, labels.shape)
        return logits, F.cross_entropy(logits.flatten(0, 1), labels.flatten())

def batch():
    x = torch.randint(20, (4, 8))
    return x, (x * 7 + 3) % 20

def loss_of(model, x, y):
    if HOW in ("drawn", "inside"):
        return model(x, y)[1]
    if HOW == "byhand":
        loss = -model(x).log_softmax(-1).gather(-1, y[..., None]).mean()
        loss += 0.5
        return loss - 0.5
    logits = model(x)
    return F.cross_entropy((model.aux if HOW == "hides" else logits).view(-1, 20), y.view(-1))

def train():
    model = Tiny()
    kind = torch.optim.SGD if HOW == "blows" else torch.optim.AdamW
    optimizer = kind(model.parameters(), lr={"lr0": 0.0, "blows": 1e9}.get(HOW, 0.01))
    if HOW == "warmup":
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: i / 1000)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*batch()), batch_size=2, shuffle=True)
    for step in range(300):
        x, y = next(iter(loader)) if HOW == "loader" else batch()
        optimizer.zero_grad()
        if HOW == "parts":
            (loss_of(model, x[:2], y[:2]) / 2).backward()
            (loss_of(model, x[2:], y[2:]) / 2).backward()
        elif HOW == "closure":
            optimizer.step(lambda: loss_of(model, x, y))
        elif HOW != "never":
            loss_of(model, x, y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if HOW == "changed":
            for p in model.parameters():
                p.grad.mul_(0.5)
        optimizer.step()
        torch.save(model.state_dict(), "saved.pt")

try:
    train()
finally:
    print("the program's own end")
"""


DRIVER = """
import contextlib, io, json, sys
from badak.cli import main
answers = {}
for how in sys.argv[1].split():
    words = {"19": ["--steps", "19", "train.py", "sound"], "go-on": ["--continue", "train.py", "sound"], "none": ["none.py"]}
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["doctor", "--overfit", *words.get(how, ["train.py", how])])
    answers[how] = code, out.getvalue(), err.getvalue()
print(json.dumps(answers))
"""


def answers_of(hows, folder, language="en"):
    """{how: (exit code, stdout, stderr)}, all from one process."""
    (folder / "train.py").write_text(SCRIPT)
    (folder / "none.py").write_text("print('no model')")
    environment = {**os.environ, "PYTHONPATH": str(Path(badak.__file__).parent.parent), "BADAK_LANG": language}
    command = [sys.executable, "-c", DRIVER, hows]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    assert not (folder / "saved.pt").exists()
    return {how: Answer(*answer) for how, answer in json.loads(done.stdout).items()}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    hows = [*SOUND, "warmup", *FAULTS, *REFUSED, "19", "go-on", "none"]
    return answers_of(" ".join(hows), tmp_path_factory.mktemp("overfit"))


@pytest.mark.parametrize("how", SOUND)
def test_a_sound_training_can_learn_a_batch_and_nothing_of_it_goes_on(how, answers):
    done = answers[how]
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the loss of one batch fell from " in done.stdout and "steps: it can learn" in done.stdout
    assert "the program's own end" in done.stderr


def test_a_schedule_that_begins_at_0_is_no_fault(answers):
    done = answers["warmup"]
    assert done.returncode == 0 and "it can learn" in done.stdout, done.stdout + done.stderr
    assert "note: with lr 0.01; the schedule gives lr 0 in the first step" in done.stdout


FAULTS = {
    "detached": ("4 parameters did not move (table.weight, ", "fix: look for detach(), .data, no_grad() or a factor of 0"),
    "lr0": (" with a learning rate of 0", "fix: a learning rate above 0: lr=1e-3"),
    "drawn": ("; the same batch gave ", "fix: something in the model or the loss draws random numbers at each call"),
    "blows": ("the loss goes up to ", "fix: a smaller learning rate than 1e+09"),
}


@pytest.mark.parametrize("how", FAULTS)
def test_what_cannot_be_learned_is_found_with_what_was_measured(how, answers):
    done = answers[how]
    line = next(i for i, text in enumerate(SCRIPT.splitlines(), 1) if "loss_of(model, x, y).backward()" in text)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"BADAK-229 one batch cannot be memorized  train.py:{line}" in done.stdout
    for part in FAULTS[how]:
        assert part in done.stdout, done.stdout
    assert " steps (it began at 3." in done.stdout and "it can learn" not in done.stdout


REFUSED = {
    "closure": "optimizer.step() computes the loss itself, by a closure",
    "changed": "something else than clipping changed the gradients after backward()",
    "never": "no loss.backward() was seen before optimizer.step()",
    "hides": "made inside of a module, and the module does not return it",
}


@pytest.mark.parametrize("how", REFUSED)
def test_what_cannot_be_repeated_is_said_and_not_guessed(how, answers):
    done = answers[how]
    error = done.stderr.splitlines()[-2:]
    assert done.returncode == 2 and done.stdout == "" and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert error[0].startswith("error: the first step cannot be repeated: ") and REFUSED[how] in error[0]
    assert error[1] == "fix: badak doctor without --overfit"


@pytest.mark.parametrize(("how", "cause"), [("19", "19 steps are too few"), ("go-on", "--continue is for watching")])
def test_wrong_options_are_two_lines(how, cause, answers):
    done = answers[how]
    error = done.stderr.splitlines()
    assert done.returncode == 2 and len(error) == 2 and cause in error[0] and error[1].startswith("fix: ")


def test_a_program_that_ends_before_a_step_is_two_lines(answers):
    done = answers["none"]
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "error: none.py: ended before it called a module that has parameters\nfix: badak run none.py" in done.stderr


def test_a_slow_steady_fall_is_no_fault_and_noise_is():
    falls = [2.3 - 0.001 * i for i in range(101)]
    assert not Trial([0.1], falls).stays
    assert Trial([0.1], [2.3] * 101).stays
    assert Trial([0.1], [2.3 + 0.1 * (-1) ** i - 0.0002 * i for i in range(101)]).stays
    assert Trial([0.1], [2.3, float("nan")]).stays
    assert not Trial([0.1], [1e-5] * 101).stays
    assert not Trial([0.1], [-1.0 - 0.01 * i for i in range(101)]).stays  # a likelihood may be above 0


def test_the_report_is_korean_where_it_is_asked_for(tmp_path):
    done = answers_of("lr0", tmp_path, "ko")["lr0"]
    assert done.returncode == 1 and "배치 하나를 외우지 못합니다" in done.stdout, done.stdout
