"""A program in several files: what is told of its own modules, where that stands, and what is none of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from badak.inspect.doctor import names, source, text

MAIN = "from parts import scores\n\nprint(scores)\n"
PARTS = "scores = q @ k.transpose(-2, -1) * math.sqrt(d)\nbest = model(x).argmin(1)\n"


def several(monkeypatch, *files: tuple[str, str]) -> None:
    monkeypatch.setattr(source, "files", lambda: list(files))


def test_a_module_of_the_program_is_told_of_with_its_own_name(monkeypatch):
    several(monkeypatch, ("/a/train.py", MAIN), ("/a/parts.py", "\n" + PARTS))
    assert [(each.kind, each.place) for each in text.told()] == [("formula", "parts.py:2")]
    assert source.named_line("parts.py:2").startswith("scores = q") and source.named_line("train.py:3") == "print(scores)"
    assert names.is_read("k") and not names.is_read("best")
    assert source.named_line("other.py:1") == source.named_line("train.py:99") == ""


def test_without_the_text_of_what_was_started_nothing_is_told(monkeypatch):
    several(monkeypatch, ("/a/train.py", "def ("), ("/a/parts.py", PARTS))
    assert text.told() == [] and source.own_text() == ""
    several(monkeypatch, ("/a/train.py", MAIN), ("/a/parts.py", "def ("))
    assert [each.name for each in source.sources()] == ["train.py"]


@pytest.mark.slow
def test_the_modules_of_a_program_are_those_of_its_folder_that_it_imports(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "net.py").write_text("x = 1\n")
    (tmp_path / "idle.py").write_text("y = 1\n")
    (tmp_path / "train.py").write_text(
        "import os, sys\nimport models.net\nfrom badak.inspect.doctor import source\n"
        "print([os.path.relpath(each, os.path.dirname(sys.argv[0])) for each in source.paths()])\n"
    )
    done = subprocess.run([sys.executable, str(tmp_path / "train.py")], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(["train.py", str(Path("models") / "net.py")]), done.stderr


@pytest.mark.parametrize("node", ["f(a) + b", "x[i]"])
def test_what_is_kept_at_a_node_is_what_ast_gives(node):
    import ast

    tree = ast.parse(node)
    assert source.walk(tree) is source.walk(tree) and [*map(type, source.walk(tree))] == [*map(type, ast.walk(tree))]
    assert source.unparse(tree.body[0]) == ast.unparse(tree.body[0]) == source.unparse(tree.body[0])
