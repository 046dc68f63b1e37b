"""Programs run in processes of their own, in which the real torch cannot be imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"


class Done:
    """What a process printed, and its exit code."""

    def __init__(self, process: subprocess.CompletedProcess):
        self.out, self.err, self.code = process.stdout, process.stderr, process.returncode


@pytest.fixture
def python(tmp_path):
    """python(*arguments): run the interpreter with badak on its path and a torch that refuses to be imported."""
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "torch.py").write_text("raise ImportError('the real torch was imported')")
    path = os.pathsep.join([str(tmp_path / "blocked"), str(SRC)])
    quiet = {"BADAK_KERNELS": "reference", "OMP_NUM_THREADS": "1", "PYTHONPATH": path, "PYTHONHASHSEED": "0"}

    def run(*arguments: str) -> Done:
        command = [sys.executable, *map(str, arguments)]
        env = {**os.environ, **quiet}
        return Done(subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=300))

    return run


@pytest.fixture
def badak_run(python):
    """badak_run(*arguments): the command `badak run`."""
    return lambda *arguments: python("-m", "badak", "run", *arguments)


@pytest.fixture
def program(tmp_path):
    """program(text): a file with that program."""

    def write(text: str, name: str = "program.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write
