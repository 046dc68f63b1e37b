"""The program of docs/data.md runs as it stands there; every public name of the rooms of language has its place in a page."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_program_runs():
    source = re.search(r"<!-- program: .*?```python\n(.*?)```", (DOCS / "data.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    exec(compile(source, "data.md", "exec"), {})


@pytest.mark.parametrize("room", ["generation", "models", "data", "training"])
def test_every_public_name_has_its_place_in_a_page(room):
    module = importlib.import_module(f"badak.{room}")
    names = [n for n, thing in vars(module).items() if n[0] != "_" and callable(thing) and not inspect.ismodule(thing)]
    pages = {path: path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
    listed = pages.pop(DOCS / "api.md").split(f"## badak.{'utils.data' if room == 'data' else room} (")[1]
    written = "\n".join(pages.values())
    assert len(names) > 5
    assert not [n for n in names if f"`{n}" not in listed], "docs/api.md: python tools/api.py"
    assert not [n for n in names if not re.search(rf"\b{n}\b", written)], "no page beside docs/api.md says what it is for"
