"""`tests/found.md`: each fault has a test, and each test that is named there exists."""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (Path(__file__).parent / "found.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([A-Z])\. .*\n((?:(?!## ).*\n?)*)", PAGE, flags=re.MULTILINE))


def rows(section: str) -> list[tuple[str, str]]:
    """(fault, tests) of a section's table, without its head."""
    return re.findall(r"^\| (.+?) \| (.+) \|$", SECTIONS[section], flags=re.MULTILINE)[1:]


@functools.cache
def defined(path: str) -> set[str]:
    """The names of the functions that stand in a file, not within others."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_there_is_a_table_for_each_section():
    assert "".join(SECTIONS) == "ABCDEF"
    assert all(len(rows(section)) >= 4 for section in SECTIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_each_fault_has_a_test_that_exists(section):
    for fault, tests in rows(section):
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", tests)
        assert named and tests == ", ".join(f"`{path}::{name}`" for path, name in named), fault
        assert not [f"{path}::{name}" for path, name in named if name not in defined(path)], fault
