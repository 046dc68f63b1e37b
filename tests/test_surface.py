"""The public face: one table of contents, no star imports, docs that list exactly what is there."""

import ast
import inspect
from pathlib import Path

import pytest

import badak
from tools import api

ROOT = Path(__file__).resolve().parent.parent
CONTENTS = ast.parse((ROOT / "src/badak/__init__.py").read_text(encoding="utf-8")).body


def test_the_package_file_is_a_table_of_contents():
    for node in CONTENTS:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                assert alias.name != "*" and alias.asname, f"line {node.lineno}: import {alias.name} as {alias.name}"
        else:
            assert isinstance(node, ast.Expr | ast.Assign | ast.Import), f"line {node.lineno} is no import"


def test_every_name_of_the_contents_is_there():
    names = [alias.asname for node in CONTENTS if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert len(names) == len(set(names)), "a name stands in the contents twice"
    assert not [name for name in names if not hasattr(badak, name)]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError):
        badak.no_such_name  # noqa: B018


@pytest.mark.parametrize("dotted", api.NAMESPACES)
def test_public_names_have_a_docstring(dotted):
    module = api.namespace(dotted)
    things = [(name, getattr(module, name)) for name in api.public_names(module)]
    silent = [n for n, t in things if (inspect.isclass(t) or inspect.isfunction(t)) and not inspect.getdoc(t)]
    assert not silent


def test_the_page_of_names_lists_exactly_what_is_there():
    assert api.PAGE.read_text(encoding="utf-8") == api.page(), "run python tools/api.py"
