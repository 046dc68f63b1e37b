"""badak audit RUN | SCRIPT: what it asks, prints, writes, and gives back."""

import re
from pathlib import Path

import pytest

from badak.cli import main
from tests.inspect.doctor.test_command import run

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "audit.md"

SCRIPT = """
import sys
import torch
import torch.nn as nn

class Tiny(nn.Module):
    def __init__(self, leak):
        super().__init__()
        self.table, self.position = nn.Embedding(20, 16), nn.Embedding(8, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.head, self.leak = nn.Linear(16, 20), leak

    def forward(self, ids):
        T = ids.shape[1]
        mask = None if self.leak else nn.Transformer.generate_square_subsequent_mask(T)
        return self.head(self.layer(self.table(ids) + self.position(torch.arange(T)), src_mask=mask))

def train():
    model = Tiny(leak=sys.argv[1] == "leak")
    optimizer = torch.optim.AdamW(list(model.parameters())[1:])
    print("begins")
    ids = torch.randint(20, (4, 9))
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        raise SystemExit("the audit comes before the first step")

if __name__ == "__main__":
    train()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("word", "kind", "leak"), [("leak", "causal", True), ("sound", "", False)])
def test_a_script_is_run_until_its_model_is_called_and_that_is_asked(tmp_path, word, kind, leak):
    (tmp_path / "train.py").write_text(SCRIPT)
    options = ["--kind", kind] if kind else []
    done = run("audit", *options, "--html", "report.html", "train.py", word, cwd=tmp_path)
    assert done.returncode == 1, done.stderr  # the optimizer lacks a table, in both
    assert "audit of Tiny: causal" in done.stdout and "begins" not in done.stdout
    assert "optimizer: table" in done.stdout and "in no optimizer: 1 parameter, e.g. table.weight" in done.stdout
    assert ("future leak: layer.self_attn" in done.stdout) == leak
    assert "audit of Tiny" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_a_run_is_asked_and_not_changed(tmp_path, capsys):
    folder = tmp_path / "run"
    options = ["--epochs", "1", "--d-model", "16", "--heads", "2", "--layers", "1"]
    assert main(["train", "bert", "--run", str(folder), *options]) == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    code = main(["audit", str(folder)])
    out = capsys.readouterr().out
    assert code == 0, out
    assert "audit of BERT: bidirectional (said)" in out and "nothing found" in out and "optimizer" in out.split("sound:")[1]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("words", [["nothing-there"], ["--kind", "other", "x.py"], ["--max-forward-passes", "0", "x.py"]])
def test_a_mistake_is_two_lines_and_code_2(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["audit", *words]) == 2
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 2 and error[0].startswith("error: ") and error[1].startswith("fix: ")


def test_a_folder_that_is_no_run_is_two_lines(capsys, tmp_path):
    assert main(["audit", str(tmp_path)]) == 2
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 2 and "not a run folder" in error[0]


@pytest.mark.slow
def test_the_page_shows_what_its_example_prints(capsys):
    text = PAGE.read_text(encoding="utf-8")
    code, shown = (re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL).group(1) for kind in ("python", "text"))
    exec(compile(code, str(PAGE), "exec"), {})
    printed = capsys.readouterr().out
    seconds = re.compile(r"\d+\.\d\d s")
    assert seconds.sub("", printed).strip() == seconds.sub("", shown).strip()


STEPS = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Reads(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.rnn, self.head = nn.Embedding(30, 16), nn.GRUCell(16, 16), nn.Linear(16, 30)
        self.drop = nn.Dropout(0.4)

    def forward(self, ids):
        h, said = torch.zeros(len(ids), 16), []
        for t in range(1, ids.shape[1]):
            h = self.rnn(self.drop(self.table(ids[:, t - MOVED])), h)
            said.append(self.head(self.drop(h)))
        return torch.stack(said, dim=1)

model, ids = Reads(), torch.randint(30, (4, 12))
loss = F.cross_entropy(model(ids).reshape(-1, 30), ids[:, 1:].reshape(-1))
loss.backward()
"""


@pytest.mark.slow
@pytest.mark.parametrize("moved", [1, 0])
def test_answers_that_a_program_drops_at_random_are_told_apart_by_their_places(tmp_path, moved):
    (tmp_path / "train.py").write_text(STEPS.replace("MOVED", str(moved)))
    done = run("audit", "train.py", cwd=tmp_path)
    assert done.returncode == (0 if moved else 1), done.stdout + done.stderr
    assert ("with the token of ids that it reads at that place" in done.stdout) == (not moved)
