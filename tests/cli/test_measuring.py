"""badak profile and badak bench."""

import json

import pytest

from badak.cli import bench, main
from badak.inspect.profiling.contest import Standing

SCRIPT = """
import sys
import torch
assert sys.argv[1:] == ["--lr", "0.1"] and __name__ == "__main__"
x = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([x], lr=0.1)
while True:
    loss = (x * x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def said(capsys, *arguments):
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.slow
def test_profile_runs_a_script_with_its_arguments_until_it_has_seen_enough(tmp_path):
    import os
    import subprocess
    import sys
    from pathlib import Path

    import badak

    (tmp_path / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "badak", "profile", "--steps", "4", "--skip", "1", "--as-torch",
               str(tmp_path / "train.py"), "--lr", "0.1"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(Path(badak.__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("mean of 4 steps") and lines[1].startswith("operation")
    assert any(line.startswith("SGD.step") for line in lines) and lines[-1].startswith("a step")


@pytest.mark.slow
def test_profile_goes_on_with_a_run_and_does_not_change_it(tmp_path, capsys):
    run = tmp_path / "run"
    options = ["--epochs", "1", "--d-model", "16", "--heads", "2", "--layers", "1"]
    assert said(capsys, "train", "bert", "--run", str(run), *options)[0] == 0
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    code, out, err = said(capsys, "profile", str(run), "--steps", "2", "--skip", "0")
    assert code == 0 and "mean of 2 steps" in out and "attention" in out, err
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_profile_of_nothing_is_two_lines(capsys):
    code, _, err = said(capsys, "profile", "nowhere.py")
    assert code == 2 and err.splitlines()[0] == "error: nowhere.py: neither a Python file nor a run folder"


def fake(apart):
    timing = {"ms": 2.0, "spread": 0.05}
    return lambda task, *more: Standing(task.name, 1, timing, {**timing, "ms": 3.0}, apart)


def test_bench_prints_a_line_for_each_task_and_writes_json(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bench, "compete", fake(1e-6))
    code, out, err = said(capsys, "bench", "--json", str(tmp_path / "bench.json"))
    assert code == 0 and out.count("yes (1e-06 apart)") == 5 and " 1.50 " in out, err
    written = json.loads((tmp_path / "bench.json").read_text())
    assert [row["ratio"] for row in written["tasks"]] == [1.5] * 5 and "cpu" in written["machine"]


def test_bench_fails_where_the_results_differ(capsys, monkeypatch):
    monkeypatch.setattr(bench, "compete", fake(0.1))
    code, out, _ = said(capsys, "bench")
    assert code == 1 and "NO (1e-01 apart)" in out
