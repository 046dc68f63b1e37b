"""The program of docs/how-to/data.md runs as it stands; every public name for language has its place in a page."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_program_runs():
    page = (DOCS / "how-to" / "data.md").read_text(encoding="utf-8")
    source = re.search(r"<!-- program: .*?```python\n(.*?)```", page, re.DOTALL)[1]
    exec(compile(source, "data.md", "exec"), {})


@pytest.mark.slow
@pytest.mark.parametrize("room", ["generation", "models", "data", "training"])
def test_every_public_name_has_its_place_in_a_page(room):
    module = importlib.import_module(f"badak.{room}")
    names = [n for n, thing in vars(module).items() if n[0] != "_" and callable(thing) and not inspect.ismodule(thing)]
    written = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    assert len(names) > 5
    assert not [n for n in names if not re.search(rf"\b{n}\b", written)], "no page of docs says what it is for"
