"""Editors and type checkers: a user's program is typed, and names complete with signature and docstring."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("user_program.py")


def run(*command: str, folder: Path, **environment: str) -> str:
    """What a checker prints; its findings are the assertion."""
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_program_runs():
    assert run(sys.executable, str(PROGRAM), folder=ROOT, PYTHONPATH=str(ROOT / "src")) == "True badak.Size([1, 20]) 2848\n"


WITH_MISTAKES = """import badak
x = badak.ones(2, 3)
reveal_type(badak.exp(x))
reveal_type(x.softmax(-1))
reveal_type(x.shape)
badak.no_such_name
x.no_such_method()
"""


def test_mypy_is_content_and_knows_the_names(tmp_path):
    """Both in one run: it reads the stubs of all of badak."""
    (tmp_path / "mistakes.py").write_text(WITH_MISTAKES)
    options = ("--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={tmp_path}", str(PROGRAM), "mistakes.py")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options], cwd=tmp_path, env=os.environ | {"MYPYPATH": str(ROOT / "src")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    *said, found = done.stdout.splitlines()
    assert all(line.startswith("mistakes.py:") for line in said) and found.startswith("Found 2 errors in 1 file"), done.stdout
    assert re.findall(r'(?:type is|attribute) "([^"]*)"', done.stdout) == [
        "badak.tensor.tensor.Tensor",
        "badak.tensor.tensor.Tensor",
        "badak.tensor.dtypes.Size",
        "no_such_name",
        "no_such_method",
    ]


def test_pyright_is_content(tmp_path):
    pytest.importorskip("pyright", reason="pip install pyright[nodejs]")
    (tmp_path / "program.py").write_text(PROGRAM.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{(ROOT / "src").as_posix()}"]}}', encoding="utf-8")
    said = run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, folder=tmp_path, PYRIGHT_PYTHON_IGNORE_WARNINGS="1")
    assert "0 errors" in said


@pytest.mark.parametrize("line, name, argument", [("badak.ones(2).softma", "softmax", "dim"), ("F.layer_n", "layer_norm", "eps"),
                                                  ("nn.Multihead", "MultiheadAttention", "embed_dim")])  # fmt: skip
def test_names_complete_in_jedi(line, name, argument):
    jedi = pytest.importorskip("jedi", reason="pip install jedi")
    source = "import badak\nfrom badak import nn\nfrom badak.nn import functional as F\n" + line
    project = jedi.Project(str(ROOT), added_sys_path=[str(ROOT / "src")])
    found = jedi.Script(source, project=project).complete()[0]
    assert found.name == name and argument in found.get_signatures()[0].to_string()
    assert "Example:" in found.docstring() or line.startswith("badak.ones")  # of a method jedi reads the stub alone
